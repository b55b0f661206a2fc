//! Module scope, and functions up to their bodies.

use super::super::ast::{Directive, File, Function, Param, Pointer};
use super::*;

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Result<Module<'a>> {
        if !self.eat_dotted("version")? {
            return self.error(
                "`.version`, with which PTX begins",
                "is this PTX? compile the kernel again",
            );
        }
        let version = self.version()?;
        if !self.eat_dotted("target")? {
            return self.error("`.target` after `.version`", CUT);
        }
        let target = self.names("an architecture such as sm_80")?;
        let mut module = Module {
            version,
            target,
            address_size: None,
            items: Vec::new(),
        };
        if self.eat_dotted("address_size")? {
            let at = self.current;
            let size = self.u32("32 or 64")?;
            if size != 32 && size != 64 {
                return Err(self.error_at(at, "an address size of 32 or 64", CUT));
            }
            module.address_size = Some(size);
        }
        while self.token() != Token::End {
            if !self.eat(';')? {
                self.item(&mut module.items)?;
            }
        }
        Ok(module)
    }

    fn version(&mut self) -> Result<(u32, u32)> {
        let parsed = match self.token() {
            Token::Number(text) => text
                .split_once('.')
                .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?))),
            _ => None,
        };
        let Some(version) = parsed else {
            return self.error("a version such as 8.0", CUT);
        };
        self.advance()?;
        Ok(version)
    }

    fn item(&mut self, items: &mut Vec<Item<'a>>) -> Result<()> {
        const EXPECTED: &str = "a directive of module scope: a variable, .func, .entry, .file, .alias, .pragma or .section";
        let Token::Dotted(name) = self.token() else {
            return self.error(EXPECTED, CUT);
        };
        let linkage = find(&Linkage::ALL, name);
        if linkage.is_some() {
            self.advance()?;
        }
        let Token::Dotted(name) = self.token() else {
            return self.error("a variable, .func or .entry", CUT);
        };
        match (name, linkage) {
            ("func" | "entry", _) => {
                self.advance()?;
                items.push(Item::Function(self.function(linkage, name == "entry")?));
            }
            ("global" | "const" | "shared", _) => {
                self.variables(linkage, |variable| items.push(Item::Variable(variable)))?;
            }
            (_, Some(_)) => {
                return self.error(
                    "a variable in .global, .const or .shared, .func or .entry",
                    CUT,
                );
            }
            ("file", None) => {
                self.advance()?;
                items.push(Item::File(self.file()?));
            }
            ("alias", None) => {
                self.advance()?;
                let name = self.name("a name")?;
                self.expect(',', "after the name of an alias")?;
                let of = self.name("the function that the alias stands for")?;
                self.expect(';', "after .alias")?;
                items.push(Item::Alias { name, of });
            }
            ("pragma", None) => {
                self.advance()?;
                items.push(Item::Pragma(self.pragma()?));
            }
            ("section", None) => {
                self.advance()?;
                items.push(self.section()?);
            }
            _ => return self.error(EXPECTED, UNKNOWN),
        }
        Ok(())
    }

    fn file(&mut self) -> Result<File<'a>> {
        let index = self.u32("the number of a file")?;
        let name = self.quoted("the name of a file in quotes")?;
        let mut stamp = None;
        if self.eat(',')? {
            let time = self.u64("the time of a file")?;
            self.expect(',', "after the time of a file")?;
            stamp = Some((time, self.u64("the size of a file")?));
        }
        Ok(File { index, name, stamp })
    }

    fn section(&mut self) -> Result<Item<'a>> {
        let name = match self.token() {
            Token::Dotted(name) => name,
            _ => return self.error("the name of a section, such as .debug_info", CUT),
        };
        self.advance()?;
        if self.token() != Token::Punct('{') {
            return self.error("`{` after the name of a section", CUT);
        }
        let text = self.lexer.raw_block()?;
        self.advance()?;
        Ok(Item::Section { name, text })
    }

    fn function(&mut self, linkage: Option<Linkage>, is_entry: bool) -> Result<Function<'a>> {
        let mut returns = Vec::new();
        if !is_entry && self.eat('(')? {
            returns = self.list(')', Self::param)?;
        }
        let name = self.name("the name of a function")?;
        let mut params = Vec::new();
        if self.eat('(')? {
            params = self.list(')', Self::param)?;
        }
        let directives = self.directives()?;
        let body = if self.eat('{')? {
            self.source = None;
            Some(self.nested(Self::statements)?)
        } else {
            self.expect(';', "or a body after the head of a function")?;
            None
        };
        Ok(Function {
            linkage,
            is_entry,
            name,
            returns,
            params,
            directives,
            body,
        })
    }

    fn directives(&mut self) -> Result<Vec<Directive<'a>>> {
        let mut directives = Vec::new();
        while let Token::Dotted(name) = self.token() {
            let most = match name {
                "maxntid" | "reqntid" | "reqnctapercluster" => 3,
                "maxnreg"
                | "minnctapersm"
                | "maxnctapersm"
                | "maxclusterrank"
                | "abi_preserve"
                | "abi_preserve_control" => 1,
                "explicitcluster" | "blocksareclusters" | "noreturn" => 0,
                "pragma" => {
                    self.advance()?;
                    directives.push(Directive::Pragma(self.pragma()?));
                    continue;
                }
                _ => {
                    return self.error(
                        "a directive of a function, such as .maxntid, .minnctapersm or .noreturn",
                        UNKNOWN,
                    );
                }
            };
            self.advance()?;
            let mut values = Vec::new();
            while values.len() < most && (values.is_empty() || self.eat(',')?) {
                values.push(self.u64("a number after the directive")?);
            }
            directives.push(Directive::Limit { name, values });
        }
        Ok(directives)
    }

    pub(super) fn param(&mut self) -> Result<Param<'a>> {
        let space = match self.token() {
            Token::Dotted("param") => Space::Param,
            Token::Dotted("reg") => Space::Reg,
            _ => return self.error("a parameter: .param or .reg", CUT),
        };
        self.advance()?;
        let mut align = self.align()?;
        let vector = self.vector()?;
        let ty = self.ty()?;
        let mut pointer = None;
        if self.eat_dotted("ptr")? {
            let space = match self.token() {
                Token::Dotted("align") | Token::Word(_) => None,
                Token::Dotted(name) => {
                    let Some(space) = find(&Space::ALL, name) else {
                        return self.error("a state space after .ptr, such as .global", UNKNOWN);
                    };
                    self.advance()?;
                    Some(space)
                }
                _ => None,
            };
            let align = self.align()?;
            pointer = Some(Pointer { space, align });
        } else if align.is_none() {
            align = self.align()?;
        }
        let name = self.word("the name of a parameter")?;
        let dims = self.dims()?;
        Ok(Param {
            space,
            align,
            vector,
            ty,
            pointer,
            name,
            dims,
        })
    }
}
