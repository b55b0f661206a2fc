//! `explain=LINE`: by which laws the terms of the layout algebra of a line of the source became what they are, as remarks.

use super::Terms;
use crate::explain::{is_from, nothing, origin, told};
use cute_ir::{Failure, diag, mlir::*};
use cute_layout_terms::{Kind, Limits, Simplified, explain};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A line that is asked for, and the lines that were met in its place.
#[derive(Debug)]
pub(super) struct Asked {
    line: i64,
    found: bool,
    others: BTreeSet<i64>,
}

impl Asked {
    pub(super) fn new(line: i64) -> Self {
        Self {
            line,
            found: false,
            others: BTreeSet::new(),
        }
    }

    /// Says it of every root that stands at the line, or is used there.
    pub(super) fn say(&mut self, terms: &Terms<'_>, simple: &Simplified) -> Result<(), Failure> {
        let problem = &terms.problem;
        for (number, &root) in problem.roots.iter().enumerate() {
            let value = terms.values[root];
            let Some(op) = defining_op(value) else {
                continue;
            };
            let ops = std::iter::once(op).chain(users_of(value));
            if !is_from(ops, self.line, &mut self.others) {
                continue;
            }
            self.found = true;
            let is_named = |node: usize| !problem.nodes[node].value.is_static();
            let names = |node: usize| match is_named(node) {
                true => format!("x{node}"),
                false => problem.nodes[node].value.to_string(),
            };
            let steps = explain(problem, simple, number, &Limits::default(), &names)
                .map_err(|e| diag::error(op.location(), format!("cute-simplify-layouts: {e}")))?;
            let mut text = told("a term of the layout algebra", steps.as_deref());
            if steps.is_some_and(|steps| !steps.is_empty()) {
                for leaf in leaves(terms, root)
                    .into_iter()
                    .filter(|leaf| is_named(*leaf))
                {
                    let value = &problem.nodes[leaf].value;
                    let from = origin(terms.values[leaf]);
                    let _ = write!(text, "\n  x{leaf} is {from}, {value}");
                }
            }
            diag::remark(op.location(), text);
        }
        Ok(())
    }

    /// Says that there was nothing, if so.
    pub(super) fn close(&self, root: Op<'_>) {
        if !self.found {
            let what = "a term of the layout algebra";
            let text = nothing(self.line, what, "op", &self.others);
            diag::remark(root.location(), text);
        }
    }
}

/// The leaves that a node is computed from.
fn leaves(terms: &Terms<'_>, root: usize) -> BTreeSet<usize> {
    let (mut found, mut pending) = (BTreeSet::new(), vec![root]);
    while let Some(node) = pending.pop() {
        match &terms.problem.nodes[node].kind {
            Kind::Leaf => _ = found.insert(node),
            kind => pending.extend(kind.operands()),
        }
    }
    found
}
