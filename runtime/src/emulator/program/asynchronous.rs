//! Instructions of the asynchronous proxy, and those that come with them: bulk copies, `wgmma`, registers that warps hand over.

use super::super::mma::WarpgroupMma;
use super::{Guard, Reg, Scope, Space};
use crate::tensor_map::MapField;

/// An address: its space, and a register with an offset.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulator) struct At {
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
}

/// The way that a bulk copy goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum BulkKind {
    /// A copy from global to shared memory, completed at an `mbarrier` object.
    Load,
    /// A copy from shared to global memory, completed by a bulk group.
    Store,
    /// The same, where each element is reduced with what is there: the operation, and the type where no map has it.
    Reduce(&'static str, Option<&'static str>),
    /// A copy from shared memory to that of a block of the cluster, completed at an `mbarrier` object there.
    Between,
    /// A copy from global memory into L2.
    Prefetch,
}

/// `st.async` and `red.async`: registers that a block of the cluster gets, completed at an `mbarrier` object there.
#[derive(Debug)]
pub(in crate::emulator) struct StoreAsync {
    pub to: At,
    pub barrier: At,
    /// Bytes of an element.
    pub width: u32,
    pub values: Vec<Reg>,
    /// The operation and the type of a reduction, which has one value; none of a store.
    pub reduction: Option<(&'static str, &'static str)>,
}

/// `cp.async.bulk`, `cp.async.bulk.tensor`, their prefetches and reductions.
#[derive(Debug)]
pub(in crate::emulator) struct Bulk {
    pub kind: BulkKind,
    /// The place in shared memory, of copies between blocks the destination; none for a prefetch.
    pub shared: Option<At>,
    /// The place in global memory, that of the tensor map, or the source of a copy between blocks.
    pub global: At,
    /// Coordinates of the box, the fastest first; none without a map.
    pub coordinates: Option<Vec<Reg>>,
    /// The numbers that are added to pixels along W, H and D, by im2col; no number of `.im2col_no_offs`, and none of a tile.
    pub offsets: Option<Vec<Reg>>,
    /// Bytes, where no map says how many.
    pub bytes: Option<Reg>,
    /// The `mbarrier` object of a load.
    pub barrier: Option<At>,
    /// The blocks of the cluster that a load is for.
    pub mask: Option<Reg>,
}

/// Part of `barrier.cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum ClusterBarrier {
    /// Hands on what came before, unless it is relaxed.
    Arrive {
        relaxed: bool,
    },
    Wait,
}

/// `setmaxnreg`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) struct MaxRegisters {
    pub increases: bool,
    pub count: u32,
}

/// The place of an operand of `wgmma`.
#[derive(Debug)]
pub(in crate::emulator) enum WarpgroupOperand {
    /// A matrix in shared memory, where a descriptor in a register says.
    Descriptor(Reg),
    Registers(Vec<Reg>),
}

/// `wgmma.mma_async`
#[derive(Debug)]
pub(in crate::emulator) struct Wgmma {
    pub mma: WarpgroupMma,
    /// Accumulators, read and written.
    pub d: Vec<Reg>,
    pub a: WarpgroupOperand,
    /// Descriptor of B.
    pub b: Reg,
    /// The register with the metadata of A, where it is stored by half.
    pub metadata: Option<Reg>,
    /// Tells whether the accumulators are added; else they are only written.
    pub scale_d: Guard,
}

/// An instruction on a tensor map that a kernel makes.
#[derive(Debug)]
pub(in crate::emulator) enum MapOp {
    /// `tensormap.replace`
    Replace { at: At, field: MapField, value: Reg },
    /// `tensormap.cp_fenceproxy`: copies a map from shared to global memory, and releases it.
    Copy { to: At, from: At, scope: Scope },
    /// `fence.proxy.tensormap::generic.release`
    Release(Scope),
    /// `fence.proxy.tensormap::generic.acquire` of a map.
    Acquire(At, Scope),
}
