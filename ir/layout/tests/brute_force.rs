//! Every static operation on tens of thousands of random operands, against brute force.
//!
//! `CUTE_LAYOUT_CASES` sets another number of cases for each operation.

use crate::common::checks::CHECKS;
use crate::common::source::streams;

const CASES: usize = 20_000;

fn cases() -> usize {
    let given = std::env::var("CUTE_LAYOUT_CASES").ok();
    given.map_or(CASES, |n| n.parse().expect("a number of cases"))
}

#[test]
fn every_operation_is_the_right_function_or_a_justified_error() {
    let cases = cases();
    std::thread::scope(|scope| {
        for (seed, (name, check, least)) in (1..).zip(CHECKS) {
            scope.spawn(move || {
                let start = std::time::Instant::now();
                let mut results = 0;
                streams(seed, cases, |s| results += usize::from(check(s)));
                println!(
                    "{name}: {results} results of {cases}, {:?}",
                    start.elapsed()
                );
                assert!(
                    results * 100 >= least * cases,
                    "{name}: only {results} results of {cases}"
                );
            });
        }
    });
}
