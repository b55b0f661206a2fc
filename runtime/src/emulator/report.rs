//! The report of a run: instructions, and what memory had to do for them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::{Finding, Site};
use crate::ptx::{Class, Place};

/// Passes over the banks of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Passes {
    /// The passes that the addresses need, as the profiler counts them.
    pub actual: u64,
    /// The passes of these that addresses in shared memory are the reason for. Less than `actual` only for `cp.async`, which
    /// also waits for its sources in L1: rows of global memory shorter than 128 bytes conflict there, whatever the layout
    /// of shared memory is.
    pub banks: u64,
    /// Without conflicts.
    pub ideal: u64,
}

impl Passes {
    /// Passes that another layout of shared memory could save.
    pub fn conflicts(&self) -> u64 {
        self.banks.saturating_sub(self.ideal)
    }
}

/// The traffic of instructions of global memory, for tensors that begin at multiples of 256 bytes, as allocations do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Executions by a warp that reach memory.
    pub requests: u64,
    /// Sectors of 32 bytes, each counted once a request.
    pub sectors: u64,
    /// The fewest that the bytes need.
    pub ideal: u64,
}

/// The counts of an instruction, or of several of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Executions by a warp, those in which no thread takes part included.
    pub warps: u64,
    /// Executions by a thread.
    pub threads: u64,
    /// Passes over the banks of shared memory.
    pub shared: Passes,
    /// Traffic of global memory.
    pub global: Traffic,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.shared.actual += other.shared.actual;
        self.shared.banks += other.shared.banks;
        self.shared.ideal += other.shared.ideal;
        self.global.requests += other.global.requests;
        self.global.sectors += other.global.sectors;
        self.global.ideal += other.global.ideal;
    }
}

/// One instruction of the text that touches memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The instruction and its place.
    #[serde(flatten)]
    pub site: Site,
    /// The kind of work that it does.
    pub class: Class,
    /// Executions of the instruction, and their accesses to memory.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The instructions of one kind that one step of a line of the program became. Where the PTX does not say what
/// it was compiled from, each of its lines is a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The place in the program that was compiled; none where the PTX does not say.
    pub source: Option<Place>,
    /// The kind of work that the instructions do.
    pub class: Class,
    /// Lines of the PTX, from 1, ascending.
    pub ptx_lines: Vec<u32>,
    /// The sums over all of the instructions.
    #[serde(flatten)]
    pub counts: Counts,
}

impl Step {
    /// The steps of lines, in the order of the first line of each.
    pub(super) fn all(lines: &[Line]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut known: BTreeMap<(Option<&Place>, u32, Class), usize> = BTreeMap::new();
        for line in lines {
            let source = line.site.source.as_ref();
            let text_line = match source {
                Some(_) => 0,
                None => line.site.ptx_line,
            };
            let at = *known
                .entry((source, text_line, line.class))
                .or_insert_with(|| {
                    steps.push(Step {
                        source: line.site.source.clone(),
                        class: line.class,
                        ptx_lines: Vec::new(),
                        counts: Counts::default(),
                    });
                    steps.len() - 1
                });
            let step = &mut steps[at];
            step.counts.add(&line.counts);
            if step.ptx_lines.last() != Some(&line.site.ptx_line) {
                step.ptx_lines.push(line.site.ptx_line);
            }
        }
        steps
    }
}

/// The number of blocks of the kernel that one multiprocessor runs at once ([`cute_target::Occupancy`]).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Occupancy {
    /// The architecture that it is of.
    pub arch: String,
    /// Registers of a thread, if the package says.
    pub registers: Option<u32>,
    /// Blocks of the kernel that run at once.
    pub blocks: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// Warps that the multiprocessor has room for.
    pub most_warps: u32,
    /// Warps in percent of what there is room for.
    pub percent: f64,
    /// The resources that another block lacks: `registers`, `shared memory`, `warps`, `blocks`.
    pub limited_by: Vec<&'static str>,
}

impl Occupancy {
    pub(super) fn new(arch: String, registers: u32, found: &cute_target::Occupancy) -> Occupancy {
        Occupancy {
            arch,
            registers: (registers != 0).then_some(registers),
            blocks: found.blocks,
            warps: found.warps,
            most_warps: found.most_warps,
            percent: found.percent(),
            limited_by: found.limited_by(),
        }
    }
}

/// The report of one launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchReport {
    /// The name of the kernel.
    pub kernel: String,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of a block, static and dynamic.
    pub shared_memory: u64,
    /// The occupancy of a multiprocessor by the kernel.
    pub occupancy: Occupancy,
    /// Instructions by warps and by threads.
    pub warp_instructions: u64,
    /// Instructions by threads.
    pub thread_instructions: u64,
    /// The same and what memory did, by kind; kinds that were not executed are left out.
    pub instructions: BTreeMap<Class, Counts>,
    /// Multiplications with an addition, of all products of matrices.
    pub multiply_adds: u64,
    /// Instructions that touch memory, by the steps of the program that they are from.
    pub steps: Vec<Step>,
    /// The same, one by one in the order of the PTX.
    pub lines: Vec<Line>,
}

/// The report of a run, with what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The launches that ran, in order.
    pub launches: Vec<LaunchReport>,
    /// The mistakes that were found.
    pub findings: Vec<Finding>,
    /// The text that the kernels printed, block after block.
    pub printed: String,
    /// Tells whether the run ended before its time, at a trap, a deadlock or the limit: results are not whole.
    pub halted: bool,
}
