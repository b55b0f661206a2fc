//! `cute-check`: what GPU modules hold that no pass lowers, said where it stands and before anything is lowered.

use crate::{arch::THREADS_PER_BLOCK, bulk_loads::check_bytes, launch::launches_of, loops};
use cute_ir::attributes::{PLAN, ROLES, STAGES, SYNCHRONIZE};
use cute_ir::ops::{cute, cute_nvgpu, func, gpu, scf};
use cute_ir::{
    Anchor, Failure, PassSpec,
    block::block_size_of,
    diag::{self, each},
    mlir::*,
    names::{self, dialect_of},
    types::{self, CuteType, Space},
    verify::check_rounding,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-check",
    description: "Refuse kernels and functions of GPU modules that cannot be compiled",
    anchor: Anchor::Module,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let sound = each(nested_ops(module), without_prefix);
    let sound = sound.and(each(kernels(module), |kernel| {
        threads(kernel)?;
        ordered_by_hand(kernel)?;
        each(pipelined(kernel), |(op, _)| {
            left_to_the_compiler(kernel, op)
        })?;
        each(launches_of(module, kernel), |launch| {
            launched(kernel, launch)
        })?;
        check_bytes(&nested_ops(kernel))?;
        each(nested_ops(kernel), computed_as_said)?;
        arguments(kernel)
    }));
    let of_devices = nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == func::FUNC && parent_of(*op, gpu::MODULE).is_some());
    sound.and(each(of_devices, |function| {
        each(nested_ops(function), computed_as_said)?;
        device_function(function)
    }))
}

/// Attributes of the dialects that lack their prefix say nothing on ops of others.
fn without_prefix<'c>(op: Op<'c>) -> Result<(), Failure> {
    // The dialects' own ops have verified theirs.
    if matches!(dialect_of(op), "cute" | "cute_nvgpu") {
        return Ok(());
    }
    let own: &[&str] = match name_of(op) {
        gpu::FUNC => &["known_block_size", "known_grid_size", "known_cluster_size"],
        _ => &[],
    };
    each(attributes_of(op), |(name, _)| {
        let of_cute = cute_ir::verify::without_prefix(op, name);
        let is_short = |known: &&&str| known.strip_prefix("known_") == Some(name);
        let near = || match own.contains(&name) {
            true => None,
            false => own
                .iter()
                .find(is_short)
                .copied()
                .or_else(|| names::nearest(name, own.iter().copied())),
        };
        let meant = of_cute.or_else(near);
        match meant {
            Some(meant) => Err(diag::error(
                op.location(),
                format!(
                    "'{}' op has the attribute '{name}', which nothing reads; did you mean '{meant}'?",
                    name_of(op)
                ),
            )),
            None => Ok(()),
        }
    })
}

/// Checks that instructions compute what an op says: conversions round to the nearest number, and an index has 32 bits.
fn computed_as_said(op: Op<'_>) -> Result<(), Failure> {
    let refuse = |message: String| Err(diag::error(op.location(), message));
    if let Err(message) = check_rounding(op) {
        return refuse(format!(
            "{message}, or write an instruction that rounds so, such as cvt.rz.f16.f32, by llvm.inline_asm"
        ));
    }
    if let Some(turning) = scf::For::of(op) {
        return loops::check(turning);
    }
    let made = results_of(op)
        .into_iter()
        .find(|value| is_index(value.r#type()));
    match made.and_then(constant_of) {
        Some(found) if i32::try_from(found).is_err() => refuse(format!(
            "expected an index that 32 bits with a sign hold, which an index of a kernel has, found {found}; compute with i64"
        )),
        _ => Ok(()),
    }
}

/// A block has at least one thread, and no more than the hardware runs.
fn threads<'c>(kernel: Op<'c>) -> Result<(), Failure> {
    let Some(size) = block_size_of(kernel) else {
        return Ok(());
    };
    let all = size.into_iter().fold(1, i64::saturating_mul);
    if size.iter().all(|n| *n >= 1) && all <= THREADS_PER_BLOCK {
        return Ok(());
    }
    Err(diag::error(
        kernel.location(),
        format!(
            "expected known_block_size of at least 1 thread along x, y and z, and at most {THREADS_PER_BLOCK} in all, found {} \
             x {} x {}",
            size[0], size[1], size[2]
        ),
    ))
}

/// A launch has the threads that the kernel says, as far as it says them by constants: the driver refuses others.
fn launched<'c>(kernel: Op<'c>, launch: Op<'c>) -> Result<(), Failure> {
    let (Some(size), Some(launched)) = (block_size_of(kernel), gpu::LaunchFunc::of(launch)) else {
        return Ok(());
    };
    let threads = [
        launched.block_size_x(),
        launched.block_size_y(),
        launched.block_size_z(),
    ];
    let found = threads.map(constant_of);
    if (found.iter().zip(size)).all(|(found, size)| found.is_none_or(|found| found == size)) {
        return Ok(());
    }
    let found = found.map(|n| n.map_or("?".to_owned(), |n| n.to_string()));
    let [x, y, z] = size;
    Err(diag::error_with_notes(
        launch.location(),
        format!(
            "'{}' op launches blocks of {} threads, but the kernel has known_block_size = array<i32: {x}, {y}, {z}>; expected the same, as cute.launch \
             takes it from there",
            name_of(launch),
            found.join(" x ")
        ),
        &[(kernel.location(), "the kernel")],
    ))
}

/// The loops of a kernel that are to be pipelined, and their stages.
pub(crate) fn pipelined(kernel: Op<'_>) -> Vec<(scf::For<'_>, i64)> {
    let loops = nested_ops(kernel).into_iter().filter_map(scf::For::of);
    loops
        .filter_map(|op| Some((op, integer_of(op.op(), STAGES)?)))
        .collect()
}

/// A kernel with a loop that is to be pipelined says itself that it leaves its synchronisation to the compiler: the loop may be taken
/// away by a pass that knows nothing of it, such as MLIR's `canonicalize` where it has no turn or one.
pub(crate) fn left_to_the_compiler<'c>(kernel: Op<'c>, op: scf::For<'c>) -> Result<(), Failure> {
    // What is cut into roles, or partitioned by a plan, says so from then on.
    let says = |name: &&str| attribute_of(kernel, name).is_some();
    if [SYNCHRONIZE, ROLES, PLAN].iter().any(says) {
        return Ok(());
    }
    Err(diag::error_with_notes(
        op.op().location(),
        format!(
            "'{}' op has {STAGES}, but its kernel does not leave synchronisation to the compiler; expected {SYNCHRONIZE} among the \
             attributes of the kernel, or no {STAGES} and waits and barriers of its own",
            name_of(op.op())
        ),
        &[(kernel.location(), "the kernel")],
    ))
}

/// The order that barriers in shared memory and groups of a warpgroup make is the author's business: the compiler knows no barriers of
/// its own for it.
fn ordered_by_hand<'c>(kernel: Op<'c>) -> Result<(), Failure> {
    // What is cut into roles is ordered there.
    if attribute_of(kernel, ROLES).is_some() {
        return Ok(());
    }
    let ops = nested_ops(kernel);
    let by_hand = |op: &Op<'c>| {
        matches!(
            name_of(*op),
            cute_nvgpu::MBARRIER_INIT
                | cute_nvgpu::PIPELINE_CREATE
                | cute_nvgpu::TMA_LOAD
                | cute_nvgpu::TMA_STORE
                | cute_nvgpu::BULK_LOAD
                | cute_nvgpu::BULK_STORE
                | cute_nvgpu::ARCH_MAP_DSMEM
                | cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE
                | cute_nvgpu::WGMMA_COMMIT_GROUP
        )
    };
    let Some(op) = ops.iter().copied().find(by_hand) else {
        return Ok(());
    };
    let left = std::iter::once(kernel)
        .chain(ops.iter().copied())
        .find(|op| attribute_of(*op, SYNCHRONIZE).is_some() || attribute_of(*op, STAGES).is_some());
    let Some(left) = left else {
        return Ok(());
    };
    Err(diag::error_with_notes(
        op.location(),
        format!(
            "'{}' op stands in a kernel that leaves synchronisation to the compiler, which does not order it; expected a kernel without \
             {STAGES} and {SYNCHRONIZE}, with waits and barriers of its own",
            name_of(op)
        ),
        &[(left.location(), "the attribute is here")],
    ))
}

/// Tells whether a launch can pass values of this type: tensors and pointers into global memory, values whose leaves
/// `cute-lower-layouts` passes, numbers of whole bytes and truth values.
fn passes(ty: Type<'_>) -> bool {
    match CuteType::of(ty) {
        Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) => {
            matches!(memref.space, Space::Gmem | Space::Generic)
        }
        Some(CuteType::Tma { .. }) => true,
        Some(other) => other.value().is_some() || other.tensor_layout().is_some(),
        None => {
            let text = ty.to_string();
            text == "index"
                || text.starts_with("!llvm.")
                || text.starts_with("vector<")
                || types::element_bits(ty).is_some_and(|bits| bits == 1 || bits >= 8)
        }
    }
}

fn arguments<'c>(kernel: Op<'c>) -> Result<(), Failure> {
    let Some(body) = body_of(kernel, 0) else {
        return Ok(());
    };
    for i in 0..melior::ir::BlockLike::argument_count(&body) {
        let ty = argument(body, i).r#type();
        if passes(ty) {
            continue;
        }
        let cure = match CuteType::of(ty) {
            Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) => format!(
                "a launch has no {} to pass: allocate it in the kernel by cute.memref.alloca",
                memref.space
            ),
            Some(CuteType::Any) => "only calls say what it stands for: write the type".to_owned(),
            Some(_) => "its type says all of it: make it in the kernel, by cute.make_atom, cute.make_tiled_copy and \
                        cute.make_tiled_mma"
                .to_owned(),
            None => "pass a number as f16, f32, i8 to i64 or i1, and anything else as a tensor in gmem"
                .to_owned(),
        };
        return Err(diag::error(
            kernel.location(),
            format!(
                "expected kernel arguments that a launch can pass, tensors in gmem and numbers, found argument \
                 {i} of type {ty}; {cure}"
            ),
        ));
    }
    Ok(())
}

/// Functions beside kernels take and give numbers, vectors, and values of the layout algebra.
fn device_function(function: Op<'_>) -> Result<(), Failure> {
    let name = string_of(function, "sym_name").unwrap_or_default();
    let signature =
        attribute_of(function, "function_type").map_or_else(String::new, |t| t.to_string());
    // Coordinates, shapes and layouts are passed as their leaves.
    let refused = [
        "!cute.memref<",
        "!cute.ptr<",
        "!cute.tiled_",
        "!cute_nvgpu.",
    ];
    if refused.iter().any(|name| signature.contains(name)) {
        return Err(diag::error(
            function.location(),
            format!(
                "functions on tensors, pointers and atoms are put in place of their calls, and @{name}, {signature}, is still here: call it \
                 by its name in place of taking its address, and run cute-inline first"
            ),
        ));
    }
    let allocation = nested_ops(function)
        .into_iter()
        .find(|op| name_of(*op) == cute::MEMREF_ALLOCA);
    match allocation {
        Some(op) => Err(diag::error(
            op.location(),
            format!(
                "expected '{}' in a kernel, whose registers and shared memory it takes, found it in the function @{name}: call it by its \
                 name in place of taking its address, and run cute-inline first",
                name_of(op)
            ),
        )),
        None => Ok(()),
    }
}
