//! The places of elements that no tile has, as `cute.block.copy` and `cute.block.transform` say them.

use super::super::Checked;
use crate::{
    algorithm,
    mlir::{Op, Val, attribute_of, i64s_of, name_of},
    ops::cute,
    types::{self, CuteType, MemRef, Space, memref_of},
};
use cute_layout::{IntTuple, Layout};
use melior::ir::ValueLike;

/// The operands of such an op that are whole matrices, and what is known of their elements.
pub(super) struct Located<'c> {
    /// The shape of the tile, if some matrix is whole.
    shape: Option<IntTuple>,
    whole: Vec<i64>,
    bounds: Option<(Val<'c>, Val<'c>)>,
    rows: Option<Val<'c>>,
}

impl<'c> Located<'c> {
    /// Reads what an op of so many tensors says. Errors: what does not go together.
    pub(super) fn of(op: Op<'c>, tensors: usize) -> Result<Self, String> {
        let (coords, bounds, rows) = match (cute::BlockCopy::of(op), cute::BlockTransform::of(op)) {
            (Some(copy), _) => (copy.coords(), [copy.places(), copy.limits()], copy.rows()),
            (_, Some(op)) => (op.coords(), [op.places(), op.limits()], op.rows()),
            _ => return Err(format!("'{}' has no tiles", name_of(op))),
        };
        let whole = attribute_of(op, "whole")
            .and_then(i64s_of)
            .unwrap_or_default();
        let is_known = |place: &i64| usize::try_from(*place).is_ok_and(|place| place < tensors);
        if let Some(place) = whole.iter().find(|place| !is_known(place)) {
            return Err(format!(
                "expected places of {tensors} tensors that are whole, found {place}"
            ));
        }
        let coords = coords.and_then(|coords| match CuteType::get(coords.r#type()) {
            Some(CuteType::CoordTensor { layout, .. }) => Some(layout.shape().clone()),
            _ => None,
        });
        if !whole.is_empty() && coords.is_none() {
            return Err(
                "has a whole matrix; expected within(%coords, %end), the coordinates that the tile has of it".to_owned(),
            );
        }
        let bounds = match bounds {
            [None, None] => None,
            [Some(places), Some(limits)] => Some((places, limits)),
            _ => return Err("expected places and limits, or neither".to_owned()),
        };
        Ok(Self {
            shape: coords,
            whole,
            bounds,
            rows,
        })
    }

    /// The tensor at a place; a tile of it, if it is whole. Errors: a whole matrix that is none.
    pub(super) fn tile(&self, tensor: MemRef<'c>, place: usize) -> Result<MemRef<'c>, String> {
        if !self
            .whole
            .iter()
            .any(|whole| usize::try_from(*whole) == Ok(place))
        {
            return Ok(tensor);
        }
        if tensor.space != Space::Gmem || tensor.layout.rank() != 2 {
            return Err(format!(
                "expected a whole matrix of two modes in {}, found {} in {}",
                Space::Gmem,
                tensor.layout,
                tensor.space
            ));
        }
        let shape = self.shape.clone().ok_or("expected coordinates")?;
        let layout = Layout::col_major(&shape).map_err(|e| e.to_string())?;
        Ok(MemRef { layout, ..tensor })
    }

    /// Tells whether there is something that only A and B have.
    pub(super) fn is_of_factor(&self) -> bool {
        self.bounds.is_some() || self.rows.is_some()
    }

    /// Checks that there is nothing that only A and B have.
    pub(super) fn check_no_factor(&self) -> Checked {
        match self.is_of_factor() {
            true => Err("expected bounds and rows of A and B only, found them of C".to_owned()),
            false => Ok(()),
        }
    }

    /// Checks the bounds of a factor's elements, and the indices of its rows.
    pub(super) fn check_factor(&self, matrix: &MemRef, tile: &MemRef) -> Checked {
        if self.is_of_factor() && !self.whole.contains(&0) {
            return Err("has bounds or rows; expected the whole matrix that they are of, whole = array<i64: 0>".to_owned());
        }
        if let Some((places, limits)) = self.bounds {
            let (Some(CuteType::CoordTensor { start, layout }), Some(CuteType::Coord(limits))) = (
                CuteType::get(places.r#type()),
                CuteType::get(limits.r#type()),
            ) else {
                return Err("expected a coordinate tensor and a coordinate".to_owned());
            };
            if !layout.shape().congruent(matrix.layout.shape()) {
                return Err(format!(
                    "expected a coordinate for each element of {}, found {}",
                    matrix.layout.shape(),
                    layout.shape()
                ));
            }
            if limits.rank() != start.rank() || limits.modes().iter().any(IntTuple::is_tuple) {
                return Err(format!(
                    "expected a limit for each integer of the coordinates {start}, or _, found {limits}"
                ));
            }
        }
        if let Some(rows) = self.rows {
            let rows = memref_of(rows).ok_or("expected a tensor of indices")?;
            let is_index = matches!(types::element_bits(rows.element), Some(32 | 64));
            let extents = algorithm::extents("a tile", &rows.layout)?;
            if rows.space != Space::Rmem
                || !is_index
                || types::is_float(rows.element)
                || extents != algorithm::extents("a tile", &tile.layout)?
            {
                return Err(format!(
                    "expected an index of i32 or i64 in rmem for each element of the tile {}, found {} of {} in {}",
                    tile.layout.shape(),
                    rows.layout.shape(),
                    rows.element,
                    rows.space
                ));
            }
        }
        Ok(())
    }
}
