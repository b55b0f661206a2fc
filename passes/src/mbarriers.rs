//! Mbarriers, and what is done around them: by one thread, behind a fence, by all threads of a cluster.

use cute_ir::ops::{cute, cute_nvgpu, nvvm, scf};
use cute_ir::{
    Failure,
    attributes::RING,
    hopper,
    mlir::*,
    types::{MemRef, Space},
};
use cute_layout::Layout;

/// Room for so many mbarriers in shared memory, whose accesses `cute-synchronize` leaves alone.
pub(crate) fn mbarriers(b: Builder<'_>, count: i64) -> Result<Val<'_>, Failure> {
    let barriers = MemRef {
        element: b.i64_type(),
        space: Space::Smem,
        align: hopper::BARRIER_BYTES,
        swizzle: None,
        inner: None,
        layout: Layout::leaf(count, 1).map_err(|e| b.error(e.to_string()))?,
    };
    let ty = barriers.to_type(b.location)?;
    b.value(cute::MEMREF_ALLOCA, &[], ty, &[(RING, b.unit())])
}

/// Arrives at one of some mbarriers, by its index, and says how many bytes its phase is to bring.
pub(crate) fn expect<'c>(
    b: Builder<'c>,
    [barriers, index]: [Val<'c>; 2],
    bytes: Val<'c>,
) -> Result<(), Failure> {
    let operands = [barriers, index, bytes];
    b.op(
        cute_nvgpu::MBARRIER_ARRIVE_AND_EXPECT_TX,
        &operands,
        &[],
        &[],
    )?;
    Ok(())
}

/// Orders what this thread did to shared memory before what asynchronous copies and products do behind the next barrier.
pub(crate) fn fence_proxy(b: Builder<'_>) -> Result<(), Failure> {
    let attributes = [
        ("kind", b.attribute("#nvvm.proxy_kind<async.shared>")?),
        ("space", b.attribute("#nvvm.shared_space<cta>")?),
    ];
    b.op(nvvm::FENCE_PROXY, &[], &[], &attributes)?;
    Ok(())
}

/// Writes something that is done where a condition holds.
pub(crate) fn alone<'c>(
    b: Builder<'c>,
    condition: Val<'c>,
    write: impl FnOnce(Builder<'c>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (region, block) = Detached::with_block(&[]);
    b.with_regions(
        scf::IF,
        &[condition],
        &[],
        &[],
        vec![region, Detached::empty()],
    )?;
    let inner = Builder::at_end(b.context, block, b.location);
    write(inner)?;
    inner.op(scf::YIELD, &[], &[], &[])?;
    Ok(())
}

/// A barrier of all threads of a cluster, with arrivals of that kind.
pub(crate) fn barrier_of_cluster(b: Builder<'_>, arrive: &str) -> Result<(), Failure> {
    b.op(arrive, &[], &[], &[])?;
    b.op(nvvm::CLUSTER_WAIT, &[], &[], &[])?;
    Ok(())
}
