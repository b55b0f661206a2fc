//! Whether a kernel's atoms can be lowered for its architectures.

use crate::arch::Arch;
use cute_ir::{
    Failure,
    build::*,
    diag,
    types::{self, CuteType},
};
use melior::ir::{AttributeLike, Type, ValueLike, operation::OperationLike};
use mlir_sys::*;

/// The architectures that the module of a kernel is compiled for; none where it has no targets yet.
pub fn archs_of<'c>(kernel: Op<'c>) -> Result<Vec<&'static Arch>, Failure> {
    let module = parent_of(kernel, "gpu.module");
    let Some(targets) = module.and_then(|module| attribute_of(module, "targets")) else {
        return Ok(Vec::new());
    };
    let raw = targets.to_raw();
    let count = unsafe {
        if mlirAttributeIsAArray(raw) {
            mlirArrayAttrGetNumElements(raw)
        } else {
            0
        }
    };
    let mut archs = Vec::new();
    for i in 0..count {
        let target =
            unsafe { melior::ir::Attribute::from_raw(mlirArrayAttrGetElement(raw, i)).to_string() };
        let chip = target
            .split_once("chip = \"")
            .and_then(|(_, rest)| rest.split('"').next());
        if let Some(chip) = chip {
            archs.push(Arch::find(chip).map_err(|e| diag::error(kernel.location(), e))?);
        }
    }
    Ok(archs)
}

/// Checks that every atom of a kernel is lowered, and that its architectures have it.
pub fn check(kernel: Op<'_>) -> Result<(), Failure> {
    let archs = archs_of(kernel)?;
    for op in nested_ops(kernel) {
        if !matches!(name_of(op), "cute.make_atom" | "cute.static") {
            continue;
        }
        let Some((name, min_sm, lowered)) = table_of(result_of(op, 0).r#type()) else {
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
        if let Some(arch) = archs.iter().find(|arch| arch.sm < min_sm) {
            return fail(format!(
                "makes {name}, which comes with sm_{min_sm}; the kernel is compiled for {}: compile it for arch=sm_{min_sm} \
                 or later, or choose an older atom",
                arch.name
            ));
        }
    }
    Ok(())
}

/// (name, first architecture, whether it is lowered) of an atom, or of that which something is tiled over.
fn table_of(ty: Type<'_>) -> Option<(String, u32, bool)> {
    match CuteType::of(ty)? {
        CuteType::TiledCopy { atom, .. } | CuteType::TiledMma { atom, .. } => table_of(atom),
        atom @ CuteType::CopyAtom { .. } => {
            let table = types::copy_atom(&atom).ok()?;
            Some((table.name, table.min_sm, true))
        }
        atom @ CuteType::MmaAtom { .. } => {
            let table = types::mma_atom(&atom).ok()?;
            Some((table.name, table.min_sm, table.lowered))
        }
        _ => None,
    }
}
