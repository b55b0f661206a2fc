//! Operands and attributes by name, with the errors that name them.

use super::{Attrs, OpError, Value};
use crate::layout::Layout;
use crate::tuple::IntTuple;

/// The operands of one op.
pub(super) struct Operands<'a> {
    pub op: &'static str,
    pub all: &'a [Value],
    pub attrs: &'a Attrs,
}

impl<'a> Operands<'a> {
    pub(super) fn new(op: &'static str, all: &'a [Value], attrs: &'a Attrs) -> Self {
        Operands { op, all, attrs }
    }

    /// Exactly `N` operands.
    pub(super) fn exactly<const N: usize>(&self) -> Result<&'a [Value; N], OpError> {
        self.all.try_into().map_err(|_| OpError::Count {
            op: self.op,
            expected: N.to_string(),
            found: self.all.len(),
        })
    }

    /// One operand, and an optional second.
    pub(super) fn one_or_two(&self) -> Result<(&'a Value, Option<&'a Value>), OpError> {
        match self.all {
            [a] => Ok((a, None)),
            [a, b] => Ok((a, Some(b))),
            _ => Err(OpError::Count {
                op: self.op,
                expected: "1 or 2".to_string(),
                found: self.all.len(),
            }),
        }
    }

    /// Two operands, and an optional third.
    pub(super) fn two_or_three(
        &self,
    ) -> Result<(&'a Value, &'a Value, Option<&'a Value>), OpError> {
        match self.all {
            [a, b] => Ok((a, b, None)),
            [a, b, c] => Ok((a, b, Some(c))),
            _ => Err(OpError::Count {
                op: self.op,
                expected: "2 or 3".to_string(),
                found: self.all.len(),
            }),
        }
    }

    pub(super) fn kind(
        &self,
        operand: &'static str,
        expected: &'static str,
        found: &Value,
    ) -> OpError {
        OpError::Kind {
            op: self.op,
            operand,
            expected,
            found: format!("{} `{found}`", found.kind()),
        }
    }

    pub(super) fn refuse(
        &self,
        expected: impl Into<String>,
        found: impl ToString,
        cure: impl Into<String>,
    ) -> OpError {
        OpError::Precondition {
            op: self.op,
            expected: expected.into(),
            found: found.to_string(),
            cure: cure.into(),
        }
    }

    pub(super) fn attr(&self, name: &'static str, value: Option<i64>) -> Result<i64, OpError> {
        value.ok_or(OpError::MissingAttr { op: self.op, name })
    }

    pub(super) fn shape(
        &self,
        operand: &'static str,
        v: &'a Value,
    ) -> Result<&'a IntTuple, OpError> {
        match v {
            Value::Shape(t) => Ok(t),
            _ => Err(self.kind(operand, "!cute.shape", v)),
        }
    }

    pub(super) fn stride(
        &self,
        operand: &'static str,
        v: &'a Value,
    ) -> Result<&'a IntTuple, OpError> {
        match v {
            Value::Stride(t) => Ok(t),
            _ => Err(self.kind(operand, "!cute.stride", v)),
        }
    }

    pub(super) fn coord(
        &self,
        operand: &'static str,
        v: &'a Value,
    ) -> Result<&'a IntTuple, OpError> {
        match v {
            Value::Coord(t) => Ok(t),
            _ => Err(self.kind(operand, "!cute.coord", v)),
        }
    }

    pub(super) fn int_tuple(
        &self,
        operand: &'static str,
        v: &'a Value,
    ) -> Result<&'a IntTuple, OpError> {
        match v {
            Value::IntTuple(t) => Ok(t),
            _ => Err(self.kind(operand, "!cute.int_tuple", v)),
        }
    }

    pub(super) fn layout(
        &self,
        operand: &'static str,
        v: &'a Value,
    ) -> Result<&'a Layout, OpError> {
        match v {
            Value::Layout(l) => Ok(l),
            _ => Err(self.kind(operand, "!cute.layout", v)),
        }
    }
}
