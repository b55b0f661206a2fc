//! Values of a thread's vectors, and reductions over the threads of a row.

use super::{
    Held, Mapped, Values,
    memory::{as_held, as_number},
    wrong,
};
use crate::{arch::WARP, partition::reduction::Reduction};
use cute_arith::ReduceOp;
use cute_ir::ops::{arith, cute, gpu, vector};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    tensor,
    types::{self, MemRef, Space, memref_of},
};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::{ValueLike, operation::OperationLike};

impl<'c> Mapped<'c> {
    /// Registers with a value of the region for each element of the thread's vectors; with `else_` where a vector is not there.
    pub(super) fn compute(
        &self,
        b: Builder<'c>,
        value: Val<'c>,
        held: &Held<'c>,
        values: &Values<'c>,
        else_: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<Val<'c>, Failure> {
        if else_.is_none()
            && let Some(registers) = values.registers.get(&key(value))
        {
            return Ok(*registers);
        }
        let result = self.allocate(b, types::register_type(value.r#type()), held.values)?;
        let (ops, starts) = self.region.slice(value, values);
        let mut tensors = Vec::new();
        for start in &starts {
            let registers = values.registers.get(&key(*start)).copied();
            tensors.push(registers.expected(b, "a value in registers")?);
        }
        let number = values.numbers.get(&key(value)).copied();
        if tensors.is_empty() && else_.is_none() {
            let number = as_held(b, number.unwrap_or(value))?;
            b.op(cute::FILL, &[result, number], &[], &[])?;
            return Ok(result);
        }
        let mut arguments: Vec<_> = starts
            .iter()
            .map(|start| (types::register_type(start.r#type()), location_of(*start)))
            .collect();
        if let Some((there, _)) = else_ {
            tensors.push(repeated(b, there, held.values)?);
            arguments.push((types::int_type(b.context, 1), b.location));
        }
        tensors.push(result);
        let (region, block) = Detached::with_block(&arguments);
        b.with_regions(cute::TRANSFORM, &tensors, &[], &[], vec![region])?;
        let l = Builder::at_end(b.context, block, b.location);
        let mut mapping = values.numbers.clone();
        for (start, argument) in starts.iter().zip(arguments_of(block)) {
            let number = as_number(l, argument, start.r#type())?;
            mapping.insert(key(*start), number);
        }
        for op in ops {
            l.at_location(op.location()).clone_op(op, &mut mapping);
        }
        let mut computed = mapping.get(&key(value)).copied().unwrap_or(value);
        if let Some((_, else_)) = else_ {
            let there = arguments_of(block).pop().expected(l, "a predicate")?;
            computed = l.value(
                arith::SELECT,
                &[there, computed, else_],
                computed.r#type(),
                &[],
            )?;
        }
        let computed = as_held(l, computed)?;
        l.op(cute::YIELD, &[computed], &[], &[])?;
        Ok(result)
    }

    /// A reduction over a thread's vectors.
    pub(super) fn partial(
        &self,
        b: Builder<'c>,
        reduce: &cute::AllReduce<'c>,
        held: &Held<'c>,
        values: &Values<'c>,
    ) -> Result<Val<'c>, Failure> {
        let b = b.at_location(reduce.op().location());
        let else_ = match held.there {
            Some(there) => Some((there, self.reduction(b, reduce)?.neutral(b)?)),
            None => None,
        };
        let registers = self.compute(b, reduce.value(), held, values, else_)?;
        let all = b.infer(cute::MEMREF_LOAD_VEC, &[registers], &[])?;
        let ty = reduce.value().r#type();
        let kind = format!("#vector.kind<{}>", self.reduction(b, reduce)?.name());
        let kind = [("kind", b.attribute(&kind)?)];
        b.value(vector::REDUCTION, &[all], ty, &kind)
    }

    /// A reduction, by its kind and its type.
    pub(super) fn reduction(
        &self,
        b: Builder<'c>,
        reduce: &cute::AllReduce<'c>,
    ) -> Result<Reduction<'c>, Failure> {
        let (kind, ty) = (self.kind(b, reduce)?, reduce.value().r#type());
        Ok(Reduction { kind, ty })
    }

    /// Finishes a reduction over the threads of a row, of each thread's part; from here on it is a number.
    pub(super) fn finish(
        &self,
        b: Builder<'c>,
        reduce: &cute::AllReduce<'c>,
        part: Val<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let b = b.at_location(reduce.op().location());
        let [_, threads] = self.threads;
        let ty = part.r#type();
        let reduction = self.reduction(b, reduce)?;
        let mut number = if self.by_rows && threads > 1 {
            self.exchange(b, reduction, part)?
        } else if threads <= WARP {
            reduction.of_lanes(b, part, [threads, 1])?
        } else {
            let regions = vec![Detached::empty()];
            let kind = [("op", reduction.of_threads(b)?)];
            let op = b.with_regions(gpu::ALL_REDUCE, &[part], &[ty], &kind, regions)?;
            result_of(op, 0)
        };
        if reduction.kind == ReduceOp::Mean {
            let columns = b.value(arith::SITOFP, &[self.extents[1]], ty, &[])?;
            number = b.value(arith::DIVF, &[number, columns], ty, &[])?;
        }
        values.numbers.insert(key(reduce.result()), number);
        Ok(())
    }

    /// A reduction over the threads of a row that are in several warps, each of which has neighbouring rows: through shared memory.
    fn exchange(
        &self,
        b: Builder<'c>,
        reduction: Reduction<'c>,
        part: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let [rows, threads] = self.threads;
        let ty = part.r#type();
        let shape = tuple([rows, threads].map(int));
        let layout = Layout::col_major(&shape).map_err(wrong(b))?;
        let shared = MemRef {
            space: Space::Smem,
            ..tensor::registers(ty, layout)
        };
        let shared = shared.to_type(b.location)?;
        let shared = b.value(cute::MEMREF_ALLOCA, &[], shared, &[])?;
        let dynamic = IntTuple::dynamic;
        let at = b.coord(&tuple([dynamic(), dynamic()]), &[self.own_row, self.lane])?;
        b.op(cute::MEMREF_STORE, &[shared, at, part], &[], &[])?;
        b.op(gpu::BARRIER, &[], &[], &[])?;
        let part = |other: i64| {
            let at = b.coord(&tuple([dynamic(), int(other)]), &[self.own_row])?;
            b.value(cute::MEMREF_LOAD, &[shared, at], ty, &[])
        };
        reduction.folded(b, (0..threads).map(part))
    }
}

/// The predicate of each vector as one of each element, of so many elements and vectors.
fn repeated<'c>(b: Builder<'c>, there: Val<'c>, values: [i64; 2]) -> Result<Val<'c>, Failure> {
    let memref = memref_of(there).expected(b, "a predicate")?;
    let layout = Layout::new(tuple(values.map(int)), tuple([int(0), int(1)])).map_err(wrong(b))?;
    let start = b.infer(cute::GET_ITER, &[there], &[])?;
    let value = b.static_value(types::layout_type(b.context, &layout))?;
    let ty = MemRef { layout, ..memref }.to_type(b.location)?;
    b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
}
