//! `cute.block.fuse`: rows of sums of products, of what is computed of them, and of reductions along columns.
//!
//! Each warp has rows of its own, of which a thread holds what the tiled MMA's accumulators give it; numbers of rows are the same in the
//! neighbouring threads that share a row. The first factors are loaded once; tiles of the others come through shared memory, in a loop along columns that
//! the pipeliner takes apart, or slices of K in a loop within that one. `values.rs` computes values of the region, `tiles.rs` moves tiles, `slices.rs` sums up slices of K,
//! `outputs.rs` stores, `rows.rs` reduces along columns, `running.rs` has reductions over several tiles.

mod outputs;
mod rows;
mod running;
mod slices;
mod tiles;
mod values;

use super::{Partition, wrong};
use crate::fused::{COLUMNS, Domain, Fused, INNER, OUTER, Phase, ROWS, Reduced};
use crate::kernel::thread_index;
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure,
    attributes::{PLAN, STAGES, SYNCHRONIZE},
    block::block_size_of,
    diag,
    fused::Product,
    maps::tensors,
    mlir::*,
    ops::{arith, cute, scf},
    plan::Plan,
    types::{self, CuteType, MemRef, memref_of},
};
use cute_layout::{IntTuple, Layout, Operand, int, tuple};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;
use values::Values;

/// Threads that share a row of the accumulators of a product of 16 rows and 8 columns.
const SHARING: i64 = 4;

/// A `cute.block.fuse` that becomes what each thread does.
struct Fuse<'c> {
    fused: Fused<'c>,
    inputs: Vec<Val<'c>>,
    outputs: Vec<Val<'c>>,
    /// Their types, inputs first.
    types: Vec<MemRef<'c>>,
    held: bool,
    /// The ways in which products are multiplied, and which one each is, by its result.
    ways: Vec<Partition<'c>>,
    way_of: HashMap<ValueKey, usize>,
    /// Rows, columns and columns of products along columns, of a tile.
    tile: [i64; 3],
    /// The extents of rows, columns, K and E, where they are known.
    known: [Option<i64>; 4],
    /// The same as values.
    extents: [Val<'c>; 4],
    /// The tile of rows, and the first tile of columns, by their numbers.
    at: [Val<'c>; 2],
    /// The tile of E, where blocks share it.
    outer: Option<Val<'c>>,
    /// True where tiles of K are summed up one after another.
    sliced: bool,
    /// The layouts of registers, where there are such: of rows, of columns, and of columns of products along columns.
    layouts: [Option<Layout>; 3],
    /// The thread's index.
    thread: Val<'c>,
    /// The indices of the thread's rows, none of which is behind the last one, and an i1 for each that says whether the row is there.
    rows: Vec<(Val<'c>, Option<Val<'c>>)>,
}

/// Puts what each thread does in place of the op.
pub(super) fn lower<'c>(
    rewriter: &'c Rewriter<'c>,
    kernel: Op<'c>,
    op: cute::BlockFuse<'c>,
) -> Result<(), Failure> {
    let b = Builder::before(op.op());
    let fuse = Fuse::of(rewriter, kernel, b, op)?;
    fuse.all(b)?;
    set_attribute(kernel, SYNCHRONIZE, Builder::before(kernel).unit());
    Ok(())
}

impl<'c> Fuse<'c> {
    fn of(
        rewriter: &'c Rewriter<'c>,
        kernel: Op<'c>,
        b: Builder<'c>,
        op: cute::BlockFuse<'c>,
    ) -> Result<Self, Failure> {
        let (inputs, outputs) = (op.inputs(), op.outputs());
        let all = [inputs.clone(), outputs.clone()].concat();
        let types = tensors(&all).expected(b, "tensors")?;
        let body = op.body().expected(b, "a region")?;
        let (ins, outs) = types.split_at(inputs.len());
        let names = [ROWS, COLUMNS, INNER, OUTER].map(Some);
        let fused = Fused::of(body, ins, outs, &names)?;
        let held = op.held().is_some();
        let mut plans: Vec<Plan<'c>> = Vec::new();
        let mut way_of = HashMap::new();
        for product in &fused.products {
            let plan = attribute_of(product.reduce.op(), PLAN).and_then(Plan::of);
            let plan = plan.expected(product.reduce.op(), "a plan of a product")?;
            let place = plans.iter().position(|other| *other == plan);
            way_of.insert(key(product.reduce.result()), place.unwrap_or(plans.len()));
            if place.is_none() {
                plans.push(plan);
            }
        }
        let block = body_of(kernel, 0).expected(kernel, "a body")?;
        let mut ways = Vec::new();
        for plan in plans {
            let threads = plan.threads().map_err(wrong(b))?;
            if block_size_of(kernel) != Some([threads, 1, 1]) {
                return Err(b.error(format!(
                    "'{}' op is done by the {threads} threads of its plans; expected a kernel with known_block_size = array<i32: {threads}, 1, 1>",
                    cute::BLOCK_FUSE
                )));
            }
            ways.push(Partition::new(rewriter, plan, block, kernel)?);
        }
        let score = fused.scores.first().expected(b, "a product along K")?;
        let [rows, columns, inner] = ways[way_of[&key(score.reduce.result())]].plan.tile;
        let along_columns = |product: &&Product<'c>| product.along == COLUMNS;
        let outer = fused.products.iter().find(along_columns).map(|product| {
            let way = way_of[&key(product.reduce.result())];
            ways[way].plan.tile[1]
        });
        let known = [ROWS, COLUMNS, INNER, OUTER].map(|mode| {
            let mut extents = types.iter().filter_map(|tensor| {
                let mode = tensor.layout.mode(mode).ok()?;
                mode.shape().is_static().then(|| mode.size().ok())?
            });
            extents.next()
        });
        let extent = |mode: usize| -> Result<Val<'c>, Failure> {
            if let Some(known) = known[mode] {
                return b.i32(known);
            }
            let mode = [("mode", b.i32_array(&[mode as i32]))];
            let size = b.infer(cute::SIZE, &[all[0]], &mode)?;
            let size = b.infer(cute::GET_SCALARS, &[size], &[])?;
            // A launch has no more rows or columns than 32 bits hold.
            match size.r#type() == b.i32_type() {
                true => Ok(size),
                false => b.value(arith::TRUNCI, &[size], b.i32_type(), &[]),
            }
        };
        let extents = [
            extent(ROWS)?,
            extent(COLUMNS)?,
            extent(INNER)?,
            extent(OUTER)?,
        ];
        let corner = super::map::leaves_of(b, op.at())?;
        let number = |corner: Val<'c>, tile: i64| {
            b.value(arith::DIVUI, &[corner, b.i32(tile)?], b.i32_type(), &[])
        };
        let at = [number(corner[0], rows)?, number(corner[1], columns)?];
        let outer_at = match (corner.get(2), outer) {
            (Some(corner), Some(outer)) => Some(number(*corner, outer)?),
            _ => None,
        };
        let thread = thread_index(b)?;
        let mut fuse = Self {
            fused,
            inputs,
            outputs,
            types,
            held,
            ways,
            way_of,
            tile: [rows, columns, outer.unwrap_or(0)],
            known,
            extents,
            at,
            outer: outer_at,
            sliced: known[INNER].is_none_or(|extent| extent > inner),
            layouts: [None, None, None],
            thread,
            rows: Vec::new(),
        };
        fuse.check_held(b)?;
        fuse.set_layouts(b)?;
        fuse.rows = fuse.own_rows(b)?;
        Ok(fuse)
    }

    /// Checks that plans have the whole of E, or that blocks share it, and that a block which holds one tile of columns has all that are reduced.
    fn check_held(&self, b: Builder<'c>) -> Result<(), Failure> {
        let along_columns = self.fused.products.iter();
        for product in along_columns.filter(|product| product.along == COLUMNS) {
            let [_, most, _] = self.way(product).plan.tile;
            let is_whole = self.known[OUTER].is_some_and(|extent| extent <= most);
            if !is_whole && self.outer.is_none() {
                return Err(diag::error(
                    location_of(product.reduce.result()),
                    format!(
                        "'{}' op has a cute.plan of {most} elements along E; expected tensors of at most as many, or the first \
                         element along E behind the first row and the first column, found {}",
                        cute::ALL_REDUCE,
                        self.known[OUTER]
                            .map_or("what a launch brings".to_owned(), |n| n.to_string())
                    ),
                ));
            }
        }
        let reduces = self
            .fused
            .phases
            .iter()
            .any(|phase| !phase.reduced.is_empty());
        if !self.held || !reduces || self.known[COLUMNS].is_some_and(|n| n <= self.tile[1]) {
            return Ok(());
        }
        Err(diag::error(
            b.location,
            format!(
                "'{}' op holds {} columns of a block and reduces along columns; expected at most as many, found {}",
                cute::BLOCK_FUSE,
                self.tile[1],
                self.known[COLUMNS].map_or("what a launch brings".to_owned(), |n| n.to_string())
            ),
        ))
    }

    /// The way in which a product is multiplied.
    fn way(&self, product: &Product<'c>) -> &Partition<'c> {
        &self.ways[self.way_of[&key(product.reduce.result())]]
    }

    /// The way of the products whose sums are held as values of a domain are.
    fn way_of_domain(&self, b: Builder<'c>, domain: Domain) -> Result<&Partition<'c>, Failure> {
        let along = match domain {
            Domain::Outer => COLUMNS,
            _ => INNER,
        };
        let product = self
            .fused
            .products
            .iter()
            .find(|product| product.along == along);
        Ok(self.way(product.expected(b, "a product that is held so")?))
    }

    /// The accumulators of a product.
    fn accumulators(&self, b: Builder<'c>, way: &Partition<'c>) -> Result<Val<'c>, Failure> {
        let [m, n, _] = way.plan.tile;
        let shape = types::shape_type(b.context, &tuple([int(m), int(n)]));
        let shape = b.static_value(shape)?;
        let id = [("operand_id", b.integer(b.i32_type(), 2))];
        let part = b.infer(cute::TILED_MMA_PARTITION_SHAPE, &[way.mma, shape], &id)?;
        b.infer(cute::MMA_MAKE_FRAGMENT, &[way.mma, part], &id)
    }

    /// Takes the layouts of registers from the accumulators.
    fn set_layouts(&mut self, b: Builder<'c>) -> Result<(), Failure> {
        for (domain, along) in [(Domain::Columns, INNER), (Domain::Outer, COLUMNS)] {
            let product = self
                .fused
                .products
                .iter()
                .find(|product| product.along == along);
            let Some(product) = product else { continue };
            let fragment = self.accumulators(b, self.way(product))?;
            let layout = memref_of(fragment).expected(b, "a fragment")?.layout;
            let rows = rows::of_fragment(&layout).ok_or_else(|| {
                b.error(format!(
                    "expected accumulators of two rows of an atom and two neighbours in each, found {layout}; use an atom of 16 rows and 8 columns"
                ))
            })?;
            self.layouts[0] = Some(rows);
            self.layouts[place_of(domain)] = Some(layout);
        }
        Ok(())
    }

    /// Writes all that a thread does.
    fn all(&self, b: Builder<'c>) -> Result<(), Failure> {
        let mut values = Values::default();
        self.load_numbers(b.step("load inputs"), &mut values)?;
        let firsts = self.load_firsts(b)?;
        for phase in &self.fused.phases {
            match self.held {
                true => {
                    let column = self.at[1];
                    self.at_once(b, phase, &firsts, column, &mut values)?;
                }
                false => self.in_turns(b, phase, &firsts, &mut values)?,
            }
        }
        self.store_others(b, &values)
    }

    /// Computes a turn over the columns that a block holds at once.
    fn at_once(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        firsts: &Firsts<'c>,
        column: Val<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let shared = self.copy_factors(b, phase, column, values)?;
        self.load_columns(b, phase, column, values)?;
        self.multiply_scores(b, phase, firsts, (&shared, column), values)?;
        for reduced in &phase.reduced {
            let b = b.at_location(reduced.reduce.op().location());
            let result = key(reduced.reduce.result());
            if let Some(product) = reduced.product {
                let sums = self.accumulators(b, self.way(&product))?;
                b.op(cute::CLEAR, &[sums], &[], &[])?;
                self.multiply_columns(b, reduced, &shared, column, sums, values)?;
                values.registers.insert(result, (Domain::Outer, sums));
                continue;
            }
            let part = self.partial(b, reduced, column, values)?;
            let whole = self.across(b, part, reduced.kind)?;
            let whole = self.finished(b, reduced, whole)?;
            values.registers.insert(result, (Domain::Rows, whole));
        }
        self.store_columns(b, phase, column, values)
    }

    /// Computes a turn over all columns, a tile at a time.
    fn in_turns(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        firsts: &Firsts<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let running = self.begin(b, phase)?;
        let buffers = self.allocate_factors(b, phase, values)?;
        // What is inside of a turn is under way at once where K is summed up in slices.
        let stages = if self.sliced { 1 } else { self.stages() };
        let (l, turn) = self.turns(b, (COLUMNS, self.tile[1]), stages)?;
        let mut inner = values.clone();
        self.fill_factors(l, &buffers, turn)?;
        self.load_columns(l, phase, turn, &mut inner)?;
        self.multiply_scores(l, phase, firsts, (&buffers, turn), &mut inner)?;
        self.advance(l, phase, &running, &buffers, turn, &mut inner)?;
        self.store_columns(l, phase, turn, &inner)?;
        l.op(scf::YIELD, &[], &[], &[])?;
        self.end(b, phase, &running, values)
    }

    /// Tiles of factors that are under way at once.
    fn stages(&self) -> i64 {
        let all = self.ways.iter().map(|way| way.plan.stages);
        all.max().unwrap_or(1)
    }

    /// A loop over the tiles of a mode, with so many under way at once: its body, which is to be ended, and the number of the tile.
    fn turns(
        &self,
        b: Builder<'c>,
        (mode, tile): (usize, i64),
        stages: i64,
    ) -> Result<(Builder<'c>, Val<'c>), Failure> {
        let word = b.i32_type();
        let turns = match self.known[mode] {
            Some(known) => b.i32((known + tile - 1) / tile)?,
            None => {
                let last = b.i32(tile - 1)?;
                let more = b.value(arith::ADDI, &[self.extents[mode], last], word, &[])?;
                b.value(arith::DIVUI, &[more, b.i32(tile)?], word, &[])?
            }
        };
        let attributes = [(STAGES, b.i64_attribute(stages))];
        let attributes = if stages > 1 { &attributes[..] } else { &[] };
        let (region, body) = Detached::with_block(&[(word, b.location)]);
        let operands = [b.i32(0)?, turns, b.i32(1)?];
        b.with_regions(scf::FOR, &operands, &[], attributes, vec![region])?;
        Ok((
            Builder::at_end(b.context, body, b.location),
            argument(body, 0),
        ))
    }

    /// Multiplies the products along K that a turn needs, of a tile of columns.
    fn multiply_scores(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        firsts: &Firsts<'c>,
        (shared, column): (&Buffers<'c>, Val<'c>),
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        if self.sliced {
            return self.multiply_slices(b, phase, (shared, column), values);
        }
        for product in self.needed_scores(phase, values) {
            let b = b.at_location(product.reduce.op().location());
            let way = self.way(&product);
            let [first, second] = self.split(b, &product)?;
            let first = firsts
                .get(&key(first))
                .copied()
                .expected(b, "a loaded factor")?;
            let second = shared
                .get(&key(second))
                .expected(b, "a factor in shared memory")?;
            let sums = self.accumulators(b, way)?;
            b.op(cute::CLEAR, &[sums], &[], &[])?;
            let second = self.load_factor(b.step("load B"), way, Operand::B, second.shared)?;
            b.op(cute::GEMM, &[way.mma, sums, first, second, sums], &[], &[])?;
            values
                .registers
                .insert(key(product.reduce.result()), (Domain::Columns, sums));
        }
        Ok(())
    }

    /// Adds a product along columns of a tile to its sums.
    fn multiply_columns(
        &self,
        b: Builder<'c>,
        reduced: &Reduced<'c>,
        shared: &Buffers<'c>,
        column: Val<'c>,
        sums: Val<'c>,
        values: &Values<'c>,
    ) -> Result<(), Failure> {
        let product = reduced.product.expected(b, "a product along columns")?;
        let way = self.way(&product);
        let [first, second] = self.split(b, &product)?;
        let zero = self.zero(b, first.r#type())?;
        let else_ = (self.ragged(COLUMNS) && !reduced.vanishes).then_some(zero);
        let first = self.compute(
            b,
            first,
            Domain::Columns,
            values,
            else_.map(|zero| (column, zero)),
        )?;
        // Of 16 columns of A a thread has what it has of two pieces of 8 of C side by side, in the same order.
        let memref = memref_of(first).expected(b, "a fragment")?;
        let layout = rows::as_factor(&memref.layout).ok_or_else(|| {
            b.error(format!(
                "expected columns in multiples of 16 as a factor, found {}",
                memref.layout
            ))
        })?;
        let start = b.infer(cute::GET_ITER, &[first], &[])?;
        let value = b.static_value(types::layout_type(b.context, &layout))?;
        let ty = MemRef { layout, ..memref }.to_type(b.location)?;
        let first = b.value(cute::MAKE_VIEW, &[start, value], ty, &[])?;
        let second = shared
            .get(&key(second))
            .expected(b, "a factor in shared memory")?;
        let second = self.load_factor(b.step("load B"), way, Operand::B, second.shared)?;
        b.op(cute::GEMM, &[way.mma, sums, first, second, sums], &[], &[])?;
        Ok(())
    }

    /// The factors of a product as they were before they were widened: that which has rows, and the other.
    fn split(&self, b: Builder<'c>, product: &Product<'c>) -> Result<[Val<'c>; 2], Failure> {
        let [x, y] = product.narrow().map_err(wrong(b))?;
        let has_rows = self.fused.dependences.modes(x).contains(&ROWS);
        Ok(if has_rows { [x, y] } else { [y, x] })
    }

    /// Tells whether tiles of rows or columns may reach over the end.
    fn ragged(&self, mode: usize) -> bool {
        self.ragged_by(mode, self.tile[mode])
    }

    /// Tells whether tiles of so many elements may reach over the end of a mode.
    fn ragged_by(&self, mode: usize, tile: i64) -> bool {
        let divided = |tensor: &MemRef<'c>| {
            let extent = tensor.layout.shape().get(mode).and_then(IntTuple::as_leaf);
            extent.is_some_and(|extent| cute_ir::contract::divisor(extent) % tile == 0)
        };
        !self.types.iter().any(divided)
    }

    /// Tells whether a thread is the first one of those that share its rows.
    fn is_first(&self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let sharing = b.i32(SHARING)?;
        let lane = b.value(arith::REMUI, &[self.thread, sharing], b.i32_type(), &[])?;
        b.compare(Predicate::Eq, lane, b.i32(0)?)
    }
}

/// First factors in registers, by the arguments of the region that they are.
type Firsts<'c> = HashMap<ValueKey, Val<'c>>;

/// Factors in shared memory that tiles of columns or of K are copied to, by the arguments of the region that they are.
type Buffers<'c> = HashMap<ValueKey, Buffer<'c>>;

/// A tile of a factor in shared memory.
struct Buffer<'c> {
    /// The place of the tensor among the inputs.
    input: usize,
    /// The product that it is of, and the factor that it is there.
    product: Product<'c>,
    operand: Operand,
    shared: Val<'c>,
}

/// The place of a domain among layouts of registers.
fn place_of(domain: Domain) -> usize {
    match domain {
        Domain::Outer => 2,
        Domain::Columns => 1,
        Domain::Rows | Domain::Number => 0,
    }
}

/// The coordinate's text type.
fn coordinate<'c>(b: Builder<'c>, at: IntTuple, leaves: &[Val<'c>]) -> Result<Val<'c>, Failure> {
    match leaves.is_empty() {
        true => b.static_value(types::coord_type(b.context, &at)),
        false => b.coord(&at, leaves),
    }
}

/// Tells whether a type is of coordinates.
fn is_coordinates(value: Val<'_>) -> bool {
    matches!(
        CuteType::get(value.r#type()),
        Some(CuteType::CoordTensor { .. })
    )
}
