//! The library that comes with the compiler: functions that a GPU module imports by the name of a part (`ir/lib`).

use cute_ir::{
    Expected, Failure,
    diag::{self, each},
    mlir::*,
    names::did_you_mean,
    ops::cute,
};
use melior::ir::operation::OperationLike;

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

/// Takes the functions of the parts that a GPU module imports into it, and of those that these need, and gives their names.
pub(super) fn import<'c>(
    rewriter: &'c Rewriter<'c>,
    module: Op<'c>,
) -> Result<Vec<&'c str>, Failure> {
    let Some(body) = body_of(module, 0) else {
        return Ok(Vec::new());
    };
    let mut own: Vec<&str> = Vec::new();
    let mut imports = Vec::new();
    for op in ops_of(body) {
        own.extend(string_of(op, "sym_name"));
        imports.extend(cute::Import::of(op));
    }
    let (mut imported, mut parts) = (Vec::new(), Vec::new());
    while !imports.is_empty() {
        // What a part needs of others, it imports itself.
        let mut needed = Vec::new();
        each(imports, |import| {
            let op = import.op();
            let name = import.part().and_then(string_value).unwrap_or_default();
            let Some((name, text)) = PARTS.iter().find(|(part, _)| *part == name) else {
                return Err(no_part(op, name));
            };
            if !parts.contains(name) {
                parts.push(*name);
                let file = format!("{name}.mlir");
                let functions = parse_module(context_of(module), &file, text);
                let functions = functions.expected(op, "a part of the library that is valid")?;
                for taken in take_ops(functions, body) {
                    if let Some(import) = cute::Import::of(taken) {
                        needed.push(import);
                        continue;
                    }
                    let name = string_of(taken, "sym_name");
                    let name = name.expected(op, "functions with names")?;
                    if own.contains(&name) {
                        return Err(diag::error(
                            op.location(),
                            format!(
                                "'cute.import' op imports @{name}, which this gpu.module has itself; expected another name there"
                            ),
                        ));
                    }
                    imported.push(name);
                }
            }
            rewriter.erase(op)
        })?;
        imports = needed;
    }
    Ok(imported)
}

fn no_part(import: Op<'_>, name: &str) -> Failure {
    let names = PARTS.iter().map(|(part, _)| *part);
    let (last, others) = PARTS.split_last().unwrap_or((&("", ""), &[]));
    let others: Vec<&str> = others.iter().map(|(part, _)| *part).collect();
    diag::error(
        import.location(),
        format!(
            "'cute.import' op expected a part of the library, {} or {}, found \"{name}\"{}",
            others.join(", "),
            last.0,
            did_you_mean(name, names)
        ),
    )
}
