//! Tiles of tensors: factors through shared memory, and others between global memory and registers.

use super::{Buffer, Buffers, Firsts, Fuse, coordinate, values::Values};
use crate::{
    fused::{COLUMNS, Domain, INNER, OUTER, Phase, ROWS},
    partition::{Partition, is_there, wrong},
};
use cute_ir::{
    Expected, Failure,
    contract::divisor,
    fused::Product,
    mlir::*,
    ops::cute,
    tensor,
    types::{self, CopyOp, CuteType, element_bits, memref_of},
};
use cute_layout::{
    IntTuple, Layout, Leaf, Operand, Tile, TiledCopy, atoms::Completion, int, tuple,
};
use melior::ir::ValueLike;
use std::collections::HashSet;

/// A tile of a tensor, with the coordinates of its elements and the first coordinate that is not there; none where all are.
pub(super) struct Part<'c> {
    pub(super) tensor: Val<'c>,
    pub(super) within: Option<(Val<'c>, Val<'c>)>,
}

/// The place of a tile along a mode: the first one, or that of a number.
#[derive(Clone, Copy)]
pub(super) enum Place<'c> {
    First,
    At(Val<'c>),
}

impl<'c> Fuse<'c> {
    /// Copies the first factors of products along K to shared memory, and from there into registers, where a block holds all of K.
    pub(super) fn load_firsts(&self, b: Builder<'c>) -> Result<Firsts<'c>, Failure> {
        let mut firsts = Firsts::new();
        if self.sliced {
            return Ok(firsts);
        }
        let mut buffers = Vec::new();
        for product in &self.fused.scores {
            let way = self.way(product);
            let [first, _] = self.split(b, product)?;
            if firsts.contains_key(&key(first)) {
                continue;
            }
            let (_, input) = block_argument(first).expected(b, "a factor that is stored")?;
            let shared = self.shared(b, way, Operand::A)?;
            let [rows, _, inner] = way.plan.tile;
            let part = self.part(
                b,
                self.inputs[input],
                [ROWS, INNER],
                [rows, inner],
                [Place::At(self.at[0]), Place::First],
            )?;
            self.copy_shared(b.step("copy A"), way, Operand::A, part, shared)?;
            firsts.insert(key(first), shared);
            buffers.push((first, way, shared));
        }
        for (first, way, shared) in buffers {
            let fragment = self.load_factor(b.step("load A"), way, Operand::A, shared)?;
            firsts.insert(key(first), fragment);
        }
        Ok(firsts)
    }

    /// The products along K that a turn needs, in the region's order.
    pub(super) fn needed_scores(&self, phase: &Phase<'c>, values: &Values<'c>) -> Vec<Product<'c>> {
        let starts = self.starts(phase, values);
        let all = self.fused.scores.iter();
        all.filter(|product| starts.contains(&key(product.reduce.result())))
            .copied()
            .collect()
    }

    /// The values that a turn starts from.
    fn starts(&self, phase: &Phase<'c>, values: &Values<'c>) -> HashSet<ValueKey> {
        let yielded = self.fused.yielded();
        let mut targets: Vec<_> = phase.outputs.iter().map(|at| yielded[*at]).collect();
        for reduced in &phase.reduced {
            match &reduced.product {
                Some(product) => targets.extend(product.narrow().into_iter().flatten()),
                None => targets.push(reduced.reduce.value()),
            }
        }
        let starts = targets
            .into_iter()
            .flat_map(|value| self.slice(value, values).1);
        starts.map(key).collect()
    }

    /// Shared memory for the second factors of a turn's products, and for the first ones of what comes in slices.
    pub(super) fn allocate_factors(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        values: &Values<'c>,
    ) -> Result<Buffers<'c>, Failure> {
        let scores = self.needed_scores(phase, values);
        let columns = phase.reduced.iter().filter_map(|reduced| reduced.product);
        let mut buffers = Buffers::new();
        for product in scores.into_iter().chain(columns) {
            let [first, second] = self.split(b, &product)?;
            let is_sliced = self.sliced && product.along == INNER;
            let first = is_sliced.then_some((first, Operand::A));
            for (factor, operand) in first.into_iter().chain([(second, Operand::B)]) {
                if buffers.contains_key(&key(factor)) {
                    continue;
                }
                let (_, input) = block_argument(factor).expected(b, "a factor that is stored")?;
                let shared = self.shared(b, self.way(&product), operand)?;
                let buffer = Buffer {
                    input,
                    product,
                    operand,
                    shared,
                };
                buffers.insert(key(factor), buffer);
            }
        }
        Ok(buffers)
    }

    /// Copies tiles of second factors to shared memory, but for those that come in slices.
    pub(super) fn fill_factors(
        &self,
        b: Builder<'c>,
        buffers: &Buffers<'c>,
        column: Val<'c>,
    ) -> Result<(), Failure> {
        let all = buffers.values();
        let mut all: Vec<_> = all
            .filter(|buffer| !self.sliced || buffer.product.along != INNER)
            .collect();
        all.sort_by_key(|buffer| (buffer.product.along != INNER, buffer.input));
        for buffer in all {
            let way = self.way(&buffer.product);
            let [_, n, k] = way.plan.tile;
            let at = Place::At(column);
            let (modes, places) = match buffer.product.along {
                INNER => ([COLUMNS, INNER], [at, Place::First]),
                _ => ([OUTER, COLUMNS], [self.outer_place(), at]),
            };
            let b = b.at_location(location_of(buffer.product.reduce.result()));
            let part = self.part(b, self.inputs[buffer.input], modes, [n, k], places)?;
            self.copy_shared(b.step("copy B"), way, Operand::B, part, buffer.shared)?;
        }
        Ok(())
    }

    /// The place of the block's tile along E.
    pub(super) fn outer_place(&self) -> Place<'c> {
        self.outer.map_or(Place::First, Place::At)
    }

    /// Second factors of a turn in shared memory, of the tile of columns that a block holds.
    pub(super) fn copy_factors(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        column: Val<'c>,
        values: &Values<'c>,
    ) -> Result<Buffers<'c>, Failure> {
        let buffers = self.allocate_factors(b, phase, values)?;
        self.fill_factors(b, &buffers, column)?;
        Ok(buffers)
    }

    /// The tile of an operand in shared memory.
    fn shared(
        &self,
        b: Builder<'c>,
        way: &Partition<'c>,
        operand: Operand,
    ) -> Result<Val<'c>, Failure> {
        let (tile, _) = way.plan.shared(operand).map_err(wrong(b))?;
        b.value(cute::MEMREF_ALLOCA, &[], tile.to_type(b.location)?, &[])
    }

    /// Copies a tile of an operand to shared memory, with 0 where it is not there.
    pub(super) fn copy_shared(
        &self,
        b: Builder<'c>,
        way: &Partition<'c>,
        operand: Operand,
        part: Part<'c>,
        shared: Val<'c>,
    ) -> Result<(), Failure> {
        let tiled = way.tiled_copy(b, operand, 0)?;
        let of = |name: &str, tensor: Val<'c>| b.infer(name, &[tiled, tensor, way.thread], &[]);
        let source = of(cute::TILED_COPY_PARTITION_S, part.tensor)?;
        let destination = of(cute::TILED_COPY_PARTITION_D, shared)?;
        let there = match part.within {
            Some((coords, end)) => {
                let coords = of(cute::TILED_COPY_PARTITION_S, coords)?;
                Some(self.there(b, coords, end)?)
            }
            None => None,
        };
        let movement = way.plan.path(operand).first();
        let row = movement
            .expected(b, "a movement")?
            .row()
            .map_err(wrong(b))?;
        if row.completion == Completion::Group {
            let operands = [tiled, source, destination].into_iter().chain(there);
            b.copy(&operands.collect::<Vec<_>>())?;
            return Ok(());
        }
        // Through registers, so that the loads are on their way together.
        let memref = memref_of(source).expected(b, "a tensor")?;
        let layout = Layout::col_major(memref.layout.shape()).map_err(wrong(b))?;
        let ty = tensor::registers(memref.element, layout).to_type(b.location)?;
        let fragment = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
        if there.is_some() {
            b.op(cute::CLEAR, &[fragment], &[], &[])?;
        }
        let load = [tiled, source, fragment].into_iter().chain(there);
        b.copy(&load.collect::<Vec<_>>())?;
        b.copy(&[tiled, fragment, destination])?;
        Ok(())
    }

    /// A fragment of a factor, loaded from its tile in shared memory.
    pub(super) fn load_factor(
        &self,
        b: Builder<'c>,
        way: &Partition<'c>,
        operand: Operand,
        shared: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let id = [("operand_id", b.integer(b.i32_type(), operand as i64))];
        let part = b.infer(
            cute::TILED_MMA_PARTITION,
            &[way.mma, shared, way.thread],
            &id,
        )?;
        let fragment = b.infer(cute::MMA_MAKE_FRAGMENT, &[way.mma, part], &id)?;
        let copy = way.tiled_copy(b, operand, 1)?;
        let source = b.infer(
            cute::TILED_COPY_PARTITION_S,
            &[copy, shared, way.thread],
            &[],
        )?;
        let destination = b.infer(cute::TILED_COPY_RETILE, &[copy, fragment], &[])?;
        b.copy(&[copy, source, destination])?;
        Ok(fragment)
    }

    /// Loads the inputs that differ along columns and that a turn needs.
    pub(super) fn load_columns(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        column: Val<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let starts = self.starts(phase, values);
        self.load_inputs(b, &starts, Domain::Columns, Place::At(column), values)
    }

    /// Loads those of some inputs that are of a domain.
    pub(super) fn load_inputs(
        &self,
        b: Builder<'c>,
        wanted: &HashSet<ValueKey>,
        domain: Domain,
        column: Place<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let factors = self.factors();
        let b = b.step("load inputs");
        for (argument, tensor) in arguments_of(self.fused.body).into_iter().zip(&self.inputs) {
            let is_wanted = wanted.contains(&key(argument)) && !factors.contains(&key(argument));
            if !is_wanted || self.fused.domain(argument) != domain {
                continue;
            }
            let registers = self.allocate(b, argument.r#type(), domain)?;
            self.move_tile(b, domain, [*tensor, registers], column, true)?;
            values.registers.insert(key(argument), (domain, registers));
        }
        Ok(())
    }

    /// The part of a tensor that a block has of a domain, and the mode of its columns.
    pub(super) fn part_of_domain(
        &self,
        b: Builder<'c>,
        domain: Domain,
        tensor: Val<'c>,
        column: Place<'c>,
    ) -> Result<(Part<'c>, usize), Failure> {
        let (mode, columns) = match domain {
            Domain::Outer => (OUTER, self.tile[2]),
            _ => (COLUMNS, self.tile[1]),
        };
        let places = [Place::At(self.at[0]), column];
        let part = self.part(b, tensor, [ROWS, mode], [self.tile[0], columns], places)?;
        Ok((part, mode))
    }

    /// Moves a tile between a tensor in global memory and registers of a domain, as the accumulators hold it.
    pub(super) fn move_tile(
        &self,
        b: Builder<'c>,
        domain: Domain,
        [tensor, registers]: [Val<'c>; 2],
        column: Place<'c>,
        is_load: bool,
    ) -> Result<(), Failure> {
        let way = self.way_of_domain(b, domain)?;
        let (part, mode) = self.part_of_domain(b, domain, tensor, column)?;
        let memref = memref_of(part.tensor).expected(b, "a tensor")?;
        let vector = self
            .neighbours(&part, mode, tensor)
            .expected(b, "a tensor")?;
        let bits = element_bits(memref.element).expected(b, "an element")? * vector;
        let atom = types::copy_atom_type(b.location, memref.element, CopyOp::Universal { bits })?;
        let row = types::copy_row(atom).expected(b, "a copy atom")?;
        let mma = way.plan.tiled_mma().map_err(wrong(b))?;
        let tiled = TiledCopy::make_tiled_copy_c(row, mma).map_err(wrong(b))?;
        let ty = types::tiled_copy_type(b.location, atom, tiled.layout_tv(), tiled.tiler_mn())?;
        let atom = b.value(cute::MAKE_ATOM, &[], atom, &[])?;
        let tiled = b.value(cute::MAKE_TILED_COPY, &[atom], ty, &[])?;
        let of = |name: &str, tensor: Val<'c>| b.infer(name, &[tiled, tensor, way.thread], &[]);
        let there = match part.within {
            Some((coords, end)) => {
                let coords = of(cute::TILED_COPY_PARTITION_S, coords)?;
                Some(self.there(b, coords, end)?)
            }
            None => None,
        };
        let own = b.infer(cute::TILED_COPY_RETILE, &[tiled, registers], &[])?;
        let ends = match is_load {
            true => [of(cute::TILED_COPY_PARTITION_S, part.tensor)?, own],
            false => [own, of(cute::TILED_COPY_PARTITION_D, part.tensor)?],
        };
        if is_load && there.is_some() {
            b.op(cute::CLEAR, &[registers], &[], &[])?;
        }
        let operands = [tiled, ends[0], ends[1]].into_iter().chain(there);
        b.copy(&operands.collect::<Vec<_>>())?;
        Ok(())
    }

    /// Neighbours along columns of a tile that are moved at once: two, where they lie side by side, are aligned together, and there together.
    fn neighbours(&self, part: &Part<'c>, mode: usize, tensor: Val<'c>) -> Option<i64> {
        let (tile, whole) = (memref_of(part.tensor)?, memref_of(tensor)?);
        let leaf = |of: &IntTuple, mode: usize| of.get(mode).and_then(IntTuple::as_leaf).cloned();
        let (shape, stride) = (whole.layout.shape(), whole.layout.stride());
        let is_next = leaf(stride, mode) == Some(Leaf::Static(1));
        let is_even = |leaf: Option<Leaf>| leaf.is_some_and(|leaf| divisor(&leaf) % 2 == 0);
        let is_together = is_even(leaf(stride, ROWS))
            && is_even(leaf(shape, mode))
            && tile.align >= 2 * tile.element_bytes();
        Some(if is_next && is_together { 2 } else { 1 })
    }

    /// A tile of two modes of a tensor.
    pub(super) fn part(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        modes: [usize; 2],
        extents: [i64; 2],
        places: [Place<'c>; 2],
    ) -> Result<Part<'c>, Failure> {
        let mut kept = [0; 4].map(int);
        for mode in modes {
            kept[mode] = IntTuple::underscore();
        }
        let kept = coordinate(b, tuple(kept), &[])?;
        let mut matrix = b.infer(cute::SLICE, &[tensor, kept], &[])?;
        if modes[0] > modes[1] {
            matrix = b.infer(cute::SELECT, &[matrix], &[("mode", b.i32_array(&[1, 0]))])?;
        }
        let tile = Tile::from_shape(&tuple(extents.map(int))).map_err(wrong(b))?;
        let tile = b.static_value(types::tile_type(b.context, &tile))?;
        let at = places.map(|place| match place {
            Place::First => int(0),
            Place::At(_) => IntTuple::dynamic(),
        });
        let leaves: Vec<_> = places
            .iter()
            .filter_map(|place| match place {
                Place::First => None,
                Place::At(value) => Some(*value),
            })
            .collect();
        let at = coordinate(b, tuple(at), &leaves)?;
        let local = |tensor: Val<'c>| b.infer(cute::LOCAL_TILE, &[tensor, tile, at], &[]);
        let ragged = [0, 1].map(|axis| self.ragged_by(modes[axis], extents[axis]));
        let mut within = None;
        if ragged.contains(&true) {
            let identity = local(self.identity(b, modes)?)?;
            let mut end = Vec::new();
            let mut values = Vec::new();
            for (axis, mode) in modes.into_iter().enumerate() {
                end.push(match (ragged[axis], self.known[mode]) {
                    (false, _) => IntTuple::underscore(),
                    (true, Some(known)) => int(known),
                    (true, None) => {
                        values.push(self.extents[mode]);
                        IntTuple::dynamic()
                    }
                });
            }
            within = Some((identity, coordinate(b, tuple(end), &values)?));
        }
        Ok(Part {
            tensor: local(matrix)?,
            within,
        })
    }

    /// The coordinates of all elements of two modes.
    fn identity(&self, b: Builder<'c>, modes: [usize; 2]) -> Result<Val<'c>, Failure> {
        let (mut shape, mut values) = (Vec::new(), Vec::new());
        for mode in modes {
            shape.push(match self.known[mode] {
                Some(known) => int(known),
                None => {
                    values.push(self.extents[mode]);
                    IntTuple::dynamic()
                }
            });
        }
        let shape = tuple(shape);
        let ty = types::shape_type(b.context, &shape);
        let of_shape = match values.is_empty() {
            true => b.static_value(ty)?,
            false => b.value(cute::MAKE_SHAPE, &values, ty, &[])?,
        };
        let layout = Layout::identity(&shape).map_err(wrong(b))?;
        let origin = tuple([int(0), int(0)]);
        let ty = types::coord_tensor_type(b.location, &origin, &layout)?;
        b.value(cute::MAKE_IDENTITY_TENSOR, &[of_shape], ty, &[])
    }

    /// The coordinates of a thread's elements of a tile of columns.
    pub(super) fn coordinates(
        &self,
        b: Builder<'c>,
        domain: Domain,
        column: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let way = self.way_of_domain(b, domain)?;
        let tile = Tile::from_shape(&tuple([self.tile[0], self.tile[1]].map(int)));
        let tile = tile.map_err(wrong(b))?;
        let tile = b.static_value(types::tile_type(b.context, &tile))?;
        let at = tuple([IntTuple::dynamic(), IntTuple::dynamic()]);
        let at = coordinate(b, at, &[self.at[0], column])?;
        let identity = self.identity(b, [ROWS, COLUMNS])?;
        let tile = b.infer(cute::LOCAL_TILE, &[identity, tile, at], &[])?;
        let id = [("operand_id", b.integer(b.i32_type(), 2))];
        b.infer(cute::TILED_MMA_PARTITION, &[way.mma, tile, way.thread], &id)
    }

    /// Tells whether the column of a coordinate is there.
    pub(super) fn is_column(&self, b: Builder<'c>, at: Val<'c>) -> Result<Val<'c>, Failure> {
        let mode = [("mode", b.i32_array(&[COLUMNS as i32]))];
        let here = b.infer(cute::GET, &[at], &mode)?;
        let end = match self.known[COLUMNS] {
            Some(known) => coordinate(b, int(known), &[])?,
            None => b.coord(&IntTuple::dynamic(), &[self.extents[1]])?,
        };
        let truth = types::int_type(b.context, 1);
        b.value(cute::ELEM_LESS, &[here, end], truth, &[])
    }

    /// Computes which vectors of a thread are there: an i1 in registers for each, of the coordinates of their first elements.
    pub(super) fn there(
        &self,
        b: Builder<'c>,
        coords: Val<'c>,
        end: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let Some(CuteType::CoordTensor { layout, .. }) = CuteType::get(coords.r#type()) else {
            return Err(b.error("expected coordinates"));
        };
        let keep = IntTuple::underscore;
        let rest = std::iter::repeat_n(keep(), layout.rank().saturating_sub(1));
        let first = tuple(std::iter::once(tuple([int(0), keep()])).chain(rest));
        let first = coordinate(b, first, &[])?;
        let first = b.infer(cute::SLICE, &[coords, first], &[])?;
        is_there(b, first, end)
    }
}
