//! Functions that a GPU module imports: those of the library that comes with the compiler, by the name of a part (`ir/lib`), and those of files; and
//! what functions give, as far as their texts say it.

use std::sync::{Arc, LazyLock};

pub use dsl::respelled;
pub use reworded::reworded;
pub(crate) use texts::{set_input, while_reading, with_text};
pub(crate) use visible::value_before;

mod dsl;
pub mod files;
mod kept;
mod meant;
mod reworded;
pub(crate) mod signatures;
mod texts;
mod visible;

/// The parts by name, each with its text.
const PARTS: &[(&str, &str)] = &[
    ("std/copy", include_str!("../../../lib/std/copy.mlir")),
    ("std/index", include_str!("../../../lib/std/index.mlir")),
    ("std/mma", include_str!("../../../lib/std/mma.mlir")),
    ("std/reduce", include_str!("../../../lib/std/reduce.mlir")),
    ("std/scan", include_str!("../../../lib/std/scan.mlir")),
    (
        "std/schedule",
        include_str!("../../../lib/std/schedule.mlir"),
    ),
    ("std/softmax", include_str!("../../../lib/std/softmax.mlir")),
];

/// The parts of the library by name, such as `std/copy`, each with its text.
pub fn parts() -> &'static [(&'static str, &'static str)] {
    PARTS
}

/// The part of the library that has a function of a name.
pub fn part_with(function: &str) -> Option<&'static str> {
    let mut all = parts().iter();
    all.find_map(|(part, text)| signatures::definition(text, function).map(|_| *part))
}

/// The names that a text imports, as they stand in it, each with the byte behind it.
pub fn imports(text: &str) -> Vec<(String, usize)> {
    signatures::imports(text)
}

/// The names of the functions that a text defines.
pub(crate) fn functions(text: &str) -> Vec<String> {
    signatures::functions(text)
}

/// Tells whether a text defines a function of a name.
pub(crate) fn defines(text: &str, function: &str) -> bool {
    signatures::defines(text, function)
}

/// The byte at which the name of a function begins where a text defines it.
pub fn definition(text: &str, function: &str) -> Option<usize> {
    signatures::definition(text, function)
}

/// A text that another one imports.
pub struct Imported {
    /// The file, or the name of the part of the library.
    pub name: Arc<str>,
    /// Tells whether it is a file, and no part.
    pub is_file: bool,
    /// The text itself.
    pub text: Arc<str>,
}

impl Imported {
    /// The text that a name in an import of a text stands for; nothing where there is none that can be read, which is said where it is imported.
    pub fn of(importer: &str, name: &str) -> Option<Self> {
        if files::is_path(name) {
            let file = kept::read(&files::file_of(importer, name))?;
            return Some(Self {
                text: file.text,
                // One file has one name, so that files that import each other come to an end.
                name: file.name,
                is_file: true,
            });
        }
        static SHARED: LazyLock<Vec<[Arc<str>; 2]>> = LazyLock::new(|| {
            let parts = parts().iter();
            parts
                .map(|(part, text)| [(*part).into(), (*text).into()])
                .collect()
        });
        let [part, text] = SHARED.iter().find(|[part, _]| **part == *name)?;
        Some(Self {
            name: part.clone(),
            is_file: false,
            text: text.clone(),
        })
    }

    /// The texts that a text of a file imports, and those that these import, each once.
    pub fn all(file: &str, text: &str) -> Vec<Self> {
        let of = |file: &str, text: &str| -> Vec<Self> {
            let names = imports(text).into_iter();
            names
                .filter_map(|(name, _)| Self::of(file, &name))
                .collect()
        };
        let mut found: Vec<Self> = Vec::new();
        let mut left = of(file, text);
        while let Some(imported) = left.pop() {
            if !found.iter().any(|other| other.name == imported.name) {
                left.extend(of(&imported.name, &imported.text));
                found.push(imported);
            }
        }
        found
    }
}

/// The definitions of a text's aliases of types and attributes, `!name = type`, without all else: what they mean can be asked of a text that is not whole.
pub fn aliases(text: &str) -> String {
    signatures::aliases(text)
}
