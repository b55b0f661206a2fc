//! Plans of SM90's instructions: a warpgroup that loads by TMA into a ring in shared memory, others that multiply by `wgmma`, and C out
//! through shared memory part by part, by TMA where its strides allow it.
//!
//! Blocks stay, and take one tile of C after another: loads of the next tile run while the sums of the last one go out.

use super::{
    Access, Boxes, Candidate, Columns, Epilogue, Fed, Problem, Prologue, Request, Scaled,
    SwizzleChoice, WIDEST,
    estimate::{Estimate, LEFT_OUT, Reads, TileOfRoles},
    request::{Cluster, Instructions},
    require, takes_sums,
};
use crate::arch::{WARP, WARPGROUP};
use cute_arith::gcd;
use cute_ir::{
    Failure,
    mlir::{context_of_type, element_bits},
    options::Options,
    plan::{Movement, Plan, SharedTile},
    types::{self, CopyOp},
};
use cute_layout::{
    Layout, Operand, Swizzle, Tile,
    atoms::{Completion, Elem, Family, FragKind, Major, MmaAtom, MmaSpec},
    int,
    tma::TmaBox,
    tuple,
};
use cute_target::Archs;
use melior::ir::{Location, Type};

/// Bytes of a row of a tile in shared memory along the mode that is contiguous: what the widest swizzle spans.
pub(super) const ROW: i64 = 128;

/// Bytes of the widest swizzle whose span divides so many bytes along the contiguous mode.
pub(super) fn spanned(bytes: i64) -> Option<i64> {
    [ROW, 64, 32].into_iter().find(|span| bytes % span == 0)
}

/// Rows of an atom.
pub(super) const ROWS: i64 = 64;

/// Warps of a warpgroup.
const WARPS: i64 = WARPGROUP / WARP;

/// Columns of C of a part that goes out at once, at most.
const PART: i64 = 64;

/// M and N of tiles, and the warpgroups along M. Of 23 that were measured these are enough: each of the 82 shapes has one within 2 % of the fastest, but for
/// those whose C has columns for other tiles (`docs/performance/choice.md`).
const TABLE: &[([i64; 2], i64)] = &[
    ([128, 256], 2),
    ([256, 128], 2),
    ([256, 160], 2),
    ([192, 192], 3),
    ([128, 224], 2),
    ([192, 128], 3),
    ([128, 192], 2),
    ([128, 160], 2),
    ([128, 128], 2),
    ([64, 256], 1),
    ([192, 96], 3),
    ([128, 96], 2),
    ([64, 192], 1),
    ([192, 64], 3),
    ([128, 64], 2),
    ([64, 128], 1),
    ([64, 96], 1),
    ([64, 64], 1),
    ([64, 32], 1),
];

/// M and N of more tiles of what a prologue computes, and the warpgroups along M: C's columns are rows of the other factor there, which may be few, and its rows many.
const TABLE_OF_COMPUTED: &[([i64; 2], i64)] = &[
    ([128, 48], 2),
    ([128, 32], 2),
    ([128, 16], 2),
    ([64, 48], 1),
    ([64, 16], 1),
];

/// M and N of the tiles of two teams, of a warpgroup each.
const TABLE_OF_TEAMS: &[[i64; 2]] = &[
    [128, 192],
    [128, 160],
    [128, 128],
    [64, 256],
    [128, 96],
    [64, 192],
    [64, 128],
];

/// The reason why there is no plan of what is asked for, where no tile fits it: the tiles that are tried of themselves, and how to have another.
fn not_of_the_table(request: &Request, tiles: &[([i64; 2], i64, i64)], k: i64) -> String {
    let teams = request.teams.unwrap_or(1);
    match (request.tile, request.warps) {
        (Some([m, n, of_k]), _) if of_k != k => {
            format!("expected a tile of {k} along K, found tile={m}x{n}x{of_k}")
        }
        (Some([m, n, _]), None) => {
            let of_teams = tiles.iter().filter(|(.., of)| *of == teams);
            let names: Vec<_> = of_teams
                .map(|([m, n], ..)| format!("{m}x{n}x{k}"))
                .collect();
            if names.is_empty() {
                let mut of_tile: Vec<_> = tiles
                    .iter()
                    .filter(|(tile, ..)| *tile == [m, n])
                    .map(|(.., of)| *of)
                    .collect();
                of_tile.sort_unstable();
                of_tile.dedup();
                let of_tile: Vec<_> = of_tile.iter().map(|of| format!("teams={of}")).collect();
                let one_of = match of_tile.is_empty() {
                    true => "teams=1 or teams=2".to_owned(),
                    false => of_tile.join(" or "),
                };
                return format!("expected {one_of}, found tile={m}x{n}x{k} of {teams} teams");
            }
            format!(
                "expected a tile of {}, or warps={}x1 as well, which takes others; found tile={m}x{n}x{k} of {teams} teams",
                names.join(", "),
                (m / ROWS).max(1) * WARPS,
            )
        }
        (_, Some([m, n])) => format!(
            "expected warpgroups along M alone, such as warps={}x1, found warps={m}x{n}",
            2 * WARPS
        ),
        (None, None) => {
            format!(
                "expected 1 or 2 teams, or a tile and its warps for others, found teams={teams}"
            )
        }
    }
}

/// Candidates for a problem of known sizes that are made to plans: as many as differ by less than the estimate is sure of.
const MADE: usize = 8;

/// Blocks along M, N and K of the clusters that are tried. Two share a load, or a tile, or four share loads of B: tiles of 64 x 192 are up to a quarter faster so than
/// whatever else for products of 1000 to 1500 rows. Four that share a tile were hardly ever faster than two (`docs/performance/splits-and-groups.md`).
const CLUSTERS: &[[i64; 3]] = &[[1, 1, 1], [2, 1, 1], [1, 2, 1], [1, 1, 2], [4, 1, 1]];

/// Tiles of a block that parts of C go out through in turn, where there is room for them: one is written while TMA reads the other.
const BUFFERS: i64 = 2;

/// Bytes of shared memory beside tiles: mbarriers, and what starts at multiples of 1024.
const BESIDE: i64 = 2048;

/// Places of a ring, at most: of tiles of 64 x 64 as many as bring what L2 can give while the first is on its way.
const MOST_PLACES: i64 = 16;

fn said(_: Failure) -> String {
    "has no such atom".to_owned()
}

fn wrong(error: cute_layout::LayoutError) -> String {
    error.to_string()
}

/// The instructions for elements of some types, and how they go together.
pub(super) struct Builder<'c> {
    location: Location<'c>,
    elements: [Type<'c>; 3],
    accumulate: Type<'c>,
    elems: [Elem; 2],
    sum: Elem,
    accesses: [Access; 3],
    /// What TMA loads of A and B, where their rows or columns have no stride of their own.
    boxes: [Option<Boxes>; 2],
    /// The outputs that are stored where they are computed of the sums.
    epilogue: Option<Epilogue<'c>>,
    /// M, N and K; none where only a launch knows.
    extents: [Option<i64>; 3],
    batch: Option<i64>,
    has_groups: bool,
    /// Tells whether blocks count the tiles of all groups.
    counts_tiles: bool,
    /// The groups along K whose sums are multiplied by scales.
    scaled: Option<Scaled>,
    /// The type of A's elements in shared memory, where a prologue computes in registers what is multiplied.
    stored: Option<Type<'c>>,
    /// The numbers that each turn reads for that prologue.
    reads: Reads,
}

impl<'c> Builder<'c> {
    /// The builder for a problem. Errors: what of it `wgmma` or TMA does not take.
    pub(super) fn new(problem: &Problem<'c>) -> Result<Self, String> {
        let [a, b, c] = problem.elements;
        let elems = [types::elem(a)?, types::elem(b)?];
        let sum = types::elem(problem.accumulate)?;
        if problem.reduced.is_some() {
            return Err(
                "expected no output that is reduced, which kernels of warpgroups do not".to_owned(),
            );
        }
        let stored = problem.stored_for_warpgroups()?;
        let of_a = stored.map_or(Ok(elems[0]), types::elem)?;
        let mut accesses = problem.accesses;
        let mut boxes = problem.boxes;
        for (at, boxes) in boxes.iter_mut().enumerate() {
            *boxes = boxes.filter(|_| problem.fed[at].is_none());
            if let Some(boxes) = boxes {
                accesses[at].placed = false;
                [accesses[at].lines, accesses[at].pitch] = boxes.lines();
            }
        }
        for ((name, access), elem) in ["A", "B"].iter().zip(&accesses).zip([of_a, elems[1]]) {
            if access.placed || !access.is_in_lines(elem.bits()) {
                return Err(format!(
                    "expected {name} with one stride along rows and columns, contiguous along one, and the others, that of a batch as well, positive multiples of 16 bytes, as TMA asks"
                ));
            }
        }
        if problem.accesses[2].placed {
            return Err("expected C with one stride along rows and columns".to_owned());
        }
        let builder = Self {
            location: Location::unknown(context_of_type(a)),
            elements: [a, b, c],
            accumulate: problem.accumulate,
            elems,
            sum,
            accesses,
            boxes,
            epilogue: problem.epilogue,
            extents: problem.extents,
            batch: problem.batch,
            has_groups: problem.has_groups,
            counts_tiles: problem.counts_tiles(),
            scaled: problem.scaled,
            stored,
            reads: match problem.fed[0] {
                Some(Fed {
                    along_k: true,
                    group: None,
                    ..
                }) => Reads::All,
                Some(Fed { along_k: true, .. }) => Reads::Groups,
                _ => Reads::Nothing,
            },
        };
        builder.row(PART)?;
        Ok(builder)
    }

    /// The row of the product of so many columns. Errors: one that there is not.
    fn row(&self, columns: i64) -> Result<MmaAtom, String> {
        let major = |access: &Access| {
            if access.major == 1 {
                Major::K
            } else {
                Major::Mn
            }
        };
        let [a, b] = self.elems;
        let spec = MmaSpec {
            majors: [major(&self.accesses[0]), major(&self.accesses[1])],
            frag_kind: match self.stored {
                Some(_) => FragKind::Rs,
                None => FragKind::Ss,
            },
            ..MmaSpec::new(
                Family::Sm90,
                [ROWS, columns, 256 / a.bits()],
                [a, b, self.sum, self.sum],
            )
        };
        MmaAtom::of(&spec).map_err(wrong)
    }

    /// Bits of an element of A and of B in shared memory.
    fn shared_bits(&self) -> [i64; 2] {
        let [a, b] = self.elems.map(|elem| elem.bits());
        let stored = self.stored.and_then(element_bits);
        [stored.unwrap_or(a), b]
    }

    /// Elements of a tile of so many along K that are multiplied at a time.
    fn multiplied_along_k(&self, k: i64) -> i64 {
        match self.stored {
            Some(_) => ROW * 8 / self.shared_bits()[1],
            None => k,
        }
    }

    /// Elements of a tile along K: the bytes of the widest swizzle, or half of them where boxes of a factor have no more; and twice as many where A is computed in registers, of which
    /// one half is while the other is multiplied.
    fn along_k(&self) -> i64 {
        let multiplied = ROW * 8 / self.elems[0].bits();
        let is_box = |k: i64| {
            self.boxes
                .iter()
                .flatten()
                .all(|boxes| boxes.has_along_k(k))
        };
        match self.stored {
            Some(_) => 2 * multiplied,
            None if !is_box(multiplied) && is_box(multiplied / 2) => multiplied / 2,
            None => multiplied,
        }
    }

    /// Tells whether all tiles are whole, of what a prologue computes.
    fn is_whole(&self, [m, _, k]: [i64; 3]) -> bool {
        let divides =
            |axis: usize, tile| self.extents[axis].is_some_and(|extent| extent % tile == 0);
        self.stored.is_none() || divides(0, m) && divides(2, k)
    }

    /// Checks that tiles of A and of B are boxes that TMA loads. Errors: what they do not divide.
    fn check_boxes(&self, [m, n, k]: [i64; 3]) -> Result<(), String> {
        let mut factors = ["A", "B"].iter().zip(&self.boxes).zip([[m, k], [n, k]]);
        factors.try_for_each(|((name, boxes), tile)| {
            boxes.map_or(Ok(()), |boxes| boxes.check(name, tile))
        })
    }

    /// Tells whether loads of tiles of A and of B bring whole lines of L2 where the factors have them.
    fn loads_lines(&self, [m, n, k]: [i64; 3]) -> bool {
        let mut factors = self.boxes.iter().zip([[m, k], [n, k]]);
        factors.all(|(boxes, tile)| boxes.is_none_or(|boxes| boxes.loads_lines(tile)))
    }

    /// Registers of a thread for what a prologue computes of a tile: of two parts along K what is multiplied, as one is computed while the other is, and of one what is stored.
    fn computed(&self, [m, _, _]: [i64; 3], threads: i64) -> i64 {
        let [bits_a, bits_b] = self.shared_bits();
        let elements = m * (ROW * 8 / bits_b) / threads;
        match self.stored {
            Some(_) => elements * (2 * bits_b + bits_a) / 32,
            None => 0,
        }
    }

    /// C's elements and the accesses to it, where the epilogue of a tile is computed of sums in registers.
    fn in_registers(&self, choice: TileOfRoles) -> Option<(Type<'c>, Access)> {
        let stored = self.epilogue.and_then(|epilogue| epilogue.stored);
        stored.filter(|_| takes_sums(choice.teams, choice.split))
    }

    /// Tells whether the sums of a tile themselves go into shared memory, where its epilogue is computed of them.
    fn stages_sums(&self, choice: TileOfRoles) -> bool {
        self.epilogue.is_some() && self.in_registers(choice).is_none()
    }

    /// The elements that a tile has in shared memory on their way out, and the accesses to where they go.
    fn out(&self, choice: TileOfRoles) -> (Type<'c>, Access) {
        let staged = (self.elements[2], self.accesses[2]);
        self.in_registers(choice).unwrap_or(staged)
    }

    /// A movement by TMA of a tile that lies in shared memory in rows of what the swizzle spans, contiguous along a mode, and that so many blocks
    /// load together; of columns of pixels, by im2col.
    fn by_tma(
        &self,
        element: Type<'c>,
        extents: [i64; 2],
        (major, stores, columns): (usize, bool, Option<Columns>),
        sharers: i64,
    ) -> Result<(Movement<'c>, SharedTile), String> {
        let tile = self.tile(element, extents, major)?;
        let slice = tile.slice(sharers)?;
        // The box of a matrix that is contiguous along the same mode, as the plan sees it; strides of it do not matter.
        let far = 1 << 20;
        let stride = if major == 1 { [far, 1] } else { [1, far] };
        let gmem =
            Layout::new(tuple([far, far].map(int)), tuple(stride.map(int))).map_err(wrong)?;
        let bits = types::elem(element)?.bits();
        let map = match columns {
            Some(columns) => columns.column(&slice, bits),
            None => TmaBox::of(&gmem, &slice.layout, slice.swizzle, bits),
        };
        let map = map.map_err(wrong)?;
        let atom = types::tma_type(self.location, element, &map, stores).map_err(said)?;
        let completion = match stores {
            true => Completion::BulkGroup,
            false => Completion::Mbarrier,
        };
        let movement = Movement {
            atom,
            completion,
            shared: None,
        };
        Ok((movement, tile))
    }

    /// A tile in shared memory that threads write and read: as TMA has it, but columns that are longer than a swizzle spans in one piece, as coordinates have them.
    fn tile_of_threads(
        &self,
        element: Type<'c>,
        extents: [i64; 2],
        major: usize,
    ) -> Result<SharedTile, String> {
        let tile = self.tile(element, extents, major)?;
        if major == 1 {
            return Ok(tile);
        }
        let layout = Layout::col_major(&tuple(extents.map(int))).map_err(wrong)?;
        Ok(SharedTile { layout, ..tile })
    }

    /// A tile in shared memory as TMA and `wgmma` have it: runs of what a swizzle spans along the contiguous mode, one behind the other.
    fn tile(
        &self,
        element: Type<'c>,
        extents: [i64; 2],
        major: usize,
    ) -> Result<SharedTile, String> {
        let bytes = types::elem(element)?.bits() / 8;
        let (along, across) = (extents[major], extents[1 - major]);
        let span = spanned(along * bytes).ok_or_else(|| {
            format!("expected rows of whole 32 bytes, found {along} elements of {bytes}")
        })?;
        let run = span / bytes;
        let own = match along / run {
            1 => (int(run), int(1)),
            runs => (
                tuple([int(run), int(runs)]),
                tuple([int(1), int(run * across)]),
            ),
        };
        let other = (int(across), int(run));
        let [first, second] = if major == 1 {
            [other, own]
        } else {
            [own, other]
        };
        let layout = Layout::new(tuple([first.0, second.0]), tuple([first.1, second.1]));
        let swizzle = Swizzle::new((span / 16).ilog2().into(), 4, 3).map_err(wrong)?;
        Ok(SharedTile {
            swizzle: Some(swizzle),
            layout: layout.map_err(wrong)?,
            buffers: 1,
        })
    }

    /// Tells whether C, whose elements have so many bits, goes out by TMA. Sums of a part of K go to a workspace from registers. TMA would store rows of the next group as well, and
    /// it stores whole 16 bytes: what lies behind lines that end within them would be overwritten.
    fn is_bulk(&self, choice: TileOfRoles, (bits, of_c): (i64, Access)) -> bool {
        !self.stages_sums(choice)
            && !self.has_groups
            && choice.split == 1
            && of_c.vector * bits >= WIDEST
            && of_c.is_in_lines(bits)
    }

    /// The plan of a tile. Errors: what does not fit.
    fn plan(&self, choice: TileOfRoles, raster: i64) -> Result<Plan<'c>, String> {
        let [m, n, k] = choice.tile;
        let [a, b, _] = self.elements;
        let (c, of_c) = self.out(choice);
        let row = self.row(n)?;
        let mma = types::mma_type(self.location, &row, a, b, self.accumulate).map_err(said)?;
        let groups = Layout::new(
            tuple([choice.groups, 1, 1].map(int)),
            tuple([1, 0, 0].map(int)),
        )
        .map_err(wrong)?;
        let step = [choice.groups * ROWS, n, row.shape_mnk[2]];
        let step = Tile::from_shape(&tuple(step.map(int))).map_err(wrong)?;
        let mma = types::tiled_mma_type(self.location, mma, &groups, &step).map_err(said)?;
        let load = |element, extents: [i64; 2], factor: usize, sharers| {
            let columns = self.boxes[factor].and_then(Boxes::columns);
            let how = (self.accesses[factor].major, false, columns);
            let (movement, tile) = self.by_tma(element, extents, how, sharers)?;
            let tile = SharedTile {
                buffers: choice.stages * (k / extents[1]),
                ..tile
            };
            Ok::<_, String>(vec![Movement {
                shared: Some(tile),
                ..movement
            }])
        };
        let bits = types::elem(c)?.bits();
        let [buffers, columns] = choice.out;
        let copy = |bits| types::copy_atom_type(self.location, c, CopyOp::Universal { bits });
        let pairs = Movement {
            atom: copy(2 * bits).map_err(said)?,
            completion: Completion::Immediate,
            shared: None,
        };
        let is_bulk = self.is_bulk(choice, (bits, of_c));
        let (out, tile) = match is_bulk {
            true => self.by_tma(c, [m, columns], (of_c.major, true, None), 1)?,
            false => {
                let out = Movement {
                    atom: copy((of_c.vector * bits).min(WIDEST)).map_err(said)?,
                    ..pairs.clone()
                };
                (out, self.tile_of_threads(c, [m, columns], of_c.major)?)
            }
        };
        // Pairs of neighbours of a row are no neighbours where C lies by columns.
        let into = match (of_c.major, bits) {
            (0, 16) => {
                let matrices = if columns % 16 == 0 { 4 } else { 2 };
                let transpose = true;
                let op = CopyOp::Stsm {
                    matrices,
                    transpose,
                };
                types::copy_atom_type(self.location, c, op).map_err(said)?
            }
            _ => pairs.atom,
        };
        let into = Movement {
            atom: into,
            shared: Some(SharedTile { buffers, ..tile }),
            ..pairs
        };
        Ok(Plan {
            tile: choice.tile,
            stages: choice.stages,
            raster,
            split: choice.split,
            stream: 0,
            cluster: choice.cluster,
            teams: choice.teams,
            mma,
            paths: [
                load(self.stored.unwrap_or(a), [m, k], 0, choice.cluster[1])?,
                load(b, [n, self.multiplied_along_k(k)], 1, choice.cluster[0])?,
                vec![into, out],
            ],
        })
    }

    /// The plans that a problem can be computed by, of K in so many parts each, which are all 1 or all more; the builder's problem has the sums for C
    /// where there are several.
    /// Errors: the reason why there is none.
    pub(super) fn candidates(
        &self,
        request: &Request,
        splits: &[i64],
        archs: &Archs,
    ) -> Result<Vec<Candidate<'c>>, String> {
        let row = self.row(PART)?;
        require(archs, &row.name, row.requires)?;
        if !matches!(request.swizzle, None | Some(SwizzleChoice::Auto)) {
            return Err(
                "expected swizzle=auto, as wgmma and TMA have swizzles of their own".to_owned(),
            );
        }
        if let (Some(_), Some(Prologue::Shared)) = (self.stored, request.prologue) {
            return Err(
                "expected prologue=registers, as warpgroups compute a prologue there".to_owned(),
            );
        }
        let k = self.along_k();
        // A tile that is asked for is one team's, unless it says otherwise.
        let asked_teams = request.teams.or(request.tile.map(|_| 1));
        let own = request
            .tile
            .zip(request.warps)
            .map(|([m, n, _], [wm, _])| ([m, n], wm / WARPS, asked_teams.unwrap_or(1)));
        let of_computed = match self.stored {
            Some(_) => TABLE_OF_COMPUTED,
            None => &[],
        };
        let alone = TABLE.iter().chain(of_computed);
        let alone = alone.map(|(tile, groups)| (*tile, *groups, 1));
        let teams = TABLE_OF_TEAMS.iter().map(|tile| (*tile, 1, 2));
        let mut tiles: Vec<_> = alone.chain(teams).chain(own).collect();
        let asked_cluster = request.cluster.map(|cluster| cluster.0);
        let mut clusters: Vec<_> = CLUSTERS.iter().copied().chain(asked_cluster).collect();
        dedup(&mut tiles);
        dedup(&mut clusters);
        let sms = request.sms;
        let sms = sms.unwrap_or_else(|| archs.first().multiprocessors().into());
        let mut why = None;
        let mut all = Vec::new();
        for ([m, n], groups, teams) in tiles.iter().copied() {
            for cluster in &clusters {
                let is_asked = request.tile.is_none_or(|asked| asked == [m, n, k])
                    && request
                        .warps
                        .is_none_or(|asked| asked == [groups * WARPS, 1])
                    && asked_teams.is_none_or(|asked| asked == teams);
                if !is_asked || asked_cluster.is_some_and(|asked| asked != *cluster) {
                    continue;
                }
                if !self.is_whole([m, n, k]) {
                    why = Some(super::fed::NOT_WHOLE.to_owned());
                    continue;
                }
                if let Err(reason) = self.check_boxes([m, n, k]) {
                    why = Some(reason);
                    continue;
                }
                if request.tile.is_none() && !self.loads_lines([m, n, k]) {
                    continue;
                }
                // Of two teams one multiplies at a time, and nothing does while it adds the sums of a group.
                if teams > 1 && self.scaled.is_some() && request.teams.is_none() {
                    continue;
                }
                let is_fit = *cluster == [1; 3] && (teams == 1 || self.counts_tiles);
                if self.has_groups && !is_fit {
                    continue;
                }
                let is_open = asked_cluster.is_none();
                if cluster[2] > 1 && self.sum.bits() != 32 {
                    why = Some(
                        "expected sums of 32 bits where blocks of a cluster share a tile along K"
                            .to_owned(),
                    );
                    continue;
                }
                if is_open && cluster[2] > 1 && (teams > 1 || !self.is_shared(cluster[2])) {
                    continue;
                }
                // Parts of a filter's gradient that blocks of a cluster exchange take longer than by a workspace: 226 us of 320x2880x65536, and 178.
                if is_open
                    && cluster[2] > 1
                    && self.boxes.iter().flatten().any(|boxes| boxes.is_across())
                {
                    continue;
                }
                // Of taller tiles two share as many rows, narrower ones have little to share, and blocks that have many tiles lose more by waiting for one
                // another than loads take.
                let is_flat = m == ROWS && n >= 2 * ROWS;
                let gains = is_flat
                    && teams == 1
                    && self.stored.is_none()
                    && self.is_one_round([m, n], sms);
                if is_open && cluster[0] > 2 && !gains {
                    continue;
                }
                for split in splits {
                    // Teams gain where blocks have several tiles, which they have not where K is split.
                    if teams > 1 && *split > 1 && request.teams.is_none() {
                        continue;
                    }
                    if is_open
                        && *cluster != [1; 3]
                        && (*split > 1 || !self.is_filled([m, n], *cluster))
                    {
                        continue;
                    }
                    let choice = TileOfRoles {
                        tile: [m, n, k],
                        groups,
                        teams,
                        cluster: *cluster,
                        stages: 0,
                        out: [0; 2],
                        split: *split,
                        computes: self.stored.is_some(),
                        reads: self.reads,
                    };
                    match self.with_stages(choice, request.stages, archs) {
                        Ok(choice) => all.push((choice, self.estimate(choice))),
                        Err(reason) => why = Some(reason),
                    }
                }
            }
        }
        let mut most = usize::MAX;
        if let ([Some(m), Some(n), Some(k)], None) = (self.extents, request.candidates()) {
            let batch = self.batch.unwrap_or(1);
            all.sort_by_key(|(_, estimate)| estimate.known([m, n, k], batch, sms));
            most = MADE;
        }
        let mut made: Vec<Candidate<'c>> = Vec::new();
        for (choice, estimate) in all {
            if made.len() == most {
                break;
            }
            let raster = self.raster(choice, sms);
            // Plans that differ in the parts of K differ in the order of tiles beside that, and any of theirs will do.
            let same = made.iter().find(|other| {
                let plan = &other.plan;
                let parts = (plan.tile, plan.cluster, plan.stages, plan.teams);
                parts == (choice.tile, choice.cluster, choice.stages, choice.teams)
            });
            let plan = match same {
                Some(other) => Ok(Plan {
                    split: choice.split,
                    ..other.plan.clone()
                }),
                None => self.verified(choice, request.raster.unwrap_or(raster)),
            };
            match plan {
                Ok(plan) => made.push(Candidate {
                    asking: self.asking(&plan, choice.groups, raster),
                    plan,
                    estimate,
                    exchanged: false,
                }),
                Err(reason) => why = Some(reason),
            }
        }
        match made.is_empty() {
            true => Err(why.unwrap_or_else(|| not_of_the_table(request, &tiles, k))),
            false => Ok(made),
        }
    }

    /// The options that ask for a plan of so many warpgroups of a team, which has a raster where nothing else is asked for.
    fn asking(&self, plan: &Plan<'_>, groups: i64, raster: i64) -> String {
        let request = Request {
            tile: Some(plan.tile),
            warps: Some([groups * WARPS, 1]),
            stages: Some(plan.stages),
            raster: Some(plan.raster).filter(|own| *own != raster),
            cluster: Some(Cluster(plan.cluster)),
            teams: Some(plan.teams).filter(|teams| *teams > 1),
            split: Some(plan.split).filter(|split| *split > 1),
            instructions: Some(Instructions::Wgmma),
            prologue: self.stored.map(|_| Prologue::Registers),
            ..Request::default()
        };
        request.text()
    }

    /// Tells whether there are tiles of C for all blocks of a cluster, as far as M and N are known.
    fn is_filled(&self, tile: [i64; 2], cluster: [i64; 3]) -> bool {
        (0..2).all(|axis| {
            let known = self.extents[axis];
            cluster[axis] == 1
                || known.is_none_or(|extent| extent > tile[axis] * (cluster[axis] - 1))
        })
    }

    /// Tells whether so many multiprocessors, but those that large clusters leave idle, have a tile of C each at most; not where sizes are open.
    fn is_one_round(&self, tile: [i64; 2], sms: i64) -> bool {
        let [Some(m), Some(n), _] = self.extents else {
            return false;
        };
        let along = |extent: i64, tile: i64| extent / tile + i64::from(extent % tile != 0);
        let tiles = along(m, tile[0]).saturating_mul(along(n, tile[1]));
        let batch = self.batch.unwrap_or(i64::MAX);
        tiles.saturating_mul(batch) <= sms - sms / LEFT_OUT
    }

    /// Tells whether K has a turn for each of so many blocks, as far as it is known.
    fn is_shared(&self, blocks: i64) -> bool {
        let turn = self.along_k();
        self.extents[2].is_none_or(|extent| extent >= turn * blocks)
    }

    /// The estimate of a tile's time.
    fn estimate(&self, choice: TileOfRoles) -> Estimate {
        let out = types::elem(self.out(choice).0).map_or(0, |elem| elem.bits());
        let [bits_a, bits_b] = self.shared_bits();
        let bits = [bits_a, bits_b, self.sum.bits(), out];
        let mut estimate = Estimate::of_roles(choice, bits, &self.accesses, self.has_groups);
        let same = self.boxes.map(|boxes| boxes.map_or(1, Boxes::same));
        estimate = estimate.with_same(same);
        if let Some(epilogue) = &self.epilogue {
            estimate = estimate.with_epilogue(choice, epilogue.work, epilogue.beside);
        }
        match self.scaled {
            // Its loads bring whole boxes.
            Some(_) => estimate.with_lines_outside(choice, bits_a),
            None => estimate,
        }
    }

    /// A tile with as many places as are asked for, or fit. Errors: fewer than two, or more than fit.
    fn with_stages(
        &self,
        choice: TileOfRoles,
        stages: Option<i64>,
        archs: &Archs,
    ) -> Result<TileOfRoles, String> {
        let [m, n, k] = choice.tile;
        let most = archs
            .all()
            .map(|arch| i64::from(arch.max_smem()))
            .min()
            .unwrap_or(0);
        let (out, of_c) = self.out(choice);
        let bits = types::elem(out)?.bits();
        let blocks = choice.cluster[2];
        let widest = columns_of_part(bits, n, blocks, PART);
        let narrow = columns_of_part(bits, n, blocks, PART / 2);
        // The sums of a share, of each other block.
        let exchanged = m * (n / blocks) * (blocks - 1) * self.sum.bits() / 8;
        let scales = self.scaled.map_or(0, |scaled| scaled.bytes([m, n]));
        let [bits_a, bits_b] = self.shared_bits();
        let place = k * (m * bits_a + n * bits_b) / 8;
        let beside = |[buffers, columns]: [i64; 2]| match choice.split {
            1 => BESIDE + buffers * choice.teams * m * columns * bits / 8 + exchanged,
            _ => BESIDE,
        };
        let fitting = |out: [i64; 2]| (most - beside(out)) / (place + scales).max(1);
        let least = match choice.out {
            [0, 0] => [1, widest],
            asked => asked,
        };
        let stages = stages.unwrap_or_else(|| fitting(least).min(MOST_PLACES));
        // Another team's products hide what parts wait for. No place of the ring is given up for them.
        let gains = choice.teams == 1 && blocks == 1 && self.is_bulk(choice, (bits, of_c));
        let several = [[BUFFERS, widest], [BUFFERS, narrow]]
            .into_iter()
            .find(|out| gains && n > out[1] && fitting(*out) >= stages);
        let out = match choice.out {
            [0, 0] => several.unwrap_or(least),
            asked => asked,
        };
        let fitting = fitting(least);
        if stages < 2 || stages > fitting {
            return Err(format!(
                "expected 2 to {fitting} stages of {m}x{n}x{k} in shared memory, found {stages}: {} bytes each, beside {} for what goes out and for \
                 barriers, of {most}",
                place + scales,
                beside(least)
            ));
        }
        Ok(TileOfRoles {
            stages,
            out,
            ..choice
        })
    }

    /// Tiles along M, or clusters, that are neighbours in the order of tiles where nothing else is asked for: so many that the tiles that so many
    /// multiprocessors have at once are as many rows as columns of C, as they read the fewest lines of A and B together then.
    fn raster(&self, choice: TileOfRoles, sms: i64) -> i64 {
        let is_short = self.extents[2].is_some_and(|extent| extent <= SHORT);
        if self.has_groups || is_short {
            return RASTER;
        }
        let [m, n, _] = choice.tile;
        let shared = choice.split * choice.cluster[2];
        let elements = sms.saturating_mul(choice.teams * m * n) / shared.max(1);
        let of_cluster = m * choice.cluster[0];
        ((elements.max(1).isqrt() + of_cluster / 2) / of_cluster).max(1)
    }

    /// The plan of a tile. Errors: what does not fit.
    fn verified(&self, choice: TileOfRoles, raster: i64) -> Result<Plan<'c>, String> {
        let [m, n, _] = choice.tile;
        let plan = self.plan(choice, raster)?;
        plan.verify()?;
        if let Some(scaled) = self.scaled {
            scaled.check(&plan)?;
        }
        // With scales a thread has the sums of a group beside those of all of K, and the scales of a turn.
        let threads = choice.groups * WARPGROUP;
        let sums = m * n / threads * (1 + i64::from(self.scaled.is_some()));
        let computed = self.computed(choice.tile, threads);
        let is_known = self.extents.iter().all(Option::is_some);
        let beside = match self.scaled {
            Some(scaled) => scaled.beside([m, n], threads, is_known),
            // 192 sums of a thread and what an epilogue reads spill 4 bytes.
            None if self.stages_sums(choice) => 52,
            None => 40,
        } + computed;
        let [_, budget] = plan.budgets(self.counts_tiles).unwrap_or([0, 255]);
        if sums + beside > budget {
            return Err(format!(
                "expected at most {} sums of a thread beside its addresses, found {sums} of {m}x{n} by {} warpgroups",
                budget - beside,
                choice.groups
            ));
        }
        Ok(plan)
    }
}

/// Columns of C of a part that goes out at once, `most` at most, of elements of so many bits, where so many blocks have parts of a tile.
fn columns_of_part(bits: i64, columns: i64, blocks: i64, most: i64) -> i64 {
    gcd((ROW * 8 / bits).min(most), columns / blocks.max(1))
}

/// Leaves the first of those that are the same.
fn dedup<T: PartialEq + Copy>(all: &mut Vec<T>) {
    let mut met = Vec::new();
    all.retain(|one| {
        let is_new = !met.contains(one);
        met.push(*one);
        is_new
    });
}

/// Tiles along M that are neighbours in the order of tiles of groups, each of which has columns of B of its own, and of products that write more than they read.
const RASTER: i64 = 8;

/// Elements along K of such products, at most: by more rows of C at once 8192x4096x128 takes 3 % longer on an H200.
const SHORT: i64 = 256;

/// Checks a plan that somebody wrote. Errors: what of it does not fit the problem or an architecture.
pub(super) fn check_given(
    plan: &Plan<'_>,
    problem: &Problem<'_>,
    archs: &Archs,
) -> Result<(), String> {
    let builder = Builder::new(problem)?;
    if !builder.is_whole(plan.tile) {
        return Err(super::fed::NOT_WHOLE.to_owned());
    }
    builder.check_boxes(plan.tile)?;
    let groups = plan.team()? / WARPGROUP;
    let choice = TileOfRoles {
        tile: plan.tile,
        groups,
        teams: plan.teams,
        cluster: plan.cluster,
        stages: 0,
        out: [
            plan.shared(Operand::C).map_or(0, |(_, buffers)| buffers),
            plan.extents(Operand::C)[1],
        ],
        split: plan.split,
        computes: builder.stored.is_some(),
        reads: builder.reads,
    };
    let choice = builder.with_stages(choice, Some(plan.stages), archs)?;
    let raster = builder.raster(choice, archs.first().multiprocessors().into());
    let made = builder.verified(choice, plan.raster)?;
    if made == *plan {
        return Ok(());
    }
    Err(format!(
        "has a cute.plan by which warpgroups multiply that is not one for this problem; expected {}, or the plan that comes of these options",
        builder.asking(&made, groups, raster)
    ))
}

#[cfg(test)]
mod tests;
