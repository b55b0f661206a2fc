//! Loops as pipelines: what overlaps what, in steps that each leave what they decide in the IR.
//!
//! `rings.rs` gives buffers a place for each stage and says who waits for what by tokens; `latencies.rs` what operations cost;
//! `graph.rs` has the dependences and `resources.rs` the units; `schedule.rs` says which of them runs when (`modulo.rs` overlaps what
//! is computed, `place.rs` puts everything else around it, `registers.rs` estimates what that takes), which `print.rs` shows;
//! `expand.rs` writes that out (`bounds.rs`), and `lower.rs` turns tokens into groups of copies and barriers.
//! `handed.rs` has nothing to do with loops: it lowers the pipelines that warps with roles pass on, which their author wrote.

mod bounds;
pub(crate) mod expand;
mod graph;
pub(crate) mod handed;
pub(crate) mod latencies;
pub(crate) mod lower;
mod modulo;
mod place;
pub(crate) mod print;
mod registers;
mod resources;
pub(crate) mod rings;
pub(crate) mod schedule;

pub(crate) use schedule::{HELD_AHEAD, LONG};
