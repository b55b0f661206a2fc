//! The evaluator: a tree of syntax to a value, with notes.

use std::ops::Range;

use cute_layout::symbolic::Scope;
use cute_layout::{
    ComposedLayout, CopyAtom, Inner, IntTuple, Layout, Leaf, MmaAtom, Swizzle, Tile,
};

use crate::arith;

use crate::facts;
use crate::failure::{Failure, Fault, Outcome};
use crate::functions::{self, Call};
use crate::syntax::{Expr, Node, Text, parse};
use crate::value::{Major, Value};

/// A value and what should be known about it.
#[derive(Debug)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// Remarks: an extension beyond the domain, a divide that rounds up.
    pub notes: Vec<String>,
    /// The function whose result it is, by the first of its names.
    pub function: Option<String>,
}

impl Evaluated {
    /// The value for tools, with what should be known about it.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = self.value.to_json();
        object["notes"] = serde_json::json!(self.notes);
        object
    }
}

/// Evaluates a text, where `scope` and the facts behind `where` say what is known of symbols. Errors: the first thing that
/// is wrong, with its place in the text.
pub fn evaluate(text: &str, scope: &Scope) -> Outcome<Evaluated> {
    let Text { node, facts: own } = parse(text)?;
    let own = own.map(|at| facts::assume(scope, text, at));
    let own = own.transpose()?;
    let scope = own.as_ref().unwrap_or(scope);
    evaluate_in(&node, scope).map_err(|mut f| {
        let works = |more: &Scope| evaluate_in(&node, more).is_ok();
        if let Some(wanted) = f.wanted.take()
            && let Some(fact) = facts::suggest(&wanted, &text[node.span.clone()], scope, works)
        {
            f.message = format!("{}; say --where '{fact}'", f.message);
            f.needs = Some(fact);
        }
        f
    })
}

fn evaluate_in(node: &Node<'_>, scope: &Scope) -> Outcome<Evaluated> {
    let mut notes = Notes {
        notes: Vec::new(),
        scope,
    };
    let value = eval(node, &mut notes)?;
    value
        .check_bounds()
        .map_err(|e| e.locate(node.span.clone()))?;
    let function = match &node.expr {
        Expr::Call(name, ..) => functions::find(name).and_then(|f| f.names.first()),
        _ => None,
    };
    Ok(Evaluated {
        value,
        function: function.map(|name| name.to_string()),
        notes: notes.notes,
    })
}

/// The names that an evaluation knows, and the remarks that it collects.
#[derive(Debug)]
pub struct Notes<'s> {
    /// Remarks so far.
    pub notes: Vec<String>,
    /// The meanings of names.
    pub scope: &'s Scope,
}

/// The value of a tree.
pub fn eval(node: &Node<'_>, notes: &mut Notes<'_>) -> Outcome<Value> {
    let span = || node.span.clone();
    match &node.expr {
        Expr::Int(v) => Ok(Value::from(*v)),
        Expr::Dynamic(d) => Ok(Value::Tuple(IntTuple::Leaf(Leaf::Dynamic(d.clone())))),
        Expr::Underscore => Ok(Value::Tuple(IntTuple::underscore())),
        Expr::Basis(value, path) => match eval(value, notes)? {
            Value::Tuple(IntTuple::Leaf(l)) => Ok(Value::Tuple(IntTuple::Leaf(Leaf::Basis {
                value: Box::new(l),
                path: path.iter().rev().copied().collect(),
            }))),
            other => Err(other.unlike("an integer before `@`").locate(span())),
        },
        Expr::Tuple(items) => tuple(items, notes),
        Expr::Tiler(items) => {
            let modes = items.iter().map(|n| {
                let value = eval(n, notes)?;
                value.to_tile_mode().map_err(|e| e.locate(n.span.clone()))
            });
            Ok(Value::Tile(Tile::Modes(modes.collect::<Outcome<_>>()?)))
        }
        Expr::Swizzle([b, m, s]) => Swizzle::new(*b, *m, *s)
            .map(Value::Swizzle)
            .map_err(|e| Fault::from(e).locate(span())),
        Expr::Layout(shape, stride) => {
            let part = |n: &Node<'_>, notes: &mut Notes<'_>| {
                let value = eval(n, notes)?;
                value.to_tuple().map_err(|e| e.locate(n.span.clone()))
            };
            let (shape, stride) = (part(shape, notes)?, part(stride, notes)?);
            Layout::new(shape, stride)
                .map(Value::Layout)
                .map_err(|e| Fault::from(e).locate(span()))
        }
        Expr::Compose(parts) => compose(parts, span(), notes),
        Expr::Call(name, at, args) => call(name, at, args, span(), notes),
        Expr::Sum(terms) => arith::sum(terms, notes),
        Expr::Product(first, factors) => arith::product(first, factors, notes),
        Expr::Negative(of) => arith::negative(of, span(), notes),
        Expr::Power(of, e) => arith::power(of, *e, span(), notes),
        Expr::Name(name) => named(name, span(), notes.scope),
        Expr::Operation(name) => operation(name, span()),
    }
}

// Integers make a tuple; with a layout or a tiler among them it is a by-mode tiler, as in CuTe.
fn tuple(items: &[Node<'_>], notes: &mut Notes<'_>) -> Outcome<Value> {
    let mut values = Vec::with_capacity(items.len());
    let mut plain = true;
    for item in items {
        let value = eval(item, notes)?;
        plain &= matches!(value, Value::Tuple(_));
        values.push(value);
    }
    if plain {
        let modes = values.into_iter().filter_map(|v| match v {
            Value::Tuple(t) => Some(t),
            _ => None,
        });
        return Ok(Value::Tuple(IntTuple::Tuple(modes.collect())));
    }
    let modes = values
        .iter()
        .zip(items)
        .map(|(v, n)| v.to_tile().map_err(|e| e.locate(n.span.clone())));
    Ok(Value::Tile(Tile::Modes(modes.collect::<Outcome<_>>()?)))
}

fn compose(parts: &[Node<'_>], span: Range<usize>, notes: &mut Notes<'_>) -> Outcome<Value> {
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        values.push((eval(part, notes)?, part.span.clone()));
    }
    match &values[..] {
        [_, _] => {
            let mut call = Call {
                args: values,
                span: span.clone(),
                notes: &mut notes.notes,
            };
            functions::composition(&mut call).map_err(|e| e.locate(span))
        }
        [(inner, at), (offset, offset_at), (outer, outer_at)] => {
            let offset = offset.to_tuple().map_err(|e| {
                let e = e.locate(offset_at.clone());
                let cure = "an offset stands between two `o`; write nested compositions with parentheses as composition(..)";
                Failure::new(format!("{}; {cure}", e.message), e.span)
            })?;
            let outer = outer.to_layout().map_err(|e| e.locate(outer_at.clone()))?;
            composed(inner, offset, outer, at, span)
        }
        _ => Err(Failure::new(
            format!(
                "expected `a o b` or `inner o offset o layout`, found {} parts; nest calls of composition(..)",
                values.len()
            ),
            span,
        )),
    }
}

/// `inner o offset o outer`, where the inner part stands at `at` and the whole at `span`.
pub fn composed(
    inner: &Value,
    offset: IntTuple,
    outer: Layout,
    at: &Range<usize>,
    span: Range<usize>,
) -> Outcome<Value> {
    let inner = match inner {
        Value::Swizzle(s) => Inner::Swizzle(*s),
        other => Inner::Layout(other.to_layout().map_err(|e| e.locate(at.clone()))?),
    };
    ComposedLayout::new(inner, offset, outer)
        .map(Value::Composed)
        .map_err(|e| Fault::from(e).locate(span))
}

fn call(
    name: &str,
    at: &Range<usize>,
    args: &[Node<'_>],
    span: Range<usize>,
    notes: &mut Notes<'_>,
) -> Outcome<Value> {
    let Some(function) = functions::find(name) else {
        let message = format!(
            "expected a function, found `{name}`{}; `cute-layout functions` lists them",
            functions::nearest(name)
        );
        return Err(Failure::new(message, at.clone()));
    };
    if !function.arity.contains(&args.len()) {
        let message = format!(
            "expected {}, found {} arguments",
            function.signature,
            args.len()
        );
        return Err(Failure::new(message, span));
    }
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        let value = eval(arg, notes)?;
        value
            .check_bounds()
            .map_err(|e| e.locate(arg.span.clone()))?;
        values.push((value, arg.span.clone()));
    }
    let mut call = Call {
        args: values,
        span: span.clone(),
        notes: &mut notes.notes,
    };
    let value = (function.run)(&mut call).map_err(|e| e.locate(span.clone()))?;
    value.check_bounds().map_err(|e| e.locate(span))?;
    Ok(value)
}

fn named(name: &str, span: Range<usize>, scope: &Scope) -> Outcome<Value> {
    if let Some(e) = crate::cli::elem(name) {
        return Ok(Value::Elem(e));
    }
    match name {
        "LayoutLeft" | "GenColMajor" => Ok(Value::Major(Major::Left)),
        "LayoutRight" | "GenRowMajor" => Ok(Value::Major(Major::Right)),
        _ if functions::find(name).is_some() => Err(Failure::new(
            format!("expected `(` after the function `{name}`; give a symbol another name"),
            span,
        )),
        "o" | "where" => Err(Failure::new(
            format!("expected an expression, found the word `{name}`; give a symbol another name"),
            span,
        )),
        _ => match scope.get(name) {
            Some(Ok(p)) => Ok(Value::Tuple(IntTuple::Leaf(Leaf::symbolic(p)))),
            Some(Err(e)) => Err(Failure::new(e.to_string(), span)),
            None => Err(Failure::new(
                format!("expected a symbol that is declared, found `{name}`"),
                span,
            )),
        },
    }
}

// An MMA atom, or the name of a copy, whose atom needs the width of an element too.
fn operation(name: &str, span: Range<usize>) -> Outcome<Value> {
    if let Ok(atom) = MmaAtom::named(name) {
        return Ok(Value::MmaAtom(Box::new(atom)));
    }
    // CuTe C++ names a copy by the type that it moves.
    let bits = |ty: &str| {
        ty.strip_prefix("uint")?
            .strip_suffix("_t")?
            .parse::<i64>()
            .ok()
    };
    let moved = name
        .split_once('<')
        .and_then(|(op, ty)| Some((op, bits(ty.strip_suffix('>')?)?)));
    let known = match moved {
        Some(("UniversalCopy", bits)) => format!("UniversalCopy<{bits}>"),
        _ => name.to_string(),
    };
    if CopyAtom::names().any(|n| n == known) {
        return Ok(Value::CopyOp(known));
    }
    let message = format!(
        "expected an operation, found `{name}`; the copies are {}; the MMAs are {}",
        CopyAtom::names().collect::<Vec<_>>().join(", "),
        MmaAtom::names().collect::<Vec<_>>().join(", ")
    );
    Err(Failure::new(message, span))
}
