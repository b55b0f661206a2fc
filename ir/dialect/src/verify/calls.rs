//! Calls of functions, and the functions that there are for them.

use crate::{
    diag::{self, Failure},
    library::{self, Imported},
    mlir::*,
    names::{builtin, nearest},
    ops::{cute, gpu},
};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;

/// Verifies that the function of a call stands beside its kernel, or is imported there. MLIR asks no further behind the first error, in no order: what is wrong with
/// all calls of the module is said for the one that is asked for.
pub(crate) fn verify_symbols(op: Op<'_>) -> Result<(), Failure> {
    let Some((name, body)) = callee(op).zip(functions_around(op)) else {
        return Ok(());
    };
    let own = ops_of(body).into_iter();
    let own = own.filter(|op| string_of(*op, "sym_name") == Some(name));
    let own: Vec<_> = own.collect();
    if let Some(kernel) = own.iter().find(|op| name_of(**op) == gpu::FUNC) {
        return Err(diag::error_with_notes(
            op.location(),
            format!(
                "'cute.call' op expected a func.func @{name} in this gpu.module, found a kernel, which a function of the host launches, by cute.launch; move what \
                 both need to a func.func"
            ),
            &[(kernel.location(), "the kernel is here")],
        ));
    }
    if !own.is_empty() {
        return Ok(());
    }
    let Some(imported) = imported_by(body) else {
        return Ok(());
    };
    let mut texts = imported.iter();
    if texts.any(|imported| library::defines(&imported.text, name)) {
        return Ok(());
    }
    let own = ops_of(body).into_iter();
    let own = own.filter(|op| name_of(*op) != gpu::FUNC);
    let own = own.filter_map(|op| string_of(op, "sym_name").map(str::to_owned));
    let others = imported.iter();
    let others = others.flat_map(|imported| library::functions(&imported.text));
    let names: BTreeSet<String> = own.chain(others).collect();
    let is_known = |name: &str| names.contains(name);
    let inner = ops_of(body).into_iter().flat_map(nested_ops);
    diag::each(inner, |call| match callee(call) {
        Some(name) if !is_known(name) && functions_around(call) == Some(body) => Err(diag::error(
            call.location(),
            missing(name, names.iter().map(|name| &**name)),
        )),
        _ => Ok(()),
    })
}

/// The name that a call calls; nothing of other ops.
fn callee(op: Op<'_>) -> Option<&str> {
    let call = cute::Call::of(op)?;
    let callee = attribute_of(call.op(), "callee").and_then(symbol_of)?;
    callee.first().copied()
}

/// The block of the functions that a call may mean: of the `gpu.module` around it, or of a file that is there to be imported.
fn functions_around(op: Op<'_>) -> Option<Blk<'_>> {
    let mut above = parent_op(op)?;
    while !matches!(name_of(above), gpu::MODULE | builtin::MODULE) {
        above = parent_op(above)?;
    }
    body_of(above, 0)
}

/// The texts that are imported in a block, and those that these import; nothing where one of them cannot be read, which is said of its import.
fn imported_by(body: Blk<'_>) -> Option<Vec<Imported>> {
    let mut all = Vec::new();
    for import in ops_of(body).into_iter().filter_map(cute::Import::of) {
        let importer = place_of(import.op().location()).map_or_else(String::new, |at| at.file);
        let part = import.part().and_then(string_value).unwrap_or_default();
        let imported = Imported::of(&importer, part)?;
        let further = Imported::all(&imported.name, &imported.text);
        all.push(imported);
        all.extend(further);
    }
    Some(all)
}

/// The message about a call of a function that is not there, with what was meant: one of the library, or one of those that are known.
pub fn missing<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let import =
        |part: &str| format!("it is one of the library: write cute.import \"{part}\" there");
    let meant = if let Some(part) = library::part_with(name) {
        format!("; {}", import(part))
    } else if let Some(near) = nearest(name, known) {
        format!("; did you mean '{near}'?")
    } else {
        let parts = library::parts().iter();
        let all = parts.flat_map(|(part, text)| {
            let names = library::functions(text).into_iter();
            names.map(move |name| (*part, name))
        });
        let all: Vec<_> = all.collect();
        let near = nearest(name, all.iter().map(|(_, name)| &**name));
        let near = near.and_then(|near| all.iter().find(|(_, name)| name == near));
        near.map_or_else(String::new, |(part, near)| {
            format!("; did you mean '{near}'? {}", import(part))
        })
    };
    format!("'cute.call' op expected a func.func @{name} in this gpu.module, found none{meant}")
}
