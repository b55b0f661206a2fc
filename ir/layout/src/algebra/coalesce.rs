//! Coalesce and filter: fewer modes, the same function of a 1-D index.

use super::{Leaves, fast, from_leaves, leaves};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::{IntTuple, int, tuple};

/// Joins `s0:d0, s1:d1` into `s0*s1:d0` where `d1 == s0*d0`, and drops size-1 modes that are not last.
///
/// The result is the same function beyond the domain too: a last mode of size 1 stays, for it says how the layout extends.
pub(crate) fn coalesce_extending(modes: Leaves) -> Result<Leaves> {
    let mut out: Leaves = Leaves::new();
    for (s, d) in modes {
        while out.last().is_some_and(|(s0, _)| s0.is(1)) {
            out.pop();
        }
        if let Some((s0, d0)) = out.last_mut()
            && s.is_identified()
            && s0.is_identified()
            && d.is_identified()
            && d0.is_identified()
            && s0.mul(d0).is_ok_and(|next| next.known_equal(&d))
        {
            *s0 = s0.mul(&s)?;
            continue;
        }
        out.push((s, d));
    }
    Ok(out)
}

pub(crate) fn coalesce_leaves(modes: Leaves) -> Result<Leaves> {
    let mut out = coalesce_extending(modes)?;
    if out.len() > 1 && out.last().is_some_and(|(s, _)| s.is(1)) {
        out.pop();
    }
    Ok(out)
}

impl Layout {
    /// The same function with a stride of 0 in each mode of size 1: the one way in which inferred types spell it.
    pub fn without_unit_strides(&self) -> Layout {
        fn zeroed(shape: &IntTuple, stride: &IntTuple) -> IntTuple {
            match (shape, stride) {
                (IntTuple::Leaf(Leaf::Static(1)), IntTuple::Leaf(_)) => int(0),
                (IntTuple::Tuple(shape), IntTuple::Tuple(stride)) => {
                    tuple(shape.iter().zip(stride.iter()).map(|(s, d)| zeroed(s, d)))
                }
                _ => stride.clone(),
            }
        }
        let stride = zeroed(self.shape(), self.stride());
        Layout::new(self.shape().clone(), stride).unwrap_or_else(|_| self.clone())
    }

    /// The fewest modes with the same offsets for the same 1-D indices, at depth 0 or 1.
    ///
    /// `?` leaves are never joined (two of them may differ); symbolic ones are where the facts prove it: `(M,N):(1,M)` gives
    /// `M*N:1`. `(2,(1,6)):(1,(6,2))` gives `12:1`; `1:5` stays.
    pub fn coalesce(&self) -> Result<Layout> {
        fast::coalesce(self).map_or_else(|| self.coalesce_general(), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn coalesce_general(&self) -> Result<Layout> {
        if let (IntTuple::Leaf(_), IntTuple::Leaf(_)) = (self.shape(), self.stride()) {
            return Ok(self.clone());
        }
        from_leaves(coalesce_leaves(leaves(self))?)
    }

    /// Coalesces at the leaves of `profile`; modes that the profile does not reach stay as they are.
    ///
    /// Errors: a profile with more modes than the layout.
    pub fn coalesce_by(&self, profile: &IntTuple) -> Result<Layout> {
        self.by_profile(profile, "coalesce", Layout::coalesce)
    }

    /// Stride-0 leaves get extent 1; the profile stays.
    pub fn filter_zeros(&self) -> Result<Layout> {
        fn walk(s: &IntTuple, d: &IntTuple) -> IntTuple {
            match (s, d) {
                (IntTuple::Leaf(_), IntTuple::Leaf(Leaf::Static(0))) => int(1),
                (IntTuple::Tuple(s), IntTuple::Tuple(d)) => {
                    IntTuple::Tuple(s.iter().zip(d).map(|(s, d)| walk(s, d)).collect())
                }
                _ => s.clone(),
            }
        }
        Layout::new(walk(self.shape(), self.stride()), self.stride().clone())
    }

    /// Without stride-0 and size-1 modes, coalesced. The image is the same, the size need not be.
    pub fn filter(&self) -> Result<Layout> {
        let modes = leaves(self).into_iter().map(|(s, d)| {
            if d.is(0) {
                (Leaf::Static(1), d)
            } else {
                (s, d)
            }
        });
        from_leaves(coalesce_leaves(modes.collect())?)
    }

    /// Filters at the leaves of `profile`.
    pub fn filter_by(&self, profile: &IntTuple) -> Result<Layout> {
        self.by_profile(profile, "filter", Layout::filter)
    }

    fn by_profile(
        &self,
        profile: &IntTuple,
        op: &'static str,
        f: fn(&Layout) -> Result<Layout>,
    ) -> Result<Layout> {
        let IntTuple::Tuple(p) = profile else {
            return f(self);
        };
        if p.len() > self.rank() {
            return Err(LayoutError::Rank {
                op,
                expected: format!("a profile of at most {} modes for {self}", self.rank()),
                found: profile.to_string(),
            });
        }
        let mut modes = self.modes();
        for (m, p) in modes.iter_mut().zip(p) {
            *m = m.by_profile(p, op, f)?;
        }
        Layout::from_modes(&modes)
    }
}
