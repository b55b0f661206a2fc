//! The by-mode tilers.

use std::fmt;

use crate::error::Result;
use crate::layout::Layout;
use crate::tuple::{IntTuple, int};

/// A tiler: what an operation applies to a layout.
///
/// A list of modes works mode by mode; a single layout works on the whole as a function. The two differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Tile {
    /// A layout, applied as a function.
    Layout(Layout),
    /// `_`: the mode is left as it is.
    Underscore,
    /// Mode by mode; the operand may have more modes than the tile.
    Modes(Vec<Tile>),
}

impl Tile {
    /// The by-mode tiler of consecutive elements: `(16,32)` gives `[16:1;32:1]`, keeping nesting.
    pub fn from_shape(shape: &IntTuple) -> Result<Tile> {
        match shape {
            IntTuple::Leaf(_) => Ok(Tile::Layout(Layout::new(shape.clone(), int(1))?)),
            IntTuple::Tuple(t) => Ok(Tile::Modes(
                t.iter().map(Tile::from_shape).collect::<Result<_>>()?,
            )),
        }
    }

    /// Modes at the top; 1 for a layout or `_`.
    pub fn rank(&self) -> usize {
        match self {
            Tile::Modes(m) => m.len(),
            _ => 1,
        }
    }

    /// The modes at the top; a layout or `_` is its own only mode.
    pub fn modes(&self) -> &[Tile] {
        match self {
            Tile::Modes(m) => m,
            _ => std::slice::from_ref(self),
        }
    }

    /// The layouts and `_` in it, left to right.
    pub fn leaves(&self) -> Vec<&Tile> {
        match self {
            Tile::Modes(m) => m.iter().flat_map(Tile::leaves).collect(),
            leaf => vec![leaf],
        }
    }

    /// The same layouts and `_` at depth 1; a single one stays alone.
    pub fn flatten(&self) -> Tile {
        match self {
            Tile::Modes(_) => Tile::Modes(self.leaves().into_iter().cloned().collect()),
            leaf => leaf.clone(),
        }
    }

    /// The shapes of its layouts under its own nesting; `None` where an `_` stands, which has no shape.
    pub fn shape(&self) -> Option<IntTuple> {
        match self {
            Tile::Layout(l) => Some(l.shape().clone()),
            Tile::Underscore => None,
            Tile::Modes(m) => Some(IntTuple::Tuple(
                m.iter().map(Tile::shape).collect::<Option<_>>()?,
            )),
        }
    }

    /// Tells whether every number in it is known (`_` counts as known).
    pub fn is_static(&self) -> bool {
        match self {
            Tile::Layout(l) => l.is_static(),
            Tile::Underscore => true,
            Tile::Modes(m) => m.iter().all(Tile::is_static),
        }
    }

    /// Elements that it selects; `None` where an `_` stands or an extent is dynamic.
    pub fn size(&self) -> Option<i64> {
        match self {
            Tile::Layout(l) => l.size().ok(),
            Tile::Underscore => None,
            Tile::Modes(m) => m.iter().try_fold(1i64, |acc, t| acc.checked_mul(t.size()?)),
        }
    }
}

impl From<Layout> for Tile {
    fn from(l: Layout) -> Self {
        Tile::Layout(l)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tile::Layout(l) => write!(f, "{l}"),
            Tile::Underscore => f.write_str("_"),
            Tile::Modes(m) => {
                f.write_str("[")?;
                for (i, t) in m.iter().enumerate() {
                    if i > 0 {
                        f.write_str(";")?;
                    }
                    write!(f, "{t}")?;
                }
                f.write_str("]")
            }
        }
    }
}
