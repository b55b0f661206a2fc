//! Tensors whose layouts have dynamic leaves, and tensors of coordinates.
//!
//! Such a tensor is a pointer and the leaves of its layout; a view adds to the pointer what `cute_ir::view` says, computed in
//! 64 bits in global memory, and each access is to a view that has a static layout again. A tensor of coordinates is the
//! leaves of its start and of its layout: nothing of it is in memory. Tensors of static layouts stay as they are.
//!
//! Which operand a view is of, which coordinate it starts at and what its terms add up to are those of `cute_ir::interpret`, in
//! leaves that carry how they are computed ([`View::start`]). The rest is not an instance of it: an interpreter of starts knows
//! each layout from its type, while here layouts are computed as well, and each leaf that a view has is made anew.

use super::{
    Lowering, Unsure,
    carry::is_host,
    emit::Emitter,
    make, overflow,
    parts::{dynamic_count, dynamic_layout, emit_dynamic, is_lowered, numbers, part_types},
    unlike,
};
use cute_ir::ops::{cute, cute_nvgpu, func};
use cute_ir::{
    Failure,
    args::at_of,
    args::{ElementArgs, replace_operand},
    diag, hopper,
    infer::{dynamic_leaves, traced_view},
    mlir::*,
    tensor::atom_view,
    types::{self, CuteType, MemRef, Space, memref_of},
    view::{self, Index, View},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, ops::Value, record};
use melior::ir::{ValueLike, operation::OperationLike};

impl<'c> Lowering<'c> {
    /// Lowers `op` where it is about tensors of this kind; false where it is not.
    pub(super) fn tensors(&mut self, op: Op<'c>) -> Result<bool, Failure> {
        if matches!(
            name_of(op),
            cute_nvgpu::ATOM_MAKE_TMA_LOAD | cute_nvgpu::ATOM_MAKE_TMA_STORE
        ) {
            return self.coordinates(op);
        }
        if name_of(op) == cute_nvgpu::ATOM_MAKE_IM2COL_TMA_LOAD {
            return self.im2col_coordinates(op);
        }
        let mine = |v: &Val<'c>| is_lowered(v.r#type());
        let result = (op.result_count() == 1).then(|| result_of(op, 0));
        if !operands_of(op).iter().any(mine) && !result.iter().any(mine) {
            return self.on_host(op, result);
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

    /// Lowers a view of static layout that a function of the host takes of a tensor, so that a launch plan knows where it begins; false of other ops.
    fn on_host(&mut self, op: Op<'c>, result: Option<Val<'c>>) -> Result<bool, Failure> {
        let is_tensor = |value: &Val<'c>| memref_of(*value).is_some();
        let Some(result) = result.filter(is_tensor) else {
            return Ok(false);
        };
        let is_view = cute::MakeView::of(op).is_none() && operands_of(op).iter().any(is_tensor);
        let function = std::iter::successors(parent_op(op), |inner| parent_op(*inner))
            .find(|around| name_of(*around) == func::FUNC);
        if !is_view || !function.is_some_and(is_host) || !self.view(op, result)? {
            return Ok(false);
        }
        self.dead.push(op);
        Ok(true)
    }

    /// The coordinates that are made together with a TMA atom: their extents are those of the tensor. The op stays, as the atom does.
    fn coordinates(&mut self, op: Op<'c>) -> Result<bool, Failure> {
        let ([tensor, _], [_, coords]) = (&operands_of(op)[..], &results_of(op)[..]) else {
            return Err(unlike(op));
        };
        let mut leaves = Vec::new();
        if is_lowered(tensor.r#type()) {
            let count = dynamic_count(coords.r#type());
            let parts = self.parts_of(*tensor)?;
            leaves = parts.into_iter().skip(1).take(count).collect();
        }
        self.leaves.insert(key(*coords), leaves);
        Ok(true)
    }

    /// The coordinates of columns of pixels: how many places a filter has follows from the extents of the images. The op stays, as the atom does.
    fn im2col_coordinates(&mut self, op: Op<'c>) -> Result<bool, Failure> {
        let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        let coords = result_of(op, 1);
        let Some(CuteType::CoordTensor { start, layout }) = CuteType::of(coords.r#type()) else {
            return Err(unlike(op));
        };
        let all = self.operands(op)?;
        let traced = all.traced(false);
        let Some(CuteType::MemRef(images)) = traced.first() else {
            return Err(unlike(op));
        };
        let convolution = hopper::Convolution::of(op).map_err(wrong)?;
        let (from, steps) = convolution.coordinates(&images.layout).map_err(wrong)?;
        let mut emitter = Emitter::new(Builder::before(op), &all.inputs);
        let mut parts = Vec::new();
        for (declared, computed) in [
            (Value::IntTuple(start), Value::IntTuple(from)),
            (Value::Layout(layout), Value::Layout(steps)),
        ] {
            let leaves = emitter.leaves_for(&declared, &computed)?;
            parts.extend(leaves.ok_or_else(|| unlike(op))?);
        }
        self.leaves.insert(key(coords), parts);
        Ok(true)
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
        let is_memory = matches!(CuteType::of(result.r#type()), Some(CuteType::MemRef(_)));
        if self.checks && is_memory {
            self.assert_all(op, &mut emitter, &all.inputs, &checks)?;
        }
        let mut unsure = Vec::new();
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
                let pointer = self.pointer_of(source, builder)?;
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
                let start = Value::IntTuple(start.map_err(wrong)?);
                if self.checks {
                    let inputs = &all.inputs;
                    unsure = self.assert_for_layout(op, &mut emitter, inputs, &checks, &start)?;
                }
                parts.extend(emit_dynamic(&mut emitter, &start)?);
            }
            _ => return Err(unlike(op)),
        }
        // A declared type may know less of what was computed: the stride of an extent of 1.
        let declared = dynamic_layout(result.r#type()).ok_or_else(|| unlike(op))?;
        let leaves =
            emitter.leaves_for(&Value::Layout(declared), &Value::Layout(plain.view.layout))?;
        let leaves = leaves.ok_or_else(|| unlike(op))?;
        parts.extend(leaves.iter().copied());
        if !unsure.is_empty() {
            let asserts = unsure;
            self.unsure.push(Unsure { leaves, asserts });
        }
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
                let pointer = self.pointer_of(tensor, builder)?;
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
    let offset = match terms {
        true => view.start(&int(0), indices).map_err(|e| builder.error(e))?,
        false => int(0),
    };
    let IntTuple::Leaf(offset) = offset else {
        return Err(builder.error(format!("expected one integer as an offset, found {offset}")));
    };
    let width = if result.space == Space::Gmem { 64 } else { 32 };
    // The type of the view may say less of its start than there is to know.
    let is_vague = result.layout.is_static()
        && matches!(CuteType::get(pointer.r#type()), Some(CuteType::Ptr(from)) if from.align != result.align);
    let (leaf, leaves) = match &offset {
        Leaf::Static(0) if !is_vague => return Ok(pointer),
        Leaf::Static(_) if !is_vague => (offset.clone(), vec![]),
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
