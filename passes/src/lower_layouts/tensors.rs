//! Tensors whose layouts have dynamic leaves, and tensors of coordinates.
//!
//! Such a tensor is a pointer and the leaves of its layout; a view adds to the pointer what `cute_ir::view` says, computed in
//! 64 bits in global memory, and each access is to a view that has a static layout again. A tensor of coordinates is the
//! leaves of its start and of its layout: nothing of it is in memory. Tensors of static layouts stay as they are.
//!
//! Which operand a view is of, which coordinate it starts at and what its terms add up to are those of `cute_ir::interpret`, in
//! leaves that carry how they are computed ([`View::start`]). The rest is not an instance of it: an interpreter of starts knows
//! each layout from its type, while here layouts are computed as well, and each leaf that a view has is made anew.

use super::{Lowering, emit::Emitter, make, overflow, unlike, value_of};
use cute_ir::ops::cute;
use cute_ir::{
    Expected, Failure,
    args::at_of,
    args::{ElementArgs, replace_operand},
    diag,
    infer::{dynamic_leaves, traced_view},
    mlir::*,
    names::builtin,
    tensor::atom_view,
    types::{self, CuteType, MemRef, Space},
    view::{self, Index, View},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, ops::Value, record};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The layout of a tensor that is lowered here.
fn dynamic_layout(ty: Type<'_>) -> Option<Layout> {
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
struct Operands<'c> {
    types: Vec<CuteType<'c>>,
    inputs: Vec<Val<'c>>,
    /// The first input of each operand.
    first: Vec<usize>,
}

impl<'c> Operands<'c> {
    /// The operands, their leaves traced.
    fn traced(&self, wide: bool) -> Vec<CuteType<'c>> {
        self.types
            .iter()
            .zip(&self.first)
            .map(|(ty, first)| with_leaves(ty, &|v, skip| traced(v, first + skip, wide)))
            .collect()
    }
}

/// The values of the layout algebra in a tensor's type, in the order of the integers that stand for it.
fn numbers(ty: &CuteType<'_>) -> Vec<Value> {
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
    /// Lowers `op` where it is about tensors of this kind; false where it is not.
    pub(super) fn tensors(&mut self, op: Op<'c>) -> Result<bool, Failure> {
        let mine = |v: &Val<'c>| is_lowered(v.r#type());
        let result = (op.result_count() == 1).then(|| result_of(op, 0));
        if !operands_of(op).iter().any(mine) && !result.iter().any(mine) {
            return Ok(false);
        }
        if let Some(get) = cute::GetIter::of(op) {
            self.iter(get)?;
        } else if let Some(get) = cute::GetLayout::of(op) {
            let parts = self.parts_of(get.tensor())?;
            let skip = parts.len() - dynamic_count(get.tensor().r#type());
            self.leaves
                .insert(key(get.result()), parts[skip..].to_vec());
        } else if let Some(view) = cute::MakeView::of(op) {
            let mut parts = match CuteType::of(view.iter().r#type()) {
                Some(CuteType::Ptr(_)) => vec![view.iter()],
                _ => self.parts_of(view.iter())?,
            };
            // A layout that is left out is static.
            if let Some(layout) = view.layout() {
                parts.extend(self.leaves_of(layout)?);
            }
            self.leaves.insert(key(view.result()), parts);
        } else if let Some(identity) = cute::MakeIdentityTensor::of(op) {
            let leaves = self.leaves_of(identity.shape())?;
            self.leaves.insert(key(identity.result()), leaves);
        } else if let Some(iter) = cute::MakeArithTupleIter::of(op) {
            let leaves = self.leaves_of(iter.coord())?;
            self.leaves.insert(key(iter.result()), leaves);
        } else if let Some(deref) = cute::DerefArithTupleIter::of(op) {
            let leaves = self.parts_of(deref.iter())?;
            self.leaves.insert(key(deref.result()), leaves);
        } else if let Some(derefine) = cute::Derefine::of(op) {
            self.derefine(derefine)?;
        } else if let Some(add) = cute::AddOffset::of(op) {
            self.add_to_coordinate(add)?;
        } else if let Some(element) = ElementArgs::of(op) {
            return self.access(op, element);
        } else if matches!(
            name_of(op),
            cute::ATOM_LOAD | cute::ATOM_STORE | cute::ATOM_COPY
        ) {
            self.atom(op)?;
            return Ok(true);
        } else {
            let Some(result) = result else {
                return Ok(false);
            };
            if !self.view(op, result)? {
                return Ok(false);
            }
        }
        self.dead.push(op);
        Ok(true)
    }

    /// Returns the values that stand for a tensor that is lowered here.
    fn parts_of(&mut self, value: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
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

    /// The pointer of a tensor in memory that is lowered here.
    fn pointer_of(&mut self, value: Val<'c>) -> Result<Val<'c>, Failure> {
        let parts = self.parts_of(value)?;
        parts.first().copied().expected(self.module, "a pointer")
    }

    fn operands(&mut self, op: Op<'c>) -> Result<Operands<'c>, Failure> {
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

    /// The same tensor, with numbers that its type says no more as integers.
    fn derefine(&mut self, derefine: cute::Derefine<'c>) -> Result<(), Failure> {
        let (op, operand, result) = (derefine.op(), derefine.value(), derefine.result());
        let builder = Builder::before(op);
        let from = CuteType::of(operand.r#type()).ok_or_else(|| unlike(op))?;
        let to = CuteType::of(result.r#type()).ok_or_else(|| unlike(op))?;
        let lowered = is_lowered(operand.r#type());
        let mut inputs = if lowered {
            self.parts_of(operand)?
        } else {
            Vec::new()
        };
        let mut parts = Vec::new();
        if let (CuteType::MemRef(_), CuteType::MemRef(memref)) = (&from, &to) {
            let start = if lowered {
                inputs.remove(0)
            } else {
                builder.infer(cute::GET_ITER, &[operand], &[])?
            };
            let wanted = memref.to_ptr_type(op.location())?;
            parts.push(if start.r#type() == wanted {
                start
            } else {
                builder.value(cute::DEREFINE, &[start], wanted, &[])?
            });
        }
        let mut emitter = Emitter::new(builder, &inputs);
        let mut first = 0;
        for (have, want) in numbers(&from).into_iter().zip(numbers(&to)) {
            let count = have.dynamic_leaves().len();
            let have = have.traced(first);
            first += count;
            let leaves = emitter.leaves_for(&want, &have)?;
            parts.extend(leaves.ok_or_else(|| unlike(op))?);
        }
        self.leaves.insert(key(result), parts);
        Ok(())
    }

    /// The pointer or the coordinate that a tensor starts at.
    fn iter(&mut self, get: cute::GetIter<'c>) -> Result<(), Failure> {
        let (op, tensor, result) = (get.op(), get.tensor(), get.result());
        let parts = self.parts_of(tensor)?;
        match CuteType::of(tensor.r#type()) {
            Some(CuteType::MemRef(_)) => replace_uses(result, parts[0]),
            Some(CuteType::CoordTensor { start, .. }) => {
                let own = Value::IntTuple(start).dynamic_leaves().len();
                self.leaves.insert(key(result), parts[..own].to_vec());
            }
            _ => return Err(unlike(op)),
        }
        Ok(())
    }

    /// `add_offset` of a coordinate.
    fn add_to_coordinate(&mut self, add: cute::AddOffset<'c>) -> Result<(), Failure> {
        let op = add.op();
        let (Some(CuteType::ArithTupleIter(start)), Some(CuteType::IntTuple(offset))) = (
            CuteType::of(add.iter().r#type()),
            CuteType::of(add.offset().r#type()),
        ) else {
            return Err(unlike(op));
        };
        let mut inputs = self.parts_of(add.iter())?;
        let own = inputs.len();
        inputs.extend(self.leaves_of(add.offset())?);
        let (start, offset) = (Value::IntTuple(start), Value::IntTuple(offset));
        let (Value::IntTuple(a), Value::IntTuple(b)) = (start.traced(0), offset.traced(own)) else {
            return Err(unlike(op));
        };
        let sum = a
            .add(&b)
            .map_err(|e| diag::error(op.location(), e.to_string()))?;
        let builder = Builder::before(op);
        let mut emitter = Emitter::new(builder, &inputs);
        let leaves = emit_dynamic(&mut emitter, &Value::IntTuple(sum))?;
        self.leaves.insert(key(add.result()), leaves);
        Ok(())
    }

    /// A view of a tensor; false where `op` makes none.
    fn view(&mut self, op: Op<'c>, result: Val<'c>) -> Result<bool, Failure> {
        let all = self.operands(op)?;
        let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        let (plain, checks) = record(|| traced_view(op, &all.traced(false)));
        let Some(plain) = plain else {
            return Ok(false);
        };
        let plain = plain.map_err(wrong)?;
        let builder = Builder::before(op);
        let mut emitter = Emitter::new(builder, &all.inputs);
        if self.checks {
            self.assert_all(op, &mut emitter, &all.inputs, &checks)?;
        }
        let source = *operands_of(op)
            .get(plain.tensor)
            .ok_or_else(|| unlike(op))?;
        let mut parts = Vec::new();
        match CuteType::of(result.r#type()) {
            Some(CuteType::MemRef(memref)) => {
                let operands = all.traced(true);
                let wide = traced_view(op, &operands)
                    .ok_or_else(|| unlike(op))?
                    .map_err(wrong)?;
                if self.checks {
                    let results = [Value::Layout(plain.view.layout.clone())];
                    let wide = overflow::Wide {
                        results: vec![Value::Layout(wide.view.layout.clone())],
                        checks: vec![],
                    };
                    overflow::assert_fits(op, builder, &mut emitter, &results, &wide)?;
                }
                let pointer = self.pointer_of(source)?;
                let leaves = wide.leaves(&operands);
                let pointer =
                    advance(builder, &mut emitter, pointer, &wide.view, &leaves, &memref)?;
                if memref.layout.is_static() {
                    let layout = types::layout_type(builder.context, &memref.layout);
                    let layout = builder.static_value(layout)?;
                    let view =
                        builder.value(cute::MAKE_VIEW, &[pointer, layout], result.r#type(), &[])?;
                    replace_uses(result, view);
                    return Ok(true);
                }
                parts.push(pointer);
            }
            Some(CuteType::CoordTensor { .. }) => {
                let operands = all.traced(false);
                let Some(CuteType::CoordTensor { start, .. }) = operands.get(plain.tensor) else {
                    return Err(unlike(op));
                };
                let start = plain.view.start(start, &plain.leaves(&operands));
                let start = start.map_err(wrong)?;
                parts.extend(emit_dynamic(&mut emitter, &Value::IntTuple(start))?);
            }
            _ => return Err(unlike(op)),
        }
        // A declared type may know less of what was computed: the stride of an extent of 1.
        let declared = dynamic_layout(result.r#type()).ok_or_else(|| unlike(op))?;
        let leaves =
            emitter.leaves_for(&Value::Layout(declared), &Value::Layout(plain.view.layout))?;
        parts.extend(leaves.ok_or_else(|| unlike(op))?);
        if part_types(result.r#type()).map(|types| types.len()) != Some(parts.len()) {
            return Err(unlike(op));
        }
        self.leaves.insert(key(result), parts);
        Ok(true)
    }

    /// `memref.load` and `memref.store` of one element.
    fn access(&mut self, op: Op<'c>, element: ElementArgs<'c>) -> Result<bool, Failure> {
        let tensor = element.tensor;
        let all = self.operands(op)?;
        let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        let builder = Builder::before(op);
        let mut emitter = Emitter::new(builder, &all.inputs);
        let traced = all.traced(true);
        let [traced_tensor, CuteType::Coord(coord), ..] = &traced[..] else {
            return Err(unlike(op));
        };
        let layout = traced_tensor.tensor_layout().ok_or_else(|| unlike(op))?;
        let view = view::slice(layout, coord).map_err(wrong)?;
        match CuteType::of(tensor.r#type()) {
            Some(CuteType::MemRef(memref)) => {
                let plain = view::slice(&memref.layout, coord)
                    .and_then(|view| view.of(&memref, &[]))
                    .map_err(wrong)?;
                let pointer = self.pointer_of(tensor)?;
                let indices = dynamic_leaves(coord);
                let pointer = advance(builder, &mut emitter, pointer, &view, &indices, &plain)?;
                let part = static_view(builder, pointer, &plain)?;
                let origin = types::coord_type(builder.context, &int(0));
                let origin = builder.static_value(origin)?;
                replace_operand(op, tensor, part);
                replace_operand(op, element.coord, origin);
                Ok(true)
            }
            Some(CuteType::CoordTensor { .. }) => {
                let traced = all.traced(false);
                let [
                    CuteType::CoordTensor { start, layout },
                    CuteType::Coord(coord),
                    ..,
                ] = &traced[..]
                else {
                    return Err(unlike(op));
                };
                let element = view::slice(layout, coord)
                    .and_then(|view| view.start(start, &dynamic_leaves(coord)))
                    .map_err(wrong)?;
                let leaves = emit_dynamic(&mut emitter, &Value::Coord(element))?;
                let load = cute::MemrefLoad::of(op).ok_or_else(|| unlike(op))?;
                self.leaves.insert(key(load.value()), leaves);
                self.dead.push(op);
                Ok(true)
            }
            _ => Err(unlike(op)),
        }
    }

    /// An atom on partitions: each becomes the part that the atom touches.
    fn atom(&mut self, op: Op<'c>) -> Result<(), Failure> {
        let at = at_of(op);
        let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        let mut zeros = Vec::new();
        for (i, operand) in operands_of(op).into_iter().enumerate() {
            let Some(CuteType::MemRef(memref)) = CuteType::of(operand.r#type()) else {
                continue;
            };
            let plain = atom_view(&memref.layout, &at).map_err(wrong)?;
            let values = plain.layout.mode(0).map_err(|e| wrong(e.to_string()))?;
            let builder = Builder::before(op);
            // The atom's values, and one place for each mode that `at` names.
            let mut modes = vec![
                Layout::from_modes(&[
                    values,
                    Layout::leaf(1, 0).map_err(|e| wrong(e.to_string()))?,
                ])
                .map_err(|e| wrong(e.to_string()))?,
            ];
            for _ in 1..at.len() {
                modes.push(Layout::leaf(1, 0).map_err(|e| wrong(e.to_string()))?);
            }
            let layout = Layout::from_modes(&modes).map_err(|e| wrong(e.to_string()))?;
            let part = MemRef {
                layout,
                ..plain.of(&memref, &[]).map_err(wrong)?
            };
            let (parts, layout) = if memref.layout.is_static() {
                let pointer = memref.to_ptr_type(builder.location)?;
                let pointer = builder.value(cute::GET_ITER, &[operand], pointer, &[])?;
                (vec![pointer], memref.layout.clone())
            } else {
                let parts = self.parts_of(operand)?;
                let layout = match Value::Layout(memref.layout.clone()).traced_wide(0) {
                    Value::Layout(layout) => layout,
                    _ => return Err(unlike(op)),
                };
                (parts, layout)
            };
            let view = atom_view(&layout, &at).map_err(wrong)?;
            let inputs = parts[1..].to_vec();
            let mut emitter = Emitter::new(builder, &inputs);
            let pointer = advance(builder, &mut emitter, parts[0], &view, &[], &part)?;
            let view = static_view(builder, pointer, &part)?;
            set_operand(op, i, view);
            zeros = vec![0; at.len()];
        }
        set_attribute(op, "at", Builder::before(op).i64_array(&zeros));
        Ok(())
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

fn dynamic_count(ty: Type<'_>) -> usize {
    dynamic_layout(ty).map_or(0, |layout| Value::Layout(layout).dynamic_leaves().len())
}

fn emit_dynamic<'c>(emitter: &mut Emitter<'_, 'c>, value: &Value) -> Result<Vec<Val<'c>>, Failure> {
    value
        .leaves()
        .into_iter()
        .filter_map(|leaf| leaf.as_dynamic().map(|d| (leaf, d.width)))
        .map(|(leaf, width)| emitter.leaf(leaf, width))
        .collect()
}

/// The pointer at which the view starts, of the view's alignment.
fn advance<'c>(
    builder: Builder<'c>,
    emitter: &mut Emitter<'_, 'c>,
    pointer: Val<'c>,
    view: &View,
    indices: &[Leaf],
    result: &MemRef<'c>,
) -> Result<Val<'c>, Failure> {
    let terms = view.terms.iter().any(|term| term.index != Index::Known(0));
    if !terms {
        return Ok(pointer);
    }
    let offset = view.start(&int(0), indices).map_err(|e| builder.error(e))?;
    let IntTuple::Leaf(offset) = offset else {
        return Err(builder.error(format!("expected one integer as an offset, found {offset}")));
    };
    let width = if result.space == Space::Gmem { 64 } else { 32 };
    let (leaf, leaves) = match &offset {
        Leaf::Static(0) => return Ok(pointer),
        Leaf::Static(_) => (offset.clone(), vec![]),
        _ => {
            let div = (result.align / result.element_bytes()).max(1);
            let value = emitter.leaf(&offset, width)?;
            (Leaf::Dynamic(Dyn::new(width, div)), vec![value])
        }
    };
    let ty = types::int_tuple_type(builder.context, &IntTuple::Leaf(leaf));
    let offset = make(builder, ty, &leaves)?;
    builder.infer(cute::ADD_OFFSET, &[pointer, offset], &[])
}

/// A tensor of a static layout at a pointer.
fn static_view<'c>(
    builder: Builder<'c>,
    pointer: Val<'c>,
    memref: &MemRef<'c>,
) -> Result<Val<'c>, Failure> {
    // What is known of the pointer may be more or less than of the view.
    let memref = match CuteType::of(pointer.r#type()) {
        Some(CuteType::Ptr(pointer)) => MemRef {
            align: pointer.align,
            ..memref.clone()
        },
        _ => memref.clone(),
    };
    let layout = types::layout_type(builder.context, &memref.layout);
    let layout = builder.static_value(layout)?;
    let ty = memref.to_type(builder.location)?;
    builder.value(cute::MAKE_VIEW, &[pointer, layout], ty, &[])
}

/// Tells whether a value of the layout algebra or a tensor that is lowered here has this type.
pub(super) fn has_leaves(ty: Type<'_>) -> bool {
    value_of(ty).is_some() || is_lowered(ty)
}
