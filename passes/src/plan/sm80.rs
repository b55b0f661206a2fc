//! Plans of SM80's instructions: cp.async into a ring in shared memory, ldmatrix, mma.sync, and C out through shared memory.
//!
//! Extents, vectors and fragments come from the rows of the instructions that are named here.

use super::{
    Request, SwizzleChoice, cost, divides, not_divided, options_of, require, rows,
    swizzle::conflict_free, warps_of,
};
use crate::arch::{THREADS_PER_BLOCK, WARP};
use cute_ir::{
    Failure,
    mlir::context_of_type,
    plan::{MOST_EXTENT, Movement, Plan, SharedTile},
    types::{self, CopyOp, MOST_STAGES},
};
use cute_layout::{
    Layout, MmaAtom, Operand, Tile,
    atoms::{CopyAtom, Elem},
    int, tuple,
};
use cute_target::Arch;
use melior::ir::{Location, Type};
use std::sync::Arc;

/// The product.
const PRODUCT: &str = "SM80_16x8x16_F32F16F16F32_TN";

/// The copy of A and B into shared memory.
const COPY: CopyOp = CopyOp::SimtAsync {
    global: true,
    bits: 128,
};

/// The load of fragments of A and B.
const LOAD: CopyOp = CopyOp::Ldsm {
    matrices: 4,
    transpose: false,
};

/// The copy of C out of shared memory.
const STORE: CopyOp = CopyOp::Universal { bits: 128 };

/// The tiles, warps and stages that were measured, the fastest on large problems first; `docs/performance.md`.
const TABLE: &[([i64; 3], [i64; 2], i64)] = &[
    ([128, 256, 64], [2, 4], 3),
    ([256, 128, 64], [4, 2], 3),
    ([128, 128, 64], [2, 2], 3),
    ([128, 128, 32], [2, 2], 4),
    ([128, 64, 32], [2, 2], 4),
    ([64, 128, 32], [2, 2], 4),
    ([64, 64, 32], [2, 2], 4),
    ([64, 64, 16], [2, 2], 4),
    ([32, 64, 32], [1, 2], 4),
    ([64, 32, 32], [2, 1], 4),
    ([32, 32, 32], [1, 2], 4),
    ([32, 32, 16], [1, 1], 4),
    ([16, 16, 16], [1, 1], 3),
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
}

fn table(raster: i64) -> impl Iterator<Item = Choice> {
    TABLE.iter().map(move |&(tile, warps, stages)| Choice {
        tile,
        warps,
        stages,
        swizzle: SwizzleChoice::Auto,
        raster,
    })
}

impl Choice {
    /// Checks that these are numbers that can be reckoned with.
    fn check_range(&self) -> Result<(), String> {
        let ([m, n, k], [wm, wn]) = (self.tile, self.warps);
        for (name, value, most) in [
            ("tile", m.max(n).max(k), MOST_EXTENT),
            ("warps", wm.max(wn), THREADS_PER_BLOCK / WARP),
            ("stages", self.stages, MOST_STAGES),
            ("raster", self.raster, i64::from(i32::MAX)),
        ] {
            if value > most {
                return Err(format!("{name} is at most {most}, found {value}"));
            }
        }
        if [m, n, k, wm, wn, self.stages, self.raster]
            .iter()
            .any(|v| *v < 1)
        {
            return Err("tile, warps, stages and raster are at least 1".to_owned());
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

/// Checks that an architecture has the instructions.
pub(super) fn check_arch(arch: Arch) -> Result<(), String> {
    let product = MmaAtom::named(PRODUCT).map_err(|e| e.to_string())?;
    let CopyOp::SimtAsync { bits, .. } = COPY else {
        return Ok(());
    };
    let copy = CopyAtom::cp_async(bits / 8, product.a.bits()).map_err(|e| e.to_string())?;
    require(arch, &copy.name, copy.requires)?;
    require(arch, &product.name, product.requires)
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
    /// Bytes that are accessed at once.
    chunk: i64,
}

fn said(_: Failure) -> String {
    "has no such atom".to_owned()
}

impl<'c> Builder<'c> {
    /// The builder for A, B and C of these types. Errors: types that the instructions do not take.
    pub(super) fn new(elements: [Type<'c>; 3], accumulate: Type<'c>) -> Result<Self, String> {
        let product = MmaAtom::named(PRODUCT).map_err(|e| e.to_string())?;
        let [a, b, c] = elements;
        for (name, ty, elem) in [
            ("A", a, product.a),
            ("B", b, product.b),
            ("C", c, product.a),
        ] {
            if types::elem(ty) != Ok(elem) {
                return Err(format!(
                    "no atom multiplies {ty} here yet: expected {name} of {elem}, found {ty}"
                ));
            }
        }
        if types::elem(accumulate) != Ok(product.d) {
            return Err(format!(
                "no atom accumulates {} products in {accumulate} here yet; expected `accumulate {}`",
                product.a, product.d
            ));
        }
        let location = Location::unknown(context_of_type(a));
        let copy = |element, op| types::copy_atom_type(location, element, op).map_err(said);
        let mma =
            types::sm80_mma_type(location, product.shape_mnk, a, b, accumulate).map_err(said)?;
        let pairs = CopyOp::Universal {
            bits: neighbours(&product)? * types::elem(c)?.bits(),
        };
        let factors = [
            [copy(a, COPY)?, copy(a, LOAD)?],
            [copy(b, COPY)?, copy(b, LOAD)?],
        ];
        let result = [copy(c, pairs)?, copy(c, STORE)?];
        let (row, copies) = rows(mma, &[factors[0], factors[1], result].concat())?;
        let fed = |load: &CopyAtom, values: &Layout| -> Result<i64, String> {
            let held = values.mode(1).and_then(|mode| mode.size());
            let loaded = load.num_val_dst().map_err(|e| e.to_string())?;
            Ok((loaded / held.map_err(|e| e.to_string())?.max(1)).max(1))
        };
        Ok(Self {
            location,
            mma,
            fed: [fed(&copies[1], &row.a_tv)?, fed(&copies[3], &row.b_tv)?],
            chunk: copies.iter().map(|copy| copy.align).max().unwrap_or(1),
            row,
            factors,
            result,
        })
    }

    /// The builder and the choice that give a plan; nothing where it is another one's.
    pub(super) fn of(plan: &Plan<'c>) -> Option<(Self, Choice)> {
        let [a, b, accumulate] = plan.multiplied().ok()?;
        let builder = Self::new([a, b, plan.element(Operand::C).ok()?], accumulate).ok()?;
        let (tile, _) = plan.shared(Operand::A).ok()?;
        let auto = builder.swizzle(plan.tile[2], builder.row.a);
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
        };
        choice.check_range().ok()?;
        let same = builder.plan(choice).is_ok_and(|made| made == *plan);
        same.then_some((builder, choice))
    }

    fn swizzle(&self, columns: i64, elem: Elem) -> Option<cute_layout::Swizzle> {
        conflict_free(columns * elem.bits() / 8, self.chunk)
    }

    /// The plan of a choice, which [`Choice::check_range`] has passed.
    fn plan(&self, choice: Choice) -> Result<Plan<'c>, String> {
        let wrong = |e: cute_layout::LayoutError| e.to_string();
        let ([m, n, k], [wm, wn]) = (choice.tile, choice.warps);
        let [atom_m, atom_n, atom_k] = self.row.shape_mnk;
        let warps = Layout::new(tuple([wm, wn, 1].map(int)), tuple([1, wm, 0].map(int)));
        let step = [wm * atom_m * self.fed[0], wn * atom_n * self.fed[1], atom_k];
        let step = Tile::from_shape(&tuple(step.map(int))).map_err(wrong)?;
        let warps = warps.map_err(wrong)?;
        let mma = types::tiled_mma_type(self.location, self.mma, &warps, &step).map_err(said)?;
        let path = |atoms: [Type<'c>; 2], rows, columns, swizzle, buffers| {
            let layout = Layout::row_major(&tuple([int(rows), int(columns)])).map_err(wrong)?;
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
        let swizzle = |elem| match choice.swizzle {
            SwizzleChoice::Auto => self.swizzle(k, elem),
            SwizzleChoice::None => None,
            SwizzleChoice::Given(swizzle) => Some(swizzle),
        };
        let [a, b] = self.factors;
        let buffers = choice.stages;
        Ok(Plan {
            tile: choice.tile,
            stages: choice.stages,
            raster: choice.raster,
            mma,
            paths: [
                path(a, m, k, swizzle(self.row.a), buffers)?,
                path(b, n, k, swizzle(self.row.b), buffers)?,
                path(self.result, m, n, self.swizzle(n, self.row.a), 1)?,
            ],
        })
    }

    /// The plan of a choice that an architecture has room for. Errors: what does not fit, with both figures.
    fn fitting(&self, choice: Choice, arch: Arch) -> Result<Plan<'c>, String> {
        choice.check_range()?;
        let plan = self.plan(choice)?;
        plan.verify()?;
        cost::check(&plan, arch)?;
        Ok(plan)
    }

    /// The plan for the problem M, N, K. Errors: the reason why there is none, and one that would do.
    pub(super) fn choose(
        &self,
        problem: [i64; 3],
        request: &Request,
        arch: Arch,
    ) -> Result<Plan<'c>, String> {
        let raster = request.raster.unwrap_or(RASTER);
        let complete = |base: Choice| Choice {
            tile: request.tile.unwrap_or(base.tile),
            warps: request.warps.unwrap_or(base.warps),
            stages: request.stages.unwrap_or(base.stages),
            swizzle: request.swizzle.unwrap_or(base.swizzle),
            raster,
        };
        let first = |mut candidates: Vec<Choice>| {
            candidates.retain(|choice| divides(choice.tile, problem));
            // With nothing left open the candidates are all the same.
            if request.tile.is_none() && request.warps.is_none() {
                let sms = request.sms.unwrap_or_else(|| arch.multiprocessors().into());
                prefer_full_waves(&mut candidates, problem, sms);
            }
            let mut fitting = candidates.into_iter();
            fitting.find_map(|choice| self.fitting(choice, arch).ok())
        };
        if let Some(plan) = first(table(raster).map(complete).collect()) {
            return Ok(plan);
        }
        if request.stages.is_none() {
            // With fewer buffers than were measured to be best.
            let fewer = |base: Choice| {
                (2..base.stages)
                    .rev()
                    .map(move |stages| Choice { stages, ..base })
            };
            let candidates = table(raster).map(complete).flat_map(fewer).collect();
            if let Some(plan) = first(candidates) {
                return Ok(plan);
            }
        }
        let asked = table(raster).next().map(complete);
        let asked = asked.ok_or("expected a choice in the table")?;
        Err(self.refusal(asked, problem, arch))
    }

    /// The reason why a choice cannot be had for a problem, and one that can.
    fn refusal(&self, asked: Choice, problem: [i64; 3], arch: Arch) -> String {
        let mut reason = match self.fitting(asked, arch) {
            Err(reason) => reason,
            Ok(_) => not_divided(asked.tile, problem),
        };
        match self.alternative(asked, problem, arch) {
            Some(plan) => reason += &format!("; {} fits", options_of(&plan)),
            None if divides(asked.tile, problem)
                && matches!(asked.swizzle, SwizzleChoice::Given(..)) =>
            {
                reason += "; nothing fits with this swizzle, whose period is the alignment of each buffer: take a shorter \
                           one, or swizzle=auto";
            }
            None => {
                reason += "; no tile divides it: pad M, N and K to multiples of 16, better of 128";
            }
        }
        reason
    }

    /// The plan of the same problem with the next fewer registers that fits.
    pub(super) fn lighter(&self, asked: Choice, arch: Arch) -> Option<Plan<'c>> {
        let most = cost::registers(&self.plan(asked).ok()?).ok()?;
        let swizzled = |choice| Choice {
            swizzle: asked.swizzle,
            ..choice
        };
        let warps = [[2, 2], [2, 4], [4, 2], [4, 4]].map(|warps| Choice { warps, ..asked });
        warps
            .into_iter()
            .chain(table(asked.raster).map(swizzled))
            .filter(|choice| divides(choice.tile, asked.tile))
            .filter_map(|choice| {
                let plan = self.fitting(choice, arch).ok()?;
                let registers = cost::registers(&plan).ok()?;
                (registers < most).then_some((registers, plan))
            })
            .max_by_key(|(registers, _)| *registers)
            .map(|(_, plan)| plan)
    }

    /// A plan that fits, as near to what was asked for as can be.
    pub(super) fn alternative(
        &self,
        asked: Choice,
        problem: [i64; 3],
        arch: Arch,
    ) -> Option<Plan<'c>> {
        // More buffers than that never fit.
        let most = asked.stages.clamp(1, 64);
        let stages = (1..=most).rev().map(|stages| Choice { stages, ..asked });
        // What is named keeps what it does not name.
        let swizzled = |choice| Choice {
            swizzle: asked.swizzle,
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
            .chain(table(asked.raster).map(swizzled))
            .filter(|choice| *choice != asked && divides(choice.tile, problem))
            .find_map(|choice| self.fitting(choice, arch).ok())
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

/// Puts the choices first that leave fewer of `sms` multiprocessors idle, where the grid is small.
///
/// A grid on more than half of them is not: tiles of half the size would be two for some multiprocessor, which takes as
/// long as one of the whole size, and longer (`docs/performance.md` has the times).
fn prefer_full_waves(candidates: &mut [Choice], problem: [i64; 3], sms: i64) {
    let blocks = |c: &Choice| (problem[0] / c.tile[0]) * (problem[1] / c.tile[1]);
    candidates.sort_by_key(|choice| match blocks(choice) {
        enough if 2 * enough > sms => 0,
        few => sms - few,
    });
}

#[cfg(test)]
mod tests;
