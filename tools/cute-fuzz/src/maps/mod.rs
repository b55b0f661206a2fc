//! Maps of whole tensors with reductions, of any shape and any strides: compiled, run on the emulator with several shapes, verified.

mod census;
mod formula;
mod problem;
mod shape;
mod style;

use crate::emulate::{self, Verdict};
use crate::finding::{Finding, Kind, Tally, signature};
use crate::on::On;
use crate::opt::{Death, Opt, Status, message};
use crate::random::Random;
use anyhow::Result;
use census::Census;
use problem::Problem;

/// The limits for which a map is refused, by a part of the message.
const LIMITS: [&str; 5] = [
    "with the stride 0 along all of the modes",
    "that are f16 or bf16, widened to f32 by arith.extf",
    "registers a thread for",
    // Of no elements, what a reduction gives has no place.
    "which has no elements, so that an output of that shape",
    // Ptxas would have to keep registers in memory.
    "spill",
];

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run, or the inputs test nothing.
pub fn run(
    opt: &Opt,
    on: &On,
    seed: u64,
    (first, inputs): (u64, u64),
    tally: &mut Tally,
) -> Result<()> {
    let mut census = Census::default();
    for index in first..first + inputs {
        tally.inputs += 1;
        one(opt, on, (seed, index), tally, &mut census)?;
        if let Some(note) = on.lost(index) {
            tally.notes.push(note);
            break;
        }
    }
    census.finish(opt)?;
    tally.runs = opt.runs();
    tally.notes.extend(census.lines());
    census.require()
}

fn one(
    opt: &Opt,
    on: &On,
    (seed, index): (u64, u64),
    tally: &mut Tally,
    census: &mut Census,
) -> Result<()> {
    let mut random = Random::of(seed, index);
    let problem = Problem::new(&mut random, on.scale);
    let options = options(&mut random, on);
    census.add(&problem.features);
    let path = opt.scratch().join("map.cutepkg");
    let command = |path: &str| [format!("--cute-compile={options} package={path}")];
    let find = |kind, signature: String, detail: String| Finding {
        index,
        kind,
        signature,
        detail,
        command: opt.command(&command("map.cutepkg")),
        input: problem.text.clone().into_bytes(),
        extension: "mlir",
    };
    let arguments = command(&path.display().to_string());
    let status = opt.verified(&[&problem.text], &arguments)?;
    match status.into_iter().next() {
        Some(Status::Done) => {}
        Some(Status::Dead(Death {
            kind,
            signature,
            detail,
        })) => return tally.add(find(kind, signature, detail)),
        Some(Status::Refused(said)) => {
            // A message without a place is no diagnostic of the input.
            let is_located = said.contains("input.mlir:");
            if let Some(limit) = LIMITS.iter().find(|limit| said.contains(**limit))
                && is_located
            {
                census.refused(limit, index);
                return Ok(());
            }
            let text = format!("a map is refused: {}", signature(message(&said)));
            return tally.add(find(Kind::Refused, text, said));
        }
        None => return Ok(()),
    }
    tally.accepted += 1;
    census.compiled(opt, &problem.text)?;
    for (at, given) in problem.launches.iter().enumerate() {
        let found = match emulate::check_file(on, &path, given, seed ^ index ^ (at as u64) << 32) {
            Ok(Verdict::Right) => {
                census.ran();
                continue;
            }
            Ok(Verdict::Undecided) => (
                Kind::Wrong,
                "the verifier decides nothing".to_string(),
                String::new(),
            ),
            Err(mistake) => mistake,
        };
        let (kind, signature, said) = found;
        let detail = format!("{said}\nlaunch {at}: {given:?}");
        return tally.add(find(kind, signature, detail));
    }
    Ok(())
}

/// Options of `--cute-compile`, but for the package.
fn options(random: &mut Random, on: &On) -> String {
    let mut options = format!(
        "arch={}",
        on.arch(random.pick::<&str>(&["sm_80", "sm_90a"]))
    );
    if random.chance(50) {
        options += &format!(" variants={}", random.range(1, 6));
    }
    if random.chance(10) {
        options += " simplify=false";
    }
    if random.chance(10) {
        options += " lineinfo=true";
    }
    options
}
