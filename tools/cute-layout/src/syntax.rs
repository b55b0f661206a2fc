//! The expression language: text to a tree with positions.
//!
//! ```text
//! text    := expr ["where" facts]                   facts about symbols, as the library reads them
//! expr    := term ("o" term)*                       composition; `S<..> o offset o layout` is a composed layout
//! term    := sum [":" sum]                          a layout
//! sum     := product (("+" | "-") product)*         arithmetic on integers, known and symbolic
//! product := unary (("*" | "/" | "%") unary)*
//! unary   := "-" unary | primary ["^" integer]
//! primary := integer ("@" integer)* | "?"[{..}] | "_" | "(" [expr ("," expr)*] ")" | "<" expr ("," expr)* ">"
//!          | "[" expr (";" expr)* "]" | "S<" b "," m "," s ">" | name ["<" expr,.. ">"] "(" [expr,..] ")" | name
//!          | operation ["<" expr,.. ">"]            a name that begins with "Universal", or with "SM" and a number
//! ```
//!
//! *Invariant:* bounded. Nesting, the number of terms and the length of a basis path have limits, so that no text makes
//! the walk over the tree deep or long.

use std::ops::Range;

use cute_layout::Dyn;

use crate::failure::{Failure, Outcome};

/// The deepest nesting of an expression, calls and tuples together.
pub const MAX_NESTING: usize = 128;
/// The most terms of an expression: integers, tuples, calls.
pub const MAX_TERMS: usize = 16_384;
/// The longest path of a basis element.
const MAX_PATH: usize = 64;

/// An expression and where it stands.
#[derive(Debug)]
pub struct Node<'a> {
    /// The expression itself.
    pub expr: Expr<'a>,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

/// The forms of an expression.
#[derive(Debug)]
pub enum Expr<'a> {
    /// `8`, `-1`, `_8`.
    Int(i64),
    /// `?`, `?{i64 div=8}`.
    Dynamic(Dyn),
    /// `_`.
    Underscore,
    /// `1@0@2`: the value and the path, outermost index last.
    Basis(Box<Node<'a>>, Vec<u16>),
    /// `(a,b)`.
    Tuple(Vec<Node<'a>>),
    /// `<a,b>` or `[a;b]`: a by-mode tiler.
    Tiler(Vec<Node<'a>>),
    /// `S<b,m,s>`.
    Swizzle([i64; 3]),
    /// `shape:stride`.
    Layout(Box<Node<'a>>, Box<Node<'a>>),
    /// `a o b`, `a o offset o b`.
    Compose(Vec<Node<'a>>),
    /// `SM80_16x8x16_F32F16F16F32_TN`, `UniversalCopy<128>`: an operation of CuTe, by its name.
    Operation(String),
    /// `name(args)`. Parameters in angle brackets, `name<p>(x, y)`, are read as `name(x, p, y)`.
    Call(&'a str, Range<usize>, Vec<Node<'a>>),
    /// `a + b - c`: the terms, and whether each is subtracted.
    Sum(Vec<(bool, Node<'a>)>),
    /// `a * b / c % d`: the first factor, and operators with the others.
    Product(Box<Node<'a>>, Vec<(u8, Node<'a>)>),
    /// `-a`.
    Negative(Box<Node<'a>>),
    /// `a^3`.
    Power(Box<Node<'a>>, u32),
    /// A name alone: a symbol, or a direction.
    Name(&'a str),
}

/// The largest exponent.
const MAX_EXPONENT: i64 = 64;

/// A whole text.
#[derive(Debug)]
pub struct Text<'a> {
    /// The expression.
    pub node: Node<'a>,
    /// The bytes of the facts behind `where`.
    pub facts: Option<Range<usize>>,
}

/// Reads a whole text. Errors: what the grammar or the limits do not allow, with the position.
pub fn parse(text: &str) -> Outcome<Text<'_>> {
    let mut p = Parser {
        text,
        pos: 0,
        nesting: 0,
        terms: 0,
    };
    let node = p.expr()?;
    let facts = (p.peek() == Some(b'w') && p.name_at(p.pos) == "where").then(|| {
        let facts = p.pos + "where".len()..text.len();
        p.pos = text.len();
        facts
    });
    if p.peek().is_some() {
        return p.unexpected("the end of the expression");
    }
    Ok(Text { node, facts })
}

struct Parser<'a> {
    text: &'a str,
    pos: usize,
    nesting: usize,
    terms: usize,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.pos).is_some_and(u8::is_ascii_whitespace) {
            self.pos += 1;
        }
        bytes.get(self.pos).copied()
    }

    fn eat(&mut self, c: u8) -> bool {
        let hit = self.peek() == Some(c);
        self.pos += usize::from(hit);
        hit
    }

    // From `start` to what has been read, less the blanks that a look ahead has skipped.
    fn span_from(&self, start: usize) -> Range<usize> {
        start..start + self.text[start..self.pos].trim_ascii_end().len()
    }

    fn unexpected<T>(&mut self, expected: &str) -> Outcome<T> {
        self.peek();
        let next = self.text.get(self.pos..).and_then(|t| t.chars().next());
        let (found, len) = match next {
            Some(c) => (format!("`{}`", c.escape_debug()), c.len_utf8()),
            None => ("the end".to_string(), 0),
        };
        Err(Failure::new(
            format!("expected {expected}, found {found}"),
            self.pos..self.pos + len,
        ))
    }

    fn expect(&mut self, c: u8) -> Outcome<()> {
        if self.eat(c) {
            return Ok(());
        }
        self.unexpected(&format!("`{}`", c as char))
    }

    // An expression, one level deeper.
    fn expr(&mut self) -> Outcome<Node<'a>> {
        self.peek();
        let start = self.pos;
        if self.nesting == MAX_NESTING {
            let message = format!("expected at most {MAX_NESTING} levels of nesting, found more");
            return Err(Failure::new(message, start..start + 1));
        }
        self.nesting += 1;
        let first = self.term()?;
        let node = if self.infix_o() {
            let mut parts = vec![first, self.term()?];
            while self.infix_o() {
                parts.push(self.term()?);
            }
            let span = self.span_from(start);
            Node {
                expr: Expr::Compose(parts),
                span,
            }
        } else {
            first
        };
        self.nesting -= 1;
        Ok(node)
    }

    fn infix_o(&mut self) -> bool {
        let hit = self.peek() == Some(b'o') && self.name_at(self.pos) == "o";
        self.pos += usize::from(hit);
        hit
    }

    fn term(&mut self) -> Outcome<Node<'a>> {
        let shape = self.sum()?;
        if !self.eat(b':') {
            return Ok(shape);
        }
        let stride = self.sum()?;
        let span = shape.span.start..stride.span.end;
        Ok(Node {
            expr: Expr::Layout(Box::new(shape), Box::new(stride)),
            span,
        })
    }

    fn sum(&mut self) -> Outcome<Node<'a>> {
        let first = self.product()?;
        let start = first.span.start;
        if !matches!(self.peek(), Some(b'+' | b'-')) {
            return Ok(first);
        }
        let mut terms = vec![(false, first)];
        while let Some(op @ (b'+' | b'-')) = self.peek() {
            self.pos += 1;
            terms.push((op == b'-', self.product()?));
        }
        let span = self.span_from(start);
        Ok(Node {
            expr: Expr::Sum(terms),
            span,
        })
    }

    fn product(&mut self) -> Outcome<Node<'a>> {
        let first = self.unary()?;
        let start = first.span.start;
        if !matches!(self.peek(), Some(b'*' | b'/' | b'%')) {
            return Ok(first);
        }
        let mut factors = Vec::new();
        while let Some(op @ (b'*' | b'/' | b'%')) = self.peek() {
            self.pos += 1;
            factors.push((op, self.unary()?));
        }
        let span = self.span_from(start);
        Ok(Node {
            expr: Expr::Product(Box::new(first), factors),
            span,
        })
    }

    fn unary(&mut self) -> Outcome<Node<'a>> {
        self.peek();
        let start = self.pos;
        // A minus before digits is the number's, but `-2^2` is -(2^2).
        let mut negative = false;
        while self.peek() == Some(b'-') && !self.digit_at(self.pos + 1) {
            self.pos += 1;
            negative = !negative;
        }
        let mut node = self.primary()?;
        if self.eat(b'^') {
            self.peek();
            let at = self.pos;
            let e = match self.integer("a number as the exponent")? {
                e @ 0..=MAX_EXPONENT => e as u32,
                e => {
                    let message =
                        format!("expected an exponent from 0 to {MAX_EXPONENT}, found {e}");
                    return Err(Failure::new(message, at..self.pos));
                }
            };
            if let Expr::Int(v) = &mut node.expr
                && *v < 0
            {
                (*v, negative) = (v.saturating_neg(), !negative);
            }
            let span = self.span_from(node.span.start);
            node = Node {
                expr: Expr::Power(Box::new(node), e),
                span,
            };
        }
        if negative {
            let span = self.span_from(start);
            node = Node {
                expr: Expr::Negative(Box::new(node)),
                span,
            };
        }
        Ok(node)
    }

    fn digit_at(&self, at: usize) -> bool {
        self.text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
    }

    fn primary(&mut self) -> Outcome<Node<'a>> {
        let first = self.peek();
        let start = self.pos;
        self.terms += 1;
        if self.terms > MAX_TERMS {
            let message = format!("expected at most {MAX_TERMS} terms, found more");
            return Err(Failure::new(message, start..start + 1));
        }
        let expr = match first {
            Some(b'(') => {
                self.pos += 1;
                Expr::Tuple(self.list(b',', b')', true)?)
            }
            Some(b'<') => {
                self.pos += 1;
                Expr::Tiler(self.list(b',', b'>', false)?)
            }
            Some(b'[') => {
                self.pos += 1;
                Expr::Tiler(self.list(b';', b']', false)?)
            }
            Some(b'?') => {
                self.pos += 1;
                Expr::Dynamic(self.dynamic()?)
            }
            Some(b'_') => {
                self.pos += 1;
                match self.text.as_bytes().get(self.pos) {
                    Some(b'0'..=b'9' | b'-') => Expr::Int(self.integer("an integer")?),
                    _ => Expr::Underscore,
                }
            }
            Some(b'-' | b'0'..=b'9') => Expr::Int(self.integer("an integer")?),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.named()?,
            _ => {
                return self.unexpected(
                    "an integer, a symbol, `?`, `_`, a tuple, a tiler `<..>` or `[..]`, a swizzle `S<..>`, or a function",
                );
            }
        };
        let node = Node {
            expr,
            span: self.span_from(start),
        };
        if self.peek() != Some(b'@') || !matches!(node.expr, Expr::Int(_) | Expr::Dynamic(_)) {
            return Ok(node);
        }
        let mut path = Vec::new();
        while self.eat(b'@') {
            self.peek();
            let at = self.pos;
            let index = self.integer("a mode index after `@`")?;
            match u16::try_from(index) {
                Ok(index) if path.len() < MAX_PATH => path.push(index),
                _ => {
                    let message = format!(
                        "expected at most {MAX_PATH} mode indices below 65536, found {index}"
                    );
                    return Err(Failure::new(message, at..self.pos));
                }
            }
        }
        Ok(Node {
            expr: Expr::Basis(Box::new(node), path),
            span: start..self.pos,
        })
    }

    // What follows an opening bracket.
    fn list(&mut self, comma: u8, close: u8, may_be_empty: bool) -> Outcome<Vec<Node<'a>>> {
        let open = self.pos - 1;
        let mut out = Vec::new();
        if may_be_empty && self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(self.expr()?);
            if self.eat(close) {
                return Ok(out);
            }
            if !self.eat(comma) {
                let unclosed = self.peek().is_none();
                return self
                    .unexpected(&format!("`{}` or `{}`", comma as char, close as char))
                    .map_err(|e: Failure| {
                        if unclosed {
                            let bracket = self.text.as_bytes()[open] as char;
                            Failure::new(
                                format!("{}; this `{bracket}` is not closed", e.message),
                                open..open + 1,
                            )
                        } else {
                            e
                        }
                    });
            }
        }
    }

    fn name_at(&self, at: usize) -> &'a str {
        let rest = &self.text.as_bytes()[at..];
        let len = rest
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || **c == b'_')
            .count();
        &self.text[at..at + len]
    }

    fn named(&mut self) -> Outcome<Expr<'a>> {
        let start = self.pos;
        let name = self.name_at(start);
        self.pos += name.len();
        let at = start..self.pos;
        let angle = self.peek() == Some(b'<');
        if angle && matches!(name, "S" | "Sw" | "Swizzle") {
            self.pos += 1;
            let b = self.integer("the number of bits B")?;
            self.expect(b',')?;
            let m = self.integer("the base M")?;
            self.expect(b',')?;
            let s = self.integer("the shift S")?;
            self.expect(b'>')?;
            return Ok(Expr::Swizzle([b, m, s]));
        }
        let mut parameters = Vec::new();
        if angle {
            self.pos += 1;
            parameters = self.list(b',', b'>', false)?;
        }
        if operation(name) {
            // The parameters of an operation's name are a part of it.
            let whole = self.text[start..self.pos].split_whitespace().collect();
            return Ok(Expr::Operation(whole));
        }
        if !self.eat(b'(') {
            if angle {
                return self.unexpected("`(`");
            }
            return Ok(Expr::Name(name));
        }
        let mut args = self.list(b',', b')', true)?;
        let after_first = args.len().min(1);
        args.splice(after_first..after_first, parameters);
        Ok(Expr::Call(name, at, args))
    }

    fn integer(&mut self, what: &str) -> Outcome<i64> {
        self.peek();
        let start = self.pos;
        let bytes = self.text.as_bytes();
        let mut end = start + usize::from(bytes.get(start) == Some(&b'-'));
        let digits = end;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        if end == digits {
            return self.unexpected(what);
        }
        self.pos = end;
        self.text[start..end].parse().map_err(|_| {
            let message =
                "expected an integer that fits a signed 64-bit integer, found one that does not";
            Failure::new(message, start..end)
        })
    }

    // `?` has been read; what may follow is `{i64}`, `{div=8}` or `{i64 div=8}`.
    fn dynamic(&mut self) -> Outcome<Dyn> {
        let mut out = Dyn::I32;
        if !self.eat(b'{') {
            return Ok(out);
        }
        self.peek();
        let mut word = self.name_at(self.pos);
        if let "i32" | "i64" = word {
            out.width = if word == "i64" { 64 } else { 32 };
            self.pos += word.len();
            if self.eat(b'}') {
                return Ok(out);
            }
            self.peek();
            word = self.name_at(self.pos);
        }
        if word != "div" {
            return self.unexpected("`i32`, `i64` or `div=N` after `?{`");
        }
        self.pos += word.len();
        self.expect(b'=')?;
        self.peek();
        let at = self.pos;
        out.div = self.integer("a divisor")?;
        if out.div < 1 {
            let message = format!("expected a positive divisor, found {}", out.div);
            return Err(Failure::new(message, at..self.pos));
        }
        self.expect(b'}')?;
        Ok(out)
    }
}

/// Tells whether a name is that of an operation, as CuTe names them: `UniversalCopy`, `SM80_...`.
fn operation(name: &str) -> bool {
    let sm = name.strip_prefix("SM").and_then(|n| n.split_once('_'));
    name.starts_with("Universal")
        || matches!(name, "AutoVectorizingCopy" | "RED_ADD")
        || sm.is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
