//! Runs jobs on a device, one after another or alternating.

use anyhow::{anyhow, bail};
use cute_runtime::device::{
    Device, DeviceError, DeviceKind, Opened, Program, TimingConfig, Work, measure, open,
};
use cute_runtime::verify::{self, Memory};
use cute_runtime::{Compute, HostTensor};

use crate::cli::Cli;
use crate::emulated;
use crate::expect::Expected;
use crate::job::Job;
use crate::outcome::{Outcome, Outcomes, Status};
use crate::words;

/// Runs all jobs. What fails in one is in its outcome.
///
/// # Errors
/// If there is no device.
pub fn run(cli: &Cli, jobs: Vec<Job>) -> anyhow::Result<Outcomes> {
    let Opened { device, no_gpu } = open(cli.device, emulated::config(cli, 0))?;
    let info = device.info().clone();
    let results = match info.kind {
        DeviceKind::Emulator => emulated::run(cli, &jobs, no_gpu)?,
        DeviceKind::Cuda => {
            needs_no_emulator(cli)?;
            if cli.interleave {
                run_interleaved(cli, &jobs, &*device)
            } else {
                run_in_order(cli, &jobs, &*device)
            }
        }
    };
    Ok(Outcomes {
        device: info,
        results,
    })
}

/// # Errors
/// If something was asked for that a GPU does not do.
fn needs_no_emulator(cli: &Cli) -> anyhow::Result<()> {
    let asked = [
        ("--arch", cli.arch.is_some()),
        ("--max-instructions", cli.max_instructions.is_some()),
        ("--seeds", cli.seeds.is_some()),
        ("--sms", cli.sms.is_some()),
        ("--report", cli.report),
    ];
    match asked.iter().find(|(_, asked)| *asked) {
        Some((option, _)) => bail!("{option} is for the emulator; add --device=emulator"),
        None => Ok(()),
    }
}

fn run_in_order(cli: &Cli, jobs: &[Job], device: &dyn Device) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for job in jobs {
        let outcome = match fault_before(&outcomes) {
            None => run_alone(cli, job, device),
            Some(error) => failed(job, &error),
        };
        outcomes.push(outcome);
    }
    outcomes
}

/// After a fault the driver refuses everything until the process ends.
fn fault_before(outcomes: &[Outcome]) -> Option<anyhow::Error> {
    let faulted = outcomes.iter().find(|outcome| outcome.faulted)?;
    let package = &faulted.package;
    Some(anyhow!(
        "not run, as a kernel of {package} faulted before; run this package alone"
    ))
}

fn config(cli: &Cli) -> TimingConfig {
    TimingConfig {
        warmup: cli.warmup as usize,
        reps: cli.reps as usize,
    }
}

pub fn failed(job: &Job, error: &anyhow::Error) -> Outcome {
    let is = |kind: fn(&DeviceError) -> bool| error.downcast_ref::<DeviceError>().is_some_and(kind);
    let wrong = is(DeviceError::is_wrong_result);
    Outcome {
        status: if wrong { Status::Wrong } else { Status::Error },
        error: Some(words::text(error)),
        faulted: is(DeviceError::is_fault),
        ..Outcome::new(job)
    }
}

/// Adds an error to what is known already.
fn fail(outcome: &mut Outcome, job: &Job, error: &anyhow::Error) {
    let failure = failed(job, error);
    outcome.status = failure.status;
    outcome.error = failure.error;
    outcome.faulted |= failure.faulted;
}

fn run_alone(cli: &Cli, job: &Job, device: &dyn Device) -> Outcome {
    let mut program = match device.load(&job.package, &job.function) {
        Ok(program) => program,
        Err(error) => return failed(job, &error.into()),
    };
    let (mut outcome, inputs) = execute(cli, job, &mut *program);
    if let (true, Some(inputs)) = (cli.bench, inputs) {
        let work = Work::of(&job.function, &inputs);
        let measured = program
            .stopwatch(&inputs)
            .and_then(|watch| measure(&mut [watch], &[work], &config(cli)));
        match measured {
            Ok(mut measurements) => outcome.measurement = measurements.pop().map(Into::into),
            Err(error) => fail(&mut outcome, job, &error.into()),
        }
    }
    outcome
}

/// Runs and verifies all first, then measures those that are right run by run in turn.
fn run_interleaved(cli: &Cli, jobs: &[Job], device: &dyn Device) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    // Index of the job, its program, its arguments.
    let mut ready: Vec<(usize, Box<dyn Program + '_>, Vec<HostTensor>)> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        if let Some(error) = fault_before(&outcomes) {
            outcomes.push(failed(job, &error));
            continue;
        }
        match device.load(&job.package, &job.function) {
            Err(error) => outcomes.push(failed(job, &error.into())),
            Ok(mut program) => {
                let (outcome, inputs) = execute(cli, job, &mut *program);
                outcomes.push(outcome);
                ready.extend(inputs.map(|inputs| (index, program, inputs)));
            }
        }
    }
    if fault_before(&outcomes).is_some() {
        for outcome in &mut outcomes {
            outcome
                .notes
                .push("not measured, as a kernel faulted".into());
        }
        return outcomes;
    }
    let (mut watches, mut work, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    for (index, program, inputs) in &mut ready {
        let job = &jobs[*index];
        match program.stopwatch(inputs) {
            Ok(watch) => {
                watches.push(watch);
                work.push(Work::of(&job.function, inputs));
                measured.push(*index);
            }
            Err(error) => fail(&mut outcomes[*index], job, &error.into()),
        }
    }
    match measure(&mut watches, &work, &config(cli)) {
        Ok(measurements) => {
            for (index, measurement) in measured.into_iter().zip(measurements) {
                outcomes[index].measurement = Some(measurement.into());
            }
        }
        Err(error) => {
            // Which of them it was is not known: a fault takes the context with it.
            let error = anyhow::Error::from(error).context("while measuring all packages in turn");
            for index in measured {
                fail(&mut outcomes[index], &jobs[index], &error);
            }
        }
    }
    outcomes
}

/// Runs, writes the outputs, verifies. Gives the arguments back where the result may be measured.
pub fn execute(
    cli: &Cli,
    job: &Job,
    program: &mut dyn Program,
) -> (Outcome, Option<Vec<HostTensor>>) {
    let mut outcome = Outcome {
        code: Some(program.code().to_string()),
        notes: program.note().map(str::to_string).into_iter().collect(),
        ..Outcome::new(job)
    };
    match try_execute(cli, job, program, &mut outcome) {
        Ok(tensors) if outcome.status != Status::Wrong => (outcome, Some(tensors)),
        Ok(_) => {
            if cli.bench {
                outcome
                    .notes
                    .push("not measured, as the result is wrong".into());
            }
            (outcome, None)
        }
        Err(error) => {
            fail(&mut outcome, job, &error);
            (outcome, None)
        }
    }
}

fn try_execute(
    cli: &Cli,
    job: &Job,
    program: &mut dyn Program,
    outcome: &mut Outcome,
) -> anyhow::Result<Vec<HostTensor>> {
    let mut tensors = job.tensors()?;
    let before = before(job, &tensors);
    program.run(&mut tensors)?;
    write_outputs(job, &tensors)?;
    let memory = left(program, before.as_deref(), &tensors);
    if let Some(checked) = checked(cli, job, &memory)? {
        checked.put(outcome);
    }
    Ok(tensors)
}

/// The memory that the last run of a program left, of these arguments, and what it had before.
pub fn left<'a>(
    program: &'a dyn Program,
    before: Option<&'a [HostTensor]>,
    after: &'a [HostTensor],
) -> Memory<'a> {
    Memory {
        before,
        after,
        workspace: Some(program.workspace()),
        sm_count: Some(program.multiprocessors()),
    }
}

/// Writes the files that were asked for.
pub fn write_outputs(job: &Job, tensors: &[HostTensor]) -> anyhow::Result<()> {
    for (index, path) in &job.outputs {
        tensors[*index].write_npy(path)?;
    }
    Ok(())
}

/// The arguments from before a run, where a result cannot be verified without them.
pub fn before(job: &Job, tensors: &[HostTensor]) -> Option<Vec<HostTensor>> {
    let roles: Vec<_> = job
        .function
        .computes
        .iter()
        .flat_map(Compute::roles)
        .collect();
    // A view has the elements of its argument.
    let argument = |arg: usize| job.function.argument_of(arg);
    let is_read = |arg: usize| {
        let mut read = roles.iter().filter(|role| role.access.reads());
        read.any(|role| argument(role.arg) == Some(arg))
    };
    let outputs = roles.iter().filter(|role| role.access.writes());
    let mut outputs = outputs.filter_map(|output| argument(output.arg));
    outputs.any(is_read).then(|| tensors.to_vec())
}

/// The comparisons of the results of a run.
pub struct Checked {
    verification: Vec<verify::Report>,
    expected: Vec<Expected>,
    /// The outputs that nothing was compared with.
    left: Vec<String>,
}

impl Checked {
    pub fn is_right(&self) -> bool {
        self.verification.iter().all(verify::Report::passed)
            && self.expected.iter().all(Expected::passed)
    }

    /// Tells whether results were compared with what the package says of them.
    pub fn is_verified(&self) -> bool {
        !self.verification.is_empty()
    }

    /// The text of the comparisons with what the package says that did not pass.
    pub fn differences(&self) -> String {
        let wrong = self.verification.iter().filter(|report| !report.passed());
        wrong
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub fn put(self, outcome: &mut Outcome) {
        let is_compared = !self.verification.is_empty() || !self.expected.is_empty();
        outcome.status = match self.is_right() {
            true if is_compared => Status::Right,
            true => Status::Unverified,
            false => Status::Wrong,
        };
        if !is_compared {
            outcome.notes.push(format!(
                "nothing to verify: all that {} computes stands in branches that this call does not take",
                outcome.function
            ));
        }
        if !self.left.is_empty() {
            let note = format!("not compared: {}", self.left.join(", "));
            outcome.notes.push(note);
        }
        outcome.verification = self.verification;
        outcome.expected = self.expected;
    }
}

/// Compares what a function has written with what the package says and with what the caller expects; none where nothing is to be
/// compared. A package that does not say what it computes has what is expected alone.
pub fn checked(cli: &Cli, job: &Job, memory: &Memory<'_>) -> anyhow::Result<Option<Checked>> {
    let says = !job.function.computes.is_empty() || job.expectations.is_empty();
    let verifies = !cli.no_verify && says;
    if !verifies && job.expectations.is_empty() {
        return Ok(None);
    }
    let expected = job.expectations.iter();
    let expected = expected.map(|one| one.compare(&job.function, memory.after, job.data()));
    let expected = expected.collect();
    let verification = match verifies {
        true => verified(cli, job, memory)?,
        false => Vec::new(),
    };
    // Outputs of ops in branches that were taken have reports.
    let names: Vec<&str> = verification
        .iter()
        .map(|report| report.name.as_str())
        .collect();
    let function = job.function.with_views();
    let verified =
        (0..function.args.len()).filter(|tensor| names.contains(&function.args[*tensor].name()));
    let verified: Vec<_> = verified
        .map(|tensor| job.function.argument_of(tensor))
        .collect();
    let expectations = &job.expectations;
    let is_compared = |index: usize| {
        verified.contains(&Some(index)) || expectations.iter().any(|one| one.output == index)
    };
    let args = job.function.args.iter().enumerate();
    let left = args.filter(|(index, arg)| arg.access().writes() && !is_compared(*index));
    let left = left.map(|(_, arg)| arg.name().to_string()).collect();
    Ok(Some(Checked {
        verification,
        expected,
        left,
    }))
}

/// Compares what a function has written with a reference.
fn verified(cli: &Cli, job: &Job, memory: &Memory<'_>) -> anyhow::Result<Vec<verify::Report>> {
    let config = verify::Config {
        seed: cli.seed,
        data: job.data(),
        ..verify::Config::default()
    };
    Ok(verify::verify_memory(&job.function, memory, &config)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_gpu_is_not_asked_for_what_the_emulator_does() {
        let cli = |option: &str| Cli::try_parse_from(["cute-run", "p.cutepkg", option]).unwrap();
        for option in [
            "--arch=sm_80",
            "--max-instructions=9",
            "--seeds=2",
            "--sms=4",
            "--report",
        ] {
            let name = option.split('=').next().unwrap_or(option);
            assert_eq!(
                needs_no_emulator(&cli(option)).unwrap_err().to_string(),
                format!("{name} is for the emulator; add --device=emulator")
            );
        }
        assert!(needs_no_emulator(&cli("--findings=3")).is_ok());
        assert!(needs_no_emulator(&cli("--seed=3")).is_ok());
    }
}
