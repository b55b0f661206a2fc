//! Loops that carry more than they did.

use cute_ir::ops::scf;
use cute_ir::{Expected, Failure, mlir::*};
use melior::ir::ValueLike;

/// Lets a loop carry more values: `initial` into its first turn, and from each turn into the next what `yielded` has for them. Its body
/// has an argument for each already, behind the others. The loop is built anew around the same body.
///
/// # Errors
/// None: a loop without a body has been ruled out.
pub(crate) fn carry<'c>(
    rewriter: &'c Rewriter<'c>,
    turns: scf::For<'c>,
    initial: &[Val<'c>],
    yielded: &[Val<'c>],
) -> Result<(), Failure> {
    let op = turns.op();
    let body = body_of(op, 0).expected(op, "a body")?;
    let end = *ops_of(body)
        .last()
        .expected(op, "an op that ends the block")?;
    let all = [&operands_of(end)[..], yielded].concat();
    Builder::before(end).op(scf::YIELD, &all, &[], &attributes_of(end))?;
    rewriter.erase(end)?;
    let operands = [&operands_of(op)[..], initial].concat();
    let types = turns.results().into_iter().chain(initial.iter().copied());
    let types: Vec<_> = types.map(|value| value.r#type()).collect();
    let new = rewriter.recreate(op, &operands, &types, &attributes_of(op))?;
    for (old, new) in turns.results().into_iter().zip(results_of(new)) {
        replace_uses(old, new);
    }
    rewriter.erase(op)
}
