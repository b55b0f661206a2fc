//! Races by brute force: programs made at random, and an explicit graph of what happens before what.
//!
//! A program is a list of steps in an order in which it can be executed to its end. Every memory access of
//! every thread is an event; the graph has the edges that program order, barriers, mbarriers, copies, releases
//! and acquires make, and what is reachable is computed for all pairs. Synchronisation is such that the
//! order of warps cannot change the graph: who waits, waits for everybody who is to come.
//!
//! Checks for every seed:
//! 1. the emulator finds some race, missing wait or uninitialised read if and only if the graph has one;
//! 2. each pair of instructions that a finding names is in conflict in the graph, and each uninitialised
//!    read that it names is one;
//! 3. nothing else is found.
//!
//! What is loaded may be used later or thrown away. The first is a read when it is loaded; the second is none.

mod graph;
pub(super) mod programs;
mod uses;

use super::*;
use graph::Troubles;
use programs::Program;

const LANES: u32 = 4;

fn check(program: &Program, seeds: std::ops::Range<u64>) -> Troubles {
    let expected = graph::troubles(program);
    let (body, steps) = programs::text(program);
    let run = kernel(&body)
        .input(0..64)
        .block(32 * program.warps)
        .smem(programs::BYTES)
        .limit(200_000);
    for seed in seeds {
        let ran = run
            .seeded(seed)
            .unwrap_or_else(|error| panic!("{error}\n{body}"));
        let step = |site: &cute_runtime::emulator::Site| {
            steps[site.ptx_line as usize - 8]
                .unwrap_or_else(|| panic!("a line of no step: {site}\n{body}"))
        };
        for finding in &ran.report.findings {
            let text = || format!("seed {seed}: {finding}\n{expected:?}\n{}", numbered(&body));
            let at = finding
                .site
                .as_ref()
                .map(step)
                .unwrap_or_else(|| panic!("{}", text()));
            match finding.kind {
                Kind::UninitializedShared => {
                    assert!(expected.uninitialized.contains(&at), "{}", text());
                }
                Kind::SharedRace | Kind::EqualWrites | Kind::MissingWait => {
                    let other = finding
                        .other
                        .as_ref()
                        .map(step)
                        .unwrap_or_else(|| panic!("{}", text()));
                    let pair = (at.min(other), at.max(other));
                    assert!(expected.conflicts.contains(&pair), "{}", text());
                    if finding.kind == Kind::MissingWait {
                        assert!(expected.in_flight.contains(&pair), "{}", text());
                    }
                }
                _ => panic!("{}", text()),
            }
        }
        assert_eq!(
            ran.report.findings.is_empty(),
            expected.is_empty(),
            "seed {seed}: {expected:?}\n{}\n{:#?}",
            numbered(&body),
            ran.report.findings,
        );
    }
    expected
}

fn numbered(body: &str) -> String {
    let lines = body.lines().enumerate();
    lines
        .map(|(i, line)| format!("{} {line}\n", i + 8))
        .collect()
}

/// The number of programs of a test.
fn programs(most: u64) -> u64 {
    let count = std::env::var("CUTE_ORACLE_PROGRAMS");
    count.ok().and_then(|n| n.parse().ok()).unwrap_or(most)
}

#[test]
fn findings_are_what_the_graph_of_events_says() {
    let mut kinds = [0; 4];
    for seed in 0..programs(3000) {
        let found = check(&programs::random(seed), 2 * seed..2 * seed + 2);
        let clean = found.is_empty();
        kinds[0] += u32::from(clean);
        kinds[1] += u32::from(!found.conflicts.is_empty());
        kinds[2] += u32::from(!found.in_flight.is_empty());
        kinds[3] += u32::from(!found.uninitialized.is_empty());
    }
    // Programs of each kind are there in numbers.
    assert!(kinds.iter().all(|&programs| programs > 100), "{kinds:?}");
}

#[test]
fn what_is_thrown_away_is_no_read() {
    let mut kinds = [0; 4];
    for seed in 0..programs(3000) {
        let mut program = programs::random(seed);
        let all = !graph::troubles(&program).is_empty();
        program.decide(seed);
        let found = check(&program, 2 * seed..2 * seed + 2);
        kinds[0] += u32::from(found.is_empty());
        kinds[1] += u32::from(all && found.is_empty());
        kinds[2] += u32::from(!found.conflicts.is_empty());
        kinds[3] += u32::from(!found.uninitialized.is_empty());
    }
    assert!(kinds.iter().all(|&programs| programs > 50), "{kinds:?}");
}
