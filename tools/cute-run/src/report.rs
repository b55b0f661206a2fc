//! What the emulator counted, as tables.

use std::fmt::Write;

use comfy_table::CellAlignment;
use cute_runtime::emulator::{LaunchReport, Report};

use crate::info::table;

/// The report as text, without a newline at its end.
pub fn describe(report: &Report) -> String {
    let launches: Vec<String> = report.launches.iter().map(describe_launch).collect();
    launches.join("\n\n")
}

fn describe_launch(launch: &LaunchReport) -> String {
    let mut out = format!(
        "kernel {}: {} blocks of {} threads, {} B of shared memory, {} instructions by warps, {} by threads",
        launch.kernel,
        launch.blocks,
        launch.threads,
        launch.shared_memory,
        launch.warp_instructions,
        launch.thread_instructions
    );
    let mut lines = table([
        "memory instruction",
        "where",
        "warps",
        "wavefronts",
        "ideal",
        "sectors",
        "ideal",
    ]);
    for column in lines.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in &launch.lines {
        let place = match &line.site.source {
            Some(source) => source.to_string(),
            None => format!("PTX line {}", line.site.ptx_line),
        };
        lines.add_row([
            line.site.instruction.clone(),
            place,
            line.counts.warps.to_string(),
            line.counts.shared.actual.to_string(),
            line.counts.shared.ideal.to_string(),
            line.counts.global.sectors.to_string(),
            line.counts.global.ideal.to_string(),
        ]);
    }
    // Writing to a string does not fail.
    let _ = write!(out, "\n{lines}");
    out
}
