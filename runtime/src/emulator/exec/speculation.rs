//! Values of loads that may not matter, on their way through registers.
//!
//! In the lanes where a register holds such a value it counts as not defined as a whole, though all of its bytes are: so what does not
//! look for such values sees them only where it looks for undefined ones, and costs nothing where there are none. Before an instruction
//! uses such a value, all that is wrong with the loads that it is made of is told, and it is a value as any other. Copies, selects, and
//! arithmetic that a compiler moves together with a load hand it on.

use super::*;
use crate::emulator::program::{Access, Fate};
use crate::emulator::shared::{Deferred, Needed, What};

/// The number of a load, or of several, in each lane; 0 for none.
type Numbers = [u32; LANES];

/// The loads that the registers of a warp are made of, as far as their values may not matter.
#[derive(Default)]
pub(super) struct Origins {
    /// Tells whether there may be any.
    pub any: bool,
    /// By register; empty until there is one.
    of: Vec<Option<Box<Numbers>>>,
}

impl Warp {
    /// The lanes of a mask in which a register holds a value that may not matter.
    fn undecided(&self, reg: Reg, mask: Mask) -> Mask {
        let lacking = self.lacking(reg, mask);
        let partly = self.partly[reg as usize].as_deref();
        match (self.origins.of.get(reg as usize), partly) {
            (Some(Some(_)), Some(bytes)) if lacking != 0 => {
                select(lacking, |lane| bytes[lane] == u8::MAX)
            }
            _ => 0,
        }
    }

    /// What the value of a register is made of in a lane that is [`Warp::undecided`].
    fn origin(&self, reg: Reg, lane: usize) -> u32 {
        let numbers = self.origins.of.get(reg as usize);
        numbers.and_then(Option::as_ref).map_or(0, |of| of[lane])
    }

    /// Says what a register that was written is made of, where that is not 0, in the lanes of a mask.
    fn set_origin(&mut self, reg: Reg, numbers: &Numbers, mask: Mask) {
        let mask = select(mask, |lane| numbers[lane] != 0);
        if mask == 0 {
            return;
        }
        let row = reg as usize;
        self.origins.any = true;
        if self.origins.of.is_empty() {
            self.origins.of.resize_with(self.rows.len(), || None);
        }
        let of = self.origins.of[row].get_or_insert_with(|| Box::new([0; LANES]));
        let partly = self.partly[row].get_or_insert_with(|| Box::new([0; LANES]));
        for lane in lanes(mask) {
            of[lane] = numbers[lane];
            partly[lane] = u8::MAX;
        }
        self.defined[row] &= !mask;
    }
}

impl Context<'_> {
    /// Keeps what is wrong with a load that is executed, if its value may not matter. Returns whether it did.
    pub(super) fn defers(&mut self, thread: u32, inst: u32, what: impl FnOnce() -> What) -> bool {
        let Some(load) = self.speculated else {
            return false;
        };
        let what = what();
        let deferred = Deferred { thread, inst, what };
        self.shared.loads.defer(load, thread, deferred);
        true
    }

    /// Notes that registers hold what a load has brought whose value may not matter.
    pub(super) fn loaded(&mut self, warp: &mut Warp, access: &Access, load: u32) {
        let watched = self.shared.loads.watched(load);
        for reg in access.regs.iter().flatten() {
            warp.set_origin(*reg, &[load; LANES], watched);
        }
    }

    /// Looks at the sources of an instruction before it is executed: what it uses matters. Returns what its results are made of,
    /// where it uses nothing.
    pub(super) fn follow(&mut self, warp: &mut Warp, pc: u32, active: Mask) -> Option<Numbers> {
        let kernel = self.launch.kernel;
        let speculation = kernel.speculation.as_ref()?;
        let reads = speculation.reads(pc);
        if reads.iter().all(|&reg| warp.lacking(reg, active) == 0) {
            return None;
        }
        match (speculation.fate(pc), &kernel.insts[pc as usize].op) {
            (Fate::Chosen, Op::Alu(op)) => {
                let p = op.ps.first().map_or(active, |guard| {
                    let value = warp.preds[guard.pred as usize];
                    if guard.negated { !value } else { value }
                });
                let mut made_of = [0; LANES];
                for (source, taken) in [(op.s[0], p), (op.s[1], !p)] {
                    for lane in lanes(warp.undecided(source, active & taken)) {
                        made_of[lane] = warp.origin(source, lane);
                    }
                }
                Some(made_of)
            }
            (Fate::Carried, _) => {
                let mut made_of = [0; LANES];
                for &source in reads {
                    for lane in lanes(warp.undecided(source, active)) {
                        let origin = warp.origin(source, lane);
                        let both = self.shared.loads.both(made_of[lane], origin);
                        // Of too many, those at hand are used.
                        made_of[lane] = both.unwrap_or_else(|| {
                            self.use_value(made_of[lane], lane);
                            origin
                        });
                    }
                }
                Some(made_of)
            }
            _ => {
                self.use_registers(warp, reads, active);
                None
            }
        }
    }

    /// Notes what the results of an instruction are made of.
    pub(super) fn carry(&mut self, warp: &mut Warp, pc: u32, made_of: &Numbers) {
        if let Some(speculation) = &self.launch.kernel.speculation {
            for &reg in speculation.writes(pc) {
                warp.set_origin(reg, made_of, Mask::MAX);
            }
        }
    }

    /// The lanes of a mask use registers, whose values matter so.
    pub(super) fn use_registers(&mut self, warp: &mut Warp, regs: &[Reg], mask: Mask) {
        for &reg in regs {
            let undecided = warp.undecided(reg, mask);
            for lane in lanes(undecided) {
                let origin = warp.origin(reg, lane);
                self.use_value(origin, lane);
            }
            warp.defined[reg as usize] |= undecided;
        }
    }

    /// Tells what is wrong with the loads that a value is made of.
    fn use_value(&mut self, origin: u32, lane: usize) {
        for Deferred { thread, inst, what } in self.shared.used(origin, lane) {
            match what {
                What::Shared(conflict, what) => {
                    self.shared_conflict_of(thread, inst, conflict, what);
                }
                What::Global(at, conflict) => self.global_conflict_of(thread, inst, at, conflict),
                What::Uninitialized(kind, space, at) => {
                    self.uninitialized_of(kind, thread, inst, (space, at));
                }
            }
        }
    }

    /// Forgets the loads that no value in a register is made of.
    pub(crate) fn forget_loads(&mut self, warps: &mut [Warp]) {
        let mut needed = Needed::default();
        for warp in warps.iter_mut().filter(|warp| warp.origins.any) {
            warp.origins.any = false;
            for reg in 0..warp.origins.of.len() {
                let undecided = warp.undecided(reg as Reg, Mask::MAX);
                for lane in lanes(undecided) {
                    let origin = warp.origin(reg as Reg, lane);
                    self.shared.loads.mark(origin, &mut needed);
                }
                match undecided {
                    0 => warp.origins.of[reg] = None,
                    _ => warp.origins.any = true,
                }
            }
        }
        self.shared.forget_others(&needed);
    }
}
