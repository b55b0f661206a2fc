//! The rules: laws of wrapping integer arithmetic as data. `README.md` beside this file has the rules for writing them.

mod add_mul;
mod bits;
mod div_rem;
mod min_max;
mod swizzle;

use crate::node::Op;
use cute_arith::{Facts, mask};
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

/// A law: `lhs = rhs` for all values of the variables whose facts fulfil the guard.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    lhs: &'static str,
    rhs: &'static str,
    guard: fn(&Env) -> bool,
    k: fn(&Env) -> u64,
    l: fn(&Env) -> u64,
}

impl Rule {
    pub(crate) const fn new(name: &'static str, lhs: &'static str, rhs: &'static str) -> Rule {
        Rule {
            name,
            lhs,
            rhs,
            guard: unguarded,
            k: |_| 0,
            l: |_| 0,
        }
    }

    /// The condition under which the law holds, and under which it is worth applying.
    pub(crate) const fn when(self, guard: fn(&Env) -> bool) -> Rule {
        Rule { guard, ..self }
    }

    /// The rule with no guard, for the prover's own test.
    #[cfg(test)]
    pub(crate) const fn unguarded(&self) -> Rule {
        Rule {
            guard: unguarded,
            ..*self
        }
    }

    /// Tells whether the rule has a guard.
    #[cfg(test)]
    pub(crate) fn is_guarded(&self) -> bool {
        !std::ptr::fn_addr_eq(self.guard, unguarded as fn(&Env) -> bool)
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

fn unguarded(_: &Env) -> bool {
    true
}

/// The values that a guard and a computed constant may look at.
pub(crate) struct Env {
    pub(crate) width: u32,
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

/// One side of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pat {
    Const(u64),
    /// A variable that the left side binds, by slot.
    Var(usize),
    /// A computed constant.
    Computed(usize),
    Bin(Op, Box<Pat>, Box<Pat>),
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
    pub(crate) lhs: Pat,
    pub(crate) rhs: Pat,
    /// The number of computed constants that the right side names.
    pub(crate) computed: usize,
    /// The operation at the root of the left side: every law is about one.
    pub(crate) op: Op,
}

impl Compiled {
    pub(crate) fn new(rule: &'static Rule) -> Result<Compiled, String> {
        let side =
            |text| Pat::parse(text).map_err(|why| format!("rule {}: {why} in `{text}`", rule.name));
        let (lhs, rhs) = (side(rule.lhs)?, side(rule.rhs)?);
        let Pat::Bin(op, ..) = lhs else {
            return Err(format!(
                "rule {}: `{}` is no operation",
                rule.name, rule.lhs
            ));
        };
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
            lhs,
            rhs,
            computed: computed.unwrap_or(0),
            op,
        })
    }

    /// Tells whether the guard holds.
    pub(crate) fn holds(&self, env: &Env) -> bool {
        (self.rule.guard)(env)
    }

    /// The computed constants; only where the guard holds.
    pub(crate) fn compute(&self, env: &Env) -> [u64; COMPUTED] {
        let wrap = |f: fn(&Env) -> u64, used: bool| if used { f(env) & env.all() } else { 0 };
        [
            wrap(self.rule.k, self.computed > 0),
            wrap(self.rule.l, self.computed > 1),
        ]
    }
}

impl Pat {
    pub(crate) fn parse(text: &str) -> Result<Pat, String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut tokens = spaced.split_whitespace();
        let pat = Pat::from_tokens(&mut tokens)?;
        match tokens.next() {
            None => Ok(pat),
            Some(more) => Err(format!("`{more}` after the end")),
        }
    }

    fn from_tokens<'a>(tokens: &mut impl Iterator<Item = &'a str>) -> Result<Pat, String> {
        let token = tokens.next().ok_or("it ends too early")?;
        if let Some(name) = token.strip_prefix('?') {
            let of = |names: &str| names.find(name).filter(|_| name.len() == 1);
            return of("xyzucdm")
                .map(Pat::Var)
                .or_else(|| of("kl").map(Pat::Computed))
                .ok_or(format!("no variable `{name}`"));
        }
        if token != "(" {
            return token
                .parse()
                .map(Pat::Const)
                .map_err(|_| format!("`{token}` is no number"));
        }
        let op = match tokens.next().ok_or("it ends too early")? {
            "+" => Op::Add,
            "-" => Op::Sub,
            "*" => Op::Mul,
            "/" => Op::DivU,
            "%" => Op::RemU,
            "&" => Op::And,
            "|" => Op::Or,
            "^" => Op::Xor,
            "<<" => Op::Shl,
            ">>" => Op::ShrU,
            "min" => Op::MinU,
            "max" => Op::MaxU,
            other => return Err(format!("no operation `{other}`")),
        };
        let (a, b) = (Pat::from_tokens(tokens)?, Pat::from_tokens(tokens)?);
        match tokens.next() {
            Some(")") => Ok(Pat::Bin(op, Box::new(a), Box::new(b))),
            _ => Err("a `)` is missing".to_string()),
        }
    }

    /// Returns what `pick` finds in the pattern, in order.
    pub(crate) fn slots(&self, pick: &dyn Fn(&Pat) -> Option<usize>) -> Vec<usize> {
        let mut found: Vec<usize> = pick(self).into_iter().collect();
        if let Pat::Bin(_, a, b) = self {
            found.extend(a.slots(pick));
            found.extend(b.slots(pick));
        }
        found
    }

    /// The variables of the pattern.
    #[cfg(test)]
    pub(crate) fn vars(&self) -> Vec<usize> {
        self.slots(&|p| {
            if let Pat::Var(slot) = p {
                Some(*slot)
            } else {
                None
            }
        })
    }

    /// The number of levels that a match can look below its root.
    pub(crate) fn height(&self) -> usize {
        match self {
            Pat::Bin(_, a, b) => 1 + a.height().max(b.height()),
            _ => 0,
        }
    }
}

/// The files of rules, by topic.
pub(crate) const TOPICS: [(&str, &[Rule]); 5] = [
    ("add_mul", add_mul::RULES),
    ("div_rem", div_rem::RULES),
    ("bits", bits::RULES),
    ("swizzle", swizzle::RULES),
    ("min_max", min_max::RULES),
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
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "(+ ?x",
            "(+ ?x ?y) ?z",
            "(? ?x ?y)",
            "?w",
            "?xy",
            "(+ ?x ?y ?z)",
            "one",
        ] {
            assert!(Pat::parse(text).is_err(), "`{text}` was taken");
        }
    }
}
