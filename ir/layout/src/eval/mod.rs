//! Evaluation on leaves of any kind: known integers, `?`, basis elements.
//!
//! The methods on known integers ([`Layout::crd2idx`], [`Layout::at`], [`crate::FlatLayout`]) are the fast ones; these here
//! serve where a leaf is dynamic or a result is a coordinate. On known integers both agree.
//!
//! An *arithmetic tuple* is an integer or a tuple of such, where what is not there counts as zero: `(1,2) + (3) = (4,2)`.
//! A layout with basis strides gives one: `1@1` times 5 is `(0,5)`.

mod arith;
mod coord;
mod divide;

pub use divide::{elem_less, equal, layouts_equal};

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::swizzle::{ComposedLayout, Inner, Swizzle};
use crate::tuple::{IntTuple, int};

impl Layout {
    /// The value at a coordinate in any of its forms: an integer, one value a mode, or one a leaf; `_` counts as 0.
    ///
    /// An integer, or the coordinate (as an arithmetic tuple) that basis strides give; `()` where the layout has no modes.
    /// Beyond the extents the last leaf goes on, as in [`Layout::crd2idx`]. Errors: a profile that does not fit; overflow.
    pub fn eval(&self, coord: &IntTuple) -> Result<IntTuple> {
        eval(coord, self.shape(), self.stride(), self)
    }

    /// The extents of the codomain: the largest coordinate reached, counting strides by magnitude, plus one.
    ///
    /// Source: CuTe's `coshape`; for integer strides one leaf, the cosize.
    pub fn coshape(&self) -> Result<IntTuple> {
        fn magnitude(d: &IntTuple) -> Result<IntTuple> {
            match d {
                IntTuple::Leaf(Leaf::Basis { value, path }) => Ok(IntTuple::Leaf(Leaf::Basis {
                    value: Box::new(value.abs()?),
                    path: path.clone(),
                })),
                IntTuple::Leaf(l) => Ok(IntTuple::Leaf(l.abs()?)),
                IntTuple::Tuple(t) => Ok(IntTuple::Tuple(
                    t.iter().map(magnitude).collect::<Result<_>>()?,
                )),
            }
        }
        fn plus_one(t: &IntTuple) -> Result<IntTuple> {
            match t {
                IntTuple::Leaf(l) => Ok(IntTuple::Leaf(l.add(&Leaf::Static(1))?)),
                IntTuple::Tuple(t) => Ok(IntTuple::Tuple(
                    t.iter().map(plus_one).collect::<Result<_>>()?,
                )),
            }
        }
        let last = self.shape().product()?.sub(&Leaf::Static(1))?;
        let reach = Layout::new(self.shape().clone(), magnitude(self.stride())?)?;
        plus_one(&reach.eval(&IntTuple::Leaf(last))?)
    }

    /// The size of the codomain, on leaves of any kind: the product of [`Layout::coshape`].
    pub fn cosize_leaf(&self) -> Result<Leaf> {
        match self.cosize() {
            Ok(n) => Ok(Leaf::Static(n)),
            Err(LayoutError::Dynamic { .. } | LayoutError::Basis { .. }) => {
                self.coshape()?.product()
            }
            Err(e) => Err(e),
        }
    }
}

fn eval(c: &IntTuple, s: &IntTuple, d: &IntTuple, whole: &Layout) -> Result<IntTuple> {
    const ZERO: Leaf = Leaf::Static(0);
    match (c, s, d) {
        (_, IntTuple::Tuple(s), _) if s.is_empty() => Ok(IntTuple::Tuple(vec![])),
        (IntTuple::Leaf(Leaf::Underscore), _, _) => eval(&int(0), s, d, whole),
        (
            IntTuple::Leaf(c @ (Leaf::Static(_) | Leaf::Dynamic(_))),
            IntTuple::Leaf(_),
            IntTuple::Leaf(d),
        ) => match d {
            Leaf::Basis { value, path } => {
                let value = c.mul(value)?;
                let inner = path.iter().rev().fold(IntTuple::Leaf(value), |inner, &at| {
                    let mut modes = vec![IntTuple::Leaf(ZERO); usize::from(at)];
                    modes.push(inner);
                    IntTuple::Tuple(modes)
                });
                Ok(inner)
            }
            d => Ok(IntTuple::Leaf(c.mul(d)?)),
        },
        (
            IntTuple::Leaf(c @ (Leaf::Static(_) | Leaf::Dynamic(_))),
            IntTuple::Tuple(ss),
            IntTuple::Tuple(ds),
        ) => {
            let mut rest = c.clone();
            let mut sum = IntTuple::Tuple(vec![]);
            for (k, (s, d)) in ss.iter().zip(ds).enumerate() {
                let digit = coord::next_digit(&mut rest, s, k + 1 == ss.len())?;
                sum = sum.add(&eval(&IntTuple::Leaf(digit), s, d, whole)?)?;
            }
            Ok(sum)
        }
        (IntTuple::Tuple(cs), IntTuple::Tuple(ss), IntTuple::Tuple(ds)) if cs.len() == ss.len() => {
            cs.iter()
                .zip(ss)
                .zip(ds)
                .try_fold(IntTuple::Tuple(vec![]), |sum, ((c, s), d)| {
                    sum.add(&eval(c, s, d, whole)?)
                })
        }
        _ => Err(LayoutError::Coord {
            shape: whole.shape().to_string(),
            coord: c.to_string(),
        }),
    }
}

impl Swizzle {
    /// The swizzled offset, on a leaf. Errors: `_` and basis elements; shifts beyond the width.
    pub fn apply_leaf(&self, offset: &Leaf) -> Result<Leaf> {
        if let Leaf::Static(v) = offset {
            return Ok(Leaf::Static(self.apply(*v)));
        }
        let (mask, by) = ((1i64 << self.b()) - 1, self.s().unsigned_abs());
        let moved = if self.s() >= 0 {
            offset.and(mask << (self.m() + by))?.shr(by)?
        } else {
            offset.and(mask << self.m())?.shl(by)?
        };
        offset.xor(&moved)
    }

    /// The bits that are read, and those that are changed by them.
    pub(crate) fn masks(&self) -> (i64, i64) {
        let (mask, by) = (
            ((1i64 << self.b()) - 1) << self.m(),
            self.s().unsigned_abs(),
        );
        if self.s() >= 0 {
            (mask << by, mask)
        } else {
            (mask, mask << by)
        }
    }
}

impl ComposedLayout {
    /// The value at a coordinate: `inner(offset + outer(coord))`. Errors as [`Layout::eval`].
    pub fn eval(&self, coord: &IntTuple) -> Result<IntTuple> {
        let between = self.offset().add(&self.outer().eval(coord)?)?;
        match (self.inner(), &between) {
            (Inner::Swizzle(s), IntTuple::Leaf(l)) => Ok(IntTuple::Leaf(s.apply_leaf(l)?)),
            (Inner::Layout(l), _) => l.eval(&between),
            (Inner::Swizzle(_), IntTuple::Tuple(_)) => Err(LayoutError::Coord {
                shape: self.outer().shape().to_string(),
                coord: coord.to_string(),
            }),
        }
    }
}
