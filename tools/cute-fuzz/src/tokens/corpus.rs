//! The texts that are mutated: the IR of the tests and the examples.

use crate::opt::CANONICALIZE;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// One file of IR.
pub struct File {
    /// Its parts, without comments.
    pub chunks: Vec<Vec<Token>>,
    /// Options of its own `RUN` lines.
    pub own: Vec<Vec<String>>,
}

/// A token of IR, or what stands between two.
pub type Token = String;

/// Reads all files of IR under `test` and `examples`, in the order of their names.
///
/// # Errors
/// If there are none.
pub fn read(root: &Path) -> Result<Vec<File>> {
    let mut paths = Vec::new();
    for folder in ["test", "examples"] {
        find(&root.join(folder), &mut paths)
            .with_context(|| format!("cannot read {}", root.join(folder).display()))?;
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = File::new(&text);
        if !file.chunks.is_empty() {
            files.push(file);
        }
    }
    Ok(files)
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, paths)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "mlir")
        {
            paths.push(path);
        }
    }
    Ok(())
}

impl File {
    fn new(text: &str) -> File {
        let chunks = text.split("// -----").map(|chunk| {
            let lines = chunk
                .lines()
                .map(|line| match line.trim_start().starts_with("//") {
                    true => "",
                    false => line,
                });
            let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
            tokens(&lines.join("\n"))
        });
        let mut own = Vec::new();
        for run in runs(text) {
            if let Some(options) = options(&run)
                && !own.contains(&options)
            {
                own.push(options);
            }
        }
        File {
            chunks: chunks.filter(|tokens| tokens.len() > 3).collect(),
            own,
        }
    }
}

/// The `RUN` lines, with lines joined that end in a backslash.
fn runs(text: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("RUN:") else {
            goes_on = false;
            continue;
        };
        let rest = rest.trim();
        let part = rest.trim_end_matches('\\');
        match runs.last_mut() {
            Some(last) if goes_on => last.push_str(part),
            _ => runs.push(part.to_string()),
        }
        goes_on = rest.ends_with('\\');
    }
    runs
}

/// The options of `cute-opt` in a `RUN` line that reads the file itself, without those that say where things are written, or how
/// diagnostics are checked.
fn options(run: &str) -> Option<Vec<String>> {
    let run = run.trim();
    let run = run.strip_prefix("not ").unwrap_or(run);
    let rest = run.strip_prefix("cute-opt %s")?;
    let words = words(rest);
    let end = words
        .iter()
        .position(|word| ["|", ">", "2>&1", "2>/dev/null", "&&"].contains(&&**word));
    let mut options = Vec::new();
    let mut skip = false;
    for word in &words[..end.unwrap_or(words.len())] {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word.as_str() {
            "-o" => skip = true,
            "--split-input-file" | "--verify-diagnostics" | "--emit-bytecode" => {}
            word if word.contains(['%', '`']) || word.contains("test-panic") => return None,
            // A test of what the command line refuses says nothing of IR.
            word if repeats(word) => return None,
            "--canonicalize" => options.push(CANONICALIZE.to_string()),
            word => options.push(word.to_string()),
        }
    }
    (!options.is_empty()).then_some(options)
}

/// Tells whether a pass is given one option twice.
fn repeats(word: &str) -> bool {
    let Some((_, given)) = word.split_once('=') else {
        return false;
    };
    let mut names: Vec<_> = given
        .split_whitespace()
        .filter_map(|option| Some(option.split_once('=')?.0))
        .collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// Words as a shell takes them apart.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The number of tokens from this one on that are a type: `i32`, `!alias`, `vector<4xf32>`,
/// `!cute.memref<f16, "(4,2):(1,4)">`; 0 if it is none.
pub fn type_at(tokens: &[Token], at: usize) -> usize {
    let first = &tokens[at];
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let number = first.strip_prefix(['i', 'f']).is_some_and(digits);
    let named = ["index", "bf16", "vector", "memref", "tensor", "!"];
    if !number
        && !named
            .iter()
            .any(|name| first == name || (*name == "!" && first.starts_with('!')))
    {
        return 0;
    }
    if tokens.get(at + 1).is_none_or(|next| next != "<") {
        return 1;
    }
    let mut depth = 0;
    for (length, token) in tokens[at..].iter().enumerate() {
        match token.as_str() {
            "<" => depth += 1,
            // Of an arrow it is the end of nothing.
            ">" if tokens[at + length - 1] != "-" => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return length + 1;
        }
    }
    1
}

/// All types of some files.
pub fn types(files: &[File]) -> Vec<String> {
    let mut types = std::collections::BTreeSet::new();
    for tokens in files.iter().flat_map(|file| &file.chunks) {
        for at in 0..tokens.len() {
            let length = type_at(tokens, at);
            // An alias is of its own file.
            let text = tokens[at..at + length].concat();
            if length > 0 && (!text.starts_with('!') || text.contains('.')) && text.len() < 300 {
                types.insert(text);
            }
        }
    }
    types.into_iter().collect()
}

/// Takes a text apart into tokens; together they are the text again.
pub fn tokens(text: &str) -> Vec<Token> {
    let class = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_ascii_digit() => 1,
        c if c.is_alphanumeric() || "_%@!#^$".contains(c) => 2,
        _ => 3,
    };
    let mut tokens: Vec<Token> = Vec::new();
    let mut last = 3;
    for c in text.chars() {
        let now = class(c);
        // A number within a name belongs to the name, a letter behind a number does not belong to the number.
        let goes_on = match (last, now) {
            (0, 0) | (1, 1) | (2, 1 | 2) => !"%@!#^".contains(c),
            // Names of ops.
            (2, 3) => c == '.',
            _ => false,
        };
        match tokens.last_mut() {
            Some(token) if goes_on => {
                token.push(c);
                last = if last == 2 { 2 } else { now };
            }
            _ => {
                tokens.push(c.to_string());
                last = now;
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text() {
        let text = "%a0 = cute.make_coord(%b) : (i32) -> !cute.coord<\"(?{div=128},_)\">\n";
        let tokens = tokens(text);
        assert_eq!(tokens.concat(), text);
        for token in ["%a0", "cute.make_coord", "128", "div", "i32", "!cute.coord"] {
            assert!(tokens.iter().any(|t| t == token), "{token} in {tokens:?}");
        }
    }

    #[test]
    fn types_are_found() {
        let file = File::new(
            "func.func @f(%a: !cute.int_tuple<\"30\">, %b: vector<4xf32>, %c: i32) -> !x {\n}\n",
        );
        let types = types(&[file]);
        assert_eq!(types, ["!cute.int_tuple<\"30\">", "i32", "vector<4xf32>"]);
    }

    #[test]
    fn run_lines_are_read() {
        let text = "// RUN: cute-opt %s --cute-tile=\"arch=sm_80 tile=32x32x32\" --cute-partition \\\n// RUN:   --cse | FileCheck %s\n\
                    // RUN: not cute-opt %s --split-input-file --verify-diagnostics -o /dev/null 2>&1\n// RUN: cute-opt %t --cse\n\
                    // RUN: not cute-opt %s --cute-tile=\"arch=sm_80 stages=2 stages=3\"\n\
                    func.func @f() {\n  // no\n  return\n}\n";
        let file = File::new(text);
        assert_eq!(
            file.own,
            [[
                "--cute-tile=arch=sm_80 tile=32x32x32",
                "--cute-partition",
                "--cse"
            ]]
        );
        assert_eq!(file.chunks.len(), 1);
        assert_eq!(file.chunks[0].concat(), "func.func @f() {\n  return\n}");
    }
}
