//! The one room in which MLIR's and LLVM's C interfaces are called. Everything unsafe of the compiler is here, and nothing
//! outside of it can make what is here go wrong:
//!
//! - An [`Op`], a [`Val`] or a [`Blk`] lives as long as what it was reached from. What a [`Rewriter`] erases leaves the module
//!   at once, and memory only when nobody can hold a handle any more.
//! - Indices are checked.
//! - Ops are known by the names and the accessors in [`ops`], which are made from the `.td` files.
#![allow(unsafe_code)]

mod attempts;
mod attributes;
mod builder;
mod changes;
mod context;
mod effects;
mod emit;
mod ffi;
mod graph;
mod heard;
mod keys;
mod lines;
mod llvm;
mod manager;
mod mend;
mod names;
mod parts;
mod place;
mod register;
mod replace;
mod rewriter;
mod target;
mod types;

pub use attempts::{AttemptsSpec, Outcome};
pub use attributes::*;
pub use builder::{Builder, Detached, Mapping};
pub use context::{context_of, context_of_location, context_of_type, threads_of};
pub use effects::{Effect, EffectKind, RegionPoint, Way, effects_of, is_pure, may_repeat, ways_of};
pub(crate) use emit::{emit_error, emit_remark, emit_warning};
pub use graph::*;
pub use heard::{Said, heard};
pub use keys::{
    BlockKey, LocationKey, NameKey, OpKey, ValueKey, block_key, key, location_key, name_key, op_key,
};
pub use lines::Lines;
pub use llvm::{LlvmModule, exit_on_fatal_errors, ptx};
pub use manager::{parse_module, run_pipeline};
pub use mend::{Mended, mend_types};
pub use names::ops;

// For tests, which stand outside so that the library is compiled once, as some of what follows.
#[doc(hidden)]
pub use parts::{Kind, Parts, inferred, type_of as type_of_parts};
pub(crate) use parts::{
    attribute_of_parts, checked, parts_of_attribute, parts_of_type, read, tiled_mma, type_of,
};
pub use place::{Place, called_from, callers_of, place_of};
pub use register::{
    Anchor, OptionSpec, PassSpec, PipelineSpec, RunPass, context, initialize, lsp_server_main,
    opt_main, register, registry,
};
pub(crate) use replace::{Text, replace_parameters};
pub use rewriter::{OwnedCopy, Rewriter, no_form};
pub use target::Target;
pub use types::*;
