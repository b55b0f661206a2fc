//! The process that runs candidates. A fault takes its device away, and with it the process; the one that asks starts another.
//!
//! It says what the device is, then answers each line of its input by a line of its output.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use anyhow::{Context, bail};
use cute_measured::{By, code_of};
use cute_runtime::device::{
    Device, DeviceError, DeviceInfo, DeviceKind, Opened, Program, Stopwatch, open,
};
use cute_runtime::{Arch, HostTensor, Package};
use serde::{Deserialize, Serialize};

use crate::cli::Cli;
use crate::emulated;
use crate::job::Job;
use crate::session;
use crate::words;

/// A candidate: the place of a choice of the function, and a place among its candidates.
pub type Place = (usize, usize);

/// A step that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    Check(Place),
    Sample(Place),
}

/// A device that measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub device: String,
    pub arch: String,
    pub sms: u32,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Right,
    Wrong(String),
    Failed(String),
    /// It faulted: the process is of no use any more.
    Faulted(String),
    /// Others of the process have the memory.
    NoMemory(String),
    /// Nanoseconds or instructions.
    Value(u64),
}

/// Answers commands until there are none.
///
/// # Errors
/// If there is no device that measures, or a command is none.
pub fn serve(cli: &Cli, mut job: Job) -> anyhow::Result<()> {
    let Opened { device, no_gpu } = open(cli.device, emulated::config(cli, 0))?;
    let info = device.info();
    check_device(cli.tune_by, info, no_gpu)?;
    say(&hello(cli, info, &job.package)?)?;
    let function = job.function.clone();
    let mut commands = std::io::stdin().lock().lines();
    let mut next = || -> anyhow::Result<Option<Command>> {
        let line = commands.next().transpose()?;
        let read = |line: String| serde_json::from_str(&line).with_context(|| line);
        line.map(read).transpose()
    };
    // First what runs once, and then what is timed: a stopwatch has its program for itself.
    let mut programs: BTreeMap<Place, Box<dyn Program + '_>> = BTreeMap::new();
    let mut command = next()?;
    let mut checks = Checks {
        given: job.tensors()?,
        right: None,
    };
    while let Some(Command::Check((choice, candidate))) = command {
        job.function = function.clone().choose(choice, candidate);
        say(&checks.check(cli, &job, &*device))?;
        command = next()?;
    }
    let tensors = checks.given;
    let mut watches: BTreeMap<Place, Box<dyn Stopwatch + '_>> = BTreeMap::new();
    // Programs stay where they are while stopwatches borrow them: all that are sampled are loaded first.
    let mut waiting = Vec::new();
    if command.is_some() {
        for (choice, of) in function.choices.iter().enumerate() {
            for candidate in 0..of.candidates.len() {
                let chosen = function.clone().choose(choice, candidate);
                if let Ok(program) = device.load(&job.package, &chosen) {
                    programs.insert((choice, candidate), program);
                }
            }
        }
        waiting.extend(programs.iter_mut());
    }
    let mut waiting: BTreeMap<&Place, &mut Box<dyn Program + '_>> = waiting.into_iter().collect();
    while let Some(Command::Sample(place)) = command {
        let answer = match cli.tune_by {
            By::Instructions => match waiting.get_mut(&place) {
                Some(program) => counted(&mut ***program, tensors.clone()),
                None => Answer::Failed("it could not be loaded".to_owned()),
            },
            By::Time => {
                let watch = match (watches.remove(&place), waiting.remove(&place)) {
                    (Some(watch), _) => Ok(watch),
                    (None, Some(program)) => program.stopwatch(&tensors),
                    (None, None) => Err(DeviceError::NoClock(
                        "a candidate that could not be loaded".to_owned(),
                    )),
                };
                let sampled = watch.and_then(|mut watch| {
                    let value = timed(cli, &mut *watch)?;
                    watches.insert(place, watch);
                    Ok(value)
                });
                match sampled {
                    Ok(value) => Answer::Value(value),
                    Err(error @ DeviceError::Memory { .. }) if !watches.is_empty() => {
                        Answer::NoMemory(error.to_string())
                    }
                    Err(error) => failed(&error),
                }
            }
        };
        say(&answer)?;
        command = next()?;
    }
    match command {
        None => Ok(()),
        Some(command) => bail!("expected checks before samples, found {command:?}"),
    }
}

/// Checks that a device counts what is asked for.
fn check_device(by: By, info: &DeviceInfo, no_gpu: Option<DeviceError>) -> anyhow::Result<()> {
    match (by, info.kind) {
        (By::Time, DeviceKind::Cuda) | (By::Instructions, DeviceKind::Emulator) => Ok(()),
        (By::Time, DeviceKind::Emulator) => {
            let why = "--tune measures time, which needs a GPU: the emulator has no clock; --tune-by=instructions ranks by the \
                       instructions that warps execute";
            match no_gpu {
                Some(error) => Err(error).context(why),
                None => bail!("{why}, or leave out --device=emulator"),
            }
        }
        (By::Instructions, DeviceKind::Cuda) => {
            bail!("--tune-by=instructions is what the emulator counts; add --device=emulator")
        }
    }
}

fn hello(cli: &Cli, info: &DeviceInfo, package: &Package) -> anyhow::Result<Hello> {
    if info.kind == DeviceKind::Cuda {
        return Ok(Hello {
            device: info.name.clone(),
            arch: code_of(info.compute_capability),
            sms: info.multiprocessors,
        });
    }
    // The GPU that the emulator stands for.
    let images = package.manifest().images.iter();
    let archs = images.filter(|image| image.ptx.is_some());
    let archs = archs.filter_map(|image| image.arch.parse::<Arch>().ok());
    let newest = archs.max_by_key(|arch| (arch.major, arch.minor));
    let asked = cli.arch.as_ref().and_then(|arch| arch.parse().ok());
    let arch = asked.or(newest).context("the package has no PTX")?;
    Ok(Hello {
        device: info.name.clone(),
        arch: code_of((arch.major, arch.minor)),
        sms: cli.sms.unwrap_or_else(|| arch.multiprocessors()),
    })
}

fn say(what: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(what)?)?;
    Ok(out.flush()?)
}

fn failed(error: &DeviceError) -> Answer {
    match error.is_fault() {
        true => Answer::Faulted(words::device(error)),
        false => Answer::Failed(words::device(error)),
    }
}

/// The arguments that candidates are checked with, and what the last one that was right made of them.
struct Checks {
    given: Vec<HostTensor>,
    right: Option<Vec<HostTensor>>,
}

impl Checks {
    /// Runs a candidate once and verifies what it computes. One that leaves every byte as a right one did is right, and is not computed again.
    fn check(&mut self, cli: &Cli, job: &Job, device: &dyn Device) -> Answer {
        let mut tensors = self.given.clone();
        let loaded = device.load(&job.package, &job.function);
        let done = loaded.and_then(|mut program| program.run(&mut tensors).map(|()| program));
        let program = match done {
            Err(error) if error.is_wrong_result() && !error.is_fault() => {
                return Answer::Wrong(words::device(&error));
            }
            Err(error) => return failed(&error),
            Ok(_) if self.right.as_ref() == Some(&tensors) => return Answer::Right,
            Ok(program) => program,
        };
        let before = session::before(job, &self.given);
        let memory = session::left(&*program, before.as_deref(), &tensors);
        match session::checked(cli, job, &memory) {
            Ok(Some(checked)) if checked.is_verified() && checked.is_right() => {
                self.right = Some(tensors);
                Answer::Right
            }
            Ok(Some(checked)) if checked.is_verified() => Answer::Wrong(checked.differences()),
            Ok(_) => Answer::Failed("its result cannot be verified".to_owned()),
            Err(error) => Answer::Failed(words::text(&error)),
        }
    }
}

/// The time of a run among some in a row, in nanoseconds, 1 at least.
fn timed(cli: &Cli, watch: &mut dyn Stopwatch) -> Result<u64, DeviceError> {
    let reps = (cli.reps as usize).div_ceil(cli.rounds as usize).max(1);
    for _ in 0..cli.warmup {
        watch.enqueue()?;
    }
    watch.collect()?;
    let seconds = watch.batch(reps)? / reps as f64;
    Ok((seconds * 1e9).round().max(1.0) as u64)
}

/// The instructions that the warps of a run executed.
fn counted(program: &mut dyn Program, mut tensors: Vec<HostTensor>) -> Answer {
    if let Err(error) = program.run(&mut tensors) {
        return failed(&error);
    }
    match program.report() {
        Some(report) => Answer::Value(report.launches.iter().map(|l| l.warp_instructions).sum()),
        None => Answer::Failed("the device counts no instructions".to_owned()),
    }
}
