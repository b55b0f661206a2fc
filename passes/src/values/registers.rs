//! Register tensors as SSA vectors, and views of them.

use super::{Values, known::Start};
use cute_ir::ops::{ub, vector};
use cute_ir::{
    Failure, diag,
    interpret::Place,
    mlir::*,
    types::{self, MemRef},
};
use cute_layout::Layout;
use melior::ir::{Location, Type, ValueLike};
use std::cell::Cell;

/// The registers of a fragment: `chunk` elements a vector.
#[derive(Clone)]
pub(super) struct File<'c> {
    pub element: Type<'c>,
    pub chunk: i64,
    pub vectors: Vec<Option<Val<'c>>>,
    /// The place where it is allocated.
    made: Location<'c>,
    /// The places where it was written since it was last read.
    writes: Vec<Location<'c>>,
    was_read: Cell<bool>,
}

/// A register tensor: elements of a file, from `offset` on, as `layout` says. Both count in elements of its own type,
/// which need not be as wide as the file's.
#[derive(Clone)]
pub(super) struct View<'c> {
    pub file: usize,
    pub element: Type<'c>,
    pub offset: i64,
    pub layout: Layout,
}

/// Elements of a register tensor: far beyond what a thread has registers for.
const MOST_REGISTERS: i64 = 65536;

impl<'c> File<'c> {
    pub(super) fn new(memref: &MemRef<'c>, made: Location<'c>) -> Result<Self, String> {
        let total = memref.layout.cosize().map_err(|e| e.to_string())?;
        if total > MOST_REGISTERS {
            return Err(format!(
                "expected a register tensor that spans at most {MOST_REGISTERS} elements, found {total}: {}",
                memref.layout
            ));
        }
        let first = memref.layout.mode(0).map_err(|e| e.to_string())?;
        let chunk = first.size().map_err(|e| e.to_string())?;
        // Only where the first mode is the run that one vector holds.
        let runs = (0..chunk).all(|i| first.at(i) == i) && total % chunk == 0;
        let chunk = if runs { chunk } else { 1 };
        Ok(Self {
            element: types::register_type(memref.element),
            chunk,
            vectors: vec![None; (total / chunk) as usize],
            made,
            writes: Vec::new(),
            was_read: Cell::new(false),
        })
    }

    fn note_write(&mut self, location: Location<'c>) {
        if self.was_read.replace(false) {
            self.writes.clear();
        }
        if !self.writes.contains(&location) {
            self.writes.push(location);
        }
    }

    /// The first of several writes, or one that nothing has read.
    fn idle_write(&self) -> Option<Location<'c>> {
        let idle = self.writes.len() > 1 || !self.was_read.get();
        self.writes.first().copied().filter(|_| idle)
    }
}

fn is_run(offsets: &[i64]) -> bool {
    offsets
        .iter()
        .enumerate()
        .all(|(i, o)| *o == offsets[0] + i as i64)
}

/// Bits of an element of a file.
pub(super) fn bits(ty: Type) -> i64 {
    types::element_bits(ty).unwrap_or(8)
}

impl<'c> View<'c> {
    /// The registers at a place.
    pub(super) fn at(place: &Place<'c, Start>) -> Self {
        Self {
            file: place.start.file,
            element: types::register_type(place.memref.element),
            offset: place.start.offset,
            layout: place.memref.layout.clone(),
        }
    }

    /// The places of all elements, colexicographically.
    pub(super) fn places(&self, b: Builder<'c>) -> Result<Vec<i64>, Failure> {
        places(&self.layout, self.offset, b)
    }
}

/// The values of a static layout, behind `offset`.
pub(super) fn places(layout: &Layout, offset: i64, b: Builder) -> Result<Vec<i64>, Failure> {
    let flat = layout
        .flat_or("registers")
        .map_err(|e| b.error(e.to_string()))?;
    if flat.size() > MOST_REGISTERS {
        return Err(b.error(format!(
            "expected at most {MOST_REGISTERS} elements, found {layout}"
        )));
    }
    Ok((0..flat.size()).map(|i| offset + flat.at(i)).collect())
}

/// The places of elements of which `ratio` make one of those at `places`.
fn narrowed(places: &[i64], ratio: i64) -> Vec<i64> {
    places
        .iter()
        .flat_map(|p| (0..ratio).map(move |i| p * ratio + i))
        .collect()
}

/// The error of an access to an element that a fragment does not have.
fn outside<'c>(file: &File<'c>, offset: i64, b: Builder<'c>) -> Failure {
    let elements = file.chunk * file.vectors.len() as i64;
    let message = format!(
        "accesses element {offset} of a fragment that has {elements}, 0 to {}; expected views of it whose coordinates and layouts stay within that",
        elements - 1
    );
    diag::error_with_notes(
        b.location,
        message,
        &[(file.made, "the registers are allocated here")],
    )
}

impl<'c> Values<'c> {
    /// The elements of a view at these places, as one vector.
    pub(super) fn read(
        &self,
        view: &View<'c>,
        places: &[i64],
        b: Builder<'c>,
    ) -> Result<Val<'c>, Failure> {
        let file = &self.files[view.file];
        let (own, has) = (bits(view.element), bits(file.element));
        let length = places.len() as i64;
        let ty = b.vector(length, view.element);
        if own == has {
            let value = self.read_file(view.file, places, b)?;
            return bitcast(b, value, ty);
        }
        if own > has {
            let ratio = own / has;
            let value = self.read_file(view.file, &narrowed(places, ratio), b)?;
            return bitcast(b, value, ty);
        }
        let ratio = has / own;
        let mut parts = Vec::new();
        for place in places {
            let whole = self.read_file(view.file, &[place.div_euclid(ratio)], b)?;
            let whole = bitcast(b, whole, b.vector(ratio, view.element))?;
            parts.push(extract_element(
                b,
                whole,
                place.rem_euclid(ratio),
                view.element,
            )?);
        }
        b.value(vector::FROM_ELEMENTS, &parts, ty, &[])
    }

    /// Sets the elements of a view at these places.
    pub(super) fn write(
        &mut self,
        view: &View<'c>,
        places: &[i64],
        value: Val<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let element = self.files[view.file].element;
        let (own, has) = (bits(view.element), bits(element));
        let length = places.len() as i64;
        if own == has {
            let value = bitcast(b, value, b.vector(length, element))?;
            return self.write_file(view.file, places, value, b);
        }
        if own > has {
            let ratio = own / has;
            let value = bitcast(b, value, b.vector(length * ratio, element))?;
            return self.write_file(view.file, &narrowed(places, ratio), value, b);
        }
        let ratio = has / own;
        for (i, place) in places.iter().enumerate() {
            let at = [place.div_euclid(ratio)];
            let narrow = b.vector(ratio, view.element);
            let old = match self.is_written(view.file, at[0]) {
                true => bitcast(b, self.read_file(view.file, &at, b)?, narrow)?,
                false => poison(b, narrow)?,
            };
            let part = extract_element(b, value, i as i64, view.element)?;
            let new = insert(b, part, old, place.rem_euclid(ratio))?;
            let new = bitcast(b, new, b.vector(1, element))?;
            self.write_file(view.file, &at, new, b)?;
        }
        Ok(())
    }

    fn is_written(&self, file: usize, offset: i64) -> bool {
        let file = &self.files[file];
        matches!(
            file.vectors.get((offset / file.chunk) as usize),
            Some(Some(_))
        )
    }

    /// An error of registers that are read and nothing has written, with the write that was perhaps meant for them: one of
    /// registers of the same type that nothing has read.
    pub(super) fn uninitialized(&self, index: usize, b: Builder<'c>) -> Failure {
        let file = &self.files[index];
        let meant = self.files.iter().enumerate().find_map(|(i, other)| {
            let alike = i != index
                && other.element == file.element
                && other.chunk == file.chunk
                && other.vectors.len() == file.vectors.len();
            other.idle_write().filter(|_| alike)
        });
        let mut notes = vec![(file.made, "the registers are allocated here")];
        if let Some(meant) = meant {
            notes.push((
                meant,
                "other registers of that type are written here, and not read before they are written again or used: were \
                 these meant?",
            ));
        }
        diag::error_with_notes(
            b.location,
            "reads registers that nothing has written; cute.clear them first",
            &notes,
        )
    }

    /// The elements at these offsets of a file, as one vector.
    fn read_file(&self, index: usize, offsets: &[i64], b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let file = &self.files[index];
        let chunk = file.chunk;
        let vector = |offset: i64| {
            usize::try_from(offset / chunk)
                .ok()
                .and_then(|i| file.vectors.get(i))
                .filter(|_| offset >= 0)
                .ok_or_else(|| outside(file, offset, b))?
                .ok_or_else(|| self.uninitialized(index, b))
        };
        file.was_read.set(true);
        let length = offsets.len() as i64;
        let Some(first) = offsets.first().copied() else {
            return Err(b.error("expected at least one element"));
        };
        if is_run(offsets) && first / chunk == (first + length - 1) / chunk {
            let whole = vector(first)?;
            return if length == chunk {
                Ok(whole)
            } else {
                extract(b, whole, first % chunk, length, file.element)
            };
        }
        let (by, element) = moved_as(b, offsets, file)?;
        let mut parts = Vec::new();
        for offset in offsets.iter().step_by(by as usize) {
            let whole = bitcast(b, vector(*offset)?, b.vector(chunk / by, element))?;
            parts.push(extract_element(b, whole, offset % chunk / by, element)?);
        }
        let all = b.value(
            vector::FROM_ELEMENTS,
            &parts,
            b.vector(length / by, element),
            &[],
        )?;
        bitcast(b, all, b.vector(length, file.element))
    }

    /// Sets the elements at these offsets of a file.
    fn write_file(
        &mut self,
        file: usize,
        offsets: &[i64],
        value: Val<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        self.note_written(file, b)?;
        let file = &mut self.files[file];
        file.note_write(b.location);
        let (chunk, element) = (file.chunk, file.element);
        let registers = 0..chunk * file.vectors.len() as i64;
        if let Some(offset) = offsets.iter().find(|offset| !registers.contains(offset)) {
            return Err(outside(file, *offset, b));
        }
        let length = offsets.len() as i64;
        // Whole vectors, each a run of the value.
        let whole = length % chunk == 0
            && offsets
                .chunks(chunk as usize)
                .all(|run| is_run(run) && run[0] % chunk == 0);
        if whole {
            for (i, run) in offsets.chunks(chunk as usize).enumerate() {
                let part = if length == chunk {
                    value
                } else {
                    extract(b, value, i as i64 * chunk, chunk, element)?
                };
                file.vectors[(run[0] / chunk) as usize] = Some(part);
            }
            return Ok(());
        }
        let ty = b.vector(chunk, element);
        let (by, element) = moved_as(b, offsets, file)?;
        let value = bitcast(b, value, b.vector(length / by, element))?;
        for (i, offset) in offsets.iter().step_by(by as usize).enumerate() {
            let part = extract_element(b, value, i as i64, element)?;
            let slot = &mut file.vectors[(offset / chunk) as usize];
            let old = match slot {
                Some(old) => *old,
                None => poison(b, ty)?,
            };
            let old = bitcast(b, old, b.vector(chunk / by, element))?;
            let new = insert(b, part, old, offset % chunk / by)?;
            *slot = Some(bitcast(b, new, ty)?);
        }
        Ok(())
    }
}

/// The elements of a file at these offsets that are moved as one, and the type that they are moved as: bytes that lie side by side in a longer vector as wider integers, as LLVM
/// takes several instructions for each byte of one; of other files each element as it is.
fn moved_as<'c>(
    b: Builder<'c>,
    offsets: &[i64],
    file: &File<'c>,
) -> Result<(i64, Type<'c>), Failure> {
    for (by, name) in [(4, "i32"), (2, "i16")] {
        let is_part = file.chunk > by && file.chunk % by == 0;
        let are_whole = is_part && offsets.len() as i64 % by == 0;
        let mut runs = offsets.chunks(by as usize);
        if bits(file.element) == 8 && are_whole && runs.all(|run| is_run(run) && run[0] % by == 0) {
            return Ok((by, b.ty(name)?));
        }
    }
    Ok((1, file.element))
}

/// A value of which nothing is read before it is written.
pub(super) fn poison<'c>(b: Builder<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
    let value = b.attribute("#ub.poison")?;
    b.value(ub::POISON, &[], ty, &[("value", value)])
}

pub(super) fn bitcast<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    if value.r#type() == ty {
        return Ok(value);
    }
    b.value(vector::BITCAST, &[value], ty, &[])
}

fn extract<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    from: i64,
    length: i64,
    element: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let attributes = [
        ("offsets", b.attribute(&format!("[{from}]"))?),
        ("sizes", b.attribute(&format!("[{length}]"))?),
        ("strides", b.attribute("[1]")?),
    ];
    b.value(
        vector::EXTRACT_STRIDED_SLICE,
        &[vector],
        b.vector(length, element),
        &attributes,
    )
}

/// Element `index` of a vector.
pub(super) fn extract_element<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    index: i64,
    element: Type<'c>,
) -> Result<Val<'c>, Failure> {
    b.value(
        vector::EXTRACT,
        &[vector],
        element,
        &[("static_position", b.i64_array(&[index]))],
    )
}

fn insert<'c>(
    b: Builder<'c>,
    part: Val<'c>,
    vector: Val<'c>,
    index: i64,
) -> Result<Val<'c>, Failure> {
    let position = [("static_position", b.i64_array(&[index]))];
    b.value(vector::INSERT, &[part, vector], vector.r#type(), &position)
}
