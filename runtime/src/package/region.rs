//! Regions of operations on single elements: those of a map, and the prologues and the epilogue of a product of matrices.

use std::collections::BTreeSet;

pub use cute_arith::MAX_REGION_OPS;
use cute_arith::{ReduceOp, ScalarOp};
use serde::{Deserialize, Serialize};

use super::compute::Role;
use super::manifest::{Access, Arg, Function};
use super::map::repeats;
use crate::element::{Element, UnknownElement};
use crate::layout::Pattern;

/// A region of operations on numbers. Values are numbered: the region's arguments first, then the results of `ops` in their order.
/// Each operation uses earlier values only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The operations, each of which gives one value.
    pub ops: Vec<RegionOp>,
    /// The values that the region gives.
    pub yields: Vec<usize>,
}

/// An operation of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct RegionOp {
    /// The value before it is rounded.
    pub value: RegionValue,
    /// The type that the value is rounded to: the name of an [`Element`], or `i1`.
    pub element: String,
}

/// The value of an operation of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum RegionValue {
    /// A number.
    Constant(f64),
    /// The scalar argument of the function of that index.
    Scalar(usize),
    /// An operation, and the numbers of the values that it takes.
    Op(ScalarOp, Vec<usize>),
    /// A reduction, the number of the value that it takes, and the modes along which it takes all of its elements. A map has them, an
    /// epilogue has none.
    Reduce(ReduceOp, usize, Vec<usize>),
}

impl RegionValue {
    /// The numbers of the values that it takes.
    pub fn operands(&self) -> &[usize] {
        match self {
            RegionValue::Constant(_) | RegionValue::Scalar(_) => &[],
            RegionValue::Op(_, of) => of,
            RegionValue::Reduce(_, of, _) => std::slice::from_ref(of),
        }
    }
}

impl RegionOp {
    /// A number of that type.
    pub fn constant(value: f64, element: impl Into<String>) -> RegionOp {
        let value = RegionValue::Constant(value);
        let element = element.into();
        RegionOp { value, element }
    }

    /// The scalar argument of that index, of that type.
    pub fn scalar(arg: usize, element: impl Into<String>) -> RegionOp {
        let value = RegionValue::Scalar(arg);
        let element = element.into();
        RegionOp { value, element }
    }

    /// An operation on earlier values, whose result is of that type.
    pub fn apply(
        op: ScalarOp,
        of: impl IntoIterator<Item = usize>,
        element: impl Into<String>,
    ) -> RegionOp {
        let value = RegionValue::Op(op, of.into_iter().collect());
        let element = element.into();
        RegionOp { value, element }
    }

    /// A reduction of an earlier value, of that type, along those modes.
    pub fn reduce(
        op: ReduceOp,
        of: usize,
        along: impl IntoIterator<Item = usize>,
        element: impl Into<String>,
    ) -> RegionOp {
        let value = RegionValue::Reduce(op, of, along.into_iter().collect());
        let element = element.into();
        RegionOp { value, element }
    }
}

/// A number in a package, where JSON has none for infinities and NaN: they are texts.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Other(String),
}

impl Number {
    fn of(value: f64) -> Number {
        match value.is_finite() {
            true => Number::Finite(value),
            false => Number::Other(value.to_string()),
        }
    }

    fn value(self) -> Result<f64, String> {
        match self {
            Number::Finite(value) => Ok(value),
            Number::Other(text) => match &text[..] {
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                "NaN" => Ok(f64::NAN),
                _ => Err(format!(
                    "expected a number, `inf`, `-inf` or `NaN` as a constant of a region, found `{text}`"
                )),
            },
        }
    }
}

/// The fields of an operation in a package, of which it has those of its kind.
#[derive(Clone, Serialize, Deserialize)]
struct Fields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constant: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scalar: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    op: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reduce: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    along: Option<Vec<usize>>,
    #[serde(rename = "type")]
    element: String,
}

impl From<RegionOp> for Fields {
    fn from(op: RegionOp) -> Fields {
        let mut fields = Fields {
            constant: None,
            scalar: None,
            op: None,
            reduce: None,
            of: None,
            along: None,
            element: op.element,
        };
        match op.value {
            RegionValue::Constant(value) => fields.constant = Some(Number::of(value)),
            RegionValue::Scalar(arg) => fields.scalar = Some(arg),
            RegionValue::Op(op, of) => {
                fields.op = Some(op.name().to_string());
                fields.of = Some(of);
            }
            RegionValue::Reduce(op, of, along) => {
                fields.reduce = Some(op.name().to_string());
                fields.of = Some(vec![of]);
                fields.along = Some(along);
            }
        }
        fields
    }
}

impl TryFrom<Fields> for RegionOp {
    type Error = String;

    fn try_from(fields: Fields) -> Result<RegionOp, String> {
        let Fields {
            constant,
            scalar,
            op,
            reduce,
            of,
            along,
            element,
        } = fields;
        let value = match (constant, scalar, op, reduce, of, along) {
            (Some(value), None, None, None, None, None) => RegionValue::Constant(value.value()?),
            (None, Some(arg), None, None, None, None) => RegionValue::Scalar(arg),
            (None, None, Some(name), None, Some(of), None) => {
                let op = ScalarOp::named(&name);
                let op = op.ok_or_else(|| format!("unknown operation `{name}` of a region"))?;
                RegionValue::Op(op, of)
            }
            (None, None, None, Some(name), Some(of), Some(along)) => {
                let op = ReduceOp::named(&name);
                let op = op.ok_or_else(|| format!("unknown reduction `{name}` of a region"))?;
                let [of] = of[..] else {
                    return Err(format!("a reduction is `of` one value, found {}", of.len()));
                };
                RegionValue::Reduce(op, of, along)
            }
            _ => {
                return Err(
                    "an operation of a region has `constant`, `scalar`, `op` and `of`, or `reduce`, `of` and `along`"
                        .into(),
                );
            }
        };
        Ok(RegionOp { value, element })
    }
}

/// The change to the sums of a product of matrices before they are written, element by element.
///
/// The region's first argument is the sum, of the type that is accumulated in; the others are the elements of `inputs`, each of its
/// tensor's type. It gives the element of C, then those of `outputs`, each of its tensor's type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Epilogue {
    /// Indices of tensors of C's shape that are read, as they were before the launch; one may be C or one of the outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<usize>,
    /// Indices of tensors of C's shape that are written besides C.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<usize>,
    /// The name of a reduction for each of `outputs`, or the empty text for those that are not reduced; none where no output is. What is
    /// reduced has one element along rows, columns or both, where its stride is 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reduce: Vec<String>,
    /// The operations.
    pub region: Region,
}

impl Epilogue {
    /// The reduction of an output besides C, by its place; none of one that is not reduced.
    pub fn reduction(&self, output: usize) -> Option<ReduceOp> {
        ReduceOp::named(self.reduce.get(output)?)
    }

    /// The access to a tensor that is written.
    pub(super) fn access(&self, output: usize) -> Access {
        match self.inputs.contains(&output) {
            true => Access::ReadWrite,
            false => Access::Write,
        }
    }

    /// Its tensors besides C.
    pub(super) fn roles(&self) -> Vec<Role> {
        let role = |name: String, arg: &usize, access| Role {
            name: name.into(),
            arg: *arg,
            access,
        };
        let inputs = self.inputs.iter().enumerate();
        let inputs = inputs.map(|(i, arg)| role(format!("E{i}"), arg, Access::Read));
        let outputs = self.outputs.iter().enumerate();
        let outputs = outputs.map(|(i, arg)| role(format!("D{}", i + 1), arg, self.access(*arg)));
        inputs.chain(outputs).collect()
    }

    /// The left side of the formula of an output besides C, and what stands before the formula of an element: `D(m) = ` and `max over n of`.
    fn reduced(&self, output: usize, function: &Function) -> Option<(String, String)> {
        let op = self.reduction(output)?;
        let arg = function.args.get(*self.outputs.get(output)?)?;
        let Arg::Tensor { layout, .. } = arg else {
            return None;
        };
        let pattern = Pattern::parse(layout).ok()?;
        let is_along = |mode: &usize| repeats(pattern.mode_leaves(*mode));
        let names = |modes: Vec<usize>| -> Vec<&str> {
            modes.into_iter().map(|mode| ["m", "n"][mode]).collect()
        };
        let (along, kept) = (0..2).partition::<Vec<usize>, _>(is_along);
        let kept = names(kept).join(",");
        let head = match kept.is_empty() {
            true => arg.name().to_string(),
            false => format!("{}({kept})", arg.name()),
        };
        Some((
            head,
            format!("{} over {} of ", name_of(op), names(along).join(",")),
        ))
    }

    /// The formulas of its outputs, of which `c` is the first, with the names of the function's arguments; the sum is `s`.
    pub(super) fn describe(&self, c: &str, function: &Function) -> String {
        let element = |arg: &usize| {
            let name = function.args.get(*arg).map_or("?", Arg::name);
            format!("{name}(m,n)")
        };
        let arguments: Vec<String> = ["s".to_string()]
            .into_iter()
            .chain(self.inputs.iter().map(element))
            .collect();
        let (yields, named) = self.region.formulas(&arguments, "t", function);
        let outputs = self.outputs.iter().enumerate();
        let outputs = outputs.map(|(at, arg)| match self.reduced(at, function) {
            Some(reduced) => reduced,
            None => (element(arg), String::new()),
        });
        let outputs = std::iter::once((format!("{c}(m,n)"), String::new())).chain(outputs);
        let formulas = outputs.zip(yields);
        let formulas = formulas.map(|((name, over), text)| (name, over + &text));
        let formulas = formulas.chain(named);
        let formulas: Vec<String> = formulas
            .map(|(name, text)| format!("{name} = {text}"))
            .collect();
        formulas.join(", ")
    }
}

/// The numbers that are multiplied in place of the elements of A or B, element by element.
///
/// The region's first argument is the element, of its tensor's type; the others are the elements of `inputs`, each of its tensor's type.
/// It gives the number that is multiplied, of the type that it is multiplied in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prologue {
    /// Indices of tensors of the shape of A or B that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<usize>,
    /// The operations.
    pub region: Region,
}

impl Prologue {
    /// The tensors that it reads beside the factor of that name.
    pub(super) fn roles(&self, factor: &str) -> Vec<Role> {
        let inputs = self.inputs.iter().enumerate();
        let role = |(i, arg): (usize, &usize)| Role {
            name: format!("{factor}{i}").into(),
            arg: *arg,
            access: Access::Read,
        };
        inputs.map(role).collect()
    }

    /// The formula of what is multiplied in place of `element`, such as `B(n,k)`, and those of the values that it uses more than once.
    pub(super) fn describe(
        &self,
        (factor, element): (&str, &str),
        function: &Function,
    ) -> (String, Vec<(String, String)>) {
        let place = element.find('(').map_or("", |at| &element[at..]);
        let other = |arg: &usize| {
            let name = function.args.get(*arg).map_or("?", Arg::name);
            format!("{name}{place}")
        };
        let arguments: Vec<String> = [element.to_string()]
            .into_iter()
            .chain(self.inputs.iter().map(other))
            .collect();
        let prefix = factor.to_lowercase();
        let (yields, named) = self.region.formulas(&arguments, &prefix, function);
        let factor = |text: String| {
            let mut depth = 0i64;
            let is_sum = text.chars().any(|c| {
                depth += i64::from(c == '(') - i64::from(c == ')');
                depth == 0 && c == ' '
            });
            if is_sum { format!("({text})") } else { text }
        };
        let factors: Vec<String> = yields.into_iter().map(factor).collect();
        let text = match factors.len() {
            0 => "?".into(),
            _ => factors.join(" * "),
        };
        (text, named)
    }

    /// The type of what is multiplied, of a valid region.
    pub(crate) fn multiplied(&self, element: Element) -> Element {
        let arguments = 1 + self.inputs.len();
        let value = self.region.yields.first().copied().unwrap_or(0);
        let op = value
            .checked_sub(arguments)
            .and_then(|at| self.region.ops.get(at));
        op.and_then(|op| op.element.parse().ok()).unwrap_or(element)
    }
}

/// The type of a value of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// A truth value.
    I1,
    /// A number as elements of tensors are.
    Number(Element),
}

impl std::str::FromStr for ValueType {
    type Err = UnknownElement;

    fn from_str(text: &str) -> Result<ValueType, UnknownElement> {
        match text {
            "i1" => Ok(ValueType::I1),
            text => text.parse().map(ValueType::Number),
        }
    }
}

impl std::fmt::Display for ValueType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueType::I1 => f.write_str("i1"),
            ValueType::Number(element) => element.fmt(f),
        }
    }
}

impl Region {
    /// The types of all values, of which `arguments` are the first; every operation is checked to be one on those types. `scalar`
    /// gives the type of a scalar argument of the function, and is asked for those that are used.
    ///
    /// # Errors
    /// The expectation, and what was found.
    pub(crate) fn types(
        &self,
        arguments: &[Element],
        scalar: impl Fn(usize) -> Result<Element, [String; 2]>,
    ) -> Result<Vec<ValueType>, [String; 2]> {
        if self.ops.len() > MAX_REGION_OPS {
            let expected = format!("at most {MAX_REGION_OPS} operations in a region");
            return Err([expected, self.ops.len().to_string()]);
        }
        let mut types: Vec<_> = arguments.iter().copied().map(ValueType::Number).collect();
        for (at, op) in self.ops.iter().enumerate() {
            let place = |what: &str| format!("{what} for operation {at} of the region");
            let of = op.element.parse::<ValueType>();
            let ty = of.map_err(|error| [place("a type"), error.to_string()])?;
            match &op.value {
                RegionValue::Constant(value) => {
                    let holds = match ty {
                        ValueType::I1 => *value == 0.0 || *value == 1.0,
                        ValueType::Number(element) => {
                            let is_one = (element.min_finite()..=element.max_finite())
                                .contains(value)
                                && (element.is_float() || value.fract() == 0.0);
                            is_one
                                || value.is_infinite() && element.has_infinity()
                                || value.is_nan() && element.is_float()
                        }
                    };
                    if !holds {
                        let expected = place(&format!("a number of type {ty}"));
                        return Err([expected, value.to_string()]);
                    }
                }
                RegionValue::Scalar(arg) => {
                    let found = ValueType::Number(scalar(*arg)?);
                    if found != ty {
                        return Err([place(&format!("a scalar of type {ty}")), found.to_string()]);
                    }
                }
                RegionValue::Op(op, of) => {
                    if of.len() != op.arity() {
                        let expected = format!("{} operands of {}", op.arity(), op.name());
                        return Err([place(&expected), of.len().to_string()]);
                    }
                    let mut operands = Vec::new();
                    for value in of {
                        let Some(found) = types.get(*value) else {
                            let expected =
                                format!("operands that are values below {}", types.len());
                            return Err([place(&expected), value.to_string()]);
                        };
                        operands.push(*found);
                    }
                    if !suits(*op, &operands, ty) {
                        let texts: Vec<_> = operands.iter().map(ValueType::to_string).collect();
                        let expected = format!("operands and a result that suit {}", op.name());
                        return Err([place(&expected), format!("{} to {ty}", texts.join(", "))]);
                    }
                }
                RegionValue::Reduce(op, of, along) => {
                    let Some(found) = types.get(*of) else {
                        let expected = format!("an operand that is a value below {}", types.len());
                        return Err([place(&expected), of.to_string()]);
                    };
                    if *found != ty || !reduces(*op, ty) {
                        let expected = format!("an operand and a result that suit {}", op.name());
                        return Err([place(&expected), format!("{found} to {ty}")]);
                    }
                    if along.is_empty() || !along.is_sorted_by(|a, b| a < b) {
                        let expected = place("modes in ascending order, each once,");
                        return Err([expected, format!("{along:?}")]);
                    }
                }
            }
            types.push(ty);
        }
        Ok(types)
    }

    /// The modes that reductions are along, ascending. None where there is no reduction.
    pub(crate) fn reduced(&self) -> Option<Vec<usize>> {
        let along = self.ops.iter().filter_map(|op| match &op.value {
            RegionValue::Reduce(_, _, along) => Some(along),
            _ => None,
        });
        let all: BTreeSet<usize> = along.flatten().copied().collect();
        (!all.is_empty()).then(|| all.into_iter().collect())
    }

    /// Tells of each value along which of `rank` modes it varies; `arguments` says so of the first ones.
    pub(crate) fn varying(&self, arguments: Vec<Vec<bool>>, rank: usize) -> Vec<Vec<bool>> {
        let mut values = arguments;
        for op in &self.ops {
            let mut varies = vec![false; rank];
            for value in op.value.operands() {
                let of = values.get(*value).into_iter().flatten();
                for (varies, of) in varies.iter_mut().zip(of) {
                    *varies |= of;
                }
            }
            if let RegionValue::Reduce(_, _, along) = &op.value {
                for mode in along {
                    if let Some(varies) = varies.get_mut(*mode) {
                        *varies = false;
                    }
                }
            }
            values.push(varies);
        }
        values
    }

    /// The formula of the values that the region gives, and those of the values that they use more than once, by name: `prefix` and
    /// a number. `arguments` are the names of the first values.
    pub(crate) fn formulas(
        &self,
        arguments: &[String],
        prefix: &str,
        function: &Function,
    ) -> (Vec<String>, Vec<(String, String)>) {
        let first = arguments.len();
        let mut uses = vec![0usize; first + self.ops.len()];
        let operands = self.ops.iter().flat_map(|op| op.value.operands());
        for value in operands.chain(&self.yields) {
            if let Some(uses) = uses.get_mut(*value) {
                *uses += 1;
            }
        }
        let mut texts: Vec<String> = arguments.to_vec();
        let mut named = Vec::new();
        for (op, uses) in self.ops.iter().zip(&uses[first..]) {
            let text = match &op.value {
                RegionValue::Constant(value) => value.to_string(),
                RegionValue::Scalar(arg) => {
                    function.args.get(*arg).map_or("?", Arg::name).to_string()
                }
                RegionValue::Op(op_of, of) => {
                    let of: Vec<&str> = of
                        .iter()
                        .map(|value| texts.get(*value).map_or("?", String::as_str))
                        .collect();
                    applied(*op_of, &of, &op.element)
                }
                RegionValue::Reduce(reduction, of, along) => {
                    let of = texts.get(*of).map_or("?", String::as_str);
                    reduction_of(*reduction, along, of)
                }
            };
            let has_operands = !op.value.operands().is_empty();
            texts.push(if has_operands && *uses > 1 {
                let name = format!("{prefix}{}", named.len());
                named.push((name.clone(), text));
                name
            } else {
                text
            });
        }
        let of = |value: &usize| texts.get(*value).cloned().unwrap_or_else(|| "?".into());
        let yields = self.yields.iter().map(of);
        let yields = yields.map(|text| unwrapped(&text).to_string()).collect();
        for (_, text) in &mut named {
            *text = unwrapped(text).to_string();
        }
        (yields, named)
    }
}

/// Tells whether an operation takes values of those types and gives one of that type.
fn suits(op: ScalarOp, operands: &[ValueType], result: ValueType) -> bool {
    use ScalarOp::{And, Convert, Eq, Ne, Or, Select};
    let number = |ty: &ValueType| matches!(ty, ValueType::Number(_));
    let float = |ty: &ValueType| matches!(ty, ValueType::Number(e) if e.is_float());
    match op {
        And | Or => result == ValueType::I1 && operands.iter().all(|ty| *ty == ValueType::I1),
        Select => {
            operands.first() == Some(&ValueType::I1) && operands[1..].iter().all(|ty| *ty == result)
        }
        Convert => number(&result) && operands.iter().all(number),
        Eq | Ne if operands.iter().all(|ty| *ty == ValueType::I1) => result == ValueType::I1,
        op if op.compares() => {
            result == ValueType::I1
                && operands.iter().all(number)
                && operands.windows(2).all(|two| two[0] == two[1])
        }
        op => {
            operands.iter().all(|ty| *ty == result)
                && match (op.is_of_integers(), op.takes_integers()) {
                    (true, _) => number(&result) && !float(&result),
                    (_, true) => number(&result),
                    _ => float(&result),
                }
        }
    }
}

/// Tells whether there is such a reduction of values of that type.
pub(super) fn reduces(op: ReduceOp, ty: ValueType) -> bool {
    let ValueType::Number(element) = ty else {
        return false;
    };
    match op {
        ReduceOp::Add => matches!(element, Element::F32 | Element::F64 | Element::I32),
        ReduceOp::Mean => matches!(element, Element::F32 | Element::F64),
        ReduceOp::Maximum | ReduceOp::Minimum => true,
    }
}

/// The name of the index of a mode in formulas.
pub(super) fn index_name(mode: usize) -> String {
    match ["i", "j", "k", "l", "m", "n"].get(mode) {
        Some(name) => (*name).to_string(),
        None => format!("i{mode}"),
    }
}

/// The name of a reduction in formulas.
fn name_of(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "sum",
        ReduceOp::Mean => "mean",
        ReduceOp::Maximum => "max",
        ReduceOp::Minimum => "min",
    }
}

/// `(sum over j of x)`
fn reduction_of(op: ReduceOp, along: &[usize], of: &str) -> String {
    let along: Vec<String> = along.iter().copied().map(index_name).collect();
    let name = name_of(op);
    format!("({name} over {} of {})", along.join(","), unwrapped(of))
}

/// `(x + y)`, `max(x, y)`, `f16(x)`
fn applied(op: ScalarOp, of: &[&str], element: &str) -> String {
    use ScalarOp::{Add, And, Convert, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Neg, Or, Sub};
    let sign = match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        Div => "/",
        Eq => "==",
        Ne => "!=",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        And => "and",
        Or => "or",
        _ => "",
    };
    match (op, of) {
        (Neg, [x]) => format!("-{x}"),
        (Convert, [x]) => format!("{element}({})", unwrapped(x)),
        (_, [x, y]) if !sign.is_empty() => format!("({x} {sign} {y})"),
        _ => {
            let of: Vec<&str> = of.iter().map(|text| unwrapped(text)).collect();
            format!("{}({})", op.name(), of.join(", "))
        }
    }
}

/// The text without parentheses around all of it.
fn unwrapped(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let Some(inner) = inner else { return text };
    let mut depth = 0i64;
    for c in inner.chars() {
        depth += i64::from(c == '(') - i64::from(c == ')');
        // The first one is closed before the end.
        if depth < 0 {
            return text;
        }
    }
    inner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn softmax() -> Region {
        Region {
            ops: vec![
                RegionOp::apply(ScalarOp::Convert, [0], "f32"),
                RegionOp::reduce(ReduceOp::Maximum, 1, [1], "f32"),
                RegionOp::apply(ScalarOp::Sub, [1, 2], "f32"),
                RegionOp::apply(ScalarOp::Exp, [3], "f32"),
                RegionOp::reduce(ReduceOp::Add, 4, [1], "f32"),
                RegionOp::apply(ScalarOp::Div, [4, 5], "f32"),
                RegionOp::apply(ScalarOp::Convert, [6], "f16"),
            ],
            yields: vec![7, 5],
        }
    }

    #[test]
    fn every_type_that_a_reduction_takes_is_one() {
        use ReduceOp::{Add, Maximum, Mean, Minimum};
        for element in Element::ALL {
            for (op, takes) in [
                (Add, ["f32", "f64", "i32"].contains(&element.name())),
                (Mean, ["f32", "f64"].contains(&element.name())),
                (Maximum, true),
                (Minimum, true),
            ] {
                let ops = vec![RegionOp::reduce(op, 0, [0], element.name())];
                let yields = vec![1];
                let types = Region { ops, yields }.types(&[element], |_| Ok(element));
                assert_eq!(types.is_ok(), takes, "{op:?} of {element}: {types:?}");
            }
        }
    }

    #[test]
    fn values_vary_along_the_modes_of_what_they_are_made_of() {
        let region = softmax();
        let of = |input: [bool; 2]| -> Vec<[bool; 2]> {
            let values = region.varying(vec![input.to_vec()], 2);
            values.into_iter().map(|v| [v[0], v[1]]).collect()
        };
        let (all, none, rows) = ([true; 2], [false; 2], [true, false]);
        assert_eq!(of(all), [all, all, rows, all, all, rows, all, all]);
        assert_eq!(of(rows), [rows; 8]);
        assert_eq!(of(none), [none; 8]);
        assert_eq!(region.reduced(), Some(vec![1]));
        assert_eq!(Region::default().reduced(), None);
    }
}
