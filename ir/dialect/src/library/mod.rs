//! Functions that a GPU module imports: those of the library that comes with the compiler, by the name of a part (`ir/lib`), and those of files; and
//! what functions give, as far as their texts say it.

pub mod files;
pub(crate) mod signatures;

/// The parts by name, each with its text.
const PARTS: &[(&str, &str)] = &[
    ("std/copy", include_str!("../../../lib/std/copy.mlir")),
    ("std/index", include_str!("../../../lib/std/index.mlir")),
    ("std/mma", include_str!("../../../lib/std/mma.mlir")),
    ("std/reduce", include_str!("../../../lib/std/reduce.mlir")),
    ("std/scan", include_str!("../../../lib/std/scan.mlir")),
    ("std/softmax", include_str!("../../../lib/std/softmax.mlir")),
];

/// The parts of the library by name, such as `std/copy`, each with its text.
pub fn parts() -> &'static [(&'static str, &'static str)] {
    PARTS
}

/// The definitions of a text's aliases of types and attributes, `!name = type`, without all else: what they mean can be asked of a text that is not whole.
pub fn aliases(text: &str) -> String {
    signatures::aliases(text)
}
