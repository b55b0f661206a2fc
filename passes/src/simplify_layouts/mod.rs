//! `cute-simplify-layouts`: terms of the layout algebra, simplified by equality saturation.
//!
//! The ops of a block that have layouts, tuples and swizzles for values are a graph ([`cute_layout_terms`]); what of it is used
//! elsewhere comes out in the cheapest way that is found, counted in what has to be computed when the program runs. An integer
//! is known by the SSA value that it is (`facts.rs`), so that more is known than types say; where that gives a value a sharper
//! type, `cute.make_*` makes the value of it, and `cute.derefine` goes back to the old type for who asks for that.

mod emit;
mod explain;
mod facts;

use cute_ir::ops::cute;
use cute_ir::{Anchor, Failure, PassSpec, algebra, diag, mlir::*, options::Options};
use cute_layout::ops::Value;
use cute_layout_terms::{Form, Head, Kind, Limits, Problem, Sort, arithmetic, simplify};
use emit::Emitter;
use explain::Asked;
use facts::{Facts, is_value, type_value};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

cute_ir::options! {
    /// Options of `cute-simplify-layouts`.
    #[derive(Copy)]
    pub struct SimplifyLayoutsOptions {
        explain: Option<i64> = None, "",
            "A line of the source; remarks say by which laws its terms of the layout algebra became what they are";
    }
}

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-simplify-layouts",
    description: "Simplify terms of the layout algebra by equality saturation",
    anchor: Anchor::Any,
    options: SimplifyLayoutsOptions::SPECS,
    run,
};

/// The number of times that a block is tried again with a value that cannot be had in its old type left as it is.
const TRIES: usize = 8;

/// The most ops of one graph: longer blocks are simplified in parts, so that the time is linear in what there is.
const MOST_TERMS: usize = 64;

fn run<'c>(rewriter: &'c Rewriter<'c>, root: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let SimplifyLayoutsOptions { explain } =
        SimplifyLayoutsOptions::of(options).map_err(|wrong| diag::error(root.location(), wrong))?;
    let mut asked = explain.map(Asked::new);
    let mut facts = Facts::of(root);
    let mut gone = HashSet::new();
    let blocks: Vec<Blk<'c>> = std::iter::once(root)
        .chain(nested_ops(root))
        .flat_map(blocks_of)
        .collect();
    for block in blocks {
        let terms: Vec<Op<'c>> = ops_of(block)
            .into_iter()
            .filter(|op| head_of(*op).is_some())
            .collect();
        for ops in terms.chunks(MOST_TERMS) {
            let terms = Terms::collect(ops, &mut facts);
            terms.rewrite(rewriter, &mut facts, &mut gone, &mut asked)?;
        }
    }
    if let Some(asked) = asked {
        asked.close(root);
    }
    Ok(())
}

/// The terms of a block.
struct Terms<'c> {
    problem: Problem,
    /// The value of each node.
    values: Vec<Val<'c>>,
    /// The ops that are terms, in program order.
    ops: Vec<Op<'c>>,
}

/// The operation of an op that the language has, with operands that it takes.
fn head_of(op: Op<'_>) -> Option<Head> {
    if !algebra::is_algebra(op) || op.result_count() != 1 || !is_value(result_of(op, 0).r#type()) {
        return None;
    }
    let operands: Vec<_> = operands_of(op)
        .into_iter()
        .map(|v| type_value(v.r#type()))
        .collect::<Option<_>>()?;
    let name = match (name_of(op), &operands[..]) {
        // The offset of a coordinate, by another name.
        (cute::CRD2IDX, [_, Value::Layout(_) | Value::ComposedLayout(_)]) => cute::LAYOUT_EVAL,
        (name, _) => name,
    };
    let mnemonic = cute_ir::names::mnemonic(name)?;
    let head = Head::of(mnemonic, &algebra::attributes(op))?;
    let sorts: Vec<Sort> = operands.iter().map(Sort::of).collect();
    head.takes(&sorts).then_some(head)
}

impl<'c> Terms<'c> {
    /// The terms of these ops of a block, in their order. One may have gone with another one's operands.
    fn collect(ops: &[Op<'c>], facts: &mut Facts<'c>) -> Self {
        let mut terms = Terms {
            problem: Problem::default(),
            values: Vec::new(),
            ops: Vec::new(),
        };
        let mut nodes: HashMap<ValueKey, usize> = HashMap::new();
        let mut ours: HashSet<OpKey> = HashSet::new();
        for op in ops.iter().copied() {
            let Some(head) = head_of(op) else {
                continue;
            };
            let Some(value) = facts.value(result_of(op, 0)) else {
                continue;
            };
            let operands: Option<Vec<usize>> = operands_of(op)
                .into_iter()
                .map(|operand| terms.operand(operand, facts, &mut nodes))
                .collect();
            let Some(operands) = operands else {
                continue;
            };
            let types: Vec<Value> = operands_of(op)
                .iter()
                .filter_map(|v| type_value(v.r#type()))
                .collect();
            let cost = arithmetic(&head, &types).unwrap_or(0);
            let node = terms.problem.push(Kind::Op(head, operands), value, cost);
            nodes.insert(key(result_of(op, 0)), node);
            terms.values.push(result_of(op, 0));
            terms.ops.push(op);
            ours.insert(op_key(op));
        }
        for op in &terms.ops {
            let result = result_of(*op, 0);
            let elsewhere = |user: &Op<'c>| !ours.contains(&op_key(*user));
            if users_of(result).iter().any(elsewhere) {
                terms.problem.roots.push(nodes[&key(result)]);
            }
        }
        terms
    }

    fn operand(
        &mut self,
        operand: Val<'c>,
        facts: &mut Facts<'c>,
        nodes: &mut HashMap<ValueKey, usize>,
    ) -> Option<usize> {
        if let Some(node) = nodes.get(&key(operand)) {
            return Some(*node);
        }
        let node = self.problem.leaf(facts.value(operand)?);
        self.values.push(operand);
        nodes.insert(key(operand), node);
        Some(node)
    }

    fn rewrite(
        mut self,
        rewriter: &'c Rewriter<'c>,
        facts: &mut Facts<'c>,
        gone: &mut HashSet<ValueKey>,
        asked: &mut Option<Asked>,
    ) -> Result<(), Failure> {
        let Some(first) = self.ops.first().copied() else {
            return Ok(());
        };
        for _ in 0..TRIES {
            if self.problem.roots.is_empty() {
                return Ok(());
            }
            let simple = simplify(&self.problem, &Limits::default()).map_err(|e| {
                diag::error(first.location(), format!("cute-simplify-layouts: {e}"))
            })?;
            if simple.stats.cost_after >= simple.stats.cost_before {
                return match asked {
                    Some(asked) => asked.say(&self, &simple),
                    None => Ok(()),
                };
            }
            let mut emitter = Emitter::new(&simple, &self.values, facts, gone);
            let mut replaced = Vec::new();
            let mut refused = None;
            for (&root, &made) in self.problem.roots.iter().zip(&simple.roots) {
                if simple.nodes[made].form == Form::Given(root) {
                    continue;
                }
                let old = self.values[root];
                match emitter.root(made, old)? {
                    Some(new) => replaced.push((root, old, new)),
                    None => {
                        refused = Some(root);
                        break;
                    }
                }
            }
            let made = emitter.finish();
            let Some(root) = refused else {
                if let Some(asked) = asked {
                    asked.say(&self, &simple)?;
                }
                for (root, old, new) in replaced {
                    facts.learn(new, self.problem.nodes[root].value.clone());
                    replace_uses(old, new);
                }
                erase_unused(rewriter, made, gone)?;
                // Also what made operands of what is not there any more.
                let all = block_of(first).map(ops_of).unwrap_or_default();
                let known = |op: &Op<'c>| algebra::is_algebra(*op) && name_of(*op) != cute::PRINT;
                return erase_unused(rewriter, all.into_iter().filter(known).collect(), gone);
            };
            // It is computed as it was, and what is best then is asked again.
            erase_unused(rewriter, made, gone)?;
            self.problem.roots.retain(|r| *r != root);
            self.problem.pinned.push(root);
        }
        Ok(())
    }
}

/// Erases those of the ops, in program order, that nothing uses.
fn erase_unused<'c>(
    rewriter: &'c Rewriter<'c>,
    ops: Vec<Op<'c>>,
    gone: &mut HashSet<ValueKey>,
) -> Result<(), Failure> {
    for op in ops.into_iter().rev() {
        let results = results_of(op);
        if rewriter.erase_if_unused(op) {
            gone.extend(results.into_iter().map(key));
        }
    }
    Ok(())
}
