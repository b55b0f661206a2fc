//! Between the client and MLIR's server.

use crate::{
    SERVER, actions,
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

/// Requests that are worked on at once; the answers to further ones are MLIR's alone.
const MOST_AT_ONCE: usize = 4;

/// A request whose answer gets more than MLIR's server says: the document and the line that it is about.
struct Asked {
    /// Nothing for a hover; the document's URI for actions.
    uri: Option<String>,
    document: Arc<str>,
    line: u64,
}

impl Asked {
    /// The answer with what there is to add to it.
    fn complete(&self, answer: Value) -> Option<Value> {
        match &self.uri {
            None => {
                let text = hover::text(&self.document, self.line)?;
                Some(hover::with_text(answer, &text))
            }
            Some(uri) => {
                let action = actions::mended(uri, &self.document, self.line)?;
                Some(actions::with_action(answer, action))
            }
        }
    }
}

/// The state that both directions know.
#[derive(Default)]
struct Shared {
    documents: Documents,
    /// What was asked, by its id.
    asked: HashMap<String, Asked>,
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

/// Notes what the client says, as far as answers get more than MLIR's server says.
fn note(message: &Message, shared: &mut Shared) {
    let Some(said) = message.json() else {
        return;
    };
    shared.documents.follow(&said);
    let params = &said["params"];
    let (line, actions) = match said["method"].as_str() {
        Some("textDocument/hover") => (&params["position"]["line"], false),
        // Wrong types are an error, so that without one there is nothing to mend.
        Some("textDocument/codeAction")
            if params["context"]["diagnostics"]
                .as_array()
                .is_some_and(|all| !all.is_empty()) =>
        {
            (&params["range"]["start"]["line"], true)
        }
        _ => return,
    };
    let Some(uri) = params["textDocument"]["uri"].as_str() else {
        return;
    };
    if let (false, Some(document), Some(line)) = (
        said["id"].is_null(),
        shared.documents.get(uri),
        line.as_u64(),
    ) {
        let uri = actions.then(|| uri.to_owned());
        let asked = Asked {
            uri,
            document,
            line,
        };
        shared.asked.insert(said["id"].to_string(), asked);
    }
}

/// Passes on what MLIR's server says until it says nothing more; answers that get more when that is there.
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
            Some((answer, asked)) if working.len() < MOST_AT_ONCE => {
                let to = Arc::clone(&to);
                working.push(std::thread::spawn(move || {
                    let message = asked.complete(answer).map_or(message, |body| {
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

/// The answer that a message is to what was asked, with that.
fn answer_to(message: &Message, shared: &Mutex<Shared>) -> Option<(Value, Asked)> {
    let answer = message.json()?;
    if !answer["method"].is_null() || answer["id"].is_null() {
        return None;
    }
    let asked = lock(shared).asked.remove(&answer["id"].to_string())?;
    answer.get("result").is_some().then_some((answer, asked))
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
