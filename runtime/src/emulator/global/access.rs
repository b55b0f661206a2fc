//! The accesses to global memory, and the need for an order of two of them.

use super::super::clocks::Clocks;
use super::super::program::{Order, Scope};

/// A thread at some time: its block, its number there, and its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) struct Who {
    pub block: u64,
    pub thread: u32,
    pub time: u32,
    /// The instruction of the access, or [`NOWHERE`] where that is not known.
    pub inst: u32,
}

/// The instruction of an access that is kept without it.
pub(in crate::emulator) const NOWHERE: u32 = u32::MAX;

const TIME_BITS: u32 = 24;
/// Threads of a block, and the clocks behind them.
const THREAD_BITS: u32 = 13;
/// The bit that says, in place of a writer, that there is a [`Record`].
pub(super) const RECORD: u64 = 1 << 63;

impl Who {
    pub(super) fn pack(self) -> u64 {
        let time = u64::from(self.time).min((1 << TIME_BITS) - 1);
        (self.block + 1) << (TIME_BITS + THREAD_BITS) | u64::from(self.thread) << TIME_BITS | time
    }

    pub(super) fn unpack(word: u64) -> Option<Who> {
        Some(Who {
            block: (word >> (TIME_BITS + THREAD_BITS)).checked_sub(1)?,
            thread: (word >> TIME_BITS) as u32 & ((1 << THREAD_BITS) - 1),
            time: word as u32 & ((1 << TIME_BITS) - 1),
            inst: NOWHERE,
        })
    }
}

/// The thread that accesses, and the order of its access.
#[derive(Clone, Copy)]
pub(in crate::emulator) struct Accessor<'c> {
    /// The block, or the cluster of blocks.
    pub block: u64,
    /// The block's rank in the cluster.
    pub rank: u8,
    pub thread: u32,
    pub inst: u32,
    pub order: Order,
    /// The clock and the time of the agent in the asynchronous proxy for which the thread acts; none for the thread itself.
    pub agent: Option<(u32, u32)>,
    pub clocks: &'c Clocks,
}

impl Accessor<'_> {
    pub(super) fn who(&self) -> Who {
        let own = (self.thread, self.clocks.now(self.thread));
        let (thread, time) = self.agent.unwrap_or(own);
        Who {
            block: self.block,
            thread,
            time,
            inst: self.inst,
        }
    }

    /// Tells whether what another thread did then happens before this access.
    pub(super) fn knows(&self, who: Who) -> bool {
        let Who {
            block,
            thread,
            time,
            ..
        } = who;
        if block == self.block && self.agent.is_some() {
            self.clocks.ordered_proxied(self.thread, thread, time)
        } else if block == self.block {
            self.clocks.ordered(self.thread, thread, time)
        } else {
            self.clocks
                .ordered_after_block(self.thread, block, thread, time)
        }
    }

    pub(super) fn class(&self, reads: bool, writes: bool) -> Class {
        Class {
            reads,
            writes,
            width: self.order.width,
            // Weak accesses have no scope.
            scope: match self.order.strong() {
                true => self.order.scope,
                false => Scope::default(),
            },
            rank: match self.order.strong() {
                true => self.rank,
                false => 0,
            },
        }
    }
}

/// The relation of an access to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) struct Class {
    pub reads: bool,
    pub writes: bool,
    /// Bytes of an element if it is strong, else 0.
    pub width: u8,
    pub scope: Scope,
    /// The rank of the block in its cluster, if it is strong, else 0.
    pub rank: u8,
}

impl Class {
    pub(super) const WEAK_READ: Class = Class {
        reads: true,
        writes: false,
        width: 0,
        scope: Scope::Device,
        rank: 0,
    };
    pub(super) const WEAK_WRITE: Class = Class {
        reads: false,
        writes: true,
        ..Class::WEAK_READ
    };

    /// Tells whether two accesses need an order: one writes, and they are not both strong, of the same bytes, and of scopes that hold
    /// the other's thread. (PTX ISA, "Morally Strong Operations".)
    pub(super) fn conflicts(&self, other: &Class, same_block: bool) -> bool {
        let both = |holds: fn(Scope) -> bool| holds(self.scope) && holds(other.scope);
        let scopes = match same_block {
            // Blocks of one cluster have one number.
            true => self.rank == other.rank || both(|scope| scope != Scope::Block),
            false => both(|scope| scope == Scope::Device),
        };
        let morally_strong = self.width != 0 && self.width == other.width && scopes;
        (self.writes || other.writes) && !morally_strong
    }

    /// Tells whether all that conflicts with an access before this one conflicts with this one, too. Weak writes of equal values do not
    /// conflict, so that no write stands for a read.
    pub(super) fn covers(&self, before: &Class, same_block: bool) -> bool {
        let alike = self.width == before.width && self.scope == before.scope;
        let as_strong = alike && self.rank == before.rank && same_block;
        (self.width == 0 || as_strong)
            && (self.reads || !before.reads)
            && (self.writes || !before.writes)
    }
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) struct Unordered {
    pub this: Class,
    pub other: Class,
    pub who: Who,
    /// Tells whether one of the two reads what nothing may write while the kernel runs, be there an order or not.
    pub non_coherent: bool,
}
