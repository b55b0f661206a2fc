//! Division of shapes and comparison of tuples, on leaves of any kind.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, Truth, require};
use crate::tile::Tile;
use crate::tuple::IntTuple;

fn uneven(a: impl ToString, b: impl ToString) -> LayoutError {
    LayoutError::Divisibility {
        op: "shape_div",
        expected: "sizes one of which divides the other".to_string(),
        found: format!("{} by {}", a.to_string(), b.to_string()),
        cure: "choose sizes that divide one another".to_string(),
    }
}

fn shape_div_leaf(a: &Leaf, b: &Leaf) -> Result<Leaf> {
    match (a, b) {
        (_, Leaf::Static(0)) => Err(LayoutError::DivisionByZero {
            op: "shape_div",
            found: a.to_string(),
        }),
        (Leaf::Static(x), Leaf::Static(y)) => {
            if x.checked_rem(*y) == Some(0) {
                a.div(b)
            } else if y.checked_rem(*x) == Some(0) {
                Ok(Leaf::Static(x.signum() * y.signum()))
            } else {
                Err(uneven(a, b))
            }
        }
        _ => {
            // Where one divides the other, rounding up gives 1 for the smaller by the larger.
            let quotient = a.ceil_div(b)?;
            if !a.is(0) {
                let fits = a.divisible_by(b)?.or(&b.divisible_by(a)?);
                require(&fits, || uneven(a, b))?;
            }
            Ok(quotient)
        }
    }
}

impl IntTuple {
    /// `self / other` on shapes, exact: by mode where both are tuples, by the product where only `other` is one, and from
    /// the fastest leaf on where only `self` is: `(4,5,6)` by 40 is `(1,1,3)`.
    ///
    /// On leaves one must divide the other; the smaller by the larger is 1 (with its sign). So a divisor that is larger than
    /// the whole leaves 1 everywhere: `(4,6)` by 96 is `(1,1)`, as in CuTe IR. Source: CuTe's `shape_div`.
    /// Errors: leaves that do not; a known zero as divisor; different ranks. A condition on `?` is one of
    /// [`crate::record`], a condition on symbols that is not proved an error.
    pub fn shape_div(&self, other: &IntTuple) -> Result<IntTuple> {
        match (self, other) {
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() == b.len() => Ok(IntTuple::Tuple(
                a.iter()
                    .zip(b)
                    .map(|(a, b)| a.shape_div(b))
                    .collect::<Result<_>>()?,
            )),
            (IntTuple::Tuple(a), IntTuple::Tuple(_)) => Err(LayoutError::Rank {
                op: "shape_div",
                expected: format!("a divisor of {} modes, or an integer", a.len()),
                found: other.to_string(),
            }),
            (IntTuple::Tuple(a), IntTuple::Leaf(b)) => {
                let mut rest = b.clone();
                let mut out = Vec::with_capacity(a.len());
                for (k, m) in a.iter().enumerate() {
                    out.push(m.shape_div(&IntTuple::Leaf(rest.clone()))?);
                    if k + 1 < a.len() {
                        rest = shape_div_leaf(&rest, &m.product()?)?;
                    }
                }
                Ok(IntTuple::Tuple(out))
            }
            (IntTuple::Leaf(a), b) => Ok(IntTuple::Leaf(shape_div_leaf(a, &b.product()?)?)),
        }
    }

    /// `ceil(self / other)` on shapes: by mode where both are tuples (modes beyond `other` stay), by the product where only
    /// `other` is one, and from the fastest leaf on where only `self` is: `(4,8)` by 2 is `(2,8)`.
    ///
    /// Division by an integer is CuTe's rule: each leaf and what is left of the divisor are rounded up on their own. Where sizes
    /// do not divide, that can be too few blocks: `(2,2)` by 3 is `(1,1)`, and one block of 3 does not cover 4 elements;
    /// `(5,6)` by 6 is `(1,3)`, 18 of 30. Divide the product, or by mode, for a number that covers.
    /// Source: CuTe's `ceil_div`. Errors: more modes in `other`; a known divisor below 1.
    pub fn ceil_div(&self, other: &IntTuple) -> Result<IntTuple> {
        match (self, other) {
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => by_mode(a, b, IntTuple::ceil_div, other),
            (IntTuple::Tuple(a), IntTuple::Leaf(b)) => {
                let mut rest = b.clone();
                let mut out = Vec::with_capacity(a.len());
                for (k, m) in a.iter().enumerate() {
                    out.push(m.ceil_div(&IntTuple::Leaf(rest.clone()))?);
                    if k + 1 < a.len() {
                        rest = rest.ceil_div(&m.product()?)?;
                    }
                }
                Ok(IntTuple::Tuple(out))
            }
            (IntTuple::Leaf(a), b) => Ok(IntTuple::Leaf(a.ceil_div(&b.product()?)?)),
        }
    }

    /// The number of tiles that cover a shape: by mode where both are tuples (modes beyond the tile stay), the product of the
    /// tile's shapes where only the tile is one, and the shape of the complement where it is a layout.
    ///
    /// Source: CuTe's `ceil_div(shape, tile)`. Errors: more modes in the tile; `_`; those of [`Layout::complement`].
    pub fn ceil_div_tile(&self, tile: &Tile) -> Result<IntTuple> {
        const OP: &str = "ceil_div";
        let no_shape = || LayoutError::Basis {
            op: OP,
            found: tile.to_string(),
        };
        match (self, tile) {
            (IntTuple::Tuple(a), Tile::Modes(b)) => by_mode(a, b, IntTuple::ceil_div_tile, tile),
            (IntTuple::Leaf(_), Tile::Modes(_)) => {
                let size = tile.shape().ok_or_else(no_shape)?.product()?;
                self.ceil_div(&IntTuple::Leaf(size))
            }
            (_, Tile::Layout(l)) => Layout::rest_shape(l, &self.product()?),
            (_, Tile::Underscore) => Err(no_shape()),
        }
    }
}

fn by_mode<B>(
    a: &[IntTuple],
    b: &[B],
    f: fn(&IntTuple, &B) -> Result<IntTuple>,
    whole: &impl ToString,
) -> Result<IntTuple> {
    if b.len() > a.len() {
        return Err(LayoutError::Rank {
            op: "ceil_div",
            expected: format!("a divisor of at most {} modes", a.len()),
            found: whole.to_string(),
        });
    }
    let modes = a
        .iter()
        .enumerate()
        .map(|(i, a)| b.get(i).map_or_else(|| Ok(a.clone()), |b| f(a, b)));
    Ok(IntTuple::Tuple(modes.collect::<Result<_>>()?))
}

/// Tells whether every leaf of `a` is smaller than that of `b`. Errors: different profiles; `_` and basis elements.
pub fn elem_less(a: &IntTuple, b: &IntTuple) -> Result<Truth> {
    if !a.congruent(b) {
        return Err(LayoutError::NotCongruent {
            shape: a.to_string(),
            stride: b.to_string(),
        });
    }
    let mut pairs = a.leaves().into_iter().zip(b.leaves());
    pairs.try_fold(Truth::Known(true), |all, (a, b)| Ok(all.and(&a.less(b)?)))
}

/// Tells whether both are the same tuple: one profile and equal leaves. `_` equals `_`, and a basis element one of its path
/// and an equal value.
pub fn equal(a: &IntTuple, b: &IntTuple) -> Result<Truth> {
    fn leaf(a: &Leaf, b: &Leaf) -> Result<Truth> {
        match (a, b) {
            (
                Leaf::Basis { value, path },
                Leaf::Basis {
                    value: other,
                    path: along,
                },
            ) if path == along => leaf(value, other),
            (Leaf::Underscore, Leaf::Underscore) => Ok(Truth::Known(true)),
            (Leaf::Static(_) | Leaf::Dynamic(_), Leaf::Static(_) | Leaf::Dynamic(_)) => a.equals(b),
            _ => Ok(Truth::Known(false)),
        }
    }
    if !a.congruent(b) {
        return Ok(Truth::Known(false));
    }
    let mut pairs = a.leaves().into_iter().zip(b.leaves());
    pairs.try_fold(Truth::Known(true), |all, (a, b)| Ok(all.and(&leaf(a, b)?)))
}

/// Tells whether both have equal shapes and equal strides. (Equal functions may differ in both.)
pub fn layouts_equal(a: &Layout, b: &Layout) -> Result<Truth> {
    Ok(equal(a.shape(), b.shape())?.and(&equal(a.stride(), b.stride())?))
}
