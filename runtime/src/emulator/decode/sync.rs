//! Instructions through which threads meet.

use super::super::alu;
use super::super::program::{
    Barrier, BarrierKind, Fence, Mbarrier, MbarrierOp, Op, Scope, Shuffle, Space, Vote,
};
use super::{Decoder, Result};
use crate::ptx::{Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    pub(super) fn barrier(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let mut names: Vec<&str> = i.modifiers.clone();
        names.retain(|name| *name != "cta");
        if names == ["warp", "sync"] && i.opcode == "bar" {
            let [members] = i.operands.as_slice() else {
                return self.error("expected a mask of lanes after bar.warp.sync");
            };
            let members = self.source(members, Type::U32)?;
            return Ok(Op::WarpBarrier { members });
        }
        // `bar` is `barrier.cta` with `.aligned`.
        if i.opcode == "bar" && names.contains(&"aligned") {
            return self.unknown(i);
        }
        let aligned = i.opcode == "bar" || names.last() == Some(&"aligned");
        names.retain(|name| *name != "aligned");
        let operands = i.operands.as_slice();
        let (kind, operand, rest) = match (names.as_slice(), operands) {
            (["sync"], rest) => (BarrierKind::Sync, None, rest),
            (["arrive"], rest) => (BarrierKind::Arrive, None, rest),
            (["red", "popc", "u32"], [dest, rest @ .., p]) => {
                let d = self.dest_of(dest, Type::U32)?;
                (BarrierKind::Popc(d), Some(self.pred_source(p)?), rest)
            }
            (["red", op @ ("and" | "or"), "pred"], [dest, rest @ .., p]) => {
                let Some(d) = self.pred_dest(dest)? else {
                    return self.unknown(i);
                };
                let kind = if *op == "and" {
                    BarrierKind::And(d)
                } else {
                    BarrierKind::Or(d)
                };
                (kind, Some(self.pred_source(p)?), rest)
            }
            _ => return self.unknown(i),
        };
        let (id, count) = match rest {
            [id] if kind != BarrierKind::Arrive => (self.source(id, Type::U32)?, None),
            [id, count] => (
                self.source(id, Type::U32)?,
                Some(self.source(count, Type::U32)?),
            ),
            _ => {
                return self
                    .error("expected a barrier, and the number of threads where some only arrive");
            }
        };
        Ok(Op::Barrier(Box::new(Barrier {
            kind,
            id,
            count,
            aligned,
            operand,
        })))
    }

    pub(super) fn fence(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let (sem, scope) = match (i.opcode, i.modifiers.as_slice()) {
            ("membar", [level]) => ("sc", *level),
            ("fence", [scope]) => ("acq_rel", *scope),
            ("fence", [sem, scope]) => (*sem, *scope),
            _ => ("", ""),
        };
        let known = matches!(sem, "sc" | "acq_rel" | "acquire" | "release");
        let scope = match scope {
            "cta" => Some(Scope::Block),
            "cluster" if i.opcode == "fence" => Some(Scope::Cluster),
            "gpu" if i.opcode == "fence" => Some(Scope::Device),
            "gl" if i.opcode == "membar" => Some(Scope::Device),
            "sys" => Some(Scope::Device),
            _ => None,
        };
        if let Some(scope) = scope.filter(|_| known) {
            return Ok(Op::Fence(Fence {
                scope,
                acquires: sem != "release",
                releases: sem != "acquire",
            }));
        }
        match (i.opcode, i.modifiers.as_slice()) {
            // No memory has two addresses.
            ("fence" | "membar", ["proxy", "alias"]) => Ok(Op::Hint),
            (
                "fence",
                ["proxy", "async"]
                | [
                    "proxy",
                    "async",
                    "global" | "shared::cta" | "shared::cluster",
                ],
            ) => Ok(Op::FenceProxy),
            ("fence", ["proxy", "tensormap::generic", names @ ..]) => self.map_fence(i, names),
            ("fence", ["mbarrier_init", "release", "cluster"]) => Ok(Op::FenceMbarrierInit),
            _ => self.unknown(i),
        }
    }

    pub(super) fn hint(&mut self, i: &Instruction<'a>) -> Result<Op> {
        // `discard` destroys what it names.
        if i.opcode == "discard" {
            return self.unknown(i);
        }
        match (i.opcode, i.operands.as_slice()) {
            ("nanosleep", [time]) => {
                self.source(time, Type::U32)?;
            }
            ("prefetch" | "prefetchu" | "applypriority", [address, ..]) => {
                self.address(address)?;
            }
            _ => {}
        }
        Ok(Op::Hint)
    }

    pub(super) fn warp_wide(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let operands = i.operands.as_slice();
        // ptxas takes `.sync` anywhere.
        let mut modifiers = i.modifiers.clone();
        modifiers.sort_by_key(|name| *name != "sync");
        match (i.opcode, modifiers.as_slice(), operands) {
            ("shfl", ["sync", kind, "b32"], [dest, a, b, c, members]) => {
                let kind = match *kind {
                    "up" => Shuffle::Up,
                    "down" => Shuffle::Down,
                    "bfly" => Shuffle::Butterfly,
                    "idx" => Shuffle::Index,
                    _ => return self.unknown(i),
                };
                let (dest, p) = match dest {
                    Operand::Pair(dest, p) => (dest.as_ref(), self.pred_dest(p)?),
                    dest => (dest, None),
                };
                Ok(Op::Shuffle {
                    kind,
                    d: self.dest_of(dest, Type::B32)?,
                    p,
                    a: self.source(a, Type::B32)?,
                    b: self.source(b, Type::B32)?,
                    c: self.source(c, Type::B32)?,
                    members: self.source(members, Type::U32)?,
                })
            }
            ("vote", ["sync", kind, ty], [dest, a, members]) => {
                let kind = match (*kind, *ty) {
                    ("all", "pred") => Vote::All,
                    ("any", "pred") => Vote::Any,
                    ("uni", "pred") => Vote::Uniform,
                    ("ballot", "b32") => Vote::Ballot,
                    _ => return self.unknown(i),
                };
                let (d, p) = if kind == Vote::Ballot {
                    (Some(self.dest_of(dest, Type::B32)?), None)
                } else {
                    (None, self.pred_dest(dest)?)
                };
                Ok(Op::Vote {
                    kind,
                    d,
                    p,
                    a: self.pred_source(a)?,
                    members: self.source(members, Type::U32)?,
                })
            }
            (
                "redux",
                [
                    "sync",
                    op @ ("add" | "min" | "max" | "and" | "or" | "xor"),
                    ty,
                ],
                [dest, a, members],
            ) => {
                let f = match alu::lookup(op, &[*ty]) {
                    Ok(alu::Alu {
                        kind: alu::Kind::Value(f),
                        ..
                    }) => f,
                    _ => return self.unknown(i),
                };
                let of_a = if *ty == "s32" { Type::S32 } else { Type::U32 };
                Ok(Op::Reduce {
                    f,
                    d: self.dest_of(dest, of_a)?,
                    a: self.source(a, of_a)?,
                    members: self.source(members, Type::U32)?,
                })
            }
            ("match", ["sync", "any", ty @ ("b32" | "b64")], [dest, a, members]) => {
                let ty = if *ty == "b32" { Type::B32 } else { Type::B64 };
                Ok(Op::MatchAny {
                    d: self.dest_of(dest, Type::U32)?,
                    a: self.source(a, ty)?,
                    members: self.source(members, Type::U32)?,
                })
            }
            ("match", ["sync", "all", ty @ ("b32" | "b64")], [dest, a, members]) => {
                let ty = if *ty == "b32" { Type::B32 } else { Type::B64 };
                let (dest, p) = match dest {
                    Operand::Pair(dest, p) => (dest.as_ref(), self.pred_dest(p)?),
                    dest => (dest, None),
                };
                Ok(Op::MatchAll {
                    d: self.dest_or_sink_of(dest, Type::U32)?,
                    p,
                    a: self.source(a, ty)?,
                    members: self.source(members, Type::U32)?,
                })
            }
            ("elect", ["sync"], [Operand::Pair(dest, p), members]) => {
                let Some(p) = self.pred_dest(p)? else {
                    return self.unknown(i);
                };
                Ok(Op::Elect {
                    d: self.dest_or_sink_of(dest, Type::U32)?,
                    p,
                    members: self.source(members, Type::U32)?,
                })
            }
            ("activemask", ["b32"], [dest]) => Ok(Op::ActiveMask(self.dest_of(dest, Type::B32)?)),
            _ => self.unknown(i),
        }
    }

    /// `mbarrier` and `cp.async.mbarrier.arrive` on an object of this block.
    pub(super) fn mbarrier(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let copies = i.opcode == "cp";
        let names = if copies {
            &i.modifiers[2..]
        } else {
            &i.modifiers[..]
        };
        let Some((&operation, rest)) = names.split_first() else {
            return self.unknown(i);
        };
        let mut space = Space::Generic;
        let (mut expect, mut parity, mut noinc, mut relaxed) = (false, false, false, false);
        let (mut no_complete, mut is_remote) = (false, false);
        let (mut order, mut scope) = (None, None);
        for &name in rest {
            match name {
                // The address says which block of the cluster is meant.
                "shared" | "shared::cta" | "shared::cluster" => {
                    space = Space::Shared;
                    is_remote = name == "shared::cluster";
                }
                "noComplete" if matches!(operation, "arrive" | "arrive_drop") => no_complete = true,
                "b64" => {}
                "cta" | "cluster" => scope = Some(name),
                "release" | "acquire" | "relaxed" => {
                    order = Some(name);
                    relaxed = name == "relaxed";
                }
                "expect_tx" if matches!(operation, "arrive" | "arrive_drop") => expect = true,
                "parity" if matches!(operation, "test_wait" | "try_wait") => parity = true,
                "noinc" if copies => noinc = true,
                _ => return self.unknown(i),
            }
        }
        let is_arrival = matches!(operation, "arrive" | "arrive_drop") && !copies;
        self.check_mbarrier(i, operation, (order, scope))?;
        let goes_far =
            is_arrival && !no_complete || matches!(operation, "expect_tx" | "complete_tx");
        if is_remote && !goes_far {
            return self.error(format!(
                "expected an object of this block in {}.{operation}, found .shared::cluster; take .shared::cta",
                i.opcode
            ));
        }
        if is_arrival
            && is_remote
            && !matches!(
                i.operands.first(),
                Some(Operand::Discard | Operand::Address(_))
            )
        {
            return self.error(format!(
                "expected `_` in place of the state in mbarrier.{operation} of .shared::cluster, as other blocks' objects give none"
            ));
        }
        let (address, op) = match (operation, i.operands.as_slice()) {
            ("arrive", [address]) if copies => (address, MbarrierOp::CopiesArrive { noinc }),
            _ if copies => return self.unknown(i),
            ("init", [address, count]) => {
                let count = self.source(count, Type::U32)?;
                (address, MbarrierOp::Init { count })
            }
            ("inval", [address]) => (address, MbarrierOp::Invalidate),
            ("expect_tx", [address, bytes]) => {
                let bytes = self.source(bytes, Type::U32)?;
                (address, MbarrierOp::ExpectTx { bytes })
            }
            ("complete_tx", [address, bytes]) => {
                let bytes = self.source(bytes, Type::U32)?;
                (address, MbarrierOp::CompleteTx { bytes })
            }
            ("pending_count", [d, state]) => {
                return Ok(Op::PendingCount {
                    d: self.dest_of(d, Type::U32)?,
                    s: self.source(state, Type::U64)?,
                });
            }
            ("arrive" | "arrive_drop", [Operand::Address(_), ..]) => {
                return self.error(format!(
                    "expected a state, or `_`, before the address in mbarrier.{operation}; name one"
                ));
            }
            ("arrive" | "arrive_drop", [state, address @ Operand::Address(_), rest @ ..])
                if rest.len() < 2 =>
            {
                let state = self.dest_or_sink_of(state, Type::U64)?;
                let number = match rest {
                    [number] => Some(self.source(number, Type::U32)?),
                    _ => None,
                };
                if expect && number.is_none() {
                    return self.error("expected a number of bytes after .expect_tx");
                }
                if no_complete && (expect || number.is_none()) {
                    return self.error("expected a number of arrivals after .noComplete");
                }
                let op = MbarrierOp::Arrive {
                    state,
                    no_complete,
                    count: number.filter(|_| !expect),
                    expect: number.filter(|_| expect),
                    drop: operation == "arrive_drop",
                    release: !relaxed,
                };
                (address, op)
            }
            ("test_wait" | "try_wait", [p, address, state, hint @ ..])
                if hint.len() <= usize::from(operation == "try_wait") =>
            {
                let ty = if parity { Type::U32 } else { Type::U64 };
                if let [hint] = hint {
                    self.source(hint, Type::U32)?;
                }
                let op = MbarrierOp::Test {
                    p: self.pred_dest(p)?,
                    state: self.source(state, ty)?,
                    parity,
                    acquire: !relaxed,
                    blocks: operation == "try_wait",
                };
                (address, op)
            }
            _ => return self.unknown(i),
        };
        let (base, offset, _) = self.address(address)?;
        self.note_shared(Space::Shared, 8);
        Ok(Op::Mbarrier(Box::new(Mbarrier {
            op,
            space,
            base,
            offset,
        })))
    }

    /// Checks the order of an operation on an `mbarrier` object, which has a scope and is one that the operation has.
    fn check_mbarrier(
        &self,
        i: &Instruction<'a>,
        operation: &str,
        (order, scope): (Option<&str>, Option<&str>),
    ) -> Result<()> {
        let orders: &[&str] = match operation {
            "arrive" | "arrive_drop" if i.opcode == "mbarrier" => &["release", "relaxed"],
            "test_wait" | "try_wait" => &["acquire", "relaxed"],
            "expect_tx" | "complete_tx" => &["relaxed"],
            _ => &[],
        };
        match (order, scope) {
            (None, None) => Ok(()),
            (Some(order), Some(_)) if orders.contains(&order) => Ok(()),
            (Some(order), None) if orders.contains(&order) => self.error(format!(
                "expected a scope with .{order} in mbarrier.{operation} (.cta or .cluster), found none; name one"
            )),
            (None, Some(scope)) => self.error(format!(
                "expected an order with .{scope} in mbarrier.{operation}, found none; name one, or leave the scope out"
            )),
            (Some(order), _) => self.error(format!(
                "expected an order that mbarrier.{operation} has, found .{order}; leave it out"
            )),
        }
    }
}
