//! Comparisons of two integers.

use std::cmp::Ordering;

use crate::{Facts, Sign, facts::mask, signed};

/// A comparison of `arith.cmpi`, with its number there: `S` reads the operands with a sign, `U` without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Predicate {
    /// Equal.
    Eq = 0,
    /// The operands are not equal.
    Ne = 1,
    /// Smaller.
    Slt = 2,
    /// Smaller or equal.
    Sle = 3,
    /// Larger.
    Sgt = 4,
    /// Larger or equal.
    Sge = 5,
    /// Smaller.
    Ult = 6,
    /// Smaller or equal.
    Ule = 7,
    /// Larger.
    Ugt = 8,
    /// Larger or equal.
    Uge = 9,
}

impl Predicate {
    /// All predicates, in the order of their numbers.
    pub const ALL: [Predicate; 10] = {
        use Predicate::*;
        [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge]
    };

    /// The number that the attribute `predicate` of `arith.cmpi` has.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// The predicate of a number of the attribute `predicate`.
    pub fn numbered(number: i64) -> Option<Predicate> {
        let at = usize::try_from(number).ok()?;
        Predicate::ALL.get(at).copied()
    }

    /// The word that `arith.cmpi` is written with.
    pub const fn name(self) -> &'static str {
        use Predicate::*;
        match self {
            Eq => "eq",
            Ne => "ne",
            Slt => "slt",
            Sle => "sle",
            Sgt => "sgt",
            Sge => "sge",
            Ult => "ult",
            Ule => "ule",
            Ugt => "ugt",
            Uge => "uge",
        }
    }

    /// The way in which it reads its operands.
    #[inline]
    pub const fn sign(self) -> Sign {
        use Predicate::*;
        match self {
            Eq | Ne => Sign::Any,
            Slt | Sle | Sgt | Sge => Sign::Signed,
            Ult | Ule | Ugt | Uge => Sign::Unsigned,
        }
    }

    /// Tells whether it holds of two numbers in this order, the first compared with the second.
    #[inline]
    pub const fn holds(self, order: Ordering) -> bool {
        use Predicate::*;
        match self {
            Eq => order.is_eq(),
            Ne => order.is_ne(),
            Slt | Ult => order.is_lt(),
            Sle | Ule => order.is_le(),
            Sgt | Ugt => order.is_gt(),
            Sge | Uge => order.is_ge(),
        }
    }

    /// The predicate that says the same of the operands in the other order.
    #[must_use]
    pub const fn swapped(self) -> Predicate {
        use Predicate::*;
        match self {
            Eq | Ne => self,
            Slt => Sgt,
            Sle => Sge,
            Sgt => Slt,
            Sge => Sle,
            Ult => Ugt,
            Ule => Uge,
            Ugt => Ult,
            Uge => Ule,
        }
    }

    /// The predicate that holds exactly where this one does not.
    #[must_use]
    pub const fn negated(self) -> Predicate {
        use Predicate::*;
        match self {
            Eq => Ne,
            Ne => Eq,
            Slt => Sge,
            Sle => Sgt,
            Sgt => Sle,
            Sge => Slt,
            Ult => Uge,
            Ule => Ugt,
            Ugt => Ule,
            Uge => Ult,
        }
    }

    /// Its truth of all numbers of a width that fulfil the facts; nothing where some differ.
    pub fn decided(self, a: Facts, b: Facts, width: u32) -> Option<bool> {
        let apart = a.hi < b.lo
            || b.hi < a.lo
            || a.one_bits & b.zero_bits != 0
            || a.zero_bits & b.one_bits & mask(width) != 0;
        let same = a.as_constant().is_some() && a.as_constant() == b.as_constant();
        let half = mask(width) >> 1;
        // Numbers on one side of the sign are in the same order with and without it.
        let one_side = (a.hi <= half && b.hi <= half) || (a.lo > half && b.lo > half);
        let opposite = (a.hi <= half && b.lo > half) || (b.hi <= half && a.lo > half);
        let (a, b) = match self.sign() {
            Sign::Signed if opposite => (b, a),
            Sign::Signed if !one_side => return None,
            _ => (a, b),
        };
        let decide = |always: bool, never: bool| (always || never).then_some(always);
        use Predicate::*;
        match self {
            Eq => decide(same, apart),
            Ne => decide(apart, same),
            Slt | Ult => decide(a.hi < b.lo, a.lo >= b.hi),
            Sle | Ule => decide(a.hi <= b.lo, a.lo > b.hi),
            Sgt | Ugt => decide(a.lo > b.hi, a.hi <= b.lo),
            Sge | Uge => decide(a.lo >= b.hi, a.hi < b.lo),
        }
    }

    /// The facts about the first operand where it holds, from those about both; nothing where it cannot hold.
    pub fn facts(self, a: Facts, b: Facts, width: u32) -> Option<Facts> {
        use Predicate::*;
        let half = mask(width) >> 1;
        let all = mask(width);
        let bound = match self {
            Eq => b,
            Ne => match b.as_constant() {
                Some(c) if c == a.lo => Facts::range(c.checked_add(1)?, all),
                Some(c) if c == a.hi => Facts::range(0, c.checked_sub(1)?),
                _ => Facts::any(width),
            },
            Ult => Facts::range(0, b.hi.checked_sub(1)?),
            Ule => Facts::range(0, b.hi),
            Ugt => Facts::range(b.lo.checked_add(1)?, all),
            Uge => Facts::range(b.lo, all),
            // At least a number that is not negative, so not negative.
            Sgt if b.hi <= half => Facts::range(b.lo + 1, half),
            Sge if b.hi <= half => Facts::range(b.lo, half),
            // At most a number that is not negative: that says something of what is not negative itself.
            Slt if b.hi <= half && a.hi <= half => Facts::range(0, b.hi.checked_sub(1)?),
            Sle if b.hi <= half && a.hi <= half => Facts::range(0, b.hi),
            Slt | Sle | Sgt | Sge => Facts::any(width),
        };
        a.and(bound).tight(width)
    }

    /// Its truth of two integers; nothing where it reads no signs and one is negative.
    #[inline]
    pub fn exact(self, a: i64, b: i64) -> Option<bool> {
        let negative = self.sign() == Sign::Unsigned && (a < 0 || b < 0);
        (!negative).then(|| self.holds(a.cmp(&b)))
    }

    /// Its truth of two integers of a width.
    pub fn at_width(self, a: u64, b: u64, width: u32) -> bool {
        self.holds(match self.sign() {
            Sign::Signed => signed(a, width).cmp(&signed(b, width)),
            _ => a.cmp(&b),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask;

    #[test]
    fn numbers_and_names_are_those_of_their_place() {
        for (number, predicate) in Predicate::ALL.into_iter().enumerate() {
            assert_eq!(predicate.number(), number as i64);
            assert_eq!(Predicate::numbered(number as i64), Some(predicate));
            let letter = match predicate.sign() {
                Sign::Any => "",
                Sign::Signed => "s",
                Sign::Unsigned => "u",
            };
            assert!(predicate.name().starts_with(letter));
        }
        assert_eq!(Predicate::numbered(10), None);
        assert_eq!(Predicate::numbered(-1), None);
    }

    fn values(facts: Facts, width: u32) -> Vec<u64> {
        (0..=mask(width)).filter(|&v| facts.contains(v)).collect()
    }

    /// All facts, all values: what is decided is true of all, and what holds says nothing that is not so.
    #[test]
    fn decisions_and_what_follows_hold_at_small_widths() {
        for (width, ones) in [(1, true), (2, true), (3, false)] {
            let lattice = Facts::all(width, ones);
            for predicate in Predicate::ALL {
                let mut decided = 0;
                for (&a, &b) in lattice
                    .iter()
                    .flat_map(|a| lattice.iter().map(move |b| (a, b)))
                {
                    let (answer, known) =
                        (predicate.decided(a, b, width), predicate.facts(a, b, width));
                    decided += usize::from(answer.is_some());
                    for (x, y) in values(a, width)
                        .iter()
                        .flat_map(|x| values(b, width).into_iter().map(move |y| (*x, y)))
                    {
                        let holds = predicate.at_width(x, y, width);
                        assert!(
                            answer.is_none_or(|answer| answer == holds),
                            "{x} {predicate:?} {y}: {a:?} {b:?}"
                        );
                        assert!(
                            !holds || known.is_some_and(|known| known.contains(x)),
                            "{x} {predicate:?} {y}: {a:?} {b:?}"
                        );
                        assert_ne!(predicate.negated().at_width(x, y, width), holds);
                    }
                }
                assert!(
                    decided * 10 > lattice.len(),
                    "{predicate:?} decides next to nothing"
                );
            }
        }
    }

    #[test]
    fn what_comparisons_say_of_extents() {
        let extent = Predicate::Sge.facts(Facts::any(32), Facts::constant(1), 32);
        assert_eq!(extent, Facts::range(1, i32::MAX as u64).tight(32));
        let index = Predicate::Slt.facts(Facts::range(0, 1000), Facts::constant(8), 32);
        assert_eq!(index, Facts::range(0, 7).tight(32));
        assert_eq!(
            Predicate::Ult.facts(Facts::any(32), Facts::constant(0), 32),
            None
        );
    }

    #[test]
    fn each_is_what_its_name_says_at_every_small_width() {
        for width in 1..=5 {
            for predicate in Predicate::ALL {
                for a in 0..=mask(width) {
                    for b in 0..=mask(width) {
                        let (x, y) = match predicate.sign() {
                            Sign::Signed => (signed(a, width), signed(b, width)),
                            _ => (a as i64, b as i64),
                        };
                        let expected = match predicate.name().trim_start_matches(['s', 'u']) {
                            "eq" => x == y,
                            "ne" => x != y,
                            "lt" => x < y,
                            "le" => x <= y,
                            "gt" => x > y,
                            _ => x >= y,
                        };
                        assert_eq!(predicate.at_width(a, b, width), expected);
                        assert_eq!(predicate.exact(x, y), Some(expected));
                        assert_eq!(predicate.swapped().at_width(b, a, width), expected);
                    }
                }
            }
        }
        assert_eq!(Predicate::Ult.exact(-1, 0), None);
        assert_eq!(Predicate::Slt.exact(-1, 0), Some(true));
    }
}
