//! Pipelines, rings of buffers that tokens or mbarriers pass on, and named barriers.

use super::Checked;
use crate::{hopper::MOST_BLOCKS, mlir::*, names::dialect_of, ops::cute_nvgpu, types::CuteType};
use cute_layout::atoms::Completion;
use cute_target::{THREADS_PER_BLOCK, WARP};
use melior::ir::ValueLike;

/// The barriers of a block that have a number of their own: 16 less the one of `gpu.barrier` (PTX ISA, `barrier`).
const MOST_BARRIERS: i64 = 15;

/// The way in which a value that is a pipeline says that a place is full.
pub(super) fn completion_of(value: Val<'_>) -> Option<Completion> {
    match CuteType::of(value.r#type()) {
        Some(CuteType::Pipeline { completion, .. }) => Some(completion),
        _ => None,
    }
}

/// Checks that operations of the one family are on pipelines of that family.
pub(super) fn verify_pipeline(op: Op<'_>) -> Checked {
    let all = operands_of(op).into_iter().chain(results_of(op));
    let mut found = all.filter_map(|value| Some((completion_of(value)?, value.r#type())));
    let Some((completion, ty)) = found.next() else {
        return Err("expected a pipeline".to_owned());
    };
    let by_hand = completion == Completion::Mbarrier;
    match (dialect_of(op) == "cute_nvgpu", by_hand) {
        (true, false) => Err(format!(
            "expected a pipeline with mbarriers, such as !cute.pipeline<4, mbarrier>, found {ty}"
        )),
        (false, true) => Err(format!(
            "expected a pipeline that tokens pass on, such as !cute.pipeline<4>, found {ty}; use the cute_nvgpu.pipeline operations on it"
        )),
        _ => Ok(()),
    }
}

pub(super) fn verify_create(op: cute_nvgpu::PipelineCreate<'_>) -> Checked {
    verify_pipeline(op.op())?;
    let threads = i64::from(THREADS_PER_BLOCK);
    let numbers = [
        ("warps", threads / i64::from(WARP)),
        ("blocks", MOST_BLOCKS),
        ("threads", threads),
    ];
    for (name, most) in numbers {
        let number = integer_of(op.op(), name);
        if let Some(number) = number.filter(|number| !(1..=most).contains(number)) {
            return Err(format!("expected 1 to {most} {name}, found {number}"));
        }
    }
    let several = integer_of(op.op(), "blocks").is_some_and(|blocks| blocks > 1);
    if several && op.threads().is_some() {
        return Err(
            "expected no blocks beside threads, as cp.async fills the shared memory of its own block alone".to_owned(),
        );
    }
    Ok(())
}

pub(super) fn verify_named_barriers(op: Op<'_>) -> Checked {
    match integer_of(op, "count") {
        Some(1..=MOST_BARRIERS) => Ok(()),
        count => Err(format!(
            "expected 1 to {MOST_BARRIERS} barriers, as a block has 16 with that of gpu.barrier, found {}",
            count.unwrap_or_default()
        )),
    }
}
