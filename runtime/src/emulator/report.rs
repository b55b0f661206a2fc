//! What a run did: instructions, and what memory had to do for them.

use serde::Serialize;

use super::finding::{Finding, Site};

/// Passes over the banks of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Passes {
    /// As the addresses need them.
    pub actual: u64,
    /// Without conflicts.
    pub ideal: u64,
}

/// What instructions of global memory move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Executions by a warp that reach memory.
    pub requests: u64,
    /// Of 32 bytes, each counted once a request.
    pub sectors: u64,
    /// The fewest that the bytes need.
    pub ideal: u64,
}

/// What one instruction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Executions by a warp.
    pub warps: u64,
    /// Executions by a thread.
    pub threads: u64,
    pub shared: Passes,
    pub global: Traffic,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.shared.actual += other.shared.actual;
        self.shared.ideal += other.shared.ideal;
        self.global.requests += other.global.requests;
        self.global.sectors += other.global.sectors;
        self.global.ideal += other.global.ideal;
    }
}

/// One instruction of the text that touches memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    #[serde(flatten)]
    pub site: Site,
    pub warps: u64,
    pub threads: u64,
    pub shared: Passes,
    pub global: Traffic,
}

/// What one launch did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchReport {
    pub kernel: String,
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of a block, static and dynamic.
    pub shared_memory: u64,
    /// Instructions by warps and by threads.
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    /// Those that touch memory.
    pub lines: Vec<Line>,
}

/// What a run did, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub launches: Vec<LaunchReport>,
    pub findings: Vec<Finding>,
    /// What the kernels printed, block after block.
    pub printed: String,
    /// Whether it ended before its time, at a trap, a deadlock or the limit: results are not whole.
    pub halted: bool,
}
