//! Causes that findings have in common: one missing barrier, wait or fence makes many pairs of accesses race.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding::{Finding, Kind};
use super::program::{Kernel, Op};

/// Lines of the PTX between which something is missing that would order two accesses. Where `after` is not above `before`, threads
/// come from the one to the other by going back, in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gap {
    /// The line of the access that comes first.
    pub after: u32,
    /// The line of the other one.
    pub before: u32,
}

impl Gap {
    /// Tells whether threads come from the one to the other by going back.
    pub(super) fn loops(self) -> bool {
        self.after >= self.before
    }
}

/// The instruction that would order the accesses of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cure {
    /// A barrier of the block: `bar.sync`.
    Barrier,
    /// A wait for asynchronous copies or products.
    Wait,
    /// A fence of the asynchronous proxy: `fence.proxy.async`.
    ProxyFence,
    /// An order in global memory: a barrier within a block; between blocks a release and an acquire of scope `.gpu`, or another launch.
    GlobalOrder,
    /// Nothing that orders.
    None,
}

/// One mistake, and the findings that it makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The instruction that is missing.
    pub cure: Cure,
    /// The place where it would order all of the pairs, if that can be told.
    pub gap: Option<Gap>,
    /// The name of the kernel.
    pub kernel: String,
    /// Indices of the findings, in the order of the list that was given.
    pub findings: Vec<usize>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.findings.len();
        let found = match count {
            1 => "1 finding".to_string(),
            _ => format!("{count} findings"),
        };
        let what = match self.cure {
            Cure::Barrier => "a missing barrier (bar.sync)",
            Cure::Wait => "a missing wait",
            Cure::ProxyFence => "a missing fence.proxy.async",
            Cure::GlobalOrder => "a missing order in global memory",
            Cure::None => "a mistake",
        };
        write!(f, "{found} by {what} in {}", self.kernel)?;
        match self.gap {
            Some(gap) if gap.loops() => write!(
                f,
                ": one after PTX line {} and before line {} of the next turn of the loop orders them",
                gap.after, gap.before
            ),
            Some(gap) => write!(
                f,
                ": one between PTX lines {} and {} orders them",
                gap.after, gap.before
            ),
            None => Ok(()),
        }
    }
}

fn cure(finding: &Finding) -> Cure {
    match finding.kind {
        Kind::SharedRace | Kind::EqualWrites => Cure::Barrier,
        // Both are of one block.
        Kind::GlobalRace | Kind::ConflictingWrites if finding.gap.is_some() => Cure::Barrier,
        Kind::GlobalRace | Kind::ConflictingWrites => Cure::GlobalOrder,
        Kind::MissingWait => Cure::Wait,
        Kind::MissingFence => Cure::ProxyFence,
        _ => Cure::None,
    }
}

/// The findings by what is missing: each finding is of one cause. Pairs that one barrier (or wait, or fence) would order are together;
/// there are no fewer places that order all of them. Causes stand in the order of their first findings.
pub fn causes(findings: &[Finding]) -> Vec<Cause> {
    let mut all: Vec<Cause> = Vec::new();
    // Intervals by where they end: the last place that orders the first one is the best for others, too.
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&index| {
        let end = |gap: Gap| (gap.loops(), gap.before);
        (findings[index].gap.map(end), index)
    });
    for index in order {
        let finding = &findings[index];
        let mine = cure(finding);
        let joins = |cause: &Cause| {
            cause.kernel == finding.kernel
                && cause.cure == mine
                && match (cause.gap, finding.gap) {
                    (Some(theirs), Some(gap)) if theirs.loops() == gap.loops() => {
                        meet(theirs, gap).is_some()
                    }
                    // A write that races with itself over turns is ordered by what stands anywhere in the loop.
                    (None, None) => same_place(&findings[cause.findings[0]], finding),
                    _ => false,
                }
        };
        match all
            .iter_mut()
            .find(|cause| mine != Cure::None && joins(cause))
        {
            Some(cause) => {
                if let (Some(theirs), Some(gap)) = (cause.gap, finding.gap) {
                    cause.gap = meet(theirs, gap);
                }
                cause.findings.push(index);
            }
            None => all.push(Cause {
                cure: mine,
                gap: finding.gap,
                kernel: finding.kernel.clone(),
                findings: vec![index],
            }),
        }
    }
    for cause in &mut all {
        cause.findings.sort_unstable();
    }
    all.sort_by_key(|cause| cause.findings[0]);
    all
}

/// The place that is in both gaps.
fn meet(a: Gap, b: Gap) -> Option<Gap> {
    let both = Gap {
        after: a.after.max(b.after),
        before: a.before.min(b.before),
    };
    // Around a loop there is always its end, as long as both are of one loop: they overlap.
    let overlap = a.loops() && a.before.max(b.before) <= a.after.min(b.after);
    (both.after < both.before || overlap).then_some(both)
}

fn same_place(a: &Finding, b: &Finding) -> bool {
    match (&a.other, &b.other) {
        (Some(a), Some(b)) => a.ptx_line == b.ptx_line,
        _ => false,
    }
}

/// The place where a barrier is missing between two accesses of one block; none if a barrier stands on every way from either to
/// the other.
pub(super) fn gap(kernel: &Kernel, first: u32, second: u32) -> Option<Gap> {
    let line = |inst: u32| kernel.origins[inst as usize].line;
    let gap = |from: u32, to: u32| Gap {
        after: line(from),
        before: line(to),
    };
    let (forth, back) = (
        reaches(kernel, first, second),
        reaches(kernel, second, first),
    );
    let (one, other) = (gap(first, second), gap(second, first));
    // A way down the text is shorter than one through a loop.
    match (forth, back) {
        (true, true) if one.loops() => Some(other),
        (true, _) => Some(one),
        (false, true) => Some(other),
        (false, false) => None,
    }
}

/// Tells whether a thread comes from one instruction to another without a barrier of its block.
fn reaches(kernel: &Kernel, from: u32, to: u32) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![from];
    while let Some(at) = pending.pop() {
        for next in successors(kernel, at) {
            if next == to {
                return true;
            }
            let blocked = matches!(
                kernel.insts.get(next as usize).map(|inst| &inst.op),
                None | Some(Op::Barrier(_) | Op::ClusterBarrier(_))
            );
            if !blocked && seen.insert(next) {
                pending.push(next);
            }
        }
    }
    false
}

fn successors(kernel: &Kernel, at: u32) -> Vec<u32> {
    let inst = &kernel.insts[at as usize];
    let mut next = match &inst.op {
        Op::Branch(target) | Op::Goto(target) => vec![*target],
        Op::BranchIndex { targets, .. } => targets.clone(),
        _ => Vec::new(),
    };
    let ends = matches!(
        inst.op,
        Op::Branch(_) | Op::Goto(_) | Op::BranchIndex { .. } | Op::Exit | Op::Return | Op::Trap
    );
    if !ends || inst.guard.is_some() {
        next.push(at + 1);
    }
    next
}
