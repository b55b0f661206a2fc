//! The check that what is computed in 32 bits fits them.
//!
//! The types of CuTe IR make a product of two 32-bit integers one of 32 bits. The op is evaluated once more on leaves of 64
//! bits, and both results must agree.

use super::{assert, emit::Emitter};
use cute_ir::ops::cute;
use cute_ir::{Failure, algebra, mlir::*};
use cute_layout::{Check, Dyn, Expr, Layout, Leaf, Term, ops::Value, record};
use std::sync::Arc;

/// The op on leaves of 64 bits: its results, and the conditions that they depend on.
pub(super) struct Wide {
    pub results: Vec<Value>,
    pub checks: Vec<Check>,
}

/// The wide form, where 32 bits may not be enough; nothing where they are.
pub(super) fn wide_form(
    op: Op<'_>,
    plain: &[Value],
    results: &[Value],
    checks: &[Check],
) -> Result<Option<Wide>, String> {
    let may_overflow = results
        .iter()
        .any(|r| r.leaves().into_iter().any(|leaf| narrow(leaf).is_some()))
        || checks.iter().any(|check| check.condition.can_overflow());
    if !may_overflow || is_bounded(op, plain) {
        return Ok(None);
    }
    let mut first = 0;
    let operands: Vec<Value> = plain
        .iter()
        .map(|value| {
            let wide = value.traced_wide(first);
            first += value.dynamic_leaves().len();
            wide
        })
        .collect();
    let (results, checks) = record(|| algebra::evaluate(op, &operands));
    results.map(|results| Some(Wide { results, checks }))
}

/// Returns the expression that computes a leaf of 32 bits, where they may not be enough.
fn narrow(leaf: &Leaf) -> Option<&Arc<Expr>> {
    match leaf.as_dynamic()? {
        Dyn {
            width: 32,
            term: Term::Traced(e),
            ..
        } if e.can_overflow() => Some(e),
        _ => None,
    }
}

/// The conditions, in 64 bits where they could overflow in fewer.
pub(super) fn safe<'a>(checks: &'a [Check], wide: Option<&'a Wide>) -> Vec<&'a Check> {
    match wide {
        Some(wide) if wide.checks.len() == checks.len() => checks
            .iter()
            .zip(&wide.checks)
            .map(|(narrow, wide)| {
                if narrow.condition.can_overflow() {
                    wide
                } else {
                    narrow
                }
            })
            .collect(),
        Some(wide) => wide.checks.iter().collect(),
        None => checks.iter().collect(),
    }
}

/// Tells whether all offsets of a known layout fit 32 bits.
fn is_bounded(op: Op<'_>, operands: &[Value]) -> bool {
    const LIMIT: i64 = 1 << 31;
    let reach = |layout: &Layout| layout.is_static().then(|| layout.cosize().ok()).flatten();
    let reach = match (name_of(op), operands) {
        (cute::LAYOUT_EVAL | cute::CRD2IDX, [_, Value::Layout(layout)]) => reach(layout),
        (cute::LAYOUT_EVAL, [_, Value::ComposedLayout(composed)]) => {
            let offset = composed.offset().as_static().filter(|v| *v >= 0);
            let outer = reach(composed.outer());
            offset.zip(outer).and_then(|(a, b)| a.checked_add(b))
        }
        (cute::CRD2IDX, [_, Value::Shape(shape)]) if shape.is_static() => shape.size().ok(),
        _ => None,
    };
    reach.is_some_and(|reach| reach <= LIMIT)
}

/// Asserts that each 32-bit leaf is what it is in 64 bits.
pub(super) fn assert_fits<'c>(
    op: Op<'c>,
    builder: Builder<'c>,
    emitter: &mut Emitter<'_, 'c>,
    results: &[Value],
    wide: &Wide,
) -> Result<(), Failure> {
    let message = format!(
        "'{}' op expected values that fit 32 bits, found an overflow; make the leaves that it is computed from `?{{i64}}`",
        name_of(op)
    );
    for (narrow_results, wide) in results.iter().zip(&wide.results) {
        for (leaf, wide) in narrow_results.leaves().into_iter().zip(wide.leaves()) {
            if let Some(e) = narrow(leaf) {
                let (a, b) = (emitter.at_width(e, 64)?, emitter.leaf(wide, 64)?);
                let same = emitter.equal(a, b)?;
                assert(builder, same, &message)?;
            }
        }
    }
    Ok(())
}
