//! Every static operation on tens of thousands of random operands, against brute force.

mod common;

use common::checks::CHECKS;
use common::source::streams;

const CASES: usize = 20_000;

#[test]
fn every_operation_is_the_right_function_or_a_justified_error() {
    std::thread::scope(|scope| {
        for (seed, (name, check, least)) in (1..).zip(CHECKS) {
            scope.spawn(move || {
                let start = std::time::Instant::now();
                let mut results = 0;
                streams(seed, CASES, |s| results += usize::from(check(s)));
                println!(
                    "{name}: {results} results of {CASES}, {:?}",
                    start.elapsed()
                );
                assert!(
                    results * 100 >= least * CASES,
                    "{name}: only {results} results of {CASES}"
                );
            });
        }
    });
}
