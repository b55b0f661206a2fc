//! Loads whose values may not matter, and what would be wrong with them if they did.
//!
//! Such a load notes its reads of shared memory in a way of their own. What it collides with, and what collides with it later, is kept
//! with the load. Once the value is used the reads become ones as any others, and what was kept is told; if it never is, nothing is.

use super::super::global::Unordered;
use super::super::lanes::{LANES, Mask, Row, lanes};
use super::*;

/// Loads and pairs that a block remembers, at most. Behind these, loads are taken for ones whose values matter.
const MOST: usize = 1 << 13;
/// Loads that a value may be made of, at most.
const MOST_OF_ONE: u32 = 64;
/// Loads and pairs that there are before it is looked for those that nobody needs.
const FEW: usize = 256;

/// The finding on a read if its value matters.
#[derive(Clone, Debug)]
pub(in crate::emulator) struct Deferred {
    /// The thread and the instruction that it is told of.
    pub thread: u32,
    pub inst: u32,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(in crate::emulator) enum What {
    /// A conflict in shared memory of an access that does this.
    Shared(Conflict, &'static str),
    /// A conflict in global memory at that address.
    Global(u64, Unordered),
}

/// A load of the lanes of a warp.
struct Load {
    inst: u32,
    /// The thread of the first lane.
    thread: u32,
    /// Bytes of each lane, and the places in shared memory of the lanes of a mask.
    bytes: usize,
    at: Box<Row>,
    shared: Mask,
    /// Lanes that something is wrong with, and what.
    wrong: Mask,
    deferred: Vec<(usize, Deferred)>,
}

enum Of {
    Load(Load),
    /// Two others, which a value is made of, and how many loads these are.
    Both([u32; 2], u32),
}

/// A load, or several. Numbers begin with 1, so that 0 is none.
struct Node {
    of: Of,
    /// Lanes whose value was used.
    used: Mask,
}

#[derive(Default)]
pub(in crate::emulator) struct Loads {
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    /// The number of nodes at which those that nobody needs are looked for.
    limit: usize,
    /// The number of loads since then that there was no room for.
    missed: usize,
    /// The last pair that was made, as lanes mostly make the same one.
    last: Option<([u32; 2], u32)>,
}

impl Loads {
    fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Tells whether there are so many that it pays to look for those that nobody needs.
    pub(in crate::emulator) fn is_crowded(&self) -> bool {
        self.len() > self.limit.max(FEW) || self.missed > MOST
    }

    fn add(&mut self, of: Of) -> Option<u32> {
        let node = Some(Node { of, used: 0 });
        if let Some(number) = self.free.pop() {
            self.nodes[number as usize - 1] = node;
            return Some(number);
        }
        if self.nodes.len() >= MOST {
            self.missed += 1;
            return None;
        }
        self.nodes.push(node);
        Some(self.nodes.len() as u32)
    }

    fn get(&mut self, number: u32) -> Option<&mut Node> {
        let index = (number as usize).checked_sub(1)?;
        self.nodes.get_mut(index)?.as_mut()
    }

    fn load(&mut self, number: u32) -> Option<&mut Load> {
        match &mut self.get(number)?.of {
            Of::Load(load) => Some(load),
            Of::Both(..) => None,
        }
    }

    /// The instruction of a load.
    fn inst(&self, number: u32) -> u32 {
        let node = (number as usize).checked_sub(1);
        match node.and_then(|index| self.nodes.get(index)) {
            Some(Some(Node {
                of: Of::Load(load), ..
            })) => load.inst,
            _ => 0,
        }
    }

    /// Begins a load of so many bytes by the lanes of the warp that the thread is the first one of. None if there are too many.
    pub(in crate::emulator) fn start(
        &mut self,
        inst: u32,
        thread: u32,
        bytes: usize,
    ) -> Option<u32> {
        self.add(Of::Load(Load {
            inst,
            thread,
            bytes,
            at: Box::new([0; LANES]),
            shared: 0,
            wrong: 0,
            deferred: Vec::new(),
        }))
    }

    /// The lanes of a load that something is wrong with, or may be later. The load is forgotten if there are none.
    pub(in crate::emulator) fn watched(&mut self, number: u32) -> Mask {
        let watched = self.load(number).map_or(0, |load| load.shared | load.wrong);
        if watched == 0 && self.get(number).is_some() {
            self.nodes[number as usize - 1] = None;
            self.free.push(number);
        }
        watched
    }

    /// Keeps what is wrong with a lane's read for the time when its value is used.
    pub(in crate::emulator) fn defer(&mut self, number: u32, thread: u32, deferred: Deferred) {
        let Some(load) = self.load(number) else {
            return;
        };
        let lane = thread as usize % LANES;
        load.wrong |= 1 << lane;
        // An access that collides in several places of the read collides once.
        let again = |(other, before): &(usize, Deferred)| {
            *other == lane && (before.thread, before.inst) == (deferred.thread, deferred.inst)
        };
        if !load.deferred.iter().any(again) {
            load.deferred.push((lane, deferred));
        }
    }

    fn size(&mut self, number: u32) -> u32 {
        match self.get(number) {
            Some(Node {
                of: Of::Both(_, size),
                ..
            }) => *size,
            Some(_) => 1,
            None => 0,
        }
    }

    /// The number for a value that is made of two; none if it would be made of too many.
    pub(in crate::emulator) fn both(&mut self, a: u32, b: u32) -> Option<u32> {
        if a == b || b == 0 {
            return Some(a);
        }
        if a == 0 {
            return Some(b);
        }
        if let Some((pair, number)) = self.last
            && pair == [a, b]
        {
            return Some(number);
        }
        let size = self.size(a).saturating_add(self.size(b));
        if size > MOST_OF_ONE {
            return None;
        }
        let number = self.add(Of::Both([a, b], size))?;
        self.last = Some(([a, b], number));
        Some(number)
    }

    /// Marks what a value that somebody has is made of.
    pub(in crate::emulator) fn mark(&mut self, number: u32, needed: &mut Needed) {
        let mut rest = vec![number];
        while let Some(number) = rest.pop() {
            needed.0.resize(self.nodes.len() + 1, false);
            let Some(node) = self.get(number) else {
                continue;
            };
            if std::mem::replace(&mut needed.0[number as usize], true) {
                continue;
            }
            if let Of::Both(of, _) = node.of {
                rest.extend(of);
            }
        }
    }
}

/// The loads and pairs that values are made of which somebody has.
#[derive(Default)]
pub(in crate::emulator) struct Needed(Vec<bool>);

impl Shared {
    /// Notes an aligned read of a load whose value may not matter, and says what it collides with.
    pub(in crate::emulator) fn read_speculated(
        &mut self,
        at: u64,
        bytes: usize,
        by: By<'_>,
        number: u32,
    ) -> Option<Conflict> {
        if let Some(load) = self.loads.load(number) {
            let lane = by.thread as usize % LANES;
            load.shared |= 1 << lane;
            load.at[lane] = at;
        }
        self.read_for(at, bytes, by, Some(number))
    }

    /// Notes a read that may not matter, which stands for no other one.
    pub(super) fn note_speculated(&mut self, index: usize, mine: Epoch, load: u32) {
        let reader = (mine | SPECULATED, load);
        let before = self.granules[index].read;
        if before & MANY != 0 {
            self.many[(before & !MANY) as usize].push(reader);
        } else if before == 0 {
            let g = &mut self.granules[index];
            (g.read, g.read_inst) = reader;
        } else {
            self.note_another(index, reader);
        }
    }

    /// A reader as a history has it.
    pub(super) fn weak_read(&self, (epoch, inst): (Epoch, u32)) -> Access {
        let inst = match epoch & SPECULATED {
            0 => inst,
            _ => self.loads.inst(inst),
        };
        Access::weak(epoch & !SPECULATED, inst, false)
    }

    /// The conflict of a write with readers. One with reads that may not matter is kept for when they do, if the write `defers`.
    #[cold]
    pub(super) fn conflict_with_readers(
        &mut self,
        index: usize,
        by: &By<'_>,
        defers: bool,
        readers: &[(Epoch, u32)],
    ) -> Option<Conflict> {
        let unknown = || readers.iter().filter(|(epoch, _)| !by.knows(*epoch));
        let matters = |(epoch, _): &&(Epoch, u32)| !defers || epoch & SPECULATED == 0;
        if let Some(&reader) = unknown().find(matters) {
            let inst = match reader.0 & SPECULATED {
                0 => reader.1,
                _ => self.loads.inst(reader.1),
            };
            return Some(by.conflict(Trouble::AfterRead, reader.0, inst));
        }
        for &(epoch, load) in unknown() {
            let conflict = by.conflict(Trouble::AfterRead, epoch, self.loads.inst(load));
            let deferred = Deferred {
                thread: by.thread,
                inst: by.inst,
                what: What::Shared(self.placed(index, conflict), "writes"),
            };
            self.loads.defer(load, thread_of(epoch), deferred);
        }
        None
    }

    /// A lane uses a value: returns what is wrong with the reads that it is made of, which are reads as any others from now on.
    pub(in crate::emulator) fn used(&mut self, number: u32, lane: usize) -> Vec<Deferred> {
        let mut found = Vec::new();
        let mut rest = vec![number];
        while let Some(number) = rest.pop() {
            let Some(node) = self.loads.get(number) else {
                continue;
            };
            if node.used >> lane & 1 != 0 {
                continue;
            }
            node.used |= 1 << lane;
            let load = match &mut node.of {
                Of::Both(of, _) => {
                    rest.extend(*of);
                    continue;
                }
                Of::Load(load) => load,
            };
            if load.wrong >> lane & 1 != 0 {
                let of_lane = |(other, _): &mut (usize, Deferred)| *other == lane;
                let deferred = load.deferred.extract_if(.., of_lane);
                found.extend(deferred.map(|(_, deferred)| deferred));
            }
            if load.shared >> lane & 1 != 0 {
                let (at, bytes, inst) = (load.at[lane], load.bytes, load.inst);
                let thread = load.thread + lane as u32;
                self.settle(at, bytes, (number, thread), Some(inst));
            }
        }
        found
    }

    /// Forgets the loads that no value is made of any more.
    pub(in crate::emulator) fn forget_others(&mut self, needed: &Needed) {
        for index in 0..self.loads.nodes.len() {
            let number = index as u32 + 1;
            if needed.0.get(number as usize) == Some(&true) {
                continue;
            }
            let Some(node) = self.loads.nodes[index].take() else {
                continue;
            };
            self.loads.free.push(number);
            if let Of::Load(load) = node.of {
                for lane in lanes(load.shared & !node.used) {
                    let reader = (number, load.thread + lane as u32);
                    self.settle(load.at[lane], load.bytes, reader, None);
                }
            }
        }
        self.loads.last = None;
        self.loads.limit = 2 * self.loads.len();
        self.loads.missed = 0;
    }

    /// Makes the reads of a load's lane ones as any others, of that instruction, or removes them where there is none. What was written
    /// since has no such read any more.
    fn settle(&mut self, at: u64, bytes: usize, (load, thread): (u32, u32), inst: Option<u32>) {
        let is_it = |(epoch, number): (Epoch, u32)| {
            epoch & SPECULATED != 0 && number == load && thread_of(epoch) == thread
        };
        for index in self.range(at, bytes) {
            let g = &mut self.granules[index];
            if g.write & HISTORY != 0 {
                continue;
            }
            if g.read & MANY == 0 {
                match inst {
                    _ if !is_it((g.read, g.read_inst)) => {}
                    Some(inst) => (g.read, g.read_inst) = (g.read & !SPECULATED, inst),
                    None => (g.read, g.read_inst) = (0, 0),
                }
                continue;
            }
            let slot = (g.read & !MANY) as usize;
            let list = &mut self.many[slot];
            match inst {
                Some(inst) => {
                    for reader in list.iter_mut().filter(|reader| is_it(**reader)) {
                        *reader = (reader.0 & !SPECULATED, inst);
                    }
                }
                None => list.retain(|reader| !is_it(*reader)),
            }
            if list.is_empty() {
                g.read = 0;
                self.free.push(slot as u32);
            }
        }
    }
}
