//! Maps over whole tensors: `cute.map` becomes a kernel, or a few of which a launch takes one, whose blocks compute rows.
//!
//! The modes that are reduced along are the columns, and the others are rows. `arrange.rs` says which threads take which elements, `kernel.rs`
//! writes the kernel, `host.rs` the launch.

mod arrange;
mod host;
mod kernel;

use super::{function_around, matrix::check_apart, region::Region, targets_of};
use arrange::Arrangement;
use cute_ir::{
    Expected, Failure, diag,
    maps::{is_same_along, modes_of, reductions},
    mlir::*,
    ops::cute,
    types::{MemRef, element_bits, memref_of, register_type},
};
use cute_layout::{IntTuple, Layout, Leaf, tuple};
use cute_target::Archs;
use melior::ir::operation::OperationLike;

/// A tensor of a map, as rows and columns.
#[derive(Clone, Debug)]
struct Whole<'c> {
    /// The tensor in the function that launches.
    tensor: Val<'c>,
    /// Its place among the kernel's arguments.
    argument: usize,
    /// Its name in messages.
    name: String,
    memref: MemRef<'c>,
    /// Rows, columns, of which the latter are one leaf, and perhaps a batch.
    layout: Layout,
}

/// A `cute.map` that can be computed row by row.
pub(super) struct Map<'c> {
    op: Op<'c>,
    function: Op<'c>,
    /// The tensors behind `ins` and then those behind `outs`.
    tensors: Vec<Whole<'c>>,
    /// How many of them are inputs.
    inputs: usize,
    /// The values that the kernel is passed.
    arguments: Vec<Val<'c>>,
    region: Region<'c>,
    /// The modes of the tensors that are rows, those that are columns, the fastest first, and those of which each index is computed apart.
    modes: [Vec<usize>; 3],
    /// Tells whether something is reduced along the columns.
    reduces: bool,
    archs: Archs,
}

impl<'c> Map<'c> {
    /// The map that an op is. Errors: what cannot be computed row by row.
    pub(super) fn check(op: Op<'c>, function: Op<'c>, archs: &Archs) -> Result<Self, Failure> {
        let fail =
            |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
        function_around(op, function)?;
        let map = cute::Map::of(op).expected(op, "a map")?;
        let body = map.body().expected(op, "a region")?;
        let (inputs, outputs) = (map.inputs(), map.outputs());
        let mut arguments: Vec<Val<'c>> = Vec::new();
        let mut named = Vec::new();
        for (what, values) in [("input", &inputs), ("output", &outputs)] {
            for (at, value) in values.iter().enumerate() {
                let memref = memref_of(*value).expected(op, "tensors")?;
                if register_type(memref.element) != memref.element
                    || element_bits(memref.element).is_none_or(|bits| bits < 8)
                {
                    return Err(fail(format!(
                        "does not compute with elements of {} here yet, as {what} {at} has; expected f16, bf16, f32, f64 or integers",
                        memref.element
                    )));
                }
                if memref.layout.stride().has_basis() {
                    return Err(fail(format!(
                        "expected {what} {at} with strides that are integers, found {}",
                        memref.layout
                    )));
                }
                memref.check_addressable().map_err(fail)?;
                let known = arguments.iter().position(|other| other == value);
                let argument = known.unwrap_or(arguments.len());
                if known.is_none() {
                    arguments.push(*value);
                }
                named.push((format!("{what} {at}"), *value, argument, memref));
            }
        }
        let region = Region::of(function, ("a map", body), &mut arguments)?;
        let rank = named.first().map_or(0, |(.., memref)| memref.layout.rank());
        let all = reductions(body);
        let along: Option<Vec<usize>> = all.first().map(|reduce| {
            let modes = modes_of(reduce).into_iter();
            modes
                .filter_map(|mode| usize::try_from(mode).ok())
                .collect()
        });
        let layouts: Vec<&Layout> = named.iter().map(|(.., memref)| &memref.layout).collect();
        let modes = split(&layouts, inputs.len(), rank, along.clone());
        let mut tensors = Vec::new();
        for (name, tensor, argument, memref) in named {
            let layout = arranged(&memref.layout, &modes).map_err(|found| {
                fail(format!(
                    "expected {name} with one stride along what is reduced, or along the modes {:?} together, found {found}; make a \
                     copy of it that lies in order",
                    modes[1]
                ))
            })?;
            tensors.push(Whole {
                tensor,
                argument,
                name,
                memref,
                layout,
            });
        }
        for output in &tensors[inputs.len()..] {
            // What is written once along a mode has one element there.
            let all = 0..output.layout.rank();
            let once = all.filter(|mode| !is_same_along(&output.layout, *mode));
            let once: Vec<_> = once
                .filter_map(|mode| output.layout.mode(mode).ok())
                .collect();
            if !once.is_empty() {
                let apart = Layout::from_modes(&once).map_err(|e| fail(e.to_string()))?;
                check_apart(&output.name, &apart).map_err(fail)?;
            }
        }
        let map = Self {
            op,
            function,
            tensors,
            inputs: inputs.len(),
            arguments,
            region,
            modes,
            reduces: along.is_some(),
            archs: archs.clone(),
        };
        let mut known = (0..3).filter_map(|axis| Some((axis, map.known(axis)?)));
        if let Some((axis, extent)) = known.find(|(_, extent)| *extent > i32::MAX.into()) {
            return Err(fail(format!(
                "expected at most {} elements along modes {:?} together, found {extent}",
                i32::MAX,
                map.modes[axis]
            )));
        }
        Ok(map)
    }

    /// Writes the kernels into their module, which is made if there is none, and the launch in place of the op.
    pub(super) fn lower(
        &self,
        module: Op<'c>,
        name: &str,
        most: usize,
        home: &mut Option<Op<'c>>,
    ) -> Result<(), Failure> {
        let host = Builder::before(self.op);
        let kernels = super::kernels_of(
            self.op,
            module,
            &format!("{name}_kernels"),
            &targets_of(&self.archs),
            home,
        )?;
        let body = body_of(kernels, 0).expected(kernels, "a body")?;
        let place = Builder::at_end(host.context, body, host.location);
        let ways = self.arrangements(most);
        let mut symbols = Vec::new();
        for (at, way) in ways.iter().enumerate() {
            let kernel = match ways.len() {
                1 => format!("{name}_kernel"),
                _ => format!("{name}_kernel_{at}"),
            };
            self.kernel(place, &kernel, way)?;
            let home = string_of(kernels, "sym_name").unwrap_or_default();
            symbols.push(format!("@{home}::@{kernel}"));
        }
        self.check_launch(host)?;
        let all: Vec<(&Arrangement, &String)> = ways.iter().zip(&symbols).collect();
        self.launch_one(host, &all)?;
        self.record(module, name)
    }

    /// Leaves on the function what it computes, so that a run can be verified.
    fn record(&self, module: Op<'c>, name: &str) -> Result<(), Failure> {
        let tensors: Vec<_> = self.tensors.iter().map(|whole| whole.tensor).collect();
        let (inputs, outputs) = tensors.split_at(self.inputs);
        record(
            (self.op, self.function),
            &self.region,
            [inputs, outputs],
            module,
            name,
        )
    }

    /// Tells whether there are modes of which each index is computed apart.
    fn is_batched(&self) -> bool {
        !self.modes[2].is_empty()
    }

    /// Tells whether rows, columns and the batch are the tensors' modes in their order.
    fn is_in_order(&self) -> bool {
        let mut modes = self
            .modes
            .iter()
            .filter(|modes| !modes.is_empty())
            .enumerate();
        modes.all(|(at, modes)| *modes == [at])
    }

    /// The extents of rows (0), columns (1) and the batch (2), where they are known.
    fn known(&self, mode: usize) -> Option<i64> {
        if mode == 2 && !self.is_batched() {
            return Some(1);
        }
        let mut extents = self.tensors.iter().filter_map(|whole| {
            let mode = whole.layout.mode(mode).ok()?;
            mode.shape().is_static().then(|| mode.size().ok())?
        });
        extents.next()
    }
}

/// Leaves on a function what a map in it computes of tensors, by a region, so that a run can be verified.
pub(super) fn record<'c>(
    (op, function): (Op<'c>, Op<'c>),
    region: &Region<'c>,
    [inputs, outputs]: [&[Val<'c>]; 2],
    module: Op<'c>,
    name: &str,
) -> Result<(), Failure> {
    let symbol = format!("{name}_map");
    region.function(module, function, &symbol)?;
    let mut entry = format!("map = @{symbol}");
    for (name, values) in [
        ("ins", inputs),
        ("outs", outputs),
        ("scalars", region.captured()),
    ] {
        if !values.is_empty() {
            entry += &format!(", {name} = array<i64: {}>", super::places(values));
        }
    }
    super::record(op, function, &entry)
}

/// The modes that are rows, those that are columns, and those of which each index is computed apart. Along what is reduced are columns;
/// where nothing is, the mode along which the neighbours lie of the last tensor that has such. Where they lie along another mode of an
/// input then, that is the rows.
fn split(
    layouts: &[&Layout],
    inputs: usize,
    rank: usize,
    along: Option<Vec<usize>>,
) -> [Vec<usize>; 3] {
    let stride = |layout: &Layout, mode: usize| -> Option<i64> {
        let leaf = layout.stride().get(mode)?.as_leaf()?.clone();
        leaf.as_static().filter(|stride| *stride > 0)
    };
    let side_by_side = |layout: &&Layout| (0..rank).find(|mode| stride(layout, *mode) == Some(1));
    let reduces = along.is_some();
    let columns = along.unwrap_or_else(|| {
        let found = layouts.iter().rev().find_map(side_by_side);
        vec![found.unwrap_or(rank.saturating_sub(1))]
    });
    let others: Vec<usize> = (0..rank).filter(|mode| !columns.contains(mode)).collect();
    let differs = |layout: &&&Layout| columns.iter().any(|mode| !is_same_along(layout, *mode));
    let mut crossed = layouts[..inputs]
        .iter()
        .filter(differs)
        .filter_map(side_by_side);
    let crossed = crossed.find(|mode| others.contains(mode));
    let (rows, batch) = match crossed.filter(|_| !reduces) {
        Some(rows) => {
            let batch = others.into_iter().filter(|mode| *mode != rows);
            (vec![rows], batch.collect())
        }
        None => (others, Vec::new()),
    };
    // The fastest first, so that modes that follow one another become one.
    let fastest = |mode: &usize| {
        let of = layouts.iter().find_map(|layout| stride(layout, *mode));
        (of.unwrap_or(i64::MAX), *mode)
    };
    [rows, columns, batch].map(|mut modes: Vec<usize>| {
        modes.sort_by_key(fastest);
        modes
    })
}

/// The layout as rows, columns, and a batch if there is one. Errors: the columns, if they are not one leaf.
fn arranged(layout: &Layout, modes: &[Vec<usize>; 3]) -> Result<Layout, String> {
    let text = |e: cute_layout::LayoutError| e.to_string();
    let mut parts = Vec::new();
    for (at, modes) in modes.iter().enumerate() {
        let own = modes.iter().map(|mode| layout.mode(*mode));
        let own = own.collect::<cute_layout::Result<Vec<_>>>().map_err(text)?;
        parts.push(match &own[..] {
            [] if at == 2 => continue,
            [] => Layout::leaf(1, 0).map_err(text)?,
            [one] => one.clone(),
            _ => Layout::from_modes(&own).map_err(text)?,
        });
    }
    if let Some(columns) = parts.get_mut(1)
        && columns.shape().is_tuple()
    {
        if columns.is_static() {
            *columns = columns.coalesce().map_err(text)?;
        }
        if columns.shape().is_tuple() {
            return Err(columns.to_string());
        }
    }
    let shape = parts.iter().map(|part| part.shape().clone());
    let stride = parts.iter().map(|part| part.stride().clone());
    Layout::new(
        tuple(shape.collect::<Vec<_>>()),
        tuple(stride.collect::<Vec<_>>()),
    )
    .map_err(text)
}

/// The leaf of columns, of a shape or a stride.
fn column(of: &IntTuple) -> Option<&Leaf> {
    of.get(1).and_then(IntTuple::as_leaf)
}
