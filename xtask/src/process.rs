//! Other programs: run, watched, and what they said when they failed.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The number of the last lines of a failed program that are shown.
const LAST_LINES: usize = 20;

/// Runs a program whose output the user sees as it comes. Whether it succeeded; an error if it cannot be started.
pub fn show(command: &mut Command) -> Result<bool> {
    let status = command.status().with_context(|| cannot_start(command))?;
    Ok(status.success())
}

/// Runs a program silently: what it wrote to stdout, or an error with the end of all that it wrote.
pub fn quiet(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| cannot_start(command))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(out);
    }
    let all = format!("{out}{}", String::from_utf8_lossy(&output.stderr));
    bail!(
        "`{}` failed ({}):\n{}",
        spelled(command),
        output.status,
        tail(&all, LAST_LINES)
    )
}

/// Runs a program whose output the user sees as it comes and whose stdout `each` reads by line.
pub fn watched(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| cannot_start(command))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        // By bytes: what a test prints need not be UTF-8.
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            each(text.trim_end());
            line.clear();
        }
    }
    Ok(child.wait()?.success())
}

/// The file of a program, as a shell would find it.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A command as one would type it.
pub fn spelled(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        let plain = !word.is_empty()
            && !word.contains(|c: char| c.is_whitespace() || "'\"$;&|<>(){}*?\\".contains(c));
        if plain {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command) -> String {
    format!("`{}` could not be started", spelled(command))
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_is_quoted_with_what_it_said() {
        assert_eq!(
            quiet(Command::new("sh").args(["-c", "echo out"])).unwrap(),
            "out\n"
        );
        let error = quiet(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 3"]))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`sh -c 'echo one; echo two >&2; exit 3'` failed"),
            "{error}"
        );
        assert!(error.ends_with("one\ntwo"), "{error}");
        let error = quiet(&mut Command::new("no-such-program-at-all")).unwrap_err();
        assert!(
            format!("{error:#}").contains("could not be started"),
            "{error:#}"
        );
    }

    #[test]
    fn lines_are_read_as_they_come() {
        let mut lines = Vec::new();
        let ok = watched(
            Command::new("sh").args(["-c", "echo a; printf b"]),
            |line| lines.push(line.to_string()),
        )
        .unwrap();
        assert_eq!((ok, lines), (true, vec!["a".to_string(), "b".to_string()]));
        assert!(!watched(Command::new("sh").args(["-c", "exit 1"]), |_| {}).unwrap());
    }

    #[test]
    fn the_end_of_a_text() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 5), "a");
        assert_eq!(tail("", 5), "");
    }

    #[test]
    fn programs_on_the_path() {
        assert!(on_path("sh").is_some());
        assert_eq!(on_path("no-such-program-at-all"), None);
    }
}
