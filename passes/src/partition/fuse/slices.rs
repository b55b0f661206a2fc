//! Products along K of which a block does not hold all: a loop over slices of K within each tile of columns.

use super::{Buffers, Fuse, tiles::Place, values::Values};
use crate::fused::{COLUMNS, Domain, INNER, Phase, ROWS};
use cute_ir::{
    Expected, Failure,
    fused::Product,
    mlir::*,
    ops::{cute, scf},
};
use cute_layout::Operand;
use melior::ir::operation::OperationLike;
use std::collections::{HashMap, HashSet};

impl<'c> Fuse<'c> {
    /// Sums up the products along K that a turn needs in a loop over slices of K, of which the pipeliner has several under way.
    pub(super) fn multiply_slices(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        (shared, column): (&Buffers<'c>, Val<'c>),
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let products = self.needed_scores(phase, values);
        let Some(first) = products.first() else {
            return Ok(());
        };
        let [_, _, slice] = self.way(first).plan.tile;
        let mut sums = Vec::new();
        for product in &products {
            let b = b.at_location(product.reduce.op().location());
            let own = self.accumulators(b, self.way(product))?;
            b.op(cute::CLEAR, &[own], &[], &[])?;
            sums.push(own);
        }
        let (l, turn) = self.turns(b, (INNER, slice), self.stages())?;
        self.fill_slices(l, &products, shared, [column, turn])?;
        let mut loaded: HashMap<ValueKey, Val<'c>> = HashMap::new();
        for (product, sums) in products.iter().zip(&sums) {
            let l = l.at_location(product.reduce.op().location());
            let way = self.way(product);
            let mut factors = Vec::new();
            for (operand, factor) in [Operand::A, Operand::B]
                .into_iter()
                .zip(self.split(l, product)?)
            {
                if let Some(fragment) = loaded.get(&key(factor)) {
                    factors.push(*fragment);
                    continue;
                }
                let buffer = shared.get(&key(factor));
                let buffer = buffer.expected(l, "a factor in shared memory")?;
                let step = match operand {
                    Operand::A => "load A",
                    _ => "load B",
                };
                let fragment = self.load_factor(l.step(step), way, operand, buffer.shared)?;
                loaded.insert(key(factor), fragment);
                factors.push(fragment);
            }
            let operands = [way.mma, *sums, factors[0], factors[1], *sums];
            l.op(cute::GEMM, &operands, &[], &[])?;
        }
        l.op(scf::YIELD, &[], &[], &[])?;
        for (product, sums) in products.iter().zip(sums) {
            values
                .registers
                .insert(key(product.reduce.result()), (Domain::Columns, sums));
        }
        Ok(())
    }

    /// Copies the slices of factors of products along K to shared memory, of a tile of columns and a slice by their numbers.
    fn fill_slices(
        &self,
        b: Builder<'c>,
        products: &[Product<'c>],
        buffers: &Buffers<'c>,
        [column, slice]: [Val<'c>; 2],
    ) -> Result<(), Failure> {
        let mut filled = HashSet::new();
        for product in products {
            let way = self.way(product);
            let [m, n, k] = way.plan.tile;
            let b = b.at_location(location_of(product.reduce.result()));
            for factor in self.split(b, product)? {
                if !filled.insert(key(factor)) {
                    continue;
                }
                let buffer = buffers.get(&key(factor));
                let buffer = buffer.expected(b, "a factor in shared memory")?;
                let (mode, extent, at, step) = match buffer.operand {
                    Operand::A => (ROWS, m, self.at[0], "copy A"),
                    _ => (COLUMNS, n, column, "copy B"),
                };
                let places = [Place::At(at), Place::At(slice)];
                let tensor = self.inputs[buffer.input];
                let part = self.part(b, tensor, [mode, INNER], [extent, k], places)?;
                self.copy_shared(b.step(step), way, buffer.operand, part, buffer.shared)?;
            }
        }
        Ok(())
    }
}
