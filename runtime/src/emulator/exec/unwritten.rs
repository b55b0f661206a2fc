//! Bytes of threads' own memory that nothing wrote, on their way through registers.
//!
//! Code without optimization copies structures byte by byte, padding included. To load such a byte and to store it to memory of the
//! same thread is no use of it: the register counts as not defined in that byte, and so does the place that it is stored to. The first
//! other use is told, as a finding of the load that brought the byte, as long as it is known which one that was.

use super::*;

/// The load that brought a value, and the address, in each lane.
pub(super) type Places = [Option<(u32, u64)>; LANES];

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

    /// Reads memory of a thread's own. A bit of the result stands for each byte that nothing wrote.
    pub(super) fn read_own(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        data: &mut [u8],
    ) -> u32 {
        if !self.aligned(warp, lane, pc, Space::Local, at, data.len()) {
            return 0;
        }
        let Some(range) = self.local_range(warp, lane, pc, at, data.len(), "reads") else {
            return 0;
        };
        data.copy_from_slice(&warp.local[range.clone()]);
        let written = warp.local_written[range].iter().enumerate();
        written.fold(0, |bits, (byte, written)| {
            bits | u32::from(!written) << byte
        })
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
