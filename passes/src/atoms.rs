//! The check that an architecture has the atoms that `cute-tile` cuts products up for.

use crate::config::VECTOR;
use cute_layout::{CopyAtom, MmaAtom};
use cute_target::Arch;

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
