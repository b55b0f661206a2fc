//! Tests that the emulator finds what is wrong: the pipeline of the GEMM with one mistake, for every place of
//! some kinds of mistakes.
//!
//! Mutants are generated: of the PTX (`code.rs`), each wait, barrier and commit is removed or weakened and
//! each number that an address is computed with is shifted; of the tensors' views (`views.rs`), each swizzle
//! and each stride is shifted in one of its users, so that what is written by one layout is read by
//! another. Each must end in a finding, in a wrong result, or be rejected by the compiler; at most one in
//! twenty may be called equivalent, by a line in `NAME.equivalent.txt` that proves it.
//!
//! `NAME.txt` lists them with what became of each. `UPDATE_EXPECT=1 cargo test -p cute-lowering --test
//! mutants` writes it anew.

mod code;
#[path = "../common/mod.rs"]
mod common;
mod list;
mod views;

use common::{Gemm, Outcome, compile, parallel, run};
use cute_lowering::{CompileOptions, Options};
use cute_runtime::plan::Planned;
use cute_runtime::{Function, ImageSource, Package};
use list::{Entry, Verdict};

/// A pipeline that is mutated.
struct Subject {
    /// The name of its files.
    name: &'static str,
    options: &'static str,
    /// The product: at least two tiles along M and N, so that neither coordinate is left out, and a K of several times the
    /// stages. At most 16 blocks, which one core executes in their order.
    problem: Gemm,
    /// Tells whether layouts are mutated too, or the synchronization only.
    layouts: bool,
}

const fn subject(
    name: &'static str,
    options: &'static str,
    extents: [i64; 3],
    gaps: [i64; 3],
    layouts: bool,
) -> Subject {
    Subject {
        name,
        options,
        problem: Gemm { extents, gaps },
        layouts,
    }
}

const SUBJECTS: [Subject; 6] = [
    subject(
        "three-stages",
        "arch=sm_80 tile=64x64x32 warps=2x2 stages=3 raster=8",
        [192, 128, 288],
        [8, 0, 16],
        true,
    ),
    subject(
        "two-stages",
        "arch=sm_90a tile=32x64x64 warps=1x2 stages=2 raster=2",
        [96, 128, 448],
        [0, 8, 0],
        true,
    ),
    subject(
        "four-stages",
        "arch=sm_80 tile=64x64x16 warps=2x2 stages=4 swizzle=none simplify=false",
        [128, 128, 176],
        [0, 0, 0],
        false,
    ),
    subject(
        "five-stages",
        "arch=sm_90a tile=32x128x32 warps=1x4 stages=5 raster=1",
        [64, 256, 416],
        [0, 0, 0],
        false,
    ),
    subject(
        "one-warp",
        "arch=sm_80 tile=16x16x16 warps=1x1 stages=3",
        [32, 32, 112],
        [0, 0, 0],
        false,
    ),
    subject(
        "one-stage",
        "arch=sm_80 tile=32x32x32 warps=1x2 stages=1",
        [64, 64, 96],
        [0, 0, 0],
        false,
    ),
];

/// Orders that a mutant is run in, until one shows what is wrong.
const SEEDS: u64 = 3;

/// Parts of all mutants that may be equivalent: one in this many.
const EQUIVALENT: usize = 20;

/// The verdict on a mutant in the first order that showed something.
fn judge(package: &Package, function: &Function) -> Verdict {
    for seed in 0..SEEDS {
        match run(package, function, seed) {
            Outcome::Right { .. } => {}
            Outcome::Findings(findings) => return Verdict::Finding(findings[0].kind.name()),
            Outcome::Wrong(_) => return Verdict::WrongResult,
            // The emulator reads what is printed for it; that it does not is no verdict on the mutant.
            Outcome::Refused(error) => panic!("a mutant cannot be run: {error}"),
        }
    }
    Verdict::Survived
}

/// The package with other PTX.
fn with_ptx(package: &Package, ptx: String) -> Package {
    let manifest = package.manifest();
    let image = &manifest.images[0];
    let builder = manifest
        .functions
        .iter()
        .cloned()
        .fold(Package::builder("mutants"), |b, f| b.function(f));
    let source = ImageSource {
        arch: image.arch.clone(),
        ptx: Some(ptx),
        cubin: None,
        kernels: image.kernels.clone(),
    };
    builder
        .image(source)
        .build()
        .expect("only the code differs")
}

/// Every mutant of a pipeline, judged.
fn mutants_of(subject: &Subject) -> Vec<Entry> {
    let options = CompileOptions::parse(subject.options).unwrap();
    let package = compile(&cute_ir::context(), &subject.problem.source(), &options).unwrap();
    let function = package.function(None).unwrap();
    assert!(
        judge(&package, function) == Verdict::Survived,
        "{}: wrong without a mutation",
        subject.name
    );

    let blob = package.manifest().images[0].ptx.as_ref().unwrap();
    let text = std::str::from_utf8(package.blob(blob)).unwrap();
    let module = cute_runtime::ptx::parse(text).unwrap();
    let block = Planned::fixed(function, 0).unwrap().block[0];
    let mut mutants = code::mutants(&module, block);
    if !subject.layouts {
        mutants.retain(|mutant| mutant.synchronizes);
    }
    let mut entries: Vec<Entry> = parallel(&mutants, |mutant| Entry {
        verdict: judge(&with_ptx(&package, mutant.text(&module)), function),
        id: mutant.id.clone(),
        kind: mutant.kind,
        place: mutant.place.clone(),
        what: mutant.what.clone(),
    });
    if subject.layouts {
        entries.extend(views::mutants(&subject.problem, &options, &|package| {
            judge(package, function)
        }));
    }
    entries
}

/// The pipeline that is mutated, as a line.
fn title(subject: &Subject) -> String {
    let [m, n, k] = subject.problem.extents;
    format!("{m}x{n}x{k} with {}", subject.options)
}

fn check_one(subject: &Subject) {
    list::check(
        subject.name,
        &title(subject),
        mutants_of(subject),
        EQUIVALENT,
    );
}

#[test]
fn three_stages() {
    check_one(&SUBJECTS[0]);
}

#[test]
fn two_stages() {
    check_one(&SUBJECTS[1]);
}

/// Checks the synchronization only of the other pipelines, in one list.
#[test]
fn synchronization() {
    let mut entries = Vec::new();
    for subject in &SUBJECTS[2..] {
        entries.extend(mutants_of(subject).into_iter().map(|entry| Entry {
            id: format!("{}/{}", subject.name, entry.id),
            ..entry
        }));
    }
    let titles: Vec<String> = SUBJECTS[2..]
        .iter()
        .map(|s| format!("{}: {}", s.name, title(s)))
        .collect();
    list::check("synchronization", &titles.join(",\n"), entries, EQUIVALENT);
}
