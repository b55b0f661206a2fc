//! Comparisons of two integers.

use std::cmp::Ordering;

use crate::{Sign, signed};

/// A comparison of `arith.cmpi`, with its number there: `S` reads the operands with a sign, `U` without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Predicate {
    /// Equal.
    Eq = 0,
    /// Not equal.
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
