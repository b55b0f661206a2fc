//! Composition where divisibility proves it; the module of the general composition says why it is right.

use smallvec::SmallVec;

use super::{Bounds, Flat, SHALLOW, ceil_div, extending, join, tuples};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::IntTuple;

/// See [`Layout::composition`].
pub fn composition(lhs: &Layout, rhs: &Layout) -> Option<Layout> {
    let mut c = Composer::new(lhs.shape(), lhs.stride())?;
    let mut bounds = Bounds::NONE;
    let (shape, stride) = c.walk(rhs.shape(), rhs.stride(), 0, &mut bounds)?;
    c.adds_up()?;
    Some(Layout::assembled(shape, stride))
}

/// A left side, and the digits of it that the leaves of a right side use.
pub(super) struct Composer {
    modes: Flat,
    /// The sum over the leaves of the largest digits, for each mode but the last.
    sums: SmallVec<[i64; 8]>,
    /// Leaves that use digits at all, and the sign of their strides (0: signs differ).
    used: usize,
    sign: i64,
}

impl Composer {
    pub(super) fn new(shape: &IntTuple, stride: &IntTuple) -> Option<Composer> {
        let mut modes = extending(shape, stride)?;
        if modes.is_empty() {
            modes.push((1, 0));
        }
        let sums = SmallVec::from_elem(0, modes.len() - 1);
        Some(Composer {
            modes,
            sums,
            used: 0,
            sign: 0,
        })
    }

    /// The left side after a right side of this profile.
    pub(super) fn walk(
        &mut self,
        shape: &IntTuple,
        stride: &IntTuple,
        depth: usize,
        bounds: &mut Bounds,
    ) -> Option<(IntTuple, IntTuple)> {
        match (shape, stride) {
            (IntTuple::Leaf(Leaf::Static(s)), IntTuple::Leaf(Leaf::Static(d))) => {
                self.leaf(*s, *d, bounds)
            }
            (IntTuple::Tuple(s), IntTuple::Tuple(d)) if depth < SHALLOW => {
                let mut shapes = Vec::with_capacity(s.len());
                let mut strides = Vec::with_capacity(s.len());
                for (s, d) in s.iter().zip(d) {
                    let (s, d) = self.walk(s, d, depth + 1, bounds)?;
                    shapes.push(s);
                    strides.push(d);
                }
                Some((IntTuple::Tuple(shapes), IntTuple::Tuple(strides)))
            }
            _ => None,
        }
    }

    /// The left side after the one leaf `s:d`.
    pub(super) fn leaf(
        &mut self,
        s: i64,
        d: i64,
        bounds: &mut Bounds,
    ) -> Option<(IntTuple, IntTuple)> {
        let (_, top) = *self.modes.last()?;
        if d != 0 && s != 1 {
            self.sign = if self.used == 0 || self.sign == d.signum() {
                d.signum()
            } else {
                0
            };
            self.used += 1;
        }
        let one = if d == 0 {
            (s, 0)
        } else if self.modes.len() == 1 {
            (s, d.checked_mul(top)?)
        } else if s == 1 {
            (1, self.single(d)?)
        } else {
            let mut pieces = Flat::new();
            self.divide(s, d, &mut pieces)?;
            for &(s, d) in &pieces {
                bounds.add(s, d)?;
            }
            return Some(tuples(&pieces));
        };
        bounds.add(one.0, one.1)?;
        Some(tuples(&[one]))
    }

    /// The stride of a leaf of size 1.
    fn single(&self, d: i64) -> Option<i64> {
        let ((_, stride), init) = self.modes.split_last()?;
        let mut rest = d.checked_abs()?;
        for (s, _) in init {
            rest = ceil_div(rest, *s);
        }
        stride.checked_mul(rest * d.signum())
    }

    /// The pieces of `i -> A(i*d)`, coalesced, where divisibility gives them.
    #[inline]
    fn divide(&mut self, s: i64, d: i64, pieces: &mut Flat) -> Option<()> {
        let ((_, top), init) = self.modes.split_last()?;
        let (mut s, mut rest) = (s, d.checked_abs()?);
        for ((extent, stride), sum) in init.iter().zip(&mut self.sums) {
            if let Some(reach) = (s - 1).checked_mul(rest)
                && reach < *extent
            {
                *sum = sum.checked_add(reach)?;
                return join(pieces, s, stride.checked_mul(rest * d.signum())?);
            }
            if rest % extent == 0 {
                rest /= extent;
                continue;
            }
            let n = extent / rest.max(1);
            if n == 0 || extent % rest != 0 || s % n != 0 {
                return None;
            }
            *sum = sum.checked_add(extent - rest)?;
            join(pieces, n, stride.checked_mul(rest * d.signum())?)?;
            s /= n;
            rest = 1;
            if s == 1 {
                return Some(());
            }
        }
        join(pieces, s, top.checked_mul(rest * d.signum())?)
    }

    /// Checks that the leaves may be added: no digit carries or borrows.
    pub(super) fn adds_up(&self) -> Option<()> {
        let proved = self.modes.len() == 1
            || self.used < 2
            || (self.sign != 0 && self.sums.iter().zip(&self.modes).all(|(sum, m)| *sum < m.0));
        proved.then_some(())
    }
}
