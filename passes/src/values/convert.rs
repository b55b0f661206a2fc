//! `cute.convert`: each element of a fragment as another number.

use super::{
    Values,
    known::Start,
    registers::{File, View},
};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    interpret::Place,
    mlir::*,
    types::{self, MemRef, memref_of},
};
use melior::ir::{Type, ValueLike, r#type::IntegerType};

/// The number of `ogt`, "ordered and greater", among the predicates of `arith.cmpf`.
const OGT: i64 = 2;

/// The type of an element, as its conversions ask.
#[derive(Clone, Copy)]
enum Number {
    /// A floating-point number of so many bits.
    Float(i64),
    /// An integer of so many bits, with a sign or without.
    Int(i64, bool),
}

impl Number {
    fn of(ty: Type<'_>, b: Builder<'_>) -> Result<Self, Failure> {
        let bits = types::element_bits(ty).expected(b, "a number")?;
        if types::is_float(ty) {
            return Ok(Number::Float(bits));
        }
        let unsigned = IntegerType::try_from(ty).is_ok_and(|ty| ty.is_unsigned());
        Ok(Number::Int(bits, !unsigned))
    }
}

/// A vector of registers that hold elements of type `from`, as registers that hold these numbers as elements of type `to`.
fn converted<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    (from, to): (Type<'c>, Type<'c>),
) -> Result<Val<'c>, Failure> {
    let (length, _) = vector_of(value.r#type()).expected(b, "a vector")?;
    let (source, target) = (Number::of(from, b)?, Number::of(to, b)?);
    let vector = |element| b.vector(length, element);
    let apply = |name, x: Val<'c>, element| b.value(name, &[x], vector(element), &[]);
    let (f16, f32) = (b.ty("f16")?, b.ty("f32")?);
    // Registers hold the bits of numbers of 8 bits.
    let float = |x| match source {
        Number::Float(8) => apply(arith::BITCAST, x, from),
        _ => Ok(x),
    };
    let narrowed = |x| {
        apply(
            arith::BITCAST,
            apply(arith::TRUNCF, x, to)?,
            types::register_type(to),
        )
    };
    match (source, target) {
        (Number::Float(8), Number::Float(8)) => narrowed(apply(arith::EXTF, float(value)?, f16)?),
        (Number::Float(have), Number::Float(8)) => match have == 16 && from != f16 {
            true => narrowed(apply(arith::EXTF, value, f32)?),
            false => narrowed(value),
        },
        (Number::Float(have), Number::Float(want)) if have < want => {
            apply(arith::EXTF, float(value)?, to)
        }
        (Number::Float(have), Number::Float(want)) if have > want => {
            apply(arith::TRUNCF, value, to)
        }
        (Number::Float(_), Number::Float(_)) => {
            apply(arith::TRUNCF, apply(arith::EXTF, value, f32)?, to)
        }
        (Number::Int(_, signed), Number::Float(want)) => {
            let name = if signed { arith::SITOFP } else { arith::UITOFP };
            match want {
                // What f32 has no room for is more than a number of 8 bits has, too.
                8 => narrowed(apply(name, value, f32)?),
                _ => apply(name, value, to),
            }
        }
        (Number::Float(have), Number::Int(want, signed)) => {
            let mut wide = float(value)?;
            let ty = if have == 64 { from } else { f32 };
            if have < 32 {
                wide = apply(arith::EXTF, wide, ty)?;
            }
            let precision = if have == 64 { 53 } else { 24 };
            let held = types::register_type(to);
            let [least, most] = range(want, signed, precision);
            let limit = |value: f64| {
                let value = b.attribute(&format!("dense<{value:?}> : {}", vector(ty)))?;
                b.value(arith::CONSTANT, &[], vector(ty), &[("value", value)])
            };
            let bounded = b.value(arith::MAXNUMF, &[wide, limit(least)?], vector(ty), &[])?;
            let bounded = b.value(arith::MINNUMF, &[bounded, limit(most)?], vector(ty), &[])?;
            let name = if signed { arith::FPTOSI } else { arith::FPTOUI };
            let number = apply(name, bounded, held)?;
            let magnitude = want - i64::from(signed);
            if magnitude <= precision {
                return Ok(number);
            }
            // The largest integer is no number of the source's type.
            let greater = [("predicate", b.i64_attribute(OGT))];
            let truths = vector(b.ty("i1")?);
            let beyond = b.value(arith::CMPF, &[wide, limit(most)?], truths, &greater)?;
            let largest = u64::MAX >> (64 - magnitude);
            let largest = b.attribute(&format!("dense<{largest}> : {}", vector(held)))?;
            let largest = b.value(arith::CONSTANT, &[], vector(held), &[("value", largest)])?;
            b.value(arith::SELECT, &[beyond, largest, number], vector(held), &[])
        }
        (Number::Int(have, signed), Number::Int(want, _)) => {
            let name = match have.cmp(&want) {
                std::cmp::Ordering::Less if signed => arith::EXTSI,
                std::cmp::Ordering::Less => arith::EXTUI,
                std::cmp::Ordering::Greater => arith::TRUNCI,
                std::cmp::Ordering::Equal => return Ok(value),
            };
            apply(name, value, types::register_type(to))
        }
    }
}

/// The least and the most of what integers of some bits and floating-point numbers of some bits of precision both have.
fn range(bits: i64, signed: bool, precision: i64) -> [f64; 2] {
    let power = |n: i64| 2f64.powi(n as i32);
    let magnitude = if signed { bits - 1 } else { bits };
    let most = match magnitude > precision {
        true => power(magnitude) - power(magnitude - precision),
        false => power(magnitude) - 1.0,
    };
    [if signed { -power(magnitude) } else { 0.0 }, most]
}

impl<'c> Values<'c> {
    pub(super) fn convert(&mut self, op: cute::Convert<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let (from, to) = (op.tensor(), op.result());
        let view = self.registers(from, b)?;
        let memref = memref_of(to).expected(op.op(), "a tensor as its result")?;
        let source = memref_of(from).expected(op.op(), "a tensor as its operand")?;
        let types = (source.element, memref.element);
        let mut file = File::new(&memref, b.location).map_err(|e| b.error(e))?;
        let source = &self.files[view.file];
        let same = view.offset == 0 && source.chunk == file.chunk && view.element == source.element;
        if same && source.vectors.len() == file.vectors.len() {
            // The same arrangement, a vector at a time.
            for (old, new) in source.vectors.clone().iter().zip(&mut file.vectors) {
                let old = old.ok_or_else(|| self.uninitialized(view.file, b))?;
                *new = Some(converted(b, old, types)?);
            }
            self.add_file(to, file, memref);
            return Ok(());
        }
        let value = self.read(&view, &view.places(b)?, b)?;
        let value = converted(b, value, types)?;
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

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn the_range_is_of_numbers_that_both_types_have() {
        assert_eq!(range(8, true, 24), [-128.0, 127.0]);
        assert_eq!(range(8, false, 24), [0.0, 255.0]);
        assert_eq!(range(32, true, 24), [-2147483648.0, 2147483520.0]);
        assert_eq!(range(32, true, 53), [-2147483648.0, 2147483647.0]);
        assert_eq!(
            range(64, false, 24)[1] as f32 as u64,
            u64::MAX - (1 << 40) + 1
        );
    }
}
