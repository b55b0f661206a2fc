//! The first instruction of which two traces of a kernel differ.

use super::program::{Program, TRACED};
use std::collections::HashMap;
use std::fmt;

/// An instruction that leaves something else than it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its name with all modifiers; of branches, that of the instruction before, and that it is the way that differs.
    pub opcode: String,
    /// Its PTX.
    pub text: String,
    pub thread: usize,
    /// The number of values that the thread recorded before.
    pub before: usize,
    /// The register or the word of memory that differs.
    pub place: String,
    pub emulated: u64,
    pub found: u64,
    /// Values that it reads, as far as they were recorded: the same on both sides, unless other threads have a part in it.
    pub operands: Vec<(String, u64)>,
    /// Tells whether it reads what other threads hold.
    pub is_shared: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            text,
            place,
            emulated,
            found,
            ..
        } = self;
        write!(
            f,
            "`{text}` leaves {place} = {found:#x} instead of {emulated:#x}"
        )?;
        for (at, (name, value)) in self.operands.iter().enumerate() {
            let before = if at == 0 { "; operands: " } else { ", " };
            write!(f, "{before}{name} = {value:#x}")?;
        }
        let Difference { thread, before, .. } = self;
        write!(f, " (thread {thread}, value {before} of its trace)")
    }
}

/// A record of a thread.
#[derive(Clone, Copy, PartialEq)]
struct Record {
    /// The number of a point from 1; 0 behind the last record.
    point: usize,
    value: u64,
}

fn records(words: &[u32]) -> impl Iterator<Item = Record> {
    words.chunks_exact(4).map(|words| Record {
        point: words[0] as usize,
        value: u64::from(words[2]) << 32 | u64::from(words[1]),
    })
}

/// The first instruction whose result differs. Threads run at the same time, so it is the first one of some thread: one that reads
/// nothing of other threads, if there is one, as its own operands are right then.
pub fn first_difference(program: &Program, expected: &[u32], found: &[u32]) -> Option<Difference> {
    let points = program.points();
    let threads = expected
        .chunks_exact(TRACED)
        .zip(found.chunks_exact(TRACED));
    let all = threads.enumerate().filter_map(|(thread, (a, b))| {
        let (before, (a_first, b_first)) = records(a)
            .zip(records(b))
            .enumerate()
            .find(|(_, (a, b))| a != b)?;
        let mut values: HashMap<&str, u64> = HashMap::new();
        let mut last = None;
        for record in records(a).take(before) {
            let point = points.get(record.point.wrapping_sub(1))?;
            // What an instruction reads is what was recorded before its own first value.
            values.insert(point.place, record.value);
            last = Some(point);
        }
        let took_another_way = a_first.point != b_first.point;
        let point = match took_another_way {
            true => last?,
            false => points.get(a_first.point.wrapping_sub(1))?,
        };
        let step = point.step;
        let reads = step.reads.iter();
        let operands = reads
            .filter_map(|name| Some((name.clone(), *values.get(name.as_str())?)))
            .collect();
        Some(Difference {
            opcode: match took_another_way {
                true => format!("the way after {}", step.opcode()),
                false => step.opcode().into(),
            },
            text: step.text.clone(),
            thread,
            before,
            place: match took_another_way {
                true => "the next point".into(),
                false => point.place.into(),
            },
            emulated: if took_another_way {
                a_first.point as u64
            } else {
                a_first.value
            },
            found: if took_another_way {
                b_first.point as u64
            } else {
                b_first.value
            },
            operands,
            is_shared: step.is_shared(),
        })
    });
    all.min_by_key(|difference| (difference.is_shared, difference.before))
}
