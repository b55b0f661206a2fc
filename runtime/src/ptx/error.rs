//! The errors of PTX text.

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// The depth to which scopes, vectors and initialisers may be nested, all together.
pub const MAX_DEPTH: u32 = 64;

/// The longest excerpt of the text in an error, in characters.
const EXCERPT: usize = 40;

/// The place where PTX text stops making sense, and the cure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}, column {column}: expected {expected}, found {found}; {cure}")]
pub struct ParseError {
    /// The number of the line, from 1.
    pub line: u32,
    /// The place in the line, in characters, from 1.
    pub column: u32,
    /// The text that could stand there.
    pub expected: String,
    /// The text that stands there.
    pub found: String,
    /// The cure that the message ends with.
    pub cure: &'static str,
}

impl ParseError {
    /// An error at byte `at` of `text`, which is in line `line`.
    pub(super) fn at(
        text: &str,
        at: usize,
        line: u32,
        expected: impl Into<String>,
        found: impl Into<String>,
        cure: &'static str,
    ) -> ParseError {
        let before = text.get(..at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(start..).map_or(0, |tail| tail.chars().count());
        ParseError {
            line,
            column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
            expected: expected.into(),
            found: found.into(),
            cure,
        }
    }
}

/// Text as an error shows it: in backquotes, without control characters, cut where it is long.
pub(super) fn excerpt(text: &str) -> String {
    let mut out = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == EXCERPT {
            out.push_str("...");
            break;
        }
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}
