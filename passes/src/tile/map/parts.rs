//! Reductions of few, long lines: several blocks have a part of each line, and leave what it comes to in a workspace; a map behind reduces that.
//!
//! A map becomes several, one after another. For each stage of its reductions, of which one uses those before it: a map whose blocks reduce ranges
//! of columns, of which the range is the index of a third mode; and a map that reduces what those left, in an order that is always the same. Then one for
//! what is yielded for each row, where that is more than a reduction, and one for what is yielded for each element.

use super::{Map, Whole};
use crate::tile::{
    all_reduce,
    leaves::{open_leaves, view_at},
    numbers::{Modes, Number, tensor_at},
};
use cute_arith::{Predicate, ReduceOp};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    maps::{is_same_along, kind_of},
    mlir::*,
    types::{MemRef, Space},
};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::{Type, ValueLike};
use std::collections::{HashMap, HashSet};

/// Columns of a part are a multiple of this, which no block takes more of at once.
const STEP: i64 = 1 << 13;

/// Columns of a part where only a launch knows how many there are.
const OPEN: i64 = 1 << 15;

/// Rows at most that are known, and columns at least, of which a launch is split where only it knows how many columns there are.
const FEW: i64 = 16;
const LONG: i64 = 1 << 18;

/// Picoseconds that a block takes for a kilobyte of what it reads, at 60 GB/s, and all blocks together, at 4.1 TB/s; and those of each further kernel.
/// The first and the last are estimates that the model of products has (`plan/cost.rs`); nothing of this was measured.
const ONE: i64 = 17_000;
const ALL: i64 = 250;
const KERNEL: i64 = 3_000_000;

/// The ranges of columns that blocks reduce, and the condition of a launch to do so; none where it always does.
pub(super) struct Parts<'c> {
    columns: i64,
    pub(super) condition: Option<Val<'c>>,
}

impl<'c> Map<'c> {
    /// The parts of lines, if it pays to split them.
    pub(super) fn parts(
        &self,
        host: Builder<'c>,
        most: usize,
    ) -> Result<Option<Parts<'c>>, Failure> {
        if !self.reduces || self.is_part() || self.is_batched() {
            return Ok(None);
        }
        let (rows, columns) = (self.known(0), self.known(1));
        let bytes = self.tensors[..self.inputs].iter();
        let bytes = bytes.filter(|whole| !is_same_along(&whole.layout, 1));
        let bytes: i64 = bytes.map(|whole| whole.memref.element_bytes()).sum();
        if let (Some(rows), Some(columns)) = (rows, columns) {
            let sms = i64::from(self.archs.first().multiprocessors());
            let at_once = match self.arrangements(1).first() {
                Some(way) => way.tile(0),
                None => 1,
            };
            let blocks = rows / at_once + i64::from(rows % at_once != 0);
            let waves = blocks / sms + i64::from(blocks % sms != 0);
            let kilobytes = |elements: i64| elements.saturating_mul(bytes) >> 10;
            // Each stage reads the lines, and so does what is yielded for each element.
            let numbers = self.tensors[self.inputs..]
                .iter()
                .map(|whole| is_same_along(&whole.layout, 1));
            let (some, all) =
                numbers.fold((false, true), |(some, all), is| (some || is, all && is));
            let stages = body_of(self.op, 0).map_or(0, |body| stages(body).len() as i64);
            let (reads, maps) = (
                stages + i64::from(!all),
                2 * stages + i64::from(some) + i64::from(!all),
            );
            let alone = kilobytes(columns.saturating_mul(at_once)).saturating_mul(waves * reads);
            let together = kilobytes(columns.saturating_mul(rows)).saturating_mul(reads);
            let whole = alone.saturating_mul(ONE);
            let split = together.saturating_mul(ALL).saturating_add(KERNEL * maps);
            let each = columns.saturating_mul(rows) / (4 * sms);
            let each = (each / STEP + 1).saturating_mul(STEP);
            let pays = whole / 2 > split && columns > 2 * each;
            return Ok(pays.then_some(Parts {
                columns: each,
                condition: None,
            }));
        }
        // Of norms and the like there are many lines, and more kernels would take as long to compile as those that are launched.
        let is_few = rows.is_some_and(|rows| rows <= FEW);
        let outputs = &self.tensors[self.inputs..];
        let only_numbers = outputs.iter().all(|whole| is_same_along(&whole.layout, 1));
        let stages = body_of(self.op, 0).map_or(0, |body| stages(body).len());
        if most < 2 || !is_few || !only_numbers || stages > 1 || columns.is_some() {
            return Ok(None);
        }
        let long = host.constant(host.index_type(), LONG)?;
        let condition = host.compare(Predicate::Sge, self.extent(host, 1)?, long)?;
        Ok(Some(Parts {
            columns: OPEN,
            condition: Some(condition),
        }))
    }

    /// Writes the maps that compute this one in parts, and their launches.
    pub(super) fn lower_parts(
        &self,
        rewriter: &Rewriter<'c>,
        host: Builder<'c>,
        parts: &Parts<'c>,
        (home, name): (Op<'c>, &str),
    ) -> Result<(), Failure> {
        let mut split = Split {
            map: self,
            host,
            rewriter,
            place: (home, name),
            body: body_of(self.op, 0).expected(self.op, "a region")?,
            finals: HashMap::new(),
            written: 0,
            rows: self.number(host, 0)?,
            columns: self.number(host, 1)?,
            count: parts.columns,
            parts: Number::Known(1),
        };
        split.parts = match split.columns {
            Number::Known(columns) => {
                Number::Known(columns / parts.columns + i64::from(columns % parts.columns != 0))
            }
            Number::Value(columns) => {
                let index = host.index_type();
                let each = host.constant(index, parts.columns)?;
                Number::Value(host.value(arith::CEILDIVSI, &[columns, each], index, &[])?)
            }
        };
        split.all()
    }

    /// The extent of rows (0) or columns (1).
    fn number(&self, host: Builder<'c>, axis: usize) -> Result<Number<'c>, Failure> {
        match self.known(axis) {
            Some(known) => Ok(Number::Known(known)),
            None => Ok(Number::Value(self.extent(host, axis)?)),
        }
    }
}

/// A map that is written as several.
struct Split<'a, 'c> {
    map: &'a Map<'c>,
    host: Builder<'c>,
    rewriter: &'a Rewriter<'c>,
    place: (Op<'c>, &'a str),
    body: Blk<'c>,
    /// The pointers to what reductions come to, by their results: a number for each row.
    finals: HashMap<ValueKey, (Val<'c>, Type<'c>)>,
    /// The number of maps so far.
    written: usize,
    rows: Number<'c>,
    columns: Number<'c>,
    /// Columns of a part, and parts.
    count: i64,
    parts: Number<'c>,
}

/// The shapes of the maps: rows and parts of them; rows and what parts left; rows alone; rows and columns.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Ranges,
    Parts,
    Rows,
    Whole,
}

impl<'c> Split<'_, 'c> {
    fn all(&mut self) -> Result<(), Failure> {
        let stages = stages(self.body);
        let end = ops_of(self.body).pop().expected(self.host, "a yield")?;
        let yields = operands_of(end);
        let outputs: Vec<&Whole<'c>> = self.map.tensors[self.map.inputs..].iter().collect();
        let is_number = |at: usize| is_same_along(&outputs[at].layout, 1);
        for stage in &stages {
            let partials = self.reduce_ranges(stage)?;
            self.reduce_parts(stage, &partials)?;
        }
        for (shape, wanted) in [(Shape::Rows, true), (Shape::Whole, false)] {
            let own: Vec<usize> = (0..outputs.len())
                .filter(|at| is_number(*at) == wanted)
                .collect();
            if own.is_empty() {
                continue;
            }
            let targets: Vec<Val<'c>> = own.iter().map(|at| yields[*at]).collect();
            let mut tensors = Vec::new();
            for at in &own {
                tensors.push(self.view(outputs[*at], shape)?);
            }
            self.elements(shape, &targets, tensors)?;
        }
        Ok(())
    }

    /// A tensor of the map as rows and columns, or of one of the other shapes.
    fn view(&self, whole: &Whole<'c>, shape: Shape) -> Result<Val<'c>, Failure> {
        let host = self.host;
        let start = host.infer(cute::GET_ITER, &[whole.tensor], &[])?;
        let [mut of_shape, mut of_stride] =
            open_leaves(host, whole.tensor, &whole.memref, &self.map.modes)?;
        let (extents, strides) = (whole.layout.shape(), whole.layout.stride());
        let (mut extents, mut strides) = (extents.modes().to_vec(), strides.modes().to_vec());
        if shape != Shape::Whole && shape != Shape::Ranges {
            // What is the same along columns, at one of them.
            let open = |of: &IntTuple| of.leaves().iter().filter(|leaf| !leaf.is_static()).count();
            of_shape.truncate(open(&extents[0]));
            of_stride.truncate(open(&strides[0]));
            (extents[1], strides[1]) = (int(1), int(0));
        }
        if shape == Shape::Ranges {
            extents.push(self.parts.leaf(host, 32, &mut of_shape)?);
            strides.push(int(0));
        }
        let layout = Layout::new(tuple(extents), tuple(strides));
        let layout = layout.map_err(|e| host.error(e.to_string()))?;
        let memref = MemRef {
            layout,
            ..whole.memref.clone()
        };
        view_at(host, start, &memref, [&of_shape, &of_stride])
    }

    /// A tensor in a workspace with a number for each row, of one of the shapes.
    fn of_rows(
        &self,
        (start, element): (Val<'c>, Type<'c>),
        shape: Shape,
    ) -> Result<Val<'c>, Failure> {
        let known = Number::Known;
        let columns = match shape {
            Shape::Ranges | Shape::Whole => self.columns,
            Shape::Parts => self.parts,
            Shape::Rows => known(1),
        };
        let mut modes: Modes<'c> = vec![vec![[self.rows, known(1)]], vec![[columns, known(0)]]];
        if shape == Shape::Ranges {
            modes.push(vec![[self.parts, known(0)]]);
        }
        tensor_at(self.host, start, &numbers(self.host, element)?, &modes)
    }

    /// Reserves a workspace of so many numbers for each row.
    fn reserve(&self, element: Type<'c>, each: Number<'c>) -> Result<Val<'c>, Failure> {
        let host = self.host;
        let memref = numbers(host, element)?;
        let bytes = Number::Known(memref.element_bytes());
        let bytes = bytes.times(host, self.rows)?.times(host, each)?;
        let ty = memref.to_ptr_type(host.location)?;
        host.value(cute::WORKSPACE, &[bytes.value(host)?], ty, &[])
    }

    /// The inputs of a map of a shape: those of the whole one, and what reductions came to so far; and the values that they stand for.
    fn inputs(&self, shape: Shape) -> Result<(Vec<Val<'c>>, Vec<Val<'c>>), Failure> {
        let (mut tensors, mut values) = (Vec::new(), Vec::new());
        let arguments = arguments_of(self.body);
        for (whole, argument) in self.map.tensors[..self.map.inputs].iter().zip(arguments) {
            if shape == Shape::Rows && !is_same_along(&whole.layout, 1) {
                continue;
            }
            tensors.push(self.view(whole, shape)?);
            values.push(argument);
        }
        for op in ops_of(self.body) {
            let Some(reduce) = cute::AllReduce::of(op) else {
                continue;
            };
            if let Some(stored) = self.finals.get(&key(reduce.result())) {
                tensors.push(self.of_rows(*stored, shape)?);
                values.push(reduce.result());
            }
        }
        Ok((tensors, values))
    }

    /// Writes the map in which blocks reduce ranges of columns; returns the workspaces that they leave it in.
    fn reduce_ranges(&mut self, stage: &[cute::AllReduce<'c>]) -> Result<Vec<Val<'c>>, Failure> {
        let (inputs, values) = self.inputs(Shape::Ranges)?;
        let (mut outputs, mut pointers) = (Vec::new(), Vec::new());
        for reduce in stage {
            let element = reduce.value().r#type();
            let pointer = self.reserve(element, self.parts)?;
            let known = Number::Known;
            let modes: Modes<'c> = vec![
                vec![[self.rows, known(1)]],
                vec![[self.columns, known(0)]],
                vec![[self.parts, self.rows]],
            ];
            outputs.push(tensor_at(
                self.host,
                pointer,
                &numbers(self.host, element)?,
                &modes,
            )?);
            pointers.push(pointer);
        }
        let body = self.body;
        let count = Some(self.count);
        self.map([inputs, outputs], count, |l, arguments| {
            let mut mapping = Mapping::new();
            for (value, argument) in values.iter().zip(arguments) {
                mapping.insert(key(*value), *argument);
            }
            copy_known(l, body, &mut mapping, &values)?;
            let mut yielded = Vec::new();
            for reduce in stage {
                let value = mapping.get(&key(reduce.value())).copied();
                // A number of the function is reduced as it is.
                yielded.push(reduced_like(l, reduce, value.unwrap_or(reduce.value()))?);
            }
            Ok(yielded)
        })?;
        Ok(pointers)
    }

    /// Writes the map that reduces what is left of the ranges.
    fn reduce_parts(
        &mut self,
        stage: &[cute::AllReduce<'c>],
        partials: &[Val<'c>],
    ) -> Result<(), Failure> {
        let host = self.host;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (reduce, pointer) in stage.iter().zip(partials) {
            let element = reduce.value().r#type();
            let modes: Modes<'c> = vec![
                vec![[self.rows, Number::Known(1)]],
                vec![[self.parts, self.rows]],
            ];
            inputs.push(tensor_at(
                host,
                *pointer,
                &numbers(self.host, element)?,
                &modes,
            )?);
            let stored = (self.reserve(element, Number::Known(1))?, element);
            outputs.push(self.of_rows(stored, Shape::Parts)?);
            self.finals.insert(key(reduce.result()), stored);
        }
        let count = match self.columns {
            Number::Known(known) => host.constant(host.i64_type(), known)?,
            Number::Value(value) => {
                host.value(arith::INDEX_CAST, &[value], host.i64_type(), &[])?
            }
        };
        self.map([inputs, outputs], None, |l, arguments| {
            let mut yielded = Vec::new();
            for (reduce, argument) in stage.iter().zip(arguments) {
                let mut value = reduced_like(l, reduce, *argument)?;
                if kind_of(reduce) == Some(ReduceOp::Mean) {
                    let ty = value.r#type();
                    let count = l.value(arith::SITOFP, &[count], ty, &[])?;
                    value = l.value(arith::DIVF, &[value, count], ty, &[])?;
                }
                yielded.push(value);
            }
            Ok(yielded)
        })
    }

    /// Writes the map of what is yielded once all reductions are known.
    fn elements(
        &mut self,
        shape: Shape,
        targets: &[Val<'c>],
        outputs: Vec<Val<'c>>,
    ) -> Result<(), Failure> {
        let (inputs, values) = self.inputs(shape)?;
        let body = self.body;
        self.map([inputs, outputs], None, |l, arguments| {
            let mut mapping = Mapping::new();
            for (value, argument) in values.iter().zip(arguments) {
                mapping.insert(key(*value), *argument);
            }
            copy_known(l, body, &mut mapping, &values)?;
            let of = |value: &Val<'c>| mapping.get(&key(*value)).copied().unwrap_or(*value);
            Ok(targets.iter().map(of).collect())
        })
    }

    /// Writes a map of tensors, or of ranges of columns, and lowers it.
    fn map(
        &mut self,
        [inputs, outputs]: [Vec<Val<'c>>; 2],
        columns: Option<i64>,
        region: impl FnOnce(Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>, Failure>,
    ) -> Result<(), Failure> {
        let host = self.host;
        let mut arguments = Vec::new();
        for input in &inputs {
            let element = cute_ir::types::memref_of(*input)
                .expected(host, "a tensor")?
                .element;
            arguments.push((cute_ir::algorithm::argument_type(element), host.location));
        }
        let (made, block) = Detached::with_block(&arguments);
        let count = |values: &[Val<'c>]| i32::try_from(values.len()).unwrap_or(0);
        let segments = host.i32_array(&[count(&inputs), count(&outputs)]);
        let operands = [inputs, outputs].concat();
        let attributes = [("operandSegmentSizes", segments)];
        let op = host.with_regions(cute::MAP, &operands, &[], &attributes, vec![made])?;
        let l = Builder::at_end(host.context, block, host.location);
        let yielded = region(l, &arguments_of(block))?;
        l.op(cute::YIELD, &yielded, &[], &[])?;
        let all: Vec<Val<'c>> = self.map.tensors.iter().map(|whole| whole.tensor).collect();
        let map = Map::of_values(op, self.map.function, &self.map.archs, (&all, columns))?;
        let (home, name) = self.place;
        let name = format!("{name}_part_{}", self.written);
        self.written += 1;
        // What must hold, the launch of the whole map asserts.
        let kernels = map.kernels(home, &name, 1)?;
        map.launch_one(host, &kernels.0)?;
        self.rewriter.erase(op)
    }
}

/// A tensor of numbers in a workspace, but for its layout.
fn numbers<'c>(host: Builder<'c>, element: Type<'c>) -> Result<MemRef<'c>, Failure> {
    Ok(MemRef {
        element,
        space: Space::Gmem,
        align: 16,
        swizzle: None,
        inner: None,
        layout: Layout::leaf(1, 0).map_err(|e| host.error(e.to_string()))?,
    })
}

/// The reductions of a region, those of a stage together, each of which depends on those of the stages before it alone.
fn stages<'c>(body: Blk<'c>) -> Vec<Vec<cute::AllReduce<'c>>> {
    let mut depth: HashMap<ValueKey, usize> = HashMap::new();
    let mut stages: Vec<Vec<cute::AllReduce<'c>>> = Vec::new();
    for op in ops_of(body) {
        let used = operands_of(op);
        let before = used.iter().filter_map(|value| depth.get(&key(*value)));
        let mut at = before.copied().max().unwrap_or(0);
        if let Some(reduce) = cute::AllReduce::of(op) {
            if stages.len() <= at {
                stages.resize_with(at + 1, Vec::new);
            }
            stages[at].push(reduce);
            at += 1;
        }
        depth.extend(results_of(op).into_iter().map(|value| (key(value), at)));
    }
    stages
}

/// Copies the operations of a region that are computed from known values alone, but for reductions and its end.
fn copy_known<'c>(
    l: Builder<'c>,
    body: Blk<'c>,
    mapping: &mut Mapping<'c>,
    known: &[Val<'c>],
) -> Result<(), Failure> {
    let mut unknown: HashSet<ValueKey> = HashSet::new();
    let known: HashSet<ValueKey> = known.iter().map(|value| key(*value)).collect();
    for argument in arguments_of(body) {
        if !known.contains(&key(argument)) {
            unknown.insert(key(argument));
        }
    }
    for op in ops_of(body) {
        let results = results_of(op);
        let is_reduction = cute::AllReduce::of(op).is_some();
        let uses = operands_of(op)
            .iter()
            .any(|value| unknown.contains(&key(*value)));
        if is_reduction {
            unknown.extend(
                results
                    .into_iter()
                    .map(key)
                    .filter(|result| !known.contains(result)),
            );
        } else if uses {
            unknown.extend(results.into_iter().map(key));
        } else if name_of(op) != cute::YIELD {
            l.at_location(melior::ir::operation::OperationLike::location(&op))
                .clone_op(op, mapping);
        }
    }
    Ok(())
}

/// A reduction of a value along columns, of the kind of another one; a mean is a sum.
fn reduced_like<'c>(
    l: Builder<'c>,
    like: &cute::AllReduce<'c>,
    value: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let kind = kind_of(like).expected(l, "a known kind")?;
    all_reduce(l, kind, value, 1)
}
