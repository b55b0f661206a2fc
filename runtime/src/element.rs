//! Element types of tensors: names, sizes and rounding.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};

/// The type of one element of a tensor argument. Its text is MLIR's (`f16`, `i32`, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// 4 bits of exponent, 3 of significand; no infinities, one NaN of each sign.
    F8E4M3FN,
    /// 5 bits of exponent, 2 of significand, as IEEE 754 would have it.
    F8E5M2,
    /// IEEE 754's binary16: 5 bits of exponent, 10 of significand.
    F16,
    /// The upper half of an `f32`: 8 bits of exponent, 7 of significand.
    Bf16,
    /// The 19 bits of an `f32` that tensor cores multiply, in four bytes; the others are ignored. (PTX ISA, "Alternate
    /// floating-point data formats".)
    Tf32,
    /// IEEE 754's binary32: 8 bits of exponent, 23 of significand.
    F32,
    /// IEEE 754's binary64: 11 bits of exponent, 52 of significand.
    F64,
    /// An integer of 8 bits with a sign.
    I8,
    /// An integer of 8 bits without a sign.
    U8,
    /// An integer of 32 bits with a sign.
    I32,
    /// An integer of 64 bits with a sign.
    I64,
}

/// The text names no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown element type `{0}`; expected one of f8E4M3FN, f8E5M2, f16, bf16, tf32, f32, f64, i8, u8, i32, i64"
)]
pub struct UnknownElement(pub String);

impl Element {
    /// All element types, in the order of their declaration.
    pub const ALL: [Element; 11] = [
        Element::F8E4M3FN,
        Element::F8E5M2,
        Element::F16,
        Element::Bf16,
        Element::Tf32,
        Element::F32,
        Element::F64,
        Element::I8,
        Element::U8,
        Element::I32,
        Element::I64,
    ];

    /// Returns MLIR's name of the type, such as `f16`.
    pub fn name(self) -> &'static str {
        match self {
            Element::F8E4M3FN => "f8E4M3FN",
            Element::F8E5M2 => "f8E5M2",
            Element::F16 => "f16",
            Element::Bf16 => "bf16",
            Element::Tf32 => "tf32",
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I32 => "i32",
            Element::I64 => "i64",
        }
    }

    /// Size of one element in bytes.
    pub fn size(self) -> usize {
        match self {
            Element::F8E4M3FN | Element::F8E5M2 | Element::I8 | Element::U8 => 1,
            Element::F16 | Element::Bf16 => 2,
            Element::Tf32 | Element::F32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
        }
    }

    /// Tells whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.precision().is_some()
    }

    /// Tells whether kernels take a number of this type by value.
    pub fn is_scalar(self) -> bool {
        use Element::{Bf16, F16, F32, F64, I32, I64};
        matches!(self, I32 | I64 | F16 | Bf16 | F32 | F64)
    }

    /// Significant bits of the significand, the hidden one included (IEEE 754's *p*); none for
    /// integers.
    pub fn precision(self) -> Option<i32> {
        match self {
            Element::F8E4M3FN => Some(4),
            Element::F8E5M2 => Some(3),
            Element::F16 | Element::Tf32 => Some(11),
            Element::Bf16 => Some(8),
            Element::F32 => Some(24),
            Element::F64 => Some(53),
            _ => None,
        }
    }

    /// The largest relative error of one rounding to nearest, 2^-p; 0 for integers, whose values
    /// are exact.
    pub fn unit_roundoff(self) -> f64 {
        self.precision().map_or(0.0, |p| 2f64.powi(-p))
    }

    /// Half of the distance between the smallest numbers: the absolute error of rounding a value
    /// near zero.
    pub fn underflow(self) -> f64 {
        match self {
            Element::F8E4M3FN => 2f64.powi(-10),
            Element::F8E5M2 => 2f64.powi(-17),
            Element::F16 => 2f64.powi(-25),
            Element::Bf16 => 2f64.powi(-134),
            Element::Tf32 => 2f64.powi(-137),
            Element::F32 => 2f64.powi(-150),
            _ => 0.0,
        }
    }

    /// Tells whether the type has infinities.
    pub fn has_infinity(self) -> bool {
        self.is_float() && self != Element::F8E4M3FN
    }

    /// The largest finite value.
    pub fn max_finite(self) -> f64 {
        match self {
            Element::F8E4M3FN => 448.0,
            Element::F8E5M2 => 57344.0,
            Element::F16 => f64::from(f16::MAX),
            Element::Bf16 => f64::from(bf16::MAX),
            Element::Tf32 => f64::from(f32::from_bits(0x7f7f_e000)),
            Element::F32 => f64::from(f32::MAX),
            Element::F64 => f64::MAX,
            Element::I8 => f64::from(i8::MAX),
            Element::U8 => f64::from(u8::MAX),
            Element::I32 => f64::from(i32::MAX),
            Element::I64 => i64::MAX as f64,
        }
    }

    /// The smallest finite value: of integers with a sign one below the negated largest.
    pub fn min_finite(self) -> f64 {
        match self {
            Element::U8 => 0.0,
            element if element.is_float() => -element.max_finite(),
            element => -element.max_finite() - 1.0,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Element {
    type Err = UnknownElement;

    fn from_str(text: &str) -> Result<Self, UnknownElement> {
        Element::ALL
            .into_iter()
            .find(|e| e.name() == text)
            .ok_or_else(|| UnknownElement(text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for element in Element::ALL {
            assert_eq!(element.name().parse(), Ok(element));
        }
        assert!(
            "f8".parse::<Element>()
                .unwrap_err()
                .to_string()
                .contains("expected one of f8E4M3FN, ")
        );
    }

    #[test]
    fn roundoff_is_half_an_ulp() {
        assert_eq!(Element::F16.unit_roundoff(), f64::from(f16::EPSILON) / 2.0);
        assert_eq!(
            Element::Bf16.unit_roundoff(),
            f64::from(bf16::EPSILON) / 2.0
        );
        assert_eq!(Element::F32.unit_roundoff(), f64::from(f32::EPSILON) / 2.0);
        assert_eq!(Element::F64.unit_roundoff(), f64::EPSILON / 2.0);
        assert_eq!(Element::I32.unit_roundoff(), 0.0);
    }
}
