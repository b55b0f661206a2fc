//! Text to tokens. Tokens are made as the parser asks for them.

use super::error::{ParseError, excerpt};

/// Tokens borrow from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name: of an opcode, a symbol, a label, or with `%` of a register.
    Word(&'a str),
    /// The name that follows a dot: a directive, a type, a modifier. The dot is left out.
    Dotted(&'a str),
    /// A number as it is written, without a sign.
    Number(&'a str),
    /// The text between quotes, escapes as they are written.
    Quoted(&'a str),
    Punct(char),
    End,
}

impl Token<'_> {
    /// The name of the token in an error.
    pub(super) fn describe(self) -> String {
        match self {
            Token::Word(text) | Token::Number(text) => excerpt(text),
            Token::Dotted(text) => format!("`.{}", excerpt(text).trim_start_matches('`')),
            Token::Quoted(text) => format!("the string {}", excerpt(text)),
            Token::Punct(c) => format!("`{c}`"),
            Token::End => "the end of the text".into(),
        }
    }
}

/// A token and where it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexed<'a> {
    pub token: Token<'a>,
    /// The position in the text, in bytes.
    pub start: usize,
    /// From 1.
    pub line: u32,
    /// The comment to the end of the line that stands behind the token before; empty if there is none.
    pub comment: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer {
            text,
            at: 0,
            line: 1,
        }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn slice(&self, start: usize) -> &'a str {
        // Both ends are at ASCII characters or at the ends of runs between them.
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&keep) {
            self.at += 1;
        }
    }

    fn error(&self, start: usize, line: u32, expected: &str, found: String) -> ParseError {
        let cure = "the text was cut off or changed: compile the kernel again";
        ParseError::at(self.text, start, line, expected, found, cure)
    }

    /// Skips white space and comments, and returns the first of these that goes to the end of the line that it begins on.
    fn skip_blank(&mut self) -> Result<&'a str, ParseError> {
        let line = self.line;
        let mut comment = "";
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' => {
                    self.line = self.line.saturating_add(1);
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.byte(1) == Some(b'/') => {
                    let start = self.at;
                    self.skip_while(|b| b != b'\n');
                    if self.line == line && comment.is_empty() {
                        comment = self.slice(start);
                    }
                }
                b'/' if self.byte(1) == Some(b'*') => self.skip_block_comment()?,
                _ => break,
            }
        }
        Ok(comment)
    }

    fn skip_block_comment(&mut self) -> Result<(), ParseError> {
        let (start, line) = (self.at, self.line);
        self.at += 2;
        loop {
            match self.byte(0) {
                Some(b'*') if self.byte(1) == Some(b'/') => {
                    self.at += 2;
                    return Ok(());
                }
                Some(b'\n') => self.line = self.line.saturating_add(1),
                Some(_) => {}
                None => {
                    let found = "the end of the text".to_string();
                    return Err(self.error(start, line, "`*/` after this `/*`", found));
                }
            }
            self.at += 1;
        }
    }

    pub(super) fn next(&mut self) -> Result<Lexed<'a>, ParseError> {
        let comment = self.skip_blank()?;
        let (start, line) = (self.at, self.line);
        let token = match self.byte(0) {
            None => Token::End,
            // `.5`, which stands behind no name.
            Some(b'.') if self.byte(1).is_some_and(|b| b.is_ascii_digit()) && self.is_apart() => {
                self.number()
            }
            Some(b'.') => {
                self.at += 1;
                self.dotted(start, line)?
            }
            Some(b'"') => self.quoted()?,
            Some(byte) if byte.is_ascii_digit() => self.number(),
            Some(byte) if is_word(byte) || byte == b'%' => {
                self.at += 1;
                self.skip_while(is_word);
                match self.slice(start) {
                    "%" => Token::Punct('%'),
                    bad @ "$" => {
                        return Err(self.error(start, line, "a name", excerpt(bad)));
                    }
                    name => Token::Word(name),
                }
            }
            Some(
                byte @ (b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b';' | b':'
                | b'=' | b'+' | b'-' | b'!' | b'@' | b'|' | b'*' | b'/' | b'~' | b'^'
                | b'&' | b'?'),
            ) => {
                self.at += 1;
                Token::Punct(char::from(byte))
            }
            Some(_) => {
                let found = self.text.get(start..).and_then(|rest| rest.chars().next());
                let found = excerpt(found.unwrap_or_default().encode_utf8(&mut [0; 4]));
                return Err(self.error(start, line, "PTX", found));
            }
        };
        Ok(Lexed {
            token,
            start,
            line,
            comment,
        })
    }

    /// Tells whether no name ends where the next token begins.
    fn is_apart(&self) -> bool {
        let before = self
            .at
            .checked_sub(1)
            .and_then(|at| self.text.as_bytes().get(at));
        before.is_some_and(|byte| !is_word(*byte))
    }

    /// A modifier may have colons in it, in pairs: `.shared::cta`.
    fn dotted(&mut self, start: usize, line: u32) -> Result<Token<'a>, ParseError> {
        let name = self.at;
        loop {
            self.skip_while(is_word);
            let pair = self.byte(0) == Some(b':') && self.byte(1) == Some(b':');
            if !pair || !self.byte(2).is_some_and(is_word) {
                break;
            }
            self.at += 2;
        }
        match self.slice(name) {
            "" => Err(self.error(start, line, "a name after `.`", "none".into())),
            name => Ok(Token::Dotted(name)),
        }
    }

    fn quoted(&mut self) -> Result<Token<'a>, ParseError> {
        let (start, line) = (self.at, self.line);
        self.at += 1;
        loop {
            match self.byte(0) {
                Some(b'"') => {
                    let inside = self.text.get(start + 1..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(Token::Quoted(inside));
                }
                Some(b'\\') if self.byte(1).is_some_and(|b| b != b'\n') => self.at += 2,
                Some(b'\n') | None => {
                    let found = "the end of the line".to_string();
                    return Err(self.error(start, line, "`\"` at the end of the string", found));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// All that may belong to a number; `number::parse` judges it.
    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let decimal =
            !(bytes[start] == b'0' && self.byte(1).is_some_and(|b| b.is_ascii_alphabetic()));
        self.skip_while(is_word);
        if !decimal {
            return Token::Number(self.slice(start));
        }
        if self.byte(0) == Some(b'.') && self.slice(start).bytes().all(|b| b.is_ascii_digit()) {
            self.at += 1;
            self.skip_while(is_word);
        }
        let exponent = matches!(bytes[self.at - 1], b'e' | b'E');
        if exponent && matches!(self.byte(0), Some(b'+' | b'-')) {
            self.at += 1;
            self.skip_while(is_word);
        }
        Token::Number(self.slice(start))
    }

    /// The text up to the brace that closes a block whose opening brace was the last token, and
    /// moves behind that brace.
    pub(super) fn raw_block(&mut self) -> Result<&'a str, ParseError> {
        let (start, line) = (self.at, self.line);
        let mut open = 1u64;
        loop {
            self.skip_blank()?;
            match self.byte(0) {
                Some(b'{') => open += 1,
                Some(b'}') => open -= 1,
                Some(b'"') => {
                    self.quoted()?;
                    continue;
                }
                Some(_) => {}
                None => {
                    let found = "the end of the text".to_string();
                    return Err(self.error(start, line, "`}` at the end of the section", found));
                }
            }
            self.at += 1;
            if open == 0 {
                return Ok(self.text.get(start..self.at - 1).unwrap_or_default().trim());
            }
        }
    }
}
