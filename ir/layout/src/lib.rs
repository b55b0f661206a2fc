//! CuTe's layout algebra, decided once and without MLIR.
//!
//! A [`Layout`] is a function from coordinates to offsets, written `shape:stride`. Everything is colexicographic: the
//! first mode is the fastest. The text is that of CuTe IR, the names are CuTe's (`include/cute/layout.hpp`).
//!
//! *Invariant:* nothing here panics on input, overflows in silence, or returns a layout that is the wrong function: where
//! a result cannot be exact the answer is a [`LayoutError`] that says what was expected, what was found, and the cure.
//!
//! *Invariant:* truth is brute force. Each operation of [`algebra`] is tested against the evaluation of both sides over
//! the whole domain; the printed form of equal results follows CuTe IR.
//!
//! Decisions on the printed form:
//! - `coalesce` drops size-1 modes, but keeps the stride of a layout that is nothing else: `1:5` stays `1:5`.
//! - A layout is extended beyond its domain by its last leaf, so `(4,3):(3,1)` at 12 is 4.
//! - At a negative index a layout is extended as an odd function: `L(-i) = -L(i)`.
#![warn(missing_docs, unreachable_pub)]

pub mod algebra;
pub mod atoms;
pub mod descriptor;
mod error;
pub mod eval;
mod layout;
mod leaf;
pub mod ops;
pub mod parameter;
mod parse;
mod scan;
mod swizzle;
pub mod symbolic;
mod text;
mod tile;
pub mod tiled;
pub mod tma;
mod tuple;

pub use algebra::AnyLayout;
pub use atoms::{CopyAtom, Elem, MmaAtom};
pub use error::{LayoutError, Result};
pub use layout::{FlatLayout, Layout};
pub use leaf::{BinOp, Check, Dyn, Expr, Leaf, Term, Truth, record, with_divisors};
pub use parse::ParseError;
pub use swizzle::{ComposedLayout, Inner, Swizzle};
pub use tile::Tile;

pub use tiled::{Operand, Part, Partition, Residue, Side, ThrCopy, ThrMma, TiledCopy, TiledMma};
pub use tuple::{IntTuple, Kind, int, tuple};
