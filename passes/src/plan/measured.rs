//! Measured times, and what they say of plans that were not measured.
//!
//! A plan that was measured near a problem's shape takes its estimated time by as much more or less as it took where it was
//! measured, at the nearest shape; so a shape that was measured itself takes that very time. Others take theirs by as much more or less as
//! the measured ones did in the middle, and a tenth more, as they were not measured: what was measured to be the fastest gives way
//! only to what promises more than that. Far from all measurements estimates stand: how many tiles the last wave has decides too much. Launches of open sizes
//! know no more of a shape than its class.

use super::{
    Candidate, Problem,
    estimate::{DOUBT, Estimate},
};
use crate::plan::Arithmetic;
use cute_arith::Op;
use cute_measured::{ShapeClass, Table, Time, code_of, distance, is_near, median};
use cute_target::Arch;
use std::{fs, path::Path, sync::OnceLock};

/// The times that come with the compiler.
const OWN: &str = include_str!("measured.json");

/// A factor of a time that changes nothing.
const ONE: i64 = 1 << 10;

/// The largest factor of a time, and the smallest: those of a measurement that went wrong.
const FACTORS: [i64; 2] = [ONE / 64, ONE * 64];

/// Picoseconds of a nanosecond.
const PICOSECONDS: i64 = 1000;

/// Classes of shapes that a launch tells apart, at most.
const MOST_CLASSES: usize = 32;

/// The times that come with the compiler. Errors: a table that is none, which a test rules out.
pub(super) fn own() -> Result<&'static Table, String> {
    static TABLE: OnceLock<Result<Table, String>> = OnceLock::new();
    let table = TABLE.get_or_init(|| Table::read(OWN).map_err(|e| e.to_string()));
    table.as_ref().map_err(Clone::clone)
}

/// Reads a table of measured times. Errors: a file that is none, or of which a plan names no options.
pub fn read(file: &Path) -> Result<Table, String> {
    let fail = |why: String| format!("measured={}: {why}", file.display());
    let text = fs::read_to_string(file)
        .map_err(|e| fail(format!("expected a file that can be read: {e}")))?;
    let table = Table::read(&text).map_err(|e| fail(e.to_string()))?;
    check(&table).map_err(fail)?;
    Ok(table)
}

/// Checks that plans are options, written as the compiler writes them, by which they are found again.
fn check(table: &Table) -> Result<(), String> {
    use cute_ir::options::Options;
    for time in table.times() {
        let written = super::Request::parse(&time.plan).map(|request| request.text());
        let wrong = match written {
            Ok(written) if written == time.plan => continue,
            Ok(written) => format!("expected the plan \"{written}\""),
            Err(why) => {
                format!("expected a plan, such as \"tile=128x128x64 warps=2x2 stages=3\": {why}")
            }
        };
        return Err(format!(
            "{wrong}, found \"{}\" of {} on {}; measure again (cargo xtask tune)",
            time.plan, time.problem, time.device
        ));
    }
    Ok(())
}

/// A measurement of a candidate.
#[derive(Clone, Copy, Debug)]
struct Entry {
    class: ShapeClass,
    extents: [i64; 4],
    /// The candidate's place.
    candidate: usize,
    /// The measured time and the estimated one, in picoseconds.
    times: [i64; 2],
}

impl Entry {
    /// The factor that makes the measured time of the estimated one.
    fn factor(&self) -> i64 {
        let [measured, estimated] = self.times;
        let factor = i128::from(measured) * i128::from(ONE) / i128::from(estimated.max(1));
        i64::try_from(factor)
            .unwrap_or(i64::MAX)
            .clamp(FACTORS[0], FACTORS[1])
    }
}

/// The measurements of some candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    entries: Vec<Entry>,
    sms: i64,
}

impl Measured {
    /// The measurements of candidates for a problem, on a GPU with so many multiprocessors: those of the first device of the table that has such a
    /// GPU and measured this kind of product, near the sizes of the problem that are known. Elements of bf16 take as long as those of f16.
    pub(super) fn of(
        table: &Table,
        problem: &Problem<'_>,
        candidates: &[Candidate<'_>],
        arch: Arch,
        sms: i64,
    ) -> Self {
        let (code, kind) = (code_of((arch.major, arch.minor)), problem.kind());
        let alike = |kind: &str| kind.replace("bf16", "f16");
        let twin = alike(&kind);
        let known = problem.sizes();
        let is_of = |time: &&Time| {
            let sizes = std::array::from_fn(|axis| known[axis].unwrap_or(time.extents[axis]));
            let of_gpu = time.arch == code && i64::from(time.sms) == sms;
            of_gpu && alike(&time.problem) == twin && is_near(time.extents, sizes)
        };
        let mut times: Vec<&Time> = table.times().iter().filter(is_of).collect();
        // Its own first.
        times.sort_by_key(|time| time.problem != kind);
        let device = times.first().map(|first| first.device.as_str());
        let times = times.into_iter();
        let times = times.filter(|time| Some(time.device.as_str()) == device);
        let entries = times.filter_map(|time| {
            let named = |candidate: &Candidate<'_>| candidate.asking == time.plan;
            let candidate = candidates.iter().position(named)?;
            let [m, n, k, batch] = time.extents;
            let estimate = &candidates[candidate].estimate;
            Some(Entry {
                class: ShapeClass::of(time.extents),
                extents: time.extents,
                candidate,
                times: [
                    i64::try_from(time.ns).ok()?.checked_mul(PICOSECONDS)?,
                    estimate.known([m, n, k], batch, sms),
                ],
            })
        });
        Self {
            entries: entries.collect(),
            sms,
        }
    }

    /// The times that measurements give for products of M, N and K, so many of them.
    pub(super) fn near(&self, [m, n, k]: [i64; 3], batch: i64) -> Near<'_> {
        let extents = [m, n, k, batch].map(|extent| extent.max(1));
        let entries: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| is_near(entry.extents, extents))
            .collect();
        Near {
            extents,
            sms: self.sms,
            unmeasured: unmeasured(entries.iter().copied()),
            entries,
        }
    }

    /// The factors of a candidate's estimates in those classes in which a problem's shape may be; none where no candidate among `all` differs from another.
    pub(super) fn factors(
        &self,
        candidate: usize,
        all: &[usize],
        problem: &Problem<'_>,
    ) -> Vec<Factor> {
        let known = problem.sizes();
        let mut classes: Vec<ShapeClass> = self.entries.iter().map(|entry| entry.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes.retain(|class| {
            let mut ranges = known.iter().zip(class.ranges());
            let possible = ranges.all(|(known, [first, last])| {
                known.is_none_or(|known| (first..=last).contains(&known.max(1)))
            });
            let mut factors = all.iter().map(|at| self.factor(*at, *class));
            let first = factors.next();
            possible && factors.any(|factor| Some(factor) != first)
        });
        classes.truncate(MOST_CLASSES);
        let factor = |class: ShapeClass| Factor {
            class,
            factor: self.factor(candidate, class),
            known: known.map(|known| known.is_some()),
        };
        classes.into_iter().map(factor).collect()
    }

    /// The factor of a candidate's estimates in a class.
    fn factor(&self, candidate: usize, class: ShapeClass) -> i64 {
        let inside = || self.entries.iter().filter(|entry| entry.class == class);
        let own = inside().filter(|entry| entry.candidate == candidate);
        let own = median(own.map(Entry::factor).collect());
        own.or_else(|| unmeasured(inside())).unwrap_or(ONE)
    }
}

/// The measurements near known sizes.
pub(super) struct Near<'m> {
    extents: [i64; 4],
    sms: i64,
    entries: Vec<&'m Entry>,
    unmeasured: Option<i64>,
}

impl Near<'_> {
    /// The time in picoseconds that a candidate of this estimate takes for the sizes.
    pub(super) fn time(&self, candidate: usize, estimate: &Estimate) -> i64 {
        let [m, n, k, batch] = self.extents;
        let estimated = estimate.known([m, n, k], batch, self.sms);
        let own = self.entries.iter();
        let own = own.filter(|entry| entry.candidate == candidate);
        let nearest = own.min_by_key(|entry| distance(entry.extents, self.extents));
        let times = match (nearest, self.unmeasured) {
            (Some(nearest), _) => nearest.times,
            (None, Some(factor)) => [factor, ONE],
            (None, None) => return estimated,
        };
        let [measured, before] = times.map(i128::from);
        let time = i128::from(estimated) * measured / before.max(1);
        i64::try_from(time).unwrap_or(i64::MAX)
    }
}

/// The factor of estimates of candidates that were not measured where others were.
fn unmeasured<'e>(others: impl Iterator<Item = &'e Entry>) -> Option<i64> {
    // The upper one of two in the middle: the median of the negated ones.
    let middle = -median(others.map(|entry| -entry.factor()).collect())?;
    Some(middle + middle / DOUBT)
}

/// The factor of a plan's estimates in a class of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Factor {
    class: ShapeClass,
    factor: i64,
    /// Those of M, N, K and the batch that are known, and in the class.
    known: [bool; 4],
}

/// The estimate of a plan's time, calibrated by measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    pub(super) estimate: Estimate,
    pub(super) factors: Vec<Factor>,
}

impl Calibrated {
    /// The time in picoseconds of a batch of products of M, N and K, on so many multiprocessors. Each is 1 at least.
    pub fn time<N: Arithmetic>(
        &self,
        n: &N,
        extents: &[N::Value; 3],
        batch: &N::Value,
        sms: &N::Value,
    ) -> Result<N::Value, N::Error> {
        let time = self.estimate.time(n, extents, batch, sms)?;
        if self.factors.is_empty() {
            return Ok(time);
        }
        let one = n.constant(1)?;
        let [of_m, of_n, of_k] = extents;
        let (mut sum, mut met) = (n.constant(0)?, n.constant(0)?);
        for Factor {
            class,
            factor,
            known,
        } in &self.factors
        {
            // 1 where an extent is in its range, which it is in one class at most, and 0 elsewhere.
            let mut inside = one.clone();
            let open = [of_m, of_n, of_k, batch].into_iter().zip(class.ranges());
            for ((extent, [first, last]), _) in open.zip(known).filter(|(_, known)| !**known) {
                let reaches = |bound: i64| {
                    let times = n.apply(Op::DivS, [extent, &n.constant(bound)?])?;
                    n.apply(Op::MinS, [&times, &one])
                };
                let within = n.apply(Op::Sub, [&reaches(first)?, &reaches(last + 1)?])?;
                inside = n.apply(Op::Mul, [&inside, &within])?;
            }
            let part = n.apply(Op::Mul, [&inside, &n.constant(*factor)?])?;
            sum = n.apply(Op::Add, [&sum, &part])?;
            met = n.apply(Op::Add, [&met, &inside])?;
        }
        let rest = n.apply(Op::Sub, [&one, &met])?;
        let rest = n.apply(Op::Mul, [&rest, &n.constant(ONE)?])?;
        let factor = n.apply(Op::Add, [&sum, &rest])?;
        // Divided first, so that 64 bits hold it.
        let time = n.apply(Op::DivS, [&time, &n.constant(ONE)?])?;
        n.apply(Op::Mul, [&time, &factor])
    }
}

#[cfg(test)]
mod tests;
