//! XOR swizzles, and layouts whose offset passes through one.

use std::fmt;

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tuple::{IntTuple, int};

/// `S<B,M,S>`: the B bits at M (at M - S for negative S) are xored with the B bits that stand |S| above (below).
///
/// Source: CuTe's `include/cute/swizzle.hpp`. What an offset counts (elements or bytes) is said by whoever holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    b: u32,
    m: u32,
    s: i32,
}

impl Swizzle {
    /// The widest pattern: offsets that it touches fit 32 bits, as CuTe's 32-bit masks require.
    pub(crate) const MAX_BITS: i64 = 32;

    /// Errors: negative B or M; |S| below B; a pattern beyond 32 bits.
    pub fn new(b: i64, m: i64, s: i64) -> Result<Swizzle> {
        let bad = LayoutError::Swizzle { b, m, s };
        let range = 0..=Self::MAX_BITS;
        if !range.contains(&b)
            || !range.contains(&m)
            || !(-Self::MAX_BITS..=Self::MAX_BITS).contains(&s)
        {
            return Err(bad);
        }
        if s.abs() < b || b + m + s.abs() > Self::MAX_BITS {
            return Err(bad);
        }
        Ok(Swizzle {
            b: b as u32,
            m: m as u32,
            s: s as i32,
        })
    }

    /// Bits in the mask.
    pub fn b(&self) -> u32 {
        self.b
    }

    /// Bits left alone at the bottom.
    pub fn m(&self) -> u32 {
        self.m
    }

    /// Distance of the shift, positive to the right.
    pub fn s(&self) -> i32 {
        self.s
    }

    /// The swizzled offset. It is its own inverse, and the identity for B = 0.
    #[inline]
    pub fn apply(&self, offset: i64) -> i64 {
        let mask = (1i64 << self.b) - 1;
        let by = self.s.unsigned_abs();
        if self.s >= 0 {
            offset ^ ((offset >> by) & (mask << self.m))
        } else {
            offset ^ ((offset & (mask << self.m)) << by)
        }
    }

    /// A bound of the offsets that those below `length` are swizzled to: `length` rounded up to the blocks of `2^(B+M)`,
    /// for negative S `2^(B+M+|S|)`, that the pattern permutes within. It is `length` itself where no offset below it has a
    /// bit that the pattern reads. Nothing where the bound is beyond 2^63.
    pub fn span(&self, length: i64) -> Option<i64> {
        let up = if self.s < 0 { self.s.unsigned_abs() } else { 0 };
        let down = if self.s > 0 { self.s.unsigned_abs() } else { 0 };
        let (reads, writes) = (self.m + down, self.m + up + self.b);
        if self.b == 0 || length <= 1i64 << reads {
            return Some(length);
        }
        let block = 1i64 << writes;
        Some(length.checked_add(block - 1)? / block * block)
    }

    /// The alignment, in units of the offset, that makes the pattern start afresh: `2^(B+M+|S|)`.
    pub fn period(&self) -> i64 {
        1i64 << (self.b + self.m + self.s.unsigned_abs())
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S<{},{},{}>", self.b, self.m, self.s)
    }
}

/// The function that the offset of a composed layout passes through.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Inner {
    /// A swizzle of offsets.
    Swizzle(Swizzle),
    /// A layout, for example of coordinates.
    Layout(Layout),
}

/// `inner o offset o outer`: `c -> inner(offset + outer(c))`, in elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ComposedLayout {
    inner: Inner,
    offset: IntTuple,
    outer: Layout,
}

impl ComposedLayout {
    /// Errors: an offset that cannot be added to what the outer layout gives; under a swizzle a sum that is a coordinate,
    /// under a layout one that is no coordinate of it.
    pub fn new(inner: Inner, offset: IntTuple, outer: Layout) -> Result<ComposedLayout> {
        let refuse = |expected| LayoutError::Stride {
            expected,
            found: format!("offset {offset} and outer {outer}"),
        };
        let addable = "an offset that can be added to what the outer layout gives";
        // The profile is the same at every coordinate.
        let sum = outer
            .eval(&int(0))
            .and_then(|at| offset.add(&at))
            .map_err(|_| refuse(addable))?;
        match &inner {
            Inner::Swizzle(_) if sum.is_tuple() || outer.stride().has_basis() => {
                let expected = "a scalar offset and integer strides under a swizzle";
                return Err(refuse(expected));
            }
            Inner::Layout(l) if !sum.weakly_congruent(l.shape()) => {
                let expected = "an offset and outer layout that give coordinates of the inner one";
                return Err(refuse(expected));
            }
            _ => {}
        }
        Ok(ComposedLayout {
            inner,
            offset,
            outer,
        })
    }

    /// `swizzle o 0 o outer`.
    pub fn swizzled(swizzle: Swizzle, outer: Layout) -> Result<ComposedLayout> {
        Self::new(Inner::Swizzle(swizzle), int(0), outer)
    }

    /// The same inner function and offset on another outer layout. Errors: those of `f` and of [`ComposedLayout::new`].
    pub fn map_outer<E: From<LayoutError>>(
        &self,
        f: impl FnOnce(&Layout) -> std::result::Result<Layout, E>,
    ) -> std::result::Result<ComposedLayout, E> {
        let outer = f(&self.outer)?;
        Ok(Self::new(self.inner.clone(), self.offset.clone(), outer)?)
    }

    /// The function applied last.
    pub fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The offset that is added between.
    pub fn offset(&self) -> &IntTuple {
        &self.offset
    }

    /// The layout applied first; its shape is the domain.
    pub fn outer(&self) -> &Layout {
        &self.outer
    }

    /// Tells whether every number in it is known.
    pub fn is_static(&self) -> bool {
        let inner = match &self.inner {
            Inner::Swizzle(_) => true,
            Inner::Layout(l) => l.is_static(),
        };
        inner && self.offset.is_static() && self.outer.is_static()
    }

    /// Elements of the domain.
    pub fn size(&self) -> Result<i64> {
        self.outer.size()
    }

    /// The value at a coordinate. Errors: dynamic leaves; an intermediate coordinate, whose layouts have no integers.
    pub fn crd2idx(&self, coord: &IntTuple) -> Result<i64> {
        let Some(off) = self.offset.as_static() else {
            return Err(LayoutError::Dynamic {
                op: "crd2idx",
                found: self.to_string(),
            });
        };
        let i = self
            .outer
            .crd2idx(coord)?
            .checked_add(off)
            .ok_or(LayoutError::Overflow { op: "crd2idx" })?;
        match &self.inner {
            Inner::Swizzle(s) => Ok(s.apply(i)),
            Inner::Layout(l) => l.crd2idx(&int(i)),
        }
    }
}

impl fmt::Display for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            Inner::Swizzle(s) => write!(f, "{s}")?,
            Inner::Layout(l) => write!(f, "{l}")?,
        }
        write!(f, " o {} o {}", self.offset, self.outer)
    }
}
