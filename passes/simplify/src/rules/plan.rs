//! The steps in which the left side of a rule is looked for.
//!
//! Which part of a pattern is looked for when, which variable is met there for the first time, and of which widths something is known by then does
//! not depend on the terms that are met: it is found out once for each rule. A match is then a walk along the steps, which tries terms
//! of one class in each, with nothing to take back when it returns.

use super::BOUND;
use super::pattern::{Kind, Pat, Typed};

/// The most operations that a left side may have below its root.
pub(crate) const KEPT: usize = 6;

/// The way in which the left side of a rule is looked for.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The parts of the root.
    pub(crate) root: Vec<Part>,
    /// The operations below it, one after the other.
    pub(crate) steps: Vec<Step>,
    /// The variables that the left side binds.
    pub(crate) binds: [bool; BOUND],
}

/// An operation of a pattern, of which terms are tried.
#[derive(Debug)]
pub(crate) struct Step {
    /// The place where the class is kept that is to have such a term.
    pub(crate) class: usize,
    /// The operation, by [`Kind::number`].
    pub(crate) kind: u32,
    pub(crate) width: Meet,
    pub(crate) parts: Vec<Part>,
    /// The places of all classes that are still to be looked into, this one among them, each with the number of levels that it is looked into.
    pub(crate) waiting: Vec<(usize, u32)>,
}

/// A part of an operation.
#[derive(Debug)]
pub(crate) struct Part {
    /// The number of the operand.
    pub(crate) operand: usize,
    /// The bits that the class of the operand has to have, and those that operands of its terms have to have: [`Typed::needs`].
    pub(crate) needs: u64,
    pub(crate) needs_below: u64,
    pub(crate) what: What,
}

/// The meaning of a part.
#[derive(Debug)]
pub(crate) enum What {
    /// An operation, which is looked for in a later step: the class is kept at a place until then.
    Later(usize),
    /// A number.
    Const(u64, Meet),
    /// A variable.
    Var(Meet, Meet),
}

/// A variable, or a width, by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meet {
    /// It is met for the first time: it is what it meets.
    First(usize),
    /// It was met before: it has to be the same.
    Again(usize),
}

impl Plan {
    /// The plan for a left side, whose root is of the first width.
    pub(super) fn of(lhs: &Typed) -> Result<Plan, String> {
        let mut planner = Planner {
            plan: Plan {
                root: Vec::new(),
                steps: Vec::new(),
                binds: [false; BOUND],
            },
            widths: vec![lhs.width],
            waiting: Vec::new(),
            kept: 0,
        };
        let root = planner.parts(lhs);
        planner.plan.root = root;
        planner.steps(lhs);
        match planner.kept <= KEPT {
            true => Ok(planner.plan),
            false => Err(format!("it has more than {KEPT} operations below its root")),
        }
    }
}

struct Planner {
    plan: Plan,
    /// The widths that have been met.
    widths: Vec<usize>,
    /// The classes that are kept and not looked into yet.
    waiting: Vec<(usize, u32)>,
    /// The number of classes that have been kept.
    kept: usize,
}

impl Planner {
    fn width(&mut self, width: usize) -> Meet {
        if self.widths.contains(&width) {
            return Meet::Again(width);
        }
        self.widths.push(width);
        Meet::First(width)
    }

    /// The parts of an operation in the order in which they are looked at.
    fn parts(&mut self, typed: &Typed) -> Vec<Part> {
        let parts = typed.pat.parts();
        let order = typed.order[..parts.len()].iter().map(|&at| usize::from(at));
        let part = |operand: usize| {
            let part = &parts[operand];
            let what = match part.pat {
                Pat::Const(value) => What::Const(value, self.width(part.width)),
                Pat::Var(slot) => {
                    let width = self.width(part.width);
                    let is_bound = std::mem::replace(&mut self.plan.binds[slot], true);
                    let slot = if is_bound {
                        Meet::Again(slot)
                    } else {
                        Meet::First(slot)
                    };
                    What::Var(slot, width)
                }
                _ => {
                    self.waiting.push((self.kept, part.height as u32));
                    self.kept += 1;
                    What::Later(self.kept - 1)
                }
            };
            Part {
                operand,
                needs: part.needs,
                needs_below: part.needs_below,
                what,
            }
        };
        order.map(part).collect()
    }

    /// The steps for the operations among the parts of one whose parts have been looked at last.
    fn steps(&mut self, typed: &Typed) {
        let parts = typed.pat.parts();
        let order = typed.order[..parts.len()]
            .iter()
            .map(|&at| &parts[usize::from(at)]);
        let operations: Vec<(&Typed, Kind)> = order
            .filter_map(|part| Some((part, part.pat.kind()?)))
            .collect();
        let first = self.kept - operations.len();
        for (at, (part, kind)) in operations.into_iter().enumerate() {
            let class = first + at;
            let waiting = self.waiting.clone();
            self.waiting.retain(|&(kept, _)| kept != class);
            let width = self.width(part.width);
            let parts = self.parts(part);
            self.plan.steps.push(Step {
                class,
                kind: kind.number(),
                width,
                parts,
                waiting,
            });
            self.steps(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiled;
    use super::*;

    /// The parts of a plan in the order in which they are looked at.
    fn parts(plan: &Plan) -> impl Iterator<Item = &Part> {
        let below = plan.steps.iter().flat_map(|step| &step.parts);
        plan.root.iter().chain(below)
    }

    #[test]
    fn each_operation_of_a_left_side_is_one_step_behind_that_which_it_is_part_of() {
        for rule in compiled() {
            let (plan, name) = (&rule.plan, rule.rule.name);
            let later = parts(plan).filter_map(|part| match part.what {
                What::Later(at) => Some(at),
                _ => None,
            });
            let mut later: Vec<usize> = later.collect();
            later.sort_unstable();
            let mut taken: Vec<usize> = plan.steps.iter().map(|step| step.class).collect();
            for (at, step) in plan.steps.iter().enumerate() {
                let before = plan
                    .root
                    .iter()
                    .chain(plan.steps[..at].iter().flat_map(|s| &s.parts));
                let is_kept =
                    |part: &Part| matches!(part.what, What::Later(at) if at == step.class);
                assert_eq!(before.filter(|part| is_kept(part)).count(), 1, "{name}");
                assert!(
                    step.waiting.iter().any(|&(kept, _)| kept == step.class),
                    "{name}"
                );
            }
            taken.sort_unstable();
            assert_eq!(taken, later, "{name}");
        }
    }

    #[test]
    fn variables_are_met_once_for_the_first_time() {
        for rule in compiled() {
            let (plan, name) = (&rule.plan, rule.rule.name);
            let mut met = [false; BOUND];
            for part in parts(plan) {
                match part.what {
                    What::Var(Meet::First(slot), _) => {
                        assert!(!std::mem::replace(&mut met[slot], true), "{name}");
                    }
                    What::Var(Meet::Again(slot), _) => assert!(met[slot], "{name}"),
                    _ => {}
                }
            }
            assert_eq!(met, plan.binds, "{name}");
        }
    }
}
