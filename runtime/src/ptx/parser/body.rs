//! Bodies of functions.

use super::super::ast::{Guard, Inlined, Instruction, Statement, TextLine};
use super::*;

impl<'a> Parser<'a> {
    /// Up to the closing brace, which is taken.
    pub(super) fn statements(&mut self) -> Result<Vec<Statement<'a>>> {
        let mut statements = Vec::new();
        loop {
            match self.token() {
                Token::Punct('}') => {
                    self.advance()?;
                    return Ok(statements);
                }
                Token::Punct('{') => {
                    self.advance()?;
                    statements.push(Statement::Scope(self.nested(Self::statements)?));
                }
                Token::Punct(';') => self.advance()?,
                Token::Dotted(name) => self.directive(name, &mut statements)?,
                Token::Punct('@') => {
                    let guard = self.guard()?;
                    let line = self.current.line;
                    let opcode = self.word("an instruction after its predicate")?;
                    statements.push(self.instruction(Some(guard), opcode, line)?);
                }
                Token::Word(name) => {
                    let at = self.current;
                    self.advance()?;
                    if self.eat(':')? {
                        if name == "_" {
                            return Err(self.error_at(at, "a label", CUT));
                        }
                        statements.push(self.label(name)?);
                    } else if name.as_bytes()[0].is_ascii_alphabetic() {
                        statements.push(self.instruction(None, name, at.line)?);
                    } else {
                        return Err(self.error_at(at, "an instruction, or a label with `:`", CUT));
                    }
                }
                _ => return self.error("an instruction, a label, a directive or `}`", CUT),
            }
        }
    }

    fn directive(&mut self, name: &'a str, statements: &mut Vec<Statement<'a>>) -> Result<()> {
        match name {
            "reg" => {
                self.advance()?;
                statements.push(Statement::Registers(self.registers()?));
            }
            "loc" => {
                self.advance()?;
                self.source = Some(self.loc()?);
            }
            "pragma" => {
                self.advance()?;
                statements.push(Statement::Pragma(self.pragma()?));
            }
            "local" | "shared" | "param" | "global" | "const" => {
                self.variables(None, |variable| {
                    statements.push(Statement::Variable(variable))
                })?;
            }
            _ => match find(&Linkage::ALL, name) {
                Some(linkage) => {
                    self.advance()?;
                    self.variables(Some(linkage), |variable| {
                        statements.push(Statement::Variable(variable));
                    })?;
                }
                None => {
                    return self.error(
                        "a directive of a body: .reg, .local, .shared, .param, .global, .const, .loc or .pragma",
                        UNKNOWN,
                    );
                }
            },
        }
        Ok(())
    }

    /// After `.loc`.
    fn loc(&mut self) -> Result<Source<'a>> {
        let mut source = Source {
            file: self.u32("the number of a file after .loc")?,
            line: self.u32("a line")?,
            column: self.u32("a column")?,
            inlined: None,
            called_from: "",
        };
        source.called_from = called_from(self.current.comment);
        if !self.eat(',')? {
            return Ok(source);
        }
        if self.token() != Token::Word("function_name") {
            return self.error("`function_name` after .loc and `,`", CUT);
        }
        self.advance()?;
        let label = self.name("the label of a function's name")?;
        let offset = if self.eat('+')? {
            self.u64("an offset")?
        } else {
            0
        };
        self.expect(',', "after the name of a function")?;
        if self.token() != Token::Word("inlined_at") {
            return self.error("`inlined_at` after the name of a function", CUT);
        }
        self.advance()?;
        source.inlined = Some(Inlined {
            function: (label, offset),
            file: self.u32("the number of a file")?,
            line: self.u32("a line")?,
            column: self.u32("a column")?,
        });
        Ok(source)
    }

    fn label(&mut self, name: &'a str) -> Result<Statement<'a>> {
        let Token::Dotted(directive) = self.token() else {
            return Ok(Statement::Label(name));
        };
        match directive {
            "branchtargets" | "calltargets" => {
                self.advance()?;
                let targets = self.names("a label or a function")?;
                self.expect(';', "after the targets")?;
                let calls = directive == "calltargets";
                Ok(Statement::Targets {
                    name,
                    calls,
                    targets,
                })
            }
            "callprototype" => {
                self.advance()?;
                let mut returns = Vec::new();
                if self.eat('(')? {
                    returns = self.list(')', Self::param)?;
                }
                if self.token() != Token::Word("_") {
                    return self.error("`_`, where a function has its name", CUT);
                }
                self.advance()?;
                let mut params = Vec::new();
                if self.eat('(')? {
                    params = self.list(')', Self::param)?;
                }
                let noreturn = self.eat_dotted("noreturn")?;
                self.expect(';', "after .callprototype")?;
                Ok(Statement::Prototype {
                    name,
                    returns,
                    params,
                    noreturn,
                })
            }
            _ => Ok(Statement::Label(name)),
        }
    }

    fn guard(&mut self) -> Result<Guard<'a>> {
        self.expect('@', "before a predicate")?;
        let negated = self.eat('!')?;
        let register = self.name("a predicate register after `@`")?;
        Ok(Guard { negated, register })
    }

    /// After the opcode.
    fn instruction(
        &mut self,
        guard: Option<Guard<'a>>,
        opcode: &'a str,
        line: u32,
    ) -> Result<Statement<'a>> {
        let mut modifiers = Vec::new();
        while let Token::Dotted(name) = self.token() {
            modifiers.push(name);
            self.advance()?;
        }
        let mut operands = Vec::new();
        if self.token() != Token::Punct(';') {
            operands.push(self.operand()?);
            while self.eat(',')? {
                operands.push(self.operand()?);
            }
        }
        self.expect(';', "or `,` after an operand")?;
        Ok(Statement::Instruction(Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            source: self.source,
            line: TextLine(line),
        }))
    }
}

/// The outermost call of LLVM's comment on a place in inlined code: `// FILE:LINE:COLUMN @[ CALL @[ OUTERMOST ] ]`.
fn called_from(comment: &str) -> &str {
    let outermost = comment.rsplit_once("@[").map_or("", |(_, rest)| rest);
    outermost.trim_end_matches([' ', ']', '\r']).trim_start()
}
