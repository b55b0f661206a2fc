//! Cures for accesses that cost more than they must, each tried before it is said.

use super::{
    figures::{LANES, with_swizzle},
    linear::Symbols,
    walk::Access,
};
use cute_ir::ops::cute;
use cute_ir::{
    args::PartitionArgs,
    mlir::*,
    types::memref_of,
    types::{CuteType, MemRef, Space, tiled_copy},
};
use cute_layout::{IntTuple, Layout, Leaf, Swizzle, TiledCopy, int, tuple};
use cute_target::sectors::{LINE_BYTES, SECTOR_BYTES, sectors_and_lines};
use melior::ir::ValueLike;

/// The tile in global memory that a copy is partitioned from, and its copy.
fn partitioned<'c>(copy: Op<'c>) -> Option<(TiledCopy, MemRef<'c>, bool)> {
    let operands = operands_of(copy);
    let (by, tensors) = operands.split_first()?;
    let tiled = tiled_copy(&CuteType::of(by.r#type())?).ok()?;
    tensors.iter().find_map(|tensor| {
        let partition = defining_op(*tensor)?;
        let tile = memref_of(PartitionArgs::by_copy(partition)?.tensor)?;
        let destination = name_of(partition) == cute::TILED_COPY_PARTITION_D;
        (tile.space == Space::Gmem).then(|| (tiled.clone(), tile, destination))
    })
}

/// The mode of a tile along which it lies in one piece, and how many elements that is.
fn contiguous(layout: &Layout) -> Option<(usize, i64)> {
    layout.modes().iter().enumerate().find_map(|(i, mode)| {
        let leaves = mode
            .stride()
            .leaves()
            .into_iter()
            .zip(mode.shape().leaves());
        let mut run = 0;
        for (stride, extent) in leaves {
            let (Some(stride), Some(extent)) = (stride.as_static(), extent.as_static()) else {
                break;
            };
            match run {
                0 if stride == 1 && extent > 1 => run = extent,
                0 => return None,
                _ if stride == run => run *= extent,
                _ => break,
            }
        }
        (run > 1).then_some((i, run))
    })
}

fn with_long_strides(stride: &IntTuple) -> IntTuple {
    const LONG: i64 = 1 << 16;
    match stride {
        IntTuple::Leaf(Leaf::Dynamic(leaf)) => int(leaf.div.clamp(1, LONG) * LONG),
        IntTuple::Leaf(_) => stride.clone(),
        IntTuple::Tuple(modes) => tuple(modes.iter().map(with_long_strides)),
    }
}

/// Threads and values that make whole lines of what a warp touches, as text; or what stands in the way.
pub(super) fn for_lines(copy: Op<'_>, bytes: u32) -> Option<String> {
    let (tiled, tile, destination) = partitioned(copy)?;
    if tile.layout.rank() != 2 || bytes == 0 {
        return None;
    }
    let element = tile.element_bytes();
    let values = i64::from(bytes) / element;
    let (mode, run) = contiguous(&tile.layout)?;
    let line = LINE_BYTES as i64 / element;
    if run < line {
        return Some(format!(
            "the tile's rows of {} bytes are shorter than a line; take tiles of at least {line} elements along mode {mode}",
            run * element
        ));
    }
    let threads = tiled.num_threads();
    let across = (LINE_BYTES as i64 / i64::from(bytes)).min(threads);
    if threads % across != 0 {
        return None;
    }
    let rest = threads / across;
    let pair = |along: i64, other: i64| match mode {
        0 => (along, other),
        _ => (other, along),
    };
    let layout = |(m, n): (i64, i64)| {
        let stride = if mode == 0 { (1, m) } else { (n, 1) };
        Layout::new(
            tuple([int(m), int(n)]),
            tuple([int(stride.0), int(stride.1)]),
        )
        .ok()
    };
    let (threads, values) = (layout(pair(across, rest))?, layout(pair(values, 1))?);
    let made = TiledCopy::make_tiled_copy(tiled.atom().clone(), &threads, &values).ok()?;
    // Strides that are not known are taken to be long ones.
    let layout = Layout::new(
        tile.layout.shape().clone(),
        with_long_strides(tile.layout.stride()),
    )
    .ok()?;
    let partition = if destination {
        made.partition_d(&layout)
    } else {
        made.partition_s(&layout)
    };
    let thr = partition.ok()?.thr.flat()?;
    let lanes = made.num_threads().clamp(1, LANES as i64);
    let mut at = [0; LANES];
    for (t, at) in at.iter_mut().enumerate().take(lanes as usize) {
        *at = (thr.at(t as i64) * element) as u64;
    }
    let active = u32::MAX >> (LANES as i64 - lanes);
    let (sectors, lines) = sectors_and_lines(&at, active, bytes);
    let moved = (i64::from(bytes) * lanes) as u64;
    if u64::from(lines) > moved.div_ceil(LINE_BYTES)
        || u64::from(sectors) > moved.div_ceil(SECTOR_BYTES)
    {
        return None;
    }
    Some(format!(
        "use threads {threads} with values {}",
        values.shape()
    ))
}

/// The swizzle under which all accesses to one allocation take the fewest passes, and how many of how many that are: of
/// these accesses now, with it, and at the least.
pub(super) fn for_banks(
    accesses: &[&Access],
    now: u32,
    symbols: &Symbols,
) -> Option<(Swizzle, u32)> {
    let widest = accesses.iter().map(|a| a.bytes).max()?.max(4);
    let keep = i64::from(widest.next_power_of_two().trailing_zeros());
    let mut best: Option<(Swizzle, u32)> = None;
    for base in keep..=4 {
        for bits in 1..=5 {
            for shift in bits..=7 {
                let Ok(swizzle) = Swizzle::new(bits, base, shift) else {
                    continue;
                };
                let mut sum = 0;
                for access in accesses {
                    sum += with_swizzle(access, swizzle, symbols)?.0;
                }
                if sum < best.map_or(now, |(_, passes)| passes) {
                    best = Some((swizzle, sum));
                }
            }
        }
    }
    best
}
