//! The tensors that loads by TMA fill, which become rings.

use super::parts::{self, Filling, Part};
use crate::{
    arch::WARP,
    mbarriers::{alone, expect, fence_proxy, mbarriers},
    memory::is_memory,
    pipeline::rings::{ring_of, slice},
};
use cute_arith::Predicate;
use cute_ir::args::GemmArgs;
use cute_ir::ops::{arith, cute, cute_nvgpu, nvvm, scf};
use cute_ir::{
    Expected, Failure,
    attributes::{RING, STAGES},
    diag, hopper,
    mlir::*,
    types::{Space, memref_of, mma_row},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// Tensors that are loaded together and used together.
pub(super) struct Ring<'c> {
    /// The block of the loads, a turn of which fills a place.
    pub(super) block: Blk<'c>,
    /// The loads, in their order.
    pub(super) loads: Vec<Op<'c>>,
    /// The place among the tensors of the one that each load fills, or a part of which.
    pub(super) fills: Vec<usize>,
    /// The places.
    pub(super) depth: i64,
    /// The tensors that the loads fill.
    pub(super) tensors: Vec<Val<'c>>,
    /// The views of its tensor that each load fills, from the tensor on: a slice, where blocks of a cluster share the load.
    pub(super) slices: Vec<Vec<Op<'c>>>,
    /// The blocks of the cluster that use what each of them loads; 1 where each loads for itself.
    pub(super) sharers: i64,
    /// The first and the last op of the block that uses them, be it to see them by other layouts.
    pub(super) uses: [Op<'c>; 2],
    /// The first one that reads them.
    pub(super) read: Op<'c>,
    /// Views of the tensors that are made in front of the loads, in their order.
    pub(super) views: Vec<Op<'c>>,
    /// Tells whether threads read them, and not products of warpgroups alone.
    pub(super) is_read: bool,
    /// Tells whether the threads of a warp load them, and not TMA.
    pub(super) is_by_warp: bool,
    /// Bytes of a place.
    bytes: i64,
    /// The rings in place of the tensors, and the mbarriers of full places and of empty ones.
    made: Option<Made<'c>>,
}

struct Made<'c> {
    rings: Vec<Val<'c>>,
    barriers: [Val<'c>; 2],
}

/// The mbarriers of a ring.
#[derive(Clone, Copy)]
pub(super) enum Barrier {
    /// The mbarrier that completes when a place is full.
    Full,
    /// The mbarrier that completes when a place is empty.
    Empty,
}

/// The product that goes on while its warps do: its atom, its sums.
pub(crate) fn asynchronous_product<'c>(op: Op<'c>) -> Option<(Val<'c>, Val<'c>)> {
    let (mma, sums) = match GemmArgs::of(op)? {
        GemmArgs::Mma { mma, d, .. } => (mma, d),
        GemmArgs::MmaInPlace { mma, c, .. } => (mma, c),
        GemmArgs::Elements { .. } => return None,
    };
    let row = mma_row(mma.r#type())?;
    hopper::is_asynchronous(&row).then_some((mma, sums))
}

/// The fragment that a product of a warpgroup takes A from; none of one whose A is in shared memory.
pub(super) fn left_in_registers<'c>(op: Op<'c>) -> Option<Val<'c>> {
    let (GemmArgs::Mma { a, .. } | GemmArgs::MmaInPlace { a, .. }) = GemmArgs::of(op)? else {
        return None;
    };
    memref_of(a)
        .is_some_and(|memref| memref.space == Space::Rmem)
        .then_some(a)
}

/// A load whose thread, place and barriers nobody chose.
#[derive(Clone, Copy)]
pub(super) enum Load<'c> {
    /// A load by TMA.
    Tma(cute_nvgpu::TmaLoad<'c>),
    /// Asynchronous copies by the threads of a warp.
    Warp(cute::BlockWarpLoad<'c>),
}

impl<'c> Load<'c> {
    pub(super) fn op(self) -> Op<'c> {
        match self {
            Self::Tma(load) => load.op(),
            Self::Warp(load) => load.op(),
        }
    }

    pub(super) fn destination(self) -> Val<'c> {
        match self {
            Self::Tma(load) => load.destination(),
            Self::Warp(load) => load.destination(),
        }
    }

    /// The blocks of the cluster that get what it loads, as bits; none where it is this block.
    pub(super) fn mask(self) -> Option<Val<'c>> {
        match self {
            Self::Tma(load) => load.mask(),
            Self::Warp(_) => None,
        }
    }

    /// Tells whether a warp's threads copy.
    pub(super) fn is_by_warp(self) -> bool {
        matches!(self, Self::Warp(_))
    }
}

/// The load that an op is, if nobody gave it a barrier.
pub(super) fn load_of(op: Op<'_>) -> Option<Load<'_>> {
    let by_tma = cute_nvgpu::TmaLoad::of(op).filter(|load| load.barriers().is_none());
    let by_warp = cute::BlockWarpLoad::of(op).map(Load::Warp);
    by_tma.map(Load::Tma).or(by_warp)
}

/// Tells whether an op is a load, a product or a store that goes on while its threads do.
pub(super) fn is_timed(op: Op<'_>) -> bool {
    load_of(op).is_some()
        || asynchronous_product(op).is_some()
        || cute_nvgpu::TmaStore::of(op).is_some()
}

/// Tells whether an op has such a one within.
pub(super) fn has_within<'c>(op: Op<'c>, is: impl Fn(Op<'c>) -> bool) -> bool {
    op.region_count() > 0 && nested_ops(op).into_iter().any(is)
}

/// The op of a block that `op` is, or that it is within.
fn within<'c>(block: Blk<'c>, op: Op<'c>) -> Option<Op<'c>> {
    let mut op = op;
    while block_of(op) != Some(block) {
        op = parent_op(op)?;
    }
    Some(op)
}

/// The uses of a loaded tensor.
struct Uses<'c> {
    /// The places of ops in the block of its load.
    places: Vec<usize>,
    /// The first of them that is no view; beyond all places where there is none.
    read: usize,
    views: Vec<Op<'c>>,
    is_read: bool,
}

fn uses_of<'c>(
    loads: &[Part<'c>],
    tensor: Val<'c>,
    (block, order): (Blk<'c>, &[Op<'c>]),
    at: usize,
) -> Result<Uses<'c>, Failure> {
    let mut uses = Uses {
        places: Vec::new(),
        read: usize::MAX,
        views: Vec::new(),
        is_read: false,
    };
    let mut left = vec![tensor];
    while let Some(value) = left.pop() {
        for user in users_of(value) {
            let fills = |(load, views): &Part<'c>| load.op() == user || views.contains(&user);
            if loads.iter().any(fills) {
                continue;
            }
            let is_view = is_pure(user)
                && user.region_count() == 0
                && results_of(user).into_iter().any(is_memory);
            if is_view {
                left.extend(results_of(user));
            }
            let place = within(block, user);
            match place.and_then(|op| order.iter().position(|other| *other == op)) {
                Some(place) if !is_view || place > at => {
                    uses.places.push(place);
                    if !is_view {
                        uses.read = uses.read.min(place);
                    }
                }
                // Made anew of a place of the ring.
                _ if is_view => uses.views.push(user),
                _ => {
                    return Err(diag::error_with_notes(
                        user.location(),
                        "uses a tensor that is loaded by TMA elsewhere; expected it in the block of the load, or in a loop or branch in there",
                        &[(order[at].location(), "it is loaded here")],
                    ));
                }
            }
            let is_operand_of_product = asynchronous_product(user).is_some();
            uses.is_read |= !is_view && !is_operand_of_product;
        }
    }
    Ok(uses)
}

/// Finds the rings of a kernel. Errors: a load of something else than a whole tensor of shared memory; a tensor that is used before it is loaded, or outside of the
/// loop that loads it; no load.
pub(super) fn of<'c>(kernel: Op<'c>, blocks: i64) -> Result<Vec<Ring<'c>>, Failure> {
    let ops = nested_ops(kernel);
    let mut rings: Vec<Ring<'c>> = Vec::new();
    for filling in parts::fillings(&ops, blocks)? {
        let Filling { tensor, loads } = filling;
        let (load, _) = loads.first().expected(kernel, "a load")?;
        let (load, op) = (*load, load.op());
        let sharers = if load.mask().is_some() { blocks } else { 1 };
        let memref = memref_of(tensor).expected(op, "a tensor")?;
        let block = block_of(op).expected(op, "a block")?;
        let order = ops_of(block);
        // Whatever uses it stands behind the last of them.
        let is_load = |other: &Op<'c>| loads.iter().any(|(load, _)| load.op() == *other);
        let at = order.iter().rposition(is_load);
        let at = at.expected(op, "an op of its block")?;
        let uses = uses_of(&loads, tensor, (block, &order), at)?;
        let ends = uses.places.iter().min().zip(uses.places.iter().max());
        let Some((first, last)) = ends else {
            return Err(diag::error(
                op.location(),
                "loads a tensor that nothing uses; remove the load",
            ));
        };
        if *first < at {
            return Err(diag::error_with_notes(
                order[*first].location(),
                "uses a tensor before the load that fills it; expected it behind the load, which runs ahead by itself",
                &[(op.location(), "it is loaded here")],
            ));
        }
        let around = owner_of(block).filter(|op| scf::For::of(*op).is_some());
        let depth = around.and_then(|op| integer_of(op, STAGES)).unwrap_or(1);
        let bytes = memref.bytes().map_err(|e| diag::error(op.location(), e))?;
        let uses_of_it = [order[*first], order[*last]];
        let read = order[uses.read.min(*last)];
        // Tensors that are read by the same ops are waited for together: before the first view of one of them. What a block loads for itself does not
        // wait for those who use what it shares, unless nothing at all stands between the two.
        let shared = rings.iter().position(|ring| {
            let used = |ring: &Ring<'c>| (ring.block, ring.read, ring.uses[1]);
            // What threads make a product's factor of and the first part of the other factor are waited for once as well: a second wait would stand behind the threads' loads.
            let are_factors = ring.block == block
                && (ring.sharers, sharers) == (1, 1)
                && (ring.is_read, uses.is_read) == (true, false)
                && ring.tensors.len() == 1;
            let is_alike = are_factors
                || used(ring) == (block, read, uses_of_it[1])
                    && (ring.sharers == sharers || ring.uses == uses_of_it);
            match load.is_by_warp() {
                // They are few bytes, and one barrier for all of a turn's costs less than one for each.
                true => ring.is_by_warp && ring.block == block,
                false => !ring.is_by_warp && is_alike,
            }
        });
        let number = match shared {
            Some(number) => {
                let ring = &mut rings[number];
                let place = |op: Op<'c>| order.iter().position(|other| *other == op);
                if place(ring.uses[0]).is_none_or(|before| *first < before) {
                    ring.uses[0] = uses_of_it[0];
                }
                if place(ring.read).is_none_or(|before| place(read) < Some(before)) {
                    ring.read = read;
                }
                if place(ring.uses[1]).is_none_or(|behind| *last > behind) {
                    ring.uses[1] = uses_of_it[1];
                }
                ring.tensors.push(tensor);
                ring.sharers = ring.sharers.max(sharers);
                ring.bytes += bytes;
                ring.views.extend(uses.views);
                ring.is_read |= uses.is_read;
                number
            }
            None => {
                rings.push(Ring {
                    block,
                    loads: Vec::new(),
                    fills: Vec::new(),
                    depth,
                    tensors: vec![tensor],
                    slices: Vec::new(),
                    sharers,
                    uses: uses_of_it,
                    read,
                    views: uses.views,
                    is_read: uses.is_read,
                    is_by_warp: load.is_by_warp(),
                    bytes,
                    made: None,
                });
                rings.len() - 1
            }
        };
        let ring = &mut rings[number];
        for (load, slice) in loads {
            ring.loads.push(load.op());
            ring.fills.push(ring.tensors.len() - 1);
            ring.slices.push(slice);
        }
    }
    if rings.iter().all(|ring| ring.is_by_warp) {
        return Err(diag::error(
            kernel.location(),
            "has cute.roles and no cute_nvgpu.tma_load without a barrier; expected one, or no cute.roles",
        ));
    }
    // Views in the order in which they were made, as one may be of another.
    for ring in &mut rings {
        let all: HashSet<_> = ring.views.iter().map(|op| op_key(*op)).collect();
        let in_order = ops.iter().copied().filter(|op| all.contains(&op_key(*op)));
        ring.views = in_order.collect();
        ring.sort_loads(&ops);
    }
    Ok(rings)
}

impl<'c> Ring<'c> {
    /// Puts loads into the order of these ops: the first one of a turn waits for a place, and behind the last one is the next place.
    fn sort_loads(&mut self, ops: &[Op<'c>]) {
        let place = |op: &Op<'c>| self.loads.iter().position(|load| load == op);
        let order: Vec<usize> = ops.iter().filter_map(place).collect();
        self.loads = order.iter().map(|at| self.loads[*at]).collect();
        self.fills = order.iter().map(|at| self.fills[*at]).collect();
        self.slices = order.iter().map(|at| self.slices[*at].clone()).collect();
    }

    /// The tensors that become rings.
    pub(super) fn roots(&self) -> impl Iterator<Item = ValueKey> + '_ {
        self.tensors.iter().map(|tensor| key(*tensor))
    }

    /// The same ring with its places and mbarriers, made at `b`.
    pub(super) fn allocate(self, b: Builder<'c>) -> Result<Self, Failure> {
        let mark = [(RING, b.unit())];
        let mut rings = Vec::new();
        for tensor in &self.tensors {
            let memref = memref_of(*tensor).expected(b, "a tensor")?;
            let ring = ring_of(&memref, self.depth).map_err(|e| b.error(e))?;
            let ty = ring.to_type(b.location)?;
            rings.push(b.value(cute::MEMREF_ALLOCA, &[], ty, &mark)?);
        }
        let made = Made {
            rings,
            barriers: [mbarriers(b, self.depth)?, mbarriers(b, self.depth)?],
        };
        Ok(Self {
            made: Some(made),
            ..self
        })
    }

    fn made(&self, b: Builder<'c>) -> Result<&Made<'c>, Failure> {
        self.made.as_ref().expected(b, "a ring that was made")
    }

    /// Makes its mbarriers: one arrival fills a place, or one of each thread that copies, and one of each warp that computes empties it, in all blocks that use it.
    pub(super) fn init(&self, b: Builder<'c>, warps: i64) -> Result<(), Failure> {
        let made = self.made(b)?;
        let filling = if self.is_by_warp { WARP } else { 1 };
        for place in 0..self.depth {
            for (barriers, count) in made.barriers.iter().zip([filling, warps * self.sharers]) {
                let operands = [*barriers, b.i32(place)?, b.i32(count)?];
                b.op(cute_nvgpu::MBARRIER_INIT, &operands, &[], &[])?;
            }
        }
        Ok(())
    }

    /// One of its mbarriers.
    pub(super) fn barrier(&self, b: Builder<'c>, which: Barrier) -> Result<Val<'c>, Failure> {
        Ok(self.made(b)?.barriers[match which {
            Barrier::Full => 0,
            Barrier::Empty => 1,
        }])
    }

    /// Waits until a place is full, or empty.
    pub(super) fn wait(
        &self,
        b: Builder<'c>,
        which: Barrier,
        [place, parity]: [Val<'c>; 2],
    ) -> Result<(), Failure> {
        let operands = [self.barrier(b, which)?, place, parity];
        b.op(cute_nvgpu::MBARRIER_WAIT, &operands, &[], &[])?;
        Ok(())
    }

    /// Says how many bytes a place is to be filled with: all but the missing ones.
    pub(super) fn expect(
        &self,
        b: Builder<'c>,
        place: Val<'c>,
        missing: Option<Val<'c>>,
    ) -> Result<(), Failure> {
        let mut bytes = b.i32(self.bytes)?;
        if let Some(missing) = missing {
            bytes = b.value(arith::SUBI, &[bytes, missing], b.i32_type(), &[])?;
        }
        expect(b, [self.barrier(b, Barrier::Full)?, place], bytes)
    }

    /// Says that this warp does not need a place any more, by the threads of it that are the first ones: one for each block that loads it.
    pub(super) fn release(
        &self,
        b: Builder<'c>,
        place: Val<'c>,
        (lane, if_any): (Val<'c>, Option<Val<'c>>),
    ) -> Result<(), Failure> {
        let b = b.step("release a buffer");
        if self.is_read {
            if !self.is_by_warp {
                fence_proxy(b)?;
            }
            b.op(nvvm::BAR_WARP_SYNC, &[b.i32(-1)?], &[], &[])?;
        }
        let mut arrives = b.compare(Predicate::Ult, lane, b.i32(self.sharers)?)?;
        if let Some(holds) = if_any {
            arrives = b.value(arith::ANDI, &[arrives, holds], arrives.r#type(), &[])?;
        }
        alone(b, arrives, |b| {
            let bar = self.barrier(b, Barrier::Empty)?;
            match self.sharers {
                1 => b.op(cute_nvgpu::MBARRIER_ARRIVE, &[bar, place], &[], &[])?,
                _ => b.op(
                    cute_nvgpu::MBARRIER_ARRIVE_AT,
                    &[bar, place, lane],
                    &[],
                    &[],
                )?,
            };
            Ok(())
        })
    }

    /// A place of each of its tensors.
    pub(super) fn places(&self, b: Builder<'c>, place: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let made = self.made(b)?;
        let places = made.rings.iter().map(|ring| slice(b, *ring, place));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        for (new, old) in places.iter().zip(&self.tensors) {
            if new.r#type() != old.r#type() {
                return Err(b.error(format!(
                    "a place of a ring of {} is {}, whose alignment differs; expected a tensor whose bytes are a multiple of its alignment",
                    old.r#type(),
                    new.r#type()
                )));
            }
        }
        Ok(places)
    }

    /// The place, and the parity of its phase, so many behind one of them.
    pub(super) fn skip(
        &self,
        b: Builder<'c>,
        [place, phase]: [Val<'c>; 2],
        count: Val<'c>,
    ) -> Result<[Val<'c>; 2], Failure> {
        let (i32_type, depth) = (b.i32_type(), b.i32(self.depth)?);
        let all = b.value(arith::ADDI, &[place, count], i32_type, &[])?;
        let rounds = b.value(arith::DIVUI, &[all, depth], i32_type, &[])?;
        let place = b.value(arith::REMUI, &[all, depth], i32_type, &[])?;
        let odd = b.value(arith::ANDI, &[rounds, b.i32(1)?], i32_type, &[])?;
        let phase = b.value(arith::XORI, &[phase, odd], i32_type, &[])?;
        Ok([place, phase])
    }

    /// The next place, and the parity of its phase, behind one of them.
    pub(super) fn next(
        &self,
        b: Builder<'c>,
        [place, phase]: [Val<'c>; 2],
    ) -> Result<[Val<'c>; 2], Failure> {
        let (i32_type, one) = (b.i32_type(), b.i32(1)?);
        if self.depth == 1 {
            return Ok([place, b.value(arith::XORI, &[phase, one], i32_type, &[])?]);
        }
        let next = b.value(arith::ADDI, &[place, one], i32_type, &[])?;
        let wraps = b.compare(Predicate::Eq, next, b.i32(self.depth)?)?;
        let place = b.value(arith::SELECT, &[wraps, b.i32(0)?, next], i32_type, &[])?;
        let other = b.value(arith::XORI, &[phase, one], i32_type, &[])?;
        let phase = b.value(arith::SELECT, &[wraps, other, phase], i32_type, &[])?;
        Ok([place, phase])
    }
}
