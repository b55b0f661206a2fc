//! Functions, calls, branches and loops: each value of a layout type becomes its dynamic leaves.

use super::{Lowering, parts, value_of};
use cute_ir::attributes::DIVISOR;
use cute_ir::ops::{arith, func, gpu};
use cute_ir::{
    Failure, diag,
    mlir::*,
    types::{CuteType, int_type},
};
use cute_layout::ops::Value;
use melior::ir::{Attribute, BlockLike, Type, ValueLike, operation::OperationLike};
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
pub(super) fn by_dominance<'c>(
    rewriter: &'c Rewriter<'c>,
    op: Op<'c>,
    blocks: &[Blk<'c>],
) -> Result<Vec<Blk<'c>>, Failure> {
    let Some(entry) = blocks.first() else {
        return Ok(Vec::new());
    };
    // Reverse postorder of a depth-first search without recursion.
    let mut seen = HashSet::from([block_key(*entry)]);
    let mut stack = vec![(*entry, 0)];
    let mut order = Vec::with_capacity(blocks.len());
    while let Some((block, next)) = stack.last_mut() {
        let successor = successors_of(*block).get(*next).copied();
        *next += 1;
        match successor {
            Some(b) if seen.insert(block_key(b)) => stack.push((b, 0)),
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
        .filter(|b| !seen.contains(&block_key(*b)))
        .collect();
    if is_registered(op) {
        rewriter.erase_blocks(&dead)?;
    } else {
        order.extend(dead);
    }
    Ok(order)
}

/// The types of the dynamic leaves that stand for a value of this type; nothing for other types.
pub(super) fn leaf_types<'c>(ty: Type<'c>) -> Option<Vec<Type<'c>>> {
    if let Some(parts) = parts::part_types(ty) {
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

/// Tells whether it is a function of the host, whose tensors stay its arguments: the launch plan knows what is of them.
pub(super) fn is_host(op: Op<'_>) -> bool {
    name_of(op) == func::FUNC && parent_of(op, gpu::MODULE).is_none()
}

/// Tells whether an argument of this type of a block of `owner` stays: a tensor that a function of the host takes.
fn stays(owner: Op<'_>, block: Blk<'_>, ty: Type<'_>) -> bool {
    is_host(owner) && body_of(owner, 0) == Some(block) && parts::is_memory(ty)
}

/// Tells whether an operand stays as it is: a tensor for a function of the host.
fn stays_passed(op: Op<'_>, operand: Val<'_>) -> bool {
    name_of(op) == func::CALL
        && parent_of(op, gpu::MODULE).is_none()
        && parts::is_memory(operand.r#type())
}

/// Arguments for the leaves behind the arguments that are there, which stay until nothing uses them.
pub(super) fn flatten_arguments<'c>(
    block: Blk<'c>,
    owner: Op<'c>,
    leaves: &mut HashMap<ValueKey, Vec<Val<'c>>>,
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
            .map(|(k, ty)| insert_argument(block, i + 1 + k, ty, owner.location()))
            .collect();
        leaves.insert(key(old), new);
    }
}

/// Erases the arguments that have leaves in `op`; `last_uses` may still give their uses something else.
pub(super) fn drop_arguments<'c>(
    rewriter: &'c Rewriter<'c>,
    op: Op<'c>,
    leaves: &HashMap<ValueKey, Vec<Val<'c>>>,
    last_uses: &mut dyn FnMut(Blk<'c>, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for blocks in regions_of(op) {
        for block in blocks {
            for i in (0..block.argument_count()).rev() {
                let old = argument(block, i);
                if leaves.contains_key(&key(old)) && !stays(op, block, old.r#type()) {
                    last_uses(block, i)?;
                    rewriter.erase_argument(block, i)?;
                }
            }
            for inner in ops_of(block) {
                drop_arguments(rewriter, inner, leaves, last_uses)?;
            }
        }
    }
    Ok(())
}

/// Tells whether what enters the regions of an op is its operands, as they are, or what calls it passes.
pub(super) fn enters(op: Op<'_>) -> bool {
    matches!(name_of(op), func::FUNC | gpu::FUNC)
        || (op.region_count() > 0 && ways_of(op).is_some())
}

/// Tells whether the operands and results of an op that has layouts among them are passed on as they are: into its regions and out of them,
/// to another block, out of the region that it ends, or to a function.
fn passes_on(op: Op<'_>) -> bool {
    if matches!(name_of(op), func::CALL | gpu::LAUNCH_FUNC) {
        return true;
    }
    if op.region_count() == 0 {
        let jumps = || block_of(op).is_some_and(|block| !successors_of(block).is_empty());
        return next_of(op).is_none() && (jumps() || parent_op(op).is_some_and(enters));
    }
    let Some(ways) = ways_of(op) else {
        return false;
    };
    let passed: HashSet<ValueKey> = ways
        .iter()
        .flat_map(|way| &way.values)
        .flat_map(|(from, to)| [key(*from), key(*to)])
        .collect();
    let values = operands_of(op).into_iter().chain(results_of(op));
    let mut layouts = values.filter(|value| parts::has_leaves(value.r#type()));
    layouts.all(|value| passed.contains(&key(value)))
}

impl<'c> Lowering<'c> {
    /// An op outside the algebra, with leaves in place of layout values; the op that stands there now.
    pub(super) fn carry(&mut self, op: Op<'c>) -> Result<Op<'c>, Failure> {
        let name = name_of(op);
        if matches!(name, func::FUNC | gpu::FUNC) {
            flatten_signature(op)?;
            return Ok(op);
        }
        let results = results_of(op);
        let address = results
            .iter()
            .map(|v| v.r#type())
            .find(|ty| mentions_layouts(*ty));
        if let (func::CONSTANT, Some(ty)) = (name, address) {
            return Err(diag::error(
                op.location(),
                format!(
                    "cannot take the address of a function of type {ty}, for layouts are passed as their dynamic leaves; \
                     call it by name, or give it integers",
                ),
            ));
        }
        let mine = |v: &Val<'c>| parts::has_leaves(v.r#type());
        if !operands_of(op).iter().any(mine) && !results.iter().any(mine) {
            return Ok(op);
        }
        if let Some(select) = arith::Select::of(op) {
            return self.select(select);
        }
        if !passes_on(op) {
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
        let new = rebuild(self.rewriter, op, &operands, &counts, &types)?;
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

    fn select(&mut self, select: arith::Select<'c>) -> Result<Op<'c>, Failure> {
        let (op, condition) = (select.op(), select.condition());
        let builder = Builder::before(op);
        let sides = self
            .leaves_of(select.true_value())?
            .into_iter()
            .zip(self.leaves_of(select.false_value())?);
        let leaves = sides
            .map(|(a, b)| builder.value(arith::SELECT, &[condition, a, b], a.r#type(), &[]))
            .collect::<Result<_, _>>()?;
        self.leaves.insert(key(select.result()), leaves);
        self.dead.push(op);
        Ok(op)
    }
}

/// The same op with other operands and result types; regions and successors move to it.
///
/// `counts`: how many of the new operands stand for each old one.
fn rebuild<'c>(
    rewriter: &'c Rewriter<'c>,
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
    let attributes: Vec<_> = attributes_of(op)
        .into_iter()
        .map(|(name, old)| {
            let new = match name {
                "operandSegmentSizes" => grouped(builder, old, counts),
                // The operands of the cases come last.
                "case_operand_segments" => {
                    let all: i32 = i32s_of(old).iter().flatten().sum();
                    let first = counts.len().saturating_sub(all as usize);
                    grouped(builder, old, &counts[first..])
                }
                "arg_attrs" => repeated(builder, old, &operand_counts),
                "res_attrs" => repeated(builder, old, &result_counts),
                _ => None,
            };
            (name, new.unwrap_or(old))
        })
        .collect();
    rewriter.recreate(op, operands, results, &attributes)
}

/// Tells whether a function's type has a layout among its arguments or results.
fn mentions_layouts(ty: Type<'_>) -> bool {
    function_types(ty).is_some_and(|(inputs, results)| {
        let mut all = inputs.into_iter().chain(results);
        all.any(|ty| leaf_types(ty).is_some())
    })
}

/// The function's type with leaves in place of layouts.
fn flatten_signature<'c>(op: Op<'c>) -> Result<(), Failure> {
    let Some((inputs, results)) = signature_of(op) else {
        return Ok(());
    };
    // Tensors stay arguments of a function of the host; what it returns are the values that a tensor consists of.
    let kept = |ty: Type<'c>| is_host(op) && parts::is_memory(ty);
    let flat_inputs: Vec<_> = inputs
        .iter()
        .map(|ty| leaf_types(*ty).filter(|_| !kept(*ty)).unwrap_or(vec![*ty]))
        .collect();
    let flat_results: Vec<_> = results
        .iter()
        .map(|ty| leaf_types(*ty).unwrap_or(vec![*ty]))
        .collect();
    let b = Builder::before(op);
    for (name, types, flat) in [
        ("arg_attrs", &inputs, &flat_inputs),
        ("res_attrs", &results, &flat_results),
    ] {
        let counts = types.iter().copied().zip(flat.iter().map(Vec::len));
        let counts: Vec<_> = counts.collect();
        if let Some(new) = attribute_of(op, name).and_then(|old| repeated(b, old, &counts)) {
            set_attribute(op, name, new);
        }
    }
    let new = function_type(b.context, &flat_inputs.concat(), &flat_results.concat());
    set_attribute(op, "function_type", b.type_attribute(new));
    if name_of(op) == gpu::FUNC {
        note_divisors(
            op,
            b,
            &inputs
                .iter()
                .map(|ty| divisors(*ty))
                .collect::<Vec<_>>()
                .concat(),
        )?;
    }
    Ok(())
}

/// The divisors of what stands for an argument, 1 where a type says none.
fn divisors(ty: Type<'_>) -> Vec<i64> {
    let of = |value: &Value| -> Vec<i64> {
        let leaves = value.dynamic_leaves();
        leaves.into_iter().map(|leaf| leaf.div).collect()
    };
    if parts::is_lowered(ty) {
        let numbers = CuteType::of(ty).map(|ty| parts::numbers(&ty));
        let leaves = numbers
            .unwrap_or_default()
            .iter()
            .map(of)
            .collect::<Vec<_>>();
        let pointer = parts::is_memory(ty).then_some(1);
        return pointer.into_iter().chain(leaves.concat()).collect();
    }
    value_of(ty).map_or(vec![1], |value| of(&value))
}

/// Notes what types said of a kernel's arguments that are integers now.
fn note_divisors<'c>(op: Op<'c>, b: Builder<'c>, divisors: &[i64]) -> Result<(), Failure> {
    if divisors.iter().all(|divisor| *divisor == 1) {
        return Ok(());
    }
    let given = attribute_of(op, "arg_attrs").and_then(array_of);
    let given = given.unwrap_or_else(|| vec![empty_dictionary(b.context); divisors.len()]);
    let mut all = Vec::new();
    for (attributes, divisor) in given.into_iter().zip(divisors) {
        let mut entries: Vec<String> = entries_of(attributes)
            .unwrap_or_default()
            .into_iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if *divisor > 1 {
            entries.push(format!("{DIVISOR} = {divisor} : i64"));
        }
        all.push(b.attribute(&format!("{{{}}}", entries.join(", ")))?);
    }
    set_attribute(op, "arg_attrs", array_attribute(b.context, &all));
    Ok(())
}

/// The dictionaries of arguments or results: a layout's go to each of its leaves, a tensor's to its pointer alone.
///
/// So many new ones stand for each old one of that type; nothing where there is not a dictionary for each.
fn repeated<'c>(
    b: Builder<'c>,
    old: Attribute<'c>,
    counts: &[(Type<'c>, usize)],
) -> Option<Attribute<'c>> {
    let entries = array_of(old).filter(|entries| entries.len() == counts.len())?;
    let nothing = empty_dictionary(b.context);
    let mut all = Vec::new();
    for (entry, (ty, count)) in entries.into_iter().zip(counts) {
        let pointer_only = parts::is_memory(*ty);
        all.extend((0..*count).map(|leaf| match leaf {
            1.. if pointer_only => nothing,
            _ => entry,
        }));
    }
    Some(array_attribute(b.context, &all))
}

/// The sizes of groups of operands, where `counts` of the new operands stand for each old one.
fn grouped<'c>(
    builder: Builder<'c>,
    old: Attribute<'c>,
    counts: &[usize],
) -> Option<Attribute<'c>> {
    let mut counts = counts.iter();
    let new: Vec<i32> = i32s_of(old)?
        .iter()
        .map(|n| counts.by_ref().take(*n as usize).sum::<usize>() as i32)
        .collect();
    Some(builder.i32_array(&new))
}
