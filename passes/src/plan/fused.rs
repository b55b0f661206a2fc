//! The plans of products in a fused region: tiles whose rows each belong to one warp, so that a row's reductions stay in it.

use super::{Access, sm80};
use cute_ir::plan::Plan;
use cute_target::Archs;
use melior::ir::Type;

/// A product of a fused region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fused<'c> {
    /// The types of the elements of both factors, and of what is stored of the sums.
    pub(crate) elements: [Type<'c>; 3],
    /// The type of the sums.
    pub(crate) accumulate: Type<'c>,
    /// The accesses to the factors and the result in global memory.
    pub(crate) accesses: [Access; 3],
    /// M, N and K of the tile.
    pub(crate) tile: [i64; 3],
    /// Warps of the block, each with rows of its own.
    pub(crate) warps: i64,
    /// Tiles of the second factor that are under way at once.
    pub(crate) stages: i64,
}

/// The rows of an atom of the products that fused regions take.
pub(crate) const ATOM_ROWS: i64 = 16;

impl<'c> Fused<'c> {
    /// The plan of the product. Errors: a tile that its instructions do not cover; an instruction that an architecture lacks.
    pub(crate) fn plan(&self, archs: &Archs) -> Result<Plan<'c>, String> {
        let builder = sm80::Builder::new(
            self.elements,
            self.accumulate,
            self.accesses,
            [None, None],
            [false; 2],
        )?;
        builder.by_rows(self.tile, self.warps, self.stages, archs)
    }
}
