//! Layouts made after others, and how far two agree.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, Truth};
use crate::tuple::{IntTuple, int};

impl Layout {
    /// The compact layout of the same shape whose modes have the order of this one's strides; stride-0 modes stay so.
    ///
    /// Source: CuTe's `make_layout_like`. Modes of equal stride get equal strides: the result of a layout that is not
    /// injective is not injective either. Where strides are dynamic, the order is computed when the program runs, and
    /// so are the strides that depend on it; CuTe takes such modes by their places.
    pub fn make_layout_like(&self) -> Result<Layout> {
        let is_known = |stride: &Leaf| stride.is_identified() || stride.is_static();
        if !self.stride().leaves().into_iter().all(is_known) {
            return Layout::new(self.shape().clone(), self.compared_stride()?);
        }
        let filtered = self.filter_zeros()?;
        Layout::new(
            self.shape().clone(),
            Layout::ordered_stride(filtered.shape(), self.stride())?,
        )
    }

    // The compact strides in the order of the layout's own, by comparisons of each two of them.
    fn compared_stride(&self) -> Result<IntTuple> {
        let [zero, one] = [0, 1].map(Leaf::Static);
        let leaves = |t: &IntTuple| t.leaves().into_iter().cloned().collect::<Vec<_>>();
        let (extents, strides) = (leaves(self.shape()), leaves(self.stride()));
        let mut compact = Vec::with_capacity(strides.len());
        for (at, (extent, stride)) in extents.iter().zip(&strides).enumerate() {
            if extent.is(1) || stride.is(0) {
                compact.push(zero.clone());
                continue;
            }
            let mut start = one.clone();
            for (other, (extent, before)) in extents.iter().zip(&strides).enumerate() {
                if other != at && !extent.is(1) && !before.is(0) {
                    let is_lower = before.less(stride)?.and(&before.equals(&zero)?.negate());
                    start = start.mul(&Leaf::select(&is_lower, extent, &one)?)?;
                }
            }
            compact.push(Leaf::select(&stride.equals(&zero)?, &zero, &start)?);
        }
        Ok(fill(self.stride(), &mut compact.into_iter()))
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
        let order = ranks(rest.stride())?;
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

// The place of each leaf when sorted by stride, ties left to right, strides that are no known integers and no symbols last.
fn ranks(stride: &IntTuple) -> Result<IntTuple> {
    let leaves = stride.leaves();
    let mut place = vec![0i64; leaves.len()];
    if leaves.iter().all(|leaf| leaf.as_symbolic().is_none()) {
        let mut order: Vec<usize> = (0..leaves.len()).collect();
        order.sort_by_key(|&i| leaves[i].as_static().unwrap_or(i64::MAX));
        for (p, i) in order.into_iter().enumerate() {
            place[i] = p as i64;
        }
        return Ok(fill(stride, &mut place.into_iter().map(Leaf::Static)));
    }
    for (at, leaf) in leaves.iter().enumerate() {
        for (other, before) in leaves.iter().enumerate() {
            place[at] += i64::from(other != at && comes_before(before, leaf, other < at)?);
        }
    }
    Ok(fill(stride, &mut place.into_iter().map(Leaf::Static)))
}

// The tuple of that profile with other leaves.
fn fill(profile: &IntTuple, leaves: &mut impl Iterator<Item = Leaf>) -> IntTuple {
    match profile {
        IntTuple::Leaf(_) => leaves.next().map_or_else(|| int(0), IntTuple::Leaf),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| fill(t, leaves)).collect()),
    }
}

// Whether one stride comes before another one, which it is left of or not.
fn comes_before(one: &Leaf, other: &Leaf, is_left: bool) -> Result<bool> {
    let is_symbol = |leaf: &Leaf| leaf.as_static().is_some() || leaf.as_symbolic().is_some();
    if !is_symbol(one) || !is_symbol(other) {
        return Ok(match (is_symbol(one), is_symbol(other)) {
            (true, false) => true,
            (false, true) => false,
            _ => is_left,
        });
    }
    let before = match is_left {
        true => one.at_most(other)?,
        false => one.less(other)?,
    };
    match before {
        Truth::Known(is) => Ok(is),
        Truth::Unknown(_) => Ok(is_left),
        Truth::Unproved(fact) => Err(LayoutError::NeedsFact {
            fact: match is_left {
                true => format!("{fact} or `{other} < {one}`"),
                false => format!("{fact} or `{other} <= {one}`"),
            },
            otherwise: format!(
                "expected strides of which the smaller one is known, found {one} and {other}"
            ),
        }),
    }
}

impl Layout {
    /// The most consecutive offsets, from 0, at which both layouts hold the same logical elements: how far a copy between
    /// them vectorises. At least 1.
    ///
    /// Source: CuTe's `max_common_vector`. Errors: those of [`Layout::right_inverse`].
    pub fn max_common_vector(&self, other: &Layout) -> Result<i64> {
        // Without a common layout nothing vectorises; one element always does.
        match self.common_run(&other.right_inverse()?)? {
            Some(run) => run.size(),
            None => Ok(1),
        }
    }
}
