//! Kernel packages, tensors and launches: everything that happens after the compiler.
//!
//! - [`package`]: the file that carries kernels, their launch plan and what they mean.
//! - [`plan`]: what the launches of a function are for some arguments.
//! - [`ptx`]: the text of a kernel as a tree, and its instructions by kind.
//! - [`tensor_map`]: what TMA has to know of a tensor.
//! - [`tensor`]: host tensors over CuTe layouts, `.npy` files, generated data.
//! - [`verify`]: whether a result is right, and how sure that is.
//! - [`device`]: the boundary between a plan and what executes it.
//! - [`call`]: calls from programs that have their own memory and streams.
//! - [`cuda`]: the device behind the NVIDIA driver.
//!
//! *Architecture Invariant:* nothing here depends on MLIR, and nothing but [`cuda`] names the
//! driver.
#![warn(missing_docs, unreachable_pub)]

pub mod call;
pub mod cuda;
pub mod device;
pub mod element;
pub mod emulator;
pub mod layout;
pub mod package;
mod parallel;
pub mod plan;
pub mod ptx;
pub mod tensor;
pub mod tensor_map;
pub mod verify;

pub use cute_target::Arch;
pub use element::Element;
pub use layout::{Parsed, Pattern};
pub use package::{
    Access, Arg, Blob, BoxSize, Compute, Epilogue, Expr, Factor, Function, Gemm, Im2colParam,
    Image, ImageSource, KernelInfo, Launch, Manifest, Map, MapOf, MapParam, Number, Outside,
    Package, PackageBuilder, PackageError, Param, Region, RegionOp, RegionValue, SharedSwizzle,
};
pub use tensor::HostTensor;
pub use tensor_map::TensorMap;
