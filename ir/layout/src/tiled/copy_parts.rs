//! The part of a tensor, and of a fragment, that each thread of a tiled copy gets.

use super::{Part, Partition, Residue, TiledCopy, check_rank, check_thread, check_whole};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tile::Tile;
use crate::tuple::{IntTuple, int, tuple};

/// One side of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side that is read.
    Source,
    /// The side that is written.
    Destination,
}

impl Side {
    fn op(self) -> &'static str {
        match self {
            Side::Source => "partition_S",
            Side::Destination => "partition_D",
        }
    }
}

/// One thread of a tiled copy.
#[derive(Debug, Clone)]
pub struct ThrCopy<'a> {
    copy: &'a TiledCopy,
    thread: Leaf,
}

impl TiledCopy {
    /// Splits the source, refusing a rest: values are `((ATOM_V,REST_V), REST_M, REST_N, ...)`. Errors as
    /// [`TiledCopy::partition`].
    pub fn partition_s(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(Side::Source, tensor, Residue::Refuse)
    }

    /// Splits the destination, as [`TiledCopy::partition_s`].
    pub fn partition_d(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(Side::Destination, tensor, Residue::Refuse)
    }

    /// Splits one side by thread. The tensor may have more modes than the tiler, and dynamic leaves anywhere; basis strides
    /// give each thread the coordinates of its elements.
    ///
    /// Errors: a tensor of fewer modes than the tiler; modes that the tiler does not divide, where those are refused;
    /// strides that the tile's elements cannot be reached with.
    pub fn partition(&self, side: Side, tensor: &Layout, residue: Residue) -> Result<Partition> {
        let (op, tiles) = (side.op(), self.tiler_mn().modes());
        match self.tiler_mn() {
            Tile::Modes(_) => {
                check_rank(op, tensor, tiles.len())?;
                for (i, tile) in tiles.iter().enumerate() {
                    let name = ["M", "N"].get(i).copied().unwrap_or("a further mode");
                    check_whole(op, tensor, i, tile, name, residue)?;
                }
            }
            tile => {
                let whole = Layout::from_modes(std::slice::from_ref(tensor))?;
                check_whole(op, &whole, 0, tile, "all of it", residue)?;
            }
        }
        let tiles = tensor.zipped_divide(self.tiler_mn())?;
        let tv = tiles
            .mode(0)?
            .composition(&self.thrval_to_mn(&self.atom_side(side)?)?)?;
        let mut modes = vec![tv.mode(1)?];
        modes.extend(tiles.mode(1)?.modes());
        Ok(Partition {
            thr: tv.mode(0)?,
            val: Layout::from_modes(&modes)?,
        })
    }

    /// `(Thr,(ATOM_V,REST_V),(REST_M,REST_N,...))`: CuTe's `tidfrg_S` and `tidfrg_D`. Errors as
    /// [`TiledCopy::partition`].
    pub fn tidfrg(&self, side: Side, tensor: &Layout, residue: Residue) -> Result<Layout> {
        let Partition { thr, val } = self.partition(side, tensor, residue)?;
        let rest = Layout::from_modes(&val.modes()[1..])?;
        Layout::from_modes(&[thr, val.mode(0)?, rest])
    }

    /// One thread, whose index may be dynamic. Errors: a known index of no thread.
    pub fn get_slice(&self, thread: &Leaf) -> Result<ThrCopy<'_>> {
        check_thread("get_slice", thread, self.num_threads())?;
        Ok(ThrCopy {
            copy: self,
            thread: thread.clone(),
        })
    }

    fn atom_side(&self, side: Side) -> Result<Layout> {
        match side {
            Side::Source => self.atom().src_tv(),
            Side::Destination => self.atom().dst_tv(),
        }
    }

    /// (thread, value) to the index of the tile, of one side: CuTe's `get_layoutS_TV` and `get_layoutD_TV`.
    pub fn layout_side_tv(&self, side: Side) -> Result<Layout> {
        self.thrval_to_mn(&self.atom_side(side)?)
    }

    /// (source thread, value) to the index of the tile.
    pub fn layout_s_tv(&self) -> Result<Layout> {
        self.layout_side_tv(Side::Source)
    }

    /// (destination thread, value) to the index of the tile.
    pub fn layout_d_tv(&self) -> Result<Layout> {
        self.layout_side_tv(Side::Destination)
    }

    /// The values of this copy in a fragment `(V, M, N, ...)` of the MMA (or copy) that it was made for: `((ATOM_V,REST_V),
    /// REST_M, REST_N, ...)` onto the fragment's offsets, CuTe's `retile_S` and `retile_D`.
    ///
    /// The fragment's first mode must be the first values of [`TiledCopy::layout_tv`]. Errors: a fragment whose modes the
    /// copy's tile does not divide.
    pub fn retile(&self, fragment: &Layout) -> Result<Layout> {
        const RETILE: &str = "retile";
        let tile_shape = self.tile_shape()?;
        let rank = tile_shape.rank() + 1;
        check_rank(RETILE, fragment, rank)?;
        let v = fragment.mode(0)?.size()?;
        let uneven = || LayoutError::Divisibility {
            op: RETILE,
            expected: format!(
                "a fragment (V,M,N,...) of which {} values make a tile",
                self.num_values()
            ),
            found: fragment.to_string(),
            cure: "pass the fragment of the MMA that this copy was made for".to_string(),
        };
        let per_block = self
            .num_threads()
            .checked_mul(v)
            .ok_or(LayoutError::Overflow { op: RETILE })?;
        // (m,n) to the block of V values it lies in, and back.
        let blocks = self
            .layout_tv()
            .right_inverse()?
            .with_shape(&tile_shape)?
            .upcast_rounding(per_block)?;
        let values = Layout::leaf(v, 1)?.logical_product(&Tile::Layout(blocks.right_inverse()?))?;
        if values.size()? != self.num_values() || values.size()? % self.atom().num_val != 0 {
            return Err(uneven());
        }
        let values = values.zipped_divide(&Tile::Layout(Layout::leaf(self.atom().num_val, 1)?))?;

        let mut modes = vec![Tile::Layout(Layout::leaf(v, 1)?)];
        for (i, m) in blocks.shape().product_each()?.modes().iter().enumerate() {
            let m = m.size()?;
            if fragment.mode(i + 1)?.size()? % m != 0 {
                return Err(uneven());
            }
            modes.push(Tile::Layout(Layout::leaf(m, 1)?));
        }
        let tiled = fragment.zipped_divide(&Tile::Modes(modes))?;
        let mut out = vec![tiled.mode(0)?.composition(&values)?];
        out.extend(tiled.mode(1)?.modes().into_iter().skip(1));
        Layout::from_modes(&out)
    }

    /// Checks that the values that one thread moves at once are consecutive in memory, and in one order on both sides.
    ///
    /// `src` and `dst` are values of [`TiledCopy::partition_s`] and [`TiledCopy::partition_d`]. CuTe recasts both sides
    /// apart, so that a mixed pair, strides (1,2) and (4,1), passes there and permutes the data. For atoms of more than
    /// one thread the destination is registers, and only the source is checked. Errors: with the cure.
    pub fn check_vectors(&self, src: &Layout, dst: &Layout) -> Result<()> {
        const VECTORS: &str = "copy";
        let refuse = |expected: &str, found: String, cure: &str| LayoutError::Divisibility {
            op: VECTORS,
            expected: expected.to_string(),
            found,
            cure: cure.to_string(),
        };
        let vector = |l: &Layout, n: i64| -> Result<Vec<i64>> {
            let v = l.mode(0)?.mode(0)?;
            let (v, flat) = (v.to_string(), v.flat_or(VECTORS)?);
            let values: Vec<i64> = (0..flat.size()).map(|i| flat.at(i)).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable();
            if values.len() as i64 == n && sorted.iter().copied().eq(0..n) {
                return Ok(values);
            }
            Err(refuse(
                &format!(
                    "{n} values that are consecutive in memory, as {} moves them",
                    self.atom().name
                ),
                v,
                "use the transposed thread and value layouts, or a narrower atom",
            ))
        };
        let from = vector(src, self.atom().num_val_src()?)?;
        if self.atom().num_threads()? > 1 {
            if from.iter().copied().eq(0..from.len() as i64) {
                return Ok(());
            }
            let cure = "choose a shared-memory layout whose rows run along the values";
            return Err(refuse("values in memory order", src.to_string(), cure));
        }
        if from == vector(dst, self.atom().num_val_dst()?)? {
            return Ok(());
        }
        let cure = "give source and destination one order of these values";
        Err(refuse(
            "one order of the values on both sides",
            format!("{src} and {dst}"),
            cure,
        ))
    }

    /// Extents of the tile, a mode of the tiler each. Errors: a dynamic tiler.
    pub fn tile_shape(&self) -> Result<IntTuple> {
        let dynamic = || LayoutError::Dynamic {
            op: super::copy::OP,
            found: self.tiler_mn().to_string(),
        };
        self.tiler_mn()
            .modes()
            .iter()
            .map(|t| t.size().map(int).ok_or_else(dynamic))
            .collect::<Result<Vec<_>>>()
            .map(tuple)
    }

    /// `(thread, (ATOM_V,REST_V))` to the index of the tile, for one side of the atom.
    fn thrval_to_mn(&self, side: &Layout) -> Result<Layout> {
        let reference = self.atom().ref_tv()?;
        let to_ref = reference.right_inverse()?.composition(side)?;
        let atom = tuple([int(reference.mode(0)?.size()?), int(self.atom().num_val)]);
        let atoms = self.layout_tv().zipped_divide(&Tile::from_shape(&atom)?)?;
        let side = Tile::Modes(vec![Tile::Layout(to_ref), Tile::Underscore]);
        let atoms = atoms.composition_tile(&side)?;
        let zipped = atoms.mode(0)?.zip(&atoms.mode(1)?)?;
        zipped.coalesce_by(&tuple([int(1), tuple([int(1), int(1)])]))
    }
}

impl ThrCopy<'_> {
    /// The thread's part of the source. Errors as [`TiledCopy::partition`].
    pub fn partition_s(&self, tensor: &Layout, residue: Residue) -> Result<Part> {
        let all = self.copy.partition(Side::Source, tensor, residue)?;
        all.part(&self.thread)
    }

    /// The thread's part of the destination. Errors as [`TiledCopy::partition`].
    pub fn partition_d(&self, tensor: &Layout, residue: Residue) -> Result<Part> {
        let all = self.copy.partition(Side::Destination, tensor, residue)?;
        all.part(&self.thread)
    }
}
