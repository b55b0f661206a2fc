//! Slice and dice.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::{IntTuple, int};

impl Layout {
    /// The modes at `_` of `coord`, and the offset of the rest: `((1,1),(_,_))` of `((2,4),(3,5)):((3,6),(1,24))` is
    /// `(3,5):(1,24)` at 9.
    ///
    /// A coordinate of `_` alone keeps the layout; one without `_` leaves `():()`. Errors: a profile that does not fit;
    /// dynamic coordinates, for which see [`Layout::slice_modes`].
    pub fn slice(&self, coord: &IntTuple) -> Result<(Layout, i64)> {
        fn zeroed(c: &IntTuple) -> IntTuple {
            match c {
                IntTuple::Leaf(Leaf::Underscore) => int(0),
                IntTuple::Leaf(_) => c.clone(),
                IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(zeroed).collect()),
            }
        }
        Ok((self.slice_modes(coord)?, self.crd2idx(&zeroed(coord))?))
    }

    /// The modes at `_` of `coord`; the coordinate may be dynamic elsewhere.
    pub fn slice_modes(&self, coord: &IntTuple) -> Result<Layout> {
        self.keep(coord, true)
    }

    /// The modes where `coord` is not `_`: the other half of [`Layout::slice_modes`].
    pub fn dice(&self, coord: &IntTuple) -> Result<Layout> {
        self.keep(coord, false)
    }

    fn keep(&self, coord: &IntTuple, underscore: bool) -> Result<Layout> {
        fn walk(l: &Layout, c: &IntTuple, underscore: bool, out: &mut Vec<Layout>) -> Result<()> {
            match c {
                IntTuple::Leaf(leaf) => {
                    if (*leaf == Leaf::Underscore) == underscore {
                        out.push(l.clone());
                    }
                    Ok(())
                }
                IntTuple::Tuple(cs) if l.shape().is_tuple() && cs.len() == l.rank() => l
                    .modes()
                    .iter()
                    .zip(cs)
                    .try_for_each(|(l, c)| walk(l, c, underscore, out)),
                _ => Err(LayoutError::Coord {
                    shape: l.shape().to_string(),
                    coord: c.to_string(),
                }),
            }
        }
        let mut out = Vec::new();
        walk(self, coord, underscore, &mut out)?;
        match (coord, out.pop()) {
            (IntTuple::Leaf(_), Some(l)) => Ok(l),
            (_, last) => {
                out.extend(last);
                Layout::from_modes(&out)
            }
        }
    }
}
