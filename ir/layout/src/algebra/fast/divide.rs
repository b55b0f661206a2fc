//! Divides of static layouts.

use super::complement::rest;
use super::composition::Composer;
use super::{Bounds, SHALLOW};
use crate::layout::Layout;
use crate::tile::Tile;
use crate::tuple::IntTuple;

/// A shape and its stride.
type Pair = (IntTuple, IntTuple);

/// See [`Layout::logical_divide`].
pub fn logical_divide(l: &Layout, tile: &Tile) -> Option<Layout> {
    let mut bounds = Bounds::NONE;
    let (shape, stride) = logical(l.shape(), l.stride(), tile, 0, &mut bounds)?;
    Some(Layout::assembled(shape, stride))
}

/// See [`Layout::zipped_divide`].
pub fn zipped_divide(l: &Layout, tile: &Tile) -> Option<Layout> {
    let mut bounds = Bounds::NONE;
    let ((s0, d0), (s1, d1)) = zipped(l.shape(), l.stride(), tile, 0, &mut bounds)?;
    Some(Layout::assembled(pair(s0, s1), pair(d0, d1)))
}

fn pair(a: IntTuple, b: IntTuple) -> IntTuple {
    IntTuple::Tuple(vec![a, b])
}

/// The tile and the rest of a layout that one layout divides.
fn halves(
    shape: &IntTuple,
    stride: &IntTuple,
    tile: &Layout,
    depth: usize,
    bounds: &mut Bounds,
) -> Option<(Pair, Pair)> {
    let rest = rest(tile.shape(), tile.stride(), shape.size().ok()?)?;
    // The right side is a layout of its own, which must fit.
    let mut rhs = Bounds::NONE;
    super::each_leaf(tile.shape(), tile.stride(), &mut |s, d| rhs.add(s, d))?;
    for &(s, d) in &rest {
        rhs.add(s, d)?;
    }
    let mut c = Composer::new(shape, stride)?;
    let first = c.walk(tile.shape(), tile.stride(), depth, bounds)?;
    let second = if let [(s, d)] = rest[..] {
        c.leaf(s, d, bounds)?
    } else {
        let mut shapes = Vec::with_capacity(rest.len());
        let mut strides = Vec::with_capacity(rest.len());
        for &(s, d) in &rest {
            let (s, d) = c.leaf(s, d, bounds)?;
            shapes.push(s);
            strides.push(d);
        }
        (IntTuple::Tuple(shapes), IntTuple::Tuple(strides))
    };
    c.adds_up()?;
    Some((first, second))
}

/// A part that stays as it is.
fn kept(shape: &IntTuple, stride: &IntTuple, depth: usize, bounds: &mut Bounds) -> Option<Pair> {
    if depth + shape.depth() > SHALLOW {
        return None;
    }
    super::each_leaf(shape, stride, &mut |s, d| bounds.add(s, d))?;
    Some((shape.clone(), stride.clone()))
}

fn logical(
    shape: &IntTuple,
    stride: &IntTuple,
    tile: &Tile,
    depth: usize,
    bounds: &mut Bounds,
) -> Option<Pair> {
    match tile {
        Tile::Underscore => kept(shape, stride, depth, bounds),
        Tile::Layout(t) => {
            let ((s0, d0), (s1, d1)) = halves(shape, stride, t, depth, bounds)?;
            Some((pair(s0, s1), pair(d0, d1)))
        }
        Tile::Modes(tiles) => {
            let (s, d) = (shape.modes(), stride.modes());
            if tiles.len() > s.len() || depth > SHALLOW {
                return None;
            }
            let mut shapes = Vec::with_capacity(s.len());
            let mut strides = Vec::with_capacity(s.len());
            for (i, (s, d)) in s.iter().zip(d).enumerate() {
                let (s, d) = match tiles.get(i) {
                    Some(t) => logical(s, d, t, depth + 1, bounds)?,
                    None => kept(s, d, depth, bounds)?,
                };
                shapes.push(s);
                strides.push(d);
            }
            Some((IntTuple::Tuple(shapes), IntTuple::Tuple(strides)))
        }
    }
}

fn zipped(
    shape: &IntTuple,
    stride: &IntTuple,
    tile: &Tile,
    depth: usize,
    bounds: &mut Bounds,
) -> Option<(Pair, Pair)> {
    match tile {
        Tile::Underscore => match (shape.modes(), stride.modes()) {
            ([s0, s1], [d0, d1]) => {
                Some((kept(s0, d0, depth, bounds)?, kept(s1, d1, depth, bounds)?))
            }
            _ => None,
        },
        Tile::Layout(t) => halves(shape, stride, t, depth, bounds),
        Tile::Modes(tiles) => {
            let (s, d) = (shape.modes(), stride.modes());
            if tiles.len() > s.len() || depth > SHALLOW {
                return None;
            }
            let mut first = (
                Vec::with_capacity(tiles.len()),
                Vec::with_capacity(tiles.len()),
            );
            let mut second = (Vec::with_capacity(s.len()), Vec::with_capacity(s.len()));
            for (i, (s, d)) in s.iter().zip(d).enumerate() {
                let (s, d) = match tiles.get(i) {
                    Some(t) => {
                        let ((s0, d0), rest) = zipped(s, d, t, depth + 1, bounds)?;
                        first.0.push(s0);
                        first.1.push(d0);
                        rest
                    }
                    None => kept(s, d, depth, bounds)?,
                };
                second.0.push(s);
                second.1.push(d);
            }
            Some((
                (IntTuple::Tuple(first.0), IntTuple::Tuple(first.1)),
                (IntTuple::Tuple(second.0), IntTuple::Tuple(second.1)),
            ))
        }
    }
}
