//! The rules: laws of wrapping integer arithmetic as data. `README.md` beside this file has the rules for writing them.

mod add_mul;
mod bits;
mod casts;
mod compare;
mod div_rem;
mod min_max;
mod pattern;
mod plan;
mod select;
mod signed;
mod swizzle;

pub(crate) use pattern::{Kind, Pat, Typed, cast_word, value_bits, word};
pub(crate) use plan::{KEPT, Meet, Part, Plan, What};

use cute_arith::{Facts, mask};
use pattern::Typing;
use std::cell::Cell;
use std::sync::OnceLock;

/// The number of variables that stand for any term: `?x ?y ?z`.
pub(crate) const TERMS: usize = 3;
/// The slot of the variable that stands for a term that is not a constant: `?u`. It comes after `?z`.
const SLOT_U: usize = TERMS;
/// The number of variables that stand for a constant: `?c ?d ?m`.
pub(crate) const CONSTANTS: usize = 3;
/// All variables that a left side can bind.
pub(crate) const BOUND: usize = SLOT_U + 1 + CONSTANTS;
/// The constants that a rule computes: `?k ?l`.
pub(crate) const COMPUTED: usize = 2;
/// The number of different widths that a rule can have.
pub(crate) const WIDTHS: usize = 5;

/// A law: `lhs = rhs` for all values of the variables whose facts fulfil the guard.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    lhs: &'static str,
    rhs: &'static str,
    guard: Option<fn(&Env) -> bool>,
    k: fn(&Env) -> u64,
    l: fn(&Env) -> u64,
}

impl Rule {
    pub(crate) const fn new(name: &'static str, lhs: &'static str, rhs: &'static str) -> Rule {
        Rule {
            name,
            lhs,
            rhs,
            guard: None,
            k: |_| 0,
            l: |_| 0,
        }
    }

    /// The condition under which the law holds, and under which it is worth applying.
    pub(crate) const fn when(self, guard: fn(&Env) -> bool) -> Rule {
        Rule {
            guard: Some(guard),
            ..self
        }
    }

    /// The rule with no guard, for the prover's own test.
    #[cfg(test)]
    pub(crate) const fn unguarded(&self) -> Rule {
        Rule {
            guard: None,
            ..*self
        }
    }

    /// Tells whether the rule has a guard.
    #[cfg(test)]
    pub(crate) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// The constant `?k` of the right side. Wrapped to the width by whoever asks.
    pub(crate) const fn k(self, k: fn(&Env) -> u64) -> Rule {
        Rule { k, ..self }
    }

    /// The constant `?l` of the right side.
    pub(crate) const fn l(self, l: fn(&Env) -> u64) -> Rule {
        Rule { l, ..self }
    }
}

/// The values that a guard and a computed constant may look at.
pub(crate) struct Env {
    /// The width of what a rule is about: of its root, and where that is a comparison, of what it compares.
    pub(crate) width: u32,
    /// The widths of the rule, numbered in the order in which its left side names them: that of its root is 0.
    pub(crate) widths: [u32; WIDTHS],
    pub(crate) facts: [Facts; TERMS + 1],
    pub(crate) consts: [u64; CONSTANTS],
    /// The facts that were looked at, for the prover: facts that are not looked at need not be tried.
    pub(crate) seen: Cell<u8>,
}

impl Env {
    fn look(&self, slot: usize) -> Facts {
        self.seen.set(self.seen.get() | 1 << slot);
        self.facts[slot]
    }
    pub(crate) fn x(&self) -> Facts {
        self.look(0)
    }
    pub(crate) fn y(&self) -> Facts {
        self.look(1)
    }
    pub(crate) fn z(&self) -> Facts {
        self.look(2)
    }
    pub(crate) fn c(&self) -> u64 {
        self.consts[0]
    }
    pub(crate) fn d(&self) -> u64 {
        self.consts[1]
    }
    pub(crate) fn m(&self) -> u64 {
        self.consts[2]
    }
    /// All ones at a width of the rule, by its number.
    pub(crate) fn ones(&self, width: usize) -> u64 {
        mask(self.widths[width])
    }
    /// All ones below the sign at a width of the rule, by its number.
    pub(crate) fn half(&self, width: usize) -> u64 {
        self.ones(width) >> 1
    }
    /// Tells whether none of these numbers is negative at the width of the rule.
    pub(crate) fn not_negative<const N: usize>(&self, numbers: [Facts; N]) -> bool {
        numbers.iter().all(|facts| facts.hi <= self.all() >> 1)
    }
    /// All ones.
    pub(crate) fn all(&self) -> u64 {
        mask(self.width)
    }
    /// Tells whether `a + b` stays below two to the width.
    pub(crate) fn sum_fits(&self, a: u64, b: u64) -> bool {
        a.checked_add(b).is_some_and(|s| s <= self.all())
    }
    /// Tells whether `a * b` stays below two to the width.
    pub(crate) fn product_fits(&self, a: u64, b: u64) -> bool {
        a.checked_mul(b).is_some_and(|p| p <= self.all())
    }
    /// Tells whether `a * b + c` stays below two to the width.
    pub(crate) fn linear_fits(&self, a: u64, b: u64, c: u64) -> bool {
        self.product_fits(a, b) && self.sum_fits(a * b, c)
    }
}

/// Tells whether `d` is a divisor of `c`, and not zero.
pub(crate) fn divides(d: u64, c: u64) -> bool {
    d != 0 && c.is_multiple_of(d)
}

/// Tells whether a slot takes constants only.
pub(crate) fn is_constant_slot(slot: usize) -> bool {
    slot > SLOT_U
}

/// Tells whether a slot takes anything but constants.
pub(crate) fn is_varying_slot(slot: usize) -> bool {
    slot == SLOT_U
}

/// A rule ready for matching.
pub(crate) struct Compiled {
    pub(crate) rule: &'static Rule,
    pub(crate) lhs: Typed,
    pub(crate) rhs: Typed,
    /// The steps in which the left side is looked for.
    pub(crate) plan: Plan,
    /// The number of computed constants that the right side names.
    pub(crate) computed: usize,
    /// The number of widths that the rule has.
    #[cfg(test)]
    pub(crate) widths: usize,
    /// The widths that are 1.
    pub(crate) ones: Vec<usize>,
    /// Pairs of widths of which the first is smaller.
    pub(crate) rising: Vec<(usize, usize)>,
}

impl Compiled {
    pub(crate) fn new(rule: &'static Rule) -> Result<Compiled, String> {
        let wrong = |why: String| format!("rule {}: {why}", rule.name);
        let side = |text| Pat::parse(text).map_err(|why| wrong(format!("{why} in `{text}`")));
        let (lhs, rhs) = (side(rule.lhs)?, side(rule.rhs)?);
        // Every law is about an operation.
        lhs.kind()
            .ok_or_else(|| wrong(format!("`{}` is no operation", rule.lhs)))?;
        let Typing {
            lhs,
            rhs,
            #[cfg(test)]
            widths,
            ones,
            rising,
            ..
        } = Typing::of(&lhs, &rhs).map_err(wrong)?;
        let computed = rhs
            .slots(&|p| {
                if let Pat::Computed(i) = p {
                    Some(i + 1)
                } else {
                    None
                }
            })
            .into_iter()
            .max();
        Ok(Compiled {
            rule,
            plan: Plan::of(&lhs).map_err(wrong)?,
            lhs,
            rhs,
            computed: computed.unwrap_or(0),
            #[cfg(test)]
            widths,
            ones,
            rising,
        })
    }

    /// The width that guards call that of the rule.
    pub(crate) fn width(&self, widths: &[u32; WIDTHS]) -> u32 {
        widths[match &self.lhs.pat {
            Pat::Compare(_, sides) => sides[0].width,
            _ => self.lhs.width,
        }]
    }

    /// Tells whether the rule says the same with the operands of its root the other way round.
    pub(crate) fn is_symmetric(&self) -> bool {
        let (Pat::Op(op, _), [a, b]) = (&self.lhs.pat, self.lhs.pat.parts()) else {
            return false;
        };
        let mut names = [None; BOUND];
        op.commutes()
            && self.rule.guard.is_none()
            && self.computed == 0
            && a.is_renamed(b, &mut names, true)
            && b.is_renamed(a, &mut names, true)
            && self.rhs.is_renamed(&self.rhs, &mut names, false)
    }

    /// Tells whether widths are such as the rule takes.
    pub(crate) fn fits(&self, widths: &[u32; WIDTHS]) -> bool {
        self.ones.iter().all(|&one| widths[one] == 1)
            && self.rising.iter().all(|&(a, b)| widths[a] < widths[b])
    }

    /// Tells whether the rule asks nothing about what its variables stand for, and computes nothing from it.
    pub(crate) fn is_plain(&self) -> bool {
        self.rule.guard.is_none() && self.computed == 0
    }

    /// Tells whether the guard holds.
    pub(crate) fn holds(&self, env: &Env) -> bool {
        self.rule.guard.is_none_or(|guard| guard(env))
    }

    /// The computed constants; only where the guard holds. Wrapped to the width of their place by whoever writes them.
    pub(crate) fn compute(&self, env: &Env) -> [u64; COMPUTED] {
        let ask = |f: fn(&Env) -> u64, used: bool| if used { f(env) } else { 0 };
        [
            ask(self.rule.k, self.computed > 0),
            ask(self.rule.l, self.computed > 1),
        ]
    }
}

/// The files of rules, by topic.
pub(crate) const TOPICS: [(&str, &[Rule]); 9] = [
    ("add_mul", add_mul::RULES),
    ("div_rem", div_rem::RULES),
    ("bits", bits::RULES),
    ("swizzle", swizzle::RULES),
    ("min_max", min_max::RULES),
    ("casts", casts::RULES),
    ("compare", compare::RULES),
    ("select", select::RULES),
    ("signed", signed::RULES),
];

/// Every rule, ready for matching.
pub(crate) fn compiled() -> &'static [Compiled] {
    static ALL: OnceLock<Vec<Compiled>> = OnceLock::new();
    // A rule that does not parse is left out here and found by the test below.
    ALL.get_or_init(|| {
        TOPICS
            .iter()
            .flat_map(|(_, rules)| rules.iter())
            .filter_map(|r| Compiled::new(r).ok())
            .collect()
    })
}

/// The number of levels that a match can look below its root, at most.
pub(crate) fn height() -> usize {
    compiled()
        .iter()
        .map(|rule| rule.lhs.height)
        .max()
        .unwrap_or(0)
}

/// The names of all rules.
pub fn rule_names() -> Vec<&'static str> {
    compiled().iter().map(|c| c.rule.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_is_well_formed() {
        let mut names = BTreeSet::new();
        for rule in TOPICS.iter().flat_map(|(_, rules)| rules.iter()) {
            let compiled = Compiled::new(rule).unwrap();
            assert!(
                names.insert(rule.name),
                "two rules are called {}",
                rule.name
            );
            let bound = compiled.lhs.vars();
            assert!(
                compiled.rhs.vars().iter().all(|v| bound.contains(v)),
                "{}: the right side invents a variable",
                rule.name
            );
            let used = compiled.rhs.slots(&|p| {
                if let Pat::Computed(i) = p {
                    Some(*i)
                } else {
                    None
                }
            });
            assert!(
                !used.contains(&1) || used.contains(&0),
                "{}: ?l without ?k",
                rule.name
            );
        }
        assert_eq!(names.len(), compiled().len());
    }

    #[test]
    fn rules_that_say_the_same_both_ways_round_are_found() {
        let symmetric = |name: &str| {
            let rule = compiled().iter().find(|rule| rule.rule.name == name);
            rule.unwrap().is_symmetric()
        };
        assert!(symmetric("factor") && symmetric("xor-self"));
        // The others have operands that differ, a guard, or a constant that is computed.
        for name in ["add-const-out", "and-absorbs", "or-disjoint", "sub-self"] {
            assert!(!symmetric(name), "{name}");
        }
    }
}
