//! `cute-inline`: the bodies of functions on tensors, layouts, atoms and tiled operations in place of their calls.
//!
//! Such values have no form below the level on which they are written, so that no call could pass them. An op that is inlined keeps
//! its own place, with those of the calls that led there: diagnostics name the chain, outermost last.

use cute_ir::ops::{cute, func, gpu};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    diag::{self, each},
    mlir::*,
    types::CuteType,
};
use melior::ir::{Location, Type, operation::OperationLike};
use std::{cell::Cell, collections::HashMap};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-inline",
    description: "Put the bodies of functions on tensors, layouts, atoms and tiled operations in place of their calls",
    anchor: Anchor::Module,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let gpu_modules: Vec<Op<'c>> = nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == gpu::MODULE)
        .collect();
    each(gpu_modules, |module| {
        let inliner = Inliner::of(rewriter, module);
        let kernels: Vec<Op<'c>> = functions_of(module)
            .filter(|op| name_of(*op) == gpu::FUNC)
            .collect();
        each(kernels, |kernel| inliner.inline_into(kernel))?;
        inliner.erase()
    })
}

/// The most ops that calls become, so that functions which call others several times each end.
const MOST_OPS: usize = 1 << 20;

/// The functions of a GPU module whose calls are replaced, by name.
struct Inliner<'c> {
    rewriter: &'c Rewriter<'c>,
    module: Op<'c>,
    functions: HashMap<&'c str, Op<'c>>,
    /// The ops that calls have become.
    ops: Cell<usize>,
}

impl<'c> Inliner<'c> {
    fn of(rewriter: &'c Rewriter<'c>, module: Op<'c>) -> Self {
        let all: Vec<(&str, Op<'c>)> = functions_of(module)
            .filter(|op| name_of(*op) == func::FUNC)
            .filter_map(|op| Some((string_of(op, "sym_name")?, op)))
            .collect();
        let mut functions: HashMap<_, _> = all
            .iter()
            .copied()
            .filter(|(_, op)| is_inlined(*op))
            .collect();
        // Whoever calls one that allocates, allocates.
        loop {
            let known = functions.len();
            let calls = |op: &Op<'c>| nested_ops(*op).into_iter().filter_map(callee_of);
            for (name, op) in &all {
                if calls(op).any(|callee| functions.contains_key(callee)) {
                    functions.insert(name, *op);
                }
            }
            if functions.len() == known {
                break;
            }
        }
        Self {
            rewriter,
            module,
            functions,
            ops: Cell::new(0),
        }
    }

    /// Replaces the calls within a kernel.
    fn inline_into(&self, kernel: Op<'c>) -> Result<(), Failure> {
        each(nested_ops(kernel), |op| self.inline(op, &mut Vec::new()))
    }

    /// Replaces an op that is a call, to which calls of the functions in `chain` have led.
    fn inline(&self, call: Op<'c>, chain: &mut Vec<&'c str>) -> Result<(), Failure> {
        let called = callee_of(call).and_then(|name| self.functions.get_key_value(name));
        let Some((name, function)) = called else {
            return Ok(());
        };
        if chain.contains(name) {
            return Err(diag::error(
                call.location(),
                format!(
                    "'func.call' op calls @{name} within itself; functions on tensors are put in place of their calls, so that none \
                     can recur: write a loop"
                ),
            ));
        }
        let body = body_of_function(*function, name, call)?;
        let before = Builder::before(call);
        let mut mapping = Mapping::new();
        for (argument, given) in arguments_of(body).into_iter().zip(operands_of(call)) {
            mapping.insert(key(argument), given);
        }
        let mut ops = ops_of(body);
        let end = ops.pop().expected(*function, "an op that ends the body")?;
        let mut cloned = Vec::new();
        for op in ops {
            let clone = before.at_location(op.location()).clone_op(op, &mut mapping);
            cloned.push(clone);
            cloned.extend(nested_ops(clone));
        }
        self.ops.set(self.ops.get() + cloned.len());
        if self.ops.get() > MOST_OPS {
            return Err(diag::error(
                call.location(),
                format!(
                    "calls of functions on tensors become more than {MOST_OPS} ops; write loops in place of calls"
                ),
            ));
        }
        for op in &cloned {
            relocate(*op, call.location());
        }
        for (result, given) in results_of(call).into_iter().zip(operands_of(end)) {
            let value = mapping.get(&key(given)).copied().unwrap_or(given);
            replace_uses(result, value);
        }
        chain.push(name);
        let inlined = each(cloned, |op| self.inline(op, chain));
        chain.pop();
        inlined?;
        self.rewriter.erase(call)
    }

    /// Erases the functions, unless their addresses are taken.
    fn erase(&self) -> Result<(), Failure> {
        let taken: Vec<_> = nested_ops(self.module)
            .into_iter()
            .filter(|op| name_of(*op) == func::CONSTANT)
            .filter_map(|op| attribute_of(op, "value").and_then(symbol_of)?.pop())
            .collect();
        let functions = functions_of(self.module).filter(|op| {
            string_of(*op, "sym_name")
                .is_some_and(|name| self.functions.contains_key(name) && !taken.contains(&name))
        });
        each(functions.collect::<Vec<_>>(), |op| self.rewriter.erase(op))
    }
}

/// The functions and kernels of a GPU module.
fn functions_of<'c>(module: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    body_of(module, 0)
        .map(ops_of)
        .unwrap_or_default()
        .into_iter()
}

/// The name of the function that an op calls.
fn callee_of<'c>(op: Op<'c>) -> Option<&'c str> {
    let names = func::Call::of(op)?.callee().and_then(symbol_of)?;
    match names[..] {
        [name] => Some(name),
        _ => None,
    }
}

/// Tells whether the calls of a function are replaced by what it says itself: it takes or gives values that no call can pass, or
/// allocates what is a kernel's.
fn is_inlined(function: Op<'_>) -> bool {
    let signature = attribute_of(function, "function_type").and_then(type_value);
    let (inputs, results) = signature.and_then(function_types).unwrap_or_default();
    let allocates = |op: Op<'_>| name_of(op) == cute::MEMREF_ALLOCA;
    inputs.into_iter().chain(results).any(has_no_form)
        || nested_ops(function).into_iter().any(allocates)
}

/// Tells whether values of a type are nothing that a call can pass; those of the layout algebra are passed as their leaves.
fn has_no_form(ty: Type<'_>) -> bool {
    CuteType::of(ty).is_some_and(|ty| ty.value().is_none())
}

/// The body of a function, which is one block.
fn body_of_function<'c>(function: Op<'c>, name: &str, call: Op<'c>) -> Result<Blk<'c>, Failure> {
    let here = &[(function.location(), "the function is here")];
    let Some(body) = body_of(function, 0) else {
        return Err(diag::error_with_notes(
            call.location(),
            format!(
                "expected the body of @{name}, which is put in place of its calls, found a declaration; write the function in this \
                 gpu.module"
            ),
            here,
        ));
    };
    if next_block(body).is_some() {
        return Err(diag::error(
            function.location(),
            format!(
                "expected one block in @{name}, found several; write loops and branches as scf ops"
            ),
        ));
    }
    Ok(body)
}

/// Gives an op and the arguments of its regions locations that say from where they were called.
fn relocate<'c>(op: Op<'c>, from: Location<'c>) {
    set_location(op, called_from(op.location(), from));
    for argument in blocks_of(op).into_iter().flat_map(arguments_of) {
        set_argument_location(argument, called_from(location_of(argument), from));
    }
}
