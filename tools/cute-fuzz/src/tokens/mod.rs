//! Tokens of the tests' and examples' IR, changed, through every pipeline.

mod corpus;

use crate::finding::{Finding, Tally};
use crate::opt::{CANONICALIZE, Opt, Status};
use crate::random::Random;
use anyhow::{Context, Result, bail};
use corpus::{File, Token};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Mutants of one process. The files that they are made of, and the pipelines, are chosen for all of them together.
pub const BATCH: u64 = 64;

/// Files that the mutants of a batch are made of.
const FILES: usize = 2;

/// Pipelines of a batch, beside those that only read and print, and the files' own.
const PIPELINES: usize = 2;

/// Numbers at which something may change.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "16",
    "31",
    "33",
    "64",
    "100",
    "127",
    "255",
    "1024",
    "65536",
    "100000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "1099511627776",
    "9223372036854775807",
    "18446744073709551616",
];

/// The pipelines that every mutant may go through.
const ALL: [(&str, &[&str]); 17] = [
    ("generic", &["--mlir-print-op-generic"]),
    ("fold", &["--cute-fold-static"]),
    ("canonicalize", &[CANONICALIZE, "--cse"]),
    ("lower-layouts", &["--cute-lower-layouts"]),
    ("report", &["--cute-report=arch=sm_80"]),
    (
        "algorithms",
        &["--cute-lower-algorithms", "--cute-fragments-to-values"],
    ),
    ("to-nvvm", &["--cute-to-nvvm", "--cute-simplify-indices"]),
    ("partition", &["--cute-partition"]),
    ("make-rings", &["--cute-make-rings"]),
    ("schedule", &["--cute-assign-latencies", "--cute-schedule"]),
    ("synchronize", &["--cute-synchronize"]),
    ("expand-pipeline", &["--cute-expand-pipeline"]),
    ("lower-pipeline", &["--cute-lower-pipeline"]),
    ("allocate-shared", &["--cute-allocate-shared"]),
    (
        "tile to lower-pipeline",
        &[
            "--cute-tile=arch=sm_80",
            "--cute-partition",
            "--cute-lower-algorithms",
            "--cute-fragments-to-values",
            "--cse",
            "--cute-make-rings",
            "--cute-assign-latencies",
            "--cute-schedule",
            "--cute-expand-pipeline",
            "--cse",
            "--cute-lower-pipeline",
        ],
    ),
    ("compile sm_80", &["--cute-compile=arch=sm_80 variants=3"]),
    ("compile sm_90a", &["--cute-compile=arch=sm_90a variants=3"]),
];

/// Runs the inputs of those numbers.
///
/// # Errors
/// If the compiler cannot be run, or there is no corpus.
pub fn run(
    opt: &Opt,
    root: &Path,
    seed: u64,
    first: u64,
    inputs: u64,
    tally: &mut Tally,
) -> Result<()> {
    let files = corpus::read(root)?;
    if files.is_empty() {
        bail!(
            "no IR under {}: name the checkout with --root",
            root.display()
        );
    }
    let corpus = Corpus {
        types: corpus::types(&files),
        files,
    };
    let end = first + inputs;
    let mut at = first;
    while at < end {
        let batch = at / BATCH;
        let last = end.min((batch + 1) * BATCH);
        self::batch(opt, &corpus, seed, batch, at..last, tally)?;
        at = last;
    }
    tally.runs = opt.runs();
    Ok(())
}

/// Sends whole files of IR, unchanged, through every pipeline.
///
/// # Errors
/// If one cannot be read, or the compiler cannot be run.
pub fn files(opt: &Opt, paths: &[PathBuf], tally: &mut Tally) -> Result<()> {
    for (index, path) in paths.iter().enumerate() {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mutants: Vec<(u64, usize, String)> = text
            .split("// -----")
            .map(|part| (index as u64, 0, part.to_string()))
            .collect();
        tally.inputs += mutants.len() as u64;
        let all: Vec<_> = mutants.iter().collect();
        let parsed = through(opt, &all, &[], tally)?;
        tally.accepted += parsed.len() as u64;
        for (_, arguments) in ALL {
            let arguments: Vec<String> = arguments.iter().map(|&a| a.into()).collect();
            through(opt, &parsed, &arguments, tally)?;
        }
    }
    tally.runs = opt.runs();
    Ok(())
}

/// All that mutants are made of.
struct Corpus {
    files: Vec<File>,
    /// The files' types, each once.
    types: Vec<String>,
}

fn batch(
    opt: &Opt,
    corpus: &Corpus,
    seed: u64,
    batch: u64,
    indices: std::ops::Range<u64>,
    tally: &mut Tally,
) -> Result<()> {
    let mut random = Random::of(seed ^ 0x7061_7274, batch);
    let chosen: Vec<&File> = (0..FILES).map(|_| random.pick(&corpus.files)).collect();
    let mut pipelines = Vec::new();
    while pipelines.len() < PIPELINES {
        let next = random.below(ALL.len());
        if !pipelines.contains(&next) {
            pipelines.push(next);
        }
    }
    let own: Vec<Option<&Vec<String>>> = chosen
        .iter()
        .map(|file| (!file.own.is_empty()).then(|| random.pick(&file.own)))
        .collect();

    let mutants: Vec<(u64, usize, String)> = indices
        .map(|index| {
            let mut random = Random::of(seed, index);
            let file = random.below(chosen.len());
            let chunk = random.pick(&chosen[file].chunks);
            (index, file, mutant(chunk, corpus, &mut random))
        })
        .collect();
    tally.inputs += mutants.len() as u64;

    let all: Vec<&(u64, usize, String)> = mutants.iter().collect();
    let parsed = through(opt, &all, &[], tally)?;
    tally.accepted += parsed.len() as u64;
    for pipeline in pipelines {
        let arguments: Vec<String> = ALL[pipeline].1.iter().map(|&a| a.into()).collect();
        through(opt, &parsed, &arguments, tally)?;
    }
    for (file, own) in own.into_iter().enumerate() {
        if let Some(own) = own {
            let its: Vec<_> = parsed
                .iter()
                .copied()
                .filter(|mutant| mutant.1 == file)
                .collect();
            through(opt, &its, own, tally)?;
        }
    }
    Ok(())
}

/// Sends mutants through a pipeline; returns those that came out.
fn through<'m>(
    opt: &Opt,
    mutants: &[&'m (u64, usize, String)],
    arguments: &[String],
    tally: &mut Tally,
) -> Result<Vec<&'m (u64, usize, String)>> {
    let texts: Vec<&str> = mutants.iter().map(|mutant| &*mutant.2).collect();
    let mut out = Vec::new();
    for (status, mutant) in opt.verified(&texts, arguments)?.into_iter().zip(mutants) {
        match status {
            Status::Done => out.push(*mutant),
            Status::Refused(_) => {}
            Status::Dead(death) => tally.add(Finding {
                index: mutant.0,
                kind: death.kind,
                signature: format!("{}: {}", arguments.join(" "), death.signature),
                detail: death.detail,
                command: opt.command(arguments),
                input: mutant.2.clone().into_bytes(),
                extension: "mlir",
            })?,
        }
    }
    Ok(out)
}

/// A part of a file with one to three tokens changed.
fn mutant(chunk: &[Token], corpus: &Corpus, random: &mut Random) -> String {
    let mut tokens = chunk.to_vec();
    for _ in 0..*random.pick(&[1, 1, 1, 2, 2, 3]) {
        let solid: Vec<usize> = (0..tokens.len())
            .filter(|&at| !tokens[at].trim().is_empty())
            .collect();
        if solid.is_empty() {
            break;
        }
        let (at, other) = (*random.pick(&solid), *random.pick(&solid));
        match random.below(15) {
            0 => tokens[at].clear(),
            1 => {
                let again = format!(" {}", tokens[at]);
                tokens[at].push_str(&again);
            }
            2 => tokens.swap(at, other),
            3..=6 => {
                let sign = if random.chance(10) { "-" } else { "" };
                if let Some(at) = number(&tokens, &solid, random) {
                    tokens[at] = format!("{sign}{}", random.pick(&NUMBERS));
                }
            }
            // A token of the same kind, from here, or from anywhere.
            7 | 8 => tokens[at] = alike(&tokens[at], &tokens, random),
            9 | 10 => {
                let file = random.pick(&corpus.files);
                let chunk = random.pick(&file.chunks);
                tokens[at] = alike(&tokens[at], chunk, random);
            }
            12..=14 => {
                let places: Vec<usize> = (0..tokens.len())
                    .filter(|&at| corpus::type_at(&tokens, at) > 0)
                    .collect();
                if !places.is_empty() {
                    let at = *random.pick(&places);
                    let length = corpus::type_at(&tokens, at);
                    let other = random.pick(&corpus.types).clone();
                    tokens.splice(at..at + length, [other]);
                }
            }
            // A whole line again, or none of it.
            _ => line(&mut tokens, at, random),
        }
    }
    let text = tokens.concat();
    match text.trim().is_empty() {
        // An error in a text without lines has no place by which it is known to be of this input.
        true => chunk.concat(),
        false => text,
    }
}

/// A number of a text. Those that stand behind different words, `align<`, `vector<`, `cute.stage =`, come up equally often, however many
/// extents and strides there are.
fn number(tokens: &[Token], solid: &[usize], random: &mut Random) -> Option<usize> {
    let mut behind: BTreeMap<[&str; 2], Vec<usize>> = BTreeMap::new();
    for window in solid.windows(3) {
        let [two, one, at] = [0, 1, 2].map(|i| window[i]);
        if tokens[at].starts_with(|c: char| c.is_ascii_digit()) {
            let words = [&*tokens[two], &*tokens[one]].map(|word| match word.starts_with('%') {
                true => "%",
                false => word,
            });
            behind.entry(words).or_default().push(at);
        }
    }
    let groups: Vec<&Vec<usize>> = behind.values().collect();
    match groups.is_empty() {
        true => None,
        false => {
            let group = *random.pick(&groups);
            Some(*random.pick(group))
        }
    }
}

/// A token that begins like this one; this one if there is none.
fn alike(token: &str, from: &[Token], random: &mut Random) -> Token {
    let kind = |token: &str| {
        let first = token.chars().next().unwrap_or(' ');
        match first {
            c if c.is_ascii_digit() => '0',
            // Ops and keywords are told apart by their dot.
            c if c.is_alphabetic() => {
                if token.contains('.') {
                    'o'
                } else {
                    'k'
                }
            }
            c => c,
        }
    };
    let same: Vec<&Token> = from
        .iter()
        .filter(|other| kind(other) == kind(token) && *other != token)
        .collect();
    match same.is_empty() {
        true => token.to_string(),
        false => (*random.pick(&same)).clone(),
    }
}

/// Doubles the line that a token is on, or deletes it.
fn line(tokens: &mut Vec<Token>, at: usize, random: &mut Random) {
    let breaks = |token: &Token| token.contains('\n');
    let from = tokens[..at].iter().rposition(breaks).map_or(0, |at| at + 1);
    let to = tokens[at..]
        .iter()
        .position(breaks)
        .map_or(tokens.len(), |n| at + n + 1);
    let line: Vec<Token> = tokens[from..to].to_vec();
    match random.below(2) {
        0 => {
            tokens.drain(from..to);
        }
        _ => {
            tokens.splice(to..to, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_depend_on_the_seed_alone() {
        let text = "func.func @f(%a: i32) {\n  %b = arith.addi %a, %a : i32\n  return\n}\n";
        let files = vec![File {
            chunks: vec![corpus::tokens(text)],
            own: Vec::new(),
        }];
        let types = corpus::types(&files);
        let corpus = Corpus { files, types };
        let make = |index| {
            mutant(
                &corpus.files[0].chunks[0],
                &corpus,
                &mut Random::of(3, index),
            )
        };
        let mut changed = 0;
        for index in 0..200 {
            assert_eq!(make(index), make(index));
            changed += usize::from(make(index) != text);
        }
        assert!(changed > 60, "{changed}");
    }
}
