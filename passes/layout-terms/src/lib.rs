//! Equality saturation over terms of the layout algebra.
//!
//! A [`Problem`] is a DAG of operations of the algebra over values of which the form is known, and their numbers as far as
//! they are: a leaf of a layout is an integer or a polynomial of symbols with facts ([`cute_layout::symbolic`]). One symbol
//! that is the extent of a mode and the stride of the next says what two `?` of a type cannot. [`simplify`] finds a DAG for
//! the same roots that has less to compute when the program runs.
//!
//! ```
//! use cute_layout::{IntTuple, Layout, Leaf, int, ops::Value, symbolic::{Poly, Symbol}, tuple};
//! use cute_layout_terms::{Head, Limits, Problem, simplify};
//! // The size of (a,b):(1,a) coalesced, composed with 8:1.
//! let symbol = |name: &str| IntTuple::Leaf(Leaf::symbolic(Poly::symbol(Symbol::new(name)).unwrap()));
//! let (a, b) = (symbol("a"), symbol("b"));
//! let layout = Layout::new(tuple([a.clone(), b]), tuple([int(1), a])).unwrap();
//! let mut problem = Problem::default();
//! let layout = problem.leaf(Value::Layout(layout));
//! let eight = problem.leaf(Value::Layout(Layout::leaf(8, 1).unwrap()));
//! let joined = problem.op(Head::new("coalesce"), &[layout]).unwrap();
//! let tile = problem.op(Head::new("composition"), &[joined, eight]).unwrap();
//! problem.roots.push(tile);
//! let simple = simplify(&problem, &Limits::default()).unwrap();
//! assert_eq!(simple.nodes[simple.roots[0]].value.to_string(), "8:1");
//! ```
//!
//! *Invariant:* equal terms are equal values: the same form, the same extents and strides. A rule is a law of static layouts,
//! which `prove.rs` tries out on all small ones; on symbols its guard asks for proofs. What an operation gives on operands of
//! which too little is known is what it computes then ([`actual`]), and what does not depend on that is said by the rule.
//!
//! The answer depends on the problem and the limits alone.
#![warn(missing_docs, unreachable_pub)]

mod cost;
mod explain;
mod extract;
mod graph;
mod problem;
#[cfg(test)]
mod prove;
mod rules;
mod saturate;
mod term;
mod value;

pub use cost::arithmetic;
pub use explain::explain;
pub use problem::{Error, Form, Kind, Limits, Made, Node, Problem, Simplified, Stats};
pub use rules::rule_names;
pub use saturate::simplify;
pub use term::{Head, Sort};
pub use value::{actual, ideal, plain, resolve};
