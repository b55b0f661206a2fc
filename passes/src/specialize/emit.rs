//! The part of a kernel that one role has, written anew.

use super::{
    Role, Who,
    compute::{Group, Release, Stored},
    rings::{Barrier, Load, Ring, has_within, is_timed, load_of},
    teams::Section,
    warp,
};
use crate::algorithms::{Arrival, start_load};
use crate::launch::depend;
use crate::mbarriers::alone;
use cute_arith::Predicate;
use cute_ir::ops::{cute_nvgpu, scf};
use cute_ir::{
    Expected, Failure,
    attributes::{STAGES, TEAMS},
    diag,
    mlir::*,
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// The writer of a role's part.
pub(super) struct Emit<'a, 'c> {
    pub(super) role: Role,
    pub(super) rings: &'a [Ring<'c>],
    /// The ops that loads need.
    needed: &'a HashSet<OpKey>,
    /// The tensors that are stored by TMA.
    pub(super) staged: &'a HashSet<ValueKey>,
    pub(super) who: Who<'c>,
    /// True in the thread that starts loads by TMA; none where no other one of its warp is here.
    leads: Option<Val<'c>>,
    /// New values in place of old ones.
    pub(super) mapping: Mapping<'c>,
    /// The next place of each ring, and the parity of its phase.
    pub(super) next: Vec<[Val<'c>; 2]>,
    /// Products that may still go on, the oldest first.
    pub(super) open: Vec<Group<'c>>,
    /// The fragments that are computed of sums that the last wait was for.
    pub(super) over: Vec<Val<'c>>,
    /// The stores by TMA that may still read.
    pub(super) stored: Stored,
    /// True where a store was started before; none where none can have been.
    pub(super) has_stored: Option<Val<'c>>,
    /// The tensors that threads wrote and no barrier followed, of those that are stored by TMA.
    pub(super) written: HashSet<ValueKey>,
    /// The products that teams start one after another.
    section: Option<Section<'c>>,
    /// True where the role has waited for what is before the kernel in the stream, on every way here.
    has_waited: bool,
}

impl<'a, 'c> Emit<'a, 'c> {
    pub(super) fn new(
        role: Role,
        rings: &'a [Ring<'c>],
        needed: &'a HashSet<OpKey>,
        staged: &'a HashSet<ValueKey>,
        who: Who<'c>,
        leads: Option<Val<'c>>,
    ) -> Self {
        Self {
            role,
            rings,
            needed,
            staged,
            who,
            leads,
            mapping: Mapping::new(),
            next: Vec::new(),
            open: Vec::new(),
            over: Vec::new(),
            stored: Stored::default(),
            has_stored: None,
            written: HashSet::new(),
            section: None,
            has_waited: role == Role::Computes,
        }
    }

    /// Writes the role's part of a kernel's ops at `b`, where `mapping` has what all roles see.
    pub(super) fn all(
        mut self,
        ops: &[Op<'c>],
        b: Builder<'c>,
        mapping: Mapping<'c>,
    ) -> Result<(), Failure> {
        self.mapping = mapping;
        let zero = b.i32(0)?;
        self.next = vec![[zero, zero]; self.rings.len()];
        for op in ops {
            self.op(*op, b.at_location(op.location()))?;
        }
        if self.role == Role::Computes {
            self.drain(b)?;
            self.finish_stores(b)?;
        }
        Ok(())
    }

    /// The new value in place of an old one.
    pub(super) fn mapped(&self, value: Val<'c>) -> Val<'c> {
        self.mapping.get(&key(value)).copied().unwrap_or(value)
    }

    /// Writes a block at `b` but for its end; returns what the end is given.
    fn block(&mut self, block: Blk<'c>, b: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let mut ops = ops_of(block);
        let end = ops.pop().expected(b, "an op that ends the block")?;
        for op in ops {
            self.op(op, b.at_location(op.location()))?;
        }
        Ok(operands_of(end)
            .into_iter()
            .map(|value| self.mapped(value))
            .collect())
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        if load_of(op).is_some() {
            return match self.role {
                Role::Copies => {
                    self.wait_for_kernels_before(b)?;
                    self.load(op, b)
                }
                Role::Computes => Ok(()),
            };
        }
        // What all roles see was made before.
        let results = results_of(op);
        let is_made = |value: &Val<'c>| self.mapping.contains_key(&key(*value));
        let is_ring = |value: &Val<'c>| self.rings.iter().any(|ring| ring.tensors.contains(value));
        let is_memory = name_of(op) == cute_ir::ops::cute::MEMREF_ALLOCA;
        if is_memory && results.iter().any(|value| is_made(value) || is_ring(value)) {
            return Ok(());
        }
        let is_view_of_ring = |ring: &Ring<'c>| ring.views.contains(&op);
        let is_slice = |ring: &Ring<'c>| ring.slices.iter().flatten().any(|view| *view == op);
        if self
            .rings
            .iter()
            .any(|ring| is_view_of_ring(ring) || is_slice(ring))
        {
            return Ok(());
        }
        if self.role == Role::Copies {
            if has_within(op, |op| load_of(op).is_some()) {
                // The first loads of an inner loop are known before it; around it, not yet.
                let is_turns = |op: Op<'c>| scf::For::of(op).is_some();
                let loads = |op: Op<'c>| has_within(op, |op| load_of(op).is_some());
                let is_inner = is_turns(op) && !has_within(op, |op| is_turns(op) && loads(op));
                return match is_inner && !self.has_waited {
                    true => self.turns_behind_wait(op, b),
                    false => self.regions(op, b),
                };
            }
            if self.needed.contains(&op_key(op)) {
                if !is_pure(op) {
                    self.wait_for_kernels_before(b)?;
                }
                b.clone_op(op, &mut self.mapping);
            }
            return Ok(());
        }
        if let Some(thread) = self.thread_of_team(op, b)? {
            self.mapping.insert(key(result_of(op, 0)), thread);
            return Ok(());
        }
        let ordered = self.who.team.zip(self.section);
        if let Some((team, section)) = ordered.filter(|(_, section)| section.ends[0] == op) {
            self.wait_for_team(b, team, section)?;
        }
        for (at, ring) in self.rings.iter().enumerate() {
            if ring.uses[0] == op {
                self.enter_place(at, ring, b)?;
            }
            if ring.read == op {
                let b = b.step("wait for copies");
                ring.wait(b, Barrier::Full, self.next[at])?;
            }
        }
        if has_within(op, is_timed) {
            self.drain(b)?;
            self.regions(op, b)?;
        } else {
            self.compute(op, b)?;
        }
        for (at, ring) in self.rings.iter().enumerate() {
            if ring.uses[1] == op {
                let place = self.next[at][0];
                self.next[at] = ring.next(b, self.next[at])?;
                self.release(
                    Release {
                        ring: at,
                        place,
                        is_certain: true,
                    },
                    b,
                )?;
            }
        }
        if let Some((team, _)) = ordered.filter(|(_, section)| section.ends[1] == op) {
            self.let_next_team(b, team)?;
        }
        Ok(())
    }

    /// Waits for what is before the kernel in the stream, unless that is done: what is read from here on may be from there.
    fn wait_for_kernels_before(&mut self, b: Builder<'c>) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.has_waited, true) {
            depend(b, "wait")?;
        }
        Ok(())
    }

    /// A loop behind a wait for what is before the kernel in the stream. Where there may be no turn, both are in a branch: what the loop needs is computed
    /// there as well, and could not stand before the wait if that were outside.
    fn turns_behind_wait(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let turns = scf::For::of(op).expected(op, "a loop")?;
        let bounds = [turns.lower_bound(), turns.upper_bound()].map(|value| self.mapped(value));
        if let [Some(from), Some(to)] = bounds.map(constant_of)
            && from < to
        {
            self.wait_for_kernels_before(b)?;
            return self.regions(op, b);
        }
        let predicate = match attribute_of(op, "unsignedCmp") {
            Some(_) => Predicate::Ult,
            None => Predicate::Slt,
        };
        let condition = b.compare(predicate, bounds[0], bounds[1])?;
        let within = self.rings_within(op);
        let before: Vec<_> = within.iter().flat_map(|at| self.next[*at]).collect();
        let carried: Vec<_> = operands_of(op).split_off(3);
        let carried: Vec<_> = carried
            .into_iter()
            .map(|value| self.mapped(value))
            .chain(before)
            .collect();
        let types: Vec<_> = carried.iter().map(|value| value.r#type()).collect();
        let ((of_then, then), (of_else, other)) =
            (Detached::with_block(&[]), Detached::with_block(&[]));
        let branch = b.with_regions(scf::IF, &[condition], &types, &[], vec![of_then, of_else])?;
        let [then, other] =
            [then, other].map(|block| Builder::at_end(b.context, block, b.location));
        self.wait_for_kernels_before(then)?;
        self.regions(op, then)?;
        self.has_waited = false;
        let left = results_of(op).into_iter().map(|value| self.mapped(value));
        let left: Vec<_> = left
            .chain(within.iter().flat_map(|at| self.next[*at]))
            .collect();
        then.op(scf::YIELD, &left, &[], &[])?;
        other.op(scf::YIELD, &carried, &[], &[])?;
        let mut results = results_of(branch);
        let places = results.split_off(results_of(op).len());
        for (old, new) in results_of(op).into_iter().zip(results) {
            self.mapping.insert(key(old), new);
        }
        self.enter(&within, &places);
        Ok(())
    }

    /// Does what one thread of those who copy does.
    fn by_one(
        &self,
        b: Builder<'c>,
        write: impl FnOnce(Builder<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self.leads {
            Some(leads) => alone(b, leads, write),
            None => write(b),
        }
    }

    /// Starts a load, the first of a place behind a wait for it.
    fn load(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let of_load = |ring: &Ring<'c>| ring.loads.iter().position(|load| *load == op);
        let mut all = self.rings.iter().enumerate();
        let found = all.find_map(|(at, ring)| Some((at, ring, of_load(ring)?)));
        let (at, ring, index) = found.expected(b, "a ring of the load")?;
        let [place, phase] = self.next[at];
        if index == 0 {
            // A new ring is empty: its first waits are for the phase before the first.
            let b = b.step("acquire a buffer");
            let one = b.i32(1)?;
            let parity = b.value(cute_ir::ops::arith::XORI, &[phase, one], b.i32_type(), &[])?;
            ring.wait(b, Barrier::Empty, [place, parity])?;
            if !ring.is_by_warp {
                let missing = ring.missing_bytes(b, &self.mapping)?;
                self.by_one(b, |b| ring.expect(b, place, missing))?;
            }
        }
        let is_last = index + 1 == ring.loads.len();
        let to = ring.places(b, place)?;
        let to = *to
            .get(ring.fills[index])
            .expected(b, "a tensor of the load")?;
        match load_of(op).expected(b, "a load")? {
            Load::Tma(load) => self.load_by_tma(b, load, (ring, index), [place, to])?,
            Load::Warp(load) => {
                let mapped = |value| self.mapped(value);
                let within = load.coords().zip(load.end());
                let within = within.map(|(coords, end)| (mapped(coords), mapped(end)));
                warp::load(b, [mapped(load.source()), to], within, self.who.lane)?;
                if is_last {
                    let full = [ring.barrier(b, Barrier::Full)?, place];
                    let noinc = [("noinc", b.unit())];
                    b.op(cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE, &full, &[], &noinc)?;
                }
            }
        }
        if is_last {
            self.next[at] = ring.next(b, self.next[at])?;
        }
        Ok(())
    }

    /// Starts a load by TMA, that of a number among those of a ring, into its part of a place of the ring.
    fn load_by_tma(
        &self,
        b: Builder<'c>,
        load: cute_nvgpu::TmaLoad<'c>,
        (ring, index): (&Ring<'c>, usize),
        [place, mut to]: [Val<'c>; 2],
    ) -> Result<(), Failure> {
        let coords: Vec<_> = load
            .coords()
            .into_iter()
            .map(|value| self.mapped(value))
            .collect();
        if let Some(slice) = ring.slices.get(index).filter(|slice| !slice.is_empty()) {
            let mut mapping = self.mapping.clone();
            mapping.insert(key(ring.tensors[ring.fills[index]]), to);
            for view in slice {
                to = result_of(b.clone_op(*view, &mut mapping), 0);
            }
        }
        let arrival = Arrival {
            barrier: Some((ring.barrier(b, Barrier::Full)?, place)),
            mask: load.mask().map(|mask| self.mapped(mask)),
            rest: None,
            policy: string_of(load.op(), "policy"),
        };
        self.by_one(b, |b| {
            start_load(b, self.mapped(load.atom()), &coords, to, arrival)
        })
    }

    /// Takes the next place of a ring: its tensors are that from here on. What is computed of where it lies stands in front of the wait for it.
    fn enter_place(&mut self, at: usize, ring: &Ring<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let b = b.step("wait for copies");
        let [place, _] = self.next[at];
        for (old, new) in ring.tensors.iter().zip(ring.places(b, place)?) {
            self.mapping.insert(key(*old), new);
        }
        for view in &ring.views {
            b.at_location(view.location())
                .clone_op(*view, &mut self.mapping);
        }
        Ok(())
    }

    /// The rings that are filled within an op.
    fn rings_within(&self, op: Op<'c>) -> Vec<usize> {
        let loads: HashSet<_> = nested_ops(op).into_iter().map(op_key).collect();
        let filled = |ring: &Ring<'c>| ring.loads.iter().any(|load| loads.contains(&op_key(*load)));
        let all = self.rings.iter().enumerate();
        all.filter(|(_, ring)| filled(ring))
            .map(|(at, _)| at)
            .collect()
    }

    /// A loop or a branch, which carries how far its rings are besides.
    fn regions(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let has_waited = self.has_waited;
        if scf::For::of(op).is_some() {
            self.turns(op, b)?;
            // There may be no turn.
            self.has_waited = has_waited;
            return Ok(());
        }
        if name_of(op) == scf::IF {
            self.branch(op, b)?;
            self.has_waited = has_waited;
            return Ok(());
        }
        Err(diag::error(
            op.location(),
            format!(
                "'{}' op has loads, stores or products of warpgroups within, which cute-specialize-warps puts barriers between; expected an \
                 scf.for or an scf.if around them",
                name_of(op)
            ),
        ))
    }

    fn kept_attributes(&self, op: Op<'c>) -> Vec<(&'c str, Attribute<'c>)> {
        let of_teams = |name: &str| name == TEAMS && self.role == Role::Copies;
        let all = attributes_of(op).into_iter();
        all.filter(|(name, _)| *name != STAGES && !of_teams(name))
            .collect()
    }

    fn turns(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let body = body_of(op, 0).expected(op, "a body")?;
        let within = self.rings_within(op);
        let carried = match self.role {
            Role::Computes => self.carried(op),
            Role::Copies => None,
        };
        let released: &[usize] = carried.as_ref().map_or(&[], |carried| &carried.rings);
        let mut initial: Vec<_> = operands_of(op)
            .into_iter()
            .map(|value| self.mapped(value))
            .collect();
        let team = self.team_of(op);
        let mut places = Vec::new();
        if let (Some(team), [from, to, step, ..]) = (team, &initial[..]) {
            let own = self.own_turns(b, team, [*from, *to, *step])?;
            initial.splice(..3, own);
            for at in &within {
                let ring = self.rings.get(*at).expected(op, "a ring")?;
                places.push((*at, self.places_of_turn(b, op, ring)?));
            }
            self.skip(b, &places, team.number)?;
        }
        for at in &within {
            initial.extend(self.next[*at]);
        }
        let none = b.i32(-1)?;
        initial.extend(released.iter().map(|_| none));
        let stores = self.role == Role::Computes && has_within(op, is_store);
        if stores {
            initial.push(match self.has_stored {
                Some(before) => before,
                None => b.constant(b.ty("i1")?, 0)?,
            });
        }
        if let Some(team) = team {
            initial.push(self.first_parity(b, team)?);
        }
        let own = results_of(op).len();
        let more: Vec<Type<'c>> = initial[3 + own..]
            .iter()
            .map(|value| value.r#type())
            .collect();
        let types = results_of(op).into_iter().map(|value| value.r#type());
        let types: Vec<Type<'c>> = types.chain(more.iter().copied()).collect();
        let arguments: Vec<_> = arguments_of(body)
            .into_iter()
            .map(|value| (value.r#type(), location_of(value)))
            .chain(more.into_iter().map(|ty| (ty, b.location)))
            .collect();
        let (region, block) = Detached::with_block(&arguments);
        let new = b.with_regions(
            scf::FOR,
            &initial,
            &types,
            &self.kept_attributes(op),
            vec![region],
        )?;
        for (old, new) in arguments_of(body).into_iter().zip(arguments_of(block)) {
            self.mapping.insert(key(old), new);
        }
        let mut behind = arguments_of(block).split_off(1 + own);
        if team.is_some() {
            let parity = behind.pop().expected(op, "a parity")?;
            self.section = self.section(body, parity);
        }
        if stores {
            self.has_stored = behind.pop();
        }
        let pending = self.enter(&within, &behind);
        self.open = carried
            .iter()
            .map(|carried| carried.group(&pending))
            .collect();
        if self.role == Role::Computes {
            self.stored = self.stored.before_turns(body);
            self.written.clear();
        }
        let inner = Builder::at_end(b.context, block, b.location);
        let mut yielded = self.block(body, inner)?;
        let mut left = Vec::new();
        if carried.is_some() {
            let group = self.open.pop().expected(op, "a product that goes on")?;
            self.drain(inner)?;
            left = group.releases;
        } else {
            self.drain(inner)?;
        }
        if let Some(team) = team {
            // The places of the others' turns.
            self.skip(inner, &places, inner.i32(team.count - 1)?)?;
        }
        for at in &within {
            yielded.extend(self.next[*at]);
        }
        for ring in released {
            let place = left.iter().find(|release| release.ring == *ring);
            yielded.push(place.expected(op, "a place that is released")?.place);
        }
        if stores {
            yielded.push(self.has_stored.expected(op, "a store")?);
        }
        if team.is_some() {
            yielded.push(match self.section.take() {
                Some(section) => self.next_parity(inner, section)?,
                None => inner.i32(0)?,
            });
        }
        inner.op(scf::YIELD, &yielded, &[], &[])?;
        let mut results = results_of(new);
        let mut behind = results.split_off(own);
        if team.is_some() {
            behind.pop();
        }
        if stores {
            self.has_stored = behind.pop();
        }
        for (old, new) in results_of(op).into_iter().zip(results) {
            self.mapping.insert(key(old), new);
        }
        let pending = self.enter(&within, &behind);
        self.open = carried
            .iter()
            .map(|carried| carried.group(&pending))
            .collect();
        Ok(())
    }

    /// Takes the places of rings, and what is left behind them, of the values that a loop carries.
    fn enter(&mut self, within: &[usize], values: &[Val<'c>]) -> Vec<Val<'c>> {
        let (of_rings, rest) = values.split_at(2 * within.len());
        for (at, pair) in within.iter().zip(of_rings.chunks(2)) {
            self.next[*at] = [pair[0], pair[1]];
        }
        rest.to_vec()
    }

    fn branch(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let within = self.rings_within(op);
        let before: Vec<_> = within.iter().map(|at| self.next[*at]).collect();
        let types = results_of(op).into_iter().map(|value| value.r#type());
        let stores = self.role == Role::Computes && has_within(op, is_store);
        let before_stores = match self.has_stored {
            Some(before) => before,
            None => b.constant(b.ty("i1")?, 0)?,
        };
        let mut types: Vec<Type<'c>> = types
            .chain((0..2 * within.len()).map(|_| b.i32_type()))
            .collect();
        types.extend(stores.then_some(before_stores.r#type()));
        let ([of_then, of_else], [then, other]) = {
            let (one, first) = Detached::with_block(&[]);
            let (two, second) = Detached::with_block(&[]);
            ([one, two], [first, second])
        };
        let condition: Vec<_> = operands_of(op)
            .into_iter()
            .map(|value| self.mapped(value))
            .collect();
        let regions = vec![of_then, of_else];
        let new = b.with_regions(
            scf::IF,
            &condition,
            &types,
            &self.kept_attributes(op),
            regions,
        )?;
        let stored = self.stored.clone();
        let has_waited = self.has_waited;
        let mut behind = Stored::default();
        for (index, block) in [then, other].into_iter().enumerate() {
            let inner = Builder::at_end(b.context, block, b.location);
            self.has_waited = has_waited;
            for (at, next) in within.iter().zip(&before) {
                self.next[*at] = *next;
            }
            self.stored = stored.clone();
            if stores {
                self.has_stored = Some(before_stores);
            }
            let mut yielded = match body_of(op, index) {
                Some(old) => self.block(old, inner)?,
                None => Vec::new(),
            };
            if self.role == Role::Computes {
                self.drain(inner)?;
            }
            for at in &within {
                yielded.extend(self.next[*at]);
            }
            if stores {
                yielded.push(self.has_stored.expected(op, "a store")?);
            }
            inner.op(scf::YIELD, &yielded, &[], &[])?;
            behind = behind.joined(&self.stored);
        }
        self.stored = behind;
        let mut results = results_of(new);
        let mut places = results.split_off(results_of(op).len());
        if stores {
            self.has_stored = places.pop();
        }
        for (old, new) in results_of(op).into_iter().zip(results) {
            self.mapping.insert(key(old), new);
        }
        self.enter(&within, &places);
        Ok(())
    }
}

/// Tells whether an op is a store by TMA.
fn is_store(op: Op<'_>) -> bool {
    cute_nvgpu::TmaStore::of(op).is_some()
}
