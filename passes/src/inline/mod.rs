//! `cute-inline`: the bodies of functions on tensors, layouts, atoms and tiled operations in place of their calls.
//!
//! Such values have no form below the level on which they are written, so that no call could pass them. An op that is inlined keeps
//! its own place, with those of the calls that led there: diagnostics name the chain, outermost last. Types that a function leaves open
//! (`!cute.any`) are inferred anew of what each call gives (`open.rs`), and what depends on them is verified then; so are types that name the
//! function's parameters, whose values the call says. Functions of the library and of files are taken into a GPU module that
//! imports them (`imports.rs`), for as long as the pass runs. Behind that, launches by a shape become those of MLIR (`launches.rs`).

mod imports;
mod launches;

use crate::{
    branches::Taken,
    instantiate::{relocate, replace_param},
    open,
};
use cute_ir::ops::{cute, func, gpu};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec, attributes,
    diag::{self, each},
    mlir::*,
    parameters::{self, Bindings},
    types::CuteType,
    verify,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-inline",
    description: "Put the bodies of functions on tensors, layouts, atoms and tiled operations in place of their calls",
    anchor: Anchor::Parametric,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let all = nested_ops(module);
    let outside = |op: &Op<'c>| name_of(*op) == cute::CALL && parent_of(*op, gpu::MODULE).is_none();
    each(all.iter().copied().filter(outside), |call| {
        Err(diag::error(
            call.location(),
            "'cute.call' op calls outside of a gpu.module, where nothing is put in place of it; expected func.call",
        ))
    })?;
    let beside = |op: Op<'c>| parent_op(op).is_some_and(|parent| name_of(parent) == gpu::MODULE);
    let lost = all.iter().copied();
    let lost = lost.filter(|op| name_of(*op) == cute::IMPORT && !beside(*op));
    each(lost, |import| {
        Err(diag::error(
            import.location(),
            "'cute.import' op imports for nobody here; expected it in a gpu.module, beside the kernels that call what it imports",
        ))
    })?;
    let gpu_modules = all.into_iter().filter(|op| name_of(*op) == gpu::MODULE);
    each(gpu_modules, |module| {
        let imported = imports::take(rewriter, module)?;
        let inliner = Inliner::of(rewriter, module, &imported);
        let kernels: Vec<Op<'c>> = functions_of(module)
            .filter(|op| name_of(*op) == gpu::FUNC)
            .collect();
        each(kernels, |kernel| inliner.kernel(kernel))?;
        inliner.erase()
    })?;
    launches::make(rewriter, module)
}

/// The most ops that calls become, so that functions which call others several times each end.
const MOST_OPS: usize = 1 << 20;

/// The functions of a GPU module, by name.
struct Inliner<'c> {
    rewriter: &'c Rewriter<'c>,
    module: Op<'c>,
    functions: HashMap<&'c str, Op<'c>>,
    /// Those of which every call is replaced, however it is written.
    inlined: HashSet<&'c str>,
    /// The ops that calls have become.
    ops: Cell<usize>,
}

impl<'c> Inliner<'c> {
    fn of(rewriter: &'c Rewriter<'c>, module: Op<'c>, imported: &[&'c str]) -> Self {
        let functions: HashMap<&str, Op<'c>> = functions_of(module)
            .filter(|op| name_of(*op) == func::FUNC)
            .filter_map(|op| Some((string_of(op, "sym_name")?, op)))
            .collect();
        let all = functions.iter().filter(|(_, op)| is_inlined(**op));
        let mut inlined: HashSet<&str> = all.map(|(name, _)| *name).collect();
        inlined.extend(imported);
        // Whoever calls one that allocates, allocates.
        loop {
            let known = inlined.len();
            for (name, op) in &functions {
                let mut calls = nested_ops(*op).into_iter().filter_map(Called::of);
                if calls.any(|called| inlined.contains(called.name)) {
                    inlined.insert(name);
                }
            }
            if inlined.len() == known {
                break;
            }
        }
        Self {
            rewriter,
            module,
            functions,
            inlined,
            ops: Cell::new(0),
        }
    }

    /// Visits all ops of a kernel, but those that use results of one with a mistake, of which no more can be said. What has been put in place of
    /// calls is verified: blocks and their threads are known of it only now.
    fn kernel(&self, kernel: Op<'c>) -> Result<(), Failure> {
        let before = self.ops.get();
        let body = blocks_of(kernel).into_iter().flat_map(ops_of);
        let mut unknown = HashSet::new();
        each(body.collect::<Vec<_>>(), |op| {
            let results: Vec<_> = results_of(op).into_iter().map(key).collect();
            if values_used_by(op)
                .into_iter()
                .any(|value| unknown.contains(&key(value)))
            {
                unknown.extend(results);
                return Ok(());
            }
            self.visit(op, None, &mut Vec::new())
                .inspect_err(|_| unknown.extend(results))
        })?;
        if self.ops.get() != before {
            diag::verify(kernel)?;
        }
        // They have been verified, with all that they ask known.
        let mut checks = nested_ops(kernel);
        checks.retain(|op| name_of(*op) == cute::CHECK_WARPS);
        self.rewriter.erase_all(checks)
    }

    /// Replaces an op that is a call, and the calls within one that is none; types that were open are known behind it, and parameters have their values. Ops
    /// are visited in their order, so that operands' types are known. `chain` has the functions whose calls have led here. Of a branch whose condition is
    /// known, only what is taken is looked at.
    fn visit(
        &self,
        op: Op<'c>,
        bindings: Option<&Bindings<'c>>,
        chain: &mut Vec<&'c str>,
    ) -> Result<(), Failure> {
        if let Some(bindings) = bindings {
            parameters::instantiate(op, bindings, op.location())?;
            if name_of(op) == cute::PARAM {
                return replace_param(self.rewriter, op, bindings);
            }
        }
        if let Some(mut taken) = Taken::of(op) {
            let mut ops = std::mem::take(&mut taken.ops).into_iter();
            ops.try_for_each(|op| self.visit(op, bindings, chain))?;
            return taken.close(self.rewriter);
        }
        if let Some(called) = Called::of(op)
            && (called.is_open || self.inlined.contains(called.name))
        {
            return self.inline(op, &called, chain);
        }
        if name_of(op) == cute::DEFERRED {
            return open::make(self.rewriter, op);
        }
        open::close(op)?;
        for inner in blocks_of(op).into_iter().flat_map(ops_of) {
            self.visit(inner, bindings, chain)?;
        }
        open::close_by_yielded(op)
    }

    /// Puts the body of a function in place of a call.
    fn inline(
        &self,
        call: Op<'c>,
        called: &Called<'c>,
        chain: &mut Vec<&'c str>,
    ) -> Result<(), Failure> {
        let name = called.name;
        let Some(function) = self.functions.get(name) else {
            let message = verify::missing(name, self.functions.keys().copied());
            return Err(diag::error(call.location(), message));
        };
        if chain.contains(&name) {
            return Err(diag::error(
                call.location(),
                format!(
                    "'{}' op calls @{name} within itself; functions on tensors are put in place of their calls, so that none can \
                     recur: write a loop",
                    name_of(call)
                ),
            ));
        }
        let body = body_of_function(*function, name, call)?;
        let given = operands_of(call);
        let bindings = called.bindings(call, *function)?;
        called.check(
            call,
            *function,
            &arguments_of(body),
            &given,
            bindings.as_ref(),
        )?;
        let before = Builder::before(call);
        let mut mapping = Mapping::new();
        for (argument, given) in arguments_of(body).into_iter().zip(given) {
            mapping.insert(key(argument), given);
        }
        let mut cloned = Vec::new();
        for op in ops_of(body) {
            cloned.push(before.at_location(op.location()).clone_op(op, &mut mapping));
        }
        let all: Vec<_> = cloned
            .iter()
            .flat_map(|op| std::iter::once(*op).chain(nested_ops(*op)))
            .collect();
        self.ops.set(self.ops.get() + all.len());
        if self.ops.get() > MOST_OPS {
            return Err(diag::error(
                call.location(),
                format!(
                    "calls of functions on tensors become more than {MOST_OPS} ops; write loops in place of calls"
                ),
            ));
        }
        for op in &all {
            relocate(*op, call.location());
        }
        // Stands for the results while calls among them are replaced.
        let end = cloned
            .pop()
            .expected(*function, "an op that ends the body")?;
        if results_of(call).len() > operands_of(end).len() {
            return Err(diag::error(
                call.location(),
                format!(
                    "'{}' op expected as many results as @{name} has, {}, found {}",
                    name_of(call),
                    operands_of(end).len(),
                    results_of(call).len()
                ),
            ));
        }
        chain.push(name);
        let mut cloned = cloned.into_iter();
        let visited = cloned.try_for_each(|op| self.visit(op, bindings.as_ref(), chain));
        chain.pop();
        visited?;
        for (i, (result, given)) in results_of(call)
            .into_iter()
            .zip(operands_of(end))
            .enumerate()
        {
            let (says, is) = (result.r#type(), given.r#type());
            if says != is && !open::is_open(says) {
                return Err(diag::error(
                    call.location(),
                    format!(
                        "'{}' op expected result {i} of type {is}, as @{name} gives it, found {says}; leave the type out",
                        name_of(call)
                    ),
                ));
            }
            replace_uses(result, given);
        }
        self.rewriter.erase(end)?;
        self.rewriter.erase(call)
    }

    /// Erases the functions of which every call is replaced, unless their addresses are taken.
    fn erase(&self) -> Result<(), Failure> {
        let taken: Vec<_> = nested_ops(self.module)
            .into_iter()
            .filter(|op| name_of(*op) == func::CONSTANT)
            .filter_map(|op| attribute_of(op, "value").and_then(symbol_of)?.pop())
            .collect();
        let functions = functions_of(self.module).filter(|op| {
            string_of(*op, "sym_name")
                .is_some_and(|name| self.inlined.contains(name) && !taken.contains(&name))
        });
        each(functions.collect::<Vec<_>>(), |op| self.rewriter.erase(op))
    }
}

/// The function that a call names.
struct Called<'c> {
    name: &'c str,
    /// Tells whether the call is one whose types the function may leave open.
    is_open: bool,
}

impl<'c> Called<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let (callee, is_open) = match name_of(op) {
            func::CALL => (func::Call::of(op)?.callee()?, false),
            cute::CALL => (attribute_of(op, "callee")?, true),
            _ => return None,
        };
        match symbol_of(callee)?[..] {
            [name] => Some(Self { name, is_open }),
            _ => None,
        }
    }

    /// The values of the function's parameters, where it has any.
    fn bindings(&self, call: Op<'c>, function: Op<'c>) -> Result<Option<Bindings<'c>>, Failure> {
        let given = attribute_of(call, "parameters");
        if given.is_none() && attribute_of(function, attributes::PARAMETERS).is_none() {
            return Ok(None);
        }
        let whose = format!("@{}", self.name);
        let bindings = parameters::declared(function).and_then(|all| {
            let mut bindings = Bindings::given(&all, given, &whose)?;
            bindings.bind_defaults(&all, &whose).map_err(|missing| {
                format!(
                    "{missing}; give it one behind the name, as in @f<{{D = 64}}> for a parameter D"
                )
            })?;
            Ok(bindings)
        });
        bindings.map(Some).map_err(|wrong| {
            let message = format!("'{}' op {wrong}", name_of(call));
            let here = (function.location(), "the function is here");
            diag::error_with_notes(call.location(), message, &[here])
        })
    }

    /// Checks what a call gives by what the function takes.
    fn check(
        &self,
        call: Op<'c>,
        function: Op<'c>,
        takes: &[Val<'c>],
        given: &[Val<'c>],
        bindings: Option<&Bindings<'c>>,
    ) -> Result<(), Failure> {
        let wrong = |message: String| {
            let here = (function.location(), "the function is here");
            Err(diag::error_with_notes(call.location(), message, &[here]))
        };
        if takes.len() != given.len() {
            return wrong(format!(
                "'{}' op expected {} arguments, as @{} takes, found {}",
                name_of(call),
                takes.len(),
                self.name,
                given.len()
            ));
        }
        for (i, (takes, given)) in takes.iter().zip(given).enumerate() {
            let (mut takes, given) = (takes.r#type(), given.r#type());
            if let Some(bindings) = bindings {
                takes = parameters::type_with(takes, bindings, function.location())?;
            }
            if takes != given && !open::is_open(takes) {
                return wrong(format!(
                    "'{}' op expected argument {i} of type {takes}, as @{} takes it, found {given}; write !cute.any there, if the \
                     function takes others as well",
                    name_of(call),
                    self.name
                ));
            }
        }
        Ok(())
    }
}

/// The functions and kernels of a GPU module.
fn functions_of<'c>(module: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    body_of(module, 0)
        .map(ops_of)
        .unwrap_or_default()
        .into_iter()
}

/// Tells whether the calls of a function are replaced by what it says itself: it has parameters, takes or gives values that no call can
/// pass, or allocates what is a kernel's.
fn is_inlined(function: Op<'_>) -> bool {
    let (inputs, results) = signature_of(function).unwrap_or_default();
    let allocates = |op: Op<'_>| {
        matches!(
            name_of(op),
            cute::MEMREF_ALLOCA | cute::CALL | cute::DEFERRED
        )
    };
    attribute_of(function, attributes::PARAMETERS).is_some()
        || inputs.into_iter().chain(results).any(has_no_form)
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
