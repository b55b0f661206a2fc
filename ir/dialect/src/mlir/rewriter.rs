//! Erasure.

use super::{
    Blk, BlockKey, Op, Val, arguments_of, block_key, block_of, blocks_of, changes, ffi, is_used,
    name_of, ops_of, owner_of, result_of, results_of, successors_of, used_outside, users_of,
};
use crate::diag::{self, Failure};
use melior::ir::{
    Block, BlockLike, Identifier, OperationRef, Region, RegionLike, ValueLike,
    operation::{OperationBuilder, OperationLike},
};
use mlir_sys::*;
use rustc_hash::FxHashSet;
use std::{
    cell::RefCell, collections::HashSet, ffi::c_void, marker::PhantomData,
    panic::Location as Caller,
};

/// The right to erase, which each pass is handed for as long as it runs.
///
/// An operation that is erased leaves the module at once and uses nothing any more; its memory is freed when the pass has ended, so that no
/// handle of the pass outlives what it names, and no other value or operation gets its [key](super::key). What is still used
/// is not erased, but is an error.
pub struct Rewriter<'c> {
    graveyard: RefCell<Graveyard>,
    pass: PhantomData<std::cell::Cell<&'c ()>>,
}

#[derive(Default)]
struct Graveyard {
    ops: FxHashSet<usize>,
    blocks: FxHashSet<usize>,
    /// Arguments of blocks, which have to stay where they are until no handle of them is left.
    arguments: FxHashSet<usize>,
}

impl Drop for Rewriter<'_> {
    fn drop(&mut self) {
        let all = self.graveyard.get_mut();
        for value in all.arguments.drain() {
            let value = MlirValue {
                ptr: value as *mut c_void,
            };
            // SAFETY: nothing is freed yet, so that the block lives. An argument that is used again meanwhile stays.
            unsafe {
                if mlirValueGetFirstUse(value).ptr.is_null() {
                    let index = mlirBlockArgumentGetArgNumber(value);
                    mlirBlockEraseArgument(mlirBlockArgumentGetOwner(value), index as u32);
                }
            }
        }
        // SAFETY: what is buried is in no block or region, is not used, and uses nothing; each is buried once.
        unsafe {
            for op in all.ops.drain() {
                mlirOperationDestroy(MlirOperation {
                    ptr: op as *mut c_void,
                });
            }
            for block in all.blocks.drain() {
                mlirBlockDestroy(MlirBlock {
                    ptr: block as *mut c_void,
                });
            }
        }
    }
}

impl<'c> Rewriter<'c> {
    /// Calls `body` with a rewriter, which is dropped when it returns.
    ///
    /// # Safety
    /// `op` lives until then, and nobody else reaches it meanwhile.
    pub(super) unsafe fn scope<T>(
        op: MlirOperation,
        body: impl for<'r> FnOnce(&'r Rewriter<'r>, Op<'r>) -> T,
    ) -> T {
        let rewriter = Rewriter {
            graveyard: RefCell::default(),
            pass: PhantomData,
        };
        // SAFETY: as `body` takes any lifetime, nothing that it returns or keeps has this one, so that neither the reference nor
        // a handle is used after the rewriter is dropped. The op is the caller's.
        unsafe { body(&*std::ptr::from_ref(&rewriter), OperationRef::from_raw(op)) }
    }

    /// Calls `body` with a module, and with the right to erase within it.
    pub fn within<T>(
        module: &mut melior::ir::Module<'_>,
        body: impl for<'r> FnOnce(&'r Rewriter<'r>, Op<'r>) -> T,
    ) -> T {
        // SAFETY: the module is borrowed for this call alone.
        unsafe { Rewriter::scope(module.as_operation().to_raw(), body) }
    }

    /// Erases an operation.
    ///
    /// # Errors
    /// A result that is used, at its user, with nothing erased. That is an error of the pass, and says where it stands.
    #[track_caller]
    pub fn erase(&self, op: Op<'c>) -> Result<(), Failure> {
        let caller = Caller::caller();
        if let Some((_, user)) = used_outside(results_of(op), &[op]) {
            return Err(still_used(op, user, caller));
        }
        self.bury(op);
        Ok(())
    }

    /// Erases an operation that nothing uses the results of. Returns whether it did.
    pub fn erase_if_unused(&self, op: Op<'c>) -> bool {
        let is_unused = (0..op.result_count()).all(|at| !is_used(result_of(op, at)));
        if is_unused {
            self.bury(op);
        }
        is_unused
    }

    /// Erases operations that others have taken the place of, users first.
    ///
    /// # Errors
    /// A result that is used by an operation which stays, at the user, with nothing erased.
    pub fn erase_all(&self, ops: Vec<Op<'c>>) -> Result<(), Failure> {
        if let Some((value, user)) = used_outside(ops.iter().flat_map(|op| results_of(*op)), &ops) {
            return Err(no_form(value, user));
        }
        ops.into_iter().for_each(|op| self.bury(op));
        Ok(())
    }

    /// Erases blocks, which may use each other's values and go on to each other.
    ///
    /// # Errors
    /// A value of theirs that is used elsewhere, or another block that goes on to one of them, with nothing erased: an error of the
    /// pass.
    #[track_caller]
    pub fn erase_blocks(&self, blocks: &[Blk<'c>]) -> Result<(), Failure> {
        let caller = Caller::caller();
        let ops: Vec<Op<'c>> = blocks.iter().flat_map(|block| ops_of(*block)).collect();
        let values = ops.iter().flat_map(|op| results_of(*op));
        let values = values.chain(blocks.iter().flat_map(|block| arguments_of(*block)));
        if let Some((value, user)) = used_outside(values, &ops) {
            let op = super::defining_op(value).unwrap_or(user);
            return Err(still_used(op, user, caller));
        }
        let within: HashSet<BlockKey> = blocks.iter().map(|block| block_key(*block)).collect();
        let others = blocks
            .iter()
            .filter_map(|block| owner_of(*block))
            .flat_map(blocks_of);
        for other in others.filter(|block| !within.contains(&block_key(*block))) {
            let goes_there = successors_of(other)
                .into_iter()
                .any(|next| within.contains(&block_key(next)));
            if let (true, Some(end)) = (goes_there, ops_of(other).pop()) {
                let text = format!("'{}' goes on to a block that is to be erased", name_of(end));
                return Err(diag::bug(end.location(), caller, &text));
            }
        }
        for op in ops {
            drop_references(op);
        }
        changes::count();
        let mut graveyard = self.graveyard.borrow_mut();
        for block in blocks {
            // A block that is erased already is in no region any more.
            if graveyard.blocks.insert(block.to_raw().ptr as usize) {
                // SAFETY: the block lives, in a region.
                unsafe { mlirBlockDetach(block.to_raw()) };
            }
        }
        Ok(())
    }

    /// Erases argument `index` of a block when the pass ends.
    ///
    /// # Errors
    /// An argument that is used, at its user: an error of the pass.
    #[track_caller]
    pub fn erase_argument(&self, block: Blk<'c>, index: usize) -> Result<(), Failure> {
        let caller = Caller::caller();
        let value = super::argument(block, index);
        if let Some(user) = users_of(value).first() {
            return Err(still_used(*user, *user, caller));
        }
        changes::count();
        let mut graveyard = self.graveyard.borrow_mut();
        graveyard.arguments.insert(value.to_raw().ptr as usize);
        Ok(())
    }

    /// Puts a new operation in the place of `op`: of its name, with its successors, and with its regions, which move. Errors:
    /// operands, results or attributes that an op of that name does not have.
    pub fn recreate(
        &self,
        op: Op<'c>,
        operands: &[Val<'c>],
        results: &[melior::ir::Type<'c>],
        attributes: &[(&str, melior::ir::Attribute<'c>)],
    ) -> Result<Op<'c>, Failure> {
        use melior::ir::{AttributeLike, TypeLike};
        changes::count();
        let block = block_of(op)
            .ok_or_else(|| diag::error(op.location(), "expected an operation in a block"))?;
        let raw_operands: Vec<_> = operands.iter().map(|v| v.to_raw()).collect();
        let raw_results: Vec<_> = results.iter().map(|t| t.to_raw()).collect();
        // SAFETY: all lists have as many entries as is said, and everything in them lives in the op's context. The regions are
        // owned by the new op.
        let new = unsafe {
            let context = mlirOperationGetContext(op.to_raw());
            let attributes: Vec<_> = attributes
                .iter()
                .map(|(name, attribute)| MlirNamedAttribute {
                    name: mlirIdentifierGet(context, ffi::string_ref(name)),
                    attribute: attribute.to_raw(),
                })
                .collect();
            let name = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
            let mut state = mlirOperationStateGet(name, op.location().to_raw());
            mlirOperationStateAddOperands(
                &mut state,
                raw_operands.len() as isize,
                raw_operands.as_ptr(),
            );
            mlirOperationStateAddResults(
                &mut state,
                raw_results.len() as isize,
                raw_results.as_ptr(),
            );
            mlirOperationStateAddAttributes(
                &mut state,
                attributes.len() as isize,
                attributes.as_ptr(),
            );
            let successors: Vec<MlirBlock> = (0..mlirOperationGetNumSuccessors(op.to_raw()))
                .map(|i| mlirOperationGetSuccessor(op.to_raw(), i))
                .collect();
            mlirOperationStateAddSuccessors(
                &mut state,
                successors.len() as isize,
                successors.as_ptr(),
            );
            let regions: Vec<MlirRegion> = (0..mlirOperationGetNumRegions(op.to_raw()))
                .map(|i| {
                    let region = mlirRegionCreate();
                    mlirRegionTakeBody(region, mlirOperationGetRegion(op.to_raw(), i));
                    region
                })
                .collect();
            mlirOperationStateAddOwnedRegions(&mut state, regions.len() as isize, regions.as_ptr());
            OperationRef::from_option_raw(mlirOperationCreate(&mut state))
        };
        let new: Op<'c> = new.ok_or_else(|| {
            let text = format!("cannot build '{}' anew", name_of(op));
            diag::error(op.location(), text)
        })?;
        // SAFETY: the new op is in no block yet, and `op` is in this one.
        unsafe { mlirBlockInsertOwnedOperationBefore(block.to_raw(), op.to_raw(), new.to_raw()) };
        Ok(new)
    }

    fn bury(&self, op: Op<'c>) {
        changes::count();
        drop_references(op);
        let mut graveyard = self.graveyard.borrow_mut();
        if graveyard.ops.insert(op.to_raw().ptr as usize) {
            // SAFETY: the op lives; one that is in no block stays out of one.
            unsafe { mlirOperationRemoveFromParent(op.to_raw()) };
        }
    }
}

/// An op that is not in the module: a copy of `op`, freed with this.
pub struct OwnedCopy<'c>(melior::ir::Operation<'c>);

impl<'c> OwnedCopy<'c> {
    /// A copy of `op` and of what is within it.
    pub fn of(op: Op<'c>) -> Self {
        // SAFETY: the copy is owned by nobody else.
        Self(unsafe { melior::ir::Operation::from_raw(mlirOperationClone(op.to_raw())) })
    }

    /// A copy of `op`, whose region has one block, with copies of these ops of the block alone. Errors: an op that cannot be made so.
    pub fn of_parts(op: Op<'c>, parts: &[Op<'c>]) -> Result<Self, Failure> {
        let (region, block) = (Region::new(), Block::new(&[]));
        for part in parts {
            // SAFETY: the copy is owned by nobody else until it is in the block.
            block.append_operation(unsafe {
                melior::ir::Operation::from_raw(mlirOperationClone(part.to_raw()))
            });
        }
        region.append_block(block);
        let context = super::context_of(op);
        let attributes = super::attributes_of(op).into_iter();
        let attributes =
            attributes.map(|(name, attribute)| (Identifier::new(context, name), attribute));
        let attributes: Vec<_> = attributes.collect();
        let copy = OperationBuilder::new(name_of(op), op.location())
            .add_attributes(&attributes)
            .add_regions_vec(vec![region])
            .build();
        copy.map(Self).map_err(|error| {
            let text = format!("cannot build '{}' of its parts: {error}", name_of(op));
            diag::error(op.location(), text)
        })
    }

    pub(super) fn raw(&mut self) -> MlirOperation {
        self.0.to_raw()
    }

    /// Another copy of the same.
    pub(super) fn again(&self) -> Self {
        // SAFETY: the copy is owned by nobody else.
        Self(unsafe { melior::ir::Operation::from_raw(mlirOperationClone(self.0.to_raw())) })
    }

    /// Calls `body` with the copy, and with the right to erase within it.
    pub fn with<T>(&mut self, body: impl for<'r> FnOnce(&'r Rewriter<'r>, Op<'r>) -> T) -> T {
        // SAFETY: the copy is borrowed for this call alone.
        unsafe { Rewriter::scope(self.0.to_raw(), body) }
    }
}

/// Lets `op`, and what is within it, use nothing.
fn drop_references(op: Op<'_>) {
    // SAFETY: the op lives.
    unsafe { ffi::cuteOpDropReferences(op.to_raw()) }
}

fn still_used(op: Op<'_>, user: Op<'_>, caller: &Caller<'_>) -> Failure {
    diag::bug(
        user.location(),
        caller,
        &format!(
            "'{}' uses '{}', which is to be erased",
            name_of(user),
            name_of(op)
        ),
    )
}

/// The error of an op that takes a value of which nothing is left on the level below, at the op.
pub fn no_form<'c>(value: Val<'c>, user: Op<'c>) -> Failure {
    diag::error(
        user.location(),
        format!(
            "'{}' op takes a value of type {}, which has no form of its own on the level below; expected it to be used where \
             it is made: let branches, loops and calls hand on integers, and make coordinates and tensors of them there",
            name_of(user),
            value.r#type()
        ),
    )
}
