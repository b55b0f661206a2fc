//! Result types that may be left out of an op's text though the op can have others: what its operands say is what is meant
//! where nothing is written.

use crate::mlir::*;
use crate::{
    algorithm,
    args::field_named,
    hopper,
    infer::tensors::{element_attribute, integer_attribute, memref_type},
    ops::{cute, cute_nvgpu},
    tensor,
    types::{self, CuteType, MemRef, int_width},
    verify::address_width,
    view,
};
use cute_layout::{Inner, IntTuple, Kind, Layout, ops::Value};
use melior::{
    Context,
    ir::{Attribute, Location, Type},
};

/// Ops whose result is of a type that nothing else says.
const WRITTEN: &[&str] = &[
    cute::MAKE_ATOM,
    cute::MAKE_TILED_COPY,
    cute::MAKE_TILED_MMA,
    cute::MAKE_TILE,
    cute::MEMREF_ALLOCA,
    cute::RECAST,
    cute::RECAST_ITER,
    cute::CONVERT,
    cute::ASSUME,
    cute::DEREFINE,
    cute::INTTOPTR,
    cute::WORKSPACE,
];

/// Ops whose results are of types that no operand changes, or of the type of one, whatever that is.
const FIXED: &[&str] = &[
    cute::PARAM,
    cute::REDUCE,
    cute::ALL_REDUCE,
    cute_nvgpu::ATOM_SET_VALUE,
    cute_nvgpu::ARCH_MAKE_WARP_UNIFORM,
    cute::ELEM_LESS,
    cute::EQUAL,
    cute_nvgpu::MBARRIER_TRY_WAIT,
    cute::PIPELINE_PRODUCER_ACQUIRE,
    cute::PIPELINE_CONSUMER_WAIT,
    cute::PIPELINE_PRODUCER_COMMIT,
    cute::PIPELINE_CONSUMER_RELEASE,
    cute_nvgpu::PIPELINE_PRODUCER_ACQUIRE,
    cute_nvgpu::PIPELINE_CONSUMER_WAIT,
];

/// The result types of an op of which no more can be said before a function is called: those of a call and of an op that is deferred, and those of operands whose types
/// each call gives. `results` is how many there are.
pub(super) fn open<'c>(
    name: &str,
    context: &'c Context,
    operands: &[Type<'c>],
    attributes: Attribute<'c>,
) -> Option<Vec<Type<'c>>> {
    let is_open = |ty: &Type<'c>| matches!(CuteType::of(*ty), Some(CuteType::Any));
    // What else a tuple says beside its operands would be forgotten: its type is known now, or never.
    let pattern = entry_of(attributes, "pattern").and_then(string_value);
    if pattern.is_some_and(|pattern| pattern.contains(|c| !matches!(c, '$' | ','))) {
        return None;
    }
    let element = element_attribute(attributes);
    let element_is_open = element.as_ref().is_some_and(is_open);
    if entry_of(attributes, "arguments").is_some()
        || (WRITTEN.contains(&name) && element.is_none())
        || FIXED.contains(&name)
        || (!matches!(name, cute::CALL | cute::DEFERRED)
            && !element_is_open
            && !operands.iter().any(is_open))
    {
        return None;
    }
    let results = entry_of(attributes, "results").and_then(integer_value);
    let results = results.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    Some(vec![types::any_type(context); results])
}

/// The result types of op `name`; nothing where it is no op of this kind.
pub(super) fn infer<'c>(
    name: &str,
    context: &'c Context,
    operands: &[Type<'c>],
    attributes: Attribute<'c>,
) -> Option<Result<Vec<Type<'c>>, String>> {
    let decoded = |index: usize| operands.get(index).and_then(|ty| CuteType::of(*ty));
    let first = || operands.first().copied().ok_or_else(no_operand);
    if entry_of(attributes, "arguments").is_some() {
        return Some(arguments(name, context, operands));
    }
    Some(match name {
        cute::MAKE_INT_TUPLE => tuple(context, operands, attributes, Kind::IntTuple),
        cute::MAKE_SHAPE => tuple(context, operands, attributes, Kind::Shape),
        cute::MAKE_STRIDE => tuple(context, operands, attributes, Kind::Stride),
        cute::MAKE_COORD => tuple(context, operands, attributes, Kind::Coord),
        cute::MAKE_VIEW => make_view(context, decoded(0), decoded(1)),
        cute::MAKE_IDENTITY_TENSOR => match decoded(0) {
            Some(CuteType::Shape(shape)) => identity_tensor(Location::unknown(context), &shape),
            _ => Err(expected("a !cute.shape", operands)),
        }
        .map(|ty| vec![ty]),
        cute::ELEM_LESS | cute::EQUAL | cute_nvgpu::MBARRIER_TRY_WAIT => {
            Ok(vec![types::int_type(context, 1)])
        }
        cute::MEMREF_LOAD => match (decoded(0), decoded(1)) {
            (Some(CuteType::MemRef(tensor)), Some(_)) => Ok(vec![tensor.element]),
            (Some(CuteType::CoordTensor { start, layout }), Some(CuteType::Coord(coord))) => {
                view::slice(&layout, &coord)
                    .and_then(|view| view.start(&start, &super::dynamic_leaves(&coord)))
                    .map(|element| vec![types::coord_type(context, &element)])
            }
            _ => Err(expected(
                "a tensor and a !cute.coord, as cute.make_coord makes it of integers",
                operands,
            )),
        },
        cute::CONVERT if let Some(element) = element_attribute(attributes) => match decoded(0) {
            Some(CuteType::MemRef(mut tensor)) => {
                tensor.element = element;
                tensor.align = tensor.element_bytes();
                memref_type(context, tensor)
            }
            _ => Err(expected("a tensor in registers", operands)),
        },
        cute::RECAST if let Some(element) = element_attribute(attributes) => match decoded(0) {
            Some(CuteType::MemRef(tensor)) => {
                view::recast(tensor, element).and_then(|tensor| memref_type(context, tensor))
            }
            _ => Err(expected("a tensor", operands)),
        },
        cute::RECAST | cute::CONVERT => Err(format!(
            "{}, or the type of its elements, as in ' to {}'",
            written(),
            match name {
                cute::RECAST => "i32",
                _ => "f16",
            }
        )),
        cute::MMA_MAKE_TILED_COPY => match (decoded(0), operands.get(1)) {
            (Some(mma), Some(atom)) => integer_attribute(attributes, "operand_id")
                .and_then(|operand| tensor::copy_of_mma(context, &mma, *atom, operand))
                .map(|ty| vec![ty]),
            _ => Err(expected("a tiled MMA and a copy atom", operands)),
        },
        // The initial value has the result's type.
        cute::REDUCE => match operands.get(1) {
            Some(init) => Ok(vec![*init]),
            None => Err(no_operand()),
        },
        cute::ALL_REDUCE | cute_nvgpu::ATOM_SET_VALUE | cute_nvgpu::ARCH_MAKE_WARP_UNIFORM => {
            first().map(|ty| vec![ty])
        }
        cute_nvgpu::ARCH_MAP_DSMEM => match decoded(0) {
            Some(CuteType::MemRef(tensor)) => {
                hopper::mapped(&tensor).and_then(|tensor| memref_type(context, tensor))
            }
            Some(CuteType::Ptr(pointer)) => hopper::mapped(&pointer).and_then(|pointer| {
                let ty = pointer.to_ptr_type(Location::unknown(context));
                ty.map(|ty| vec![ty]).map_err(|_| super::tensors::invalid())
            }),
            _ => Err(expected("a tensor or a pointer in smem", operands)),
        },
        cute_nvgpu::ATOM_MAKE_TMA_LOAD | cute_nvgpu::ATOM_MAKE_TMA_STORE => {
            match (decoded(0), decoded(1)) {
                (Some(CuteType::MemRef(tensor)), Some(layout)) => {
                    let stores = name == cute_nvgpu::ATOM_MAKE_TMA_STORE;
                    hopper::tma_types(Location::unknown(context), &tensor, &layout, stores)
                        .map(|(atom, coordinates)| vec![atom, coordinates])
                }
                _ => Err(expected("a tensor and a layout", operands)),
            }
        }
        cute_nvgpu::ATOM_MAKE_IM2COL_TMA_LOAD => match (decoded(0), decoded(1)) {
            (Some(CuteType::MemRef(tensor)), Some(layout)) => {
                hopper::Convolution::of_entries(attributes).and_then(|convolution| {
                    let location = Location::unknown(context);
                    hopper::im2col_types(location, &tensor, &layout, &convolution)
                        .map(|(atom, coordinates)| vec![atom, coordinates])
                })
            }
            _ => Err(expected("a tensor and a layout", operands)),
        },
        cute::PTRTOINT => match decoded(0) {
            Some(CuteType::Ptr(pointer)) => {
                address_width(pointer.space).map(|width| vec![types::int_type(context, width)])
            }
            _ => Err(expected("a pointer", operands)),
        },
        cute::SM_COUNT => Ok(vec![Type::index(context)]),
        cute_nvgpu::ATOM_GET_VALUE => first().and_then(|atom| {
            let field = entry_of(attributes, "field").map(|field| field.to_string());
            let field = field_named(atom, &field.unwrap_or_default())?;
            let ty = Type::parse(context, field.ty);
            ty.map(|ty| vec![ty]).ok_or_else(super::tensors::invalid)
        }),
        cute_nvgpu::WGMMA_FENCE | cute_nvgpu::WGMMA_WAIT_GROUP => {
            // Fragments are where they were; values have new ones.
            Ok((operands.iter().copied())
                .filter(|ty| vector_of(*ty).is_some())
                .collect())
        }
        cute::PARAM
            if entry_of(attributes, "value")
                .and_then(string_value)
                .is_some_and(|text| types::comparison(text).is_some()) =>
        {
            Ok(vec![types::int_type(context, 1)])
        }
        cute::PARAM
        | cute::PIPELINE_PRODUCER_ACQUIRE
        | cute::PIPELINE_CONSUMER_WAIT
        | cute_nvgpu::PIPELINE_PRODUCER_ACQUIRE
        | cute_nvgpu::PIPELINE_CONSUMER_WAIT => Ok(vec![types::int_type(context, 32)]),
        cute::PIPELINE_PRODUCER_COMMIT | cute::PIPELINE_CONSUMER_RELEASE => {
            Ok(vec![types::token_type(context)])
        }
        name if WRITTEN.contains(&name) => Err(written()),
        _ => return None,
    })
}

/// The types of the arguments of an op's region.
fn arguments<'c>(
    name: &str,
    context: &'c Context,
    operands: &[Type<'c>],
) -> Result<Vec<Type<'c>>, String> {
    let element = |ty: &Type<'c>| match CuteType::of(*ty) {
        Some(CuteType::MemRef(tensor)) => Ok(tensor.element),
        Some(CuteType::CoordTensor { start, layout }) => {
            algorithm::coordinate(&start, &layout).map(|at| types::coord_type(context, &at))
        }
        Some(CuteType::Any) => Ok(*ty),
        _ => Err(format!("expected a tensor, found {ty}")),
    };
    match (name, operands) {
        // The last tensor is written; by itself it is read as well.
        (cute::TRANSFORM, [only]) => Ok(vec![element(only)?]),
        (cute::TRANSFORM, [inputs @ .., _]) => inputs.iter().map(element).collect(),
        (cute::REDUCE, [tensor, init]) => Ok(vec![*init, element(tensor)?]),
        _ => Err(
            "expected the types of the region's arguments, which do not follow from the operands"
                .to_owned(),
        ),
    }
}

/// The error of an op whose result is of a type that only its text can say.
pub(super) fn written() -> String {
    "expected the type of its result, which does not follow from its operands: write it behind them, ' -> ' and the type"
        .to_owned()
}

fn no_operand() -> String {
    "expected an operand that says the type of the result".to_owned()
}

fn expected(what: &str, operands: &[Type]) -> String {
    let found: Vec<String> = operands.iter().map(ToString::to_string).collect();
    format!("expected {what}, found ({})", found.join(", "))
}

/// The tuple that is written around its operands, each of which is a `$`; the operands side by side where nothing is written.
fn tuple<'c>(
    context: &'c Context,
    operands: &[Type<'c>],
    attributes: Attribute<'c>,
    kind: Kind,
) -> Result<Vec<Type<'c>>, String> {
    let pattern = entry_of(attributes, "pattern")
        .and_then(string_value)
        .map_or_else(|| vec!["$"; operands.len()].join(","), str::to_owned);
    let mut leaves = operands.iter().map(|ty| leaf(*ty));
    let mut text = String::new();
    for c in pattern.chars() {
        match c {
            '$' => text += &leaves.next().ok_or("expected a value for each place")??,
            c => text.push(c),
        }
    }
    if text.is_empty() {
        return Err("expected a tuple, found nothing between the brackets".to_owned());
    }
    // Modes side by side are a tuple; one by itself is a leaf.
    let parsed = match pattern_is_one(&pattern) {
        true => IntTuple::parse(&text, kind),
        false => IntTuple::parse(&format!("({text})"), kind),
    };
    let parsed = parsed.map_err(|error| error.to_string())?;
    Ok(vec![types::value_type(
        context,
        &match kind {
            Kind::IntTuple => Value::IntTuple(parsed),
            Kind::Shape => Value::Shape(parsed),
            Kind::Stride => Value::Stride(parsed),
            Kind::Coord => Value::Coord(parsed),
        },
    )])
}

/// Tells whether a pattern has no comma at its top.
fn pattern_is_one(pattern: &str) -> bool {
    let mut depth = 0;
    pattern.chars().all(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c != ',' || depth > 0
    })
}

/// The text of a leaf that an operand of type `ty` fills.
fn leaf(ty: Type) -> Result<String, String> {
    if matches!(CuteType::of(ty), Some(CuteType::Any)) {
        return Err(format!(
            "expected an integer of a known type in a tuple, found {ty}; write the type of what gives it, as in cute.call @block_x() -> i32"
        ));
    }
    let text = |width: u32, divisor: i64| {
        let mut said = Vec::new();
        if width == 64 {
            said.push("i64".to_owned());
        }
        if divisor != 1 {
            said.push(format!("div={divisor}"));
        }
        match said.is_empty() {
            true => "?".to_owned(),
            false => format!("?{{{}}}", said.join(" ")),
        }
    };
    match CuteType::of(ty) {
        Some(CuteType::Divisible { width, divisor }) => return Ok(text(width as u32, divisor)),
        Some(CuteType::IntTuple(IntTuple::Leaf(cute_layout::Leaf::Dynamic(leaf)))) => {
            return Ok(text(leaf.width, leaf.div));
        }
        _ => {}
    }
    match int_width(ty) {
        Some(width @ (32 | 64)) => Ok(text(width, 1)),
        _ => Err(format!(
            "expected i32, i64 or an !cute.int_tuple of one dynamic leaf for each value of the tuple, found {ty}; an index \
             becomes an i32 by arith.index_cast, and a number that is known is written as it is"
        )),
    }
}

/// The tensor of a start and a layout.
fn make_view<'c>(
    context: &'c Context,
    start: Option<CuteType<'c>>,
    layout: Option<CuteType<'c>>,
) -> Result<Vec<Type<'c>>, String> {
    let Some(layout) = layout else {
        return Err(
            "expected a layout as operand 1, or the type of the tensor, which says it".to_owned(),
        );
    };
    let (inner, layout) = match layout {
        CuteType::Layout(layout) => (None, layout),
        CuteType::ComposedLayout(composed) => match composed.inner() {
            Inner::Swizzle(swizzle) => (
                Some((*swizzle, composed.offset().clone())),
                composed.outer().clone(),
            ),
            Inner::Layout(_) => {
                return Err(format!(
                    "expected a tensor whose layout is swizzled, found {composed}; give the composition of the two layouts"
                ));
            }
        },
        _ => return Err("expected a layout as operand 1".to_owned()),
    };
    match start {
        Some(CuteType::Ptr(pointer)) => memref_type(
            context,
            MemRef {
                layout,
                inner,
                ..pointer
            },
        ),
        Some(CuteType::ArithTupleIter(start)) if inner.is_none() => {
            types::coord_tensor_type(Location::unknown(context), &start, &layout)
                .map(|ty| vec![ty])
                .map_err(|_| super::tensors::invalid())
        }
        _ => Err("expected a start as operand 0, as cute.get_iter gives it".to_owned()),
    }
}

/// The tensor of a shape whose elements are their own coordinates.
pub(crate) fn identity_tensor<'c>(
    location: Location<'c>,
    shape: &IntTuple,
) -> Result<Type<'c>, String> {
    let layout = Layout::identity(shape).map_err(|e| e.to_string())?;
    fn zeros(t: &IntTuple) -> IntTuple {
        match t {
            IntTuple::Leaf(_) => cute_layout::int(0),
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(zeros).collect()),
        }
    }
    types::coord_tensor_type(location, &zeros(shape), &layout)
        .map_err(|_| "has no valid result type".to_owned())
}
