//! Diagnostics as values: what was said, how bad it is, where, and what was noted beside it.

use cute_ir::mlir::{Place, callers_of, place_of};
use melior::{Context, diagnostic::DiagnosticSeverity};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be compiled.
    Error,
    /// The input is compiled, and hardly meant so.
    Warning,
    /// Something beside an error or a warning.
    Note,
    /// Something that was asked for, such as a report.
    Remark,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Remark => "remark",
        })
    }
}

/// A diagnostic of the compiler, or a note of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The place in the text that it is about; none where the IR has no text, or says no place.
    pub place: Option<Place>,
    /// The text of the diagnostic, without its place.
    pub message: String,
    /// The notes, each with a place of its own.
    pub notes: Vec<Diagnostic>,
}

impl fmt::Display for Diagnostic {
    /// Writes it as compilers do, `file:line:column: error: message`, and its notes on lines of their own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.file, place.line, place.column)?;
        }
        write!(f, "{}: {}", self.severity, self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

/// Does something, and collects what MLIR says meanwhile in place of printing it.
pub(crate) fn collect<T>(context: &Context, work: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&said);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let mut said = sink.lock().unwrap_or_else(PoisonError::into_inner);
        said.push(read(&diagnostic));
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    let said = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
    (result, said)
}

fn read(diagnostic: &melior::diagnostic::Diagnostic<'_>) -> Diagnostic {
    let notes = (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok());
    let callers = callers_of(diagnostic.location()).into_iter();
    let callers = callers.map(|caller| Diagnostic {
        severity: Severity::Note,
        place: place_of(caller),
        message: "called from here".to_owned(),
        notes: Vec::new(),
    });
    let place = place_of(diagnostic.location());
    let mut message = diagnostic.to_string();
    let mut notes: Vec<_> = notes.map(|note| read(&note)).collect();
    // Whoever listens first hears what MLIR says before it is told otherwise.
    if let (Some(place), DiagnosticSeverity::Error) = (&place, diagnostic.severity()) {
        let (line, column) = (place.line as usize, place.column as usize);
        let told = cute_ir::library::reworded(&message, &place.file, line, column);
        if !told.is_empty() {
            if !told.starts_with(&message) {
                notes.clear();
            }
            message = told;
        }
    }
    Diagnostic {
        severity: match diagnostic.severity() {
            DiagnosticSeverity::Error => Severity::Error,
            DiagnosticSeverity::Warning => Severity::Warning,
            DiagnosticSeverity::Note => Severity::Note,
            DiagnosticSeverity::Remark => Severity::Remark,
        },
        place,
        message,
        notes: callers.chain(notes).collect(),
    }
}
