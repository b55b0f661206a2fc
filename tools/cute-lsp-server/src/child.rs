//! Children of this program, which read a text and say something of it as JSON.

use cute_ir::library::Imported;
use serde_json::Value;
use std::{
    collections::{HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    io::{Read, Write},
    process::{Command, Stdio},
    sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

/// Bytes of a text that a child is given.
const MOST_TEXT: usize = 4 << 20;
/// The time that a child may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers that are kept.
const KEPT: usize = 32;

/// Answers of children, and what these are asked.
struct Answers {
    /// The last answers by what was asked: a text that has not changed, nor what it imports, is read once for all requests.
    kept: VecDeque<(u64, Value)>,
    /// The questions that are asked just now.
    asked: HashSet<u64>,
}

static ANSWERS: LazyLock<Mutex<Answers>> = LazyLock::new(|| {
    Mutex::new(Answers {
        kept: VecDeque::new(),
        asked: HashSet::new(),
    })
});
/// Told whenever a child has said something, or nothing.
static SAID: Condvar = Condvar::new();

fn answers() -> MutexGuard<'static, Answers> {
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner)
}

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
pub fn ask(name: &'static str, file: &str, text: String) -> Option<Value> {
    ask_until(name, file, text, None).unwrap_or_default()
}

/// The answer as of [`ask`], where it is there at that time, if there is one.
///
/// # Errors
/// Nothing was said yet: the child goes on, and what it says is kept.
pub fn ask_until(
    name: &'static str,
    file: &str,
    text: String,
    end: Option<Instant>,
) -> Result<Option<Value>, Late> {
    let key = key(name, file, &text);
    let mut all = answers();
    let mut text = Some(text);
    loop {
        let kept = all.kept.iter().find(|(of, _)| *of == key);
        if let Some((_, answer)) = kept {
            return Ok(Some(answer.clone()).filter(|answer| !answer.is_null()));
        }
        if !all.asked.contains(&key) {
            // Where it was asked, it had nothing to say.
            let Some(text) = text.take() else {
                return Ok(None);
            };
            all.asked.insert(key);
            let file = file.to_owned();
            std::thread::spawn(move || {
                let bytes = say(name, &file, text);
                // A text that cannot be read has no answer, which is kept as well.
                let answer = bytes.map(|bytes| serde_json::from_slice(&bytes).unwrap_or_default());
                let mut all = answers();
                all.asked.remove(&key);
                if let Some(answer) = answer {
                    all.kept.truncate(KEPT - 1);
                    all.kept.push_front((key, answer));
                }
                SAID.notify_all();
            });
        }
        text = None;
        all = match end {
            None => SAID.wait(all).unwrap_or_else(PoisonError::into_inner),
            Some(end) => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(Late);
                }
                let waited = SAID.wait_timeout(all, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// A child that has not said anything at the time when it was to be done.
#[derive(Debug)]
pub struct Late;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The child is the program of these tests, which says nothing that is JSON.
    #[test]
    fn an_answer_that_is_late_is_kept() {
        let ask_now = || {
            let text = "a text of its own".to_owned();
            ask_until("--cute-child=none", "a.mlir", text, Some(Instant::now()))
        };
        assert!(matches!(ask_now(), Err(Late)));
        // Whoever waits is not the second one to ask.
        assert_eq!(
            ask(
                "--cute-child=none",
                "a.mlir",
                "a text of its own".to_owned()
            ),
            None
        );
        assert!(matches!(ask_now(), Ok(None)));
    }
}
