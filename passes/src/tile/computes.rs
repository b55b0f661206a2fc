//! What a function says that it computes: entries of `cute.computes`, the tensors of them that are no arguments, and the branches that they are in.

use super::leaves::leaves_of;
use crate::memory::root_of;
use cute_ir::ops::cute;
use cute_ir::{Failure, attributes::COMPUTES, diag, mlir::*, types::memref_of};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};

/// The places of values of an op among the tensors and numbers of its function, as text. A tensor that is no argument has one behind these, which a `cute.compute_view` gives it.
pub(super) fn places<'c>(
    op: Op<'c>,
    function: Op<'c>,
    values: &[Val<'c>],
) -> Result<String, Failure> {
    let mut places = Vec::new();
    for value in values {
        places.push(match block_argument(*value) {
            Some((_, place)) => place.to_string(),
            // An op that has such a tensor is not recorded.
            None if begin(*value).is_none() => "-1".to_owned(),
            None => view(op, function, *value)?.to_string(),
        });
    }
    Ok(places.join(", "))
}

/// The argument, or the workspace, in which a tensor begins; none of one that begins elsewhere.
fn begin(tensor: Val<'_>) -> Option<Val<'_>> {
    let root = root_of(tensor);
    match defining_op(root) {
        Some(op) => cute::Workspace::of(op).map(|_| root),
        None => memref_of(root).map(|_| root),
    }
}

/// The place of a tensor that is no argument: the one that it has already, or one behind all others.
fn view<'c>(op: Op<'c>, function: Op<'c>, tensor: Val<'c>) -> Result<i64, Failure> {
    let arguments = body_of(function, 0).map_or(0, |body| arguments_of(body).len());
    let mut place = i64::try_from(arguments).unwrap_or(0);
    for known in nested_ops(function) {
        let Some(view) = cute::ComputeView::of(known) else {
            continue;
        };
        let of = defining_op(view.start()).and_then(cute::GetIter::of);
        let own = integer_of(known, "index").unwrap_or(0);
        if of.is_some_and(|of| of.tensor() == tensor) {
            return Ok(own);
        }
        place = place.max(own + 1);
    }
    let host = Builder::before(op);
    let start = host.infer(cute::GET_ITER, &[tensor], &[])?;
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let leaves = leaves_of(host, layout)?.into_iter().flatten();
    let operands: Vec<Val<'c>> = std::iter::once(start).chain(leaves).collect();
    let attributes = [
        ("index", host.i64_attribute(place)),
        ("tensor", host.type_attribute(tensor.r#type())),
    ];
    host.op(cute::COMPUTE_VIEW, &operands, &[], &attributes)?;
    Ok(place)
}

/// The entries of a function so far; none of one that says nothing at all.
fn entries<'c>(function: Op<'c>) -> Option<Vec<Attribute<'c>>> {
    let all = attribute_of(function, COMPUTES).and_then(array_of);
    match all {
        Some(all) if all.is_empty() => None,
        all => Some(all.unwrap_or_default()),
    }
}

/// Adds an entry to what a function says that it computes. Of an op on a tensor that begins neither in an argument nor in a workspace nothing can be said, nor of what follows
/// from it: such a function says nothing at all, which is a list of no entries.
pub(super) fn record<'c>(op: Op<'c>, function: Op<'c>, entry: &str) -> Result<(), Failure> {
    let Some(old) = entries(function) else {
        return Ok(());
    };
    let b = Builder::before(op);
    let is_elsewhere = |value: &Val<'c>| memref_of(*value).is_some() && begin(*value).is_none();
    if operands_of(op).iter().any(is_elsewhere) {
        diag::warning(
            op.location(),
            format!(
                "'{}' op has a tensor that begins neither in an argument of the function nor in a cute.workspace, so that a package does not say what the function computes, and \
                 cute-run does not verify it; begin the tensor there, or compare results with --expect",
                name_of(op)
            ),
            &[],
        );
        set_attribute(function, COMPUTES, b.attribute("[]")?);
        return Ok(());
    }
    if op.parent_operation() != Some(function) {
        let index = i64::try_from(old.len()).unwrap_or(0);
        b.op(
            cute::COMPUTE_HERE,
            &[],
            &[],
            &[("compute", b.i64_attribute(index))],
        )?;
    }
    let old = old.iter().map(ToString::to_string);
    let all: Vec<String> = old.chain([format!("{{{entry}}}")]).collect();
    let all = b.attribute(&format!("[{}]", all.join(", ")))?;
    set_attribute(function, COMPUTES, all);
    Ok(())
}
