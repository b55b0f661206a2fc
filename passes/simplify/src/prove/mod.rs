//! The prover of rules: at small widths it tries every constant, every value, and a lattice of facts, and compares both
//! sides of a rule wherever its guard holds. Also that a right side is defined wherever the left side is: no rule may
//! bring in a division by zero or a shift by too much. Rules of several widths are tried at all small widths that fit
//! together.

mod smt;

use crate::node::{Node, apply};
use crate::rules::{
    BOUND, COMPUTED, Compiled, Env, Pat, Rule, TERMS, TOPICS, Typed, WIDTHS, is_constant_slot,
};
use cute_arith::{Facts, mask};
use std::cell::Cell;

/// The number of combinations of facts and constants that are tried at most for one rule at widths up to 3, and at larger ones.
/// Lattices are thinned out evenly to keep below it; at widths up to 3 none has to be.
const BUDGET: [usize; 2] = [400_000, 50_000];

/// The largest width of a rule that has several.
const WIDEST: u32 = 4;

/// The lattices of the widths from 1 on: with bits known to be one at the smallest, without above.
struct Lattices(Vec<Vec<Facts>>);

impl Lattices {
    fn new() -> Lattices {
        Lattices((1..=5).map(|width| Facts::all(width, width <= 3)).collect())
    }

    fn of(&self, width: u32) -> &[Facts] {
        &self.0[width as usize - 1]
    }

    /// The widths at which a rule is tried.
    fn widths(&self, rule: &Compiled) -> Vec<[u32; WIDTHS]> {
        let free = (0..rule.widths).filter(|w| !rule.ones.contains(w));
        let free: Vec<usize> = free.collect();
        let most = self.0.len() as u32;
        let (from, to) = if free.len() > 1 {
            (1, WIDEST.min(most))
        } else {
            (2, most)
        };
        let mut found = vec![[0; WIDTHS]];
        for &width in &free {
            let with = |widths: [u32; WIDTHS]| {
                (from..=to).map(move |bits| {
                    let mut widths = widths;
                    widths[width] = bits;
                    widths
                })
            };
            found = found.into_iter().flat_map(with).collect();
        }
        for widths in &mut found {
            rule.ones.iter().for_each(|&one| widths[one] = 1);
        }
        found.retain(|widths| rule.fits(widths));
        found
    }
}

/// A variable of a rule and its bits.
type Slot = (usize, u32);

struct Prover<'a> {
    rule: &'a Compiled,
    widths: [u32; WIDTHS],
    lattices: &'a Lattices,
    terms: Vec<Slot>,
    constants: Vec<Slot>,
    /// Slots whose facts the guard or a computed constant looks at; the others have one entry, `any`.
    looked_at: u8,
    cases: usize,
}

/// Proves a rule at all widths; the number of cases compared, or a counterexample.
fn prove(rule: &Compiled, lattices: &Lattices) -> Result<usize, String> {
    let mut cases = 0;
    for widths in lattices.widths(rule) {
        let mut slots: Vec<Slot> = Vec::new();
        variables(&rule.lhs, &widths, &mut slots);
        slots.sort_unstable();
        slots.dedup();
        let (constants, terms) = slots.into_iter().partition(|&(v, _)| is_constant_slot(v));
        let mut prover = Prover {
            rule,
            widths,
            lattices,
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

fn variables(typed: &Typed, widths: &[u32; WIDTHS], slots: &mut Vec<Slot>) {
    if let Pat::Var(slot) = typed.pat {
        slots.push((slot, widths[typed.width]));
    }
    let parts = typed.pat.parts();
    parts.iter().for_each(|part| variables(part, widths, slots));
}

/// Takes the lowest `bits` of a number apart from the others.
fn take(packed: &mut u64, bits: u32) -> u64 {
    let value = *packed & mask(bits);
    *packed >>= bits;
    value
}

fn bits(slots: &[Slot]) -> u32 {
    slots.iter().map(|(_, bits)| bits).sum()
}

#[derive(PartialEq)]
enum Outcome {
    Done,
    LookedFurther,
}

impl Prover<'_> {
    fn run(&mut self) -> Result<Outcome, String> {
        self.cases = 0;
        let looked = self.terms.iter().copied();
        let looked: Vec<Slot> = looked
            .filter(|(t, _)| self.looked_at >> t & 1 == 1)
            .collect();
        let constants = 1_usize << bits(&self.constants);
        let sizes = |step: usize| -> Vec<usize> {
            let size = |(_, bits): &Slot| self.lattices.of(*bits).len().div_ceil(step);
            looked.iter().map(size).collect()
        };
        let budget = BUDGET[usize::from(self.widths.iter().any(|&width| width > 3))];
        let mut step = 1;
        while sizes(step).iter().product::<usize>() * constants > budget && step < budget {
            step += 1;
        }
        assert!(
            self.widths.iter().any(|&width| width > 3)
                || step == 1
                || looked.len() + self.constants.len() > 3,
            "{}: thinned out",
            self.rule.rule.name
        );
        let sizes = sizes(step);
        for combination in 0..sizes.iter().product() {
            let mut facts = [Facts::any(64); TERMS + 1];
            for &(slot, bits) in &self.terms {
                facts[slot] = Facts::any(bits);
            }
            let mut rest: usize = combination;
            for (&(slot, bits), size) in looked.iter().zip(&sizes) {
                facts[slot] = self.lattices.of(bits)[rest % size * step];
                rest /= size;
            }
            for constants in 0..constants as u64 {
                let mut consts = [0; crate::rules::CONSTANTS];
                let mut packed = constants;
                for &(slot, bits) in &self.constants {
                    consts[slot - TERMS - 1] = take(&mut packed, bits);
                }
                let env = Env {
                    width: self.rule.width(&self.widths),
                    widths: self.widths,
                    facts,
                    consts,
                    seen: Cell::new(0),
                };
                let holds = self.rule.holds(&env);
                let computed = if holds {
                    self.rule.compute(&env)
                } else {
                    [0; COMPUTED]
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

    fn compare(&mut self, env: &Env, computed: [u64; COMPUTED]) -> Result<(), String> {
        let mut values = [0; BOUND];
        for &(slot, _) in &self.constants {
            values[slot] = env.consts[slot - TERMS - 1];
        }
        for packed in 0..1_u64 << bits(&self.terms) {
            let mut rest = packed;
            for &(slot, bits) in &self.terms {
                values[slot] = take(&mut rest, bits);
            }
            let known = |&(slot, _): &Slot| env.facts[slot].contains(values[slot]);
            if !self.terms.iter().all(known) {
                continue;
            }
            self.cases += 1;
            let side = |side| value(side, &values, &computed, &self.widths);
            let ((left, left_defined), (right, right_defined)) =
                (side(&self.rule.lhs), side(&self.rule.rhs));
            if left != right || (left_defined && !right_defined) {
                let name = self.rule.rule.name;
                let facts = env.facts;
                return Err(format!(
                    "{name} at widths {:?}: {left} became {right} (defined: {left_defined}, {right_defined}) for {values:?}, computed {computed:?}, facts {facts:?}",
                    &self.widths[..self.rule.widths]
                ));
            }
        }
        Ok(())
    }
}

/// The value of a side, and whether a GPU defines it.
fn value(
    side: &Typed,
    values: &[u64; BOUND],
    computed: &[u64; COMPUTED],
    widths: &[u32; WIDTHS],
) -> (u64, bool) {
    let parts = side.pat.parts();
    let below = parts
        .iter()
        .map(|part| value(part, values, computed, widths));
    let (numbers, defined): (Vec<u64>, Vec<bool>) = below.unzip();
    let of: Vec<u32> = parts.iter().map(|part| widths[part.width]).collect();
    let here = widths[side.width];
    let node = match &side.pat {
        Pat::Const(c) => return (c & mask(here), true),
        Pat::Var(slot) => return (values[*slot], true),
        Pat::Computed(i) => return (computed[*i] & mask(here), true),
        Pat::Op(op, _) => Node::Op(*op, 0, 0),
        Pat::Compare(predicate, _) => Node::Compare(*predicate, 0, 0),
        Pat::Cast(cast, _) => Node::Cast(*cast, 0, here),
        Pat::Select(_) => Node::Select(0, 0, 0),
    };
    let sound = match node {
        Node::Op(op, ..) => op.is_defined(numbers[0], numbers[1], here),
        _ => true,
    };
    let defined = match node {
        // What is not taken need not be defined.
        Node::Select(..) => defined[0] && defined[if numbers[0] == 1 { 1 } else { 2 }],
        _ => defined.iter().all(|d| *d),
    };
    (apply(node, &numbers, &of), defined && sound)
}

fn prove_topic(name: &str) {
    let lattices = Lattices::new();
    let (_, rules) = TOPICS.iter().find(|(topic, _)| *topic == name).unwrap();
    for rule in *rules {
        let compiled = Compiled::new(rule).unwrap();
        let cases = prove(&compiled, &lattices).unwrap_or_else(|why| panic!("{why}"));
        assert!(
            // Rules on single bits have few cases.
            cases >= if rule.is_guarded() { 20 } else { 2 },
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

#[test]
fn every_law_of_casts_holds() {
    prove_topic("casts");
}

#[test]
fn every_law_of_compare_holds() {
    prove_topic("compare");
}

#[test]
fn every_law_of_select_holds() {
    prove_topic("select");
}

#[test]
fn every_law_of_signed_holds() {
    prove_topic("signed");
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
    // Of a number with a sign, the upper half.
    Rule::new("sext-any", "(sext ?x)", "(zext ?x)"),
    Rule::new("sext-half-and-one", "(sext ?x)", "(zext ?x)").when(|e| e.x().hi <= e.half(1) + 1),
    // The sum may wrap at the narrow width, and not at the wide one.
    Rule::new(
        "zext-add-any",
        "(zext (+ ?x ?y))",
        "(+ (zext ?x) (zext ?y))",
    ),
    // It fits the wide width.
    Rule::new(
        "zext-add-wide",
        "(zext (+ ?x ?y))",
        "(+ (zext ?x) (zext ?y))",
    )
    .when(|e| e.sum_fits(e.x().hi, e.y().hi)),
    // The bits that are dropped matter.
    Rule::new("zext-trunc-any", "(zext (trunc ?x))", "?x"),
    Rule::new(
        "trunc-div",
        "(trunc (/ ?x ?y))",
        "(/ (trunc ?x) (trunc ?y))",
    ),
    // The constant does not fit the narrow width.
    Rule::new("rem-zext-any-const", "(% (zext ?x) ?c)", "(zext (% ?x ?k))").k(Env::c),
    Rule::new("ult-zext-any-const", "(ult (zext ?x) ?c)", "(ult ?x ?k)").k(Env::c),
    // Extended with and without a sign.
    Rule::new("slt-one-zext", "(slt (zext ?x) (zext ?y))", "(slt ?x ?y)"),
    Rule::new(
        "ult-sexts-as-slt",
        "(ult (sext ?x) (sext ?y))",
        "(slt ?x ?y)",
    ),
    // One of them may be negative.
    Rule::new("slt-is-ult-half", "(slt ?x ?y)", "(ult ?x ?y)").when(|e| e.not_negative([e.x()])),
    // The largest number has none above it.
    Rule::new("ule-const-any", "(ule ?x ?c)", "(ult ?x ?k)").k(|e| e.c() + 1),
    Rule::new("sle-const-any", "(sle ?x ?c)", "(slt ?x ?k)").k(|e| e.c().wrapping_add(1)),
    // The sum wraps.
    Rule::new("ult-add-const-wraps", "(ult (+ ?x ?c) ?d)", "(ult ?x ?k)")
        .when(|e| e.d() >= e.c())
        .k(|e| e.d() - e.c()),
    // What is added may reach the bit of the others.
    Rule::new("ult-add-at", "(ult (+ ?x ?y) ?z)", "(ult ?x ?z)").when(|e| {
        e.sum_fits(e.x().hi, e.y().hi)
            && 1_u64
                .checked_shl((e.x().maybe() | e.z().maybe()).trailing_zeros())
                .is_none_or(|unit| e.y().hi <= unit)
    }),
    Rule::new("ult-mul-rounded-down", "(ult (* ?x ?c) ?d)", "(ult ?x ?k)")
        .when(|e| e.c() > 1 && e.product_fits(e.x().hi, e.c()))
        .k(|e| e.d() / e.c()),
    // Not the other way round.
    Rule::new("not-ult-swapped", "(^ (ult ?x ?y) 1)", "(ult ?y ?x)"),
    Rule::new("select-arms", "(select ?x ?y ?z)", "(select ?x ?z ?y)"),
    Rule::new(
        "select-max-as-min",
        "(select (ult ?x ?y) ?y ?x)",
        "(min ?x ?y)",
    ),
    Rule::new("divs-any", "(divs ?x ?y)", "(/ ?x ?y)"),
    Rule::new("rems-positive-divisor", "(rems ?x ?y)", "(% ?x ?y)")
        .when(|e| e.not_negative([e.y()])),
    Rule::new("shrs-any", "(shrs ?x ?y)", "(>> ?x ?y)"),
    Rule::new("mins-as-min", "(mins ?x ?y)", "(min ?x ?y)"),
    // The sum of dividend and divisor may wrap.
    Rule::new("ceil-wraps", "(ceil ?x ?c)", "(/ (+ ?x ?k) ?c)")
        .when(|e| e.c() > 0)
        .k(|e| e.c() - 1),
    // A division comes out from behind the condition that guarded it.
    Rule::new(
        "select-divides",
        "(select ?x (/ ?y ?z) 0)",
        "(* (/ ?y ?z) (select ?x 1 0))",
    ),
    // Equal under the total division of this crate, but it divides where nothing was divided.
    Rule::new("invents-a-division", "(- ?x ?x)", "(- (/ ?x ?x) (/ ?x ?x))"),
];

#[test]
fn wrong_laws_are_found_out() {
    let lattices = Lattices::new();
    for rule in WRONG {
        let compiled = Compiled::new(rule).unwrap();
        let found = prove(&compiled, &lattices);
        let why = found.expect_err(rule.name);
        assert!(why.starts_with(rule.name), "{why}");
    }
    assert!(WRONG.len() >= 30);
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
    let lattices = Lattices((1..=3).map(|width| Facts::all(width, width <= 2)).collect());
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
