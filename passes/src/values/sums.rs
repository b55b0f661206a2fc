//! Accumulators of products of warpgroups that may be under way, which nothing but products and waits may touch (PTX ISA, wgmma), from one turn of a loop
//! into the next as well.
//!
//! Groups are counted from the start of the kernel, by the least number that was committed on any way. A turn of a loop begins with products of the turn
//! before it: what a turn touches is kept with the groups that its waits before had ended, and compared at its end with what it leaves under way.

use cute_ir::{Failure, diag, mlir::*};
use melior::ir::Location;
use std::collections::BTreeMap;

/// The accumulators that products may be adding to, by their files of registers.
#[derive(Clone, Default)]
pub(super) struct Sums<'c> {
    /// The last product that adds to each.
    under_way: BTreeMap<usize, Product<'c>>,
    /// The number of the first group that waits did not end, of those in this turn that were given each file.
    ended: BTreeMap<usize, i64>,
    /// The touch of each file in this turn that had the fewest groups ended before it.
    touches: BTreeMap<usize, Touch<'c>>,
}

#[derive(Clone, Copy)]
struct Product<'c> {
    /// Groups that were committed before it.
    group: i64,
    place: Location<'c>,
}

#[derive(Clone, Copy)]
struct Touch<'c> {
    /// The number of the first group that had not ended.
    ended: i64,
    place: Location<'c>,
}

/// The number of a group where so many were committed, as one where the least number is counted.
pub(super) fn renumbered(group: i64, committed: i64, least: i64) -> i64 {
    match group < committed {
        // Committed there, be it with more groups before.
        true => group.min(least - 1),
        false => least,
    }
}

const START: &str = "the product starts here";

impl<'c> Sums<'c> {
    /// A product adds to a file, with so many groups committed before it.
    pub(super) fn start(&mut self, file: usize, group: i64, place: Location<'c>) {
        self.under_way.insert(file, Product { group, place });
    }

    /// A wait ends the groups before this one, and is given these files.
    pub(super) fn wait(&mut self, files: &[usize], ended: i64) {
        for file in files {
            let own = self.ended.entry(*file).or_insert(ended);
            *own = (*own).max(ended);
            if self.under_way.get(file).is_some_and(|it| it.group < ended) {
                self.under_way.remove(file);
            }
        }
    }

    /// Something else reads or writes a file. Refuses what products may be adding to.
    pub(super) fn touch(
        &mut self,
        file: usize,
        committed: i64,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        if let Some(product) = self.under_way.get(&file) {
            let cure = match product.group < committed {
                true => "a cute_nvgpu.wgmma_wait_group 0 that is given this fragment",
                false => {
                    "a cute_nvgpu.wgmma_commit_group and a cute_nvgpu.wgmma_wait_group 0 that is given this fragment"
                }
            };
            return Err(diag::error_with_notes(
                b.location,
                format!(
                    "touches the accumulators of products that may be under way; expected {cure} between the product and here"
                ),
                &[(product.place, START)],
            ));
        }
        let ended = self.ended.get(&file).copied().unwrap_or(i64::MIN);
        let place = b.location;
        self.note(file, Touch { ended, place });
        Ok(())
    }

    fn note(&mut self, file: usize, touch: Touch<'c>) {
        let own = self.touches.entry(file).or_insert(touch);
        if touch.ended < own.ended {
            *own = touch;
        }
    }

    /// A turn of a loop begins.
    pub(super) fn enter_turn(&mut self) {
        self.ended.clear();
        self.touches.clear();
    }

    /// A turn of a loop ends with so many groups committed, where so many were as it began. Refuses what touches in the next turn what is under way, and adds
    /// what was touched to what was before the loop.
    pub(super) fn leave_turn(
        &mut self,
        before: &Self,
        committed: i64,
        began: i64,
    ) -> Result<(), Failure> {
        for (file, product) in &self.under_way {
            let group = product.group - committed + began;
            let Some(touch) = self.touches.get(file).filter(|it| it.ended <= group) else {
                continue;
            };
            return Err(diag::error_with_notes(
                touch.place,
                "touches the accumulators of products that the turn of the loop before may have left under way; expected a cute_nvgpu.wgmma_wait_group 0 \
                 that is given this fragment in the loop, behind the product or before this",
                &[(product.place, START)],
            ));
        }
        let within = std::mem::take(&mut self.touches);
        self.touches.clone_from(&before.touches);
        for (file, mut touch) in within {
            let ended = before.ended.get(&file).copied().unwrap_or(i64::MIN);
            touch.ended = touch.ended.max(ended);
            self.note(file, touch);
        }
        self.ended.clone_from(&before.ended);
        Ok(())
    }

    /// Refuses products under way whose sums were made in a region that ends here, the files from this one on: their registers become others'.
    pub(super) fn check_made_since(&self, first: usize) -> Result<(), Failure> {
        match self.under_way.range(first..).next() {
            Some((_, product)) => Err(diag::error(
                product.place,
                "adds to accumulators that are made in this turn or branch, and may be under way at its end, where their registers become others'; put a \
                 cute_nvgpu.wgmma_wait_group 0 that is given them there, or make them before the loop",
            )),
            None => Ok(()),
        }
    }

    /// The same where the least number of groups is counted.
    pub(super) fn renumbered(mut self, committed: i64, least: i64) -> Self {
        for product in self.under_way.values_mut() {
            product.group = renumbered(product.group, committed, least);
        }
        self
    }

    /// Joins two states of one numbering: all that may be the case where one of them is.
    pub(super) fn joined(mut self, other: Self) -> Self {
        for (file, product) in other.under_way {
            let own = self.under_way.entry(file).or_insert(product);
            if own.group < product.group {
                *own = product;
            }
        }
        self.ended.retain(|file, own| {
            let Some(other) = other.ended.get(file) else {
                return false;
            };
            *own = (*own).min(*other);
            true
        });
        for (file, touch) in other.touches {
            self.note(file, touch);
        }
        self
    }
}
