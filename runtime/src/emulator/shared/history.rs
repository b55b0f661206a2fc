//! The accesses to a place where strong operations meet others: atomics, volatile accesses, `mbarrier` objects.
//!
//! One write and one read do not tell enough there. Two strong writes need no order, yet a plain read must
//! come after both. So every access is kept until a later one makes it superfluous: one that comes
//! after it, and conflicts with whatever it conflicts with.

use super::{By, Conflict, Epoch, IN_FLIGHT, Trouble, thread_of};

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
        let history = History {
            first: writes.map(|access| access.epoch).collect(),
            accesses,
        };
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
        let mut since = history
            .accesses
            .iter()
            .rev()
            .take_while(|before| !before.writes);
        if !access.writes && since.any(|before| before.is_again(&access)) {
            return None;
        }
        let knows = |epoch: Epoch| epoch & IN_FLIGHT == 0 && by.knows(epoch);
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
