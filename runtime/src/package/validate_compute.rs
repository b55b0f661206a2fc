//! The computes of a package: which tensors they have, and what types.

use super::compute::{Compute, Factor, Gemm, Role};
use super::expr::Environment;
use super::manifest::Function;
use super::validate::{Checked, invalid, pattern, scalar, validate_expr};
use super::validate_region::{validate_epilogue, validate_map, validate_prologue};
use crate::element::Element;

/// Checks a compute of a function; `function` has the views among its arguments, and `own` has those that expressions are of.
pub(super) fn validate_compute(
    place: &str,
    compute: &Compute,
    function: &Function,
    own: &Function,
) -> Checked {
    if let Compute::When { condition, compute } = compute {
        validate_expr(place, "its condition", condition, own)?;
        if matches!(**compute, Compute::When { .. }) {
            let cure = "join both conditions by `and`";
            return invalid(place, "one condition of a compute", "two", cure);
        }
        return validate_compute(place, compute, function, own);
    }
    if compute.outputs().is_empty() {
        let expected = "at least one output";
        return invalid(place, expected, "none", "name the tensors that it writes");
    }
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
    if let Compute::Gemm(gemm) = compute {
        validate_places(place, gemm, function, own)?;
    }
    compute
        .check_shapes(&sizes, &Environment::default())
        .or_else(|[expected, found, cure]| invalid(place, expected, found, &cure))?;
    match compute {
        Compute::Gemm(gemm) => {
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
        Compute::Map(map) => validate_map(place, map, function),
        _ => Ok(()),
    }
}

/// Checks that coordinates are of their tensors, and that indices are integers.
fn validate_places(place: &str, gemm: &Gemm, function: &Function, own: &Function) -> Checked {
    let names = ["A", "B", "C"].into_iter().zip([gemm.a, gemm.b, gemm.c]);
    for ((name, arg), at) in names.zip(gemm.places()) {
        let Some(at) = at else { continue };
        let place = format!("{place}, coordinates of {name}");
        let rank = pattern(&place, arg, function)?.rank();
        let inside = |along: usize| along < rank.max(1);
        if at.start.len() != rank.max(1)
            || !at.modes.iter().flatten().all(|step| inside(step.along))
        {
            let found = format!("coordinates of {} integers", at.start.len());
            return invalid(
                &place,
                format!("coordinates of a tensor of {rank} modes"),
                found,
                "",
            );
        }
        for expr in at.expressions() {
            validate_expr(&place, "a coordinate", expr, own)?;
        }
    }
    for ((name, rows), at) in gemm.rows().into_iter().zip(gemm.places()) {
        let Some(rows) = rows else { continue };
        let place = format!("{place}, {name}");
        validate_integers(&place, "indices", rows, function)?;
        if at.is_some() {
            let found = "coordinates as well";
            return invalid(&place, "rows by index alone", found, "");
        }
    }
    if let Some(ends) = gemm.groups {
        let place = format!("{place}, ends");
        validate_integers(&place, "ends of groups", ends, function)?;
        if gemm.places().iter().any(Option::is_some) || gemm.rows_b.is_some() {
            let found = "coordinates or rows of B by index as well";
            return invalid(&place, "groups of rows alone", found, "");
        }
    }
    Ok(())
}

/// Checks that an argument is a tensor of integers by which rows are told.
fn validate_integers(place: &str, what: &str, arg: usize, function: &Function) -> Checked {
    pattern(place, arg, function)?;
    match function.args[arg].element() {
        "i32" | "i64" => Ok(()),
        element => invalid(
            place,
            format!("{what} of i32 or i64"),
            element.to_string(),
            "",
        ),
    }
}

/// Checks that an output is written, and is no other tensor of the compute, but for one that its region reads.
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
    let has_region = compute.epilogue().is_some() || matches!(compute, Compute::Map(_));
    let is_of_region =
        |role: &Role| has_region && role.name.starts_with('E') && !role.access.writes();
    let roles = compute.roles();
    let mut others = roles.iter().filter(|role| role.name != output.name);
    if others.any(|role| role.arg == output.arg && !is_of_region(role)) {
        let others = roles.iter().filter(|role| role.name != output.name);
        let others: Vec<&str> = others
            .filter(|role| !is_of_region(role))
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
