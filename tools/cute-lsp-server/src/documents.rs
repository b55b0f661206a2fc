//! The documents that the client has open, as it edits them.

use serde_json::Value;
use std::{collections::HashMap, ops::Range, sync::Arc};

/// Open documents by their URI. One whose edits could not be followed is left out.
#[derive(Default)]
pub struct Documents(HashMap<String, Arc<str>>);

impl Documents {
    pub fn get(&self, uri: &str) -> Option<Arc<str>> {
        self.0.get(uri).cloned()
    }

    /// Follows a notification of the client.
    pub fn follow(&mut self, message: &Value) {
        let document = &message["params"]["textDocument"];
        let Some(uri) = document["uri"].as_str() else {
            return;
        };
        match message["method"].as_str() {
            Some("textDocument/didOpen") => match document["text"].as_str() {
                Some(text) => {
                    self.0.insert(uri.to_owned(), text.into());
                }
                None => {
                    self.0.remove(uri);
                }
            },
            Some("textDocument/didChange") => {
                let changes = message["params"]["contentChanges"].as_array();
                let new = self
                    .0
                    .remove(uri)
                    .and_then(|text| changed(text.to_string(), changes?));
                if let Some(new) = new {
                    self.0.insert(uri.to_owned(), new.into());
                }
            }
            Some("textDocument/didClose") => {
                self.0.remove(uri);
            }
            _ => {}
        }
    }
}

fn changed(mut text: String, changes: &[Value]) -> Option<String> {
    for change in changes {
        let new = change["text"].as_str()?;
        match change.get("range") {
            None | Some(Value::Null) => text = new.to_owned(),
            Some(range) => {
                let (start, end) = (
                    offset(&text, &range["start"])?,
                    offset(&text, &range["end"])?,
                );
                if start > end {
                    return None;
                }
                text.replace_range(start..end, new);
            }
        }
    }
    Some(text)
}

/// The byte of a position, whose characters are UTF-16 units; beyond a line's end is its end.
fn offset(text: &str, position: &Value) -> Option<usize> {
    let line = usize::try_from(position["line"].as_u64()?).ok()?;
    let character = usize::try_from(position["character"].as_u64()?).ok()?;
    let start = if line == 0 {
        0
    } else {
        match text.match_indices('\n').nth(line - 1) {
            Some((at, _)) => at + 1,
            None => return Some(text.len()),
        }
    };
    let rest = &text[start..];
    let rest = rest.split('\n').next().unwrap_or(rest);
    Some(start + byte_of(rest, character))
}

/// The name of the file of a URI: its path, or the URI itself where it is of another sort.
pub fn file_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else {
        return uri.to_owned();
    };
    let mut bytes = Vec::new();
    let mut left = path.as_bytes();
    while let Some((byte, rest)) = left.split_first() {
        let digit = |at: usize| char::from(*rest.get(at)?).to_digit(16);
        let escaped = match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*byte));
        left = match escaped {
            Some(_) => rest.get(2..).unwrap_or_default(),
            None => rest,
        };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| uri.to_owned())
}

/// The line and the character, in UTF-16 units, of a byte of a text, from 0.
pub fn place_of(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count(), line.encode_utf16().count())
}

/// The bytes of a line of a text, from 0; nothing behind its last one.
pub fn line_of(text: &str, line: usize) -> Option<Range<usize>> {
    let before = text.split_inclusive('\n').take(line);
    let start: usize = before.map(str::len).sum();
    let on_line = text.get(start..)?.lines().next()?;
    Some(start..start + on_line.len())
}

/// The byte of a character of a line, in UTF-16 units; beyond the line's end is its end.
pub fn byte_of(line: &str, character: usize) -> usize {
    let mut units = 0;
    for (at, c) in line.char_indices() {
        if units >= character {
            return at;
        }
        units += c.len_utf16();
    }
    line.len()
}

/// The bytes of the name around a byte of a line, or just before it: letters, digits, `_`, `$` and points.
pub fn name_around(line: &str, at: usize) -> Range<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
    let before = line[..at].trim_end_matches(is_part).len();
    let behind = line[at..].trim_start_matches(is_part).len();
    before..line.len() - behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn after(changes: Value) -> Option<String> {
        let mut documents = Documents::default();
        let document = json!({"uri": "u", "text": "a\nb\u{1F600}c\nd"});
        documents.follow(
            &json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}),
        );
        let params = json!({"textDocument": {"uri": "u"}, "contentChanges": changes});
        documents.follow(&json!({"method": "textDocument/didChange", "params": params}));
        documents.get("u").map(|text| text.to_string())
    }

    fn range(from: (u32, u32), to: (u32, u32)) -> Value {
        json!({"start": {"line": from.0, "character": from.1}, "end": {"line": to.0, "character": to.1}})
    }

    #[test]
    fn uris_are_files() {
        assert_eq!(file_of("file:///a%20b/%C3%A9.mlir"), "/a b/\u{e9}.mlir");
        assert_eq!(file_of("file:///a%2"), "/a%2");
        assert_eq!(file_of("test:///a.mlir"), "test:///a.mlir");
        assert_eq!(file_of("file:///%FF"), "file:///%FF");
    }

    #[test]
    fn edits_are_followed() {
        let edit = |from, to, text: &str| after(json!([{"range": range(from, to), "text": text}]));
        assert_eq!(after(json!([{"text": "x"}])).unwrap(), "x");
        assert_eq!(edit((1, 1), (1, 3), "-").unwrap(), "a\nb-c\nd");
        assert_eq!(edit((0, 1), (1, 0), "").unwrap(), "ab\u{1F600}c\nd");
        assert_eq!(edit((2, 9), (7, 0), "!").unwrap(), "a\nb\u{1F600}c\nd!");
        let two = json!([{"range": range((0, 0), (0, 1)), "text": "xy"}, {"range": range((0, 1), (0, 2)), "text": ""}]);
        assert_eq!(after(two).unwrap(), "x\nb\u{1F600}c\nd");
    }

    #[test]
    fn what_cannot_be_followed_is_forgotten() {
        for changes in [
            json!([{"range": range((1, 0), (0, 0)), "text": ""}]),
            json!([{"range": {}, "text": ""}]),
            json!([{"range": range((0, 0), (0, 0))}]),
            json!([7]),
            json!({}),
            json!(null),
        ] {
            assert_eq!(after(changes.clone()), None, "{changes}");
        }
    }
}
