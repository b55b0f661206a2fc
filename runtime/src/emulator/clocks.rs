//! Happens-before among the threads of a block: vector clocks.
//!
//! A thread's clock counts what it has released to others: arrivals at barriers and the like. What a
//! thread knows of the others is shared by all that left the same barrier, so a barrier of all
//! threads costs one vector. (Flanagan and Freund, "FastTrack", PLDI 2009, for epochs.)

use std::rc::Rc;

/// What is known of all threads of a block: one clock each.
pub(super) type Knowledge = Rc<[u32]>;

pub(super) struct Clocks {
    own: Vec<u32>,
    knows: Vec<Knowledge>,
}

impl Clocks {
    /// With `copiers`, each thread has a second one behind all threads, which its asynchronous copies happen
    /// in that arrive at an `mbarrier` object: what it does is known to those who wait there, and not to
    /// the thread itself.
    pub fn new(threads: usize, copiers: bool) -> Clocks {
        let all = if copiers { 2 * threads } else { threads };
        Clocks {
            own: vec![1; all],
            knows: vec![vec![0; all].into(); threads],
        }
    }

    /// Threads of the block.
    pub fn threads(&self) -> usize {
        self.knows.len()
    }

    /// What nobody has come to yet.
    pub fn meeting(&self) -> Release {
        Release {
            times: vec![0; self.own.len()],
            joined: Vec::new(),
        }
    }

    /// The thread that stands for a thread's copies.
    pub fn copier(&self, thread: u32) -> u32 {
        self.threads() as u32 + thread
    }

    /// As [`Clocks::release_alone`], with what the thread's copies have done by then. Returns that time of theirs, too.
    pub fn release_copies(&mut self, thread: u32) -> (Vec<u32>, u32) {
        let mut times = self.release_alone(thread);
        let copier = self.copier(thread) as usize;
        let time = self.own[copier];
        times[copier] = time;
        self.own[copier] = time.saturating_add(1);
        (times, time)
    }

    /// The thread has waited for copies of its own, until that time of theirs.
    pub fn acquire_copies(&mut self, thread: u32, time: u32) {
        let copier = self.copier(thread) as usize;
        let mut times = self.knows[thread as usize].to_vec();
        times[copier] = times[copier].max(time);
        self.knows[thread as usize] = times.into();
    }

    /// The thread's own time now.
    pub fn now(&self, thread: u32) -> u32 {
        self.own[thread as usize]
    }

    /// Whether what `other` did at that time of its own happens before what `thread` does now.
    pub fn ordered(&self, thread: u32, other: u32, time: u32) -> bool {
        thread == other || self.knows[thread as usize][other as usize] >= time
    }

    /// Adds what a thread has done and knows to a release, and starts a new time for it.
    pub fn release(&mut self, thread: u32, release: &mut Release) {
        let t = thread as usize;
        release.join(&self.knows[t]);
        release.times[t] = release.times[t].max(self.own[t]);
        self.own[t] = self.own[t].saturating_add(1);
    }

    /// A release of one thread.
    pub fn release_alone(&mut self, thread: u32) -> Vec<u32> {
        let t = thread as usize;
        let mut times = self.knows[t].to_vec();
        times[t] = self.own[t];
        self.own[t] = self.own[t].saturating_add(1);
        times
    }

    /// The thread learns what was released.
    pub fn acquire(&mut self, thread: u32, released: &Knowledge) {
        self.knows[thread as usize] = Rc::clone(released);
    }

    /// As [`Clocks::acquire`], for a release that the thread need not have been part of.
    pub fn acquire_joined(&mut self, thread: u32, released: &[u32]) {
        let t = thread as usize;
        if self.knows[t]
            .iter()
            .zip(released)
            .all(|(mine, new)| mine >= new)
        {
            return;
        }
        let joined: Vec<u32> = self.knows[t]
            .iter()
            .zip(released)
            .map(|(mine, new)| *mine.max(new))
            .collect();
        self.knows[t] = joined.into();
    }
}

/// What threads that meet tell each other.
pub(super) struct Release {
    times: Vec<u32>,
    /// What was joined last: most threads of a block know the same.
    joined: Vec<Knowledge>,
}

impl Release {
    fn join(&mut self, knowledge: &Knowledge) {
        if self.joined.iter().any(|known| Rc::ptr_eq(known, knowledge)) {
            return;
        }
        for (mine, new) in self.times.iter_mut().zip(knowledge.iter()) {
            *mine = (*mine).max(*new);
        }
        if self.joined.len() < 64 {
            self.joined.push(Rc::clone(knowledge));
        }
    }

    pub fn finish(self) -> Knowledge {
        self.times.into()
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
        let times = clocks.release_alone(1);
        clocks.acquire_joined(2, &times);
        assert!(clocks.ordered(2, 0, before));
    }
}
