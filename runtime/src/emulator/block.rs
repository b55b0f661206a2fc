//! A block at work: its warps take turns, and meet at barriers.

use std::collections::{BTreeMap, BTreeSet};

use super::address;
use super::clocks::{Clocks, Release};
use super::exec::{
    Bulks, Context, Gathered, Launch, Next, Stop, Wait, Warp, first, mask_text, ranges,
};
use super::finding::{Collector, Kind};
use super::lanes::{LANES, Mask, lanes};
use super::launch::site;
use super::program::{Barrier, BarrierKind, Kernel, Op, Space};
use super::report::Counts;
use super::shared::Shared;
use super::timeline::{BlockTimeline, Watched};
use super::watch::Watch;
use crate::tensor::{SplitMix, mix};

/// Barriers that a block has (PTX ISA, `barrier`).
const BARRIERS: usize = 16;

#[derive(Default)]
pub(super) struct Barriers(Vec<State>);

impl Barriers {
    fn of(blocks: usize) -> Barriers {
        Barriers((0..blocks * BARRIERS).map(|_| State::default()).collect())
    }
}

/// A barrier that threads have arrived at.
#[derive(Default)]
struct State {
    release: Option<Release>,
    /// Threads that all who arrive have to agree on; none for all of the block.
    expected: Option<u32>,
    threads: u32,
    /// The same, with whole warps where a warp arrives as one.
    counted: u32,
    /// Threads whose predicate holds, for `bar.red`.
    holding: u32,
    inst: u32,
}

impl Context<'_> {
    /// Threads of a group arrive at a barrier.
    pub(super) fn arrive(
        &mut self,
        warp: &mut Warp,
        at: usize,
        barrier: &Barrier,
        mask: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        let lane = first(mask);
        self.progress += 1;
        let id = self.uniform(warp, barrier.id, mask, pc);
        let expected = barrier
            .count
            .map(|count| self.uniform(warp, count, mask, pc) as u32);
        if id >= BARRIERS as u64 {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!("expected a barrier below {BARRIERS}, found {id}")
            });
        }
        let id = id as usize % BARRIERS + warp.rank as usize * BARRIERS;
        if let Some(count) = expected
            && (count == 0 || count % LANES as u32 != 0)
        {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!("expected a number of threads that is a multiple of 32, found {count}")
            });
        }
        let holding = match barrier.operand {
            Some(operand) => self.predicate(warp, operand, mask, pc).count_ones(),
            None => 0,
        };
        let state = &mut self.barriers.0[id];
        if state.release.is_none() {
            *state = State {
                release: Some(self.clocks.meeting()),
                expected,
                inst: pc,
                ..State::default()
            };
        }
        let first_expected = state.expected;
        state.threads += mask.count_ones();
        state.counted += if barrier.aligned {
            LANES as u32
        } else {
            mask.count_ones()
        };
        state.holding += holding;
        if let Some(release) = &mut state.release {
            for lane in lanes(mask) {
                self.clocks.release(warp.thread(lane), release);
            }
        }
        // All threads of the block may be meant by their number, too.
        let all = self.threads.next_multiple_of(LANES as u32);
        if first_expected.unwrap_or(all) != expected.unwrap_or(all) {
            let other = self.barriers.0[id].inst;
            self.find(
                Kind::Undefined,
                pc,
                Some(other),
                warp.index,
                lane,
                None,
                || {
                    "expected one number of threads from all who arrive at a barrier, found two"
                        .into()
                },
            );
        }
        match barrier.kind {
            BarrierKind::Arrive => warp.groups[at].pc += 1,
            _ => warp.groups[at].wait = Wait::Barrier(id as u32),
        }
        Next::Stop(Stop::Arrived(id as u32))
    }

    /// The one value that an operand has in all lanes.
    fn uniform(&mut self, warp: &Warp, reg: u32, mask: Mask, pc: u32) -> u64 {
        self.check(warp, reg, mask, pc);
        let row = warp.row(reg);
        let value = row[first(mask)];
        if let Some(lane) = lanes(mask).find(|&lane| row[lane] != value) {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                "expected one barrier in all threads of a warp, found several".into()
            });
        }
        value
    }
}

/// The ways in which a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Finished,
    /// Its threads cannot go on.
    Halted,
}

/// A block that has begun.
pub(super) struct Block<'a> {
    context: Context<'a>,
    warps: Vec<Warp>,
    /// Instructions that a warp executes before it is another one's turn, at most.
    turn: u64,
}

impl<'a> Block<'a> {
    pub(super) fn start(launch: &'a Launch<'a>, linear: u64) -> Block<'a> {
        let [cx, cy, cz] = launch.cluster;
        let [gx, gy] = [0, 1].map(|d| u64::from(launch.grid[d] / launch.cluster[d]));
        let cluster = [linear % gx, linear / gx % gy, linear / (gx * gy)].map(|index| index as u32);
        let ranks = cx * cy * cz;
        let blocks: Vec<[u32; 3]> = (0..ranks)
            .map(|rank| [rank % cx, rank / cx % cy, rank / (cx * cy)])
            .map(|at| [0, 1, 2].map(|d| cluster[d] * launch.cluster[d] + at[d]))
            .collect();
        let threads = launch.block.iter().product::<u32>();
        let warps = threads.div_ceil(LANES as u32);
        // Threads are numbered through the cluster, those that the last warp of a block lacks too.
        let numbers = match ranks {
            1 => threads,
            _ => ranks * warps * LANES as u32,
        };
        let kernel = launch.kernel;
        let end = kernel.shared_end(launch.dynamic_smem);
        let mut random = SplitMix(mix(launch.seed, linear));
        // Some blocks switch at almost every instruction, others let a warp run far ahead.
        let turn = [4, 32, 256, 4096][random.below(4) as usize];
        // Where copies come late, more is seen that does not wait for them.
        let lazy = kernel.asynchronous && random.below(3) == 0;
        let context = Context {
            launch,
            gathered: Gathered::default(),
            blocks,
            threads,
            warps,
            ended: vec![0; ranks as usize],
            visits: vec![BTreeMap::new(); ranks as usize],
            linear,
            shared: Shared::new(end.max(address::SHARED_START), kernel.granule, ranks),
            speculated: None,
            carries: false,
            holes: None,
            read_behind: Default::default(),
            clocks: Clocks::with_agents(
                numbers as usize,
                kernel.copies_arrive,
                kernel.asynchronous,
            ),
            random,
            executed: 0,
            barriers: Barriers::of(ranks as usize),
            released: Default::default(),
            mbarriers: Default::default(),
            bulks: Bulks::new(lazy),
            registers: Default::default(),
            cluster: Default::default(),
            issued: Default::default(),
            progress: 0,
            fences: Default::default(),
            factors: Default::default(),
            printed: String::new(),
            watch: watch(launch, linear, (warps * ranks) as usize),
        };
        let warps = (0..warps * ranks)
            .map(|index| context.warp(index))
            .collect();
        Block {
            context,
            warps,
            turn,
        }
    }

    /// The number of the block.
    pub(super) fn linear(&self) -> u64 {
        self.context.linear
    }

    /// Runs the block to its end, or for about so many instructions of its warps. Counts go to those of the core.
    pub(super) fn advance(&mut self, counts: &mut Vec<Counts>, instructions: u64) -> Option<End> {
        std::mem::swap(counts, &mut self.context.gathered.counts);
        let until = self.context.executed.saturating_add(instructions);
        let end = schedule(&mut self.context, &mut self.warps, self.turn, until);
        std::mem::swap(counts, &mut self.context.gathered.counts);
        end
    }

    /// Says whether another block could go on in place of this one.
    pub(super) fn is_beside_others(&mut self, others: bool) {
        if let Some(watch) = &mut self.context.watch {
            watch.other_blocks = others;
        }
    }

    /// The results of the block.
    pub(super) fn finish(self) -> Ended {
        let context = self.context;
        let stretches = context.watch.and_then(|watch| watch.stretches);
        let kernel = context.launch.kernel;
        Ended {
            block: context.linear,
            findings: context.gathered.findings,
            printed: context.printed,
            timeline: stretches.map(|stretches| {
                let site = |pc| site(kernel, pc);
                stretches.finish(context.blocks[0], context.warps, context.executed, site)
            }),
        }
    }
}

/// The results of a block.
pub(super) struct Ended {
    /// Its number.
    pub block: u64,
    pub findings: Collector,
    pub printed: String,
    pub timeline: Option<BlockTimeline>,
}

/// The notes and choices of a block with so many warps, if there are any.
fn watch<'a>(launch: &'a Launch<'a>, linear: u64, warps: usize) -> Option<Box<Watch<'a>>> {
    let noted = linear < u64::from(launch.watched);
    let stretches = noted.then(|| Watched::new(warps));
    let watched = launch.steering.is_some() || stretches.is_some();
    watched.then(|| Box::new(Watch::new(launch.steering, stretches)))
}

/// None if the warps have executed so many instructions and are not at their end.
fn schedule(context: &mut Context<'_>, warps: &mut [Warp], turn: u64, until: u64) -> Option<End> {
    let mut ready = Vec::new();
    while context.executed < until {
        ready.clear();
        ready.extend((0..warps.len()).filter(|&warp| warps[warp].is_ready()));
        if ready.is_empty() {
            let waits = warps.iter().any(|warp| !warp.groups.is_empty());
            if waits && context.wake(warps) {
                continue;
            }
            if waits {
                stuck(context, warps);
                return Some(End::Halted);
            }
            context.end_registers();
            context.end_bulks();
            context.end_products();
            context.end_mbarriers();
            return Some(End::Finished);
        }
        let chosen = context.watch.as_mut().and_then(|watch| watch.pick(&ready));
        let (at, turn) = chosen.unwrap_or_else(|| {
            let at = ready[context.random.below(ready.len() as u64) as usize];
            (at, 1 + context.random.below(turn) as u32)
        });
        let stop = context.run(&mut warps[at], turn);
        if context.shared.loads.is_crowded() {
            context.forget_loads(warps);
        }
        context.land_some(&mut warps[at]);
        // What others have under way comes as well, be they waiting or gone.
        if context.launch.kernel.copies_arrive {
            let other = context.random.below(warps.len() as u64) as usize;
            context.land_some(&mut warps[other]);
        }
        context.land_some_bulk();
        context.wake_completed(warps);
        context.wake_for_registers(warps);
        context.wake_at_cluster(warps);
        context.wake_for_products(warps);
        match stop {
            Stop::Turn | Stop::Blocked => {}
            Stop::Arrived(id) => complete(context, warps, id as usize),
            Stop::Exited => {
                for id in 0..context.barriers.0.len() {
                    complete(context, warps, id);
                }
            }
            Stop::Halt => return Some(End::Halted),
        }
        let executed = context.executed;
        if let Some(watch) = &mut context.watch {
            watch.note_waits(warps, executed);
            if watch.leaves(stop) {
                return None;
            }
        }
    }
    None
}

/// Lets the threads at a barrier go if all have come.
fn complete(context: &mut Context<'_>, warps: &mut [Warp], id: usize) {
    let state = &context.barriers.0[id];
    if state.release.is_none() {
        return;
    }
    let rank = (id / BARRIERS) as u32;
    let of_block = warps.iter().filter(|warp| warp.rank == rank);
    let live: u32 = of_block.map(|warp| warp.live().count_ones()).sum();
    let all = context.threads;
    let inst = state.inst;
    match state.expected {
        None if state.threads < live => return,
        Some(expected) if state.counted < expected => return,
        None if state.threads < all => {
            let missing = all - state.threads;
            let warp = rank * context.warps;
            context.find(Kind::BarrierDivergence, inst, None, warp, 0, None, || {
                format!(
                    "expected all {all} threads of the block at the barrier, but {missing} ended before it; let no thread leave early"
                )
            });
        }
        Some(expected) if state.counted > expected => {
            let found = state.counted;
            let warp = rank * context.warps;
            context.find(Kind::Undefined, inst, None, warp, 0, None, || {
                format!("expected {expected} threads at the barrier, found {found}")
            });
        }
        _ => {}
    }
    let state = std::mem::take(&mut context.barriers.0[id]);
    let Some(release) = state.release else { return };
    let known = release.finish();
    for warp in warps {
        for at in 0..warp.groups.len() {
            let group = warp.groups[at];
            if group.wait != Wait::Barrier(id as u32) {
                continue;
            }
            for lane in lanes(group.mask) {
                context.clocks.acquire(warp.thread(lane), &known);
            }
            if let Op::Barrier(barrier) = &context.launch.kernel.insts[group.pc as usize].op {
                let all_hold = state.holding == state.threads;
                match barrier.kind {
                    BarrierKind::Popc(d) => {
                        Context::set(warp, d, &[u64::from(state.holding); LANES], group.mask);
                    }
                    BarrierKind::And(p) => {
                        Context::set_pred(
                            warp,
                            p,
                            if all_hold { Mask::MAX } else { 0 },
                            group.mask,
                        );
                    }
                    BarrierKind::Or(p) => {
                        let any = state.holding != 0;
                        Context::set_pred(warp, p, if any { Mask::MAX } else { 0 }, group.mask);
                    }
                    BarrierKind::Sync | BarrierKind::Arrive => {}
                }
            }
            warp.groups[at].wait = Wait::Nothing;
            warp.groups[at].pc += 1;
        }
    }
}

/// The places where the other warps are, in words.
fn rest(warps: &[Warp], kernel: &Kernel, but: u32) -> String {
    let mut places: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for warp in warps.iter().filter(|warp| warp.index != but) {
        for group in &warp.groups {
            places.entry(group.pc).or_default().insert(warp.index);
        }
    }
    let mut text = String::new();
    for (pc, warps) in places {
        let origin = &kernel.origins[pc as usize];
        text += &format!(
            "; warps {} wait at {} (PTX line {})",
            ranges(warps),
            origin.text,
            origin.line
        );
    }
    text
}

/// Lanes of a warp that wait at an instruction for its other members.
struct Waiting {
    pc: u32,
    here: Mask,
    missing: Mask,
}

/// The lanes of a warp that wait for others, by where they wait. Lanes that wait for each other at two places are one mistake, which is told once, at the
/// first of the two places: the other one is told with it.
fn waiting_lanes(warp: &Warp) -> Vec<Waiting> {
    let mut all: BTreeMap<(u32, Mask), Mask> = BTreeMap::new();
    for group in &warp.groups {
        if let Wait::Lanes(members) = group.wait {
            // Lanes that come one by one wait side by side.
            *all.entry((group.pc, members)).or_default() |= group.mask;
        }
    }
    let mut told: Vec<Waiting> = Vec::new();
    for ((pc, members), here) in all {
        let missing = members & !here & warp.live();
        let each_other = |other: &Waiting| other.missing & here != 0 && missing & other.here != 0;
        if !told.iter().any(each_other) {
            told.push(Waiting { pc, here, missing });
        }
    }
    told
}

/// Says which lanes of a warp wait at an instruction that all of its members execute together, and where the others are.
fn stuck_lanes(context: &mut Context<'_>, warp: &Warp, waiting: &Waiting) {
    let kernel = context.launch.kernel;
    let (pc, here) = (waiting.pc, waiting.here);
    let mut elsewhere: BTreeMap<u32, Mask> = BTreeMap::new();
    for other in &warp.groups {
        let missing = other.mask & waiting.missing;
        if missing != 0 {
            *elsewhere.entry(other.pc).or_default() |= missing;
        }
    }
    let parts = elsewhere.into_iter().map(|(pc, mask)| {
        let origin = &kernel.origins[pc as usize];
        format!(
            "lanes {} wait at {} (PTX line {})",
            mask_text(mask),
            origin.text,
            origin.line
        )
    });
    let elsewhere = parts.collect::<Vec<_>>().join("; ");
    let text = &kernel.origins[pc as usize].text;
    context.find(Kind::BarrierDivergence, pc, None, warp.index, first(here), None, || {
        format!(
            "lanes {} wait for the others to execute {text} with them, but {elsewhere}; all threads that take \
             part must get there, so keep it out of branches that only some take",
            mask_text(here)
        )
    });
}

/// The threads that wait elsewhere than for a phase of an mbarrier.
fn elsewhere(warps: &[Warp], at: u64) -> impl Iterator<Item = u32> {
    warps.iter().flat_map(move |warp| {
        let groups = warp.groups.iter();
        let others = groups.filter(move |group| !matches!(group.wait, Wait::Phase(of) if of == at));
        others.flat_map(|group| lanes(group.mask).map(|lane| warp.thread(lane)))
    })
}

/// Says who waits for whom where nobody can go on.
fn stuck(context: &mut Context<'_>, warps: &[Warp]) {
    let kernel = context.launch.kernel;
    let mut astray = BTreeSet::new();
    for warp in warps {
        for waiting in waiting_lanes(warp) {
            astray.insert(warp.rank);
            stuck_lanes(context, warp, &waiting);
        }
    }
    for warp in warps {
        for group in &warp.groups {
            let lane = first(group.mask);
            match group.wait {
                Wait::Nothing | Wait::Lanes(_) => {}
                // The other warps of the block wait for those whose lanes went astray.
                Wait::Barrier(_) if astray.contains(&warp.rank) => {}
                Wait::Phase(at) => {
                    let missing = context.mbarriers.missing(at);
                    let (made, cause) = match context.mbarriers.blame(at, elsewhere(warps, at)) {
                        Some((made, cause)) => (Some(made), cause),
                        None => (None, String::new()),
                    };
                    let rest = rest(warps, kernel, warp.index);
                    let address = Some((Space::Shared, at));
                    context.find(
                        Kind::Deadlock,
                        group.pc,
                        made,
                        warp.index,
                        lane,
                        address,
                        || {
                            format!(
                                "waits for ever for a phase of this mbarrier, which {missing}{cause}{rest}"
                            )
                        },
                    );
                }
                Wait::Registers(needed) => {
                    let free = context.free_registers(warp.rank);
                    let rest = rest(warps, kernel, warp.index);
                    context.find(Kind::Deadlock, group.pc, None, warp.index, lane, None, || {
                        format!("waits for ever for {needed} registers, of which {free} are free; let other warps give up more by setmaxnreg.dec{rest}")
                    });
                }
                Wait::Products => {
                    let rest = rest(warps, kernel, warp.index);
                    context.find(Kind::Deadlock, group.pc, None, warp.index, lane, None, || {
                        format!("waits for ever for wgmma that other warps of the warpgroup have not issued; let all four warps take the same way{rest}")
                    });
                }
                Wait::Cluster => {
                    let (have, want) = (context.at_cluster(), context.threads_of_cluster());
                    let rest = rest(warps, kernel, warp.index);
                    context.find(Kind::Deadlock, group.pc, None, warp.index, lane, None, || {
                        format!("threads wait at the cluster's barrier for ever: {have} of {want} arrived{rest}")
                    });
                }
                Wait::Barrier(id) => {
                    let state = &context.barriers.0[id as usize];
                    let (have, want) = match state.expected {
                        Some(expected) => (state.counted, expected),
                        None => (state.threads, context.threads),
                    };
                    let id = id % BARRIERS as u32;
                    let rest = rest(warps, kernel, warp.index);
                    context.find(Kind::Deadlock, group.pc, None, warp.index, lane, None, || {
                        format!(
                            "threads wait at barrier {id} for ever: {have} of {want} arrived, and the others wait elsewhere or have ended{rest}"
                        )
                    });
                }
            }
        }
    }
}
