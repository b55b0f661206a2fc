//! Memory that functions allocate as they run: `alloca`, `stacksave`, `stackrestore`.

use super::super::program::{Initial, Op, Reg};
use super::{Decoder, Result};
use crate::ptx::{Immediate, Instruction, Operand, Statement, Type};

/// Bytes of each thread that `alloca` gives parts of.
pub(super) const ALLOCATED: u64 = 32 << 10;
/// The least alignment of what it gives.
const MIN_ALIGN: u64 = 8;
/// The largest alignment that may be asked for (PTX ISA 9.0, "Stack Manipulation Instructions: alloca").
const MAX_ALIGN: u64 = 1 << 23;

impl<'a> Decoder<'_, 'a> {
    pub(super) fn stack(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let ty = match i.modifiers.as_slice() {
            ["u32"] => Type::U32,
            ["u64"] => Type::U64,
            _ => return self.unknown(i),
        };
        let pointer = self.stack_pointer();
        match (i.opcode, i.operands.as_slice()) {
            ("stacksave", [d]) => Ok(Op::Move {
                d: self.dest_of(d, ty)?,
                s: pointer,
            }),
            ("stackrestore", [s]) => Ok(Op::StackRestore {
                s: self.source(s, ty)?,
                pointer,
            }),
            ("alloca", [d, size, rest @ ..]) => {
                let align = match rest {
                    [] => MIN_ALIGN,
                    [Operand::Immediate(Immediate::Int { bits, .. })] => *bits,
                    _ => 0,
                };
                if rest.len() > 1 || !align.is_power_of_two() || align > MAX_ALIGN {
                    return self.error(format!(
                        "expected a power of two up to {MAX_ALIGN} for the alignment of alloca"
                    ));
                }
                Ok(Op::StackAllocate {
                    d: self.dest_of(d, ty)?,
                    size: self.source(size, ty)?,
                    align: align.max(MIN_ALIGN),
                    pointer,
                })
            }
            _ => self.unknown(i),
        }
    }

    /// The register with the stack pointer of each thread.
    pub(super) fn stack_pointer(&mut self) -> Reg {
        self.initial(Initial::StackEnd)
    }
}

/// Tells whether a body allocates memory that ends with its function.
pub(super) fn allocates(body: &[Statement<'_>]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Scope(inside) => allocates(inside),
        Statement::Instruction(i) => i.opcode == "alloca",
        _ => false,
    })
}
