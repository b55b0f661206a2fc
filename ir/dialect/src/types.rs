//! The dialects' types as Rust values.
//!
//! A type holds the canonical text of what it means; [`CuteType`] is what that text says. What
//! types require of their parameters is checked here, once:
//!
//! - a swizzle's pointer is aligned to 2^(B+M+S) bytes where shared memory is allocated
//!   ([`MemRef::check_allocation`]); alignments are powers of two and at least the element's size;
//! - tensors in memory have whole-byte elements;
//! - a tiled copy's atom is a copy atom, a tiled MMA's an MMA atom, and the tables of
//!   `cute-layout` accept the combination.

use crate::ffi::{self, CuteTypeParts};
use cute_layout::{
    ComposedLayout, IntTuple, Kind as TupleKind, Layout, Swizzle, Tile,
    atoms::{CopyAtom, Elem, MmaAtom},
    tiled::{TiledCopy, TiledMma},
};
use melior::{
    Context,
    ir::{Location, Type, TypeLike, r#type::IntegerType},
};
use mlir_sys::*;
use std::{ffi::c_int, fmt};

/// The kinds of types, as the shim numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    IntTuple,
    Shape,
    Stride,
    Coord,
    Layout,
    Tile,
    Swizzle,
    ComposedLayout,
    Ptr,
    MemRef,
    TiledCopy,
    TiledMma,
    Pipeline,
    Token,
    UniversalCopy,
    SimtAsyncCopy,
    Ldsm,
    Sm80Mma,
}

const KINDS: [Kind; 18] = [
    Kind::IntTuple,
    Kind::Shape,
    Kind::Stride,
    Kind::Coord,
    Kind::Layout,
    Kind::Tile,
    Kind::Swizzle,
    Kind::ComposedLayout,
    Kind::Ptr,
    Kind::MemRef,
    Kind::TiledCopy,
    Kind::TiledMma,
    Kind::Pipeline,
    Kind::Token,
    Kind::UniversalCopy,
    Kind::SimtAsyncCopy,
    Kind::Ldsm,
    Kind::Sm80Mma,
];

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Gmem,
    /// Shared memory of a block.
    Smem,
    /// Registers.
    Rmem,
}

impl Space {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "gmem" => Ok(Self::Gmem),
            "smem" => Ok(Self::Smem),
            "rmem" => Ok(Self::Rmem),
            _ => Err(format!(
                "expected the memory space gmem, smem or rmem, found '{text}'"
            )),
        }
    }

    /// As it is written in types.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gmem => "gmem",
            Self::Smem => "smem",
            Self::Rmem => "rmem",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tensor's type; a pointer's too, with the layout `1:0`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemRef<'c> {
    pub element: Type<'c>,
    pub space: Space,
    /// In bytes; a power of two.
    pub align: i64,
    /// On byte addresses.
    pub swizzle: Option<Swizzle>,
    /// In elements.
    pub layout: Layout,
}

impl<'c> MemRef<'c> {
    /// The element's size in bytes.
    pub fn element_bytes(&self) -> i64 {
        (element_bits(self.element).unwrap_or(8) / 8).max(1)
    }

    /// Bytes from the first to the last element, both included.
    pub fn bytes(&self) -> Result<i64, String> {
        let elements = self.layout.cosize().map_err(|error| error.to_string())?;
        elements
            .checked_mul(self.element_bytes())
            .ok_or_else(|| format!("the layout {} spans more than 2^63 bytes", self.layout))
    }

    /// What an allocation must hold beyond what the type says: the alignment that the swizzle
    /// needs, so that it acts on offsets as it does on addresses.
    pub fn check_allocation(&self) -> Result<(), String> {
        if !self.layout.is_static() {
            return Err(format!(
                "expected a static layout to allocate, found {}",
                self.layout
            ));
        }
        if let Some(swizzle) = self.swizzle
            && self.align % swizzle.period() != 0
        {
            return Err(format!(
                "allocates a tensor swizzled by {swizzle} with an alignment of {} bytes; \
                 expected a multiple of {}: write align<{}>",
                self.align,
                swizzle.period(),
                swizzle.period()
            ));
        }
        Ok(())
    }

    /// The MLIR type, or nothing after a diagnostic at `location`.
    pub fn to_type(&self, location: Location<'c>) -> Option<Type<'c>> {
        let swizzle = self.swizzle.map(|s| s.to_string()).unwrap_or_default();
        let layout = self.layout.to_string();
        let mut parts = CuteTypeParts::empty(Kind::MemRef as c_int);
        parts.types[0] = self.element.to_raw();
        parts.texts[0] = ffi::string_ref(self.space.name());
        parts.texts[1] = ffi::string_ref(&swizzle);
        parts.texts[2] = ffi::string_ref(&layout);
        parts.ints[0] = self.align;
        get(location, &parts)
    }
}

/// An atom that copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CopyOp {
    /// Each thread loads and stores `bits` bits.
    Universal { bits: i64 },
    /// cp.async; `global` bypasses L1 (`.cg`).
    SimtAsync { global: bool, bits: i64 },
    /// ldmatrix.
    Ldsm { matrices: i64, transpose: bool },
}

/// A type of the dialects, taken apart and checked.
#[derive(Clone, Debug)]
pub enum CuteType<'c> {
    IntTuple(IntTuple),
    Shape(IntTuple),
    Stride(IntTuple),
    Coord(IntTuple),
    Layout(Layout),
    Tile(Tile),
    Swizzle(Swizzle),
    ComposedLayout(ComposedLayout),
    Ptr(MemRef<'c>),
    MemRef(MemRef<'c>),
    TiledCopy {
        atom: Type<'c>,
        tv: Layout,
        tiler: Tile,
    },
    TiledMma {
        atom: Type<'c>,
        atoms: Layout,
        permutation: Tile,
    },
    Pipeline {
        stages: i64,
    },
    Token,
    CopyAtom {
        value: Type<'c>,
        op: CopyOp,
    },
    MmaAtom {
        shape: [i64; 3],
        a: Type<'c>,
        b: Type<'c>,
        acc: Type<'c>,
    },
}

fn text_of<'a>(text: MlirStringRef) -> Result<&'a str, String> {
    std::str::from_utf8(unsafe { ffi::bytes(text) }).map_err(|e| format!("expected UTF-8: {e}"))
}

fn tuple(text: &str, kind: TupleKind) -> Result<IntTuple, String> {
    IntTuple::parse(text, kind).map_err(|e| e.to_string())
}

/// The canonical text of a value of the layout algebra.
pub(crate) fn canonicalize(kind: c_int, text: &str) -> Result<String, String> {
    let kind = *KINDS.get(kind as usize).ok_or("unknown kind of type")?;
    Ok(match kind {
        Kind::IntTuple => tuple(text, TupleKind::IntTuple)?.to_string(),
        Kind::Shape => tuple(text, TupleKind::Shape)?.to_string(),
        Kind::Stride => tuple(text, TupleKind::Stride)?.to_string(),
        Kind::Coord => tuple(text, TupleKind::Coord)?.to_string(),
        Kind::Layout => parse_layout(text)?.to_string(),
        Kind::Tile => parse_tile(text)?.to_string(),
        Kind::Swizzle => parse_swizzle(text)?.to_string(),
        Kind::ComposedLayout => ComposedLayout::parse(text)
            .map_err(|e| e.to_string())?
            .to_string(),
        _ => return Err("this type has no canonical text".to_owned()),
    })
}

fn parse_layout(text: &str) -> Result<Layout, String> {
    Layout::parse(text).map_err(|e| e.to_string())
}
fn parse_tile(text: &str) -> Result<Tile, String> {
    Tile::parse(text).map_err(|e| e.to_string())
}
fn parse_swizzle(text: &str) -> Result<Swizzle, String> {
    Swizzle::parse(text).map_err(|e| e.to_string())
}

impl<'c> CuteType<'c> {
    /// What `ty` says; nothing where it is not a type of these dialects.
    pub fn of(ty: Type<'c>) -> Option<Self> {
        let mut parts = CuteTypeParts::empty(0);
        if !unsafe { ffi::cuteTypeGetParts(ty.to_raw(), &mut parts) } {
            return None;
        }
        Self::from_parts(&parts).ok()
    }

    pub(crate) fn from_parts(parts: &CuteTypeParts) -> Result<Self, String> {
        let kind = *KINDS
            .get(parts.kind as usize)
            .ok_or("unknown kind of type")?;
        let text = |i: usize| text_of(parts.texts[i]);
        let ty = |i: usize| unsafe { Type::from_raw(parts.types[i]) };
        let int = |i: usize| parts.ints[i];
        Ok(match kind {
            Kind::IntTuple => Self::IntTuple(tuple(text(0)?, TupleKind::IntTuple)?),
            Kind::Shape => Self::Shape(tuple(text(0)?, TupleKind::Shape)?),
            Kind::Stride => Self::Stride(tuple(text(0)?, TupleKind::Stride)?),
            Kind::Coord => Self::Coord(tuple(text(0)?, TupleKind::Coord)?),
            Kind::Layout => Self::Layout(parse_layout(text(0)?)?),
            Kind::Tile => Self::Tile(parse_tile(text(0)?)?),
            Kind::Swizzle => Self::Swizzle(parse_swizzle(text(0)?)?),
            Kind::ComposedLayout => {
                Self::ComposedLayout(ComposedLayout::parse(text(0)?).map_err(|e| e.to_string())?)
            }
            Kind::Ptr | Kind::MemRef => {
                let swizzle = text(1)?;
                let memref = MemRef {
                    element: ty(0),
                    space: Space::parse(text(0)?)?,
                    align: int(0),
                    swizzle: if swizzle.is_empty() {
                        None
                    } else {
                        Some(parse_swizzle(swizzle)?)
                    },
                    layout: parse_layout(if kind == Kind::Ptr { "1:0" } else { text(2)? })?,
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
                permutation: parse_tile(text(1)?)?,
            },
            Kind::Pipeline => Self::Pipeline { stages: int(0) },
            Kind::Token => Self::Token,
            Kind::UniversalCopy => Self::CopyAtom {
                value: ty(0),
                op: CopyOp::Universal { bits: int(0) },
            },
            Kind::SimtAsyncCopy => {
                let global = match text(0)? {
                    "global" => true,
                    "always" => false,
                    other => {
                        return Err(format!(
                            "expected cache = always or global, found '{other}'"
                        ));
                    }
                };
                Self::CopyAtom {
                    value: ty(0),
                    op: CopyOp::SimtAsync {
                        global,
                        bits: int(0),
                    },
                }
            }
            Kind::Ldsm => {
                let transpose = match text(2)? {
                    "n" => false,
                    "t" => true,
                    other => return Err(format!("expected n or t, found '{other}'")),
                };
                if text(0)? != "(8,8)" || text(1)? != "u16" {
                    return Err(format!(
                        "expected mode = <\"(8,8)\">, sz_pattern = u16, found mode = <\"{}\">, \
                         sz_pattern = {}",
                        text(0)?,
                        text(1)?
                    ));
                }
                Self::CopyAtom {
                    value: ty(0),
                    op: CopyOp::Ldsm {
                        matrices: int(0),
                        transpose,
                    },
                }
            }
            Kind::Sm80Mma => Self::MmaAtom {
                shape: [int(0), int(1), int(2)],
                a: ty(0),
                b: ty(1),
                acc: ty(2),
            },
        })
    }

    pub(crate) fn verify(&self) -> Result<(), String> {
        match self {
            Self::Ptr(memref) | Self::MemRef(memref) => verify_memref(memref),
            Self::TiledCopy { .. } => tiled_copy(self).map(|_| ()),
            Self::TiledMma { .. } => tiled_mma(self).map(|_| ()),
            Self::Pipeline { stages } if *stages < 1 => {
                Err(format!("expected at least one stage, found {stages}"))
            }
            Self::CopyAtom { .. } => copy_atom(self).map(|_| ()),
            Self::MmaAtom { .. } => mma_atom(self).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// The tensor, where it is one.
    pub fn memref(&self) -> Option<&MemRef<'c>> {
        match self {
            Self::MemRef(memref) => Some(memref),
            _ => None,
        }
    }
}

fn verify_memref(memref: &MemRef) -> Result<(), String> {
    let Some(bits) = element_bits(memref.element) else {
        return Err(format!(
            "expected an integer or floating-point element type, found {}",
            memref.element
        ));
    };
    if bits % 8 != 0 && memref.space != Space::Rmem {
        return Err(format!(
            "expected elements of whole bytes in memory, found {}",
            memref.element
        ));
    }
    let align = memref.align;
    if align < 1 || align & (align - 1) != 0 {
        return Err(format!(
            "expected an alignment that is a power of two, found {align}"
        ));
    }
    if align % memref.element_bytes() != 0 {
        return Err(format!(
            "expected an alignment of at least the element's {} bytes, found {align}",
            memref.element_bytes()
        ));
    }
    if memref.swizzle.is_some() && memref.space != Space::Smem {
        return Err(format!(
            "expected a swizzle only on tensors in smem, found one in {}",
            memref.space
        ));
    }
    Ok(())
}

/// The width of an integer or floating-point type in bits.
pub fn element_bits(ty: Type) -> Option<i64> {
    unsafe {
        let raw = ty.to_raw();
        if mlirTypeIsAInteger(raw) {
            Some(mlirIntegerTypeGetWidth(raw).into())
        } else if mlirTypeIsAFloat(raw) {
            Some(mlirFloatTypeGetWidth(raw).into())
        } else {
            None
        }
    }
}

/// Whether it is a floating-point type.
pub fn is_float(ty: Type) -> bool {
    unsafe { mlirTypeIsAFloat(ty.to_raw()) }
}

/// The element type of the atoms' tables.
pub fn elem(ty: Type) -> Result<Elem, String> {
    Ok(match ty.to_string().as_str() {
        "f16" => Elem::F16,
        "bf16" => Elem::BF16,
        "tf32" => Elem::TF32,
        "f32" => Elem::F32,
        "f64" => Elem::F64,
        "f8E4M3FN" => Elem::F8E4M3,
        "f8E5M2" => Elem::F8E5M2,
        "i8" => Elem::I8,
        "i32" => Elem::I32,
        name => return Err(format!("no atom knows the element type {name}")),
    })
}

/// The copy atom that a type stands for.
pub fn copy_atom(ty: &CuteType) -> Result<CopyAtom, String> {
    let CuteType::CopyAtom { value, op } = ty else {
        return Err("expected a copy atom, such as !cute_nvgpu.atom.universal_copy".to_owned());
    };
    let value = element_bits(*value)
        .ok_or_else(|| format!("expected an element type with a width, found {value}"))?;
    match *op {
        CopyOp::Universal { bits } => CopyAtom::universal(bits, value),
        CopyOp::SimtAsync { global, bits } => {
            if global && bits != 128 {
                return Err(format!(
                    "cache = global copies 128 bits, found {bits}; write cache = always"
                ));
            }
            CopyAtom::cp_async(bits / 8, value)
        }
        CopyOp::Ldsm {
            matrices,
            transpose,
        } => CopyAtom::ldmatrix(matrices, transpose, value),
    }
    .map_err(|e| e.to_string())
}

/// The MMA atom that a type stands for.
pub fn mma_atom(ty: &CuteType) -> Result<MmaAtom, String> {
    let CuteType::MmaAtom { shape, a, b, acc } = ty else {
        return Err("expected an MMA atom, such as !cute_nvgpu.sm80.mma".to_owned());
    };
    let (a, b, acc) = (elem(*a)?, elem(*b)?, elem(*acc)?);
    MmaAtom::find(*shape, a, b, acc, acc).map_err(|e| e.to_string())
}

/// The tiled copy that a type stands for.
pub fn tiled_copy(ty: &CuteType) -> Result<TiledCopy, String> {
    let CuteType::TiledCopy { atom, tv, tiler } = ty else {
        return Err("expected a tiled copy".to_owned());
    };
    let atom = CuteType::of(*atom).ok_or_else(|| not_an_atom(*atom))?;
    TiledCopy::new(copy_atom(&atom)?, tv.clone(), tiler.clone()).map_err(|e| e.to_string())
}

/// The tiled MMA that a type stands for.
pub fn tiled_mma(ty: &CuteType) -> Result<TiledMma, String> {
    let CuteType::TiledMma {
        atom,
        atoms,
        permutation,
    } = ty
    else {
        return Err("expected a tiled MMA".to_owned());
    };
    let atom = CuteType::of(*atom).ok_or_else(|| not_an_atom(*atom))?;
    TiledMma::new(mma_atom(&atom)?, atoms.clone(), permutation.clone()).map_err(|e| e.to_string())
}

fn not_an_atom(ty: Type) -> String {
    format!("expected an atom of cute_nvgpu, found {ty}")
}

//===-- Construction ------------------------------------------------------===//

fn get<'c>(location: Location<'c>, parts: &CuteTypeParts) -> Option<Type<'c>> {
    unsafe { Type::from_option_raw(ffi::cuteTypeGet(location.to_raw(), parts)) }
}

fn text_type<'c>(context: &'c Context, kind: Kind, text: &str) -> Type<'c> {
    let mut parts = CuteTypeParts::empty(kind as c_int);
    parts.texts[0] = ffi::string_ref(text);
    get(Location::unknown(context), &parts).expect("a text type has nothing to verify")
}

/// `!cute.coord<...>`
pub fn coord_type<'c>(context: &'c Context, coord: &IntTuple) -> Type<'c> {
    text_type(context, Kind::Coord, &coord.to_string())
}
/// `!cute.int_tuple<...>`
pub fn int_tuple_type<'c>(context: &'c Context, tuple: &IntTuple) -> Type<'c> {
    text_type(context, Kind::IntTuple, &tuple.to_string())
}
/// `!cute.shape<...>`
pub fn shape_type<'c>(context: &'c Context, shape: &IntTuple) -> Type<'c> {
    text_type(context, Kind::Shape, &shape.to_string())
}
/// `!cute.layout<...>`
pub fn layout_type<'c>(context: &'c Context, layout: &Layout) -> Type<'c> {
    text_type(context, Kind::Layout, &layout.to_string())
}
/// `!cute.tile<...>`
pub fn tile_type<'c>(context: &'c Context, tile: &Tile) -> Type<'c> {
    text_type(context, Kind::Tile, &tile.to_string())
}
/// `!cute.token`
pub fn token_type(context: &Context) -> Type<'_> {
    get(
        Location::unknown(context),
        &CuteTypeParts::empty(Kind::Token as c_int),
    )
    .expect("a token has nothing to verify")
}
/// `!cute.pipeline<N>`
pub fn pipeline_type<'c>(location: Location<'c>, stages: i64) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(Kind::Pipeline as c_int);
    parts.ints[0] = stages;
    get(location, &parts)
}
/// A copy atom's type.
pub fn copy_atom_type<'c>(location: Location<'c>, value: Type<'c>, op: CopyOp) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(0);
    parts.types[0] = value.to_raw();
    match op {
        CopyOp::Universal { bits } => {
            parts.kind = Kind::UniversalCopy as c_int;
            parts.ints[0] = bits;
        }
        CopyOp::SimtAsync { global, bits } => {
            parts.kind = Kind::SimtAsyncCopy as c_int;
            parts.texts[0] = ffi::string_ref(if global { "global" } else { "always" });
            parts.ints[0] = bits;
        }
        CopyOp::Ldsm {
            matrices,
            transpose,
        } => {
            parts.kind = Kind::Ldsm as c_int;
            parts.texts[0] = ffi::string_ref("(8,8)");
            parts.texts[1] = ffi::string_ref("u16");
            parts.texts[2] = ffi::string_ref(if transpose { "t" } else { "n" });
            parts.ints[0] = matrices;
        }
    }
    get(location, &parts)
}
/// `!cute_nvgpu.sm80.mma<...>`
pub fn sm80_mma_type<'c>(
    location: Location<'c>,
    shape: [i64; 3],
    a: Type<'c>,
    b: Type<'c>,
    acc: Type<'c>,
) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(Kind::Sm80Mma as c_int);
    parts.types[..3].copy_from_slice(&[a.to_raw(), b.to_raw(), acc.to_raw()]);
    parts.ints[..3].copy_from_slice(&shape);
    get(location, &parts)
}
/// `!cute.tiled_copy<...>` over the atom type `atom`.
pub fn tiled_copy_type<'c>(
    location: Location<'c>,
    atom: Type<'c>,
    tv: &Layout,
    tiler: &Tile,
) -> Option<Type<'c>> {
    tiled_type(
        location,
        Kind::TiledCopy,
        atom,
        &tv.to_string(),
        &tiler.to_string(),
    )
}
/// `!cute.tiled_mma<...>` over the atom type `atom`.
pub fn tiled_mma_type<'c>(
    location: Location<'c>,
    atom: Type<'c>,
    atoms: &Layout,
    permutation: &Tile,
) -> Option<Type<'c>> {
    tiled_type(
        location,
        Kind::TiledMma,
        atom,
        &atoms.to_string(),
        &permutation.to_string(),
    )
}

fn tiled_type<'c>(
    location: Location<'c>,
    kind: Kind,
    atom: Type<'c>,
    first: &str,
    second: &str,
) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(kind as c_int);
    parts.types[0] = atom.to_raw();
    parts.texts[0] = ffi::string_ref(first);
    parts.texts[1] = ffi::string_ref(second);
    get(location, &parts)
}

/// A signless integer type.
pub fn int_type(context: &Context, width: u32) -> Type<'_> {
    IntegerType::new(context, width).into()
}
