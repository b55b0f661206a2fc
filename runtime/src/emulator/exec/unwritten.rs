//! Bytes of threads' own memory that nothing wrote, on their way through registers.
//!
//! Code without optimization copies structures byte by byte, padding included. To load such a byte and to store it to memory of the
//! same thread is no use of it: the register counts as not defined in that byte, and so does the place that it is stored to. The first
//! other use is told, as a finding of the load that brought the byte, as long as it is known which one that was.

use super::definedness::lowest;
use super::*;
use crate::emulator::program::Access;

/// The load that brought a value, and the address, in each lane.
pub(super) type Places = [Option<(u32, u64)>; LANES];

/// The bytes that a load brought though nothing wrote them, a bit each, and where it is.
#[derive(Default)]
pub(in crate::emulator) struct Holes {
    bytes: [u32; LANES],
    places: Places,
}

/// The loads that registers and predicates which are not defined come from.
#[derive(Default)]
pub(super) struct Unwritten {
    /// Tells whether there may be any.
    any: bool,
    registers: HashMap<Reg, Box<Places>>,
    preds: HashMap<Pred, Box<Places>>,
}

impl Unwritten {
    /// The loads that a register comes from.
    pub(super) fn register(&self, reg: Reg) -> Option<&Places> {
        self.registers.get(&reg).map(|places| &**places)
    }

    /// The loads that a predicate comes from.
    pub(super) fn pred(&self, pred: Pred) -> Option<&Places> {
        self.preds.get(&pred).map(|places| &**places)
    }

    /// The loads that what is made of some registers comes from: in each lane, of the first one that has one.
    pub(super) fn of(&self, registers: &[Reg]) -> Option<Box<Places>> {
        if !self.any {
            return None;
        }
        let mut found: Option<Box<Places>> = None;
        for places in registers.iter().filter_map(|reg| self.registers.get(reg)) {
            let found = found.get_or_insert_with(|| Box::new([None; LANES]));
            for (found, place) in found.iter_mut().zip(**places) {
                *found = found.or(place);
            }
        }
        found
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
    /// Says which bytes of registers that were loaded are not defined.
    #[cold]
    #[inline(never)]
    pub(super) fn set_holes(&mut self, access: &Access, active: Mask, holes: &Holes) {
        let (bytes, low) = (access.bytes as usize, lowest(access.bytes));
        for (part, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let defined = holes.bytes.map(|unwritten| {
                let of_part = (unwritten >> (part * bytes)) as u8 & low;
                let sign = access.signed.is_some() && of_part >> (bytes - 1) & 1 != 0;
                !(of_part | if sign { !low } else { 0 })
            });
            self.set_bytes_from(*reg, &defined, active, Some(&holes.places));
        }
    }
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
    /// Notes the loads that lanes which use something undefined have it from. Returns the lanes where that is known.
    pub(super) fn tell_unwritten(
        &mut self,
        warp: &Warp,
        places: Option<&Places>,
        mask: Mask,
    ) -> Mask {
        let Some(places) = places else { return 0 };
        let known = select(mask, |lane| places[lane].is_some());
        for lane in lanes(known) {
            if let Some((pc, at)) = places[lane] {
                self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, Space::Local, at);
            }
        }
        known
    }

    /// Notes that a thread reads bytes of its own memory that nothing wrote: for later, where they are loaded into registers that carry them.
    #[cold]
    #[inline(never)]
    pub(super) fn read_unwritten(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        range: &std::ops::Range<usize>,
    ) {
        if !self.carries {
            self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, Space::Local, at);
            return;
        }
        let written = warp.local_written[range.clone()].iter().enumerate();
        let bits = written.fold(0, |bits, (byte, written)| {
            bits | u32::from(!written) << byte
        });
        let holes = self.holes.get_or_insert_with(Default::default);
        holes.bytes[lane] = bits;
        holes.places[lane] = Some((pc, at));
    }

    /// Looks at what a store writes that is not defined. Returns the lanes that store it to their own memory, where it is no use.
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
        for reg in access.regs.iter().flatten() {
            self.check_bytes(warp, *reg, access.bytes, active & !own, pc);
        }
        own
    }

    /// Says of the bytes that lanes have stored to their own memory without being defined that nothing wrote them.
    #[cold]
    #[inline(never)]
    pub(super) fn unwrite(&self, warp: &mut Warp, access: &Access, at: &Row, own: Mask) {
        let bytes = access.bytes as usize;
        for (part, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let undefined = warp
                .bytes(*reg)
                .map(|defined| !defined & lowest(access.bytes));
            for lane in lanes(own).filter(|lane| undefined[*lane] != 0) {
                let (_, start) = Self::space_of(access.space, at[lane]);
                let start = start.wrapping_add((part * bytes) as u64);
                if let Some(range) = self.own(lane, start, bytes) {
                    for (byte, written) in warp.local_written[range].iter_mut().enumerate() {
                        *written &= undefined[lane] >> byte & 1 == 0;
                    }
                }
            }
        }
    }

    /// Notes bytes of a thread's own memory that are used and that nothing wrote.
    pub(super) fn check_own(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64, bytes: usize) {
        let written = |range: std::ops::Range<usize>| warp.local_written[range].iter().all(|w| *w);
        if self
            .own(lane, at, bytes)
            .is_some_and(|range| !written(range))
        {
            self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, Space::Local, at);
        }
    }
}
