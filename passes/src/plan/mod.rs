//! The choice of the plan that a product of whole tensors is computed by.
//!
//! A builder for a family of architectures (`sm80.rs`) makes candidates of a problem, an architecture and what was asked
//! for, and ranks them; `cost.rs` estimates the registers and the memory that a plan takes and says whether an architecture has them, `estimate.rs` its time. `cute-tile` leaves
//! the plan on the kernel, and whatever comes after executes it.

mod boxes;
mod cost;
mod epilogue;
mod estimate;
mod fed;
mod fused;
mod measured;
mod partials;
mod refusal;
mod request;
mod sm80;
mod sm90;
mod swizzle;
mod variants;

pub use boxes::{Boxes, Columns, Leaves};
pub use cute_measured::{GENERATION, Table};
pub(crate) use estimate::clusters_at_once;
pub use estimate::{Arithmetic, Estimate};
pub use fed::Fed;
pub(crate) use fused::{ATOM_ROWS, Fused};
pub use measured::{Calibrated, read as read_table};
pub(crate) use partials::Partials;
pub use partials::Reduced;
pub use request::{Avoid, Instructions, Pack, Prologue, Request, Stream, SwizzleChoice};

use crate::arch::WIDEST;
use cute_ir::{
    mlir::element_bits,
    options::OptionValue,
    plan::{OPERANDS, Plan, name_of_operand},
    types,
};
use cute_layout::{MmaAtom, Operand, atoms::CopyAtom};
use cute_target::{Arch, Archs, Requirement};
pub use epilogue::Epilogue;
pub(crate) use epilogue::{takes_sums, work};
use measured::Measured;
use melior::ir::Type;
use refusal::Refusal;
use std::sync::Arc;

/// A product of whole tensors, or a batch of them.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'c> {
    /// M, N and K; none where only a launch knows.
    pub extents: [Option<i64>; 3],
    /// The number of products; none where only a launch knows.
    pub batch: Option<i64>,
    /// Tells whether the products are of groups of rows of which only the GPU knows how many each has; M is their mean.
    pub has_groups: bool,
    /// The types of the elements of A and B that are multiplied, and of C's.
    pub elements: [Type<'c>; 3],
    /// The type in which products are summed.
    pub accumulate: Type<'c>,
    /// The accesses to A, B and C in global memory.
    pub accesses: [Access; 3],
    /// What TMA loads of A and B, where each access of threads has an address of its own.
    pub boxes: [Option<Boxes>; 2],
    /// The sources that A and B are made of, where a prologue makes them.
    pub fed: [Option<Fed<'c>>; 2],
    /// The groups along K whose sums are multiplied by scales, where there are such.
    pub scaled: Option<Scaled>,
    /// The outputs beside C that are reduced.
    pub reduced: Reduced,
    /// The outputs that are stored where they are computed of the sums.
    pub epilogue: Option<Epilogue<'c>>,
    /// The factors, A and B, that are copied into a workspace first, from where they are accessed.
    pub packed: Packed,
}

/// The factors that are copied into a workspace before they are multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The option that asks for it.
    pub asked: Pack,
    /// Bits of an element of A and of B, as the kernel sees them; 0 of one that is not copied.
    pub bits: [i64; 2],
}

/// Groups of rows, at most, whose tiles blocks count that have tile after tile: a loop over so many takes a microsecond or two beside tiles of some ten.
const MOST_COUNTED: i64 = 256;

/// Tells whether groups are so few, where their number is known, that such blocks count the tiles of all of them.
pub(crate) fn are_counted(groups: Option<i64>) -> bool {
    groups.is_some_and(|groups| groups <= MOST_COUNTED)
}

/// Groups of elements that share a scale, by which the sums of a group are multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scaled {
    /// Elements of a group along K; none where all along K are one group.
    pub k: Option<i64>,
    /// Rows of A and of B that are one group, where there are such.
    pub lines: [Option<i64>; 2],
    /// Tensors that have a number for each row of A and of B.
    pub varying: [i64; 2],
    /// Tensors that have one for a group of rows, or for all of them.
    pub others: i64,
    /// Tells whether elements of all those tensors are such as a thread copies asynchronously: of 4 or 8 bytes.
    pub is_for_warps: bool,
    /// Bits of the widest of those elements.
    pub bits: i64,
}

impl Scaled {
    /// Numbers of a turn's scales that a thread of a warpgroup holds, of tiles of so many rows and columns by so many threads: of each 64 rows it has two, and of columns a
    /// quarter.
    pub fn held(&self, [m, n]: [i64; 2], threads: i64) -> i64 {
        let [rows, columns] = self.varying;
        rows * (m * 4 / threads.max(1)) + columns * (n / 4) + self.others
    }

    /// The sets of sums of a group that a thread has: two, where it has the registers, so that the products of a turn go on while the sums of the one before it are added.
    pub fn sets(&self, plan: &Plan<'_>, counts_tiles: bool, is_known: bool) -> i64 {
        let [m, n, _] = plan.tile;
        // Of two teams one hides what the other waits for.
        let (Ok(threads), true) = (plan.team(), self.is_for_warps && plan.teams == 1) else {
            return 1;
        };
        let [_, budget] = plan.budgets(counts_tiles).unwrap_or([0, 255]);
        let sums = 3 * (m * n / threads);
        match sums + self.beside([m, n], threads, is_known) <= budget {
            true => 2,
            false => 1,
        }
    }

    /// Registers of a thread beside sums: the numbers of a turn, and what else it needs.
    pub fn beside(&self, tile: [i64; 2], threads: i64, is_known: bool) -> i64 {
        self.held(tile, threads) + if is_known { 26 } else { 42 }
    }

    /// Bytes of shared memory that the numbers of a turn take at most, of tiles of so many rows and columns: 0 where threads load them for themselves.
    pub fn bytes(&self, tile: [i64; 2]) -> i64 {
        if !self.is_for_warps {
            return 0;
        }
        let lines = (0..2).map(|factor| {
            let groups = self.lines[factor].map_or(1, |group| (tile[factor] / group).max(1));
            self.varying[factor] * tile[factor] + self.others * groups
        });
        self.bits / 8 * lines.sum::<i64>()
    }

    /// Checks that each of a plan's tiles is within a group along K, and of rows within one or of whole ones.
    fn check(&self, plan: &Plan<'_>) -> Result<(), String> {
        let [m, n, k] = plan.tile;
        if let Some(group) = self.k.filter(|group| group % k != 0) {
            return Err(format!(
                "expected groups along K with a scale each that tiles divide, found groups of {group} and tiles of {k}; of smaller groups, multiply the elements by it, and yield one number"
            ));
        }
        for ((name, tile), group) in ["A", "B"].iter().zip([m, n]).zip(self.lines) {
            let Some(group) = group else { continue };
            if group % tile != 0 && tile % group != 0 {
                return Err(format!(
                    "expected groups of rows of {name} with a scale each that tiles divide, or that divide tiles, found groups of {group} and tiles of {tile}"
                ));
            }
        }
        Ok(())
    }
}

impl Problem<'_> {
    /// Tells whether blocks that have tile after tile count those of all groups of rows.
    pub fn counts_tiles(&self) -> bool {
        self.has_groups && are_counted(self.batch)
    }

    /// M, N, K and the number of products.
    pub fn sizes(&self) -> [Option<i64>; 4] {
        let [m, n, k] = self.extents;
        [m, n, k, self.batch]
    }

    /// The number of M, N and K that only a launch knows.
    pub fn open_extents(&self) -> usize {
        self.extents
            .iter()
            .filter(|extent| extent.is_none())
            .count()
    }

    /// The kind of product, by which measurements are kept: types of A, B, sums and C, the modes along which A, B and C are contiguous, and elements of an access to each; which
    /// factors are images, as convolutions have them; and what prologues make factors of. Such as `f16 f16 f32 f16 kkn 8x8x8`.
    pub fn kind(&self) -> String {
        let [a, b, c] = self.elements;
        let modes = [["m", "k"], ["n", "k"], ["m", "n"]];
        let mut accesses = modes.iter().zip(&self.accesses);
        let majors: String = accesses
            .by_ref()
            .map(|(modes, access)| modes[access.major])
            .collect();
        let [of_a, of_b, of_c] = self.accesses.map(|access| access.vector);
        let mut kind = format!(
            "{a} {b} {} {c} {majors} {of_a}x{of_b}x{of_c}",
            self.accumulate
        );
        if self.has_groups {
            kind += " groups";
        }
        for (name, boxes) in ["A", "B"].iter().zip(self.boxes) {
            if boxes.and_then(Boxes::columns).is_some() {
                kind += &format!(", {name} of images");
            }
        }
        if self.scaled.is_some() {
            kind += " scales";
        }
        if self.packed != Packed::default() {
            kind += &format!(" pack={}", self.packed.asked.written());
        }
        for (name, fed) in ["A", "B"].iter().zip(&self.fed) {
            if let Some(Fed {
                bits, held, group, ..
            }) = fed
            {
                let group = group.map_or(String::new(), |group| format!(" groups of {group}"));
                kind += &format!(", {name} of {bits} bits beside {held}{group}");
            }
        }
        kind
    }

    /// Elements of A and of B that are one in memory, of those that are multiplied.
    fn same(&self) -> [i64; 2] {
        self.boxes.map(|boxes| boxes.map_or(1, Boxes::same))
    }

    /// Tells whether C has no more columns than an atom of warpgroups has rows, and more rows: then tiles of its transpose have more products for each byte that shared memory
    /// gives.
    fn has_few_columns(&self) -> bool {
        let [m, n, _] = self.extents;
        n.is_some_and(|n| n <= sm90::ROWS && m.is_none_or(|m| m > n))
    }

    /// The same problem with the sums themselves in shared memory or in a workspace in place of C, from where what is stored is computed
    /// by vectors that are no wider than the widest access.
    #[must_use]
    pub fn staged_sums(self) -> Self {
        let [a, b, c] = self.elements;
        let widest = [c, self.accumulate].map(|ty| element_bits(ty).unwrap_or(WIDEST));
        let most = (WIDEST / widest[0].max(widest[1]).max(1)).max(1);
        let [of_a, of_b, of_c] = self.accesses;
        let vector = of_c.vector.min(most);
        Self {
            elements: [a, b, self.accumulate],
            accesses: [of_a, of_b, Access { vector, ..of_c }],
            epilogue: self.epilogue.map(|epilogue| Epilogue {
                stored: None,
                ..epilogue
            }),
            ..self
        }
    }
}

/// The parts of K that are tried.
const SPLITS: &[i64] = &[2, 3, 4, 6, 8, 12, 16];

/// The parts of K that are tried where warpgroups multiply, whose tiles are larger and fewer.
const SPLITS_OF_WARPGROUPS: &[i64] = &[2, 3, 4, 6, 8, 12, 16, 24, 32];

/// The accesses to a matrix in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The mode along which neighbours lie: 0 or 1.
    pub major: usize,
    /// Tells whether all strides are known.
    pub known: bool,
    /// Tells whether no elements are known to lie side by side.
    pub apart: bool,
    /// Tells whether each access has an address of its own, and a condition: of modes of several leaves, coordinates, rows by index.
    pub placed: bool,
    /// Elements that can be moved at once: as many as lie side by side, are all there or all not, and are aligned together.
    pub vector: i64,
    /// Elements that lines along the contiguous mode start at multiples of, wherever they end; 0 where no mode is contiguous.
    pub lines: i64,
    /// Elements that such lines are multiples of apart, up to 128 bytes; 0 where no mode is contiguous. Bases are taken to begin there as well.
    pub pitch: i64,
}

impl Access {
    /// The extent, of M, N and K, along which lines of a factor lie, 0 of A and 1 of B.
    pub(super) fn extent_of_lines(&self, factor: usize) -> usize {
        if self.major == 0 { factor } else { 2 }
    }

    /// Tells whether lines of elements of so many bits begin where TMA can have them: at multiples of 16 bytes.
    pub fn is_in_lines(&self, bits: i64) -> bool {
        self.lines > 0 && (self.lines * bits) % WIDEST == 0
    }
}

/// Checks that architectures have the instructions of a builder. Errors: the first one that one lacks.
pub fn check_archs(archs: &Archs) -> Result<(), String> {
    sm80::check_archs(archs)
}

/// A plan that a problem can be computed by.
#[derive(Clone, Debug)]
pub struct Candidate<'c> {
    /// The plan.
    pub plan: Plan<'c>,
    /// The options that ask for it.
    pub asking: String,
    /// The time that it takes, before measurements.
    pub estimate: Estimate,
    /// Tells whether it is a plan of the transposed product, whose first factor is B.
    pub exchanged: bool,
}

/// A candidate that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen<'c> {
    /// The plan.
    pub plan: Plan<'c>,
    /// The options that ask for it.
    pub asking: String,
    /// The time that it takes.
    pub time: Calibrated,
    /// Tells whether it is a plan of the transposed product, whose first factor is B.
    pub exchanged: bool,
}

impl Chosen<'_> {
    /// The estimated time in picoseconds for a problem of known sizes on so many multiprocessors; none where a size is open.
    pub fn time_of(&self, problem: &Problem<'_>, sms: i64) -> Option<i64> {
        let [Some(m), Some(n), Some(k), Some(batch)] = problem.sizes() else {
            return None;
        };
        Some(self.time.estimate.known([m, n, k], batch, sms))
    }
}

/// The rules of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The parts of a plan that are asked for.
    pub request: &'a Request,
    /// The plans that are avoided where there are others.
    pub avoid: Option<&'a Avoid>,
    /// The measured times that somebody gives. Where there are none, the compiler's own count where all sizes are known: they are of few shapes, and
    /// have been seen to make launches of others slower (docs/tuning.md).
    pub given: Option<&'a Table>,
}

#[cfg(test)]
impl<'a> Rules<'a> {
    /// The rules of a request and a table; nothing is avoided.
    fn of(request: &'a Request, table: &'a Table) -> Self {
        Self {
            request,
            avoid: None,
            given: Some(table),
        }
    }
}

/// The plans for a problem, one where M, N, K and the batch are known, and otherwise at most `most`, of which a launch takes the one
/// with the shortest time; of a request for candidates as many as it asks for. Errors: the reason why nothing that was asked for fits, and a choice that does.
pub fn choose<'c>(
    problem: &Problem<'c>,
    rules: Rules<'_>,
    archs: &Archs,
    most: usize,
) -> Result<Vec<Chosen<'c>>, String> {
    let chosen = chosen(problem, rules, archs, most);
    chosen.map_err(|refusal| refusal.text(|| fitting(problem, rules, archs)))
}

/// The options that ask for a plan by the instructions that a request asks for, or by any, where it asks for plans that do not fit; with those that take the place of
/// what else it asks for.
fn fitting(problem: &Problem<'_>, rules: Rules<'_>, archs: &Archs) -> Option<String> {
    let asked = rules.request;
    let open = Request {
        tile: None,
        warps: None,
        stages: None,
        swizzle: None,
        split: None,
        stream: None,
        cluster: None,
        teams: None,
        swap: None,
        ..*asked
    };
    let by_any = Request {
        instructions: None,
        ..open
    };
    let in_any_place = Request {
        prologue: None,
        ..by_any
    };
    // By instructions of warps such numbers are another problem, whose factors are made f16.
    let is_narrow = |ty: Type<'_>| types::is_float(ty) && element_bits(ty) == Some(8);
    let is_another = problem.elements[..2].iter().all(|ty| is_narrow(*ty))
        && !archs.all().all(|arch| arch.multiplies_eight_bit_floats());
    let requests = [open, by_any, in_any_place];
    let mut requests = requests
        .iter()
        .filter(|request| *request != asked && (!is_another || request.instructions.is_some()));
    let mut options = requests.find_map(|request| {
        let rules = Rules { request, ..rules };
        let plans = chosen(problem, rules, archs, 1).ok()?;
        plans.into_iter().next().map(|plan| plan.asking)
    })?;
    for (is_asked, option) in [
        (asked.swizzle.is_some(), "swizzle=auto"),
        (asked.split.is_some(), "split=1"),
        (asked.is_streamed(), "stream=none"),
        (asked.cluster.is_some(), "cluster=1x1"),
        (asked.teams.is_some(), "teams=1"),
        (asked.swap.is_some(), "swap=false"),
        (asked.instructions.is_some(), "instructions=mma"),
        (asked.prologue.is_some(), "prologue=shared"),
    ] {
        let name = option.split_inclusive('=').next().unwrap_or(option);
        if is_asked && !options.contains(name) {
            options += &format!(" {option}");
        }
    }
    Some(options)
}

/// Does as [`choose`], and looks for no cure.
fn chosen<'c>(
    problem: &Problem<'c>,
    rules: Rules<'_>,
    archs: &Archs,
    most: usize,
) -> Result<Vec<Chosen<'c>>, Refusal> {
    let Rules {
        request,
        avoid,
        given,
    } = rules;
    let sizes = problem.sizes();
    let nothing = Table::default();
    let table = match given {
        Some(given) => given,
        // Of products that have another size open, too, no shape is near a measured one but by chance.
        None if sizes.iter().filter(|size| size.is_none()).count() <= 1 => measured::own()?,
        None => &nothing,
    };
    let candidates =
        |problem: &Problem<'c>, splits: &[i64]| -> Result<Vec<Candidate<'c>>, Refusal> {
            let build = |computed| -> Result<Vec<Candidate<'c>>, Refusal> {
                let builder = sm80::Builder::new(
                    problem.elements,
                    problem.accumulate,
                    problem.accesses,
                    problem.fed,
                    computed,
                )?;
                let builder = builder.with(problem.reduced, problem.scaled);
                let mut all = builder.candidates(request, splits, archs)?;
                for candidate in &mut all {
                    candidate.estimate = candidate.estimate.with_same(problem.same());
                }
                Ok(all)
            };
            // Where there is a choice, options say what it is.
            let computed = problem.computed_in_registers();
            let place = |place: Prologue| -> Result<Vec<Candidate<'c>>, Refusal> {
                let mut all = match (place, &computed) {
                    (Prologue::Shared, Ok(_)) => build([false; 2])?,
                    (Prologue::Shared, Err(_)) => return build([false; 2]),
                    (Prologue::Registers, Ok(computed)) => {
                        // The builder does not know that tiles have to be whole.
                        let all = build(*computed).map_err(Refusal::without_options);
                        let mut all = all?;
                        all.retain(|candidate| problem.is_whole(&candidate.plan, *computed));
                        all
                    }
                    (Prologue::Registers, Err(why)) => return Err(why.clone().into()),
                };
                for candidate in &mut all {
                    candidate.asking += &format!(" prologue={}", place.written());
                }
                match all.is_empty() {
                    true => Err(fed::NOT_WHOLE.into()),
                    false => Ok(all),
                }
            };
            let has_prologue = problem.fed.iter().any(Option::is_some);
            match request.prologue.filter(|_| has_prologue) {
                Some(asked) => place(asked),
                None => {
                    let others = place(Prologue::Registers).unwrap_or_default();
                    let all = place(Prologue::Shared);
                    match others.is_empty() {
                        true => all,
                        false => Ok([all.unwrap_or_default(), others].concat()),
                    }
                }
            }
        };
    // A tile that is asked for is taken as it is.
    let is_open = request.tile.is_none() && request.warps.is_none();
    // Products of warpgroups, where the problem is one for them.
    let of_warpgroups = || {
        if request.instructions == Some(Instructions::Mma) {
            return Ok(Vec::new());
        }
        if request.is_streamed() {
            return Err("asks for stream, whose ranges along K blocks of warpgroups do not take here yet, and for wgmma, clusters or teams; expected instructions=mma without them, or split alone".into());
        }
        let of = |(problem, exchanged): (Problem<'c>, bool), splits: &[i64]| {
            let mut all = sm90::Builder::new(&problem)?.candidates(request, splits, archs)?;
            if exchanged {
                for candidate in &mut all {
                    candidate.exchanged = true;
                    candidate.estimate = candidate.estimate.exchanged();
                }
            }
            Ok::<_, String>(all)
        };
        let swapped = |problem: &Problem<'c>, splits: &[i64]| {
            let is_plain = problem.fed.iter().all(Option::is_none);
            let other = problem.exchanged().filter(|_| is_plain);
            let other = other.ok_or("asks for swap=true; expected a product without prologues, scales, groups of rows, factors that are copied and outputs that are reduced")?;
            let mut all = of((other, true), splits)?;
            for candidate in &mut all {
                candidate.asking += " swap=true";
            }
            Ok::<_, String>(all)
        };
        let candidates = |problem: &Problem<'c>, splits: &[i64]| {
            if request.swap == Some(true) {
                return swapped(problem, splits);
            }
            let mut all = of(problem.for_warpgroups()?, splits)?;
            if is_open && request.swap.is_none() && problem.has_few_columns() {
                all.extend(swapped(problem, splits).unwrap_or_default());
            }
            Ok(all)
        };
        match request.split {
            Some(1) => candidates(problem, &[1]),
            Some(split) => candidates(&problem.staged_sums(), &[split]),
            None => {
                let mut all = candidates(problem, &[1])?;
                if is_open && !problem.has_groups {
                    let splits = SPLITS_OF_WARPGROUPS;
                    all.extend(candidates(&problem.staged_sums(), splits).unwrap_or_default());
                }
                Ok(all)
            }
        }
    };
    if problem.has_groups {
        let cluster = request
            .cluster
            .map_or(1, |cluster| cluster.0.iter().product());
        let teams = request.teams.filter(|_| !problem.counts_tiles());
        let asked = [
            ("split", request.split.unwrap_or(1), String::new()),
            (
                "stream",
                1 + i64::from(request.is_streamed()),
                String::new(),
            ),
            ("cluster", cluster, String::new()),
            (
                "teams",
                teams.unwrap_or(1),
                format!(", or a tensor of at most {MOST_COUNTED} ends whose type says how many"),
            ),
        ];
        if let Some((name, _, or)) = asked.iter().find(|(_, asked, _)| *asked > 1) {
            return Err(format!(
                "has groups of rows, of which only the GPU knows how many each has; expected no {name}={or}"
            )
            .into());
        }
    }
    // Clusters and teams are of blocks whose warpgroups multiply.
    let of_clusters = request.cluster.is_some_and(|cluster| cluster.0 != [1; 3]);
    let of_teams = request.teams.is_some_and(|teams| teams > 1);
    let is_swapped = request.swap == Some(true);
    let instructions = match request.instructions {
        None if of_clusters || of_teams || is_swapped => Some(Instructions::Wgmma),
        None if request.is_streamed() => Some(Instructions::Mma),
        asked => asked,
    };
    if instructions == Some(Instructions::Mma) {
        if of_clusters {
            return Err("asks for clusters, whose blocks share what TMA loads, and for instructions=mma; expected instructions=wgmma".into());
        }
        if is_swapped {
            return Err("asks for swap=true, by which warpgroups multiply B by A, and for instructions=mma; expected instructions=wgmma".into());
        }
        if of_teams {
            return Err("asks for teams, whose blocks have a warpgroup that loads for all, and for instructions=mma; expected instructions=wgmma".into());
        }
    }
    // A tile that is asked for is one of warps, unless it says otherwise.
    let is_asked = request.tile.is_some() || request.warps.is_some() || request.swizzle.is_some();
    let of_warpgroups = match instructions {
        Some(Instructions::Wgmma) => of_warpgroups()?,
        None if is_asked => Vec::new(),
        _ => of_warpgroups().unwrap_or_default(),
    };
    let of_warps = || {
        match request.split {
        _ if request.is_streamed() && problem.reduced.is_some() => Err(
            "reduces an output, which is a block's part of all sums along K, and asks for stream, whose ranges share tiles; expected stream=none".into(),
        ),
        Some(1) if request.is_streamed() => Err(
            "asks for stream, whose ranges share tiles, and for split=1; expected split=2 or more, the blocks that share a tile at most, or stream=none".into(),
        ),
        None if request.is_streamed() => candidates(&problem.staged_sums(), SPLITS),
        Some(1) => candidates(problem, &[1]),
        Some(split) if problem.reduced.is_some() => Err(format!(
            "reduces an output, which is a block's part of all sums along K, and K is asked to be split in {split}; expected split=1"
        )
        .into()),
        Some(split) => candidates(&problem.staged_sums(), &[split]),
        None => {
            let mut all = candidates(problem, &[1])?;
            if is_open && !problem.reduced.is_some() && !problem.has_groups {
                all.extend(candidates(&problem.staged_sums(), SPLITS).unwrap_or_default());
            }
            Ok(all)
        }
    }
    };
    let mut of_warps = match (instructions, of_warpgroups.is_empty()) {
        (Some(Instructions::Wgmma), _) => Vec::new(),
        (_, true) => of_warps()?,
        // There is another way.
        (_, false) => of_warps().unwrap_or_default(),
    };
    if problem.has_groups {
        for candidate in &mut of_warps {
            candidate.estimate = candidate.estimate.with_groups();
        }
    }
    // Whichever instructions multiply, and where sums wait in a workspace.
    sm80::check_result(problem.accumulate, problem.elements[2])?;
    let mut candidates = [of_warpgroups, of_warps].concat();
    if let Some(avoid) = avoid {
        let left = avoid.left(candidates.iter().map(|candidate| &candidate.plan));
        let mut left = left.into_iter();
        candidates.retain(|_| left.next().unwrap_or(true));
    }
    if problem.packed != Packed::default() {
        for candidate in &mut candidates {
            candidate.estimate = candidate.estimate.with_packed(problem.packed.bits);
            candidate.asking += &format!(" pack={}", problem.packed.asked.written());
        }
    }
    let sms = multiprocessors(request, archs);
    let measured = Measured::of(table, problem, &candidates, archs.first(), sms);
    Ok(match request.candidates() {
        Some(count) => variants::best(candidates, problem, &measured, count),
        None => variants::choose(candidates, problem, &measured, most),
    })
}

/// The multiprocessors that plans are chosen for.
pub fn multiprocessors(request: &Request, archs: &Archs) -> i64 {
    let sms = request.sms;
    sms.unwrap_or_else(|| archs.first().multiprocessors().into())
}

/// Checks a plan that somebody wrote for a problem on architectures, and tells whether it is one of the transposed product. Errors: what of it does not fit.
pub fn check_given(plan: &Plan<'_>, problem: &Problem<'_>, archs: &Archs) -> Result<bool, String> {
    sm80::check_result(problem.accumulate, problem.elements[2])?;
    let is_shared = plan.is_split() || plan.blocks_of_cluster() > 1;
    if problem.has_groups && is_shared {
        return Err(
            "has groups of rows, of which only the GPU knows how many each has; expected a cute.plan with a block for each tile: no split or clusters"
                .to_owned(),
        );
    }
    if problem.has_groups && plan.teams > 1 && !problem.counts_tiles() {
        return Err(format!(
            "has groups of rows, of which only the GPU knows how many each has, and a cute.plan of {} teams; expected a plan without teams, or a tensor of \
             at most {MOST_COUNTED} ends whose type says how many",
            plan.teams
        ));
    }
    if plan.is_split() && problem.reduced.is_some() {
        return Err(format!(
            "reduces an output, which is a block's part of all sums along K, and has a cute.plan that splits K in {}; expected a plan \
             that does not",
            plan.split
        ));
    }
    let problem = match plan.is_split() {
        true => problem.staged_sums(),
        false => *problem,
    };
    let (problem, exchanged) = match plan.has_roles() {
        true => problem.for_warpgroups()?,
        false => (problem, false),
    };
    if plan.has_roles() && !exchanged && sm90::check_given(plan, &problem, archs).is_err() {
        let swapped = problem.exchanged().filter(|_| problem.fed == [None; 2]);
        let swapped = swapped.map(|problem| sm90::check_given(plan, &problem, archs));
        if let Some(Ok(())) = swapped {
            return Ok(true);
        }
    }
    let [a, b, acc] = plan.multiplied()?;
    let c = plan.element(Operand::C)?;
    let multiplied = [a, b, c, acc];
    let [a, b, c] = problem.elements;
    let names = ["A", "B", "C", "the accumulators"];
    for ((name, planned), found) in names
        .iter()
        .zip(multiplied)
        .zip([a, b, c, problem.accumulate])
    {
        if planned != found {
            return Err(format!(
                "has a cute.plan for {name} of {planned}, found {found}"
            ));
        }
    }
    let mma = plan.tiled_mma()?;
    require(archs, &mma.atom().name, mma.atom().requires)?;
    if plan.has_roles() {
        sm90::check_given(plan, &problem, archs)?;
        return Ok(exchanged);
    }
    for movement in plan.paths.iter().flatten() {
        let row = movement.row()?;
        require(archs, &row.name, row.requires)?;
    }
    for (operand, access) in OPERANDS.into_iter().zip(problem.accesses) {
        let fed = problem.fed.get(operand as usize).copied().flatten();
        let computes = plan.computes_fragments(operand)?;
        fed::check_given(plan, &problem, operand)?;
        let vector = match fed.filter(|_| computes) {
            Some(fed) => fed.vector,
            None => access.vector,
        };
        check_access(plan, operand, Access { vector, ..access })?;
        if let Some(fed) = fed {
            fed.check_groups(plan, operand)?;
        }
    }
    let sources = cost::Sources {
        strides: cost::Strides::Known,
        fed: problem.fed,
        scaled: problem.scaled,
        reduced: problem.reduced,
    };
    if let Some(scaled) = problem.scaled {
        scaled.check(plan)?;
    }
    let registers = cost::Registers::of(plan, sources)?;
    archs
        .all()
        .try_for_each(|arch| cost::check(plan, &registers, sources, arch))?;
    Ok(exchanged)
}

/// Checks that what a plan moves at once between global and shared memory lies side by side there.
fn check_access(plan: &Plan<'_>, operand: Operand, access: Access) -> Result<(), String> {
    let name = name_of_operand(operand);
    let path = plan.path(operand);
    let global = match operand {
        Operand::C => path.last(),
        Operand::A | Operand::B => path.first(),
    };
    let row = global
        .ok_or_else(|| format!("has a cute.plan that does not move {name}"))?
        .row()?;
    if row.num_val > 1 && plan.major(operand)? != access.major {
        let modes = ["rows", "columns"];
        return Err(format!(
            "has a cute.plan that moves {} neighbours along the {} of {name} at once, whose {} are contiguous; expected a \
             tile of {name} in shared memory that lies as {name} does",
            row.num_val,
            modes[plan.major(operand)?],
            modes[access.major],
        ));
    }
    if access.vector % row.num_val != 0 {
        return Err(format!(
            "has a cute.plan that moves {} elements of {name} at once, of which {} are known to be side by side, aligned \
             together, and there together; expected an atom of at most {} bits, or a stride, an extent and an alignment of \
             {name} that are multiples of {} elements",
            row.num_val,
            access.vector,
            access.vector * row.val_bits,
            row.num_val,
        ));
    }
    Ok(())
}

/// The plan for the same problem with the next fewer registers that fits; none where no builder makes plans like this one.
pub fn lighter<'c>(plan: &Plan<'c>, arch: Arch) -> Option<Plan<'c>> {
    if plan.has_roles() {
        return None;
    }
    let (builder, choice) = sm80::Builder::of(plan)?;
    builder.lighter(choice, &arch.into())
}

/// A plan for the same problem that an architecture has shared memory for; none where no builder makes plans like this one.
pub fn smaller<'c>(plan: &Plan<'c>, arch: Arch) -> Option<Plan<'c>> {
    if plan.has_roles() {
        return None;
    }
    let (builder, choice) = sm80::Builder::of(plan)?;
    builder.alternative(choice, &arch.into())
}

/// The options that ask for a plan, but for its swizzle and its raster: `tile=128x128x32 warps=2x2 stages=4`.
pub fn options_of(plan: &Plan<'_>) -> String {
    let [m, n, k] = plan.tile;
    let [wm, wn] = warps_of(plan);
    format!(
        "tile={m}x{n}x{k} warps={wm}x{wn} stages={stages}",
        stages = plan.stages
    )
}

/// Warps along M and N: the atoms of its tiled MMA, or groups of threads where each has one.
pub fn warps_of(plan: &Plan<'_>) -> [i64; 2] {
    let mma = plan.tiled_mma();
    [0, 1].map(|mode| {
        let Ok(mma) = &mma else { return 1 };
        let size = mma.atom_layout().mode(mode).and_then(|mode| mode.size());
        let size = size.unwrap_or(1);
        match mma.atom().shape_mnk {
            [1, 1, 1] => (size / sm80::LANES[mode]).max(1),
            _ if mode == 0 => {
                size * (mma.atom().thr_id.size().unwrap_or(1) / i64::from(cute_target::WARP)).max(1)
            }
            _ => size,
        }
    })
}

/// Checks that architectures have an instruction that a product is computed with.
fn require(archs: &Archs, name: &str, requires: Requirement) -> Result<(), String> {
    let Some(arch) = archs.lacking(requires) else {
        return Ok(());
    };
    Err(format!(
        "is computed with {name}, which exists on {requires}; found arch={arch}: compile it for an architecture that has it, \
         or write the kernel by hand with atoms that {arch} has (docs/kernels.md)"
    ))
}

/// Tells whether a tile consists of whole smaller ones.
fn divides(part: [i64; 3], tile: [i64; 3]) -> bool {
    tile.iter()
        .zip(part)
        .all(|(extent, part)| part > 0 && extent % part == 0)
}

/// The rows of the atoms that types stand for.
fn rows<'c>(
    mma: Type<'c>,
    copies: &[Type<'c>],
) -> Result<(Arc<MmaAtom>, Vec<Arc<CopyAtom>>), String> {
    let none = |ty| format!("expected an atom, found {ty}");
    let copies = copies
        .iter()
        .map(|ty| types::copy_row(*ty).ok_or_else(|| none(*ty)));
    let mma = types::mma_row(mma).ok_or_else(|| none(mma))?;
    Ok((mma, copies.collect::<Result<_, _>>()?))
}
