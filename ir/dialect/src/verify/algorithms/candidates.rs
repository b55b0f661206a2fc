//! Candidates for a product, of which a launch takes one.

use super::super::Checked;
use super::is_on_device;
use crate::mlir::*;
use crate::ops::cute;

pub(in super::super) fn verify_candidates(op: cute::Candidates<'_>) -> Checked {
    if is_on_device(op.op()) {
        return Err(
            "is for the host function that launches; expected it outside of kernels".to_owned(),
        );
    }
    let texts = |attribute: Option<_>| attribute.and_then(array_of).unwrap_or_default();
    let (plans, problems) = (texts(op.plans()), texts(op.problems()));
    let times = op.times();
    if plans.is_empty() || [problems.len(), times.len()] != [plans.len(); 2] {
        return Err(format!(
            "expected a plan at least, and a problem and a time for each, found {} plans, {} problems and {} times",
            plans.len(),
            problems.len(),
            times.len()
        ));
    }
    let named: Vec<_> = plans.iter().zip(&problems).collect();
    for (at, (plan, problem)) in named.iter().enumerate() {
        if named[..at].contains(&(plan, problem)) {
            return Err(format!(
                "expected each plan of a problem once, found {plan} of {problem} twice"
            ));
        }
    }
    let left_out = op.left_out().and_then(i64s_of).unwrap_or_default();
    let mut met = vec![false; plans.len()];
    for at in left_out {
        let place = usize::try_from(at).ok().and_then(|at| met.get_mut(at));
        let Some(place) = place.filter(|met| !**met) else {
            return Err(format!(
                "expected in left_out numbers of plans, from 0 to {}, each once, found {at}",
                plans.len() - 1
            ));
        };
        *place = true;
    }
    if met.iter().all(|out| *out) {
        return Err("expected a plan that is not left out, found none".to_owned());
    }
    Ok(())
}
