//! Inputs that run in this program itself: in children of it, so that an abort or an endless loop ends a child only.

use crate::child::{self, End, Ran};
use crate::emulate::Reached;
use crate::finding::{Finding, Kind, Tally, signature};
use crate::opt::PATIENCE;
use crate::seeds::{self, Seed};
use crate::{packages, ptx};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Targets that run in children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Packages,
    Ptx,
}

impl Target {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Packages => "packages",
            Target::Ptx => "ptx",
        }
    }

    fn execute(self, seeds: &[Seed], seed: u64, index: u64) -> Reached {
        match self {
            Target::Packages => packages::execute(seeds, seed, index),
            Target::Ptx => ptx::execute(seeds, seed, index),
        }
    }

    /// The bytes of a finding's file, a package for both.
    fn input(self, seeds: &[Seed], seed: u64, index: u64) -> Vec<u8> {
        match self {
            Target::Packages => packages::input(seeds, seed, index).1,
            Target::Ptx => ptx::input(seeds, seed, index)
                .and_then(|(_, package, _)| package.to_bytes().ok())
                .unwrap_or_default(),
        }
    }
}

/// Inputs of one child.
const BATCH: u64 = 4000;

/// The settings that the children of a target need.
pub struct Job<'a> {
    pub target: Target,
    pub seed: u64,
    pub root: &'a Path,
    /// A folder of packages that the compiler made.
    pub compiled: Option<PathBuf>,
    /// The time that one input may take.
    pub time: Duration,
}

/// The child's report on an input that is worth it.
const RAN: &str = "ran";
const BAD: &str = "bad";
const AT: &str = "at";

/// Runs inputs in this process, and says on stdout what became of them.
///
/// # Errors
/// If there are no seeds, or nobody listens.
pub fn work(
    target: Target,
    root: &Path,
    compiled: Option<&Path>,
    seed: u64,
    inputs: std::ops::Range<u64>,
) -> Result<()> {
    let seeds = seeds::all(root, compiled)?;
    let mut out = std::io::stdout().lock();
    // A panic's message is reported with its input.
    std::panic::set_hook(Box::new(|info| {
        LAST.with(|last| *last.borrow_mut() = info.to_string());
    }));
    for index in inputs {
        writeln!(out, "{AT} {index}").context("nobody listens")?;
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| target.execute(&seeds, seed, index))) {
            Ok(Reached::Ran) => writeln!(out, "{RAN} {index}"),
            Ok(Reached::Opened) => Ok(()),
            Err(_) => {
                let said = LAST.with(|last| last.borrow().replace('\n', " "));
                writeln!(out, "{BAD} {index} {} {said}", Kind::Panic)
            }
        }
        .context("nobody listens")?;
        let took = start.elapsed();
        if took > SLOW {
            writeln!(
                out,
                "{BAD} {index} {} it takes {} s",
                Kind::Hang,
                took.as_secs()
            )
            .context("nobody listens")?;
        }
    }
    Ok(())
}

/// An input that takes longer does not end soon enough, whatever it does.
const SLOW: Duration = Duration::from_secs(5);

thread_local! {
    static LAST: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

/// Runs the inputs of those numbers in children.
///
/// # Errors
/// If no child can be started.
pub fn run(job: &Job, first: u64, inputs: u64, tally: &mut Tally) -> Result<()> {
    let seeds = seeds::all(job.root, job.compiled.as_deref())?;
    let end = first + inputs;
    let mut at = first;
    while at < end {
        let count = BATCH.min(end - at);
        let ran = child(job, at, count)?;
        tally.runs += 1;
        let (last, lines) = read(&ran.stdout);
        for line in lines {
            match line {
                Line::Ran => tally.accepted += 1,
                // On a machine that has other things to do it may only have been slow.
                Line::Bad(index, Kind::Hang, _) if !is_slow(job, index)? => {}
                Line::Bad(index, kind, said) => {
                    tally.add(finding(
                        job,
                        &seeds,
                        index,
                        kind,
                        signature(&said),
                        said.clone(),
                    ))?;
                }
            }
        }
        if ran.end == End::Exited(0) {
            tally.inputs += count;
            at += count;
            continue;
        }
        // A child whose time is over has said nothing that was read: the one to blame is looked for among fewer.
        let found = match ran.end {
            End::Timeout => culprit(job, at, count)?,
            _ => last,
        };
        let Some(index) = found else {
            match ran.end {
                End::Timeout => {
                    tally.inputs += count;
                    at += count;
                    continue;
                }
                _ => bail!("a child ended without a word: {}", ran.stderr),
            }
        };
        let kind = match ran.end {
            End::Timeout => Kind::Hang,
            End::Memory => Kind::Memory,
            _ => Kind::Crash,
        };
        let said = format!(
            "{:?}: {}",
            ran.end,
            ran.stderr.lines().last().unwrap_or_default()
        );
        tally.add(finding(
            job,
            &seeds,
            index,
            kind,
            signature(&said),
            ran.stderr,
        ))?;
        tally.inputs += index + 1 - at;
        at = index + 1;
    }
    Ok(())
}

/// Tells whether an input takes too long once more, when it is alone.
fn is_slow(job: &Job, index: u64) -> Result<bool> {
    let ran = child(job, index, 1)?;
    Ok(ran.end != End::Exited(0) || ran.stdout.contains(BAD))
}

/// The first input that takes a child's whole time.
fn culprit(job: &Job, first: u64, count: u64) -> Result<Option<u64>> {
    let (mut at, mut count) = (first, count);
    while count > 1 {
        let half = count / 2;
        if child(job, at, half)?.end == End::Exited(0) {
            at += half;
            count -= half;
        } else {
            count = half;
        }
    }
    let alone = child(job, at, 1)?;
    // None of them, if they were only slow together.
    Ok((alone.end != End::Exited(0)).then_some(at))
}

fn child(job: &Job, first: u64, inputs: u64) -> Result<Ran> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut command = Command::new(program);
    command
        .args(["worker", job.target.name(), "--seed", &job.seed.to_string()])
        .args([
            "--first",
            &first.to_string(),
            "--inputs",
            &inputs.to_string(),
        ])
        .arg("--root")
        .arg(job.root);
    if let Some(compiled) = &job.compiled {
        command.arg("--compiled").arg(compiled);
    }
    let time = job.time * PATIENCE + Duration::from_millis(20) * inputs as u32;
    child::run(&mut command, time)
}

enum Line {
    Ran,
    Bad(u64, Kind, String),
}

/// The input that was begun last, and what was said of others.
fn read(stdout: &str) -> (Option<u64>, Vec<Line>) {
    let mut last = None;
    let mut lines = Vec::new();
    for line in stdout.lines() {
        let mut words = line.splitn(4, ' ');
        let (word, index) = (words.next(), words.next().and_then(|n| n.parse().ok()));
        match (word, index) {
            (Some(AT), Some(index)) => last = Some(index),
            (Some(RAN), Some(_)) => lines.push(Line::Ran),
            (Some(BAD), Some(index)) => {
                let kind = words.next().and_then(|kind| kind.parse().ok());
                let said = words.next().unwrap_or_default().to_string();
                lines.push(Line::Bad(index, kind.unwrap_or(Kind::Panic), said));
            }
            _ => {}
        }
    }
    (last, lines)
}

fn finding(
    job: &Job,
    seeds: &[Seed],
    index: u64,
    kind: Kind,
    signature: String,
    detail: String,
) -> Finding {
    Finding {
        index,
        kind,
        signature,
        detail,
        command: "cute-run {} --device=emulator --max-instructions 3000".into(),
        input: job.target.input(seeds, job.seed, index),
        extension: "cutepkg",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_children_say_is_read() {
        let (last, lines) = read("at 3\nran 3\nat 4\nbad 4 panic it went wrong: 5\nat 5\n");
        assert_eq!(last, Some(5));
        assert_eq!(lines.len(), 2);
        assert!(matches!(&lines[1], Line::Bad(4, Kind::Panic, said) if said == "it went wrong: 5"));
    }
}
