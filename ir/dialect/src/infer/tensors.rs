//! Result types of the ops on tensors, atoms and fragments: what [`crate::tensor`] says.

use crate::{
    build::entry_of,
    tensor,
    types::{self, CuteType, MemRef},
};
use cute_layout::{IntTuple, Layout, Leaf};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, Type},
};
use mlir_sys::mlirIntegerAttrGetValueInt;

/// The result types of op `name`, or nothing where it is no op on tensors of these operands.
pub(super) fn infer<'c>(
    name: &str,
    context: &'c Context,
    operands: &[CuteType<'c>],
    attributes: Attribute<'c>,
) -> Option<Result<Vec<Type<'c>>, String>> {
    let tensors = |result: Result<MemRef<'c>, String>| {
        result?
            .to_type(Location::unknown(context))
            .map(|ty| vec![ty])
            .ok_or_else(|| "has no valid result type".to_owned())
    };
    let operand_id = || integer_attribute(attributes, "operand_id");
    Some(match (name, operands) {
        ("cute.slice", [CuteType::MemRef(source), CuteType::Coord(coord)]) => {
            tensors(tensor::slice(source, coord).map(|view| view.result))
        }
        (
            "cute.local_tile",
            [
                CuteType::MemRef(source),
                CuteType::Tile(tile),
                CuteType::Coord(coord),
            ],
        ) => tensors(tensor::local_tile(source, tile, coord).map(|view| view.result)),
        ("cute.tiled.copy.partition_S", [copy, CuteType::MemRef(source), CuteType::Coord(c)]) => {
            tensors(
                one_thread(c).and_then(|()| {
                    tensor::partition_copy(copy, source, false).map(|view| view.result)
                }),
            )
        }
        ("cute.tiled.copy.partition_D", [copy, CuteType::MemRef(source), CuteType::Coord(c)]) => {
            tensors(
                one_thread(c).and_then(|()| {
                    tensor::partition_copy(copy, source, true).map(|view| view.result)
                }),
            )
        }
        ("cute.tiled.copy.retile", [copy, CuteType::MemRef(fragment)]) => {
            tensors(tensor::retile(copy, fragment))
        }
        ("cute.tiled.mma.partition", [mma, CuteType::MemRef(source), CuteType::Coord(c)]) => {
            tensors(one_thread(c).and_then(|()| {
                tensor::partition_mma(mma, source, operand_id()?).map(|view| view.result)
            }))
        }
        ("cute.tiled.mma.partition_shape", [mma, CuteType::Shape(shape)]) => operand_id()
            .and_then(|id| tensor::partition_shape(mma, shape, id))
            .map(|shape| vec![types::shape_type(context, &shape)]),
        ("cute.mma.make_fragment", [mma, CuteType::MemRef(source)]) => {
            tensors(operand_id().and_then(|id| fragment_of(mma, source, id)))
        }
        ("cute.mma.make_fragment", [mma, CuteType::Shape(shape)]) => {
            tensors(operand_id().and_then(|id| {
                let part = Layout::col_major(shape).map_err(|e| e.to_string())?;
                tensor::fragment(mma, &part, id)
            }))
        }
        _ => return None,
    })
}

/// Registers for a partitioned tensor.
fn fragment_of<'c>(
    mma: &CuteType<'c>,
    source: &MemRef<'c>,
    operand: i64,
) -> Result<MemRef<'c>, String> {
    let fragment = tensor::fragment(mma, &source.layout, operand)?;
    if operand != 2 && source.element != fragment.element {
        return Err(format!(
            "expected a tensor of {}, as the atom multiplies, found {}",
            fragment.element, source.element
        ));
    }
    Ok(fragment)
}

fn one_thread(coord: &IntTuple) -> Result<(), String> {
    match coord {
        IntTuple::Leaf(Leaf::Static(_) | Leaf::Dynamic(_)) => Ok(()),
        _ => Err(format!(
            "expected a thread index as the coordinate, found {coord}"
        )),
    }
}

fn integer_attribute(attributes: Attribute, name: &str) -> Result<i64, String> {
    let attribute =
        entry_of(attributes, name).ok_or_else(|| format!("requires the attribute '{name}'"))?;
    Ok(unsafe { mlirIntegerAttrGetValueInt(attribute.to_raw()) })
}
