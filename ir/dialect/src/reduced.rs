//! Outputs of a product that are reduced along rows, columns or both: of what kind, and along which modes. The verifier, `cute-tile` and
//! `cute-partition` read it here.

use crate::{maps::is_same_along, mlir::*, types::MemRef};
use cute_arith::ReduceOp;
use melior::ir::Attribute;

/// The kind of each of so many outputs by the attribute `reduce`; none of an output that is not reduced, and of an unknown kind.
pub fn kinds(reduce: Option<Attribute<'_>>, outputs: usize) -> Vec<Option<ReduceOp>> {
    let named = reduce.and_then(array_of).unwrap_or_default();
    let kind = |at: usize| ReduceOp::named(named.get(at).copied().and_then(string_value)?);
    (0..outputs).map(kind).collect()
}

/// The attribute `reduce` of those kinds; none where nothing is reduced.
pub fn attribute<'c>(b: Builder<'c>, kinds: &[Option<ReduceOp>]) -> Option<Attribute<'c>> {
    if kinds.iter().all(Option::is_none) {
        return None;
    }
    let names = kinds.iter().map(|kind| kind.map_or("", ReduceOp::name));
    let quoted: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    b.attribute(&format!("[{}]", quoted.join(", "))).ok()
}

/// The modes, of rows (0) and columns (1), along which all elements of a tensor are one.
pub fn along(tensor: &MemRef<'_>) -> [bool; 2] {
    [0, 1].map(|mode| is_same_along(&tensor.layout, mode))
}
