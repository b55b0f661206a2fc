//! Running `cute-opt` on many inputs at once, and telling which of them it did not survive.

mod said;

use crate::child::{self, End, Ran};
use crate::finding::{Kind, signature};
use anyhow::{Context, Result, bail};
pub use said::message;
use said::{MARKER, attribute, end_of, failed_pass, internal, pipeline, split, top};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Functions of MLIR that crash by themselves, before anything of this project has seen the input: the parser asks the element type of
/// `array<index>` for its width.
const UPSTREAM: [&str; 1] = ["Parser::parseDenseArrayAttr"];

/// MLIR's canonicalization without the pattern of MLIR 22 that moves a branch from the first region of `scf.while` into the second: what the
/// branch yields of the first region it leaves behind, so that operands do not dominate their uses.
pub const CANONICALIZE: &str =
    "--canonicalize=disable-patterns={(anonymous namespace)::WhileMoveIfDown}";

/// The multiple of an input's time after which it is said to have no end.
pub const PATIENCE: u32 = 4;

/// The compiler.
pub struct Opt {
    program: PathBuf,
    /// The time that one input may take.
    time: Duration,
    scratch: TempDir,
    /// Processes that were started.
    runs: Cell<u64>,
    /// Passes that command lines stand for, by command line.
    passes: RefCell<HashMap<Vec<String>, Vec<String>>>,
    /// Messages of passes that were found to fail by themselves, by pass and message.
    own: RefCell<BTreeSet<(String, String)>>,
}

/// The outcome of one input.
#[derive(Clone, Debug)]
pub enum Status {
    /// It was compiled.
    Done,
    /// It was refused, with these diagnostics.
    Refused(String),
    Dead(Death),
}

/// A failure that no input may cause.
#[derive(Clone, Debug)]
pub struct Death {
    pub kind: Kind,
    pub signature: String,
    pub detail: String,
}

impl Opt {
    /// The compiler at that place.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(program: &Path, time: Duration) -> Result<Opt> {
        if !program.is_file() {
            bail!(
                "{} is missing: build it, or name another with --opt",
                program.display()
            );
        }
        Ok(Opt {
            program: program.to_path_buf(),
            time,
            scratch: tempfile::tempdir().context("no folder for temporary files")?,
            runs: Cell::new(0),
            passes: RefCell::default(),
            own: RefCell::default(),
        })
    }

    /// Processes that were started so far.
    pub fn runs(&self) -> u64 {
        self.runs.get()
    }

    /// A folder for temporary files.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The command line as a user would type it, `{}` for the file.
    pub fn command(&self, arguments: &[String]) -> String {
        let quoted = arguments.iter().map(|a| {
            if a.contains(|c: char| c.is_whitespace() || "(){}<>;\"".contains(c)) {
                format!("'{a}'")
            } else {
                a.clone()
            }
        });
        let quoted: Vec<String> = quoted.collect();
        format!(
            "{} {{}} --split-input-file {} -o /dev/null",
            self.program.display(),
            quoted.join(" ")
        )
    }

    fn run(&self, text: &str, arguments: &[String], inputs: usize, times: u32) -> Result<Ran> {
        let file = self.scratch.path().join("input.mlir");
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        self.runs.set(self.runs.get() + 1);
        let mut command = Command::new(&self.program);
        command
            .arg(&file)
            .args(["--split-input-file", "--mlir-disable-threading"])
            .args(arguments)
            .current_dir(self.scratch.path());
        if inputs > 1 {
            // Who is to blame is looked for first; names of functions take time.
            command.env("LLVM_DISABLE_SYMBOLIZATION", "1");
        }
        // A batch may not take as long as each of its inputs alone, but longer than one.
        let time = self.time + self.time * (inputs as u32 - 1) / 40;
        child::run(&mut command, time * times)
    }

    /// Runs it on each of the inputs. Whatever one of them does, the others are told of as if they had been alone.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn each(&self, inputs: &[&str], arguments: &[String]) -> Result<Vec<Status>> {
        if inputs.is_empty() {
            return Ok(Vec::new());
        }
        let text = inputs.join(&format!("\n{MARKER}\n"));
        let mut ran = self.run(&text, arguments, inputs.len(), 1)?;
        if inputs.len() == 1 && ran.end == End::Timeout {
            // On a machine that has other things to do it may only be slow.
            ran = self.run(&text, arguments, 1, PATIENCE)?;
        }
        let inner = internal(&ran.stderr);
        let outputs = split(&ran.stdout);
        let whole = matches!(ran.end, End::Exited(0 | 1)) && outputs.len() == inputs.len();
        if whole && inner.is_none() {
            let mut said = attribute(&ran.stderr, inputs);
            return Ok(outputs
                .into_iter()
                .zip(&mut said)
                .map(|(output, said)| match output.trim().is_empty() {
                    false => Status::Done,
                    true => Status::Refused(std::mem::take(said)),
                })
                .collect());
        }
        if let [_] = inputs {
            return Ok(vec![verdict(ran, inner)]);
        }
        let (first, second) = inputs.split_at(inputs.len() / 2);
        let mut all = self.each(first, arguments)?;
        all.extend(self.each(second, arguments)?);
        Ok(all)
    }

    /// Runs it on all of the inputs; what comes out for each, and all that is said. What is wrong with them, others ask.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn outputs(&self, inputs: &[&str], arguments: &[String]) -> Result<(Vec<String>, String)> {
        if inputs.is_empty() {
            return Ok((Vec::new(), String::new()));
        }
        let text = inputs.join(&format!("\n{MARKER}\n"));
        let ran = self.run(&text, arguments, inputs.len(), PATIENCE)?;
        Ok((split(&ran.stdout), ran.stderr))
    }

    /// Returns the passes, in text, that a command line stands for.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn passes(&self, arguments: &[String]) -> Result<Vec<String>> {
        if let Some(known) = self.passes.borrow().get(arguments) {
            return Ok(known.clone());
        }
        let mut all = arguments.to_vec();
        all.push("--dump-pass-pipeline".into());
        let ran = self.run("module {}", &all, 1, PATIENCE)?;
        let passes = pipeline(&ran.stderr);
        self.passes
            .borrow_mut()
            .insert(arguments.to_vec(), passes.clone());
        Ok(passes)
    }

    /// The arguments that stand for no pass, such as options of LLVM.
    fn options(&self, arguments: &[String]) -> Result<Vec<String>> {
        let mut options = Vec::new();
        for argument in arguments {
            if self.passes(std::slice::from_ref(argument))?.is_empty() {
                options.push(argument.clone());
            }
        }
        Ok(options)
    }

    /// Returns the pass that left invalid IR, if it was that, and not a pass that failed by itself, which made the compiler refuse an
    /// input with that message. It was a pass that left invalid IR if it succeeds where nobody verifies what it leaves.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn invalid_ir(
        &self,
        input: &str,
        arguments: &[String],
        said: &str,
    ) -> Result<Option<String>> {
        let passes = self.passes(arguments)?;
        if passes.is_empty() {
            return Ok(None);
        }
        // MLIR looks at what a target can do only where an operation asks for it: the target was wrong before.
        let lacks = ["Minimum NVVM target SM version", "is not supported on sm_"];
        if lacks.iter().any(|text| said.contains(text)) {
            return Ok(None);
        }
        // The names of passes of a pipeline are known only of the first failure of its kind.
        let start = signature(message(said)).chars().take(48).collect();
        let key = (arguments.join(" "), start);
        if self.own.borrow().contains(&key) {
            return Ok(None);
        }
        // What passes do depends on these: by an option of LLVM a kernel may spill registers.
        let options = self.options(arguments)?;
        let flags = |passes: &[String], flag: &str| {
            let pipeline = format!("--pass-pipeline=builtin.module({})", passes.join(","));
            [&[pipeline, flag.to_string()], &options[..]].concat()
        };
        let failed = match passes.len() {
            1 => passes.clone(),
            _ => {
                let flags = flags(&passes, "--mlir-print-ir-after-failure");
                let ran = self.run(input, &flags, 1, PATIENCE)?;
                let Some(name) = failed_pass(&ran.stderr) else {
                    return Ok(None);
                };
                let is_it =
                    |pass: &String| pass.split(['{', '(', ',', ')']).any(|p| p.trim() == name);
                let Some(last) = passes.iter().rposition(is_it) else {
                    return Ok(None);
                };
                passes[..=last].to_vec()
            }
        };
        let flags = flags(&failed, "--verify-each=false");
        let ran = self.run(input, &flags, 1, PATIENCE)?;
        if ran.end == End::Exited(0) {
            return Ok(failed.last().cloned());
        }
        if matches!(ran.end, End::Exited(_)) {
            self.own.borrow_mut().insert(key);
        }
        Ok(None)
    }

    /// Runs it on each of the inputs, as [`Opt::each`], and says also where a pass left invalid IR.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn verified(&self, inputs: &[&str], arguments: &[String]) -> Result<Vec<Status>> {
        let mut all = self.each(inputs, arguments)?;
        for (status, input) in all.iter_mut().zip(inputs) {
            let Status::Refused(said) = &*status else {
                continue;
            };
            if said.contains("ptxas not found") {
                // Every kernel would be refused, and nothing found.
                bail!("the compiler has no assembler: run `cargo xtask setup`, or set CUTE_PTXAS");
            }
            if let Some(pass) = self.invalid_ir(input, arguments, said)? {
                let pass_name = pass.split('{').next().unwrap_or_default();
                *status = Status::Dead(Death {
                    kind: Kind::InvalidIr,
                    signature: format!("{pass_name}: {}", signature(message(said))),
                    detail: said.clone(),
                });
            }
        }
        Ok(all)
    }
}

/// The outcome of the only input of a process that did not end as it should.
fn verdict(ran: Ran, inner: Option<String>) -> Status {
    let detail = end_of(&ran.stderr);
    let dead = |kind, signature| {
        Status::Dead(Death {
            kind,
            signature,
            detail: detail.clone(),
        })
    };
    match ran.end {
        End::Signal(_) if UPSTREAM.iter().any(|name| ran.stderr.contains(name)) => {
            Status::Refused(ran.stderr)
        }
        End::Signal(signal) => dead(
            Kind::Crash,
            format!("signal {signal} in {}", top(&ran.stderr)),
        ),
        End::Timeout => dead(Kind::Hang, "no end in time".into()),
        End::Memory => dead(Kind::Memory, "more memory than it may have".into()),
        End::Exited(_) => match inner {
            Some(said) => dead(Kind::Panic, signature(&said)),
            // LLVM's fatal errors end the process with a message; nothing comes out.
            None => Status::Refused(ran.stderr),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that takes a file of lines between markers as the compiler takes inputs, and does what the lines say.
    const FAKE: &str = r#"#!/bin/sh
file=$1
case "$*" in
  *--some-pass*--dump-pass-pipeline*) echo 'Pass Manager: builtin.module(some-pass)' >&2; exit 0;;
  *--dump-pass-pipeline*) echo 'Pass Manager: builtin.module()' >&2; exit 0;;
esac
if grep -q CRASH "$file"; then kill -SEGV $$; fi
if grep -q HANG "$file"; then exec sleep 60; fi
if grep -q PANIC "$file"; then echo "$file:1:1: error: internal error in x: y" >&2; exit 1; fi
if grep -q FATAL "$file"; then echo 'error: LLVM cannot compile this module' >&2; exit 1; fi
case "$*" in *--verify-each=false*) trusts=1;; *) trusts=0;; esac
case "$*" in *--exact*) exact=1;; *) exact=0;; esac
awk -v trusts=$trusts -v exact=$exact '
  /^\/\/ -----$/ { print; next }
  /REFUSED/ || (/SPILLS/ && exact) || (/INVALID/ && !trusts) { print FILENAME ":" NR ":1: error: " $0 > "/dev/stderr"; bad = 1; next }
  { print }
  END { exit bad }' "$file"
"#;

    fn fake() -> (TempDir, Opt) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("fake");
        fs::write(&program, FAKE).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let opt = Opt::new(&program, Duration::from_secs(2)).unwrap();
        (folder, opt)
    }

    #[test]
    fn each_input_of_a_batch_gets_what_is_its_own() {
        let (_folder, opt) = fake();
        let inputs = [
            "fine", "CRASH", "REFUSED", "HANG", "fine", "PANIC", "INVALID", "FATAL", "fine",
        ];
        let status = opt.verified(&inputs, &["--some-pass".to_string()]).unwrap();
        let said: Vec<String> = status
            .iter()
            .map(|status| match status {
                Status::Done => "done".into(),
                Status::Refused(said) => format!("refused {}", message(said)),
                Status::Dead(death) => death.kind.to_string(),
            })
            .collect();
        assert_eq!(
            said,
            [
                "done",
                "crash",
                "refused REFUSED",
                "hang",
                "done",
                "panic",
                "invalid-ir",
                "refused LLVM cannot compile this module",
                "done"
            ]
        );
    }

    #[test]
    fn a_batch_without_a_failure_is_one_process() {
        let (_folder, opt) = fake();
        let status = opt.each(&["a", "b", "c", "d"], &[]).unwrap();
        assert!(status.iter().all(|status| matches!(status, Status::Done)));
        assert_eq!(opt.runs(), 1);
    }

    /// No pass is said to have left invalid IR where an option makes the compiler refuse a program.
    #[test]
    fn a_refusal_by_an_option_is_a_refusal() {
        let (_folder, opt) = fake();
        let with = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
            opt.verified(&["SPILLS"], &arguments).unwrap()
        };
        assert!(matches!(with(&["--some-pass"])[..], [Status::Done]));
        let refused = with(&["--some-pass", "--exact"]);
        assert!(
            matches!(&refused[..], [Status::Refused(said)] if message(said) == "SPILLS"),
            "{refused:?}"
        );
    }
}
