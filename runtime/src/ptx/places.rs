//! The places that instructions are from, which the numbers of `.loc` stand for.
//!
//! The compiler says for each instruction a line of the text that it was given, and where one line has
//! become many things, which of them: as the name of a function that was inlined there (PTX ISA 9.0,
//! 11.5.4), which stands in `.debug_str`.

use super::ast::{Item, Module, Source};
use super::number;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// The files and steps of a module.
#[derive(Clone, Debug, Default)]
pub struct Places<'a> {
    files: HashMap<u32, Cow<'a, str>>,
    /// All strings, and where in them labels are.
    strings: Vec<u8>,
    labels: HashMap<&'a str, usize>,
}

/// A place in a text.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Place {
    /// The name of the file, as the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 is not known.
    pub column: u32,
    /// The part of the line's work that it is, such as `copy A`, or the call that led to it, such as `called from main.cu:12:5`.
    pub step: Option<String>,
}

impl fmt::Display for Place {
    /// `gemm.mlir:5:3 (copy A)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        match &self.step {
            Some(step) => write!(f, " ({step})"),
            None => Ok(()),
        }
    }
}

impl<'a> Places<'a> {
    /// The places that a module names.
    pub fn of(module: &Module<'a>) -> Places<'a> {
        let mut places = Places::default();
        for item in &module.items {
            match item {
                Item::File(file) => {
                    places.files.insert(file.index, decoded(file.name));
                }
                Item::Section { name, text } if name.trim_start_matches('.') == "debug_str" => {
                    places.read_strings(text);
                }
                _ => {}
            }
        }
        places
    }

    /// The place of a source; none for line 0, which is nowhere, and for a file that has no name. A step whose
    /// name cannot be read is left out.
    pub fn place(&self, source: &Source) -> Option<Place> {
        let file = self.files.get(&source.file).filter(|_| source.line > 0)?;
        let step = source.inlined.and_then(|inlined| {
            let (label, offset) = inlined.function;
            let start = self
                .labels
                .get(label)?
                .checked_add(usize::try_from(offset).ok()?)?;
            let bytes = self.strings.get(start..)?;
            let end = bytes.iter().position(|byte| *byte == 0)?;
            let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
            Some(name).filter(|name| !name.is_empty())
        });
        let called = || {
            let call = source.called_from;
            (!call.is_empty()).then(|| format!("called from {call}"))
        };
        let step = step.or_else(called);
        Some(Place {
            file: file.clone().into_owned(),
            line: source.line,
            column: source.column,
            step,
        })
    }

    /// Labels and bytes; what is neither ends the reading, as its size is not known.
    fn read_strings(&mut self, text: &'a str) {
        for line in text.lines() {
            let mut rest = line.split("//").next().unwrap_or_default().trim();
            if let Some((label, after)) = rest.split_once(':') {
                self.labels.insert(label.trim(), self.strings.len());
                rest = after.trim();
            }
            if rest.is_empty() {
                continue;
            }
            let Some(bytes) = rest.strip_prefix(".b8").map(bytes).and_then(Result::ok) else {
                return;
            };
            self.strings.extend(bytes);
        }
    }
}

/// `1, 0x2, 3`
fn bytes(text: &str) -> Result<Vec<u8>, ()> {
    let values = text.trim_end_matches(';').split(',');
    values
        .map(|value| match number::parse(value.trim(), false) {
            Some(super::Immediate::Int { bits, .. }) => u8::try_from(bits).map_err(|_| ()),
            _ => Err(()),
        })
        .collect()
}

/// A name as it was before the compiler wrote what PTX cannot say as `%` and two hexadecimal digits.
fn decoded(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return name.into();
    }
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |index: usize| after.get(index).and_then(|b| char::from(*b).to_digit(16));
        rest = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                &after[2..]
            }
            _ => {
                out.push(*first);
                after
            }
        };
    }
    String::from_utf8_lossy(&out).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::super::{Item, Statement, parse};
    use super::*;

    fn places(text: &str) -> Vec<Option<String>> {
        let module = parse(text).unwrap();
        let places = Places::of(&module);
        let function = module.items.iter().find_map(|item| match item {
            Item::Function(function) => function.body.as_ref(),
            _ => None,
        });
        let instructions = function.unwrap().iter().filter_map(|s| match s {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        });
        instructions
            .map(|i| Some(places.place(i.source.as_ref()?)?.to_string()))
            .collect()
    }

    #[test]
    fn numbers_have_names() {
        let text = ".version 8.0\n.target sm_80\n.entry k()\n{\n  ret;\n  .loc 1 5 3\n  ret;\n\
             .loc 1 5 3, function_name $L__info_string0, inlined_at 1 5 3\n  ret;\n\
             .loc 1 5 3, function_name $L__info_string1 + 1, inlined_at 1 5 3\n  ret;\n\
             .loc 2 7 0\n  ret;\n  .loc 1 0 0\n  ret;\n  .loc 3 1 1\n  ret;\n\
             .loc 1 5 3, function_name $missing, inlined_at 1 5 3\n  ret;\n\
             .loc 1 5 3, function_name $L__info_string1+99999999999, inlined_at 1 5 3\n  ret;\n}\n\
             .file 1 \"a%20%C3%A4%2.mlir\"\n.file 2 \"<stdin>\"\n\
             .section .debug_str\n{\n$L__info_string0: // a comment\n.b8 99,111\n.b8 112, 121, 32, 65, 0\n\
             $L__info_string1:\n.b8 0x78,121,0\n}\n";
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(
            places(text),
            [
                None,
                at("a ä%2.mlir:5:3"),
                at("a ä%2.mlir:5:3 (copy A)"),
                at("a ä%2.mlir:5:3 (y)"),
                at("<stdin>:7"),
                None,
                None,
                at("a ä%2.mlir:5:3"),
                at("a ä%2.mlir:5:3"),
            ]
        );
    }

    #[test]
    fn comments_say_where_inlined_code_was_called_from() {
        let text = ".version 8.0\n.target sm_80\n.entry k()\n{\n\
             .loc 1 5 3 // h.h:5:3 @[ g.h:7:1 @[ /a b/main.cu:12:5 ] ]\n  ret;\n\
             .loc 1 5 3 // h.h:5:3 @[ main.cu:20:9 ]\r\n  ret;\n\
             .loc 1 5 3 // h.h:5:3\n  ret;\n\
             .loc 1 5 3\n// @[ main.cu:1:1 ]\n  ret;\n\
             .loc 1 5 3 // @[\n  ret;\n}\n.file 1 \"h.h\"\n";
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(
            places(text),
            [
                at("h.h:5:3 (called from /a b/main.cu:12:5)"),
                at("h.h:5:3 (called from main.cu:20:9)"),
                at("h.h:5:3"),
                at("h.h:5:3"),
                at("h.h:5:3"),
            ]
        );
    }

    #[test]
    fn what_is_no_string_ends_the_strings() {
        for bad in [".b32 7", ".b8 256", ".b8", ".b8 1,,2", "x"] {
            let text = format!(
                ".version 8.0\n.target sm_80\n.entry k()\n{{\n\
                 .loc 1 5 3, function_name $a, inlined_at 1 5 3\n  ret;\n\
                 .loc 1 5 3, function_name $b, inlined_at 1 5 3\n  ret;\n}}\n\
                 .file 1 \"a\"\n.section .debug_str\n{{\n$a:\n.b8 97,0\n{bad}\n$b:\n.b8 98,0\n}}\n"
            );
            assert_eq!(
                places(&text),
                [Some("a:5:3 (a)".to_owned()), Some("a:5:3".to_owned())],
                "{bad}"
            );
        }
    }
}
