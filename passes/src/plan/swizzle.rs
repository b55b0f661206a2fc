//! The choice of the swizzle of a tile in shared memory.

use cute_layout::Swizzle;
use cute_target::banks::{BANK_BYTES, NUM_BANKS, wavefronts};
use std::{cell::RefCell, collections::BTreeMap};

/// The swizzles of a builder, each chosen once: candidates have few widths of rows.
#[derive(Default)]
pub(super) struct Swizzles(RefCell<BTreeMap<(i64, i64), Option<Swizzle>>>);

impl Swizzles {
    /// The swizzle that [`conflict_free`] gives.
    pub(super) fn conflict_free(&self, row: i64, chunk: i64) -> Option<Swizzle> {
        let mut known = self.0.borrow_mut();
        let known = known.entry((row, chunk));
        *known.or_insert_with(|| conflict_free(row, chunk))
    }
}

/// The swizzle with the fewest bank conflicts where consecutive rows of `row` bytes are read at one column of `chunk` bytes,
/// as many rows at a time as all banks have chunks; among equals the smallest. None where none helps.
fn conflict_free(row: i64, chunk: i64) -> Option<Swizzle> {
    let chunk_bits = i64::from(chunk.max(1).ilog2());
    // Beyond as many chunks as all banks have, all banks are reached.
    let most_bits = i64::from(rows_at_once(chunk).ilog2());
    let mut best: (u32, Option<Swizzle>) = (conflicts(row, chunk, None), None);
    // Each column of each group takes one wavefront at least.
    let fewest = GROUPS as u32 * columns(row, chunk).count() as u32;
    for bits in 1..=most_bits {
        for shift in 3..=6 {
            if best.0 <= fewest {
                return best.1;
            }
            let Ok(swizzle) = Swizzle::new(bits, chunk_bits, shift) else {
                continue;
            };
            let cost = conflicts(row, chunk, Some(swizzle));
            if cost < best.0 {
                best = (cost, Some(swizzle));
            }
        }
    }
    best.1
}

fn rows_at_once(chunk: i64) -> i64 {
    (NUM_BANKS * BANK_BYTES / chunk.max(1)).max(1)
}

/// Groups of rows that are read.
const GROUPS: i64 = 2;

/// The bytes at which the columns of chunks of a row start.
fn columns(row: i64, chunk: i64) -> impl Iterator<Item = i64> {
    (0..row).step_by(usize::try_from(chunk).unwrap_or(1).max(1))
}

/// Wavefronts to read each column of chunks of each group of rows.
fn conflicts(row: i64, chunk: i64, swizzle: Option<Swizzle>) -> u32 {
    let place = |offset: i64| swizzle.map_or(offset, |swizzle| swizzle.apply(offset));
    let rows = rows_at_once(chunk);
    let mut sum = 0;
    for first in (0..GROUPS).map(|group| group * rows) {
        for column in columns(row, chunk) {
            let offsets: Vec<i64> = (first..first + rows)
                .map(|r| place(r * row + column))
                .collect();
            sum += wavefronts(&offsets, u32::try_from(chunk).unwrap_or(1));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_whole_chunks_are_free_of_conflicts() {
        for row in [32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024] {
            let columns = row as u32 / 16;
            assert_eq!(
                conflicts(row, 16, conflict_free(row, 16)),
                2 * columns,
                "{row}"
            );
        }
        let text = |row| conflict_free(row, 16).map(|s| s.to_string());
        assert_eq!(text(32).as_deref(), Some("S<1,4,3>"));
        assert_eq!(text(64).as_deref(), Some("S<2,4,3>"));
        assert_eq!(text(128).as_deref(), Some("S<3,4,3>"));
        assert_eq!(text(256).as_deref(), Some("S<3,4,4>"));
    }
}
