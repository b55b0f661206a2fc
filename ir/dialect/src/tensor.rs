//! What the ops on tensors mean, on their types: the resulting tensor and where it starts.
//!
//! Inference reads the type, lowering the place; both from here.

use crate::types::{CopyOp, CuteType, MemRef, Space, tiled_copy, tiled_mma};
use cute_layout::{IntTuple, Layout, Leaf, Tile};

/// A tensor made from another one.
#[derive(Clone, Debug)]
pub struct View<'c> {
    pub result: MemRef<'c>,
    /// How far the result starts behind its source, in elements: a constant part,
    pub offset: i64,
    /// and for each dynamic leaf of the coordinate, in order, a layout to apply to its value.
    pub terms: Vec<Layout>,
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The largest power of two that divides `a * b`, at most 2^62; nothing for 0.
fn power_of_two_in(a: i64, b: i64) -> Option<i64> {
    (a != 0 && b != 0).then(|| 1 << (a.trailing_zeros() + b.trailing_zeros()).min(62))
}

impl<'c> View<'c> {
    /// The alignment of the result is what is left of the source's at every place it can start.
    fn new(
        source: &MemRef<'c>,
        layout: Layout,
        offset: i64,
        terms: Vec<Layout>,
    ) -> Result<Self, String> {
        let bytes = source.element_bytes();
        let mut align = source.align;
        let mut reduce = |stride: i64| {
            if let Some(step) = power_of_two_in(stride, bytes) {
                align = align.min(step);
            }
        };
        reduce(offset);
        for term in &terms {
            for leaf in term
                .stride()
                .static_leaves()
                .ok_or("expected static strides")?
            {
                reduce(leaf);
            }
        }
        Ok(Self {
            result: MemRef {
                layout,
                align,
                ..source.clone()
            },
            offset,
            terms,
        })
    }
}

/// `tensor(coord)`: modes at `_` stay.
pub fn slice<'c>(tensor: &MemRef<'c>, coord: &IntTuple) -> Result<View<'c>, String> {
    let (kept, offset, terms) = slice_layout(&tensor.layout, coord)?;
    let layout = match kept.len() {
        0 => Layout::leaf(1, 0).map_err(text)?,
        1 => kept.into_iter().next().expect("one mode"),
        _ => Layout::from_modes(&kept).map_err(text)?,
    };
    View::new(tensor, layout, offset, terms)
}

type Sliced = (Vec<Layout>, i64, Vec<Layout>);

fn slice_layout(layout: &Layout, coord: &IntTuple) -> Result<Sliced, String> {
    match coord {
        IntTuple::Leaf(Leaf::Underscore) => Ok((vec![layout.clone()], 0, vec![])),
        IntTuple::Leaf(Leaf::Static(index)) => {
            let size = layout.size().map_err(text)?;
            if !(0..size).contains(index) {
                return Err(format!(
                    "expected a coordinate in [0, {size}) of the mode {layout}, found {index}"
                ));
            }
            let offset = match layout.flat() {
                Some(flat) => flat.at(*index),
                None if *index == 0 => 0,
                None => return Err(format!("expected static strides, found {layout}")),
            };
            Ok((vec![], offset, vec![]))
        }
        IntTuple::Leaf(Leaf::Dynamic(_)) => Ok((vec![], 0, vec![layout.clone()])),
        IntTuple::Leaf(other) => Err(format!("expected an integer or _, found {other}")),
        IntTuple::Tuple(modes) => {
            if modes.len() != layout.rank() || !layout.shape().is_tuple() {
                return Err(format!(
                    "expected a coordinate of rank {} for the layout {layout}, found {coord}",
                    layout.rank()
                ));
            }
            let (mut kept, mut offset, mut terms) = (vec![], 0i64, vec![]);
            for (mode, part) in layout.modes().iter().zip(modes.iter()) {
                let (k, o, t) = slice_layout(mode, part)?;
                match k.len() {
                    0 => {}
                    // A nested tuple of modes stays one mode of the result.
                    1 if !part.is_tuple() => kept.extend(k),
                    _ => kept.push(Layout::from_modes(&k).map_err(text)?),
                }
                offset = offset
                    .checked_add(o)
                    .ok_or("the offset overflows 64 bits")?;
                terms.extend(t);
            }
            Ok((kept, offset, terms))
        }
    }
}

/// `local_tile(tensor, tile, coord)`: the tile's modes, then those of the rest at `_`.
pub fn local_tile<'c>(
    tensor: &MemRef<'c>,
    tile: &Tile,
    coord: &IntTuple,
) -> Result<View<'c>, String> {
    if tile.rank() != tensor.layout.rank() {
        return Err(format!(
            "expected a tile of rank {}, as the tensor's, found {tile}",
            tensor.layout.rank()
        ));
    }
    for (i, (mode, part)) in tensor.layout.modes().iter().zip(tile.modes()).enumerate() {
        let (extent, by) = (mode.size().map_err(text)?, part.size().unwrap_or(1));
        if by == 0 || extent % by != 0 {
            return Err(format!(
                "expected a tile that divides mode {i} of size {extent}, found {by}; tails are \
                 not supported yet: pad the tensor, or choose a tile that divides it"
            ));
        }
    }
    let divided = tensor.layout.zipped_divide(tile).map_err(text)?;
    let inner = divided.mode(0).map_err(text)?;
    let rest = divided.mode(1).map_err(text)?;
    let (kept, offset, terms) = slice_layout(&rest, coord)?;
    let mut modes = inner.modes();
    modes.extend(kept);
    View::new(
        tensor,
        Layout::from_modes(&modes).map_err(text)?,
        offset,
        terms,
    )
}

/// `partition_S` (`destination` false) or `partition_D`.
pub fn partition_copy<'c>(
    copy: &CuteType<'c>,
    tensor: &MemRef<'c>,
    destination: bool,
) -> Result<View<'c>, String> {
    let tiled = tiled_copy(copy)?;
    let partition = if destination {
        tiled.partition_d(&tensor.layout)
    } else {
        tiled.partition_s(&tensor.layout)
    }
    .map_err(text)?;
    View::new(tensor, partition.val, 0, vec![partition.thr])
}

/// `partition_A`, `B` or `C`, for `operand` 0, 1 or 2.
pub fn partition_mma<'c>(
    mma: &CuteType<'c>,
    tensor: &MemRef<'c>,
    operand: i64,
) -> Result<View<'c>, String> {
    let tiled = tiled_mma(mma)?;
    let partition = match operand {
        0 => tiled.partition_a(&tensor.layout),
        1 => tiled.partition_b(&tensor.layout),
        2 => tiled.partition_c(&tensor.layout),
        other => return Err(format!("expected operand_id 0, 1 or 2, found {other}")),
    }
    .map_err(text)?;
    View::new(tensor, partition.val, 0, vec![partition.thr])
}

/// The shape of a thread's part of an operand of that shape.
pub fn partition_shape(mma: &CuteType, shape: &IntTuple, operand: i64) -> Result<IntTuple, String> {
    let tiled = tiled_mma(mma)?;
    let whole = Layout::col_major(shape).map_err(text)?;
    let partition = match operand {
        0 => tiled.partition_a(&whole),
        1 => tiled.partition_b(&whole),
        2 => tiled.partition_c(&whole),
        other => return Err(format!("expected operand_id 0, 1 or 2, found {other}")),
    }
    .map_err(text)?;
    Ok(partition.val.shape().clone())
}

/// The registers of a partitioned operand of that layout.
pub fn fragment<'c>(mma: &CuteType<'c>, part: &Layout, operand: i64) -> Result<MemRef<'c>, String> {
    let tiled = tiled_mma(mma)?;
    let layout = match operand {
        0 => tiled.fragment_a(part),
        1 => tiled.fragment_b(part),
        2 => tiled.fragment_c(part),
        other => return Err(format!("expected operand_id 0, 1 or 2, found {other}")),
    }
    .map_err(text)?;
    let CuteType::TiledMma { atom, .. } = mma else {
        return Err("expected a tiled MMA".to_owned());
    };
    let Some(CuteType::MmaAtom { a, b, acc, .. }) = CuteType::of(*atom) else {
        return Err("expected a tiled MMA over an MMA atom".to_owned());
    };
    Ok(registers([a, b, acc][operand as usize], layout))
}

/// A tensor in registers.
pub fn registers<'c>(element: melior::ir::Type<'c>, layout: Layout) -> MemRef<'c> {
    let mut memref = MemRef {
        element,
        space: Space::Rmem,
        align: 1,
        swizzle: None,
        layout,
    };
    memref.align = memref.element_bytes();
    memref
}

/// `retile(copy, fragment)`
pub fn retile<'c>(copy: &CuteType<'c>, fragment: &MemRef<'c>) -> Result<MemRef<'c>, String> {
    if fragment.space != Space::Rmem {
        return Err(format!(
            "expected a fragment in rmem, found {}",
            fragment.space
        ));
    }
    let layout = tiled_copy(copy)?.retile(&fragment.layout).map_err(text)?;
    Ok(MemRef {
        layout,
        ..fragment.clone()
    })
}

/// How one copy atom meets memory and registers, for a thread's partition
/// `((ATOM_V,REST_V),REST_M,...)`.
#[derive(Clone, Debug)]
pub struct AtomAccess {
    /// Where the atom at `at` starts in the partition, in elements.
    pub offset: i64,
    /// Of the atom's values, one after the other, behind the start, in elements.
    pub values: Vec<i64>,
}

/// The extents that `at` ranges over: the partition's modes behind the atom's own values.
pub fn atom_extents(partition: &Layout) -> Result<Vec<i64>, String> {
    let modes = partition.modes();
    let first = modes.first().ok_or("expected a partitioned tensor")?;
    if !first.shape().is_tuple() || first.rank() != 2 {
        return Err(format!(
            "expected a partitioned tensor ((atom values, rest), ...), found {partition}"
        ));
    }
    let mut extents = vec![first.mode(1).map_err(text)?.size().map_err(text)?];
    for mode in &modes[1..] {
        extents.push(mode.size().map_err(text)?);
    }
    Ok(extents)
}

/// More values than any instruction takes from one thread.
const ATOM_VALUES: i64 = 1 << 12;

/// The atom of `partition` at `at`, which has an index for each extent of [`atom_extents`].
pub fn atom_access(partition: &Layout, at: &[i64]) -> Result<AtomAccess, String> {
    let extents = atom_extents(partition)?;
    if partition.flat().is_none() {
        return Err(format!(
            "expected a partitioned tensor of static extents and strides, found {partition}"
        ));
    }
    if at.len() != extents.len() || at.iter().zip(&extents).any(|(i, n)| !(0..*n).contains(i)) {
        return Err(format!("expected an atom within {extents:?}, found {at:?}"));
    }
    let modes = partition.modes();
    let first = &modes[0];
    let values = first.mode(0).map_err(text)?;
    let mut offset = first.mode(1).map_err(text)?.at(at[0]);
    for (mode, index) in modes[1..].iter().zip(&at[1..]) {
        offset = offset
            .checked_add(mode.at(*index))
            .ok_or("the offset overflows 64 bits")?;
    }
    let count = values.size().map_err(text)?;
    if count > ATOM_VALUES {
        return Err(format!(
            "expected an atom of at most {ATOM_VALUES} values, found {count} in {values}; put what the atom repeats in \
             the modes behind it"
        ));
    }
    Ok(AtomAccess {
        offset,
        values: (0..count).map(|i| values.at(i)).collect(),
    })
}

/// Whether an element of the partition is at that offset. One with more elements than a thread can hold has none.
pub fn covers(partition: &Layout, offset: i64) -> bool {
    let Some(flat) = partition.flat() else {
        return false;
    };
    flat.size() <= 1 << 16 && (0..flat.size()).any(|i| flat.at(i) == offset)
}

/// Whether each thread's values of the copy's atoms are side by side in memory, as the
/// instruction needs; with the cure where they are not.
pub fn check_contiguous(what: &str, memref: &MemRef, op: CopyOp) -> Result<(), String> {
    let extents = atom_extents(&memref.layout)?;
    let access = atom_access(&memref.layout, &vec![0; extents.len()])?;
    if access
        .values
        .iter()
        .enumerate()
        .all(|(i, v)| *v == i as i64)
    {
        let bytes = access.values.len() as i64 * memref.element_bytes();
        if let Some(swizzle) = memref.swizzle
            && bytes > 1 << swizzle.m()
        {
            return Err(format!(
                "{what} is accessed {bytes} bytes at a time, which its swizzle {swizzle} takes \
                 apart; expected a swizzle S<B,M,S> with 2^M at least {bytes}"
            ));
        }
        let needed = match op {
            CopyOp::Ldsm { .. } | CopyOp::Stsm { .. } => 16,
            _ => bytes,
        };
        if memref.align < needed {
            return Err(format!(
                "{what} is accessed {needed} bytes at a time but is aligned to {} bytes; expected \
                 align<{needed}>, or an atom of {} bits",
                memref.align,
                memref.align * 8
            ));
        }
        return Ok(());
    }
    let values = memref.layout.modes()[0].mode(0).map_err(text)?;
    Err(format!(
        "failed to vectorize: the values of a thread in {what} lie at {values}, expected stride 1; \
         use a value layout along the contiguous mode, or a narrower atom"
    ))
}
