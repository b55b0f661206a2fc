//! Instructions about registers of warps, other blocks of a cluster, and the grids before and after this one.

use super::super::alu;
use super::super::program::{AluOp, ClusterBarrier, Initial, MaxRegisters, Op, Special};
use super::{Decoder, Result};
use crate::ptx::{Immediate, Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    /// `setmaxnreg.inc.sync.aligned.u32 240`
    pub(super) fn max_registers(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [kind @ ("inc" | "dec"), "sync", "aligned", "u32"] = i.modifiers.as_slice() else {
            return self.unknown(i);
        };
        let count = match i.operands.as_slice() {
            [Operand::Immediate(Immediate::Int { bits, .. })] => *bits,
            _ => return self.error("expected a number of registers after setmaxnreg"),
        };
        if !(24..=256).contains(&count) || count % 8 != 0 {
            return self.error(format!(
                "expected a multiple of 8 from 24 to 256 after setmaxnreg, found {count}"
            ));
        }
        Ok(Op::MaxRegisters(MaxRegisters {
            increases: *kind == "inc",
            count: count as u32,
        }))
    }

    /// `barrier.cluster.arrive` and `.wait`
    pub(super) fn cluster_barrier(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let Some((&operation, rest)) = i.modifiers[1..].split_first() else {
            return self.unknown(i);
        };
        let rest = match rest {
            [before @ .., "aligned"] => before,
            rest => rest,
        };
        if !i.operands.is_empty() {
            return self.error("expected no operands after barrier.cluster");
        }
        match (operation, rest) {
            ("arrive", [] | ["release"]) => Ok(Op::ClusterBarrier(ClusterBarrier::Arrive {
                relaxed: false,
            })),
            ("arrive", ["relaxed"]) => {
                Ok(Op::ClusterBarrier(ClusterBarrier::Arrive { relaxed: true }))
            }
            ("wait", [] | ["acquire"]) => Ok(Op::ClusterBarrier(ClusterBarrier::Wait)),
            _ => self.unknown(i),
        }
    }

    /// `mapa`: the address of a variable in the shared memory of a block of the cluster.
    pub(super) fn map_address(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let ty = match i.modifiers.as_slice() {
            ["shared::cluster", "u32"] | ["u32"] => Type::U32,
            ["shared::cluster", "u64"] | ["u64"] => Type::U64,
            _ => return self.unknown(i),
        };
        let [d, a, rank] = i.operands.as_slice() else {
            return self.error("expected a destination, an address and a rank after mapa");
        };
        Ok(Op::MapAddress {
            d: self.dest_of(d, ty)?,
            s: self.source(a, ty)?,
            rank: self.source(rank, Type::U32)?,
        })
    }

    /// `getctarank`: the rank of the block whose shared memory an address is of.
    pub(super) fn rank_of_address(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let ty = match i.modifiers.as_slice() {
            ["shared::cluster", "u32"] | ["u32"] => Type::U32,
            ["shared::cluster", "u64"] | ["u64"] => Type::U64,
            _ => return self.unknown(i),
        };
        let [d, a] = i.operands.as_slice() else {
            return self.error("expected a destination and an address after getctarank");
        };
        let mut op = AluOp::new(alu::rank_of_address());
        op.d = Some(self.dest_of(d, Type::U32)?);
        op.reads(self.source(a, ty)?);
        op.reads(self.initial(Initial::Special(Special::ClusterRank)));
        Ok(Op::Alu(Box::new(op)))
    }

    /// `mov.pred d, %is_explicit_cluster`
    pub(super) fn is_explicit_cluster(&mut self, dest: &Operand<'a>) -> Result<Op> {
        let Ok(test) = alu::lookup("setp", &["ne", "u32"]) else {
            return self.error("the emulator cannot compare numbers; this is a defect of it");
        };
        let mut op = AluOp::new(test.kind);
        op.p = self.pred_dest(dest)?;
        op.reads(self.initial(Initial::Special(Special::ExplicitCluster)));
        op.reads(self.initial(Initial::Value(0)));
        Ok(Op::Alu(Box::new(op)))
    }
}
