//! Shared memory of a block: how large rings of tiles are in it, and where buffers lie that are not used at one time.

use cute_ir::{
    Expected, Failure, diag,
    mlir::*,
    ops::cute,
    types::memref_of,
    types::{CuteType, MemRef, Space},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Bytes of a ring of `buffers` tensors, wherever their swizzle puts them. Errors: more than can be counted.
pub(crate) fn ring_bytes(tile: &MemRef<'_>, buffers: i64) -> Result<i64, String> {
    let wrong = || {
        format!(
            "{buffers} buffers of {} are more than 2^63 bytes",
            tile.layout
        )
    };
    let last = tile.layout.cosize().map_err(|e| e.to_string())? * tile.element_bytes();
    let bytes = ring_stride(tile)?
        .checked_mul(buffers - 1)
        .and_then(|before| before.checked_add(last))
        .ok_or_else(wrong)?;
    match tile.byte_swizzle() {
        Some(swizzle) => swizzle.span(bytes).ok_or_else(wrong),
        None => Ok(bytes),
    }
}

/// Bytes from the start of a ring's place to that of the next: each starts where the swizzle repeats. Errors: those of
/// [`MemRef::bytes`].
pub(crate) fn ring_stride(tile: &MemRef<'_>) -> Result<i64, String> {
    Ok(round_up(tile.bytes()?, tile.align))
}

/// Tells whether a tensor or a pointer is into shared memory.
pub(crate) fn in_shared(value: Val<'_>) -> bool {
    matches!(
        CuteType::of(value.r#type()),
        Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) if memref.space == Space::Smem
    )
}

/// The tensor in shared memory that `op` allocates, and its bytes; nothing of another op. Errors: bytes that are not known.
pub(crate) fn allocated<'c>(op: Op<'c>) -> Result<Option<(MemRef<'c>, Val<'c>, i64)>, Failure> {
    let Some(tensor) = cute::MemrefAlloca::of(op).map(cute::MemrefAlloca::result) else {
        return Ok(None);
    };
    let memref = memref_of(tensor).expected(Builder::before(op), "a tensor")?;
    if memref.space != Space::Smem {
        return Ok(None);
    }
    let bytes = memref.bytes().map_err(|e| diag::error(op.location(), e))?;
    Ok(Some((memref, tensor, bytes)))
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
    use cute_layout::{Layout, Swizzle, int, tuple};
    use melior::ir::r#type::IntegerType;

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
    fn rings_have_room_for_what_a_swizzle_reaches() {
        let context = cute_ir::context();
        for (b, m, s) in [(3, 4, 3), (3, 4, -3), (3, 4, -4), (1, 5, -7), (2, 4, 5)] {
            for (rows, columns, stages) in [(16, 48, 1), (9, 24, 1), (16, 48, 3), (48, 16, 2)] {
                let swizzle = Swizzle::new(b, m, s).unwrap();
                let tile = MemRef {
                    element: IntegerType::new(&context, 16).into(),
                    space: Space::Smem,
                    align: swizzle.period().max(128),
                    swizzle: Some(swizzle),
                    inner: None,
                    layout: Layout::row_major(&tuple([int(rows), int(columns)])).unwrap(),
                };
                let stride = round_up(tile.bytes().unwrap(), tile.align);
                let reached = (0..stages)
                    .flat_map(|stage| {
                        (0..rows * columns * 2).map(move |byte| stage * stride + byte)
                    })
                    .map(|byte| swizzle.apply(byte))
                    .max();
                assert!(
                    reached.unwrap() < ring_bytes(&tile, stages).unwrap(),
                    "{tile:?} {stages}"
                );
            }
        }
    }
}
