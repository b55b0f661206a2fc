//! Between the client and MLIR's server.

use crate::{
    SERVER, actions, cures, definition, docs,
    documents::{Documents, file_of},
    framing::{self, Message, Style},
    hints, hover,
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{self, BufReader, Write},
    ops::Range,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Requests that are worked on at once; the answers to further ones are MLIR's alone.
const MOST_AT_ONCE: usize = 4;

/// The time for which a document is to stay as it is before what hovers say is made ahead.
const QUIET: Duration = Duration::from_millis(300);

/// The time after which a hover is answered with what is there.
const AT_MOST: Duration = Duration::from_millis(75);

/// A request whose answer gets more than MLIR's server says.
enum Asked {
    /// `initialize`: what the server can do.
    Abilities,
    /// `textDocument/hover` at a place of a document, in lines and UTF-16 units from 0.
    Hover {
        file: String,
        document: Arc<str>,
        line: u64,
        character: u64,
        /// The time until which the answer may wait; without one it waits for all.
        end: Option<Instant>,
    },
    /// `textDocument/codeAction` on a line of a document.
    Actions {
        uri: String,
        document: Arc<str>,
        line: u64,
        diagnostics: Vec<Value>,
    },
    /// `textDocument/definition` of what stands at a place of a document, in lines and UTF-16 units from 0.
    Definition {
        file: String,
        document: Arc<str>,
        line: u64,
        character: u64,
    },
    /// `textDocument/inlayHint` on lines of a document. MLIR's server does not know the request.
    Hints {
        file: String,
        document: Arc<str>,
        lines: Range<u64>,
    },
}

impl Asked {
    /// The answer with what there is to add to it.
    fn complete(&self, mut answer: Value) -> Option<Value> {
        match self {
            Asked::Abilities => {
                answer["result"]["capabilities"]["inlayHintProvider"] = true.into();
                Some(answer)
            }
            Asked::Hover {
                file,
                document,
                line,
                character,
                end,
            } => {
                let reference = docs::at(document, *line, *character);
                let picture = hover::picture(document, *line, *character);
                let report = hover::text(file, document, *line, *end);
                if report.is_none() && picture.is_none() && reference.is_none() {
                    return None;
                }
                Some(hover::with_texts(answer, report, picture, reference))
            }
            Asked::Actions {
                uri,
                document,
                line,
                diagnostics,
            } => {
                let mut all = cures::of(uri, document, diagnostics);
                all.extend(actions::mended(&file_of(uri), uri, document, *line));
                match all.is_empty() {
                    true => None,
                    false => Some(all.into_iter().fold(answer, actions::with_action)),
                }
            }
            Asked::Definition {
                file,
                document,
                line,
                character,
            } => {
                let found = answer["result"].as_array();
                if found.is_some_and(|found| !found.is_empty()) {
                    return None;
                }
                let place = definition::of(file, document, *line, *character)?;
                Some(definition::with_place(answer, place))
            }
            Asked::Hints {
                file,
                document,
                lines,
            } => {
                let hints = hints::of(file, document, lines.clone());
                Some(json!({"jsonrpc": "2.0", "id": answer["id"], "result": hints}))
            }
        }
    }

    /// Tells whether it is completed where MLIR's server only has an error to say.
    fn is_own(&self) -> bool {
        matches!(self, Asked::Hints { .. })
    }
}

/// The state that both directions know.
#[derive(Default)]
struct Shared {
    documents: Documents,
    /// Requests that wait for an answer, by their ids.
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
            let changed = note(&message, &mut lock(&seen), style == Style::Delimited);
            if let (Some(uri), Style::Standard) = (changed, style) {
                prepare(uri, &seen);
            }
            if message.write(&mut input).is_err() {
                break;
            }
        }
    });
    // In tests answers come in the order of the requests.
    let in_order = style == Style::Delimited;
    answers(output, &shared, in_order)?;
    let status = child.wait()?;
    Ok(status.code().unwrap_or(1))
}

/// Has what a hover says of a document made ahead, when it has not changed for a while.
fn prepare(uri: String, shared: &Arc<Mutex<Shared>>) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let document = |shared: &Mutex<Shared>| lock(shared).documents.get(&uri);
        let Some(before) = document(&shared) else {
            return;
        };
        std::thread::sleep(QUIET);
        if document(&shared).is_some_and(|now| Arc::ptr_eq(&now, &before)) {
            hover::prepare(&file_of(&uri), &before, 0);
        }
    });
}

/// Notes what the client says, as far as answers get more than MLIR's server says; hovers wait for all that they may say where `waits` is set. Returns the document that it opens or changes.
fn note(message: &Message, shared: &mut Shared, waits: bool) -> Option<String> {
    let said = message.json()?;
    shared.documents.follow(&said);
    if let (false, Some(mut asked)) = (said["id"].is_null(), asked(&said, &shared.documents)) {
        // The report is made while MLIR's server reads the document.
        if let (
            false,
            Asked::Hover {
                file,
                document,
                line,
                end,
                ..
            },
        ) = (waits, &mut asked)
        {
            *end = Some(Instant::now() + AT_MOST);
            hover::prepare(file, document, *line);
        }
        shared.asked.insert(said["id"].to_string(), asked);
    }
    let changes = matches!(
        said["method"].as_str(),
        Some("textDocument/didOpen" | "textDocument/didChange")
    );
    let uri = said["params"]["textDocument"]["uri"].as_str();
    uri.filter(|_| changes).map(str::to_owned)
}

/// The request that a message is, where its answer gets more.
fn asked(said: &Value, documents: &Documents) -> Option<Asked> {
    let params = &said["params"];
    let uri = || params["textDocument"]["uri"].as_str();
    let document = || documents.get(uri()?);
    let file = || uri().map(file_of);
    match said["method"].as_str()? {
        "initialize" => Some(Asked::Abilities),
        "textDocument/hover" => Some(Asked::Hover {
            file: file()?,
            document: document()?,
            line: params["position"]["line"].as_u64()?,
            character: params["position"]["character"].as_u64()?,
            end: None,
        }),
        // Wrong types are an error, so that without one there is nothing to mend.
        "textDocument/codeAction" => {
            let diagnostics = params["context"]["diagnostics"].as_array()?.clone();
            (!diagnostics.is_empty()).then_some(Asked::Actions {
                uri: uri()?.to_owned(),
                document: document()?,
                line: params["range"]["start"]["line"].as_u64()?,
                diagnostics,
            })
        }
        "textDocument/definition" => Some(Asked::Definition {
            file: file()?,
            document: document()?,
            line: params["position"]["line"].as_u64()?,
            character: params["position"]["character"].as_u64()?,
        }),
        "textDocument/inlayHint" => {
            let line = |end: &str| params["range"][end]["line"].as_u64();
            Some(Asked::Hints {
                file: file()?,
                document: document()?,
                lines: line("start")?..line("end")?.saturating_add(1),
            })
        }
        _ => None,
    }
}

/// Passes on what MLIR's server says until it says nothing more; answers that get more when that is there.
fn answers(output: impl io::Read, shared: &Mutex<Shared>, in_order: bool) -> io::Result<()> {
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
                if in_order && let Some(work) = working.pop() {
                    let _ = work.join();
                }
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
    (answer.get("result").is_some() || asked.is_own()).then_some((answer, asked))
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
