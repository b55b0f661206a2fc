//! Known places in registers as the numbers of `cute_ir::interpret`: every index follows from constants.

use super::{
    registers::{File, bits},
    unknown,
};
use cute_ir::{
    Failure,
    interpret::{Domain, Numbers, Place, Trouble},
    mlir::*,
    ops::{arith, cute},
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{IntTuple, Layout};
use melior::ir::{ValueLike, operation::OperationLike};

/// The start of a register tensor: a place in a file, in elements of the tensor's own type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub file: usize,
    pub offset: i64,
}

/// The registers of a kernel, at an op.
pub(super) struct Known<'c, 'a> {
    op: Op<'c>,
    b: Builder<'c>,
    mapping: &'a Mapping<'c>,
    files: &'a mut Vec<File<'c>>,
}

/// An error of a tensor in registers of which no allocation is known.
pub(super) fn no_start(b: Builder<'_>) -> Failure {
    b.error("expected a tensor in rmem that this kernel allocates")
}

impl<'c, 'a> Known<'c, 'a> {
    /// The registers at `op` of the old body, whose values `mapping` leads to the new one.
    pub(super) fn new(
        op: Op<'c>,
        b: Builder<'c>,
        mapping: &'a Mapping<'c>,
        files: &'a mut Vec<File<'c>>,
    ) -> Self {
        Self {
            op,
            b,
            mapping,
            files,
        }
    }
}

impl<'c> Numbers for Known<'c, '_> {
    /// An integer, where it is known.
    type Index = Option<i64>;
    type Start = Start;
    type Error = Failure;

    fn add_known(&mut self, start: Start, elements: i64, scale: i64) -> Result<Start, Failure> {
        let offset = elements.checked_mul(scale);
        let offset = offset.and_then(|more| more.checked_add(start.offset));
        Ok(Start {
            offset: offset.ok_or_else(|| unknown(self.b))?,
            ..start
        })
    }

    fn add_index(&mut self, _: Start, _: &Option<i64>, _: i64) -> Result<Start, Failure> {
        Err(unknown(self.b))
    }

    fn add_layout(
        &mut self,
        _: Start,
        _: &Layout,
        _: &Option<i64>,
        _: bool,
        _: i64,
    ) -> Result<Start, Failure> {
        Err(unknown(self.b))
    }

    fn error(&self, trouble: Trouble<'_>) -> Failure {
        match trouble {
            Trouble::NoStart => no_start(self.b),
            Trouble::NoLeaves | Trouble::Dynamic(_) | Trouble::Overflow => unknown(self.b),
            Trouble::Broken(rule) => self.b.error(format!("'{}' op {rule}", name_of(self.op))),
        }
    }
}

impl<'c> Domain<'c> for Known<'c, '_> {
    fn follows(&self, memref: &MemRef<'c>) -> bool {
        memref.space == Space::Rmem
    }

    /// Coordinates are looked at in the new body, where loops that are written out give each turn its own.
    fn stands_for(&self, coordinate: Val<'c>) -> Val<'c> {
        self.mapping
            .get(&key(coordinate))
            .copied()
            .unwrap_or(coordinate)
    }

    fn index(&mut self, value: Val<'c>) -> Result<Option<i64>, Failure> {
        Ok(known(value))
    }

    fn unmade(&mut self) -> Result<Option<i64>, Failure> {
        Ok(None)
    }

    fn known(&self, index: &Option<i64>) -> Option<i64> {
        *index
    }

    fn scale(&self, _: &MemRef<'c>) -> i64 {
        1
    }

    fn begin(&mut self, op: Op<'c>, memref: &MemRef<'c>) -> Result<Option<Start>, Failure> {
        if !matches!(
            name_of(op),
            cute::MMA_MAKE_FRAGMENT | cute::MAKE_FRAGMENT_LIKE | cute::MEMREF_ALLOCA
        ) {
            return Ok(None);
        }
        let file = File::new(memref, self.b.location).map_err(|e| self.b.error(e))?;
        self.files.push(file);
        Ok(Some(Start {
            file: self.files.len() - 1,
            offset: 0,
        }))
    }

    fn seen_as(&mut self, from: &Place<'c, Start>, to: &MemRef<'c>) -> Result<Start, Failure> {
        let element = types::register_type(to.element);
        let start = from.start.offset * bits(types::register_type(from.memref.element));
        if start % bits(element) != 0 {
            return Err(self.b.error(format!(
                "expected registers that start at a whole {element}, found an offset of {start} bits"
            )));
        }
        Ok(Start {
            offset: start / bits(element),
            ..from.start
        })
    }
}

/// The integer that a value is, where it follows from constants.
pub(crate) fn known(value: Val<'_>) -> Option<i64> {
    let op = defining_op(value)?;
    let signed = |value: &Val<'_>| known(*value);
    // Where the op knows no sign, only what is the same with one.
    let unsigned = |value: &Val<'_>| signed(value).filter(|value| *value >= 0);
    let number = match (name_of(op), &operands_of(op)[..]) {
        (arith::CONSTANT, []) => integer_of(op, "value"),
        (arith::INDEX_CAST | arith::EXTSI | arith::TRUNCI, [a]) => signed(a),
        (arith::INDEX_CASTUI | arith::EXTUI, [a]) => unsigned(a),
        (name, [a, b]) => cute_arith::Op::named(name)?.exact(signed(a)?, signed(b)?),
        (cute::GET_SCALARS, [tuple]) if op.result_count() == 1 => {
            match CuteType::of(tuple.r#type())? {
                CuteType::IntTuple(IntTuple::Leaf(leaf)) => leaf.as_static(),
                _ => None,
            }
        }
        _ => None,
    };
    // What wraps around is another number.
    number.filter(|number| match types::element_bits(value.r#type()) {
        Some(bits @ 2..=63) => (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(number),
        _ => true,
    })
}
