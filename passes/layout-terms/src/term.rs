//! The language: sorts, operations with their attributes, and which operands an operation takes.

use cute_layout::ops::{self, Attrs, Value};
use std::fmt;

/// The sort of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// An integer, or a tuple of one.
    Integer,
    /// A tuple: a shape, a stride, a coordinate or any other.
    Tuple,
    /// A layout, with a swizzle or another layout behind it or not.
    Layout,
    /// A swizzle.
    Swizzle,
    /// A tiler that works mode by mode.
    Tiler,
    /// A condition.
    Condition,
}

impl Sort {
    /// The sort of a value.
    pub fn of(value: &Value) -> Sort {
        match value {
            Value::Scalar(_) => Sort::Integer,
            Value::IntTuple(t) | Value::Shape(t) | Value::Stride(t) | Value::Coord(t) => {
                if t.is_tuple() {
                    Sort::Tuple
                } else {
                    Sort::Integer
                }
            }
            Value::Layout(_) | Value::ComposedLayout(_) => Sort::Layout,
            Value::Swizzle(_) => Sort::Swizzle,
            Value::Tile(_) => Sort::Tiler,
            Value::Bool(_) => Sort::Condition,
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sort::Integer => "integer",
            Sort::Tuple => "tuple",
            Sort::Layout => "layout",
            Sort::Swizzle => "swizzle",
            Sort::Tiler => "tiler",
            Sort::Condition => "condition",
        })
    }
}

/// An operation with its attributes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Head {
    /// The name of the operation: that of the dialect's op, without the prefix, or `cat`, `swizzle`, `swizzle_compose` or `depth`.
    pub op: &'static str,
    /// `mode`: the path to a mode of `get`, `size` and `cosize`, the modes to keep of `select`.
    pub mode: Option<Vec<i64>>,
    /// `begin` and `end` of `group_modes`, the second exclusive.
    pub range: Option<(i64, i64)>,
    /// `new_type_bits` and `old_type_bits` of `recast_layout`.
    pub bits: Option<(i64, i64)>,
    /// Tells whether it stands for what the op computes of operands as their types say them, where that is another form
    /// than static operands would give.
    pub(crate) typed: bool,
}

impl Head {
    /// An operation without attributes; of a name that is not there, one that no constructor takes.
    pub fn new(op: &str) -> Head {
        let op = SIGNATURES.iter().map(|s| s.op).find(|known| *known == op);
        Head {
            op: op.unwrap_or(""),
            mode: None,
            range: None,
            bits: None,
            typed: false,
        }
    }

    /// The operation on a mode.
    pub fn at(op: &str, mode: &[i64]) -> Head {
        Head {
            mode: Some(mode.to_vec()),
            ..Head::new(op)
        }
    }

    /// The operation of an op of the dialect with these attributes; nothing where the language does not have it.
    pub fn of(op: &str, attrs: &Attrs) -> Option<Head> {
        let head = Head::new(op);
        if head.op.is_empty() {
            return None;
        }
        Some(Head {
            mode: attrs.mode.clone(),
            range: attrs.begin.zip(attrs.end),
            bits: attrs.new_type_bits.zip(attrs.old_type_bits),
            ..head
        })
    }

    /// The attributes.
    pub fn attrs(&self) -> Attrs {
        Attrs {
            mode: self.mode.clone(),
            begin: self.range.map(|r| r.0),
            end: self.range.map(|r| r.1),
            new_type_bits: self.bits.map(|b| b.0),
            old_type_bits: self.bits.map(|b| b.1),
            ..Attrs::default()
        }
    }

    /// Tells whether the dialect has an op for it.
    pub fn is_op(&self) -> bool {
        ops::OPS.contains(&self.op)
    }

    /// Tells whether the operation takes operands of these sorts.
    pub fn takes(&self, operands: &[Sort]) -> bool {
        crate::problem::check(self, operands).is_ok()
    }

    pub(crate) fn typed(&self, typed: bool) -> Head {
        Head {
            typed,
            ..self.clone()
        }
    }

    pub(crate) fn signatures(&self) -> impl Iterator<Item = &'static Signature> {
        let op = self.op;
        SIGNATURES.iter().filter(move |s| s.op == op)
    }
}

/// The operation as rules write it, `get.0`; with more than a mode as attributes, `get.[0,1]`, and a prime where it is as the op computes it.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op)?;
        match self.mode.as_deref() {
            Some([mode]) => write!(f, ".{mode}")?,
            Some(path) => {
                let path: Vec<String> = path.iter().map(i64::to_string).collect();
                write!(f, ".[{}]", path.join(","))?;
            }
            None => {}
        }
        for (first, second) in self.range.iter().chain(&self.bits) {
            write!(f, ".[{first},{second}]")?;
        }
        f.write_str(if self.typed { "'" } else { "" })
    }
}

/// The operations that the dialect has no op for: two layouts as the modes of one; a swizzle behind a layout; a swizzle behind
/// another; levels of nesting.
#[cfg(test)]
pub(crate) const OWN: [&str; 4] = ["cat", "swizzle", "swizzle_compose", "depth"];

/// The operands that an operation takes.
pub(crate) struct Signature {
    pub(crate) op: &'static str,
    pub(crate) operands: &'static [&'static [Sort]],
}

const LAYOUT: &[Sort] = &[Sort::Layout];
const TUPLE: &[Sort] = &[Sort::Tuple, Sort::Integer];
const SWIZZLE: &[Sort] = &[Sort::Swizzle];
/// An operand that a layout is divided by or composed with: a layout, a tiler, or a shape.
const TILER: &[Sort] = &[Sort::Layout, Sort::Tiler, Sort::Tuple, Sort::Integer];
const MODES: &[Sort] = &[Sort::Layout, Sort::Tuple, Sort::Integer, Sort::Tiler];
const SHAPED: &[Sort] = &[Sort::Layout, Sort::Tuple, Sort::Integer];
const INNER: &[Sort] = &[Sort::Layout, Sort::Swizzle];

const fn signature(op: &'static str, operands: &'static [&'static [Sort]]) -> Signature {
    Signature { op, operands }
}

pub(crate) const SIGNATURES: &[Signature] = &[
    signature("composition", &[LAYOUT, TILER]),
    signature("coalesce", &[LAYOUT]),
    signature("coalesce", &[LAYOUT, TUPLE]),
    signature("complement", &[LAYOUT]),
    signature("complement", &[LAYOUT, SHAPED]),
    signature("right_inverse", &[LAYOUT]),
    signature("left_inverse", &[LAYOUT]),
    signature("filter", &[LAYOUT]),
    signature("flatten", &[MODES]),
    signature("group_modes", &[LAYOUT]),
    signature("get", &[MODES]),
    signature("select", &[MODES]),
    signature("slice", &[SHAPED, TUPLE]),
    signature("dice", &[SHAPED, TUPLE]),
    signature("recast_layout", &[LAYOUT]),
    signature("logical_divide", &[LAYOUT, TILER]),
    signature("zipped_divide", &[LAYOUT, TILER]),
    signature("tiled_divide", &[LAYOUT, TILER]),
    signature("flat_divide", &[LAYOUT, TILER]),
    signature("logical_product", &[LAYOUT, LAYOUT]),
    signature("zipped_product", &[LAYOUT, LAYOUT]),
    signature("tiled_product", &[LAYOUT, LAYOUT]),
    signature("flat_product", &[LAYOUT, LAYOUT]),
    signature("raked_product", &[LAYOUT, LAYOUT]),
    signature("blocked_product", &[LAYOUT, LAYOUT]),
    signature("make_composed_layout", &[INNER, TUPLE, LAYOUT]),
    signature("size", &[SHAPED]),
    signature("cosize", &[LAYOUT]),
    signature("layout_eval", &[TUPLE, LAYOUT]),
    signature("crd2idx", &[TUPLE, TUPLE]),
    signature("idx2crd", &[TUPLE, TUPLE]),
    signature("get_shape", &[&[Sort::Layout, Sort::Tiler]]),
    signature("get_stride", &[LAYOUT]),
    signature("to_int_tuple", &[TUPLE]),
    signature("to_shape", &[TUPLE]),
    signature("to_stride", &[TUPLE]),
    signature("to_coord", &[TUPLE]),
    signature("tuple_add", &[TUPLE, TUPLE]),
    signature("tuple_sub", &[TUPLE, TUPLE]),
    signature("tuple_mul", &[TUPLE, TUPLE]),
    signature("tuple_div", &[TUPLE, TUPLE]),
    signature("tuple_mod", &[TUPLE, TUPLE]),
    signature("shape_div", &[TUPLE, TILER]),
    signature("ceil_div", &[TUPLE, TILER]),
    signature("cat", &[LAYOUT, LAYOUT]),
    signature("swizzle", &[SWIZZLE, LAYOUT]),
    signature("swizzle_compose", &[SWIZZLE, SWIZZLE]),
    signature("depth", &[SHAPED]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_an_op_or_our_own() {
        for signature in SIGNATURES {
            let head = Head::new(signature.op);
            assert!(
                head.is_op() != OWN.contains(&signature.op),
                "{}",
                signature.op
            );
        }
        assert_eq!(Head::new("make_coffee").op, "");
    }
}
