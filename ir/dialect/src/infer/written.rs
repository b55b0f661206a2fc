//! The parts of types that some forms of text leave out, and those that may be written in more than one way.

use crate::{
    mlir::context_of_type,
    ops::cute,
    types::{self, CuteType},
};
use cute_layout::{Inner, Layout, Leaf, ops::Value};
use melior::ir::{Location, Type};

/// The types of the operands of op `name`, of which there are `count`, as they follow from its result's.
pub(crate) fn operand_types<'c>(
    name: &str,
    count: usize,
    result: Type<'c>,
) -> Result<Vec<Type<'c>>, String> {
    let context = context_of_type(result);
    let layout_parts = |layout: &Layout| {
        vec![
            types::shape_type(context, layout.shape()),
            types::value_type(context, &Value::Stride(layout.stride().clone())),
        ]
    };
    let decoded = CuteType::of(result)
        .ok_or_else(|| format!("expected a cute type as the result, found {result}"))?;
    let mut all = match (name, &decoded) {
        (cute::MAKE_LAYOUT, CuteType::Layout(layout)) => layout_parts(layout),
        (cute::MAKE_IDENTITY_LAYOUT, CuteType::Layout(layout))
        | (cute::MAKE_IDENTITY_TENSOR, CuteType::CoordTensor { layout, .. }) => {
            vec![types::shape_type(context, layout.shape())]
        }
        (cute::MAKE_COMPOSED_LAYOUT, CuteType::ComposedLayout(composed)) => vec![
            types::value_type(
                context,
                &match composed.inner() {
                    Inner::Swizzle(swizzle) => Value::Swizzle(*swizzle),
                    Inner::Layout(layout) => Value::Layout(layout.clone()),
                },
            ),
            types::int_tuple_type(context, composed.offset()),
            types::layout_type(context, composed.outer()),
        ],
        (cute::MAKE_VIEW, CuteType::MemRef(memref)) => vec![
            memref
                .to_ptr_type(Location::unknown(context))
                .map_err(|_| "has a result that no pointer starts")?,
            types::composed_type(context, memref.inner.as_ref(), &memref.layout),
        ],
        (cute::MAKE_VIEW, CuteType::CoordTensor { start, layout }) => vec![
            types::arith_tuple_iter_type(context, start),
            types::layout_type(context, layout),
        ],
        (cute::MEMREF_ALLOCA, CuteType::MemRef(memref)) => {
            vec![types::composed_type(
                context,
                memref.inner.as_ref(),
                &memref.layout,
            )]
        }
        (cute::MEMREF_STORE_VEC, CuteType::MemRef(memref)) => {
            let size = memref.layout.size().map_err(|e| e.to_string())?;
            let size = u64::try_from(size).map_err(|e| e.to_string())?;
            vec![Type::vector(&[size], memref.element), result]
        }
        _ => {
            return Err(format!(
                "expected the types of the operands before '->', found {result} alone"
            ));
        }
    };
    if count > all.len() {
        return Err(format!(
            "expected at most {} operands, found {count}",
            all.len()
        ));
    }
    all.truncate(count);
    Ok(all)
}

/// Tells whether `declared` has the numbers of `inferred`, but for divisors that it leaves out.
fn vaguer(inferred: &Value, declared: &Value) -> bool {
    let (a, b) = (inferred.leaves(), declared.leaves());
    let same = |(a, b): (&Leaf, &Leaf)| match (a, b) {
        (Leaf::Dynamic(a), Leaf::Dynamic(b)) => a.width == b.width && a.is_within(b),
        _ => a.to_string() == b.to_string(),
    };
    a.len() == b.len() && a.into_iter().zip(b).all(same)
}

/// Tells whether layouts are one function, of which `declared` may say less.
fn same_layout(inferred: &Layout, declared: &Layout) -> bool {
    let (a, b) = (
        inferred.without_unit_strides(),
        declared.without_unit_strides(),
    );
    a.shape().congruent(b.shape()) && vaguer(&Value::Layout(a), &Value::Layout(b))
}

/// Tells whether `declared` says the same as `inferred`, but for the strides of modes of size 1, or less of divisors and
/// alignment.
pub(crate) fn compatible(inferred: Type, declared: Type) -> bool {
    let (Some(left), Some(right)) = (CuteType::of(inferred), CuteType::of(declared)) else {
        return false;
    };
    match (left, right) {
        (CuteType::MemRef(left), CuteType::MemRef(right)) => {
            same_layout(&left.layout, &right.layout)
                && left.align % right.align == 0
                && left
                    == types::MemRef {
                        layout: left.layout.clone(),
                        align: left.align,
                        ..right
                    }
        }
        (
            CuteType::CoordTensor { start, layout },
            CuteType::CoordTensor {
                start: other_start,
                layout: other,
            },
        ) => {
            start.congruent(&other_start)
                && vaguer(&Value::IntTuple(start), &Value::IntTuple(other_start))
                && same_layout(&layout, &other)
        }
        (CuteType::Layout(left), CuteType::Layout(right)) => {
            left.without_unit_strides() == right.without_unit_strides()
        }
        _ => false,
    }
}
