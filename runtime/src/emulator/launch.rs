//! A launch: its blocks, over the cores.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::block::{Block, End, Ended};
use super::cause::{self, Gap};
use super::exec::Launch;
use super::finding::{Collector, Finding, Kind, Site};
use super::lanes::LANES;
use super::program::{Kernel, Op, Space};
use super::report::{Counts, LaunchReport, Line, Occupancy, Step};
use super::timeline::Timeline;
use crate::parallel::parallel_fold;
use crate::ptx::Class;
use crate::tensor::mix;

/// Instructions of a block's warps before it is another one's turn on its core, where blocks may wait for each other.
const SLICE: u64 = 16 << 10;
/// Blocks that run in turns on all cores, at most: as many as a GPU may have at a time.
const RESIDENT: usize = 256;

/// The results of a launch.
pub(super) struct Outcome {
    pub report: LaunchReport,
    pub findings: Vec<Finding>,
    pub printed: String,
    /// Tells whether a block ended before its time.
    pub halted: bool,
    /// The blocks whose warps' stretches were noted.
    pub timeline: Option<Timeline>,
}

/// The results that a core has gathered.
#[derive(Default)]
struct Core {
    counts: Vec<Counts>,
    /// Blocks that have ended and of which there is something to tell.
    ended: Vec<Ended>,
}

/// Runs all blocks of a launch.
pub(super) fn run(launch: &Launch<'_>) -> Outcome {
    let kernel = launch.kernel;
    // What runs as one: blocks, or clusters of them.
    let blocks: u64 = (0..3)
        .map(|d| u64::from(launch.grid[d] / launch.cluster[d]))
        .product();
    // Blocks after one that cannot go on need not run.
    let halted = AtomicU64::new(u64::MAX);
    let next = AtomicU64::new(0);
    let take = || {
        let at = next.fetch_add(1, Relaxed);
        (at < blocks).then(|| order(launch, blocks, at))
    };
    let cores = launch
        .cores
        .min(usize::try_from(blocks).unwrap_or(launch.cores));
    let start = || Core {
        counts: vec![Counts::default(); kernel.insts.len()],
        ended: Vec::new(),
    };
    let parts = parallel_fold(
        vec![RESIDENT.div_ceil(cores); cores],
        start,
        |core, most| {
            run_core(launch, core, &take, &halted, most);
        },
    );
    // What blocks after the first that halted have found depends on how far they came.
    let last = halted.into_inner();
    let mut counts = vec![Counts::default(); kernel.insts.len()];
    let mut all = Collector::default();
    let mut printed = Vec::new();
    let mut noted = Vec::new();
    for core in parts {
        for (mine, new) in counts.iter_mut().zip(&core.counts) {
            mine.add(new);
        }
        for ended in core.ended {
            if ended.block <= last {
                all.merge(ended.findings);
                printed.push((ended.block, ended.printed));
                noted.extend(ended.timeline.map(|timeline| (ended.block, timeline)));
            }
        }
    }
    noted.sort_by_key(|(block, _)| *block);
    printed.sort_by_key(|(block, _)| *block);
    Outcome {
        report: report(
            launch,
            launch.grid.iter().map(|&n| u64::from(n)).product(),
            &counts,
        ),
        findings: findings(launch, all),
        printed: printed.into_iter().map(|(_, text)| text).collect(),
        halted: last != u64::MAX,
        timeline: (launch.watched > 0).then(|| Timeline {
            kernel: kernel.name.clone(),
            others: blocks - noted.len() as u64,
            blocks: noted.into_iter().map(|(_, timeline)| timeline).collect(),
        }),
    }
}

/// Runs blocks on one core: one after the other, or, where they may wait for each other, several in turns.
fn run_core(
    launch: &Launch<'_>,
    core: &mut Core,
    take: &dyn Fn() -> Option<u64>,
    halted: &AtomicU64,
    most: usize,
) {
    let slice = match launch.kernel.waits {
        true => SLICE,
        false => u64::MAX,
    };
    let mut resident: VecDeque<Block<'_>> = VecDeque::new();
    loop {
        let fresh = if resident.len() < most { take() } else { None };
        let mut block = match fresh {
            Some(linear) if linear > halted.load(Relaxed) => continue,
            Some(linear) => Block::start(launch, linear),
            None => match resident.pop_front() {
                Some(block) => block,
                None => break,
            },
        };
        let linear = block.linear();
        if linear > halted.load(Relaxed) {
            continue;
        }
        let beside = launch.kernel.waits && launch.grid != launch.cluster;
        block.is_beside_others(beside);
        match block.advance(&mut core.counts, slice) {
            None => {
                resident.push_back(block);
                continue;
            }
            Some(End::Halted) => {
                halted.fetch_min(linear, Relaxed);
            }
            Some(End::Finished) => {}
        }
        let ended = block.finish();
        let found = !ended.findings.is_empty();
        if launch.stop_at_findings && !launch.kernel.waits && found {
            halted.fetch_min(linear, Relaxed);
        }
        if found || !ended.printed.is_empty() || ended.timeline.is_some() {
            core.ended.push(ended);
        }
    }
}

/// The block that is the next to begin. Where blocks may see each other, the seed decides: they begin in their order, in the reverse
/// one, or in one that looks like none.
fn order(launch: &Launch<'_>, blocks: u64, at: u64) -> u64 {
    match launch.seed % 3 {
        1 if launch.kernel.waits => blocks - 1 - at,
        2 if launch.kernel.waits => {
            // A step that has no divisor in common with the number of blocks leads to each of them once.
            let common = |mut a: u64, mut b: u64| {
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a
            };
            let first = mix(launch.seed, blocks) % blocks;
            let step = (first..).find(|&step| common(step, blocks) == 1);
            // Blocks are at most 2^25.
            (first + at * step.unwrap_or(1)) % blocks
        }
        _ => at,
    }
}

/// The place of an instruction.
pub(super) fn site(kernel: &Kernel, inst: u32) -> Site {
    let origin = &kernel.origins[inst as usize];
    Site {
        instruction: origin.text.clone(),
        ptx_line: origin.line,
        source: origin.source.clone(),
    }
}

fn findings(launch: &Launch<'_>, found: Collector) -> Vec<Finding> {
    let kernel = launch.kernel;
    let mut findings: Vec<Finding> = found
        .into_raw()
        .map(|raw| Finding {
            kind: raw.kind,
            kernel: kernel.name.clone(),
            site: Some(site(kernel, raw.inst)),
            other: raw
                .other
                .filter(|&other| other != raw.inst || raw.kind.is_of_two())
                .map(|other| site(kernel, other)),
            thread: Some(raw.thread),
            address: raw.address,
            message: raw.message,
            gap: raw
                .other
                .and_then(|other| gap_of(launch, raw.kind, other, raw.inst)),
            count: raw.count,
            follow: 0,
            shown_by: None,
        })
        .collect();
    findings.sort_by_key(|finding| finding.site.as_ref().map_or(0, |site| site.ptx_line));
    findings
}

/// The place where something is missing between two accesses of one block.
fn gap_of(launch: &Launch<'_>, kind: Kind, first: u32, second: u32) -> Option<Gap> {
    let kernel = launch.kernel;
    match kind {
        Kind::SharedRace | Kind::EqualWrites | Kind::GlobalRace | Kind::ConflictingWrites => {
            cause::gap(kernel, first, second)
        }
        // A barrier is there, and the fence may stand on either side of it.
        Kind::MissingFence if first != second => Some(Gap {
            after: kernel.origins[first as usize].line,
            before: kernel.origins[second as usize].line,
        }),
        _ => None,
    }
}

fn report(launch: &Launch<'_>, blocks: u64, counts: &[Counts]) -> LaunchReport {
    let kernel = launch.kernel;
    let touches = |op: &Op| match op {
        Op::Load(access) | Op::Store(access) => {
            !matches!(access.space, Space::Param | Space::Const)
        }
        Op::AsyncCopy(_) | Op::LoadMatrix { .. } | Op::StoreMatrix { .. } | Op::Atomic(_) => true,
        Op::LoadFragment(_) | Op::StoreFragment(_) => true,
        _ => false,
    };
    let lines = kernel
        .insts
        .iter()
        .zip(counts)
        .enumerate()
        .filter(|(_, (inst, counts))| counts.warps != 0 && touches(&inst.op))
        .map(|(at, (_, counts))| Line {
            site: site(kernel, at as u32),
            class: kernel.origins[at].class,
            counts: *counts,
        });
    let mut lines: Vec<Line> = lines.collect();
    lines.sort_by_key(|line| line.site.ptx_line);
    let mut instructions: BTreeMap<Class, Counts> = BTreeMap::new();
    let mut multiply_adds = 0;
    for ((inst, origin), counts) in kernel.insts.iter().zip(&kernel.origins).zip(counts) {
        if counts.warps == 0 {
            continue;
        }
        instructions.entry(origin.class).or_default().add(counts);
        if let Op::Mma(op) = &inst.op {
            // All lanes of a warp take part.
            multiply_adds += counts.threads / LANES as u64 * op.mma.macs();
        }
        if let Op::SparseMma(op) = &inst.op {
            multiply_adds += counts.threads / LANES as u64 * op.product.mma.macs();
        }
        if let Op::Wmma(op) = &inst.op {
            multiply_adds += counts.threads / LANES as u64 * op.mma.macs();
        }
        if let Op::Wgmma(op) = &inst.op {
            multiply_adds += counts.threads / LANES as u64 * op.mma.macs();
        }
    }
    let threads = launch.block.iter().product();
    let shared_memory = kernel.shared_bytes(launch.dynamic_smem);
    let occupancy =
        launch
            .arch
            .multiprocessor()
            .occupancy(threads, launch.registers, shared_memory);
    LaunchReport {
        kernel: kernel.name.clone(),
        blocks,
        threads,
        shared_memory,
        occupancy: Occupancy::new(launch.arch.to_string(), launch.registers, &occupancy),
        warp_instructions: counts.iter().map(|counts| counts.warps).sum(),
        thread_instructions: counts.iter().map(|counts| counts.threads).sum(),
        instructions,
        multiply_adds,
        steps: Step::all(&lines),
        lines,
    }
}
