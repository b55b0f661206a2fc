//! The registers and numbers that an operand of a type may be, as ptxas has it.

use super::names::Name;
use super::{Decoder, Result};
use crate::ptx::{Immediate, Operand, Type};

/// The family of a type, which says what goes where it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Bits without a type.
    Bits,
    Integer,
    /// `f16`, `f32`, `f64`.
    Float,
    /// `f16x2`.
    Halves,
    /// Types that no register has: `bf16`, `bf16x2`, `tf32`, `f32x2`.
    Alternate,
}

/// The elements of a register that is a vector.
const ELEMENTS: [[&str; 2]; 4] = [["x", "r"], ["y", "g"], ["z", "b"], ["w", "a"]];

fn family(ty: Type) -> Family {
    match ty {
        Type::F16 | Type::F32 | Type::F64 => Family::Float,
        Type::F16x2 => Family::Halves,
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => Family::Integer,
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => Family::Integer,
        ty if ty.is_float() => Family::Alternate,
        _ => Family::Bits,
    }
}

/// Tells whether a register of a type may be declared.
pub(super) fn is_of_registers(ty: Type) -> bool {
    ty == Type::Pred || ty.bytes().is_some() && family(ty) != Family::Alternate
}

/// Tells whether values of a type are moved, loaded and stored as such; others are as bits.
pub(super) fn is_moved(ty: Type) -> bool {
    match family(ty) {
        Family::Bits => ty.bytes().is_some(),
        Family::Integer => true,
        _ => matches!(ty, Type::F32 | Type::F64),
    }
}

/// Tells whether an instruction's type takes a register of another family: of its width, or a wider one.
fn takes(ty: Type, of: Type, is_wider: bool) -> bool {
    match (family(ty), family(of)) {
        (Family::Bits, _) => true,
        (Family::Alternate, Family::Bits) => !is_wider,
        (Family::Integer, Family::Bits | Family::Integer | Family::Halves) => true,
        (Family::Float | Family::Halves, Family::Bits) => true,
        (Family::Float, Family::Float) | (Family::Halves, Family::Halves) => !is_wider,
        _ => false,
    }
}

/// Tells whether two registers of one width may stand side by side in a vector.
fn go_together(a: Family, b: Family) -> bool {
    a == b || a == Family::Bits || b == Family::Bits
}

/// Tells whether a type says no more than how many bits there are.
pub(super) fn is_bits(ty: Type) -> bool {
    family(ty) == Family::Bits
}

/// `.f32`, as PTX writes it.
pub(super) fn type_name(ty: Type) -> String {
    format!(".{}", format!("{ty:?}").to_lowercase())
}

impl<'a> Decoder<'_, 'a> {
    /// The thing that an operand names, be it an element of a vector.
    pub(super) fn named(&self, operand: &Operand<'a>) -> Option<Name> {
        let register = match operand {
            Operand::Register(register) => register,
            Operand::Symbol { name, offset: 0 } => return self.names.get(name),
            _ => return None,
        };
        let name = self.names.get(register.name)?;
        let Some(element) = register.element else {
            return Some(name);
        };
        let Name::Vector(first, ty, count) = name else {
            return None;
        };
        let at = ELEMENTS.iter().position(|names| names.contains(&element))? as u32;
        (at < count).then_some(Name::Reg(first + at, ty))
    }

    /// The elements of an operand that is a register with a vector; none for others.
    pub(super) fn elements_of(&self, operand: &Operand<'a>) -> Option<Vec<Operand<'a>>> {
        let name = match operand {
            Operand::Register(register) if register.element.is_none() => register.name,
            Operand::Symbol { name, offset: 0 } => name,
            _ => return None,
        };
        let Name::Vector(_, _, count) = self.names.get(name)? else {
            return None;
        };
        let element = |names: &[&'static str; 2]| {
            Operand::Register(crate::ptx::Register {
                name,
                element: Some(names[0]),
            })
        };
        Some(ELEMENTS[..count as usize].iter().map(element).collect())
    }

    /// Checks that an operand, if it is a register, is one that a type takes: of its bits, or more where it may be `wider`.
    pub(super) fn check_type(&self, operand: &Operand<'a>, ty: Type, wider: bool) -> Result<()> {
        match self.named(operand) {
            Some(Name::Reg(_, of)) => self.check_register(&text(operand), of, ty, wider),
            Some(Name::Vector(..)) => self.error(format!(
                "expected a single register, found {}, which is a vector; name an element (`.x`)",
                text(operand)
            )),
            _ => Ok(()),
        }
    }

    /// Checks that an operand, if it is a register, is one of bits without a type.
    pub(super) fn check_of_bits(&self, operand: &Operand<'a>) -> Result<()> {
        match self.named(operand) {
            Some(Name::Reg(_, of)) if family(of) != Family::Bits => self.error(format!(
                "expected a register of bits, found {} of {}; declare it as .b{}",
                text(operand),
                type_name(of),
                8 * of.bytes().unwrap_or(4)
            )),
            _ => Ok(()),
        }
    }

    /// Checks the registers of a matrix: as a vector, but numbers of 32 bits are floating-point ones or bits.
    pub(super) fn check_fragment(&self, parts: &[Operand<'a>], ty: Type) -> Result<()> {
        let has = |wanted: Family| {
            parts.iter().find(|part| match self.named(part) {
                Some(Name::Reg(_, of)) => family(of) == wanted,
                _ => false,
            })
        };
        match (ty, has(Family::Integer), has(Family::Bits)) {
            (Type::F32, Some(part), None) => self.check_type(part, ty, false),
            // ptxas takes an integer for a number of 64 bits, be it alone or not.
            (Type::F64, Some(part), _) if parts.len() == 1 => {
                self.check_type(part, Type::U64, false)
            }
            _ => self.check_vector(parts, ty, false),
        }
    }

    fn check_register(&self, name: &str, of: Type, ty: Type, wider: bool) -> Result<()> {
        let (Some(has), Some(bytes)) = (of.bytes(), ty.bytes()) else {
            return Ok(());
        };
        if has < bytes || has > bytes && !wider {
            let more = if wider { " or more" } else { "" };
            return self.error(format!(
                "expected a register of {} bits{more}, found {name} of {}; name a register of the instruction's type, or convert the value (cvt)",
                8 * bytes,
                8 * has
            ));
        }
        if takes(ty, of, has > bytes) {
            return Ok(());
        }
        self.error(format!(
            "expected a register of a type that {} takes, found {name} of {}; declare it as .b{}, or convert the value (cvt)",
            type_name(ty),
            type_name(of),
            8 * bytes
        ))
    }

    /// Checks the parts of a vector that is loaded, stored, packed or unpacked: neighbours must go together, and all of them with the type. As
    /// ptxas has it, a register of bits makes bits of all, and loads and stores of floating-point numbers take integers of their width.
    pub(super) fn check_vector(&self, parts: &[Operand<'a>], ty: Type, wider: bool) -> Result<()> {
        if let [part] = parts {
            return self.check_type(part, ty, wider);
        }
        let mut of_all: Option<Type> = None;
        let mut before: Option<(String, Family, Option<u32>)> = None;
        for part in parts {
            let (of, number) = match (part, self.named(part)) {
                (Operand::Discard, _) => continue,
                (Operand::Immediate(Immediate::Int { .. }), _) => (None, Family::Integer),
                (Operand::Immediate(_), _) => (None, Family::Float),
                (Operand::Special(_), _) => (None, Family::Integer),
                (_, Some(Name::Reg(_, of))) => (Some(of), family(of)),
                // What it is, is told where it is read.
                _ => return Ok(()),
            };
            let width = of.and_then(Type::bytes);
            if let Some((name, family, bytes)) = &before {
                let alike = bytes.is_none() || width.is_none() || *bytes == width;
                if !alike || !go_together(*family, number) {
                    return self.error(format!(
                        "expected registers of one type in a vector, found {name} beside {}; declare both alike, or one as bits (.b32)",
                        text(part)
                    ));
                }
            }
            before = Some((text(part), number, width));
            of_all = match (of_all, of) {
                (None, of) => of,
                (_, Some(of)) if family(of) == Family::Bits => Some(of),
                (all, _) => all,
            };
        }
        let Some(of) = of_all else {
            return match before {
                None => self.error("expected a register in the vector, found none but `_`; name one, or load it alone"),
                Some(_) => Ok(()),
            };
        };
        let is_quirk = matches!(ty, Type::F32 | Type::F64)
            && family(of) == Family::Integer
            && of.bytes() == ty.bytes();
        if is_quirk {
            return Ok(());
        }
        self.check_register(
            &before.map_or_else(String::new, |(name, ..)| name),
            of,
            ty,
            wider,
        )
    }
}

/// A register or a number, for a message.
pub(super) fn text(operand: &Operand<'_>) -> String {
    match operand {
        Operand::Register(register) | Operand::Special(register) => match register.element {
            Some(element) => format!("{}.{element}", register.name),
            None => register.name.to_string(),
        },
        Operand::Symbol { name, .. } => (*name).to_string(),
        Operand::Immediate(_) => "a number".to_string(),
        _ => "another operand".to_string(),
    }
}
