//! The operations on composed layouts `inner o offset o outer`.
//!
//! An operation that only rearranges or restricts the domain acts on the outer layout alone ([`ComposedLayout::map_outer`]). Slicing and
//! changes of the element's width also touch the offset and the inner function.

use super::ENUMERATION_LIMIT;
use super::recast::ratio;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, require};
use crate::swizzle::{ComposedLayout, Inner, Swizzle};
use crate::tuple::{IntTuple, int};

/// A layout, or a composed one that no layout expresses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AnyLayout {
    /// A layout.
    Plain(Layout),
    /// A composed layout.
    Composed(ComposedLayout),
}

impl AnyLayout {
    /// The layout whose shape is the domain: itself, or the outer one.
    pub fn outer(&self) -> &Layout {
        match self {
            AnyLayout::Plain(l) => l,
            AnyLayout::Composed(c) => c.outer(),
        }
    }

    /// The value at a coordinate. Errors as [`Layout::eval`].
    pub fn eval(&self, coord: &IntTuple) -> Result<IntTuple> {
        match self {
            AnyLayout::Plain(l) => l.eval(coord),
            AnyLayout::Composed(c) => c.eval(coord),
        }
    }
}

impl From<ComposedLayout> for AnyLayout {
    /// A swizzle of no bits at offset 0 is dropped.
    fn from(c: ComposedLayout) -> Self {
        if c.is_plain() {
            AnyLayout::Plain(c.outer().clone())
        } else {
            AnyLayout::Composed(c)
        }
    }
}

impl ComposedLayout {
    /// Tells whether it is its outer layout: under a swizzle of no bits, at offset 0.
    pub fn is_plain(&self) -> bool {
        self.offset().as_static() == Some(0)
            && matches!(self.inner(), Inner::Swizzle(s) if s.b() == 0)
    }

    /// The modes at `_` of `coord`, and what has to be added to the values: `self(c) = slice(x) + offset` where `c` is
    /// `coord` with `x` in the place of `_`.
    ///
    /// The contribution of the fixed coordinates is added to the inner offset, and nothing is left to add. Under a swizzle, as
    /// in CuTe, only the bits that it moves or reads stay inside, where bits cannot carry; and where the modes that are
    /// left do not hold both a bit that is moved and the one that moves it, the swizzle becomes strides, which are dynamic
    /// where the coordinate is. Dynamic coordinates are taken to be in range (a condition of [`crate::record`]); symbols,
    /// whose bits are not known, are added to the inner offset.
    /// Errors: a profile that does not fit; overflow.
    pub fn slice(&self, coord: &IntTuple) -> Result<(AnyLayout, IntTuple)> {
        let at = self.outer().eval(coord)?;
        let kept = self.outer().slice_modes(coord)?;
        if self.is_plain() {
            return Ok((AnyLayout::Plain(kept), at));
        }
        if let (Inner::Swizzle(s), Some(at)) = (self.inner(), at.as_leaf())
            && let Some((layout, offset)) = self.slice_swizzled(s, coord, at, &kept)?
        {
            return Ok((layout, IntTuple::Leaf(offset)));
        }
        let inside = ComposedLayout::new(self.inner().clone(), self.offset().add(&at)?, kept)?;
        Ok((AnyLayout::Composed(inside), int(0)))
    }

    // `None` where nothing is known of the bits (polynomials have none), or they may carry.
    fn slice_swizzled(
        &self,
        s: &Swizzle,
        coord: &IntTuple,
        at: &Leaf,
        kept: &Layout,
    ) -> Result<Option<(AnyLayout, Leaf)>> {
        let all = coord.leaves().iter().all(|l| **l == Leaf::Underscore);
        let unknown = all || at.as_symbolic().is_some();
        let (Some(offset), false) = (self.offset().as_static().filter(|o| *o >= 0), unknown) else {
            return Ok(None);
        };
        let at_bits = match at {
            Leaf::Static(v) => Some(*v).filter(|v| *v >= 0),
            _ => {
                check_range(coord, self.outer().shape())?;
                bits(&self.outer().dice(coord)?)
            }
        };
        let (Some(at_bits), Some(kept_bits)) = (at_bits, bits(kept)) else {
            return Ok(None);
        };
        if (offset & at_bits) | (offset & kept_bits) | (at_bits & kept_bits) != 0 {
            return Ok(None);
        }
        // No sum carries, so sums are exclusive ors, over which a swizzle distributes.
        let (read, moved) = s.masks();
        let inside = at.and((read | moved) & at_bits)?;
        let outside = match at_bits & (read | moved) {
            0 => at.clone(),
            hit => at.and(at_bits & !hit)?,
        };
        let start = Leaf::Static(offset).xor(&inside)?;
        let shift = |bits: i64| {
            if s.s() >= 0 {
                bits >> s.s()
            } else {
                bits << -s.s()
            }
        };
        if shift(kept_bits & read) & kept_bits & moved == 0
            && let Ok(plain) = unswizzled(s, &start)?.composition(kept)
        {
            return Ok(Some((
                AnyLayout::Plain(plain),
                s.apply_leaf(&start)?.add(&outside)?,
            )));
        }
        let inner = Inner::Swizzle(*s);
        let composed = ComposedLayout::new(inner, IntTuple::Leaf(start), kept.clone())?;
        Ok(Some((AnyLayout::Composed(composed), outside)))
    }

    /// The modes where `coord` is not `_`, of the outer layout.
    pub fn dice(&self, coord: &IntTuple) -> Result<ComposedLayout> {
        self.map_outer(|l| l.dice(coord))
    }

    /// The composed layout in elements of `new_bits`, given one in elements of `old_bits`.
    ///
    /// Errors: those of [`Layout::recast`]; an offset inside a wider element; a swizzle that moves bits inside one, or a
    /// ratio of widths that is no power of 2 under a swizzle; an inner layout whose first mode is not contiguous and whole.
    pub fn recast(&self, old_bits: i64, new_bits: i64) -> Result<ComposedLayout> {
        const OP: &str = "recast";
        let refuse = |expected: String| LayoutError::Divisibility {
            op: OP,
            expected,
            found: self.to_string(),
            cure: "recast before composing, or pad".to_string(),
        };
        if old_bits < 1 || new_bits < 1 {
            return Err(refuse(format!(
                "positive widths in bits, not {old_bits} and {new_bits}"
            )));
        }
        let outer = self.outer().recast(old_bits, new_bits)?;
        let (up, down) = ratio(old_bits, new_bits);
        let Some(offset) = self.offset().as_leaf() else {
            return Err(refuse("an integer offset".to_string()));
        };
        if !offset.divisible_by(&Leaf::Static(up))?.is_true() {
            return Err(refuse(format!("an offset that is a multiple of {up}")));
        }
        let offset = offset.div(&Leaf::Static(up))?.mul(&Leaf::Static(down))?;
        let inner = match self.inner() {
            Inner::Swizzle(s) => {
                if up.count_ones() != 1 || down.count_ones() != 1 {
                    return Err(refuse(format!(
                        "widths in the ratio of a power of 2 under a swizzle, not {up} to {down}"
                    )));
                }
                let base = i64::from(s.m()) - i64::from(up.trailing_zeros());
                if base < 0 {
                    return Err(refuse(format!(
                        "a swizzle that leaves the {} lowest bits alone",
                        up.trailing_zeros()
                    )));
                }
                let base = base + i64::from(down.trailing_zeros());
                Inner::Swizzle(Swizzle::new(i64::from(s.b()), base, i64::from(s.s()))?)
            }
            Inner::Layout(l) => {
                // Only then are `up` consecutive indices the elements of one wider element.
                let (shape, stride) = (l.shape().leaves(), l.stride().leaves());
                let first = (0..shape.len()).find(|&i| !shape[i].is(1));
                let whole = match first {
                    Some(i) => {
                        stride[i].is(1) && shape[i].divisible_by(&Leaf::Static(up))?.is_true()
                    }
                    None => up == 1,
                };
                if !whole && (up, down) != (1, 1) {
                    return Err(refuse(format!(
                        "an inner layout whose first mode is contiguous and a multiple of {up}"
                    )));
                }
                Inner::Layout(l.recast(old_bits, new_bits)?)
            }
        };
        ComposedLayout::new(inner, IntTuple::Leaf(offset), outer)
    }
}

/// The bits that some value of a static layout of non-negative strides has; above the limit of enumeration, all bits up to
/// the highest.
fn bits(l: &Layout) -> Option<i64> {
    let flat = l.flat()?;
    if flat.modes().iter().any(|m| m.1 < 0) {
        return None;
    }
    if flat.size() > ENUMERATION_LIMIT {
        let top = u64::try_from(l.cosize().ok()? - 1).ok()?;
        return i64::try_from(u64::MAX.checked_shr(top.leading_zeros()).unwrap_or(0)).ok();
    }
    Some((0..flat.size()).fold(0, |all, i| all | flat.at(i)))
}

/// Records that the fixed values of a coordinate are in range.
fn check_range(coord: &IntTuple, shape: &IntTuple) -> Result<()> {
    match (coord, shape) {
        (IntTuple::Leaf(c @ Leaf::Dynamic(_)), s) => {
            let size = s.product()?;
            require(&c.less(&size)?, || LayoutError::Coord {
                shape: s.to_string(),
                coord: format!("{c} beyond it"),
            })
        }
        (IntTuple::Tuple(c), IntTuple::Tuple(s)) => {
            c.iter().zip(s).try_for_each(|(c, s)| check_range(c, s))
        }
        _ => Ok(()),
    }
}

/// The layout that is `x -> swizzle(start + x) - swizzle(start)` for every `x` that shares no bit with `start` and that does
/// not hold both a bit that is moved and the one that moves it.
///
/// A bit that is moved onto another flips it: it adds where `start` leaves that bit 0, else subtracts.
fn unswizzled(s: &Swizzle, start: &Leaf) -> Result<Layout> {
    let (b, m, by) = (s.b(), s.m(), s.s().unsigned_abs());
    let sign = |set: i64, plain: i64, flip: i64| -> Result<IntTuple> {
        let clear = start.and(set)?.equals(&Leaf::Static(0))?;
        let (add, sub) = (Leaf::Static(plain + flip), Leaf::Static(plain - flip));
        Ok(IntTuple::Leaf(Leaf::select(&clear, &add, &sub)?))
    };
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for i in 0..b {
        let (l, h) = (1i64 << (m + i), 1i64 << (m + by + i));
        if s.s() >= 0 {
            low.push(sign(h, 0, l)?);
            high.push(sign(l, h, l)?);
        } else {
            low.push(sign(h, l, h)?);
            high.push(sign(l, 0, h)?);
        }
    }
    let twos = || (0..b).map(|_| int(2));
    let mut shape = vec![int(1 << m)];
    shape.extend(twos());
    shape.push(int(1 << (by - b)));
    shape.extend(twos());
    shape.push(int(1));
    let mut stride = vec![int(1)];
    stride.extend(low);
    stride.push(int(1 << (m + b)));
    stride.extend(high);
    stride.push(int(1 << (m + b + by)));
    Layout::new(IntTuple::Tuple(shape), IntTuple::Tuple(stride))
}
