//! The launch of a map, and what the function must be given.

use super::{Arrangement, Map, Whole, column};
use crate::tile::{
    host::{assert_apart, launch_kernel},
    leaves::{extent_of_mode, extent_of_modes, leaves_of, places_of},
    matrix::divisor,
    variants::{both, choose},
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cf, cute};
use cute_ir::{Expected, Failure, mlir::*};
use cute_layout::{IntTuple, Layout, Leaf};

impl<'c> Map<'c> {
    /// Launches the first of some kernels that fits; the last one fits always.
    pub(super) fn launch_one(
        &self,
        host: Builder<'c>,
        all: &[(Arrangement, String)],
    ) -> Result<(), Failure> {
        let conditions = all
            .iter()
            .enumerate()
            .map(|(at, (way, _))| match at + 1 < all.len() {
                true => self.fits(host, way),
                false => Ok(None),
            });
        let conditions = conditions.collect::<Result<Vec<_>, Failure>>()?;
        choose(host, &conditions, &|host, at| {
            let (way, kernel) = &all[at];
            self.launch(host, way, kernel)
        })
    }

    /// The condition that a kernel fits the arguments of a launch; none where it always does.
    fn fits(&self, host: Builder<'c>, way: &Arrangement) -> Result<Option<Val<'c>>, Failure> {
        let index = host.index_type();
        let mut all = None;
        for (whole, layout) in self.tensors.iter().zip(&way.layouts) {
            let open = whole.open_leaves(host, whole.tensor, &self.modes)?;
            let leaves = |layout: &Layout| -> Vec<i64> {
                let both = [layout.shape().leaves(), layout.stride().leaves()].concat();
                let open = both.into_iter().filter(|leaf| !leaf.is_static());
                open.map(divisor).collect()
            };
            let divisors = leaves(layout).into_iter().zip(leaves(&whole.layout));
            for (value, (expected, known)) in open.concat().into_iter().zip(divisors) {
                if expected == known {
                    continue;
                }
                let value = host.value(arith::INDEX_CAST, &[value], index, &[])?;
                let by = host.constant(index, expected)?;
                let rest = host.value(arith::REMSI, &[value, by], index, &[])?;
                let holds = host.compare(Predicate::Eq, rest, host.constant(index, 0)?)?;
                all = both(host, all, Some(holds))?;
            }
        }
        if let (Some(most), None) = (way.most, self.known(1)) {
            let columns = self.extent(host, 1)?;
            let holds = host.compare(Predicate::Sle, columns, host.constant(index, most)?)?;
            all = both(host, all, Some(holds))?;
        }
        Ok(all)
    }

    /// The extent of rows (0), columns (1) or the batch (2), of type `index`.
    pub(super) fn extent(&self, host: Builder<'c>, mode: usize) -> Result<Val<'c>, Failure> {
        extent_of_modes(
            host,
            self.known(mode),
            self.tensors[0].tensor,
            &self.modes[mode],
        )
    }

    /// Tiles along rows (0), columns (1) or the batch (2), where they are known.
    pub(super) fn known_tiles(&self, way: &Arrangement, axis: usize) -> Option<i64> {
        if axis == 1 && self.reduces {
            return Some(1);
        }
        let (extent, tile) = (self.known(axis)?, way.tile(axis));
        Some(extent / tile + i64::from(extent % tile != 0))
    }

    /// The axes whose tiles only a launch can count and a kernel needs: its arguments behind the tensors.
    pub(super) fn counted_by_launch(&self, way: &Arrangement) -> Vec<usize> {
        let needed = [1, 0].into_iter().take(1 + usize::from(self.is_batched()));
        let open = needed.filter(|axis| self.known_tiles(way, *axis).is_none());
        open.collect()
    }

    /// The blocks of the grid, where they are known.
    pub(super) fn known_blocks(&self, way: &Arrangement) -> Option<i64> {
        (0..3).try_fold(1i64, |all, axis| {
            all.checked_mul(self.known_tiles(way, axis)?)
        })
    }

    /// The number of tiles along an axis, of type `index`.
    fn tiles(&self, host: Builder<'c>, way: &Arrangement, axis: usize) -> Result<Val<'c>, Failure> {
        let index = host.index_type();
        if let Some(known) = self.known_tiles(way, axis) {
            return host.constant(index, known);
        }
        let extent = self.extent(host, axis)?;
        match way.tile(axis) {
            1 => Ok(extent),
            tile => {
                let tile = host.constant(index, tile)?;
                host.value(arith::CEILDIVSI, &[extent, tile], index, &[])
            }
        }
    }

    fn launch(&self, host: Builder<'c>, way: &Arrangement, kernel: &str) -> Result<(), Failure> {
        let index = host.index_type();
        let blocks = match self.known_blocks(way) {
            Some(known) => host.constant(index, known)?,
            None => {
                let mut blocks = self.tiles(host, way, 0)?;
                for axis in [1, 2] {
                    if self.known_tiles(way, axis) != Some(1) {
                        let tiles = self.tiles(host, way, axis)?;
                        blocks = host.value(arith::MULI, &[blocks, tiles], index, &[])?;
                    }
                }
                blocks
            }
        };
        let mut arguments = self.arguments.clone();
        for axis in self.counted_by_launch(way) {
            let tiles = self.tiles(host, way, axis)?;
            arguments.push(host.value(arith::INDEX_CAST, &[tiles], host.i32_type(), &[])?);
        }
        let threads = way.threads[0] * way.threads[1];
        launch_kernel(host, kernel, (blocks, threads), &arguments)
    }

    /// Asserts that the tensors have one shape, that there is something to reduce, and that rows of outputs do not overlap, where a type does not say so.
    pub(super) fn check_launch(&self, host: Builder<'c>) -> Result<(), Failure> {
        let index = host.index_type();
        let [first, others @ ..] = &self.tensors[..] else {
            return Ok(());
        };
        let known = |whole: &Whole<'c>, mode: usize| {
            let mode = whole.memref.layout.mode(mode);
            mode.is_ok_and(|mode| mode.shape().is_static())
        };
        let assert = |holds: Val<'c>, message: String| {
            host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(&message))])
        };
        for mode in 0..first.memref.layout.rank() {
            for other in others {
                if known(first, mode) && known(other, mode) {
                    continue;
                }
                let one = extent_of_mode(host, first.tensor, mode)?;
                let two = extent_of_mode(host, other.tensor, mode)?;
                let same = host.compare(Predicate::Eq, one, two)?;
                let message = format!(
                    "expected mode {mode} of {} to have the extent of mode {mode} of {}",
                    other.name, first.name
                );
                assert(same, message)?;
            }
        }
        if self.reduces && self.known(1).is_none() {
            let columns = self.extent(host, 1)?;
            let there = host.compare(Predicate::Sge, columns, host.constant(index, 1)?)?;
            let message = format!(
                "expected at least one element along modes {:?}, which are reduced",
                self.modes[1]
            );
            assert(there, message)?;
        }
        for axis in 0..3 {
            let is_wide = |whole: &Whole<'c>| {
                let extent = whole.layout.shape().get(axis).and_then(IntTuple::as_leaf);
                matches!(extent, Some(Leaf::Dynamic(leaf)) if leaf.width > 32)
            };
            let is_long = self.modes[axis].len() > 1 || self.tensors.iter().any(is_wide);
            if self.known(axis).is_some() || !is_long {
                continue;
            }
            let all = self.extent(host, axis)?;
            let most = host.constant(index, i32::MAX.into())?;
            let fits = host.compare(Predicate::Sle, all, most)?;
            let message = format!(
                "expected at most {} elements along modes {:?} together",
                i32::MAX,
                self.modes[axis]
            );
            assert(fits, message)?;
        }
        for output in &self.tensors[self.inputs..] {
            self.check_rows_apart(host, output)?;
        }
        Ok(())
    }

    /// Asserts that rows of an output do not overlap, where only a launch knows how far they are apart.
    fn check_rows_apart(&self, host: Builder<'c>, output: &Whole<'c>) -> Result<(), Failure> {
        let index = host.index_type();
        let (shape, stride) = (output.layout.shape(), output.layout.stride());
        let apart = stride.get(0).and_then(|stride| stride.as_leaf());
        let is_open = apart.is_some_and(|leaf| !leaf.is_static());
        if !is_open || column(stride) != Some(&Leaf::Static(1)) || shape.rank() != 2 {
            return Ok(());
        }
        let [.., of_stride] = output.open_leaves(host, output.tensor, &self.modes)?;
        let apart = *of_stride
            .first()
            .expected(host, "the stride of an output")?;
        let apart = host.value(arith::INDEX_CAST, &[apart], index, &[])?;
        let both = [self.extent(host, 0)?, self.extent(host, 1)?];
        let modes = [self.modes[0][0], self.modes[1][0]];
        assert_apart(host, &output.name, modes, both, apart)
    }
}

impl<'c> Whole<'c> {
    /// The leaves that only a launch knows of a tensor of this type, in the order of rows and columns: those of the shape, and those of the
    /// stride.
    pub(super) fn open_leaves(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        modes: &[Vec<usize>; 3],
    ) -> Result<[Vec<Val<'c>>; 2], Failure> {
        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
        let leaves = leaves_of(b, layout)?;
        let (shape, stride) = leaves.split_at(leaves.len() / 2);
        let pick = |leaves: &[Option<Val<'c>>]| {
            let places = modes.iter().flatten();
            let places = places.flat_map(|mode| places_of(&self.memref, *mode));
            places
                .filter_map(|at| leaves.get(at).copied().flatten())
                .collect()
        };
        Ok([pick(shape), pick(stride)])
    }
}
