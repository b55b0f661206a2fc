//! PTX, the text of a kernel: read into a tree, printed, and counted.
//!
//! [`parse`] takes what the compiler makes and what PTX ISA 9 allows around it: an opcode is a name,
//! so new instructions need no new parser; a directive that is not known is an error. Whatever the
//! text is, reading it takes time and memory in proportion to its length (at worst a hundred bytes a
//! byte), which is bounded ([`MAX_BYTES`]), as nesting is ([`MAX_DEPTH`]).
//!
//! The text that a parsed tree prints parses to the same tree, as long as it is within these bounds. Not taken: constant expressions beyond a sign and
//! `symbol + offset`, `a[i]` for `[a + 4 * i]`, and DWARF in the form of PTX before 2.0 (`@@DWARF`).

mod ast;
mod class;
mod error;
mod lexer;
mod mix;
mod number;
mod parser;
mod places;
mod print;

pub use ast::*;
pub use class::Class;
pub use error::{MAX_BYTES, MAX_DEPTH, ParseError};
pub use mix::{Accesses, Mix};
pub use parser::parse;
pub use places::{Place, Places};
