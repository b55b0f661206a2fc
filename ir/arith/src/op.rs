//! Operations on two integers.

use crate::{Sign, facts::mask, signed};

macro_rules! ops {
    ($($op:ident $name:literal $sign:ident $doc:literal,)*) => {
        /// An operation on two integers, named for that of `arith`: `S` reads them with a sign, `U` without.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op { $(#[doc = $doc] $op,)* }

        impl Op {
            /// All operations.
            pub const ALL: &[Op] = &[$(Op::$op,)*];

            /// The name of the op of `arith`.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$op => concat!("arith.", $name),)* }
            }

            /// The way in which it reads its operands.
            #[inline]
            pub const fn sign(self) -> Sign {
                match self { $(Op::$op => Sign::$sign,)* }
            }
        }
    };
}

ops! {
    Add "addi" Any "Sum.",
    Sub "subi" Any "Difference.",
    Mul "muli" Any "Product.",
    DivS "divsi" Signed "Quotient, rounded towards zero.",
    DivU "divui" Unsigned "Quotient, rounded down.",
    FloorDivS "floordivsi" Signed "Quotient, rounded down.",
    CeilDivS "ceildivsi" Signed "Quotient, rounded up.",
    CeilDivU "ceildivui" Unsigned "Quotient, rounded up.",
    RemS "remsi" Signed "Remainder of [`Op::DivS`]; it has the sign of the dividend.",
    RemU "remui" Unsigned "Remainder of [`Op::DivU`].",
    MinS "minsi" Signed "The smaller one.",
    MinU "minui" Unsigned "The smaller one.",
    MaxS "maxsi" Signed "The larger one.",
    MaxU "maxui" Unsigned "The larger one.",
    And "andi" Any "Bitwise and.",
    Or "ori" Any "Bitwise or.",
    Xor "xori" Any "Bitwise exclusive or.",
    Shl "shli" Any "Shift to the left.",
    ShrS "shrsi" Signed "Shift to the right, the sign kept.",
    ShrU "shrui" Unsigned "Shift to the right, zeros coming in.",
}

/// A number of bits to shift 64 by.
#[inline]
fn bits(by: i64) -> Option<u32> {
    u32::try_from(by).ok().filter(|by| *by < 64)
}

impl Op {
    /// The operation of that op of `arith`.
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The operation that reads signs and gives the same where no operand is negative; itself where it reads signs, or none matter.
    #[must_use]
    pub fn with_sign(self) -> Op {
        use Op::*;
        match self {
            DivU => DivS,
            CeilDivU => CeilDivS,
            RemU => RemS,
            MinU => MinS,
            MaxU => MaxS,
            ShrU => ShrS,
            other => other,
        }
    }

    /// The operation that reads no signs and gives the same where no operand is negative; itself where it reads none.
    #[must_use]
    pub fn without_sign(self) -> Op {
        use Op::*;
        match self {
            DivS | FloorDivS => DivU,
            CeilDivS => CeilDivU,
            RemS => RemU,
            MinS => MinU,
            MaxS => MaxU,
            ShrS => ShrU,
            other => other,
        }
    }

    /// Tells whether a width with a sign may hold the operands and not the result, where that is defined over the integers.
    pub fn can_overflow(self) -> bool {
        use Op::*;
        matches!(self, Add | Sub | Mul | Shl | DivS | FloorDivS | CeilDivS)
    }

    /// Tells whether the operands may change places.
    pub fn commutes(self) -> bool {
        use Op::*;
        matches!(self, Add | Mul | MinS | MinU | MaxS | MaxU | And | Or | Xor)
    }

    /// The `n` with `x op n = x` for every `x` of a width, if there is one.
    pub fn neutral(self, width: u32) -> Option<u64> {
        use Op::*;
        match self {
            Add | Sub | Or | Xor | Shl | ShrS | ShrU | MaxU => Some(0),
            Mul | DivU | CeilDivU => Some(1),
            // At one bit there is no 1 with a sign.
            DivS | FloorDivS | CeilDivS => (width > 1).then_some(1),
            And | MinU => Some(mask(width)),
            MinS => Some(mask(width) >> 1),
            MaxS => Some(mask(width) & !(mask(width) >> 1)),
            RemS | RemU => None,
        }
    }

    /// The result over the integers. Nothing where there is none, where 64 bits with a sign do not hold it, and of an operation
    /// without signs where an operand is negative.
    #[inline]
    pub fn exact(self, a: i64, b: i64) -> Option<i64> {
        use Op::*;
        if self.sign() == Sign::Unsigned && (a < 0 || b < 0) {
            return None;
        }
        match self {
            Add => a.checked_add(b),
            Sub => a.checked_sub(b),
            Mul => a.checked_mul(b),
            DivS | DivU => a.checked_div(b),
            FloorDivS => {
                let quotient = a.checked_div(b)?;
                Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
            }
            CeilDivS | CeilDivU => {
                let quotient = a.checked_div(b)?;
                Some(quotient + i64::from(a % b != 0 && (a < 0) == (b < 0)))
            }
            RemS | RemU => a.checked_rem(b),
            MinS | MinU => Some(a.min(b)),
            MaxS | MaxU => Some(a.max(b)),
            And => Some(a & b),
            Or => Some(a | b),
            Xor => Some(a ^ b),
            // A shift that loses bits is an overflow, as a product is.
            Shl => bits(b).filter(|b| a << b >> b == a).map(|b| a << b),
            ShrS | ShrU => bits(b).map(|b| a >> b),
        }
    }

    /// Tells whether `arith` says the result of these bits at a width: it says none for a division by zero, for a quotient that the
    /// width does not hold, and for a shift by the width or more.
    pub fn is_defined(self, a: u64, b: u64, width: u32) -> bool {
        use Op::*;
        match self {
            DivU | CeilDivU | RemU => b != 0,
            DivS | FloorDivS | CeilDivS | RemS => {
                let least = mask(width) & !(mask(width) >> 1);
                b != 0 && !(a == least && b == mask(width))
            }
            Shl | ShrS | ShrU => b < u64::from(width),
            _ => true,
        }
    }

    /// The result at a width, of operands that fit it: the exact one, wrapped around.
    ///
    /// Where [`Op::is_defined`] does not hold, it is a choice: a quotient by zero is all ones and its remainder the dividend, and
    /// a shift by too much leaves nothing but the sign.
    pub fn at_width(self, a: u64, b: u64, width: u32) -> u64 {
        use Op::*;
        let all = mask(width);
        let (x, y) = (signed(a, width), signed(b, width));
        let is_shifted_out = b >= u64::from(width);
        all & match self {
            Add => a.wrapping_add(b),
            Sub => a.wrapping_sub(b),
            Mul => a.wrapping_mul(b),
            DivU => a.checked_div(b).unwrap_or(all),
            CeilDivU => a
                .checked_div(b)
                .map_or(all, |q| q + u64::from(!a.is_multiple_of(b))),
            RemU => a.checked_rem(b).unwrap_or(a),
            DivS | FloorDivS | CeilDivS if y == 0 => all,
            // The one quotient that overflows.
            DivS | FloorDivS | CeilDivS if y == -1 => a.wrapping_neg(),
            DivS => (x / y) as u64,
            FloorDivS => (x / y - i64::from(x % y != 0 && (x < 0) != (y < 0))) as u64,
            CeilDivS => (x / y + i64::from(x % y != 0 && (x < 0) == (y < 0))) as u64,
            RemS if y == 0 => a,
            RemS => x.wrapping_rem(y) as u64,
            MinS => x.min(y) as u64,
            MinU => a.min(b),
            MaxS => x.max(y) as u64,
            MaxU => a.max(b),
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            Shl | ShrU if is_shifted_out => 0,
            Shl => a << b,
            ShrU => a >> b,
            ShrS => (x >> b.min(63)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operands as the operation reads them.
    fn read(op: Op, value: u64, width: u32) -> i64 {
        match op.sign() {
            Sign::Unsigned => value as i64,
            _ => signed(value, width),
        }
    }

    /// The meaning of each operation, said once more in another way.
    fn meaning(op: Op, a: i64, b: i64) -> Option<i64> {
        use Op::*;
        let exact = a as f64 / b as f64;
        let bitwise = |f: fn(bool, bool) -> bool| {
            (0..64).fold(0i64, |sum, i| {
                sum | i64::from(f(a >> i & 1 != 0, b >> i & 1 != 0)) << i
            })
        };
        Some(match op {
            Add => a + b,
            Sub => a - b,
            Mul => a * b,
            DivS | DivU | FloorDivS | CeilDivS | CeilDivU | RemS | RemU if b == 0 => return None,
            DivS => exact.trunc() as i64,
            DivU | FloorDivS => exact.floor() as i64,
            CeilDivS | CeilDivU => exact.ceil() as i64,
            RemS => a - b * exact.trunc() as i64,
            RemU => a - b * exact.floor() as i64,
            MinS | MinU => [a, b][usize::from(b < a)],
            MaxS | MaxU => [a, b][usize::from(b > a)],
            And => bitwise(|x, y| x && y),
            Or => bitwise(|x, y| x || y),
            Xor => bitwise(|x, y| x != y),
            Shl | ShrS | ShrU if b < 0 => return None,
            Shl => a * 2i64.pow(b as u32),
            ShrS | ShrU => (a as f64 / 2f64.powi(b as i32)).floor() as i64,
        })
    }

    #[test]
    fn exact_results_are_what_they_mean() {
        for op in Op::ALL.iter().copied() {
            for a in -20..=20 {
                for b in -9..=9 {
                    let negative = op.sign() == Sign::Unsigned && (a < 0 || b < 0);
                    let expected = if negative { None } else { meaning(op, a, b) };
                    assert_eq!(op.exact(a, b), expected, "{op:?} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn results_that_64_bits_do_not_hold_are_none() {
        for (op, a, b) in [
            (Op::Add, i64::MAX, 1),
            (Op::Sub, i64::MIN, 1),
            (Op::Mul, 1 << 40, 1 << 40),
            (Op::DivS, i64::MIN, -1),
            (Op::FloorDivS, i64::MIN, -1),
            (Op::CeilDivS, i64::MIN, -1),
            (Op::RemS, i64::MIN, -1),
            (Op::Shl, 1, 63),
            (Op::Shl, 1, 64),
            (Op::ShrS, 1, 64),
            (Op::ShrU, 1, -1),
        ] {
            assert_eq!(op.exact(a, b), None, "{op:?} {a} {b}");
        }
        assert_eq!(Op::Shl.exact(-1, 63), Some(i64::MIN));
        assert_eq!(Op::CeilDivS.exact(i64::MAX, 2), Some(1 << 62));
    }

    /// At every small width and for all operands, the result is the exact one of the operands as they are read, wrapped around.
    #[test]
    fn results_at_a_width_wrap_around() {
        for width in 1..=6 {
            for op in Op::ALL.iter().copied() {
                for a in 0..=mask(width) {
                    for b in 0..=mask(width) {
                        let found = op.at_width(a, b, width);
                        assert!(found <= mask(width), "{op:?} {a} {b} at {width}");
                        if !op.is_defined(a, b, width) {
                            continue;
                        }
                        // Of a shift, the number of bits has no sign.
                        let shift = matches!(op, Op::Shl | Op::ShrS | Op::ShrU);
                        let by = if shift { b as i64 } else { read(op, b, width) };
                        let exact = op.exact(read(op, a, width), by);
                        let expected = exact.map(|exact| exact as u64 & mask(width));
                        assert_eq!(Some(found), expected, "{op:?} {a} {b} at {width}");
                    }
                }
            }
        }
    }

    /// A result that is not defined is one that is none, or that the width does not hold, or a shift by all bits.
    #[test]
    fn what_is_not_defined_has_no_result_at_the_width() {
        for width in 1..=6 {
            let (least, most) = (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1);
            for op in Op::ALL.iter().copied() {
                let divides = !matches!(op.name().split_at(6).1, "shli" | "shrsi" | "shrui");
                for (a, b) in (0..=mask(width)).flat_map(|a| (0..=mask(width)).map(move |b| (a, b)))
                {
                    if op.is_defined(a, b, width) || !divides {
                        continue;
                    }
                    let (x, y) = (read(op, a, width), read(op, b, width));
                    let fits = op.exact(x, y).is_some_and(|q| (least..=most).contains(&q));
                    // A remainder of the quotient that does not fit is not defined either.
                    assert!(!fits || (op == Op::RemS && y == -1), "{op:?} {x} {y}");
                }
            }
        }
        assert!(Op::Shl.is_defined(1, 31, 32) && !Op::Shl.is_defined(1, 32, 32));
        assert!(!Op::DivS.is_defined(1 << 31, 0xffff_ffff, 32));
    }

    #[test]
    fn the_widest_are_no_panic() {
        let all = [0, 1, 63, 64, u64::MAX, 1 << 63, (1 << 63) - 1];
        for op in Op::ALL {
            for a in all {
                for b in all {
                    op.at_width(a, b, 64);
                    op.exact(a as i64, b as i64);
                }
            }
        }
        assert_eq!(Op::DivS.at_width(1 << 63, u64::MAX, 64), 1 << 63);
        assert_eq!(Op::RemS.at_width(1 << 63, u64::MAX, 64), 0);
        assert_eq!(Op::ShrS.at_width(1 << 63, 64, 64), u64::MAX);
    }

    #[test]
    fn the_neutral_element_of_each_operation() {
        for width in 1..=6 {
            for op in Op::ALL.iter().copied() {
                let is_neutral = |n: u64| (0..=mask(width)).all(|x| op.at_width(x, n, width) == x);
                match op.neutral(width) {
                    Some(n) => assert!(is_neutral(n), "{op:?} {n} at width {width}"),
                    // Beside the choices for what is not defined.
                    None => assert!(
                        !(1..=mask(width)).any(is_neutral) || width == 1,
                        "{op:?} at width {width}"
                    ),
                }
            }
        }
    }

    #[test]
    fn commuting_operations_commute_and_no_others_do() {
        for op in Op::ALL.iter().copied() {
            let same = (0..8).all(|a| (0..8).all(|b| op.at_width(a, b, 3) == op.at_width(b, a, 3)));
            assert_eq!(same, op.commutes(), "{op:?}");
        }
    }

    #[test]
    fn signs_matter_for_negative_numbers_alone() {
        for op in Op::ALL.iter().copied() {
            for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
                let exact = op.exact(a, b);
                for twin in [op.with_sign(), op.without_sign()] {
                    assert_eq!(
                        twin.exact(a, b),
                        exact,
                        "{op:?} and {twin:?} of {a} and {b}"
                    );
                }
            }
            assert_ne!(op.with_sign().sign(), Sign::Unsigned, "{op:?}");
            assert_ne!(op.without_sign().sign(), Sign::Signed, "{op:?}");
        }
    }

    #[test]
    fn what_can_overflow_does_at_a_small_width() {
        let numbers = -8..8i64;
        for op in Op::ALL.iter().copied() {
            let overflows = numbers.clone().any(|a| {
                let mut results = numbers.clone().filter_map(|b| op.exact(a, b));
                results.any(|result| !numbers.contains(&result))
            });
            assert_eq!(overflows, op.can_overflow(), "{op:?}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for op in Op::ALL {
            assert_eq!(Op::named(op.name()), Some(*op));
        }
        assert_eq!(Op::named("arith.addf"), None);
        assert_eq!(Op::named("addi"), None);
    }
}
