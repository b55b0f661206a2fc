//! The documentation of ops: the sections of `docs/ops.md`, which is made of the definitions of the ops.

use crate::documents::{byte_of, name_around};

/// All of the reference.
const REFERENCE: &str = include_str!("../../../docs/ops.md");

/// The documentation of the op whose name stands at a character (in UTF-16 units) of a line: summary, syntax, description and example.
pub fn at(document: &str, line: u64, character: u64) -> Option<String> {
    let line = document.lines().nth(usize::try_from(line).ok()?)?;
    of(word(line, usize::try_from(character).ok()?)?)
}

/// The section of an op; nothing of a name that no op of this project has.
fn of(name: &str) -> Option<String> {
    let header = format!("\n##### `{name}` (");
    let (_, rest) = REFERENCE.split_once(&header)?;
    let (_, body) = rest.split_once('\n')?;
    let ends = ["\nTraits:", "\nInterfaces:", "\nEffects:", "\n#####"];
    let end = ends.iter().filter_map(|end| body.find(end)).min();
    Some(format!(
        "### `{name}`\n\n{}",
        body[..end.unwrap_or(body.len())].trim()
    ))
}

/// The name at a character of a line; none behind the line.
fn word(line: &str, character: usize) -> Option<&str> {
    let at = byte_of(line, character);
    let name = &line[name_around(line, at)];
    (at < line.len() && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_stand() {
        let line = "  %\u{1F600} = cute.slice(%a, %b)";
        assert_eq!(word(line, 8), Some("cute.slice"));
        assert_eq!(word(line, 17), Some("cute.slice"));
        // Just behind it, as where the name has been typed.
        assert_eq!(word(line, 18), Some("cute.slice"));
        assert_eq!(word(line, 19), None);
        assert_eq!(word(line, 99), None);
        assert_eq!(word("cute.slice", 0), Some("cute.slice"));
    }

    #[test]
    fn ops_have_a_section() {
        let text = of("cute.slice").unwrap();
        assert!(text.starts_with("### `cute.slice`\n\n_"), "{text}");
        assert!(text.contains("%s = cute.slice(%l, %c)"), "{text}");
        assert!(
            !text.contains("Traits") && !text.contains("#####"),
            "{text}"
        );
        assert_eq!(of("cute.slic"), None);
        assert_eq!(of("arith.addi"), None);
    }
}
