//! Products of one thread.

use super::Lower;
use cute_ir::ops::cute;
use cute_ir::{
    Failure, algorithm,
    args::GemmArgs,
    hopper,
    mlir::*,
    types::{self, Space},
};
use melior::ir::ValueLike;

impl<'c> Lower<'c> {
    /// A product as `(mma, D, A, B, C)` of fragments; false where it is one.
    pub(super) fn gemm(&self, args: GemmArgs<'c>) -> Result<bool, Failure> {
        match args {
            GemmArgs::Mma { mma, d, a, b, c } => self.product(mma, [d, a, b, c], true),
            GemmArgs::MmaInPlace { mma, a, b, c } => self.product(mma, [c, a, b, c], false),
            GemmArgs::Elements { d, a, b, c } => {
                self.product(self.multiply_add(a, b, c)?, [d, a, b, c], false)
            }
        }
    }

    /// The atom of one multiply-add.
    fn multiply_add(&self, a: Val<'c>, b: Val<'c>, c: Val<'c>) -> Result<Val<'c>, Failure> {
        let ty = format!(
            "!cute_nvgpu.atom.universal_fma<1x1x1, ({}, {}) -> {} >",
            self.memref(a)?.element,
            self.memref(b)?.element,
            self.memref(c)?.element
        );
        self.b.value(cute::MAKE_ATOM, &[], self.b.ty(&ty)?, &[])
    }

    /// `as_is`: the operands are those of the op, which may stay.
    pub(super) fn product(
        &self,
        mma: Val<'c>,
        [d, a, b, c]: [Val<'c>; 4],
        as_is: bool,
    ) -> Result<bool, Failure> {
        if types::mma_row(mma.r#type()).is_some_and(|atom| hopper::is_asynchronous(&atom)) {
            return self.warpgroup_product(mma, [d, a, b, c], as_is);
        }
        let memrefs = [self.memref(a)?, self.memref(b)?, self.memref(c)?];
        let values = match algorithm::product_of(mma.r#type()) {
            Some(product) => product.map_err(self.wrong())?.values,
            None => return Err(self.b.error("expected an MMA atom or a tiled MMA")),
        };
        let extents = algorithm::product_extents(
            [&memrefs[0].layout, &memrefs[1].layout, &memrefs[2].layout],
            values,
        )
        .map_err(self.wrong())?;
        let in_registers = memrefs.iter().all(|m| m.space == Space::Rmem);
        if in_registers && (key(d) == key(c) || extents.k == 1) {
            if as_is {
                return Ok(false);
            }
            self.b.op(cute::GEMM, &[mma, d, a, b, c], &[], &[])?;
            return Ok(true);
        }
        self.check_count("steps of K", extents.k, &memrefs[0].layout)?;
        // A step of K at a time: its operands are loaded, and D is what is added to from the second step on.
        for k in 0..extents.k {
            let at = |v: Val<'c>| -> Result<Val<'c>, Failure> {
                let rank = self.memref(v)?.layout.rank();
                let part = if extents.has_k {
                    self.at_last(v, rank, k)?
                } else {
                    v
                };
                self.loaded(part)
            };
            let (left, right) = (at(a)?, at(b)?);
            let sum = if k == 0 { c } else { d };
            self.b
                .op(cute::GEMM, &[mma, d, left, right, sum], &[], &[])?;
        }
        Ok(true)
    }
}
