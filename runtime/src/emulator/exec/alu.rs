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
        let mut carried = match lacking {
            _ if is_test => None,
            0 => None,
            _ => self.carried(warp, op, active, pc),
        };
        let [a, b, c, e] = op.s.map(|reg| reg as usize);
        let mut d = [0; LANES];
        let rows = &warp.rows;
        match op.kind {
            Compute::Value(f) => f(&mut d, &rows[a], &rows[b], &rows[c]),
            Compute::Value4(f) => f(&mut d, &rows[a], &rows[b], &rows[c], &rows[e]),
            Compute::Convert(f, how) => f(&mut d, &rows[a], how),
            Compute::Select(f) => {
                let p = Self::logical(warp, op, 0, active);
                f(&mut d, &rows[a], &rows[b], p.value);
                if let (true, Some(guard)) = (p.undefined != 0, op.ps.first()) {
                    // A predicate that is made of loads that may not matter has a value.
                    let undefined = warp.undefined_pred(guard.pred, active);
                    match op.d.is_some_and(|d| self.is_read_behind(d, pc)) {
                        true => {
                            carried = Some(self.chosen(warp, op, undefined, (*guard, pc), carried))
                        }
                        false => self.undefined_predicate(warp, guard.pred, undefined, pc),
                    }
                }
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
                    let from = warp.unwritten.of_guards(&op.ps);
                    Logical::of(f, x, y).write(warp, p, active, from.as_deref());
                }
                return;
            }
        }
        if let Some((widen, bits)) = op.widen {
            widen(&mut d, bits);
        }
        if let Some(reg) = op.d {
            Self::set(warp, reg, &d, active);
            if let Some((bits, from)) = carried {
                warp.set_bits(reg, &bits, active, Some(&from));
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

    /// The lanes where the results of a test, or of a function of predicates, are not defined, whatever comes of the loads that they are made of.
    #[cold]
    pub(super) fn missing(warp: &Warp, op: &Op, active: Mask) -> [Mask; 2] {
        let source = |guard: Guard| Logical {
            undefined: warp.undefined_pred(guard.pred, active),
            ..Logical::read(warp, guard, active)
        };
        let op = match op {
            Op::Alu(op) => op,
            Op::MovePred { s, .. } => return [source(*s).undefined; 2],
            _ => return [0; 2],
        };
        let row = |at: usize| &warp.rows[op.s[at] as usize];
        let (tests, combine) = match op.kind {
            Compute::Test { test, combine } => {
                let t = test(row(0), row(1));
                ([t, !t], combine)
            }
            Compute::TestPair { test, combine } => (test(row(0), row(1)), combine),
            Compute::Logic(f) => {
                let mut sources = op.ps.iter().map(|guard| source(*guard));
                let Some(x) = sources.next() else {
                    return [0; 2];
                };
                let y = sources.next().unwrap_or(x);
                return [Logical::of(f, x, y).undefined; 2];
            }
            _ => return [0; 2],
        };
        let undefined = warp.compares_undefined(op, active);
        tests.map(|value| match (combine, op.ps.first()) {
            (Some(f), Some(guard)) => {
                Logical::of(f, Logical { value, undefined }, source(*guard)).undefined
            }
            _ => undefined,
        })
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
        let from = from.or_else(|| warp.unwritten.of_guards(&op.ps));
        let results = tests.map(|value| {
            let test = Logical { value, undefined };
            combine.map_or(test, |f| Logical::of(f, test, with))
        });
        for (pred, result) in [op.p, op.q].into_iter().zip(results) {
            if let Some(pred) = pred {
                result.write(warp, pred, active, from.as_deref());
            }
        }
    }
}
