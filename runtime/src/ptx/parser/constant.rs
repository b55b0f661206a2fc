//! Constant expressions (PTX ISA, "Constant Expressions"): of 64 bits, with the operators of C.

use super::*;

/// Operators by their precedence, those that bind least first; of one precedence, the longer ones first.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Longer operators that begin as shorter ones do.
const LONGER: [&str; 8] = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];

/// The numbers that an operator is applied to.
enum Numbers {
    /// Two integers, and whether one of them is unsigned.
    Integers([u64; 2], bool),
    Reals([f64; 2]),
}

impl<'a> Parser<'a> {
    /// A number, or an expression of numbers.
    pub(super) fn constant(&mut self, what: &str) -> Result<Immediate> {
        let first = self.unary(what)?;
        self.behind(first, what)
    }

    /// The rest of an expression, behind its first number.
    pub(super) fn behind(&mut self, first: Immediate, what: &str) -> Result<Immediate> {
        let value = self.binary(first, 0, what)?;
        if self.token() != Token::Punct('?') {
            return Ok(value);
        }
        let holds = self.truth(value, self.current)?;
        self.advance()?;
        let yes = self.nested(|p| p.constant(what))?;
        self.expect(':', "between the values of a choice")?;
        let no = self.nested(|p| p.constant(what))?;
        Ok(if holds { yes } else { no })
    }

    /// Tells whether an expression goes on.
    pub(super) fn goes_on(&self) -> bool {
        self.token() == Token::Punct('?') || self.operator().is_some()
    }

    /// The operator at the current token, and its precedence.
    fn operator(&self) -> Option<(&'static str, usize)> {
        let Token::Punct(c) = self.token() else {
            return None;
        };
        let rest = self.lexer.text().get(self.current.start..)?;
        let longer = LONGER.iter().find(|longer| rest.starts_with(**longer));
        let mut buffer = [0; 4];
        let name = longer.copied().unwrap_or(c.encode_utf8(&mut buffer));
        OPERATORS
            .iter()
            .enumerate()
            .find_map(|(precedence, names)| {
                let found = names.iter().find(|found| **found == name)?;
                Some((*found, precedence))
            })
    }

    fn binary(&mut self, mut left: Immediate, least: usize, what: &str) -> Result<Immediate> {
        while let Some((operator, precedence)) = self.operator().filter(|found| found.1 >= least) {
            let at = self.current;
            for _ in 0..operator.len() {
                self.advance()?;
            }
            let right = self.unary(what)?;
            let right = match precedence + 1 < OPERATORS.len() {
                true => self.nested(|p| p.binary(right, precedence + 1, what))?,
                false => right,
            };
            left = self.applied(operator, left, right, at)?;
        }
        Ok(left)
    }

    fn unary(&mut self, what: &str) -> Result<Immediate> {
        let Token::Punct(sign @ ('+' | '-' | '~' | '!' | '(')) = self.token() else {
            if self.token() == Token::Word("WARP_SZ") {
                self.advance()?;
                return Ok(integer(32));
            }
            return self.immediate(false, what);
        };
        self.advance()?;
        if sign == '-' && matches!(self.token(), Token::Number(_)) {
            return self.immediate(true, what);
        }
        if sign == '(' {
            if let Token::Dotted(ty @ ("s64" | "u64")) = self.token() {
                self.advance()?;
                self.expect(')', "after the type of a number")?;
                let at = self.current;
                let value = self.nested(|p| p.unary(what))?;
                let bits = self.integer(value, at)?;
                let unsigned = ty == "u64";
                return Ok(Immediate::Int { bits, unsigned });
            }
            let value = self.nested(|p| p.constant(what))?;
            self.expect(')', "after an expression")?;
            return Ok(value);
        }
        let at = self.current;
        let value = self.nested(|p| p.unary(what))?;
        Ok(match (sign, value) {
            ('+', value) => value,
            ('-', Immediate::Int { bits, unsigned }) => Immediate::Int {
                bits: bits.wrapping_neg(),
                unsigned,
            },
            ('-', Immediate::F32(bits)) => Immediate::F32(bits ^ 1 << 31),
            ('-', Immediate::F64(bits)) => Immediate::F64(bits ^ 1 << 63),
            ('~', value) => Immediate::Int {
                bits: !self.integer(value, at)?,
                unsigned: matches!(value, Immediate::Int { unsigned: true, .. }),
            },
            (_, value) => integer(u64::from(!self.truth(value, at)?)),
        })
    }

    fn integer(&self, value: Immediate, at: Lexed<'a>) -> Result<u64> {
        match value {
            Immediate::Int { bits, .. } => Ok(bits),
            _ => Err(self.error_at(at, "an expression of integers", CUT)),
        }
    }

    fn truth(&self, value: Immediate, at: Lexed<'a>) -> Result<bool> {
        Ok(self.integer(value, at)? != 0)
    }

    /// The number that a binary operator makes of two.
    fn applied(
        &self,
        operator: &str,
        left: Immediate,
        right: Immediate,
        at: Lexed<'a>,
    ) -> Result<Immediate> {
        const OF_ONE_KIND: &str =
            "an operator of two integers, or + - * / of two floating-point numbers";
        let Some(numbers) = numbers(left, right) else {
            return Err(self.error_at(at, OF_ONE_KIND, CUT));
        };
        let (a, b, unsigned) = match numbers {
            Numbers::Integers([a, b], unsigned) => (a, b, unsigned),
            Numbers::Reals([a, b]) => {
                let value = match operator {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    _ => return Err(self.error_at(at, OF_ONE_KIND, CUT)),
                };
                return Ok(Immediate::F64(value.to_bits()));
            }
        };
        if matches!(operator, "/" | "%") && b == 0 {
            return Err(self.error_at(at, "a divisor that is not 0", CUT));
        }
        let (x, y) = (a.cast_signed(), b.cast_signed());
        let less = if unsigned { a < b } else { x < y };
        let is_left_unsigned = matches!(left, Immediate::Int { unsigned: true, .. });
        let (bits, unsigned) = match operator {
            "*" => (a.wrapping_mul(b), unsigned),
            "/" if unsigned => (a / b, true),
            "/" => (x.wrapping_div(y).cast_unsigned(), false),
            // As ptxas has it, of any sign.
            "%" => (a % b, unsigned),
            "+" => (a.wrapping_add(b), unsigned),
            "-" => (a.wrapping_sub(b), unsigned),
            "<<" => (a.wrapping_shl(b as u32), is_left_unsigned),
            ">>" if is_left_unsigned => (a.wrapping_shr(b as u32), true),
            ">>" => (x.wrapping_shr(b as u32).cast_unsigned(), false),
            "&" => (a & b, unsigned),
            "^" => (a ^ b, unsigned),
            "|" => (a | b, unsigned),
            _ => {
                let holds = match operator {
                    "<" => less,
                    ">=" => !less,
                    "<=" => less || a == b,
                    ">" => !less && a != b,
                    "==" => a == b,
                    "!=" => a != b,
                    "&&" => a != 0 && b != 0,
                    _ => a != 0 || b != 0,
                };
                (u64::from(holds), false)
            }
        };
        Ok(Immediate::Int { bits, unsigned })
    }
}

fn integer(bits: u64) -> Immediate {
    let unsigned = false;
    Immediate::Int { bits, unsigned }
}

/// Two numbers as ones of one kind.
fn numbers(left: Immediate, right: Immediate) -> Option<Numbers> {
    let real = |value| match value {
        Immediate::F32(bits) => Some(f64::from(f32::from_bits(bits))),
        Immediate::F64(bits) => Some(f64::from_bits(bits)),
        Immediate::Int { .. } => None,
    };
    match (left, right) {
        (
            Immediate::Int { bits: a, unsigned },
            Immediate::Int {
                bits: b,
                unsigned: other,
            },
        ) => Some(Numbers::Integers([a, b], unsigned || other)),
        _ => Some(Numbers::Reals([real(left)?, real(right)?])),
    }
}
