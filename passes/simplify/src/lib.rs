//! Equality saturation over the integer index arithmetic of a GPU kernel.
//!
//! A [`Region`] is a DAG of wrapping integer arithmetic over *leaves*: thread and block indices, loop counters, arguments.
//! Each node has a width of its own; conversions lead from one to the other, comparisons give a number of one bit, and
//! selections take one. About each leaf some [`Facts`] are known: a range, bits that are always zero. [`simplify`]
//! finds a DAG for the same roots that costs a GPU less: divisions turned into shifts or removed by ranges, one base
//! for a whole family of addresses, constants outermost, where they fold into the immediate of a load.
//!
//! ```
//! use cute_simplify::{Facts, Leaf, Limits, Node, Op, Region, simplify};
//! // t / 128 for a thread index t below 128
//! let region = Region {
//!     leaves: vec![Leaf::new(32, Facts::range(0, 127))],
//!     nodes: vec![Node::Leaf(0), Node::Const(128, 32), Node::Op(Op::DivU, 0, 1)],
//!     roots: vec![2],
//! };
//! let simple = simplify(&region, &Limits::default()).unwrap();
//! assert_eq!(simple.nodes[simple.roots[0]], Node::Const(0, 32));
//! ```
//!
//! Numbers are unsigned and wrap at their width. What the hardware or MLIR leaves undefined has a value here, so that
//! every law can be checked for every value: `x / 0` is all ones, `x % 0` is `x`, a shift by the width or more is 0.
//! No rule brings in a division by what may be zero where there was none.
//!
//! The answer depends on the region and the limits alone: not on the clock, on threads, or on regions seen before.
//! Leaves that change more often should have higher numbers (loop counters last): sums put what changes least first,
//! so that it can be hoisted out of loops.
#![warn(missing_docs, unreachable_pub)]

mod cheaper;
mod conjunction;
mod cost;
mod egraph;
mod explain;
mod extract;
mod graph;
mod guard;
mod linear;
mod node;
#[cfg(test)]
mod prove;
mod rules;
mod saturate;
mod search;

pub use cheaper::Way;
pub use cost::dag_cost;
pub use cute_arith::{Cast, Facts, Op, Predicate};
pub use explain::{Step, explain, steps, text};
pub use guard::{Guard, simplify_guarded};
pub use node::{Error, Leaf, Node, Operands, Region, eval, facts_of, widths};
pub use rules::rule_names;
pub use saturate::{Limits, Simplified, Stats, simplify, simplify_by};
