//! `cute-fuzz`: feeds the compiler, the package reader, the PTX parser and the emulator what nobody would, and says what they do not
//! survive. Every input depends on a seed and its number alone. `docs/fuzzing.md` has more.

mod child;
mod emulate;
mod finding;
mod gemms;
mod kernels;
mod lines;
mod maps;
mod on;
mod opt;
mod packages;
mod pipelines;
mod ptx;
mod random;
mod region;
mod seeds;
mod tensors;
mod tokens;
mod worker;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use cute_runtime::device::Choice;
use cute_target::Arch;
use finding::Tally;
use on::On;
use opt::Opt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Fuzzes cute-opt, the runtime and the emulator.
#[derive(Debug, Parser)]
#[command(
    name = "cute-fuzz",
    version,
    after_help = "Exit codes:\n  0  nothing was found\n  1  something was found: the findings are files under --out\n  2  it could not run"
)]
struct Cli {
    #[command(subcommand)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Target {
    /// Products of matrices of any shape and configuration: compiled, emulated, verified.
    Gemms(Options),
    /// Maps of whole tensors with reductions, of any shape and strides: compiled, emulated with several shapes, verified.
    Maps(Options),
    /// Kernels of structured control flow, pipelines, copies and shared tensors, through every pass; whole ones are emulated.
    Kernels(Options),
    /// Loops that are to be pipelined, in loops and branches, and rings by tokens: compiled, emulated, compared.
    Pipelines(Options),
    /// The IR of tests and examples with tokens changed, through every pipeline.
    Tokens(Options),
    /// Packages with values, bits and lengths changed: opened, loaded, emulated.
    Packages(Options),
    /// PTX with tokens changed: parsed, printed, emulated.
    Ptx(Options),
    /// Kernels of random instructions, straight ones and ones that diverge: the emulator with two seeds, and beside a GPU with
    /// `--device`, bit by bit. `--write` leaves them in a folder.
    Lines {
        #[command(flatten)]
        options: Options,
        /// Writes the kernels as files of PTX, and runs nothing.
        #[arg(long, value_name = "DIR")]
        write: Option<PathBuf>,
        /// The kernels that run; those left out keep their numbers.
        #[arg(long, value_enum, default_value_t)]
        only: lines::Kernels,
    },
    /// Files of IR as they are, through every pipeline: a finding while it is reduced, say.
    Files {
        #[arg(required = true, value_name = "FILE")]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        options: Options,
    },
    /// All of them, of each as many as CI runs.
    All(Options),
    /// Runs inputs of `packages` or `ptx` in this process, for the process that started it.
    #[command(hide = true)]
    Worker {
        target: String,
        #[command(flatten)]
        options: Options,
        /// A folder of packages that the compiler made.
        #[arg(long)]
        compiled: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Args)]
struct Options {
    /// The number that all inputs depend on.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The number of the first input.
    #[arg(long, default_value_t = 0)]
    first: u64,

    /// The number of inputs; of `all`, the factor over what CI runs.
    #[arg(long)]
    inputs: Option<u64>,

    /// The compiler; by default the one beside this program.
    #[arg(long, value_name = "CUTE-OPT")]
    opt: Option<PathBuf>,

    /// The checkout, whose tests and examples are changed.
    #[arg(long, default_value = ".")]
    root: PathBuf,

    /// The folder that findings are written to.
    #[arg(long, default_value = "target/fuzz")]
    out: PathBuf,

    /// Seconds that one input may take.
    #[arg(long, default_value_t = 10)]
    seconds: u64,

    /// The device that products and maps run on: emulator, or a GPU (cuda, cuda:N), for which they are compiled then.
    #[arg(long, default_value_t = Choice::Emulator)]
    device: Choice,

    /// The architecture that products and maps are compiled for on the emulator, in place of one that is drawn: as of a GPU, whose inputs are the same ones then.
    #[arg(long)]
    arch: Option<Arch>,

    /// The factor of the extents of products, and of maps, over those in CI.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=64))]
    scale: i64,
}

/// The inputs that CI runs of each target: about 5,000 inputs together, those that take longest first.
const CI: [(&str, u64); 8] = [
    ("maps", 40),
    ("gemms", 60),
    ("kernels", 160),
    ("pipelines", 64),
    ("tokens", 2048),
    ("packages", 1400),
    ("ptx", 1400),
    ("lines", 100),
];

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Tells whether nothing was found.
fn run(cli: Cli) -> Result<bool> {
    let mut kernels = lines::Kernels::All;
    let (names, options): (Vec<&'static str>, Options) = match cli.target {
        Target::Gemms(options) => (vec!["gemms"], options),
        Target::Maps(options) => (vec!["maps"], options),
        Target::Kernels(options) => (vec!["kernels"], options),
        Target::Pipelines(options) => (vec!["pipelines"], options),
        Target::Tokens(options) => (vec!["tokens"], options),
        Target::Packages(options) => (vec!["packages"], options),
        Target::Ptx(options) => (vec!["ptx"], options),
        Target::Lines {
            options,
            write: Some(folder),
            only,
        } => {
            let inputs = options.inputs.unwrap_or(100);
            return lines::write(&folder, only, options.seed, (options.first, inputs))
                .map(|()| true);
        }
        Target::Lines { options, only, .. } => {
            kernels = only;
            (vec!["lines"], options)
        }
        Target::Files { paths, options } => return files(&paths, &options),
        Target::All(options) => (CI.iter().map(|(name, _)| *name).collect(), options),
        Target::Worker {
            target,
            options,
            compiled,
        } => {
            let target = match target.as_str() {
                "packages" => worker::Target::Packages,
                _ => worker::Target::Ptx,
            };
            let end = options.first + options.inputs.unwrap_or(1);
            let inputs = options.first..end;
            return worker::work(
                target,
                &options.root,
                compiled.as_deref(),
                options.seed,
                inputs,
            )
            .map(|()| true);
        }
    };
    let program = compiler(&options)?;
    let first = options.first;
    let jobs: Vec<Job> = names
        .iter()
        .flat_map(|&name| {
            let usual = CI
                .iter()
                .find(|(other, _)| *other == name)
                .map_or(1, |(_, n)| *n);
            let inputs = match (names.len(), options.inputs) {
                (1, Some(inputs)) => inputs,
                (_, times) => usual * times.unwrap_or(1),
            };
            parts(name, first..first + inputs)
        })
        .collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Tally, Duration)>> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, inputs)) = jobs.get(at) else {
                return Ok(done);
            };
            let start = Instant::now();
            let mut tally = Tally::new(name, options.seed, &options.out);
            let inputs = (inputs.start, inputs.end - inputs.start);
            target(name, &program, &options, inputs, kernels, &mut tally)?;
            done.push((at, tally, start.elapsed()));
        }
    };
    // At least two, as the emulator uses all cores only now and then.
    let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let shares: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.min(jobs.len()))
            .map(|_| scope.spawn(work))
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let mut parts = Vec::new();
    for share in shares {
        parts.extend(share?);
    }
    parts.sort_by_key(|(at, ..)| *at);
    let mut done: Vec<(Tally, Duration)> = Vec::new();
    for (_, part, time) in parts {
        match done.last_mut() {
            Some((tally, all)) if tally.target() == part.target() => {
                tally.absorb(part);
                *all += time;
            }
            _ => done.push((part, time)),
        }
    }
    print!("{}", finding::table(&done));
    Ok(done.iter().all(|(tally, _)| tally.is_clean()))
}

/// A target, or a part of one, and the numbers of its inputs.
type Job = (&'static str, Range<u64>);

/// Inputs of a part of `tokens`.
const PART: u64 = 4 * tokens::BATCH;

/// The parts of a target that may run side by side. Of `tokens` alone nothing is said of all inputs together.
fn parts(name: &'static str, inputs: Range<u64>) -> Vec<Job> {
    if name != "tokens" {
        return vec![(name, inputs)];
    }
    let mut parts = Vec::new();
    let mut at = inputs.start;
    while at < inputs.end {
        // A batch is not divided, so that its inputs meet the same pipelines however many there are.
        let end = inputs.end.min((at / PART + 1) * PART);
        parts.push((name, at..end));
        at = end;
    }
    parts
}

/// Tells whether nothing was found in files of IR.
fn files(paths: &[PathBuf], options: &Options) -> Result<bool> {
    let opt = Opt::new(&compiler(options)?, Duration::from_secs(options.seconds))?;
    let mut tally = Tally::new("files", 0, &options.out);
    let start = Instant::now();
    tokens::files(&opt, paths, &mut tally)?;
    let is_clean = tally.is_clean();
    print!("{}", finding::table(&[(tally, start.elapsed())]));
    Ok(is_clean)
}

/// The compiler that was named, or the one that was built with this program.
fn compiler(options: &Options) -> Result<PathBuf> {
    let program = match &options.opt {
        Some(program) => program.clone(),
        None => std::env::current_exe()
            .context("this program cannot be found")?
            .with_file_name("cute-opt"),
    };
    Ok(std::path::absolute(program)?)
}

fn target(
    name: &str,
    program: &Path,
    options: &Options,
    (first, inputs): (u64, u64),
    lines: lines::Kernels,
    tally: &mut Tally,
) -> Result<()> {
    let time = Duration::from_secs(options.seconds);
    let seed = options.seed;
    let on = || On::open(options.device, options.arch, options.scale);
    let job = |target| -> Result<(worker::Job, tempfile::TempDir)> {
        let folder = tempfile::tempdir().context("no folder for temporary files")?;
        // Without a compiler there are fewer seeds.
        if program.is_file() {
            seeds::compile(program, &options.root, folder.path())?;
        }
        let job = worker::Job {
            target,
            seed,
            root: &options.root,
            compiled: Some(folder.path().to_path_buf()),
            time,
        };
        Ok((job, folder))
    };
    match name {
        "gemms" => gemms::run(
            &Opt::new(program, time)?,
            &on()?,
            seed,
            (first, inputs),
            tally,
        ),
        "maps" => maps::run(
            &Opt::new(program, time)?,
            &on()?,
            seed,
            (first, inputs),
            tally,
        ),
        "kernels" => kernels::run(&Opt::new(program, time)?, seed, first, inputs, tally),
        "pipelines" => pipelines::run(&Opt::new(program, time)?, seed, first, inputs, tally),
        "lines" => lines::run(&on()?, lines, seed, (first, inputs), tally),
        "tokens" => tokens::run(
            &Opt::new(program, time)?,
            &options.root,
            seed,
            first,
            inputs,
            tally,
        ),
        "packages" => {
            let (job, _folder) = job(worker::Target::Packages)?;
            worker::run(&job, first, inputs, tally)
        }
        _ => {
            let (job, _folder) = job(worker::Target::Ptx)?;
            worker::run(&job, first, inputs, tally)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn parts_are_whole_batches_and_all_inputs() {
        assert_eq!(parts("maps", 3..40), [("maps", 3..40)]);
        let parts = parts("tokens", 100..1000);
        assert_eq!(parts.first().unwrap().1, 100..256);
        assert_eq!(parts.last().unwrap().1, 768..1000);
        assert!(parts.windows(2).all(|two| two[0].1.end == two[1].1.start));
        assert!(
            parts[1..]
                .iter()
                .all(|(_, part)| part.start % tokens::BATCH == 0)
        );
    }
}
