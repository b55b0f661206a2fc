//! The committed list of mutants, and what it must say.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// The fate of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The compiler did not accept it.
    Rejected,
    /// The launch did not accept it.
    Refused,
    /// The emulator found a mistake of this kind.
    Finding(&'static str),
    WrongResult,
    /// It does what it should.
    Survived,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Rejected => f.write_str("rejected by the compiler"),
            Verdict::Refused => f.write_str("refused by the launch"),
            Verdict::Finding(kind) => write!(f, "finding: {kind}"),
            Verdict::WrongResult => f.write_str("wrong result"),
            Verdict::Survived => f.write_str("equivalent"),
        }
    }
}

/// A mutant and its verdict.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The same as long as the code is; no other mutant of the pipeline has it.
    pub id: String,
    /// The kind of the mutation.
    pub kind: &'static str,
    /// The line of PTX or the op, and the step of the program that it belongs to.
    pub place: String,
    pub what: String,
    pub verdict: Verdict,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutants")
}

/// Compares the mutants of a pipeline with its list, or writes it. Fails where one in `most` or more
/// survived, or one that survived has no proof.
pub fn check(name: &str, title: &str, entries: Vec<Entry>, most: usize) {
    let proofs = proofs(name);
    let text = written(title, &entries, &proofs);
    println!("{name}: {}", summary(&entries).replace('\n', "\n  "));
    let path = folder().join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let mut wrong = Vec::new();
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let expected: Vec<&str> = found.lines().collect();
    wrong.extend(
        expected
            .iter()
            .filter(|line| !lines.contains(line))
            .map(|line| format!("expected: {line}")),
    );
    wrong.extend(
        lines
            .iter()
            .filter(|line| !expected.contains(line))
            .map(|line| format!("found:    {line}")),
    );
    if !wrong.is_empty() {
        wrong.push(format!(
            "{} differs; UPDATE_EXPECT=1 cargo test -p cute-lowering --test mutants writes it anew",
            path.display()
        ));
    }
    let survivors: Vec<&Entry> = entries
        .iter()
        .filter(|e| e.verdict == Verdict::Survived)
        .collect();
    for survivor in &survivors {
        if !proofs.contains_key(&survivor.id) {
            wrong.push(format!(
                "{} ({}, {}) does what it should: either the emulator misses a mistake, or {name}.equivalent.txt lacks \
                 the line that proves that it is none",
                survivor.id, survivor.place, survivor.what
            ));
        }
    }
    for id in proofs.keys() {
        if !survivors.iter().any(|survivor| survivor.id == *id) {
            wrong.push(format!(
                "{name}.equivalent.txt calls {id} equivalent, which is no mutant that survives"
            ));
        }
    }
    if survivors.len() * most > entries.len() {
        wrong.push(format!(
            "{} of {} mutants are equivalent, at most 1 in {most} may be",
            survivors.len(),
            entries.len()
        ));
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

/// The reasons why mutants are equivalent, by id: lines `ID: proof`.
fn proofs(name: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.equivalent.txt")))
        .unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            // The id of a mutant of a map has a colon behind the tensor's name.
            let of_map = line
                .strip_prefix("map of ")
                .and_then(|rest| rest.find(": "));
            let skipped = of_map.map_or(0, |at| "map of ".len() + at + 2);
            let end = line[skipped..].find(": ").map(|at| skipped + at);
            let end = end.unwrap_or_else(|| panic!("expected `ID: proof`, found {line}"));
            let (id, proof) = (&line[..end], &line[end + 2..]);
            assert!(
                proof.trim().len() >= 20,
                "expected a proof that {id} is equivalent, found {proof}"
            );
            (id.to_owned(), proof.to_owned())
        })
        .collect()
}

fn written(title: &str, entries: &[Entry], proofs: &BTreeMap<String, String>) -> String {
    let mut text = format!(
        "Mutants of the GEMM {title}.\n\
         Written by UPDATE_EXPECT=1 cargo test -p cute-lowering --test mutants.\n\n{}\n",
        summary(entries)
    );
    for entry in entries {
        let Entry {
            id,
            place,
            what,
            verdict,
            ..
        } = entry;
        let proof = match (verdict, proofs.get(id)) {
            (Verdict::Survived, Some(proof)) => format!(": {proof}"),
            _ => String::new(),
        };
        writeln!(text, "{id} | {place} | {what} | {verdict}{proof}").unwrap();
    }
    text
}

/// The number of mutants of each kind and verdict.
fn summary(entries: &[Entry]) -> String {
    let mut kinds: BTreeMap<&str, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for entry in entries {
        *kinds
            .entry(entry.kind)
            .or_default()
            .entry(entry.verdict)
            .or_default() += 1;
    }
    let counts = |verdicts: &BTreeMap<Verdict, usize>| {
        let parts: Vec<String> = verdicts
            .iter()
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        parts.join(", ")
    };
    let mut all: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut text = String::new();
    for (kind, verdicts) in &kinds {
        verdicts
            .iter()
            .for_each(|(verdict, count)| *all.entry(*verdict).or_default() += count);
        writeln!(
            text,
            "{kind}: {} mutants: {}",
            verdicts.values().sum::<usize>(),
            counts(verdicts)
        )
        .unwrap();
    }
    writeln!(text, "all: {} mutants: {}", entries.len(), counts(&all)).unwrap();
    text
}
