//! Names of ops: the dialect in front of the first dot, and what is behind it.

use crate::mlir::{Op, name_of};

/// The dialects by which passes tell ops apart.
pub mod dialect {
    /// Integers and floating-point numbers.
    pub const ARITH: &str = "arith";
    /// Layouts, tensors and tiled operations.
    pub const CUTE: &str = "cute";
    /// Integers of the target's width.
    pub const INDEX: &str = "index";
    /// Functions of floating-point numbers.
    pub const MATH: &str = "math";
    /// Structured loops and branches.
    pub const SCF: &str = "scf";
    /// Vectors.
    pub const VECTOR: &str = "vector";
}

/// The ops of MLIR's own dialect that the passes know.
pub mod builtin {
    /// `builtin.module`
    pub const MODULE: &str = "builtin.module";
    /// `builtin.unrealized_conversion_cast`
    pub const UNREALIZED_CONVERSION_CAST: &str = "builtin.unrealized_conversion_cast";
}

/// The dialect of an op, as its name says it.
pub fn dialect_of(op: Op<'_>) -> &str {
    let name = name_of(op);
    name.split_once('.').map_or(name, |(dialect, _)| dialect)
}

/// Tells whether an op is of the dialect `cute`.
pub fn is_cute(op: Op<'_>) -> bool {
    mnemonic(name_of(op)).is_some()
}

/// The name of an op of the dialect `cute` without it; nothing of others.
pub fn mnemonic(name: &str) -> Option<&str> {
    match name.split_once('.') {
        Some((dialect::CUTE, rest)) => Some(rest),
        _ => None,
    }
}
