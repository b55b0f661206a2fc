//! Contents of memory that are kept, for a launch that happens again.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Buffer, Global};

/// The contents of all memory, and which bytes hold something.
pub(in super::super) struct Snapshot(Vec<Kept>);

struct Kept {
    words: Vec<u32>,
    init: Option<Vec<u32>>,
}

fn values(words: &[AtomicU32]) -> Vec<u32> {
    words.iter().map(|word| word.load(Relaxed)).collect()
}

fn put(words: &[AtomicU32], values: &[u32]) {
    for (word, value) in words.iter().zip(values) {
        word.store(*value, Relaxed);
    }
}

impl Global {
    fn written(&self) -> impl Iterator<Item = &Buffer> {
        let all = self.tensors.iter().chain(&self.variables);
        all.filter(|buffer| buffer.writable)
    }

    /// Keeps what is in memory that kernels may write.
    pub(in super::super) fn snapshot(&self) -> Snapshot {
        let kept = self.written().map(|buffer| Kept {
            words: values(&buffer.words),
            init: buffer.init.as_deref().map(values),
        });
        Snapshot(kept.collect())
    }

    /// Puts back what was kept, of the same memory.
    pub(in super::super) fn restore(&self, snapshot: &Snapshot) {
        for (buffer, kept) in self.written().zip(&snapshot.0) {
            put(&buffer.words, &kept.words);
            if let (Some(now), Some(then)) = (&buffer.init, &kept.init) {
                put(now, then);
            }
        }
    }
}

impl Buffer {
    /// Writes bytes of any place and number while no kernel runs.
    pub(in super::super) fn fill(&mut self, offset: u64, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            let at = offset + self.lead + index as u64;
            let shift = at % 4 * 8;
            let word = self.words[(at / 4) as usize].get_mut();
            *word = *word & !(0xff << shift) | u32::from(*byte) << shift;
            if let Some(init) = &mut self.init {
                *init[(at / 32) as usize].get_mut() |= 1 << (at % 32);
            }
        }
    }
}
