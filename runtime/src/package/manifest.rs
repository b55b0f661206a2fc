//! The manifest: what a package holds and how it is launched. `docs/package.md` describes every
//! field.

use serde::{Deserialize, Serialize};

use super::candidates::CandidateChoice;
use super::compute::Compute;
use super::error::PackageError;
use super::expr::Expr;
use super::views::View;
use crate::element::Element;
use crate::layout::Pattern;
use crate::tensor_map::{OobFill, TENSOR_MAP_BYTES};

/// The contents of a package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program that wrote the package, with its version (`cute-opt 0.1.0`).
    pub producer: String,
    /// The functions that the package offers, each with a name of its own.
    pub functions: Vec<Function>,
    /// The code of the kernels, one image for each architecture.
    pub images: Vec<Image>,
}

/// A host function: its arguments, the launches that execute it in order, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// The name by which the function is chosen.
    pub name: String,
    /// The arguments, in their order.
    pub args: Vec<Arg>,
    /// Integers that are computed once for all expressions that have them, each of those before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Expr>,
    /// The conditions that must hold before any launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Requirement>,
    /// Bytes of device memory that one call needs beside its arguments. It is not negative; none is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Expr>,
    /// The launches, in the order in which they run.
    pub launches: Vec<Launch>,
    /// The choices among candidates that are left to whoever measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<CandidateChoice>,
    /// The tensors that computes have besides the arguments, in the order of their indices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<View>,
    /// The computes of the launches together. Empty: the result cannot be verified, nor its speed
    /// stated in FLOP/s.
    #[serde(default)]
    pub computes: Vec<Compute>,
}

impl Function {
    /// Reads a function as a manifest has it. Whoever calls this has not the code for it compiled once more, as whoever asks serde has.
    ///
    /// # Errors
    /// [`PackageError::Json`] if the text is not that of a function.
    pub fn from_json(text: &str) -> Result<Function, PackageError> {
        // Of bytes, as manifests are.
        serde_json::from_slice(text.as_bytes()).map_err(PackageError::Json)
    }

    /// The text of a function in a manifest.
    ///
    /// # Errors
    /// [`PackageError::Json`] if a number of it is none in JSON.
    pub fn to_json(&self) -> Result<String, PackageError> {
        serde_json::to_string(self).map_err(PackageError::Json)
    }

    /// A function that requires nothing, has no workspace, and does not say what it computes.
    pub fn new(name: impl Into<String>, args: Vec<Arg>, launches: Vec<Launch>) -> Function {
        Function {
            name: name.into(),
            args,
            values: Vec::new(),
            requires: Vec::new(),
            workspace: None,
            launches,
            choices: Vec::new(),
            views: Vec::new(),
            computes: Vec::new(),
        }
    }

    /// The function, of which these are the computes.
    #[must_use]
    pub fn computing(self, computes: Vec<Compute>) -> Function {
        Function { computes, ..self }
    }
}

/// One argument of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Arg {
    /// A tensor in global memory.
    Tensor {
        /// The name that messages and options use for the argument.
        name: String,
        /// MLIR's name of the element type, such as `f16`: one of [`crate::Element::ALL`].
        element: String,
        /// CuTe text, such as `(4096,4096):(4096,1)`; strides in elements. A leaf `?` is what the caller's tensor brings.
        layout: String,
        /// The alignment that the kernels assume of the base address, in bytes; a power of two.
        align: u32,
        /// The access of the kernels to the tensor.
        access: Access,
    },
    /// A number.
    Scalar {
        /// The name that messages and options use for the argument.
        name: String,
        /// MLIR's name of its type: `i32`, `i64`, `f16`, `bf16`, `f32` or `f64`.
        #[serde(rename = "type")]
        element: String,
        /// The value where the caller says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<Number>,
    },
}

impl Arg {
    /// Returns the name of the argument.
    pub fn name(&self) -> &str {
        match self {
            Arg::Tensor { name, .. } | Arg::Scalar { name, .. } => name,
        }
    }

    /// The access of the kernels to the argument; a scalar is read.
    pub fn access(&self) -> Access {
        match self {
            Arg::Tensor { access, .. } => *access,
            Arg::Scalar { .. } => Access::Read,
        }
    }

    /// MLIR's name of its type, or of its elements'.
    pub fn element(&self) -> &str {
        match self {
            Arg::Tensor { element, .. } | Arg::Scalar { element, .. } => element,
        }
    }

    /// Tells whether it is a tensor, and not a scalar.
    pub fn is_tensor(&self) -> bool {
        matches!(self, Arg::Tensor { .. })
    }
}

/// The value of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A number without fraction or exponent.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Real(f64),
}

impl Number {
    /// The value; integers above 2^53 are rounded.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
        }
    }
}

impl Eq for Number {}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Integer(value) => write!(f, "{value}"),
            Number::Real(value) => write!(f, "{value:?}"),
        }
    }
}

/// The access of the kernels to an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Elements are read, and none is written.
    Read,
    /// Every element of the layout is written, and none is read before.
    Write,
    /// Elements are read and written.
    ReadWrite,
}

impl Access {
    /// Tells whether the kernels read elements.
    pub fn reads(self) -> bool {
        !matches!(self, Access::Write)
    }

    /// Tells whether the kernels write elements.
    pub fn writes(self) -> bool {
        !matches!(self, Access::Read)
    }
}

/// One kernel launch, which may depend on a condition. Its sizes are constants, or follow from the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The name of the kernel, the same in every image.
    pub kernel: String,
    /// Blocks.
    pub grid: [Expr; 3],
    /// Threads of a block.
    pub block: [Expr; 3],
    /// Blocks of a cluster; `[1, 1, 1]` where there are none.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_smem: Expr,
    /// The parameters of the kernel, in this order.
    pub params: Vec<Param>,
    /// The launch takes place where the value is not 0; always if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// Pairs of tensor arguments of the function that must have no byte in common, for the kernel was compiled so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disjoint: Vec<[usize; 2]>,
    /// True of a kernel that itself waits for what is before in the stream (PTX ISA, griddepcontrol): its blocks may start as soon as there is
    /// room for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependent: bool,
}

impl Launch {
    /// A launch of known sizes that passes pointers to those arguments.
    pub fn fixed(
        kernel: impl Into<String>,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_smem: u32,
        pointers: impl IntoIterator<Item = usize>,
    ) -> Launch {
        Launch {
            kernel: kernel.into(),
            grid: Expr::all(grid),
            block: Expr::all(block),
            cluster: [1, 1, 1],
            dynamic_smem: dynamic_smem.into(),
            params: pointers.into_iter().map(Param::Pointer).collect(),
            when: None,
            disjoint: Vec::new(),
            dependent: false,
        }
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Param {
    /// The device pointer to offset 0 of a tensor argument, 64 bits.
    Pointer(usize),
    /// The device pointer to a byte of a tensor argument, 64 bits.
    Byte {
        /// The tensor argument.
        tensor: usize,
        /// Bytes from its first element on, at most as many as the tensor has.
        offset: Expr,
    },
    /// An argument, and which dynamic leaf of its layout: those of the shape come before those of the stride. 32 or 64 bits,
    /// as the leaf's type.
    Leaf(usize, usize),
    /// The value of a scalar argument, as wide as its type.
    Scalar(usize),
    /// An integer that follows from the arguments, and its bits: 32 or 64.
    Integer(Expr, u32),
    /// The device pointer to that byte of the call's workspace, 64 bits. Its byte 0 is aligned to 256 bytes.
    Workspace(Expr),
    /// A tensor map of a tensor argument, by value: 128 bytes, which each launch encodes.
    TensorMap(MapParam),
}

/// A tensor map as a launch makes it: what `cuTensorMapEncodeTiled`, or `cuTensorMapEncodeIm2col`, is given besides the tensor's address and the type of
/// its elements.
///
/// Dimensions stand fastest first. What a copy reads outside of the tensor is 0, where the swizzle says nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapParam {
    /// The tensor argument, and the byte of it at which the map begins.
    #[serde(rename = "arg")]
    pub of: MapOf,
    /// Elements along each dimension.
    pub sizes: Vec<Expr>,
    /// Elements from one to the next along each dimension but the first.
    pub strides: Vec<Expr>,
    /// Elements of a box along each dimension; by im2col, the channels of a pixel and the pixels of a column.
    pub box_sizes: Vec<BoxSize>,
    /// The swizzle of shared memory, and what arrives there from outside of the tensor.
    pub swizzle: SharedSwizzle,
    /// Bytes that a miss brings into L2 at least: 0, 64, 128 or 256; 128 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_promotion: Option<u32>,
    /// The pixels that a column goes through; none where a copy moves a tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub im2col: Option<Im2colParam>,
}

/// Bytes that the swizzle of shared memory spans, and the elements that arrive from outside of the tensor. Where these are not zeros it is no number in a manifest, so that who
/// knows nothing else does not read zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SharedSwizzle {
    /// So many bytes, 32, 64, 128, or 0 of none; zeros arrive.
    Span(u32),
    /// So many bytes, and something else arrives.
    Outside {
        /// Bytes that the swizzle spans.
        span: u32,
        /// The elements that arrive from outside.
        outside: Outside,
    },
}

/// The elements that a copy brings from outside of a tensor, where they are not zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// NaN.
    Nan,
}

impl SharedSwizzle {
    /// The swizzle that spans so many bytes, with NaN from outside of the tensor or zeros.
    pub fn of(span: u32, has_nan: bool) -> Self {
        match has_nan {
            true => SharedSwizzle::Outside {
                span,
                outside: Outside::Nan,
            },
            false => SharedSwizzle::Span(span),
        }
    }

    /// Bytes that the swizzle spans, 0 of none.
    pub fn span(self) -> u32 {
        match self {
            SharedSwizzle::Span(span) | SharedSwizzle::Outside { span, .. } => span,
        }
    }

    /// The fill of elements outside of the tensor.
    pub fn oob_fill(self) -> OobFill {
        match self {
            SharedSwizzle::Span(_) => OobFill::Zero,
            SharedSwizzle::Outside {
                outside: Outside::Nan,
                ..
            } => OobFill::Nan,
        }
    }
}

/// Elements of a box along a dimension. That of a rest is no number in a manifest, so that who knows no rests reads none as a whole box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BoxSize {
    /// So many.
    Whole(u32),
    /// As many as the last of the tensor's boxes of so many has.
    Rest {
        /// The elements of the other boxes.
        rest_of: u32,
    },
}

impl BoxSize {
    /// The elements of a box of a tensor with so many along the dimension.
    pub fn of(self, size: u64) -> u32 {
        match self {
            BoxSize::Whole(elements) => elements,
            BoxSize::Rest { rest_of } => match size.checked_rem(u64::from(rest_of)) {
                // A rest is less than the box.
                Some(rest) if rest > 0 => rest as u32,
                _ => rest_of,
            },
        }
    }
}

impl std::fmt::Display for BoxSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BoxSize::Whole(elements) => write!(f, "{elements}"),
            BoxSize::Rest { rest_of } => write!(f, "the rest of {rest_of}"),
        }
    }
}

impl From<u32> for BoxSize {
    fn from(elements: u32) -> Self {
        BoxSize::Whole(elements)
    }
}

/// The place where a tensor map begins: a tensor, a byte of it, or a byte of the workspace. The latter two are no numbers in a manifest, so that who knows no offsets reads none as
/// if there was no offset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MapOf {
    /// The first element of the tensor argument.
    Tensor(usize),
    /// A byte of the tensor argument, a multiple of 16.
    Byte {
        /// The tensor argument.
        tensor: usize,
        /// Bytes from its first element on.
        offset: Expr,
    },
    /// A byte of the call's workspace, a multiple of 16.
    Workspace {
        /// A tensor argument that has elements of the same type.
        like: usize,
        /// Bytes from the workspace's first one on.
        workspace: Expr,
    },
}

impl MapOf {
    /// The tensor argument that has the elements, or elements of their type.
    pub fn like(&self) -> usize {
        match self {
            MapOf::Tensor(tensor) | MapOf::Byte { tensor, .. } => *tensor,
            MapOf::Workspace { like, .. } => *like,
        }
    }

    /// The tensor argument; none of a tensor in the workspace.
    pub fn argument(&self) -> Option<usize> {
        match self {
            MapOf::Tensor(tensor) | MapOf::Byte { tensor, .. } => Some(*tensor),
            MapOf::Workspace { .. } => None,
        }
    }

    /// Bytes from the first element of the argument on, or from the workspace's first byte on; none where they are none.
    pub fn offset(&self) -> Option<&Expr> {
        match self {
            MapOf::Tensor(_) => None,
            MapOf::Byte { offset, .. }
            | MapOf::Workspace {
                workspace: offset, ..
            } => Some(offset),
        }
    }
}

impl MapParam {
    /// The expressions that it consists of.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let numbers = self.sizes.iter().chain(&self.strides);
        numbers.chain(self.of.offset())
    }
}

/// The pixels of a map by im2col. Each list has a number along W, and, where the tensor has such dimensions, H and D.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Im2colParam {
    /// The first pixel, from the tensor's first one.
    pub lower: Vec<i32>,
    /// The last pixel, from the tensor's last one.
    pub upper: Vec<i32>,
    /// Elements from one pixel to the next.
    pub strides: Vec<u32>,
}

impl Param {
    /// The tensor argument that the parameter leads to, by its pointer or by a tensor map.
    pub fn tensor(&self) -> Option<usize> {
        match self {
            Param::TensorMap(map) => map.of.argument(),
            _ => self.pointee(),
        }
    }

    /// The tensor argument that the parameter points into.
    pub fn pointee(&self) -> Option<usize> {
        match self {
            Param::Pointer(arg) | Param::Byte { tensor: arg, .. } => Some(*arg),
            _ => None,
        }
    }

    /// Bytes of the parameter; none for a function that has no such argument or leaf, which no package that was loaded has.
    pub fn bytes(&self, function: &Function) -> Option<usize> {
        let arg = match self {
            Param::Integer(_, bits) => return Some(*bits as usize / 8),
            Param::Workspace(_) => return Some(8),
            Param::TensorMap(_) => return Some(TENSOR_MAP_BYTES),
            Param::Pointer(arg)
            | Param::Byte { tensor: arg, .. }
            | Param::Leaf(arg, _)
            | Param::Scalar(arg) => arg,
        };
        match (self, function.args.get(*arg)?) {
            (Param::Pointer(_) | Param::Byte { .. }, Arg::Tensor { .. }) => Some(8),
            (Param::Leaf(_, leaf), Arg::Tensor { layout, .. }) => {
                let leaves = Pattern::parse(layout).ok()?.dynamic_leaves();
                Some(leaves.get(*leaf)?.width as usize / 8)
            }
            (Param::Scalar(_), Arg::Scalar { element, .. }) => {
                Some(element.parse::<Element>().ok()?.size())
            }
            _ => None,
        }
    }
}

/// A condition on the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// The value that is not 0 where the condition holds.
    pub condition: Expr,
    /// The text that says what is wrong where the condition does not hold.
    pub message: String,
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
    /// The figures of the kernels that the code holds.
    pub kernels: Vec<KernelInfo>,
}

/// A range of bytes in the blob section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// From the start of the blob section, in bytes; a multiple of 16.
    pub offset: u64,
    /// The length of the range, in bytes.
    pub length: u64,
}

/// The figures that the assembler reported of one kernel. Zero where it reported nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelInfo {
    /// The name of the kernel.
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
