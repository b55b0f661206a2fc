//! The cost of one memory instruction of a warp: passes over the banks of shared memory, sectors of global memory.
//!
//! Pure functions of the lanes' addresses, which must be aligned to what a lane moves. They give what Nsight Compute
//! counts on an H100 for the same addresses: `runtime/tests/counters/sm_90.txt` has measured instructions, which
//! `runtime/tests/counters.rs` compares with these functions, and `tools/counters.py` measures them again.
//!
//! | function | counter | agreement |
//! | --- | --- | --- |
//! | [`shared_wavefronts`] | `memory_l1_wavefronts_shared` | exact |
//! | [`matrix_wavefronts`] | the same | exact |
//! | [`shared_atomic_wavefronts`] | the same | exact for 4 bytes |
//! | [`async_copy_wavefronts`] | the same | exact or, with sources all over memory, less |
//! | [`global_sectors`] | `l1tex__t_sectors_pipe_lsu_mem_global_op_ld`, `_st`, `_ldgsts_cache_access`; tag requests | exact |
//! | [`global_atomic_sectors`] | the same with `_atom`, `_red` | exact for 4 bytes |
//!
//! The ideals are those of `memory_l1_wavefronts_shared_ideal` and `memory_l2_theoretical_sectors_global_ideal`.
//! `l1tex__data_pipe_lsu_wavefronts_mem_shared` counts the same wavefronts for loads, stores and matrices, but also one
//! for each launch of a warp and for each instruction that is predicated off in all lanes, and none for `cp.async.cg`.

mod global;
mod shared;

pub use global::{Sectors, global_atomic_sectors, global_sectors};
pub use shared::{
    SharedAtomic, Wavefronts, async_copy_wavefronts, matrix_wavefronts, shared_atomic_wavefronts,
    shared_wavefronts,
};
