//! The architectures that IR is compiled for.

use cute_ir::ops::gpu;
use cute_ir::{
    mlir::Target,
    mlir::{Op, parent_of},
};
use cute_target::Arch;

/// 32-bit registers of an SM.
pub const REGISTERS: i64 = cute_target::REGISTERS as i64;
/// Registers that one thread can have.
pub const REGISTERS_PER_THREAD: i64 = cute_target::REGISTERS_PER_THREAD as i64;
/// Threads of one block.
pub const THREADS_PER_BLOCK: i64 = cute_target::THREADS_PER_BLOCK as i64;
/// Threads of a warp.
pub const WARP: i64 = cute_target::WARP as i64;
/// Bits of the widest access of a thread to memory.
pub const WIDEST: i64 = 128;
/// Threads of a warpgroup.
pub const WARPGROUP: i64 = cute_target::WARPGROUP as i64;

/// The architecture of a target. Errors: a chip that is none that is compiled for; the message lists them.
pub fn of_target(target: &Target) -> Result<Arch, String> {
    Arch::find(target.chip).map_err(|error| format!("{error}, as the chip of {}", target.attribute))
}

/// LLVM's features for an architecture: the least PTX version that knows it and all that is emitted.
pub fn features_of(arch: Arch) -> String {
    format!("+ptx{}", arch.ptx_version().unwrap_or_default())
}

/// The architectures that a `gpu.module` is compiled for; none where it has no targets yet.
pub fn of_module(module: Op) -> Result<Vec<Arch>, String> {
    Target::all(module)?.iter().map(of_target).collect()
}

/// The architecture that a kernel is compiled for: its module's `#nvvm.target`; of several targets the one whose blocks have
/// the least shared memory, since the kernel must fit all.
pub fn of_kernel(kernel: Op) -> Result<Arch, String> {
    let targets = parent_of(kernel, gpu::MODULE).map_or(Ok(Vec::new()), of_module)?;
    let smallest = targets.into_iter().min_by_key(|arch| arch.max_smem());
    smallest.ok_or_else(|| {
        "expected #nvvm.target<chip = ...> on the kernel's gpu.module: run cute-tile{arch=...} first"
            .to_owned()
    })
}
