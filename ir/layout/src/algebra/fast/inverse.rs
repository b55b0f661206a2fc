//! Inverses of static layouts.

use smallvec::SmallVec;

use super::{Flat, extending, from_flat, join, trim};
use crate::layout::Layout;

/// Extent, stride, and the 1-D index at which the mode steps.
type Modes = SmallVec<[(i64, i64, i64); 8]>;

fn by_stride(l: &Layout) -> Option<Modes> {
    let mut flat = extending(l.shape(), l.stride())?;
    trim(&mut flat);
    let mut step = 1i64;
    let mut modes = Modes::new();
    for (s, d) in flat {
        modes.push((s, d, step));
        step = step.checked_mul(s)?;
    }
    modes.sort_by_key(|m| m.1);
    Some(modes)
}

/// See [`Layout::right_inverse`].
pub fn right_inverse(l: &Layout) -> Option<Layout> {
    let mut out = Flat::new();
    let mut next = 1i64;
    for (s, d, step) in by_stride(l)? {
        if d == next && s > 1 {
            join(&mut out, s, step)?;
            next = s.checked_mul(d)?;
        }
    }
    from_flat(&out)
}

/// See [`Layout::left_inverse`], where no modes overlap.
pub fn left_inverse(l: &Layout) -> Option<Layout> {
    let mut modes = by_stride(l)?;
    modes.retain(|m| m.1 != 0 && m.0 > 1);
    let mut out = Flat::new();
    let (mut covered, mut reach, mut step) = (1i64, 1i64, 0i64);
    for &(s, d, at) in &modes {
        if d < reach || d % covered != 0 {
            return None;
        }
        reach = s.checked_mul(d)?;
        join(&mut out, d / covered, step)?;
        (covered, step) = (d, at);
    }
    if let Some((s, _, _)) = modes.last() {
        join(&mut out, *s, step)?;
        trim(&mut out);
    }
    from_flat(&out)
}
