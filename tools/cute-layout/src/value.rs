//! The values that expressions evaluate to.

use std::fmt;

use cute_layout::{
    AnyLayout, ComposedLayout, CopyAtom, Elem, Inner, IntTuple, Layout, Leaf, MmaAtom, Swizzle,
    Tile, TiledCopy, TiledMma, int,
};
use serde_json::{Value as Json, json};

use crate::failure::Fault;

/// The deepest nesting of a value.
const MAX_DEPTH: usize = 64;
/// The most leaves of a value.
pub const MAX_LEAVES: usize = 4096;

/// The direction of a compact layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Major {
    /// First mode fastest.
    Left,
    /// Last mode fastest.
    Right,
}

/// A value of the language.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer, shape, stride or coordinate.
    Tuple(IntTuple),
    /// A layout.
    Layout(Layout),
    /// A layout whose offset passes through a swizzle or another layout.
    Composed(ComposedLayout),
    /// A by-mode tiler.
    Tile(Tile),
    /// A swizzle.
    Swizzle(Swizzle),
    /// An answer.
    Bool(bool),
    /// `LayoutLeft` or `LayoutRight`.
    Major(Major),
    /// The type of an element.
    Elem(Elem),
    /// The name of a copy operation.
    CopyOp(String),
    /// A copy operation for elements of a width, and their type where it was named.
    CopyAtom(Box<CopyAtom>, Option<Elem>),
    /// An MMA operation.
    MmaAtom(Box<MmaAtom>),
    /// A copy tiled over threads, and the type of its elements where it was named.
    TiledCopy(Box<TiledCopy>, Option<Elem>),
    /// An MMA tiled over threads.
    TiledMma(Box<TiledMma>),
}

impl Value {
    /// The name of its kind in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Tuple(IntTuple::Leaf(Leaf::Underscore)) => "`_`",
            Value::Tuple(IntTuple::Leaf(_)) => "an integer",
            Value::Tuple(_) => "a tuple",
            Value::Layout(_) => "a layout",
            Value::Composed(_) => "a composed layout",
            Value::Tile(_) => "a tiler",
            Value::Swizzle(_) => "a swizzle",
            Value::Bool(_) => "a truth value",
            Value::Major(_) => "a direction",
            Value::Elem(_) => "a type",
            Value::CopyOp(_) => "a copy operation",
            Value::CopyAtom(..) => "a copy atom",
            Value::MmaAtom(_) => "an MMA atom",
            Value::TiledCopy(..) => "a tiled copy",
            Value::TiledMma(_) => "a tiled MMA",
        }
    }

    /// The value as a layout; a shape alone is column-major, as `make_layout` makes it.
    pub fn to_layout(&self) -> Result<Layout, Fault> {
        match self {
            Value::Layout(l) => Ok(l.clone()),
            Value::Tuple(s) if !s.has_underscore() => Ok(Layout::col_major(s)?),
            _ => Err(self.unlike("a layout or a shape")),
        }
    }

    /// The value as a tuple.
    pub fn to_tuple(&self) -> Result<IntTuple, Fault> {
        match self {
            Value::Tuple(t) => Ok(t.clone()),
            _ => Err(self.unlike("an integer or a tuple")),
        }
    }

    /// The value as a shape: that of a layout, or a tuple.
    pub fn to_shape(&self) -> Result<IntTuple, Fault> {
        match self {
            Value::Tuple(t) => Ok(t.clone()),
            Value::Layout(l) => Ok(l.shape().clone()),
            Value::Composed(c) => Ok(c.outer().shape().clone()),
            _ => Err(self.unlike("a shape or a layout")),
        }
    }

    /// The value as a tiler: a layout works on the whole, a tuple mode by mode, an integer `n` is `n:1`.
    pub fn to_tile(&self) -> Result<Tile, Fault> {
        fn of_tuple(t: &IntTuple) -> Result<Tile, Fault> {
            match t {
                IntTuple::Leaf(Leaf::Underscore) => Ok(Tile::Underscore),
                IntTuple::Leaf(_) => Ok(Tile::Layout(Layout::new(t.clone(), int(1))?)),
                IntTuple::Tuple(modes) => Ok(Tile::Modes(
                    modes.iter().map(of_tuple).collect::<Result<_, _>>()?,
                )),
            }
        }
        match self {
            Value::Tile(t) => Ok(t.clone()),
            Value::Layout(l) => Ok(Tile::Layout(l.clone())),
            Value::Tuple(t) => of_tuple(t),
            _ => Err(self.unlike("a tiler, a layout or a shape")),
        }
    }

    /// The value as a mode of a tiler in `<..>` or `[..]`, where a shape is its column-major layout, as in CuTe IR's text.
    pub fn to_tile_mode(&self) -> Result<Tile, Fault> {
        match self {
            Value::Tuple(t) if t.is_tuple() && !t.has_underscore() => {
                Ok(Tile::Layout(Layout::col_major(t)?))
            }
            other => other.to_tile(),
        }
    }

    /// The value as one known integer.
    pub fn to_int(&self) -> Result<i64, Fault> {
        match self {
            Value::Tuple(IntTuple::Leaf(Leaf::Static(v))) => Ok(*v),
            _ => Err(self.unlike("a known integer")),
        }
    }

    /// The error that something else was expected.
    pub fn unlike(&self, expected: &str) -> Fault {
        Fault::Call(format!("expected {expected}, found {} {self}", self.kind()))
    }

    /// Checks that nesting and leaves are within limits, so that walks over a value are bounded.
    pub fn check_bounds(&self) -> Result<(), Fault> {
        fn of_tile(t: &Tile) -> (usize, usize) {
            match t {
                Tile::Layout(l) => (l.depth(), l.shape().leaves().len()),
                Tile::Underscore => (0, 1),
                Tile::Modes(m) => m.iter().map(of_tile).fold((1, 0), |(depth, n), (d, m)| {
                    (depth.max(d.saturating_add(1)), n + m)
                }),
            }
        }
        let (depth, leaves) = match self {
            Value::Tuple(t) => (t.depth(), t.leaves().len()),
            Value::Tile(t) => of_tile(t),
            // These exist only within the bounds of the library, which are the same.
            _ => return Ok(()),
        };
        let (limit, what) = match (depth > MAX_DEPTH, leaves > MAX_LEAVES) {
            (false, false) => return Ok(()),
            (true, _) => (MAX_DEPTH, "levels of nesting"),
            _ => (MAX_LEAVES, "leaves"),
        };
        Err(Fault::Call(format!(
            "expected at most {limit} {what}, found more; split the tuple"
        )))
    }

    /// The value for tools: the text, what it is, and the parts of a layout as nested arrays.
    pub fn to_json(&self) -> Json {
        let mut out = json!({ "result": self.to_string() });
        let mut set = |key: &str, value: Json| {
            out[key] = value;
        };
        let of_layout = |l: &Layout, set: &mut dyn FnMut(&str, Json)| {
            set("shape", tuple_json(l.shape()));
            set("stride", tuple_json(l.stride()));
            let size = l.shape().product().map(IntTuple::Leaf).ok();
            let size = size.filter(identified);
            set("size", size.map_or(Json::Null, |n| tuple_json(&n)));
            let cosize = l.cosize_leaf().map(IntTuple::Leaf).ok().filter(identified);
            set("cosize", cosize.map_or(Json::Null, |n| tuple_json(&n)));
        };
        match self {
            Value::Tuple(t) => {
                set(
                    "kind",
                    if t.is_tuple() { "tuple" } else { "integer" }.into(),
                );
                set("value", tuple_json(t));
            }
            Value::Layout(l) => {
                set("kind", "layout".into());
                of_layout(l, &mut set);
            }
            Value::Composed(c) => {
                set("kind", "composed_layout".into());
                let inner = match c.inner() {
                    Inner::Swizzle(s) => s.to_string(),
                    Inner::Layout(l) => l.to_string(),
                };
                set("inner", inner.into());
                set("offset", tuple_json(c.offset()));
                set("outer", c.outer().to_string().into());
            }
            Value::Tile(_) => set("kind", "tile".into()),
            Value::Swizzle(s) => {
                set("kind", "swizzle".into());
                set("value", json!([s.b(), s.m(), s.s()]));
            }
            Value::Bool(b) => {
                set("kind", "bool".into());
                set("value", (*b).into());
            }
            Value::Major(_) => set("kind", "direction".into()),
            Value::Elem(_) => set("kind", "type".into()),
            Value::CopyOp(_) => set("kind", "copy_operation".into()),
            Value::CopyAtom(..) => set("kind", "copy_atom".into()),
            Value::MmaAtom(_) => set("kind", "mma_atom".into()),
            Value::TiledCopy(c, _) => {
                set("kind", "tiled_copy".into());
                set("atom", c.atom().name.to_string().into());
                set("threads", c.num_threads().into());
                set("layout_tv", c.layout_tv().to_string().into());
                set("tiler_mn", c.tiler_mn().to_string().into());
            }
            Value::TiledMma(m) => {
                set("kind", "tiled_mma".into());
                set("atom", m.atom().name.to_string().into());
                set("threads", m.num_threads().into());
                set("thr_layout_vmnk", m.thr_layout_vmnk().to_string().into());
                set("permutation_mnk", permutation(m).to_string().into());
                set("tile_shape", json!(m.tile_shape()));
            }
        }
        out
    }
}

// Whether it is known, or a polynomial: `?` says nothing.
fn identified(t: &IntTuple) -> bool {
    t.leaves().iter().all(|l| l.is_identified())
}

fn permutation(m: &TiledMma) -> Tile {
    Tile::Modes(m.permutation().to_vec())
}

fn tuple_json(t: &IntTuple) -> Json {
    match t {
        IntTuple::Leaf(Leaf::Static(v)) => (*v).into(),
        IntTuple::Leaf(l) => l.to_string().into(),
        IntTuple::Tuple(t) => t.iter().map(tuple_json).collect(),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Tuple(t) => write!(f, "{t}"),
            Value::Layout(l) => write!(f, "{l}"),
            Value::Composed(c) => write!(f, "{c}"),
            Value::Tile(t) => write!(f, "{t}"),
            Value::Swizzle(s) => write!(f, "{s}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Major(Major::Left) => f.write_str("LayoutLeft"),
            Value::Major(Major::Right) => f.write_str("LayoutRight"),
            Value::Elem(e) => write!(f, "{e}"),
            Value::CopyOp(name) => f.write_str(name),
            Value::CopyAtom(a, _) => write!(f, "copy_atom({}, {})", a.name, a.val_bits),
            Value::MmaAtom(a) => write!(f, "{}", a.name),
            Value::TiledCopy(c, _) => write!(
                f,
                "make_tiled_copy_impl(copy_atom({}, {}), {}, {})",
                c.atom().name,
                c.atom().val_bits,
                c.layout_tv(),
                c.tiler_mn()
            ),
            Value::TiledMma(m) => write!(
                f,
                "make_tiled_mma({}, {}, {})",
                m.atom().name,
                m.atom_layout(),
                permutation(m)
            ),
        }
    }
}

impl From<Layout> for Value {
    fn from(l: Layout) -> Value {
        Value::Layout(l)
    }
}

impl From<ComposedLayout> for Value {
    fn from(c: ComposedLayout) -> Value {
        Value::Composed(c)
    }
}

impl From<AnyLayout> for Value {
    fn from(l: AnyLayout) -> Value {
        match l {
            AnyLayout::Plain(l) => Value::Layout(l),
            AnyLayout::Composed(c) => Value::Composed(c),
        }
    }
}

impl From<IntTuple> for Value {
    fn from(t: IntTuple) -> Value {
        Value::Tuple(t)
    }
}

impl From<i64> for Value {
    fn from(v: i64) -> Value {
        Value::Tuple(int(v))
    }
}

impl From<usize> for Value {
    fn from(v: usize) -> Value {
        Value::Tuple(int(v as i64))
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}
