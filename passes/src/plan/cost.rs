//! Estimates of what a plan takes, in registers, shared memory and time, before anything is built; ptxas has the last word, and
//! a spill is an error.

use super::{Fed, Reduced, warps_of};
use crate::arch::{REGISTERS, REGISTERS_PER_THREAD};
use crate::pipeline::{HELD_AHEAD, LONG};
use crate::shared::{self, Buffer, pack, ring_bytes};
use cute_arith::Op;
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
pub(super) struct Sources {
    /// Their strides.
    pub strides: Strides,
    /// The sources that each is made of, where a prologue makes it.
    pub fed: [Option<Fed>; 2],
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
    pub(super) fn of(plan: &Plan<'_>, sources: Sources) -> Result<Self, String> {
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
        for (operand, fed) in [Operand::A, Operand::B].into_iter().zip(sources.fed) {
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
            if load.issue == Issue::Thread {
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
    let mut buffers = Vec::new();
    let staged = |operand: &Operand| *operand != Operand::C || !plan.is_split();
    for operand in OPERANDS.into_iter().filter(staged) {
        let (tile, count) = plan.shared(operand)?;
        let position = usize::from(operand == Operand::C);
        buffers.push(Buffer {
            bytes: ring_bytes(&tile, count)?,
            align: tile.align,
            first: position,
            last: position,
        });
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
    }
    Ok(shared::size(&buffers, &pack(&buffers, Buffer::meets)))
}

/// Checks that an architecture has what a plan of these registers takes. Errors: what does not fit, with both figures; those of [`Registers::of`].
pub(super) fn check(
    plan: &Plan<'_>,
    registers: &Registers,
    sources: Sources,
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
            "{} stages of {m}x{n}x{k} need {bytes} bytes of shared memory, {arch} has {most}",
            plan.stages
        ));
    }
    Ok(())
}

/// The elements of a tile, M times N times K, that a multiprocessor multiplies in a microsecond at the speed of 1000: the
/// fastest tile on an H200.
const SPEED: i128 = 1_900_000;

/// Picoseconds from the request of a tile of A and B to its arrival.
const LATENCY: i64 = 1_000_000;

/// Bytes that a multiprocessor gets of global memory in a microsecond, most of them from L2.
const BYTES: i128 = 60_000;

/// Elements that a multiprocessor computes prologues of in a microsecond: a conversion, a product and their part of a store for each, some
/// 2.5 instructions of 128 lanes at 1.7 GHz. No measurement.
const COMPUTED: i128 = 87_000;

/// Picoseconds of a block before and behind its loop.
const AROUND: i64 = 500_000;

/// Picoseconds that a kernel whose warps have roles takes longer to start and to end: barriers, tensor maps, the first loads, the last stores. Of
/// tiles of 64 x 128 with 8 and 16 turns, 5.3 us were left that no turn takes, some 2 more than of a kernel of SM80.
const ROLES: i64 = 1_500_000;

/// Picoseconds that clusters take longer to start and to end: on an H200 0.6 to 1 us more of the same tile at 512^3 to 2048^3. What they save of L2's
/// bytes was not seen in a time there.
const CLUSTER: i64 = 800_000;

/// Picoseconds of a second kernel beside the bytes that it moves: a microsecond until what depends on another kernel runs, and two
/// that the smallest kernels take (those of 512^3 take 4.8, of which its loop is less than half).
const SECOND: i64 = 3_000_000;

/// Picoseconds for each kilobyte of partial sums that all multiprocessors write together, or read: 5 TB/s, as L2 gives somewhat more
/// than the 4.2 that a copy through memory reaches.
const SUMS: i64 = 205;

/// Picoseconds for each kilobyte of A and B: 4.1 TB/s of memory, which no plan that splits K is taken to exceed.
const MEMORY: i64 = 250;

/// The part of a time which is added to it, as it was not measured: one in so many. Of a plan that splits K, and of plans beside which others were measured.
pub(super) const DOUBT: i64 = 10;

/// Integers that a time is computed in: numbers, or values of a function that launches.
pub trait Arithmetic {
    /// An integer.
    type Value: Clone;
    /// The reason why one cannot be computed.
    type Error;

    /// A number.
    fn constant(&self, value: i64) -> Result<Self::Value, Self::Error>;

    /// An operation on integers, none of which is negative.
    fn apply(&self, op: Op, operands: [&Self::Value; 2]) -> Result<Self::Value, Self::Error>;
}

/// Numbers, of which those that 64 bits do not hold are the largest.
pub(super) struct Numbers;

impl Arithmetic for Numbers {
    type Value = i64;
    type Error = std::convert::Infallible;

    fn constant(&self, value: i64) -> Result<i64, Self::Error> {
        Ok(value)
    }

    fn apply(&self, op: Op, [a, b]: [&i64; 2]) -> Result<i64, Self::Error> {
        Ok(op.exact(*a, *b).unwrap_or(i64::MAX))
    }
}

/// The estimate of a plan's time, for any sizes; with it, and the speeds that were measured, plans took 1.4 % longer than the fastest one over 17 shapes, 7 % at
/// most (`docs/performance.md`).
///
/// Blocks are dealt out to multiprocessors evenly. Those that one runs at once take turns at its tensor cores and its share of
/// memory; a block alone waits for each of its tiles, of which all stages but one are under way.
///
/// A block of a plan that splits K has a part of the turns, and behind all blocks a second kernel moves the sums once more; that was not
/// measured yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    tile: [i64; 3],
    /// Blocks of a cluster, whose tiles [`Estimate::tile`] is.
    cluster: i64,
    /// Blocks that share a tile's sums.
    split: i64,
    /// Bytes of the sums of a tile.
    sums: i64,
    /// Bits of an element of A and B.
    bits: i64,
    /// Blocks that a multiprocessor runs at once.
    at_once: i64,
    /// Picoseconds that a multiprocessor is busy with a block's tile along K.
    busy: i64,
    /// Picoseconds that such a tile takes to arrive, at least.
    wait: i64,
    /// Picoseconds of the kernel beside its blocks.
    around: i64,
}

impl Estimate {
    /// The estimate of a plan of some speed and these registers; none where blocks stay, and have a multiprocessor each. Errors: as of [`Registers::of`].
    pub(super) fn of(
        plan: &Plan<'_>,
        speed: i64,
        registers: Option<&Registers>,
        sources: Sources,
        arch: Arch,
    ) -> Result<Self, String> {
        let [m, n, k] = plan.tile.map(i128::from);
        let atom = plan.tiled_mma()?;
        let atom = atom.atom();
        let multiplied = m * n * k * 1_000_000_000 / (SPEED * i128::from(speed.max(1)));
        let (mut moved, mut computed) = (0, 0);
        for ((lines, elem), fed) in [(m, atom.a), (n, atom.b)].into_iter().zip(sources.fed) {
            let bits = fed.map_or(elem.bits(), |fed| fed.bits);
            moved += lines * k * i128::from(bits);
            computed += if fed.is_some() { lines * k } else { 0 };
        }
        let moved = moved / 8 * 1_000_000 / BYTES;
        // Prologues are computed by the warps that multiply.
        let busy = multiplied + computed * 1_000_000 / COMPUTED;
        Ok(Self {
            tile: plan.step(),
            cluster: plan.blocks_of_cluster(),
            split: plan.split,
            sums: plan.tile[0] * plan.tile[1] * atom.d.bits() / 8,
            bits: atom.a.bits(),
            at_once: match registers {
                None => 1,
                Some(registers) => i64::from(at_once(plan, registers, sources, arch)?).max(1),
            },
            busy: i64::try_from(busy.max(moved)).unwrap_or(i64::MAX),
            wait: LATENCY / (plan.stages.max(2) - 1),
            around: match (plan.has_roles(), plan.blocks_of_cluster()) {
                (false, _) => 0,
                (true, 1) => ROLES,
                (true, _) => ROLES + CLUSTER,
            },
        })
    }

    /// The estimate of the same plan with another number of parts of K, where both are more than 1.
    pub(super) fn with_split(self, split: i64) -> Self {
        Self { split, ..self }
    }

    /// The time in picoseconds of a batch of products of M, N and K, on so many multiprocessors. Each is 1 at least.
    pub fn time<N: Arithmetic>(
        &self,
        n: &N,
        extents: &[N::Value; 3],
        batch: &N::Value,
        sms: &N::Value,
    ) -> Result<N::Value, N::Error> {
        let tiles = |axis: usize| {
            n.apply(
                Op::CeilDivS,
                [&extents[axis], &n.constant(self.tile[axis])?],
            )
        };
        let mut turns = tiles(2)?;
        let blocks = n.apply(Op::Mul, [&tiles(0)?, &tiles(1)?])?;
        let mut blocks = n.apply(Op::Mul, [&blocks, batch])?;
        if self.cluster > 1 {
            blocks = n.apply(Op::Mul, [&blocks, &n.constant(self.cluster)?])?;
        }
        if self.split > 1 {
            let split = n.constant(self.split)?;
            turns = n.apply(Op::CeilDivS, [&turns, &split])?;
            blocks = n.apply(Op::Mul, [&blocks, &split])?;
        }
        let own = n.apply(Op::CeilDivS, [&blocks, sms])?;
        let at_once = n.apply(Op::MinS, [&own, &n.constant(self.at_once)?])?;
        let wave = |blocks: &N::Value| {
            let busy = n.apply(Op::Mul, [blocks, &n.constant(self.busy)?])?;
            let turn = n.apply(Op::MaxS, [&busy, &n.constant(self.wait)?])?;
            let turns = n.apply(Op::Mul, [&turns, &turn])?;
            n.apply(Op::Add, [&turns, &n.constant(AROUND)?])
        };
        let whole = n.apply(Op::DivS, [&own, &at_once])?;
        let rest = n.apply(Op::RemS, [&own, &at_once])?;
        let whole = n.apply(Op::Mul, [&whole, &wave(&at_once)?])?;
        let is_rest = n.apply(Op::MinS, [&rest, &n.constant(1)?])?;
        let rest = n.apply(Op::Mul, [&is_rest, &wave(&rest)?])?;
        let mut time = n.apply(Op::Add, [&whole, &rest])?;
        if self.around > 0 {
            time = n.apply(Op::Add, [&time, &n.constant(self.around)?])?;
        }
        if self.split <= 1 {
            return Ok(time);
        }
        let floor = self.memory(n, extents, batch)?;
        let time = n.apply(Op::MaxS, [&time, &floor])?;
        let time = n.apply(Op::Add, [&time, &self.second(n, &blocks)?])?;
        let doubted = n.apply(Op::DivS, [&time, &n.constant(DOUBT)?])?;
        n.apply(Op::Add, [&time, &doubted])
    }

    /// The time that memory takes for A and B.
    fn memory<N: Arithmetic>(
        &self,
        n: &N,
        [of_m, of_n, of_k]: &[N::Value; 3],
        batch: &N::Value,
    ) -> Result<N::Value, N::Error> {
        let lines = n.apply(Op::Add, [of_m, of_n])?;
        let lines = n.apply(Op::Mul, [&lines, batch])?;
        let bits = n.apply(Op::Mul, [of_k, &n.constant(self.bits)?])?;
        let kilobytes = n.apply(Op::DivS, [&bits, &n.constant(8 << 10)?])?;
        let time = n.apply(Op::Mul, [&kilobytes, &n.constant(MEMORY)?])?;
        n.apply(Op::Mul, [&lines, &time])
    }

    /// The time of the second kernel, and of the blocks that leave it their sums.
    fn second<N: Arithmetic>(&self, n: &N, blocks: &N::Value) -> Result<N::Value, N::Error> {
        let moved = 2 * self.sums * SUMS / (1 << 10);
        let moved = n.apply(Op::Mul, [blocks, &n.constant(moved)?])?;
        n.apply(Op::Add, [&moved, &n.constant(SECOND)?])
    }

    /// The time for known sizes.
    pub(super) fn known(&self, extents: [i64; 3], batch: i64, sms: i64) -> i64 {
        let extents = extents.map(|extent| extent.max(1));
        let Ok(time) = self.time(&Numbers, &extents, &batch.max(1), &sms.max(1));
        time
    }
}

/// Blocks of a plan that a multiprocessor runs at once.
fn at_once(
    plan: &Plan<'_>,
    registers: &Registers,
    sources: Sources,
    arch: Arch,
) -> Result<u32, String> {
    let count = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    let registers = count(registers.by(Strides::Known)).min(cute_target::REGISTERS_PER_THREAD);
    let threads = count(plan.threads()?);
    let shared = u64::try_from(shared_memory(plan, sources.reduced)?).unwrap_or(u64::MAX);
    let occupancy = arch.multiprocessor().occupancy(threads, registers, shared);
    Ok(occupancy.blocks)
}
