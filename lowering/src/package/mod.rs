//! `cute-emit-package`: a compiled module as a kernel package.
//!
//! A host function is a launch plan (`plan.rs`): its arguments are tensors and numbers, its launches pass them on, and sizes are
//! integer arithmetic on them. `cute.computes` says what it computes (`computes.rs`). An argument may have attributes:
//! `cute.name = "alpha"`, `cute.default = 1.0 : f32` of a number, `cute.access = "read"` of a tensor (`write`, `read_write`).

mod apart;
mod begin;
mod choice;
mod computes;
mod plan;
mod region;
mod words;

use crate::binary;
use apart::Span;
use cute_ir::options::Options;
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{ACCESS, DEFAULT, NAME},
    diag,
    mlir::{
        FORMAT_ASSEMBLY, FORMAT_BINARY, Object, Op, Rewriter, Target, argument_attribute,
        arguments_of, body_of, each_operand, entries_of, entry_of, float_value, integer_value,
        name_of, nested_ops, ops_of, string_of, string_value,
    },
    ops::{func, gpu},
    types::{CuteType, MemRef},
};
use cute_passes::arch;
use cute_runtime::Element;
use cute_runtime::package::{
    Access, Arg, Compute, Expr, Factor, Function, ImageSource, KernelInfo, Launch, Number,
    Op as Apply, Package, PackageError, Param, View,
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

cute_ir::options! {
    /// Options of `cute-emit-package`.
    pub struct PackageOptions {
        file: Option<PathBuf> = None, "", "Where to write the kernel package";
    }
}

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-emit-package",
    description: "Write the compiled module as a kernel package",
    anchor: Anchor::Module,
    options: PackageOptions::SPECS,
    run,
};

/// The name of an element type in packages, which is MLIR's but for unsigned bytes.
fn element_of(ty: Type<'_>) -> String {
    match ty.to_string().as_str() {
        "ui8" => "u8".to_owned(),
        name => name.to_owned(),
    }
}

/// The program that writes packages.
pub(crate) const PRODUCER: &str = concat!("cute-opt ", env!("CARGO_PKG_VERSION"));

fn run<'c>(_: &Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let fail = |message: String| diag::of_option(module, message);
    let wrong = |e| fail(format!("cute-emit-package: {e}"));
    let PackageOptions { file } = PackageOptions::of(options).map_err(wrong)?;
    let file = file.ok_or_else(|| wrong("expected file=, the path of the package".to_owned()))?;
    let package = package(module)?;
    package.write_file(file).map_err(|e| fail(e.to_string()))
}

/// The package of a module whose kernels are in `gpu.binary` ops. Emits diagnostics.
pub fn from_module(module: Op<'_>) -> Result<Package, Failure> {
    diag::catch_panics(module.location(), PASS.name, || package(module))
}

fn package(module: Op<'_>) -> Result<Package, Failure> {
    let body = body_of(module, 0).expected(module, "a body")?;
    // A module has no place of its own in a file.
    let first = ops_of(body)
        .into_iter()
        .find(|op| name_of(*op) == func::FUNC);
    let place = first.map_or(module.location(), |op| op.location());
    let fail = |message: String| diag::error(place, message);
    let mut builder = Package::builder(PRODUCER);
    let mut functions = Vec::new();
    let mut images: BTreeMap<String, ImageSource> = BTreeMap::new();
    let mut places = HashMap::new();
    for op in ops_of(body) {
        match name_of(op) {
            func::FUNC => {
                if let Some(function) = function(op)? {
                    places.insert(function.name.clone(), op.location());
                    functions.push(function);
                }
            }
            gpu::BINARY => add_images(op, &mut images)?,
            gpu::MODULE => {
                return Err(fail(
                    "expected compiled kernels; run cute-emit-ptx and cute-assemble first"
                        .to_owned(),
                ));
            }
            _ => {}
        }
    }
    if functions.is_empty() || images.is_empty() {
        return Err(fail(
            "expected a function that launches kernels, and a gpu.binary of them; is there a \
             cute.contract in a func.func?"
                .to_owned(),
        ));
    }
    for image in images.values_mut() {
        for kernel in &mut image.kernels {
            let launch = functions.iter().find_map(|function| {
                let launch = function.launches.iter().find(|l| l.kernel == kernel.name)?;
                Some((function, launch))
            });
            if let Some((function, launch)) = launch {
                // A block whose size follows from arguments has no size that the kernel was compiled for.
                kernel.threads = known_threads(launch).unwrap_or(0);
                kernel.max_threads = kernel.threads;
                let types = launch.params.iter().map(|param| ptx_type(param, function));
                kernel.params = types.collect();
            }
        }
    }
    for function in functions {
        builder = builder.function(function);
    }
    for image in images.into_values() {
        builder = builder.image(image);
    }
    builder.build().map_err(|e| {
        let at = match &e {
            PackageError::Invalid { place, .. } => function_of(place)
                .and_then(|name| places.get(name))
                .copied(),
            _ => None,
        };
        let at = at.unwrap_or(module.location());
        diag::error(at, format!("the package is not valid: {e}"))
    })
}

/// The name of the function that a place in a manifest is in: of `function f, launch 0`, f.
fn function_of(place: &str) -> Option<&str> {
    let rest = place.strip_prefix("function ")?;
    Some(rest.split_once(',').map_or(rest, |(name, _)| name))
}

/// Threads of a block, if they are the same for all arguments.
fn known_threads(launch: &Launch) -> Option<u32> {
    let sizes = launch.block.iter().map(|size| {
        let size = size.constant()?;
        u32::try_from(size).ok()
    });
    sizes
        .into_iter()
        .try_fold(1u32, |threads, size| threads.checked_mul(size?))
}

/// The PTX type of a parameter.
fn ptx_type(param: &Param, function: &Function) -> String {
    let bytes = param.bytes(function).unwrap_or(8);
    if let Param::TensorMap(_) = param {
        return format!(".b8[{bytes}]");
    }
    let bits = 8 * bytes;
    let element = match param {
        Param::Scalar(arg) => function.args[*arg].element(),
        _ => "",
    };
    match element {
        "f32" | "f64" => format!(".f{bits}"),
        "f16" | "bf16" => format!(".b{bits}"),
        _ => format!(".u{bits}"),
    }
}

/// A host function as a launch plan; nothing where it launches nothing.
fn function<'c>(op: Op<'c>) -> Result<Option<Function>, Failure> {
    // One that is only declared launches nothing.
    let Some(body) = body_of(op, 0) else {
        return Ok(None);
    };
    let launches = nested_ops(op)
        .into_iter()
        .any(|op| name_of(op) == gpu::LAUNCH_FUNC);
    if !launches {
        return Ok(None);
    }
    if let Some(end) = ops_of(body).into_iter().last()
        && let Some(result) = each_operand(end).next()
    {
        return Err(diag::error(
            end.location(),
            format!(
                "expected a function that returns nothing, as a package's results are the tensors that its launches write, found a result of type {}; \
                 write it into a tensor that is an argument",
                result.r#type()
            ),
        ));
    }
    let mut plan = plan::plan(op, body)?;
    let computes = computes::computes(op, &plan)?;
    let (mut views, computes) = views(op, &mut plan, computes)?;
    let spans = std::mem::take(&mut plan.spans);
    plan.require_apart(&computes, |tensor| {
        let argument = arguments_of(body).get(tensor).copied();
        match argument {
            Some(argument) => Span::of_argument(op, argument),
            None => spans.get(&tensor).cloned(),
        }
    })?;
    let mut args = Vec::new();
    for (index, value) in arguments_of(body).into_iter().enumerate() {
        let argument = Argument {
            op,
            index,
            views: &views,
        };
        args.push(argument.read(value.r#type(), &computes)?);
    }
    name_views(&mut views, &args);
    words::in_own_words(&mut plan.requires, &plan.values, &args);
    let name = string_of(op, "sym_name").unwrap_or("function").to_owned();
    Ok(Some(Function {
        values: plan.values,
        requires: plan.requires,
        workspace: plan.workspace,
        choices: plan.choices,
        views,
        computes,
        ..Function::new(name, args, plan.launches)
    }))
}

/// An argument of a host function.
struct Argument<'a, 'c> {
    op: Op<'c>,
    index: usize,
    /// The views of the function, among which are those of the argument.
    views: &'a [View],
}

impl<'c> Argument<'_, 'c> {
    fn read(&self, ty: Type<'c>, computes: &[Compute]) -> Result<Arg, Failure> {
        if let Some(CuteType::MemRef(memref)) = CuteType::of(ty) {
            return self.tensor(&memref, computes);
        }
        let element = ty.to_string();
        if !element.parse::<Element>().is_ok_and(Element::is_scalar) {
            return Err(self.wrong(format!(
                "expected tensors, and numbers of type i32, i64, f16, bf16, f32 or f64, as arguments, found {ty}"
            )));
        }
        let factors = computes.iter().flat_map(Compute::factors);
        let roles = factors.filter_map(|(role, factor)| match factor {
            Factor::Argument { scalar } if scalar == self.index => Some(role),
            _ => None,
        });
        Ok(Arg::Scalar {
            name: self.name(roles.collect(), computes),
            element,
            default: self.default(),
        })
    }

    fn tensor(&self, memref: &MemRef, computes: &[Compute]) -> Result<Arg, Failure> {
        let count = body_of(self.op, 0).map_or(0, |body| arguments_of(body).len());
        let is_view = |arg: usize| {
            let view = arg.checked_sub(count).and_then(|at| self.views.get(at));
            view.is_some_and(|view| view.of.argument() == Some(self.index))
        };
        let all: Vec<_> = computes.iter().flat_map(Compute::roles).collect();
        let mut of_views = all.iter().filter(|role| is_view(role.arg));
        let roles: Vec<_> = all.iter().filter(|role| role.arg == self.index).collect();
        let writes_view = of_views.clone().any(|role| role.access.writes());
        // What is written in part, or by some calls alone, keeps what it has.
        let reads = of_views.next().is_some()
            || roles.iter().any(|role| role.access.reads())
            || !is_always_written(computes, self.index);
        let writes = writes_view || roles.iter().any(|role| role.access.writes());
        // What is written has the name of an output, if it is read as well.
        let named = roles.iter().filter(|role| !writes || role.access.writes());
        let access = match (self.text(ACCESS), reads, writes) {
            (Some("read"), ..) | (None, true, false) => Access::Read,
            (Some("write"), ..) | (None, false, true) => Access::Write,
            (Some("read_write") | None, ..) => Access::ReadWrite,
            (Some(other), ..) => {
                return Err(self.wrong(format!(
                    "expected {ACCESS} = \"read\", \"write\" or \"read_write\", found \"{other}\""
                )));
            }
        };
        Ok(Arg::Tensor {
            name: self.name(named.map(|role| role.name.as_ref()).collect(), computes),
            element: element_of(memref.element),
            layout: memref.layout.text_of_tensor(),
            align: memref.align as u32,
            access,
        })
    }

    /// The name of the argument: by its attribute, by the only thing that it is in the only compute, or by its index.
    fn name(&self, roles: Vec<&str>, computes: &[Compute]) -> String {
        match (self.text(NAME), &roles[..]) {
            (Some(name), _) => name.to_owned(),
            (None, [role]) if computes.len() == 1 => (*role).to_owned(),
            _ => format!("arg{}", self.index),
        }
    }

    fn default(&self) -> Option<Number> {
        let given = self.attribute(DEFAULT)?;
        let real = float_value(given).map(Number::Real);
        real.or_else(|| integer_value(given).map(Number::Integer))
    }

    fn text(&self, name: &str) -> Option<&'c str> {
        self.attribute(name).and_then(string_value)
    }

    /// An attribute of this argument; the verifier has seen to its form.
    fn attribute(&self, name: &str) -> Option<Attribute<'c>> {
        argument_attribute(self.op, self.index, name)
    }

    fn wrong(&self, message: String) -> Failure {
        diag::error(
            self.op.location(),
            format!("argument {}: {message}", self.index),
        )
    }
}

/// The tensors of computes that are no arguments, and the computes: none of both where a package has no name for the type of a tensor's elements.
fn views(
    op: Op<'_>,
    plan: &mut plan::HostPlan<'_>,
    computes: Vec<Compute>,
) -> Result<(Vec<View>, Vec<Compute>), Failure> {
    if computes.is_empty() {
        return Ok((Vec::new(), computes));
    }
    let views: Vec<_> = std::mem::take(&mut plan.views).into_values().collect();
    let unnamed = views
        .iter()
        .find(|view| view.element.parse::<Element>().is_err());
    let Some(unnamed) = unnamed else {
        return Ok((views, computes));
    };
    diag::warning(
        op.location(),
        format!(
            "a package has no elements of type {}, which a tensor in the workspace or a view has, so that it does not say what the function computes, and cute-run does not verify it",
            unnamed.element
        ),
        &[],
    );
    Ok((Vec::new(), Vec::new()))
}

/// Gives views names, other ones than those of the arguments: `workspace.0`, or `A.view.1` of a view of A.
fn name_views(views: &mut [View], args: &[Arg]) {
    for (index, view) in views.iter_mut().enumerate() {
        view.name = match view.of.argument() {
            None => format!("workspace.{index}"),
            Some(arg) => {
                let of = args.get(arg).map_or("argument", Arg::name);
                format!("{of}.view.{index}")
            }
        };
        while args.iter().any(|arg| arg.name() == view.name) {
            view.name.push('_');
        }
    }
}

/// Tells whether every call writes an argument, or none does: of what is written on conditions, one of them always holds.
fn is_always_written(computes: &[Compute], argument: usize) -> bool {
    let is_of = |compute: &&Compute| compute.outputs().iter().any(|role| role.arg == argument);
    let conditions = computes.iter().filter(is_of).map(Compute::condition);
    let mut conditions: Vec<Expr> = match conditions.collect::<Option<Vec<_>>>() {
        // Some compute has none.
        None => return true,
        Some(all) => all.into_iter().cloned().collect(),
    };
    if conditions.is_empty() {
        return true;
    }
    // Two branches of one scf.if are what is around them.
    loop {
        let around = conditions.iter().enumerate().find_map(|(at, fails)| {
            let (around, holds) = negated(fails)?;
            let both = match &around {
                Some(around) => Expr::apply(Apply::And, vec![around.clone(), holds]),
                None => holds,
            };
            let other = conditions.iter().position(|condition| *condition == both)?;
            Some((at, other, around))
        });
        match around {
            None => return false,
            Some((_, _, None)) => return true,
            Some((one, other, Some(around))) => {
                conditions.remove(one.max(other));
                conditions.remove(one.min(other));
                conditions.push(around);
            }
        }
    }
}

/// The condition of the other branch of an `scf.if`, and that around both, of the condition on which its second branch is taken.
fn negated(condition: &Expr) -> Option<(Option<Expr>, Expr)> {
    let Expr::Apply(op, operands) = condition else {
        return None;
    };
    match (op, &operands[..]) {
        (Apply::Eq, [holds, Expr::Constant(0)]) => Some((None, holds.clone())),
        (Apply::And, [around, fails]) => match negated(fails)? {
            (None, holds) => Some((Some(around.clone()), holds)),
            _ => None,
        },
        _ => None,
    }
}

fn add_images<'c>(op: Op<'c>, images: &mut BTreeMap<String, ImageSource>) -> Result<(), Failure> {
    for (_, object) in binary::objects_of(op)? {
        let arch = Target::of(object.target)
            .and_then(|target| arch::of_target(&target))
            .map_err(|e| diag::error(op.location(), e))?
            .to_string();
        let image = images.entry(arch.clone()).or_insert_with(|| ImageSource {
            arch,
            ..ImageSource::default()
        });
        match object.format {
            FORMAT_BINARY => {
                if image.cubin.is_some() {
                    return Err(diag::error(
                        op.location(),
                        "expected one gpu.binary for each architecture; put the kernels into \
                         one gpu.module",
                    ));
                }
                image.cubin = Some(object.bytes.to_vec());
                // What the assembler noted replaces what was known of the PTX.
                for kernel in kernels_of(&object) {
                    image.kernels.retain(|known| known.name != kernel.name);
                    image.kernels.push(kernel);
                }
            }
            FORMAT_ASSEMBLY => {
                image.ptx = Some(binary::ptx_of(&object));
                for kernel in kernels_of(&object) {
                    if image.kernels.iter().all(|known| known.name != kernel.name) {
                        image.kernels.push(kernel);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The notes of cute-emit-ptx and cute-assemble on each kernel of an object.
fn kernels_of(object: &Object) -> Vec<KernelInfo> {
    let notes = object.properties.and_then(entries_of).unwrap_or_default();
    let kernel = |(name, values): (&str, Attribute)| {
        let number = |field| {
            let number = entry_of(values, field).and_then(integer_value);
            number.map_or(0, |number| number as u32)
        };
        KernelInfo {
            name: name.to_owned(),
            registers: number("registers"),
            static_smem: number("static_smem"),
            dynamic_smem: number("dynamic_smem"),
            spill_store_bytes: number("spill_stores"),
            spill_load_bytes: number("spill_loads"),
            stack_bytes: number("stack"),
            ..KernelInfo::default()
        }
    };
    notes.into_iter().map(kernel).collect()
}
