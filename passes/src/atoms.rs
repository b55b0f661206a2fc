//! The check that a kernel's atoms can be lowered for its architectures.

use crate::arch;
use cute_ir::ops::{cute, gpu};
use cute_ir::{
    Failure, diag,
    mlir::*,
    types::{self, CuteType},
};
use cute_target::Requirement;
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Checks that every atom of a kernel is lowered, and that its architectures have it.
pub fn check(kernel: Op<'_>) -> Result<(), Failure> {
    let archs = parent_of(kernel, gpu::MODULE)
        .map_or(Ok(Vec::new()), arch::of_module)
        .map_err(|e| diag::error(kernel.location(), e))?;
    for op in nested_ops(kernel) {
        let made = cute::MakeAtom::of(op).map(|op| op.atom());
        let Some(made) = made.or_else(|| Some(cute::Static::of(op)?.result())) else {
            continue;
        };
        let Some((name, requires, lowered)) = table_of(made.r#type()) else {
            continue;
        };
        let fail = |message: String| {
            Err(diag::error(
                op.location(),
                format!("'{}' op {message}", name_of(op)),
            ))
        };
        if !lowered {
            return fail(format!(
                "makes {name}, which is in the table, no instruction yet: its layouts can be asked for, and a kernel needs \
                 an atom that is lowered, such as !cute_nvgpu.sm80.mma of f16, bf16, tf32, f64 or 8-bit integers"
            ));
        }
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

/// (name, where it exists, whether it is lowered) of an atom, or of that which something is tiled over.
fn table_of(ty: Type<'_>) -> Option<(String, Requirement, bool)> {
    match CuteType::of(ty)? {
        CuteType::TiledCopy { atom, .. } | CuteType::TiledMma { atom, .. } => table_of(atom),
        atom @ CuteType::CopyAtom { .. } => {
            let table = types::copy_atom(&atom).ok()?;
            Some((table.name, table.requires, true))
        }
        atom @ CuteType::MmaAtom { .. } => {
            let table = types::mma_atom(&atom).ok()?;
            Some((table.name, table.requires, table.lowered))
        }
        _ => None,
    }
}
