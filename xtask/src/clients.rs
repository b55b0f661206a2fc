//! `cargo xtask clients`: programs of others that call exported libraries, as they come from PyPI, and the examples of this project.
//!
//! Downloads lie in the build folder, and are made once. Without a network, and without what an earlier run has
//! downloaded, the tests are skipped, which is said.

use crate::process::{quiet, watched};
use crate::setup::{self, Setup};
use crate::workspace::{Profile, Workspace};
use anyhow::{Context, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The packages that are installed for Python.
const PACKAGES: [&str; 2] = ["apache-tvm-ffi==0.1.15.post2", "numpy>=2"];
/// The package by which JAX calls exported libraries. It is installed without JAX, which is large: where that is not there, the test says so.
const OF_JAX: &str = "jax-tvm-ffi==0.1.3";
/// The source package whose examples are clients.
const SOURCE: &str = "apache-tvm-ffi==0.1.15.post2";
/// The packages of which the folder of a CUDA toolkit is made: headers, nvcc with its parts, and the runtime that programs are linked with.
const TOOLKIT: [&str; 5] = [
    "nvidia-cuda-runtime==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-cccl==13.0.85",
];
/// The place of the toolkit in what the packages install.
const CUDA: &str = "cuda/nvidia/cu13";
/// The tests: each is a file that says how it went.
const TESTS: [&str; 6] = [
    "test/clients/clients.py",
    "test/clients/cuda.py",
    MODULE,
    TORCH,
    TORCH_REST,
    JAX,
];
/// The tests of the Python module.
pub const MODULE: &str = "python/tests/test_module.py";
/// The tests of the Python module's part for PyTorch, which say so where it is not installed.
const TORCH: &str = "python/tests/test_torch.py";
/// The same for what is left of a graph.
const TORCH_REST: &str = "python/tests/test_torch_rest.py";
/// The same for JAX.
const JAX: &str = "python/tests/test_jax.py";

/// Tests of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clients {
    pub ok: bool,
    pub passed: u64,
    pub failed: u64,
}

/// Runs the tests alone.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let setup = setup::run(workspace)?;
    workspace.build(Profile::Dev, &["cute-opt", "cute-run", "cute-layout-cli"])?;
    Ok(check(workspace, &setup)?.ok)
}

/// Runs the tests, with programs that were built.
pub fn check(workspace: &Workspace, setup: &Setup) -> Result<Clients> {
    let folder = workspace.target.join("clients");
    if let Err(error) = ready(workspace, setup, &folder) {
        println!(
            "skipped: clients of exported libraries were not tried, as they cannot be downloaded from PyPI\n{error:#}\ncure: run this where \
             there is a network; what it downloads stays in {}",
            folder.display()
        );
        return Ok(Clients {
            ok: true,
            ..Clients::default()
        });
    }
    let mut all = Clients {
        ok: true,
        ..Clients::default()
    };
    for test in TESTS {
        let mut command = Command::new(&setup.python);
        command
            .arg(workspace.root.join(test))
            .env("PYTHONPATH", folder.join("py"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("CUTE_TOOLS_DIR", workspace.programs(Profile::Dev))
            .env("CUTE_CLIENTS", &folder)
            .env("CUTE_CUDA", folder.join(CUDA))
            .env("CUTE_CLANG", setup.llvm_bin.join("clang"))
            .env("CUTE_PTXAS", &setup.ptxas);
        let (mut ran, mut wrong) = (0, 0);
        let ok = watched(&mut command, |line| {
            println!("{line}");
            ran += count(line, "Ran ").unwrap_or(0);
            if let Some(counts) = line.trim().strip_prefix("FAILED (") {
                let counts = counts.split(", ");
                let wrong_of = |part| count(part, "failures=").or(count(part, "errors="));
                wrong += counts.filter_map(wrong_of).sum::<u64>();
            }
        })?;
        all.ok &= ok;
        all.failed += wrong.min(ran);
        all.passed += ran - wrong.min(ran);
    }
    Ok(all)
}

/// Downloads what is not there.
pub fn ready(workspace: &Workspace, setup: &Setup, folder: &Path) -> Result<()> {
    let stamp = folder.join("versions.txt");
    let versions = [&PACKAGES[..], &[OF_JAX, SOURCE], &TOOLKIT]
        .concat()
        .join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == versions) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let pip = || {
        let mut pip = Command::new(&setup.python);
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
        pip
    };
    let mut install = pip();
    install.args(["install", "--upgrade", "--only-binary=:all:", "--target"]);
    quiet(install.arg(folder.join("py")).args(PACKAGES))?;
    let mut of_jax = pip();
    of_jax.args(["install", "--upgrade", "--no-deps", "--only-binary=:all:"]);
    // A Python that it is too new for has no JAX that it could be used with.
    of_jax.args(["--ignore-requires-python", "--target"]);
    quiet(of_jax.arg(folder.join("py")).arg(OF_JAX))?;
    let mut toolkit = pip();
    toolkit.args([
        "install",
        "--upgrade",
        "--no-deps",
        "--only-binary=:all:",
        "--target",
    ]);
    quiet(toolkit.arg(folder.join("cuda")).args(TOOLKIT))?;
    complete(&folder.join(CUDA))?;
    // pip asks a source package's build system for its metadata; ours hands over what is there, and nothing is compiled.
    let downloads = tempfile::tempdir_in(folder)?;
    let mut download = pip();
    download
        .args(["download", "--no-deps", "--no-build-isolation"])
        .args(["--no-binary=:all:", "--dest"])
        .arg(downloads.path())
        .arg(SOURCE)
        .env("PYTHONPATH", workspace.root.join("test/clients/stub"));
    quiet(&mut download)?;
    let unpack = "import glob, sys, tarfile\n[file] = glob.glob(sys.argv[1] + '/*.tar.gz')\ntarfile.open(file).extractall(sys.argv[2])";
    quiet(
        Command::new(&setup.python)
            .args(["-c", unpack])
            .arg(downloads.path())
            .arg(folder.join("tvm")),
    )?;
    std::fs::write(&stamp, versions)
        .with_context(|| format!("{} cannot be written", stamp.display()))
}

/// Makes a toolkit that clang and nvcc take of what its packages hold.
fn complete(cuda: &Path) -> Result<()> {
    let place = |path: &str| cuda.join(path);
    // clang includes it for every program, and the package of random numbers that has it is large.
    std::fs::write(place("include/curand_mtgp32_kernel.h"), "")?;
    let library = place("lib/libcudart.so");
    if !library.exists() {
        std::os::unix::fs::symlink("libcudart.so.13", library)?;
    }
    for folder in ["bin", "nvvm/bin"] {
        for tool in std::fs::read_dir(place(folder))? {
            let path = tool?.path();
            if path.is_file() {
                std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755))?;
            }
        }
    }
    Ok(())
}

/// The number that follows a text at the start of a line.
fn count(line: &str, before: &str) -> Option<u64> {
    let rest = line.trim().strip_prefix(before)?;
    let digits = rest.find(|c: char| !c.is_ascii_digit());
    rest[..digits.unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted() {
        assert_eq!(count("Ran 9 tests in 31.357s", "Ran "), Some(9));
        assert_eq!(count("failures=2", "failures="), Some(2));
        assert_eq!(count("errors=1)", "errors="), Some(1));
        assert_eq!(count("OK", "Ran "), None);
    }
}
