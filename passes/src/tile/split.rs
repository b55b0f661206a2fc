//! Products of which several blocks share each tile, a range of K each: the sums that they leave in a workspace, and the kernel that
//! adds them.
//!
//! The workspace has a tile of sums for each block of the kernel that multiplies, in the order of blocks, whole and without gaps
//! at the end of a matrix: what a block stores has no predicates. It is added in the order of the parts, whichever was done first.

use super::{
    Gemm,
    function::block_index,
    kernel::{Located, Part, Product, tile_of},
    region::{On, transform},
    stream::SharedTile,
};
use crate::launch::follow;
use crate::partition::LOADED;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{self, MemRef, Space},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, Operand, int, tuple};
use melior::ir::{Type, ValueLike};

/// Bytes to which each tile in a workspace is aligned: so are workspaces.
const ALIGN: i64 = 256;

impl<'c> Gemm<'c> {
    /// A tile of sums in a workspace.
    fn tile_of_sums(&self, b: Builder<'c>) -> Result<MemRef<'c>, Failure> {
        let (tile, _) = self.plan.shared(Operand::C).map_err(|e| b.error(e))?;
        let layout = match self.plan.has_roles() {
            false => tile.layout,
            // Rows and columns of all parts, side by side.
            true => {
                let [m, n, _] = self.plan.tile;
                let whole = tuple([m, n].map(int));
                let layout = match self.plan.major(Operand::C).map_err(|e| b.error(e))? {
                    0 => Layout::col_major(&whole),
                    _ => Layout::row_major(&whole),
                };
                layout.map_err(|e| b.error(e.to_string()))?
            }
        };
        Ok(MemRef {
            element: self.accumulate,
            space: Space::Gmem,
            align: ALIGN,
            swizzle: None,
            inner: None,
            layout,
        })
    }

    /// Elements from one tile of sums to the next.
    fn sums_apart(&self, b: Builder<'c>) -> Result<i64, Failure> {
        let tile = self.tile_of_sums(b)?;
        let most = tile.layout.cosize().map_err(|e| b.error(e.to_string()))?;
        let step = (ALIGN / tile.element_bytes()).max(1);
        Ok((most + step - 1) / step * step)
    }

    /// The type of the pointer to a workspace.
    pub(super) fn workspace_type(&self, b: Builder<'c>) -> Result<Type<'c>, Failure> {
        self.tile_of_sums(b)?.to_ptr_type(b.location)
    }

    /// The tile of sums of a block, by its index among all of the kernel that multiplies.
    pub(super) fn sums(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        block: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let (tile, apart) = (self.tile_of_sums(b)?, self.sums_apart(b)?);
        let place = self.first_workspace();
        let wide = b.i64_type();
        let block = b.value(arith::EXTUI, &[block], wide, &[])?;
        let offset = b.value(arith::MULI, &[block, b.constant(wide, apart)?], wide, &[])?;
        let leaf = IntTuple::Leaf(Leaf::Dynamic(Dyn::new(64, apart)));
        let ty = types::int_tuple_type(b.context, &leaf);
        let offset = b.value(cute::MAKE_INT_TUPLE, &[offset], ty, &[])?;
        let start = b.infer(cute::ADD_OFFSET, &[argument(body, place), offset], &[])?;
        let layout = b.static_value(types::layout_type(b.context, &tile.layout))?;
        b.value(
            cute::MAKE_VIEW,
            &[start, layout],
            tile.to_type(b.location)?,
            &[],
        )
    }

    /// The arguments of a kernel that say in how many parts K is split, behind its reciprocals, where only the launch knows K: one kernel serves for any number
    /// then. They are that number, the tiles along K of each part, and the parts that have one more.
    pub(super) fn parts_of_launch(&self) -> usize {
        if self.has_open_parts() || self.plan.is_streamed() {
            3
        } else {
            0
        }
    }

    fn has_open_parts(&self) -> bool {
        let is_open = self.known_tiles(2).is_none();
        self.plan.is_split() && is_open && !self.plan.is_streamed()
    }

    /// The place of the first of them.
    pub(super) fn first_part_of_launch(&self) -> usize {
        self.first_reciprocal() + self.reciprocals_of_launch().len()
    }

    /// Tells whether the kernel that multiplies is also that of another way, which splits K in as many parts as its own launch says.
    pub(super) fn shares_kernel(&self, other: &Self) -> bool {
        self.parts_of_launch() > 0
            && other.parts_of_launch() > 0
            && self.plan.differs_in_parts(&other.plan)
            && self.packed == other.packed
            && self.expected() == other.expected()
    }

    /// The values of those arguments at a launch that has so many tiles along K.
    pub(super) fn launch_parts(
        &self,
        host: Builder<'c>,
        tiles: Val<'c>,
    ) -> Result<[Val<'c>; 3], Failure> {
        let index = host.index_type();
        let parts = host.constant(index, self.plan.split)?;
        let each = host.value(arith::DIVSI, &[tiles, parts], index, &[])?;
        let rest = host.value(arith::REMSI, &[tiles, parts], index, &[])?;
        let narrow = |value| host.value(arith::INDEX_CAST, &[value], host.i32_type(), &[]);
        Ok([narrow(parts)?, narrow(each)?, narrow(rest)?])
    }

    /// The parts that K is split in; none where it is not.
    pub(super) fn parts(&self, b: Builder<'c>, body: Blk<'c>) -> Result<Option<Val<'c>>, Failure> {
        let is_split = self.plan.is_split() && !self.plan.is_streamed();
        match (is_split, self.has_open_parts()) {
            (false, _) => Ok(None),
            (true, true) => Ok(Some(argument(body, self.first_part_of_launch()))),
            (true, false) => b.i32(self.plan.split).map(Some),
        }
    }

    /// The first tile along K of a part of a plan that splits K, and how many it has.
    pub(super) fn range_of_part(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        part: Val<'c>,
    ) -> Result<(Val<'c>, Val<'c>), Failure> {
        if !self.has_open_parts() {
            return self.range(b, body, (part, self.plan.split));
        }
        let [each, rest] = [1, 2].map(|at| argument(body, self.first_part_of_launch() + at));
        self.shared_out(b, part, [each, rest])
    }

    /// The first tile along K of one of so many parts, and how many it has: the tiles are shared out evenly, one more to each of the first parts
    /// where they cannot be.
    pub(super) fn range(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (part, parts): (Val<'c>, i64),
    ) -> Result<(Val<'c>, Val<'c>), Failure> {
        let ty = b.i32_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], ty, &[]);
        if let Some(tiles) = self.known_tiles(2).filter(|tiles| tiles % parts == 0) {
            let each = b.i32(tiles / parts)?;
            return Ok((number(arith::MULI, part, each)?, each));
        }
        let (all, parts) = (self.tiles(b, body, 2)?, b.i32(parts)?);
        let each = number(arith::DIVUI, all, parts)?;
        let rest = number(arith::REMUI, all, parts)?;
        self.shared_out(b, part, [each, rest])
    }

    /// The first tile of a part, and how many it has, where each has so many and so many of the first ones one more.
    fn shared_out(
        &self,
        b: Builder<'c>,
        part: Val<'c>,
        [each, rest]: [Val<'c>; 2],
    ) -> Result<(Val<'c>, Val<'c>), Failure> {
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], b.i32_type(), &[]);
        let before = number(arith::MULI, part, each)?;
        let more = number(arith::MINUI, part, rest)?;
        let first = number(arith::ADDI, before, more)?;
        // One more where the part is one of the first.
        let next = number(arith::ADDI, part, b.i32(1)?)?;
        let more_of_next = number(arith::MINUI, next, rest)?;
        let own = number(arith::SUBI, more_of_next, more)?;
        Ok((first, number(arith::ADDI, each, own)?))
    }

    /// Rows and columns of what a block of the second kernel stores, and how many such pieces a tile has along each: each as large as its threads
    /// can load at once, so that there are many.
    fn piece(&self, b: Builder<'c>) -> Result<([i64; 2], [i64; 2]), Failure> {
        let wrong = |e: String| b.error(e);
        let mut extents = self.plan.extents(Operand::C);
        let beside = 1 - self.plan.major(Operand::C).map_err(wrong)?;
        let copy = self.plan.tiled_copy(Operand::C, 1).map_err(wrong)?;
        let covered = copy.tiler_mn().shape();
        let lines = covered.and_then(|covered| covered.get(beside)?.size().ok());
        let lines = lines.expected(b, "lines that the threads copy at a time")?;
        let passes = (extents[beside] / lines).max(1);
        let held = extents[0] * extents[1] / (passes * self.threads(Part::Sums)?).max(1);
        let tensors = self.plan.split + i64::try_from(self.matrices.inputs.len()).unwrap_or(0);
        let at_once = (1..=passes)
            .rev()
            .find(|n| passes % n == 0 && n * held * tensors <= LOADED);
        let of_part = passes / at_once.unwrap_or(1);
        extents[beside] /= of_part;
        let mut pieces = [1, self.plan.parts(Operand::C)];
        pieces[beside] *= of_part;
        Ok((extents, pieces))
    }

    /// Blocks of the second kernel for each tile of C.
    pub(super) fn pieces(&self, b: Builder<'c>) -> Result<i64, Failure> {
        Ok(self.piece(b)?.1.iter().product())
    }

    /// Writes the kernel that adds the sums of all parts and stores what becomes of them.
    pub(super) fn second_kernel(&self, place: Builder<'c>, name: &str) -> Result<(), Failure> {
        let (extents, pieces) = self.piece(place)?;
        let blocks = self
            .known_tiles_of_c()
            .filter(|_| !self.plan.is_streamed())
            .and_then(|tiles| tiles.checked_mul(pieces.iter().product()));
        self.function(place, (name, Part::Sums), blocks, |b, body| {
            self.add(b, body, extents, pieces)
        })
    }

    fn add(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        extents: [i64; 2],
        pieces: [i64; 2],
    ) -> Result<(), Failure> {
        follow(b, &self.archs)?;
        let ty = b.i32_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], ty, &[]);
        let (mut index, mut piece) = (block_index(b)?, [None, None]);
        for axis in (0..2).filter(|axis| pieces[*axis] > 1) {
            let count = b.i32(pieces[axis])?;
            let whole = number(arith::DIVUI, index, count)?;
            piece[axis] = Some(number(arith::REMUI, index, count)?);
            index = whole;
        }
        if !self.plan.is_streamed() {
            return self.add_parts(b, body, (extents, pieces), (index, piece, None));
        }
        let (shared, inner) = self.shared_tile(b, body, index)?;
        self.add_parts(
            inner,
            body,
            (extents, pieces),
            (index, piece, Some(&shared)),
        )?;
        inner.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    /// Adds the parts of a piece of a tile, by the tile's index among those of all products, or as ranges share it.
    fn add_parts(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (extents, pieces): ([i64; 2], [i64; 2]),
        (index, piece, shared): (Val<'c>, [Option<Val<'c>>; 2], Option<&SharedTile<'c>>),
    ) -> Result<(), Failure> {
        let ty = b.i32_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], ty, &[]);
        let tile = shared.map_or(index, |shared| shared.tile);
        let (mut at, _) = self.place(b, body, tile, None)?;
        let beside = 1 - self.plan.major(Operand::C).map_err(|e| b.error(e))?;
        let mut of_c = [None, None];
        of_c[beside] = piece[beside];
        // C has a tile of its own for each part along columns, of as many pieces each as that has; that of the sums has them all.
        let parts = self.plan.parts(Operand::C);
        if let Some(along_n) = piece[1].filter(|_| parts > 1) {
            let mut part = along_n;
            if beside == 1 {
                let each = b.i32(pieces[1] / parts)?;
                part = number(arith::DIVUI, along_n, each)?;
                of_c[1] = Some(number(arith::REMUI, along_n, each)?);
            }
            let first = number(arith::MULI, at.n, b.i32(parts)?)?;
            at.n = number(arith::ADDI, first, part)?;
        }
        let tile = tile_of(extents).map_err(|e| b.error(e))?;
        let tile = b.static_value(types::tile_type(b.context, &tile))?;
        let own = |tensor: Val<'c>, piece: [Option<Val<'c>>; 2]| {
            let leaves: Vec<_> = piece.into_iter().flatten().collect();
            if leaves.is_empty() {
                return Ok(tensor);
            }
            let coord = piece.map(|leaf| leaf.map_or(int(0), |_| IntTuple::dynamic()));
            let coord = b.coord(&tuple(coord), &leaves)?;
            b.infer(cute::LOCAL_TILE, &[tensor, tile, coord], &[])
        };
        // Of a whole matrix a piece has some coordinates.
        let whole = self.whole_of_c(usize::try_from(self.plan.split).unwrap_or(1));
        let all = |tensors: Vec<Val<'c>>, before: usize| {
            let tensors = tensors.into_iter().enumerate();
            let pieces =
                tensors.map(
                    |(at, tensor)| match whole.contains(&((before + at) as i64)) {
                        true => Ok(tensor),
                        false => own(tensor, of_c),
                    },
                );
            pieces.collect::<Result<Vec<_>, _>>()
        };

        let numbers = match shared {
            Some(shared) => shared.sums.clone(),
            None => self.sums_of_tile(b, body, (index, at.product))?,
        };
        let inputs = numbers.into_iter();
        let inputs = inputs.map(|part| own(self.sums(b, body, part)?, piece));
        let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let ends = self.ends(b, body, at.product)?;
        let c = self.tile_of_c(b, body, &self.matrices.product[2], &at, &ends)?;
        let (beside_sums, beside_c) = self.tiles_beside(b, body, &at)?;
        let parts = inputs.len();
        inputs.extend(all(beside_sums, parts)?);
        let outputs = all([vec![c.tensor], beside_c].concat(), inputs.len())?;
        let within = match c.within {
            Some((coords, end)) => Some((own(coords, of_c)?, end)),
            None => None,
        };
        let located = Located {
            within,
            whole,
            ..Located::default()
        };
        let step = b.step("add parts");
        let on = On {
            operand: Operand::C,
            inputs: &inputs,
            outputs: &outputs,
            reduce: &[],
            located: &located,
        };
        transform(step, on, |l, elements| {
            let parts = usize::try_from(self.plan.split).unwrap_or(1);
            let (parts, others) = elements.split_at(parts.min(elements.len()));
            let are_there = shared.map_or(&[][..], |shared| &shared.are_there);
            let sum = self.sum_of(l, parts, are_there)?;
            match &self.epilogue {
                Some(epilogue) => {
                    let elements = [&[sum], others].concat();
                    epilogue.compute(l, &elements, |place| argument(body, place))
                }
                None => Ok(vec![self.rounded(l, sum)?]),
            }
        })
    }

    /// The numbers of the tiles of sums of a tile's parts, by its index: those of a product's parts are as far apart as there are tiles in it.
    fn sums_of_tile(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (index, product): (Val<'c>, Option<Product<'c>>),
    ) -> Result<Vec<Val<'c>>, Failure> {
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], b.i32_type(), &[]);
        let tiles = self.tiles_of_product(b, body)?;
        let mut of_part = index;
        if let Some(product) = product {
            let others = b.i32(self.plan.split - 1)?;
            let others = number(arith::MULI, product.index, others)?;
            let others = number(arith::MULI, others, tiles)?;
            of_part = number(arith::ADDI, index, others)?;
        }
        let mut all = vec![of_part];
        for _ in 1..self.plan.split {
            of_part = number(arith::ADDI, of_part, tiles)?;
            all.push(of_part);
        }
        Ok(all)
    }

    /// The sum of numbers, from the first to the last; of those with a condition, where it holds.
    fn sum_of(
        &self,
        b: Builder<'c>,
        parts: &[Val<'c>],
        are_there: &[Option<Val<'c>>],
    ) -> Result<Val<'c>, Failure> {
        let add = match is_float(self.accumulate) {
            true => arith::ADDF,
            false => arith::ADDI,
        };
        let ty = self.accumulate;
        let (first, others) = parts.split_first().expected(b, "a part")?;
        let mut others = others.iter().enumerate();
        others.try_fold(*first, |sum, (at, part)| {
            let both = b.value(add, &[sum, *part], ty, &[])?;
            match are_there.get(at + 1).copied().flatten() {
                Some(is_there) => b.value(arith::SELECT, &[is_there, both, sum], ty, &[]),
                None => Ok(both),
            }
        })
    }

    /// A sum rounded to C's type.
    pub(super) fn rounded(&self, b: Builder<'c>, sum: Val<'c>) -> Result<Val<'c>, Failure> {
        let stored = self.matrices.product[2].memref.element;
        if stored == sum.r#type() {
            return Ok(sum);
        }
        b.value(arith::TRUNCF, &[sum], stored, &[])
    }

    /// The workspace of a launch that leaves so many times that many tiles of sums.
    pub(super) fn workspace(
        &self,
        host: Builder<'c>,
        (times, sums): (Val<'c>, i64),
    ) -> Result<Val<'c>, Failure> {
        let index = host.index_type();
        let bytes = self.sums_apart(host)? * self.tile_of_sums(host)?.element_bytes();
        let each = host.constant(index, bytes * sums)?;
        let all = host.value(arith::MULI, &[times, each], index, &[])?;
        let ty = self.workspace_type(host)?;
        host.value(cute::WORKSPACE, &[all], ty, &[])
    }
}
