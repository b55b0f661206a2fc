//! Fragments of A and B that threads load by vectors, and what a prologue computes of them in registers.
//!
//! Where the tiled MMA permutes K, a thread multiplies neighbours: its part of a tile is as many vectors as it has lines and steps of the permutation, and which registers
//! go into which product follows from the layouts of both. Elements that lie in shared memory as they are stored are loaded so, and become
//! what is multiplied in the registers of the thread that multiplies them.

use super::{Partition, prologue::vectorized, varying};
use crate::memory::root_of;
use cute_ir::{
    Expected, Failure,
    contract::each_leaf,
    mlir::*,
    ops::cute,
    plan::name_of_operand,
    tensor,
    types::{self, Space, memref_of},
};
use cute_layout::{IntTuple, Layout, Leaf, Operand, int, tuple};
use melior::ir::Type;

/// The mode of a thread's part of a factor along which it has lines: (values, lines, steps of K).
const LINES: usize = 1;

impl<'c> Partition<'c> {
    /// Loads a thread's part of a tile of A or B, as the tiled MMA deals it out, in the order in which it lies there; what is the same along a mode is held once.
    pub(super) fn load_fragment(
        &self,
        b: Builder<'c>,
        operand: Operand,
        tile: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let part = self.part_of(b, operand, self.mma, tile)?;
        let element = memref_of(tile).expected(b, "a tensor")?.element;
        let element = types::register_type(element);
        let fragment = match self.plan.has_roles() {
            true => in_words(b, part, element)?,
            false => like(b, part, element)?,
        };
        b.op(cute::AUTOVEC_COPY, &[part, fragment], &[], &[])?;
        Ok(fragment)
    }

    /// Computes a thread's part of A or B in registers from its part of a tile in shared memory, and from what is read beside it.
    pub(super) fn compute_fragment(
        &mut self,
        b: Builder<'c>,
        operand: Operand,
        op: cute::BlockTransform<'c>,
    ) -> Result<(), Failure> {
        let (inputs, outputs) = (op.inputs(), op.outputs());
        let ([stored, ..], [made]) = (&inputs[..], &outputs[..]) else {
            return Err(b.error("expected tiles that are read, and one in registers"));
        };
        let (Some(from), Some(to)) = (memref_of(*stored), memref_of(*made)) else {
            return Err(b.error("expected tensors"));
        };
        let wrong = |e: String| b.error(e);
        let multiplied = self.plan.multiplied().map_err(wrong)?[operand as usize];
        if !self.plan.computes_fragments(operand).map_err(wrong)? || to.element != multiplied {
            return Err(b.error(format!(
                "expected a cute.plan that copies {name} as {}, and multiplies {}, found one of {name} of {} and {multiplied}; what is multiplied is computed in registers of \
                 narrower elements in shared memory",
                from.element,
                to.element,
                self.plan.element(operand).map_err(wrong)?,
                name = name_of_operand(operand),
            )));
        }
        let registers = types::MemRef {
            space: Space::Rmem,
            ..from.clone()
        };
        // Of a part of a tile the whole one is the plan's.
        let whole = memref_of(root_of(*stored)).expected(b, "a tensor")?;
        self.movement(operand, &whole, &registers).map_err(wrong)?;
        let mut loaded = Vec::new();
        for input in inputs {
            let is_held = memref_of(input).is_some_and(|input| input.space == Space::Rmem);
            loaded.push(match is_held {
                true => self.fragment(b, input)?,
                false => self.load_fragment(b, operand, input)?,
            });
        }
        let first = *loaded.first().expected(b, "a tile that is read")?;
        let body = op.body().expected(b, "a region")?;
        self.factors.insert(key(*made), operand);
        let computed = match (self.plan.has_roles(), defining_op(*made)) {
            // Where the tile is made, as a product may go on into the next turn of a loop.
            (true, Some(tile)) => in_words(Builder::before(tile), first, to.element)?,
            _ => like(b, first, to.element)?,
        };
        self.fragments.insert(key(*made), computed);
        let part = Computed {
            loaded,
            body,
            computed,
        };
        match self.plan.has_roles() {
            true => {
                self.computed.insert(key(*made), part);
                Ok(())
            }
            false => part.write(b),
        }
    }
}

/// A thread's part of A or B that it computes in registers.
pub(super) struct Computed<'c> {
    /// The values that it has loaded, or holds, in the order of the region's arguments.
    loaded: Vec<Val<'c>>,
    body: Blk<'c>,
    computed: Val<'c>,
}

impl<'c> Computed<'c> {
    /// Computes it, line by line.
    pub(super) fn write(&self, b: Builder<'c>) -> Result<(), Failure> {
        let c = b.step("compute");
        let layout = memref_of(self.computed).expected(b, "a tensor")?.layout;
        let lines = layout.mode(LINES).and_then(|mode| mode.size());
        for line in 0..lines.map_err(|e| b.error(e.to_string()))? {
            let keep = IntTuple::underscore;
            let coord = tuple([keep(), int(line), keep()]);
            let coord = c.static_value(types::coord_type(c.context, &coord))?;
            let slice = |tensor| c.infer(cute::SLICE, &[tensor, coord], &[]);
            let elements = self
                .loaded
                .iter()
                .map(|tensor| c.infer(cute::MEMREF_LOAD_VEC, &[slice(*tensor)?], &[]))
                .collect::<Result<Vec<_>, _>>()?;
            let value = vectorized(c, self.body, &elements)?;
            let to = slice(self.computed)?;
            c.op(cute::MEMREF_STORE_VEC, &[value, to], &[], &[])?;
        }
        Ok(())
    }
}

/// Registers for a thread's part of a tile, in the order in which a warpgroup multiplies it, which takes whole words of it.
fn in_words<'c>(b: Builder<'c>, part: Val<'c>, element: Type<'c>) -> Result<Val<'c>, Failure> {
    let part = memref_of(part).expected(b, "a tensor")?;
    let own = tensor::fragment_like(&part.layout, element).map_err(|e| b.error(e))?;
    b.value(cute::MEMREF_ALLOCA, &[], own.to_type(b.location)?, &[])
}

/// Registers for a thread's part of a tile, in the order of its strides, of elements of a type; what is the same along a mode is there once.
fn like<'c>(b: Builder<'c>, part: Val<'c>, element: Type<'c>) -> Result<Val<'c>, Failure> {
    let layout = memref_of(part).expected(b, "a tensor")?.layout;
    let layout = in_order(&layout).map_err(|e| b.error(e))?;
    let ty = tensor::registers(element, layout).to_type(b.location)?;
    b.value(cute::MEMREF_ALLOCA, &[], ty, &[])
}

/// The compact layout of the shape of another one, with leaves in the order of its strides, those that nobody knows behind the others; 0 along those whose elements are one.
fn in_order(like: &Layout) -> Result<Layout, String> {
    let strides = like.stride().leaves();
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|at| match strides[*at] {
        Leaf::Static(stride) => (false, stride.abs()),
        _ => (true, 0),
    });
    let varies = varying(like);
    let shape = like.shape().leaves();
    let (mut own, mut next) = (vec![0; strides.len()], 1);
    for at in order {
        if varies[at] {
            own[at] = next;
            next *= match shape[at] {
                Leaf::Static(extent) => *extent,
                _ => return Err(format!("expected a static shape, found {}", like.shape())),
            };
        }
    }
    let mut own = own.into_iter();
    let stride = each_leaf(like.shape(), &mut |_| {
        let stride = own.next().ok_or("expected as many strides as extents")?;
        Ok(Leaf::Static(stride))
    })?;
    Layout::new(like.shape().clone(), stride).map_err(|e| e.to_string())
}
