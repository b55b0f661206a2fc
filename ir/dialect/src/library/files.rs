//! The files of functions that `cute.import` names by a path, as far as they are known without reading IR.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

/// The ending of the names that are paths.
pub const ENDING: &str = ".mlir";

/// Tells whether `cute.import` takes a name for the path of a file: all other names are parts of the library.
pub fn is_path(name: &str) -> bool {
    name.ends_with(ENDING)
}

/// The file that a path names in an import of a text. A relative path starts at the folder of the text's file; the name of a text that has no
/// file, such as `-`, has no folder, so that it starts at the current one.
pub fn file_of(text: &str, path: &str) -> PathBuf {
    let file = Path::new(folder_of(text)).join(path);
    // Equal files have equal names, as far as that is known without links being followed.
    let parts = file.components().filter(|part| *part != Component::CurDir);
    parts.collect()
}

/// The bytes of a file.
///
/// # Errors
/// One that cannot be read, and what is no file: a pipe would be waited for, by a language server for ever.
pub fn read(file: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(file)?.is_file() {
        true => fs::read(file),
        false => Err(io::Error::other("it is no file")),
    }
}

/// The folder of a text's file, by the name that locations have; the current one has no letters.
pub fn folder_of(text: &str) -> &str {
    let folder = Path::new(file_of_text(text)).parent();
    folder.and_then(Path::to_str).unwrap_or_default()
}

/// The file of a text, by the name that locations have: a part of a file between `// -----` has a longer one where MLIR splits files.
pub fn file_of_text(name: &str) -> &str {
    let split = name.strip_prefix("within split at ");
    let whole = split.and_then(|rest| rest.strip_suffix(" offset "));
    let numbered = whole.and_then(|rest| rest.rsplit_once(':'));
    numbered.map_or(name, |(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_file_that_imports() {
        for (text, path, expected) in [
            ("a.mlir", "b.mlir", "b.mlir"),
            ("a.mlir", "./b.mlir", "b.mlir"),
            ("x/a.mlir", "b.mlir", "x/b.mlir"),
            ("./x/a.mlir", "../b.mlir", "x/../b.mlir"),
            ("/x/a.mlir", "y/./b.mlir", "/x/y/b.mlir"),
            ("/x/a.mlir", "/y/b.mlir", "/y/b.mlir"),
            ("-", "b.mlir", "b.mlir"),
            ("<stdin>", "y/b.mlir", "y/b.mlir"),
            ("", "b.mlir", "b.mlir"),
            ("within split at x/a.mlir:7 offset ", "b.mlir", "x/b.mlir"),
        ] {
            assert_eq!(file_of(text, path), Path::new(expected), "{text}: {path}");
        }
        assert!(is_path("b.mlir") && is_path("/y/b.mlir"));
        assert!(!is_path("std/reduce") && !is_path("./b") && !is_path(""));
    }
}
