//! Operands: rows, predicates, immediates, addresses.

use super::super::alu;
use super::super::program::{AluOp, Guard, Initial, Op, Pred, Reg, Space, Special};
use super::names::Name;
use super::types::{text, type_name};
use super::{Decoder, Result};
use crate::emulator::LANES;
use crate::emulator::address;
use crate::ptx::{self, Base, Immediate, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    /// A row with the value of an operand as that type. Immediates get rows of their own.
    pub(super) fn source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        self.check_type(operand, ty, false)?;
        self.wider_source(operand, ty)
    }

    /// The same of an operand that may be a register that PTX defines, as those of `mov` and `cvt` and parts of vectors may.
    pub(super) fn source_or_special(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        match operand {
            Operand::Special(register) => self.special_source(register, ty),
            _ => self.source(operand, ty),
        }
    }

    /// The same of an instruction that looks at the lowest bits of a register, which may have more (PTX ISA, "Operand Size Exceeding
    /// Instruction-Type Size").
    pub(super) fn wider_source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        self.check_type(operand, ty, true)?;
        self.part_source(operand, ty)
    }

    /// The same of a part of a vector, which [`Decoder::check_vector`] has seen.
    pub(super) fn part_source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        match operand {
            Operand::Register(_) => Ok(self.dest(operand)?.0),
            Operand::Symbol { name, offset: 0 } if matches!(self.names.get(name), Some(Name::Reg(..))) => {
                Ok(self.dest(operand)?.0)
            }
            Operand::Symbol { name, offset } => {
                let address = self.symbol(name)?;
                if ty.is_float() {
                    return self.error(format!(
                        "expected a register or a number of type {}, found {name}, which stands for an integer; move it to a register first",
                        type_name(ty)
                    ));
                }
                // Addresses of dynamic memory are known when all static variables are.
                Ok(match address {
                    Symbol::Known(address) => self.initial(Initial::Value(
                        address.wrapping_add_signed(*offset) & mask_of(ty),
                    )),
                    Symbol::Dynamic if *offset == 0 => {
                        self.initial(Initial::Special(Special::DynamicSmem))
                    }
                    Symbol::Dynamic => {
                        let Ok(sum) = alu::lookup("add", &["u64"]) else {
                            return self.error("the emulator cannot add numbers; this is a defect of it");
                        };
                        let mut op = AluOp::new(sum.kind);
                        let d = self.row();
                        op.d = Some(d);
                        op.reads(self.initial(Initial::Special(Special::DynamicSmem)));
                        op.reads(self.initial(Initial::Value(*offset as u64)));
                        self.push_alone(Op::Alu(Box::new(op)));
                        d
                    }
                })
            }
            Operand::Immediate(immediate) => {
                let value = self.immediate(*immediate, ty)?;
                Ok(self.initial(Initial::Value(value)))
            }
            // A number in parentheses.
            Operand::List(items) if matches!(items[..], [Operand::Immediate(_)]) => {
                self.source(&items[0], ty)
            }
            Operand::Special(_) => self.error(format!(
                "expected a register, a number or a symbol, found {}, which mov and cvt alone read; move it to a register",
                text(operand)
            )),
            _ => self.error(format!(
                "expected a register, a number or a symbol of type {ty:?}, found another kind of operand"
            )),
        }
    }

    /// An immediate as bits of a type.
    fn immediate(&self, immediate: Immediate, ty: Type) -> Result<u64> {
        // What ptxas takes: integers of all but floating-point types, those of these but of 16 bits, and bits as they are.
        Ok(match (immediate, ty) {
            (Immediate::Int { bits, .. }, ty) if !ty.is_float() => bits & mask_of(ty),
            (Immediate::F32(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Immediate::F64(bits), Type::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
            (Immediate::F32(bits), Type::F32 | Type::B32) => u64::from(bits),
            (Immediate::F64(bits), Type::F64 | Type::B64) => bits,
            (Immediate::Int { .. }, Type::F32 | Type::F64) => {
                return self.error(format!(
                    "expected a floating-point number of type {}, found an integer; write it with a point (1.0) or as bits (0f3f800000)",
                    type_name(ty)
                ));
            }
            _ => {
                return self.error(format!(
                    "expected a number that {} takes, found another one; move it to a register by an instruction of its own type",
                    type_name(ty)
                ));
            }
        })
    }

    /// A register that is written, with the bits it has.
    pub(super) fn dest(&self, operand: &Operand<'a>) -> Result<(Reg, u32)> {
        match self.named(operand) {
            Some(Name::Reg(_, Type::B128)) => self.error(format!(
                "expected a register of at most 64 bits, found {} of 128; unpack it (mov.b128)",
                text(operand)
            )),
            Some(Name::Reg(reg, ty)) => Ok((reg, ty.bytes().unwrap_or(4) * 8)),
            Some(Name::Vector(..)) => self.error(format!(
                "expected a single register, found {}, which is a vector; name an element (`.x`)",
                text(operand)
            )),
            Some(_) => self.error(format!(
                "expected a register with a value, found {}",
                text(operand)
            )),
            None => match operand {
                Operand::Register(register) if register.element.is_some() => self.error(format!(
                    "expected an element of a vector that is declared, found {}; declare it (.reg .v4)",
                    text(operand)
                )),
                Operand::Register(_) | Operand::Symbol { offset: 0, .. } => {
                    self.error(format!("register {} is not declared", text(operand)))
                }
                _ => self.error("expected a register to write to"),
            },
        }
    }

    /// The rows of a register of 128 bits, the lower half first.
    pub(super) fn wide(&self, operand: &Operand<'a>) -> Result<[Reg; 2]> {
        self.check_type(operand, Type::B128, false)?;
        match self.named(operand) {
            Some(Name::Reg(low, Type::B128)) => Ok([low, low + 1]),
            _ => self.error("expected a register of 128 bits; declare one (.reg .b128)"),
        }
    }

    /// The register that a value of a type is written to.
    pub(super) fn dest_of(&self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        self.check_type(operand, ty, false)?;
        Ok(self.dest(operand)?.0)
    }

    /// The register that is written, as by [`Decoder::dest`]; none for `_`.
    pub(super) fn dest_or_sink(&self, operand: &Operand<'a>) -> Result<Option<(Reg, u32)>> {
        match operand {
            Operand::Discard => Ok(None),
            _ => self.dest(operand).map(Some),
        }
    }

    /// The register that a value of a type is written to; none for `_`.
    pub(super) fn dest_or_sink_of(&self, operand: &Operand<'a>, ty: Type) -> Result<Option<Reg>> {
        self.check_type(operand, ty, false)?;
        Ok(self.dest_or_sink(operand)?.map(|(reg, _)| reg))
    }

    pub(super) fn pred_dest(&self, operand: &Operand<'a>) -> Result<Option<Pred>> {
        match operand {
            Operand::Discard => Ok(None),
            Operand::Register(register) if register.element.is_none() => {
                self.predicate(register.name).map(Some)
            }
            Operand::Symbol { name, offset: 0 } => self.predicate(name).map(Some),
            _ => self.error("expected a predicate register to write to"),
        }
    }

    pub(super) fn predicate(&self, name: &str) -> Result<Pred> {
        match self.names.get(name) {
            Some(Name::Pred(pred)) => Ok(pred),
            Some(_) => self.error(format!("expected a predicate, found {name}")),
            None => self.error(format!("predicate {name} is not declared")),
        }
    }

    /// Tells whether an operand is a predicate register.
    pub(super) fn is_predicate(&self, operand: &Operand<'a>) -> bool {
        let name = match operand {
            Operand::Register(register) | Operand::Not(register) => register.name,
            Operand::Symbol { name, .. } => name,
            _ => return false,
        };
        matches!(self.names.get(name), Some(Name::Pred(_)))
    }

    /// A predicate that is read; numbers stand for themselves.
    pub(super) fn pred_source(&mut self, operand: &Operand<'a>) -> Result<Guard> {
        let (name, negated) = match operand {
            Operand::Register(register) => (register.name, false),
            Operand::Not(register) => (register.name, true),
            Operand::Symbol { name, offset: 0 } => (*name, false),
            Operand::Immediate(Immediate::Int { bits, .. }) => {
                return Ok(Guard {
                    pred: super::statements::TRUE,
                    negated: *bits == 0,
                });
            }
            _ => return self.error("expected a predicate"),
        };
        Ok(Guard {
            pred: self.predicate(name)?,
            negated,
        })
    }

    /// The address that a name stands for.
    pub(super) fn symbol(&self, name: &str) -> Result<Symbol> {
        match self.names.get(name) {
            Some(
                Name::Shared(at)
                | Name::Global(at)
                | Name::Const(at)
                | Name::Local(at)
                | Name::Param(at),
            ) => Ok(Symbol::Known(at)),
            Some(Name::DynamicShared) => Ok(Symbol::Dynamic),
            Some(Name::Frame(_)) => self.error(format!(
                "expected a mov of the address of {name}, found it in another instruction"
            )),
            _ if self.refused.contains_key(name) => {
                self.error(format!("{name}: {}", self.refused[name]))
            }
            Some(_) => self.error(format!("expected a variable, found {name}")),
            None if self.function_address(name).is_some() => {
                Ok(Symbol::Known(self.function_address(name).unwrap_or(0)))
            }
            // PTX ISA, "Predefined Constants".
            None if name == "WARP_SZ" => Ok(Symbol::Known(LANES as u64)),
            None => self.error(format!("{name} is not declared")),
        }
    }

    /// `[base+offset]` as a row and an offset, and the space of its symbol if it is one.
    pub(super) fn address(&mut self, operand: &Operand<'a>) -> Result<(Reg, i64, Option<Space>)> {
        let Operand::Address(address) = operand else {
            return self.error("expected an address in brackets");
        };
        if !address.more.is_empty() {
            return self.error("expected an address without coordinates");
        }
        let (base, space) = match address.base {
            Base::Register(register) if register.element.is_none() => {
                (self.address_register(&Operand::Register(register))?, None)
            }
            Base::Register(_) => return self.error("expected a register without an element"),
            Base::Absolute(address) => (self.initial(Initial::Value(address)), None),
            Base::Symbol(name) => match self.names.get(name) {
                Some(Name::Reg(..) | Name::Vector(..)) => (
                    self.address_register(&Operand::Symbol { name, offset: 0 })?,
                    None,
                ),
                Some(Name::Frame(offset)) => {
                    let offset = address.offset.wrapping_add_unsigned(offset);
                    return match self.frame {
                        Some(frame) => Ok((frame.register, offset, Some(Space::Local))),
                        None => self.error(format!("{name} is not of this function")),
                    };
                }
                found => {
                    let space = match found {
                        Some(Name::Shared(_) | Name::DynamicShared) => Some(Space::Shared),
                        Some(Name::Global(_)) => Some(Space::Global),
                        Some(Name::Const(_)) => Some(Space::Const),
                        Some(Name::Local(_)) => Some(Space::Local),
                        Some(Name::Param(_)) => Some(Space::Param),
                        _ => None,
                    };
                    let row = match self.symbol(name)? {
                        Symbol::Known(address) => self.initial(Initial::Value(address)),
                        Symbol::Dynamic => self.initial(Initial::Special(Special::DynamicSmem)),
                    };
                    (row, space)
                }
            },
        };
        Ok((base, address.offset, space))
    }

    /// A register that holds an address.
    fn address_register(&self, operand: &Operand<'a>) -> Result<Reg> {
        if let Some(Name::Reg(_, of)) = self.named(operand)
            && of.is_float()
        {
            return self.error(format!(
                "expected a register of integers or of bits as an address, found {} of {}",
                text(operand),
                type_name(of)
            ));
        }
        Ok(self.dest(operand)?.0)
    }

    /// The address of the shared memory that cooperative groups have. It lies among the kernel's variables, as the emulator has
    /// none where it is reserved.
    fn shared_of_groups(&mut self) -> u64 {
        if let Some(at) = self.of_groups {
            return at;
        }
        let at = self.static_end.next_multiple_of(16);
        self.static_end = at + OF_GROUPS;
        self.of_groups = Some(at);
        at
    }

    /// A row with what a register that PTX defines holds, as an integer of a type.
    pub(super) fn special_source(&mut self, register: &ptx::Register<'a>, ty: Type) -> Result<Reg> {
        let bytes = ty.bytes().unwrap_or(0);
        let widths: &[u32] = match register.name {
            "%clock64" | "%globaltimer" | "%current_graph_exec" => &[8],
            "%gridid" => &[2, 4, 8],
            "%tid" | "%ntid" | "%ctaid" | "%nctaid" => &[2, 4],
            _ => &[4],
        };
        if ty.is_float() || !widths.contains(&bytes) {
            return self.error(format!(
                "expected a type that {} has, {}, found {}; read it as one and convert it (cvt)",
                text(&Operand::Special(*register)),
                match widths {
                    [8] => "of 64 bits",
                    [4] => "of 32 bits",
                    [2, 4] => "of 16 or 32 bits",
                    _ => "of 16 to 64 bits",
                },
                type_name(ty)
            ));
        }
        let row = match clock(register.name) {
            Some((bits, shift)) => {
                let d = self.row();
                self.push_alone(Op::Clock { d, bits, shift });
                d
            }
            None => {
                let special = self.special(register)?;
                self.initial(special)
            }
        };
        // Of more bits the low ones are looked at.
        if bytes != 2 {
            return Ok(row);
        }
        let Ok(narrow) = alu::lookup("cvt", &["u16", "u32"]) else {
            return self.error("the emulator cannot convert numbers; this is a defect of it");
        };
        let d = self.row();
        let mut op = AluOp::new(narrow.kind);
        op.d = Some(d);
        op.reads(row);
        self.push_alone(Op::Alu(Box::new(op)));
        Ok(d)
    }

    /// Puts an operation of the instruction that is decoded before its own, of all lanes.
    fn push_alone(&mut self, op: Op) {
        self.push_before(op, None);
    }

    /// Puts an operation of the instruction that is decoded before its own, under a guard.
    pub(super) fn push_before(&mut self, op: Op, guard: Option<Guard>) {
        let origin = self.origins.len().saturating_sub(1) as u32;
        self.push(op, guard, origin);
    }

    fn special(&mut self, register: &ptx::Register<'a>) -> Result<Initial> {
        let dim = match register.element {
            Some("x") => Some(0),
            Some("y") => Some(1),
            Some("z") => Some(2),
            _ => None,
        };
        let special = match (register.name, dim) {
            ("%tid", Some(d)) => Special::Tid(d),
            ("%ntid", Some(d)) => Special::Ntid(d),
            ("%ctaid", Some(d)) => Special::Ctaid(d),
            ("%nctaid", Some(d)) => Special::Nctaid(d),
            // Without clusters every block is a cluster of its own.
            ("%clusterid", Some(d)) => Special::ClusterId(d),
            ("%nclusterid", Some(d)) => Special::Nclusters(d),
            ("%cluster_ctaid", Some(d)) => Special::ClusterCtaid(d),
            ("%cluster_ctarank", None) => Special::ClusterRank,
            ("%cluster_nctaid", Some(d)) => Special::ClusterNctaid(d),
            ("%cluster_nctarank", None) => Special::ClusterBlocks,
            // Where grids of cooperative launches meet.
            ("%envreg2", None) => return Ok(Initial::Value(self.workspace()? & 0xffff_ffff)),
            ("%envreg1", None) => return Ok(Initial::Value(self.workspace()? >> 32)),
            ("%reserved_smem_offset_begin", None) => return Ok(Initial::Value(0)),
            ("%reserved_smem_offset_end", None) => {
                return Ok(Initial::Value(address::SHARED_START));
            }
            // What cooperative groups have of it, and may write to.
            ("%reserved_smem_offset_1", None) => {
                return Ok(Initial::Value(self.shared_of_groups()));
            }
            ("%laneid", None) => Special::LaneId,
            ("%warpid", None) => Special::WarpId,
            ("%nwarpid", None) => Special::NwarpId,
            ("%smid", None) => Special::SmId,
            ("%nsmid", None) => Special::NsmId,
            ("%gridid", None) => Special::GridId,
            ("%lanemask_eq", None) => Special::LaneMaskEq,
            ("%lanemask_le", None) => Special::LaneMaskLe,
            ("%lanemask_lt", None) => Special::LaneMaskLt,
            ("%lanemask_ge", None) => Special::LaneMaskGe,
            ("%lanemask_gt", None) => Special::LaneMaskGt,
            ("%dynamic_smem_size", None) => Special::DynamicSmemBytes,
            ("%total_smem_size", None) => Special::TotalSmem,
            // No kernel is launched by another one.
            ("%current_graph_exec", None) => return Ok(Initial::Value(0)),
            _ => {
                return self.error(format!(
                    "the emulator does not know register {}{}",
                    register.name,
                    register
                        .element
                        .map(|e| format!(".{e}"))
                        .unwrap_or_default()
                ));
            }
        };
        Ok(Initial::Special(special))
    }
}

/// The bits of a clock, and how far they lie above the lowest ones; none of what is no clock.
fn clock(name: &str) -> Option<(u32, u32)> {
    match name {
        "%clock" | "%globaltimer_lo" => Some((32, 0)),
        "%clock_hi" | "%globaltimer_hi" => Some((32, 32)),
        "%clock64" | "%globaltimer" => Some((64, 0)),
        _ => None,
    }
}

/// Bytes of reserved shared memory that cooperative groups have at least, by the headers of CUDA 12.
const OF_GROUPS: u64 = 288;

/// The address of a variable.
pub(super) enum Symbol {
    Known(u64),
    /// Dynamic shared memory, which starts behind the static variables.
    Dynamic,
}

/// The bits of a type.
fn mask_of(ty: Type) -> u64 {
    match ty.bytes() {
        Some(bytes) if bytes < 8 => (1 << (bytes * 8)) - 1,
        _ => u64::MAX,
    }
}
