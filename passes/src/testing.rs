//! `cute-test-panic`: for tests of what a panic in a pass becomes.

use cute_ir::{
    Anchor, Failure, PassSpec,
    mlir::{Op, Rewriter},
};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-test-panic",
    description: "Panic, to test that a panic becomes a diagnostic",
    anchor: Anchor::Module,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, _: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    panic!("asked to by {}", PASS.name)
}
