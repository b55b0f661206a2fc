//! Tiled copies made from MMAs, from other copies, and from the addresses of data.

use super::{TiledCopy, TiledMma};
use crate::algebra::ENUMERATION_LIMIT;
use crate::atoms::CopyAtom;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile::Tile;
use crate::tuple::{IntTuple, int, tuple};
use std::sync::Arc;

impl TiledCopy {
    /// The copy whose registers are the A fragments of `mma`. Errors as [`TiledCopy::new`].
    pub fn make_tiled_copy_a(atom: impl Into<Arc<CopyAtom>>, mma: &TiledMma) -> Result<TiledCopy> {
        Self::of_operand(atom, mma.layout_a_tv()?, mma, [0, 2])
    }

    /// The copy whose registers are the B fragments of `mma`.
    pub fn make_tiled_copy_b(atom: impl Into<Arc<CopyAtom>>, mma: &TiledMma) -> Result<TiledCopy> {
        Self::of_operand(atom, mma.layout_b_tv()?, mma, [1, 2])
    }

    /// The copy whose registers are the accumulators of `mma`.
    pub fn make_tiled_copy_c(atom: impl Into<Arc<CopyAtom>>, mma: &TiledMma) -> Result<TiledCopy> {
        Self::of_operand(atom, mma.layout_c_tv()?, mma, [0, 1])
    }

    fn of_operand(
        atom: impl Into<Arc<CopyAtom>>,
        tv: Layout,
        mma: &TiledMma,
        axes: [usize; 2],
    ) -> Result<TiledCopy> {
        Self::new(atom, tv, Tile::from_shape(&extents(mma, axes))?)
    }

    /// The smallest copy of the accumulators of `mma`: each thread moves its first values, as many as one atom takes, and
    /// the tile is what these are. For epilogues that store a part at a time.
    ///
    /// Errors: an atom of more values than a thread has of one step; those of [`TiledCopy::new`].
    pub fn make_tiled_copy_c_atom(
        atom: impl Into<Arc<CopyAtom>>,
        mma: &TiledMma,
    ) -> Result<TiledCopy> {
        let (atom, tv) = (atom.into(), mma.layout_c_tv()?);
        let (threads, values) = (tv.mode(0)?.size()?, tv.mode(1)?.size()?);
        let unit = atom.num_val_src()?;
        if unit > values {
            return Err(LayoutError::Divisibility {
                op: "make_tiled_copy_C_atom",
                expected: format!(
                    "an atom of at most the {values} accumulators of a thread in one step"
                ),
                found: format!("the {unit} values of {}", atom.name),
                cure: "choose a narrower atom, or a larger permutation of M or N".to_string(),
            });
        }
        let first = tv.composition(&Layout::col_major(&tuple([int(threads), int(unit)]))?)?;
        let (tiler, tv) = restrict(&extents(mma, [0, 1]), &first)?;
        Self::new(atom, tv, tiler)
    }

    /// The copy of another atom whose reference is the source of `copy`. Errors as [`TiledCopy::new`].
    pub fn make_tiled_copy_s(
        atom: impl Into<Arc<CopyAtom>>,
        copy: &TiledCopy,
    ) -> Result<TiledCopy> {
        Self::new(atom, copy.layout_s_tv()?, copy.tiler_mn().clone())
    }

    /// The copy of another atom whose reference is the destination of `copy`. Errors as [`TiledCopy::new`].
    pub fn make_tiled_copy_d(
        atom: impl Into<Arc<CopyAtom>>,
        copy: &TiledCopy,
    ) -> Result<TiledCopy> {
        Self::new(atom, copy.layout_d_tv()?, copy.tiler_mn().clone())
    }

    /// From offsets: `atom_tv` maps (thread, value) to offsets of `data`, whose modes the tiler cuts.
    ///
    /// For threads that care less about coordinates than about the offsets between their values. Errors: dynamic layouts;
    /// offsets that `data` does not have; those of [`TiledCopy::new`]. (CuTe asks this of the values alone; here the
    /// threads' offsets must exist too.)
    pub fn make_cotiled_copy(
        atom: impl Into<Arc<CopyAtom>>,
        atom_tv: &Layout,
        data: &Layout,
    ) -> Result<TiledCopy> {
        const OP: &str = "make_cotiled_copy";
        for l in [atom_tv, data] {
            l.flat_or(OP)?;
        }
        if atom_tv.rank() != 2 {
            return Err(LayoutError::Rank {
                op: OP,
                expected: "a layout (thread, value) of rank 2".to_string(),
                found: atom_tv.to_string(),
            });
        }
        let absent = || LayoutError::Divisibility {
            op: OP,
            expected: format!("threads and values at offsets of {data}"),
            found: atom_tv.to_string(),
            cure: "keep strides and extents within the data's".to_string(),
        };
        // Beyond the data both go on with stride 0, so that what is beyond comes back as something else.
        let end = Layout::leaf(1, 0)?;
        let to_coord = Layout::from_modes(&[data.left_inverse()?, end.clone()])?;
        let tv = to_coord.composition(atom_tv)?;
        let back = Layout::from_modes(&[data.clone(), end])?.composition(&tv)?;
        let exists = match (back.flat(), atom_tv.flat()) {
            (Some(a), Some(b)) if b.size() <= ENUMERATION_LIMIT => {
                a.size() == b.size() && (0..b.size()).all(|i| a.at(i) == b.at(i))
            }
            _ => {
                let modes = tuple([int(1), int(1)]);
                back.coalesce_by(&modes)? == atom_tv.coalesce_by(&modes)?
            }
        };
        if !exists || tv.cosize()? > data.size()? {
            return Err(absent());
        }
        let (tiler, tv) = restrict(&data.shape().product_each()?, &tv)?;
        Self::new(atom, tv, tiler)
    }
}

fn extents(mma: &TiledMma, axes: [usize; 2]) -> IntTuple {
    axes.iter().map(|&i| mma.tile_shape()[i]).collect()
}

/// The smallest tiler of a tensor of this shape that has all elements of `tv`, and `tv` in elements of that tile.
///
/// `tv` maps to 1-D indices of `shape`. Source: CuTe's `make_cotiled_copy`.
fn restrict(shape: &IntTuple, tv: &Layout) -> Result<(Tile, Layout)> {
    let shape = match shape {
        IntTuple::Leaf(_) => &tuple([shape.clone()]),
        IntTuple::Tuple(_) => shape,
    };
    let rank = shape.rank();
    let mut tiler = Vec::with_capacity(rank);
    for i in 0..rank {
        let unit = (0..rank).map(|j| i64::from(i == j)).collect();
        let coordinate = Layout::new(shape.clone(), unit)?;
        tiler.push(Tile::Layout(coordinate.composition(tv)?.filter()?));
    }
    let tiler = Tile::Modes(tiler);
    let to_tensor = Layout::col_major(shape)?.composition_tile(&tiler)?;
    let tv = to_tensor.left_inverse()?.composition(tv)?;
    Ok((tiler, tv))
}
