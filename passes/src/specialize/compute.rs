//! The part of those who compute: products that go on while their warps do, and stores by TMA.

use super::{
    emit::Emit,
    rings::{Ring, asynchronous_product, has_within, is_timed, left_in_registers},
};
use crate::mbarriers::{alone, fence_proxy};
use crate::memory::{is_memory, root_of};
use crate::synchronize::barrier_of;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, nvvm};
use cute_ir::{Expected, Failure, mlir::*};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

/// A place of a ring that is to be released.
#[derive(Clone, Copy)]
pub(super) struct Release<'c> {
    pub(super) ring: usize,
    pub(super) place: Val<'c>,
    /// False of a place that may be none, which is -1.
    pub(super) is_certain: bool,
}

/// Products that were started and committed together.
pub(super) struct Group<'c> {
    /// Their sums, in the kernel as it was.
    sums: Val<'c>,
    /// The fragment that they take A from, if they do.
    left: Option<Val<'c>>,
    /// The fragments that are computed of their sums.
    computed: Vec<Val<'c>>,
    /// The places that are released when they are over.
    pub(super) releases: Vec<Release<'c>>,
}

/// The product that a loop lets go on into its next turn.
pub(super) struct Carried<'c> {
    sums: Val<'c>,
    /// The fragment that it takes A from, if it does.
    left: Option<Val<'c>>,
    /// The rings whose places are released when it is over.
    pub(super) rings: Vec<usize>,
}

impl<'c> Carried<'c> {
    /// The product as one that goes on, with the places that are pending.
    pub(super) fn group(&self, pending: &[Val<'c>]) -> Group<'c> {
        let releases = self.rings.iter().zip(pending);
        let releases = releases.map(|(ring, place)| Release {
            ring: *ring,
            place: *place,
            is_certain: false,
        });
        Group {
            sums: self.sums,
            left: self.left,
            computed: Vec::new(),
            releases: releases.collect(),
        }
    }
}

/// The stores by TMA that may still read shared memory: for each tensor how many were committed behind the last one of it.
#[derive(Clone, Default)]
pub(super) struct Stored(HashMap<ValueKey, i64>);

impl Stored {
    fn store(&mut self, tensor: ValueKey) {
        for behind in self.0.values_mut() {
            *behind = behind.saturating_add(1);
        }
        self.0.insert(tensor, 0);
    }

    /// Joins two states: all that may be the case where one of them is.
    pub(super) fn joined(mut self, other: &Self) -> Self {
        for (tensor, behind) in &other.0 {
            let own = self.0.entry(*tensor).or_insert(*behind);
            *own = (*own).min(*behind);
        }
        self
    }

    /// The state that may be found at the start of each turn of a loop with this body.
    pub(super) fn before_turns(&self, body: Blk<'_>) -> Self {
        self.clone().joined(&Self::default().behind(body))
    }

    fn behind(mut self, block: Blk<'_>) -> Self {
        for op in ops_of(block) {
            if let Some(store) = cute_nvgpu::TmaStore::of(op) {
                self.store(key(root_of(store.source())));
            } else if op.region_count() > 0 {
                for inner in blocks_of(op) {
                    let within = self.clone().behind(inner);
                    self = self.joined(&within);
                }
            } else {
                for written in touched(op) {
                    self.0.remove(&written);
                }
            }
        }
        self
    }
}

/// The roots of the tensors that an op, or one within it, is given; nothing of views.
fn touched(op: Op<'_>) -> HashSet<ValueKey> {
    let mut found = HashSet::new();
    for op in std::iter::once(op).chain(nested_ops(op)) {
        if op.region_count() == 0 && is_pure(op) {
            continue;
        }
        let tensors = operands_of(op)
            .into_iter()
            .filter(|value| is_memory(*value));
        found.extend(tensors.map(|value| key(root_of(value))));
    }
    found
}

/// The fragments that a product's block computes of its sums, one element of one.
fn computed_of<'c>(product: Op<'c>, sums: Val<'c>) -> Vec<Val<'c>> {
    let root = root_of(sums);
    let ops = block_of(product).map(ops_of).unwrap_or_default();
    let computed = ops.into_iter().filter_map(|op| {
        let tensors = cute::Transform::of(op)?.tensors();
        let (written, read) = tensors.split_last()?;
        let is_read = read.iter().any(|tensor| root_of(*tensor) == root);
        (is_read
            && root_of(*written) != root
            && defining_op(*written).is_some_and(|op| name_of(op) == cute::MMA_MAKE_FRAGMENT))
        .then_some(*written)
    });
    let mut found: Vec<Val<'c>> = Vec::new();
    for value in computed {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The tensors of a kernel that are stored by TMA.
pub(super) fn staged(kernel: Op<'_>) -> HashSet<ValueKey> {
    let stores = nested_ops(kernel)
        .into_iter()
        .filter_map(cute_nvgpu::TmaStore::of);
    stores.map(|store| key(root_of(store.source()))).collect()
}

impl<'c> Emit<'_, 'c> {
    /// The product that a loop may let go on into its next turn: the last one of its body, if nothing touches its sums before the next one
    /// is started.
    pub(super) fn carried(&self, turns: Op<'c>) -> Option<Carried<'c>> {
        let body = body_of(turns, 0)?;
        let ops = ops_of(body);
        let last = ops
            .iter()
            .rposition(|op| asynchronous_product(*op).is_some())?;
        let first = ops
            .iter()
            .position(|op| asynchronous_product(*op).is_some())?;
        let (_, sums) = asynchronous_product(ops[last])?;
        let left = left_in_registers(ops[last]);
        let held = std::iter::once(sums).chain(left);
        let held: HashSet<_> = held.map(|value| key(root_of(value))).collect();
        let lets = |op: &Op<'c>| !has_within(*op, is_timed) && touched(*op).is_disjoint(&held);
        if !ops[last + 1..].iter().chain(&ops[..first]).all(lets) {
            return None;
        }
        // Registers that are made in the body are gone with its turn.
        let is_made = |value| defining_op(root_of(value)).and_then(block_of) == Some(body);
        if is_made(sums) || left.is_some_and(is_made) {
            return None;
        }
        let rings = self.rings.iter().enumerate();
        let is_released = |op: Op<'c>| ops[last..].contains(&op);
        let rings = rings.filter(|(_, ring)| ring.block == body && is_released(ring.uses[1]));
        let rings: Vec<_> = rings.map(|(at, _)| at).collect();
        if rings.iter().any(|at| self.holds_up(&ops[..=first], *at)) {
            return None;
        }
        Some(Carried { sums, left, rings })
    }

    /// Tells whether a turn up to its first product waits for a load that is started behind one into the only place of a ring: a product that is to go on
    /// until then would never release that place.
    fn holds_up(&self, begin: &[Op<'c>], ring: usize) -> bool {
        let Some(ring) = self.rings.get(ring).filter(|ring| ring.depth == 1) else {
            return false;
        };
        let place = |op: &Op<'c>| ops_of(ring.block).iter().position(|other| other == op);
        let first = ring.loads.iter().filter_map(place).min();
        let awaited = |other: &&Ring<'c>| other.block == ring.block && begin.contains(&other.read);
        let awaited = self.rings.iter().filter(awaited);
        let last = awaited
            .flat_map(|other| &other.loads)
            .filter_map(place)
            .max();
        first <= last
    }

    /// An op that is neither a load nor a loop or a branch around something that is written anew.
    pub(super) fn compute(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        if let Some((_, sums)) = asynchronous_product(op) {
            return self.product(op, sums, b);
        }
        if let Some(store) = cute_nvgpu::TmaStore::of(op) {
            return self.store(op, key(root_of(store.source())), b);
        }
        if op.region_count() == 0 && is_pure(op) {
            b.clone_op(op, &mut self.mapping);
            return Ok(());
        }
        let touched = touched(op);
        let is_touched = |group: &Group<'c>| {
            let mut held = std::iter::once(group.sums).chain(group.left);
            held.any(|value| touched.contains(&key(root_of(value))))
        };
        if let Some(at) = self.open.iter().rposition(is_touched) {
            self.wait(at + 1, b)?;
        }
        let staged: Vec<_> = touched
            .iter()
            .filter(|root| self.staged.contains(*root))
            .copied()
            .collect();
        let behind = staged
            .iter()
            .filter_map(|root| self.stored.0.get(root))
            .min()
            .copied();
        if let Some(behind) = behind {
            self.wait_for_stores(b, behind)?;
        }
        if let Some(sum) = cute::BlockClusterSum::of(op) {
            return self.cluster_sum(sum, b);
        }
        b.clone_op(op, &mut self.mapping);
        self.written.extend(staged);
        Ok(())
    }

    /// Starts a product, and lets one at most go on beside it.
    fn product(&mut self, op: Op<'c>, sums: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let left = left_in_registers(op);
        // Where turns are written out, nothing else keeps what a turn computes of its sums ahead of the next product, which writes their registers.
        let computed = computed_of(op, sums);
        self.over.retain(|value| !computed.contains(value));
        let fenced = std::iter::once(sums).chain(left);
        let fenced = fenced.chain(computed.iter().copied());
        let fenced: Vec<_> = fenced.map(|value| self.mapped(value)).collect();
        b.op(cute_nvgpu::WGMMA_FENCE, &fenced, &[], &[])?;
        b.clone_op(op, &mut self.mapping);
        b.op(cute_nvgpu::WGMMA_COMMIT_GROUP, &[], &[], &[])?;
        self.open.push(Group {
            sums,
            left,
            computed,
            releases: Vec::new(),
        });
        self.wait(self.open.len() - 1, b)
    }

    /// Waits for the oldest products, so many groups of them, and releases what they read.
    fn wait(&mut self, count: usize, b: Builder<'c>) -> Result<(), Failure> {
        if count == 0 {
            return Ok(());
        }
        let pending = i64::try_from(self.open.len() - count).unwrap_or(0);
        let over: Vec<_> = self.open.drain(..count).collect();
        let mut sums: Vec<Val<'c>> = Vec::new();
        for group in &over {
            let own = self.mapped(group.sums);
            if !sums.contains(&own) {
                sums.push(own);
            }
        }
        // What is computed of sums that were waited for before is computed while those that are waited for now are multiplied.
        let before = std::mem::take(&mut self.over);
        for value in before {
            let own = self.mapped(value);
            if !sums.contains(&own) {
                sums.push(own);
            }
        }
        for group in &over {
            self.over.extend_from_slice(&group.computed);
        }
        let b = b.step("wait for products");
        let pending = [("pending", b.integer(b.i32_type(), pending))];
        b.op(cute_nvgpu::WGMMA_WAIT_GROUP, &sums, &[], &pending)?;
        for release in over.into_iter().flat_map(|group| group.releases) {
            self.release_now(release, b)?;
        }
        Ok(())
    }

    /// Waits for all products.
    pub(super) fn drain(&mut self, b: Builder<'c>) -> Result<(), Failure> {
        self.wait(self.open.len(), b)
    }

    /// Releases a place: as soon as the products that were started are over, or now.
    pub(super) fn release(&mut self, release: Release<'c>, b: Builder<'c>) -> Result<(), Failure> {
        match self.open.last_mut() {
            Some(group) => {
                group.releases.push(release);
                Ok(())
            }
            None => self.release_now(release, b),
        }
    }

    fn release_now(&self, release: Release<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let ring = self.rings.get(release.ring).expected(b, "a ring")?;
        let is_one = match release.is_certain {
            true => None,
            false => Some(b.compare(Predicate::Sge, release.place, b.i32(0)?)?),
        };
        ring.release(b, release.place, (self.who.lane, is_one))
    }

    /// A barrier of those who compute.
    fn barrier(&self, b: Builder<'c>) -> Result<(), Failure> {
        barrier_of(b, self.who.together)?;
        Ok(())
    }

    /// Waits until at most so many stores may still read shared memory.
    fn wait_for_stores(&mut self, b: Builder<'c>, behind: i64) -> Result<(), Failure> {
        let b = b.step("wait for stores");
        let has_stored = self.has_stored.expected(b, "a store")?;
        let waits = b.value(
            arith::ANDI,
            &[self.who.is_first, has_stored],
            has_stored.r#type(),
            &[],
        )?;
        alone(b, waits, |b| {
            let attributes = [
                ("group", b.integer(b.i32_type(), behind)),
                ("read", b.unit()),
            ];
            b.op(nvvm::CP_ASYNC_BULK_WAIT_GROUP, &[], &[], &attributes)?;
            Ok(())
        })?;
        self.barrier(b)?;
        self.stored.0.retain(|_, own| *own < behind);
        Ok(())
    }

    /// Stores a tensor by TMA, behind a fence and a barrier of those who wrote it.
    fn store(&mut self, op: Op<'c>, tensor: ValueKey, b: Builder<'c>) -> Result<(), Failure> {
        if self.written.contains(&tensor) {
            fence_proxy(b)?;
            self.barrier(b)?;
            self.written.clear();
        }
        let mut mapping = self.mapping.clone();
        alone(b, self.who.is_first, |b| {
            b.clone_op(op, &mut mapping);
            b.op(nvvm::CP_ASYNC_BULK_COMMIT_GROUP, &[], &[], &[])?;
            Ok(())
        })?;
        self.stored.store(tensor);
        self.has_stored = Some(b.constant(b.ty("i1")?, 1)?);
        Ok(())
    }

    /// Waits until no store reads any more, before shared memory is gone with the block.
    pub(super) fn finish_stores(&mut self, b: Builder<'c>) -> Result<(), Failure> {
        let Some(has_stored) = self.has_stored else {
            return Ok(());
        };
        let waits = b.value(
            arith::ANDI,
            &[self.who.is_first, has_stored],
            has_stored.r#type(),
            &[],
        )?;
        alone(b.step("wait for stores"), waits, |b| {
            let attributes = [("group", b.integer(b.i32_type(), 0)), ("read", b.unit())];
            b.op(nvvm::CP_ASYNC_BULK_WAIT_GROUP, &[], &[], &attributes)?;
            Ok(())
        })
    }
}
