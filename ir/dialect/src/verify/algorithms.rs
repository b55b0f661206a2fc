//! Tensors and what is done with whole ones.

use super::{Checked, check_spaces, copy_op, operands, result_type, tensors};
use crate::{
    tensor,
    types::{self, CuteType, MemRef, Space},
};
use melior::ir::{OperationRef, ValueLike, attribute::TypeAttribute, operation::OperationLike};
use mlir_sys::*;

pub(super) fn verify_alloca(op: OperationRef) -> Checked {
    let Some(CuteType::MemRef(memref)) = CuteType::of(result_type(op)) else {
        return Err("expected a tensor".to_owned());
    };
    if memref.space == Space::Gmem {
        return Err("allocates in gmem; expected smem or rmem: pass it as an argument".to_owned());
    }
    memref.check_allocation()?;
    if let Some(given) = operands(op).first()
        && let Some(CuteType::Layout(layout)) = CuteType::of(given.r#type())
        && layout != memref.layout
    {
        return Err(format!(
            "expected a tensor of the layout {layout} that is given, found {}",
            memref.layout
        ));
    }
    if let Ok(offset) = op.attribute("offset") {
        let offset =
            unsafe { mlirIntegerAttrGetValueInt(melior::ir::AttributeLike::to_raw(&offset)) };
        if offset < 0 || offset % memref.align != 0 {
            return Err(format!(
                "expected an offset that is a multiple of the alignment {}, found {offset}",
                memref.align
            ));
        }
    }
    Ok(())
}

pub(super) fn verify_copy(op: OperationRef) -> Checked {
    let count = op.operand_count();
    let partitioned = match count {
        2 => false,
        3 => true,
        _ => {
            return Err(format!(
                "expected (source, destination) or (tiled copy, source, destination), found {count} operands"
            ));
        }
    };
    let both = tensors(op, count - 2, count)?;
    let (source, destination) = (&both[0], &both[1]);
    if !types::same_bits(source.element, destination.element) {
        return Err(format!(
            "expected the same element type on both sides, found {} and {}; use cute.convert",
            source.element, destination.element
        ));
    }
    if !partitioned {
        return same_extents(source, destination);
    }
    let ty = operands(op)[0].r#type();
    let atom = copy_op(ty).ok_or_else(|| format!("expected a tiled copy, found {ty}"))?;
    let (from, to) = (
        tensor::atom_extents(&source.layout)?,
        tensor::atom_extents(&destination.layout)?,
    );
    if from != to {
        return Err(format!(
            "expected as many atoms on both sides, found {from:?} in the source {} and {to:?} in \
             the destination {}",
            source.layout, destination.layout
        ));
    }
    check_spaces(atom, source, destination)?;
    if source.space != Space::Rmem {
        tensor::check_contiguous("the source", source, atom)?;
    }
    if destination.space != Space::Rmem {
        tensor::check_contiguous("the destination", destination, atom)?;
    }
    Ok(())
}

fn same_extents(source: &MemRef, destination: &MemRef) -> Checked {
    let extents = |m: &MemRef| {
        m.layout
            .modes()
            .iter()
            .map(|mode| mode.size())
            .collect::<Result<Vec<_>, _>>()
    };
    let from = extents(source).map_err(|e| e.to_string())?;
    let to = extents(destination).map_err(|e| e.to_string())?;
    if from != to {
        return Err(format!(
            "expected the same shape on both sides, found {} and {}",
            source.layout.shape(),
            destination.layout.shape()
        ));
    }
    Ok(())
}

fn extent(memref: &MemRef, mode: usize) -> Result<i64, String> {
    memref
        .layout
        .mode(mode)
        .and_then(|m| m.size())
        .map_err(|e| e.to_string())
}

pub(super) fn verify_gemm(op: OperationRef) -> Checked {
    match op.operand_count() {
        3 => verify_whole_gemm(op, &tensors(op, 0, 3)?),
        5 => verify_fragment_gemm(op, &tensors(op, 1, 5)?),
        count => Err(format!(
            "expected (A, B, C), or (tiled mma, D, A, B, C), found {count} operands"
        )),
    }
}

pub(super) fn verify_whole_gemm(op: OperationRef, t: &[MemRef]) -> Checked {
    let (a, b, c) = (&t[0], &t[1], &t[2]);
    for (what, memref) in [("A (M,K)", a), ("B (N,K)", b), ("C (M,N)", c)] {
        if memref.layout.rank() != 2 {
            return Err(format!(
                "expected {what} of rank 2, found {}",
                memref.layout
            ));
        }
    }
    for (what, (x, i), (y, j)) in [
        ("K of A and B", (a, 1), (b, 1)),
        ("M of A and C", (a, 0), (c, 0)),
        ("N of B and C", (b, 0), (c, 1)),
    ] {
        if !x.layout.is_static() || !y.layout.is_static() {
            continue;
        }
        let (left, right) = (extent(x, i)?, extent(y, j)?);
        if left != right {
            return Err(format!(
                "expected the same {what}, found {left} and {right}: A (M,K) is {}, B (N,K) is {}, \
                 C (M,N) is {}",
                a.layout.shape(),
                b.layout.shape(),
                c.layout.shape()
            ));
        }
    }
    if a.element != b.element {
        return Err(format!(
            "expected A and B of one element type, found {} and {}",
            a.element, b.element
        ));
    }
    if let Ok(attribute) = op.attribute("accumulate") {
        let accumulate = TypeAttribute::try_from(attribute)
            .map_err(|e| e.to_string())?
            .value();
        if types::element_bits(accumulate).is_none() {
            return Err(format!(
                "expected a number type to accumulate in, found {accumulate}"
            ));
        }
    }
    Ok(())
}

pub(super) fn verify_fragment_gemm(op: OperationRef, t: &[MemRef]) -> Checked {
    let (d, a, b, c) = (&t[0], &t[1], &t[2], &t[3]);
    let ty = operands(op)[0].r#type();
    let Some(CuteType::TiledMma { atom, .. }) = CuteType::of(ty) else {
        return Err(format!("expected a tiled MMA, found {ty}"));
    };
    let Some(CuteType::MmaAtom {
        a: ea, b: eb, acc, ..
    }) = CuteType::of(atom)
    else {
        return Err("expected a tiled MMA over an MMA atom".to_owned());
    };
    for (what, memref, element) in [("D", d, acc), ("A", a, ea), ("B", b, eb), ("C", c, acc)] {
        if memref.space != Space::Rmem {
            return Err(format!("expected {what} in rmem, found {}", memref.space));
        }
        if memref.element != element {
            return Err(format!(
                "expected {what} of {element}, found {}",
                memref.element
            ));
        }
        if memref.layout.rank() != 3 {
            return Err(format!(
                "expected {what} of rank 3, (V,M,K), (V,N,K) or (V,M,N), found {}",
                memref.layout
            ));
        }
    }
    for (what, left, right) in [
        ("M of A and C", extent(a, 1)?, extent(c, 1)?),
        ("N of B and C", extent(b, 1)?, extent(c, 2)?),
        ("K of A and B", extent(a, 2)?, extent(b, 2)?),
    ] {
        if left != right {
            return Err(format!(
                "expected the same {what}, found {left} and {right}"
            ));
        }
    }
    if d.layout != c.layout {
        return Err(format!(
            "expected D and C of one layout, found {} and {}",
            d.layout, c.layout
        ));
    }
    Ok(())
}

pub(super) fn verify_convert(op: OperationRef) -> Checked {
    let source = tensors(op, 0, 1)?.remove(0);
    let Some(CuteType::MemRef(result)) = CuteType::of(result_type(op)) else {
        return Err("expected a tensor".to_owned());
    };
    if source.space != Space::Rmem || result.space != Space::Rmem {
        return Err("expected tensors in rmem".to_owned());
    }
    let (from, to) = (source.element, result.element);
    if !types::is_float(from)
        || !types::is_float(to)
        || types::element_bits(from) == types::element_bits(to)
    {
        return Err(format!(
            "expected floating-point types of different widths, found {from} and {to}"
        ));
    }
    if source.layout != result.layout {
        return Err(format!(
            "expected the same layout, found {} and {}",
            source.layout, result.layout
        ));
    }
    Ok(())
}
