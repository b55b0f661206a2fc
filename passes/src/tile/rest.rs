//! The last tiles of factors that TMA loads: boxes without the rows that are outside.
//!
//! What TMA fills with zeros comes no faster than what it reads, and from one place for the whole chip. So a launch makes a second atom of a factor, whose box is as long as the tensor's last one,
//! and a kernel takes it where rows of a tile are outside. Those rows of shared memory are what they were: zeros, or rows of another tile, whose sums nobody stores.

use super::{Gemm, function::narrow};
use crate::algorithms::Rest;
use cute_arith::Predicate;
use cute_ir::ops::arith;
use cute_ir::{Expected, Failure, hopper, mlir::*};
use cute_layout::Operand;
use melior::ir::ValueLike;

/// The atom of a factor's last boxes, in a kernel.
#[derive(Clone, Copy)]
pub(super) struct LastBoxes<'c> {
    atom: Val<'c>,
    /// Rows that it brings.
    rows: Val<'c>,
    /// Rows of the tensor.
    length: Val<'c>,
    /// Rows of the other boxes.
    whole: i64,
}

impl<'c> Gemm<'c> {
    /// Rows that a block loads at once of a factor whose last ones may be fewer; none of one that has whole boxes alone, or whose boxes cannot be cut.
    fn rows_that_may_miss(&self, b: Builder<'c>, operand: Operand) -> Result<Option<i64>, Failure> {
        let matrix = &self.matrices.product[operand as usize];
        // A warp that copies scales has no registers for it.
        let is_scaled = self.scales.iter().any(Option::is_some);
        if operand == Operand::C || matrix.has_groups || matrix.places.is_some() || is_scaled {
            return Ok(None);
        }
        let [rows, _] = self.plan.extents(operand);
        let rows = rows / self.plan.sharers(operand);
        if self.extents[operand as usize].is_divided_by(rows) {
            return Ok(None);
        }
        let (tensor, layout) = self.moved_tensor(b, operand)?;
        let rest = hopper::rest_of(&tensor, &layout, matrix.place(0) as i64);
        Ok(rest.ok().map(|_| rows))
    }

    /// The factors whose last boxes have atoms of their own.
    pub(super) fn factors_with_rest(&self, b: Builder<'c>) -> Result<Vec<Operand>, Failure> {
        let mut all = Vec::new();
        for operand in self.moved_in_bulk() {
            if self.rows_that_may_miss(b, operand)?.is_some() {
                all.push(operand);
            }
        }
        Ok(all)
    }

    /// The atom of a factor's last boxes in a kernel, which is the argument `atom`.
    pub(super) fn last_boxes(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (operand, atom): (Operand, Val<'c>),
    ) -> Result<LastBoxes<'c>, Failure> {
        let whole = self
            .rows_that_may_miss(b, operand)?
            .expected(b, "boxes that may miss rows")?;
        let extent = &self.extents[operand as usize];
        let (length, rows) = match extent.known {
            Some(known) => (b.i32(known)?, b.i32(known % whole)?),
            None => {
                let (matrix, mode) = extent.from;
                let matrix = &self.matrices.product[matrix];
                let length = matrix.length(b, body, mode)?.expected(b, "an extent")?;
                let ty = length.r#type();
                let most = b.constant(ty, whole)?;
                let over = b.value(arith::REMUI, &[length, most], ty, &[])?;
                let is_none = b.compare(Predicate::Eq, over, b.constant(ty, 0)?)?;
                let rows = b.value(arith::SELECT, &[is_none, most, over], ty, &[])?;
                (length, narrow(b, rows)?)
            }
        };
        Ok(LastBoxes {
            atom,
            rows,
            length,
            whole,
        })
    }
}

impl<'c> LastBoxes<'c> {
    /// The atom by which a block loads its part of a tile, where `atom` is that of whole boxes and `place` the number of the part among those of all tiles; and what is missing of the tile, which
    /// is number `tile`, of as many parts as blocks share it.
    pub(super) fn choose(
        &self,
        b: Builder<'c>,
        atom: Val<'c>,
        [tile, place]: [Val<'c>; 2],
        sharers: i64,
    ) -> Result<(Val<'c>, Rest<'c>), Failure> {
        let word = b.i32_type();
        let inside = self.rows_from(b, place, self.whole)?;
        let most = b.constant(inside.r#type(), self.whole)?;
        let is_whole = b.compare(Predicate::Sge, inside, most)?;
        let atom = b.value(
            arith::SELECT,
            &[is_whole, atom, self.atom],
            atom.r#type(),
            &[],
        )?;
        let short = b.value(arith::SUBI, &[b.i32(self.whole)?, self.rows], word, &[])?;
        let missing = match sharers {
            1 => b.value(arith::SELECT, &[is_whole, b.i32(0)?, short], word, &[])?,
            _ => {
                // Of the parts those that are whole stand first.
                let inside = self.rows_from(b, tile, self.whole * sharers)?;
                let ty = inside.r#type();
                let number = |name: &str, x, y| b.value(name, &[x, b.constant(ty, y)?], ty, &[]);
                let inside = number(arith::MAXSI, inside, 0)?;
                let whole = number(arith::DIVUI, inside, self.whole)?;
                let whole = narrow(b, number(arith::MINSI, whole, sharers)?)?;
                let parts = b.value(arith::SUBI, &[b.i32(sharers)?, whole], word, &[])?;
                b.value(arith::MULI, &[parts, short], word, &[])?
            }
        };
        let rest = Rest {
            rows: self.rows,
            missing,
        };
        Ok((atom, rest))
    }

    /// Rows of the tensor from the first one of the part of that number on, of parts of so many rows; none or fewer where it begins behind them.
    fn rows_from(&self, b: Builder<'c>, number: Val<'c>, rows: i64) -> Result<Val<'c>, Failure> {
        let ty = self.length.r#type();
        let number = match ty == number.r#type() {
            true => number,
            false => b.value(arith::EXTUI, &[number], ty, &[])?,
        };
        let first = b.value(arith::MULI, &[number, b.constant(ty, rows)?], ty, &[])?;
        b.value(arith::SUBI, &[self.length, first], ty, &[])
    }
}
