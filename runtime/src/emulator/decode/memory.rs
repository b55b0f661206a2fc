//! Instructions that touch memory.

use super::super::mma::Matrices;
use super::super::program::{Access, AsyncCopy, Op, Order, Scope, Space};
use super::names::Name;
use super::types::is_moved;
use super::{Decoder, Initial, Result};
use crate::ptx::{Instruction, Operand, Type};

/// The properties that the modifiers of a load or a store give.
struct Modifiers {
    space: Option<Space>,
    count: usize,
    ty: Option<Type>,
    strong: bool,
    order: Order,
    /// Tells whether an operand with a cache policy follows.
    policy: bool,
}

impl<'a> Decoder<'_, 'a> {
    fn access_modifiers(&self, i: &Instruction<'a>) -> Result<Modifiers> {
        let mut m = Modifiers {
            space: None,
            count: 1,
            ty: None,
            strong: false,
            order: Order::default(),
            policy: false,
        };
        let (mut strong, mut ordered, mut cached, mut is_scoped) = (None, None, None, false);
        for &name in &i.modifiers {
            match name {
                "global" => m.space = Some(Space::Global),
                // The address says which block of the cluster is meant.
                "shared" | "shared::cta" | "shared::cluster" => m.space = Some(Space::Shared),
                "const" => m.space = Some(Space::Const),
                "local" => m.space = Some(Space::Local),
                "param" | "param::entry" | "param::func" => m.space = Some(Space::Param),
                "v2" => m.count = 2,
                "v4" => m.count = 4,
                "v8" => m.count = 8,
                "volatile" | "mmio" => {
                    m.strong = true;
                    strong = Some(name);
                }
                "relaxed" | "acquire" | "release" => {
                    m.strong = true;
                    strong = Some(name);
                    ordered = Some(name);
                    m.order.acquire |= name == "acquire";
                    m.order.release |= name == "release";
                }
                "L2::cache_hint" => m.policy = true,
                "cta" | "cluster" | "gpu" | "sys" => {
                    m.order.scope = scope_named(name);
                    is_scoped = true;
                }
                "weak" | "unified" => {}
                "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" => cached = Some(name),
                "nc" => m.order.non_coherent = true,
                name if name.starts_with("L1::") || name.starts_with("L2::") => {}
                name => match Type::of(name) {
                    Some(ty) if m.ty.is_none() && is_moved(ty) => m.ty = Some(ty),
                    _ => return self.unknown(i),
                },
            }
        }
        // What ptxas says of these.
        let opcode = i.opcode;
        match (strong, ordered, cached) {
            (Some(strong), _, Some(cached)) => self.error(format!(
                "expected no .{cached} beside .{strong} in {opcode}, as strong accesses have no cache operator; leave one out"
            )),
            (_, Some(ordered), _) if !is_scoped => self.error(format!(
                "expected a scope with .{ordered} in {opcode} (.cta, .cluster, .gpu or .sys), found none; name one"
            )),
            (Some(strong), ..) if m.space == Some(Space::Local) => self.error(format!(
                "expected no .{strong} in {opcode} of local memory, which its thread alone sees; leave it out"
            )),
            _ if m.order.acquire && opcode != "ld" || m.order.release && opcode != "st" => self.error(format!(
                "expected .acquire in ld and .release in st alone, found it in {opcode}; take the other one, or .relaxed"
            )),
            _ if m.order.non_coherent && m.space != Some(Space::Global) => self.error(format!(
                "expected .global beside .nc in {opcode}; name the space"
            )),
            _ => Ok(m),
        }
    }

    /// The parts of an access that loads and stores share; `operand` is the address.
    fn access(
        &mut self,
        i: &Instruction<'a>,
        operand: &Operand<'a>,
        m: &Modifiers,
    ) -> Result<Access> {
        let Some(element) = m.ty.and_then(Type::bytes) else {
            return self.unknown(i);
        };
        // 128 bits are two rows, which move at once.
        let (bytes, count) = match element {
            16 => (8, 2 * m.count),
            bytes => (bytes, m.count),
        };
        if bytes as usize * count > if element == 16 { 16 } else { 32 } {
            return self.unknown(i);
        }
        let (base, offset, of_symbol) = self.address(operand)?;
        let mut space = m.space.unwrap_or(Space::Generic);
        // Parameters of calls are the thread's own.
        if space == Space::Param && of_symbol == Some(Space::Local) {
            space = Space::Local;
        }
        if space == Space::Generic
            && let Some(found) = of_symbol
        {
            return self.error(format!(
                "expected the state space of the variable ({found:?}) in {}, as its name is no generic address",
                i.opcode
            ));
        }
        match i.operands.as_slice() {
            [_, _, policy] if m.policy => self.check_type(policy, Type::U64, false)?,
            _ if m.policy => return self.error("expected a cache policy after .L2::cache_hint"),
            _ => {}
        }
        if !m.policy && i.operands.len() != 2 {
            return self.error(format!("expected two operands after {}", i.opcode));
        }
        self.note_shared(space, bytes * count as u32);
        let signed = matches!(m.ty, Some(Type::S8 | Type::S16 | Type::S32));
        Ok(Access {
            space,
            base,
            offset,
            bytes,
            signed: signed.then_some(bytes * 8),
            regs: Vec::with_capacity(count),
            order: Order {
                width: if m.strong { element as u8 } else { 0 },
                ..m.order
            },
            speculated: false,
            is_read: false,
            taken: bytes * count as u32,
            used: u32::MAX,
        })
    }

    /// Notes how finely shared memory is accessed.
    pub(super) fn note_shared(&mut self, space: Space, bytes: u32) {
        if matches!(space, Space::Shared | Space::Generic) {
            self.granule = self.granule.min(bytes);
        }
    }

    /// Notes how finely global memory is written.
    pub(super) fn note_global_write(&mut self, space: Space, bytes: u32) {
        if matches!(space, Space::Global | Space::Generic) {
            self.global_granule = self.global_granule.min(bytes);
        }
    }

    pub(super) fn load(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [dest, address, ..] = i.operands.as_slice() else {
            return self.error("expected a destination and an address after ld");
        };
        let m = self.access_modifiers(i)?;
        let mut access = self.access(i, address, &m)?;
        access.used = self.used_bytes.unwrap_or(u32::MAX);
        let ty = m.ty.unwrap_or(Type::B32);
        let parts = self.parts(dest, m.count)?;
        self.check_vector(&parts, ty, true)?;
        let mut width = None;
        for part in &parts {
            if ty == Type::B128 {
                access.regs.extend(self.wide(part)?.map(Some));
                continue;
            }
            let dest = match self.named(part) {
                Some(Name::Reg(low, Type::B128)) if access.signed.is_none() => {
                    // The upper half of a register that is wider.
                    let zero = self.initial(Initial::Value(0));
                    let clear = Op::Move {
                        d: low + 1,
                        s: zero,
                    };
                    self.push_before(clear, self.guard);
                    Some((low, 64))
                }
                _ => self.dest_or_sink(part)?,
            };
            width = dest.map(|(_, bits)| bits).or(width);
            access.regs.push(dest.map(|(reg, _)| reg));
        }
        // Signed types fill the register that they are loaded into.
        access.signed = access.signed.and(width);
        Ok(Op::Load(Box::new(access)))
    }

    pub(super) fn store(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [address, source, ..] = i.operands.as_slice() else {
            return self.error("expected an address and a source after st");
        };
        let m = self.access_modifiers(i)?;
        let mut access = self.access(i, address, &m)?;
        let parts = self.parts(source, m.count)?;
        if matches!(access.space, Space::Const | Space::Param) {
            return self.unknown(i);
        }
        let ty = m.ty.unwrap_or(Type::B32);
        self.note_global_write(access.space, access.taken);
        self.check_vector(&parts, ty, true)?;
        for part in &parts {
            if ty == Type::B128 {
                access.regs.extend(self.wide(part)?.map(Some));
                continue;
            }
            let row = match (part, self.named(part)) {
                (Operand::Special(_), _) if m.count > 1 => self.source_or_special(part, ty)?,
                (_, Some(Name::Reg(low, Type::B128))) => low,
                _ => self.part_source(part, ty)?,
            };
            access.regs.push(Some(row));
        }
        Ok(Op::Store(Box::new(access)))
    }

    /// `st.bulk`, which writes zeros.
    pub(super) fn store_bulk(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let rest = match i.modifiers.as_slice() {
            ["bulk", "weak", rest @ ..] | ["bulk", rest @ ..] => rest,
            rest => rest,
        };
        let space = match rest {
            [] => Space::Generic,
            ["shared::cta" | "shared"] => Space::Shared,
            _ => return self.unknown(i),
        };
        let [
            address,
            size,
            Operand::Immediate(crate::ptx::Immediate::Int { bits: 0, .. }),
        ] = i.operands.as_slice()
        else {
            return self.error("expected an address, a size and 0 after st.bulk");
        };
        let (base, offset, _) = self.address(address)?;
        self.note_shared(space, 8);
        Ok(Op::StoreBulk {
            space,
            base,
            offset,
            size: self.source(size, Type::U64)?,
        })
    }

    fn space_named(name: &str) -> Option<Space> {
        Some(match name {
            "global" => Space::Global,
            "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
            "const" => Space::Const,
            "local" => Space::Local,
            "param" | "param::entry" => Space::Param,
            _ => return None,
        })
    }

    pub(super) fn cvta(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let (to_space, rest) = match i.modifiers.as_slice() {
            ["to", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let ([space, ty @ ("u64" | "u32")], [dest, source]) = (rest, i.operands.as_slice()) else {
            return self.unknown(i);
        };
        let Some(space) = Self::space_named(space) else {
            return self.unknown(i);
        };
        let ty = if *ty == "u64" { Type::U64 } else { Type::U32 };
        self.check_type(dest, ty, false)?;
        let (d, bits) = self.dest(dest)?;
        let s = self.source(source, ty)?;
        Ok(Op::Cvta {
            d,
            s,
            space,
            to_space,
            bits,
        })
    }

    pub(super) fn isspacep(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let ([space], [dest, source]) = (i.modifiers.as_slice(), i.operands.as_slice()) else {
            return self.unknown(i);
        };
        let (Some(space), Some(p)) = (Self::space_named(space), self.pred_dest(dest)?) else {
            return self.unknown(i);
        };
        let is_narrow =
            matches!(self.named(source), Some(Name::Reg(_, of)) if of.bytes() == Some(4));
        let ty = if is_narrow { Type::U32 } else { Type::U64 };
        let s = self.source(source, ty)?;
        Ok(Op::IsSpace { p, s, space })
    }

    /// `cp.async`, and what only begins so.
    pub(super) fn copy(&mut self, i: &Instruction<'a>) -> Result<Op> {
        match i.modifiers.as_slice() {
            ["async", "commit_group"] if i.operands.is_empty() => Ok(Op::AsyncCommit),
            ["async", "wait_all"] if i.operands.is_empty() => Ok(Op::AsyncWaitAll),
            ["async", "wait_group"] => match i.operands.as_slice() {
                [Operand::Immediate(crate::ptx::Immediate::Int { bits, .. })] => {
                    Ok(Op::AsyncWait(u32::try_from(*bits).unwrap_or(u32::MAX)))
                }
                _ => self.error("expected a number of groups after cp.async.wait_group"),
            },
            [
                "async",
                "ca" | "cg",
                "shared" | "shared::cta",
                "global",
                hints @ ..,
            ] => {
                let policy = hints.contains(&"L2::cache_hint");
                if !hints.iter().all(|hint| hint.starts_with("L2::")) {
                    return self.unknown(i);
                }
                self.async_copy(i, policy)
            }
            ["async", "mbarrier", "arrive", ..] => self.mbarrier(i),
            ["async", "bulk", names @ ..] => self.bulk(i, names, false),
            ["reduce", "async", "bulk", names @ ..] => self.bulk(i, names, true),
            _ => self.unknown(i),
        }
    }

    fn async_copy(&mut self, i: &Instruction<'a>, policy: bool) -> Result<Op> {
        let (dst, src, size, mut rest) = match i.operands.as_slice() {
            [dst, src, size, rest @ ..] => (dst, src, size, rest),
            _ => return self.error("expected a destination, a source and a size after cp.async"),
        };
        if policy && let [others @ .., _] = rest {
            rest = others;
        }
        let bytes = match size {
            Operand::Immediate(crate::ptx::Immediate::Int { bits, .. }) => *bits,
            _ => 0,
        };
        let cg = i.modifiers.contains(&"cg");
        if !(matches!(bytes, 4 | 8 | 16) && (!cg || bytes == 16)) {
            return self.error(format!(
                "expected a size of {} bytes after cp.async, found {bytes}",
                if cg { "16" } else { "4, 8 or 16" }
            ));
        }
        let (dst_base, dst_offset, _) = self.address(dst)?;
        let (src_base, src_offset, _) = self.address(src)?;
        let mut copy = AsyncCopy {
            dst: (dst_base, dst_offset),
            src: (src_base, src_offset),
            bytes: bytes as u32,
            source_bytes: None,
            ignore_source: None,
        };
        match rest {
            [] => {}
            [operand] if self.is_predicate(operand) => {
                copy.ignore_source = Some(self.pred_source(operand)?);
            }
            [Operand::Immediate(crate::ptx::Immediate::Int { bits: read, .. })]
                if *read > bytes =>
            {
                return self.error(format!(
                    "expected at most {bytes} bytes that cp.async reads, found {read}"
                ));
            }
            [operand] => copy.source_bytes = Some(self.source(operand, Type::U32)?),
            _ => return self.error("expected at most a size or a predicate after cp.async's size"),
        }
        self.note_shared(Space::Shared, copy.bytes);
        Ok(Op::AsyncCopy(Box::new(copy)))
    }

    pub(super) fn matrix(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [first, second] = i.operands.as_slice() else {
            return self.error(format!("expected two operands after {}", i.opcode));
        };
        if i.opcode == "movmatrix" {
            if i.modifiers != ["sync", "aligned", "m8n8", "trans", "b16"] {
                return self.unknown(i);
            }
            let d = self.dest_of(first, Type::B32)?;
            let s = self.source(second, Type::B32)?;
            return Ok(Op::MoveMatrix { d, s });
        }
        let matrices = match Matrices::of(i.opcode, &i.modifiers) {
            Ok(matrices) => matrices,
            Err(error) => return self.error(error.to_string()),
        };
        self.note_shared(Space::Shared, 16);
        if i.opcode == "ldmatrix" {
            let regs = self.dests(first, matrices.count, Type::B32)?;
            let (base, offset, _) = self.address(second)?;
            Ok(Op::LoadMatrix {
                matrices,
                regs,
                base,
                offset,
            })
        } else {
            let (base, offset, _) = self.address(first)?;
            let regs = self.sources(second, matrices.count, Type::B32)?;
            Ok(Op::StoreMatrix {
                matrices,
                regs,
                base,
                offset,
            })
        }
    }
}

/// The scope that a modifier names.
pub(super) fn scope_named(name: &str) -> Scope {
    match name {
        "cta" => Scope::Block,
        "cluster" => Scope::Cluster,
        _ => Scope::Device,
    }
}
