//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use cute_measured::By;
use cute_runtime::device::Choice;
use cute_runtime::{Number, Parsed};

/// Launches kernel packages, verifies what they compute, measures how fast they are.
#[derive(Debug, Parser)]
#[command(
    name = "cute-run",
    version,
    after_help = "Exit codes:\n  0  everything ran and is right\n  1  a result is wrong, a kernel faulted, or the emulator found a mistake\n  2  something could not run: bad \
                  arguments, package or input; no driver, GPU, or code for the device\n\nExit codes of a PTX file:\n  0  no findings, and memory as expected\n  1  no findings, but memory is not as expected\n  2  something could not run: bad arguments or files, PTX that the emulator does not know\n  3  a race, a missing wait or a missing fence\n  4  an access out of bounds, misaligned, to uninitialised memory, or a write to what is only read\n  5  a deadlock, a barrier that not all threads reach, or too many instructions\n  6  something that PTX leaves undefined\n  7  a trap or a failed assertion\n  Of several findings, the smallest.\n\nExit codes of a CUDA program:\n  those of a PTX file where there are findings; else 2 if a call of the CUDA runtime returned an error, and the program's own"
)]
pub struct Cli {
    /// Packages that cute-opt wrote; or one file of PTX (FILE.ptx), or one that says how to launch it (FILE.toml).
    #[arg(required_unless_present = "cuda", value_name = "PACKAGE")]
    pub packages: Vec<PathBuf>,

    /// The function to run; needed where a package has several.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,

    /// Reads an argument from an .npy file; the others are random.
    #[arg(long, value_name = "ARG=FILE", value_parser = binding)]
    pub input: Vec<Binding>,

    /// The shape of a tensor whose package leaves it open, such as A=4096x1024: elements of each mode. Strides that are open,
    /// too, are those of a compact tensor. With --input the shape is that of the file.
    #[arg(long, value_name = "ARG=SIZES", value_parser = shape)]
    pub shape: Vec<Named<Vec<i64>>>,

    /// The layout of a tensor whose package leaves it open, such as "A=(4096,1024):(1032,1)".
    #[arg(long, value_name = "ARG=LAYOUT", value_parser = layout)]
    pub layout: Vec<Named<Parsed>>,

    /// The value of a scalar, such as alpha=2.5.
    #[arg(long, value_name = "ARG=VALUE", value_parser = number)]
    pub set: Vec<Named<Number>>,

    /// Writes an argument to an .npy file after the run.
    #[arg(long, value_name = "ARG=FILE", value_parser = binding)]
    pub output: Vec<Binding>,

    /// Compares an output with an .npy file after the run, besides what the package says that it computes, or with --no-verify in its
    /// place: C=reference.npy. PTX: memory after the last launch, with a file or a fill such as arg0=iota.
    #[arg(long, value_name = "NAME=FILE", conflicts_with_all = ["bench_launch", "emit", "export", "info", "tune"])]
    pub expect: Vec<String>,

    /// The error that elements of outputs may have beside --expect: |out - ref| at most ATOL + RTOL * |ref|, of all outputs or of one;
    /// ATOL is 0 where it is left out. Without this option it follows from the element type, and from the length of sums where
    /// the package says that. PTX: one number, relative to the expected value and absolute; 0 compares bytes.
    #[arg(long, value_name = "[NAME=]RTOL[,ATOL]", conflicts_with_all = ["bench_launch", "emit", "export", "info", "tune"])]
    pub tolerance: Vec<String>,

    /// Seed of random arguments, of the verification and of the emulator.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,

    /// Where to run: auto, cuda, cuda:N, emulator. N is the number that the driver has for a GPU, and
    /// enough alone; auto is the first GPU, and the emulator where there is none.
    #[arg(long, default_value_t = Choice::Auto, value_name = "DEVICE")]
    pub device: Choice,

    /// Emulator: stops a block after so many instructions of its warps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_instructions: Option<u64>,

    /// Emulator: multiprocessors of the GPU that is emulated, for launches whose grid follows from them; by default those
    /// of a GPU of the architecture.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub sms: Option<u32>,

    /// Emulator: runs with so many seeds, --seed and those after it; each is another order of warps
    /// and of copies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,

    /// Emulator: prints what kernels did: instructions, bank conflicts, sectors.
    #[arg(long)]
    pub report: bool,

    /// Emulator: prints so many findings and counts the others.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub findings: usize,

    /// Does not compare the results with what the package says that it computes. PTX: compares nothing.
    #[arg(long)]
    pub no_verify: bool,

    /// Measures the time of right results.
    #[arg(long)]
    pub bench: bool,

    /// Measures the time of the host for a call, beside that of the driver for its launches alone, in turn for --reps rounds of 64
    /// calls each. Nothing is verified.
    #[arg(long, conflicts_with_all = ["bench", "tune", "info", "emit", "output", "report", "seeds", "sms", "max_instructions", "arch"])]
    pub bench_launch: bool,

    /// Timed runs.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub reps: u32,

    /// Runs before the timed ones.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub warmup: u32,

    /// Measures the candidates of a package (cute-opt, candidates=N), each checked first, all in turn; see docs/tuning.md.
    #[arg(long, conflicts_with_all = ["bench", "info", "emit", "no_verify", "output", "report", "seeds"])]
    pub tune: bool,

    /// The measure of --tune: time on a GPU, or instructions that warps execute on the emulator.
    #[arg(long, requires = "tune", default_value = "time", value_name = "WHAT", value_parser = by)]
    pub tune_by: By,

    /// The file that --tune writes each result to as it comes; what stands there is not measured again.
    #[arg(long, requires = "tune", value_name = "FILE")]
    pub results: Option<PathBuf>,

    /// A table of measured times that --tune adds to, for cute-opt's measured=.
    #[arg(long, requires = "tune", value_name = "FILE")]
    pub table: Option<PathBuf>,

    /// Rounds of --tune, over which --reps runs of each candidate are spread.
    #[arg(long, requires = "tune", default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,

    /// Seconds that a step of --tune may take: a check, or a candidate's runs of a round.
    #[arg(long, requires = "tune", default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: u64,

    /// The process that runs candidates for --tune.
    #[arg(long, requires = "tune", hide = true)]
    pub tune_worker: bool,

    /// Alternates between the packages run by run, so that all are measured under the same
    /// conditions.
    #[arg(long, requires = "bench")]
    pub interleave: bool,

    /// Prints the result, or with --info the manifest and the instructions, as JSON.
    #[arg(long)]
    pub json: bool,

    /// Prints what the packages hold; needs no GPU.
    #[arg(long, conflicts_with_all = ["arch", "bench", "input", "shape", "layout", "set", "output", "no_verify", "report", "seeds", "sms", "max_instructions"])]
    pub info: bool,

    /// Extracts code from a package; needs no GPU.
    #[arg(long, requires = "to", conflicts_with_all = ["bench", "info", "input", "shape", "layout", "set", "output", "no_verify", "json", "report", "seeds", "sms", "max_instructions"])]
    pub emit: Option<Emit>,

    /// The file that --emit writes.
    #[arg(long, value_name = "FILE", requires = "emit")]
    pub to: Option<PathBuf>,

    /// Writes a package as a library into a folder: libNAME.so with functions for C and for TVM-FFI (Python, PyTorch, JAX, Rust), its
    /// headers for C and C++, and a description, with NAME from the package's file; see docs/export.md.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["arch", "bench", "bench_launch", "emit", "function", "info", "input", "shape", "layout", "set", "output", "no_verify", "json", "report", "seeds", "sms", "max_instructions", "tune"])]
    pub export: Option<PathBuf>,

    /// The architecture whose code --emit takes (needed where a package has several), or whose PTX
    /// the emulator runs (by default the newest).
    #[arg(long, value_name = "SM")]
    pub arch: Option<String>,

    #[command(flatten)]
    pub ptx: crate::ptx::Options,

    #[command(flatten)]
    pub cuda: crate::cuda::Options,
}

/// The parts that can be extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    Ptx,
    Cubin,
}

/// An argument and a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub name: String,
    pub path: PathBuf,
}

/// An argument and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    pub name: String,
    pub value: T,
}

fn by(text: &str) -> Result<By, String> {
    match text {
        "time" => Ok(By::Time),
        "instructions" => Ok(By::Instructions),
        _ => Err("expected time or instructions".to_owned()),
    }
}

fn named<T>(
    text: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Named<T>, String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    parts
        .and_then(|(name, value)| {
            let name = name.to_string();
            Some(Named {
                name,
                value: read(value)?,
            })
        })
        .ok_or_else(|| format!("expected the name of an argument, =, and {expected}"))
}

fn shape(text: &str) -> Result<Named<Vec<i64>>, String> {
    let size = |text: &str| text.parse().ok().filter(|size| *size >= 0);
    named(text, "sizes, such as A=4096x1024", |sizes| {
        sizes.split('x').map(size).collect()
    })
}

fn layout(text: &str) -> Result<Named<Parsed>, String> {
    let expected = "a layout, such as \"A=(4096,1024):(1032,1)\"";
    let Named { name, value } = named(text, expected, |layout| Some(layout.to_string()))?;
    let value = Parsed::parse(&value).map_err(|error| error.to_string())?;
    Ok(Named { name, value })
}

fn number(text: &str) -> Result<Named<Number>, String> {
    named(text, "a number, such as alpha=2.5", |value| {
        let real = || value.parse().ok().filter(|real: &f64| real.is_finite());
        value
            .parse()
            .map(Number::Integer)
            .ok()
            .or_else(|| real().map(Number::Real))
    })
}

pub(crate) fn binding(text: &str) -> Result<Binding, String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok(Binding {
            name: name.to_string(),
            path: path.into(),
        }),
        _ => Err("expected the name of an argument, =, and a file, such as A=a.npy".into()),
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
    fn shapes_layouts_and_numbers_are_read() {
        assert_eq!(shape("A=4096x8").unwrap().value, [4096, 8]);
        for bad in [
            "A",
            "A=",
            "A=4x",
            "A=-1x4",
            "A=-1",
            "=4",
            "A=4,4",
            "A=99999999999999999999",
        ] {
            assert!(
                shape(bad).unwrap_err().contains("such as A=4096x1024"),
                "{bad}"
            );
        }
        assert_eq!(layout("A=(4,2):(2,1)").unwrap().value.size(), 8);
        for (bad, says) in [
            ("A", "such as"),
            ("A=(4,2", "layout `(4,2`"),
            ("A=(?):(1)", "known integers"),
        ] {
            assert!(layout(bad).unwrap_err().contains(says), "{bad}");
        }
        assert_eq!(number("n=-7").unwrap().value, Number::Integer(-7));
        assert_eq!(number("n=2.5e3").unwrap().value, Number::Real(2500.0));
        for bad in ["n", "n=", "n=x", "n=inf", "n=nan", "n=1e999", "=1"] {
            assert!(
                number(bad).unwrap_err().contains("such as alpha=2.5"),
                "{bad}"
            );
        }
    }

    #[test]
    fn bindings_name_an_argument_and_a_file() {
        assert_eq!(
            binding("A=x=y.npy"),
            Ok(Binding {
                name: "A".into(),
                path: "x=y.npy".into()
            })
        );
        for bad in ["A", "=a.npy", "A=", ""] {
            assert!(
                binding(bad).unwrap_err().contains("such as A=a.npy"),
                "{bad}"
            );
        }
    }
}
