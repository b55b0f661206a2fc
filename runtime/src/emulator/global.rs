//! Global memory: tensors and variables of the module, shared by blocks that run on several cores.

mod access;
mod handed;
mod maps;
mod record;
mod snapshot;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::address;
pub(super) use access::{Accessor, NOWHERE, Unordered, Who};
use access::{Class, RECORD};
use handed::Place;
pub(super) use handed::{Handed, Seen};
pub(super) use maps::{Lack, Maps};
use record::Record;

/// Accesses of nearby addresses take turns, so that a value, its writer and what is handed on belong together.
const LOCKS: usize = 64;

/// A range of memory with an address.
pub(super) struct Buffer {
    pub name: String,
    pub base: u64,
    pub bytes: u64,
    pub writable: bool,
    /// The reason why there is no memory in the window any more, or yet; none where there is.
    pub gone: Option<Gone>,
    /// Tells whether the launch that runs, or the last one, has accessed it.
    noted: AtomicBool,
    /// Bytes before the tensor, so that aligned addresses are aligned here too.
    lead: u64,
    words: Vec<AtomicU32>,
    /// A bit a byte; none if everything is initialised.
    init: OnceLock<Vec<AtomicU32>>,
    /// The last writer of each granule, or [`RECORD`]. This and the next are written by who has the lock.
    writers: Vec<AtomicU64>,
    /// The last reader of each granule.
    readers: Vec<AtomicU64>,
    /// The instructions of these two, by granule, where places are kept.
    insts: Vec<[AtomicU32; 2]>,
    /// The granules that loads have read as what nothing writes while the kernel runs, a bit each; none before the first such load.
    non_coherent: OnceLock<Vec<AtomicU32>>,
    granule_bits: u32,
    locks: Vec<Mutex<Near>>,
    /// The elements that the layout has, and their bytes; none if it has all of them.
    pub elements: Option<(Vec<bool>, u64)>,
    /// Says what lies at an offset.
    pub describe: Box<dyn Fn(u64) -> String + Send + Sync>,
}

/// The reason why a window has no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// The program has freed it.
    Freed,
    /// It is kept for memory that the host has, too.
    Host,
}

/// The state that nearby places share, which take turns.
#[derive(Default)]
struct Near {
    /// Records by granule.
    records: HashMap<usize, Record>,
    /// Knowledge that strong writes hand on, by the place of their first byte.
    places: BTreeMap<u64, Place>,
    /// The defined bits of bytes that count as not initialised.
    partly: HashMap<u64, u8>,
}

impl Buffer {
    /// `init` tells the initialised bytes; none if all are. [`Buffer::start_launch`] comes before writes.
    pub(super) fn new(
        name: String,
        base: u64,
        contents: &[u8],
        init: Option<&dyn Fn(u64) -> bool>,
        writable: bool,
    ) -> Buffer {
        let lead = base % 32;
        let length = lead as usize + contents.len();
        let padded = [&vec![0; lead as usize], contents].concat();
        let words = padded.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        });
        let init: Option<Vec<AtomicU32>> = init.map(|is| {
            let of_word = |word: usize| {
                (0..32).fold(0u32, |bits, bit| {
                    let at = (word as u64 * 32 + bit).wrapping_sub(lead);
                    bits | u32::from(at < contents.len() as u64 && is(at)) << bit
                })
            };
            (0..length.div_ceil(32))
                .map(|word| AtomicU32::new(of_word(word)))
                .collect()
        });
        Buffer {
            name,
            base,
            bytes: contents.len() as u64,
            lead,
            writable,
            gone: None,
            noted: AtomicBool::new(false),
            words: words.collect(),
            init: init.map_or_else(OnceLock::new, OnceLock::from),
            writers: Vec::new(),
            readers: Vec::new(),
            insts: Vec::new(),
            non_coherent: OnceLock::new(),
            granule_bits: 2,
            locks: if writable {
                (0..LOCKS).map(|_| Mutex::default()).collect()
            } else {
                Vec::new()
            },
            elements: None,
            describe: Box::new(|offset| format!("byte {offset}")),
        }
    }

    /// Tells whether a range lies inside; offsets are from the base.
    pub(super) fn holds(&self, offset: u64, bytes: u64) -> bool {
        offset
            .checked_add(bytes)
            .is_some_and(|end| end <= self.bytes)
    }

    /// Tells whether bytes of a range lie between the elements.
    pub(super) fn leaves_out(&self, offset: u64, bytes: usize) -> bool {
        let Some((has, size)) = &self.elements else {
            return false;
        };
        let last = offset + bytes as u64 - 1;
        !has[(offset / size) as usize..=(last / size) as usize]
            .iter()
            .all(|has| *has)
    }

    /// Reads an aligned range that the buffer [`Buffer::holds`].
    pub(super) fn read(&self, offset: u64, out: &mut [u8]) {
        self.load(offset + self.lead, out);
    }

    /// Places are counted from the aligned start, here and below.
    fn load(&self, at: u64, out: &mut [u8]) {
        if let [byte] = out {
            *byte = (self.word(at) >> (at % 4 * 8)) as u8;
            return;
        }
        if out.len() == 2 {
            let half = (self.word(at) >> (at % 4 * 8)) as u16;
            out.copy_from_slice(&half.to_le_bytes());
            return;
        }
        for (i, part) in out.chunks_exact_mut(4).enumerate() {
            part.copy_from_slice(&self.word(at + 4 * i as u64).to_le_bytes());
        }
    }

    fn word(&self, at: u64) -> u32 {
        self.words[(at / 4) as usize].load(Relaxed)
    }

    /// Reads a range of any length, which starts aligned to 4 bytes.
    pub(super) fn read_bytes(&self, offset: u64, out: &mut [u8]) {
        for (i, part) in out.chunks_mut(4).enumerate() {
            let word = self.word(offset + self.lead + 4 * i as u64);
            let length = part.len();
            part.copy_from_slice(&word.to_le_bytes()[..length]);
        }
    }

    /// Tells whether every byte of a range is initialised that lies in 32 aligned bytes.
    pub(super) fn initialized(&self, offset: u64, bytes: usize) -> bool {
        let Some(init) = self.init.get() else {
            return true;
        };
        let at = offset + self.lead;
        let mask = bits(bytes) << (at % 32);
        init[(at / 32) as usize].load(Relaxed) & mask == mask
    }

    /// Reads an aligned range that the buffer [`Buffer::holds`], notes it, and says what it collides with. What strong writes
    /// handed on is seen by strong reads.
    pub(super) fn read_noted(
        &self,
        offset: u64,
        out: &mut [u8],
        by: &Accessor<'_>,
    ) -> (Option<Unordered>, Seen) {
        if self.writers.is_empty() {
            self.read(offset, out);
            return (None, Seen::default());
        }
        let at = offset + self.lead;
        let mut near = self.lock(at);
        let found = self.note(&mut near, at, out.len(), by, by.class(true, false), &|_| {
            false
        });
        let seen = match near.places.get(&at) {
            Some(place) if by.order.strong() => place.seen(by.block),
            _ => Seen::default(),
        };
        self.load(at, out);
        (found, seen)
    }

    /// Notes a read or a write of a range that begins at a multiple of 16 bytes and happens later, line by line.
    pub(super) fn note_later(
        &self,
        offset: u64,
        bytes: u64,
        writes: bool,
        by: &Accessor<'_>,
    ) -> Option<Unordered> {
        if self.writers.is_empty() {
            return None;
        }
        let (mut at, end) = (offset + self.lead, offset + self.lead + bytes);
        let mut found = None;
        while at < end {
            let next = (at / 32 * 32 + 32).min(end);
            let mut near = self.lock(at);
            let length = (next - at) as usize;
            let class = by.class(!writes, writes);
            let conflict = self.note(&mut near, at, length, by, class, &|_| false);
            if writes {
                near.hide(at, length);
            }
            found = found.or(conflict);
            at = next;
        }
        found
    }

    /// Reads a range of any length from any byte, without a note.
    pub(super) fn copy_out(&self, offset: u64, out: &mut [u8]) {
        let mut at = offset + self.lead;
        let mut rest = out;
        while !rest.is_empty() {
            let word = self.word(at).to_le_bytes();
            let skip = (at % 4) as usize;
            let length = rest.len().min(4 - skip);
            let (part, others) = rest.split_at_mut(length);
            part.copy_from_slice(&word[skip..skip + length]);
            rest = others;
            at += length as u64;
        }
    }

    /// Writes a range of any length from any byte, which [`Buffer::note_later`] has noted.
    pub(super) fn copy_in(&self, offset: u64, value: &[u8]) {
        let mut at = offset + self.lead;
        let mut rest = value;
        while !rest.is_empty() {
            // The widest part that is aligned and ends in the line.
            let line = (32 - at % 32).min(rest.len() as u64);
            let length = match (at % 4, line) {
                (0, 4..) => line / 4 * 4,
                (_, 2..) if at.is_multiple_of(2) => 2,
                _ => 1,
            } as usize;
            let (part, others) = rest.split_at(length);
            let _near = self.lock(at);
            self.store(at, part);
            rest = others;
            at += length as u64;
        }
    }

    /// The defined bits of a byte.
    pub(super) fn defined(&self, offset: u64) -> u8 {
        if self.initialized(offset, 1) {
            return u8::MAX;
        }
        if self.locks.is_empty() {
            return 0;
        }
        let at = offset + self.lead;
        self.lock(at).partly.get(&at).copied().unwrap_or(0)
    }

    /// Says which bits of a byte that was written are defined.
    pub(super) fn undefine(&self, offset: u64, defined: u8) {
        let at = offset + self.lead;
        let mut near = self.lock(at);
        let words = self.words.len().div_ceil(8);
        let all = || (0..words).map(|_| AtomicU32::new(u32::MAX)).collect();
        let init = self.init.get_or_init(all);
        init[(at / 32) as usize].fetch_and(!(1 << (at % 32)), Relaxed);
        near.partly.insert(at, defined);
    }

    /// Tells whether every byte of a range is initialised.
    pub(super) fn all_initialized(&self, offset: u64, bytes: u64) -> bool {
        let (mut at, end) = (offset, offset + bytes);
        if self.init.get().is_none() {
            return true;
        }
        while at < end {
            // A word of flags at a time.
            let length = (32 - (at + self.lead) % 32).min(end - at);
            if !self.initialized(at, length as usize) {
                return false;
            }
            at += length;
        }
        true
    }

    /// Notes a read of a range that happens elsewhere.
    pub(super) fn note_read(
        &self,
        offset: u64,
        bytes: usize,
        by: &Accessor<'_>,
    ) -> Option<Unordered> {
        if self.writers.is_empty() {
            return None;
        }
        let at = offset + self.lead;
        let mut near = self.lock(at);
        self.note(&mut near, at, bytes, by, by.class(true, false), &|_| false)
    }

    /// Notes an access of each granule, of which `equal` says whether the access writes what is there.
    fn note(
        &self,
        near: &mut Near,
        at: u64,
        bytes: usize,
        by: &Accessor<'_>,
        class: Class,
        equal: &dyn Fn(std::ops::Range<usize>) -> bool,
    ) -> Option<Unordered> {
        let me = by.who();
        let word = me.pack();
        let granule = 1usize << self.granule_bits;
        let (mut found, mut stale) = (None, None);
        for (i, index) in self.granules(at, bytes).enumerate() {
            let (writer, reader) = (&self.writers[index], &self.readers[index]);
            let (wrote, read) = (writer.load(Relaxed), reader.load(Relaxed));
            let part = i * granule..((i + 1) * granule).min(bytes);
            if let Some(conflict) = self.non_coherent(near, index, class, by) {
                stale.get_or_insert(conflict);
            }
            if class.width == 0 && wrote == 0 && read == 0 {
                let slot = if class.writes { writer } else { reader };
                slot.store(word, Relaxed);
                self.keep_inst(index, class.writes, me.inst);
                continue;
            }
            if class.width == 0 && wrote & RECORD == 0 {
                let last = self.who(index, true, wrote).filter(|who| !by.knows(*who));
                let reads = self.who(index, false, read).filter(|who| !by.knows(*who));
                // Several writers, or several readers, make a record.
                let simple = match class.writes {
                    true => last.is_none() || !equal(part.clone()),
                    false => reads.is_none(),
                };
                if simple {
                    let with = |other, who| Unordered {
                        this: class,
                        other,
                        who,
                        non_coherent: false,
                    };
                    let (slot, conflict) = match class.writes {
                        true => {
                            let written = last.map(|who| with(Class::WEAK_WRITE, who));
                            let read = reads.map(|who| with(Class::WEAK_READ, who));
                            (writer, written.or(read))
                        }
                        false => (reader, last.map(|who| with(Class::WEAK_WRITE, who))),
                    };
                    slot.store(word, Relaxed);
                    self.keep_inst(index, class.writes, me.inst);
                    found = found.or(conflict);
                    continue;
                }
            }
            let record = near.records.entry(index).or_default();
            if wrote & RECORD == 0 {
                if let Some(who) = self.who(index, true, wrote) {
                    record.add(Class::WEAK_WRITE, who);
                }
                if let Some(who) = self.who(index, false, read) {
                    record.add(Class::WEAK_READ, who);
                }
                writer.store(RECORD, Relaxed);
                reader.store(0, Relaxed);
            }
            let equal = class == Class::WEAK_WRITE && equal(part);
            let conflict = record.access(by, class, equal);
            if let Some([wrote, read]) = record.simple() {
                writer.store(wrote.map_or(0, Who::pack), Relaxed);
                reader.store(read.map_or(0, Who::pack), Relaxed);
                for (writes, who) in [(true, wrote), (false, read)] {
                    if let Some(who) = who {
                        self.keep_inst(index, writes, who.inst);
                    }
                }
                near.records.remove(&index);
            }
            found = found.or(conflict.map(|(other, who)| Unordered {
                this: class,
                other,
                who,
                non_coherent: false,
            }));
        }
        // Without an order, it is that which is missing.
        found = found.or(stale);
        // No barrier orders what happens later.
        if let (Some(found), true) = (&mut found, by.agent.is_some()) {
            found.who.inst = NOWHERE;
        }
        found
    }

    /// The conflict of an access with a load, before it or itself, of what nothing may write while the kernel runs.
    #[inline]
    fn non_coherent(
        &self,
        near: &Near,
        index: usize,
        class: Class,
        by: &Accessor<'_>,
    ) -> Option<Unordered> {
        let mark = 1 << (index % 32);
        let is_read = class.writes
            && (self.non_coherent.get())
                .is_some_and(|marks| marks[index / 32].load(Relaxed) & mark != 0);
        if !is_read && !by.order.non_coherent {
            return None;
        }
        let wrote = self.writers[index].load(Relaxed);
        let writer = self.who(index, true, wrote & !RECORD);
        let is_written = match wrote & RECORD {
            0 => wrote != 0,
            _ => near.records.get(&index).is_some_and(Record::is_written),
        };
        if by.order.non_coherent {
            let words = self.writers.len().div_ceil(32);
            let none = || (0..words).map(|_| AtomicU32::new(0)).collect();
            self.non_coherent.get_or_init(none)[index / 32].fetch_or(mark, Relaxed);
        }
        let who = match is_read {
            true => self.who(index, false, self.readers[index].load(Relaxed)),
            false => writer,
        };
        (is_read || is_written).then(|| Unordered {
            this: class,
            other: if is_read {
                Class::WEAK_READ
            } else {
                Class::WEAK_WRITE
            },
            who: who.unwrap_or(by.who()),
            non_coherent: true,
        })
    }

    /// The thread of a granule's last access, with the instruction where it is kept.
    fn who(&self, index: usize, writes: bool, word: u64) -> Option<Who> {
        let inst = self.insts.get(index);
        Some(Who {
            inst: inst.map_or(NOWHERE, |inst| inst[usize::from(writes)].load(Relaxed)),
            ..Who::unpack(word)?
        })
    }

    fn keep_inst(&self, index: usize, writes: bool, inst: u32) {
        if let Some(slots) = self.insts.get(index) {
            slots[usize::from(writes)].store(inst, Relaxed);
        }
    }

    fn granules(&self, at: u64, bytes: usize) -> std::ops::Range<usize> {
        let start = (at >> self.granule_bits) as usize;
        start..start + bytes.div_ceil(1 << self.granule_bits)
    }

    /// Writes an aligned range, hands something on there, and says what the write collides with.
    pub(super) fn write(
        &self,
        offset: u64,
        value: &[u8],
        by: &Accessor<'_>,
        handed: Option<&Handed>,
    ) -> Option<Unordered> {
        let at = offset + self.lead;
        let mut near = self.lock(at);
        let equal = |part: std::ops::Range<usize>| {
            let mut before = [0; 32];
            let before = &mut before[..value.len()];
            self.load(at, before);
            before[part.clone()] == value[part]
        };
        let class = by.class(false, true);
        let found = self.note(&mut near, at, value.len(), by, class, &equal);
        near.hide(at, value.len());
        near.hand_on(at, by, handed);
        self.store(at, value);
        found
    }

    /// Changes an aligned value of at most 16 bytes as one operation; returns what it was, what the operation collides with and
    /// what it sees. Nothing is handed on where the value stays because of a comparison.
    pub(super) fn modify(
        &self,
        offset: u64,
        bytes: usize,
        by: &Accessor<'_>,
        handed: Option<&Handed>,
        f: impl FnOnce(u128) -> Option<u128>,
    ) -> (u128, Option<Unordered>, Seen) {
        let at = offset + self.lead;
        let mut near = self.lock(at);
        let mut value = [0; 16];
        self.load(at, &mut value[..bytes]);
        let before = u128::from_le_bytes(value);
        let after = f(before);
        let class = by.class(true, after.is_some());
        let found = self.note(&mut near, at, bytes, by, class, &|_| false);
        let seen = near
            .places
            .get(&at)
            .map(|place| place.seen(by.block))
            .unwrap_or_default();
        if let Some(after) = after {
            near.hand_on(at, by, handed);
            self.store(at, &after.to_le_bytes()[..bytes]);
        }
        (before, found, seen)
    }

    fn lock(&self, at: u64) -> MutexGuard<'_, Near> {
        // Most of the time it is known, and cores need not hand the word to each other.
        if !self.noted.load(Relaxed) {
            self.noted.store(true, Relaxed);
        }
        let lock = &self.locks[(at / 32) as usize % LOCKS];
        // A panic elsewhere leaves nothing half done here.
        lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under the lock: other parts of a word may be written by others.
    fn store(&self, at: u64, value: &[u8]) {
        if value.len() < 4 {
            let shift = at % 4 * 8;
            let mut new = [0; 4];
            new[..value.len()].copy_from_slice(value);
            let mask = if value.len() == 1 { 0xff } else { 0xffff } << shift;
            let word = &self.words[(at / 4) as usize];
            let merged = word.load(Relaxed) & !mask | u32::from_le_bytes(new) << shift & mask;
            word.store(merged, Relaxed);
        } else {
            for (i, part) in value.chunks_exact(4).enumerate() {
                let mut word = [0; 4];
                word.copy_from_slice(part);
                self.words[at as usize / 4 + i].store(u32::from_le_bytes(word), Relaxed);
            }
        }
        if let Some(init) = self.init.get() {
            init[(at / 32) as usize].fetch_or(bits(value.len()) << (at % 32), Relaxed);
        }
    }

    /// Forgets who wrote what: the launches of a function happen one after another. `granule` is the smallest
    /// write of the launch, in bytes. `places` asks that the instructions of accesses be kept.
    pub(super) fn start_launch(&mut self, granule: u32, places: bool) {
        let bits = granule.clamp(1, 4).trailing_zeros();
        let granules = if self.writable {
            (self.lead + self.bytes).div_ceil(1 << bits)
        } else {
            0
        };
        let noted = std::mem::take(self.noted.get_mut());
        // Much memory lies untouched through most launches of a program.
        let kept = if places { granules } else { 0 };
        if !noted
            && bits == self.granule_bits
            && self.writers.len() as u64 == granules
            && self.insts.len() as u64 == kept
        {
            return;
        }
        self.granule_bits = bits;
        self.non_coherent = OnceLock::new();
        self.writers = (0..granules).map(|_| AtomicU64::new(0)).collect();
        self.readers = (0..granules).map(|_| AtomicU64::new(0)).collect();
        self.insts = (0..kept)
            .map(|_| [const { AtomicU32::new(NOWHERE) }; 2])
            .collect();
        for lock in &mut self.locks {
            let near = lock.get_mut().unwrap_or_else(PoisonError::into_inner);
            *near = Near {
                partly: std::mem::take(&mut near.partly),
                ..Near::default()
            };
        }
    }

    /// Tells whether the launch that runs, or the last one, has accessed memory that may be written.
    pub(super) fn is_noted(&self) -> bool {
        self.noted.load(Relaxed)
    }

    /// The memory as it is now.
    pub(super) fn contents(&self) -> Vec<u8> {
        let words = self
            .words
            .iter()
            .flat_map(|word| word.load(Relaxed).to_le_bytes());
        words
            .skip(self.lead as usize)
            .take(self.bytes as usize)
            .collect()
    }
}

impl Near {
    /// Knowledge that was handed on at a range is for those who see it: any write that is no part of an atomic operation hides it.
    fn hide(&mut self, at: u64, bytes: usize) {
        if self.places.is_empty() {
            return;
        }
        let hidden = self.places.range(at.saturating_sub(7)..at + bytes as u64);
        let hidden: Vec<u64> = hidden
            .filter(|(place, handed)| *place + u64::from(handed.width) > at)
            .map(|(place, _)| *place)
            .collect();
        for place in hidden {
            self.places.remove(&place);
        }
    }

    fn hand_on(&mut self, at: u64, by: &Accessor<'_>, handed: Option<&Handed>) {
        if let Some(handed) = handed {
            let place = self.places.entry(at).or_default();
            place.width = by.order.width;
            place.add(by.block, handed);
        }
    }
}

fn bits(bytes: usize) -> u32 {
    if bytes >= 32 {
        u32::MAX
    } else {
        (1 << bytes) - 1
    }
}

/// All of global memory.
pub(super) struct Global {
    pub tensors: Vec<Buffer>,
    /// The variables of each module.
    variables: Vec<Vec<Buffer>>,
    /// Bytes that `malloc` has given.
    allocated: AtomicU64,
    /// The fences by which the launch has made tensor maps known.
    pub maps: Maps,
}

impl Global {
    /// Memory that holds these tensors, and no variables.
    pub(super) fn new(tensors: Vec<Buffer>) -> Global {
        Global {
            tensors,
            variables: Vec::new(),
            allocated: AtomicU64::new(0),
            maps: Maps::default(),
        }
    }

    /// Forgets what the launch before did, as [`Buffer::start_launch`] of all memory.
    pub(super) fn start_launch(&mut self, granule: u32, places: bool) {
        self.maps.clear();
        for buffer in self.buffers_mut() {
            buffer.start_launch(granule, places);
        }
    }

    /// The variables of a module.
    pub(super) fn variables_of(&mut self, module: usize) -> &mut Vec<Buffer> {
        if self.variables.len() <= module {
            self.variables.resize_with(module + 1, Vec::new);
        }
        &mut self.variables[module]
    }

    /// The variable of a module that has a name.
    pub(super) fn variable(&self, module: usize, name: &str) -> Option<&Buffer> {
        let mut variables = self.variables.get(module)?.iter();
        variables.find(|variable| variable.name == name)
    }

    /// The buffer that holds a range, to be changed between launches, and the offset of its start.
    pub(super) fn range_mut(&mut self, address: u64, bytes: u64) -> Option<(&mut Buffer, u64)> {
        let window = address::window(address);
        let buffer = match address::variable_of(window) {
            Some((module, index)) => self.variables.get_mut(module)?.get_mut(index),
            None => self.tensors.get_mut((window as usize).checked_sub(1)?),
        }?;
        let offset = address.wrapping_sub(buffer.base);
        (buffer.gone.is_none() && buffer.holds(offset, bytes)).then_some((buffer, offset))
    }

    /// All memory, as no launch runs.
    pub(super) fn buffers_mut(&mut self) -> impl Iterator<Item = &mut Buffer> {
        self.tensors
            .iter_mut()
            .chain(self.variables.iter_mut().flatten())
    }

    /// The offset of so many bytes that nobody has yet, of `size`; none if there are not as many left.
    pub(super) fn allocate(&self, bytes: u64, size: u64) -> Option<u64> {
        // What lies between two is never written, so that it is found if it is read.
        let bytes = bytes.checked_add(16)?.checked_next_multiple_of(16)?;
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= size);
        self.allocated.fetch_update(Relaxed, Relaxed, more).ok()
    }

    /// The buffer that holds a range, and the offset of its start.
    pub(super) fn range(&self, address: u64, bytes: u64) -> Option<(&Buffer, u64)> {
        self.find(address)
            .filter(|(buffer, offset)| buffer.gone.is_none() && buffer.holds(*offset, bytes))
    }

    /// The buffer whose window an address lies in, and the offset from its base, which may be far
    /// outside.
    pub(super) fn find(&self, address: u64) -> Option<(&Buffer, u64)> {
        let window = address::window(address);
        let buffer = match address::variable_of(window) {
            Some((module, index)) => self.variables.get(module)?.get(index),
            None => self.tensors.get((window as usize).checked_sub(1)?),
        }?;
        Some((buffer, address.wrapping_sub(buffer.base)))
    }
}

#[cfg(test)]
mod tests;
