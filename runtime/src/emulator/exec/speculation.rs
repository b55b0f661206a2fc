//! Values of loads that may not matter, on their way through registers.
//!
//! In the lanes where a register holds such a value it counts as not defined as a whole, though all of its bytes are: so what does not
//! look for such values sees them only where it looks for undefined ones, and costs nothing where there are none. Before an instruction
//! uses such a value, all that is wrong with the loads that it is made of is told, and it is a value as any other. Copies, selects, and
//! arithmetic that a compiler moves together with a load hand it on.

use super::definedness::WHOLE;
use super::*;
use crate::emulator::alu::Kind as Compute;
use crate::emulator::program::{Access, AluOp, Fate};
use crate::emulator::shared::{Deferred, Needed, What};

/// The number of a load, or of several, in each lane; 0 for none.
type Numbers = [u32; LANES];

/// The loads that the registers of a warp are made of, as far as their values may not matter.
#[derive(Default)]
pub(super) struct Origins {
    /// The origins of the results of the instruction that is executed.
    carried: Numbers,
    /// Tells whether there may be any.
    pub any: bool,
    /// Origins by register; empty until there is one.
    of: Vec<Option<Box<Numbers>>>,
    /// The same by predicate. One that is not defined and made of nothing is one that nothing wrote.
    of_preds: Vec<Option<Box<Numbers>>>,
    /// The lanes where those are not defined besides, whatever comes of the loads; of the results of the instruction, and by predicate.
    missing: [Mask; 2],
    missing_preds: Vec<Mask>,
}

impl Warp {
    /// The lanes of a mask in which a register holds a value that may not matter.
    fn undecided(&self, reg: Reg, mask: Mask) -> Mask {
        let lacking = self.lacking(reg, mask);
        match self.origins.of.get(reg as usize) {
            Some(Some(of)) if lacking != 0 => select(lacking, |lane| of[lane] != 0),
            _ => 0,
        }
    }

    /// The lanes of a mask in which bits of a register are not defined, whatever the value is made of.
    fn undefined(&self, reg: Reg, mask: Mask) -> Mask {
        let lacking = self.lacking(reg, mask);
        match lacking {
            0 => 0,
            _ => {
                let bits = self.bits(reg);
                select(lacking, |lane| bits[lane] != WHOLE)
            }
        }
    }

    /// Says that a register is made of no load, in the lanes of a mask.
    pub(super) fn forget_origin(&mut self, reg: Reg, mask: Mask) {
        if let Some(Some(of)) = self.origins.of.get_mut(reg as usize) {
            lanes(mask).for_each(|lane| of[lane] = 0);
        }
    }

    /// The origin of the value of a register in a lane that is [`Warp::undecided`].
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
        }
        // Bits that are not defined stay so.
        for lane in lanes(mask & self.defined[row]) {
            partly[lane] = WHOLE;
        }
        self.defined[row] &= !mask;
    }

    /// The lanes of a mask in which a predicate is made of values that may not matter.
    pub(super) fn undecided_pred(&self, pred: Pred, mask: Mask) -> Mask {
        let lacking = mask & !self.preds_defined[pred as usize];
        match self.origins.of_preds.get(pred as usize) {
            Some(Some(of)) if lacking != 0 => select(lacking, |lane| of[lane] != 0),
            _ => 0,
        }
    }

    /// The lanes of a mask in which a predicate is not defined, whatever it is made of.
    pub(super) fn undefined_pred(&self, pred: Pred, mask: Mask) -> Mask {
        let lacking = mask & !self.preds_defined[pred as usize];
        let missing = self.origins.missing_preds.get(pred as usize);
        lacking & !(self.undecided_pred(pred, lacking) & !missing.copied().unwrap_or(0))
    }

    /// The origin of a predicate in a lane that is [`Warp::undecided_pred`].
    fn pred_origin(&self, pred: Pred, lane: usize) -> u32 {
        let numbers = self.origins.of_preds.get(pred as usize);
        numbers.and_then(Option::as_ref).map_or(0, |of| of[lane])
    }

    /// Says that predicates are made of nothing, be they defined or not, in the lanes of a mask.
    pub(super) fn forget_pred_origins(&mut self, preds: std::ops::Range<Pred>, mask: Mask) {
        for pred in preds {
            if let Some(Some(of)) = self.origins.of_preds.get_mut(pred as usize) {
                lanes(mask).for_each(|lane| of[lane] = 0);
            }
        }
    }

    /// Says what a predicate that was written is made of in the lanes of a mask, where it is not defined.
    fn set_pred_origin(&mut self, pred: Pred, numbers: &Numbers, mask: Mask, missing: Mask) {
        if self.origins.of_preds.is_empty() {
            self.origins.of_preds.resize_with(self.preds.len(), || None);
            self.origins.missing_preds.resize(self.preds.len(), 0);
        }
        let of_pred = &mut self.origins.missing_preds[pred as usize];
        *of_pred = *of_pred & !mask | missing & mask;
        let of = self.origins.of_preds[pred as usize].get_or_insert_with(|| Box::new([0; LANES]));
        for lane in lanes(mask) {
            of[lane] = numbers[lane];
        }
        self.origins.any = true;
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
    #[inline(never)]
    pub(super) fn loaded(&mut self, warp: &mut Warp, access: &Access, load: u32) {
        let watched = self.shared.loads.watched(load);
        for reg in access.regs.iter().flatten() {
            warp.set_origin(*reg, &[load; LANES], watched);
        }
    }

    /// Looks at the sources of an instruction before it is executed: what it uses matters. Returns whether its results may be made of
    /// values that it does not use; [`Context::carry`] has to come behind it then.
    #[inline(never)]
    pub(super) fn follow(&mut self, warp: &mut Warp, pc: u32, active: Mask) -> bool {
        let made_of = self.made_of(warp, pc, active);
        let carries = made_of.is_some();
        warp.origins.carried = made_of.unwrap_or([0; LANES]);
        carries
    }

    /// The origins of the results of an instruction that does not use what it reads.
    fn made_of(&mut self, warp: &mut Warp, pc: u32, active: Mask) -> Option<Numbers> {
        let kernel = self.launch.kernel;
        let speculation = kernel.speculation.as_ref()?;
        let reads = speculation.reads(pc);
        if speculation.fate(pc) == Fate::Tested {
            return self.follow_test(warp, pc, reads, active);
        }
        if let (Fate::Chosen, Op::Alu(op)) = (speculation.fate(pc), &kernel.insts[pc as usize].op) {
            return self.made_of_choice(warp, op, active);
        }
        if reads.iter().all(|&reg| warp.lacking(reg, active) == 0) {
            return None;
        }
        match (speculation.fate(pc), &kernel.insts[pc as usize].op) {
            (Fate::Carried, _) => {
                let mut made_of = [0; LANES];
                for &source in reads {
                    for lane in lanes(warp.undecided(source, active)) {
                        made_of[lane] = self.both(made_of[lane], warp.origin(source, lane), lane);
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

    /// The same of a choice: it is made of what is chosen, and where its predicate may not matter, of that and of both.
    fn made_of_choice(&mut self, warp: &Warp, op: &AluOp, active: Mask) -> Option<Numbers> {
        let guard = op.ps.first()?;
        let open = warp.undecided_pred(guard.pred, active);
        let lacking = [op.s[0], op.s[1]].map(|reg| warp.undecided(reg, active));
        if open | lacking[0] | lacking[1] == 0 {
            return None;
        }
        let value = warp.preds[guard.pred as usize];
        let p = if guard.negated { !value } else { value };
        let mut made_of = [0; LANES];
        for lane in lanes(open) {
            made_of[lane] = warp.pred_origin(guard.pred, lane);
        }
        for ((source, undecided), taken) in [op.s[0], op.s[1]].into_iter().zip(lacking).zip([p, !p])
        {
            for lane in lanes(undecided & (taken | open)) {
                made_of[lane] = self.both(made_of[lane], warp.origin(source, lane), lane);
            }
        }
        Some(made_of)
    }

    /// The same of an instruction whose results are predicates.
    fn follow_test(
        &mut self,
        warp: &mut Warp,
        pc: u32,
        reads: &[Reg],
        active: Mask,
    ) -> Option<Numbers> {
        let (sources, combine): (&[Guard], _) = match &self.launch.kernel.insts[pc as usize].op {
            Op::Alu(op) => match op.kind {
                Compute::Test { combine, .. } | Compute::TestPair { combine, .. } => {
                    (&op.ps, combine)
                }
                _ => (&op.ps, None),
            },
            Op::MovePred { s, .. } => (std::slice::from_ref(s), None),
            _ => (&[], None),
        };
        let lacking = reads
            .iter()
            .fold(0, |all, &reg| all | warp.lacking(reg, active));
        let unknown = |warp: &Warp| {
            let preds = sources
                .iter()
                .map(|guard| warp.preds_defined[guard.pred as usize]);
            preds.fold(0, |all, defined| all | active & !defined)
        };
        if lacking | unknown(warp) == 0 {
            return None;
        }
        // Where a test is combined with it, a value is used.
        for guard in sources.iter().filter(|_| !reads.is_empty()) {
            self.use_predicate(warp, guard.pred, active);
        }
        warp.origins.missing =
            Self::missing(warp, &self.launch.kernel.insts[pc as usize].op, active);
        let mut made_of = [0; LANES];
        for &reg in reads {
            for lane in lanes(warp.undecided(reg, active)) {
                made_of[lane] = self.both(made_of[lane], warp.origin(reg, lane), lane);
            }
        }
        for guard in sources {
            for lane in lanes(warp.undecided_pred(guard.pred, active)) {
                made_of[lane] = self.both(made_of[lane], warp.pred_origin(guard.pred, lane), lane);
            }
        }
        // A predicate that decides leaves nothing to the test.
        if let (Some(f), Some(guard)) = (combine, sources.first()) {
            let with = warp.preds[guard.pred as usize];
            let with = if guard.negated { !with } else { with };
            let open = f(Mask::MAX, with) ^ f(0, with);
            for lane in lanes(!open) {
                made_of[lane] = 0;
            }
        }
        Some(made_of)
    }

    /// The origin of a value of two others. Where that is too much to keep, the first one is used.
    fn both(&mut self, a: u32, b: u32, lane: usize) -> u32 {
        let both = self.shared.loads.both(a, b);
        both.unwrap_or_else(|| {
            self.use_value(a, lane);
            b
        })
    }

    /// Notes what the results of an instruction are made of.
    #[cold]
    #[inline(never)]
    pub(super) fn carry(&mut self, warp: &mut Warp, pc: u32, active: Mask) {
        let made_of = &{ warp.origins.carried };
        let kernel = self.launch.kernel;
        let Some(speculation) = &kernel.speculation else {
            return;
        };
        if speculation.fate(pc) != Fate::Tested {
            for &reg in speculation.writes(pc) {
                warp.set_origin(reg, made_of, active);
            }
            return;
        }
        let op = &kernel.insts[pc as usize].op;
        // Of predicates alone, the instruction has seen to what decides.
        let tests = !speculation.reads(pc).is_empty();
        op.predicates(|pred, writes| {
            if !writes {
                return;
            }
            let at = matches!(op, Op::Alu(op) if op.p != Some(pred));
            let missing = warp.origins.missing[usize::from(at)];
            warp.set_pred_origin(pred, made_of, active, missing);
            if tests {
                warp.preds_defined[pred as usize] &= !select(active, |lane| made_of[lane] != 0);
            }
        });
    }

    /// The lanes of a mask use a predicate. Returns those in which it was made of values that matter so.
    #[cold]
    pub(super) fn use_predicate(&mut self, warp: &mut Warp, pred: Pred, mask: Mask) -> Mask {
        let undecided = warp.undecided_pred(pred, mask);
        for lane in lanes(undecided) {
            let origin = warp.pred_origin(pred, lane);
            self.use_value(origin, lane);
        }
        let used = undecided & !warp.undefined_pred(pred, undecided);
        warp.preds_defined[pred as usize] |= used;
        warp.forget_pred_origins(pred..pred + 1, undecided);
        used
    }

    /// The lanes of a mask use registers, whose values matter so.
    pub(super) fn use_registers(&mut self, warp: &mut Warp, regs: &[Reg], mask: Mask) {
        for &reg in regs {
            let undecided = warp.undecided(reg, mask);
            for lane in lanes(undecided) {
                let origin = warp.origin(reg, lane);
                self.use_value(origin, lane);
            }
            warp.defined[reg as usize] |= undecided & !warp.undefined(reg, undecided);
            warp.forget_origin(reg, undecided);
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
            for pred in 0..warp.origins.of_preds.len() {
                let undecided = warp.undecided_pred(pred as Pred, Mask::MAX);
                for lane in lanes(undecided) {
                    let origin = warp.pred_origin(pred as Pred, lane);
                    self.shared.loads.mark(origin, &mut needed);
                }
                match undecided {
                    0 => warp.origins.of_preds[pred] = None,
                    _ => warp.origins.any = true,
                }
            }
        }
        self.shared.forget_others(&needed);
    }
}
