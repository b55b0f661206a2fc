//! Wrong programs and what is said of them: docs/messages.md, which `UPDATE_EXPECT=1` writes.
//!
//! A file of `tests/messages` is a chapter: a title, then programs between lines of `// -----`. Each has a title on its first line, and
//! the options of `--cute-compile` on the next where they are not `arch=sm_80`.

use cute_lowering::{CompileError, CompileOptions, Compiler, Diagnostic, Options, Severity};
use std::{fmt::Write as _, fs, path::Path};

const DEFAULT: &str = "arch=sm_80";
/// The fewest programs that the page has.
const FEWEST: usize = 60;

struct Program<'a> {
    title: &'a str,
    options: &'a str,
    text: &'a str,
}

/// The title of a chapter, and its programs.
fn read(text: &str) -> (&str, Vec<Program<'_>>) {
    let comment = |line: &str| line.strip_prefix("// ").map(str::len).is_some();
    let (title, rest) = text.split_once("\n//\n").expect("a chapter has a title");
    let programs = rest.split("\n// -----\n").map(|part| {
        let part = part.trim();
        let (title, mut text) = part.split_once('\n').expect("a program has a title");
        let mut options = DEFAULT;
        if let Some((first, rest)) = text.split_once('\n')
            && comment(first)
        {
            options = &first[3..];
            text = rest;
        }
        Program {
            title: &title[3..],
            options,
            text,
        }
    });
    (&title[3..], programs.collect())
}

/// All that is said of a program.
fn said(program: &Program<'_>) -> Vec<Diagnostic> {
    let of_options = |message: String| {
        vec![Diagnostic {
            severity: Severity::Error,
            place: None,
            message,
            notes: Vec::new(),
        }]
    };
    let options = match CompileOptions::parse(program.options) {
        Ok(options) => options,
        Err(message) => return of_options(format!("--cute-compile: {message}")),
    };
    let compiler = Compiler::new(&options).expect("an architecture");
    match compiler.compile_text("k.mlir", program.text) {
        Ok(compiled) => compiled.diagnostics,
        Err(CompileError::Options(message)) => of_options(message),
        Err(CompileError::Failed(said)) => said,
    }
}

/// Checks that a mistake is said once, where it is, and with what to do.
fn check(program: &Program<'_>, said: &[Diagnostic]) {
    let title = program.title;
    let [one] = said else {
        panic!(
            "{title}: expected one diagnostic, found {}: {said:#?}",
            said.len()
        );
    };
    let warns = title.ends_with(": a warning");
    let severity = if warns {
        Severity::Warning
    } else {
        Severity::Error
    };
    assert_eq!(one.severity, severity, "{title}: {one}");
    let first = one.to_string();
    let first = first.lines().next().unwrap_or_default();
    if one.place.is_none() {
        assert!(first.contains("--cute-compile: "), "{title}: {first}");
    }
    if let Some(place) = &one.place {
        let line = program.text.lines().nth(place.line as usize - 1);
        assert!(line.is_some(), "{title}: {first}");
    }
    // The cause or the cure is what was expected, and the other one stands behind a semicolon or a colon.
    let told = first.contains("expected ") || first.contains("; ");
    assert!(told, "{title}: no cure in: {first}");
    let notes = one.notes.iter().map(|note| &note.message);
    for text in notes.chain([&one.message]) {
        for noise in ["see current operation", "failed to infer", "op op "] {
            assert!(!text.contains(noise), "{title}: {text}");
        }
    }
}

#[test]
fn wrong_programs_are_told_so() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = fs::read_dir(root.join("tests/messages")).expect("the programs");
    let mut files: Vec<_> = folder.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut page = String::from(
        "# Messages\n\nWrong programs, and what the compiler says of each: where it is, what was expected and found, and what to do. `k.mlir` is the program, \
         compiled by `cute-opt k.mlir --cute-compile=arch=sm_80` where nothing else is said. A test makes this page.\n",
    );
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(&file).expect("a chapter");
        let (title, programs) = read(&text);
        let _ = write!(page, "\n## {title}\n");
        for program in programs {
            count += 1;
            let said = said(&program);
            check(&program, &said);
            let _ = write!(page, "\n**{}.**", program.title);
            if program.options != DEFAULT {
                let _ = write!(page, " `--cute-compile=\"{}\"`", program.options);
            }
            let _ = write!(page, "\n\n```mlir\n{}\n```\n\n```text\n", program.text);
            for diagnostic in &said {
                let _ = writeln!(page, "{diagnostic}");
            }
            page += "```\n";
        }
    }
    assert!(count >= FEWEST, "{count} programs");
    let file = root.join("../docs/messages.md");
    if fs::read_to_string(&file).is_ok_and(|found| found == page) {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some(),
        "docs/messages.md is not what the compiler says: run it with UPDATE_EXPECT=1, and read the difference"
    );
    fs::write(&file, page).expect("the page is written");
}
