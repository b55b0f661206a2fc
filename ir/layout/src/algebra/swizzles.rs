//! Swizzles composed with one another, on elements of another width, and composed layouts that are layouts after all.

use super::recast::check_widths;
use super::{AnyLayout, ENUMERATION_LIMIT};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::swizzle::{ComposedLayout, Inner, Swizzle};
use crate::tuple::{IntTuple, int};

impl Swizzle {
    /// `self o other`: the swizzle that is `offset -> self(other(offset))` at every offset.
    ///
    /// A swizzle is linear over exclusive or, so that its values at the powers of 2 are all of it. There is a swizzle where
    /// each power of 2 that is moved at all takes one other bit with it, all at one distance, and these bits stand in a row
    /// no longer than that distance: `S<1,5,3> o S<2,3,3>` is `S<3,3,3>`. Two that are each other's inverse give `S<0,4,3>`,
    /// CuTe's identity. CuTe C++ composes swizzles of one shift alone, and merges their masks.
    ///
    /// Errors: no swizzle is that function; the message holds an offset that shows it.
    pub fn compose(&self, other: &Swizzle) -> Result<Swizzle> {
        let at = |offset: i64| self.apply(other.apply(offset));
        let refuse = |why: String| {
            LayoutError::Divisibility {
            op: "composition",
            expected: format!("{self} o {other} to be a swizzle"),
            found: why,
            cure: "compose swizzles whose bits do not meet and which continue one another at one shift, or keep two layers"
                .to_string(),
        }
        };
        // Each moved bit and the one that it flips.
        let mut moved: Vec<(i64, i64)> = Vec::new();
        for bit in (0..Self::MAX_BITS).map(|k| 1i64 << k) {
            let flipped = at(bit) ^ bit;
            match flipped.count_ones() {
                0 => {}
                1 if flipped != bit => moved.push((bit, flipped)),
                _ => {
                    let why = format!(
                        "{} at offset {bit}, where a swizzle flips at most one other bit",
                        at(bit)
                    );
                    return Err(refuse(why));
                }
            }
        }
        let Some(&(bit, flipped)) = moved.first() else {
            return Swizzle::new(0, 4, 3);
        };
        let log = |v: i64| i64::from(v.trailing_zeros());
        let shift = log(bit) - log(flipped);
        let base = log(bit).min(log(flipped));
        // The first bits in a row at one distance; the first that leaves the row shows that there is no swizzle.
        let row = moved.iter().zip(0..).take_while(|((y, z), i)| {
            (log(*y), log(*z)) == (log(bit) + i, log(flipped) + i) && *i < shift.abs()
        });
        let candidate = Swizzle::new(row.count() as i64, base, shift)?;
        let differs = moved.iter().find(|(y, _)| at(*y) != candidate.apply(*y));
        match differs {
            None => Ok(candidate),
            Some((y, _)) => Err(refuse(format!(
                "{} at offset {y}, where {candidate}, which the lower bits ask for, gives {}",
                at(*y),
                candidate.apply(*y)
            ))),
        }
    }

    /// The same permutation of elements `n` times as wide. `n` is a power of 2.
    ///
    /// Errors: another `n`; a swizzle that moves bits inside the wider element. (CuTe C++ drops those bits.)
    pub fn upcast(&self, n: i64) -> Result<Swizzle> {
        self.moved(n, "upcast", -1)
    }

    /// The same permutation of elements `n` times as narrow. `n` is a power of 2. Errors: another `n`; a pattern beyond 32
    /// bits.
    pub fn downcast(&self, n: i64) -> Result<Swizzle> {
        self.moved(n, "downcast", 1)
    }

    /// The swizzle of elements of `new_bits`, given one of elements of `old_bits`. Errors as [`Swizzle::upcast`] and
    /// [`Swizzle::downcast`]: the ratio must be a power of 2.
    pub fn recast(&self, old_bits: i64, new_bits: i64) -> Result<Swizzle> {
        check_widths(old_bits, new_bits)?;
        match (new_bits % old_bits, old_bits % new_bits) {
            (0, _) => self.upcast(new_bits / old_bits),
            (_, 0) => self.downcast(old_bits / new_bits),
            _ => Err(LayoutError::Divisibility {
                op: "recast",
                expected: "widths in the ratio of a power of 2 under a swizzle".to_string(),
                found: format!("{old_bits} to {new_bits} bits under {self}"),
                cure: "recast before composing with the swizzle".to_string(),
            }),
        }
    }

    fn moved(&self, n: i64, op: &'static str, sign: i64) -> Result<Swizzle> {
        let refuse = |expected: String, cure: &str| LayoutError::Divisibility {
            op,
            expected,
            found: format!("{n} under {self}"),
            cure: cure.to_string(),
        };
        if n < 1 || n.count_ones() != 1 {
            let expected = "a power of 2 as the ratio of widths".to_string();
            return Err(refuse(expected, "recast before composing with the swizzle"));
        }
        let base = i64::from(self.m()) + sign * i64::from(n.trailing_zeros());
        if base >= 0 {
            return Swizzle::new(i64::from(self.b()), base, i64::from(self.s()));
        }
        if self.b() == 0 {
            return Swizzle::new(0, 0, i64::from(self.s()));
        }
        Err(refuse(
            format!(
                "at most {} narrow elements in a wide one, so that the swizzle moves whole ones",
                1i64 << self.m()
            ),
            "use a swizzle of a larger base, or a narrower element",
        ))
    }
}

impl ComposedLayout {
    /// The layout and the number that add up to this function on its domain, `self(c) = layout(c) + number`, where a layout
    /// of these modes is it; else this itself, and 0.
    ///
    /// So a swizzle goes away where it is the identity on the offsets that are reached, and where it only changes strides.
    /// The shape is that of the outer layout; a mode may be split in nested ones where its powers of 2 have strides of
    /// their own. Nothing goes away where the outer layout or the offset is dynamic, where the inner function is a layout,
    /// or, unless no bit that the swizzle reads is reached, where the domain has more elements than
    /// [`ENUMERATION_LIMIT`](crate::algebra::ENUMERATION_LIMIT). Errors: overflow.
    ///
    /// Source of the idea: CuTe's `include/cute/swizzle_layout.hpp`, which lets a slice decay.
    pub fn decay(&self) -> Result<(AnyLayout, i64)> {
        const OP: &str = "decay";
        let stays = || Ok((AnyLayout::Composed(self.clone()), 0));
        let (Inner::Swizzle(s), Some(start), Some(flat)) =
            (self.inner(), self.offset().as_static(), self.outer().flat())
        else {
            return stays();
        };
        if s.b() == 0 {
            return Ok((AnyLayout::Plain(self.outer().clone()), start));
        }
        if flat.size() > ENUMERATION_LIMIT {
            let reach = self.outer().cosize()?.checked_add(start);
            let forward = flat.modes().iter().all(|m| m.1 >= 0) && start >= 0;
            // All offsets stay below the lowest bit that is read.
            let (read, _) = s.masks();
            if forward && reach.is_some_and(|end| end <= 1i64 << read.trailing_zeros()) {
                return Ok((AnyLayout::Plain(self.outer().clone()), start));
            }
            return stays();
        }
        let value = |x: i64| x.checked_add(start).map(|x| s.apply(x));
        let base = s.apply(start);
        // Where the split is too deep or too long, the modes stay whole.
        let fine = refine(self.outer()).unwrap_or_else(|_| self.outer().clone());
        let Some(modes) = fine.flat() else {
            return stays();
        };
        let mut strides = Vec::with_capacity(modes.modes().len());
        for (size, stride) in modes.modes() {
            let next = if *size == 1 {
                Some(base)
            } else {
                value(*stride)
            };
            let step = next.and_then(|v| v.checked_sub(base));
            strides.push(step.ok_or(LayoutError::Overflow { op: OP })?);
        }
        let mut left = strides.into_iter().map(int);
        let stride = renest(fine.stride(), &mut left);
        let plain = Layout::new(fine.shape().clone(), stride)?;
        let Some(got) = plain.flat() else {
            return stays();
        };
        for i in 0..flat.size() {
            let truth = value(flat.at(i)).and_then(|v| v.checked_sub(base));
            if truth.ok_or(LayoutError::Overflow { op: OP })? != got.at(i) {
                return stays();
            }
        }
        let plain = plain.coalesce_by(self.outer().shape())?;
        Ok((AnyLayout::Plain(plain), base))
    }
}

// Every leaf of an even static extent split into its powers of 2 and the rest.
fn refine(l: &Layout) -> Result<Layout> {
    fn walk(shape: &IntTuple, stride: &IntTuple) -> Result<(IntTuple, IntTuple)> {
        if shape.is_tuple() {
            let pairs = shape.modes().iter().zip(stride.modes());
            let pairs: Vec<_> = pairs.map(|(s, d)| walk(s, d)).collect::<Result<_>>()?;
            let (s, d): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            return Ok((IntTuple::Tuple(s), IntTuple::Tuple(d)));
        }
        let (Some(mut size), Some(mut step)) = (shape.as_static(), stride.as_static()) else {
            return Ok((shape.clone(), stride.clone()));
        };
        if size % 2 != 0 {
            return Ok((shape.clone(), stride.clone()));
        }
        let (mut sizes, mut steps) = (Vec::new(), Vec::new());
        while size % 2 == 0 {
            sizes.push(int(2));
            steps.push(int(step));
            size /= 2;
            step = step
                .checked_mul(2)
                .ok_or(LayoutError::Overflow { op: "decay" })?;
        }
        sizes.push(int(size));
        steps.push(int(step));
        Ok((IntTuple::Tuple(sizes), IntTuple::Tuple(steps)))
    }
    let (shape, stride) = walk(l.shape(), l.stride())?;
    Layout::new(shape, stride)
}

// The leaves in the nesting of `like`.
fn renest(like: &IntTuple, leaves: &mut impl Iterator<Item = IntTuple>) -> IntTuple {
    match like {
        IntTuple::Tuple(modes) => {
            IntTuple::Tuple(modes.iter().map(|m| renest(m, leaves)).collect())
        }
        leaf => leaves.next().unwrap_or_else(|| leaf.clone()),
    }
}
