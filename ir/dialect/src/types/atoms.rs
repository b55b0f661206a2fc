//! The atoms of `cute_nvgpu`, and what is tiled over them, as `cute-layout` knows them.

use super::{
    CuteType,
    kind::{Kind, family},
    make::parts,
};
use crate::{
    diag::Failure,
    mlir::{Parts, element_bits, type_of},
};
use cute_layout::{
    atoms::{BitOp, CopyAtom, Elem, Family, FragKind, Major, MmaAtom, MmaSpec, Scale},
    tiled::{TiledCopy, TiledMma},
};
use melior::ir::{Location, Type};
use std::sync::Arc;

/// An atom that copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CopyOp {
    /// Each thread loads and stores `bits` bits.
    Universal {
        /// The bits of an access.
        bits: i64,
    },
    /// Each thread loads and stores as much at once as both sides allow.
    Auto,
    /// cp.async; `global` bypasses L1 (`.cg`).
    SimtAsync {
        /// True where L1 is bypassed.
        global: bool,
        /// The bits that a thread copies: 32, 64 or 128.
        bits: i64,
    },
    /// ldmatrix.
    Ldsm {
        /// The number of 8x8 matrices: 1, 2 or 4.
        matrices: i64,
        /// True where matrices are transposed.
        transpose: bool,
    },
    /// stmatrix.
    Stsm {
        /// The number of 8x8 matrices: 1, 2 or 4.
        matrices: i64,
        /// True where matrices are transposed.
        transpose: bool,
    },
    /// movmatrix.
    Movm,
    /// red.global.add of `bits` bits.
    Red {
        /// The bits that a thread adds: of one element, or of a vector.
        bits: i64,
    },
}

/// A part of an atom's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// `#cute_nvgpu.attribute<name>`
    pub attribute: &'static str,
    /// The name within the attribute.
    pub name: &'static str,
    /// The type of its value.
    pub ty: &'static str,
}

impl CuteType<'_> {
    /// The parts of the state of an atom, or of what is tiled over one; none for other types.
    pub fn fields(&self) -> &'static [Field] {
        match self {
            Self::CopyAtom {
                op: CopyOp::Universal { .. } | CopyOp::Auto,
                ..
            } => &[Field {
                attribute: "atom_copy_field_universal",
                name: "cache_policy",
                ty: "i64",
            }],
            Self::CopyAtom {
                op: CopyOp::SimtAsync { .. },
                ..
            } => &[Field {
                attribute: "atom_copy_field_simt_async",
                name: "cache_policy",
                ty: "i64",
            }],
            Self::MmaAtom { atom, .. } if atom.family == Family::Sm90 => &[Field {
                attribute: "atom_mma_field_sm90",
                name: "accum_c",
                ty: "i1",
            }],
            Self::TiledCopy { atom, .. } | Self::TiledMma { atom, .. } => {
                CuteType::of(*atom).map_or(&[], |atom| atom.fields())
            }
            _ => &[],
        }
    }
}

/// The element type of the atoms' tables.
pub fn elem(ty: Type) -> Result<Elem, String> {
    let name = ty.to_string();
    Elem::named(&name).ok_or_else(|| format!("no atom knows the element type {name}"))
}

/// One word of two.
fn choice<T>(what: &str, found: &str, [a, b]: [(&str, T); 2]) -> Result<T, String> {
    if found == a.0 {
        Ok(a.1)
    } else if found == b.0 {
        Ok(b.1)
    } else {
        Err(format!(
            "expected {what}{} or {}, found '{found}'",
            a.0, b.0
        ))
    }
}

fn transposed(found: &str) -> Result<bool, String> {
    choice("", found, [("n", false), ("t", true)])
}

fn check_mode(found: &str) -> Result<(), String> {
    if found == "(8,8)" {
        return Ok(());
    }
    Err(format!(
        "expected mode = <\"(8,8)\">, found mode = <\"{found}\">"
    ))
}

/// A copy atom of these parts.
/// The values of `l1_cache_eviction_priority` (PTX ISA, ld: `.level::eviction_priority` of L1).
const EVICTIONS: [&str; 6] = [
    "",
    "evict_normal",
    "evict_first",
    "evict_last",
    "evict_unchanged",
    "no_allocate",
];

/// A copy atom's type.
pub fn copy_atom_type<'c>(
    location: Location<'c>,
    value: Type<'c>,
    op: CopyOp,
) -> Result<Type<'c>, Failure> {
    let turned = |transpose| if transpose { "t" } else { "n" };
    let value = &[value];
    let parts = match op {
        CopyOp::Universal { bits } => parts(Kind::UniversalCopy, value, &[""], &[bits]),
        CopyOp::Auto => parts(Kind::UniversalCopy, value, &[""], &[0]),
        CopyOp::SimtAsync { global, bits } => {
            let cache = if global { "global" } else { "always" };
            parts(Kind::SimtAsyncCopy, value, &[cache], &[bits])
        }
        CopyOp::Ldsm {
            matrices,
            transpose,
        } => {
            let texts = ["(8,8)", "u16", turned(transpose)];
            parts(Kind::Ldsm, value, &texts, &[matrices])
        }
        CopyOp::Stsm {
            matrices,
            transpose,
        } => parts(
            Kind::Stsm,
            value,
            &["(8,8)", turned(transpose)],
            &[matrices],
        ),
        CopyOp::Movm => parts(Kind::Movm, value, &["(8,8)", "t"], &[1]),
        CopyOp::Red { bits } => parts(Kind::Red, value, &["add"], &[bits]),
    };
    type_of(location, &parts)
}

/// The atom of these parts. Errors: parts that no atom has.
pub(super) fn from_parts<'c>(parts: &Parts<'c, '_>) -> Result<CuteType<'c>, String> {
    match family(parts.kind) {
        Some(family) => mma_from_parts(family, parts),
        None => copy_from_parts(parts),
    }
}

fn copy_from_parts<'c>(parts: &Parts<'c, '_>) -> Result<CuteType<'c>, String> {
    let kind = parts.kind;
    let text = |i: usize| Ok::<_, String>(parts.texts[i]);
    let number = parts.ints[0];
    let op = match kind {
        Kind::UniversalCopy if !EVICTIONS.contains(&text(0)?) => {
            return Err(format!(
                "expected l1_cache_eviction_priority to be one of {}, found {}",
                EVICTIONS[1..].join(", "),
                text(0)?
            ));
        }
        Kind::UniversalCopy if number == 0 => CopyOp::Auto,
        Kind::UniversalCopy => CopyOp::Universal { bits: number },
        Kind::SimtAsyncCopy => CopyOp::SimtAsync {
            global: choice("cache = ", text(0)?, [("always", false), ("global", true)])?,
            bits: number,
        },
        Kind::Ldsm => {
            let transpose = transposed(text(2)?)?;
            if text(0)? != "(8,8)" || text(1)? != "u16" {
                return Err(format!(
                    "expected mode = <\"(8,8)\">, sz_pattern = u16, found mode = <\"{}\">, \
                     sz_pattern = {}",
                    text(0)?,
                    text(1)?
                ));
            }
            CopyOp::Ldsm {
                matrices: number,
                transpose,
            }
        }
        Kind::Stsm => {
            check_mode(text(0)?)?;
            CopyOp::Stsm {
                matrices: number,
                transpose: transposed(text(1)?)?,
            }
        }
        Kind::Red if text(0)? != "add" => {
            return Err(format!("expected the reduction add, found {}", text(0)?));
        }
        Kind::Red => CopyOp::Red { bits: number },
        Kind::Movm => {
            check_mode(text(0)?)?;
            if !transposed(text(1)?)? {
                return Err(
                    "expected t, as movmatrix transposes; to keep a matrix as it is takes no copy"
                        .to_owned(),
                );
            }
            if number != 1 {
                return Err(format!(
                    "expected num_matrices = 1, as movmatrix has no more, found {number}; repeat the atom"
                ));
            }
            CopyOp::Movm
        }
        _ => return Err(format!("expected an atom of cute_nvgpu, found a {kind:?}")),
    };
    let value = parts.types[0];
    let atom = Arc::new(row_of(value, op)?);
    Ok(CuteType::CopyAtom { value, op, atom })
}

fn majors(a: &str, b: &str) -> Result<[Major; 2], String> {
    let major = |found| choice("ab_major of ", found, [("k", Major::K), ("mn", Major::Mn)]);
    Ok([major(a)?, major(b)?])
}

/// Tells whether a sum of integers becomes the nearest number that fits.
fn saturates(text: &str) -> Result<bool, String> {
    match text {
        "" => Ok(false),
        found => choice(
            "int_overflow = ",
            found,
            [("wrapped", false), ("satfinite", true)],
        ),
    }
}

/// An MMA atom of these parts.
fn mma_from_parts<'c>(family: Family, parts: &Parts<'c, '_>) -> Result<CuteType<'c>, String> {
    let kind = parts.kind;
    let text = |i: usize| Ok::<_, String>(parts.texts[i]);
    let (a, b, acc) = (parts.types[0], parts.types[1], parts.types[2]);
    let types = [elem(a)?, elem(b)?, elem(acc)?, elem(acc)?];
    let shape = [parts.ints[0], parts.ints[1], parts.ints[2]];
    let mut op = MmaSpec::new(family, shape, types);
    match kind {
        Kind::Sm70Mma => op.majors = majors(text(0)?, text(1)?)?,
        Kind::Sm80Mma => {
            op.saturate = saturates(text(0)?)?;
            op.bit_op = match text(1)? {
                "" => None,
                found => Some(choice(
                    "binary_op = ",
                    found,
                    [("xor", BitOp::Xor), ("and", BitOp::And)],
                )?),
            };
        }
        Kind::Sm90Mma => {
            op.majors = majors(text(0)?, text(1)?)?;
            op.frag_kind = choice(
                "frag_kind = ",
                text(2)?,
                [("ss", FragKind::Ss), ("rs", FragKind::Rs)],
            )?;
            op.saturate = saturates(text(3)?)?;
            op.negated = match text(4)? {
                "" => [false; 2],
                "a" => [true, false],
                "b" => [false, true],
                "ab" => [true; 2],
                found => return Err(format!("expected neg = a, b or ab, found '{found}'")),
            };
        }
        Kind::Sm120MmaBs => {
            op.scale = Some(Scale {
                elem: elem(parts.types[3])?,
                vec: parts.ints[3],
            });
        }
        _ => {}
    }
    let atom = MmaAtom::of(&op).map_err(|e| e.to_string())?;
    Ok(CuteType::MmaAtom {
        a,
        b,
        acc,
        atom: Arc::new(atom),
    })
}

/// The row of a copy atom, or of the one that a tiled copy is over: what the instruction is, for whoever need not know its name.
pub fn copy_row(ty: Type<'_>) -> Option<Arc<CopyAtom>> {
    match CuteType::get(ty)? {
        CuteType::CopyAtom { atom, .. } => Some(Arc::clone(atom)),
        CuteType::TiledCopy { atom, .. } => copy_row(*atom),
        _ => None,
    }
}

/// The row of an MMA atom, or of the one that a tiled MMA is over.
pub fn mma_row(ty: Type<'_>) -> Option<Arc<MmaAtom>> {
    match CuteType::get(ty)? {
        CuteType::MmaAtom { atom, .. } => Some(Arc::clone(atom)),
        CuteType::TiledMma { atom, .. } => mma_row(*atom),
        _ => None,
    }
}

/// The row of an instruction for elements of this type. Errors: a combination that there is none for.
fn row_of(element: Type, op: CopyOp) -> Result<CopyAtom, String> {
    let value = element_bits(element)
        .ok_or_else(|| format!("expected an element type with a width, found {element}"))?;
    match op {
        CopyOp::Universal { bits } => CopyAtom::universal(bits, value),
        CopyOp::Auto => CopyAtom::auto_vectorizing(value),
        CopyOp::SimtAsync { global, bits } => {
            if global && bits != 128 {
                return Err(format!(
                    "cache = global copies 128 bits, found {bits}; write cache = always"
                ));
            }
            if bits % 8 != 0 {
                return Err(format!("cp.async copies 32, 64 or 128 bits, found {bits}"));
            }
            CopyAtom::cp_async(bits / 8, value)
        }
        CopyOp::Ldsm {
            matrices,
            transpose,
        } => CopyAtom::ldmatrix(matrices, transpose, value),
        CopyOp::Stsm {
            matrices,
            transpose,
        } => CopyAtom::stmatrix(matrices, transpose, value),
        CopyOp::Movm => CopyAtom::movmatrix(value),
        CopyOp::Red { bits } => match element.to_string().as_str() {
            "f32" | "f16" => CopyAtom::reduce_add(bits, value, false),
            "bf16" => CopyAtom::reduce_add(bits, value, true),
            other => return Err(format!("expected f32, f16 or bf16 to add, found {other}")),
        },
    }
    .map_err(|e| e.to_string())
}

/// The tiled copy that a type stands for.
pub fn tiled_copy(ty: &CuteType) -> Result<TiledCopy, String> {
    let CuteType::TiledCopy { atom, tv, tiler } = ty else {
        return Err("expected a tiled copy".to_owned());
    };
    let atom = match CuteType::get(*atom) {
        Some(CuteType::CopyAtom { atom, .. }) => Arc::clone(atom),
        _ => {
            return Err(format!(
                "expected a copy atom, such as !cute_nvgpu.atom.universal_copy, found {atom}"
            ));
        }
    };
    TiledCopy::new(atom, tv.clone(), tiler.clone()).map_err(|e| e.to_string())
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
    let atom = match CuteType::get(*atom) {
        Some(CuteType::MmaAtom { atom, .. }) => Arc::clone(atom),
        _ => {
            return Err(format!(
                "expected an MMA atom, such as !cute_nvgpu.sm80.mma, found {atom}"
            ));
        }
    };
    TiledMma::new(atom, atoms.clone(), permutation.clone()).map_err(|e| e.to_string())
}

/// The threads of a tiled copy or a tiled MMA.
pub fn tiled_threads(ty: Type) -> Option<i64> {
    let ty = CuteType::of(ty)?;
    match ty {
        CuteType::TiledCopy { .. } => tiled_copy(&ty).ok().map(|t| t.num_threads()),
        CuteType::TiledMma { .. } => tiled_mma(&ty).ok().map(|t| t.num_threads()),
        _ => None,
    }
}

/// The parts of a state, as they are written.
pub(crate) fn describe_fields(fields: &[Field]) -> String {
    if fields.is_empty() {
        return "of which this atom has none".to_owned();
    }
    let all: Vec<String> = fields
        .iter()
        .map(|field| format!("{} : {}", field.spelled(), field.ty))
        .collect();
    all.join(", ")
}

impl Field {
    /// The field as the attribute of that name is written.
    pub(crate) fn spelled(&self) -> String {
        format!("#cute_nvgpu.{}<{}>", self.attribute, self.name)
    }
}
