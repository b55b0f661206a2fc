//! The requirements of a plan on itself: that its parts make one kernel, on whatever architecture.

use super::{Movement, OPERANDS, Plan, SharedTile, copy_threads, name_of_operand, word_of};
use crate::types::{MOST_STAGES, element_bits};
use cute_layout::{
    Layout, Operand, TiledMma,
    atoms::{Completion, CopyAtom, Issue},
};
use cute_target::{Space, THREADS_PER_BLOCK};
use std::sync::Arc;

/// The largest extent of a tile.
pub const MOST_EXTENT: i64 = 1 << 16;

/// The most blocks that share the sums of a tile: a thread of the second kernel holds an element of each at once.
pub const MOST_SPLIT: i64 = 32;

/// The most blocks that a multiprocessor runs at once (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub const MOST_AT_ONCE: i64 = 32;

/// The most teams of a block: the registers of a multiprocessor are not enough for the sums of more.
pub const MOST_TEAMS: i64 = 4;

/// The most blocks of a cluster that every GPU with clusters can have (CUDA C++ Programming Guide, "Thread Block Clusters").
pub const MOST_BLOCKS: i64 = 8;

/// The most elements that a tile of sums in a workspace reaches over.
const MOST_APART: i64 = 1 << 31;

/// The most elements of a tile in shared memory whose places are compared one by one; no multiprocessor has more bytes.
const MOST_ELEMENTS: i64 = 1 << 20;

impl Movement<'_> {
    pub(crate) fn verify(&self) -> Result<(), String> {
        let (name, completion) = match self.tma() {
            Some((_, false)) => ("atom.tma_load".to_owned(), Completion::Mbarrier),
            Some((_, true)) => ("atom.tma_store".to_owned(), Completion::BulkGroup),
            None => {
                let row = self.row()?;
                (row.name.clone(), row.completion)
            }
        };
        if completion != self.completion {
            return Err(format!(
                "expected {}, as {} completes, found {}",
                word_of(completion),
                name,
                word_of(self.completion)
            ));
        }
        let Some(SharedTile {
            layout, buffers, ..
        }) = &self.shared
        else {
            return Ok(());
        };
        if !layout.is_static() || layout.rank() != 2 {
            return Err(format!(
                "expected a static layout of rows and columns in shared memory, found {layout}"
            ));
        }
        if !is_injective(layout) {
            return Err(format!(
                "expected a layout in shared memory with a place of its own for each of at most {MOST_ELEMENTS} elements, \
                 found {layout}"
            ));
        }
        if !(1..=MOST_STAGES).contains(buffers) {
            return Err(format!(
                "expected 1 to {MOST_STAGES} buffers, found {buffers}"
            ));
        }
        Ok(())
    }
}

impl Plan<'_> {
    /// Checks that its parts make one kernel. Errors: what does not fit what, with both figures.
    pub fn verify(&self) -> Result<(), String> {
        let [m, n, k] = self.tile;
        for (name, value, most) in [
            ("M of the tile", m, MOST_EXTENT),
            ("N of the tile", n, MOST_EXTENT),
            ("K of the tile", k, MOST_EXTENT),
            ("stages", self.stages, MOST_STAGES),
            ("raster", self.raster, i64::from(i32::MAX)),
            ("split", self.split, MOST_SPLIT),
            ("blocks of a cluster along M", self.cluster[0], MOST_BLOCKS),
            ("blocks of a cluster along N", self.cluster[1], MOST_BLOCKS),
            ("blocks of a cluster along K", self.cluster[2], MOST_BLOCKS),
            ("teams", self.teams, MOST_TEAMS),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("expected {name} of 1 to {most}, found {value}"));
            }
        }
        if !(0..=MOST_AT_ONCE).contains(&self.stream) {
            return Err(format!(
                "expected stream of 0 to {MOST_AT_ONCE} blocks that a multiprocessor runs at once, found {}",
                self.stream
            ));
        }
        if self.is_streamed() && (!self.is_split() || self.has_roles()) {
            return Err(format!(
                "expected stream = {} beside split = 2 or more, the blocks that share a tile at most, where warps multiply; found split = {}{}",
                self.stream,
                self.split,
                match self.has_roles() {
                    true => " and products of warpgroups, which take split alone",
                    false => "",
                }
            ));
        }
        let mma = self.tiled_mma()?;
        let blocks = self.blocks_of_cluster();
        if blocks > MOST_BLOCKS || (blocks > 1 && !self.has_roles()) {
            return Err(format!(
                "expected clusters of at most {MOST_BLOCKS} blocks where warps have roles, and of one elsewhere, found {}x{}x{}",
                self.cluster[0], self.cluster[1], self.cluster[2]
            ));
        }
        if blocks > 1 && self.is_split() {
            return Err(format!(
                "expected clusters of one block where K is split, found {}x{}x{} and split = {}",
                self.cluster[0], self.cluster[1], self.cluster[2], self.split
            ));
        }
        let shared = self.cluster[2];
        if shared > 1 && (blocks != shared || self.teams > 1) {
            return Err(format!(
                "expected one team, and no other blocks along M and N, in clusters whose blocks share tiles along K, found {}x{}x{} and teams = {}",
                self.cluster[0], self.cluster[1], shared, self.teams
            ));
        }
        let parts = self.parts(Operand::C);
        if parts % shared != 0 {
            return Err(format!(
                "expected parts of C for each of {shared} blocks of a cluster that share a tile along K, as many for each, found {parts}"
            ));
        }
        if self.teams > 1 && (!self.has_roles() || self.is_split()) {
            return Err(format!(
                "expected one team where K is split, and where warps have no roles, found teams = {} and split = {}",
                self.teams, self.split
            ));
        }
        if self.threads()? > i64::from(THREADS_PER_BLOCK) {
            return Err(format!(
                "the atoms {} of the tiled MMA are {} threads{}, a block has at most {THREADS_PER_BLOCK}",
                mma.atom_layout().shape(),
                mma.num_threads(),
                match self.teams {
                    1 => String::new(),
                    teams => format!(" of each of {teams} teams"),
                }
            ));
        }
        let numbers = mma.thr_layout_vmnk().cosize();
        let numbers = numbers.map_err(|error| error.to_string())?;
        if numbers != mma.num_threads() {
            return Err(format!(
                "expected {} threads of the tiled MMA with numbers from 0 to {}, found numbers up to {} by the atoms {}; give each \
                 atom the next number, as (2,2,1):(1,2,0) does",
                mma.num_threads(),
                mma.num_threads() - 1,
                numbers - 1,
                mma.atom_layout()
            ));
        }
        let step = mma.tile_shape();
        if (0..3).any(|axis| step[axis] < 1 || self.tile[axis] % step[axis] != 0) {
            return Err(format!(
                "the tile {m}x{n}x{k} is not a multiple of {}x{}x{}, which {} of {} cover",
                step[0],
                step[1],
                step[2],
                mma.atom_layout().shape(),
                mma.atom().name
            ));
        }
        for operand in OPERANDS {
            self.verify_path(operand, mma)
                .map_err(|e| format!("the way of {}: {e}", name_of_operand(operand)))?;
        }
        let (tile, _) = self.shared(Operand::C)?;
        let reach = tile.layout.cosize().map_err(|e| e.to_string())?;
        // A tile in shared memory has room there, which is asked elsewhere.
        if self.is_split() && reach > MOST_APART {
            return Err(format!(
                "the way of C: expected a tile that reaches over at most {MOST_APART} elements of the workspace, found {}",
                tile.layout
            ));
        }
        Ok(())
    }

    /// The way of an operand where warps have roles: A and B by TMA, for products that read shared memory; C in parts.
    fn verify_roles(&self, operand: Operand, mma: &TiledMma) -> Result<(), String> {
        let path = self.path(operand);
        let tile = path.first().and_then(|first| first.shared.as_ref());
        let tile = tile.ok_or("expected the first movement to say where in shared memory it ends: smem = <\"layout\">, buffers = N")?;
        let is_of_warpgroup = crate::hopper::is_asynchronous(mma.atom());
        let along_n = mma.atom_layout().mode(1).and_then(|mode| mode.size());
        if !is_of_warpgroup || along_n != Ok(1) || mma.atom().shape_mnk[1] != self.tile[1] {
            return Err(format!(
                "expected products of warpgroups that lie along M, each of all {} columns of the tile, where A and B come by TMA, found {} of {}",
                self.tile[1],
                mma.atom_layout().shape(),
                mma.atom().name
            ));
        }
        let [a, b, _] = self.multiplied()?;
        if operand == Operand::C {
            let [into, out] = path else {
                return Err(format!(
                    "expected two movements, into shared memory and out of it, found {}",
                    path.len()
                ));
            };
            if into.tma().is_some()
                || out.tma().is_some_and(|(_, stores)| !stores)
                || out.shared.is_some()
            {
                return Err(
                    "expected a copy into shared memory, and a copy or a TMA store out of it"
                        .to_owned(),
                );
            }
            let columns = tile.layout.mode(1).and_then(|mode| mode.size());
            let rows = tile.layout.mode(0).and_then(|mode| mode.size());
            if rows != Ok(self.tile[0])
                || !columns.is_ok_and(|columns| {
                    columns >= 8 && columns % 8 == 0 && self.tile[1] % columns == 0
                })
            {
                return Err(format!(
                    "expected {} rows in shared memory, and columns that are a multiple of 8 and divide {}, found {}",
                    self.tile[0], self.tile[1], tile.layout
                ));
            }
            // Blocks that share a tile have parts of it that are neighbours.
            let most = match self.parts_in_cluster() {
                1 => self.parts(operand).max(1),
                _ => 1,
            };
            if tile.buffers > most {
                return Err(format!(
                    "expected 1 to {most} buffers for parts of {}, found {}",
                    tile.layout, tile.buffers
                ));
            }
            if into.row()?.issue != Issue::Thread {
                self.tiled_copy(operand, 0)?;
            }
            if out.tma().is_none() {
                let row = out.row()?;
                self.verify_cover(operand, &row, mma)?;
                self.tiled_copy(operand, 1)?;
            }
            return Ok(());
        }
        let [load] = path else {
            return Err(format!(
                "expected one movement, into shared memory, found {}",
                path.len()
            ));
        };
        let expected = if operand == Operand::A { a } else { b };
        let extents = self.extents(operand);
        let found = [0, 1].map(|mode| tile.layout.mode(mode).and_then(|mode| mode.size()));
        let loaded = load.element()?;
        if load.tma().is_none_or(|(_, stores)| stores) {
            return Err(format!("expected a TMA load of {expected}"));
        }
        if self.computes_fragments(operand)? {
            let [_, k] = extents;
            if let Some(part) = self.part_along_k().filter(|part| k % part != 0) {
                return Err(format!(
                    "expected a tile of a multiple of {part} along K, whose parts are computed in registers, found {k}"
                ));
            }
        } else if loaded != expected {
            return Err(format!("expected a TMA load of {expected}, found {loaded}"));
        }
        tile.slice(self.sharers(operand))?;
        let buffers = self.stages * (self.tile[2] / extents[1].max(1));
        if found != extents.map(Ok) || tile.buffers != buffers {
            return Err(format!(
                "expected {}x{} elements in shared memory, as the tile is, or its part that is multiplied at a time, in {buffers} buffers, found {} in {}",
                extents[0], extents[1], tile.layout, tile.buffers
            ));
        }
        Ok(())
    }

    fn verify_path(&self, operand: Operand, mma: &TiledMma) -> Result<(), String> {
        if self.has_roles() {
            return self.verify_roles(operand, mma);
        }
        let path = self.path(operand);
        let spaces = Self::spaces(operand);
        let [into, out] = path else {
            return Err(format!(
                "expected two movements, from {} to {} and from there to {}, found {}",
                spaces[0],
                spaces[1],
                spaces[2],
                path.len()
            ));
        };
        let Some(tile) = &into.shared else {
            return Err(
                "expected the first movement to say where in shared memory it ends: smem = <\"layout\">, buffers = N"
                    .to_owned(),
            );
        };
        if out.shared.is_some() {
            return Err(format!(
                "expected the second movement to end in {}, found one that ends in shared memory",
                spaces[2]
            ));
        }
        let rows = [into.row()?, out.row()?];
        for (place, row) in rows.iter().enumerate() {
            check_spaces(row, [spaces[place], spaces[place + 1]])?;
        }
        self.verify_elements(operand, [into, out])?;
        self.verify_tile(operand, tile, &rows)?;
        for place in 0..rows.len() {
            if ![spaces[place], spaces[place + 1]].contains(&Space::Rmem) {
                self.verify_cover(operand, &rows[place], mma)?;
            } else if self.loads_by_vectors(operand)? {
                // Each thread by itself.
                if rows[place].issue != Issue::Thread {
                    return Err(format!(
                        "expected !cute_nvgpu.atom.universal_copy from shared memory, where K is permuted or what is multiplied is computed in registers, found {}",
                        rows[place].name
                    ));
                }
                continue;
            }
            self.tiled_copy(operand, place)?;
        }
        Ok(())
    }

    /// All movements copy elements of one type; of A and B that which is multiplied, or a narrower one that it is computed of in registers.
    fn verify_elements(&self, operand: Operand, path: [&Movement; 2]) -> Result<(), String> {
        let [a, b, _] = self.multiplied()?;
        let expected = match operand {
            Operand::A => a,
            Operand::B => b,
            Operand::C => path[0].element()?,
        };
        let first = path[0].element()?;
        let is_narrower = element_bits(first) < element_bits(expected);
        let copied = match operand {
            Operand::A | Operand::B if is_narrower => first,
            _ => expected,
        };
        for movement in path {
            let found = movement.element()?;
            if found != copied {
                return Err(format!("expected copies of {copied}, found one of {found}"));
            }
        }
        Ok(())
    }

    fn verify_tile(
        &self,
        operand: Operand,
        tile: &SharedTile,
        rows: &[Arc<CopyAtom>; 2],
    ) -> Result<(), String> {
        let extents = self.extents(operand);
        let found = [0, 1].map(|mode| tile.layout.mode(mode).and_then(|mode| mode.size()));
        if found != extents.map(Ok) {
            return Err(format!(
                "expected {}x{} elements in shared memory, as the tile is, found {}",
                extents[0], extents[1], tile.layout
            ));
        }
        let expected = match operand {
            Operand::C => 1,
            _ => self.stages,
        };
        if tile.buffers != expected {
            return Err(format!(
                "expected buffers = {expected}, {}, found {}",
                match operand {
                    Operand::C => "as there is one tile of it in a block",
                    _ => "as many as stages",
                },
                tile.buffers
            ));
        }
        let Some(swizzle) = tile.swizzle else {
            return Ok(());
        };
        let widest = rows.iter().max_by_key(|row| row.align);
        if let Some(row) = widest.filter(|row| row.align > 1 << swizzle.m().min(62)) {
            return Err(format!(
                "{swizzle} swizzles within the {} bytes that {} accesses at once; expected M of at least {}",
                row.align,
                row.name,
                row.align.ilog2()
            ));
        }
        Ok(())
    }

    /// Whole passes of all threads over the tile copy all of it.
    fn verify_cover(&self, operand: Operand, row: &CopyAtom, mma: &TiledMma) -> Result<(), String> {
        let major = self.major(operand)?;
        let extents = self.extents(operand);
        let (along, beside) = (extents[major], extents[1 - major]);
        let lines = ["columns", "rows"][major];
        let threads = mma.num_threads();
        let (_, down) = copy_threads(threads, along, row.num_val);
        if down == 0 {
            return Err(format!(
                "{threads} threads cannot share {lines} of {along} elements by the {} of {}",
                row.num_val, row.name
            ));
        }
        if beside % down != 0 {
            return Err(format!(
                "{threads} threads copy {down} {lines} of the {}x{} tile at a time, which does not divide {beside}",
                extents[0], extents[1]
            ));
        }
        Ok(())
    }
}

/// Tells whether a layout gives each coordinate a place of its own, none before 0.
fn is_injective(layout: &Layout) -> bool {
    let Some(flat) = layout.flat() else {
        return false;
    };
    // Each mode steps over all that those of smaller strides reach.
    let mut modes: Vec<_> = flat.modes().iter().filter(|mode| mode.0 > 1).collect();
    modes.sort_by_key(|mode| mode.1);
    let mut reach = 1i64;
    let in_order = modes.iter().all(|(extent, stride)| {
        let clear = *stride >= reach;
        reach = reach.saturating_add((extent - 1).saturating_mul(*stride));
        clear
    });
    if in_order {
        return true;
    }
    if flat.size() > MOST_ELEMENTS {
        return false;
    }
    let mut places: Vec<i64> = (0..flat.size()).map(|i| flat.at(i)).collect();
    places.sort_unstable();
    places.first().is_none_or(|first| *first >= 0) && places.windows(2).all(|two| two[0] < two[1])
}

/// Checks that an atom copies between two spaces.
fn check_spaces(row: &CopyAtom, [from, to]: [Space; 2]) -> Result<(), String> {
    match row.spaces {
        Some(found) if found != [from, to] => Err(format!(
            "expected a copy from {from} to {to}, found {}, which copies from {} to {}",
            row.name, found[0], found[1]
        )),
        _ => Ok(()),
    }
}
