//! Layouts made after others, and integer division on shapes.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::{IntTuple, int};

impl Layout {
    /// The compact layout of the same shape whose modes have the order of this one's strides; stride-0 modes stay so.
    ///
    /// Source: CuTe's `make_layout_like`. Modes of equal stride get equal strides: the result of a layout that is not
    /// injective is not injective either.
    pub fn make_layout_like(&self) -> Result<Layout> {
        let filtered = self.filter_zeros()?;
        Layout::new(
            self.shape().clone(),
            Layout::ordered_stride(filtered.shape(), self.stride())?,
        )
    }

    /// The compact register layout of a partitioned tensor: mode 0 column-major (keeping stride-0 leaves), the other
    /// modes behind it in the order of their strides.
    ///
    /// Source: CuTe's `make_fragment_like`. Equal strides are ordered left to right, so that no two elements share a
    /// register beyond those of stride 0 in mode 0. Errors: dynamic extents; overflow.
    pub fn make_fragment_like(&self) -> Result<Layout> {
        const OP: &str = "make_fragment_like";
        if !self.shape().is_static() {
            return Err(self.dynamic(OP));
        }
        if self.rank() < 2 {
            return Layout::col_major(self.shape());
        }
        let first = self.mode(0)?;
        let compact = Layout::col_major(first.filter_zeros()?.shape())?;
        let held = compact.cosize()?;
        let rest = self.take(1, self.rank())?;
        let order = ranks(rest.stride());
        let ordered = Layout::ordered(rest.shape(), &order)?;
        let mut modes = vec![Layout::new(
            first.shape().clone(),
            compact.stride().clone(),
        )?];
        for m in ordered.modes() {
            let stride = scale(m.stride(), held)?;
            modes.push(Layout::new(m.shape().clone(), stride)?);
        }
        Layout::from_modes(&modes)
    }
}

fn scale(t: &IntTuple, by: i64) -> Result<IntTuple> {
    match t {
        IntTuple::Leaf(l) => Ok(IntTuple::Leaf(l.mul(&Leaf::Static(by))?)),
        IntTuple::Tuple(t) => Ok(IntTuple::Tuple(
            t.iter().map(|t| scale(t, by)).collect::<Result<_>>()?,
        )),
    }
}

// The place of each leaf when sorted by stride, ties left to right, strides that are no known integers last.
fn ranks(stride: &IntTuple) -> IntTuple {
    fn fill(t: &IntTuple, it: &mut impl Iterator<Item = i64>) -> IntTuple {
        match t {
            IntTuple::Leaf(_) => int(it.next().unwrap_or(0)),
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| fill(t, it)).collect()),
        }
    }
    let leaves = stride.leaves();
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by_key(|&i| leaves[i].as_static().unwrap_or(i64::MAX));
    let mut place = vec![0i64; leaves.len()];
    for (p, i) in order.into_iter().enumerate() {
        place[i] = p as i64;
    }
    fill(stride, &mut place.into_iter())
}

/// `a / b` on shapes, exact: divides the leaves of `a`, fastest first, by the size of `b`; by mode where `b` is a tuple.
///
/// `shape_div((3,4), 6)` is `(1,2)`. Source: CuTe's `shape_div`. Errors: leaves that neither divide nor are divided, a
/// remainder, different ranks, dynamic leaves.
pub fn shape_div(a: &IntTuple, b: &IntTuple) -> Result<IntTuple> {
    const OP: &str = "shape_div";
    let uneven = || LayoutError::Divisibility {
        op: OP,
        expected: "a shape that divides leaf by leaf".to_string(),
        found: format!("{a} by {b}"),
        cure: "choose sizes that divide one another".to_string(),
    };
    let ranks = || LayoutError::NotCongruent {
        shape: a.to_string(),
        stride: b.to_string(),
    };
    match (a, b) {
        (IntTuple::Tuple(x), IntTuple::Tuple(y)) => {
            if x.len() != y.len() {
                return Err(ranks());
            }
            Ok(IntTuple::Tuple(
                x.iter()
                    .zip(y)
                    .map(|(a, b)| shape_div(a, b))
                    .collect::<Result<_>>()?,
            ))
        }
        (IntTuple::Tuple(_), IntTuple::Leaf(_)) => {
            let mut rest = b.size()?;
            let out = take_factor(a, &mut rest)?.ok_or_else(uneven)?;
            // What is left could not be taken from any leaf.
            if rest > 1 { Err(uneven()) } else { Ok(out) }
        }
        (IntTuple::Leaf(_), IntTuple::Tuple(_)) => shape_div(a, &int(b.size()?)),
        (IntTuple::Leaf(_), IntTuple::Leaf(_)) => {
            let (x, y) = (a.size()?, b.size()?);
            match (x, y) {
                (x, y) if x < 1 || y < 1 => Err(uneven()),
                (x, y) if x % y == 0 => Ok(int(x / y)),
                (x, y) if y % x == 0 => Ok(int(1)),
                _ => Err(uneven()),
            }
        }
    }
}

// Divides the leaves, fastest first, by what is left of `rest`. `None`: neither divides the other.
fn take_factor(a: &IntTuple, rest: &mut i64) -> Result<Option<IntTuple>> {
    let modes = match a {
        IntTuple::Tuple(modes) => modes,
        IntTuple::Leaf(_) => {
            let (x, y) = (a.size()?, *rest);
            let (quotient, left) = match (x, y) {
                (x, y) if x < 1 || y < 1 => return Ok(None),
                (x, y) if x % y == 0 => (x / y, 1),
                (x, y) if y % x == 0 => (1, y / x),
                _ => return Ok(None),
            };
            *rest = left;
            return Ok(Some(int(quotient)));
        }
    };
    let mut out = Vec::with_capacity(modes.len());
    for m in modes {
        match take_factor(m, rest)? {
            Some(q) => out.push(q),
            None => return Ok(None),
        }
    }
    Ok(Some(IntTuple::Tuple(out)))
}

/// `ceil(a / b)` on shapes: by mode where `b` is a tuple (modes beyond it stay), fastest first where it is an integer.
///
/// Source: CuTe's `ceil_div`. By an integer, each leaf is rounded up on its own, which is exact only where sizes divide:
/// `(2,2)` by 3 is `(1,1)`. Errors: more modes in `b` than in `a`; divisors below 1.
pub fn ceil_div(a: &IntTuple, b: &IntTuple) -> Result<IntTuple> {
    const OP: &str = "ceil_div";
    match (a, b) {
        (IntTuple::Tuple(x), IntTuple::Tuple(y)) => {
            if y.len() > x.len() {
                let expected = format!("a divisor of at most {} modes", x.len());
                return Err(LayoutError::Rank {
                    op: OP,
                    expected,
                    found: b.to_string(),
                });
            }
            let out = x
                .iter()
                .enumerate()
                .map(|(i, a)| y.get(i).map_or_else(|| Ok(a.clone()), |b| ceil_div(a, b)));
            Ok(IntTuple::Tuple(out.collect::<Result<_>>()?))
        }
        (IntTuple::Tuple(x), IntTuple::Leaf(_)) => {
            let mut rest = b.size()?;
            let mut out = Vec::with_capacity(x.len());
            for m in x {
                out.push(ceil_div(m, &int(rest))?);
                rest = if rest > 1 {
                    let size = m.size()?.max(1);
                    rest / size + i64::from(rest % size != 0)
                } else {
                    rest
                };
            }
            Ok(IntTuple::Tuple(out))
        }
        (IntTuple::Leaf(l), _) => {
            let d = b.size()?;
            if d < 1 {
                return Err(LayoutError::Shape {
                    found: b.to_string(),
                });
            }
            Ok(IntTuple::Leaf(l.ceil_div(&Leaf::Static(d))?))
        }
    }
}

impl Layout {
    /// The most consecutive offsets, from 0, at which both layouts hold the same logical elements: how far a copy between
    /// them vectorises. At least 1.
    ///
    /// Source: CuTe's `max_common_vector`. Errors: those of [`Layout::right_inverse`].
    pub fn max_common_vector(&self, other: &Layout) -> Result<i64> {
        let inverse = other.right_inverse()?;
        let common = match self.composition(&inverse) {
            Ok(l) => l.coalesce()?,
            // Without a common layout nothing vectorises; one element always does.
            Err(LayoutError::Composition { .. } | LayoutError::CompositionUnproven { .. }) => {
                return Ok(1);
            }
            Err(e) => return Err(e),
        };
        let first = common.mode(0)?;
        match (first.shape().as_static(), first.stride().as_static()) {
            (Some(s), Some(1)) => Ok(s),
            _ => Ok(1),
        }
    }
}
