//! The counts of the emulator, as tables.

use std::fmt::{self, Write};

use comfy_table::{CellAlignment, Table};
use cute_runtime::emulator::{Counts, LaunchReport, Occupancy, Passes, Report, Step, Traffic};

use crate::info::table;

/// PTX lines of a step that are listed.
const LISTED: usize = 4;

/// The report as text, without a newline at its end.
pub fn describe(report: &Report) -> String {
    let launches: Vec<String> = report
        .launches
        .iter()
        .map(|launch| {
            let mut out = String::new();
            // Writing to a string does not fail.
            let _ = describe_launch(&mut out, launch);
            out
        })
        .collect();
    launches.join("\n\n")
}

fn describe_launch(out: &mut String, launch: &LaunchReport) -> fmt::Result {
    let per_thread = launch.thread_instructions as f64;
    let full = 32.0 * launch.warp_instructions as f64;
    writeln!(
        out,
        "kernel {}: {} blocks of {} threads, {} B of shared memory each",
        launch.kernel, launch.blocks, launch.threads, launch.shared_memory
    )?;
    describe_occupancy(out, &launch.occupancy)?;
    write!(
        out,
        "instructions: {} by warps, {} by threads",
        launch.warp_instructions, launch.thread_instructions
    )?;
    if full > 0.0 {
        write!(out, " ({:.1} % of the lanes)", 100.0 * per_thread / full)?;
    }
    if launch.multiply_adds > 0 {
        write!(
            out,
            ", {} multiply-adds in products of matrices",
            launch.multiply_adds
        )?;
    }
    write!(out, "\n{}", kinds(launch))?;
    if !launch.steps.is_empty() {
        write!(
            out,
            "\nmemory, by step of the program:\n{}",
            steps(&launch.steps)
        )?;
    }
    Ok(())
}

fn describe_occupancy(out: &mut String, occupancy: &Occupancy) -> fmt::Result {
    let Occupancy {
        arch,
        blocks,
        warps,
        most_warps,
        percent,
        ..
    } = occupancy;
    write!(
        out,
        "occupancy of {arch}: {blocks} blocks on a multiprocessor, {warps} of {most_warps} warps ({percent:.1} %)"
    )?;
    if !occupancy.limited_by.is_empty() {
        write!(out, ", limited by {}", occupancy.limited_by.join(" and "))?;
    }
    match occupancy.registers {
        Some(registers) => writeln!(out, "; {registers} registers a thread"),
        None => writeln!(
            out,
            "; the package does not say how many registers it needs"
        ),
    }
}

/// `value`, or nothing where a kind of instruction has no such thing.
fn number(there: bool, value: u64) -> String {
    if there {
        value.to_string()
    } else {
        String::new()
    }
}

/// The work of memory: passes over shared memory, those that conflicts cost, sectors, how many a request has, and how many
/// it needs.
fn memory(counts: &Counts) -> [String; 5] {
    let Counts { shared, global, .. } = counts;
    let passes = *shared != Passes::default();
    let sectors = *global != Traffic::default();
    [
        number(passes, shared.actual),
        number(passes, shared.conflicts()),
        number(sectors, global.sectors),
        each(global.sectors, global.requests),
        each(global.ideal, global.requests),
    ]
}

/// The number that one of `of` has; nothing where there is none.
fn each(count: u64, of: u64) -> String {
    if of == 0 {
        return String::new();
    }
    format!("{:.2}", count as f64 / of as f64)
}

fn kinds(launch: &LaunchReport) -> Table {
    let mut table = table([
        "instructions",
        "by warps",
        "by threads",
        "wavefronts",
        "by conflicts",
        "sectors",
        "a request",
        "at best",
    ]);
    for (class, counts) in &launch.instructions {
        let mut row = vec![
            class.name().to_string(),
            counts.warps.to_string(),
            counts.threads.to_string(),
        ];
        row.extend(memory(counts));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn steps(steps: &[Step]) -> Table {
    let mut table = table([
        "where",
        "instructions",
        "PTX lines",
        "by warps",
        "wavefronts",
        "by conflicts",
        "sectors",
        "a request",
        "at best",
    ]);
    for step in steps {
        let place = step.source.as_ref().map(ToString::to_string);
        let mut row = vec![
            place.unwrap_or_default(),
            step.class.name().to_string(),
            lines(&step.ptx_lines),
            step.counts.warps.to_string(),
        ];
        row.extend(memory(&step.counts));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// `33, 40, 47, 54 and 8 more`
fn lines(lines: &[u32]) -> String {
    let listed: Vec<String> = lines.iter().take(LISTED).map(u32::to_string).collect();
    let mut text = listed.join(", ");
    if lines.len() > LISTED {
        text += &format!(" and {} more", lines.len() - LISTED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(lines(&[3]), "3");
        assert_eq!(lines(&[1, 2, 3, 4]), "1, 2, 3, 4");
        assert_eq!(lines(&[1, 2, 3, 4, 5, 9]), "1, 2, 3, 4 and 2 more");
    }

    #[test]
    fn memory_is_told_where_there_was_some() {
        let shared = Passes {
            actual: 12,
            banks: 10,
            ideal: 4,
        };
        let global = Traffic {
            requests: 2,
            sectors: 9,
            ideal: 8,
        };
        let none = Counts::default();
        assert_eq!(memory(&none), ["", "", "", "", ""]);
        assert_eq!(memory(&Counts { shared, ..none }), ["12", "6", "", "", ""]);
        assert_eq!(
            memory(&Counts { global, ..none }),
            ["", "", "9", "4.50", "4.00"]
        );
    }
}
