//! Inputs of a map whose neighbours lie along rows: a block reads its part of them along rows into shared memory, and each thread what it
//! needs from there.

use super::{Held, Mapped, Part, memory::coord, word, wrong};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, gpu};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    tensor,
    types::{self, MemRef, Space, memref_of},
};
use cute_layout::{IntTuple, Layout, Swizzle, Tile, int, tuple};

impl<'c> Mapped<'c> {
    /// Reads the block's part of those of some inputs that are staged; returns their places and the tiles in shared memory.
    pub(super) fn stage(
        &self,
        b: Builder<'c>,
        inputs: &[usize],
    ) -> Result<Vec<(usize, Val<'c>)>, Failure> {
        let staged = inputs
            .iter()
            .filter(|at| self.staged.contains(&(**at as i64)));
        let mut tiles = Vec::new();
        for at in staged {
            tiles.push((*at, self.tile(b, self.inputs[*at])?));
        }
        if !tiles.is_empty() {
            b.op(gpu::BARRIER, &[], &[], &[])?;
        }
        Ok(tiles)
    }

    /// A thread's vectors of a tile in shared memory.
    pub(super) fn load_staged(&self, b: Builder<'c>, shared: Val<'c>) -> Result<Val<'c>, Failure> {
        let element = memref_of(shared).expected(b, "a tensor")?.element;
        let values = [self.vector, self.vectors];
        let registers = self.allocate(b, element, values)?;
        let held = Held {
            values,
            places: self.indices(b, b.i32(0)?)?,
            there: None,
            head: None,
            part: Part::default(),
        };
        self.move_vectors(b, [shared, registers], self.own_row, &held, true)?;
        Ok(registers)
    }

    /// The block's part of an input in shared memory.
    fn tile(&self, b: Builder<'c>, input: Val<'c>) -> Result<Val<'c>, Failure> {
        let memref = memref_of(input).expected(b, "a tensor")?;
        let [rows, threads] = self.threads;
        let columns = threads * self.vector * self.vectors;
        let layout = Layout::col_major(&tuple([rows, columns].map(int))).map_err(wrong(b))?;
        let swizzle = self.swizzle(rows * memref.element_bytes(), memref.element_bytes());
        let swizzle = swizzle.map_err(wrong(b))?;
        let shared = MemRef {
            space: Space::Smem,
            align: swizzle.period(),
            swizzle: Some(swizzle),
            ..tensor::registers(memref.element, layout)
        };
        let ty = shared.to_type(b.location)?;
        let shared = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
        // Neighbouring threads are neighbours along rows.
        let vector = self.row_vector;
        let across = b.i32(rows / vector)?;
        let own_row = word(b, arith::REMUI, self.thread, across)?;
        let own_column = word(b, arith::DIVUI, self.thread, across)?;
        let first_row = word(b, arith::DIVUI, self.corner[0], b.i32(vector)?)?;
        let row = word(b, arith::ADDI, first_row, own_row)?;
        let tile = Tile::from_shape(&tuple([vector, 1].map(int))).map_err(wrong(b))?;
        let tile = b.static_value(types::tile_type(b.context, &tile))?;
        let part = |tensor: Val<'c>, row: Val<'c>, column: Val<'c>| {
            let at = tuple([IntTuple::dynamic(), IntTuple::dynamic()]);
            let at = b.coord(&at, &[row, column])?;
            b.infer(cute::LOCAL_TILE, &[tensor, tile, at], &[])
        };
        let end = word(b, arith::DIVUI, self.extents[0], b.i32(vector)?)?;
        let is_row = b.compare(Predicate::Slt, row, end)?;
        let step = threads * vector;
        let mut loaded = Vec::new();
        for turn in 0..columns / step {
            let own = word(b, arith::ADDI, own_column, b.i32(turn * step)?)?;
            let column = word(b, arith::ADDI, self.corner[1], own)?;
            let is_column = b.compare(Predicate::Slt, column, self.extents[1])?;
            let truth = types::int_type(b.context, 1);
            let there = b.value(arith::ANDI, &[is_row, is_column], truth, &[])?;
            let memory = part(input, row, column)?;
            let layout = Layout::leaf(vector, 1).map_err(wrong(b))?;
            let ty = MemRef {
                align: vector * memref.element_bytes(),
                ..tensor::registers(memref.element, layout)
            };
            let registers = b.value(cute::MEMREF_ALLOCA, &[], ty.to_type(b.location)?, &[])?;
            // What is not there is read from shared memory all the same, and used for nothing.
            b.op(cute::CLEAR, &[registers], &[], &[])?;
            let one = Layout::leaf(1, 0).map_err(wrong(b))?;
            let ty = tensor::registers(truth, one).to_type(b.location)?;
            let predicate = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
            let zero = coord(b, int(0))?;
            b.op(cute::MEMREF_STORE, &[predicate, zero, there], &[], &[])?;
            let flat = line(b, memory, vector)?;
            self.move_vector(b, flat, [flat, registers], Some(predicate))?;
            loaded.push((registers, part(shared, own_row, own)?));
        }
        for (registers, place) in loaded {
            let place = line(b, place, vector)?;
            b.op(cute::AUTOVEC_COPY, &[registers, place], &[], &[])?;
        }
        Ok(shared)
    }

    /// The swizzle of a tile whose columns have so many bytes, so that neither vectors along rows nor elements of neighbouring threads along
    /// columns meet in a bank: the threads' columns choose among the places of a column.
    fn swizzle(&self, column: i64, element: i64) -> Result<Swizzle, cute_layout::LayoutError> {
        let log = |n: i64| i64::from(n.max(1).ilog2());
        if self.vector == 1 {
            let least = log(element).max(2);
            return Swizzle::new((log(column) - least).clamp(0, 5), least, 5);
        }
        Swizzle::new(3, 4, log(column) + log(self.vector) - 4)
    }
}

/// The rows of a tile of one column as one mode.
fn line<'c>(b: Builder<'c>, tile: Val<'c>, rows: i64) -> Result<Val<'c>, Failure> {
    let stride = i64::from(rows > 1);
    let rows = Layout::leaf(rows, stride).map_err(wrong(b))?;
    let rows = b.static_value(types::layout_type(b.context, &rows))?;
    b.infer(cute::COMPOSITION, &[tile, rows], &[])
}
