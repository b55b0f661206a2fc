//! The dialects' types as Rust values.
//!
//! A type holds the canonical text of what it means; [`CuteType`] is what that text says. What
//! types require of their parameters is checked here, once:
//!
//! - a text of the layout algebra is one that `cute-layout` reads; a composed layout does something
//!   that its outer layout does not (`text.rs`);
//! - a swizzle's pointer is aligned to 2^(B+M+S) bytes where shared memory is allocated
//!   ([`MemRef::check_allocation`]); alignments are powers of two and at least the element's size;
//! - tensors in memory have whole-byte elements (`memref.rs`);
//! - a TMA atom's box is one that a tensor map can have, of as many bits as it says (`tma.rs`);
//! - a tiled copy's atom is a copy atom, a tiled MMA's an MMA atom, and the tables of
//!   `cute-layout` accept the combination (`atoms.rs`).

mod atoms;
mod generic;
mod kind;
mod make;
mod memref;
mod text;
mod tma;

pub(crate) use atoms::describe_fields;
pub use atoms::{
    CopyOp, Field, copy_atom_type, copy_row, elem, mma_row, tiled_copy, tiled_mma, tiled_threads,
};
pub use make::{
    any_type, arith_tuple_iter_type, composed_type, coord_tensor_type, coord_type, int_tuple_type,
    int_type, layout_type, mma_type, pipeline_type, shape_type, smem_desc_type, tile_type,
    tiled_copy_type, tiled_mma_type, token_type, value_type,
};

pub use crate::mlir::{element_bits, int_width, is_float, register_type, same_bits};
pub(crate) use generic::{Values, names_in_type, with_values};
pub use memref::{MemRef, Space};
pub(crate) use text::{
    canonical_expression, canonicalize, check_param, comparison, evaluate, is_type, names_in,
};
pub use tma::tma_type;

use crate::mlir::{self, Parts, Val};
use cute_layout::{
    ComposedLayout, Dyn, IntTuple, Kind as TupleKind, Layout, Leaf, Swizzle, Tile,
    atoms::{Completion, CopyAtom, MmaAtom},
    ops::Value,
    tma::TmaBox,
};
use kind::Kind;
use melior::ir::{Type, ValueLike};
use std::sync::Arc;
use text::{parse_composed, parse_layout, parse_memref_layout, parse_swizzle, parse_tile, tuple};

/// The most buffers of a ring, and the most stages of a schedule: no multiprocessor holds as many tiles.
pub const MOST_STAGES: i64 = 1 << 10;

/// A type of the dialects, taken apart and checked.
#[derive(Clone, Debug)]
pub enum CuteType<'c> {
    /// `!cute.int_tuple`
    IntTuple(IntTuple),
    /// `!cute.shape`
    Shape(IntTuple),
    /// `!cute.stride`
    Stride(IntTuple),
    /// `!cute.coord`
    Coord(IntTuple),
    /// `!cute.layout`
    Layout(Layout),
    /// `!cute.tile`
    Tile(Tile),
    /// `!cute.swizzle`
    Swizzle(Swizzle),
    /// `!cute.composed_layout`
    ComposedLayout(ComposedLayout),
    /// `!cute.ptr`
    Ptr(MemRef<'c>),
    /// `!cute.memref`
    MemRef(MemRef<'c>),
    /// `!cute.tiled_copy`
    TiledCopy {
        /// The type of the atom.
        atom: Type<'c>,
        /// The layout from (thread, value) to the index in the tile.
        tv: Layout,
        /// The tile that is copied at once, along each mode.
        tiler: Tile,
    },
    /// `!cute.tiled_mma`
    TiledMma {
        /// The type of the atom.
        atom: Type<'c>,
        /// The layout of the atoms along M, N and K.
        atoms: Layout,
        /// The permutation of M, N and K.
        permutation: Tile,
    },
    /// `!cute.pipeline`
    Pipeline {
        /// The places of its ring.
        stages: i64,
        /// The completion of what fills it.
        completion: Completion,
    },
    /// `!cute.token`
    Token,
    /// A type that is not known yet: `!cute.any`, which each call of a function gives, `!cute.param`, and all that name parameters.
    Any,
    /// An integer of `width` bits that `divisor` is known to divide.
    Divisible {
        /// The bits of the integer.
        width: i64,
        /// A divisor of the integer.
        divisor: i64,
    },
    /// A tensor of coordinates: the element at `c` is `start + layout(c)`.
    CoordTensor {
        /// The coordinate of the first element.
        start: IntTuple,
        /// The layout, with basis elements as strides.
        layout: Layout,
    },
    /// The start of a coordinate tensor.
    ArithTupleIter(IntTuple),
    /// A copy atom of any instruction.
    CopyAtom {
        /// The type of the values that it copies.
        value: Type<'c>,
        /// The instruction, for its lowering.
        op: CopyOp,
        /// The row of its table, for everybody else.
        atom: Arc<CopyAtom>,
    },
    /// An MMA atom of any instruction.
    MmaAtom {
        /// The type of the elements of A.
        a: Type<'c>,
        /// The type of the elements of B.
        b: Type<'c>,
        /// The type of the accumulators.
        acc: Type<'c>,
        /// The row of its table.
        atom: Arc<MmaAtom>,
    },
    /// `!cute_nvgpu.atom.tma_load`, `!cute_nvgpu.atom.im2col_tma_load` and `!cute_nvgpu.atom.tma_store`
    Tma {
        /// The type of the elements.
        value: Type<'c>,
        /// The box of the tensor map.
        map: Arc<TmaBox>,
        /// True where it stores.
        stores: bool,
    },
    /// `!cute_nvgpu.atom.non_exec_tiled_tma_load` and its like, and the atoms that `cute_nvgpu.atom.make_exec_tma` makes of them
    TensorMap {
        /// The type of the elements.
        value: Type<'c>,
        /// The box, without its swizzle.
        map: Arc<TmaBox>,
        /// True where it stores.
        stores: bool,
    },
}

impl<'c> CuteType<'c> {
    /// Reads what `ty` says; nothing where it is not a type of these dialects. A type is read once in its context.
    ///
    /// Panics where a text cannot be read, which [`CuteType::verify`] has ruled out; the boundary to MLIR makes an error of it.
    pub fn of(ty: Type<'c>) -> Option<Self> {
        mlir::read(ty).cloned()
    }

    /// Reads `ty` as [`CuteType::of`] does, for as long as the context lives.
    pub fn get(ty: Type<'c>) -> Option<&'c Self> {
        mlir::read(ty)
    }

    pub(crate) fn from_parts(parts: &Parts<'c, '_>) -> Result<Self, String> {
        let kind = parts.kind;
        let text = |i: usize| Ok::<_, String>(parts.texts[i]);
        let ty = |i: usize| parts.types[i];
        let int = |i: usize| parts.ints[i];
        // It has itself as its part.
        if kind == Kind::SmemDesc {
            return Ok(Self::Ptr(MemRef::descriptors(ty(0), parse_layout("1:0")?)));
        }
        if generic::is_open(parts)? {
            return Ok(Self::Any);
        }
        Ok(match kind {
            Kind::IntTuple => Self::IntTuple(tuple(text(0)?, TupleKind::IntTuple)?),
            Kind::Shape => Self::Shape(tuple(text(0)?, TupleKind::Shape)?),
            Kind::Stride => Self::Stride(tuple(text(0)?, TupleKind::Stride)?),
            Kind::Coord => Self::Coord(tuple(text(0)?, TupleKind::Coord)?),
            Kind::Layout => Self::Layout(parse_layout(text(0)?)?),
            Kind::Tile => Self::Tile(parse_tile(text(0)?)?),
            Kind::Swizzle => Self::Swizzle(parse_swizzle(text(0)?)?),
            Kind::ComposedLayout => Self::ComposedLayout(parse_composed(text(0)?)?),
            Kind::Ptr | Kind::MemRef => {
                let swizzle = text(1)?;
                let (inner, layout) = match kind {
                    Kind::Ptr => (None, parse_layout("1:0")?),
                    _ => parse_memref_layout(text(2)?)?,
                };
                let memref = MemRef {
                    element: ty(0),
                    space: text(0)?.parse::<Space>()?,
                    align: int(0),
                    swizzle: if swizzle.is_empty() {
                        None
                    } else {
                        Some(parse_swizzle(swizzle)?)
                    },
                    layout,
                    inner,
                };
                if kind == Kind::Ptr {
                    Self::Ptr(memref)
                } else {
                    Self::MemRef(memref)
                }
            }
            Kind::TiledCopy => Self::TiledCopy {
                atom: ty(0),
                tv: parse_layout(text(0)?)?,
                tiler: parse_tile(text(1)?)?,
            },
            Kind::TiledMma => Self::TiledMma {
                atom: ty(0),
                atoms: parse_layout(text(0)?)?,
                permutation: match text(1)? {
                    "" => Tile::Underscore,
                    tile => parse_tile(tile)?,
                },
            },
            Kind::Pipeline => Self::Pipeline {
                stages: int(0),
                completion: completion_of(text(0)?)?,
            },
            Kind::Token => Self::Token,
            Kind::DivisibleI32 | Kind::DivisibleI64 => Self::Divisible {
                width: if kind == Kind::DivisibleI32 { 32 } else { 64 },
                divisor: int(0),
            },
            Kind::CoordTensor => Self::CoordTensor {
                start: tuple(text(0)?, TupleKind::IntTuple)?,
                layout: parse_layout(text(1)?)?,
            },
            Kind::ArithTupleIter => Self::ArithTupleIter(tuple(text(0)?, TupleKind::IntTuple)?),
            Kind::SmemDescView => match Self::of(ty(0)) {
                Some(Self::Ptr(of)) if of.space == Space::Descriptors => {
                    Self::MemRef(MemRef::descriptors(ty(0), parse_layout(text(0)?)?))
                }
                _ => {
                    return Err(format!(
                        "expected descriptors, !cute_nvgpu.smem_desc, found {}",
                        ty(0)
                    ));
                }
            },
            Kind::TmaLoad
            | Kind::TmaStore
            | Kind::Im2colTmaLoad
            | Kind::NonExecTmaLoad
            | Kind::NonExecTmaStore => tma::from_parts(parts)?,
            // What is left are the atoms, which know their kinds.
            _ => atoms::from_parts(parts)?,
        })
    }

    pub(crate) fn verify(&self) -> Result<(), String> {
        match self {
            Self::Ptr(memref) | Self::MemRef(memref) => memref.verify(),
            Self::TiledCopy { .. } => tiled_copy(self).map(|_| ()),
            Self::TiledMma { .. } => tiled_mma(self).map(|_| ()),
            Self::Pipeline { stages, .. } if !(1..=MOST_STAGES).contains(stages) => Err(format!(
                "expected 1 to {MOST_STAGES} stages, found {stages}"
            )),
            Self::CoordTensor { start, layout } => verify_coordinates(start, layout),
            Self::Divisible { divisor, .. } if *divisor < 1 => {
                Err(format!("expected a divisor of at least 1, found {divisor}"))
            }
            _ => Ok(()),
        }
    }

    /// The layout of a tensor.
    pub fn tensor_layout(&self) -> Option<&Layout> {
        match self {
            Self::MemRef(memref) => Some(&memref.layout),
            Self::CoordTensor { layout, .. } => Some(layout),
            _ => None,
        }
    }

    /// The tensor in memory, where it is one.
    pub fn memref(&self) -> Option<&MemRef<'c>> {
        match self {
            Self::MemRef(memref) => Some(memref),
            _ => None,
        }
    }

    /// The value of the layout algebra that a value of this type holds, with a dynamic leaf where
    /// the type does not say it; nothing for tensors, atoms and the like.
    pub fn value(&self) -> Option<Value> {
        Some(match self {
            Self::IntTuple(tuple) => Value::IntTuple(tuple.clone()),
            Self::Shape(shape) => Value::Shape(shape.clone()),
            Self::Stride(stride) => Value::Stride(stride.clone()),
            Self::Coord(coord) => Value::Coord(coord.clone()),
            Self::Layout(layout) => Value::Layout(layout.clone()),
            Self::Tile(tile) => Value::Tile(tile.clone()),
            Self::Swizzle(swizzle) => Value::Swizzle(*swizzle),
            Self::ComposedLayout(composed) => Value::ComposedLayout(composed.clone()),
            Self::Divisible { width, divisor } => Value::Scalar(Leaf::Dynamic(Dyn::new(
                if *width == 64 { 64 } else { 32 },
                *divisor,
            ))),
            _ => return None,
        })
    }
}

/// The coordinate of a `#cute.coord<"...">`.
pub(crate) fn coord_of_attribute(attribute: melior::ir::Attribute) -> Option<IntTuple> {
    let text = attribute.to_string();
    let text = text
        .strip_prefix("#cute.coord<\"")?
        .strip_suffix("\">")?
        .to_owned();
    tuple(&text, TupleKind::Coord).ok()
}

/// A coordinate tensor's elements are coordinates of the form of its start.
fn verify_coordinates(start: &IntTuple, layout: &Layout) -> Result<(), String> {
    let origin = cute_layout::int(0);
    let within = layout
        .eval(&origin)
        .and_then(|offset| start.add(&offset).map(|sum| (offset, sum)));
    match within {
        Ok((offset, sum))
            if sum.rank() == start.rank() && start.is_tuple() >= offset.is_tuple() =>
        {
            Ok(())
        }
        Ok(_) | Err(_) => Err(format!(
            "expected a start with a number for each coordinate that the layout {layout} gives, found {start}"
        )),
    }
}

/// Reads how a thread knows that it has filled a buffer of a pipeline, from the text of a type.
fn completion_of(name: &str) -> Result<Completion, String> {
    match name {
        "" => Ok(Completion::Group),
        "immediate" => Ok(Completion::Immediate),
        "mbarrier" => Ok(Completion::Mbarrier),
        _ => Err(format!(
            "expected a pipeline of `immediate` or `mbarrier` completion, or nothing for groups of asynchronous copies, found {name}"
        )),
    }
}

/// The text that [`completion_of`] reads.
fn completion_name(completion: Completion) -> &'static str {
    match completion {
        Completion::Group => "",
        Completion::Immediate => "immediate",
        Completion::Mbarrier => "mbarrier",
        // No pipeline is made of these.
        Completion::BulkGroup => "bulk",
    }
}

/// The type of a value as a tensor.
pub fn memref_of<'c>(value: Val<'c>) -> Option<MemRef<'c>> {
    match CuteType::of(value.r#type()) {
        Some(CuteType::MemRef(memref)) => Some(memref),
        _ => None,
    }
}
