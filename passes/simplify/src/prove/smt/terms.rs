//! The sides of a rule as bit-vectors of SMT-LIB, and whether a GPU defines them.

use crate::rules::{Pat, Typed};
use cute_arith::{Cast, Op, Predicate, mask};

/// A side, or a part of it.
pub(super) struct Term {
    pub(super) text: String,
    /// The condition under which a GPU defines it.
    pub(super) defined: String,
}

/// A number as a bit-vector.
pub(super) fn constant(value: u64, width: u32) -> String {
    format!("(_ bv{} {width})", value & mask(width))
}

/// A bit-vector of 64 bits as one of `width`.
pub(super) fn cut(text: &str, width: u32) -> String {
    format!("((_ extract {} 0) {text})", width - 1)
}

/// A bit-vector of `width` bits as one of 64.
pub(super) fn extend(text: &str, width: u32) -> String {
    format!("((_ zero_extend {}) {text})", 64 - width)
}

/// A side of a rule at these widths. Variables are `v` and their slot, computed constants `k` and their number. Of the slots of
/// `powers` it is known that they are powers of two, to the power of `s` and the slot.
pub(super) fn side(typed: &Typed, widths: &[u32], powers: &[usize]) -> Term {
    let parts = typed.pat.parts().iter();
    let parts: Vec<Term> = parts.map(|part| side(part, widths, powers)).collect();
    let of: Vec<u32> = typed
        .pat
        .parts()
        .iter()
        .map(|part| widths[part.width])
        .collect();
    let width = widths[typed.width];
    let leaf = |text| Term {
        text,
        defined: "true".to_owned(),
    };
    match (&typed.pat, &parts[..]) {
        (Pat::Const(value), _) => leaf(constant(*value, width)),
        (Pat::Var(slot), _) => leaf(format!("v{slot}")),
        (Pat::Computed(index), _) => leaf(cut(&format!("k{index}"), width)),
        (Pat::Op(op, operands), [a, b]) => {
            let exponent = match operands[1].pat {
                Pat::Var(slot) if powers.contains(&slot) => Some(cut(&format!("s{slot}"), width)),
                _ => None,
            };
            operation(*op, a, b, width, exponent)
        }
        (Pat::Compare(predicate, _), [a, b]) => Term {
            text: format!("(ite {} #b1 #b0)", comparison(*predicate, &a.text, &b.text)),
            defined: both(a, b),
        },
        (Pat::Cast(cast, _), [a]) => Term {
            text: match cast {
                Cast::ZeroExtend => format!("((_ zero_extend {}) {})", width - of[0], a.text),
                Cast::SignExtend => format!("((_ sign_extend {}) {})", width - of[0], a.text),
                Cast::Truncate => cut(&a.text, width),
            },
            defined: a.defined.clone(),
        },
        (Pat::Select(_), [condition, yes, no]) => {
            let taken = format!("(= {} #b1)", condition.text);
            Term {
                text: format!("(ite {taken} {} {})", yes.text, no.text),
                // What is not taken need not be defined.
                defined: format!(
                    "(and {} (ite {taken} {} {}))",
                    condition.defined, yes.defined, no.defined
                ),
            }
        }
        (pat, _) => panic!("{pat:?} has other parts"),
    }
}

fn both(a: &Term, b: &Term) -> String {
    format!("(and {} {})", a.defined, b.defined)
}

fn comparison(predicate: Predicate, a: &str, b: &str) -> String {
    let name = match predicate {
        Predicate::Eq => "=",
        Predicate::Ne => "distinct",
        Predicate::Slt => "bvslt",
        Predicate::Sle => "bvsle",
        Predicate::Sgt => "bvsgt",
        Predicate::Sge => "bvsge",
        Predicate::Ult => "bvult",
        Predicate::Ule => "bvule",
        Predicate::Ugt => "bvugt",
        Predicate::Uge => "bvuge",
    };
    format!("({name} {a} {b})")
}

/// An operation as [`Op::at_width`] has it, and [`Op::is_defined`].
///
/// `exponent` is that of the right operand, where it is a power of two: a product is a shift then, and a quotient, too. That they are is
/// a lemma with a test of its own.
fn operation(op: Op, left: &Term, right: &Term, width: u32, exponent: Option<String>) -> Term {
    let (a, b) = (&left.text, &right.text);
    let zero = constant(0, width);
    let one = constant(1, width);
    let all = constant(u64::MAX, width);
    let least = constant(1 << (width - 1), width);
    let plain = |name: &str| format!("({name} {a} {b})");
    let smaller = |name: &str| format!("(ite ({name} {a} {b}) {a} {b})");
    let larger = |name: &str| format!("(ite ({name} {a} {b}) {b} {a})");
    // Quotients with signs: SMT-LIB rounds towards zero, and has others by zero.
    let quotient =
        |more: &str| format!("(ite (= {b} {zero}) {all} (bvadd (bvsdiv {a} {b}) {more}))");
    let inexact = format!("(distinct (bvsrem {a} {b}) {zero})");
    let apart = format!("(distinct (bvslt {a} {zero}) (bvslt {b} {zero}))");
    // What Rust gives of the one quotient that overflows has no remainder, so that nothing is added there.
    let text = match (op, exponent) {
        (Op::Mul, Some(by)) => format!("(bvshl {a} {by})"),
        (Op::DivU, Some(by)) => format!("(bvlshr {a} {by})"),
        (Op::RemU, Some(_)) => format!("(bvand {a} (bvsub {b} {one}))"),
        (op, _) => match op {
            Op::Add => plain("bvadd"),
            Op::Sub => plain("bvsub"),
            Op::Mul => plain("bvmul"),
            Op::And => plain("bvand"),
            Op::Or => plain("bvor"),
            Op::Xor => plain("bvxor"),
            Op::Shl => plain("bvshl"),
            Op::ShrU => plain("bvlshr"),
            Op::ShrS => plain("bvashr"),
            Op::DivU => plain("bvudiv"),
            Op::RemU => plain("bvurem"),
            Op::RemS => plain("bvsrem"),
            Op::CeilDivU => format!(
                "(ite (= {b} {zero}) {all} (bvadd (bvudiv {a} {b}) (ite (= (bvurem {a} {b}) {zero}) {zero} {one})))"
            ),
            Op::DivS => quotient(&zero),
            Op::FloorDivS => quotient(&format!("(ite (and {inexact} {apart}) {all} {zero})")),
            Op::CeilDivS => quotient(&format!("(ite (and {inexact} (not {apart})) {one} {zero})")),
            Op::MinU => smaller("bvule"),
            Op::MaxU => larger("bvule"),
            Op::MinS => smaller("bvsle"),
            Op::MaxS => larger("bvsle"),
        },
    };
    let sound = match op {
        Op::DivU | Op::CeilDivU | Op::RemU => format!("(distinct {b} {zero})"),
        Op::DivS | Op::FloorDivS | Op::CeilDivS | Op::RemS => {
            format!("(and (distinct {b} {zero}) (not (and (= {a} {least}) (= {b} {all}))))")
        }
        Op::Shl | Op::ShrU | Op::ShrS => format!("(bvult {b} {})", constant(width.into(), width)),
        _ => "true".to_owned(),
    };
    Term {
        text,
        defined: format!("(and {} {sound})", both(left, right)),
    }
}
