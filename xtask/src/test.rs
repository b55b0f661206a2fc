//! `cargo xtask test`: everything that CI checks. A stage that fails does not keep the next from running.

use crate::clients;
use crate::fuzz;
use crate::memory;
use crate::outside;
use crate::process::{show, watched};
use crate::setup::{self, Setup};
use crate::ui::{explained, seconds};
use crate::workspace::{Profile, Workspace};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The programs that lit tests run: built in the profile of the Rust tests, so that dependencies are built once.
const PROGRAMS: [&str; 3] = ["cute-opt", "cute-run", "cute-lsp-server"];

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

/// A stage done.
struct Stage {
    name: &'static str,
    ok: bool,
    count: Count,
    time: Duration,
}

/// Runs every stage; whether all of them passed.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let mut stages = Vec::new();
    let mut setup = None;
    stage(&mut stages, "setup", || {
        setup = Some(setup::run(workspace)?);
        Ok((true, Count::default()))
    });
    stage(&mut stages, "formatting", || {
        let ok = show(workspace.cargo().args(["fmt", "--all", "--check"]))?;
        if !ok {
            eprintln!("cure: run `cargo fmt`");
        }
        Ok((ok, Count::default()))
    });
    // Without LLVM nothing below builds; each would fail with the same words.
    if let Some(setup) = &setup {
        stage(&mut stages, "lints", || {
            let clippy = [
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ];
            Ok((show(workspace.cargo().args(clippy))?, Count::default()))
        });
        stage(&mut stages, "Rust tests", || rust_tests(workspace));
        stage(&mut stages, "lit tests", || {
            workspace.build(Profile::Dev, &PROGRAMS)?;
            let folder = workspace.root.join("test");
            lit_tests(
                workspace,
                setup,
                &workspace.programs(Profile::Dev),
                &[folder],
            )
        });
        stage(&mut stages, "clients", || {
            let count = clients::check(workspace, setup)?;
            let (passed, failed) = (count.passed, count.failed);
            Ok((count.ok, Count { passed, failed }))
        });
        stage(&mut stages, "valgrind", || {
            let programs = memory::programs(workspace, setup, &PROGRAMS)?;
            let tests = memory::SAMPLE.map(|name| workspace.root.join("test").join(name));
            lit_tests(workspace, setup, &programs, &tests)
        });
        stage(&mut stages, "a program outside", || {
            Ok((outside::check(workspace)?, Count::default()))
        });
        stage(&mut stages, "fuzzing", || {
            Ok((fuzz::check(workspace, setup)?, Count::default()))
        });
    }
    println!();
    for stage in &stages {
        println!("{}", line(stage));
    }
    let total = total(&stages);
    println!("\n{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0 && setup.is_some())
}

fn stage(
    stages: &mut Vec<Stage>,
    name: &'static str,
    work: impl FnOnce() -> Result<(bool, Count)>,
) {
    println!("\n== {name}");
    let start = Instant::now();
    let (ok, count) = work().unwrap_or_else(|error| {
        eprintln!("{}", explained(&error));
        (false, Count::default())
    });
    stages.push(Stage {
        name,
        ok,
        count,
        time: start.elapsed(),
    });
}

fn rust_tests(workspace: &Workspace) -> Result<(bool, Count)> {
    let mut count = Count::default();
    let ok = watched(
        workspace
            .cargo()
            .args(["test", "--workspace", "--no-fail-fast"]),
        |line| {
            if let Some(more) = cargo_count(line) {
                count.passed += more.passed;
                count.failed += more.failed;
            }
        },
    )?;
    Ok((ok, count))
}

fn lit_tests(
    workspace: &Workspace,
    setup: &Setup,
    programs: &Path,
    tests: &[PathBuf],
) -> Result<(bool, Count)> {
    if !workspace.root.join("test").join("lit.cfg.py").is_file() {
        bail!(
            "test/lit.cfg.py is missing: lit does not know how to run the tests\ncure: restore it from git"
        );
    }
    let mut count = Count::default();
    let mut lit = Command::new(&setup.python);
    lit.args(["-c", "from lit.main import main; main()", "-sv"])
        .args(tests);
    lit.current_dir(&workspace.root)
        .env("PYTHONPATH", &setup.python_packages)
        // Compiled Python files of the configuration would land in the source tree.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CUTE_TOOLS_DIR", programs)
        .env("LLVM_TOOLS_DIR", &setup.llvm_bin)
        .env("CUTE_PTXAS", &setup.ptxas);
    let ok = watched(&mut lit, |line| {
        if let Some((passed, n)) = lit_count(line) {
            *(if passed {
                &mut count.passed
            } else {
                &mut count.failed
            }) += n;
        }
    })
    .context("lit")?;
    Ok((ok, count))
}

/// From a closing line of a Rust test binary: `test result: ok. 16 passed; 0 failed; ...`.
fn cargo_count(line: &str) -> Option<Count> {
    let rest = line.trim().strip_prefix("test result: ")?;
    let number = |of: &str| {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let at = words.iter().position(|w| w.trim_end_matches(';') == of)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    Some(Count {
        passed: number("passed")?,
        failed: number("failed")?,
    })
}

/// From a line of lit's summary, `  Passed: 12 (92.31%)`: whether it counts as passed, and how many.
fn lit_count(line: &str) -> Option<(bool, u64)> {
    let (kind, rest) = line.trim().split_once(':')?;
    let passed = match kind.trim() {
        "Passed" | "Passed With Retry" | "Expectedly Failed" => true,
        "Failed" | "Unresolved" | "Timed Out" | "Unexpectedly Passed" => false,
        _ => return None,
    };
    Some((passed, rest.split_whitespace().next()?.parse().ok()?))
}

fn line(stage: &Stage) -> String {
    let tests = match stage.count {
        Count {
            passed: 0,
            failed: 0,
        } => String::new(),
        Count { passed, failed } => format!(", {passed} tests passed, {failed} failed"),
    };
    format!(
        "{:12} {:6} {}{tests}",
        stage.name,
        if stage.ok { "ok" } else { "FAILED" },
        seconds(stage.time)
    )
}

/// Tests, and stages: one that failed without a failed test (it did not build) counts as one failure.
fn total(stages: &[Stage]) -> Count {
    let mut total = Count::default();
    for Stage { ok, count, .. } in stages {
        total.passed += count.passed + u64::from(*ok);
        total.failed += count.failed + u64::from(!ok && count.failed == 0);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted() {
        let rust = "test result: FAILED. 16 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.63s";
        assert_eq!(
            cargo_count(rust),
            Some(Count {
                passed: 16,
                failed: 2
            })
        );
        assert_eq!(cargo_count("running 16 tests"), None);
        assert_eq!(lit_count("  Passed: 12 (92.31%)"), Some((true, 12)));
        assert_eq!(
            lit_count("  Failed           :  1 (7.69%)"),
            Some((false, 1))
        );
        assert_eq!(lit_count("  Unsupported      : 3 (1.00%)"), None);
        assert_eq!(lit_count("PASS: cute :: layout.mlir (1 of 3)"), None);
        assert_eq!(lit_count("Failed Tests (1):"), None);
    }

    #[test]
    fn a_stage_that_fails_without_tests_is_one_failure() {
        let stage = |ok, passed, failed| Stage {
            name: "x",
            ok,
            count: Count { passed, failed },
            time: Duration::ZERO,
        };
        let stages = [
            stage(true, 0, 0),
            stage(false, 0, 0),
            stage(false, 5, 2),
            stage(true, 7, 0),
        ];
        assert_eq!(
            total(&stages),
            Count {
                passed: 14,
                failed: 3
            }
        );
        assert!(
            line(&stages[2]).contains("FAILED 0 ms, 5 tests passed, 2 failed"),
            "{}",
            line(&stages[2])
        );
    }
}
