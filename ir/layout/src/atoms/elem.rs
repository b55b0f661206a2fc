//! Element types of atoms.

use std::fmt;

/// The type of one matrix element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Elem {
    /// IEEE half.
    F16,
    /// bfloat16.
    BF16,
    /// f32 with 10 bits of mantissa, held in 32 bits.
    TF32,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// Signed 4-bit integer.
    I4,
    /// Unsigned 4-bit integer.
    U4,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 32-bit integer.
    I32,
    /// 8-bit float, 4 bits of exponent, finite only.
    F8E4M3,
    /// 8-bit float, 5 bits of exponent.
    F8E5M2,
}

impl Elem {
    /// Width in bits, as held in memory and registers.
    pub fn bits(self) -> i64 {
        match self {
            Elem::I4 | Elem::U4 => 4,
            Elem::I8 | Elem::U8 | Elem::F8E4M3 | Elem::F8E5M2 => 8,
            Elem::F16 | Elem::BF16 => 16,
            Elem::TF32 | Elem::F32 | Elem::I32 => 32,
            Elem::F64 => 64,
        }
    }

    /// The name of MLIR's type; unsigned integers, which MLIR's signless ones do not tell apart, with a `u`.
    pub fn name(self) -> &'static str {
        match self {
            Elem::F16 => "f16",
            Elem::BF16 => "bf16",
            Elem::TF32 => "tf32",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
            Elem::I4 => "i4",
            Elem::U4 => "u4",
            Elem::I8 => "i8",
            Elem::U8 => "u8",
            Elem::I32 => "i32",
            Elem::F8E4M3 => "f8E4M3FN",
            Elem::F8E5M2 => "f8E5M2",
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
