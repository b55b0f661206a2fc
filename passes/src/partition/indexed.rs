//! Tiles of whole matrices, whose elements are at what a layout gives for coordinates: the address of each vector of a thread, and which
//! vectors are there.

use super::{Partition, prologue, transform, wrong};
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure, contract,
    infer::dynamic_leaves,
    mlir::*,
    ops::{arith, cute},
    tensor,
    types::{self, CopyOp, CuteType, MemRef, element_bits, memref_of},
    view,
};
use cute_layout::{IntTuple, Layout, Leaf, Operand, atoms::Completion, int, tuple};
use melior::ir::ValueLike;
use transform::Guard;

/// The tensors of an op that are whole matrices, and what it says of a factor's elements.
#[derive(Clone)]
pub(super) struct Located<'c> {
    whole: Vec<i64>,
    within: Option<(Val<'c>, Val<'c>)>,
    bounds: Option<(Val<'c>, Val<'c>)>,
    rows: Option<Val<'c>>,
}

impl<'c> Located<'c> {
    pub(super) fn of_copy(op: cute::BlockCopy<'c>) -> Self {
        Self {
            whole: whole_of(op.op()),
            within: op.coords().zip(op.end()),
            bounds: op.places().zip(op.limits()),
            rows: op.rows(),
        }
    }

    pub(super) fn of_transform(op: cute::BlockTransform<'c>) -> Self {
        Self {
            whole: whole_of(op.op()),
            within: op.coords().zip(op.end()),
            bounds: op.places().zip(op.limits()),
            rows: op.rows(),
        }
    }

    /// Tells whether the tensor at a place is a whole matrix.
    pub(super) fn is_whole(&self, place: usize) -> bool {
        self.whole
            .iter()
            .any(|whole| usize::try_from(*whole) == Ok(place))
    }
}

fn whole_of(op: Op<'_>) -> Vec<i64> {
    attribute_of(op, "whole")
        .and_then(i64s_of)
        .unwrap_or_default()
}

/// The way in which the elements of a thread's vector lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// Side by side, aligned together.
    Vector,
    /// Elements that are this far apart.
    Step(i64),
    /// Each at an address of its own.
    Single,
}

/// A thread's vectors of a whole matrix.
struct Vectors<'c> {
    matrix: Val<'c>,
    memref: MemRef<'c>,
    /// The coordinates of the thread's elements: those of a vector, and then the vectors.
    coords: Val<'c>,
    start: IntTuple,
    layout: Layout,
    /// Elements of a vector.
    length: i64,
    run: Run,
}

/// A coordinate of constants.
fn at<'c>(b: Builder<'c>, coord: Vec<IntTuple>) -> Result<Val<'c>, Failure> {
    b.static_value(types::coord_type(b.context, &tuple(coord)))
}

fn known(places: &[i64]) -> Vec<IntTuple> {
    places.iter().copied().map(int).collect()
}

/// The coordinate of all elements of a vector.
fn of_vector(places: &[i64]) -> Vec<IntTuple> {
    let mut coord = vec![IntTuple::underscore()];
    coord.extend(known(places));
    coord
}

impl<'c> Vectors<'c> {
    /// The vectors of so many elements at a thread's coordinates.
    fn of(b: Builder<'c>, matrix: Val<'c>, coords: Val<'c>, length: i64) -> Result<Self, Failure> {
        let memref = memref_of(matrix).expected(b, "a tensor")?;
        let Some(CuteType::CoordTensor { start, layout }) = CuteType::get(coords.r#type()) else {
            return Err(b.error("expected coordinates"));
        };
        let first = layout.mode(0).map_err(wrong(b))?;
        let (shape, stride) = (first.shape().leaves(), first.stride().leaves());
        let moving = shape
            .iter()
            .zip(&stride)
            .find(|(extent, _)| ***extent != Leaf::Static(1));
        let along = match moving {
            Some((_, Leaf::Basis { path, .. })) => usize::from(path[0]),
            _ => 0,
        };
        let leaf = |all: &IntTuple| {
            let mode = all.get(along).map(IntTuple::leaves);
            mode.and_then(|leaves| leaves.first().map(|leaf| (*leaf).clone()))
        };
        let (extent, step) = (leaf(memref.layout.shape()), leaf(memref.layout.stride()));
        let is_within = extent.is_some_and(|extent| contract::divisor(&extent) % length == 0)
            || memref
                .layout
                .stride()
                .get(along)
                .is_some_and(|mode| !mode.is_tuple());
        let run = match step {
            _ if length == 1 => Run::Vector,
            _ if contract::vector(&memref, along, length, None) == length => Run::Vector,
            Some(Leaf::Static(step)) if is_within => Run::Step(step),
            _ => Run::Single,
        };
        Ok(Self {
            matrix,
            memref,
            coords,
            start: start.clone(),
            layout: layout.clone(),
            length,
            run,
        })
    }

    /// The coordinate of an element.
    fn coordinate(&self, b: Builder<'c>, element: i64, vector: &[i64]) -> Result<Val<'c>, Failure> {
        let place = at(b, [vec![int(element)], known(vector)].concat())?;
        load_coordinate(b, self.coords, (&self.start, &self.layout), place)
    }

    /// The elements from a coordinate on: so many, as far apart as that.
    fn elements(
        &self,
        b: Builder<'c>,
        [row, column]: [Val<'c>; 2],
        (count, step): (i64, i64),
    ) -> Result<Val<'c>, Failure> {
        let leaf = |value: Val<'c>| match int_width(value.r#type()) {
            Some(64) => IntTuple::Leaf(Leaf::Dynamic(cute_layout::Dyn::I64)),
            _ => IntTuple::dynamic(),
        };
        let coord = b.coord(&tuple([leaf(row), leaf(column)]), &[row, column])?;
        let element = b.infer(cute::SLICE, &[self.matrix, coord], &[])?;
        let mut start = b.infer(cute::GET_ITER, &[element], &[])?;
        let mut memref = memref_of(element).expected(b, "a tensor")?;
        // As a slice of a partition has them: one vector.
        let step = if count == 1 { 0 } else { step };
        let nested = |of: i64, rest: i64| tuple([tuple([int(of), int(rest)])]);
        memref.layout = Layout::new(nested(count, 1), nested(step, 0)).map_err(wrong(b))?;
        let bytes = count * memref.element_bytes();
        if self.run == Run::Vector && count > 1 && memref.align < bytes {
            // The layout says so of each first element of a vector.
            memref.align = bytes;
            start = b.value(
                cute::RECAST_ITER,
                &[start],
                memref.to_ptr_type(b.location)?,
                &[],
            )?;
        }
        let layout = b.static_value(types::layout_type(b.context, &memref.layout))?;
        b.value(
            cute::MAKE_VIEW,
            &[start, layout],
            memref.to_type(b.location)?,
            &[],
        )
    }

    /// The indices of vectors, but for those that are one with others where `same` says of the matrix's modes that all along them are one.
    fn places(&self, b: Builder<'c>, same: [bool; 2]) -> Result<Vec<Vec<i64>>, Failure> {
        let modes = self.layout.modes();
        let extents = modes.iter().skip(1).map(|mode| match is_same(mode, same) {
            true => Ok(1),
            false => mode.size(),
        });
        let extents: cute_layout::Result<Vec<i64>> = extents.collect();
        Ok(crate::values::positions(&extents.map_err(wrong(b))?))
    }
}

/// Tells whether a mode of coordinates moves along modes only along which all are one.
fn is_same(mode: &Layout, same: [bool; 2]) -> bool {
    let (shape, stride) = (mode.shape().leaves(), mode.stride().leaves());
    shape
        .iter()
        .zip(&stride)
        .all(|(extent, stride)| match stride {
            _ if **extent == Leaf::Static(1) => true,
            Leaf::Basis { path, .. } => same.get(usize::from(path[0])).copied().unwrap_or(false),
            _ => true,
        })
}

/// The element of a coordinate tensor at a place.
fn load_coordinate<'c>(
    b: Builder<'c>,
    coords: Val<'c>,
    (start, layout): (&IntTuple, &Layout),
    place: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let Some(CuteType::Coord(at)) = CuteType::get(place.r#type()) else {
        return Err(b.error("expected a coordinate"));
    };
    let found = view::slice(layout, at).and_then(|view| view.start(start, &dynamic_leaves(at)));
    let ty = types::coord_type(b.context, &found.map_err(wrong(b))?);
    b.value(cute::MEMREF_LOAD, &[coords, place], ty, &[])
}

/// The integer of a mode of a coordinate, or of a shape.
fn integer<'c>(b: Builder<'c>, of: Val<'c>, mode: usize) -> Result<Val<'c>, Failure> {
    let attributes = [("mode", b.i32_array(&[mode as i32]))];
    let one = b.infer(cute::GET, &[of], &attributes)?;
    b.infer(cute::GET_SCALARS, &[one], &[])
}

/// Tells whether an integer is at least 0 and below another one.
fn is_below<'c>(b: Builder<'c>, value: Val<'c>, limit: Val<'c>) -> Result<Val<'c>, Failure> {
    let wide = [value, limit]
        .iter()
        .any(|v| int_width(v.r#type()) == Some(64));
    let widened = |value: Val<'c>| match wide && int_width(value.r#type()) != Some(64) {
        true => b.value(arith::EXTSI, &[value], b.i64_type(), &[]),
        false => Ok(value),
    };
    b.compare(Predicate::Ult, widened(value)?, widened(limit)?)
}

/// A factor's vectors, and which of them are there.
pub(super) struct Factor<'c> {
    /// The indices of a vector, and where it is in global memory.
    pub(super) vectors: Vec<(Vec<i64>, Val<'c>)>,
    pub(super) guard: Option<Guard<'c>>,
}

impl<'c> Partition<'c> {
    /// The vectors of a thread's part of A or B, from the whole matrix.
    pub(super) fn factor(
        &self,
        b: Builder<'c>,
        (operand, place): (Operand, usize),
        matrix: Val<'c>,
        located: &Located<'c>,
    ) -> Result<Factor<'c>, Failure> {
        let (coords, end) = located.within.expected(b, "coordinates of a tile")?;
        let tiled = self.tiled_copy(b, operand, place)?;
        let row = self
            .plan
            .path(operand)
            .get(place)
            .expected(b, "a movement")?;
        let length = row.row().map_err(wrong(b))?.num_val;
        let coords = b.infer(
            cute::TILED_COPY_PARTITION_S,
            &[tiled, coords, self.thread],
            &[],
        )?;
        let own = Vectors::of(b, matrix, coords, length)?;
        if own.run != Run::Vector {
            return Err(b.error(format!(
                "expected a plan that copies as many elements at once as lie side by side in {}, found {length}",
                own.memref.layout
            )));
        }
        let rows = located
            .rows
            .map(|rows| self.fragment(b, rows))
            .transpose()?;
        let truth = types::int_type(b.context, 1);
        let mut vectors = Vec::new();
        let mut holds = Vec::new();
        for vector in own.places(b, [false; 2])? {
            let here = own.coordinate(b, 0, &vector)?;
            let [mut row, column] = [integer(b, here, 0)?, integer(b, here, 1)?];
            let mut conditions = self.inside(b, here, end)?;
            if let Some((places, limits)) = located.bounds {
                conditions.extend(bounded(b, [row, column], places, limits)?);
            }
            if let Some(rows) = rows {
                let memref = memref_of(rows).expected(b, "indices")?;
                let place = at(b, [vec![int(0)], known(&vector)].concat())?;
                row = b.value(cute::MEMREF_LOAD, &[rows, place], memref.element, &[])?;
                let most = own.memref.layout.mode(0).and_then(|rows| rows.size());
                let most = match most {
                    Ok(most) => b.constant(row.r#type(), most)?,
                    Err(_) => {
                        let layout = b.infer(cute::GET_LAYOUT, &[matrix], &[])?;
                        let shape = b.infer(cute::GET_SHAPE, &[layout], &[])?;
                        integer(b, shape, 0)?
                    }
                };
                conditions.push(is_below(b, row, most)?);
            }
            vectors.push((vector, own.elements(b, [row, column], (length, 1))?));
            let mut all = None;
            for condition in conditions {
                all = Some(match all {
                    Some(before) => b.value(arith::ANDI, &[before, condition], truth, &[])?,
                    None => condition,
                });
            }
            holds.push(all);
        }
        let holds: Option<Vec<_>> = holds.into_iter().collect();
        let Some(holds) = holds.filter(|all| !all.is_empty()) else {
            return Ok(Factor {
                vectors,
                guard: None,
            });
        };
        let modes = own.layout.modes();
        let modes: Vec<_> = modes
            .iter()
            .skip(1)
            .map(|mode| mode.shape().clone())
            .collect();
        let layout = Layout::col_major(&tuple(modes)).map_err(wrong(b))?;
        let ty = tensor::registers(truth, layout).to_type(b.location)?;
        let there = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
        for ((vector, _), holds) in vectors.iter().zip(holds) {
            let place = at(b, known(vector))?;
            b.op(cute::MEMREF_STORE, &[there, place, holds], &[], &[])?;
        }
        Ok(Factor {
            vectors,
            guard: Some(Guard {
                there,
                vector: length,
            }),
        })
    }

    /// The conditions that a coordinate is before an end.
    fn inside(&self, b: Builder<'c>, here: Val<'c>, end: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let Some(CuteType::Coord(ends)) = CuteType::get(end.r#type()) else {
            return Err(b.error("expected an end"));
        };
        let truth = types::int_type(b.context, 1);
        let bounded = ends.modes().iter().enumerate();
        let bounded = bounded.filter(|(_, bound)| !bound.has_underscore());
        let less = bounded.map(|(mode, _)| {
            let mode = [("mode", b.i32_array(&[mode as i32]))];
            let [here, bound] = [here, end].map(|value| b.infer(cute::GET, &[value], &mode));
            b.value(cute::ELEM_LESS, &[here?, bound?], truth, &[])
        });
        less.collect()
    }

    /// Copies a tile of A or B into shared memory.
    pub(super) fn copy_factor(
        &self,
        b: Builder<'c>,
        copy: cute::BlockCopy<'c>,
        (operand, place): (Operand, usize),
    ) -> Result<(), Failure> {
        let located = Located::of_copy(copy);
        let Factor { vectors, guard } =
            self.factor(b, (operand, place), copy.source(), &located)?;
        let tiled = self.tiled_copy(b, operand, place)?;
        let movement = self
            .plan
            .path(operand)
            .get(place)
            .expected(b, "a movement")?;
        let row = movement.row().map_err(wrong(b))?;
        let atom = self.top.value(cute::MAKE_ATOM, &[], movement.atom, &[])?;
        let operands = [tiled, copy.destination(), self.thread];
        let destination = b.infer(cute::TILED_COPY_PARTITION_D, &operands, &[])?;
        if row.completion == Completion::Group {
            return copy_vectors(b, atom, &vectors, destination, guard.as_ref());
        }
        let fragment = load_vectors(b, &vectors, destination, guard.as_ref())?;
        b.copy(&[tiled, fragment, destination])?;
        Ok(())
    }

    /// Stores a tile of C from shared memory.
    pub(super) fn store_whole(
        &self,
        b: Builder<'c>,
        copy: cute::BlockCopy<'c>,
        place: usize,
    ) -> Result<(), Failure> {
        let located = Located::of_copy(copy);
        let (coords, end) = located.within.expected(b, "coordinates of a tile")?;
        let tiled = self.tiled_copy(b, Operand::C, place)?;
        let part = |tensor: Val<'c>| {
            b.infer(
                cute::TILED_COPY_PARTITION_S,
                &[tiled, tensor, self.thread],
                &[],
            )
        };
        let (coords, source) = (part(coords)?, part(copy.source())?);
        let guard = self.guard_of(b, (Operand::C, place), coords, end)?;
        self.store_elements(
            b,
            source,
            (copy.destination(), coords),
            (Operand::C, place),
            guard.as_ref(),
        )
    }

    /// The predicate of each vector at those coordinates: it is there; none where all are.
    pub(super) fn guard_of(
        &self,
        b: Builder<'c>,
        (operand, place): (Operand, usize),
        coords: Val<'c>,
        end: Val<'c>,
    ) -> Result<Option<Guard<'c>>, Failure> {
        let bounds = CuteType::get(end.r#type());
        let Some(CuteType::Coord(ends)) = bounds else {
            return Err(b.error("expected an end"));
        };
        if ends.modes().iter().all(IntTuple::has_underscore) {
            return Ok(None);
        }
        let row = self
            .plan
            .path(operand)
            .get(place)
            .expected(b, "a movement")?;
        Ok(Some(Guard {
            there: self.predicate(b, coords, end)?,
            vector: row.row().map_err(wrong(b))?.num_val,
        }))
    }

    /// Loads a thread's elements at coordinates of a whole matrix, in which what is the same along a mode is held once.
    pub(super) fn load_elements(
        &self,
        b: Builder<'c>,
        (matrix, coords): (Val<'c>, Val<'c>),
        movement: (Operand, usize),
        guard: Option<&Guard<'c>>,
    ) -> Result<Val<'c>, Failure> {
        let own = Vectors::of(b, matrix, coords, self.length_of(b, movement)?)?;
        let stride = own.memref.layout.stride();
        let same = [0, 1].map(|mode| {
            let leaves = stride.get(mode).map(IntTuple::leaves).unwrap_or_default();
            leaves.iter().all(|leaf| **leaf == Leaf::Static(0))
        });
        let shape = own.layout.shape();
        let mut next = 1;
        let stride = held(shape, own.layout.stride(), same, &mut next);
        let layout = Layout::new(shape.clone(), stride).map_err(wrong(b))?;
        let ty = tensor::registers(types::register_type(own.memref.element), layout);
        let registers = b.value(cute::MEMREF_ALLOCA, &[], ty.to_type(b.location)?, &[])?;
        if guard.is_some() {
            b.op(cute::CLEAR, &[registers], &[], &[])?;
        }
        let is_one = is_same(&own.layout.mode(0).map_err(wrong(b))?, same);
        for vector in own.places(b, same)? {
            self.move_vector(b, &own, &vector, (registers, is_one), guard, false)?;
        }
        Ok(registers)
    }

    /// Stores a thread's elements at coordinates of a whole matrix.
    pub(super) fn store_elements(
        &self,
        b: Builder<'c>,
        source: Val<'c>,
        (matrix, coords): (Val<'c>, Val<'c>),
        movement: (Operand, usize),
        guard: Option<&Guard<'c>>,
    ) -> Result<(), Failure> {
        let own = Vectors::of(b, matrix, coords, self.length_of(b, movement)?)?;
        for vector in own.places(b, [false; 2])? {
            self.move_vector(b, &own, &vector, (source, false), guard, true)?;
        }
        Ok(())
    }

    /// Elements that a movement copies at once.
    fn length_of(
        &self,
        b: Builder<'c>,
        (operand, place): (Operand, usize),
    ) -> Result<i64, Failure> {
        let movement = self.plan.path(operand).get(place);
        let row = movement.expected(b, "a movement of the plan")?.row();
        Ok(row.map_err(wrong(b))?.num_val)
    }

    /// Copies one vector between a whole matrix and a thread's part; `is_one` says that its elements are one.
    fn move_vector(
        &self,
        b: Builder<'c>,
        own: &Vectors<'c>,
        vector: &[i64],
        (part, is_one): (Val<'c>, bool),
        guard: Option<&Guard<'c>>,
        stores: bool,
    ) -> Result<(), Failure> {
        let slice = |tensor: Val<'c>, coord: Vec<IntTuple>| {
            let coord = at(b, coord)?;
            b.infer(cute::SLICE, &[tensor, coord], &[])
        };
        let place = |element: i64| -> Result<[Val<'c>; 2], Failure> {
            let here = own.coordinate(b, element, vector)?;
            Ok([integer(b, here, 0)?, integer(b, here, 1)?])
        };
        let element = |element: i64| [vec![int(element)], known(vector)].concat();
        let ends = |memory: Val<'c>, own: Val<'c>| match stores {
            true => [own, memory],
            false => [memory, own],
        };
        let there = |count: i64| -> Result<Option<Val<'c>>, Failure> {
            let Some(guard) = guard else { return Ok(None) };
            let one = slice(guard.there, known(vector))?;
            let memref = memref_of(one).expected(b, "a predicate")?;
            let layout = Layout::leaf(count, 0).map_err(wrong(b))?;
            let start = b.infer(cute::GET_ITER, &[one], &[])?;
            let value = b.static_value(types::layout_type(b.context, &layout))?;
            let ty = MemRef { layout, ..memref }.to_type(b.location)?;
            Ok(Some(b.value(cute::MAKE_VIEW, &[start, value], ty, &[])?))
        };
        let plain = |memory: Val<'c>, own: Val<'c>, count: i64| -> Result<(), Failure> {
            let ends = ends(memory, own);
            match there(count)? {
                Some(there) => b.op(cute::COPY_IF, &[&[there], &ends[..]].concat(), &[], &[])?,
                None => b.op(cute::AUTOVEC_COPY, &ends, &[], &[])?,
            };
            Ok(())
        };
        let length = own.length;
        match own.run {
            _ if is_one => plain(
                own.elements(b, place(0)?, (1, 0))?,
                slice(part, element(0))?,
                1,
            ),
            Run::Vector => {
                let bits = element_bits(own.memref.element).expected(b, "an element")? * length;
                let op = CopyOp::Universal { bits };
                let ty = types::copy_atom_type(b.location, own.memref.element, op)?;
                let atom = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
                let memory = own.elements(b, place(0)?, (length, 1))?;
                let mut operands = vec![atom];
                operands.extend(ends(memory, slice(part, of_vector(vector))?));
                operands.extend(
                    guard
                        .map(|guard| slice(guard.there, known(vector)))
                        .transpose()?,
                );
                b.copy(&operands)?;
                Ok(())
            }
            Run::Step(step) => {
                let memory = own.elements(b, place(0)?, (length, step))?;
                plain(memory, slice(part, of_vector(vector))?, length)
            }
            Run::Single => (0..length).try_for_each(|at| {
                plain(
                    own.elements(b, place(at)?, (1, 0))?,
                    slice(part, element(at))?,
                    1,
                )
            }),
        }
    }
}

/// Strides of registers for the elements at coordinates, the first mode the fastest; 0 along modes of the matrix along which all are one.
fn held(shape: &IntTuple, stride: &IntTuple, same: [bool; 2], next: &mut i64) -> IntTuple {
    if shape.is_tuple() {
        let modes = shape.modes().iter().zip(stride.modes());
        return tuple(modes.map(|(shape, stride)| held(shape, stride, same, next)));
    }
    let extent = shape.as_static().unwrap_or(1);
    let is_one = match stride.as_leaf() {
        Some(Leaf::Basis { path, .. }) => same.get(usize::from(path[0])).copied().unwrap_or(false),
        _ => true,
    };
    if extent == 1 || is_one {
        return int(0);
    }
    let own = *next;
    *next *= extent;
    int(own)
}

/// The conditions that a factor's element is inside of the tensor that it is taken from.
fn bounded<'c>(
    b: Builder<'c>,
    place: [Val<'c>; 2],
    places: Val<'c>,
    limits: Val<'c>,
) -> Result<Vec<Val<'c>>, Failure> {
    let (Some(CuteType::CoordTensor { start, layout }), Some(CuteType::Coord(bounds))) = (
        CuteType::get(places.r#type()),
        CuteType::get(limits.r#type()),
    ) else {
        return Err(b.error("expected coordinates and limits"));
    };
    let leaf = |value: Val<'c>| match int_width(value.r#type()) {
        Some(64) => IntTuple::Leaf(Leaf::Dynamic(cute_layout::Dyn::I64)),
        _ => IntTuple::dynamic(),
    };
    let coord = b.coord(&tuple(place.map(leaf)), &place)?;
    let here = load_coordinate(b, places, (start, layout), coord)?;
    let bounds = match bounds.is_tuple() {
        true => bounds.modes().to_vec(),
        false => vec![bounds.clone()],
    };
    let bounds = bounds.iter().enumerate();
    let bounds = bounds.filter(|(_, bound)| !bound.has_underscore());
    let all =
        bounds.map(|(mode, _)| is_below(b, integer(b, here, mode)?, integer(b, limits, mode)?));
    all.collect()
}

/// Copies vectors from global memory to a thread's part of a tile, by an atom.
fn copy_vectors<'c>(
    b: Builder<'c>,
    atom: Val<'c>,
    vectors: &[(Vec<i64>, Val<'c>)],
    destination: Val<'c>,
    guard: Option<&Guard<'c>>,
) -> Result<(), Failure> {
    for (vector, source) in vectors {
        let place = at(b, of_vector(vector))?;
        let mut operands = vec![
            atom,
            *source,
            b.infer(cute::SLICE, &[destination, place], &[])?,
        ];
        if let Some(guard) = guard {
            let place = at(b, known(vector))?;
            operands.push(b.infer(cute::SLICE, &[guard.there, place], &[])?);
        }
        b.copy(&operands)?;
    }
    Ok(())
}

/// Loads vectors into registers of the shape of a thread's part. What is not there is 0.
pub(super) fn load_vectors<'c>(
    b: Builder<'c>,
    vectors: &[(Vec<i64>, Val<'c>)],
    like: Val<'c>,
    guard: Option<&Guard<'c>>,
) -> Result<Val<'c>, Failure> {
    let part = memref_of(like).expected(b, "a tensor")?;
    let source = vectors.first().and_then(|(_, source)| memref_of(*source));
    let source = source.expected(b, "a vector")?;
    let layout = Layout::col_major(part.layout.shape()).map_err(wrong(b))?;
    let ty = tensor::registers(types::register_type(source.element), layout);
    let fragment = b.value(cute::MEMREF_ALLOCA, &[], ty.to_type(b.location)?, &[])?;
    if guard.is_some() {
        b.op(cute::CLEAR, &[fragment], &[], &[])?;
    }
    let length = source.layout.size().map_err(wrong(b))?;
    let bits = element_bits(source.element).expected(b, "an element")? * length;
    let ty = types::copy_atom_type(b.location, source.element, CopyOp::Universal { bits })?;
    let atom = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
    copy_vectors(b, atom, vectors, fragment, guard)?;
    Ok(fragment)
}

/// The operand whose whole matrix a copy of a tile reads or writes.
pub(super) fn operand_of_whole(copy: cute::BlockCopy<'_>) -> Option<Operand> {
    let located = Located::of_copy(copy);
    let is_whole = located.is_whole(0) || located.is_whole(1);
    is_whole.then(|| prologue::operand_of(copy.op())).flatten()
}
