//! Prints what packages hold.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use cute_runtime::ptx::{self, Accesses, Item, Mix};
use cute_runtime::{
    Access, Arg, Expr, Function, Image, MapParam, Package, Param, Pattern, tensor_map::OobFill,
};
use serde::Serialize;

use crate::cli::Cli;
use crate::job::read_package;

pub fn print(cli: &Cli) -> anyhow::Result<()> {
    for (i, path) in cli.packages.iter().enumerate() {
        let package = read_package(path)?;
        if cli.json {
            println!("{}", serde_json::to_string_pretty(&Info::of(&package))?);
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

/// The manifest as JSON, with what the PTX of each image consists of.
#[derive(Serialize)]
struct Info<'a> {
    producer: &'a str,
    functions: &'a [Function],
    images: Vec<ImageInfo<'a>>,
}

#[derive(Serialize)]
struct ImageInfo<'a> {
    #[serde(flatten)]
    image: &'a Image,
    /// The instructions of each kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<BTreeMap<String, Mix>>,
    /// The reason why they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions_error: Option<String>,
}

impl<'a> Info<'a> {
    fn of(package: &'a Package) -> Info<'a> {
        let manifest = package.manifest();
        let images = manifest.images.iter().map(|image| {
            let mixes = instructions(package, image);
            ImageInfo {
                image,
                instructions_error: mixes.as_ref().err().cloned(),
                instructions: mixes.ok().map(BTreeMap::from_iter),
            }
        });
        Info {
            producer: &manifest.producer,
            functions: &manifest.functions,
            images: images.collect(),
        }
    }
}

/// The instructions of each kernel of an image, by its PTX and in its order; or why they are not known.
fn instructions(package: &Package, image: &Image) -> Result<Vec<(String, Mix)>, String> {
    let blob = image.ptx.ok_or("the image carries no PTX")?;
    let text = std::str::from_utf8(package.blob(&blob)).map_err(|error| {
        format!("expected PTX in UTF-8, found {error}; compile the package again")
    })?;
    let module = ptx::parse(text).map_err(|error| error.to_string())?;
    let kernels = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.is_entry => {
            Some((function.name.to_string(), Mix::of(function)))
        }
        _ => None,
    });
    Ok(kernels.collect())
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
        describe_instructions(&mut out, image, instructions(package, image))?;
    }
    Ok(out)
}

fn describe_function(out: &mut String, function: &Function) -> fmt::Result {
    let mut table = table(["argument", "element", "layout", "align", "access"]);
    for arg in &function.args {
        let (layout, align) = match arg {
            Arg::Tensor { layout, align, .. } => (layout.clone(), format!("{align} B")),
            Arg::Scalar { default, .. } => {
                let default = default.map(|value| format!(", {value} if not set"));
                (
                    format!("a number{}", default.unwrap_or_default()),
                    "-".into(),
                )
            }
        };
        let access = match arg.access() {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read and write",
        };
        table.add_row([arg.name(), arg.element(), &layout, &align, access]);
    }
    writeln!(out, "{table}")?;
    let whole = function.with_views();
    for compute in &function.computes {
        let formula = compute.describe(&whole);
        match compute.condition() {
            Some(condition) => {
                let condition = text(function, condition);
                writeln!(out, "computes, where {condition}: {formula}")?;
            }
            None => writeln!(out, "computes {formula}")?,
        }
    }
    for view in &function.views {
        let text = view.describe(function, |expr| text(function, expr));
        writeln!(out, "tensor {text}")?;
    }
    for (at, value) in function.values.iter().enumerate() {
        writeln!(out, "v{at} = {}", text(function, value))?;
    }
    for requirement in &function.requires {
        let condition = text(function, &requirement.condition);
        writeln!(out, "requires {condition}: {}", requirement.message)?;
    }
    if let Some(bytes) = &function.workspace {
        writeln!(out, "workspace: {} B", text(function, bytes))?;
    }
    describe_choices(out, function)?;
    for (i, launch) in function.launches.iter().enumerate() {
        let params: Vec<_> = launch
            .params
            .iter()
            .map(|param| match param {
                Param::Pointer(arg) | Param::Scalar(arg) => name(function, *arg),
                Param::Byte { tensor, offset } => {
                    format!("{} + {} B", name(function, *tensor), text(function, offset))
                }
                Param::Leaf(arg, leaf) => leaf_name(function, *arg, *leaf),
                Param::Integer(value, _) => text(function, value),
                Param::Workspace(offset) => workspace_text(function, offset),
                Param::TensorMap(map) => map_text(function, map),
            })
            .collect();
        write!(
            out,
            "launch {i}: {}({}), grid {}, block {}",
            launch.kernel,
            params.join(", "),
            sizes(function, &launch.grid),
            sizes(function, &launch.block)
        )?;
        if launch.cluster != [1, 1, 1] {
            let [x, y, z] = launch.cluster;
            write!(out, ", cluster {x}x{y}x{z}")?;
        }
        if launch.dependent {
            write!(out, ", beside what is before")?;
        }
        let smem = text(function, &launch.dynamic_smem);
        writeln!(out, ", {smem} B of dynamic shared memory")?;
        if let Some(when) = &launch.when {
            writeln!(out, "  when {}", text(function, when))?;
        }
        for [a, b] in &launch.disjoint {
            let (a, b) = (name(function, *a), name(function, *b));
            writeln!(out, "  requires that {a} and {b} do not overlap")?;
        }
    }
    Ok(())
}

/// A tensor map as its tensor, its sizes, and the box.
fn map_text(function: &Function, map: &MapParam) -> String {
    let sizes: Vec<_> = map.sizes.iter().map(|size| text(function, size)).collect();
    let boxes = match (&map.im2col, &map.box_sizes[..]) {
        (Some(pixels), [channels, column]) => format!(
            "columns of {column} pixels of {channels}, from {} to {} by {}",
            joined(&pixels.lower, ","),
            joined(&pixels.upper, ","),
            joined(&pixels.strides, ",")
        ),
        (_, extents) => format!("boxes of {}", joined(extents, " x ")),
    };
    let swizzle = match map.swizzle.span() {
        0 => String::new(),
        bytes => format!(", swizzled by {bytes} B"),
    };
    let outside = match map.swizzle.oob_fill() {
        OobFill::Zero => "",
        OobFill::Nan => ", with NaN outside",
    };
    let promotion = map.l2_promotion.map_or(String::new(), |bytes| {
        format!(", misses of {bytes} B in L2")
    });
    let tensor = match (map.of.argument(), map.of.offset()) {
        (Some(arg), None) => name(function, arg),
        (Some(arg), Some(offset)) => {
            format!(
                "{} from byte {} on",
                name(function, arg),
                text(function, offset)
            )
        }
        (None, offset) => match offset {
            Some(offset) => workspace_text(function, offset),
            None => "workspace".to_owned(),
        },
    };
    format!(
        "map of {tensor} ({}) by {boxes}{swizzle}{outside}{promotion}",
        sizes.join(" x "),
    )
}

/// Numbers with a text between them.
fn joined<T: ToString>(numbers: &[T], between: &str) -> String {
    let numbers: Vec<_> = numbers.iter().map(T::to_string).collect();
    numbers.join(between)
}

fn describe_choices(out: &mut String, function: &Function) -> fmt::Result {
    for (i, choice) in function.choices.iter().enumerate() {
        writeln!(
            out,
            "choice {i}: v{} is the number of the candidate that runs; cute-run --tune measures them",
            choice.value
        )?;
        let mut table = table(["candidate", "plan", "product", "estimate, ps"]);
        for candidate in &choice.candidates {
            table.add_row([
                candidate.number.to_string(),
                candidate.plan.clone(),
                candidate.problem.clone(),
                text(function, &candidate.time),
            ]);
        }
        writeln!(out, "{table}")?;
    }
    Ok(())
}

/// `workspace`, `workspace + 256`
fn workspace_text(function: &Function, offset: &Expr) -> String {
    match offset.constant() {
        Some(0) => "workspace".into(),
        _ => format!("workspace + {}", text(function, offset)),
    }
}

fn name(function: &Function, arg: usize) -> String {
    function.args.get(arg).map_or("?", Arg::name).to_string()
}

/// `A.shape[0]`
fn leaf_name(function: &Function, arg: usize, leaf: usize) -> String {
    let leaves = match function.args.get(arg) {
        Some(Arg::Tensor { layout, .. }) => Pattern::parse(layout).map(|p| p.dynamic_leaves()),
        _ => return "?".into(),
    };
    let found = leaves.ok().and_then(|leaves| leaves.get(leaf).copied());
    found.map_or("?".into(), |leaf| format!("{}.{leaf}", name(function, arg)))
}

fn text(function: &Function, expr: &Expr) -> String {
    let leaf = |arg: usize, leaf: usize| leaf_name(function, arg, leaf);
    expr.text(&leaf, &|arg| name(function, arg))
}

fn sizes(function: &Function, sizes: &[Expr; 3]) -> String {
    let [x, y, z] = sizes.each_ref().map(|size| text(function, size));
    if sizes.iter().all(|size| size.constant().is_some()) {
        return format!("{x}x{y}x{z}");
    }
    format!("({x}, {y}, {z})")
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
    // What the assembler decides, which a cubin is from.
    let decided = |text: String| match image.cubin {
        Some(_) => text,
        None => "?".to_owned(),
    };
    for kernel in &image.kernels {
        table.add_row([
            kernel.name.clone(),
            decided(kernel.registers.to_string()),
            format!("{} B", kernel.static_smem),
            format!("{} B", kernel.dynamic_smem),
            decided(format!(
                "{} B, {} B",
                kernel.spill_store_bytes, kernel.spill_load_bytes
            )),
            decided(format!("{} B", kernel.stack_bytes)),
            match kernel.max_threads {
                0 => kernel.threads.to_string(),
                most => format!("{} (at most {most})", kernel.threads),
            },
            kernel.params.join(" "),
        ]);
    }
    writeln!(out, "{table}")
}

fn describe_instructions(
    out: &mut String,
    image: &Image,
    mixes: Result<Vec<(String, Mix)>, String>,
) -> fmt::Result {
    let mixes = match mixes {
        Ok(mixes) => mixes,
        Err(error) => return writeln!(out, "instructions: not known: {error}"),
    };
    writeln!(out, "instructions in the PTX:")?;
    let mut table = table([
        "kernel",
        "mma",
        "ldmatrix",
        "cp.async",
        "global loads",
        "global stores",
        "shared loads",
        "shared stores",
        "barriers",
        "integer",
        "floating point",
        "control",
        "other",
        "all",
    ]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (name, mix) in &mixes {
        table.add_row([
            name.clone(),
            mix.mma.to_string(),
            mix.ldmatrix.to_string(),
            mix.cp_async.to_string(),
            accesses(&mix.global_loads),
            accesses(&mix.global_stores),
            accesses(&mix.shared_loads),
            accesses(&mix.shared_stores),
            mix.barriers.to_string(),
            mix.integer.to_string(),
            mix.floating_point.to_string(),
            mix.control.to_string(),
            mix.other.to_string(),
            mix.total().to_string(),
        ]);
    }
    writeln!(out, "{table}")?;
    for kernel in &image.kernels {
        if !mixes.iter().any(|(name, _)| *name == kernel.name) {
            writeln!(out, "kernel {} is not in the PTX", kernel.name)?;
        }
    }
    Ok(())
}

/// `8 x 16 B, 2 x 4 B`, the widest first.
fn accesses(accesses: &Accesses) -> String {
    if accesses.is_empty() {
        return "0".into();
    }
    let each = accesses.iter().rev().map(|(bytes, count)| match bytes {
        0 => format!("{count} of unknown width"),
        bytes => format!("{count} x {bytes} B"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A table that reads well in a log, too.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_header(header);
    table
}
