//! The region of a map as stages, each of which has the reductions that depend on those of the stages before it alone.

use super::Values;
use cute_ir::ops::{arith, cute, math};
use cute_ir::{Failure, mlir::*, region::yielded};
use melior::ir::operation::OperationLike;
use std::collections::{HashMap, HashSet};

/// The region of a map.
pub(super) struct Region<'c> {
    pub(super) body: Blk<'c>,
    /// The values that may differ along a row.
    pub(super) differs: HashSet<ValueKey>,
}

impl<'c> Region<'c> {
    /// The reductions, stage by stage.
    pub(super) fn stages(&self) -> Vec<Vec<cute::AllReduce<'c>>> {
        let mut stage_of: HashMap<ValueKey, usize> = HashMap::new();
        let mut stages: Vec<Vec<cute::AllReduce<'c>>> = Vec::new();
        for op in ops_of(self.body) {
            let used = operands_of(op);
            let before = used.iter().filter_map(|value| stage_of.get(&key(*value)));
            let at = before.copied().max().unwrap_or(0);
            let reduce = cute::AllReduce::of(op);
            if let Some(reduce) = reduce {
                if stages.len() <= at {
                    stages.resize_with(at + 1, Vec::new);
                }
                stages[at].push(reduce);
            }
            let after = at + usize::from(cute::AllReduce::of(op).is_some());
            stage_of.extend(results_of(op).into_iter().map(|value| (key(value), after)));
        }
        stages
    }

    /// The value that is yielded to an output.
    pub(super) fn yielded(&self, output: usize) -> Option<Val<'c>> {
        let end = ops_of(self.body).pop()?;
        operands_of(end).get(output).copied()
    }

    /// All values that are reduced or yielded.
    pub(super) fn wanted(&self) -> Vec<Val<'c>> {
        let ops = ops_of(self.body).into_iter();
        ops.filter(|op| matches!(name_of(*op), cute::ALL_REDUCE | cute::YIELD))
            .flat_map(operands_of)
            .collect()
    }

    /// The ops that compute a value that differs along a row from what there is, in order, and the values that they start from.
    pub(super) fn slice(&self, value: Val<'c>, values: &Values<'c>) -> (Vec<Op<'c>>, Vec<Val<'c>>) {
        let (mut needed, mut starts) = (HashSet::new(), Vec::new());
        let mut left = vec![value];
        let mut met = HashSet::new();
        while let Some(value) = left.pop() {
            if !met.insert(key(value)) || values.numbers.contains_key(&key(value)) {
                continue;
            }
            let own = defining_op(value).filter(|op| block_of(*op) == Some(self.body));
            let is_argument = block_argument(value).is_some_and(|(block, _)| block == self.body);
            if values.registers.contains_key(&key(value)) || is_argument {
                starts.push(value);
            } else if let Some(op) = own
                && cute::AllReduce::of(op).is_none()
            {
                needed.insert(op_key(op));
                left.extend(operands_of(op));
            }
        }
        let ops = ops_of(self.body).into_iter();
        (
            ops.filter(|op| needed.contains(&op_key(*op))).collect(),
            starts,
        )
    }

    /// The places of the inputs that differ along a row and that values are computed from.
    pub(super) fn inputs_of(&self, targets: &[Val<'c>], values: &Values<'c>) -> Vec<usize> {
        let starts = targets
            .iter()
            .flat_map(|value| self.slice(*value, values).1);
        let mut inputs: Vec<usize> = starts
            .filter_map(|value| Some(block_argument(value)?.1))
            .collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// The values that are kept in registers from a stage on, in order: those that take long to compute, and are used there for the
    /// first time and later again.
    pub(super) fn kept(&self, stages: &[Vec<cute::AllReduce<'c>>], stage: usize) -> Vec<Val<'c>> {
        let none = Values::default();
        let end = yielded(self.body);
        let targets = stages
            .iter()
            .map(|stage| stage.iter().map(|reduce| reduce.value()).collect());
        let targets: Vec<Vec<Val<'c>>> = targets.chain([end]).collect();
        let mut uses: HashMap<OpKey, Vec<usize>> = HashMap::new();
        for (at, targets) in targets.iter().enumerate() {
            for target in targets {
                for op in self.slice(*target, &none).0 {
                    uses.entry(op_key(op)).or_default().push(at);
                }
            }
        }
        let is_kept = |op: &Op<'c>| {
            let uses = uses.get(&op_key(*op)).map_or(&[][..], Vec::as_slice);
            let first = uses.iter().min() == Some(&stage);
            first && uses.iter().any(|at| *at != stage) && takes_long(*op)
        };
        let ops = ops_of(self.body).into_iter().filter(is_kept);
        let results = ops.flat_map(results_of);
        results
            .filter(|value| self.differs.contains(&key(*value)))
            .collect()
    }

    /// Computes what is the same along a row, as far as all that it is computed from is there.
    pub(super) fn advance(&self, b: Builder<'c>, values: &mut Values<'c>) -> Result<(), Failure> {
        for op in ops_of(self.body) {
            let results = results_of(op);
            let skipped = matches!(name_of(op), cute::ALL_REDUCE | cute::YIELD)
                || results.iter().any(|value| {
                    self.differs.contains(&key(*value)) || values.numbers.contains_key(&key(*value))
                });
            let inner = |value: &Val<'c>| {
                let own = defining_op(*value).is_some_and(|op| block_of(op) == Some(self.body));
                let argument = block_argument(*value).is_some_and(|(block, _)| block == self.body);
                own || argument
            };
            let mut operands = operands_of(op).into_iter();
            let ready =
                operands.all(|value| !inner(&value) || values.numbers.contains_key(&key(value)));
            if !skipped && ready {
                b.at_location(op.location())
                    .clone_op(op, &mut values.numbers);
            }
        }
        Ok(())
    }
}

/// Tells whether it takes longer to compute again than to keep.
fn takes_long(op: Op<'_>) -> bool {
    let name = name_of(op);
    name == arith::DIVF
        || (name.starts_with("math.") && !matches!(name, math::ABSF | math::FMA | math::COPYSIGN))
}
