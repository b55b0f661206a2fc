//! The tests of the algebra: one program, so that what they share is compiled once. `cargo test -p cute-layout --test all composition` runs those of
//! a file.

mod algebra;
mod atoms;
mod bad_input;
mod banks;
mod basis_inverses;
mod brute_force;
mod common;
mod composition;
mod cute_figures;
mod descriptor;
mod errors;
mod fuzz_smoke;
mod gemm_layouts;
mod im2col;
mod known_wrong;
mod layouts;
/// The layouts of real GEMMs, which the benchmarks measure.
#[path = "../benches/gemm_layouts.rs"]
mod measured;
mod ops;
mod parameters;
mod short_cuts;
mod swizzles;
mod symbolic;
mod symbolic_layouts;
mod symbolic_truth;
mod tiled_copy;
mod tiled_mma;
mod tiled_parts;
mod tiled_random;
mod tma;
mod traced;
mod worked_tiled;
