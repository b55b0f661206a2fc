//! Regions of operations in f64, with bounds of what right results may be.
//!
//! A [`Ball`] is the exact value of a number and the interval that holds whatever a right kernel has for it. Each operation takes
//! intervals to the interval of its results, which then grows to hold also
//!
//! - the numbers of the operation's type that its ends are rounded to: rounding to nearest is monotone, so that no number inside is
//!   rounded to one outside. What is not rounded stays inside as well, so a product that is not rounded before it is added to
//!   something is right;
//! - 2^-20 of the result where GPUs approximate the function (`exp`, `exp2`, `log`, `log2`, `sin`, `cos`, `rsqrt`, `sqrt`, `div`,
//!   `tanh`, `erf`) and the type is not f64. Of `tanh`, `erf`, `sin` and `cos` it is 2^-20 itself, of `sin` and `cos` times |x| / pi beyond pi,
//!   of logarithms of numbers from 1/2 to 2 besides. `exp` multiplies by a constant before it takes a power of two, so what its
//!   argument loses is lost by the result: 2^-23 |x| more. In f64, functions lose 2^-50;
//! - 2^-51 for what f64 itself loses here.
//!
//! A product of a value with itself is not negative. Integers are exact, beyond 2^53 as well; one that another integer type does not hold is what its lower
//! bits are there. Of their quotients, remainders and bits something is said where they are known. What is rounded to a whole number is one of those that lie between the ends. A comparison of intervals that overlap is
//! undecided, and `select` then gives what holds both. An infinity is one that is exact, as masks of scores are, and goes through sums, maxima and exponentials.
//! Nothing is said of another result that may be no finite number of its type (a quotient
//! by what may be 0, a root of what may be negative, an integer out of range), nor of what follows from it.

use crate::element::Element;
use crate::package::{Region, RegionValue, ValueType};
use crate::tensor::{HostTensor, Matrix, round_to, scalar_integer};
use cute_arith::ScalarOp;

/// The relative error of approximations of functions.
const APPROXIMATION: f64 = 1.0 / (1 << 20) as f64;
/// The relative error of functions in f64.
const DOUBLE: f64 = 1.0 / (1u64 << 50) as f64;
/// The integers below which f64 has all of them.
const WHOLE: f64 = (1u64 << 53) as f64;
/// The relative error of the operations here.
const REFERENCE: f64 = 1.0 / (1u64 << 51) as f64;

/// A number, and the interval that right results for it are in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ball {
    value: f64,
    low: f64,
    high: f64,
    /// The integer itself, where f64 does not hold it: the ends are then around it.
    whole: Option<i64>,
}

impl Ball {
    /// A number of which nothing is said.
    pub(super) const UNKNOWN: Ball = Ball {
        value: f64::NAN,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        whole: None,
    };

    /// A number that is exact.
    pub(super) fn exact(value: f64) -> Ball {
        Ball::around(value, 0.0)
    }

    /// An integer that is exact.
    pub(super) fn integer(value: i64) -> Ball {
        let nearest = value as f64;
        if nearest as i128 == i128::from(value) {
            return Ball::exact(nearest);
        }
        Ball {
            whole: Some(value),
            ..Ball::around(nearest, REFERENCE * nearest.abs())
        }
    }

    /// The integer, if a type of integers holds it.
    pub(super) fn integer_of(value: i128, element: Element) -> Ball {
        let [least, most] = [element.min_finite(), element.max_finite()].map(|end| end as i128);
        match i64::try_from(value) {
            Ok(whole) if (least..=most).contains(&value) => Ball::integer(whole),
            _ => Ball::UNKNOWN,
        }
    }

    /// An element of a tensor, at an offset within its memory.
    pub(super) fn of_element(tensor: &HostTensor, offset: i64) -> Ball {
        let integer = match tensor.element() {
            Element::I64 => scalar_integer(Element::I64, tensor.element_bytes(offset)),
            _ => None,
        };
        integer.map_or_else(|| Ball::exact(tensor.load(offset)), Ball::integer)
    }

    /// An element of a matrix, at a row and a column that it has.
    pub(super) fn in_matrix(matrix: &Matrix, row: usize, column: usize) -> Ball {
        let integer = match matrix.element() {
            Element::I64 if matrix.is_there(row, column) => {
                scalar_integer(Element::I64, matrix.bytes(row, column))
            }
            _ => None,
        };
        integer.map_or_else(|| Ball::exact(matrix.get(row, column)), Ball::integer)
    }

    /// A number that is off by at most `radius`.
    pub(super) fn around(value: f64, radius: f64) -> Ball {
        Ball::between(value, value - radius, value + radius)
    }

    /// A number that is between those ends.
    pub(super) fn between(value: f64, low: f64, high: f64) -> Ball {
        let is_infinity = value.is_infinite() && low == value && high == value;
        match is_infinity || value.is_finite() && low.is_finite() && high.is_finite() {
            true => Ball {
                value,
                low,
                high,
                whole: None,
            },
            false => Ball::UNKNOWN,
        }
    }

    /// The integer that it is, if it is one and known exactly.
    pub(super) fn whole(&self) -> Option<i128> {
        let held = || {
            let fits = self.is_decided() && self.value.abs() <= 2f64.powi(63);
            (fits && self.value.fract() == 0.0).then_some(self.value as i128)
        };
        self.whole.map(i128::from).or_else(held)
    }

    /// Tells whether f64 does not hold the integer that it is.
    pub(super) fn is_beyond_f64(&self) -> bool {
        self.whole.is_some()
    }

    /// Tells whether right elements of that type can be told from others: where f64 does not hold all integers, those alone that are known exactly.
    pub(super) fn tells_right(&self, element: Element) -> bool {
        let is_held = element != Element::I64 || self.largest() < WHOLE;
        self.is_known() && (is_held || self.whole().is_some())
    }

    /// Tells whether it is an infinity, which nothing rounds.
    fn is_infinity(&self) -> bool {
        self.value.is_infinite()
    }

    fn truth(value: f64, decided: bool) -> Ball {
        match decided {
            true => Ball::exact(value),
            false => Ball::between(value, 0.0, 1.0),
        }
    }

    /// The exact value, which may be an infinity; NaN where nothing is said.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The ends of the interval; infinite where nothing is said.
    pub(super) fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The deviation that a right result may have; infinite where nothing is said.
    pub(super) fn radius(&self) -> f64 {
        match self.is_known() {
            true => (self.high - self.value).max(self.value - self.low).max(0.0),
            false => f64::INFINITY,
        }
    }

    /// The first and the last number of a type that a right result is, which has that type; none where nothing is said of it.
    pub(super) fn ends_in(&self, element: Element) -> Option<[f64; 2]> {
        let round = |x: f64| match element.is_float() {
            true => round_to(element, x),
            false => x,
        };
        let ends = [round(self.low), round(self.high)];
        (self.is_known() && ends.iter().all(|x| x.is_finite())).then_some(ends)
    }

    /// The integer as another integer type has it: its lower bits.
    fn wrapped(self, element: Element) -> Ball {
        let Some(whole) = self.whole() else {
            return self.held_by(element);
        };
        let modulus = 1i128 << (8 * element.size());
        let lower = whole.rem_euclid(modulus);
        let is_negative = element.min_finite() < 0.0 && lower >= modulus / 2;
        Ball::integer_of(if is_negative { lower - modulus } else { lower }, element)
    }

    /// The product, not rounded.
    pub(super) fn times(&self, other: &Ball) -> Ball {
        let wholes = || Some((self.whole()?, other.whole()?));
        if let Some((x, y)) = wholes()
            && let Ok(product) = i64::try_from(x * y)
        {
            return Ball::integer(product);
        }
        if self.is_decided() && other.is_decided() {
            return Ball::exact(self.value * other.value);
        }
        let ends = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        let low = ends.into_iter().fold(f64::INFINITY, f64::min);
        let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Ball::between(self.value * other.value, low, high)
    }

    /// Tells whether anything is said of it.
    pub(super) fn is_known(&self) -> bool {
        !self.value.is_nan()
    }

    fn is_decided(&self) -> bool {
        self.low == self.high
    }

    /// The largest magnitude in the interval.
    pub(super) fn largest(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The number in a type: what its interval's ends are rounded to as well.
    pub(super) fn rounded(self, ty: ValueType) -> Ball {
        let ValueType::Number(element) = ty else {
            return self;
        };
        if self.is_infinity() && element.has_infinity() && element.size() > 1 {
            return self;
        }
        if element.is_float() && element.size() == 1 {
            // Conversions saturate (PTX ISA, cvt, .satfinite).
            let most = element.max_finite();
            let clamped = |x: f64| x.clamp(-most, most);
            let [low, high] = [self.low, self.high].map(clamped);
            let ends = [round_to(element, low), round_to(element, high)];
            return Ball::between(clamped(self.value), low.min(ends[0]), high.max(ends[1]));
        }
        if element.is_float() {
            let low = self.low.min(round_to(element, self.low));
            let high = self.high.max(round_to(element, self.high));
            // What is beyond the largest number may be it, an infinity or a NaN.
            return Ball::between(self.value, low, high).held_by(element);
        }
        self.held_by(element)
    }

    /// The number, if the type holds all of its interval.
    pub(super) fn held_by(self, element: Element) -> Ball {
        match element.min_finite() <= self.low && self.high <= element.max_finite() {
            true => self,
            false => Ball::UNKNOWN,
        }
    }
}

/// A region whose scalars have values, ready to be evaluated for each element.
pub(super) struct Evaluator<'a> {
    region: &'a Region,
    /// The types of all values, the arguments first.
    types: Vec<ValueType>,
    /// The values of constants and scalars, and anything for operations.
    known: Vec<Ball>,
}

impl<'a> Evaluator<'a> {
    /// `types` are those of all values, the arguments first; `scalar` gives the value of a scalar argument.
    pub(super) fn new(
        region: &'a Region,
        types: Vec<ValueType>,
        scalar: impl Fn(usize) -> Ball,
    ) -> Evaluator<'a> {
        let known = region
            .ops
            .iter()
            .map(|op| match (&op.value, op.element.parse()) {
                // A constant is kept as f64, which has not all integers from there on.
                (RegionValue::Constant(value), Ok(ty))
                    if is_integer(ty) && value.abs() >= WHOLE =>
                {
                    Ball::UNKNOWN
                }
                (RegionValue::Constant(value), Ok(ValueType::Number(element))) => {
                    Ball::exact(round_to(element, *value))
                }
                (RegionValue::Constant(value), _) => Ball::exact(*value),
                (RegionValue::Scalar(arg), _) => scalar(*arg),
                (RegionValue::Op(..) | RegionValue::Reduce(..), _) => Ball::UNKNOWN,
            });
        Evaluator {
            known: known.collect(),
            types,
            region,
        }
    }

    /// Adds the values of all operations to those of the arguments; nothing is said of a reduction.
    pub(super) fn evaluate(&self, values: &mut Vec<Ball>) {
        for op in 0..self.region.ops.len() {
            values.push(self.result(op, values));
        }
    }

    /// The values of constants and scalars, behind those of the arguments, and nothing of all others.
    pub(super) fn constants(&self) -> Vec<Ball> {
        let mut values = vec![Ball::UNKNOWN; self.arguments()];
        values.extend(&self.known);
        values
    }

    /// Puts the values of those operations, each of which uses values that are there or come before it, into all values.
    pub(super) fn evaluate_ops(&self, ops: &[usize], values: &mut [Ball]) {
        let arguments = self.arguments();
        for &op in ops {
            let result = self.result(op, values);
            if let Some(value) = values.get_mut(arguments + op) {
                *value = result;
            }
        }
    }

    /// The value of an operation, given those before it.
    fn result(&self, at: usize, values: &[Ball]) -> Ball {
        let ty = self.types.get(self.arguments() + at);
        let (Some(op), Some(&ty)) = (self.region.ops.get(at), ty) else {
            return Ball::UNKNOWN;
        };
        let RegionValue::Op(op, of) = &op.value else {
            return self.known.get(at).copied().unwrap_or(Ball::UNKNOWN);
        };
        let mut operands = [Ball::UNKNOWN; 3];
        for (slot, value) in operands.iter_mut().zip(of) {
            *slot = values.get(*value).copied().unwrap_or(Ball::UNKNOWN);
        }
        let operands = &operands[..of.len().min(3)];
        let from = of.first().and_then(|value| self.types.get(*value));
        let result = match (op, operands, ty) {
            (ScalarOp::Convert, [x], ValueType::Number(to))
                if is_integer(ty) && from.is_some_and(|from| is_integer(*from)) =>
            {
                x.wrapped(to)
            }
            _ => apply(*op, operands, ty),
        };
        let is_square = *op == ScalarOp::Mul && of.first() == of.get(1);
        match is_square && result.is_known() && !result.is_beyond_f64() {
            true => Ball::between(result.value, result.low.max(0.0), result.high),
            false => result,
        }
    }

    /// The number of arguments.
    pub(super) fn arguments(&self) -> usize {
        self.types.len().saturating_sub(self.region.ops.len())
    }

    /// The type of a value.
    pub(super) fn type_of(&self, value: usize) -> Option<ValueType> {
        self.types.get(value).copied()
    }

    /// Tells whether a result may jump where what it is made of moves a little: whole numbers, signs, comparisons.
    pub(super) fn jumps(&self) -> bool {
        use ScalarOp::{Ceil, CopySign, Floor, RoundEven, Trunc};
        let arguments = self.arguments();
        let mut ops = self
            .region
            .ops
            .iter()
            .zip(self.types.iter().skip(arguments));
        ops.any(|(op, ty)| match op.value {
            RegionValue::Op(op, _) => {
                matches!(op, Floor | Ceil | RoundEven | Trunc | CopySign)
                    || op.compares()
                    || truncates(op, *ty)
            }
            _ => false,
        })
    }

    /// The operations of one evaluation.
    pub(super) fn operations(&self) -> usize {
        self.region.ops.len()
    }
}

fn is_integer(ty: ValueType) -> bool {
    matches!(ty, ValueType::Number(element) if !element.is_float())
}

/// The result of an operation of that type.
pub(super) fn apply(op: ScalarOp, of: &[Ball], ty: ValueType) -> Ball {
    use ScalarOp::{And, Or, Select};
    if let Some(result) = of_integers(op, of, ty) {
        return result;
    }
    let values = [0, 1, 2].map(|i| of.get(i).map_or(f64::NAN, |ball| ball.value));
    let value = op.exact(&values[..of.len()]);
    match (op, of) {
        (Select, [condition, then, other]) => {
            let chosen = if condition.value != 0.0 { then } else { other };
            match condition.is_decided() {
                true => *chosen,
                false if !then.is_known() || !other.is_known() => Ball::UNKNOWN,
                false => {
                    let (low, high) = (then.low.min(other.low), then.high.max(other.high));
                    Ball::between(value, low, high)
                }
            }
        }
        (And, [x, y]) => {
            let is_false = |ball: &Ball| ball.is_decided() && ball.value == 0.0;
            let decided = is_false(x) || is_false(y) || x.is_decided() && y.is_decided();
            Ball::truth(value, decided)
        }
        (Or, [x, y]) => {
            let is_true = |ball: &Ball| ball.is_decided() && ball.value != 0.0;
            let decided = is_true(x) || is_true(y) || x.is_decided() && y.is_decided();
            Ball::truth(value, decided)
        }
        (op, [x, y]) if op.compares() => {
            let apart = x.high < y.low || y.high < x.low;
            let touches = match op {
                // What is at most as large as the other's least, or as large as its most, is decided too.
                ScalarOp::Lt | ScalarOp::Ge => y.high <= x.low,
                ScalarOp::Le | ScalarOp::Gt => x.high <= y.low,
                _ => false,
            };
            let known = x.is_known() && y.is_known();
            let decided = known && (apart || touches || x.is_decided() && y.is_decided());
            Ball::truth(value, decided)
        }
        _ if !of.iter().all(Ball::is_known) => Ball::UNKNOWN,
        (op, _) if op.is_of_integers() => Ball::UNKNOWN,
        _ if of.iter().any(Ball::is_infinity) && !takes_infinities(op) => Ball::UNKNOWN,
        _ => match interval(op, of, ty) {
            Some([low, high]) if value.is_infinite() => Ball::between(value, low, high).rounded(ty),
            Some([low, high]) => {
                let value = if truncates(op, ty) {
                    value.trunc()
                } else {
                    value
                };
                let [low, high] = widened(op, of, ty, [low, high]);
                Ball::between(value, low, high).rounded(ty)
            }
            None => Ball::UNKNOWN,
        },
    }
}

/// The result of an operation on integers that are known exactly; none of other operations, and where there is none.
fn of_integers(op: ScalarOp, of: &[Ball], ty: ValueType) -> Option<Ball> {
    use ScalarOp::*;
    if !is_integer(ty) && !of.iter().any(Ball::is_beyond_f64) {
        return None;
    }
    let at = |i: usize| of.get(i).and_then(Ball::whole);
    let truth = |holds: bool| Some(Ball::truth(f64::from(u8::from(holds)), true));
    let x = at(0)?;
    let result = match op {
        Neg => -x,
        Abs => x.abs(),
        Add => x + at(1)?,
        Sub => x - at(1)?,
        Mul => x * at(1)?,
        Fma => x * at(1)? + at(2)?,
        Max | MaxNum => x.max(at(1)?),
        Min | MinNum => x.min(at(1)?),
        Eq => return truth(x == at(1)?),
        Ne => return truth(x != at(1)?),
        Lt => return truth(x < at(1)?),
        Le => return truth(x <= at(1)?),
        Gt => return truth(x > at(1)?),
        Ge => return truth(x >= at(1)?),
        _ if op.is_of_integers() => {
            let ValueType::Number(element) = ty else {
                return None;
            };
            let bits = 8 * element.size() as u32;
            let [x, y] = [x, at(1)?].map(i64::try_from);
            op.on_integers(bits, x.ok()?, y.ok()?)?.into()
        }
        _ => return None,
    };
    match ty {
        ValueType::Number(element) if !element.is_float() => {
            Some(Ball::integer_of(result, element))
        }
        _ => None,
    }
}

/// Tells whether the interval of an operation's results is right where operands are infinities, as masks are.
fn takes_infinities(op: ScalarOp) -> bool {
    use ScalarOp::*;
    matches!(
        op,
        Add | Sub | Neg | Abs | Max | Min | MaxNum | MinNum | Exp | Exp2 | Tanh | Erf | Convert
    )
}

/// Tells whether it makes an integer of what may be none.
fn truncates(op: ScalarOp, ty: ValueType) -> bool {
    op == ScalarOp::Convert && is_integer(ty)
}

/// The results of an operation on real numbers of those intervals; none where it has none for some of them.
fn interval(op: ScalarOp, of: &[Ball], ty: ValueType) -> Option<[f64; 2]> {
    use ScalarOp::*;
    let end = |i: usize| of.get(i).map(|ball: &Ball| [ball.low, ball.high]);
    let [a, b] = end(0)?;
    let extremes = |all: [f64; 4]| {
        let low = all.into_iter().fold(f64::INFINITY, f64::min);
        let high = all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        [low, high]
    };
    let magnitude = || {
        if a >= 0.0 {
            [a, b]
        } else if b <= 0.0 {
            [-b, -a]
        } else {
            [0.0, b.max(-a)]
        }
    };
    let rising = || Some([op.exact(&[a]), op.exact(&[b])]);
    match op {
        Neg => Some([-b, -a]),
        Abs => Some(magnitude()),
        Convert if truncates(op, ty) => Some([a.trunc(), b.trunc()]),
        Convert => Some([a, b]),
        Floor | Ceil | RoundEven | Trunc | Exp | Exp2 | Tanh | Erf => rising(),
        Sqrt if a >= 0.0 => rising(),
        Log | Log2 if a > 0.0 => rising(),
        Rsqrt if a > 0.0 => Some([op.exact(&[b]), op.exact(&[a])]),
        Sqrt | Log | Log2 | Rsqrt => None,
        Sin | Cos => {
            // Neither is steeper than 1.
            let (at, radius) = (op.exact(&[of[0].value]), of[0].radius());
            Some([(at - radius).max(-1.0), (at + radius).min(1.0)])
        }
        Add | Sub | Mul | Div | Max | Min | MaxNum | MinNum | CopySign => {
            let [c, d] = end(1)?;
            match op {
                Add => Some([a + c, b + d]),
                Sub => Some([a - d, b - c]),
                Mul => Some(extremes([a * c, a * d, b * c, b * d])),
                Div if c <= 0.0 && 0.0 <= d => None,
                Div => Some(extremes([a / c, a / d, b / c, b / d])),
                Max | MaxNum => Some([a.max(c), b.max(d)]),
                Min | MinNum => Some([a.min(c), b.min(d)]),
                _ => {
                    let [low, high] = magnitude();
                    Some(if c == d || c > 0.0 || d < 0.0 {
                        let [x, y] = [low.copysign(c), high.copysign(c)];
                        [x.min(y), x.max(y)]
                    } else {
                        [-high, high]
                    })
                }
            }
        }
        Fma => {
            let ([c, d], [e, f]) = (end(1)?, end(2)?);
            let [low, high] = extremes([a * c, a * d, b * c, b * d]);
            // The sum may be smaller than what is lost of its parts.
            let lost = REFERENCE * low.abs().max(high.abs());
            Some([low + e - lost, high + f + lost])
        }
        // They give truth values, or what they take, or are of integers that are known.
        Quotient | Remainder | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight
        | ShiftRightUnsigned => None,
        Eq | Ne | Lt | Le | Gt | Ge | And | Or | Select => None,
    }
}

/// The interval of results with what kernels, and f64 here, lose besides the last rounding.
fn widened(op: ScalarOp, of: &[Ball], ty: ValueType, [low, high]: [f64; 2]) -> [f64; 2] {
    use ScalarOp::*;
    let exact = matches!(
        op,
        Neg | Abs
            | Convert
            | Floor
            | Ceil
            | RoundEven
            | Trunc
            | Max
            | Min
            | MaxNum
            | MinNum
            | CopySign
    );
    let most = low.abs().max(high.abs());
    let is_float = matches!(ty, ValueType::Number(element) if element.is_float());
    // Integers of f64 are exact below 2^53.
    if exact || !is_float && most < WHOLE {
        return [low, high];
    }
    let function = matches!(op, Exp | Exp2 | Log | Log2 | Sin | Cos | Rsqrt | Tanh | Erf);
    // Of an infinity nothing is lost.
    let argument = of.first().map_or(0.0, Ball::largest);
    let argument = if argument.is_finite() { argument } else { 0.0 };
    let mut error = REFERENCE * most;
    if ty == ValueType::Number(Element::F64) {
        error += if function { DOUBLE * most } else { 0.0 };
    } else if function || matches!(op, Sqrt | Div) {
        error += match op {
            Tanh | Erf => APPROXIMATION,
            Sin | Cos => APPROXIMATION * (argument / std::f64::consts::PI).max(1.0),
            Exp => (APPROXIMATION + argument / f64::from(1 << 23)) * most,
            Log | Log2 if of.iter().all(|x| x.low <= 2.0 && x.high >= 0.5) => {
                APPROXIMATION * (1.0 + most)
            }
            _ => APPROXIMATION * most,
        };
        // Below it, results may be flushed to zero.
        error += f64::from(f32::MIN_POSITIVE);
    }
    let least = match op {
        Exp | Exp2 | Sqrt | Rsqrt => 0.0,
        _ => f64::NEG_INFINITY,
    };
    [(low - error).max(least), high + error]
}

#[cfg(test)]
#[path = "tests_region.rs"]
mod tests;
