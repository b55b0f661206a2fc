//! The target of a `gpu.module` and of a `gpu.object`: MLIR's `#nvvm.target`, read as the attribute that it is.

use super::{Op, array_of, attribute_of, ffi};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::MlirStringRef;

/// An `#nvvm.target`.
#[derive(Clone, Copy, Debug)]
pub struct Target<'c> {
    /// The attribute.
    pub attribute: Attribute<'c>,
    /// The architecture, as ptxas names it; any text.
    pub chip: &'c str,
    /// LLVM's features, such as `+ptx80`.
    pub features: &'c str,
}

impl<'c> Target<'c> {
    /// Chip and features of a target. Errors: another attribute.
    pub fn of(attribute: Attribute<'c>) -> Result<Target<'c>, String> {
        let (mut chip, mut features) = (ffi::string_ref(""), ffi::string_ref(""));
        // SAFETY: the texts belong to the attribute, which lives as long as its context.
        let known = unsafe { ffi::cuteTargetGet(attribute.to_raw(), &mut chip, &mut features) };
        if !known {
            return Err(format!(
                "expected the target #nvvm.target, found {attribute}"
            ));
        }
        let text = |text: MlirStringRef| {
            // SAFETY: as above.
            std::str::from_utf8(unsafe { ffi::bytes(text) })
                .map_err(|_| format!("expected a target whose texts are UTF-8, found {attribute}"))
        };
        Ok(Target {
            attribute,
            chip: text(chip)?,
            features: text(features)?,
        })
    }

    /// The targets of a `gpu.module`; none where it has none yet. Errors: another attribute among them.
    pub fn all(module: Op<'c>) -> Result<Vec<Target<'c>>, String> {
        let Some(targets) = attribute_of(module, "targets") else {
            return Ok(Vec::new());
        };
        let all = array_of(targets)
            .ok_or_else(|| format!("expected an array of targets, found {targets}"))?;
        all.into_iter().map(Target::of).collect()
    }
}
