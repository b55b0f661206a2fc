//! Tensor maps that kernels make: `tensormap.replace`, `tensormap.cp_fenceproxy` and `fence.proxy.tensormap` (PTX ISA, "tensormap.replace",
//! "tensormap.cp_fenceproxy", "membar, fence").

use super::super::program::{At, MapOp, Op, Reg, Scope, Space};
use super::{Decoder, Result};
use crate::ptx::{Immediate, Instruction, Operand, Type};
use crate::tensor_map::{MapField, MapSwizzle, OobFill, TENSOR_MAP_BYTES};

/// The driver's numbers of element types by those of `tensormap.replace`, which has f32 with zeros for subnormal numbers before f64 and bf16.
const ELEMENTS: [u32; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12];

impl<'a> Decoder<'_, 'a> {
    /// Everything that begins with `tensormap`.
    pub(super) fn tensor_map(&mut self, i: &Instruction<'a>) -> Result<Op> {
        match i.modifiers.as_slice() {
            [
                "cp_fenceproxy",
                "global",
                "shared::cta",
                "tensormap::generic",
                "release",
                scope,
                "sync",
                "aligned",
            ] => {
                let Some(scope) = scope_of(scope) else {
                    return self.unknown(i);
                };
                let [to, from, size] = i.operands.as_slice() else {
                    return self.error(
                        "expected a destination, a source and 128 after tensormap.cp_fenceproxy",
                    );
                };
                self.map_bytes(size)?;
                let to = self.map_at(to, Space::Global)?;
                let from = self.map_at(from, Space::Shared)?;
                Ok(Op::Map(Box::new(MapOp::Copy { to, from, scope })))
            }
            ["replace", "tile", field, rest @ ..] => self.replace(i, field, rest),
            _ => self.unknown(i),
        }
    }

    /// `fence.proxy.tensormap::generic`; `names` stand behind that.
    pub(super) fn map_fence(&mut self, i: &Instruction<'a>, names: &[&'a str]) -> Result<Op> {
        let op = match (names, i.operands.as_slice()) {
            (["release", scope], []) => scope_of(scope).map(MapOp::Release),
            (["acquire", scope], [map, size]) => {
                self.map_bytes(size)?;
                let map = self.map_at(map, Space::Generic)?;
                scope_of(scope).map(|scope| MapOp::Acquire(map, scope))
            }
            (["acquire", _], _) => {
                return self.error(
                    "expected a tensor map and 128 after fence.proxy.tensormap::generic.acquire",
                );
            }
            _ => None,
        };
        match op {
            Some(op) => Ok(Op::Map(Box::new(op))),
            None => self.unknown(i),
        }
    }

    fn replace(&mut self, i: &Instruction<'a>, name: &str, rest: &[&'a str]) -> Result<Op> {
        let (space, bits) = match rest {
            ["b1024", bits] => (Space::Generic, *bits),
            ["global", "b1024", bits] => (Space::Global, *bits),
            ["shared::cta", "b1024", bits] => (Space::Shared, *bits),
            _ => return self.unknown(i),
        };
        let (map, mode, value) = match i.operands.as_slice() {
            [map, value] => (map, None, value),
            [map, mode, value] => (map, Some(self.number(mode)?), value),
            _ => return self.error("expected a tensor map and a value after tensormap.replace"),
        };
        let of_mode = |field: fn(u8) -> MapField| {
            // Numbers of modes beyond the last one are refused below.
            Some(field(u8::try_from(mode?).unwrap_or(u8::MAX)))
        };
        let found = match name {
            "global_address" => Some(MapField::Address),
            "rank" => Some(MapField::Rank),
            "box_dim" => of_mode(MapField::Box),
            "global_dim" => of_mode(MapField::Size),
            "global_stride" => of_mode(MapField::Stride),
            "element_stride" => of_mode(MapField::ElementStride),
            "elemtype" | "swizzle_mode" | "fill_mode" | "interleave_layout" => {
                return self.replace_by_name(map, space, name, value);
            }
            "swizzle_atomicity" => {
                return self.error("expected a field that maps of sm_90a have, found .swizzle_atomicity, which sm_100a has");
            }
            _ => return self.unknown(i),
        };
        let Some(field) = found else {
            return self.error(format!(
                "expected the number of a mode before the value of .{name}"
            ));
        };
        if bits != format!("b{}", field.bits()) {
            return self.error(format!(
                "expected .b{} of .{name}, found .{bits}",
                field.bits()
            ));
        }
        match (field.modes(), mode) {
            (Some(modes), Some(mode)) if mode >= modes as u64 => {
                return self.error(format!(
                    "expected a mode of 0 to {} of .{name}, found {mode}",
                    modes - 1
                ));
            }
            (None, Some(_)) => {
                return self.error(format!(
                    "expected no number of a mode before the value of .{name}"
                ));
            }
            _ => {}
        }
        let ty = if field.bits() == 64 {
            Type::B64
        } else {
            Type::B32
        };
        let value = self.source(value, ty)?;
        self.replaces(map, space, field, value)
    }

    /// Fields whose value is a number for a name, which the instruction holds.
    fn replace_by_name(
        &mut self,
        map: &Operand<'a>,
        space: Space,
        name: &str,
        value: &Operand<'a>,
    ) -> Result<Op> {
        let number = self.number(value)?;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let (field, found) = match name {
            "elemtype" => (MapField::Element, ELEMENTS.get(at).copied()),
            "swizzle_mode" => {
                let swizzle = MapSwizzle::ALL.get(at).map(|swizzle| swizzle.driver());
                (MapField::Swizzle, swizzle)
            }
            "fill_mode" => {
                let fills = [OobFill::Zero, OobFill::Nan];
                (MapField::Fill, fills.get(at).map(|fill| fill.driver()))
            }
            // Maps without interleaving are all that is emulated, and there is no field for it.
            _ if at == 0 => return Ok(Op::Hint),
            _ => {
                return self.error(format!(
                    "the emulator copies tensors without interleaving, .interleave_layout 0, found {number}; describe the tensor by one more mode"
                ));
            }
        };
        let Some(found) = found else {
            return self.error(format!(
                "the emulator knows no {number} of .{name}; sm_90a has types 0 to {}, swizzles 0 to {} and fills 0 and 1",
                ELEMENTS.len() - 1,
                MapSwizzle::ALL.len() - 1
            ));
        };
        let value = self.initial(super::Initial::Value(u64::from(found)));
        self.replaces(map, space, field, value)
    }

    fn replaces(
        &mut self,
        map: &Operand<'a>,
        space: Space,
        field: MapField,
        value: Reg,
    ) -> Result<Op> {
        let at = self.map_at(map, space)?;
        Ok(Op::Map(Box::new(MapOp::Replace { at, field, value })))
    }

    /// The address of a map.
    fn map_at(&mut self, operand: &Operand<'a>, space: Space) -> Result<At> {
        self.note_shared(space, 16);
        self.at(operand, space)
    }

    /// The size that instructions on maps repeat.
    fn map_bytes(&self, operand: &Operand<'a>) -> Result<()> {
        match self.number(operand)? {
            found if found == TENSOR_MAP_BYTES as u64 => Ok(()),
            found => self.error(format!(
                "expected {TENSOR_MAP_BYTES} bytes, as a tensor map has, found {found}"
            )),
        }
    }

    fn number(&self, operand: &Operand<'a>) -> Result<u64> {
        match operand {
            Operand::Immediate(Immediate::Int { bits, .. }) => Ok(*bits),
            _ => self.error("expected a number"),
        }
    }
}

fn scope_of(name: &str) -> Option<Scope> {
    Some(match name {
        "cta" => Scope::Block,
        "cluster" => Scope::Cluster,
        "gpu" | "sys" => Scope::Device,
        _ => return None,
    })
}
