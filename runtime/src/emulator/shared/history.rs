//! The accesses to a place where strong operations meet others: atomics, volatile accesses, `mbarrier` objects.
//!
//! One write and one read do not tell enough there. Two strong writes need no order, yet a plain read must
//! come after both. So every access is kept until a later one makes it superfluous: one that comes
//! after it, and conflicts with whatever it conflicts with.

use super::{By, Conflict, Epoch, IN_FLIGHT, Trouble, has, thread_of};

#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    epoch: Epoch,
    inst: u32,
    /// The strength of the access, as in [`By`].
    strong: u8,
    writes: bool,
    /// Tells whether a write is of what was there.
    updates: bool,
}

impl Access {
    pub(super) fn read(by: &By<'_>) -> Access {
        Access {
            epoch: by.epoch(),
            inst: by.inst,
            strong: by.strong,
            writes: false,
            updates: false,
        }
    }

    pub(super) fn write(by: &By<'_>) -> Access {
        Access {
            writes: true,
            ..Access::read(by)
        }
    }

    /// A write of what was there, at a time of its own.
    pub(super) fn update(by: &By<'_>, epoch: Epoch) -> Access {
        Access {
            epoch,
            updates: true,
            ..Access::write(by)
        }
    }

    /// One that was before there was a history.
    pub(super) fn weak(epoch: Epoch, inst: u32, writes: bool) -> Access {
        Access {
            epoch,
            inst,
            strong: 0,
            writes,
            updates: false,
        }
    }

    fn conflicts(&self, other: &Access) -> bool {
        (self.writes || other.writes) && (self.strong == 0 || self.strong != other.strong)
    }

    /// Tells whether an access is this one at another place of the program.
    fn is_again(&self, other: &Access) -> bool {
        (self.epoch, self.strong, self.writes) == (other.epoch, other.strong, other.writes)
    }

    /// Tells whether all that conflicts with an access before this one conflicts with this one, too.
    fn covers(&self, before: &Access) -> bool {
        (self.strong == 0 || self.strong == before.strong) && (self.writes || !before.writes)
    }
}

#[derive(Default)]
struct History {
    accesses: Vec<Access>,
    /// Writes that come after no other one: who comes after none of these reads what nobody wrote.
    first: Vec<Epoch>,
    /// The number of reads behind the last write.
    reads: usize,
    /// The place among these of the one that was met again last.
    again: usize,
}

impl History {
    fn of(accesses: Vec<Access>, first: Vec<Epoch>) -> History {
        let mut history = History {
            accesses,
            first,
            ..History::default()
        };
        history.count_reads();
        history
    }

    fn count_reads(&mut self) {
        let reads = self.accesses.iter().rev();
        self.reads = reads.take_while(|access| !access.writes).count();
    }

    /// Tells whether a read was seen since the last write.
    fn has_again(&mut self, access: &Access) -> bool {
        let reads = &self.accesses[self.accesses.len() - self.reads..];
        let is_it = |at: &usize| reads.get(*at).is_some_and(|read| read.is_again(access));
        // Threads ask in turn, as they did before.
        let near = [self.again + 1, self.again, 0];
        let found = near
            .into_iter()
            .find(is_it)
            .or_else(|| (0..reads.len()).find(is_it));
        self.again = found.unwrap_or_default();
        found.is_some()
    }
}

#[derive(Default)]
pub(super) struct Histories {
    all: Vec<History>,
    free: Vec<u32>,
}

impl Histories {
    /// A new one, with accesses of which at most the first is a write.
    pub(super) fn start(&mut self, accesses: Vec<Access>) -> u32 {
        let writes = accesses.iter().filter(|access| access.writes);
        let first = writes.map(|access| access.epoch).collect();
        let history = History::of(accesses, first);
        match self.free.pop() {
            Some(slot) => {
                self.all[slot as usize] = history;
                slot
            }
            None => {
                self.all.push(history);
                self.all.len() as u32 - 1
            }
        }
    }

    /// Forgets one.
    pub(super) fn end(&mut self, slot: u32) {
        self.all[slot as usize] = History::default();
        self.free.push(slot);
    }

    /// Notes an access, and says what it collides with.
    pub(super) fn access(&mut self, slot: u32, access: Access, by: &By<'_>) -> Option<Conflict> {
        let history = &mut self.all[slot as usize];
        // Many threads ask an mbarrier object again and again: a read that was seen, and no write since, tells nothing new.
        if !access.writes && history.has_again(&access) {
            return None;
        }
        let known = by.known();
        let knows = |epoch: Epoch| epoch & IN_FLIGHT == 0 && has(&known, epoch);
        let mut found = history
            .accesses
            .iter()
            .find(|before| access.conflicts(before) && !knows(before.epoch))
            .map(|before| {
                let trouble = match (before.epoch & IN_FLIGHT != 0, before.writes) {
                    (true, _) => Trouble::InFlight,
                    (_, true) => Trouble::AfterWrite,
                    (_, false) => Trouble::AfterRead,
                };
                by.conflict(trouble, before.epoch, before.inst)
            });
        let written = history.first.iter().any(|&write| knows(write));
        let reads = !access.writes || access.updates;
        if reads && !written && found.is_none() {
            found = Some(by.conflict(Trouble::Uninitialized, 0, by.inst));
        }
        if access.writes && !written {
            history.first.push(access.epoch);
        }
        history
            .accesses
            .retain(|before| !(access.covers(before) && knows(before.epoch)));
        history.accesses.push(access);
        history.count_reads();
        found
    }

    /// One of the writes of an agent that are under way is done: which, does not matter, as they are alike.
    pub(super) fn finish_one(&mut self, slot: u32, agent: u32, done: Epoch) {
        let history = &mut self.all[slot as usize];
        let under_way = |epoch: &Epoch| *epoch & IN_FLIGHT != 0 && thread_of(*epoch) == agent;
        if let Some(first) = history.first.iter_mut().find(|epoch| under_way(epoch)) {
            *first = done;
        }
        let mut accesses = history.accesses.iter();
        let Some(at) = accesses.position(|access| under_way(&access.epoch)) else {
            return;
        };
        history.accesses[at].epoch = done;
        // One stands for all that were done at that time.
        let access = history.accesses[at];
        if history.accesses[..at]
            .iter()
            .any(|other| other.is_again(&access))
        {
            history.accesses.remove(at);
            history.count_reads();
        }
    }

    /// A thread's copy is done.
    pub(super) fn finish_copy(&mut self, slot: u32, thread: u32, done: Epoch) {
        let history = &mut self.all[slot as usize];
        let accesses = history.accesses.iter_mut().map(|access| &mut access.epoch);
        for epoch in accesses.chain(&mut history.first) {
            if *epoch & IN_FLIGHT != 0 && thread_of(*epoch) == thread {
                *epoch = done;
            }
        }
    }
}
