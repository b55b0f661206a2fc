//! Video instructions: operations on parts of 32-bit registers (PTX ISA 9.0, "Scalar Video Instructions" and "SIMD Video
//! Instructions"). Each lane of a warp computes by itself, on integers that hold every intermediate result.

/// The operation of a video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum Operation {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    /// Rounded up where the sum is not negative.
    Average,
    /// Shifted left; with `wrap`, amounts beyond 31 count as their low bits.
    ShiftLeft {
        wrap: bool,
    },
    ShiftRight {
        wrap: bool,
    },
    /// `a * b + c`, shifted right.
    MultiplyAdd {
        shift: u32,
    },
    Compare(Comparison),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The use of the third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum Then {
    /// There is none, or it gives the parts of the result that are not computed.
    Merge,
    Add,
    Min,
    Max,
}

/// A part of a register: the bit where it begins, and its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) struct Part {
    pub at: u32,
    pub bits: u32,
}

impl Part {
    pub(in crate::emulator) const WHOLE: Part = Part { at: 0, bits: 32 };

    fn get(self, value: u32, signed: bool) -> i64 {
        let bits = (value >> self.at) << (32 - self.bits);
        match signed {
            true => i64::from(bits as i32 >> (32 - self.bits)),
            false => i64::from(bits >> (32 - self.bits)),
        }
    }

    fn put(self, into: u32, value: i64) -> u32 {
        let mask = (u32::MAX >> (32 - self.bits)) << self.at;
        into & !mask | ((value as u32) << self.at) & mask
    }
}

/// A video instruction.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulator) struct Video {
    pub operation: Operation,
    /// True where the result and the two sources have a sign, one for each.
    pub signed: [bool; 3],
    pub saturate: bool,
    pub then: Then,
    /// Lanes in a register: 1, 2 or 4.
    pub lanes: usize,
    /// The parts of each source that the lanes take; those of b follow those of a.
    pub a: [Part; 4],
    pub b: [u8; 4],
    pub b_part: Part,
    /// The part that the result of one lane is put into, or the lanes that are computed.
    pub d: Part,
    pub mask: u8,
}

impl Video {
    /// The result for one thread.
    pub(in crate::emulator) fn compute(&self, a: u32, b: u32, c: u32) -> u32 {
        match self.lanes {
            1 => self.scalar(a, b, c),
            _ => self.packed(a, b, c),
        }
    }

    fn scalar(&self, a: u32, b: u32, c: u32) -> u32 {
        let [signed, a_signed, b_signed] = self.signed;
        let (a, b) = (self.a[0].get(a, a_signed), self.b_part.get(b, b_signed));
        let mut value = match self.operation {
            Operation::MultiplyAdd { shift } => (a * b + whole(c, signed)) >> shift,
            operation => self.apply(operation, a, b),
        };
        if self.saturate {
            value = clamp(value, self.d.bits, signed);
        }
        match self.then {
            Then::Merge if self.d != Part::WHOLE => self.d.put(c, value),
            Then::Merge => value as u32,
            Then::Add => (value as u32).wrapping_add(c),
            Then::Min => whole(value as u32, signed).min(whole(c, signed)) as u32,
            Then::Max => whole(value as u32, signed).max(whole(c, signed)) as u32,
        }
    }

    fn packed(&self, a: u32, b: u32, c: u32) -> u32 {
        let [signed, a_signed, b_signed] = self.signed;
        let bits = 32 / self.lanes as u32;
        // A selector names parts of a and, behind them, of b.
        let part = |selector: u8, has_sign: bool| {
            let (register, index) = match (selector as usize) < self.lanes {
                true => (a, selector as u32),
                false => (b, selector as u32 - self.lanes as u32),
            };
            Part {
                at: index * bits,
                bits,
            }
            .get(register, has_sign)
        };
        let mut result = if self.then == Then::Merge { c } else { 0 };
        let mut sum = c;
        for lane in 0..self.lanes {
            if self.mask >> lane & 1 == 0 {
                continue;
            }
            let first = part((self.a[lane].at / bits) as u8, a_signed);
            let mut value = self.apply(self.operation, first, part(self.b[lane], b_signed));
            if self.saturate {
                value = clamp(value, bits, signed);
            }
            let at = Part {
                at: lane as u32 * bits,
                bits,
            };
            result = at.put(result, value);
            sum = sum.wrapping_add(at.get(result, signed) as u32);
        }
        match self.then {
            Then::Add => sum,
            _ => result,
        }
    }

    fn apply(&self, operation: Operation, a: i64, b: i64) -> i64 {
        let amount = |wrap: bool| match wrap {
            true => b & 31,
            false => b.clamp(0, 32),
        };
        match operation {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::AbsDiff => (a - b).abs(),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Average if a + b >= 0 => (a + b + 1) >> 1,
            Operation::Average => (a + b) >> 1,
            Operation::ShiftLeft { wrap } => a << amount(wrap),
            Operation::ShiftRight { wrap } => a >> amount(wrap),
            Operation::MultiplyAdd { .. } => a * b,
            Operation::Compare(comparison) => i64::from(match comparison {
                Comparison::Eq => a == b,
                Comparison::Ne => a != b,
                Comparison::Lt => a < b,
                Comparison::Le => a <= b,
                Comparison::Gt => a > b,
                Comparison::Ge => a >= b,
            }),
        }
    }
}

fn whole(value: u32, signed: bool) -> i64 {
    Part::WHOLE.get(value, signed)
}

fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    match signed {
        true => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => value.clamp(0, (1 << bits) - 1),
    }
}
