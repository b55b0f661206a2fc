//! Plans of SM80's instructions: cp.async into a ring in shared memory, ldmatrix and mma.sync, or single loads and multiply-adds
//! for elements of f32, and C out through shared memory.
//!
//! Extents, vectors and fragments come from the rows of the instructions that are named here.

use super::{
    Access, Candidate, Fed, Reduced, Request, Scaled, Stream, SwizzleChoice, WIDEST,
    cost::{self, Registers, Sources, Strides},
    divides,
    estimate::Estimate,
    options_of,
    refusal::{Cure, Refusal},
    require, rows,
    swizzle::Swizzles,
    warps_of,
};
use crate::arch::{THREADS_PER_BLOCK, WARP};
use cute_ir::{
    Failure,
    mlir::{context_of_type, element_bits},
    options::Options,
    plan::{MOST_EXTENT, MOST_SPLIT, Movement, Plan, SharedTile},
    types::{self, CopyOp, MOST_STAGES},
};
use cute_layout::{
    Layout, MmaAtom, Operand, Swizzle, Tile,
    atoms::{Completion, CopyAtom, Elem},
    int, tuple,
};
use cute_target::Archs;
use melior::ir::{Location, Type};
use std::{collections::HashSet, sync::Arc};

/// The products, the first of which every architecture of this builder has.
const PRODUCTS: &[&str] = &[
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM80_16x8x16_F32BF16BF16F32_TN",
    "SM80_16x8x16_F16F16F16F16_TN",
    "SM80_16x8x8_F32TF32TF32F32_TN",
    "SM80_8x8x4_F64F64F64F64_TN",
    "SM80_16x8x32_S32S8S8S32_TN",
    "SM80_16x8x32_S32U8U8S32_TN",
    "SM80_16x8x32_S32S8U8S32_TN",
    "SM80_16x8x32_S32U8S8S32_TN",
    "SM89_16x8x32_F32E4M3E4M3F32_TN",
    "SM89_16x8x32_F32E5M2E5M2F32_TN",
    "SM89_16x8x32_F32E4M3E5M2F32_TN",
    "SM89_16x8x32_F32E5M2E4M3F32_TN",
    "UniversalFMA<f32,f32,f32,f32>",
];

/// Bits of the elements that the table's tiles were measured with; tiles of others have as many bytes along K.
const MEASURED: i64 = 16;

/// Bits of an element of ldmatrix' matrices, which it can transpose.
const LDMATRIX: i64 = 16;

/// The narrowest asynchronous copy; what is narrower goes through registers.
const NARROWEST_ASYNC: i64 = 32;

/// The copy of A and B into shared memory by accesses of `bits` bits; of what is computed, from registers.
fn copy_of(bits: i64, is_computed: bool) -> CopyOp {
    if is_computed || bits < NARROWEST_ASYNC {
        return CopyOp::Universal { bits };
    }
    // L1 is bypassed where the instruction can: each tile is read once by a block.
    let global = bits == WIDEST;
    CopyOp::SimtAsync { global, bits }
}

/// Bits of the elements of which fragments are computed in registers.
pub(super) const STORED: i64 = 8;

/// Elements along K that a step of a product takes of each thread: two and two, eight apart (PTX ISA, "Matrix Fragments for mma.m16n8k16").
const OF_THREAD: i64 = 4;

/// The permutation of K by which each of the four threads of a line multiplies that many neighbours, in as many steps as it takes.
fn neighbours_along_k(count: i64) -> Result<Layout, String> {
    let shape = tuple([2, LANES[1], 2, count / OF_THREAD].map(int));
    let stride = tuple([1, count, 2, OF_THREAD].map(int));
    Layout::new(shape, stride).map_err(|e| e.to_string())
}

/// The swizzle of lines of so many bytes, of which the four threads of a line load 64 side by side, and eight threads lines that are neighbours: those are in the halves of
/// all banks.
fn of_halves(line: i64) -> Result<Option<Swizzle>, String> {
    const HALF: i64 = 64;
    if line < 2 * HALF || !u64::try_from(line).is_ok_and(u64::is_power_of_two) {
        return Ok(None);
    }
    let (half, apart) = (i64::from(HALF.ilog2()), i64::from(line.ilog2()));
    let swizzle = Swizzle::new(1, half, apart - half);
    swizzle.map(Some).map_err(|e| e.to_string())
}

/// The rows and columns of a warp's threads, where each has a product of its own; those of a fragment of `mma` are as many lines, each of as many threads.
pub(super) const LANES: [i64; 2] = [8, 4];

/// Elements of the widest load.
fn widest(elem: Elem) -> i64 {
    (WIDEST / elem.bits()).max(1)
}

/// The load of A or B for products of single threads: elements that lie along the other mode than K are loaded together.
fn load_of_thread(elem: Elem, major: usize) -> CopyOp {
    let count = if major == 0 { widest(elem) } else { 1 };
    CopyOp::Universal {
        bits: count * elem.bits(),
    }
}

/// The load of fragments of A or B of such elements, by the mode along which neighbours lie in shared memory. ldmatrix moves four
/// bytes along K to each thread, whatever they are; along the other mode it transposes elements of its own size, and of others
/// each is loaded by itself.
fn load_of(elem: Elem, major: usize) -> CopyOp {
    let bits = elem.bits();
    if bits > 32 || (major == 0 && bits != LDMATRIX) {
        return CopyOp::Universal { bits };
    }
    CopyOp::Ldsm {
        matrices: 4,
        transpose: major == 0,
    }
}

/// The tiles, warps and stages that were measured, and the speed of each where there are many blocks, in thousandths of the
/// first's (`docs/performance/choice.md`).
const TABLE: &[([i64; 3], [i64; 2], i64, i64)] = &[
    ([128, 256, 64], [2, 4], 3, 1000),
    ([256, 128, 64], [4, 2], 3, 976),
    ([128, 128, 64], [2, 2], 3, 950),
    ([128, 128, 32], [2, 2], 4, 894),
    ([128, 128, 64], [2, 4], 4, 810),
    ([128, 64, 64], [2, 2], 3, 800),
    ([128, 64, 64], [2, 2], 4, 792),
    ([64, 128, 64], [2, 2], 3, 789),
    ([128, 128, 32], [2, 4], 4, 753),
    ([64, 128, 64], [2, 2], 4, 736),
    ([128, 64, 32], [2, 2], 4, 687),
    ([64, 128, 32], [2, 2], 4, 667),
    ([64, 64, 64], [2, 2], 3, 651),
    ([64, 64, 64], [2, 2], 4, 643),
    ([64, 64, 128], [2, 2], 3, 622),
    ([32, 128, 64], [1, 4], 4, 602),
    ([64, 64, 32], [2, 2], 4, 579),
    ([64, 32, 64], [2, 1], 6, 465),
    ([32, 64, 64], [1, 4], 4, 448),
    ([32, 64, 32], [1, 2], 4, 430),
    ([32, 64, 128], [1, 4], 4, 425),
    ([64, 32, 32], [2, 1], 4, 406),
    ([32, 32, 64], [1, 2], 6, 378),
    ([32, 32, 32], [1, 2], 4, 314),
    ([64, 64, 16], [2, 2], 4, 308),
    ([16, 64, 128], [1, 4], 4, 281),
    ([16, 64, 64], [1, 4], 8, 271),
    ([16, 32, 128], [1, 2], 6, 236),
    ([32, 32, 16], [1, 1], 4, 157),
    ([16, 16, 16], [1, 1], 3, 79),
];

/// A tile for elements of less than 16 bits with more threads than the smallest of the table: where each moves by itself, fewer have
/// no registers for them.
const BYTES: ([i64; 3], [i64; 2], i64, i64) = ([32, 32, 16], [2, 2], 3, 140);

/// The tiles, warps and stages for products of single threads. Their speeds are estimates: of the rate of multiply-adds, less where a
/// thread has few sums for what it loads.
const SINGLE: &[([i64; 3], [i64; 2], i64, i64)] = &[
    ([128, 128, 16], [2, 4], 3, 80),
    ([128, 64, 16], [2, 4], 3, 70),
    ([64, 128, 16], [2, 4], 3, 70),
    ([64, 64, 16], [2, 2], 4, 64),
    ([64, 32, 16], [2, 1], 4, 50),
    ([32, 64, 16], [1, 2], 4, 50),
    ([32, 32, 16], [1, 2], 4, 36),
    ([16, 32, 32], [1, 2], 4, 24),
    ([16, 16, 16], [1, 1], 4, 14),
];

/// The tiles, warps and stages for prologues that are computed in registers, and their speeds beside what the prologue takes: fitted to 125 plans of five products on an H200
/// (`docs/performance/bytes-and-scales.md`).
const IN_REGISTERS: &[([i64; 3], [i64; 2], i64, i64)] = &[
    ([64, 128, 128], [1, 4], 3, 846),
    ([64, 128, 128], [1, 4], 2, 846),
    ([64, 128, 64], [1, 4], 4, 846),
    ([64, 64, 64], [1, 4], 4, 739),
    ([64, 64, 128], [1, 4], 3, 715),
    ([32, 128, 128], [1, 4], 3, 692),
    ([32, 64, 128], [1, 4], 4, 489),
    ([16, 64, 256], [1, 4], 3, 323),
    ([16, 64, 256], [1, 4], 2, 323),
    ([16, 64, 128], [1, 4], 4, 323),
    ([16, 64, 128], [1, 4], 3, 323),
    ([16, 64, 64], [1, 4], 6, 312),
    ([16, 32, 128], [1, 2], 4, 271),
    ([16, 32, 64], [1, 2], 6, 271),
];

/// Blocks along M that are neighbours where nothing else is asked for.
const RASTER: i64 = 8;

/// The point of the space of plans that this builder makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    tile: [i64; 3],
    warps: [i64; 2],
    stages: i64,
    swizzle: SwizzleChoice,
    raster: i64,
    split: i64,
    /// Blocks of a multiprocessor that even ranges along K are dealt out to; 0 for none.
    stream: i64,
    /// The speed on large problems, in thousandths of the first of the table.
    speed: i64,
}

fn table(
    product: &MmaAtom,
    raster: i64,
    in_registers: bool,
) -> impl Iterator<Item = Choice> + use<> {
    let (bits, least) = (product.a.bits(), product.shape_mnk[2]);
    let bytes = (bits < MEASURED).then_some(&BYTES);
    let (all, measured) = match is_of_thread(product) {
        true => (SINGLE, bits),
        false if in_registers => (IN_REGISTERS, MEASURED),
        false => (TABLE, MEASURED),
    };
    all.iter()
        .chain(bytes)
        .map(move |&([m, n, k], warps, stages, speed)| Choice {
            tile: [m, n, (k * measured / bits).max(least)],
            warps,
            stages,
            swizzle: SwizzleChoice::Auto,
            raster,
            split: 1,
            stream: 0,
            speed,
        })
}

/// Tells whether each thread has a product of its own.
fn is_of_thread(product: &MmaAtom) -> bool {
    product.shape_mnk == [1, 1, 1]
}

impl Choice {
    /// The options that ask for this choice with so many parts of K, and so many blocks that ranges are dealt out to: those that are not as by default.
    fn asking(&self, split: i64, stream: i64) -> String {
        let request = Request {
            tile: Some(self.tile),
            warps: Some(self.warps),
            stages: Some(self.stages),
            swizzle: Some(self.swizzle).filter(|swizzle| *swizzle != SwizzleChoice::Auto),
            raster: Some(self.raster).filter(|raster| *raster != RASTER),
            split: Some(split).filter(|split| *split > 1),
            stream: Some(Stream::Blocks(stream)).filter(|_| stream > 0),
            ..Request::default()
        };
        request.text()
    }

    /// Checks that these are numbers that can be reckoned with.
    fn check_range(&self) -> Result<(), String> {
        let ([m, n, k], [wm, wn]) = (self.tile, self.warps);
        for (name, value, most) in [
            ("tile", m.max(n).max(k), MOST_EXTENT),
            ("warps", wm.max(wn), THREADS_PER_BLOCK / WARP),
            ("stages", self.stages, MOST_STAGES),
            ("raster", self.raster, i64::from(i32::MAX)),
            ("split", self.split, MOST_SPLIT),
        ] {
            if value > most {
                return Err(format!("{name} is at most {most}, found {value}"));
            }
        }
        if [m, n, k, wm, wn, self.stages, self.raster, self.split]
            .iter()
            .any(|v| *v < 1)
        {
            return Err("tile, warps, stages, raster and split are at least 1".to_owned());
        }
        let threads = wm * wn * WARP;
        if threads > THREADS_PER_BLOCK {
            return Err(format!(
                "{wm}x{wn} warps are {threads} threads, a block has at most {THREADS_PER_BLOCK}"
            ));
        }
        Ok(())
    }
}

/// Checks that architectures have the instructions.
pub(super) fn check_archs(archs: &Archs) -> Result<(), String> {
    let product = MmaAtom::named(PRODUCTS[0]).map_err(|e| e.to_string())?;
    let copy = CopyAtom::cp_async(WIDEST / 8, product.a.bits()).map_err(|e| e.to_string())?;
    require(archs, &copy.name, copy.requires)?;
    require(archs, &product.name, product.requires)
}

/// The instructions for elements of some types, and how they go together.
pub(super) struct Builder<'c> {
    location: Location<'c>,
    mma: Type<'c>,
    row: Arc<MmaAtom>,
    /// The atoms of A and B: into shared memory, out of it.
    factors: [[Type<'c>; 2]; 2],
    /// The atoms of C: into shared memory, out of it.
    result: [Type<'c>; 2],
    /// Atoms along M and N that one load of fragments feeds.
    fed: [i64; 2],
    /// The factors, A and B, that are computed in registers, of elements as they are stored.
    computed: [bool; 2],
    /// Bytes that are accessed at once.
    chunk: i64,
    /// The facts about A and B in global memory.
    sources: Sources<'c>,
    /// The modes of A, B and C along which neighbours lie.
    majors: [usize; 3],
    /// The type of C's elements.
    result_elem: Elem,
    swizzles: Swizzles,
}

fn said(_: Failure) -> String {
    "has no such atom".to_owned()
}

impl<'c> Builder<'c> {
    /// The builder for A, B and C of these types that are accessed in these ways, and made of that where a prologue makes them, those that are `computed` in registers. Errors:
    /// types that the instructions do not take.
    pub(super) fn new(
        elements: [Type<'c>; 3],
        accumulate: Type<'c>,
        accesses: [Access; 3],
        fed: [Option<Fed<'c>>; 2],
        computed: [bool; 2],
    ) -> Result<Self, String> {
        let product = product_of(elements, accumulate)?;
        let [a, b, c] = elements;
        let location = Location::unknown(context_of_type(a));
        let copy = |element, op| types::copy_atom_type(location, element, op).map_err(said);
        let mma = types::mma_type(location, &product, a, b, accumulate).map_err(said)?;
        let pairs = CopyOp::Universal {
            bits: neighbours(&product)? * types::elem(c)?.bits(),
        };
        let [.., of_c] = accesses;
        let factor = |at: usize, ty, elem: Elem| {
            let access = accesses[at];
            if computed != [false; 2] {
                // Vectors of a thread, as wide as can be.
                let (ty, vector) = match fed[at].filter(|_| computed[at]) {
                    Some(fed) => (fed.stored, fed.vector),
                    None => (ty, access.vector),
                };
                let bits = (vector * element_bits(ty).unwrap_or(elem.bits())).min(WIDEST);
                let is_made = fed[at].is_some() && !computed[at];
                let load = CopyOp::Universal { bits: WIDEST };
                return Ok::<_, String>([copy(ty, copy_of(bits, is_made))?, copy(ty, load)?]);
            }
            let bits = (access.vector * elem.bits()).min(WIDEST);
            let load = match is_of_thread(&product) {
                true => load_of_thread(elem, access.major),
                false => load_of(elem, access.major),
            };
            Ok([copy(ty, copy_of(bits, fed[at].is_some()))?, copy(ty, load)?])
        };
        let factors = [factor(0, a, product.a)?, factor(1, b, product.b)?];
        let bits = (of_c.vector * types::elem(c)?.bits()).min(WIDEST);
        let result = [copy(c, pairs)?, copy(c, CopyOp::Universal { bits })?];
        let (row, copies) = rows(mma, &[factors[0], factors[1], result].concat())?;
        let atoms_fed = |load: &CopyAtom, values: &Layout| -> Result<i64, String> {
            let held = values.mode(1).and_then(|mode| mode.size());
            let loaded = load.num_val_dst().map_err(|e| e.to_string())?;
            Ok((loaded / held.map_err(|e| e.to_string())?.max(1)).max(1))
        };
        Ok(Self {
            location,
            mma,
            fed: match computed {
                [false, false] => [
                    atoms_fed(&copies[1], &row.a_tv)?,
                    atoms_fed(&copies[3], &row.b_tv)?,
                ],
                _ => [1, 1],
            },
            computed,
            chunk: copies.iter().map(|copy| copy.align).max().unwrap_or(1),
            sources: Sources {
                strides: match &accesses[..2] {
                    factors if factors.iter().any(|access| access.placed) => Strides::Placed,
                    factors if factors.iter().all(|access| access.known) => Strides::Known,
                    factors if factors.iter().all(|access| access.apart) => Strides::Apart,
                    _ => Strides::Open,
                },
                fed,
                scaled: None,
                reduced: Reduced::default(),
            },
            majors: accesses.map(|access| access.major),
            result_elem: types::elem(c)?,
            row,
            factors,
            result,
            swizzles: Swizzles::default(),
        })
    }

    /// The same builder, of plans for outputs beside C that are reduced, and for scales of groups along K.
    pub(super) fn with(mut self, reduced: Reduced, scaled: Option<Scaled>) -> Self {
        self.sources.reduced = reduced;
        self.sources.scaled = scaled;
        self
    }

    /// The builder and the choice that give a plan; nothing where it is another one's.
    pub(super) fn of(plan: &Plan<'c>) -> Option<(Self, Choice)> {
        let [a, b, accumulate] = plan.multiplied().ok()?;
        let access = |operand, place: usize| {
            let row = plan.path(operand).get(place)?.row().ok()?;
            Some(Access {
                major: plan.major(operand).ok()?,
                known: true,
                apart: false,
                placed: false,
                vector: row.num_val,
                lines: row.num_val,
                pitch: row.num_val,
            })
        };
        let accesses = [
            access(Operand::A, 0)?,
            access(Operand::B, 0)?,
            access(Operand::C, 1)?,
        ];
        let elements = [a, b, plan.element(Operand::C).ok()?];
        let computes = |operand| plan.computes_fragments(operand).ok();
        let computed = [computes(Operand::A)?, computes(Operand::B)?];
        // What a plan stores from registers a prologue may have made, of at least as much.
        let fed = |operand, access: &Access| {
            let first = plan.path(operand).first()?;
            let bits = first.row().ok()?.val_bits;
            let is_stored = first.completion == Completion::Immediate;
            let is_wide = access.vector * bits >= NARROWEST_ASYNC;
            (is_stored && is_wide || computed[operand as usize]).then_some(Fed {
                stored: first.element().ok()?,
                vector: access.vector,
                bits,
                held: 0,
                group: None,
                along_k: false,
            })
        };
        let fed = [fed(Operand::A, &accesses[0]), fed(Operand::B, &accesses[1])];
        let builder = Self::new(elements, accumulate, accesses, fed, computed).ok()?;
        let (tile, _) = plan.shared(Operand::A).ok()?;
        let along = plan.extents(Operand::A)[accesses[0].major];
        let auto = builder.swizzle_of(0, along).ok()?;
        let choice = Choice {
            tile: plan.tile,
            warps: warps_of(plan),
            stages: plan.stages,
            swizzle: match tile.swizzle {
                swizzle if swizzle == auto => SwizzleChoice::Auto,
                Some(swizzle) => SwizzleChoice::Given(swizzle),
                None => SwizzleChoice::None,
            },
            raster: plan.raster,
            split: plan.split,
            stream: plan.stream,
            speed: 0,
        };
        choice.check_range().ok()?;
        let same = builder.plan(choice).is_ok_and(|made| made == *plan);
        same.then_some((builder, choice))
    }

    /// The choices that were measured, or estimated.
    fn table(&self, raster: i64) -> impl Iterator<Item = Choice> + use<> {
        table(&self.row, raster, self.computed != [false; 2])
    }

    /// The swizzle of a factor's lines of `along` elements, 0 for A and 1 for B. Errors: lines that no swizzle is for.
    fn swizzle_of(&self, factor: usize, along: i64) -> Result<Option<Swizzle>, String> {
        match self.computed[factor] {
            true => of_halves(along * STORED / 8),
            false => Ok(self.swizzle(along, self.row.a)),
        }
    }

    /// The swizzle of lines of `along` elements.
    fn swizzle(&self, along: i64, elem: Elem) -> Option<Swizzle> {
        self.swizzles
            .conflict_free(along * elem.bits() / 8, self.chunk)
    }

    /// The plan of a choice, which [`Choice::check_range`] has passed.
    fn plan(&self, choice: Choice) -> Result<Plan<'c>, String> {
        let wrong = |e: cute_layout::LayoutError| e.to_string();
        let ([m, n, k], [wm, wn]) = (choice.tile, choice.warps);
        let [atom_m, atom_n, atom_k] = self.row.shape_mnk;
        let (warps, step) = if is_of_thread(&self.row) {
            self.threads([wm, wn])?
        } else {
            let warps = Layout::new(tuple([wm, wn, 1].map(int)), tuple([1, wm, 0].map(int)));
            let step = [wm * atom_m * self.fed[0], wn * atom_n * self.fed[1], atom_k];
            let mut step = Tile::from_shape(&tuple(step.map(int))).map_err(wrong)?;
            if let (true, Tile::Modes(modes)) = (self.computed != [false; 2], &mut step) {
                modes[2] = Tile::Layout(neighbours_along_k(WIDEST / STORED)?);
            }
            (warps.map_err(wrong)?, step)
        };
        let mma = types::tiled_mma_type(self.location, self.mma, &warps, &step).map_err(said)?;
        let path = |atoms: [Type<'c>; 2], extents: [i64; 2], major, swizzle, buffers| {
            let shape = tuple(extents.map(int));
            let layout = match major {
                0 => Layout::col_major(&shape),
                _ => Layout::row_major(&shape),
            }
            .map_err(wrong)?;
            let shared = [
                Some(SharedTile {
                    swizzle,
                    layout,
                    buffers,
                }),
                None,
            ];
            let path = atoms.into_iter().zip(shared).map(|(atom, shared)| {
                let row = types::copy_row(atom).ok_or("expected a copy atom")?;
                Ok(Movement {
                    atom,
                    completion: row.completion,
                    shared,
                })
            });
            path.collect::<Result<Vec<_>, String>>()
        };
        let factor = |at: usize, extents: [i64; 2]| {
            let major = self.majors[at];
            let swizzle = match choice.swizzle {
                SwizzleChoice::Auto => self.swizzle_of(at, extents[major])?,
                SwizzleChoice::None => None,
                SwizzleChoice::Given(swizzle) => Some(swizzle),
            };
            path(self.factors[at], extents, major, swizzle, choice.stages)
        };
        let [.., major_c] = self.majors;
        let extents = [m, n];
        // A warp writes whole rows of the accumulators of an atom, which takes no less than a row at a time.
        let bytes = self.result_elem.bits() / 8;
        let rows = (atom_n * bytes).max(self.chunk);
        // In a workspace there are no banks.
        let out = match (choice.split, choice.stream) {
            (1, _) | (_, 1..) => self.swizzles.conflict_free(extents[major_c] * bytes, rows),
            _ => None,
        };
        Ok(Plan {
            tile: choice.tile,
            stages: choice.stages,
            raster: choice.raster,
            split: choice.split,
            stream: choice.stream,
            cluster: [1; 3],
            teams: 1,
            mma,
            paths: [
                factor(0, [m, k])?,
                factor(1, [n, k])?,
                path(self.result, extents, major_c, out, 1)?,
            ],
        })
    }

    /// The plan of a tile of which each of so many warps has rows of its own. Errors: a tile that they do not cover; an instruction that an
    /// architecture lacks.
    pub(super) fn by_rows(
        &self,
        tile: [i64; 3],
        warps: i64,
        stages: i64,
        archs: &Archs,
    ) -> Result<Plan<'c>, String> {
        require(archs, &self.row.name, self.row.requires)?;
        let choice = Choice {
            tile,
            warps: [warps, 1],
            stages,
            swizzle: SwizzleChoice::Auto,
            raster: 1,
            split: 1,
            stream: 0,
            speed: 0,
        };
        choice.check_range()?;
        let plan = self.plan(choice)?;
        plan.verify()?;
        Ok(plan)
    }

    /// The arrangement of threads that have a product each, and the elements of each: neighbours, of what is loaded so.
    fn threads(&self, [wm, wn]: [i64; 2]) -> Result<(Layout, Tile), String> {
        let wrong = |e: cute_layout::LayoutError| e.to_string();
        let [rows, columns] = LANES;
        let shape = tuple([
            tuple([int(rows), int(wm)]),
            tuple([int(columns), int(wn)]),
            int(1),
        ]);
        let stride = tuple([
            tuple([int(1), int(rows * columns)]),
            tuple([int(rows), int(rows * columns * wm)]),
            int(0),
        ]);
        let mut step = Vec::new();
        for (threads, major) in [(rows * wm, self.majors[0]), (columns * wn, self.majors[1])] {
            let count = if major == 0 { widest(self.row.a) } else { 1 };
            let layout = match count {
                1 => Layout::leaf(threads, 1),
                _ => Layout::new(tuple([threads, count].map(int)), tuple([count, 1].map(int))),
            };
            step.push(Tile::Layout(layout.map_err(wrong)?));
        }
        step.push(Tile::Layout(Layout::leaf(1, 0).map_err(wrong)?));
        let threads = Layout::new(shape, stride).map_err(wrong)?;
        Ok((threads, Tile::Modes(step)))
    }

    /// The plan of a choice that architectures have room for, and its registers. Errors: what does not fit, with both figures.
    fn fitting(&self, choice: Choice, archs: &Archs) -> Result<(Plan<'c>, Registers), String> {
        choice.check_range()?;
        let plan = self.plan(choice)?;
        plan.verify()?;
        for (operand, fed) in [Operand::A, Operand::B].into_iter().zip(self.sources.fed) {
            if let Some(fed) = fed {
                fed.check_groups(&plan, operand)?;
            }
        }
        if let Some(scaled) = self.sources.scaled {
            scaled.check(&plan)?;
        }
        let registers = Registers::of(&plan, self.sources)?;
        for arch in archs.all() {
            cost::check(&plan, &registers, self.sources, arch)?;
        }
        Ok((plan, registers))
    }

    /// The plans that a problem can be computed by: those of the table, or the one that is asked for, each with K split in as many
    /// parts as `splits` says, which are all 1 or all more. Errors: the reason why there is none, and one that would do.
    pub(super) fn candidates(
        &self,
        request: &Request,
        splits: &[i64],
        archs: &Archs,
    ) -> Result<Vec<Candidate<'c>>, Refusal> {
        require(archs, &self.row.name, self.row.requires)?;
        let raster = request.raster.unwrap_or(RASTER);
        let complete = |base: Choice| Choice {
            tile: request.tile.unwrap_or(base.tile),
            warps: request.warps.unwrap_or(base.warps),
            stages: request.stages.unwrap_or(base.stages),
            swizzle: request.swizzle.unwrap_or(base.swizzle),
            raster,
            split: splits.first().copied().unwrap_or(1),
            // Whatever the number, a block is the same.
            stream: i64::from(request.is_streamed()),
            speed: base.speed,
        };
        // With nothing left open the candidates are all the same.
        let asked = request.tile.is_some() || request.warps.is_some();
        let fitting = |choices: Vec<Choice>| -> Vec<Candidate<'c>> {
            let fitting = choices.into_iter().filter_map(|choice| {
                let (plan, registers) = self.fitting(choice, archs).ok()?;
                let (speed, arch) = (choice.speed, archs.first());
                let estimate = Estimate::of_warps(&plan, speed, &registers, self.sources, arch);
                let stream = match request.stream {
                    Some(Stream::Blocks(stream)) => stream,
                    Some(Stream::Auto) => {
                        let blocks = cost::at_once(&plan, &registers, self.sources, arch).ok()?;
                        i64::from(blocks.max(1))
                    }
                    _ => 0,
                };
                let plan = Plan { stream, ..plan };
                Some((choice, plan, estimate.ok()?.with_stream(stream)))
            });
            let fitting = fitting.take(if asked { 1 } else { usize::MAX });
            let split = |(choice, plan, estimate): (Choice, Plan<'c>, Estimate)| {
                splits.iter().map(move |split| Candidate {
                    asking: choice.asking(*split, plan.stream),
                    plan: Plan {
                        split: *split,
                        ..plan.clone()
                    },
                    estimate: estimate.with_split(*split),
                    exchanged: false,
                })
            };
            fitting.flat_map(split).collect()
        };
        let all = fitting(self.table(raster).map(complete).collect());
        if !all.is_empty() {
            return Ok(all);
        }
        if request.stages.is_none() {
            // With fewer buffers than were measured to be best.
            let fewer = |base: Choice| {
                (2..base.stages)
                    .rev()
                    .map(move |stages| Choice { stages, ..base })
            };
            let candidates = self.table(raster);
            let candidates = candidates.map(complete).flat_map(fewer).collect();
            let all = fitting(candidates);
            if !all.is_empty() {
                return Ok(all);
            }
        }
        let asked = self.table(raster).next().map(complete);
        let asked = asked.ok_or("expected a choice in the table")?;
        Err(self.refusal(asked, archs))
    }

    /// The reason why a choice cannot be had, and one that can.
    fn refusal(&self, asked: Choice, archs: &Archs) -> Refusal {
        let reason = match self.fitting(asked, archs) {
            Err(reason) => reason,
            // It fits after all, and was not among what was tried.
            Ok((plan, _)) => {
                let reason = format!("expected {}", options_of(&plan));
                let cure = Cure::Said;
                return Refusal { reason, cure };
            }
        };
        match self.alternative(asked, archs) {
            Some(plan) => Refusal {
                reason,
                cure: Cure::Options(options_of(&plan)),
            },
            None if matches!(asked.swizzle, SwizzleChoice::Given(..)) => Refusal {
                reason: reason
                    + "; nothing fits with this swizzle, whose period is the alignment of each buffer: take a shorter one, or swizzle=auto",
                cure: Cure::Said,
            },
            None => reason.into(),
        }
    }

    /// The plan of the same problem with the next fewer registers that fits.
    pub(super) fn lighter(&self, asked: Choice, archs: &Archs) -> Option<Plan<'c>> {
        let most = Registers::of(&self.plan(asked).ok()?, self.sources).ok()?;
        let most = most.by(self.sources.strides);
        let swizzled = |choice| Choice {
            swizzle: asked.swizzle,
            split: asked.split,
            stream: asked.stream,
            ..choice
        };
        let warps = [[2, 2], [2, 4], [4, 2], [4, 4]].map(|warps| Choice { warps, ..asked });
        warps
            .into_iter()
            .chain(self.table(asked.raster).map(swizzled))
            .filter(|choice| divides(choice.tile, asked.tile))
            .filter_map(|choice| {
                let (plan, registers) = self.fitting(choice, archs).ok()?;
                let registers = registers.by(self.sources.strides);
                (registers < most).then_some((registers, plan))
            })
            .max_by_key(|(registers, _)| *registers)
            .map(|(_, plan)| plan)
    }

    /// A plan that fits, as near to what was asked for as can be.
    pub(super) fn alternative(&self, asked: Choice, archs: &Archs) -> Option<Plan<'c>> {
        // More buffers than that never fit.
        let most = asked.stages.clamp(1, 64);
        let stages = (1..=most).rev().map(|stages| Choice { stages, ..asked });
        // What is named keeps what it does not name.
        let swizzled = |choice| Choice {
            swizzle: asked.swizzle,
            split: asked.split,
            stream: asked.stream,
            ..choice
        };
        let warps = [
            [2, 2],
            [2, 4],
            [4, 2],
            [4, 4],
            [1, 2],
            [2, 1],
            [1, 4],
            [4, 1],
            [1, 1],
        ]
        .into_iter()
        .flat_map(|warps| {
            (1..=most).rev().map(move |stages| Choice {
                warps,
                stages,
                ..asked
            })
        });
        stages
            .chain(warps)
            .chain(self.table(asked.raster).map(swizzled))
            .filter(|choice| *choice != asked)
            .find_map(|choice| self.fitting(choice, archs).ok())
            .map(|(plan, _)| plan)
    }
}

/// Accumulators of a thread that are neighbours along N. Errors: fragments that are not known.
fn neighbours(product: &MmaAtom) -> Result<i64, String> {
    let values = product.c_tv.mode(1).map_err(|e| e.to_string())?;
    let values = values.flat_or("neighbours").map_err(|e| e.to_string())?;
    let [rows, ..] = product.shape_mnk;
    let run = (1..values.size()).take_while(|i| values.at(*i) == i * rows);
    Ok(run.count() as i64 + 1)
}

/// Checks that sums of a type are stored as elements of C without a region that says how: as they are, or rounded to a type of 16 bits, to one of more exponents from f32
/// only. Errors: other elements.
pub(super) fn check_result<'c>(accumulate: Type<'c>, c: Type<'c>) -> Result<(), String> {
    let sums = types::elem(accumulate)?;
    let mut results = vec![sums];
    if sums == Elem::F32 {
        results.extend([Elem::F16, Elem::BF16]);
    }
    if results.iter().any(|elem| types::elem(c) == Ok(*elem)) {
        return Ok(());
    }
    Err(format!(
        "sums in {accumulate} are not rounded to {c} here yet: expected C of {}, found {c}; write another type by an epilogue that converts",
        names_of(results)
    ))
}

/// The names of types, each once, as a sentence lists them.
fn names_of(all: Vec<Elem>) -> String {
    let mut names: Vec<String> = all.iter().map(Elem::to_string).collect();
    let mut met = HashSet::new();
    names.retain(|name| met.insert(name.clone()));
    match &names[..] {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        names => names.concat(),
    }
}

/// The row of the product of A, B and C of these types. Errors: types that no product takes.
fn product_of<'c>(elements: [Type<'c>; 3], accumulate: Type<'c>) -> Result<MmaAtom, String> {
    let mut products = Vec::new();
    for name in PRODUCTS {
        products.push(MmaAtom::named(name).map_err(|e| e.to_string())?);
    }
    let [a, b, c] = elements;
    let is = |elem: Elem, ty: Type<'c>| types::elem(ty) == Ok(elem);
    let all = products.iter();
    let of_a: Vec<_> = all.clone().filter(|product| is(product.a, a)).collect();
    if of_a.is_empty() {
        return Err(format!(
            "no atom multiplies {a} here yet: expected A of {}, found {a}",
            names_of(all.map(|product| product.a).collect())
        ));
    }
    let of_both: Vec<_> = of_a.iter().filter(|product| is(product.b, b)).collect();
    if of_both.is_empty() {
        return Err(format!(
            "no atom multiplies {a} and {b} here yet: expected B of {}, found {b}",
            names_of(of_a.iter().map(|product| product.b).collect())
        ));
    }
    let Some(product) = of_both.iter().find(|product| is(product.d, accumulate)) else {
        let known = names_of(of_both.iter().map(|product| product.d).collect());
        return Err(format!(
            "no atom accumulates {a} products in {accumulate} here yet; expected `accumulate {known}`"
        ));
    };
    check_result(accumulate, c)?;
    let product: &MmaAtom = product;
    Ok(product.clone())
}

#[cfg(test)]
mod tests;
