//! A timeline of warps, for Perfetto and other readers of Chrome's trace events.
//!
//! There is no time in the emulator: what passes is instructions of the warps of a block, one at a time. A block begins at 0, and a launch
//! where the longest block of the one before it has ended.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::exec::Wait;
use super::finding::Site;
use super::program::Kernel;

/// Stretches that are kept of a block.
const MOST: usize = 1 << 14;

/// A stretch of a warp: instructions of one place that it executed, or a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The warp's number in its block.
    pub warp: u32,
    /// The rank of its block in the cluster.
    pub rank: u32,
    /// Instructions of the block's warps before it.
    pub begin: u64,
    /// The same at its end.
    pub end: u64,
    /// The first of its instructions, or that which waits.
    pub first: Site,
    /// The last one.
    pub last: Site,
    /// Lanes that were active in one of the instructions, at most.
    pub lanes: u32,
    /// The thing that is waited for.
    pub wait: Option<String>,
}

/// The stretches of a block, or of a cluster of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTimeline {
    /// Index of the block in the grid; of the first one of a cluster.
    pub block: [u32; 3],
    /// The stretches, in the order of their ends.
    pub stretches: Vec<Stretch>,
    /// Stretches that were not kept.
    pub left_out: u64,
}

/// The blocks of a launch that were watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The name of the kernel.
    pub kernel: String,
    /// The blocks, in their order.
    pub blocks: Vec<BlockTimeline>,
    /// Blocks of the grid that were not watched.
    pub others: u64,
}

/// A stretch before its places are written out.
#[derive(Clone, Copy)]
struct Raw {
    warp: u32,
    begin: u64,
    end: u64,
    first: u32,
    last: u32,
    lanes: u32,
    wait: Option<Wait>,
}

/// The stretches of a block that runs.
pub(super) struct Watched {
    kept: Vec<Raw>,
    left_out: u64,
    /// The instruction that the warp whose turn it is executes.
    now: Option<Raw>,
    /// Since when each warp has waited, where, and for what.
    waiting: Vec<Option<(u64, u32, Wait)>>,
}

impl Watched {
    pub(super) fn new(warps: usize) -> Watched {
        Watched {
            kept: Vec::new(),
            left_out: 0,
            now: None,
            waiting: vec![None; warps],
        }
    }

    /// A warp executes an instruction, `at` instructions after the block began.
    pub(super) fn executes(&mut self, kernel: &Kernel, warp: u32, at: u64, pc: u32, lanes: u32) {
        let place = |pc: u32| &kernel.origins[pc as usize].source;
        match &mut self.now {
            Some(now) if now.warp == warp && now.end == at && place(now.last) == place(pc) => {
                now.end = at + 1;
                now.last = pc;
                now.lanes = now.lanes.max(lanes);
            }
            now => {
                let begun = Raw {
                    warp,
                    begin: at,
                    end: at + 1,
                    first: pc,
                    last: pc,
                    lanes,
                    wait: None,
                };
                let before = now.replace(begun);
                before.into_iter().for_each(|raw| self.keep(raw));
            }
        }
    }

    /// A warp waits, or does not wait any more.
    pub(super) fn waits(&mut self, warp: u32, at: u64, wait: Option<(u32, Wait)>) {
        let slot = &mut self.waiting[warp as usize];
        match (*slot, wait) {
            (None, Some((pc, wait))) => *slot = Some((at, pc, wait)),
            (Some((begin, pc, wait)), None) => {
                *slot = None;
                self.keep(Raw {
                    warp,
                    begin,
                    end: at,
                    first: pc,
                    last: pc,
                    lanes: 0,
                    wait: Some(wait),
                });
            }
            _ => {}
        }
    }

    fn keep(&mut self, raw: Raw) {
        if raw.begin == raw.end {
            return;
        }
        if self.kept.len() < MOST {
            self.kept.push(raw);
        } else {
            self.left_out += 1;
        }
    }

    /// The stretches of the block, which ends `at` so many instructions; `warps` of each block of the cluster.
    pub(super) fn finish(
        mut self,
        block: [u32; 3],
        warps: u32,
        at: u64,
        site: impl Fn(u32) -> Site,
    ) -> BlockTimeline {
        for warp in 0..self.waiting.len() {
            self.waits(warp as u32, at, None);
        }
        let now = self.now.take();
        now.into_iter().for_each(|raw| self.keep(raw));
        let stretch = |raw: &Raw| Stretch {
            warp: raw.warp % warps,
            rank: raw.warp / warps,
            begin: raw.begin,
            end: raw.end,
            first: site(raw.first),
            last: site(raw.last),
            lanes: raw.lanes,
            wait: raw.wait.map(waited_for),
        };
        BlockTimeline {
            block,
            stretches: self.kept.iter().map(stretch).collect(),
            left_out: self.left_out,
        }
    }
}

fn waited_for(wait: Wait) -> String {
    match wait {
        Wait::Nothing => "nothing".into(),
        Wait::Lanes(_) => "other lanes of the warp".into(),
        // Barriers are numbered through the cluster, 16 of each block.
        Wait::Barrier(id) => format!("barrier {}", id % 16),
        Wait::Phase(at) => format!("a phase of the mbarrier at byte {at} of shared memory"),
        Wait::Registers(count) => format!("{count} registers"),
        Wait::Cluster => "the cluster's barrier".into(),
        Wait::Products => "wgmma of other warps".into(),
    }
}

impl Stretch {
    /// The name of the stretch: the place in the source, else the lines of the PTX.
    fn name(&self) -> String {
        if let Some(wait) = &self.wait {
            return format!("waits for {wait}");
        }
        let (first, last) = (self.first.ptx_line, self.last.ptx_line);
        match &self.first.source {
            Some(place) => place.to_string(),
            None if first == last => format!("{} (PTX line {first})", self.first.instruction),
            None => format!("PTX lines {first} to {last}"),
        }
    }
}

/// Timelines as JSON of Chrome's trace events, which Perfetto shows: a process for each block, a thread for each warp, and a microsecond for
/// each instruction.
pub fn perfetto(timelines: &[Timeline]) -> serde_json::Value {
    let mut events = Vec::new();
    let (mut process, mut begin, mut left_out, mut others) = (0, 0, 0, 0);
    for (number, timeline) in timelines.iter().enumerate() {
        let mut end = begin;
        others += timeline.others;
        for block in &timeline.blocks {
            left_out += block.left_out;
            let ranks = block.stretches.iter().map(|stretch| stretch.rank).max();
            let ranks = ranks.unwrap_or(0) + 1;
            let [x, y, z] = block.block;
            for rank in 0..ranks {
                let of_cluster = match ranks {
                    1 => String::new(),
                    _ => format!(", rank {rank} of its cluster"),
                };
                let name = format!(
                    "launch {number}, {}: block ({x},{y},{z}){of_cluster}",
                    timeline.kernel
                );
                events.push(json!({"ph": "M", "name": "process_name", "pid": process + rank, "args": {"name": name}}));
                events.push(json!({"ph": "M", "name": "process_sort_index", "pid": process + rank, "args": {"sort_index": process + rank}}));
            }
            let mut named = std::collections::BTreeSet::new();
            for stretch in &block.stretches {
                let at = process + stretch.rank;
                if named.insert((stretch.rank, stretch.warp)) {
                    let name = format!("warp {}", stretch.warp);
                    events.push(json!({"ph": "M", "name": "thread_name", "pid": at, "tid": stretch.warp, "args": {"name": name}}));
                }
                end = end.max(begin + stretch.end);
                let lines = [stretch.first.ptx_line, stretch.last.ptx_line];
                let kind = if stretch.wait.is_some() {
                    "wait"
                } else {
                    "run"
                };
                events.push(json!({
                    "ph": "X", "cat": kind, "name": stretch.name(), "pid": at, "tid": stretch.warp,
                    "ts": begin + stretch.begin, "dur": stretch.end - stretch.begin,
                    "args": {"first": stretch.first.to_string(), "last": stretch.last.to_string(), "PTX lines": lines, "lanes": stretch.lanes},
                }));
            }
            process += ranks;
        }
        begin = end;
    }
    json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"unit": "1 us is one instruction of a warp of the block", "stretches left out": left_out, "blocks not watched": others},
    })
}
