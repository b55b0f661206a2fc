//! Outputs of a product that are reduced along rows, columns or both: what a block stores of them, and the maps that reduce what all blocks of
//! a line stored.
//!
//! Where one block has whole lines it stores what they are reduced to. Elsewhere each block stores its part into a workspace, which has a number
//! for each row, or column, and each tile across, whole tiles without gaps at the end of a matrix; a `cute.map` behind reduces
//! those in an order that does not depend on blocks.

use super::{
    Gemm, all_reduce,
    host::check_reduced,
    kernel::Place,
    leaves::{leaves_of, places_of, view_at},
    map::Map,
    matrix::Matrix,
    numbers::{Modes, Number, tensor_at},
};
use cute_arith::{Predicate, ReduceOp};
use cute_ir::ops::{arith, cf, cute};
use cute_ir::{
    Expected, Failure,
    maps::is_same_along,
    mlir::*,
    types::{self, MemRef, Space},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, tuple};
use melior::ir::Type;

/// Kernels of a map that reduces what blocks left, at most.
const MAPS: usize = 2;

/// An output that is reduced.
#[derive(Clone, Copy)]
pub(super) struct Reduced<'a, 'c> {
    pub(super) matrix: &'a Matrix<'c>,
    pub(super) kind: ReduceOp,
    /// Tells whether it is reduced along rows (0) and columns (1), as the kernel sees them.
    pub(super) along: [bool; 2],
}

/// The modes of rows (0) and columns (1), as a kernel sees them, along which all elements of an output are one.
pub(super) fn along(matrix: &Matrix<'_>) -> [bool; 2] {
    [0, 1].map(|mode| is_same_along(&matrix.memref.layout, matrix.place(mode)))
}

impl<'c> Gemm<'c> {
    /// An output beside C, by its place, if it is reduced.
    pub(super) fn reduced(&self, at: usize) -> Option<Reduced<'_, 'c>> {
        let matrix = self.matrices.outputs.get(at)?;
        let kind = (*self.reduce.get(at)?)?;
        let along = along(matrix);
        Some(Reduced {
            matrix,
            kind,
            along,
        })
    }

    /// The kinds by which a block reduces its part of C's tile and of those of the outputs beside it.
    pub(super) fn kinds(&self) -> Vec<Option<ReduceOp>> {
        let others = self.reduce.iter().map(|kind| {
            kind.map(|kind| match kind {
                ReduceOp::Mean => ReduceOp::Add,
                kind => kind,
            })
        });
        std::iter::once(None).chain(others).collect()
    }

    /// The places of the outputs of which blocks leave parts in a workspace: lines have several tiles, or are divided behind.
    pub(super) fn combined(&self) -> Vec<usize> {
        let all = (0..self.matrices.outputs.len()).filter(|at| {
            self.reduced(*at).is_some_and(|reduced| {
                let single = |axis: usize| self.known_tiles(axis) == Some(1);
                let whole = (0..2).all(|axis| !reduced.along[axis] || single(axis));
                !whole || reduced.kind == ReduceOp::Mean
            })
        });
        all.collect()
    }

    /// The part of an output in a workspace, but for its layout.
    fn partial(&self, reduced: &Reduced<'_, 'c>) -> MemRef<'c> {
        MemRef {
            space: Space::Gmem,
            align: 16,
            swizzle: None,
            inner: None,
            layout: reduced.matrix.layout.clone(),
            ..reduced.matrix.memref.clone()
        }
    }

    /// The types of the pointers to workspaces that kernels take behind their other arguments.
    pub(super) fn workspace_types_of_reduced(
        &self,
        b: Builder<'c>,
    ) -> Result<Vec<Type<'c>>, Failure> {
        let all = self.combined().into_iter().map(|at| {
            let reduced = self.reduced(at).expected(b, "an output that is reduced")?;
            self.partial(&reduced).to_ptr_type(b.location)
        });
        all.collect()
    }

    /// The tile of an output beside C in a kernel, if what a block reduces it to goes into a workspace.
    pub(super) fn tile_in_workspace(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        at: usize,
        place: &Place<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let Some(order) = self.combined().iter().position(|other| *other == at) else {
            return Ok(None);
        };
        let reduced = self.reduced(at).expected(b, "an output that is reduced")?;
        let pointer = argument(body, self.first_workspace() + order);
        let wide = b.i64_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], wide, &[]);
        let extend = |value: Val<'c>| b.value(arith::EXTUI, &[value], wide, &[]);
        let tiles = [self.tiles(b, body, 0)?, self.tiles(b, body, 1)?];
        let [m, n, _] = self.plan.tile;
        let extents = [m, n];
        // Whole numbers of a tile's line, then the tiles across, then the products.
        let kept = (0..2).find(|axis| !reduced.along[*axis]);
        let each =
            |axis: usize| kept.map_or(1, |kept| if kept == axis { extents[axis] } else { 1 });
        let order = match kept {
            Some(1) => [1, 0],
            _ => [0, 1],
        };
        let mut offset = b.constant(wide, 0)?;
        let mut weight = b.constant(wide, 1)?;
        for axis in order {
            let own = extend([place.m, place.n][axis])?;
            let step = number(arith::MULI, weight, b.constant(wide, each(axis))?)?;
            offset = number(arith::ADDI, offset, number(arith::MULI, own, step)?)?;
            weight = number(arith::MULI, step, extend(tiles[axis])?)?;
        }
        if let Some(product) = place.product {
            let product = number(arith::MULI, extend(product.index)?, weight)?;
            offset = number(arith::ADDI, offset, product)?;
        }
        let ty = types::int_tuple_type(b.context, &IntTuple::Leaf(Leaf::Dynamic(Dyn::I64)));
        let offset = b.value(cute::MAKE_INT_TUPLE, &[offset], ty, &[])?;
        let start = b.infer(cute::ADD_OFFSET, &[pointer, offset], &[])?;
        let stride = [0, 1].map(|axis| int(i64::from(kept == Some(axis))));
        let layout = Layout::new(tuple(extents.map(int)), tuple(stride));
        let layout = layout.map_err(|e| b.error(e.to_string()))?;
        let partial = self.partial(&reduced);
        let memref = MemRef {
            align: partial.element_bytes(),
            layout,
            ..partial
        };
        Ok(Some(view_at(b, start, &memref, [&[], &[]])?))
    }

    /// Tiles along M (0) or N (1) of a launch.
    fn tiles_of_launch(&self, host: Builder<'c>, axis: usize) -> Result<Number<'c>, Failure> {
        if let Some(known) = self.known_tiles(axis) {
            return Ok(Number::Known(known));
        }
        let (matrix, mode) = self.extents[axis].from;
        let extent = self.dimension(host, &self.matrices.product[matrix], mode)?;
        let index = host.index_type();
        let tile = host.constant(index, self.plan.tile[axis])?;
        let tiles = host.value(arith::CEILDIVSI, &[extent, tile], index, &[])?;
        Ok(Number::Value(tiles))
    }

    /// The modes of what blocks leave of an output in a workspace, and of the output as what those are reduced to.
    fn modes_of_parts(
        &self,
        host: Builder<'c>,
        reduced: &Reduced<'_, 'c>,
    ) -> Result<[Modes<'c>; 2], Failure> {
        let known = Number::Known;
        let matrix = reduced.matrix;
        let own = self.leaves_of_output(host, matrix)?;
        let kept = (0..2).find(|axis| !reduced.along[*axis]);
        let mut parts: Modes<'c> = vec![Vec::new(), Vec::new()];
        let mut outputs: Modes<'c> = vec![Vec::new(), Vec::new()];
        let mut weight = known(1);
        let order = match kept {
            Some(1) => [1, 0],
            _ => [0, 1],
        };
        for axis in order {
            let tiles = self.tiles_of_launch(host, axis)?;
            let (extent, all) = match reduced.along[axis] {
                true => (tiles, tiles),
                false => {
                    let extent = own[axis].first().expected(host, "an extent")?[0];
                    (extent, tiles.times(host, known(self.plan.tile[axis]))?)
                }
            };
            parts[axis] = vec![[extent, weight]];
            let stride = match reduced.along[axis] {
                true => known(0),
                false => own[axis].first().expected(host, "a stride")?[1],
            };
            outputs[axis] = vec![[extent, stride]];
            weight = weight.times(host, all)?;
        }
        if kept.is_none() {
            // All parts are neighbours, along one mode.
            let one = [known(1), known(0)];
            parts = vec![vec![[weight, known(1)]], vec![one]];
            outputs = vec![vec![[weight, known(0)]], vec![one]];
        }
        if let Some(batch) = own.get(2) {
            let mut of_parts = Vec::new();
            for [extent, _] in batch {
                of_parts.push([*extent, weight]);
                weight = weight.times(host, *extent)?;
            }
            parts.push(of_parts);
            outputs.push(batch.clone());
        }
        Ok([parts, outputs])
    }

    /// The leaves of an output's modes, as the kernel sees them.
    fn leaves_of_output(
        &self,
        host: Builder<'c>,
        matrix: &Matrix<'c>,
    ) -> Result<Modes<'c>, Failure> {
        let index = host.index_type();
        let layout = host.infer(cute::GET_LAYOUT, &[matrix.tensor], &[])?;
        let values = leaves_of(host, layout)?;
        let of_shape = values.len() / 2;
        let rank = matrix.memref.layout.rank();
        let modes = (0..rank).map(|axis| {
            let mode = matrix.place(axis);
            // A mode of several leaves is known, and one in the matrix.
            let whole = matrix
                .layout
                .mode(mode)
                .map_err(|e| host.error(e.to_string()))?;
            let (shape, stride) = (whole.shape().leaves(), whole.stride().leaves());
            let places = places_of(&matrix.memref, mode);
            let leaves = shape.iter().zip(&stride).enumerate();
            let leaves = leaves.map(|(at, (extent, stride))| {
                let number = |leaf: &Leaf, place: usize| match leaf.as_static() {
                    Some(known) => Ok(Number::Known(known)),
                    None => {
                        let value = values.get(place).copied().flatten();
                        let value = value.expected(host, "a leaf that a launch brings")?;
                        Ok(Number::Value(host.value(
                            arith::INDEX_CAST,
                            &[value],
                            index,
                            &[],
                        )?))
                    }
                };
                let place = places.start + at;
                Ok([number(extent, place)?, number(stride, of_shape + place)?])
            });
            leaves.collect::<Result<Vec<_>, Failure>>()
        });
        modes.collect()
    }

    /// The workspaces of a launch.
    pub(super) fn workspaces_of_reduced(&self, host: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let all = self.combined().into_iter().map(|at| {
            let reduced = self
                .reduced(at)
                .expected(host, "an output that is reduced")?;
            let partial = self.partial(&reduced);
            let mut bytes = Number::Known(partial.element_bytes());
            for axis in 0..2 {
                bytes = bytes.times(host, self.tiles_of_launch(host, axis)?)?;
                if !reduced.along[axis] {
                    bytes = bytes.times(host, Number::Known(self.plan.tile[axis]))?;
                }
            }
            if let Some(batch) = self.leaves_of_output(host, reduced.matrix)?.get(2) {
                for [extent, _] in batch {
                    bytes = bytes.times(host, *extent)?;
                }
            }
            let ty = partial.to_ptr_type(host.location)?;
            host.value(cute::WORKSPACE, &[bytes.value(host)?], ty, &[])
        });
        all.collect()
    }

    /// Reduces what blocks left in workspaces, behind the launch of the kernel that left it; `module` has the kernels, in `home`, and those
    /// that are added have names that begin with `name`.
    pub(super) fn combine(
        &self,
        rewriter: &Rewriter<'c>,
        host: Builder<'c>,
        (module, home, name): (Op<'c>, Op<'c>, &str),
        workspaces: &[Val<'c>],
    ) -> Result<(), Failure> {
        let host = host.step("reduce outputs");
        for (order, (at, workspace)) in self.combined().into_iter().zip(workspaces).enumerate() {
            let reduced = self
                .reduced(at)
                .expected(host, "an output that is reduced")?;
            let [parts, outputs] = self.modes_of_parts(host, &reduced)?;
            let input = tensor_at(host, *workspace, &self.partial(&reduced), &parts)?;
            let start = host.infer(cute::GET_ITER, &[reduced.matrix.tensor], &[])?;
            let output = tensor_at(host, start, &reduced.matrix.memref, &outputs)?;
            let map = self.map_of_parts(host, &reduced, [input, output])?;
            let all = std::iter::once(&self.matrices.product[2]).chain(&self.matrices.outputs);
            let written: Vec<_> = all.map(|matrix| matrix.tensor).collect();
            let map = Map::of_values(map, self.function, &self.archs, (&written, None))?;
            let name = format!("{name}_reduce_{order}");
            map.lower_alone(rewriter, module, &name, MAPS, &mut Some(home))?;
            rewriter.erase(map.op())?;
        }
        Ok(())
    }

    /// The map that reduces parts to an output.
    fn map_of_parts(
        &self,
        host: Builder<'c>,
        reduced: &Reduced<'_, 'c>,
        [input, output]: [Val<'c>; 2],
    ) -> Result<Op<'c>, Failure> {
        let element = reduced.matrix.memref.element;
        let count = match reduced.kind {
            ReduceOp::Mean => Some(self.count_of(host, reduced)?),
            _ => None,
        };
        let (region, block) = Detached::with_block(&[(element, host.location)]);
        let segments = [("operandSegmentSizes", host.i32_array(&[1, 1]))];
        let op = host.with_regions(cute::MAP, &[input, output], &[], &segments, vec![region])?;
        let l = Builder::at_end(host.context, block, host.location);
        let along = match reduced.along {
            [false, true] => 1,
            _ => 0,
        };
        let mut value = all_reduce(l, reduced.kind, argument(block, 0), along)?;
        if let Some(count) = count {
            let count = l.value(arith::SITOFP, &[count], element, &[])?;
            value = l.value(arith::DIVF, &[value, count], element, &[])?;
        }
        l.op(cute::YIELD, &[value], &[], &[])?;
        Ok(op)
    }

    /// The number of elements that an output has the mean of, of 64 bits.
    fn count_of(&self, host: Builder<'c>, reduced: &Reduced<'_, 'c>) -> Result<Val<'c>, Failure> {
        let own = self.leaves_of_output(host, reduced.matrix)?;
        let mut count = Number::Known(1);
        for axis in (0..2).filter(|axis| reduced.along[*axis]) {
            for [extent, _] in &own[axis] {
                count = count.times(host, *extent)?;
            }
        }
        match count {
            Number::Known(known) => host.constant(host.i64_type(), known),
            Number::Value(value) => host.value(arith::INDEX_CAST, &[value], host.i64_type(), &[]),
        }
    }

    /// Asserts that there is something to reduce, where a type does not say so.
    pub(super) fn check_lines(&self, host: Builder<'c>) -> Result<(), Failure> {
        let index = host.index_type();
        for at in 0..self.matrices.outputs.len() {
            let Some(reduced) = self.reduced(at) else {
                continue;
            };
            for axis in (0..2).filter(|axis| reduced.along[*axis]) {
                if self.extents[axis].known.is_some() {
                    continue;
                }
                let mode = reduced.matrix.place(axis);
                check_reduced(self.op, &reduced.matrix.memref.layout, &[mode])?;
                let extent = self.dimension(host, reduced.matrix, axis)?;
                let there = host.compare(Predicate::Sge, extent, host.constant(index, 1)?)?;
                let message = format!(
                    "expected at least one element along mode {mode}, along which {} is reduced",
                    reduced.matrix.name
                );
                host.op(cf::ASSERT, &[there], &[], &[("msg", host.string(&message))])?;
            }
        }
        Ok(())
    }
}
