//! The instructions of SM90: stmatrix. PTX ISA, "Warp-level matrix store instruction".

use super::registers::words;
use cute_ir::{
    Failure,
    mlir::{Builder, Val},
    ops::nvvm,
};

/// stmatrix of 1, 2 or 4 matrices.
pub(super) fn stmatrix<'c>(
    b: Builder<'c>,
    transpose: bool,
    value: Val<'c>,
    pointer: Val<'c>,
) -> Result<(), Failure> {
    let mut operands = vec![pointer];
    operands.extend(words(b, value)?);
    let layout = if transpose { "col" } else { "row" };
    let attributes = [
        (
            "layout",
            b.attribute(&format!("#nvvm.mma_layout<{layout}>"))?,
        ),
        (
            "shape",
            b.attribute("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")?,
        ),
        ("eltType", b.attribute("#nvvm.ld_st_matrix_elt_type<b16>")?),
    ];
    b.op(nvvm::STMATRIX, &operands, &[], &attributes)?;
    Ok(())
}
