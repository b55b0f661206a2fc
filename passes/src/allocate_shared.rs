//! `cute-allocate-shared`: places shared-memory tensors in the kernel's dynamic shared memory.
//!
//! Tensors that are not used at the same time share bytes: a tensor lives from the first to the
//! last operation of the kernel's body that uses it, loops counting as one. Where a tensor takes
//! over bytes of an earlier one, a barrier stands between the two unless there is one already. The
//! size reaches the launch, and must be within what the architecture has.

use crate::{
    arch::Arch,
    config::Config,
    partition::{body_of_kernel, is_memory, kernels, root_of},
    sync,
};
use cute_ir::{
    Failure, PassSpec,
    build::*,
    diag,
    infer::memref_of,
    types::{CuteType, Space},
};
use melior::ir::{AttributeLike, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-allocate-shared",
    description: "Place shared-memory tensors, reusing bytes, and size the launches",
    anchor: "builtin.module",
    options: &[],
    run,
};

/// What a kernel's dynamic shared memory needs, in bytes, is left on it under this name.
pub const SIZE: &str = "cute.dynamic_smem";

/// A tensor in shared memory. Positions are those of the body's operations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Buffer {
    bytes: i64,
    align: i64,
    first: usize,
    last: usize,
}

impl Buffer {
    fn used(&mut self, position: usize) {
        self.first = self.first.min(position);
        self.last = self.last.max(position);
    }
}

/// Whether a tensor or a pointer is into shared memory.
fn in_shared(value: Val<'_>) -> bool {
    matches!(
        CuteType::of(value.r#type()),
        Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) if memref.space == Space::Smem
    )
}

fn run<'c>(module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        let wrong = |e| diag::error(kernel.location(), e);
        let arch = crate::arch::of_kernel(kernel).map_err(wrong)?;
        let config = Config::load_if_any(kernel).map_err(wrong)?;
        let size = place(kernel, config.map(|(config, _)| config), arch)?;
        set_attribute(kernel, SIZE, Builder::before(kernel).i64_attribute(size));
        let name = |op| string_of(op, "sym_name").unwrap_or_default();
        let home = parent_of(kernel, "gpu.module")
            .map(name)
            .unwrap_or_default();
        let symbol = format!("@{home}::@{}", name(kernel));
        for launch in nested_ops(module)
            .into_iter()
            .filter(|op| name_of(*op) == "gpu.launch_func")
        {
            let target = attribute_of(launch, "kernel").map(|a| a.to_string());
            if target.as_deref() == Some(&symbol) {
                resize(launch, size)?;
            }
        }
    }
    Ok(())
}

fn place<'c>(kernel: Op<'c>, config: Option<Config>, arch: &Arch) -> Result<i64, Failure> {
    let body = body_of_kernel(kernel)?;
    let ops = ops_of(body);
    let mut index: HashMap<usize, usize> = HashMap::new();
    let mut allocations = Vec::new();
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut anything = Vec::new();
    for (position, op) in ops.iter().enumerate() {
        for inner in std::iter::once(*op).chain(nested_ops(*op)) {
            if name_of(inner) == "cute.memref.alloca" {
                let memref = memref_of(result_of(inner, 0)).ok_or(Failure)?;
                if memref.space == Space::Smem {
                    let bytes = memref
                        .bytes()
                        .map_err(|e| diag::error(inner.location(), e))?;
                    index.insert(key(result_of(inner, 0)), buffers.len());
                    allocations.push(inner);
                    buffers.push(Buffer {
                        bytes,
                        align: memref.align,
                        first: usize::MAX,
                        last: 0,
                    });
                }
                continue;
            }
            // Views are used where they are accessed.
            let is_view = name_of(inner).starts_with("cute.")
                && inner.result_count() == 1
                && is_memory(result_of(inner, 0));
            if is_view {
                continue;
            }
            for operand in operands_of(inner).into_iter().filter(|v| is_memory(*v)) {
                match index.get(&key(root_of(operand))) {
                    Some(buffer) => buffers[*buffer].used(position),
                    None if in_shared(operand) => anything.push(position),
                    None => {}
                }
            }
        }
    }
    // Through a loop, a branch or a choice any of them may be meant.
    for position in anything {
        buffers.iter_mut().for_each(|buffer| buffer.used(position));
    }
    // What nothing uses takes no place.
    for buffer in buffers
        .iter_mut()
        .filter(|buffer| buffer.first == usize::MAX)
    {
        *buffer = Buffer {
            bytes: 0,
            first: 0,
            last: 0,
            ..*buffer
        };
    }
    let offsets = pack(&buffers);
    let size = buffers
        .iter()
        .zip(&offsets)
        .map(|(b, o)| o + b.bytes)
        .max()
        .unwrap_or(0);
    if size > arch.shared_memory() {
        let cure = config.map_or("; use smaller or fewer tensors".to_owned(), |config| {
            crate::config::Request::default()
                .alternative(config, config.tile, arch)
                .map_or(String::new(), |fits| {
                    format!("; {} fits", fits.to_options())
                })
        });
        return Err(diag::error(
            kernel.location(),
            format!(
                "the kernel needs {size} bytes of shared memory, {} has {}{cure}",
                arch.name,
                arch.shared_memory()
            ),
        ));
    }
    for ((op, buffer), offset) in allocations.iter().zip(&buffers).zip(&offsets) {
        set_attribute(*op, "offset", Builder::before(*op).i64_attribute(*offset));
        let reuses = buffers.iter().zip(&offsets).any(|(other, at)| {
            other.last < buffer.first
                && overlap(*offset, buffer.bytes, *at, other.bytes)
                && !ops[other.last + 1..buffer.first]
                    .iter()
                    .any(|op| name_of(*op) == "gpu.barrier")
        });
        if reuses {
            Builder::before(ops[buffer.first]).step(sync::THREADS).op(
                "gpu.barrier",
                &[],
                &[],
                &[],
            )?;
        }
    }
    Ok(size)
}

fn overlap(a: i64, a_bytes: i64, b: i64, b_bytes: i64) -> bool {
    a < b + b_bytes && b < a + a_bytes
}

/// Offsets, the largest buffers first, each at the lowest place that no buffer of its time has.
fn pack(buffers: &[Buffer]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(buffers[*i].bytes));
    let mut offsets = vec![0; buffers.len()];
    let mut placed: Vec<usize> = Vec::new();
    for i in order {
        let buffer = &buffers[i];
        let mut taken: Vec<(i64, i64)> = placed
            .iter()
            .filter(|j| buffers[**j].first <= buffer.last && buffer.first <= buffers[**j].last)
            .map(|j| (offsets[*j], offsets[*j] + buffers[*j].bytes))
            .collect();
        taken.sort_unstable();
        let mut offset = 0i64;
        for (from, to) in taken {
            if offset + buffer.bytes <= from {
                break;
            }
            offset = round_up(offset.max(to), buffer.align);
        }
        offsets[i] = offset;
        placed.push(i);
    }
    offsets
}

fn round_up(value: i64, to: i64) -> i64 {
    (value + to - 1) / to * to
}

/// Sets the launch's dynamic shared memory.
fn resize<'c>(launch: Op<'c>, bytes: i64) -> Result<(), Failure> {
    let b = Builder::before(launch);
    match dynamic_size_operand(launch) {
        Some(index) => {
            let size = b.i32(bytes)?;
            unsafe {
                mlir_sys::mlirOperationSetOperand(launch.to_raw(), index as isize, size.to_raw());
            }
            Ok(())
        }
        None if bytes == 0 => Ok(()),
        None => Err(b.error(format!(
            "expected a launch with dynamic_shared_memory_size, for the kernel needs {bytes} bytes; write \
             `dynamic_shared_memory_size %c0`: the compiler sets it"
        ))),
    }
}

/// The place of `dynamicSharedMemorySize` among the operands of a `gpu.launch_func`.
fn dynamic_size_operand(launch: Op<'_>) -> Option<usize> {
    // Asynchronous dependencies, grid, block, cluster, the size, what the kernel takes, the stream.
    const SIZE: usize = 10;
    let segments = attribute_of(launch, "operandSegmentSizes")?.to_raw();
    let count = |i: usize| unsafe { mlir_sys::mlirDenseI32ArrayGetElement(segments, i as isize) };
    (unsafe { mlir_sys::mlirDenseArrayGetNumElements(segments) } > SIZE as isize
        && count(SIZE) == 1)
        .then(|| (0..SIZE).map(|i| count(i) as usize).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: i64, align: i64, first: usize, last: usize) -> Buffer {
        Buffer {
            bytes,
            align,
            first,
            last,
        }
    }

    #[test]
    fn buffers_of_one_time_do_not_overlap_and_others_do() {
        let buffers = [
            buffer(24576, 512, 1, 5),
            buffer(24576, 512, 1, 5),
            buffer(32768, 2048, 6, 7),
            buffer(100, 16, 5, 6),
        ];
        let offsets = pack(&buffers);
        for (i, a) in buffers.iter().enumerate() {
            assert_eq!(offsets[i] % a.align, 0);
            for (j, b) in buffers.iter().enumerate().skip(i + 1) {
                let together = a.first <= b.last && b.first <= a.last;
                assert!(!together || !overlap(offsets[i], a.bytes, offsets[j], b.bytes));
            }
        }
        assert_eq!(offsets[2], 0);
        let end = buffers.iter().zip(&offsets).map(|(b, o)| b.bytes + o).max();
        assert_eq!(end, Some(2 * 24576 + 112 - 12));
    }
}
