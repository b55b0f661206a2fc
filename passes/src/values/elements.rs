//! Single elements, and what is done with each element of a fragment.

use super::{
    Values,
    known::{Known, Start},
    registers::{File, View, extract_element},
};
use cute_ir::ops::{arith, cute, vector};
use cute_ir::{
    Expected, Failure,
    args::ElementArgs,
    interpret::Place,
    mlir::*,
    types::{self, MemRef, memref_of},
};

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
        self.mapping.insert(key(op.value()), value);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        op: cute::MemrefStore<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let view = self.element(op.op(), b)?;
        let value = self.map(op.value());
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

    pub(super) fn convert(&mut self, op: cute::Convert<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let (from, to) = (op.tensor(), op.result());
        let view = self.registers(from, b)?;
        let memref = memref_of(to).expected(op.op(), "a tensor as its result")?;
        let bits = |ty| types::element_bits(ty).unwrap_or(0);
        let from_type = memref_of(from)
            .expected(op.op(), "a tensor as its operand")?
            .element;
        if let Some(small) = [from_type, memref.element]
            .into_iter()
            .find(|ty| types::register_type(*ty) != *ty)
        {
            return Err(b.error(format!(
                "converts {from_type} to {}, and {small} has no conversion yet; convert between f16, bf16, f32 and f64",
                memref.element
            )));
        }
        let name = match bits(memref.element).cmp(&bits(view.element)) {
            std::cmp::Ordering::Less => arith::TRUNCF,
            std::cmp::Ordering::Greater => arith::EXTF,
            std::cmp::Ordering::Equal => {
                return Err(b.error("expected types of different widths"));
            }
        };
        let mut file = File::new(&memref, b.location).map_err(|e| b.error(e))?;
        let source = &self.files[view.file];
        let same = view.offset == 0 && source.chunk == file.chunk && view.element == source.element;
        if same && source.vectors.len() == file.vectors.len() {
            // The same arrangement, a vector at a time.
            let ty = b.vector(file.chunk, file.element);
            for (old, new) in source.vectors.clone().iter().zip(&mut file.vectors) {
                let old = old.ok_or_else(|| self.uninitialized(view.file, b))?;
                *new = Some(b.value(name, &[old], ty, &[])?);
            }
            self.add_file(to, file, memref);
            return Ok(());
        }
        let places = view.places(b)?;
        let value = self.read(&view, &places, b)?;
        let ty = b.vector(places.len() as i64, memref.element);
        let value = b.value(name, &[value], ty, &[])?;
        let view = self.add_file(to, file, memref);
        self.write(&view, &view.places(b)?, value, b)
    }

    /// A new register tensor.
    fn add_file(&mut self, value: Val<'c>, file: File<'c>, memref: MemRef<'c>) -> View<'c> {
        self.files.push(file);
        let start = Start {
            file: self.files.len() - 1,
            offset: 0,
        };
        let place = Place { memref, start };
        let view = View::at(&place);
        self.views.set(value, place);
        view
    }
}
