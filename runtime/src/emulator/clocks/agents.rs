//! Who acts in the asynchronous proxy: bulk copies and `wgmma`, each with a clock that no thread is.
//!
//! Memory that such an operation reads or writes is unordered with what the threads do, until somebody has seen its completion; and what threads do
//! is unordered with it, until a proxy fence stands between the two (PTX ISA, "Proxies" and "Async proxy"). So a thread has its knowledge
//! twice: what happened before it, and the part of that which happened before a proxy fence.

use rustc_hash::FxHashMap;

use super::{Clocks, Known, News, View};

/// `mbarrier` objects and warpgroups that have a clock, at most: one for every two threads of a cluster, and never fewer than these.
const LEAST_SHARED: usize = 128;

/// The one who acts after the threads that have started an operation have gone on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulator) enum Agent {
    /// Bulk copies that a thread waits for by groups.
    Groups(u32),
    /// Bulk copies that complete at the `mbarrier` object at that address.
    Mbarrier(u64),
    /// Stores and reductions of threads (`st.async`, `red.async`) that complete at the `mbarrier` object at that address: of the generic proxy.
    Stores(u64),
    /// The `wgmma` of a warpgroup.
    Warpgroup(u32),
}

/// The clocks of a block's agents, which lie behind those of its threads.
pub(in crate::emulator) struct Agents {
    first: usize,
    threads: usize,
    /// `mbarrier` objects and warpgroups, in the order in which they appear.
    shared: Vec<Agent>,
    places: FxHashMap<Agent, u32>,
    end: usize,
}

impl Agents {
    pub(super) fn none(first: usize) -> Agents {
        Agents {
            first,
            threads: 0,
            shared: Vec::new(),
            places: FxHashMap::default(),
            end: first,
        }
    }

    pub(super) fn new(first: usize, threads: usize) -> Agents {
        Agents {
            threads,
            end: first + threads + LEAST_SHARED.max(threads / 2),
            ..Agents::none(first)
        }
    }

    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Tells whether there are any.
    pub(in crate::emulator) fn any(&self) -> bool {
        self.end > self.first
    }

    /// The clock of an agent; none where there are too many.
    pub(in crate::emulator) fn clock(&mut self, agent: Agent) -> Option<u32> {
        if !self.any() {
            return None;
        }
        if let Agent::Groups(thread) = agent {
            return Some((self.first + thread as usize) as u32);
        }
        if let Some(&place) = self.places.get(&agent) {
            return Some(place);
        }
        if self.first + self.threads + self.shared.len() == self.end {
            return None;
        }
        let place = (self.first + self.threads + self.shared.len()) as u32;
        self.shared.push(agent);
        self.places.insert(agent, place);
        Some(place)
    }

    /// The agent whose clock that is; none for a thread's.
    pub(in crate::emulator) fn of(&self, clock: u32) -> Option<Agent> {
        let at = (clock as usize).checked_sub(self.first)?;
        match at.checked_sub(self.threads) {
            None => Some(Agent::Groups(at as u32)),
            Some(at) => self.shared.get(at).copied(),
        }
    }
}

impl Clocks {
    /// A proxy fence: what the thread has done and knows is known to the asynchronous proxy, for the thread and those that it tells.
    pub(in crate::emulator) fn fence_proxy(&mut self, thread: u32) {
        let t = thread as usize;
        let knows = &mut self.knows[t];
        if knows.proxied.is_none() {
            return;
        }
        let mut times = knows.times.to_vec();
        times[t] = self.own[t];
        knows.proxied = Some(times.into());
        // What the thread does from now on comes after the fence.
        self.own[t] = self.own[t].saturating_add(1);
    }

    /// Tells whether what happened at that time is known to the asynchronous proxy, for operations that the thread starts.
    pub(in crate::emulator) fn ordered_proxied(&self, thread: u32, other: u32, time: u32) -> bool {
        self.known_to_proxy(thread).has(other, time)
    }

    /// The things that are known to the asynchronous proxy, for operations that a thread starts.
    pub(in crate::emulator) fn known_to_proxy(&self, thread: u32) -> Known<'_> {
        Known {
            thread: None,
            times: self.knows[thread as usize]
                .proxied
                .as_deref()
                .unwrap_or_default(),
        }
    }

    /// The thread has seen that an agent's operations are complete until that time, which implies a proxy fence for them.
    pub(in crate::emulator) fn learn(&mut self, thread: u32, agent: u32, time: u32) {
        self.join_news(thread, [News::Of(agent, time), News::Of(agent, time)]);
    }

    /// Ends a time of an agent, and adds to a view what it did until then.
    pub(in crate::emulator) fn publish(&mut self, agent: u32, view: &mut View) {
        let time = self.own[agent as usize];
        self.own[agent as usize] = time.saturating_add(1);
        // To the asynchronous proxy what the generic one stores is known by a fence alone.
        let proxied = !matches!(self.agents.of(agent), Some(Agent::Stores(_)));
        let both = [
            Some(&mut view.times),
            Some(&mut view.proxied).filter(|_| proxied),
        ];
        for times in both.into_iter().flatten() {
            let mut new = times.to_vec();
            new.resize(self.own.len(), 0);
            new[agent as usize] = time;
            *times = new.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_known_to_the_proxy_after_a_fence() {
        let mut clocks = Clocks::with_agents(2, false, true);
        let before = clocks.now(0);
        assert!(!clocks.ordered_proxied(0, 0, before));
        clocks.fence_proxy(0);
        assert!(clocks.ordered_proxied(0, 0, before));
        // Not what comes after the fence, and not for others until they are told.
        assert!(!clocks.ordered_proxied(0, 0, clocks.now(0)));
        assert!(!clocks.ordered_proxied(1, 0, before));
        let view = clocks.release_alone(0);
        clocks.acquire_view(1, &view);
        assert!(clocks.ordered_proxied(1, 0, before));
        let mut release = clocks.meeting();
        for thread in [0, 1] {
            clocks.release(thread, &mut release);
        }
        let known = release.finish();
        clocks.acquire(1, &known);
        assert!(clocks.ordered_proxied(1, 0, before));
        assert!(clocks.ordered(1, 0, before + 1));
        assert!(!clocks.ordered_proxied(1, 0, before + 1));
    }

    #[test]
    fn completions_are_known_to_both_proxies() {
        let mut clocks = Clocks::with_agents(2, true, true);
        let store = clocks.agents.clock(Agent::Groups(1)).unwrap();
        let barrier = clocks.agents.clock(Agent::Mbarrier(64)).unwrap();
        assert_eq!(clocks.agents.clock(Agent::Mbarrier(64)), Some(barrier));
        assert_eq!(clocks.agents.of(store), Some(Agent::Groups(1)));
        assert_eq!(clocks.agents.of(barrier), Some(Agent::Mbarrier(64)));
        assert_eq!(clocks.agents.of(1), None);
        clocks.learn(1, store, 3);
        assert!(clocks.ordered(1, store, 3) && clocks.ordered_proxied(1, store, 3));
        assert!(!clocks.ordered(0, store, 3));
        let (mut view, time) = (View::default(), clocks.now(barrier));
        clocks.publish(barrier, &mut view);
        clocks.acquire_view(0, &view);
        assert!(clocks.ordered(0, barrier, time) && clocks.ordered_proxied(0, barrier, time));
        assert!(!clocks.ordered(0, barrier, clocks.now(barrier)));
    }
}
