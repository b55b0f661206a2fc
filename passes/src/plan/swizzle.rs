//! The choice of the swizzle of a tile in shared memory.

use cute_layout::Swizzle;
use cute_target::banks::{BANK_BYTES, NUM_BANKS, wavefronts};

/// The swizzle with the fewest bank conflicts where consecutive rows of `row` bytes are read at one column of `chunk` bytes,
/// as many rows at a time as all banks have chunks; among equals the smallest. None where none helps.
pub(super) fn conflict_free(row: i64, chunk: i64) -> Option<Swizzle> {
    let chunk_bits = i64::from(chunk.max(1).ilog2());
    // Beyond as many chunks as all banks have, all banks are reached.
    let most_bits = i64::from(rows_at_once(chunk).ilog2());
    let mut best: (u32, Option<Swizzle>) = (conflicts(row, chunk, None), None);
    for bits in 1..=most_bits {
        for shift in 3..=6 {
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

/// Wavefronts to read each column of chunks of two groups of rows.
fn conflicts(row: i64, chunk: i64, swizzle: Option<Swizzle>) -> u32 {
    let place = |offset: i64| swizzle.map_or(offset, |swizzle| swizzle.apply(offset));
    let rows = rows_at_once(chunk);
    let mut sum = 0;
    for first in [0, rows] {
        for column in (0..row).step_by(usize::try_from(chunk).unwrap_or(1).max(1)) {
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
