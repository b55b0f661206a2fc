//! The rules at the widths that kernels have, proved by an SMT solver: z3, from PyPI. The other prover tries all values of small widths;
//! this one asks for values at 32 and 64 bits, and facts that hold of them, for which a guard holds and the sides differ.
//!
//! Guards are Rust. They are read from the source and interpreted over symbols (`source.rs`), so that what is proved is what runs.
//! A rule with a product or a quotient is asked about over the integers first (`integers.rs`), then, as all others, over bits, where constants that a guard takes
//! only as powers of two are written as such (`terms.rs`). `proved.txt` says at which widths each rule is proved, and at which the solver comes to no end:
//! sums divided by variables, mostly. `UPDATE_EXPECT=1` tries them all and writes the list.

mod integers;
mod source;
mod terms;

use super::{Slot, WRONG, variables};
use crate::rules::{
    CONSTANTS, Compiled, Pat, Rule, TERMS, TOPICS, Typed, WIDTHS, is_constant_slot,
};
use cute_arith::Op;
use source::{DIVISOR, Int, Source, Symbolic, Symbols};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use terms::{constant, cut, extend, side};

/// The work that the solver may do for a proof, in its own units: some seconds. Not time, so that it is the same on any machine.
const LIMIT: u32 = 4_000_000;

/// The files of rules, and that of what they call.
const FILES: &[(&str, &str)] = &[
    ("mod", include_str!("../../rules/mod.rs")),
    ("add_mul", include_str!("../../rules/add_mul.rs")),
    ("div_rem", include_str!("../../rules/div_rem.rs")),
    ("bits", include_str!("../../rules/bits.rs")),
    ("swizzle", include_str!("../../rules/swizzle.rs")),
    ("min_max", include_str!("../../rules/min_max.rs")),
    ("casts", include_str!("../../rules/casts.rs")),
    ("compare", include_str!("../../rules/compare.rs")),
    ("select", include_str!("../../rules/select.rs")),
    ("signed", include_str!("../../rules/signed.rs")),
    ("wrong", include_str!("../mod.rs")),
];

/// The list of what is proved.
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/prove/smt/proved.txt");

/// The solver that `CUTE_Z3` names, or the one that `cargo xtask test` has installed.
fn solver() -> Option<PathBuf> {
    let named = std::env::var_os("CUTE_Z3").filter(|name| !name.is_empty());
    let installed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/bin/z3");
    let installed = PathBuf::from(installed);
    let found = named
        .map(PathBuf::from)
        .or(installed.is_file().then_some(installed));
    if found.is_none() {
        eprintln!("there is no z3, and CUTE_Z3 names none: nothing is proved at 32 and 64 bits");
    }
    found
}

/// The solver's answer to whether a rule is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Proved,
    /// Values for which it is wrong.
    Wrong(String),
    /// The limit came first.
    Unknown,
}

/// The widths at which a rule is asked about: 16, 32 and 64 bits, and of rules of several widths 8 in place of 16.
fn widths_of(rule: &Compiled) -> Vec<Vec<u32>> {
    let all: &[u32] = match rule.widths - rule.ones.len() {
        0 => &[1],
        1 => &[16, 32, 64],
        _ => &[8, 32, 64],
    };
    let mut found = vec![Vec::new()];
    for width in 0..rule.widths {
        let here = if rule.ones.contains(&width) {
            &[1]
        } else {
            all
        };
        let with = |before: Vec<u32>| {
            here.iter()
                .map(move |bits| [&before[..], &[*bits]].concat())
        };
        found = found.into_iter().flat_map(with).collect();
    }
    found.retain(|widths| rule.fits(&padded(widths)));
    found
}

fn padded(widths: &[u32]) -> [u32; WIDTHS] {
    std::array::from_fn(|i| widths.get(i).copied().unwrap_or(0))
}

/// The variables of a rule and their widths.
fn slots(rule: &Compiled, widths: &[u32]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    variables(&rule.lhs, &padded(widths), &mut slots);
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// The question whether there are values, and facts that are true of them, for which a guard holds and `holds` does not. The constants in
/// the slots of `powers` are written as powers of two.
fn question(
    source: &Source,
    file: &str,
    rule: &Compiled,
    widths: &[u32],
    powers: &[usize],
    holds: &str,
) -> String {
    let mut text = format!("(set-option :rlimit {LIMIT})\n(set-logic QF_BV)\n");
    let mut env = unknown(rule, widths);
    for (slot, width) in slots(rule, widths) {
        if powers.contains(&slot) {
            let power = Int::power(format!("s{slot}"));
            let _ = writeln!(
                text,
                "(declare-const s{slot} (_ BitVec 64))\n(assert (bvult s{slot} {}))\n(define-fun v{slot} () (_ BitVec {width}) {})",
                constant(width.into(), 64),
                cut(&power.text, width)
            );
            env.consts[slot - TERMS - 1] = power;
            continue;
        }
        let _ = writeln!(text, "(declare-const v{slot} (_ BitVec {width}))");
        let value = Int::term(extend(&format!("v{slot}"), width));
        match is_constant_slot(slot) {
            true => env.consts[slot - TERMS - 1] = value,
            false => env.facts[slot] = facts(&mut text, slot, width, &value.text),
        }
    }
    let guard = source.guard(file, rule.rule.name, &env);
    let computed = source.computed(file, rule.rule.name, &env);
    let terms = guard.iter().chain(computed.iter().flatten());
    if terms.into_iter().any(|term| term.contains(DIVISOR)) {
        text += &divisor(&env);
    }
    if let Some(guard) = guard {
        let _ = writeln!(text, "(assert {guard})");
    }
    for (i, computed) in computed.into_iter().enumerate() {
        if let Some(term) = computed {
            let _ = writeln!(text, "(define-fun k{i} () (_ BitVec 64) {term})");
        }
    }
    let _ = writeln!(text, "(assert (not {holds}))\n(check-sat)\n(get-model)");
    text
}

/// The law of a rule: its sides are equal, and the right one is defined where the left one is.
fn law(rule: &Compiled, widths: &[u32], powers: &[usize]) -> String {
    let [left, right] = [&rule.lhs, &rule.rhs].map(|of| side(of, widths, powers));
    format!(
        "(and (= {} {}) (=> {} {}))",
        left.text, right.text, left.defined, right.defined
    )
}

/// The question over the integers whether a rule is wrong; nothing of rules about bits.
fn question_of_integers(
    source: &Source,
    file: &str,
    rule: &Compiled,
    widths: &[u32],
) -> Option<String> {
    let mut env = unknown(rule, widths);
    let mut text = format!("(set-option :rlimit {LIMIT})\n");
    for (slot, width) in slots(rule, widths) {
        let most = integers::power(width) - 1;
        let _ = writeln!(
            text,
            "(declare-const v{slot} Int)\n(assert (<= 0 v{slot} {most}))"
        );
        if is_constant_slot(slot) {
            env.consts[slot - TERMS - 1] = Int::term(format!("v{slot}"));
            continue;
        }
        let _ = writeln!(
            text,
            "(declare-const lo{slot} Int)\n(declare-const hi{slot} Int)\n(assert (<= 0 lo{slot} v{slot} hi{slot} {most}))"
        );
        env.facts[slot] = Symbols {
            lo: Int::term(format!("lo{slot}")),
            hi: Int::term(format!("hi{slot}")),
            // Nothing is said of bits.
            zero_bits: Int::term("(bits)".to_owned()),
            one_bits: Int::term("(bits)".to_owned()),
        };
    }
    let guard = source.guard(file, rule.rule.name, &env);
    let computed = source.computed(file, rule.rule.name, &env);
    let mut terms = guard.iter().chain(computed.iter().flatten());
    if terms.any(|term| term.contains(DIVISOR)) {
        let [c, d] = [&env.consts[0].text, &env.consts[1].text];
        let _ = writeln!(
            text,
            "(declare-const {DIVISOR} Int)\n(assert (and (> {DIVISOR} 0) (= (mod {c} {DIVISOR}) 0) (= (mod {d} {DIVISOR}) 0)))"
        );
    }
    if let Some(guard) = guard {
        let _ = writeln!(text, "(assert {})", integers::term(&guard)?);
    }
    for (i, computed) in computed.iter().enumerate() {
        if let Some(term) = computed {
            let _ = writeln!(text, "(define-fun k{i} () Int {})", integers::term(term)?);
        }
    }
    let left = integers::side(&rule.lhs, widths)?;
    let right = integers::side(&rule.rhs, widths)?;
    let _ = writeln!(
        text,
        "(assert (not (and (= {} {}) (=> {} {}))))\n(check-sat-using smt)",
        left.text, right.text, left.defined, right.defined
    );
    Some(text)
}

/// The slots of constants that a guard takes only where they are powers of two.
fn powers(
    solver: &Path,
    source: &Source,
    file: &str,
    rule: &Compiled,
    widths: &[u32],
) -> Vec<usize> {
    let constants = slots(rule, widths)
        .into_iter()
        .filter(|(slot, _)| is_constant_slot(*slot));
    let is_power = |&(slot, width): &Slot| {
        let (v, zero) = (format!("v{slot}"), constant(0, width));
        let holds = format!(
            "(and (distinct {v} {zero}) (= (bvand {v} (bvsub {v} {})) {zero}))",
            constant(1, width)
        );
        let text = question(source, file, rule, widths, &[], &holds);
        ask(solver, &text) == Answer::Proved
    };
    match rule.rule.is_guarded() {
        true => constants.filter(is_power).map(|(slot, _)| slot).collect(),
        false => Vec::new(),
    }
}

/// The environment of a rule at these widths before its variables are declared. A guard that looks at one that the rule has not would
/// see zeros.
fn unknown(rule: &Compiled, widths: &[u32]) -> Symbolic {
    let padded = padded(widths);
    let zero = || Int::known(0);
    let nothing = Symbols {
        lo: zero(),
        hi: zero(),
        zero_bits: zero(),
        one_bits: zero(),
    };
    Symbolic {
        width: rule.width(&padded),
        widths: padded.to_vec(),
        facts: vec![nothing; TERMS + 1],
        consts: vec![zero(); CONSTANTS],
    }
}

/// Declares facts, in their tightest form, that hold of a value.
fn facts(text: &mut String, slot: usize, width: u32, value: &str) -> Symbols {
    let name = |what: &str| Int::term(format!("{what}{slot}"));
    let facts = Symbols {
        lo: name("lo"),
        hi: name("hi"),
        zero_bits: name("zero"),
        one_bits: name("one"),
    };
    let (lo, hi) = (&facts.lo.text, &facts.hi.text);
    let (zero, one) = (&facts.zero_bits.text, &facts.one_bits.text);
    for name in [lo, hi, zero, one] {
        let _ = writeln!(text, "(declare-const {name} (_ BitVec 64))");
    }
    let none = constant(0, 64);
    let above = constant(!cute_arith::mask(width), 64);
    let _ = writeln!(text, "(assert (= (bvand {zero} {above}) {above}))");
    // The bounds have the bits that are known, as those of facts in their tightest form do.
    for number in [value, lo, hi] {
        let _ = writeln!(
            text,
            "(assert (and (bvule {lo} {number}) (bvule {number} {hi}) (= (bvand {number} {zero}) {none}) (= (bvand {number} {one}) {one})))"
        );
    }
    facts
}

/// A common divisor of the first two constants, for the rules that divide by the greatest.
fn divisor(env: &Symbolic) -> String {
    let none = constant(0, 64);
    let [c, d] = [&env.consts[0].text, &env.consts[1].text];
    format!(
        "(declare-const {DIVISOR} (_ BitVec 64))\n\
         (assert (and (distinct {DIVISOR} {none}) (= (bvurem {c} {DIVISOR}) {none}) (= (bvurem {d} {DIVISOR}) {none})))\n"
    )
}

/// Asks the solver.
fn ask(solver: &Path, question: &str) -> Answer {
    let mut child = Command::new(solver)
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|why| panic!("{} does not run: {why}", solver.display()));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(question.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    match said.split_once('\n') {
        Some(("unsat", _)) => Answer::Proved,
        Some(("sat", model)) => Answer::Wrong(model.to_owned()),
        Some(("unknown", _)) => Answer::Unknown,
        _ => panic!("the solver says {said}\nof {question}"),
    }
}

/// Tells whether a side has a product, a quotient or a remainder.
fn has_products(typed: &Typed) -> bool {
    use Op::{CeilDivU, DivU, Mul, RemU};
    matches!(typed.pat, Pat::Op(Mul | DivU | RemU | CeilDivU, _))
        || typed.pat.parts().iter().any(has_products)
}

/// A rule at some widths.
struct Question {
    file: &'static str,
    rule: &'static Rule,
    widths: Vec<u32>,
}

impl Question {
    /// The questions about a rule.
    fn all(file: &'static str, rule: &'static Rule) -> Vec<Question> {
        let all = widths_of(&Compiled::new(rule).unwrap()).into_iter();
        all.map(|widths| Question { file, rule, widths }).collect()
    }

    /// The widths as they are listed.
    fn widths(&self) -> String {
        let all: Vec<String> = self.widths.iter().map(u32::to_string).collect();
        all.join("/")
    }

    /// Tells whether the other question is the same at 32 bits and this one at 16, which is only asked where the other is too hard.
    fn is_within(&self, other: &Question) -> bool {
        let wider = self
            .widths
            .iter()
            .map(|&bits| if bits == 16 { 32 } else { bits });
        self.widths.contains(&16) && wider.eq(other.widths.iter().copied())
    }

    fn answer(&self, solver: &Path, source: &Source) -> Answer {
        let rule = Compiled::new(self.rule).unwrap();
        // Over the integers, values for which it is wrong are left to the other theory, which shows them bit by bit.
        if has_products(&rule.lhs)
            && let Some(text) = question_of_integers(source, self.file, &rule, &self.widths)
            && ask(solver, &text) == Answer::Proved
        {
            return Answer::Proved;
        }
        let powers = powers(solver, source, self.file, &rule, &self.widths);
        let law = law(&rule, &self.widths, &powers);
        let text = question(source, self.file, &rule, &self.widths, &powers, &law);
        ask(solver, &text)
    }
}

/// The answers to questions, in their order.
fn answers(solver: &Path, questions: &[&Question]) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    let work = || {
        // What is read of Rust does not go from thread to thread.
        let source = Source::read(FILES);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(question) = questions.get(index) else {
                break;
            };
            let answer = question.answer(solver, &source);
            found.lock().unwrap().insert(index, answer);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap().into_values().collect()
}

/// The list of proofs as it is written: a line a rule, the widths at which it is proved, then those at which it is not.
fn listed(questions: &[Question], is_proved: impl Fn(&Question) -> bool) -> String {
    let mut lines: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    for question in questions {
        let name = question.rule.name;
        let is_stronger = |other: &&Question| other.rule.name == name && question.is_within(other);
        if questions.iter().filter(is_stronger).any(&is_proved) {
            continue;
        }
        if lines.last().is_none_or(|(rule, ..)| *rule != name) {
            lines.push((name, Vec::new(), Vec::new()));
        }
        let (_, proved, not) = lines.last_mut().unwrap();
        let list = if is_proved(question) { proved } else { not };
        list.push(question.widths());
    }
    lines
        .iter()
        .fold(String::new(), |mut text, (rule, proved, not)| {
            let _ = write!(text, "{rule}:");
            for widths in proved {
                let _ = write!(text, " {widths}");
            }
            if !not.is_empty() {
                let _ = write!(text, " not {}", not.join(" "));
            }
            text + "\n"
        })
}

#[test]
fn rules_are_proved_at_the_widths_of_kernels() {
    let Some(solver) = solver() else { return };
    let rules = TOPICS
        .iter()
        .flat_map(|(topic, rules)| rules.iter().map(move |rule| (*topic, rule)));
    let questions: Vec<Question> = rules
        .flat_map(|(topic, rule)| Question::all(topic, rule))
        .collect();
    let list = std::fs::read_to_string(LIST).unwrap_or_default();
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    let is_listed = |question: &Question| {
        let line = list.lines().find_map(|line| {
            let (rule, rest) = line.split_once(':')?;
            (rule == question.rule.name).then_some(rest)
        });
        let proved = line.and_then(|line| line.split(" not ").next());
        proved.is_some_and(|proved| proved.split_whitespace().any(|w| w == question.widths()))
    };
    let asked: Vec<&Question> = questions
        .iter()
        .filter(|question| updates || is_listed(question))
        .collect();
    let mut proved = BTreeSet::new();
    for (question, answer) in asked.iter().zip(answers(&solver, &asked)) {
        let (rule, widths) = (question.rule.name, question.widths());
        match answer {
            Answer::Wrong(model) => panic!("{rule} is wrong at widths {widths}: {model}"),
            Answer::Proved => _ = proved.insert((rule, widths)),
            Answer::Unknown => {
                assert!(
                    updates,
                    "{rule} was proved at widths {widths}, and is not any more"
                );
            }
        }
    }
    let is_proved = |question: &Question| proved.contains(&(question.rule.name, question.widths()));
    let text = listed(&questions, is_proved);
    if updates {
        std::fs::write(LIST, text).unwrap();
    } else {
        assert_eq!(list, text, "UPDATE_EXPECT=1 writes the list anew");
    }
}

/// Wrong laws of which the solver finds no values within its limit.
const NOT_REFUTED: &[&str] = &[];

#[test]
fn wrong_laws_are_refuted() {
    let Some(solver) = solver() else { return };
    let questions: Vec<Question> = WRONG
        .iter()
        .flat_map(|rule| Question::all("wrong", rule))
        .collect();
    let answers = answers(&solver, &questions.iter().collect::<Vec<_>>());
    let refuted = |rule: &Rule| {
        let mut all = questions.iter().zip(&answers);
        all.any(|(question, answer)| {
            question.rule.name == rule.name && matches!(answer, Answer::Wrong(_))
        })
    };
    let not: Vec<&str> = WRONG
        .iter()
        .filter(|rule| !refuted(rule))
        .map(|rule| rule.name)
        .collect();
    assert_eq!(not, NOT_REFUTED);
}

/// The lemma by which factors and divisors that are powers of two are written as shifts.
#[test]
fn products_with_powers_of_two_are_shifts() {
    let Some(solver) = solver() else { return };
    for width in [8, 32, 64] {
        let mut text = format!("(set-logic QF_BV)\n(declare-const x (_ BitVec {width}))\n");
        let mut all = String::new();
        for by in 0..width {
            let (power, bits) = (constant(1 << by, width), constant(by.into(), width));
            let below = constant((1 << by) - 1, width);
            let _ = write!(
                all,
                "\n(= (bvmul x {power}) (bvshl x {bits})) (= (bvudiv x {power}) (bvlshr x {bits})) (= (bvurem x {power}) (bvand x {below}))"
            );
        }
        let _ = writeln!(text, "(assert (not (and {all})))\n(check-sat)");
        assert_eq!(ask(&solver, &text), Answer::Proved, "at {width}");
    }
}
