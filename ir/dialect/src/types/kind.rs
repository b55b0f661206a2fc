//! The kinds of types and attributes, with what they mean to the tables of atoms.

pub(crate) use crate::mlir::Kind;
use cute_layout::atoms::Family;

/// The family of an MMA atom's type.
pub(super) fn family(kind: Kind) -> Option<Family> {
    Some(match kind {
        Kind::UniversalFma => Family::Universal,
        Kind::Sm70Mma => Family::Sm70,
        Kind::Sm75Mma => Family::Sm75,
        Kind::Sm80Mma => Family::Sm80,
        Kind::Sm89Mma => Family::Sm89,
        Kind::Sm90WarpMma => Family::Sm90Warp,
        Kind::Sm90Mma => Family::Sm90,
        Kind::Sm120Mma => Family::Sm120,
        Kind::Sm120MmaBs => Family::Sm120BlockScaled,
        _ => return None,
    })
}
