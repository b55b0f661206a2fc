//! `cute-assign-latencies`: what each operation of a loop that is to be pipelined costs.
//!
//! Each gets the unit that it occupies, the cycles for which it does, and the cycles until its result may be used, from the
//! rows of atoms and from the architecture. Whoever knows better writes `cute.unit`, `cute.cycles` and `cute.latency` himself:
//! what is there stays.

use super::graph::is_data;
use crate::arch;
use cute_ir::ops::{cute, gpu, math, scf, vector};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{CYCLES, LATENCY, STAGES, UNIT},
    diag,
    mlir::*,
    names::{dialect, dialect_of},
    types::memref_of,
    types::{self, Space},
};
use cute_layout::atoms::Issue;
use cute_target::{Cost, Timing, Unit};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-assign-latencies",
    description: "Say of each operation of a loop that is to be pipelined which unit it occupies, and how long",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let loops = nested_ops(kernel).into_iter().filter_map(scf::For::of);
    for op in loops.filter(|op| attribute_of(op.op(), STAGES).is_some()) {
        let arch = arch::of_kernel(kernel).map_err(|e| diag::error(kernel.location(), e))?;
        let timing = Timing::of(arch);
        let body = op.region().expected(op.op(), "a body")?;
        for op in ops_of(body) {
            if let Some(cost) = cost(op, timing) {
                assign(op, cost);
            }
        }
    }
    Ok(())
}

fn assign(op: Op<'_>, cost: Cost) {
    let b = Builder::before(op);
    let numbers = [(CYCLES, cost.cycles), (LATENCY, cost.latency)];
    for (name, value) in numbers {
        if attribute_of(op, name).is_none() {
            set_attribute(op, name, b.integer(b.i32_type(), value));
        }
    }
    if attribute_of(op, UNIT).is_none() {
        set_attribute(op, UNIT, b.string(cost.unit.name()));
    }
}

/// The functions that the lanes for sums and products compute.
const LIKE_SUMS: [&str; 3] = [math::ABSF, math::COPYSIGN, math::FMA];

/// The number of elements of a value's type, and the bits of one.
fn elements_of(ty: Type<'_>) -> (i64, i64) {
    match vector_extents(ty) {
        Some(extents) => {
            let element = vector_of(ty).map_or(ty, |(_, element)| element);
            let count = extents.into_iter().fold(1, i64::saturating_mul);
            (count, types::element_bits(element).unwrap_or(32))
        }
        None => (1, types::element_bits(ty).unwrap_or(32)),
    }
}

fn bytes_of(ty: Type<'_>) -> i64 {
    let (count, bits) = elements_of(ty);
    (count * bits / 8).max(1)
}

/// The cost of an operation; nothing of what costs nothing or moves to wherever it is used.
fn cost(op: Op<'_>, timing: Timing) -> Option<Cost> {
    if op.region_count() > 0 {
        return within(op, timing);
    }
    if let Some(mma) = cute::AtomMma::of(op) {
        let row = types::mma_row(mma.mma().r#type())?;
        let multiplications = row.shape_mnk.iter().product();
        // A product of one thread is arithmetic.
        if row.issue == Issue::Thread {
            return Some(timing.arithmetic(multiplications));
        }
        let bits = row.a.bits();
        return Some(timing.product(multiplications, bits));
    }
    if let Some(copy) = cute::AtomCopy::of(op) {
        let row = types::copy_row(copy.copy().r#type())?;
        let bytes = row.val_bits * row.num_val / 8;
        return Some(timing.global_load(bytes));
    }
    if gpu::Shuffle::of(op).is_some() {
        return Some(timing.exchange());
    }
    if let Some(reduction) = vector::Reduction::of(op) {
        let (count, _) = elements_of(reduction.vector().r#type());
        return Some(timing.arithmetic(count));
    }
    let effects = effects_of(op);
    let Some(effects) = effects else {
        return (op.result_count() > 0).then(|| timing.exchange());
    };
    let touched = |kind| {
        let values = effects.iter().filter(move |effect| effect.kind == kind);
        values.filter_map(|effect| effect.value).find_map(memref_of)
    };
    let moved = |value: Option<Type<'_>>| value.map_or(4, bytes_of);
    if let Some(read) = touched(EffectKind::Read) {
        let bytes = moved(results_of(op).first().map(|v| v.r#type()));
        return Some(match read.space {
            Space::Smem | Space::Dsmem => timing.shared_load(bytes),
            _ => timing.global_load(bytes),
        });
    }
    if touched(EffectKind::Write).is_some() {
        let data = operands_of(op).into_iter().map(|v| v.r#type());
        let mut data = data.filter(|ty| vector_of(*ty).is_some() || is_float(*ty));
        return Some(timing.store(moved(data.next_back())));
    }
    if effects.is_empty() && is_data(op) {
        let (count, _) = elements_of(result_of(op, 0).r#type());
        return match dialect_of(op) {
            dialect::ARITH => Some(timing.arithmetic(count)),
            dialect::MATH if LIKE_SUMS.contains(&name_of(op)) => Some(timing.arithmetic(count)),
            dialect::MATH => Some(timing.special(count)),
            // Registers are only named anew.
            _ => Some(Cost {
                unit: Unit::Issue,
                cycles: 0,
                latency: 0,
            }),
        };
    }
    None
}

/// The cost of an operation with regions: the sum of what is within, on the unit that is busy the longest. Loops count once for
/// each turn, where their turns are known.
fn within(op: Op<'_>, timing: Timing) -> Option<Cost> {
    let mut busy = [0i64; Unit::ALL.len()];
    let mut latency = 0i64;
    for block in blocks_of(op) {
        for inner in ops_of(block) {
            let Some(cost) = cost(inner, timing) else {
                continue;
            };
            let at = Unit::ALL.iter().position(|unit| *unit == cost.unit)?;
            busy[at] = busy[at].saturating_add(cost.cycles);
            latency = latency.saturating_add(cost.cycles.max(1));
        }
    }
    let turns = scf::For::of(op).and_then(|op| {
        let (first, end) = (
            constant_of(op.lower_bound())?,
            constant_of(op.upper_bound())?,
        );
        let step = constant_of(op.step()).filter(|step| *step > 0)?;
        Some((end.saturating_sub(first) / step).clamp(0, 1 << 12))
    });
    let turns = turns.unwrap_or(1);
    let (at, cycles) = busy.iter().enumerate().max_by_key(|(_, cycles)| **cycles)?;
    Some(Cost {
        unit: Unit::ALL[at],
        cycles: cycles.saturating_mul(turns).min(i64::from(i32::MAX)),
        latency: latency.saturating_mul(turns).min(i64::from(i32::MAX)),
    })
}
