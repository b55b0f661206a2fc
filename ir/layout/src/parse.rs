//! Text to values. One cursor serves tuples, layouts, tiles, swizzles and composed layouts.

use smallvec::SmallVec;

use crate::error::LayoutError;
use crate::layout::Layout;
use crate::leaf::{Dyn, Leaf};
use crate::parameter::{self, Parameter, Parameters};
use crate::scan;
use crate::swizzle::{ComposedLayout, Inner, Swizzle};
use crate::text;
use crate::tile::Tile;
use crate::tuple::{IntTuple, Kind, MAX_DEPTH, MAX_LEAVES};

/// The place where text was refused, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at offset {offset}: {message}")]
pub struct ParseError {
    /// Byte offset into the text.
    pub offset: usize,
    /// The text of the error: what was expected, what was found.
    pub message: String,
}

type PResult<T> = std::result::Result<T, ParseError>;

struct Cursor<'a> {
    text: &'a str,
    pos: usize,
    leaves: usize,
    parameters: Option<&'a Parameters<'a>>,
    /// Tells whether an extent may be 0.
    may_be_empty: bool,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str, parameters: Option<&'a Parameters<'a>>) -> Self {
        Cursor {
            text,
            pos: 0,
            leaves: 0,
            parameters,
            may_be_empty: false,
        }
    }

    fn peek(&mut self) -> Option<u8> {
        scan::peek(self.text, &mut self.pos)
    }

    fn eat(&mut self, c: u8) -> bool {
        scan::eat(self.text, &mut self.pos, c)
    }

    fn found(&mut self) -> String {
        scan::found(self.text, &mut self.pos)
    }

    fn fail<T>(&mut self, expected: &str) -> PResult<T> {
        let found = self.found();
        Err(ParseError {
            offset: self.pos,
            message: format!("expected {expected}, found {found}"),
        })
    }

    fn expect(&mut self, c: u8) -> PResult<()> {
        if self.eat(c) {
            Ok(())
        } else {
            self.fail(&format!("`{}`", c as char))
        }
    }

    fn end(&mut self) -> PResult<()> {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.fail("the end of the text")
        }
    }

    fn number(&mut self, what: &str) -> PResult<i64> {
        if let (Some(b'$'), Some(parameters)) = (self.peek(), self.parameters) {
            let (value, end) = parameter::read(self.text, self.pos + 1, parameters)?;
            self.pos = end;
            // What is not known yet is at least 1, as most integers of texts are.
            return Ok(value.unwrap_or(1));
        }
        let start = self.pos;
        let bytes = self.text.as_bytes();
        let mut end = start + usize::from(bytes.get(start) == Some(&b'-'));
        let digits = end;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        if end == digits {
            return self.fail(what);
        }
        match self.text[start..end].parse() {
            Ok(v) => {
                self.pos = end;
                Ok(v)
            }
            Err(_) => {
                // Digits are ASCII, so that any cut is between characters.
                const SHOWN: usize = 40;
                let (shown, more) = match end - start {
                    n if n > SHOWN => (&self.text[start..start + SHOWN], "..."),
                    _ => (&self.text[start..end], ""),
                };
                Err(ParseError {
                    offset: start,
                    message: format!("expected an integer of 64 bits, found {shown}{more}"),
                })
            }
        }
    }

    fn word(&mut self) -> &'a str {
        self.peek();
        let start = self.pos;
        let bytes = self.text.as_bytes();
        while bytes.get(self.pos).is_some_and(u8::is_ascii_alphanumeric) {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }

    // `?` has been eaten; what may follow is `{i64}`, `{div=8}` or `{i64 div=8}`.
    fn dynamic(&mut self) -> PResult<Dyn> {
        let mut d = Dyn::I32;
        if !self.eat(b'{') {
            return Ok(d);
        }
        let start = self.pos;
        let mut word = self.word();
        if let Some(width) = match word {
            "i32" => Some(32),
            "i64" => Some(64),
            _ => None,
        } {
            d.width = width;
            if self.eat(b'}') {
                return Ok(d);
            }
            word = self.word();
        }
        if word != "div" {
            self.pos = start;
            return self.fail("`i32`, `i64` or `div=N` after `?{`");
        }
        self.expect(b'=')?;
        let at = self.pos;
        d.div = self.number("a divisor")?;
        if d.div < 0 {
            return Err(ParseError {
                offset: at,
                message: format!(
                    "expected a positive divisor, or 0 of a number that is 0, found {}",
                    d.div
                ),
            });
        }
        self.expect(b'}')?;
        Ok(d)
    }

    fn leaf(&mut self, kind: Kind) -> PResult<Leaf> {
        let what = match kind {
            Kind::IntTuple | Kind::Shape => "an integer, `?` or `(`",
            Kind::Stride => "an integer, `?`, a basis element such as `1@0`, or `(`",
            Kind::Coord => "an integer, `?`, `_` or `(`",
        };
        let value = match self.peek() {
            Some(b'?') => {
                self.pos += 1;
                Leaf::Dynamic(self.dynamic()?)
            }
            Some(b'_') if kind == Kind::Coord => {
                self.pos += 1;
                return Ok(Leaf::Underscore);
            }
            _ => match self.number(what)? {
                0 if kind == Kind::Shape && self.may_be_empty => Leaf::Dynamic(Dyn::ZERO),
                known => Leaf::Static(known),
            },
        };
        if kind != Kind::Stride || self.peek() != Some(b'@') {
            return Ok(value);
        }
        let mut path: SmallVec<[u16; 4]> = SmallVec::new();
        while self.eat(b'@') {
            let at = self.pos;
            let p = self.number("a mode index after `@`")?;
            match u16::try_from(p) {
                Ok(p) if path.len() < MAX_DEPTH => path.push(p),
                _ => {
                    let message =
                        format!("expected at most {MAX_DEPTH} mode indices below 65536, found {p}");
                    return Err(ParseError {
                        offset: at,
                        message,
                    });
                }
            }
        }
        path.reverse();
        Ok(Leaf::Basis {
            value: Box::new(value),
            path,
        })
    }

    fn tuple(&mut self, kind: Kind, depth: usize) -> PResult<IntTuple> {
        if depth == 0 {
            self.leaves = 0;
        }
        if !self.eat(b'(') {
            self.leaves += 1;
            if self.leaves > MAX_LEAVES {
                let message = format!("expected at most {MAX_LEAVES} leaves, found more");
                return Err(ParseError {
                    offset: self.pos,
                    message,
                });
            }
            return Ok(IntTuple::Leaf(self.leaf(kind)?));
        }
        self.deeper(depth)?;
        let mut modes = Vec::new();
        if self.eat(b')') {
            return Ok(IntTuple::Tuple(modes));
        }
        loop {
            modes.push(self.tuple(kind, depth + 1)?);
            if self.eat(b')') {
                return Ok(IntTuple::Tuple(modes));
            }
            if !self.eat(b',') {
                return self.fail("`,` or `)`");
            }
        }
    }

    fn deeper(&mut self, depth: usize) -> PResult<()> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        let message = format!("expected at most {MAX_DEPTH} levels of nesting, found more");
        Err(ParseError {
            offset: self.pos,
            message,
        })
    }

    /// The parameter whose name alone stands here, which is eaten where it is of the kind that `take` takes.
    fn parameter<T>(&mut self, take: impl FnOnce(Parameter) -> Option<T>) -> Option<T> {
        let parameters = self.parameters.filter(|_| self.peek() == Some(b'$'))?;
        let name = parameter::name_at(self.text, self.pos + 1);
        let value = take(parameters(name).ok()?)?;
        self.pos += 1 + name.len();
        Some(value)
    }

    fn layout(&mut self) -> PResult<Layout> {
        self.peek();
        let start = self.pos;
        let given = self.parameter(|parameter| match parameter {
            Parameter::Layout(layout) => Some(layout),
            _ => None,
        });
        if let Some(layout) = given {
            return Ok(layout);
        }
        if let Some((layout, end)) = text::read_layout(self.text, start) {
            self.pos = end;
            return Ok(layout);
        }
        let shape = self.tuple(Kind::Shape, 0)?;
        let made = if self.eat(b':') {
            let stride = self.tuple(Kind::Stride, 0)?;
            Layout::new(shape, stride)
        } else {
            Layout::col_major(&shape)
        };
        made.map_err(|e| at(start, e))
    }

    fn tile(&mut self, depth: usize) -> PResult<Tile> {
        let given = self.parameter(|parameter| match parameter {
            Parameter::Tile(tile) => Some(tile),
            _ => None,
        });
        if let Some(tile) = given {
            return Ok(tile);
        }
        match self.peek() {
            Some(b'_') => {
                self.pos += 1;
                Ok(Tile::Underscore)
            }
            Some(b'[') => {
                self.pos += 1;
                self.deeper(depth)?;
                let mut modes = Vec::new();
                loop {
                    modes.push(self.tile(depth + 1)?);
                    if self.eat(b']') {
                        return Ok(Tile::Modes(modes));
                    }
                    if !self.eat(b';') {
                        return self.fail("`;` or `]`");
                    }
                }
            }
            _ => Ok(Tile::Layout(self.layout()?)),
        }
    }

    fn swizzle(&mut self) -> PResult<Swizzle> {
        self.peek();
        let start = self.pos;
        if !self.eat(b'S') {
            return self.fail("`S<B,M,S>`");
        }
        self.expect(b'<')?;
        let b = self.number("the number of bits B")?;
        self.expect(b',')?;
        let m = self.number("the base M")?;
        self.expect(b',')?;
        let s = self.number("the shift S")?;
        self.expect(b'>')?;
        Swizzle::new(b, m, s).map_err(|e| at(start, e))
    }

    fn composed(&mut self) -> PResult<ComposedLayout> {
        let inner = match self.peek() {
            Some(b'S') => Inner::Swizzle(self.swizzle()?),
            _ => Inner::Layout(self.layout()?),
        };
        self.keyword("o")?;
        let offset = self.tuple(Kind::IntTuple, 0)?;
        self.keyword("o")?;
        let start = self.pos;
        let outer = self.layout()?;
        ComposedLayout::new(inner, offset, outer).map_err(|e| at(start, e))
    }

    fn keyword(&mut self, word: &str) -> PResult<()> {
        let start = self.pos;
        if self.word() == word {
            return Ok(());
        }
        self.pos = start;
        self.fail(&format!("`{word}`"))
    }
}

fn at(offset: usize, e: LayoutError) -> ParseError {
    match e {
        LayoutError::Parse(p) => p,
        e => ParseError {
            offset,
            message: e.to_string(),
        },
    }
}

fn whole<'a, T>(
    text: &'a str,
    parameters: Option<&'a Parameters<'a>>,
    f: impl FnOnce(&mut Cursor<'a>) -> PResult<T>,
) -> PResult<T> {
    let mut c = Cursor::new(text, parameters);
    let v = f(&mut c)?;
    c.end()?;
    Ok(v)
}

impl IntTuple {
    /// Reads `(1,(2,?{i64}),?{div=8})` and the like. Errors: what `kind` does not allow; more than 64 levels.
    pub fn parse(text: &str, kind: Kind) -> PResult<IntTuple> {
        Self::read(text, kind, None)
    }

    /// Reads what [`IntTuple::parse`] does, with `$D` and `$(D/4)` where an integer may stand. Errors: as there, and those of parameters.
    pub fn parse_with(text: &str, kind: Kind, parameters: &Parameters<'_>) -> PResult<IntTuple> {
        Self::read(text, kind, Some(parameters))
    }

    fn read(text: &str, kind: Kind, parameters: Option<&Parameters<'_>>) -> PResult<IntTuple> {
        let t = whole(text, parameters, |c| c.tuple(kind, 0))?;
        if kind == Kind::Stride {
            t.check_stride().map_err(|e| at(0, e))?;
        }
        Ok(t)
    }
}

impl Layout {
    /// Reads `(2,3):(1,2)`, or a shape alone, which is column-major.
    pub fn parse(text: &str) -> PResult<Layout> {
        whole(text, None, Cursor::layout)
    }

    /// Reads what [`Layout::parse`] does, with parameters where integers and layouts may stand. Errors: as there, and those of parameters.
    pub fn parse_with(text: &str, parameters: &Parameters<'_>) -> PResult<Layout> {
        whole(text, Some(parameters), Cursor::layout)
    }

    /// Reads what [`Layout::parse_with`] does, of a tensor that may have no elements: an extent of 0 is [`Dyn::ZERO`], as layouts have no such
    /// extent, and an unknown one may have any value.
    pub fn parse_of_tensor(text: &str, parameters: Option<&Parameters<'_>>) -> PResult<Layout> {
        whole(text, parameters, |c| {
            c.may_be_empty = true;
            c.layout()
        })
    }
}

impl Tile {
    /// Reads `[4:1;(2,2):(1,8);_]`; also a single layout, or `_`.
    pub fn parse(text: &str) -> PResult<Tile> {
        whole(text, None, |c| c.tile(0))
    }

    /// Reads what [`Tile::parse`] does, with parameters where integers, layouts and tiles may stand. Errors: as there, and those of
    /// parameters.
    pub fn parse_with(text: &str, parameters: &Parameters<'_>) -> PResult<Tile> {
        whole(text, Some(parameters), |c| c.tile(0))
    }
}

impl Swizzle {
    /// Reads `S<3,4,3>`.
    pub fn parse(text: &str) -> PResult<Swizzle> {
        whole(text, None, Cursor::swizzle)
    }

    /// Reads what [`Swizzle::parse`] does, with parameters where integers may stand. Errors: as there, and those of parameters.
    pub fn parse_with(text: &str, parameters: &Parameters<'_>) -> PResult<Swizzle> {
        whole(text, Some(parameters), Cursor::swizzle)
    }
}

impl ComposedLayout {
    /// Reads `S<3,5,4> o 0 o (8,4):(1,8)`; a layout may stand in the place of the swizzle.
    pub fn parse(text: &str) -> PResult<ComposedLayout> {
        whole(text, None, Cursor::composed)
    }

    /// Reads what [`ComposedLayout::parse`] does, with parameters where integers and layouts may stand. Errors: as there, and those of
    /// parameters.
    pub fn parse_with(text: &str, parameters: &Parameters<'_>) -> PResult<ComposedLayout> {
        whole(text, Some(parameters), Cursor::composed)
    }
}
