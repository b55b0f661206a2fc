//! Tests that the emulator finds what is wrong: the pipeline of the GEMM with one mistake, for every place of
//! some kinds of mistakes.
//!
//! Mutants are generated: of the PTX (`code.rs`), each wait, barrier and commit is removed or weakened and
//! each number that an address is computed with is shifted, and so is what Hopper's kernels wait and count by (`hopper.rs`) and the boxes of
//! their tensor maps (`maps.rs`); of the tensors' views (`views.rs`), each swizzle
//! and each stride is shifted in one of its users, so that what is written by one layout is read by
//! another. Each must end in a finding, in a wrong result, or be rejected by the compiler; at most one in
//! twenty may be called equivalent, by a line in `NAME.equivalent.txt` that proves it.
//!
//! `NAME.txt` lists them with what became of each. `UPDATE_EXPECT=1 cargo test -p cute-lowering --test
//! mutants` writes it anew.

mod code;
#[path = "../common/mod.rs"]
mod common;
mod hopper;
mod list;
mod maps;
mod views;

use common::{Gemm, Outcome, compile, generated, parallel, run_on};
use cute_lowering::{CompileOptions, Options};
use cute_runtime::emulator::Config;
use cute_runtime::package::Arg;
use cute_runtime::tensor::{Given, HostTensor};
use cute_runtime::{Function, ImageSource, Package};
use list::{Entry, Verdict};
use std::sync::OnceLock;

/// A pipeline that is mutated.
struct Subject {
    /// The name of its files.
    name: &'static str,
    options: &'static str,
    source: Source,
    /// The multiprocessors that it runs on, where blocks take tiles in turn; as many as the GPU has, otherwise.
    sms: Option<u32>,
    mutated: Mutated,
}

/// The parts of a kernel that are mutated. Tensor maps are in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mutated {
    /// Nothing but these.
    Maps,
    /// The synchronization only.
    Synchronization,
    /// The numbers of addresses as well.
    Addresses,
    /// The layouts of views as well.
    Views,
}

/// The kernel that is mutated.
enum Source {
    /// A product that the compiler makes a kernel of: at least two tiles along M and N, so that neither coordinate is left out, and a K of several
    /// times the stages. At most 16 blocks, which one core executes in their order.
    Product(Gemm),
    /// A file with a kernel, and the shapes of its arguments.
    File(&'static str, &'static [&'static [i64]]),
}

impl Subject {
    fn text(&self) -> String {
        match &self.source {
            Source::Product(problem) => problem.source(),
            Source::File(path, _) => std::fs::read_to_string(common::root().join(path)).unwrap(),
        }
    }

    /// Orders that a mutant is run in, until one shows what is wrong: blocks that take tiles in turn have mistakes that show in few.
    fn seeds(&self) -> u64 {
        if self.is_of_hopper() { 16 } else { 3 }
    }

    /// Parts of all mutants that may be equivalent: one in this many.
    fn equivalent(&self) -> usize {
        if self.is_of_hopper() { 40 } else { 20 }
    }

    /// Tells whether warpgroups multiply: blocks stay, on so many multiprocessors as it says.
    fn is_of_hopper(&self) -> bool {
        self.sms.is_some()
    }

    /// The shapes of the arguments, where the function leaves them open.
    fn given(&self) -> Vec<Given> {
        match &self.source {
            Source::Product(_) => Vec::new(),
            Source::File(_, shapes) => {
                let given = shapes.iter().map(|shape| Given::Shape(shape.to_vec()));
                given.collect()
            }
        }
    }
}

const fn subject(
    name: &'static str,
    options: &'static str,
    extents: [i64; 3],
    gaps: [i64; 3],
    mutated: Mutated,
) -> Subject {
    Subject {
        name,
        options,
        source: Source::Product(Gemm { extents, gaps }),
        sms: None,
        mutated,
    }
}

/// The pipelines that have a list of their own.
const SUBJECTS: [Subject; 12] = [
    subject(
        "three-stages",
        "arch=sm_80 tile=64x64x32 warps=2x2 stages=3 raster=8",
        [192, 128, 288],
        [8, 0, 16],
        Mutated::Views,
    ),
    subject(
        "two-stages",
        "arch=sm_90a tile=32x64x64 warps=1x2 stages=2 raster=2",
        [96, 128, 320],
        [0, 8, 0],
        Mutated::Views,
    ),
    // Fragments that are loaded by vectors along a permuted K, and computed of bytes.
    Subject {
        name: "bytes",
        options: "arch=sm_90a prologue=registers tile=16x64x64 warps=1x4 stages=3",
        source: Source::File("test/Inputs/bytes.mlir", &[]),
        sms: None,
        mutated: Mutated::Addresses,
    },
    // The same by warpgroups, which take what they compute from registers: A of the transposed product.
    Subject {
        name: "bytes-of-warpgroups",
        options: "arch=sm_90a instructions=wgmma tile=64x48x128 warps=4x1 cluster=1x1 stages=2",
        source: Source::File("test/Inputs/bytes_of_warpgroups.mlir", &[]),
        sms: Some(1),
        mutated: Mutated::Synchronization,
    },
    // Two consumers of one tile, and a cluster whose blocks share tiles of B.
    Subject {
        sms: Some(4),
        ..subject(
            "cooperative",
            "arch=sm_90a tile=128x16x64 warps=8x1 cluster=2x1 teams=1 stages=2",
            [512, 32, 448],
            [0, 0, 0],
            Mutated::Addresses,
        )
    },
    // Two consumers that take tiles in turn.
    Subject {
        sms: Some(1),
        ..subject(
            "ping-pong",
            "arch=sm_90a tile=64x64x64 warps=4x1 cluster=1x1 teams=2 stages=3",
            [320, 128, 320],
            [0, 0, 0],
            Mutated::Synchronization,
        )
    },
    // Three parts of C, which go out through two tiles in shared memory in turn.
    Subject {
        sms: Some(1),
        ..subject(
            "parts-of-c",
            "arch=sm_90a instructions=wgmma tile=64x96x64 warps=4x1 cluster=1x1 stages=2",
            [128, 192, 448],
            [0, 0, 0],
            Mutated::Synchronization,
        )
    },
    // A cluster whose blocks share each tile, and take several.
    Subject {
        sms: Some(2),
        ..subject(
            "shared-tiles",
            "arch=sm_90a tile=64x32x64 warps=4x1 cluster=1x1x2 teams=1 stages=2",
            [192, 64, 448],
            [0, 0, 0],
            Mutated::Synchronization,
        )
    },
    Subject {
        name: "by-hand",
        options: "arch=sm_90a",
        source: Source::File(
            "examples/kernels/sm90/wgmma_tma_persistent.mlir",
            &[&[256, 328], &[512, 328], &[256, 512]],
        ),
        sms: Some(1),
        mutated: Mutated::Synchronization,
    },
    // Two consumers of one tile, in clusters of two that share B, and stores under the next tile's products.
    Subject {
        name: "cooperative-by-hand",
        options: "arch=sm_90a",
        source: Source::File(
            "examples/kernels/sm90/wgmma_cooperative.mlir",
            &[&[512, 264], &[512, 264], &[512, 512]],
        ),
        sms: Some(2),
        mutated: Mutated::Synchronization,
    },
    // Two consumers that take tiles in turn.
    Subject {
        name: "ping-pong-by-hand",
        options: "arch=sm_90a",
        source: Source::File(
            "examples/kernels/sm90/wgmma_pingpong.mlir",
            &[&[1024, 136], &[384, 136], &[1024, 384]],
        ),
        sms: Some(2),
        mutated: Mutated::Synchronization,
    },
    // Columns of pixels.
    Subject {
        name: "convolution",
        options: "arch=sm_90a",
        source: Source::File(
            "examples/kernels/sm90/conv_im2col.mlir",
            &[&[64, 9, 7, 8], &[128, 64, 3, 3], &[160, 128]],
        ),
        sms: None,
        mutated: Mutated::Maps,
    },
];

/// The pipelines whose synchronization is in one list.
const OTHERS: [Subject; 4] = [
    subject(
        "four-stages",
        "arch=sm_80 tile=64x64x16 warps=2x2 stages=4 swizzle=none simplify=false",
        [128, 128, 176],
        [0, 0, 0],
        Mutated::Synchronization,
    ),
    subject(
        "five-stages",
        "arch=sm_90a tile=32x128x32 warps=1x4 stages=5 raster=1",
        [64, 256, 416],
        [0, 0, 0],
        Mutated::Synchronization,
    ),
    subject(
        "one-warp",
        "arch=sm_80 tile=16x16x16 warps=1x1 stages=3",
        [32, 32, 112],
        [0, 0, 0],
        Mutated::Synchronization,
    ),
    subject(
        "one-stage",
        "arch=sm_80 tile=32x32x32 warps=1x2 stages=1",
        [64, 64, 96],
        [0, 0, 0],
        Mutated::Synchronization,
    ),
];

/// The arguments of a pipeline by seed, which its mutants share.
struct Inputs {
    args: Vec<Arg>,
    by_seed: Vec<OnceLock<Vec<HostTensor>>>,
}

impl Inputs {
    fn of(subject: &Subject, function: &Function) -> Inputs {
        Inputs {
            args: function.args.clone(),
            by_seed: (0..subject.seeds()).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Runs a mutant with a seed. One whose arguments are other ones has some of its own.
    fn run(&self, subject: &Subject, package: &Package, function: &Function, seed: u64) -> Outcome {
        // Most are wrong in every block, so that the first one tells.
        let config = Config {
            sms: subject.sms,
            stop_at_findings: true,
            ..common::config(seed)
        };
        let own = || generated(function, &subject.given(), seed);
        if function.args != self.args {
            return match own() {
                Ok(before) => run_on(package, function, &before, config),
                Err(error) => Outcome::Refused(error),
            };
        }
        let before = self.by_seed[seed as usize].get_or_init(|| own().expect("arguments"));
        run_on(package, function, before, config)
    }
}

/// The verdict on a mutant in the first order that showed something.
fn judge(subject: &Subject, inputs: &Inputs, package: &Package, function: &Function) -> Verdict {
    for seed in 0..subject.seeds() {
        match inputs.run(subject, package, function, seed) {
            Outcome::Right { .. } => {}
            Outcome::Findings(findings) => return Verdict::Finding(findings[0].kind.name()),
            Outcome::Wrong(_) => return Verdict::WrongResult,
            // A launch checks tensor maps as the driver does.
            Outcome::Refused(error) if error.contains("tensor map") => return Verdict::Refused,
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
    let package = compile(&cute_ir::context(), &subject.text(), &options).unwrap();
    let function = package.function(None).unwrap();
    let inputs = Inputs::of(subject, function);
    let judge = |package: &Package, function: &Function| judge(subject, &inputs, package, function);
    assert!(
        judge(&package, function) == Verdict::Survived,
        "{}: wrong without a mutation",
        subject.name
    );

    let blob = package.manifest().images[0].ptx.as_ref().unwrap();
    let text = std::str::from_utf8(package.blob(blob)).unwrap();
    let module = cute_runtime::ptx::parse(text).unwrap();
    // Sizes of blocks are known, be those of grids open.
    let block = function.launches[0].block[0].constant().unwrap();
    let mut mutants = code::mutants(&module, block as u32);
    if subject.mutated < Mutated::Addresses {
        mutants.retain(|mutant| mutant.synchronizes && subject.mutated > Mutated::Maps);
    }
    let mut entries: Vec<Entry> = parallel(&mutants, |mutant| Entry {
        verdict: judge(&with_ptx(&package, mutant.text(&module)), function),
        id: mutant.id.clone(),
        kind: mutant.kind,
        place: mutant.place.clone(),
        what: mutant.what.clone(),
    });
    let maps = maps::mutants(function);
    entries.extend(parallel(&maps, |(entry, function)| Entry {
        verdict: judge(&package, function),
        ..entry.clone()
    }));
    if let (Mutated::Views, Source::Product(problem)) = (subject.mutated, &subject.source) {
        entries.extend(views::mutants(problem, &options, &|package| {
            judge(package, function)
        }));
    }
    entries
}

/// The pipeline that is mutated, as a line.
fn title(subject: &Subject) -> String {
    match &subject.source {
        Source::Product(problem) => {
            let [m, n, k] = problem.extents;
            format!("{m}x{n}x{k} with {}", subject.options)
        }
        Source::File(path, shapes) => format!("{path} of {shapes:?} with {}", subject.options),
    }
}

/// Checks the pipeline of that name, in a list of its own.
fn check_one(name: &str) {
    let subject = SUBJECTS.iter().find(|subject| subject.name == name);
    let subject = subject.expect("a pipeline of that name");
    list::check(
        subject.name,
        &title(subject),
        mutants_of(subject),
        subject.equivalent(),
    );
}

#[test]
fn three_stages() {
    check_one("three-stages");
}

#[test]
fn two_stages() {
    check_one("two-stages");
}

#[test]
fn bytes() {
    check_one("bytes");
}

#[test]
fn bytes_of_warpgroups() {
    check_one("bytes-of-warpgroups");
}

#[test]
fn cooperative() {
    check_one("cooperative");
}

#[test]
fn ping_pong() {
    check_one("ping-pong");
}

#[test]
fn shared_tiles() {
    check_one("shared-tiles");
}

#[test]
fn parts_of_c() {
    check_one("parts-of-c");
}

#[test]
fn by_hand() {
    check_one("by-hand");
}

#[test]
fn cooperative_by_hand() {
    check_one("cooperative-by-hand");
}

#[test]
fn ping_pong_by_hand() {
    check_one("ping-pong-by-hand");
}

#[test]
fn convolution() {
    check_one("convolution");
}

/// Checks the synchronization only of the other pipelines, in one list.
#[test]
fn synchronization() {
    let mut entries = Vec::new();
    for subject in &OTHERS {
        entries.extend(mutants_of(subject).into_iter().map(|entry| Entry {
            id: format!("{}/{}", subject.name, entry.id),
            ..entry
        }));
    }
    let titles: Vec<String> = OTHERS
        .iter()
        .map(|s| format!("{}: {}", s.name, title(s)))
        .collect();
    let most = OTHERS[0].equivalent();
    list::check("synchronization", &titles.join(",\n"), entries, most);
}
