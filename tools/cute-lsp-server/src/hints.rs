//! Inlay hints: the types of values that the text leaves out, with pictures of layouts, and what aliases of layouts and tensors are.

use crate::{HINTS, child, hover::part, picture};
use cute_ir::{
    mlir::{Op, name_of, nested_ops, parse_module, place_of, results_of},
    names::dialect_of,
    types::CuteType,
};
use cute_passes::report::described_part;
use melior::ir::{Type, ValueLike, operation::OperationLike};
use serde_json::{Value, json};
use std::io::Read;

/// Characters of a type that a hint shows; all of it stands in its tooltip.
const SHOWN: usize = 60;

/// The hints on the lines of a document from the first to before the last, each part between `// -----` by itself. A part that cannot be read has none.
pub fn of(file: &str, document: &str, lines: std::ops::Range<u64>) -> Value {
    let mut hints = Vec::new();
    let mut line = lines.start;
    let last = lines.end.min(document.lines().count() as u64);
    while line < last {
        let (first, text) = part(document, line);
        let end = first + text.lines().count() as u64;
        let found = child::ask(HINTS, file, text);
        for hint in found.iter().filter_map(Value::as_array).flatten() {
            let at = hint[0].as_u64().map(|at| at + first);
            let Some(at) = at.filter(|at| lines.contains(at)) else {
                continue;
            };
            hints.push(json!({
                "position": {"line": at, "character": hint[1]},
                "label": hint[2],
                "tooltip": {"kind": "markdown", "value": hint[3]},
                "kind": 1,
            }));
        }
        // Behind the part's end is the line that separates it from the next.
        line = line.max(end) + 1;
    }
    Value::Array(hints)
}

/// Reads a module, the text of a file, and prints its hints as JSON: line and character from 0, label, tooltip. Returns the exit status.
pub fn hints_on_stdin(file: &str) -> i32 {
    let mut text = String::new();
    if std::io::stdin().read_to_string(&mut text).is_err() {
        return 1;
    }
    let context = cute_ir::context();
    let Some(module) = parse_module(&context, file, &text) else {
        return 1;
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut hints = Vec::new();
    for op in nested_ops(module.as_operation()) {
        hints.extend(hints_of(op, &lines));
    }
    for (line, text) in lines.iter().enumerate() {
        hints.extend(hint_of_alias(&context, line, text));
    }
    println!("{}", Value::Array(hints));
    0
}

/// The hints of the results of an op, behind their names; none where the text says their types, and of types that are open.
fn hints_of(op: Op<'_>, lines: &[&str]) -> Vec<Value> {
    if !matches!(dialect_of(op), "cute" | "cute_nvgpu") {
        return Vec::new();
    }
    let place = place_of(op.location());
    let Some((line, column)) = place.map(|p| (p.line as usize - 1, p.column as usize)) else {
        return Vec::new();
    };
    let Some(statement) = lines.get(line) else {
        return Vec::new();
    };
    let (Some(before), Some(behind)) = (
        statement.get(..column.saturating_sub(1)),
        statement.get(column.saturating_sub(1)..),
    ) else {
        return Vec::new();
    };
    // An op that is not there by this name was written in a generic form, or in place of another.
    if !behind.starts_with(name_of(op)) || says_types(behind) {
        return Vec::new();
    }
    let ends = names(before);
    let results = results_of(op);
    if ends.len() != results.len() {
        return Vec::new();
    }
    let typed = ends.into_iter().zip(results);
    typed
        .filter(|(_, value)| !matches!(CuteType::of(value.r#type()), Some(CuteType::Any)))
        .map(|(end, value)| {
            let text = value.r#type().to_string();
            let character = before[..end].encode_utf16().count();
            let label = match text.char_indices().nth(SHOWN) {
                Some((at, _)) => format!(": {}...", &text[..at]),
                None => format!(": {text}"),
            };
            let code = format!("```mlir\n{text}\n```");
            let mut tooltip = code;
            if let Some(operand) = described_part(op) {
                tooltip += &format!("\n{}", operand.line());
            }
            if let Some(drawn) = picture::of(value.r#type()) {
                tooltip += &format!("\n{}", drawn.markdown());
            }
            json!([line, character, label, tooltip])
        })
        .collect()
}

/// The hint behind `!name = TYPE` of what has a picture: how many elements it has, or threads and values, and its picture. None of an alias of several lines.
fn hint_of_alias(context: &melior::Context, line: usize, text: &str) -> Option<Value> {
    let (name, ty) = text.split_once('=')?;
    if !name.starts_with('!') {
        return None;
    }
    let ty = ty.split_once("//").map_or(ty, |(ty, _)| ty);
    let ty = Type::parse(context, ty.trim())?;
    let drawn = picture::of(ty)?;
    let character = text.trim_end().encode_utf16().count();
    let label = format!(" {}", drawn.summary());
    Some(json!([line, character, label, drawn.markdown()]))
}

/// The places where the names of results end in `%a, %b = `.
fn names(before: &str) -> Vec<usize> {
    let Some(list) = before.trim_end().strip_suffix('=') else {
        return Vec::new();
    };
    let mut ends = Vec::new();
    let mut from = 0;
    for name in list.split(',') {
        let trimmed = name.trim_end();
        // A group of results, `%a:2`, has one name.
        if !trimmed.trim_start().starts_with('%') || trimmed.contains(':') {
            return Vec::new();
        }
        ends.push(from + trimmed.len());
        from += name.len() + 1;
    }
    ends
}

/// Tells whether the text of an op has a colon or an arrow outside of brackets and strings, behind which types stand.
fn says_types(text: &str) -> bool {
    let (mut depth, mut in_string, mut before) = (0, false, ' ');
    for c in text.chars() {
        match c {
            '"' => in_string = !in_string,
            _ if in_string => {}
            '>' if before == '-' && depth == 0 => return true,
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            '/' if before == '/' => return false,
            ':' if depth == 0 => return true,
            _ => {}
        }
        before = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_results_end_where_hints_stand() {
        assert_eq!(names("  %a = "), [4]);
        assert_eq!(names("%a, %bc = "), [2, 7]);
        assert_eq!(names("%a:2 = "), Vec::<usize>::new());
        assert_eq!(names("  "), Vec::<usize>::new());
    }

    #[test]
    fn types_are_seen_where_they_stand() {
        for typed in [
            "cute.static : !copy",
            "cute.convert(%h) -> !h",
            "cute.get_scalars <{only_dynamic}>(%l) : !l",
        ] {
            assert!(says_types(typed), "{typed}");
        }
        for open in [
            "cute.slice(%a, %b)",
            "cute.static shape \"(64:1)\"",
            "cute.get_scalars <{only_dynamic}>(%l) // so: there",
            "cute.call @f<{N = 4 : i64}>(%a)",
            "cute.transform(%a, %b) (%x: f32) {",
        ] {
            assert!(!says_types(open), "{open}");
        }
    }
}
