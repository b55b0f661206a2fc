//! Extents and strides that a host function computes, and tensors of them.

use super::leaves::view_at;
use cute_ir::ops::arith;
use cute_ir::{Expected, Failure, mlir::*, types::MemRef};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, tuple};

/// An extent or a stride on the host: a number, or a value of type `index`.
#[derive(Clone, Copy)]
pub(super) enum Number<'c> {
    /// A number that is known.
    Known(i64),
    /// One that only a launch knows.
    Value(Val<'c>),
}

impl<'c> Number<'c> {
    /// A value of type `index`.
    pub(super) fn value(self, host: Builder<'c>) -> Result<Val<'c>, Failure> {
        match self {
            Number::Known(known) => host.constant(host.index_type(), known),
            Number::Value(value) => Ok(value),
        }
    }

    /// The product of two.
    pub(super) fn times(self, host: Builder<'c>, other: Self) -> Result<Self, Failure> {
        match (self, other) {
            (Number::Known(1), other) => Ok(other),
            (one, Number::Known(1)) => Ok(one),
            (Number::Known(one), Number::Known(other)) => one
                .checked_mul(other)
                .map(Number::Known)
                .expected(host, "a number of 64 bits"),
            (one, other) => {
                let operands = [one.value(host)?, other.value(host)?];
                let index = host.index_type();
                Ok(Number::Value(host.value(
                    arith::MULI,
                    &operands,
                    index,
                    &[],
                )?))
            }
        }
    }

    /// The leaf of a layout that it is; the value of one that is not known is added to `values`.
    pub(super) fn leaf(
        self,
        host: Builder<'c>,
        bits: u32,
        values: &mut Vec<Val<'c>>,
    ) -> Result<IntTuple, Failure> {
        match self {
            Number::Known(known) => Ok(int(known)),
            Number::Value(value) => {
                let (ty, leaf) = match bits {
                    64 => (host.i64_type(), Dyn::I64),
                    _ => (host.i32_type(), Dyn::I32),
                };
                values.push(host.value(arith::INDEX_CAST, &[value], ty, &[])?);
                Ok(IntTuple::Leaf(Leaf::Dynamic(leaf)))
            }
        }
    }
}

/// Modes of a tensor on the host, each of one leaf or several: extents and strides.
pub(super) type Modes<'c> = Vec<Vec<[Number<'c>; 2]>>;

/// A tensor of these modes that starts at a pointer.
pub(super) fn tensor_at<'c>(
    host: Builder<'c>,
    start: Val<'c>,
    like: &MemRef<'c>,
    modes: &Modes<'c>,
) -> Result<Val<'c>, Failure> {
    let mut all = [Vec::new(), Vec::new()];
    let mut values = [Vec::new(), Vec::new()];
    for (part, bits) in [(0, 32), (1, 64)] {
        for mode in modes {
            let mut leaves = Vec::new();
            for leaf in mode {
                leaves.push(leaf[part].leaf(host, bits, &mut values[part])?);
            }
            all[part].push(match &leaves[..] {
                [one] => one.clone(),
                _ => tuple(leaves),
            });
        }
    }
    let [shape, stride] = all.map(tuple);
    let layout = Layout::new(shape, stride).map_err(|e| host.error(e.to_string()))?;
    let memref = MemRef {
        layout,
        ..like.clone()
    };
    let [of_shape, of_stride] = &values;
    view_at(host, start, &memref, [of_shape, of_stride])
}
