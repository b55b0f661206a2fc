//! The order of a measurement: all candidates are checked, then timed in rounds, and each step is written down before the next.
//! Measurements that were written down before are not made again.

use std::collections::BTreeMap;

use cute_measured::{Outcome, Record, Subject, median};

/// Something that runs candidates.
pub trait Measurer {
    /// Runs a candidate once and compares its result.
    ///
    /// # Errors
    /// If no candidate can be run any more.
    fn check(&mut self, subject: &Subject) -> anyhow::Result<Verdict>;

    /// Runs a candidate several times: the median of what is counted.
    ///
    /// # Errors
    /// If no candidate can be run any more.
    fn sample(&mut self, subject: &Subject) -> anyhow::Result<Sampled>;
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    Wrong(String),
    Failed(String),
}

/// The outcome of some runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sampled {
    Value(u64),
    Failed(String),
}

/// Somebody who is told how far it is.
pub trait Progress {
    /// So many steps are left.
    fn left(&mut self, steps: usize);
    /// One begins.
    fn step(&mut self, what: &str);
}

/// The candidate as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing was tried yet.
    New,
    /// It was right, and these are its samples by rounds.
    Right(BTreeMap<usize, u64>),
    Wrong(String),
    Failed(String),
}

impl State {
    /// The records about a subject, taken together.
    fn of(subject: &Subject, records: &[Record]) -> State {
        let mut state = State::New;
        for record in records.iter().filter(|record| record.subject == *subject) {
            state = match (state, &record.outcome) {
                (bad @ (State::Wrong(_) | State::Failed(_)), _) => bad,
                (State::New, Outcome::Right) => State::Right(BTreeMap::new()),
                (_, Outcome::Wrong { reason }) => State::Wrong(reason.clone()),
                (_, Outcome::Failed { reason }) => State::Failed(reason.clone()),
                (State::Right(mut samples), Outcome::Sample { round, value }) => {
                    samples.insert(*round, *value);
                    State::Right(samples)
                }
                // A sample of what was not seen to be right counts for nothing.
                (state, _) => state,
            };
        }
        state
    }

    /// The median of the samples; none of what was not measured.
    pub fn median(&self) -> Option<u64> {
        match self {
            State::Right(samples) => median(samples.values().copied().collect()),
            _ => None,
        }
    }

    /// The difference between the largest and the smallest sample, in parts of the median.
    pub fn spread(&self) -> Option<f64> {
        let State::Right(samples) = self else {
            return None;
        };
        let (least, most) = (samples.values().min()?, samples.values().max()?);
        let median = self.median().filter(|median| *median > 0)?;
        Some((most - least) as f64 / median as f64)
    }
}

/// Measures subjects in `rounds` rounds, as far as the records do not know them yet. `write` is given each step when it is done.
///
/// # Errors
/// Those of the measurer and of `write`; what was written stands.
pub fn tune(
    subjects: &[Subject],
    records: &[Record],
    rounds: usize,
    measurer: &mut dyn Measurer,
    write: &mut dyn FnMut(&Record) -> anyhow::Result<()>,
    progress: &mut dyn Progress,
) -> anyhow::Result<Vec<State>> {
    let mut states: Vec<State> = subjects
        .iter()
        .map(|subject| State::of(subject, records))
        .collect();
    let mut write = |subject: &Subject, outcome| {
        let subject = subject.clone();
        write(&Record { subject, outcome })
    };
    progress.left(steps(&states, rounds));
    for (subject, state) in subjects.iter().zip(&mut states) {
        if *state != State::New {
            continue;
        }
        progress.step(&format!("check {}", subject.plan));
        let outcome;
        (*state, outcome) = match measurer.check(subject)? {
            Verdict::Right => (State::Right(BTreeMap::new()), Outcome::Right),
            Verdict::Wrong(reason) => (State::Wrong(reason.clone()), Outcome::Wrong { reason }),
            Verdict::Failed(reason) => (State::Failed(reason.clone()), Outcome::Failed { reason }),
        };
        write(subject, outcome)?;
    }
    progress.left(steps(&states, rounds));
    for round in 0..rounds {
        for (subject, state) in subjects.iter().zip(&mut states) {
            let State::Right(samples) = state else {
                continue;
            };
            if samples.contains_key(&round) {
                continue;
            }
            progress.step(&format!(
                "round {} of {rounds}, {}",
                round + 1,
                subject.plan
            ));
            match measurer.sample(subject)? {
                Sampled::Value(value) => {
                    samples.insert(round, value);
                    write(subject, Outcome::Sample { round, value })?;
                }
                Sampled::Failed(reason) => {
                    *state = State::Failed(reason.clone());
                    write(subject, Outcome::Failed { reason })?;
                }
            }
        }
    }
    Ok(states)
}

/// The steps that are left, if all goes well.
fn steps(states: &[State], rounds: usize) -> usize {
    let steps = states.iter().map(|state| match state {
        State::New => 1 + rounds,
        State::Right(samples) => (0..rounds)
            .filter(|round| !samples.contains_key(round))
            .count(),
        State::Wrong(_) | State::Failed(_) => 0,
    });
    steps.sum()
}

/// The places of subjects in the order of their times, the fastest first; of equal ones the one with the smaller number. Those
/// that were not measured come last.
pub fn ranked(states: &[State]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..states.len()).collect();
    places.sort_by_key(|at| (states[*at].median().unwrap_or(u64::MAX), *at));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use cute_measured::By;

    fn subject(candidate: usize) -> Subject {
        Subject {
            package: "0".into(),
            function: "gemm".into(),
            arguments: String::new(),
            device: "script".into(),
            arch: "sm_90".into(),
            sms: 1,
            by: By::Time,
            product: 0,
            alone: true,
            problem: "f16".into(),
            generation: 1,
            extents: [1; 4],
            candidate,
            plan: format!("plan {candidate}"),
        }
    }

    /// A measurer that reads from a script what happens, and goes out after so many steps.
    struct Script {
        checks: Vec<Verdict>,
        /// For each candidate the values of its samples, one after another; a failure when they are over.
        samples: Vec<Vec<u64>>,
        steps: Vec<String>,
        ends_after: usize,
    }

    impl Script {
        fn new(checks: Vec<Verdict>, samples: &[&[u64]]) -> Script {
            Script {
                checks,
                samples: samples.iter().map(|all| all.to_vec()).collect(),
                steps: Vec::new(),
                ends_after: usize::MAX,
            }
        }

        fn step(&mut self, what: String) -> anyhow::Result<()> {
            if self.steps.len() == self.ends_after {
                bail!("interrupted");
            }
            self.steps.push(what);
            Ok(())
        }
    }

    impl Measurer for Script {
        fn check(&mut self, subject: &Subject) -> anyhow::Result<Verdict> {
            self.step(format!("check {}", subject.candidate))?;
            Ok(self.checks[subject.candidate].clone())
        }

        fn sample(&mut self, subject: &Subject) -> anyhow::Result<Sampled> {
            self.step(format!("sample {}", subject.candidate))?;
            let of = &mut self.samples[subject.candidate];
            Ok(match of.is_empty() {
                true => Sampled::Failed("a fault".into()),
                false => Sampled::Value(of.remove(0)),
            })
        }
    }

    #[derive(Default)]
    struct Count {
        left: usize,
    }

    impl Progress for Count {
        fn left(&mut self, steps: usize) {
            self.left = steps;
        }
        fn step(&mut self, _: &str) {
            self.left -= 1;
        }
    }

    fn run(
        script: &mut Script,
        records: &mut Vec<Record>,
        rounds: usize,
    ) -> anyhow::Result<Vec<State>> {
        let subjects: Vec<Subject> = (0..script.checks.len()).map(subject).collect();
        let before = records.clone();
        let mut count = Count::default();
        let mut write = |record: &Record| {
            records.push(record.clone());
            Ok(())
        };
        let states = tune(&subjects, &before, rounds, script, &mut write, &mut count)?;
        Ok(states)
    }

    #[test]
    fn rounds_go_through_all_in_turn_and_the_middle_counts() {
        let mut script = Script::new(vec![Verdict::Right; 2], &[&[9, 1, 5], &[4, 4, 90]]);
        let mut records = Vec::new();
        let states = run(&mut script, &mut records, 3).unwrap();
        assert_eq!(
            script.steps,
            [
                "check 0", "check 1", "sample 0", "sample 1", "sample 0", "sample 1", "sample 0",
                "sample 1"
            ]
        );
        assert_eq!(states[0].median(), Some(5));
        assert_eq!(states[1].median(), Some(4));
        assert_eq!(states[1].spread(), Some(21.5));
        assert_eq!(ranked(&states), [1, 0]);
        assert_eq!(records.len(), 8);
    }

    #[test]
    fn ties_go_to_the_first() {
        let right = |value| State::Right([(0, value)].into());
        let states = [State::Wrong(String::new()), right(7), right(7), State::New];
        assert_eq!(ranked(&states), [1, 2, 0, 3]);
    }

    #[test]
    fn what_is_wrong_or_fails_never_wins_and_holds_up_nobody() {
        let checks = vec![
            Verdict::Wrong("7 is not 8".into()),
            Verdict::Failed("no memory".into()),
            Verdict::Right,
            Verdict::Right,
        ];
        // The third fails in its second round.
        let mut script = Script::new(checks, &[&[1, 1], &[1, 1], &[2], &[30, 30]]);
        let mut records = Vec::new();
        let states = run(&mut script, &mut records, 2).unwrap();
        assert_eq!(states[0], State::Wrong("7 is not 8".into()));
        assert_eq!(states[1], State::Failed("no memory".into()));
        assert_eq!(states[2], State::Failed("a fault".into()));
        assert_eq!(ranked(&states)[0], 3);
        let times = cute_measured::times_of(&records);
        assert_eq!(times.len(), 1);
        assert_eq!((&*times[0].plan, times[0].ns), ("plan 3", 30));
        // Nothing of it is tried again.
        let mut again = Script::new(vec![Verdict::Right; 4], &[&[], &[], &[], &[]]);
        assert_eq!(run(&mut again, &mut records, 2).unwrap(), states);
        assert!(again.steps.is_empty(), "{:?}", again.steps);
    }

    #[test]
    fn an_interrupted_run_goes_on_where_it_was() {
        let script = || Script::new(vec![Verdict::Right; 3], &[&[1, 2], &[3, 4], &[5, 6]]);
        let mut whole = script();
        let states = run(&mut whole, &mut Vec::new(), 2).unwrap();
        for ends_after in 0..whole.steps.len() {
            let mut first = script();
            first.ends_after = ends_after;
            let mut records = Vec::new();
            let error = run(&mut first, &mut records, 2).unwrap_err();
            assert_eq!(error.to_string(), "interrupted");
            // The same script goes on: its samples are used up.
            let mut rest = Script {
                ends_after: usize::MAX,
                ..first
            };
            assert_eq!(run(&mut rest, &mut records, 2).unwrap(), states);
            assert_eq!(rest.steps, whole.steps, "after {ends_after}");
        }
    }

    #[test]
    fn more_rounds_are_added_to_those_that_there_are() {
        let mut records = Vec::new();
        let mut script = Script::new(vec![Verdict::Right], &[&[10, 20, 30]]);
        run(&mut script, &mut records, 1).unwrap();
        let states = run(&mut script, &mut records, 3).unwrap();
        assert_eq!(
            script.steps,
            ["check 0", "sample 0", "sample 0", "sample 0"]
        );
        assert_eq!(states[0].median(), Some(20));
    }

    #[test]
    fn others_results_are_not_ones_own() {
        let mut other = subject(0);
        other.device = "another GPU".into();
        let mut records = vec![Record {
            subject: other,
            outcome: Outcome::Right,
        }];
        let mut script = Script::new(vec![Verdict::Right], &[&[1]]);
        run(&mut script, &mut records, 1).unwrap();
        assert_eq!(script.steps, ["check 0", "sample 0"]);
    }
}
