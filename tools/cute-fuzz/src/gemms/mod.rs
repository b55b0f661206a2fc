//! Whole products of matrices, of any shape and by any configuration: compiled, run on the emulator, verified.

mod epilogue;
mod places;
mod problem;
mod prologue;
mod view;

use crate::emulate;
use crate::finding::{Finding, Kind, Tally, signature};
use crate::on::On;
use crate::opt::{Death, Opt, Status, message};
use crate::random::Random;
use anyhow::Result;
use problem::Problem;
pub(crate) use problem::tensor as matrix;

/// The messages with which a problem alone may be refused (docs/contractions.md).
const LIMITS: [&str; 3] = [
    "of rows or columns that lie in several pieces",
    "has groups of rows, and reduces an output",
    "with one extent and one stride for each mode, found",
];

const ARCHS: [&str; 5] = ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_120"];

/// A product and how to compile it.
#[derive(Clone, Debug, PartialEq)]
struct Input {
    problem: Problem,
    /// Options of `--cute-compile`, but for the package.
    options: Vec<(&'static str, String)>,
}

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run.
pub fn run(
    opt: &Opt,
    on: &On,
    seed: u64,
    (first, inputs): (u64, u64),
    tally: &mut Tally,
) -> Result<()> {
    for index in first..first + inputs {
        let input = Input::new(&mut Random::of(seed, index), on);
        tally.inputs += 1;
        one(opt, on, &input, (seed, index), tally, true)?;
        if let Some(note) = on.lost(index) {
            tally.notes.push(note);
            break;
        }
    }
    tally.runs = opt.runs();
    Ok(())
}

fn one(
    opt: &Opt,
    on: &On,
    input: &Input,
    (seed, index): (u64, u64),
    tally: &mut Tally,
    is_first: bool,
) -> Result<()> {
    let path = opt.scratch().join("gemm.cutepkg");
    let arguments = vec![format!(
        "--cute-compile={} package={}",
        input.options(),
        path.display()
    )];
    let shown = vec![format!(
        "--cute-compile={} package=gemm.cutepkg",
        input.options()
    )];
    let find = |kind, signature: String, detail: String| Finding {
        index,
        kind,
        signature,
        detail,
        command: opt.command(&shown),
        input: input.problem.text.clone().into_bytes(),
        extension: "mlir",
    };
    let status = opt.verified(&[&input.problem.text], &arguments)?;
    match status.into_iter().next() {
        Some(Status::Done) => {}
        Some(Status::Dead(Death {
            kind,
            signature,
            detail,
        })) => {
            return tally.add(find(kind, signature, detail));
        }
        Some(Status::Refused(said)) => {
            if is_first && !input.asks() && LIMITS.iter().any(|limit| said.contains(limit)) {
                return Ok(());
            }
            if is_first && !input.asks() {
                let text = format!("a problem is refused: {}", signature(message(&said)));
                return tally.add(find(Kind::Refused, text, said));
            }
            let Some(cure) = cure(&said) else {
                return Ok(());
            };
            if !is_first {
                let text = format!("the cure does not help: {}", signature(message(&said)));
                return tally.add(find(Kind::Refused, text, said));
            }
            return one(opt, on, &input.cured(&cure), (seed, index), tally, false);
        }
        None => return Ok(()),
    }
    if is_first {
        tally.accepted += 1;
    }
    for seed in [seed ^ index, index] {
        if let Err((kind, signature, said)) =
            emulate::check_file(on, &path, &input.problem.given, seed)
        {
            return tally.add(find(kind, signature, said));
        }
    }
    Ok(())
}

/// The options that ask for parts of a plan, which a message may propose.
const PARTS: [&str; 13] = [
    "tile",
    "warps",
    "stages",
    "swizzle",
    "raster",
    "split",
    "stream",
    "instructions",
    "cluster",
    "teams",
    "swap",
    "pack",
    "prologue",
];

/// The configuration that a message proposes: `...; tile=1x2x3 warps=1x1 stages=2 fits`.
fn cure(said: &str) -> Option<Vec<(&'static str, String)>> {
    let end = said.find(" fits")?;
    let words = said[..end].split_whitespace().rev();
    let options = words.map_while(|word| word.split_once('='));
    let mut cure: Vec<(&'static str, String)> = options
        .filter_map(|(name, value)| {
            let name = PARTS.into_iter().find(|proposed| *proposed == name)?;
            Some((name, value.to_owned()))
        })
        .collect();
    cure.reverse();
    (!cure.is_empty()).then_some(cure)
}

impl Input {
    fn new(random: &mut Random, on: &On) -> Input {
        let mut input = Input::drawn(random, on);
        if random.chance(25) {
            let factors = *random.pick(&["ab", "ab", "a", "b", "none"]);
            input.options.push(("pack", factors.to_owned()));
        }
        if random.chance(15) {
            let place = *random.pick(&["shared", "registers", "registers"]);
            input.options.push(("prologue", place.to_owned()));
        }
        input
    }

    fn drawn(random: &mut Random, on: &On) -> Input {
        let (tile, warps) = tile(random);
        let problem = Problem::new(random, tile, on.scale);
        let mut options = vec![("arch", on.arch(random.pick::<&str>(&ARCHS)))];
        let [tm, tn, tk] = tile;
        if options[0].1 == "sm_90a" && random.chance(60) {
            of_warpgroups(random, &mut options, problem.is_narrow);
            return Input { problem, options };
        }
        if random.chance(30) {
            // The problem alone.
            return Input { problem, options };
        }
        if random.chance(85) {
            options.push(("tile", format!("{tm}x{tn}x{tk}")));
        }
        if random.chance(75) {
            options.push(("warps", format!("{}x{}", warps[0], warps[1])));
        }
        if random.chance(60) {
            let stages = *random.pick(&[1, 2, 3, 4, 5, 6, 8, 12, 64]);
            options.push(("stages", stages.to_string()));
        }
        if random.chance(70) {
            options.push(("swizzle", swizzle(random)));
        }
        if random.chance(20) {
            let raster = *random.pick(&[1, 2, 3, 7, 8, 100, 2147483647]);
            options.push(("raster", raster.to_string()));
        }
        if random.chance(30) {
            let split = *random.pick(&[1, 2, 2, 3, 4, 5, 8, 16, 32, 33]);
            options.push(("split", split.to_string()));
        }
        if random.chance(25) {
            let blocks = *random.pick(&["auto", "auto", "1", "1", "2", "3", "32", "none"]);
            options.push(("stream", blocks.to_owned()));
        }
        if random.chance(15) {
            options.push(("simplify", "false".into()));
        }
        if random.chance(15) {
            options.push(("lineinfo", "true".into()));
        }
        Input { problem, options }
    }

    /// Tells whether a part of the plan is asked for; of a problem alone there is always a plan.
    fn asks(&self) -> bool {
        let mut names = self.options.iter().map(|(name, _)| name);
        names.any(|name| PARTS.contains(name))
    }

    fn options(&self) -> String {
        let options = self
            .options
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        options.collect::<Vec<_>>().join(" ")
    }

    /// The same with what a message proposes.
    fn cured(&self, cure: &[(&'static str, String)]) -> Input {
        let mut input = self.clone();
        for (name, value) in cure {
            input.options.retain(|(other, _)| other != name);
            input.options.push((name, value.clone()));
        }
        input
    }
}

/// Asks for products of warpgroups, and for one of their tiles or none, which not every type has; where `is_narrow` mostly for one of bytes.
fn of_warpgroups(random: &mut Random, options: &mut Vec<(&'static str, String)>, is_narrow: bool) {
    options.push(("instructions", "wgmma".to_owned()));
    if random.chance(50) {
        let (rows, groups) = *random.pick(&[(64, 1), (128, 2), (128, 1), (192, 3), (256, 2)]);
        let columns = *random.pick(&[64, 64, 128, 192, 256, 96, 32, 160, 224]);
        let k = match is_narrow && random.chance(90) {
            true => 128,
            false => *random.pick(&[64, 64, 64, 32, 128]),
        };
        options.push(("tile", format!("{rows}x{columns}x{k}")));
        options.push(("warps", format!("{}x1", groups * 4)));
    }
    if random.chance(25) {
        options.push(("stages", random.range(1, 6).to_string()));
    }
    if random.chance(20) {
        options.push((
            "raster",
            random.pick(&["1", "2", "3", "7", "100"]).to_string(),
        ));
    }
    // What does not go together is refused, with a reason.
    if random.chance(20) {
        options.push(("teams", "2".to_owned()));
    }
    if random.chance(10) {
        options.push(("swap", random.pick(&["true", "true", "false"]).to_string()));
    }
    if random.chance(15) {
        options.push((
            "cluster",
            random
                .pick(&["2x1", "1x2", "2x2", "1x1x2", "1x1x2", "1x1x4"])
                .to_string(),
        ));
    }
}

/// A tile, and warps that divide it more often than not.
fn tile(random: &mut Random) -> ([i64; 3], [i64; 2]) {
    let warps = [
        *random.pick(&[1, 1, 2, 2, 4]),
        *random.pick(&[1, 1, 2, 2, 4]),
    ];
    let m = 16 * warps[0] * random.range(1, 4);
    let n = 16 * warps[1] * random.range(1, 4);
    let k = 16 * *random.pick(&[1, 1, 2, 2, 3, 4, 6]);
    match random.chance(90) {
        true => ([m, n, k], warps),
        false => ([m, n, k], [random.range(1, 5), random.range(1, 5)]),
    }
}

/// A swizzle of addresses: of any number of bits, any base, any shift, one that ranges apart or not.
fn swizzle(random: &mut Random) -> String {
    match random.below(10) {
        0 => "none".into(),
        1 => "auto".into(),
        _ => {
            let bits = random.range(0, 4);
            let base = *random.pick(&[4, 4, 4, 4, 5, 5, 6, 7, 3]);
            let apart = bits + random.range(0, 3) - i64::from(random.chance(5));
            let sign = if random.chance(40) { -1 } else { 1 };
            format!("S<{bits},{base},{}>", sign * apart.max(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cures_are_read() {
        let said = "x.mlir:1:2: error: 'cute.contract' op 4 stages need 7 bytes; tile=256x128x64 warps=4x2 stages=3 fits\n";
        let cure = cure(said).unwrap();
        assert_eq!(
            cure,
            [
                ("tile", "256x128x64".to_string()),
                ("warps", "4x2".to_string()),
                ("stages", "3".to_string())
            ]
        );
        let input = Input::new(&mut Random::of(0, 0), &On::emulator()).cured(&cure);
        assert!(input.options().contains("stages=3"));
        assert_eq!(input.options().matches("stages=").count(), 1);
        assert!(super::cure("error: no").is_none());
    }

    #[test]
    fn swizzles_have_shifts_of_both_signs() {
        let mut random = Random::of(0, 0);
        let all: Vec<String> = (0..200).map(|_| swizzle(&mut random)).collect();
        assert!(all.iter().any(|s| s.contains(",-")));
        assert!(all.iter().any(|s| s == "none"));
    }
}
