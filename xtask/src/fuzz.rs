//! `cargo xtask fuzz`: what `cute-fuzz` runs, beside what CI runs of it. `docs/fuzzing.md` has more.

use crate::process::show;
use crate::setup::{self, Setup};
use crate::workspace::{Profile, Workspace};
use anyhow::Result;
use std::process::Command;

/// Programs that fuzzing needs.
const PROGRAMS: [&str; 2] = ["cute-fuzz", "cute-opt"];

/// The run, as on the command line of `cute-fuzz`; what is not given is as CI has it.
#[derive(clap::Args)]
pub struct Options {
    /// gemms, kernels, tokens, packages, ptx, or all.
    #[arg(default_value = "all")]
    target: String,

    /// The number of inputs; of `all`, the factor over what CI runs.
    #[arg(long)]
    inputs: Option<u64>,

    /// The number that all inputs depend on.
    #[arg(long)]
    seed: Option<u64>,

    /// The number of the first input.
    #[arg(long)]
    first: Option<u64>,
}

/// Fuzzes programs as they are released; whether nothing was found.
pub fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    let setup = setup::run(workspace)?;
    workspace.build(Profile::Release, &PROGRAMS)?;
    let mut command = command(workspace, &setup, Profile::Release, &options.target);
    for (name, value) in [
        ("--inputs", options.inputs),
        ("--seed", options.seed),
        ("--first", options.first),
    ] {
        if let Some(value) = value {
            command.arg(name).arg(value.to_string());
        }
    }
    show(&mut command)
}

/// Fuzzes what the tests have built, with the inputs that are always the same; whether nothing was found.
pub fn check(workspace: &Workspace, setup: &Setup) -> Result<bool> {
    // Cargo is not asked again: it would wait for the check of the program outside, which has the build folder locked.
    show(&mut command(workspace, setup, Profile::Dev, "all"))
}

fn command(workspace: &Workspace, setup: &Setup, profile: Profile, target: &str) -> Command {
    let mut command = Command::new(workspace.programs(profile).join("cute-fuzz"));
    command
        .arg(target)
        .arg("--root")
        .arg(&workspace.root)
        .arg("--out")
        .arg(workspace.target.join("fuzz"))
        .current_dir(&workspace.root)
        .env("CUTE_PTXAS", &setup.ptxas);
    command
}
