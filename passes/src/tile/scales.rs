//! Scales of groups along K, which prologues yield behind what is multiplied: each turn makes sums of its own, and adds them, scaled, to those of all of K.

use super::{
    Gemm,
    kernel::{End, Located, Place, Tiles, block_copy, block_registers, end_of, tile_of},
    matrix::{Matrix, Role},
    region::Region,
};
use crate::{arch::WARPGROUP, partition::held_once, plan::Scaled};
use cute_arith::{Predicate, gcd};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    region, tensor,
    types::{self, MemRef, Space, element_bits, memref_of},
};
use cute_layout::{IntTuple, Layout, Operand, int, tuple};
use melior::ir::ValueLike;

/// A factor's scale: how it is computed, and of which tensors.
#[derive(Clone)]
pub(super) struct Scale<'c> {
    pub(super) region: Region<'c>,
    pub(super) inputs: Vec<Matrix<'c>>,
}

impl<'c> Scale<'c> {
    /// Takes the scale out of a prologue that yields one behind what is multiplied, and leaves what is left of the prologue and of the tensors beside the factor.
    pub(super) fn take(
        prologue: &mut Option<Region<'c>>,
        beside: &mut Vec<Matrix<'c>>,
    ) -> Option<Self> {
        let whole = prologue.as_ref()?;
        let region = whole.computing(1)?;
        let of = |region: &Region<'c>| {
            let places = region.computed_of().into_iter();
            let inputs = places.filter_map(|place| beside.get(place.checked_sub(1)?));
            inputs.cloned().collect()
        };
        let inputs = of(&region);
        let rest = whole.computing(0);
        *beside = rest.as_ref().map(of).unwrap_or_default();
        *prologue = rest;
        Some(Self { region, inputs })
    }
}

/// The tensors that a prologue reads, with their parts in it: those that are read for a scale alone, and others.
pub(super) fn roles<'c>(prologue: Option<Blk<'c>>, inputs: &[Val<'c>]) -> Vec<(Val<'c>, Role)> {
    let yielded = prologue.map(|block| (block, region::yielded(block)));
    let used = match yielded.as_ref().map(|(block, all)| (*block, &all[..])) {
        Some((block, [multiplied, _])) => Some(region::arguments_used(block, *multiplied)),
        _ => None,
    };
    let role = |at: usize| match &used {
        Some(used) if used.get(at + 1) != Some(&true) => Role::Scale,
        _ => Role::Beside,
    };
    let inputs = inputs.iter().enumerate();
    inputs.map(|(at, input)| (*input, role(at))).collect()
}

/// The groups that the scales of both factors are of; none where there are no scales. Errors: tensors of scales that tiles cannot be taken of, and groups of several sizes.
pub(super) fn scaled(
    scales: &[Option<Scale<'_>>; 2],
    has_groups: bool,
) -> Result<Option<Scaled>, String> {
    if scales.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut scaled = Scaled {
        is_for_warps: true,
        ..Scaled::default()
    };
    for (factor, scale) in scales.iter().enumerate() {
        for matrix in scale.iter().flat_map(|scale| &scale.inputs) {
            if matrix.is_whole() {
                return Err(format!(
                    "computes scales of {}; expected a tensor of one extent and one stride along rows, or of groups of them as (128,32):(0,s), found {}",
                    matrix.name, matrix.memref.layout
                ));
            }
            let bits = element_bits(matrix.memref.element).unwrap_or(0);
            scaled.is_for_warps &= [32, 64].contains(&bits);
            scaled.bits = scaled.bits.max(bits);
            if let Some(group) = matrix.group() {
                scaled.k = Some(scaled.k.map_or(group, |other| gcd(other, group)));
            }
            let Some(group) = matrix.group_along(0) else {
                match matrix.is_same_along(0) {
                    true => scaled.others += 1,
                    false => scaled.varying[factor] += 1,
                }
                continue;
            };
            scaled.others += 1;
            if has_groups && factor == 0 {
                return Err(format!(
                    "has groups of rows, which begin anywhere; expected {} with a number for each row, found {}",
                    matrix.name, matrix.memref.layout
                ));
            }
            let lines = &mut scaled.lines[factor];
            match lines {
                Some(other) if *other != group => {
                    return Err(format!(
                        "expected groups of one size along the rows of a factor, found {other} and {group} in {}; repeat numbers in the smaller groups",
                        matrix.name
                    ));
                }
                _ => *lines = Some(group),
            }
        }
    }
    Ok(Some(scaled))
}

/// Turns whose scales a thread of a warpgroup holds, at most. Of tiles of 128 x 128 and 8 bits one turn takes some 700 cycles, in which loads beside those by TMA are
/// not back: with 1, 2 and 4 a product of 4096 x 4096 x 7168 took 231, 228 and 204 us on an H100, and 190 with scales that are no tensors.
const MOST_AHEAD: i64 = 4;

/// Turns that are written out where a warp brings the scales. Written once, 2, 4 and 8 times a product of 4096 x 4096 x 7168 takes 201, 195, 188 and 185 us on an H200.
const MOST_WRITTEN: i64 = 8;

/// Registers of a thread beside what a turn needs, at least, where several are written out: for the addresses of the next ones.
const FOR_ADDRESSES: i64 = 48;

/// Registers of a thread beside sums and scales, where all sizes are known; twice as many otherwise.
const BESIDE: i64 = 26;

/// The scales of a block's tile in its kernel.
pub(super) struct Scales<'c> {
    /// The sums of a group, one set for each turn of the loop's body.
    groups: Vec<Val<'c>>,
    /// The tiles along K of each tensor, as rows or columns of C have them.
    tiles: Vec<Spread<'c>>,
    /// The coordinates of the tile's elements in C, and the first that is not there.
    within: Option<(Val<'c>, Val<'c>)>,
    /// The tiles in shared memory that a warp brings the numbers of a turn to, for each tensor, of each set; none where threads load them for themselves.
    shared: Vec<Vec<Val<'c>>>,
    /// The registers that hold the numbers of a turn, for each tensor, of each set.
    held: Vec<Vec<Val<'c>>>,
    /// Those of the turns behind it, the last of which are loaded in this turn, where warpgroups multiply; the pipeliner moves loads of warps that copy as well.
    next: Vec<Vec<Val<'c>>>,
    /// The last tile along K.
    last: Val<'c>,
}

/// The tiles along K of a tensor, and how its rows are spread over a tile of C.
struct Spread<'c> {
    tiles: Tiles<'c>,
    by: Val<'c>,
}

impl<'c> Scales<'c> {
    /// Registers for the numbers of a turn, for each tensor.
    fn registers(&self, b: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let keep = IntTuple::underscore;
        let first = b.coord(&tuple([keep(), keep(), int(0)]), &[])?;
        let registers = self.tiles.iter().map(|tiles| {
            let tile = memref_of(tiles.of(b, first)?).expected(b, "a tensor")?;
            let layout = held_once(&tile.layout).map_err(|e| b.error(e))?;
            let registers = tensor::registers(tile.element, layout);
            b.value(
                cute::MEMREF_ALLOCA,
                &[],
                registers.to_type(b.location)?,
                &[],
            )
        });
        registers.collect()
    }

    /// Room in shared memory for the numbers of a turn, for each tensor.
    fn room(&self, b: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let keep = IntTuple::underscore;
        let first = b.coord(&tuple([keep(), keep(), int(0)]), &[])?;
        let room = self.tiles.iter().map(|tiles| {
            let tile = memref_of(tiles.of(b, first)?).expected(b, "a tensor")?;
            let bits = element_bits(tile.element).expected(b, "an element")?;
            let shared = MemRef {
                space: Space::Smem,
                align: bits / 8,
                layout: held_once(&tile.layout).map_err(|e| b.error(e))?,
                ..tile
            };
            b.value(cute::MEMREF_ALLOCA, &[], shared.to_type(b.location)?, &[])
        });
        room.collect()
    }

    /// Loads the numbers of a turn into registers, or has a warp bring them to shared memory.
    fn load(&self, b: Builder<'c>, turn: Val<'c>, to: &[Val<'c>]) -> Result<(), Failure> {
        let keep = IntTuple::underscore;
        let coord = b.coord(&tuple([keep(), keep(), IntTuple::dynamic()]), &[turn])?;
        for (tiles, to) in self.tiles.iter().zip(to) {
            let tile = tiles.of(b, coord)?;
            let mut within = self.within;
            if let Some((coords, _)) = &mut within {
                // Rows that are groups have a shape of their own.
                let shape = memref_of(tile).expected(b, "a tensor")?.layout;
                let shape = Layout::col_major(shape.shape()).map_err(|e| b.error(e.to_string()))?;
                let shape = b.static_value(types::layout_type(b.context, &shape))?;
                *coords = b.infer(cute::COMPOSITION, &[*coords, shape], &[])?;
            }
            let place = memref_of(*to).expected(b, "a tensor")?.space;
            if place == Space::Rmem {
                let located = Located {
                    within,
                    ..Located::default()
                };
                block_copy(b, Operand::C, [tile, *to], &located)?;
                continue;
            }
            let is_bounded = i32::from(within.is_some());
            let segments = b.i32_array(&[1, 1, is_bounded, is_bounded]);
            let within = within.into_iter().flat_map(|(coords, end)| [coords, end]);
            let operands: Vec<_> = [tile, *to].into_iter().chain(within).collect();
            let attributes = [("operandSegmentSizes", segments)];
            b.op(cute::BLOCK_WARP_LOAD, &operands, &[], &attributes)?;
        }
        Ok(())
    }

    /// The tile along K that is so many behind one, or the last one.
    fn ahead(&self, b: Builder<'c>, turn: Val<'c>, by: i64) -> Result<Val<'c>, Failure> {
        let turn = b.value(arith::ADDI, &[turn, b.i32(by)?], b.i32_type(), &[])?;
        b.value(arith::MINSI, &[turn, self.last], b.i32_type(), &[])
    }
}

impl<'c> Spread<'c> {
    /// The tile at a coordinate of all of them along K.
    fn of(&self, b: Builder<'c>, coord: Val<'c>) -> Result<Val<'c>, Failure> {
        let tile = self.tiles.at(b, coord)?.tensor;
        let first = b.coord(&tuple([IntTuple::underscore(), int(0)]), &[])?;
        let lines = b.infer(cute::SLICE, &[tile, first], &[])?;
        b.infer(cute::COMPOSITION, &[lines, self.by], &[])
    }
}

impl<'c> Gemm<'c> {
    /// The registers and the tensors that scales of a block's tile need, in a loop of so many turns from a tile along K on; nothing where there are no scales.
    pub(super) fn scales_of_tile(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        at: &Place<'c>,
        (start, turns): (Option<Val<'c>>, Val<'c>),
    ) -> Result<Option<Scales<'c>>, Failure> {
        if self.scales.iter().all(Option::is_none) {
            return Ok(None);
        }
        let b = b.step("scales");
        let [m, n, _] = self.plan.tile;
        let sets = self.sets_of_turns();
        let group = block_registers(self.accumulate, m, n).map_err(|e| b.error(e))?;
        let group = group.to_type(b.location)?;
        let mut groups = Vec::new();
        for _ in 0..sets {
            let group = b.value(cute::MEMREF_ALLOCA, &[], group, &[])?;
            b.op(cute::CLEAR, &[group], &[], &[])?;
            groups.push(group);
        }
        let keep = IntTuple::underscore;
        let mut tiles = Vec::new();
        // Rows of A are those of C, and rows of B its columns.
        for (operand, leaf, strides) in [(Operand::A, at.m, [1, 0]), (Operand::B, at.n, [0, 1])] {
            let by = Layout::new(tuple([m, n].map(int)), tuple(strides.map(int)));
            let by = by.map_err(|e| b.error(e.to_string()))?;
            let by = b.static_value(types::layout_type(b.context, &by))?;
            let scale = self.scales[operand as usize].iter();
            for matrix in scale.flat_map(|scale| &scale.inputs) {
                let coord = tuple([IntTuple::dynamic(), keep()]);
                let coord = (coord, &[leaf][..]);
                let ends = (&[const { None }; 3], false);
                let tiles_of = self.part(b, body, (matrix, operand), coord, at.product, ends)?;
                tiles.push(Spread {
                    tiles: tiles_of,
                    by,
                });
            }
        }
        let one = b.i32(1)?;
        let before = start.unwrap_or(b.i32(0)?);
        let last = b.value(arith::ADDI, &[before, turns], b.i32_type(), &[])?;
        let last = b.value(arith::SUBI, &[last, one], b.i32_type(), &[])?;
        let runs_ahead = self.plan.has_roles() && self.turns_ahead() > 1;
        let mut scales = Scales {
            groups,
            within: match tiles.is_empty() {
                true => None,
                false => self.within_scales(b, body, at, runs_ahead.then_some(turns))?,
            },
            tiles,
            shared: Vec::new(),
            held: Vec::new(),
            next: Vec::new(),
            last,
        };
        for _ in 0..sets {
            scales.held.push(scales.registers(b)?);
        }
        if self.plan.has_roles() && self.scaled.is_some_and(|scaled| scaled.is_for_warps) {
            for _ in 0..sets {
                scales.shared.push(scales.room(b)?);
            }
        }
        if runs_ahead {
            for _ in 1..self.turns_ahead() {
                scales.next.push(scales.registers(b)?);
            }
            let all = scales.held.iter().chain(&scales.next);
            for (by, held) in all.enumerate() {
                let turn = scales.ahead(b, before, by as i64)?;
                let turn = b.value(arith::MAXSI, &[turn, b.i32(0)?], b.i32_type(), &[])?;
                scales.load(b, turn, held)?;
            }
        }
        Ok(Some(scales))
    }

    /// The turns that are written out: so that no registers are moved from one to the next, or, where a warp brings the scales, that a turn's addresses are computed beside
    /// the one before it, if there are registers for that.
    pub(super) fn turns_written(&self) -> i64 {
        match self.scaled {
            Some(scaled) if scaled.is_for_warps => {
                let (tile, threads) = self.sums_of_turns();
                let left = self.registers_left() - scaled.held(tile, threads);
                let sets = self.sets_of_turns() as i64;
                if sets == 1 && left < FOR_ADDRESSES {
                    return 1;
                }
                if sets == 1 && self.is_known() {
                    return MOST_WRITTEN;
                }
                // Turns that are left over would be written out behind the loop, and need registers of their own; so do sizes that a launch knows, and places whose addresses are
                // known in each turn.
                let has_room = self.is_known() && self.plan.stages > 2 * sets;
                let most = if has_room {
                    MOST_WRITTEN
                } else {
                    MOST_WRITTEN / 2
                };
                let turns = self.known_tiles(2).unwrap_or(0);
                let mut all = (sets..=most).rev();
                all.find(|count| turns % count == 0 && count % sets == 0)
                    .unwrap_or(sets)
            }
            Some(_) => self.turns_ahead(),
            None => 1,
        }
    }

    /// The turns that a thread of a warpgroup holds the numbers of scales of: as many as there are registers for, up to [`MOST_AHEAD`]. The loop is written out as
    /// many times, so that no registers are moved.
    pub(super) fn turns_ahead(&self) -> i64 {
        let Some(scaled) = self.scaled.filter(|scaled| !scaled.is_for_warps) else {
            return 1;
        };
        let (tile, threads) = self.sums_of_turns();
        (self.registers_left() / scaled.held(tile, threads).max(1)).clamp(1, MOST_AHEAD)
    }

    /// Rows and columns of a tile whose sums so many threads hold.
    fn sums_of_turns(&self) -> ([i64; 2], i64) {
        let [m, n, _] = self.plan.tile;
        ([m, n], self.plan.team().unwrap_or(WARPGROUP))
    }

    /// Registers of a thread beside the sums of a turn, those of all of K, and what else it needs.
    fn registers_left(&self) -> i64 {
        let ([m, n], threads) = self.sums_of_turns();
        let [_, budget] = self.plan.budgets(self.counts_tiles()).unwrap_or([0, 255]);
        let beside = if self.is_known() { BESIDE } else { 2 * BESIDE };
        let sums = m * n / threads;
        let sets = self.sets_of_turns() as i64;
        budget - sums - sets * sums - beside
    }

    /// Tells whether all sizes are known.
    fn is_known(&self) -> bool {
        self.extents.iter().all(|extent| extent.known.is_some())
    }

    /// The sets of sums of a group, which are the turns of K in the loop's body: more than one where the number of turns is known to be a multiple.
    pub(super) fn sets_of_turns(&self) -> usize {
        let Some(scaled) = self.scaled else { return 1 };
        let is_whole = !self.plan.is_split() && self.plan.cluster[2] == 1;
        let sets = scaled.sets(&self.plan, self.counts_tiles(), self.is_known());
        let turns = self.known_tiles(2).unwrap_or(0);
        let places = self.plan.stages / sets;
        match self.plan.has_roles() && is_whole && turns > 0 && turns % sets == 0 && places > 1 {
            true => sets as usize,
            false => 1,
        }
    }

    /// The coordinates of a tile's elements in C, and the first of which there is no scale: of as many turns as only a launch knows there may be none at all.
    fn within_scales(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        at: &Place<'c>,
        turns: Option<Val<'c>>,
    ) -> Result<Option<(Val<'c>, Val<'c>)>, Failure> {
        let [mut rows, columns, _] = self.ends(b, body, at.product)?;
        let turns = turns.filter(|_| self.known_tiles(2).is_none_or(|tiles| tiles == 0));
        if let Some(turns) = turns {
            let all = match rows {
                Some(end) => end.value_in(b)?,
                None => b.i32(i64::from(i32::MAX))?,
            };
            let none = b.constant(all.r#type(), 0)?;
            let some = b.compare(Predicate::Sgt, turns, b.i32(0)?)?;
            let end = b.value(arith::SELECT, &[some, all, none], all.r#type(), &[])?;
            rows = Some(End::computed(end));
        }
        let bounded = [rows.as_ref(), columns.as_ref()];
        if bounded.iter().all(Option::is_none) {
            return Ok(None);
        }
        let [m, n, _] = self.plan.tile;
        let identity = self.identity(b, body, &self.matrices.product[2], [0, 1])?;
        let tile = tile_of([m, n]).map_err(|e| b.error(e))?;
        let tile = b.static_value(types::tile_type(b.context, &tile))?;
        let coord = tuple([IntTuple::dynamic(), IntTuple::dynamic()]);
        let coord = b.coord(&coord, &[at.m, at.n])?;
        let coords = b.infer(cute::LOCAL_TILE, &[identity, tile, coord], &[])?;
        Ok(Some((coords, end_of(b, bounded)?)))
    }

    /// Multiplies a turn's tiles into a set of sums. Behind the last set it adds the sums of all of them, scaled, to those of all of K: of the first ones while the last products go on.
    pub(super) fn multiply_scaled(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (scales, set): (&Scales<'c>, usize),
        ([shared_a, shared_b, sums], turn): ([Val<'c>; 3], Val<'c>),
    ) -> Result<(), Failure> {
        let loading = b.step("load scales");
        let shared = scales.shared.get(set).map_or(&[][..], Vec::as_slice);
        if !shared.is_empty() {
            scales.load(loading, turn, shared)?;
        } else if let ([], Some(held)) = (&scales.next[..], scales.held.first()) {
            scales.load(loading, turn, held)?;
        }
        let group = *scales.groups.get(set).expected(b, "sums of a group")?;
        let held = scales.held.get(set).expected(b, "numbers of a turn")?;
        let product = [shared_a, shared_b, group];
        b.step("multiply")
            .op(cute::BLOCK_GEMM, &product, &[], &[("overwrite", b.unit())])?;
        // Products go on meanwhile.
        for (from, to) in shared.iter().zip(held) {
            block_copy(loading, Operand::C, [*from, *to], &Located::default())?;
        }
        if set + 1 == scales.groups.len() {
            for (group, held) in scales.groups.iter().zip(&scales.held) {
                self.promote(b, body, (*group, held), sums)?;
            }
        }
        // What was loaded before is moved, and not what is on its way; where turns are written out there are no moves.
        if let Some(newest) = scales.next.last() {
            let all: Vec<_> = scales.held.iter().chain(&scales.next).collect();
            for two in all.windows(2) {
                for (to, from) in two[0].iter().zip(two[1]) {
                    block_copy(loading, Operand::C, [*from, *to], &Located::default())?;
                }
            }
            let turn = scales.ahead(loading, turn, all.len() as i64)?;
            scales.load(loading, turn, newest)?;
        }
        Ok(())
    }

    /// Multiplies the sums of a group by their scales, and adds them to those of all of K.
    fn promote(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (group, held): (Val<'c>, &[Val<'c>]),
        sums: Val<'c>,
    ) -> Result<(), Failure> {
        let b = b.step("scale");
        let mut arguments = Vec::new();
        for tensor in held {
            let element = memref_of(*tensor).expected(b, "a tensor")?.element;
            arguments.push((cute_ir::algorithm::argument_type(element), b.location));
        }
        let (region, inner) = Detached::with_block(&arguments);
        let l = Builder::at_end(b.context, inner, b.location);
        let mut elements = arguments_of(inner);
        let mut scale = None;
        for own in self.scales.iter().flatten() {
            let rest = elements.split_off(own.inputs.len());
            let value = |place: usize| argument(body, place);
            let computed = own.region.compute(l, &elements, value)?;
            let computed = *computed.first().expected(l, "a scale")?;
            elements = rest;
            scale = Some(match scale {
                Some(other) => l.value(arith::MULF, &[other, computed], self.accumulate, &[])?,
                None => computed,
            });
        }
        l.op(cute::YIELD, &[scale.expected(l, "a scale")?], &[], &[])?;
        let operands = [&[group, sums], held].concat();
        b.with_regions(cute::BLOCK_PROMOTE, &operands, &[], &[], vec![region])?;
        Ok(())
    }
}
