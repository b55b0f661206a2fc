//! The instructions of SM75: ldmatrix and movmatrix. PTX ISA, "Warp-level matrix instructions".

use super::registers::{assembly, bytes_of, from_words, members, results, words};
use cute_ir::{
    Failure,
    mlir::{Builder, Val, result_of},
    ops::nvvm,
};
use melior::ir::{Type, ValueLike};

/// ldmatrix of 1, 2 or 4 matrices.
pub(super) fn ldmatrix<'c>(
    b: Builder<'c>,
    (matrices, transpose): (i64, bool),
    pointer: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let count = matrices as usize;
    let result = results(b, b.i32_type(), count)?;
    let layout = if transpose { "col" } else { "row" };
    let attributes = [
        ("num", b.integer(b.i32_type(), matrices)),
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
    let loaded = b.value(nvvm::LDMATRIX, &[pointer], result, &attributes)?;
    let words = members(b, loaded, count, b.i32_type())?;
    from_words(b, &words, ty)
}

/// movmatrix: a matrix in registers, transposed. LLVM has no intrinsic for it, so it is text, which [`cute_ir::mlir::ptx`] makes
/// convergent.
pub(super) fn movmatrix<'c>(b: Builder<'c>, value: Val<'c>) -> Result<Val<'c>, Failure> {
    if bytes_of(value.r#type()) != Some(4) {
        return Err(b.error("expected a matrix's 32 bits a thread"));
    }
    let source = words(b, value)?;
    let moved = assembly(
        b,
        "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;",
        "=r,r",
        &source,
        &[b.i32_type()],
    )?;
    from_words(b, &[result_of(moved, 0)], value.r#type())
}
