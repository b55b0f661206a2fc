//! Complement: what fills the gaps of a layout.

use super::coalesce::coalesce_leaves;
use super::{Leaves, fast, from_leaves, leaves};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Dyn, Leaf};
use crate::tuple::{IntTuple, int};

const OP: &str = "complement";

impl Layout {
    /// The ordered layout whose sums with this one's offsets cover `0..cotarget` (rounded up), each offset once.
    ///
    /// Stride-0 modes are filtered first. A complement of size 1 keeps the running cosize as its stride (`1:3`), as CuTe
    /// IR prints it. Errors: offsets that coincide or strides that do not divide in order, so that no layout fills the
    /// gaps; negative strides; dynamic strides at rank above 1, dynamic extents.
    pub fn complement(&self, cotarget: &IntTuple) -> Result<Layout> {
        fast::complement(self, cotarget).map_or_else(|| self.complement_general(cotarget), Ok)
    }

    // Without the short cut.
    pub(super) fn complement_general(&self, cotarget: &IntTuple) -> Result<Layout> {
        if self.stride().has_basis() {
            return Err(self.basis(OP));
        }
        let target = cotarget.product()?;
        let filtered: Leaves = leaves(self)
            .into_iter()
            .map(|(s, d)| {
                if d.is(0) {
                    (Leaf::Static(1), d)
                } else {
                    (s, d)
                }
            })
            .collect();
        let mut modes = coalesce_leaves(filtered)?;
        modes.retain(|(s, _)| !s.is(1));
        if modes.is_empty() {
            let stride = Leaf::Static(1);
            return Layout::new(IntTuple::Leaf(target), IntTuple::Leaf(stride));
        }
        if let [(Leaf::Static(s), Leaf::Dynamic(d))] = modes[..] {
            let reach = Leaf::Dynamic(d).mul(&Leaf::Static(s))?;
            let rest = Leaf::Dynamic(Dyn {
                width: d.width,
                div: 1,
            });
            let out = [(Leaf::Dynamic(d), Leaf::Static(1)), (rest, reach)];
            return from_leaves(out.into_iter().collect());
        }
        let mut flat = Vec::with_capacity(modes.len());
        for (s, d) in &modes {
            match (s.as_static(), d.as_static()) {
                (Some(s), Some(d)) if d > 0 => flat.push((d, s)),
                (Some(_), Some(_)) => {
                    let expected = "positive strides in `complement`";
                    return Err(LayoutError::Stride {
                        expected,
                        found: self.to_string(),
                    });
                }
                _ => return Err(self.dynamic(OP)),
            }
        }
        flat.sort_unstable();
        let mut out = Leaves::new();
        let mut reach = 1i64;
        for (d, s) in flat {
            if d % reach != 0 {
                return Err(LayoutError::NotInjective {
                    op: OP,
                    found: self.to_string(),
                    cure: "choose strides that are multiples of the extent times the stride below",
                });
            }
            out.push((Leaf::Static(d / reach), Leaf::Static(reach)));
            reach = d.checked_mul(s).ok_or(LayoutError::Overflow { op: OP })?;
        }
        out.push((target.ceil_div(reach)?, Leaf::Static(reach)));
        from_leaves(coalesce_leaves(out)?)
    }

    /// The complement in the layout's own cosize.
    pub fn complement_cosize(&self) -> Result<Layout> {
        self.complement(&int(self.filter()?.cosize()?))
    }
}
