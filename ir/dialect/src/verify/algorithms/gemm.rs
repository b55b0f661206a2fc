//! Products.

use super::super::{Checked, tensors};
use super::copy::check_thread;
use crate::mlir::*;
use crate::{
    algorithm::{self, Product},
    tensor,
    types::{self, CuteType, MemRef, Space},
};
use melior::ir::{Type, ValueLike, attribute::TypeAttribute, operation::OperationLike};

fn extent(memref: &MemRef, mode: usize) -> Result<i64, String> {
    memref
        .layout
        .mode(mode)
        .and_then(|m| m.size())
        .map_err(|e| e.to_string())
}

fn is_tensor(op: Op<'_>, index: usize) -> bool {
    matches!(
        CuteType::of(operands_of(op)[index].r#type()),
        Some(CuteType::MemRef(_))
    )
}

pub(in super::super) fn verify_gemm(op: Op<'_>) -> Checked {
    match op.operand_count() {
        3 => verify_whole_gemm(op, &tensors(op, 0, 3)?),
        4 if is_tensor(op, 0) => {
            let all = tensors(op, 0, 4)?;
            let [d, a, b, c] = [&all[0], &all[1], &all[2], &all[3]];
            let product = Product {
                a: a.element,
                b: b.element,
                acc: c.element,
                values: [1; 3],
            };
            check_product(&product, [d, a, b, c])
        }
        4 => {
            let all = tensors(op, 1, 4)?;
            let [a, b, c] = [&all[0], &all[1], &all[2]];
            check_product(&multiplier(op, 0)?, [c, a, b, c])
        }
        5 => {
            let all = tensors(op, 1, 5)?;
            let [d, a, b, c] = [&all[0], &all[1], &all[2], &all[3]];
            check_product(&multiplier(op, 0)?, [d, a, b, c])
        }
        count => Err(format!(
            "expected (A, B, C), (mma, D, A, B, C), (mma, A, B, C) or (D, A, B, C), found {count} operands"
        )),
    }
}

/// The MMA at an operand.
fn multiplier<'c>(op: Op<'c>, index: usize) -> Result<Product<'c>, String> {
    let ty = operands_of(op)[index].r#type();
    algorithm::product_of(ty).unwrap_or_else(|| {
        Err(format!(
            "expected an MMA atom or a tiled MMA, found {ty}; make one by cute.make_atom and cute.make_tiled_mma"
        ))
    })
}

fn is_kept(found: Type, expected: Type) -> bool {
    found == expected || found == types::register_type(expected)
}

/// A product of one thread.
fn check_product(product: &Product, [d, a, b, c]: [&MemRef; 4]) -> Checked {
    for (what, memref, element) in [
        ("D", d, product.acc),
        ("A", a, product.a),
        ("B", b, product.b),
        ("C", c, product.acc),
    ] {
        if !is_kept(memref.element, element) {
            return Err(format!(
                "expected {what} of {element}, found {}",
                memref.element
            ));
        }
    }
    for (what, memref) in [("D", d), ("C", c)] {
        if memref.space != Space::Rmem {
            return Err(format!(
                "expected {what} in rmem, found {}; accumulate in a fragment and copy it",
                memref.space
            ));
        }
    }
    for (what, memref) in [("A", a), ("B", b)] {
        if memref.space == Space::Gmem {
            return Err(format!(
                "expected {what} in rmem or smem, found gmem; copy it into a fragment"
            ));
        }
    }
    algorithm::product_extents([&a.layout, &b.layout, &c.layout], product.values)?;
    let (ld, lc) = (
        algorithm::extents("D", &d.layout)?,
        algorithm::extents("C", &c.layout)?,
    );
    if ld != lc {
        return Err(format!(
            "expected D and C of one shape, found {} and {}",
            d.layout.shape(),
            c.layout.shape()
        ));
    }
    Ok(())
}

fn verify_whole_gemm(op: Op<'_>, t: &[MemRef]) -> Checked {
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

pub(in super::super) fn verify_cooperative_gemm(op: Op<'_>) -> Checked {
    let count = op.operand_count();
    let (first, scaled) = match count {
        5 => (2, false),
        7 => (3, true),
        _ => {
            return Err(format!(
                "expected (thread, mma, A, B, C) or (thread, mma, alpha, A, B, beta, C), found {count} operands"
            ));
        }
    };
    let product = multiplier(op, 1)?;
    let mma = CuteType::of(operands_of(op)[1].r#type()).ok_or("expected a tiled MMA")?;
    let CuteType::TiledMma { .. } = mma else {
        return Err(
            "expected a tiled MMA, found an atom; tile it by cute.make_tiled_mma".to_owned(),
        );
    };
    let tiled = types::tiled_mma(&mma)?;
    check_thread(op, tiled.num_threads())?;
    let mut all = tensors(op, first, first + 2)?;
    all.extend(tensors(op, count - 1, count)?);
    let [a, b, c] = [&all[0], &all[1], &all[2]];
    for (what, memref, element) in [("A", a, product.a), ("B", b, product.b)] {
        if memref.space != Space::Smem {
            return Err(format!(
                "expected {what} in smem, which all threads see, found {}",
                memref.space
            ));
        }
        if !is_kept(memref.element, element) {
            return Err(format!(
                "expected {what} of {element}, as the atom multiplies, found {}",
                memref.element
            ));
        }
    }
    let mut sizes = Vec::new();
    for (what, memref) in [("A (M,K)", a), ("B (N,K)", b)] {
        let found = algorithm::extents(what, &memref.layout)?;
        if found.len() != 2 {
            return Err(format!(
                "expected {what} of rank 2, found {}",
                memref.layout
            ));
        }
        sizes.push(found);
    }
    let (m, n, k) = (sizes[0][0], sizes[1][0], sizes[0][1]);
    if k != sizes[1][1] {
        return Err(format!(
            "expected the same K of A and B, found {k} and {}",
            sizes[1][1]
        ));
    }
    let tile = tiled.tile_shape();
    for ((what, size), step) in ["M", "N", "K"].iter().zip([m, n, k]).zip(tile) {
        if size % step != 0 {
            return Err(format!(
                "expected {what} to be a multiple of the tiled MMA's {step}, found {size}; pad the shared tiles with zeros, or \
                 tile the atom less"
            ));
        }
    }
    for (name, element) in [("copy_a", product.a), ("copy_b", product.b)] {
        check_copy(op, name, element)?;
    }
    if !scaled {
        let whole = cute_layout::tuple([m, n].map(cute_layout::int));
        let part = tensor::partition_shape(&mma, &whole, 2)?;
        if c.space != Space::Rmem || !is_kept(c.element, product.acc) {
            return Err(format!(
                "expected a fragment of {} in rmem as C, found {} in {}; C in smem takes alpha and beta",
                product.acc, c.element, c.space
            ));
        }
        if part.size().ok() != c.layout.size().ok() || part.rank() != c.layout.rank() {
            return Err(format!(
                "expected the fragment of a C of ({m},{n}), of shape {part}, found {}; make it by cute.mma.make_fragment",
                c.layout
            ));
        }
        return Ok(());
    }
    if c.space != Space::Smem {
        return Err(format!(
            "expected C in smem where alpha and beta are given, found {}",
            c.space
        ));
    }
    let found = algorithm::extents("C (M,N)", &c.layout)?;
    if found != [m, n] {
        return Err(format!(
            "expected C of ({m},{n}), as A and B give, found {}",
            c.layout.shape()
        ));
    }
    for (what, index) in [("alpha", 2), ("beta", 5)] {
        let ty = operands_of(op)[index].r#type();
        if ty != product.acc {
            return Err(format!(
                "expected {what} of {}, as the atom adds, found {ty}",
                product.acc
            ));
        }
    }
    if c.element != product.acc && !(types::is_float(c.element) && types::is_float(product.acc)) {
        return Err(format!(
            "expected C of {} or of another floating-point type, found {}",
            product.acc, c.element
        ));
    }
    Ok(())
}

/// An atom that loads an operand.
fn check_copy(op: Op<'_>, name: &str, element: Type) -> Checked {
    let Ok(attribute) = op.attribute(name) else {
        return Ok(());
    };
    let ty = TypeAttribute::try_from(attribute)
        .map_err(|e| e.to_string())?
        .value();
    match CuteType::of(ty) {
        Some(CuteType::CopyAtom { value, .. })
            if types::element_bits(value) == types::element_bits(element) =>
        {
            Ok(())
        }
        _ => Err(format!(
            "expected {name} to be a copy atom of {element}, found {ty}"
        )),
    }
}
