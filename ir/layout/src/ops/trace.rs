//! Values whose dynamic leaves are inputs of a trace.

use super::Value;
use crate::error::Result;
use crate::layout::Layout;
use crate::leaf::{Dyn, Leaf};
use crate::swizzle::{ComposedLayout, Inner};
use crate::tile::Tile;
use crate::tuple::IntTuple;

impl Leaf {
    /// The dynamic number in it: itself, or the multiple of a basis element.
    pub fn as_dynamic(&self) -> Option<&Dyn> {
        match self {
            Leaf::Dynamic(d) => Some(d),
            Leaf::Basis { value, .. } => value.as_dynamic(),
            _ => None,
        }
    }
}

impl Value {
    /// The dynamic numbers in it, in the order of [`Value::leaves`].
    pub fn dynamic_leaves(&self) -> Vec<&Dyn> {
        self.leaves()
            .into_iter()
            .filter_map(Leaf::as_dynamic)
            .collect()
    }

    /// The same value with its dynamic leaves as inputs of a trace, numbered from `first` in the order of [`Value::leaves`].
    ///
    /// A condition stays as it is.
    #[must_use]
    pub fn traced(&self, first: usize) -> Value {
        let mut next = first;
        self.map_dynamic(&mut |d| {
            let traced = d.traced(next);
            next += 1;
            traced
        })
    }

    /// The same as [`Value::traced`], with leaves of 64 bits: what is computed of them is what would be computed without
    /// overflow of 32.
    #[must_use]
    pub fn traced_wide(&self, first: usize) -> Value {
        let mut next = first;
        self.map_dynamic(&mut |d| {
            let traced = Dyn {
                width: 64,
                ..d.traced(next)
            };
            next += 1;
            traced
        })
    }

    // Only numbers change, so that every form stays valid.
    fn map_dynamic(&self, f: &mut dyn FnMut(&Dyn) -> Dyn) -> Value {
        self.with_leaves(&mut |d| Leaf::Dynamic(f(d)))
            .unwrap_or_else(|_| self.clone())
    }

    /// The same value with other integers, known or not, as its dynamic leaves: `f` sees these in the order of
    /// [`Value::leaves`]. A condition stays as it is.
    ///
    /// Errors: an extent below 1, or one that is not known to be at least 1 although it is symbolic; numbers that do not fit.
    pub fn with_leaves(&self, f: &mut dyn FnMut(&Dyn) -> Leaf) -> Result<Value> {
        Ok(match self {
            Value::IntTuple(t) => Value::IntTuple(tuple(t, f)),
            Value::Shape(t) => Value::Shape(tuple(t, f)),
            Value::Stride(t) => Value::Stride(tuple(t, f)),
            Value::Coord(t) => Value::Coord(tuple(t, f)),
            Value::Layout(l) => Value::Layout(layout(l, f)?),
            Value::Tile(t) => Value::Tile(tile(t, f)?),
            Value::Swizzle(s) => Value::Swizzle(*s),
            Value::ComposedLayout(c) => {
                let outer = layout(c.outer(), f)?;
                let offset = tuple(c.offset(), f);
                let inner = match c.inner() {
                    Inner::Layout(l) => Inner::Layout(layout(l, f)?),
                    Inner::Swizzle(s) => Inner::Swizzle(*s),
                };
                Value::ComposedLayout(ComposedLayout::new(inner, offset, outer)?)
            }
            Value::Scalar(l) => Value::Scalar(leaf(l, f)),
            Value::Bool(t) => Value::Bool(t.clone()),
        })
    }
}

fn leaf(l: &Leaf, f: &mut dyn FnMut(&Dyn) -> Leaf) -> Leaf {
    match l {
        Leaf::Dynamic(d) => f(d),
        Leaf::Basis { value, path } => Leaf::Basis {
            value: Box::new(leaf(value, f)),
            path: path.clone(),
        },
        l => l.clone(),
    }
}

fn tuple(t: &IntTuple, f: &mut dyn FnMut(&Dyn) -> Leaf) -> IntTuple {
    match t {
        IntTuple::Leaf(l) => IntTuple::Leaf(leaf(l, f)),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| tuple(t, f)).collect()),
    }
}

fn layout(l: &Layout, f: &mut dyn FnMut(&Dyn) -> Leaf) -> Result<Layout> {
    let (shape, stride) = (tuple(l.shape(), f), tuple(l.stride(), f));
    Layout::new(shape, stride)
}

fn tile(t: &Tile, f: &mut dyn FnMut(&Dyn) -> Leaf) -> Result<Tile> {
    Ok(match t {
        Tile::Layout(l) => Tile::Layout(layout(l, f)?),
        Tile::Underscore => Tile::Underscore,
        Tile::Modes(m) => Tile::Modes(m.iter().map(|t| tile(t, f)).collect::<Result<_>>()?),
    })
}
