//! Kernels made at random: whole ones, whose result is known, are compiled and emulated; all go through every pass.

mod ring;
mod soup;
mod swizzled;
mod text;
mod tiles;

use crate::emulate;
use crate::finding::{Finding, Kind, Tally, signature};
use crate::opt::{Opt, Status, message};
use crate::random::Random;
use anyhow::Result;
use cute_runtime::Package;
use cute_runtime::package::{Compute, Gemm};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Kernels without a result that go through a pass in one process.
const BATCH: usize = 16;

/// Passes that such a kernel goes through alone, and pipelines.
const ALONE: [&[&str]; 16] = [
    &["--cute-fold-static"],
    &["--canonicalize", "--cse"],
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

/// Messages by which the compiler may refuse kernels that are right: what the documentation says is not supported, and spills, which ptxas decides.
const LIMITS: [&str; 2] = ["not supported", "spills registers"];

/// Ways to compile that may make no difference.
const WAYS: [&[&str]; 4] = [
    &["--cute-compile=arch=sm_80 package=@"],
    &["--cute-compile=arch=sm_80 simplify=false package=@"],
    &[
        "--canonicalize",
        "--cse",
        "--cute-compile=arch=sm_80 package=@",
    ],
    &["--cute-compile=arch=sm_90a package=@"],
];

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run.
pub fn run(opt: &Opt, seed: u64, first: u64, inputs: u64, tally: &mut Tally) -> Result<()> {
    let mut batch = Vec::new();
    for index in first..first + inputs {
        let mut random = Random::of(seed, index);
        tally.inputs += 1;
        let copies = || Compute::Copy { src: 0, dst: 1 };
        match index % 4 {
            0 => batch.push((index, soup::module(&mut random))),
            1 => {
                let module = swizzled::kernel(&mut random).module();
                whole(opt, index, &module, copies(), &mut random, tally)?;
            }
            2 => {
                let module = ring::kernel(&mut random).module();
                whole(opt, index, &module, copies(), &mut random, tally)?;
            }
            _ => {
                let module = tiles::kernel(&mut random).module();
                let product = Compute::Gemm(Gemm::new(0, 1, 2, "f32"));
                whole(opt, index, &module, product, &mut random, tally)?;
            }
        }
        if batch.len() == BATCH {
            through(opt, &std::mem::take(&mut batch), tally)?;
        }
    }
    through(opt, &batch, tally)?;
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

/// Compiles a kernel that is right in two ways, and runs what comes out.
fn whole(
    opt: &Opt,
    index: u64,
    text: &str,
    computes: Compute,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<()> {
    let path = opt.scratch().join("kernel.cutepkg");
    let other = 1 + random.below(WAYS.len() - 1);
    for (nth, way) in [WAYS[0], WAYS[other]].into_iter().enumerate() {
        let package = path.display().to_string();
        let arguments: Vec<String> = way
            .iter()
            .map(|option| option.replace('@', &package))
            .collect();
        let shown: Vec<String> = way
            .iter()
            .map(|option| option.replace('@', "kernel.cutepkg"))
            .collect();
        let status = opt.verified(&[text], &arguments)?.into_iter().next();
        match status {
            Some(Status::Done) | None => {}
            Some(Status::Dead(death)) => {
                return add(
                    opt,
                    tally,
                    (index, death.kind, death.signature, death.detail),
                    text,
                    &shown,
                );
            }
            Some(Status::Refused(said)) => {
                if LIMITS.iter().any(|limit| said.contains(limit)) {
                    return Ok(());
                }
                let signature = format!("a right kernel is refused: {}", signature(message(&said)));
                return add(
                    opt,
                    tally,
                    (index, Kind::Refused, signature, said),
                    text,
                    &shown,
                );
            }
        }
        if nth == 0 {
            tally.accepted += 1;
        }
        let run = || {
            let package = Package::read_file(&path).map_err(|error| error.to_string())?;
            emulate::check(&package, Some(computes.clone()), index)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => {}
            Ok(Err(said)) => {
                let short = said.split(':').next().unwrap_or_default();
                return add(
                    opt,
                    tally,
                    (index, Kind::Wrong, signature(short), said.clone()),
                    text,
                    &shown,
                );
            }
            Err(_) => {
                let signature = "the emulator panics".to_string();
                return add(
                    opt,
                    tally,
                    (index, Kind::Panic, signature, String::new()),
                    text,
                    &shown,
                );
            }
        }
    }
    Ok(())
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
