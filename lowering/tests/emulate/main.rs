//! Every kernel that the tests and the examples compile is executed by the emulator, its result verified, and what
//! `cute-report` tells of it compared with what the emulator counts.
//!
//! The options that they compile with are read from their `RUN:` and `GPU:` lines, so that a new one is executed without
//! being named here. A kernel depends on its problem, so each configuration is compiled for several; one that is
//! written by hand is run with the arguments that its `RUN:` lines give `cute-run`. Each is compiled once, and run once with
//! each order, for all tests that look at it.

#[path = "../common/mod.rs"]
mod common;
mod kernels;
mod report;
mod sources;

use common::{Gemm, Outcome, package_of, parallel, root, run_given, run_passes, said};
use cute_ir::mlir::parse_module;
use melior::{Context, ir::Module};
use report::{Counts, Lines};
use sources::{Compiled, Cut, compiled, cuts};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Orders and data that each kernel is run with.
const SEEDS: u64 = 3;

/// Multiply-adds up to which a source is run at its own extents. Beyond, its configuration is run at
/// others.
const AS_IT_IS: i64 = 1 << 26;

/// Problems for a configuration: one tile, and K of one stage; K shorter than the pipeline is; K that goes
/// round its ring of buffers once, twice and several times; more tiles along M than blocks are grouped by. Rows are as
/// long as they are apart, or shorter.
fn problems(cut: &Cut) -> Vec<Gemm> {
    let [m, n, k] = cut.tile;
    let gemm = |tiles: [i64; 3], gaps: [i64; 3]| Gemm {
        extents: [tiles[0] * m, tiles[1] * n, tiles[2] * k],
        gaps,
    };
    vec![
        gemm([1, 1, 1], [0, 0, 0]),
        gemm([3, 1, (cut.stages - 1).max(1)], [8, 16, 24]),
        gemm([1, 2, cut.stages], [0, 8, 0]),
        gemm([2, 1, cut.stages + 1], [0, 0, 0]),
        gemm([2, 1, 2 * cut.stages + 3], [24, 0, 8]),
        gemm([cut.raster + 1, 2, 1], [0, 0, 0]),
    ]
}

/// A source that was compiled, and run with each set of arguments and each seed.
struct Ran {
    name: String,
    /// The mistake that was found.
    failures: Vec<String>,
    /// The figures that the report tells of it; none where it is not one that the report follows.
    told: Option<Lines>,
    /// The counts of the emulator, with the first seed.
    counted: Counts,
}

/// A module on its way to PTX.
struct Lowered<'c> {
    /// The module at the level that the report looks at.
    module: Module<'c>,
    /// The passes from there on.
    passes: String,
}

fn parsed<'c>(context: &'c Context, source: &Compiled) -> Result<Module<'c>, String> {
    said(context, || {
        parse_module(context, "source", &source.text)
            .ok_or_else(|| "the text cannot be read".to_owned())
    })
}

fn lowered<'c>(context: &'c Context, source: &Compiled) -> Result<Lowered<'c>, String> {
    let mut module = parsed(context, source)?;
    let passes = common::passes(&source.options)?;
    let (first, rest) = passes
        .split_once(",cute-to-nvvm")
        .ok_or("expected cute-to-nvvm")?;
    run_passes(&mut module, first, true)?;
    let passes = format!("cute-to-nvvm{rest}");
    Ok(Lowered { module, passes })
}

/// Compiles a source, and runs all its functions.
fn ran(context: &Context, source: &Compiled) -> Ran {
    let name = source.name();
    let mut ran = Ran {
        failures: Vec::new(),
        told: None,
        counted: Counts::default(),
        name,
    };
    let package = lowered(context, source).and_then(|lowered| {
        let Lowered { mut module, passes } = lowered;
        if report::follows(source, &module) {
            ran.told = Some(report::told(&module, true, &|_| ()));
        }
        run_passes(&mut module, &passes, true)?;
        package_of(&module)
    });
    let package = match package {
        Ok(package) => package,
        Err(error) => {
            ran.failures
                .push(format!("{}: does not compile: {error}", ran.name));
            return ran;
        }
    };
    if report::begins_within_lines(&package) {
        ran.told = None;
    }
    for function in &package.manifest().functions {
        let runs = source.runs(&function.name);
        for (said, seed) in runs
            .iter()
            .flat_map(|said| (0..SEEDS).map(move |seed| (said, seed)))
        {
            let outcome = match sources::given(function, said) {
                Ok(given) => run_given(&package, function, &given, seed),
                Err(error) => Outcome::Refused(error),
            };
            if let Outcome::Right { report } = outcome {
                if function.computes.is_empty() && !source.leaves_unverified(&function.name) {
                    ran.failures.push(format!(
                        "{}, function {}: nothing says what it computes",
                        ran.name, function.name
                    ));
                }
                if seed == 0 {
                    ran.counted.add(&report);
                }
            } else {
                ran.failures.push(format!(
                    "{}, function {}, {said:?}, seed {seed}: {outcome:?}",
                    ran.name, function.name
                ));
            }
        }
    }
    ran
}

/// The sources that are small enough to be run as they are, each with what came of it; none for the others.
static AS_THEY_ARE: LazyLock<Vec<(Compiled, Option<Ran>)>> = LazyLock::new(|| {
    let all = compiled(&root());
    let ran = parallel(&all, |source| {
        let context = cute_ir::context();
        let small = || {
            sources::multiply_adds(&context, &source.text).is_some_and(|count| count <= AS_IT_IS)
        };
        (source.has_kernels() || small()).then(|| ran(&context, source))
    });
    all.into_iter().zip(ran).collect()
});

/// The configurations of all sources on several problems.
struct Configurations {
    count: usize,
    ran: Vec<Ran>,
}

static CONFIGURATIONS: LazyLock<Configurations> = LazyLock::new(|| {
    let all = compiled(&root());
    // Configurations once each; what compiles them is the same for all sources.
    let found = parallel(&all, |source: &Compiled| {
        let context = cute_ir::context();
        cuts(&context, source).map(|found| (found, source.name()))
    });
    let mut seen = BTreeSet::new();
    let mut tasks = Vec::new();
    for (found, name) in found.into_iter().map(Result::unwrap) {
        for cut in found {
            if seen.insert(format!("{:?}", cut.options)) {
                for gemm in problems(&cut) {
                    let file = format!("{gemm:?}, as {name}").into();
                    let source = Compiled::of(file, gemm.source(), cut.options.clone());
                    tasks.push((gemm.extents.iter().product::<i64>(), source));
                }
            }
        }
    }
    // The largest first, so that no core is left with it at the end.
    tasks.sort_by_key(|(size, _)| -size);
    Configurations {
        count: seen.len(),
        ran: parallel(&tasks, |(_, source)| ran(&cute_ir::context(), source)),
    }
});

#[test]
fn kernels_of_tests_and_examples_are_right_as_they_are() {
    let ran: Vec<&Ran> = AS_THEY_ARE
        .iter()
        .filter_map(|(_, ran)| ran.as_ref())
        .collect();
    let failures: Vec<&str> = ran
        .iter()
        .flat_map(|ran| ran.failures.iter().map(String::as_str))
        .collect();
    println!(
        "{} sources with options run as they are, {} at other extents only",
        ran.len(),
        AS_THEY_ARE.len() - ran.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        ran.len() >= 15,
        "expected at least 15 sources that are small enough, found {}",
        ran.len()
    );
}

#[test]
fn every_configuration_is_right_for_several_problems() {
    let Configurations { count, ran } = &*CONFIGURATIONS;
    println!(
        "{count} configurations, {} kernels, {} runs",
        ran.len(),
        ran.len() as u64 * SEEDS
    );
    let failures: Vec<&str> = ran
        .iter()
        .flat_map(|ran| ran.failures.iter().map(String::as_str))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        *count >= 30,
        "expected at least 30 configurations, found {count}"
    );
}
