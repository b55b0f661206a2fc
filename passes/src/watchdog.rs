//! `cute-watchdog`: waits for mbarriers that end, after two seconds with an assertion.
//!
//! A kernel in which fewer arrive than a barrier counts never ends, and says nothing: with this pass it ends as one whose `cf.assert` does not hold, and says for
//! which barrier it waited. It is for finding such a mistake on a GPU; the emulator finds it without. Waits for clusters and for named barriers, which no instruction
//! can give up, and loops of `mbarrier_try_wait` stay as they are.

use cute_arith::Predicate;
use cute_ir::ops::{arith, cf, cute_nvgpu, nvvm, scf};
use cute_ir::{Anchor, Failure, PassSpec, mlir::*, types::memref_of};
use melior::ir::{ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-watchdog",
    description: "End waits for mbarriers after two seconds with an assertion",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

/// Nanoseconds that a wait takes at most: no wait of a kernel that does its work takes as long.
const MOST: i64 = 2_000_000_000;

/// Barriers of one tensor that are told apart, at most: each has an assertion of its own.
const NAMED: i64 = 32;

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for op in nested_ops(kernel) {
        if let Some(wait) = cute_nvgpu::MbarrierWait::of(op) {
            watch(Builder::before(op), wait)?;
            rewriter.erase(op)?;
        }
    }
    Ok(())
}

/// Writes the wait as a loop that asks whether the phase has ended, and how late it is.
fn watch<'c>(b: Builder<'c>, wait: cute_nvgpu::MbarrierWait<'c>) -> Result<(), Failure> {
    let long = b.i64_type();
    let start = b.value(nvvm::READ_PTX_SREG_GLOBALTIMER, &[], long, &[])?;
    let most = b.constant(long, MOST)?;
    let (before, first) = Detached::with_block(&[]);
    let test = Builder::at_end(b.context, first, b.location);
    let operands = operands_of(wait.op());
    let truth = test.ty("i1")?;
    let ended = test.value(cute_nvgpu::MBARRIER_TRY_WAIT, &operands, truth, &[])?;
    let no = test.constant(truth, 0)?;
    let again = test.compare(Predicate::Eq, ended, no)?;
    let now = test.value(nvvm::READ_PTX_SREG_GLOBALTIMER, &[], long, &[])?;
    let waited = test.value(arith::SUBI, &[now, start], long, &[])?;
    let is_late = test.compare(Predicate::Ugt, waited, most)?;
    let fails = test.value(arith::ANDI, &[again, is_late], truth, &[])?;
    let (late, block) = Detached::with_block(&[]);
    let inner = Builder::at_end(b.context, block, b.location);
    accuse(inner, wait)?;
    inner.op(scf::YIELD, &[], &[], &[])?;
    let otherwise = Detached::empty();
    test.with_regions(scf::IF, &[fails], &[], &[], vec![late, otherwise])?;
    test.op(scf::CONDITION, &[again], &[], &[])?;
    let (after, second) = Detached::with_block(&[]);
    Builder::at_end(b.context, second, b.location).op(scf::YIELD, &[], &[], &[])?;
    b.with_regions(scf::WHILE, &[], &[], &[], vec![before, after])?;
    Ok(())
}

/// Ends the kernel, and says for which barrier it waits.
fn accuse<'c>(b: Builder<'c>, wait: cute_nvgpu::MbarrierWait<'c>) -> Result<(), Failure> {
    let place = |location| match place_of(location) {
        Some(place) => format!("{}:{}:{}", place.file, place.line, place.column),
        None => "a place without a name".to_owned(),
    };
    let made = defining_op(wait.barriers()).map(|op| place(op.location()));
    let made = made.unwrap_or_else(|| "an argument".to_owned());
    let waits = place(b.location);
    let assert = |name: String, holds: Val<'c>| {
        let message = format!(
            "{name} of {made} has not ended its phase for 2 s, at the wait of {waits}: fewer arrive than its count, fewer bytes come than it expects, or the wait is \
             for another parity"
        );
        let message = b.string(&message);
        b.op(cf::ASSERT, &[holds], &[], &[("msg", message)])
    };
    let never = b.constant(b.ty("i1")?, 0)?;
    let Some(index) = wait.index() else {
        assert("the mbarrier".to_owned(), never)?;
        return Ok(());
    };
    if let Some(at) = constant_of(index) {
        assert(format!("mbarrier {at}"), never)?;
        return Ok(());
    }
    let count = memref_of(wait.barriers()).and_then(|bars| bars.layout.size().ok());
    for at in 0..count.filter(|count| *count <= NAMED).unwrap_or(0) {
        let number = b.constant(index.r#type(), at)?;
        let other = b.compare(Predicate::Ne, index, number)?;
        assert(format!("mbarrier {at}"), other)?;
    }
    // Of more than those, or of a number that none has.
    assert("an mbarrier".to_owned(), never)?;
    Ok(())
}
