//! `cute.block.promote`: each thread multiplies its sums of a group by their scales, and adds them to its sums of all of K.
//!
//! A thread loads what it needs of a tensor once: elements along rows or columns that are one are a leaf of stride 0 of its part.

use super::{Partition, is_there, transform, wrong};
use cute_ir::{
    Expected, Failure,
    contract::each_leaf,
    mlir::*,
    ops::{cute, math},
    tensor,
    types::{self, MemRef, memref_of},
};
use cute_layout::{IntTuple, Layout, Leaf, Operand};
use melior::ir::ValueLike;

/// The part that a thread holds of a tensor: each element that there is once, and for each leaf of the shape of its part whether elements along it differ.
#[derive(Clone)]
pub(super) struct Once<'c> {
    registers: Val<'c>,
    /// The shape of the thread's part of the tensor.
    shape: IntTuple,
    varying: Vec<bool>,
}

impl<'c> Partition<'c> {
    /// Brings a tile of C's shape, or what is held of another one, into what the threads hold of a tensor.
    pub(super) fn hold_once(
        &mut self,
        b: Builder<'c>,
        copy: cute::BlockCopy<'c>,
    ) -> Result<(), Failure> {
        let destination = key(copy.destination());
        if let Some(from) = self.held.get(&key(copy.source())).cloned() {
            let to = self.held.get(&destination);
            let to = to.expected(b, "registers that were loaded before")?;
            let operands = [from.registers, to.registers];
            b.op(cute::AUTOVEC_COPY, &operands, &[], &[])?;
            return Ok(());
        }
        let source = self.part_of(b, Operand::C, self.mma, copy.source())?;
        let within = match copy.coords().zip(copy.end()) {
            Some((coords, end)) => Some((self.part_of(b, Operand::C, self.mma, coords)?, end)),
            None => None,
        };
        let once = match self.held.get(&destination) {
            Some(once) => once.clone(),
            None => {
                let once = allocate(b, source, within.map(|(coords, _)| coords))?;
                self.held.insert(destination, once.clone());
                once
            }
        };
        load(b, source, &once, within)
    }

    /// Adds scaled sums of a group to those of all of K.
    pub(super) fn promote(
        &self,
        b: Builder<'c>,
        op: cute::BlockPromote<'c>,
    ) -> Result<(), Failure> {
        let (group, sums) = (self.fragment(b, op.group())?, self.fragment(b, op.sums())?);
        let shape = memref_of(sums).expected(b, "sums")?.layout;
        let shape = shape.shape();
        let mut loaded = Vec::new();
        for input in op.inputs() {
            let once = self.held.get(&key(input));
            loaded.push(once.expected(b, "registers that were loaded before")?);
        }
        // A scale is computed once for the elements that have one; for each where shapes differ, as of columns that lie in groups.
        let are_alike = loaded.iter().all(|once| once.shape == *shape);
        let count = shape.leaves().len();
        let varying = loaded.iter().map(|once| &once.varying);
        let varying = varying.fold(vec![!are_alike; count], |mut all, own| {
            all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
            all
        });
        let mut of = Vec::new();
        for once in loaded {
            let spread = spread(b, once.registers, &once.shape, &once.varying)?;
            of.push(match are_alike {
                true => part_at(b, spread, &varying)?,
                false => spread,
            });
        }
        let once = match of.first() {
            Some(first) => layout_of(b, *first)?,
            None => Layout::leaf(1, 0).map_err(wrong(b))?,
        };
        let once = Layout::col_major(once.shape()).map_err(wrong(b))?;
        let element = memref_of(sums).expected(b, "sums")?.element;
        let scale = tensor::registers(element, once).to_type(b.location)?;
        let scale = b.value(cute::MEMREF_ALLOCA, &[], scale, &[])?;
        let body = op.body().expected(b, "a region")?;
        if of.is_empty() {
            let value = b.clone_body(body, &[], &mut Mapping::new())?;
            let value = *value.first().expected(b, "a scale")?;
            b.op(cute::FILL, &[scale, value], &[], &[])?;
        } else {
            let arguments: Vec<_> = arguments_of(body)
                .into_iter()
                .map(|value| (value.r#type(), location_of(value)))
                .collect();
            let (region, inner) = Detached::with_block(&arguments);
            of.push(scale);
            b.with_regions(cute::TRANSFORM, &of, &[], &[], vec![region])?;
            let l = Builder::at_end(b.context, inner, b.location);
            let yielded = l.clone_body(body, &arguments_of(inner), &mut Mapping::new())?;
            l.op(cute::YIELD, &yielded, &[], &[])?;
        }

        let scale = spread(b, scale, shape, &varying)?;
        let all = [(element, b.location); 3];
        let (region, inner) = Detached::with_block(&all);
        b.with_regions(
            cute::TRANSFORM,
            &[group, scale, sums, sums],
            &[],
            &[],
            vec![region],
        )?;
        let l = Builder::at_end(b.context, inner, b.location);
        let sum = l.value(math::FMA, &arguments_of(inner), element, &[])?;
        l.op(cute::YIELD, &[sum], &[], &[])?;
        Ok(())
    }
}

/// Loads what there is of a thread's part of a tensor, each element once, and gives it the shape of the part.
pub(super) fn load_once<'c>(
    b: Builder<'c>,
    source: Val<'c>,
    within: Option<(Val<'c>, Val<'c>)>,
) -> Result<Val<'c>, Failure> {
    let once = allocate(b, source, within.map(|(coords, _)| coords))?;
    load(b, source, &once, within)?;
    spread(b, once.registers, &once.shape, &once.varying)
}

/// Registers for each element of a thread's part of a tensor, once; for all of them where the part has not the shape of their coordinates, as of groups of rows that
/// tiles consist of.
fn allocate<'c>(
    b: Builder<'c>,
    source: Val<'c>,
    coords: Option<Val<'c>>,
) -> Result<Once<'c>, Failure> {
    let memref = memref_of(source).expected(b, "a tensor")?;
    let shape = memref.layout.shape();
    let is_alike = match coords {
        Some(coords) => layout_of(b, coords)?.shape() == shape,
        None => true,
    };
    let varying = match is_alike {
        true => transform::varying(&memref.layout),
        false => vec![true; shape.leaves().len()],
    };
    let once = part_at(b, source, &varying)?;
    let layout = layout_of(b, once)?;
    let layout = Layout::col_major(layout.shape()).map_err(wrong(b))?;
    let registers = tensor::registers(types::register_type(memref.element), layout);
    let registers = registers.to_type(b.location)?;
    let registers = b.value(cute::MEMREF_ALLOCA, &[], registers, &[])?;
    Ok(Once {
        registers,
        shape: shape.clone(),
        varying,
    })
}

/// The layout of a tensor, or of coordinates.
fn layout_of<'c>(b: Builder<'c>, tensor: Val<'c>) -> Result<Layout, Failure> {
    match types::CuteType::get(tensor.r#type()) {
        Some(types::CuteType::MemRef(memref)) => Ok(memref.layout.clone()),
        Some(types::CuteType::CoordTensor { layout, .. }) => Ok(layout.clone()),
        _ => Err(b.error("expected a tensor")),
    }
}

/// Loads what there is of a thread's part of a tensor.
fn load<'c>(
    b: Builder<'c>,
    source: Val<'c>,
    once: &Once<'c>,
    within: Option<(Val<'c>, Val<'c>)>,
) -> Result<(), Failure> {
    let from = part_at(b, source, &once.varying)?;
    match within {
        Some((coords, end)) => {
            b.op(cute::CLEAR, &[once.registers], &[], &[])?;
            let coords = match layout_of(b, coords)?.shape() == &once.shape {
                true => part_at(b, coords, &once.varying)?,
                false => coords,
            };
            let there = is_there(b, coords, end)?;
            b.op(cute::COPY_IF, &[there, from, once.registers], &[], &[])?;
        }
        None => {
            b.op(cute::AUTOVEC_COPY, &[from, once.registers], &[], &[])?;
        }
    }
    Ok(())
}

/// The elements of a tensor along those leaves of its shape, at the first place of the others.
pub(crate) fn part_at<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    leaves: &[bool],
) -> Result<Val<'c>, Failure> {
    let layout = layout_of(b, tensor)?;
    if !leaves.contains(&true) {
        let one = Layout::leaf(1, 0).map_err(wrong(b))?;
        let one = b.static_value(types::layout_type(b.context, &one))?;
        return b.infer(cute::COMPOSITION, &[tensor, one], &[]);
    }
    let mut leaves = leaves.iter();
    let coord = each_leaf(layout.shape(), &mut |_| match leaves.next() {
        Some(true) => Ok(Leaf::Underscore),
        _ => Ok(Leaf::Static(0)),
    })
    .map_err(wrong(b))?;
    let coord = b.static_value(types::coord_type(b.context, &coord))?;
    b.infer(cute::SLICE, &[tensor, coord], &[])
}

/// Registers of the elements along some leaves of a shape, as a tensor of that shape.
fn spread<'c>(
    b: Builder<'c>,
    registers: Val<'c>,
    shape: &IntTuple,
    leaves: &[bool],
) -> Result<Val<'c>, Failure> {
    let layout = transform::held_along(shape, leaves).map_err(wrong(b))?;
    let start = b.infer(cute::GET_ITER, &[registers], &[])?;
    let value = b.static_value(types::layout_type(b.context, &layout))?;
    let memref = memref_of(registers).expected(b, "a tensor")?;
    let ty = MemRef { layout, ..memref }.to_type(b.location)?;
    b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
}
