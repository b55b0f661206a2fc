//! `cargo xtask test`: everything that CI checks. A stage that fails does not keep the next from running, unless nothing could be built.
//!
//! In CI the build lints, too, as clippy compiles what it looks at; elsewhere clippy has a stage of its own, so that what is built is
//! what `cargo build` has built. Stages that need no build run beside those that are shown, so that no core waits for the last test of a program or for a single compiler.

use crate::clients;
use crate::fuzz;
use crate::memory;
use crate::outside;
use crate::process::{show, watched};
use crate::setup::{self, Setup};
use crate::ui::{explained, seconds};
use crate::workspace::{Profile, Workspace, lints_in_builds};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// The programs that lit tests run: built in the profile of the Rust tests, so that dependencies are built once.
const PROGRAMS: [&str; 5] = [
    "cute-opt",
    "cute-run",
    "cute-lsp-server",
    "cute-fuzz",
    "cute-layout-cli",
];

/// The parts of `cargo xtask test` that may be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// `cargo fmt` and clippy.
    Lints,
    /// The tests of the crates.
    Rust,
    /// The lit tests.
    Lit,
    /// Programs of others that call exported libraries.
    Clients,
    /// A sample of the lit tests under valgrind.
    Valgrind,
    /// The program of `docs/embedding.md`.
    Outside,
    /// Fuzzing, with the inputs that are always the same.
    Fuzzing,
}

/// The parts whose output is shown as it comes.
const SHOWN: [Part; 3] = [Part::Lints, Part::Rust, Part::Fuzzing];
/// The parts that run beside those, in a process of their own. They need programs that are built, and cargo at their end only,
/// when the tests are compiled.
const BESIDE: [Part; 4] = [Part::Lit, Part::Clients, Part::Valgrind, Part::Outside];

/// The stage that builds all that is tested, and lints it.
const LINTED_BUILD: &str = "build, with lints";

/// The options of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Options {
    /// The parts to run, by commas; all where not given.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,

    /// A file for what became of each stage, for the process that runs others beside this one.
    #[arg(long, hide = true, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Count {
    passed: u64,
    failed: u64,
}

/// A stage done.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Stage {
    name: String,
    ok: bool,
    count: Count,
    time: Duration,
}

/// Runs every stage, or those that are asked for; whether all of them passed.
pub fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    let mut stages = Vec::new();
    let mut setup = None;
    stage(&mut stages, "setup", || {
        setup = Some(setup::run(workspace)?);
        Ok((true, Count::default()))
    });
    if let Some(results) = &options.results {
        // The programs are built, and the other process has told of the setup.
        stages.clear();
        let setup = setup.context("the setup that was there is not found any more")?;
        parts(workspace, &setup, &options.only, &mut stages);
        std::fs::write(results, serde_json::to_vec(&stages)?)
            .with_context(|| format!("{} cannot be written", results.display()))?;
        return Ok(true);
    }
    // Without LLVM nothing below builds; each would fail with the same words.
    if let Some(setup) = &setup {
        let wanted = |parts: &[Part]| -> Vec<Part> {
            let all = parts.iter().copied();
            all.filter(|part| options.only.is_empty() || options.only.contains(part))
                .collect()
        };
        let (shown, mut beside) = (wanted(&SHOWN), wanted(&BESIDE));
        if shown != [Part::Lints] || !beside.is_empty() {
            stage(&mut stages, "programs", || {
                workspace.build_programs(&PROGRAMS)?;
                Ok((true, Count::default()))
            });
        }
        if !stages.iter().all(|stage| stage.ok) {
            beside.clear();
        }
        if shown.is_empty() {
            parts(workspace, setup, &beside, &mut stages);
        } else {
            // While tests are compiled, often by one compiler that takes long, the others run.
            let others = Beside::start(workspace, &beside)?;
            if shown != [Part::Lints] {
                let name = if lints_in_builds() {
                    LINTED_BUILD
                } else {
                    "build"
                };
                stage(&mut stages, name, || {
                    workspace.build(Profile::Dev, &PROGRAMS)?;
                    Ok((true, Count::default()))
                });
            }
            parts(workspace, setup, &shown, &mut stages);
            if let Some(others) = others {
                others.finish(&mut stages);
            }
        }
    }
    println!();
    for stage in &stages {
        println!("{}", line(stage));
    }
    let total = total(&stages);
    println!("\n{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0 && setup.is_some())
}

/// Runs parts one after another.
fn parts(workspace: &Workspace, setup: &Setup, parts: &[Part], stages: &mut Vec<Stage>) {
    for part in parts {
        match part {
            Part::Lints => lints(workspace, stages),
            Part::Rust => stage(stages, "Rust tests", || rust_tests(workspace)),
            Part::Lit => stage(stages, "lit tests", || {
                let programs = workspace.programs(Profile::Dev);
                lit_tests(workspace, setup, &programs, &[workspace.root.join("test")])
            }),
            Part::Clients => stage(stages, "clients", || {
                let count = clients::check(workspace, setup)?;
                let (passed, failed) = (count.passed, count.failed);
                Ok((count.ok, Count { passed, failed }))
            }),
            Part::Valgrind => stage(stages, "valgrind", || {
                let programs = memory::programs(workspace, setup, &PROGRAMS)?;
                let tests = memory::SAMPLE.map(|name| workspace.root.join("test").join(name));
                lit_tests(workspace, setup, &programs, &tests)
            }),
            Part::Outside => stage(stages, "a program outside", || {
                Ok((outside::check(workspace)?, Count::default()))
            }),
            Part::Fuzzing => stage(stages, "fuzzing", || {
                Ok((fuzz::check(workspace, setup)?, Count::default()))
            }),
        }
    }
}

/// Checks formatting; lints, too, where the build has not.
fn lints(workspace: &Workspace, stages: &mut Vec<Stage>) {
    let linted = stages.iter().any(|stage| stage.name == LINTED_BUILD);
    stage(stages, "formatting", || {
        let ok = show(workspace.cargo().args(["fmt", "--all", "--check"]))?;
        if !ok {
            eprintln!("cure: run `cargo fmt`");
        }
        Ok((ok, Count::default()))
    });
    if linted {
        return;
    }
    stage(stages, "lints", || {
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
}

/// Stages that run in a process of their own, whose output is shown when they are done.
struct Beside {
    process: Child,
    said: NamedTempFile,
    results: NamedTempFile,
}

impl Beside {
    /// Starts the process; none where there are no parts.
    fn start(workspace: &Workspace, parts: &[Part]) -> Result<Option<Beside>> {
        if parts.is_empty() {
            return Ok(None);
        }
        let named = |part: &Part| {
            part.to_possible_value()
                .map(|value| value.get_name().to_owned())
        };
        let names: Vec<String> = parts.iter().filter_map(named).collect();
        println!(
            "\n== beside the next ones, shown at the end: {}",
            names.join(", ")
        );
        let (said, results) = (NamedTempFile::new()?, NamedTempFile::new()?);
        // One handle for both, so that they write behind each other.
        let out = said.reopen()?;
        // This program as it was just built: the file that runs here may have made room for it.
        let program = workspace.programs(Profile::Dev).join("xtask");
        let process = Command::new(program)
            .args(["test", "--only", &names.join(","), "--results"])
            .arg(results.path())
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .context("the tests cannot start themselves again")?;
        Ok(Some(Beside {
            process,
            said,
            results,
        }))
    }

    /// Waits for the process, shows what it said, and adds its stages.
    fn finish(mut self, stages: &mut Vec<Stage>) {
        let mut done = || -> Result<Vec<Stage>> {
            let status = self.process.wait()?;
            std::io::copy(&mut self.said.reopen()?, &mut std::io::stdout())?;
            if !status.success() {
                bail!("the stages above did not end: {status}");
            }
            Ok(serde_json::from_reader(self.results.reopen()?)?)
        };
        match done() {
            Ok(done) => stages.extend(done),
            Err(error) => stage(stages, "stages beside", || Err(error)),
        }
    }
}

fn stage(stages: &mut Vec<Stage>, name: &str, work: impl FnOnce() -> Result<(bool, Count)>) {
    println!("\n== {name}");
    let start = Instant::now();
    let (ok, count) = work().unwrap_or_else(|error| {
        eprintln!("{}", explained(&error));
        (false, Count::default())
    });
    stages.push(Stage {
        name: name.to_owned(),
        ok,
        count,
        time: start.elapsed(),
    });
}

fn rust_tests(workspace: &Workspace) -> Result<(bool, Count)> {
    let mut count = Count::default();
    let mut test = workspace.testing();
    test.args(["test", "--workspace", "--no-fail-fast"]);
    match setup::solver(workspace) {
        Ok(solver) => _ = test.env("CUTE_Z3", solver),
        Err(error) => println!(
            "skipped: rules are not proved at 32 and 64 bits, as there is no z3\n{error:#}"
        ),
    }
    let ok = watched(&mut test, |line| {
        if let Some(more) = cargo_count(line) {
            count.passed += more.passed;
            count.failed += more.failed;
        }
    })?;
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

/// Reads a closing line of a Rust test binary: `test result: ok. 16 passed; 0 failed; ...`.
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
    fn each_part_is_shown_or_runs_beside() {
        for part in Part::value_variants() {
            assert!(SHOWN.contains(part) != BESIDE.contains(part), "{part:?}");
        }
    }

    #[test]
    fn stages_come_back_from_another_process() {
        let stages = [Stage {
            name: "lit tests".to_owned(),
            ok: false,
            count: Count {
                passed: 3,
                failed: 1,
            },
            time: Duration::from_millis(1500),
        }];
        let text = serde_json::to_vec(&stages).unwrap();
        let read: Vec<Stage> = serde_json::from_slice(&text).unwrap();
        assert_eq!(read, stages);
    }

    #[test]
    fn a_stage_that_fails_without_tests_is_one_failure() {
        let stage = |ok, passed, failed| Stage {
            name: "x".to_owned(),
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
