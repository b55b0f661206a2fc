//! Copies between memory and registers, atom by atom.

use super::{Values, known::Known, registers::View};
use crate::vectorize;
use cute_arith::Predicate;
use cute_ir::ops::{cute, scf};
use cute_ir::{
    Expected, Failure,
    args::ThreadCopy,
    mlir::*,
    tensor::{atom_extents, atom_values},
    types::memref_of,
    types::{self, MemRef, Space},
};
use cute_layout::atoms::{CopyAtom, Form};
use melior::ir::ValueLike;

impl<'c> Values<'c> {
    pub(super) fn copy(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let Some(ThreadCopy {
            copy,
            source,
            destination,
            predicate,
        }) = ThreadCopy::of(op)
        else {
            return Err(b.error("expected a partitioned copy; run cute-partition first"));
        };
        let copy = self.tiled(copy, b)?;
        let atom = types::copy_row(copy.r#type()).expected(b, "the atom of a copy")?;
        let (Some(from), Some(to)) = (memref_of(source), memref_of(destination)) else {
            return Err(b.error("expected tensors"));
        };
        if atom.is_auto_vectorizing() && predicate.is_none() {
            return self.copy_vectors(copy, (source, &from), (destination, &to), b);
        }
        let extents = atom_extents(&from.layout).map_err(|e| b.error(e))?;
        for at in positions(&extents) {
            let attribute = [("at", b.i64_array(&at))];
            let holds = match predicate {
                Some(predicate) => Some(self.predicate(predicate, &at, &extents, b)?),
                None => None,
            };
            if atom.form == Form::Copy {
                let mut arguments = vec![copy, self.map(source), self.map(destination)];
                arguments.extend(holds);
                b.op(cute::ATOM_COPY, &arguments, &[], &attribute)?;
                continue;
            }
            let Some(holds) = holds else {
                self.copy_atom(
                    (op, &atom),
                    copy,
                    (source, &from),
                    (destination, &to),
                    &at,
                    b,
                )?;
                continue;
            };
            if from.space == Space::Gmem && to.space == Space::Rmem && atom.spaces.is_none() {
                // One instruction, so that others run beside it.
                let (view, places) = self.atom(op, destination, &at, b)?;
                let old = self.read(&view, &places, b)?;
                let tensors = [copy, self.map(source)];
                let new = b.atom_load(tensors, &at, Some([holds, old]), old.r#type())?;
                self.write(&view, &places, new, b)?;
                continue;
            }
            // Nothing is read or written where the predicate is false.
            let old = match to.space {
                Space::Rmem => {
                    let (view, places) = self.atom(op, destination, &at, b)?;
                    Some((self.read(&view, &places, b)?, view, places))
                }
                _ => None,
            };
            let results: Vec<_> = old.iter().map(|(old, ..)| old.r#type()).collect();
            // What is written within the branch is not there behind it, but for the branch's result.
            let before = (old.as_ref()).map(|(_, view, _)| {
                let vectors = self.files[view.file].vectors.clone();
                (view.file, vectors)
            });
            let (region, block) = Detached::with_block(&[]);
            let inner = Builder::at_end(b.context, block, b.location);
            self.copy_atom(
                (op, &atom),
                copy,
                (source, &from),
                (destination, &to),
                &at,
                inner,
            )?;
            let mut regions = vec![region];
            match &old {
                Some((old, view, places)) => {
                    let new = self.read(view, places, inner)?;
                    inner.op(scf::YIELD, &[new], &[], &[])?;
                    let (region, block) = Detached::with_block(&[]);
                    Builder::at_end(b.context, block, b.location).op(
                        scf::YIELD,
                        &[*old],
                        &[],
                        &[],
                    )?;
                    regions.push(region);
                }
                None => {
                    inner.op(scf::YIELD, &[], &[], &[])?;
                    regions.push(Detached::empty());
                }
            }
            let built = b.with_regions(scf::IF, &[holds], &results, &[], regions)?;
            if let Some((file, vectors)) = before {
                self.files[file].vectors = vectors;
            }
            if let (Some((_, view, places)), [new]) = (old, &results_of(built)[..]) {
                self.write(&view, &places, *new, b)?;
            }
        }
        Ok(())
    }

    /// One atom.
    fn copy_atom(
        &mut self,
        (op, atom): (Op<'c>, &CopyAtom),
        copy: Val<'c>,
        (source, from): (Val<'c>, &MemRef<'c>),
        (destination, to): (Val<'c>, &MemRef<'c>),
        at: &[i64],
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let attribute = [("at", b.i64_array(at))];
        let value = if from.space == Space::Rmem {
            let (view, places) = self.atom(op, source, at, b)?;
            self.read(&view, &places, b)?
        } else {
            let length = register_values(from, to, b)?;
            let ty = b.vector(length, types::register_type(from.element));
            b.atom_load([copy, self.map(source)], at, None, ty)?
        };
        let value = if atom.form == Form::Move {
            b.value(cute::ATOM_MOVE, &[copy, value], value.r#type(), &[])?
        } else {
            value
        };
        if to.space == Space::Rmem {
            let (view, places) = self.atom(op, destination, at, b)?;
            return self.write(&view, &places, value, b);
        }
        b.op(
            cute::ATOM_STORE,
            &[copy, value, self.map(destination)],
            &[],
            &attribute,
        )?;
        Ok(())
    }

    /// The registers of the atom `at` of a partition that `op` copies.
    fn atom(
        &mut self,
        op: Op<'c>,
        partition: Val<'c>,
        at: &[i64],
        b: Builder<'c>,
    ) -> Result<(View<'c>, Vec<i64>), Failure> {
        let mut known = Known::new(op, b, &self.mapping, &mut self.files);
        let view = View::at(&self.views.atom(&mut known, partition, at)?);
        self.touch(view.file, b)?;
        let places = view.places(b)?;
        Ok((view, places))
    }

    /// Computes whether the atom at `at` is copied, or how many of its elements are: the predicate has the modes behind the atom's values, or those and a mode of
    /// size 1 in place of the values.
    fn predicate(
        &mut self,
        predicate: Val<'c>,
        at: &[i64],
        extents: &[i64],
        b: Builder<'c>,
    ) -> Result<Val<'c>, Failure> {
        let view = self.registers(predicate, b)?;
        let mut modes = view.layout.modes();
        let sizes: Vec<i64> = modes
            .iter()
            .map(|mode| mode.flat().map_or(0, |flat| flat.size()))
            .collect();
        let first = if sizes == extents {
            at
        } else if sizes == extents[1..] && extents[0] == 1 {
            &at[1..]
        } else {
            return Err(b.error(format!(
                "expected a predicate for each of {extents:?} atoms, found one of layout {}",
                view.layout
            )));
        };
        let place = modes
            .drain(..)
            .zip(first)
            .fold(view.offset, |place, (mode, i)| place + mode.at(*i));
        let vector = self.read(&view, &[place], b)?;
        let value = super::registers::extract_element(b, vector, 0, view.element)?;
        if matches!(types::element_bits(view.element), Some(1 | 32)) {
            return Ok(value);
        }
        let zero = b.constant(view.element, 0)?;
        b.compare(Predicate::Ne, value, zero)
    }

    /// An auto-vectorising copy: as much at once as lies in one piece on both sides.
    fn copy_vectors(
        &mut self,
        copy: Val<'c>,
        (source, from): (Val<'c>, &MemRef<'c>),
        (destination, to): (Val<'c>, &MemRef<'c>),
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        for vector in vectorize::vectors(from, to).map_err(|e| b.error(e))? {
            let at = [("at", b.i64_array(&vector.at))];
            let moved = |places: &[i64], offset: i64| -> Vec<i64> {
                places.iter().map(|place| place + offset).collect()
            };
            let value = if from.space == Space::Rmem {
                let view = self.registers(source, b)?;
                self.read(&view, &moved(&vector.source, view.offset), b)?
            } else {
                let ty = b.vector(
                    vector.source.len() as i64,
                    types::register_type(from.element),
                );
                b.atom_load([copy, self.map(source)], &vector.at, None, ty)?
            };
            if to.space == Space::Rmem {
                let view = self.registers(destination, b)?;
                self.write(&view, &moved(&vector.destination, view.offset), value, b)?;
            } else {
                let operands = [copy, value, self.map(destination)];
                b.op(cute::ATOM_STORE, &operands, &[], &at)?;
            }
        }
        Ok(())
    }
}

/// All index tuples below `extents`, the first fastest.
pub(crate) fn positions(extents: &[i64]) -> Vec<Vec<i64>> {
    let count: i64 = extents.iter().product();
    (0..count)
        .map(|mut i| {
            extents
                .iter()
                .map(|n| {
                    let index = i % n;
                    i /= n;
                    index
                })
                .collect()
        })
        .collect()
}

/// Returns the number of elements that an atom delivers: the register side says, which for ldmatrix differs from
/// what each thread points at.
fn register_values(from: &MemRef, to: &MemRef, b: Builder) -> Result<i64, Failure> {
    let side = if to.space == Space::Rmem { to } else { from };
    let values = atom_values(&side.layout).map_err(|e| b.error(e))?;
    values.size().map_err(|e| b.error(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::positions;

    #[test]
    fn the_first_extent_is_the_fastest() {
        assert_eq!(
            positions(&[2, 1, 2]),
            [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]
        );
    }
}
