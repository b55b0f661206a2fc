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
    (0..op.region_count())
        .map(|region| blocks_of_region(op, region))
        .collect()
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

/// Tells whether an argument of this type of a block of `owner` stays: a tensor that a function of the host takes.
fn stays(owner: Op<'_>, block: Blk<'_>, ty: Type<'_>) -> bool {
    is_host(owner) && body_of(owner, 0) == Some(block) && tensors::is_memory(ty)
}

/// Tells whether an operand stays as it is: a tensor for a function of the host.
fn stays_passed(op: Op<'_>, operand: Val<'_>) -> bool {
    name_of(op) == "func.call"
        && parent_of(op, "gpu.module").is_none()
        && tensors::is_memory(operand.r#type())
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
        let types = leaf_types(old.r#type()).filter(|_| !stays(owner, block, old.r#type()));
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
                if leaves.contains_key(&key(old)) && !stays(op, block, old.r#type()) {
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
            let flat = if mine(&operand) && !stays_passed(op, operand) {
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
    let operand_counts: Vec<_> = operands_of(op)
        .iter()
        .map(|v| v.r#type())
        .zip(counts.iter().copied())
        .collect();
    let result_counts: Vec<_> = results_of(op)
        .iter()
        .map(|v| v.r#type())
        .map(|ty| (ty, leaf_types(ty).map_or(1, |leaves| leaves.len())))
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
                    b"arg_attrs" => repeated(old, &operand_counts),
                    b"res_attrs" => repeated(old, &result_counts),
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
        let (inputs, results): (Vec<Type<'c>>, Vec<Type<'c>>) =
            (inputs.collect(), results.collect());
        // Tensors stay arguments of a function of the host; what it returns are the values that a tensor consists of.
        let kept = |ty: Type<'c>| is_host(op) && tensors::is_memory(ty);
        let flat_inputs: Vec<_> = inputs
            .iter()
            .map(|ty| leaf_types(*ty).filter(|_| !kept(*ty)).unwrap_or(vec![*ty]))
            .collect();
        let flat_results: Vec<_> = results
            .iter()
            .map(|ty| leaf_types(*ty).unwrap_or(vec![*ty]))
            .collect();
        for (name, types, flat) in [
            ("arg_attrs", &inputs, &flat_inputs),
            ("res_attrs", &results, &flat_results),
        ] {
            let counts = types.iter().copied().zip(flat.iter().map(Vec::len));
            let counts: Vec<_> = counts.collect();
            if let Some(new) = attribute_of(op, name).and_then(|old| repeated(old, &counts)) {
                set_attribute(op, name, new);
            }
        }
        let raw = |types: Vec<Vec<Type<'c>>>| -> Vec<MlirType> {
            types.iter().flatten().map(|ty| ty.to_raw()).collect()
        };
        let (inputs, results) = (raw(flat_inputs), raw(flat_results));
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

/// The dictionaries of arguments or results: a layout's go to each of its leaves, a tensor's to its pointer alone.
///
/// So many new ones stand for each old one of that type; nothing where there is not a dictionary for each.
fn repeated<'c>(old: Attribute<'c>, counts: &[(Type<'c>, usize)]) -> Option<Attribute<'c>> {
    unsafe {
        let raw = old.to_raw();
        if !mlirAttributeIsAArray(raw) || mlirArrayAttrGetNumElements(raw) != counts.len() as isize
        {
            return None;
        }
        let context = mlirAttributeGetContext(raw);
        let nothing = mlirDictionaryAttrGet(context, 0, std::ptr::null());
        let mut all = Vec::new();
        for (i, (ty, count)) in counts.iter().enumerate() {
            let entry = mlirArrayAttrGetElement(raw, i as isize);
            let pointer_only = tensors::is_memory(*ty);
            all.extend((0..*count).map(|leaf| match leaf {
                1.. if pointer_only => nothing,
                _ => entry,
            }));
        }
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
