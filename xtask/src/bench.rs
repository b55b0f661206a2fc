//! `cargo xtask bench`: the crates' own benchmarks, and how long compiling the example takes.

use crate::process::{quiet, show};
use crate::ui::{Step, seconds};
use crate::workspace::{Profile, Workspace};
use crate::{demo, gpu, setup};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs of the compiler that are timed.
const RUNS: usize = 20;

/// Measures.
pub fn run(workspace: &Workspace) -> Result<()> {
    let setup = setup::run(workspace)?;
    for manifest in with_benches(&workspace.root) {
        if !show(
            workspace
                .cargo()
                .args(["bench", "--manifest-path"])
                .arg(&manifest),
        )? {
            bail!(
                "the benchmarks of {} failed: see the messages above",
                workspace.short(&manifest)
            );
        }
    }
    workspace.build(Profile::Release, &["cute-opt"])?;
    let folder = workspace.target.join("bench");
    std::fs::create_dir_all(&folder)?;
    let source = workspace.root.join("examples/gemm_f16.mlir");
    let arch = gpu::arch()?.unwrap_or_else(|| gpu::DEFAULT_ARCH.to_string());
    let step = Step::new(format!(
        "{RUNS} runs of cute-opt on {}",
        workspace.short(&source)
    ));
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let mut compile = demo::compile(
            workspace,
            &source,
            &format!("arch={arch}"),
            &folder.join("gemm_f16.cutepkg"),
        );
        let start = Instant::now();
        quiet(compile.env("CUTE_PTXAS", &setup.ptxas))?;
        times.push(start.elapsed());
    }
    step.done("done");
    println!(
        "cute-opt {} to a package, {arch}, the whole process: {}",
        workspace.short(&source),
        summary(&mut times)
    );
    Ok(())
}

/// The manifests of crates that have benchmarks.
fn with_benches(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if folder.join("Cargo.toml").is_file() && folder.join("benches").is_dir() {
            found.push(folder.join("Cargo.toml"));
        }
        let entries = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()));
        let hidden = |p: &PathBuf| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with('.') || n == "target")
        };
        folders.extend(entries.filter(|p| p.is_dir() && !p.is_symlink() && !hidden(p)));
    }
    found.sort();
    found
}

fn summary(times: &mut [Duration]) -> String {
    times.sort();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return "no runs".to_string();
    };
    let median = times[times.len() / 2];
    format!(
        "median {}, min {}, max {}",
        seconds(median),
        seconds(*first),
        seconds(*last)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_runs() {
        let mut times: Vec<Duration> = [900, 300, 200].map(Duration::from_millis).to_vec();
        assert_eq!(summary(&mut times), "median 0.30 s, min 0.20 s, max 0.90 s");
        assert_eq!(summary(&mut []), "no runs");
    }

    #[test]
    fn crates_with_benchmarks_are_found() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["a/benches", "b", "target/c/benches", "deep/er/benches"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for manifest in [
            "a/Cargo.toml",
            "b/Cargo.toml",
            "target/c/Cargo.toml",
            "deep/er/Cargo.toml",
        ] {
            std::fs::write(root.path().join(manifest), "").unwrap();
        }
        assert_eq!(
            with_benches(root.path()),
            [
                root.path().join("a/Cargo.toml"),
                root.path().join("deep/er/Cargo.toml")
            ]
        );
    }
}
