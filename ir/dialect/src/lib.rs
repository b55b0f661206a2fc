//! The `cute` and `cute_nvgpu` MLIR dialects.
//!
//! The `.td` files in `ods/` define them; a thin C++ shim compiles what `mlir-tblgen` makes of
//! those and hands every decision to Rust: the canonical text of types ([`types`]), verification
//! ([`verify`]) and result types ([`infer`]).

pub mod algorithm;
pub mod block;
pub mod build;
pub mod diag;
mod ffi;
pub mod infer;
pub mod place;
mod register;
pub mod target;
pub mod tensor;
pub mod types;
pub mod verify;
pub mod view;

pub use diag::{Failure, catch_panics};
pub use register::{
    OptionSpec, PassSpec, PipelineSpec, context, initialize, lsp_server_main, opt_main, register,
    registry,
};

/// Typed wrappers and builders of the ops, made from the same `.td` files.
pub mod ops {
    #![allow(missing_docs, clippy::all, unused)]
    melior::dialect! {
        name: "cute",
        files: ["../src/ops.td"],
        include_directory_env_vars: ["CUTE_ODS"],
    }
}
