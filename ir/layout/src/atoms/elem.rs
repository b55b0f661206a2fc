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
    /// One bit.
    B1,
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
    /// 6-bit float, 2 bits of exponent.
    F6E2M3,
    /// 6-bit float, 3 bits of exponent.
    F6E3M2,
    /// 4-bit float, 2 bits of exponent.
    F4E2M1,
    /// A power of two in 8 bits: a scale.
    F8E8M0,
}

use Elem::*;

impl Elem {
    /// Every type.
    pub const ALL: [Elem; 17] = [
        F16, BF16, TF32, F32, F64, B1, I4, U4, I8, U8, I32, F8E4M3, F8E5M2, F6E2M3, F6E3M2, F4E2M1,
        F8E8M0,
    ];

    /// MLIR's name of it, CuTe's in the names of atoms, width in bits.
    fn facts(self) -> (&'static str, &'static str, i64) {
        match self {
            F16 => ("f16", "F16", 16),
            BF16 => ("bf16", "BF16", 16),
            TF32 => ("tf32", "TF32", 32),
            F32 => ("f32", "F32", 32),
            F64 => ("f64", "F64", 64),
            B1 => ("i1", "U1", 1),
            I4 => ("i4", "S4", 4),
            U4 => ("ui4", "U4", 4),
            I8 => ("i8", "S8", 8),
            U8 => ("ui8", "U8", 8),
            I32 => ("i32", "S32", 32),
            F8E4M3 => ("f8E4M3FN", "E4M3", 8),
            F8E5M2 => ("f8E5M2", "E5M2", 8),
            F6E2M3 => ("f6E2M3FN", "E2M3", 6),
            F6E3M2 => ("f6E3M2FN", "E3M2", 6),
            F4E2M1 => ("f4E2M1FN", "E2M1", 4),
            F8E8M0 => ("f8E8M0FNU", "UE8M0", 8),
        }
    }

    /// Width in bits, as held in memory and registers.
    pub fn bits(self) -> i64 {
        self.facts().2
    }

    /// The name of MLIR's type. Signless integers are the signed ones.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The name in CuTe's names of atoms.
    pub fn cute_name(self) -> &'static str {
        self.facts().1
    }

    /// The type that MLIR calls so; `si4`, `si8` and `si32` are `i4`, `i8` and `i32`.
    pub fn named(name: &str) -> Option<Elem> {
        let name = match name {
            "si4" => "i4",
            "si8" => "i8",
            "si32" => "i32",
            name => name,
        };
        Elem::ALL.into_iter().find(|elem| elem.name() == name)
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
