//! Variables and registers.

use super::super::ast::{Attribute, Init, Registers, TextLine, Variable};
use super::*;

impl<'a> Parser<'a> {
    /// `.align 16`, or nothing.
    pub(super) fn align(&mut self) -> Result<Option<u32>> {
        if !self.eat_dotted("align")? {
            return Ok(None);
        }
        let at = self.current;
        let align = self.u32("an alignment in bytes")?;
        if !align.is_power_of_two() {
            return Err(self.error_at(at, "an alignment that is a power of two", CUT));
        }
        Ok(Some(align))
    }

    /// `.v4`, or nothing.
    pub(super) fn vector(&mut self) -> Result<Option<u32>> {
        let length = match self.token() {
            Token::Dotted("v2") => 2,
            Token::Dotted("v4") => 4,
            Token::Dotted("v8") => 8,
            _ => return Ok(None),
        };
        self.advance()?;
        Ok(Some(length))
    }

    pub(super) fn ty(&mut self) -> Result<Type> {
        let ty = match self.token() {
            Token::Dotted(name) => Type::of(name),
            _ => return self.error("a type, such as .b32", CUT),
        };
        let Some(ty) = ty else {
            return self.error("a type, such as .b32", UNKNOWN);
        };
        self.advance()?;
        Ok(ty)
    }

    /// `[4][]`, or nothing.
    pub(super) fn dims(&mut self) -> Result<Vec<Option<u64>>> {
        let mut dims = Vec::new();
        while self.eat('[')? {
            if self.eat(']')? {
                dims.push(None);
            } else {
                dims.push(Some(self.u64("the elements of an array")?));
                self.expect(']', "after the elements of an array")?;
            }
        }
        Ok(dims)
    }

    /// Variables of one declaration, from the state space to the `;`.
    pub(super) fn variables(
        &mut self,
        linkage: Option<Linkage>,
        mut take: impl FnMut(Variable<'a>),
    ) -> Result<()> {
        let space = match self.token() {
            Token::Dotted(name) => find(&Space::ALL, name),
            _ => None,
        };
        let Some(space) = space else {
            return self.error("a state space, such as .global", CUT);
        };
        self.advance()?;
        let mut attributes = Vec::new();
        let mut align = None;
        loop {
            if self.eat_dotted("attribute")? {
                self.expect('(', "after .attribute")?;
                attributes.extend(self.list(')', Self::attribute)?);
            } else if align.is_none() && self.token() == Token::Dotted("align") {
                align = self.align()?;
            } else {
                break;
            }
        }
        let vector = self.vector()?;
        let ty = self.ty()?;
        loop {
            let line = TextLine(self.current.line);
            let name = self.name("the name of a variable")?;
            let dims = self.dims()?;
            let init = if self.eat('=')? {
                Some(self.init()?)
            } else {
                None
            };
            take(Variable {
                linkage,
                space,
                attributes: attributes.clone(),
                align,
                vector,
                ty,
                name,
                dims,
                init,
                line,
            });
            if !self.eat(',')? {
                return self.expect(';', "after a variable");
            }
        }
    }

    fn attribute(&mut self) -> Result<Attribute<'a>> {
        let Token::Dotted(name) = self.token() else {
            return self.error("an attribute, such as .managed", CUT);
        };
        self.advance()?;
        let values = if self.eat('(')? {
            self.list(')', |p| p.u64("a number"))?
        } else {
            Vec::new()
        };
        Ok(Attribute { name, values })
    }

    fn init(&mut self) -> Result<Init<'a>> {
        const EXPECTED: &str = "an initial value: a number, a symbol with an offset, generic(symbol), or a list in braces";
        match self.token() {
            Token::Punct('{') => {
                self.advance()?;
                Ok(Init::List(self.nested(|p| p.list('}', Self::init))?))
            }
            Token::Punct('-' | '+' | '~' | '!' | '(') | Token::Word("WARP_SZ") => {
                Ok(Init::Value(self.constant("a number")?))
            }
            Token::Number(_) => {
                let at = self.current;
                let value = self.constant("a number")?;
                // `0xFF00(symbol)` is one byte of an address.
                if !self.eat('(')? {
                    return Ok(Init::Value(value));
                }
                let Immediate::Int { bits, .. } = value else {
                    return Err(self.error_at(at, "an integer that masks an address", CUT));
                };
                let address = self.address_of(Some(bits))?;
                self.expect(')', "after the address that is masked")?;
                Ok(address)
            }
            Token::Word(_) => self.address_of(None),
            _ => self.error(EXPECTED, CUT),
        }
    }

    fn address_of(&mut self, mask: Option<u64>) -> Result<Init<'a>> {
        let mut symbol = self.name("a symbol, or generic(symbol)")?;
        let generic = symbol == "generic" && self.eat('(')?;
        if generic {
            symbol = self.name("a symbol")?;
            self.expect(')', "after generic(symbol")?;
        }
        Ok(Init::Address {
            symbol,
            offset: self.offset()?,
            generic,
            mask,
        })
    }

    /// After `.reg`.
    pub(super) fn registers(&mut self) -> Result<Registers<'a>> {
        let vector = self.vector()?;
        let ty = self.ty()?;
        let line = TextLine(self.current.line);
        let mut names = Vec::new();
        loop {
            let name = self.name("the name of a register")?;
            let count = if self.eat('<')? {
                let count = self.u32("how many registers")?;
                self.expect('>', "after how many registers")?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.eat(',')? {
                self.expect(';', "after registers")?;
                return Ok(Registers {
                    vector,
                    ty,
                    names,
                    line,
                });
            }
        }
    }
}
