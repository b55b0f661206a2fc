//! Single elements, and what is done with each element of a fragment.

use super::{
    Values,
    known::Known,
    registers::{View, extract_element},
};
use cute_ir::ops::{arith, cute, vector};
use cute_ir::{Expected, Failure, args::ElementArgs, mlir::*, types};
use melior::ir::{Type, ValueLike};

/// The bits of a value as a value of that type; itself where it is of it.
fn as_type<'c>(b: Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
    match value.r#type() == ty {
        true => Ok(value),
        false => b.value(arith::BITCAST, &[value], ty, &[]),
    }
}

impl<'c> Values<'c> {
    /// The register of the element that an op is about.
    fn element(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<View<'c>, Failure> {
        let element = ElementArgs::of(op).expected(op, "a tensor and a coordinate")?;
        let mut known = Known::new(op, b, &self.mapping, &mut self.files);
        let view = View::at(&self.views.element(&mut known, element)?);
        self.touch(view.file, b)?;
        Ok(view)
    }

    pub(super) fn load(&mut self, op: cute::MemrefLoad<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let view = self.element(op.op(), b)?;
        let vector = self.read(&view, &[view.offset], b)?;
        let value = extract_element(b, vector, 0, view.element)?;
        // Registers hold the bits of a number of 8 bits.
        let value = as_type(b, value, op.value().r#type())?;
        self.mapping.insert(key(op.value()), value);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        op: cute::MemrefStore<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let view = self.element(op.op(), b)?;
        let value = as_type(b, self.map(op.value()), view.element)?;
        let ty = b.vector(1, view.element);
        let vector = b.value(vector::FROM_ELEMENTS, &[value], ty, &[])?;
        self.write(&view, &[view.offset], vector, b)
    }

    pub(super) fn load_vector(
        &mut self,
        op: cute::MemrefLoadVec<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let view = self.registers(op.tensor(), b)?;
        let value = self.read(&view, &view.places(b)?, b)?;
        self.mapping.insert(key(op.value()), value);
        Ok(())
    }

    pub(super) fn store_vector(
        &mut self,
        op: cute::MemrefStoreVec<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let view = self.registers(op.tensor(), b)?;
        let value = self.map(op.value());
        self.write(&view, &view.places(b)?, value, b)
    }

    pub(super) fn clear(&mut self, value: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let view = self.registers(value, b)?;
        let places = view.places(b)?;
        let whole = {
            let file = &self.files[view.file];
            places.len() as i64 == file.chunk * file.vectors.len() as i64
        };
        let zero = |ty, element| {
            let zero = if types::is_float(element) { "0.0" } else { "0" };
            let zero = b.attribute(&format!("dense<{zero}> : {ty}"))?;
            b.value(arith::CONSTANT, &[], ty, &[("value", zero)])
        };
        if whole {
            self.note_written(view.file, b)?;
            let file = &mut self.files[view.file];
            let ty = b.vector(file.chunk, file.element);
            file.vectors.fill(Some(zero(ty, file.element)?));
            return Ok(());
        }
        let ty = b.vector(places.len() as i64, view.element);
        let zero = zero(ty, view.element)?;
        self.write(&view, &places, zero, b)
    }
}
