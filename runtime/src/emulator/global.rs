//! Global memory: tensors and variables of the module, shared by blocks that run on several cores.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::address;

/// Writes to nearby addresses take turns, so that a value and its writer belong together.
const LOCKS: usize = 64;

/// A range of memory with an address.
pub(super) struct Buffer {
    pub name: String,
    pub base: u64,
    pub bytes: u64,
    pub writable: bool,
    /// Bytes before the tensor, so that aligned addresses are aligned here too.
    lead: u64,
    words: Vec<AtomicU32>,
    /// A bit a byte; none if everything is initialised.
    init: Option<Vec<AtomicU32>>,
    /// Who wrote each granule last.
    writers: Vec<AtomicU64>,
    /// The block that read each granule, 0 for none, or [`SEVERAL`].
    readers: Vec<AtomicU32>,
    granule_bits: u32,
    /// With writers besides the last one, by granule: those that wrote the same value, which nothing ordered.
    locks: Vec<Mutex<HashMap<usize, Vec<Writer>>>>,
    /// Which elements the layout has, and their bytes; none if it has all of them.
    pub elements: Option<(Vec<bool>, u64)>,
    /// Says what lies at an offset.
    pub describe: Box<dyn Fn(u64) -> String + Send + Sync>,
}

/// Who writes: a block, a thread of it, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub block: u64,
    pub thread: u32,
    pub time: u32,
}

const TIME_BITS: u32 = 27;
const THREAD_BITS: u32 = 10;
/// More than one block.
const SEVERAL: u32 = u32::MAX;
/// Writers of one value that are kept, at most.
const MAX_EQUALS: usize = 16;
/// By an atomic operation.
const ATOMIC: u64 = 1 << 63;

impl Writer {
    fn pack(self) -> u64 {
        let time = u64::from(self.time).min((1 << TIME_BITS) - 1);
        (self.block + 1) << (TIME_BITS + THREAD_BITS) | u64::from(self.thread) << TIME_BITS | time
    }

    fn unpack(word: u64) -> Option<Writer> {
        let block = (word & !ATOMIC) >> (TIME_BITS + THREAD_BITS);
        Some(Writer {
            block: block.checked_sub(1)?,
            thread: (word >> TIME_BITS) as u32 & ((1 << THREAD_BITS) - 1),
            time: word as u32 & ((1 << TIME_BITS) - 1),
        })
    }
}

impl Buffer {
    /// `init` tells the initialised bytes; none if all are. [`Buffer::start_launch`] comes before writes.
    pub fn new(
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
        let init = init.map(|is| {
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
            words: words.collect(),
            init,
            writers: Vec::new(),
            readers: Vec::new(),
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

    /// Whether a range lies inside; offsets are from the base.
    pub fn holds(&self, offset: u64, bytes: u64) -> bool {
        offset
            .checked_add(bytes)
            .is_some_and(|end| end <= self.bytes)
    }

    /// Whether bytes of a range lie between the elements.
    pub fn leaves_out(&self, offset: u64, bytes: usize) -> bool {
        let Some((has, size)) = &self.elements else {
            return false;
        };
        let last = offset + bytes as u64 - 1;
        !has[(offset / size) as usize..=(last / size) as usize]
            .iter()
            .all(|has| *has)
    }

    /// Reads an aligned range that the buffer [`Buffer::holds`].
    pub fn read(&self, offset: u64, out: &mut [u8]) {
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
    pub fn read_bytes(&self, offset: u64, out: &mut [u8]) {
        for (i, part) in out.chunks_mut(4).enumerate() {
            let word = self.word(offset + self.lead + 4 * i as u64);
            let length = part.len();
            part.copy_from_slice(&word.to_le_bytes()[..length]);
        }
    }

    /// Whether every byte of an aligned range of at most 32 bytes is initialised.
    pub fn initialized(&self, offset: u64, bytes: usize) -> bool {
        let Some(init) = &self.init else { return true };
        let at = offset + self.lead;
        let mask = bits(bytes) << (at % 32);
        init[(at / 32) as usize].load(Relaxed) & mask == mask
    }

    /// Notes a read of a range by a block. Returns who wrote there last, not atomically, unless `ordered` says that it was
    /// before.
    pub fn note_read(
        &self,
        offset: u64,
        bytes: usize,
        block: u64,
        ordered: impl Fn(Writer) -> bool,
    ) -> Option<Writer> {
        if self.writers.is_empty() {
            return None;
        }
        let me = block as u32 + 1;
        self.granules(offset + self.lead, bytes)
            .fold(None, |found, index| {
                let reader = &self.readers[index];
                // The write looks for readers after it has said who writes: one of the two sees the other.
                let before = reader.load(SeqCst);
                if before != me && before != SEVERAL {
                    let several = reader.compare_exchange(0, me, SeqCst, SeqCst).is_err();
                    if several {
                        reader.store(SEVERAL, SeqCst);
                    }
                }
                let word = self.writers[index].load(SeqCst);
                let writer = Writer::unpack(word).filter(|_| word & ATOMIC == 0);
                found.or(writer.filter(|writer| !ordered(*writer)))
            })
    }

    /// Whether another block has read a range.
    pub fn was_read(&self, offset: u64, bytes: usize, block: u64) -> bool {
        self.granules(offset + self.lead, bytes).any(|index| {
            let reader = self.readers[index].load(SeqCst);
            reader != 0 && reader != block as u32 + 1
        })
    }

    fn granules(&self, at: u64, bytes: usize) -> std::ops::Range<usize> {
        let start = (at >> self.granule_bits) as usize;
        start..start + bytes.div_ceil(1 << self.granule_bits)
    }

    /// Writes an aligned range. Returns who wrote another value there, unless `ordered` says that it
    /// was before.
    pub fn write(
        &self,
        offset: u64,
        value: &[u8],
        by: Writer,
        ordered: impl Fn(Writer) -> bool,
    ) -> Option<Writer> {
        let at = offset + self.lead;
        let mut equals = self.lock(at);
        let mut before = [0; 32];
        let before = &mut before[..value.len()];
        self.load(at, before);
        let mut found = None;
        let granule = 1usize << self.granule_bits;
        for (i, index) in self.granules(at, value.len()).enumerate() {
            let word = self.writers[index].swap(by.pack(), SeqCst);
            let part = i * granule..((i + 1) * granule).min(value.len());
            let same = before[part.clone()] == value[part];
            let last = Writer::unpack(word).filter(|writer| !ordered(*writer));
            let mut others = match equals.is_empty() {
                true => Vec::new(),
                false => equals.remove(&index).unwrap_or_default(),
            };
            others.retain(|writer| !ordered(*writer));
            if !same {
                found = found.or(last).or(others.first().copied());
                continue;
            }
            others.extend(last);
            if !others.is_empty() {
                others.truncate(MAX_EQUALS);
                equals.insert(index, others);
            }
        }
        self.store(at, value);
        found
    }

    /// Changes an aligned value of at most 8 bytes as one operation; returns what it was.
    pub fn modify(
        &self,
        offset: u64,
        bytes: usize,
        by: Writer,
        f: impl FnOnce(u64) -> Option<u64>,
    ) -> u64 {
        let at = offset + self.lead;
        let _turn = self.lock(at);
        let mut value = [0; 8];
        self.load(at, &mut value[..bytes]);
        let before = u64::from_le_bytes(value);
        if let Some(after) = f(before) {
            self.store(at, &after.to_le_bytes()[..bytes]);
            for index in self.granules(at, bytes) {
                self.writers[index].store(by.pack() | ATOMIC, Relaxed);
            }
        }
        before
    }

    fn lock(&self, at: u64) -> MutexGuard<'_, HashMap<usize, Vec<Writer>>> {
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
        if let Some(init) = &self.init {
            init[(at / 32) as usize].fetch_or(bits(value.len()) << (at % 32), Relaxed);
        }
    }

    /// Forgets who wrote what: the launches of a function happen one after another. `granule` is the smallest
    /// write of the launch, in bytes.
    pub fn start_launch(&mut self, granule: u32) {
        self.granule_bits = granule.clamp(1, 4).trailing_zeros();
        let granules = if self.writable {
            (self.lead + self.bytes).div_ceil(1 << self.granule_bits)
        } else {
            0
        };
        self.writers = (0..granules).map(|_| AtomicU64::new(0)).collect();
        self.readers = (0..granules).map(|_| AtomicU32::new(0)).collect();
        for lock in &mut self.locks {
            lock.get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .clear();
        }
    }

    /// The memory as it is now.
    pub fn contents(&self) -> Vec<u8> {
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
    pub variables: Vec<Buffer>,
}

impl Global {
    /// The buffer that holds a range, and the offset of its start.
    pub fn range(&self, address: u64, bytes: u64) -> Option<(&Buffer, u64)> {
        self.find(address)
            .filter(|(buffer, offset)| buffer.holds(*offset, bytes))
    }

    /// The buffer whose window an address lies in, and the offset from its base, which may be far
    /// outside.
    pub fn find(&self, address: u64) -> Option<(&Buffer, u64)> {
        let window = address::window(address);
        let buffer = if window >= address::FIRST_VARIABLE {
            self.variables
                .get((window - address::FIRST_VARIABLE) as usize)
        } else {
            self.tensors.get((window as usize).checked_sub(1)?)
        }?;
        Some((buffer, address.wrapping_sub(buffer.base)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(block: u64, thread: u32) -> Writer {
        Writer {
            block,
            thread,
            time: 1,
        }
    }

    fn buffer(length: usize) -> Buffer {
        let mut buffer = Buffer::new(
            "C".into(),
            1 << 40,
            &vec![0xff; length],
            Some(&|_| false),
            true,
        );
        buffer.start_launch(2);
        buffer
    }

    #[test]
    fn values_of_all_widths_are_stored() {
        let b = buffer(30);
        let never = |_| false;
        b.write(28, &[1, 2], writer(0, 0), never);
        b.write(3, &[9], writer(0, 0), never);
        b.write(16, &[1, 2, 3, 4, 5, 6, 7, 8], writer(0, 0), never);
        let contents = b.contents();
        assert_eq!(
            (contents[28], contents[29], contents[3], contents[2]),
            (1, 2, 9, 0xff)
        );
        assert_eq!(&contents[16..24], [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut out = [0; 2];
        b.read(28, &mut out);
        assert_eq!(out, [1, 2]);
        assert!(
            b.initialized(16, 8)
                && !b.initialized(12, 4)
                && b.initialized(28, 2)
                && b.initialized(3, 1)
        );
        assert!(b.holds(28, 2) && !b.holds(28, 4) && !b.holds(u64::MAX, 2));
    }

    #[test]
    fn different_values_by_unordered_threads_conflict() {
        let b = buffer(64);
        assert_eq!(b.write(0, &[1, 1, 2, 2], writer(0, 0), |_| false), None);
        assert_eq!(
            b.write(0, &[1, 1], writer(1, 0), |_| false),
            None,
            "the same value"
        );
        assert_eq!(b.write(2, &[3, 2], writer(1, 0), |_| true), None, "ordered");
        assert_eq!(
            b.write(2, &[4, 2], writer(2, 5), |_| false),
            Some(writer(1, 0))
        );
        assert_eq!(b.note_read(0, 4, 7, |_| false), Some(writer(1, 0)));
        assert!(b.was_read(0, 4, 6) && !b.was_read(0, 4, 7) && !b.was_read(4, 4, 6));
        assert_eq!(b.note_read(0, 4, 7, |_| true), None);
        assert_eq!(b.note_read(8, 4, 7, |_| false), None);
        assert_eq!(b.modify(8, 4, writer(0, 0), |_| Some(7)), 0xffff_ffff);
        assert_eq!(b.note_read(8, 4, 7, |_| false), None, "atomics are no race");
    }

    #[test]
    fn addresses_find_their_window() {
        let global = Global {
            tensors: vec![buffer(64)],
            variables: vec![],
        };
        assert!(global.find(0).is_none());
        let (found, offset) = global.find((1 << 40) + 100).unwrap();
        assert_eq!((found.name.as_str(), offset), ("C", 100));
        assert!(global.find(1 << 41).is_none());
        assert!(global.find(address::FIRST_VARIABLE << 40).is_none());
    }
}
