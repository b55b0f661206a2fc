//! `--tune`: measures the candidates of a package.
//!
//! Each candidate runs in a process of its own kind (`worker.rs`), which `child.rs` starts anew where one faults or hangs; `tuner.rs` says in which
//! order, `show.rs` tells what came of it.

mod child;
mod show;
mod tuner;
mod worker;

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use cute_measured::{By, Outcome, Record, Subject, Table, read_results, times_of};
use cute_runtime::HostTensor;
use cute_runtime::plan;

use crate::cli::Cli;
use crate::job::Job;
use crate::{CANNOT_RUN, WRONG};
use child::Workers;
use tuner::State;
use worker::Hello;

/// A candidate with its estimate.
pub struct Entry {
    pub subject: Subject,
    /// Picoseconds.
    pub estimate: u64,
}

/// Measures the candidates of the one package that is given, and returns the exit code.
///
/// # Errors
/// If nothing can be measured.
pub fn run(cli: &Cli, mut jobs: Vec<Job>) -> anyhow::Result<u8> {
    let (Some(job), true) = (jobs.pop(), jobs.is_empty()) else {
        bail!("--tune takes one package, found {}", cli.packages.len());
    };
    if job.function.choices.is_empty() {
        bail!(
            "{}: {} has no candidates; compile it with --cute-compile=\"candidates=8 ...\"",
            job.path.display(),
            job.function.name
        );
    }
    if cli.tune_worker {
        return worker::serve(cli, job).map(|()| 0);
    }
    // What the file says, and whether it can be written, is known before anything runs.
    let mut results = cli.results.as_deref().map(Results::open).transpose()?;
    let mut table = cli.table.as_deref().map(Table::read_file).transpose()?;
    let mut workers = Workers::new(
        Box::new(worker_command),
        Duration::from_secs(cli.time_limit),
    );
    let hello = workers.start()?;
    let tensors = job.tensors()?;
    let (entries, unsuited) = entries(cli, &job, &hello, &tensors)?;
    let subjects: Vec<Subject> = entries.iter().map(|entry| entry.subject.clone()).collect();
    let mut records = results
        .as_mut()
        .map_or(Vec::new(), |results| std::mem::take(&mut results.before));
    let before = records.clone();
    let mut write = |record: &Record| {
        if let Some(results) = &mut results {
            results.write(record)?;
        }
        records.push(record.clone());
        Ok(())
    };
    let rounds = match cli.tune_by {
        By::Time => cli.rounds as usize,
        // The emulator counts the same each time.
        By::Instructions => 1,
    };
    let mut bar = show::Bar::new();
    let states = tuner::tune(
        &subjects,
        &before,
        rounds,
        &mut workers,
        &mut write,
        &mut bar,
    );
    drop(bar);
    let states = states?;
    show::print(cli, &job, &hello, &entries, &states, &unsuited, &tensors)?;
    if let (Some(table), Some(path)) = (&mut table, &cli.table) {
        let own: Vec<Record> = records
            .into_iter()
            .filter(|record| subjects.contains(&record.subject))
            .collect();
        add(table, &own, path)?;
    }
    let any = |is: fn(&State) -> bool| states.iter().any(is);
    Ok(if any(|state| matches!(state, State::Wrong(_))) {
        WRONG
    } else if any(|state| state.median().is_some()) {
        0
    } else {
        CANNOT_RUN
    })
}

/// Adds times to a table, and says how many.
fn add(table: &mut Table, records: &[Record], path: &Path) -> anyhow::Result<()> {
    let times = times_of(records);
    let count = times.len();
    for time in times {
        table.add(time);
    }
    if count == 0 {
        let why = match records
            .iter()
            .any(|record| record.outcome == Outcome::Right)
        {
            true => {
                "a table has times of functions that compute one product and nothing else, of kernels of this generation"
            }
            false => "nothing was measured",
        };
        eprintln!("note: {}: nothing to add: {why}", path.display());
        return Ok(());
    }
    table.write_file(path)?;
    eprintln!("note: {}: {count} times added", path.display());
    Ok(())
}

/// This command, as one that runs candidates.
fn worker_command() -> Command {
    let own = Path::new("/proc/self/exe");
    let program = match own.exists() {
        true => own.to_path_buf(),
        false => std::env::current_exe().unwrap_or_else(|_| "cute-run".into()),
    };
    let mut command = Command::new(program);
    command
        .args(std::env::args_os().skip(1))
        .arg("--tune-worker")
        .stderr(Stdio::piped());
    command
}

/// The candidates that suit the arguments, and the plans of those that do not.
fn entries(
    cli: &Cli,
    job: &Job,
    hello: &Hello,
    tensors: &[HostTensor],
) -> anyhow::Result<(Vec<Entry>, Vec<String>)> {
    let function = &job.function;
    let (mut entries, mut unsuited) = (Vec::new(), Vec::new());
    let package = blake3::hash(&job.package.to_bytes()?).to_hex();
    let found = plan::candidates(function, tensors, hello.sms)?;
    for (product, (choice, found)) in function.choices.iter().zip(found).enumerate() {
        for (at, (candidate, time)) in choice.candidates.iter().zip(found.times).enumerate() {
            let Some(estimate) = time else {
                unsuited.push(format!("{} ({})", candidate.plan, candidate.problem));
                continue;
            };
            let subject = Subject {
                package: package[..16].to_owned(),
                function: function.name.clone(),
                arguments: arguments(cli, job, tensors),
                device: hello.device.clone(),
                arch: hello.arch.clone(),
                sms: hello.sms,
                by: cli.tune_by,
                product,
                alone: function.is_choice_alone(),
                problem: candidate.problem.clone(),
                generation: choice.generation,
                extents: found.extents,
                candidate: at,
                plan: candidate.plan.clone(),
            };
            entries.push(Entry { subject, estimate });
        }
    }
    Ok((entries, unsuited))
}

/// The arguments as text: layouts, numbers, files, and the seed of what is random.
fn arguments(cli: &Cli, job: &Job, tensors: &[HostTensor]) -> String {
    let args = job.function.args.iter().zip(tensors).map(|(arg, tensor)| {
        let value = match arg.is_tensor() {
            true => tensor.layout().text().to_owned(),
            false => format!("{:02x?}", tensor.bytes()),
        };
        format!("{}={value}", arg.name())
    });
    let files = cli
        .input
        .iter()
        .map(|input| format!("{}<{}", input.name, input.path.display()));
    let mut all: Vec<String> = args.chain(files).collect();
    all.push(format!("seed={}", cli.seed));
    all.join(" ")
}

/// A file of results that is added to.
struct Results {
    file: File,
    /// Those that it had.
    before: Vec<Record>,
}

impl Results {
    fn open(path: &Path) -> anyhow::Result<Results> {
        let place = || path.display().to_string();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(place)?;
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(place)?;
        let (before, whole) = read_results(&text).with_context(place)?;
        // A torn line is written over.
        file.set_len(whole as u64).with_context(place)?;
        file.seek(SeekFrom::End(0)).with_context(place)?;
        Ok(Results { file, before })
    }

    fn write(&mut self, record: &Record) -> anyhow::Result<()> {
        self.file
            .write_all(record.line().as_bytes())
            .context("the file of --results cannot be written")
    }
}
