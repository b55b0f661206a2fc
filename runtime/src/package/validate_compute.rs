//! The computes of a package: which tensors they have, and what types.

use super::compute::{Compute, Factor, Gemm, Role};
use super::manifest::Function;
use super::region::{Epilogue, Prologue, Region, ValueType};
use super::validate::{Checked, invalid, pattern, scalar};
use crate::element::Element;

pub(super) fn validate_compute(place: &str, compute: &Compute, function: &Function) -> Checked {
    let roles = compute.roles();
    let mut sizes = Vec::new();
    let mut elements = Vec::new();
    for role in &roles {
        sizes.push(pattern(place, role.arg, function)?.mode_sizes());
        elements.push(function.args[role.arg].element());
    }
    for output in &compute.outputs() {
        validate_output(place, output, compute, function)?;
    }
    if let Some(role) = roles
        .iter()
        .find(|role| role.access.reads() && !function.args[role.arg].access().reads())
    {
        let found = format!("{} is only written", function.args[role.arg].name());
        return invalid(place, format!("{} to be read", role.name), found, "");
    }
    validate_types(place, compute, &elements)?;
    for (what, factor) in compute.factors() {
        validate_factor(&format!("{place}, {what}"), factor, function)?;
    }
    compute
        .check_shapes(&sizes)
        .or_else(|[expected, found, cure]| invalid(place, expected, found, &cure))?;
    let Compute::Gemm(gemm) = compute else {
        return Ok(());
    };
    for ((factor, prologue), arg) in gemm.prologues().into_iter().zip([gemm.a, gemm.b]) {
        if let Some(prologue) = prologue {
            let place = format!("{place}, prologue of {factor}");
            validate_prologue(&place, prologue, arg, function)?;
        }
    }
    match &gemm.epilogue {
        Some(epilogue) => validate_epilogue(place, gemm, epilogue, function),
        None => Ok(()),
    }
}

/// Checks the operations of a prologue, whose tensors were checked: of arguments of those elements, it gives one number.
fn validate_prologue(
    place: &str,
    prologue: &Prologue,
    factor: usize,
    function: &Function,
) -> Checked {
    let tensors = std::iter::once(&factor).chain(&prologue.inputs);
    let arguments = tensors.map(|arg| element(place, function.args[*arg].element()));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let region = &prologue.region;
    let types = region_types(place, region, &arguments, function)?;
    let [value] = region.yields[..] else {
        let expected = "one value that the region yields, which is multiplied";
        return invalid(place, expected, region.yields.len().to_string(), "");
    };
    match types.get(value) {
        Some(ValueType::Number(_)) => Ok(()),
        Some(found) => invalid(place, "a number that is multiplied", found.to_string(), ""),
        None => {
            let expected = format!("a yielded value below {}", types.len());
            invalid(place, expected, value.to_string(), "")
        }
    }
}

fn element(place: &str, text: &str) -> Result<Element, super::PackageError> {
    text.parse()
        .or_else(|error: crate::element::UnknownElement| {
            invalid(place, "an element type", error.to_string(), "")
        })
}

/// The types of all values of a region.
fn region_types(
    place: &str,
    region: &Region,
    arguments: &[Element],
    function: &Function,
) -> Result<Vec<ValueType>, super::PackageError> {
    let types = region.types(arguments, |arg| {
        scalar(place, arg, function).map_err(|error| match error {
            super::PackageError::Invalid {
                expected, found, ..
            } => [expected, found],
            other => ["a scalar".into(), other.to_string()],
        })
    });
    types.or_else(|[expected, found]| invalid(place, expected, found, ""))
}

/// Checks that an output is written, and is no other tensor of the compute, but for one that its epilogue reads.
fn validate_output(place: &str, output: &Role, compute: &Compute, function: &Function) -> Checked {
    let name = function.args[output.arg].name();
    let access = function.args[output.arg].access();
    if !access.writes() {
        let found = format!("{name} is only read");
        return invalid(place, format!("{} to be written", output.name), found, "");
    }
    if output.access.reads() && !access.reads() {
        let expected = format!("{} to be read and written", output.name);
        return invalid(place, expected, format!("{name} is only written"), "");
    }
    let is_of_epilogue = |role: &Role| {
        role.name.starts_with('E') && compute.epilogue().is_some() && !role.access.writes()
    };
    let roles = compute.roles();
    let mut others = roles.iter().filter(|role| role.name != output.name);
    if others.any(|role| role.arg == output.arg && !is_of_epilogue(role)) {
        let others = roles.iter().filter(|role| role.name != output.name);
        let others: Vec<&str> = others
            .filter(|role| !is_of_epilogue(role))
            .map(|role| role.name.as_ref())
            .collect();
        let expected = format!(
            "{} to be another argument than {}",
            output.name,
            others.join(" and ")
        );
        return invalid(place, expected, format!("{name} for both"), "");
    }
    Ok(())
}

/// Checks the operations of an epilogue, whose tensors were checked.
fn validate_epilogue(
    place: &str,
    gemm: &Gemm,
    epilogue: &Epilogue,
    function: &Function,
) -> Checked {
    let place = format!("{place}, epilogue");
    let beside = [
        ("alpha", gemm.alpha.is_some()),
        ("beta", gemm.beta.is_some()),
        ("tolerance", gemm.tolerance.is_some()),
    ];
    if let Some((name, _)) = beside.iter().find(|(_, is_there)| *is_there) {
        let expected = "neither alpha nor beta nor tolerance beside it";
        return invalid(place, expected, *name, "say it by operations of the region");
    }
    let of = |arg: &usize| element(&place, function.args[*arg].element());
    let mut arguments = vec![element(&place, &gemm.accumulate)?];
    for input in &epilogue.inputs {
        arguments.push(of(input)?);
    }
    let region = &epilogue.region;
    let types = region_types(&place, region, &arguments, function)?;
    let outputs: Vec<usize> = [gemm.c]
        .into_iter()
        .chain(epilogue.outputs.clone())
        .collect();
    if region.yields.len() != outputs.len() {
        let expected = format!(
            "{} values that the region yields, one for each output",
            outputs.len()
        );
        return invalid(place, expected, region.yields.len().to_string(), "");
    }
    for (value, output) in region.yields.iter().zip(&outputs) {
        let Some(found) = types.get(*value) else {
            let expected = format!("a yielded value below {}", types.len());
            return invalid(place, expected, value.to_string(), "");
        };
        let expected = of(output)?;
        if *found != ValueType::Number(expected) {
            let name = function.args[*output].name();
            let expected = format!("a value of type {expected} for {name}");
            return invalid(place, expected, found.to_string(), "convert it");
        }
    }
    Ok(())
}

fn validate_factor(place: &str, factor: Factor, function: &Function) -> Checked {
    match factor {
        Factor::Constant(value) if !value.is_finite() => {
            invalid(place, "a finite number", value.to_string(), "")
        }
        Factor::Constant(_) => Ok(()),
        Factor::Argument { scalar: index } => scalar(place, index, function).map(drop),
    }
}

/// The types that a compute names, and those of its tensors.
fn validate_types(place: &str, compute: &Compute, elements: &[&str]) -> Checked {
    let element = |text: &str, what: &str| match text.parse::<Element>() {
        Ok(element) => Ok(element),
        Err(error) => invalid(place, what, error.to_string(), ""),
    };
    if let Some(accumulate) = compute.accumulate() {
        element(accumulate, "an accumulator type")?;
    }
    if let Compute::Gemm(gemm) = compute {
        if let Some(multiply) = &gemm.multiply {
            element(multiply, "a type of the factors")?;
        }
        if gemm.tolerance.is_some_and(|t| !(t.is_finite() && t >= 0.0)) {
            let found = format!("{:?}", gemm.tolerance);
            return invalid(place, "a tolerance that is zero or positive", found, "");
        }
    }
    if matches!(
        compute,
        Compute::Softmax { .. } | Compute::RmsNorm { .. } | Compute::Attention { .. }
    ) {
        for text in elements {
            if !element(text, "an element type")?.is_float() {
                let expected = format!("tensors of floating-point numbers in {}", compute.kind());
                return invalid(place, expected, text.to_string(), "");
            }
        }
    }
    Ok(())
}
