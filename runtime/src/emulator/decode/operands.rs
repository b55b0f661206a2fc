//! Operands: rows, predicates, immediates, addresses.

use super::super::program::{Guard, Initial, Pred, Reg, Space, Special};
use super::names::Name;
use super::{Decoder, Result};
use crate::emulator::LANES;
use crate::emulator::address;
use crate::ptx::{self, Base, Immediate, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    /// A row with the value of an operand as that type. Immediates get rows of their own.
    pub(super) fn source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        self.check_width(operand, ty, false)?;
        self.wider_source(operand, ty)
    }

    /// The same of an instruction that looks at the lowest bits of a register, which may have more (PTX ISA, "Operand Size Exceeding
    /// Instruction-Type Size").
    pub(super) fn wider_source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        self.check_width(operand, ty, true)?;
        match operand {
            Operand::Register(register) if register.element.is_none() => {
                self.register(register.name)
            }
            Operand::Symbol { name, offset: 0 } if matches!(self.names.get(name), Some(Name::Reg(..))) => {
                self.register(name)
            }
            Operand::Symbol { name, offset } => {
                let address = self.symbol(name)?;
                // Addresses of dynamic memory are known when all static variables are.
                Ok(match address {
                    Symbol::Known(address) => self.initial(Initial::Value(
                        address.wrapping_add_signed(*offset) & mask_of(ty),
                    )),
                    Symbol::Dynamic if *offset == 0 => {
                        self.initial(Initial::Special(Special::DynamicSmem))
                    }
                    Symbol::Dynamic => {
                        return self.error(format!(
                            "the emulator takes dynamic shared memory's address without an offset, found {name}+{offset}"
                        ));
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
            Operand::Special(register) => {
                let special = self.special(register)?;
                Ok(self.initial(special))
            }
            _ => self.error(format!(
                "expected a register, a number or a symbol of type {ty:?}, found another kind of operand"
            )),
        }
    }

    /// Checks that an operand, if it is a register, has the bits of a type, or more where it may be `wider`.
    pub(super) fn check_width(&self, operand: &Operand<'a>, ty: Type, wider: bool) -> Result<()> {
        let name = match operand {
            Operand::Register(register) if register.element.is_none() => register.name,
            Operand::Symbol { name, offset: 0 } => name,
            _ => return Ok(()),
        };
        let (Some(Name::Reg(_, of)), Some(bytes)) = (self.names.get(name), ty.bytes()) else {
            return Ok(());
        };
        let has = of.bytes().unwrap_or(4);
        let is_bits = |ty| matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
        let is_another = of.is_float() != ty.is_float() && !is_bits(of) && !is_bits(ty);
        if has == bytes && is_another {
            return self.error(format!(
                "expected a register of a type that {ty:?} takes, found {name} of {of:?}; declare it as .b{}, or convert the value (cvt)",
                8 * bytes
            ));
        }
        if has == bytes || has > bytes && wider {
            return Ok(());
        }
        let more = if wider { " or more" } else { "" };
        self.error(format!(
            "expected a register of {} bits{more}, found {name} of {}; name a register of the instruction's type, or convert the value (cvt)",
            8 * bytes,
            8 * has
        ))
    }

    /// An immediate as bits of a type.
    fn immediate(&self, immediate: Immediate, ty: Type) -> Result<u64> {
        Ok(match (immediate, ty) {
            (Immediate::Int { bits, .. }, Type::F64) => (bits as i64 as f64).to_bits(),
            (Immediate::Int { bits, .. }, Type::F32) => u64::from((bits as i64 as f32).to_bits()),
            (Immediate::Int { bits, .. }, _) => bits & mask_of(ty),
            (Immediate::F32(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Immediate::F64(bits), Type::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
            (Immediate::F32(bits), Type::F32 | Type::B32 | Type::U32 | Type::S32 | Type::Tf32) => {
                u64::from(bits)
            }
            (Immediate::F64(bits), Type::F64 | Type::B64 | Type::U64 | Type::S64) => bits,
            _ => {
                return self.error(format!(
                    "expected a number of type {ty:?}, found one of another width"
                ));
            }
        })
    }

    fn register(&self, name: &str) -> Result<Reg> {
        Ok(self.declared(name)?.0)
    }

    /// A register and its bits.
    fn declared(&self, name: &str) -> Result<(Reg, u32)> {
        match self.names.get(name) {
            Some(Name::Reg(reg, ty)) => Ok((reg, ty.bytes().unwrap_or(4) * 8)),
            Some(_) => self.error(format!("expected a register with a value, found {name}")),
            None => self.error(format!("register {name} is not declared")),
        }
    }

    /// A register that is written, with the bits it has.
    pub(super) fn dest(&self, operand: &Operand<'a>) -> Result<(Reg, u32)> {
        let name = match operand {
            Operand::Register(register) if register.element.is_none() => register.name,
            Operand::Symbol { name, offset: 0 } => name,
            _ => return self.error("expected a register to write to"),
        };
        self.declared(name)
    }

    /// The register that a value of a type is written to.
    pub(super) fn dest_of(&self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        self.check_width(operand, ty, false)?;
        Ok(self.dest(operand)?.0)
    }

    /// The register that is written, as by [`Decoder::dest`]; none for `_`.
    pub(super) fn dest_or_sink(&self, operand: &Operand<'a>) -> Result<Option<(Reg, u32)>> {
        match operand {
            Operand::Discard => Ok(None),
            _ => self.dest(operand).map(Some),
        }
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
                (self.register(register.name)?, None)
            }
            Base::Register(_) => return self.error("expected a register without an element"),
            Base::Absolute(address) => (self.initial(Initial::Value(address)), None),
            Base::Symbol(name) => match self.names.get(name) {
                Some(Name::Reg(reg, _)) => (reg, None),
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
