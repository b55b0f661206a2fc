//! The algebra of layouts.

use super::operands::Operands;
use super::{OpError, OpResult, Value};
use crate::algebra::AnyLayout;
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::swizzle::{ComposedLayout, Inner};
use crate::tile::Tile;
use crate::tuple::IntTuple;

pub(super) fn apply(args: &Operands<'_>) -> Option<OpResult> {
    Some(match args.op {
        "composition" => composition(args),
        "coalesce" => coalesce(args),
        "filter" => filter(args),
        "flatten" => flatten(args),
        "complement" => complement(args),
        "group_modes" => group_modes(args),
        "recast_layout" => recast(args),
        "slice" => slice(args),
        "dice" => dice(args),
        "right_inverse" => inverse(args),
        "left_inverse" => inverse(args),
        _ => return None,
    })
}

impl From<AnyLayout> for Value {
    fn from(l: AnyLayout) -> Self {
        match l {
            AnyLayout::Plain(l) => Value::Layout(l),
            AnyLayout::Composed(c) => Value::ComposedLayout(c),
        }
    }
}

/// `f` of a layout, or of the outer one of a composed layout; a composed layout that is its outer layout becomes that.
pub(super) fn on_outer(
    args: &Operands<'_>,
    operand: &'static str,
    v: &Value,
    f: impl FnOnce(&Layout) -> Result<Layout, OpError>,
) -> OpResult {
    Ok(vec![match v {
        Value::Layout(l) => Value::Layout(f(l)?),
        Value::ComposedLayout(c) => AnyLayout::from(c.map_outer(f)?).into(),
        v => return Err(args.kind(operand, "!cute.layout or !cute.composed_layout", v)),
    }])
}

/// A layout, a tile, or a shape as the tile of its consecutive elements.
pub(super) fn tiler(
    args: &Operands<'_>,
    operand: &'static str,
    v: &Value,
) -> Result<Tile, OpError> {
    match v {
        Value::Layout(l) => Ok(Tile::Layout(l.clone())),
        Value::Tile(t) => Ok(t.clone()),
        Value::Shape(s) => Ok(Tile::from_shape(s)?),
        v => Err(args.kind(operand, "!cute.layout, !cute.shape or !cute.tile", v)),
    }
}

fn composition(args: &Operands<'_>) -> OpResult {
    let [lhs, rhs] = args.exactly()?;
    let rhs = tiler(args, "rhs", rhs)?;
    on_outer(args, "lhs", lhs, |l| Ok(l.composition_tile(&rhs)?))
}

fn coalesce(args: &Operands<'_>) -> OpResult {
    let (input, profile) = args.one_or_two()?;
    let profile = profile
        .map(|p| args.coord("target_profile", p))
        .transpose()?;
    on_outer(args, "input", input, |l| {
        Ok(match profile {
            Some(p) => l.coalesce_by(p)?,
            None if l.rank() == 0 => l.clone(),
            None => l.coalesce()?,
        })
    })
}

fn flatten(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    Ok(vec![match input {
        Value::IntTuple(t) => Value::IntTuple(t.flatten()),
        Value::Shape(t) => Value::Shape(t.flatten()),
        Value::Stride(t) => Value::Stride(t.flatten()),
        Value::Coord(t) => Value::Coord(t.flatten()),
        Value::Tile(t) => Value::Tile(t.flatten()),
        v => return on_outer(args, "input", v, |l| Ok(l.flatten()?)),
    }])
}

fn complement(args: &Operands<'_>) -> OpResult {
    let (input, cotarget) = args.one_or_two()?;
    let l = args.layout("input", input)?;
    let result = match cotarget {
        None if !l.is_static() => {
            return Err(args.refuse(
                "a static layout where there is no cotarget",
                l,
                "give the cotarget as second operand",
            ));
        }
        None => l.complement_open()?,
        Some(Value::Shape(t)) => l.complement(t)?,
        Some(Value::Layout(t)) => l.complement(t.shape())?,
        Some(v) => return Err(args.kind("cotarget", "!cute.shape or !cute.layout", v)),
    };
    Ok(vec![Value::Layout(result)])
}

fn group_modes(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let begin = args.attr("begin", args.attrs.begin)?;
    let end = args.attr("end", args.attrs.end)?;
    on_outer(args, "input", input, |l| {
        match (usize::try_from(begin), usize::try_from(end)) {
            (Ok(b), Ok(e)) if b < e && e <= l.rank() => Ok(l.group(b, e)?),
            _ => Err(args.refuse(
                format!("0 <= begin < end <= {}, the rank of {l}", l.rank()),
                format!("begin {begin} and end {end}"),
                "name a range of modes that exists",
            )),
        }
    })
}

fn recast(args: &Operands<'_>) -> OpResult {
    let [src] = args.exactly()?;
    let new = args.attr("new_type_bits", args.attrs.new_type_bits)?;
    let old = args.attr("old_type_bits", args.attrs.old_type_bits)?;
    if new < 1 || old < 1 {
        return Err(args.refuse(
            "positive widths in bits",
            format!("new {new} and old {old}"),
            "name the widths of the element types",
        ));
    }
    Ok(vec![match src {
        Value::Layout(l) => Value::Layout(l.recast(old, new)?),
        Value::ComposedLayout(c) => AnyLayout::from(c.recast(old, new)?).into(),
        v => return Err(args.kind("src", "!cute.layout or !cute.composed_layout", v)),
    }])
}

/// The modes of a tuple where the coordinate is `_` (`keep`), or is not.
fn pick(coord: &IntTuple, t: &IntTuple, keep: bool) -> IntTuple {
    fn walk(coord: &IntTuple, t: &IntTuple, keep: bool, out: &mut Vec<IntTuple>) {
        match coord {
            IntTuple::Leaf(c) => {
                if (*c == Leaf::Underscore) == keep {
                    out.push(t.clone());
                }
            }
            IntTuple::Tuple(cs) => cs
                .iter()
                .zip(t.modes())
                .for_each(|(c, t)| walk(c, t, keep, out)),
        }
    }
    let mut out = Vec::new();
    walk(coord, t, keep, &mut out);
    match coord {
        IntTuple::Leaf(_) => out.pop().unwrap_or(IntTuple::Tuple(vec![])),
        IntTuple::Tuple(_) => IntTuple::Tuple(out),
    }
}

/// Slice and dice of tuples are the same walk; `layout` and `composed` say what they are of the others.
fn sliced(
    args: &Operands<'_>,
    keep: bool,
    layout: impl FnOnce(&Layout, &IntTuple) -> Result<Layout, OpError>,
    composed: impl FnOnce(&ComposedLayout, &IntTuple) -> Result<AnyLayout, OpError>,
) -> OpResult {
    let [input, coord] = args.exactly()?;
    let coord = args.coord("coord", coord)?;
    let kinds = "!cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout or \
                 !cute.composed_layout";
    let profile = match input {
        Value::Shape(t) | Value::Stride(t) | Value::IntTuple(t) | Value::Coord(t) => t,
        Value::Layout(l) => l.shape(),
        Value::ComposedLayout(c) => c.outer().shape(),
        v => return Err(args.kind("input", kinds, v)),
    };
    if !coord.weakly_congruent(profile) {
        return Err(args.refuse(
            format!("a coordinate whose profile {profile} refines"),
            coord,
            "give `_` or an integer for each mode, or a tuple where the mode is one",
        ));
    }
    if args.op == "dice" && !coord.is_static() {
        return Err(args.refuse(
            "a static coordinate",
            coord,
            "only where it has `_` matters: write any integer elsewhere",
        ));
    }
    Ok(vec![match input {
        Value::Layout(l) => Value::Layout(layout(l, coord)?),
        Value::ComposedLayout(c) => composed(c, coord)?.into(),
        Value::Shape(t) => Value::Shape(pick(coord, t, keep)),
        Value::Stride(t) => Value::Stride(pick(coord, t, keep)),
        Value::Coord(t) => Value::Coord(pick(coord, t, keep)),
        Value::IntTuple(t) => Value::IntTuple(pick(coord, t, keep)),
        v => return Err(args.kind("input", kinds, v)),
    }])
}

/// The layout of the slice; what has to be added to its values ([`ComposedLayout::slice`]) is no result of the op.
fn slice(args: &Operands<'_>) -> OpResult {
    sliced(
        args,
        true,
        |l, coord| Ok(l.slice_modes(coord)?),
        |c, coord| {
            if let Inner::Swizzle(_) = c.inner() {
                if !c.outer().is_static() {
                    return Err(args.refuse(
                        "a static outer layout under a swizzle",
                        c,
                        "slice the outer layout before composing",
                    ));
                }
                if !coord.has_underscore() {
                    return Err(args.refuse(
                        "a coordinate with at least one `_` under a swizzle",
                        coord,
                        "take the value at a coordinate by `layout_eval`",
                    ));
                }
            }
            Ok(c.slice(coord)?.0)
        },
    )
}

fn filter(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    Ok(vec![Value::Layout(args.layout("input", input)?.filter()?)])
}

fn dice(args: &Operands<'_>) -> OpResult {
    sliced(
        args,
        false,
        |l, coord| Ok(l.dice(coord)?),
        |c, coord| Ok(c.dice(coord)?.into()),
    )
}

fn inverse(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let l = args.layout("input", input)?;
    // Symbols are known, as far as facts go.
    let identified = |t: &IntTuple| t.leaves().iter().all(|leaf| leaf.is_identified());
    let right = args.op == "right_inverse";
    if !identified(l.shape()) && (!right || l.stride().has_basis()) {
        let expected = if right {
            "a static shape beside basis strides"
        } else {
            "a static shape"
        };
        return Err(args.refuse(
            expected,
            l,
            "take the inverse of a mode whose extents are known",
        ));
    }
    let inverse = if right {
        l.right_inverse()?
    } else {
        if !identified(l.stride()) {
            return Err(args.refuse(
                "static strides",
                l,
                "take the inverse of a mode whose strides are known",
            ));
        }
        l.left_inverse()?
    };
    Ok(vec![Value::Layout(inverse)])
}
