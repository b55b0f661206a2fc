//! The tensors of a map in memory and in registers.

use super::{Held, Mapped, Values, word, wrong};
use crate::arch::WIDEST;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Expected, Failure, algorithm,
    mlir::*,
    tensor,
    types::{self, CopyOp, CuteType, MemRef, element_bits, memref_of},
};
use cute_layout::{IntTuple, Layout, Tile, int, tuple};
use melior::ir::{Type, ValueLike};

impl<'c> Mapped<'c> {
    /// Registers for vectors of so many elements, and so many of them.
    pub(super) fn allocate(
        &self,
        b: Builder<'c>,
        element: Type<'c>,
        values: [i64; 2],
    ) -> Result<Val<'c>, Failure> {
        let shape = tuple(values.map(int));
        let layout = Layout::col_major(&shape).map_err(wrong(b))?;
        let registers = MemRef {
            align: WIDEST / 8,
            ..tensor::registers(element, layout)
        };
        let ty = registers.to_type(b.location)?;
        b.value(cute::MEMREF_ALLOCA, &[], ty, &[])
    }

    /// Truth values in registers, one for each vector.
    pub(super) fn truths(&self, b: Builder<'c>, truths: &[Val<'c>]) -> Result<Val<'c>, Failure> {
        let count = i64::try_from(truths.len()).unwrap_or(1);
        let layout = Layout::leaf(count, 1).map_err(wrong(b))?;
        let ty = tensor::registers(types::int_type(b.context, 1), layout);
        let all = b.value(cute::MEMREF_ALLOCA, &[], ty.to_type(b.location)?, &[])?;
        for (at, truth) in truths.iter().enumerate() {
            let at = coord(b, int(at as i64))?;
            b.op(cute::MEMREF_STORE, &[all, at, *truth], &[], &[])?;
        }
        Ok(all)
    }

    /// The element of a tensor that all columns of the thread's row share.
    pub(super) fn load_number(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let element = memref_of(tensor).expected(b, "a tensor")?.element;
        let at = b.coord(&tuple([IntTuple::dynamic(), int(0)]), &[self.row])?;
        b.value(cute::MEMREF_LOAD, &[tensor, at], element, &[])
    }

    /// Loads a thread's vectors of the inputs that some values are computed from.
    pub(super) fn load(
        &self,
        b: Builder<'c>,
        targets: &[Val<'c>],
        held: &Held<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let b = b.step("load inputs");
        let mut inputs = self.region.inputs_of(targets, values);
        let is_loaded = |at: usize| {
            let argument = argument(self.region.body, at);
            values.registers.contains_key(&key(argument))
        };
        inputs.retain(|at| !is_loaded(*at));
        let inputs = &inputs;
        let staged = self.stage(b, inputs)?;
        for at in inputs {
            let registers = match staged.iter().find(|(staged, _)| staged == at) {
                Some((_, shared)) => self.load_staged(b, *shared)?,
                None => match self.load_kept(b, *at, held)? {
                    Some(kept) => kept,
                    None => self.load_memory(b, self.inputs[*at], held)?,
                },
            };
            values
                .registers
                .insert(key(argument(self.region.body, *at)), registers);
        }
        Ok(())
    }

    /// A thread's vectors of a tensor in global memory, with 0 where they are not there.
    pub(super) fn load_memory(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        held: &Held<'c>,
    ) -> Result<Val<'c>, Failure> {
        let element = memref_of(tensor).expected(b, "a tensor")?.element;
        let registers = self.allocate(b, element, held.values)?;
        self.load_into(b, [tensor, registers], held)?;
        Ok(registers)
    }

    /// Loads a thread's vectors of a tensor in global memory into registers, and 0 where they are not there.
    pub(super) fn load_into(
        &self,
        b: Builder<'c>,
        [tensor, registers]: [Val<'c>; 2],
        held: &Held<'c>,
    ) -> Result<(), Failure> {
        if held.there.is_some() {
            b.op(cute::CLEAR, &[registers], &[], &[])?;
        }
        self.move_held(b, [tensor, registers], held, true)
    }

    /// Computes and stores a thread's vectors of the outputs that have an element for each column.
    pub(super) fn store(
        &self,
        b: Builder<'c>,
        held: &Held<'c>,
        values: &Values<'c>,
    ) -> Result<(), Failure> {
        let mut computed = Vec::new();
        for (at, output) in self.full_outputs() {
            let value = self.region.yielded(at).expected(b, "a yielded value")?;
            computed.push((output, self.compute(b, value, held, values, None)?));
        }
        let b = b.step("store outputs");
        for (output, registers) in computed {
            self.move_held(b, [output, registers], held, false)?;
        }
        Ok(())
    }

    /// Stores what is the same along the columns of the thread's row, by the first thread of the row.
    pub(super) fn store_numbers(&self, b: Builder<'c>, values: &Values<'c>) -> Result<(), Failure> {
        let types = &self.types[self.inputs.len()..];
        let outputs = self.outputs.iter().zip(types).enumerate();
        let once: Vec<_> = outputs
            .filter(|(_, (_, memref))| self.is_number(memref))
            .map(|(at, (output, _))| (at, *output))
            .collect();
        if once.is_empty() {
            return Ok(());
        }
        let b = b.step("store outputs");
        let zero = b.i32(0)?;
        let mut writes = b.compare(cute_arith::Predicate::Eq, self.lane, zero)?;
        if let Some(is_row) = self.is_row {
            writes = b.value(arith::ANDI, &[writes, is_row], writes.r#type(), &[])?;
        }
        let (region, block) = Detached::with_block(&[]);
        let regions = vec![region, Detached::empty()];
        b.with_regions(scf::IF, &[writes], &[], &[], regions)?;
        let l = Builder::at_end(b.context, block, b.location);
        for (at, output) in once {
            let value = self.region.yielded(at).expected(b, "a yielded value")?;
            // A number of the kernel is yielded as it is.
            let value = values.numbers.get(&key(value)).copied().unwrap_or(value);
            let value = as_held(l, value)?;
            let at = l.coord(&tuple([IntTuple::dynamic(), int(0)]), &[self.row])?;
            l.op(cute::MEMREF_STORE, &[output, at, value], &[], &[])?;
        }
        l.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    /// Moves what a thread holds at once between a tensor and registers, as far as it is there.
    fn move_held(
        &self,
        b: Builder<'c>,
        ends: [Val<'c>; 2],
        held: &Held<'c>,
        is_load: bool,
    ) -> Result<(), Failure> {
        match held.head {
            Some(head) => self.move_shifted(b, ends, (held, head), is_load),
            None => self.move_vectors(b, ends, self.row, held, is_load),
        }
    }

    /// Moves a thread's vectors of a row between a tensor of rows and columns and registers, those that are there.
    pub(super) fn move_vectors(
        &self,
        b: Builder<'c>,
        [tensor, registers]: [Val<'c>; 2],
        row: Val<'c>,
        held: &Held<'c>,
        is_load: bool,
    ) -> Result<(), Failure> {
        let [vector, _] = held.values;
        let row = b.coord(
            &tuple([IntTuple::dynamic(), IntTuple::underscore()]),
            &[row],
        )?;
        let row = b.infer(cute::SLICE, &[tensor, row], &[])?;
        // Neighbours whose distance only a launch knows, or that do not lie in order, are moved one by one.
        let layout = memref_of(row).expected(b, "a tensor")?.layout;
        let in_order = layout.mode(0).is_ok_and(|mode| !mode.shape().is_tuple());
        let length = match in_order && layout.stride().is_static() {
            true => vector,
            false => 1,
        };
        let parts = vector / length;
        for (at, place) in held.places.iter().enumerate() {
            let there = held.truth(b, at)?;
            for part in 0..parts {
                let mut place = *place;
                if parts > 1 {
                    place = word(b, arith::MULI, place, b.i32(parts)?)?;
                    place = word(b, arith::ADDI, place, b.i32(part)?)?;
                }
                let place = b.coord(&tuple([IntTuple::dynamic()]), &[place])?;
                let own = |neighbours| coord(b, tuple([neighbours, int(at as i64)]));
                let (memory, own) = match length {
                    // Tiles of columns of several extents would have to divide them.
                    1 => (
                        repeated(b, row, place, 1)?,
                        repeated(b, registers, own(int(part))?, 1)?,
                    ),
                    _ => {
                        let own = own(IntTuple::underscore())?;
                        let tile = Tile::from_shape(&tuple([int(length)])).map_err(wrong(b))?;
                        let tile = b.static_value(types::tile_type(b.context, &tile))?;
                        (
                            b.infer(cute::LOCAL_TILE, &[row, tile, place], &[])?,
                            b.infer(cute::SLICE, &[registers, own], &[])?,
                        )
                    }
                };
                let ends = match is_load {
                    true => [memory, own],
                    false => [own, memory],
                };
                self.move_vector(b, memory, ends, there)?;
            }
        }
        Ok(())
    }

    /// Moves one vector, by the widest accesses that its memory allows.
    pub(super) fn move_vector(
        &self,
        b: Builder<'c>,
        memory: Val<'c>,
        ends: [Val<'c>; 2],
        there: Option<Val<'c>>,
    ) -> Result<(), Failure> {
        let Some(there) = there else {
            b.op(cute::AUTOVEC_COPY, &ends, &[], &[])?;
            return Ok(());
        };
        let (Some(from), Some(to)) = (memref_of(ends[0]), memref_of(ends[1])) else {
            return Err(b.error("expected tensors"));
        };
        let found = algorithm::vectors(&from, &to, WIDEST).map_err(wrong(b))?;
        let memory = memref_of(memory).expected(b, "a tensor")?;
        let bits = element_bits(memory.element).expected(b, "an element")? * found.length;
        let ty = types::copy_atom_type(b.location, memory.element, CopyOp::Universal { bits })?;
        let atom = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
        let size = memory.layout.size().map_err(wrong(b))?;
        let parts = size / found.length;
        if parts == 1 {
            b.copy(&[atom, ends[0], ends[1], there])?;
            return Ok(());
        }
        let order = tuple([int(found.length), int(parts)]);
        let order = Layout::col_major(&order).map_err(wrong(b))?;
        let order = b.static_value(types::layout_type(b.context, &order))?;
        let part = |tensor: Val<'c>| b.infer(cute::COMPOSITION, &[tensor, order], &[]);
        let there = view(b, there, &int(0), parts)?;
        b.copy(&[atom, part(ends[0])?, part(ends[1])?, there])?;
        Ok(())
    }
}

/// A tensor of what registers hold: the bits of what they have no type for.
pub(super) fn as_bits<'c>(b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
    let memref = memref_of(tensor).expected(b, "a tensor")?;
    let element = types::register_type(memref.element);
    if element == memref.element {
        return Ok(tensor);
    }
    let bits = MemRef { element, ..memref };
    let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
    let ty = bits.to_ptr_type(b.location)?;
    let start = b.value(cute::RECAST_ITER, &[start], ty, &[])?;
    let layout = match bits.layout.is_static() {
        true => b.static_value(types::layout_type(b.context, &bits.layout))?,
        false => b.infer(cute::GET_LAYOUT, &[tensor], &[])?,
    };
    b.value(
        cute::MAKE_VIEW,
        &[start, layout],
        bits.to_type(b.location)?,
        &[],
    )
}

/// A number as registers hold it: its bits, where they have no type for it.
pub(in crate::partition) fn as_held<'c>(
    b: Builder<'c>,
    value: Val<'c>,
) -> Result<Val<'c>, Failure> {
    as_number(b, value, types::register_type(value.r#type()))
}

/// The number whose bits a register holds.
pub(in crate::partition) fn as_number<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    match value.r#type() == ty {
        true => Ok(value),
        false => b.value(arith::BITCAST, &[value], ty, &[]),
    }
}

impl<'c> Held<'c> {
    /// The predicate of a vector; none where all are there.
    pub(super) fn truth(&self, b: Builder<'c>, at: usize) -> Result<Option<Val<'c>>, Failure> {
        let at = int(at as i64);
        self.there.map(|there| view(b, there, &at, 1)).transpose()
    }
}

/// The predicate at a place, `count` times.
fn view<'c>(b: Builder<'c>, there: Val<'c>, at: &IntTuple, count: i64) -> Result<Val<'c>, Failure> {
    let at = coord(b, at.clone())?;
    repeated(b, there, at, count)
}

/// The element of a tensor at a coordinate, `count` times.
pub(super) fn repeated<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    at: Val<'c>,
    count: i64,
) -> Result<Val<'c>, Failure> {
    let layout = Layout::leaf(count, 0).map_err(wrong(b))?;
    view_from(b, tensor, at, layout)
}

/// A part of a thread's registers from a coordinate on, of so many neighbours and vectors.
pub(super) fn part<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    at: &IntTuple,
    shape: [i64; 2],
) -> Result<Val<'c>, Failure> {
    let at = coord(b, at.clone())?;
    let layout = Layout::col_major(&tuple(shape.map(int))).map_err(wrong(b))?;
    view_from(b, tensor, at, layout)
}

/// What lies in a tensor from a coordinate on, by a layout.
fn view_from<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    at: Val<'c>,
    layout: Layout,
) -> Result<Val<'c>, Failure> {
    let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
    let whole = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let offset = b.infer(cute::CRD2IDX, &[at, whole], &[])?;
    let start = b.infer(cute::ADD_OFFSET, &[start, offset], &[])?;
    laid_out(b, start, layout)
}

/// A tensor of that layout from a pointer on.
pub(super) fn laid_out<'c>(
    b: Builder<'c>,
    start: Val<'c>,
    layout: Layout,
) -> Result<Val<'c>, Failure> {
    let Some(CuteType::Ptr(memref)) = CuteType::of(start.r#type()) else {
        return Err(b.error("expected a pointer"));
    };
    let value = b.static_value(types::layout_type(b.context, &layout))?;
    let ty = MemRef { layout, ..memref }.to_type(b.location)?;
    b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
}

/// A coordinate that is known.
pub(super) fn coord<'c>(b: Builder<'c>, coord: IntTuple) -> Result<Val<'c>, Failure> {
    b.static_value(types::coord_type(b.context, &coord))
}
