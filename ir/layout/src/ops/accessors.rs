//! Parts of values, and the same value as another kind.

use super::operands::Operands;
use super::{OpError, OpResult, Value};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::swizzle::Inner;
use crate::tile::Tile;
use crate::tuple::IntTuple;

pub(super) fn apply(args: &Operands<'_>) -> Option<OpResult> {
    Some(match args.op {
        "get_shape" => get_shape(args),
        "get_stride" => get_stride(args),
        "composed_get_inner" | "composed_get_offset" | "composed_get_outer" => composed_part(args),
        "get_leaves" => get_leaves(args),
        "get_scalars" => get_scalars(args),
        "get" => get(args),
        "select" => select(args),
        "to_int_tuple" => to_int_tuple(args),
        "to_shape" | "to_stride" | "to_coord" => from_int_tuple(args),
        "get_layouts_from_tile" => layouts_from_tile(args),
        _ => return None,
    })
}

fn get_shape(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let shape = match input {
        Value::Layout(l) => l.shape().clone(),
        Value::ComposedLayout(c) => c.outer().shape().clone(),
        Value::Tile(t) => t.shape().ok_or_else(|| {
            args.refuse(
                "a tile without `_`",
                t,
                "take the layouts with `get_layouts_from_tile` and the shape of each",
            )
        })?,
        v => {
            let kinds = "!cute.layout, !cute.composed_layout or !cute.tile";
            return Err(args.kind("input", kinds, v));
        }
    };
    Ok(vec![Value::Shape(shape)])
}

fn get_stride(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let l = args.layout("input", input)?;
    Ok(vec![Value::Stride(l.stride().clone())])
}

fn composed_part(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let Value::ComposedLayout(c) = input else {
        return Err(args.kind("input", "!cute.composed_layout", input));
    };
    Ok(vec![match args.op {
        "composed_get_offset" => Value::IntTuple(c.offset().clone()),
        "composed_get_outer" => Value::Layout(c.outer().clone()),
        _ => match c.inner() {
            Inner::Layout(l) => Value::Layout(l.clone()),
            Inner::Swizzle(s) => Value::Swizzle(*s),
        },
    }])
}

fn get_leaves(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let split = |t: &IntTuple, make: fn(IntTuple) -> Value| {
        t.leaves()
            .into_iter()
            .map(|l| make(IntTuple::Leaf(l.clone())))
            .collect()
    };
    Ok(match input {
        Value::IntTuple(t) => split(t, Value::IntTuple),
        Value::Shape(t) => split(t, Value::Shape),
        Value::Stride(t) => split(t, Value::Stride),
        Value::Coord(t) => split(t, Value::Coord),
        Value::Tile(t) => t
            .leaves()
            .into_iter()
            .map(|t| match t {
                Tile::Layout(l) => Value::Layout(l.clone()),
                other => Value::Tile(other.clone()),
            })
            .collect(),
        v => {
            let kinds = "!cute.shape, !cute.stride, !cute.coord, !cute.int_tuple or !cute.tile";
            return Err(args.kind("input", kinds, v));
        }
    })
}

/// The integers of a value: of a basis element its value, then its path, outermost first; of a swizzle its three parameters;
/// none of `_`. Order as [`Value::leaves`].
fn get_scalars(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let only_dynamic = args.attrs.only_dynamic;
    if matches!(input, Value::Scalar(_) | Value::Bool(_)) {
        return Err(args.kind("cute_value", "a type of the dialect", input));
    }
    let mut out = Vec::new();
    for leaf in input.leaves() {
        match leaf {
            Leaf::Basis { value, path } => {
                out.push((**value).clone());
                out.extend(path.iter().map(|p| Leaf::Static(i64::from(*p))));
            }
            other => out.push(other.clone()),
        }
    }
    let swizzle = match input {
        Value::Swizzle(s) => Some(s),
        Value::ComposedLayout(c) => match c.inner() {
            Inner::Swizzle(s) => Some(s),
            Inner::Layout(_) => None,
        },
        _ => None,
    };
    if let Some(s) = swizzle {
        let parameters = [i64::from(s.b()), i64::from(s.m()), i64::from(s.s())];
        out.extend(parameters.map(Leaf::Static));
    }
    out.retain(|l| !only_dynamic || !l.is_static());
    Ok(out.into_iter().map(Value::Scalar).collect())
}

/// The mode indices as positions in something of `rank` modes, or an error that says which one is not there.
fn index(args: &Operands<'_>, i: i64, rank: usize, depth: usize) -> Result<usize, OpError> {
    usize::try_from(i)
        .ok()
        .filter(|i| *i < rank)
        .ok_or_else(|| {
            args.refuse(
                format!("a mode index in [0, {rank}) at depth {depth}"),
                i,
                "name a mode that exists",
            )
        })
}

/// Follows `mode` through a profile; `rank` and `depth` describe what was reached.
pub(super) fn path(args: &Operands<'_>, profile: &Profile<'_>) -> Result<Vec<usize>, OpError> {
    let mode = args.attrs.mode.as_deref().unwrap_or_default();
    let mut here = profile.clone();
    let mut out = Vec::with_capacity(mode.len());
    for (depth, &m) in mode.iter().enumerate() {
        if depth > 0 && here.is_leaf() {
            return Err(args.refuse(
                "mode indices that end at a leaf",
                format!("{} more after depth {depth}", mode.len() - depth),
                "leave out the indices behind the leaf",
            ));
        }
        let i = index(args, m, here.rank(), depth)?;
        here = here.mode(i);
        out.push(i);
    }
    Ok(out)
}

/// The structure that mode indices walk through: a tuple, or the modes of a tile.
#[derive(Clone)]
pub(super) enum Profile<'a> {
    Tuple(&'a IntTuple),
    Tile(&'a Tile),
}

impl Profile<'_> {
    fn is_leaf(&self) -> bool {
        match self {
            Profile::Tuple(t) => !t.is_tuple(),
            Profile::Tile(t) => !matches!(t, Tile::Modes(_)),
        }
    }

    fn rank(&self) -> usize {
        match self {
            Profile::Tuple(t) => t.rank(),
            Profile::Tile(t) => t.rank(),
        }
    }

    fn mode(&self, i: usize) -> Self {
        match self {
            Profile::Tuple(t) => t.get(i).map_or(self.clone(), Profile::Tuple),
            Profile::Tile(t) => t.modes().get(i).map_or(self.clone(), Profile::Tile),
        }
    }
}

pub(super) fn tuple_at(t: &IntTuple, path: &[usize]) -> IntTuple {
    path.iter().fold(t, |t, &i| t.get(i).unwrap_or(t)).clone()
}

pub(super) fn layout_at(l: &Layout, path: &[usize]) -> Result<Layout, OpError> {
    path.iter().try_fold(l.clone(), |l, &i| Ok(l.mode(i)?))
}

const INDEXABLE: &str = "!cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout or \
                         !cute.composed_layout";

/// The same kind of value, each kind by its function; of a composed layout the outer layout.
fn each_indexable(
    args: &Operands<'_>,
    input: &Value,
    tuple: impl Fn(&IntTuple) -> Result<IntTuple, OpError>,
    layout: impl Fn(&Layout) -> Result<Layout, OpError>,
    tile: impl Fn(&Tile) -> Result<Tile, OpError>,
) -> OpResult {
    Ok(vec![match input {
        Value::IntTuple(t) => Value::IntTuple(tuple(t)?),
        Value::Shape(t) => Value::Shape(tuple(t)?),
        Value::Stride(t) => Value::Stride(tuple(t)?),
        Value::Coord(t) => Value::Coord(tuple(t)?),
        Value::Layout(l) => Value::Layout(layout(l)?),
        Value::ComposedLayout(c) => Value::ComposedLayout(c.map_outer(layout)?),
        Value::Tile(t) => Value::Tile(tile(t)?),
        v => return Err(args.kind("input", INDEXABLE, v)),
    }])
}

fn get(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let tuple = |t: &IntTuple| Ok(tuple_at(t, &path(args, &Profile::Tuple(t))?));
    let layout = |l: &Layout| layout_at(l, &path(args, &Profile::Tuple(l.shape()))?);
    let tile = |t: &Tile| {
        let path = path(args, &Profile::Tile(t))?;
        let at = path.iter().fold(t, |t, &i| t.modes().get(i).unwrap_or(t));
        Ok(at.clone())
    };
    each_indexable(args, input, tuple, layout, tile)
}

fn select(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let mode = args.attrs.mode.as_deref().ok_or(OpError::MissingAttr {
        op: args.op,
        name: "mode",
    })?;
    let pick = |rank: usize| -> Result<Vec<usize>, OpError> {
        mode.iter().map(|&m| index(args, m, rank, 0)).collect()
    };
    let tuple = |t: &IntTuple| -> Result<IntTuple, OpError> {
        let modes = pick(t.rank())?
            .into_iter()
            .filter_map(|i| t.get(i).cloned());
        Ok(IntTuple::Tuple(modes.collect()))
    };
    let layout = |l: &Layout| -> Result<Layout, OpError> { Ok(l.select(&pick(l.rank())?)?) };
    let tile = |t: &Tile| {
        let modes = pick(t.rank())?
            .into_iter()
            .filter_map(|i| t.modes().get(i).cloned());
        Ok(Tile::Modes(modes.collect()))
    };
    each_indexable(args, input, tuple, layout, tile)
}

fn to_int_tuple(args: &Operands<'_>) -> OpResult {
    let [src] = args.exactly()?;
    let (Value::IntTuple(t) | Value::Shape(t) | Value::Stride(t) | Value::Coord(t)) = src else {
        let kinds = "!cute.shape, !cute.stride, !cute.coord or !cute.int_tuple";
        return Err(args.kind("src", kinds, src));
    };
    if t.has_underscore() || t.has_basis() {
        return Err(args.refuse(
            "integers throughout",
            t,
            "leave out modes with `_` or basis elements by `select` first",
        ));
    }
    Ok(vec![Value::IntTuple(t.clone())])
}

fn from_int_tuple(args: &Operands<'_>) -> OpResult {
    let [src] = args.exactly()?;
    let t = args.int_tuple("src", src)?.clone();
    Ok(vec![match args.op {
        "to_shape" => Value::Shape(t),
        "to_stride" => Value::Stride(t),
        _ => Value::Coord(t),
    }])
}

fn layouts_from_tile(args: &Operands<'_>) -> OpResult {
    let [tile] = args.exactly()?;
    let Value::Tile(t) = tile else {
        return Err(args.kind("tile", "!cute.tile", tile));
    };
    let layouts = t.leaves().into_iter().filter_map(|t| match t {
        Tile::Layout(l) => Some(Value::Layout(l.clone())),
        _ => None,
    });
    let layouts: Vec<Value> = layouts.collect();
    if layouts.is_empty() {
        return Err(args.refuse(
            "a tile with at least one layout",
            t,
            "there is nothing to take out of `_`: leave the op out",
        ));
    }
    Ok(layouts)
}
