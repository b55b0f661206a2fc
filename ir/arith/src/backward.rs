//! The facts about operands that follow from facts about a result: where `t / 32` is 0, `t` is below 32.
//!
//! Like the functions that lead forward, they never exclude what can happen; the tests below try all values at small widths.

use crate::{Cast, Facts, Op, Sign, facts::mask};

impl Op {
    /// The facts about both operands, from those about them and about the result at a width; nothing where no operands give such a result.
    pub fn backward(self, out: Facts, a: Facts, b: Facts, width: u32) -> Option<(Facts, Facts)> {
        let half = mask(width) >> 1;
        let not_negative = a.hi <= half && (b.hi <= half || self == Op::ShrS);
        let op = match self.sign() {
            Sign::Signed if not_negative => self.without_sign(),
            Sign::Signed => return Some((a, b)),
            _ => self,
        };
        let (x, y) = match op {
            Op::Add => (addend(out, a, b, width), addend(out, b, a, width)),
            Op::Sub => (minuend(out, a, b, width), subtrahend(out, a, b, width)),
            Op::Mul => (factor(out, a, b, width), factor(out, b, a, width)),
            Op::Shl => match b.as_constant().filter(|&by| by < u64::from(width)) {
                Some(by) => (
                    factor(out, a, Facts::constant(1 << by), width),
                    Facts::any(width),
                ),
                None => (Facts::any(width), Facts::any(width)),
            },
            Op::ShrU => match b.as_constant().filter(|&by| by < u64::from(width)) {
                Some(by) => (dividend(out, 1 << by), Facts::any(width)),
                None => (Facts::any(width), Facts::any(width)),
            },
            Op::DivU => match b.as_constant() {
                Some(by) if by > 0 => (dividend(out, by), Facts::any(width)),
                _ => (Facts::any(width), Facts::any(width)),
            },
            // A remainder is no more than what is divided.
            Op::RemU => (Facts::range(out.lo, mask(width)), Facts::any(width)),
            Op::And => (conjunct(out, b), conjunct(out, a)),
            Op::Or => (disjunct(out, b), disjunct(out, a)),
            Op::Xor => (Op::Xor.facts(out, b, width), Op::Xor.facts(out, a, width)),
            Op::MinU => (smaller(out, b, width), smaller(out, a, width)),
            Op::MaxU => (larger(out, b), larger(out, a)),
            _ => (Facts::any(width), Facts::any(width)),
        };
        Some((a.and(x).tight(width)?, b.and(y).tight(width)?))
    }
}

impl Cast {
    /// The facts about what is converted, from those about it and about the result; nothing where no number gives such a result.
    pub fn backward(self, out: Facts, a: Facts, from: u32, to: u32) -> Option<Facts> {
        let low = mask(from.min(to));
        let known = match self {
            Cast::ZeroExtend => out,
            Cast::SignExtend if a.hi <= mask(from) >> 1 => out,
            Cast::Truncate if a.hi <= mask(to) => out,
            // The lower bits are those of the number.
            Cast::SignExtend | Cast::Truncate => Facts {
                zero_bits: out.zero_bits & low,
                one_bits: out.one_bits & low,
                ..Facts::any(from)
            },
        };
        a.and(known).tight(from)
    }
}

/// Facts about `a` from those about `a + b`.
fn addend(out: Facts, a: Facts, b: Facts, width: u32) -> Facts {
    let wraps = a.hi.checked_add(b.hi).is_none_or(|sum| sum > mask(width));
    let back = Op::Sub.facts(out, b, width);
    match out.hi.checked_sub(b.lo) {
        Some(most) if !wraps => back.and(Facts::range(out.lo.saturating_sub(b.hi), most)),
        _ => back,
    }
}

/// Facts about `a` from those about `a - b`.
fn minuend(out: Facts, a: Facts, b: Facts, width: u32) -> Facts {
    let back = Op::Add.facts(out, b, width);
    match out.lo.checked_add(b.lo) {
        Some(least) if a.lo >= b.hi => back.and(Facts::range(least, mask(width))),
        _ => back,
    }
}

/// Facts about `b` from those about `a - b`.
fn subtrahend(out: Facts, a: Facts, b: Facts, width: u32) -> Facts {
    let back = Op::Sub.facts(a, out, width);
    match a.hi.checked_sub(out.lo) {
        Some(most) if a.lo >= b.hi => back.and(Facts::range(0, most)),
        _ => back,
    }
}

/// Facts about `a` from those about `a * b`, where `b` is known and the product does not wrap.
fn factor(out: Facts, a: Facts, b: Facts, width: u32) -> Facts {
    match b.as_constant().filter(|&by| by > 0) {
        Some(by) if a.hi.checked_mul(by).is_some_and(|most| most <= mask(width)) => {
            Facts::range(out.lo.div_ceil(by), out.hi / by)
        }
        _ => Facts::any(width),
    }
}

/// Facts about `a` from those about `a / by`.
fn dividend(out: Facts, by: u64) -> Facts {
    let most = out.hi.saturating_mul(by).saturating_add(by - 1);
    Facts::range(out.lo.saturating_mul(by), most)
}

/// Facts about `a` from those about `a & b`: bits that are one, and those that are zero where `b` has ones.
fn conjunct(out: Facts, b: Facts) -> Facts {
    Facts {
        lo: out.lo,
        hi: u64::MAX,
        zero_bits: out.zero_bits & b.one_bits,
        one_bits: out.one_bits,
    }
}

/// Facts about `a` from those about `a | b`: bits that are zero, and those that are one where `b` has zeros.
fn disjunct(out: Facts, b: Facts) -> Facts {
    Facts {
        lo: 0,
        hi: out.hi,
        zero_bits: out.zero_bits,
        one_bits: out.one_bits & b.zero_bits,
    }
}

/// Facts about `a` from those about `min(a, b)`.
fn smaller(out: Facts, b: Facts, width: u32) -> Facts {
    match b.lo > out.hi {
        true => out,
        false => Facts::range(out.lo, mask(width)),
    }
}

/// Facts about `a` from those about `max(a, b)`.
fn larger(out: Facts, b: Facts) -> Facts {
    match b.hi < out.lo {
        true => out,
        false => Facts::range(0, out.hi),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(facts: Facts, width: u32) -> impl Iterator<Item = u64> {
        (0..=mask(width)).filter(move |&v| facts.contains(v))
    }

    type Backward = fn(Op, Facts, Facts, Facts, u32) -> Option<(Facts, Facts)>;

    /// Checks that every pair of values that gives a result within its facts is among those that are left.
    fn hold(
        backward: Backward,
        width: u32,
        operands: &[Facts],
        results: &[Facts],
        ops: &[Op],
    ) -> Result<(), String> {
        for &op in ops {
            for (&a, &b) in operands
                .iter()
                .flat_map(|a| operands.iter().map(move |b| (a, b)))
            {
                let pairs: Vec<(u64, u64, u64)> = values(a, width)
                    .flat_map(|x| values(b, width).map(move |y| (x, y)))
                    .map(|(x, y)| (x, y, op.at_width(x, y, width)))
                    .collect();
                for &out in results {
                    let left = backward(op, out, a, b, width);
                    for &(x, y, result) in &pairs {
                        let is_left = left.is_some_and(|(a, b)| a.contains(x) && b.contains(y));
                        if out.contains(result) && !is_left {
                            return Err(format!(
                                "{op:?} of {x} in {a:?} and {y} in {b:?} is {result} in {out:?}, but {left:?} is left"
                            ));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_gives_a_result_is_never_excluded() {
        for width in 1..=3 {
            let all = Facts::all(width, true);
            assert_eq!(hold(Op::backward, width, &all, &all, Op::ALL), Ok(()));
        }
        let few: Vec<Facts> = Facts::all(4, true).into_iter().step_by(23).collect();
        assert_eq!(hold(Op::backward, 4, &few, &few, Op::ALL), Ok(()));
    }

    /// Functions that forget what can happen.
    const WRONG: &[(&str, Op, Backward)] = &[
        ("a sum that wraps", Op::Add, |_, out, a, b, width| {
            let most = out.hi.saturating_sub(b.lo);
            Some((a.and(Facts::range(0, most)).tight(width)?, b))
        }),
        ("a product that wraps", Op::Mul, |_, out, a, b, width| {
            let by = b.as_constant().filter(|&by| by > 0);
            let most = by.map_or(u64::MAX, |by| out.hi / by);
            Some((a.and(Facts::range(0, most)).tight(width)?, b))
        }),
        ("what is left over", Op::DivU, |_, out, a, b, width| {
            let by = b.as_constant().filter(|&by| by > 0);
            let most = by.map_or(u64::MAX, |by| out.hi.saturating_mul(by));
            Some((a.and(Facts::range(0, most)).tight(width)?, b))
        }),
        ("a mask without a bit", Op::And, |_, out, a, b, width| {
            let zeros = Facts {
                zero_bits: out.zero_bits,
                ..Facts::any(width)
            };
            Some((a.and(zeros).tight(width)?, b))
        }),
        ("a minimum of the other", Op::MinU, |_, out, a, b, width| {
            Some((a.and(out).tight(width)?, b))
        }),
        ("a sign", Op::ShrS, |_, out, a, b, width| {
            let by = b.as_constant().filter(|&by| by < u64::from(width));
            let known = by.map_or(Facts::any(width), |by| dividend(out, 1 << by));
            Some((a.and(known).tight(width)?, b))
        }),
    ];

    #[test]
    fn wrong_functions_are_found_out() {
        let all = Facts::all(3, true);
        for &(name, op, wrong) in WRONG {
            let found = hold(wrong, 3, &all, &all, &[op]);
            assert!(found.is_err(), "{name} of {op:?} was taken");
        }
    }

    #[test]
    fn what_is_converted_is_never_excluded() {
        for (from, to) in [(1, 2), (1, 4), (2, 3), (3, 4), (3, 2), (4, 1), (4, 3)] {
            for &cast in Cast::ALL.iter().filter(|cast| cast.leads(from, to)) {
                for a in Facts::all(from, true) {
                    for out in Facts::all(to, true).into_iter().step_by(3) {
                        let left = cast.backward(out, a, from, to);
                        for x in values(a, from) {
                            let result = cast.at_widths(x, from, to);
                            assert!(
                                !out.contains(result) || left.is_some_and(|left| left.contains(x)),
                                "{cast:?} of {x} in {a:?} is {result} in {out:?}, but {left:?} is left"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_guards_say_is_found() {
        let range = |lo, hi| Facts::range(lo, hi).tight(32).unwrap();
        let constant = Facts::constant;
        let thread = range(0, 1023);
        let (t, _) = Op::DivU
            .backward(constant(0), thread, constant(32), 32)
            .unwrap();
        assert_eq!((t.lo, t.hi), (0, 31));
        let (t, _) = Op::Mul
            .backward(range(0, 63), thread, constant(8), 32)
            .unwrap();
        assert_eq!((t.lo, t.hi), (0, 7));
        let (a, b) = Op::Add
            .backward(range(0, 99), thread, range(60, 1000), 32)
            .unwrap();
        assert_eq!((a.hi, b.hi), (39, 99));
        let (t, _) = Op::And
            .backward(constant(0), thread, constant(7), 32)
            .unwrap();
        assert_eq!((t.hi, t.zero_bits & 7), (1016, 7));
        assert_eq!(
            Op::DivU.backward(constant(40), thread, constant(32), 32),
            None
        );
    }
}
