//! Copies of tiles by a tiled copy, of what lies within bounds: `cute.copy_tile`. What of a vector may be missing is decided in `cute_ir::bounds`.

use super::Lower;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Expected, Failure, algorithm,
    args::ThreadCopy,
    bounds::{self, Cut},
    mlir::*,
    types::{self, CuteType, Space},
};
use cute_layout::atoms::{CopyAtom, Form};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::{Type, ValueLike};

/// A thread's parts of what is copied.
struct Parts<'c> {
    copy: Val<'c>,
    source: Val<'c>,
    destination: Val<'c>,
}

/// The part of a tile that is there.
struct Bounds<'c> {
    /// The coordinates of the tile's elements.
    tile: Val<'c>,
    /// Those of the thread's part.
    part: Val<'c>,
    /// The shape that the coordinates of an element that is there are less than.
    shape: Val<'c>,
    /// Tells whether coordinates may be negative.
    halo: bool,
}

/// Tells whether coordinates may be negative: those of a tensor that begins at 0 are not, however it is cut.
fn may_be_negative(coords: Val<'_>) -> bool {
    let mut coords = coords;
    loop {
        let Some(op) = defining_op(coords) else {
            return true;
        };
        if matches!(
            name_of(op),
            cute::MAKE_IDENTITY_TENSOR | cute::DOMAIN_OFFSET
        ) {
            return name_of(op) == cute::DOMAIN_OFFSET;
        }
        let is_coords =
            |v: &Val| matches!(CuteType::of(v.r#type()), Some(CuteType::CoordTensor { .. }));
        let Some(source) = operands_of(op).into_iter().find(is_coords) else {
            return true;
        };
        coords = source;
    }
}

impl<'c> Lower<'c> {
    pub(super) fn copy_tile(&self, op: cute::CopyTile<'c>) -> Result<bool, Failure> {
        let (copy, thread) = (op.copy(), op.thread());
        let part = |name, tensor: Val<'c>| match self.memref(tensor)?.space {
            Space::Rmem => Ok(tensor),
            _ => self.b.infer(name, &[copy, tensor, thread], &[]),
        };
        let parts = Parts {
            copy,
            source: part(cute::TILED_COPY_PARTITION_S, op.source())?,
            destination: part(cute::TILED_COPY_PARTITION_D, op.destination())?,
        };
        let (Some(tile), Some(shape)) = (op.coords(), op.shape()) else {
            self.all_of(&parts)?;
            return Ok(true);
        };
        let of = match self.memref(op.source())?.space {
            Space::Gmem => cute::TILED_COPY_PARTITION_S,
            _ => cute::TILED_COPY_PARTITION_D,
        };
        let bounds = Bounds {
            tile,
            part: self.b.infer(of, &[copy, tile, thread], &[])?,
            shape,
            halo: may_be_negative(tile),
        };
        self.within(&parts, &bounds)?;
        Ok(true)
    }

    /// A copy by the atom, or by what `Lower::copy` makes of it.
    fn by_atom(&self, copy: ThreadCopy<'c>) -> Result<(), Failure> {
        if !self.copy(copy)? {
            self.b.copy(&copy.operands())?;
        }
        Ok(())
    }

    /// A copy of all elements, by vectors. From memory to memory through registers, so that all loads come before the first store.
    fn all_of(&self, parts: &Parts<'c>) -> Result<(), Failure> {
        let atom = types::copy_row(parts.copy.r#type()).expected(self.b, "the atom of a copy")?;
        let (from, to) = (self.memref(parts.source)?, self.memref(parts.destination)?);
        let in_memory = from.space != Space::Rmem && to.space != Space::Rmem;
        if atom.form != Form::LoadOrStore || !in_memory {
            return self.moved(parts, parts.source, parts.destination, None);
        }
        let registers = self.registers(from.element, from.layout.shape())?;
        self.moved(parts, parts.source, registers, None)?;
        self.moved(parts, registers, parts.destination, None)
    }

    fn moved(
        &self,
        parts: &Parts<'c>,
        source: Val<'c>,
        destination: Val<'c>,
        predicate: Option<Val<'c>>,
    ) -> Result<(), Failure> {
        self.by_atom(ThreadCopy {
            copy: parts.copy,
            source,
            destination,
            predicate,
        })
    }

    fn within(&self, parts: &Parts<'c>, bounds: &Bounds<'c>) -> Result<(), Failure> {
        let b = self.b;
        let atom = types::copy_row(parts.copy.r#type()).expected(b, "the atom of a copy")?;
        let cut = self.cut(parts, bounds, &atom)?;
        match (atom.form, cut) {
            (Form::Copy, Cut::Nowhere | Cut::Along(_)) => {
                let predicate = self.vectors_there(bounds, &atom, cut)?;
                self.moved(parts, parts.source, parts.destination, Some(predicate))
            }
            (_, Cut::Nowhere) => {
                let predicate = self.vectors_there(bounds, &atom, cut)?;
                self.if_there(parts, |l, source, destination| {
                    l.moved(parts, source, destination, Some(predicate))
                })
            }
            (Form::LoadOrStore, _) => {
                let (_, layout) = self.coords_of(bounds.tile)?;
                let last = layout.size().map_err(self.wrong())? - 1;
                let last = self.element(bounds.tile, last)?;
                let all = self.is_there(last, bounds)?;
                let all = match bounds.halo {
                    true => self.not_before(self.element(bounds.tile, 0)?, all)?,
                    false => all,
                };
                self.branch(
                    all,
                    |l| l.all_of(parts),
                    |l| {
                        let predicate = l.elements_there(bounds)?;
                        l.if_there(parts, |l, source, destination| {
                            l.copy_elements(source, destination, Some(predicate))
                                .map(|_| ())
                        })
                    },
                )
            }
            (Form::Copy, _) => Err(b.error(format!(
                "copies vectors of {} elements by {}, which may begin before elements that are there, or not lie along one mode; expected coordinates along \
                 the vector that are multiples of {0}, as those of a tile by cute.local_tile are, or a universal copy",
                atom.num_val, atom.name
            ))),
            _ => Err(b.error(format!(
                "copies vectors of {} elements by {}, of which a part may lie within the bounds, and it moves all or none; expected an extent and \
                 coordinates along the vector that are multiples of {0}, as ?{{div={0}}}, one element for each atom, or a universal copy",
                atom.num_val, atom.name
            ))),
        }
    }

    /// Copies what there is by `copy`, given a source and a destination: from global memory into registers that are 0 elsewhere, and on from there.
    fn if_there(
        &self,
        parts: &Parts<'c>,
        copy: impl Fn(&Self, Val<'c>, Val<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (from, to) = (self.memref(parts.source)?, self.memref(parts.destination)?);
        if from.space != Space::Gmem {
            return copy(self, parts.source, parts.destination);
        }
        let registers = match to.space {
            Space::Rmem => parts.destination,
            _ => self.registers(from.element, from.layout.shape())?,
        };
        self.b.op(cute::CLEAR, &[registers], &[], &[])?;
        copy(self, parts.source, registers)?;
        match to.space {
            Space::Rmem => Ok(()),
            Space::Gmem => copy(self, registers, parts.destination),
            _ => self.moved(parts, registers, parts.destination, None),
        }
    }

    /// The way in which the bounds cut the vectors of the part in global memory.
    fn cut(&self, parts: &Parts<'c>, bounds: &Bounds<'c>, atom: &CopyAtom) -> Result<Cut, Failure> {
        let b = self.b;
        let memory = [parts.source, parts.destination]
            .into_iter()
            .map(|part| self.memref(part))
            .collect::<Result<Vec<_>, _>>()?;
        let memory = memory.into_iter().find(|part| part.space == Space::Gmem);
        let memory = memory.expected(b, "a tile in global memory")?;
        let count = atom.num_val_src().map_err(self.wrong())?;
        let side = algorithm::atom_side("a tile", &memory.layout, count).map_err(self.wrong())?;
        let (start, layout) = self.coords_of(bounds.part)?;
        let shape = self.tuple(bounds.shape)?;
        bounds::cut(&side, (&start, &layout), &shape, count).map_err(self.wrong())
    }

    /// A predicate for each vector of a part, or how many elements of it are there.
    fn vectors_there(
        &self,
        bounds: &Bounds<'c>,
        atom: &CopyAtom,
        cut: Cut,
    ) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let (_, layout) = self.coords_of(bounds.part)?;
        let rest = std::iter::repeat_n(IntTuple::underscore(), layout.rank() - 1);
        let first = tuple([int(0), IntTuple::underscore()]);
        let firsts = self.slice(bounds.part, &tuple(std::iter::once(first).chain(rest)), &[])?;
        match cut {
            Cut::Along(leaf) => {
                let count = atom.num_val_src().map_err(self.wrong())?;
                self.for_each(firsts, b.i32_type(), |at| {
                    self.count(at, bounds, leaf, count)
                })
            }
            _ => self.for_each(firsts, types::int_type(b.context, 1), |at| {
                self.is_there(at, bounds)
            }),
        }
    }

    /// A predicate for each element of a part.
    fn elements_there(&self, bounds: &Bounds<'c>) -> Result<Val<'c>, Failure> {
        self.for_each(bounds.part, types::int_type(self.b.context, 1), |at| {
            self.is_there(at, bounds)
        })
    }

    /// Registers with a number for each of some coordinates, which `number` computes.
    fn for_each(
        &self,
        coords: Val<'c>,
        ty: Type<'c>,
        number: impl Fn(Val<'c>) -> Result<Val<'c>, Failure>,
    ) -> Result<Val<'c>, Failure> {
        let (_, layout) = self.coords_of(coords)?;
        let size = layout.size().map_err(self.wrong())?;
        self.check_count("elements", size, &layout)?;
        let numbers = self.registers(ty, layout.shape())?;
        for i in 0..size {
            let number = number(self.element(coords, i)?)?;
            let place = self.coord(&int(i), &[])?;
            self.b
                .op(cute::MEMREF_STORE, &[numbers, place, number], &[], &[])?;
        }
        Ok(numbers)
    }

    /// Computes whether an element is there: at 0 or behind, and below the shape, by each integer of its coordinate.
    fn is_there(&self, at: Val<'c>, bounds: &Bounds<'c>) -> Result<Val<'c>, Failure> {
        let truth = types::int_type(self.b.context, 1);
        let below = self
            .b
            .value(cute::ELEM_LESS, &[at, bounds.shape], truth, &[])?;
        match bounds.halo {
            true => self.not_before(at, below),
            false => Ok(below),
        }
    }

    /// Computes whether a condition holds, and no integer of a coordinate is negative, as those of a halo are.
    fn not_before(&self, at: Val<'c>, holds: Val<'c>) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let tuple = self.tuple(at)?;
        let mut all = holds;
        for (leaf, scalar) in tuple.leaves().into_iter().zip(self.scalars(at, &tuple)?) {
            if leaf.as_static().is_some_and(|value| value >= 0) {
                continue;
            }
            let zero = b.constant(scalar.r#type(), 0)?;
            let is = b.compare(Predicate::Sge, scalar, zero)?;
            all = b.value(arith::ANDI, &[all, is], all.r#type(), &[])?;
        }
        Ok(all)
    }

    /// The number of elements that are there of a vector of `count` that begins at a coordinate and lies along one leaf: 0 where the first is not.
    fn count(
        &self,
        at: Val<'c>,
        bounds: &Bounds<'c>,
        leaf: usize,
        count: i64,
    ) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let first = self.scalars(at, &self.tuple(at)?)?;
        let end = self.scalars(bounds.shape, &self.tuple(bounds.shape)?)?;
        let mut left = None;
        let mut there: Option<Val<'c>> = None;
        for (i, (first, end)) in first.into_iter().zip(end).enumerate() {
            let wide = [first, end].iter().any(|x| x.r#type() == b.i64_type());
            let ty = if wide { b.i64_type() } else { b.i32_type() };
            let extended = |x: Val<'c>| match x.r#type() == ty {
                true => Ok(x),
                false => b.value(arith::EXTSI, &[x], ty, &[]),
            };
            let (first, end) = (extended(first)?, extended(end)?);
            if i != leaf {
                let is = b.compare(Predicate::Slt, first, end)?;
                there = Some(match there {
                    Some(others) => b.value(arith::ANDI, &[others, is], is.r#type(), &[])?,
                    None => is,
                });
                continue;
            }
            // The same for all vectors that begin there, whatever the other modes say.
            let number = |name, x: Val<'c>, y| b.value(name, &[x, b.constant(ty, y)?], ty, &[]);
            let distance = b.value(arith::SUBI, &[end, first], ty, &[])?;
            let bounded = number(arith::MINSI, number(arith::MAXSI, distance, 0)?, count)?;
            left = Some(match wide {
                true => b.value(arith::TRUNCI, &[bounded], b.i32_type(), &[])?,
                false => bounded,
            });
        }
        let left = left.expected(b, "an integer of a coordinate")?;
        if bounds.halo {
            let truth = types::int_type(b.context, 1);
            let others = there.map_or_else(|| b.constant(truth, 1), Ok)?;
            there = Some(self.not_before(at, others)?);
        }
        match there {
            Some(there) => b.value(arith::SELECT, &[there, left, b.i32(0)?], b.i32_type(), &[]),
            None => Ok(left),
        }
    }

    fn tuple(&self, value: Val<'c>) -> Result<IntTuple, Failure> {
        match CuteType::of(value.r#type()) {
            Some(CuteType::Shape(tuple) | CuteType::Coord(tuple) | CuteType::IntTuple(tuple)) => {
                Ok(tuple)
            }
            _ => Err(self.b.error("expected a coordinate or a shape")),
        }
    }

    /// The start and the layout of a tensor of coordinates.
    fn coords_of(&self, coords: Val<'c>) -> Result<(IntTuple, Layout), Failure> {
        match CuteType::of(coords.r#type()) {
            Some(CuteType::CoordTensor { start, layout }) => Ok((start, layout)),
            _ => Err(self.b.error("expected a tensor of coordinates")),
        }
    }

    /// Makes one or the other, by a condition.
    fn branch(
        &self,
        condition: Val<'c>,
        then: impl FnOnce(Lower<'c>) -> Result<(), Failure>,
        otherwise: impl FnOnce(Lower<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let b = self.b;
        let (then_region, then_block) = Detached::with_block(&[]);
        let (else_region, else_block) = Detached::with_block(&[]);
        let regions = vec![then_region, else_region];
        b.with_regions(scf::IF, &[condition], &[], &[], regions)?;
        let at = |block| Builder::at_end(b.context, block, b.location);
        let (inner, other) = (at(then_block), at(else_block));
        then(Lower { b: inner })?;
        inner.op(scf::YIELD, &[], &[], &[])?;
        otherwise(Lower { b: other })?;
        other.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }
}
