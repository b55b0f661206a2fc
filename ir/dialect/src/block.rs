//! The threads of a kernel's blocks, as far as its text says who they are.

use crate::mlir::*;
use crate::ops::{arith, cute, gpu};

/// The threads of a block along x, y and z, where the kernel around `op` has `known_block_size`.
pub fn block_size(op: Op<'_>) -> Option<[i64; 3]> {
    block_size_of(parent_of(op, gpu::FUNC)?)
}

/// The threads of a kernel's blocks along x, y and z, where it has `known_block_size`.
pub fn block_size_of(kernel: Op<'_>) -> Option<[i64; 3]> {
    let size = attribute_of(kernel, "known_block_size").and_then(i32s_of)?;
    let [x, y, z] = size[..] else { return None };
    Some([x, y, z].map(i64::from))
}

/// The dimension of an op such as `gpu.thread_id`: 0, 1 or 2 for x, y or z.
pub fn dimension_of(op: Op<'_>) -> Option<usize> {
    let dimension = attribute_of(op, "dimension")?.to_string();
    ["#gpu<dim x>", "#gpu<dim y>", "#gpu<dim z>"]
        .iter()
        .position(|name| dimension == *name)
}

/// The dimension whose `gpu.thread_id` a coordinate or an integer is, unchanged.
pub fn thread_dimension(value: Val<'_>) -> Option<usize> {
    let mut value = value;
    loop {
        let op = defining_op(value)?;
        match name_of(op) {
            gpu::THREAD_ID => return dimension_of(op),
            cute::MAKE_COORD
            | arith::INDEX_CAST
            | arith::INDEX_CASTUI
            | arith::EXTSI
            | arith::EXTUI
            | arith::TRUNCI => {
                let [source] = operands_of(op)[..] else {
                    return None;
                };
                value = source;
            }
            _ => return None,
        }
    }
}
