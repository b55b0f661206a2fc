//! Maps with sums of products: `cute.map` becomes a kernel whose blocks compute rows, with products by tensor cores.
//!
//! `roles.rs` says which modes are rows and columns, `column.rs` reduces what one column is stored for, `choice.rs` says which tiles a block takes and by which plans, `kernel.rs` writes the
//! kernel and `host.rs` the launch.

mod choice;
mod column;
mod host;
mod kernel;
mod roles;

use super::{
    function::place_of,
    function_around,
    leaves::known_extent,
    matrix::{check_apart, check_in_memory},
    region::Region,
    targets_of,
    variants::choose,
};
use crate::{
    fused::{COLUMNS, Fused, OUTER, ROWS},
    plan::Avoid,
};
use choice::{Choice, MOST_DEPTH};
use cute_ir::{
    Expected, Failure, diag,
    fused::{self, Dependences, Product, products, steps_along},
    maps,
    mlir::*,
    ops::cute,
    types::{MemRef, element_bits, memref_of, register_type},
};
use cute_layout::{Layout, tuple};
use cute_target::Archs;
use melior::ir::operation::OperationLike;
use roles::Roles;

/// A tensor of a fused map: rows, columns, K, E and perhaps a batch.
#[derive(Clone, Debug)]
struct Whole<'c> {
    /// The tensor in the function that launches.
    tensor: Val<'c>,
    /// Its place among the kernel's arguments.
    argument: usize,
    /// Its name in messages.
    name: String,
    memref: MemRef<'c>,
    layout: Layout,
}

/// Tells whether a map is computed by products: whether it reduces along different modes with sums of products among that, or all that it reduces are
/// such sums. Others are reduced row by row.
pub(super) fn is_fused(map: cute::Map<'_>) -> bool {
    let (inputs, outputs) = (map.inputs(), map.outputs());
    let (Some(body), Some(types)) = (map.body(), maps::tensors(&inputs)) else {
        return false;
    };
    if fused::is_fused(body, &types) {
        return true;
    }
    let dependences = Dependences::of(body, &types);
    let all = products(body, &dependences);
    let is_stored =
        |value: &Val<'_>| block_argument(*value).is_some_and(|(block, _)| block == body);
    let is_short = |product: &Product<'_>| {
        let extents = types.iter().map(|memref| {
            let mode = memref.layout.mode(product.along).ok()?;
            mode.shape().is_static().then(|| mode.size().ok())?
        });
        let mut extents = extents;
        extents.all(|extent| extent.is_some_and(|extent| extent <= MOST_DEPTH))
    };
    // What lies in pieces, or is of numbers that are not computed with here, is summed up row by row where it is long.
    let is_plain = |memref: MemRef<'_>| {
        let modes = memref.layout.shape().modes();
        register_type(memref.element) == memref.element && modes.iter().all(|mode| !mode.is_tuple())
    };
    let all_plain = || {
        let mut tensors = inputs.iter().chain(&outputs);
        tensors.all(|tensor| memref_of(*tensor).is_some_and(is_plain))
    };
    let is_held = |product: &Product<'_>| {
        let narrow = product.narrow();
        let is_stored = narrow.is_ok_and(|narrow| narrow.iter().all(is_stored));
        is_stored && (is_short(product) || all_plain())
    };
    !all.is_empty()
        && all.len() == maps::reductions(body).len()
        && all.iter().all(is_held)
        && !outputs.iter().any(|output| inputs.contains(output))
}

/// Erases the ops of a map's region that nothing uses, but for reductions: they decide what a block has the whole of, which is where outputs
/// that are the same along it are stored.
pub(super) fn erase_unused<'c>(rewriter: &Rewriter<'c>, map: cute::Map<'c>) -> Result<(), Failure> {
    // All ops of such a region but its terminator are without effects.
    let ops = map.body().map(ops_of).unwrap_or_default();
    for op in ops.into_iter().rev().skip(1) {
        if cute::AllReduce::of(op).is_none() {
            rewriter.erase_if_unused(op);
        }
    }
    Ok(())
}

/// A `cute.map` with sums of products that blocks can compute.
#[derive(Clone)]
pub(super) struct Fuse<'c> {
    op: Op<'c>,
    function: Op<'c>,
    /// The tensors behind `ins` and then those behind `outs`.
    tensors: Vec<Whole<'c>>,
    /// The number of them that are inputs.
    inputs: usize,
    /// The values that the kernel is passed.
    arguments: Vec<Val<'c>>,
    region: Region<'c>,
    roles: Roles,
    /// The modes of the tensors in the order of [`Whole::layout`]; a mode of a block that no tensor has is none of them.
    modes: Vec<Vec<usize>>,
    /// Tells whether something is reduced along columns.
    reduces: bool,
    choice: Choice<'c>,
    archs: Archs,
}

impl<'c> Fuse<'c> {
    /// The ways to compute the map that an op is, at most so many, of which a launch takes the first that it fits; the last one fits always.
    /// Errors: what blocks do not compute.
    pub(super) fn check(
        op: Op<'c>,
        function: Op<'c>,
        archs: &Archs,
        (most, avoid): (usize, Option<&Avoid>),
    ) -> Result<Vec<Self>, Failure> {
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
                check_tensor(&format!("{what} {at}"), &memref).map_err(fail)?;
                if what == "output" && inputs.contains(value) {
                    return Err(fail(format!(
                        "writes output {at}, which it reads for other tiles as well; expected a tensor of its own"
                    )));
                }
                let argument = place_of(&mut arguments, *value);
                named.push((format!("{what} {at}"), *value, argument, memref));
            }
        }
        let region = Region::of(function, ("a map", body), &mut arguments)?;
        let types: Vec<MemRef<'c>> = named.iter().map(|(.., memref)| memref.clone()).collect();
        let (ins, outs) = types.split_at(inputs.len());
        for product in products(body, &Dependences::of(body, ins)) {
            product.narrow().map_err(|message| {
                let place = location_of(product.reduce.result());
                diag::error(place, format!("'{}' op {message}", cute::ALL_REDUCE))
            })?;
        }
        let roles = Roles::of(body, ins, outs).map_err(fail)?;
        column::reduce(op, body, (ins, outs), &roles)?;
        let rank = outs.first().map_or(0, |output| output.layout.rank());
        let fused = Fused::of(body, ins, outs, &roles.names(rank))?;
        let mut modes: Vec<Vec<usize>> = roles
            .block
            .iter()
            .map(|mode| mode.iter().copied().collect())
            .collect();
        if !roles.batch.is_empty() {
            modes.push(roles.batch.clone());
        }
        let mut tensors = Vec::new();
        for (name, tensor, argument, memref) in named {
            let layout = arranged(&memref.layout, &modes)
                .map_err(|found| fail(format!("expected {name} {found}")))?;
            tensors.push(Whole {
                tensor,
                argument,
                name,
                memref,
                layout,
            });
        }
        let reduces = fused.phases.iter().any(|phase| !phase.reduced.is_empty());
        for output in &tensors[inputs.len()..] {
            check_output(output, &roles, reduces).map_err(fail)?;
        }
        let mut fuse = Self {
            op,
            function,
            tensors,
            inputs: inputs.len(),
            arguments,
            region,
            roles,
            modes,
            reduces,
            choice: Choice::default(),
            archs: archs.clone(),
        };
        fuse.choice = fuse.choose(&fused, avoid).map_err(fail)?;
        let mut ways = match most {
            0 | 1 => Vec::new(),
            _ => fuse.aligned(&fused, avoid),
        };
        ways.truncate(most.saturating_sub(1));
        ways.push(fuse);
        Ok(ways)
    }

    /// The ways for launches that bring more than the types say: the factors of products in whole vectors, and outputs of 16 bits as well, or others in pairs,
    /// or only them.
    fn aligned(&self, fused: &Fused<'c>, avoid: Option<&Avoid>) -> Vec<Self> {
        let narrow = fused.products.iter();
        let narrow = narrow.flat_map(|product| product.narrow().into_iter().flatten());
        let factors: Vec<usize> = narrow
            .filter_map(block_argument)
            .filter(|(block, _)| *block == fused.body)
            .map(|(_, at)| at)
            .collect();
        let mut ways: Vec<Self> = Vec::new();
        for most in [8, 2, 1] {
            let mut way = self.clone();
            let tensors = way.tensors.iter_mut().enumerate();
            let mut is_new = false;
            for (at, whole) in tensors {
                let is_staged = at >= self.inputs && element_bits(whole.memref.element) == Some(16);
                let most = if is_staged { most } else { most.min(2) };
                if let Some(aligned) = whole.aligned(factors.contains(&at), most) {
                    *whole = aligned;
                    is_new = true;
                }
            }
            let layouts = |way: &Self| -> Vec<Layout> {
                let all = way.tensors.iter();
                all.map(|whole| whole.layout.clone()).collect()
            };
            is_new &= ways.iter().all(|other| layouts(other) != layouts(&way));
            if !is_new {
                continue;
            }
            // What has no room with wider accesses has some with narrower ones.
            if let Ok(choice) = way.choose(fused, avoid) {
                way.choice = choice;
                ways.push(way);
            }
        }
        ways
    }

    /// Writes the kernels into their module, which is made if there is none, and the launch of one of them in place of the op.
    pub(super) fn lower(
        ways: &[Self],
        module: Op<'c>,
        name: &str,
        home: &mut Option<Op<'c>>,
    ) -> Result<(), Failure> {
        let Some((general, aligned)) = ways.split_last() else {
            return Ok(());
        };
        let host = Builder::before(general.op);
        let kernels = super::kernels_of(
            general.op,
            module,
            &format!("{name}_kernels"),
            &targets_of(&general.archs),
            home,
        )?;
        let body = body_of(kernels, 0).expected(kernels, "a body")?;
        let place = Builder::at_end(host.context, body, host.location);
        let home = string_of(kernels, "sym_name").unwrap_or_default();
        let mut symbols = Vec::new();
        for (at, way) in ways.iter().enumerate() {
            let kernel = match ways.len() {
                1 => format!("{name}_kernel"),
                _ => format!("{name}_kernel_{at}"),
            };
            way.kernel(place, &kernel)?;
            symbols.push(format!("@{home}::@{kernel}"));
        }
        general.check_launch(host)?;
        let conditions = aligned.iter().map(|way| way.fits(host, general));
        let mut conditions = conditions.collect::<Result<Vec<_>, Failure>>()?;
        conditions.push(None);
        choose(host, &conditions, &|host, at| {
            ways[at].launch(host, &symbols[at])
        })?;
        general.record(name)
    }

    /// Leaves on the function what it computes, so that a run can be verified.
    fn record(&self, name: &str) -> Result<(), Failure> {
        let tensors: Vec<_> = self.tensors.iter().map(|whole| whole.tensor).collect();
        let (inputs, outputs) = tensors.split_at(self.inputs);
        super::map::record(
            (self.op, self.function),
            &self.region,
            [inputs, outputs],
            name,
        )
    }

    /// Tells whether there are modes of which each index is computed apart.
    fn is_batched(&self) -> bool {
        !self.roles.batch.is_empty()
    }

    /// The extent of rows, columns, K, E or the batch, where it is known.
    fn known(&self, mode: usize) -> Option<i64> {
        if self.modes.get(mode).is_none_or(Vec::is_empty) {
            return Some(1);
        }
        known_extent(self.tensors.iter().map(|whole| &whole.layout), mode)
    }
}

/// Checks that registers hold the elements of a tensor.
fn check_tensor(name: &str, memref: &MemRef<'_>) -> Result<(), String> {
    let bits = element_bits(memref.element);
    if register_type(memref.element) != memref.element || bits.is_none_or(|bits| bits < 8) {
        return Err(format!(
            "does not compute with elements of {} here yet, as {name} has; expected f16, bf16, f32 or integers",
            memref.element
        ));
    }
    check_in_memory(name, memref)
}

/// Checks that elements of an output do not overlap, and that no two blocks write one of them.
fn check_output(output: &Whole<'_>, roles: &Roles, reduces: bool) -> Result<(), String> {
    let layout = &output.memref.layout;
    let has = |mode: &usize| steps_along(layout, *mode);
    let [columns, outer] = [COLUMNS, OUTER].map(|mode| roles.block[mode]);
    let apart = roles.block[ROWS].iter().chain(&roles.batch);
    let apart = apart.chain(columns.iter().filter(|_| !reduces));
    let is_one = |mode: &&usize| layout.mode(**mode).and_then(|mode| mode.size()) == Ok(1);
    if let Some(mode) = apart.filter(|mode| !is_one(mode)).find(|mode| !has(mode)) {
        return Err(format!(
            "expected {} to have elements of its own along mode {mode}, of which several blocks compute indices, found {layout}",
            output.name
        ));
    }
    if let (Some(columns), Some(outer)) = (columns, outer)
        && has(&columns)
        && has(&outer)
    {
        return Err(format!(
            "expected {} with elements along columns, mode {columns}, or along those of products along columns, mode {outer}, found \
             both in {layout}",
            output.name
        ));
    }
    let modes: Vec<_> = (0..layout.rank())
        .filter(has)
        .filter_map(|mode| layout.mode(mode).ok())
        .collect();
    match Layout::from_modes(&modes) {
        Ok(apart) if !modes.is_empty() => check_apart(&output.name, &apart),
        _ => Ok(()),
    }
}

/// The layout as rows, columns, K, E, and a batch if there is one. Errors: the reason why modes but the batch are not one leaf each.
fn arranged(layout: &Layout, modes: &[Vec<usize>]) -> Result<Layout, String> {
    let text = |e: cute_layout::LayoutError| e.to_string();
    let mut parts = Vec::new();
    for (at, modes) in modes.iter().enumerate() {
        let own = modes.iter().map(|mode| layout.mode(*mode));
        let own = own.collect::<cute_layout::Result<Vec<_>>>().map_err(text)?;
        let mut part = match &own[..] {
            [] => Layout::leaf(1, 0).map_err(text)?,
            [one] => one.clone(),
            _ => Layout::from_modes(&own).map_err(text)?,
        };
        if at <= OUTER && part.shape().is_tuple() {
            if part.is_static() {
                part = part.coalesce().map_err(text)?;
            }
            if part.shape().is_tuple() {
                return Err(format!(
                    "with one stride along mode {}, found {part}; make a copy of it that lies in order",
                    modes[0]
                ));
            }
        }
        parts.push(part);
    }
    let shape = parts.iter().map(|part| part.shape().clone());
    let stride = parts.iter().map(|part| part.stride().clone());
    Layout::new(
        tuple(shape.collect::<Vec<_>>()),
        tuple(stride.collect::<Vec<_>>()),
    )
    .map_err(text)
}
