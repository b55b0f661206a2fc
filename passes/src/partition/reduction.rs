//! Reductions of numbers of one type: their operations and the numbers that they start from.

use crate::{algorithms::operation, arch::WARP};
use cute_arith::ReduceOp;
use cute_ir::ops::{arith, gpu};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{self, is_float},
};
use melior::ir::{Attribute, Type};

/// A reduction of numbers of a type.
#[derive(Clone, Copy)]
pub(super) struct Reduction<'c> {
    pub(super) kind: ReduceOp,
    pub(super) ty: Type<'c>,
}

impl<'c> Reduction<'c> {
    /// Its name among MLIR's kinds.
    pub(super) fn name(self) -> &'static str {
        let float = is_float(self.ty);
        match self.kind {
            ReduceOp::Add | ReduceOp::Mean => "add",
            ReduceOp::Maximum if float => "maximumf",
            ReduceOp::Maximum => "maxsi",
            ReduceOp::Minimum if float => "minimumf",
            ReduceOp::Minimum => "minsi",
        }
    }

    /// Its kind among those of MLIR's reductions over threads.
    pub(super) fn of_threads(self, b: Builder<'c>) -> Result<Attribute<'c>, Failure> {
        b.attribute(&format!("#gpu<all_reduce_op {}>", self.name()))
    }

    /// Two parts as one.
    pub(super) fn combined(
        self,
        b: Builder<'c>,
        one: Val<'c>,
        other: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let name = operation(self.name(), self.ty).expected(b, "a known reduction")?;
        b.value(name, &[one, other], self.ty, &[])
    }

    /// Several parts as one, from the first to the last, each of which is made when it is taken.
    pub(super) fn folded(
        self,
        b: Builder<'c>,
        parts: impl IntoIterator<Item = Result<Val<'c>, Failure>>,
    ) -> Result<Val<'c>, Failure> {
        let mut parts = parts.into_iter();
        let first = parts.next().expected(b, "a part")??;
        parts.try_fold(first, |all, part| self.combined(b, all, part?))
    }

    /// The parts of so many threads of a warp, each so far behind the other, as one that all of them have.
    pub(super) fn of_lanes(
        self,
        b: Builder<'c>,
        part: Val<'c>,
        [count, apart]: [i64; 2],
    ) -> Result<Val<'c>, Failure> {
        if count == 1 {
            return Ok(part);
        }
        let mut attributes = vec![("op", self.of_threads(b)?)];
        if count < WARP {
            attributes.push(("cluster_size", b.integer(b.i32_type(), count)));
        }
        if apart > 1 {
            attributes.push(("cluster_stride", b.integer(b.i32_type(), apart)));
        }
        b.value(gpu::SUBGROUP_REDUCE, &[part], self.ty, &attributes)
    }

    /// The number that changes no result.
    pub(super) fn neutral(self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let ty = self.ty;
        let value = if is_float(ty) {
            float_of(b, ty, self.kind)?
        } else {
            let bits = types::element_bits(ty)
                .expected(b, "an integer")?
                .clamp(1, 63);
            let least = -(1i64 << (bits - 1));
            b.integer(
                ty,
                match self.kind {
                    ReduceOp::Add | ReduceOp::Mean => 0,
                    ReduceOp::Maximum => least,
                    ReduceOp::Minimum => -1 - least,
                },
            )
        };
        b.value(arith::CONSTANT, &[], ty, &[("value", value)])
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
