//! The threads of a kernel's blocks, as far as its text says who they are.

use crate::build::*;
use melior::ir::AttributeLike;
use mlir_sys::*;

/// The threads of a block along x, y and z, where the kernel around `op` has `known_block_size`.
pub fn block_size(op: Op<'_>) -> Option<[i64; 3]> {
    block_size_of(parent_of(op, "gpu.func")?)
}

/// The threads of a kernel's blocks along x, y and z, where it has `known_block_size`.
pub fn block_size_of(kernel: Op<'_>) -> Option<[i64; 3]> {
    let size = attribute_of(kernel, "known_block_size")?.to_raw();
    unsafe {
        (mlirAttributeIsADenseI32Array(size) && mlirDenseArrayGetNumElements(size) == 3)
            .then(|| [0, 1, 2].map(|i| mlirDenseI32ArrayGetElement(size, i).into()))
    }
}

/// The dimension whose `gpu.thread_id` a coordinate or an integer is, unchanged.
pub fn thread_dimension(value: Val<'_>) -> Option<usize> {
    let mut value = value;
    loop {
        let op = defining_op(value)?;
        match name_of(op) {
            "gpu.thread_id" => {
                let dimension = attribute_of(op, "dimension")?.to_string();
                return ["#gpu<dim x>", "#gpu<dim y>", "#gpu<dim z>"]
                    .iter()
                    .position(|name| dimension == *name);
            }
            "cute.make_coord" | "arith.index_cast" | "arith.index_castui" | "arith.extsi"
            | "arith.extui" | "arith.trunci" => {
                let [source] = operands_of(op)[..] else {
                    return None;
                };
                value = source;
            }
            _ => return None,
        }
    }
}
