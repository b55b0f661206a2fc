//! The `cute` and `cute_nvgpu` MLIR dialects.
//!
//! The `.td` files in `ods/` define them; a thin C++ shim compiles what `mlir-tblgen` makes of
//! those and hands every decision to Rust: the canonical text of types ([`types`]), verification
//! ([`verify`]) and result types ([`infer`]). All that is unsafe is in [`mlir`].
#![deny(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod algebra;
pub mod algorithm;
pub mod args;
pub mod attributes;
pub mod block;
pub mod bounds;
pub mod contract;
pub mod diag;
pub mod fused;
pub mod hopper;
pub mod infer;
pub mod interpret;
pub mod library;
pub mod maps;
pub mod mlir;
pub mod names;
pub mod options;
pub mod parameters;
pub mod plan;
pub mod reduced;
pub mod region;
pub mod tensor;
pub mod types;
pub mod verify;
pub mod view;

pub use diag::{Expected, Failure, catch_panics};
pub use mlir::{
    Anchor, AttemptsSpec, OptionSpec, Outcome, PassSpec, PipelineSpec, context, initialize,
    lsp_server_main, ops, opt_main, register, registry,
};
