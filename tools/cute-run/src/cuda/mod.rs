//! CUDA programs on the emulator: `cute-run --cuda PROGRAM ARGUMENTS...`.
//!
//! The program is started with a library loaded before all others that takes its calls of the CUDA runtime (`runtime/cudart`). The library
//! leaves a report of each process, which is told at the program's end.

mod image;
mod options;
mod stub;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, bail};
use cute_runtime::device::Choice;
use cute_runtime::emulator::{ProcessReport, SETTINGS, Settings, causes};

pub use options::Options;

use crate::CANNOT_RUN;
use crate::cli::Cli;
use crate::emulated;
use crate::outcome::plural;
use crate::ptx::outcome::{Status, counted, told};
use crate::ptx::sarif;
use crate::words;

/// The library that takes the calls.
const LIBRARY: &str = "libcute_cudart.so";
/// The names of the CUDA runtimes whose calls it takes.
const RUNTIMES: [&str; 2] = ["libcudart.so.12", "libcudart.so.13"];

/// Runs the program of a command line; none if it has none.
///
/// # Errors
/// If the program cannot be started, or cannot run on the emulator.
pub fn run(cli: &Cli) -> anyhow::Result<Option<ExitCode>> {
    let Some((program, arguments)) = cli.cuda.cuda.split_first() else {
        return match &cli.cuda.cuda_report {
            Some(_) => bail!("--cuda-report is for CUDA programs (--cuda PROGRAM), found none"),
            None => Ok(None),
        };
    };
    refuse_others(cli)?;
    let program = found(program)?;
    image::check(&program).with_context(|| program.display().to_string())?;
    let library = crate::beside::find(
        LIBRARY,
        "--cuda loads into programs",
        "build it (cargo build -p cute-cudart)",
    )?;
    let folder = tempfile::Builder::new().prefix("cute-run-").tempdir();
    let folder = folder.context("cannot make a folder for the program's report")?;
    let libraries = folder.path().join("lib");
    std::fs::create_dir(&libraries)?;
    for name in RUNTIMES {
        std::fs::write(libraries.join(name), stub::library(name)?)?;
    }
    let settings = Settings {
        config: emulated::config(cli, 0),
        reports: Some(folder.path().to_path_buf()),
    };
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env(SETTINGS, serde_json::to_string(&settings)?)
        .env("LD_PRELOAD", before("LD_PRELOAD", library.as_os_str()))
        .env(
            "LD_LIBRARY_PATH",
            before("LD_LIBRARY_PATH", libraries.as_os_str()),
        );
    let ended = command.status();
    let ended = ended.with_context(|| format!("cannot start {}", program.display()))?;
    let report =
        ProcessReport::read(folder.path()).context("the program's report cannot be read")?;
    let Some(mut report) = report else {
        bail!(
            "{}: expected a program that uses the CUDA runtime as a shared library, found none of its calls ({ended}); link it with libcudart.so \
             (nvcc -cudart shared, clang -lcudart)",
            program.display()
        );
    };
    words::findings(&mut report.findings);
    tell(cli, &program, &report, ended).map(Some)
}

/// A value of the environment with another one before it.
fn before(variable: &str, first: &std::ffi::OsStr) -> OsString {
    let mut value = first.to_os_string();
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        value.push(":");
        value.push(rest);
    }
    value
}

/// The file of a program, which is looked for as a shell does it.
fn found(program: &OsString) -> anyhow::Result<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_file() {
        let absolute = path.canonicalize();
        return absolute.with_context(|| format!("cannot find {}", path.display()));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(path));
    places
        .find(|place| place.is_file())
        .with_context(|| format!("cannot find {}, neither here nor in PATH", path.display()))
}

fn tell(
    cli: &Cli,
    program: &Path,
    report: &ProcessReport,
    ended: ExitStatus,
) -> anyhow::Result<ExitCode> {
    let place = program.display().to_string();
    sarif::write(cli, &place, &report.findings)?;
    if let Some(path) = &cli.cuda.cuda_report {
        let text = serde_json::to_string_pretty(report)?;
        std::fs::write(path, text + "\n").with_context(|| path.display().to_string())?;
    }
    // The program's own output is on the other stream.
    for line in told(&report.findings, &causes(&report.findings), cli.findings) {
        eprintln!("{line}");
    }
    let arch = match report.arch.is_empty() {
        true => "the emulator",
        false => &report.arch,
    };
    let found = counted(&report.findings);
    let launches = match report.launches {
        1 => "1 launch".into(),
        count => format!("{count} launches"),
    };
    let errors = match report.errors.len() {
        0 => String::new(),
        count => format!(", {} that returned an error", plural(count, "call")),
    };
    eprintln!("{place}: {launches} on {arch}: {found}{errors}");
    if let Some(signal) = ended.signal() {
        eprintln!("{place} was ended by signal {signal}");
    }
    let own = ended.code().map_or(CANNOT_RUN, |code| code as u8);
    Ok(
        match (Status::of_all(&report.findings), report.errors.is_empty()) {
            (Some(found), _) => ExitCode::from(found as u8),
            (None, true) => ExitCode::from(own),
            // Not all that the program asked for has been done, whatever it made of that.
            (None, false) => ExitCode::from(CANNOT_RUN),
        },
    )
}

/// Refuses options that mean nothing for CUDA programs.
fn refuse_others(cli: &Cli) -> anyhow::Result<()> {
    if let [package, ..] = cli.packages.as_slice() {
        bail!(
            "expected a CUDA program alone behind --cuda, found {} before it, too",
            package.display()
        );
    }
    let mut given = cli.ptx.given();
    given.retain(|name| *name != "--sarif");
    let others = [
        ("--function", cli.function.is_some()),
        ("--input", !cli.input.is_empty()),
        ("--output", !cli.output.is_empty()),
        ("--shape", !cli.shape.is_empty()),
        ("--layout", !cli.layout.is_empty()),
        ("--set", !cli.set.is_empty()),
        ("--expect", !cli.expect.is_empty()),
        ("--tolerance", !cli.tolerance.is_empty()),
        ("--seeds", cli.seeds.is_some()),
        ("--report", cli.report),
        ("--json", cli.json),
        ("--bench", cli.bench || cli.bench_launch),
        ("--tune", cli.tune),
        ("--info", cli.info),
        ("--emit", cli.emit.is_some()),
        ("--export", cli.export.is_some()),
    ];
    given.extend(
        others
            .iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| *name),
    );
    if let Some(name) = given.first() {
        let instead = match *name {
            "--seeds" => "; run it again with another --seed",
            "--json" => "; --cuda-report FILE writes what was found as JSON",
            _ => "",
        };
        bail!("{name} is not for CUDA programs (--cuda){instead}");
    }
    match &cli.device {
        Choice::Auto | Choice::Emulator => Ok(()),
        _ => bail!(
            "expected --device=emulator for a CUDA program; on a GPU it runs without cute-run"
        ),
    }
}
