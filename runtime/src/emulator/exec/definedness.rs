//! The bytes of registers that hold something.
//!
//! A mask of lanes says where all of a register is defined, which is what most instructions look at. Of other lanes a bit for each byte
//! is kept. Copies, and operations that move bits or bytes, carry what is undefined with them; to compute with it, or to
//! store it, is a finding.

use super::unwritten::Places;
use super::*;
use crate::emulator::alu::Kind as Compute;
use crate::emulator::program::{AluOp, Carry};

/// The defined bytes of each lane: a bit a byte, the lowest first. Bytes above a register's width count as defined.
pub(super) type Bytes = [u8; LANES];

/// A register that is defined.
const WHOLE: u8 = 0xff;

impl Warp {
    /// The lanes of a mask where not all of a register is defined.
    pub(super) fn lacking(&self, reg: Reg, mask: Mask) -> Mask {
        mask & !self.defined[reg as usize]
    }

    pub(super) fn bytes(&self, reg: Reg) -> Bytes {
        let defined = self.defined[reg as usize];
        let partly = self.partly[reg as usize].as_deref();
        std::array::from_fn(|lane| match (defined >> lane & 1, partly) {
            (1, _) => WHOLE,
            (_, Some(bytes)) => bytes[lane],
            (_, None) => 0,
        })
    }

    /// Says which bytes of a register that was written are defined, in the lanes of a mask.
    pub(super) fn set_bytes(&mut self, reg: Reg, bytes: &Bytes, mask: Mask) {
        self.set_bytes_from(reg, bytes, mask, None);
    }

    /// The same, and which loads those that are not come from.
    pub(super) fn set_bytes_from(
        &mut self,
        reg: Reg,
        bytes: &Bytes,
        mask: Mask,
        from: Option<&Places>,
    ) {
        let whole = select(mask, |lane| bytes[lane] == WHOLE);
        let defined = &mut self.defined[reg as usize];
        *defined = *defined & !mask | whole;
        if whole != mask {
            let partly = self.partly[reg as usize].get_or_insert_with(|| Box::new([0; LANES]));
            for lane in lanes(mask) {
                partly[lane] = bytes[lane];
            }
            self.unwritten.set(reg, from, mask & !whole);
        }
    }

    /// The lanes of a mask where not all of the lowest bytes of a register are defined.
    fn lacking_bytes(&self, reg: Reg, bytes: u32, mask: Mask) -> Mask {
        let lacking = self.lacking(reg, mask);
        if lacking == 0 {
            return 0;
        }
        let found = self.bytes(reg);
        select(lacking, |lane| found[lane] & lowest(bytes) != lowest(bytes))
    }

    /// The lanes of a mask where a comparison has a source that is not defined.
    pub(super) fn compares_undefined(&self, op: &AluOp, mask: Mask) -> Mask {
        let sources = op.s[..op.count].iter().zip(op.bytes);
        sources.fold(0, |lanes, (&reg, bytes)| {
            lanes | self.lacking_bytes(reg, bytes.into(), mask)
        })
    }

    /// The bits of a register that are not defined.
    fn undefined_bits(&self, reg: Reg) -> Row {
        self.bytes(reg).map(|bytes| !spread(bytes))
    }
}

/// A bit for each of the lowest bytes.
pub(super) fn lowest(bytes: u32) -> u8 {
    ((1u16 << bytes) as u8).wrapping_sub(1)
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

    /// Writes a predicate in the lanes of a mask.
    pub(super) fn write(self, warp: &mut Warp, pred: Pred, mask: Mask) {
        self.write_from(warp, pred, mask, None);
    }

    /// The same, and which loads what is not defined comes from.
    pub(super) fn write_from(self, warp: &mut Warp, pred: Pred, mask: Mask, from: Option<&Places>) {
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

/// A byte of ones for each bit.
fn spread(bytes: u8) -> u64 {
    (0..8).fold(0, |word, byte| {
        word | (u64::from(bytes >> byte & 1) * 0xff) << (8 * byte)
    })
}

/// The bytes that have no undefined bit.
fn whole_bytes(undefined: &Row) -> Bytes {
    undefined.map(|bits| {
        (0..8).fold(0, |bytes, byte| {
            bytes | u8::from(bits >> (8 * byte) & 0xff == 0) << byte
        })
    })
}

impl Context<'_> {
    /// Writes what was in another register: what is not defined stays so.
    pub(super) fn copy(warp: &mut Warp, d: Reg, s: Reg, active: Mask) {
        let value = warp.rows[s as usize];
        let lacking =
            (warp.lacking(s, active) != 0).then(|| (warp.bytes(s), warp.unwritten.of(&[s])));
        Self::set(warp, d, &value, active);
        if let Some((bytes, from)) = lacking {
            warp.set_bytes_from(d, &bytes, active, from.as_deref());
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
        let bytes = (lacking != 0).then(|| {
            let undefined = parts
                .iter()
                .enumerate()
                .fold([0; LANES], |all: Row, (i, part)| {
                    let of_part = warp.undefined_bits(*part);
                    std::array::from_fn(|lane| {
                        all[lane] | (of_part[lane] & mask) << (i as u32 * bits)
                    })
                });
            (whole_bytes(&undefined), warp.unwritten.of(parts))
        });
        Self::set(warp, d, &value, active);
        if let Some((bytes, from)) = bytes {
            warp.set_bytes_from(d, &bytes, active, from.as_deref());
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
                let bytes = whole_bytes(&take(undefined));
                warp.set_bytes_from(*d, &bytes, active, from.as_deref());
            }
        }
    }

    /// Notes lanes that use the lowest bytes of a register of which some are not defined.
    pub(super) fn check_bytes(&mut self, warp: &Warp, reg: Reg, bytes: u32, mask: Mask, pc: u32) {
        let undefined = warp.lacking_bytes(reg, bytes, mask);
        if undefined != 0 {
            let partly = warp.bytes(reg)[first(undefined)] & lowest(bytes) != 0;
            let what = match partly {
                true => "a register with bytes",
                false => "a register",
            };
            self.undefined_register(warp, reg, undefined, pc, what);
        }
    }

    /// The defined part of the result of an instruction some of whose sources are not; none if all of it is, or if that was noted.
    #[cold]
    pub(super) fn carried(
        &mut self,
        warp: &Warp,
        op: &AluOp,
        active: Mask,
        pc: u32,
    ) -> Option<Bytes> {
        let sources = &op.s[..op.count];
        let data = match op.carry {
            Carry::Nothing => 0,
            Carry::Moves(data) => data,
            Carry::Bitwise | Carry::Halves => 0b111,
        };
        for (at, &source) in sources.iter().enumerate() {
            if data >> at & 1 == 0 {
                self.check_bytes(warp, source, op.bytes[at].into(), active, pc);
            }
        }
        let [a, b, c, e] = op.s.map(|reg| &warp.rows[reg as usize]);
        let run = |[x, y, z]: [&Row; 3], p: Mask| {
            let mut out = [0; LANES];
            match op.kind {
                Compute::Value(f) => f(&mut out, x, y, z),
                Compute::Value4(f) => f(&mut out, x, y, z, e),
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
        Some(match op.carry {
            Carry::Nothing => return None,
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
                whole_bytes(&run([of(0, x), of(1, y), of(2, z)], p))
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
                let differs = (1..8).fold([0; LANES], |all: Row, choice| {
                    let other = with(choice);
                    std::array::from_fn(|lane| all[lane] | zeros[lane] ^ other[lane])
                });
                whole_bytes(&differs)
            }
            Carry::Halves => {
                let any: Row = std::array::from_fn(|lane| {
                    undefined.iter().fold(0, |all, bits| all | bits[lane])
                });
                let half = |bits: u64| if bits & 0xffff != 0 { 0xffff } else { 0 };
                whole_bytes(&any.map(|bits| half(bits) | half(bits >> 16) << 16))
            }
        })
    }
}
