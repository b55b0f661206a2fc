//! Sums and differences of arithmetic tuples.

use crate::error::{LayoutError, Result};
use crate::leaf::Leaf;
use crate::tuple::IntTuple;

type OnLeaves = fn(&Leaf, &Leaf) -> Result<Leaf>;

fn mismatch(op: &'static str, a: &IntTuple, b: &IntTuple) -> LayoutError {
    LayoutError::Rank {
        op,
        expected: "tuples of one nesting, where only a known 0 may stand for a tuple".to_string(),
        found: format!("{a} and {b}"),
    }
}

fn leafwise(op: &'static str, a: &IntTuple, b: &IntTuple, f: OnLeaves) -> Result<IntTuple> {
    let zero = |t: &IntTuple| t.as_static() == Some(0);
    match (a, b) {
        (IntTuple::Tuple(t), x) if t.is_empty() => Ok(x.clone()),
        (x, IntTuple::Tuple(t)) if t.is_empty() => Ok(x.clone()),
        (IntTuple::Leaf(_), IntTuple::Leaf(Leaf::Static(0))) => Ok(a.clone()),
        (IntTuple::Leaf(a), IntTuple::Leaf(b)) => Ok(IntTuple::Leaf(f(a, b)?)),
        (IntTuple::Tuple(_), IntTuple::Leaf(_)) if zero(b) => Ok(a.clone()),
        (IntTuple::Leaf(_), IntTuple::Tuple(_)) if zero(a) => Ok(b.clone()),
        (IntTuple::Tuple(x), IntTuple::Tuple(y)) => {
            let modes = (0..x.len().max(y.len())).map(|i| match (x.get(i), y.get(i)) {
                (Some(x), Some(y)) => leafwise(op, x, y, f),
                (Some(only), None) | (None, Some(only)) => Ok(only.clone()),
                (None, None) => Err(mismatch(op, a, b)),
            });
            Ok(IntTuple::Tuple(modes.collect::<Result<_>>()?))
        }
        _ => Err(mismatch(op, a, b)),
    }
}

impl IntTuple {
    /// The sum of arithmetic tuples: leaf by leaf, the longer one's other modes as they are; a known 0 and `()` change
    /// nothing.
    ///
    /// Errors: a leaf other than a known 0 beside a tuple; basis elements and `_`; overflow.
    pub fn add(&self, other: &IntTuple) -> Result<IntTuple> {
        leafwise("tuple_add", self, other, |a, b| match (a, b) {
            (Leaf::Static(0), Leaf::Dynamic(_)) => Ok(b.clone()),
            _ => a.add(b),
        })
    }

    /// The difference, leaf by leaf, where both have a mode; modes that only one has are taken as they are.
    ///
    /// So `(10,8) - (3,2,5)` is `(7,6,5)`, as CuTe IR's `tuple_sub` has it: for a difference of arithmetic tuples, whose
    /// missing modes are zeros, `self` must have every mode of `other`. Errors as [`IntTuple::add`], and a known 0 less a
    /// tuple.
    pub fn sub(&self, other: &IntTuple) -> Result<IntTuple> {
        fn check(a: &IntTuple, b: &IntTuple) -> bool {
            match (a, b) {
                (IntTuple::Leaf(_), IntTuple::Tuple(t)) => t.is_empty(),
                (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                    a.iter().zip(b).all(|(a, b)| check(a, b))
                }
                _ => true,
            }
        }
        if !check(self, other) {
            return Err(mismatch("tuple_sub", self, other));
        }
        leafwise("tuple_sub", self, other, Leaf::sub)
    }
}
