//! Branches that are decided when a function is put in place of a call or a parameter gets its value: the branch that is taken stands in the place of
//! its `scf.if`, and the other one is gone before anybody asks whether it is valid.

use crate::{open, values};
use cute_arith::{Op as Arith, Predicate};
use cute_ir::{
    Failure, algebra, diag,
    mlir::*,
    ops::{arith, cute, scf},
};
use cute_layout::{Truth, ops::Value};
use melior::ir::{ValueLike, operation::OperationLike};

/// The branch of an `scf.if` that is taken, where its condition is known.
pub(crate) struct Taken<'c> {
    branch: Op<'c>,
    /// Copies of the ops of the branch, in the place of the `scf.if`.
    pub ops: Vec<Op<'c>>,
    /// The op that gives the results; none where the branch is left out.
    end: Option<Op<'c>>,
}

impl<'c> Taken<'c> {
    /// Copies the taken branch of an op to the place before it; nothing where the op is no branch, or is decided by a thread. What the op needs is to have been
    /// put in place.
    pub(crate) fn of(op: Op<'c>) -> Option<Self> {
        if name_of(op) != scf::IF {
            return None;
        }
        let condition = *operands_of(op).first()?;
        let region = usize::from(!truth(condition)?);
        let mut mapping = Mapping::new();
        let before = Builder::before(op);
        let body = body_of(op, region).map(ops_of).unwrap_or_default();
        let mut ops: Vec<Op<'c>> = body
            .into_iter()
            .map(|inner| {
                before
                    .at_location(inner.location())
                    .clone_op(inner, &mut mapping)
            })
            .collect();
        let end = ops.pop();
        Some(Self {
            branch: op,
            ops,
            end,
        })
    }

    /// Puts what the branch gives in place of the results of the `scf.if`, and erases that.
    ///
    /// # Errors
    /// A result of another type than the one that is written.
    pub(crate) fn close(self, rewriter: &'c Rewriter<'c>) -> Result<(), Failure> {
        let given = self.end.map(operands_of).unwrap_or_default();
        for (i, (result, given)) in results_of(self.branch).into_iter().zip(given).enumerate() {
            let (says, is) = (result.r#type(), given.r#type());
            if says != is && !open::is_open(says) {
                return Err(diag::error(
                    self.branch.location(),
                    format!(
                        "'scf.if' op expected result {i} of type {is}, as the branch that is taken gives it, found {says}; write !cute.any, if it depends on \
                         the condition"
                    ),
                ));
            }
            replace_uses(result, given);
        }
        if let Some(end) = self.end {
            rewriter.erase(end)?;
        }
        rewriter.erase(self.branch)
    }
}

/// The condition that a value is, where constants and types decide it.
fn truth(value: Val<'_>) -> Option<bool> {
    let op = defining_op(value)?;
    let operands = operands_of(op);
    match (name_of(op), &operands[..]) {
        (arith::CONSTANT, []) => Some(integer_of(op, "value")? & 1 == 1),
        (arith::CMPI, [a, b]) if int_width(a.r#type()) != Some(1) => {
            let predicate = Predicate::numbered(integer_of(op, "predicate")?)?;
            predicate.exact(values::known(*a)?, values::known(*b)?)
        }
        (cute::EQUAL | cute::ELEM_LESS, _) => {
            let of = operands.iter();
            let of = of.map(|value| algebra::value_of(value.r#type()).filter(Value::is_static));
            match algebra::evaluate(op, &of.collect::<Option<Vec<_>>>()?).ok()?[..] {
                [Value::Bool(Truth::Known(known))] => Some(known),
                _ => None,
            }
        }
        (name, [a, b]) => match (Arith::named(name)?, truth(*a), truth(*b)) {
            (Arith::And, Some(false), _) | (Arith::And, _, Some(false)) => Some(false),
            (Arith::Or, Some(true), _) | (Arith::Or, _, Some(true)) => Some(true),
            (Arith::And, Some(a), Some(b)) => Some(a && b),
            (Arith::Or, Some(a), Some(b)) => Some(a || b),
            (Arith::Xor, Some(a), Some(b)) => Some(a != b),
            _ => None,
        },
        _ => None,
    }
}
