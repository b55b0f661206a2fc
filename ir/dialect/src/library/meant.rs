//! Aliases and symbols that a text does not define: which of those that it does define is spelt most like them. MLIR says that there is none, and
//! knows no others.

use super::{Imported, signatures, texts};
use crate::names;
use std::fs;

/// Returns what is to stand behind an error of MLIR's at a line, from 1, of a file: the question whether a name was meant that its text defines. Empty where the
/// error is another one, and where no name is near.
pub(super) fn meant(message: &str, file: &str, line: usize) -> String {
    let Some(unknown) = Unknown::of(message) else {
        return String::new();
    };
    let known = texts::with_text(file, line, |text, line| unknown.meant(file, text, line));
    known.unwrap_or_else(|| {
        let text = fs::read_to_string(file).unwrap_or_default();
        unknown.meant(file, &text, line)
    })
}

/// A name that MLIR does not know.
enum Unknown<'m> {
    /// An alias, without `!` or `#`.
    Alias(&'m str),
    /// A value, with `%`.
    Value(&'m str),
    /// A function that is called, without `@`.
    Function(&'m str),
    /// A kernel that is launched, `@module::@kernel`.
    Kernel(&'m str),
}

impl<'m> Unknown<'m> {
    fn of(message: &'m str) -> Option<Self> {
        let quoted = |text: &'m str, end| text.strip_suffix(end);
        if let Some(rest) = message.strip_prefix("undefined symbol alias id '") {
            return quoted(rest, "'").map(Self::Alias);
        }
        if let Some(rest) = message.strip_prefix("'func.call' op '") {
            return quoted(rest, "' does not reference a valid function").map(Self::Function);
        }
        if let Some((_, rest)) = message.split_once("use of value '")
            && let Some((name, _)) = rest.split_once("', which is not defined before")
        {
            return Some(Self::Value(name));
        }
        let rest = message.strip_prefix("'gpu.launch_func' op kernel ")?;
        // Of a module that there is not, MLIR says its name alone; a kernel of it cannot be told from it.
        let rest = rest.strip_prefix("function '")?;
        quoted(rest, "' is undefined").map(Self::Kernel)
    }

    /// The question whether a name was meant that this text of a file defines, for an error at this line of it.
    fn meant(&self, file: &str, text: &str, line: usize) -> String {
        match self {
            Self::Alias(name) => {
                // The message does not say which sort of alias it is.
                let here = line.checked_sub(1).and_then(|line| text.lines().nth(line));
                let here = here.unwrap_or_default();
                let sigils = ['!', '#'].map(|sigil| format!("{sigil}{name}"));
                let Some(name) = sigils.iter().find(|name| here.contains(&***name)) else {
                    return String::new();
                };
                let sigil = &name[..1];
                let known = aliases(text).filter(|known| known.starts_with(sigil));
                names::did_you_mean(name, known)
            }
            Self::Value(name) => {
                // What is defined further on was meant.
                match values(text, usize::MAX).contains(name) {
                    true => String::new(),
                    false => near_value(name, text, line),
                }
            }
            Self::Function(name) => {
                let own = signatures::functions(text);
                let meant = names::did_you_mean(name, own.iter().map(|name| &**name));
                if !meant.is_empty() {
                    return meant;
                }
                let imported = Imported::all(file, text).into_iter();
                let imported = imported.flat_map(|imported| signatures::functions(&imported.text));
                let imported: Vec<_> = imported.collect();
                let near = names::nearest(name, imported.iter().map(|name| &**name));
                near.map_or_else(String::new, |near| {
                    format!("; did you mean cute.call @{near}? By that is called what is imported")
                })
            }
            Self::Kernel(name) => {
                let names = kernels(text);
                names::did_you_mean(name, names.iter().map(|name| &**name))
            }
        }
    }
}

/// Tells whether a character may stand in the name of an alias or a symbol.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_$.-".contains(c)
}

/// The aliases that lines of a text define, with `!` or `#`.
fn aliases(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (name, _) = line.split_once('=')?;
        let name = name.trim_end();
        let rest = name.strip_prefix(['!', '#'])?;
        (!rest.is_empty() && rest.chars().all(is_name)).then_some(name)
    })
}

/// The question whether the value before a line was meant whose name is nearest to one that nothing defines; empty where none is near.
pub(super) fn near_value(name: &str, text: &str, line: usize) -> String {
    // What a type stands behind may be a use, too.
    let others = values(text, line)
        .into_iter()
        .filter(|other| *other != name);
    // Short names are all near to each other.
    match name.len() > 3 {
        true => names::did_you_mean(name, others),
        false => String::new(),
    }
}

/// The values that the function around a line of a text defines before it, with `%`: what stands in front of `=` or `:`.
fn values(text: &str, line: usize) -> Vec<&str> {
    let before: Vec<&str> = text.lines().take(line).collect();
    let is_head = |line: &&str| line.contains("func.func ") || line.contains("gpu.func ");
    let begin = before.iter().rposition(is_head).unwrap_or(0);
    let mut names = Vec::new();
    for line in &before[begin..] {
        let (results, _) = line.split_once('=').unwrap_or_default();
        let mut rest = *line;
        while let Some((at, name)) = rest.find('%').map(|at| (at, &rest[at..])) {
            let end = name[1..]
                .find(|c| !is_name(c))
                .map_or(name.len(), |end| end + 1);
            let (name, behind) = name.split_at(end);
            let is_result = line.len() - rest.len() + at < results.len();
            if is_result || behind.trim_start().starts_with(':') {
                names.push(name);
            }
            rest = behind;
        }
    }
    names
}

/// The kernels of a text as a launch names them.
fn kernels(text: &str) -> Vec<String> {
    let mut module = "";
    let mut kernels = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let mut name = || {
            let rest = words.next()?.strip_prefix('@')?;
            rest.split(|c| !is_name(c)).next()
        };
        match word {
            "gpu.module" => module = name().unwrap_or_default(),
            "gpu.func" => kernels.extend(name().map(|name| format!("@{module}::@{name}"))),
            _ => {}
        }
    }
    kernels
}

#[cfg(test)]
mod tests {
    use super::{super::while_reading, *};

    const TEXT: &str = "!alias = i32
#alias= 1 : i32
!other : i64
gpu.module @kernels {
  gpu.func @first(%x: !alis) kernel { gpu.return }
  func.func private @given() -> i32
}
func.func @host() attributes {a = #alis} { return }";

    #[test]
    fn values_of_a_function_are_those_before_the_line() {
        let text = "func.func @f(%first: i32) {\n  %tile, %places:2 = f(%first, %none)\n  scf.for %k = %lo to %hi {\n";
        assert_eq!(values(text, 1), ["%first"]);
        assert_eq!(values(text, 3), ["%first", "%tile", "%places", "%k"]);
        assert_eq!(
            values("func.func @g(%a: i32)\nfunc.func @h(%b: i32)\n", 2),
            ["%b"]
        );
        while_reading("b", text, || {
            let of = |name: &str| {
                format!(
                    "custom op 'x' use of value '{name}', which is not defined before; define it"
                )
            };
            assert_eq!(meant(&of("%tiel"), "b", 3), "; did you mean '%tile'?");
            assert_eq!(meant(&of("%tile"), "b", 1), "");
            assert_eq!(meant(&of("%j"), "b", 3), "");
        });
    }

    #[test]
    fn names_of_the_text_are_meant_by_those_that_are_like_them() {
        while_reading("a", TEXT, || {
            let alias = "undefined symbol alias id 'alis'";
            assert_eq!(meant(alias, "a", 5), "; did you mean '!alias'?");
            assert_eq!(meant(alias, "a", 8), "; did you mean '#alias'?");
            assert_eq!(meant(alias, "a", 100), "");
            assert_eq!(meant(alias, "no such file", 5), "");
            assert_eq!(meant("undefined symbol alias id 'far_from_it'", "a", 5), "");
            let call = "'func.call' op 'givne' does not reference a valid function";
            assert_eq!(meant(call, "a", 8), "; did you mean 'given'?");
            let launch = "'gpu.launch_func' op kernel function '@kernels::@frist' is undefined";
            assert_eq!(meant(launch, "a", 8), "; did you mean '@kernels::@first'?");
        });
        assert_eq!(meant("undefined symbol alias id 'alis'", "a", 5), "");
    }
}
