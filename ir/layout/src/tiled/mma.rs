//! MMA atoms tiled over threads. Source: CuTe's `mma_atom.hpp`.

use crate::atoms::MmaAtom;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile::Tile;
use std::sync::Arc;

/// An MMA atom repeated over threads along M, N and K, and the tile that one step of all threads covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledMma {
    atom: Arc<MmaAtom>,
    atom_layout: Layout,
    permutation: [Tile; 3],
    tile: [i64; 3],
    thr_vmnk: Layout,
    // Thread index to 1-D index of (ThrV,ThrM,ThrN,ThrK).
    thr_to_vmnk: Layout,
}

pub(super) const AXES: [&str; 3] = ["M", "N", "K"];

impl TiledMma {
    /// `atom_layout_mnk` places copies of the atom (`(2,2,1)`: four warps), `permutation_mnk` says which elements of each
    /// mode one step covers (`[32:1;32:1;16:1]`, `_` for exactly the threads' share). Missing modes are `1:0` and `_`.
    ///
    /// Errors: more than three modes; dynamic leaves; a permutation whose size is no multiple of atom times threads.
    pub fn new(
        atom: impl Into<Arc<MmaAtom>>,
        atom_layout_mnk: Layout,
        permutation_mnk: Tile,
    ) -> Result<TiledMma> {
        const OP: &str = "tiled MMA";
        let atom = atom.into();
        let too_many = |found: String| LayoutError::Rank {
            op: OP,
            expected: "at most three modes (M,N,K)".into(),
            found,
        };
        if atom_layout_mnk.rank() > 3 {
            return Err(too_many(atom_layout_mnk.to_string()));
        }
        let given = match &permutation_mnk {
            Tile::Modes(m) if m.len() <= 3 => m.as_slice(),
            Tile::Underscore => &[],
            _ => return Err(too_many(permutation_mnk.to_string())),
        };
        if let Some(dynamic) = given.iter().find(|t| !t.is_static()) {
            return Err(LayoutError::Dynamic {
                op: OP,
                found: dynamic.to_string(),
            });
        }
        let atom_layout = atom_layout_mnk.append_to_rank(3, &Layout::leaf(1, 0)?)?;
        let thr_vmnk = atom
            .thr_id
            .tiled_product(&Tile::Layout(atom_layout.clone()))?;
        let mut permutation = [Tile::Underscore, Tile::Underscore, Tile::Underscore];
        let mut tile = [0i64; 3];
        for i in 0..3 {
            let threads = thr_vmnk.mode(i + 1)?.size()?;
            let share = threads
                .checked_mul(atom.shape_mnk[i])
                .ok_or(LayoutError::Overflow { op: OP })?;
            let perm = match given.get(i) {
                None | Some(Tile::Underscore) => Tile::Layout(Layout::leaf(share, 1)?),
                Some(t) => t.clone(),
            };
            let size = perm.size().filter(|s| share > 0 && s % share == 0);
            tile[i] = size.ok_or_else(|| LayoutError::Divisibility {
                op: OP,
                expected: format!(
                    "a permutation of {} whose size is a multiple of {share}",
                    AXES[i]
                ),
                found: perm.to_string(),
                cure: format!("use {share}:1, a multiple of it, or `_`"),
            })?;
            permutation[i] = perm;
        }
        let all = Layout::from_modes(&[thr_vmnk.clone(), thr_vmnk.complement_cosize()?])?;
        let active =
            Layout::from_modes(&[Layout::leaf(thr_vmnk.size()?, 1)?, Layout::leaf(1, 0)?])?;
        let thr_to_vmnk = active.composition(&all.right_inverse()?)?;
        Ok(TiledMma {
            atom,
            atom_layout,
            permutation,
            tile,
            thr_vmnk,
            thr_to_vmnk,
        })
    }

    /// The atom.
    pub fn atom(&self) -> &Arc<MmaAtom> {
        &self.atom
    }

    /// The layout of copies of the atom over (M,N,K).
    pub fn atom_layout(&self) -> &Layout {
        &self.atom_layout
    }

    /// The elements of M, N and K that one step covers; `_` is resolved.
    pub fn permutation(&self) -> &[Tile; 3] {
        &self.permutation
    }

    /// Threads that take part. Where the atom's threads are not consecutive (a single quad pair), thread indices run up
    /// to the size of [`TiledMma::layout_a_tv`]'s first mode, and those between hold what another holds.
    pub fn num_threads(&self) -> i64 {
        self.thr_vmnk.flat().map_or(0, |f| f.size())
    }

    /// Extents of one step: M, N, K.
    pub fn tile_shape(&self) -> [i64; 3] {
        self.tile
    }

    /// (ThrV,ThrM,ThrN,ThrK) to thread index.
    pub fn thr_layout_vmnk(&self) -> &Layout {
        &self.thr_vmnk
    }

    /// Thread index to 1-D index of (ThrV,ThrM,ThrN,ThrK).
    pub(super) fn thr_to_vmnk(&self) -> &Layout {
        &self.thr_to_vmnk
    }
}
