//! The launch of a fused map, and what the function must be given.

use super::{Fuse, kernel::BATCH};
use crate::{
    arch::WARP,
    fused::{COLUMNS, INNER, OUTER, ROWS},
    tile::{
        host::{assert_extent, assert_no_overlap, assert_one_shape, check_reduced},
        leaves::{extent_of_modes, open_leaves},
        variants::{both, divided},
    },
};
use cute_arith::Predicate;
use cute_ir::{Failure, fused::steps_along, mlir::*};

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
        let modes = self.axes();
        let extent = |axis: usize| self.extent(host, modes[axis]);
        let kernel = (kernel, self.choice.warps * WARP);
        self.grid().launch(host, kernel, &self.arguments, extent)
    }

    /// Asserts that the tensors have one shape, and that there are columns to reduce, where a type does not say so.
    pub(super) fn check_launch(&self, host: Builder<'c>) -> Result<(), Failure> {
        let tensors = self.tensors.iter();
        let tensors = tensors.map(|whole| (whole.tensor, &whole.memref, whole.name.as_str()));
        assert_one_shape(host, tensors)?;
        let columns = self.reduces.then_some(COLUMNS);
        for axis in columns.into_iter().chain([INNER]) {
            for whole in &self.tensors {
                check_reduced(self.op, &whole.memref.layout, &self.modes[axis])?;
            }
            if self.known(axis).is_some() {
                continue;
            }
            let extent = self.extent(host, axis)?;
            let least = (Predicate::Sge, 1);
            let message = format!(
                "expected at least one element along mode {:?}, which is reduced",
                self.modes[axis]
            );
            assert_extent(host, extent, least, &message)?;
        }
        for axis in [ROWS, COLUMNS, INNER, OUTER, BATCH] {
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
        for output in &self.tensors[self.inputs..] {
            let layout = &output.memref.layout;
            let modes = (0..layout.rank()).filter(|mode| steps_along(layout, *mode));
            let modes: Vec<_> = modes.collect();
            let whole = (output.tensor, &output.memref, output.name.as_str());
            assert_no_overlap(host, whole, &modes)?;
        }
        Ok(())
    }

    /// The condition that a launch brings what the layouts of the tensors say beyond their types; none where it always does.
    pub(super) fn fits(
        &self,
        host: Builder<'c>,
        general: &Self,
    ) -> Result<Option<Val<'c>>, Failure> {
        let mut all = None;
        for (whole, known) in self.tensors.iter().zip(&general.tensors) {
            let open = open_leaves(host, whole.tensor, &whole.memref, &self.modes)?;
            let holds = divided(host, open.concat(), [&whole.layout, &known.layout])?;
            all = both(host, all, holds)?;
        }
        Ok(all)
    }
}
