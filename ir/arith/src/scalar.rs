//! Operations on numbers, as regions of element-wise computations have them.

use crate::Predicate;
use std::cmp::Ordering;

/// The operations of a region at most.
pub const MAX_REGION_OPS: usize = 256;

macro_rules! ops {
    ($($op:ident $name:literal $arity:literal [$($mlir:literal),*] $exact:expr, $doc:literal;)*) => {
        /// An operation on numbers, whatever their type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ScalarOp { $(#[doc = $doc] $op,)* }

        impl ScalarOp {
            /// All operations, in the order of their declaration.
            pub const ALL: &[ScalarOp] = &[$(ScalarOp::$op,)*];

            /// Its name in a package.
            pub const fn name(self) -> &'static str {
                match self { $(ScalarOp::$op => $name,)* }
            }

            /// The number of operands.
            pub const fn arity(self) -> usize {
                match self { $(ScalarOp::$op => $arity,)* }
            }

            /// The names of the ops of MLIR that it is; none of a comparison, which a predicate of `arith` names.
            pub const fn mlir(self) -> &'static [&'static str] {
                match self { $(ScalarOp::$op => &[$($mlir),*],)* }
            }

            /// The result on as many numbers as it has operands; the others are not looked at.
            fn on(self, operands: [f64; 3]) -> f64 {
                let exact: fn([f64; 3]) -> f64 = match self { $(ScalarOp::$op => $exact,)* };
                exact(operands)
            }
        }
    };
}

ops! {
    Add "add" 2 ["arith.addf", "arith.addi"] |[x, y, _]| x + y, "Sum.";
    Sub "sub" 2 ["arith.subf", "arith.subi"] |[x, y, _]| x - y, "Difference.";
    Mul "mul" 2 ["arith.mulf", "arith.muli"] |[x, y, _]| x * y, "Product.";
    Div "div" 2 ["arith.divf"] |[x, y, _]| x / y, "Quotient.";
    Neg "neg" 1 ["arith.negf"] |[x, ..]| -x, "The number with the other sign.";
    Max "max" 2 ["arith.maximumf", "arith.maxsi"] |[x, y, _]| either(x, y, x.max(y)), "The larger one; a NaN if there is one.";
    Min "min" 2 ["arith.minimumf", "arith.minsi"] |[x, y, _]| either(x, y, x.min(y)), "The smaller one; a NaN if there is one.";
    MaxNum "max_num" 2 ["arith.maxnumf"] |[x, y, _]| x.max(y), "The larger one; the other where one is a NaN.";
    MinNum "min_num" 2 ["arith.minnumf"] |[x, y, _]| x.min(y), "The smaller one; the other where one is a NaN.";
    Abs "abs" 1 ["math.absf"] |[x, ..]| x.abs(), "Magnitude.";
    Floor "floor" 1 ["math.floor"] |[x, ..]| x.floor(), "The next integer below, or itself.";
    Ceil "ceil" 1 ["math.ceil"] |[x, ..]| x.ceil(), "The next integer above, or itself.";
    RoundEven "round_even" 1 ["math.roundeven"] |[x, ..]| x.round_ties_even(), "The nearest integer; of two the even one.";
    Trunc "trunc" 1 ["math.trunc"] |[x, ..]| x.trunc(), "The next integer towards zero, or itself.";
    CopySign "copy_sign" 2 ["math.copysign"] |[x, y, _]| x.copysign(y), "The magnitude of the first with the sign of the second.";
    Sqrt "sqrt" 1 ["math.sqrt"] |[x, ..]| x.sqrt(), "Square root.";
    Rsqrt "rsqrt" 1 ["math.rsqrt"] |[x, ..]| 1.0 / x.sqrt(), "Reciprocal of the square root.";
    Exp "exp" 1 ["math.exp"] |[x, ..]| x.exp(), "Power of e.";
    Exp2 "exp2" 1 ["math.exp2"] |[x, ..]| x.exp2(), "Power of two.";
    Log "log" 1 ["math.log"] |[x, ..]| x.ln(), "Logarithm to the base e.";
    Log2 "log2" 1 ["math.log2"] |[x, ..]| x.log2(), "Logarithm to the base two.";
    Sin "sin" 1 ["math.sin"] |[x, ..]| x.sin(), "Sine of radians.";
    Cos "cos" 1 ["math.cos"] |[x, ..]| x.cos(), "Cosine of radians.";
    Tanh "tanh" 1 ["math.tanh"] |[x, ..]| x.tanh(), "Hyperbolic tangent.";
    Erf "erf" 1 ["math.erf"] |[x, ..]| libm::erf(x), "Error function.";
    Fma "fma" 3 ["math.fma"] |[x, y, z]| x.mul_add(y, z), "Product of the first two, plus the third.";
    Convert "convert" 1 ["arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.extsi", "arith.extui", "arith.trunci"] |[x, ..]| x,
        "The number in another type: rounded to nearest, to an integer towards zero, of an integer to another one the lower bits.";
    Eq "eq" 2 [] |[x, y, _]| truth(x == y), "1 where both are equal, else 0.";
    Ne "ne" 2 [] |[x, y, _]| truth(x.partial_cmp(&y).is_some_and(Ordering::is_ne)), "1 where one is smaller, else 0.";
    Lt "lt" 2 [] |[x, y, _]| truth(x < y), "1 where the first is smaller, else 0.";
    Le "le" 2 [] |[x, y, _]| truth(x <= y), "1 where the first is not larger, else 0.";
    Gt "gt" 2 [] |[x, y, _]| truth(x > y), "1 where the first is larger, else 0.";
    Ge "ge" 2 [] |[x, y, _]| truth(x >= y), "1 where the first is not smaller, else 0.";
    And "and" 2 [] |[x, y, _]| truth(x != 0.0 && y != 0.0), "1 where both truth values are, else 0.";
    Or "or" 2 [] |[x, y, _]| truth(x != 0.0 || y != 0.0), "1 where one of the truth values is, else 0.";
    Quotient "int_div" 2 ["arith.divsi"] |[x, y, _]| of_integers(ScalarOp::Quotient, x, y), "Quotient of integers, rounded towards zero.";
    Remainder "int_rem" 2 ["arith.remsi"] |[x, y, _]| of_integers(ScalarOp::Remainder, x, y), "Remainder of integers, with the sign of the first.";
    BitAnd "bit_and" 2 [] |[x, y, _]| of_integers(ScalarOp::BitAnd, x, y), "Bits that are set in both integers.";
    BitOr "bit_or" 2 [] |[x, y, _]| of_integers(ScalarOp::BitOr, x, y), "Bits that are set in one of the integers.";
    BitXor "bit_xor" 2 [] |[x, y, _]| of_integers(ScalarOp::BitXor, x, y), "Bits that are set in one of the integers alone.";
    ShiftLeft "shift_left" 2 ["arith.shli"] |[x, y, _]| of_integers(ScalarOp::ShiftLeft, x, y), "Bits of the first, so many places up; zeros come from below.";
    ShiftRight "shift_right" 2 ["arith.shrsi"] |[x, y, _]| of_integers(ScalarOp::ShiftRight, x, y), "Bits of the first, so many places down; the sign comes from above.";
    ShiftRightUnsigned "shift_right_unsigned" 2 ["arith.shrui"] |[x, y, _]| of_integers(ScalarOp::ShiftRightUnsigned, x, y), "Bits of the first, so many places down; zeros come from above.";
    Select "select" 3 ["arith.select"] |[c, x, y]| if c != 0.0 { x } else { y }, "The second where the first is not 0, else the third.";
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The result of an operation on the bits of integers of 64 bits, which f64 has exactly up to 2^53.
fn of_integers(op: ScalarOp, x: f64, y: f64) -> f64 {
    const WHOLE: f64 = (1_u64 << 53) as f64;
    let integer = |x: f64| (x.fract() == 0.0 && x.abs() <= WHOLE).then_some(x as i64);
    let result = integer(x)
        .zip(integer(y))
        .and_then(|(x, y)| op.on_integers(64, x, y));
    result.map_or(f64::NAN, |result| result as f64)
}

/// The result, or a NaN where an operand is one.
fn either(x: f64, y: f64, result: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else {
        result
    }
}

impl ScalarOp {
    /// The operation of that name in a package.
    pub fn named(name: &str) -> Option<ScalarOp> {
        ScalarOp::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The operation that an op of MLIR is; none of `arith.andi`, `arith.ori` and `arith.xori`, which [`ScalarOp::of_bits`] tells apart.
    pub fn of_mlir(name: &str) -> Option<ScalarOp> {
        let mut all = ScalarOp::ALL.iter().copied();
        all.find(|op| op.mlir().contains(&name))
    }

    /// The comparison that `arith.cmpf` makes by a number of its attribute `predicate`; none of `true`, `false`, `ord` and `uno`. Numbers that are no NaN compare alike, ordered or not.
    pub fn of_cmpf(predicate: i64) -> Option<ScalarOp> {
        use ScalarOp::{Eq, Ge, Gt, Le, Lt, Ne};
        match predicate {
            1 | 8 => Some(Eq),
            2 | 9 => Some(Gt),
            3 | 10 => Some(Ge),
            4 | 11 => Some(Lt),
            5 | 12 => Some(Le),
            6 | 13 => Some(Ne),
            _ => None,
        }
    }

    /// The comparison that `arith.cmpi` makes by a predicate; none of one that reads numbers without signs.
    pub fn of_cmpi(predicate: Predicate) -> Option<ScalarOp> {
        match predicate {
            Predicate::Eq => Some(ScalarOp::Eq),
            Predicate::Ne => Some(ScalarOp::Ne),
            Predicate::Slt => Some(ScalarOp::Lt),
            Predicate::Sle => Some(ScalarOp::Le),
            Predicate::Sgt => Some(ScalarOp::Gt),
            Predicate::Sge => Some(ScalarOp::Ge),
            _ => None,
        }
    }

    /// The operation that an op of MLIR on bits is, of truth values or of integers.
    pub fn of_bits(name: &str, of_truth: bool) -> Option<ScalarOp> {
        use ScalarOp::{And, BitAnd, BitOr, BitXor, Ne, Or};
        match (name, of_truth) {
            ("arith.andi", true) => Some(And),
            ("arith.andi", false) => Some(BitAnd),
            ("arith.ori", true) => Some(Or),
            ("arith.ori", false) => Some(BitOr),
            ("arith.xori", true) => Some(Ne),
            ("arith.xori", false) => Some(BitXor),
            _ => None,
        }
    }

    /// The names of all ops of MLIR that are operations here.
    pub fn mlir_names() -> impl Iterator<Item = &'static str> {
        let named = ScalarOp::ALL.iter().flat_map(|op| op.mlir()).copied();
        named.chain(["arith.andi", "arith.ori", "arith.xori"])
    }

    /// Tells whether it compares two numbers, so that its result is a truth value.
    pub fn compares(self) -> bool {
        use ScalarOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    /// Tells whether there is such an operation on integers.
    pub fn takes_integers(self) -> bool {
        use ScalarOp::{Add, Convert, Max, Min, Mul, Select, Sub};
        matches!(self, Add | Sub | Mul | Max | Min | Convert | Select)
            || self.compares()
            || self.is_of_integers()
    }

    /// Tells whether it is an operation on integers alone.
    pub fn is_of_integers(self) -> bool {
        use ScalarOp::{
            BitAnd, BitOr, BitXor, Quotient, Remainder, ShiftLeft, ShiftRight, ShiftRightUnsigned,
        };
        matches!(
            self,
            Quotient
                | Remainder
                | BitAnd
                | BitOr
                | BitXor
                | ShiftLeft
                | ShiftRight
                | ShiftRightUnsigned
        )
    }

    /// The result of an operation on integers alone, of integers with signs of so many bits; none of other operations, and where it is not defined: a
    /// quotient by 0 or of more bits, a shift by as many bits as there are.
    pub fn on_integers(self, bits: u32, x: i64, y: i64) -> Option<i64> {
        use ScalarOp::{
            BitAnd, BitOr, BitXor, Quotient, Remainder, ShiftLeft, ShiftRight, ShiftRightUnsigned,
        };
        let unused = 64_u32.checked_sub(bits).filter(|unused| *unused < 64)?;
        let signed = |x: i64| (x << unused) >> unused;
        let by = u32::try_from(y).ok().filter(|by| *by < bits);
        Some(match self {
            Quotient => x
                .checked_div(y)
                .filter(|result| signed(*result) == *result)?,
            Remainder => x.checked_div(y).and(x.checked_rem(y))?,
            BitAnd => x & y,
            BitOr => x | y,
            BitXor => x ^ y,
            ShiftLeft => signed(x << by?),
            ShiftRight => x >> by?,
            ShiftRightUnsigned => {
                let zeros = (x as u64) << unused >> unused;
                signed((zeros >> by?) as i64)
            }
            _ => return None,
        })
    }

    /// The result in real arithmetic, rounded to f64; comparisons and operations on truth values give 1 or 0, and a comparison
    /// with a NaN gives 0. A NaN for another number of operands.
    pub fn exact(self, operands: &[f64]) -> f64 {
        if operands.len() != self.arity() {
            return f64::NAN;
        }
        let at = |i: usize| operands.get(i).copied().unwrap_or(f64::NAN);
        self.on([at(0), at(1), at(2)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_names_one_operation() {
        let mut mlir = Vec::new();
        for op in ScalarOp::ALL.iter().copied() {
            assert_eq!(ScalarOp::named(op.name()), Some(op));
            for name in op.mlir() {
                assert_eq!(ScalarOp::of_mlir(name), Some(op), "{name}");
                mlir.push(*name);
            }
        }
        let names = mlir.len();
        mlir.sort_unstable();
        mlir.dedup();
        assert_eq!(mlir.len(), names);
        assert_eq!(ScalarOp::named("pow"), None);
        assert_eq!(ScalarOp::of_mlir("arith.cmpf"), None);
        for name in ["arith.andi", "arith.ori", "arith.xori"] {
            let [truths, integers] = [true, false].map(|of| ScalarOp::of_bits(name, of).unwrap());
            assert!(
                !truths.is_of_integers() && integers.is_of_integers(),
                "{name}"
            );
            assert!(ScalarOp::mlir_names().any(|known| known == name));
        }
    }

    #[test]
    fn integers_have_their_bits() {
        use ScalarOp::*;
        for (op, bits, [x, y], result) in [
            (Quotient, 8, [-128, -1], None),
            (Quotient, 32, [-128, -1], Some(128)),
            (Quotient, 8, [5, 0], None),
            (Remainder, 8, [5, 0], None),
            (Remainder, 64, [i64::MIN, -1], None),
            (ShiftLeft, 8, [0x4b, 4], Some(-0x50)),
            (ShiftLeft, 8, [1, 8], None),
            (ShiftLeft, 8, [1, -1], None),
            (ShiftRight, 8, [-128, 7], Some(-1)),
            (ShiftRightUnsigned, 8, [-1, 4], Some(15)),
            (ShiftRightUnsigned, 8, [-1, 0], Some(-1)),
            (ShiftRightUnsigned, 32, [-1, 31], Some(1)),
            (ShiftRightUnsigned, 64, [-1, 63], Some(1)),
            (BitXor, 8, [-128, 127], Some(-1)),
            (Add, 8, [1, 1], None),
        ] {
            assert_eq!(op.on_integers(bits, x, y), result, "{op:?} {bits} {x} {y}");
        }
        assert!(BitAnd.exact(&[0.5, 1.0]).is_nan() && BitAnd.exact(&[1e300, 1.0]).is_nan());
    }

    #[test]
    fn results_are_what_they_mean() {
        use ScalarOp::*;
        let half_pi = std::f64::consts::FRAC_PI_2;
        for (op, operands, result) in [
            (Add, &[1.5, 2.0][..], 3.5),
            (Sub, &[1.5, 2.0], -0.5),
            (Mul, &[1.5, 2.0], 3.0),
            (Div, &[1.5, 2.0], 0.75),
            (Neg, &[1.5], -1.5),
            (Max, &[1.5, 2.0], 2.0),
            (Min, &[1.5, 2.0], 1.5),
            (MaxNum, &[f64::NAN, 2.0], 2.0),
            (MinNum, &[1.5, f64::NAN], 1.5),
            (Abs, &[-1.5], 1.5),
            (Floor, &[-1.5], -2.0),
            (Ceil, &[-1.5], -1.0),
            (RoundEven, &[2.5], 2.0),
            (Trunc, &[-1.5], -1.0),
            (CopySign, &[1.5, -0.0], -1.5),
            (Sqrt, &[2.25], 1.5),
            (Rsqrt, &[4.0], 0.5),
            (Exp, &[0.0], 1.0),
            (Exp2, &[-1.0], 0.5),
            (Log, &[1.0], 0.0),
            (Log2, &[8.0], 3.0),
            (Sin, &[half_pi], 1.0),
            (Cos, &[0.0], 1.0),
            (Tanh, &[0.0], 0.0),
            (Erf, &[30.0], 1.0),
            (Fma, &[2.0, 3.0, 1.0], 7.0),
            (Convert, &[1.5], 1.5),
            (Eq, &[1.0, 1.0], 1.0),
            (Ne, &[1.0, 1.0], 0.0),
            (Ne, &[f64::NAN, 1.0], 0.0),
            (Lt, &[1.0, 2.0], 1.0),
            (Le, &[2.0, 2.0], 1.0),
            (Gt, &[1.0, 2.0], 0.0),
            (Ge, &[f64::NAN, 2.0], 0.0),
            (And, &[1.0, 0.0], 0.0),
            (Or, &[1.0, 0.0], 1.0),
            (Quotient, &[-7.0, 2.0], -3.0),
            (Remainder, &[-7.0, 2.0], -1.0),
            (BitAnd, &[-4.0, 6.0], 4.0),
            (BitOr, &[-4.0, 6.0], -2.0),
            (BitXor, &[-4.0, 6.0], -6.0),
            (ShiftLeft, &[-3.0, 4.0], -48.0),
            (ShiftRight, &[-3.0, 1.0], -2.0),
            (ShiftRightUnsigned, &[6.0, 1.0], 3.0),
            (Select, &[1.0, 5.0, 6.0], 5.0),
            (Select, &[0.0, 5.0, 6.0], 6.0),
        ] {
            assert_eq!(op.exact(operands), result, "{op:?} {operands:?}");
            assert!(op.exact(&[operands, &[1.0]].concat()).is_nan(), "{op:?}");
        }
        assert!(Max.exact(&[f64::NAN, 2.0]).is_nan() && Min.exact(&[1.0, f64::NAN]).is_nan());
        // Abramowitz and Stegun, table 7.1.
        assert!((Erf.exact(&[0.5]) - 0.520_499_877_813_046_5).abs() < 1e-15);
    }
}
