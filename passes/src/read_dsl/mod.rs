//! `cute-read-dsl`: what CuTe DSL has in place of ops of these dialects, as these.
//!
//! Of a kernel that CuTe DSL printed it makes one as it is written here: tensor maps and the atoms of TMA that are made of them become atoms that say their swizzle, and
//! copies by them `cute_nvgpu.tma_load` and `tma_store` (`tma.rs`); dynamic shared memory becomes a tensor; and fences and waits of warpgroups are given the accumulators
//! that they are about (`shared.rs`); loops that carry a product whose state changes carry the state (`carried.rs`). Other kernels it leaves as they are.

mod carried;
mod shared;
mod tma;

use cute_ir::{Anchor, Failure, PassSpec, diag::each, mlir::*, ops::gpu};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-read-dsl",
    description: "Put the dialects' own ops in place of those that CuTe DSL has instead",
    anchor: Anchor::Module,
    options: &[],
    run,
};

fn run<'c>(rewriter: &Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    tma::make_maps(rewriter, module)?;
    let kernels = nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == gpu::FUNC);
    each(kernels, |kernel| {
        tma::copies(rewriter, module, kernel)?;
        shared::dynamic(rewriter, module, kernel)?;
        carried::states(kernel)?;
        shared::fences(rewriter, kernel)
    })
}
