//! Attributes of the dialects that stand on ops, arguments and results of any dialect: each is known, where it is read, and
//! of the form that is read there. A name that nobody reads is an error, for it would be dropped without a word.

use crate::mlir::*;
use crate::ops::{cute, func, gpu, llvm, scf};
use crate::{
    attributes::{self, MOST_TURNS},
    diag::{self, Failure},
    mlir::name_of,
    names::{builtin, did_you_mean},
    parameters,
    plan::{MOST_AT_ONCE, MOST_BLOCKS, MOST_SPLIT, MOST_TEAMS, Plan},
    types::memref_of,
    types::{CuteType, MOST_STAGES, Space},
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};

/// The place of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An attribute of the op itself.
    Op,
    /// An attribute of that argument of a function.
    Argument(usize),
    /// An attribute of that result of a function.
    Result(usize),
}

/// An attribute of the dialects: its name, the form of its value, and where it is read.
struct Known {
    name: &'static str,
    form: Form,
    homes: &'static [Home],
}

/// The form of a value.
#[derive(Clone, Copy)]
enum Form {
    Unit,
    /// An integer in a range, both ends included.
    Integer(i64, i64),
    /// A dense array of so many integers in a range, both ends included.
    Integers(usize, i64, i64),
    Text,
    Number,
    /// The name alone, or an integer from 1 to [`MOST_TURNS`].
    Factor,
    /// A dense array of 64-bit integers of any length.
    Indices,
    /// A `#cute.plan`.
    Plan,
    Array,
    /// A dictionary of parameters.
    Parameters,
    /// A dictionary.
    Dictionary,
}

/// The places where an attribute is read.
#[derive(Clone, Copy)]
enum Home {
    /// A product of whole tensors.
    Contract,
    Loop,
    Branch,
    /// Any operation: passes move them, and the one that reads the attribute asks where they are.
    Anything,
    Kernel,
    Launch,
    Host,
    GpuModule,
    /// The ops that may have parameters: a module, a GPU module or a function.
    Generic,
    HostArgument,
    /// An argument of a kernel that is a tensor or a pointer in global memory.
    KernelMemory,
    /// An argument of a kernel that is an integer.
    KernelInteger,
    /// The allocation of a tensor in shared memory.
    SharedTensor,
    /// A reduction in a region, which may be a sum of products.
    Product,
}

const KNOWN: &[Known] = &[
    known(
        attributes::TILE,
        Form::Integers(3, 1, 1 << 16),
        &[Home::Contract],
    ),
    known(
        attributes::WARPS,
        Form::Integers(2, 1, 32),
        &[Home::Contract],
    ),
    known(
        attributes::STAGES,
        Form::Integer(1, MOST_STAGES),
        &[Home::Contract, Home::Loop, Home::SharedTensor],
    ),
    known(
        attributes::RASTER,
        Form::Integer(1, i32::MAX as i64),
        &[Home::Contract],
    ),
    known(
        attributes::SPLIT,
        Form::Integer(1, MOST_SPLIT),
        &[Home::Contract],
    ),
    known(
        attributes::STREAM,
        Form::Integer(1, MOST_AT_ONCE),
        &[Home::Contract],
    ),
    known(attributes::SWIZZLE, Form::Text, &[Home::Contract]),
    known(attributes::UNROLL, Form::Factor, &[Home::Loop]),
    known(
        attributes::STAGE,
        Form::Integer(0, MOST_STAGES - 1),
        &[Home::Anything],
    ),
    known(
        attributes::ORDER,
        Form::Integer(0, i32::MAX as i64),
        &[Home::Anything],
    ),
    known(
        attributes::PLAN,
        Form::Plan,
        &[Home::Contract, Home::Kernel, Home::Product],
    ),
    known(
        attributes::LATENCY,
        Form::Integer(0, i32::MAX as i64),
        &[Home::Anything],
    ),
    known(attributes::UNIT, Form::Text, &[Home::Anything]),
    known(
        attributes::CYCLES,
        Form::Integer(0, i32::MAX as i64),
        &[Home::Anything],
    ),
    known(attributes::FUSED, Form::Plan, &[Home::Kernel]),
    known(attributes::STAYS, Form::Unit, &[Home::Kernel]),
    known(attributes::SYNCHRONIZE, Form::Unit, &[Home::Kernel]),
    known(
        attributes::ROLES,
        Form::Integers(2, 24, 256),
        &[Home::Kernel],
    ),
    known(
        attributes::CLUSTER,
        Form::Integer(1, MOST_BLOCKS),
        &[Home::Kernel],
    ),
    known(
        attributes::TOGETHER,
        Form::Integers(3, 0, 1024),
        &[Home::Branch],
    ),
    known(
        attributes::TEAMS,
        Form::Integer(1, MOST_TEAMS),
        &[Home::Loop],
    ),
    known(attributes::RING, Form::Unit, &[Home::SharedTensor]),
    known(
        attributes::DYNAMIC_SMEM,
        Form::Integer(0, i32::MAX as i64),
        &[Home::Kernel],
    ),
    known(attributes::TENSOR_MAPS, Form::Indices, &[Home::Kernel]),
    known(attributes::DISJOINT, Form::Indices, &[Home::Launch]),
    known(attributes::DEPENDENT, Form::Unit, &[Home::Launch]),
    known(attributes::COMPUTES, Form::Array, &[Home::Host]),
    known(
        attributes::PTX,
        Form::Integer(0, i32::MAX as i64),
        &[Home::GpuModule],
    ),
    known(attributes::NAME, Form::Text, &[Home::HostArgument]),
    known(attributes::DEFAULT, Form::Number, &[Home::HostArgument]),
    known(attributes::ACCESS, Form::Text, &[Home::HostArgument]),
    known(attributes::NOALIAS, Form::Unit, &[Home::KernelMemory]),
    known(
        attributes::LEAST,
        Form::Integer(0, i64::MAX),
        &[Home::KernelInteger],
    ),
    known(
        attributes::DIVISOR,
        Form::Integer(1, i64::MAX),
        &[Home::KernelInteger],
    ),
    known(attributes::PARAMETERS, Form::Parameters, &[Home::Generic]),
    known(attributes::GIVEN, Form::Dictionary, &[Home::Anything]),
];

const fn known(name: &'static str, form: Form, homes: &'static [Home]) -> Known {
    Known { name, form, homes }
}

/// Verifies an attribute whose name begins with the dialects'. Errors: one that is not known, is elsewhere than where it is
/// read, or has another form.
pub(crate) fn attribute(
    op: Op<'_>,
    place: Place,
    name: &str,
    value: Attribute,
) -> Result<(), Failure> {
    check(op, place, name, value)
        .map_err(|message| diag::error(op.location(), format!("'{}' op {message}", name_of(op))))
}

fn check(op: Op<'_>, place: Place, name: &str, value: Attribute) -> Result<(), String> {
    if !name.contains('.') {
        let full = format!("cute.{name}");
        let here = here(op, place).map(|known| known.name);
        return Err(format!(
            "has no attribute '{name}'{}",
            did_you_mean(&full, here)
        ));
    }
    let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
        let own = here(op, place).filter(|known| !matches!(known.homes, [Home::Anything]));
        let own: Vec<_> = own.map(|known| known.name).collect();
        let read = match &own[..] {
            [] => "leave it out".to_owned(),
            names => format!("expected one of {}", names.join(", ")),
        };
        let here = here(op, place).map(|known| known.name);
        let all = KNOWN.iter().map(|known| known.name);
        let meant = did_you_mean(name, here);
        let meant = Some(meant).filter(|meant| !meant.is_empty());
        return Err(format!(
            "has the attribute '{name}', which nothing reads; {}",
            match meant.unwrap_or_else(|| did_you_mean(name, all)) {
                none if none.is_empty() => read,
                meant => meant[2..].to_owned(),
            }
        ));
    };
    if !known.homes.iter().any(|home| home.is(op, place)) {
        let at = match place {
            Place::Op => String::new(),
            Place::Argument(i) => format!(" of argument {i}"),
            Place::Result(i) => format!(" of result {i}"),
        };
        return Err(format!(
            "has the attribute '{name}'{at}, where nothing reads it; expected it on {}",
            known
                .homes
                .iter()
                .map(|home| home.text())
                .collect::<Vec<_>>()
                .join(" or ")
        ));
    }
    if let Form::Parameters = known.form {
        return parameters::declarations(value)
            .map(|_| ())
            .and_then(|()| parameters::check_names(op))
            .map_err(|wrong| format!("has the attribute '{name}': {wrong}"));
    }
    if !known.form.fits(value) {
        return Err(format!(
            "expected {name} = {}, found {value}",
            known.form.text()
        ));
    }
    Ok(())
}

/// The attributes that are read at a place.
fn here(op: Op<'_>, place: Place) -> impl Iterator<Item = &'static Known> {
    KNOWN
        .iter()
        .filter(move |known| known.homes.iter().any(|home| home.is(op, place)))
}

/// The attribute that was meant by one without the dialect's prefix on an op of another dialect, where such a name says nothing:
/// one that is read there.
pub fn without_prefix(op: Op<'_>, name: &str) -> Option<&'static str> {
    // Those of any operation have names that other dialects may have as well.
    let meant = |known: &&Known| {
        !matches!(known.homes, [Home::Anything]) && known.name.strip_prefix("cute.") == Some(name)
    };
    here(op, Place::Op).find(meant).map(|known| known.name)
}

impl Form {
    fn fits(self, value: Attribute) -> bool {
        // An integer that a parameter says is checked when it is known.
        let is_open = || parameters::expression_of(value).is_some();
        match self {
            Form::Integer(..) | Form::Factor if is_open() => true,
            Form::Unit => is_unit(value),
            Form::Integer(least, most) => {
                integer(value).is_some_and(|n| (least..=most).contains(&n))
            }
            Form::Integers(count, least, most) => i64s_of(value).is_some_and(|all| {
                all.len() == count && all.iter().all(|n| (least..=most).contains(n))
            }),
            Form::Text => string_value(value).is_some(),
            Form::Number => float_value(value).is_some() || integer(value).is_some(),
            Form::Factor => is_unit(value) || integer(value).is_some_and(|n| n >= 1),
            Form::Indices => i64s_of(value).is_some(),
            Form::Plan => Plan::of(value).is_some(),
            Form::Array => array_of(value).is_some(),
            Form::Parameters | Form::Dictionary => entries_of(value).is_some(),
        }
    }

    fn text(self) -> String {
        match self {
            Form::Unit => "nothing: the name alone".to_owned(),
            Form::Integer(least, most) => format!("an integer from {least} to {most}"),
            Form::Integers(count, least, most) => {
                let example = vec!["16"; count].join(", ");
                format!("array<i64: {example}>, {count} integers from {least} to {most}")
            }
            Form::Text => "a string".to_owned(),
            Form::Number => "a number".to_owned(),
            Form::Factor => {
                format!("1 to {MOST_TURNS}, as many turns at a time, or the name alone")
            }
            Form::Indices => "array<i64: ...>".to_owned(),
            Form::Plan => "#cute.plan<...>".to_owned(),
            Form::Array => "an array".to_owned(),
            Form::Parameters | Form::Dictionary => "{name = value, ...}".to_owned(),
        }
    }
}

/// The value of an integer attribute of 2 to 64 bits, or of an index.
fn integer(value: Attribute) -> Option<i64> {
    let ty = type_of_attribute(value);
    integer_value(value).filter(|_| int_width(ty) != Some(1))
}

impl Home {
    fn is(self, op: Op<'_>, place: Place) -> bool {
        let name = name_of(op);
        match (self, place) {
            (Home::Contract, Place::Op) => name == cute::CONTRACT,
            (Home::Loop, Place::Op) => name == scf::FOR,
            (Home::Branch, Place::Op) => name == scf::IF,
            (Home::Anything, Place::Op) => true,
            (Home::Kernel, Place::Op) => matches!(name, gpu::FUNC | llvm::FUNC),
            (Home::Launch, Place::Op) => name == gpu::LAUNCH_FUNC,
            (Home::Host, Place::Op) => name == func::FUNC,
            (Home::GpuModule, Place::Op) => name == gpu::MODULE,
            (Home::Generic, Place::Op) => {
                matches!(name, builtin::MODULE | gpu::MODULE | func::FUNC)
            }
            (Home::HostArgument, Place::Argument(_)) => name == func::FUNC,
            (Home::KernelMemory, Place::Argument(i)) => {
                name == gpu::FUNC && argument_type(op, i).is_some_and(is_global)
            }
            (Home::KernelInteger, Place::Argument(i)) => {
                name == gpu::FUNC && argument_type(op, i).is_some_and(|ty| int_width(ty).is_some())
            }
            (Home::SharedTensor, Place::Op) => is_shared_tensor(op),
            (Home::Product, Place::Op) => {
                name == cute::ALL_REDUCE && parent_op(op).map(name_of) == Some(cute::BLOCK_FUSE)
            }
            _ => false,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Home::SharedTensor => "a cute.memref.alloca in smem",
            Home::Product => "a cute.all_reduce of a cute.block.fuse",
            Home::Contract => "a cute.contract",
            Home::Loop => "an scf.for",
            Home::Branch => "an scf.if",
            Home::Anything => "an operation",
            Home::Kernel => "a kernel",
            Home::Launch => "a gpu.launch_func",
            Home::Host => "a func.func",
            Home::GpuModule => "a gpu.module",
            Home::Generic => "a module, a gpu.module or a func.func",
            Home::HostArgument => "an argument of a func.func",
            Home::KernelMemory => "an argument of a gpu.func that is a tensor or a pointer in gmem",
            Home::KernelInteger => "an argument of a gpu.func that is an integer",
        }
    }
}

/// The type of an argument of a function.
fn argument_type<'c>(op: Op<'c>, index: usize) -> Option<Type<'c>> {
    let body = body_of(op, 0)?;
    let arguments = arguments_of(body);
    arguments.get(index).map(ValueLike::r#type)
}

fn is_shared_tensor(op: Op<'_>) -> bool {
    let allocation = cute::MemrefAlloca::of(op);
    let result = allocation.map(|allocation| allocation.result());
    let is_smem = |tensor: &Val| memref_of(*tensor).is_some_and(|t| t.space == Space::Smem);
    result.is_some_and(|tensor| is_open(tensor.r#type()) || is_smem(&tensor))
}

/// Tells whether a type is not known yet, so that it may be one whose values have the attribute.
fn is_open(ty: Type) -> bool {
    matches!(CuteType::get(ty), Some(CuteType::Any))
}

fn is_global(ty: Type) -> bool {
    match CuteType::of(ty) {
        Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) => memref.space == Space::Gmem,
        _ => is_open(ty),
    }
}
