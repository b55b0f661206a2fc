//! Warps at work: which threads go next, and what each instruction does.

mod alu;
mod blocks;
mod bulk;
mod calls;
mod checks;
mod conversions;
mod copies;
mod count;
mod definedness;
mod execute;
mod groups;
mod mbarrier;
mod memory;
mod speculation;
mod stack;
mod strong;
mod system;
mod tensormap;
mod unwritten;
mod warp_wide;
mod warpgroup;
mod wmma;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::address;
use super::clocks::{Clocks, View};
use super::finding::{Collector, Kind, Thread};
use super::global::{Global, Handed, Seen};
use super::lanes::{LANES, Mask, Row, lanes, select};
use super::mma::Factors;
use super::program::{Guard, Initial, Kernel, Op, Pred, Reg, Space, Special};
use super::report::Counts;
use super::shared::Shared;
use super::steer::Steering;
use super::watch::Watch;
use crate::tensor::SplitMix;
use blocks::{ClusterState, RegisterPool};
pub(super) use bulk::Bulks;
use copies::Copies;
use cute_target::Arch;
use groups::split;
use mbarrier::Mbarriers;
use warpgroup::{Issued, Products};

/// Threads of a warp that are at one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub pc: u32,
    pub mask: Mask,
    pub wait: Wait,
}

/// The thing that threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Nothing,
    /// Other lanes that must execute the same instruction with them.
    Lanes(Mask),
    /// A barrier of the block.
    Barrier(u32),
    /// A phase of the `mbarrier` object at that address.
    Phase(u64),
    /// So many registers, which others have to give up.
    Registers(u32),
    /// The barrier of the cluster.
    Cluster,
    /// The other warps of the warpgroup, which have not issued the products that it waits for.
    Products,
}

pub(super) struct Warp {
    /// Its number in the cluster.
    pub index: u32,
    /// The rank of its block in the cluster.
    pub rank: u32,
    /// Lanes that the block has threads for.
    pub exists: Mask,
    pub groups: Vec<Group>,
    rows: Vec<Row>,
    /// The lanes where all of a register is defined.
    defined: Vec<Mask>,
    /// The bits that are, of registers that were written in part.
    partly: Vec<Option<Box<definedness::Bits>>>,
    /// The loads that values are made of which may not matter.
    origins: speculation::Origins,
    /// The places where what is not defined comes from.
    unwritten: unwritten::Unwritten,
    preds: Vec<Mask>,
    preds_defined: Vec<Mask>,
    /// `CC.CF`, and the lanes that have written it.
    carry: Mask,
    carry_defined: Mask,
    copies: Copies,
    products: Products,
    /// Functions that its threads are in.
    stacks: calls::Stacks,
    local: Vec<u8>,
    /// Bytes between parts that `alloca` has given each lane, the last given first from the end; empty without any.
    stack_gaps: Vec<Vec<(u64, u64)>>,
    /// The bits of each byte of `local` that are defined.
    local_written: Vec<u8>,
    /// Lanes whose wait for a phase has timed out.
    pub timed_out: Mask,
    /// The number of instructions that parts of the warp may have waited with: reads of what others write, while it was split.
    spins: u32,
    /// Instructions since the warp was whole.
    split_for: u32,
}

impl Warp {
    /// Tells whether some of its threads can go on.
    pub(super) fn is_ready(&self) -> bool {
        self.groups.iter().any(|group| group.wait == Wait::Nothing)
    }

    /// The contents of a register.
    pub(super) fn row(&self, reg: Reg) -> &Row {
        &self.rows[reg as usize]
    }

    /// The lane whose part of the warp goes on, where it is not for the instruction to decide.
    fn turn(&self) -> Option<u32> {
        if self.spins % 256 >= 192 {
            return Some(self.spins % 32);
        }
        // Who waits with plain reads waits longer.
        (self.split_for >> 16 & 15 == 15).then_some(self.split_for >> 6 & 31)
    }

    pub(super) fn live(&self) -> Mask {
        self.groups.iter().fold(0, |mask, group| mask | group.mask)
    }

    /// The thread's number in the block.
    pub(super) fn thread(&self, lane: usize) -> u32 {
        self.index * LANES as u32 + lane as u32
    }
}

/// A launch, as its blocks see it.
pub(super) struct Launch<'a> {
    pub kernel: &'a Kernel,
    pub global: &'a Global,
    pub params: &'a [u8],
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Blocks of a cluster, which divide those of the grid.
    pub cluster: [u32; 3],
    pub dynamic_smem: u32,
    pub arch: Arch,
    /// Registers of a thread as the machine has them, 0 if not known.
    pub registers: u32,
    pub seed: u64,
    /// Instructions that the warps of one block may execute.
    pub limit: u64,
    /// Tells whether blocks after the first one with findings need not run.
    pub stop_at_findings: bool,
    /// Cores of this machine that its blocks run on, at most.
    pub cores: usize,
    /// The order of warps and blocks, where it is chosen; on one core.
    pub steering: Option<&'a Steering>,
    /// The blocks, the first ones, whose warps' stretches are noted.
    pub watched: u32,
}

/// The results that are gathered while a block runs.
#[derive(Default)]
pub(super) struct Gathered {
    /// Counts by instruction, of all blocks that the core has run.
    pub counts: Vec<Counts>,
    /// The part that belongs to the block.
    pub findings: Collector,
}

/// The reason why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Others may go on for a while.
    Turn,
    /// All its threads wait or are gone.
    Blocked,
    /// Threads arrived at that barrier.
    Arrived(u32),
    /// Threads ended.
    Exited,
    /// The block cannot go on.
    Halt,
}

/// The state that the threads of a block have in common.
pub(super) struct Context<'a> {
    pub launch: &'a Launch<'a>,
    pub gathered: Gathered,
    /// The blocks of the cluster, by rank.
    pub blocks: Vec<[u32; 3]>,
    /// Threads and warps of each of them.
    pub threads: u32,
    pub warps: u32,
    /// Threads of each that have ended.
    pub ended: Vec<u32>,
    /// The last access of each thread, and of each agent, of other blocks of the cluster to the shared memory of each block.
    pub visits: Vec<BTreeMap<u32, Visit>>,
    /// Number of the cluster; a block without one is one by itself.
    pub linear: u64,
    pub shared: Shared,
    /// The load that is executed, if its values may not matter.
    pub speculated: Option<u32>,
    /// Tells whether the load that is executed carries into its registers what nothing wrote.
    pub carries: bool,
    /// The bytes that it has brought so.
    pub holes: Option<Box<unwritten::Holes>>,
    /// The instructions whose results are known to be read behind them, or not.
    pub read_behind: FxHashMap<(u32, Reg), bool>,
    pub clocks: Clocks,
    pub random: SplitMix,
    /// Instructions executed so far, by warps.
    pub executed: u64,
    pub barriers: super::block::Barriers,
    /// The knowledge that strong writes to places in shared memory hand on, and their bytes.
    pub released: BTreeMap<u64, (u8, Arc<View>)>,
    pub mbarriers: Mbarriers,
    pub bulks: Bulks,
    pub registers: RegisterPool,
    pub cluster: ClusterState,
    /// Products that not all warps have issued, by warpgroup.
    pub issued: BTreeMap<u32, Issued>,
    /// The factors that `wgmma` have read.
    pub factors: Factors,
    /// Counts what others may wait for: as long as it grows, nobody is stuck.
    pub progress: u64,
    /// The fences of each thread.
    pub fences: FxHashMap<u32, Fences>,
    pub printed: String,
    /// The notes and choices of a block that is watched.
    pub watch: Option<Box<Watch<'a>>>,
}

/// An access to the shared memory of another block of the cluster.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// The time of it on the clock of the thread or agent.
    pub time: u32,
    pub inst: u32,
    pub thread: u32,
    pub at: u64,
}

/// The knowledge that fences of a thread order.
#[derive(Default)]
pub(super) struct Fences {
    /// All that came before the last fence.
    before: Option<Arc<View>>,
    /// All that came before the last fence whose scope holds other blocks.
    before_far: Option<Arc<View>>,
    /// Knowledge that strong reads have seen and that no fence came after.
    seen: Seen,
    /// The knowledge that the last strong read saw, and where.
    last_seen: Option<(Space, u64, Seen)>,
    /// The knowledge that the last release operation handed on, and where.
    released: Option<(Space, u64, Handed)>,
}

/// The step after an instruction.
pub(super) enum Next {
    Advance,
    To(u32),
    /// The instruction has handled its groups.
    Stop(Stop),
}

impl Context<'_> {
    pub(super) fn warp(&self, index: u32) -> Warp {
        let kernel = self.launch.kernel;
        let here = (self.threads - index % self.warps * 32).min(32);
        let exists = if here == 32 {
            Mask::MAX
        } else {
            (1 << here) - 1
        };
        let rows = kernel.rows as usize;
        let mut warp = Warp {
            index,
            rank: index / self.warps,
            exists,
            groups: vec![Group {
                pc: 0,
                mask: exists,
                wait: Wait::Nothing,
            }],
            rows: vec![[0; LANES]; rows],
            defined: vec![0; rows],
            partly: vec![None; rows],
            origins: speculation::Origins::default(),
            unwritten: unwritten::Unwritten::default(),
            preds: vec![0; kernel.preds as usize],
            preds_defined: vec![0; kernel.preds as usize],
            carry: 0,
            carry_defined: 0,
            copies: Copies::default(),
            products: Products::default(),
            stacks: calls::Stacks::default(),
            local: vec![0; kernel.local_bytes as usize * LANES],
            stack_gaps: Vec::new(),
            local_written: vec![0; kernel.local_bytes as usize * LANES],
            timed_out: 0,
            spins: 0,
            split_for: 0,
        };
        warp.preds[0] = Mask::MAX;
        warp.preds_defined[0] = Mask::MAX;
        for (reg, initial) in &kernel.initial {
            let row = &mut warp.rows[*reg as usize];
            for (lane, value) in row.iter_mut().enumerate() {
                *value = match initial {
                    Initial::Value(value) => *value,
                    Initial::Special(special) => self.special(*special, index, lane),
                    Initial::StackEnd => kernel.local_bytes,
                };
            }
            warp.defined[*reg as usize] = Mask::MAX;
        }
        warp
    }

    fn special(&self, special: Special, warp: u32, lane: usize) -> u64 {
        let [x, y, _] = self.launch.block;
        let (rank, warp) = (warp / self.warps, warp % self.warps);
        let thread = warp * 32 + lane as u32;
        let block = self.blocks[rank as usize];
        let [cx, cy, _] = self.launch.cluster;
        let in_cluster = [rank % cx, rank / cx % cy, rank / (cx * cy)];
        let tid = [thread % x, thread / x % y, thread / (x * y)];
        let lane = lane as u32;
        let value = match special {
            Special::Tid(d) => tid[d as usize],
            Special::Ntid(d) => self.launch.block[d as usize],
            Special::Ctaid(d) => block[d as usize],
            Special::ClusterRank => rank,
            Special::ExplicitCluster => {
                let asked = self.launch.kernel.cluster.is_some() || self.launch.cluster != [1; 3];
                u32::from(asked)
            }
            Special::ClusterBlocks => self.blocks.len() as u32,
            Special::ClusterCtaid(d) => in_cluster[d as usize],
            Special::ClusterNctaid(d) => self.launch.cluster[d as usize],
            Special::ClusterId(d) => block[d as usize] / self.launch.cluster[d as usize],
            Special::Nclusters(d) => self.launch.grid[d as usize] / self.launch.cluster[d as usize],
            Special::Nctaid(d) => self.launch.grid[d as usize],
            Special::LaneId => lane,
            Special::WarpId => warp,
            Special::NwarpId => self.launch.block.iter().product::<u32>().div_ceil(32),
            Special::SmId => self.linear as u32 * self.blocks.len() as u32 + rank,
            Special::NsmId => self
                .launch
                .grid
                .iter()
                .fold(1, |n: u32, g| n.saturating_mul(*g)),
            Special::GridId => 0,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLe => u32::MAX >> (31 - lane),
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskGe => u32::MAX << lane,
            Special::LaneMaskGt => !(u32::MAX >> (31 - lane)),
            Special::DynamicSmem => {
                return self
                    .launch
                    .kernel
                    .dynamic_at
                    .unwrap_or(self.launch.kernel.static_end);
            }
            Special::DynamicSmemBytes => self.launch.dynamic_smem,
            Special::TotalSmem => self.shared.len() as u32,
        };
        u64::from(value)
    }

    /// Runs threads of a warp for at most `turn` instructions.
    pub(super) fn run(&mut self, warp: &mut Warp, turn: u32) -> Stop {
        match self.watch {
            None => self.steps::<false>(warp, turn),
            Some(_) => self.steps::<true>(warp, turn),
        }
    }

    /// The same of a block that is watched, or of one that is not, for which nothing is asked an instruction.
    fn steps<const WATCHED: bool>(&mut self, warp: &mut Warp, turn: u32) -> Stop {
        for _ in 0..turn {
            let Some(at) = self.choose(warp) else {
                return Stop::Blocked;
            };
            if self.executed >= self.launch.limit {
                self.over_limit(warp, at);
                return Stop::Halt;
            }
            if WATCHED && self.is_preempted(warp, at) {
                return Stop::Turn;
            }
            self.executed += 1;
            if let Some(stop) = self.step(warp, at) {
                return stop;
            }
        }
        Stop::Turn
    }

    /// Notes the next instruction of a warp of a block that is watched, unless another warp, or block, is to go on before it.
    #[cold]
    fn is_preempted(&mut self, warp: &Warp, at: usize) -> bool {
        let kernel = self.launch.kernel;
        let Group { pc, mask, .. } = warp.groups[at];
        let op = &kernel.insts[pc as usize].op;
        let Some(watch) = &mut self.watch else {
            return false;
        };
        if watch.preempts(op) {
            return true;
        }
        if let Some(stretches) = &mut watch.stretches
            && !matches!(op, Op::Goto(_))
        {
            let lanes = mask.count_ones();
            stretches.executes(kernel, warp.index, self.executed, pc, lanes);
        }
        false
    }

    fn step(&mut self, warp: &mut Warp, at: usize) -> Option<Stop> {
        let Group { pc, mask, .. } = warp.groups[at];
        // The last instruction ends the thread, so `pc` is never past it.
        let kernel = self.launch.kernel;
        let inst = &kernel.insts[pc as usize];
        let active = match inst.guard {
            None => mask,
            Some(guard) => self.predicate(warp, guard, mask, pc),
        };
        if let Op::Goto(target) = inst.op {
            self.executed -= 1;
            warp.groups[at].pc = target;
            return None;
        }
        let counts = &mut self.gathered.counts[pc as usize];
        counts.warps += 1;
        counts.threads += u64::from(active.count_ones());
        if warp.groups.len() > 1 && sees_others(&inst.op) {
            warp.spins = warp.spins.wrapping_add(1);
        }
        if !kernel.touches.is_empty() && !kernel.touches[pc as usize].is_empty() && active != 0 {
            self.check_touched(warp, pc, active);
        }
        let carries = warp.origins.any && self.follow(warp, pc, active);
        let next = match &inst.op {
            Op::Branch(target) => {
                let stay = mask & !active;
                if stay == 0 {
                    Next::To(*target)
                } else if active == 0 {
                    Next::Advance
                } else {
                    split(warp, at, active, *target);
                    return None;
                }
            }
            Op::BranchIndex { index, targets } => {
                return self.branch_index(warp, at, active, *index, targets);
            }
            Op::Call(call) if active != 0 => return self.call(warp, at, active, call),
            Op::Return if active != 0 => return self.return_from(warp, at, active),
            Op::Exit | Op::Trap if active != 0 => {
                if matches!(inst.op, Op::Trap) {
                    self.find(
                        Kind::Trap,
                        pc,
                        None,
                        warp.index,
                        first(active),
                        None,
                        || "the kernel executes a trap".into(),
                    );
                }
                return Some(self.exit(warp, at, active));
            }
            _ if active == 0 => Next::Advance,
            op => self.execute(warp, at, op, active),
        };
        if carries {
            self.carry(warp, pc, active);
        }
        match next {
            Next::Advance => warp.groups[at].pc = pc + 1,
            Next::To(target) => warp.groups[at].pc = target,
            Next::Stop(stop) => return Some(stop),
        }
        None
    }

    /// The lanes of `mask` where a guard holds.
    pub(super) fn predicate(&mut self, warp: &mut Warp, guard: Guard, mask: Mask, pc: u32) -> Mask {
        let undefined = mask & !warp.preds_defined[guard.pred as usize];
        if undefined != 0 {
            self.undefined_predicate(warp, guard.pred, undefined, pc);
        }
        let value = warp.preds[guard.pred as usize];
        mask & if guard.negated { !value } else { value }
    }

    /// Notes lanes that use a predicate that they have not written, or that is made of values that may not matter.
    #[cold]
    #[inline(never)]
    pub(super) fn undefined_predicate(
        &mut self,
        warp: &mut Warp,
        pred: Pred,
        lanes: Mask,
        pc: u32,
    ) {
        let undefined = lanes & !self.use_predicate(warp, pred, lanes);
        let undefined =
            undefined & !self.tell_unwritten(warp, warp.unwritten.pred(pred), undefined);
        if undefined != 0 {
            self.undefined(warp, undefined, pc, "a predicate");
        }
    }

    /// Notes lanes that read a register that they have not written.
    pub(super) fn check(&mut self, warp: &Warp, reg: Reg, mask: Mask, pc: u32) {
        let undefined = mask & !warp.defined[reg as usize];
        if undefined != 0 {
            self.undefined_register(warp, reg, undefined, pc, "a register");
        }
    }

    /// Notes lanes that use a register that is not defined: at the load that brought it, if that is known.
    #[cold]
    fn undefined_register(&mut self, warp: &Warp, reg: Reg, lanes: Mask, pc: u32, what: &str) {
        let told = self.tell_unwritten(warp, warp.unwritten.register(reg), lanes);
        if lanes & !told != 0 {
            self.undefined(warp, lanes & !told, pc, what);
        }
    }

    #[cold]
    fn undefined(&mut self, warp: &Warp, lanes: Mask, pc: u32, what: &str) {
        self.find(
            Kind::UninitializedRegister,
            pc,
            None,
            warp.index,
            first(lanes),
            None,
            || format!("expected a value in every source, found {what} that nothing wrote before"),
        );
    }

    /// Notes a finding of one lane.
    #[expect(clippy::too_many_arguments, reason = "what a finding consists of")]
    pub(super) fn find(
        &mut self,
        kind: Kind,
        pc: u32,
        other: Option<u32>,
        warp: u32,
        lane: usize,
        address: Option<(Space, u64)>,
        message: impl FnOnce() -> String,
    ) {
        let launch = self.launch;
        let thread = Thread {
            block: self.blocks[(warp / self.warps) as usize],
            warp: warp % self.warps,
            lane: lane as u32,
        };
        // To say what lies at an address takes longer than to execute the instruction.
        self.gathered.findings.add(kind, pc, other, || {
            let address = address.map(|(space, at)| Self::describe(launch, space, at));
            (thread, address, message())
        });
    }

    #[cold]
    fn over_limit(&mut self, warp: &Warp, at: usize) {
        let limit = self.launch.limit;
        let group = warp.groups[at];
        self.find(Kind::InstructionLimit, group.pc, None, warp.index, first(group.mask), None, || {
            format!(
                "the block has executed {limit} instructions and has not ended; if it is no endless loop, raise the limit (`max_instructions`)"
            )
        });
    }

    /// Writes a result in the lanes of a mask.
    pub(super) fn set(warp: &mut Warp, reg: Reg, value: &Row, mask: Mask) {
        let row = &mut warp.rows[reg as usize];
        if mask == Mask::MAX {
            *row = *value;
        } else {
            for (lane, slot) in row.iter_mut().enumerate() {
                if mask >> lane & 1 != 0 {
                    *slot = value[lane];
                }
            }
        }
        warp.defined[reg as usize] |= mask;
    }

    pub(super) fn set_pred(warp: &mut Warp, pred: Pred, value: Mask, mask: Mask) {
        let slot = &mut warp.preds[pred as usize];
        *slot = *slot & !mask | value & mask;
        warp.preds_defined[pred as usize] |= mask;
    }
}

/// Tells whether an instruction may be what a thread waits with for others.
fn sees_others(op: &Op) -> bool {
    match op {
        Op::Load(access) => access.order.strong(),
        Op::Atomic(_) | Op::Mbarrier(_) | Op::Clock { .. } => true,
        _ => false,
    }
}

/// The lowest lane of a mask that is not empty.
pub(super) fn first(mask: Mask) -> usize {
    (mask.trailing_zeros() as usize).min(LANES - 1)
}

/// The lanes of a mask: `0-3, 7`
pub(super) fn mask_text(mask: Mask) -> String {
    ranges(lanes(mask).map(|lane| lane as u32))
}

/// Numbers that rise, in words: `0-3, 7`
pub(super) fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let one = |(start, last): &(u32, u32)| match start == last {
        true => start.to_string(),
        false => format!("{start}-{last}"),
    };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}
