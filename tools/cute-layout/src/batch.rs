//! An expression a line, a result a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::Context;
use cute_layout::symbolic::Scope;

use crate::eval::evaluate;
use crate::failure::{Failure, Outcome, whole};
use crate::input::{self, MAX_TEXT};
use crate::ir;

/// The form of results.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// The text, or `error: ...`.
    Text,
    /// One object a line.
    Json,
    /// Types and operations of the dialect, whose names end in the number of the line; `// error: ...` for wrong lines.
    Ir(ir::Kind),
}

/// Reads `file`, or standard input, to its end. Wrong lines are results too; the error is about reading and writing.
pub fn run(file: Option<&Path>, form: Form, scope: &Scope) -> anyhow::Result<()> {
    let mut lines: Box<dyn BufRead> = match file {
        Some(path) if path != Path::new("-") => {
            let file = File::open(path).with_context(|| path.display().to_string())?;
            Box::new(BufReader::with_capacity(1 << 16, file))
        }
        _ => Box::new(io::stdin().lock()),
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = MAX_TEXT as u64 + 1;
        let n = lines.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if n == 0 {
            break;
        }
        let whole = line.last() == Some(&b'\n');
        while line.last().is_some_and(|c| matches!(c, b'\n' | b'\r')) {
            line.pop();
        }
        if !whole && n > MAX_TEXT {
            skip_line(&mut lines)?;
        }
        let written = if line.is_empty() {
            writeln!(out)
        } else {
            answer(&line, number, form, scope, &mut out)
        };
        if written.is_err() {
            return input::finish(written);
        }
    }
    input::finish(out.flush())
}

fn answer(
    line: &[u8],
    number: usize,
    form: Form,
    scope: &Scope,
    out: &mut impl Write,
) -> io::Result<()> {
    let (lossy, valid);
    let text = match std::str::from_utf8(line) {
        Ok(text) => {
            valid = too_long(text);
            text
        }
        Err(_) => {
            (lossy, valid) = input::text(line);
            &lossy[..]
        }
    };
    let outcome = valid.and_then(|()| evaluate(text, scope));
    match form {
        Form::Text => match outcome {
            Ok(e) => writeln!(out, "{}", e.value),
            Err(f) => writeln!(out, "error: {}", f.line(text)),
        },
        Form::Json => {
            let object = match outcome {
                Ok(e) => e.to_json(),
                Err(f) => f.to_json(),
            };
            writeln!(out, "{object}")
        }
        Form::Ir(kind) => {
            let suffix = format!("_{number}");
            let made = outcome.and_then(|e| {
                ir::result(&e, kind, &suffix).map_err(|fault| fault.locate(whole(text)))
            });
            match made {
                Ok(ir) => out.write_all(ir.text.as_bytes()),
                Err(f) => writeln!(out, "// error: {}", f.line(text)),
            }
        }
    }
}

/// Refuses a text that is longer than expressions may be.
pub fn too_long(text: &str) -> Outcome<()> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    let message = format!("expected an expression of at most {MAX_TEXT} bytes, found more");
    Err(Failure::new(message, MAX_TEXT..MAX_TEXT))
}

fn skip_line(lines: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = lines.fill_buf()?;
        let end = chunk.iter().position(|c| *c == b'\n');
        let (used, done) = match (end, chunk.len()) {
            (Some(at), _) => (at + 1, true),
            (None, n) => (n, n == 0),
        };
        lines.consume(used);
        if done {
            return Ok(());
        }
    }
}
