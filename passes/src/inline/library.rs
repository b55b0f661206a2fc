//! The library that comes with the compiler: functions that a GPU module imports by the name of a part (`ir/lib`).

/// The parts by name, each with its text.
const PARTS: &[(&str, &str)] = &[
    ("std/copy", include_str!("../../../ir/lib/std/copy.mlir")),
    ("std/index", include_str!("../../../ir/lib/std/index.mlir")),
    ("std/mma", include_str!("../../../ir/lib/std/mma.mlir")),
    (
        "std/reduce",
        include_str!("../../../ir/lib/std/reduce.mlir"),
    ),
    ("std/scan", include_str!("../../../ir/lib/std/scan.mlir")),
    (
        "std/softmax",
        include_str!("../../../ir/lib/std/softmax.mlir"),
    ),
];

/// The parts of the library by name, such as `std/copy`, each with its text.
pub fn library() -> &'static [(&'static str, &'static str)] {
    PARTS
}
