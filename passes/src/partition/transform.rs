//! `cute.block.transform`: elements of tiles computed from others, some rows at a time.

use super::{
    Partition,
    indexed::Located,
    map::{as_held, as_number},
    promote,
    steps::Most,
    tiled_mma, wrong,
};
use crate::arch::WIDEST;
use cute_ir::{
    Expected, Failure, algorithm,
    contract::each_leaf,
    mlir::*,
    ops::{arith, cute},
    region, tensor,
    types::{self, CopyOp, CuteType, MemRef, Space, element_bits, memref_of},
};
use cute_layout::{IntTuple, Layout, Leaf, Operand, int, tuple};
use melior::ir::ValueLike;

/// Elements of each tile that a thread holds at a time.
const HELD: i64 = 32;

/// Elements of all inputs together that a thread holds at a time, where all are in global memory: so many bytes that memory is kept busy,
/// so few that registers hold them.
pub(crate) const LOADED: i64 = 64;

/// The movement of C out of shared memory, among those of the plan.
pub(super) const OUT: usize = 1;

/// A part of a thread that may reach over the end of a matrix.
#[derive(Clone)]
pub(super) struct Guard<'c> {
    /// An i1 for each vector of the thread.
    pub(super) there: Val<'c>,
    /// Elements of a vector.
    pub(super) vector: i64,
}

impl<'c> Partition<'c> {
    /// Computes tiles from others, element by element.
    pub(super) fn transform(
        &mut self,
        b: Builder<'c>,
        op: cute::BlockTransform<'c>,
    ) -> Result<(), Failure> {
        let (inputs, outputs) = (op.inputs(), op.outputs());
        let sums = *inputs.first().expected(b, "a tile of C")?;
        let tile = memref_of(sums).expected(b, "a tensor")?;
        if tile.space == Space::Rmem {
            return self.transform_sums(b, op);
        }
        let output = outputs.first().and_then(|tensor| memref_of(*tensor));
        let output = output.expected(b, "a tile that is written")?;
        let is_staged = tile.space == Space::Smem;
        if is_staged {
            let element = tile.element;
            let global = MemRef { element, ..output };
            self.movement(Operand::C, &tile, &global)
                .map_err(wrong(b))?;
        }
        // Of tiles that are all in global memory the elements are on their way together.
        let (most, all_inputs) = match is_staged {
            true => (HELD, 1),
            false => (LOADED, i64::try_from(inputs.len()).unwrap_or(i64::MAX)),
        };
        // As many rows, or columns, at a time as registers allow.
        let beside = 1 - self.plan.major(Operand::C).map_err(wrong(b))?;
        let reduced = self.reduced(b, op, beside)?;
        let steps = self.steps(b, sums, Most::Elements(most / all_inputs.max(1)))?;
        let inner = steps.inner;
        let part = |tensor: Val<'c>, side: &str| steps.part(tensor, side);
        let located = Located::of_transform(op);
        let coords = match op.coords() {
            Some(coords) => Some(part(coords, cute::TILED_COPY_PARTITION_S)?),
            None => None,
        };
        let guard = match (coords, op.end()) {
            (Some(coords), Some(end)) => self.guard_of(inner, (Operand::C, OUT), coords, end)?,
            _ => None,
        };
        // The coordinates of elements of the tensor at a place, if it is a whole matrix.
        let whole = |place: usize| coords.filter(|_| located.is_whole(place));
        // Loads from global memory first: they take the longest.
        let mut loaded = Vec::new();
        for (place, input) in inputs.iter().enumerate().skip(usize::from(is_staged)) {
            let b = inner.step("load inputs");
            loaded.push(match whole(place) {
                Some(coords) => {
                    self.load_elements(b, (*input, coords), (Operand::C, OUT), guard.as_ref())?
                }
                None => {
                    let source = part(*input, cute::TILED_COPY_PARTITION_S)?;
                    load(b, source, guard.as_ref())?
                }
            });
        }
        if is_staged {
            let source = part(sums, cute::TILED_COPY_PARTITION_S)?;
            loaded.insert(0, load(inner.step("load sums"), source, None)?);
        }
        let body = op.body().expected(b, "a region")?;
        for (at, output) in outputs.iter().enumerate() {
            let store = inner.step("store outputs");
            if let Some(coords) = whole(inputs.len() + at) {
                let memref = memref_of(*output).expected(b, "a tensor")?;
                let Some(CuteType::CoordTensor { layout, .. }) = CuteType::get(coords.r#type())
                else {
                    return Err(b.error("expected coordinates"));
                };
                let layout = Layout::col_major(layout.shape()).map_err(wrong(b))?;
                let registers = compute(inner, body, at, &loaded, &memref, layout)?;
                let places = (*output, coords);
                self.store_elements(store, registers, places, (Operand::C, OUT), guard.as_ref())?;
                continue;
            }
            let destination = part(*output, cute::TILED_COPY_PARTITION_D)?;
            let memref = memref_of(destination).expected(b, "a tensor")?;
            let layout = Layout::col_major(memref.layout.shape()).map_err(wrong(b))?;
            let registers = compute(inner, body, at, &loaded, &memref, layout)?;
            if let Some(Some(reduced)) = reduced.get(at) {
                let part = |own| part(own, cute::TILED_COPY_PARTITION_D);
                self.reduce_step(inner, reduced, registers, guard.as_ref(), part)?;
                continue;
            }
            copy(store, registers, destination, guard.as_ref())?;
        }
        steps.end()?;
        for reduced in reduced.iter().flatten() {
            self.store_reduced(b, reduced, op.coords().zip(op.end()))?;
        }
        Ok(())
    }
}

impl<'c> Partition<'c> {
    /// Computes a part of C in registers of a thread's sums, as the product deals them out.
    fn transform_sums(
        &mut self,
        b: Builder<'c>,
        op: cute::BlockTransform<'c>,
    ) -> Result<(), Failure> {
        let (inputs, outputs) = (op.inputs(), op.outputs());
        let [output] = outputs[..] else {
            return Err(b.error("expected one tensor of registers"));
        };
        if !self.plan.has_roles() {
            return Err(b.error(
                "expected the sums in shared memory, found them in registers, of which parts go out by a plan of warpgroups alone; copy them into C's tile first",
            ));
        }
        let mma = self.plan.part_mma(b.location).map_err(wrong(b))?;
        let mma = tiled_mma(self.top, mma, &[])?;
        let sums = *inputs.first().expected(b, "a part of the sums")?;
        let mut loaded = vec![self.fragment(b, sums)?];
        for input in &inputs[1..] {
            let load = b.step("load inputs");
            let within = op.coords().zip(op.end());
            let within = within.filter(|(_, end)| reaches_over(*input, *end));
            let within = match within {
                Some((coords, end)) => Some((self.part_of(load, Operand::C, mma, coords)?, end)),
                None => None,
            };
            let source = self.part_of(load, Operand::C, mma, *input)?;
            loaded.push(promote::load_once(load, source, within)?);
        }
        let sums = memref_of(loaded[0]).expected(b, "a fragment")?;
        let memref = memref_of(output).expected(b, "a tensor")?;
        let layout = Layout::col_major(sums.layout.shape()).map_err(wrong(b))?;
        let body = op.body().expected(b, "a region")?;
        // All are rounded together, two by one instruction.
        let computed = match rounded_last(body, 0) {
            Some(wide) => compute_rounded(b, body, wide, &loaded, &memref, layout)?,
            None => compute(b, body, 0, &loaded, &memref, layout)?,
        };
        self.fragments.insert(key(output), computed);
        Ok(())
    }
}

/// Tells whether a tile that lies over a tensor's end may have elements that are not there: along a mode of which it is known that all are, or along which all are one,
/// it has none.
fn reaches_over(tile: Val<'_>, end: Val<'_>) -> bool {
    let Some(CuteType::Coord(ends)) = CuteType::get(end.r#type()) else {
        return true;
    };
    let modes = memref_of(tile).map(|memref| memref.layout.modes());
    let modes = modes.unwrap_or_default();
    let is_open = |(mode, end): (&Layout, &IntTuple)| !end.has_underscore() && !is_same(mode);
    modes.iter().zip(ends.modes().iter()).any(is_open)
}

/// The f32 that a region yields at a place as f16, bf16 or a number of 8 bits; none where it yields something else.
fn rounded_last(body: Blk<'_>, at: usize) -> Option<Val<'_>> {
    let rounded = *region::yielded(body).get(at)?;
    let op = defining_op(rounded).filter(|op| name_of(*op) == arith::TRUNCF)?;
    let wide = *operands_of(op).first()?;
    let bits = |value: Val<'_>| element_bits(value.r#type());
    (matches!(bits(rounded), Some(8 | 16)) && bits(wide) == Some(32)).then_some(wide)
}

/// Computes the yielded value `at` of a region for each element, in registers for elements of a tensor.
fn compute<'c>(
    b: Builder<'c>,
    body: Blk<'c>,
    at: usize,
    inputs: &[Val<'c>],
    like: &MemRef<'c>,
    layout: Layout,
) -> Result<Val<'c>, Failure> {
    if element_bits(like.element) == Some(8)
        && let Some(wide) = rounded_last(body, at)
    {
        return compute_rounded(b, body, wide, inputs, like, layout);
    }
    let yielded = region::yielded(body);
    let yielded = *yielded.get(at).expected(b, "a yielded value")?;
    let registers = allocate(b, like, layout)?;
    compute_value(b, body, yielded, inputs, registers)?;
    Ok(registers)
}

/// Computes a value of a region for each element, and rounds all of them to elements of a tensor.
fn compute_rounded<'c>(
    b: Builder<'c>,
    body: Blk<'c>,
    wide: Val<'c>,
    inputs: &[Val<'c>],
    like: &MemRef<'c>,
    layout: Layout,
) -> Result<Val<'c>, Failure> {
    let element = wide.r#type();
    let unrounded = MemRef {
        element,
        ..like.clone()
    };
    let registers = allocate(b, &unrounded, layout.clone())?;
    compute_value(b, body, wide, inputs, registers)?;
    let ty = tensor::registers(like.element, layout).to_type(b.location)?;
    b.value(cute::CONVERT, &[registers], ty, &[])
}

/// Computes a value of a region for each element.
fn compute_value<'c>(
    b: Builder<'c>,
    body: Blk<'c>,
    value: Val<'c>,
    inputs: &[Val<'c>],
    output: Val<'c>,
) -> Result<(), Failure> {
    let own = arguments_of(body);
    let held = |value: &Val<'c>| types::register_type(value.r#type());
    let arguments: Vec<_> = own
        .iter()
        .map(|value| (held(value), location_of(*value)))
        .collect();
    let (region, block) = Detached::with_block(&arguments);
    let tensors: Vec<_> = inputs.iter().copied().chain([output]).collect();
    b.with_regions(cute::TRANSFORM, &tensors, &[], &[], vec![region])?;
    let l = Builder::at_end(b.context, block, b.location);
    let mut mapping = Mapping::new();
    let numbers = arguments_of(block).into_iter().zip(&own);
    let numbers = numbers.map(|(value, own)| as_number(l, value, own.r#type()));
    let numbers = numbers.collect::<Result<Vec<_>, Failure>>()?;
    l.clone_body(body, &numbers, &mut mapping)?;
    // What is from around the region is as it was.
    let value = mapping.get(&key(value)).copied().unwrap_or(value);
    let value = as_held(l, value)?;
    l.op(cute::YIELD, &[value], &[], &[])?;
    Ok(())
}

fn allocate<'c>(b: Builder<'c>, like: &MemRef<'c>, layout: Layout) -> Result<Val<'c>, Failure> {
    let ty = tensor::registers(types::register_type(like.element), layout);
    b.value(cute::MEMREF_ALLOCA, &[], ty.to_type(b.location)?, &[])
}

/// Loads a thread's part into registers, in which what is the same along a mode is held once.
pub(super) fn load<'c>(
    b: Builder<'c>,
    source: Val<'c>,
    guard: Option<&Guard<'c>>,
) -> Result<Val<'c>, Failure> {
    let memref = memref_of(source).expected(b, "a tensor")?;
    let layout = held_once(&memref.layout).map_err(wrong(b))?;
    let registers = allocate(b, &memref, layout)?;
    if guard.is_some() {
        b.op(cute::CLEAR, &[registers], &[], &[])?;
    }
    copy(b, source, registers, guard)?;
    Ok(registers)
}

/// The layout of registers for the elements of a layout, each that there is once, the first mode the fastest.
pub(crate) fn held_once(of: &Layout) -> Result<Layout, String> {
    held_along(of.shape(), &varying(of))
}

/// Tells of each leaf of a layout whether elements along it differ.
pub(crate) fn varying(layout: &Layout) -> Vec<bool> {
    let (shape, stride) = (layout.shape().leaves(), layout.stride().leaves());
    let leaves = shape.into_iter().zip(stride);
    leaves
        .map(|(extent, stride)| *extent != Leaf::Static(1) && *stride != Leaf::Static(0))
        .collect()
}

/// The layout of a shape whose elements along some leaves lie one after another, and are one along the others.
pub(super) fn held_along(shape: &IntTuple, leaves: &[bool]) -> Result<Layout, String> {
    let (mut leaves, mut next) = (leaves.iter(), 1);
    let stride = each_leaf(shape, &mut |extent| {
        let own = match leaves.next() {
            Some(true) => next,
            _ => return Ok(Leaf::Static(0)),
        };
        if let Leaf::Static(extent) = extent {
            next *= extent;
        }
        Ok(Leaf::Static(own))
    })?;
    Layout::new(shape.clone(), stride).map_err(|e| e.to_string())
}

/// Tells whether all elements along a mode are one.
fn is_same(mode: &Layout) -> bool {
    let (shape, stride) = (mode.shape().leaves(), mode.stride().leaves());
    let is_zero = |(n, s): (&&Leaf, &&Leaf)| **n == Leaf::Static(1) || **s == Leaf::Static(0);
    shape.iter().zip(&stride).all(is_zero)
}

/// Copies between a thread's part of a tile and registers of its shape, where it is there.
fn copy<'c>(
    b: Builder<'c>,
    source: Val<'c>,
    destination: Val<'c>,
    guard: Option<&Guard<'c>>,
) -> Result<(), Failure> {
    let Some(guard) = guard else {
        b.op(cute::AUTOVEC_COPY, &[source, destination], &[], &[])?;
        return Ok(());
    };
    let (Some(from), Some(to)) = (memref_of(source), memref_of(destination)) else {
        return Err(b.error("expected tensors"));
    };
    let memory = [&from, &to]
        .into_iter()
        .find(|memref| memref.space != Space::Rmem);
    let memory = memory.expected(b, "a tensor in memory")?;
    // What is the same along a mode is copied once: where it is there at all, it is at the first place.
    let keep = IntTuple::underscore;
    let modes = memory.layout.modes();
    let once = |mode: &Layout| mode.size() != Ok(1) && is_same(mode);
    let coord: Vec<_> = modes
        .iter()
        .map(|mode| if once(mode) { int(0) } else { keep() })
        .collect();
    let first = memory.layout.mode(0).and_then(|mode| mode.coalesce());
    let vector = guard.vector;
    let bits = element_bits(memory.element).expected(b, "an element")? * vector;
    // Vectors of the sums may be wider in another type than any access.
    let is_vector = vector > 1
        && bits <= WIDEST
        && first.is_ok_and(|first| Layout::leaf(vector, 1) == Ok(first))
        && algorithm::vectors(&from, &to, bits).is_ok_and(|found| found.length == vector);
    let slice = |tensor: Val<'c>, coord: &[IntTuple]| {
        let coord = b.static_value(types::coord_type(b.context, &tuple(coord.to_vec())))?;
        b.infer(cute::SLICE, &[tensor, coord], &[])
    };
    if is_vector && coord[1..].iter().any(IntTuple::has_underscore) {
        let ty = types::copy_atom_type(b.location, memory.element, CopyOp::Universal { bits })?;
        let atom = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
        let there = slice(guard.there, &coord[1..])?;
        b.copy(&[
            atom,
            slice(source, &coord)?,
            slice(destination, &coord)?,
            there,
        ])?;
        return Ok(());
    }
    // An element at a time, with the predicate of its vector.
    let there = memref_of(guard.there).expected(b, "a predicate")?;
    let repeated = Layout::leaf(vector, 0).map_err(wrong(b))?;
    let layout = [vec![repeated], there.layout.modes()].concat();
    let layout = Layout::from_modes(&layout).map_err(wrong(b))?;
    let start = b.infer(cute::GET_ITER, &[guard.there], &[])?;
    let value = b.static_value(types::layout_type(b.context, &layout))?;
    let ty = MemRef { layout, ..there }.to_type(b.location)?;
    let there = b.value(cute::MAKE_VIEW, &[start, value], ty, &[])?;
    let part = |tensor: Val<'c>| {
        if coord.iter().any(IntTuple::has_underscore) {
            return slice(tensor, &coord);
        }
        let one = Layout::leaf(1, 0).map_err(wrong(b))?;
        let one = b.static_value(types::layout_type(b.context, &one))?;
        b.infer(cute::COMPOSITION, &[tensor, one], &[])
    };
    let operands = [part(there)?, part(source)?, part(destination)?];
    b.op(cute::COPY_IF, &operands, &[], &[])?;
    Ok(())
}
