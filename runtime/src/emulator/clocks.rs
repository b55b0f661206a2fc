//! Happens-before among threads: vector clocks.
//!
//! A thread's clock counts what it has released to others: arrivals at barriers and the like. What a
//! thread knows of the others of its block is shared by all that left the same barrier, so a barrier of all
//! threads costs one vector. (Flanagan and Freund, "FastTrack", PLDI 2009, for epochs.)
//!
//! A thread knows what threads of other blocks did only through global memory. That knowledge is kept by block, for those
//! blocks that told something: a launch whose blocks tell each other nothing has none of it.

mod agents;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) use agents::{Agent, Agents};

/// The knowledge of other blocks, by those who know the same.
pub(super) type Others = Arc<Told>;

/// The knowledge of the threads of some blocks.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// Clocks by the number of the block, one for each thread.
    pub blocks: BTreeMap<u64, Arc<[u32]>>,
    /// Versions of a place's knowledge grow: each has all that the ones before it have.
    chain: u64,
    version: u64,
}

impl Told {
    /// The knowledge of nothing, the first of its chain.
    pub(super) fn nothing() -> Told {
        Told {
            blocks: BTreeMap::new(),
            chain: CHAINS.fetch_add(1, Relaxed),
            version: 0,
        }
    }

    /// The next version, which knows of a block and of what that was told. Of a chain nothing but the newest version may
    /// get a next one.
    pub(super) fn add(&mut self, block: u64, view: &View) {
        if let Some(others) = view.others.as_ref().filter(|told| told.chain != self.chain) {
            self.merge(others);
        }
        join_times(self.blocks.entry(block).or_default(), &view.times);
        self.version += 1;
    }

    fn merge(&mut self, new: &Told) {
        for (block, times) in &new.blocks {
            join_times(self.blocks.entry(*block).or_default(), times);
        }
    }

    fn has_all_of(&self, other: &Told) -> bool {
        other.blocks.iter().all(|(block, times)| {
            let known = self.blocks.get(block);
            known.is_some_and(|known| Arc::ptr_eq(known, times) || covers(known, times))
        })
    }
}

/// Numbers of chains.
static CHAINS: AtomicU64 = AtomicU64::new(0);

/// The knowledge of a thread: one clock for each thread of its block, and what it was told of other blocks.
#[derive(Clone)]
pub(super) struct Knowledge {
    times: Rc<[u32]>,
    /// The part that a proxy fence, or the completion of an asynchronous operation, has made known to the asynchronous proxy; none in
    /// kernels that have nothing of it.
    proxied: Option<Rc<[u32]>>,
    others: Option<Others>,
}

/// The things that one or several threads of a block had done and known at some time, to be kept for others.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// Clocks of the block's threads; those that the vector lacks are at 0.
    pub times: Arc<[u32]>,
    /// The same for the asynchronous proxy.
    pub proxied: Arc<[u32]>,
    pub others: Option<Others>,
}

impl View {
    /// Adds what another view of the same block has.
    pub(super) fn join(&mut self, new: &View) {
        join_times(&mut self.times, &new.times);
        join_times(&mut self.proxied, &new.proxied);
        join_others(&mut self.others, new.others.as_ref());
    }
}

/// The later of each two times.
pub(super) fn join_times(times: &mut Arc<[u32]>, new: &Arc<[u32]>) {
    if times.is_empty() {
        *times = Arc::clone(new);
    } else if !Arc::ptr_eq(times, new) && !covers(times, new) {
        *times = times
            .iter()
            .zip(new.iter())
            .map(|(a, b)| *a.max(b))
            .collect();
    }
}

/// Adds what is known of other blocks.
pub(super) fn join_others(others: &mut Option<Others>, new: Option<&Others>) {
    let Some(new) = new else { return };
    let Some(mine) = others else {
        *others = Some(Arc::clone(new));
        return;
    };
    if mine.chain == new.chain {
        if new.version > mine.version {
            *mine = Arc::clone(new);
        }
    } else if new.has_all_of(mine) {
        *mine = Arc::clone(new);
    } else if !mine.has_all_of(new) {
        let mut both = Told::nothing();
        both.blocks.clone_from(&mine.blocks);
        both.merge(new);
        *mine = Arc::new(both);
    }
}

/// Tells whether each time is no earlier than the other.
fn covers(times: &[u32], other: &[u32]) -> bool {
    times.iter().zip(other).all(|(mine, other)| mine >= other)
}

/// The things that happen before what one does now.
#[derive(Clone, Copy)]
pub(super) struct Known<'c> {
    /// The one itself, where all that it did does.
    thread: Option<u32>,
    times: &'c [u32],
}

impl Known<'_> {
    /// Tells whether what `other` did at that time of its own is among them.
    #[inline]
    pub(super) fn has(&self, other: u32, time: u32) -> bool {
        let known = self.times.get(other as usize);
        self.thread == Some(other) || known.is_some_and(|known| *known >= time)
    }
}

pub(super) struct Clocks {
    own: Vec<u32>,
    knows: Vec<Knowledge>,
    pub agents: Agents,
    /// The times that were joined last, of threads and of what the asynchronous proxy knows.
    joined: [Option<Joined>; 2],
}

/// Times that were joined, and what came of it: the threads of a warp know the same before, learn the same, and share it then.
struct Joined {
    from: Rc<[u32]>,
    new: News,
    to: Rc<[u32]>,
}

/// Times to be joined to those that a thread knows.
#[derive(Clone)]
enum News {
    Times(Arc<[u32]>),
    /// The time of one clock.
    Of(u32, u32),
}

impl News {
    fn is(&self, other: &News) -> bool {
        match (self, other) {
            (News::Times(a), News::Times(b)) => Arc::ptr_eq(a, b),
            (News::Of(a, at), News::Of(b, bt)) => (a, at) == (b, bt),
            _ => false,
        }
    }

    /// The later of each two times; none where that is what was there.
    fn joined(&self, times: &[u32]) -> Option<Rc<[u32]>> {
        match self {
            News::Times(new) => later(times, new),
            News::Of(clock, time) if times[*clock as usize] >= *time => None,
            News::Of(clock, time) => {
                let mut new: Rc<[u32]> = times.into();
                // Nobody else has it yet.
                if let Some(new) = Rc::get_mut(&mut new) {
                    new[*clock as usize] = *time;
                }
                Some(new)
            }
        }
    }
}

impl Joined {
    fn join(times: &mut Rc<[u32]>, new: &News, last: &mut Option<Joined>) {
        if let Some(last) = last
            && Rc::ptr_eq(&last.from, times)
            && last.new.is(new)
        {
            *times = Rc::clone(&last.to);
            return;
        }
        let to = new.joined(times).unwrap_or_else(|| Rc::clone(times));
        let from = std::mem::replace(times, Rc::clone(&to));
        *last = Some(Joined {
            from,
            new: new.clone(),
            to,
        });
    }
}

impl Clocks {
    /// Clocks without agents, as by [`Clocks::with_agents`].
    #[cfg(test)]
    pub(super) fn new(threads: usize, copiers: bool) -> Clocks {
        Clocks::with_agents(threads, copiers, false)
    }

    /// Clocks of a block of `threads` threads. If `copiers` holds, each thread has a second one behind all threads, in which
    /// its asynchronous copies happen that arrive at an `mbarrier` object: what it does is known to those who wait there, and
    /// not to the thread itself.
    /// If `agents` holds, there are clocks for what happens in the asynchronous proxy, too.
    pub(super) fn with_agents(threads: usize, copiers: bool, agents: bool) -> Clocks {
        let first = if copiers { 2 * threads } else { threads };
        let agents = match agents {
            true => Agents::new(first, threads),
            false => Agents::none(first),
        };
        let all = agents.end();
        let times: Rc<[u32]> = vec![0; all].into();
        let nothing = Knowledge {
            proxied: (all > first).then(|| Rc::clone(&times)),
            times,
            others: None,
        };
        Clocks {
            own: vec![1; all],
            knows: vec![nothing; threads],
            agents,
            joined: [None, None],
        }
    }

    /// Threads of the block.
    pub(super) fn threads(&self) -> usize {
        self.knows.len()
    }

    /// A meeting that nobody has come to yet.
    pub(super) fn meeting(&self) -> Release {
        Release {
            times: vec![0; self.own.len()],
            joined: Vec::new(),
            proxied: self
                .agents
                .any()
                .then(|| (vec![0; self.own.len()], Vec::new())),
            others: None,
        }
    }

    /// The thread that stands for a thread's copies.
    pub(super) fn copier(&self, thread: u32) -> u32 {
        self.threads() as u32 + thread
    }

    /// Does as [`Clocks::release_alone`], with what the thread's copies have done by then. Returns that time of theirs, too.
    pub(super) fn release_copies(&mut self, thread: u32) -> (View, u32) {
        let mut times = self.release_times(thread);
        let copier = self.copier(thread) as usize;
        let time = self.own[copier];
        times[copier] = time;
        self.own[copier] = time.saturating_add(1);
        (self.view(thread, times), time)
    }

    /// The thread has waited for copies of its own, until that time of theirs.
    pub(super) fn acquire_copies(&mut self, thread: u32, time: u32) {
        let copier = self.copier(thread) as usize;
        let knows = &mut self.knows[thread as usize];
        let mut times = knows.times.to_vec();
        times[copier] = times[copier].max(time);
        knows.times = times.into();
    }

    /// The thread's own time now.
    pub(super) fn now(&self, thread: u32) -> u32 {
        self.own[thread as usize]
    }

    /// Tells whether what `other` did at that time of its own happens before what `thread` does now.
    pub(super) fn ordered(&self, thread: u32, other: u32, time: u32) -> bool {
        self.known(thread).has(other, time)
    }

    /// The things that happen before what a thread does now.
    pub(super) fn known(&self, thread: u32) -> Known<'_> {
        Known {
            thread: Some(thread),
            times: &self.knows[thread as usize].times,
        }
    }

    /// The same, for a thread of another block.
    pub(super) fn ordered_after_block(
        &self,
        thread: u32,
        block: u64,
        other: u32,
        time: u32,
    ) -> bool {
        let others = self.knows[thread as usize].others.as_ref();
        let times = others.and_then(|others| others.blocks.get(&block));
        times.is_some_and(|times| times[other as usize] >= time)
    }

    /// A thread of the block that does something at the time given for it which does not happen before what `thread` does now. A
    /// time of 0 stands for nothing done.
    pub(super) fn unordered(&self, thread: u32, times: &[u32]) -> Option<u32> {
        let knows = &self.knows[thread as usize].times;
        let own = (thread as usize).min(times.len());
        let rest = (own + 1).min(times.len());
        // Mostly there is none, which is seen faster without a look at each.
        if covers(&knows[..own], &times[..own]) && covers(&knows[rest..], &times[rest..]) {
            return None;
        }
        let late = |at: &usize| times[*at] > knows[*at] && *at != own;
        (0..times.len()).find(late).map(|at| at as u32)
    }

    /// The same, for threads of another block.
    pub(super) fn unordered_after_block(
        &self,
        thread: u32,
        block: u64,
        times: &[u32],
    ) -> Option<u32> {
        let others = self.knows[thread as usize].others.as_ref();
        let late = match others.and_then(|others| others.blocks.get(&block)) {
            Some(known) => times.iter().zip(known.iter()).position(|(t, k)| t > k),
            None => times.iter().position(|time| *time != 0),
        };
        late.map(|at| at as u32)
    }

    /// Adds what a thread has done and knows to a release, and starts a new time for it.
    pub(super) fn release(&mut self, thread: u32, release: &mut Release) {
        let t = thread as usize;
        release.join(&self.knows[t]);
        release.times[t] = release.times[t].max(self.own[t]);
        self.own[t] = self.own[t].saturating_add(1);
    }

    /// A release of one thread.
    pub(super) fn release_alone(&mut self, thread: u32) -> View {
        let times = self.release_times(thread);
        self.view(thread, times)
    }

    fn release_times(&mut self, thread: u32) -> Vec<u32> {
        let t = thread as usize;
        let mut times = self.knows[t].times.to_vec();
        times[t] = self.own[t];
        self.own[t] = self.own[t].saturating_add(1);
        times
    }

    fn view(&self, thread: u32, times: Vec<u32>) -> View {
        let proxied = self.knows[thread as usize].proxied.as_deref();
        View {
            times: times.into(),
            proxied: proxied.unwrap_or_default().into(),
            others: self.knows[thread as usize].others.clone(),
        }
    }

    /// The thread learns what was released at a barrier that it was part of.
    pub(super) fn acquire(&mut self, thread: u32, released: &Knowledge) {
        self.knows[thread as usize] = released.clone();
    }

    /// The thread learns what was released at a barrier, beside what it knows.
    pub(super) fn join(&mut self, thread: u32, released: &Knowledge) {
        let knows = &mut self.knows[thread as usize];
        raise(&mut knows.times, &released.times);
        if let (Some(mine), Some(new)) = (&mut knows.proxied, &released.proxied) {
            raise(mine, new);
        }
        join_others(&mut knows.others, released.others.as_ref());
    }

    /// The thread learns what a thread of its block had done and known.
    pub(super) fn acquire_view(&mut self, thread: u32, view: &View) {
        let news = [&view.times, &view.proxied].map(|times| News::Times(Arc::clone(times)));
        self.join_news(thread, news);
        join_others(
            &mut self.knows[thread as usize].others,
            view.others.as_ref(),
        );
    }

    /// The thread, which is one of `block`, learns what is known of some blocks.
    pub(super) fn acquire_others(&mut self, thread: u32, block: u64, told: &Others) {
        if let Some(times) = told.blocks.get(&block) {
            raise(&mut self.knows[thread as usize].times, times);
        }
        join_others(&mut self.knows[thread as usize].others, Some(told));
    }

    /// Joins times to what a thread knows, and to what the asynchronous proxy knows of it.
    fn join_news(&mut self, thread: u32, [times, proxied]: [News; 2]) {
        let knows = &mut self.knows[thread as usize];
        let [last, last_proxied] = &mut self.joined;
        Joined::join(&mut knows.times, &times, last);
        if let Some(mine) = &mut knows.proxied {
            Joined::join(mine, &proxied, last_proxied);
        }
    }
}

/// The later of each two times; none where these are the first ones. Nothing is known where the other vector is empty.
fn later(times: &[u32], new: &[u32]) -> Option<Rc<[u32]>> {
    let is_new = !new.is_empty() && !covers(times, new);
    let joined = times.iter().zip(new).map(|(mine, new)| *mine.max(new));
    is_new.then(|| joined.collect())
}

/// Sets times to the later of each two.
fn raise(times: &mut Rc<[u32]>, new: &[u32]) {
    if let Some(joined) = later(times, new) {
        *times = joined;
    }
}

/// Times, and those that were joined to them.
type Times = (Vec<u32>, Vec<Rc<[u32]>>);

/// The knowledge that threads hand each other where they meet.
pub(super) struct Release {
    times: Vec<u32>,
    /// The times that were joined last: most threads of a block know the same.
    joined: Vec<Rc<[u32]>>,
    /// The same for the asynchronous proxy.
    proxied: Option<Times>,
    others: Option<Others>,
}

impl Release {
    fn join(&mut self, knowledge: &Knowledge) {
        join_others(&mut self.others, knowledge.others.as_ref());
        join_shared(&mut self.times, &mut self.joined, &knowledge.times);
        if let (Some((times, joined)), Some(new)) = (&mut self.proxied, &knowledge.proxied) {
            join_shared(times, joined, new);
        }
    }

    pub(super) fn finish(self) -> Knowledge {
        Knowledge {
            times: self.times.into(),
            proxied: self.proxied.map(|(times, _)| times.into()),
            others: self.others,
        }
    }
}

/// The later of each two times, unless these times were joined before.
fn join_shared(times: &mut [u32], joined: &mut Vec<Rc<[u32]>>, new: &Rc<[u32]>) {
    if joined.iter().any(|known| Rc::ptr_eq(known, new)) {
        return;
    }
    for (mine, new) in times.iter_mut().zip(new.iter()) {
        *mine = (*mine).max(*new);
    }
    if joined.len() < 64 {
        joined.push(Rc::clone(new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_orders_what_was_before_it() {
        let mut clocks = Clocks::new(3, false);
        let before = clocks.now(0);
        assert!(!clocks.ordered(1, 0, before));
        let mut release = clocks.meeting();
        for thread in [0, 1] {
            clocks.release(thread, &mut release);
        }
        let known = release.finish();
        for thread in [0, 1] {
            clocks.acquire(thread, &known);
        }
        assert!(clocks.ordered(1, 0, before));
        assert!(clocks.ordered(0, 1, before));
        // Not what comes after it, and not for those that were not there.
        assert!(!clocks.ordered(1, 0, clocks.now(0)));
        assert!(!clocks.ordered(2, 0, before));
        // What a thread knows is passed on.
        let view = clocks.release_alone(1);
        clocks.acquire_view(2, &view);
        assert!(clocks.ordered(2, 0, before));
        assert_eq!(clocks.unordered(2, &[before, before, 9]), None);
        assert_eq!(clocks.unordered(2, &[before, before + 5, 0]), Some(1));
    }

    #[test]
    fn what_other_blocks_did_is_known_by_block() {
        let (mut first, mut second) = (Clocks::new(2, false), Clocks::new(2, false));
        let before = first.now(0);
        let mut told = Told::nothing();
        told.add(7, &first.release_alone(0));
        let told: Others = Arc::new(told);
        assert!(!second.ordered_after_block(0, 7, 0, before));
        assert_eq!(second.unordered_after_block(0, 7, &[0, 1]), Some(1));
        second.acquire_others(0, 8, &told);
        assert!(second.ordered_after_block(0, 7, 0, before));
        assert!(!second.ordered_after_block(0, 7, 0, before + 1));
        assert!(!second.ordered_after_block(1, 7, 0, before));
        assert_eq!(second.unordered_after_block(0, 7, &[before, 0]), None);
        // Who is told more at the same place knows that, too, and what is told at two places is known together.
        let mut more = Told::clone(&told);
        more.add(9, &first.release_alone(1));
        let mut mine = Some(Arc::clone(&told));
        join_others(&mut mine, Some(&Arc::new(more)));
        let mut elsewhere = Told::nothing();
        elsewhere.add(5, &first.release_alone(1));
        join_others(&mut mine, Some(&Arc::new(elsewhere)));
        join_others(&mut mine, Some(&told));
        let known = mine.unwrap();
        assert!(known.blocks.keys().eq([&5, &7, &9]));
        // A barrier hands it on, and so does a view; to the block itself it says what it is of it.
        let mut release = second.meeting();
        for thread in [0, 1] {
            second.release(thread, &mut release);
        }
        let known = release.finish();
        second.acquire(1, &known);
        assert!(second.ordered_after_block(1, 7, 0, before));
        let view = second.release_alone(1);
        first.acquire_others(1, 7, view.others.as_ref().unwrap());
        assert!(first.ordered(1, 0, before));
    }
}
