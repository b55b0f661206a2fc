//! `cute-lower-layouts`: the algebra on dynamic layouts, computed on their leaves.
//!
//! A value of a layout type is what its type says and its dynamic leaves, in the order of `cute.get_scalars`. Each op of
//! the algebra runs in `cute-layout` on traced leaves, and what was traced becomes `arith`; the conditions under which the
//! result is right, and that it fits its width, become `cf.assert`, unless `checks=false`; those that only the layout of a tensor of coordinates depends on, only where that is used. Functions, calls, branches and
//! loops pass the leaves in place of the value. Tensors whose layouts are dynamic go the same way (`tensors.rs`). What is left in the dialect and needs a layout value (the ops on tensors) gets it from a `cute.make_*`.

mod carry;
mod emit;
mod overflow;
mod parts;
mod print;
mod tensors;

use cute_ir::ops::{cf, cute};
use cute_ir::{
    Anchor, Failure, PassSpec, algebra,
    args::replace_operand,
    diag,
    mlir::*,
    options::Options,
    types::{CuteType, layout_type, value_type},
};
use cute_layout::{Check, Expr, Inner, Leaf, Term, Truth, ops::Value, record};
use emit::{Emitter, width_of};
use melior::ir::{BlockLike, Type, ValueLike, operation::OperationLike};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

cute_ir::options! {
    /// Options of `cute-lower-layouts`.
    pub struct LayoutOptions {
        checks: bool = true, "true",
            "Whether what a result depends on, and that it fits its width, is asserted: true or false";
    }
}

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-lower-layouts",
    description: "Compute dynamic layouts on their leaves, as arith",
    anchor: Anchor::Module,
    options: LayoutOptions::SPECS,
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::of_option(module, format!("cute-lower-layouts: {e}"));
    let LayoutOptions { checks } = LayoutOptions::of(options).map_err(wrong)?;
    let mut lowering = Lowering {
        rewriter,
        leaves: HashMap::new(),
        checks,
        positive: HashSet::new(),
        unsure: Vec::new(),
        dead: Vec::new(),
        module,
        formats: HashMap::new(),
        format_names: 0,
    };
    lowering.inside(module)?;
    lowering.finish()
}

/// Returns the value that a layout type describes, with untraced dynamic leaves.
fn value_of(ty: Type<'_>) -> Option<Value> {
    CuteType::of(ty)?.value()
}

struct Lowering<'c> {
    rewriter: &'c Rewriter<'c>,
    /// The dynamic leaves of each value of a layout type that was met.
    leaves: HashMap<ValueKey, Vec<Val<'c>>>,
    checks: bool,
    /// Values that were asserted to be at least 1, with the block.
    positive: HashSet<(ValueKey, BlockKey)>,
    /// Assertions for the sake of layouts that perhaps nobody asks for, in the order of the ops.
    unsure: Vec<Unsure<'c>>,
    /// Operations to erase at the end, in the order in which they were met.
    dead: Vec<Op<'c>>,
    module: Op<'c>,
    /// The names of the format strings so far, by module and text.
    formats: HashMap<(OpKey, String), String>,
    /// The number of names of format strings that were tried.
    format_names: usize,
}

/// Leaves of a layout, and what is asserted for their sake alone.
struct Unsure<'c> {
    leaves: Vec<Val<'c>>,
    asserts: Vec<Positive<'c>>,
}

/// An assertion that a value is at least 1.
struct Positive<'c> {
    /// The value, and the block that asserts it.
    place: (ValueKey, BlockKey),
    op: Op<'c>,
}

impl<'c> Lowering<'c> {
    /// Everything in the regions of `op`.
    fn inside(&mut self, op: Op<'c>) -> Result<(), Failure> {
        for blocks in carry::regions_of(op) {
            let blocks = carry::by_dominance(self.rewriter, op, &blocks)?;
            for (i, block) in blocks.iter().enumerate() {
                if i > 0 || carry::enters(op) {
                    carry::flatten_arguments(*block, op, &mut self.leaves);
                }
                if i == 0 && carry::is_host(op) {
                    self.host_tensors(*block)?;
                }
            }
            for block in blocks {
                for op in ops_of(block) {
                    self.op(op)?;
                }
            }
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), Failure> {
        // `slice` and others also take tensors; those of static layouts are lowered later.
        if self.tensors(op)? {
            return Ok(());
        }
        if let Some(print) = cute::Print::of(op) {
            return self.print(print);
        }
        if matches!(name_of(op), cute::SIZE | cute::GET_SHAPE) {
            self.of_tensor(op)?;
        }
        if let Some(assume) = cute::Assume::of(op) {
            return self.assume(assume);
        }
        if algebra::is_algebra(op) && self.is_algebra(op) {
            return self.algebra(op);
        }
        let op = self.carry(op)?;
        self.inside(op)
    }

    fn is_algebra(&self, op: Op<'c>) -> bool {
        operands_of(op)
            .iter()
            .all(|v| value_of(v.r#type()).is_some() || is_integer(v.r#type()))
            && (0..op.result_count()).all(|i| {
                let ty = result_of(op, i).r#type();
                value_of(ty).is_some() || is_integer(ty)
            })
    }

    /// The dynamic leaves of a value of a layout type.
    fn leaves_of(&mut self, value: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
        if let Some(leaves) = self.leaves.get(&key(value)) {
            return Ok(leaves.clone());
        }
        if carry::leaf_types(value.r#type()).is_none_or(|leaves| leaves.is_empty()) {
            return Ok(Vec::new());
        }
        let owner = match block_argument(value) {
            Some((block, _)) => block.parent_operation(),
            None => defining_op(value),
        };
        let location = owner.map_or(self.module.location(), |op| op.location());
        Err(diag::error(
            location,
            format!(
                "cannot compute the dynamic leaves of a value of type {}; expected it to come from an op of the cute \
                 dialect, a function's argument, a call, a branch or a loop of scf or cf",
                value.r#type()
            ),
        ))
    }

    /// The size and the shape of a tensor are those of its layout.
    fn of_tensor(&mut self, op: Op<'c>) -> Result<(), Failure> {
        let [tensor] = operands_of(op)[..] else {
            return Err(unlike(op));
        };
        let ty = CuteType::of(tensor.r#type());
        let Some(layout) = ty.as_ref().and_then(CuteType::tensor_layout) else {
            return Ok(());
        };
        let builder = Builder::before(op);
        let value = if parts::is_lowered(tensor.r#type()) {
            let value = builder.infer(cute::GET_LAYOUT, &[tensor], &[])?;
            self.op(defining_op(value).ok_or_else(|| unlike(op))?)?;
            value
        } else {
            builder.static_value(layout_type(builder.context, layout))?
        };
        replace_operand(op, tensor, value);
        Ok(())
    }

    /// An integer stays itself: what is assumed of it, types say.
    fn assume(&mut self, assume: cute::Assume<'c>) -> Result<(), Failure> {
        let (op, operand, result) = (assume.op(), assume.value(), assume.result());
        let integer = if is_integer(operand.r#type()) {
            operand
        } else {
            *self.leaves_of(operand)?.first().ok_or_else(|| unlike(op))?
        };
        if is_integer(result.r#type()) {
            replace_uses(result, integer);
        } else {
            self.leaves.insert(key(result), vec![integer]);
        }
        self.dead.push(op);
        Ok(())
    }

    fn algebra(&mut self, op: Op<'c>) -> Result<(), Failure> {
        let mut inputs = Vec::new();
        let (mut operands, mut untraced) = (Vec::new(), Vec::new());
        for operand in operands_of(op) {
            let plain = algebra::value_of(operand.r#type()).ok_or_else(|| unlike(op))?;
            operands.push(plain.traced(inputs.len()));
            if is_integer(operand.r#type()) {
                inputs.push(operand);
            } else {
                inputs.extend(self.leaves_of(operand)?);
            }
            untraced.push(plain);
        }
        let declared: Vec<Type<'c>> = (0..op.result_count())
            .map(|i| result_of(op, i).r#type())
            .collect();
        let (results, checks) = record(|| algebra::evaluate(op, &operands));
        let wrong = |e| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        let results = results.map_err(wrong)?;
        let builder = Builder::before(op);
        let mut emitter = Emitter::new(builder, &inputs);
        if self.checks {
            let wide = overflow::wide_form(op, &untraced, &results, &checks).map_err(wrong)?;
            let safe = overflow::safe(&checks, wide.as_ref());
            self.assert_all(op, &mut emitter, &inputs, safe)?;
            if let Some(wide) = wide {
                overflow::assert_fits(op, builder, &mut emitter, &results, &wide)?;
            }
        }
        if results.len() != declared.len() {
            return Err(unlike(op));
        }
        for (i, (result, ty)) in results.iter().zip(declared).enumerate() {
            let old = result_of(op, i);
            match result {
                Value::Scalar(leaf) => {
                    let new = emitter.leaf(leaf, width_of(old))?;
                    replace_uses(old, new);
                }
                Value::Bool(truth) => {
                    let new = emitter.truth(truth)?;
                    replace_uses(old, new);
                }
                value => {
                    // A declared type may know less than what was computed, where the op allows it.
                    let want = value_of(ty).ok_or_else(|| unlike(op))?;
                    let leaves = emitter.leaves_for(&want, value)?;
                    self.leaves
                        .insert(key(old), leaves.ok_or_else(|| unlike(op))?);
                }
            }
        }
        self.dead.push(op);
        Ok(())
    }

    /// Asserts the conditions that what becomes of `op` depends on.
    fn assert_all<'k>(
        &mut self,
        op: Op<'c>,
        emitter: &mut Emitter<'_, 'c>,
        inputs: &[Val<'c>],
        checks: impl IntoIterator<Item = &'k Check>,
    ) -> Result<(), Failure> {
        for check in checks {
            // A divisor that several ops of a block share is asked about once.
            if let Some(input) = positive_input(check)
                && let (Some(value), Some(block)) = (inputs.get(input), op.block())
                && !self.positive.insert((key(*value), block_key(block)))
            {
                continue;
            }
            assert_holds(Builder::before(op), emitter, check)?;
        }
        Ok(())
    }

    /// Asserts the conditions that the layout of a view depends on, which is a tensor of coordinates from `start` on. Returns those on divisors that the start
    /// does not depend on: nothing else does where nobody asks for the layout.
    fn assert_for_layout(
        &mut self,
        op: Op<'c>,
        emitter: &mut Emitter<'_, 'c>,
        inputs: &[Val<'c>],
        checks: &[Check],
        start: &Value,
    ) -> Result<Vec<Positive<'c>>, Failure> {
        let mut unsure = Vec::new();
        for check in checks {
            let input = positive_input(check);
            let value = input.and_then(|input| inputs.get(input));
            let place = value
                .zip(op.block())
                .map(|(value, block)| (key(*value), block_key(block)));
            if place.is_some_and(|place| self.positive.contains(&place)) {
                continue;
            }
            let assertion = assert_holds(Builder::before(op), emitter, check)?;
            let of_start = |input: usize| start.leaves().into_iter().any(|l| depends(l, input));
            match place {
                Some(place) if !input.is_some_and(of_start) => unsure.push(Positive {
                    place,
                    op: assertion,
                }),
                place => self.positive.extend(place),
            }
        }
        Ok(unsure)
    }

    /// Erases what is asserted for the sake of leaves that nobody uses, and what is asserted twice in a block.
    fn settle_unsure(&mut self) -> Result<(), Failure> {
        let mut kept = Vec::new();
        for Unsure { leaves, asserts } in self.unsure.drain(..).rev() {
            if leaves.into_iter().any(is_used) {
                kept.push(asserts);
                continue;
            }
            for assertion in asserts {
                self.rewriter.erase(assertion.op)?;
            }
        }
        let mut met = HashSet::new();
        for assertion in kept.into_iter().rev().flatten() {
            if !met.insert(assertion.place) {
                self.rewriter.erase(assertion.op)?;
            }
        }
        Ok(())
    }

    /// Layout values that are still used come from a constructor; everything else of the algebra goes.
    fn finish(&mut self) -> Result<(), Failure> {
        let dead: HashSet<OpKey> = self.dead.iter().map(|op| op_key(*op)).collect();
        for op in &self.dead {
            for i in 0..op.result_count() {
                let old = result_of(*op, i);
                let used = users_of(old)
                    .iter()
                    .any(|user| !dead.contains(&op_key(*user)));
                if used {
                    let new = self.construct(Builder::before(*op), old)?;
                    replace_uses(old, new);
                }
            }
        }
        for op in self.dead.drain(..).rev() {
            self.rewriter.erase(op)?;
        }
        carry::drop_arguments(
            self.rewriter,
            self.module,
            &self.leaves,
            &mut |block, index| {
                let old = argument(block, index);
                if users_of(old).is_empty() {
                    return Ok(());
                }
                let builder = match ops_of(block).first() {
                    Some(first) => Builder::before(*first),
                    None => return Ok(()),
                };
                replace_uses(old, self.construct(builder, old)?);
                Ok(())
            },
        )?;
        self.settle_unsure()
    }

    fn construct(&self, builder: Builder<'c>, old: Val<'c>) -> Result<Val<'c>, Failure> {
        if parts::is_lowered(old.r#type()) {
            return self.construct_tensor(builder, old);
        }
        let leaves = self.leaves.get(&key(old)).cloned().unwrap_or_default();
        make(builder, old.r#type(), &leaves)
    }
}

/// A value of a layout type from its dynamic leaves.
fn make<'c>(builder: Builder<'c>, ty: Type<'c>, leaves: &[Val<'c>]) -> Result<Val<'c>, Failure> {
    let value = value_of(ty)
        .ok_or_else(|| builder.error(format!("expected a type of the cute dialect, found {ty}")))?;
    if leaves.is_empty() {
        return builder.static_value(ty);
    }
    let name = match &value {
        Value::IntTuple(_) => cute::MAKE_INT_TUPLE,
        Value::Shape(_) => cute::MAKE_SHAPE,
        Value::Stride(_) => cute::MAKE_STRIDE,
        Value::Coord(_) => cute::MAKE_COORD,
        Value::Scalar(_) => cute::ASSUME,
        Value::Tile(_) => cute::MAKE_TILE,
        Value::Layout(l) => {
            let (shape, stride) = (
                Value::Shape(l.shape().clone()),
                Value::Stride(l.stride().clone()),
            );
            let (of_shape, of_stride) = leaves.split_at(shape.dynamic_leaves().len());
            let shape = make(builder, value_type(builder.context, &shape), of_shape)?;
            let stride = make(builder, value_type(builder.context, &stride), of_stride)?;
            return builder.value(cute::MAKE_LAYOUT, &[shape, stride], ty, &[]);
        }
        Value::ComposedLayout(c) => {
            let parts = [
                match c.inner() {
                    Inner::Layout(l) => Value::Layout(l.clone()),
                    Inner::Swizzle(s) => Value::Swizzle(*s),
                },
                Value::IntTuple(c.offset().clone()),
                Value::Layout(c.outer().clone()),
            ];
            // Leaves are listed from the outer layout to the inner one.
            let mut operands = Vec::new();
            let mut rest = leaves;
            for part in parts.iter().rev() {
                let (own, behind) = rest.split_at(part.dynamic_leaves().len());
                operands.push(make(builder, value_type(builder.context, part), own)?);
                rest = behind;
            }
            operands.reverse();
            return builder.value(cute::MAKE_COMPOSED_LAYOUT, &operands, ty, &[]);
        }
        Value::Swizzle(_) | Value::Bool(_) => {
            return Err(builder.error(format!(
                "cannot keep a dynamic value of type {ty} for an op that is lowered later"
            )));
        }
    };
    builder.value(name, leaves, ty, &[])
}

fn unlike(op: Op<'_>) -> Failure {
    diag::error(
        op.location(),
        format!(
            "'{}' computes another form than its type says; this is a defect of the compiler",
            name_of(op)
        ),
    )
}

fn is_integer(ty: Type<'_>) -> bool {
    melior::ir::r#type::IntegerType::try_from(ty).is_ok()
}

/// The input that the condition asks to be at least 1, if that is all it asks.
fn positive_input(check: &Check) -> Option<usize> {
    match **check.positive()? {
        Expr::Input { index, .. } => Some(index),
        _ => None,
    }
}

/// Tells whether a value is used by something that is not itself pure and unused.
fn is_used(value: Val<'_>) -> bool {
    users_of(value).into_iter().any(|user| {
        let is_computed = user.region_count() == 0 && user.result_count() > 0 && is_pure(user);
        !is_computed || results_of(user).into_iter().any(is_used)
    })
}

/// Tells whether a number is computed from that input.
fn depends(leaf: &Leaf, input: usize) -> bool {
    fn within(e: &Expr, input: usize) -> bool {
        match e {
            Expr::Input { index, .. } => *index == input,
            Expr::Const(_) => false,
            Expr::Binary { lhs, rhs, .. } => within(lhs, input) || within(rhs, input),
            Expr::Select {
                cond, then, other, ..
            } => [cond, then, other].iter().any(|e| within(e, input)),
        }
    }
    match leaf {
        Leaf::Static(_) | Leaf::Underscore => false,
        Leaf::Basis { value, .. } => depends(value, input),
        Leaf::Dynamic(leaf) => match &leaf.term {
            Term::Traced(e) => within(e, input),
            _ => true,
        },
    }
}

fn assert_holds<'c>(
    builder: Builder<'c>,
    emitter: &mut Emitter<'_, 'c>,
    check: &Check,
) -> Result<Op<'c>, Failure> {
    let condition = Truth::Unknown(Term::Traced(Arc::clone(&check.condition)));
    let condition = emitter.truth(&condition)?;
    assert(builder, condition, &check.message)
}

fn assert<'c>(builder: Builder<'c>, condition: Val<'c>, message: &str) -> Result<Op<'c>, Failure> {
    let message = builder.string(message);
    builder.op(cf::ASSERT, &[condition], &[], &[("msg", message)])
}
