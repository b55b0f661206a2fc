//! `cargo xtask tune`: measures candidates for a list of problems, and adds the times to the compiler's table. `docs/tuning.md` has more.

mod problems;

use crate::process::{quiet, show};
use crate::setup;
use crate::workspace::{Profile, Workspace};
use crate::{gpu, ui};
use anyhow::{Context, Result, bail};
use cute_measured::{Outcome, Record, Table, read_results, times_of};
use problems::Problem;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Compilers that run at once.
const AT_ONCE: usize = 2;

/// The table of the compiler.
const TABLE: &str = "passes/src/plan/measured.json";

/// The list of problems.
const PROBLEMS: &str = "tools/tune/problems.json";

/// The endings of files of a problem, behind its name.
const SOURCE: &str = "mlir";
const PACKAGE: &str = "cutepkg";
const RESULTS: &str = "jsonl";

/// Measures, or does a part of it.
#[derive(clap::Args)]
pub struct Options {
    /// The list of problems; tools/tune/problems.json where not given.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,

    /// Only problems whose name contains this, such as f16-f16-f32-f16_kkn_4096.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Plans that are measured of each problem.
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: u32,

    /// The architecture; that of this machine's GPU where not given, and sm_90a for --compile-only.
    #[arg(long, value_name = "SM")]
    arch: Option<String>,

    /// The folder that packages and results are kept in, by which an interrupted run goes on; target/tune where not given.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// The table that times are added to; the compiler's where not given.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// Only makes the packages, with cute-run and a script that measures them, for a machine with a GPU and no compiler.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["results", "folder", "table"])]
    compile_only: Option<PathBuf>,

    /// Only adds the results of a folder to the table.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["folder", "dry_run"])]
    results: Option<PathBuf>,

    /// Says what would be done.
    #[arg(long)]
    dry_run: bool,

    /// A folder of cute-opt and cute-run that are built already; they are built where not given.
    #[arg(long, value_name = "DIR")]
    tools: Option<PathBuf>,
}

/// Does what the options ask for; whether all problems were compiled and measured, and nothing was wrong.
pub fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    let table = options.table.clone();
    let table = table.unwrap_or_else(|| workspace.root.join(TABLE));
    if let Some(folder) = &options.results {
        return merge(&table, &results_of(folder)?).map(|()| true);
    }
    let list = options.problems.clone();
    let list = list.unwrap_or_else(|| workspace.root.join(PROBLEMS));
    let mut problems = problems::read(&list)?;
    if let Some(text) = &options.only {
        problems.retain(|problem| problem.name().contains(text));
    }
    if problems.is_empty() {
        bail!("no problem is left of {}", list.display());
    }
    let folder = options
        .compile_only
        .clone()
        .or_else(|| options.folder.clone());
    let folder = folder.unwrap_or_else(|| workspace.target.join("tune"));
    let work = Work {
        problems,
        folder,
        cache: workspace.target.join("tune-cache"),
        arch: arch(options)?,
        candidates: options.candidates,
    };
    if options.dry_run {
        return work.tell(options.compile_only.is_some()).map(|()| true);
    }
    let tools = match &options.tools {
        // Programs run in folders of their own.
        Some(folder) => std::path::absolute(folder)
            .with_context(|| format!("{} is no folder", folder.display()))?,
        None => {
            workspace.build(Profile::Release, &["cute-opt", "cute-run"])?;
            workspace.programs(Profile::Release)
        }
    };
    let ptxas = match std::env::var_os("CUTE_PTXAS") {
        Some(ptxas) => PathBuf::from(ptxas),
        None => setup::run(workspace)?.ptxas,
    };
    std::fs::create_dir_all(&work.folder)
        .with_context(|| format!("{} cannot be made", work.folder.display()))?;
    let compiled = work.compile(&tools.join("cute-opt"), &ptxas)?;
    if options.compile_only.is_some() {
        work.pack(&tools.join("cute-run"), &compiled)?;
        return Ok(compiled.len() == work.problems.len());
    }
    let measured = work.measure(&tools.join("cute-run"), &compiled, &table)?;
    Ok(measured && compiled.len() == work.problems.len())
}

/// The architecture for `cute-opt`.
fn arch(options: &Options) -> Result<String> {
    if let Some(arch) = &options.arch {
        return Ok(arch.clone());
    }
    if options.compile_only.is_some() || options.dry_run {
        return Ok(gpu::arch()?.unwrap_or_else(|| gpu::DEFAULT_ARCH.to_owned()));
    }
    match gpu::arch()? {
        // Its number of multiprocessors, too.
        Some(_) => Ok("native".to_owned()),
        None => bail!(
            "there is no GPU here\ncure: make packages for a machine that has one, cargo xtask tune --compile-only DIR"
        ),
    }
}

/// Problems, and where and how they are compiled and measured.
struct Work {
    problems: Vec<Problem>,
    folder: PathBuf,
    /// The folder of the compiler's cache, which finds what was compiled before.
    cache: PathBuf,
    arch: String,
    candidates: u32,
}

impl Work {
    fn file(&self, problem: &Problem, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", problem.name()))
    }

    /// Lists what would be done.
    fn tell(&self, only_compile: bool) -> Result<()> {
        let arch = &self.arch;
        println!(
            "{} problems for {arch}, {} candidates each, in {}",
            self.problems.len(),
            self.candidates,
            self.folder.display()
        );
        for problem in &self.problems {
            let known = samples(&self.file(problem, RESULTS))?;
            let state = match (only_compile, self.file(problem, PACKAGE).is_file(), known) {
                (_, false, 0) => "to compile".to_owned(),
                (true, true, _) => "compiled".to_owned(),
                (false, true, 0) => "compiled, to measure".to_owned(),
                (_, _, known) => format!("{known} samples are there"),
            };
            println!("{}: {state}", problem.name());
        }
        Ok(())
    }

    /// Compiles all problems, two at once; gives those that could be. What was compiled by the same compiler is in its cache.
    fn compile(&self, program: &Path, ptxas: &Path) -> Result<Vec<&Problem>> {
        let bar = ui::bar(self.problems.len());
        let next = AtomicUsize::new(0);
        let failed: Mutex<Vec<(usize, anyhow::Error)>> = Mutex::new(Vec::new());
        let compile = || {
            while let Some((at, problem)) = self.next(&next) {
                bar.set_message(format!("compile {}", problem.name()));
                if let Err(error) = self.compile_one(program, ptxas, problem) {
                    let mut failed = failed
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner());
                    failed.push((at, error));
                }
                bar.inc(1);
            }
        };
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(compile);
            }
        });
        bar.finish_and_clear();
        let mut failed = failed
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        failed.sort_by_key(|(at, _)| *at);
        for (at, error) in &failed {
            eprintln!("{}: {}", self.problems[*at].name(), ui::explained(error));
        }
        let count = self.problems.len() - failed.len();
        ui::found(
            "compiled",
            &format!("{count} of {}", self.problems.len()),
            start.elapsed(),
        );
        if count == 0 {
            bail!("nothing was compiled: see the messages above");
        }
        let all = self.problems.iter().enumerate();
        let compiled = all.filter(|(at, _)| failed.iter().all(|(other, _)| other != at));
        Ok(compiled.map(|(_, problem)| problem).collect())
    }

    fn next(&self, next: &AtomicUsize) -> Option<(usize, &Problem)> {
        let at = next.fetch_add(1, Ordering::Relaxed);
        Some((at, self.problems.get(at)?))
    }

    fn compile_one(&self, program: &Path, ptxas: &Path, problem: &Problem) -> Result<()> {
        let source = self.file(problem, SOURCE);
        std::fs::write(&source, problem.ir())?;
        quiet(&mut self.compiler(program, ptxas, problem)).map(drop)
    }

    fn compiler(&self, program: &Path, ptxas: &Path, problem: &Problem) -> Command {
        let mut compile = Command::new(program);
        compile
            .current_dir(&self.folder)
            .env("CUTE_PTXAS", ptxas)
            .arg(format!("{}.{SOURCE}", problem.name()))
            .arg(format!("--cache={}", self.cache.display()))
            .arg(format!(
                "--cute-compile=arch={} candidates={} package={}.{PACKAGE}",
                self.arch,
                self.candidates,
                problem.name()
            ))
            .args(["-o", "/dev/null"]);
        compile
    }

    /// Puts what measures beside the packages.
    fn pack(&self, runner: &Path, compiled: &[&Problem]) -> Result<()> {
        std::fs::copy(runner, self.folder.join("cute-run"))
            .with_context(|| format!("{} cannot be copied", runner.display()))?;
        let lines = compiled.iter().map(|problem| {
            let name = problem.name();
            format!("./cute-run {name}.{PACKAGE} --tune --results {name}.{RESULTS} || true\n")
        });
        let script = format!(
            "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n{}",
            lines.collect::<String>()
        );
        std::fs::write(self.folder.join("tune.sh"), script)?;
        println!(
            "copy {} to a machine with a GPU, run `sh tune.sh` there (again where it was interrupted), copy the *.{RESULTS} back, and \
             run `cargo xtask tune --results DIR`",
            self.folder.display()
        );
        Ok(())
    }

    /// Measures packages one after another, and adds the times of each to the table; whether nothing was wrong.
    fn measure(&self, runner: &Path, compiled: &[&Problem], table: &Path) -> Result<bool> {
        let mut fine = true;
        for (at, problem) in compiled.iter().enumerate() {
            println!("\n== {} of {}: {}", at + 1, compiled.len(), problem.name());
            let results = self.file(problem, RESULTS);
            let mut tune = Command::new(runner);
            tune.arg(self.file(problem, PACKAGE))
                .arg("--tune")
                .arg("--results")
                .arg(&results);
            fine &= show(&mut tune)?;
            if results.is_file() {
                merge(table, &records(&results)?)?;
            }
        }
        Ok(fine)
    }
}

/// The records of a file of results.
fn records(path: &Path) -> Result<Vec<Record>> {
    let place = || format!("{}: no results of cute-run --tune", path.display());
    let text = std::fs::read_to_string(path).with_context(place)?;
    Ok(read_results(&text).with_context(place)?.0)
}

/// The samples that a file of results has; none where there is no file.
fn samples(path: &Path) -> Result<usize> {
    if !path.is_file() {
        return Ok(0);
    }
    let records = records(path)?;
    let is_sample = |record: &&Record| matches!(record.outcome, Outcome::Sample { .. });
    Ok(records.iter().filter(is_sample).count())
}

/// The records of all results of a folder, in the order of their names.
fn results_of(folder: &Path) -> Result<Vec<Record>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be listed", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == RESULTS));
    files.sort();
    if files.is_empty() {
        bail!(
            "{} has no results, which end in .{RESULTS}",
            folder.display()
        );
    }
    let mut all = Vec::new();
    for file in &files {
        all.extend(records(file)?);
    }
    Ok(all)
}

/// Adds the times of records to a table, and says how many.
fn merge(path: &Path, records: &[Record]) -> Result<()> {
    let mut table = Table::read_file(path)?;
    let times = times_of(records);
    let count = times.len();
    let new = times
        .into_iter()
        .filter(|time| table.add(time.clone()))
        .count();
    if count > 0 {
        table.write_file(path)?;
    }
    println!(
        "{}: {new} times added, {} renewed, {} in all",
        path.display(),
        count - new,
        table.times().len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_measured::{By, GENERATION, Subject};

    fn record(plan: &str, outcome: Outcome) -> Record {
        Record {
            subject: Subject {
                package: "0".into(),
                function: "gemm".into(),
                arguments: String::new(),
                device: "a GPU".into(),
                arch: "sm_90".into(),
                sms: 132,
                by: By::Time,
                product: 0,
                alone: true,
                problem: "f16 f16 f32 f16 kkn 8x8x8".into(),
                generation: GENERATION,
                extents: [64, 64, 64, 1],
                candidate: 0,
                plan: plan.into(),
            },
            outcome,
        }
    }

    fn sample(plan: &str, value: u64) -> String {
        let right = record(plan, Outcome::Right).line();
        right + &record(plan, Outcome::Sample { round: 0, value }).line()
    }

    #[test]
    fn results_of_a_folder_become_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let table = at("times.json");
        assert!(
            results_of(folder.path())
                .unwrap_err()
                .to_string()
                .contains(".jsonl")
        );
        std::fs::write(at("a.jsonl"), sample("tile=a", 30)).unwrap();
        // The last line was torn.
        let torn = record("tile=c", Outcome::Right).line();
        std::fs::write(at("b.jsonl"), sample("tile=b", 20) + &torn[..40]).unwrap();
        merge(&table, &results_of(folder.path()).unwrap()).unwrap();
        std::fs::write(at("b.jsonl"), sample("tile=b", 10)).unwrap();
        merge(&table, &results_of(folder.path()).unwrap()).unwrap();
        let read = Table::read_file(&table).unwrap();
        let times: Vec<_> = read
            .times()
            .iter()
            .map(|time| (&*time.plan, time.ns))
            .collect();
        assert_eq!(times, [("tile=a", 30), ("tile=b", 10)]);
        assert_eq!(samples(&at("a.jsonl")).unwrap(), 1);
        assert_eq!(samples(&at("none.jsonl")).unwrap(), 0);
        std::fs::write(at("c.jsonl"), "nonsense\n").unwrap();
        let error = format!("{:#}", results_of(folder.path()).unwrap_err());
        assert!(
            error.contains("c.jsonl") && error.contains("line 1"),
            "{error}"
        );
    }

    /// Work on three small problems, with programs that a script stands for.
    fn work(folder: &Path) -> Work {
        let list = folder.join("problems.json");
        let text = r#"{"products": [{"types": ["f16", "f16", "f32", "f16"], "majors": "kkn", "shapes": [[1,2,3],[4,5,6],[7,8,9]]}]}"#;
        std::fs::write(&list, text).unwrap();
        Work {
            problems: problems::read(&list).unwrap(),
            folder: folder.to_owned(),
            cache: folder.join("cache"),
            arch: "sm_90a".into(),
            candidates: 4,
        }
    }

    fn script(path: &Path, text: &str) -> PathBuf {
        // Written by another process: a file that this one has open for writing while a thread starts a program cannot be executed.
        let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$0" && chmod +x "$0""#;
        let mut shell = Command::new("sh");
        quiet(shell.args(["-c", write]).arg(path).arg(text)).unwrap();
        path.to_owned()
    }

    #[test]
    fn one_problem_that_fails_holds_up_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let work = work(folder.path());
        // The second is not compiled, and the third is measured to be wrong.
        let compiler = script(
            &folder.path().join("opt"),
            r#"case "$1" in *4x5x6*) echo no >&2; exit 1;; esac; echo "$3" >> ${1%.mlir}.cutepkg"#,
        );
        let compiled = work.compile(&compiler, Path::new("ptxas")).unwrap();
        let names: Vec<String> = compiled.iter().map(|problem| problem.name()).collect();
        assert_eq!(
            names,
            ["f16-f16-f32-f16_kkn_1x2x3", "f16-f16-f32-f16_kkn_7x8x9"]
        );
        let asked = std::fs::read_to_string(work.file(compiled[0], PACKAGE)).unwrap();
        assert_eq!(
            asked,
            "--cute-compile=arch=sm_90a candidates=4 package=f16-f16-f32-f16_kkn_1x2x3.cutepkg\n"
        );
        let lines = folder.path().join("lines");
        std::fs::write(&lines, sample("tile=a", 7)).unwrap();
        let runner = script(
            &folder.path().join("run"),
            &format!(
                r#"case "$1" in *7x8x9*) exit 1;; esac; cat {} > "$4""#,
                lines.display()
            ),
        );
        let table = folder.path().join("times.json");
        assert!(!work.measure(&runner, &compiled, &table).unwrap());
        assert_eq!(Table::read_file(&table).unwrap().times().len(), 1);
        assert!(work.measure(&runner, &compiled[..1], &table).unwrap());
        work.tell(false).unwrap();
        work.pack(&runner, &compiled).unwrap();
        let told = std::fs::read_to_string(folder.path().join("tune.sh")).unwrap();
        assert_eq!(told.matches("--tune --results").count(), 2, "{told}");
        assert!(
            work.compile(Path::new("/no-such-program"), Path::new("ptxas"))
                .is_err()
        );
    }
}
