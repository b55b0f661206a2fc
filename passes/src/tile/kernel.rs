//! The kernel of a product: which tile a block computes, and the loop along K.

use super::{
    Gemm,
    function::{Kernel, block_index},
    leaves::at_least,
    matrix::Matrix,
    quotients::Divisor,
    region::{On, id_of, transform},
    scales::Scales,
};
use crate::launch::follow;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Expected, Failure,
    attributes::{CLUSTER, PLAN, ROLES, STAGES},
    mlir::*,
    tensor,
    types::{self, MemRef},
};
use cute_layout::{IntTuple, Layout, Leaf, Operand, Tile, int, tuple};
use melior::ir::{Type, ValueLike};

/// A tile's place among those of all products.
pub(super) struct Place<'c> {
    pub(super) m: Val<'c>,
    pub(super) n: Val<'c>,
    /// The product; none where there is one.
    pub(super) product: Option<Product<'c>>,
}

/// A product of a batch, or of a group of rows.
#[derive(Clone, Copy)]
pub(super) struct Product<'c> {
    /// Its index.
    pub(super) index: Val<'c>,
    /// Its rows, of a group of rows.
    pub(super) rows: Option<Rows<'c>>,
}

/// The rows of a group, as a tile of them sees them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'c> {
    /// The first of them among those of all groups.
    pub(super) first: Val<'c>,
    /// Their number; 0 where the tile has none.
    pub(super) count: Val<'c>,
    /// True where the tile has rows; none where every tile has.
    pub(super) is_there: Option<Val<'c>>,
}

/// The tiles of a matrix along K, or that of C.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'c> {
    /// The tiles, or the whole matrix.
    pub(super) tensor: Val<'c>,
    pub(super) is_whole: bool,
    /// The coordinates of its elements, and the first that is not there; none where it never reaches over the end, and is not whole.
    pub(super) within: Option<(Val<'c>, Val<'c>)>,
    /// The coordinates of a whole matrix in a tensor, and their limits.
    pub(super) bounds: Option<(Val<'c>, Val<'c>)>,
    /// The index of each element's row, in registers.
    pub(super) rows: Option<Val<'c>>,
}

impl<'c> Tiles<'c> {
    /// The tile at a coordinate of all of them.
    pub(super) fn at(self, b: Builder<'c>, coord: Val<'c>) -> Result<Self, Failure> {
        let slice = |tensor| b.infer(cute::SLICE, &[tensor, coord], &[]);
        let within = match self.within {
            Some((coords, end)) => Some((slice(coords)?, end)),
            None => None,
        };
        Ok(Self {
            tensor: match self.is_whole {
                true => self.tensor,
                false => slice(self.tensor)?,
            },
            within,
            ..self
        })
    }

    /// Says where its elements are, where it is the tensor at that place of an op.
    pub(super) fn located(&self, place: i64) -> Located<'c> {
        Located {
            within: self.within,
            bounds: self.bounds,
            rows: self.rows,
            whole: if self.is_whole {
                vec![place]
            } else {
                Vec::new()
            },
        }
    }
}

/// The operands by which an op of a block says where elements of its tensors are.
#[derive(Clone, Default)]
pub(super) struct Located<'c> {
    /// The coordinates of a tile, and the first that is not there.
    pub(super) within: Option<(Val<'c>, Val<'c>)>,
    /// The coordinates of a factor in a tensor, and their limits.
    pub(super) bounds: Option<(Val<'c>, Val<'c>)>,
    /// The index of the row of each element of a factor.
    pub(super) rows: Option<Val<'c>>,
    /// The places of tensors that are whole matrices.
    pub(super) whole: Vec<i64>,
}

impl<'c> Located<'c> {
    /// The operands behind the tensors, and how many there are of each kind.
    pub(super) fn operands(&self) -> (Vec<Val<'c>>, [i32; 5]) {
        let pair = |pair: Option<(Val<'c>, Val<'c>)>| pair.map(|(one, other)| [one, other]);
        let (within, bounds) = (pair(self.within), pair(self.bounds));
        let all = within.into_iter().chain(bounds).flatten().chain(self.rows);
        let there = |is: bool| i32::from(is);
        let [one, other] = [within.is_some(), bounds.is_some()].map(there);
        (
            all.collect(),
            [one, one, other, other, there(self.rows.is_some())],
        )
    }
}

/// A kernel's part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The products, and what becomes of them where K is not split.
    Product,
    /// The sums of products of ranges of K.
    Sums,
}

impl<'c> Gemm<'c> {
    /// Tiles along M (0), N (1) or K (2), where they are known: those that a cluster of blocks computes at a time, where there are such.
    pub(super) fn known_tiles(&self, axis: usize) -> Option<i64> {
        let (extent, tile) = (self.extents[axis].known?, self.plan.step()[axis]);
        match (axis, &self.groups) {
            (0, Some(_)) if extent > 0 => (extent / tile).checked_add(self.known_groups()?),
            _ => Some(extent / tile + i64::from(extent % tile != 0)),
        }
    }

    /// The axes, of M, N and K, whose tiles only a launch can count: a kernel's arguments behind A, B and C.
    pub(super) fn counted_by_launch(&self) -> Vec<usize> {
        (0..3)
            .filter(|axis| self.known_tiles(*axis).is_none())
            .collect()
    }

    /// Writes the kernel that multiplies.
    pub(super) fn kernel(&self, place: Builder<'c>, name: &str) -> Result<(), Failure> {
        // One kernel is launched with any number of parts where only a launch knows K.
        let blocks = self
            .known_tiles_of_c()
            .filter(|_| self.parts_of_launch() == 0)
            .and_then(|blocks| blocks.checked_mul(self.plan.split));
        if self.plan.has_roles() {
            // As many blocks as there are multiprocessors, which only a launch knows.
            return self.function(place, (name, Part::Product), None, |b, body| {
                self.body_of_roles(b, body)
            });
        }
        self.function(place, (name, Part::Product), blocks, |b, body| {
            self.body(b, body)
        })
    }

    /// Writes a kernel of that many blocks, where they are known, of which `write` writes the body.
    pub(super) fn function(
        &self,
        place: Builder<'c>,
        (name, part): (&str, Part),
        blocks: Option<i64>,
        write: impl FnOnce(Builder<'c>, Blk<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut arguments: Vec<_> = self.arguments.iter().map(|v| v.r#type()).collect();
        for (argument, copied) in self.copied_arguments() {
            arguments[argument] = copied.to_type(place.location)?;
        }
        let counted = self.counted_by_launch();
        arguments.extend(counted.iter().map(|_| place.i32_type()));
        let reciprocals = self.reciprocals_of_launch();
        arguments.extend(reciprocals.iter().map(|_| place.i64_type()));
        arguments.extend((0..self.parts_of_launch()).map(|_| place.i32_type()));
        if self.plan.is_split() {
            arguments.push(self.workspace_type(place)?);
        }
        arguments.extend(self.workspace_types_of_reduced(place)?);
        let mut attributes = vec![(PLAN, self.plan.attribute(place.location)?)];
        if part == Part::Product {
            arguments.extend(self.types_of_bulk(place)?);
            if let Some(budgets) = self.plan.budgets(self.counts_tiles()) {
                attributes.push((ROLES, place.i64_array(&budgets)));
            }
            if self.plan.blocks_of_cluster() > 1 {
                let blocks = self.plan.blocks_of_cluster();
                attributes.push((CLUSTER, place.i64_attribute(blocks)));
            }
        }
        let kernel = Kernel {
            name,
            arguments,
            threads: self.threads(part)?,
            blocks,
            attributes,
        };
        kernel.write(place, write)
    }

    fn body(&self, b: Builder<'c>, body: Blk<'c>) -> Result<(), Failure> {
        follow(b, &self.archs)?;
        let block = block_index(b)?;
        if self.plan.is_streamed() {
            return self.ranges(b, body, block);
        }
        let (at, part) = self.place(b, body, block, self.parts(b, body)?)?;
        // From the first tile along K of this block's part on.
        let range = || match part {
            Some(part) => {
                let (first, turns) = self.range_of_part(b, body, part)?;
                Ok((Some(first), turns))
            }
            None => Ok((None, self.tiles(b, body, 2)?)),
        };
        let (accumulators, c) = self.sum_up(b, body, (&at, part.is_none()), range)?;
        match c {
            Some(c) => self.store_sums_of_all(b, body, &at, (accumulators, c)),
            // What is to be added, other blocks have.
            None => self.leave_sums(b, body, (accumulators, block)),
        }
    }

    /// Sums the products of a tile's range along K up, which `range` gives by its first tile, where that is not 0, and how many it has. Returns the sums, and where they go
    /// if C's tile `is_asked`.
    pub(super) fn sum_up(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (at, is_asked): (&Place<'c>, bool),
        range: impl FnOnce() -> Result<(Option<Val<'c>>, Val<'c>), Failure>,
    ) -> Result<(Val<'c>, Option<Tiles<'c>>), Failure> {
        let [tm, tn, _] = self.plan.tile;
        // This block's part of the tensors.
        let keep = IntTuple::underscore;
        let dynamic = IntTuple::dynamic;
        let ends = self.ends(b, body, at.product)?;
        let tiles = |matrix: &Matrix<'c>, operand, ends: &[Option<End<'c>>; 3]| {
            let leaf = match operand {
                Operand::A => at.m,
                _ => at.n,
            };
            let coord = (tuple([dynamic(), keep()]), &[leaf][..]);
            let beside = self.matrices.beside.get(operand as usize);
            let forced = beside.is_some_and(|all| all.iter().any(Matrix::is_whole));
            self.part(
                b,
                body,
                (matrix, operand),
                coord,
                at.product,
                (ends, forced),
            )
        };
        let [a, bb, c] = &self.matrices.product;
        let a = tiles(a, Operand::A, &ends)?;
        let bb = tiles(bb, Operand::B, &ends)?;
        let c = match is_asked {
            false => None,
            true => Some(self.tile_of_c(b, body, c, at, &ends)?),
        };

        // Shared memory and accumulators.
        let shared_a = self.shared(b, Operand::A)?;
        let shared_b = self.shared(b, Operand::B)?;
        let accumulators = block_registers(self.accumulate, tm, tn).map_err(|e| b.error(e))?;
        let accumulators = accumulators.to_type(b.location)?;
        let accumulators = b.value(cute::MEMREF_ALLOCA, &[], accumulators, &[])?;
        b.step("clear accumulators")
            .op(cute::CLEAR, &[accumulators], &[], &[])?;

        let value = |argument: usize| cute_ir::mlir::argument(body, argument);
        let none = [const { None }; 3];
        let beside = |operand| {
            self.beside(b, operand, |matrix, is_held| {
                tiles(matrix, operand, if is_held { &ends } else { &none })
            })
        };
        let (beside_a, beside_b) = (beside(Operand::A)?, beside(Operand::B)?);

        // Along K.
        let (first, turns) = range()?;
        let turns = match at.product.and_then(|product| product.rows) {
            Some(rows) => rows.turns(b, turns)?,
            // A turn behind the end of K copies nothing and adds zeros, where a loop that may have no turn asks for it first. The last turn of several
            // stages may be written out behind the loop, which has one then as well: else accumulators are zeroed for both ways around it.
            None if first.is_none() && ends[2].is_some() && self.may_have_no_turns() => {
                let least = b.i32(if self.plan.stages > 1 { 2 } else { 1 })?;
                b.value(arith::MAXSI, &[turns, least], b.i32_type(), &[])?
            }
            None => turns,
        };
        let scales = self.scales_of_tile(b, body, at, (first, turns))?;
        let (from, to, step) = (b.i32(0)?, turns, b.i32(1)?);
        let (region, inner) = Detached::with_block(&[(b.i32_type(), b.location)]);
        let stages = [(STAGES, b.i64_attribute(self.plan.stages))];
        b.with_regions(scf::FOR, &[from, to, step], &[], &stages, vec![region])?;
        let l = Builder::at_end(b.context, inner, b.location);
        let mut turn = argument(inner, 0);
        if let Some(first) = first {
            turn = l.value(arith::ADDI, &[first, turn], l.i32_type(), &[])?;
        }
        let coord = l.coord(&tuple([keep(), keep(), dynamic()]), &[turn])?;
        let mut product = [shared_a, shared_b, accumulators];
        for (name, operand, tiles, beside) in [
            ("copy A", Operand::A, a, beside_a),
            ("copy B", Operand::B, bb, beside_b),
        ] {
            let l = l.step(name);
            let factor = &mut product[operand as usize];
            let ends = (tiles.at(l, coord)?, *factor);
            *factor = self.fill(l, operand, ends, (beside, coord), value)?;
        }
        let scales = scales.as_ref().map(|scales| (scales, 0));
        self.multiply((l, body), product, scales, turn)?;
        l.op(scf::YIELD, &[], &[], &[])?;
        Ok((accumulators, c))
    }

    /// Leaves sums of a part of K in the tile of the workspace that has that number.
    pub(super) fn leave_sums(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (accumulators, number): (Val<'c>, Val<'c>),
    ) -> Result<(), Failure> {
        let ends = [accumulators, self.sums(b, body, number)?];
        block_copy(b.step("store sums"), Operand::C, ends, &Located::default())
    }

    /// Stores what becomes of the sums of all of K.
    pub(super) fn store_sums_of_all(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        at: &Place<'c>,
        (accumulators, c): (Val<'c>, Tiles<'c>),
    ) -> Result<(), Failure> {
        let [tm, tn, _] = self.plan.tile;
        // Out through shared memory, so that whole vectors are stored.
        let mut rounded = accumulators;
        let staged = self.staged();
        if staged != self.accumulate {
            let ty = block_registers(staged, tm, tn).map_err(|e| b.error(e))?;
            let ty = ty.to_type(b.location)?;
            let convert = b.step("convert C");
            rounded = convert.value(cute::CONVERT, &[accumulators], ty, &[])?;
        }
        let shared_c = self.shared(b, Operand::C)?;
        let ends = [rounded, shared_c];
        block_copy(b.step("gather C"), Operand::C, ends, &Located::default())?;
        self.store_c(b, body, at, (c, shared_c))
    }

    /// Adds the product of a turn's tiles to the sums; where there are scales, by way of a set of sums of a group.
    pub(super) fn multiply(
        &self,
        (l, body): (Builder<'c>, Blk<'c>),
        product: [Val<'c>; 3],
        scales: Option<(&Scales<'c>, usize)>,
        turn: Val<'c>,
    ) -> Result<(), Failure> {
        if let Some(scales) = scales {
            return self.multiply_scaled(l, body, scales, (product, turn));
        }
        l.step("multiply")
            .op(cute::BLOCK_GEMM, &product, &[], &[])?;
        Ok(())
    }

    /// The tile of an operand in shared memory.
    pub(super) fn shared(&self, b: Builder<'c>, operand: Operand) -> Result<Val<'c>, Failure> {
        let (tile, _) = self.plan.shared(operand).map_err(|e| b.error(e))?;
        b.value(cute::MEMREF_ALLOCA, &[], tile.to_type(b.location)?, &[])
    }

    /// Stores a tile of C from shared memory, or what the epilogue computes of sums that are there.
    pub(super) fn store_c(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        at: &Place<'c>,
        (c, shared): (Tiles<'c>, Val<'c>),
    ) -> Result<(), Failure> {
        // Where others leave theirs in a workspace, sums are in shared memory as well.
        let has_sums = self.epilogue.is_some() && !self.computes_in_registers();
        if !has_sums && !self.plan.is_streamed() {
            let ends = [shared, c.tensor];
            return block_copy(b.step("store C"), Operand::C, ends, &c.located(1));
        }
        let (inputs, outputs) = self.tiles_beside(b, body, at)?;
        let inputs = [vec![shared], inputs].concat();
        let outputs = [vec![c.tensor], outputs].concat();
        let located = Located {
            whole: self.whole_of_c(1),
            ..c.located(0)
        };
        let on = On {
            operand: Operand::C,
            inputs: &inputs,
            outputs: &outputs,
            reduce: &self.kinds(),
            located: &located,
        };
        let value = |argument: usize| cute_ir::mlir::argument(body, argument);
        match &self.epilogue {
            Some(epilogue) => epilogue.transform(b.step("epilogue"), on, value),
            None => transform(b.step("store C"), on, |l, sums| {
                let sum = sums.first().expected(l, "a sum")?;
                Ok(vec![self.rounded(l, *sum)?])
            }),
        }
    }

    /// The tile of a matrix of C's shape at a place.
    pub(super) fn tile_of_c(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        matrix: &Matrix<'c>,
        at: &Place<'c>,
        ends: &[Option<End<'c>>; 3],
    ) -> Result<Tiles<'c>, Failure> {
        let coord = tuple([IntTuple::dynamic(), IntTuple::dynamic()]);
        let coord = (coord, &[at.m, at.n][..]);
        let others = self.matrices.inputs.iter().chain(&self.matrices.outputs);
        let is_c = matrix.argument == self.matrices.product[2].argument;
        let forced = is_c && { others }.any(Matrix::is_whole);
        self.part(
            b,
            body,
            (matrix, Operand::C),
            coord,
            at.product,
            (ends, forced),
        )
    }

    /// The places of whole matrices among the tensors of an epilogue, of which so many stand before its inputs.
    pub(super) fn whole_of_c(&self, before: usize) -> Vec<i64> {
        let inputs = self.matrices.inputs.iter();
        let outputs = std::iter::once(&self.matrices.product[2]).chain(&self.matrices.outputs);
        let all = inputs.chain(outputs).enumerate();
        let whole = all.filter(|(_, matrix)| matrix.is_whole());
        whole.map(|(at, _)| (before + at) as i64).collect()
    }

    /// The tiles at a place of what an epilogue reads, and of what it writes beside C.
    pub(super) fn tiles_beside(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        at: &Place<'c>,
    ) -> Result<(Vec<Val<'c>>, Vec<Val<'c>>), Failure> {
        let tiles = |matrices: &[Matrix<'c>]| {
            let tile = |matrix| self.tile_of_c(b, body, matrix, at, &[None, None, None]);
            let tiles = matrices.iter().map(|matrix| Ok(tile(matrix)?.tensor));
            tiles.collect::<Result<Vec<_>, Failure>>()
        };
        let mut outputs = tiles(&self.matrices.outputs)?;
        for (place, output) in outputs.iter_mut().enumerate() {
            if let Some(tile) = self.tile_in_workspace(b, body, place, at)? {
                *output = tile;
            }
        }
        Ok((tiles(&self.matrices.inputs)?, outputs))
    }

    /// The place of the first pointer to a workspace among a kernel's arguments.
    pub(super) fn first_workspace(&self) -> usize {
        self.first_part_of_launch() + self.parts_of_launch()
    }

    /// The number of tiles along M (0), N (1) or K (2): a constant, or an argument of the kernel.
    pub(super) fn tiles(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        axis: usize,
    ) -> Result<Val<'c>, Failure> {
        if let Some(known) = self.known_tiles(axis) {
            return b.i32(known);
        }
        let counted = self.counted_by_launch();
        let place = counted.iter().position(|other| *other == axis);
        let place = place.expected(b, "an axis that the launch counts")?;
        Ok(argument(body, self.arguments.len() + place))
    }

    /// Tells whether only a launch knows of how many tiles along K plain factors are multiplied, so that there may be none.
    fn may_have_no_turns(&self) -> bool {
        let is_plain = self.prologues.iter().all(Option::is_none)
            && self.scales.iter().all(Option::is_none)
            && self.groups.is_none();
        is_plain && self.known_tiles(2).is_none()
    }

    /// The place of a tile by its index, where there are `parts` of each product, one behind the other, and which part it is; none
    /// of one.
    pub(super) fn place(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        index: Val<'c>,
        parts: Option<Val<'c>>,
    ) -> Result<(Place<'c>, Option<Val<'c>>), Failure> {
        let unsigned =
            |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], b.i32_type(), &[]);
        let (mut block, mut product, mut part) = (index, None, None);
        if self.is_batched() || parts.is_some() {
            let tiles = self.tiles_of_product(b, body)?;
            let by = (Divisor::Product, tiles);
            let [mut rest, own] = self.divided(b, body, block, by)?;
            block = own;
            part = parts.map(|_| rest);
            if let (true, Some(parts)) = (self.is_batched(), parts) {
                part = Some(unsigned(arith::REMUI, rest, parts)?);
                rest = unsigned(arith::DIVUI, rest, parts)?;
            }
            product = self.is_batched().then_some(Product {
                index: rest,
                rows: None,
            });
        }
        if let Some(groups) = self.groups {
            return Ok((self.in_group(b, body, groups, block)?, part));
        }
        let (m, n) = self.raster(b, body, block)?;
        Ok((Place { m, n, product }, part))
    }

    /// The tiles of C of one product.
    pub(super) fn tiles_of_product(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
    ) -> Result<Val<'c>, Failure> {
        let known = self.known_tiles(0).zip(self.known_tiles(1));
        if let Some(tiles) = known.and_then(|(m, n)| m.checked_mul(n)) {
            return b.i32(tiles);
        }
        let [m, n] = [self.tiles(b, body, 0)?, self.tiles(b, body, 1)?];
        b.value(arith::MULI, &[m, n], b.i32_type(), &[])
    }

    /// The coordinates of a tile of one product by its index, in launch order.
    fn raster(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        block: Val<'c>,
    ) -> Result<(Val<'c>, Val<'c>), Failure> {
        let known = self
            .known_tiles(0)
            .zip(self.known_tiles(1))
            .and_then(|(m, n)| {
                let group = whole_group(m, self.plan.raster)?;
                Some(([m, n], group))
            });
        if let Some((known, group)) = known {
            // Two layouts of the block index.
            let [to_m, to_n] = raster(known, group).map_err(|e| b.error(e))?;
            return Ok((evaluate(&b, &to_m, block)?, evaluate(&b, &to_n, block)?));
        }
        let tiles = [self.tiles(b, body, 0)?, self.tiles(b, body, 1)?];
        match self.reciprocals_of_launch().is_empty() {
            true => self.in_order(b, tiles, block),
            false => self.in_order_of_launch(b, body, tiles, block),
        }
    }

    /// The coordinates of a tile by its index among so many along M and N: groups of `raster` tiles along M, the last of which may be shorter; in each, all along N.
    pub(super) fn in_order(
        &self,
        b: Builder<'c>,
        [m, n]: [Val<'c>; 2],
        block: Val<'c>,
    ) -> Result<(Val<'c>, Val<'c>), Failure> {
        let unsigned =
            |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], b.i32_type(), &[]);
        let raster = b.i32(self.plan.raster)?;
        let whole = unsigned(arith::MULI, raster, n)?;
        let group = unsigned(arith::DIVUI, block, whole)?;
        let within = unsigned(arith::REMUI, block, whole)?;
        let first = unsigned(arith::MULI, group, raster)?;
        let left = unsigned(arith::SUBI, m, first)?;
        let rows = unsigned(arith::MINUI, left, raster)?;
        let row = unsigned(arith::REMUI, within, rows)?;
        Ok((
            unsigned(arith::ADDI, first, row)?,
            unsigned(arith::DIVUI, within, rows)?,
        ))
    }

    /// M, or the rows of a tile's group, N and K where a tile may reach over the end: a number, or a value.
    pub(super) fn ends(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        product: Option<Product<'c>>,
    ) -> Result<[Option<End<'c>>; 3], Failure> {
        let rows = product.and_then(|product| product.rows);
        let mut ends = [None, None, None];
        for (axis, end) in ends.iter_mut().enumerate() {
            if let (0, Some(rows)) = (axis, rows) {
                *end = Some(End {
                    leaf: IntTuple::dynamic(),
                    value: Some(rows.count),
                });
                continue;
            }
            let extent = &self.extents[axis];
            if extent.is_divided_by(self.plan.step()[axis]) {
                continue;
            }
            *end = Some(match extent.known {
                Some(known) => End {
                    leaf: int(known),
                    value: None,
                },
                None => {
                    let (matrix, mode) = extent.from;
                    let matrix = &self.matrices.product[matrix];
                    let leaf = matrix.extent(mode).expected(b, "an extent")?;
                    End {
                        leaf: unknown(leaf),
                        value: Some(
                            matrix
                                .length(b, body, mode)?
                                .expected(b, "an extent that is not known")?,
                        ),
                    }
                }
            });
        }
        Ok(ends)
    }

    /// The tiles of a tensor at a coordinate, each as large as those of an operand, and which of their elements are there. Coordinates of
    /// elements are there where some may not be, where the matrix is whole, and where they are `forced`.
    pub(super) fn part(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (matrix, operand): (&Matrix<'c>, Operand),
        (coord, leaves): (IntTuple, &[Val<'c>]),
        product: Option<Product<'c>>,
        (ends, forced): (&[Option<End<'c>>; 3], bool),
    ) -> Result<Tiles<'c>, Failure> {
        let whole = match matrix.is_whole() {
            true => Some(matrix.whole(b, body, product)?),
            false => None,
        };
        let tensor = match &whole {
            Some(whole) => whole.tensor,
            None => matrix.view(b, argument(body, matrix.argument), product)?,
        };
        let extents = self.plan.extents(operand);
        let tile = tile_of(extents).map_err(|e| b.error(e))?;
        let tile = b.static_value(types::tile_type(b.context, &tile))?;
        let coord = b.coord(&coord, leaves)?;
        let local = |tensor| b.infer(cute::LOCAL_TILE, &[tensor, tile, coord], &[]);
        let axes = operand.axes();
        let bounded = axes.map(|axis| ends[axis].as_ref());
        let mut within = None;
        if forced || whole.is_some() || bounded.iter().any(Option::is_some) {
            let identity = self.identity(b, body, matrix, axes)?;
            let end = end_of(b, bounded)?;
            within = Some((local(identity)?, end));
        }
        let Some(whole) = whole else {
            return Ok(Tiles {
                tensor: local(tensor)?,
                is_whole: false,
                within,
                bounds: None,
                rows: None,
            });
        };
        let rows = match matrix.index(b, body, extents[1], product)? {
            Some(index) => Some(self.indices(b, operand, local(index)?, within)?),
            None => None,
        };
        Ok(Tiles {
            tensor,
            is_whole: true,
            within,
            bounds: whole.bounds,
            rows,
        })
    }

    /// The coordinates of a matrix's rows and columns, of these axes: its shape as far as it is known, so that there are as many tiles of coordinates as of elements.
    pub(super) fn identity(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        matrix: &Matrix<'c>,
        axes: [usize; 2],
    ) -> Result<Val<'c>, Failure> {
        let (mut shape, mut values) = (Vec::new(), Vec::new());
        for (mode, axis) in axes.into_iter().enumerate() {
            let extent = matrix.extent(mode).expected(b, "an extent")?;
            let known = extent.is_static().then(|| extent.size().ok()).flatten();
            shape.push(match known.or(self.extents[axis].known) {
                Some(known) => int(known),
                None => {
                    let value = matrix.length(b, body, mode)?;
                    let value = value.expected(b, "an extent that is not known")?;
                    values.push(match axis {
                        2 => at_least(b, value, 1)?,
                        _ => value,
                    });
                    unknown(extent)
                }
            });
        }
        let shape = tuple(shape);
        let ty = types::shape_type(b.context, &shape);
        let of_shape = match values.is_empty() {
            true => b.static_value(ty)?,
            false => b.value(cute::MAKE_SHAPE, &values, ty, &[])?,
        };
        let layout = Layout::identity(&shape).map_err(|e| b.error(e.to_string()))?;
        let origin = tuple([int(0), int(0)]);
        let ty = types::coord_tensor_type(b.location, &origin, &layout)?;
        b.value(cute::MAKE_IDENTITY_TENSOR, &[of_shape], ty, &[])
    }

    /// Loads the tile of the indices of a factor's rows, once for all tiles along K.
    fn indices(
        &self,
        b: Builder<'c>,
        operand: Operand,
        tiles: Val<'c>,
        within: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<Val<'c>, Failure> {
        let (b, keep) = (b.step("load indices"), IntTuple::underscore);
        let first = b.coord(&tuple([keep(), keep(), int(0)]), &[])?;
        let slice = |tensor| b.infer(cute::SLICE, &[tensor, first], &[]);
        let element = types::memref_of(tiles).expected(b, "a tensor")?.element;
        let [rows, columns] = self.plan.extents(operand);
        let layout = Layout::new(tuple([int(rows), int(columns)]), tuple([int(1), int(0)]));
        let layout = layout.map_err(|e| b.error(e.to_string()))?;
        let registers = tensor::registers(element, layout).to_type(b.location)?;
        let registers = b.value(cute::MEMREF_ALLOCA, &[], registers, &[])?;
        let located = Located {
            within: match within {
                Some((coords, end)) => Some((slice(coords)?, end)),
                None => None,
            },
            ..Located::default()
        };
        block_copy(b, operand, [slice(tiles)?, registers], &located)?;
        Ok(registers)
    }
}

/// The first index that is not there.
pub(super) struct End<'c> {
    leaf: IntTuple,
    /// Its value, where it is not known.
    value: Option<Val<'c>>,
}

impl<'c> End<'c> {
    /// An index that a kernel computes.
    pub(super) fn computed(value: Val<'c>) -> Self {
        let is_wide = int_width(value.r#type()) == Some(64);
        Self {
            leaf: match is_wide {
                true => IntTuple::Leaf(Leaf::Dynamic(cute_layout::Dyn::I64)),
                false => IntTuple::dynamic(),
            },
            value: Some(value),
        }
    }

    /// The index as a value.
    pub(super) fn value_in(&self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        match (self.value, self.leaf.as_static()) {
            (Some(value), _) => Ok(value),
            (None, Some(known)) => b.i32(known),
            (None, None) => Err(b.error("expected a number")),
        }
    }
}

/// The coordinate of the first indices that are not there, along rows and columns; `_` along those that never reach over the end.
pub(super) fn end_of<'c>(
    b: Builder<'c>,
    bounded: [Option<&End<'c>>; 2],
) -> Result<Val<'c>, Failure> {
    let leaf = |end: Option<&End<'c>>| end.map_or(IntTuple::underscore(), |end| end.leaf.clone());
    let values: Vec<_> = bounded
        .iter()
        .flatten()
        .filter_map(|end| end.value)
        .collect();
    b.coord(&tuple(bounded.map(leaf)), &values)
}

/// An extent of which a kernel knows the width alone.
fn unknown(extent: &IntTuple) -> IntTuple {
    let is_wide = |leaf: &&Leaf| matches!(leaf, Leaf::Dynamic(dynamic) if dynamic.width == 64);
    match extent.leaves().iter().any(is_wide) {
        true => IntTuple::Leaf(Leaf::Dynamic(cute_layout::Dyn::I64)),
        false => IntTuple::dynamic(),
    }
}

/// A `cute.block.copy` of a tile of an operand.
pub(super) fn block_copy<'c>(
    b: Builder<'c>,
    operand: Operand,
    ends: [Val<'c>; 2],
    located: &Located<'c>,
) -> Result<(), Failure> {
    let (behind, counts) = located.operands();
    let segments = b.i32_array(&[&[1, 1], &counts[..]].concat());
    let mut attributes = vec![
        ("operand_id", id_of(b, operand)),
        ("operandSegmentSizes", segments),
    ];
    if !located.whole.is_empty() {
        attributes.push(("whole", b.i64_array(&located.whole)));
    }
    let operands = [&ends[..], &behind].concat();
    b.op(cute::BLOCK_COPY, &operands, &[], &attributes)?;
    Ok(())
}

/// The number of tiles along M, of at most `most`, that groups of neighbours have where all groups are alike; none where the
/// only such groups are much smaller.
fn whole_group(tiles: i64, most: i64) -> Option<i64> {
    let group = (1..=most.min(tiles)).rev().find(|g| tiles % g == 0)?;
    (2 * group > most || group == tiles).then_some(group)
}

/// Layouts from the block index to the block's coordinates in M and N: `group` blocks along M,
/// then all along N, then the next group.
fn raster([m, n]: [i64; 2], group: i64) -> Result<[Layout; 2], String> {
    let shape = tuple([int(group), int(n), int(m / group)]);
    let layout = |strides: [i64; 3]| {
        Layout::new(shape.clone(), tuple(strides.map(int))).map_err(|e| e.to_string())
    };
    Ok([layout([1, 0, group])?, layout([0, 1, 0])?])
}

/// The offset that `layout` gives the one-dimensional coordinate `index`.
fn evaluate<'c>(b: &Builder<'c>, layout: &Layout, index: Val<'c>) -> Result<Val<'c>, Failure> {
    let coord = b.coord(&IntTuple::dynamic(), &[index])?;
    let layout = b.static_value(types::layout_type(b.context, layout))?;
    let offset = b.infer(cute::CRD2IDX, &[coord, layout], &[])?;
    b.infer(cute::GET_SCALARS, &[offset], &[])
}

pub(super) fn tile_of(extents: [i64; 2]) -> Result<Tile, String> {
    Tile::from_shape(&tuple(extents.map(int))).map_err(|e| e.to_string())
}

/// A tile that a block's threads hold together.
pub(super) fn block_registers<'c>(
    element: Type<'c>,
    rows: i64,
    columns: i64,
) -> Result<MemRef<'c>, String> {
    let shape = tuple([int(rows), int(columns)]);
    let layout = Layout::row_major(&shape).map_err(|e| e.to_string())?;
    Ok(tensor::registers(element, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raster_visits_every_block_once() {
        for (grid, most) in [
            ([32, 32], 8),
            ([3, 5], 8),
            ([12, 7], 8),
            ([1, 1], 8),
            ([10, 4], 3),
        ] {
            let [m, n] = grid;
            let Some(group) = whole_group(m, most) else {
                continue;
            };
            let [to_m, to_n] = raster(grid, group).unwrap();
            let mut seen: Vec<_> = (0..m * n).map(|i| (to_m.at(i), to_n.at(i))).collect();
            seen.sort_unstable();
            let expected: Vec<_> = (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
            assert_eq!(seen, expected, "{grid:?} {group}");
        }
        assert_eq!(whole_group(32, 8), Some(8));
        assert_eq!(whole_group(12, 8), Some(6));
        assert_eq!(whole_group(3, 8), Some(3));
        assert_eq!(whole_group(31, 8), None);
    }
}
