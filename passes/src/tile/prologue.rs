//! The factors of a turn, and what prologues make of them, with the tensors that these read beside them: by tiles along K, or once for all of them.

use super::{
    Gemm,
    kernel::{Located, Tiles, block_copy, block_registers, tile_of},
    matrix::{Matrices, Matrix},
    region::On,
};
use crate::plan::Fed;
use cute_ir::ops::cute;
use cute_ir::{Expected, Failure, mlir::*, tensor, types};
use cute_layout::{IntTuple, Layout, Operand, int, tuple};

/// The mode along K of a factor, and of what is read beside it.
const K: usize = 1;

/// A tensor that a prologue reads, in a kernel.
pub(super) enum Beside<'c> {
    /// Its tiles along K.
    Tiles(Tiles<'c>),
    /// A tile in registers, which stands for all of them.
    Held(Val<'c>),
}

impl<'c> Beside<'c> {
    /// The tile at a coordinate of all tiles along K.
    pub(super) fn at(&self, b: Builder<'c>, coord: Val<'c>) -> Result<Val<'c>, Failure> {
        match self {
            Beside::Tiles(tiles) => Ok(tiles.at(b, coord)?.tensor),
            Beside::Held(tile) => Ok(*tile),
        }
    }

    /// Tells whether it is a whole matrix, of which a tile has some coordinates.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Beside::Tiles(tiles) if tiles.is_whole)
    }
}

impl<'c> Gemm<'c> {
    /// The tensors that the prologue of an operand reads beside it; `part` gives a block's tiles of such a tensor, with what may reach over the
    /// end where that is asked for.
    pub(super) fn beside(
        &self,
        b: Builder<'c>,
        operand: Operand,
        part: impl Fn(&Matrix<'c>, bool) -> Result<Tiles<'c>, Failure>,
    ) -> Result<Vec<Beside<'c>>, Failure> {
        let (b, keep) = (b.step("load inputs"), IntTuple::underscore);
        let held = |matrix: &Matrix<'c>| {
            let first = b.coord(&tuple([keep(), keep(), int(0)]), &[])?;
            let mut tile = part(matrix, true)?.at(b, first)?;
            let extents = self.plan.computed(operand);
            if extents != self.plan.extents(operand) {
                tile.tensor = self.along_k(b, operand, tile.tensor, 0)?;
            }
            let registers = registers_for(matrix, extents);
            let registers = registers.map_err(|e| b.error(e))?.to_type(b.location)?;
            let registers = b.value(cute::MEMREF_ALLOCA, &[], registers, &[])?;
            block_copy(b, operand, [tile.tensor, registers], &tile.located(0))?;
            Ok(Beside::Held(registers))
        };
        let all = self.matrices.beside.get(operand as usize).into_iter();
        let all = all.flatten().map(|matrix| match matrix.is_same_along(K) {
            true => held(matrix),
            false => Ok(Beside::Tiles(part(matrix, false)?)),
        });
        all.collect()
    }

    /// Computes what is multiplied of a tile of a factor, or of a part of it along K: in registers where the tile lies in shared memory as it is stored, else in its place there.
    pub(super) fn compute(
        &self,
        l: Builder<'c>,
        operand: Operand,
        (inputs, made): (&[Val<'c>], Val<'c>),
        located: &Located<'c>,
        value: impl Fn(usize) -> Val<'c>,
    ) -> Result<(), Failure> {
        let prologue = self.prologues[operand as usize].as_ref();
        let on = On {
            operand,
            inputs,
            outputs: &[made],
            reduce: &[],
            located,
        };
        let prologue = prologue.expected(l, "a prologue")?;
        prologue.transform(l, on, value)
    }

    /// Brings a turn's tile of a factor to where a product reads it, and returns that place: copied to its place in shared memory, computed there, or copied there as it is stored and
    /// computed in registers. `beside` are the tensors that the prologue reads, of which it takes the tiles at a coordinate, and `value` gives an argument of the function.
    pub(super) fn fill(
        &self,
        l: Builder<'c>,
        operand: Operand,
        (tile, shared): (Tiles<'c>, Val<'c>),
        (beside, coord): (Vec<Beside<'c>>, Val<'c>),
        value: impl Fn(usize) -> Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let computes = self.plan.computes_fragments(operand);
        let in_registers = computes.map_err(|e| l.error(e))?;
        let mut located = tile.located(0);
        if self.prologues[operand as usize].is_none() {
            block_copy(l, operand, [tile.tensor, shared], &located)?;
            return Ok(shared);
        }
        let mut inputs = vec![tile.tensor];
        if in_registers {
            block_copy(l, operand, [tile.tensor, shared], &located)?;
            located = Located::default();
            inputs = vec![shared];
        }
        for other in beside {
            if other.is_whole() {
                located.whole.push(inputs.len() as i64);
            }
            inputs.push(other.at(l, coord)?);
        }
        let made = match in_registers {
            true => self.multiplied_registers(l, operand)?,
            false => shared,
        };
        self.compute(l, operand, (&inputs, made), &located, value)?;
        Ok(made)
    }

    /// A part along K, as much as is computed at once, of a turn's tile of a factor or of a tensor that is read beside it.
    pub(super) fn along_k(
        &self,
        l: Builder<'c>,
        operand: Operand,
        tile: Val<'c>,
        part: i64,
    ) -> Result<Val<'c>, Failure> {
        let extents = tile_of(self.plan.computed(operand)).map_err(|e| l.error(e))?;
        let extents = l.static_value(types::tile_type(l.context, &extents))?;
        let coord = l.coord(&tuple([int(0), int(part)]), &[])?;
        l.infer(cute::LOCAL_TILE, &[tile, extents, coord], &[])
    }

    /// The elements of A or B that are computed at once in registers, of the type that is multiplied.
    pub(super) fn multiplied_registers(
        &self,
        b: Builder<'c>,
        operand: Operand,
    ) -> Result<Val<'c>, Failure> {
        let multiplied = self.plan.multiplied().map_err(|e| b.error(e))?;
        let [rows, columns] = self.plan.computed(operand);
        let registers = block_registers(multiplied[operand as usize], rows, columns);
        let registers = registers.map_err(|e| b.error(e))?.to_type(b.location)?;
        b.value(cute::MEMREF_ALLOCA, &[], registers, &[])
    }
}

/// A tile of registers that the threads of a block hold together, of so many rows and columns, once where it is the same along a mode.
fn registers_for<'c>(
    matrix: &Matrix<'c>,
    [rows, columns]: [i64; 2],
) -> Result<types::MemRef<'c>, String> {
    let same = if matrix.is_same_along(0) { 0 } else { 1 };
    let shape = tuple([int(rows), int(columns)]);
    let layout = Layout::new(shape, tuple([int(same), int(0)])).map_err(|e| e.to_string())?;
    Ok(tensor::registers(matrix.memref.element, layout))
}

impl<'c> Matrices<'c> {
    /// The elements that the prologue of a factor takes from global memory.
    /// Errors: groups along K of several sizes.
    pub(super) fn fed(&self, factor: usize) -> Result<Fed<'c>, String> {
        let bits = |matrix: &Matrix| matrix.memref.element_bytes() * 8;
        let stored = &self.product[factor];
        let mut fed = Fed {
            stored: stored.memref.element,
            vector: stored.access.vector,
            bits: bits(stored),
            held: 0,
            group: None,
            along_k: false,
        };
        for matrix in &self.beside[factor] {
            let groups = [fed.group, matrix.group()];
            if let [Some(one), Some(other)] = groups
                && one != other
            {
                return Err(format!(
                    "expected groups of one size along K, found {one} and {other} in {}; repeat numbers in the smaller groups",
                    matrix.name
                ));
            }
            fed.group = fed.group.or(matrix.group());
            fed.along_k |= !matrix.is_same_along(K);
            match matrix.group().is_some() || (0..=K).any(|mode| matrix.is_same_along(mode)) {
                true => fed.held += 1,
                false => fed.bits += bits(matrix),
            }
        }
        Ok(fed)
    }
}
