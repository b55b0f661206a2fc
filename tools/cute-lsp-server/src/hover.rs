//! The text of a hover: the report's lines for the op on the line.

use crate::{
    REPORT,
    child::{self, Late},
    documents::byte_of,
    picture,
};
use cute_ir::mlir::{Op, callers_of, nested_ops, parse_module, place_of, run_pipeline};
use cute_passes::report::{KernelReport, described_part, of_atom};
use melior::ir::operation::OperationLike;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::Read,
    sync::{LazyLock, Mutex, PoisonError},
    time::Instant,
};

/// The texts on lines: `[line from 0, text]`.
type Lines = Vec<(u64, String)>;

/// The part of a document between its `// -----` that has the line, with the part's first line.
pub fn part(text: &str, line: u64) -> (u64, String) {
    let (mut first, mut lines) = (0, Vec::new());
    for (i, l) in text.lines().enumerate() {
        if l.trim_end() == "// -----" {
            if i as u64 >= line {
                break;
            }
            first = i as u64 + 1;
            lines.clear();
        } else {
            lines.push(l);
        }
    }
    (first, lines.join("\n") + "\n")
}

/// Has the report on a part of a document made, the one that has the line, so that it is there when it is asked for.
pub fn prepare(file: &str, document: &str, line: u64) {
    // A time that has come: nobody waits.
    let _ = report(file, part(document, line).1, Some(Instant::now()));
}

/// The report's text on a line of a document; nothing where it says nothing, and where none can be made. Where it is not there at `end`, it is what the report
/// on the document said before it changed, of the nearest line of the same text.
pub fn text(file: &str, document: &str, line: u64, end: Option<Instant>) -> Option<String> {
    let (first, part) = part(document, line);
    let wanted = line.checked_sub(first)?;
    let on = |lines: &Lines, line: u64| -> Option<String> {
        let found: Vec<&str> = lines
            .iter()
            .filter(|(at, _)| *at == line)
            .map(|(_, text)| &**text)
            .collect();
        (!found.is_empty()).then(|| found.join("\n"))
    };
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match report(file, part.clone(), end) {
        Ok(lines) => {
            let lines = lines?;
            let text = on(&lines, wanted);
            last().insert(file.to_owned(), (part, lines));
            text
        }
        Err(Late) => {
            let last = last();
            let (before, lines) = last.get(file)?;
            let said = on(lines, same_line(before, &part, wanted)?)?;
            Some(format!("{said}\n(before the document changed)"))
        }
    }
}

/// The last report that a hover of a file told of, with the text that it is on.
static LAST: LazyLock<Mutex<HashMap<String, (String, Lines)>>> = LazyLock::new(Mutex::default);

/// The line of a text that is the same as a line of another one, the nearest if there are several.
fn same_line(of: &str, other: &str, line: u64) -> Option<u64> {
    let wanted = other.lines().nth(usize::try_from(line).ok()?)?;
    let same = of.lines().zip(0u64..);
    let same = same.filter_map(|(text, at)| (text == wanted).then_some(at));
    same.min_by_key(|at| at.abs_diff(line))
}

/// The picture of the type that the alias at a place of a document means, in lines and UTF-16 units from 0.
pub fn picture(document: &str, line: u64, character: u64) -> Option<String> {
    let text = document.lines().nth(usize::try_from(line).ok()?)?;
    let at = byte_of(text, usize::try_from(character).ok()?);
    picture::of_alias(&part(document, line).1, text, at)
}

/// The report on a text, where it is there in time.
fn report(file: &str, text: String, end: Option<Instant>) -> Result<Option<Lines>, Late> {
    let answer = child::ask_until(REPORT, file, text, end)?;
    Ok(answer.and_then(|answer| {
        let lines = answer.as_array()?.iter();
        lines
            .map(|line| Some((line[0].as_u64()?, line[1].as_str()?.to_owned())))
            .collect()
    }))
}

/// Reads a module, the text of a file, and prints its report as JSON. Returns the exit status.
pub fn report_on_stdin(file: &str) -> i32 {
    let mut text = String::new();
    if std::io::stdin().read_to_string(&mut text).is_err() {
        return 1;
    }
    let context = cute_ir::context();
    let Some(mut module) = parse_module(&context, file, &text) else {
        return 1;
    };
    // What functions do, their calls say. One that fails leaves a module half done.
    if run_pipeline(&mut module, "cute-instantiate,cute-inline").is_err() {
        let Some(anew) = parse_module(&context, file, &text) else {
            return 1;
        };
        module = anew;
    }
    let report = cute_passes::report::of_module(module.as_operation(), None);
    let mut said: Vec<_> = report
        .kernels
        .iter()
        .flat_map(KernelReport::located)
        .collect();
    for op in nested_ops(module.as_operation()) {
        said.extend(beside(op).into_iter().map(|line| (op.location(), line)));
    }
    let mut lines = Vec::new();
    for (location, text) in said {
        // What a function of another file does, its call does.
        let callers = callers_of(location).into_iter();
        let mut places = std::iter::once(location)
            .chain(callers)
            .filter_map(place_of);
        if let Some(place) = places.find(|place| place.file == file) {
            let line = json!([place.line - 1, text]);
            // Calls of a function with the same types say the same.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    println!("{}", Value::Array(lines));
    0
}

/// The text of a hover on an op beside the report, of which kernels are all: the copies of an atom of TMA where it is made, and the descriptors of an operand where a
/// tensor is partitioned.
fn beside(op: Op<'_>) -> Vec<String> {
    match (of_atom(op), described_part(op)) {
        (Some(copies), _) => copies.lines(),
        (None, Some(operand)) => vec![operand.line()],
        (None, None) => Vec::new(),
    }
}

/// An answer to a hover, with the report's text, a picture and the text of the reference behind what it says.
pub fn with_texts(
    mut answer: Value,
    report: Option<String>,
    picture: Option<String>,
    reference: Option<String>,
) -> Value {
    let report = report.map(|text| format!("```text\n{text}\n```"));
    let said = answer["result"]["contents"]["value"]
        .as_str()
        .map(str::to_owned);
    if said.is_none() && !answer["result"].is_null() {
        return answer;
    }
    let texts: Vec<String> = [said, report, picture, reference]
        .into_iter()
        .flatten()
        .collect();
    let all = texts.join("\n\n---\n");
    match answer["result"].is_null() {
        true => answer["result"] = json!({"contents": {"kind": "markdown", "value": all}}),
        false => answer["result"]["contents"]["value"] = all.into(),
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_line_of_the_same_text_is_the_same() {
        let (before, now) = ("a\nx\nb\nx\n", "a\nnew\nnew\nb\nx\n");
        assert_eq!(same_line(before, now, 4), Some(3));
        assert_eq!(same_line(before, "x\n", 0), Some(1));
        assert_eq!(same_line(before, now, 1), None);
        assert_eq!(same_line(before, now, 9), None);
    }

    #[test]
    fn documents_have_parts() {
        let text = "a\nb\n// -----\nc\nd";
        assert_eq!(part(text, 0), (0, "a\nb\n".to_owned()));
        assert_eq!(part(text, 1), (0, "a\nb\n".to_owned()));
        assert_eq!(part(text, 4), (3, "c\nd\n".to_owned()));
        assert_eq!(part("", 9), (0, "\n".to_owned()));
    }

    #[test]
    fn answers_keep_what_they_say() {
        let said = json!({"id": 1, "result": {"contents": {"kind": "markdown", "value": "old"}}});
        let new = || Some("new".to_owned());
        let value = with_texts(said, new(), None, new())["result"]["contents"]["value"].clone();
        assert_eq!(value, "old\n\n---\n```text\nnew\n```\n\n---\nnew");
        let none = with_texts(json!({"id": 1, "result": null}), new(), None, None);
        assert_eq!(none["result"]["contents"]["value"], "```text\nnew\n```");
        let odd = json!({"id": 1, "result": [1]});
        assert_eq!(with_texts(odd.clone(), new(), None, None), odd);
    }
}
