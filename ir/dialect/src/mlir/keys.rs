//! Values, ops and blocks as keys of maps.

use super::{Blk, Op, Val};
use melior::ir::{BlockLike, Location, ValueLike};

/// A value as the key of a map. Two handles of one value have one key; within a pass no other value gets it, erased or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueKey(usize);

/// An operation as the key of a map, as [`ValueKey`] is of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpKey(usize);

/// The name of an operation as the key of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameKey(usize);

/// A block as the key of a map, as [`ValueKey`] is of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey(usize);

/// A location as the key of a map: equal ones have one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationKey(usize);

/// The key of a value.
pub fn key(value: Val<'_>) -> ValueKey {
    ValueKey(value.to_raw().ptr as usize)
}

/// The key of an operation.
pub fn op_key(op: Op<'_>) -> OpKey {
    OpKey(op.to_raw().ptr as usize)
}

/// The key of the name of an operation: the same for all of one name.
pub fn name_key(op: Op<'_>) -> NameKey {
    // SAFETY: the op lives.
    NameKey(unsafe { mlir_sys::mlirOperationGetName(op.to_raw()) }.ptr as usize)
}

/// The key of a block.
pub fn block_key(block: Blk<'_>) -> BlockKey {
    BlockKey(block.to_raw().ptr as usize)
}

/// The key of a location.
pub fn location_key(location: Location<'_>) -> LocationKey {
    LocationKey(location.to_raw().ptr as usize)
}
