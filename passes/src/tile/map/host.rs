//! The launch of a map, and what the function must be given.

use super::{Arrangement, Map, Whole};
use crate::tile::{
    grid::{self, Grid, Stays},
    host::{assert_extent, assert_no_overlap, assert_one_shape, check_reduced},
    leaves::{extent_of_modes, leaves_of, open_leaves, places_of},
    variants::{both, choose, divided},
};
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure,
    maps::is_same_along,
    mlir::*,
    ops::{arith, cute},
};
use cute_layout::{IntTuple, Leaf};

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
            let open = open_leaves(host, whole.tensor, &whole.memref, &self.modes)?;
            let holds = divided(host, open.concat(), [layout, &whole.layout])?;
            all = both(host, all, holds)?;
        }
        if let (Some(most), None) = (way.most, self.known(1)) {
            let columns = self.extent(host, 1)?;
            let holds = host.compare(Predicate::Sle, columns, host.constant(index, most)?)?;
            all = both(host, all, Some(holds))?;
        }
        if let Some(lead) = way.aligned_by {
            all = both(
                host,
                all,
                self.are_aligned_alike(host, lead, way.values[0])?,
            )?;
        }
        Ok(all)
    }

    /// The condition that rows of all tensors begin as far from an aligned element as those of one, by its place; none where layouts say so.
    fn are_aligned_alike(
        &self,
        host: Builder<'c>,
        lead: usize,
        vector: i64,
    ) -> Result<Option<Val<'c>>, Failure> {
        let index = host.index_type();
        let by = host.constant(index, vector)?;
        let rest = |stride: Val<'c>| host.value(arith::REMSI, &[stride, by], index, &[]);
        let first = self.row_strides(host, &self.tensors[lead])?;
        let mut all = None;
        for (_, whole) in self.along().filter(|(at, _)| *at != lead) {
            let own = self.row_strides(host, whole)?;
            for (one, other) in first.iter().zip(own) {
                if one.1 && other.1 {
                    continue;
                }
                let holds = host.compare(Predicate::Eq, rest(one.0)?, rest(other.0)?)?;
                all = both(host, all, Some(holds))?;
            }
        }
        Ok(all)
    }

    /// The strides along rows, of type `index`, and whether each is known.
    fn row_strides(
        &self,
        host: Builder<'c>,
        whole: &Whole<'c>,
    ) -> Result<Vec<(Val<'c>, bool)>, Failure> {
        let index = host.index_type();
        let layout = host.infer(cute::GET_LAYOUT, &[whole.tensor], &[])?;
        let leaves = leaves_of(host, layout)?;
        let strides = &leaves[leaves.len() / 2..];
        let known = whole.memref.layout.stride().leaves();
        let places = self.modes[0].iter();
        let places = places.flat_map(|mode| places_of(&whole.memref, *mode));
        let stride = |at: usize| match strides[at] {
            Some(value) => Ok((host.value(arith::INDEX_CAST, &[value], index, &[])?, false)),
            None => {
                let known = known[at].as_static().expected(host, "a number")?;
                Ok((host.constant(index, known)?, true))
            }
        };
        places.map(stride).collect()
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

    /// The grid of a kernel.
    pub(super) fn grid(&self, way: &Arrangement) -> Grid {
        let axes = [grid::ROWS, grid::COLUMNS, grid::BATCH];
        let facts = (self.is_batched(), self.reduces);
        Grid {
            range: self.ranges,
            stays: way.stays.map(|blocks| Stays {
                blocks,
                multiple: way.aligned_by.map_or(1, |_| way.values[0]),
            }),
            ..Grid::new(
                axes.map(|axis| way.tile(axis)),
                axes.map(|axis| self.known(axis)),
                facts,
            )
        }
    }

    fn launch(&self, host: Builder<'c>, way: &Arrangement, kernel: &str) -> Result<(), Failure> {
        let kernel = (kernel, way.threads[0] * way.threads[1]);
        let extent = |axis| self.extent(host, axis);
        self.grid(way).launch(host, kernel, &self.arguments, extent)
    }

    /// Asserts that the tensors have one shape, that there is something to reduce, and that rows of outputs do not overlap, where a type does not say so.
    pub(super) fn check_launch(&self, host: Builder<'c>) -> Result<(), Failure> {
        let tensors = self.tensors.iter();
        let tensors = tensors.map(|whole| (whole.tensor, &whole.memref, whole.name.as_str()));
        assert_one_shape(host, tensors)?;
        for whole in self.tensors.iter().filter(|_| self.reduces) {
            check_reduced(self.op, &whole.memref.layout, &self.modes[1])?;
        }
        if self.reduces && self.known(1).is_none() {
            let columns = self.extent(host, 1)?;
            let least = (Predicate::Sge, 1);
            let message = format!(
                "expected at least one element along modes {:?}, which are reduced",
                self.modes[1]
            );
            assert_extent(host, columns, least, &message)?;
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
            let most = (Predicate::Sle, i32::MAX.into());
            let message = format!(
                "expected at most {} elements along modes {:?} together",
                i32::MAX,
                self.modes[axis]
            );
            assert_extent(host, all, most, &message)?;
        }
        for output in &self.tensors[self.inputs..] {
            let modes = (0..output.memref.layout.rank())
                .filter(|mode| !is_same_along(&output.memref.layout, *mode));
            let modes: Vec<_> = modes.collect();
            let whole = (output.tensor, &output.memref, output.name.as_str());
            assert_no_overlap(host, whole, &modes)?;
        }
        Ok(())
    }
}
