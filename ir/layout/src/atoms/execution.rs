//! The facts of an instruction that copies and products share: who issues it, and how it is known to be done.

/// The way in which threads know that an atom is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Completion {
    /// It is done when the next instruction begins.
    Immediate,
    /// It is done when those who issued it have committed it to a group and have waited for the group (PTX ISA,
    /// `cp.async.commit_group` of copies, `wgmma.commit_group` of products).
    Group,
    /// It is done when the bytes that it brings have completed a phase of an mbarrier (PTX ISA, `complete_tx` of bulk copies).
    Mbarrier,
    /// It is done when the thread that issued it has committed it to a bulk group and has waited for the group (PTX ISA,
    /// `cp.async.bulk.commit_group`).
    BulkGroup,
}

/// The threads that issue an atom together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Issue {
    /// Each thread by itself.
    Thread,
    /// The 32 threads of a warp.
    Warp,
    /// The 128 threads of four warps, of which the first has a number that 4 divides.
    Warpgroup,
}
