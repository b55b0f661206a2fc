//! The check that a kernel's atoms can be lowered for its architectures.

use crate::{arch, config::VECTOR};
use cute_ir::ops::{cute, gpu};
use cute_ir::{
    Failure, diag,
    mlir::*,
    types::{self, CuteType},
};
use cute_layout::{CopyAtom, MmaAtom};
use cute_target::{Arch, Requirement};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Checks that an architecture has what `cute-tile` cuts products of whole tensors up for: asynchronous copies into shared
/// memory, and products of 16x8x16.
pub(crate) fn check_gemm(arch: Arch) -> Result<(), String> {
    let copy = CopyAtom::cp_async(VECTOR, 8 * VECTOR).map_err(|e| e.to_string())?;
    let product = MmaAtom::named(PRODUCT).map_err(|e| e.to_string())?;
    for (name, requires) in [(copy.name, copy.requires), (product.name, product.requires)] {
        if !arch.has(requires) {
            return Err(format!(
                "is computed with {name}, which exists on {requires}; found arch={arch}: compile it for an architecture that \
                 has it, or write the kernel by hand with atoms that {arch} has (docs/kernels.md)"
            ));
        }
    }
    Ok(())
}

/// The product of the kernels that `cute-tile` makes.
const PRODUCT: &str = "SM80_16x8x16_F32F16F16F32_TN";

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
