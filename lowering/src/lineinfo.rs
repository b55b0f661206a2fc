//! PTX without its line table.
//!
//! ptxas makes `.debug_line` of every `.loc` that it meets, and keeps a copy of the PTX beside it: four
//! fifths of the cubin of a small kernel, for profilers and nobody else.

use std::borrow::Cow;

/// The text with `.loc`, `.file` and debug sections blanked. Lines keep their numbers, so that what
/// ptxas says of them stays true. Where such a directive shares its line with something else, as no
/// compiler writes it, everything is left as it is.
pub(crate) fn without(ptx: &str) -> Cow<'_, str> {
    // Nothing to take away, or nothing that can be told by lines.
    if !ptx.contains(".loc") || ptx.contains("/*") {
        return Cow::Borrowed(ptx);
    }
    let mut out = String::with_capacity(ptx.len());
    let mut in_section = false;
    for line in ptx.split_inclusive('\n') {
        let text = line.split("//").next().unwrap_or_default().trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let blank = if in_section {
            in_section = text != "}";
            // Data, labels, braces: what else a section may hold is not looked for.
            !text.contains('}') || text == "}"
        } else if word == ".section" && rest.trim_start().starts_with(".debug_") {
            in_section = !text.ends_with('}');
            true
        } else if word == ".loc" {
            is_place(rest)
        } else if word == ".file" {
            is_file(rest)
        } else {
            if [".loc", ".file", ".debug_"]
                .iter()
                .any(|d| has_word(text, d))
            {
                return Cow::Borrowed(ptx);
            }
            out.push_str(line);
            continue;
        };
        if !blank {
            return Cow::Borrowed(ptx);
        }
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    // A section that does not end: what ptxas says of it is better said of the whole.
    if in_section {
        return Cow::Borrowed(ptx);
    }
    Cow::Owned(out)
}

/// Tells whether a directive stands in a line. `.local` is none, though it begins like one.
fn has_word(text: &str, directive: &str) -> bool {
    text.match_indices(directive).any(|(at, _)| {
        let after = text[at + directive.len()..].chars().next();
        directive.ends_with('_') || !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// `1 5 3`, `1 5 3, function_name $L__info_string0, inlined_at 1 5 3` (PTX ISA 9.0, 11.5.4).
fn is_place(text: &str) -> bool {
    let numbers = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.len() == 3 && words.iter().all(|w| w.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = text.split(',').map(str::trim);
    parts.next().is_some_and(numbers)
        && parts.all(|part| match part.split_once(char::is_whitespace) {
            Some(("function_name", label)) => !label.contains([';', '{', '}']),
            Some(("inlined_at", place)) => numbers(place),
            _ => false,
        })
}

/// `1 "gemm.mlir"`, and a time and a size, perhaps (11.5.4).
fn is_file(text: &str) -> bool {
    let mut parts = text.splitn(3, '"');
    let number = parts.next().unwrap_or_default().trim();
    let name = parts.next();
    let rest = parts.next().unwrap_or_default();
    let digits = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_digit() || b" ,\t".contains(&b))
    };
    name.is_some() && digits(number) && digits(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.visible .entry k()\n{\n\t.local .b32 l;\n\t.loc\t1 4 3\n\tret; // .loc 1 2 3\n\t\
                       .loc\t1 5 3, function_name $L__info_string0, inlined_at 1 5 3\n}\n\t.file\t1 \"a b.mlir\"\n\t\
                       .section\t.debug_str\n\t{\n$L__info_string0:\n\t.b8 99,0\n\t}\n.global .b32 g;\n";

    #[test]
    fn lines_keep_their_numbers() {
        let expected = ".version 8.0\n.visible .entry k()\n{\n\t.local .b32 l;\n\n\tret; // .loc 1 2 3\n\n}\n\n\n\n\n\n\n\
                        .global .b32 g;\n";
        assert_eq!(without(PTX), expected);
        assert_eq!(without(expected), expected);
    }

    #[test]
    fn what_is_written_otherwise_is_left_alone() {
        for (from, to) in [
            (".loc\t1 4 3\n\t", ".loc\t1 4 3 "),
            ("\t.loc\t1 4 3\n", "\tret; .loc 1 4 3\n"),
            ("ret;", "ret; /* .loc */"),
            ("ret;", ".file 1 \"x\" ret;"),
            ("\t}\n.global", "\t} ret;\n.global"),
            ("\t}\n.global", ".global"),
        ] {
            let other = PTX.replace(from, to);
            assert_ne!(other, PTX, "{from}");
            assert_eq!(without(&other), other);
        }
    }
}
