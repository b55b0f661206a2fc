//! Operands of instructions.

use super::super::ast::{Address, Base, Operand, Register, is_special};
use super::*;

const NUMBER: &str = "a number";

impl<'a> Parser<'a> {
    pub(super) fn operand(&mut self) -> Result<Operand<'a>> {
        let first = self.single()?;
        if self.eat('|')? {
            let second = self.single()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single(&mut self) -> Result<Operand<'a>> {
        match self.token() {
            Token::Word("_") => {
                self.advance()?;
                Ok(Operand::Discard)
            }
            Token::Word(_) => {
                let register = self.register()?;
                if is_special(register.name) {
                    return Ok(Operand::Special(register));
                }
                if register.name.starts_with('%') || register.element.is_some() {
                    return Ok(Operand::Register(register));
                }
                if register.name == "WARP_SZ" && self.goes_on() {
                    let unsigned = false;
                    let value = Immediate::Int { bits: 32, unsigned };
                    return Ok(Operand::Immediate(self.behind(value, NUMBER)?));
                }
                Ok(Operand::Symbol {
                    name: register.name,
                    offset: self.offset()?,
                })
            }
            Token::Number(_) | Token::Punct('-' | '+' | '~') => {
                Ok(Operand::Immediate(self.constant(NUMBER)?))
            }
            Token::Punct('!') => {
                let before = (self.lexer, self.current);
                self.advance()?;
                if matches!(self.token(), Token::Word(_)) {
                    return Ok(Operand::Not(self.register()?));
                }
                (self.lexer, self.current) = before;
                Ok(Operand::Immediate(self.constant(NUMBER)?))
            }
            Token::Punct('{') => {
                self.advance()?;
                let items = self.nested(|p| p.list('}', Self::operand))?;
                Ok(Operand::Vector(items))
            }
            Token::Punct('(') => {
                let before = (self.lexer, self.current);
                self.advance()?;
                if matches!(self.token(), Token::Dotted(_)) {
                    (self.lexer, self.current) = before;
                    return Ok(Operand::Immediate(self.constant(NUMBER)?));
                }
                let items = self.nested(|p| p.list(')', Self::operand))?;
                match items[..] {
                    // An expression in parentheses, with more behind it.
                    [Operand::Immediate(value)] if self.goes_on() => {
                        Ok(Operand::Immediate(self.behind(value, NUMBER)?))
                    }
                    _ => Ok(Operand::List(items)),
                }
            }
            Token::Punct('[') => {
                self.advance()?;
                Ok(Operand::Address(self.nested(Self::address)?))
            }
            _ => self.error(
                "an operand: a register, a number, a symbol, `[address]`, `{vector}`, `(list)` or `_`",
                CUT,
            ),
        }
    }

    fn register(&mut self) -> Result<Register<'a>> {
        let name = self.name("a register")?;
        let element = match self.token() {
            Token::Dotted(element) => {
                self.advance()?;
                Some(element)
            }
            _ => None,
        };
        Ok(Register { name, element })
    }

    /// After `[`, up to `]`, which is taken.
    fn address(&mut self) -> Result<Address<'a>> {
        let base = match self.token() {
            Token::Number(_) => Base::Absolute(self.u64("an address")?),
            Token::Word(_) => {
                let register = self.register()?;
                if register.name.starts_with('%') || register.element.is_some() {
                    Base::Register(register)
                } else {
                    Base::Symbol(register.name)
                }
            }
            _ => return self.error("a register, a symbol or a number after `[`", CUT),
        };
        let offset = self.offset()?;
        let mut more = Vec::new();
        while self.eat(',')? {
            more.push(self.operand()?);
        }
        self.expect(']', "at the end of an address")?;
        Ok(Address { base, offset, more })
    }
}
