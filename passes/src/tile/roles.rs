//! The kernel of a product whose warps have roles: blocks that stay, and take one tile of C after another.
//!
//! Tensors that TMA loads or stores have atoms that the launch makes: a kernel's last arguments, an atom and the coordinates of what it copies for each
//! operand. The kernel reads as if one thread did one thing after another; `cute-specialize-warps` cuts it.

use super::{
    Gemm,
    function::{block_index, narrow},
    kernel::{End, Located, Place, Product, block_copy, tile_of},
    matrix::Matrix,
    prologue::Beside,
    region::On,
    rest::LastBoxes,
};
use crate::algorithms::{Arrival, start_load};
use crate::kernel::blocks_of_grid;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, scf};
use cute_ir::{
    Expected, Failure,
    attributes::{STAGES, TEAMS, UNROLL},
    hopper::{self, Convolution, SENT_AT_ONCE},
    mlir::*,
    plan::{OPERANDS, SharedTile},
    types::{self, CuteType},
};
use cute_layout::{IntTuple, Layout, Operand, tuple};
use melior::ir::Type;

/// The places of a block in its cluster along M, N and K; none along which the cluster has one.
type Ranks<'c> = [Option<Val<'c>>; 3];

/// A factor that its prologue computes in registers.
struct Computed<'c> {
    /// The tensors that the prologue reads beside it.
    beside: Vec<Beside<'c>>,
    /// The registers of its parts along K.
    parts: Vec<Val<'c>>,
}

/// The types of an atom of TMA, and of the coordinates of its tensor.
type Bulk<'c> = (Type<'c>, Type<'c>);

impl<'c> Gemm<'c> {
    /// The operands that TMA moves.
    pub(super) fn moved_in_bulk(&self) -> impl Iterator<Item = Operand> + '_ {
        let is_bulk = |operand: &Operand| {
            self.plan
                .path(*operand)
                .iter()
                .any(|step| step.tma().is_some())
        };
        OPERANDS.into_iter().filter(is_bulk)
    }

    /// The layout of an operand's tile in shared memory, or of the slice that a block loads, with the modes of its tensor: exchanged where the matrix is, with one of extent 1 for a
    /// batch.
    fn tile_of_tensor(&self, operand: Operand) -> Result<SharedTile, String> {
        let tile = self
            .plan
            .path(operand)
            .iter()
            .find_map(|step| step.shared.clone());
        let tile = tile.ok_or("expected a tile in shared memory")?;
        let tile = tile.slice(self.plan.sharers(operand))?;
        let matrix = &self.matrices.product[operand as usize];
        let mut modes = tile.layout.modes();
        if matrix.turned {
            modes.reverse();
        }
        let batch = matrix.memref.layout.rank().saturating_sub(2);
        let one = Layout::leaf(1, 0).map_err(|e| e.to_string())?;
        modes.extend((0..batch).map(|_| one.clone()));
        let layout = match matrix.columns() {
            Some(columns) => columns.of_load(modes),
            None => Layout::from_modes(&modes),
        };
        let layout = layout.map_err(|e| e.to_string())?;
        Ok(SharedTile { layout, ..tile })
    }

    /// An operand's tensor as its atom is made of it, and the layout of what that moves in shared memory.
    pub(super) fn moved_tensor(
        &self,
        b: Builder<'c>,
        operand: Operand,
    ) -> Result<(types::MemRef<'c>, CuteType<'c>), Failure> {
        let matrix = &self.matrices.product[operand as usize];
        let tile = self.tile_of_tensor(operand).map_err(|e| b.error(e))?;
        let tensor = match matrix.columns() {
            Some(_) => types::memref_of(matrix.tensor).expected(b, "a tensor")?,
            None => types::MemRef {
                layout: matrix.layout.clone(),
                ..matrix.memref.clone()
            },
        };
        let layout = CuteType::of(swizzled(b, &tile)).expected(b, "a layout")?;
        Ok((tensor, layout))
    }

    /// The types of an operand's atom and of its coordinates, of a tensor of that type.
    fn bulk_of(&self, b: Builder<'c>, operand: Operand) -> Result<Bulk<'c>, Failure> {
        let (tensor, layout) = self.moved_tensor(b, operand)?;
        let types = match self.matrices.product[operand as usize].columns() {
            Some(columns) => {
                hopper::im2col_types(b.location, &tensor, &layout, &columns.convolution())
            }
            None => hopper::tma_types(b.location, &tensor, &layout, operand == Operand::C),
        };
        types.map_err(|e| b.error(e))
    }

    /// The types of a kernel's arguments for what TMA moves.
    pub(super) fn types_of_bulk(&self, b: Builder<'c>) -> Result<Vec<Type<'c>>, Failure> {
        let mut all = Vec::new();
        for operand in self.moved_in_bulk() {
            let (atom, coords) = self.bulk_of(b, operand)?;
            all.extend([atom, coords]);
        }
        for operand in self.factors_with_rest(b)? {
            all.push(self.bulk_of(b, operand)?.0);
        }
        Ok(all)
    }

    /// Makes the atoms of what TMA moves, in the function that launches.
    pub(super) fn make_bulk(&self, host: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let make = |operand: Operand, rest: Option<usize>| {
            let matrix = &self.matrices.product[operand as usize];
            let (atom, coords) = self.bulk_of(host, operand)?;
            let tile = self.tile_of_tensor(operand).map_err(|e| host.error(e))?;
            let layout = host.static_value(swizzled(host, &tile))?;
            let columns = matrix.columns();
            let tensor = match columns.is_some() || matrix.layout == matrix.memref.layout {
                true => matrix.tensor,
                false => matrix.as_expected(host, matrix.tensor)?,
            };
            let name = match (operand, columns) {
                (Operand::C, _) => cute_nvgpu::ATOM_MAKE_TMA_STORE,
                (_, Some(_)) => cute_nvgpu::ATOM_MAKE_IM2COL_TMA_LOAD,
                (_, None) => cute_nvgpu::ATOM_MAKE_TMA_LOAD,
            };
            let rest = rest.map(|mode| ("rest", host.i64_attribute(mode as i64)));
            let mut attributes: Vec<_> = rest.into_iter().collect();
            if let Some(columns) = columns {
                let Convolution { pixels, filter } = columns.convolution();
                let numbers = |values: &[i64]| host.i64_array(values);
                attributes.extend([
                    ("lower_corner", numbers(&pixels.lower)),
                    ("upper_corner", numbers(&pixels.upper)),
                    ("stride", numbers(&pixels.strides)),
                    ("filter", numbers(&filter.extents)),
                    ("dilation", numbers(&filter.dilation)),
                ]);
            }
            let made = host.op(name, &[tensor, layout], &[atom, coords], &attributes)?;
            Ok::<_, Failure>(results_of(made))
        };
        let mut all = Vec::new();
        for operand in self.moved_in_bulk() {
            all.extend(make(operand, None)?);
        }
        for operand in self.factors_with_rest(host)? {
            let rows = self.matrices.product[operand as usize].place(0);
            all.extend(make(operand, Some(rows))?.first());
        }
        Ok(all)
    }

    /// The atom of an operand in a kernel, and the coordinates of one product of it; nothing where threads copy it.
    fn bulk_in_kernel(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        operand: Operand,
        product: Option<Product<'c>>,
    ) -> Result<Option<(Val<'c>, Val<'c>)>, Failure> {
        let Some(place) = self.moved_in_bulk().position(|other| other == operand) else {
            return Ok(None);
        };
        let first = self.first_of_bulk() + 2 * place;
        let (atom, mut coords) = (argument(body, first), argument(body, first + 1));
        let matrix = &self.matrices.product[operand as usize];
        match matrix.columns() {
            Some(columns) => {
                let modes = columns.by_places(vec![0, 1]);
                coords = b.infer(cute::SELECT, &[coords], &[("mode", b.i32_array(&modes))])?;
            }
            None => coords = matrix.part_of(b, coords, product)?,
        }
        Ok(Some((atom, coords)))
    }

    /// The place among the arguments of the first atom.
    fn first_of_bulk(&self) -> usize {
        self.first_workspace() + usize::from(self.plan.is_split())
    }

    /// The atoms of the last boxes of A and of B in a kernel; none where boxes are whole.
    fn last_boxes_in_kernel(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
    ) -> Result<[Option<LastBoxes<'c>>; 2], Failure> {
        let first = self.first_of_bulk() + 2 * self.moved_in_bulk().count();
        let mut found = [None, None];
        for (place, operand) in self.factors_with_rest(b)?.into_iter().enumerate() {
            let atom = argument(body, first + place);
            found[operand as usize] = Some(self.last_boxes(b, body, (operand, atom))?);
        }
        Ok(found)
    }

    /// Writes the body of the kernel.
    pub(super) fn body_of_roles(&self, b: Builder<'c>, body: Blk<'c>) -> Result<(), Failure> {
        let i32_type = b.i32_type();
        let [tm, tn, _] = self.plan.tile;
        let sets = self.sets_of_turns() as i64;
        let all_of_a = (0..sets).map(|_| self.shared(b, Operand::A));
        let all_of_a = all_of_a.collect::<Result<Vec<_>, _>>()?;
        let [_, k] = self.plan.extents(Operand::B);
        let parts = sets * (self.plan.tile[2] / k.max(1));
        let parts_of_b = (0..parts).map(|_| self.shared(b, Operand::B));
        let parts_of_b = parts_of_b.collect::<Result<Vec<_>, _>>()?;
        let shared_c = match self.plan.is_split() {
            true => None,
            false => Some(self.buffers_of_c(b)?),
        };
        let exchange = self.exchange(b)?;
        let last = self.last_boxes_in_kernel(b, body)?;
        let sums =
            super::kernel::block_registers(self.accumulate, tm, tn).map_err(|e| b.error(e))?;
        let sums = sums.to_type(b.location)?;

        // One tile after another, or one part of a tile: as many blocks, or clusters of them, as there are take turns.
        let of_cluster = |value| match self.plan.blocks_of_cluster() {
            1 => Ok(value),
            blocks => b.value(arith::DIVUI, &[value, b.i32(blocks)?], i32_type, &[]),
        };
        let block = block_index(b)?;
        let blocks = blocks_of_grid(b)?;
        let (first, blocks) = (of_cluster(block)?, of_cluster(blocks)?);
        let ranks = self.ranks(b, block)?;
        let counted = self.groups.filter(|_| self.counts_tiles());
        let mut all = match (counted, self.known_tiles_of_c()) {
            (Some(groups), _) => self.tiles_of_groups(b, body, groups)?,
            (None, Some(known)) => b.i32(known)?,
            (None, None) => {
                let mut all = self.tiles_of_product(b, body)?;
                if self.is_batched() {
                    let c = &self.matrices.product[2];
                    let known = c.extent(2).filter(|extent| extent.is_static());
                    let batch = match known.and_then(|extent| extent.size().ok()) {
                        Some(known) => b.i32(known)?,
                        None => c
                            .length(b, body, 2)?
                            .expected(b, "the extent of the batch")?,
                    };
                    all = b.value(arith::MULI, &[all, narrow(b, batch)?], i32_type, &[])?;
                }
                all
            }
        };
        let parts = self.parts(b, body)?;
        if let Some(parts) = parts {
            all = b.value(arith::MULI, &[all, parts], i32_type, &[])?;
        }
        // Teams skip each other's turns, so that they know how many those are before.
        let of_all = match (self.plan.is_split(), self.plan.teams) {
            (false, 2..) => Some(self.tiles(b, body, 2)?),
            _ => None,
        };
        self.let_next_start_early(b, [first, all, blocks], |b| self.tiles(b, body, 2))?;
        let (region, inner) = Detached::with_block(&[(i32_type, b.location)]);
        let teams = [(TEAMS, b.i64_attribute(self.plan.teams))];
        let teams = if self.plan.teams > 1 { &teams[..] } else { &[] };
        b.with_regions(scf::FOR, &[first, all, blocks], &[], teams, vec![region])?;
        self.let_next_start_late(b)?;
        let t = Builder::at_end(b.context, inner, b.location);
        let index = argument(inner, 0);
        let (at, part) = self.place(t, body, index, parts)?;
        let at = self.place_in_cluster(t, at, ranks)?;
        // Of a place that has no rows nothing is loaded, and nothing stored.
        let all = t;
        let rows = at.product.and_then(|product| product.rows);
        let is_there = rows.and_then(|rows| rows.is_there);
        let t = match is_there {
            Some(is_there) => {
                let (then, own) = Detached::with_block(&[]);
                let branch = vec![then, Detached::empty()];
                all.with_regions(scf::IF, &[is_there], &[], &[], branch)?;
                Builder::at_end(all.context, own, all.location)
            }
            None => all,
        };
        let accumulators = t.value(cute::MEMREF_ALLOCA, &[], sums, &[])?;
        t.step("clear accumulators")
            .op(cute::CLEAR, &[accumulators], &[], &[])?;
        let shared = ranks[2].map(|rank| (rank, self.plan.parts_in_cluster()));
        let (start, turns) = match (part, shared, of_all) {
            (Some(part), ..) => {
                let (start, turns) = self.range_of_part(t, body, part)?;
                (Some(start), turns)
            }
            (None, Some(shared), _) => {
                let (start, turns) = self.range(t, body, shared)?;
                (Some(start), turns)
            }
            (None, None, Some(turns)) => (None, turns),
            (None, None, None) => (None, self.tiles(t, body, 2)?),
        };
        let product = ([&all_of_a[..], &parts_of_b], accumulators);
        self.turns(t, body, (&at, ranks, last), (start, turns), product)?;
        if let Some(exchange) = exchange {
            let turn = t.value(arith::SUBI, &[index, first], i32_type, &[])?;
            let turn = t.value(arith::DIVUI, &[turn, blocks], i32_type, &[])?;
            let operands = [accumulators, exchange, turn];
            t.step("add parts")
                .op(cute::BLOCK_CLUSTER_SUM, &operands, &[], &[])?;
        }
        match &shared_c {
            Some(shared_c) => {
                self.parts_of_c(t, body, (&at, ranks[2]), (accumulators, shared_c))?;
            }
            // What is to be added, other blocks have.
            None => {
                let sums = self.sums(t, body, index)?;
                let none = Located::default();
                block_copy(
                    t.step("store sums"),
                    Operand::C,
                    [accumulators, sums],
                    &none,
                )?;
            }
        }
        t.op(scf::YIELD, &[], &[], &[])?;
        if is_there.is_some() {
            all.op(scf::YIELD, &[], &[], &[])?;
        }
        Ok(())
    }

    /// The shared memory in which a block of a cluster gets the sums of those that share its tiles: for each thread its values of its share of C, four at a time side by
    /// side with its neighbours', once for each other block; none where blocks share no tile.
    fn exchange(&self, b: Builder<'c>) -> Result<Option<Val<'c>>, Failure> {
        let blocks = self.plan.parts_in_cluster();
        if blocks == 1 {
            return Ok(None);
        }
        let threads = self.plan.team().map_err(|e| b.error(e))?;
        let [rows, columns] = self.plan.extents(Operand::C);
        let parts = self.plan.parts(Operand::C) / blocks;
        let values = rows * columns * parts / threads;
        let int = cute_layout::int;
        let shape = [
            tuple([int(SENT_AT_ONCE), int(values / SENT_AT_ONCE)]),
            int(threads),
            int(blocks - 1),
        ];
        let stride = [
            tuple([int(1), int(SENT_AT_ONCE * threads)]),
            int(SENT_AT_ONCE),
            int(values * threads),
        ];
        let layout =
            Layout::new(tuple(shape), tuple(stride)).map_err(|e| b.error(e.to_string()))?;
        let tensor = types::MemRef {
            element: self.accumulate,
            space: types::Space::Smem,
            align: 128,
            swizzle: None,
            inner: None,
            layout,
        };
        let ty = tensor.to_type(b.location)?;
        b.value(cute::MEMREF_ALLOCA, &[], ty, &[]).map(Some)
    }

    /// The places of a block in its cluster along M, N and K; none along which there is one.
    fn ranks(&self, b: Builder<'c>, block: Val<'c>) -> Result<Ranks<'c>, Failure> {
        let [m, n, k] = self.plan.cluster;
        let unsigned = |name: &str, x, y| b.value(name, &[x, b.i32(y)?], b.i32_type(), &[]);
        let along_m = match m {
            1 => None,
            _ => Some(unsigned(arith::REMUI, block, m)?),
        };
        let along_n = match (m, n) {
            (_, 1) => None,
            (1, _) => Some(unsigned(arith::REMUI, block, n)?),
            _ => {
                let rank = unsigned(arith::REMUI, block, m * n)?;
                Some(unsigned(arith::DIVUI, rank, m)?)
            }
        };
        let along_k = match k {
            1 => None,
            _ => Some(unsigned(arith::REMUI, block, k)?),
        };
        Ok([along_m, along_n, along_k])
    }

    /// The place of a block's tile among all tiles, from that of its cluster's.
    fn place_in_cluster(
        &self,
        b: Builder<'c>,
        at: Place<'c>,
        ranks: Ranks<'c>,
    ) -> Result<Place<'c>, Failure> {
        let [m, n, _] = self.plan.cluster;
        Ok(Place {
            m: within(b, at.m, m, ranks[0])?,
            n: within(b, at.n, n, ranks[1])?,
            product: at.product,
        })
    }

    /// The slice of an operand's tile that a block loads, among as many as blocks share it, and the blocks that get it, a bit for each of the cluster;
    /// none where each loads its own.
    fn share(
        &self,
        b: Builder<'c>,
        operand: Operand,
        [along_m, along_n, _]: Ranks<'c>,
    ) -> Result<Option<(Val<'c>, Val<'c>)>, Failure> {
        let [m, n, _] = self.plan.cluster;
        // Blocks are numbered along M first.
        let (slice, other, first, apart) = match operand {
            Operand::A => (along_n, along_m, (0..n).map(|at| 1 << (at * m)).sum(), 1),
            _ => (along_m, along_n, (1 << m) - 1, m),
        };
        let Some(slice) = slice else {
            return Ok(None);
        };
        let mut mask = b.i32(first)?;
        if let Some(other) = other {
            let bits = b.value(arith::MULI, &[other, b.i32(apart)?], b.i32_type(), &[])?;
            mask = b.value(arith::SHLI, &[mask, bits], b.i32_type(), &[])?;
        }
        let mask = b.value(arith::TRUNCI, &[mask], b.ty("i16")?, &[])?;
        Ok(Some((slice, mask)))
    }

    /// The loop along K, from the first tile of a range, where there is one, and of as many turns as there are.
    fn turns(
        &self,
        t: Builder<'c>,
        body: Blk<'c>,
        (at, ranks, last): (&Place<'c>, Ranks<'c>, [Option<LastBoxes<'c>>; 2]),
        (start, turns): (Option<Val<'c>>, Val<'c>),
        (shared, accumulators): ([&[Val<'c>]; 2], Val<'c>),
    ) -> Result<(), Failure> {
        let keep = IntTuple::underscore;
        let mut tiles = Vec::new();
        let factors = [(Operand::A, at.m), (Operand::B, at.n)];
        for ((operand, leaf), shared) in factors.into_iter().zip(shared) {
            let bulk = self.bulk_in_kernel(t, body, operand, at.product)?;
            let (atom, coords) = bulk.expected(t, "an atom of TMA")?;
            let share = self.share(t, operand, ranks)?;
            let sharers = self.plan.sharers(operand);
            let [rows, columns] = self.plan.extents(operand);
            let own = [rows / sharers, columns];
            let loads = self.matrices.product[operand as usize].columns();
            let loads = loads.map_or(1, |columns| columns.loads(own));
            let tile = tile_of([own[0] / loads, columns]).map_err(|e| t.error(e))?;
            let tile = t.static_value(types::tile_type(t.context, &tile))?;
            let tile_of_c = leaf;
            let leaf = within(t, leaf, sharers, share.map(|(slice, _)| slice))?;
            let (atom, rest) = match last[operand as usize] {
                Some(last) => {
                    let (atom, rest) = last.choose(t, atom, [tile_of_c, leaf], sharers)?;
                    (atom, Some(rest))
                }
                None => (atom, None),
            };
            let first = tuple([IntTuple::dynamic(), cute_layout::int(0)]);
            let mut parts = Vec::new();
            let times = |index| match loads {
                1 => Ok(index),
                _ => t.value(arith::MULI, &[index, t.i32(loads)?], t.i32_type(), &[]),
            };
            let leaf = times(leaf)?;
            let slice = share.map(|(slice, _)| times(slice)).transpose()?;
            for load in 0..loads {
                let plus = |first| match loads {
                    1 => Ok(first),
                    _ => t.value(arith::ADDI, &[first, t.i32(load)?], t.i32_type(), &[]),
                };
                let coord = t.coord(&tuple([IntTuple::dynamic(), keep()]), &[plus(leaf)?])?;
                let to = match slice {
                    Some(slice) => Some(t.coord(&first, &[plus(slice)?])?),
                    None if loads > 1 => Some(t.coord(&first, &[t.i32(load)?])?),
                    None => None,
                };
                parts.push(([coords, tile, coord], to));
            }
            let mask = share.map(|(_, mask)| mask);
            tiles.push((operand, (atom, rest), parts, (shared, mask)));
        }
        let scales = self.scales_of_tile(t, body, at, (start, turns))?;
        let computes = self.plan.computes_fragments(Operand::A);
        let computed = match computes.map_err(|e| t.error(e))? {
            true => Some(Computed {
                beside: self.beside_a(t, body, at)?,
                // As many as B has. A product of one goes on while another is written.
                parts: shared[1]
                    .iter()
                    .map(|_| self.multiplied_registers(t, Operand::A))
                    .collect::<Result<_, _>>()?,
            }),
            false => None,
        };
        // Its body has a turn for each set of sums.
        let sets = self.sets_of_turns();
        let each = t.i32(sets as i64)?;
        let to = match sets {
            1 => turns,
            _ => t.value(arith::DIVUI, &[turns, each], t.i32_type(), &[])?,
        };
        let (region, inner) = Detached::with_block(&[(t.i32_type(), t.location)]);
        let places = self.plan.stages / sets as i64;
        let mut attributes = vec![(STAGES, t.i64_attribute(places))];
        let written = self.turns_written() / sets as i64;
        if written > 1 {
            attributes.push((UNROLL, t.i64_attribute(written)));
        }
        let bounds = [t.i32(0)?, to, t.i32(1)?];
        t.with_regions(scf::FOR, &bounds, &[], &attributes, vec![region])?;
        let l = Builder::at_end(t.context, inner, t.location);
        for set in 0..sets {
            let mut turn = argument(inner, 0);
            if sets > 1 {
                turn = l.value(arith::MULI, &[turn, each], l.i32_type(), &[])?;
                turn = l.value(arith::ADDI, &[turn, l.i32(set as i64)?], l.i32_type(), &[])?;
            }
            if let Some(first) = start {
                turn = l.value(arith::ADDI, &[first, turn], l.i32_type(), &[])?;
            }
            let coord = l.coord(&tuple([keep(), keep(), IntTuple::dynamic()]), &[turn])?;
            let of_set = |all: &'_ [Val<'c>]| {
                let count = all.len() / sets;
                all.get(set * count..(set + 1) * count)
                    .unwrap_or_default()
                    .to_vec()
            };
            for (operand, (atom, rest), loads, (shared, mask)) in &tiles {
                let l = l.step(["copy A", "copy B", "copy C"][*operand as usize]);
                for (tiles, place) in loads {
                    // Tiles are asked for in a turn: where K is 0 there are none, and no layout has such an extent.
                    let [_, own, _] = tiles;
                    let tiles = l.infer(cute::LOCAL_TILE, tiles, &[])?;
                    let shared = of_set(shared);
                    let parts = i64::try_from(shared.len()).unwrap_or(1);
                    for (part, shared) in (0..).zip(shared) {
                        let coord = match parts {
                            1 => coord,
                            _ => {
                                let number = within(l, turn, parts, Some(l.i32(part)?))?;
                                l.coord(&tuple([keep(), keep(), IntTuple::dynamic()]), &[number])?
                            }
                        };
                        let tile = l.infer(cute::SLICE, &[tiles, coord], &[])?;
                        let to = match place {
                            Some(place) => {
                                l.infer(cute::LOCAL_TILE, &[shared, *own, *place], &[])?
                            }
                            None => shared,
                        };
                        let arrival = Arrival {
                            barrier: None,
                            mask: *mask,
                            rest: *rest,
                            policy: None,
                        };
                        start_load(l, *atom, &[tile], to, arrival)?;
                    }
                }
            }
            match (&computed, &shared.map(of_set)) {
                (Some(computed), [a, parts_of_b]) if a.len() == 1 => {
                    let product = (a[0], &parts_of_b[..], accumulators);
                    self.multiply_computed((l, body), product, (computed, coord))?;
                }
                (None, [a, b]) if [a.len(), b.len()] == [1, 1] => {
                    let product = [a[0], b[0], accumulators];
                    let scales = scales.as_ref().map(|scales| (scales, set));
                    self.multiply((l, body), product, scales, turn)?;
                }
                _ => {
                    return Err(
                        l.error("expected a tile of A, and of B as many as parts are multiplied")
                    );
                }
            }
        }
        l.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    /// Adds the product of a turn's tiles to the sums, of A as its prologue computes it in registers: part by part along K, so that one is computed while the one before is
    /// multiplied. Of the tensors that the prologue reads it takes the tiles at a coordinate.
    fn multiply_computed(
        &self,
        (l, body): (Builder<'c>, Blk<'c>),
        (shared_a, parts_of_b, accumulators): (Val<'c>, &[Val<'c>], Val<'c>),
        (computed, coord): (&Computed<'c>, Val<'c>),
    ) -> Result<(), Failure> {
        let mut inputs = vec![(shared_a, false)];
        let Computed { beside, parts } = computed;
        for other in beside {
            let is_held = matches!(other, Beside::Held(_));
            inputs.push((other.at(l, coord)?, is_held));
        }
        // All parts are loaded before the first is multiplied: the loads of one would stand behind the products of the ones before.
        for (part, a) in (0..).zip(parts) {
            let own = |(tensor, is_held): &(Val<'c>, bool)| match is_held {
                true => Ok(*tensor),
                false => self.along_k(l, Operand::A, *tensor, part),
            };
            let inputs = inputs.iter().map(own).collect::<Result<Vec<_>, _>>()?;
            let none = Located::default();
            let value = |place: usize| argument(body, place);
            let compute = l.step("copy A");
            self.compute(compute, Operand::A, (&inputs, *a), &none, value)?;
        }
        for (a, b) in parts.iter().zip(parts_of_b) {
            l.step("multiply")
                .op(cute::BLOCK_GEMM, &[*a, *b, accumulators], &[], &[])?;
        }
        Ok(())
    }

    /// The tensors that the prologue of A reads beside it, at the place of a tile of C. All tiles of A are whole.
    fn beside_a(
        &self,
        t: Builder<'c>,
        body: Blk<'c>,
        at: &Place<'c>,
    ) -> Result<Vec<Beside<'c>>, Failure> {
        let coord = tuple([IntTuple::dynamic(), IntTuple::underscore()]);
        self.beside(t, Operand::A, |matrix, _| {
            let coord = (coord.clone(), &[at.m][..]);
            let whole = (&[const { None }; 3], false);
            self.part(t, body, (matrix, Operand::A), coord, at.product, whole)
        })
    }

    /// The tensors in shared memory that parts of C go through in turn.
    fn buffers_of_c(&self, b: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let (_, buffers) = self.plan.shared(Operand::C).map_err(|e| b.error(e))?;
        (0..buffers).map(|_| self.shared(b, Operand::C)).collect()
    }

    /// The way of C out through shared memory, part by part; of the blocks of a cluster that share a tile, each has some of the parts. Parts that follow one another
    /// go through buffers of their own, as far as there are.
    fn parts_of_c(
        &self,
        t: Builder<'c>,
        body: Blk<'c>,
        (at, rank): (&Place<'c>, Option<Val<'c>>),
        (accumulators, buffers): (Val<'c>, &[Val<'c>]),
    ) -> Result<(), Failure> {
        let i32_type = t.i32_type();
        let parts = self.plan.parts(Operand::C);
        let first = t.value(arith::MULI, &[at.n, t.i32(parts)?], i32_type, &[])?;
        let bulk = self.bulk_in_kernel(t, body, Operand::C, at.product)?;
        let ends = self.ends(t, body, at.product)?;
        let part_of_c = |p: Builder<'c>, part: Val<'c>, shared: Val<'c>| {
            let at = Place {
                m: at.m,
                n: p.value(arith::ADDI, &[first, part], i32_type, &[])?,
                product: at.product,
            };
            self.part_of_c(p, body, (&at, &ends), bulk, (part, [accumulators, shared]))
        };
        let count = i64::try_from(buffers.len()).unwrap_or(1).max(1);
        let whole = parts - parts % count;
        let (from, to, step) = (t.i32(0)?, t.i32(whole)?, t.i32(count)?);
        let (region, inner) = Detached::with_block(&[(i32_type, t.location)]);
        let unrolled = [(UNROLL, t.unit())];
        t.with_regions(scf::FOR, &[from, to, step], &[], &unrolled, vec![region])?;
        let all = Builder::at_end(t.context, inner, t.location);
        let p = match rank {
            Some(rank) => {
                let each = all.i32(parts / self.plan.parts_in_cluster())?;
                let owner = all.value(arith::DIVUI, &[argument(inner, 0), each], i32_type, &[])?;
                let is_own = all.compare(Predicate::Eq, owner, rank)?;
                let (then, own) = Detached::with_block(&[]);
                let branch = vec![then, Detached::empty()];
                all.with_regions(scf::IF, &[is_own], &[], &[], branch)?;
                Builder::at_end(all.context, own, all.location)
            }
            None => all,
        };
        for (behind, shared) in (0..).zip(buffers) {
            let part = match behind {
                0 => argument(inner, 0),
                _ => p.value(
                    arith::ADDI,
                    &[argument(inner, 0), p.i32(behind)?],
                    i32_type,
                    &[],
                )?,
            };
            part_of_c(p, part, *shared)?;
        }
        p.op(scf::YIELD, &[], &[], &[])?;
        if rank.is_some() {
            all.op(scf::YIELD, &[], &[], &[])?;
        }
        for (part, shared) in (whole..parts).zip(buffers) {
            part_of_c(t, t.i32(part)?, *shared)?;
        }
        Ok(())
    }

    /// The way of one part of C out through shared memory, by TMA or by the threads.
    fn part_of_c(
        &self,
        p: Builder<'c>,
        body: Blk<'c>,
        (at, ends): (&Place<'c>, &[Option<End<'c>>; 3]),
        bulk: Option<(Val<'c>, Val<'c>)>,
        (part, [accumulators, shared]): (Val<'c>, [Val<'c>; 2]),
    ) -> Result<(), Failure> {
        let tile = tile_of(self.plan.extents(Operand::C)).map_err(|e| p.error(e))?;
        let tile = p.static_value(types::tile_type(p.context, &tile))?;
        let coord = p.coord(&tuple([cute_layout::int(0), IntTuple::dynamic()]), &[part])?;
        let sums = p.infer(cute::LOCAL_TILE, &[accumulators, tile, coord], &[])?;
        let staged = self.staged();
        let mut rounded = sums;
        let memref = types::memref_of(sums).expected(p, "a tensor")?;
        let ty = cute_ir::tensor::registers(staged, memref.layout).to_type(p.location)?;
        if self.computes_in_registers() {
            rounded = p.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
            self.compute_in_registers(p, body, (at, ends), [sums, rounded])?;
        } else if staged != self.accumulate {
            rounded = p.step("convert C").value(cute::CONVERT, &[sums], ty, &[])?;
        }
        let none = Located::default();
        block_copy(p.step("gather C"), Operand::C, [rounded, shared], &none)?;
        match bulk {
            Some(bulk) => self.store_in_bulk(p.step("store C"), at, bulk, shared),
            None => {
                let c = self.tile_of_c(p, body, &self.matrices.product[2], at, ends)?;
                self.store_c(p, body, at, (c, shared))
            }
        }
    }

    /// Computes a part of C of sums in registers, by the epilogue, into registers.
    fn compute_in_registers(
        &self,
        p: Builder<'c>,
        body: Blk<'c>,
        (at, ends): (&Place<'c>, &[Option<End<'c>>; 3]),
        [sums, computed]: [Val<'c>; 2],
    ) -> Result<(), Failure> {
        let epilogue = self.epilogue.as_ref().expected(p, "an epilogue")?;
        let c = self.tile_of_c(p, body, &self.matrices.product[2], at, ends)?;
        let (inputs, _) = self.tiles_beside(p, body, at)?;
        // Coordinates are for what is read.
        let located = match inputs.is_empty() {
            true => Located::default(),
            false => c.located(0),
        };
        let inputs = [vec![sums], inputs].concat();
        let on = On {
            operand: Operand::C,
            inputs: &inputs,
            outputs: &[computed],
            reduce: &[],
            located: &located,
        };
        let value = |place: usize| argument(body, place);
        epilogue.transform(p.step("epilogue"), on, value)
    }

    /// Stores a part of C by TMA, as its tensor has it.
    fn store_in_bulk(
        &self,
        p: Builder<'c>,
        at: &Place<'c>,
        (atom, coords): (Val<'c>, Val<'c>),
        shared_c: Val<'c>,
    ) -> Result<(), Failure> {
        let matrix: &Matrix<'c> = &self.matrices.product[2];
        let (mut extents, mut leaves, mut from) =
            (self.plan.extents(Operand::C), [at.m, at.n], shared_c);
        if matrix.turned {
            extents.reverse();
            leaves.reverse();
            from = p.infer(cute::SELECT, &[from], &[("mode", p.i32_array(&[1, 0]))])?;
        }
        let tile = tile_of(extents).map_err(|e| p.error(e))?;
        let tile = p.static_value(types::tile_type(p.context, &tile))?;
        let coord = p.coord(&tuple([IntTuple::dynamic(), IntTuple::dynamic()]), &leaves)?;
        let to = p.infer(cute::LOCAL_TILE, &[coords, tile, coord], &[])?;
        p.op(cute_nvgpu::TMA_STORE, &[atom, from, to], &[], &[])?;
        Ok(())
    }
}

/// The index among so many parts of each of several, of which it is that one; the index itself where there are no parts.
fn within<'c>(
    b: Builder<'c>,
    index: Val<'c>,
    parts: i64,
    part: Option<Val<'c>>,
) -> Result<Val<'c>, Failure> {
    let Some(part) = part else {
        return Ok(index);
    };
    let first = b.value(arith::MULI, &[index, b.i32(parts)?], b.i32_type(), &[])?;
    b.value(arith::ADDI, &[first, part], b.i32_type(), &[])
}

/// The type of a layout in shared memory, behind its swizzle where it has one.
fn swizzled<'c>(b: Builder<'c>, tile: &SharedTile) -> Type<'c> {
    let inner = tile.swizzle.map(|swizzle| (swizzle, cute_layout::int(0)));
    types::composed_type(b.context, inner.as_ref(), &tile.layout)
}
