//! The accesses to a place of global memory, where one write and one read do not tell enough.
//!
//! Accesses are kept by what they are and by block, with the last time of each thread: of accesses of one kind, a later one of a
//! thread stands for its earlier ones. An access that comes after others, and conflicts with whatever they conflict
//! with, makes them superfluous.

use super::{Accessor, Class, NOWHERE, Who};

/// Sets of one place, above which those of other blocks are kept by one thread each.
const MANY: usize = 24;
/// Sets of one place, at most.
const MOST: usize = 64;

/// Accesses of one kind by threads of one block.
struct Set {
    class: Class,
    block: u64,
    /// The instruction of all of them, or [`NOWHERE`].
    inst: u32,
    times: Times,
}

enum Times {
    /// A thread and its time.
    One(u32, u32),
    /// Values by thread; 0 for none.
    Each(Vec<u32>),
}

impl Times {
    fn add(&mut self, thread: u32, time: u32) {
        if let Times::One(other, before) = *self {
            if other == thread {
                *self = Times::One(thread, time);
                return;
            }
            let mut each = vec![0; other.max(thread) as usize + 1];
            each[other as usize] = before;
            *self = Times::Each(each);
        }
        if let Times::Each(each) = self {
            each.resize(each.len().max(thread as usize + 1), 0);
            each[thread as usize] = time;
        }
    }

    /// One of them, which stands for the others where there are too many.
    fn shorten(&mut self) {
        if let Times::Each(each) = self {
            let last = (0..each.len()).max_by_key(|&thread| each[thread]);
            let thread = last.unwrap_or(0);
            *self = Times::One(thread as u32, each[thread]);
        }
    }
}

impl Set {
    /// One of its threads, and a time of it, whose access nothing orders before what is done now.
    fn unordered(&self, by: &Accessor<'_>) -> Option<Who> {
        let Accessor { thread, clocks, .. } = *by;
        let same_block = self.block == by.block;
        let (thread, time) = match &self.times {
            Times::One(other, time) => {
                let who = Who {
                    block: self.block,
                    thread: *other,
                    time: *time,
                    inst: self.inst,
                };
                return (!by.knows(who)).then_some(who);
            }
            Times::Each(each) => {
                let unknown = |&at: &u32| {
                    let who = Who {
                        block: self.block,
                        thread: at,
                        time: each[at as usize],
                        inst: self.inst,
                    };
                    who.time != 0 && !by.knows(who)
                };
                let late = match same_block {
                    true if by.agent.is_some() => (0..each.len() as u32).find(unknown),
                    true => clocks.unordered(thread, each),
                    false => clocks.unordered_after_block(thread, self.block, each),
                }?;
                (late, each[late as usize])
            }
        };
        Some(Who {
            block: self.block,
            thread,
            time,
            inst: self.inst,
        })
    }
}

/// All accesses of one place that matter.
#[derive(Default)]
pub(super) struct Record {
    sets: Vec<Set>,
}

impl Record {
    /// Tells whether something has written there.
    pub(super) fn is_written(&self) -> bool {
        self.sets.iter().any(|set| set.class.writes)
    }

    pub(super) fn add(&mut self, class: Class, who: Who) {
        let same = |set: &&mut Set| set.class == class && set.block == who.block;
        match self.sets.iter_mut().find(same) {
            Some(set) => {
                set.inst = match set.times {
                    Times::One(thread, _) if thread == who.thread => who.inst,
                    _ if set.inst == who.inst => who.inst,
                    _ => NOWHERE,
                };
                set.times.add(who.thread, who.time);
            }
            None => self.sets.push(Set {
                class,
                block: who.block,
                inst: who.inst,
                times: Times::One(who.thread, who.time),
            }),
        }
    }

    /// Notes an access, and says what it collides with; `equal` if it writes the value that is there.
    pub(super) fn access(
        &mut self,
        by: &Accessor<'_>,
        class: Class,
        equal: bool,
    ) -> Option<(Class, Who)> {
        let mut found = None;
        self.sets.retain(|set| {
            let same_block = set.block == by.block;
            // Who wrote this value weakly wrote what all others have that were not found.
            let weak_writes = class == Class::WEAK_WRITE && set.class == Class::WEAK_WRITE;
            let conflicts = class.conflicts(&set.class, same_block) && !(equal && weak_writes);
            let covers = class.covers(&set.class, same_block);
            if !conflicts && !covers {
                return true;
            }
            let unordered = set.unordered(by);
            if let (true, Some(who)) = (conflicts, unordered) {
                found = found.or(Some((set.class, who)));
            }
            // What was found to conflict by its value is not found again.
            !(covers && unordered.is_none() || weak_writes && !equal)
        });
        self.add(class, by.who());
        if self.sets.len() > MANY {
            for set in &mut self.sets {
                if set.block != by.block {
                    set.times.shorten();
                }
            }
            if self.sets.len() > MOST {
                let oldest = self.sets.iter().position(|set| set.block != by.block);
                self.sets.remove(oldest.unwrap_or(0));
            }
        }
        found
    }

    /// The last writes of all threads, by any kind of write.
    pub(super) fn writers(&self) -> Vec<Who> {
        let mut found = Vec::new();
        for set in self.sets.iter().filter(|set| set.class.writes) {
            let who = |thread: u32, time: u32| Who {
                block: set.block,
                thread,
                time,
                inst: set.inst,
            };
            match &set.times {
                Times::One(thread, time) => found.push(who(*thread, *time)),
                Times::Each(each) => {
                    let each = each.iter().enumerate().filter(|(_, time)| **time != 0);
                    found.extend(each.map(|(thread, time)| who(thread as u32, *time)));
                }
            }
        }
        found
    }

    /// The only weak write and the only weak read, where there is nothing else.
    pub(super) fn simple(&self) -> Option<[Option<Who>; 2]> {
        if self.sets.len() > 2 {
            return None;
        }
        let mut found = [None; 2];
        for set in &self.sets {
            let Times::One(thread, time) = set.times else {
                return None;
            };
            let slot = match set.class {
                Class::WEAK_WRITE => &mut found[0],
                Class::WEAK_READ => &mut found[1],
                _ => return None,
            };
            let block = set.block;
            if slot
                .replace(Who {
                    block,
                    thread,
                    time,
                    inst: set.inst,
                })
                .is_some()
            {
                return None;
            }
        }
        Some(found)
    }
}
