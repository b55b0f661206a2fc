//! Products of warpgroups that a loop carries: of their state, which is whether C is added, loops carry the truth value.

use cute_ir::{
    Expected, Failure, hopper,
    mlir::*,
    ops::{cute, cute_nvgpu, scf},
    types::{self, int_type},
};
use melior::ir::{Type, ValueLike};

/// The part of the state that is carried.
const ADDS: &str = "#cute_nvgpu.atom_mma_field_sm90<accum_c>";

/// Lets the loops of a kernel carry whether C is added in place of a product that says so.
pub(super) fn states<'c>(kernel: Op<'c>) -> Result<(), Failure> {
    for op in nested_ops(kernel) {
        if name_of(op) == scf::FOR {
            of_loop(op)?;
        }
    }
    Ok(())
}

/// Tells whether a type is that of a product with such a state.
fn has_state(ty: Type<'_>) -> bool {
    types::mma_row(ty).is_some_and(|atom| hopper::is_asynchronous(&atom))
}

fn of_loop<'c>(op: Op<'c>) -> Result<(), Failure> {
    let body = body_of(op, 0).expected(op, "a body")?;
    let operands = operands_of(op);
    let results = results_of(op);
    let first = operands.len() - results.len();
    let arguments = arguments_of(body);
    let arguments = &arguments[arguments.len() - results.len()..];
    for (at, result) in results.iter().enumerate() {
        let ty = result.r#type();
        if !has_state(ty) {
            continue;
        }
        let outside = Builder::before(op);
        let truth = int_type(outside.context, 1);
        let adds = state_of(outside, operands[first + at])?;
        let product = outside.static_value(ty)?;
        set_operand(op, first + at, adds);
        let inside = ops_of(body).into_iter().next();
        let inside = Builder::before(inside.expected(op, "an op in the body")?);
        say_state(inside, product, arguments[at], truth)?;
        let last = ops_of(body).into_iter().next_back();
        let last = last.expected(op, "the end of the body")?;
        let left = operands_of(last).get(at).copied();
        let left = state_of(
            Builder::before(last),
            left.expected(op, "what the loop carries")?,
        )?;
        set_operand(last, at, left);
        say_state(Builder::after(op), product, *result, truth)?;
    }
    Ok(())
}

/// Makes a value that was a product with a state the state, and gives its users the product with it.
fn say_state<'c>(
    b: Builder<'c>,
    product: Val<'c>,
    value: Val<'c>,
    truth: Type<'c>,
) -> Result<(), Failure> {
    let users = users_of(value);
    let ty = value.r#type();
    set_type(value, truth);
    let field = [("field", b.attribute(ADDS)?)];
    let with = b.value(cute_nvgpu::ATOM_SET_VALUE, &[product, value], ty, &field)?;
    for user in users {
        for (at, operand) in operands_of(user).into_iter().enumerate() {
            if operand == value {
                set_operand(user, at, with);
            }
        }
    }
    Ok(())
}

/// The truth value that says whether a product adds C: what its state was set to, or true where nobody set it.
fn state_of<'c>(b: Builder<'c>, mut product: Val<'c>) -> Result<Val<'c>, Failure> {
    while let Some(op) = defining_op(product) {
        if let Some(set) = cute_nvgpu::AtomSetValue::of(op) {
            return Ok(set.value());
        }
        if let Some(tiled) = cute::MakeTiledMma::of(op) {
            product = tiled.atom();
            continue;
        }
        if let Some(state) = cute::MakeAtom::of(op).and_then(|made| made.state().first().copied()) {
            return Ok(state);
        }
        break;
    }
    b.constant(int_type(b.context, 1), 1)
}
