//! A launch: its blocks, over the cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::block;
use super::exec::{Gathered, Launch};
use super::finding::{Collector, Finding, Kind, Site};
use super::lanes::LANES;
use super::program::{Kernel, Op, Space};
use super::report::{Counts, LaunchReport, Line, Occupancy, Step};
use crate::parallel::parallel_fold;
use crate::ptx::Class;

/// Blocks that a core takes at a time, at most.
const PIECE: u64 = 16;

/// What a launch left behind.
pub(super) struct Outcome {
    pub report: LaunchReport,
    pub findings: Vec<Finding>,
    pub printed: String,
    /// Whether a block ended before its time.
    pub halted: bool,
}

/// Runs all blocks of a launch.
pub(super) fn run(launch: &Launch<'_>) -> Outcome {
    let kernel = launch.kernel;
    let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
    let pieces: Vec<std::ops::Range<u64>> = (0..blocks.div_ceil(PIECE))
        .map(|piece| piece * PIECE..((piece + 1) * PIECE).min(blocks))
        .collect();
    // Blocks after one that cannot go on need not run.
    let halted = AtomicU64::new(u64::MAX);
    let fresh = || Gathered {
        counts: vec![Counts::default(); kernel.insts.len()],
        findings: Collector::default(),
        printed: Vec::new(),
    };
    // Findings by the first block of a piece.
    let start = || (fresh(), Vec::new());
    let parts = parallel_fold(pieces, start, |(gathered, found), piece| {
        let first = piece.start;
        for linear in piece {
            if linear > halted.load(Relaxed) {
                break;
            }
            if block::run(launch, gathered, linear) == block::End::Halted {
                halted.fetch_min(linear, Relaxed);
            }
        }
        let findings = std::mem::take(&mut gathered.findings);
        if !findings.is_empty() {
            found.push((first, findings));
        }
    });
    // What blocks after the first that halted have found depends on how far they came.
    let last = halted.into_inner();
    let mut all = fresh();
    for (gathered, found) in parts {
        for (mine, new) in all.counts.iter_mut().zip(&gathered.counts) {
            mine.add(new);
        }
        for (first, findings) in found {
            if first <= last {
                all.findings.merge(findings);
            }
        }
        let printed = gathered.printed.into_iter();
        all.printed
            .extend(printed.filter(|(block, _)| *block <= last));
    }
    all.printed.sort_by_key(|(block, _)| *block);
    Outcome {
        report: report(launch, blocks, &all.counts),
        findings: findings(kernel, all.findings),
        printed: all.printed.into_iter().map(|(_, text)| text).collect(),
        halted: last != u64::MAX,
    }
}

fn site(kernel: &Kernel, inst: u32) -> Site {
    let origin = &kernel.origins[inst as usize];
    Site {
        instruction: origin.text.clone(),
        ptx_line: origin.line,
        source: origin.source.clone(),
    }
}

fn findings(kernel: &Kernel, found: Collector) -> Vec<Finding> {
    let mut findings: Vec<Finding> = found
        .into_raw()
        .map(|raw| Finding {
            kind: raw.kind,
            kernel: kernel.name.clone(),
            site: Some(site(kernel, raw.inst)),
            other: (raw.other != raw.inst
                || matches!(raw.kind, Kind::SharedRace | Kind::MissingWait))
            .then(|| site(kernel, raw.other)),
            thread: Some(raw.thread),
            address: raw.address,
            message: raw.message,
            count: raw.count,
        })
        .collect();
    findings.sort_by_key(|finding| finding.site.as_ref().map_or(0, |site| site.ptx_line));
    findings
}

fn report(launch: &Launch<'_>, blocks: u64, counts: &[Counts]) -> LaunchReport {
    let kernel = launch.kernel;
    let touches = |op: &Op| match op {
        Op::Load(access) | Op::Store(access) => {
            !matches!(access.space, Space::Param | Space::Const)
        }
        Op::AsyncCopy(_) | Op::LoadMatrix { .. } | Op::StoreMatrix { .. } | Op::Atomic(_) => true,
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
