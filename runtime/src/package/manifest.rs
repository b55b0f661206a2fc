//! The manifest: what a package holds and how it is launched. `docs/package.md` describes every
//! field.

use serde::{Deserialize, Serialize};

/// What a package holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program that wrote the package, with its version (`cute-opt 0.1.0`).
    pub producer: String,
    pub functions: Vec<Function>,
    pub images: Vec<Image>,
}

/// A host function: its arguments, the launches that execute it in order, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub args: Vec<Arg>,
    pub launches: Vec<Launch>,
    /// What the launches compute together. Empty: the result cannot be verified, nor its speed
    /// stated in FLOP/s.
    #[serde(default)]
    pub computes: Vec<Compute>,
}

/// One argument of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Arg {
    /// A tensor in global memory.
    Tensor {
        name: String,
        /// MLIR's name of the element type: `f16`, `bf16`, `f32`, `f64`, `i8`, `u8`, `i32`, `i64`.
        element: String,
        /// CuTe text, such as `(4096,4096):(4096,1)`; strides in elements.
        layout: String,
        /// What the kernels assume of the base address, in bytes; a power of two.
        align: u32,
        access: Access,
    },
}

impl Arg {
    pub fn name(&self) -> &str {
        match self {
            Arg::Tensor { name, .. } => name,
        }
    }

    pub fn access(&self) -> Access {
        match self {
            Arg::Tensor { access, .. } => *access,
        }
    }
}

/// What the kernels do with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    /// Every element of the layout is written, and none is read before.
    Write,
    ReadWrite,
}

impl Access {
    pub fn reads(self) -> bool {
        !matches!(self, Access::Write)
    }

    pub fn writes(self) -> bool {
        !matches!(self, Access::Read)
    }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster; `[1, 1, 1]` where there are none.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_smem: u32,
    /// Indices into [`Function::args`]; each is passed as a device pointer, in this order.
    pub args: Vec<usize>,
}

/// What a function means, so that its result can be verified and its speed stated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Compute {
    /// `C(m,n) = sum over k of A(m,k) * B(n,k)`, accumulated in `accumulate` and rounded once to
    /// C's element type.
    Gemm {
        /// Index of A in [`Function::args`], an (M,K) tensor.
        a: usize,
        /// Index of B, an (N,K) tensor.
        b: usize,
        /// Index of C, an (M,N) tensor.
        c: usize,
        /// Element type of the accumulator.
        accumulate: String,
        /// The largest `|out - ref| / |ref|` (Frobenius norms) that the producer promises. It can
        /// only tighten the bound that follows from the types; none leaves that bound alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tolerance: Option<f64>,
    },
}

/// The kernels compiled for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `sm_80`, `sm_90a`, ...
    pub arch: String,
    /// PTX text, UTF-8 without a terminating zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<Blob>,
    /// An ELF cubin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cubin: Option<Blob>,
    pub kernels: Vec<KernelInfo>,
}

/// A range of bytes in the blob section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// From the start of the blob section, in bytes; a multiple of 16.
    pub offset: u64,
    /// In bytes.
    pub length: u64,
}

/// What the assembler reported of one kernel. Zero where it reported nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelInfo {
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block, in bytes.
    pub static_smem: u32,
    /// Dynamic shared memory that the launch plan asks for, in bytes.
    pub dynamic_smem: u32,
    /// Bytes a thread stores to local memory because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes a thread loads back.
    pub spill_load_bytes: u32,
    /// Stack frame of a thread, in bytes.
    pub stack_bytes: u32,
    /// Threads of a block that the kernel was compiled for.
    pub threads: u32,
    /// The largest block that the kernel may be launched with (`.maxntid`), 0 if unlimited.
    pub max_threads: u32,
    /// PTX types of the parameters in order, such as `.u64`.
    pub params: Vec<String>,
}
