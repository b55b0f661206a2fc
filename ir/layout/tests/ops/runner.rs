//! Ops as lines of text: `op<attrs> | operands | results`, operands and results separated by `;`, each a kind and a text.

use cute_layout::ops::{Attrs, OpError, Value, apply};
use cute_layout::{ComposedLayout, Dyn, IntTuple, Kind, Layout, Leaf, Swizzle, Tile, Truth};

/// `shape (4,8)`, `layout 4:1`, `tile [4:1;_]`, `i32`, `true`.
pub fn value(text: &str) -> Value {
    let (kind, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let tuple = |k| IntTuple::parse(rest, k).unwrap_or_else(|e| panic!("{text}: {e}"));
    match kind {
        "int_tuple" => Value::IntTuple(tuple(Kind::IntTuple)),
        "shape" => Value::Shape(tuple(Kind::Shape)),
        "stride" => Value::Stride(tuple(Kind::Stride)),
        "coord" => Value::Coord(tuple(Kind::Coord)),
        "layout" => Value::Layout(Layout::parse(rest).unwrap_or_else(|e| panic!("{text}: {e}"))),
        "tile" => Value::Tile(Tile::parse(rest).unwrap_or_else(|e| panic!("{text}: {e}"))),
        "swizzle" => Value::Swizzle(Swizzle::parse(rest).unwrap_or_else(|e| panic!("{text}: {e}"))),
        "composed" => Value::ComposedLayout(
            ComposedLayout::parse(rest).unwrap_or_else(|e| panic!("{text}: {e}")),
        ),
        "i32" => Value::Scalar(Leaf::Dynamic(Dyn::I32)),
        "i64" => Value::Scalar(Leaf::Dynamic(Dyn::I64)),
        "true" => Value::Bool(Truth::Known(true)),
        "false" => Value::Bool(Truth::Known(false)),
        other => Value::Scalar(Leaf::Static(
            other.parse().unwrap_or_else(|_| panic!("{text}")),
        )),
    }
}

/// The text that [`value`] reads; an unknown condition is `i1`.
pub fn show(v: &Value) -> String {
    let kind = match v {
        Value::Scalar(Leaf::Dynamic(d)) => return format!("i{}", d.width),
        Value::Scalar(_) => return v.to_string(),
        Value::Bool(Truth::Unknown(_)) => return "i1".to_string(),
        Value::Bool(_) => return v.to_string(),
        Value::ComposedLayout(_) => "composed",
        v => v.kind().trim_start_matches("!cute."),
    };
    format!("{kind} {v}")
}

/// One line of a table.
#[derive(Clone, Debug)]
pub struct Case {
    pub op: String,
    pub attrs: Attrs,
    pub operands: Vec<Value>,
    /// The results, or `error` and a part of the message.
    pub expected: String,
    pub line: String,
}

fn integer(text: &str) -> i64 {
    text.trim().parse().unwrap_or_else(|_| panic!("{text}"))
}

/// `get<1,0>`, `select<2>`, `group_modes<0,2>`, `recast_layout<new,old>`, `append_to_rank<4>`, `get_scalars<dynamic>`,
/// `make_shape<shape (?,4)>`.
fn attrs(op: &str, text: &str) -> Attrs {
    let mut out = Attrs::default();
    let list = || text.split(',').map(integer).collect::<Vec<_>>();
    match op {
        _ if text.is_empty() => {}
        "group_modes" => {
            (out.begin, out.end) = (Some(list()[0]), Some(list()[1]));
        }
        "recast_layout" => {
            (out.new_type_bits, out.old_type_bits) = (Some(list()[0]), Some(list()[1]));
        }
        "append_to_rank" | "prepend_to_rank" => out.rank = Some(integer(text)),
        "get_scalars" => out.only_dynamic = text == "dynamic",
        _ if op.starts_with("make_") || op == "static" => out.result = Some(value(text)),
        _ => out.mode = Some(list()),
    }
    out
}

/// The cases of a table: one a line; `#` begins a comment.
pub fn cases(table: &str) -> Vec<Case> {
    let lines = table.lines().map(str::trim);
    lines
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|line| {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let [head, operands, expected] = parts[..] else {
                panic!("expected op | operands | results, found {line}");
            };
            let (op, inside) = match head.split_once('<') {
                Some((op, rest)) => (op, rest.strip_suffix('>').expect(line)),
                None => (head, ""),
            };
            let operands = operands.split(" ; ").filter(|o| !o.trim().is_empty());
            Case {
                op: op.to_string(),
                attrs: attrs(op, inside),
                operands: operands.map(value).collect(),
                expected: expected.to_string(),
                line: line.to_string(),
            }
        })
        .collect()
}

pub fn run(case: &Case) -> Result<Vec<Value>, OpError> {
    apply(&case.op, &case.operands, &case.attrs)
}

pub fn texts(values: &[Value]) -> String {
    values.iter().map(show).collect::<Vec<_>>().join(" ; ")
}

/// Compares every case of a table, and reports all that differ.
pub fn check(table: &str) {
    let mut wrong = Vec::new();
    for case in cases(table) {
        let found = match run(&case) {
            Ok(values) => texts(&values),
            Err(e) => format!("error {e}"),
        };
        let right = match case.expected.strip_prefix("error ") {
            Some(part) => found.starts_with("error ") && found.contains(part),
            None => found == case.expected,
        };
        if !right {
            wrong.push(format!("{}\n    found {found}", case.line));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
