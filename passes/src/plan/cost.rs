//! Estimates of the registers and the shared memory that a plan takes, before anything is built; ptxas has the last word, and
//! a spill is an error.

use super::{Fed, Reduced, Scaled, sm80::LANES, warps_of};
use crate::arch::{REGISTERS, REGISTERS_PER_THREAD, WIDEST};
use crate::pipeline::{HELD_AHEAD, LONG};
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
    /// Only a launch knows of any neighbours: addresses have a product for each mode. The plan for which less was added (32x32x32 by two warps) spilled.
    Apart,
    /// Each access has an address of its own, and a condition of several coordinates. No measurement: with less than is added here, 2 of 700 random problems spilled, with it none of 400.
    Placed,
}

/// The facts about A and B in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sources<'c> {
    /// Their strides.
    pub strides: Strides,
    /// The sources that each is made of, where a prologue makes it.
    pub fed: [Option<Fed<'c>>; 2],
    /// The groups along K whose sums are multiplied by scales.
    pub scaled: Option<Scaled>,
    /// The outputs beside C that are reduced.
    pub reduced: Reduced,
}

/// Bits of a register.
const REGISTER_BITS: i64 = 32;

/// Multiplications of a multiprocessor in a cycle, at most: as schedules have them, of elements of 16 bits.
const MULTIPLIED: i64 = 512;

/// The registers of a thread, estimated: accumulators, two sets of fragments of one step along K, and addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    /// Registers beside addresses.
    values: i64,
    /// Copies of a thread in a turn.
    copies: i64,
    /// Loads of a thread into registers in a turn.
    loads: i64,
    /// Tells whether products are of single threads.
    of_threads: bool,
}

impl Registers {
    /// The registers of a plan. Errors: a plan that [`Plan::verify`] refuses.
    pub(super) fn of(plan: &Plan<'_>, sources: Sources<'_>) -> Result<Self, String> {
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
        // The sums of a group, and those of all of K.
        let sets = 1 + i64::from(sources.scaled.is_some());
        let accumulators = sets * of(Operand::C, m, n, atom.d)?;
        // Of what is loaded by vectors a thread has as much of its lines as one load brings.
        let at_once = match plan.loads_by_vectors(Operand::A)? {
            true => (k * atom.a.bits() / (LANES[1] * WIDEST)).max(1),
            false => 1,
        };
        let fragments = (of(Operand::A, m, k, atom.a)? + of(Operand::B, n, k, atom.b)?) / at_once;
        let (mut held, mut copies, mut loads, mut apart) = (0, 0, 0, 0);
        for (operand, fed) in [Operand::A, Operand::B].into_iter().zip(sources.fed) {
            let row = plan
                .path(operand)
                .first()
                .ok_or("expected a movement")?
                .row()?;
            let computes = plan.computes_fragments(operand)?;
            let [rows, columns] = plan.extents(operand);
            let accesses = rows * columns / (mma.num_threads() * row.num_val).max(1);
            // A tile that goes to shared memory through registers is loaded ahead.
            match row.completion {
                Completion::Immediate => {
                    let bits = fed.map_or(row.val_bits, |fed| fed.bits);
                    let vector =
                        |bits: i64| (row.num_val * bits).max(REGISTER_BITS) / REGISTER_BITS;
                    held += accesses * vector(bits);
                    loads += accesses;
                    if let Some(fed) = fed {
                        // What is loaded for a turn further ahead, what one vector becomes, and what is the same for all turns.
                        let lines = match plan.major(operand)? {
                            0 => row.num_val,
                            _ => accesses,
                        };
                        let ahead = match m * n * plan.tile[2] / MULTIPLIED {
                            LONG.. => 0,
                            _ => (accesses * vector(bits)).min(HELD_AHEAD),
                        };
                        held += ahead + 2 * vector(row.val_bits) + fed.held * lines;
                    }
                }
                _ => copies += accesses,
            }
            let load = plan.path(operand).get(1).ok_or("expected a load")?.row()?;
            if let Some(fed) = fed.filter(|_| computes) {
                // The elements as they are stored, and what is the same for all steps along K.
                let multiplied = if operand == Operand::A {
                    atom.a
                } else {
                    atom.b
                };
                let halves = of(operand, rows, k, multiplied)?;
                held += 2 * halves * row.val_bits / multiplied.bits() / at_once;
                // Four threads share the elements of a line, of which a register has two.
                held += fed.held * halves * 2 * LANES[1] / k.max(1);
            }
            if load.issue == Issue::Thread && !plan.loads_by_vectors(operand)? {
                // Each element of the fragments comes alone.
                apart += fragments * REGISTER_BITS / row.val_bits;
            }
        }
        Ok(Self {
            values: accumulators + 2 * fragments + held + apart + BESIDE,
            copies,
            loads,
            of_threads: atom.shape_mnk == [1, 1, 1],
        })
    }

    /// The number of registers where strides are known so far.
    pub(super) fn by(&self, strides: Strides) -> i64 {
        let (copies, loads) = (self.copies, self.loads);
        let far = (copies - ACCESSES).max(0);
        let addresses = match (strides, self.of_threads) {
            // Of products of single threads nothing is left of those registers: each load of an element has an address, too.
            (Strides::Known, true) => copies * 2,
            (Strides::Open | Strides::Apart, true) => copies * 6,
            (Strides::Placed, true) => (copies + loads) * 6,
            (Strides::Known, false) => far * 2 + loads * 2,
            (Strides::Open, false) => far * 4 + loads * 4,
            (Strides::Apart, false) => far * 4 + loads * 5,
            (Strides::Placed, false) => far * 6 + loads * 6,
        };
        self.values + addresses
    }
}

/// Bytes of shared memory: the rings of A and B, reused by the tile of C, placed as cute-allocate-shared does. Sums of a part of K
/// go to a workspace without it. Errors: as of [`Registers::of`].
fn shared_memory(plan: &Plan<'_>, reduced: Reduced) -> Result<i64, String> {
    let (buffers, _) = buffers(plan, reduced)?;
    Ok(shared::size(&buffers, &pack(&buffers, Buffer::meets)))
}

/// The tensors of a plan in shared memory, and the name of each. Errors: as of [`Registers::of`].
fn buffers(plan: &Plan<'_>, reduced: Reduced) -> Result<(Vec<Buffer>, Vec<String>), String> {
    let (mut buffers, mut names) = (Vec::new(), Vec::new());
    let is_stored = !plan.is_split() || plan.is_streamed();
    let staged = |operand: &Operand| *operand != Operand::C || is_stored;
    for operand in OPERANDS.into_iter().filter(staged) {
        let (tile, count) = plan.shared(operand)?;
        let position = usize::from(operand == Operand::C);
        buffers.push(Buffer {
            bytes: ring_bytes(&tile, count)?,
            align: tile.align,
            first: position,
            last: position,
        });
        names.push(format!("{operand:?}"));
    }
    // What threads leave for each other of outputs that are reduced, beside C's tile.
    let bytes = reduced.shared(plan)?;
    if bytes > 0 {
        buffers.push(Buffer {
            bytes,
            align: 16,
            first: 1,
            last: 1,
        });
        names.push("what threads reduce".to_owned());
    }
    Ok((buffers, names))
}

/// The bytes of each tensor of a plan in shared memory, in words; those of later tensors are bytes of earlier ones again. Errors: as of [`Registers::of`].
fn parts(plan: &Plan<'_>, reduced: Reduced) -> Result<String, String> {
    let (buffers, names) = buffers(plan, reduced)?;
    let part = |(buffer, name): (&Buffer, &String)| match buffer.first {
        0 => format!("{} by {name}", buffer.bytes),
        _ => format!("then {} by {name}", buffer.bytes),
    };
    let parts: Vec<String> = buffers.iter().zip(&names).map(part).collect();
    Ok(parts.join(", "))
}

/// Checks that an architecture has what a plan of these registers takes. Errors: what does not fit, with both figures; those of [`Registers::of`].
pub(super) fn check(
    plan: &Plan<'_>,
    registers: &Registers,
    sources: Sources<'_>,
    arch: Arch,
) -> Result<(), String> {
    let ([m, n, k], [wm, wn]) = (plan.tile, warps_of(plan));
    let limit = REGISTERS_PER_THREAD.min(REGISTERS / plan.threads()? / 8 * 8);
    let registers = registers.by(sources.strides);
    if registers > limit {
        return Err(format!(
            "{wm}x{wn} warps on {m}x{n} need about {registers} registers a thread, at most {limit} can be had"
        ));
    }
    let bytes = shared_memory(plan, sources.reduced)?;
    let most = i64::from(arch.max_smem());
    if bytes > most {
        return Err(format!(
            "{} stages of {m}x{n}x{k} need {bytes} bytes of shared memory, {arch} has {most}: {}",
            plan.stages,
            parts(plan, sources.reduced)?
        ));
    }
    Ok(())
}

/// Blocks of a plan that a multiprocessor runs at once.
pub(super) fn at_once(
    plan: &Plan<'_>,
    registers: &Registers,
    sources: Sources<'_>,
    arch: Arch,
) -> Result<u32, String> {
    let count = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    let registers = count(registers.by(Strides::Known)).min(cute_target::REGISTERS_PER_THREAD);
    let threads = count(plan.threads()?);
    let shared = u64::try_from(shared_memory(plan, sources.reduced)?).unwrap_or(u64::MAX);
    let occupancy = arch.multiprocessor().occupancy(threads, registers, shared);
    Ok(occupancy.blocks)
}
