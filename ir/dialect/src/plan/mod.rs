//! `#cute.plan` as a Rust value: the way in which a kernel computes a product of whole tensors.
//!
//! A builder chooses one (`cute-passes`), or a user writes one; passes execute it. What a plan requires of itself is checked
//! in `verify.rs`, for the attribute and for whoever makes one; what an architecture has room for is asked by the builder.

mod verify;

pub use verify::{MOST_AT_ONCE, MOST_BLOCKS, MOST_EXTENT, MOST_SPLIT, MOST_TEAMS};

use crate::{
    diag::Failure,
    mlir::{self, Kind, Parts, attribute_of_parts, parts_of_attribute},
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{
    Layout, MmaAtom, Operand, Swizzle, Tile, TiledCopy, TiledMma,
    atoms::{Completion, CopyAtom, FragKind},
    int,
    tma::TmaBox,
    tuple,
};
use cute_target::banks::{BANK_BYTES, NUM_BANKS};
use melior::ir::{Attribute, Location, Type};
use std::sync::Arc;

/// The way in which a kernel computes a product of whole tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<'c> {
    /// M, N and K of the tile that a block computes at a time, in elements.
    pub tile: [i64; 3],
    /// Iterations of the loop over K that are in flight at once; 1 is no pipelining.
    pub stages: i64,
    /// Blocks along M that are neighbours in launch order, so that they share B in L2.
    pub raster: i64,
    /// Blocks that share the sums of a tile of C, each along a range of K; with more than 1 a second kernel adds what they leave in
    /// a workspace.
    pub split: i64,
    /// Blocks of a multiprocessor that the last tiles are dealt out to by even ranges along K where they fill no whole wave, of which [`Plan::split`] at most share a
    /// tile; 0 for none.
    pub stream: i64,
    /// Blocks along M, N and K of a cluster. Those along M and N share loads, those along M of B, those along N of A; those along K share a tile of C, a range of K each.
    pub cluster: [i64; 3],
    /// Groups of warpgroups of a block that take tiles of C in turn; with 2 the sums of one go out while the other multiplies.
    pub teams: i64,
    /// The tiled MMA of a team, a type.
    pub mma: Type<'c>,
    /// The movements of A, of B and of C, each in the order in which they happen.
    pub paths: [Vec<Movement<'c>>; 3],
}

/// A step on the way of an operand's tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement<'c> {
    /// The copy atom, a type.
    pub atom: Type<'c>,
    /// The way in which threads know that it is done.
    pub completion: Completion,
    /// The place in shared memory where the tile stops; none where it leaves it.
    pub shared: Option<SharedTile>,
}

/// A tile of an operand in shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedTile {
    /// The swizzle of byte addresses.
    pub swizzle: Option<Swizzle>,
    /// The layout of the tile in elements.
    pub layout: Layout,
    /// The number of such tiles that lie there at once.
    pub buffers: i64,
}

/// Rows of a swizzle pattern (PTX ISA, "Swizzling modes").
const ROWS_OF_PATTERN: i64 = 8;

/// Bits of a row of a tile of what a warpgroup multiplies, in shared memory: what the widest swizzle spans.
const ROW_BITS: i64 = 1024;

/// Threads of a warpgroup.
const WARPGROUP: i64 = cute_target::WARPGROUP as i64;

/// The operands of a product, in the order of [`Plan::paths`].
pub const OPERANDS: [Operand; 3] = [Operand::A, Operand::B, Operand::C];

/// The name of an operand.
pub fn name_of_operand(operand: Operand) -> &'static str {
    match operand {
        Operand::A => "A",
        Operand::B => "B",
        Operand::C => "C",
    }
}

/// The words by which a movement says how it completes.
const COMPLETIONS: [(&str, Completion); 4] = [
    ("immediate", Completion::Immediate),
    ("group", Completion::Group),
    ("mbarrier", Completion::Mbarrier),
    ("bulk", Completion::BulkGroup),
];

fn word_of(completion: Completion) -> &'static str {
    let word = COMPLETIONS.iter().find(|(_, other)| *other == completion);
    word.map_or("", |(word, _)| word)
}

impl<'c> Movement<'c> {
    /// Reads a `#cute.movement`; nothing where it is another attribute.
    fn of(attribute: Attribute<'c>) -> Option<Result<Self, String>> {
        let parts = match parts_of_attribute(attribute)? {
            Ok(parts) => parts,
            Err(error) => return Some(Err(error)),
        };
        (parts.kind == Kind::Movement).then(|| Self::from_parts(&parts))
    }

    pub(crate) fn from_parts(parts: &Parts<'c, '_>) -> Result<Self, String> {
        let [completion, swizzle, layout] = parts.texts[..] else {
            return Err("expected three texts in a movement".to_owned());
        };
        let known = COMPLETIONS.iter().find(|(word, _)| *word == completion);
        let (_, completion) = known.ok_or_else(|| {
            format!("expected immediate, group, mbarrier or bulk, as the atom completes, found {completion}")
        })?;
        let shared = match layout {
            "" => None,
            layout => Some(SharedTile {
                swizzle: match swizzle {
                    "" => None,
                    swizzle => Some(Swizzle::parse(swizzle).map_err(|e| e.to_string())?),
                },
                layout: Layout::parse(layout).map_err(|e| e.to_string())?,
                buffers: parts.ints[0],
            }),
        };
        Ok(Self {
            atom: parts.types[0],
            completion: *completion,
            shared,
        })
    }

    fn attribute(&self, location: Location<'c>) -> Result<Attribute<'c>, Failure> {
        let shared = self.shared.as_ref();
        let swizzle = shared.and_then(|tile| tile.swizzle);
        let swizzle = swizzle.map_or(String::new(), |swizzle| swizzle.to_string());
        let layout = shared.map_or(String::new(), |tile| tile.layout.to_string());
        let parts = Parts {
            kind: Kind::Movement,
            types: vec![self.atom],
            texts: vec![word_of(self.completion), &swizzle, &layout],
            ints: vec![shared.map_or(0, |tile| tile.buffers)],
            arrays: Vec::new(),
        };
        attribute_of_parts(location, &parts)
    }

    /// The row of its atom. Errors: a type that is no copy atom.
    pub fn row(&self) -> Result<Arc<CopyAtom>, String> {
        match CuteType::get(self.atom) {
            Some(CuteType::CopyAtom { atom, .. }) => Ok(Arc::clone(atom)),
            _ => Err(format!(
                "expected a copy atom, such as !cute_nvgpu.atom.universal_copy, found {}",
                self.atom
            )),
        }
    }

    /// The type of the elements that it copies. Errors: as of [`Movement::row`].
    pub fn element(&self) -> Result<Type<'c>, String> {
        match CuteType::get(self.atom) {
            Some(CuteType::CopyAtom { value, .. } | CuteType::Tma { value, .. }) => Ok(*value),
            _ => self.row().map(|_| self.atom),
        }
    }

    /// The box of its atom, and whether it stores, where it is one of TMA.
    pub fn tma(&self) -> Option<(Arc<TmaBox>, bool)> {
        match CuteType::get(self.atom) {
            Some(CuteType::Tma { map, stores, .. }) => Some((Arc::clone(map), *stores)),
            _ => None,
        }
    }
}

impl<'c> Plan<'c> {
    /// Reads a `#cute.plan`, which its verifier has passed; nothing where it is another attribute.
    pub fn of(attribute: Attribute<'c>) -> Option<Self> {
        let parts = parts_of_attribute(attribute)?.ok()?;
        let plan = parts.kind == Kind::Plan;
        plan.then(|| Self::from_parts(&parts).ok()).flatten()
    }

    pub(crate) fn from_parts(parts: &Parts<'c, '_>) -> Result<Self, String> {
        let ([m, n, k, stages, raster, split, stream, cm, cn, ck, teams], [a, b, c]) =
            (&parts.ints[..], &parts.arrays[..])
        else {
            return Err("expected eleven integers and three arrays in a plan".to_owned());
        };
        let path = |all: &[Attribute<'c>]| {
            all.iter()
                .map(|movement| {
                    Movement::of(*movement)
                        .unwrap_or_else(|| Err(format!("expected a movement, found {movement}")))
                })
                .collect::<Result<Vec<_>, String>>()
        };
        Ok(Self {
            tile: [*m, *n, *k],
            stages: *stages,
            raster: *raster,
            split: *split,
            stream: *stream,
            cluster: [*cm, *cn, *ck],
            teams: *teams,
            mma: parts.types[0],
            paths: [path(a)?, path(b)?, path(c)?],
        })
    }

    /// The attribute. Errors, at `location`: a plan that [`Plan::verify`] refuses.
    pub fn attribute(&self, location: Location<'c>) -> Result<Attribute<'c>, Failure> {
        let ([m, n, k], [cm, cn, ck]) = (self.tile, self.cluster);
        let mut arrays = Vec::new();
        for path in &self.paths {
            let movements = path.iter().map(|movement| movement.attribute(location));
            arrays.push(movements.collect::<Result<Vec<_>, _>>()?);
        }
        let parts = Parts {
            kind: Kind::Plan,
            types: vec![self.mma],
            texts: Vec::new(),
            ints: vec![
                m,
                n,
                k,
                self.stages,
                self.raster,
                self.split,
                self.stream,
                cm,
                cn,
                ck,
                self.teams,
            ],
            arrays,
        };
        attribute_of_parts(location, &parts)
    }

    /// The movements of an operand.
    pub fn path(&self, operand: Operand) -> &[Movement<'c>] {
        &self.paths[operand as usize]
    }

    /// The tiled MMA. Errors: a type that is none.
    pub fn tiled_mma(&self) -> Result<&'c TiledMma, String> {
        match CuteType::get(self.mma) {
            Some(CuteType::TiledMma { .. }) => mlir::tiled_mma(self.mma),
            _ => Err(format!("expected a tiled MMA, found {}", self.mma)),
        }
    }

    /// The types of the elements of A, B and the accumulators. Errors: as of [`Plan::tiled_mma`].
    pub fn multiplied(&self) -> Result<[Type<'c>; 3], String> {
        let Some(CuteType::TiledMma { atom, .. }) = CuteType::get(self.mma) else {
            return Err(format!("expected a tiled MMA, found {}", self.mma));
        };
        match CuteType::get(*atom) {
            Some(CuteType::MmaAtom { a, b, acc, .. }) => Ok([*a, *b, *acc]),
            _ => Err(format!("expected an MMA atom, found {atom}")),
        }
    }

    /// The type of an operand's elements in memory. Errors: an operand that nothing moves.
    pub fn element(&self, operand: Operand) -> Result<Type<'c>, String> {
        let first = self.path(operand).first();
        let name = name_of_operand(operand);
        first
            .ok_or_else(|| format!("expected a movement of {name}"))?
            .element()
    }

    /// Tells whether a prologue computes what is multiplied of A or B in registers: its tile in shared memory has elements as they are stored. Of warpgroups it is A, where they
    /// take it from registers. Errors: as of [`Plan::element`] and [`Plan::tiled_mma`].
    pub fn computes_fragments(&self, operand: Operand) -> Result<bool, String> {
        if self.has_roles() {
            let kind = self.tiled_mma()?.atom().frag_kind();
            return Ok(operand == Operand::A && kind == FragKind::Rs);
        }
        let [a, b, _] = self.multiplied()?;
        match operand {
            Operand::A => Ok(self.element(operand)? != a),
            Operand::B => Ok(self.element(operand)? != b),
            Operand::C => Ok(false),
        }
    }

    /// Tells whether fragments of A or B are loaded by vectors as wide as neighbours lie side by side, and not as the atom of their movement deals them out: where the tiled MMA
    /// permutes K, so that a thread multiplies neighbours, and where they are computed in registers. Errors: as of [`Plan::computes_fragments`].
    pub fn loads_by_vectors(&self, operand: Operand) -> Result<bool, String> {
        let permutes = match &self.tiled_mma()?.permutation()[2] {
            Tile::Layout(along_k) => along_k.flat().is_none_or(|flat| !flat.is_identity()),
            _ => false,
        };
        Ok(operand != Operand::C && (permutes || self.computes_fragments(operand)?))
    }

    /// Tells whether warps have roles: those of a warpgroup copy by TMA, the others multiply.
    pub fn has_roles(&self) -> bool {
        let first = self.path(Operand::A).first();
        first.is_some_and(|first| first.completion == Completion::Mbarrier)
    }

    /// Registers of a thread that copies and of one that multiplies, where warps have roles: as many as a block has for them. Those who count the tiles of groups need more
    /// than loads alone do.
    pub fn budgets(&self, counts_tiles: bool) -> Option<[i64; 2]> {
        if !self.has_roles() {
            return None;
        }
        let groups = u32::try_from(self.multiplying_threads().ok()? / WARPGROUP).ok()?;
        let groups = groups.max(1);
        let least = if groups > 2 && !counts_tiles { 32 } else { 40 };
        let unit = cute_target::SETMAXNREG_UNIT;
        let most = cute_target::REGISTERS_PER_THREAD / unit * unit;
        let all = cute_target::registers_of_warpgroups(groups + 1);
        let computes = (all.saturating_sub(least) / groups).min(most) / unit * unit;
        // One warpgroup that multiplies cannot have all that is left.
        let copies = all.saturating_sub(groups * computes).min(most) / unit * unit;
        Some([copies, computes].map(i64::from))
    }

    /// Threads of a block. Errors: as of [`Plan::tiled_mma`].
    pub fn threads(&self) -> Result<i64, String> {
        let copying = if self.has_roles() { WARPGROUP } else { 0 };
        Ok(self.multiplying_threads()? + copying)
    }

    /// Threads of a block that multiply. Errors: as of [`Plan::tiled_mma`].
    pub fn multiplying_threads(&self) -> Result<i64, String> {
        Ok(self.team()? * self.teams)
    }

    /// Threads of a team, which multiply a tile. Errors: as of [`Plan::tiled_mma`].
    pub fn team(&self) -> Result<i64, String> {
        Ok(self.tiled_mma()?.num_threads())
    }

    /// Rows and columns of an operand's tile; of C of a part, where it goes out in several, and of B where it is multiplied in several.
    pub fn extents(&self, operand: Operand) -> [i64; 2] {
        let [m, n] = operand.axes().map(|axis| self.tile[axis]);
        match operand {
            Operand::B => [m, self.part_along_k().unwrap_or(n)],
            _ => [m, n / self.parts(operand)],
        }
    }

    /// Elements along K that are multiplied at a time where warpgroups take A from registers, in which it is computed: as many as B has in a row of 128 bytes in shared memory,
    /// so that some are computed while others are multiplied. None where they take it from shared memory.
    pub fn part_along_k(&self) -> Option<i64> {
        let computes = self.computes_fragments(Operand::A).unwrap_or(false);
        let [_, b, _] = self
            .multiplied()
            .ok()
            .filter(|_| computes && self.has_roles())?;
        Some(ROW_BITS / mlir::element_bits(b)?.max(1))
    }

    /// Rows of a factor's tile and elements along K that a prologue computes in registers at once.
    pub fn computed(&self, operand: Operand) -> [i64; 2] {
        let [rows, k] = self.extents(operand);
        [rows, self.part_along_k().unwrap_or(k)]
    }

    /// Elements along M, N and K that the blocks of a cluster compute at a time.
    pub fn step(&self) -> [i64; 3] {
        let ([m, n, k], [cm, cn, _]) = (self.tile, self.cluster);
        [m * cm, n * cn, k]
    }

    /// Blocks of a cluster.
    pub fn blocks_of_cluster(&self) -> i64 {
        self.cluster.iter().product()
    }

    /// Parts of K that blocks of a cluster share a tile by.
    pub fn parts_in_cluster(&self) -> i64 {
        self.cluster[2]
    }

    /// The blocks of a cluster that load an operand's tile together, a slice of its first mode each; 1 of C.
    pub fn sharers(&self, operand: Operand) -> i64 {
        match operand {
            Operand::A => self.cluster[1],
            Operand::B => self.cluster[0],
            Operand::C => 1,
        }
    }

    /// The parts along columns in which C goes out; 1 of A and B.
    pub fn parts(&self, operand: Operand) -> i64 {
        let tile = self
            .path(operand)
            .iter()
            .find_map(|step| step.shared.as_ref());
        let columns = tile.and_then(|tile| tile.layout.mode(1).and_then(|mode| mode.size()).ok());
        match (operand, columns) {
            (Operand::C, Some(columns)) if self.has_roles() && columns > 0 => {
                self.tile[1] / columns
            }
            _ => 1,
        }
    }

    /// The tiled MMA by which C's part is dealt out to threads: the plan's, of as many columns as a part has. Errors: as of [`Plan::tiled_mma`];
    /// columns that no atom has.
    pub fn part_mma(&self, location: Location<'c>) -> Result<Type<'c>, String> {
        let mma = self.tiled_mma()?;
        let [a, b, accumulate] = self.multiplied()?;
        let atom = mma.atom();
        let [m, _, k] = atom.shape_mnk;
        let name = format!("SM90_{m}x{}x{k}_", self.extents(Operand::C)[1]);
        let whole = format!("SM90_{m}x{}x{k}_", atom.shape_mnk[1]);
        let row = atom
            .name
            .strip_prefix(&whole)
            .ok_or("expected a product of a warpgroup")?;
        let row = MmaAtom::named(&(name + row)).map_err(|e| e.to_string())?;
        let said = |_: Failure| "has no such atom".to_owned();
        let atom = types::mma_type(location, &row, a, b, accumulate).map_err(said)?;
        let step = Tile::from_shape(&tuple([
            int(m * mma
                .atom_layout()
                .mode(0)
                .and_then(|mode| mode.size())
                .unwrap_or(1)),
            int(row.shape_mnk[1]),
            int(k),
        ]));
        let step = step.map_err(|e| e.to_string())?;
        types::tiled_mma_type(location, atom, mma.atom_layout(), &step).map_err(said)
    }

    /// The spaces that an operand's tile passes through.
    pub fn spaces(operand: Operand) -> [Space; 3] {
        match operand {
            Operand::A | Operand::B => [Space::Gmem, Space::Smem, Space::Rmem],
            Operand::C => [Space::Rmem, Space::Smem, Space::Gmem],
        }
    }

    /// The tile of an operand in shared memory, and the number of its buffers. Errors: an operand that does not stop there.
    pub fn shared(&self, operand: Operand) -> Result<(MemRef<'c>, i64), String> {
        let stop = self.path(operand).iter().find_map(|movement| {
            let tile = movement.shared.as_ref()?;
            Some((movement.element(), tile))
        });
        let name = name_of_operand(operand);
        let (element, tile) =
            stop.ok_or_else(|| format!("expected a movement of {name} into shared memory"))?;
        let memref = MemRef {
            element: element?,
            space: Space::Smem,
            align: tile.align(),
            swizzle: tile.swizzle,
            inner: None,
            layout: tile.layout.clone(),
        };
        Ok((memref, tile.buffers))
    }

    /// Tells whether two plans differ in the number of parts of K alone, and both have several.
    pub fn differs_in_parts(&self, other: &Self) -> bool {
        let of_any = |plan: &Self| {
            (
                plan.tile,
                plan.stages,
                plan.raster,
                plan.stream,
                plan.cluster,
                plan.teams,
            )
        };
        self.is_split()
            && other.is_split()
            && of_any(self) == of_any(other)
            && self.mma == other.mma
            && self.paths == other.paths
    }

    /// Tells whether even ranges along K are dealt out, of which some are whole tiles.
    pub fn is_streamed(&self) -> bool {
        self.stream > 0
    }

    /// Tells whether several blocks share the sums of a tile of C.
    pub fn is_split(&self) -> bool {
        self.split > 1
    }

    /// The tiled copy of a movement of an operand, by its place on the way. Errors: no such movement; an atom that does not
    /// fit the tile or the threads.
    pub fn tiled_copy(&self, operand: Operand, place: usize) -> Result<TiledCopy, String> {
        let name = name_of_operand(operand);
        let movement = self.path(operand).get(place);
        let movement = movement.ok_or_else(|| format!("expected a movement {place} of {name}"))?;
        let (row, mma) = (movement.row()?, self.tiled_mma()?);
        let spaces = Self::spaces(operand);
        let registers = spaces.get(place..place + 2);
        if registers.is_some_and(|ends| ends.contains(&Space::Rmem)) {
            let location = Location::unknown(mlir::context_of_type(self.mma));
            return match operand {
                Operand::A => TiledCopy::make_tiled_copy_a(row, mma),
                Operand::B => TiledCopy::make_tiled_copy_b(row, mma),
                Operand::C if self.has_roles() => {
                    let part = mlir::tiled_mma(self.part_mma(location)?)?;
                    TiledCopy::make_tiled_copy_c(row, part)
                }
                Operand::C => TiledCopy::make_tiled_copy_c(row, mma),
            }
            .map_err(|e| e.to_string());
        }
        let major = self.major(operand)?;
        let along = self.extents(operand)[major];
        let (across, down) = copy_threads(mma.num_threads(), along, row.num_val);
        let of = |beside, along| match major {
            0 => Layout::col_major(&tuple([int(along), int(beside)])),
            _ => Layout::row_major(&tuple([int(beside), int(along)])),
        };
        of(down, across)
            .and_then(|threads| Ok((threads, of(1, row.num_val)?)))
            .and_then(|(threads, values)| {
                TiledCopy::make_tiled_copy(row.clone(), &threads, &values)
            })
            .map_err(|e| e.to_string())
    }

    /// The mode of an operand's tile along which neighbours in shared memory lie, and with them those that are moved
    /// together: 0 for rows, 1 for columns. Errors: an operand that does not stop there.
    pub fn major(&self, operand: Operand) -> Result<usize, String> {
        let (tile, _) = self.shared(operand)?;
        let is_contiguous = |mode: usize| {
            let mode = tile.layout.mode(mode);
            mode.is_ok_and(|mode| {
                mode.stride()
                    .static_leaves()
                    .is_some_and(|all| all.first() == Some(&1))
            })
        };
        Ok(usize::from(is_contiguous(1) || !is_contiguous(0)))
    }
}

impl SharedTile {
    /// The slice of the tile's first mode that one of so many blocks of a cluster loads for all of them. Errors: rows that are not as many
    /// for each, or whose bytes do not begin where the swizzle does.
    pub fn slice(&self, sharers: i64) -> Result<Self, String> {
        if sharers == 1 {
            return Ok(self.clone());
        }
        let wrong = |e: cute_layout::LayoutError| e.to_string();
        let mut modes = self.layout.modes();
        let first = modes.first_mut().ok_or("expected rows and columns")?;
        let rows = first.size().map_err(wrong)?;
        let refuse = || {
            Err(format!(
                "expected rows of whole swizzle patterns for each of {sharers} blocks of a cluster that share a load, found {rows} of {}",
                self.layout
            ))
        };
        if sharers < 1 || rows % sharers != 0 {
            return refuse();
        }
        // A pattern has 8 rows of 16 bytes or more where rows are contiguous; where columns are, it spans as many rows as lie side by side.
        let own = rows / sharers;
        let whole = match self.major_run()? {
            (0, run) => run,
            _ => ROWS_OF_PATTERN,
        };
        if own % whole != 0 {
            return refuse();
        }
        *first = first
            .composition(&Layout::leaf(own, 1).map_err(wrong)?)
            .map_err(wrong)?;
        let layout = Layout::from_modes(&modes).map_err(wrong)?;
        Ok(Self {
            layout,
            ..self.clone()
        })
    }

    /// The mode along which neighbours lie, and how many of them lie side by side.
    fn major_run(&self) -> Result<(usize, i64), String> {
        for (at, mode) in self.layout.modes().into_iter().enumerate() {
            let flat = mode.flat_or("a tile").map_err(|e| e.to_string())?;
            if let Some((run, _)) = flat.modes().iter().find(|(_, stride)| *stride == 1) {
                return Ok((at, *run));
            }
        }
        Err(format!(
            "expected neighbours along a mode, found {}",
            self.layout
        ))
    }

    /// The alignment in bytes: at least a line of all banks, so that rows meet banks as the swizzle supposes.
    pub fn align(&self) -> i64 {
        const LINE: i64 = NUM_BANKS * BANK_BYTES;
        self.swizzle
            .map_or(LINE, |swizzle| swizzle.period().max(LINE))
    }
}

/// The way in which threads cover lines of `along` elements by vectors of `length`: threads along a line, and lines at a
/// time; (0, 0) where they cannot.
fn copy_threads(threads: i64, along: i64, length: i64) -> (i64, i64) {
    if length < 1 || along % length != 0 {
        return (0, 0);
    }
    let vectors = along / length;
    let across = (1..=vectors.min(threads))
        .rev()
        .find(|n| vectors % n == 0 && threads % n == 0);
    across.map_or((0, 0), |across| (across, threads / across))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_cover_rows() {
        assert_eq!(copy_threads(128, 32, 8), (4, 32));
        assert_eq!(copy_threads(128, 64, 8), (8, 16));
        assert_eq!(copy_threads(256, 16, 8), (2, 128));
        assert_eq!(copy_threads(32, 96, 8), (4, 8));
        assert_eq!(copy_threads(32, 20, 8), (0, 0));
    }
}
