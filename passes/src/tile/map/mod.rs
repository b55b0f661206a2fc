//! Maps over whole tensors: `cute.map` becomes a kernel, or a few of which a launch takes one, whose blocks compute rows.
//!
//! The modes that are reduced along are the columns, and the others are rows. `arrange.rs` says which threads take which elements, `kernel.rs`
//! writes the kernel, `host.rs` the launch.

mod arrange;
pub(super) mod beside;
mod host;
mod kernel;
mod parts;
mod stays;

use super::{
    function::place_of,
    function_around,
    leaves::{known_extent, leaves_of, view_at},
    matrix::{check_argument, check_in_memory, check_once},
    region::Region,
    targets_of,
    variants::choose,
};
use crate::plan::Avoid;
use arrange::Arrangement;
use cute_ir::{
    Expected, Failure, diag,
    maps::{is_same_along, modes_of, reductions},
    mlir::*,
    ops::cute,
    types::{MemRef, element_bits, is_float, memref_of, register_type},
};
use cute_layout::{IntTuple, Layout, Leaf, tuple};
use cute_target::Archs;
use melior::ir::operation::OperationLike;

/// A tensor of a map, as rows and columns.
#[derive(Clone, Debug)]
struct Whole<'c> {
    /// The tensor in the function that launches.
    tensor: Val<'c>,
    /// Its place among the kernel's arguments, or that of what it is a view of.
    argument: usize,
    /// The places of the leaves of a view that only a launch knows, those of the shape and those of the stride.
    view: Option<[Vec<usize>; 2]>,
    /// Its name in messages.
    name: String,
    memref: MemRef<'c>,
    /// Rows, columns, of which the latter are one leaf where they lie in order, and perhaps a batch.
    layout: Layout,
}

/// A `cute.map` that can be computed row by row.
pub(super) struct Map<'c> {
    op: Op<'c>,
    function: Op<'c>,
    /// The tensors behind `ins` and then those behind `outs`.
    tensors: Vec<Whole<'c>>,
    /// The number of inputs among them.
    inputs: usize,
    /// The values that the kernel is passed.
    arguments: Vec<Val<'c>>,
    region: Region<'c>,
    /// The modes of the tensors that are rows, those that are columns, the fastest first, and those of which each index is computed apart.
    modes: [Vec<usize>; 3],
    /// Tells whether something is reduced along the columns.
    reduces: bool,
    /// The number of columns in each of the ranges that are reduced apart, by the index of the batch; none where all are reduced.
    ranges: Option<i64>,
    archs: Archs,
    /// True where blocks may compute one row after another.
    may_stay: bool,
}

/// The kernels of a map, each with its symbol.
pub(super) struct Kernels(Vec<(Arrangement, String)>);

impl<'c> Map<'c> {
    /// The map that an op is, whose blocks may compute one row after another if `avoid` does not say otherwise. Errors: what cannot be computed row by row.
    pub(super) fn check(
        op: Op<'c>,
        function: Op<'c>,
        archs: &Archs,
        avoid: Option<&Avoid>,
    ) -> Result<Self, Failure> {
        function_around(op, function)?;
        let map = Self::of(op, function, archs, (false, None))?;
        Ok(Self {
            may_stay: avoid.is_none_or(|avoid| !avoid.has_stays()),
            ..map
        })
    }

    /// A map that `cute-tile` wrote, on views and numbers that the function computes; it may stand in a branch. Its kernels are passed
    /// `others` besides, which a launch finds to be apart from what they write. With `ranges`, the index of its third mode is that of a range of so
    /// many columns.
    pub(super) fn of_values(
        op: Op<'c>,
        function: Op<'c>,
        archs: &Archs,
        (others, ranges): (&[Val<'c>], Option<i64>),
    ) -> Result<Self, Failure> {
        let mut map = Self::of(op, function, archs, (true, ranges))?;
        for other in others {
            place_of(&mut map.arguments, *other);
        }
        Ok(map)
    }

    fn of(
        op: Op<'c>,
        function: Op<'c>,
        archs: &Archs,
        (computed, ranges): (bool, Option<i64>),
    ) -> Result<Self, Failure> {
        let fail =
            |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
        let map = cute::Map::of(op).expected(op, "a map")?;
        let body = map.body().expected(op, "a region")?;
        let (inputs, outputs) = (map.inputs(), map.outputs());
        let mut arguments: Vec<Val<'c>> = Vec::new();
        let mut named = Vec::new();
        for (what, values) in [("input", &inputs), ("output", &outputs)] {
            for (at, value) in values.iter().enumerate() {
                let memref = memref_of(*value).expected(op, "tensors")?;
                let bits = element_bits(memref.element);
                let is_held = register_type(memref.element) == memref.element;
                if bits.is_none_or(|bits| bits < 8)
                    || !is_held && (bits != Some(8) || what != "input" && !is_float(memref.element))
                {
                    return Err(fail(format!(
                        "does not compute with elements of {} here yet, as {what} {at} has; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64 or integers{}",
                        memref.element,
                        match bits {
                            Some(8) => ": unsigned bytes are read, and written as other ones",
                            _ => "",
                        }
                    )));
                }
                check_in_memory(&format!("{what} {at}"), &memref).map_err(fail)?;
                check_argument(&format!("{what} {at}"), *value).map_err(fail)?;
                let (base, leaves) = parts_of_view(Builder::before(op), *value)?;
                let mut passed = |value| place_of(&mut arguments, value);
                let argument = passed(base);
                let mut all = |values: Vec<Val<'c>>| values.into_iter().map(&mut passed).collect();
                let view = leaves.map(|[shape, stride]| [all(shape), all(stride)]);
                named.push((format!("{what} {at}"), *value, (argument, view), memref));
            }
        }
        let region = Region::of_numbers(function, ("a map", body), &mut arguments, computed)?;
        let rank = named.first().map_or(0, |(.., memref)| memref.layout.rank());
        let all = reductions(body);
        let along: Option<Vec<usize>> = all.first().map(|reduce| {
            let modes = modes_of(reduce).into_iter();
            modes
                .filter_map(|mode| usize::try_from(mode).ok())
                .collect()
        });
        let layouts: Vec<&Layout> = named.iter().map(|(.., memref)| &memref.layout).collect();
        let modes = match ranges {
            Some(_) => [vec![0], vec![1], vec![2]],
            None => split(&layouts, inputs.len(), rank, along.clone()),
        };
        let mut tensors = Vec::new();
        for (name, tensor, (argument, view), memref) in named {
            let layout = arranged(&memref.layout, &modes).map_err(fail)?;
            tensors.push(Whole {
                tensor,
                argument,
                view,
                name,
                memref,
                layout,
            });
        }
        for output in &tensors[inputs.len()..] {
            let columns = output.layout.mode(1).map_err(|e| fail(e.to_string()))?;
            let (shape, stride) = (columns.shape().leaves(), columns.stride().leaves());
            let mut leaves = shape.iter().zip(&stride);
            let repeats = leaves.any(|(n, s)| **n != Leaf::Static(1) && **s == Leaf::Static(0));
            if repeats && !is_same_along(&output.layout, 1) {
                return Err(fail(format!(
                    "expected {} with the stride 0 along all of the modes {:?} that are reduced, or with elements of its own along \
                     them, found {}; write it once by a cute.map of its own",
                    output.name, modes[1], output.memref.layout
                )));
            }
            check_once(&output.name, &output.layout).map_err(fail)?;
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
            ranges,
            archs: archs.clone(),
            may_stay: false,
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

    /// The op.
    pub(super) fn op(&self) -> Op<'c> {
        self.op
    }

    /// Writes the kernels into their module, which is made if there is none, and the launch in place of the op; leaves on the function what
    /// it computes.
    pub(super) fn lower(
        &self,
        rewriter: &Rewriter<'c>,
        module: Op<'c>,
        name: &str,
        most: usize,
        home: &mut Option<Op<'c>>,
    ) -> Result<(), Failure> {
        self.lower_alone(rewriter, module, name, most, home)?;
        self.record(name)
    }

    /// Writes the kernels, and the launches in place of the op.
    pub(super) fn lower_alone(
        &self,
        rewriter: &Rewriter<'c>,
        module: Op<'c>,
        name: &str,
        most: usize,
        home: &mut Option<Op<'c>>,
    ) -> Result<(), Failure> {
        let host = Builder::before(self.op);
        let Some(parts) = self.parts(host, most)? else {
            return self.lower_whole(module, name, most, home);
        };
        let named = format!("{name}_kernels");
        let kernels = super::kernels_of(self.op, module, &named, &targets_of(&self.archs), home)?;
        self.check_launch(host)?;
        let place = (kernels, name);
        if parts.condition.is_none() {
            return self.lower_parts(rewriter, host, &parts, place);
        }
        let symbols = self.kernels(kernels, name, most)?;
        choose(host, &[parts.condition, None], &|host, at| match at {
            0 => self.lower_parts(rewriter, host, &parts, place),
            _ => self.launch_one(host, &symbols.0),
        })
    }

    /// Writes the kernels, and the launch in place of the op, of maps whose blocks have whole lines.
    fn lower_whole(
        &self,
        module: Op<'c>,
        name: &str,
        most: usize,
        home: &mut Option<Op<'c>>,
    ) -> Result<(), Failure> {
        self.lower_again(module, name, most, home, &mut None)
    }

    /// Does the same of a map that reduces nothing and may have been written before, with the kernels that were written for it then.
    pub(super) fn lower_again(
        &self,
        module: Op<'c>,
        name: &str,
        most: usize,
        home: &mut Option<Op<'c>>,
        written: &mut Option<Kernels>,
    ) -> Result<(), Failure> {
        let host = Builder::before(self.op);
        let kernels = match written {
            Some(kernels) => kernels,
            None => {
                let named = format!("{name}_kernels");
                let home =
                    super::kernels_of(self.op, module, &named, &targets_of(&self.archs), home)?;
                written.insert(self.kernels(home, name, most)?)
            }
        };
        self.check_launch(host)?;
        self.launch_one(host, &kernels.0)
    }

    /// Writes the kernels into their module; returns each with its symbol.
    fn kernels(&self, kernels: Op<'c>, name: &str, most: usize) -> Result<Kernels, Failure> {
        let body = body_of(kernels, 0).expected(kernels, "a body")?;
        let place = Builder::at_end(context_of(self.op), body, Builder::before(self.op).location);
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
        Ok(Kernels(ways.into_iter().zip(symbols).collect()))
    }

    /// Leaves on the function what it computes, so that a run can be verified.
    fn record(&self, name: &str) -> Result<(), Failure> {
        let tensors: Vec<_> = self.tensors.iter().map(|whole| whole.tensor).collect();
        let (inputs, outputs) = tensors.split_at(self.inputs);
        record(
            (self.op, self.function),
            &self.region,
            [inputs, outputs],
            name,
        )
    }

    /// Tells whether it reduces ranges of columns.
    fn is_part(&self) -> bool {
        self.ranges.is_some()
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
        known_extent(self.tensors.iter().map(|whole| &whole.layout), mode)
    }
}

/// The leaves of a view that only a launch knows: those of the shape, and those of the stride.
type Open<'c> = [Vec<Val<'c>>; 2];

/// A pointer or a tensor, and the leaves that only a launch knows of the view that a function makes of it, those of the shape and those of the
/// stride; none of a tensor as it is.
fn parts_of_view<'c>(
    host: Builder<'c>,
    tensor: Val<'c>,
) -> Result<(Val<'c>, Option<Open<'c>>), Failure> {
    let Some(view) = defining_op(tensor).and_then(cute::MakeView::of) else {
        return Ok((tensor, None));
    };
    let start = view.iter();
    let base = defining_op(start).and_then(cute::GetIter::of);
    let base = base.map_or(start, |of| of.tensor());
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let leaves = leaves_of(host, layout)?;
    let (shape, stride) = leaves.split_at(leaves.len() / 2);
    let open = |leaves: &[Option<Val<'c>>]| leaves.iter().copied().flatten().collect();
    Ok((base, Some([open(shape), open(stride)])))
}

impl<'c> Whole<'c> {
    /// The tensor in a kernel.
    fn in_kernel(&self, b: Builder<'c>, body: Blk<'c>) -> Result<Val<'c>, Failure> {
        let base = argument(body, self.argument);
        let Some(leaves) = &self.view else {
            return Ok(base);
        };
        let start = match memref_of(base) {
            Some(_) => b.infer(cute::GET_ITER, &[base], &[])?,
            None => base,
        };
        let values = |places: &Vec<usize>| -> Vec<Val<'c>> {
            places.iter().map(|place| argument(body, *place)).collect()
        };
        let [shape, stride] = leaves.each_ref().map(values);
        view_at(b, start, &self.memref, [&shape, &stride])
    }
}

/// Leaves on a function what a map in it computes of tensors, by a region, so that a run can be verified.
pub(super) fn record<'c>(
    (op, function): (Op<'c>, Op<'c>),
    region: &Region<'c>,
    [inputs, outputs]: [&[Val<'c>]; 2],
    name: &str,
) -> Result<(), Failure> {
    let symbol = format!("{name}_map");
    region.function(function, &symbol)?;
    let mut entry = format!("map = @{symbol}");
    for (name, values) in [
        ("ins", inputs),
        ("outs", outputs),
        ("scalars", region.captured()),
    ] {
        if !values.is_empty() {
            let places = super::places(op, function, values)?;
            entry += &format!(", {name} = array<i64: {places}>");
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

/// The layout as rows, columns, and a batch if there is one. Errors: those of the algebra.
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
        // What does not lie in order stays as it is, and is moved element by element.
        if columns.is_static() {
            *columns = columns.coalesce().map_err(text)?;
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

/// The leaf of columns, of a shape or a stride; none of several.
fn column(of: &IntTuple) -> Option<&Leaf> {
    of.get(1).and_then(IntTuple::as_leaf)
}
