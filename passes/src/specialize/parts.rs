//! The loads that fill a tensor: one that fills all of it, or several that each fill a part.

use super::rings::{Load, load_of};
use crate::{
    memory::{is_memory, root_of},
    shared::in_shared,
};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    attributes::CLUSTER,
    diag,
    mlir::*,
    types::{CuteType, memref_of},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// A load, and the views of a tensor that it fills, from the tensor on; none where it fills all of it.
pub(super) type Part<'c> = (Load<'c>, Vec<Op<'c>>);

/// The loads that fill a tensor.
pub(super) struct Filling<'c> {
    pub(super) tensor: Val<'c>,
    /// One at least, in their order.
    pub(super) loads: Vec<Part<'c>>,
}

/// The loads that fill each tensor, in the order of the first ones. Errors: a load of something else than a tensor of shared memory, or a part of one that is not made whole; a slice in a
/// kernel without clusters; a whole tensor that goes to several of so many blocks.
pub(super) fn fillings<'c>(ops: &[Op<'c>], blocks: i64) -> Result<Vec<Filling<'c>>, Failure> {
    let mut all: Vec<Filling<'c>> = Vec::new();
    for load in ops.iter().filter_map(|op| load_of(*op)) {
        let (tensor, views) = views_of(load)?;
        if defining_op(tensor)
            .and_then(cute::MemrefAlloca::of)
            .is_none()
            || !in_shared(tensor)
        {
            return Err(not_whole(load));
        }
        match all
            .iter_mut()
            .find(|other| key(other.tensor) == key(tensor))
        {
            Some(other) => other.loads.push((load, views)),
            None => all.push(Filling {
                tensor,
                loads: vec![(load, views)],
            }),
        }
    }
    for filling in &all {
        filling.check(blocks)?;
    }
    Ok(all)
}

fn not_whole(load: Load<'_>) -> Failure {
    diag::error(
        load.op().location(),
        "expected a load of a whole tensor in shared memory, one that cute.memref.alloca makes: it becomes a ring",
    )
}

fn not_parts(again: Op<'_>) -> Failure {
    diag::error(
        again.location(),
        "loads a tensor that another load fills as well; expected a tensor for each load, or parts of one that cute.local_tile makes, at coordinates of rows that differ by constants",
    )
}

/// The tensor that a load fills, or a part of which, and the views between the two.
fn views_of<'c>(load: Load<'c>) -> Result<(Val<'c>, Vec<Op<'c>>), Failure> {
    let (op, mut value) = (load.op(), load.destination());
    let tensor = root_of(value);
    let mut views = Vec::new();
    while value != tensor {
        let view = defining_op(value).expected(op, "a view")?;
        views.push(view);
        let mut of = operands_of(view).into_iter().filter(|v| is_memory(*v));
        value = of.next().expected(op, "a view of a tensor")?;
    }
    views.reverse();
    Ok((tensor, views))
}

/// The coordinate along rows of the tile that a load fills: a number, beyond a value where it has one; none of another view.
fn place_of(views: &[Op<'_>]) -> Option<(Option<ValueKey>, i64)> {
    let [view] = views else { return None };
    if name_of(*view) != cute::LOCAL_TILE {
        return None;
    }
    let coord = *operands_of(*view).last()?;
    let Some(CuteType::Coord(coordinate)) = CuteType::of(coord.r#type()) else {
        return None;
    };
    let (first, rest) = coordinate.modes().split_first()?;
    if rest.iter().any(|leaf| leaf.as_static() != Some(0)) {
        return None;
    }
    if let Some(known) = first.as_static() {
        return Some((None, known));
    }
    let value = *operands_of(defining_op(coord)?).first()?;
    if let Some(known) = constant_of(value) {
        return Some((None, known));
    }
    let sum = defining_op(value).filter(|op| name_of(*op) == arith::ADDI);
    let parts = sum.map(operands_of).unwrap_or_default();
    match parts[..] {
        [base, known] if constant_of(known).is_some() => {
            Some((Some(key(base)), constant_of(known)?))
        }
        _ => Some((Some(key(value)), 0)),
    }
}

impl<'c> Filling<'c> {
    /// Checks that the loads make the tensor whole.
    fn check(&self, blocks: i64) -> Result<(), Failure> {
        let Some(((first, views), others)) = self.loads.split_first() else {
            return Ok(());
        };
        let op = first.op();
        if first.mask().is_none() && others.is_empty() {
            return match views.is_empty() {
                true => Ok(()),
                false => Err(not_whole(*first)),
            };
        }
        if let Some((again, _)) = others.first().filter(|_| !self.are_parts()) {
            return Err(not_parts(again.op()));
        }
        if first.mask().is_some() && blocks < 2 {
            return Err(diag::error(
                op.location(),
                format!(
                    "is a load for several blocks in a kernel without clusters; expected {CLUSTER} of 2 or more on the kernel"
                ),
            ));
        }
        let size = |value| {
            let memref = memref_of(value).expected(op, "a tensor")?;
            let size = memref.layout.size();
            size.map_err(|e| diag::error(op.location(), e.to_string()))
        };
        let all = size(self.tensor)?;
        let mut own = 0i64;
        for (load, _) in &self.loads {
            own = own.saturating_add(size(load.destination())?);
        }
        let sharers = all / own.max(1);
        let is_whole = match first.mask() {
            Some(_) => (2..=blocks).contains(&sharers),
            None => sharers == 1,
        };
        match (is_whole && all % own.max(1) == 0, first.mask()) {
            (true, _) if self.are_in_row() => Ok(()),
            (true, _) => Err(not_parts(others.first().map_or(op, |(load, _)| load.op()))),
            (false, Some(_)) => Err(diag::error(
                op.location(),
                format!(
                    "fills {own} of {all} elements in several blocks; expected a slice, which 2 to {blocks} blocks of the cluster make whole"
                ),
            )),
            (false, None) => Err(diag::error(
                op.location(),
                format!(
                    "fills, with the loads of other parts, {own} of {all} elements; expected loads of all parts"
                ),
            )),
        }
    }

    /// Tells whether the parts are those from the first one on, without a gap.
    fn are_in_row(&self) -> bool {
        let places = self.loads.iter().filter_map(|(_, views)| place_of(views));
        let places: HashSet<i64> = places.map(|(_, place)| place).collect();
        let count = i64::try_from(self.loads.len()).unwrap_or(i64::MAX);
        count == 1 || (0..count).all(|place| places.contains(&place))
    }

    /// Tells whether the loads are of parts in one block that are known not to meet.
    fn are_parts(&self) -> bool {
        let Some((first, _)) = self.loads.first() else {
            return true;
        };
        let (mut places, mut base) = (HashSet::new(), None);
        self.loads.iter().all(|(load, views)| {
            let is_like_first = block_of(load.op()) == block_of(first.op())
                && load.mask().map(key) == first.mask().map(key)
                && load.destination().r#type() == first.destination().r#type();
            let Some((own, place)) = place_of(views).filter(|_| is_like_first) else {
                return false;
            };
            *base.get_or_insert(own) == own && places.insert(place)
        })
    }
}
