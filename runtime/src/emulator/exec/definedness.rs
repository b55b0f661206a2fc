//! The bits of registers that hold something.
//!
//! A mask of lanes says where all of a register is defined, which is what most instructions look at. Of other lanes a bit for each bit
//! is kept. Copies, and operations that move bits, carry what is undefined with them, and what is computed with it is undefined as a
//! whole; it is a finding where it is used for more than that, such as an address, a branch, a store or a matrix.

use std::collections::HashSet;

use super::unwritten::{Place, Places};
use super::*;
use crate::emulator::alu::Kind as Compute;
use crate::emulator::program::{AluOp, Carry};

/// The defined bits of each lane. Those above a register's width count as defined.
pub(super) type Bits = Row;

/// A register that is defined.
pub(super) const WHOLE: u64 = u64::MAX;

impl Warp {
    /// The lanes of a mask where not all of a register is defined.
    pub(super) fn lacking(&self, reg: Reg, mask: Mask) -> Mask {
        mask & !self.defined[reg as usize]
    }

    pub(super) fn bits(&self, reg: Reg) -> Bits {
        let defined = self.defined[reg as usize];
        let partly = self.partly[reg as usize].as_deref();
        std::array::from_fn(|lane| match (defined >> lane & 1, partly) {
            (1, _) => WHOLE,
            (_, Some(bits)) => bits[lane],
            (_, None) => 0,
        })
    }

    /// Says which bits of a register that was written are defined in the lanes of a mask, and where those that are not come from.
    pub(super) fn set_bits(&mut self, reg: Reg, bits: &Bits, mask: Mask, from: Option<&Places>) {
        let whole = select(mask, |lane| bits[lane] == WHOLE);
        let defined = &mut self.defined[reg as usize];
        *defined = *defined & !mask | whole;
        if whole != mask {
            let partly = self.partly[reg as usize].get_or_insert_with(|| Box::new([0; LANES]));
            for lane in lanes(mask) {
                partly[lane] = bits[lane];
            }
            self.unwritten.set(reg, from, mask & !whole);
            self.forget_origin(reg, mask);
        }
    }

    /// The lanes of a mask where not all of the lowest bytes of a register are defined.
    fn lacking_bytes(&self, reg: Reg, bytes: u32, mask: Mask) -> Mask {
        let lacking = self.lacking(reg, mask);
        if lacking == 0 {
            return 0;
        }
        let found = self.bits(reg);
        select(lacking, |lane| !found[lane] & lowest(bytes) != 0)
    }

    /// The lanes of a mask where a comparison has a source that is not defined.
    pub(super) fn compares_undefined(&self, op: &AluOp, mask: Mask) -> Mask {
        let sources = op.s[..op.count].iter().zip(op.bytes);
        sources.fold(0, |lanes, (&reg, bytes)| {
            lanes | self.lacking_bytes(reg, bytes.into(), mask)
        })
    }

    /// Names what of a register is missing in the first lane of a mask.
    fn lacks(&self, reg: Reg, bytes: u32, undefined: Mask) -> &'static str {
        match self.bits(reg)[first(undefined)] & lowest(bytes) {
            0 => "a register",
            _ => "a register with bytes",
        }
    }

    /// The bits of a register that are not defined.
    fn undefined_bits(&self, reg: Reg) -> Row {
        self.bits(reg).map(|bits| !bits)
    }
}

/// The bits of the lowest bytes.
pub(super) fn lowest(bytes: u32) -> u64 {
    u64::MAX >> (64 - 8 * bytes.clamp(1, 8))
}

/// Predicates of the lanes of a warp, and the lanes where there is none.
#[derive(Clone, Copy)]
pub(super) struct Logical {
    pub value: Mask,
    pub undefined: Mask,
}

impl Logical {
    /// The predicates that a guard stands for, in the lanes of a mask.
    pub(super) fn read(warp: &Warp, guard: Guard, mask: Mask) -> Logical {
        let value = warp.preds[guard.pred as usize];
        Logical {
            value: mask & if guard.negated { !value } else { value },
            undefined: mask & !warp.preds_defined[guard.pred as usize],
        }
    }

    /// Writes a predicate in the lanes of a mask, with the places that what is not defined comes from.
    pub(super) fn write(self, warp: &mut Warp, pred: Pred, mask: Mask, from: Option<&Places>) {
        Context::set_pred(warp, pred, self.value, mask);
        let undefined = self.undefined & mask;
        warp.preds_defined[pred as usize] &= !undefined;
        if undefined != 0 {
            warp.unwritten.set_pred(pred, from, undefined);
        }
    }

    /// The result of a function of two predicates. It is defined where what is undefined changes nothing: `false and x` is false.
    pub(super) fn of(f: fn(Mask, Mask) -> Mask, x: Logical, y: Logical) -> Logical {
        if x.undefined | y.undefined == 0 {
            return Logical {
                value: f(x.value, y.value),
                undefined: 0,
            };
        }
        let with = |choice: u32| {
            let pick = |of: Logical, bit: u32| {
                let one = if choice >> bit & 1 != 0 {
                    of.undefined
                } else {
                    0
                };
                of.value & !of.undefined | one
            };
            f(pick(x, 0), pick(y, 1))
        };
        let first = with(0);
        Logical {
            // What is made of loads that may not matter has a value, too, which counts once it turns out that they do.
            value: f(x.value, y.value),
            undefined: (1..4).fold(0, |differs, choice| differs | first ^ with(choice)),
        }
    }
}

impl Context<'_> {
    /// Writes what was in another register: what is not defined stays so.
    pub(super) fn copy(warp: &mut Warp, d: Reg, s: Reg, active: Mask) {
        let value = warp.rows[s as usize];
        let lacking =
            (warp.lacking(s, active) != 0).then(|| (warp.bits(s), warp.unwritten.of(&[s])));
        Self::set(warp, d, &value, active);
        if let Some((bits, from)) = lacking {
            warp.set_bits(d, &bits, active, from.as_deref());
        }
    }

    /// `mov` of parts of `bits` bits into one register.
    pub(super) fn pack(warp: &mut Warp, d: Reg, parts: &[Reg], bits: u32, active: Mask) {
        let mut value = [0; LANES];
        let mut lacking = 0;
        let mask = u64::MAX >> (64 - bits);
        for (i, part) in parts.iter().enumerate() {
            let row = &warp.rows[*part as usize];
            for lane in 0..LANES {
                value[lane] |= (row[lane] & mask) << (i as u32 * bits);
            }
            lacking |= warp.lacking(*part, active);
        }
        let defined = (lacking != 0).then(|| {
            let undefined = parts
                .iter()
                .enumerate()
                .fold([0; LANES], |all: Row, (i, part)| {
                    let of_part = warp.undefined_bits(*part);
                    std::array::from_fn(|lane| {
                        all[lane] | (of_part[lane] & mask) << (i as u32 * bits)
                    })
                });
            (undefined.map(|bits| !bits), warp.unwritten.of(parts))
        });
        Self::set(warp, d, &value, active);
        if let Some((defined, from)) = defined {
            warp.set_bits(d, &defined, active, from.as_deref());
        }
    }

    /// `mov` of a register into parts of `bits` bits.
    pub(super) fn unpack(warp: &mut Warp, parts: &[Option<Reg>], s: Reg, bits: u32, active: Mask) {
        let row = warp.rows[s as usize];
        let undefined = (warp.lacking(s, active) != 0)
            .then(|| (warp.undefined_bits(s), warp.unwritten.of(&[s])));
        let mask = u64::MAX >> (64 - bits);
        for (i, part) in parts.iter().enumerate() {
            let Some(d) = part else { continue };
            let take = |row: &Row| row.map(|value| value >> (i as u32 * bits) & mask);
            Self::set(warp, *d, &take(&row), active);
            if let Some((undefined, from)) = &undefined {
                let defined = take(undefined).map(|bits| !bits);
                warp.set_bits(*d, &defined, active, from.as_deref());
            }
        }
    }

    /// Notes lanes that use the lowest bytes of a register of which some are not defined.
    pub(super) fn check_bytes(&mut self, warp: &Warp, reg: Reg, bytes: u32, mask: Mask, pc: u32) {
        let undefined = warp.lacking_bytes(reg, bytes, mask);
        if undefined != 0 {
            let what = warp.lacks(reg, bytes, undefined);
            self.undefined_register(warp, reg, undefined, pc, what);
        }
    }

    /// The defined part of the result of an instruction some of whose sources are not, and where the rest comes from; none if all of it
    /// is, or if nothing reads it, so that it is told at once.
    #[cold]
    pub(super) fn carried(
        &mut self,
        warp: &Warp,
        op: &AluOp,
        active: Mask,
        pc: u32,
    ) -> Option<(Bits, Box<Places>)> {
        let sources = &op.s[..op.count];
        let data = match op.carry {
            Carry::Nothing => 0,
            Carry::Moves(data) => data,
            Carry::Bitwise | Carry::Halves => 0b111,
        };
        // A carry goes elsewhere, too.
        let is_carry = matches!(op.kind, Compute::Carry { .. });
        let told = is_carry || !op.d.is_some_and(|d| self.is_read_behind(d, pc));
        let mut places = warp.unwritten.of(sources).unwrap_or_default();
        let mut computed = 0;
        for (at, &source) in sources.iter().enumerate() {
            if data >> at & 1 != 0 {
                continue;
            }
            let bytes = op.bytes[at].into();
            let undefined = warp.lacking_bytes(source, bytes, active);
            if told {
                self.check_bytes(warp, source, bytes, active, pc);
                continue;
            }
            for lane in lanes(undefined & !computed) {
                let what = warp.lacks(source, bytes, undefined);
                let of_source = warp.unwritten.register(source).and_then(|of| of[lane]);
                places[lane] = Some(of_source.unwrap_or(Place::of(pc, what)).computed());
            }
            computed |= undefined;
        }
        let poisoned = |lane: usize| computed >> lane & 1 != 0;
        let [a, b, c, e] = op.s.map(|reg| &warp.rows[reg as usize]);
        let run = |[x, y, z]: [&Row; 3], p: Mask| {
            let mut out = [0; LANES];
            match op.kind {
                Compute::Value(f) => f(&mut out, x, y, z),
                Compute::Value4(f) => f(&mut out, x, y, z, e),
                Compute::Convert(f, how) => f(&mut out, x, how),
                Compute::Select(f) => f(&mut out, x, y, p),
                _ => {}
            }
            if let Some((widen, bits)) = op.widen {
                widen(&mut out, bits);
            }
            out
        };
        let undefined = [0, 1, 2].map(|at| match at < op.count && data >> at & 1 != 0 {
            true => warp.undefined_bits(op.s[at]),
            false => [0; LANES],
        });
        let differs = match op.carry {
            Carry::Nothing => [0; LANES],
            // The bits that the undefined ones come to.
            Carry::Moves(data) => {
                let [x, y, z] = &undefined;
                let of = |at: u32, bits| match data >> at & 1 != 0 {
                    true => bits,
                    false => [a, b, c][at as usize],
                };
                let p = op.ps.first().map_or(active, |guard| {
                    let value = warp.preds[guard.pred as usize];
                    if guard.negated { !value } else { value }
                });
                run([of(0, x), of(1, y), of(2, z)], p)
            }
            // The bits that are not the same whatever the undefined ones are.
            Carry::Bitwise => {
                let with = |choice: u32| {
                    let rows: [Row; 3] = std::array::from_fn(|at| {
                        let row = [a, b, c][at];
                        std::array::from_fn(|lane| {
                            let bits = undefined[at][lane];
                            row[lane] & !bits | if choice >> at & 1 != 0 { bits } else { 0 }
                        })
                    });
                    let [x, y, z] = &rows;
                    run([x, y, z], active)
                };
                let zeros = with(0);
                (1..8).fold([0; LANES], |all: Row, choice| {
                    let other = with(choice);
                    std::array::from_fn(|lane| all[lane] | zeros[lane] ^ other[lane])
                })
            }
            Carry::Halves => {
                let any: Row = std::array::from_fn(|lane| {
                    undefined.iter().fold(0, |all, bits| all | bits[lane])
                });
                let half = |bits: u64| if bits & 0xffff != 0 { 0xffff } else { 0 };
                any.map(|bits| half(bits) | half(bits >> 16) << 16)
            }
        };
        let bits: Bits = std::array::from_fn(|lane| match poisoned(lane) {
            true => 0,
            false => !differs[lane],
        });
        Some((bits, places))
    }

    /// The defined part of a choice by a predicate that is not defined in some lanes: what both sources have in common.
    #[cold]
    pub(super) fn chosen(
        &mut self,
        warp: &Warp,
        op: &AluOp,
        undefined: Mask,
        (guard, pc): (Guard, u32),
        before: Option<(Bits, Box<Places>)>,
    ) -> (Bits, Box<Places>) {
        let pred = guard.pred;
        let (mut bits, mut places) = before.unwrap_or(([WHOLE; LANES], Box::default()));
        let [a, b] = [op.s[0], op.s[1]].map(|reg| (warp.bits(reg), &warp.rows[reg as usize]));
        let from = warp.unwritten.pred(pred);
        for lane in lanes(undefined) {
            bits[lane] = a.0[lane] & b.0[lane] & !(a.1[lane] ^ b.1[lane]);
            let of_pred = from.and_then(|from| from[lane]);
            places[lane] = Some(of_pred.unwrap_or(Place::of(pc, "a predicate")).computed());
        }
        (bits, places)
    }

    /// Tells whether an instruction may read what another one has written to a register.
    pub(super) fn is_read_behind(&mut self, reg: Reg, pc: u32) -> bool {
        let insts = &self.launch.kernel.insts;
        *self.read_behind.entry((pc, reg)).or_insert_with(|| {
            let mut seen = HashSet::new();
            let mut paths = vec![pc as usize + 1];
            while let Some(at) = paths.pop() {
                let Some(inst) = insts.get(at).filter(|_| seen.insert(at)) else {
                    continue;
                };
                let (mut reads, mut writes) = (false, false);
                inst.op.registers(&mut |of, is_written| {
                    let which = if is_written { &mut writes } else { &mut reads };
                    *which |= of == reg;
                });
                // What only adds to itself is not read.
                let is_itself = at == pc as usize && matches!(inst.op, Op::Alu(_));
                if reads && !is_itself {
                    return true;
                }
                let guarded = inst.guard.is_some();
                let mut goes_on = !writes || guarded;
                match &inst.op {
                    _ if !goes_on => {}
                    Op::Branch(target) | Op::Goto(target) => {
                        paths.push(*target as usize);
                        goes_on = guarded;
                    }
                    Op::BranchIndex { targets, .. } => {
                        paths.extend(targets.iter().map(|&target| target as usize));
                    }
                    Op::Exit | Op::Return | Op::Trap => goes_on = guarded,
                    _ => {}
                }
                if goes_on {
                    paths.push(at + 1);
                }
            }
            false
        })
    }
}
