//! Operations, values, blocks and regions, and how they hang together.

use super::{OpKey, ValueKey, changes, ffi, key, names::ops::gpu, op_key};
use melior::ir::{
    BlockLike, BlockRef, Location, OperationRef, Type, TypeLike, Value, ValueLike,
    operation::OperationLike,
};
use mlir_sys::*;
use std::collections::HashSet;

/// An operation. The handle lives as long as the module that it was reached from may be read, and within a pass as long as the
/// pass, also if the operation is erased.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value of such an operation or block.
pub type Val<'c> = Value<'c, 'c>;
/// A block in such a module.
pub type Blk<'c> = BlockRef<'c, 'c>;

/// The name of `op`.
pub fn name_of(op: Op<'_>) -> &str {
    // SAFETY: names belong to the context.
    unsafe {
        let text = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
        std::str::from_utf8(ffi::bytes(text)).unwrap_or_default()
    }
}

/// Tells whether the op's dialect defines it.
pub fn is_registered(op: Op<'_>) -> bool {
    // SAFETY: op and context live.
    unsafe {
        let name = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
        mlirContextIsRegisteredOperation(mlirOperationGetContext(op.to_raw()), name)
    }
}

/// Tells whether a dialect of the context defines an op of this name.
pub fn is_op(context: &melior::Context, name: &str) -> bool {
    // SAFETY: the context lives, and the name outlives the call.
    unsafe { mlirContextIsRegisteredOperation(context.to_raw(), ffi::string_ref(name)) }
}

/// The end of a message about an op that no dialect defines: the question whether the one that is spelt most like it was meant, if one is near.
pub fn meant_op(context: &melior::Context, name: &str) -> String {
    let mut meant = String::new();
    // SAFETY: the context lives, and the name and the text outlive the call.
    unsafe {
        ffi::cuteMeantOp(
            context.to_raw(),
            ffi::string_ref(name),
            ffi::append,
            (&raw mut meant).cast(),
        );
    }
    meant
}

/// Moves what is in a module to the end of a block, and gives the ops.
pub fn take_ops<'c>(module: melior::ir::Module<'c>, block: Blk<'c>) -> Vec<Op<'c>> {
    changes::count();
    // SAFETY: the module is owned here, so that nobody else has handles of what is in it; each op is owned by the block once it is out of the module's,
    // whose context is the block's.
    unsafe {
        let body = BlockRef::from_raw(mlirModuleGetBody(module.to_raw()));
        let ops = ops_of(body);
        for op in &ops {
            mlirOperationRemoveFromParent(op.to_raw());
            mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
        }
        ops
    }
}

//===-- Operands and results ----------------------------------------------===//

/// The operands of `op`.
pub fn operands_of<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    each_operand(op).collect()
}

/// The operands of `op`, one after the other, where nothing changes them meanwhile.
pub fn each_operand<'c>(op: Op<'c>) -> impl ExactSizeIterator<Item = Val<'c>> {
    (0..op.operand_count()).map(move |at| operand(op, at))
}

/// Operand `index` of `op`. Panics, naming the op, where it has no such operand.
#[track_caller]
pub fn operand(op: Op<'_>, index: usize) -> Val<'_> {
    let count = op.operand_count();
    assert!(
        index < count,
        "expected an operand {index} of '{}', which has {count}",
        name_of(op)
    );
    // SAFETY: the index is below the number of operands.
    unsafe { Value::from_raw(mlirOperationGetOperand(op.to_raw(), index as isize)) }
}

/// The results of `op`.
pub fn results_of<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    (0..op.result_count()).map(|i| result_of(op, i)).collect()
}

/// Result `index` of `op`. Panics, naming the op, where it has no such result.
#[track_caller]
pub fn result_of(op: Op<'_>, index: usize) -> Val<'_> {
    let count = op.result_count();
    assert!(
        index < count,
        "expected a result {index} of '{}', which has {count}",
        name_of(op)
    );
    // SAFETY: the index is below the number of results.
    unsafe { Value::from_raw(mlirOperationGetResult(op.to_raw(), index as isize)) }
}

/// Sets operand `index` of `op`. Panics, naming the op, where it has no such operand.
#[track_caller]
pub fn set_operand<'c>(op: Op<'c>, index: usize, value: Val<'c>) {
    let count = op.operand_count();
    assert!(
        index < count,
        "expected an operand {index} of '{}', which has {count}",
        name_of(op)
    );
    changes::count();
    // SAFETY: the index is below the number of operands.
    unsafe { mlirOperationSetOperand(op.to_raw(), index as isize, value.to_raw()) }
}

/// The operation that defines `value`, unless a block does.
pub fn defining_op(value: Val<'_>) -> Option<Op<'_>> {
    // SAFETY: the owner of a result is asked for, which lives as long.
    unsafe {
        let raw = value.to_raw();
        mlirValueIsAOpResult(raw).then(|| OperationRef::from_raw(mlirOpResultGetOwner(raw)))
    }
}

/// The place of `value` among the results of the operation that defines it.
pub fn result_index(value: Val<'_>) -> Option<usize> {
    // SAFETY: the number of a result is asked for.
    unsafe {
        let raw = value.to_raw();
        mlirValueIsAOpResult(raw).then(|| mlirOpResultGetResultNumber(raw) as usize)
    }
}

/// The block that `value` is an argument of, and its place there.
pub fn block_argument(value: Val<'_>) -> Option<(Blk<'_>, usize)> {
    // SAFETY: the owner of a block's argument is asked for, which lives as long.
    unsafe {
        let raw = value.to_raw();
        mlirValueIsABlockArgument(raw).then(|| {
            (
                BlockRef::from_raw(mlirBlockArgumentGetOwner(raw)),
                mlirBlockArgumentGetArgNumber(raw) as usize,
            )
        })
    }
}

/// The location of the operation or of the block's argument that `value` is.
pub fn location_of(value: Val<'_>) -> Location<'_> {
    // SAFETY: locations belong to the context.
    unsafe { Location::from_raw(mlirValueGetLocation(value.to_raw())) }
}

/// The operations that use `value`, once for each use.
pub fn users_of<'c>(value: Val<'c>) -> Vec<Op<'c>> {
    each_user(value).collect()
}

/// The operations that use `value`, once for each use and one after the other, where nothing changes the uses meanwhile.
pub fn each_user<'c>(value: Val<'c>) -> impl Iterator<Item = Op<'c>> {
    // SAFETY: the value lives, and each use as long as nobody changes it.
    let mut usage = unsafe { mlirValueGetFirstUse(value.to_raw()) };
    std::iter::from_fn(move || {
        if usage.ptr.is_null() {
            return None;
        }
        // SAFETY: as above.
        unsafe {
            let user = OperationRef::from_raw(mlirOpOperandGetOwner(usage));
            usage = mlirOpOperandGetNextUse(usage);
            Some(user)
        }
    })
}

/// Tells whether anything uses a value.
pub fn is_used(value: Val<'_>) -> bool {
    // SAFETY: the value lives.
    unsafe { !mlirValueGetFirstUse(value.to_raw()).ptr.is_null() }
}

/// Makes every user of `old` use `new`.
pub fn replace_uses<'c>(old: Val<'c>, new: Val<'c>) {
    changes::count();
    // SAFETY: both live.
    unsafe { mlirValueReplaceAllUsesOfWith(old.to_raw(), new.to_raw()) }
}

/// Changes the type of a value in place.
pub fn set_type<'c>(value: Val<'c>, ty: Type<'c>) {
    changes::count();
    // SAFETY: both live.
    unsafe { mlirValueSetType(value.to_raw(), ty.to_raw()) }
}

/// Changes the location of an operation.
pub fn set_location<'c>(op: Op<'c>, location: Location<'c>) {
    changes::count();
    // SAFETY: both live.
    unsafe { mlirOperationSetLocation(op.to_raw(), location.to_raw()) }
}

/// Changes the location of a block's argument; that of another value is its operation's.
pub fn set_argument_location<'c>(value: Val<'c>, location: Location<'c>) {
    changes::count();
    // SAFETY: both live, and only arguments are given.
    unsafe {
        if mlirValueIsABlockArgument(value.to_raw()) {
            mlirBlockArgumentSetLocation(value.to_raw(), location.to_raw());
        }
    }
}

/// The values that `op` uses: its operands, and what its regions take from around it.
pub fn values_used_by<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut used = operands_of(op);
    if op.region_count() == 0 {
        return used;
    }
    let within = nested_ops(op);
    let arguments = std::iter::once(op).chain(within.iter().copied());
    let own: HashSet<ValueKey> = within
        .iter()
        .flat_map(|op| results_of(*op))
        .chain(arguments.flat_map(blocks_of).flat_map(arguments_of))
        .map(key)
        .collect();
    let mut met: HashSet<ValueKey> = used.iter().copied().map(key).collect();
    for value in within.into_iter().flat_map(operands_of) {
        if !own.contains(&key(value)) && met.insert(key(value)) {
            used.push(value);
        }
    }
    used
}

/// The first of these values that an operation uses which is not among `inside`, nor within them, and that operation.
pub fn used_outside<'c>(
    values: impl IntoIterator<Item = Val<'c>>,
    inside: &[Op<'c>],
) -> Option<(Val<'c>, Op<'c>)> {
    let used: Vec<Val<'c>> = values.into_iter().filter(|value| is_used(*value)).collect();
    if used.is_empty() {
        return None;
    }
    let inside: HashSet<OpKey> = inside
        .iter()
        .flat_map(|op| nested_ops(*op).into_iter().chain([*op]))
        .map(op_key)
        .collect();
    let outside = |user: &Op<'c>| !inside.contains(&op_key(*user));
    used.into_iter().find_map(|value| {
        let user = users_of(value).into_iter().find(outside)?;
        Some((value, user))
    })
}

//===-- Blocks and regions ------------------------------------------------===//

/// The operations of `block`, collected so that they may be changed.
pub fn ops_of<'c>(block: Blk<'c>) -> Vec<Op<'c>> {
    let mut ops = Vec::new();
    // SAFETY: nothing changes the list meanwhile.
    unsafe {
        let mut next = OperationRef::from_option_raw(mlirBlockGetFirstOperation(block.to_raw()));
        while let Some(op) = next {
            ops.push(op);
            next = OperationRef::from_option_raw(mlirOperationGetNextInBlock(op.to_raw()));
        }
    }
    ops
}

/// The first operation of a block.
pub fn first_of(block: Blk<'_>) -> Option<Op<'_>> {
    // SAFETY: the block lives.
    unsafe { OperationRef::from_option_raw(mlirBlockGetFirstOperation(block.to_raw())) }
}

/// The operation that ends a block, where there is one.
pub fn terminator_of(block: Blk<'_>) -> Option<Op<'_>> {
    // SAFETY: the block lives.
    unsafe { OperationRef::from_option_raw(mlirBlockGetTerminator(block.to_raw())) }
}

/// The operation behind `op` in its block.
pub fn next_of(op: Op<'_>) -> Option<Op<'_>> {
    // SAFETY: the op lives.
    unsafe { OperationRef::from_option_raw(mlirOperationGetNextInBlock(op.to_raw())) }
}

/// The block that `op` is in.
pub fn block_of(op: Op<'_>) -> Option<Blk<'_>> {
    // SAFETY: the op lives.
    unsafe { BlockRef::from_option_raw(mlirOperationGetBlock(op.to_raw())) }
}

/// The first block of region `index` of `op`.
pub fn body_of<'c>(op: Op<'c>, index: usize) -> Option<Blk<'c>> {
    // SAFETY: the index is below the number of regions.
    unsafe {
        if index as isize >= mlirOperationGetNumRegions(op.to_raw()) {
            return None;
        }
        BlockRef::from_option_raw(mlirRegionGetFirstBlock(mlirOperationGetRegion(
            op.to_raw(),
            index as isize,
        )))
    }
}

/// The blocks of all regions of `op`, in order.
pub fn blocks_of<'c>(op: Op<'c>) -> Vec<Blk<'c>> {
    // Most have none, and are asked often.
    match op.region_count() {
        0 => Vec::new(),
        count => (0..count)
            .flat_map(|region| blocks_of_region(op, region))
            .collect(),
    }
}

/// The blocks of region `index` of `op`, none where it has no such region.
pub fn blocks_of_region<'c>(op: Op<'c>, index: usize) -> Vec<Blk<'c>> {
    let mut blocks = Vec::new();
    let mut next = body_of(op, index);
    while let Some(block) = next {
        blocks.push(block);
        next = next_block(block);
    }
    blocks
}

/// The block behind `block` in its region.
pub fn next_block(block: Blk<'_>) -> Option<Blk<'_>> {
    // SAFETY: the block lives.
    unsafe { BlockRef::from_option_raw(mlirBlockGetNextInRegion(block.to_raw())) }
}

/// The blocks that the last operation of `block` may go on to.
pub fn successors_of<'c>(block: Blk<'c>) -> Vec<Blk<'c>> {
    // SAFETY: indices are below the number of successors.
    unsafe {
        (0..mlirBlockGetNumSuccessors(block.to_raw()))
            // None is left of an operation that is erased.
            .filter_map(|i| BlockRef::from_option_raw(mlirBlockGetSuccessor(block.to_raw(), i)))
            .collect()
    }
}

/// The arguments of `block`.
pub fn arguments_of<'c>(block: Blk<'c>) -> Vec<Val<'c>> {
    (0..block.argument_count())
        .map(|i| argument(block, i))
        .collect()
}

/// Argument `index` of `block`. Panics where it has no such argument.
#[track_caller]
pub fn argument<'c>(block: Blk<'c>, index: usize) -> Val<'c> {
    let count = block.argument_count();
    assert!(index < count, "expected an argument {index} of {count}");
    // SAFETY: the index is below the number of arguments.
    unsafe { Value::from_raw(mlirBlockGetArgument(block.to_raw(), index as isize)) }
}

/// Adds an argument to `block`, at `index` of at most their number. Panics beyond it.
#[track_caller]
pub fn insert_argument<'c>(
    block: Blk<'c>,
    index: usize,
    ty: Type<'c>,
    location: Location<'c>,
) -> Val<'c> {
    let count = block.argument_count();
    assert!(
        index <= count,
        "expected a place of at most {count}, found {index}"
    );
    changes::count();
    // SAFETY: the index is at most the number of arguments.
    unsafe {
        Value::from_raw(mlirBlockInsertArgument(
            block.to_raw(),
            index as isize,
            ty.to_raw(),
            location.to_raw(),
        ))
    }
}

/// The kernels, each a `gpu.func`, within `op`, or `op` itself where it is one.
pub fn kernels<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let is_kernel = |op: &Op<'c>| name_of(*op) == gpu::FUNC;
    if is_kernel(&op) {
        return vec![op];
    }
    nested_ops(op).into_iter().filter(is_kernel).collect()
}

/// All operations within `op`, outermost first, collected so that they may be changed.
pub fn nested_ops<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let mut all = Vec::new();
    for block in blocks_of(op) {
        add_nested_ops(block, &mut all);
    }
    all
}

/// All operations within `block`, outermost first, collected so that they may be changed.
pub fn nested_ops_of<'c>(block: Blk<'c>) -> Vec<Op<'c>> {
    let mut all = Vec::new();
    add_nested_ops(block, &mut all);
    all
}

fn add_nested_ops<'c>(block: Blk<'c>, all: &mut Vec<Op<'c>>) {
    let mut next = first_of(block);
    while let Some(inner) = next {
        all.push(inner);
        for block in blocks_of(inner) {
            add_nested_ops(block, all);
        }
        next = next_of(inner);
    }
}

/// The operation that a block is of.
pub fn owner_of<'c>(block: Blk<'c>) -> Option<Op<'c>> {
    // SAFETY: the block lives, and its owner as long.
    unsafe { OperationRef::from_option_raw(mlirBlockGetParentOperation(block.to_raw())) }
}

/// The operation that `op` is in.
pub fn parent_op<'c>(op: Op<'c>) -> Option<Op<'c>> {
    // SAFETY: the op lives, and its parent as long.
    unsafe { OperationRef::from_option_raw(mlirOperationGetParentOperation(op.to_raw())) }
}

/// The innermost operation around `op` with that name.
pub fn parent_of<'c>(op: Op<'c>, name: &str) -> Option<Op<'c>> {
    let mut op = op;
    loop {
        op = parent_op(op)?;
        if name_of(op) == name {
            return Some(op);
        }
    }
}
