//! The text of a hover: the report's lines for the op on the line.

use crate::{REPORT, child, documents::byte_of, picture};
use cute_ir::mlir::{callers_of, parse_module, place_of, run_pipeline};
use serde_json::{Value, json};
use std::io::Read;

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

/// Has the report on a document made, so that it is there when it is asked for.
pub fn prepare(file: &str, document: &str) {
    report(file, part(document, 0).1);
}

/// The report's text on a line of a document; nothing where it says nothing, and where none can be made in time.
pub fn text(file: &str, document: &str, line: u64) -> Option<String> {
    let (first, part) = part(document, line);
    let wanted = line.checked_sub(first)?;
    let found: Vec<String> = report(file, part)?
        .into_iter()
        .filter(|(at, _)| *at == wanted)
        .map(|(_, text)| text)
        .collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// The picture of the type that the alias at a place of a document means, in lines and UTF-16 units from 0.
pub fn picture(document: &str, line: u64, character: u64) -> Option<String> {
    let text = document.lines().nth(usize::try_from(line).ok()?)?;
    let at = byte_of(text, usize::try_from(character).ok()?);
    picture::of_alias(&part(document, line).1, text, at)
}

/// The report on a text.
fn report(file: &str, text: String) -> Option<Lines> {
    child::ask(REPORT, file, text)?
        .as_array()?
        .iter()
        .map(|line| Some((line[0].as_u64()?, line[1].as_str()?.to_owned())))
        .collect()
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
    let mut lines = Vec::new();
    for kernel in &report.kernels {
        for (location, text) in kernel.located() {
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
    }
    println!("{}", Value::Array(lines));
    0
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
