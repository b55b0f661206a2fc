//! The launch of a fused map, and what the function must be given.

use super::{Fuse, kernel::BATCH};
use crate::{
    arch::WARP,
    fused::{COLUMNS, ROWS},
    tile::{
        host::{assert_extent, assert_one_shape},
        leaves::extent_of_modes,
    },
};
use cute_arith::Predicate;
use cute_ir::{Failure, mlir::*};

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

    /// Launches the kernel, a symbol.
    pub(super) fn launch(&self, host: Builder<'c>, kernel: &str) -> Result<(), Failure> {
        let modes = [ROWS, COLUMNS, BATCH];
        let extent = |axis: usize| self.extent(host, modes[axis]);
        let kernel = (kernel, self.choice.warps * WARP);
        self.grid().launch(host, kernel, &self.arguments, extent)
    }

    /// Asserts that the tensors have one shape, and that there are columns to reduce, where a type does not say so.
    pub(super) fn check_launch(&self, host: Builder<'c>) -> Result<(), Failure> {
        let tensors = self.tensors.iter();
        let tensors = tensors.map(|whole| (whole.tensor, &whole.memref, whole.name.as_str()));
        assert_one_shape(host, tensors)?;
        if self.reduces && self.known(COLUMNS).is_none() {
            let columns = self.extent(host, COLUMNS)?;
            let least = (Predicate::Sge, 1);
            let message = format!(
                "expected at least one element along mode {:?}, which is reduced",
                self.modes[COLUMNS]
            );
            assert_extent(host, columns, least, &message)?;
        }
        for axis in [ROWS, COLUMNS, BATCH] {
            if self.known(axis).is_some() {
                continue;
            }
            let all = self.extent(host, axis)?;
            let most = (Predicate::Sle, i32::MAX.into());
            let message = format!(
                "expected at most {} elements along modes {:?} together",
                i32::MAX,
                self.modes[axis]
            );
            assert_extent(host, all, most, &message)?;
        }
        Ok(())
    }
}
