//! Groups of rows, each multiplied by a matrix of its own: `groups M(%ends)`.
//!
//! Where a group ends only the GPU knows, so that the launch cannot say which tiles there are. Tiles have places along M instead, as many as whatever ends may need: group `g`
//! of rows from `first` on has those from `first / T + g` on, where `T` is the height of a tile. As `(a + b) / T + 1` is at least `a / T` and `b / T` rounded up, the places of two groups never
//! meet, and M / T + G are enough for all. Each place along M has as many tiles as there are along N. A block finds the group of its place by halving; the group's tiles are
//! dealt out densely among those of its places, and what is left behind the last of them has nothing to do.

use super::{
    Gemm,
    function::narrow,
    host::assert_extent,
    kernel::{Place, Product, Rows},
    leaves::{extent_of_leaves, leaves_of},
    matrix::Matrix,
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cf, cute};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{MemRef, memref_of},
};
use cute_layout::{IntTuple, tuple};
use melior::ir::ValueLike;

/// Groups, at most, where only a launch knows their number: as many as 16 halvings find.
const MOST: i64 = 1 << 16;

/// The groups of rows of a product.
#[derive(Clone, Copy)]
pub(super) struct Groups<'c> {
    /// The tensor of their ends.
    pub(super) tensor: Val<'c>,
    /// Its place among the kernel's arguments.
    pub(super) argument: usize,
}

impl<'c> Groups<'c> {
    /// The number of groups, where their tensor or that of their matrices says it.
    pub(super) fn known(self, of_b: &Matrix<'c>) -> Option<i64> {
        let of_ends = memref_of(self.tensor)?.layout;
        let of_ends = of_ends.is_static().then(|| of_ends.size().ok()).flatten();
        let matrices = of_b.extent(2)?;
        let matrices = matrices.is_static().then(|| matrices.size().ok()).flatten();
        of_ends.or(matrices)
    }
}

impl<'c> Gemm<'c> {
    /// The number of groups, where it is known.
    pub(super) fn known_groups(&self) -> Option<i64> {
        self.groups?.known(&self.matrices.product[1])
    }

    /// The number of groups in a launch, of type `index`.
    pub(super) fn groups_of_launch(
        &self,
        host: Builder<'c>,
        groups: Groups<'c>,
    ) -> Result<Val<'c>, Failure> {
        if let Some(known) = self.known_groups() {
            return host.constant(host.index_type(), known);
        }
        let memref = memref_of(groups.tensor).expected(host, "a tensor of ends")?;
        let leaves = own_leaves(host, groups.tensor, &memref)?;
        extent_of_leaves(host, memref.layout.shape(), &leaves)
    }

    /// Asserts that there are as many matrices as groups, and no more of either than a block looks for, where types do not say so.
    pub(super) fn check_groups(&self, host: Builder<'c>) -> Result<(), Failure> {
        let Some(groups) = self.groups else {
            return Ok(());
        };
        let of_b = &self.matrices.product[1];
        let ends = memref_of(groups.tensor).expected(host, "a tensor of ends")?;
        let is_known = of_b.extent(2).is_some_and(IntTuple::is_static);
        if !(is_known && ends.layout.is_static()) {
            let leaves = own_leaves(host, groups.tensor, &ends)?;
            let one = extent_of_leaves(host, ends.layout.shape(), &leaves)?;
            let other = self.dimension(host, of_b, 2)?;
            let same = host.compare(Predicate::Eq, one, other)?;
            let message = "expected an end of a group for each matrix of B";
            host.op(cf::ASSERT, &[same], &[], &[("msg", host.string(message))])?;
        }
        if self.extents[0].known.is_none() {
            let (matrix, mode) = self.extents[0].from;
            let rows = self.dimension(host, &self.matrices.product[matrix], mode)?;
            let most = i64::from(i32::MAX);
            let message = format!("expected at most {most} rows in groups");
            assert_extent(host, rows, (Predicate::Sle, most), &message)?;
        }
        if self.known_groups().is_none() {
            let count = self.groups_of_launch(host, groups)?;
            let message = format!("expected 1 to {MOST} groups of rows");
            assert_extent(host, count, (Predicate::Sge, 1), &message)?;
            assert_extent(host, count, (Predicate::Sle, MOST), &message)?;
        }
        Ok(())
    }

    /// The place of a tile by its index, of whose group there is no row where the index is behind the group's last tile.
    pub(super) fn in_group(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        groups: Groups<'c>,
        index: Val<'c>,
    ) -> Result<Place<'c>, Failure> {
        let b = b.step("find group");
        let word = b.i32_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], word, &[]);
        let [zero, one] = [b.i32(0)?, b.i32(1)?];
        let m = match self.extents[0].known {
            Some(known) => b.i32(known)?,
            None => {
                let (matrix, mode) = self.extents[0].from;
                let matrix = &self.matrices.product[matrix];
                let m = matrix.length(b, body, mode)?;
                narrow(b, m.expected(b, "an extent that is not known")?)?
            }
        };
        let count = match self.known_groups() {
            Some(known) => b.i32(known)?,
            None => {
                let of_b = &self.matrices.product[1];
                let count = of_b.length(b, body, 2)?;
                narrow(b, count.expected(b, "a number of groups")?)?
            }
        };
        let tensor = argument(body, groups.argument);
        let element = memref_of(tensor).expected(b, "a tensor of ends")?.element;
        // An end, whatever it is, as a row of A or the one behind the last.
        let end = |index: Val<'c>, least: Val<'c>| {
            let coord = b.coord(&IntTuple::dynamic(), &[index])?;
            let mut end = b.value(cute::MEMREF_LOAD, &[tensor, coord], element, &[])?;
            if element != word {
                let wide = |value: Val<'c>| b.value(arith::EXTSI, &[value], element, &[]);
                end = b.value(arith::MAXSI, &[end, wide(zero)?], element, &[])?;
                end = b.value(arith::MINSI, &[end, wide(m)?], element, &[])?;
                end = b.value(arith::TRUNCI, &[end], word, &[])?;
            }
            end = number(arith::MINSI, end, m)?;
            number(arith::MAXSI, end, least)
        };
        let columns = self.tiles(b, body, 1)?;
        let place = number(arith::DIVUI, index, columns)?;
        let height = b.i32(self.plan.tile[0])?;
        let places = |first: Val<'c>, group: Val<'c>| {
            let places = number(arith::DIVUI, first, height)?;
            number(arith::ADDI, places, group)
        };
        // The last group whose first place is not behind this one.
        let most = self.known_groups().unwrap_or(MOST);
        let mut group = zero;
        let mut step = (most.max(1) as u64).next_power_of_two() as i64 / 2;
        while step > 0 {
            let next = number(arith::ADDI, group, b.i32(step)?)?;
            // There is such a group, or the last one is looked at in vain.
            let last = number(arith::MINUI, next, count)?;
            let first = end(number(arith::SUBI, last, one)?, zero)?;
            let is_there = b.compare(Predicate::Ult, next, count)?;
            let is_before = b.compare(Predicate::Ule, places(first, next)?, place)?;
            let truth = is_there.r#type();
            let holds = b.value(arith::ANDI, &[is_there, is_before], truth, &[])?;
            group = b.value(arith::SELECT, &[holds, next, group], word, &[])?;
            step /= 2;
        }
        let mut first = zero;
        if most > 1 {
            let before = number(arith::SUBI, number(arith::MAXUI, group, one)?, one)?;
            let is_first = b.compare(Predicate::Eq, group, zero)?;
            let behind = end(before, zero)?;
            first = b.value(arith::SELECT, &[is_first, zero, behind], word, &[])?;
        }
        let rows = number(arith::SUBI, end(group, first)?, first)?;
        let filled = number(arith::ADDI, rows, b.i32(self.plan.tile[0] - 1)?)?;
        let tiles = number(arith::DIVUI, filled, height)?;
        // Its tiles are one after another, so that neighbours read the same rows of A and the same matrix.
        let before = number(arith::MULI, places(first, group)?, columns)?;
        let own = number(arith::SUBI, index, before)?;
        let all = number(arith::MULI, tiles, columns)?;
        let is_there = b.compare(Predicate::Ult, own, all)?;
        let kept = |value| b.value(arith::SELECT, &[is_there, value, zero], word, &[]);
        let tiles = number(arith::MAXUI, tiles, one)?;
        let (m, n) = self.in_order(b, [tiles, columns], kept(own)?)?;
        Ok(Place {
            m,
            n,
            product: Some(Product {
                index: group,
                rows: Some(Rows {
                    first,
                    count: kept(rows)?,
                    is_there,
                }),
            }),
        })
    }
}

impl<'c> Rows<'c> {
    /// A tensor of rows of all groups from the first one of this group on.
    pub(super) fn of(self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let first = tuple([IntTuple::dynamic(), cute_layout::int(0)]);
        let first = b.coord(&first, &[self.first])?;
        b.infer(cute::DOMAIN_OFFSET, &[first, tensor], &[])
    }

    /// A number of turns, which is 0 where there are no rows.
    pub(super) fn turns(self, b: Builder<'c>, turns: Val<'c>) -> Result<Val<'c>, Failure> {
        let none = b.i32(0)?;
        b.value(
            arith::SELECT,
            &[self.is_there, turns, none],
            b.i32_type(),
            &[],
        )
    }
}

/// The leaves of a shape of one mode that only a launch knows.
fn own_leaves<'c>(
    host: Builder<'c>,
    tensor: Val<'c>,
    memref: &MemRef<'c>,
) -> Result<Vec<Option<Val<'c>>>, Failure> {
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let mut leaves = leaves_of(host, layout)?;
    leaves.truncate(memref.layout.shape().leaves().len());
    Ok(leaves)
}
