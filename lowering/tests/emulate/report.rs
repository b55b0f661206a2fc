//! Tests that what `cute-report` tells from layouts is what the emulator counts when the kernel runs: sectors, and
//! wavefronts, for each line and step of every kernel that is run.
//!
//! The report is made of the module as it is lowered, and of the text itself where kernels stand in it.

use crate::common::parallel;
use crate::sources::Compiled;
use crate::{AS_THEY_ARE, CONFIGURATIONS, Configurations, Ran, lowered, parsed};
use cute_passes::report::{self, AccessReport};
use cute_runtime::emulator::Report;
use cute_runtime::package::{Package, Param};
use melior::ir::Module;
use std::collections::BTreeMap;

/// A line, its step and a kind of access.
type Key = (u32, Option<String>, String);

/// The figures that one op or another of a line asks, in thousandths a warp's request: the least and the most of all.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    /// Threads a request, of those of which it is known.
    threads: (u64, u64),
    figure: (u64, u64),
    /// All requests and what they ask together, where each op is executed as often as the others; least and most.
    requests: u64,
    sums: (u64, u64),
    assumed: bool,
}

impl Told {
    /// The figure of all, in thousandths a request, if each op of the line is executed as often as the others.
    fn mean(&self) -> Option<u64> {
        (self.sums.0 == self.sums.1).then(|| self.sums.0 * 1000 / self.requests.max(1))
    }

    /// Tells whether that is the figure, or fits it where fewer threads may take part than was told.
    fn may_be(&self, figure: u64) -> bool {
        self.mean() == Some(figure) || self.assumed && figure <= self.figure.1
    }
}

/// The counts of the emulator: executions by warps and by threads, and figures of them.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    warps: u64,
    threads: u64,
    requests: u64,
    sectors: u64,
    wavefronts: u64,
}

impl Counted {
    fn add(&mut self, other: Counted) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.wavefronts += other.wavefronts;
    }
}

/// Told of sectors, and of wavefronts.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    sectors: BTreeMap<Key, Told>,
    wavefronts: BTreeMap<Key, Told>,
    unknown: Vec<String>,
}

fn tell(
    into: &mut BTreeMap<Key, Told>,
    key: &Key,
    requests: u64,
    threads: u64,
    (least, most): (u64, u64),
    assumed: bool,
) {
    if requests == 0 {
        return;
    }
    let each = |sum: u64| sum * 1000 / requests;
    let new = Told {
        threads: (each(threads), each(threads)),
        figure: (each(least), each(most)),
        requests,
        sums: (least, most),
        assumed,
    };
    into.entry(key.clone())
        .and_modify(|old| {
            old.threads = (
                old.threads.0.min(new.threads.0),
                old.threads.1.max(new.threads.1),
            );
            old.figure = (
                old.figure.0.min(new.figure.0),
                old.figure.1.max(new.figure.1),
            );
            old.requests += new.requests;
            old.sums = (old.sums.0 + new.sums.0, old.sums.1 + new.sums.1);
            old.assumed |= new.assumed;
        })
        .or_insert(new);
}

/// The report's lines, after `change`, for a test of this test.
pub fn told(module: &Module, steps: bool, change: &dyn Fn(&mut AccessReport)) -> Lines {
    let mut lines = Lines::default();
    for kernel in report::of_module(module.as_operation(), None).kernels {
        if let Some((_, why)) = &kernel.unknown {
            lines.unknown.push(why.clone());
        }
        for op in kernel.ops {
            let Some(place) = op.place else { continue };
            let step = place.step.filter(|_| steps);
            for mut access in op.accesses {
                change(&mut access);
                let key = (place.line, step.clone(), access.kind.name().to_owned());
                match &access.global {
                    Some(Ok(sum)) => tell(
                        &mut lines.sectors,
                        &key,
                        sum.requests,
                        sum.threads,
                        (sum.least, sum.most),
                        access.assumed,
                    ),
                    Some(Err(why)) => lines.unknown.push(why.clone()),
                    None => {}
                }
                match &access.shared {
                    Some(Ok(sum)) => tell(
                        &mut lines.wavefronts,
                        &key,
                        sum.requests,
                        sum.threads,
                        (sum.least, sum.most),
                        access.assumed,
                    ),
                    Some(Err(why)) => lines.unknown.push(why.clone()),
                    None => {}
                }
            }
        }
    }
    lines
}

/// The counts of the emulator by lines and steps, of all runs together.
#[derive(Clone, Debug, Default)]
pub struct Counts(BTreeMap<Key, Counted>);

impl Counts {
    /// Adds what a run counted.
    pub fn add(&mut self, report: &Report) {
        for step in report.launches.iter().flat_map(|launch| &launch.steps) {
            let Some(place) = &step.source else { continue };
            let class = serde_name(&format!("{:?}", step.class));
            // The report has functions in place of their calls.
            let is_call = |step: &String| step.starts_with("called from ");
            let own = place.step.clone().filter(|step| !is_call(step));
            let key = (place.line, own, class);
            let sum = self.0.entry(key).or_default();
            sum.add(Counted {
                warps: step.counts.warps,
                threads: step.counts.threads,
                requests: step.counts.global.requests,
                sectors: step.counts.global.sectors,
                wavefronts: step.counts.shared.actual,
            });
        }
    }

    /// The counts by lines alone.
    fn without_steps(&self) -> Counts {
        let mut lines = Counts::default();
        for ((line, _, class), counted) in &self.0 {
            let key = (*line, None, class.clone());
            lines.0.entry(key).or_default().add(*counted);
        }
        lines
    }
}

/// `LoadMatrix` as `load_matrix`.
fn serde_name(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// The numbers of comparisons, by their results.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    /// Equal, to the thousandth.
    exact: usize,
    /// Equal, but LLVM says of the loads that they are on the line of what uses them.
    moved: usize,
    /// Between two figures of the report.
    between: usize,
    /// Bounded by the report's, which took threads to take part that do not.
    bounded: usize,
}

/// Lines behind a load's on which LLVM may say that it is, as those of what uses the value.
const MOVED: u32 = 3;

/// The counts of loads on the lines behind that of `key`.
fn strays<'a>(
    key: &'a Key,
    counted: &'a BTreeMap<Key, Counted>,
) -> impl Iterator<Item = &'a Counted> {
    let (line, step, kind) = key;
    let lines = if kind.ends_with("_load") { MOVED } else { 0 };
    (1..=lines).filter_map(move |by| counted.get(&(line + by, step.clone(), kind.clone())))
}

/// The figures told of loads on the lines before that of `key`: of the same step, or of any where what uses the value is an op of a region, which is of none.
fn before<'a>(key: &Key, told: &'a BTreeMap<Key, Told>) -> Vec<&'a Told> {
    let (line, step, kind) = key;
    let lines = if kind.ends_with("_load") { MOVED } else { 0 };
    let is_before = |(other, of, what): &Key| {
        (line.saturating_sub(lines)..*line).contains(other)
            && what == kind
            && (step.is_none() || of == step)
    };
    told.iter()
        .filter(|(key, _)| is_before(key))
        .map(|(_, told)| told)
        .collect()
}

/// The words of a difference that is an access which the report has and no thread made.
const UNMADE: &str = "of an access that no thread makes";

/// The differences of a report and the emulator.
fn disagreements(told: &Lines, Counts(counted): &Counts, compared: &mut Compared) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str,
                       told: &BTreeMap<Key, Told>,
                       of: &dyn Fn(&Counted) -> (u64, u64)| {
        for (key, told) in told {
            let Some(counted) = counted.get(key) else {
                if !strays(key, counted).any(|stray| {
                    let (figure, requests) = of(stray);
                    requests > 0 && told.may_be(figure * 1000 / requests)
                }) {
                    wrong.push(format!("{key:?}: {what} {UNMADE}: {told:?}"));
                }
                compared.moved += 1;
                continue;
            };
            let (figure, requests) = of(counted);
            if requests == 0 {
                continue;
            }
            let figure = figure * 1000 / requests;
            let threads = counted.threads * 1000 / counted.warps.max(1);
            let all_took_part = (told.threads.0..=told.threads.1).contains(&threads);
            let known = told.mean();
            let holds = if known == Some(figure) && all_took_part {
                compared.exact += 1;
                true
            } else if told.assumed {
                // Fewer threads took part than was told, or not all of them read.
                compared.bounded += 1;
                figure <= told.figure.1
            } else {
                compared.between += 1;
                all_took_part && (told.figure.0..=told.figure.1).contains(&figure)
            };
            if !holds {
                wrong.push(format!(
                    "{key:?}: {what} a request: told {told:?}, counted {figure} by {threads} threads (thousandths)"
                ));
            }
        }
    };
    compare("sectors", &told.sectors, &|c| (c.sectors, c.requests));
    compare("wavefronts", &told.wavefronts, &|c| (c.wavefronts, c.warps));
    // Nothing that was counted is left out.
    let mut left_out =
        |what: &str, told: &BTreeMap<Key, Told>, of: &dyn Fn(&Counted) -> (u64, u64)| {
            for (key, counted) in counted {
                let (figure, requests) = of(counted);
                if figure == 0 || requests == 0 || told.contains_key(key) {
                    continue;
                }
                let figure = figure * 1000 / requests;
                let before = before(key, told);
                if !before
                    .into_iter()
                    .any(|t| t.may_be(figure) || (t.figure.0..=t.figure.1).contains(&figure))
                {
                    wrong.push(format!("{key:?}: {what} are not told: {counted:?}"));
                }
            }
        };
    left_out("sectors", &told.sectors, &|c| (c.sectors, c.requests));
    left_out("wavefronts", &told.wavefronts, &|c| (c.wavefronts, c.warps));
    wrong.extend(told.unknown.iter().map(|why| format!("not known: {why}")));
    wrong
}

/// Tells whether all that is computed is computed by kernels that stand in the module.
fn has_kernels(module: &Module) -> bool {
    let report = report::of_module(module.as_operation(), None);
    !report.kernels.is_empty() && report.untiled == 0
}

/// Tells whether the report follows a source, of which this is the lowered module: it does not follow what warps with roles share of C, and of candidates one alone runs.
pub fn follows(source: &Compiled, module: &Module) -> bool {
    let has_roles = || module.as_operation().to_string().contains("mbarrier");
    !source.has_candidates() && (source.text.contains("cute.roles") || !has_roles())
}

/// Tells whether a launch passes a view that begins, or may begin, within a line of 128 bytes: the report takes tensors to begin where allocations do.
pub fn begins_within_lines(package: &Package) -> bool {
    let functions = package.manifest().functions.iter();
    let launches = functions.flat_map(|function| &function.launches);
    let mut params = launches.flat_map(|launch| &launch.params);
    params.any(|param| match param {
        Param::Byte { offset, .. } => offset.constant().is_none_or(|byte| byte % 128 != 0),
        _ => false,
    })
}

impl Compared {
    fn add(&mut self, other: Compared) {
        self.exact += other.exact;
        self.moved += other.moved;
        self.between += other.between;
        self.bounded += other.bounded;
    }
}

/// The differences of the report and what was counted, of a source with its name; none where the report does not follow it.
fn differences(ran: &Ran, compared: &mut Compared) -> Option<Vec<String>> {
    let told = ran.told.as_ref()?;
    // A run that failed was not counted.
    let failed = ran.failures.iter().cloned();
    let mut wrong = disagreements(told, &ran.counted, compared);
    // Whether tiles are stored whole or as sums, a launch decides by its sizes and multiprocessors; the report has both.
    if ran.name.contains("stream=") {
        wrong.retain(|wrong| !wrong.contains(UNMADE));
    }
    let wrong = wrong.into_iter();
    let named = wrong.map(|wrong| format!("{}: {wrong}", ran.name));
    Some(failed.chain(named).collect())
}

#[test]
fn the_report_is_what_the_emulator_counts() {
    let (mut wrong, mut compared, mut sources) = (Vec::new(), Compared::default(), 0);
    let found = parallel(&AS_THEY_ARE, |(source, ran)| {
        let ran = ran.as_ref()?;
        let mut compared = Compared::default();
        let mut wrong = differences(ran, &mut compared)?;
        // The report is on kernels whose functions stand in place of their calls.
        let has_calls = ["func.call", "cute.call", " call @"]
            .iter()
            .any(|call| source.text.contains(call));
        if !has_calls
            && let Ok(module) = parsed(&cute_ir::context(), source)
            && has_kernels(&module)
        {
            let told = told(&module, false, &|_| ());
            let more = disagreements(&told, &ran.counted.without_steps(), &mut compared);
            wrong.extend(
                more.into_iter()
                    .map(|wrong| format!("{}: {wrong}", ran.name)),
            );
        }
        Some((wrong, compared))
    });
    for (more, of) in found.into_iter().flatten() {
        wrong.extend(more);
        compared.add(of);
        sources += 1;
    }
    println!("{sources} sources with options: {compared:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sources >= 15, "found {sources} sources");
    // Of rows whose distance is known at the launch only there are bounds, and no figures.
    assert!(
        compared.exact >= 400 && (compared.between + compared.bounded) * 2 <= compared.exact,
        "{compared:?}"
    );
}

/// Configurations of the kernels that are too large to be run as they are, on problems that are not.
#[test]
fn the_report_is_right_for_every_configuration() {
    let Configurations { count, ran } = &*CONFIGURATIONS;
    let (mut wrong, mut compared) = (Vec::new(), Compared::default());
    for ran in ran {
        wrong.extend(differences(ran, &mut compared).unwrap_or_default());
    }
    println!("{count} configurations: {compared:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(*count >= 30, "found {count} configurations");
}

/// A report that is wrong is found to be.
#[test]
fn a_wrong_report_disagrees() {
    let small = AS_THEY_ARE
        .iter()
        .find_map(|(source, ran)| Some((source, ran.as_ref()?)));
    let (source, ran) = small.expect("a small source");
    let context = cute_ir::context();
    let module = lowered(&context, source).unwrap().module;
    let wrong = |change: &dyn Fn(&mut AccessReport)| {
        disagreements(
            &told(&module, true, change),
            &ran.counted,
            &mut Compared::default(),
        )
        .len()
    };
    assert_eq!(wrong(&|_| ()), 0);
    let sectors = |access: &mut AccessReport, by: &dyn Fn(u64) -> u64| {
        if let Some(Ok(sum)) = &mut access.global {
            (sum.least, sum.most) = (by(sum.least), by(sum.most));
        }
    };
    let passes = |access: &mut AccessReport, by: &dyn Fn(u64) -> u64| {
        if let Some(Ok(sum)) = &mut access.shared {
            (sum.least, sum.most) = (by(sum.least), by(sum.most));
        }
    };
    assert!(wrong(&|access| sectors(access, &|n| n + n / 8 + 1)) > 0);
    assert!(wrong(&|access| sectors(access, &|n| n - n / 8 - 1)) > 0);
    assert!(wrong(&|access| passes(access, &|n| 2 * n)) > 0);
    assert!(wrong(&|access| passes(access, &|n| n / 2)) > 0);
    assert!(wrong(&|access| access.global = None) > 0);
    assert!(wrong(&|access| access.shared = None) > 0);
    assert!(wrong(&|access| access.shared = Some(Err("no".into()))) > 0);
}
