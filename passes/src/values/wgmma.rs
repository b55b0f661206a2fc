//! Products of warpgroups, which go on while their threads do: accumulators are values that every fence, product and wait takes and
//! gives, so that nothing is moved past them.

use super::{Values, registers::places};
use cute_ir::ops::cute_nvgpu;
use cute_ir::{Expected, Failure, algorithm, args::GemmArgs, hopper, mlir::*, types};
use cute_layout::Layout;
use melior::ir::{Type, ValueLike};

/// Tells whether products of this type are those of a warpgroup.
pub(super) fn is_of_a_warpgroup(mma: Type<'_>) -> bool {
    types::mma_row(mma).is_some_and(|atom| hopper::is_asynchronous(&atom))
}

impl<'c> Values<'c> {
    /// Atom by atom of M and N, each with all of K.
    pub(super) fn warpgroup_gemm(
        &mut self,
        args: GemmArgs<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let GemmArgs::Mma {
            mma,
            d,
            a,
            b: right,
            ..
        } = args
        else {
            return Err(b.error("expected a product of fragments; run cute-lower-algorithms first"));
        };
        let place = self.views.get(d).ok_or_else(|| super::known::no_start(b))?;
        let view = super::View::at(place);
        let memref = |value: Val<'c>| types::memref_of(value).expected(b, "a tensor");
        let (of_a, of_b, of_d) = (memref(a)?, memref(right)?, memref(d)?);
        let extents =
            hopper::check_product(mma.r#type(), [&of_a, &of_b, &of_d]).map_err(|e| b.error(e))?;
        let product = algorithm::product_of(mma.r#type()).expected(b, "an MMA atom")?;
        product.map_err(|e| b.error(e))?;
        let one = || Layout::leaf(1, 0).map_err(|e| b.error(e.to_string()));
        let mut modes = view.layout.modes();
        while modes.len() < 3 {
            modes.push(one()?);
        }
        let (tiled, left, right) = (self.tiled(mma, b)?, self.map(a), self.map(right));
        for m in 0..extents.m {
            for n in 0..extents.n {
                let start = view.offset + modes[1].at(m) + modes[2].at(n);
                let places = places(&modes[0], start, b)?;
                let sum = self.read(&view, &places, b)?;
                let at = [("at", b.i64_array(&[m, n]))];
                let operands = [tiled, left, right, sum];
                let sum = b.value(cute_nvgpu::ATOM_WGMMA, &operands, sum.r#type(), &at)?;
                self.write(&view, &places, sum, b)?;
            }
        }
        self.in_flight.insert(view.file);
        Ok(())
    }

    /// A fence before products or a wait for them, by which their accumulators go as values.
    pub(super) fn accumulators(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let mut files = Vec::new();
        for fragment in operands_of(op) {
            let place = self
                .views
                .get(fragment)
                .ok_or_else(|| super::known::no_start(b))?;
            if !files.contains(&place.start.file) {
                files.push(place.start.file);
            }
        }
        let mut operands = Vec::new();
        for file in &files {
            for vector in &self.files[*file].vectors {
                match vector {
                    Some(vector) => operands.push(*vector),
                    None => return Err(self.uninitialized(*file, b)),
                }
            }
        }
        let types: Vec<_> = operands.iter().map(|value| value.r#type()).collect();
        let made = b.op(name_of(op), &operands, &types, &attributes_of(op))?;
        let mut results = results_of(made).into_iter();
        for file in &files {
            for vector in &mut self.files[*file].vectors {
                *vector = results.next();
            }
        }
        if integer_of(op, "pending") == Some(0) {
            for file in files {
                self.in_flight.remove(&file);
            }
        }
        Ok(())
    }

    /// Refuses to touch the accumulators of products that may be under way (PTX ISA, wgmma: such accesses are undefined).
    pub(super) fn check_landed(&self, file: usize, b: Builder<'c>) -> Result<(), Failure> {
        if !self.in_flight.contains(&file) {
            return Ok(());
        }
        Err(b.error(
            "touches the accumulators of products that may be under way; expected a cute_nvgpu.wgmma_wait_group 0 that is given this \
             fragment between the product and here",
        ))
    }
}
