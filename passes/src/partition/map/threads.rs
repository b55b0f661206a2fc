//! Values of a thread's vectors, and reductions over the threads of a row.

use super::{Held, Mapped, Values, wrong};
use crate::{algorithms::operation, arch::WARP};
use cute_arith::ReduceOp;
use cute_ir::ops::{arith, cute, gpu, vector};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    tensor,
    types::{self, MemRef, Space, is_float, memref_of},
};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};

impl<'c> Mapped<'c> {
    /// Registers with a value of the region for each element of the thread's vectors; with `else_` where a vector is not there.
    pub(super) fn compute(
        &self,
        b: Builder<'c>,
        value: Val<'c>,
        values: &Values<'c>,
        else_: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<Val<'c>, Failure> {
        if else_.is_none()
            && let Some(registers) = values.registers.get(&key(value))
        {
            return Ok(*registers);
        }
        let result = self.allocate(b, value.r#type())?;
        let (ops, starts) = self.region.slice(value, values);
        let mut tensors = Vec::new();
        for start in &starts {
            let registers = values.registers.get(&key(*start)).copied();
            tensors.push(registers.expected(b, "a value in registers")?);
        }
        let number = values.numbers.get(&key(value)).copied();
        if tensors.is_empty() && else_.is_none() {
            let number = number.unwrap_or(value);
            b.op(cute::FILL, &[result, number], &[], &[])?;
            return Ok(result);
        }
        let mut arguments: Vec<_> = starts
            .iter()
            .map(|start| (start.r#type(), location_of(*start)))
            .collect();
        if let Some((there, _)) = else_ {
            tensors.push(self.repeated(b, there)?);
            arguments.push((types::int_type(b.context, 1), b.location));
        }
        tensors.push(result);
        let (region, block) = Detached::with_block(&arguments);
        b.with_regions(cute::TRANSFORM, &tensors, &[], &[], vec![region])?;
        let l = Builder::at_end(b.context, block, b.location);
        let mut mapping = values.numbers.clone();
        for (start, argument) in starts.iter().zip(arguments_of(block)) {
            mapping.insert(key(*start), argument);
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
        l.op(cute::YIELD, &[computed], &[], &[])?;
        Ok(result)
    }

    /// The predicate of each vector as one of each element.
    fn repeated(&self, b: Builder<'c>, there: Val<'c>) -> Result<Val<'c>, Failure> {
        let memref = memref_of(there).expected(b, "a predicate")?;
        let shape = tuple([self.vector, self.vectors].map(int));
        let layout = Layout::new(shape, tuple([int(0), int(1)])).map_err(wrong(b))?;
        let start = b.infer(cute::GET_ITER, &[there], &[])?;
        let value = b.static_value(types::layout_type(b.context, &layout))?;
        let ty = MemRef { layout, ..memref }.to_type(b.location)?;
        b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
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
            Some(there) => Some((there, self.neutral(b, reduce)?)),
            None => None,
        };
        let registers = self.compute(b, reduce.value(), values, else_)?;
        let all = b.infer(cute::MEMREF_LOAD_VEC, &[registers], &[])?;
        let ty = reduce.value().r#type();
        let kind = format!("#vector.kind<{}>", self.name(b, reduce)?);
        let kind = [("kind", b.attribute(&kind)?)];
        b.value(vector::REDUCTION, &[all], ty, &kind)
    }

    /// Two parts of a reduction as one.
    pub(super) fn combined(
        &self,
        b: Builder<'c>,
        reduce: &cute::AllReduce<'c>,
        one: Val<'c>,
        other: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let ty = one.r#type();
        let name = operation(self.name(b, reduce)?, ty).expected(b, "a known reduction")?;
        b.value(name, &[one, other], ty, &[])
    }

    /// The name of a reduction among MLIR's kinds.
    fn name(&self, b: Builder<'c>, reduce: &cute::AllReduce<'c>) -> Result<&'static str, Failure> {
        let float = is_float(reduce.value().r#type());
        Ok(match self.kind(b, reduce)? {
            ReduceOp::Add | ReduceOp::Mean => "add",
            ReduceOp::Maximum if float => "maximumf",
            ReduceOp::Maximum => "maxsi",
            ReduceOp::Minimum if float => "minimumf",
            ReduceOp::Minimum => "minsi",
        })
    }

    /// The number that changes no result of a reduction.
    pub(super) fn neutral(
        &self,
        b: Builder<'c>,
        reduce: &cute::AllReduce<'c>,
    ) -> Result<Val<'c>, Failure> {
        let ty = reduce.value().r#type();
        let kind = self.kind(b, reduce)?;
        let value = if is_float(ty) {
            float_of(b, ty, kind)?
        } else {
            let bits = types::element_bits(ty)
                .expected(b, "an integer")?
                .clamp(1, 63);
            let least = -(1i64 << (bits - 1));
            b.integer(
                ty,
                match kind {
                    ReduceOp::Add | ReduceOp::Mean => 0,
                    ReduceOp::Maximum => least,
                    ReduceOp::Minimum => -1 - least,
                },
            )
        };
        b.value(arith::CONSTANT, &[], ty, &[("value", value)])
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
        let kind = b.attribute(&format!("#gpu<all_reduce_op {}>", self.name(b, reduce)?))?;
        let mut number = if threads == 1 {
            part
        } else if self.by_rows {
            self.exchange(b, reduce, part)?
        } else if threads <= WARP {
            let mut attributes = vec![("op", kind)];
            if threads < WARP {
                attributes.push(("cluster_size", b.integer(b.i32_type(), threads)));
            }
            b.value(gpu::SUBGROUP_REDUCE, &[part], ty, &attributes)?
        } else {
            let regions = vec![Detached::empty()];
            let op = b.with_regions(gpu::ALL_REDUCE, &[part], &[ty], &[("op", kind)], regions)?;
            result_of(op, 0)
        };
        if self.kind(b, reduce)? == ReduceOp::Mean {
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
        reduce: &cute::AllReduce<'c>,
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
        let mut all = None;
        for other in 0..threads {
            let at = b.coord(&tuple([dynamic(), int(other)]), &[self.own_row])?;
            let value = b.value(cute::MEMREF_LOAD, &[shared, at], ty, &[])?;
            all = Some(match all {
                Some(before) => self.combined(b, reduce, before, value)?,
                None => value,
            });
        }
        all.expected(b, "a thread")
    }
}

/// The floating-point number that changes no result of a reduction.
fn float_of<'c>(b: Builder<'c>, ty: Type<'c>, kind: ReduceOp) -> Result<Attribute<'c>, Failure> {
    let infinity = |sign: &str| -> Option<String> {
        let text = ty.to_string();
        let digits = match text.as_str() {
            "f16" => "C00",
            "bf16" => "F80",
            "f32" => "F800000",
            "f64" => "FF0000000000000",
            _ => return None,
        };
        Some(format!("0x{sign}{digits} : {ty}"))
    };
    let text = match kind {
        ReduceOp::Add | ReduceOp::Mean => Some(format!("0.0 : {ty}")),
        ReduceOp::Maximum => infinity("F"),
        ReduceOp::Minimum => infinity("7"),
    };
    b.attribute(&text.expected(b, "a number that can be reduced")?)
}
