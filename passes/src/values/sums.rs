//! Registers of products of warpgroups that may be under way, from one turn of a loop into the next as well: accumulators, which nothing but products and waits may touch
//! (PTX ISA, wgmma), and what A is taken from, which nothing may write.
//!
//! Groups are counted from the start of the kernel, by the least number that was committed on any way. A turn of a loop begins with products of the turn
//! before it: what a turn touches is kept with the groups that its waits before had ended, and compared at its end with what it leaves under way. What only the
//! first turn does has none before it. A product that only one branch of a condition starts is not under way in the other one.

use cute_ir::{Failure, diag, mlir::*};
use melior::ir::Location;
use std::collections::BTreeMap;

/// The accumulators that products may be adding to, or what they may take A from, by their files of registers.
#[derive(Clone, Default)]
pub(super) struct Sums<'c> {
    /// The last product that adds to each.
    under_way: BTreeMap<usize, Product<'c>>,
    /// The accesses of this turn, of all turns of the loops around.
    all: Done<'c>,
    /// The same of turns of the innermost loop that others are before.
    later: Done<'c>,
    /// Tells whether this is only reached in the innermost loop's first turn.
    is_first: bool,
}

/// The waits and accesses of a turn so far.
#[derive(Clone, Default)]
struct Done<'c> {
    /// The number of the first group that waits did not end, of those that were given each file.
    ended: BTreeMap<usize, i64>,
    /// The same of waits that end groups whatever they are given.
    all_ended: Option<i64>,
    /// The touch of each file that had the fewest groups ended before it.
    touches: BTreeMap<usize, Touch<'c>>,
}

/// A condition, and whether it holds.
pub(super) type Guard = (ValueKey, bool);

#[derive(Clone, Copy)]
struct Product<'c> {
    /// Groups that were committed before it.
    group: i64,
    place: Location<'c>,
    /// The condition without which nothing adds to the file.
    guard: Option<Guard>,
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

/// Tells whether a condition holds where one does not.
pub(super) fn excludes(guard: Option<Guard>, other: Guard) -> bool {
    guard.is_some_and(|(condition, holds)| condition == other.0 && holds != other.1)
}

impl<'c> Done<'c> {
    fn wait(&mut self, file: usize, ended: i64) {
        let own = self.ended.entry(file).or_insert(ended);
        *own = (*own).max(ended);
    }

    fn touch(&mut self, file: usize, place: Location<'c>) {
        let ended = self.ended_for(file);
        self.note(file, Touch { ended, place });
    }

    fn ended_for(&self, file: usize) -> i64 {
        let own = self.ended.get(&file).copied().max(self.all_ended);
        own.unwrap_or(i64::MIN)
    }

    fn note(&mut self, file: usize, touch: Touch<'c>) {
        let own = self.touches.entry(file).or_insert(touch);
        if touch.ended < own.ended {
            *own = touch;
        }
    }

    /// The accesses of a loop within.
    fn note_all(&mut self, touches: &BTreeMap<usize, Touch<'c>>) {
        for (file, touch) in touches {
            let ended = touch.ended.max(self.ended_for(*file));
            self.note(*file, Touch { ended, ..*touch });
        }
    }

    fn join(&mut self, other: Self) {
        self.ended.retain(|file, own| {
            let Some(other) = other.ended.get(file) else {
                return false;
            };
            *own = (*own).min(*other);
            true
        });
        self.all_ended = self.all_ended.min(other.all_ended);
        for (file, touch) in other.touches {
            self.note(file, touch);
        }
    }
}

impl<'c> Sums<'c> {
    /// A product adds to a file, with so many groups committed before it, where this condition holds.
    pub(super) fn start(
        &mut self,
        file: usize,
        group: i64,
        place: Location<'c>,
        guard: Option<Guard>,
    ) {
        let before = self.under_way.get(&file);
        let guard = guard.filter(|_| before.is_none_or(|before| before.guard == guard));
        let product = Product {
            group,
            place,
            guard,
        };
        self.under_way.insert(file, product);
    }

    /// A branch begins where this condition holds, in the innermost loop's first turn only if `is_first`.
    pub(super) fn enter_branch(&mut self, guard: Guard, is_first: bool) {
        self.under_way
            .retain(|_, product| !excludes(product.guard, guard));
        self.is_first |= is_first;
    }

    /// A wait ends the groups before this one, and is given these files.
    pub(super) fn wait(&mut self, files: &[usize], ended: i64) {
        for file in files {
            self.all.wait(*file, ended);
            self.later.wait(*file, ended);
            if self.under_way.get(file).is_some_and(|it| it.group < ended) {
                self.under_way.remove(file);
            }
        }
    }

    /// A wait ends the groups before this one, whatever it is given.
    pub(super) fn wait_for_all(&mut self, ended: i64) {
        for done in [&mut self.all, &mut self.later] {
            done.all_ended = done.all_ended.max(Some(ended));
        }
        self.under_way.retain(|_, product| product.group >= ended);
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
        self.note_touch(file, b.location);
        Ok(())
    }

    /// Something else touches a file, which no product is known to use.
    pub(super) fn note_touch(&mut self, file: usize, place: Location<'c>) {
        self.all.touch(file, place);
        if !self.is_first {
            self.later.touch(file, place);
        }
    }

    /// A turn of a loop begins.
    pub(super) fn enter_turn(&mut self) {
        self.all = Done::default();
        self.later = Done::default();
        self.is_first = false;
    }

    /// A turn of a loop ends with so many groups committed, where so many were as it began. Refuses what touches in the next turn what is under way, and adds
    /// what was touched to what was before the loop.
    pub(super) fn leave_turn(
        &mut self,
        before: &Self,
        committed: i64,
        began: i64,
    ) -> Result<(), Failure> {
        if let Some((touch, product)) = self.met(committed, began) {
            return Err(diag::error_with_notes(
                touch,
                "touches the accumulators of products that the turn of the loop before may have left under way; expected a cute_nvgpu.wgmma_wait_group 0 \
                 that is given this fragment in the loop, behind the product or before this",
                &[(product, START)],
            ));
        }
        self.end_turn(before);
        Ok(())
    }

    /// The place of a touch in the next turn of what this one leaves under way, and of the product; none where there is none.
    pub(super) fn met(&self, committed: i64, began: i64) -> Option<(Location<'c>, Location<'c>)> {
        self.under_way.iter().find_map(|(file, product)| {
            let group = product.group - committed + began;
            let touch = self.later.touches.get(file);
            let touch = touch.filter(|it| it.ended <= group)?;
            Some((touch.place, product.place))
        })
    }

    /// A turn ends: what it touched is added to what was before the loop.
    pub(super) fn end_turn(&mut self, before: &Self) {
        let within = std::mem::take(&mut self.all).touches;
        self.all.clone_from(&before.all);
        self.all.note_all(&within);
        self.later.clone_from(&before.later);
        self.is_first = before.is_first;
        if !self.is_first {
            self.later.note_all(&within);
        }
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
            let guard = own.guard.filter(|_| own.guard == product.guard);
            if own.group < product.group {
                *own = product;
            }
            own.guard = guard;
        }
        self.all.join(other.all);
        match (self.is_first, other.is_first) {
            // Later turns come by the other way alone.
            (true, false) => {
                let touches = std::mem::replace(&mut self.later, other.later).touches;
                for (file, touch) in touches {
                    self.later.note(file, touch);
                }
            }
            (false, true) => {
                for (file, touch) in other.later.touches {
                    self.later.note(file, touch);
                }
            }
            _ => self.later.join(other.later),
        }
        self.is_first &= other.is_first;
        self
    }
}
