//! `cute-try-plans`: the pipeline, and where the assembler finds that a chosen plan has too few registers (its kernel spills, or runs products of
//! `wgmma` one after another), the pipeline once more without that plan.
//!
//! The choice is made at the pipeline's beginning by an estimate, and the assembler has the last word at its end. What is compiled again is the module
//! as it was, so that nothing is half done; which plans are left out follows from the module and the options alone. A plan that somebody wrote stays
//! an error, and so does the last one of a few.

use crate::pipeline::CompileOptions;
use cute_ir::{
    AttemptsSpec, Outcome,
    attributes::{PLAN, SHORT_OF_REGISTERS, STAYS},
    diag,
    mlir::{Op, array_of, attribute_of, entry_of, name_of, nested_ops, string_value},
    ops::cute,
    options::Options,
    plan::Plan,
};
use cute_passes::plan::{Avoid, options_of};
use melior::ir::operation::OperationLike;

/// The pass.
pub(crate) const PASS: AttemptsSpec = AttemptsSpec {
    name: "cute-try-plans",
    description: "Compile as --cute-compile does, with other plans where chosen ones have too few registers",
    options: CompileOptions::SPECS,
    pipeline,
    judge,
};

/// Compilations of a module, at most.
const TRIES: usize = 4;

fn pipeline(options: &[&str], state: &str) -> Result<String, String> {
    let options = CompileOptions::of(options)?;
    let avoid = state.split([' ', '+']).filter(|name| !name.is_empty());
    let avoid = avoid.map(str::to_owned).collect();
    let (_, passes) = options.passes(Some(Avoid(avoid)))?;
    Ok(passes)
}

/// The state has the names of plans that are left out, a word for those of each compilation.
fn judge<'c>(failed: Op<'c>, before: Op<'c>, state: &str) -> Outcome {
    let short = attribute_of(failed, SHORT_OF_REGISTERS).and_then(array_of);
    let Some(short) = short.filter(|all| !all.is_empty()) else {
        return Outcome::Failed;
    };
    let contracts = nested_ops(before).into_iter();
    let contracts = contracts.filter(|op| name_of(*op) == cute::CONTRACT);
    let contracts: Vec<Op<'c>> = contracts.collect();
    let given: Vec<_> = contracts
        .iter()
        .filter_map(|op| attribute_of(*op, PLAN))
        .map(|plan| plan.to_string())
        .collect();
    let known: Vec<&str> = state.split([' ', '+']).collect();
    let (mut names, mut remarks) = (Vec::new(), Vec::new());
    for kernel in short {
        let called = entry_of(kernel, "kernel").and_then(string_value);
        let called = called.unwrap_or_default();
        if entry_of(kernel, STAYS).is_some() {
            if known.contains(&Avoid::STAYS) {
                return Outcome::Failed;
            }
            if !names.iter().any(|name| name == Avoid::STAYS) {
                names.push(Avoid::STAYS.to_owned());
                remarks.push(format!(
                    "the kernel {called} has too few registers for blocks that compute one row after another; each computes its own in their place"
                ));
            }
            continue;
        }
        let plan = entry_of(kernel, "plan");
        // A kernel that was written by hand has none.
        let Some((plan, read)) = plan.and_then(|plan| Some((plan, Plan::of(plan)?))) else {
            return Outcome::Failed;
        };
        let name = Avoid::name_of(&read);
        if given.contains(&plan.to_string()) || known.contains(&name.as_str()) {
            return Outcome::Failed;
        }
        if !names.contains(&name) {
            names.push(name);
            remarks.push(format!(
                "the kernel {called} has too few registers by {}; another plan is chosen in its place",
                options_of(&read)
            ));
        }
    }
    let tried = state.split_whitespace().count() + 1;
    if tried >= TRIES {
        return Outcome::Failed;
    }
    // By names alone the last one might be the next of many that spill.
    if tried + 1 == TRIES {
        let all = known
            .iter()
            .copied()
            .chain(names.iter().map(String::as_str));
        let half = Avoid::half_of(all);
        names.extend(half);
    }
    let mut algorithms = nested_ops(before)
        .into_iter()
        .filter(|op| matches!(name_of(*op), cute::CONTRACT | cute::MAP));
    let place = algorithms.find(|op| attribute_of(*op, PLAN).is_none());
    let location = place.unwrap_or(before).location();
    for remark in remarks {
        diag::remark(location, remark);
    }
    Outcome::Again(format!("{state} {}", names.join("+")).trim().to_owned())
}
