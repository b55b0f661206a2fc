//! Bytes of memory that nothing wrote, and registers that nothing wrote, on their way.
//!
//! Programs copy structures with their padding, set one bit-field beside others that hold nothing, and load more of a vector than they use. To
//! load such a byte and to store it beside others is no use of it: the register counts as not defined in its bits, and so does the place that it is
//! stored to. The first other use is told, as a finding of the load that brought the byte. What is computed with a register that nothing
//! wrote is followed in the same way, and told where it was computed.

use super::definedness::{WHOLE, lowest};
use super::*;
use crate::emulator::program::Access;
use crate::emulator::shared::{Conflict, Trouble};

/// The bits of a byte of memory that is defined.
pub(super) const WRITTEN: u8 = 0xff;

/// Tells whether all bits of bytes are defined.
pub(super) fn all_written(defined: &[u8]) -> bool {
    defined.iter().all(|bits| *bits == WRITTEN)
}

/// The thing that was not there.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Memory at an address.
    Memory(Space, u64),
    /// A register, or something else, by its name.
    Register(&'static str),
}

/// The instruction that read what was not there.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pc: u32,
    source: Source,
    /// Tells whether the value is more than a copy.
    computed: bool,
}

impl Place {
    /// The place of an instruction that reads a register that nothing wrote.
    pub(super) fn of(pc: u32, what: &'static str) -> Place {
        Place {
            pc,
            source: Source::Register(what),
            computed: false,
        }
    }

    pub(super) fn computed(self) -> Place {
        Place {
            computed: true,
            ..self
        }
    }

    /// Tells whether a value is a copy of what a load has brought.
    fn is_copy(self) -> bool {
        !self.computed && matches!(self.source, Source::Memory(..))
    }
}

/// The place that a value comes from, in each lane.
pub(super) type Places = [Option<Place>; LANES];

/// The defined bits of the bytes that a load brought in each lane, and the addresses.
pub(in crate::emulator) struct Holes {
    defined: [[u8; 32]; LANES],
    places: Places,
}

/// The places that registers and predicates which are not defined come from.
#[derive(Default)]
pub(super) struct Unwritten {
    /// Tells whether there may be any.
    any: bool,
    registers: HashMap<Reg, Box<Places>>,
    preds: HashMap<Pred, Box<Places>>,
}

impl Unwritten {
    /// The places that a register comes from.
    pub(super) fn register(&self, reg: Reg) -> Option<&Places> {
        self.registers.get(&reg).map(|places| &**places)
    }

    /// The places that a predicate comes from.
    pub(super) fn pred(&self, pred: Pred) -> Option<&Places> {
        self.preds.get(&pred).map(|places| &**places)
    }

    /// The places that what is made of some registers comes from: in each lane, of the first one that has one.
    pub(super) fn of(&self, registers: &[Reg]) -> Option<Box<Places>> {
        if !self.any {
            return None;
        }
        firsts(registers.iter().filter_map(|reg| self.registers.get(reg)))
    }

    /// The same of what is made of some predicates.
    pub(super) fn of_guards(&self, guards: &[Guard]) -> Option<Box<Places>> {
        if !self.any {
            return None;
        }
        firsts(
            guards
                .iter()
                .filter_map(|guard| self.preds.get(&guard.pred)),
        )
    }

    /// Says where a register that is not defined comes from, in the lanes of a mask.
    pub(super) fn set(&mut self, reg: Reg, from: Option<&Places>, mask: Mask) {
        self.any |= put(&mut self.registers, reg, from, mask);
    }

    /// Says where a predicate that is not defined comes from, in the lanes of a mask.
    pub(super) fn set_pred(&mut self, pred: Pred, from: Option<&Places>, mask: Mask) {
        self.any |= put(&mut self.preds, pred, from, mask);
    }

    /// Forgets where registers and predicates come from, in a lane.
    pub(super) fn forget(&mut self, registers: &[Reg], preds: std::ops::Range<Pred>, lane: usize) {
        if !self.any {
            return;
        }
        for reg in registers {
            put(&mut self.registers, *reg, None, 1 << lane);
        }
        for pred in preds {
            put(&mut self.preds, pred, None, 1 << lane);
        }
    }
}

impl Warp {
    /// Says which bits of registers that were loaded are not defined.
    #[cold]
    #[inline(never)]
    pub(super) fn set_holes(&mut self, access: &Access, active: Mask, holes: &Holes) {
        let bytes = access.bytes as usize;
        let high = !lowest(access.bytes);
        for (part, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let defined = holes.defined.map(|of_lane| {
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(&of_lane[part * bytes..][..bytes]);
                let defined = u64::from_le_bytes(word);
                let sign = access.signed.is_some() && defined >> (8 * bytes - 1) & 1 == 0;
                defined | if sign { 0 } else { high }
            });
            self.set_bits(*reg, &defined, active, Some(&holes.places));
        }
    }
}

/// The first place in each lane.
fn firsts<'p>(all: impl Iterator<Item = &'p Box<Places>>) -> Option<Box<Places>> {
    all.fold(None, |found, places| {
        let mut found = found.unwrap_or_default();
        for (found, place) in found.iter_mut().zip(**places) {
            *found = found.or(place);
        }
        Some(found)
    })
}

/// Puts places into a map; returns whether there are any.
fn put(map: &mut HashMap<u32, Box<Places>>, key: u32, from: Option<&Places>, mask: Mask) -> bool {
    match (from, map.get_mut(&key)) {
        (None, None) => return false,
        (None, Some(known)) => lanes(mask).for_each(|lane| known[lane] = None),
        (Some(from), Some(known)) => lanes(mask).for_each(|lane| known[lane] = from[lane]),
        (Some(from), None) => {
            let places = std::array::from_fn(|lane| from[lane].filter(|_| mask >> lane & 1 != 0));
            map.insert(key, Box::new(places));
        }
    }
    from.is_some()
}

impl Context<'_> {
    /// Notes the places that lanes which use something undefined have it from. Returns the lanes where that is known.
    pub(super) fn tell_unwritten(
        &mut self,
        warp: &Warp,
        places: Option<&Places>,
        mask: Mask,
    ) -> Mask {
        let Some(places) = places else { return 0 };
        let known = select(mask, |lane| places[lane].is_some());
        let mut computed = BTreeMap::new();
        for lane in lanes(known) {
            match places[lane] {
                Some(Place {
                    pc,
                    source: Source::Memory(space, at),
                    ..
                }) => self.tell_uninitialized(warp, lane, pc, space, at),
                Some(Place {
                    pc,
                    source: Source::Register(what),
                    ..
                }) => {
                    computed.entry(pc).or_insert((lane, what));
                }
                None => {}
            }
        }
        for (pc, (lane, what)) in computed {
            self.undefined(warp, 1 << lane, pc, what);
        }
        known
    }

    /// Puts what a load has brought into its registers, if something reads one of them, and else tells what nobody wrote.
    #[cold]
    #[inline(never)]
    pub(super) fn bring(
        &mut self,
        warp: &mut Warp,
        access: &Access,
        active: Mask,
        pc: u32,
        holes: &Holes,
    ) {
        let mut regs = access.regs.iter().flatten();
        match regs.any(|reg| self.is_read_behind(*reg, pc)) {
            true => warp.set_holes(access, active, holes),
            false => {
                self.tell_unwritten(warp, Some(&holes.places), active);
            }
        }
    }

    fn tell_uninitialized(&mut self, warp: &Warp, lane: usize, pc: u32, space: Space, at: u64) {
        if space != Space::Shared {
            self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, space, at);
            return;
        }
        let conflict = Conflict {
            trouble: Trouble::Uninitialized,
            at,
            thread: 0,
            inst: pc,
        };
        self.shared_conflict(warp, lane, pc, conflict, "reads");
    }

    /// Notes that a thread reads bytes of which not all bits are defined, which has a bit a bit: for later, where they are loaded into registers
    /// that carry them.
    #[cold]
    #[inline(never)]
    pub(super) fn read_unwritten(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        defined: &[u8],
    ) {
        if !self.carries {
            self.tell_uninitialized(warp, lane, pc, space, at);
            return;
        }
        let holes = self.holes.get_or_insert_with(|| {
            Box::new(Holes {
                defined: [[WRITTEN; 32]; LANES],
                places: [None; LANES],
            })
        });
        holes.defined[lane][..defined.len()].copy_from_slice(defined);
        holes.places[lane] = Some(Place {
            pc,
            source: Source::Memory(space, at),
            computed: false,
        });
    }

    /// Looks at what a store writes that is not defined. Returns the lanes that store undefined bits as they are: those to their own memory, and
    /// those that copy some beside others that are defined, from memory.
    #[cold]
    #[inline(never)]
    pub(super) fn check_stored(
        &mut self,
        warp: &Warp,
        access: &Access,
        at: &Row,
        active: Mask,
        pc: u32,
    ) -> Mask {
        let own = select(active, |lane| {
            Self::space_of(access.space, at[lane]).0 == Space::Local
        });
        let low = lowest(access.bytes);
        let regs = || access.regs.iter().flatten();
        let any = regs().fold([0; LANES], |all: Row, reg| {
            let bits = warp.bits(*reg);
            std::array::from_fn(|lane| all[lane] | bits[lane] & low)
        });
        let mut kept = own;
        for reg in regs() {
            let bits = warp.bits(*reg);
            let places = warp.unwritten.register(*reg);
            let is_copied = |lane: usize| {
                any[lane] != 0
                    && places.is_some_and(|places| places[lane].is_some_and(Place::is_copy))
            };
            let undefined = select(active, |lane| !bits[lane] & low != 0);
            let copied = select(undefined & !own, is_copied);
            self.check_bytes(warp, *reg, access.bytes, undefined & !own & !copied, pc);
            kept |= copied;
        }
        kept
    }

    /// Says of the bits that lanes have stored without their being defined that nothing wrote them.
    #[cold]
    #[inline(never)]
    pub(super) fn unwrite(&mut self, warp: &mut Warp, access: &Access, at: &Row, kept: Mask) {
        let bytes = access.bytes as usize;
        for (part, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let defined = warp.bits(*reg);
            for lane in lanes(kept).filter(|lane| defined[*lane] != WHOLE) {
                let (space, start) = Self::resolve(warp.rank, access.space, at[lane]);
                let start = start.wrapping_add((part * bytes) as u64);
                let bits = defined[lane].to_le_bytes();
                let bits = bits[..bytes].iter().copied().enumerate();
                let bits = bits.filter(|(_, bits)| *bits != WRITTEN);
                match space {
                    Space::Local => {
                        if let Some(range) = self.own(lane, start, bytes) {
                            bits.for_each(|(byte, bits)| {
                                warp.local_written[range.start + byte] = bits;
                            });
                        }
                    }
                    Space::Shared if self.shared.holds(start, bytes as u64) => {
                        bits.for_each(|(byte, bits)| {
                            self.shared.undefine(start + byte as u64, bits)
                        });
                    }
                    Space::Global => {
                        let found = self.launch.global.range(start, bytes as u64);
                        if let Some((buffer, offset)) = found.filter(|found| found.0.writable) {
                            bits.for_each(|(byte, bits)| {
                                buffer.undefine(offset + byte as u64, bits)
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Notes bytes of a thread's own memory that are used and that nothing wrote.
    pub(super) fn check_own(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64, bytes: usize) {
        if self
            .own(lane, at, bytes)
            .is_some_and(|range| !all_written(&warp.local_written[range]))
        {
            self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, Space::Local, at);
        }
    }
}
