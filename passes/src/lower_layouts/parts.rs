//! The values that stand for a tensor whose layout has dynamic leaves, and for a tensor of coordinates: a pointer, and leaves.

use super::{Lowering, emit::Emitter, make, value_of};
use cute_ir::{
    Expected, Failure, diag,
    mlir::*,
    names::builtin,
    ops::cute,
    types::{self, CuteType, MemRef},
};
use cute_layout::{Dyn, IntTuple, Layout, ops::Value};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The layout of a tensor that is lowered here.
pub(super) fn dynamic_layout(ty: Type<'_>) -> Option<Layout> {
    match CuteType::of(ty)? {
        CuteType::MemRef(memref) if !memref.layout.is_static() => Some(memref.layout),
        CuteType::CoordTensor { layout, .. } => Some(layout),
        _ => None,
    }
}

/// Tells whether values of this type are lowered here.
pub(super) fn is_lowered(ty: Type<'_>) -> bool {
    dynamic_layout(ty).is_some() || matches!(CuteType::of(ty), Some(CuteType::ArithTupleIter(_)))
}

/// Tells whether it is a tensor in memory that is lowered here.
pub(super) fn is_memory(ty: Type<'_>) -> bool {
    matches!(CuteType::of(ty), Some(CuteType::MemRef(memref)) if !memref.layout.is_static())
}

/// The types of what stands for a tensor: its pointer and the dynamic leaves of its layout.
pub(super) fn part_types<'c>(ty: Type<'c>) -> Option<Vec<Type<'c>>> {
    let context = context_of_type(ty);
    let ints = |leaves: Vec<&Dyn>| -> Vec<Type<'c>> {
        leaves
            .into_iter()
            .map(|d| types::int_type(context, d.width))
            .collect()
    };
    match CuteType::of(ty)? {
        CuteType::MemRef(memref) if !memref.layout.is_static() => {
            let location = melior::ir::Location::unknown(context);
            let mut all = vec![memref.to_ptr_type(location).ok()?];
            all.extend(ints(Value::Layout(memref.layout.clone()).dynamic_leaves()));
            Some(all)
        }
        CuteType::CoordTensor { start, layout } => {
            let mut all = ints(Value::IntTuple(start.clone()).dynamic_leaves());
            all.extend(ints(Value::Layout(layout.clone()).dynamic_leaves()));
            Some(all)
        }
        CuteType::ArithTupleIter(start) => {
            Some(ints(Value::IntTuple(start.clone()).dynamic_leaves()))
        }
        _ => None,
    }
}

/// A layout whose dynamic leaves are inputs of a trace, from `first` on.
fn traced(value: &Value, first: usize, wide: bool) -> Value {
    if wide {
        value.traced_wide(first)
    } else {
        value.traced(first)
    }
}

/// Operands of an op, with the integers that stand for their dynamic leaves.
pub(super) struct Operands<'c> {
    pub types: Vec<CuteType<'c>>,
    pub inputs: Vec<Val<'c>>,
    /// The first input of each operand.
    first: Vec<usize>,
}

impl<'c> Operands<'c> {
    /// The operands, their leaves traced.
    pub(super) fn traced(&self, wide: bool) -> Vec<CuteType<'c>> {
        self.types
            .iter()
            .zip(&self.first)
            .map(|(ty, first)| with_leaves(ty, &|v, skip| traced(v, first + skip, wide)))
            .collect()
    }
}

/// The values of the layout algebra in a tensor's type, in the order of the integers that stand for it.
pub(super) fn numbers(ty: &CuteType<'_>) -> Vec<Value> {
    match ty {
        CuteType::MemRef(memref) => vec![Value::Layout(memref.layout.clone())],
        CuteType::CoordTensor { start, layout } => {
            vec![
                Value::IntTuple(start.clone()),
                Value::Layout(layout.clone()),
            ]
        }
        CuteType::ArithTupleIter(start) => vec![Value::IntTuple(start.clone())],
        _ => vec![],
    }
}

/// A type's values, replaced by `f` of them and of how many dynamic leaves come before.
fn with_leaves<'c>(ty: &CuteType<'c>, f: &dyn Fn(&Value, usize) -> Value) -> CuteType<'c> {
    let of_layout = |layout: &Layout, skip| match f(&Value::Layout(layout.clone()), skip) {
        Value::Layout(layout) => layout,
        _ => layout.clone(),
    };
    match ty {
        CuteType::MemRef(memref) => CuteType::MemRef(MemRef {
            layout: of_layout(&memref.layout, 0),
            ..memref.clone()
        }),
        CuteType::CoordTensor { start, layout } => {
            let value = Value::IntTuple(start.clone());
            let skip = value.dynamic_leaves().len();
            let start = match f(&value, 0) {
                Value::IntTuple(start) => start,
                _ => start.clone(),
            };
            CuteType::CoordTensor {
                start,
                layout: of_layout(layout, skip),
            }
        }
        other => match other.value() {
            Some(value) => match f(&value, 0) {
                Value::Coord(t) => CuteType::Coord(t),
                Value::Tile(t) => CuteType::Tile(t),
                Value::Layout(l) => CuteType::Layout(l),
                Value::Shape(t) => CuteType::Shape(t),
                Value::IntTuple(t) => CuteType::IntTuple(t),
                _ => other.clone(),
            },
            None => other.clone(),
        },
    }
}

impl<'c> Lowering<'c> {
    /// Returns the values that stand for a tensor that is lowered here.
    pub(super) fn parts_of(&mut self, value: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
        if let Some(parts) = self.leaves.get(&key(value)) {
            return Ok(parts.clone());
        }
        if part_types(value.r#type()).is_some_and(|types| types.is_empty()) {
            return Ok(Vec::new());
        }
        let owner = match block_argument(value) {
            Some((block, _)) => melior::ir::BlockLike::parent_operation(&block),
            None => defining_op(value),
        };
        let location = owner.map_or(self.module.location(), |op| op.location());
        Err(diag::error(
            location,
            format!(
                "cannot compute where a tensor of type {} starts; expected it to come from an op of the cute dialect \
                 or to be an argument of the kernel",
                value.r#type()
            ),
        ))
    }

    /// The pointer of a tensor in memory; of one that is not lowered here where its function has it.
    pub(super) fn pointer_of(
        &mut self,
        value: Val<'c>,
        b: Builder<'c>,
    ) -> Result<Val<'c>, Failure> {
        if !is_memory(value.r#type()) {
            return b.infer(cute::GET_ITER, &[value], &[]);
        }
        let parts = self.parts_of(value)?;
        parts.first().copied().expected(self.module, "a pointer")
    }

    /// The operands of an op on tensors.
    pub(super) fn operands(&mut self, op: Op<'c>) -> Result<Operands<'c>, Failure> {
        let mut all = Operands {
            types: Vec::new(),
            inputs: Vec::new(),
            first: Vec::new(),
        };
        for operand in operands_of(op) {
            let Some(ty) = CuteType::of(operand.r#type()) else {
                continue;
            };
            all.first.push(all.inputs.len());
            match &ty {
                CuteType::MemRef(memref) if memref.layout.is_static() => {}
                CuteType::MemRef(_) => all.inputs.extend(&self.parts_of(operand)?[1..]),
                CuteType::CoordTensor { .. } | CuteType::ArithTupleIter(_) => {
                    all.inputs.extend(self.parts_of(operand)?);
                }
                ty if ty.value().is_some() => all.inputs.extend(self.leaves_of(operand)?),
                _ => {}
            }
            all.types.push(ty);
        }
        Ok(all)
    }

    /// A tensor for an op that this pass leaves alone.
    pub(super) fn construct_tensor(
        &self,
        builder: Builder<'c>,
        old: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let parts = self.leaves.get(&key(old)).cloned().unwrap_or_default();
        let ty = old.r#type();
        let (iter, leaves) = match CuteType::of(ty) {
            Some(CuteType::MemRef(_)) if !parts.is_empty() => (parts[0], &parts[1..]),
            Some(CuteType::CoordTensor { start, .. }) => {
                let own = Value::IntTuple(start.clone()).dynamic_leaves().len();
                let iter = self.coordinate_iter(builder, &start, &parts[..own])?;
                (iter, &parts[own..])
            }
            Some(CuteType::ArithTupleIter(start)) => {
                return self.coordinate_iter(builder, &start, &parts);
            }
            _ => return Err(builder.error("expected a tensor")),
        };
        let layout = dynamic_layout(ty).expected(builder, "a tensor's layout")?;
        let layout = make(
            builder,
            types::layout_type(builder.context, &layout),
            leaves,
        )?;
        builder.value(cute::MAKE_VIEW, &[iter, layout], ty, &[])
    }

    fn coordinate_iter(
        &self,
        builder: Builder<'c>,
        start: &IntTuple,
        leaves: &[Val<'c>],
    ) -> Result<Val<'c>, Failure> {
        let offset = make(
            builder,
            types::int_tuple_type(builder.context, start),
            leaves,
        )?;
        builder.infer(cute::MAKE_ARITH_TUPLE_ITER, &[offset], &[])
    }

    /// The pointers and the leaves of a host function's tensors, as the launch plan knows them.
    pub(super) fn host_tensors(&mut self, block: Blk<'c>) -> Result<(), Failure> {
        let Some(first) = ops_of(block).into_iter().next() else {
            return Ok(());
        };
        let builder = Builder::before(first);
        let cast = builtin::UNREALIZED_CONVERSION_CAST;
        for tensor in arguments_of(block) {
            if !is_memory(tensor.r#type()) {
                continue;
            }
            let types = part_types(tensor.r#type()).expected(builder, "the parts of a tensor")?;
            let mut parts = vec![builder.value(cast, &[tensor], types[0], &[])?];
            let leaves = builder.op(cast, &[tensor], &types[1..], &[])?;
            parts.extend(results_of(leaves));
            self.leaves.insert(key(tensor), parts);
        }
        Ok(())
    }
}

pub(super) fn dynamic_count(ty: Type<'_>) -> usize {
    dynamic_layout(ty).map_or(0, |layout| Value::Layout(layout).dynamic_leaves().len())
}

pub(super) fn emit_dynamic<'c>(
    emitter: &mut Emitter<'_, 'c>,
    value: &Value,
) -> Result<Vec<Val<'c>>, Failure> {
    value
        .leaves()
        .into_iter()
        .filter_map(|leaf| leaf.as_dynamic().map(|d| (leaf, d.width)))
        .map(|(leaf, width)| emitter.leaf(leaf, width))
        .collect()
}

/// Tells whether a value of the layout algebra or a tensor that is lowered here has this type.
pub(super) fn has_leaves(ty: Type<'_>) -> bool {
    value_of(ty).is_some() || is_lowered(ty)
}
