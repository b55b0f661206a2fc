//! Shared memory of a block: how large the tiles of a GEMM are in it, and where buffers lie that are not used at one time.

use crate::config::SwizzleChoice;
use cute_layout::{Layout, Swizzle, int, tuple};
use cute_target::banks::wavefronts;

/// A row-major tile of a GEMM in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedTile {
    rows: i64,
    columns: i64,
    element_bytes: i64,
    /// On byte addresses.
    pub(crate) swizzle: Option<Swizzle>,
}

impl SharedTile {
    /// A tile of so many rows and columns, of elements of so many bytes. Errors: a swizzle that is none.
    pub(crate) fn new(
        rows: i64,
        columns: i64,
        element_bytes: i64,
        choice: SwizzleChoice,
    ) -> Result<Self, String> {
        let swizzle = match choice {
            SwizzleChoice::None => None,
            SwizzleChoice::Given(b, m, s) => {
                Some(Swizzle::new(b, m, s).map_err(|e| e.to_string())?)
            }
            SwizzleChoice::Auto => conflict_free(columns * element_bytes),
        };
        Ok(Self {
            rows,
            columns,
            element_bytes,
            swizzle,
        })
    }

    /// Its layout in elements.
    pub(crate) fn layout(&self) -> Result<Layout, String> {
        Layout::row_major(&tuple([int(self.rows), int(self.columns)])).map_err(|e| e.to_string())
    }

    /// Its alignment in bytes: at least a line of all 32 banks, so that rows meet banks as the swizzle supposes.
    pub(crate) fn align(&self) -> i64 {
        self.swizzle
            .map_or(128, |swizzle| swizzle.period().max(128))
    }

    /// Bytes of a ring of so many of it, wherever the swizzle puts them.
    pub(crate) fn ring_bytes(&self, stages: i64) -> i64 {
        let within = |bytes: i64| {
            self.swizzle
                .and_then(|swizzle| swizzle.span(bytes))
                .unwrap_or(bytes)
        };
        let tile = self.rows * self.columns * self.element_bytes;
        within((stages - 1) * round_up(within(tile), self.align()) + tile)
    }
}

/// The swizzle with the fewest bank conflicts where 8 consecutive rows of `row` bytes are read at
/// one column of 16 bytes, as ldmatrix does; among equals the smallest. None where none helps.
fn conflict_free(row: i64) -> Option<Swizzle> {
    // Bits above a chunk of 16 bytes; beyond 8 chunks all banks are reached.
    const CHUNK_BITS: i64 = 4;
    let mut best: (u32, Option<Swizzle>) = (conflicts(row, None), None);
    for bits in 1..=3 {
        for shift in 3..=6 {
            let Ok(swizzle) = Swizzle::new(bits, CHUNK_BITS, shift) else {
                continue;
            };
            let cost = conflicts(row, Some(swizzle));
            if cost < best.0 {
                best = (cost, Some(swizzle));
            }
        }
    }
    best.1
}

/// Wavefronts to read each column of 16 bytes of 16 rows, 8 rows at a time.
fn conflicts(row: i64, swizzle: Option<Swizzle>) -> u32 {
    let place = |offset: i64| swizzle.map_or(offset, |swizzle| swizzle.apply(offset));
    let mut sum = 0;
    for first in [0, 8] {
        for column in (0..row).step_by(16) {
            let offsets: Vec<i64> = (first..first + 8)
                .map(|r| place(r * row + column))
                .collect();
            sum += wavefronts(&offsets, 16);
        }
    }
    sum
}

/// A tensor in shared memory. Positions are those of the body's operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    pub(crate) bytes: i64,
    pub(crate) align: i64,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl Buffer {
    /// A buffer of which no use is known yet.
    pub(crate) fn unused(bytes: i64, align: i64) -> Self {
        Self {
            bytes,
            align,
            first: usize::MAX,
            last: 0,
        }
    }

    /// Lets it live at a position as well.
    pub(crate) fn used(&mut self, position: usize) {
        self.first = self.first.min(position);
        self.last = self.last.max(position);
    }

    /// Tells whether both live at some position.
    pub(crate) fn meets(&self, other: &Buffer) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Bytes that buffers need at these offsets.
pub(crate) fn size(buffers: &[Buffer], offsets: &[i64]) -> i64 {
    let ends = buffers.iter().zip(offsets).map(|(b, o)| o + b.bytes);
    ends.max().unwrap_or(0)
}

/// Tells whether two ranges of bytes have one in common, each given by its start and its length.
pub(crate) fn overlap(a: i64, a_bytes: i64, b: i64, b_bytes: i64) -> bool {
    a < b + b_bytes && b < a + a_bytes
}

/// Offsets of buffers, the largest first, each at the lowest place that no buffer has that is used `together` with it.
pub(crate) fn pack(buffers: &[Buffer], together: impl Fn(&Buffer, &Buffer) -> bool) -> Vec<i64> {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(buffers[*i].bytes));
    let mut offsets = vec![0; buffers.len()];
    let mut placed: Vec<usize> = Vec::new();
    for i in order {
        let buffer = &buffers[i];
        let mut taken: Vec<(i64, i64)> = placed
            .iter()
            .filter(|j| together(&buffers[**j], buffer))
            .map(|j| (offsets[*j], offsets[*j] + buffers[*j].bytes))
            .collect();
        taken.sort_unstable();
        let mut offset = 0i64;
        for (from, to) in taken {
            if offset + buffer.bytes <= from {
                break;
            }
            offset = round_up(offset.max(to), buffer.align);
        }
        offsets[i] = offset;
        placed.push(i);
    }
    offsets
}

/// The least multiple of `to` that is at least `value`.
pub(crate) fn round_up(value: i64, to: i64) -> i64 {
    (value + to - 1) / to * to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: i64, align: i64, first: usize, last: usize) -> Buffer {
        Buffer {
            bytes,
            align,
            first,
            last,
        }
    }

    #[test]
    fn buffers_of_one_time_do_not_overlap_and_others_do() {
        let buffers = [
            buffer(24576, 512, 1, 5),
            buffer(24576, 512, 1, 5),
            buffer(32768, 2048, 6, 7),
            buffer(100, 16, 5, 6),
        ];
        let offsets = pack(&buffers, Buffer::meets);
        for (i, a) in buffers.iter().enumerate() {
            assert_eq!(offsets[i] % a.align, 0);
            for (j, b) in buffers.iter().enumerate().skip(i + 1) {
                let together = a.first <= b.last && b.first <= a.last;
                assert!(!together || !overlap(offsets[i], a.bytes, offsets[j], b.bytes));
            }
        }
        assert_eq!(offsets[2], 0);
        let end = buffers.iter().zip(&offsets).map(|(b, o)| b.bytes + o).max();
        assert_eq!(end, Some(2 * 24576 + 112 - 12));
    }

    #[test]
    fn rows_of_whole_chunks_are_free_of_conflicts() {
        for row in [32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024] {
            let columns = row as u32 / 16;
            assert_eq!(conflicts(row, conflict_free(row)), 2 * columns, "{row}");
        }
        let text = |row| conflict_free(row).map(|s| s.to_string());
        assert_eq!(text(32).as_deref(), Some("S<1,4,3>"));
        assert_eq!(text(64).as_deref(), Some("S<2,4,3>"));
        assert_eq!(text(128).as_deref(), Some("S<3,4,3>"));
        assert_eq!(text(256).as_deref(), Some("S<3,4,4>"));
    }

    #[test]
    fn rings_have_room_for_what_a_swizzle_reaches() {
        for (b, m, s) in [(3, 4, 3), (3, 4, -3), (3, 4, -4), (1, 5, -7), (2, 4, 5)] {
            for (rows, columns, stages) in [(16, 48, 1), (9, 24, 1), (16, 48, 3), (48, 16, 2)] {
                let choice = SwizzleChoice::Given(b, m, s);
                let tile = SharedTile::new(rows, columns, 2, choice).unwrap();
                let swizzle = tile.swizzle.unwrap();
                let stride = round_up(tile.ring_bytes(1), tile.align());
                let reached = (0..stages)
                    .flat_map(|stage| {
                        (0..rows * columns * 2).map(move |byte| stage * stride + byte)
                    })
                    .map(|byte| swizzle.apply(byte))
                    .max();
                assert!(
                    reached.unwrap() < tile.ring_bytes(stages),
                    "{tile:?} {stages}"
                );
            }
        }
    }
}
