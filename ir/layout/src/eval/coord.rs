//! Coordinates and indices of a shape, on leaves of any kind.

use crate::error::{LayoutError, Result};
use crate::leaf::{Leaf, Truth};
use crate::tuple::IntTuple;

/// Takes the digit of the next mode off a 1-D index; the last mode takes what is left.
pub(super) fn next_digit(rest: &mut Leaf, mode: &IntTuple, last: bool) -> Result<Leaf> {
    if last {
        return Ok(rest.clone());
    }
    let size = mode.product()?;
    let digit = rest.rem(&size)?;
    *rest = rest.div(&size)?;
    Ok(digit)
}

impl IntTuple {
    fn coord_error(&self, coord: &IntTuple) -> LayoutError {
        LayoutError::Coord {
            shape: self.to_string(),
            coord: coord.to_string(),
        }
    }

    /// Taking `self` as a shape: the colexicographic index of a coordinate, which is an integer, one value a mode, or one a
    /// leaf; `_` counts as 0.
    ///
    /// Beyond the extents the last leaf goes on; an extent that is known to be 1 has no weight, as in CuTe's
    /// `compact_col_major`. Errors: a profile that does not fit; basis elements; overflow.
    pub fn crd2idx(&self, coord: &IntTuple) -> Result<Leaf> {
        fn walk(c: &IntTuple, s: &IntTuple, weight: &Leaf) -> Result<Option<Leaf>> {
            match (c, s) {
                (IntTuple::Leaf(Leaf::Underscore), _) => Ok(Some(Leaf::Static(0))),
                (IntTuple::Leaf(_), IntTuple::Leaf(s)) if s.is(1) => Ok(Some(Leaf::Static(0))),
                (IntTuple::Leaf(c), IntTuple::Leaf(_)) => Ok(Some(c.mul(weight)?)),
                (IntTuple::Leaf(c), IntTuple::Tuple(modes)) => {
                    let (mut rest, mut weight) = (c.clone(), weight.clone());
                    let mut sum = Leaf::Static(0);
                    for (k, s) in modes.iter().enumerate() {
                        let size = s.product()?;
                        let digit = if k + 1 == modes.len() {
                            rest.clone()
                        } else {
                            let digit = rest.rem(&size)?;
                            rest = rest.div(&size)?;
                            digit
                        };
                        let Some(part) = walk(&IntTuple::Leaf(digit), s, &weight)? else {
                            return Ok(None);
                        };
                        sum = plus(&sum, &part)?;
                        weight = weight.mul(&size)?;
                    }
                    Ok(Some(sum))
                }
                (IntTuple::Tuple(cs), IntTuple::Tuple(ss)) if cs.len() == ss.len() => {
                    let mut weight = weight.clone();
                    let mut sum = Leaf::Static(0);
                    for (c, s) in cs.iter().zip(ss) {
                        let Some(part) = walk(c, s, &weight)? else {
                            return Ok(None);
                        };
                        sum = plus(&sum, &part)?;
                        weight = weight.mul(&s.product()?)?;
                    }
                    Ok(Some(sum))
                }
                _ => Ok(None),
            }
        }
        let index = walk(coord, self, &Leaf::Static(1))?.ok_or_else(|| self.coord_error(coord))?;
        match coord {
            // The digits of an index put together again: the index itself, where the types agree.
            IntTuple::Leaf(c @ Leaf::Dynamic(_)) if *c == index => Ok(c.clone()),
            _ => Ok(index),
        }
    }

    /// Taking `self` as a shape: the natural coordinate of an index, which is an integer, one value a mode, or one a leaf.
    ///
    /// As [`IntTuple::idx2crd`], on leaves of any kind. Errors: a profile that does not fit; `_` and basis elements; a
    /// division by a known zero.
    pub fn idx2crd_leaf(&self, index: &IntTuple) -> Result<IntTuple> {
        match (index, self) {
            (IntTuple::Leaf(Leaf::Static(_) | Leaf::Dynamic(_)), IntTuple::Leaf(_)) => {
                Ok(index.clone())
            }
            (IntTuple::Leaf(i @ (Leaf::Static(_) | Leaf::Dynamic(_))), IntTuple::Tuple(modes)) => {
                let mut rest = i.clone();
                let mut out = Vec::with_capacity(modes.len());
                for (k, s) in modes.iter().enumerate() {
                    let digit = next_digit(&mut rest, s, k + 1 == modes.len())?;
                    out.push(s.idx2crd_leaf(&IntTuple::Leaf(digit))?);
                }
                Ok(IntTuple::Tuple(out))
            }
            (IntTuple::Tuple(is), IntTuple::Tuple(ss)) if is.len() == ss.len() => {
                Ok(IntTuple::Tuple(
                    ss.iter()
                        .zip(is)
                        .map(|(s, i)| s.idx2crd_leaf(i))
                        .collect::<Result<_>>()?,
                ))
            }
            _ => Err(self.coord_error(index)),
        }
    }

    /// Taking `self` as a shape: the coordinate of `dst`, another shape of the same size, that has the same index; by mode
    /// where coordinate and both shapes are tuples, which then agree in rank.
    ///
    /// Source: CuTe's `crd2crd`. Errors: a coordinate that does not fit `self`; different ranks; shapes whose known sizes
    /// differ.
    pub fn crd2crd(&self, coord: &IntTuple, dst: &IntTuple) -> Result<IntTuple> {
        if let (IntTuple::Tuple(c), IntTuple::Tuple(s), IntTuple::Tuple(d)) = (coord, self, dst) {
            if c.len() != s.len() || c.len() != d.len() {
                return Err(self.coord_error(coord));
            }
            let modes = c.iter().zip(s).zip(d).map(|((c, s), d)| s.crd2crd(c, d));
            return Ok(IntTuple::Tuple(modes.collect::<Result<_>>()?));
        }
        if self.product()?.equals(&dst.product()?)?.is_false() {
            return Err(LayoutError::Divisibility {
                op: "crd2crd",
                expected: format!("a shape of as many elements as {self}"),
                found: dst.to_string(),
                cure: "give two shapes of one size".to_string(),
            });
        }
        dst.idx2crd_leaf(&IntTuple::Leaf(self.crd2idx(coord)?))
    }

    /// Taking `self` as a shape: the next coordinate in colexicographic order, given one value a leaf.
    ///
    /// The last leaf is not wrapped, so that the coordinate behind the last one is out of range: for a shape of at least one
    /// leaf `idx2crd(crd2idx(c) + 1)`. Errors: a coordinate of another profile; `_` and basis elements; overflow.
    pub fn increment(&self, coord: &IntTuple) -> Result<IntTuple> {
        if !self.congruent(coord) || coord.has_underscore() || coord.has_basis() {
            return Err(self.coord_error(coord));
        }
        let (extents, values) = (self.leaves(), coord.leaves());
        let mut carry = Truth::Known(true);
        let (zero, one) = (Leaf::Static(0), Leaf::Static(1));
        let mut next = Vec::with_capacity(values.len());
        for (k, (&c, &s)) in values.iter().zip(&extents).enumerate() {
            let sum = match &carry {
                Truth::Known(true) => c.add(&one)?,
                Truth::Known(false) => c.clone(),
                unknown => c.add(&Leaf::select(unknown, &one, &zero)?)?,
            };
            if k + 1 == values.len() {
                next.push(sum);
            } else if s.is(1) {
                next.push(zero.clone());
            } else {
                let stays = sum.less(s)?;
                next.push(Leaf::select(&stays, &sum, &zero)?);
                carry = stays.negate();
            }
        }
        fn fill(profile: &IntTuple, leaves: &mut impl Iterator<Item = Leaf>) -> IntTuple {
            match profile {
                IntTuple::Leaf(_) => IntTuple::Leaf(leaves.next().unwrap_or(Leaf::Static(0))),
                IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| fill(t, leaves)).collect()),
            }
        }
        Ok(fill(coord, &mut next.into_iter()))
    }
}

fn plus(a: &Leaf, b: &Leaf) -> Result<Leaf> {
    match (a, b) {
        (Leaf::Static(0), _) => Ok(b.clone()),
        (_, Leaf::Static(0)) => Ok(a.clone()),
        _ => a.add(b),
    }
}
