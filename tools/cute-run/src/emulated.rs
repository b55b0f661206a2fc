//! Runs jobs on the emulator, each with one seed or with several.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use cute_runtime::device::{Device, DeviceError, Work};
use cute_runtime::emulator::{Config, Emulator, Finding, merge};

use crate::cli::Cli;
use crate::job::Job;
use crate::outcome::{Outcome, Status, plural};
use crate::session::{before, checked, failed, left, write_outputs};
use crate::words;

/// The settings of the emulation of the run of that number.
pub fn config(cli: &Cli, run: u32) -> Config {
    let default = Config::default();
    Config {
        seed: cli.seed.wrapping_add(run.into()),
        max_instructions: cli.max_instructions.unwrap_or(default.max_instructions),
        arch: cli.arch.clone(),
        sms: cli.sms,
        ..default
    }
}

/// Runs all jobs. What fails in one is in its outcome. `no_gpu` is why the device is not a GPU, where
/// one would have been taken.
///
/// # Errors
/// If times were asked for.
pub fn run(cli: &Cli, jobs: &[Job], no_gpu: Option<DeviceError>) -> anyhow::Result<Vec<Outcome>> {
    if cli.bench {
        let why = "--bench needs a GPU: the emulator does not measure time";
        match no_gpu {
            Some(error) => return Err(error).context(why),
            None => bail!("{why}; leave out --bench, or --device=emulator"),
        }
    }
    let note = no_gpu.map(|error| match error {
        DeviceError::NoGpu(why) => format!("no GPU ({why}); emulated"),
        _ => "no GPU; emulated".into(),
    });
    let run = |job| {
        let mut outcome = emulate(cli, job);
        outcome.notes.splice(..0, note.clone());
        outcome
    };
    Ok(jobs.iter().map(run).collect())
}

/// Runs a job with every seed. The results of each are verified; what is written to files and
/// reported is that of the first.
fn emulate(cli: &Cli, job: &Job) -> Outcome {
    let mut outcome = Outcome::new(job);
    let mut found = Vec::new();
    for run in 0..cli.seeds.unwrap_or(1) {
        if let Err(error) = emulate_once(cli, job, run, &mut outcome, &mut found) {
            let failure = failed(job, &error);
            outcome.error = failure.error;
            // What was wrong with a seed stays wrong.
            if outcome.status != Status::Wrong {
                outcome.status = failure.status;
            }
            break;
        }
    }
    outcome.seeds = found.len() as u32;
    outcome.findings = merge(found);
    if !outcome.findings.is_empty() {
        outcome.status = Status::Wrong;
        let counted = counted(&outcome.findings);
        outcome.error = Some(match outcome.error {
            Some(error) => format!("{counted}; {error}"),
            None => counted,
        });
    }
    outcome
}

/// Floating-point operations that one core emulates in a second, in products of matrices.
const RATE: f64 = 1.8e9;
/// Seconds that nobody needs to be told of.
const SHORT: f64 = 10.0;

/// The remark before something that takes long.
fn patience(flops: f64, cores: usize) -> Option<String> {
    let seconds = flops / RATE / cores as f64;
    (seconds > SHORT).then(|| {
        format!(
            "emulating {:.0} Gflop on {} takes about {seconds:.0} s with each seed; a smaller problem shows the same mistakes",
            flops / 1e9,
            plural(cores, "core")
        )
    })
}

fn emulate_once(
    cli: &Cli,
    job: &Job,
    run: u32,
    outcome: &mut Outcome,
    found: &mut Vec<Vec<Finding>>,
) -> anyhow::Result<()> {
    let config = config(cli, run);
    let seed = config.seed;
    let emulator = Emulator::new(config);
    let mut program = emulator.load(&job.package, &job.function)?;
    outcome.code = Some(program.code().to_string());
    let mut tensors = job.tensors()?;
    if run == 0 {
        let flops = Work::of(&job.function, &tensors).flops.unwrap_or(0.0);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if let Some(note) = patience(flops, cores) {
            eprintln!("note: {}: {note}", job.path.display());
        }
    }
    let before = before(job, &tensors);
    match program.run(&mut tensors) {
        Ok(()) => found.push(Vec::new()),
        Err(DeviceError::Findings(mut findings)) => {
            words::findings(&mut findings);
            for finding in findings.iter_mut().filter(|_| run > 0) {
                finding.shown_by = Some(format!("--seed={seed}"));
            }
            found.push(findings);
        }
        Err(error) => return Err(error.into()),
    }
    let report = program.report();
    if run == 0 {
        outcome.printed = report.map_or_else(String::new, |report| report.printed.clone());
        outcome.report = report.filter(|_| cli.report).cloned();
    }
    if report.is_some_and(|report| report.halted) {
        outcome.notes.push(format!(
            "ended before its time with seed {seed}, so the result is not whole, and neither written nor verified"
        ));
        return Ok(());
    }
    if run == 0 {
        write_outputs(job, &tensors)?;
    }
    // The first wrong result is shown; until then, that of the first seed.
    let memory = left(&*program, before.as_deref(), &tensors);
    if outcome.status != Status::Wrong
        && let Some(checked) = checked(cli, job, &memory)?
    {
        let right = checked.is_right();
        if !right && run > 0 {
            let note = format!("the result is wrong with seed {seed}, and right with those before");
            outcome.notes.push(note);
        }
        if !right || run == 0 {
            checked.put(outcome);
        }
    }
    Ok(())
}

/// `3 findings: missing wait, shared-memory race (2)`
fn counted(findings: &[Finding]) -> String {
    let mut kinds = BTreeMap::new();
    for finding in findings {
        *kinds.entry(finding.kind).or_insert(0) += 1;
    }
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| match count {
            1 => kind.name().to_string(),
            _ => format!("{} ({count})", kind.name()),
        })
        .collect();
    format!(
        "{}: {}",
        plural(findings.len(), "finding"),
        kinds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_announced() {
        assert_eq!(patience(1e9, 1), None);
        let note = patience(2.0 * 4096f64.powi(3), 2).unwrap();
        assert!(
            note.starts_with("emulating 137 Gflop on 2 cores takes about 38 s"),
            "{note}"
        );
    }
}
