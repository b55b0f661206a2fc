//! The instructions that hold tiles, and who holds what in them: one table a family.
//!
//! *Invariant:* an atom's thread-value layouts stand here once; verifier, partitioner, lowering and emulator read them
//! from here. The tests compare each with the fragment formulas of the PTX ISA, written down independently.

mod copy;
mod elem;
mod execution;
mod mma;

pub use copy::{CopyAtom, Form, PIECE};
pub use elem::Elem;
pub use execution::{Completion, Issue};
pub use mma::{BitOp, Family, FragKind, Major, MmaAtom, MmaSpec, Scale, Source};
