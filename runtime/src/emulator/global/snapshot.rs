//! Contents of memory that are kept, for a launch that happens again.

use std::sync::PoisonError;
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
        let all = self.tensors.iter().chain(self.variables.iter().flatten());
        all.filter(|buffer| buffer.writable)
    }

    /// Keeps what is in memory that kernels may write.
    pub(in super::super) fn snapshot(&self) -> Snapshot {
        let kept = self.written().map(|buffer| Kept {
            words: values(&buffer.words),
            init: buffer.init.get().map(|init| values(init)),
        });
        Snapshot(kept.collect())
    }

    /// Puts back what was kept, of the same memory.
    pub(in super::super) fn restore(&self, snapshot: &Snapshot) {
        for (buffer, kept) in self.written().zip(&snapshot.0) {
            put(&buffer.words, &kept.words);
            match (buffer.init.get(), &kept.init) {
                (Some(now), Some(then)) => put(now, then),
                (Some(now), None) => now.iter().for_each(|word| word.store(u32::MAX, Relaxed)),
                _ => {}
            }
            buffer.forget_partly();
        }
    }
}

impl Buffer {
    /// Writes bytes of any place and number while no kernel runs.
    pub(in super::super) fn fill(&mut self, offset: u64, bytes: &[u8]) {
        let mut at = offset + self.lead;
        let mut rest = bytes;
        while !rest.is_empty() {
            let skip = (at % 4) as usize;
            let (part, others) = rest.split_at(rest.len().min(4 - skip));
            let word = self.words[(at / 4) as usize].get_mut();
            let mut value = word.to_le_bytes();
            value[skip..skip + part.len()].copy_from_slice(part);
            *word = u32::from_le_bytes(value);
            if let Some(init) = self.init.get_mut() {
                *init[(at / 32) as usize].get_mut() |= super::bits(part.len()) << (at % 32);
            }
            rest = others;
            at += part.len() as u64;
        }
    }

    /// Makes a byte one that nobody has written.
    pub(in super::super) fn forget(&mut self, offset: u64) {
        let at = offset + self.lead;
        if let Some(init) = self.init.get_mut() {
            *init[(at / 32) as usize].get_mut() &= !(1 << (at % 32));
        }
        if !self.locks.is_empty() {
            self.lock(at).partly.remove(&at);
        }
    }

    /// Forgets what single bits of bytes hold.
    fn forget_partly(&self) {
        for lock in &self.locks {
            let near = lock.lock();
            near.unwrap_or_else(PoisonError::into_inner).partly.clear();
        }
    }
}
