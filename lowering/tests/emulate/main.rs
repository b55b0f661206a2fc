//! Every kernel that the tests and the examples compile is executed by the emulator, and its result
//! verified.
//!
//! The options that they compile with are read from their `RUN:` and `GPU:` lines, so that a new one is executed without
//! being named here. A kernel depends on its problem, so each configuration is compiled for several; one that is
//! written by hand is run with the arguments that its `RUN:` lines give `cute-run`.

#[path = "../common/mod.rs"]
mod common;
mod kernels;
mod sources;

use common::{Gemm, Outcome, compile, parallel, root, run_given};
use cute_lowering::CompileOptions;
use sources::{Compiled, Cut, Said, compiled, cuts};
use std::collections::BTreeSet;

/// Orders and data that each kernel is run with.
const SEEDS: u64 = 3;

/// Multiply-adds up to which a source is run at its own extents. Beyond, its configuration is run at
/// others.
const AS_IT_IS: i64 = 1 << 26;

/// Problems for a configuration: one tile, and K of one stage; K shorter than the pipeline is; K that goes
/// round its ring of buffers several times; more tiles along M than blocks are grouped by. Rows are as
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
        gemm([2, 1, 2 * cut.stages + 3], [24, 0, 8]),
        gemm([cut.raster + 1, 2, 1], [0, 0, 0]),
    ]
}

/// Runs a package with each seed and each set of arguments; what was wrong.
fn failures(
    context: &melior::Context,
    name: &str,
    text: &str,
    options: &CompileOptions,
    runs: impl Fn(&str) -> Vec<Vec<Said>>,
) -> Vec<String> {
    let package = match compile(context, text, options) {
        Ok(package) => package,
        Err(error) => return vec![format!("{name}: does not compile: {error}")],
    };
    let mut failures = Vec::new();
    for function in &package.manifest().functions {
        let runs = runs(&function.name);
        for (said, seed) in runs
            .iter()
            .flat_map(|said| (0..SEEDS).map(move |seed| (said, seed)))
        {
            let outcome = match sources::given(function, said) {
                Ok(given) => run_given(&package, function, &given, seed),
                Err(error) => Outcome::Refused(error),
            };
            if !outcome.is_right() {
                failures.push(format!(
                    "{name}, function {}, {said:?}, seed {seed}: {outcome:?}",
                    function.name
                ));
            }
            if let Outcome::Right { .. } = outcome
                && function.computes.is_empty()
            {
                failures.push(format!(
                    "{name}, function {}: nothing says what it computes",
                    function.name
                ));
            }
        }
    }
    failures
}

#[test]
fn kernels_of_tests_and_examples_are_right_as_they_are() {
    let all = compiled(&root());
    let ran = parallel(&all, |source| {
        let context = cute_ir::context();
        let small = || {
            sources::multiply_adds(&context, &source.text).is_some_and(|count| count <= AS_IT_IS)
        };
        (source.has_kernels() || small()).then(|| {
            let (name, runs) = (source.name(), |function: &str| source.runs(function));
            failures(&context, &name, &source.text, &source.options, runs)
        })
    });
    let (ran, skipped): (Vec<_>, Vec<_>) = ran.into_iter().partition(Option::is_some);
    let failures: Vec<String> = ran.iter().flatten().flatten().cloned().collect();
    println!(
        "{} sources with options run as they are, {} at other extents only",
        ran.len(),
        skipped.len()
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
                    tasks.push((name.clone(), cut.options.clone(), gemm));
                }
            }
        }
    }
    // The largest first, so that no core is left with it at the end.
    tasks.sort_by_key(|(_, _, gemm)| -gemm.extents.iter().product::<i64>());
    let failures = parallel(&tasks, |(name, options, gemm)| {
        let context = cute_ir::context();
        let name = format!("{name}, {options:?}, {gemm:?}");
        failures(&context, &name, &gemm.source(), options, |_: &str| {
            vec![Vec::new()]
        })
    });
    println!(
        "{} configurations, {} kernels, {} runs",
        seen.len(),
        tasks.len(),
        tasks.len() as u64 * SEEDS
    );
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        seen.len() >= 30,
        "expected at least 30 configurations, found {}",
        seen.len()
    );
}
