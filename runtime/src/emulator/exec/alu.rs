//! Instructions that compute on registers.

use super::definedness::Logical;
use super::*;
use crate::emulator::alu::Kind as Compute;
use crate::emulator::program::AluOp;

impl Context<'_> {
    pub(super) fn alu(&mut self, warp: &mut Warp, op: &AluOp, active: Mask, pc: u32) {
        let sources = op.s[..op.count].iter();
        let lacking = sources.fold(0, |lacking, &source| lacking | warp.lacking(source, active));
        // What comes of a comparison with something undefined is noted where it decides something.
        let is_test = matches!(op.kind, Compute::Test { .. } | Compute::TestPair { .. });
        let carried = match lacking {
            _ if is_test => None,
            0 => None,
            _ => self
                .carried(warp, op, active, pc)
                .map(|bytes| (bytes, warp.unwritten.of(&op.s[..op.count]))),
        };
        let [a, b, c, e] = op.s.map(|reg| reg as usize);
        let mut d = [0; LANES];
        let rows = &warp.rows;
        match op.kind {
            Compute::Value(f) => f(&mut d, &rows[a], &rows[b], &rows[c]),
            Compute::Value4(f) => f(&mut d, &rows[a], &rows[b], &rows[c], &rows[e]),
            Compute::Select(f) => {
                let p = self.operand(warp, op, 0, active, pc);
                f(&mut d, &warp.rows[a], &warp.rows[b], p);
            }
            Compute::Test { test, combine } => {
                let t = test(&rows[a], &rows[b]);
                Self::set_tests(warp, op, [t, !t], combine, [active, lacking]);
                return;
            }
            Compute::TestPair { test, combine } => {
                let tests = test(&rows[a], &rows[b]);
                Self::set_tests(warp, op, tests, combine, [active, lacking]);
                return;
            }
            Compute::Set { test, combine, yes } => {
                let t = test(&rows[a], &rows[b]);
                let t = self.combine(warp, op, t, combine, active, pc);
                d = std::array::from_fn(|lane| if t >> lane & 1 != 0 { yes } else { 0 });
            }
            Compute::SetPair { test, combine, yes } => {
                let [low, high] = test(&rows[a], &rows[b]);
                let low = self.combine(warp, op, low, combine, active, pc);
                let high = self.combine(warp, op, high, combine, active, pc);
                d = std::array::from_fn(|lane| {
                    let half = |mask: Mask| if mask >> lane & 1 != 0 { yes } else { 0 };
                    half(low) | half(high) << 16
                });
            }
            Compute::Carry { run, reads, writes } => {
                let undefined = active & !warp.carry_defined;
                let out = run(&mut d, &rows[a], &rows[b], &rows[c], warp.carry);
                if reads && undefined != 0 {
                    self.undefined(warp, undefined, pc, "a carry");
                }
                if writes {
                    warp.carry = warp.carry & !active | out & active;
                    warp.carry_defined |= active;
                }
            }
            Compute::Logic(f) => {
                let x = Self::logical(warp, op, 0, active);
                let y = match op.ps.len() {
                    0 | 1 => x,
                    _ => Self::logical(warp, op, 1, active),
                };
                if let Some(p) = op.p {
                    Logical::of(f, x, y).write(warp, p, active);
                }
                return;
            }
        }
        if let Some((widen, bits)) = op.widen {
            widen(&mut d, bits);
        }
        if let Some(reg) = op.d {
            Self::set(warp, reg, &d, active);
            if let Some((bytes, from)) = carried {
                warp.set_bytes_from(reg, &bytes, active, from.as_deref());
            }
        }
    }

    /// A source that is a predicate; one that is missing holds.
    fn operand(&mut self, warp: &mut Warp, op: &AluOp, at: usize, active: Mask, pc: u32) -> Mask {
        match op.ps.get(at) {
            Some(guard) => self.predicate(warp, *guard, active, pc),
            None => active,
        }
    }

    fn combine(
        &mut self,
        warp: &mut Warp,
        op: &AluOp,
        test: Mask,
        combine: Option<fn(Mask, Mask) -> Mask>,
        active: Mask,
        pc: u32,
    ) -> Mask {
        match combine {
            Some(f) => f(test, self.operand(warp, op, 0, active, pc)),
            None => test,
        }
    }

    /// A source that is a predicate, defined or not; one that is missing holds.
    fn logical(warp: &Warp, op: &AluOp, at: usize, active: Mask) -> Logical {
        let missing = Logical {
            value: active,
            undefined: 0,
        };
        let given = op.ps.get(at);
        given.map_or(missing, |guard| Logical::read(warp, *guard, active))
    }

    /// Writes the outcome of a comparison in the active lanes; in the lacking ones some part of a source is not defined.
    fn set_tests(
        warp: &mut Warp,
        op: &AluOp,
        tests: [Mask; 2],
        combine: Option<fn(Mask, Mask) -> Mask>,
        [active, lacking]: [Mask; 2],
    ) {
        let undefined = match lacking {
            0 => 0,
            _ => warp.compares_undefined(op, lacking),
        };
        let from = match undefined {
            0 => None,
            _ => warp.unwritten.of(&op.s[..op.count]),
        };
        let with = Self::logical(warp, op, 0, active);
        let results = tests.map(|value| {
            let test = Logical { value, undefined };
            combine.map_or(test, |f| Logical::of(f, test, with))
        });
        for (pred, result) in [op.p, op.q].into_iter().zip(results) {
            if let Some(pred) = pred {
                result.write_from(warp, pred, active, from.as_deref());
            }
        }
    }
}
