//! Complement of static layouts.

use super::{Flat, ceil_div, each_leaf, from_flat, join, trim};
use crate::layout::Layout;
use crate::tuple::IntTuple;

/// See [`Layout::complement`].
pub fn complement(l: &Layout, cotarget: &IntTuple) -> Option<Layout> {
    from_flat(&rest(l.shape(), l.stride(), cotarget.size().ok()?)?)
}

/// The leaves of the complement; never none.
pub(super) fn rest(shape: &IntTuple, stride: &IntTuple, cotarget: i64) -> Option<Flat> {
    if cotarget < 1 {
        return None;
    }
    let mut modes = Flat::new();
    each_leaf(shape, stride, &mut |s, d| {
        join(&mut modes, if d == 0 { 1 } else { s }, d)
    })?;
    modes.retain(|m| m.0 != 1);
    if modes.iter().any(|m| m.1 < 1) {
        return None;
    }
    modes.sort_unstable_by_key(|m| (m.1, m.0));
    let mut out = Flat::new();
    let mut reach = 1i64;
    for (s, d) in modes {
        if d % reach != 0 {
            return None;
        }
        join(&mut out, d / reach, reach)?;
        reach = d.checked_mul(s)?;
    }
    join(&mut out, ceil_div(cotarget, reach), reach)?;
    trim(&mut out);
    Some(out)
}
