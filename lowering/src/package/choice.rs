//! Candidates of a product, which a package leaves to whoever measures: `cute.candidates`.

use super::plan::HostPlan;
use cute_ir::{
    Expected, Failure, diag,
    mlir::{array_of, i64s_of, integer_value, string_value},
    ops::cute,
};
use cute_runtime::package::{Candidate, CandidateChoice, Expr, Op as Apply};
use melior::ir::operation::OperationLike;

impl<'c> HostPlan<'c> {
    /// Reads the candidates of a product. Its result is a value of the plan of its own: the first candidate that suits the sizes, until somebody
    /// puts another number there.
    pub(super) fn choice(
        &mut self,
        candidates: cute::Candidates<'c>,
        when: Option<&Expr>,
    ) -> Result<(), Failure> {
        let op = candidates.op();
        if when.is_some() {
            return Err(diag::error(
                op.location(),
                "expected candidates in the function's body, found them in an scf.if",
            ));
        }
        let texts = |attribute: Option<_>| {
            let texts = attribute.and_then(array_of).unwrap_or_default();
            texts
                .into_iter()
                .map(|text| string_value(text).unwrap_or_default().to_owned())
        };
        let generation = candidates.generation().and_then(integer_value);
        let generation = generation.and_then(|number| u32::try_from(number).ok());
        let left_out = candidates.left_out().and_then(i64s_of).unwrap_or_default();
        let mut all = Vec::new();
        let named = texts(candidates.plans()).zip(texts(candidates.problems()));
        for (number, ((plan, problem), time)) in named.zip(candidates.times()).enumerate() {
            if left_out.contains(&(number as i64)) {
                continue;
            }
            let time = self.expression(op, time)?;
            all.push(Candidate {
                number,
                plan,
                problem,
                time: self.value(op, time)?,
            });
        }
        let mut extents = Vec::new();
        let sizes = [
            candidates.m(),
            candidates.n(),
            candidates.k(),
            candidates.batch(),
        ];
        for size in sizes {
            extents.push(self.expression(op, size)?);
        }
        // The first one that suits, or the last one, which says what is wrong.
        let number = |candidate: &Candidate| Expr::Constant(candidate.number as i64);
        let mut before = all.iter().rev();
        let mut first = before.next().map(number).expected(op, "a candidate")?;
        for candidate in before {
            let suits = Expr::apply(Apply::Le, vec![Expr::Constant(0), candidate.time.clone()]);
            let value = Expr::apply(Apply::Select, vec![suits, number(candidate), first]);
            first = self.value(op, value)?;
        }
        let Expr::Value(value) = self.value(op, first)? else {
            return Err(diag::error(op.location(), "expected a value of the plan"));
        };
        self.stands_for(candidates.chosen(), value);
        self.choices.push(CandidateChoice {
            value,
            generation: generation.expected(op, "a generation")?,
            extents: extents.try_into().ok().expected(op, "four extents")?,
            candidates: all,
        });
        Ok(())
    }
}
