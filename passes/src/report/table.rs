//! The report as a table, and as JSON.

use super::{AccessReport, Blocks, Copies, Described, KernelReport, Report, figures::Range};
use cute_ir::mlir::{Place, place_of};
use serde_json::{Value, json};
use std::fmt::Write;

const HEADER: [&str; 9] = [
    "place",
    "access",
    "bytes",
    "instr.",
    "sectors",
    "ideal",
    "lines",
    "ideal",
    "passes/ideal",
];

/// A place as a table has it: with its file where that is not the kernel's.
fn place(place: Option<&Place>, home: Option<&str>) -> String {
    let Some(place) = place else {
        return "?".to_owned();
    };
    let mut text = match home {
        Some(home) if place.file != home => format!("{}:", place.file),
        _ => String::new(),
    };
    let _ = write!(text, "{}:{}", place.line, place.column);
    if let Some(step) = &place.step {
        let _ = write!(text, " ({step})");
    }
    text
}

fn range(range: Range) -> String {
    if range.is_known() {
        range.least.to_string()
    } else {
        format!("{}-{}", range.least, range.most)
    }
}

fn row(at: String, access: &AccessReport) -> [String; 9] {
    let mut row = [const { String::new() }; 9];
    row[0] = at;
    row[1] = access.kind.instruction().to_owned();
    row[2] = access.bytes.to_string();
    row[3] = access.instructions.to_string();
    match &access.global {
        Some(Ok(sum)) => {
            row[4] = range(sum.worst.sectors);
            row[5] = sum.worst.ideal_sectors.to_string();
            row[6] = range(sum.worst.lines);
            row[7] = sum.worst.ideal_lines.to_string();
        }
        Some(Err(_)) => row[4] = "?".to_owned(),
        None => {}
    }
    row[8] = match &access.shared {
        Some(Ok(sum)) => format!("{}/{}", range(sum.worst.wavefronts), sum.worst.ideal),
        Some(Err(_)) => "?".to_owned(),
        None => String::new(),
    };
    row
}

/// The row of copies by TMA or in bulk: of one of them.
fn row_of_copies(at: String, copies: &Copies) -> [String; 9] {
    let mut row = [const { String::new() }; 9];
    row[0] = at;
    row[1] = copies.kind.instruction().to_owned();
    row[2] = copies.bytes.to_string();
    row[3] = copies.copies.to_string();
    if let Some(rows) = &copies.rows {
        let count = u32::try_from(rows.count).unwrap_or(u32::MAX);
        let all = |of: Range| {
            range(Range {
                least: of.least.saturating_mul(count),
                most: of.most.saturating_mul(count),
            })
        };
        row[4] = all(rows.sectors);
        row[5] = rows.ideal_sectors.saturating_mul(count).to_string();
        row[6] = all(rows.lines);
        row[7] = rows.ideal_lines.saturating_mul(count).to_string();
    }
    if let Some([found, ideal]) = copies.passes {
        row[8] = format!("{found}/{ideal}");
    }
    row
}

/// The table of all kernels.
pub(super) fn text(report: &Report) -> String {
    let mut text = String::new();
    for kernel in &report.kernels {
        of_kernel(kernel, &mut text);
    }
    if report.untiled > 0 {
        let _ = writeln!(
            text,
            "{} products of whole tensors are no kernels yet: run cute-tile{{arch=...}} first",
            report.untiled
        );
    } else if report.kernels.is_empty() {
        let _ = writeln!(text, "no kernels");
    }
    text
}

fn of_kernel(kernel: &KernelReport, text: &mut String) {
    let _ = writeln!(text, "{}", kernel.summary());
    let home = place_of(kernel.location);
    let home = home.as_ref().map(|place| place.file.as_str());
    for part in &kernel.parts {
        let at = part
            .offset
            .map_or_else(String::new, |offset| format!(" from byte {offset}"));
        let _ = writeln!(
            text,
            "  shared memory of {}: {} bytes{at}",
            place(part.place.as_ref(), home),
            part.bytes
        );
    }
    if let Some((_, why)) = &kernel.unknown {
        let _ = writeln!(text, "  what memory accesses cost is not known: {why}");
    }
    let mut rows = vec![HEADER.map(str::to_owned)];
    for op in &kernel.ops {
        let at = place(op.place.as_ref(), home);
        let copies = op.copies.iter();
        let copies = copies.map(|copies| row_of_copies(at.clone(), copies));
        let accesses = op.accesses.iter().map(|access| row(at.clone(), access));
        for row in copies.chain(accesses) {
            // What is alike on one line is one row.
            match rows.last_mut() {
                Some(last)
                    if (0..9).all(|i| i == 3 || last[i] == row[i]) && last[3] != HEADER[3] =>
                {
                    let sum =
                        last[3].parse::<u64>().unwrap_or(0) + row[3].parse::<u64>().unwrap_or(0);
                    last[3] = sum.to_string();
                }
                _ => rows.push(row),
            }
        }
    }
    if rows.len() == 1 {
        return;
    }
    text.push_str(
        "  of the warp and instruction that costs most, and of one copy of TMA, for tensors of global memory that begin at multiples of 128 bytes:\n",
    );
    let widths: Vec<usize> = (0..9)
        .map(|i| {
            rows.iter()
                .map(|row| row[i].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for row in &rows {
        let mut line = String::from(" ");
        for (i, cell) in row.iter().enumerate() {
            let width = widths[i];
            let _ = if i < 2 {
                write!(line, " {cell:<width$}")
            } else {
                write!(line, " {cell:>width$}")
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn json_range(range: Range) -> Value {
    json!({"least": range.least, "most": range.most})
}

fn json_access(access: &AccessReport) -> Value {
    let global = access.global.as_ref().map(|found| match found {
        Ok(sum) => json!({
            "requests": sum.requests,
            "sectors": {"least": sum.least, "most": sum.most},
            "ideal": sum.ideal,
            "worst": {
                "sectors": json_range(sum.worst.sectors),
                "ideal_sectors": sum.worst.ideal_sectors,
                "lines": json_range(sum.worst.lines),
                "ideal_lines": sum.worst.ideal_lines,
            },
            "apart": sum.worst.apart,
            "cure": access.global_cure,
        }),
        Err(why) => json!({"unknown": why}),
    });
    let shared = access.shared.as_ref().map(|found| match found {
        Ok(sum) => json!({
            "requests": sum.requests,
            "wavefronts": {"least": sum.least, "most": sum.most},
            "ideal": sum.ideal,
            "worst": {
                "wavefronts": json_range(sum.worst.wavefronts),
                "banks": json_range(sum.worst.banks),
                "ideal": sum.worst.ideal,
            },
            "cure": access.shared_cure,
        }),
        Err(why) => json!({"unknown": why}),
    });
    json!({
        "kind": access.kind.name(),
        "bytes": access.bytes,
        "instructions": access.instructions,
        "all_threads_assumed": access.assumed,
        "global": global,
        "shared": shared,
    })
}

fn json_copies(copies: &Copies) -> Value {
    json!({
        "kind": copies.kind.name(),
        "instruction": copies.kind.instruction(),
        "copies": copies.copies,
        "bytes": copies.bytes,
        "box": copies.of_box.as_ref().map(|of| json!({
            "extents": of.extents,
            "element": of.element,
            "swizzle": of.swizzle,
            "im2col": of.is_im2col,
        })),
        "rows": copies.rows.map(|rows| json!({
            "count": rows.count,
            "bytes": rows.bytes,
            "sectors": json_range(rows.sectors),
            "ideal_sectors": rows.ideal_sectors,
            "lines": json_range(rows.lines),
            "ideal_lines": rows.ideal_lines,
        })),
        "passes": copies.passes.map(|[found, ideal]| json!({"found": found, "ideal": ideal})),
        "multicast": copies.multicast.map(|blocks| match blocks {
            Blocks::Known(blocks) => json!({"blocks": blocks}),
            Blocks::Of(most) => json!({"most_blocks": most}),
            Blocks::Masked => json!({}),
        }),
    })
}

fn json_described(operand: &Described) -> Value {
    let descriptor = &operand.steps.descriptor;
    let [found, ideal] = operand.passes;
    json!({
        "operand": operand.name,
        "major": descriptor.major.name(),
        "swizzle": descriptor.width(),
        "leading_byte_offset": descriptor.leading,
        "stride_byte_offset": descriptor.stride,
        "atoms": operand.steps.bytes[0].len(),
        "steps": operand.steps.bytes[1].len(),
        "bytes": operand.bytes,
        "passes": {"found": found, "ideal": ideal},
    })
}

fn json_place(place: Option<&Place>) -> Value {
    place.map_or(Value::Null, |place| {
        json!({"file": place.file, "line": place.line, "column": place.column, "step": place.step})
    })
}

/// All of it, for programs.
pub(super) fn json(report: &Report) -> Value {
    let kernels: Vec<Value> = report
        .kernels
        .iter()
        .map(|kernel| {
            let ops: Vec<Value> = kernel
                .ops
                .iter()
                .map(|op| {
                    json!({
                        "op": op.name,
                        "place": json_place(op.place.as_ref()),
                        "threads": op.lines,
                        "accesses": op.accesses.iter().map(json_access).collect::<Vec<_>>(),
                        "copies": op.copies.as_ref().map(json_copies),
                        "descriptors": op.described.iter().map(json_described).collect::<Vec<_>>(),
                    })
                })
                .collect();
            let parts: Vec<Value> = kernel
                .parts
                .iter()
                .map(|part| {
                    json!({
                        "place": json_place(part.place.as_ref()),
                        "bytes": part.bytes,
                        "offset": part.offset,
                    })
                })
                .collect();
            json!({
                "kernel": kernel.name,
                "arch": kernel.arch.to_string(),
                "block": kernel.block,
                "registers": kernel.registers,
                "shared_memory": kernel.shared,
                "shared_parts": parts,
                "blocks_per_multiprocessor": kernel.blocks(),
                "unknown": kernel.unknown.as_ref().map(|(_, why)| why),
                "ops": ops,
            })
        })
        .collect();
    json!({"kernels": kernels, "untiled": report.untiled})
}
