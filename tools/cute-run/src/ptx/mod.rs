//! Runs of PTX files on the emulator: `cute-run FILE.ptx`.

mod execute;
mod options;
pub mod outcome;
mod plan;
pub mod sarif;
mod spec;
mod types;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use cute_runtime::device::Choice;
use cute_runtime::emulator::{
    self, Config, Exploration, Finding, Schedule, Session, causes, merge,
};

pub use options::Options;

use crate::cli::Cli;
use crate::emulated;
use crate::outcome::plural;
use crate::words;
use outcome::{Outcome, Status};

/// Tells whether a file is one of PTX, or one that says how to launch one.
fn is_ptx(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending == "ptx" || ending == "toml")
}

/// Runs the PTX files of a command line; none if its files are packages.
///
/// # Errors
/// If something cannot run, such as PTX that the emulator does not know.
pub fn run(cli: &Cli) -> anyhow::Result<Option<ExitCode>> {
    let count = cli.packages.iter().filter(|path| is_ptx(path)).count();
    if count == 0 {
        return match cli.ptx.given().as_slice() {
            [] => Ok(None),
            given => bail!(
                "{} {} for PTX files (FILE.ptx, or FILE.toml), found packages alone",
                given.join(", "),
                if given.len() == 1 { "is" } else { "are" }
            ),
        };
    }
    let [path] = cli.packages.as_slice() else {
        bail!(
            "expected one PTX file and no packages beside it, found {} files",
            cli.packages.len()
        );
    };
    refuse_others(cli)?;
    let plan = plan::plan(cli, path)?;
    let place = plan.ptx.display().to_string();
    let text = std::fs::read(&plan.ptx).with_context(|| place.clone())?;
    let text = String::from_utf8(text).with_context(|| format!("{place}: expected UTF-8"))?;
    let mut outcome = Outcome {
        ptx: place.clone(),
        arch: String::new(),
        launches: plan.launches.len(),
        seeds: cli.seeds.unwrap_or(1),
        orders: None,
        exit: 0,
        findings: Vec::new(),
        causes: Vec::new(),
        compared: Vec::new(),
        notes: Vec::new(),
        printed: String::new(),
        report: None,
    };
    let found = match cli.ptx.explore {
        Some(bounds) => explore(cli, &plan, &text, bounds, &mut outcome)?,
        None => {
            let mut found = Vec::new();
            for run in 0..outcome.seeds {
                let schedule = cli.ptx.schedule.clone();
                let label = format!("--seed={}", cli.seed.wrapping_add(run.into()));
                let ran = once(cli, &plan, &text, (run, label, schedule), &mut outcome)?;
                found.push(ran.1);
            }
            found
        }
    };
    outcome.findings = merge(found);
    outcome.causes = causes(&outcome.findings);
    let status = match cli.no_verify {
        true => Outcome {
            compared: Vec::new(),
            ..outcome
        },
        false => outcome,
    };
    finish(cli, status).map(Some)
}

/// Runs one order, of the number `run` and with those settings, and notes what came of it. Returns the session and its findings.
fn once(
    cli: &Cli,
    plan: &plan::Plan,
    text: &str,
    (run, label, schedule): (u32, String, Option<Schedule>),
    outcome: &mut Outcome,
) -> anyhow::Result<(Session, Vec<Finding>)> {
    let first = run == 0;
    let seeds = if cli.ptx.explore.is_some() { 0 } else { run };
    let timeline = cli.ptx.timeline.as_ref().filter(|_| first);
    let config = Config {
        schedule,
        timeline: timeline.map_or(0, |_| cli.ptx.timeline_blocks),
        ..emulated::config(cli, seeds)
    };
    let ran = execute::execute(plan, text, config, first);
    let ran = ran.with_context(|| outcome.ptx.clone())?;
    let mut found = ran.session.findings();
    words::findings(&mut found);
    if !first {
        for finding in &mut found {
            finding.shown_by = Some(label.clone());
        }
    }
    let wrong = ran.compared.iter().any(|compared| compared.wrong > 0);
    let was_wrong = outcome.compared.iter().any(|compared| compared.wrong > 0);
    if first {
        outcome.arch = ran.session.arch().to_string();
        let report = ran.session.report();
        outcome.printed.clone_from(&report.printed);
        outcome.report = cli.report.then(|| report.clone());
        outcome.compared = ran.compared;
    } else if wrong && !was_wrong {
        outcome.notes.push(format!(
            "wrong with {label}, and right with what ran before"
        ));
        outcome.compared = ran.compared;
    }
    for note in ran.notes {
        if !outcome.notes.contains(&note) {
            outcome.notes.push(note);
        }
    }
    if let Some(path) = timeline {
        let timelines = ran.session.timelines();
        let place = || path.display().to_string();
        let trace = serde_json::to_string(&emulator::perfetto(timelines))?;
        std::fs::write(path, trace).with_context(place)?;
        let of = |blocks: fn(&emulator::Timeline) -> u64| timelines.iter().map(blocks).sum::<u64>();
        let left_out = of(|timeline| timeline.blocks.iter().map(|block| block.left_out).sum());
        let others = of(|timeline| timeline.others);
        if others > 0 {
            outcome.notes.push(format!(
                "the timeline has the first blocks of each launch, and not {others} others (--timeline-blocks)"
            ));
        }
        if left_out > 0 {
            outcome.notes.push(format!(
                "the timeline lacks the last {left_out} stretches of its blocks, which have more than it holds"
            ));
        }
    }
    Ok((ran.session, found))
}

/// Runs orders of warps and blocks with few preemptions. Returns the findings of each.
fn explore(
    cli: &Cli,
    plan: &plan::Plan,
    text: &str,
    bounds: options::Bounds,
    outcome: &mut Outcome,
) -> anyhow::Result<Vec<Vec<Finding>>> {
    let mut exploration = Exploration::new(bounds.preemptions, bounds.runs);
    let (mut found, mut run) = (Vec::new(), 0);
    while let Some(schedule) = exploration.next() {
        let label = format!("--schedule={schedule}");
        let how = (run, label, Some(schedule.clone()));
        let (session, findings) = once(cli, plan, text, how, outcome)?;
        exploration.ran(schedule, session.choices());
        found.push(findings);
        run += 1;
    }
    outcome.orders = Some(run);
    outcome.notes.push(match exploration.left_out() {
        0 => format!(
            "all {run} orders of warps and blocks with at most {} ran",
            plural(bounds.preemptions, "preemption")
        ),
        left_out => format!(
            "{run} orders of warps and blocks ran, and {left_out} with at most {} did not (--explore={},RUNS)",
            plural(bounds.preemptions, "preemption"),
            bounds.preemptions
        ),
    });
    Ok(found)
}

fn finish(cli: &Cli, mut outcome: Outcome) -> anyhow::Result<ExitCode> {
    outcome.exit = outcome.status() as u8;
    sarif::write(cli, &outcome.ptx, &outcome.findings)?;
    match cli.json {
        true => println!("{}", serde_json::to_string_pretty(&outcome)?),
        false => outcome.print(cli.findings),
    }
    Ok(match outcome.status() {
        Status::Right => ExitCode::SUCCESS,
        status => ExitCode::from(status as u8),
    })
}

/// Refuses options that mean nothing for PTX files.
fn refuse_others(cli: &Cli) -> anyhow::Result<()> {
    let others = [
        ("--function", cli.function.is_some(), "--kernel names one"),
        (
            "--input",
            !cli.input.is_empty(),
            "--arg FILE.npy and --memory NAME=FILE.npy read arrays",
        ),
        (
            "--shape",
            !cli.shape.is_empty(),
            "--arg \"f32[64,128]\" says sizes",
        ),
        ("--layout", !cli.layout.is_empty(), "memory has sizes alone"),
        (
            "--set",
            !cli.set.is_empty(),
            "--arg f32=2.5 passes a number",
        ),
        (
            "--bench",
            cli.bench || cli.bench_launch,
            "the emulator does not measure time",
        ),
        ("--tune", cli.tune, "candidates are in packages"),
        ("--info", cli.info, "the file is text"),
        ("--emit", cli.emit.is_some(), "the file is PTX already"),
        (
            "--export",
            cli.export.is_some(),
            "libraries are made of packages",
        ),
    ];
    for (name, given, instead) in others {
        if given {
            bail!("{name} is for packages, found a PTX file; {instead}");
        }
    }
    match &cli.device {
        Choice::Auto | Choice::Emulator => Ok(()),
        _ => bail!("expected --device=emulator for a PTX file, which no GPU is asked to run"),
    }
}
