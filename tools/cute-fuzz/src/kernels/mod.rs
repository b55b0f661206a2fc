//! Kernels made at random: whole ones, whose result is known, are compiled and emulated; all go through every pass.

pub mod ring;
mod soup;
mod swizzled;
pub mod text;
mod tiles;
pub mod whole;

use crate::emulate::Expected;
use crate::finding::{Finding, Kind, Tally, signature};
use crate::opt::{CANONICALIZE, Opt, Status, message};
use crate::random::Random;
use anyhow::Result;
use cute_runtime::package::{Compute, Gemm};
use whole::{Ways, Wholes};

/// Kernels without a result that go through a pass in one process.
const BATCH: usize = 16;

/// Passes that such a kernel goes through alone, and pipelines.
const ALONE: [&[&str]; 16] = [
    &["--cute-fold-static"],
    &[CANONICALIZE, "--cse"],
    &["--cute-report=arch=sm_80"],
    &["--cute-partition"],
    &["--cute-lower-algorithms"],
    &["--cute-fragments-to-values"],
    &["--cute-make-rings"],
    &["--cute-assign-latencies", "--cute-schedule"],
    &["--cute-expand-pipeline"],
    &["--cute-lower-pipeline"],
    &["--cute-allocate-shared"],
    &["--cute-synchronize"],
    &["--cute-lower-layouts"],
    &["--cute-to-nvvm"],
    &["--cute-simplify-indices"],
    &["--cute-compile=arch=sm_80"],
];

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run.
pub fn run(opt: &Opt, seed: u64, first: u64, inputs: u64, tally: &mut Tally) -> Result<()> {
    let mut batch = Vec::new();
    let mut wholes = Wholes::new(opt, Ways::Two);
    for index in first..first + inputs {
        let mut random = Random::of(seed, index);
        tally.inputs += 1;
        let copies = Expected::Computes(Box::new(Compute::Copy { src: 0, dst: 1 }));
        match index % 4 {
            0 => batch.push((index, soup::module(&mut random))),
            1 => wholes.add(index, swizzled::kernel(&mut random), copies, tally)?,
            2 => wholes.add(index, ring::kernel(&mut random), copies, tally)?,
            _ => {
                let product =
                    Expected::Computes(Box::new(Compute::Gemm(Gemm::new(0, 1, 2, "f32"))));
                wholes.add(index, tiles::kernel(&mut random), product, tally)?;
            }
        }
        if batch.len() == BATCH {
            through(opt, &std::mem::take(&mut batch), tally)?;
        }
    }
    through(opt, &batch, tally)?;
    wholes.finish(tally)?;
    tally.runs = opt.runs();
    Ok(())
}

/// Sends kernels through every pass, each alone.
fn through(opt: &Opt, modules: &[(u64, String)], tally: &mut Tally) -> Result<()> {
    let texts: Vec<&str> = modules.iter().map(|(_, text)| &**text).collect();
    for (status, (index, text)) in opt.each(&texts, &[])?.into_iter().zip(modules) {
        match status {
            Status::Done => tally.accepted += 1,
            // Its types are right, or this program is wrong.
            Status::Refused(said) => {
                let signature = format!(
                    "IR that should be valid is refused: {}",
                    signature(message(&said))
                );
                add(
                    opt,
                    tally,
                    (*index, Kind::Refused, signature, said),
                    text,
                    &[],
                )?;
            }
            Status::Dead(death) => {
                add(
                    opt,
                    tally,
                    (*index, death.kind, death.signature, death.detail),
                    text,
                    &[],
                )?;
            }
        }
    }
    for passes in ALONE {
        let arguments: Vec<String> = passes.iter().map(|&pass| pass.into()).collect();
        for (status, (index, text)) in opt.verified(&texts, &arguments)?.into_iter().zip(modules) {
            if let Status::Dead(death) = status {
                let signature = format!("{}: {}", passes.join(" "), death.signature);
                add(
                    opt,
                    tally,
                    (*index, death.kind, signature, death.detail),
                    text,
                    &arguments,
                )?;
            }
        }
    }
    Ok(())
}

fn add(
    opt: &Opt,
    tally: &mut Tally,
    (index, kind, signature, detail): (u64, Kind, String, String),
    text: &str,
    arguments: &[String],
) -> Result<()> {
    tally.add(Finding {
        index,
        kind,
        signature,
        detail,
        command: opt.command(arguments),
        input: text.as_bytes().to_vec(),
        extension: "mlir",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_depend_on_their_number_alone() {
        for index in 0..40 {
            let make = || {
                let mut random = Random::of(1, index);
                match index % 4 {
                    0 => soup::module(&mut random),
                    1 => swizzled::kernel(&mut random).module(),
                    2 => ring::kernel(&mut random).module(),
                    _ => tiles::kernel(&mut random).module(),
                }
            };
            let module = make();
            assert_eq!(module, make());
            let count = |bracket| module.matches(bracket).count();
            assert_eq!(count('{'), count('}'), "{module}");
        }
    }
}
