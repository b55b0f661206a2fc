//! Inverses of layouts that give coordinates.
//!
//! The modes of one basis path are an integer layout of that coordinate, and no mode belongs to two. So each coordinate has
//! an inverse of its own, and the inverse of the whole has the profile of the coordinates: `(4,5):(1@1,1@0)` has
//! `(5,4):(4,1)`.

use smallvec::SmallVec;

use super::coalesce::coalesce_leaves;
use super::{Leaves, from_leaves, leaves};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::{IntTuple, int};

/// A mode of one coordinate: stride (`None` where it is dynamic), extent, and the 1-D index at which it steps.
struct Mode {
    stride: Option<i64>,
    extent: i64,
    step: i64,
}

impl Layout {
    /// [`Layout::right_inverse`] of basis strides: from coordinates to 1-D indices.
    pub(super) fn right_inverse_basis(&self) -> Result<Layout> {
        const OP: &str = "right_inverse";
        self.by_coordinate(OP, &|modes| {
            let mut out = Leaves::new();
            let mut next = 1i64;
            for m in modes {
                if m.stride == Some(next) {
                    out.push((Leaf::Static(m.extent), Leaf::Static(m.step)));
                    next = m
                        .extent
                        .checked_mul(next)
                        .ok_or(LayoutError::Overflow { op: OP })?;
                }
            }
            Ok(out)
        })
    }

    /// [`Layout::left_inverse`] of basis strides: from coordinates to 1-D indices. Errors: values that are dynamic or
    /// negative; coordinates reached twice, or values that do not divide in order.
    pub(super) fn left_inverse_basis(&self) -> Result<Layout> {
        const OP: &str = "left_inverse";
        self.by_coordinate(OP, &|modes| {
            let unfit = || LayoutError::NotInjective {
                op: OP,
                found: self.to_string(),
                cure: "choose strides that are multiples of one another, with no coordinate reached twice",
            };
            let mut out = Leaves::new();
            let (mut covered, mut reach, mut step) = (1i64, 1i64, 0i64);
            for m in modes {
                let stride = m.stride.ok_or_else(|| self.dynamic(OP))?;
                if stride < 0 {
                    let expected = "non-negative strides in `left_inverse`";
                    return Err(LayoutError::Stride {
                        expected,
                        found: self.to_string(),
                    });
                }
                if stride < reach || stride % covered != 0 {
                    return Err(unfit());
                }
                out.push((Leaf::Static(stride / covered), Leaf::Static(step)));
                reach = stride
                    .checked_mul(m.extent)
                    .ok_or(LayoutError::Overflow { op: OP })?;
                (covered, step) = (stride, m.step);
            }
            if let Some(last) = modes.last() {
                out.push((Leaf::Static(last.extent), Leaf::Static(step)));
            }
            Ok(out)
        })
    }

    /// The layout of the profile of the coordinates whose modes `f` makes of those of each, ascending in stride.
    fn by_coordinate(
        &self,
        op: &'static str,
        f: &dyn Fn(&[Mode]) -> Result<Leaves>,
    ) -> Result<Layout> {
        fn walk(
            profile: &IntTuple,
            path: &mut SmallVec<[u16; 4]>,
            f: &mut dyn FnMut(&[u16]) -> Result<Layout>,
        ) -> Result<Layout> {
            let IntTuple::Tuple(modes) = profile else {
                return f(path);
            };
            let mut out = Vec::with_capacity(modes.len());
            for (i, m) in modes.iter().enumerate() {
                let at = u16::try_from(i).map_err(|_| LayoutError::Overflow { op: "inverse" })?;
                path.push(at);
                out.push(walk(m, path, f)?);
                path.pop();
            }
            Layout::from_modes(&out)
        }
        let mut step = 1i64;
        let mut all: Vec<(SmallVec<[u16; 4]>, Mode)> = Vec::new();
        for (s, d) in coalesce_leaves(leaves(self))? {
            let extent = s.as_static().ok_or_else(|| self.dynamic(op))?;
            if let Leaf::Basis { value, path } = &d
                && extent > 1
                && !value.is(0)
            {
                let stride = value.as_static();
                all.push((
                    path.clone(),
                    Mode {
                        stride,
                        extent,
                        step,
                    },
                ));
            }
            step = step
                .checked_mul(extent)
                .ok_or(LayoutError::Overflow { op })?;
        }
        all.sort_by_key(|(_, m)| m.stride);
        // The coordinates are the same at every index.
        walk(&self.eval(&int(0))?, &mut SmallVec::new(), &mut |path| {
            let (mine, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut all)
                .into_iter()
                .partition(|(p, _)| p[..] == *path);
            all = rest;
            let modes: Vec<Mode> = mine.into_iter().map(|(_, m)| m).collect();
            from_leaves(coalesce_leaves(f(&modes)?)?)
        })
    }
}
