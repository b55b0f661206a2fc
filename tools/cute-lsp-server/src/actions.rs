//! Code actions: wrong types of ops, left out of the text.

use crate::{MEND, child, hover::part};
use serde_json::{Value, json};
use std::io::Read;

/// The action that mends the types in the part of a document that has the line; nothing where none is wrong, and where the part has
/// other errors as well.
pub fn mended(file: &str, uri: &str, document: &str, line: u64) -> Option<Value> {
    let (first, part) = part(document, line);
    let end = first + part.lines().count() as u64;
    let answer = child::ask(MEND, file, part)?;
    let title = match answer["ops"].as_u64()? {
        0 => return None,
        1 => "Mend the types of 1 op".to_owned(),
        ops => format!("Mend the types of {ops} ops"),
    };
    let edit = json!({
        "range": {"start": {"line": first, "character": 0}, "end": {"line": end, "character": 0}},
        "newText": answer["text"].as_str()?,
    });
    Some(json!({"title": title, "kind": "quickfix", "edit": {"changes": {uri: [edit]}}}))
}

/// Reads a module, of a file by whose folder what it imports is found, and prints it with its types mended, as JSON. Returns the exit status.
pub fn mend_stdin(file: &str) -> i32 {
    let mut text = String::new();
    if std::io::stdin().read_to_string(&mut text).is_err() {
        return 1;
    }
    let context = cute_ir::context();
    match cute_ir::mlir::mend_types(&context, &text, file) {
        Some(mended) => {
            println!("{}", json!({"ops": mended.ops, "text": mended.text}));
            0
        }
        None => 1,
    }
}

/// An answer to a request for actions, with this one behind those that it has.
pub fn with_action(mut answer: Value, action: Value) -> Value {
    match &mut answer["result"] {
        Value::Array(actions) => actions.push(action),
        none @ Value::Null => *none = json!([action]),
        _ => {}
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_their_actions() {
        let after = |result: Value| with_action(json!({"id": 1, "result": result}), json!("new"));
        assert_eq!(after(json!(["old"]))["result"], json!(["old", "new"]));
        assert_eq!(after(json!(null))["result"], json!(["new"]));
        assert_eq!(after(json!({"odd": 1}))["result"], json!({"odd": 1}));
    }
}
