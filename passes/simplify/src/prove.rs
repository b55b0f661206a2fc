//! The prover of rules: at small widths it tries every constant, every value, and a lattice of facts, and compares both
//! sides of a rule wherever its guard holds. Also that a right side is defined wherever the left side is: no rule may
//! bring in a division by zero or a shift by too much.

use crate::rules::{BOUND, CONSTANTS, Compiled, Env, Pat, Rule, TERMS, TOPICS, is_constant_slot};
use cute_arith::{Facts, mask};
use std::cell::Cell;

/// The number of combinations of facts and constants that are tried at most for one rule at one width. Lattices are thinned
/// out evenly to keep below it; at width 3 none has to be.
const BUDGET: usize = 200_000;

/// The lattices of the widths that are tried: with bits known to be one at the smallest, without above.
struct Lattices(Vec<(u32, Vec<Facts>)>);

impl Lattices {
    fn new() -> Lattices {
        Lattices(vec![
            (2, Facts::all(2, true)),
            (3, Facts::all(3, true)),
            (4, Facts::all(4, false)),
            (5, Facts::all(5, false)),
        ])
    }
}

struct Prover<'a> {
    rule: &'a Compiled,
    width: u32,
    lattice: &'a [Facts],
    terms: Vec<usize>,
    constants: Vec<usize>,
    /// Slots whose facts the guard or a computed constant looks at; the others have one entry, `any`.
    looked_at: u8,
    cases: usize,
}

/// Proves a rule at all widths; the number of cases compared, or a counterexample.
fn prove(rule: &Compiled, lattices: &Lattices) -> Result<usize, String> {
    let mut cases = 0;
    for (width, lattice) in &lattices.0 {
        let mut vars = rule.lhs.vars();
        vars.sort();
        vars.dedup();
        let (constants, terms) = vars.into_iter().partition(|&v| is_constant_slot(v));
        let mut prover = Prover {
            rule,
            width: *width,
            lattice,
            terms,
            constants,
            looked_at: 0,
            cases: 0,
        };
        // Which facts are looked at may depend on the others, so start over whenever there is a new one.
        while prover.run()? == Outcome::LookedFurther {}
        cases += prover.cases;
    }
    Ok(cases)
}

#[derive(PartialEq)]
enum Outcome {
    Done,
    LookedFurther,
}

impl Prover<'_> {
    fn run(&mut self) -> Result<Outcome, String> {
        self.cases = 0;
        let looked: Vec<usize> = self
            .terms
            .iter()
            .copied()
            .filter(|t| self.looked_at >> t & 1 == 1)
            .collect();
        let constants = 1 << (self.width as usize * self.constants.len());
        let mut step = 1;
        while self.lattice.len().div_ceil(step).pow(looked.len() as u32) * constants > BUDGET
            && step < self.lattice.len()
        {
            step += 1;
        }
        assert!(
            self.width > 3 || step == 1 || looked.len() + self.constants.len() > 3,
            "{}: thinned out",
            self.rule.rule.name
        );
        let facts: Vec<Facts> = self.lattice.iter().copied().step_by(step).collect();
        for combination in 0..facts.len().pow(looked.len() as u32) {
            let mut of_term = [Facts::any(self.width); TERMS + 1];
            let mut rest = combination;
            for &slot in &looked {
                of_term[slot] = facts[rest % facts.len()];
                rest /= facts.len();
            }
            for constants in 0..constants as u64 {
                let mut consts = [0; CONSTANTS];
                for (i, &slot) in self.constants.iter().enumerate() {
                    consts[slot - TERMS - 1] =
                        constants >> (i as u32 * self.width) & mask(self.width);
                }
                let env = Env {
                    width: self.width,
                    facts: of_term,
                    consts,
                    seen: Cell::new(0),
                };
                let holds = self.rule.holds(&env);
                let computed = if holds {
                    self.rule.compute(&env)
                } else {
                    [0; 2]
                };
                if env.seen.get() & !self.looked_at != 0 {
                    self.looked_at |= env.seen.get();
                    return Ok(Outcome::LookedFurther);
                }
                if holds {
                    self.compare(&env, computed)?;
                }
            }
        }
        Ok(Outcome::Done)
    }

    fn compare(&mut self, env: &Env, computed: [u64; 2]) -> Result<(), String> {
        let mut values = [0; BOUND];
        for &slot in &self.constants {
            values[slot] = env.consts[slot - TERMS - 1];
        }
        let all = mask(self.width);
        for packed in 0..1_u64 << (self.width as usize * self.terms.len()) {
            for (i, &slot) in self.terms.iter().enumerate() {
                values[slot] = packed >> (i as u32 * self.width) & all;
            }
            if !self
                .terms
                .iter()
                .all(|&slot| env.facts[slot].contains(values[slot]))
            {
                continue;
            }
            self.cases += 1;
            let side = |pat| value(pat, &values, &computed, self.width);
            let ((left, left_defined), (right, right_defined)) =
                (side(&self.rule.lhs), side(&self.rule.rhs));
            if left != right || (left_defined && !right_defined) {
                let name = self.rule.rule.name;
                let facts = env.facts;
                return Err(format!(
                    "{name} at width {}: {left} became {right} (defined: {left_defined}, {right_defined}) for {values:?}, computed {computed:?}, facts {facts:?}",
                    self.width
                ));
            }
        }
        Ok(())
    }
}

/// The value of a side, and whether a GPU defines it.
fn value(pat: &Pat, values: &[u64; BOUND], computed: &[u64; 2], width: u32) -> (u64, bool) {
    match pat {
        Pat::Const(c) => (c & mask(width), true),
        Pat::Var(slot) => (values[*slot], true),
        Pat::Computed(i) => (computed[*i], true),
        Pat::Bin(op, a, b) => {
            let ((a, a_defined), (b, b_defined)) = (
                value(a, values, computed, width),
                value(b, values, computed, width),
            );
            let defined = op.row().is_defined(a, b, width);
            (op.apply(a, b, width), a_defined && b_defined && defined)
        }
    }
}

fn prove_topic(name: &str) {
    let lattices = Lattices::new();
    let (_, rules) = TOPICS.iter().find(|(topic, _)| *topic == name).unwrap();
    for rule in *rules {
        let compiled = Compiled::new(rule).unwrap();
        let cases = prove(&compiled, &lattices).unwrap_or_else(|why| panic!("{why}"));
        assert!(
            cases >= 20,
            "{} is guarded so much that it was compared in {cases} cases only",
            rule.name
        );
    }
}

#[test]
fn every_law_of_add_mul_holds() {
    prove_topic("add_mul");
}

#[test]
fn every_law_of_div_rem_holds() {
    prove_topic("div_rem");
}

#[test]
fn every_law_of_bits_holds() {
    prove_topic("bits");
}

#[test]
fn every_law_of_swizzle_holds() {
    prove_topic("swizzle");
}

#[test]
fn every_law_of_min_max_holds() {
    prove_topic("min_max");
}

/// Laws that look right and are not.
static WRONG: &[Rule] = &[
    // No guard at all.
    Rule::new("hoist-any", "(^ (+ ?x ?c) ?y)", "(+ (^ ?x ?y) ?c)"),
    Rule::new("quotient-back", "(* (/ ?x ?c) ?c)", "?x"),
    // The product may wrap.
    Rule::new("div-mul-wrapping", "(/ (* ?x ?c) ?c)", "?x").when(|e| e.c() > 0),
    // The guard is one too weak.
    Rule::new("rem-small-or-equal", "(% ?x ?y)", "?x")
        .when(|e| e.x().hi <= e.y().lo && e.y().lo > 0),
    // A carry from below the divisor is forgotten.
    Rule::new("div-add-carry", "(/ (+ ?x ?c) ?d)", "(+ (/ ?x ?d) ?k)")
        .when(|e| e.d() > 0 && e.sum_fits(e.x().hi, e.c()))
        .k(|e| e.c() / e.d()),
    // The computed constant is off by one.
    Rule::new("sub-const-off", "(- ?x ?c)", "(+ ?x ?k)").k(|e| !e.c()),
    // Only the lowest bit of y is looked at.
    Rule::new("hoist-low-bit", "(^ (+ ?x ?z) ?y)", "(+ (^ ?x ?y) ?z)")
        .when(|e| e.z().maybe() & e.y().maybe() & 1 == 0),
    // Equal under the total division of this crate, but it divides where nothing was divided.
    Rule::new("invents-a-division", "(- ?x ?x)", "(- (/ ?x ?x) (/ ?x ?x))"),
];

#[test]
fn wrong_laws_are_found_out() {
    let lattices = Lattices::new();
    for rule in WRONG {
        let compiled = Compiled::new(rule).unwrap();
        let found = prove(&compiled, &lattices);
        assert!(
            found.is_err(),
            "{} passed as proved in {found:?} cases",
            rule.name
        );
    }
}

/// Rules whose guard only says when the rule is worth applying: they hold without it.
const TRUE_WITHOUT_GUARD: &[&str] = &[
    "sub-const",
    "shl-is-mul",
    // x % 0 is x here: the guard keeps a division by zero what it is.
    "rem-self",
    "rem-by-quotient",
    "and-trim",
    "and-add-trim",
    "and-xor-const",
    "and-or-const",
];

/// The prover sees what guards are for: without them, rules are found out. (Computing a constant may fail, too.)
#[test]
fn without_its_guard_a_rule_is_found_out() {
    let lattices = Lattices(vec![(2, Facts::all(2, true)), (3, Facts::all(3, false))]);
    let mut held = Vec::new();
    for rule in TOPICS.iter().flat_map(|(_, rules)| rules.iter()) {
        let unguarded: &'static Rule = Box::leak(Box::new(rule.unguarded()));
        let compiled = Compiled::new(unguarded).unwrap();
        if rule.is_guarded()
            && std::panic::catch_unwind(|| prove(&compiled, &lattices).is_ok()).unwrap_or(false)
        {
            held.push(rule.name);
        }
    }
    assert_eq!(held, TRUE_WITHOUT_GUARD);
}
