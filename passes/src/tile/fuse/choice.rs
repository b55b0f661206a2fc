//! The choice of a block's rows and columns, and of the plans of its products, by an estimate of registers and shared memory.

use super::{Fuse, Whole};
use crate::{
    arch::{REGISTERS, REGISTERS_PER_THREAD, WARP},
    fused::{COLUMNS, Domain, Fused, INNER, OUTER, ROWS},
    plan::{ATOM_ROWS, Access, Avoid, Fused as Product},
    shared::ring_bytes,
    tile::matrix::{WIDEST, divisor, with_multiples},
};
use cute_ir::{
    fused::{Product as Sum, steps_along},
    maps::reductions,
    mlir::*,
    plan::Plan,
    types::element_bits,
};
use cute_layout::{IntTuple, Leaf, Operand, atoms::Completion};
use melior::ir::ValueLike;
use std::collections::HashSet;

/// Registers of a thread beside accumulators and fragments, as `plan/cost.rs` has them.
const BESIDE: i64 = 34;

/// Registers for the numbers of a thread's rows: a running reduction with its last value and the power that makes up for it.
const OF_ROWS: i64 = 8;

/// Registers of a copy's address and predicate, and copies whose addresses are among [`BESIDE`].
const OF_ADDRESS: i64 = 3;
const FEW: i64 = 12;

/// Registers of an access to a slice of K, of which the address and the predicate go on from turn to turn: of one that is copied, and of one that is stored from
/// registers.
const OF_COPIED: i64 = 3;
const OF_STORED: i64 = 10;

/// Columns of a block that goes over all of them, those that were measured by hand first.
const LOOPING: &[i64] = &[64, 32, 16];

/// Columns of a block where others have the rest of them.
const TILED: &[i64] = &[128, 64, 32, 16];

/// The most columns that a block holds at once.
const MOST_HELD: i64 = 256;

/// The most elements along K and E that a block holds all of.
pub(super) const MOST_DEPTH: i64 = 256;

/// Elements along K, and slices of as many that are under way at once.
type Slice = (i64, i64);

/// Elements along K that are summed up at once, and such slices that are under way, where a block does not hold all of K.
const SLICES: &[Slice] = &[(64, 3), (64, 2), (32, 2), (16, 2)];

/// Elements along E of a block where others have the rest of them.
const SHARED: &[i64] = &[128, 64, 32, 16];

/// The multiples that tiles along K are padded to, the least first: threads must be able to share them.
const PADDED: &[i64] = &[16, 32, 64];

/// The rows and columns that a block takes, and how it multiplies.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice<'c> {
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) warps: i64,
    /// True where a block computes one tile of columns.
    pub(super) held: bool,
    /// Elements along E of a block where blocks share it.
    pub(super) shared: Option<i64>,
    /// A plan for each reduction of the region that is a sum of products.
    pub(super) plans: Vec<Option<Plan<'c>>>,
}

impl<'c> Choice<'c> {
    /// The plan of the first product, which is one along K.
    pub(super) fn plan(&self) -> Option<&Plan<'c>> {
        self.plans.iter().flatten().next()
    }
}

/// The tiles that a choice is made for.
#[derive(Clone, Copy)]
struct Tiles {
    columns: i64,
    warps: i64,
    /// Tiles of columns that are under way at once.
    stages: i64,
    held: bool,
    /// The slice of K, and those under way at once; none where a block holds all of it.
    inner: Option<Slice>,
    /// The tile of E that a block has; none where it has all of it.
    shared: Option<i64>,
}

/// The room that a choice lacks.
struct Lack {
    /// Bytes of shared memory where there are too few, and registers of a thread: of two choices the one that needs less is told of.
    needs: [i64; 2],
    why: String,
}

/// The registers and shared memory that a choice takes.
struct Taken {
    registers: i64,
    bytes: i64,
}

impl<'c> Fuse<'c> {
    /// The first choice that architectures have room for. Errors: what the last one that was tried takes.
    pub(super) fn choose(
        &self,
        fused: &Fused<'c>,
        avoid: Option<&Avoid>,
    ) -> Result<Choice<'c>, String> {
        let all: &[i64] = match self.known(ROWS) {
            Some(..=16) => &[1, 2, 4, 8],
            Some(..=32) => &[2, 4, 8, 1],
            _ => &[4, 8, 2, 1],
        };
        let (mut last, mut spilled) = ("has no plan".to_owned(), None);
        let mut least: Option<Lack> = None;
        for (inner, shared) in self.depths() {
            for (columns, stages, held) in self.ways(fused, inner.is_some()) {
                for warps in all {
                    let tiles = Tiles {
                        columns,
                        warps: *warps,
                        stages,
                        held,
                        inner,
                        shared,
                    };
                    let choice = match self.choice(fused, tiles) {
                        Ok(choice) => choice,
                        Err(why) => {
                            last = why;
                            continue;
                        }
                    };
                    match self.has_room(fused, &choice) {
                        Ok(())
                            if choice
                                .plan()
                                .is_some_and(|plan| avoid.is_some_and(|all| all.has(plan))) =>
                        {
                            spilled.get_or_insert(choice);
                        }
                        Ok(()) => return Ok(choice),
                        Err(lack) => {
                            let both = least.into_iter().chain([lack]);
                            least = both.min_by_key(|lack| lack.needs);
                        }
                    }
                }
            }
        }
        // Where there is no other one, the assembler says what is wrong with it.
        spilled.ok_or(least.map_or(last, |lack| lack.why))
    }

    /// The slices of K, with those under way, and the tiles of E that blocks share, the best first; none where a block holds all of them.
    fn depths(&self) -> Vec<(Option<Slice>, Option<i64>)> {
        let is_held = |mode| self.known(mode).is_some_and(|extent| extent <= MOST_DEPTH);
        let inner = is_held(INNER).then_some(None).into_iter();
        let inner = inner.chain(SLICES.iter().copied().map(Some));
        let inner: Vec<_> = inner.collect();
        let outer = is_held(OUTER).then_some(None).into_iter();
        let known = self.known(OUTER).unwrap_or(i64::MAX);
        let shared = SHARED.iter().copied().filter(|tile| *tile < known);
        let outer = outer.chain(shared.map(Some));
        let all = outer.flat_map(|outer| inner.iter().map(move |inner| (*inner, outer)));
        all.collect()
    }

    /// The columns of a block, the stages of a loop over them, and whether it has one tile of them, the best first.
    fn ways(&self, fused: &Fused<'c>, is_sliced: bool) -> Vec<(i64, i64, bool)> {
        let columns = self.known(COLUMNS);
        let held = columns.filter(|_| self.reduces);
        let held = held
            .map(|columns| up(columns, ATOM_ROWS))
            .filter(|n| *n <= MOST_HELD);
        let mut ways: Vec<(i64, i64, bool)> = Vec::new();
        if !self.reduces {
            ways.extend(TILED.iter().map(|columns| (*columns, 1, true)));
        } else {
            // A row that one tile holds needs neither a loop nor what follows a maximum, but is not loaded ahead.
            ways.extend(
                held.filter(|n| *n <= LOOPING[0] || is_sliced || fused.phases.len() > 1)
                    .map(|n| (n, 1, true)),
            );
            // What is in a turn is loaded ahead where K is in slices.
            let stages: &[i64] = if is_sliced { &[1] } else { &[2, 1] };
            for stages in stages {
                ways.extend(LOOPING.iter().map(|columns| (*columns, *stages, false)));
            }
        }
        if let Some(known) = columns {
            let enough = |columns: i64| columns / 2 < known || columns == ATOM_ROWS;
            ways.retain(|(columns, _, held)| enough(*columns) || *held && self.reduces);
        }
        ways
    }

    /// The choice of a tile. Errors: the reason why its products have no plan.
    fn choice(&self, fused: &Fused<'c>, tiles: Tiles) -> Result<Choice<'c>, String> {
        let Tiles {
            columns,
            warps,
            stages,
            held,
            inner: slice,
            shared,
        } = tiles;
        let rows = warps * ATOM_ROWS;
        let mut why = String::new();
        for padded in PADDED {
            let depth = |mode| up(self.known(mode).unwrap_or(1), *padded);
            let (inner, of_scores) = slice.unwrap_or((depth(INNER), stages));
            let outer = shared.unwrap_or_else(|| depth(OUTER));
            let plans = reductions(fused.body).into_iter().map(|reduce| {
                let is = |product: &&Sum<'c>| product.reduce.result() == reduce.result();
                let Some(product) = fused.products.iter().find(is) else {
                    return Ok(None);
                };
                let is_score = fused.scores.iter().any(|score| is(&score));
                let (tile, stages) = match is_score {
                    true => ([rows, columns, inner], of_scores),
                    false => ([rows, outer, columns], stages),
                };
                self.plan(fused, product, is_score, (tile, warps, stages))
                    .map(Some)
            });
            match plans.collect::<Result<Vec<_>, String>>() {
                Ok(plans) => {
                    return Ok(Choice {
                        rows,
                        columns,
                        warps,
                        held,
                        shared,
                        plans,
                    });
                }
                Err(found) => why = found,
            }
        }
        Err(why)
    }

    /// The plan of a product. Errors: the reason why it has none.
    fn plan(
        &self,
        fused: &Fused<'c>,
        product: &Sum<'c>,
        is_score: bool,
        (tile, warps, stages): ([i64; 3], i64, i64),
    ) -> Result<Plan<'c>, String> {
        let [x, y] = product.narrow()?;
        let has_rows = |value: Val<'c>| fused.dependences.modes(value).contains(&ROWS);
        let (a, b) = if has_rows(x) { (x, y) } else { (y, x) };
        let stored = |value: Val<'c>| {
            let (_, at) = block_argument(value).ok_or("expected a factor that is stored")?;
            self.tensors.get(at).ok_or("expected a tensor")
        };
        let computed = Access {
            major: 1,
            known: true,
            apart: false,
            vector: WIDEST / 2,
            lines: 0,
            pitch: 0,
            placed: false,
        };
        let (of_a, of_b) = match is_score {
            true => (
                stored(a)?.access(ROWS, INNER),
                stored(b)?.access(COLUMNS, INNER),
            ),
            false => (computed, stored(b)?.access(OUTER, COLUMNS)),
        };
        // What is stored of the sums: elements of the last output that lies as they do.
        let columns = if is_score { COLUMNS } else { OUTER };
        let along = self.roles.block[columns];
        let outputs = &self.tensors[self.inputs..];
        let output = outputs.iter().rev().find(|output| {
            along.is_some_and(|mode| steps_along(&output.memref.layout, mode))
                && matches!(element_bits(output.memref.element), Some(16 | 32))
                && cute_ir::types::is_float(output.memref.element)
        });
        let sums = product.reduce.value().r#type();
        let (element, access) = match output {
            Some(output) => (output.memref.element, output.access(ROWS, columns)),
            None => (sums, computed),
        };
        let widest = WIDEST * 8 / element_bits(element).unwrap_or(32);
        let plan = Product {
            elements: [a.r#type(), b.r#type(), element],
            accumulate: sums,
            accesses: [
                of_a,
                of_b,
                Access {
                    lines: 0,
                    pitch: 0,
                    major: 1,
                    known: access.known,
                    apart: access.apart,
                    vector: match access.major {
                        1 => access.vector.min(widest),
                        _ => 1,
                    },
                    placed: false,
                },
            ],
            tile,
            warps,
            stages,
        };
        plan.plan(&self.archs)
    }

    /// Checks that architectures have what a choice takes. Errors: what they have not, with both figures.
    fn has_room(&self, fused: &Fused<'c>, choice: &Choice<'c>) -> Result<(), Lack> {
        let lack = |needs, why| Lack { needs, why };
        let Taken { registers, bytes } = self
            .taken(fused, choice)
            .map_err(|why| lack([i64::MAX; 2], why))?;
        let Choice { rows, columns, .. } = choice;
        let most = REGISTERS_PER_THREAD.min(REGISTERS / (choice.warps * WARP) / 8 * 8);
        if registers > most {
            let why = format!(
                "needs about {registers} registers a thread for {rows} rows and {columns} columns of a block, the least that it can take, \
                 at most {most} can be had; expected fewer products or fewer tensors beside them: write it as several maps"
            );
            return Err(lack([0, registers], why));
        }
        for arch in self.archs.all() {
            let most = i64::from(arch.max_smem());
            if bytes > most {
                let why = format!(
                    "needs {bytes} bytes of shared memory for {rows} rows and {columns} columns of a block, the least that it can take, \
                     {arch} has {most}; expected fewer products: write it as several maps"
                );
                return Err(lack([bytes, registers], why));
            }
        }
        Ok(())
    }

    /// Tells whether two neighbours of a tensor along columns are moved together.
    fn is_in_pairs(&self, whole: &Whole<'c>) -> bool {
        let columns = match self.roles.block[OUTER] {
            Some(mode) if steps_along(&whole.memref.layout, mode) => OUTER,
            _ => COLUMNS,
        };
        let access = whole.access(ROWS, columns);
        access.major == 1 && access.vector >= 2
    }

    /// The registers of a thread and the bytes of shared memory that a choice takes, estimated.
    fn taken(&self, fused: &Fused<'c>, choice: &Choice<'c>) -> Result<Taken, String> {
        let lanes = 2 * WARP;
        // Fragments of elements of 16 bits, two in a register, and sums of 32.
        let half = |columns: i64| ATOM_ROWS * columns / lanes;
        let whole = |columns: i64| 2 * half(columns);
        let whole_of = whole;
        // What is held with the sums, the fragments of second factors, and what copies take that end before there are sums.
        let (mut held, mut factors, mut before) = (0, 0, 0);
        let (mut firsts, mut bytes, mut staged) = (0, 0, 0);
        let (mut met, mut rings) = (HashSet::new(), 0);
        let all = reductions(fused.body);
        for (reduce, plan) in all.iter().zip(&choice.plans) {
            let Some(plan) = plan else { continue };
            let is = |product: &&Sum<'c>| product.reduce.result() == reduce.result();
            let product = fused.products.iter().find(is).ok_or("expected a product")?;
            let is_score = fused.scores.iter().any(|score| is(&score));
            let [_, n, k] = plan.tile;
            held += whole(n);
            staged = staged.max(ring_bytes(&plan.shared(Operand::C)?.0, 1)?);
            // First factors that come in slices are loaded as the second ones are.
            let is_sliced = is_score && self.known(INNER).is_none_or(|extent| extent > k);
            let beside = if is_sliced { ATOM_ROWS } else { 0 };
            factors = factors.max(2 * 16 * (n + beside) / lanes);
            for narrow in product.narrow()? {
                let has_rows = fused.dependences.modes(narrow).contains(&ROWS);
                if !met.insert(key(narrow)) || has_rows && !is_score {
                    continue;
                }
                let operand = if has_rows { Operand::A } else { Operand::B };
                let (tile, count) = plan.shared(operand)?;
                // What is not copied asynchronously is held from its loads to its stores, with their addresses.
                let [rows, columns] = plan.extents(operand);
                let first = plan.path(operand).first().ok_or("expected a movement")?;
                let row = first.row()?;
                let accesses = rows * columns / (choice.warps * WARP * row.num_val).max(1);
                let taken = match row.completion {
                    Completion::Immediate if is_sliced => accesses * OF_STORED,
                    _ if is_sliced => accesses * OF_COPIED,
                    Completion::Immediate => accesses * (1 + OF_ADDRESS),
                    _ => (accesses - FEW).max(0) * OF_ADDRESS,
                };
                if has_rows && !is_sliced || plan.stages == 1 {
                    before = before.max(taken);
                } else {
                    held += taken;
                }
                match has_rows && !is_sliced {
                    true => {
                        firsts += half(k);
                        bytes += ring_bytes(&tile, 1)?;
                    }
                    false => rings += ring_bytes(&tile, count)?,
                }
            }
        }
        let beside = self.tensors[..self.inputs].iter().enumerate();
        let arguments = arguments_of(fused.body);
        for (at, whole) in beside {
            let argument = arguments[at];
            if met.contains(&key(argument)) {
                continue;
            }
            let bits = element_bits(whole.memref.element).unwrap_or(32);
            let columns = match fused.domain(argument) {
                Domain::Columns => choice.columns,
                Domain::Outer => choice.shared.or(self.known(OUTER)).unwrap_or(0),
                _ => 0,
            };
            // Elements that come one by one have a register each, and an address.
            held += match self.is_in_pairs(whole) {
                true => half(columns) * bits / 16,
                false => whole_of(columns) + half(columns),
            };
        }
        let rows = fused.phases.iter().map(|phase| phase.reduced.len() as i64);
        let sums = held + half(choice.columns) + factors + OF_ROWS * rows.max().unwrap_or(0);
        let registers = firsts + sums.max(before) + BESIDE;
        Ok(Taken {
            registers,
            // Outputs go through what factors have left.
            bytes: (bytes + rings).max(staged),
        })
    }
}

impl Whole<'_> {
    /// The same tensor where a launch brings multiples of as many elements as an access moves, the widest one to a factor and at most so many of others; none
    /// where nothing is gained by it, or where it cannot be so.
    pub(super) fn aligned(&self, is_factor: bool, most: i64) -> Option<Self> {
        let stride = self.layout.stride();
        let is_next = |mode: &usize| {
            let leaf = stride.get(*mode).and_then(IntTuple::as_leaf);
            leaf == Some(&Leaf::Static(1))
        };
        let along = (0..=OUTER).find(is_next)?;
        let widest = WIDEST.min(self.memref.align) / self.memref.element_bytes().max(1);
        let vector = if is_factor { widest } else { widest.min(most) };
        if vector < 2 || along == ROWS && !is_factor {
            return None;
        }
        let layout = with_multiples(
            &self.layout,
            vector,
            |mode| mode == along,
            |mode| mode != along,
        )?;
        (layout != self.layout).then(|| Self {
            layout,
            ..self.clone()
        })
    }

    /// The accesses to the matrix of two modes of a block, of which the second one is columns.
    fn access(&self, rows: usize, columns: usize) -> Access {
        let leaf = |of: &IntTuple, mode: usize| of.get(mode).and_then(IntTuple::as_leaf).cloned();
        let (shape, stride) = (self.layout.shape(), self.layout.stride());
        let is_next = |mode: usize| leaf(stride, mode) == Some(Leaf::Static(1));
        let major = usize::from(is_next(columns) || !is_next(rows));
        let along = [rows, columns][major];
        let modes = 0..self.layout.rank();
        let others = modes.filter(|mode| *mode != along);
        let others = others.filter_map(|mode| stride.get(mode));
        let mut multiples: Vec<i64> = others.flat_map(IntTuple::leaves).map(divisor).collect();
        multiples.push(leaf(shape, along).map_or(1, |leaf| divisor(&leaf)));
        let bytes = self.memref.element_bytes().max(1);
        let mut vector = (WIDEST.min(self.memref.align) / bytes).max(1);
        if !is_next(along) {
            vector = 1;
        }
        while vector > 1 && multiples.iter().any(|multiple| multiple % vector != 0) {
            vector /= 2;
        }
        Access {
            lines: 0,
            pitch: 0,
            major,
            known: stride.is_static(),
            apart: !is_next(along),
            vector,
            placed: false,
        }
    }
}

/// The multiple of a number that is not smaller.
fn up(n: i64, by: i64) -> i64 {
    (n + by - 1) / by * by
}
