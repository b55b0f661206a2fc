//! Loops as pipelines: what overlaps what, in steps that each leave what they decide in the IR.
//!
//! `rings.rs` gives buffers a place for each stage and says who waits for what by tokens; `latencies.rs` what operations cost;
//! `graph.rs` and `schedule.rs` which of them runs when, which `print.rs` shows; `expand.rs` writes that out (`bounds.rs`), and
//! `lower.rs` turns tokens into groups of copies and barriers.

mod bounds;
pub(crate) mod expand;
mod graph;
pub(crate) mod latencies;
pub(crate) mod lower;
mod modulo;
mod place;
pub(crate) mod print;
mod registers;
mod resources;
pub(crate) mod rings;
pub(crate) mod schedule;
