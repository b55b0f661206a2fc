//! Orders of warps and blocks that are chosen, not drawn by a seed: which order is run, and which ones there are.
//!
//! A warp goes on until it waits or ends, and then the next one that can; so do blocks that may see each other. A *preemption* takes
//! another one before an instruction that others can see. Mistakes that an order brings about are mostly brought about by few
//! preemptions, so that all orders with at most one or two of them say more than as many orders by chance.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Choices that are kept of a run, from its beginning; at later ones nothing is preempted by an [`Exploration`].
const KEPT: usize = 1 << 16;

/// A place where another warp, or another block, goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Preemption {
    /// The number of the choice in the run, from 0: instructions that others can see, where somebody else could go on.
    pub at: u64,
    /// Who goes on instead: of the block's other warps that can, in their order from this one on; behind them, another block.
    pub to: u32,
}

/// The preemptions of an order of warps and blocks, as `17:2,40:0`, or `none`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Schedule(pub Vec<Preemption>);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (index, Preemption { at, to }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{at}:{to}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        if text == "none" {
            return Ok(Schedule::default());
        }
        let one = |part: &str| {
            let (at, to) = part.split_once(':')?;
            let (at, to) = (at.trim().parse().ok()?, to.trim().parse().ok()?);
            Some(Preemption { at, to })
        };
        let all: Option<Vec<Preemption>> = text.split(',').map(one).collect();
        let rising = |all: &Vec<Preemption>| all.windows(2).all(|pair| pair[0].at < pair[1].at);
        let all = all.filter(rising);
        all.map(Schedule).ok_or_else(|| {
            format!("expected none, or preemptions AT:TO in rising order such as 17:2,40:0, found {text:?}")
        })
    }
}

/// A schedule at work: how many choices a run has had so far.
pub(super) struct Steering {
    schedule: Schedule,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Choices so far.
    points: u64,
    /// Preemptions so far.
    done: usize,
    /// The number of others that could have gone on, at each choice.
    choices: Vec<u8>,
}

impl Steering {
    pub(super) fn new(schedule: Schedule) -> Steering {
        Steering {
            schedule,
            state: Mutex::default(),
        }
    }

    /// A choice among so many others, at least one; which of them goes on, if one does.
    pub(super) fn point(&self, others: u32) -> Option<u32> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = state.points;
        state.points += 1;
        if state.choices.len() < KEPT {
            state.choices.push(u8::try_from(others).unwrap_or(u8::MAX));
        }
        let next = self.schedule.0.get(state.done)?;
        if next.at != at {
            return None;
        }
        state.done += 1;
        Some(next.to % others)
    }

    /// The number of others that could have gone on at each choice of the run, as far as they are kept.
    pub(super) fn choices(&self) -> Vec<u8> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.choices.clone()
    }
}

/// All orders of warps and blocks with a few preemptions, those with fewer first. If there are more than may be run, those that are
/// run lie evenly among them.
///
/// ```
/// use cute_runtime::emulator::Exploration;
///
/// // A program of two choices, between two warps each.
/// let mut exploration = Exploration::new(1, 100);
/// let mut orders = Vec::new();
/// while let Some(schedule) = exploration.next() {
///     orders.push(schedule.to_string());
///     exploration.ran(schedule, vec![1, 1]); // of a session: Session::choices
/// }
/// assert_eq!(orders, ["none", "0:0", "1:0"]);
/// assert_eq!(exploration.left_out(), 0);
/// ```
#[derive(Debug)]
pub struct Exploration {
    /// Preemptions of an order, at most.
    bound: usize,
    /// Runs that are still allowed.
    left: usize,
    /// Preemptions of the orders that are run now.
    depth: usize,
    queue: VecDeque<Schedule>,
    /// Orders that have run, with their choices, which orders with one more preemption are made of.
    ran: Vec<(Schedule, Vec<u8>)>,
    left_out: u64,
}

impl Exploration {
    /// The orders with at most so many preemptions, and so many of them.
    pub fn new(bound: usize, runs: usize) -> Exploration {
        Exploration {
            bound,
            left: runs,
            depth: 0,
            queue: VecDeque::from([Schedule::default()]),
            ran: Vec::new(),
            left_out: 0,
        }
    }

    /// The next order to run.
    #[expect(
        clippy::should_implement_trait,
        reason = "what is next depends on what was told by `ran`"
    )]
    pub fn next(&mut self) -> Option<Schedule> {
        if self.queue.is_empty() {
            self.deepen();
        }
        self.left = self.left.checked_sub(1)?;
        self.queue.pop_front()
    }

    /// Notes the choices that a run by an order had.
    pub fn ran(&mut self, schedule: Schedule, choices: Vec<u8>) {
        if schedule.0.len() < self.bound {
            self.ran.push((schedule, choices));
        }
    }

    /// The number of orders that were left out so far, as there are more than may be run. Those that would have come of them are not counted.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Queues orders with one preemption more.
    fn deepen(&mut self) {
        self.depth += 1;
        let ran = std::mem::take(&mut self.ran);
        if self.depth > self.bound {
            return;
        }
        let first = |schedule: &Schedule| schedule.0.last().map_or(0, |last| last.at as usize + 1);
        let total: u64 = ran
            .iter()
            .map(|(schedule, choices)| others(choices, first(schedule)).sum::<u64>())
            .sum();
        // Each number of preemptions has its share.
        let share = (self.left / (self.bound - self.depth + 1)) as u64;
        let taken = total.min(share);
        self.left_out += total - taken;
        let mut number = 0;
        let mut next = 0;
        for (schedule, choices) in &ran {
            let from = first(schedule);
            for (point, others) in others(choices, from).enumerate() {
                // Of the numbers of `total`, those of even distances.
                while next < taken {
                    let wanted = (u128::from(next) * u128::from(total) / u128::from(taken)) as u64;
                    if wanted >= number + others {
                        break;
                    }
                    let mut longer = schedule.clone();
                    longer.0.push(Preemption {
                        at: (from + point) as u64,
                        to: (wanted - number) as u32,
                    });
                    self.queue.push_back(longer);
                    next += 1;
                }
                number += others;
            }
        }
    }
}

/// The number of others that could have gone on, from a choice on.
fn others(choices: &[u8], from: usize) -> impl Iterator<Item = u64> {
    choices.iter().skip(from).map(|&others| u64::from(others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(bound: usize, runs: usize, choices: &[u8]) -> (Vec<String>, u64) {
        let mut exploration = Exploration::new(bound, runs);
        let mut found = Vec::new();
        while let Some(schedule) = exploration.next() {
            found.push(schedule.to_string());
            exploration.ran(schedule, choices.to_vec());
        }
        (found, exploration.left_out())
    }

    #[test]
    fn orders_with_fewer_preemptions_come_first_and_each_once() {
        let (found, left_out) = orders(2, 100, &[1, 2]);
        assert_eq!(found, ["none", "0:0", "1:0", "1:1", "0:0,1:0", "0:0,1:1"]);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn orders_beyond_the_number_of_runs_are_left_out_evenly() {
        let (found, left_out) = orders(1, 5, &[1; 100]);
        assert_eq!(found, ["none", "0:0", "25:0", "50:0", "75:0"]);
        assert_eq!(left_out, 96);
        let (found, _) = orders(2, 9, &[1; 100]);
        assert_eq!(found.len(), 9);
        assert!(
            found[8].contains(','),
            "each number has its share: {found:?}"
        );
    }

    #[test]
    fn schedules_are_read_as_they_are_written() {
        for text in ["none", "17:2", "0:0,4:1"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        for bad in ["", "3", "1:", "2:0,1:0", "1:0,1:0", "-1:0", "1:0;"] {
            assert!(
                bad.parse::<Schedule>()
                    .unwrap_err()
                    .contains("such as 17:2,40:0"),
                "{bad}"
            );
        }
    }
}
