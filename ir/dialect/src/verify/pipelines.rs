//! Pipelines, rings of buffers that tokens or mbarriers pass on, and named barriers.

use super::Checked;
use crate::{
    hopper::MOST_BLOCKS,
    mlir::*,
    names::dialect_of,
    ops::{cute, cute_nvgpu},
    types::CuteType,
};
use cute_layout::atoms::Completion;
use cute_target::{SETMAXNREG_UNIT, THREADS_PER_BLOCK, WARP, WARPGROUP};
use melior::ir::{ValueLike, operation::OperationLike};

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

/// The registers that a thread may have (PTX ISA, `setmaxnreg`).
const REGISTERS: std::ops::RangeInclusive<i64> = 24..=256;

pub(super) fn verify_warp_specialize(op: cute::WarpSpecialize<'_>) -> Checked {
    let op = op.op();
    let warps = attribute_of(op, "warps")
        .and_then(i64s_of)
        .unwrap_or_default();
    let registers = attribute_of(op, "registers").and_then(i64s_of);
    let roles = op.region_count();
    if roles == 0 || warps.len() != roles {
        return Err(format!(
            "expected the warps of each of its roles, found {roles} roles and the warps of {}",
            warps.len()
        ));
    }
    let most = i64::from(THREADS_PER_BLOCK / WARP);
    let all = warps.iter().copied().fold(0, i64::saturating_add);
    if warps.iter().any(|warps| *warps < 1) || all > most {
        return Err(format!(
            "expected roles of at least one warp, and at most {most} in all, found {warps:?}"
        ));
    }
    for role in 0..roles {
        let arguments = body_of(op, role).map(arguments_of).unwrap_or_default();
        let is_i32 = |value: &Val<'_>| value.r#type().to_string() == "i32";
        if arguments.len() != 2 || !arguments.iter().all(is_i32) {
            return Err(format!(
                "expected two arguments of role {role}, the index of the thread and that of the warp, both i32"
            ));
        }
    }
    let Some(registers) = registers else {
        return Ok(());
    };
    if registers.len() != roles {
        return Err(format!(
            "expected the registers of each of {roles} roles or of none, found those of {}",
            registers.len()
        ));
    }
    let unit = i64::from(SETMAXNREG_UNIT);
    if let Some(wrong) = registers
        .iter()
        .find(|n| !REGISTERS.contains(n) || *n % unit != 0)
    {
        return Err(format!(
            "expected multiples of {unit} registers from {} to {}, as setmaxnreg takes, found {wrong}",
            REGISTERS.start(),
            REGISTERS.end()
        ));
    }
    let group = i64::from(WARPGROUP / WARP);
    match warps.iter().find(|warps| *warps % group != 0) {
        Some(wrong) => Err(format!(
            "expected roles of whole warpgroups, multiples of {group} warps, where they say registers, which setmaxnreg gives to a warpgroup, found {wrong}"
        )),
        None => Ok(()),
    }
}
