//! Results of measurements as they come: a file of JSON lines, of which the last may be torn.

use crate::{GENERATION, Time, median};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The thing that is counted of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Nanoseconds on a GPU.
    Time,
    /// Instructions that warps execute, as the emulator counts them. No time, and in no table.
    Instructions,
}

/// The thing that was measured: a candidate of a package, with its arguments, on a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subject {
    /// A hash of the package.
    pub package: String,
    /// The function of the package.
    pub function: String,
    /// The arguments' layouts and the seed of their elements.
    pub arguments: String,
    /// The name that the device gives itself.
    pub device: String,
    /// The code that it runs: `sm_90`.
    pub arch: String,
    /// Its multiprocessors.
    pub sms: u32,
    /// The thing that is counted.
    pub by: By,
    /// The product of the function, counted from 0.
    pub product: usize,
    /// Tells whether the function computes nothing beside the product, so that its time is that of the plan.
    pub alone: bool,
    /// The kind of product.
    pub problem: String,
    /// The generation of its kernels.
    pub generation: u32,
    /// M, N, K and the number of products.
    pub extents: [i64; 4],
    /// The place of the candidate among those of the product.
    pub candidate: usize,
    /// The options that ask for its plan.
    pub plan: String,
}

/// The outcome of one step of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The candidate computed what it should.
    Right,
    /// A round: the median of its runs, in nanoseconds or in instructions.
    Sample {
        /// The number of the round.
        round: usize,
        /// The median.
        value: u64,
    },
    /// The candidate computed something else.
    Wrong {
        /// The difference.
        reason: String,
    },
    /// The candidate could not run, faulted, or took too long.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// A line of a file of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The thing that was measured.
    #[serde(flatten)]
    pub subject: Subject,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Record {
    /// The line of the record, with its end.
    pub fn line(&self) -> String {
        // A record holds nothing that JSON has no form for.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// A line that is no result.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: expected a result of cute-run --tune, found: {error}")]
pub struct ResultsError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The reason.
    pub error: serde_json::Error,
}

/// Reads the lines of a file of results, and how many of its bytes are whole lines: a last line without its end was torn when the
/// measurement was interrupted, and does not count.
///
/// # Errors
/// A whole line that is no result.
pub fn read_results(text: &str) -> Result<(Vec<Record>, usize), ResultsError> {
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text[..whole].lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let records = lines.map(|(at, line)| {
        serde_json::from_str(line).map_err(|error| ResultsError {
            line: at + 1,
            error,
        })
    });
    Ok((records.collect::<Result<_, _>>()?, whole))
}

/// The samples of each subject of some records, by its round; none of one that was wrong or failed.
pub fn samples_of(records: &[Record]) -> BTreeMap<&Subject, BTreeMap<usize, u64>> {
    let mut samples: BTreeMap<&Subject, BTreeMap<usize, u64>> = BTreeMap::new();
    for record in records {
        if let Outcome::Sample { round, value } = record.outcome {
            let of = samples.entry(&record.subject).or_default();
            of.insert(round, value);
        }
    }
    let spoiled = |record: &&Record| {
        matches!(
            record.outcome,
            Outcome::Wrong { .. } | Outcome::Failed { .. }
        )
    };
    for record in records.iter().filter(spoiled) {
        samples.remove(&record.subject);
    }
    samples
}

/// The times for a table that some records give, in the order in which they were first seen: medians over rounds, of candidates that were right.
/// Left out is what is no time, what is of another product as well, and what is of kernels of another generation.
pub fn times_of(records: &[Record]) -> Vec<Time> {
    let samples = samples_of(records);
    let mut times = Vec::new();
    let firsts = records
        .iter()
        .filter(|record| record.outcome == Outcome::Right);
    for Record { subject, .. } in firsts {
        let is_kept = subject.by == By::Time && subject.alone && subject.generation == GENERATION;
        let rounds = samples.get(subject).filter(|_| is_kept);
        let middle = rounds.and_then(|rounds| median(rounds.values().copied().collect()));
        if let Some(ns) = middle.filter(|ns| *ns > 0) {
            times.push(Time {
                arch: subject.arch.clone(),
                sms: subject.sms,
                device: subject.device.clone(),
                problem: subject.problem.clone(),
                extents: subject.extents,
                plan: subject.plan.clone(),
                ns,
            });
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(candidate: usize) -> Subject {
        Subject {
            package: "0".to_owned(),
            function: "gemm".to_owned(),
            arguments: String::new(),
            device: "NVIDIA H200".to_owned(),
            arch: "sm_90".to_owned(),
            sms: 132,
            by: By::Time,
            product: 0,
            alone: true,
            problem: "f16".to_owned(),
            generation: GENERATION,
            extents: [64, 64, 64, 1],
            candidate,
            plan: format!("tile={candidate}"),
        }
    }

    fn record(candidate: usize, outcome: Outcome) -> Record {
        Record {
            subject: subject(candidate),
            outcome,
        }
    }

    fn sample(candidate: usize, round: usize, value: u64) -> Record {
        record(candidate, Outcome::Sample { round, value })
    }

    #[test]
    fn lines_are_read_as_they_were_written_and_a_torn_one_is_not() {
        let reason = "line\nbreak".to_owned();
        let all = [
            record(0, Outcome::Right),
            sample(0, 0, 7),
            record(
                1,
                Outcome::Wrong {
                    reason: reason.clone(),
                },
            ),
            record(2, Outcome::Failed { reason }),
        ];
        let text: String = all.iter().map(Record::line).collect();
        assert_eq!(text.lines().count(), all.len());
        assert_eq!(read_results(&text).unwrap(), (all.to_vec(), text.len()));
        for cut in 0..text.len() {
            let (read, whole) = read_results(&text[..cut]).unwrap();
            assert_eq!(read, all[..read.len()]);
            assert!(whole <= cut && text[whole..cut].find('\n').is_none());
        }
        let error = read_results("{}\n").unwrap_err().to_string();
        assert!(error.starts_with("line 1: expected a result"), "{error}");
        let broken = text.replacen("\"by\":\"time\"", "\"by\":\"luck\"", 2);
        assert_eq!(read_results(&broken).unwrap_err().line, 1);
    }

    #[test]
    fn a_time_is_the_middle_of_its_rounds() {
        let other = |change: fn(&mut Subject)| {
            let mut both = [record(5, Outcome::Right), sample(5, 0, 1)];
            both.iter_mut()
                .for_each(|record| change(&mut record.subject));
            both
        };
        let failed = Outcome::Failed {
            reason: "fault".to_owned(),
        };
        let mut records = vec![
            record(0, Outcome::Right),
            record(1, Outcome::Right),
            record(3, Outcome::Right),
            sample(0, 0, 30),
            sample(1, 0, 5),
            sample(0, 1, 10),
            sample(0, 2, 20),
            sample(0, 2, 20),
            record(1, failed),
            // Of one that was not seen to be right nothing is kept.
            sample(2, 0, 1),
        ];
        records.extend(other(|subject| subject.by = By::Instructions));
        records.extend(other(|subject| subject.alone = false));
        records.extend(other(|subject| subject.generation = GENERATION + 1));
        let times = times_of(&records);
        let times: Vec<_> = times.iter().map(|time| (&*time.plan, time.ns)).collect();
        assert_eq!(times, [("tile=0", 20)]);
    }
}
