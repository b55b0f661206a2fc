//! Teams of those who compute, which take the turns of a loop in turn.
//!
//! The products of a turn are started when those of the turn before have all been: a team waits for an mbarrier of its own, at which the team before it
//! arrives behind its last product. So one multiplies at a time, and the sums of another go out meanwhile (CUTLASS: ping-pong).

use super::{
    BARRIER,
    emit::Emit,
    rings::{Ring, asynchronous_product, has_within},
};
use crate::{
    arch::{WARP, WARPGROUP},
    divergence::Together,
    mbarriers::{alone, mbarriers},
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute_nvgpu, gpu, scf};
use cute_ir::{Expected, Failure, attributes::TEAMS, diag, mlir::*};
use melior::ir::{ValueLike, operation::OperationLike};

/// The teams of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Teams {
    /// The number of teams.
    pub(super) count: i64,
    /// Threads of each.
    pub(super) threads: i64,
}

/// The team of a thread.
#[derive(Clone, Copy)]
pub(super) struct Team<'c> {
    /// Its number.
    pub(super) number: Val<'c>,
    /// The index of this thread among those of its team.
    pub(super) thread: Val<'c>,
    /// The number of teams.
    pub(super) count: i64,
    /// The mbarriers that they wait for, one for each.
    order: Val<'c>,
}

/// The products of a turn of the teams' loop.
#[derive(Clone, Copy)]
pub(super) struct Section<'c> {
    /// The first and the last op of the body with products within.
    pub(super) ends: [Op<'c>; 2],
    /// The parity of the phase of the team's mbarrier.
    parity: Val<'c>,
}

impl Teams {
    /// The teams of a kernel with so many threads that compute. Errors: several loops with teams, or one that is within another op; threads that are no
    /// whole warpgroups of each.
    pub(super) fn of<'c>(kernel: Op<'c>, threads: i64) -> Result<Self, Failure> {
        let mut all = nested_ops(kernel)
            .into_iter()
            .filter(|op| attribute_of(*op, TEAMS).is_some());
        let Some(turns) = all.next() else {
            return Ok(Self { count: 1, threads });
        };
        let refuse = |op: Op<'c>, what: &str| Err(diag::error(op.location(), what));
        if let Some(other) = all.next() {
            return refuse(
                other,
                "has cute.teams, as another loop of the kernel has; expected one such loop",
            );
        }
        if parent_op(turns) != Some(kernel) || scf::For::of(turns).is_none() {
            return refuse(
                turns,
                "has cute.teams; expected it on an scf.for that is in no other loop or branch of the kernel",
            );
        }
        let count = integer_of(turns, TEAMS).unwrap_or(1).max(1);
        if threads % (count * WARPGROUP) != 0 {
            return Err(diag::error(
                turns.location(),
                format!(
                    "has {TEAMS} of {count}, and {} warpgroups of the block compute; expected as many for each team",
                    threads / WARPGROUP
                ),
            ));
        }
        Ok(Self {
            count,
            threads: threads / count,
        })
    }

    /// Their barriers.
    pub(super) fn together(self) -> Together {
        Together {
            number: BARRIER,
            threads: self.threads,
            teams: self.count,
        }
    }

    /// The mbarriers by which they take turns; none of one team.
    pub(super) fn allocate<'c>(self, b: Builder<'c>) -> Result<Option<Val<'c>>, Failure> {
        match self.count {
            1 => Ok(None),
            count => mbarriers(b, count).map(Some),
        }
    }

    /// Makes the mbarriers, at which each warp of the team before arrives.
    pub(super) fn init<'c>(self, b: Builder<'c>, order: Option<Val<'c>>) -> Result<(), Failure> {
        let Some(order) = order else {
            return Ok(());
        };
        for team in 0..self.count {
            let operands = [order, b.i32(team)?, b.i32(self.threads / WARP)?];
            b.op(cute_nvgpu::MBARRIER_INIT, &operands, &[], &[])?;
        }
        Ok(())
    }

    /// The team of a thread, by its number in the block and that of its warp.
    pub(super) fn team<'c>(
        self,
        b: Builder<'c>,
        [thread, warp]: [Val<'c>; 2],
        order: Val<'c>,
    ) -> Result<Team<'c>, Failure> {
        let i32_type = b.i32_type();
        let number = b.value(
            arith::DIVUI,
            &[warp, b.i32(self.threads / WARP)?],
            i32_type,
            &[],
        )?;
        let before = b.value(arith::MULI, &[number, b.i32(self.threads)?], i32_type, &[])?;
        Ok(Team {
            number,
            thread: b.value(arith::SUBI, &[thread, before], i32_type, &[])?,
            count: self.count,
            order,
        })
    }
}

impl<'c> Emit<'_, 'c> {
    /// The index of this thread in the block as its team sees it, in place of what `op` gives, if that is the one along x.
    pub(super) fn thread_of_team(
        &self,
        op: Op<'c>,
        b: Builder<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let Some(team) = self.who.team.filter(|_| name_of(op) == gpu::THREAD_ID) else {
            return Ok(None);
        };
        let along_x = b.attribute("#gpu<dim x>")?;
        if attribute_of(op, "dimension") != Some(along_x) {
            return Ok(None);
        }
        let thread = b.value(arith::INDEX_CAST, &[team.thread], b.index_type(), &[])?;
        Ok(Some(thread))
    }

    /// The team whose loop an op is.
    pub(super) fn team_of(&self, op: Op<'c>) -> Option<Team<'c>> {
        self.who.team.filter(|_| attribute_of(op, TEAMS).is_some())
    }

    /// The bounds of a team's loop: from its own first turn on, by as many as there are teams.
    pub(super) fn own_turns(
        &self,
        b: Builder<'c>,
        team: Team<'c>,
        [from, to, step]: [Val<'c>; 3],
    ) -> Result<[Val<'c>; 3], Failure> {
        let ty = from.r#type();
        let number = match ty == b.i32_type() {
            true => team.number,
            false => b.value(arith::INDEX_CAST, &[team.number], ty, &[])?,
        };
        let before = b.value(arith::MULI, &[number, step], ty, &[])?;
        let from = b.value(arith::ADDI, &[from, before], ty, &[])?;
        let step = b.value(arith::MULI, &[step, b.constant(ty, team.count)?], ty, &[])?;
        Ok([from, to, step])
    }

    /// The places that a turn of the teams' loop takes of a ring. Errors: a number that may differ from turn to turn.
    pub(super) fn places_of_turn(
        &self,
        b: Builder<'c>,
        turns: Op<'c>,
        ring: &Ring<'c>,
    ) -> Result<Val<'c>, Failure> {
        let body = body_of(turns, 0).expected(turns, "a body")?;
        if ring.block == body {
            return b.i32(1);
        }
        let refuse = |op: Op<'c>| {
            Err(diag::error_with_notes(
                op.location(),
                "loads by TMA within a loop with cute.teams, whose turns must load as often as one another; expected the load there, or in an scf.for in \
                 there with bounds of type i32 from outside",
                &[(turns.location(), "the loop is here")],
            ))
        };
        let load = *ring.loads.first().expected(turns, "a load")?;
        let around = owner_of(ring.block).filter(|op| block_of(*op) == Some(body));
        let Some(inner) = around.and_then(scf::For::of) else {
            return refuse(load);
        };
        let bounds = [inner.lower_bound(), inner.upper_bound(), inner.step()];
        let mut known = Vec::new();
        for bound in bounds {
            let is_outside = match defining_op(bound) {
                Some(op) => parent_op(op) == parent_op(turns),
                None => parent_op(turns)
                    .and_then(|kernel| body_of(kernel, 0))
                    .is_some_and(|body| arguments_of(body).contains(&bound)),
            };
            match constant_of(bound) {
                _ if bound.r#type() != b.i32_type() => return refuse(load),
                Some(value) => known.push(b.i32(value)?),
                None if is_outside => known.push(self.mapped(bound)),
                None => return refuse(load),
            }
        }
        let [from, to, step] = known[..] else {
            return refuse(load);
        };
        let i32_type = b.i32_type();
        let all = b.value(arith::SUBI, &[to, from], i32_type, &[])?;
        let all = b.value(arith::CEILDIVSI, &[all, step], i32_type, &[])?;
        b.value(arith::MAXSI, &[all, b.i32(0)?], i32_type, &[])
    }

    /// Puts each ring as many turns ahead.
    pub(super) fn skip(
        &mut self,
        b: Builder<'c>,
        places: &[(usize, Val<'c>)],
        turns: Val<'c>,
    ) -> Result<(), Failure> {
        for (at, each) in places {
            let count = b.value(arith::MULI, &[*each, turns], b.i32_type(), &[])?;
            let ring = self.rings.get(*at).expected(b, "a ring")?;
            self.next[*at] = ring.skip(b, self.next[*at], count)?;
        }
        Ok(())
    }

    /// The products of a turn, and the parity by which a team's first turn waits: the first team's for nobody. None of a loop without products.
    pub(super) fn section(&self, body: Blk<'c>, parity: Val<'c>) -> Option<Section<'c>> {
        let is_product = |op: Op<'c>| asynchronous_product(op).is_some();
        let ops = ops_of(body);
        let mut with = ops
            .into_iter()
            .filter(|op| is_product(*op) || has_within(*op, is_product));
        let first = with.next()?;
        Some(Section {
            ends: [first, with.next_back().unwrap_or(first)],
            parity,
        })
    }

    /// The parity that a team's first turn waits for.
    pub(super) fn first_parity(&self, b: Builder<'c>, team: Team<'c>) -> Result<Val<'c>, Failure> {
        let is_first = b.compare(Predicate::Eq, team.number, b.i32(0)?)?;
        b.value(arith::EXTUI, &[is_first], b.i32_type(), &[])
    }

    /// Waits until the products of the turn before have been started.
    pub(super) fn wait_for_team(
        &self,
        b: Builder<'c>,
        team: Team<'c>,
        section: Section<'c>,
    ) -> Result<(), Failure> {
        let b = b.step("wait for the other team");
        b.op(
            cute_nvgpu::MBARRIER_WAIT,
            &[team.order, team.number, section.parity],
            &[],
            &[],
        )?;
        Ok(())
    }

    /// Lets the next team start its products.
    pub(super) fn let_next_team(&self, b: Builder<'c>, team: Team<'c>) -> Result<(), Failure> {
        let b = b.step("let the other team multiply");
        let i32_type = b.i32_type();
        let next = b.value(arith::ADDI, &[team.number, b.i32(1)?], i32_type, &[])?;
        let next = b.value(arith::REMUI, &[next, b.i32(team.count)?], i32_type, &[])?;
        let leads = b.compare(Predicate::Eq, self.who.lane, b.i32(0)?)?;
        alone(b, leads, |b| {
            b.op(cute_nvgpu::MBARRIER_ARRIVE, &[team.order, next], &[], &[])?;
            Ok(())
        })
    }

    /// The parity of a team's next turn.
    pub(super) fn next_parity(
        &self,
        b: Builder<'c>,
        section: Section<'c>,
    ) -> Result<Val<'c>, Failure> {
        b.value(arith::XORI, &[section.parity, b.i32(1)?], b.i32_type(), &[])
    }
}
