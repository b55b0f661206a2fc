//! The definition of a function that a document imports: a place in the file that it names, or in a file with the part of the library that has it,
//! which is there for reading.

use crate::{
    documents::{byte_of, line_of, name_around, place_of},
    hover::part,
};
use cute_ir::library::{self, Imported};
use cute_lowering::Cache;

use serde_json::{Value, json};
use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    ops::Range,
    path::{Path, PathBuf},
};

/// The place of some characters of a line of a text that is imported.
fn place(imported: &Imported, line: usize, characters: Range<usize>) -> Option<Value> {
    let file = match imported.is_file {
        true => PathBuf::from(&*imported.name),
        false => {
            let cache = Cache::from_environment(None).ok()?;
            written(
                &cache.folder().join("library"),
                &imported.name,
                &imported.text,
            )?
        }
    };
    Some(json!({
        "uri": uri_of(&file)?,
        "range": {
            "start": {"line": line, "character": characters.start},
            "end": {"line": line, "character": characters.end},
        },
    }))
}

/// The place of the function whose name stands at a place of a document, in lines and UTF-16 units from 0, and of the text that an import there
/// names; none of what nothing that is imported has.
pub fn of(file: &str, document: &str, line: u64, character: u64) -> Option<Value> {
    let (first, text) = part(document, line);
    let at = usize::try_from(line.checked_sub(first)?).ok()?;
    let bytes = line_of(&text, at)?;
    let (here, on_line) = (bytes.start..=bytes.end, &text[bytes]);
    if let Some((name, _)) = (library::imports(&text).iter()).find(|(_, end)| here.contains(end)) {
        return place(&Imported::of(file, name)?, 0, 0..0);
    }
    let name = symbol_at(on_line, character)?;
    let (imported, line, at) = Imported::all(file, &text)
        .into_iter()
        .find_map(|imported| {
            let at = library::definition(&imported.text, name)?;
            let (line, at) = place_of(&imported.text, at);
            Some((imported, line, at))
        })?;
    place(&imported, line, at..at + name.len())
}

/// The answer of MLIR's server, which knows the document alone, with a place where it has none.
pub fn with_place(mut answer: Value, place: Value) -> Value {
    answer["result"] = json!([place]);
    answer
}

/// The name behind `@` that a character is of.
fn symbol_at(line: &str, character: u64) -> Option<&str> {
    let at = byte_of(line, usize::try_from(character).ok()?);
    // The character may be the @ itself.
    let at = at + usize::from(line[at..].starts_with('@'));
    let name = name_around(line, at);
    (line[..name.start].ends_with('@') && !name.is_empty()).then(|| &line[name])
}

/// The file with a part, which is written if it is not there; none where that cannot be. Its folder is named by the text, so that compilers of several versions have files of their own.
fn written(folder: &Path, part: &str, text: &str) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let file = folder.join(format!("{:016x}", hasher.finish()));
    let file = file.join(format!("{part}.mlir"));
    if fs::read_to_string(&file).is_ok_and(|there| there == text) {
        return Some(file);
    }
    let mut half = Cache::at(file.parent()?).part().ok()?;
    half.write_all(text.as_bytes()).ok()?;
    let mut permissions = half.as_file().metadata().ok()?.permissions();
    permissions.set_readonly(true);
    half.as_file().set_permissions(permissions).ok()?;
    half.persist(&file).ok()?;
    Some(file)
}

/// The URI of a file.
fn uri_of(file: &Path) -> Option<String> {
    let mut uri = String::from("file://");
    for byte in file.to_str()?.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_pointed_at() {
        let line = "  %t = cute.call @warp_sum(%x) // \u{1d11e} @end";
        let at = |text: &str| line.find(text).unwrap() as u64;
        for character in at("@warp")..=at("(%x)") {
            assert_eq!(symbol_at(line, character), Some("warp_sum"), "{character}");
        }
        assert_eq!(symbol_at(line, at("call")), None);
        assert_eq!(symbol_at(line, at("%x")), None);
        // A character of two units stands before it.
        assert_eq!(symbol_at(line, at("@end") - 2), Some("end"));
        assert_eq!(symbol_at(line, 1000), Some("end"));
        assert_eq!(symbol_at("", 0), None);
    }

    #[test]
    fn every_function_of_the_library_has_a_place() {
        for (part, text) in library::parts() {
            let names = text.lines().filter_map(|line| {
                let rest = line.trim_start().strip_prefix("func.func")?;
                Some(rest.split_once('@')?.1.split(['(', '<']).next()?.trim())
            });
            let mut count = 0;
            for name in names {
                assert!(library::definition(text, name).is_some(), "{part}: {name}");
                count += 1;
            }
            assert!(count > 0, "{part}");
        }
        assert_eq!(library::definition("func.func @ab(%x: i32)", "a"), None);
    }

    #[test]
    fn files_lead_to_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir(at("x")).unwrap();
        let import = "cute.import \"x/b.mlir\"\n";
        fs::write(at("x/b.mlir"), "cute.import \"../c.mlir\"\n").unwrap();
        fs::write(
            at("c.mlir"),
            format!("{import}\n  func.func private @deep() {{"),
        )
        .unwrap();
        let document = format!("{import}cute.import \"std/index\"\ncute.call @deep()\n// @thread");
        let found = |line, character| {
            let found = of(&at("a.mlir"), &document, line, character)?;
            let uri = found["uri"].as_str()?.rsplit('/').next()?.to_owned();
            Some((uri, found["range"]["start"].clone()))
        };
        let place = |line: u64, character: u64| json!({"line": line, "character": character});
        let is = |name: &str, place: Value| Some((name.to_owned(), place));
        assert_eq!(found(2, 12), is("c.mlir", place(2, 21)));
        assert_eq!(found(0, 14), is("b.mlir", place(0, 0)));
        assert_eq!(found(2, 3), None);
        assert_eq!(of("elsewhere.mlir", &document, 2, 12), None);
    }

    #[test]
    fn parts_are_files_for_reading() {
        let folder = tempfile::tempdir().unwrap();
        let [first, again] = [0, 1].map(|_| written(folder.path(), "std/x", "text").unwrap());
        assert_eq!(first, again);
        assert!(fs::metadata(&first).unwrap().permissions().readonly());
        assert_eq!(fs::read_to_string(&first).unwrap(), "text");
        let other = written(folder.path(), "std/x", "other").unwrap();
        assert_ne!(first, other);
        assert_eq!(
            uri_of(Path::new("/a b/\u{e9}.mlir")).unwrap(),
            "file:///a%20b/%C3%A9.mlir"
        );
    }
}
