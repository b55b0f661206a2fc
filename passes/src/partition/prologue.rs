//! `cute.block.transform` of A and B: what is multiplied, computed on the way to shared memory.
//!
//! A thread computes what it would copy there, vector by vector: it loads what is stored and what is read beside it from global
//! memory, and stores the vectors from registers. The region is computed on whole vectors, so that instructions of several elements
//! are used where there are some.

use super::{
    Partition,
    indexed::{Located, load_vectors},
    transform, wrong,
};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute, vector},
    tensor,
    types::{self, MemRef, Space, memref_of},
};
use cute_layout::{IntTuple, Layout, Operand, atoms::Completion, int, tuple};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use transform::Guard;

/// The movement of A and B into shared memory, among those of the plan.
const IN: usize = 0;

impl<'c> Partition<'c> {
    /// Tells whether registers of the block are made where they are filled: by a copy, of what a prologue or scales are computed of, or by an epilogue.
    pub(super) fn is_held(&self, registers: Val<'c>) -> bool {
        let mut users = users_of(registers).into_iter();
        users.any(|user| {
            cute::BlockCopy::of(user).is_some_and(|copy| copy.destination() == registers)
                || cute::BlockTransform::of(user)
                    .is_some_and(|epilogue| epilogue.outputs().contains(&registers))
        })
    }

    /// Loads a tile of a tensor that a prologue reads, to be held by the threads that compute with it.
    pub(super) fn hold(
        &mut self,
        b: Builder<'c>,
        operand: Operand,
        copy: cute::BlockCopy<'c>,
    ) -> Result<(), Failure> {
        let within = copy.coords().zip(copy.end());
        if self.plan.computes_fragments(operand).map_err(wrong(b))? {
            if within.is_some() {
                return Err(b.error(
                    "expected a whole tile beside what is computed in registers, found one that may reach over the end of a matrix",
                ));
            }
            let held = self.load_fragment(b, operand, copy.source())?;
            self.fragments.insert(key(copy.destination()), held);
            return Ok(());
        }
        let tiled = self.tiled_copy(b, operand, IN)?;
        let guard = self.guard(b, operand, tiled, within)?;
        let held = match within.filter(|_| Located::of_copy(copy).is_whole(0)) {
            Some((coords, _)) => {
                let places = (copy.source(), self.part(b, tiled, coords)?);
                self.load_elements(b, places, (operand, IN), guard.as_ref())?
            }
            None => {
                let source = self.part(b, tiled, copy.source())?;
                transform::load(b, source, guard.as_ref())?
            }
        };
        self.fragments.insert(key(copy.destination()), held);
        Ok(())
    }

    /// A thread's part of a tile that it reads.
    fn part(&self, b: Builder<'c>, tiled: Val<'c>, tile: Val<'c>) -> Result<Val<'c>, Failure> {
        b.infer(
            cute::TILED_COPY_PARTITION_S,
            &[tiled, tile, self.thread],
            &[],
        )
    }

    /// The predicate of each vector of a thread: it is there, where a tile may reach over the end.
    fn guard(
        &self,
        b: Builder<'c>,
        operand: Operand,
        tiled: Val<'c>,
        within: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<Option<Guard<'c>>, Failure> {
        let Some((coords, end)) = within else {
            return Ok(None);
        };
        let coords = self.part(b, tiled, coords)?;
        self.guard_of(b, (operand, IN), coords, end)
    }

    /// Computes the tile of A or B in shared memory from tiles in global memory, and from what is held.
    pub(super) fn feed(
        &self,
        b: Builder<'c>,
        operand: Operand,
        op: cute::BlockTransform<'c>,
    ) -> Result<(), Failure> {
        let (inputs, outputs) = (op.inputs(), op.outputs());
        let [shared] = outputs[..] else {
            return Err(b.error("expected a tile in shared memory"));
        };
        let to = memref_of(shared).expected(b, "a tensor")?;
        let stored = inputs.first().and_then(|tile| memref_of(*tile));
        let global = MemRef {
            element: to.element,
            ..stored.expected(b, "a tile in global memory")?
        };
        let place = self.movement(operand, &global, &to).map_err(wrong(b))?;
        let row = self.plan.path(operand).get(place);
        let row = row.expected(b, "a movement of the plan")?.row();
        let row = row.map_err(wrong(b))?;
        if row.completion != Completion::Immediate {
            return Err(b.error(format!(
                "expected a plan that stores what is computed into shared memory by !cute_nvgpu.atom.universal_copy, found {}",
                row.name
            )));
        }
        let tiled = self.tiled_copy(b, operand, place)?;
        let located = Located::of_transform(op);
        let within = op.coords().zip(op.end());
        let first = match located.is_whole(0) {
            true => Some(self.factor(b, (operand, place), inputs[0], &located)?),
            false => None,
        };
        let (of_first, guard) = match first {
            Some(first) => (Some(first.vectors), first.guard),
            None => (None, self.guard(b, operand, tiled, within)?),
        };
        // What is read beside the factor is there within the ends of the matrix, wherever the factor is in its tensor.
        let beside = match of_first.is_some() && inputs.len() > 1 {
            true => self.guard(b, operand, tiled, within)?,
            false => guard.clone(),
        };
        let mut loaded = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            let held = memref_of(*input).is_some_and(|input| input.space == Space::Rmem);
            loaded.push(match (at, &of_first) {
                (0, Some(vectors)) => {
                    let like = self.part(b, tiled, shared)?;
                    load_vectors(b, vectors, like, guard.as_ref())?
                }
                _ if held => self.fragment(b, *input)?,
                _ if located.is_whole(at) => {
                    let (coords, _) = within.expected(b, "coordinates of a tile")?;
                    let places = (*input, self.part(b, tiled, coords)?);
                    self.load_elements(b, places, (operand, place), beside.as_ref())?
                }
                _ => transform::load(b, self.part(b, tiled, *input)?, beside.as_ref())?,
            });
        }
        let destination = b.infer(
            cute::TILED_COPY_PARTITION_D,
            &[tiled, shared, self.thread],
            &[],
        )?;
        let part = memref_of(destination).expected(b, "a tensor")?;
        let layout = Layout::col_major(part.layout.shape()).map_err(wrong(b))?;
        let whole = layout.clone();
        let ty = tensor::registers(types::register_type(part.element), layout);
        let computed = b.value(cute::MEMREF_ALLOCA, &[], ty.to_type(b.location)?, &[])?;
        let body = op.body().expected(b, "a region")?;
        let c = b.step("compute");
        for at in vectors(&whole).map_err(|e| b.error(e))? {
            let coord = tuple(
                std::iter::once(IntTuple::underscore())
                    .chain(at.iter().copied().map(int))
                    .collect::<Vec<_>>(),
            );
            let coord = c.static_value(types::coord_type(c.context, &coord))?;
            let slice = |tensor| c.infer(cute::SLICE, &[tensor, coord], &[]);
            let mut elements = Vec::new();
            for tensor in &loaded {
                let slice = slice(*tensor)?;
                elements.push(c.infer(cute::MEMREF_LOAD_VEC, &[slice], &[])?);
            }
            let mut value = vectorized(c, body, &elements)?;
            if let Some(guard) = &guard {
                let there = at.iter().copied().map(int).collect::<Vec<_>>();
                let there = c.coord(&tuple(there), &[])?;
                let truth = types::int_type(c.context, 1);
                let there = c.value(cute::MEMREF_LOAD, &[guard.there, there], truth, &[])?;
                value = or_zero(c, there, value)?;
            }
            let slice = slice(computed)?;
            c.op(cute::MEMREF_STORE_VEC, &[value, slice], &[], &[])?;
        }
        b.step("store").copy(&[tiled, computed, destination])?;
        Ok(())
    }
}

/// The operand that a copy or a computation of a tile is of.
pub(super) fn operand_of(op: Op<'_>) -> Option<Operand> {
    let id = integer_of(op, "operand_id").and_then(|id| usize::try_from(id).ok());
    id.and_then(|id| cute_ir::plan::OPERANDS.get(id)).copied()
}

/// The indices, behind the first mode, of all vectors of a thread.
fn vectors(layout: &Layout) -> Result<Vec<Vec<i64>>, String> {
    let modes = layout.modes();
    let extents = modes.iter().skip(1).map(|mode| mode.size());
    let extents: cute_layout::Result<Vec<i64>> = extents.collect();
    let extents = extents.map_err(|e| e.to_string())?;
    Ok(crate::values::positions(&extents))
}

/// A vector where a predicate holds, and zeros elsewhere.
fn or_zero<'c>(b: Builder<'c>, holds: Val<'c>, value: Val<'c>) -> Result<Val<'c>, Failure> {
    let ty = value.r#type();
    let (_, element) = vector_of(ty).expected(b, "a vector")?;
    let zero = if types::is_float(element) { "0.0" } else { "0" };
    let zero = b.attribute(&format!("dense<{zero}> : {ty}"))?;
    let zero = b.value(arith::CONSTANT, &[], ty, &[("value", zero)])?;
    b.value(arith::SELECT, &[holds, value, zero], ty, &[])
}

/// A vector of one number.
fn splat<'c>(b: Builder<'c>, value: Val<'c>, length: i64) -> Result<Val<'c>, Failure> {
    let all = vec![value; usize::try_from(length).unwrap_or(0)];
    let ty = b.vector(length, value.r#type());
    b.value(vector::FROM_ELEMENTS, &all, ty, &[])
}

/// The value that a region of operations on numbers yields for vectors of elements.
pub(super) fn vectorized<'c>(
    b: Builder<'c>,
    body: Blk<'c>,
    elements: &[Val<'c>],
) -> Result<Val<'c>, Failure> {
    let length = elements.first().and_then(|first| vector_of(first.r#type()));
    let (length, _) = length.expected(b, "a vector")?;
    let mut known: Mapping<'c> = Mapping::new();
    for (argument, value) in arguments_of(body).into_iter().zip(elements) {
        // Registers hold the bits of what they have no type for.
        let ty: Type = b.vector(length, argument.r#type());
        let value = match value.r#type() == ty {
            true => *value,
            false => b.value(arith::BITCAST, &[*value], ty, &[])?,
        };
        known.insert(key(argument), value);
    }
    let spread =
        |b: Builder<'c>, known: &mut Mapping<'c>, value: Val<'c>| match known.get(&key(value)) {
            Some(value) => Ok(*value),
            None => {
                let all = splat(b, value, length)?;
                known.insert(key(value), all);
                Ok(all)
            }
        };
    let mut ops = ops_of(body);
    let end = ops.pop().expected(b, "an op that ends the region")?;
    for op in ops {
        let b = b.at_location(op.location());
        if name_of(op) == arith::CONSTANT {
            let mut mapping = Mapping::new();
            let constant = result_of(b.clone_op(op, &mut mapping), 0);
            let all = splat(b, constant, length)?;
            known.insert(key(result_of(op, 0)), all);
            continue;
        }
        let mut operands = Vec::new();
        for operand in operands_of(op) {
            operands.push(spread(b, &mut known, operand)?);
        }
        let results = results_of(op);
        let types: Vec<_> = results
            .iter()
            .map(|v| b.vector(length, v.r#type()))
            .collect();
        let made = b.op(name_of(op), &operands, &types, &attributes_of(op))?;
        for (old, new) in results.into_iter().zip(results_of(made)) {
            known.insert(key(old), new);
        }
    }
    let yielded = *operands_of(end).first().expected(b, "a yielded value")?;
    spread(b, &mut known, yielded)
}
