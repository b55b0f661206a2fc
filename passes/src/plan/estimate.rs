//! Estimates of the time that a plan takes, for any sizes, before anything is built.

mod lines;
mod numbers;
mod roles;

use super::{
    Access,
    cost::{Registers, Sources, at_once},
    warps_of,
};
use crate::{arch::WARP, launch::GRID_DEPENDENCIES};
use cute_arith::Op;
use cute_ir::{plan::Plan, types};
use cute_layout::Operand;
use cute_target::Arch;
use lines::{Lines, Outside, outside, runs_of_line};
pub use numbers::Arithmetic;
pub(super) use numbers::Numbers;

/// The elements of a tile, M times N times K, that a multiprocessor multiplies in a microsecond at the speed of 1000: the
/// fastest tile of warps on an H200.
const SPEED: i128 = 1_640_000;

/// Picoseconds from the request of a tile of A and B to its arrival, where warps copy.
const LATENCY: i64 = 1_000_000;

/// Bytes that a multiprocessor gets of global memory in a microsecond by copies of warps, most of them from L2.
const BYTES: i128 = 52_000;

/// Elements that a multiprocessor computes prologues of in a microsecond, beside products of other warps. It and the next two were fitted to 71 plans of six products of
/// weights of bytes with a scale for each column, on an H200.
const COMPUTED: i128 = 18_000;

/// Picoseconds of a turn of a block that computes prologues, at least, beside its elements and half of its products: it waits for what it has loaded, and for itself twice.
const COMPUTED_AHEAD: i128 = 150_000;

/// Picoseconds of such a turn for each element of a warp.
const COMPUTED_BY_WARP: i128 = 195;

/// Elements that a multiprocessor computes prologues of in a microsecond where threads compute in registers what they multiply, each as often as warps have its line. It and the
/// next one were fitted to 125 plans of five products of weights of bytes, on an H200.
const COMPUTED_IN_REGISTERS: i128 = 30_000;

/// Picoseconds of a turn of a block that computes in registers, alone, for each element of a warp, beside its products.
const IN_REGISTERS_BY_WARP: i128 = 59;

/// Picoseconds of a block of warps before and behind its loop.
const AROUND: i64 = 500_000;

/// Picoseconds of a kernel of blocks of warps beside its blocks, in a row of kernels.
const START: i64 = 1_520_000;

/// The time of a second kernel, which adds partial sums up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Second {
    /// Picoseconds beside the bytes that it moves.
    start: i64,
    /// Picoseconds for each kilobyte of partial sums that all multiprocessors write together, or read.
    kilobyte: i64,
}

/// A microsecond until what depends on another kernel runs, and two that the smallest kernels take; 5 TB/s, as L2 gives somewhat more than the 4.2 that a copy
/// through memory reaches.
const BEHIND: Second = Second {
    start: 3_000_000,
    kilobyte: 205,
};

/// A second kernel that starts beside the first one and waits for its end alone, as from sm_90 on.
const STARTED_BESIDE: Second = Second {
    start: 820_000,
    kilobyte: 268,
};

/// Picoseconds for each kilobyte of A, B and C, where lines of a tile have less than 256 bytes along K, and where they have as many: 4 and 4.8 TB/s of memory. Copies
/// reach 4.1 on an H200.
const MEMORY: [i64; 2] = [250, 210];

/// Picoseconds that a turn takes longer where elements of A or B are narrower than what can be copied asynchronously, and go through registers one by one: fitted to
/// eleven shapes with odd K on an H200 (`docs/performance/any-shape.md`).
const ONE_BY_ONE: i64 = 500_000;

/// Bits of an access to memory by asynchronous copies, at least.
const ASYNCHRONOUS: i64 = 32;

/// Picoseconds of the kernel that copies factors into a workspace, beside its bytes.
const PACKING: i64 = 4_000_000;

/// The part of the shorter one of two times, of memory and of multiprocessors, that is added to the longer one: one in so many.
const BESIDE: i64 = 10;

/// The part of a time which is added to it, as it was not measured: one in so many. Of plans beside which others were measured.
pub(super) const DOUBT: i64 = 10;

/// Instructions of threads that a multiprocessor executes in a cycle.
const LANES: i64 = 128;

/// Blocks of a cluster, from which on a chip may not have room for as many as it has multiprocessors: those of a GPC alone run a cluster, and 18 or 16 of them are no
/// multiple of more than two for sure.
const LARGE: i64 = 4;

/// The part of the multiprocessors that is left out of the count of large clusters: one in so many. An H200 with 132 runs 32 clusters of four.
pub(super) const LEFT_OUT: i64 = 16;

/// The clusters of so many blocks that a chip of so many multiprocessors runs at once, a block on each; for kernels whose blocks stay.
pub(crate) fn clusters_at_once<N: Arithmetic>(
    n: &N,
    sms: &N::Value,
    blocks: i64,
) -> Result<N::Value, N::Error> {
    let clusters = match blocks {
        ..2 => return Ok(sms.clone()),
        2..LARGE => n.apply(Op::DivS, [sms, &n.constant(blocks)?])?,
        _ => {
            let usable = n.apply(Op::Mul, [sms, &n.constant(LEFT_OUT - 1)?])?;
            n.apply(Op::DivS, [&usable, &n.constant(LEFT_OUT * blocks)?])?
        }
    };
    n.apply(Op::MaxS, [&clusters, &n.constant(1)?])
}

/// A tile of warpgroups, before it is a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileOfRoles {
    /// M, N and K of the tile.
    pub tile: [i64; 3],
    /// Warpgroups of a team, which multiply it.
    pub groups: i64,
    /// Teams of a block.
    pub teams: i64,
    /// Blocks along M, N and K of a cluster.
    pub cluster: [i64; 3],
    /// Places of the ring of A and B.
    pub stages: i64,
    /// Tiles in shared memory that parts of C go out through in turn, and their columns; 0 where that is to be chosen.
    pub out: [i64; 2],
    /// Blocks that share the tile, a range of K each.
    pub split: i64,
    /// Tells whether what is multiplied of A is computed in registers.
    pub computes: bool,
    /// The numbers that each turn reads from global memory, of which what is multiplied is computed.
    pub reads: Reads,
}

/// The numbers beside a factor that a turn reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reads {
    /// None: they are held for all turns.
    Nothing,
    /// One for a row, or for some rows.
    Groups,
    /// One for each element along K.
    All,
}

/// The estimate of a plan's time, for any sizes.
///
/// Blocks are dealt out to multiprocessors evenly. Those that one runs at once take turns at its tensor cores and its share of
/// memory; a block alone waits for each of its tiles, of which all stages but one are under way. Global memory gives A and B, and takes C, no faster than it can.
///
/// A block of a plan that splits K has a part of the turns, and behind all blocks a second kernel moves the sums once more. Where ranges along K are dealt out, all blocks that run at once
/// have as many turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    tile: [i64; 3],
    /// Blocks of a cluster, whose tiles [`Estimate::tile`] is.
    cluster: i64,
    /// Blocks that share a tile's sums.
    split: i64,
    /// Blocks of a multiprocessor that ranges along K are dealt out to, of which so many share a tile at most; 0 for none.
    stream: i64,
    /// Blocks of a cluster that share them.
    shared: i64,
    /// Tells whether M is the mean of the rows of a group, and the batch the number of groups.
    of_groups: bool,
    /// Bytes of the sums of a tile.
    sums: i64,
    /// Bits of an element of A, B and C.
    bits: [i64; 2],
    /// Bits of an element of A and of B, where these are copied into a workspace first; 0 where they are not.
    packed: [i64; 2],
    /// Picoseconds for each kilobyte of A, B and C from and to memory.
    memory: i64,
    /// Blocks that a multiprocessor runs at once.
    at_once: i64,
    /// Picoseconds that a multiprocessor is busy with a block's tile along K.
    busy: i64,
    /// The same by where lines of A and B begin; none where that is known.
    lines: Option<Lines>,
    /// The time that lines outside of A and of B add to such a tile, where somebody waits for them.
    outside: Outside,
    /// Picoseconds that such a tile takes to arrive, at least.
    wait: i64,
    /// Picoseconds of a tile beside its turns.
    beside: i64,
    /// Teams of a block, of which one multiplies while the sums of the others go out.
    teams: i64,
    /// Picoseconds of the kernel beside its blocks.
    around: i64,
    /// Picoseconds that each of a block's first turns takes longer, as lines are known to begin elsewhere than at multiples of 128 bytes.
    late: i64,
    /// Picoseconds that a turn takes longer where the chip is at the limit of its power.
    slower: i64,
    /// Picoseconds that all turns of a multiprocessor would have taken longer until then, and have not.
    before: i64,
    /// The time of the kernel that adds parts of K up.
    second: Second,
    /// Elements of A and of B that are one in memory, of those that are multiplied.
    same: [i64; 2],
    /// Tells whether M and N of the tile are N and M of what a time is asked for.
    exchanged: bool,
}

/// Picoseconds for each kilobyte from memory, of tiles of so many elements of so many bits along K.
fn memory(k: i64, bits: i64) -> i64 {
    MEMORY[usize::from(k * bits >= 256 * 8)]
}

/// The work of a block where ranges along K are dealt out.
struct Dealt<T> {
    /// Turns of its tiles of whole waves.
    whole: T,
    /// Turns of its range.
    last: T,
    /// Blocks of a multiprocessor that have a range at once.
    at_once: T,
    /// Tiles that it stores.
    tiles: T,
    /// Tiles of sums that all blocks leave.
    sums: T,
}

impl Estimate {
    /// The estimate of a plan by which warps copy and multiply, of some speed and these registers. Errors: as of [`Registers::of`].
    pub(super) fn of_warps(
        plan: &Plan<'_>,
        speed: i64,
        registers: &Registers,
        sources: Sources<'_>,
        arch: Arch,
    ) -> Result<Self, String> {
        let [m, n, k] = plan.tile.map(i128::from);
        let atom = plan.tiled_mma()?;
        let atom = atom.atom();
        let multiplied = m * n * k * 1_000_000_000 / (SPEED * i128::from(speed.max(1)));
        let (mut moved, mut narrower) = (0, i64::MAX);
        let (mut computed, mut in_registers) = (0, 0);
        let mut is_alone = false;
        let [warps_m, warps_n] = warps_of(plan).map(i128::from);
        for (operand, lines, elem) in [(Operand::A, m, atom.a), (Operand::B, n, atom.b)] {
            let fed = sources.fed[operand as usize];
            // As memory has them.
            let bits = fed.map_or(elem.bits(), |fed| fed.bits);
            narrower = narrower.min(bits);
            moved += lines * k * i128::from(bits);
            match fed {
                Some(_) if plan.computes_fragments(operand)? => {
                    let again = if operand == Operand::A {
                        warps_n
                    } else {
                        warps_m
                    };
                    in_registers += lines * k * again;
                }
                Some(_) => computed += lines * k,
                None => {}
            }
            if let (Some(first), None) = (plan.path(operand).first(), fed) {
                let row = first.row()?;
                let is_narrow = row.num_val * row.val_bits < ASYNCHRONOUS;
                is_alone |= is_narrow;
            }
        }
        let moved = moved / 8 * 1_000_000 / BYTES;
        // Prologues are computed, and single elements copied, by the warps that multiply, some beside the products of others.
        let busy = multiplied
            .max(computed * 1_000_000 / COMPUTED)
            .max(in_registers * 1_000_000 / COMPUTED_IN_REGISTERS);
        let warps = i128::from(plan.tiled_mma()?.num_threads() / WARP);
        let mut alone = match computed {
            0 => 0,
            _ => COMPUTED_AHEAD + COMPUTED_BY_WARP * computed / warps.max(1) + multiplied / 2,
        };
        if in_registers > 0 {
            let own = IN_REGISTERS_BY_WARP * in_registers / warps.max(1);
            alone = alone.max(own + multiplied);
        }
        Ok(Self {
            tile: plan.step(),
            cluster: plan.blocks_of_cluster(),
            split: plan.split,
            stream: 0,
            shared: 1,
            of_groups: false,
            sums: plan.tile[0] * plan.tile[1] * atom.d.bits() / 8,
            bits: [narrower, types::elem(plan.element(Operand::C)?)?.bits()],
            packed: [0; 2],
            memory: memory(plan.tile[2], narrower),
            at_once: i64::from(at_once(plan, registers, sources, arch)?).max(1),
            busy: i64::try_from(busy.max(moved))
                .unwrap_or(i64::MAX)
                .saturating_add(if is_alone { ONE_BY_ONE } else { 0 }),
            lines: None,
            outside: Outside::default(),
            wait: (i64::try_from(alone).unwrap_or(i64::MAX))
                .max(LATENCY / (plan.stages.max(2) - 1)),
            beside: AROUND,
            teams: 1,
            around: START,
            late: 0,
            slower: 0,
            before: 0,
            second: match arch.has(GRID_DEPENDENCIES) {
                true => STARTED_BESIDE,
                false => BEHIND,
            },
            same: [1; 2],
            exchanged: false,
        })
    }

    /// The estimate of a tile of warpgroups, whose blocks stay and have a multiprocessor each; of elements of so many bits of A and B in shared memory, of the sums and of C,
    /// and accesses to A, B and C; of groups of rows or not.
    pub(super) fn of_roles(
        of: TileOfRoles,
        [bits_a, bits_b, sum_bits, out_bits]: [i64; 4],
        accesses: &[Access],
        has_groups: bool,
    ) -> Self {
        let ([m, n, k], [cm, cn, ck]) = (of.tile, of.cluster);
        let blocks = cm * cn * ck;
        let bits = [bits_a, bits_b];
        // In parts of 128 bytes along K: each is two cycles for a row and a column of 64 x 8 sums. A row of less takes as long as one to arrive, and what it has to be multiplied.
        let [parts_a, parts] = bits.map(|bits| (k * bits / 1024).max(1));
        let [of_row_a, of_row_b] = bits.map(|bits| k * bits);
        let atoms = m / 64;
        let multiplied = atoms * 2 * n * 1000 * of_row_b / 1024;
        // Threads load pairs of elements where they compute what is multiplied, and of bytes a warp half of what shared memory gives at once.
        let of_a = if of.computes {
            m * of_row_a
        } else {
            atoms * 64 * of_row_b
        };
        let shared = of_a + m * of_row_a + (atoms * n + n) * of_row_b;
        let shared = shared / 1024 * roles::SHARED;
        let busy = multiplied.max(shared) * roles::CYCLE / 1000;
        // Half a line that begins at a multiple of that is in one.
        let is_aligned = |factor: usize, access: &Access| {
            let line = match access.major {
                1 => 1024.min(k * bits[factor]),
                _ => 1024,
            };
            access.pitch * bits[factor] % line.max(1) == 0
        };
        let factors = [accesses.first(), accesses.get(1)];
        // Bases are taken to begin at multiples of 128 bytes, and lines to lie one behind the other.
        let apart = [0, 1].map(|factor: usize| {
            let is_open = |access: &&Access| !access.known && !is_aligned(factor, access);
            let open = factors[factor].filter(is_open)?;
            Some((open.extent_of_lines(factor), 1024 / bits[factor]))
        });
        let elsewhere = [0, 1].map(|factor: usize| {
            let is = |access: &Access| access.known && !is_aligned(factor, access);
            factors[factor].is_some_and(is)
        });
        let are_neighbours =
            !has_groups && of.split == 1 && matches!((blocks, of.groups, of.teams), (1, ..=1, 1));
        let share = match are_neighbours {
            _ if has_groups => roles::LINE_OF_GROUPS,
            true => roles::LINE_OF_NEIGHBOURS,
            false => 100,
        };
        let late = match are_neighbours {
            true => {
                let lines = m * parts_a + n * parts;
                lines * roles::LINE[1] * roles::NEIGHBOURS_ELSEWHERE / 100
            }
            false => 0,
        };
        let is_late = elsewhere.contains(&true);
        // A tile that lies along M or N comes in runs of what its swizzle spans.
        let runs = [0, 1].map(|factor: usize| match factors[factor] {
            Some(access) if access.major == 0 => runs_of_line([m, n][factor] * bits[factor] / 8),
            _ => 1,
        });
        let moved_of = |is_elsewhere: [usize; 2]| {
            let of = |factor: usize, lines: i64, sharers: i64| {
                let is = is_elsewhere[factor];
                let each = match runs[factor] {
                    1 => roles::LINE[is] * share / 100,
                    runs => roles::RUN[is] * runs,
                };
                lines * each / sharers
            };
            of(0, m * parts_a, cn) + of(1, n * parts, cm)
        };
        let moved = moved_of(elsewhere.map(usize::from));
        let others = of.stages.max(2) - 1;
        let latency = match cm * cn {
            1 => roles::LATENCY / others,
            _ => (roles::LATENCY_OF_CLUSTER / others).max(roles::TURN_OF_CLUSTER),
        };
        let computed = match of.computes {
            true => {
                multiplied * roles::CYCLE / 1000
                    + roles::COMPUTED_TURN
                    + match of.reads {
                        Reads::Nothing => 0,
                        Reads::Groups => roles::READ_GROUPS,
                        Reads::All => roles::READ_ALL,
                    }
                    + roles::COMPUTED * m * k / 1024
            }
            false => 0,
        };
        let busy_of = |moved: i64| {
            let mut times = [busy, moved, latency];
            times.sort_unstable();
            let [_, second, longest] = times;
            match cm * cn {
                ..LARGE => computed.max(longest + second * roles::SECOND / 100),
                _ => latency.max(busy.max(moved) + busy.min(moved) * roles::SECOND / 100),
            }
        };
        let busy_by_lines = [0, 1].map(|of_a: usize| {
            [0, 1].map(|of_b: usize| {
                let elsewhere = |factor: usize, is: usize| match apart[factor] {
                    Some(_) => is,
                    None => usize::from(elsewhere[factor]),
                };
                busy_of(moved_of([elsewhere(0, of_a), elsewhere(1, of_b)]))
            })
        });
        // Lines that only a launch knows are taken to begin at multiples of 128 bytes where nothing else is asked.
        let busy = busy_by_lines[0][0];
        let lines = (m + n) * 1_000_000 / (m * n) - roles::LINES;
        let hot = multiplied * roles::CYCLE / 1000 * roles::HOT / 100;
        let hot = hot + hot * lines * roles::POWER_OF_LINE / 1_000_000;
        // Until it is hot each turn takes what it takes otherwise.
        let slower = (hot - busy).max(0);
        let before = roles::SHORT * slower / hot.max(1);
        let groups = of.groups.max(1);
        let beside =
            roles::TILE + roles::GROUP * (groups - 1) + roles::SUMS * m * n / (1024 * groups * ck);
        let ahead = match of.out[0] {
            ..2 => 0,
            _ => roles::COLUMN_AHEAD * n,
        };
        let beside = beside - ahead;
        let exchanged = match ck {
            1 => 0,
            _ => roles::EXCHANGE + roles::EXCHANGED * m * n * (ck - 1) / (1024 * ck),
        };
        let beside = beside + exchanged;
        let estimate = Self {
            tile: [m * cm, n * cn, k],
            cluster: blocks,
            split: of.split,
            stream: 0,
            shared: ck,
            of_groups: false,
            sums: m * n * sum_bits / 8,
            bits: [bits_a.min(bits_b), out_bits],
            packed: [0; 2],
            memory: memory(k, bits_a.min(bits_b)),
            at_once: 1,
            busy,
            lines: (busy_by_lines != [[busy; 2]; 2]).then_some(Lines {
                late: if is_late { 0 } else { late },
                apart,
                busy: busy_by_lines,
            }),
            outside: Outside {
                moved,
                // Of lines along K the last tile has as many as are inside.
                each: [0, 1].map(|factor: usize| match factors[factor] {
                    Some(access) if access.major == 1 => 0,
                    _ => outside(k, bits[factor]),
                }),
            },
            wait: 0,
            beside: match of.teams {
                1 => beside,
                _ => beside * roles::BESIDE_OTHERS / 100,
            },
            teams: of.teams,
            around: roles::START + if blocks > 1 { roles::CLUSTER } else { 0 },
            late: if is_late { late } else { 0 },
            slower,
            before,
            second: match accesses.get(2) {
                Some(access) if access.major == 0 => Second {
                    start: roles::ADDED_BY_COLUMNS,
                    ..STARTED_BESIDE
                },
                _ => STARTED_BESIDE,
            },
            same: [1; 2],
            exchanged: false,
        };
        match has_groups {
            true => estimate.with_groups(),
            false => estimate,
        }
    }

    /// The estimate of the same tile where the last tiles of elements of so many bits have their lines outside, too.
    pub(super) fn with_lines_outside(self, of: TileOfRoles, bits: i64) -> Self {
        let outside = Outside {
            each: [outside(of.tile[2], bits); 2],
            ..self.outside
        };
        Self { outside, ..self }
    }

    /// The estimate of the same tile with an epilogue of so many instructions for each element, and so many bits that it reads and writes beside C.
    pub(super) fn with_epilogue(self, of: TileOfRoles, work: i64, bits: i64) -> Self {
        let [m, n, _] = of.tile;
        let each = work * roles::CYCLE / LANES + bits * roles::BIT;
        let beside = m * n * each / of.cluster[2];
        let beside = match of.teams {
            1 => beside,
            _ => beside * roles::EPILOGUE_BESIDE_OTHERS / 100,
        };
        let [of_factors, of_c] = self.bits;
        Self {
            bits: [of_factors, of_c + bits],
            beside: self.beside.saturating_add(beside),
            ..self
        }
    }

    /// The estimate of the same plan for groups of rows, whose mean M is.
    pub(super) fn with_groups(self) -> Self {
        let [_, of_b] = self.outside.each;
        Self {
            of_groups: true,
            // Behind a group's rows are those of the next.
            outside: Outside {
                each: [0, of_b],
                ..self.outside
            },
            ..self
        }
    }

    /// The estimate of the same plan where so many elements of A and of B that are multiplied are one in memory.
    pub(super) fn with_same(self, same: [i64; 2]) -> Self {
        Self { same, ..self }
    }

    /// The estimate of the same plan for the transposed product.
    pub(super) fn exchanged(self) -> Self {
        Self {
            exchanged: !self.exchanged,
            ..self
        }
    }

    /// The estimate of the same plan with another number of parts of K, where both are more than 1.
    pub(super) fn with_split(self, split: i64) -> Self {
        Self { split, ..self }
    }

    /// The estimate of the same plan where ranges along K are dealt out to so many blocks of a multiprocessor; 0 for none.
    pub(super) fn with_stream(self, stream: i64) -> Self {
        Self { stream, ..self }
    }

    /// The estimate of the same plan where factors of elements of so many bits are copied into a workspace first; 0 of one that is not.
    pub(super) fn with_packed(self, packed: [i64; 2]) -> Self {
        Self { packed, ..self }
    }

    /// The time in picoseconds of a batch of products of M, N and K, on so many multiprocessors. Each is 1 at least.
    pub fn time<N: Arithmetic>(
        &self,
        n: &N,
        extents: &[N::Value; 3],
        batch: &N::Value,
        sms: &N::Value,
    ) -> Result<N::Value, N::Error> {
        let [of_m, of_n, of_k] = extents.clone();
        let extents = &match self.exchanged {
            true => [of_n, of_m, of_k],
            false => [of_m, of_n, of_k],
        };
        let time = self.time_of_product(n, extents, batch, sms)?;
        match self.packed {
            [0, 0] => Ok(time),
            packed => n.apply(Op::Add, [&time, &self.packing(n, extents, batch, packed)?]),
        }
    }

    /// The time that the copies of factors into a workspace take, which read and write each element once.
    fn packing<N: Arithmetic>(
        &self,
        n: &N,
        [of_m, of_n, of_k]: &[N::Value; 3],
        batch: &N::Value,
        packed: [i64; 2],
    ) -> Result<N::Value, N::Error> {
        let mut all = n.constant(PACKING)?;
        let factors = [of_m, of_n].into_iter().zip(packed);
        for (lines, bits) in factors.filter(|(_, bits)| *bits > 0) {
            let moved = n.apply(Op::Mul, [of_k, &n.constant(2 * bits * MEMORY[0])?])?;
            let moved = n.apply(Op::DivS, [&moved, &n.constant(8 << 10)?])?;
            let moved = n.apply(Op::Mul, [&moved, lines])?;
            let moved = n.apply(Op::Mul, [&moved, batch])?;
            all = n.apply(Op::Add, [&all, &moved])?;
        }
        Ok(all)
    }

    /// The time of the products, from factors as the kernel is given them.
    fn time_of_product<N: Arithmetic>(
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
        let along = [tiles(0)?, tiles(1)?];
        let mut blocks = match self.of_groups {
            true => n.apply(
                Op::Mul,
                [&self.tiles_of_groups(n, &extents[0], batch)?, &along[1]],
            )?,
            false => {
                let blocks = n.apply(Op::Mul, [&along[0], &along[1]])?;
                n.apply(Op::Mul, [&blocks, batch])?
            }
        };
        let mut at_once = sms.clone();
        if self.cluster > 1 {
            let own = n.constant(self.cluster)?;
            blocks = n.apply(Op::Mul, [&blocks, &own])?;
            if self.cluster >= LARGE {
                let clusters = clusters_at_once(n, sms, self.cluster)?;
                at_once = n.apply(Op::Mul, [&clusters, &own])?;
            }
        }
        let dealt = match self.stream {
            0 => None,
            _ => Some(self.dealt(n, [&blocks, &turns], sms)?),
        };
        if self.split > 1 && dealt.is_none() {
            let split = n.constant(self.split)?;
            turns = n.apply(Op::CeilDivS, [&turns, &split])?;
            blocks = n.apply(Op::Mul, [&blocks, &split])?;
        }
        if self.shared > 1 {
            turns = n.apply(Op::CeilDivS, [&turns, &n.constant(self.shared)?])?;
        }
        let own = n.apply(Op::CeilDivS, [&blocks, &at_once])?;
        let [along_m, along_n] = &along;
        let busy_of_turn = self.busy(n, extents, [along_m, along_n], [batch, &own])?;
        let wave = |blocks: &N::Value| {
            let busy = n.apply(Op::Mul, [blocks, &busy_of_turn])?;
            let turn = n.apply(Op::MaxS, [&busy, &n.constant(self.wait)?])?;
            let turns = n.apply(Op::Mul, [&turns, &turn])?;
            n.apply(Op::Add, [&turns, &n.constant(self.beside)?])
        };
        let time = if let Some(dealt) = &dealt {
            let part = |turns: &N::Value, at_once: &N::Value| {
                let busy = n.apply(Op::Mul, [at_once, &busy_of_turn])?;
                let turn = n.apply(Op::MaxS, [&busy, &n.constant(self.wait)?])?;
                n.apply(Op::Mul, [turns, &turn])
            };
            let whole = part(&dealt.whole, &n.constant(self.stream)?)?;
            let last = part(&dealt.last, &dealt.at_once)?;
            let turns = n.apply(Op::Add, [&whole, &last])?;
            let beside = n.apply(Op::Mul, [&dealt.tiles, &n.constant(self.beside)?])?;
            n.apply(Op::Add, [&turns, &beside])?
        } else if self.teams > 1 {
            let beside = n.constant(self.beside)?;
            let turns = n.apply(Op::Mul, [&turns, &busy_of_turn])?;
            let turns = n.apply(Op::Add, [&turns, &n.constant(roles::HANDOVER)?])?;
            let both = n.apply(Op::Add, [&turns, &beside])?;
            let both = n.apply(Op::DivS, [&both, &n.constant(self.teams)?])?;
            let each = n.apply(Op::MaxS, [&turns, &both])?;
            let all = n.apply(Op::Mul, [&own, &each])?;
            n.apply(Op::Add, [&all, &beside])?
        } else if self.at_once == 1 {
            n.apply(Op::Mul, [&own, &wave(&n.constant(1)?)?])?
        } else {
            let at_once = n.apply(Op::MinS, [&own, &n.constant(self.at_once)?])?;
            let whole = n.apply(Op::DivS, [&own, &at_once])?;
            let rest = n.apply(Op::RemS, [&own, &at_once])?;
            let whole = n.apply(Op::Mul, [&whole, &wave(&at_once)?])?;
            let is_rest = n.apply(Op::MinS, [&rest, &n.constant(1)?])?;
            let rest = n.apply(Op::Mul, [&is_rest, &wave(&rest)?])?;
            n.apply(Op::Add, [&whole, &rest])?
        };
        let floor = self.memory(n, extents, batch)?;
        let longer = n.apply(Op::MaxS, [&time, &floor])?;
        let shorter = n.apply(Op::MinS, [&time, &floor])?;
        let beside = n.apply(Op::DivS, [&shorter, &n.constant(BESIDE)?])?;
        let time = n.apply(Op::Add, [&longer, &beside])?;
        let mut time = n.apply(Op::Add, [&time, &n.constant(self.around)?])?;
        let late = match self.lines {
            _ if self.late > 0 => Some(n.constant(self.late)?),
            Some(lines) => lines.late(n, extents)?,
            None => None,
        };
        if let Some(late) = late {
            let first = n.apply(Op::MinS, [&turns, &n.constant(roles::FIRST_TURNS)?])?;
            time = n.apply(Op::Add, [&time, &n.apply(Op::Mul, [&first, &late])?])?;
        }
        if self.slower > 0 {
            let before = n.constant(self.before)?;
            let slower = n.apply(Op::Mul, [&own, &turns])?;
            let slower = n.apply(Op::Mul, [&slower, &n.constant(self.slower)?])?;
            // No number is negative.
            let slower = n.apply(Op::MaxS, [&slower, &before])?;
            let slower = n.apply(Op::Sub, [&slower, &before])?;
            time = n.apply(Op::Add, [&time, &slower])?;
        }
        if self.split <= 1 {
            return Ok(time);
        }
        let sums = dealt.map_or(blocks, |dealt| dealt.sums);
        n.apply(Op::Add, [&time, &self.second(n, &sums)?])
    }

    /// Computes what is whose where so many tiles of so many turns are dealt out by even ranges.
    fn dealt<N: Arithmetic>(
        &self,
        n: &N,
        [tiles, turns]: [&N::Value; 2],
        sms: &N::Value,
    ) -> Result<Dealt<N::Value>, N::Error> {
        let wave = n.apply(Op::Mul, [sms, &n.constant(self.stream)?])?;
        // Where two share a tile at most, ranges are of a tile or more, and the last whole wave is dealt out as well.
        let is_of_two = self.split <= 2;
        let (of_wave, dealt) = match is_of_two {
            true => (n.constant(0)?, tiles.clone()),
            false => (
                n.apply(Op::DivS, [tiles, &wave])?,
                n.apply(Op::RemS, [tiles, &wave])?,
            ),
        };
        let is_some = n.apply(Op::MinS, [&dealt, &n.constant(1)?])?;
        let all = n.apply(Op::Mul, [&dealt, turns])?;
        let even = n.apply(Op::CeilDivS, [&all, &wave])?;
        let shares = n.constant((self.split - 1).max(1))?;
        let least = n.apply(Op::CeilDivS, [turns, &shares])?;
        let last = n.apply(Op::MaxS, [&even, &least])?;
        let ranges = n.apply(Op::Mul, [&dealt, &shares])?;
        let ranges = n.apply(Op::MinS, [&ranges, &wave])?;
        // Of a range and of a tile one segment each.
        let segments = match is_of_two {
            true => n.apply(Op::Mul, [&ranges, &n.constant(2)?])?,
            false => n.apply(Op::Add, [&ranges, &dealt])?,
        };
        Ok(Dealt {
            whole: n.apply(Op::Mul, [&of_wave, turns])?,
            last: n.apply(Op::Mul, [&is_some, &last])?,
            at_once: n.apply(Op::CeilDivS, [&ranges, sms])?,
            tiles: n.apply(Op::CeilDivS, [tiles, &wave])?,
            sums: segments,
        })
    }

    /// Tiles along M of so many groups of so many rows on average: of each group the last tile is half full on average, and each has one.
    fn tiles_of_groups<N: Arithmetic>(
        &self,
        n: &N,
        mean: &N::Value,
        groups: &N::Value,
    ) -> Result<N::Value, N::Error> {
        let height = self.tile[0];
        let doubled = n.apply(Op::Mul, [mean, &n.constant(2)?])?;
        let doubled = n.apply(Op::Add, [&doubled, &n.constant(height)?])?;
        let doubled = n.apply(Op::Mul, [&doubled, groups])?;
        let tiles = n.apply(Op::CeilDivS, [&doubled, &n.constant(2 * height)?])?;
        n.apply(Op::MaxS, [&tiles, groups])
    }

    /// The time that a multiprocessor is busy with a block's tile along K, where there are so many tiles along M and N of so many products, and each multiprocessor has so
    /// many of them or of their parts.
    fn busy<N: Arithmetic>(
        &self,
        n: &N,
        extents: &[N::Value; 3],
        tiles: [&N::Value; 2],
        [batch, own]: [&N::Value; 2],
    ) -> Result<N::Value, N::Error> {
        let busy = match self.lines {
            Some(lines) => lines.busy(n, extents)?,
            None => n.constant(self.busy)?,
        };
        let Outside { moved, each } = self.outside;
        if each == [0; 2] {
            return Ok(busy);
        }
        // Of tiles along an axis, those of the last line have lines outside.
        let mut all = None;
        for axis in [0, 1].into_iter().filter(|axis| each[*axis] > 0) {
            let covered = n.apply(Op::Mul, [tiles[axis], &n.constant(self.tile[axis])?])?;
            let lines = n.apply(Op::Sub, [&covered, &extents[axis]])?;
            let lines = n.apply(Op::Mul, [&lines, tiles[1 - axis]])?;
            let each = n.constant(each[axis] * self.split * self.shared)?;
            let time = n.apply(Op::Mul, [&lines, &each])?;
            all = Some(match all {
                Some(before) => n.apply(Op::Add, [&before, &time])?,
                None => time,
            });
        }
        let Some(all) = all else {
            return Ok(busy);
        };
        let all = n.apply(Op::Mul, [&all, batch])?;
        let at_once = n.apply(Op::DivS, [&all, own])?;
        let arrived = n.apply(Op::Add, [&at_once, &n.constant(moved)?])?;
        n.apply(Op::MaxS, [&busy, &arrived])
    }

    /// The time that memory takes for A, B and C.
    fn memory<N: Arithmetic>(
        &self,
        n: &N,
        [of_m, of_n, of_k]: &[N::Value; 3],
        batch: &N::Value,
    ) -> Result<N::Value, N::Error> {
        let [of_factors, of_c] = self.bits;
        // Of so many lines of so many elements; divided early, so that 64 bits hold it.
        let time = |lines: &N::Value, elements: &N::Value, bits: i64| {
            let bits = n.apply(Op::Mul, [elements, &n.constant(bits)?])?;
            let time = n.apply(Op::Mul, [&bits, &n.constant(self.memory)?])?;
            let time = n.apply(Op::DivS, [&time, &n.constant(8 << 10)?])?;
            n.apply(Op::Mul, [lines, &time])
        };
        let mut all = match self.same {
            [1, 1] => time(&n.apply(Op::Add, [of_m, of_n])?, of_k, of_factors)?,
            same => {
                let mut factors = [of_m, of_n].into_iter().zip(same).map(|(lines, same)| {
                    let all = time(lines, of_k, of_factors)?;
                    n.apply(Op::DivS, [&all, &n.constant(same)?])
                });
                let none = || n.constant(0);
                let of_a = factors.next().unwrap_or_else(none)?;
                let of_b = factors.next().unwrap_or_else(none)?;
                n.apply(Op::Add, [&of_a, &of_b])?
            }
        };
        if of_c > 0 {
            all = n.apply(Op::Add, [&all, &time(of_m, of_n, of_c)?])?;
        }
        n.apply(Op::Mul, [&all, batch])
    }

    /// The time of the second kernel, and of the blocks that leave it their sums.
    fn second<N: Arithmetic>(&self, n: &N, blocks: &N::Value) -> Result<N::Value, N::Error> {
        let moved = 2 * self.sums * self.second.kilobyte / (1 << 10);
        let moved = n.apply(Op::Mul, [blocks, &n.constant(moved)?])?;
        n.apply(Op::Add, [&moved, &n.constant(self.second.start)?])
    }

    /// The time for known sizes.
    pub(super) fn known(&self, extents: [i64; 3], batch: i64, sms: i64) -> i64 {
        let extents = extents.map(|extent| extent.max(1));
        let Ok(time) = self.time(&Numbers, &extents, &batch.max(1), &sms.max(1));
        time
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, clusters_at_once};

    #[test]
    fn large_clusters_leave_room_for_what_gpcs_cannot_fill() {
        let of = |sms: i64, blocks: i64| {
            let Ok(clusters) = clusters_at_once(&Numbers, &sms, blocks);
            clusters
        };
        assert_eq!(
            [1, 2, 4, 8].map(|blocks| of(132, blocks)),
            [132, 66, 30, 15]
        );
        // A kernel of clusters starts at least one, and the driver says so where it has no room.
        assert_eq!([of(2, 8), of(1, 2)], [1, 1]);
    }
}
