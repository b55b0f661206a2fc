//! The algebra on static integer layouts, on the stack: the same results as the general code, sooner.
//!
//! Each function answers `None` where it does not apply: dynamic or basis leaves, values to enumerate, overflow, errors. The
//! general code then decides, and words the error. So a result here must be exactly the general one, which a test compares.
//!
//! Time is saved where leaves are pairs of `i64` instead of tagged values, no layout is made in between, and results are valid
//! by construction. What stays is the memory of the result itself, two vectors for each tuple in it.

mod complement;
mod composition;
mod divide;
mod inverse;

pub use complement::complement;
pub use composition::composition;
pub use divide::{logical_divide, zipped_divide};
pub use inverse::{left_inverse, right_inverse};

use smallvec::SmallVec;

use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::{IntTuple, MAX_DEPTH, MAX_LEAVES, int};

/// Pairs of extent and stride.
pub(crate) type Flat = SmallVec<[(i64, i64); 8]>;

/// Calls `f` with each leaf, left to right. `None`: a leaf that is no integer, or `f` gave up.
fn each_leaf(
    shape: &IntTuple,
    stride: &IntTuple,
    f: &mut impl FnMut(i64, i64) -> Option<()>,
) -> Option<()> {
    match (shape, stride) {
        (IntTuple::Leaf(Leaf::Static(s)), IntTuple::Leaf(Leaf::Static(d))) => f(*s, *d),
        (IntTuple::Tuple(s), IntTuple::Tuple(d)) => s
            .iter()
            .zip(d)
            .try_for_each(|(s, d)| each_leaf(s, d, f).ok_or(()))
            .ok(),
        _ => None,
    }
}

/// Appends a leaf, joining it to the one before where it goes on; a size-1 leaf before it is dropped.
#[inline]
fn join(out: &mut Flat, s: i64, d: i64) -> Option<()> {
    while matches!(out.last(), Some((1, _))) {
        out.pop();
    }
    if let Some((s0, d0)) = out.last_mut()
        && s0.checked_mul(*d0) == Some(d)
    {
        *s0 = s0.checked_mul(s)?;
        return Some(());
    }
    out.push((s, d));
    Some(())
}

/// Coalesced leaves, with the same function beyond the domain too.
fn extending(shape: &IntTuple, stride: &IntTuple) -> Option<Flat> {
    let mut out = Flat::new();
    each_leaf(shape, stride, &mut |s, d| join(&mut out, s, d))?;
    Some(out)
}

/// Drops a last leaf of size 1 that is not the only one.
fn trim(out: &mut Flat) {
    if out.len() > 1 && matches!(out.last(), Some((1, _))) {
        out.pop();
    }
}

/// See [`Layout::coalesce`], for a tuple.
pub fn coalesce(l: &Layout) -> Option<Layout> {
    let mut out = extending(l.shape(), l.stride())?;
    trim(&mut out);
    from_flat(&out)
}

/// Sizes and reaches of a layout in the making, so that the whole fits 64 bits.
struct Bounds {
    size: i64,
    span: i64,
    leaves: usize,
}

impl Bounds {
    const NONE: Bounds = Bounds {
        size: 1,
        span: 1,
        leaves: 0,
    };

    #[inline]
    fn add(&mut self, s: i64, d: i64) -> Option<()> {
        self.leaves += 1;
        if s < 1 || self.leaves > MAX_LEAVES {
            return None;
        }
        self.size = self.size.checked_mul(s)?;
        let reach = d.checked_abs()?.checked_mul(s - 1)?;
        self.span = self.span.checked_add(reach)?;
        Some(())
    }
}

/// `ceil(a / b)` for `a >= 0`, `b >= 1`.
#[inline]
fn ceil_div(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0)
}

/// The tuples of some leaves: one stands alone.
fn tuples(leaves: &[(i64, i64)]) -> (IntTuple, IntTuple) {
    match leaves {
        [(s, d)] => (int(*s), int(*d)),
        leaves => (
            IntTuple::Tuple(leaves.iter().map(|m| int(m.0)).collect()),
            IntTuple::Tuple(leaves.iter().map(|m| int(m.1)).collect()),
        ),
    }
}

/// The nesting down to which results are made here: operations nest at most a few levels deeper than their operands.
const SHALLOW: usize = MAX_DEPTH - 8;

/// A layout of depth at most 1; nothing gives `1:0`.
fn from_flat(leaves: &[(i64, i64)]) -> Option<Layout> {
    let mut bounds = Bounds::NONE;
    for &(s, d) in leaves {
        bounds.add(s, d)?;
    }
    let leaves = if leaves.is_empty() { &[(1, 0)] } else { leaves };
    let (shape, stride) = tuples(leaves);
    Some(Layout::assembled(shape, stride))
}
