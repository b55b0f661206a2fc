//! Findings: their kinds, their signatures and how often they came up.

use anyhow::{Context, Result};
use comfy_table::{Table, presets};
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The process ended by a signal.
    Crash,
    /// It took longer than it may.
    Hang,
    /// It asked for more memory than it may.
    Memory,
    /// A panic, or a diagnostic of an internal error.
    Panic,
    /// A pass succeeded and left IR that the verifier refuses.
    InvalidIr,
    /// A compiled kernel computes something else, or the emulator finds a mistake in it.
    Wrong,
    /// A right kernel is refused, or the cure that a message names does not help.
    Refused,
}

impl Kind {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Kind; 7] = [
        Kind::Crash,
        Kind::Hang,
        Kind::Memory,
        Kind::Panic,
        Kind::InvalidIr,
        Kind::Wrong,
        Kind::Refused,
    ];

    /// Its name in tables and file names.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Crash => "crash",
            Kind::Hang => "hang",
            Kind::Memory => "memory",
            Kind::Panic => "panic",
            Kind::InvalidIr => "invalid-ir",
            Kind::Wrong => "wrong",
            Kind::Refused => "refused",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(text: &str) -> Result<Kind, ()> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or(())
    }
}

/// A failure of one input.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The number of the input.
    pub index: u64,
    pub kind: Kind,
    /// Text that failures of one cause share.
    pub signature: String,
    /// All that is known of it.
    pub detail: String,
    /// The command that shows it, with `{}` for the file.
    pub command: String,
    /// The input, and what its file's name ends in.
    pub input: Vec<u8>,
    pub extension: &'static str,
}

/// Files that are kept of one signature.
const KEPT: u64 = 3;

struct Seen {
    count: u64,
    first: u64,
    files: Vec<PathBuf>,
}

/// Counts of one target.
pub struct Tally {
    target: &'static str,
    seed: u64,
    folder: PathBuf,
    pub inputs: u64,
    /// Inputs that were good enough to get beyond the parser, or to run.
    pub accepted: u64,
    /// Processes, or runs on the emulator.
    pub runs: u64,
    /// Lines on whatever else there is to say of the inputs.
    pub notes: Vec<String>,
    kinds: BTreeMap<Kind, u64>,
    seen: BTreeMap<(Kind, String), Seen>,
    /// Names of the files that were written.
    stems: BTreeSet<String>,
}

impl Tally {
    /// A tally without counts; findings are written to files in the folder.
    pub fn new(target: &'static str, seed: u64, folder: &Path) -> Tally {
        Tally {
            target,
            seed,
            folder: folder.to_path_buf(),
            inputs: 0,
            accepted: 0,
            runs: 0,
            notes: Vec::new(),
            kinds: BTreeMap::new(),
            seen: BTreeMap::new(),
            stems: BTreeSet::new(),
        }
    }

    /// Counts a finding; writes a file, and a line to stderr, for the first ones of its signature.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, finding: Finding) -> Result<()> {
        *self.kinds.entry(finding.kind).or_default() += 1;
        let key = (finding.kind, finding.signature.clone());
        let seen = self.seen.entry(key).or_insert(Seen {
            count: 0,
            first: finding.index,
            files: Vec::new(),
        });
        seen.count += 1;
        if seen.count > KEPT {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        let mut stem = format!(
            "{}-{}-{}-{}",
            self.target, self.seed, finding.index, finding.kind
        );
        // One input may do wrong in several ways.
        while !self.stems.insert(stem.clone()) {
            stem.push_str("-and");
        }
        let file = self.folder.join(format!("{stem}.{}", finding.extension));
        let command = finding.command.replace("{}", &file.display().to_string());
        let again = format!(
            "cute-fuzz {} --seed {} --first {} --inputs 1",
            self.target, self.seed, finding.index
        );
        let note = format!(
            "{}: {}\n\ncommand: {command}\nagain:   {again}\n\n{}\n",
            finding.kind, finding.signature, finding.detail
        );
        let beside = self.folder.join(format!("{stem}.txt"));
        for (path, bytes) in [(&file, &finding.input[..]), (&beside, note.as_bytes())] {
            fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        eprintln!(
            "{} {}: {}: {}\n  {command}\n  {again}",
            self.target, finding.index, finding.kind, finding.signature
        );
        seen.files.push(file);
        Ok(())
    }

    /// The target that is counted.
    pub fn target(&self) -> &'static str {
        self.target
    }

    /// Adds the counts of other inputs of the same target, which came after these.
    pub fn absorb(&mut self, later: Tally) {
        self.inputs += later.inputs;
        self.accepted += later.accepted;
        self.runs += later.runs;
        self.notes.extend(later.notes);
        for (kind, count) in later.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        for (key, seen) in later.seen {
            match self.seen.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(seen);
                }
                Entry::Occupied(entry) => {
                    let all = entry.into_mut();
                    all.count += seen.count;
                    all.files.extend(seen.files);
                }
            }
        }
        self.stems.extend(later.stems);
    }

    /// Tells whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.seen.is_empty()
    }
}

/// The table of counts, and a line for each signature.
pub fn table(tallies: &[(Tally, Duration)]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    let head = ["target", "inputs", "accepted", "runs"].map(String::from);
    let kinds = Kind::ALL.map(|kind| kind.to_string());
    table.set_header(head.into_iter().chain(kinds).chain(["seconds".to_string()]));
    for (tally, time) in tallies {
        let mut row = vec![
            tally.target.to_string(),
            tally.inputs.to_string(),
            tally.accepted.to_string(),
            tally.runs.to_string(),
        ];
        let count = |kind| tally.kinds.get(kind).copied().unwrap_or(0).to_string();
        row.extend(Kind::ALL.iter().map(count));
        row.push(format!("{:.1}", time.as_secs_f64()));
        table.add_row(row);
    }
    let mut text = format!("{table}\n");
    for (tally, _) in tallies {
        for note in &tally.notes {
            text += &format!("{}: {note}\n", tally.target);
        }
        for ((kind, signature), seen) in &tally.seen {
            text += &format!(
                "{}: {kind}, {} times, first by input {}: {signature}\n",
                tally.target, seen.count, seen.first
            );
        }
    }
    text
}

/// Makes one signature of messages that differ in names and numbers only.
pub fn signature(message: &str) -> String {
    let mut out = String::new();
    let mut digits = false;
    for c in message.trim().chars() {
        let is_digit = c.is_ascii_digit();
        match c {
            _ if is_digit && digits => {}
            _ if is_digit => out.push('N'),
            '\n' => out.push(' '),
            c => out.push(c),
        }
        digits = is_digit;
        if out.len() > 160 {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(index: u64, kind: Kind) -> Finding {
        Finding {
            index,
            kind,
            signature: "s".into(),
            detail: "d".into(),
            command: "cute-opt {}".into(),
            input: b"module {}".to_vec(),
            extension: "mlir",
        }
    }

    #[test]
    fn parts_of_a_target_are_counted_together() {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = [1, 70].map(|index| {
            let mut tally = Tally::new("tokens", 1, folder.path());
            tally.inputs = 64;
            tally.add(finding(index, Kind::Wrong)).unwrap();
            tally
        });
        let [first, second] = &mut parts;
        let later = std::mem::replace(second, Tally::new("tokens", 1, folder.path()));
        first.absorb(later);
        let [first, _] = parts;
        assert_eq!(first.inputs, 128);
        let text = table(&[(first, Duration::ZERO)]);
        assert!(
            text.contains("tokens: wrong, 2 times, first by input 1: s"),
            "{text}"
        );
    }

    #[test]
    fn findings_are_counted_and_the_first_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut tally = Tally::new("tokens", 5, folder.path());
        assert!(tally.is_clean());
        for index in 0..7 {
            tally.add(finding(index, Kind::Crash)).unwrap();
        }
        tally.add(finding(9, Kind::Hang)).unwrap();
        assert!(!tally.is_clean());
        let kept = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(kept, 2 * (3 + 1));
        let note = fs::read_to_string(folder.path().join("tokens-5-0-crash.txt")).unwrap();
        assert!(note.contains("tokens-5-0-crash.mlir"), "{note}");
        assert!(
            note.contains("cute-fuzz tokens --seed 5 --first 0 --inputs 1"),
            "{note}"
        );
        let text = table(&[(tally, Duration::from_secs(2))]);
        assert!(
            text.contains("| tokens | 0      | 0        | 0    | 7     | 1"),
            "{text}"
        );
        assert!(
            text.contains("tokens: crash, 7 times, first by input 0: s"),
            "{text}"
        );
    }

    #[test]
    fn signatures_leave_out_numbers() {
        assert_eq!(
            signature("needs 110080 bytes\nof 2x3 "),
            "needs N bytes of NxN"
        );
        assert_eq!("invalid-ir".parse(), Ok(Kind::InvalidIr));
        assert_eq!("x".parse::<Kind>(), Err(()));
    }
}
