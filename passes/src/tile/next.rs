//! The point at which a kernel whose warps have roles lets what is behind it in the stream start.
//!
//! Blocks of the next kernel take a multiprocessor each, as this kernel's leave it, when all of this kernel's have let them: then they are ready when this kernel ends, a microsecond earlier. But they
//! take multiprocessors in the order in which those are left, and no longer in that of their numbers, by which neighbours ask for the same lines at the same time. So a kernel that multiprocessors
//! wait for L2 in, and that takes long, lets it start at its end (`docs/performance/launches.md`, "Where the next kernel starts").

use super::Gemm;
use crate::launch::depend;
use cute_arith::Predicate;
use cute_ir::ops::{arith, scf};
use cute_ir::{Failure, mlir::*};

/// Turns of a block along K from which on the order of blocks is worth more than an early start: some 10 us.
const LONG: i64 = 40;

/// The numbers that say how many tiles a block has: that of its first one, of all, and of blocks, of 32 bits each.
pub(super) type OwnTiles<'c> = [Val<'c>; 3];

impl<'c> Gemm<'c> {
    /// Tells whether a kernel may let the next one start at its end: it splits K, so that the second kernel is all that is behind it, or a warpgroup has a block to itself, whose tiles are small for
    /// what they load. Clusters take long to start.
    fn may_let_next_start_late(&self) -> bool {
        let alone = self.plan.blocks_of_cluster() == 1 && self.plan.teams == 1;
        alone
            && (self.plan.is_split()
                || self
                    .plan
                    .team()
                    .is_ok_and(|threads| threads == crate::arch::WARPGROUP))
    }

    /// Lets what is behind the kernel start before the loop over tiles, where blocks have few turns each.
    pub(super) fn let_next_start_early(
        &self,
        b: Builder<'c>,
        [first, all, blocks]: OwnTiles<'c>,
        turns: impl FnOnce(Builder<'c>) -> Result<Val<'c>, Failure>,
    ) -> Result<(), Failure> {
        if !self.may_let_next_start_late() || self.plan.is_split() {
            return Ok(());
        }
        if self.known_tiles(2).is_some_and(|turns| turns >= LONG) {
            return Ok(());
        }
        let word = b.i32_type();
        let number = |name: &str, x, y| b.value(name, &[x, y], word, &[]);
        let behind = number(arith::SUBI, all, first)?;
        let more = number(arith::SUBI, blocks, b.i32(1)?)?;
        let own = number(arith::DIVUI, number(arith::ADDI, behind, more)?, blocks)?;
        let own = number(arith::MULI, own, turns(b)?)?;
        let is_short = b.compare(Predicate::Ult, own, b.i32(LONG)?)?;
        let (then, block) = Detached::with_block(&[]);
        let regions = vec![then, Detached::empty()];
        b.with_regions(scf::IF, &[is_short], &[], &[], regions)?;
        let inner = Builder::at_end(b.context, block, b.location);
        depend(inner, "launch_dependents")?;
        inner.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    /// Lets what is behind the kernel start behind the loop over tiles, where it was not let to before.
    pub(super) fn let_next_start_late(&self, b: Builder<'c>) -> Result<(), Failure> {
        match self.may_let_next_start_late() {
            true => depend(b, "launch_dependents"),
            false => Ok(()),
        }
    }
}
