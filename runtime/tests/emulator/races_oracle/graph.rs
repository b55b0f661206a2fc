//! The order of all events as a graph, and what follows for each pair of accesses.

use std::collections::BTreeSet;

use super::LANES;
use super::programs::{FLAGS, How, MBARRIERS, Place, Program, Step, Strength};

/// The mistakes of a program, by numbers of steps.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// Pairs that conflict, the lower first; also a step with itself.
    pub conflicts: BTreeSet<(usize, usize)>,
    /// The conflicting pairs of which one step is a copy.
    pub in_flight: BTreeSet<(usize, usize)>,
    pub uninitialized: BTreeSet<usize>,
}

impl Troubles {
    pub(super) fn is_empty(&self) -> bool {
        self.conflicts.is_empty() && self.uninitialized.is_empty()
    }
}

type Node = usize;

#[derive(Clone, Copy)]
struct Access {
    node: Node,
    step: usize,
    at: u32,
    bytes: u32,
    reads: bool,
    writes: bool,
    copy: bool,
    /// Bytes of an element if it is strong, else none.
    strong: Option<u32>,
}

/// Threads are numbered by warp and lane, of which there are few.
struct Graph {
    /// The nodes directly before each node: nodes of lower numbers.
    before: Vec<Vec<Node>>,
    last: Vec<Option<Node>>,
    accesses: Vec<Access>,
    step: usize,
    /// Copies of each thread that are not waited for, with their group.
    copies: Vec<Vec<(Node, u32)>>,
    committed: Vec<u32>,
    fence: Vec<Option<Node>>,
    /// The releases that relaxed reads of a thread saw since, for its next fence.
    seen: Vec<Vec<Node>>,
    released: [Vec<Node>; 4],
    arrivals: [(u32, Vec<Node>); 3],
    phases: [Vec<Node>; 3],
}

fn threads(warp: u32, mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES)
        .filter(move |lane| mask >> lane & 1 != 0)
        .map(move |lane| (warp * LANES + lane) as usize)
}

pub(super) fn troubles(program: &Program) -> Troubles {
    let count = (program.warps * LANES) as usize;
    let mut graph = Graph {
        before: Vec::new(),
        last: vec![None; count],
        accesses: Vec::new(),
        step: 0,
        copies: vec![Vec::new(); count],
        committed: vec![0; count],
        fence: vec![None; count],
        seen: vec![Vec::new(); count],
        released: Default::default(),
        arrivals: Default::default(),
        phases: Default::default(),
    };
    for (at, step) in program.steps.iter().enumerate() {
        if program.use_of(at).is_some_and(|found| found.dropped) {
            continue;
        }
        graph.step = at;
        graph.add(step);
    }
    graph.judge(program)
}

impl Graph {
    fn free(&mut self, before: Vec<Node>) -> Node {
        self.before.push(before);
        self.before.len() - 1
    }

    /// The next event of a thread.
    fn next(&mut self, thread: usize, mut before: Vec<Node>) -> Node {
        before.extend(self.last[thread]);
        let node = self.free(before);
        self.last[thread] = Some(node);
        node
    }

    fn access(
        &mut self,
        thread: usize,
        (at, bytes): (u32, u32),
        (reads, writes): (bool, bool),
        strong: Option<u32>,
    ) -> Node {
        let node = self.next(thread, vec![]);
        let step = self.step;
        self.accesses.push(Access {
            node,
            step,
            at,
            bytes,
            reads,
            writes,
            copy: false,
            strong,
        });
        node
    }

    fn accesses(
        &mut self,
        place: &Place,
        (width, count): (u32, u32),
        how: (bool, bool),
        strong: bool,
    ) {
        for thread in threads(place.warp, place.mask) {
            let at = place.at + thread as u32 % LANES * place.stride;
            self.access(thread, (at, width * count), how, strong.then_some(width));
        }
    }

    /// Some threads tell others.
    fn meet(&mut self, from: &[usize], to: &[usize]) {
        let before = from
            .iter()
            .map(|&thread| self.next(thread, vec![]))
            .collect();
        let all = self.free(before);
        for &thread in to {
            self.next(thread, vec![all]);
        }
    }

    fn add(&mut self, step: &Step) {
        match step {
            Step::Load(place, width, count, how) => {
                self.accesses(
                    place,
                    (*width, *count),
                    (true, false),
                    *how != Strength::Weak,
                );
            }
            Step::Store(place, width, count, how) => {
                self.accesses(
                    place,
                    (*width, *count),
                    (false, true),
                    *how != Strength::Weak,
                );
            }
            Step::Atomic(place, width) => self.accesses(place, (*width, 1), (true, true), true),
            Step::Barrier { waits, arrives, .. } => {
                let all = |warps: &[u32]| -> Vec<usize> {
                    warps.iter().flat_map(|&warp| threads(warp, 0xf)).collect()
                };
                let waits = all(waits);
                let from = [waits.clone(), all(arrives)].concat();
                self.meet(&from, &waits);
            }
            Step::WarpBarrier { warp, mask } => {
                let lanes: Vec<usize> = threads(*warp, *mask).collect();
                self.meet(&lanes, &lanes);
            }
            Step::Copy(place, bytes) => {
                for thread in threads(place.warp, place.mask) {
                    let issue = self.next(thread, vec![]);
                    let write = self.free(vec![issue]);
                    let at = place.at + thread as u32 % LANES * place.stride;
                    let step = self.step;
                    self.accesses.push(Access {
                        node: write,
                        step,
                        at,
                        bytes: *bytes,
                        reads: false,
                        writes: true,
                        copy: true,
                        strong: None,
                    });
                    let group = self.committed[thread];
                    self.copies[thread].push((write, group));
                }
            }
            Step::Commit { warp, mask } => {
                threads(*warp, *mask).for_each(|thread| self.committed[thread] += 1)
            }
            Step::Wait { warp, mask, newest } => {
                for thread in threads(*warp, *mask) {
                    // Groups are closed in their order; those before the newest ones have landed.
                    let landed = match newest {
                        None => u32::MAX,
                        Some(newest) => self.committed[thread].saturating_sub(*newest),
                    };
                    let (done, left) = self.copies[thread]
                        .iter()
                        .partition(|(_, group)| *group < landed);
                    self.copies[thread] = left;
                    let done: Vec<(Node, u32)> = done;
                    self.next(thread, done.into_iter().map(|(node, _)| node).collect());
                }
            }
            Step::Raise {
                warp,
                mask,
                flag,
                how,
                count,
            } => {
                for thread in threads(*warp, *mask) {
                    if *how == How::Fenced {
                        self.fence(thread);
                    }
                    let node = self.access(thread, (FLAGS + 4 * flag, 4), (*count, true), Some(4));
                    match how {
                        How::Ordered => self.released[*flag as usize].push(node),
                        _ => self.released[*flag as usize].extend(self.fence[thread]),
                    }
                }
            }
            Step::See {
                warp,
                mask,
                flag,
                how,
                ..
            } => {
                for thread in threads(*warp, *mask) {
                    self.access(thread, (FLAGS + 4 * flag, 4), (true, false), Some(4));
                    let released = self.released[*flag as usize].clone();
                    if *how == How::Ordered {
                        self.next(thread, released);
                    } else {
                        self.seen[thread].extend(released);
                        if *how == How::Fenced {
                            self.fence(thread);
                        }
                    }
                }
            }
            Step::InitMbarrier { object, arrivals } => {
                self.access(0, (MBARRIERS + 8 * object, 8), (false, true), None);
                self.arrivals[*object as usize].0 = *arrivals;
            }
            Step::Arrive {
                warp,
                mask,
                object,
                copies,
            } => {
                for thread in threads(*warp, *mask) {
                    let node =
                        self.access(thread, (MBARRIERS + 8 * object, 8), (true, false), Some(8));
                    let mut before = vec![node];
                    if *copies {
                        before.extend(self.copies[thread].iter().map(|(node, _)| *node));
                    }
                    let arrival = self.free(before);
                    let object = *object as usize;
                    self.arrivals[object].1.push(arrival);
                    if self.arrivals[object].1.len() == self.arrivals[object].0 as usize {
                        let mut before = std::mem::take(&mut self.arrivals[object].1);
                        before.extend(self.phases[object].last());
                        let phase = self.free(before);
                        self.phases[object].push(phase);
                    }
                }
            }
            Step::Phase {
                warp,
                mask,
                object,
                phase,
                ..
            } => {
                for thread in threads(*warp, *mask) {
                    self.access(thread, (MBARRIERS + 8 * object, 8), (true, false), Some(8));
                    let over = self.phases[*object as usize][*phase as usize];
                    self.next(thread, vec![over]);
                }
            }
        }
    }

    fn fence(&mut self, thread: usize) {
        let seen = std::mem::take(&mut self.seen[thread]);
        self.fence[thread] = Some(self.next(thread, seen));
    }

    fn judge(self, program: &Program) -> Troubles {
        let words = self.before.len().div_ceil(64);
        // All nodes before each, as bits.
        let mut known = vec![0u64; words * self.before.len()];
        for (node, before) in self.before.iter().enumerate() {
            let (done, rest) = known.split_at_mut(node * words);
            for &other in before {
                for (mine, new) in rest[..words]
                    .iter_mut()
                    .zip(&done[other * words..][..words])
                {
                    *mine |= new;
                }
                rest[other / 64] |= 1 << (other % 64);
            }
        }
        let happens_before = |a: Node, b: Node| known[b * words + a / 64] >> (a % 64) & 1 != 0;
        let overlap = |a: &Access, b: &Access| a.at < b.at + b.bytes && b.at < a.at + a.bytes;
        let mut troubles = Troubles::default();
        for (i, a) in self.accesses.iter().enumerate() {
            for b in &self.accesses[..i] {
                let together = a.strong.is_some() && a.strong == b.strong;
                if (a.writes || b.writes)
                    && overlap(a, b)
                    && !together
                    && !happens_before(a.node, b.node)
                    && !happens_before(b.node, a.node)
                {
                    let pair = (a.step.min(b.step), a.step.max(b.step));
                    troubles.conflicts.insert(pair);
                    if a.copy || b.copy {
                        troubles.in_flight.insert(pair);
                    }
                }
            }
            let written = |byte: u32| {
                self.accesses.iter().any(|w| {
                    w.writes
                        && w.at <= byte
                        && byte < w.at + w.bytes
                        && happens_before(w.node, a.node)
                })
            };
            // Of a vector, the element that is used must be there.
            let mut used = match (&program.steps[a.step], program.use_of(a.step)) {
                (Step::Load(_, width, count, _), Some(used)) => {
                    let at = a.at + width * used.element(*count);
                    at..at + width
                }
                _ => a.at..a.at + a.bytes,
            };
            if a.reads && !used.all(written) {
                troubles.uninitialized.insert(a.step);
            }
        }
        troubles
    }
}
