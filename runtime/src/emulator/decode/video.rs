//! Video instructions.

use super::super::alu::{Comparison, Operation, Part, Then, Video};
use super::super::program::{Op, Reg, VideoOp};
use super::{Decoder, Result};
use crate::ptx::{Instruction, Operand, Register, Type};

/// The opcodes, without the number of lanes.
const OPERATIONS: [(&str, Operation, bool); 10] = [
    ("vadd", Operation::Add, true),
    ("vsub", Operation::Sub, true),
    ("vabsdiff", Operation::AbsDiff, true),
    ("vmin", Operation::Min, true),
    ("vmax", Operation::Max, true),
    ("vavrg", Operation::Average, true),
    ("vset", Operation::Compare(Comparison::Eq), true),
    ("vshl", Operation::ShiftLeft { wrap: false }, false),
    ("vshr", Operation::ShiftRight { wrap: false }, false),
    ("vmad", Operation::MultiplyAdd { shift: 0 }, false),
];

/// The operation of an opcode and its lanes.
fn operation(opcode: &str) -> Option<(Operation, usize)> {
    let (name, lanes) = match opcode.strip_suffix(['2', '4']) {
        Some(name) if opcode.ends_with('2') => (name, 2),
        Some(name) => (name, 4),
        None => (opcode, 1),
    };
    let found = OPERATIONS.iter().find(|(known, _, packs)| {
        *known == name && (lanes == 1 || *packs) && (lanes > 1 || *known != "vavrg")
    });
    found.map(|(_, operation, _)| (*operation, lanes))
}

/// Tells whether an opcode is one of these.
pub(super) fn is_video(opcode: &str) -> bool {
    operation(opcode).is_some()
}

impl<'a> Decoder<'_, 'a> {
    pub(super) fn video(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let Some((mut operation, lanes)) = operation(i.opcode) else {
            return self.unknown(i);
        };
        let is_compare = matches!(operation, Operation::Compare(_));
        let mut names = i.modifiers.as_slice();
        let mut signed = [false; 3];
        for (index, slot) in signed.iter_mut().enumerate() {
            // A comparison gives 0 or 1.
            if index == 0 && is_compare {
                continue;
            }
            match names {
                ["u32", rest @ ..] => names = rest,
                ["s32", rest @ ..] => (*slot, names) = (true, rest),
                _ => return self.unknown(i),
            }
        }
        let (mut saturate, mut then) = (false, Then::Merge);
        for name in names {
            match (*name, &mut operation) {
                ("sat", _) if !is_compare => saturate = true,
                ("add", _) => then = Then::Add,
                ("min", _) if lanes == 1 => then = Then::Min,
                ("max", _) if lanes == 1 => then = Then::Max,
                (
                    "clamp",
                    Operation::ShiftLeft { wrap: false } | Operation::ShiftRight { wrap: false },
                ) => {}
                ("wrap", Operation::ShiftLeft { wrap } | Operation::ShiftRight { wrap }) => {
                    *wrap = true;
                }
                ("shr7", Operation::MultiplyAdd { shift }) => *shift = 7,
                ("shr15", Operation::MultiplyAdd { shift }) => *shift = 15,
                (name, Operation::Compare(comparison)) => {
                    *comparison = match name {
                        "eq" => Comparison::Eq,
                        "ne" => Comparison::Ne,
                        "lt" => Comparison::Lt,
                        "le" => Comparison::Le,
                        "gt" => Comparison::Gt,
                        "ge" => Comparison::Ge,
                        _ => return self.unknown(i),
                    };
                }
                _ => return self.unknown(i),
            }
        }
        let (d, a, b, c) = match i.operands.as_slice() {
            [d, a, b] if lanes == 1 && then == Then::Merge => (d, a, b, None),
            [d, a, b, c] => (d, a, b, Some(c)),
            _ => {
                return self.error(format!(
                    "expected a result and two or three sources after {}, of the third one the use",
                    i.opcode
                ));
            }
        };
        if matches!(operation, Operation::MultiplyAdd { .. })
            && (c.is_none() || then != Then::Merge)
        {
            return self.unknown(i);
        }
        let (d, to) = self.selected(d)?;
        let (a, from_a) = self.selected(a)?;
        let (b, from_b) = self.selected(b)?;
        let mut video = Video {
            operation,
            signed,
            saturate,
            then,
            lanes,
            a: [Part::WHOLE; 4],
            b: [0; 4],
            b_part: Part::WHOLE,
            d: Part::WHOLE,
            mask: 0xf,
        };
        if lanes == 1 {
            video.a[0] = self.part(from_a)?;
            video.b_part = self.part(from_b)?;
            video.d = self.part(to)?;
        } else {
            let bits = 32 / lanes as u32;
            for (lane, selector) in self.lanes_of(from_a, lanes, 0)?.into_iter().enumerate() {
                video.a[lane] = Part {
                    at: u32::from(selector) * bits,
                    bits,
                };
            }
            for (lane, selector) in self.lanes_of(from_b, lanes, lanes)?.into_iter().enumerate() {
                video.b[lane] = selector;
            }
            video.mask = self.mask_of_lanes(to, lanes)?;
        }
        let d = self.dest_of(&d, Type::U32)?;
        let a = self.source(&a, Type::U32)?;
        let b = self.source(&b, Type::U32)?;
        let c: Option<Reg> = match c {
            Some(c) => Some(self.source(c, Type::U32)?),
            None => None,
        };
        Ok(Op::Video(Box::new(VideoOp { video, d, a, b, c })))
    }

    /// An operand without its selector, and that.
    fn selected(&self, operand: &Operand<'a>) -> Result<(Operand<'a>, Option<&'a str>)> {
        Ok(match operand {
            Operand::Register(Register { name, element }) => (
                Operand::Register(Register {
                    name,
                    element: None,
                }),
                *element,
            ),
            other => (other.clone(), None),
        })
    }

    fn part(&self, selector: Option<&str>) -> Result<Part> {
        let part = |at, bits| Ok(Part { at, bits });
        match selector {
            None => Ok(Part::WHOLE),
            Some("b0") => part(0, 8),
            Some("b1") => part(8, 8),
            Some("b2") => part(16, 8),
            Some("b3") => part(24, 8),
            Some("h0") => part(0, 16),
            Some("h1") => part(16, 16),
            Some(other) => self.error(format!(
                "expected .b0 to .b3, .h0 or .h1 after a register, found .{other}"
            )),
        }
    }

    /// The part that each lane takes, the lowest lane first; the selector names the highest first.
    fn lanes_of(&self, selector: Option<&str>, lanes: usize, first: usize) -> Result<Vec<u8>> {
        let Some(text) = selector else {
            return Ok((first as u8..(first + lanes) as u8).collect());
        };
        let digits = text.strip_prefix(if lanes == 2 { 'h' } else { 'b' });
        let digits = digits.filter(|digits| digits.len() == lanes);
        let found: Option<Vec<u8>> = digits.and_then(|digits| {
            let digits = digits.bytes().rev();
            digits
                .map(|digit| {
                    Some(digit.wrapping_sub(b'0')).filter(|&digit| digit < 2 * lanes as u8)
                })
                .collect()
        });
        match found {
            Some(found) => Ok(found),
            None => self.error(format!(
                "expected a selector of {lanes} parts after a register, found .{text}"
            )),
        }
    }

    /// The lanes that are computed: `.h0`, `.h10`, `.b3210` and those between.
    fn mask_of_lanes(&self, selector: Option<&str>, lanes: usize) -> Result<u8> {
        let Some(text) = selector else {
            return Ok(0xf);
        };
        let digits = text.strip_prefix(if lanes == 2 { 'h' } else { 'b' });
        let mask = digits.and_then(|digits| {
            digits.bytes().try_fold(0u8, |mask, digit| {
                let lane = digit.wrapping_sub(b'0');
                (lane < lanes as u8).then(|| mask | 1 << lane)
            })
        });
        match mask.filter(|mask| *mask != 0) {
            Some(mask) => Ok(mask),
            None => self.error(format!(
                "expected the lanes of a result, such as .h0 or .b3210, found .{text}"
            )),
        }
    }
}
