//! The choice of blocks that stay: of a grid that multiprocessors have room for at once, each block computes one row after another, and loads what is the same for all
//! rows once.

use super::{Arrangement, Map};
use crate::arch::REGISTERS_PER_THREAD;
use cute_ir::maps::is_same_along;

/// Registers of a thread beside those of its elements.
const BESIDE: i64 = 40;

/// Bytes of shared memory beside what is kept: the parts of reductions of each warp.
const REDUCED: i64 = 512;

impl<'c> Map<'c> {
    /// Blocks of a multiprocessor that stay; none where it does not pay. It pays where vectors begin at aligned elements of rows, and inputs that are the same for
    /// all rows are shifted to be where these are: that is half of what a row costs then.
    pub(super) fn staying(&self, way: &Arrangement) -> Option<i64> {
        way.aligned_by?;
        if !self.may_stay || !way.held || way.by_rows {
            return None;
        }
        let bytes = |is_taken: &dyn Fn(bool, bool) -> bool| {
            let inputs = self.tensors[..self.inputs].iter().zip(&way.layouts);
            let of = inputs
                .filter(|(_, layout)| is_taken(is_same_along(layout, 0), is_same_along(layout, 1)));
            let of = of.map(|(whole, _)| whole.memref.element_bytes());
            (of.clone().count() as i64, of.sum::<i64>())
        };
        let (kept, bytes_kept) = bytes(&|rows, columns| rows && !columns);
        let (_, bytes_moved) = bytes(&|rows, columns| !rows && !columns);
        let (numbers, _) = bytes(&|rows, columns| !rows && columns);
        // Numbers of a row would be waited for in each.
        if kept == 0 || numbers > 0 {
            return None;
        }
        let [vector, vectors] = way.values;
        let elements = vector * vectors;
        // The elements of a row and those of the next one, and a vector of what is computed with each input that is kept.
        let registers = BESIDE + 2 * elements * bytes_moved / 4 + vector * (1 + kept);
        let threads = way.threads.iter().product::<i64>();
        let shared = threads * (elements + 1) * bytes_kept + REDUCED;
        let registers = u32::try_from(registers.min(REGISTERS_PER_THREAD)).ok()?;
        let (threads, shared) = (u32::try_from(threads).ok()?, u64::try_from(shared).ok()?);
        let blocks = self.archs.all().map(|arch| {
            let occupancy = arch.multiprocessor().occupancy(threads, registers, shared);
            i64::from(occupancy.blocks)
        });
        let blocks = blocks.min().filter(|blocks| *blocks > 0)?;
        // Of fewer rows each block has one.
        let at_once = blocks * i64::from(self.archs.first().multiprocessors()) * way.tile(0);
        match self.known(0) {
            Some(rows) if rows <= at_once => None,
            _ => Some(blocks),
        }
    }
}
