//! Integers and pointers with what is known of them.

use super::Checked;
use crate::mlir::*;
use crate::ops::{cute, gpu};
use crate::{
    algebra,
    plan::MOST_BLOCKS,
    types::{CuteType, MemRef, Space, int_width},
};
use cute_layout::{Leaf, ops::Value};
use melior::ir::{Type, ValueLike};

/// The width and the known divisor of an integer type.
fn integer(ty: Type) -> Option<(u32, i64)> {
    if let Some(CuteType::Divisible { width, divisor }) = CuteType::of(ty) {
        return Some((width as u32, divisor));
    }
    int_width(ty).map(|width| (width, 1))
}

pub(super) fn verify_assume(op: cute::Assume<'_>) -> Checked {
    let (from, to) = (op.value().r#type(), op.result().r#type());
    match (integer(from), integer(to)) {
        (Some((a, _)), Some((b, _))) if a == b => Ok(()),
        _ => Err(format!(
            "expected integers of one width, found {from} and {to}"
        )),
    }
}

/// Tells whether an op is in a kernel, or beside one in its module.
pub(super) fn is_on_device(op: Op<'_>) -> bool {
    let mut above = parent_op(op);
    while let Some(parent) = above {
        if matches!(name_of(parent), gpu::MODULE | gpu::FUNC) {
            return true;
        }
        above = parent_op(parent);
    }
    false
}

pub(super) fn verify_sm_count(op: cute::SmCount<'_>) -> Checked {
    if is_on_device(op.op()) {
        return Err(
            "is for the host function that launches; expected it outside of kernels, where gpu.grid_dim says how many blocks \
             there are, or its value passed on as an argument"
                .to_owned(),
        );
    }
    Ok(())
}

pub(super) fn verify_launch(op: cute::Launch<'_>) -> Checked {
    if is_on_device(op.op()) {
        return Err(
            "is for the host function that launches; expected it outside of kernels".to_owned(),
        );
    }
    let Some(CuteType::Shape(grid)) = CuteType::of(op.grid().r#type()) else {
        return Ok(());
    };
    let modes = grid.leaves().len();
    if !(1..=3).contains(&modes) {
        return Err(format!(
            "expected a grid of one to three modes, found {grid}"
        ));
    }
    if let Some(clusters) = attribute_of(op.op(), "clusters").and_then(i64s_of) {
        let blocks = clusters.iter().try_fold(1i64, |all, n| all.checked_mul(*n));
        let is_cluster = clusters.len() == 3
            && clusters.iter().all(|n| *n >= 1)
            && blocks.is_some_and(|blocks| blocks <= MOST_BLOCKS);
        if !is_cluster {
            return Err(format!(
                "expected three numbers of blocks of a cluster, along x, y and z, of at least 1 and at most {MOST_BLOCKS} in all, found {clusters:?}"
            ));
        }
    }
    Ok(())
}

pub(super) fn verify_compute_values(op: cute::ComputeValues<'_>) -> Checked {
    check_on_host(op.op())?;
    check_index(op.op(), "compute", "a compute")
}

pub(super) fn verify_compute_here(op: cute::ComputeHere<'_>) -> Checked {
    check_on_host(op.op())?;
    check_index(op.op(), "compute", "a compute")
}

pub(super) fn verify_compute_view(op: cute::ComputeView<'_>) -> Checked {
    check_on_host(op.op())?;
    check_index(op.op(), "index", "a tensor")?;
    let ty = attribute_of(op.op(), "tensor").and_then(type_value);
    let Some(CuteType::MemRef(memref)) = ty.and_then(CuteType::of) else {
        let found = ty.map_or_else(String::new, |ty| ty.to_string());
        return Err(format!("expected the type of a tensor, found {found}"));
    };
    if memref.space != Space::Gmem {
        return Err(format!(
            "expected a tensor in gmem, as launches have, found one in {}",
            memref.space.name()
        ));
    }
    let parts = [memref.layout.shape(), memref.layout.stride()];
    let leaves = parts.into_iter().flat_map(|part| part.leaves());
    let open = leaves.filter(|leaf| !leaf.is_static()).count();
    match op.leaves().len() {
        given if given == open => Ok(()),
        given => Err(format!(
            "expected an integer for each of the {open} leaves that {} leaves open, found {given}",
            memref.layout.text_of_tensor()
        )),
    }
}

fn check_on_host(op: Op<'_>) -> Checked {
    match is_on_device(op) {
        true => Err(
            "is for the host function whose cute.computes it belongs to; expected it outside of kernels".to_owned(),
        ),
        false => Ok(()),
    }
}

/// Checks that an attribute is an index, of what is said.
fn check_index(op: Op<'_>, attribute: &str, of: &str) -> Checked {
    match integer_of(op, attribute) {
        Some(0..) => Ok(()),
        found => Err(format!(
            "expected the index of {of}, found {}",
            found.unwrap_or_default()
        )),
    }
}

/// Tells whether `weak` says nothing of a leaf that `strong` does not.
fn weaker_leaf(strong: &Leaf, weak: &Leaf) -> bool {
    match (strong, weak) {
        (Leaf::Static(value), Leaf::Dynamic(d)) => {
            d.admits(*value) && (d.width == 64 || i32::try_from(*value).is_ok())
        }
        (Leaf::Dynamic(a), Leaf::Dynamic(b)) => a.width == b.width && a.is_within(b),
        (a, b) => a == b,
    }
}

/// Tells whether `weak` is `strong` with some of what it says left out.
pub(crate) fn is_weaker(strong: &Value, weak: &Value) -> bool {
    let (a, b) = (strong.leaves(), weak.leaves());
    strong.kind() == weak.kind()
        && a.len() == b.len()
        && profile(strong) == profile(weak)
        && a.into_iter().zip(b).all(|(a, b)| weaker_leaf(a, b))
}

/// The text of a value with each number left out.
fn profile(value: &Value) -> String {
    let mut inside = false;
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            _ if inside => {}
            '0'..='9' | '?' | '-' => {}
            c => text.push(c),
        }
    }
    text
}

fn weaker_memref(from: &MemRef, to: &MemRef) -> bool {
    from.element == to.element
        && (from.space == to.space || to.space == Space::Generic)
        && from.swizzle == to.swizzle
        && from.inner == to.inner
        && from.align % to.align == 0
        && is_weaker(
            &Value::Layout(from.layout.clone()),
            &Value::Layout(to.layout.clone()),
        )
}

pub(super) fn verify_derefine(op: cute::Derefine<'_>) -> Checked {
    let (from, to) = (op.value().r#type(), op.result().r#type());
    let holds = match (CuteType::of(from), CuteType::of(to)) {
        (Some(CuteType::Ptr(a)), Some(CuteType::Ptr(b)))
        | (Some(CuteType::MemRef(a)), Some(CuteType::MemRef(b))) => weaker_memref(&a, &b),
        (
            Some(CuteType::CoordTensor { start, layout }),
            Some(CuteType::CoordTensor {
                start: s,
                layout: l,
            }),
        ) => {
            is_weaker(&Value::IntTuple(start), &Value::IntTuple(s))
                && is_weaker(&Value::Layout(layout), &Value::Layout(l))
        }
        (Some(CuteType::ArithTupleIter(a)), Some(CuteType::ArithTupleIter(b))) => {
            is_weaker(&Value::IntTuple(a), &Value::IntTuple(b))
        }
        _ => match (algebra::value_of(from), algebra::value_of(to)) {
            (Some(a), Some(b)) => is_weaker(&a, &b),
            _ => false,
        },
    };
    if holds {
        return Ok(());
    }
    Err(format!(
        "expected a type that says less than {from}, with ? for some of its numbers, smaller divisors and alignments, found {to}"
    ))
}

/// The width of addresses in a space.
/// The bits of an address in a memory space.
pub(crate) fn address_width(space: Space) -> Result<u32, String> {
    match space {
        Space::Smem => Ok(32),
        Space::Gmem | Space::Generic => Ok(64),
        Space::Dsmem | Space::Rmem | Space::Tmem | Space::Descriptors => {
            Err(format!("expected memory with addresses, found {space}"))
        }
    }
}

pub(super) fn verify_ptrtoint(op: cute::Ptrtoint<'_>) -> Checked {
    let Some(CuteType::Ptr(pointer)) = CuteType::of(op.pointer().r#type()) else {
        return Err("expected a pointer".to_owned());
    };
    let width = address_width(pointer.space)?;
    let address = op.address().r#type();
    match int_width(address) {
        Some(found) if found == width => Ok(()),
        _ => Err(format!(
            "expected a result of type i{width}, as addresses in {} are wide, found {address}",
            pointer.space
        )),
    }
}

pub(super) fn verify_inttoptr(op: cute::Inttoptr<'_>) -> Checked {
    let Some(CuteType::Ptr(pointer)) = CuteType::of(op.pointer().r#type()) else {
        return Err("expected a pointer".to_owned());
    };
    address_width(pointer.space)?;
    let address = op.address().r#type();
    let Some((_, divisor)) = integer(address) else {
        return Err("expected an integer".to_owned());
    };
    if divisor % pointer.align != 0 {
        return Err(format!(
            "expected an integer that {} is known to divide, as the pointer is aligned, found {address}; use cute.assume",
            pointer.align
        ));
    }
    Ok(())
}
