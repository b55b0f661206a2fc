//! Copies and prefetches.

use super::super::{Checked, check_spaces, tensor as operand};
use super::located::Located;
use crate::mlir::*;
use crate::ops::{cute, func, gpu};
use crate::{
    algorithm::{self, AtomSide},
    args::{CooperativeCopyArgs, CopyArgs, PartitionArgs, PlainCopyArgs, PrefetchArgs, ThreadCopy},
    block::block_size,
    names::is_cute,
    tensor,
    types::memref_of,
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{Dyn, IntTuple, Leaf, tma::TmaBox};
use melior::ir::{Location, Type, ValueLike, operation::OperationLike};

pub(super) fn same_element(source: &MemRef, destination: &MemRef) -> Checked {
    source.check_elements()?;
    destination.check_elements()?;
    if types::same_bits(source.element, destination.element) {
        return Ok(());
    }
    Err(format!(
        "expected the same element type on both sides, found {} and {}; use cute.convert",
        source.element, destination.element
    ))
}

pub(in super::super) fn verify_copy(op: Op<'_>) -> Checked {
    match CopyArgs::of(op) {
        Some(CopyArgs::Thread(copy)) => match CuteType::get(copy.copy.r#type()) {
            Some(
                CuteType::TensorMap { map, value, stores } | CuteType::Tma { map, value, stores },
            ) => verify_tma_copy(copy, (*value, map), *stores),
            _ => verify_atom_copy(copy, Places::COPY),
        },
        _ => Err(format!(
            "expected (tiled copy or copy atom, source, destination), perhaps with a predicate behind them, found {} operands{}",
            op.operand_count(),
            match op.operand_count() {
                2 => "; a copy of a tile by all threads of the block is cute.block.copy",
                _ => "",
            }
        )),
    }
}

/// A copy by an atom of TMA: coordinates on one side, as many elements in shared memory on the other, in whole boxes.
fn verify_tma_copy(
    copy: ThreadCopy<'_>,
    (value, map): (Type<'_>, &TmaBox),
    stores: bool,
) -> Checked {
    if copy.predicate.is_some() {
        return Err(
            "expected a copy of a whole tile by TMA, found one with predicates; what is outside of the tensor arrives as zeros, or is not stored"
                .to_owned(),
        );
    }
    let (coords, smem) = match stores {
        true => (copy.destination, copy.source),
        false => (copy.source, copy.destination),
    };
    let types = (CuteType::of(coords.r#type()), CuteType::of(smem.r#type()));
    let (Some(CuteType::CoordTensor { layout, .. }), Some(CuteType::MemRef(memref))) = types else {
        return Err(format!(
            "expected {}, found {} and {}",
            match stores {
                true =>
                    "a tile in smem and its coordinates, as cute_nvgpu.atom.tma_partition gives them",
                false =>
                    "the coordinates of a tile and a place in smem, as cute_nvgpu.atom.tma_partition gives them",
            },
            copy.source.r#type(),
            copy.destination.r#type()
        ));
    };
    if memref.space != Space::Smem || memref.element != value {
        return Err(format!(
            "expected elements of {value} in smem, as the atom moves, found {} in {}",
            memref.element, memref.space
        ));
    }
    let sizes = [&layout, &memref.layout].map(|layout| layout.size().map_err(|e| e.to_string()));
    let [of_coords, of_smem] = sizes;
    let (of_coords, of_smem) = (of_coords?, of_smem?);
    if of_coords != of_smem || of_smem % map.size() != 0 {
        return Err(format!(
            "expected as many elements on both sides, in whole boxes of {}, found {of_coords} and {of_smem}",
            map.size()
        ));
    }
    Ok(())
}

pub(in super::super) fn verify_block_copy(op: cute::BlockCopy<'_>) -> Checked {
    let (source, destination) = (operand(0, op.source())?, operand(1, op.destination())?);
    let located = Located::of(op.op(), 2)?;
    if located.is_of_factor() {
        located.check_factor(&source, &destination)?;
    }
    let (source, destination) = (located.tile(source, 0)?, located.tile(destination, 1)?);
    verify_whole_copy(&source, &destination)?;
    let id = integer_of(op.op(), "operand_id");
    if !id.is_some_and(|id| (0..3).contains(&id)) {
        return Err("expected operand_id 0, 1 or 2, for A, B or C".to_owned());
    }
    verify_bounds(&source, &destination, (op.coords(), op.end()))
}

pub(in super::super) fn verify_block_warp_load(op: cute::BlockWarpLoad<'_>) -> Checked {
    let (source, destination) = (operand(0, op.source())?, operand(1, op.destination())?);
    verify_whole_copy(&source, &destination)?;
    if [source.space, destination.space] != [Space::Gmem, Space::Smem] {
        return Err(format!(
            "expected a tile in {} and one in {}, found {} and {}",
            Space::Gmem,
            Space::Smem,
            source.space,
            destination.space
        ));
    }
    let bits = types::element_bits(source.element).unwrap_or(0);
    if ![32, 64, 128].contains(&bits) {
        return Err(format!(
            "expected elements of 4, 8 or 16 bytes, which cp.async copies, found {}",
            source.element
        ));
    }
    let leaves = source.layout.stride().leaves();
    let same = leaves.into_iter().zip(destination.layout.stride().leaves());
    let mut of = source.layout.shape().leaves().into_iter().zip(same);
    let is_one = |leaf: &Leaf| *leaf == Leaf::Static(0);
    if of.any(|(extent, (from, to))| is_one(to) && !is_one(from) && *extent != Leaf::Static(1)) {
        return Err(format!(
            "expected a destination with a place for each element of {}, found {}",
            source.layout, destination.layout
        ));
    }
    verify_bounds(&source, &destination, (op.coords(), op.end()))
}

/// Checks the coordinates of a tile, and the first that is not there, where a copy has them.
fn verify_bounds(
    source: &MemRef,
    destination: &MemRef,
    bounds: (Option<Val>, Option<Val>),
) -> Checked {
    match bounds {
        (None, None) => Ok(()),
        (Some(coords), Some(end)) => verify_within(source, destination, coords, end),
        _ => Err("expected both coordinates and an end, or neither".to_owned()),
    }
}

/// Checks the coordinates of a tile, and the first that is not there.
pub(super) fn verify_within(
    source: &MemRef,
    destination: &MemRef,
    coords: Val,
    end: Val,
) -> Checked {
    let (Some(CuteType::CoordTensor { start, layout }), Some(CuteType::Coord(end))) =
        (CuteType::get(coords.r#type()), CuteType::get(end.r#type()))
    else {
        return Err("expected a coordinate tensor and a coordinate".to_owned());
    };
    if ![source.space, destination.space].contains(&Space::Gmem) {
        return Err(format!(
            "expected a tile in {} where one may reach over the end of a matrix, found {} and {}",
            Space::Gmem,
            source.space,
            destination.space
        ));
    }
    if layout.shape() != source.layout.shape() {
        return Err(format!(
            "expected coordinates of each element of {}, found {}",
            source.layout.shape(),
            layout.shape()
        ));
    }
    if end.rank() != start.rank() || end.modes().iter().any(|mode| mode.is_tuple()) {
        return Err(format!(
            "expected an end for each integer of the coordinates {start}, or _, found {end}"
        ));
    }
    Ok(())
}

/// The places of a copy's operands, which diagnostics name.
struct Places {
    source: usize,
    destination: usize,
    predicate: usize,
}

impl Places {
    const COPY: Self = Self {
        source: 1,
        destination: 2,
        predicate: 3,
    };
    const COPY_IF: Self = Self {
        source: 2,
        destination: 3,
        predicate: 1,
    };
}

/// A copy of a tile into another one of the same shape.
pub(super) fn verify_whole_copy(source: &MemRef, destination: &MemRef) -> Checked {
    same_element(source, destination)?;
    let extents = |m: &MemRef| {
        let sizes: cute_layout::Result<Vec<i64>> =
            m.layout.modes().iter().map(|m| m.size()).collect();
        sizes.map_err(|e| e.to_string())
    };
    if extents(source)? != extents(destination)? {
        return Err(format!(
            "expected the same shape on both sides, found {} and {}",
            source.layout.shape(),
            destination.layout.shape()
        ));
    }
    Ok(())
}

/// The tensor that a partition is of, where an op of this kind made it.
fn partitioned<'c>(value: Val<'c>) -> Option<MemRef<'c>> {
    memref_of(PartitionArgs::by_copy(defining_op(value)?)?.tensor)
}

/// The advice on what to do where a thread's values are not side by side.
fn vector_cure(copy: Val<'_>, side: Val<'_>, count: i64) -> String {
    let Some(copy @ CuteType::TiledCopy { .. }) = CuteType::of(copy.r#type()) else {
        return "use an atom of one element, or cute.autovec_copy, which takes as many as lie side by side".to_owned();
    };
    let found = partitioned(side).and_then(|tensor| {
        let threads = types::tiled_copy(&copy).ok()?.num_threads();
        let (thread, value) = algorithm::thread_value_layouts(&tensor.layout, threads, count)?;
        Some(format!(
            "the contiguous mode of {} is another one: use thread layout {thread} with value layout {}",
            tensor.layout,
            value.shape()
        ))
    });
    found.unwrap_or_else(|| {
        "use a value layout along the contiguous mode, or a narrower atom".to_owned()
    })
}

/// A copy by an atom or a tiled copy.
fn verify_atom_copy(args: ThreadCopy<'_>, places: Places) -> Checked {
    let ty = args.copy.r#type();
    let table = types::copy_row(ty).ok_or_else(|| {
        format!(
            "expected a tiled copy or a copy atom, found {ty}; make one by cute.make_atom and cute.make_tiled_copy"
        )
    })?;
    let source = operand(places.source, args.source)?;
    let destination = operand(places.destination, args.destination)?;
    same_element(&source, &destination)?;
    let bits = types::element_bits(source.element).unwrap_or(0);
    if bits != table.val_bits {
        return Err(format!(
            "expected tensors of elements of {} bits, as {} copies, found {}; make the atom for {}",
            table.val_bits, table.name, source.element, source.element
        ));
    }
    check_spaces(&table, &source, &destination)?;
    let tiled = matches!(CuteType::of(ty), Some(CuteType::TiledCopy { .. }));
    if table.is_auto_vectorizing() && !tiled && args.predicate.is_none() {
        return algorithm::vectors(&source, &destination, 128).map(|_| ());
    }
    let counts = [table.num_val_src(), table.num_val_dst()].map(|n| n.map_err(|e| e.to_string()));
    let [src_count, dst_count] = counts;
    let (src_count, dst_count) = (src_count?, dst_count?);
    let src = algorithm::atom_side("a source", &source.layout, src_count)?;
    let dst = algorithm::atom_side("a destination", &destination.layout, dst_count)?;
    same_atoms(&source, &src, &destination, &dst)?;
    let rows = table.is_by_rows();
    let order = |what, memref: &MemRef, side: &AtomSide, tensor, count| {
        (memref.space != Space::Rmem)
            .then(|| {
                let cure = || vector_cure(args.copy, tensor, count);
                algorithm::vector_order(what, memref, side, rows, cure)
            })
            .transpose()
    };
    let first = order("the source", &source, &src, args.source, src_count)?;
    let second = order(
        "the destination",
        &destination,
        &dst,
        args.destination,
        dst_count,
    )?;
    if let (Some(first), Some(second)) = (first, second)
        && first != second
    {
        return Err(format!(
            "expected one order of an atom's values on both sides, found {} in the source and {} in the destination: copied as \
             vectors, the values would change places; give both sides one order, or use an atom of one element",
            src.values, dst.values
        ));
    }
    match args.predicate {
        Some(pred) => {
            algorithm::predicate(&operand(places.predicate, pred)?, &src, &table).map(|_| ())
        }
        None => Ok(()),
    }
}

/// Names the argument that a tensor is of, for a copy whose vectors are wider than what is known of the tensor's places, where
/// the argument's type is what does not say enough.
pub(in super::super) fn argument_notes<'c>(op: Op<'c>) -> Vec<(Location<'c>, String)> {
    let operands = operands_of(op);
    let [copy, tensors @ ..] = &operands[..] else {
        return Vec::new();
    };
    let Some(table) = types::copy_row(copy.r#type()) else {
        return Vec::new();
    };
    let sides = tensors
        .iter()
        .filter(|v| memref_of(**v).is_some_and(|m| m.space != Space::Rmem));
    sides
        .filter_map(|tensor| {
            let (count, memref) = (table.num_val_src().ok()?, memref_of(*tensor)?);
            let side = algorithm::atom_side("a tensor", &memref.layout, count).ok()?;
            let (argument, given) = argument_of(*tensor)?;
            if argument == *tensor {
                return None;
            }
            let bytes = count * memref.element_bytes();
            // Where the copy's own tensor says enough, the argument does.
            if tensor::check_alignment("", &memref, bytes, bytes).is_ok()
                && tensor::check_steps("", &memref, bytes, &side.rest, 0).is_ok()
            {
                return None;
            }
            let length = bytes / given.element_bytes();
            let strides = given.layout.stride().leaves();
            let weak = strides
                .into_iter()
                .any(|leaf| matches!(leaf, Leaf::Dynamic(d) if d.div % length != 0));
            let mut wants = Vec::new();
            if given.align < bytes {
                wants.push(format!("align<{bytes}>"));
            }
            if weak {
                wants.push(format!("?{{div={length}}} as its stride"));
            }
            let location = location_of(argument);
            (!wants.is_empty()).then(|| {
                (
                    location,
                    format!(
                        "the tensor is a part of this argument of type {}: a {bytes}-byte copy needs {}, where that is true \
                         of every launch",
                        argument.r#type(),
                        wants.join(" and ")
                    ),
                )
            })
        })
        .collect()
}

/// The kernel's argument that a tensor is a view of.
fn argument_of<'c>(tensor: Val<'c>) -> Option<(Val<'c>, MemRef<'c>)> {
    let mut value = tensor;
    while let Some(op) = defining_op(value) {
        if !is_cute(op) {
            return None;
        }
        value = operands_of(op)
            .into_iter()
            .find(|v| memref_of(*v).is_some())?;
    }
    let (block, _) = block_argument(value)?;
    let owner = owner_of(block)?;
    matches!(name_of(owner), gpu::FUNC | func::FUNC)
        .then(|| memref_of(value).map(|memref| (value, memref)))?
}

/// Checks that there are as many atoms on both sides, mode by mode.
fn same_atoms(source: &MemRef, src: &AtomSide, destination: &MemRef, dst: &AtomSide) -> Checked {
    let trim = |extents: &[i64]| -> Vec<i64> {
        let skip = usize::from(extents.first() == Some(&1) && extents.len() > 1);
        extents[skip..].to_vec()
    };
    let (a, b) = (trim(&src.extents), trim(&dst.extents));
    let differ = if src.extents.len() == dst.extents.len() {
        (src.extents != dst.extents).then_some((&src.extents, &dst.extents))
    } else {
        (a != b).then_some((&src.extents, &dst.extents))
    };
    let Some((from, to)) = differ else {
        return Ok(());
    };
    let place = from
        .iter()
        .zip(to)
        .position(|(x, y)| x != y)
        .map(|i| format!(", which differ first in mode {i}"))
        .unwrap_or_default();
    Err(format!(
        "expected as many atoms on both sides, found {from:?} in the source {} and {to:?} in the destination {}{place}; \
         partition tensors of one shape by one copy",
        source.layout, destination.layout
    ))
}

pub(in super::super) fn verify_copy_if(op: Op<'_>) -> Checked {
    match CopyArgs::of(op) {
        Some(CopyArgs::Elements {
            predicate,
            source,
            destination,
        }) => {
            let (pred, source) = (operand(0, predicate)?, operand(1, source)?);
            let destination = operand(2, destination)?;
            same_element(&source, &destination)?;
            let size = algorithm::common_size(&source, &destination)?;
            check_element_predicate(&pred, size)
        }
        Some(CopyArgs::Thread(copy)) => verify_atom_copy(copy, Places::COPY_IF),
        _ => Err(format!(
            "expected (predicate, source, destination) or (atom, predicate, source, destination), found {} operands",
            op.operand_count()
        )),
    }
}

/// A predicate for each of `size` elements.
pub(super) fn check_element_predicate(pred: &MemRef, size: i64) -> Checked {
    algorithm::check_predicate(pred)?;
    let found = pred.layout.size().map_err(|e| e.to_string())?;
    if found != size {
        return Err(format!(
            "expected a predicate for each of {size} elements, found {found} in {}; give it the shape of the tensors",
            pred.layout
        ));
    }
    Ok(())
}

/// `autovec_copy` and `basic_copy`
pub(in super::super) fn verify_plain_copy(op: Op<'_>) -> Checked {
    let args = PlainCopyArgs::of(op).ok_or_else(|| {
        format!(
            "expected (source, destination), found {} operands; cute.copy takes an atom, cute.copy_if a predicate",
            op.operand_count()
        )
    })?;
    let source = operand(0, args.source)?;
    let destination = operand(1, args.destination)?;
    same_element(&source, &destination)?;
    let most = max_vec_bits(op, &source)?;
    algorithm::vectors(&source, &destination, most).map(|_| ())
}

/// The attribute `max_vec_bits`, 128 without it.
fn max_vec_bits(op: Op<'_>, memref: &MemRef) -> Result<i64, String> {
    let Some(most) = integer_of(op, "max_vec_bits") else {
        return Ok(128);
    };
    let element = types::element_bits(memref.element).unwrap_or(0);
    if most != element && (![8, 16, 32, 64, 128].contains(&most) || most < element) {
        return Err(format!(
            "expected max_vec_bits of 8, 16, 32, 64 or 128, and at least the element's {element} bits, found {most}"
        ));
    }
    Ok(most)
}

pub(in super::super) fn verify_prefetch(op: Op<'_>) -> Checked {
    let args = PrefetchArgs::of(op).ok_or_else(|| {
        format!(
            "expected (source) or (atom, source), found {} operands",
            op.operand_count()
        )
    })?;
    let source = match args.atom {
        None => operand(0, args.source)?,
        Some(atom) => {
            let ty = atom.r#type();
            let value = match CuteType::of(ty) {
                Some(CuteType::CopyAtom { value, .. }) => value,
                _ => return Err(format!("expected a copy atom, found {ty}")),
            };
            let source = operand(1, args.source)?;
            if types::element_bits(value) != types::element_bits(source.element) {
                return Err(format!(
                    "expected a tensor of {value}, as the atom copies, found {}",
                    source.element
                ));
            }
            source
        }
    };
    if source.space != Space::Gmem {
        return Err(format!(
            "expected a tensor in gmem to prefetch, found one in {}; what is there has no cache before it",
            source.space
        ));
    }
    algorithm::extents("a source", &source.layout)?;
    match string_of(op, "level") {
        None | Some("L1" | "L2") => Ok(()),
        Some(level) => Err(format!(
            "expected level = \"L1\" or \"L2\", found \"{level}\""
        )),
    }
}

/// A thread's index among `threads`.
pub(super) fn check_thread(op: Op<'_>, thread: Val<'_>, threads: i64) -> Checked {
    let ty = thread.r#type();
    let index = match CuteType::of(ty) {
        Some(CuteType::Coord(IntTuple::Leaf(leaf @ Leaf::Static(_)))) => leaf,
        Some(CuteType::Coord(IntTuple::Leaf(Leaf::Dynamic(index)))) if index.width == 32 => {
            Leaf::Dynamic(index)
        }
        None if types::element_bits(ty) == Some(32) && !types::is_float(ty) => {
            Leaf::Dynamic(Dyn::I32)
        }
        _ => {
            return Err(format!(
                "expected the index of a thread, i32 or !cute.coord<\"?\">, found {ty}"
            ));
        }
    };
    if let Leaf::Static(index) = index
        && !(0..threads).contains(&index)
    {
        return Err(format!(
            "expected a thread in [0, {threads}), found {index}"
        ));
    }
    let known = block_size(op).map(|size| size.into_iter().fold(1, i64::saturating_mul));
    match known {
        Some(known) if known < threads => Err(format!(
            "is done by {threads} threads, but the kernel's blocks have {known}; expected known_block_size of at least {threads} \
             threads, or fewer here"
        )),
        _ => Ok(()),
    }
}

pub(in super::super) fn verify_cooperative_copy(op: Op<'_>) -> Checked {
    let args = CooperativeCopyArgs::of(op).ok_or_else(|| {
        format!(
            "expected (thread, source, destination), found {} operands",
            op.operand_count()
        )
    })?;
    let threads = integer_of(op, "threads").unwrap_or(0);
    if !(1..=1024).contains(&threads) {
        return Err(format!(
            "expected threads of 1 to 1024, as a block has, found {threads}"
        ));
    }
    check_thread(op, args.thread, threads)?;
    let source = operand(1, args.source)?;
    let destination = operand(2, args.destination)?;
    same_element(&source, &destination)?;
    for (what, memref) in [("source", &source), ("destination", &destination)] {
        if memref.space == Space::Rmem {
            return Err(format!(
                "expected a {what} in gmem or smem, which all threads see, found one in rmem; copy a thread's registers by \
                 cute.autovec_copy or a tiled copy"
            ));
        }
    }
    let most = max_vec_bits(op, &source)?;
    let repeats = destination.layout.nullspace().and_then(|null| null.size());
    if let Ok(repeats @ 2..) = repeats {
        return Err(format!(
            "writes each place of the destination {} {repeats} times, from threads that nothing orders; copy into a slice \
             without modes of stride 0",
            destination.layout
        ));
    }
    algorithm::shared_vectors(&source, &destination, threads, most).map(|_| ())
}
