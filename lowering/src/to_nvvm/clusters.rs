//! Clusters of launches, and the blocks that their kernels reach: what a cluster lacks, another block waits for without end, or the GPU traps.

use cute_ir::{
    Failure, diag,
    hopper::MOST_BLOCKS,
    mlir::*,
    ops::{cute_nvgpu, gpu},
};
use melior::ir::operation::OperationLike;

/// Checks that launches have clusters of as many blocks as there may be, and as many as their kernel reaches by numbers that are known.
pub(super) fn check<'c>(kernel: Op<'c>, launches: &[Op<'c>]) -> Result<(), Failure> {
    let reached: Vec<_> = nested_ops(kernel).into_iter().filter_map(reach).collect();
    let furthest = reached.iter().max_by_key(|(block, _)| *block);
    for launch in launches {
        let Some(blocks) = blocks_of(*launch) else {
            continue;
        };
        if blocks > MOST_BLOCKS {
            return Err(diag::error(
                launch.location(),
                format!(
                    "expected a cluster of at most {MOST_BLOCKS} blocks, found {blocks}; a launch takes no more"
                ),
            ));
        }
        if let Some((block, op)) = furthest.filter(|(block, _)| *block >= blocks) {
            return Err(diag::error_with_notes(
                launch.location(),
                format!(
                    "expected clusters of at least {} blocks, as the kernel reaches block {block} of its cluster, found {blocks}; write `clusters` with as many, or reach \
                     none but the block itself",
                    block + 1
                ),
                &[(op.location(), "which is reached here")],
            ));
        }
    }
    Ok(())
}

/// The blocks of a launch's clusters, where they are known; 1 without clusters.
fn blocks_of(launch: Op<'_>) -> Option<i64> {
    let launch = gpu::LaunchFunc::of(launch)?;
    let sizes = [
        launch.cluster_size_x(),
        launch.cluster_size_y(),
        launch.cluster_size_z(),
    ];
    sizes
        .into_iter()
        .flatten()
        .try_fold(1i64, |all, size| all.checked_mul(constant_of(size)?))
}

/// The last block of its cluster that an op reaches, where that is known.
fn reach(op: Op<'_>) -> Option<(i64, Op<'_>)> {
    let block = if let Some(load) = cute_nvgpu::TmaLoad::of(op) {
        // A bit for each block, of 16.
        let mask = constant_of(load.mask()?)? & 0xffff;
        i64::from(mask.checked_ilog2()?)
    } else if let Some(arrive) = cute_nvgpu::MbarrierArriveAt::of(op) {
        constant_of(arrive.block())?
    } else {
        let there = cute_nvgpu::ArchMapDsmem::of(op)?;
        constant_of(there.block())?
    };
    Some((block, op))
}
