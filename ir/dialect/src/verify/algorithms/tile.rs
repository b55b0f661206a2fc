//! Copies of tiles within bounds.

use super::super::{Checked, partitions, tensor as operand};
use super::copy::{same_element, verify_whole_copy};
use crate::mlir::*;
use crate::ops::cute;
use crate::types::{CuteType, MemRef, Space};
use cute_layout::IntTuple;
use melior::ir::ValueLike;

pub(in super::super) fn verify_copy_tile(op: cute::CopyTile<'_>) -> Checked {
    let (source, destination) = (operand(2, op.source())?, operand(3, op.destination())?);
    same_element(&source, &destination)?;
    partitions::check_threads(op.op(), op.copy(), op.thread(), "copy")?;
    let in_memory = |memref: &MemRef| memref.space != Space::Rmem;
    match (in_memory(&source), in_memory(&destination)) {
        (true, true) => verify_whole_copy(&source, &destination)?,
        (false, false) => {
            return Err(
                "expected a tile in gmem or smem on one side at least, found fragments on both; copy these by cute.autovec_copy"
                    .to_owned(),
            );
        }
        _ => {}
    }
    match (op.coords(), op.shape()) {
        (None, None) => Ok(()),
        (Some(coords), Some(shape)) => verify_shape(&source, &destination, coords, shape),
        _ => Err("expected both coordinates and a shape behind within, or neither".to_owned()),
    }
}

/// Checks the coordinates of a tile, and the shape that they are less than where an element is there.
fn verify_shape(source: &MemRef, destination: &MemRef, coords: Val, shape: Val) -> Checked {
    let tile = [source, destination];
    let Some(tile) = tile.into_iter().find(|m| m.space == Space::Gmem) else {
        return Err(format!(
            "expected a tile in {} where one may reach over the end of a matrix, found {} and {}",
            Space::Gmem,
            source.space,
            destination.space
        ));
    };
    let Some(CuteType::CoordTensor { start, layout }) = CuteType::get(coords.r#type()) else {
        return Err(format!(
            "expected a tensor of coordinates, found {}",
            coords.r#type()
        ));
    };
    if layout.shape() != tile.layout.shape() {
        return Err(format!(
            "expected coordinates for each element of a tile of shape {}, found coordinates of shape {}; cut the tensor of \
             cute.make_identity_tensor as the tile is cut",
            tile.layout.shape(),
            layout.shape()
        ));
    }
    let shape = shape_of(shape)?;
    if !shape.congruent(start) {
        return Err(format!(
            "expected a shape with a place for each integer of the coordinates {start}, found {shape}; it is the shape that \
             cute.make_identity_tensor was given"
        ));
    }
    Ok(())
}

fn shape_of(value: Val) -> Result<IntTuple, String> {
    match CuteType::of(value.r#type()) {
        Some(CuteType::Shape(shape) | CuteType::Coord(shape) | CuteType::IntTuple(shape)) => {
            Ok(shape)
        }
        _ => Err(format!("expected a shape, found {}", value.r#type())),
    }
}
