//! Result types of the ops on tensors, atoms and fragments: what [`crate::tensor`] says.

use crate::mlir::*;
use crate::{
    algebra, hopper,
    mlir::{Op, attribute_of, entry_of, name_of},
    ops::cute,
    tensor,
    types::{self, CuteType, MemRef},
    view::{self, View},
};
use cute_layout::{IntTuple, Layout, Leaf, with_divisors};
use melior::{
    Context,
    ir::{Attribute, Location, Type},
};

/// The result types of op `name`, or nothing where it is no op on tensors of these operands.
pub(super) fn infer<'c>(
    name: &str,
    context: &'c Context,
    operands: &[CuteType<'c>],
    attributes: Attribute<'c>,
) -> Option<Result<Vec<Type<'c>>, String>> {
    let operand_id = || integer_attribute(attributes, "operand_id");
    if matches!(
        name,
        cute::TILED_COPY_PARTITION_S | cute::TILED_COPY_PARTITION_D | cute::TILED_MMA_PARTITION
    ) && operands.first()?.tensor_layout().is_some()
    {
        return Some(Err(
            "expected a tiled copy or MMA, the tensor that it divides and the coordinate of a thread, found a tensor first; give them \
             in this order"
                .to_owned(),
        ));
    }
    if let Some(viewed) = find_view(name, operands, &|name| entry_of(attributes, name)) {
        return Some(viewed.and_then(|viewed| tensor_type(context, operands, viewed)));
    }
    if matches!(name, cute::SIZE | cute::GET_SHAPE)
        && let [tensor] = operands
        && let Some(layout) = tensor.tensor_layout()
    {
        let value = cute_layout::ops::Value::Layout(layout.clone());
        return Some(algebra::infer(name, context, &[value], attributes));
    }
    let tensors = |result: Result<MemRef<'c>, String>| memref_type(context, result?);
    let one = |ty: Type<'c>| Ok(vec![ty]);
    Some(match (name, operands) {
        (cute::GET_ITER, [CuteType::MemRef(source)]) => source
            .to_ptr_type(Location::unknown(context))
            .map_err(|_| invalid())
            .and_then(one),
        (cute::GET_ITER, [CuteType::CoordTensor { start, .. }]) => {
            one(types::arith_tuple_iter_type(context, start))
        }
        (cute::GET_LAYOUT, [CuteType::MemRef(memref)]) => one(types::composed_type(
            context,
            memref.inner.as_ref(),
            &memref.layout,
        )),
        (cute::GET_LAYOUT, [CuteType::CoordTensor { layout, .. }]) => {
            one(types::layout_type(context, layout))
        }
        (cute::MAKE_ARITH_TUPLE_ITER, [CuteType::IntTuple(start)]) => {
            one(types::arith_tuple_iter_type(context, start))
        }
        (cute::DEREF_ARITH_TUPLE_ITER, [CuteType::ArithTupleIter(start)]) => {
            one(types::int_tuple_type(context, start))
        }
        (cute::ADD_OFFSET, [CuteType::Ptr(pointer), CuteType::IntTuple(offset)]) => {
            tensor::add_offset(pointer, offset)
                .and_then(|p| {
                    p.to_ptr_type(Location::unknown(context))
                        .map_err(|_| invalid())
                })
                .and_then(one)
        }
        (cute::ADD_OFFSET, [CuteType::ArithTupleIter(start), CuteType::IntTuple(offset)]) => start
            .add(offset)
            .map_err(|e| e.to_string())
            .and_then(|sum| one(types::arith_tuple_iter_type(context, &sum))),
        (cute::MEMREF_LOAD_VEC, [CuteType::MemRef(source)]) => source
            .layout
            .size()
            .map_err(|e| e.to_string())
            .and_then(|size| match u64::try_from(size) {
                Ok(size) if size > 0 => one(Type::vector(&[size], source.element)),
                _ => Err(format!(
                    "expected at least one element, found {}",
                    source.layout
                )),
            }),
        (cute::TILED_COPY_RETILE, [copy, CuteType::MemRef(fragment)]) => {
            tensors(tensor::retile(copy, fragment))
        }
        (cute::TILED_MMA_PARTITION_SHAPE, [mma, CuteType::Shape(shape)]) => operand_id()
            .and_then(|id| tensor::partition_shape(mma, shape, id))
            .map(|shape| vec![types::shape_type(context, &shape)]),
        (cute::MAKE_FRAGMENT_LIKE, [CuteType::MemRef(source)]) => {
            let element = element_attribute(attributes).unwrap_or(source.element);
            tensors(tensor::fragment_like(&source.layout, element))
        }
        (cute::MAKE_FRAGMENT_LIKE, [CuteType::CoordTensor { layout, .. }]) => {
            let element = element_attribute(attributes).ok_or_else(|| {
                "expected the type of elements of a fragment that is like coordinates: write it behind them, as in ' of i1'".to_owned()
            });
            tensors(element.and_then(|element| tensor::fragment_like(layout, element)))
        }
        (cute::MMA_MAKE_FRAGMENT, [mma, CuteType::MemRef(source)]) => {
            tensors(operand_id().and_then(|id| {
                match hopper::descriptors(context, mma, source, id)? {
                    Some(descriptors) => Ok(descriptors),
                    None => fragment_of(mma, source, id),
                }
            }))
        }
        (cute::MMA_MAKE_FRAGMENT, [mma, CuteType::Shape(shape)]) => {
            tensors(operand_id().and_then(|id| {
                let part = Layout::col_major(shape).map_err(|e| e.to_string())?;
                tensor::fragment(mma, &part, id)
            }))
        }
        _ => return None,
    })
}

pub(super) fn invalid() -> String {
    "has no valid result type".to_owned()
}

pub(super) fn memref_type<'c>(
    context: &'c Context,
    memref: MemRef<'c>,
) -> Result<Vec<Type<'c>>, String> {
    let ty = memref.to_type(Location::unknown(context));
    ty.map(|ty| vec![ty]).map_err(|_| invalid())
}

/// A view that an op makes: of which of its operands, and which gives the coordinate that it starts at.
pub struct Viewed {
    /// The view.
    pub view: View,
    /// The place of the tensor among the operands.
    pub tensor: usize,
    /// The place of the coordinate among the operands; none where the view has no coordinate.
    pub coordinate: Option<usize>,
}

/// Finds the view of a tensor that op `name` makes, if any.
fn find_view<'c>(
    name: &str,
    operands: &[CuteType<'c>],
    find: &dyn Fn(&str) -> Option<Attribute<'c>>,
) -> Option<Result<Viewed, String>> {
    let tensor = operands
        .iter()
        .position(|operand| operand.tensor_layout().is_some())?;
    let coordinate = operands
        .iter()
        .position(|operand| matches!(operand, CuteType::Coord(_)));
    let others: Vec<CuteType<'c>> = (operands.iter().enumerate())
        .filter(|(i, _)| *i != tensor)
        .map(|(_, operand)| operand.clone())
        .collect();
    let proj = find("proj").map(|proj| {
        crate::types::coord_of_attribute(proj)
            .ok_or_else(|| "expected proj = #cute.coord<...>".to_owned())
    });
    let proj = match proj.transpose() {
        Ok(proj) => proj,
        Err(error) => return Some(Err(error)),
    };
    let view = with_divisors(|| {
        view::apply(
            name,
            operands.get(tensor)?.tensor_layout()?,
            &others,
            &algebra::attrs_of(find),
            proj.as_ref(),
            find("operand_id").and_then(integer_value),
        )
    })?;
    Some(view.map(|view| Viewed {
        view,
        tensor,
        coordinate,
    }))
}

impl Viewed {
    /// The dynamic leaves of the coordinate among an op's operands.
    pub fn leaves(&self, operands: &[CuteType<'_>]) -> Vec<Leaf> {
        match self.coordinate.and_then(|at| operands.get(at)) {
            Some(CuteType::Coord(coord)) => dynamic_leaves(coord),
            _ => Vec::new(),
        }
    }
}

/// The dynamic leaves of a coordinate, as they are.
pub fn dynamic_leaves(coord: &IntTuple) -> Vec<Leaf> {
    coord
        .leaves()
        .into_iter()
        .filter(|leaf| matches!(leaf, Leaf::Dynamic(_)))
        .cloned()
        .collect()
}

/// The type of a view of one of the operands.
fn tensor_type<'c>(
    context: &'c Context,
    operands: &[CuteType<'c>],
    viewed: Viewed,
) -> Result<Vec<Type<'c>>, String> {
    let indices = &viewed.leaves(operands);
    let Viewed { view, tensor, .. } = viewed;
    let tensor = operands.get(tensor).ok_or("expected a tensor")?;
    match tensor {
        CuteType::CoordTensor { start, .. } => {
            let start = with_divisors(|| view.start(start, indices))?;
            types::coord_tensor_type(Location::unknown(context), &start, &view.layout)
                .map(|ty| vec![ty])
                .map_err(|_| invalid())
        }
        CuteType::MemRef(source) => {
            memref_type(context, with_divisors(|| view.of(source, indices))?)
        }
        _ => Err("expected a tensor".to_owned()),
    }
}

/// Registers for a partitioned tensor.
fn fragment_of<'c>(
    mma: &CuteType<'c>,
    source: &MemRef<'c>,
    operand: i64,
) -> Result<MemRef<'c>, String> {
    let fragment = tensor::fragment(mma, &source.layout, operand)?;
    if operand != 2 && !types::same_bits(source.element, fragment.element) {
        return Err(format!(
            "expected a tensor of {}, as the atom multiplies, found {}",
            fragment.element, source.element
        ));
    }
    Ok(fragment)
}

/// The type of elements that an op says beside its operands.
pub(super) fn element_attribute<'c>(attributes: Attribute<'c>) -> Option<Type<'c>> {
    entry_of(attributes, "element").and_then(type_value)
}

pub(super) fn integer_attribute(attributes: Attribute, name: &str) -> Result<i64, String> {
    let attribute =
        entry_of(attributes, name).ok_or_else(|| format!("requires the attribute '{name}'"))?;
    integer_value(attribute)
        .ok_or_else(|| format!("expected {name} = an integer, found {attribute}"))
}

/// The view that `op` makes of a tensor, for these values of its operands instead of their types' own.
///
/// Dynamic leaves that carry how they are computed give a layout whose leaves do.
pub fn traced_view<'c>(op: Op<'c>, operands: &[CuteType<'c>]) -> Option<Result<Viewed, String>> {
    find_view(name_of(op), operands, &|name| attribute_of(op, name))
}
