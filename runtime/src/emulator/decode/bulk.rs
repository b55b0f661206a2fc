//! `cp.async.bulk` and its kin (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy" and "Tensor copy").

use super::super::program::{At, Bulk, BulkKind, Op, Space};
use super::{Decoder, Result};
use crate::ptx::{Address, Immediate, Instruction, Operand, Type};

const REDUCTIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];
const TYPES: [&str; 9] = [
    "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "b32",
];

/// The properties that the modifiers of a bulk copy give.
#[derive(Default)]
struct Names<'a> {
    prefetch: bool,
    rank: Option<usize>,
    /// `im2col` or `im2col_no_offs`.
    im2col: Option<&'a str>,
    spaces: Vec<Space>,
    barrier: bool,
    group: bool,
    multicast: bool,
    hint: bool,
    op: Option<&'static str>,
    ty: Option<&'static str>,
}

impl<'a> Decoder<'_, 'a> {
    /// Everything that begins with `cp.async.bulk` or `cp.reduce.async.bulk`; `names` stand behind that.
    pub(super) fn bulk(
        &mut self,
        i: &Instruction<'a>,
        names: &[&'a str],
        reduces: bool,
    ) -> Result<Op> {
        match (names, i.operands.as_slice()) {
            (["commit_group"], []) => return Ok(Op::BulkCommit),
            (["wait_group", rest @ ..], [Operand::Immediate(Immediate::Int { bits, .. })])
                if matches!(rest, [] | ["read"]) =>
            {
                return Ok(Op::BulkWait {
                    newest: u32::try_from(*bits).unwrap_or(u32::MAX),
                    read: !rest.is_empty(),
                });
            }
            (["wait_group", ..], _) => {
                return self.error("expected a number of groups after cp.async.bulk.wait_group");
            }
            _ => {}
        }
        let names = self.bulk_names(i, names)?;
        let kind = match (names.spaces.as_slice(), names.op) {
            ([Space::Shared, Space::Global], None) if names.barrier && !reduces => BulkKind::Load,
            ([Space::Global, Space::Shared], None) if names.group && !reduces => BulkKind::Store,
            ([Space::Global, Space::Shared], Some(op)) if names.group && reduces => {
                BulkKind::Reduce(op, names.ty)
            }
            ([Space::Global], None) if names.prefetch => BulkKind::Prefetch,
            ([Space::Shared, Space::Shared], None)
                if names.barrier && !reduces && names.rank.is_none() && !names.multicast =>
            {
                BulkKind::Between
            }
            _ => return self.unknown(i),
        };
        let offsets = match kind {
            BulkKind::Load | BulkKind::Prefetch => "im2col",
            _ => "im2col_no_offs",
        };
        match (names.im2col, names.rank) {
            (None, _) => {}
            (Some(_), None | Some(1 | 2)) => {
                return self.error(
                    "expected .tensor of .3d to .5d before .im2col: channels, pixels, and images",
                );
            }
            (Some(word), _) if word != offsets => {
                return self.error(format!(
                    "expected .{offsets}, as this instruction has it, found .{word}"
                ));
            }
            (Some(_), _) => {}
        }
        if matches!(kind, BulkKind::Reduce(_, None)) && names.rank.is_none() {
            return self
                .error("expected the type of the elements at the end of cp.reduce.async.bulk");
        }
        self.bulk_operands(i, &names, kind)
    }

    fn bulk_names(&self, i: &Instruction<'a>, words: &[&'a str]) -> Result<Names<'a>> {
        let mut names = Names::default();
        for &word in words {
            match word {
                "prefetch" => names.prefetch = true,
                "tensor" => names.rank = Some(0),
                "1d" | "2d" | "3d" | "4d" | "5d" if names.rank == Some(0) => {
                    names.rank = Some(usize::from(word.as_bytes()[0] - b'0'));
                }
                "shared::cta" | "shared::cluster" => names.spaces.push(Space::Shared),
                "global" => names.spaces.push(Space::Global),
                "tile" | "L2" | "noftz" => {}
                "mbarrier::complete_tx::bytes" => names.barrier = true,
                "bulk_group" => names.group = true,
                "multicast::cluster" => names.multicast = true,
                "L2::cache_hint" => names.hint = true,
                "im2col" | "im2col_no_offs" => names.im2col = Some(word),
                _ if word.starts_with("im2col") => {
                    return self.error(format!(
                        "the emulator copies tiles of tensors and columns of pixels, not .{word}, which sm_100 has; write .im2col, or describe the \
                         tensor by a tiled map"
                    ));
                }
                _ => {
                    let of = |list: &'static [&str]| list.iter().find(|name| **name == word);
                    match (of(&REDUCTIONS), of(&TYPES)) {
                        (Some(op), _) => names.op = Some(op),
                        (_, Some(ty)) => names.ty = Some(ty),
                        _ => return self.unknown(i),
                    }
                }
            }
        }
        if names.rank == Some(0) {
            return self.error("expected .1d to .5d after .tensor");
        }
        Ok(names)
    }

    fn bulk_operands(
        &mut self,
        i: &Instruction<'a>,
        names: &Names<'_>,
        kind: BulkKind,
    ) -> Result<Op> {
        let mut operands = i.operands.as_slice();
        if names.hint {
            // A cache policy, which changes no result.
            let [before @ .., _] = operands else {
                return self.error("expected a cache policy after .L2::cache_hint");
            };
            operands = before;
        }
        let mut mask = None;
        if names.multicast {
            let [before @ .., last] = operands else {
                return self.error("expected a mask of blocks after .multicast::cluster");
            };
            mask = Some(self.source(last, Type::U16)?);
            operands = before;
        }
        let mut offsets = names.im2col.map(|_| Vec::new());
        if names.im2col == Some("im2col") {
            let (Some(rank), [before @ .., Operand::Vector(last)]) = (names.rank, operands) else {
                return self.error(
                    "expected offsets of pixels in braces behind the other operands of .im2col",
                );
            };
            if last.len() + 2 != rank {
                return self.error(format!(
                    "expected {} offsets of pixels, two less than coordinates, found {}",
                    rank - 2,
                    last.len()
                ));
            }
            let last = last.iter().map(|offset| self.source(offset, Type::U16));
            offsets = Some(last.collect::<Result<_>>()?);
            operands = before;
        }
        let sized = names.rank.is_none();
        let (shared, global, size, barrier) = match (&kind, sized, operands) {
            (BulkKind::Load, false, [to, from, barrier]) => (Some(to), from, None, Some(barrier)),
            (BulkKind::Load | BulkKind::Between, true, [to, from, size, barrier]) => {
                (Some(to), from, Some(size), Some(barrier))
            }
            (BulkKind::Store | BulkKind::Reduce(..), false, [to, from]) => {
                (Some(from), to, None, None)
            }
            (BulkKind::Store | BulkKind::Reduce(..), true, [to, from, size]) => {
                (Some(from), to, Some(size), None)
            }
            (BulkKind::Prefetch, false, [from]) => (None, from, None, None),
            (BulkKind::Prefetch, true, [from, size]) => (None, from, Some(size), None),
            _ => {
                return self.error(format!(
                    "expected destination and source, {}{}after {}, found {} operands",
                    if sized { "a size, " } else { "" },
                    if names.barrier { "an mbarrier, " } else { "" },
                    self.origins.last().map_or(i.opcode, |origin| &origin.text),
                    i.operands.len()
                ));
            }
        };
        let shared = match shared {
            Some(shared) => {
                self.note_shared(Space::Shared, 16);
                Some(self.at(shared, Space::Shared)?)
            }
            None => None,
        };
        let barrier = match barrier {
            Some(barrier) => {
                self.note_shared(Space::Shared, 8);
                Some(self.at(barrier, Space::Shared)?)
            }
            None => None,
        };
        let (global, coordinates) = match names.rank {
            Some(rank) => self.map_and_coordinates(global, rank)?,
            None if kind == BulkKind::Between => (self.at(global, Space::Shared)?, None),
            None => (self.at(global, Space::Global)?, None),
        };
        let bytes = match size {
            Some(size) => Some(self.source(size, Type::U32)?),
            None => None,
        };
        Ok(Op::Bulk(Box::new(Bulk {
            kind,
            shared,
            global,
            coordinates,
            offsets,
            bytes,
            barrier,
            mask,
        })))
    }

    /// A plain address in a space.
    pub(super) fn at(&mut self, operand: &Operand<'a>, space: Space) -> Result<At> {
        let (base, offset, _) = self.address(operand)?;
        Ok(At {
            space,
            base,
            offset,
        })
    }

    /// `[map, {x, y}]`
    fn map_and_coordinates(
        &mut self,
        operand: &Operand<'a>,
        rank: usize,
    ) -> Result<(At, Option<Vec<super::Reg>>)> {
        let Operand::Address(Address { base, offset, more }) = operand else {
            return self.error("expected a tensor map and coordinates in brackets");
        };
        let [Operand::Vector(coordinates)] = more.as_slice() else {
            return self.error("expected coordinates in braces after the tensor map");
        };
        if coordinates.len() != rank {
            return self.error(format!(
                "expected {rank} coordinates, found {}",
                coordinates.len()
            ));
        }
        let map = Operand::Address(Address {
            base: *base,
            offset: *offset,
            more: Vec::new(),
        });
        let map = self.at(&map, Space::Generic)?;
        let coordinates = coordinates.iter().map(|c| self.source(c, Type::S32));
        Ok((map, Some(coordinates.collect::<Result<_>>()?)))
    }
}
