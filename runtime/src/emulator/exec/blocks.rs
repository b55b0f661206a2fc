//! Fences between proxies, registers that warps hand over, and clusters.

use super::*;
use crate::emulator::clocks::{Knowledge, Release};
use crate::emulator::program::{ClusterBarrier, MaxRegisters};

/// Registers of a block at most, and of a thread as setmaxnreg counts them.
const REGISTER_FILE: u32 = 65536;
/// Warps that hand registers over together.
const WARPGROUP: u32 = 4;

/// The registers of a block that no warp has (PTX ISA, `setmaxnreg`: the per-CTA-maximum-register-pool).
#[derive(Default)]
pub(in crate::emulator) struct RegisterPool {
    free: BTreeMap<u32, u32>,
    /// Registers of a thread by warp, where they are not those of the launch.
    counts: BTreeMap<u32, u32>,
    /// The last instruction of each warp.
    last: BTreeMap<u32, u32>,
}

/// The barrier of a cluster.
#[derive(Default)]
pub(in crate::emulator) struct ClusterState {
    release: Option<Release>,
    arrived: u32,
    /// Ends that all threads have come to.
    phase: u32,
    known: Option<Knowledge>,
    /// Arrivals of each thread, twice, and one less for each that it has waited for.
    threads: BTreeMap<u32, u32>,
    /// Threads that have ended, and those of them that had arrived in this phase.
    gone: u32,
    gone_after: u32,
}

impl ClusterState {
    /// Barriers that a thread has waited for.
    pub(super) fn passed(&self, thread: u32) -> u32 {
        self.threads.get(&thread).map_or(0, |count| count / 2)
    }

    /// Barriers that a thread has arrived at.
    pub(super) fn come_to(&self, thread: u32) -> u32 {
        self.threads
            .get(&thread)
            .map_or(0, |count| count.div_ceil(2))
    }
}

impl Context<'_> {
    pub(super) fn fence_proxy(&mut self, warp: &Warp, active: Mask) {
        for lane in lanes(active) {
            self.clocks.fence_proxy(warp.thread(lane));
        }
        self.fence_objects(warp, active);
    }

    /// Registers that each thread begins with: what the machine says, else what the kernel does, else the most that so many threads can have.
    fn registers_at_start(&self) -> u32 {
        let threads = self.threads;
        match (self.launch.registers, self.launch.kernel.max_registers) {
            (0, Some(most)) => most,
            // ptxas gives kernels with setmaxnreg a multiple of 8.
            (0, None) => (REGISTER_FILE / threads.max(1) / 8 * 8).min(248),
            (known, _) => known,
        }
    }

    pub(super) fn max_registers(
        &mut self,
        warp: &mut Warp,
        at: usize,
        op: MaxRegisters,
        active: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        let Some(mask) = self.gather(warp, at, active, Mask::MAX) else {
            return Next::Stop(Stop::Turn);
        };
        let at = Self::group_at(warp, pc, mask);
        let start = self.registers_at_start();
        let have = self.registers.counts.get(&warp.index).copied();
        let have = have.unwrap_or(start);
        let MaxRegisters { increases, count } = op;
        let wrong = match increases {
            true => count < have,
            false => count > have,
        };
        if wrong {
            let lane = first(mask);
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!(
                    "expected a number of registers {} the {have} that the threads have, found {count}",
                    if increases { "above" } else { "below" }
                )
            });
        } else if increases {
            let needed = (count - have) * LANES as u32;
            let free = self.registers.free.entry(warp.rank).or_default();
            if *free < needed {
                self.uncount(pc, mask);
                warp.groups[at].wait = Wait::Registers(needed);
                return Next::Stop(Stop::Blocked);
            }
            *free -= needed;
        } else {
            *self.registers.free.entry(warp.rank).or_default() += (have - count) * LANES as u32;
        }
        self.progress += 1;
        if !wrong {
            self.registers.counts.insert(warp.index, count);
        }
        self.registers.last.insert(warp.index, pc);
        warp.groups[at].pc = pc + 1;
        Next::Stop(Stop::Turn)
    }

    /// Registers that are free, for those who wait for them.
    pub(crate) fn wake_for_registers(&self, warps: &mut [Warp]) {
        for warp in warps {
            for group in &mut warp.groups {
                if let Wait::Registers(needed) = group.wait
                    && needed <= self.free_registers(warp.rank)
                {
                    group.wait = Wait::Nothing;
                }
            }
        }
    }

    /// Registers in the pool of a block.
    pub(crate) fn free_registers(&self, rank: u32) -> u32 {
        self.registers.free.get(&rank).copied().unwrap_or(0)
    }

    /// Tells whether all threads of a block have ended.
    pub(super) fn has_ended(&self, rank: u32) -> bool {
        self.ended.get(rank as usize) == Some(&self.threads)
    }

    /// The block of a thread, in the cluster.
    pub(super) fn rank_of(&self, thread: u32) -> u32 {
        thread / LANES as u32 / self.warps
    }

    pub(crate) fn threads_of_cluster(&self) -> u32 {
        self.threads * self.blocks.len() as u32
    }

    /// Notes warpgroups whose warps have not all asked for the same registers, as the block ends.
    pub(crate) fn end_registers(&mut self) {
        let warps = self.warps;
        let start = self.registers_at_start();
        let pool = std::mem::take(&mut self.registers);
        for (warp, inst) in &pool.last {
            let has = |warp: u32| pool.counts.get(&warp).copied().unwrap_or(start);
            let (block, local) = (warp / warps * warps, warp % warps);
            let group = local / WARPGROUP * WARPGROUP;
            let whole = block + group..block + (group + WARPGROUP).min(warps);
            if let Some(other) = whole.into_iter().find(|&other| has(other) != has(*warp)) {
                let thread = warp * LANES as u32;
                self.find_at_end(Kind::Undefined, *inst, thread, None, || {
                    format!("expected one setmaxnreg from all warps of a warpgroup, found {} registers in warp {local} and {} in warp {}", has(*warp), has(other), other % warps)
                });
                return;
            }
        }
    }

    /// `barrier.cluster`: all threads of the cluster come to it.
    pub(super) fn cluster_barrier(
        &mut self,
        warp: &mut Warp,
        at: usize,
        op: ClusterBarrier,
        active: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        match op {
            ClusterBarrier::Arrive { relaxed } => {
                self.progress += 1;
                for lane in lanes(active) {
                    let thread = warp.thread(lane);
                    let count = self.cluster.threads.entry(thread).or_default();
                    *count += 1;
                    if count.is_multiple_of(2) {
                        *count -= 1;
                        self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                            "expected barrier.cluster.wait between two barrier.cluster.arrive of a thread, found none".into()
                        });
                        continue;
                    }
                    let meeting = || self.clocks.meeting();
                    let release = self.cluster.release.get_or_insert_with(meeting);
                    if !relaxed {
                        self.clocks.release(thread, release);
                    }
                    self.cluster.arrived += 1;
                }
                self.end_cluster_phase();
                Next::Advance
            }
            ClusterBarrier::Wait => {
                let phase = self.cluster.phase;
                let waits = |lane: &usize| {
                    let count = self.cluster.threads.get(&warp.thread(*lane)).copied();
                    (count.unwrap_or(0) / 2, count.unwrap_or(0) % 2 == 1)
                };
                if let Some(lane) = lanes(active).find(|lane| !waits(lane).1) {
                    self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                        "expected barrier.cluster.arrive before barrier.cluster.wait, found none"
                            .into()
                    });
                    return Next::Advance;
                }
                if lanes(active).any(|lane| waits(&lane).0 >= phase) {
                    self.uncount(pc, active);
                    let group = &mut warp.groups[at];
                    if active == group.mask {
                        group.wait = Wait::Cluster;
                        return Next::Stop(Stop::Blocked);
                    }
                    // The others go on, and these try again.
                    let others = group.mask & !active;
                    group.mask = active;
                    group.wait = Wait::Cluster;
                    warp.groups.push(Group {
                        pc: pc + 1,
                        mask: others,
                        wait: Wait::Nothing,
                    });
                    return Next::Stop(Stop::Turn);
                }
                for lane in lanes(active) {
                    let thread = warp.thread(lane);
                    if let Some(count) = self.cluster.threads.get_mut(&thread) {
                        *count += 1;
                    }
                    if let Some(known) = &self.cluster.known {
                        self.clocks.join(thread, known);
                    }
                }
                Next::Advance
            }
        }
    }

    /// Threads end, and nobody waits for them any more.
    pub(super) fn leave_cluster(&mut self, warp: &Warp, active: Mask) {
        self.ended[warp.rank as usize] += active.count_ones();
        if self.has_ended(warp.rank) {
            self.check_visits(warp.rank);
        }
        for lane in lanes(active) {
            let count = self.cluster.threads.get(&warp.thread(lane)).copied();
            let arrived =
                count.is_some_and(|count| count % 2 == 1 && count / 2 == self.cluster.phase);
            match arrived {
                true => self.cluster.gone_after += 1,
                false => self.cluster.gone += 1,
            }
        }
        self.end_cluster_phase();
    }

    /// Ends the phase if all threads that are there have arrived.
    fn end_cluster_phase(&mut self) {
        let arrived = self.cluster.arrived;
        if arrived == 0 || arrived + self.cluster.gone < self.threads_of_cluster() {
            return;
        }
        self.cluster.arrived = 0;
        self.cluster.gone += std::mem::take(&mut self.cluster.gone_after);
        self.cluster.phase += 1;
        self.cluster.known = self.cluster.release.take().map(Release::finish);
    }

    /// Those who wait at the cluster's barrier look again.
    pub(crate) fn wake_at_cluster(&mut self, warps: &mut [Warp]) {
        let phase = self.cluster.phase;
        for warp in warps {
            let base = warp.index * LANES as u32;
            for group in &mut warp.groups {
                let over = |lane: usize| {
                    let count = self.cluster.threads.get(&(base + lane as u32));
                    count.is_none_or(|count| count / 2 < phase)
                };
                if group.wait == Wait::Cluster && lanes(group.mask).all(over) {
                    group.wait = Wait::Nothing;
                }
            }
        }
    }

    /// Threads that have come to the cluster's barrier.
    pub(crate) fn at_cluster(&self) -> u32 {
        self.cluster.arrived
    }

    /// `mapa`: the same variable in another block of the cluster.
    pub(super) fn map_address(
        &mut self,
        warp: &mut Warp,
        (d, s, rank): (Reg, Reg, Reg),
        active: Mask,
        pc: u32,
    ) {
        self.check(warp, s, active, pc);
        self.check(warp, rank, active, pc);
        let ranks = warp.rows[rank as usize];
        let blocks = self.blocks.len() as u64;
        let rank_of = |lane: usize| ranks[lane] & 0xffff_ffff;
        if let Some(lane) = lanes(active).find(|&lane| rank_of(lane) >= blocks) {
            let found = rank_of(lane);
            self.find(Kind::OutsideCluster, pc, None, warp.index, lane, None, || {
                format!("expected the rank of a block of the cluster, which is below {blocks}, found {found}{}", of_launch(blocks as usize))
            });
        }
        let mut value = warp.rows[s as usize];
        for lane in lanes(active) {
            // The bits of a generic address stay.
            let generic = value[lane] & address::SHARED;
            let (_, at) = address::block_of_place(value[lane] & !address::SHARED);
            value[lane] = generic | (rank_of(lane) % blocks + 1) << address::RANK_BITS | at;
        }
        Self::set(warp, d, &value, active);
    }
}

/// The advice to whoever names a block that a cluster of so many does not have.
pub(super) fn of_launch(blocks: usize) -> &'static str {
    match blocks {
        1 => "; launch it with clusters, or reach none but the block itself",
        _ => "; launch it with larger clusters, or reach none but the cluster's blocks",
    }
}
