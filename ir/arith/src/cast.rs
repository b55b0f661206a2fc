//! Conversions between widths.

use crate::{Facts, facts::mask, signed};

/// A conversion of an integer to another width, named for that of `arith`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cast {
    /// The conversion to a larger width that repeats the sign.
    SignExtend,
    /// The conversion to a larger width that puts zeros above.
    ZeroExtend,
    /// The conversion to a smaller width that drops the bits above.
    Truncate,
}

impl Cast {
    /// All conversions.
    pub const ALL: &[Cast] = &[Cast::SignExtend, Cast::ZeroExtend, Cast::Truncate];

    /// The name of the op of `arith`.
    pub const fn name(self) -> &'static str {
        match self {
            Cast::SignExtend => "arith.extsi",
            Cast::ZeroExtend => "arith.extui",
            Cast::Truncate => "arith.trunci",
        }
    }

    /// The conversion of that op of `arith`.
    pub fn named(name: &str) -> Option<Cast> {
        Cast::ALL.iter().copied().find(|cast| cast.name() == name)
    }

    /// Tells whether it leads from one width to the other.
    pub const fn leads(self, from: u32, to: u32) -> bool {
        match self {
            Cast::SignExtend | Cast::ZeroExtend => from < to,
            Cast::Truncate => from > to,
        }
    }

    /// The result at the width `to` of a number that fits the width `from`.
    pub fn at_widths(self, value: u64, from: u32, to: u32) -> u64 {
        match self {
            Cast::SignExtend => signed(value, from) as u64 & mask(to),
            Cast::ZeroExtend => value,
            Cast::Truncate => value & mask(to),
        }
    }

    /// The facts about the result, from those about what is converted.
    pub fn facts(self, a: Facts, from: u32, to: u32) -> Facts {
        if let Some(value) = a.as_constant() {
            return Facts::constant(self.at_widths(value, from, to));
        }
        let half = mask(from) >> 1;
        let above = mask(to) & !mask(from);
        let raw = match self {
            Cast::ZeroExtend => a,
            Cast::SignExtend if a.hi <= half => a,
            // Negative throughout.
            Cast::SignExtend if a.lo > half => Facts {
                lo: a.lo | above,
                hi: a.hi | above,
                zero_bits: a.zero_bits & !above,
                one_bits: a.one_bits | above,
            },
            // Only the bits below the sign are those of the number.
            Cast::SignExtend => Facts {
                lo: 0,
                hi: mask(to),
                zero_bits: a.zero_bits & half,
                one_bits: a.one_bits & half,
            },
            Cast::Truncate => {
                // The bits that are dropped are the same throughout, or the range says nothing.
                let same = a.lo & !mask(to) == a.hi & !mask(to);
                let (lo, hi) = if same { (a.lo, a.hi) } else { (0, mask(to)) };
                Facts {
                    lo: lo & mask(to),
                    hi: hi & mask(to),
                    zero_bits: a.zero_bits,
                    one_bits: a.one_bits & mask(to),
                }
            }
        };
        raw.tight(to).unwrap_or(Facts::any(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(facts: Facts, width: u32) -> impl Iterator<Item = u64> {
        (0..=mask(width)).filter(move |&v| facts.contains(v))
    }

    #[test]
    fn names_are_read_back() {
        for &cast in Cast::ALL {
            assert_eq!(Cast::named(cast.name()), Some(cast));
        }
        assert_eq!(Cast::named("arith.extf"), None);
    }

    #[test]
    fn signs_are_kept_or_not() {
        assert_eq!(Cast::SignExtend.at_widths(0x80, 8, 16), 0xff80);
        assert_eq!(Cast::ZeroExtend.at_widths(0x80, 8, 16), 0x80);
        assert_eq!(Cast::Truncate.at_widths(0x1280, 16, 8), 0x80);
        assert_eq!(Cast::SignExtend.at_widths(1, 1, 64), u64::MAX);
        assert_eq!(Cast::SignExtend.at_widths(1 << 31, 32, 64), !0 << 31);
    }

    /// Every conversion between small widths, all facts, all values: nothing that can happen is excluded, and facts are tight.
    #[test]
    fn facts_hold_between_small_widths() {
        for from in 1..=4 {
            let lattice = Facts::all(from, from <= 3);
            for to in 1..=5 {
                for &cast in Cast::ALL.iter().filter(|cast| cast.leads(from, to)) {
                    for &a in &lattice {
                        let out = cast.facts(a, from, to);
                        assert_eq!(out.tight(to), Some(out), "{cast:?} of {a:?}");
                        for x in values(a, from) {
                            let value = cast.at_widths(x, from, to);
                            assert!(out.contains(value), "{cast:?} of {x} in {a:?}: {out:?}");
                        }
                    }
                }
            }
        }
    }
}
