//! PTX with tokens changed, parsed and run on the emulator.

use crate::emulate::{self, Reached, SMALL};
use crate::random::Random;
use crate::seeds::Seed;
use cute_runtime::{ImageSource, Package, ptx};

/// Numbers at which something may change.
const NUMBERS: [&str; 26] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "4095",
    "65536",
    "1048576",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "0xffffffffffffffff",
    "4611686018427387904",
];

/// Modifiers and names that kernels do not have all of.
const WORDS: [&str; 64] = [
    ".u8",
    ".s8",
    ".b8",
    ".u16",
    ".s16",
    ".b16",
    ".u32",
    ".s32",
    ".b32",
    ".u64",
    ".s64",
    ".b64",
    ".b128",
    ".f16",
    ".f16x2",
    ".bf16",
    ".bf16x2",
    ".tf32",
    ".f32",
    ".f64",
    ".pred",
    ".v2",
    ".v4",
    ".v8",
    ".shared",
    ".shared::cta",
    ".shared::cluster",
    ".global",
    ".local",
    ".param",
    ".const",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".acq_rel",
    ".cta",
    ".gpu",
    ".sys",
    ".sync",
    ".aligned",
    ".trans",
    ".x1",
    ".x2",
    ".x4",
    ".rn",
    ".rz",
    ".ftz",
    ".sat",
    ".approx",
    ".wide",
    ".hi",
    ".lo",
    ".add",
    ".cas",
    ".exch",
    ".max",
    ".inc",
    "%tid.x",
    "%ntid.y",
    "%laneid",
    "%clock64",
    "_",
    "%dynamic_smem_size",
];

/// An input: which seed it comes from, and its text.
pub fn input(seeds: &[Seed], seed: u64, index: u64) -> Option<(usize, Package, String)> {
    let mut random = Random::of(seed, index);
    let which = random.below(seeds.len());
    let package = &seeds[which].package;
    let image = package
        .manifest()
        .images
        .iter()
        .find(|image| image.ptx.is_some())?;
    let text = std::str::from_utf8(package.blob(image.ptx.as_ref()?)).ok()?;
    let mutant = mutant(text, &mut random);
    let mut builder = Package::builder("cute-fuzz").image(ImageSource {
        arch: image.arch.clone(),
        ptx: Some(mutant.clone()),
        cubin: None,
        kernels: image.kernels.clone(),
    });
    for function in &package.manifest().functions {
        builder = builder.function(function.clone());
    }
    Some((which, builder.build().ok()?, mutant))
}

/// Parses an input, prints it, counts its instructions, and runs it.
pub fn execute(seeds: &[Seed], seed: u64, index: u64) -> Reached {
    let Some((which, package, text)) = input(seeds, seed, index) else {
        return Reached::Opened;
    };
    match ptx::parse(&text) {
        Err(error) => {
            let _ = error.to_string();
            return Reached::Opened;
        }
        Ok(module) => {
            let printed = module.to_string();
            assert!(
                ptx::parse(&printed).is_ok(),
                "PTX that was parsed and printed cannot be parsed again"
            );
        }
    }
    emulate::all(&package, &seeds[which].given, index, SMALL)
}

/// Takes PTX apart into tokens; modifiers are tokens of their own.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || "_%$:".contains(c) => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let now = class(c);
        let dot = last == Some('.') && now == 1;
        if at != start && !dot && (last.map(class) != Some(now) || now == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(c);
    }
    tokens.push(&text[start..]);
    tokens
}

/// A text with one to four tokens changed.
fn mutant(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..1 + random.below(4) {
        let solid: Vec<usize> = (0..tokens.len())
            .filter(|&at| !tokens[at].trim().is_empty())
            .collect();
        if solid.is_empty() {
            break;
        }
        let (at, other) = (*random.pick(&solid), *random.pick(&solid));
        match random.below(12) {
            0 => tokens[at] = "",
            1 => tokens[at] = tokens[other],
            2 => tokens.swap(at, other),
            3..=5 => {
                // A number, if there is one not far behind.
                let from = solid.partition_point(|&place| place < at);
                let number = solid[from..]
                    .iter()
                    .find(|&&place| tokens[place].starts_with(|c: char| c.is_ascii_digit()));
                if let Some(&place) = number {
                    tokens[place] = *random.pick::<&str>(&NUMBERS);
                }
            }
            6..=9 => {
                // Something that begins alike.
                let head = |token: &str| token.chars().take(2).collect::<String>();
                let wanted = head(tokens[at]);
                let near = &tokens[at.saturating_sub(400)..(at + 400).min(tokens.len())];
                let same: Vec<&str> = WORDS
                    .into_iter()
                    .chain(near.iter().copied())
                    .filter(|token| {
                        let alike = head(token);
                        alike == wanted || (alike.starts_with('.') && wanted.starts_with('.'))
                    })
                    .collect();
                if !same.is_empty() {
                    tokens[at] = *random.pick::<&str>(&same);
                }
            }
            _ => instruction(&mut tokens, at, random),
        }
    }
    tokens.concat()
}

/// Doubles an instruction, moves it, or deletes it.
fn instruction(tokens: &mut Vec<&str>, at: usize, random: &mut Random) {
    let ends = |token: &&str| matches!(*token, ";" | "{" | "}");
    let from = tokens[..at].iter().rposition(ends).map_or(0, |at| at + 1);
    let to = tokens[at..]
        .iter()
        .position(ends)
        .map_or(tokens.len(), |n| at + n + 1);
    let part: Vec<&str> = tokens[from..to].to_vec();
    match random.below(3) {
        0 => {
            tokens.drain(from..to);
        }
        1 => {
            tokens.splice(to..to, part);
        }
        _ => {
            let behind = tokens[to..]
                .iter()
                .position(ends)
                .map_or(tokens.len(), |n| to + n + 1);
            tokens.splice(behind..behind, part);
            tokens.drain(from..to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds;

    #[test]
    fn tokens_are_the_text() {
        let text = "@%p1 ld.global.v4.f32 {%f1, %f2}, [%rd1+16]; // x\n";
        assert_eq!(tokens(text).concat(), text);
        assert!(tokens(text).contains(&".v4"));
        assert!(tokens(text).contains(&"16"));
    }

    #[test]
    fn some_mutants_run_and_some_do_not() {
        let seeds = seeds::all(std::path::Path::new("/nowhere"), None).unwrap();
        let ran = (0..300)
            .filter(|&index| execute(&seeds, 2, index) == Reached::Ran)
            .count();
        assert!((30..290).contains(&ran), "{ran}");
    }
}
