//! Files that a text imports, found without reading IR: what is in them decides a result as the text does.
//!
//! It is known only to a parser where `cute.import` stands and which file its place is of, so that more is taken for a path than is one: each string
//! of the text that ends as paths do, from each folder that a string of the text has. What is no import is a file more in the key, or one that is
//! not there.

use super::CacheError;
use cute_ir::library::files;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::PathBuf,
};

/// The first bytes of MLIR's bytecode.
const BYTECODE: &[u8] = b"ML\xefR";
/// The name of the op in bytecode, without its dialect.
const IMPORT: &[u8] = b"import\0";

/// A file that a text may import, as far as it is known.
struct Found {
    /// The first path of the same file, by number.
    same_as: usize,
    hash: blake3::Hash,
}

/// The bytes that say which files a text may import, those that these may import, and what is in them; `name` is the text's own file.
///
/// # Errors
/// [`CacheError::Bytecode`]: bytecode that imports something.
pub(super) fn of(name: &str, text: &[u8]) -> Result<Vec<u8>, CacheError> {
    if text.starts_with(BYTECODE) {
        let imports = text.windows(IMPORT.len()).any(|bytes| bytes == IMPORT);
        return match imports {
            true => Err(CacheError::Bytecode),
            false => Ok(Vec::new()),
        };
    }
    let mut all: BTreeMap<PathBuf, Option<Found>> = BTreeMap::new();
    let mut ids: HashMap<PathBuf, usize> = HashMap::new();
    if let Ok(id) = fs::canonicalize(files::file_of_text(name)) {
        ids.insert(id, 0);
    }
    let mut left = paths(name, text);
    while let Some(path) = left.pop_first() {
        if all.contains_key(&path) {
            continue;
        }
        let read = fs::canonicalize(&path).and_then(|id| Ok((id, files::read(&path)?)));
        let found = read.ok().map(|(id, bytes)| {
            left.extend(paths(&path.to_string_lossy(), &bytes));
            let next = ids.len();
            Found {
                same_as: *ids.entry(id).or_insert(next),
                hash: blake3::hash(&bytes),
            }
        });
        all.insert(path, found);
    }
    let mut said = Vec::new();
    for (path, found) in all {
        let path = path.as_os_str().as_encoded_bytes();
        said.extend((path.len() as u64).to_le_bytes());
        said.extend(path);
        said.push(u8::from(found.is_some()));
        if let Some(found) = found {
            said.extend((found.same_as as u64).to_le_bytes());
            said.extend(found.hash.as_bytes());
        }
    }
    Ok(said)
}

/// The paths that may be imports of a text.
fn paths(name: &str, text: &[u8]) -> BTreeSet<PathBuf> {
    let strings: Vec<(String, bool)> = strings(text);
    let named = strings
        .iter()
        .filter(|(string, is_place)| !is_place && files::is_path(string));
    let named: BTreeSet<&str> = named.map(|(string, _)| string.as_str()).collect();
    if named.is_empty() {
        return BTreeSet::new();
    }
    // An import starts at the folder of the file that its place is of, which is any that the text names.
    let importers = strings.iter().map(|(string, _)| string.as_str());
    let importers = importers.chain([name, ""]);
    let folders: BTreeMap<&str, &str> = importers.map(|of| (files::folder_of(of), of)).collect();
    let all = named.iter();
    let all = all.flat_map(|path| folders.values().map(|of| files::file_of(of, path)));
    all.collect()
}

/// The strings of a text, and whether a number follows behind a colon, as in a place: `"a.mlir":3:5`. A quote in a comment opens a string for nobody,
/// so that each quote is tried.
fn strings(text: &[u8]) -> Vec<(String, bool)> {
    let quotes = text.iter().enumerate().filter(|(_, byte)| **byte == b'"');
    let strings = quotes.filter_map(|(at, _)| {
        let (bytes, rest) = string(text.get(at + 1..)?)?;
        let is_place = matches!(rest, [b':', digit, ..] if digit.is_ascii_digit());
        Some((String::from_utf8(bytes).ok()?, is_place))
    });
    strings.collect()
}

/// The bytes that a string stands for, whose quote stands before the text, and what is behind it.
fn string(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let hex = |digit: u8| char::from(digit).to_digit(16);
    let mut bytes = Vec::new();
    loop {
        text = match text {
            [b'"', rest @ ..] => return Some((bytes, rest)),
            [b'\n', ..] | [] => return None,
            [b'\\', escaped @ (b'"' | b'\\'), rest @ ..] => {
                bytes.push(*escaped);
                rest
            }
            [b'\\', b'n', rest @ ..] => {
                bytes.push(b'\n');
                rest
            }
            [b'\\', b't', rest @ ..] => {
                bytes.push(b'\t');
                rest
            }
            [b'\\', high, low, rest @ ..] => {
                bytes.push(u8::try_from(hex(*high)? * 16 + hex(*low)?).ok()?);
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_in(name: &str, text: &str) -> Vec<String> {
        let paths = paths(name, text.as_bytes()).into_iter();
        paths.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn whatever_may_be_an_import_is_found() {
        let expected = ["b.mlir", "x/b.mlir"];
        for text in [
            "cute.import \"b.mlir\"",
            "cute.import // it's a \" here\n \"./b.mlir\"",
            "\"cute.import\"() <{part = \"b.mlir\"}> : () -> ()",
            "#b = \"b.mlir\"",
            "cute.import \"b\\2Emlir\"",
            "// \"\ncute.import \"b.mlir\"",
        ] {
            assert_eq!(paths_in("x/a.mlir", text), expected, "{text}");
        }
        assert_eq!(
            paths_in("x/a.mlir", "cute.import \"/y/b.mlir\""),
            ["/y/b.mlir"]
        );
        assert!(paths_in("a.mlir", "cute.import \"std/copy\" loc(\"y/a.mlir\":1:2)").is_empty());
        // A place leads to another folder.
        let moved = "cute.import \"b.mlir\" loc(\"y/a.mlir\":1:2)";
        assert_eq!(paths_in("-", moved), ["b.mlir", "y/b.mlir"]);
        assert!(paths_in("a.mlir", "\"b.mlir\n\"").is_empty());
    }

    #[test]
    fn what_files_import_counts_and_who_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let name = at("a.mlir").display().to_string();
        let key = || of(&name, b"cute.import \"b.mlir\" cute.import \"c.mlir\"").unwrap();
        let mut seen = BTreeSet::new();
        let mut fresh = |what: &str| assert!(seen.insert(key()), "{what}");
        fresh("nothing is there");
        fs::write(at("b.mlir"), "cute.import \"d/d.mlir\"").unwrap();
        fresh("a file");
        fs::create_dir(at("d")).unwrap();
        fs::write(at("d/d.mlir"), "cute.import \"../b.mlir\"").unwrap();
        fresh("a file of a file, which leads back");
        fs::write(at("d/d.mlir"), "// Another.").unwrap();
        fresh("another file of a file");
        fs::write(at("c.mlir"), "cute.import \"d/d.mlir\"").unwrap();
        fresh("a copy");
        fs::remove_file(at("c.mlir")).unwrap();
        std::os::unix::fs::symlink(at("b.mlir"), at("c.mlir")).unwrap();
        fresh("a link in place of the copy");
        assert_eq!(key(), key());
    }

    #[test]
    fn bytecode_is_known_as_far_as_it_imports_nothing() {
        let bytes = |strings: &str| [BYTECODE, strings.as_bytes()].concat();
        assert!(of("-", &bytes("cute\0copy\0x.mlir\0")).unwrap().is_empty());
        assert!(matches!(
            of("-", &bytes("cute\0import\0")),
            Err(CacheError::Bytecode)
        ));
    }
}
