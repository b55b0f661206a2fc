//! `cute.block.warp_load`: each thread of a warp copies single elements into shared memory, asynchronously.

use crate::mbarriers::alone;
use crate::{
    arch::WARP,
    partition::{is_there, part_at, varying},
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{self, CopyOp, element_bits, memref_of},
};
use cute_layout::{IntTuple, Layout, int, tuple};

/// Copies what is there of a tile, by the thread of that lane and the others of its warp; what is not becomes 0. `within` has the coordinates of the tile's elements
/// and the first that is not there.
pub(super) fn load<'c>(
    b: Builder<'c>,
    [source, destination]: [Val<'c>; 2],
    within: Option<(Val<'c>, Val<'c>)>,
    lane: Val<'c>,
) -> Result<(), Failure> {
    let memref = memref_of(destination).expected(b, "a tensor")?;
    let wrong = |e: cute_layout::LayoutError| b.error(e.to_string());
    let leaves = varying(&memref.layout);
    let destination = part_at(b, destination, &leaves)?;
    let part = memref_of(destination).expected(b, "a tensor")?;
    let count = part.layout.size().map_err(wrong)?;
    // One behind the other, in the order in which shared memory has them.
    let order = Layout::new(tuple([1, count].map(int)), tuple([0, 1].map(int))).map_err(wrong)?;
    let order = b.static_value(types::layout_type(b.context, &order))?;
    let line = |tensor: Val<'c>| {
        let part = part_at(b, tensor, &leaves)?;
        b.infer(cute::COMPOSITION, &[part, order], &[])
    };
    let (from, to) = (
        line(source)?,
        b.infer(cute::COMPOSITION, &[destination, order], &[])?,
    );
    let coords = within.map(|(coords, _)| line(coords)).transpose()?;

    let bits = element_bits(memref.element).expected(b, "an element")?;
    let op = CopyOp::SimtAsync {
        global: false,
        bits,
    };
    let ty = types::copy_atom_type(b.location, memref.element, op)?;
    let atom = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
    let copy = |b: Builder<'c>, at: Val<'c>| -> Result<(), Failure> {
        let coord = b.coord(&tuple([IntTuple::underscore(), IntTuple::dynamic()]), &[at])?;
        let one = |tensor: Val<'c>| b.infer(cute::SLICE, &[tensor, coord], &[]);
        let mut operands = vec![atom, one(from)?, one(to)?];
        if let (Some(coords), Some((_, end))) = (coords, within) {
            operands.push(is_there(b, one(coords)?, end)?);
        }
        b.copy(&operands)?;
        Ok(())
    };
    for first in (0..count).step_by(usize::try_from(WARP).unwrap_or(32)) {
        let at = match first {
            0 => lane,
            _ => b.value(arith::ADDI, &[lane, b.i32(first)?], b.i32_type(), &[])?,
        };
        match count - first {
            left if left < WARP => {
                let is_one = b.compare(Predicate::Ult, lane, b.i32(left)?)?;
                alone(b, is_one, |b| copy(b, at))?;
            }
            _ => copy(b, at)?,
        }
    }
    Ok(())
}
