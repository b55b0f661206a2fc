//! The computations of instructions that touch nothing but registers.
//!
//! [`lookup`] reads an opcode and its modifiers once, when a kernel is decoded, and gives functions on whole
//! rows: 32 lanes at a time, in loops that the compiler vectorises. They compute all lanes, whatever inactive
//! ones hold, so none can fail: each value gives a result. Source: PTX ISA 9.0, the instruction's section; modifiers must stand
//! in its order.
//!
//! Where PTX leaves the result open, it is what an H200 was seen to give:
//! - Integer division by zero, and the remainder, are all ones, of all widths.
//! - A NaN is the GPU's: `0x7fffffff`, `0x7fff` for `f16` and `bf16`. In `f64` it is that of an operand (b first, then c, then a;
//!   of a quotient, the dividend first) made quiet, or else `0xfff8000000000000`.
//! - `.ftz` takes a result for tiny by what it is once it is rounded to the format's full precision.
//! - `.approx` and `.full` are correctly rounded, or within a little of it; a GPU is as far from that as
//!   the PTX ISA bounds it, so the last bits differ.

mod bits;
mod carry;
mod compare;
mod convert;
mod float;
mod integer;
mod logic;
mod mods;
mod packed;
mod packed_float;
mod round;
mod scalar;
mod video;
mod wide;

pub use convert::How;
pub(super) use mods::Mods;
pub(super) use round::{Format, Mode, bf16_to_f32, f16_to_f64, from_bits, narrow};
pub(super) use video::{Comparison, Operation, Part, Then, Video};

use crate::emulator::address::RANK_BITS;
use crate::emulator::{Mask, Row};
use crate::ptx::Type;

/// The computation of an instruction.
#[derive(Clone, Debug)]
pub struct Alu {
    /// The function.
    pub kind: Kind,
    /// The type that each source operand is read as. Packed 8-bit floats count as [`Type::B16`].
    pub sources: Vec<Type>,
    /// The type of the result; [`Type::Pred`] for a predicate.
    pub result: Option<Type>,
}

/// The function behind an instruction. Rows of operands that it does not have may hold anything; higher bits
/// than a source's type has are not looked at; results are zero-extended from the result's type.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// d = f(a, b, c)
    Value(fn(&mut Row, &Row, &Row, &Row)),
    /// d = f(a, b, c, e)
    Value4(fn(&mut Row, &Row, &Row, &Row, &Row)),
    /// d = f(a), of types and modifiers that are passed
    Convert(fn(&mut Row, &Row, How), How),
    /// `selp`: d = f(a, b, c), where c is a predicate.
    Select(fn(&mut Row, &Row, &Row, Mask)),
    /// `setp` and `testp`: with t = f(a, b), `p` is t and `q` is not t; each combined with a predicate c
    /// where there is one.
    Test {
        test: fn(&Row, &Row) -> Mask,
        combine: Option<Combine>,
    },
    /// `setp` of packed types: `p` is the test of the lower halves, `q` of the upper ones.
    TestPair {
        test: fn(&Row, &Row) -> [Mask; 2],
        combine: Option<Combine>,
    },
    /// `set`: `yes` in lanes where the test, combined with c where there is one, holds, and 0 elsewhere.
    Set {
        test: fn(&Row, &Row) -> Mask,
        combine: Option<Combine>,
        yes: u64,
    },
    /// `set` of packed types: `yes`, which is a half, in each half.
    SetPair {
        test: fn(&Row, &Row) -> [Mask; 2],
        combine: Option<Combine>,
        yes: u64,
    },
    /// Extended precision: d = f(a, b, c, carry in), and the carry out, which `CC.CF` keeps if `writes`.
    Carry {
        run: fn(&mut Row, &Row, &Row, &Row, Mask) -> Mask,
        reads: bool,
        writes: bool,
    },
    /// Predicates: p = f(a, b)
    Logic(fn(Mask, Mask) -> Mask),
}

/// The function by which `setp` and `set` combine their test with a predicate.
pub type Combine = fn(Mask, Mask) -> Mask;

/// An instruction that this emulator does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction `{instruction}`: expected {expected}, found {found}")]
pub struct Unknown {
    /// The opcode with its modifiers.
    pub instruction: String,
    /// The opcodes or modifiers that would be known.
    pub expected: String,
    /// The part that is not.
    pub found: String,
}

impl Alu {
    pub(super) fn new(kind: Kind, sources: &[Type], result: Type) -> Alu {
        Alu {
            kind,
            sources: sources.to_vec(),
            result: Some(result),
        }
    }

    /// The function that puts a result into a wider register of `bits`, as `cvt` may: by its sign if it has one. None where
    /// the result stands in it already.
    pub fn widen(&self, bits: u32) -> Option<fn(&mut Row, u32)> {
        let narrow = match self.result {
            Some(Type::S8) => 8,
            Some(Type::S16) => 16,
            Some(Type::S32) => 32,
            _ => return None,
        };
        (narrow < bits).then_some(match narrow {
            8 => |row, bits| sign_extend::<8>(row, bits),
            16 => |row, bits| sign_extend::<16>(row, bits),
            _ => |row, bits| sign_extend::<32>(row, bits),
        })
    }
}

fn sign_extend<const FROM: u32>(row: &mut Row, bits: u32) {
    let mask = u64::MAX >> 64u32.saturating_sub(bits).min(63);
    for value in row {
        *value = ((*value << (64 - FROM)) as i64 >> (64 - FROM)) as u64 & mask;
    }
}

/// The rank of the block that an address of shared memory is of; without one in the address, that of the thread's own block, which is b.
pub(super) fn rank_of_address() -> Kind {
    scalar::value!(|a, own| match a >> RANK_BITS & 0xff {
        0 => own,
        rank => rank - 1,
    })
}

/// Tells whether [`lookup`] is where an opcode is to be looked up.
pub(super) fn is_alu(opcode: &str) -> bool {
    FAMILIES.iter().any(|family| family.0.contains(&opcode))
}

/// a * b + c of `f64`, rounded once.
pub(super) fn fused_f64(a: f64, b: f64, c: f64, mode: Mode) -> f64 {
    f64::from_bits(wide::fused(a, b, c, Format::F64, mode))
}

type Family = fn(&mut Mods) -> Result<Alu, Unknown>;

const FAMILIES: &[(&[&str], Family)] = &[
    (integer::OPCODES, integer::lookup),
    (logic::OPCODES, logic::lookup),
    (bits::OPCODES, bits::lookup),
    (carry::OPCODES, carry::lookup),
    (compare::OPCODES, compare::lookup),
    (convert::OPCODES, convert::lookup),
    (float::OPCODES, float::lookup),
];

/// The place of a modifier among those of an instruction; types have none.
fn place(name: &str) -> Option<usize> {
    const ORDER: &[&[&str]] = &[
        &["cc"],
        &["ftz"],
        &["sat"],
        &["NaN"],
        &["xorsign"],
        &["abs"],
        &["relu"],
        &["satfinite"],
    ];
    match ORDER.iter().position(|names| names.contains(&name)) {
        Some(at) => Some(at + 1),
        // Roundings, halves and comparisons are the first.
        None => {
            let is_type = Type::of(name).is_some() || name.ends_with("x2");
            (!is_type).then_some(0)
        }
    }
}

/// Modifiers in the order that the PTX ISA has them in: ptxas takes them in any, and compilers print others. Types keep theirs.
fn in_order<'a>(opcode: &str, modifiers: &[&'a str]) -> Vec<&'a str> {
    // These belong to the opcode's own name.
    if modifiers
        .iter()
        .skip(1)
        .any(|name| matches!(*name, "lo" | "hi" | "wide"))
    {
        return modifiers.to_vec();
    }
    let is_type = |name: &&str| place(name).is_none();
    let (types, mut others): (Vec<&str>, Vec<&str>) =
        modifiers.iter().partition(|name| is_type(name));
    others.sort_by_key(|name| place(name));
    match opcode {
        "prmt" => types.into_iter().chain(others).collect(),
        _ => others.into_iter().chain(types).collect(),
    }
}

/// The computation of the instruction.
///
/// # Errors
/// [`Unknown`] if the opcode or a modifier is not known, or not one that the instruction has.
pub fn lookup(opcode: &str, modifiers: &[&str]) -> Result<Alu, Unknown> {
    let found = lookup_in_order(opcode, modifiers);
    match found {
        Ok(alu) => Ok(alu),
        Err(error) => lookup_in_order(opcode, &in_order(opcode, modifiers)).map_err(|_| error),
    }
}

fn lookup_in_order(opcode: &str, modifiers: &[&str]) -> Result<Alu, Unknown> {
    let mut mods = Mods::new(opcode, modifiers);
    let is_float = modifiers
        .last()
        .and_then(|name| Type::of(name))
        .is_some_and(Type::is_float);
    let mut families = FAMILIES.iter().filter(|family| family.0.contains(&opcode));
    // `add` is in two families: of integers, and of floats.
    let family = if carry::is_extended(opcode, modifiers) {
        FAMILIES.iter().find(|family| family.0 == carry::OPCODES)
    } else if is_float {
        families.next_back()
    } else {
        families.next()
    };
    let Some((_, family)) = family else {
        return Err(mods.unknown("an instruction on registers", opcode));
    };
    let alu = family(&mut mods)?;
    mods.end()?;
    Ok(alu)
}
