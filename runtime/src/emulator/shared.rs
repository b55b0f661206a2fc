//! Shared memory of a block: its bytes, and who touched them last.

mod history;
mod reductions;
mod speculated;

use std::collections::BTreeMap;

use super::address::{RANK_BITS, SHARED_START, block_of_place};
use super::clocks::{Agent, Clocks, Known};
use history::{Access, Histories};
use speculated::Loads;
pub(super) use speculated::{Deferred, Needed, What};

/// A thread and its time: `thread << 32 | time`, times start at 1. 0 is nobody.
type Epoch = u64;
/// A write that is under way.
const IN_FLIGHT: u64 = 1 << 63;
/// The bit that marks an index into the histories in place of a write, as strong operations were there.
const HISTORY: u64 = 1 << 62;
/// The bit that marks an index into the lists of several readers.
const MANY: u64 = 1 << 63;
/// The bit of a read whose value may not matter, with the number of the load in place of an instruction.
const SPECULATED: u64 = 1 << 61;

fn epoch(thread: u32, time: u32) -> Epoch {
    u64::from(thread) << 32 | u64::from(time)
}

fn thread_of(epoch: Epoch) -> u32 {
    (epoch >> 32) as u32 & 0xffff
}

fn time_of(epoch: Epoch) -> u32 {
    epoch as u32
}

fn has(known: &Known<'_>, epoch: Epoch) -> bool {
    known.has(thread_of(epoch), time_of(epoch))
}

#[derive(Clone, Copy, Default)]
struct Granule {
    write: Epoch,
    read: Epoch,
    write_inst: u32,
    read_inst: u32,
}

/// The reason why an access must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nobody wrote it.
    Uninitialized,
    /// An asynchronous copy may still be under way to it.
    InFlight,
    /// The access and a write have no order.
    AfterWrite,
    /// The same, and both are plain and write the same value.
    AfterEqualWrite,
    /// The access, a write, and a read before it have no order.
    AfterRead,
    /// The access is one of the asynchronous proxy, and no proxy fence stands between it and what a thread did before.
    Unfenced,
    /// An asynchronous operation writes there, and its completion was not waited for.
    Arriving(Agent),
    /// An asynchronous operation reads there, and its completion was not waited for.
    BeingRead(Agent),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub trouble: Trouble,
    /// Byte address in the window.
    pub at: u64,
    /// The other thread and instruction; none for what nobody wrote.
    pub thread: u32,
    pub inst: u32,
}

/// The thread and the instruction of an access.
#[derive(Clone, Copy)]
pub(super) struct By<'c> {
    pub thread: u32,
    pub inst: u32,
    /// Bytes of an element if the access is strong, else 0. Strong operations of one width never race with each
    /// other; of several widths they overlap in part. (PTX ISA, "Morally Strong Operations".)
    pub strong: u8,
    /// The clock and the time of the agent in the asynchronous proxy for which the thread acts; none for the thread itself.
    pub agent: Option<(u32, u32)>,
    pub clocks: &'c Clocks,
}

impl By<'_> {
    fn epoch(&self) -> Epoch {
        match self.agent {
            Some((agent, time)) => epoch(agent, time),
            None => epoch(self.thread, self.clocks.now(self.thread)),
        }
    }

    fn knows(&self, epoch: Epoch) -> bool {
        has(&self.known(), epoch)
    }

    /// The things that happen before the access.
    fn known(&self) -> Known<'_> {
        match self.agent {
            Some(_) => self.clocks.known_to_proxy(self.thread),
            None => self.clocks.known(self.thread),
        }
    }

    fn conflict(&self, trouble: Trouble, epoch: Epoch, inst: u32) -> Conflict {
        let thread = thread_of(epoch);
        if let Some(agent) = self.clocks.agents.of(thread) {
            let is_stored = matches!(agent, Agent::Stores(_));
            if is_stored
                && self.agent.is_some()
                && self.clocks.ordered(self.thread, thread, time_of(epoch))
            {
                return Conflict {
                    trouble: Trouble::Unfenced,
                    at: 0,
                    thread: self.thread,
                    inst,
                };
            }
            let is_read = trouble == Trouble::AfterRead;
            return Conflict {
                trouble: match is_read {
                    true => Trouble::BeingRead(agent),
                    false => Trouble::Arriving(agent),
                },
                at: 0,
                thread: self.thread,
                inst,
            };
        }
        let fenced = |trouble| match trouble {
            Trouble::AfterWrite | Trouble::AfterRead
                if self.agent.is_some()
                    && self.clocks.ordered(self.thread, thread, time_of(epoch)) =>
            {
                Trouble::Unfenced
            }
            trouble => trouble,
        };
        let trouble = fenced(trouble);
        // What a copy wrote that arrives somewhere, where nobody has waited for it.
        let copier = thread.checked_sub(self.clocks.threads() as u32);
        let trouble = match copier {
            Some(_) if trouble != Trouble::Unfenced => Trouble::InFlight,
            _ => trouble,
        };
        Conflict {
            trouble,
            at: 0,
            thread: copier.unwrap_or(thread),
            inst,
        }
    }
}

pub(super) struct Shared {
    /// Bytes that each block of the cluster has.
    size: u64,
    /// The same, a little longer, and the blocks.
    padded: usize,
    ranks: u64,
    bytes: Vec<u8>,
    granule_bits: u32,
    granules: Vec<Granule>,
    /// Readers where there are several that do not know of each other.
    many: Vec<Vec<(Epoch, u32)>>,
    free: Vec<u32>,
    histories: Histories,
    /// The defined bits of bytes that were written though not all of theirs are.
    partly: BTreeMap<usize, u8>,
    /// Loads whose values may not matter, of any memory.
    pub loads: Loads,
}

impl Shared {
    /// `end` is where the window ends; `granule` the smallest access.
    pub(super) fn new(end: u64, granule: u32, ranks: u32) -> Shared {
        let padded = (end - SHARED_START).next_multiple_of(16) as usize;
        let length = padded * ranks as usize;
        let granule_bits = granule.trailing_zeros();
        Shared {
            size: end - SHARED_START,
            padded,
            ranks: ranks.into(),
            bytes: vec![0xff; length],
            granule_bits,
            granules: vec![Granule::default(); length >> granule_bits],
            many: Vec::new(),
            free: Vec::new(),
            histories: Histories::default(),
            partly: BTreeMap::new(),
            loads: Loads::default(),
        }
    }

    /// Bytes in the window.
    pub(super) fn len(&self) -> u64 {
        self.size
    }

    /// The place of what [`Shared::holds`].
    fn offset(&self, at: u64) -> usize {
        let (rank, at) = block_of_place(at);
        rank as usize * self.padded + (at - SHARED_START) as usize
    }

    /// Tells whether an access lies inside.
    pub(super) fn holds(&self, at: u64, bytes: u64) -> bool {
        let (rank, at) = block_of_place(at);
        rank < self.ranks
            && at >= SHARED_START
            && (at - SHARED_START)
                .checked_add(bytes)
                .is_some_and(|end| end <= self.len())
    }

    /// The memory of an access that [`Shared::holds`].
    pub(super) fn get(&self, at: u64, bytes: usize) -> &[u8] {
        let start = self.offset(at);
        &self.bytes[start..start + bytes]
    }

    pub(super) fn get_mut(&mut self, at: u64, bytes: usize) -> &mut [u8] {
        let start = self.offset(at);
        &mut self.bytes[start..start + bytes]
    }

    /// The thread or agent that wrote last what lies there; none where nobody did, or strong operations are kept.
    pub(super) fn writer(&self, at: u64) -> Option<u32> {
        let write = self.granules[self.offset(at) >> self.granule_bits].write;
        (write != 0 && write & HISTORY == 0).then(|| thread_of(write))
    }

    fn range(&self, at: u64, bytes: usize) -> std::ops::Range<usize> {
        let start = self.offset(at) >> self.granule_bits;
        start..start + (bytes >> self.granule_bits).max(1)
    }

    /// Notes an aligned read, and says what it collides with.
    pub(super) fn read(&mut self, at: u64, bytes: usize, by: By<'_>) -> Option<Conflict> {
        self.read_for(at, bytes, by, None)
    }

    /// The same, for a load whose value may not matter, if that is given.
    #[inline]
    fn read_for(
        &mut self,
        at: u64,
        bytes: usize,
        by: By<'_>,
        load: Option<u32>,
    ) -> Option<Conflict> {
        let mine = by.epoch();
        let mut found = None;
        let known = by.known();
        // What lies together was often written together.
        let mut last = 0;
        for index in self.range(at, bytes) {
            let g = self.granules[index];
            let conflict = if by.strong != 0 || g.write & HISTORY != 0 {
                let history = self.history(index);
                self.histories.access(history, Access::read(&by), &by)
            } else {
                if g.read != mine {
                    match load {
                        None => self.note_read(index, mine, by),
                        Some(load) => self.note_speculated(index, mine, load),
                    }
                }
                if g.write & IN_FLIGHT != 0 {
                    Some(by.conflict(Trouble::InFlight, g.write, g.write_inst))
                } else if g.write == 0 {
                    Some(by.conflict(Trouble::Uninitialized, 0, by.inst))
                } else if g.write == last || has(&known, g.write) {
                    last = g.write;
                    None
                } else {
                    Some(by.conflict(Trouble::AfterWrite, g.write, g.write_inst))
                }
            };
            // What is missing may be carried on, other conflicts are not.
            let is_missing = |of: &Conflict| of.trouble == Trouble::Uninitialized;
            if found.as_ref().is_none_or(is_missing)
                && let Some(conflict) = conflict.filter(|new| found.is_none() || !is_missing(new))
            {
                found = Some(self.placed(index, conflict));
            }
        }
        if found.is_none() && !self.partly.is_empty() {
            let start = self.offset(at);
            let lacking = self.partly.range(start..start + bytes).next();
            found = lacking.map(|_| Conflict {
                at,
                ..by.conflict(Trouble::Uninitialized, 0, by.inst)
            });
        }
        found
    }

    /// The defined bits of the bytes of a read, if some are not, where no strong operation was.
    pub(super) fn undefined(&self, at: u64, bytes: usize) -> Option<[u8; 32]> {
        let start = self.offset(at);
        let mut defined = [u8::MAX; 32];
        for (byte, bits) in defined.iter_mut().take(bytes).enumerate() {
            let place = start + byte;
            *bits = match self.granules[place >> self.granule_bits].write {
                0 => 0,
                _ => self.partly.get(&place).copied().unwrap_or(u8::MAX),
            };
        }
        defined
            .iter()
            .any(|bits| *bits != u8::MAX)
            .then_some(defined)
    }

    /// Says which bits of a byte that was written are defined.
    pub(super) fn undefine(&mut self, at: u64, defined: u8) {
        let place = self.offset(at);
        self.partly.insert(place, defined);
    }

    fn placed(&self, granule: usize, conflict: Conflict) -> Conflict {
        let byte = granule << self.granule_bits;
        Conflict {
            at: (((byte / self.padded) as u64) << RANK_BITS)
                + (byte % self.padded) as u64
                + SHARED_START,
            ..conflict
        }
    }

    /// The history of a granule, which it has from now on.
    fn history(&mut self, index: usize) -> u32 {
        let g = self.granules[index];
        if g.write & HISTORY != 0 {
            return (g.write & !HISTORY) as u32;
        }
        let mut before = Vec::new();
        if g.write != 0 {
            before.push(Access::weak(g.write, g.write_inst, true));
        }
        if g.read & MANY != 0 {
            let slot = (g.read & !MANY) as usize;
            self.free.push(slot as u32);
            let readers = std::mem::take(&mut self.many[slot]);
            before.extend(readers.iter().map(|&reader| self.weak_read(reader)));
        } else if g.read != 0 {
            before.push(self.weak_read((g.read, g.read_inst)));
        }
        let history = self.histories.start(before);
        self.granules[index] = Granule {
            write: HISTORY | u64::from(history),
            ..Granule::default()
        };
        history
    }

    fn note_read(&mut self, index: usize, mine: Epoch, by: By<'_>) {
        let before = self.granules[index].read;
        // Readers that this one knows of need no place of their own: what comes after this one
        // comes after them.
        if before & MANY != 0 {
            let list = &mut self.many[(before & !MANY) as usize];
            list.retain(|(epoch, _)| !by.knows(*epoch));
            list.push((mine, by.inst));
            return;
        }
        if before == 0 || by.knows(before) {
            self.granules[index].read = mine;
            self.granules[index].read_inst = by.inst;
            return;
        }
        self.note_another(index, (mine, by.inst));
    }

    /// Notes a second reader, which does not know of the first one.
    fn note_another(&mut self, index: usize, reader: (Epoch, u32)) {
        let before = self.granules[index].read;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.many.push(Vec::new());
                self.many.len() as u32 - 1
            }
        };
        // Empty, but with memory from its last use.
        let list = &mut self.many[slot as usize];
        list.push((before, self.granules[index].read_inst));
        list.push(reader);
        self.granules[index].read = MANY | u64::from(slot);
    }

    /// Notes an aligned write, and says what it collides with.
    pub(super) fn write(&mut self, at: u64, bytes: usize, by: By<'_>) -> Option<Conflict> {
        self.note_write(at, bytes, by, by.epoch(), None)
    }

    /// Notes an aligned write of a value that is not there yet, and says what it collides with: with one of another value, if there is
    /// one.
    pub(super) fn write_value(&mut self, at: u64, value: &[u8], by: By<'_>) -> Option<Conflict> {
        self.note_write(at, value.len(), by, by.epoch(), Some(value))
    }

    /// Notes that an asynchronous copy starts.
    pub(super) fn start_copy(&mut self, at: u64, bytes: usize, by: By<'_>) -> Option<Conflict> {
        self.note_write(at, bytes, by, by.epoch() | IN_FLIGHT, None)
    }

    /// Notes that a thread's store starts, which an agent completes.
    pub(super) fn start_store(
        &mut self,
        at: u64,
        bytes: usize,
        by: By<'_>,
        (agent, time): (u32, u32),
    ) -> Option<Conflict> {
        self.note_write(at, bytes, by, epoch(agent, time) | IN_FLIGHT, None)
    }

    fn note_write(
        &mut self,
        at: u64,
        bytes: usize,
        by: By<'_>,
        mine: Epoch,
        value: Option<&[u8]>,
    ) -> Option<Conflict> {
        let mut found: Option<Conflict> = None;
        if !self.partly.is_empty() {
            let start = self.offset(at);
            self.partly
                .retain(|place, _| !(start..start + bytes).contains(place));
        }
        let range = self.range(at, bytes);
        let first = range.start;
        let known = by.known();
        for index in range {
            let g = self.granules[index];
            let races =
                g.write != 0 && g.write & (HISTORY | IN_FLIGHT) == 0 && !has(&known, g.write);
            let equal =
                races && value.is_some_and(|value| self.holds_already(index, index - first, value));
            let conflict = if by.strong != 0 || g.write & HISTORY != 0 {
                let history = self.history(index);
                let conflict = self.histories.access(history, Access::write(&by), &by);
                if by.strong == 0 {
                    // Nothing before needs to be known any more.
                    self.histories.end(history);
                }
                conflict
            } else {
                // Who may not care is asked where the thread itself writes.
                let defers = by.agent.is_none() && thread_of(mine) == by.thread;
                self.conflict_of_write(index, &by, defers, races.then_some(equal))
            };
            let milder = |found: &Conflict| found.trouble == Trouble::AfterEqualWrite;
            if found.as_ref().is_none_or(milder)
                && let Some(conflict) = conflict.filter(|new| found.is_none() || !milder(new))
            {
                found = Some(self.placed(index, conflict));
            }
            if by.strong == 0 {
                self.granules[index] = Granule {
                    write: mine,
                    read: 0,
                    write_inst: by.inst,
                    read_inst: 0,
                };
            }
        }
        found
    }

    /// Tells whether a granule, one of those that a value is written to, has its part of the value.
    fn holds_already(&self, index: usize, part: usize, value: &[u8]) -> bool {
        let bytes = 1 << self.granule_bits;
        let new = value.chunks(bytes).nth(part);
        let at = index << self.granule_bits;
        new.is_some_and(|new| self.bytes.get(at..at + new.len()) == Some(new))
    }

    /// The conflict of a write with what is not strong, if there is one. Where it has no order with the last write, `races` says whether
    /// both are of one value; a read then counts for more. Forgets a list of readers.
    fn conflict_of_write(
        &mut self,
        index: usize,
        by: &By<'_>,
        defers: bool,
        races: Option<bool>,
    ) -> Option<Conflict> {
        let g = self.granules[index];
        let mut found = None;
        if g.write & IN_FLIGHT != 0 {
            found = Some(by.conflict(Trouble::InFlight, g.write, g.write_inst));
        } else if races == Some(false) {
            found = Some(by.conflict(Trouble::AfterWrite, g.write, g.write_inst));
        }
        if g.read & MANY != 0 {
            let slot = (g.read & !MANY) as usize;
            self.free.push(slot as u32);
            let mut readers = std::mem::take(&mut self.many[slot]);
            if found.is_none() {
                found = self.conflict_with_readers(index, by, defers, &readers);
            }
            readers.clear();
            self.many[slot] = readers;
        } else if found.is_none() && g.read != 0 && !by.knows(g.read) {
            found = match g.read & SPECULATED {
                0 => Some(by.conflict(Trouble::AfterRead, g.read, g.read_inst)),
                _ => self.conflict_with_readers(index, by, defers, &[(g.read, g.read_inst)]),
            };
        }
        if found.is_none() && races.is_some() {
            found = Some(by.conflict(Trouble::AfterEqualWrite, g.write, g.write_inst));
        }
        found
    }

    /// Notes that the thread has waited for its copy: from now on it is a write of this time.
    pub(super) fn finish_copy(&mut self, at: u64, bytes: usize, by: By<'_>) {
        let time = by.clocks.now(by.thread);
        self.finish_copy_as(at, bytes, by.thread, (by.thread, time));
    }

    /// Notes that a thread's copy is done, as a write of another thread and time.
    pub(super) fn finish_copy_as(
        &mut self,
        at: u64,
        bytes: usize,
        thread: u32,
        (writer, time): (u32, u32),
    ) {
        for index in self.range(at, bytes) {
            let g = &mut self.granules[index];
            if g.write & HISTORY != 0 {
                let history = (g.write & !HISTORY) as u32;
                self.histories
                    .finish_copy(history, thread, epoch(writer, time));
            } else if g.write & IN_FLIGHT != 0 && thread_of(g.write) == thread {
                g.write = epoch(writer, time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(clocks: &mut Clocks, threads: &[u32]) {
        let mut release = clocks.meeting();
        for &thread in threads {
            clocks.release(thread, &mut release);
        }
        let known = release.finish();
        for &thread in threads {
            clocks.acquire(thread, &known);
        }
    }

    fn by(clocks: &Clocks, thread: u32) -> By<'_> {
        By {
            thread,
            inst: thread,
            strong: 0,
            agent: None,
            clocks,
        }
    }

    fn trouble(found: Option<Conflict>) -> Option<Trouble> {
        found.map(|conflict| conflict.trouble)
    }

    const AT: u64 = SHARED_START + 16;

    #[test]
    fn accesses_need_a_barrier_between_them() {
        let mut clocks = Clocks::new(4, false);
        let mut shared = Shared::new(SHARED_START + 64, 4, 1);
        assert_eq!(
            trouble(shared.read(AT, 4, by(&clocks, 0))),
            Some(Trouble::Uninitialized)
        );
        assert_eq!(shared.write(AT, 8, by(&clocks, 0)), None);
        assert_eq!(shared.read(AT, 8, by(&clocks, 0)), None);
        let found = shared.read(AT, 8, by(&clocks, 1)).unwrap();
        assert_eq!(
            (found.trouble, found.thread, found.at),
            (Trouble::AfterWrite, 0, AT)
        );
        meet(&mut clocks, &[0, 1, 2]);
        assert_eq!(shared.read(AT, 8, by(&clocks, 1)), None);
        assert_eq!(shared.read(AT + 4, 4, by(&clocks, 2)), None);
        assert_eq!(
            trouble(shared.read(AT, 4, by(&clocks, 3))),
            Some(Trouble::AfterWrite)
        );
        let found = shared.write(AT + 4, 4, by(&clocks, 2)).unwrap();
        assert_eq!((found.trouble, found.thread), (Trouble::AfterRead, 1));
    }

    #[test]
    fn every_reader_is_remembered() {
        let mut clocks = Clocks::new(4, false);
        let mut shared = Shared::new(SHARED_START + 64, 4, 1);
        shared.write(AT, 4, by(&clocks, 0));
        meet(&mut clocks, &[0, 1, 2, 3]);
        for thread in [1, 2, 3] {
            assert_eq!(shared.read(AT, 4, by(&clocks, thread)), None);
        }
        // Thread 0 hears of two of the three.
        meet(&mut clocks, &[0, 1, 3]);
        let found = shared.write(AT, 4, by(&clocks, 0)).unwrap();
        assert_eq!((found.trouble, found.thread), (Trouble::AfterRead, 2));
    }

    #[test]
    fn a_copy_is_under_way_until_it_is_waited_for() {
        let mut clocks = Clocks::new(4, false);
        let mut shared = Shared::new(SHARED_START + 64, 16, 1);
        assert_eq!(shared.start_copy(AT, 16, by(&clocks, 0)), None);
        assert_eq!(
            trouble(shared.read(AT, 16, by(&clocks, 0))),
            Some(Trouble::InFlight)
        );
        meet(&mut clocks, &[0, 1]);
        assert_eq!(
            trouble(shared.read(AT, 16, by(&clocks, 1))),
            Some(Trouble::InFlight)
        );
        shared.finish_copy(AT, 16, by(&clocks, 0));
        assert_eq!(shared.read(AT, 16, by(&clocks, 0)), None);
        // The barrier came before the wait.
        assert_eq!(
            trouble(shared.read(AT, 16, by(&clocks, 1))),
            Some(Trouble::AfterWrite)
        );
        meet(&mut clocks, &[0, 1]);
        assert_eq!(shared.read(AT, 16, by(&clocks, 1)), None);
        assert_eq!(
            trouble(shared.start_copy(AT, 16, by(&clocks, 0))),
            Some(Trouble::AfterRead)
        );
    }

    #[test]
    fn writes_of_one_value_are_told_apart() {
        let mut clocks = Clocks::new(4, false);
        let mut shared = Shared::new(SHARED_START + 64, 4, 1);
        let write = |shared: &mut Shared, clocks: &Clocks, thread, value: [u32; 2]| {
            let value = value.map(u32::to_le_bytes).concat();
            let found = shared.write_value(AT, &value, by(clocks, thread));
            shared.get_mut(AT, 8).copy_from_slice(&value);
            found.map(|conflict| (conflict.trouble, conflict.thread, conflict.at))
        };
        let equal = |thread| Some((Trouble::AfterEqualWrite, thread, AT));
        assert_eq!(write(&mut shared, &clocks, 0, [7, 7]), None);
        assert_eq!(write(&mut shared, &clocks, 1, [7, 7]), equal(0));
        // Of two elements that of another value is told.
        let found = write(&mut shared, &clocks, 2, [7, 8]);
        assert_eq!(found, Some((Trouble::AfterWrite, 1, AT + 4)));
        meet(&mut clocks, &[0, 1, 2, 3]);
        assert_eq!(write(&mut shared, &clocks, 3, [7, 8]), None);
        assert_eq!(
            trouble(shared.read(AT, 8, by(&clocks, 0))),
            Some(Trouble::AfterWrite)
        );
        // A read before is not of the same value.
        meet(&mut clocks, &[0, 1, 2, 3]);
        assert_eq!(write(&mut shared, &clocks, 3, [9, 9]), None);
        meet(&mut clocks, &[2, 3]);
        assert_eq!(shared.read(AT, 8, by(&clocks, 2)), None);
        let found = write(&mut shared, &clocks, 1, [9, 9]);
        assert_eq!(found, Some((Trouble::AfterRead, 2, AT)));
    }

    #[test]
    fn atomics_do_not_race_with_each_other() {
        let clocks = Clocks::new(4, false);
        let mut shared = Shared::new(SHARED_START + 64, 4, 1);
        let strong = |thread| By {
            strong: 4,
            ..by(&clocks, thread)
        };
        assert_eq!(shared.write(AT, 4, strong(0)), None);
        assert_eq!(shared.write(AT, 4, strong(1)), None);
        assert_eq!(
            trouble(shared.write(AT, 4, by(&clocks, 2))),
            Some(Trouble::AfterWrite)
        );
    }
}
