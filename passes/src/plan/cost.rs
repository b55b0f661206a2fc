//! Estimates of what a plan takes, before anything is built; ptxas has the last word, and a spill is an error.

use super::warps_of;
use crate::arch::{REGISTERS, REGISTERS_PER_THREAD};
use crate::shared::{self, Buffer, pack, ring_bytes};
use cute_ir::plan::{OPERANDS, Plan};
use cute_layout::{
    Operand, Residue,
    atoms::{Completion, Elem},
    int, tuple,
};
use cute_target::Arch;

/// Registers of a thread beyond accumulators and fragments: ptxas needed 26 to 34 in the plans that were measured.
const BESIDE: i64 = 34;

/// Bits of a register.
const REGISTER_BITS: i64 = 32;

/// Registers of a thread, estimated: accumulators, two sets of fragments of one step along K, and addresses. Errors: a plan
/// that [`Plan::verify`] refuses.
pub(super) fn registers(plan: &Plan<'_>) -> Result<i64, String> {
    let mma = plan.tiled_mma()?;
    let [m, n, _] = plan.tile;
    let k = mma.tile_shape()[2];
    let of = |operand: Operand, rows, columns, elem: Elem| {
        let shape = tuple([int(rows), int(columns)]);
        let part = mma.partition_shape(operand, &shape, Residue::Refuse);
        let values = part.and_then(|shape| shape.size());
        values
            .map(|values| values * elem.bits() / REGISTER_BITS)
            .map_err(|e| e.to_string())
    };
    let atom = mma.atom();
    let accumulators = of(Operand::C, m, n, atom.d)?;
    let fragments = of(Operand::A, m, k, atom.a)? + of(Operand::B, n, k, atom.b)?;
    // A tile that goes to shared memory through registers is loaded ahead.
    let mut held = 0;
    for operand in [Operand::A, Operand::B] {
        let row = plan
            .path(operand)
            .first()
            .ok_or("expected a movement")?
            .row()?;
        if row.completion == Completion::Immediate {
            let [rows, columns] = plan.extents(operand);
            let accesses = rows * columns / (mma.num_threads() * row.num_val).max(1);
            held += accesses * (row.num_val * row.val_bits).max(REGISTER_BITS) / REGISTER_BITS;
        }
    }
    Ok(accumulators + 2 * fragments + held + BESIDE)
}

/// Bytes of shared memory: the rings of A and B, reused by the tile of C, placed as cute-allocate-shared does. Errors: as of
/// [`registers`].
fn shared_memory(plan: &Plan<'_>) -> Result<i64, String> {
    let mut buffers = Vec::new();
    for operand in OPERANDS {
        let (tile, count) = plan.shared(operand)?;
        let position = usize::from(operand == Operand::C);
        buffers.push(Buffer {
            bytes: ring_bytes(&tile, count)?,
            align: tile.align,
            first: position,
            last: position,
        });
    }
    Ok(shared::size(&buffers, &pack(&buffers, Buffer::meets)))
}

/// Checks that an architecture has what a plan takes. Errors: what does not fit, with both figures; those of [`registers`].
pub(super) fn check(plan: &Plan<'_>, arch: Arch) -> Result<(), String> {
    let ([m, n, k], [wm, wn]) = (plan.tile, warps_of(plan));
    let limit = REGISTERS_PER_THREAD.min(REGISTERS / plan.threads()? / 8 * 8);
    let registers = registers(plan)?;
    if registers > limit {
        return Err(format!(
            "{wm}x{wn} warps on {m}x{n} need about {registers} registers a thread, at most {limit} can be had"
        ));
    }
    let bytes = shared_memory(plan)?;
    let most = i64::from(arch.max_smem());
    if bytes > most {
        return Err(format!(
            "{} stages of {m}x{n}x{k} need {bytes} bytes of shared memory, {arch} has {most}",
            plan.stages
        ));
    }
    Ok(())
}
