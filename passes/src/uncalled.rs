//! `cute-warn-uncalled`: warnings of functions that the compiled code is without, as nothing calls them.
//!
//! Functions that are imported are never meant: they are not there yet. A file without a `gpu.module` is one that others import.

use cute_ir::{
    Anchor, Failure, PassSpec,
    attributes::{COMPUTES, GPU_KERNEL},
    diag,
    mlir::*,
    ops::{func, gpu},
};
use melior::ir::operation::OperationLike;
use std::collections::HashSet;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-warn-uncalled",
    description: "Warn of functions that nothing calls, which the compiled code is without",
    anchor: Anchor::Parametric,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let all = nested_ops(module);
    if all.iter().all(|op| name_of(*op) != gpu::MODULE) {
        return Ok(());
    }
    let attributes = all.iter().flat_map(|op| attributes_of(*op));
    let symbols = attributes.filter_map(|(_, value)| symbol_of(value));
    let mut called: HashSet<&str> = symbols.flatten().collect();
    // Regions, as what a function computes names them.
    let computes = all.iter().filter_map(|op| attribute_of(*op, COMPUTES));
    let entries = computes.filter_map(array_of).flatten();
    let named = entries.filter_map(entries_of).flatten();
    called.extend(named.filter_map(|(_, value)| symbol_of(value)).flatten());
    for op in all {
        let Some(name) = string_of(op, "sym_name").filter(|name| !called.contains(name)) else {
            continue;
        };
        if let Some(warning) = uncalled(op, name) {
            diag::warning(op.location(), warning, &[]);
        }
    }
    Ok(())
}

/// The warning of a function that nothing calls; nothing of what is compiled all the same, and of what is no function with a body.
fn uncalled(op: Op<'_>, name: &str) -> Option<String> {
    body_of(op, 0)?;
    let is_private = string_of(op, "sym_visibility") == Some("private");
    match (name_of(op), parent_of(op, gpu::MODULE).is_some()) {
        (gpu::FUNC, _) if attribute_of(op, GPU_KERNEL).is_none() => Some(format!(
            "'gpu.func' op @{name} is no kernel, and nothing calls it: the compiled code is without it; write 'kernel' behind its arguments, if it is one"
        )),
        (func::FUNC, true) => Some(format!(
            "'func.func' op nothing calls @{name}: the compiled code is without it, and its types are not known for any call; call it, or take it out"
        )),
        (func::FUNC, false) if is_private => Some(format!(
            "'func.func' op nothing calls @{name}, and it is private: no package has it; leave 'private' out, or take the function out"
        )),
        _ => None,
    }
}
