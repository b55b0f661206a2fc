//! Reductions over several tiles of columns, which sums may follow: with a larger maximum, what was summed up is multiplied by the power that makes
//! up for it.
//!
//! A row of which only -inf was met has no finite maximum: what is subtracted is 0 then, so that powers of it are 0 and no NaN. What the
//! whole row's maximum makes of the sums is seen at the end: the number that is subtracted, less itself, is added to them, which is 0 or NaN.

use super::{Buffers, Fuse, values::Values};
use crate::fused::{Domain, Follows, Phase, Reduced};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute},
    types,
};

/// Registers of what was reduced so far, in the order of a turn's reductions.
pub(super) type Running<'c> = Vec<Val<'c>>;

/// A running maximum, before and behind a tile.
struct Lead<'c> {
    result: Val<'c>,
    before: Val<'c>,
    now: Val<'c>,
    /// The number that changes nothing.
    neutral: Val<'c>,
}

impl<'c> Fuse<'c> {
    /// Registers for what a turn over columns reduces, as before the first tile.
    pub(super) fn begin(&self, b: Builder<'c>, phase: &Phase<'c>) -> Result<Running<'c>, Failure> {
        let mut running = Vec::new();
        for reduced in &phase.reduced {
            let b = b.at_location(location_of(reduced.reduce.result()));
            running.push(match &reduced.product {
                Some(product) => {
                    let sums = self.accumulators(b, self.way(product))?;
                    b.op(cute::CLEAR, &[sums], &[], &[])?;
                    sums
                }
                None => {
                    let rows = self.allocate(b, b.ty("f32")?, Domain::Rows)?;
                    let neutral = self.neutral(b, reduced.kind)?;
                    b.op(cute::FILL, &[rows, neutral], &[], &[])?;
                    rows
                }
            });
        }
        Ok(running)
    }

    /// Reduces a tile of columns.
    pub(super) fn advance(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        running: &Running<'c>,
        shared: &Buffers<'c>,
        column: Val<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let mut leads: Vec<(Lead<'c>, Val<'c>)> = Vec::new();
        let mut powers: Vec<(Follows<'c>, Val<'c>)> = Vec::new();
        for (reduced, sums) in phase.reduced.iter().zip(running) {
            let b = b.at_location(location_of(reduced.reduce.result()));
            let ty = b.ty("f32")?;
            let mut power = None;
            if let Some(follows) = &reduced.follows {
                let known = powers.iter().find(|(other, _)| other == follows);
                power = Some(match known {
                    Some((_, power)) => *power,
                    None => {
                        let lead = leads.iter().find(|(lead, _)| lead.result == follows.lead);
                        let (lead, _) = lead.expected(b, "a maximum that leads")?;
                        let power = self.power(b, follows, lead, values)?;
                        powers.push((follows.clone(), power));
                        power
                    }
                });
            }
            if reduced.product.is_some() {
                if let Some(power) = power {
                    let power = self.seen_as(b, power, Domain::Rows, Domain::Outer)?;
                    self.transform(b, &[*sums, power], *sums, |l, of| {
                        l.value(arith::MULF, of, ty, &[])
                    })?;
                }
                self.multiply_columns(b, reduced, shared, column, *sums, values)?;
                continue;
            }
            let part = self.partial(b, reduced, column, values)?;
            if is_led(phase, reduced) {
                let part = self.across(b, part, reduced.kind)?;
                let now = self.allocate(b, ty, Domain::Rows)?;
                self.transform(b, &[*sums, part], now, |l, of| {
                    self.combined(l, reduced.kind, [of[0], of[1]])
                })?;
                let lead = Lead {
                    result: reduced.reduce.result(),
                    before: *sums,
                    now,
                    neutral: self.neutral(b, reduced.kind)?,
                };
                leads.push((lead, *sums));
                continue;
            }
            match power {
                Some(power) => self.transform(b, &[*sums, power, part], *sums, |l, of| {
                    let scaled = l.value(arith::MULF, &of[..2], ty, &[])?;
                    l.value(arith::ADDF, &[scaled, of[2]], ty, &[])
                })?,
                None => self.transform(b, &[*sums, part], *sums, |l, of| {
                    self.combined(l, reduced.kind, [of[0], of[1]])
                })?,
            }
        }
        for (lead, sums) in leads {
            self.transform(b, &[lead.now], sums, |_, of| Ok(of[0]))?;
        }
        Ok(())
    }

    /// The power by which what follows a maximum is multiplied; what is subtracted from now on is among the values.
    fn power(
        &self,
        b: Builder<'c>,
        follows: &Follows<'c>,
        lead: &Lead<'c>,
        values: &mut Values<'c>,
    ) -> Result<Val<'c>, Failure> {
        let ty = b.ty("f32")?;
        let before = self.subtracted(b, follows, lead, lead.before, values)?;
        let now = self.subtracted(b, follows, lead, lead.now, values)?;
        let mut inputs = vec![before, now, lead.before];
        let mut times = Vec::new();
        for value in &follows.times {
            let rows = self.compute(b, *value, Domain::Rows, values, None)?;
            inputs.push(rows);
            times.push(rows);
        }
        let zero = self.zero(b, ty)?;
        let power = self.allocate(b, ty, Domain::Rows)?;
        self.transform(b, &inputs, power, |l, of| {
            let mut exponent = l.value(arith::SUBF, &of[..2], ty, &[])?;
            for times in &of[3..] {
                exponent = l.value(arith::MULF, &[exponent, *times], ty, &[])?;
            }
            let power = l.value(follows.power, &[exponent], ty, &[])?;
            // Nothing was summed up before.
            let is_first = equal(l, of[2], lead.neutral)?;
            l.value(arith::SELECT, &[is_first, zero, power], ty, &[])
        })?;
        values
            .registers
            .insert(key(follows.row), (Domain::Rows, now));
        Ok(power)
    }

    /// The number that is subtracted with some maximum; 0 where there is none yet.
    fn subtracted(
        &self,
        b: Builder<'c>,
        follows: &Follows<'c>,
        lead: &Lead<'c>,
        maximum: Val<'c>,
        values: &Values<'c>,
    ) -> Result<Val<'c>, Failure> {
        let mut with = values.clone();
        with.registers.remove(&key(follows.row));
        with.registers
            .insert(key(lead.result), (Domain::Rows, maximum));
        let row = self.compute(b, follows.row, Domain::Rows, &with, None)?;
        let ty = b.ty("f32")?;
        let zero = self.zero(b, ty)?;
        let result = self.allocate(b, ty, Domain::Rows)?;
        self.transform(b, &[row, maximum], result, |l, of| {
            let is_none = equal(l, of[1], lead.neutral)?;
            l.value(arith::SELECT, &[is_none, zero, of[0]], ty, &[])
        })?;
        Ok(result)
    }

    /// Makes values of what was reduced of all columns.
    pub(super) fn end(
        &self,
        b: Builder<'c>,
        phase: &Phase<'c>,
        running: &Running<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        for (reduced, sums) in phase.reduced.iter().zip(running) {
            let b = b.at_location(location_of(reduced.reduce.result()));
            let ty = b.ty("f32")?;
            let domain = match reduced.product {
                Some(_) => Domain::Outer,
                None => Domain::Rows,
            };
            let mut whole = *sums;
            if reduced.product.is_none() && !is_led(phase, reduced) {
                whole = self.across(b, whole, reduced.kind)?;
            }
            if let Some(follows) = &reduced.follows {
                let row = self.compute(b, follows.row, Domain::Rows, values, None)?;
                let row = self.seen_as(b, row, Domain::Rows, domain)?;
                self.transform(b, &[whole, row], whole, |l, of| {
                    let nothing = l.value(arith::SUBF, &[of[1], of[1]], ty, &[])?;
                    l.value(arith::ADDF, &[of[0], nothing], ty, &[])
                })?;
            }
            whole = self.finished(b, reduced, whole)?;
            values
                .registers
                .insert(key(reduced.reduce.result()), (domain, whole));
        }
        Ok(())
    }
}

/// Tells whether another reduction of a turn follows one.
fn is_led(phase: &Phase<'_>, reduced: &Reduced<'_>) -> bool {
    let lead = reduced.reduce.result();
    let mut all = phase
        .reduced
        .iter()
        .filter_map(|other| other.follows.as_ref());
    all.any(|follows| follows.lead == lead)
}

/// Tells whether two numbers are equal, neither of which is NaN.
fn equal<'c>(b: Builder<'c>, one: Val<'c>, other: Val<'c>) -> Result<Val<'c>, Failure> {
    const ORDERED_EQUAL: i64 = 1;
    let number = [("predicate", b.i64_attribute(ORDERED_EQUAL))];
    let truth = types::int_type(b.context, 1);
    b.value(arith::CMPF, &[one, other], truth, &number)
}
