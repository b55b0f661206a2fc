//! Errors with a position, and how they are shown.

use std::ops::Range;

use cute_layout::LayoutError;
use serde_json::json;

/// A result with a located error.
pub type Outcome<T> = Result<T, Failure>;

/// The longest message that is shown.
const MAX_MESSAGE: usize = 600;
/// The most characters of a text that are shown before and behind the start of the fault.
const WINDOW: usize = 60;

/// A fault, and the bytes of the expression that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Expected, found, and the cure.
    pub message: String,
    /// Bytes of the expression.
    pub span: Range<usize>,
    /// The statement of the library on facts that are missing.
    pub wanted: Option<String>,
    /// The facts about symbols that are missing.
    pub needs: Option<String>,
}

impl Failure {
    /// A failure at a place.
    pub fn new(message: impl Into<String>, span: Range<usize>) -> Failure {
        Failure {
            message: shorten(message.into()),
            span,
            wanted: None,
            needs: None,
        }
    }

    /// The failure for tools: the message, the bytes of the expression that it is about, and the fact that is missing, if one is.
    pub fn to_json(&self) -> serde_json::Value {
        let span = &self.span;
        let mut error = json!({ "message": self.message, "start": span.start, "end": span.end });
        if let Some(fact) = &self.needs {
            error["needs"] = json!(fact);
        }
        json!({ "error": error })
    }

    /// One line: the message and the column, counted from 1 in characters.
    pub fn line(&self, text: &str) -> String {
        let (line, column) = self.position(text);
        let row = if line > 1 {
            format!("line {line}, ")
        } else {
            String::new()
        };
        format!("at {row}column {column}: {}", self.message)
    }

    /// The message, the line of the text and a caret under what it is about.
    pub fn render(&self, text: &str) -> String {
        let start = floor(text, self.span.start);
        let end = floor(text, self.span.end.max(start));
        let from = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let to = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let before: Vec<char> = text[from..start].chars().rev().take(WINDOW + 1).collect();
        let behind: Vec<char> = text[start..to].chars().take(WINDOW + 1).collect();
        let mut shown = String::new();
        let mut indent = before.len().min(WINDOW);
        if before.len() > WINDOW {
            shown.push_str("...");
            indent += 3;
        }
        shown.extend(before.iter().take(WINDOW).rev().map(|c| visible(*c)));
        shown.extend(behind.iter().take(WINDOW).map(|c| visible(*c)));
        if behind.len() > WINDOW {
            shown.push_str("...");
        }
        let width = text[start..end.min(to)].chars().take(WINDOW).count().max(1);
        format!(
            "error: {}\n  | {shown}\n  | {}{}",
            self.line(text),
            " ".repeat(indent),
            "^".repeat(width)
        )
    }

    fn position(&self, text: &str) -> (usize, usize) {
        let before = &text[..floor(text, self.span.start)];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
        (line, column)
    }
}

/// The fault that a function of the language reports: a located failure, or an error of the algebra about the whole call.
#[derive(Debug)]
pub enum Fault {
    /// Located already.
    At(Failure),
    /// About the call.
    Algebra(LayoutError),
    /// About the call, in words of this tool.
    Call(String),
}

impl Fault {
    /// The failure, where what is not located is about `span`.
    pub fn locate(self, span: Range<usize>) -> Failure {
        match self {
            Fault::At(f) => f,
            Fault::Algebra(e) => {
                let wanted = crate::facts::wanted(&e);
                Failure {
                    wanted,
                    ..Failure::new(e.to_string(), span)
                }
            }
            Fault::Call(message) => Failure::new(message, span),
        }
    }
}

impl From<LayoutError> for Fault {
    fn from(e: LayoutError) -> Fault {
        Fault::Algebra(e)
    }
}

impl From<Failure> for Fault {
    fn from(f: Failure) -> Fault {
        Fault::At(f)
    }
}

/// The bytes of a text but for the space around it: what a fault of the whole expression is about.
pub fn whole(text: &str) -> Range<usize> {
    text.len() - text.trim_start().len()..text.trim_end().len()
}

/// The text as it is, or its beginning and end where it is long. Line breaks do not survive.
pub fn shorten(text: String) -> String {
    let text = if text.contains(['\n', '\r']) {
        text.replace(['\n', '\r'], " ")
    } else {
        text
    };
    if text.len() <= MAX_MESSAGE {
        return text;
    }
    let half = MAX_MESSAGE / 2;
    let (head, tail) = (floor(&text, half), floor(&text, text.len() - half));
    format!("{} ... {}", &text[..head], &text[tail..])
}

fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
