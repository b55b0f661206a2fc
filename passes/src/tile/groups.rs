//! Groups of rows, each multiplied by a matrix of its own: `groups M(%ends)`.
//!
//! Where a group ends only the GPU knows, so that the launch cannot say which tiles there are. Tiles have places along M instead, as many as whatever ends may need: group `g`
//! of rows from `first` on has those from `first / T + g` on, where `T` is the height of a tile. As `(a + b) / T + 1` is at least `a / T` and `b / T` rounded up, the places of two groups never
//! meet, and M / T + G are enough for all. Each place along M has as many tiles as there are along N. A block finds the group of its place by halving; the group's tiles are
//! dealt out densely among those of its places, and what is left behind the last of them has nothing to do.
//!
//! Where a block has tile after tile, and groups are few, it counts the tiles of all groups instead: tiles are numbered one behind the other then, and each block has as many
//! as the others, or one more. A loop over the groups takes some ten cycles for each, which are little beside a tile.

use super::{
    Gemm,
    function::narrow,
    host::assert_extent,
    kernel::{Place, Product, Rows},
    leaves::{extent_of_leaves, leaves_of},
    matrix::Matrix,
};
use crate::plan::are_counted;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cf, cute, scf};
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

    /// Tells whether tiles are numbered one behind the other, with none that has no rows: those of blocks that have tile after tile, which count the tiles of
    /// all groups. By places some blocks would have more tiles than others.
    pub(super) fn counts_tiles(&self) -> bool {
        self.plan.has_roles() && are_counted(self.known_groups())
    }

    /// The tiles of C of all groups, counted.
    pub(super) fn tiles_of_groups(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        groups: Groups<'c>,
    ) -> Result<Val<'c>, Failure> {
        let b = b.step("count tiles");
        let word = b.i32_type();
        let ends = self.ends_of_groups(b, body, groups)?;
        let (all, []) = self.each_group(b, &ends, [], |_, _, none| Ok(none))?;
        b.value(arith::MULI, &[all, self.tiles(b, body, 1)?], word, &[])
    }

    /// The place of a tile by its index. Where tiles are not counted there may be no row, as the index is behind the last tile of its group.
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
        let ends = self.ends_of_groups(b, body, groups)?;
        let columns = self.tiles(b, body, 1)?;
        let place = number(arith::DIVUI, index, columns)?;
        let is_counted = self.counts_tiles();
        let Found {
            group,
            first,
            end,
            before,
        } = match is_counted {
            true => self.by_tiles(b, &ends, place)?,
            false => self.by_places(b, &ends, place)?,
        };
        let rows = number(arith::SUBI, end, first)?;
        let tiles = self.tiles_of_rows(b, rows)?;
        // Its tiles are one after another, so that neighbours read the same rows of A and the same matrix.
        let before = number(arith::MULI, before, columns)?;
        let own = number(arith::SUBI, index, before)?;
        let (is_there, tiles, own, count) = match is_counted {
            true => (None, tiles, own, rows),
            false => {
                let [zero, one] = [b.i32(0)?, b.i32(1)?];
                let all = number(arith::MULI, tiles, columns)?;
                let is_there = b.compare(Predicate::Ult, own, all)?;
                let kept = |value| b.value(arith::SELECT, &[is_there, value, zero], word, &[]);
                let tiles = number(arith::MAXUI, tiles, one)?;
                (Some(is_there), tiles, kept(own)?, kept(rows)?)
            }
        };
        let (m, n) = self.in_order(b, [tiles, columns], own)?;
        Ok(Place {
            m,
            n,
            product: Some(Product {
                index: group,
                rows: Some(Rows {
                    first,
                    count,
                    is_there,
                }),
            }),
        })
    }

    /// The group of a tile by its place along M among the tiles of all groups.
    fn by_tiles(
        &self,
        b: Builder<'c>,
        ends: &Ends<'c>,
        place: Val<'c>,
    ) -> Result<Found<'c>, Failure> {
        let word = b.i32_type();
        let none = [b.i32(0)?; 4];
        // The last group that has no more tiles before it than are before this one; what is behind an empty group is behind it as well.
        let (_, found) = self.each_group(b, ends, none, |b, of, [group, first, end, before]| {
            let holds = b.compare(Predicate::Ule, of.before, place)?;
            let kept = |new, old| b.value(arith::SELECT, &[holds, new, old], word, &[]);
            Ok([
                kept(of.group, group)?,
                kept(of.first, first)?,
                kept(of.end, end)?,
                kept(of.before, before)?,
            ])
        })?;
        let [group, first, end, before] = found;
        Ok(Found {
            group,
            first,
            end,
            before,
        })
    }

    /// A loop over groups, in their order, that counts their tiles along M and carries so many numbers besides. Returns the tiles of all, and the numbers.
    fn each_group<const N: usize>(
        &self,
        b: Builder<'c>,
        ends: &Ends<'c>,
        from: [Val<'c>; N],
        step: impl FnOnce(Builder<'c>, Found<'c>, [Val<'c>; N]) -> Result<[Val<'c>; N], Failure>,
    ) -> Result<(Val<'c>, [Val<'c>; N]), Failure> {
        let word = b.i32_type();
        let zero = b.i32(0)?;
        let (region, inner) = Detached::with_block(&vec![(word, b.location); N + 3]);
        let mut operands = vec![zero, ends.count, b.i32(1)?, zero, zero];
        operands.extend(from);
        let types = vec![word; N + 2];
        let found = b.with_regions(scf::FOR, &operands, &types, &[], vec![region])?;
        let own = Builder::at_end(b.context, inner, b.location);
        let [group, first, before] = [0, 1, 2].map(|at| argument(inner, at));
        let end = ends.end(own, group, first)?;
        let rows = own.value(arith::SUBI, &[end, first], word, &[])?;
        let tiles = self.tiles_of_rows(own, rows)?;
        let behind = own.value(arith::ADDI, &[before, tiles], word, &[])?;
        let of = Found {
            group,
            first,
            end,
            before,
        };
        let carried = std::array::from_fn(|at| argument(inner, at + 3));
        let mut next = vec![end, behind];
        next.extend(step(own, of, carried)?);
        own.op(scf::YIELD, &next, &[], &[])?;
        let results = results_of(found);
        let all = *results.get(1).expected(b, "a number of tiles")?;
        let rest: Option<[Val<'c>; N]> = results.get(2..).and_then(|rest| rest.try_into().ok());
        Ok((all, rest.expected(b, "as many numbers as are carried")?))
    }

    /// The group of a tile by its place along M, of which groups have as many as they may need.
    fn by_places(
        &self,
        b: Builder<'c>,
        ends: &Ends<'c>,
        place: Val<'c>,
    ) -> Result<Found<'c>, Failure> {
        let word = b.i32_type();
        let number = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], word, &[]);
        let [zero, one] = [b.i32(0)?, b.i32(1)?];
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
            let last = number(arith::MINUI, next, ends.count)?;
            let first = ends.end(b, number(arith::SUBI, last, one)?, zero)?;
            let is_there = b.compare(Predicate::Ult, next, ends.count)?;
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
            let behind = ends.end(b, before, zero)?;
            first = b.value(arith::SELECT, &[is_first, zero, behind], word, &[])?;
        }
        Ok(Found {
            group,
            first,
            end: ends.end(b, group, first)?,
            before: places(first, group)?,
        })
    }

    /// The tiles along M of so many rows.
    fn tiles_of_rows(&self, b: Builder<'c>, rows: Val<'c>) -> Result<Val<'c>, Failure> {
        let word = b.i32_type();
        let height = self.plan.tile[0];
        let filled = b.value(arith::ADDI, &[rows, b.i32(height - 1)?], word, &[])?;
        b.value(arith::DIVUI, &[filled, b.i32(height)?], word, &[])
    }

    /// The ends of groups, as a kernel reads them.
    fn ends_of_groups(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        groups: Groups<'c>,
    ) -> Result<Ends<'c>, Failure> {
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
        Ok(Ends { tensor, m, count })
    }
}

/// A group, and what is before it.
struct Found<'c> {
    /// Its number.
    group: Val<'c>,
    /// Its first row among those of all groups.
    first: Val<'c>,
    /// The row behind its last one.
    end: Val<'c>,
    /// Tiles along M, or places of such, before its own.
    before: Val<'c>,
}

/// The ends of groups in a kernel.
struct Ends<'c> {
    /// Their tensor.
    tensor: Val<'c>,
    /// Rows of all groups.
    m: Val<'c>,
    /// Groups.
    count: Val<'c>,
}

impl<'c> Ends<'c> {
    /// The end of a group, whatever it is, as a row from `least` on or the one behind the last.
    fn end(&self, b: Builder<'c>, group: Val<'c>, least: Val<'c>) -> Result<Val<'c>, Failure> {
        let word = b.i32_type();
        let memref = memref_of(self.tensor).expected(b, "a tensor of ends")?;
        let element = memref.element;
        let coord = b.coord(&IntTuple::dynamic(), &[group])?;
        let mut end = b.value(cute::MEMREF_LOAD, &[self.tensor, coord], element, &[])?;
        if element != word {
            let wide = |value: Val<'c>| b.value(arith::EXTSI, &[value], element, &[]);
            end = b.value(arith::MAXSI, &[end, wide(b.i32(0)?)?], element, &[])?;
            end = b.value(arith::MINSI, &[end, wide(self.m)?], element, &[])?;
            end = b.value(arith::TRUNCI, &[end], word, &[])?;
        }
        end = b.value(arith::MINSI, &[end, self.m], word, &[])?;
        b.value(arith::MAXSI, &[end, least], word, &[])
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
        let Some(is_there) = self.is_there else {
            return Ok(turns);
        };
        let none = b.i32(0)?;
        b.value(arith::SELECT, &[is_there, turns, none], b.i32_type(), &[])
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
