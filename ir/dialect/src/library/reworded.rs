//! Errors of MLIR's parser and verifiers that name no cure, or nothing of what they found: how they are told instead.

use super::{
    dsl,
    meant::{meant, near_value},
    texts,
};
use crate::names;
use std::fs;

/// Returns an error of MLIR's at a line and a column, both from 1, of a file, as it is to be told: with what was found, or meant, and with a cure. Empty where it is
/// told as it is.
pub fn reworded(message: &str, file: &str, line: usize, column: usize) -> String {
    let meant = meant(message, file, line);
    if !meant.is_empty() {
        return format!("{message}{meant}");
    }
    let Some(kind) = Kind::of(message) else {
        return String::new();
    };
    let told = texts::with_text(file, line, |text, line| {
        kind.told(message, &Place::new(text, line, column))
    });
    told.unwrap_or_else(|| {
        let text = fs::read_to_string(file).unwrap_or_default();
        kind.told(message, &Place::new(&text, line, column))
    })
    .unwrap_or_default()
}

/// The errors that are told otherwise.
enum Kind<'m> {
    /// An op, a type or an attribute of CuTe DSL that is not read: its name as the message has it, and what stands in its place.
    Unread(&'m str, &'static str),
    /// An op, by its name, of a dialect that is not there.
    Dialect(&'m str),
    /// The same in the generic form, which names no op.
    Unregistered,
    /// A value that is not defined.
    Undeclared,
    /// A value, without `%`, of another type than its use says: the one of the use, and its own.
    Type(&'m str, &'m str, &'m str),
    /// A value is expected where none stands.
    NoValue,
    /// No op where one stands.
    NoOp,
    /// No type where one stands.
    NoType,
    /// A block that ends without an op that ends it.
    NoEnd,
    /// A character or a word that is missing.
    Missing(&'m str),
    /// A character that is of no text.
    Character,
    /// An integer as the value of a floating-point type.
    Integer,
    /// An alias that is not defined.
    Alias(&'m str),
    /// A symbol that is defined twice.
    Twice,
    /// A value that is defined twice.
    Redefined,
    /// A result of a function of another type.
    Returned(&'m str),
    /// An attribute of another kind.
    Attribute,
}

impl<'m> Kind<'m> {
    fn of(message: &'m str) -> Option<Self> {
        let quoted = |begin| {
            let rest: &str = message.strip_prefix(begin)?;
            rest.split_once('\'')
        };
        if let Some(unread) = Self::unread(message) {
            return Some(unread);
        }
        if message.starts_with("Dialect `")
            && let Some((_, rest)) = message.split_once("for custom op '")
        {
            return rest.split_once('\'').map(|(op, _)| Self::Dialect(op));
        }
        if let Some((name, rest)) = quoted("use of value '")
            && let Some(types) = rest.strip_prefix(" expects different type than prior uses: '")
            && let Some((of_use, own)) = types.strip_suffix('\'')?.split_once("' vs '")
        {
            return Some(Self::Type(name.strip_prefix('%')?, of_use, own));
        }
        if let Some((alias, "")) = quoted("undefined symbol alias id '") {
            return Some(Self::Alias(alias));
        }
        if let Some((_, rest)) = quoted("type of return operand ")
            && let Some((own, _)) = rest.split_once('\'')
        {
            return Some(Self::Returned(own));
        }
        if let Some((what, "")) = quoted("expected '")
            && what.len() <= 2
        {
            return Some(Self::Missing(what));
        }
        if message.starts_with("operation being parsed with an unregistered dialect") {
            return Some(Self::Unregistered);
        }
        if message.starts_with("block with no terminator, has ") {
            return Some(Self::NoEnd);
        }
        if message.starts_with("redefinition of symbol named '") {
            return Some(Self::Twice);
        }
        if message.starts_with("redefinition of SSA value '") {
            return Some(Self::Redefined);
        }
        if message.ends_with("' invalid kind of attribute specified") {
            return Some(Self::Attribute);
        }
        Some(match message {
            "use of undeclared SSA value name" => Self::Undeclared,
            "expected SSA operand" => Self::NoValue,
            "expected operation name in quotes" => Self::NoOp,
            "expected non-function type" => Self::NoType,
            "unexpected character" => Self::Character,
            "empty block: expect at least a terminator" => Self::NoEnd,
            "unexpected decimal integer literal for a floating point value" => Self::Integer,
            _ => return None,
        })
    }

    /// The error of a name of CuTe DSL's that is not read, as MLIR and the dialects word it of ops, types and attributes.
    fn unread(message: &'m str) -> Option<Self> {
        let is_unknown = [
            "is unknown",
            "unregistered operation '",
            "of the dialect, found '",
            "unknown attribute `",
            "for custom op '",
        ];
        if !is_unknown.iter().any(|text| message.contains(text)) {
            return None;
        }
        let quoted = message.split(['\'', '`']).skip(1).step_by(2);
        let mut named = quoted.map(|name| name.trim_start_matches(['!', '#']));
        named.find_map(|name| Some(Self::Unread(name, dsl::instead(name)?)))
    }

    /// The whole message as it is told; nothing where nothing is better than what it is.
    fn told(&self, message: &str, at: &Place<'_>) -> Option<String> {
        let found = at.found();
        Some(match self {
            Self::Unread(name, cure) => unread(name, cure),
            Self::Dialect(op) => of_no_dialect(op),
            Self::Unregistered => {
                let name = at.line_of_text().split('"').nth(1)?;
                match dsl::instead(name) {
                    Some(cure) => unread(name, cure),
                    None => of_no_dialect(name),
                }
            }
            Self::Undeclared => {
                let name = at.token();
                let near = near_value(name, at.text, at.line);
                let cure = match near.is_empty() {
                    true => "; define it before, in the same function".to_owned(),
                    false => near,
                };
                format!("expected a value that is defined, found {name}{cure}")
            }
            Self::Type(name, of_use, own) => {
                let cure = converted(name, of_use, own, at)?;
                format!("{message}; {cure}")
            }
            Self::NoValue => {
                let cure = match at.token().chars().next() {
                    Some('0'..='9' | '-') => {
                        "; make it a value, as by %c = arith.constant 1.0 : f32"
                    }
                    Some('"' | '(') => "; make it a value by an op before, such as cute.static or cute.make_coord",
                    Some(c) if c.is_alphabetic() => "; a value begins with %",
                    _ => "",
                };
                format!("expected a value, such as %x, found {found}{cure}")
            }
            Self::NoOp => {
                // At the end of a text, MLIR names the place before its last character.
                if matches!(at.token(), "" | "}") {
                    return Some("expected an op, found the end of the text; something that '{' begins has no '}'".to_owned());
                }
                let cure = match at.token().chars().next() {
                    Some('0'..='9' | '-') => "; a number is made by arith.constant, as in arith.constant 1.0 : f32",
                    Some('%') => "; a value has no second name: write the first one where it is used",
                    _ => "",
                };
                format!("expected an op, found {found}{cure}")
            }
            Self::NoType => {
                let cure = match at.token() {
                    name if name.starts_with("cute") => format!("; types of the dialects begin with '!', as in !{}", name.trim_end_matches('.')),
                    name if name.chars().all(char::is_alphabetic) => "; types are f16, f32, i32, index and their like, an alias begins with '!'".to_owned(),
                    _ => String::new(),
                };
                format!("expected a type, found {found}{cure}")
            }
            Self::NoEnd => "expected an op at the end of the block that ends it: gpu.return in a kernel, return in a function, scf.yield or cute.yield where a \
                            region gives values"
                .to_owned(),
            Self::Missing(":") if at.token().is_empty() || at.is_behind_the_line() => format!(
                "expected ':' and types, found {found}; types may be left out behind ops of cute alone, so write them, as in arith.addf %x, %y : f32"
            ),
            Self::Missing(_) => format!("{message}, found {found}"),
            Self::Character => {
                let c = at.rest().chars().next()?;
                let cure = match c {
                    ';' => "; an op ends where the next one begins",
                    _ => "",
                };
                match c.is_control() || c == char::REPLACEMENT_CHARACTER {
                    true => "expected the text of a module, or its bytecode, found other bytes".to_owned(),
                    false => format!("unexpected character '{c}'{cure}"),
                }
            }
            Self::Integer => format!(
                "expected a number of a floating-point type, such as {0}.0, found {0}",
                at.token()
            ),
            Self::Alias(name) => {
                let line = at.line_of_text();
                let is_of = |sigil: &char| line.contains(&format!("{sigil}{name}"));
                let sigil = ['!', '#'].into_iter().find(is_of)?;
                format!(
                    "{message}; define it at the top of the file, as in {sigil}{name} = {}",
                    if sigil == '!' { "f32" } else { "#cute.layout<\"(4,8):(8,1)\">" }
                )
            }
            Self::Twice => format!("{message}; give one of them another name, or an instance another suffix"),
            Self::Redefined => format!("{message}; a name stands for one value, so give this one another"),
            Self::Returned(own) => format!("{message}; write -> {own} there, or convert it before"),
            Self::Attribute => {
                let is_call = at.line_of_text().contains("func.call @");
                if !is_call {
                    return None;
                }
                "custom op 'func.call' expected the name of a function beside it, found one within a module; kernels are launched by cute.launch".to_owned()
            }
        })
    }
}

/// The message about a name of CuTe DSL's that is not read.
fn unread(name: &str, cure: &str) -> String {
    format!("'{name}', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); {cure}")
}

/// The message about an op of a dialect that is not there.
fn of_no_dialect(op: &str) -> String {
    const DIALECTS: [&str; 11] = [
        "arith",
        "cf",
        "cute",
        "cute_nvgpu",
        "func",
        "gpu",
        "llvm",
        "math",
        "nvvm",
        "scf",
        "vector",
    ];
    const HERE: [(&str, &str); 22] = [
        ("return", "gpu.return, of a kernel"),
        ("yield", "scf.yield or cute.yield"),
        ("constant", "arith.constant"),
        ("call", "cute.call, or func.call"),
        ("launch", "cute.launch"),
        ("barrier", "gpu.barrier"),
        ("thread_id", "gpu.thread_id"),
        ("block_id", "gpu.block_id"),
        ("for", "scf.for"),
        ("if", "scf.if"),
        ("while", "scf.while"),
        ("assert", "cf.assert"),
        ("copy", "cute.copy"),
        ("memref.alloc", "cute.memref.alloca"),
        ("memref.alloca", "cute.memref.alloca"),
        ("memref.load", "cute.memref.load"),
        ("memref.store", "cute.memref.store"),
        ("affine.for", "scf.for"),
        ("affine.if", "scf.if"),
        ("tensor.extract", "cute.memref.load"),
        ("tensor.insert", "cute.memref.store"),
        ("linalg.matmul", "cute.contract"),
    ];
    let (dialect, rest) = op.split_once('.').unwrap_or(("", op));
    let here = HERE.iter().find(|(name, _)| *name == op);
    let cure = match (here, names::nearest(dialect, DIALECTS)) {
        (Some((_, here)), _) => format!("; here that is {here}"),
        (None, Some(near)) => format!("; did you mean '{near}.{rest}'?"),
        _ => String::new(),
    };
    let found = match dialect {
        "" => "none".to_owned(),
        name => format!("'{name}'"),
    };
    format!(
        "custom op '{op}' expected one of the dialects {} before its first dot, found {found}{cure}",
        DIALECTS.join(", ")
    )
}

/// The cure for a value of a type that is used as one of another type.
fn converted(name: &str, of_use: &str, own: &str, at: &Place<'_>) -> Option<String> {
    let is_open =
        |ty: &str| ty.contains("!cute.any") || ty.contains("!cute.param") || ty.contains('$');
    let is_number = |ty: &str| {
        let rest = ty
            .strip_prefix("bf")
            .or_else(|| ty.strip_prefix(['i', 'f']));
        rest.is_some_and(|bits| !bits.is_empty() && bits.chars().all(|c| c.is_ascii_digit()))
    };
    let is_integer = |ty: &str| ty.starts_with('i') && is_number(ty);
    let tuples = ["int_tuple", "shape", "coord", "stride"];
    let is_tuple = |ty: &str| {
        let text = ty.strip_prefix("!cute.").unwrap_or_default();
        tuples.iter().any(|kind| {
            text.strip_prefix(kind)
                .is_some_and(|rest| rest.starts_with('<'))
        })
    };
    if is_open(own) {
        return Some(format!(
            "what it is only a call or a parameter says: where that is always {of_use}, write -> {of_use} behind the op that makes it, else take the op in as \
             cute.deferred \"arith.addf\"(%x, %y)"
        ));
    }
    if is_tuple(own) && (is_integer(of_use) || of_use == "index") {
        return Some(format!("its number is cute.get_scalars(%{name})"));
    }
    if (is_integer(own) || own == "index") && is_tuple(of_use) {
        return Some(format!(
            "a tuple of it is cute.make_coord(%{name}), make_shape or their like"
        ));
    }
    let is_loop = at.line_of_text().contains("scf.for ");
    if of_use == "index" && is_integer(own) && is_loop {
        return Some(format!(
            "a loop over {own} has it behind its step, as in step %c1 : {own}"
        ));
    }
    if (of_use == "index" && is_integer(own)) || (own == "index" && is_integer(of_use)) {
        return Some(format!(
            "convert it by arith.index_cast %{name} : {own} to {of_use}"
        ));
    }
    if !is_number(own) || !is_number(of_use) {
        return None;
    }
    let bits = |ty: &str| {
        ty.trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse::<u32>()
            .ok()
    };
    let widens = bits(own) < bits(of_use);
    let op = match (is_integer(own), is_integer(of_use)) {
        (true, true) if widens => "arith.extsi or arith.extui",
        (true, true) => "arith.trunci",
        (true, false) => "arith.sitofp or arith.uitofp",
        (false, true) => "arith.fptosi or arith.fptoui",
        (false, false) if widens => "arith.extf",
        (false, false) if bits(own) > bits(of_use) => "arith.truncf",
        (false, false) => "arith.extf to f32 and arith.truncf",
    };
    Some(format!("convert it by {op}"))
}

/// A place in a text.
struct Place<'t> {
    text: &'t str,
    /// The number of a line, from 1.
    line: usize,
    /// The byte of the line, from 1.
    column: usize,
}

impl<'t> Place<'t> {
    fn new(text: &'t str, line: usize, column: usize) -> Self {
        Self { text, line, column }
    }

    fn line_of_text(&self) -> &'t str {
        let line = self
            .line
            .checked_sub(1)
            .and_then(|line| self.text.lines().nth(line));
        line.unwrap_or_default()
    }

    /// The rest of the line.
    fn rest(&self) -> &'t str {
        let column = self.column.saturating_sub(1);
        self.line_of_text().get(column..).unwrap_or_default()
    }

    /// Tells whether nothing but a comment follows in the line.
    fn is_behind_the_line(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty() || rest.starts_with("//")
    }

    /// The word or the character here, or else at the beginning of the lines behind it.
    fn token(&self) -> &'t str {
        let mut rest = self.rest();
        if self.is_behind_the_line() {
            let mut lines = self.text.lines().skip(self.line);
            rest = lines.find(|line| !is_blank(line)).unwrap_or_default();
        }
        let rest = rest.trim_start();
        let is_word = |c: char| c.is_alphanumeric() || "_.$-".contains(c);
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let behind = &rest[first..];
        let begins_word = rest.starts_with(|c: char| is_word(c) || "%!#@".contains(c));
        let length = match begins_word {
            true => behind.find(|c| !is_word(c)).unwrap_or(behind.len()),
            false => 0,
        };
        &rest[..first + length]
    }

    /// A description, in words, of the thing that is here.
    fn found(&self) -> String {
        match self.token() {
            "" => "the end of the text".to_owned(),
            _ if self.is_behind_the_line() => "the end of the line".to_owned(),
            token => format!("'{token}'"),
        }
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::{super::while_reading, *};

    /// The message that is told in place of one at a line and a column of a text.
    fn told(message: &str, text: &str, line: usize, column: usize) -> String {
        while_reading("k", text, || reworded(message, "k", line, column))
    }

    #[test]
    fn what_was_found_is_told() {
        let value = |text| told("expected SSA operand", text, 1, 1);
        assert!(
            value("4.0 : f32").starts_with("expected a value, such as %x, found '4.0'; make it")
        );
        assert!(value("").ends_with("found the end of the text"));
        assert!(value("\n// x\n}").ends_with("found the end of the line"));
        assert!(value("x, y").ends_with("found 'x'; a value begins with %"));
        let op = "expected operation name in quotes";
        assert!(
            told(op, "x {\n", 2, 1)
                .contains("found the end of the text; something that '{' begins")
        );
        assert_eq!(
            told("expected ')'", "f(%x g", 1, 6),
            "expected ')', found 'g'"
        );
        assert_eq!(told("something else", "f(%x g", 1, 6), "");
        assert_eq!(
            told("expected ')'", "", 0, 0),
            "expected ')', found the end of the text"
        );
        assert_eq!(
            told("unexpected character", "é;", 1, 3),
            "unexpected character ';'; an op ends where the next one begins"
        );
        // A column within a character.
        assert_eq!(
            told("expected ')'", "é", 1, 2),
            "expected ')', found the end of the text"
        );
    }

    #[test]
    fn values_of_other_types_have_their_conversion() {
        let of = |of_use, own, text| {
            let message = format!(
                "use of value '%x' expects different type than prior uses: '{of_use}' vs '{own}'"
            );
            let told = told(&message, text, 1, 1);
            told.strip_prefix(&message).unwrap_or_default().to_owned()
        };
        assert_eq!(of("f32", "f16", ""), "; convert it by arith.extf");
        assert_eq!(of("f16", "f32", ""), "; convert it by arith.truncf");
        assert_eq!(
            of("bf16", "f16", ""),
            "; convert it by arith.extf to f32 and arith.truncf"
        );
        assert_eq!(
            of("f32", "i8", ""),
            "; convert it by arith.sitofp or arith.uitofp"
        );
        assert_eq!(
            of("i64", "i32", ""),
            "; convert it by arith.extsi or arith.extui"
        );
        assert_eq!(
            of("index", "i32", ""),
            "; convert it by arith.index_cast %x : i32 to index"
        );
        assert_eq!(
            of("index", "i32", "scf.for %i = %x"),
            "; a loop over i32 has it behind its step, as in step %c1 : i32"
        );
        assert_eq!(
            of("i32", "!cute.int_tuple<\"?\">", ""),
            "; its number is cute.get_scalars(%x)"
        );
        assert!(of("i32", "!cute.any", "").contains("write -> i32"));
        assert_eq!(of("!cute.layout<\"4:1\">", "f32", ""), "");
    }

    #[test]
    fn dialects_that_are_not_there_have_what_is() {
        let of = |op: &str| {
            let message = format!("Dialect `x' not found for custom op '{op}' ");
            told(&message, "", 1, 1)
        };
        assert!(of("return").ends_with("found none; here that is gpu.return, of a kernel"));
        assert!(of("memref.alloc").ends_with("found 'memref'; here that is cute.memref.alloca"));
        assert!(of("cut.copy").ends_with("found 'cut'; did you mean 'cute.copy'?"));
        assert!(of("linalg.fill").ends_with("found 'linalg'"));
    }
}
