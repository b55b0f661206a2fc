//! Text to polynomials.
//!
//! Integers, names, `+ - *`, `/` (exact, or an error), `%` (as in C: the sign of the dividend), `^` with a number,
//! parentheses, and `floor_div(a,b)`, `ceil_div(a,b)`, `div(a,b)` (towards zero), `mod(a,b)` (the sign of the divisor),
//! `min(a,..)`, `max(a,..)`, `abs(a)`, `sign(a)`.

use std::ops::Range;

use super::facts::Scope;
use super::poly::Poly;
use super::{SymError, SymResult, limits};

/// The place where a text was refused, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at offset {}: {message}", .span.start)]
pub struct SymParseError {
    /// The bytes that it is about.
    pub span: Range<usize>,
    /// The text of the error: what was expected, what was found, what to do.
    pub message: String,
    /// The fact that would have been enough, if one is missing.
    pub need: Option<String>,
}

pub(super) type PResult<T> = std::result::Result<T, SymParseError>;

impl Poly {
    /// Reads a symbolic integer. Errors: no such text; an unknown name, where the scope is closed; what the operations
    /// refuse.
    pub fn parse(text: &str, scope: &Scope) -> PResult<Poly> {
        let mut cursor = Cursor::new(text, scope)?;
        let p = cursor.sum()?;
        cursor.end()?;
        Ok(p)
    }
}

pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub pos: usize,
    scope: &'a Scope,
    depth: usize,
    operations: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, scope: &'a Scope) -> PResult<Cursor<'a>> {
        let cursor = Cursor {
            text,
            pos: 0,
            scope,
            depth: 0,
            operations: 0,
        };
        if text.len() > limits::TEXT {
            return cursor.error(
                limits::TEXT..limits::TEXT,
                format!("expected at most {} bytes, found more", limits::TEXT),
            );
        }
        Ok(cursor)
    }

    pub(super) fn error<T>(&self, span: Range<usize>, message: String) -> PResult<T> {
        Err(SymParseError {
            span,
            message,
            need: None,
        })
    }

    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.pos).is_some_and(u8::is_ascii_whitespace) {
            self.pos += 1;
        }
        bytes.get(self.pos).copied()
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        self.peek();
        let hit = self.text.as_bytes()[self.pos..].starts_with(word.as_bytes());
        if hit {
            self.pos += word.len();
        }
        hit
    }

    pub(super) fn fail<T>(&mut self, expected: &str) -> PResult<T> {
        self.peek();
        let next = self.text.get(self.pos..).and_then(|t| t.chars().next());
        let (found, len) = match next {
            Some(c) => (format!("`{}`", c.escape_default()), c.len_utf8()),
            None => ("the end".to_string(), 0),
        };
        self.error(
            self.pos..self.pos + len,
            format!("expected {expected}, found {found}"),
        )
    }

    pub(super) fn end(&mut self) -> PResult<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("an operator or the end"),
        }
    }

    pub(super) fn name(&mut self) -> Option<&'a str> {
        let first = self.peek()?;
        if !first.is_ascii_alphabetic() && first != b'_' {
            return None;
        }
        let start = self.pos;
        let bytes = self.text.as_bytes();
        while bytes
            .get(self.pos)
            .is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_')
        {
            self.pos += 1;
        }
        Some(&self.text[start..self.pos])
    }

    fn number(&mut self, negative: bool) -> PResult<Option<i64>> {
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(None);
        }
        let start = self.pos;
        while self
            .text
            .as_bytes()
            .get(self.pos)
            .is_some_and(u8::is_ascii_digit)
        {
            self.pos += 1;
        }
        let digits = &self.text[start..self.pos];
        let value = digits.parse::<u64>().ok().map(i128::from);
        let value = value.map(|v| if negative { -v } else { v });
        match value.and_then(|v| i64::try_from(v).ok()) {
            Some(v) => Ok(Some(v)),
            None => self.error(
                start..self.pos,
                format!("expected an integer of 64 bits, found {digits}"),
            ),
        }
    }

    fn lift<T>(&mut self, start: usize, result: SymResult<T>) -> PResult<T> {
        self.operations += 1;
        if self.operations > limits::OPERATIONS {
            return self.error(
                start..self.pos,
                format!(
                    "expected at most {} operations, found more",
                    limits::OPERATIONS
                ),
            );
        }
        result.map_err(|e: SymError| SymParseError {
            span: start..self.pos,
            message: e.to_string(),
            need: e.need(),
        })
    }

    pub(super) fn sum(&mut self) -> PResult<Poly> {
        self.depth += 1;
        if self.depth > limits::NESTING {
            return self.error(
                self.pos..self.pos,
                format!(
                    "expected at most {} levels of nesting, found more",
                    limits::NESTING
                ),
            );
        }
        self.peek();
        let start = self.pos;
        let mut p = self.term(false)?;
        loop {
            let negative = match self.peek() {
                Some(b'+') => false,
                Some(b'-') => true,
                _ => break,
            };
            self.pos += 1;
            let next = self.term(negative)?;
            let all = p.add(&next);
            p = self.lift(start, all)?;
        }
        self.depth -= 1;
        Ok(p)
    }

    fn term(&mut self, negative: bool) -> PResult<Poly> {
        self.peek();
        let start = self.pos;
        let mut p = self.unary(negative)?;
        loop {
            let op = match self.peek() {
                Some(c @ (b'*' | b'/' | b'%')) => c,
                _ => return Ok(p),
            };
            self.pos += 1;
            let by = self.unary(false)?;
            let all = match op {
                b'*' => p.mul(&by),
                b'/' => p.exact(&by),
                _ => p.rem(&by),
            };
            p = self.lift(start, all)?;
        }
    }

    pub(super) fn unary(&mut self, mut negative: bool) -> PResult<Poly> {
        while self.eat("-") {
            negative = !negative;
        }
        self.peek();
        let start = self.pos;
        // The least integer has no positive one.
        let before = self.pos;
        if negative && self.number(true).ok().flatten().is_some() && self.peek() != Some(b'^') {
            self.pos = before;
            return match self.number(true)? {
                Some(v) => Ok(Poly::constant(v)),
                None => self.fail("a number"),
            };
        }
        self.pos = before;
        let mut p = self.primary()?;
        if self.eat("^") {
            let Some(e) = self.number(false)? else {
                return self.fail("a number as the exponent");
            };
            if e > i64::from(limits::DEGREE) {
                return self.error(
                    start..self.pos,
                    format!(
                        "expected an exponent of at most {}, found {e}",
                        limits::DEGREE
                    ),
                );
            }
            let base = p;
            p = Poly::constant(1);
            for _ in 0..e {
                let next = p.mul(&base);
                p = self.lift(start, next)?;
            }
        }
        if negative {
            let turned = p.neg();
            p = self.lift(start, turned)?;
        }
        Ok(p)
    }

    fn primary(&mut self) -> PResult<Poly> {
        self.peek();
        let start = self.pos;
        if let Some(v) = self.number(false)? {
            return Ok(Poly::constant(v));
        }
        if self.eat("(") {
            let p = self.sum()?;
            if !self.eat(")") {
                return self.fail("`)` or an operator");
            }
            return Ok(p);
        }
        let Some(name) = self.name() else {
            return self.fail("a symbolic integer");
        };
        if self.eat("(") {
            return self.call(start, name);
        }
        let found = self.scope.get(name);
        match self.lift(start, found.transpose())? {
            Some(p) => Ok(p),
            None => self.error(
                start..self.pos,
                format!("expected a symbol that is known, found {name}; declare it"),
            ),
        }
    }

    fn call(&mut self, start: usize, name: &str) -> PResult<Poly> {
        let named = start..start + name.len();
        let mut args = vec![self.sum()?];
        while self.eat(",") {
            args.push(self.sum()?);
        }
        if !self.eat(")") {
            return self.fail("`,` or `)`");
        }
        let all = match (name, &args[..]) {
            ("floor_div", [a, b]) => a.div_floor(b),
            ("ceil_div", [a, b]) => a.ceil_div(b),
            ("div", [a, b]) => a.div_trunc(b),
            ("mod", [a, b]) => a.rem_floor(b),
            ("abs", [a]) => a.abs(),
            ("sign", [a]) => a.signum(),
            ("min", [_, ..]) => super::atom::least(&args),
            ("max", [_, ..]) => {
                let turned: SymResult<Vec<Poly>> = args.iter().map(Poly::neg).collect();
                turned
                    .and_then(|all| super::atom::least(&all))
                    .and_then(|p| p.neg())
            }
            _ => {
                return self.error(
                    named,
                    format!(
                        "expected floor_div, ceil_div, div or mod of two integers, min or max of some, abs or sign of one, found \
                         {name} of {}",
                        args.len()
                    ),
                );
            }
        };
        self.lift(start, all)
    }
}
