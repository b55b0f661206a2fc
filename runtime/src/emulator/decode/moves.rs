//! `mov`: copies, addresses, and values taken apart and put together.

use super::super::program::{Op, Reg, Special};
use super::names::Name;
use super::types::{is_moved, text, type_name};
use super::{Decoder, Initial, Result};
use crate::ptx::{Immediate, Instruction, Operand, Register, Type};

/// The type of a part of so many bits of a value.
fn part_type(bits: u32) -> Type {
    match bits {
        8 => Type::B8,
        16 => Type::B16,
        32 => Type::B32,
        _ => Type::B64,
    }
}

impl<'a> Decoder<'_, 'a> {
    pub(super) fn mov(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [dest, source] = i.operands.as_slice() else {
            return self.error("expected a destination and a source after mov");
        };
        let (count, ty) = match i.modifiers.as_slice() {
            [ty] => (1, *ty),
            ["v2", ty] => (2, *ty),
            ["v4", ty] => (4, *ty),
            _ => return self.unknown(i),
        };
        let Some(ty) = Type::of(ty) else {
            return self.unknown(i);
        };
        if ty != Type::Pred && (!is_moved(ty) || ty.bytes() == Some(1)) {
            return self.unknown(i);
        }
        if count > 1 {
            return self.move_vector(dest, source, count, ty);
        }
        if ty == Type::Pred {
            if matches!(source, Operand::Special(register) if register.name == "%is_explicit_cluster")
            {
                return self.is_explicit_cluster(dest);
            }
            let Some(d) = self.pred_dest(dest)? else {
                return Ok(Op::Hint);
            };
            let s = self.pred_source(source)?;
            return Ok(Op::MovePred { d, s });
        }
        let (of_dest, of_source) = (self.parts_of(dest), self.parts_of(source));
        match (of_dest, of_source) {
            (Some(_), Some(_)) => self.error(
                "expected a single value on one side of mov, found vectors on both; move them as such (mov.v2)",
            ),
            (Some(parts), None) => self.unpack(&parts, source, ty),
            (None, Some(parts)) => self.pack(dest, &parts, ty),
            (None, None) if ty == Type::B128 => self.move_wide(dest, source),
            (None, None) => self.move_one(dest, source, ty),
        }
    }

    fn move_one(&mut self, dest: &Operand<'a>, source: &Operand<'a>, ty: Type) -> Result<Op> {
        if let Operand::Symbol { name, offset } = source
            && matches!(self.names.get(name), Some(Name::Frame(_)))
        {
            return self.frame_address(dest, name, *offset);
        }
        let d = self.dest_of(dest, ty)?;
        let s = self.source_or_special(source, ty)?;
        Ok(Op::Move { d, s })
    }

    /// The parts of a vector in braces, or of a register that is a vector.
    fn parts_of(&self, operand: &Operand<'a>) -> Option<Vec<Operand<'a>>> {
        match operand {
            Operand::Vector(parts) => Some(parts.clone()),
            operand => self.elements_of(operand),
        }
    }

    /// The bits of each of so many parts of a value.
    fn part_bits(&self, ty: Type, parts: usize) -> Result<u32> {
        if !matches!(ty, Type::B16 | Type::B32 | Type::B64 | Type::B128) {
            return self.error(format!(
                "expected a type of bits to take apart or to put together, found {}; write .b16 to .b128",
                type_name(ty)
            ));
        }
        let bits = ty.bytes().unwrap_or(0) * 8;
        match parts {
            1 | 2 | 4 if (8..=64).contains(&(bits / parts as u32)) => Ok(bits / parts as u32),
            _ => self.error(format!(
                "expected 2 or 4 parts of a value of {bits} bits, found {parts}"
            )),
        }
    }

    /// `mov.b64 {a, b}, s`
    fn unpack(&mut self, parts: &[Operand<'a>], source: &Operand<'a>, ty: Type) -> Result<Op> {
        let bits = self.part_bits(ty, parts.len())?;
        self.check_vector(parts, part_type(bits), false)?;
        let mut to = Vec::with_capacity(parts.len());
        for part in parts {
            to.push(self.dest_or_sink(part)?.map(|(reg, _)| reg));
        }
        if ty != Type::B128 {
            let s = self.source_or_special(source, ty)?;
            if let [d] = to[..] {
                return Ok(d.map_or(Op::Hint, |d| Op::Move { d, s }));
            }
            return Ok(Op::Unpack { parts: to, s, bits });
        }
        let halves = self.wide(source)?;
        let each = to.len() / 2;
        let ops = halves
            .iter()
            .zip(to.chunks(each.max(1)))
            .map(|(&s, to)| match *to {
                [None] => Op::Hint,
                [Some(d)] => Op::Move { d, s },
                _ => Op::Unpack {
                    parts: to.to_vec(),
                    s,
                    bits,
                },
            });
        let ops = ops.collect();
        self.in_turn(ops)
    }

    /// `mov.b64 d, {a, b}`
    fn pack(&mut self, dest: &Operand<'a>, parts: &[Operand<'a>], ty: Type) -> Result<Op> {
        let bits = self.part_bits(ty, parts.len())?;
        let of_part = part_type(bits);
        self.check_vector(parts, of_part, false)?;
        let rows = self.rows_of(parts, of_part)?;
        if ty != Type::B128 {
            let d = self.dest_of(dest, ty)?;
            if let [s] = rows[..] {
                return Ok(Op::Move { d, s });
            }
            return Ok(Op::Pack {
                d,
                parts: rows,
                bits,
            });
        }
        let halves = self.wide(dest)?;
        let each = rows.len() / 2;
        let ops = halves
            .iter()
            .zip(rows.chunks(each.max(1)))
            .map(|(&d, rows)| match *rows {
                [s] => Op::Move { d, s },
                _ => Op::Pack {
                    d,
                    parts: rows.to_vec(),
                    bits,
                },
            });
        let ops = ops.collect();
        self.in_turn(ops)
    }

    /// Rows with the parts of a vector.
    fn rows_of(&mut self, parts: &[Operand<'a>], ty: Type) -> Result<Vec<Reg>> {
        let rows = parts.iter().map(|part| match part {
            // Parts that PTX defines have 32 bits.
            Operand::Special(register) if ty.bytes() == Some(4) => {
                self.special_source(register, Type::B32)
            }
            part => self.part_source(part, ty),
        });
        rows.collect()
    }

    /// `mov.b128 d, s`
    fn move_wide(&mut self, dest: &Operand<'a>, source: &Operand<'a>) -> Result<Op> {
        let d = self.wide(dest)?;
        let s = match source {
            Operand::Immediate(Immediate::Int { bits, unsigned })
                if *unsigned || *bits >> 63 == 0 =>
            {
                [*bits, 0].map(|half| self.initial(Initial::Value(half)))
            }
            Operand::Immediate(_) => {
                return self.error(
                    "the emulator has no numbers of 128 bits; put two of 64 together (mov.b128 d, {low, high})",
                );
            }
            source => self.wide(source)?,
        };
        let ops = d.iter().zip(s).map(|(&d, s)| Op::Move { d, s }).collect();
        self.in_turn(ops)
    }

    /// `mov.v2.f32 {a, b}, {b, a}`: all parts at once.
    fn move_vector(
        &mut self,
        dest: &Operand<'a>,
        source: &Operand<'a>,
        count: usize,
        ty: Type,
    ) -> Result<Op> {
        let Some(bytes) = ty.bytes().filter(|bytes| *bytes as usize * count <= 16) else {
            return self.error(format!(
                "expected a vector of at most 128 bits, found .v{count} {}",
                type_name(ty)
            ));
        };
        let to = self.vector_of(dest, count)?;
        self.check_vector(&to, ty, false)?;
        let from = match source {
            // All of `%tid`: the fourth part is 0.
            Operand::Special(register) if register.element.is_none() && count == 4 => {
                self.rows_of_special(register, bytes)?
            }
            source => {
                let parts = self.vector_of(source, count)?;
                self.check_vector(&parts, ty, false)?;
                self.rows_of(&parts, ty)?
            }
        };
        let mut ops = Vec::new();
        let mut last = Vec::new();
        for (to, s) in to.iter().zip(from) {
            let Some((d, _)) = self.dest_or_sink(to)? else {
                continue;
            };
            let between = self.row();
            ops.push(Op::Move { d: between, s });
            last.push(Op::Move { d, s: between });
        }
        ops.extend(last);
        self.in_turn(ops)
    }

    /// The operands of a vector of so many.
    fn vector_of(&self, operand: &Operand<'a>, count: usize) -> Result<Vec<Operand<'a>>> {
        match self.parts_of(operand) {
            Some(parts) if parts.len() == count => Ok(parts),
            Some(parts) => self.error(format!(
                "expected {count} registers in the vector, found {}",
                parts.len()
            )),
            None => self.error(format!(
                "expected a vector of {count} registers, found {}",
                text(operand)
            )),
        }
    }

    fn rows_of_special(&mut self, register: &Register<'a>, bytes: u32) -> Result<Vec<Reg>> {
        let of_three: fn(u8) -> Special = match register.name {
            "%tid" => Special::Tid,
            "%ntid" => Special::Ntid,
            "%ctaid" => Special::Ctaid,
            "%nctaid" => Special::Nctaid,
            "%clusterid" => Special::ClusterId,
            "%nclusterid" => Special::Nclusters,
            "%cluster_ctaid" => Special::ClusterCtaid,
            "%cluster_nctaid" => Special::ClusterNctaid,
            name => {
                return self.error(format!(
                    "expected a vector, found {name}, which is a single register"
                ));
            }
        };
        if bytes != 4 {
            return self.error(format!(
                "expected parts of 32 bits, which {} has",
                register.name
            ));
        }
        let mut rows: Vec<Reg> = (0..3)
            .map(|at| self.initial(Initial::Special(of_three(at))))
            .collect();
        rows.push(self.initial(Initial::Value(0)));
        Ok(rows)
    }

    /// Several operations in place of one, under its guard: all but the last, which is returned, stand before it.
    pub(super) fn in_turn(&mut self, mut ops: Vec<Op>) -> Result<Op> {
        let last = ops.pop().unwrap_or(Op::Hint);
        for op in ops {
            self.push_before(op, self.guard);
        }
        Ok(last)
    }
}
