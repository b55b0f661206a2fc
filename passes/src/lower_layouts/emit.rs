//! Traced arithmetic as `arith` operations.

use cute_arith::Predicate;
use cute_ir::ops::arith;
use cute_ir::{Failure, mlir::*};
use cute_layout::{BinOp, Expr, Leaf, Term, Truth, ops::Value};
use melior::ir::{Type, ValueLike};
use std::{collections::HashMap, sync::Arc};

/// Makes operations of expressions over `inputs`, each shared node once.
pub(super) struct Emitter<'a, 'c> {
    builder: Builder<'c>,
    inputs: &'a [Val<'c>],
    /// The value of each node by the node's place, and the node itself so that its place is not taken over.
    done: HashMap<*const Expr, (Arc<Expr>, Val<'c>)>,
}

impl<'a, 'c> Emitter<'a, 'c> {
    pub(super) fn new(builder: Builder<'c>, inputs: &'a [Val<'c>]) -> Self {
        Self {
            builder,
            inputs,
            done: HashMap::new(),
        }
    }

    /// A number as an integer of `width` bits.
    pub(super) fn leaf(&mut self, leaf: &Leaf, width: u32) -> Result<Val<'c>, Failure> {
        match leaf {
            Leaf::Static(v) => self.constant(*v, width),
            Leaf::Dynamic(d) => match &d.term {
                Term::Traced(e) => self.at_width(e, width),
                _ => Err(self.untraced()),
            },
            Leaf::Basis { value, .. } => self.leaf(value, width),
            Leaf::Underscore => Err(self.builder.error("expected an integer, found _")),
        }
    }

    /// The leaves of `have` at which `want`, which may know less, has dynamic ones; nothing where their forms differ.
    pub(super) fn leaves_for(
        &mut self,
        want: &Value,
        have: &Value,
    ) -> Result<Option<Vec<Val<'c>>>, Failure> {
        let (want, have) = (want.leaves(), have.leaves());
        if want.len() != have.len() {
            return Ok(None);
        }
        let pairs = want.into_iter().zip(have);
        let leaves = pairs.filter_map(|(want, have)| Some((have, want.as_dynamic()?.width)));
        leaves
            .map(|(leaf, width)| self.leaf(leaf, width))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// A condition as an `i1`.
    pub(super) fn truth(&mut self, truth: &Truth) -> Result<Val<'c>, Failure> {
        match truth {
            Truth::Known(v) => self.constant(i64::from(*v), 1),
            Truth::Unknown(Term::Traced(e)) => self.at_width(e, 1),
            Truth::Unknown(_) | Truth::Unproved(_) => Err(self.untraced()),
        }
    }

    /// The value of an expression at a width; 1 is for conditions.
    pub(super) fn at_width(&mut self, e: &Arc<Expr>, width: u32) -> Result<Val<'c>, Failure> {
        if let Expr::Const(v) = **e {
            return self.constant(v, width);
        }
        let value = self.value(e)?;
        let have = e.width();
        let ty = self.ty(width);
        let name = match have {
            have if have == width => return Ok(value),
            have if have > width => arith::TRUNCI,
            1 => arith::EXTUI,
            _ => arith::EXTSI,
        };
        self.builder.value(name, &[value], ty, &[])
    }

    fn untraced(&self) -> Failure {
        self.builder
            .error("computes an integer that does not follow from its operands; this is a defect of the compiler")
    }

    fn ty(&self, width: u32) -> Type<'c> {
        cute_ir::types::int_type(self.builder.context, width)
    }

    fn constant(&self, value: i64, width: u32) -> Result<Val<'c>, Failure> {
        self.builder.constant(self.ty(width), value)
    }

    fn value(&mut self, e: &Arc<Expr>) -> Result<Val<'c>, Failure> {
        if let Some((_, value)) = self.done.get(&Arc::as_ptr(e)) {
            return Ok(*value);
        }
        let value = match &**e {
            Expr::Input { index, .. } => *self.inputs.get(*index).ok_or_else(|| self.untraced())?,
            Expr::Const(v) => self.constant(*v, e.width())?,
            Expr::Binary {
                op,
                width,
                lhs,
                rhs,
            } => self.binary(*op, *width, lhs, rhs)?,
            Expr::Select {
                width,
                cond,
                then,
                other,
            } => {
                let operands = [
                    self.at_width(cond, 1)?,
                    self.at_width(then, *width)?,
                    self.at_width(other, *width)?,
                ];
                let ty = self.ty(*width);
                self.builder.value(arith::SELECT, &operands, ty, &[])?
            }
        };
        self.done.insert(Arc::as_ptr(e), (e.clone(), value));
        Ok(value)
    }

    fn binary(
        &mut self,
        op: BinOp,
        width: u32,
        lhs: &Arc<Expr>,
        rhs: &Arc<Expr>,
    ) -> Result<Val<'c>, Failure> {
        let (a, b) = (self.at_width(lhs, width)?, self.at_width(rhs, width)?);
        match op {
            BinOp::Arith(cute_arith::Op::CeilDivS) => self.ceil_div(a, b, width),
            BinOp::Arith(op) => {
                let ty = self.ty(width);
                self.builder.value(op.name(), &[a, b], ty, &[])
            }
            BinOp::Compare(predicate) => self.builder.compare(predicate, a, b),
        }
    }

    /// Emits the comparison of two integers for equality.
    pub(super) fn equal(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>, Failure> {
        self.builder.compare(Predicate::Eq, a, b)
    }

    /// The quotient and one more where there is a remainder; the sum `a + b - 1` could overflow.
    fn ceil_div(&self, a: Val<'c>, b: Val<'c>, width: u32) -> Result<Val<'c>, Failure> {
        let ty = self.ty(width);
        let make = |name: &str, x: Val<'c>, y: Val<'c>| self.builder.value(name, &[x, y], ty, &[]);
        let quotient = make(arith::DIVSI, a, b)?;
        let whole = make(arith::MULI, quotient, b)?;
        let more = self.builder.compare(Predicate::Sgt, a, whole)?;
        let more = self.builder.value(arith::EXTUI, &[more], ty, &[])?;
        make(arith::ADDI, quotient, more)
    }
}

/// The width of an integer value in bits.
pub(super) fn width_of(value: Val<'_>) -> u32 {
    melior::ir::r#type::IntegerType::try_from(value.r#type()).map_or(32, |ty| ty.width())
}
