//! `cute.block.map`: elements of rows computed from those of others and from reductions over the rows.
//!
//! Each thread holds vectors of a row in registers. The region is computed in stages: what a reduction is of, over a thread's vectors;
//! the reduction, over the vectors and then over the threads of the row; what depends on it. Values that are the same along a row are
//! numbers, and the others registers.

mod memory;
mod region;
mod shifted;
mod stage;
mod staying;
mod threads;

pub(super) use memory::{as_held, as_number};

use super::wrong;
use crate::{arch::WARP, kernel::thread_index};
use cute_arith::{Predicate, ReduceOp};
use cute_ir::ops::{arith, cute, gpu, scf};
use cute_ir::{
    Expected, Failure,
    block::block_size_of,
    maps::{is_same_along, kind_of, tensors, varying},
    mlir::*,
    types::{CuteType, MemRef},
};
use cute_layout::{IntTuple, int, tuple};
use melior::ir::ValueLike;
use region::Region;
use shifted::Shift;
use staying::Kept;
use std::collections::{HashMap, HashSet};

/// A `cute.block.map` that becomes what each thread does.
struct Mapped<'c> {
    region: Region<'c>,
    inputs: Vec<Val<'c>>,
    outputs: Vec<Val<'c>>,
    /// Their types, inputs first.
    types: Vec<MemRef<'c>>,
    /// Threads along rows and columns.
    threads: [i64; 2],
    /// Neighbours that a thread holds together.
    vector: i64,
    /// Vectors that it holds at once.
    vectors: i64,
    by_rows: bool,
    held: bool,
    /// The first row and the first column of the block, and the thread's index in it.
    corner: [Val<'c>; 2],
    thread: Val<'c>,
    /// The extents of rows and columns.
    extents: [Val<'c>; 2],
    /// The thread's row among the block's and among all, and its index among the threads of the row.
    own_row: Val<'c>,
    row: Val<'c>,
    lane: Val<'c>,
    /// An i1 that says whether the row is there; none where it always is.
    is_row: Option<Val<'c>>,
    /// The first vector of the columns that the block takes.
    first: Val<'c>,
    /// The vectors of all columns.
    end: Val<'c>,
    /// True where those that threads take at once are all there.
    is_whole: bool,
    /// The places of the inputs that are read along rows, through shared memory, and how many neighbours at once.
    staged: Vec<i64>,
    row_vector: i64,
    /// True where there is one column, whichever tensor says so: all is the same along rows then.
    is_column: bool,
    /// Where vectors begin that are not those of the first column; none where they begin there.
    shift: Option<Shift<'c>>,
    /// True where a thread computes further rows, as far apart as all blocks reach.
    stays: bool,
    /// What a block that stays keeps in shared memory, of which each thread reads and writes its own.
    kept: Kept<'c>,
    /// True where there may be more rows than the block's threads along rows divide.
    is_part: bool,
}

/// The vectors of a thread that it holds at once.
struct Held<'c> {
    /// Neighbours that a vector has, and vectors.
    values: [i64; 2],
    /// Their places among the vectors of the row.
    places: Vec<Val<'c>>,
    /// An i1 for each that says whether it is there; none where all are.
    there: Option<Val<'c>>,
    /// Elements of the thread's row before the first vector, where that is not the first column.
    head: Option<Val<'c>>,
    /// The part of what a thread holds of a row that it is, and the place of its first vector among those of the part.
    part: Part,
}

/// Vectors among those that a thread holds of a row.
#[derive(Clone, Copy, Default)]
struct Part {
    /// True of the element beside vectors.
    is_edge: bool,
    first: usize,
}

/// The time at which a thread loads inputs that no reduction is of: registers that wait hold nothing else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Late {
    /// With the others.
    No,
    /// Behind the last reduction.
    Yes,
    /// There too, vector by vector, each of which is stored before the next one is loaded.
    ByVector,
}

/// The values of the region, as far as they are computed.
#[derive(Default)]
struct Values<'c> {
    /// Those that are the same along a row.
    numbers: Mapping<'c>,
    /// Registers of the others.
    registers: Registers<'c>,
}

/// Registers of the arguments of a region.
type Registers<'c> = HashMap<ValueKey, Val<'c>>;

/// Puts what each thread does in place of the op.
pub(super) fn lower<'c>(op: cute::BlockMap<'c>) -> Result<(), Failure> {
    let b = Builder::before(op.op());
    let mut mapped = Mapped::of(b, op)?;
    match mapped.stays {
        true => mapped.staying(b),
        false => mapped.all(b, Vec::new()),
    }
}

impl<'c> Mapped<'c> {
    fn of(b: Builder<'c>, op: cute::BlockMap<'c>) -> Result<Self, Failure> {
        let pair = |of: Option<melior::ir::Attribute<'c>>| -> Option<[i64; 2]> {
            of.and_then(i64s_of)?.try_into().ok()
        };
        let threads = pair(op.threads()).expected(b, "numbers of threads")?;
        let [vector, vectors] = pair(op.values()).expected(b, "numbers of values")?;
        let (inputs, outputs) = (op.inputs(), op.outputs());
        let all = [inputs.clone(), outputs.clone()].concat();
        let types = tensors(&all).expected(b, "tensors")?;
        let body = op.body().expected(b, "a region")?;
        let [by_rows, held] = [op.by_rows(), op.held()].map(|is| is.is_some());
        let size = block_size_of(parent_of(op.op(), gpu::FUNC).expected(b, "a kernel")?);
        if size != Some([threads[0] * threads[1], 1, 1]) {
            return Err(b.error(format!(
                "'{}' op is done by {} x {} threads; expected a kernel with known_block_size = array<i32: {}, 1, 1>",
                cute::BLOCK_MAP,
                threads[0],
                threads[1],
                threads[0] * threads[1]
            )));
        }
        let thread = thread_index(b)?;
        let [fast, slow] = match by_rows {
            true => [0, 1],
            false => [1, 0],
        };
        let mut own = [thread; 2];
        own[fast] = word(b, arith::REMUI, thread, b.i32(threads[fast])?)?;
        own[slow] = word(b, arith::DIVUI, thread, b.i32(threads[fast])?)?;

        let corner = leaves_of(b, op.at())?;
        let [first_row, first_column] = [corner[0], corner[1]];
        let row = word(b, arith::ADDI, first_row, own[0])?;
        let extent = |mode: usize| -> Result<(Option<i64>, Val<'c>), Failure> {
            let known = types.iter().find_map(|tensor| {
                let mode = tensor.layout.mode(mode).ok()?;
                mode.shape().is_static().then(|| mode.size().ok())?
            });
            match known {
                Some(known) => Ok((Some(known), b.i32(known)?)),
                None => {
                    let mode = [("mode", b.i32_array(&[mode as i32]))];
                    let size = b.infer(cute::SIZE, &[all[0]], &mode)?;
                    let size = b.infer(cute::GET_SCALARS, &[size], &[])?;
                    // A launch has no more rows or columns than 32 bits hold.
                    let size = match size.r#type() == b.i32_type() {
                        true => size,
                        false => b.value(arith::TRUNCI, &[size], b.i32_type(), &[])?,
                    };
                    Ok((None, size))
                }
            }
        };
        let (rows, columns) = (extent(0)?, extent(1)?);
        let is_part = threads[0] > 1 && rows.0.is_none_or(|rows| rows % threads[0] != 0);
        let at_once = threads[1] * vector * vectors;
        let is_whole = columns.0.is_some_and(|columns| columns % at_once == 0);
        let end = word(b, arith::DIVUI, columns.1, b.i32(vector)?)?;
        let first = word(b, arith::DIVUI, first_column, b.i32(vector)?)?;
        let mut end = end;
        if let Some(own) = op.columns().and_then(integer_value) {
            // Others reduce what comes behind.
            let own = word(b, arith::ADDI, first, b.i32(own / vector)?)?;
            end = word(b, arith::MINSI, end, own)?;
        }
        let inputs_types = &types[..inputs.len()];
        let is_column = columns.0 == Some(1);
        let differs = match is_column {
            true => HashSet::new(),
            false => varying(body, inputs_types, |mode| mode == 1),
        };
        let inputs = inputs.into_iter().map(|input| memory::as_bits(b, input));
        let inputs = inputs.collect::<Result<Vec<_>, Failure>>()?;
        let outputs = outputs.into_iter().map(|output| memory::as_bits(b, output));
        let outputs = outputs.collect::<Result<Vec<_>, Failure>>()?;
        let mut mapped = Self {
            region: Region { body, differs },
            inputs,
            outputs,
            threads,
            vector,
            vectors,
            by_rows,
            held,
            corner: [first_row, first_column],
            thread,
            extents: [rows.1, columns.1],
            own_row: own[0],
            row,
            lane: own[1],
            is_row: None,
            first,
            end,
            is_whole,
            staged: op.staged().and_then(i64s_of).unwrap_or_default(),
            row_vector: op.row_vector().and_then(integer_value).unwrap_or(1),
            is_column,
            types,
            shift: None,
            stays: op.stays().is_some(),
            kept: Kept::default(),
            is_part,
        };
        mapped.at_row(b, row)?;
        if let Some(lead) = op.aligned_by().and_then(integer_value) {
            mapped.shift = Some(mapped.shifted(b, lead)?);
            // There is one vector less than columns are.
            mapped.is_whole = false;
        }
        Ok(mapped)
    }

    /// Turns to a row, which is behind the last one where that is no whole number of the block's threads along rows.
    fn at_row(&mut self, b: Builder<'c>, row: Val<'c>) -> Result<(), Failure> {
        self.row = row;
        if self.is_part {
            self.is_row = Some(b.compare(Predicate::Slt, row, self.extents[0])?);
            // Threads beyond the last row take numbers of that one, and neither read nor write elements.
            let last = word(b, arith::SUBI, self.extents[0], b.i32(1)?)?;
            self.row = word(b, arith::MINSI, row, last)?;
        }
        Ok(())
    }

    /// Tells whether a tensor has one element for each row.
    fn is_number(&self, memref: &MemRef<'c>) -> bool {
        self.is_column || is_same_along(&memref.layout, 1)
    }

    /// Writes all that a thread does of a row. `loaded` has, of each of the parts that a thread holds at once, what was loaded before.
    fn all(&self, b: Builder<'c>, loaded: Vec<Registers<'c>>) -> Result<(), Failure> {
        let mut values = Values::default();
        let arguments = arguments_of(self.region.body);
        let inputs = self.inputs.iter().zip(&self.types).zip(&arguments);
        for ((tensor, memref), argument) in inputs {
            if self.is_number(memref) {
                let number = self.load_number(b.step("load inputs"), *tensor)?;
                let number = memory::as_number(b, number, argument.r#type())?;
                values.numbers.insert(key(*argument), number);
            }
        }
        let stages = self.region.stages();
        match self.held || stages.is_empty() {
            true => self.at_once(b, &stages, &mut values, loaded)?,
            false => self.in_turns(b, &stages, &mut values)?,
        }
        self.store_numbers(b, &values)
    }

    /// Computes what there is for the vectors that a thread holds at once, which it loads once.
    fn at_once(
        &self,
        b: Builder<'c>,
        stages: &[Vec<cute::AllReduce<'c>>],
        values: &mut Values<'c>,
        loaded: Vec<Registers<'c>>,
    ) -> Result<(), Failure> {
        let all = self.held_at_once(b)?;
        let mut loaded = loaded.into_iter();
        let late = self.late(stages);
        let first = match late {
            Late::No => self.region.wanted(),
            _ => reduced(stages),
        };
        let mut parts = Vec::new();
        for held in all {
            let mut own = values.clone();
            own.registers.extend(loaded.next().unwrap_or_default());
            self.load(b, &first, &held, &mut own)?;
            parts.push((held, own));
        }
        for (at, stage) in stages.iter().enumerate() {
            self.region.advance(b, values)?;
            for (held, own) in &mut parts {
                own.numbers.clone_from(&values.numbers);
                for value in self.region.kept(stages, at) {
                    let registers = self.compute(b, value, held, own, None)?;
                    own.registers.insert(key(value), registers);
                }
            }
            for reduce in stage {
                let mut number = None;
                for (held, own) in &parts {
                    let part = self.partial(b, reduce, held, own)?;
                    number = Some(match number {
                        Some(before) => self.reduction(b, reduce)?.combined(b, before, part)?,
                        None => part,
                    });
                }
                let number = number.expected(b, "a thread's part")?;
                self.finish(b, reduce, number, values)?;
            }
        }
        self.region.advance(b, values)?;
        for (held, own) in &mut parts {
            own.numbers.clone_from(&values.numbers);
            if late == Late::ByVector {
                for at in 0..held.places.len() {
                    let (held, mut own) = one(b, held, own, at)?;
                    self.load(b, &self.region.wanted(), &held, &mut own)?;
                    self.store(b, &held, &own)?;
                }
                continue;
            }
            self.load(b, &self.region.wanted(), held, own)?;
            self.store(b, held, own)?;
        }
        Ok(())
    }

    /// The parts of a row that a thread holds at once: its vectors, and an element beside them where there are such.
    fn held_at_once(&self, b: Builder<'c>) -> Result<Vec<Held<'c>>, Failure> {
        let mut all = vec![self.places(b, self.first)?];
        all.extend(self.edge(b)?);
        Ok(all)
    }

    /// Computes each stage along whole rows, some vectors at a time, which are loaded again for each.
    fn in_turns(
        &self,
        b: Builder<'c>,
        stages: &[Vec<cute::AllReduce<'c>>],
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        for stage in stages {
            self.region.advance(b, values)?;
            let targets: Vec<_> = stage.iter().map(|reduce| reduce.value()).collect();
            let edge = self.edge(b)?;
            let mut beside = values.clone();
            if let Some(edge) = &edge {
                self.load(b, &targets, edge, &mut beside)?;
            }
            let initial = stage.iter().map(|reduce| match &edge {
                Some(edge) => self.partial(b, reduce, edge, &beside),
                None => self.reduction(b, reduce)?.neutral(b),
            });
            let initial = initial.collect::<Result<Vec<_>, _>>()?;
            let sums = self.each(b, &initial, |l, held, sums| {
                let mut inner = values.clone();
                self.load(l, &targets, held, &mut inner)?;
                let mut next = Vec::new();
                for (reduce, sum) in stage.iter().zip(sums) {
                    let part = self.partial(l, reduce, held, &inner)?;
                    next.push(self.reduction(l, reduce)?.combined(l, *sum, part)?);
                }
                Ok(next)
            })?;
            for (reduce, sum) in stage.iter().zip(sums) {
                self.finish(b, reduce, sum, values)?;
            }
        }
        self.region.advance(b, values)?;
        let yielded = self.full_outputs().map(|(at, _)| self.region.yielded(at));
        let yielded: Option<Vec<_>> = yielded.collect();
        let yielded = yielded.expected(b, "yielded values")?;
        if yielded.is_empty() {
            return Ok(());
        }
        self.each(b, &[], |l, held, _| {
            let mut inner = values.clone();
            self.load(l, &yielded, held, &mut inner)?;
            self.store(l, held, &inner)?;
            Ok(Vec::new())
        })?;
        if let Some(edge) = self.edge(b)? {
            let mut beside = values.clone();
            self.load(b, &yielded, &edge, &mut beside)?;
            self.store(b, &edge, &beside)?;
        }
        Ok(())
    }

    /// The outputs that have an element for each column, by their places.
    fn full_outputs(&self) -> impl Iterator<Item = (usize, Val<'c>)> {
        let types = &self.types[self.inputs.len()..];
        let outputs = self.outputs.iter().copied().enumerate();
        outputs.filter(|(at, _)| !self.is_number(&types[*at]))
    }

    /// A loop along the columns of a row, with what it carries from turn to turn. Returns what it ends with.
    fn each(
        &self,
        b: Builder<'c>,
        initial: &[Val<'c>],
        turn: impl FnOnce(Builder<'c>, &Held<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>, Failure>,
    ) -> Result<Vec<Val<'c>>, Failure> {
        let step = b.i32(self.threads[1] * self.vectors)?;
        let carried: Vec<_> = initial.iter().map(|value| value.r#type()).collect();
        let arguments: Vec<_> = std::iter::once(b.i32_type())
            .chain(carried.iter().copied())
            .map(|ty| (ty, b.location))
            .collect();
        let (region, body) = Detached::with_block(&arguments);
        let operands = [&[self.first, self.end, step], initial].concat();
        let op = b.with_regions(scf::FOR, &operands, &carried, &[], vec![region])?;
        let l = Builder::at_end(b.context, body, b.location);
        let held = self.places(l, argument(body, 0))?;
        let next = turn(l, &held, &arguments_of(body)[1..])?;
        l.op(scf::YIELD, &next, &[], &[])?;
        Ok(results_of(op))
    }

    /// The places of the vectors that a thread holds, of those from `first` on.
    fn indices(&self, b: Builder<'c>, first: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let own = word(b, arith::ADDI, first, self.lane)?;
        let place = |vector| word(b, arith::ADDI, own, b.i32(vector * self.threads[1])?);
        (0..self.vectors).map(place).collect()
    }

    /// The vectors that a thread holds, of those from `first` on, and which are there.
    fn places(&self, b: Builder<'c>, first: Val<'c>) -> Result<Held<'c>, Failure> {
        let places = self.indices(b, first)?;
        let mut truths = Vec::new();
        for place in &places {
            let before = match self.is_whole {
                true => None,
                false => Some(b.compare(Predicate::Slt, *place, self.end)?),
            };
            truths.push(match (before, self.is_row) {
                (Some(before), Some(is_row)) => {
                    Some(b.value(arith::ANDI, &[before, is_row], before.r#type(), &[])?)
                }
                (before, is_row) => before.or(is_row),
            });
        }
        let truths: Option<Vec<_>> = truths.into_iter().collect();
        let there = match truths {
            Some(truths) => Some(self.truths(b, &truths)?),
            None => None,
        };
        Ok(Held {
            values: [self.vector, self.vectors],
            places,
            there,
            head: self.shift.as_ref().map(|shift| shift.head),
            part: Part::default(),
        })
    }

    /// Tells when to load what no reduction is of.
    fn late(&self, stages: &[Vec<cute::AllReduce<'c>>]) -> Late {
        let none = Values::default();
        let inputs = |targets: &[Val<'c>]| {
            let all = self.region.inputs_of(targets, &none).into_iter();
            all.filter(|at| !self.is_number(&self.types[*at])).count()
        };
        let others = inputs(&self.region.wanted()) - inputs(&reduced(stages));
        match (&self.shift, others) {
            _ if stages.is_empty() || others == 0 => Late::No,
            (Some(_), _) => Late::ByVector,
            _ if self.stays => Late::ByVector,
            // Rows of a warp are too short to wait for it.
            (None, 1) => Late::No,
            (None, _) if self.threads[1] <= WARP => Late::No,
            (None, _) => Late::Yes,
        }
    }

    /// The kind of a reduction.
    fn kind(&self, b: Builder<'c>, reduce: &cute::AllReduce<'c>) -> Result<ReduceOp, Failure> {
        kind_of(reduce).expected(b, "a known kind")
    }
}

/// The values that are reduced.
fn reduced<'c>(stages: &[Vec<cute::AllReduce<'c>>]) -> Vec<Val<'c>> {
    let all = stages.iter().flatten();
    all.map(|reduce| reduce.value()).collect()
}

/// One of the vectors that a thread holds, and the values of its elements.
fn one<'c>(
    b: Builder<'c>,
    held: &Held<'c>,
    values: &Values<'c>,
    at: usize,
) -> Result<(Held<'c>, Values<'c>), Failure> {
    let ([vector, _], own) = (held.values, int(at as i64));
    let mut registers = HashMap::new();
    for (of, tensor) in &values.registers {
        let at = tuple([int(0), own.clone()]);
        registers.insert(*of, memory::part(b, *tensor, &at, [vector, 1])?);
    }
    let there = held.there.map(|there| memory::part(b, there, &own, [1, 1]));
    let held = Held {
        values: [vector, 1],
        places: vec![held.places[at]],
        there: there.transpose()?,
        head: held.head,
        part: Part {
            first: held.part.first + at,
            ..held.part
        },
    };
    let numbers = values.numbers.clone();
    Ok((held, Values { numbers, registers }))
}

impl Clone for Values<'_> {
    fn clone(&self) -> Self {
        Self {
            numbers: self.numbers.clone(),
            registers: self.registers.clone(),
        }
    }
}

/// An operation on integers of 32 bits.
fn word<'c>(b: Builder<'c>, name: &str, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>, Failure> {
    b.value(name, &[x, y], b.i32_type(), &[])
}

/// The integers of a coordinate.
pub(super) fn leaves_of<'c>(b: Builder<'c>, at: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
    let Some(CuteType::Coord(coord)) = CuteType::get(at.r#type()) else {
        return Err(b.error("expected a coordinate"));
    };
    let mut open = b
        .infer_all(cute::GET_SCALARS, &[at], &[("only_dynamic", b.unit())])?
        .into_iter();
    let mut leaf = |mode: usize| match coord.get(mode).and_then(IntTuple::as_static) {
        Some(known) => b.i32(known),
        None => open.next().expected(b, "an integer of a coordinate"),
    };
    (0..coord.rank()).map(&mut leaf).collect()
}
