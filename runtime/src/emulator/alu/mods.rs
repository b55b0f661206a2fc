//! Reading modifiers in order.

use super::{Mode, Unknown};
use crate::ptx::Type;

/// The modifiers of an instruction, and how many are read.
#[derive(Clone)]
pub(in crate::emulator) struct Mods<'a> {
    pub opcode: &'a str,
    modifiers: &'a [&'a str],
    at: usize,
}

impl<'a> Mods<'a> {
    pub(crate) fn new(opcode: &'a str, modifiers: &'a [&'a str]) -> Self {
        Mods {
            opcode,
            modifiers,
            at: 0,
        }
    }

    /// The next one, which stays.
    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.modifiers.get(self.at).copied()
    }

    /// All that are not read yet.
    pub(crate) fn rest(&self) -> &'a [&'a str] {
        &self.modifiers[self.at.min(self.modifiers.len())..]
    }

    /// Tells whether the next one is `name`, which is then read.
    pub(crate) fn eat(&mut self, name: &str) -> bool {
        let found = self.peek() == Some(name);
        self.at += usize::from(found);
        found
    }

    /// Past the next one.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// The value of the next one in a table, if it is there.
    pub(crate) fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let name = self.peek()?;
        let value = table.iter().find(|row| row.0 == name)?.1;
        self.at += 1;
        Some(value)
    }

    /// The next one, which must be in the table.
    pub(crate) fn required<T: Copy>(&mut self, table: &[(&str, T)]) -> Result<T, Unknown> {
        match self.one_of(table) {
            Some(value) => Ok(value),
            None => {
                let names: Vec<_> = table.iter().map(|row| format!("`.{}`", row.0)).collect();
                Err(self.unexpected(&names.join(" or ")))
            }
        }
    }

    /// A direction of rounding, if there is one.
    pub(crate) fn rounding(&mut self) -> Option<Mode> {
        self.one_of(&[
            ("rn", Mode::Rn),
            ("rz", Mode::Rz),
            ("rm", Mode::Rm),
            ("rp", Mode::Rp),
        ])
    }

    /// A type, one of those that the instruction takes.
    pub(crate) fn ty(&mut self, allowed: &[Type]) -> Result<Type, Unknown> {
        let found = self.peek().and_then(Type::of);
        match found {
            Some(ty) if allowed.contains(&ty) => {
                self.at += 1;
                Ok(ty)
            }
            _ => {
                let names: Vec<_> = allowed.iter().map(|ty| type_name(*ty)).collect();
                Err(self.unexpected(&format!("a type, one of {}", names.join(", "))))
            }
        }
    }

    /// Error: something is left.
    pub(crate) fn end(&self) -> Result<(), Unknown> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("no more modifiers")),
        }
    }

    /// The error that the next modifier is not what it should be.
    pub(crate) fn unexpected(&self, expected: &str) -> Unknown {
        match self.peek() {
            Some(name) => self.unknown(expected, &format!(".{name}")),
            None => Unknown {
                instruction: self.text(),
                expected: expected.to_string(),
                found: "the end of the instruction's name".to_string(),
            },
        }
    }

    pub(crate) fn unknown(&self, expected: &str, found: &str) -> Unknown {
        Unknown {
            instruction: self.text(),
            expected: expected.to_string(),
            found: format!("`{found}`"),
        }
    }

    fn text(&self) -> String {
        let mut text = self.opcode.to_string();
        for modifier in self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

fn type_name(ty: Type) -> String {
    format!("`.{}`", format!("{ty:?}").to_lowercase())
}
