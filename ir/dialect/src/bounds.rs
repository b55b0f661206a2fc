//! The parts of an atom's vectors that lie within the bounds of a tile: what `cute.copy_tile` means on its types.

use crate::algorithm::{AtomSide, atom_side};
use cute_layout::{IntTuple, Layout, Leaf};

/// The way in which bounds cut the vectors of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A vector is there as a whole or not at all: its first element says which.
    Nowhere,
    /// A vector may end before its last element, along the leaf of that number of its coordinates; if its first element is not there, none is.
    Along(usize),
    /// Elements are there or not one by one.
    Anywhere,
}

/// The leaves of extents above 1 of a layout, with their strides.
fn long_leaves(layout: &Layout) -> impl Iterator<Item = (&Leaf, &Leaf)> {
    let leaves = layout.shape().leaves().into_iter();
    leaves
        .zip(layout.stride().leaves())
        .filter(|(extent, _)| !extent.is(1))
}

/// The number of the leaf at a path.
fn leaf_at(tuple: &IntTuple, path: &[u16]) -> Option<usize> {
    let Some((first, rest)) = path.split_first() else {
        return (!tuple.is_tuple()).then_some(0);
    };
    let first = usize::from(*first);
    let before = tuple.modes().get(..first)?;
    let before: usize = before.iter().map(|mode| mode.leaves().len()).sum();
    Some(before + leaf_at(tuple.get(first)?, rest)?)
}

fn is_multiple(leaf: &Leaf, of: i64) -> bool {
    match leaf {
        Leaf::Static(n) => n % of == 0,
        Leaf::Dynamic(d) => d.div % of == 0,
        _ => false,
    }
}

/// The way in which a shape cuts the vectors of a thread's part of a tile. `memory` is the part in memory, as an atom of `count` values
/// has it; `start` and `coords` are the coordinates of the same elements, which are there from 0 on and below `shape`.
///
/// Errors: extents that are unknown, and a shape that is not congruent to the coordinates.
pub fn cut(
    memory: &AtomSide,
    (start, coords): (&IntTuple, &Layout),
    shape: &IntTuple,
    count: i64,
) -> Result<Cut, String> {
    if count == 1 {
        return Ok(Cut::Nowhere);
    }
    let side = atom_side("the coordinates of a tile", coords, count)?;
    let in_order = (memory.values.flat()).is_some_and(|flat| flat.is_identity());
    let values = side.values.coalesce().map_err(|e| e.to_string())?;
    let mut modes = long_leaves(&values);
    let (Some((_, Leaf::Basis { value, path })), None, true) =
        (modes.next(), modes.next(), in_order)
    else {
        return Ok(Cut::Anywhere);
    };
    if !value.is(1) {
        return Ok(Cut::Anywhere);
    }
    let Some(leaf) = leaf_at(start, path) else {
        return Err(format!(
            "expected coordinates of the modes of {start}, found {coords}"
        ));
    };
    let leaves = (start.leaves(), shape.leaves());
    let (Some(first), Some(extent)) = (leaves.0.get(leaf), leaves.1.get(leaf)) else {
        return Err(format!(
            "expected a shape of the modes of the coordinates {start}, found {shape}"
        ));
    };
    // A vector that begins at a multiple of its length lies on one side of 0.
    let steps = side.rest.iter().flat_map(long_leaves);
    let begins = steps
        .filter_map(|(_, stride)| match stride {
            Leaf::Basis { value, path: along } if along == path => Some(&**value),
            _ => None,
        })
        .chain([*first])
        .all(|leaf| is_multiple(leaf, count));
    Ok(match (begins, is_multiple(extent, count)) {
        (false, _) => Cut::Anywhere,
        (true, false) => Cut::Along(leaf),
        (true, true) => Cut::Nowhere,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_layout::Kind;

    /// The cut of vectors of 4 elements whose coordinates are these.
    fn of(start: &str, coords: &str, shape: &str) -> Cut {
        let coords: Layout = coords.parse().unwrap();
        let memory = atom_side("", &"((4,1),2):((1,0),64)".parse().unwrap(), 4).unwrap();
        let tuple = |text, kind| IntTuple::parse(text, kind).unwrap();
        let (start, shape) = (tuple(start, Kind::Coord), tuple(shape, Kind::Shape));
        cut(&memory, (&start, &coords), &shape, 4).unwrap()
    }

    #[test]
    fn vectors_are_cut_along_the_mode_that_they_lie_along() {
        let rows = "((4,1),2):((1@1,0),8@0)";
        assert_eq!(of("(?,?{div=4})", rows, "(?,?)"), Cut::Along(1));
        assert_eq!(of("(?,?{div=4})", rows, "(?,?{div=8})"), Cut::Nowhere);
        assert_eq!(of("(?,?{div=4})", rows, "(?,102)"), Cut::Along(1));
        assert_eq!(of("(?,?{div=2})", rows, "(?,104)"), Cut::Anywhere);
        assert_eq!(of("(?,-1)", rows, "(?,104)"), Cut::Anywhere);
        assert_eq!(
            of("((?,?{div=4}),?)", "((4,1),2):((1@1@0,0),8@1)", "((?,?),?)"),
            Cut::Along(1)
        );
    }

    #[test]
    fn vectors_that_begin_within_others_are_cut_anywhere() {
        assert_eq!(
            of("(?,?{div=4})", "((4,1),2):((1@1,0),6@1)", "(?,?{div=4})"),
            Cut::Anywhere
        );
    }

    #[test]
    fn vectors_across_modes_are_cut_anywhere() {
        assert_eq!(
            of("(?,?)", "(((2,2),1),2):(((1@0,1@1),0),8@0)", "(4,4)"),
            Cut::Anywhere
        );
        assert_eq!(
            of("(?,?)", "((4,1),2):((2@0,0),8@0)", "(4,4)"),
            Cut::Anywhere
        );
    }
}
