//! Inverses, both partial.

use super::coalesce::coalesce_leaves;
use super::complement::ascending;
use super::{ENUMERATION_LIMIT, Leaves, fast, from_leaves, leaves, trial};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, require};
use crate::tuple::IntTuple;

/// A mode of the coalesced layout: its stride, extent, and the 1-D index at which it steps.
struct Mode {
    stride: i64,
    extent: i64,
    step: i64,
}

impl Layout {
    /// The largest `R` that the modes allow with `self(R(i)) == i` for all `i < size(R)`.
    ///
    /// It can be partial: `4:2` gives `1:0`. Of an injective layout of non-negative strides it is the longest there is; where
    /// modes overlap whole modes are taken, as in CuTe, though a longer one may exist (`(4,4):(1,2)` gives `4:1`). Modes of
    /// dynamic stride are left out, as in CuTe, and behind a mode of dynamic extent it is not known which comes next:
    /// `(16,?):(1,16)` gives itself, `(?,16):(1,16)` gives `?:1`. Of basis strides it takes coordinates: each is inverted alone.
    /// Errors: dynamic extents beside basis strides.
    pub fn right_inverse(&self) -> Result<Layout> {
        fast::right_inverse(self).map_or_else(|| self.right_inverse_general(), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn right_inverse_general(&self) -> Result<Layout> {
        if self.has_symbols() || !self.shape().is_static() {
            return self.right_inverse_open();
        }
        if self.stride().has_basis() {
            return self.right_inverse_basis();
        }
        let mut modes = self.inverse_modes("right_inverse", true)?;
        modes.sort_by_key(|m| m.stride);
        let mut out: Leaves = Leaves::new();
        let mut next = 1i64;
        for m in modes {
            if m.stride == next && m.extent > 1 {
                out.push((Leaf::Static(m.extent), Leaf::Static(m.step)));
                next = m
                    .extent
                    .checked_mul(m.stride)
                    .ok_or(LayoutError::Overflow {
                        op: "right_inverse",
                    })?;
            }
        }
        from_leaves(coalesce_leaves(out)?)
    }

    /// A quasi-inverse: `self(L(self(i))) == self(i)` for all `i < size(self)`; `L(self(i)) == i` where it is injective.
    ///
    /// Where modes overlap `L(self(i))` may lie beyond the domain, in the extension of the last leaf. Gaps become stride-0
    /// modes: `4:4` gives `(4,4):(0,1)`. Where strides do not divide in order, an injective layout within 65536 elements is
    /// given the inverse of fewest modes, which is searched for: `(2,2):(2,3)` gives `(2,3):(1,1)`. Of basis strides it takes
    /// coordinates, no two of which may coincide. Errors: dynamic leaves; negative strides; no inverse of at most six modes
    /// was found.
    pub fn left_inverse(&self) -> Result<Layout> {
        fast::left_inverse(self).map_or_else(|| self.left_inverse_general(), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn left_inverse_general(&self) -> Result<Layout> {
        if self.has_symbols() {
            return self.left_inverse_symbolic();
        }
        if self.stride().has_basis() {
            return self.left_inverse_basis();
        }
        const OP: &str = "left_inverse";
        let mut modes = self.inverse_modes(OP, false)?;
        modes.retain(|m| m.stride != 0 && m.extent > 1);
        if modes.iter().any(|m| m.stride < 0) {
            let expected = "non-negative strides in `left_inverse`";
            return Err(LayoutError::Stride {
                expected,
                found: self.to_string(),
            });
        }
        modes.sort_by_key(|m| m.stride);
        let unfit = || LayoutError::NotInjective {
            op: OP,
            found: self.to_string(),
            cure: "choose strides that are multiples of one another, with no offset reached twice",
        };
        let tried = || match trial::left_inverse(&self.flat_or(OP)?) {
            Some(modes) => {
                let leaf = |(s, d)| (Leaf::Static(s), Leaf::Static(d));
                from_leaves(coalesce_leaves(modes.into_iter().map(leaf).collect())?)
            }
            None => Err(unfit()),
        };
        let (mut shape, mut covered, mut overlaps, mut reach) = (Vec::new(), 1i64, false, 1i64);
        for m in &modes {
            if m.stride % covered != 0 {
                return tried();
            }
            overlaps |= m.stride < reach;
            reach = m
                .extent
                .checked_mul(m.stride)
                .ok_or(LayoutError::Overflow { op: OP })?;
            shape.push(m.stride / covered);
            covered = m.stride;
        }
        let Some(last) = modes.last() else {
            return Layout::leaf(1, 0);
        };
        shape.push(last.extent);
        let steps = std::iter::once(0).chain(modes.iter().map(|m| m.step));
        let out = shape
            .into_iter()
            .zip(steps)
            .map(|(s, d)| (Leaf::Static(s), Leaf::Static(d)));
        let inverse = from_leaves(coalesce_leaves(out.collect())?)?;
        if overlaps && !self.is_quasi_inverse(&inverse)? {
            return tried();
        }
        Ok(inverse)
    }

    fn has_symbols(&self) -> bool {
        let symbolic = |t: &IntTuple| t.leaves().iter().any(|l| l.as_symbolic().is_some());
        symbolic(self.shape()) || symbolic(self.stride())
    }

    /// Extent, stride and step of each mode of the coalesced layout.
    fn open_modes(&self) -> Result<Vec<(Leaf, Leaf, Leaf)>> {
        let mut step = Leaf::Static(1);
        let mut out = Vec::new();
        for (s, d) in coalesce_leaves(leaves(self))? {
            let next = step.mul(&s)?;
            out.push((s, d, std::mem::replace(&mut step, next)));
        }
        Ok(out)
    }

    fn open_basis(&self, op: &'static str) -> LayoutError {
        if self.has_symbols() {
            self.basis(op)
        } else {
            self.dynamic(op)
        }
    }

    // As far as it is known which mode comes next; what is not known ends it early, which is right too.
    fn right_inverse_open(&self) -> Result<Layout> {
        const OP: &str = "right_inverse";
        if self.stride().has_basis() {
            return Err(self.open_basis(OP));
        }
        let mut modes = self.open_modes()?;
        modes.retain(|(s, _, _)| !s.is(1));
        let mut out = Leaves::new();
        let mut next = Leaf::Static(1);
        while let Some(i) = modes.iter().position(|(_, d, _)| d.known_equal(&next)) {
            let (s, _, step) = modes.remove(i);
            next = next.mul(&s)?;
            out.push((s, step));
        }
        from_leaves(coalesce_leaves(out)?)
    }

    fn left_inverse_symbolic(&self) -> Result<Layout> {
        const OP: &str = "left_inverse";
        if self.stride().has_basis() {
            return Err(self.basis(OP));
        }
        let modes = self.open_modes()?;
        if modes.iter().any(|(s, _, _)| !s.is_identified()) {
            return Err(self.dynamic(OP));
        }
        if modes.iter().any(|(_, d, _)| !d.is_identified()) {
            return Err(self.dynamic(OP));
        }
        let used = modes.iter().filter(|(s, d, _)| !s.is(1) && !d.is(0));
        let order = ascending(
            used.clone()
                .map(|(s, d, _)| (s.clone(), d.clone()))
                .collect(),
        )?;
        let mut out = Leaves::new();
        let (mut covered, mut reach, mut step) =
            (Leaf::Static(1), Leaf::Static(1), Leaf::Static(0));
        let mut last = Leaf::Static(1);
        for (s, d) in order {
            let fits = reach.at_most(&d)?.and(&d.divisible_by(&covered)?);
            require(&fits, || LayoutError::NotInjective {
                op: OP,
                found: self.to_string(),
                cure: "choose strides that are multiples of one another, with no offset reached twice",
            })?;
            out.push((d.div(&covered)?, step));
            step = used
                .clone()
                .find(|(s2, d2, _)| *s2 == s && *d2 == d)
                .map_or(Leaf::Static(0), |(_, _, step)| step.clone());
            reach = d.mul(&s)?;
            (covered, last) = (d, s);
        }
        out.push((last, step));
        from_leaves(coalesce_leaves(out)?)
    }

    // Modes that overlap are outside the proof; their whole domain is compared where it is small enough.
    fn is_quasi_inverse(&self, inverse: &Layout) -> Result<bool> {
        let (f, g) = (
            self.flat_or("left_inverse")?,
            inverse.flat_or("left_inverse")?,
        );
        let n = f.size();
        Ok(n <= ENUMERATION_LIMIT && (0..n).all(|i| f.at(g.at(f.at(i))) == f.at(i)))
    }

    fn inverse_modes(&self, op: &'static str, skip_dynamic_strides: bool) -> Result<Vec<Mode>> {
        let mut step = 1i64;
        let mut out = Vec::new();
        for (s, d) in coalesce_leaves(leaves(self))? {
            let extent = s.as_static().ok_or_else(|| self.dynamic(op))?;
            match d {
                Leaf::Static(stride) => out.push(Mode {
                    stride,
                    extent,
                    step,
                }),
                Leaf::Dynamic(_) if skip_dynamic_strides => {}
                Leaf::Basis { .. } => return Err(self.basis(op)),
                _ => return Err(self.dynamic(op)),
            }
            step = step
                .checked_mul(extent)
                .ok_or(LayoutError::Overflow { op })?;
        }
        Ok(out)
    }
}
