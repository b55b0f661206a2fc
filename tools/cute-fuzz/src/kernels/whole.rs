//! Whole kernels, whose results are known: some at a time they become one module, which is compiled in one way or in two, and each is
//! emulated under two seeds. Of what goes wrong together, each is looked at alone.

use super::text::{Kernel, module};
use crate::emulate::{self, Expected};
use crate::finding::{Finding, Kind, Tally, signature};
use crate::on::On;
use crate::opt::{CANONICALIZE, Opt, Status, message};
use anyhow::Result;
use cute_runtime::Package;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Kernels of one module: starting the compiler and the assembler takes longer than one of them.
const TOGETHER: usize = 12;

/// Messages by which the compiler may refuse kernels that are right: what the documentation says is not supported, spills, which ptxas decides, and
/// tensors that a multiprocessor has no room for.
const LIMITS: [&str; 3] = [
    "not supported",
    "spills registers",
    "bytes of shared memory",
];

/// Ways to compile that may make no difference.
const WAYS: [&[&str]; 4] = [
    &["--cute-compile=arch=sm_80 package=@"],
    &["--cute-compile=arch=sm_80 simplify=false package=@"],
    &[CANONICALIZE, "--cse", "--cute-compile=arch=sm_80 package=@"],
    &["--cute-compile=arch=sm_90a package=@"],
];

/// The option that keeps LLVM 22 from what these kernels are not to test: joining loads, it reads neighbours that nobody asked for, in
/// the 16 bytes in which what was asked for lies: nothing is done with them, but the emulator finds them where nothing was written, or
/// behind the end.
const EXACT: [&str; 1] = ["--disable-nvptx-load-store-vectorizer"];

/// A kernel that is right.
struct Whole {
    index: u64,
    kernel: Kernel,
    expected: Expected,
}

/// The ways in which an input is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// One of all, by the input's number.
    One,
    /// The first, and one of the others, by the input's number.
    Two,
}

impl Ways {
    fn take(self, way: usize, index: u64) -> bool {
        // Not by the kind of the input, which may be decided by its number as well.
        let group = index / 16;
        let all = WAYS.len() as u64;
        match self {
            Ways::One => group % all == way as u64,
            Ways::Two => way == 0 || 1 + group % (all - 1) == way as u64,
        }
    }
}

/// Kernels that wait to be compiled together.
pub struct Wholes<'o> {
    opt: &'o Opt,
    ways: Ways,
    waiting: Vec<Whole>,
    /// Kernels that were refused, by the limit that did it.
    pub refused: BTreeMap<&'static str, u64>,
}

impl<'o> Wholes<'o> {
    /// None so far.
    pub fn new(opt: &'o Opt, ways: Ways) -> Wholes<'o> {
        Wholes {
            opt,
            ways,
            waiting: Vec::new(),
            refused: LIMITS.map(|limit| (limit, 0)).into(),
        }
    }

    /// Adds a kernel that is right; compiles and runs all that wait when there are enough.
    ///
    /// # Errors
    /// If the compiler cannot be run, or a finding cannot be written.
    pub fn add(
        &mut self,
        index: u64,
        kernel: Kernel,
        expected: Expected,
        tally: &mut Tally,
    ) -> Result<()> {
        self.waiting.push(Whole {
            index,
            kernel,
            expected,
        });
        match self.waiting.len() {
            TOGETHER => self.finish(tally),
            _ => Ok(()),
        }
    }

    /// Compiles and runs all that wait.
    ///
    /// # Errors
    /// As [`Wholes::add`].
    pub fn finish(&mut self, tally: &mut Tally) -> Result<()> {
        let all: Vec<Whole> = std::mem::take(&mut self.waiting);
        let mut sound: Vec<&Whole> = all.iter().collect();
        let ways = self.ways;
        for way in 0..WAYS.len() {
            let those = sound.iter().copied();
            let those = those.filter(|whole| ways.take(way, whole.index));
            let bad = self.compile(way, &those.collect::<Vec<_>>(), tally)?;
            sound.retain(|whole| !bad.contains(&whole.index));
        }
        tally.accepted += sound.len() as u64;
        Ok(())
    }

    /// Compiles kernels in a way, together if that goes, and runs them; the numbers of those that were refused or had a finding.
    fn compile(&mut self, way: usize, those: &[&Whole], tally: &mut Tally) -> Result<Vec<u64>> {
        let (Some(_), false) = (those.get(1), those.is_empty()) else {
            let mut bad = Vec::new();
            for whole in those {
                if !self.alone(way, whole, tally)? {
                    bad.push(whole.index);
                }
            }
            return Ok(bad);
        };
        let kernels: Vec<&Kernel> = those.iter().map(|whole| &whole.kernel).collect();
        let (arguments, _) = self.arguments(way);
        let status = self.opt.each(&[&module(&kernels)], &arguments)?;
        let mut again: Vec<&Whole> = those.to_vec();
        if let [Status::Done] = status[..] {
            let package = Package::read_file(self.package());
            let number = |name: usize| format!("f{name}");
            let mut nth = 0;
            again.retain(|whole| {
                let name = number(nth);
                nth += 1;
                match &package {
                    Ok(package) => run(package, &name, whole).is_err(),
                    Err(_) => true,
                }
            });
        }
        let mut bad = Vec::new();
        for whole in again {
            if !self.alone(way, whole, tally)? {
                bad.push(whole.index);
            } else if matches!(status[..], [Status::Done]) {
                // Right alone, and wrong beside others.
                let text = module(&kernels);
                let signature = "wrong beside other kernels only".to_string();
                self.found(
                    way,
                    whole.index,
                    (Kind::Wrong, signature, String::new()),
                    &text,
                    tally,
                )?;
                bad.push(whole.index);
            }
        }
        Ok(bad)
    }

    /// Compiles and runs a kernel alone; tells whether it was accepted, and right.
    fn alone(&mut self, way: usize, whole: &Whole, tally: &mut Tally) -> Result<bool> {
        let text = whole.kernel.module();
        let (arguments, _) = self.arguments(way);
        let status = self.opt.verified(&[&text], &arguments)?.into_iter().next();
        let found = match status {
            Some(Status::Done) | None => {
                let package = Package::read_file(self.package());
                let package = package.map_err(|error| error.to_string());
                match package.map_err(wrong).and_then(|p| run(&p, "f0", whole)) {
                    Ok(()) => return Ok(true),
                    Err(found) => found,
                }
            }
            Some(Status::Dead(death)) => (death.kind, death.signature, death.detail),
            Some(Status::Refused(said)) => {
                if let Some(limit) = LIMITS.iter().find(|limit| said.contains(**limit)) {
                    *self.refused.entry(limit).or_default() += 1;
                    return Ok(false);
                }
                let signature = format!("a right kernel is refused: {}", signature(message(&said)));
                (Kind::Refused, signature, said)
            }
        };
        self.found(way, whole.index, found, &text, tally)?;
        Ok(false)
    }

    fn found(
        &self,
        way: usize,
        index: u64,
        (kind, signature, detail): (Kind, String, String),
        text: &str,
        tally: &mut Tally,
    ) -> Result<()> {
        let (_, shown) = self.arguments(way);
        tally.add(Finding {
            index,
            kind,
            signature,
            detail,
            command: self.opt.command(&shown),
            input: text.as_bytes().to_vec(),
            extension: "mlir",
        })
    }

    fn package(&self) -> std::path::PathBuf {
        self.opt.scratch().join("kernel.cutepkg")
    }

    /// The arguments of a way, and how they are shown.
    fn arguments(&self, way: usize) -> (Vec<String>, Vec<String>) {
        let package = self.package().display().to_string();
        let with = |package: &str| {
            let options = WAYS[way].iter().chain(&EXACT);
            options.map(|option| option.replace('@', package)).collect()
        };
        (with(&package), with("kernel.cutepkg"))
    }
}

fn wrong(said: String) -> (Kind, String, String) {
    let short = said.split(':').next().unwrap_or_default();
    (Kind::Wrong, signature(short), said)
}

/// Runs a kernel's function under two seeds.
fn run(package: &Package, name: &str, whole: &Whole) -> Result<(), (Kind, String, String)> {
    let both = || {
        [whole.index, !whole.index]
            .into_iter()
            .try_for_each(|seed| {
                emulate::check(
                    &On::emulator(),
                    package,
                    (Some(name), Some(&whole.expected)),
                    &[],
                    seed,
                )
                .map(drop)
            })
    };
    match catch_unwind(AssertUnwindSafe(both)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(said)) => Err(wrong(said)),
        Err(_) => Err((
            Kind::Panic,
            "the emulator panics".to_string(),
            String::new(),
        )),
    }
}
