//! MMA atoms tiled over threads. Source: CuTe's `mma_atom.hpp`.

use super::{Partition, check_multiple, check_rank};
use crate::atoms::MmaAtom;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile::Tile;
use crate::tuple::int;

/// An MMA atom repeated over threads along M, N and K, and the tile that one step of all threads covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledMma {
    atom: MmaAtom,
    atom_layout: Layout,
    permutation: [Tile; 3],
    tile: [i64; 3],
    thr_vmnk: Layout,
    // Thread index to 1-D index of (ThrV,ThrM,ThrN,ThrK).
    thr_to_vmnk: Layout,
}

/// Which two of M, N, K an operand has.
#[derive(Clone, Copy)]
struct Operand {
    op: &'static str,
    axes: [usize; 2],
}

const AXES: [&str; 3] = ["M", "N", "K"];
const A: Operand = Operand {
    op: "partition_a",
    axes: [0, 2],
};
const B: Operand = Operand {
    op: "partition_b",
    axes: [1, 2],
};
const C: Operand = Operand {
    op: "partition_c",
    axes: [0, 1],
};

impl TiledMma {
    /// `atom_layout_mnk` places copies of the atom (`(2,2,1)`: four warps), `permutation_mnk` says which elements of each
    /// mode one step covers (`[32:1;32:1;16:1]`, `_` for exactly the threads' share). Missing modes are `1:0` and `_`.
    ///
    /// Errors: more than three modes; dynamic leaves; a permutation whose size is no multiple of atom times threads.
    pub fn new(atom: MmaAtom, atom_layout_mnk: Layout, permutation_mnk: Tile) -> Result<TiledMma> {
        const OP: &str = "tiled MMA";
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
    pub fn atom(&self) -> &MmaAtom {
        &self.atom
    }

    /// How copies of the atom lie over (M,N,K).
    pub fn atom_layout(&self) -> &Layout {
        &self.atom_layout
    }

    /// The elements of M, N and K that one step covers; `_` is resolved.
    pub fn permutation(&self) -> &[Tile; 3] {
        &self.permutation
    }

    /// Threads that take part. Where the atom's threads are not consecutive (a single quad pair), thread indices run up
    /// to the size of [`TiledMma::layout_a_tv`]'s first mode, and those between hold what thread 0 holds.
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

    /// (thread, value) to the column-major index of the (M,K) tile.
    pub fn layout_a_tv(&self) -> Result<Layout> {
        self.layout_tv(A)
    }

    /// (thread, value) to the column-major index of the (N,K) tile.
    pub fn layout_b_tv(&self) -> Result<Layout> {
        self.layout_tv(B)
    }

    /// (thread, value) to the column-major index of the (M,N) tile.
    pub fn layout_c_tv(&self) -> Result<Layout> {
        self.layout_tv(C)
    }

    /// Splits (M,K,...): values are `(V, MMA_M, MMA_K, ...)`. Errors: M or K no multiple of the tile; dynamic M or K.
    pub fn partition_a(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(A, tensor)
    }

    /// Splits (N,K,...): values are `(V, MMA_N, MMA_K, ...)`.
    pub fn partition_b(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(B, tensor)
    }

    /// Splits (M,N,...): values are `(V, MMA_M, MMA_N, ...)`.
    pub fn partition_c(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(C, tensor)
    }

    /// The register layout for values that [`TiledMma::partition_a`] gave.
    pub fn fragment_a(&self, val: &Layout) -> Result<Layout> {
        self.check_values(&self.atom.a_tv, val)?;
        val.make_fragment_like()
    }

    /// The register layout for values that [`TiledMma::partition_b`] gave.
    pub fn fragment_b(&self, val: &Layout) -> Result<Layout> {
        self.check_values(&self.atom.b_tv, val)?;
        val.make_fragment_like()
    }

    /// The register layout of accumulators: column-major whatever the tensor's is.
    pub fn fragment_c(&self, val: &Layout) -> Result<Layout> {
        self.check_values(&self.atom.c_tv, val)?;
        Layout::col_major(val.shape())
    }

    fn check_values(&self, tv: &Layout, val: &Layout) -> Result<()> {
        const OP: &str = "fragment";
        check_rank(OP, val, 3)?;
        let (want, have) = (tv.mode(1)?.size()?, val.mode(0)?.size()?);
        if want == have {
            return Ok(());
        }
        let expected = format!("{want} values in mode 0, as {} holds", self.atom.name);
        Err(LayoutError::Divisibility {
            op: OP,
            expected,
            found: val.to_string(),
            cure: "pass a partition of this MMA".into(),
        })
    }

    fn atom_tv(&self, o: Operand) -> &Layout {
        match o.axes {
            [0, 2] => &self.atom.a_tv,
            [1, 2] => &self.atom.b_tv,
            _ => &self.atom.c_tv,
        }
    }

    /// `((ThrV,(Thr0,Thr1)),(V,(Rest0,Rest1,...)))`, CuTe's `thrfrg_*`.
    fn thrfrg(&self, o: Operand, tensor: &Layout) -> Result<Layout> {
        let [x, y] = o.axes;
        let permuted = tensor.logical_divide(&Tile::Modes(vec![
            self.permutation[x].clone(),
            self.permutation[y].clone(),
        ]))?;
        let atom = |i: usize| -> Result<Tile> {
            Ok(Tile::Layout(Layout::leaf(self.atom.shape_mnk[i], 1)?))
        };
        let atoms = permuted.zipped_divide(&Tile::Modes(vec![atom(x)?, atom(y)?]))?;
        let tv = Tile::Modes(vec![
            Tile::Layout(self.atom_tv(o).clone()),
            Tile::Underscore,
        ]);
        let values = atoms.composition_tile(&tv)?;
        let threads = |i: usize| -> Result<Tile> {
            Ok(Tile::Layout(Layout::leaf(
                self.thr_vmnk.mode(i + 1)?.size()?,
                1,
            )?))
        };
        let tile = Tile::Modes(vec![
            Tile::Underscore,
            Tile::Modes(vec![threads(x)?, threads(y)?]),
        ]);
        values.zipped_divide(&tile)
    }

    /// Thread index to offset, out of the threads' half of `thrfrg`.
    fn threads(&self, o: Operand, half: &Layout) -> Result<Layout> {
        let own = half.mode(1)?;
        let mut modes = vec![half.mode(0)?];
        for axis in 0..3 {
            modes.push(match o.axes.iter().position(|&x| x == axis) {
                Some(i) => own.mode(i)?,
                // The operand does not have this axis: threads along it hold the same elements.
                None => Layout::new(int(self.thr_vmnk.mode(axis + 1)?.size()?), int(0))?,
            });
        }
        Layout::from_modes(&modes)?.composition(&self.thr_to_vmnk)
    }

    fn layout_tv(&self, o: Operand) -> Result<Layout> {
        let [x, y] = o.axes;
        let whole = self.thrfrg(
            o,
            &Layout::col_major(&[self.tile[x], self.tile[y]].into_iter().collect())?,
        )?;
        Layout::from_modes(&[self.threads(o, &whole.mode(0)?)?, whole.mode(1)?])
    }

    fn partition(&self, o: Operand, tensor: &Layout) -> Result<Partition> {
        check_rank(o.op, tensor, 2)?;
        for (i, &axis) in o.axes.iter().enumerate() {
            check_multiple(o.op, tensor, i, self.tile[axis], AXES[axis])?;
        }
        let whole = self.thrfrg(o, tensor)?;
        let values = whole.mode(1)?;
        let mut modes = vec![values.mode(0)?];
        modes.extend(values.mode(1)?.modes());
        Ok(Partition {
            thr: self.threads(o, &whole.mode(0)?)?,
            val: Layout::from_modes(&modes)?,
        })
    }
}
