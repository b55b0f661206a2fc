//! The facts about a value: an interval, bits that are always zero, bits that are always one.
//!
//! Everything takes the width, so that the tests below can try every value at small widths.

use std::collections::BTreeSet;

use crate::{Op, Sign};

/// The facts about a number, read without a sign.
///
/// As an answer, facts are in their tightest form. As facts that are given they may say as little as the caller likes: bits above
/// the width are cut off, and range and bits sharpen each other ([`Facts::tight`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Facts {
    /// The smallest possible value.
    pub lo: u64,
    /// The largest possible value.
    pub hi: u64,
    /// Bits known to be zero.
    pub zero_bits: u64,
    /// Bits known to be one.
    pub one_bits: u64,
}

/// All ones at `width` bits.
pub fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// The bits at and below the highest one of `value`.
pub fn cover(value: u64) -> u64 {
    if value == 0 {
        0
    } else {
        u64::MAX >> value.leading_zeros()
    }
}

impl Default for Facts {
    /// The facts about the number 0.
    fn default() -> Facts {
        Facts::constant(0)
    }
}

impl Facts {
    /// The facts about a value of which nothing is known but the width.
    pub fn any(width: u32) -> Facts {
        Facts {
            lo: 0,
            hi: mask(width),
            zero_bits: !mask(width),
            one_bits: 0,
        }
    }

    /// A value from `lo` to `hi`, both included.
    pub fn range(lo: u64, hi: u64) -> Facts {
        Facts {
            lo,
            hi,
            zero_bits: 0,
            one_bits: 0,
        }
    }

    /// One value.
    pub fn constant(value: u64) -> Facts {
        Facts {
            lo: value,
            hi: value,
            zero_bits: !value,
            one_bits: value,
        }
    }

    /// A multiple of a power of two; of another number, a multiple of the largest power of two that divides it.
    pub fn multiple_of(pow2: u64) -> Facts {
        let zero_bits = if pow2 == 0 {
            u64::MAX
        } else {
            (pow2 & pow2.wrapping_neg()) - 1
        };
        Facts {
            lo: 0,
            hi: u64::MAX,
            zero_bits,
            one_bits: 0,
        }
    }

    /// Both are true.
    pub fn and(self, other: Facts) -> Facts {
        Facts {
            lo: self.lo.max(other.lo),
            hi: self.hi.min(other.hi),
            zero_bits: self.zero_bits | other.zero_bits,
            one_bits: self.one_bits | other.one_bits,
        }
    }

    /// One of the two is true: those about a value that is one of two.
    #[must_use]
    pub fn or(self, other: Facts) -> Facts {
        Facts {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            zero_bits: self.zero_bits & other.zero_bits,
            one_bits: self.one_bits & other.one_bits,
        }
    }

    /// Tells whether `value` fulfils the facts.
    pub fn contains(self, value: u64) -> bool {
        self.lo <= value
            && value <= self.hi
            && value & self.zero_bits == 0
            && !value & self.one_bits == 0
    }

    /// The value, if only one is possible.
    pub fn as_constant(self) -> Option<u64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Bits that may be one.
    pub fn maybe(self) -> u64 {
        !self.zero_bits
    }

    /// Range and bits sharpened by each other, or nothing if no value is left.
    pub fn tight(self, width: u32) -> Option<Facts> {
        let mut f = self.and(Facts::any(width));
        loop {
            if f.lo > f.hi || f.zero_bits & f.one_bits != 0 {
                return None;
            }
            let lo = next_match(f.lo, f.zero_bits, f.one_bits)?;
            let hi = !next_match(!f.hi, f.one_bits, f.zero_bits)?;
            if lo > hi {
                return None;
            }
            // The bits above the highest one in which the bounds differ are the same for all between them.
            let known = !cover(lo ^ hi);
            let next = Facts {
                lo,
                hi,
                zero_bits: f.zero_bits | (!lo & known),
                one_bits: f.one_bits | (lo & known),
            };
            if next == f {
                return Some(f);
            }
            f = next;
        }
    }

    /// All facts at a width that differ and that some value fulfils, with known ones or without: for proofs that try them all, at
    /// widths of a few bits.
    pub fn all(width: u32, ones: bool) -> Vec<Facts> {
        let all = mask(width);
        let mut found = BTreeSet::new();
        for lo in 0..=all {
            for hi in lo..=all {
                for zero_bits in 0..=all {
                    for one_bits in 0..=if ones { all } else { 0 } {
                        found.extend(
                            Facts {
                                lo,
                                hi,
                                zero_bits,
                                one_bits,
                            }
                            .tight(width),
                        );
                    }
                }
            }
        }
        found.into_iter().collect()
    }
}

/// The smallest number from `lo` on that has these bits zero and those one.
fn next_match(lo: u64, zeros: u64, ones: u64) -> Option<u64> {
    let wrong = (lo & zeros) | (!lo & ones);
    if wrong == 0 {
        return Some(lo);
    }
    let top = 63 - wrong.leading_zeros();
    // A bit that has to rise: the wrong one itself, or the lowest free zero above it.
    let free = !lo & !zeros & !cover(1 << top);
    let rise = match lo >> top & 1 {
        0 => top,
        _ if free == 0 => return None,
        _ => free.trailing_zeros(),
    };
    let keep = !cover(1 << rise);
    Some((lo & keep) | (1 << rise) | (ones & !keep))
}

impl Op {
    /// The facts about `a op b` at a width, from those about `a` and `b`: they never exclude what can happen, what
    /// [`Op::at_width`] chooses included.
    pub fn facts(self, a: Facts, b: Facts, width: u32) -> Facts {
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return Facts::constant(self.at_width(x, y, width));
        }
        let any = Facts::any(width);
        let most = mask(width) >> 1;
        // Of a shift, the number of bits has no sign.
        let not_negative = a.hi <= most && (b.hi <= most || self == Op::ShrS);
        if self.sign() == Sign::Signed && !not_negative {
            return any;
        }
        tightened(raw(self.without_sign(), a, b, width), width)
    }
}

/// Facts about a result, range and bits not yet sharpened by each other; of operations with signs, none.
fn raw(op: Op, a: Facts, b: Facts, width: u32) -> Facts {
    let any = Facts::any(width);
    match op {
        Op::Add => sum(a, b, width),
        Op::Sub => difference(a, b, width),
        Op::Mul => product(a, b, width),
        Op::DivU => quotient(a, b).unwrap_or(any),
        Op::CeilDivU if b.lo == 0 => any,
        Op::CeilDivU => Facts::range(a.lo.div_ceil(b.hi), a.hi.div_ceil(b.lo)),
        Op::RemU => remainder(a, b),
        Op::And => Facts {
            lo: 0,
            hi: a.hi.min(b.hi),
            ..bits(a.zero_bits | b.zero_bits, a.one_bits & b.one_bits)
        },
        Op::Or => Facts {
            lo: a.lo.max(b.lo),
            ..bits(a.zero_bits & b.zero_bits, a.one_bits | b.one_bits)
        },
        Op::Xor => bits(
            (a.zero_bits & b.zero_bits) | (a.one_bits & b.one_bits),
            (a.zero_bits & b.one_bits) | (a.one_bits & b.zero_bits),
        ),
        Op::Shl => shifted_left(a, b, width),
        Op::ShrU => shifted_right(a, b, width),
        Op::MinU => a.or(b).and(Facts::range(a.lo.min(b.lo), a.hi.min(b.hi))),
        Op::MaxU => a.or(b).and(Facts::range(a.lo.max(b.lo), a.hi.max(b.hi))),
        Op::DivS | Op::FloorDivS | Op::CeilDivS | Op::RemS | Op::MinS | Op::MaxS | Op::ShrS => any,
    }
}

fn tightened(raw: Facts, width: u32) -> Facts {
    // What a sum or a product carries out of the width is lost.
    let raw = Facts {
        one_bits: raw.one_bits & mask(width),
        ..raw
    };
    // Transfer functions never exclude what can happen, so the facts can be tightened; `any` is for facts of values
    // that cannot occur together.
    raw.tight(width).unwrap_or(Facts::any(width))
}

fn bits(zero_bits: u64, one_bits: u64) -> Facts {
    Facts {
        lo: 0,
        hi: u64::MAX,
        zero_bits,
        one_bits,
    }
}

fn sum(a: Facts, b: Facts, width: u32) -> Facts {
    let (lo, hi) = (
        u128::from(a.lo) + u128::from(b.lo),
        u128::from(a.hi) + u128::from(b.hi),
    );
    wrapped(lo, hi, width).and(carried(a, b, false))
}

fn difference(a: Facts, b: Facts, width: u32) -> Facts {
    let turn = 1_u128 << width;
    let (lo, hi) = (
        turn + u128::from(a.lo) - u128::from(b.hi),
        turn + u128::from(a.hi) - u128::from(b.lo),
    );
    let negated = Facts {
        zero_bits: b.one_bits,
        one_bits: b.zero_bits,
        ..b
    };
    wrapped(lo, hi, width).and(carried(a, negated, true))
}

/// The interval from `lo` to `hi` modulo the width, if it stays in one piece.
fn wrapped(lo: u128, hi: u128, width: u32) -> Facts {
    let all = mask(width);
    if lo >> width == hi >> width {
        Facts::range(lo as u64 & all, hi as u64 & all)
    } else {
        Facts::range(0, all)
    }
}

/// Known bits of a sum: where both summands and the carry into the bit are known.
fn carried(a: Facts, b: Facts, carry: bool) -> Facts {
    let carry = u64::from(carry);
    let most = (!a.zero_bits)
        .wrapping_add(!b.zero_bits)
        .wrapping_add(carry);
    let least = a.one_bits.wrapping_add(b.one_bits).wrapping_add(carry);
    let no_carry = !(most ^ a.zero_bits ^ b.zero_bits);
    let a_carry = least ^ a.one_bits ^ b.one_bits;
    let known = (a.zero_bits | a.one_bits) & (b.zero_bits | b.one_bits) & (no_carry | a_carry);
    bits(!most & known, least & known)
}

fn product(a: Facts, b: Facts, width: u32) -> Facts {
    let zeros = |f: Facts| f.zero_bits.trailing_ones();
    let low_zeros = mask((zeros(a) + zeros(b)).min(64));
    let range = match (
        u128::from(a.lo) * u128::from(b.lo),
        u128::from(a.hi) * u128::from(b.hi),
    ) {
        (lo, hi) if hi <= u128::from(mask(width)) => Facts::range(lo as u64, hi as u64),
        _ => Facts::any(width),
    };
    let scaled = match (a.as_constant(), b.as_constant()) {
        (_, Some(c)) if c.is_power_of_two() => scaled_bits(a, c),
        (Some(c), _) if c.is_power_of_two() => scaled_bits(b, c),
        _ => bits(0, 0),
    };
    range.and(scaled).and(bits(low_zeros, 0))
}

fn scaled_bits(a: Facts, pow2: u64) -> Facts {
    bits(
        a.zero_bits.wrapping_mul(pow2) | (pow2 - 1),
        a.one_bits.wrapping_mul(pow2),
    )
}

/// Returns the facts about a quotient; nothing where the divisor may be zero.
fn quotient(a: Facts, b: Facts) -> Option<Facts> {
    let range = Facts::range(a.lo.checked_div(b.hi)?, a.hi.checked_div(b.lo)?);
    Some(match b.as_constant() {
        Some(c) if c.is_power_of_two() => range.and(lowered_bits(a, c.trailing_zeros())),
        _ => range,
    })
}

fn lowered_bits(a: Facts, by: u32) -> Facts {
    // What comes in from above is zero.
    bits(!(!a.zero_bits >> by), a.one_bits >> by)
}

fn remainder(a: Facts, b: Facts) -> Facts {
    if a.hi < b.lo {
        return a;
    }
    // A common factor that is a power of two is a factor of the remainder too; and `x % 0` is `x`.
    let shared = mask(a.zero_bits.trailing_ones().min(b.zero_bits.trailing_ones()));
    let below = if b.lo == 0 { u64::MAX } else { b.hi - 1 };
    let mut known = Facts::range(0, a.hi.min(below)).and(bits(shared, 0));
    if let Some(c) = b.as_constant().filter(|&c| c != 0) {
        if a.lo / c == a.hi / c {
            known = known.and(Facts::range(a.lo % c, a.hi % c));
        }
        if c.is_power_of_two() {
            known = known.and(bits(a.zero_bits | !(c - 1), a.one_bits & (c - 1)));
        }
    }
    known
}

fn shifted_left(a: Facts, b: Facts, width: u32) -> Facts {
    if b.lo >= u64::from(width) {
        return Facts::constant(0);
    }
    if let Some(by) = b.as_constant() {
        return product(a, Facts::constant(1 << by), width);
    }
    let low_zeros = (a.zero_bits.trailing_ones() + b.lo as u32).min(64);
    let fits = b.hi < u64::from(width) && (u128::from(a.hi) << b.hi) <= u128::from(mask(width));
    let range = if fits {
        Facts::range(a.lo << b.lo, a.hi << b.hi)
    } else {
        Facts::any(width)
    };
    range.and(bits(mask(low_zeros), 0))
}

fn shifted_right(a: Facts, b: Facts, width: u32) -> Facts {
    let shift = |value: u64, by: u64| Op::ShrU.at_width(value, by, width);
    let range = Facts::range(shift(a.lo, b.hi), shift(a.hi, b.lo));
    match b.as_constant() {
        Some(by) if by < u64::from(width) => range.and(lowered_bits(a, by as u32)),
        _ => range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(facts: Facts, width: u32) -> Vec<u64> {
        (0..=mask(width)).filter(|&v| facts.contains(v)).collect()
    }

    #[test]
    fn tightening_keeps_every_value_and_finds_the_bounds() {
        for width in 1..=4 {
            let all = mask(width);
            for lo in 0..=all {
                for hi in 0..=all {
                    for (zero_bits, one_bits) in
                        (0..=all).flat_map(|z| (0..=all).map(move |o| (z, o)))
                    {
                        let loose = Facts {
                            lo,
                            hi,
                            zero_bits,
                            one_bits,
                        };
                        let expected = values(loose, width);
                        let Some(tight) = loose.tight(width) else {
                            assert_eq!(
                                expected, [0; 0],
                                "{loose:?} has values, but tightening found none"
                            );
                            continue;
                        };
                        assert_eq!(values(tight, width), expected, "{loose:?} -> {tight:?}");
                        assert_eq!(expected.first(), Some(&tight.lo), "{loose:?}");
                        assert_eq!(expected.last(), Some(&tight.hi), "{loose:?}");
                        assert_eq!(tight.tight(width), Some(tight));
                    }
                }
            }
        }
    }

    /// Every operation, every pair of facts, every pair of values.
    fn prove_transfer(width: u32, lattice: &[Facts]) {
        for op in Op::ALL.iter().copied() {
            for &a in lattice {
                for &b in lattice {
                    let out = op.facts(a, b, width);
                    assert_eq!(
                        out.tight(width),
                        Some(out),
                        "{op:?} {a:?} {b:?} is not tight"
                    );
                    for x in values(a, width) {
                        for y in values(b, width) {
                            let value = op.at_width(x, y, width);
                            assert!(
                                out.contains(value),
                                "{op:?} of {x} in {a:?} and {y} in {b:?}: {value} not in {out:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn transfer_functions_hold_at_small_widths() {
        for width in 1..=3 {
            prove_transfer(width, &Facts::all(width, true));
        }
    }

    #[test]
    fn transfer_functions_hold_at_width_four() {
        let sampled: Vec<Facts> = Facts::all(4, true).into_iter().step_by(5).collect();
        prove_transfer(4, &sampled);
    }

    #[test]
    fn transfer_functions_find_what_kernels_need() {
        let t = Facts::range(0, 127).tight(32).unwrap();
        let c = Facts::constant;
        assert_eq!(Op::DivU.facts(t, c(128), 32), c(0));
        assert_eq!(
            Op::RemU.facts(t, c(32), 32),
            Facts::range(0, 31).tight(32).unwrap()
        );
        let scaled = Op::Mul.facts(t, c(48), 32);
        assert_eq!(
            (scaled.lo, scaled.hi, scaled.zero_bits & 15),
            (0, 127 * 48, 15)
        );
        // x - 8, as the wrapped sum that it is inside
        let back = Op::Add.facts(Facts::range(8, 20).tight(32).unwrap(), c(0xffff_fff8), 32);
        assert_eq!((back.lo, back.hi), (0, 12));
    }

    #[test]
    fn constructors() {
        assert_eq!(Facts::multiple_of(64).zero_bits, 63);
        assert_eq!(Facts::multiple_of(48).zero_bits, 15);
        let row = Facts::range(3, 500)
            .and(Facts::multiple_of(128))
            .tight(32)
            .unwrap();
        assert_eq!((row.lo, row.hi), (128, 384));
        assert_eq!(
            Facts::range(1, 7).and(Facts::multiple_of(8)).tight(32),
            None
        );
    }
}
