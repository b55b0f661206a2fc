//! `cute-instantiate`: modules and functions with parameters, with values in the places of their names.
//!
//! Values come from `cute.instantiate`, from `set`, and from defaults. Parameters of functions that kernels call stay: each call gives their
//! values where `cute-inline` puts the function in its place; what such a function needs of the parameters of modules around it, it is given as
//! defaults of its own. Types of host functions that were open are inferred here, those in kernels by `cute-inline`.

mod copies;
mod settings;

pub(crate) use copies::relocate;
pub use settings::{InstantiateOptions, Setting, Settings};

use crate::{branches::Taken, open};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec, attributes,
    diag::{self, each},
    mlir::*,
    names::{builtin, did_you_mean},
    ops::{cute, func, gpu},
    options::Options,
    parameters::{self, Bindings, Bound, Kind},
};
use melior::ir::{Attribute, Location, ValueLike, operation::OperationLike};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, HashSet},
};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-instantiate",
    description: "Put values in place of parameters of modules and functions",
    anchor: Anchor::Parametric,
    options: InstantiateOptions::SPECS,
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let options =
        InstantiateOptions::of(options).map_err(|wrong| diag::of_option(module, wrong))?;
    let known = settable(module);
    let named = each(options.set.names(), |name| match known.contains_key(name) {
        true => Ok(()),
        false => Err(unknown(module, name, &known)),
    });
    let instantiation = Instantiation {
        rewriter,
        settings: &options.set,
        read: RefCell::default(),
        given: RefCell::default(),
    };
    named.and(instantiation.within(module, &Bindings::default()))?;
    each(options.set.names(), |name| {
        instantiation.check_read(module, name)
    })?;
    // Which values are wrong for what takes them is known only now.
    match known.is_empty() {
        true => Ok(()),
        false => diag::verify(module),
    }
}

/// The parameters that settings can give values, each with its kind: those of modules and of functions of the host. What is wrong with a declaration is said where its
/// values are put in place.
fn settable<'c>(module: Op<'c>) -> BTreeMap<&'c str, Kind> {
    let all = std::iter::once(module).chain(nested_ops(module));
    let all = all.filter(|op| !is_called(*op));
    all.flat_map(|op| parameters::declared(op).unwrap_or_default())
        .map(|declared| (declared.name, declared.kind))
        .collect()
}

/// The error of a value for a parameter that is not there.
fn unknown(module: Op<'_>, name: &str, known: &BTreeMap<&str, Kind>) -> Failure {
    let has = match known.is_empty() {
        true => "of which the module has none".to_owned(),
        false => listed(known.iter().map(|(name, kind)| (*name, *kind))),
    };
    let mut called = nested_ops(module).into_iter().filter(|op| is_called(*op));
    let of_function = called.find_map(|op| {
        let declared = parameters::declared(op).ok()?;
        let found = declared.iter().any(|declared| declared.name == name);
        found.then(|| string_of(op, "sym_name"))?
    });
    let meant = match of_function {
        Some(function) => format!(
            "; that of @{function} has a value in each call, as in cute.call @{function}<{{{name} = ...}}>"
        ),
        None => did_you_mean(name, known.keys().copied()),
    };
    diag::of_option(
        module,
        format!(
            "set: expected values of the module's parameters, {has}, found one of '{name}'{meant}"
        ),
    )
}

/// Parameters with their kinds, as a list in a message.
fn listed<'c>(all: impl Iterator<Item = (&'c str, Kind)>) -> String {
    let all = all.map(|(name, kind)| format!("{name} ({})", kind.name()));
    all.collect::<Vec<_>>().join(", ")
}

/// The work on a module and all that is within it.
struct Instantiation<'c, 's> {
    rewriter: &'c Rewriter<'c>,
    settings: &'s Settings,
    /// The names of settings that were the value of a parameter.
    read: RefCell<HashSet<String>>,
    /// The first `cute.instantiate` that gives a parameter of the name of a setting its value.
    given: RefCell<HashMap<String, Location<'c>>>,
}

impl<'c> Instantiation<'c, '_> {
    /// Puts values in the places of parameters in an op and in what is within it. `outer` has those of the ops around it.
    fn within(&self, op: Op<'c>, outer: &Bindings<'c>) -> Result<(), Failure> {
        let wrong =
            |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
        let mut bindings = outer.clone();
        if let Some(own) = attribute_of(op, attributes::PARAMETERS) {
            if is_called(op) {
                let all = outer.declare(context_of(op), own).map_err(wrong)?;
                set_attribute(op, attributes::PARAMETERS, all);
                return Ok(());
            }
            bindings.extend(&self.values(op, None, op.location()).map_err(wrong)?);
            remove_attribute(op, attributes::PARAMETERS);
        }
        parameters::instantiate(op, &bindings, op.location())?;
        if name_of(op) == cute::PARAM {
            return replace_param(self.rewriter, op, &bindings);
        }
        if let Some(mut taken) = Taken::of(op) {
            let ops = std::mem::take(&mut taken.ops);
            each(ops, |op| self.within(op, &bindings))?;
            return taken.close(self.rewriter);
        }
        let mut inner: Vec<Op<'c>> = blocks_of(op).into_iter().flat_map(ops_of).collect();
        if name_of(op) == builtin::MODULE {
            inner = copies::put(self, inner, &bindings)?;
        }
        each(inner, |inner| self.within(inner, &bindings))?;
        match name_of(op) == func::FUNC && parent_of(op, gpu::MODULE).is_none() {
            true => open::close_within(self.rewriter, op),
            false => Ok(()),
        }
    }

    /// The values of the parameters that an op declares: those that are given, else those that are set, else the defaults.
    /// `at` is where they are given.
    fn values(
        &self,
        op: Op<'c>,
        given: Option<Attribute<'c>>,
        at: Location<'c>,
    ) -> Result<Bindings<'c>, String> {
        let whose = match string_of(op, "sym_name") {
            Some(name) => format!("@{name}"),
            None => "the module".to_owned(),
        };
        let declared = parameters::declared(op)?;
        let mut bindings = Bindings::given(&declared, given, &whose)?;
        for known in &declared {
            let Some(text) = self.settings.get(known.name) else {
                continue;
            };
            let name = known.name.to_owned();
            if bindings.get(known.name).is_some() {
                self.given.borrow_mut().entry(name).or_insert(at);
            } else {
                self.read.borrow_mut().insert(name);
                let bound = Bound::read(context_of(op), known.kind, text).map_err(|wrong| {
                    format!(
                        "has the parameter {}, of which set says the value: {wrong}; its parameters are {}",
                        known.name,
                        listed(declared.iter().map(|all| (all.name, all.kind)))
                    )
                })?;
                bindings.bind(known.name, bound);
            }
        }
        bindings
            .bind_defaults(&declared, &whose)
            .map_err(|missing| {
                format!("{missing}; give it one, or set it, as in set=D=128 for a parameter D")
            })?;
        Ok(bindings)
    }
}

impl<'c> Instantiation<'c, '_> {
    /// Refuses a setting that is the value of no parameter, though parameters have its name.
    fn check_read(&self, module: Op<'c>, name: &str) -> Result<(), Failure> {
        if self.read.borrow().contains(name) {
            return Ok(());
        }
        Err(match self.given.borrow().get(name) {
            Some(at) => diag::error(
                *at,
                format!(
                    "'cute.instantiate' op says the value of {name}, as all do that {name} is a parameter of, so that what set says of it changes \
                     nothing; leave {name} out here, or out of set"
                ),
            ),
            None => diag::of_option(
                module,
                format!(
                    "set: the value of {name} changes nothing, for what has this parameter is not made; expected a cute.instantiate of its module"
                ),
            ),
        })
    }
}

/// Tells whether a function's parameters are given where it is called.
fn is_called(op: Op<'_>) -> bool {
    name_of(op) == func::FUNC && parent_of(op, gpu::MODULE).is_some()
}

/// Puts a constant in place of a `cute.param`.
pub(crate) fn replace_param<'c>(
    rewriter: &'c Rewriter<'c>,
    op: Op<'c>,
    bindings: &Bindings<'c>,
) -> Result<(), Failure> {
    let param = cute::Param::of(op).expected(op, "a cute.param")?;
    let text = param.value().and_then(string_value).unwrap_or_default();
    let wrong = |message: String| {
        let message = format!("'cute.param' op \"{text}\" with {bindings}: {message}");
        diag::error(op.location(), message)
    };
    let value = bindings.param(context_of(op), text).map_err(wrong)?;
    let ty = param.result().r#type();
    if int_width(ty) == Some(32) && i32::try_from(value).is_err() {
        return Err(wrong(format!(
            "expected an integer of 32 bits, found {value}; write its type, i64"
        )));
    }
    replace_uses(param.result(), Builder::before(op).constant(ty, value)?);
    rewriter.erase(op)
}
