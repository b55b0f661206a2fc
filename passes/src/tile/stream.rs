//! Products whose last tiles are dealt out by even ranges along K (stream-K: Osama, Merrill, Cecka, Garland, Owens, "Stream-K: Work-centric Parallel Decomposition for Dense
//! Matrix-Matrix Multiplication on the GPU", 2023).
//!
//! Tiles that fill whole waves of blocks have a block each. Of those behind them, and of one whole wave with them where ranges are no shorter than a tile, the tiles along K stand one
//! tile's behind the other's, and each of as many blocks as run at once has a range of them. What a range has of a tile is a segment. A tile within one range is stored where it was computed. The sums of the
//! segments of another one are in a workspace, and the second kernel adds them in their order: no block waits for another one, and results do not depend on which was first.
//!
//! From one segment to the next, the number of the range or that of the tile grows by one, or both do. So their sum is a number of the segment's own, and those of a tile's
//! segments follow each other: there lie their sums in the workspace.

use super::Gemm;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{Failure, mlir::*};
use melior::ir::ValueLike;

/// A tile that several ranges may share, as the second kernel sees it.
pub(super) struct SharedTile<'c> {
    /// Its index among the tiles of all products.
    pub(super) tile: Val<'c>,
    /// The numbers of the tiles of sums of its segments in their order; behind the last, that of the last.
    pub(super) sums: Vec<Val<'c>>,
    /// Conditions that these are there; none of those that always are.
    pub(super) are_there: Vec<Option<Val<'c>>>,
}

/// The deal of a launch.
pub(super) struct Deal<'c> {
    /// Tiles that have a block of their own.
    pub(super) whole: Val<'c>,
    /// Tiles that are dealt out.
    pub(super) dealt: Val<'c>,
    /// Tiles along K of each range, and of all of them.
    pub(super) along_k: [Val<'c>; 2],
    /// Ranges.
    pub(super) ranges: Val<'c>,
    /// Tells whether ranges may share tiles.
    pub(super) is_shared: Val<'c>,
}

impl<'c> Gemm<'c> {
    /// The arguments of a kernel that say how tiles are dealt out: those that have a block of their own, tiles along K of a range, and of all ranges.
    fn deal_in_kernel(&self, body: Blk<'c>) -> [Val<'c>; 3] {
        [0, 1, 2].map(|at| argument(body, self.first_part_of_launch() + at))
    }

    /// The values of those arguments at a launch.
    pub(super) fn launch_ranges(
        &self,
        host: Builder<'c>,
        deal: &Deal<'c>,
    ) -> Result<[Val<'c>; 3], Failure> {
        let narrow = |value| host.value(arith::INDEX_CAST, &[value], host.i32_type(), &[]);
        let [each, all] = deal.along_k;
        Ok([narrow(deal.whole)?, narrow(each)?, narrow(all)?])
    }

    /// Deals the tiles of a launch out, of which each has so many along K.
    pub(super) fn deal(
        &self,
        host: Builder<'c>,
        [tiles, along_k]: [Val<'c>; 2],
    ) -> Result<Deal<'c>, Failure> {
        let index = host.index_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| host.value(name, &[x, y], index, &[]);
        let constant = |value: i64| host.constant(index, value);
        let [zero, one] = [constant(0)?, constant(1)?];
        let sms = host.value(cute::SM_COUNT, &[], index, &[])?;
        let wave = number(arith::MULI, sms, constant(self.plan.stream)?)?;
        let behind = number(arith::REMSI, tiles, wave)?;
        // Where two share a tile at most no range is shorter than a tile, so that a whole wave is dealt out with what is behind it.
        let more = match self.plan.split {
            ..=2 => number(arith::MINSI, tiles, number(arith::ADDI, behind, wave)?)?,
            _ => behind,
        };
        let all = number(arith::MULI, more, along_k)?;
        // Whole waves need no ranges, and of no K there are none. Kernels count in 32 bits.
        let is_broken = host.compare(Predicate::Sgt, behind, zero)?;
        let is_some = host.compare(Predicate::Sgt, all, zero)?;
        let fits = host.compare(Predicate::Sle, all, constant(i64::from(i32::MAX))?)?;
        let mut is_dealt = is_broken;
        for condition in [is_some, fits] {
            let operands = [is_dealt, condition];
            is_dealt = host.value(arith::ANDI, &operands, is_dealt.r#type(), &[])?;
        }
        let either = |value| host.value(arith::SELECT, &[is_dealt, value, zero], index, &[]);
        let (dealt, all) = (either(more)?, either(all)?);
        // So that no more share a tile than the second kernel adds.
        let shares = constant((self.plan.split - 1).max(1))?;
        let least = number(arith::CEILDIVSI, along_k, shares)?;
        let even = number(arith::CEILDIVSI, all, wave)?;
        let each = number(arith::MAXSI, even, least)?;
        let each = number(arith::MAXSI, each, one)?;
        // Of ranges that are a tile each none is shared.
        let differs = host.compare(Predicate::Ne, each, along_k)?;
        let operands = [is_dealt, differs];
        Ok(Deal {
            is_shared: host.value(arith::ANDI, &operands, is_dealt.r#type(), &[])?,
            whole: number(arith::SUBI, tiles, dealt)?,
            dealt,
            along_k: [each, all],
            ranges: number(arith::CEILDIVSI, all, each)?,
        })
    }

    /// Writes what a block computes: a whole tile, or the segments of its range, one after another.
    pub(super) fn ranges(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        block: Val<'c>,
    ) -> Result<(), Failure> {
        let ty = b.i32_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], ty, &[]);
        let [whole, each, all] = self.deal_in_kernel(body);
        let [zero, one] = [b.i32(0)?, b.i32(1)?];
        let is_whole = b.compare(Predicate::Ult, block, whole)?;
        let along_k = self.tiles(b, body, 2)?;
        // Of no K nothing is dealt out.
        let divisor = number(arith::MAXSI, along_k, one)?;
        let range = number(arith::SUBI, block, whole)?;
        let from = number(arith::MULI, range, each)?;
        let to = number(arith::ADDI, from, each)?;
        let to = number(arith::MINUI, to, all)?;
        let first = number(arith::DIVUI, from, divisor)?;
        let last = number(arith::DIVUI, number(arith::SUBI, to, one)?, divisor)?;
        let segments = number(arith::SUBI, last, first)?;
        let segments = number(arith::ADDI, segments, one)?;
        let segments = b.value(arith::SELECT, &[is_whole, one, segments], ty, &[])?;

        let (region, inner) = Detached::with_block(&[(ty, b.location)]);
        b.with_regions(scf::FOR, &[zero, segments, one], &[], &[], vec![region])?;
        let t = Builder::at_end(b.context, inner, b.location);
        let number = |name: &str, x: Val<'c>, y: Val<'c>| t.value(name, &[x, y], ty, &[]);
        let either = |one, other| t.value(arith::SELECT, &[is_whole, one, other], ty, &[]);
        let dealt = number(arith::ADDI, first, argument(inner, 0))?;
        let before = number(arith::MULI, dealt, along_k)?;
        let start = number(arith::SUBI, from, before)?;
        let start = either(zero, number(arith::MAXSI, start, zero)?)?;
        let end = number(arith::SUBI, to, before)?;
        let end = either(along_k, number(arith::MINSI, end, along_k)?)?;
        let turns = number(arith::SUBI, end, start)?;
        let tile = either(block, number(arith::ADDI, whole, dealt)?)?;
        let (at, _) = self.place(t, body, tile, None)?;
        let (sums, _) = self.sum_up(t, body, (&at, false), || Ok((Some(start), turns)))?;

        let has_all = t.compare(Predicate::Eq, turns, along_k)?;
        let (then, of_all) = Detached::with_block(&[]);
        let (other, of_part) = Detached::with_block(&[]);
        t.with_regions(scf::IF, &[has_all], &[], &[], vec![then, other])?;
        let [of_all, of_part] =
            [of_all, of_part].map(|block| Builder::at_end(t.context, block, t.location));
        let ends = self.ends(of_all, body, at.product)?;
        let c = self.tile_of_c(of_all, body, &self.matrices.product[2], &at, &ends)?;
        self.store_sums_of_all(of_all, body, &at, (sums, c))?;
        let segment = of_part.value(arith::ADDI, &[range, dealt], ty, &[])?;
        self.leave_sums(of_part, body, (sums, segment))?;
        for end in [of_all, of_part, t] {
            end.op(scf::YIELD, &[], &[], &[])?;
        }
        Ok(())
    }

    /// Finds the segments of a tile by its number among those that are dealt out. Returns them with the place that is reached where there are several.
    pub(super) fn shared_tile(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        dealt: Val<'c>,
    ) -> Result<(SharedTile<'c>, Builder<'c>), Failure> {
        let ty = b.i32_type();
        let [whole, each, _] = self.deal_in_kernel(body);
        let along_k = self.tiles(b, body, 2)?;
        let range = |b: Builder<'c>, at| b.value(arith::DIVUI, &[at, each], ty, &[]);
        let from = b.value(arith::MULI, &[dealt, along_k], ty, &[])?;
        let to = b.value(arith::ADDI, &[from, along_k], ty, &[])?;
        let first = range(b, from)?;
        let last = range(b, b.value(arith::SUBI, &[to, b.i32(1)?], ty, &[])?)?;
        let is_shared = b.compare(Predicate::Ne, first, last)?;
        let (then, inner) = Detached::with_block(&[]);
        let regions = vec![then, Detached::empty()];
        b.with_regions(scf::IF, &[is_shared], &[], &[], regions)?;

        let b = Builder::at_end(b.context, inner, b.location);
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], ty, &[]);
        let (mut sums, mut are_there) = (Vec::new(), Vec::new());
        for part in 0..self.plan.split {
            let own = number(arith::ADDI, first, b.i32(part)?)?;
            // There are two at least.
            are_there.push(match part {
                ..2 => None,
                _ => Some(b.compare(Predicate::Ule, own, last)?),
            });
            let own = match part {
                ..2 => own,
                _ => number(arith::MINUI, own, last)?,
            };
            sums.push(number(arith::ADDI, own, dealt)?);
        }
        let shared = SharedTile {
            tile: number(arith::ADDI, whole, dealt)?,
            sums,
            are_there,
        };
        Ok((shared, b))
    }
}
