//! `cargo xtask wheel`: the Python module with the tools, as one file, tested as it is installed.

use crate::clients;
use crate::process::{quiet, show};
use crate::setup;
use crate::ui::Step;
use crate::workspace::{Profile, Workspace};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of the wheel.
const PROGRAMS: [&str; 2] = ["cute-opt", "cute-run"];
/// The argument by which the linker writes the places of pointers as bits: a hundred thousand of LLVM's take 19 KB in place of 2.6 MB. glibc reads them since 2.36, which the
/// wheel asks for then. Texts that end as others do are kept once (`-O2` of the linker), and functions of equal code whose addresses nothing compares, as clang notes of LLVM's and MLIR's.
const PACKED: &str = "-Wl,-z,pack-relative-relocs,-O2,--icf=safe";
/// The same, and all functions of equal code are one, for what is Rust alone: nothing there tells functions apart by their addresses, which a lint
/// sees to.
const FOLDED: &str = "-Wl,-z,pack-relative-relocs,-O2,--icf=all";
/// The extension module; `cute-run` brings the library that packages are exported into.
const MODULE: &str = "cute-python";
/// The largest wheel, in bytes: PyPI takes 100 MB, and nobody waits for it gladly.
const LARGEST: u64 = 35_000_000;

/// Makes the wheel, and tests it. Whether the tests passed.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let setup = setup::run(workspace)?;
    let [compiler, others @ ..] = PROGRAMS;
    workspace.link(compiler, true, PACKED)?;
    for program in others {
        workspace.link(program, true, FOLDED)?;
    }
    workspace.link(MODULE, false, FOLDED)?;
    let folder = workspace.target.join("wheels");
    let step = Step::new("the wheel");
    let mut make = Command::new(&setup.python);
    make.arg(workspace.root.join("python/wheel.py"))
        .arg(workspace.programs(Profile::Release))
        .arg(&folder)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let said = quiet(&mut make)?;
    let wheel = PathBuf::from(said.trim());
    let bytes = std::fs::metadata(&wheel)
        .with_context(|| format!("{} cannot be read", wheel.display()))?
        .len();
    step.done(&size(bytes));
    println!("{}", workspace.short(&wheel));
    if bytes > LARGEST {
        bail!(
            "the wheel has {bytes} bytes, more than {LARGEST}\ncure: look into it by `python3 -m zipfile -l {}` for what has grown",
            wheel.display()
        );
    }
    let installed = folder.join("installed");
    install(&setup.python, &wheel, &installed)?;
    let downloads = workspace.target.join("clients");
    if let Err(error) = clients::ready(workspace, &setup, &downloads) {
        println!(
            "skipped: the wheel was not tried, as numpy cannot be downloaded from PyPI\n{error:#}"
        );
        return Ok(true);
    }
    let paths = std::env::join_paths([installed, downloads.join("py")])?;
    show(
        Command::new(&setup.python)
            .arg(workspace.root.join(clients::MODULE))
            .env_remove("CUTE_TOOLS_DIR")
            .env("PYTHONPATH", paths)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("CUTE_PTXAS", &setup.ptxas),
    )
}

/// Installs a wheel into a folder of its own.
fn install(python: &Path, wheel: &Path, folder: &Path) -> Result<()> {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder)
            .with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    let pip = [
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--no-index",
        "--no-deps",
        "--target",
    ];
    quiet(Command::new(python).args(pip).arg(folder).arg(wheel)).map(drop)
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told() {
        assert_eq!(size(31_166_436), "31.2 MB");
    }

    /// Version and names that the script has for itself.
    #[test]
    fn the_script_has_the_programs() {
        let script = include_str!("../../python/wheel.py");
        for program in PROGRAMS {
            let name = program.trim_end_matches("-cli");
            assert!(script.contains(&format!("\"{name}\"")), "{name}");
        }
        let version = include_str!("../../python/cute_opt/_version.py");
        assert!(version.contains(&format!("\"{}\"", env!("CARGO_PKG_VERSION"))));
    }
}
