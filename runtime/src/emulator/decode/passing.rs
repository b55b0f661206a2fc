//! The values that a call passes, in the thread's memory or in registers.

use super::super::program::{Access, Call, Callee, Op, Order, Reg, Space};
use super::calls::STACK;
use super::names::Name;
use super::{Decoder, Initial, Result};
use crate::ptx::{Operand, Param, Space as PtxSpace, Type};

/// Parameters or results of a function, the operands of a call for them, and their places in the frame, with their bytes.
pub(super) struct Passed<'p, 'a> {
    pub params: &'p [Param<'a>],
    pub operands: &'p [Operand<'a>],
    pub sizes: &'p [(u64, u64)],
}

/// A label, and what is done there.
type End = (u32, Vec<Op>);

impl<'a> Decoder<'_, 'a> {
    /// A call of a function that has a frame. What is passed in registers goes through memory of the thread.
    pub(super) fn pass(
        &mut self,
        callee: Callee,
        given: Passed<'_, 'a>,
        taken: Passed<'_, 'a>,
    ) -> Result<()> {
        let origin = self.origins.len() as u32 - 1;
        let mut arguments = Vec::new();
        for ((param, operand), (_, bytes)) in
            given.params.iter().zip(given.operands).zip(given.sizes)
        {
            let at = match param.space {
                PtxSpace::Reg => {
                    let s = self.source(operand, param.ty)?;
                    let at = self.own_memory(*bytes, *bytes, false)?;
                    let store = Op::Store(self.of_thread(at, *bytes, s));
                    self.push(store, None, origin);
                    at
                }
                _ => self.parameter(operand)?,
            };
            arguments.push((at, *bytes));
        }
        let mut returns = Vec::new();
        let mut loads = Vec::new();
        for ((param, operand), (_, bytes)) in
            taken.params.iter().zip(taken.operands).zip(taken.sizes)
        {
            let at = match param.space {
                PtxSpace::Reg => {
                    let at = self.own_memory(*bytes, *bytes, false)?;
                    if let Some(d) = self.dest_or_sink_of(operand, param.ty)? {
                        loads.push(Op::Load(self.of_thread(at, *bytes, d)));
                    }
                    at
                }
                _ => self.parameter(operand)?,
            };
            returns.push((at, *bytes));
        }
        let call = Call {
            callee,
            arguments,
            returns,
        };
        self.push(Op::Call(Box::new(call)), None, origin);
        for load in loads {
            self.push(load, None, origin);
        }
        Ok(())
    }

    /// Names the parameters of a function that begins, and loads those that are registers from its frame.
    pub(super) fn take(&mut self, frame: Reg, params: &[(&Param<'a>, (u64, u64))]) -> Result<()> {
        let origin = self.origins.len().saturating_sub(1) as u32;
        for &(param, (at, bytes)) in params {
            let name = match param.space {
                PtxSpace::Reg => {
                    let row = self.register_for(param)?;
                    self.push(Op::Load(in_frame(frame, at, bytes, row)), None, origin);
                    Name::Reg(row, param.ty)
                }
                _ => Name::Frame(at),
            };
            self.names.insert(param.name, name);
        }
        Ok(())
    }

    /// Names the results of a function that begins. Where some are registers, it ends at a label, and stores them to its frame there.
    pub(super) fn give(
        &mut self,
        frame: Reg,
        results: &[(&Param<'a>, (u64, u64))],
    ) -> Result<Option<End>> {
        let mut stores = Vec::new();
        for &(param, (at, bytes)) in results {
            let name = match param.space {
                PtxSpace::Reg => {
                    let row = self.register_for(param)?;
                    stores.push(Op::Store(in_frame(frame, at, bytes, row)));
                    Name::Reg(row, param.ty)
                }
                _ => Name::Frame(at),
            };
            self.names.insert(param.name, name);
        }
        if stores.is_empty() {
            return Ok(None);
        }
        let end = self.labels.len() as u32;
        self.labels.push(None);
        self.returns.push(end);
        Ok(Some((end, stores)))
    }

    /// An access of one register to a place in the thread's memory.
    fn of_thread(&mut self, at: u64, bytes: u64, register: Reg) -> Box<Access> {
        let base = self.initial(Initial::Value(at));
        in_frame(base, 0, bytes, register)
    }

    /// Offsets and bytes of parameters behind each other, and where they end.
    pub(super) fn places(
        &self,
        params: &[Param<'a>],
        start: u64,
    ) -> Result<(Vec<(u64, u64)>, u64)> {
        let mut at = start;
        let mut all = Vec::new();
        for param in params {
            if param.space == PtxSpace::Reg {
                self.checked_register(param)?;
            }
            let (bytes, align) = self.size_of(param.ty, param.vector, &param.dims, param.align)?;
            at = at.next_multiple_of(align);
            all.push((at, bytes));
            at += bytes;
            if at > STACK {
                return self.error(format!(
                    "expected at most {STACK} bytes of parameters of a function, found more"
                ));
            }
        }
        Ok((all, at))
    }

    /// A row for a parameter of a function that is a register.
    pub(super) fn register_for(&mut self, param: &Param<'a>) -> Result<Reg> {
        self.checked_register(param)?;
        Ok(self.row())
    }

    fn checked_register(&self, param: &Param<'a>) -> Result<()> {
        match (param.ty.bytes(), param.vector, param.dims.as_slice()) {
            (Some(1..=8), None, []) if param.ty != Type::Pred => Ok(()),
            _ => self.error(format!(
                "expected a register of 8 to 64 bits for parameter {}, found one of type {:?}; the emulator passes no others",
                param.name, param.ty
            )),
        }
    }

    pub(super) fn parameters(&self, operands: &[Operand<'a>]) -> Result<Vec<u64>> {
        operands
            .iter()
            .map(|operand| self.parameter(operand))
            .collect()
    }

    /// The place of a parameter of a call in the thread's memory.
    pub(super) fn parameter(&self, operand: &Operand<'a>) -> Result<u64> {
        match operand {
            Operand::Symbol { name, offset: 0 } => match self.names.get(name) {
                Some(Name::Local(at)) => Ok(at),
                _ => self.error(format!("expected a .param variable, found {name}")),
            },
            _ => self.error("expected a .param variable"),
        }
    }
}

/// An access of one register to memory of the thread.
fn in_frame(base: Reg, at: u64, bytes: u64, register: Reg) -> Box<Access> {
    Box::new(Access {
        space: Space::Local,
        base,
        offset: at as i64,
        bytes: bytes as u32,
        signed: None,
        regs: vec![Some(register)],
        order: Order::default(),
        speculated: false,
        is_read: false,
        taken: bytes as u32,
        used: u32::MAX,
    })
}
