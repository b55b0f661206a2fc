//! Lowering asks the same function, with leaves that record how they are computed: on traced operands every op gives what it
//! gives on plain ones, each dynamic leaf of a result has its arithmetic, and with values put in that arithmetic is what the
//! op gives on the values.

use cute_layout::ops::{Value, apply};
use cute_layout::{
    ComposedLayout, Dyn, Expr, Inner, IntTuple, Layout, Leaf, Term, Tile, Truth, eval, record,
};

use super::runner::{Case, cases, run, texts};
use super::tables::ALL;

/// The operands with every dynamic leaf an input, numbered across all.
fn traced(case: &Case) -> (Case, usize) {
    let mut next = 0;
    let mut out = case.clone();
    for v in &mut out.operands {
        let count = v.dynamic_leaves().len();
        *v = v.traced(next);
        next += count;
    }
    (out, next)
}

/// A leaf with the values of the inputs put in.
fn put(l: &Leaf, inputs: &[i64]) -> Option<Leaf> {
    Some(match l {
        Leaf::Dynamic(Dyn {
            term: Term::Traced(e),
            ..
        }) => Leaf::Static(e.eval(inputs)?),
        Leaf::Dynamic(_) => panic!("a leaf lost its trace"),
        Leaf::Basis { value, path } => Leaf::Basis {
            value: Box::new(put(value, inputs)?),
            path: path.clone(),
        },
        other => other.clone(),
    })
}

fn tuple(t: &IntTuple, inputs: &[i64]) -> Option<IntTuple> {
    Some(match t {
        IntTuple::Leaf(l) => IntTuple::Leaf(put(l, inputs)?),
        IntTuple::Tuple(t) => {
            IntTuple::Tuple(t.iter().map(|t| tuple(t, inputs)).collect::<Option<_>>()?)
        }
    })
}

fn layout(l: &Layout, inputs: &[i64]) -> Option<Layout> {
    Layout::new(tuple(l.shape(), inputs)?, tuple(l.stride(), inputs)?).ok()
}

fn tile(t: &Tile, inputs: &[i64]) -> Option<Tile> {
    Some(match t {
        Tile::Layout(l) => Tile::Layout(layout(l, inputs)?),
        Tile::Underscore => Tile::Underscore,
        Tile::Modes(m) => Tile::Modes(m.iter().map(|t| tile(t, inputs)).collect::<Option<_>>()?),
    })
}

/// A value with those of the inputs put in; nothing where they are out of an op's range.
fn fill(v: &Value, inputs: &[i64]) -> Option<Value> {
    Some(match v {
        Value::IntTuple(t) => Value::IntTuple(tuple(t, inputs)?),
        Value::Shape(t) => Value::Shape(tuple(t, inputs)?),
        Value::Stride(t) => Value::Stride(tuple(t, inputs)?),
        Value::Coord(t) => Value::Coord(tuple(t, inputs)?),
        Value::Layout(l) => Value::Layout(layout(l, inputs)?),
        Value::Tile(t) => Value::Tile(tile(t, inputs)?),
        Value::Swizzle(s) => Value::Swizzle(*s),
        Value::ComposedLayout(c) => {
            let inner = match c.inner() {
                Inner::Layout(l) => Inner::Layout(layout(l, inputs)?),
                Inner::Swizzle(s) => Inner::Swizzle(*s),
            };
            let (offset, outer) = (tuple(c.offset(), inputs)?, layout(c.outer(), inputs)?);
            Value::ComposedLayout(ComposedLayout::new(inner, offset, outer).ok()?)
        }
        Value::Scalar(l) => Value::Scalar(put(l, inputs)?),
        Value::Bool(Truth::Unknown(Term::Traced(e))) => {
            Value::Bool(Truth::Known(e.eval(inputs)? != 0))
        }
        Value::Bool(Truth::Unknown(_)) => panic!("a condition lost its trace"),
        Value::Bool(t) => Value::Bool(t.clone()),
    })
}

/// The values of a layout at its first indices: layouts of different form may be the same function.
fn function(v: &Value) -> Option<Vec<IntTuple>> {
    let size = match v {
        Value::Layout(l) => l.size(),
        Value::ComposedLayout(c) => c.size(),
        _ => return None,
    };
    let at = |i: i64| match v {
        Value::Layout(l) => l.eval(&IntTuple::from(i)).ok(),
        Value::ComposedLayout(c) => c.eval(&IntTuple::from(i)).ok(),
        _ => None,
    };
    (0..size.ok()?.min(2048)).map(at).collect()
}

fn same(op: &str, a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    let (Some(mut x), Some(mut y)) = (function(a), function(b)) else {
        return false;
    };
    if op == "slice" {
        // How much of the fixed coordinates stays inside is open: the op's result is a layout up to a constant.
        for v in [&mut x, &mut y] {
            let first = v.first().cloned().unwrap_or(IntTuple::from(0));
            v.iter_mut()
                .for_each(|t| *t = t.sub(&first).expect("one profile"));
        }
    }
    if op == "right_inverse" {
        // It is partial, and of known strides alone: with less known it ends earlier.
        x.truncate(y.len());
        y.truncate(x.len());
    }
    x == y
}

/// Numbers that dynamic leaves may stand for: small, and multiples of many.
const NUMBERS: [i64; 8] = [1, 2, 4, 8, 3, 6, 12, 5];

#[test]
fn traced_ops_are_the_static_ones() {
    let (mut tried, mut compared) = (0, 0);
    for case in ALL.iter().flat_map(|t| cases(t)) {
        let (with_trace, inputs) = traced(&case);
        let (found, checks) = record(|| run(&with_trace));
        match (run(&case), found) {
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{}", case.line),
            (Ok(plain), Ok(found)) => {
                assert_eq!(texts(&plain), texts(&found), "{}", case.line);
                if inputs == 0 || case.op.starts_with("make_") && case.attrs.result.is_some() {
                    continue;
                }
                tried += 1;
                for k in 0..40usize {
                    let numbers: Vec<i64> = (0..inputs)
                        .map(|i| NUMBERS[(k * (2 * i + 1) + i * 3 + k / 8) % NUMBERS.len()])
                        .collect();
                    let holds = |e: &Expr| e.eval(&numbers) == Some(1);
                    if !checks.iter().all(|c| holds(&c.condition)) {
                        continue;
                    }
                    let filled = with_trace.operands.iter().map(|v| fill(v, &numbers));
                    let Some(operands) = filled.collect::<Option<Vec<_>>>() else {
                        continue;
                    };
                    // What a type promises of divisors holds for the values that it has.
                    let promised = with_trace.operands.iter().flat_map(Value::dynamic_leaves);
                    if promised.zip(&numbers).any(|(d, n)| n % d.div != 0) {
                        continue;
                    }
                    if case.op == "crd2idx"
                        && let [Value::Coord(c), Value::Shape(s)] = &operands[..]
                        && c.congruent(s)
                        && !eval::elem_less(c, s).expect("integers").is_true()
                    {
                        continue; // Out of range, an extent that is known to be 1 has no weight.
                    }
                    let Ok(exact) = apply(&case.op, &operands, &case.attrs) else {
                        continue;
                    };
                    if case.op == "get_scalars" && case.attrs.only_dynamic {
                        continue; // With the values in, nothing is dynamic.
                    }
                    let here: Vec<Value> = found
                        .iter()
                        .map(|v| {
                            fill(v, &numbers)
                                .unwrap_or_else(|| panic!("{} of {numbers:?}", case.line))
                        })
                        .collect();
                    assert_eq!(here.len(), exact.len(), "{}", case.line);
                    for (a, b) in here.iter().zip(&exact) {
                        assert!(
                            same(&case.op, a, b),
                            "{} of {numbers:?}: traced {a}, exact {b}",
                            case.line
                        );
                    }
                    compared += 1;
                }
            }
            (a, b) => panic!("{}: plain {a:?}, traced {b:?}", case.line),
        }
    }
    assert!(
        tried > 60 && compared > 600,
        "{tried} cases, {compared} comparisons"
    );
}
