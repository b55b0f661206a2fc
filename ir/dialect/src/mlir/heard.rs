//! Diagnostics of MLIR while something is done, kept from whoever listens, so that more can be said of it.

use super::{emit_error, emit_remark, emit_warning};
use melior::{
    Context,
    diagnostic::{Diagnostic, DiagnosticSeverity},
    ir::Location,
};
use std::{cell::RefCell, rc::Rc};

/// A diagnostic that was heard: it is for whoever heard it to say.
pub struct Said<'c> {
    /// The severity.
    pub severity: DiagnosticSeverity,
    /// The location.
    pub location: Location<'c>,
    /// The text of the diagnostic.
    pub message: String,
    /// The notes, each at a location of its own.
    pub notes: Vec<(Location<'c>, String)>,
}

impl<'c> Said<'c> {
    /// Says it, with more notes behind its own.
    pub fn say(&self, more: &[(Location<'c>, &str)]) {
        let own = self.notes.iter().map(|(at, note)| (*at, note.as_str()));
        let notes: Vec<_> = own.chain(more.iter().copied()).collect();
        match self.severity {
            DiagnosticSeverity::Error => emit_error(self.location, &self.message, &notes),
            DiagnosticSeverity::Warning => emit_warning(self.location, &self.message, &notes),
            DiagnosticSeverity::Note | DiagnosticSeverity::Remark => {
                emit_remark(self.location, &self.message);
            }
        }
    }
}

/// Does something, and gives what MLIR said meanwhile, of which nobody else has heard.
pub fn heard<'c, T>(context: &'c Context, work: impl FnOnce() -> T) -> (T, Vec<Said<'c>>) {
    let all: Rc<RefCell<Vec<Said<'c>>>> = Rc::default();
    let sink = all.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let notes = (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok());
        let notes = notes.map(|note| (location_of(context, &note), note.to_string()));
        sink.borrow_mut().push(Said {
            severity: diagnostic.severity(),
            location: location_of(context, &diagnostic),
            message: diagnostic.to_string(),
            notes: notes.collect(),
        });
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    (result, all.take())
}

/// The location of a diagnostic, for as long as the context lives.
fn location_of<'c>(_: &'c Context, diagnostic: &Diagnostic<'_>) -> Location<'c> {
    // SAFETY: locations belong to the context, which outlives its diagnostics.
    unsafe { Location::from_raw(diagnostic.location().to_raw()) }
}
