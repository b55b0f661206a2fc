//! The atoms of `cute_nvgpu`, and what is tiled over them, as `cute-layout` knows them.

use super::{CuteType, memref::element_bits};
use cute_layout::{
    atoms::{CopyAtom, Elem, MmaAtom},
    tiled::{TiledCopy, TiledMma},
};
use melior::ir::Type;

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
