//! `cute-run`: launches kernel packages, verifies what they compute, measures how fast they are.
//!
//! Exit codes: 0 if everything ran and is right; 1 if a result is wrong or a kernel faulted (also
//! if something else could not run) or the emulator found a mistake; 2 if something could not run:
//! bad arguments, a bad package or input, no driver, no GPU, no code for the device. Those of PTX files: [`ptx`].

mod beside;
mod cli;
mod cuda;
mod emit;
mod emulated;
mod expect;
mod export;
mod info;
mod job;
mod launches;
mod outcome;
mod ptx;
mod report;
mod session;
mod tune;
mod words;

use std::process::ExitCode;

use clap::Parser;

use cli::Cli;
use outcome::Status;

/// A result is wrong.
pub(crate) const WRONG: u8 = 1;
/// Something could not run.
pub(crate) const CANNOT_RUN: u8 = 2;

fn main() -> ExitCode {
    // A reader that closes the pipe ends the program, as it does others; Rust would panic.
    #[cfg(unix)]
    // SAFETY: the program has one thread yet, and the default action is no handler.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    let cli = Cli::parse();
    match run(&cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", words::text(&error));
            ExitCode::from(CANNOT_RUN)
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    if let Some(code) = cuda::run(cli)? {
        return Ok(code);
    }
    if let Some(code) = ptx::run(cli)? {
        return Ok(code);
    }
    if let Some(kind) = cli.emit {
        emit::emit(cli, kind)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &cli.export {
        export::export(cli, folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    if cli.info {
        info::print(cli)?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = job::jobs(cli)?;
    if cli.tune {
        return tune::run(cli, jobs).map(ExitCode::from);
    }
    if cli.bench_launch {
        launches::run(cli, &jobs)?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcomes = session::run(cli, jobs)?;
    outcomes.print(cli)?;
    let has = |status| {
        outcomes
            .results
            .iter()
            .any(|outcome| outcome.status == status)
    };
    Ok(if has(Status::Wrong) {
        ExitCode::from(WRONG)
    } else if has(Status::Error) {
        ExitCode::from(CANNOT_RUN)
    } else {
        ExitCode::SUCCESS
    })
}
