//! The launch of a fused map, and what the function must be given.

use super::{Fuse, Whole, kernel::BATCH};
use crate::{
    arch::WARP,
    fused::{COLUMNS, ROWS},
    tile::{
        host::launch_kernel,
        leaves::{extent_of_mode, extent_of_modes},
    },
};
use cute_arith::Predicate;
use cute_ir::{
    Failure,
    mlir::*,
    ops::{arith, cf},
};

impl<'c> Fuse<'c> {
    /// The extent of rows, columns or the batch, of type `index`.
    fn extent(&self, host: Builder<'c>, mode: usize) -> Result<Val<'c>, Failure> {
        extent_of_modes(
            host,
            self.known(mode),
            self.tensors[0].tensor,
            &self.modes[mode],
        )
    }

    /// The number of tiles along an axis, of type `index`.
    fn tiles(&self, host: Builder<'c>, axis: usize) -> Result<Val<'c>, Failure> {
        let index = host.index_type();
        if let Some(known) = self.known_tiles(axis) {
            return host.constant(index, known);
        }
        let extent = self.extent(host, axis)?;
        let tile = match axis {
            ROWS => self.choice.rows,
            COLUMNS => self.choice.columns,
            _ => return Ok(extent),
        };
        let tile = host.constant(index, tile)?;
        host.value(arith::CEILDIVSI, &[extent, tile], index, &[])
    }

    /// Launches the kernel, a symbol.
    pub(super) fn launch(&self, host: Builder<'c>, kernel: &str) -> Result<(), Failure> {
        let index = host.index_type();
        let blocks = match self.known_blocks() {
            Some(known) => host.constant(index, known)?,
            None => {
                let mut blocks = self.tiles(host, ROWS)?;
                for axis in [COLUMNS, BATCH] {
                    if self.known_tiles(axis) != Some(1) {
                        let tiles = self.tiles(host, axis)?;
                        blocks = host.value(arith::MULI, &[blocks, tiles], index, &[])?;
                    }
                }
                blocks
            }
        };
        let mut arguments = self.arguments.clone();
        for axis in self.counted_by_launch() {
            let tiles = self.tiles(host, axis)?;
            arguments.push(host.value(arith::INDEX_CAST, &[tiles], host.i32_type(), &[])?);
        }
        launch_kernel(host, kernel, (blocks, self.choice.warps * WARP), &arguments)
    }

    /// Asserts that the tensors have one shape, and that there are columns to reduce, where a type does not say so.
    pub(super) fn check_launch(&self, host: Builder<'c>) -> Result<(), Failure> {
        let index = host.index_type();
        let [first, others @ ..] = &self.tensors[..] else {
            return Ok(());
        };
        let known = |whole: &Whole<'c>, mode: usize| {
            let mode = whole.memref.layout.mode(mode);
            mode.is_ok_and(|mode| mode.shape().is_static())
        };
        let assert = |holds: Val<'c>, message: String| {
            host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(&message))])
        };
        for mode in 0..self.rank() {
            for other in others {
                if known(first, mode) && known(other, mode) {
                    continue;
                }
                let one = extent_of_mode(host, first.tensor, mode)?;
                let two = extent_of_mode(host, other.tensor, mode)?;
                let same = host.compare(Predicate::Eq, one, two)?;
                let message = format!(
                    "expected mode {mode} of {} to have the extent of mode {mode} of {}",
                    other.name, first.name
                );
                assert(same, message)?;
            }
        }
        if self.reduces && self.known(COLUMNS).is_none() {
            let columns = self.extent(host, COLUMNS)?;
            let there = host.compare(Predicate::Sge, columns, host.constant(index, 1)?)?;
            let message = format!(
                "expected at least one element along mode {:?}, which is reduced",
                self.modes[COLUMNS]
            );
            assert(there, message)?;
        }
        for axis in [ROWS, COLUMNS, BATCH] {
            if self.known(axis).is_some() {
                continue;
            }
            let all = self.extent(host, axis)?;
            let most = host.constant(index, i32::MAX.into())?;
            let fits = host.compare(Predicate::Sle, all, most)?;
            let message = format!(
                "expected at most {} elements along modes {:?} together",
                i32::MAX,
                self.modes[axis]
            );
            assert(fits, message)?;
        }
        Ok(())
    }
}
