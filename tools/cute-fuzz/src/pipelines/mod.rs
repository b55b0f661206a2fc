//! Kernels that the compiler has to pipeline and to synchronise by itself: plain loops with `cute.stages`, in loops and branches, and rings
//! by tokens. What they compute is known, as they are made from programs that are gone through here too.

mod census;
mod emit;
mod make;
mod program;
mod rings;
mod tile;

use crate::emulate::Expected;
use crate::finding::Tally;
use crate::kernels::text::Kernel;
use crate::kernels::whole::{Ways, Wholes};
use crate::opt::Opt;
use crate::random::Random;
use anyhow::Result;
use census::Census;

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run.
pub fn run(opt: &Opt, seed: u64, first: u64, inputs: u64, tally: &mut Tally) -> Result<()> {
    let mut wholes = Wholes::new(opt, Ways::One);
    let mut census = Census::default();
    for index in first..first + inputs {
        tally.inputs += 1;
        let input = Input::of(seed, index);
        census.add(opt, &input)?;
        wholes.add(index, input.kernel, input.expected, tally)?;
    }
    census.finish(opt)?;
    wholes.finish(tally)?;
    tally.runs = opt.runs();
    tally.notes = census.lines(&wholes.refused);
    census.require()
}

/// One input.
struct Input {
    kernel: Kernel,
    expected: Expected,
    /// A loop to be pipelined has a bound or a step that the kernel is told.
    is_dynamic: bool,
    /// Tokens say who waits for whom.
    by_tokens: bool,
}

impl Input {
    fn of(seed: u64, index: u64) -> Input {
        let mut random = Random::of(seed, index);
        if index % 4 == 3 {
            let (kernel, expected) = rings::kernel(&mut random);
            return Input {
                kernel,
                expected,
                is_dynamic: false,
                by_tokens: true,
            };
        }
        loop {
            let (program, style, results) = make::program(&mut random);
            let is_dynamic = program.is_dynamic();
            // All programs can be written; if one cannot, the next one is taken.
            if let Some(kernel) = emit::kernel(&program, style) {
                return Input {
                    kernel,
                    expected: Expected::Holds {
                        given: program::value,
                        first: program.buffers.len(),
                        elements: results,
                    },
                    is_dynamic,
                    by_tokens: false,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::program::{By, For, How, Program, Statement, walk};
    use super::*;

    #[test]
    fn kernels_depend_on_their_number_alone() {
        for index in 0..40 {
            let module = Input::of(1, index).kernel.module();
            assert_eq!(module, Input::of(1, index).kernel.module());
            let count = |bracket| module.matches(bracket).count();
            assert_eq!(count('{'), count('}'), "{module}");
        }
    }

    /// The features of a program.
    fn features(program: &Program) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut staged = 0;
        walk(&program.body, &mut |one| match one {
            Statement::For(of) => {
                let For {
                    lower, upper, step, ..
                } = &**of;
                let Some(stages) = of.stages else {
                    return;
                };
                staged += 1;
                let span = (upper.value - lower.value).max(0);
                let trips = (span + step.value - 1) / step.value;
                found.push(match trips {
                    0 => "no turn",
                    1 => "one turn",
                    trips if trips < stages => "fewer turns than stages",
                    trips if trips == stages => "as many turns as stages",
                    _ => "more turns than stages",
                });
                if lower.value != 0 {
                    found.push("a lower bound");
                }
                if step.value != 1 {
                    found.push("a step");
                }
                if !of.carried.is_empty() {
                    found.push("numbers that are carried");
                }
                walk(&of.body, &mut |inner| match inner {
                    Statement::For(inner) if inner.stages.is_some() => {
                        found.push("pipelined in a pipelined one");
                    }
                    Statement::Allocate(_) => found.push("of a turn's own"),
                    _ => {}
                });
            }
            Statement::While { .. } => found.push("while"),
            Statement::If { .. } => found.push("branches"),
            Statement::Fill { how, .. } => found.push(match how {
                How::Async => "asynchronous copies",
                How::Direct => "copies",
                How::Scaled(_) => "through registers",
                How::Elements => "element by element",
            }),
            Statement::Store { .. } => found.push("stored later"),
            Statement::Derive { .. } => found.push("from another"),
            Statement::Product { .. } => found.push("products"),
            Statement::Sum { .. } => found.push("sums"),
            _ => {}
        });
        if staged > 1 {
            found.push("several loops");
        }
        if program.is_dynamic() {
            found.push("dynamic");
        }
        if program.has_a_known_turn() {
            found.push("a known turn");
        }
        if program.buffers.iter().any(|buffer| buffer.local) {
            found.push("local");
        }
        if program.buffers.iter().any(|b| b.shared.swizzle.is_some()) {
            found.push("swizzles");
        }
        if program.sums.iter().any(|s| matches!(s.by, By::Product(..))) {
            found.push("sums of products");
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn programs_are_of_all_kinds() {
        let mut counts = std::collections::BTreeMap::new();
        const PROGRAMS: u64 = 400;
        for index in 0..PROGRAMS {
            let mut random = Random::of(2, index);
            let (program, style, results) = make::program(&mut random);
            assert_eq!(program.outputs.len(), results.len());
            assert!(emit::kernel(&program, style).is_some(), "{index}");
            for feature in features(&program) {
                *counts.entry(feature).or_insert(0) += 1;
            }
        }
        let least = [
            ("no turn", 20),
            ("one turn", 40),
            ("fewer turns than stages", 20),
            ("as many turns as stages", 40),
            ("more turns than stages", 150),
            ("a lower bound", 100),
            ("a step", 100),
            ("numbers that are carried", 80),
            ("pipelined in a pipelined one", 8),
            ("while", 40),
            ("branches", 100),
            ("asynchronous copies", 200),
            ("copies", 100),
            ("through registers", 100),
            ("element by element", 50),
            ("stored later", 40),
            ("from another", 40),
            ("products", 40),
            ("sums of products", 40),
            ("sums", 60),
            ("several loops", 100),
            ("dynamic", 150),
            ("a known turn", 10),
            ("local", 100),
            ("of a turn's own", 20),
            ("swizzles", 150),
        ];
        for (feature, least) in least {
            let count = counts.get(feature).copied().unwrap_or(0);
            assert!(
                count >= least,
                "{feature}: {count} of {PROGRAMS}: {counts:?}"
            );
        }
    }
}
