//! Fragments, and how atoms meet memory: what the ops on a thread's part of a tensor mean, on their types.

use crate::{
    types::{CuteType, MemRef, Space, tiled_copy, tiled_copy_type, tiled_mma},
    view::{self, View},
};
use cute_layout::atoms::{CopyAtom, Source};
use cute_layout::{IntTuple, Layout, Leaf, TiledCopy, int, tuple};
use melior::{
    Context,
    ir::{Location, Type},
};
use std::sync::Arc;

/// The bytes of the longest vector that an atom moves.
const LONGEST_VECTOR: i64 = 16;

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The shape of a thread's part of an operand of that shape.
pub fn partition_shape(mma: &CuteType, shape: &IntTuple, operand: i64) -> Result<IntTuple, String> {
    let whole = Layout::col_major(shape).map_err(text)?;
    let partition = view::partition_mma(mma, &whole, operand)?;
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
    let Some(CuteType::MmaAtom { a, b, acc, atom }) = CuteType::of(*atom) else {
        return Err("expected a tiled MMA over an MMA atom".to_owned());
    };
    if atom.sources[operand as usize] != Source::Registers {
        return Err(format!(
            "expected an operand that {} takes from registers, found {}, which it reads in shared memory by descriptors: \
             no fragment holds it",
            atom.name,
            ["A", "B", "C"][operand as usize]
        ));
    }
    let mut fragment = registers([a, b, acc][operand as usize], layout);
    // As aligned as the atom's own values are long, for they are moved together.
    let values = fragment.layout.mode(0).and_then(|m| m.size());
    if let Ok(values) = values
        && let Some(bytes) = view::power_of_two_in(values, fragment.element_bytes())
    {
        fragment.align = bytes;
    }
    Ok(fragment)
}

/// The registers that hold a tensor of that layout.
pub fn fragment_like<'c>(layout: &Layout, element: Type<'c>) -> Result<MemRef<'c>, String> {
    let mut fragment = registers(element, layout.make_fragment_like().map_err(text)?);
    // Registers are moved by vectors as long as any atom's.
    fragment.align = LONGEST_VECTOR;
    Ok(fragment)
}

/// The tiled copy that moves the fragments of an operand of an MMA.
pub fn copy_of_mma<'c>(
    context: &'c Context,
    mma: &CuteType<'c>,
    atom: Type<'c>,
    operand: i64,
) -> Result<Type<'c>, String> {
    let tiled = tiled_mma(mma)?;
    let row = match CuteType::get(atom) {
        Some(CuteType::CopyAtom { atom, .. }) => Arc::clone(atom),
        _ => {
            return Err(format!(
                "expected a copy atom, such as !cute_nvgpu.atom.universal_copy, found {atom}"
            ));
        }
    };
    let copy = match operand {
        0 => TiledCopy::make_tiled_copy_a(row, &tiled),
        1 => TiledCopy::make_tiled_copy_b(row, &tiled),
        2 => TiledCopy::make_tiled_copy_c(row, &tiled),
        other => return Err(format!("expected operand_id 0, 1 or 2, found {other}")),
    }
    .map_err(text)?;
    let location = Location::unknown(context);
    tiled_copy_type(location, atom, copy.layout_tv(), copy.tiler_mn())
        .map_err(|_| "has no valid result type".to_owned())
}

/// `add_offset(pointer, offset)`: the alignment is what the offset's known divisor leaves of it.
pub fn add_offset<'c>(pointer: &MemRef<'c>, offset: &IntTuple) -> Result<MemRef<'c>, String> {
    let divisor = match offset {
        IntTuple::Leaf(Leaf::Static(offset)) => *offset,
        IntTuple::Leaf(Leaf::Dynamic(offset)) => offset.div,
        _ => {
            return Err(format!(
                "expected one integer as a pointer's offset, found {offset}"
            ));
        }
    };
    let align = match view::power_of_two_in(divisor, pointer.element_bytes()) {
        Some(step) => pointer.align.min(step),
        None => pointer.align,
    };
    Ok(MemRef {
        align,
        ..pointer.clone()
    })
}

/// A tensor in registers.
pub fn registers<'c>(element: Type<'c>, layout: Layout) -> MemRef<'c> {
    let mut memref = MemRef {
        element,
        space: Space::Rmem,
        align: 1,
        swizzle: None,
        layout,
        inner: None,
    };
    memref.align = memref.element_bytes();
    memref
}

/// `retile(copy, fragment)`
pub fn retile<'c>(copy: &CuteType<'c>, fragment: &MemRef<'c>) -> Result<MemRef<'c>, String> {
    if fragment.space != Space::Rmem {
        return Err(format!(
            "expected a fragment in rmem, found a tensor in {}; divide that by partition_S or partition_D",
            fragment.space
        ));
    }
    let layout = tiled_copy(copy)?.retile(&fragment.layout).map_err(text)?;
    let layout = layout.without_unit_strides();
    Ok(MemRef {
        layout,
        ..fragment.clone()
    })
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

/// The layout of an atom's own values in a thread's partition.
pub fn atom_values(partition: &Layout) -> Result<Layout, String> {
    atom_extents(partition)?;
    partition
        .mode(0)
        .and_then(|first| first.mode(0))
        .map_err(text)
}

/// More values than any instruction takes from one thread.
pub(crate) const ATOM_VALUES: i64 = 1 << 12;

/// Checks that `at` has an index for each extent of [`atom_extents`], within it.
pub fn check_at(partition: &Layout, at: &[i64]) -> Result<(), String> {
    let extents = atom_extents(partition)?;
    if at.len() != extents.len() || at.iter().zip(&extents).any(|(i, n)| !(0..*n).contains(i)) {
        return Err(format!("expected an atom within {extents:?}, found {at:?}"));
    }
    Ok(())
}

/// The places of an atom's values behind the first, in elements; their layout must be static.
fn value_places(partition: &Layout) -> Result<Vec<i64>, String> {
    let values = atom_values(partition)?;
    let flat = values
        .flat()
        .ok_or_else(|| format!("expected atom values of static strides, found {partition}"))?;
    if flat.size() > ATOM_VALUES {
        return Err(format!(
            "expected an atom of at most {ATOM_VALUES} values, found {} in {values}; put what the atom repeats in \
             the modes behind it",
            flat.size()
        ));
    }
    Ok((0..flat.size()).map(|i| flat.at(i)).collect())
}

/// The view of a thread's partition that is its atom at `at`, which has an index for each extent of [`atom_extents`].
pub fn atom_view(partition: &Layout, at: &[i64]) -> Result<View, String> {
    check_at(partition, at)?;
    let (rest, behind) = at.split_first().ok_or("expected a partitioned tensor")?;
    let first = tuple([IntTuple::Leaf(Leaf::Underscore), int(*rest)]);
    let behind = behind.iter().map(|index| int(*index));
    view::slice(partition, &tuple(std::iter::once(first).chain(behind)))
}

/// The start of the atom of `partition` at `at`, in elements. Errors: it is not known.
pub fn atom_start(partition: &Layout, at: &[i64]) -> Result<i64, String> {
    let start = atom_view(partition, at)?.start(&int(0), &[])?;
    start.as_static().ok_or_else(|| {
        format!("expected a partitioned tensor of static extents and strides, found {partition}")
    })
}

/// Tells whether an element of the partition is at that offset. One with more elements than a thread can hold has none.
pub fn covers(partition: &Layout, offset: i64) -> bool {
    let Some(flat) = partition.flat() else {
        return false;
    };
    flat.size() <= 1 << 16 && (0..flat.size()).any(|i| flat.at(i) == offset)
}

/// Checks that each thread's values of the copy's atoms are side by side in memory, as the
/// instruction needs. Errors: they are not; the message has the cure.
pub fn check_contiguous(what: &str, memref: &MemRef, atom: &CopyAtom) -> Result<(), String> {
    let values = value_places(&memref.layout)?;
    if values.iter().enumerate().all(|(i, v)| *v == i as i64) {
        let bytes = values.len() as i64 * memref.element_bytes();
        let needed = if atom.is_by_rows() { atom.align } else { bytes };
        check_alignment(what, memref, bytes, needed)?;
        let mut rest = memref.layout.modes();
        rest[0] = rest[0].mode(1).map_err(text)?;
        return check_steps(what, memref, needed, &rest, 0);
    }
    let values = memref.layout.modes()[0].mode(0).map_err(text)?;
    Err(format!(
        "failed to vectorize: the values of a thread in {what} lie at {values}, expected stride 1; \
         use a value layout along the contiguous mode, or a narrower atom"
    ))
}

/// Checks that vectors of `bytes` bytes can be accessed at the tensor's start, for which it must be aligned to `needed`.
pub(crate) fn check_alignment(
    what: &str,
    memref: &MemRef,
    bytes: i64,
    needed: i64,
) -> Result<(), String> {
    if let Some(swizzle) = memref.byte_swizzle()
        && bytes > 1 << swizzle.m()
    {
        let (b, m) = (swizzle.b(), bytes.ilog2());
        return Err(format!(
            "{what} is accessed {bytes} bytes at a time, which its swizzle {swizzle} takes \
             apart; expected a swizzle S<B,M,S> with 2^M at least {bytes}, such as S<{b},{m},{}>",
            swizzle.s()
        ));
    }
    if memref.align < needed {
        return Err(format!(
            "{what} is accessed {needed} bytes at a time but is aligned to {} bytes; expected \
             align<{needed}>, or an atom of {} bits",
            memref.align,
            memref.align * 8
        ));
    }
    Ok(())
}

/// Checks that every atom is as aligned as the first one, where these modes repeat it, of which the first is `first`.
pub(crate) fn check_steps(
    what: &str,
    memref: &MemRef,
    needed: i64,
    rest: &[Layout],
    first: usize,
) -> Result<(), String> {
    let bytes = memref.element_bytes();
    for (i, behind) in rest.iter().enumerate() {
        let shape = behind.shape().leaves();
        for (extent, stride) in shape.into_iter().zip(behind.stride().leaves()) {
            let step = match stride {
                Leaf::Static(stride) => *stride,
                Leaf::Dynamic(stride) => stride.div,
                _ => continue,
            };
            if *extent != Leaf::Static(1)
                && (step.checked_mul(bytes)).is_none_or(|b| b % needed != 0)
            {
                let cure = match stride {
                    Leaf::Dynamic(_) => format!("write it ?{{div={}}}, if it is", needed / bytes),
                    _ => format!(
                        "pad it to a multiple of {}, or use a narrower atom",
                        needed / bytes
                    ),
                };
                return Err(format!(
                    "{what} is accessed {needed} bytes at a time, but mode {} steps by {stride} elements of {bytes} bytes, \
                     which is not known to be a multiple of that; {cure}",
                    first + i
                ));
            }
        }
    }
    Ok(())
}
