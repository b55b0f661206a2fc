//! `cute-check-atoms`: atoms that have no instruction here, or none on the kernel's architectures, said where they are made.

use crate::to_nvvm::lowers;
use cute_ir::{
    Anchor, Failure, PassSpec, diag,
    mlir::*,
    ops::{cute, cute_nvgpu, gpu},
    types,
};
use cute_passes::arch;
use cute_target::{Arch, Requirement};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-check-atoms",
    description: "Refuse atoms that have no instruction, or none on the kernel's architectures",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    check(kernel)
}

/// Checks that every atom of a kernel is lowered, and that its architectures have it.
pub(crate) fn check(kernel: Op<'_>) -> Result<(), Failure> {
    let archs = parent_of(kernel, gpu::MODULE)
        .map_or(Ok(Vec::new()), arch::of_module)
        .map_err(|e| diag::error(kernel.location(), e))?;
    for op in nested_ops(kernel) {
        check_op(op, &archs)?;
        let made = cute::MakeAtom::of(op).map(|op| op.atom());
        let Some(made) = made.or_else(|| Some(cute::Static::of(op)?.result())) else {
            continue;
        };
        let Some(row) = row_of(made.r#type()) else {
            continue;
        };
        let name = &row.name;
        let fail = |message: String| {
            Err(diag::error(
                op.location(),
                format!("'{}' op {message}", name_of(op)),
            ))
        };
        if !row.is_lowered {
            return fail(format!(
                "makes {name}, which is in the table, no instruction yet: its layouts can be asked for, and a kernel needs \
                 an atom that is lowered, such as !cute_nvgpu.sm80.mma of f16, bf16, tf32, f64 or 8-bit integers"
            ));
        }
        let requires = row.requires;
        if let Some(arch) = archs.iter().find(|arch| !arch.has(requires)) {
            let cure = match requires.archs().next() {
                Some(first) => {
                    format!("compile it for arch={first}, or choose an atom that {arch} has")
                }
                None => format!("choose an atom that {arch} has"),
            };
            return fail(format!(
                "makes {name}, which exists on {requires}; the kernel is compiled for {arch}: {cure}"
            ));
        }
    }
    Ok(())
}

/// Beginnings of the names of MLIR's own ops whose instructions are younger than the oldest architecture, the longer one first, and where they are (PTX ISA, "Target ISA Notes").
const OF_MLIR: [(&str, Requirement); 10] = [
    ("nvvm.cp.async.bulk", Requirement::Since(9, 0)),
    ("nvvm.cp.async.", Requirement::Since(8, 0)),
    ("nvvm.cluster.", Requirement::Since(9, 0)),
    ("nvvm.read.ptx.sreg.cluster", Requirement::Since(9, 0)),
    ("nvvm.elect.sync", Requirement::Since(9, 0)),
    ("nvvm.fence.proxy", Requirement::Since(9, 0)),
    ("nvvm.fence.mbarrier.init", Requirement::Since(9, 0)),
    ("nvvm.griddepcontrol", Requirement::Since(9, 0)),
    ("nvvm.wgmma.", Requirement::Specific(9, 0)),
    ("nvvm.setmaxregister", Requirement::Accelerated(9, 0)),
];

/// The architectures that have the instruction of an op that is no atom (PTX ISA, "Target ISA Notes" of mbarrier, `cp.async.bulk` and
/// `wgmma`).
fn required(op: Op<'_>) -> Option<Requirement> {
    let of_mlir = |(begin, _): &&(&str, _)| name_of(op).starts_with(begin);
    if let Some((_, requires)) = OF_MLIR.iter().find(of_mlir) {
        return Some(*requires);
    }
    Some(match name_of(op) {
        cute_nvgpu::MBARRIER_INIT
        | cute_nvgpu::MBARRIER_INVAL
        | cute_nvgpu::MBARRIER_ARRIVE
        | cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE => Requirement::Since(8, 0),
        cute_nvgpu::MBARRIER_ARRIVE_AND_EXPECT_TX
        | cute_nvgpu::MBARRIER_EXPECT_TX
        | cute_nvgpu::MBARRIER_WAIT
        | cute_nvgpu::MBARRIER_TRY_WAIT
        | cute_nvgpu::TMA_LOAD
        | cute_nvgpu::TMA_STORE
        | cute_nvgpu::BULK_LOAD
        | cute_nvgpu::BULK_STORE
        | cute_nvgpu::TMA_PREFETCH
        | cute_nvgpu::BULK_PREFETCH
        | cute_nvgpu::ARCH_MAP_DSMEM
        | cute_nvgpu::ST_ASYNC
        | cute_nvgpu::MBARRIER_ARRIVE_AT
        | cute_nvgpu::PREFETCH_TMA_DESC => Requirement::Since(9, 0),
        cute_nvgpu::WGMMA_FENCE | cute_nvgpu::WGMMA_COMMIT_GROUP | cute_nvgpu::WGMMA_WAIT_GROUP => {
            Requirement::Specific(9, 0)
        }
        _ => return None,
    })
}

/// Refuses an op whose instruction an architecture has not.
fn check_op(op: Op<'_>, archs: &[Arch]) -> Result<(), Failure> {
    let Some(requires) = required(op) else {
        return Ok(());
    };
    let Some(arch) = archs.iter().find(|arch| !arch.has(requires)) else {
        return Ok(());
    };
    Err(diag::error(
        op.location(),
        format!(
            "'{}' op is an instruction, which exists on {requires}; the kernel is compiled for {arch}: compile it for arch=sm_90a, or write it \
             with what {arch} has",
            name_of(op)
        ),
    ))
}

/// The facts of an atom's row that say whether a kernel can have it.
struct Row {
    name: String,
    requires: Requirement,
    is_lowered: bool,
}

/// The row of an atom, or of that which something is tiled over.
fn row_of(ty: Type<'_>) -> Option<Row> {
    if let Some(atom) = types::copy_row(ty) {
        return Some(Row {
            name: atom.name.clone(),
            requires: atom.requires,
            is_lowered: true,
        });
    }
    let atom = types::mma_row(ty)?;
    Some(Row {
        name: atom.name.clone(),
        requires: atom.requires,
        is_lowered: lowers(&atom),
    })
}
