//! Tensor maps in global memory that a launch writes, and the fences that make them known to copies.
//!
//! Copies read a map through a proxy of its own. What threads have written is known there if one of them has released it
//! (`fence.proxy.tensormap::generic.release`) and, behind that, one has acquired the map (`.acquire`). The acquire need not be by the thread
//! that copies, but must come before its copy. (PTX ISA, "membar, fence" and "Proxies".)

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Accessor, Buffer, NOWHERE, RECORD, Who};
use crate::emulator::clocks::View;
use crate::emulator::program::Scope;
use crate::tensor_map::TENSOR_MAP_BYTES;

/// The bytes of a map.
pub(in crate::emulator) type MapBytes = [u8; TENSOR_MAP_BYTES];

/// Fences of one thread for one map, at most: a thread that acquires a map anew has acquired what is new.
const ACQUIRES: usize = 4;

/// The fences of a launch for tensor maps.
#[derive(Default)]
pub(in crate::emulator) struct Maps(Mutex<Fences>);

#[derive(Default)]
struct Fences {
    /// The last release of each thread, by block.
    released: HashMap<u64, HashMap<u32, Released>>,
    /// Acquires by the address of the map.
    acquired: HashMap<u64, Vec<Acquired>>,
}

struct Released {
    rank: u8,
    scope: Scope,
    /// All that the thread had done and known.
    view: View,
}

struct Acquired {
    by: Who,
    rank: u8,
    scope: Scope,
    /// The bytes that were acquired.
    bytes: MapBytes,
    lack: Option<Lack>,
}

/// A fence that is lacking for a copy to see a map as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum Lack {
    /// No fence that acquires the map comes before the copy and behind the writes.
    Acquire,
    /// None that releases what was written comes before that.
    Release,
}

impl Maps {
    fn fences(&self) -> MutexGuard<'_, Fences> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the launch before.
    pub(in crate::emulator) fn clear(&mut self) {
        *self.fences() = Fences::default();
    }

    /// A thread releases all that it has done and knows.
    pub(in crate::emulator) fn release(
        &self,
        (block, thread): (u64, u32),
        rank: u8,
        scope: Scope,
        view: View,
    ) {
        let released = Released { rank, scope, view };
        let mut fences = self.fences();
        let of_block = fences.released.entry(block).or_default();
        of_block.insert(thread, released);
    }

    /// A thread acquires the map at an address, whose writers were these.
    pub(in crate::emulator) fn acquire(
        &self,
        at: u64,
        by: &Accessor<'_>,
        scope: Scope,
        writers: &[Who],
        bytes: MapBytes,
    ) {
        let mut fences = self.fences();
        let here = (by.block, by.rank);
        let in_block = |block: u64, writer: &Who| {
            fences.released.get(&block).is_some_and(|all| {
                all.values().any(|released| {
                    let there = (block, released.rank);
                    reaches(released.scope, there, here)
                        && reaches(scope, there, here)
                        && has(block, &released.view, writer)
                })
            })
        };
        // Mostly it is a thread of the writer's block, or of this one.
        let is_released = |writer: &Who| {
            in_block(writer.block, writer)
                || in_block(by.block, writer)
                || fences.released.keys().any(|block| in_block(*block, writer))
        };
        let lack = if !writers.iter().all(|writer| by.knows(*writer)) {
            Some(Lack::Acquire)
        } else if !writers.iter().all(is_released) {
            Some(Lack::Release)
        } else {
            None
        };
        let who = by.who();
        let acquired = Acquired {
            by: who,
            rank: by.rank,
            scope,
            bytes,
            lack,
        };
        let all = fences.acquired.entry(at).or_default();
        let same = |other: &Acquired| (other.by.block, other.by.thread) == (who.block, who.thread);
        if all.iter().filter(|other| same(other)).count() >= ACQUIRES
            && let Some(oldest) = all.iter().position(same)
        {
            all.remove(oldest);
        }
        all.push(acquired);
    }

    /// Tells what is lacking for a copy by a thread to see these bytes of the map at an address, which the launch has written.
    pub(in crate::emulator) fn lacks(
        &self,
        at: u64,
        by: &Accessor<'_>,
        bytes: &MapBytes,
    ) -> Option<Lack> {
        let fences = self.fences();
        let known = fences.acquired.get(&at).into_iter().flatten();
        let known = known.filter(|acquired| {
            acquired.bytes == *bytes
                && reaches(
                    acquired.scope,
                    (acquired.by.block, acquired.rank),
                    (by.block, by.rank),
                )
                && by.knows(acquired.by)
        });
        let mut lack = Some(Lack::Acquire);
        for acquired in known {
            match acquired.lack {
                None => return None,
                Some(Lack::Release) => lack = Some(Lack::Release),
                Some(Lack::Acquire) => {}
            }
        }
        lack
    }
}

/// Tells whether the scope of a fence in one block holds another one; blocks by the number of the cluster and the rank in it.
fn reaches(scope: Scope, from: (u64, u8), to: (u64, u8)) -> bool {
    match scope {
        Scope::Block => from == to,
        Scope::Cluster => from.0 == to.0,
        Scope::Device => true,
    }
}

/// Tells whether what a thread of a block had done and known has a write.
fn has(block: u64, view: &View, writer: &Who) -> bool {
    let times = if writer.block == block {
        Some(&view.times)
    } else {
        let others = view.others.as_ref();
        others.and_then(|others| others.blocks.get(&writer.block))
    };
    times
        .and_then(|times| times.get(writer.thread as usize))
        .is_some_and(|time| *time >= writer.time)
}

impl Buffer {
    /// The last writers in this launch of a range; none where it has not written there.
    pub(in crate::emulator) fn writers(&self, offset: u64, bytes: usize) -> Vec<Who> {
        let mut found: Vec<Who> = Vec::new();
        if self.writers.is_empty() {
            return found;
        }
        let (first, end) = (offset + self.lead, offset + self.lead + bytes as u64);
        for at in (first..end).step_by(4) {
            let near = self.lock(at);
            for index in self.granules(at, 4) {
                let word = self.writers[index].load(Relaxed);
                let new = if word == RECORD {
                    let record = near.records.get(&index);
                    record.map(|record| record.writers()).unwrap_or_default()
                } else {
                    Who::unpack(word).into_iter().collect()
                };
                for who in new {
                    let who = Who {
                        inst: NOWHERE,
                        ..who
                    };
                    if !found.contains(&who) {
                        found.push(who);
                    }
                }
            }
        }
        found
    }
}
