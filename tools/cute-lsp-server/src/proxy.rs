//! Between the client and MLIR's server.

use crate::{
    SERVER,
    documents::Documents,
    framing::{self, Message, Style},
    hover,
};
use serde_json::Value;
use std::{
    collections::HashMap,
    io::{self, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

/// Hovers that are worked on at once; further ones are MLIR's alone.
const MOST_AT_ONCE: usize = 4;

/// The state that both directions know.
#[derive(Default)]
struct Shared {
    documents: Documents,
    /// Hovers that were asked: by their id, the document and the line.
    asked: HashMap<String, (Arc<str>, u64)>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The framing that the client uses, and the arguments with which MLIR's server reads it as the protocol says.
fn arguments(given: &[String]) -> (Style, Vec<String>) {
    let (mut style, mut rest) = (Style::Standard, Vec::new());
    for argument in given.iter().skip(1) {
        match argument.trim_start_matches('-') {
            "lit-test" => {
                style = Style::Delimited;
                rest.extend(["--pretty".to_owned(), "--log=verbose".to_owned()]);
            }
            "input-style=delimited" => style = Style::Delimited,
            "input-style=standard" => style = Style::Standard,
            _ => rest.push(argument.clone()),
        }
    }
    (style, rest)
}

/// Runs the server between standard input and output. Returns the exit status.
pub fn run(given: &[String]) -> i32 {
    let (style, rest) = arguments(given);
    let child = std::env::current_exe().and_then(|own| {
        Command::new(own)
            .arg(SERVER)
            .args(rest)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
    });
    match child.and_then(|child| between(child, style)) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("cute-lsp-server: cannot run MLIR's server: {error}");
            1
        }
    }
}

fn between(mut child: Child, style: Style) -> io::Result<i32> {
    let missing = || io::Error::other("no pipe");
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let shared = Arc::new(Mutex::new(Shared::default()));
    let seen = Arc::clone(&shared);
    // Ends with the process where the client says nothing more.
    std::thread::spawn(move || {
        let mut from = BufReader::new(io::stdin());
        while let Ok(Some(message)) = framing::read(&mut from, style) {
            note(&message, &mut lock(&seen));
            if message.write(&mut input).is_err() {
                break;
            }
        }
    });
    answers(output, &shared)?;
    let status = child.wait()?;
    Ok(status.code().unwrap_or(1))
}

/// Notes what the client says, as far as hovers need it.
fn note(message: &Message, shared: &mut Shared) {
    let Some(said) = message.json() else {
        return;
    };
    shared.documents.follow(&said);
    if said["method"] != "textDocument/hover" || said["id"].is_null() {
        return;
    }
    let params = &said["params"];
    let document = params["textDocument"]["uri"]
        .as_str()
        .and_then(|uri| shared.documents.get(uri));
    if let (Some(document), Some(line)) = (document, params["position"]["line"].as_u64()) {
        let id = said["id"].to_string();
        shared.asked.insert(id, (document, line));
    }
}

/// Passes on what MLIR's server says until it says nothing more; hovers when their report is there.
fn answers(output: impl io::Read, shared: &Mutex<Shared>) -> io::Result<()> {
    let mut from = BufReader::new(output);
    let to = Arc::new(Mutex::new(io::stdout()));
    let mut working: Vec<JoinHandle<()>> = Vec::new();
    while let Some(message) = framing::read(&mut from, Style::Standard)? {
        working.retain(|work| !work.is_finished());
        let asked = if lock(shared).asked.is_empty() {
            None
        } else {
            answer_to(&message, shared)
        };
        match asked {
            Some((answer, document, line)) if working.len() < MOST_AT_ONCE => {
                let to = Arc::clone(&to);
                working.push(std::thread::spawn(move || {
                    let message = hover::text(&document, line).map_or(message, |text| {
                        let body = hover::with_text(answer, &text);
                        Message::of(format!("{body:#}").into_bytes())
                    });
                    // A client that is gone hears nothing.
                    let _ = message.write(&mut *lock(&to));
                }));
            }
            _ => message.write(&mut *lock(&to))?,
        }
    }
    for work in working {
        let _ = work.join();
    }
    lock(&to).flush()
}

/// The answer that a message is to a hover, with what was asked about.
fn answer_to(message: &Message, shared: &Mutex<Shared>) -> Option<(Value, Arc<str>, u64)> {
    let answer = message.json()?;
    if !answer["method"].is_null() || answer["id"].is_null() {
        return None;
    }
    let (document, line) = lock(shared).asked.remove(&answer["id"].to_string())?;
    answer
        .get("result")
        .is_some()
        .then_some((answer, document, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_read_as_tests_and_passed_on_as_the_protocol_says() {
        let given = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let (style, rest) = arguments(&given("server -lit-test --log=error"));
        assert_eq!(style, Style::Delimited);
        assert_eq!(rest, ["--pretty", "--log=verbose", "--log=error"]);
        assert_eq!(arguments(&given("server")), (Style::Standard, vec![]));
    }
}
