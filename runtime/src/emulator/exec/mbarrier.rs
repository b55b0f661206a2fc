//! `mbarrier` objects: phases that end when all arrivals and all bytes that they expect have come. (PTX ISA, "Parallel
//! Synchronization and Communication Instructions: mbarrier".)

use rustc_hash::FxHashSet;

use super::bulk::MOST_BYTES;
use super::*;
use crate::emulator::program::{Mbarrier, MbarrierOp, Space};
use crate::emulator::shared::By;

/// The objects of a block, by address.
#[derive(Default)]
pub(in crate::emulator) struct Mbarriers {
    objects: FxHashMap<u64, Object>,
    /// The objects whose phase has ended since others were told.
    completed: Vec<u64>,
    /// `progress` when waits timed out last.
    timed_out_at: Option<u64>,
}

struct Object {
    /// Arrivals of a phase.
    expected: u64,
    /// The arrivals that are missing in this phase.
    pending: u64,
    /// Bytes that are missing; fewer than none if they come before they are expected.
    bytes: i64,
    phase: u64,
    /// The instruction and the thread that made it, and whether a fence followed.
    made: (u32, u32),
    fenced: bool,
    /// The barriers of the cluster that the thread had come to when `fence.mbarrier_init` followed; none where it did not.
    handed: Option<u32>,
    /// The clocks of what completes here: bulk copies, and stores of threads.
    agents: Vec<u32>,
    /// The last phase that each thread has seen the end of, and its own time then.
    seen: FxHashMap<u32, (u64, u32)>,
    /// The knowledge of those who arrived.
    arriving: View,
    /// The same for the phases that are over.
    done: View,
    /// The threads that have arrived, in any phase.
    arrivers: FxHashSet<u32>,
    /// Tells whether each arrival counted as one of those that it was made for.
    even: bool,
    /// Phases of which a thread has seen the end, from the first one on.
    seen_to: u64,
    /// Phases that ended before a thread had seen the end of the one before.
    unseen: u64,
}

impl Mbarriers {
    /// The things that a phase lacks, in words.
    pub(crate) fn missing(&self, at: u64) -> String {
        match self.objects.get(&at) {
            Some(object) => format!(
                "lacks {} of {} arrivals and {} bytes",
                object.pending, object.expected, object.bytes
            ),
            None => "is not initialised".into(),
        }
    }

    /// The instruction that made an object, and why the number of arrivals that it was given is to blame for a phase that nobody ends, where it may be: `others` are the threads
    /// that wait elsewhere.
    pub(crate) fn blame(
        &self,
        at: u64,
        others: impl IntoIterator<Item = u32>,
    ) -> Option<(u32, String)> {
        let object = self.objects.get(&at).filter(|object| object.even)?;
        let (expected, threads) = (object.expected, object.arrivers.len() as u64);
        if object.unseen > 0 && threads > expected {
            let text = format!(
                "; it was made for {expected} arrivals a phase and {threads} threads arrive at it, so that phases ended before a thread had seen the one before, {} times: \
                 initialise it with as many arrivals as there are in a turn",
                object.unseen
            );
            return Some((object.made.0, text));
        }
        let came = expected.saturating_sub(object.pending);
        // Of those that wait elsewhere nobody is to arrive yet.
        let all_came = || {
            others
                .into_iter()
                .all(|thread| object.arrivers.contains(&thread))
        };
        if object.phase == 0 && object.pending > 0 && came > 0 && all_came() {
            let text = format!(
                "; it was made for {expected} arrivals a phase, {came} came, and no thread is left that could arrive: initialise it with {came}, or let {} more arrive",
                object.pending
            );
            return Some((object.made.0, text));
        }
        None
    }
}

impl Context<'_> {
    pub(super) fn mbarrier(
        &mut self,
        warp: &mut Warp,
        at: usize,
        op: &Mbarrier,
        active: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        let addresses = self.addresses(warp, op.base, op.offset, active, pc);
        for reg in sources(op.op) {
            self.check(warp, reg, active, pc);
        }
        let mut passed = 0;
        // Where lanes wait; a group can only sleep if it is one place.
        let (mut waits_at, mut places) = (None, 0);
        for lane in lanes(active) {
            let (space, at) = Self::resolve(warp.rank, op.space, addresses[lane]);
            if space != Space::Shared {
                self.outside(warp, lane, pc, space, at, 8, "uses a barrier");
                continue;
            }
            if !self.inside_shared(warp, lane, pc, at, 8, "uses a barrier") {
                continue;
            }
            self.visit(warp, lane, pc, at);
            let value = |reg: Reg| warp.rows[reg as usize][lane];
            let (rank, _) = address::block_of_place(at);
            if rank as u32 != warp.rank && !is_for_others(op.op) {
                self.misuse(warp, lane, pc, at, || {
                    format!("expected an mbarrier of the own block, found one of block {rank} of the cluster; only arrivals, expect_tx and complete_tx reach others")
                });
            }
            match op.op {
                MbarrierOp::Init { count } => {
                    let expected = value(count) & 0xffff_ffff;
                    self.touch(warp, lane, pc, at, true);
                    if let Some(live) = self.mbarriers.objects.get(&at) {
                        let (missing, of) = (live.pending, live.expected);
                        self.misuse(warp, lane, pc, at, || {
                            format!("expected memory without an mbarrier object, found a live one that lacks {missing} of {of} arrivals; execute mbarrier.inval before")
                        });
                    }
                    let object = Object {
                        expected,
                        pending: expected,
                        bytes: 0,
                        phase: 0,
                        made: (pc, warp.thread(lane)),
                        fenced: false,
                        handed: None,
                        agents: Vec::new(),
                        seen: FxHashMap::default(),
                        arriving: View::default(),
                        done: View::default(),
                        arrivers: FxHashSet::default(),
                        even: true,
                        seen_to: 0,
                        unseen: 0,
                    };
                    if expected == 0 || expected >= 1 << 20 {
                        self.misuse(warp, lane, pc, at, || {
                            format!(
                                "expected a number of arrivals from 1 to 2^20 - 1, found {expected}"
                            )
                        });
                    }
                    self.mbarriers.objects.insert(at, object);
                }
                MbarrierOp::Invalidate => {
                    self.touch(warp, lane, pc, at, true);
                    self.mbarriers.objects.remove(&at);
                }
                MbarrierOp::Arrive {
                    state,
                    count,
                    expect,
                    drop,
                    no_complete,
                    release,
                } => {
                    self.touch(warp, lane, pc, at, false);
                    let count = count.map_or(1, |count| value(count) & 0xffff_ffff);
                    let expect = expect.map_or(0, |bytes| value(bytes) & 0xffff_ffff);
                    let times = release.then(|| self.clocks.release_alone(warp.thread(lane)));
                    let Some(object) = self.mbarriers.objects.get_mut(&at) else {
                        self.not_initialized(warp, lane, pc, at);
                        continue;
                    };
                    object.bytes += expect as i64;
                    let bytes = object.bytes;
                    object.even &= !drop;
                    if drop {
                        object.expected = object.expected.saturating_sub(count);
                    }
                    let token = object.phase << 20 | object.pending;
                    let ends = count >= object.pending;
                    self.check_bytes_of(warp, lane, pc, at, bytes);
                    if no_complete && ends {
                        self.misuse(warp, lane, pc, at, || {
                            "expected arrivals that do not end the phase after .noComplete, found the last ones; leave .noComplete out".into()
                        });
                    }
                    self.arrived(warp, lane, at, pc, count, times.as_ref());
                    if let Some(state) = state {
                        warp.rows[state as usize][lane] = token;
                        warp.defined[state as usize] |= 1 << lane;
                    }
                }
                MbarrierOp::ExpectTx { bytes } | MbarrierOp::CompleteTx { bytes } => {
                    self.touch(warp, lane, pc, at, false);
                    let bytes = (value(bytes) & 0xffff_ffff) as i64;
                    let Some(object) = self.mbarriers.objects.get_mut(&at) else {
                        self.not_initialized(warp, lane, pc, at);
                        continue;
                    };
                    object.bytes += if matches!(op.op, MbarrierOp::ExpectTx { .. }) {
                        bytes
                    } else {
                        -bytes
                    };
                    let bytes = object.bytes;
                    self.check_bytes_of(warp, lane, pc, at, bytes);
                    self.end_phase(at);
                }
                MbarrierOp::CopiesArrive { noinc } => {
                    self.touch(warp, lane, pc, at, false);
                    let Some(object) = self.mbarriers.objects.get_mut(&at) else {
                        self.not_initialized(warp, lane, pc, at);
                        continue;
                    };
                    object.pending += u64::from(!noinc);
                    object.even &= noinc;
                    self.arrive_later(warp, lane, at, pc);
                }
                MbarrierOp::Test {
                    state,
                    parity,
                    acquire,
                    blocks,
                    ..
                } => {
                    self.touch(warp, lane, pc, at, false);
                    let wanted = value(state);
                    let thread = warp.thread(lane);
                    let Some(object) = self.mbarriers.objects.get_mut(&at) else {
                        self.not_initialized(warp, lane, pc, at);
                        // Others would wait for ever.
                        passed |= 1 << lane;
                        continue;
                    };
                    let over = match parity {
                        true => object.phase & 1 != wanted & 1,
                        false => object.phase != wanted >> 20,
                    };
                    // The phase that a parity means, to a thread that knows of the one before it.
                    let is_late =
                        |seen: u64| (seen + 1) & 1 == wanted & 1 && object.phase > seen + 2;
                    let late = match (parity, object.seen.get(&thread)) {
                        (true, Some((own, _))) if is_late(*own) => {
                            // Others, who took the phases between, may have told it of them.
                            let told = object.seen.iter().filter(|(other, (_, time))| {
                                self.clocks.ordered(thread, **other, *time)
                            });
                            told.map(|(_, (phase, _))| *phase)
                                .max()
                                .is_some_and(is_late)
                        }
                        (true, _) => false,
                        (false, _) => object.phase > (wanted >> 20) + 1,
                    };
                    if let Some(ended) = object.phase.checked_sub(1).filter(|_| over) {
                        object.seen.insert(thread, (ended, self.clocks.now(thread)));
                        object.seen_to = object.seen_to.max(object.phase);
                    }
                    let phase = object.phase;
                    if late {
                        self.misuse(warp, lane, pc, at, || {
                            format!("expected a wait for the current phase or the one before, found one for a phase that ended earlier: {phase} have ended since the object was made; wait before others can go two phases on")
                        });
                    }
                    let Some(object) = self.mbarriers.objects.get(&at) else {
                        continue;
                    };
                    if over {
                        passed |= 1 << lane;
                        self.progress += 1;
                        if acquire {
                            self.clocks.acquire_view(thread, &object.done);
                        }
                    } else if blocks && warp.timed_out >> lane & 1 == 0 {
                        places += u32::from(waits_at != Some(at));
                        waits_at = Some(at);
                    }
                }
            }
        }
        if let MbarrierOp::Test { p, .. } = op.op {
            warp.timed_out &= !active;
            if passed == 0
                && places == 1
                && let Some(at_address) = waits_at
            {
                self.uncount(pc, active);
                let group = &mut warp.groups[at];
                if active == group.mask {
                    group.wait = Wait::Phase(at_address);
                    return Next::Stop(Stop::Blocked);
                }
            }
            if let Some(p) = p {
                Self::set_pred(warp, p, passed, active);
            }
        }
        Next::Advance
    }

    /// Arrives at an object, with what the thread hands on.
    pub(super) fn arrived(
        &mut self,
        warp: &Warp,
        lane: usize,
        at: u64,
        pc: u32,
        count: u64,
        times: Option<&View>,
    ) {
        let Some(object) = self.mbarriers.objects.get_mut(&at) else {
            self.not_initialized(warp, lane, pc, at);
            return;
        };
        if let Some(times) = times {
            object.arriving.join(times);
        }
        object.arrivers.insert(warp.thread(lane));
        object.even &= count == 1;
        let missing = object.pending;
        object.pending = missing.saturating_sub(count);
        if count > missing {
            self.misuse(warp, lane, pc, at, || {
                format!("expected at most {missing} more arrivals in this phase, found {count}; initialise it with as many as arrive")
            });
        }
        self.end_phase(at);
    }

    /// Ends the phase if nothing is missing.
    fn end_phase(&mut self, at: u64) {
        self.progress += 1;
        let Some(object) = self.mbarriers.objects.get_mut(&at) else {
            return;
        };
        if object.pending == 0 && object.bytes == 0 {
            object.unseen += u64::from(object.seen_to < object.phase);
            object.phase += 1;
            object.pending = object.expected;
            let Object {
                arriving,
                done,
                agents,
                ..
            } = object;
            for agent in agents {
                self.clocks.publish(*agent, arriving);
            }
            done.join(arriving);
            self.mbarriers.completed.push(at);
        }
    }

    /// Tells whether bulk copies, or stores of threads, may complete at an object, and notes why not.
    pub(super) fn is_barrier_for_copies(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bulk: bool,
    ) -> bool {
        self.touch(warp, lane, pc, at, false);
        let Some(object) = self.mbarriers.objects.get(&at) else {
            self.not_initialized(warp, lane, pc, at);
            return false;
        };
        let ((made, _), fenced) = (object.made, object.fenced);
        if !fenced && bulk {
            let address = Some((Space::Shared, at));
            self.find(Kind::MissingFence, pc, Some(made), warp.index, lane, address, || {
                "a bulk copy completes at an mbarrier object, and no fence follows its initialisation; execute fence.mbarrier_init.release.cluster \
                 after mbarrier.init, then a barrier"
                    .into()
            });
        }
        true
    }

    /// `fence.mbarrier_init`: a barrier of the cluster behind it hands on the thread's objects, be its arrivals relaxed.
    pub(super) fn hand_on_objects(&mut self, warp: &Warp, active: Mask) {
        self.fence_objects(warp, active);
        for object in self.mbarriers.objects.values_mut() {
            let maker = object.made.1;
            if lanes(active).any(|lane| warp.thread(lane) == maker) {
                let come_to = self.cluster.come_to(maker);
                object.handed.get_or_insert(come_to);
            }
        }
    }

    /// The thread's objects are seen by other blocks and by bulk copies from now on.
    pub(super) fn fence_objects(&mut self, warp: &Warp, active: Mask) {
        for object in self.mbarriers.objects.values_mut() {
            object.fenced |= lanes(active).any(|lane| warp.thread(lane) == object.made.1);
        }
    }

    /// Notes that bytes of a bulk copy have landed.
    pub(super) fn complete_bytes(&mut self, at: u64, bytes: u64, agent: u32) {
        // It may be gone since.
        if let Some(object) = self.mbarriers.objects.get_mut(&at) {
            object.bytes -= bytes as i64;
            if !object.agents.contains(&agent) {
                object.agents.push(agent);
            }
        }
        self.end_phase(at);
    }

    /// Notes a number of bytes that an object cannot count.
    fn check_bytes_of(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64, bytes: i64) {
        if bytes.abs() > MOST_BYTES {
            self.misuse(warp, lane, pc, at, || {
                format!("expected at most 2^20 - 1 bytes under way in a phase, found {bytes}; use several objects")
            });
        }
    }

    /// Notes objects that lack bytes, or have some left over, as the block ends.
    pub(crate) fn end_mbarriers(&mut self) {
        let mut left: Vec<(u64, i64, (u32, u32))> = self
            .mbarriers
            .objects
            .iter()
            .filter(|(_, object)| object.bytes != 0)
            .map(|(at, object)| (*at, object.bytes, object.made))
            .collect();
        left.sort_unstable();
        for (at, bytes, (inst, thread)) in left {
            let address = Some((Space::Shared, at));
            self.find_at_end(Kind::Undefined, inst, thread, address, || match bytes {
                0.. => format!("the block ends while this mbarrier expects {bytes} bytes more; expect as many as the copies bring"),
                _ => format!("the block ends after {} bytes more than this mbarrier expected; expect all bytes of each copy, those outside of the tensor too", -bytes),
            });
        }
    }

    /// Notes an access to an object: those that make or end it are plain writes, which the others must
    /// be ordered with.
    fn touch(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64, weak: bool) {
        // What is no object is said elsewhere.
        if !weak && !self.mbarriers.objects.contains_key(&at) {
            return;
        }
        let by = By {
            thread: warp.thread(lane),
            inst: pc,
            strong: if weak { 0 } else { 8 },
            agent: None,
            clocks: &self.clocks,
        };
        let conflict = if weak {
            self.shared.write(at, 8, by)
        } else {
            self.shared.read(at, 8, by)
        };
        // A barrier of the cluster behind a fence for it orders what made an object before its uses.
        let conflict = conflict.filter(|conflict| {
            let passed = self.cluster.passed(warp.thread(lane));
            let is_ordered = |object: &Object| {
                conflict.inst == object.made.0 && object.handed.is_some_and(|at| passed > at)
            };
            weak || !self.mbarriers.objects.get(&at).is_some_and(is_ordered)
        });
        if let Some(conflict) = conflict {
            let what = if weak { "writes" } else { "reads" };
            self.shared_conflict(warp, lane, pc, conflict, what);
        }
    }

    fn not_initialized(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64) {
        self.misuse(warp, lane, pc, at, || {
            "expected an mbarrier object, found none; execute mbarrier.init before".into()
        });
    }

    #[cold]
    fn misuse(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        message: impl FnOnce() -> String,
    ) {
        let address = Some((Space::Shared, at));
        self.find(
            Kind::Undefined,
            pc,
            None,
            warp.index,
            lane,
            address,
            message,
        );
    }

    /// Tells those who wait for phases that are over.
    pub(crate) fn wake_completed(&mut self, warps: &mut [Warp]) {
        for at in std::mem::take(&mut self.mbarriers.completed) {
            for group in warps.iter_mut().flat_map(|warp| &mut warp.groups) {
                if group.wait == Wait::Phase(at) {
                    group.wait = Wait::Nothing;
                }
            }
        }
    }

    /// Wakes a block in which nobody can go on: lets what is under way arrive, else lets waits time out. Returns whether
    /// somebody can go on then.
    pub(crate) fn wake(&mut self, warps: &mut [Warp]) -> bool {
        let mut arrived = false;
        while self.land_any_bulk() {
            self.wake_completed(warps);
            if warps.iter().any(Warp::is_ready) {
                return true;
            }
        }
        for warp in warps.iter_mut() {
            while self.next_arrival(warp) {
                arrived = true;
            }
        }
        if arrived {
            self.wake_completed(warps);
            if warps.iter().any(Warp::is_ready) {
                return true;
            }
        }
        // Nothing has changed since the last time.
        if self.mbarriers.timed_out_at == Some(self.progress) {
            return false;
        }
        self.mbarriers.timed_out_at = Some(self.progress);
        let mut woken = false;
        for warp in warps {
            for group in &mut warp.groups {
                if let Wait::Phase(_) = group.wait {
                    group.wait = Wait::Nothing;
                    warp.timed_out |= group.mask;
                    woken = true;
                }
            }
        }
        woken
    }
}

/// Tells whether an operation may be on an object of another block of the cluster.
fn is_for_others(op: MbarrierOp) -> bool {
    matches!(
        op,
        MbarrierOp::Arrive { state: None, .. }
            | MbarrierOp::ExpectTx { .. }
            | MbarrierOp::CompleteTx { .. }
    )
}

/// Registers that an operation reads.
fn sources(op: MbarrierOp) -> impl Iterator<Item = Reg> {
    let sources = match op {
        MbarrierOp::Init { count } => [Some(count), None],
        MbarrierOp::Arrive { count, expect, .. } => [count, expect],
        MbarrierOp::ExpectTx { bytes } | MbarrierOp::CompleteTx { bytes } => [Some(bytes), None],
        MbarrierOp::Test { state, .. } => [Some(state), None],
        MbarrierOp::Invalidate | MbarrierOp::CopiesArrive { .. } => [None, None],
    };
    sources.into_iter().flatten()
}
