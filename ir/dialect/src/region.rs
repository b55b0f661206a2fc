//! Regions of operations on numbers: the part that one of the yielded values is computed by.

use crate::mlir::*;
use std::collections::HashSet;

/// The values that a block yields: the operands of its last operation.
pub fn yielded<'c>(block: Blk<'c>) -> Vec<Val<'c>> {
    ops_of(block).pop().map(operands_of).unwrap_or_default()
}

/// The operations of a block that a value is computed by, in their order.
pub fn computing<'c>(block: Blk<'c>, value: Val<'c>) -> Vec<Op<'c>> {
    let mut needed = HashSet::from([key(value)]);
    let mut found = Vec::new();
    for op in ops_of(block).into_iter().rev() {
        if results_of(op)
            .iter()
            .any(|result| needed.contains(&key(*result)))
        {
            needed.extend(operands_of(op).into_iter().map(key));
            found.push(op);
        }
    }
    found.reverse();
    found
}

/// Tells of each argument of a block whether a value is computed of it.
pub fn arguments_used<'c>(block: Blk<'c>, value: Val<'c>) -> Vec<bool> {
    let operands = computing(block, value).into_iter().flat_map(operands_of);
    let used: HashSet<_> = operands.chain([value]).map(key).collect();
    let arguments = arguments_of(block).into_iter();
    arguments
        .map(|argument| used.contains(&key(argument)))
        .collect()
}
