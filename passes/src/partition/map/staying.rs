//! Blocks that stay: a block computes one row after another, as far apart as all blocks of the grid reach. What is the same for all rows is loaded once, and
//! the elements of a row while the row before it is computed.

use super::{Held, Mapped, Registers, Values, memory, one, reduced, shifted, word, wrong};
use crate::{arch::WIDEST, kernel::blocks_of_grid};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Expected, Failure,
    maps::is_same_along,
    mlir::*,
    tensor,
    types::{MemRef, Space, memref_of, register_type},
};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// Each thread's part of the inputs that a block keeps in shared memory, by the input's place and whether it is the element beside vectors.
#[derive(Default)]
pub(super) struct Kept<'c>(HashMap<(usize, bool), Val<'c>>);

impl<'c> Mapped<'c> {
    /// Tells whether a block that stays keeps an input, which is the same for all rows, in shared memory.
    pub(super) fn is_kept(&self, input: usize) -> bool {
        let memref = &self.types[input];
        self.stays && is_same_along(&memref.layout, 0) && !self.is_number(memref)
    }

    /// Writes the loop over the rows of a thread.
    pub(super) fn staying(&mut self, b: Builder<'c>) -> Result<(), Failure> {
        let stages = self.region.stages();
        let none = Values::default();
        let inputs = |of: &Self, targets: &[Val<'c>], is_kept: bool| {
            let mut all = of.region.inputs_of(targets, &none);
            all.retain(|at| !of.is_number(&of.types[*at]) && of.is_kept(*at) == is_kept);
            all
        };
        let kept = inputs(self, &self.region.wanted(), true);
        let ahead = inputs(self, &reduced(&stages), false);

        let first = word(b, arith::ADDI, self.corner[0], self.own_row)?;
        let (each, turns) = self.turns(b)?;
        let mut next = Vec::new();
        let is_any = b.compare(Predicate::Sgt, turns, b.i32(0)?)?;
        for held in self.held_at_once(b)? {
            let s = b.step("load inputs");
            self.keep(s, &kept, &held)?;
            let held = self.only(s, held, is_any)?;
            next.push(self.registers(s, &ahead, &held)?);
        }

        let zero = b.i32(0)?;
        let arguments = [(b.i32_type(), b.location)];
        let (region, body) = Detached::with_block(&arguments);
        let operands = [zero, turns, b.i32(1)?];
        b.with_regions(scf::FOR, &operands, &[], &[], vec![region])?;
        let l = Builder::at_end(b.context, body, b.location);
        let turn = argument(body, 0);
        let row = word(l, arith::MULI, turn, each)?;
        let row = word(l, arith::ADDI, first, row)?;
        let behind = word(l, arith::ADDI, turn, l.i32(1)?)?;
        let is_more = l.compare(Predicate::Slt, behind, turns)?;
        // The row behind is asked for before this one is computed.
        let mut own = Vec::new();
        for next in &next {
            let mut registers = Registers::new();
            for (of, from) in next {
                let memref = memref_of(*from).expected(l, "registers")?;
                let to = l.value(cute::MEMREF_ALLOCA, &[], memref.to_type(l.location)?, &[])?;
                l.op(cute::AUTOVEC_COPY, &[*from, to], &[], &[])?;
                registers.insert(*of, to);
            }
            own.push(registers);
        }
        self.at_row(l, word(l, arith::ADDI, row, each)?)?;
        for (held, next) in self.held_at_once(l)?.into_iter().zip(&next) {
            let l = l.step("load inputs");
            let held = self.only(l, held, is_more)?;
            for at in &ahead {
                let of = key(argument(self.region.body, *at));
                let to = next.get(&of).copied().expected(l, "registers")?;
                self.load_into(l, [self.inputs[*at], to], &held)?;
            }
        }
        self.at_row(l, row)?;
        self.all(l, own)?;
        l.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    /// The distance of a thread's rows, and the number of rows that its block begins.
    fn turns(&self, b: Builder<'c>) -> Result<(Val<'c>, Val<'c>), Failure> {
        let blocks = blocks_of_grid(b)?;
        let each = word(b, arith::MULI, blocks, b.i32(self.threads[0])?)?;
        // No row is counted that would be beyond 32 bits.
        let left = word(b, arith::SUBI, self.extents[0], self.corner[0])?;
        let left = word(b, arith::MAXSI, left, b.i32(0)?)?;
        Ok((
            each,
            b.value(arith::CEILDIVUI, &[left, each], b.i32_type(), &[])?,
        ))
    }

    /// The parts of a row as they are there under a condition.
    fn only(
        &self,
        b: Builder<'c>,
        held: Held<'c>,
        condition: Val<'c>,
    ) -> Result<Held<'c>, Failure> {
        let mut truths = Vec::new();
        for at in 0..held.places.len() {
            truths.push(match held.there {
                Some(there) => {
                    let at = memory::coord(b, int(at as i64))?;
                    let there =
                        b.value(cute::MEMREF_LOAD, &[there, at], condition.r#type(), &[])?;
                    b.value(arith::ANDI, &[there, condition], condition.r#type(), &[])?
                }
                None => condition,
            });
        }
        Ok(Held {
            there: Some(self.truths(b, &truths)?),
            ..held
        })
    }

    /// Stores a thread's vectors of inputs that are the same for all rows in shared memory, one before the next is loaded.
    fn keep(&mut self, b: Builder<'c>, inputs: &[usize], held: &Held<'c>) -> Result<(), Failure> {
        for at in inputs {
            let own = self.own_shared(b, &self.types[*at], held.values)?;
            for vector in 0..held.places.len() {
                let (held, _) = one(b, held, &Values::default(), vector)?;
                let from = self.load_memory(b, self.inputs[*at], &held)?;
                let own = shifted::vector_of(b, own, vector)?;
                let from = shifted::vector_of(b, from, 0)?;
                b.op(cute::AUTOVEC_COPY, &[from, own], &[], &[])?;
            }
            self.kept.0.insert((*at, held.part.is_edge), own);
        }
        Ok(())
    }

    /// A thread's own place in shared memory for so many elements and vectors, whose neighbours are those of the next thread.
    fn own_shared(
        &self,
        b: Builder<'c>,
        of: &MemRef<'c>,
        [vector, vectors]: [i64; 2],
    ) -> Result<Val<'c>, Failure> {
        let threads = self.threads.iter().product::<i64>();
        let layout = Layout::new(
            tuple([vector, vectors, threads].map(int)),
            tuple([1, vector * threads, vector].map(int)),
        );
        let shared = MemRef {
            space: Space::Smem,
            align: WIDEST / 8,
            ..tensor::registers(register_type(of.element), layout.map_err(wrong(b))?)
        };
        let shared = shared.to_type(b.location)?;
        let shared = b.value(cute::MEMREF_ALLOCA, &[], shared, &[])?;
        let keep = IntTuple::underscore;
        let own = tuple([keep(), keep(), IntTuple::dynamic()]);
        let own = b.coord(&own, &[self.thread])?;
        b.infer(cute::SLICE, &[shared, own], &[])
    }

    /// Registers with a thread's vectors of an input that its block keeps; none of others.
    pub(super) fn load_kept(
        &self,
        b: Builder<'c>,
        input: usize,
        held: &Held<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let Some(own) = self.kept.0.get(&(input, held.part.is_edge)) else {
            return Ok(None);
        };
        let memref = memref_of(*own).expected(b, "a tensor")?;
        let registers = self.allocate(b, memref.element, held.values)?;
        for at in 0..held.places.len() {
            let from = shifted::vector_of(b, *own, held.part.first + at)?;
            let to = shifted::vector_of(b, registers, at)?;
            b.op(cute::AUTOVEC_COPY, &[from, to], &[], &[])?;
        }
        Ok(Some(registers))
    }

    /// Registers with a thread's vectors of some inputs.
    fn registers(
        &self,
        b: Builder<'c>,
        inputs: &[usize],
        held: &Held<'c>,
    ) -> Result<Registers<'c>, Failure> {
        let mut all = Registers::new();
        for at in inputs {
            let registers = self.load_memory(b, self.inputs[*at], held)?;
            all.insert(key(argument(self.region.body, *at)), registers);
        }
        Ok(all)
    }
}
