//! Quotients by numbers of tiles that only a launch knows: a kernel multiplies by reciprocals that the launch computes.
//!
//! A division of two unknown numbers keeps a block some hundred cycles from its first load, and a multiplication a few. Of `n` and `d` below 2^31 the quotient is
//! `n * r / 2^62`, rounded down, where `r` is `2^62 / d`, rounded up: that product is too large by less than `n`, and the next multiple of 2^62 is at least `2^62 / d` away,
//! which is more.

use super::Gemm;
use crate::reciprocals::{self, BITS};
use cute_arith::Predicate;
use cute_ir::ops::arith;
use cute_ir::{Expected, Failure, mlir::*};

/// A number of tiles that others are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Divisor {
    /// Those of a product.
    Product,
    /// Those of a group along M, all along N.
    Group,
    /// Those along M of the last group, where it has fewer than the others.
    Last,
}

impl<'c> Gemm<'c> {
    /// The divisors whose reciprocals a launch passes: a kernel's arguments behind the numbers of tiles. Of groups of rows no launch knows any.
    pub(super) fn reciprocals_of_launch(&self) -> Vec<Divisor> {
        if self.groups.is_some() {
            return Vec::new();
        }
        let [m, n] = [0, 1].map(|axis| self.known_tiles(axis));
        let is_in_parts = self.plan.is_split() && !self.plan.is_streamed();
        let of_parts = self.is_batched() || is_in_parts;
        let mut all = Vec::new();
        if of_parts && m.zip(n).is_none() {
            all.push(Divisor::Product);
        }
        if n.is_none() {
            all.push(Divisor::Group);
        }
        if m.is_none() && self.plan.raster > 1 {
            all.push(Divisor::Last);
        }
        all
    }

    /// The reciprocal that a launch passes for a divisor, by its tiles along M and N.
    pub(super) fn reciprocal(
        &self,
        host: Builder<'c>,
        divisor: Divisor,
        [m, n]: [Val<'c>; 2],
    ) -> Result<Val<'c>, Failure> {
        let index = host.index_type();
        let raster = host.constant(index, self.plan.raster)?;
        let (name, x, y) = match divisor {
            Divisor::Product => (arith::MULI, m, n),
            Divisor::Group => (arith::MULI, raster, n),
            Divisor::Last => (arith::REMSI, m, raster),
        };
        let tiles = host.value(name, &[x, y], index, &[])?;
        // Nothing is divided by none.
        let one = host.constant(index, 1)?;
        let tiles = host.value(arith::MAXSI, &[tiles, one], index, &[])?;
        let all = host.constant(index, 1 << BITS)?;
        let reciprocal = host.value(arith::CEILDIVSI, &[all, tiles], index, &[])?;
        host.value(arith::INDEX_CAST, &[reciprocal], host.i64_type(), &[])
    }

    /// The quotient of a number and a divisor, which is that value, and the remainder.
    pub(super) fn divided(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        number: Val<'c>,
        (divisor, value): (Divisor, Val<'c>),
    ) -> Result<[Val<'c>; 2], Failure> {
        let narrow = b.i32_type();
        let unsigned = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], narrow, &[]);
        let all = self.reciprocals_of_launch();
        let Some(place) = all.iter().position(|other| *other == divisor) else {
            let quotient = unsigned(arith::DIVUI, number, value)?;
            return Ok([quotient, unsigned(arith::REMUI, number, value)?]);
        };
        let reciprocal = argument(body, self.first_reciprocal() + place);
        let quotient = reciprocals::product(b, number, reciprocal, false)?;
        let quotient = b.value(arith::TRUNCI, &[quotient], narrow, &[])?;
        let before = unsigned(arith::MULI, quotient, value)?;
        Ok([quotient, unsigned(arith::SUBI, number, before)?])
    }

    /// The coordinates of a tile by its index among so many along M and N, in the order of [`Gemm::in_order`], for numbers of tiles that the launch knows.
    pub(super) fn in_order_of_launch(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        [m, n]: [Val<'c>; 2],
        block: Val<'c>,
    ) -> Result<(Val<'c>, Val<'c>), Failure> {
        let narrow = b.i32_type();
        let unsigned = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], narrow, &[]);
        let raster = b.i32(self.plan.raster)?;
        let whole = unsigned(arith::MULI, raster, n)?;
        let [group, within] = self.divided(b, body, block, (Divisor::Group, whole))?;
        let first = unsigned(arith::MULI, group, raster)?;
        let left = unsigned(arith::SUBI, m, first)?;
        // All groups but the last have the same number of tiles along M.
        let mut column = unsigned(arith::DIVUI, within, raster)?;
        let last = match self.known_tiles(0) {
            Some(tiles) => tiles % self.plan.raster,
            None => self.plan.raster - 1,
        };
        if last > 0 {
            let own = match self.known_tiles(0) {
                Some(_) => b.i32(last)?,
                None => unsigned(arith::MINUI, left, raster)?,
            };
            let [of_last, _] = self.divided(b, body, within, (Divisor::Last, own))?;
            let is_whole = b.compare(Predicate::Uge, left, raster)?;
            column = b.value(arith::SELECT, &[is_whole, column, of_last], narrow, &[])?;
        }
        let rows = unsigned(arith::MINUI, left, raster)?;
        let before = unsigned(arith::MULI, column, rows)?;
        let row = unsigned(arith::SUBI, within, before)?;
        Ok((unsigned(arith::ADDI, first, row)?, column))
    }

    /// The place of the first reciprocal among a kernel's arguments.
    pub(super) fn first_reciprocal(&self) -> usize {
        self.arguments.len() + self.counted_by_launch().len()
    }

    /// The number of tiles along an axis at a launch: a constant, or one of those that it counted.
    pub(super) fn tiles_at_launch(
        &self,
        host: Builder<'c>,
        counted: &[(usize, Val<'c>)],
        axis: usize,
    ) -> Result<Val<'c>, Failure> {
        if let Some(known) = self.known_tiles(axis) {
            return host.constant(host.index_type(), known);
        }
        let found = counted.iter().find(|(other, _)| *other == axis);
        Ok(found.expected(self.op, "tiles that the launch counts")?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::BITS;

    #[test]
    fn quotients_are_exact() {
        let mut numbers: Vec<u64> = (0..70).collect();
        for bit in 6..31 {
            let power = 1 << bit;
            numbers.extend([power - 1, power, power + 1, power / 3, power * 2 / 3 + 5]);
        }
        numbers.extend([(1 << 31) - 1, (1 << 31) - 2]);
        numbers.retain(|number| *number < 1 << 31);
        for d in numbers.iter().filter(|d| **d > 0) {
            let reciprocal = (1_u64 << BITS).div_ceil(*d);
            assert!(i64::try_from(reciprocal).is_ok());
            let multiples = numbers.iter().flat_map(|q| [q * d, q * d + d - 1]);
            let all = numbers.iter().copied().chain(multiples);
            for n in all.filter(|n| *n < 1 << 31) {
                let shifted = u128::from(n << (64 - BITS));
                let quotient = (shifted * u128::from(reciprocal)) >> 64;
                assert_eq!(quotient, u128::from(n / d), "{n} / {d}");
            }
        }
    }
}
