//! Outputs: registers of values as tiles in global memory, and numbers of rows.

use super::{
    Fuse,
    tiles::{Part, Place},
    values::Values,
};
use crate::{
    fused::{Domain, OUTER, Phase, ROWS},
    partition::Partition,
};
use cute_arith::Predicate;
use cute_ir::{
    Failure,
    contract::divisor,
    fused::steps_along,
    mlir::*,
    ops::{cute, scf},
    types::{MemRef, element_bits, memref_of},
};
use cute_layout::{IntTuple, Leaf, Operand};
use std::collections::HashSet;

impl<'c> Fuse<'c> {
    /// Computes and stores a tile of the outputs that differ along columns and that a turn gives.
    pub(super) fn store_columns(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        column: Val<'c>,
        values: &Values<'c>,
    ) -> Result<(), Failure> {
        let yielded = self.fused.yielded();
        for at in &phase.outputs {
            let registers = self.compute(b, yielded[*at], Domain::Columns, values, None)?;
            let b = b.step("store outputs");
            let ends = [self.outputs[*at], registers];
            let place = Place::At(column);
            // In a loop, more barriers would cost more than whole vectors gain.
            self.once(b, |b| match self.held {
                true => self.store_tile(b, Domain::Columns, ends, place),
                false => self.move_tile(b, Domain::Columns, ends, place, false),
            })?;
        }
        Ok(())
    }

    /// Does something in one of the blocks that share E.
    fn once(
        &self,
        b: Builder<'c>,
        act: impl FnOnce(Builder<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(outer) = self.outer else {
            return act(b);
        };
        let is_first = b.compare(Predicate::Eq, outer, b.i32(0)?)?;
        let (region, block) = Detached::with_block(&[]);
        let regions = vec![region, Detached::empty()];
        b.with_regions(scf::IF, &[is_first], &[], &[], regions)?;
        let l = Builder::at_end(b.context, block, b.location);
        act(l)?;
        l.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    /// Computes and stores the outputs that are the same along columns.
    pub(super) fn store_others(&self, b: Builder<'c>, values: &Values<'c>) -> Result<(), Failure> {
        let types = &self.types[self.inputs.len()..];
        let mut values = values.clone();
        let yielded = self.fused.yielded();
        let outputs: Vec<_> = self
            .outputs
            .iter()
            .zip(types)
            .zip(&yielded)
            .enumerate()
            .filter(|(at, _)| !self.fused.has_columns(*at))
            .map(|(_, output)| output)
            .collect();
        let starts: HashSet<_> = outputs
            .iter()
            .flat_map(|(_, value)| self.slice(**value, &values).1)
            .map(key)
            .collect();
        self.load_inputs(b, &starts, Domain::Outer, self.outer_place(), &mut values)?;
        for ((output, memref), value) in outputs {
            let is_outer = self.fused.domain(*value) == Domain::Outer;
            let domain = match is_outer || steps_along(&memref.layout, OUTER) {
                true => Domain::Outer,
                false => Domain::Rows,
            };
            let registers = self.compute(b, *value, domain, &values, None)?;
            let b = b.step("store outputs");
            match domain {
                Domain::Outer => {
                    let ends = [*output, registers];
                    self.store_tile(b, domain, ends, self.outer_place())?;
                }
                _ => self.once(b, |b| self.store_rows(b, *output, registers))?,
            }
        }
        Ok(())
    }

    /// Stores registers of a domain as a tile of an output: through shared memory, by the widest vectors, where pairs would fill half a sector.
    fn store_tile(
        &self,
        b: Builder<'c>,
        domain: Domain,
        ends: [Val<'c>; 2],
        column: Place<'c>,
    ) -> Result<(), Failure> {
        let [tensor, registers] = ends;
        let way = self.way_of_domain(b, domain)?;
        let (part, mode) = self.part_of_domain(b, domain, tensor, column)?;
        let Some(tile) = self.staged(way, &part, mode, tensor) else {
            return self.move_tile(b, domain, ends, column, false);
        };
        let shared = b.value(cute::MEMREF_ALLOCA, &[], tile.to_type(b.location)?, &[])?;
        let pairs = way.tiled_copy(b, Operand::C, 0)?;
        let own = b.infer(cute::TILED_COPY_RETILE, &[pairs, registers], &[])?;
        let of = |tiled: Val<'c>, name: &str, tensor: Val<'c>| {
            b.infer(name, &[tiled, tensor, way.thread], &[])
        };
        let staged = of(pairs, cute::TILED_COPY_PARTITION_D, shared)?;
        b.copy(&[pairs, own, staged])?;
        let wide = way.tiled_copy(b, Operand::C, 1)?;
        let source = of(wide, cute::TILED_COPY_PARTITION_S, shared)?;
        let destination = of(wide, cute::TILED_COPY_PARTITION_D, part.tensor)?;
        let there = match part.within {
            Some((coords, end)) => {
                let coords = of(wide, cute::TILED_COPY_PARTITION_S, coords)?;
                Some(self.there(b, coords, end)?)
            }
            None => None,
        };
        let operands = [wide, source, destination].into_iter().chain(there);
        b.copy(&operands.collect::<Vec<_>>())?;
        Ok(())
    }

    /// The tile in shared memory through which a part of an output goes; none where the plan does not move such outputs by more than pairs, or where pairs
    /// are as good.
    fn staged(
        &self,
        way: &Partition<'c>,
        part: &Part<'c>,
        mode: usize,
        tensor: Val<'c>,
    ) -> Option<MemRef<'c>> {
        let (tile, whole) = (memref_of(part.tensor)?, memref_of(tensor)?);
        let wide = way.plan.path(Operand::C).get(1)?.row().ok()?.num_val;
        let (staged, _) = way.plan.shared(Operand::C).ok()?;
        let leaf = |of: &IntTuple, mode: usize| of.get(mode).and_then(IntTuple::as_leaf).cloned();
        let (shape, stride) = (whole.layout.shape(), whole.layout.stride());
        let is_multiple = |leaf: Option<Leaf>| leaf.is_some_and(|leaf| divisor(&leaf) % wide == 0);
        let is_wide = wide > 2
            && element_bits(tile.element) == Some(16)
            && staged.element == tile.element
            && leaf(stride, mode) == Some(Leaf::Static(1))
            && is_multiple(leaf(stride, ROWS))
            && is_multiple(leaf(shape, mode))
            && tile.align >= wide * tile.element_bytes();
        is_wide.then_some(staged)
    }
}
