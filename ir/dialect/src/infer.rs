//! Result types from operand types.
//!
//! The same answers verify what was declared: MLIR compares the two.

use crate::{
    build::context_from_raw,
    tensor,
    types::{self, CuteType, MemRef},
};
use cute_layout::{IntTuple, Layout, Leaf, int};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, Type, TypeLike, Value, ValueLike},
};
use mlir_sys::*;

/// The result types of op `name`.
pub(crate) fn infer<'c>(
    name: &str,
    operands: &[MlirValue],
    attributes: MlirAttribute,
) -> Result<Vec<Type<'c>>, String> {
    let types: Vec<Type<'c>> = operands
        .iter()
        .map(|raw| unsafe { Type::from_raw(mlirValueGetType(*raw)) })
        .collect();
    let decoded: Vec<CuteType<'c>> = types
        .iter()
        .map(|ty| CuteType::of(*ty).ok_or_else(|| format!("expected a cute type, found {ty}")))
        .collect::<Result<_, _>>()?;
    let context: &'c Context = match types.first() {
        Some(ty) => unsafe { context_from_raw(mlirTypeGetContext(ty.to_raw())) },
        None => return Err("expected operands".to_owned()),
    };
    let tensors = |result: MemRef<'c>| {
        result
            .to_type(Location::unknown(context))
            .map(|ty| vec![ty])
            .ok_or_else(|| "has no valid result type".to_owned())
    };
    let operand_id = || integer_attribute(attributes, "operand_id");
    match (name, decoded.as_slice()) {
        ("cute.crd2idx", [CuteType::Coord(coord), CuteType::Layout(layout)]) => {
            Ok(vec![types::int_tuple_type(
                context,
                &crd2idx(coord, layout)?,
            )])
        }
        ("cute.crd2idx", [CuteType::Coord(coord), CuteType::Shape(shape)]) => {
            let layout = Layout::col_major(shape).map_err(|e| e.to_string())?;
            Ok(vec![types::int_tuple_type(
                context,
                &crd2idx(coord, &layout)?,
            )])
        }
        ("cute.get_scalars", [CuteType::IntTuple(tuple)]) => Ok(tuple
            .leaves()
            .iter()
            .map(|leaf| {
                let width = if let Leaf::Dynamic(dynamic) = leaf {
                    dynamic.width
                } else {
                    32
                };
                types::int_type(context, width)
            })
            .collect()),
        ("cute.slice", [CuteType::MemRef(source), CuteType::Coord(coord)]) => {
            tensors(tensor::slice(source, coord)?.result)
        }
        (
            "cute.local_tile",
            [
                CuteType::MemRef(source),
                CuteType::Tile(tile),
                CuteType::Coord(coord),
            ],
        ) => tensors(tensor::local_tile(source, tile, coord)?.result),
        ("cute.tiled.copy.partition_S", [copy, CuteType::MemRef(source), CuteType::Coord(c)]) => {
            one_thread(c)?;
            tensors(tensor::partition_copy(copy, source, false)?.result)
        }
        ("cute.tiled.copy.partition_D", [copy, CuteType::MemRef(source), CuteType::Coord(c)]) => {
            one_thread(c)?;
            tensors(tensor::partition_copy(copy, source, true)?.result)
        }
        ("cute.tiled.copy.retile", [copy, CuteType::MemRef(fragment)]) => {
            tensors(tensor::retile(copy, fragment)?)
        }
        ("cute.tiled.mma.partition", [mma, CuteType::MemRef(source), CuteType::Coord(c)]) => {
            one_thread(c)?;
            tensors(tensor::partition_mma(mma, source, operand_id()?)?.result)
        }
        ("cute.tiled.mma.partition_shape", [mma, CuteType::Shape(shape)]) => {
            let shape = tensor::partition_shape(mma, shape, operand_id()?)?;
            Ok(vec![types::shape_type(context, &shape)])
        }
        ("cute.mma.make_fragment", [mma, CuteType::MemRef(source)]) => {
            let fragment = tensor::fragment(mma, &source.layout, operand_id()?)?;
            if operand_id()? != 2 && source.element != fragment.element {
                return Err(format!(
                    "expected a tensor of {}, as the atom multiplies, found {}",
                    fragment.element, source.element
                ));
            }
            tensors(fragment)
        }
        ("cute.mma.make_fragment", [mma, CuteType::Shape(shape)]) => {
            let part = Layout::col_major(shape).map_err(|e| e.to_string())?;
            tensors(tensor::fragment(mma, &part, operand_id()?)?)
        }
        _ => Err(format!(
            "does not take operands of the types ({})",
            types
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        )),
    }
}

fn one_thread(coord: &IntTuple) -> Result<(), String> {
    match coord {
        IntTuple::Leaf(Leaf::Static(_) | Leaf::Dynamic(_)) => Ok(()),
        _ => Err(format!(
            "expected a thread index as the coordinate, found {coord}"
        )),
    }
}

fn crd2idx(coord: &IntTuple, layout: &Layout) -> Result<IntTuple, String> {
    if coord.has_underscore() {
        return Err(format!("expected a coordinate without _, found {coord}"));
    }
    if coord.is_static() && layout.is_static() {
        return layout.crd2idx(coord).map(int).map_err(|e| e.to_string());
    }
    if coord.is_tuple() && !coord.weakly_congruent(layout.shape()) {
        return Err(format!(
            "expected a coordinate into {layout}, found {coord}"
        ));
    }
    Ok(IntTuple::dynamic())
}

fn integer_attribute(attributes: MlirAttribute, name: &str) -> Result<i64, String> {
    unsafe {
        let raw = mlirDictionaryAttrGetElementByName(attributes, crate::ffi::string_ref(name));
        let attribute = Attribute::from_option_raw(raw)
            .ok_or_else(|| format!("requires the attribute '{name}'"))?;
        Ok(mlirIntegerAttrGetValueInt(attribute.to_raw()))
    }
}

/// The type of a value as a tensor.
pub fn memref_of<'c>(value: Value<'c, '_>) -> Option<MemRef<'c>> {
    match CuteType::of(value.r#type()) {
        Some(CuteType::MemRef(memref)) => Some(memref),
        _ => None,
    }
}
