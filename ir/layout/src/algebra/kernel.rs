//! The offsets that two layouts share, the modes that a layout forgets, and shapes spread over others.

use super::coalesce::coalesce_leaves;
use super::{Leaves, from_leaves, leaves};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::IntTuple;
use cute_arith::gcd;

impl Layout {
    /// The layout `R` of the most elements that both hold at consecutive offsets from 0: `self(R(i)) == other(R(i)) == i`
    /// for all `i < size(R)`; `1:0` at least.
    ///
    /// Source: CuTe's `max_common_layout`. As there, dynamic modes are left out. Errors: those of
    /// [`Layout::right_inverse`].
    pub fn max_common_layout(&self, other: &Layout) -> Result<Layout> {
        let inverse = other.right_inverse()?;
        match self.common_run(&inverse) {
            Ok(Some(run)) => inverse.composition(&run),
            // Without a common layout only the first element is shared.
            Ok(None) | Err(LayoutError::Dynamic { .. }) => Layout::leaf(1, 0),
            Err(e) => Err(e),
        }
    }

    /// The known run of consecutive offsets, `n:1`, with which `self o inverse` begins, if it begins with one.
    pub(super) fn common_run(&self, inverse: &Layout) -> Result<Option<Layout>> {
        let first = match self.composition(inverse) {
            Ok(l) => l.coalesce()?.mode(0)?,
            Err(LayoutError::Composition { .. } | LayoutError::CompositionUnproven { .. }) => {
                return Ok(None);
            }
            Err(e) => return Err(e),
        };
        let known = first.shape().as_static().is_some() && first.stride().as_static() == Some(1);
        Ok(known.then_some(first))
    }

    /// The modes that do not matter: `self(N(i)) == 0` for all `i < size(N)`, where `N` gives 1-D indices. `1:0` where
    /// every mode matters.
    ///
    /// These are the modes of stride 0; `size(N)` is the size over that of [`Layout::filter`]. Source: CuTe's `nullspace`.
    /// Dynamic extents go through. Errors: overflow.
    pub fn nullspace(&self) -> Result<Layout> {
        let mut step = Leaf::Static(1);
        let mut out = Leaves::new();
        for (s, d) in leaves(self) {
            if d.is(0) {
                let stride = if s.is(1) {
                    Leaf::Static(0)
                } else {
                    step.clone()
                };
                out.push((s.clone(), stride));
            }
            step = step.mul(&s)?;
        }
        from_leaves(out)
    }

    /// An ordered layout of 1-D indices of `shape` that takes `n` elements, as many from each leaf as divide both: for
    /// `(15,14)` and 6 it is `(3,2):(1,15)`.
    ///
    /// Its size divides `n`, and is less where the leaves share too few factors with `n`; dividing by it is even. Source:
    /// CuTe's `domain_distribute`. Errors: dynamic extents, or extents and `n` below 1; overflow.
    pub fn domain_distribute(shape: &IntTuple, n: i64) -> Result<Layout> {
        const OP: &str = "domain_distribute";
        let bad = |found: &dyn std::fmt::Display| LayoutError::Shape {
            found: found.to_string(),
        };
        if n < 1 {
            return Err(bad(&n));
        }
        let (mut rest, mut step) = (n, 1i64);
        let mut out = Leaves::new();
        for leaf in shape.leaves() {
            let extent = match leaf {
                Leaf::Static(v @ 1..) => *v,
                Leaf::Static(_) => return Err(bad(shape)),
                _ => {
                    return Err(LayoutError::Dynamic {
                        op: OP,
                        found: shape.to_string(),
                    });
                }
            };
            let taken = gcd(extent, rest);
            out.push((Leaf::Static(taken), Leaf::Static(step)));
            rest /= taken;
            step = step
                .checked_mul(extent)
                .ok_or(LayoutError::Overflow { op: OP })?;
        }
        let mut modes = coalesce_leaves(out)?;
        if let [(s, d)] = &mut modes[..]
            && s.is(1)
        {
            *d = Leaf::Static(0);
        }
        from_leaves(modes)
    }

    /// The same layout with mode `i` replaced. Errors: a mode that is not there; a size or cosize beyond 64 bits.
    pub fn replace(&self, i: usize, mode: &Layout) -> Result<Layout> {
        // The error of the mode that is not there.
        self.mode(i)?;
        Layout::new(
            self.shape().replace(i, mode.shape().clone())?,
            self.stride().replace(i, mode.stride().clone())?,
        )
    }
}

impl IntTuple {
    /// The same tuple with mode `i` replaced; mode 0 of a leaf is the leaf. Errors: a mode that is not there.
    pub fn replace(&self, i: usize, mode: IntTuple) -> Result<IntTuple> {
        if i >= self.rank() {
            return Err(LayoutError::Rank {
                op: "replace",
                expected: format!("a mode below {} of {self}", self.rank()),
                found: i.to_string(),
            });
        }
        Ok(match self {
            IntTuple::Leaf(_) => mode,
            IntTuple::Tuple(t) => {
                let mut t = t.clone();
                t[i] = mode;
                IntTuple::Tuple(t)
            }
        })
    }

    /// The modes in the opposite order; what is inside them stays.
    #[must_use]
    pub fn reverse(&self) -> IntTuple {
        match self {
            IntTuple::Leaf(_) => self.clone(),
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().rev().cloned().collect()),
        }
    }
}
