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
use crate::kernels::whole::Wholes;
use crate::opt::Opt;
use crate::random::Random;
use anyhow::Result;
use census::Census;

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run.
pub fn run(opt: &Opt, seed: u64, first: u64, inputs: u64, tally: &mut Tally) -> Result<()> {
    let mut wholes = Wholes::new(opt);
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
