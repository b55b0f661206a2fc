//! The regions of computes: operations on values of their types, and what is yielded.

use super::compute::Gemm;
use super::manifest::Function;
use super::map::{Map, repeats, varies};
use super::region::{Epilogue, Prologue, Region, ValueType, reduces};
use super::validate::{Checked, invalid, pattern, scalar};
use crate::element::Element;
use cute_arith::ReduceOp;

/// Checks the operations of an epilogue, whose tensors were checked.
pub(super) fn validate_epilogue(
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
    let region = &epilogue.region;
    on_single_elements(&place, region)?;
    let mut arguments = vec![element(&place, &gemm.accumulate)?];
    for input in &epilogue.inputs {
        arguments.push(element(&place, function.args[*input].element())?);
    }
    let outputs: Vec<usize> = [gemm.c]
        .into_iter()
        .chain(epilogue.outputs.clone())
        .collect();
    validate_region(&place, region, &arguments, &outputs, function)?;
    validate_reduced(&place, epilogue, function)
}

/// Checks the outputs of an epilogue that are reduced: of a known kind, with one element along whole modes of rows, of columns or of both.
fn validate_reduced(place: &str, epilogue: &Epilogue, function: &Function) -> Checked {
    let (names, outputs) = (&epilogue.reduce, &epilogue.outputs);
    if !names.is_empty() && names.len() != outputs.len() {
        let expected = format!(
            "a reduction, or an empty text, for each of {} outputs besides C",
            outputs.len()
        );
        return invalid(place, expected, names.len().to_string(), "");
    }
    for (at, (name, output)) in names.iter().zip(outputs).enumerate() {
        if name.is_empty() {
            continue;
        }
        let Some(op) = epilogue.reduction(at) else {
            let known: Vec<_> = ReduceOp::ALL.iter().map(|op| op.name()).collect();
            let expected = format!("a reduction, one of {}", known.join(", "));
            return invalid(place, expected, name.clone(), "");
        };
        let ty = element(place, function.args[*output].element())?;
        if !reduces(op, ValueType::Number(ty)) {
            let expected = format!("numbers that {name} is of");
            return invalid(place, expected, ty.to_string(), "convert them before");
        }
        let pattern = pattern(place, *output, function)?;
        let is_one = |mode: usize| !varies(pattern.mode_leaves(mode));
        let in_part = |mode: &usize| repeats(pattern.mode_leaves(*mode)) && !is_one(*mode);
        if !(0..2).any(is_one) || (0..pattern.rank().min(3)).any(|mode| in_part(&mode)) {
            let name = function.args[*output].name();
            let expected = format!(
                "{name}, which is reduced, with stride 0 along whole rows, columns or both"
            );
            return invalid(place, expected, pattern.text().to_string(), "");
        }
    }
    Ok(())
}

/// Checks the operations of a prologue, whose tensors were checked: of arguments of those elements, it gives one number, or one and a scale.
pub(super) fn validate_prologue(
    place: &str,
    prologue: &Prologue,
    factor: usize,
    function: &Function,
) -> Checked {
    let region = &prologue.region;
    on_single_elements(place, region)?;
    let tensors = std::iter::once(&factor).chain(&prologue.inputs);
    let arguments = tensors.map(|arg| element(place, function.args[*arg].element()));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let types = region_types(place, region, &arguments, function)?;
    if !matches!(region.yields.len(), 1 | 2) {
        let expected = "one value that the region yields, which is multiplied, and perhaps a scale";
        return invalid(place, expected, region.yields.len().to_string(), "");
    }
    for (at, value) in region.yields.iter().enumerate() {
        match (at, types.get(*value)) {
            (0, Some(ValueType::Number(_))) | (_, Some(ValueType::Number(Element::F32))) => {}
            (0, Some(found)) => {
                return invalid(place, "a number that is multiplied", found.to_string(), "");
            }
            (_, Some(found)) => return invalid(place, "a scale of f32", found.to_string(), ""),
            (_, None) => {
                let expected = format!("a yielded value below {}", types.len());
                return invalid(place, expected, value.to_string(), "");
            }
        }
    }
    Ok(())
}

/// Checks that a region of a product reduces nothing.
fn on_single_elements(place: &str, region: &Region) -> Checked {
    let Some(along) = region.reduced() else {
        return Ok(());
    };
    let expected = "operations on single elements";
    let found = format!("a reduction along {along:?}");
    invalid(place, expected, found, "reduce in a map of its own")
}

/// Checks the operations of a map, whose tensors were checked: they have as many modes as one another.
pub(super) fn validate_map(place: &str, map: &Map, function: &Function) -> Checked {
    let mut arguments = Vec::new();
    for input in &map.inputs {
        arguments.push(element(place, function.args[*input].element())?);
    }
    let region = &map.region;
    validate_region(place, region, &arguments, &map.outputs, function)?;
    let mut rank = 0;
    for output in &map.outputs {
        rank = pattern(place, *output, function)?.rank();
    }
    if rank == 0 {
        return invalid(place, "tensors of one mode or more", "none", "");
    }
    let along = region.reduced().unwrap_or_default();
    if let Some(mode) = along.iter().find(|mode| **mode >= rank) {
        let expected = format!("reductions along modes below {rank}, which the tensors have");
        return invalid(place, expected, mode.to_string(), "modes count from 0");
    }
    let mut of_inputs = Vec::new();
    for input in &map.inputs {
        let pattern = pattern(place, *input, function)?;
        let varies = (0..rank).map(|mode| varies(pattern.mode_leaves(mode)));
        of_inputs.push(varies.collect());
    }
    let values = region.varying(of_inputs, rank);
    for (output, value) in map.outputs.iter().zip(&region.yields) {
        let pattern = pattern(place, *output, function)?;
        let varies = |mode: usize| values.get(*value).is_some_and(|varies| varies[mode]);
        let wrong = |mode: &usize| repeats(pattern.mode_leaves(*mode)) && varies(*mode);
        if let Some(mode) = (0..rank).find(wrong) {
            let name = function.args[*output].name();
            let expected = format!(
                "a value for {name} that is the same along mode {mode}, where elements of {name} lie at one place"
            );
            let cure = "reduce it along that mode, or give the output a stride there";
            return invalid(place, expected, "one that varies", cure);
        }
    }
    Ok(())
}

fn element(place: &str, text: &str) -> Checked<Element> {
    match text.parse::<Element>() {
        Ok(element) => Ok(element),
        Err(error) => invalid(place, "an element type", error.to_string(), ""),
    }
}

/// The types of all values of a region on arguments of those types.
fn region_types(
    place: &str,
    region: &Region,
    arguments: &[Element],
    function: &Function,
) -> Checked<Vec<ValueType>> {
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

/// Checks the operations of a region on arguments of those types, and that what it yields suits the outputs.
fn validate_region(
    place: &str,
    region: &Region,
    arguments: &[Element],
    outputs: &[usize],
    function: &Function,
) -> Checked {
    let types = region_types(place, region, arguments, function)?;
    if region.yields.len() != outputs.len() {
        let expected = format!(
            "{} values that the region yields, one for each output",
            outputs.len()
        );
        return invalid(place, expected, region.yields.len().to_string(), "");
    }
    for (value, output) in region.yields.iter().zip(outputs) {
        let Some(found) = types.get(*value) else {
            let expected = format!("a yielded value below {}", types.len());
            return invalid(place, expected, value.to_string(), "");
        };
        let expected = element(place, function.args[*output].element())?;
        if *found != ValueType::Number(expected) {
            let name = function.args[*output].name();
            let expected = format!("a value of type {expected} for {name}");
            return invalid(place, expected, found.to_string(), "convert it");
        }
    }
    Ok(())
}
