//! The end of bulk copies, after their issue: they land, are waited for, or are still under way at the end.

use super::*;
use crate::emulator::global::NOWHERE;

impl Context<'_> {
    /// Lets the newest copy land at once, by chance.
    pub(super) fn land_early(&mut self) {
        if !self.bulks.lazy && self.random.below(3) == 0 {
            let last = self.bulks.pending.len() - 1;
            self.land_bulk(last);
        }
    }

    /// Lets some copy go on that nobody waits for yet.
    pub(crate) fn land_some_bulk(&mut self) {
        let pending = self.bulks.pending.len() as u64;
        let rarely = if self.bulks.lazy { 64 } else { 2 };
        if pending == 0 || self.random.below(rarely) != 0 {
            return;
        }
        let at = self.random.below(pending) as usize;
        // A source may be read long before it is written to its destination.
        if let Way::Store { data: None, .. } = self.bulks.pending[at].way
            && self.random.below(2) == 0
        {
            self.read_source(at);
        } else {
            self.land_bulk(at);
        }
    }

    /// Lets one copy land where nobody can go on. Returns whether there was one.
    pub(in crate::emulator::exec) fn land_any_bulk(&mut self) -> bool {
        let pending = self.bulks.pending.len() as u64;
        if pending != 0 {
            let at = self.random.below(pending) as usize;
            self.land_bulk(at);
        }
        pending != 0
    }

    fn land_bulk(&mut self, at: usize) {
        if matches!(self.bulks.pending[at].way, Way::Store { data: None, .. }) {
            self.read_source(at);
        }
        let copy = self.bulks.pending.swap_remove(at);
        match copy.way {
            Way::Load {
                agent,
                barrier,
                bytes,
                source,
            } => {
                let (rank, _) = address::block_of_place(barrier);
                if self.blocks.len() > 1 && self.has_ended(rank as u32) {
                    let address = Some((Space::Shared, barrier));
                    self.find_at_end(Kind::OutOfBounds, copy.inst, copy.thread, address, || {
                        format!("the copy writes shared memory of block {rank} of the cluster, which has ended; let no block end before what is aimed at it has come")
                    });
                }
                let time = self.clocks.now(agent);
                if self.rank_of(copy.thread) != rank as u32 {
                    let visit = Visit {
                        time,
                        inst: copy.inst,
                        thread: copy.thread,
                        at: barrier,
                    };
                    self.visits[rank as usize].insert(agent, visit);
                }
                for piece in &copy.pieces {
                    if let Source::Operand(operand) = &source {
                        self.reduce(piece, operand, (agent, time));
                        continue;
                    }
                    let bytes = piece.bytes as usize;
                    let read = match &source {
                        Source::Shared => self.shared.get(piece.global, bytes).to_vec(),
                        _ => Vec::new(),
                    };
                    let to = self.shared.get_mut(piece.shared, bytes);
                    match &source {
                        Source::Global(fill) => fill.write(piece, to, |from, out| {
                            let found = self.launch.global.range(from, out.len() as u64);
                            if let Some((buffer, offset)) = found {
                                buffer.copy_out(offset, out);
                            }
                        }),
                        Source::Shared => to.copy_from_slice(&read),
                        Source::Registers(values) => to.copy_from_slice(values),
                        Source::Operand(_) => {}
                    }
                    self.shared
                        .finish_copy_as(piece.shared, bytes, agent, (agent, time));
                }
                self.complete_bytes(barrier, bytes, agent);
            }
            Way::Store {
                group,
                data,
                reduction,
            } => {
                self.progress += 1;
                let data = data.unwrap_or_default();
                let clock = self.clocks.agents.clock(Agent::Groups(copy.thread));
                let by = Accessor {
                    block: self.linear,
                    rank: 0,
                    thread: copy.thread,
                    inst: NOWHERE,
                    order: Order::default(),
                    agent: clock.map(|clock| (clock, written_time(group))),
                    clocks: &self.clocks,
                };
                let mut rest = data.as_slice();
                let mut raced = None;
                for piece in &copy.pieces {
                    let (part, others) = rest.split_at(piece.bytes as usize);
                    rest = others;
                    let part = &part[piece.first as usize..piece.last as usize];
                    let global = self.launch.global;
                    let Some((buffer, offset)) = global.range(piece.global, part.len() as u64)
                    else {
                        continue;
                    };
                    if !buffer.writable || part.is_empty() {
                        continue;
                    }
                    match &reduction {
                        None => buffer.copy_in(offset, part),
                        Some(reduction) => {
                            let conflict = reduction.apply(buffer, offset, part, &by);
                            raced = raced.or(conflict.map(|conflict| (piece.global, conflict)));
                        }
                    }
                }
                if let Some((at, conflict)) = raced {
                    self.global_conflict_of(copy.thread, copy.inst, at, conflict);
                }
            }
        }
    }

    /// Reads the source of a store.
    fn read_source(&mut self, at: usize) {
        let copy = &mut self.bulks.pending[at];
        let mut source = Vec::new();
        for piece in &copy.pieces {
            source.extend_from_slice(self.shared.get(piece.shared, piece.bytes as usize));
        }
        if let Way::Store { data, .. } = &mut copy.way {
            *data = Some(source);
        }
    }

    pub(in crate::emulator::exec) fn bulk_commit(&mut self, warp: &Warp, active: Mask) {
        for lane in lanes(active) {
            let groups = self.bulks.groups.entry(warp.thread(lane)).or_default();
            groups.committed += 1;
            groups.open = false;
        }
    }

    /// Waits for all groups but the `newest`, of each thread by itself.
    pub(in crate::emulator::exec) fn bulk_wait(
        &mut self,
        warp: &Warp,
        active: Mask,
        pc: u32,
        (newest, read): (u32, bool),
    ) {
        let has = |lane: &usize| {
            let groups = self.bulks.groups.get(&warp.thread(*lane));
            groups.is_some_and(|groups| groups.committed != 0)
        };
        if !lanes(active).any(|lane| has(&lane)) {
            // Mostly all threads wait, and one has copied. It is told at the end if that one never waits here.
            if self.bulks.groups.values().any(Groups::is_left) {
                let here = (warp.index, first(active));
                self.bulks.idle_waits.entry(pc).or_insert(here);
            }
            return;
        }
        self.bulks.waits.insert(pc);
        for lane in lanes(active) {
            let thread = warp.thread(lane);
            let Some(groups) = self.bulks.groups.get_mut(&thread) else {
                continue;
            };
            let done = groups.committed.saturating_sub(newest);
            if done == 0 {
                continue;
            }
            groups.read = groups.read.max(done);
            let mut at = 0;
            while at < self.bulks.pending.len() {
                let copy = &self.bulks.pending[at];
                match copy.way {
                    Way::Store {
                        group, ref data, ..
                    } if copy.thread == thread && group < done => {
                        if !read {
                            self.land_bulk(at);
                            continue;
                        }
                        if data.is_none() {
                            self.read_source(at);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            if let Some(agent) = self.clocks.agents.clock(Agent::Groups(thread)) {
                let time = match read {
                    true => read_time(done - 1),
                    false => written_time(done - 1),
                };
                self.clocks.learn(thread, agent, time);
            }
        }
    }

    /// Lets everything land as the block ends, and notes what nobody waited for.
    pub(crate) fn end_bulks(&mut self) {
        while let Some(copy) = self.bulks.pending.last() {
            if let Way::Load { barrier, .. } = copy.way {
                let (thread, inst) = (copy.thread, copy.inst);
                let address = Some((Space::Shared, barrier));
                self.find_at_end(Kind::MissingWait, inst, thread, address, || {
                    "the block ends while this copy may still write its shared memory; wait for its mbarrier's phase before the end".into()
                });
            }
            let last = self.bulks.pending.len() - 1;
            self.land_bulk(last);
        }
        for (pc, (warp, lane)) in std::mem::take(&mut self.bulks.idle_waits) {
            if self.bulks.waits.contains(&pc) {
                continue;
            }
            self.find(Kind::MissingWait, pc, None, warp, lane, None, || {
                "waits for bulk groups of which these threads have none, and those that have some do not wait here: groups belong to the thread that issued \
                 the copies; let that thread commit and wait, and put a barrier after its wait"
                    .into()
            });
        }
        for (thread, groups) in std::mem::take(&mut self.bulks.groups) {
            let inst = groups.last;
            if groups.open {
                self.find_at_end(Kind::MissingWait, inst, thread, None, || {
                    "the block ends and this copy is in no group, so that nothing waits for it; execute cp.async.bulk.commit_group after it, and wait".into()
                });
            } else if groups.read < groups.committed {
                self.find_at_end(Kind::MissingWait, inst, thread, None, || {
                    "the block ends while this copy may still read its shared memory; execute cp.async.bulk.wait_group.read 0 in the thread that issued it".into()
                });
            }
        }
    }

    /// Notes a finding about an earlier instruction of a thread.
    pub(in crate::emulator::exec) fn find_at_end(
        &mut self,
        kind: Kind,
        inst: u32,
        thread: u32,
        address: Option<(Space, u64)>,
        message: impl FnOnce() -> String,
    ) {
        let (warp, lane) = (thread / LANES as u32, thread as usize % LANES);
        self.find(kind, inst, None, warp, lane, address, message);
    }

    /// The swizzle with which a load wrote what lies there, and that load; none where something else wrote last.
    pub(crate) fn loaded_pattern(&self, at: u64) -> Option<(MapSwizzle, u32)> {
        let writer = self.clocks.agents.of(self.shared.writer(at)?)?;
        let pattern = self.bulks.patterns.get(&(at / LINE))?;
        matches!(writer, Agent::Mbarrier(_)).then_some(*pattern)
    }
}
