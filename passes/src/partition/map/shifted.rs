//! Rows that begin anywhere in memory: their vectors begin at the first element that is aligned as vectors are, which is another one in each row. The elements
//! before it and those behind the last whole vector are of a thread each, beside its vectors.
//!
//! Tensors that are the same along rows are aligned at their first column instead: a thread reads the two vectors that its elements are in, and shifts them.

use super::{
    Held, Mapped, Part,
    memory::{coord, laid_out, repeated},
    word, wrong,
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, vector};
use cute_ir::{
    Expected, Failure,
    maps::is_same_along,
    mlir::*,
    types::{self, MemRef, element_bits, memref_of},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, tuple};
use melior::ir::ValueLike;

/// Bits of a register.
const WORD: i64 = 32;

/// The vectors of rows that begin anywhere.
pub(super) struct Shift<'c> {
    /// Elements of the thread's row before its first vector.
    pub(super) head: Val<'c>,
    /// The elements of a row beside its vectors.
    beside: Val<'c>,
}

impl<'c> Mapped<'c> {
    /// The vectors of rows as those of a tensor are aligned, by its place among inputs and outputs. From here on `end` is the number of vectors of
    /// each row, whichever element they begin at: one less than there would be from the first column on.
    pub(super) fn shifted(&mut self, b: Builder<'c>, lead: i64) -> Result<Shift<'c>, Failure> {
        let mut all = self.inputs.iter().chain(&self.outputs);
        let lead = usize::try_from(lead).ok().and_then(|at| all.nth(at));
        let offset = self.offset(b, *lead.expected(b, "a tensor that rows are aligned by")?)?;
        let offset = match offset.r#type() == b.i32_type() {
            true => offset,
            false => b.value(arith::TRUNCI, &[offset], b.i32_type(), &[])?,
        };
        let zero = b.i32(0)?;
        let before = word(b, arith::SUBI, zero, offset)?;
        let head = word(b, arith::ANDI, before, b.i32(self.vector - 1)?)?;
        let whole = word(b, arith::SUBI, self.end, b.i32(1)?)?;
        self.end = word(b, arith::MAXSI, whole, zero)?;
        let inside = word(b, arith::MULI, self.end, b.i32(self.vector)?)?;
        let beside = word(b, arith::SUBI, self.extents[1], inside)?;
        Ok(Shift { head, beside })
    }

    /// The element of a thread beside its vectors; none where rows are vectors alone.
    pub(super) fn edge(&self, b: Builder<'c>) -> Result<Option<Held<'c>>, Failure> {
        let Some(shift) = &self.shift else {
            return Ok(None);
        };
        let truth = types::int_type(b.context, 1);
        let is_before = b.compare(Predicate::Slt, self.lane, shift.head)?;
        let inside = word(b, arith::MULI, self.end, b.i32(self.vector)?)?;
        let behind = word(b, arith::ADDI, self.lane, inside)?;
        let place = [is_before, self.lane, behind];
        let place = b.value(arith::SELECT, &place, b.i32_type(), &[])?;
        let mut there = b.compare(Predicate::Slt, self.lane, shift.beside)?;
        // Of blocks that share a row, the first one has them.
        let is_first = b.compare(Predicate::Eq, self.first, b.i32(0)?)?;
        for other in [Some(is_first), self.is_row].into_iter().flatten() {
            there = b.value(arith::ANDI, &[there, other], truth, &[])?;
        }
        Ok(Some(Held {
            values: [1, 1],
            places: vec![place],
            there: Some(self.truths(b, &[there])?),
            head: None,
            part: Part {
                is_edge: true,
                first: 0,
            },
        }))
    }

    /// Moves a thread's vectors, which begin behind so many elements of the row, between a tensor and registers, those that are there.
    pub(super) fn move_shifted(
        &self,
        b: Builder<'c>,
        [tensor, registers]: [Val<'c>; 2],
        (held, head): (&Held<'c>, Val<'c>),
        is_load: bool,
    ) -> Result<(), Failure> {
        let memref = memref_of(tensor).expected(b, "a tensor")?;
        let [vector, _] = held.values;
        let is_along = memref.layout.stride().get(1) == Some(&int(1));
        let is_aligned = memref.align % (vector * memref.element_bytes()) == 0;
        let bits = element_bits(memref.element).expected(b, "an element")? * vector;
        let is_same = is_same_along(&memref.layout, 0);
        if is_along && is_aligned && !is_same {
            return self.move_aligned(b, [tensor, registers], (held, head), is_load);
        }
        if is_along && is_aligned && is_same && is_load && bits % WORD == 0 {
            return self.load_across(b, [tensor, registers], (held, head));
        }
        let row = tuple([IntTuple::dynamic(), IntTuple::underscore()]);
        let row = b.coord(&row, &[self.row])?;
        let row = b.infer(cute::SLICE, &[tensor, row], &[])?;
        for (at, place) in held.places.iter().enumerate() {
            let there = held.truth(b, at)?;
            let first = word(b, arith::MULI, *place, b.i32(vector)?)?;
            let first = word(b, arith::ADDI, first, head)?;
            for part in 0..vector {
                let place = word(b, arith::ADDI, first, b.i32(part)?)?;
                let place = b.coord(&tuple([IntTuple::dynamic()]), &[place])?;
                let memory = repeated(b, row, place, 1)?;
                let own = coord(b, tuple([int(part), int(at as i64)]))?;
                let own = repeated(b, registers, own, 1)?;
                self.move_vector(b, memory, ends([memory, own], is_load), there)?;
            }
        }
        Ok(())
    }

    /// Moves vectors of a tensor whose rows are aligned where they begin.
    fn move_aligned(
        &self,
        b: Builder<'c>,
        [tensor, registers]: [Val<'c>; 2],
        (held, head): (&Held<'c>, Val<'c>),
        is_load: bool,
    ) -> Result<(), Failure> {
        let [vector, _] = held.values;
        let offset = self.offset(b, tensor)?;
        let head = match offset.r#type() == head.r#type() {
            true => head,
            false => b.value(arith::EXTSI, &[head], offset.r#type(), &[])?,
        };
        let first = b.value(arith::ADDI, &[offset, head], offset.r#type(), &[])?;
        let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
        let start = behind(b, start, first, vector)?;
        for (at, place) in held.places.iter().enumerate() {
            let there = held.truth(b, at)?;
            let memory = vector_at(b, start, *place, vector)?;
            let own = vector_of(b, registers, at)?;
            self.move_vector(b, memory, ends([memory, own], is_load), there)?;
        }
        Ok(())
    }

    /// Loads a thread's vectors of a tensor that is the same along rows, and aligned at its first column: of each the two that it lies across.
    fn load_across(
        &self,
        b: Builder<'c>,
        [tensor, registers]: [Val<'c>; 2],
        (held, head): (&Held<'c>, Val<'c>),
    ) -> Result<(), Failure> {
        let memref = memref_of(tensor).expected(b, "a tensor")?;
        let [vector, _] = held.values;
        let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
        for (at, place) in held.places.iter().enumerate() {
            let there = held.truth(b, at)?;
            let both = self.allocate(b, memref.element, [vector, 2])?;
            if there.is_some() {
                b.op(cute::CLEAR, &[both], &[], &[])?;
            }
            for next in 0..2 {
                let place = word(b, arith::ADDI, *place, b.i32(next)?)?;
                let memory = vector_at(b, start, place, vector)?;
                let own = vector_of(b, both, next as usize)?;
                self.move_vector(b, memory, [memory, own], there)?;
            }
            let all = b.infer(cute::MEMREF_LOAD_VEC, &[both], &[])?;
            let value = shifted(b, all, (vector, &memref), head)?;
            let own = vector_of(b, registers, at)?;
            b.op(cute::MEMREF_STORE_VEC, &[value, own], &[], &[])?;
        }
        Ok(())
    }

    /// The offset of the thread's row in a tensor, of as many bits as its layout computes with.
    fn offset(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
        let at = b.coord(&tuple([IntTuple::dynamic(), int(0)]), &[self.row])?;
        let offset = b.infer(cute::CRD2IDX, &[at, layout], &[])?;
        b.infer(cute::GET_SCALARS, &[offset], &[])
    }
}

/// The ends of a copy, from memory into registers or out of them.
fn ends<'c>([memory, own]: [Val<'c>; 2], is_load: bool) -> [Val<'c>; 2] {
    match is_load {
        true => [memory, own],
        false => [own, memory],
    }
}

/// A pointer so many elements behind another one, of which a number is a divisor.
fn behind<'c>(
    b: Builder<'c>,
    start: Val<'c>,
    elements: Val<'c>,
    divisor: i64,
) -> Result<Val<'c>, Failure> {
    let width = match elements.r#type() == b.i32_type() {
        true => 32,
        false => 64,
    };
    let divided = b.ty(&format!("!cute.i{width}<divby {divisor}>"))?;
    let elements = b.value(cute::ASSUME, &[elements], divided, &[])?;
    let leaf = Leaf::Dynamic(Dyn::new(width, divisor));
    let ty = types::int_tuple_type(b.context, &IntTuple::Leaf(leaf));
    let offset = b.value(cute::MAKE_INT_TUPLE, &[elements], ty, &[])?;
    b.infer(cute::ADD_OFFSET, &[start, offset], &[])
}

/// A vector in memory, by its place among those from a pointer on.
fn vector_at<'c>(
    b: Builder<'c>,
    start: Val<'c>,
    place: Val<'c>,
    vector: i64,
) -> Result<Val<'c>, Failure> {
    let elements = word(b, arith::MULI, place, b.i32(vector)?)?;
    let start = behind(b, start, elements, vector)?;
    let layout = Layout::leaf(vector, 1).map_err(wrong(b))?;
    laid_out(b, start, layout)
}

/// One of a thread's vectors.
pub(super) fn vector_of<'c>(
    b: Builder<'c>,
    registers: Val<'c>,
    at: usize,
) -> Result<Val<'c>, Failure> {
    let at = coord(b, tuple([IntTuple::underscore(), int(at as i64)]))?;
    b.infer(cute::SLICE, &[registers, at], &[])
}

/// The elements from the `head`th on, which is below the length of a vector, of two vectors behind each other: words first, and then bits of words.
fn shifted<'c>(
    b: Builder<'c>,
    both: Val<'c>,
    (vector, memref): (i64, &MemRef<'c>),
    head: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let bits = element_bits(memref.element).expected(b, "an element")?;
    let (word_type, long) = (b.i32_type(), types::int_type(b.context, 64));
    let count = vector * bits / WORD;
    let all = b.value(
        vector::BITCAST,
        &[both],
        b.vector(2 * count, word_type),
        &[],
    )?;
    let words = (0..2 * count).map(|at| {
        let position = [("static_position", b.i64_array(&[at]))];
        b.value(vector::EXTRACT, &[all], word_type, &position)
    });
    let mut words = words.collect::<Result<Vec<_>, Failure>>()?;
    let distance = word(b, arith::MULI, head, b.i32(bits)?)?;
    let mut step = count / 2;
    while step > 0 {
        let is_far = word(b, arith::ANDI, distance, b.i32(step * WORD)?)?;
        let is_far = b.compare(Predicate::Ne, is_far, b.i32(0)?)?;
        let (near, far) = (words.iter(), &words[step as usize..]);
        let moved = near
            .zip(far)
            .map(|(near, far)| b.value(arith::SELECT, &[is_far, *far, *near], word_type, &[]));
        words = moved.collect::<Result<_, Failure>>()?;
        step /= 2;
    }
    if bits < WORD {
        let distance = word(b, arith::ANDI, distance, b.i32(WORD - 1)?)?;
        let distance = b.value(arith::EXTUI, &[distance], long, &[])?;
        let half = b.constant(long, WORD)?;
        let moved = words.windows(2).map(|two| {
            let [low, high] = [two[0], two[1]].map(|x| b.value(arith::EXTUI, &[x], long, &[]));
            let high = b.value(arith::SHLI, &[high?, half], long, &[])?;
            let both = b.value(arith::ORI, &[low?, high], long, &[])?;
            let both = b.value(arith::SHRUI, &[both, distance], long, &[])?;
            b.value(arith::TRUNCI, &[both], word_type, &[])
        });
        words = moved.collect::<Result<_, Failure>>()?;
    }
    words.truncate(count as usize);
    let value = b.value(
        vector::FROM_ELEMENTS,
        &words,
        b.vector(count, word_type),
        &[],
    )?;
    b.value(
        vector::BITCAST,
        &[value],
        b.vector(vector, memref.element),
        &[],
    )
}
