//! The bodies of kernels, and what in them is of all threads of a block together.

use cute_ir::{
    Expected, Failure, diag,
    mlir::*,
    ops::{arith, cute, gpu},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// The body of a kernel, which these passes take to be structured.
pub fn body_of_kernel<'c>(kernel: Op<'c>) -> Result<Blk<'c>, Failure> {
    let body = body_of(kernel, 0).expected(kernel, "a body")?;
    if next_block(body).is_some() {
        return Err(diag::error(
            kernel.location(),
            "expected a kernel of one block; write loops and branches as scf ops",
        ));
    }
    Ok(body)
}

/// The index of a thread in its block along x, an i32.
pub(crate) fn thread_index(b: Builder<'_>) -> Result<Val<'_>, Failure> {
    along(b, gpu::THREAD_ID, "x")
}

/// The number of blocks of the grid along x, an i32.
pub(crate) fn blocks_of_grid(b: Builder<'_>) -> Result<Val<'_>, Failure> {
    along(b, gpu::GRID_DIM, "x")
}

/// The result of an op that has a dimension, such as `gpu.block_id`, along that one, an i32.
pub(crate) fn along<'c>(b: Builder<'c>, op: &str, dimension: &str) -> Result<Val<'c>, Failure> {
    let dimension = [("dimension", b.attribute(&format!("#gpu<dim {dimension}>"))?)];
    let index = b.value(op, &[], b.index_type(), &dimension)?;
    b.value(arith::INDEX_CAST, &[index], b.i32_type(), &[])
}

/// A second body of a kernel, empty, whose arguments stand for those of the old one.
pub(crate) fn second_body<'c>(kernel: Op<'c>, old: Blk<'c>, mapping: &mut Mapping<'c>) -> Blk<'c> {
    let arguments: Vec<_> = arguments_of(old)
        .into_iter()
        .map(|value| (value.r#type(), kernel.location()))
        .collect();
    let new = Builder::append_block(kernel, 0, &arguments);
    for (old, new) in arguments_of(old).into_iter().zip(arguments_of(new)) {
        mapping.insert(key(old), new);
    }
    new
}

/// Tells whether it is something that is done by all threads of a block together.
pub(crate) fn is_of_a_block(op: Op<'_>) -> bool {
    matches!(
        name_of(op),
        cute::BLOCK_CLUSTER_SUM
            | cute::BLOCK_COPY
            | cute::BLOCK_FUSE
            | cute::BLOCK_GEMM
            | cute::BLOCK_MAP
            | cute::BLOCK_PROMOTE
            | cute::BLOCK_TRANSFORM
    )
}
