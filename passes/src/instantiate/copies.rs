//! `cute.instantiate`: what is in a module with parameters, in the places where it is asked for.

use super::Instantiation;
use cute_ir::{
    Expected, Failure, attributes,
    diag::{self, each},
    mlir::*,
    names::{builtin, did_you_mean},
    ops::cute,
    parameters::Bindings,
};
use melior::ir::{Attribute, attribute::StringAttribute, operation::OperationLike};
use std::collections::HashSet;

/// Puts copies in place of each `cute.instantiate` among `ops`, the ops of a module, and takes the modules that they are made of out of it. The
/// other ops are left.
pub(super) fn put<'c>(
    instantiation: &Instantiation<'c, '_>,
    ops: Vec<Op<'c>>,
    outer: &Bindings<'c>,
) -> Result<Vec<Op<'c>>, Failure> {
    let is_source = |op: &Op<'c>| {
        name_of(*op) == builtin::MODULE && attribute_of(*op, attributes::PARAMETERS).is_some()
    };
    let (asked, others): (Vec<Op>, Vec<Op>) = ops
        .into_iter()
        .partition(|op| name_of(*op) == cute::INSTANTIATE);
    let (sources, others): (Vec<Op>, Vec<Op>) = others.into_iter().partition(is_source);
    each(asked, |op| copy(instantiation, op, &sources, outer))?;
    each(sources, |source| instantiation.rewriter.erase(source))?;
    Ok(others)
}

fn copy<'c>(
    instantiation: &Instantiation<'c, '_>,
    op: Op<'c>,
    sources: &[Op<'c>],
    outer: &Bindings<'c>,
) -> Result<(), Failure> {
    let asked = cute::Instantiate::of(op).expected(op, "a cute.instantiate")?;
    let name = asked
        .source()
        .and_then(symbol_of)
        .and_then(|mut names| names.pop());
    let name = name.expected(op, "the name of a module")?;
    let suffix = asked.suffix().and_then(string_value).unwrap_or_default();
    let named = |source: &&Op<'c>| string_of(**source, "sym_name") == Some(name);
    let Some(source) = sources.iter().find(named).copied() else {
        let names = sources
            .iter()
            .filter_map(|source| string_of(*source, "sym_name"));
        return Err(diag::error(
            op.location(),
            format!(
                "'cute.instantiate' op expected a module @{name} with cute.parameters beside it, found none{}",
                did_you_mean(name, names)
            ),
        ));
    };
    let given = attribute_of(op, "parameters");
    let values = instantiation.values(source, given, op.location());
    let values = values.map_err(|wrong| {
        let here = (source.location(), "the module is here");
        let message = format!("'cute.instantiate' op {wrong}");
        diag::error_with_notes(op.location(), message, &[here])
    })?;
    let mut bindings = outer.clone();
    bindings.extend(&values);
    if let (Some(container), Some(module)) = (
        attribute_of(source, attributes::CONTAINER_MODULE),
        parent_op(op),
    ) {
        set_attribute(module, attributes::CONTAINER_MODULE, container);
    }
    let body: Vec<Op<'c>> = body_of(source, 0).map(ops_of).unwrap_or_default();
    let renamed: HashSet<&str> = body
        .iter()
        .filter_map(|op| string_of(*op, "sym_name"))
        .collect();
    let before = Builder::before(op);
    let mut copies = Vec::new();
    for one in body {
        let at = before.at_location(one.location());
        copies.push(at.clone_op(one, &mut Mapping::new()));
    }
    for copy in &copies {
        for inner in std::iter::once(*copy).chain(nested_ops(*copy)) {
            rename(inner, &renamed, suffix)?;
            relocate(inner, op.location());
        }
        if let Some(name) = string_of(*copy, "sym_name") {
            let name = StringAttribute::new(context_of(op), &format!("{name}{suffix}"));
            set_attribute(*copy, "sym_name", name.into());
        }
    }
    instantiation.rewriter.erase(op)?;
    each(copies, |copy| instantiation.within(copy, &bindings))
}

/// Lets an op name what has another name in the copy.
fn rename<'c>(op: Op<'c>, renamed: &HashSet<&str>, suffix: &str) -> Result<(), Failure> {
    for (name, value) in attributes_of(op) {
        let Some(path) = symbol_of(value).filter(|path| renamed.contains(path[0])) else {
            continue;
        };
        let mut text = format!("@\"{}{suffix}\"", path[0]);
        for inner in &path[1..] {
            text += &format!("::@\"{inner}\"");
        }
        let symbol = Attribute::parse(context_of(op), &text);
        set_attribute(op, name, symbol.expected(op, "a name of a symbol")?);
    }
    Ok(())
}

/// Gives an op and the arguments of its regions locations that say where the copy was asked for.
pub(crate) fn relocate<'c>(op: Op<'c>, from: melior::ir::Location<'c>) {
    set_location(op, called_from(op.location(), from));
    for argument in blocks_of(op).into_iter().flat_map(arguments_of) {
        set_argument_location(argument, called_from(location_of(argument), from));
    }
}
