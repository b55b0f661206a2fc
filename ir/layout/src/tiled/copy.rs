//! Copy atoms tiled over threads. Source: CuTe's `copy_atom.hpp`.

use super::{Partition, check_multiple, check_rank};
use crate::atoms::CopyAtom;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile::Tile;
use crate::tiled::TiledMma;
use crate::tuple::{IntTuple, int, tuple};

/// A copy atom repeated over threads and values, and the tile that they cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledCopy {
    atom: CopyAtom,
    layout_tv: Layout,
    tiler_mn: Tile,
    threads: i64,
    values: i64,
}

const OP: &str = "tiled copy";

impl TiledCopy {
    /// `layout_tv` maps (thread, value) to the column-major index of the tile that `tiler_mn` cuts out of a tensor.
    ///
    /// Errors: a TV layout that is not rank 2 and static; threads or values that are no multiple of the atom's; indices
    /// beyond the tile.
    pub fn new(atom: CopyAtom, layout_tv: Layout, tiler_mn: Tile) -> Result<TiledCopy> {
        if layout_tv.rank() != 2 {
            let expected = "a layout (thread, value) of rank 2".to_string();
            return Err(LayoutError::Rank {
                op: OP,
                expected,
                found: layout_tv.to_string(),
            });
        }
        let (threads, values) = (layout_tv.mode(0)?.size()?, layout_tv.mode(1)?.size()?);
        for (what, have, unit) in [
            ("threads", threads, atom.num_threads()?),
            ("values a thread", values, atom.num_val),
        ] {
            if unit < 1 || have % unit != 0 {
                return Err(LayoutError::Divisibility {
                    op: OP,
                    expected: format!("{what} in multiples of the {unit} that {} moves", atom.name),
                    found: have.to_string(),
                    cure: if what == "threads" {
                        "give it whole atoms of threads".to_string()
                    } else {
                        format!(
                            "give each thread a value layout of {unit} elements, or choose a narrower atom"
                        )
                    },
                });
            }
        }
        let size = tiler_mn.size().ok_or_else(|| LayoutError::Dynamic {
            op: OP,
            found: tiler_mn.to_string(),
        })?;
        if layout_tv.cosize()? > size {
            return Err(LayoutError::Divisibility {
                op: OP,
                expected: format!(
                    "a layout (thread, value) within the {size} elements of {tiler_mn}"
                ),
                found: layout_tv.to_string(),
                cure: "enlarge the tiler".to_string(),
            });
        }
        Ok(TiledCopy {
            atom,
            layout_tv,
            tiler_mn,
            threads,
            values,
        })
    }

    /// From a thread layout and a value layout, both (m,n) to index: each thread owns a block of values.
    ///
    /// Errors: layouts that do not number their threads and values from 0 without gaps.
    pub fn make_tiled_copy(atom: CopyAtom, thr: &Layout, val: &Layout) -> Result<TiledCopy> {
        let layout_mn = thr.raked_product(val)?;
        let shape = tuple([int(thr.size()?), int(val.size()?)]);
        let inverse = layout_mn.right_inverse()?;
        if inverse.size()? != shape.size()? {
            return Err(LayoutError::NotInjective {
                op: "make_tiled_copy",
                found: format!("threads {thr} and values {val}"),
                cure: "number threads and values 0, 1, 2, ... without gaps",
            });
        }
        let layout_tv = inverse.with_shape(&shape)?;
        let tiler = Tile::from_shape(&layout_mn.shape().product_each()?)?;
        Self::new(atom, layout_tv, tiler)
    }

    /// The copy whose registers are the A fragments of `mma`.
    pub fn make_tiled_copy_a(atom: CopyAtom, mma: &TiledMma) -> Result<TiledCopy> {
        let [m, _, k] = mma.tile_shape();
        Self::new(
            atom,
            mma.layout_a_tv()?,
            Tile::from_shape(&tuple([int(m), int(k)]))?,
        )
    }

    /// The copy whose registers are the B fragments of `mma`.
    pub fn make_tiled_copy_b(atom: CopyAtom, mma: &TiledMma) -> Result<TiledCopy> {
        let [_, n, k] = mma.tile_shape();
        Self::new(
            atom,
            mma.layout_b_tv()?,
            Tile::from_shape(&tuple([int(n), int(k)]))?,
        )
    }

    /// The copy whose registers are the accumulators of `mma`.
    pub fn make_tiled_copy_c(atom: CopyAtom, mma: &TiledMma) -> Result<TiledCopy> {
        let [m, n, _] = mma.tile_shape();
        Self::new(
            atom,
            mma.layout_c_tv()?,
            Tile::from_shape(&tuple([int(m), int(n)]))?,
        )
    }

    /// The atom.
    pub fn atom(&self) -> &CopyAtom {
        &self.atom
    }

    /// (thread, value) to the column-major index of the tile.
    pub fn layout_tv(&self) -> &Layout {
        &self.layout_tv
    }

    /// What cuts the tile out of a tensor.
    pub fn tiler_mn(&self) -> &Tile {
        &self.tiler_mn
    }

    /// Threads that take part.
    pub fn num_threads(&self) -> i64 {
        self.threads
    }

    /// Values a thread has of one tile, in the reference.
    pub fn num_values(&self) -> i64 {
        self.values
    }

    /// Splits the source: values are `((ATOM_V,REST_V), REST_M, REST_N, ...)`. Errors: modes that the tiler does not
    /// divide; dynamic modes that it should.
    pub fn partition_s(&self, tensor: &Layout) -> Result<Partition> {
        self.partition("partition_s", tensor, &self.atom.src_tv()?)
    }

    /// Splits the destination, as [`TiledCopy::partition_s`].
    pub fn partition_d(&self, tensor: &Layout) -> Result<Partition> {
        self.partition("partition_d", tensor, &self.atom.dst_tv()?)
    }

    /// (source thread, value) to the index of the tile.
    pub fn layout_s_tv(&self) -> Result<Layout> {
        self.thrval_to_mn(&self.atom.src_tv()?)
    }

    /// (destination thread, value) to the index of the tile.
    pub fn layout_d_tv(&self) -> Result<Layout> {
        self.thrval_to_mn(&self.atom.dst_tv()?)
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
                self.values
            ),
            found: fragment.to_string(),
            cure: "pass the fragment of the MMA that this copy was made for".to_string(),
        };
        let per_block = self
            .threads
            .checked_mul(v)
            .ok_or(LayoutError::Overflow { op: RETILE })?;
        // (m,n) to the block of V values it lies in, and back.
        let blocks = self
            .layout_tv
            .right_inverse()?
            .with_shape(&tile_shape)?
            .upcast_rounding(per_block)?;
        let values = Layout::leaf(v, 1)?.logical_product(&Tile::Layout(blocks.right_inverse()?))?;
        if values.size()? != self.values || values.size()? % self.atom.num_val != 0 {
            return Err(uneven());
        }
        let values = values.zipped_divide(&Tile::Layout(Layout::leaf(self.atom.num_val, 1)?))?;

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

    /// Whether the values that one thread moves at once are consecutive in memory, and in one order on both sides.
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
                    self.atom.name
                ),
                v,
                "use the transposed thread and value layouts, or a narrower atom",
            ))
        };
        let from = vector(src, self.atom.num_val_src()?)?;
        if self.atom.num_threads()? > 1 {
            if from.iter().copied().eq(0..from.len() as i64) {
                return Ok(());
            }
            let cure = "choose a shared-memory layout whose rows run along the values";
            return Err(refuse("values in memory order", src.to_string(), cure));
        }
        if from == vector(dst, self.atom.num_val_dst()?)? {
            return Ok(());
        }
        let cure = "give source and destination one order of these values";
        Err(refuse(
            "one order of the values on both sides",
            format!("{src} and {dst}"),
            cure,
        ))
    }

    fn tile_shape(&self) -> Result<IntTuple> {
        let dynamic = || LayoutError::Dynamic {
            op: OP,
            found: self.tiler_mn.to_string(),
        };
        self.tiler_mn
            .modes()
            .iter()
            .map(|t| t.size().map(int).ok_or_else(dynamic))
            .collect::<Result<Vec<_>>>()
            .map(tuple)
    }

    /// `(thread, (ATOM_V,REST_V))` to the index of the tile, for one side of the atom.
    fn thrval_to_mn(&self, side: &Layout) -> Result<Layout> {
        let reference = self.atom.ref_tv()?;
        let to_ref = reference.right_inverse()?.composition(side)?;
        let atom = tuple([int(reference.mode(0)?.size()?), int(self.atom.num_val)]);
        let atoms = self.layout_tv.zipped_divide(&Tile::from_shape(&atom)?)?;
        let side = Tile::Modes(vec![Tile::Layout(to_ref), Tile::Underscore]);
        let atoms = atoms.composition_tile(&side)?;
        let zipped = atoms.mode(0)?.zip(&atoms.mode(1)?)?;
        zipped.coalesce_by(&tuple([int(1), tuple([int(1), int(1)])]))
    }

    fn partition(&self, op: &'static str, tensor: &Layout, side: &Layout) -> Result<Partition> {
        let tile = self.tile_shape()?;
        check_rank(op, tensor, tile.rank())?;
        for (i, size) in tile
            .static_leaves()
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            check_multiple(
                op,
                tensor,
                i,
                size,
                ["M", "N"].get(i).copied().unwrap_or("a further mode"),
            )?;
        }
        let tiles = tensor.zipped_divide(&self.tiler_mn)?;
        let tv = tiles.mode(0)?.composition(&self.thrval_to_mn(side)?)?;
        let mut modes = vec![tv.mode(1)?];
        modes.extend(tiles.mode(1)?.modes());
        Ok(Partition {
            thr: tv.mode(0)?,
            val: Layout::from_modes(&modes)?,
        })
    }
}
