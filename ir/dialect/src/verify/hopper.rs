//! Barriers, TMA and products of warpgroups.

use super::{Checked, pipelines, tensor as operand};
use crate::{
    algorithm,
    hopper::{self, Convolution, check_barriers},
    mlir::*,
    ops::{cute_nvgpu, gpu},
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{
    IntTuple,
    atoms::{Completion, FragKind},
    tma::TmaBox,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::sync::Arc;

/// Arrivals of a phase and bytes of its copies are counted in 20 bits (PTX ISA, mbarrier).
const MOST_ARRIVALS: i64 = (1 << 20) - 1;

pub(super) fn verify_barrier(op: Op<'_>) -> Checked {
    let operands = operands_of(op);
    let barriers = *operands.first().ok_or("expected mbarriers")?;
    let indexed = operands.len() - usize::from(has_number(op)) > 1;
    check_mbarrier(0, barriers, indexed, Space::Smem)?;
    if !has_number(op)
        || name_of(op) == cute_nvgpu::MBARRIER_WAIT
        || name_of(op) == cute_nvgpu::MBARRIER_TRY_WAIT
        || name_of(op) == cute_nvgpu::MBARRIER_ARRIVE_AT
    {
        return Ok(());
    }
    let known = operands.last().and_then(|value| constant_of(*value));
    let least = i64::from(name_of(op) == cute_nvgpu::MBARRIER_INIT);
    match known {
        Some(number) if !(least..=MOST_ARRIVALS).contains(&number) => Err(format!(
            "expected {least} to {MOST_ARRIVALS}, as an mbarrier counts, found {number}"
        )),
        _ => Ok(()),
    }
}

/// Tells whether the last operand is a number that is no index.
fn has_number(op: Op<'_>) -> bool {
    !matches!(
        name_of(op),
        cute_nvgpu::MBARRIER_INVAL
            | cute_nvgpu::MBARRIER_ARRIVE
            | cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE
    )
}

fn constant_of(value: Val<'_>) -> Option<i64> {
    let op = defining_op(value).filter(|op| name_of(*op) == crate::ops::arith::CONSTANT)?;
    integer_of(op, "value")
}

/// Checks that an operand is mbarriers in a space, of which an index names one, or a pointer to one.
fn check_mbarrier(number: usize, barriers: Val<'_>, indexed: bool, space: Space) -> Checked {
    let ty = barriers.r#type();
    let pointer = match CuteType::of(ty) {
        Some(CuteType::Ptr(pointer)) => {
            check_barriers(&pointer, space)?;
            true
        }
        None => {
            let text = ty.to_string();
            if text != "!llvm.ptr<3>" {
                return Err(format!(
                    "expected mbarriers, or a pointer into shared memory, !cute.ptr<i64, smem> or !llvm.ptr<3>, found {text}"
                ));
            }
            true
        }
        Some(_) => false,
    };
    match pointer {
        true if indexed => Err(format!(
            "expected a pointer to one mbarrier without an index, found {ty} with one; move the pointer by cute.add_offset"
        )),
        true => Ok(()),
        false => check_indexed(&operand(number, barriers)?, indexed, space),
    }
}

fn check_indexed(barriers: &MemRef<'_>, indexed: bool, space: Space) -> Checked {
    check_barriers(barriers, space)?;
    let count = barriers.layout.size().map_err(|e| e.to_string())?;
    if count != 1 && !indexed {
        return Err(format!(
            "expected one mbarrier, or the index of one of the {count}: write %barriers[%i]"
        ));
    }
    Ok(())
}

/// The box of an atom of TMA.
fn tma_of<'c>(atom: Val<'c>) -> Result<(Type<'c>, Arc<TmaBox>), String> {
    match CuteType::get(atom.r#type()) {
        Some(CuteType::Tma { value, map, .. }) => Ok((*value, Arc::clone(map))),
        _ => Err(format!("expected an atom of TMA, found {}", atom.r#type())),
    }
}

pub(super) fn verify_make_tma(op: Op<'_>) -> Checked {
    if parent_of(op, gpu::FUNC).is_some() {
        return Err(
            "stands in a kernel; expected it in the function that launches, which passes the atom and the coordinates to the kernel"
                .to_owned(),
        );
    }
    let operands = operands_of(op);
    let [tensor, layout] = operands[..] else {
        return Err("expected a tensor and a layout".to_owned());
    };
    let tensor = operand(0, tensor)?;
    let layout = CuteType::of(layout.r#type()).ok_or("expected a layout in shared memory")?;
    check_map(op, &tensor)?;
    let (atom, coordinates) = match name_of(op) {
        cute_nvgpu::ATOM_MAKE_IM2COL_TMA_LOAD => {
            let convolution = Convolution::of(op)?;
            hopper::im2col_types(op.location(), &tensor, &layout, &convolution)?
        }
        name => {
            let stores = name == cute_nvgpu::ATOM_MAKE_TMA_STORE;
            if let Some(mode) = integer_of(op, "rest") {
                hopper::rest_of(&tensor, &layout, mode)?;
            }
            hopper::tma_types(op.location(), &tensor, &layout, stores)?
        }
    };
    let found = result_of(op, 0).r#type();
    if found != atom {
        return Err(format!("expected the atom {atom}, found {found}"));
    }
    let found = result_of(op, 1).r#type();
    if found != coordinates {
        return Err(format!(
            "expected the coordinates {coordinates}, found {found}"
        ));
    }
    Ok(())
}

/// Checks what a tensor map says of elements outside, and of misses of L2.
fn check_map(op: Op<'_>, tensor: &MemRef<'_>) -> Checked {
    if let Some(bytes) = integer_of(op, "l2_promotion")
        && ![0, 64, 128, 256].contains(&bytes)
    {
        return Err(format!(
            "expected an l2_promotion of 0, 64, 128 or 256 bytes, found {bytes}"
        ));
    }
    let is_float = is_float(tensor.element) && tensor.element_bytes() > 1;
    match string_of(op, "oob_fill") {
        None | Some("zero") => Ok(()),
        Some("nan") if is_float => Ok(()),
        Some("nan") => Err(format!(
            "expected floats of 16, 32 or 64 bits, whose elements outside of the tensor TMA makes NaN, found {}; leave oob_fill out: they arrive as zeros",
            tensor.element
        )),
        Some(other) => Err(format!(
            "expected oob_fill \"zero\" or \"nan\", found \"{other}\""
        )),
    }
}

/// The policies of L2 (PTX ISA, createpolicy).
const POLICIES: [&str; 4] = [
    "evict_first",
    "evict_last",
    "evict_normal",
    "evict_unchanged",
];

fn check_policy(op: Op<'_>) -> Checked {
    match string_of(op, "policy") {
        Some(policy) if !POLICIES.contains(&policy) => Err(format!(
            "expected a policy of L2, {}, found \"{policy}\"",
            POLICIES.join(", ")
        )),
        _ => Ok(()),
    }
}

/// Coordinates of a TMA copy, in either form: the tile's, or one number for each dimension; of one into or out of shared memory with the tensor there.
fn check_coordinates(atom: Val<'_>, coords: &[Val<'_>], smem: Option<&MemRef<'_>>) -> Checked {
    let (value, map) = tma_of(atom)?;
    if let [tile] = coords
        && let Some(CuteType::CoordTensor { start, layout }) = CuteType::of(tile.r#type())
    {
        let rank = if let IntTuple::Tuple(modes) = &start {
            modes.len()
        } else {
            1
        };
        let expected = hopper::coordinates_of_tile(&map);
        if rank != expected {
            return Err(match map.im2col {
                Some(_) => format!(
                    "expected {expected} coordinates, as cute_nvgpu.atom.make_im2col_tma_load gives them together with the atom, found {start}"
                ),
                None => format!(
                    "expected coordinates of {expected} dimensions, as the atom's map has, found {start}"
                ),
            });
        }
        return match smem {
            Some(smem) => hopper::tma_boxes((value, &map), &layout, smem).map(|_| ()),
            None => map.boxes_of(&layout).map(|_| ()).map_err(|e| e.to_string()),
        };
    }
    let numbers = hopper::numbers_of_instruction(&map);
    if coords.len() != numbers
        || coords
            .iter()
            .any(|value| int_width(value.r#type()) != Some(32))
    {
        let offsets = match &map.im2col {
            Some(pixels) => format!(
                ", {} of a pixel and {} offsets of the filter",
                pixels.lower.len() + 2,
                pixels.lower.len()
            ),
            None => String::new(),
        };
        return Err(format!(
            "expected the coordinates of a tile, or {numbers} of i32, the contiguous dimension's first{offsets}, found {}",
            coords.len()
        ));
    }
    smem.map_or(Ok(()), |smem| hopper::check_tma_memory((value, &map), smem))
}

pub(super) fn verify_tma_load(op: cute_nvgpu::TmaLoad<'_>) -> Checked {
    check_policy(op.op())?;
    let coordinates: Vec<Type> = op.coords().iter().map(ValueLike::r#type).collect();
    let are_coordinates = coordinates.iter().all(|ty| {
        matches!(types::int_width(*ty), Some(32 | 64))
            || matches!(CuteType::of(*ty), Some(CuteType::CoordTensor { .. }))
    });
    if !are_coordinates || types::memref_of(op.destination()).is_none() {
        let types: Vec<String> = coordinates.iter().map(ToString::to_string).collect();
        return Err(format!(
            "expected a TMA atom, the tile of the coordinates that were made with it, or integers, and a tensor in smem, as in (%atom, [%tile], \
             %place), found [{}] and {}",
            types.join(", "),
            op.destination().r#type()
        ));
    }
    let smem = operand(2, op.destination())?;
    check_coordinates(op.atom(), &op.coords(), Some(&smem))?;
    if op.rest().is_some() && op.barriers().is_some() {
        return Err(
            "expected no rest(%rows, %missing) beside an mbarrier; say on the mbarrier how many bytes the atom brings".to_owned(),
        );
    }
    if op.rest().is_some() != op.missing().is_some() {
        return Err(
            "expected both rows of a rest and how many are missing, rest(%rows, %missing)"
                .to_owned(),
        );
    }
    match (op.barriers(), op.index()) {
        (Some(on), index) => check_completed_on(3, on, index, Space::Smem),
        (None, None) => Ok(()),
        (None, Some(_)) => Err("expected an mbarrier before its index".to_owned()),
    }
}

fn is_tensor(value: Val<'_>) -> bool {
    matches!(CuteType::get(value.r#type()), Some(CuteType::MemRef(_)))
}

/// Checks that what is to say when a copy is complete is an mbarrier in a space, or a place of a pipeline that has some.
fn check_completed_on(number: usize, on: Val<'_>, index: Option<Val<'_>>, space: Space) -> Checked {
    match (pipelines::completion_of(on), index) {
        (Some(Completion::Mbarrier), Some(_)) if space == Space::Smem => Ok(()),
        (Some(Completion::Mbarrier), None) => Err(
            "expected a place of the pipeline, `on %p[%place]`, which cute_nvgpu.pipeline.producer_acquire gives".to_owned(),
        ),
        (Some(_), _) => Err(format!(
            "expected mbarriers of {space}, or a pipeline with mbarriers of this block, !cute.pipeline<N, mbarrier>, found {}",
            on.r#type()
        )),
        // Of a pointer the index is the 0 that its syntax asks for.
        (None, Some(index)) if constant_of(index) == Some(0) && !is_tensor(on) => {
            check_mbarrier(number, on, false, space)
        }
        (None, index) => check_mbarrier(number, on, index.is_some(), space),
    }
}

pub(super) fn verify_tma_store(op: cute_nvgpu::TmaStore<'_>) -> Checked {
    check_policy(op.op())?;
    let smem = operand(1, op.source())?;
    if let Some(reduce) = string_of(op.op(), "reduce") {
        hopper::check_reduction(reduce, smem.element)?;
    }
    check_coordinates(op.atom(), &op.coords(), Some(&smem))
}

pub(super) fn verify_tma_prefetch(op: cute_nvgpu::TmaPrefetch<'_>) -> Checked {
    check_policy(op.op())?;
    check_coordinates(op.atom(), &op.coords(), None)
}

pub(super) fn verify_bulk_prefetch(op: cute_nvgpu::BulkPrefetch<'_>) -> Checked {
    check_policy(op.op())?;
    let source = operand(0, op.source())?;
    hopper::bulk_bytes([(&source, Space::Gmem); 2]).map(|_| ())
}

pub(super) fn verify_bulk_load(op: cute_nvgpu::BulkLoad<'_>) -> Checked {
    check_policy(op.op())?;
    let (from, to) = (operand(0, op.source())?, operand(1, op.destination())?);
    let (source, destination) = hopper::bulk_spaces(&from);
    hopper::bulk_bytes([(&from, source), (&to, destination)])?;
    if destination == Space::Dsmem && string_of(op.op(), "policy").is_some() {
        return Err(
            "expected no policy of L2, which a copy between blocks does not pass".to_owned(),
        );
    }
    check_completed_on(2, op.barriers(), Some(op.index()), destination)
}

pub(super) fn verify_map_dsmem(op: cute_nvgpu::ArchMapDsmem<'_>) -> Checked {
    let location = op.op().location();
    let (from, found) = (op.tensor().r#type(), op.result().r#type());
    let expected = match CuteType::of(from) {
        Some(CuteType::MemRef(from)) => hopper::mapped(&from)?.to_type(location),
        Some(CuteType::Ptr(from)) => hopper::mapped(&from)?.to_ptr_type(location),
        _ => return Err(format!("expected a tensor or a pointer, found {from}")),
    };
    match expected {
        Ok(expected) if expected == found => Ok(()),
        Ok(expected) => Err(format!(
            "expected the same in {}, {expected}, found {found}",
            Space::Dsmem
        )),
        Err(_) => Err(format!(
            "expected a type that {} has, found {from}",
            Space::Dsmem
        )),
    }
}

pub(super) fn verify_st_async(op: cute_nvgpu::StAsync<'_>) -> Checked {
    let to = operand(1, op.destination())?;
    hopper::stored_bytes(op.value().r#type(), &to)?;
    check_indexed(&operand(2, op.barriers())?, true, Space::Dsmem)
}

pub(super) fn verify_bulk_store(op: cute_nvgpu::BulkStore<'_>) -> Checked {
    check_policy(op.op())?;
    let (from, to) = (operand(0, op.source())?, operand(1, op.destination())?);
    hopper::bulk_bytes([(&from, Space::Smem), (&to, Space::Gmem)]).map(|_| ())
}

/// The state of an atom that loads by TMA: the mbarrier on which its bytes count.
pub(super) fn verify_set_barrier(op: cute_nvgpu::AtomSetValue<'_>, stores: bool) -> Checked {
    let field = op.field().map(|field| field.to_string());
    if stores || field.as_deref() != Some("#cute_nvgpu.atom_copy_field_tmaload<tma_bar>") {
        let what = if stores {
            "no state of an atom that stores"
        } else {
            "field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>, the mbarrier of a load"
        };
        return Err(format!(
            "expected {what}, found {}; a policy of L2 is one of the copy: cute_nvgpu.tma_load with policy \"evict_first\", or its like",
            field.as_deref().unwrap_or("none")
        ));
    }
    check_mbarrier(1, op.value(), false, Space::Smem)
}

pub(super) fn verify_make_descriptor(op: cute_nvgpu::MakeGmmaSmemDesc<'_>) -> Checked {
    hopper::made_descriptor(op).map(|_| ())
}

pub(super) fn verify_dynamic_shared(op: cute_nvgpu::ArchGetDynSmem<'_>) -> Checked {
    let found = op.pointer().r#type();
    match CuteType::of(found) {
        Some(CuteType::Ptr(pointer))
            if pointer.space == Space::Smem
                && pointer.element_bytes() == 1
                && pointer.swizzle.is_none() =>
        {
            Ok(())
        }
        _ => Err(format!(
            "expected a pointer to bytes of shared memory without a swizzle, !cute.ptr<i8, smem, align<1024>>, found {found}; cute.recast_iter makes one to other elements of it"
        )),
    }
}

pub(super) fn verify_accumulators(op: Op<'_>) -> Checked {
    let operands = operands_of(op);
    if operands.is_empty() {
        return Err("expected the accumulators of the products, found none".to_owned());
    }
    let mut vectors = Vec::new();
    for value in operands {
        let ty = value.r#type();
        match CuteType::of(ty) {
            Some(CuteType::MemRef(memref)) if memref.space == Space::Rmem => {}
            None if vector_of(ty).is_some() => vectors.push(ty),
            _ => return Err(format!("expected accumulators in rmem, found {ty}")),
        }
    }
    let kept = integer_of(op, "kept").unwrap_or(0);
    let given = usize::try_from(kept)
        .ok()
        .and_then(|kept| vectors.len().checked_sub(kept));
    let Some(given) = given else {
        return Err(format!(
            "expected `kept` values of A behind the accumulators, {kept}, found {} values",
            vectors.len()
        ));
    };
    vectors.truncate(given);
    let results: Vec<_> = results_of(op)
        .into_iter()
        .map(|value| value.r#type())
        .collect();
    if results != vectors {
        return Err(
            "expected a result for each value of accumulators, and none for fragments".to_owned(),
        );
    }
    match integer_of(op, "pending") {
        Some(pending) => hopper::check_pending(pending),
        None => Ok(()),
    }
}

pub(super) fn verify_atom_wgmma(op: cute_nvgpu::AtomWgmma<'_>) -> Checked {
    let ty = op.mma().r#type();
    let atom = types::mma_row(ty).ok_or_else(|| format!("expected a tiled MMA, found {ty}"))?;
    if !hopper::is_asynchronous(&atom) {
        return Err(format!(
            "expected an atom of a warpgroup, !cute_nvgpu.sm90.mma, found {}",
            atom.name
        ));
    }
    let values = vector_of(op.a().r#type());
    let of_a = match values {
        Some(_) => None,
        None => Some(hopper::atoms_of(&atom, 0, &operand(1, op.a())?)?),
    };
    let of_b = hopper::atoms_of(&atom, 1, &operand(2, op.b())?)?;
    if let Some((length, element)) = values {
        let product = algorithm::product_of(ty).ok_or("expected a tiled MMA")??;
        let words = product.values[0] * atom.a.bits() / 32;
        let [_, steps] = of_b;
        let are_words = types::element_bits(element) == Some(32) && !is_float(element);
        if atom.frag_kind() != FragKind::Rs || length != words * steps || !are_words {
            return Err(format!(
                "expected A in smem, or, for an atom with frag_kind = rs, {words} words of i32 for each of {steps} steps of K, found {}",
                op.a().r#type()
            ));
        }
    }
    // Of values in registers the one atom is given that `at` names.
    let rows = of_a.map_or(i64::MAX, |[rows, _]| rows);
    let at = crate::args::at_of(op.op());
    let within = at.len() == 2
        && at
            .iter()
            .zip([rows, of_b[0]])
            .all(|(at, count)| (0..count).contains(at));
    if !within {
        return Err(format!(
            "expected the indices of an atom along M and N, found {at:?}"
        ));
    }
    if op.c().r#type() != op.d().r#type() {
        return Err(format!(
            "expected a result of {}, found {}",
            op.c().r#type(),
            op.d().r#type()
        ));
    }
    Ok(())
}
