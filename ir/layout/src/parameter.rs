//! Parameters in texts: `$D`, and `$(D / 4 + 1)` with arithmetic on them.
//!
//! Where a text of the algebra has an integer, it may have a parameter of a generic type. What parameters stand for, whoever reads the text says
//! ([`Parameters`]); where that is not known yet, the text is read all the same, as far as it is known to be one.
//!
//! Arithmetic is that of integers of 64 bits: `+ - *`, `/` (exact, or an error), `%` (of a divisor above 0, never negative), parentheses, and
//! `ceil_div(a,b)`, `min(a,b)`, `max(a,b)`.

use crate::layout::Layout;
use crate::parse::ParseError;
use crate::scan;
use crate::tile::Tile;

/// The most levels of parentheses in an expression.
const MAX_NESTING: usize = 64;

/// The meaning of a parameter where a text is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// A value that is not known yet.
    Unknown,
    /// An integer.
    Integer(i64),
    /// A layout, where a text has one.
    Layout(Layout),
    /// A tile, where a text has one.
    Tile(Tile),
}

/// The parameters of a text by name. Errors: a name that none has.
pub type Parameters<'p> = dyn Fn(&str) -> Result<Parameter, String> + 'p;

/// An integer that is written with parameters; none where one of them is not known yet.
pub type Value = Option<i64>;

/// The value of a whole text that is an expression, without a `$` before it. Errors: no expression, and what it asks for that no integer
/// is.
pub fn evaluate(text: &str, parameters: &Parameters<'_>) -> Result<Value, ParseError> {
    let mut reader = Reader::new(text, 0, parameters);
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => reader.fail("an operator or the end"),
    }
}

/// The parameter that an expression alone names.
pub fn name_of(text: &str) -> Option<&str> {
    let text = text.trim();
    (name_at(text, 0) == text && !text.is_empty()).then_some(text)
}

/// Reads what follows a `$` at `pos`: a name, or an expression in parentheses; also answers where it ended. Errors: something else there, and
/// those of [`evaluate`].
pub fn read(
    text: &str,
    pos: usize,
    parameters: &Parameters<'_>,
) -> Result<(Value, usize), ParseError> {
    let mut reader = Reader::new(text, pos, parameters);
    let value = match text.as_bytes().get(pos) {
        Some(b'(') => reader.factor()?,
        _ => match name_at(text, pos) {
            "" => return reader.fail("a parameter's name or `(` behind `$`"),
            _ => reader.factor()?,
        },
    };
    Ok((value, reader.pos))
}

/// The name that begins at `pos`; empty where none does.
pub(crate) fn name_at(text: &str, pos: usize) -> &str {
    let rest = text.get(pos..).unwrap_or_default();
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return "";
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &rest[..end.unwrap_or(rest.len())]
}

struct Reader<'a> {
    text: &'a str,
    pos: usize,
    parameters: &'a Parameters<'a>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, pos: usize, parameters: &'a Parameters<'a>) -> Self {
        let depth = 0;
        Reader {
            text,
            pos,
            parameters,
            depth,
        }
    }

    fn peek(&mut self) -> Option<u8> {
        scan::peek(self.text, &mut self.pos)
    }

    fn eat(&mut self, c: u8) -> bool {
        scan::eat(self.text, &mut self.pos, c)
    }

    fn error<T>(&self, offset: usize, message: String) -> Result<T, ParseError> {
        Err(ParseError { offset, message })
    }

    fn fail<T>(&mut self, expected: &str) -> Result<T, ParseError> {
        let found = scan::found(self.text, &mut self.pos);
        self.error(self.pos, format!("expected {expected}, found {found}"))
    }

    fn sum(&mut self) -> Result<Value, ParseError> {
        let mut left = self.product()?;
        loop {
            let at = self.pos;
            let op = match self.peek() {
                Some(c @ (b'+' | b'-')) => c,
                _ => return Ok(left),
            };
            self.pos += 1;
            let right = self.product()?;
            left = self.apply(at, op, left, right)?;
        }
    }

    fn product(&mut self) -> Result<Value, ParseError> {
        let mut left = self.factor()?;
        loop {
            let at = self.pos;
            let op = match self.peek() {
                Some(c @ (b'*' | b'/' | b'%')) => c,
                _ => return Ok(left),
            };
            self.pos += 1;
            let right = self.factor()?;
            left = self.apply(at, op, left, right)?;
        }
    }

    fn factor(&mut self) -> Result<Value, ParseError> {
        let start = self.pos;
        match self.peek() {
            Some(b'(') => {
                self.pos += 1;
                let value = self.nested(Self::sum)?;
                self.close()?;
                Ok(value)
            }
            Some(b'-') => {
                self.pos += 1;
                let value = self.nested(Self::factor)?;
                self.apply(start, b'-', Some(0), value)
            }
            Some(c) if c.is_ascii_digit() => self.number().map(Some),
            _ => {
                let name = name_at(self.text, self.pos);
                if name.is_empty() {
                    return self.fail("an integer, a parameter or `(`");
                }
                let at = self.pos;
                self.pos += name.len();
                match name {
                    "min" | "max" | "ceil_div" if self.eat(b'(') => {
                        let left = self.nested(Self::sum)?;
                        if !self.eat(b',') {
                            return self.fail("`,`");
                        }
                        let right = self.nested(Self::sum)?;
                        self.close()?;
                        self.apply(at, name.as_bytes()[1], left, right)
                    }
                    _ => self.parameter(at, name),
                }
            }
        }
    }

    fn close(&mut self) -> Result<(), ParseError> {
        match self.eat(b')') {
            true => Ok(()),
            false => self.fail("an operator or `)`"),
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, ParseError>,
    ) -> Result<Value, ParseError> {
        if self.depth == MAX_NESTING {
            let message = format!("expected at most {MAX_NESTING} levels of nesting, found more");
            return self.error(self.pos, message);
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Result<i64, ParseError> {
        let rest = &self.text[self.pos..];
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let digits = &rest[..end.unwrap_or(rest.len())];
        let at = self.pos;
        self.pos += digits.len();
        match digits.parse() {
            Ok(value) => Ok(value),
            Err(_) => self.error(at, "expected an integer of 64 bits".to_owned()),
        }
    }

    fn parameter(&mut self, at: usize, name: &str) -> Result<Value, ParseError> {
        match (self.parameters)(name) {
            Ok(Parameter::Unknown) => Ok(None),
            Ok(Parameter::Integer(value)) => Ok(Some(value)),
            Ok(Parameter::Layout(layout)) => self.error(
                at,
                format!(
                    "expected an integer, found the parameter {name}, which is the layout {layout}"
                ),
            ),
            Ok(Parameter::Tile(tile)) => self.error(
                at,
                format!(
                    "expected an integer, found the parameter {name}, which is the tile {tile}"
                ),
            ),
            Err(message) => self.error(at, message),
        }
    }

    /// Computes `left op right`, of which each may be unknown; functions are named by their second letter.
    fn apply(&self, at: usize, op: u8, left: Value, right: Value) -> Result<Value, ParseError> {
        if matches!(op, b'/' | b'%' | b'e') && right.is_some_and(|right| right < 1) {
            let found = right.unwrap_or_default();
            return self.error(
                at,
                format!("expected a divisor of at least 1, found {found}"),
            );
        }
        let (Some(left), Some(right)) = (left, right) else {
            return Ok(None);
        };
        let value = match op {
            b'+' => left.checked_add(right),
            b'-' => left.checked_sub(right),
            b'*' => left.checked_mul(right),
            b'/' if left % right != 0 => {
                return self.error(
                    at,
                    format!("expected a multiple of {right}, found {left}; ceil_div({left},{right}) rounds up"),
                );
            }
            b'/' => Some(left / right),
            b'%' => Some(left.rem_euclid(right)),
            b'i' => Some(left.min(right)),
            b'a' => Some(left.max(right)),
            _ => left.checked_add(right - 1).map(|sum| sum.div_euclid(right)),
        };
        match value {
            Some(value) => Ok(Some(value)),
            None => self.error(
                at,
                "expected an integer of 64 bits, found an overflow".to_owned(),
            ),
        }
    }
}
