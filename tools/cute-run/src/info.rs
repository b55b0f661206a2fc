//! Prints what packages hold.

use std::fmt::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use cute_runtime::{Access, Arg, Compute, Function, Image, Package};

use crate::cli::Cli;
use crate::job::read_package;

pub fn print(cli: &Cli) -> anyhow::Result<()> {
    for (i, path) in cli.packages.iter().enumerate() {
        let package = read_package(path)?;
        if cli.json {
            println!("{}", serde_json::to_string_pretty(package.manifest())?);
            continue;
        }
        if i > 0 {
            println!();
        }
        print!(
            "{}: written by {}\n{}",
            path.display(),
            package.manifest().producer,
            describe(&package)?
        );
    }
    Ok(())
}

/// The manifest as text.
fn describe(package: &Package) -> Result<String, fmt::Error> {
    let mut out = String::new();
    for function in &package.manifest().functions {
        writeln!(out, "\nfunction {}", function.name)?;
        describe_function(&mut out, function)?;
    }
    for image in &package.manifest().images {
        describe_image(&mut out, image)?;
    }
    Ok(out)
}

fn describe_function(out: &mut String, function: &Function) -> fmt::Result {
    let mut table = table(["argument", "element", "layout", "align", "access"]);
    for arg in &function.args {
        let Arg::Tensor {
            name,
            element,
            layout,
            align,
            access,
        } = arg;
        let access = match access {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read and write",
        };
        table.add_row([name, element, layout, &format!("{align} B"), access]);
    }
    writeln!(out, "{table}")?;
    for compute in &function.computes {
        let Compute::Gemm {
            a,
            b,
            c,
            accumulate,
            tolerance,
        } = compute;
        let name = |index: usize| function.args.get(index).map_or("?", Arg::name);
        let (a, b, c) = (name(*a), name(*b), name(*c));
        write!(
            out,
            "computes {c}(m,n) = sum over k of {a}(m,k) * {b}(n,k), accumulated in {accumulate}"
        )?;
        match tolerance {
            Some(tolerance) => writeln!(out, ", relative error at most {tolerance:e}")?,
            None => writeln!(out)?,
        }
    }
    for (i, launch) in function.launches.iter().enumerate() {
        let args: Vec<_> = launch
            .args
            .iter()
            .map(|&index| function.args.get(index).map_or("?", Arg::name))
            .collect();
        write!(
            out,
            "launch {i}: {}({}), grid {}, block {}",
            launch.kernel,
            args.join(", "),
            sizes(launch.grid),
            sizes(launch.block)
        )?;
        if launch.cluster != [1, 1, 1] {
            write!(out, ", cluster {}", sizes(launch.cluster))?;
        }
        writeln!(out, ", {} B of dynamic shared memory", launch.dynamic_smem)?;
    }
    Ok(())
}

fn sizes([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

fn describe_image(out: &mut String, image: &Image) -> fmt::Result {
    write!(out, "\nimage {}:", image.arch)?;
    for (what, blob) in [("PTX", image.ptx), ("cubin", image.cubin)] {
        match blob {
            Some(blob) => write!(out, " {what} of {} B", blob.length)?,
            None => write!(out, " no {what}")?,
        }
    }
    writeln!(out)?;
    if image.kernels.is_empty() {
        return Ok(());
    }
    let mut table = table([
        "kernel",
        "registers",
        "static smem",
        "dynamic smem",
        "spills (store, load)",
        "stack",
        "threads",
        "parameters",
    ]);
    for column in table.column_iter_mut().skip(1).take(6) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for kernel in &image.kernels {
        table.add_row([
            kernel.name.clone(),
            kernel.registers.to_string(),
            format!("{} B", kernel.static_smem),
            format!("{} B", kernel.dynamic_smem),
            format!(
                "{} B, {} B",
                kernel.spill_store_bytes, kernel.spill_load_bytes
            ),
            format!("{} B", kernel.stack_bytes),
            match kernel.max_threads {
                0 => kernel.threads.to_string(),
                most => format!("{} (at most {most})", kernel.threads),
            },
            kernel.params.join(" "),
        ]);
    }
    writeln!(out, "{table}")
}

/// A table that reads well in a log, too.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_header(header);
    table
}
