//! Children of this program, which read a text and say something of it as JSON.

use cute_ir::library::Imported;
use serde_json::Value;
use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    io::{Read, Write},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError, mpsc},
    time::Duration,
};

/// Bytes of a text that a child is given.
const MOST_TEXT: usize = 4 << 20;
/// The time that a child may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers that are kept.
const KEPT: usize = 32;

/// The last answers by what was asked: a text that has not changed, nor what it imports, is read once for all requests.
static ANSWERS: Mutex<VecDeque<(u64, Value)>> = Mutex::new(VecDeque::new());

/// The hash of all that decides an answer.
fn key(name: &str, file: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, file, text).hash(&mut hasher);
    for imported in Imported::all(file, text).iter().filter(|one| one.is_file) {
        (&imported.name, &imported.text).hash(&mut hasher);
    }
    hasher.finish()
}

/// The answer of the child of this name to a text, which is of a file or a part of one; nothing where the text is too long, and where the child says
/// nothing in time.
pub fn ask(name: &str, file: &str, text: String) -> Option<Value> {
    let answers = || ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = key(name, file, &text);
    let kept = |(of, answer): &(u64, Value)| (*of == key).then(|| answer.clone());
    if let Some(answer) = answers().iter().find_map(kept) {
        return Some(answer).filter(|answer| !answer.is_null());
    }
    let bytes = say(name, file, text)?;
    // A text that cannot be read has no answer, which is kept as well.
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut answers = answers();
    answers.truncate(KEPT - 1);
    answers.push_front((key, answer.clone()));
    Some(answer).filter(|answer| !answer.is_null())
}

/// The bytes that the child of this name writes about a text; nothing where the text is too long, and where the child says nothing in time.
fn say(name: &str, file: &str, text: String) -> Option<Vec<u8>> {
    if text.len() > MOST_TEXT {
        return None;
    }
    let mut child = Command::new(std::env::current_exe().ok()?)
        .args([name, file])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    std::thread::spawn(move || {
        if let Some(mut input) = input {
            let _ = input.write_all(text.as_bytes());
        }
    });
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut output) = output {
            let _ = output.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    let bytes = receiver.recv_timeout(PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    bytes.ok()
}
