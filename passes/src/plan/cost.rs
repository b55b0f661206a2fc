//! Estimates of what a plan takes, in registers, shared memory and time, before anything is built; ptxas has the last word, and
//! a spill is an error.

use super::{Problem, warps_of};
use crate::arch::{REGISTERS, REGISTERS_PER_THREAD};
use crate::shared::{self, Buffer, pack, ring_bytes};
use cute_ir::plan::{OPERANDS, Plan};
use cute_layout::{
    Operand, Residue,
    atoms::{Completion, Elem, Issue},
    int, tuple,
};
use cute_target::Arch;

/// Registers of a thread beyond accumulators and fragments: ptxas needed 26 to 34 in the plans that were measured.
const BESIDE: i64 = 34;

/// Copies of a thread in a turn whose addresses are among [`BESIDE`]: as many as the plans that were measured have. Those beyond
/// take registers for address and predicate, loads into registers too; fewer where strides are known, which then are in the instructions. With
/// less than is added here, some of 500 plans for narrow accesses spilled.
const ACCESSES: i64 = 12;

/// The strides of A and B, as far as addresses are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strides {
    /// All are known.
    Known,
    /// Some only a launch knows.
    Open,
}

/// Bits of a register.
const REGISTER_BITS: i64 = 32;

/// Registers of a thread, estimated: accumulators, two sets of fragments of one step along K, and addresses. Errors: a plan
/// that [`Plan::verify`] refuses.
pub(super) fn registers(plan: &Plan<'_>, strides: Strides) -> Result<i64, String> {
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
    let (mut held, mut copies, mut loads, mut apart) = (0, 0, 0, 0);
    for operand in [Operand::A, Operand::B] {
        let row = plan
            .path(operand)
            .first()
            .ok_or("expected a movement")?
            .row()?;
        let [rows, columns] = plan.extents(operand);
        let accesses = rows * columns / (mma.num_threads() * row.num_val).max(1);
        // A tile that goes to shared memory through registers is loaded ahead.
        match row.completion {
            Completion::Immediate => {
                held += accesses * (row.num_val * row.val_bits).max(REGISTER_BITS) / REGISTER_BITS;
                loads += accesses;
            }
            _ => copies += accesses,
        }
        let load = plan.path(operand).get(1).ok_or("expected a load")?.row()?;
        if load.issue == Issue::Thread {
            // Each element of the fragments comes alone.
            apart += fragments * REGISTER_BITS / row.val_bits;
        }
    }
    let far = (copies - ACCESSES).max(0);
    let addresses = match strides {
        Strides::Known => far * 2 + loads * 2,
        Strides::Open => far * 4 + loads * 4,
    };
    Ok(accumulators + 2 * fragments + held + addresses + apart + BESIDE)
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
pub(super) fn check(plan: &Plan<'_>, strides: Strides, arch: Arch) -> Result<(), String> {
    let ([m, n, k], [wm, wn]) = (plan.tile, warps_of(plan));
    let limit = REGISTERS_PER_THREAD.min(REGISTERS / plan.threads()? / 8 * 8);
    let registers = registers(plan, strides)?;
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

/// The extent that is taken where only a launch knows it.
const UNKNOWN: i64 = 4096;

/// The elements of a tile, M times N times K, that a multiprocessor multiplies in a microsecond at the speed of 1000: the
/// fastest tile on an H200.
const SPEED: i128 = 1_900_000;

/// Picoseconds from the request of a tile of A and B to its arrival.
const LATENCY: i128 = 1_000_000;

/// Bytes that a multiprocessor gets of global memory in a microsecond, most of them from L2.
const BYTES: i128 = 60_000;

/// Picoseconds of a block before and behind its loop.
const AROUND: i128 = 500_000;

/// The time of a problem by a plan of some speed, in picoseconds, by which plans are compared: with it, and the speeds that
/// were measured, plans took 1.4 % longer than the fastest one over 17 shapes, 7 % at most (`docs/performance.md`).
///
/// Blocks are dealt out to multiprocessors evenly. Those that one runs at once take turns at its tensor cores and its share of
/// memory; a block alone waits for each of its tiles, of which all stages but one are under way. Errors: as of [`registers`].
pub(super) fn time(
    plan: &Plan<'_>,
    speed: i64,
    problem: &Problem<'_>,
    (arch, sms): (Arch, i64),
) -> Result<i128, String> {
    let tiles = |axis: usize| {
        let extent = problem.extents[axis].unwrap_or(UNKNOWN).max(1);
        i128::from((extent - 1) / plan.tile[axis].max(1) + 1)
    };
    let blocks = tiles(0) * tiles(1) * i128::from(problem.batch.unwrap_or(1).max(1));
    let sms = i128::from(sms.max(1));
    let own = (blocks + sms - 1) / sms;
    let at_once = i128::from(at_once(plan, arch)?).clamp(1, own);
    let [m, n, k] = plan.tile.map(i128::from);
    let stages = i128::from(plan.stages.max(2));
    let element = i128::from(plan.tiled_mma()?.atom().a.bits() / 8);
    let wave = |blocks: i128| {
        let multiplied = blocks * m * n * k * 1_000_000_000 / (SPEED * i128::from(speed.max(1)));
        let moved = blocks * (m + n) * k * element * 1_000_000 / BYTES;
        tiles(2) * multiplied.max(moved).max(LATENCY / (stages - 1)) + AROUND
    };
    let rest = own % at_once;
    Ok(own / at_once * wave(at_once) + if rest > 0 { wave(rest) } else { 0 })
}

/// Blocks of a plan that a multiprocessor runs at once.
fn at_once(plan: &Plan<'_>, arch: Arch) -> Result<u32, String> {
    let count = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    let registers = count(registers(plan, Strides::Known)?).min(cute_target::REGISTERS_PER_THREAD);
    let threads = count(plan.threads()?);
    let shared = u64::try_from(shared_memory(plan)?).unwrap_or(u64::MAX);
    let occupancy = arch.multiprocessor().occupancy(threads, registers, shared);
    Ok(occupancy.blocks)
}
