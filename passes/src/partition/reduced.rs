//! Outputs of a `cute.block.transform` of C that are reduced along rows, columns or both.
//!
//! A thread reduces its own elements in registers, as they are computed; then those of a warp that share a number exchange what they
//! have, and the first of them leaves it in shared memory, where a number has a place for each such group of threads. At last a thread
//! for each number reduces what lies there, in the order of the groups, and stores it.

use super::{
    Partition,
    reduction::Reduction,
    transform::{Guard, OUT},
    wrong,
};
use crate::plan::Partials;
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute, scf},
    reduced, tensor,
    types::{self, MemRef, Space, memref_of},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, Operand, Tile, int, tuple};
use melior::ir::ValueLike;

/// An output that is reduced, while a block computes its tile.
pub(super) struct Reduced<'c> {
    reduction: Reduction<'c>,
    partials: Partials,
    /// The mode of rows (0) or columns (1) whose numbers there are; none of a single one.
    kept: Option<usize>,
    /// The tile that is written.
    output: Val<'c>,
    /// The numbers in shared memory, a column for each group of threads.
    numbers: Val<'c>,
    /// The column of this thread's group, with the shape of the tile.
    own: Val<'c>,
    /// Registers of a thread for what it has of all steps; none where each step has numbers of its own.
    carried: Option<Val<'c>>,
}

impl<'c> Partition<'c> {
    /// Gets the outputs that are reduced ready: what threads leave for each other, and what they start from where they take all steps, which
    /// are along rows (0) or columns (1), together.
    pub(super) fn reduced(
        &self,
        b: Builder<'c>,
        op: cute::BlockTransform<'c>,
        steps_along: usize,
    ) -> Result<Vec<Option<Reduced<'c>>>, Failure> {
        let outputs = op.outputs();
        let kinds = reduced::kinds(op.reduce(), outputs.len());
        let all = kinds.into_iter().zip(outputs).map(|(kind, output)| {
            let Some(kind) = kind else { return Ok(None) };
            let memref = memref_of(output).expected(b, "a tensor")?;
            let ty = types::register_type(memref.element);
            let along = reduced::along(&memref);
            let extent = |mode: usize| memref.layout.mode(mode).and_then(|mode| mode.size());
            let extents = [extent(0).map_err(wrong(b))?, extent(1).map_err(wrong(b))?];
            let partials = Partials::of(&self.plan, extents, along).map_err(|e| b.error(e))?;
            let kept = (0..2).find(|mode| !along[*mode]);
            let layout = tuple([partials.kept, partials.parts].map(int));
            let layout = Layout::col_major(&layout).map_err(wrong(b))?;
            let shared = MemRef {
                space: Space::Smem,
                ..tensor::registers(ty, layout)
            };
            let numbers = b.value(cute::MEMREF_ALLOCA, &[], shared.to_type(b.location)?, &[])?;
            let group = self.group(b, &partials, kept)?;
            let start = b.infer(cute::GET_ITER, &[numbers], &[])?;
            let first = b.value(
                arith::MULI,
                &[group, b.i32(partials.kept)?],
                b.i32_type(),
                &[],
            )?;
            let leaf = IntTuple::Leaf(Leaf::Dynamic(Dyn::new(32, partials.kept)));
            let ty_of_offset = types::int_tuple_type(b.context, &leaf);
            let offset = b.value(cute::MAKE_INT_TUPLE, &[first], ty_of_offset, &[])?;
            let start = b.infer(cute::ADD_OFFSET, &[start, offset], &[])?;
            let stride = [0, 1].map(|mode| int(i64::from(kept == Some(mode))));
            let layout = Layout::new(tuple(extents.map(int)), tuple(stride)).map_err(wrong(b))?;
            let value = b.static_value(types::layout_type(b.context, &layout))?;
            let view = MemRef { layout, ..shared };
            let own = b.value(
                cute::MAKE_VIEW,
                &[start, value],
                view.to_type(b.location)?,
                &[],
            )?;
            Ok(Some(Reduced {
                reduction: Reduction { kind, ty },
                partials,
                kept,
                output,
                numbers,
                own,
                carried: None,
            }))
        });
        let mut all = all.collect::<Result<Vec<_>, Failure>>()?;
        for reduced in all.iter_mut().flatten() {
            if reduced.kept != Some(steps_along) {
                let part = self.tiled_part_of(b, reduced.own)?;
                reduced.carried = Some(start_of(b, reduced.reduction, part)?);
            }
        }
        Ok(all)
    }

    /// The thread's part of a whole tile, as it would be stored.
    fn tiled_part_of(&self, b: Builder<'c>, tile: Val<'c>) -> Result<Val<'c>, Failure> {
        let tiled = self.tiled_copy(b, Operand::C, OUT)?;
        b.infer(
            cute::TILED_COPY_PARTITION_D,
            &[tiled, tile, self.thread],
            &[],
        )
    }

    /// The thread's index in its block.
    fn thread_index(&self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        b.infer(cute::GET_SCALARS, &[self.thread], &[])
    }

    /// The index of a thread's group among those that share its numbers.
    fn group(
        &self,
        b: Builder<'c>,
        partials: &Partials,
        kept: Option<usize>,
    ) -> Result<Val<'c>, Failure> {
        let thread = self.thread_index(b)?;
        let number = |name: &str, x: Val<'c>, y: i64| match y {
            1 if name == arith::DIVUI => Ok(x),
            _ => b.value(name, &[x, b.i32(y)?], b.i32_type(), &[]),
        };
        let Partials { across, lanes, .. } = *partials;
        let major = self.plan.major(Operand::C).map_err(|e| b.error(e))?;
        match kept {
            None => number(arith::DIVUI, thread, lanes[0]),
            Some(kept) if kept == major => number(arith::DIVUI, thread, across * lanes[0]),
            Some(_) => number(
                arith::DIVUI,
                number(arith::REMUI, thread, across)?,
                lanes[0],
            ),
        }
    }

    /// The condition that a thread is the first of those of a warp that share its numbers; none where each is alone.
    fn is_first(&self, b: Builder<'c>, reduced: &Reduced<'c>) -> Result<Option<Val<'c>>, Failure> {
        let [count, apart] = reduced.partials.lanes;
        if count == 1 {
            return Ok(None);
        }
        let thread = self.thread_index(b)?;
        let ty = b.i32_type();
        let lane = b.value(arith::REMUI, &[thread, b.i32(count * apart)?], ty, &[])?;
        b.compare(Predicate::Ult, lane, b.i32(apart)?).map(Some)
    }

    /// Takes a step's values of an output, of those elements that are there, to what the thread has, by the step's `part` of a tensor of
    /// the tile's shape; where the step has numbers of its own, leaves them for the others.
    pub(super) fn reduce_step(
        &self,
        b: Builder<'c>,
        reduced: &Reduced<'c>,
        values: Val<'c>,
        guard: Option<&Guard<'c>>,
        part: impl FnOnce(Val<'c>) -> Result<Val<'c>, Failure>,
    ) -> Result<(), Failure> {
        let b = b.step("reduce");
        let own = part(reduced.own)?;
        let sums = match reduced.carried {
            Some(carried) => carried,
            None => start_of(b, reduced.reduction, own)?,
        };
        let of_values = memref_of(values).expected(b, "registers")?.layout;
        // Where all steps are taken together, what they are along is reduced: the places in registers are those of the whole.
        let of_sums = compact_of(b, own)?;
        let size = of_values.size().map_err(wrong(b))?;
        let neutral = match guard {
            Some(_) => Some(reduced.reduction.neutral(b)?),
            None => None,
        };
        let mut parts: Vec<(i64, Vec<Val<'c>>)> = Vec::new();
        for at in 0..size {
            let mut value = self.element(b, values, at)?;
            if let (Some(guard), Some(neutral)) = (guard, neutral) {
                let there = self.element(b, guard.there, at / guard.vector)?;
                value = b.value(arith::SELECT, &[there, value, neutral], value.r#type(), &[])?;
            }
            let place = of_sums.at(at);
            match parts.iter_mut().find(|(other, _)| *other == place) {
                Some((_, parts)) => parts.push(value),
                None => parts.push((place, vec![value])),
            }
        }
        for (place, parts) in parts {
            let before = self.element(b, sums, place)?;
            let all = std::iter::once(before).chain(parts).map(Ok);
            let sum = reduced.reduction.folded(b, all)?;
            self.set_element(b, sums, place, sum)?;
        }
        match reduced.carried {
            Some(_) => Ok(()),
            None => self.leave(b, reduced, sums, own),
        }
    }

    /// Leaves what a thread has in shared memory, of the threads that share it together.
    fn leave(
        &self,
        b: Builder<'c>,
        reduced: &Reduced<'c>,
        sums: Val<'c>,
        own: Val<'c>,
    ) -> Result<(), Failure> {
        let layout = compact_of(b, own)?;
        let size = layout.size().map_err(wrong(b))?;
        let mut numbers: Vec<(i64, i64, Val<'c>)> = Vec::new();
        for at in 0..size {
            let place = layout.at(at);
            if numbers.iter().any(|(other, ..)| *other == place) {
                continue;
            }
            let sum = self.element(b, sums, place)?;
            let sum = reduced.reduction.of_lanes(b, sum, reduced.partials.lanes)?;
            numbers.push((place, at, sum));
        }
        let first = self.is_first(b, reduced)?;
        only(b, first.into_iter().collect(), |l| {
            for (_, at, sum) in &numbers {
                let at = l.static_value(types::coord_type(l.context, &int(*at)))?;
                l.op(cute::MEMREF_STORE, &[own, at, *sum], &[], &[])?;
            }
            Ok(())
        })
    }

    /// Reduces what all threads left and stores it, where it is `within`: the coordinates of the tile and the first that is not there.
    pub(super) fn store_reduced(
        &self,
        b: Builder<'c>,
        reduced: &Reduced<'c>,
        within: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<(), Failure> {
        if let Some(sums) = reduced.carried {
            let own = self.tiled_part_of(b, reduced.own)?;
            self.leave(b.step("reduce"), reduced, sums, own)?;
        }
        let b = b.step("store outputs");
        let ty = b.i32_type();
        let threads = self.plan.threads().map_err(|e| b.error(e))?;
        let kept = reduced.partials.kept;
        for first in (0..kept).step_by(usize::try_from(threads).unwrap_or(1)) {
            let mut index = self.thread_index(b)?;
            if first > 0 {
                index = b.value(arith::ADDI, &[index, b.i32(first)?], ty, &[])?;
            }
            let mut conditions = Vec::new();
            if first + threads > kept {
                conditions.push(b.compare(Predicate::Ult, index, b.i32(kept)?)?);
            }
            let place = |mode: usize| match reduced.kept == Some(mode) {
                true => IntTuple::dynamic(),
                false => int(0),
            };
            let leaves: Vec<_> = reduced.kept.map(|_| index).into_iter().collect();
            let at = b.coord(&tuple([place(0), place(1)]), &leaves)?;
            if let Some((coords, end)) = within.filter(|_| reduced.kept.is_some()) {
                let one = Tile::from_shape(&tuple([1, 1].map(int))).map_err(wrong(b))?;
                let one = b.static_value(types::tile_type(b.context, &one))?;
                let here = b.infer(cute::LOCAL_TILE, &[coords, one, at], &[])?;
                let there = self.predicate(b, here, end)?;
                conditions.push(self.element(b, there, 0)?);
            }
            only(b, conditions, |l| {
                let part = |group: i64| {
                    let at = tuple([
                        reduced.kept.map_or(int(0), |_| IntTuple::dynamic()),
                        int(group),
                    ]);
                    let at = l.coord(&at, &leaves)?;
                    let ty = reduced.reduction.ty;
                    l.value(cute::MEMREF_LOAD, &[reduced.numbers, at], ty, &[])
                };
                let parts = (0..reduced.partials.parts).map(part);
                let number = reduced.reduction.folded(l, parts)?;
                l.op(cute::MEMREF_STORE, &[reduced.output, at, number], &[], &[])?;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The element of registers at a one-dimensional index.
    fn element(&self, b: Builder<'c>, registers: Val<'c>, at: i64) -> Result<Val<'c>, Failure> {
        let element = memref_of(registers).expected(b, "registers")?.element;
        let at = b.static_value(types::coord_type(b.context, &int(at)))?;
        b.value(cute::MEMREF_LOAD, &[registers, at], element, &[])
    }

    fn set_element(
        &self,
        b: Builder<'c>,
        sums: Val<'c>,
        place: i64,
        value: Val<'c>,
    ) -> Result<(), Failure> {
        let at = b.static_value(types::coord_type(b.context, &int(place)))?;
        b.op(cute::MEMREF_STORE, &[sums, at, value], &[], &[])?;
        Ok(())
    }
}

/// The places in registers of the elements of a thread's part, of which those that are one have one place.
fn compact_of<'c>(b: Builder<'c>, part: Val<'c>) -> Result<Layout, Failure> {
    let memref = memref_of(part).expected(b, "a tensor")?;
    super::transform::held_once(&memref.layout).map_err(wrong(b))
}

/// Registers for each number of a thread's part, with what changes no result.
fn start_of<'c>(
    b: Builder<'c>,
    reduction: Reduction<'c>,
    part: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let count = compact_of(b, part)?.cosize().map_err(wrong(b))?;
    let layout = Layout::leaf(count, 1).map_err(wrong(b))?;
    let ty = tensor::registers(reduction.ty, layout).to_type(b.location)?;
    let sums = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
    let neutral = reduction.neutral(b)?;
    b.op(cute::FILL, &[sums, neutral], &[], &[])?;
    Ok(sums)
}

/// Writes what is done where all conditions hold.
fn only<'c>(
    b: Builder<'c>,
    conditions: Vec<Val<'c>>,
    write: impl FnOnce(Builder<'c>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut conditions = conditions.into_iter();
    let Some(first) = conditions.next() else {
        return write(b);
    };
    let all = conditions.try_fold(first, |all, condition| {
        b.value(arith::ANDI, &[all, condition], all.r#type(), &[])
    })?;
    let (region, block) = Detached::with_block(&[]);
    let regions = vec![region, Detached::empty()];
    b.with_regions(scf::IF, &[all], &[], &[], regions)?;
    let l = Builder::at_end(b.context, block, b.location);
    write(l)?;
    l.op(scf::YIELD, &[], &[], &[])?;
    Ok(())
}
