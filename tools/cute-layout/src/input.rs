//! Text from the command line and standard input, and text to standard output and files.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, anyhow, bail};

use cute_layout::symbolic::Scope;

use crate::eval::{Evaluated, evaluate};
use crate::failure::{Failure, Outcome, whole};

/// The longest expression.
pub const MAX_TEXT: usize = 4 << 20;

/// The bytes of an argument, or of standard input for `-`.
pub fn bytes(arg: &OsStr) -> anyhow::Result<Vec<u8>> {
    if arg != "-" {
        return Ok(arg.as_encoded_bytes().to_vec());
    }
    let mut out = Vec::new();
    let limit = MAX_TEXT as u64 + 1;
    io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut out)
        .context("standard input")?;
    if out.len() > MAX_TEXT {
        bail!("expected an expression of at most {MAX_TEXT} bytes, found more");
    }
    Ok(out)
}

/// Bytes as text, and the failure where they are not UTF-8: then the text has a replacement there.
pub fn text(bytes: &[u8]) -> (String, Outcome<()>) {
    match std::str::from_utf8(bytes) {
        Ok(t) => (t.to_string(), Ok(())),
        Err(e) => {
            let at = e.valid_up_to();
            let found = bytes.get(at).copied().unwrap_or(0);
            let message = format!("expected UTF-8, found the byte 0x{found:02x}");
            let text = String::from_utf8_lossy(bytes).into_owned();
            (
                text,
                Err(Failure::new(message, at..at + '\u{fffd}'.len_utf8())),
            )
        }
    }
}

/// Evaluates an argument; the text goes with the result so that a failure can be shown.
pub fn outcome(arg: &OsStr, scope: &Scope) -> anyhow::Result<(String, Outcome<Evaluated>)> {
    let (text, valid) = text(&bytes(arg)?);
    let outcome = valid.and_then(|()| evaluate(&text, scope));
    Ok((text, outcome))
}

/// Evaluates as [`outcome`], where notes go to standard error and a failure is an error with a caret; `take` makes of the
/// value what is needed, and its faults are about the whole text.
pub fn value<T>(
    arg: &OsStr,
    scope: &Scope,
    take: impl FnOnce(&crate::value::Value) -> Result<T, crate::failure::Fault>,
) -> anyhow::Result<T> {
    evaluated(arg, scope, |e| take(&e.value))
}

/// Does as [`value`], with all that is known of the value.
pub fn evaluated<T>(
    arg: &OsStr,
    scope: &Scope,
    take: impl FnOnce(&Evaluated) -> Result<T, crate::failure::Fault>,
) -> anyhow::Result<T> {
    let (text, outcome) = outcome(arg, scope)?;
    let fail = |f: Failure| anyhow!(f.render(&text));
    let evaluated = outcome.map_err(fail)?;
    notes(&evaluated.notes);
    take(&evaluated).map_err(|e| fail(e.locate(whole(&text))))
}

/// Writes remarks to standard error.
pub fn notes(notes: &[String]) {
    let mut err = io::stderr().lock();
    for note in notes {
        // Where standard error is closed nobody reads it.
        let _ = writeln!(err, "note: {note}");
    }
}

/// Writes to a file, or to standard output; a reader that has gone is no error.
pub fn write(text: &str, output: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = output else {
        let mut out = io::stdout().lock();
        return finish(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    };
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// The result of writing to standard output, where a reader that has gone is no error.
pub fn finish(r: io::Result<()>) -> anyhow::Result<()> {
    match r {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        r => r.context("standard output"),
    }
}
