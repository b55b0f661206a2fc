//! Tokens to a tree, by recursive descent.

mod body;
mod constant;
mod declaration;
mod module;
mod operand;

use super::ast::{Immediate, Item, Linkage, Module, Source, Space, Type, find};
use super::error::{MAX_BYTES, MAX_DEPTH, ParseError};
use super::lexer::{Lexed, Lexer, Token};
use super::number;

type Result<T> = std::result::Result<T, ParseError>;

const CUT: &str = "the text was cut off or changed: compile the kernel again";
const UNKNOWN: &str =
    "this reader does not know it: compile for an older PTX version, or teach it the directive";

/// Reads PTX text.
///
/// # Errors
/// Where the text is not PTX, uses what this reader does not know, or is larger or deeper than its
/// bounds.
pub fn parse(text: &str) -> Result<Module<'_>> {
    if text.len() > MAX_BYTES {
        return Err(ParseError::at(
            text,
            0,
            1,
            format!("at most {MAX_BYTES} bytes of PTX"),
            format!("{} bytes", text.len()),
            "split the module",
        ));
    }
    let mut lexer = Lexer::new(text);
    let current = lexer.next()?;
    let mut parser = Parser {
        lexer,
        current,
        depth: 0,
        source: None,
    };
    parser.module()
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    current: Lexed<'a>,
    depth: u32,
    /// The place that the last `.loc` of the function names.
    source: Option<Source<'a>>,
}

impl<'a> Parser<'a> {
    fn token(&self) -> Token<'a> {
        self.current.token
    }

    fn advance(&mut self) -> Result<()> {
        self.current = self.lexer.next()?;
        Ok(())
    }

    /// An error at the current token.
    fn error<T>(&self, expected: impl Into<String>, cure: &'static str) -> Result<T> {
        Err(self.error_at(self.current, expected, cure))
    }

    fn error_at(
        &self,
        at: Lexed<'a>,
        expected: impl Into<String>,
        cure: &'static str,
    ) -> ParseError {
        ParseError::at(
            self.lexer.text(),
            at.start,
            at.line,
            expected,
            at.token.describe(),
            cure,
        )
    }

    /// Tells whether the current token was that character, which is then taken.
    fn eat(&mut self, c: char) -> Result<bool> {
        let found = self.token() == Token::Punct(c);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, c: char, after: &str) -> Result<()> {
        if self.eat(c)? {
            return Ok(());
        }
        self.error(format!("`{c}` {after}"), CUT)
    }

    fn eat_dotted(&mut self, name: &str) -> Result<bool> {
        let found = self.token() == Token::Dotted(name);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn word(&mut self, what: &str) -> Result<&'a str> {
        let Token::Word(name) = self.token() else {
            return self.error(what, CUT);
        };
        self.advance()?;
        Ok(name)
    }

    /// A name of something that is declared: no register of `%` kind is excluded, `_` is.
    fn name(&mut self, what: &str) -> Result<&'a str> {
        if self.token() == Token::Word("_") {
            return self.error(what, CUT);
        }
        self.word(what)
    }

    fn quoted(&mut self, what: &str) -> Result<&'a str> {
        let Token::Quoted(text) = self.token() else {
            return self.error(what, CUT);
        };
        self.advance()?;
        Ok(text)
    }

    /// A number, whose sign was taken already.
    fn immediate(&mut self, negative: bool, what: &str) -> Result<Immediate> {
        let Token::Number(text) = self.token() else {
            return self.error(what, CUT);
        };
        let Some(value) = number::parse(text, negative) else {
            return self.error(
                format!("{what}: an integer of at most 64 bits, 0f and 8 or 0d and 16 hex digits, or a finite decimal"),
                CUT,
            );
        };
        self.advance()?;
        Ok(value)
    }

    fn u64(&mut self, what: &str) -> Result<u64> {
        let at = self.current;
        match self.immediate(false, what)? {
            Immediate::Int { bits, .. } => Ok(bits),
            _ => Err(self.error_at(at, format!("{what}: an integer"), CUT)),
        }
    }

    fn u32(&mut self, what: &str) -> Result<u32> {
        let at = self.current;
        u32::try_from(self.u64(what)?)
            .map_err(|_| self.error_at(at, format!("{what}: at most {}", u32::MAX), CUT))
    }

    /// `+ 8`, `- 8`, `+ -8`, `+ 4 * 2`, or nothing.
    fn offset(&mut self) -> Result<i64> {
        if !self.eat('+')? && self.token() != Token::Punct('-') {
            return Ok(0);
        }
        let at = self.current;
        match self.constant("an offset")? {
            // An unsigned one wraps, as addresses do.
            Immediate::Int { bits, .. } => Ok(bits.cast_signed()),
            _ => Err(self.error_at(at, "an offset: an integer", CUT)),
        }
    }

    /// Runs `inside` one level deeper.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return self.error(
                format!("at most {MAX_DEPTH} levels of nesting"),
                "flatten the scopes or the lists",
            );
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Items with commas between them, up to `close`, which is taken; the opening character was.
    fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close)? {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(',')? {
                self.expect(close, "at the end of the list")?;
                return Ok(items);
            }
        }
    }

    /// Names with commas between them, at least one.
    fn names(&mut self, what: &str) -> Result<Vec<&'a str>> {
        let mut names = vec![self.name(what)?];
        while self.eat(',')? {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    /// The strings of a pragma, whose name was taken already, and its `;`.
    fn pragma(&mut self) -> Result<Vec<&'a str>> {
        let mut texts = vec![self.quoted("a string after .pragma")?];
        while self.eat(',')? {
            texts.push(self.quoted("a string")?);
        }
        self.expect(';', "after .pragma")?;
        Ok(texts)
    }
}
