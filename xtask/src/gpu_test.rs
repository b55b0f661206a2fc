//! `cargo xtask gpu-test`: the kernels of `test/gpu`, compiled everywhere and run where there is a GPU; and there the examples of Python.
//!
//! A line `// GPU: arch=sm_90a ...` in a file makes one package, with these options of `--cute-compile`.

use crate::process::show;
use crate::workspace::{Profile, Workspace};
use crate::{demo, gpu, gpu_examples, setup};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Begins a line that asks for a package.
const MARK: &str = "// GPU:";

/// Compiles all, then runs all; whether everything passed.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let setup = setup::run(workspace)?;
    workspace.build(Profile::Release, &["cute-opt", "cute-run"])?;
    let folder = workspace.target.join("gpu-tests");
    // Packages of tests that are gone must not be run again.
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("{} cannot be emptied", folder.display()))?;
    }
    std::fs::create_dir_all(&folder)?;
    let (mut packages, mut failures) = (Vec::new(), Vec::new());
    for source in sources(&workspace.root.join("test/gpu"))? {
        let text = std::fs::read_to_string(&source)
            .with_context(|| format!("{} cannot be read", source.display()))?;
        let wanted = wanted(&text).with_context(|| workspace.short(&source))?;
        for (name, options) in named(&source, &wanted) {
            let package = folder.join(format!("{name}.cutepkg"));
            println!("compiling {name}: {options}");
            let mut compile = demo::compile(workspace, &source, options, &package);
            // The lowered IR goes nowhere: what counts is the package.
            if show(
                compile
                    .stdout(Stdio::null())
                    .env("CUTE_PTXAS", &setup.ptxas),
            )? {
                packages.push(package);
            } else {
                failures.push(format!("{name} (compiling)"));
            }
        }
    }
    let runner = workspace.programs(Profile::Release).join("cute-run");
    let mut passed = 0;
    if gpu::arch()?.is_some() {
        for package in &packages {
            println!("\nrunning {}", workspace.short(package));
            if show(Command::new(&runner).arg(package))? {
                passed += 1;
            } else {
                failures.push(format!("{} (running)", workspace.short(package)));
            }
        }
        println!(
            "\n{passed} of {} packages ran and were right",
            packages.len()
        );
        let failed = gpu_examples::run(workspace, &setup)?;
        failures.extend(failed.into_iter().map(str::to_owned));
    } else {
        println!(
            "\nThere is no GPU here; {} packages were compiled. On a machine with one, after copying",
            packages.len()
        );
        println!(
            "{} and {} there:\n",
            workspace.short(&folder),
            workspace.short(&runner)
        );
        println!("    ./cute-run gpu-tests/*.cutepkg");
        println!("\nThe examples of Python are run by this task on a machine with a GPU.");
    }
    for failure in &failures {
        eprintln!("FAILED: {failure}");
    }
    Ok(failures.is_empty())
}

/// The files of a folder that hold tests, in order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "mlir"));
    files.sort();
    if files.is_empty() {
        bail!(
            "{} holds no .mlir files: there is nothing to test",
            folder.display()
        );
    }
    Ok(files)
}

/// The options of each package that a file asks for.
fn wanted(text: &str) -> Result<Vec<&str>> {
    let marked: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(MARK))
        .map(str::trim)
        .collect();
    if marked.is_empty() {
        bail!(
            "no line begins with `{MARK}`\ncure: add one with the options of --cute-compile, for example `{MARK} arch=sm_90a`"
        );
    }
    if let Some(bad) = marked.iter().find(|options| {
        options
            .split_whitespace()
            .any(|o| o.starts_with("package="))
    }) {
        bail!(
            "`{MARK} {bad}` names a package\ncure: leave package= out: gpu-test names the packages"
        );
    }
    Ok(marked)
}

/// A name for each package: the file's, numbered if it asks for several.
fn named<'a>(source: &Path, wanted: &[&'a str]) -> Vec<(String, &'a str)> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let name = |index: usize| {
        if wanted.len() == 1 {
            stem.to_string()
        } else {
            format!("{stem}-{}", index + 1)
        }
    };
    wanted
        .iter()
        .enumerate()
        .map(|(index, options)| (name(index), *options))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_ask_for_packages() {
        let text =
            "// GPU: arch=sm_90a\n  // GPU: arch=sm_80 stages=4 \n// RUN: x\nfunc.func @f()\n";
        assert_eq!(
            wanted(text).unwrap(),
            ["arch=sm_90a", "arch=sm_80 stages=4"]
        );
        assert!(
            wanted("func.func @f()")
                .unwrap_err()
                .to_string()
                .contains("cure: add one")
        );
        assert!(
            wanted("// GPU: arch=sm_80 package=x")
                .unwrap_err()
                .to_string()
                .contains("leave package= out")
        );
    }

    #[test]
    fn packages_are_named_after_files() {
        let file = Path::new("test/gpu/gemm.mlir");
        assert_eq!(named(file, &["a"]), [("gemm".to_string(), "a")]);
        assert_eq!(
            named(file, &["a", "b"]),
            [("gemm-1".to_string(), "a"), ("gemm-2".to_string(), "b")]
        );
    }

    #[test]
    fn files_are_taken_in_order_and_none_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            sources(folder.path())
                .unwrap_err()
                .to_string()
                .contains("nothing to test")
        );
        for name in ["b.mlir", "a.mlir", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(
            sources(folder.path()).unwrap(),
            [folder.path().join("a.mlir"), folder.path().join("b.mlir")]
        );
        assert!(sources(&folder.path().join("none")).is_err());
    }
}
