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
use cute_runtime::emulator::{causes, merge};

pub use options::Options;

use crate::cli::Cli;
use crate::emulated;
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
        exit: 0,
        findings: Vec::new(),
        causes: Vec::new(),
        compared: Vec::new(),
        notes: Vec::new(),
        printed: String::new(),
        report: None,
    };
    let mut found = Vec::new();
    for run in 0..outcome.seeds {
        let config = emulated::config(cli, run);
        let seed = config.seed;
        let ran = execute::execute(&plan, &text, config, run == 0);
        let ran = ran.with_context(|| place.clone())?;
        found.push(ran.session.findings());
        let wrong = ran.compared.iter().any(|compared| compared.wrong > 0);
        let was_wrong = outcome.compared.iter().any(|compared| compared.wrong > 0);
        if run == 0 {
            outcome.arch = ran.session.arch().to_string();
            let report = ran.session.report();
            outcome.printed.clone_from(&report.printed);
            outcome.report = cli.report.then(|| report.clone());
            outcome.compared = ran.compared;
        } else if wrong && !was_wrong {
            outcome.notes.push(format!(
                "wrong with seed {seed}, and right with those before"
            ));
            outcome.compared = ran.compared;
        }
        for note in ran.notes {
            if !outcome.notes.contains(&note) {
                outcome.notes.push(note);
            }
        }
    }
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
