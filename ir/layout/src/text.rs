//! Static layouts from and to text, byte by byte.
//!
//! Reading answers `None` where the text is anything else, or wrong: the cursor of `parse.rs` then reads it again, and
//! words the error.

use std::fmt;

use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::{IntTuple, MAX_DEPTH, MAX_LEAVES, int};

/// Reads static integers, in tuples.
struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
    leaves: usize,
}

/// Reads `shape:stride` of static integers at `pos`; also answers where it ended.
pub(crate) fn read_layout(text: &str, pos: usize) -> Option<(Layout, usize)> {
    let mut r = Reader {
        bytes: text.as_bytes(),
        pos,
        leaves: 0,
    };
    let shape = r.tuple(0)?;
    if r.peek()? != b':' {
        return None;
    }
    (r.pos, r.leaves) = (r.pos + 1, 0);
    let stride = r.tuple(0)?;
    if r.peek() == Some(b'@') {
        return None;
    }
    let layout = Layout::new_static(shape, stride).ok()?;
    Some((layout, r.pos))
}

impl Reader<'_> {
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let c = *self.bytes.get(self.pos)?;
            if !c.is_ascii_whitespace() {
                return Some(c);
            }
            self.pos += 1;
        }
    }

    fn tuple(&mut self, depth: usize) -> Option<IntTuple> {
        if self.peek()? != b'(' {
            self.leaves += 1;
            return (self.leaves <= MAX_LEAVES).then(|| self.number().map(int))?;
        }
        self.pos += 1;
        if depth == MAX_DEPTH || self.peek()? == b')' {
            return None;
        }
        let mut modes = Vec::with_capacity(4);
        loop {
            modes.push(self.tuple(depth + 1)?);
            let c = self.peek()?;
            self.pos += 1;
            match c {
                b',' => {}
                b')' => return Some(IntTuple::Tuple(modes)),
                _ => return None,
            }
        }
    }

    /// An integer of at most 18 digits, which fits.
    #[inline]
    fn number(&mut self) -> Option<i64> {
        let negative = self.bytes.get(self.pos) == Some(&b'-');
        self.pos += usize::from(negative);
        let (start, mut v) = (self.pos, 0i64);
        while let Some(c) = self.bytes.get(self.pos).filter(|c| c.is_ascii_digit()) {
            if self.pos - start == 18 {
                return None;
            }
            v = v * 10 + i64::from(c - b'0');
            self.pos += 1;
        }
        (self.pos > start).then_some(if negative { -v } else { v })
    }
}

/// Gathers text, so that the formatter is called once for a whole layout of ordinary length.
struct Writer<'a, 'b> {
    out: &'a mut fmt::Formatter<'b>,
    bytes: [u8; 120],
    len: usize,
}

impl Writer<'_, '_> {
    #[inline]
    fn byte(&mut self, c: u8) -> fmt::Result {
        if self.len == self.bytes.len() {
            self.flush()?;
        }
        self.bytes[self.len] = c;
        self.len += 1;
        Ok(())
    }

    fn flush(&mut self) -> fmt::Result {
        let text = std::str::from_utf8(&self.bytes[..self.len]).map_err(|_| fmt::Error)?;
        self.len = 0;
        self.out.write_str(text)
    }

    #[inline]
    fn number(&mut self, v: i64) -> fmt::Result {
        const DIGITS: usize = 20;
        if self.len + DIGITS > self.bytes.len() {
            self.flush()?;
        }
        if v < 0 {
            self.bytes[self.len] = b'-';
            self.len += 1;
        }
        let mut rest = v.unsigned_abs();
        let mut digits = 1;
        let mut bound = 10u64;
        while rest >= bound {
            digits += 1;
            match bound.checked_mul(10) {
                Some(b) => bound = b,
                None => break,
            }
        }
        let place = &mut self.bytes[self.len..self.len + digits];
        for c in place.iter_mut().rev() {
            *c = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.len += digits;
        Ok(())
    }

    fn tuple(&mut self, t: &IntTuple) -> fmt::Result {
        match t {
            IntTuple::Leaf(Leaf::Static(v)) => self.number(*v),
            IntTuple::Leaf(l) => {
                self.flush()?;
                fmt::Display::fmt(l, self.out)
            }
            IntTuple::Tuple(modes) => {
                self.byte(b'(')?;
                for (i, m) in modes.iter().enumerate() {
                    if i > 0 {
                        self.byte(b',')?;
                    }
                    self.tuple(m)?;
                }
                self.byte(b')')
            }
        }
    }
}

/// Writes tuples with a colon between.
pub(crate) fn write(out: &mut fmt::Formatter<'_>, tuples: &[&IntTuple]) -> fmt::Result {
    let mut w = Writer {
        out,
        bytes: [0; 120],
        len: 0,
    };
    for (i, t) in tuples.iter().enumerate() {
        if i > 0 {
            w.byte(b':')?;
        }
        w.tuple(t)?;
    }
    w.flush()
}
