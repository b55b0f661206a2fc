//! Divides, products, and tiling to a shape.

use super::layout_algebra::{on_outer, tiler};
use super::operands::Operands;
use super::{OpError, OpResult, Value};
use crate::error::Result;
use crate::layout::Layout;
use crate::tile::Tile;

pub(super) fn apply(args: &Operands<'_>) -> Option<OpResult> {
    Some(match args.op {
        "logical_product" => product(args, |l, t| l.logical_product(&t.clone().into())),
        "zipped_product" => product(args, |l, t| l.zipped_product(&t.clone().into())),
        "tiled_product" => product(args, |l, t| l.tiled_product(&t.clone().into())),
        "flat_product" => product(args, |l, t| l.flat_product(&t.clone().into())),
        "raked_product" => product(args, |l, t| {
            let raked = l.raked_product(t)?;
            // CuTe coalesces each mode of this product alone.
            raked.coalesce_by(&(0..raked.rank()).map(|_| 1).collect())
        }),
        "blocked_product" => product(args, Layout::blocked_product),
        "logical_divide" => divide(args, Layout::logical_divide),
        "zipped_divide" => divide(args, Layout::zipped_divide),
        "tiled_divide" => divide(args, Layout::tiled_divide),
        "flat_divide" => divide(args, Layout::flat_divide),
        "tile_to_shape" => tile_to_shape(args),
        _ => return None,
    })
}

fn outer(v: &Value) -> Option<&Layout> {
    match v {
        Value::Layout(l) => Some(l),
        Value::ComposedLayout(c) => Some(c.outer()),
        _ => None,
    }
}

fn product(args: &Operands<'_>, f: fn(&Layout, &Layout) -> Result<Layout>) -> OpResult {
    let [lhs, rhs] = args.exactly()?;
    if let Some(block) = outer(lhs) {
        if !block.is_static() {
            return Err(args.refuse(
                "a static block",
                block,
                "make its `?` leaves static, or compose by hand",
            ));
        }
        let rhs = args.layout("rhs", rhs)?;
        if rhs.stride().has_basis() {
            return Err(args.refuse(
                "a tiler of integer strides",
                rhs,
                "take an integer layout of the same shape",
            ));
        }
        if block.stride().has_basis() && !rhs.is_static() {
            return Err(args.refuse(
                "a static tiler beside a block of basis strides",
                rhs,
                "make its `?` leaves static",
            ));
        }
    }
    let rhs = args.layout("rhs", rhs)?;
    on_outer(args, "lhs", lhs, |l| Ok(f(l, rhs)?))
}

/// The layouts of a tiler must have a complement: integer strides in a tile, and static ones above rank 1.
fn check_tiler(args: &Operands<'_>, t: &Tile, in_tile: bool) -> std::result::Result<(), OpError> {
    match t {
        Tile::Modes(m) => m.iter().try_for_each(|t| check_tiler(args, t, true)),
        Tile::Underscore => Ok(()),
        Tile::Layout(l) if in_tile && l.stride().has_basis() => Err(args.refuse(
            "layouts of integer strides in a tile",
            l,
            "take an integer layout of the same shape",
        )),
        Tile::Layout(l) if !l.stride().is_static() && l.rank() > 1 => Err(args.refuse(
            "a tiler of static strides, or of rank 1",
            l,
            "make its strides static",
        )),
        Tile::Layout(_) => Ok(()),
    }
}

fn divide(args: &Operands<'_>, f: fn(&Layout, &Tile) -> Result<Layout>) -> OpResult {
    let [input, by] = args.exactly()?;
    let tile = tiler(args, "tiler", by)?;
    if let (Some(l), Value::Tile(_) | Value::Shape(_)) = (outer(input), by)
        && tile.rank() > l.rank()
    {
        return Err(args.refuse(
            format!("a tiler of at most {} modes, the rank of {l}", l.rank()),
            &tile,
            "leave modes out, or divide by a layout",
        ));
    }
    check_tiler(args, &tile, matches!(by, Value::Tile(_)))?;
    on_outer(args, "input", input, |l| Ok(f(l, &tile)?))
}

fn tile_to_shape(args: &Operands<'_>) -> OpResult {
    let (input, shape, order) = args.two_or_three()?;
    let shape = args.shape("shape", shape)?;
    let order = order.map(|o| args.int_tuple("order", o)).transpose()?;
    if let Some(order) = order {
        let permutation = || {
            let mut seen = vec![false; shape.rank()];
            for mode in order.modes() {
                let at = mode.as_static().and_then(|i| usize::try_from(i).ok())?;
                let slot = seen.get_mut(at)?;
                if std::mem::replace(slot, true) {
                    return None;
                }
            }
            Some(())
        };
        if order.rank() != shape.rank() || permutation().is_none() {
            return Err(args.refuse(
                format!(
                    "a static permutation of 0 to {}",
                    shape.rank().saturating_sub(1)
                ),
                order,
                "give each mode of the shape its place once",
            ));
        }
    }
    if let Some(l) = outer(input)
        && l.rank() > shape.rank()
    {
        return Err(args.refuse(
            format!("a shape of at least {} modes, the rank of {l}", l.rank()),
            shape,
            "append modes of extent 1 to the shape",
        ));
    }
    on_outer(args, "input", input, |l| Ok(l.tile_to_shape(shape, order)?))
}
