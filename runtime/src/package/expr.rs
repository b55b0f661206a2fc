//! Sizes that follow from arguments and from the device: integer expressions over the leaves of layouts, over scalars, and over
//! the number of multiprocessors.
//!
//! As JSON an expression is a number, or an object with one key: `{"leaf": [argument, leaf]}`, `{"scalar": argument}`,
//! `{"device": "sm_count"}`, `{"value": index}` of those that the function computes once, or an operation with its operands, `{"ceil_div": [{"leaf": [0, 0]}, 128]}`.

use std::fmt;

use cute_arith::{Op as Arith, Predicate};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

/// An integer that a launch computes, in 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A number that is the same for all arguments.
    Constant(i64),
    /// An argument, and which dynamic leaf of its layout: those of the shape come before those of the stride.
    Leaf(usize, usize),
    /// The value of a scalar argument, an integer.
    Scalar(usize),
    /// The number of multiprocessors of the device that runs the launch.
    SmCount,
    /// A value that the function computes once: an index into [`super::Function::values`].
    Value(usize),
    /// An operation on as many operands as its arity says.
    Apply(Op, Vec<Expr>),
}

macro_rules! ops {
    ($($op:ident $name:literal $arity:literal $meaning:expr, $doc:literal;)*) => {
        /// The operation of an expression. Overflow of 64 bits, and what is not defined, is an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op { $(#[doc = $doc] $op,)* }

        impl Op {
            /// All operations, in the order of their declaration.
            pub const ALL: &[Op] = &[$(Op::$op,)*];

            /// Its name in a package.
            pub fn name(self) -> &'static str {
                match self { $(Op::$op => $name,)* }
            }

            /// The number of operands.
            pub fn arity(self) -> usize {
                match self { $(Op::$op => $arity,)* }
            }

            /// Its result for as many of the values as it has operands; nothing where there is none in 64 bits.
            // A launch waits for it: an arm for each operation, of which nothing is left but the operation.
            #[inline]
            pub(crate) fn result(self, values: [i64; MAX_ARITY]) -> Option<i64> {
                match self { $(Op::$op => evaluate(Op::$op, &values[..$arity]),)* }
            }

            /// The row that says what it gives.
            #[inline(always)]
            fn meaning(self) -> Meaning {
                match self { $(Op::$op => $meaning,)* }
            }
        }
    };
}

/// The place where it stands what an operation gives.
enum Meaning {
    /// The table of operations on integers.
    Arith(Arith),
    /// The table of comparisons, which give 1 or 0.
    Compare(Predicate),
    /// Here: it is no operation of `arith` on two integers.
    Own,
}

ops! {
    Add "add" 2 Meaning::Arith(Arith::Add), "Sum.";
    Sub "sub" 2 Meaning::Arith(Arith::Sub), "Difference.";
    Mul "mul" 2 Meaning::Arith(Arith::Mul), "Product.";
    Div "div" 2 Meaning::Arith(Arith::DivS), "Quotient, rounded towards zero.";
    FloorDiv "floor_div" 2 Meaning::Arith(Arith::FloorDivS), "Quotient, rounded down.";
    CeilDiv "ceil_div" 2 Meaning::Arith(Arith::CeilDivS), "Quotient, rounded up.";
    Rem "rem" 2 Meaning::Arith(Arith::RemS), "Remainder of `Div`.";
    Min "min" 2 Meaning::Arith(Arith::MinS), "The smaller one.";
    Max "max" 2 Meaning::Arith(Arith::MaxS), "The larger one.";
    And "and" 2 Meaning::Arith(Arith::And), "Bitwise and.";
    Or "or" 2 Meaning::Arith(Arith::Or), "Bitwise or.";
    Xor "xor" 2 Meaning::Arith(Arith::Xor), "Bitwise exclusive or.";
    Shl "shl" 2 Meaning::Arith(Arith::Shl), "Shift to the left by 0 to 63.";
    Shr "shr" 2 Meaning::Arith(Arith::ShrS), "Shift to the right by 0 to 63, the sign kept.";
    Eq "eq" 2 Meaning::Compare(Predicate::Eq), "1 where both are equal, else 0.";
    Lt "lt" 2 Meaning::Compare(Predicate::Slt), "1 where the first is smaller, else 0.";
    Le "le" 2 Meaning::Compare(Predicate::Sle), "1 where the first is not larger, else 0.";
    Select "select" 3 Meaning::Own, "The second where the first is not 0, else the third.";
    Fits32 "fits_32" 1 Meaning::Own, "The operand, which must fit 32 bits with a sign.";
    NonNegative "non_negative" 1 Meaning::Own, "The operand, which must not be negative.";
}

impl Op {
    /// The operation of packages that gives what an operation of `arith` gives; nothing where packages have none.
    pub fn of(arith: Arith) -> Option<Op> {
        let all = Op::ALL.iter().copied();
        all.into_iter()
            .find(|op| matches!(op.meaning(), Meaning::Arith(row) if row == arith))
    }
}

/// Operands of an operation, at most.
pub(crate) const MAX_ARITY: usize = 3;

/// Nesting of an expression, at most: what reads and evaluates it is recursive.
pub const MAX_DEPTH: usize = 32;
/// Operations, leaves and numbers of an expression, at most.
pub const MAX_NODES: usize = 1024;

/// The name of [`Expr::SmCount`].
const SM_COUNT: &str = "sm_count";

/// The values that the leaves of expressions stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// The dynamic leaves of the layout of each argument.
    pub leaves: Vec<Vec<i64>>,
    /// The value of each argument that is an integer scalar.
    pub scalars: Vec<Option<i64>>,
    /// The multiprocessors of the device.
    pub sm_count: Option<u32>,
    /// The values that the function computes once, or why there is none.
    pub values: Vec<Result<i64, String>>,
}

impl Environment {
    /// Computes the values of a function, each of what is known and of those before it.
    #[must_use]
    pub(crate) fn with_values(mut self, values: &[Expr]) -> Environment {
        self.values = Vec::with_capacity(values.len());
        for value in values {
            let value = value.evaluate(&self);
            self.values.push(value);
        }
        self
    }
}

impl Expr {
    /// Three sizes that are known.
    pub fn all(sizes: [u32; 3]) -> [Expr; 3] {
        sizes.map(Expr::from)
    }

    /// An operation on operands. Constants are folded, where that is defined.
    pub fn apply(op: Op, operands: Vec<Expr>) -> Expr {
        let known: Option<Vec<i64>> = operands.iter().map(Expr::constant).collect();
        match known.and_then(|known| evaluate(op, &known)) {
            Some(value) => Expr::Constant(value),
            None => Expr::Apply(op, operands),
        }
    }

    /// The value, if it depends on no argument and nothing is wrong with it.
    pub fn constant(&self) -> Option<i64> {
        self.evaluate(&Environment::default()).ok()
    }

    /// The value for some arguments.
    ///
    /// # Errors
    /// The operation that has no result, with its operands.
    pub(crate) fn evaluate(&self, environment: &Environment) -> Result<i64, String> {
        match self {
            Expr::Constant(value) => Ok(*value),
            Expr::Leaf(arg, leaf) => {
                let value = environment.leaves.get(*arg).and_then(|l| l.get(*leaf));
                value
                    .copied()
                    .ok_or_else(|| format!("leaf {leaf} of argument {arg} is not known"))
            }
            Expr::Scalar(arg) => {
                let value = environment.scalars.get(*arg).copied().flatten();
                value.ok_or_else(|| format!("argument {arg} is no integer that is known"))
            }
            Expr::SmCount => {
                let count = environment.sm_count.map(i64::from);
                count.ok_or_else(|| "the number of multiprocessors is not known".to_owned())
            }
            Expr::Value(at) => {
                let value = environment.values.get(*at).cloned();
                value.unwrap_or_else(|| Err(format!("value {at} is not known")))
            }
            Expr::Apply(op, operands) => {
                // A launch waits for it: nothing is allocated.
                let mut values = [0; MAX_ARITY];
                for (value, operand) in values.iter_mut().zip(operands) {
                    *value = operand.evaluate(environment)?;
                }
                let values = values.get(..operands.len()).unwrap_or_default();
                evaluate(*op, values).ok_or_else(|| without_result(*op, values))
            }
        }
    }

    /// Nesting; a leaf has 1.
    pub fn depth(&self) -> usize {
        match self {
            Expr::Apply(_, operands) => 1 + operands.iter().map(Expr::depth).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// Operations, leaves and numbers.
    pub fn nodes(&self) -> usize {
        match self {
            Expr::Apply(_, operands) => 1 + operands.iter().map(Expr::nodes).sum::<usize>(),
            _ => 1,
        }
    }

    /// Calls `each` for the expression and all its parts.
    pub fn walk<'e>(&'e self, each: &mut impl FnMut(&'e Expr)) {
        each(self);
        if let Expr::Apply(_, operands) = self {
            operands.iter().for_each(|operand| operand.walk(each));
        }
    }

    /// The text, with `leaf(argument, leaf)` and `scalar(argument)` as the names of what it depends on.
    pub fn text(
        &self,
        leaf: &impl Fn(usize, usize) -> String,
        scalar: &impl Fn(usize) -> String,
    ) -> String {
        match self {
            Expr::Constant(value) => value.to_string(),
            Expr::Leaf(arg, at) => leaf(*arg, *at),
            Expr::Scalar(arg) => scalar(*arg),
            Expr::SmCount => SM_COUNT.to_owned(),
            Expr::Value(at) => format!("v{at}"),
            // Checks of what the source says.
            Expr::Apply(Op::Fits32 | Op::NonNegative, operands) if operands.len() == 1 => {
                operands[0].text(leaf, scalar)
            }
            Expr::Apply(op, operands) => {
                let parts: Vec<String> = operands.iter().map(|e| e.text(leaf, scalar)).collect();
                let sign = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul => "*",
                    _ => return format!("{}({})", op.name(), parts.join(", ")),
                };
                format!("({})", parts.join(&format!(" {sign} ")))
            }
        }
    }
}

/// Says of an operation on these values that it has no result.
fn without_result(op: Op, values: &[i64]) -> String {
    let all: Vec<String> = values.iter().map(i64::to_string).collect();
    let all = all.join(", ");
    match op {
        Op::Fits32 => format!("expected a number that 32 bits with a sign hold, found {all}"),
        Op::NonNegative => format!("expected a number that is not negative, found {all}"),
        _ => format!("{}({all}) has no result in 64 bits", op.name()),
    }
}

impl From<u32> for Expr {
    fn from(value: u32) -> Expr {
        Expr::Constant(value.into())
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaf = |arg: usize, at: usize| format!("leaf {at} of argument {arg}");
        f.write_str(&self.text(&leaf, &|arg| format!("argument {arg}")))
    }
}

/// None where the operation has no result in 64 bits, or another number of operands.
#[inline(always)]
fn evaluate(op: Op, values: &[i64]) -> Option<i64> {
    match (op.meaning(), op, values) {
        (Meaning::Arith(row), _, &[a, b]) => row.exact(a, b),
        (Meaning::Compare(predicate), _, &[a, b]) => predicate.exact(a, b).map(i64::from),
        (Meaning::Own, Op::Select, &[condition, then, other]) => {
            Some(if condition != 0 { then } else { other })
        }
        (Meaning::Own, Op::Fits32, &[a]) => i32::try_from(a).ok().map(i64::from),
        (Meaning::Own, Op::NonNegative, &[a]) => Some(a).filter(|a| *a >= 0),
        _ => None,
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Expr::Constant(value) => serializer.serialize_i64(*value),
            Expr::Leaf(arg, leaf) => entry(serializer, "leaf", &(arg, leaf)),
            Expr::Scalar(arg) => entry(serializer, "scalar", arg),
            Expr::SmCount => entry(serializer, "device", SM_COUNT),
            Expr::Value(at) => entry(serializer, "value", at),
            Expr::Apply(op, operands) => entry(serializer, op.name(), operands),
        }
    }
}

fn entry<S: Serializer>(
    serializer: S,
    key: &str,
    value: &(impl Serialize + ?Sized),
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expr, D::Error> {
        deserializer.deserialize_any(ExprVisitor)
    }
}

struct ExprVisitor;

impl<'de> Visitor<'de> for ExprVisitor {
    type Value = Expr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer, or an object with one operation")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Expr, E> {
        Ok(Expr::Constant(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Expr, E> {
        let value = i64::try_from(value)
            .map_err(|_| E::custom(format!("{value} does not fit 64 bits with a sign")))?;
        Ok(Expr::Constant(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Expr, A::Error> {
        use serde::de::Error;
        let key: String = map
            .next_key()?
            .ok_or_else(|| Error::custom("expected an operation, found an empty object"))?;
        let expr = match key.as_str() {
            "leaf" => {
                let (arg, leaf) = map.next_value()?;
                Expr::Leaf(arg, leaf)
            }
            "scalar" => Expr::Scalar(map.next_value()?),
            "value" => Expr::Value(map.next_value()?),
            "device" => match map.next_value::<String>()?.as_str() {
                SM_COUNT => Expr::SmCount,
                other => {
                    return Err(Error::custom(format!(
                        "expected the number {SM_COUNT} of a device, found `{other}`"
                    )));
                }
            },
            name => {
                let op = Op::ALL.iter().copied().find(|op| op.name() == name);
                let op = op.ok_or_else(|| Error::custom(format!("unknown operation `{name}`")))?;
                let operands: Vec<Expr> = map.next_value()?;
                if operands.len() != op.arity() {
                    let found = operands.len();
                    return Err(Error::custom(format!(
                        "{name} has {} operands, found {found}",
                        op.arity()
                    )));
                }
                Expr::Apply(op, operands)
            }
        };
        match map.next_key::<String>()? {
            None => Ok(expr),
            Some(other) => Err(Error::custom(format!(
                "expected one operation, found `{key}` and `{other}`"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(op: Op, values: &[i64]) -> Result<i64, String> {
        let operands = values.iter().map(|v| Expr::Constant(*v)).collect();
        Expr::Apply(op, operands).evaluate(&Environment::default())
    }

    #[test]
    fn quotients_round_as_they_say() {
        for a in -7..=7i64 {
            for b in (-3..=3i64).filter(|b| *b != 0) {
                let exact = a as f64 / b as f64;
                assert_eq!(apply(Op::Div, &[a, b]), Ok(exact.trunc() as i64), "{a}/{b}");
                assert_eq!(
                    apply(Op::FloorDiv, &[a, b]),
                    Ok(exact.floor() as i64),
                    "{a}/{b}"
                );
                assert_eq!(
                    apply(Op::CeilDiv, &[a, b]),
                    Ok(exact.ceil() as i64),
                    "{a}/{b}"
                );
                assert_eq!(apply(Op::Rem, &[a, b]), Ok(a - b * exact.trunc() as i64));
            }
        }
    }

    #[test]
    fn what_has_no_result_is_an_error() {
        for (op, values) in [
            (Op::Add, &[i64::MAX, 1][..]),
            (Op::Sub, &[i64::MIN, 1]),
            (Op::Mul, &[1 << 40, 1 << 40]),
            (Op::Div, &[1, 0]),
            (Op::FloorDiv, &[i64::MIN, -1]),
            (Op::CeilDiv, &[1, 0]),
            (Op::Rem, &[1, 0]),
            (Op::Shl, &[1, 64]),
            (Op::Shl, &[1, 63]),
            (Op::Shr, &[1, -1]),
        ] {
            let error = apply(op, values).unwrap_err();
            assert!(error.starts_with(&format!("{}(", op.name())), "{error}");
        }
        assert_eq!(apply(Op::Select, &[0, 1, 2]), Ok(2));
        assert_eq!(apply(Op::Shl, &[-3, 4]), Ok(-48));
        assert_eq!(
            (apply(Op::Lt, &[1, 2]), apply(Op::Le, &[3, 2])),
            (Ok(1), Ok(0))
        );
    }

    #[test]
    fn json_reads_back() {
        let blocks = Expr::apply(Op::CeilDiv, vec![Expr::Leaf(0, 1), Expr::Constant(128)]);
        let sum = Expr::apply(Op::Add, vec![blocks, Expr::Scalar(3)]);
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(
            json,
            r#"{"add":[{"ceil_div":[{"leaf":[0,1]},128]},{"scalar":3}]}"#
        );
        assert_eq!(
            serde_json::from_slice::<Expr>(json.as_bytes()).unwrap(),
            sum
        );
        let waves = Expr::apply(Op::Mul, vec![Expr::Constant(2), Expr::SmCount]);
        let json = serde_json::to_string(&waves).unwrap();
        assert_eq!(json, r#"{"mul":[2,{"device":"sm_count"}]}"#);
        assert_eq!(
            serde_json::from_slice::<Expr>(json.as_bytes()).unwrap(),
            waves
        );
        assert_eq!(waves.constant(), None);
        let environment = Environment {
            sm_count: Some(132),
            ..Environment::default()
        };
        assert_eq!(waves.evaluate(&environment), Ok(264));
        let value = Expr::Value(2);
        let json = serde_json::to_string(&value).unwrap();
        assert_eq!(
            (json.as_str(), value.to_string().as_str()),
            (r#"{"value":2}"#, "v2")
        );
        assert_eq!(
            serde_json::from_slice::<Expr>(json.as_bytes()).unwrap(),
            value
        );
        for op in Op::ALL {
            let expr = Expr::Apply(*op, vec![Expr::Constant(-1); op.arity()]);
            let json = serde_json::to_string(&expr).unwrap();
            assert_eq!(
                serde_json::from_slice::<Expr>(json.as_bytes()).unwrap(),
                expr
            );
        }
    }

    #[test]
    fn values_are_computed_of_those_before_them() {
        let zero = Expr::Apply(Op::Div, vec![Expr::Constant(1), Expr::Constant(0)]);
        let sum = Expr::apply(Op::Add, vec![Expr::Scalar(0), Expr::Constant(1)]);
        let square = Expr::apply(Op::Mul, vec![Expr::Value(0), Expr::Value(0)]);
        let environment = Environment {
            scalars: vec![Some(4)],
            ..Environment::default()
        };
        let environment = environment.with_values(&[sum, square, zero]);
        assert_eq!(Expr::Value(1).evaluate(&environment), Ok(25));
        // What cannot be computed is an error where it is used.
        let error = Expr::Value(2).evaluate(&environment).unwrap_err();
        assert!(error.starts_with("div("), "{error}");
        assert!(Expr::Value(3).evaluate(&environment).is_err());
        for (op, value, says) in [
            (
                Op::Fits32,
                1 << 31,
                "a number that 32 bits with a sign hold, found 2147483648",
            ),
            (
                Op::NonNegative,
                -7,
                "a number that is not negative, found -7",
            ),
        ] {
            let error = Expr::Apply(op, vec![Expr::Constant(value)]).evaluate(&environment);
            assert_eq!(error, Err(format!("expected {says}")));
        }
        assert_eq!(Expr::Value(0).constant(), None);
    }

    #[test]
    fn other_json_is_refused() {
        for (json, says) in [
            (r#"{}"#, "empty object"),
            (r#"{"pow":[1,2]}"#, "unknown operation `pow`"),
            (r#"{"add":[1]}"#, "add has 2 operands, found 1"),
            (r#"{"scalar":0,"leaf":[0,0]}"#, "expected one operation"),
            (r#"{"leaf":[0]}"#, "invalid length 1"),
            (
                r#"{"device":"clock"}"#,
                "number sm_count of a device, found `clock`",
            ),
            ("1.5", "an integer"),
            ("18446744073709551615", "does not fit 64 bits"),
        ] {
            let error = serde_json::from_slice::<Expr>(json.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{json}: {error}");
        }
        // Deeper than the stack: serde_json stops.
        let deep = format!(
            "{}1{}",
            r#"{"fits_32":["#.repeat(10_000),
            "]}".repeat(10_000)
        );
        assert!(serde_json::from_slice::<Expr>(deep.as_bytes()).is_err());
    }
}
