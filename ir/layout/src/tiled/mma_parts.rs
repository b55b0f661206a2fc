//! The part of the operands that each thread of a tiled MMA gets, and the registers for it.

use super::mma::AXES;
use super::{Part, Partition, Residue, TiledMma, check_rank, check_thread, check_whole};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tile::Tile;
use crate::tuple::{IntTuple, int};

/// An operand of an MMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// (M,K).
    A,
    /// (N,K).
    B,
    /// (M,N).
    C,
}

impl Operand {
    /// The two of M, N, K that it has, by number.
    pub fn axes(self) -> [usize; 2] {
        match self {
            Operand::A => [0, 2],
            Operand::B => [1, 2],
            Operand::C => [0, 1],
        }
    }

    fn op(self) -> &'static str {
        match self {
            Operand::A => "partition_A",
            Operand::B => "partition_B",
            Operand::C => "partition_C",
        }
    }
}

/// One thread of a tiled MMA.
#[derive(Debug, Clone)]
pub struct ThrMma<'a> {
    mma: &'a TiledMma,
    thread: Leaf,
}

impl TiledMma {
    /// (thread, value) to the column-major index of the (M,K) tile.
    pub fn layout_a_tv(&self) -> Result<Layout> {
        self.layout_tv(Operand::A)
    }

    /// (thread, value) to the column-major index of the (N,K) tile.
    pub fn layout_b_tv(&self) -> Result<Layout> {
        self.layout_tv(Operand::B)
    }

    /// (thread, value) to the column-major index of the (M,N) tile.
    pub fn layout_c_tv(&self) -> Result<Layout> {
        self.layout_tv(Operand::C)
    }

    /// (thread, value) to the column-major index of the operand's tile.
    pub fn layout_tv(&self, o: Operand) -> Result<Layout> {
        let tile = o.axes().iter().map(|&i| self.tile_shape()[i]).collect();
        let whole = self.thrfrg(o, &Layout::col_major(&tile)?, Residue::Refuse)?;
        Layout::from_modes(&[self.threads(o, &whole.mode(0)?)?, whole.mode(1)?])
    }

    /// Splits (M,K,...), refusing a rest: values are `(V, MMA_M, MMA_K, ...)`. Errors as [`TiledMma::partition`].
    pub fn partition_a(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(Operand::A, tensor, Residue::Refuse)
    }

    /// Splits (N,K,...), refusing a rest: values are `(V, MMA_N, MMA_K, ...)`.
    pub fn partition_b(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(Operand::B, tensor, Residue::Refuse)
    }

    /// Splits (M,N,...), refusing a rest: values are `(V, MMA_M, MMA_N, ...)`.
    pub fn partition_c(&self, tensor: &Layout) -> Result<Partition> {
        self.partition(Operand::C, tensor, Residue::Refuse)
    }

    /// Splits an operand by thread: values are `(V, MMA_0, MMA_1, ...)`. Leaves may be dynamic anywhere; basis strides give
    /// each thread the coordinates of its elements.
    ///
    /// Errors: a rank below 2; modes that the tile does not divide, where those are refused.
    pub fn partition(&self, o: Operand, tensor: &Layout, residue: Residue) -> Result<Partition> {
        let whole = self.thrfrg(o, tensor, residue)?;
        let values = whole.mode(1)?;
        let mut modes = vec![values.mode(0)?];
        modes.extend(values.mode(1)?.modes());
        Ok(Partition {
            thr: self.threads(o, &whole.mode(0)?)?,
            val: Layout::from_modes(&modes)?,
        })
    }

    /// One thread, whose index may be dynamic. Errors: a known index beyond the threads.
    pub fn get_slice(&self, thread: &Leaf) -> Result<ThrMma<'_>> {
        // Threads of an atom that are not consecutive have others between them.
        check_thread("get_slice", thread, self.thr_layout_vmnk().cosize()?)?;
        Ok(ThrMma {
            mma: self,
            thread: thread.clone(),
        })
    }

    /// The shape of one thread's part of an operand of this shape: CuTe's `partition_shape_*`. Errors as
    /// [`TiledMma::partition`].
    pub fn partition_shape(
        &self,
        o: Operand,
        shape: &IntTuple,
        residue: Residue,
    ) -> Result<IntTuple> {
        let part = self.partition(o, &Layout::col_major(shape)?, residue)?;
        Ok(part.val.shape().clone())
    }

    /// The registers of one thread for an operand: [`TiledMma::fragment`] of its partition. Errors: of both; dynamic
    /// extents, for registers are counted when code is made.
    pub fn partition_fragment(
        &self,
        o: Operand,
        tensor: &Layout,
        residue: Residue,
    ) -> Result<Layout> {
        self.fragment(o, &self.partition(o, tensor, residue)?.val)
    }

    /// The register layout for values of a partition: of A and B in the order of the values' strides, so that copies meet
    /// in vectors; of C column-major whatever the tensor's is. CuTe's `make_fragment_*`.
    ///
    /// Errors: values that are not `(V, MMA_0, MMA_1, ...)` with the atom's number of them in mode 0; dynamic extents.
    pub fn fragment(&self, o: Operand, val: &Layout) -> Result<Layout> {
        const OP: &str = "fragment";
        check_rank(OP, val, 3)?;
        let (want, have) = (self.atom_tv(o).mode(1)?.size()?, val.mode(0)?.size()?);
        if want != have {
            let expected = format!("{want} values in mode 0, as {} holds", self.atom().name);
            return Err(LayoutError::Divisibility {
                op: OP,
                expected,
                found: val.to_string(),
                cure: "pass a partition of this MMA".into(),
            });
        }
        match o {
            // The size says where an extent is dynamic.
            Operand::C => val.size().and_then(|_| Layout::col_major(val.shape())),
            _ => val.make_fragment_like(),
        }
    }

    /// The register layout for values that [`TiledMma::partition_a`] gave.
    pub fn fragment_a(&self, val: &Layout) -> Result<Layout> {
        self.fragment(Operand::A, val)
    }

    /// The register layout for values that [`TiledMma::partition_b`] gave.
    pub fn fragment_b(&self, val: &Layout) -> Result<Layout> {
        self.fragment(Operand::B, val)
    }

    /// The register layout of accumulators.
    pub fn fragment_c(&self, val: &Layout) -> Result<Layout> {
        self.fragment(Operand::C, val)
    }

    fn atom_tv(&self, o: Operand) -> &Layout {
        match o {
            Operand::A => &self.atom().a_tv,
            Operand::B => &self.atom().b_tv,
            Operand::C => &self.atom().c_tv,
        }
    }

    /// `((ThrV,(Thr0,Thr1)),(V,(Rest0,Rest1,...)))`, CuTe's `thrfrg_*`. Errors as [`TiledMma::partition`].
    pub fn thrfrg(&self, o: Operand, tensor: &Layout, residue: Residue) -> Result<Layout> {
        check_rank(o.op(), tensor, 2)?;
        let [x, y] = o.axes();
        for (i, axis) in [x, y].into_iter().enumerate() {
            let tile = &self.permutation()[axis];
            check_whole(o.op(), tensor, i, tile, AXES[axis], residue)?;
        }
        let permuted = tensor.logical_divide(&Tile::Modes(vec![
            self.permutation()[x].clone(),
            self.permutation()[y].clone(),
        ]))?;
        let atom = |i: usize| -> Result<Tile> {
            Ok(Tile::Layout(Layout::leaf(self.atom().shape_mnk[i], 1)?))
        };
        let atoms = permuted.zipped_divide(&Tile::Modes(vec![atom(x)?, atom(y)?]))?;
        let tv = Tile::Modes(vec![
            Tile::Layout(self.atom_tv(o).clone()),
            Tile::Underscore,
        ]);
        let values = atoms.composition_tile(&tv)?;
        let vmnk = self.thr_layout_vmnk();
        let threads = |i: usize| -> Result<Tile> {
            Ok(Tile::Layout(Layout::leaf(vmnk.mode(i + 1)?.size()?, 1)?))
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
            modes.push(match o.axes().iter().position(|&x| x == axis) {
                Some(i) => own.mode(i)?,
                // The operand does not have this axis: threads along it hold the same elements.
                None => Layout::new(int(self.thr_layout_vmnk().mode(axis + 1)?.size()?), int(0))?,
            });
        }
        Layout::from_modes(&modes)?.composition(self.thr_to_vmnk())
    }
}

impl ThrMma<'_> {
    /// The thread's part of an operand. Errors as [`TiledMma::partition`].
    pub fn partition(&self, o: Operand, tensor: &Layout, residue: Residue) -> Result<Part> {
        self.mma.partition(o, tensor, residue)?.part(&self.thread)
    }

    /// (ThrV,ThrM,ThrN,ThrK) of the thread. Errors: overflow.
    pub fn thr_vmnk(&self) -> Result<IntTuple> {
        self.mma.thr_layout_vmnk().flat_coord(&self.thread)
    }
}
