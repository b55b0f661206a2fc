//! Functions, calls, branches and loops: each value of a layout type becomes its dynamic leaves.

use super::{Lowering, tensors, value_of};
use cute_ir::{Failure, build::*, diag, types::int_type};
use melior::ir::{
    Attribute, AttributeLike, BlockLike, BlockRef, OperationRef, Type, TypeLike, ValueLike,
    operation::OperationLike,
};
use mlir_sys::*;
use std::collections::{HashMap, HashSet};

/// The blocks of each region of `op`.
pub(super) fn regions_of<'c>(op: Op<'c>) -> Vec<Vec<Blk<'c>>> {
    unsafe {
        (0..mlirOperationGetNumRegions(op.to_raw()))
            .map(|i| {
                let mut blocks = Vec::new();
                let mut block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op.to_raw(), i));
                while !block.ptr.is_null() {
                    blocks.push(BlockRef::from_raw(block));
                    block = mlirBlockGetNextInRegion(block);
                }
                blocks
            })
            .collect()
    }
}

/// The blocks of a region of `op` such that each comes after those that dominate it.
///
/// Those that nothing reaches are erased, for in those a value may be used before it is computed; but those in an op that
/// is not registered come last, for what runs there is not known.
pub(super) fn by_dominance<'c>(op: Op<'c>, blocks: &[Blk<'c>]) -> Vec<Blk<'c>> {
    let Some(entry) = blocks.first() else {
        return Vec::new();
    };
    // Reverse postorder of a depth-first search without recursion.
    let mut seen = HashSet::from([entry.to_raw().ptr as usize]);
    let mut stack = vec![(*entry, 0)];
    let mut order = Vec::with_capacity(blocks.len());
    while let Some((block, next)) = stack.last_mut() {
        let successor = unsafe {
            let raw = block.to_raw();
            (*next < mlirBlockGetNumSuccessors(raw))
                .then(|| BlockRef::from_raw(mlirBlockGetSuccessor(raw, *next)))
        };
        *next += 1;
        match successor {
            Some(b) if seen.insert(b.to_raw().ptr as usize) => stack.push((b, 0)),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    let dead: Vec<Blk<'c>> = blocks
        .iter()
        .copied()
        .filter(|b| !seen.contains(&(b.to_raw().ptr as usize)))
        .collect();
    let registered = unsafe {
        let name = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
        mlirContextIsRegisteredOperation(mlirOperationGetContext(op.to_raw()), name)
    };
    if registered {
        erase_blocks(&dead);
    } else {
        order.extend(dead);
    }
    order
}

/// Erases blocks that only they themselves refer to.
fn erase_blocks(blocks: &[Blk<'_>]) {
    let ops: Vec<Op<'_>> = blocks.iter().flat_map(|b| ops_of(*b)).collect();
    for op in ops
        .iter()
        .flat_map(|op| nested_ops(*op))
        .chain(ops.iter().copied())
    {
        unsafe { mlirOperationSetOperands(op.to_raw(), 0, std::ptr::null()) };
    }
    ops.into_iter().for_each(erase);
    for block in blocks {
        unsafe {
            mlirBlockDetach(block.to_raw());
            mlirBlockDestroy(block.to_raw());
        }
    }
}

/// The types of the dynamic leaves that stand for a value of this type; nothing for other types.
fn leaf_types<'c>(ty: Type<'c>) -> Option<Vec<Type<'c>>> {
    if let Some(parts) = tensors::part_types(ty) {
        return Some(parts);
    }
    let value = value_of(ty)?;
    let context = context_of_type(ty);
    Some(
        value
            .dynamic_leaves()
            .into_iter()
            .map(|d| int_type(context, d.width))
            .collect(),
    )
}

fn flat_types<'c>(types: impl Iterator<Item = Type<'c>>) -> Vec<Type<'c>> {
    types
        .flat_map(|ty| leaf_types(ty).unwrap_or_else(|| vec![ty]))
        .collect()
}

/// Whether it is a function of the host, whose tensors stay its arguments: the launch plan knows what is of them.
pub(super) fn is_host(op: Op<'_>) -> bool {
    name_of(op) == "func.func" && parent_of(op, "gpu.module").is_none()
}

/// Whether values of this type stay arguments of `owner`.
fn stays(owner: Op<'_>, ty: Type<'_>) -> bool {
    is_host(owner) && tensors::is_memory(ty)
}

/// Arguments for the leaves behind the arguments that are there, which stay until nothing uses them.
pub(super) fn flatten_arguments<'c>(
    block: Blk<'c>,
    owner: Op<'c>,
    leaves: &mut HashMap<usize, Vec<Val<'c>>>,
) {
    let count = block.argument_count();
    // From the last to the first, so that the places of those before stay.
    for i in (0..count).rev() {
        let old = argument(block, i);
        let types = leaf_types(old.r#type()).filter(|_| !stays(owner, old.r#type()));
        let Some(types) = types else {
            continue;
        };
        let new = types
            .into_iter()
            .enumerate()
            .map(|(k, ty)| unsafe {
                let raw = mlirBlockInsertArgument(
                    block.to_raw(),
                    (i + 1 + k) as isize,
                    ty.to_raw(),
                    owner.location().to_raw(),
                );
                melior::ir::Value::from_raw(raw)
            })
            .collect();
        leaves.insert(key(old), new);
    }
}

/// Erases the arguments that have leaves in `op`; `last_uses` may still give their uses something else.
pub(super) fn drop_arguments<'c>(
    op: Op<'c>,
    leaves: &HashMap<usize, Vec<Val<'c>>>,
    last_uses: &mut dyn FnMut(Blk<'c>, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for blocks in regions_of(op) {
        for block in blocks {
            for i in (0..block.argument_count()).rev() {
                let old = argument(block, i);
                if leaves.contains_key(&key(old)) && !stays(op, old.r#type()) {
                    last_uses(block, i)?;
                    unsafe { mlirBlockEraseArgument(block.to_raw(), i as u32) };
                }
            }
            for inner in ops_of(block) {
                drop_arguments(inner, leaves, last_uses)?;
            }
        }
    }
    Ok(())
}

/// Whether what enters the regions of such an op is its operands, as they are, or what calls it passes.
pub(super) fn enters(name: &str) -> bool {
    passes_on(name) || matches!(name, "func.func" | "gpu.func")
}

/// Ops whose operands and results are values passed on as they are.
fn passes_on(name: &str) -> bool {
    matches!(
        name,
        "func.return"
            | "func.call"
            | "gpu.return"
            | "gpu.launch_func"
            | "scf.for"
            | "scf.while"
            | "scf.if"
            | "scf.yield"
            | "scf.condition"
            | "scf.execute_region"
            | "scf.index_switch"
            | "cf.br"
            | "cf.cond_br"
            | "cf.switch"
            | "arith.select"
    )
}

impl<'c> Lowering<'c> {
    /// An op outside the algebra, with leaves in place of layout values; the op that stands there now.
    pub(super) fn carry(&mut self, op: Op<'c>) -> Result<Op<'c>, Failure> {
        let name = name_of(op);
        if matches!(name, "func.func" | "gpu.func") {
            flatten_signature(op)?;
            return Ok(op);
        }
        if name == "func.constant" && mentions_layouts(result_of(op, 0).r#type()) {
            return Err(diag::error(
                op.location(),
                format!(
                    "cannot take the address of a function of type {}, for layouts are passed as their dynamic leaves; \
                     call it by name, or give it integers",
                    result_of(op, 0).r#type()
                ),
            ));
        }
        let results: Vec<Val<'c>> = (0..op.result_count()).map(|i| result_of(op, i)).collect();
        let mine = |v: &Val<'c>| tensors::has_leaves(v.r#type());
        if !operands_of(op).iter().any(mine) && !results.iter().any(mine) {
            return Ok(op);
        }
        if name == "arith.select" {
            return self.select(op);
        }
        if !passes_on(name) {
            // The op keeps its operands: whatever they are, `finish` gives them a value.
            return Ok(op);
        }
        let mut operands = Vec::new();
        let mut counts = Vec::new();
        for operand in operands_of(op) {
            let flat = if mine(&operand) {
                self.leaves_of(operand)?
            } else {
                vec![operand]
            };
            counts.push(flat.len());
            operands.extend(flat);
        }
        let types = flat_types(results.iter().map(|v| v.r#type()));
        let new = rebuild(op, &operands, &counts, &types)?;
        let mut next = 0;
        for old in results {
            match leaf_types(old.r#type()) {
                Some(types) => {
                    let leaves = (next..next + types.len()).map(|i| result_of(new, i));
                    self.leaves.insert(key(old), leaves.collect());
                    next += types.len();
                }
                None => {
                    replace_uses(old, result_of(new, next));
                    next += 1;
                }
            }
        }
        self.dead.push(op);
        Ok(new)
    }

    fn select(&mut self, op: Op<'c>) -> Result<Op<'c>, Failure> {
        let operands = operands_of(op);
        let [condition, then, other] = operands[..] else {
            return Ok(op);
        };
        let builder = Builder::before(op);
        let sides = self
            .leaves_of(then)?
            .into_iter()
            .zip(self.leaves_of(other)?);
        let leaves = sides
            .map(|(a, b)| builder.value("arith.select", &[condition, a, b], a.r#type(), &[]))
            .collect::<Result<_, _>>()?;
        self.leaves.insert(key(result_of(op, 0)), leaves);
        self.dead.push(op);
        Ok(op)
    }
}

/// The same op with other operands and result types; regions and successors move to it.
///
/// `counts`: how many of the new operands stand for each old one.
fn rebuild<'c>(
    op: Op<'c>,
    operands: &[Val<'c>],
    counts: &[usize],
    results: &[Type<'c>],
) -> Result<Op<'c>, Failure> {
    let builder = Builder::before(op);
    let operand_types: Vec<Type<'c>> = operands_of(op).iter().map(|v| v.r#type()).collect();
    let result_types: Vec<Type<'c>> = (0..op.result_count())
        .map(|i| result_of(op, i).r#type())
        .collect();
    unsafe {
        let text = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
        let mut state = mlirOperationStateGet(text, op.location().to_raw());
        let raw: Vec<MlirValue> = operands.iter().map(|v| v.to_raw()).collect();
        mlirOperationStateAddOperands(&mut state, raw.len() as isize, raw.as_ptr());
        let types: Vec<MlirType> = results.iter().map(|t| t.to_raw()).collect();
        mlirOperationStateAddResults(&mut state, types.len() as isize, types.as_ptr());
        let attributes: Vec<MlirNamedAttribute> = (0..mlirOperationGetNumAttributes(op.to_raw()))
            .map(|i| mlirOperationGetAttribute(op.to_raw(), i))
            .map(|mut named| {
                let name = mlirIdentifierStr(named.name);
                let name = std::slice::from_raw_parts(name.data.cast::<u8>(), name.length);
                let old = Attribute::from_raw(named.attribute);
                let new = match name {
                    b"operandSegmentSizes" => grouped(builder, old, counts),
                    // The operands of the cases come last.
                    b"case_operand_segments" => {
                        let all: i32 = i32_array_of(old).iter().flatten().sum();
                        let first = counts.len().saturating_sub(all as usize);
                        grouped(builder, old, &counts[first..])
                    }
                    b"arg_attrs" => repeated(op, old, &operand_types),
                    b"res_attrs" => repeated(op, old, &result_types),
                    _ => None,
                };
                if let Some(new) = new {
                    named.attribute = new.to_raw();
                }
                named
            })
            .collect();
        mlirOperationStateAddAttributes(&mut state, attributes.len() as isize, attributes.as_ptr());
        let successors: Vec<MlirBlock> = (0..mlirOperationGetNumSuccessors(op.to_raw()))
            .map(|i| mlirOperationGetSuccessor(op.to_raw(), i))
            .collect();
        mlirOperationStateAddSuccessors(&mut state, successors.len() as isize, successors.as_ptr());
        let count = mlirOperationGetNumRegions(op.to_raw());
        let regions: Vec<MlirRegion> = (0..count)
            .map(|i| {
                let region = mlirRegionCreate();
                mlirRegionTakeBody(region, mlirOperationGetRegion(op.to_raw(), i));
                region
            })
            .collect();
        mlirOperationStateAddOwnedRegions(&mut state, regions.len() as isize, regions.as_ptr());
        let new = mlirOperationCreate(&mut state);
        let new = OperationRef::from_option_raw(new).ok_or_else(|| {
            diag::error(
                op.location(),
                format!(
                    "cannot pass the leaves of a layout through '{}'",
                    name_of(op)
                ),
            )
        })?;
        let block = op
            .block()
            .ok_or_else(|| diag::error(op.location(), "expected an operation in a block"))?;
        mlirBlockInsertOwnedOperationBefore(block.to_raw(), op.to_raw(), new.to_raw());
        Ok(new)
    }
}

/// Whether a function's type has a layout among its arguments or results.
fn mentions_layouts(ty: Type<'_>) -> bool {
    let raw = ty.to_raw();
    unsafe {
        mlirTypeIsAFunction(raw)
            && (0..mlirFunctionTypeGetNumInputs(raw))
                .map(|i| mlirFunctionTypeGetInput(raw, i))
                .chain(
                    (0..mlirFunctionTypeGetNumResults(raw))
                        .map(|i| mlirFunctionTypeGetResult(raw, i)),
                )
                .any(|ty| leaf_types(Type::from_raw(ty)).is_some())
    }
}

/// The function's type with leaves in place of layouts.
fn flatten_signature<'c>(op: Op<'c>) -> Result<(), Failure> {
    let Some(attribute) = attribute_of(op, "function_type") else {
        return Ok(());
    };
    unsafe {
        let ty = mlirTypeAttrGetValue(attribute.to_raw());
        if !mlirTypeIsAFunction(ty) {
            return Ok(());
        }
        let inputs = (0..mlirFunctionTypeGetNumInputs(ty))
            .map(|i| Type::from_raw(mlirFunctionTypeGetInput(ty, i)));
        let results = (0..mlirFunctionTypeGetNumResults(ty))
            .map(|i| Type::from_raw(mlirFunctionTypeGetResult(ty, i)));
        let flat_types = |types: std::vec::IntoIter<Type<'c>>| -> Vec<Type<'c>> {
            types
                .flat_map(|ty| {
                    leaf_types(ty)
                        .filter(|_| !stays(op, ty))
                        .unwrap_or_else(|| vec![ty])
                })
                .collect()
        };
        let (inputs, results): (Vec<Type<'c>>, Vec<Type<'c>>) =
            (inputs.collect(), results.collect());
        for (name, types) in [("arg_attrs", &inputs), ("res_attrs", &results)] {
            if let Some(new) = attribute_of(op, name).and_then(|old| repeated(op, old, types)) {
                set_attribute(op, name, new);
            }
        }
        let raw = |types: Vec<Type<'c>>| -> Vec<MlirType> {
            flat_types(types.into_iter())
                .iter()
                .map(|t| t.to_raw())
                .collect()
        };
        let (inputs, results) = (raw(inputs), raw(results));
        let new = mlirFunctionTypeGet(
            mlirTypeGetContext(ty),
            inputs.len() as isize,
            inputs.as_ptr(),
            results.len() as isize,
            results.as_ptr(),
        );
        let new = Builder::before(op).type_attribute(Type::from_raw(new));
        set_attribute(op, "function_type", new);
    }
    Ok(())
}

/// The dictionaries of arguments or results of `owner`: a layout's go to each of its leaves.
///
/// Nothing where there is not one for each of `types`.
fn repeated<'c>(owner: Op<'c>, old: Attribute<'c>, types: &[Type<'c>]) -> Option<Attribute<'c>> {
    unsafe {
        let raw = old.to_raw();
        if !mlirAttributeIsAArray(raw) || mlirArrayAttrGetNumElements(raw) != types.len() as isize {
            return None;
        }
        let mut all = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            let entry = mlirArrayAttrGetElement(raw, i as isize);
            let leaves = leaf_types(*ty).filter(|_| !stays(owner, *ty));
            let times = leaves.map_or(1, |leaves| leaves.len());
            all.extend(std::iter::repeat_n(entry, times));
        }
        let context = mlirAttributeGetContext(raw);
        let new = mlirArrayAttrGet(context, all.len() as isize, all.as_ptr());
        Some(Attribute::from_raw(new))
    }
}

/// The sizes of groups of operands, where `counts` of the new operands stand for each old one.
fn grouped<'c>(
    builder: Builder<'c>,
    old: Attribute<'c>,
    counts: &[usize],
) -> Option<Attribute<'c>> {
    let mut counts = counts.iter();
    let new: Vec<i32> = i32_array_of(old)?
        .iter()
        .map(|n| counts.by_ref().take(*n as usize).sum::<usize>() as i32)
        .collect();
    Some(builder.i32_array(&new))
}

/// The numbers of a `DenseI32ArrayAttr`.
fn i32_array_of(attribute: Attribute<'_>) -> Option<Vec<i32>> {
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsADenseI32Array(raw).then(|| {
            (0..mlirDenseArrayGetNumElements(raw))
                .map(|i| mlirDenseI32ArrayGetElement(raw, i))
                .collect()
        })
    }
}
