//! The mistakes of a kernel, and their places.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::cause::Gap;
use crate::ptx::Place;

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A block that is named and that the cluster does not have.
    OutsideCluster,
    /// An access outside of every tensor, variable or array.
    OutOfBounds,
    /// An address that is no multiple of what the access moves at once.
    Misaligned,
    /// A register that is read before it is written.
    UninitializedRegister,
    /// Shared memory that is read before it is written.
    UninitializedShared,
    /// Global or local memory that is read before it is written.
    UninitializedMemory,
    /// Two threads access the same shared memory, one of them writes, and nothing orders them.
    SharedRace,
    /// Two threads write one and the same value to the same shared memory, and nothing orders them.
    EqualWrites,
    /// Shared memory is accessed while an asynchronous copy to it may be under way.
    MissingWait,
    /// An asynchronous operation and what a thread did before it, in an order but without the fence that it takes.
    MissingFence,
    /// A barrier, or an instruction that all threads of a warp execute together, is not reached by all of them.
    BarrierDivergence,
    /// Threads wait for each other, or for threads that are gone.
    Deadlock,
    /// A block executes more instructions than it may: it may never end.
    InstructionLimit,
    /// Two threads write different values to the same global memory, and nothing orders them.
    ConflictingWrites,
    /// A thread reads global memory that another one writes, and nothing orders them.
    GlobalRace,
    /// Global memory that a load reads as what nothing writes while the kernel runs (`.nc`), and that the launch writes.
    NonCoherentRead,
    /// An output element that no thread writes.
    NeverWritten,
    /// A write to an argument that is only read.
    WriteToInput,
    /// An operand or a use that PTX leaves undefined.
    Undefined,
    /// An assertion of the program failed, or it trapped.
    Trap,
}

impl Kind {
    /// A short name, as `cute-run` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::OutsideCluster => "outside of the cluster",
            Kind::OutOfBounds => "out of bounds",
            Kind::Misaligned => "misaligned",
            Kind::UninitializedRegister => "uninitialised register",
            Kind::UninitializedShared => "uninitialised shared memory",
            Kind::UninitializedMemory => "uninitialised memory",
            Kind::SharedRace => "shared-memory race",
            Kind::EqualWrites => "race of equal writes",
            Kind::MissingWait => "missing wait",
            Kind::MissingFence => "missing fence",
            Kind::BarrierDivergence => "barrier divergence",
            Kind::Deadlock => "deadlock",
            Kind::InstructionLimit => "instruction limit",
            Kind::ConflictingWrites => "conflicting writes",
            Kind::GlobalRace => "global-memory race",
            Kind::NonCoherentRead => "non-coherent read",
            Kind::NeverWritten => "never written",
            Kind::WriteToInput => "write to an input",
            Kind::Undefined => "undefined",
            Kind::Trap => "trap",
        }
    }
}

impl Kind {
    /// The place among what is told: what is meant for a block that there is not does not arrive, threads that go astray miss barriers and waits, and what nobody
    /// waited for makes findings of other kinds.
    fn rank(self) -> u8 {
        match self {
            Kind::OutsideCluster => 0,
            Kind::BarrierDivergence | Kind::Deadlock => 1,
            Kind::MissingWait | Kind::MissingFence => 2,
            _ => 3,
        }
    }

    /// Tells whether two threads may make one by one instruction.
    pub(super) fn is_of_two(self) -> bool {
        matches!(
            self,
            Kind::SharedRace
                | Kind::EqualWrites
                | Kind::MissingWait
                | Kind::GlobalRace
                | Kind::ConflictingWrites
        )
    }

    /// Tells whether it may be about threads of two blocks, of which the one that came second is told.
    pub(super) fn is_between_blocks(self) -> bool {
        matches!(
            self,
            Kind::ConflictingWrites | Kind::GlobalRace | Kind::NonCoherentRead
        )
    }
}

/// An instruction of a program: the PTX line, and what it was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The instruction as it stands in the PTX, without operands: `cp.async.wait_group`.
    pub instruction: String,
    /// Line of the PTX, from 1.
    pub ptx_line: u32,
    /// The place in the program that was compiled; none where the PTX does not say.
    pub source: Option<Place>,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(
                f,
                "{source}: {} (PTX line {})",
                self.instruction, self.ptx_line
            ),
            None => write!(f, "PTX line {}: {}", self.ptx_line, self.instruction),
        }
    }
}

/// The thread that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Thread {
    /// Index of the block in the grid: x, y, z.
    pub block: [u32; 3],
    /// Index of the warp in the block, from 0.
    pub warp: u32,
    /// Lane of the warp, 0 to 31.
    pub lane: u32,
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "block ({x},{y},{z}), warp {}, lane {}",
            self.warp, self.lane
        )
    }
}

/// One mistake: the first time that it was seen, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind of mistake.
    pub kind: Kind,
    /// The name of the kernel.
    pub kernel: String,
    /// None for what is found after the launch.
    pub site: Option<Site>,
    /// The access that it conflicts with; of a deadlock the instruction that made the mbarrier, where its count is to blame.
    pub other: Option<Site>,
    /// The thread that made the mistake; none where it is about no single one.
    pub thread: Option<Thread>,
    /// The place in memory: `shared memory at byte 4096`, `A at element (3,17)`.
    pub address: Option<String>,
    /// The text of the finding: what was expected, what was found, what to do.
    pub message: String,
    /// The place where a barrier or a fence would order the two accesses, if that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Lanes and executions that it was seen for.
    pub count: u64,
    /// The same of findings that follow from it and are not told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub follow: u64,
    /// The settings of the first run that showed it, of several that were made; none if that is the first of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for it.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A block of text: kind and place, what is wrong, who and where, the other access.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.site {
            Some(site) => writeln!(f, "{}: {site}", self.kind.name())?,
            None => writeln!(f, "{}: after the last instruction", self.kind.name())?,
        }
        writeln!(f, "  {}", self.message.replace('\n', "\n  "))?;
        let mut place = vec![format!("kernel {}", self.kernel)];
        place.extend(self.thread.map(|thread| thread.to_string()));
        place.extend(self.address.clone());
        if self.count > 1 {
            place.push(format!("{} times", self.count));
        }
        write!(f, "  {}", place.join("; "))?;
        if let Some(other) = &self.other {
            let what = match self.kind {
                Kind::Deadlock => "the mbarrier is made at",
                _ => "the other access",
            };
            write!(f, "\n  {what}: {other}")?;
        }
        if self.follow > 0 {
            let times = match self.follow {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            write!(f, "\n  findings that follow from it: {times}, not listed")?;
        }
        if let Some(run) = &self.shown_by {
            write!(f, "\n  first seen with {run}")?;
        }
        Ok(())
    }
}

/// The findings of several runs of one function as one list, causes first. What is found again between the same two places
/// of the program that was compiled is counted with the first, also where the other access comes first and the same barrier orders both. What follows from
/// another finding is left out, and counted with its cause: a race of a copy that nobody waited for, and a read of shared memory that a race lets come too early.
pub fn merge(runs: impl IntoIterator<Item = Vec<Finding>>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let mut known = HashMap::new();
    for found in runs.into_iter().flatten() {
        // What has no instruction differs by what it is about.
        let about = found.address.clone().filter(|_| found.site.is_none());
        let (site, other) = (place(found.site.as_ref()), place(found.other.as_ref()));
        let key = |pair| (found.kind, found.kernel.clone(), pair, about.clone());
        let back = known.get(&key((other.clone(), site.clone())));
        let loops = |finding: &Finding| finding.gap.map(Gap::loops);
        let is_same = |at: &&usize| found.gap.is_some() && loops(&all[**at]) == loops(&found);
        let at = back.filter(is_same).copied();
        match at.or_else(|| known.get(&key((site.clone(), other.clone()))).copied()) {
            Some(at) => all[at].count += found.count,
            None => {
                known.insert(key((site, other)), all.len());
                all.push(found);
            }
        }
    }
    let cause = |finding: &Finding| {
        let mut causes = all.iter();
        causes.position(|cause| follows(finding, cause))
    };
    let causes: Vec<Option<usize>> = all.iter().map(cause).collect();
    for (index, first) in causes.iter().enumerate() {
        let Some(mut first) = *first else { continue };
        while let Some(before) = causes[first] {
            first = before;
        }
        let count = all[index].count;
        all[first].follow += count;
    }
    let told = all.into_iter().zip(causes);
    let mut told: Vec<_> = told
        .filter_map(|(finding, cause)| cause.is_none().then_some(finding))
        .collect();
    // Who waits for those that wait at an mbarrier that never ends its phase is told behind them.
    let waits = |finding: &Finding| finding.kind == Kind::Deadlock && finding.other.is_none();
    told.sort_by_key(|finding| (finding.kind.rank(), waits(finding)));
    told
}

/// Tells whether a finding is a consequence of another one, which is of a kind that is none of such a finding.
fn follows(finding: &Finding, cause: &Finding) -> bool {
    if finding.kernel != cause.kernel {
        return false;
    }
    let (site, other) = (place(finding.site.as_ref()), place(finding.other.as_ref()));
    let theirs = [place(cause.site.as_ref()), place(cause.other.as_ref())];
    match (finding.kind, cause.kind) {
        (Kind::SharedRace | Kind::EqualWrites, Kind::MissingWait) => {
            other.is_some() && other == theirs[1]
        }
        (Kind::UninitializedShared, Kind::MissingWait | Kind::SharedRace) => {
            site.is_some() && theirs.contains(&site)
        }
        _ => false,
    }
}

fn place(site: Option<&Site>) -> Option<Where> {
    site.map(Where::of)
}

/// The place of an instruction: what it was compiled from, else its line of PTX.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Where {
    Source(Place),
    Ptx(u32),
}

impl Where {
    fn of(site: &Site) -> Self {
        match &site.source {
            Some(place) => Where::Source(place.clone()),
            None => Where::Ptx(site.ptx_line),
        }
    }
}

/// The key that tells mistakes apart: the kind and the instructions.
type Key = (Kind, u32, Option<u32>);

/// A finding before its sites are written out.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub kind: Kind,
    /// Index of the instruction.
    pub inst: u32,
    /// Index of the instruction that it conflicts with.
    pub other: Option<u32>,
    pub thread: Thread,
    pub address: Option<String>,
    pub message: String,
    pub count: u64,
}

/// The findings of some blocks: one for each kind and instruction.
#[derive(Default, Debug)]
pub(super) struct Collector {
    found: BTreeMap<Key, Raw>,
}

impl Collector {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Counts one more, and keeps what `make` says if it is the first.
    pub(super) fn add(
        &mut self,
        kind: Kind,
        inst: u32,
        other: Option<u32>,
        make: impl FnOnce() -> (Thread, Option<String>, String),
    ) {
        let slot = self.found.entry((kind, inst, other)).or_insert_with(|| {
            let (thread, address, message) = make();
            Raw {
                kind,
                inst,
                other,
                thread,
                address,
                message,
                count: 0,
            }
        });
        slot.count += 1;
    }

    /// Takes the findings of other blocks; of two of a kind, that of the first block is kept, so
    /// that the result does not depend on which core ran what.
    pub(super) fn merge(&mut self, other: Collector) {
        for (key, raw) in other.found {
            match self.found.entry(key) {
                std::collections::btree_map::Entry::Vacant(slot) => {
                    slot.insert(raw);
                }
                std::collections::btree_map::Entry::Occupied(mut slot) => {
                    let count = slot.get().count + raw.count;
                    let order = |raw: &Raw| {
                        let [x, y, z] = raw.thread.block;
                        ([z, y, x], raw.thread.warp, raw.thread.lane)
                    };
                    if order(&raw) < order(slot.get()) {
                        slot.insert(raw);
                    }
                    slot.get_mut().count = count;
                }
            }
        }
    }

    pub(super) fn into_raw(self) -> impl Iterator<Item = Raw> {
        self.found.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: Kind, ptx_line: Option<u32>, address: &str, count: u64) -> Finding {
        Finding {
            kind,
            kernel: "k".into(),
            site: ptx_line.map(|ptx_line| Site {
                instruction: "st.shared.u32".into(),
                ptx_line,
                source: None,
            }),
            other: None,
            thread: None,
            address: Some(address.into()),
            message: "found it".into(),
            gap: None,
            count,
            follow: 0,
            shown_by: None,
        }
    }

    #[test]
    fn what_is_found_again_is_counted() {
        let race = |address, count| finding(Kind::SharedRace, Some(7), address, count);
        let never = |address| finding(Kind::NeverWritten, None, address, 1);
        let runs = [
            vec![race("byte 0", 3), never("C")],
            vec![race("byte 4", 2), never("D"), never("C")],
            vec![finding(Kind::SharedRace, Some(8), "byte 0", 1)],
        ];
        let expected = [
            race("byte 0", 5),
            finding(Kind::NeverWritten, None, "C", 2),
            never("D"),
            finding(Kind::SharedRace, Some(8), "byte 0", 1),
        ];
        assert_eq!(merge(runs), expected);
    }

    #[test]
    fn causes_come_first_and_hide_what_follows_from_them() {
        let at = |finding: Finding, other: u32| Finding {
            other: Some(Site {
                instruction: "cp.async.cg.shared.global".into(),
                ptx_line: other,
                source: None,
            }),
            ..finding
        };
        let race = |line, other| at(finding(Kind::SharedRace, Some(line), "byte 0", 1), other);
        let wait = at(finding(Kind::MissingWait, Some(9), "byte 0", 1), 3);
        let split = finding(Kind::BarrierDivergence, Some(5), "", 1);
        // A wait may be found before the threads go astray.
        let runs = [vec![race(9, 3), race(9, 4), wait.clone(), split.clone()]];
        // The race with the copy of line 3, which nobody waited for, is left out; that with the one of line 4 is told.
        let counted = Finding { follow: 1, ..wait };
        assert!(
            counted
                .to_string()
                .ends_with("findings that follow from it: once, not listed")
        );
        assert_eq!(merge(runs), [split, counted, race(9, 4)]);
    }

    #[test]
    fn what_others_wait_for_is_told_before_them() {
        let waits = finding(Kind::Deadlock, Some(5), "", 1);
        let counted = Finding {
            other: waits.site.clone(),
            ..finding(Kind::Deadlock, Some(9), "", 1)
        };
        let nowhere = finding(Kind::OutsideCluster, Some(12), "", 1);
        let race = finding(Kind::SharedRace, Some(2), "byte 0", 1);
        let runs = [vec![
            race.clone(),
            waits.clone(),
            counted.clone(),
            nowhere.clone(),
        ]];
        assert!(
            counted
                .to_string()
                .ends_with("the mbarrier is made at: PTX line 5: st.shared.u32")
        );
        assert_eq!(merge(runs), [nowhere, counted, waits, race]);
    }

    #[test]
    fn one_barrier_that_is_missing_is_one_finding() {
        let race = |line: u32, other: u32, gap: Option<(u32, u32)>| Finding {
            other: Some(Site {
                instruction: "ld.shared.f32".into(),
                ptx_line: other,
                source: None,
            }),
            gap: gap.map(|(after, before)| Gap { after, before }),
            ..finding(Kind::SharedRace, Some(line), "byte 0", 1)
        };
        let early = finding(Kind::UninitializedShared, Some(9), "byte 0", 3);
        let elsewhere = finding(Kind::UninitializedShared, Some(8), "byte 0", 1);
        let between = Some((4, 9));
        let runs = [vec![
            early.clone(),
            race(4, 9, between),
            race(9, 4, between),
            elsewhere.clone(),
        ]];
        let told = Finding {
            count: 2,
            follow: 3,
            ..race(4, 9, between)
        };
        assert_eq!(merge(runs), [told, elsewhere]);
        // In a loop two barriers may be missing.
        let back = Some((9, 4));
        let runs = [vec![race(4, 9, between), race(9, 4, back)]];
        assert_eq!(merge(runs).len(), 2);
    }

    #[test]
    fn what_is_found_between_two_places_is_one_finding() {
        let from = |column| {
            Some(Place {
                file: "k.mlir".into(),
                line: 7,
                column,
                step: None,
            })
        };
        let found = |ptx_line, column| {
            let mut finding = finding(Kind::SharedRace, Some(ptx_line), "byte 0", 2);
            finding.site.as_mut().unwrap().source = from(column);
            finding
        };
        let merged = merge([vec![found(10, 3), found(11, 3), found(12, 5)]]);
        let counts: Vec<_> = merged.iter().map(|finding| finding.count).collect();
        assert_eq!(counts, [4, 2]);
    }

    #[test]
    fn findings_are_blocks_of_text() {
        let mut race = finding(Kind::SharedRace, Some(7), "shared memory at byte 0", 3);
        race.thread = Some(Thread {
            block: [1, 0, 0],
            warp: 2,
            lane: 5,
        });
        race.other = race.site.clone();
        assert_eq!(
            race.to_string(),
            "shared-memory race: PTX line 7: st.shared.u32\n  found it\n  \
             kernel k; block (1,0,0), warp 2, lane 5; shared memory at byte 0; 3 times\n  \
             the other access: PTX line 7: st.shared.u32"
        );
        assert_eq!(
            finding(Kind::NeverWritten, None, "C at element (3)", 1).to_string(),
            "never written: after the last instruction\n  found it\n  kernel k; C at element (3)"
        );
    }
}
