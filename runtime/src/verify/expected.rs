//! The distance that an output may have from a reference which was computed elsewhere.
//!
//! An element is right where `|out - ref| <= absolute + relative |ref|`, as `numpy.testing.assert_allclose` has it. The reference is rounded as the
//! output is, and its sums may have been computed in no better a type, so both are allowed what one may lose. With *R* the root mean
//! square of the reference:
//!
//! - **Integers** are exact, unless sums of floating-point numbers are rounded to them.
//! - A **product of matrices** says the types and the length *K* of its sums, of which `tolerance` says what they lose. The norms that bound a
//!   sum's terms are not known of the reference; terms that come and go, as those of most data do, make `sqrt(K) R` of them.
//! - **Reductions** of *N* terms lose as many roundings as `lines` says, relative to the result where terms have one sign (softmax, RMS norm,
//!   attention), else to `sqrt(N) R`.
//! - What is **not known** to be such a sum, because the package does not say what it computes or a region stands behind the sums, has what its element
//!   type is usually compared by: 1e-7 for f64, 1e-5 for f32, 1e-3 for f16 and tf32, 1.6e-2 for bf16, 1/8 and 1/4 for f8E4M3FN and f8E5M2, relative
//!   to `|ref|` and, for elements that are small because parts cancel, to R.

use serde::Serialize;

use super::Data;
use super::lines::roundings;
use super::tolerance::{Kind, Tolerance};
use crate::element::Element;
use crate::package::{Compute, Function, Gemm, ReduceOp, Region, RegionValue};
use crate::plan;
use crate::tensor::HostTensor;

/// The bounds on `|out - ref|`: their sum, the first multiplied by `|ref|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Closeness {
    /// The bound as a part of `|ref|`.
    pub relative: f64,
    /// The bound for any element.
    pub absolute: f64,
    /// The length of the sums that the bounds follow from; none where they follow from the element type alone, or were given.
    pub sums: Option<usize>,
}

impl Closeness {
    /// The largest `|out - ref|` of a right element.
    pub fn allowed(&self, reference: f64) -> f64 {
        match self.relative * reference.abs() {
            // Of an infinite reference there is no distance.
            allowed if allowed.is_finite() => self.absolute + allowed,
            _ => self.absolute,
        }
    }

    /// Tells whether an element is right. Infinities are those of the reference, and where it has a NaN, so has the output.
    pub fn holds(&self, found: f64, reference: f64) -> bool {
        let both_nan = found.is_nan() && reference.is_nan();
        both_nan
            || found == reference
            || reference.is_finite() && (found - reference).abs() <= self.allowed(reference)
    }
}

/// The number of sides, each of which may lose what a sum may lose.
const SIDES: f64 = 2.0;

/// The bounds that follow for an output of a function, the argument of that index, whose reference has that root mean square. `tensors`
/// are the arguments, of which the shapes are looked at.
pub fn closeness(
    function: &Function,
    tensors: &[HostTensor],
    output: usize,
    data: Data,
    root_mean_square: f64,
) -> Closeness {
    let element = tensors
        .get(output)
        .map_or(Element::F32, HostTensor::element);
    // What is computed last stands in the output.
    let computes = function.computes.iter().rev();
    let mut said =
        computes.filter(|compute| compute.outputs().iter().any(|role| role.arg == output));
    let known = said.next().and_then(|compute| {
        let compute = compute.unconditional();
        let sums = sums(function, compute, tensors, output)?;
        of_sums(compute, tensors, output, &sums, data, root_mean_square)
    });
    known.unwrap_or_else(|| of_type(element, root_mean_square))
}

/// The bounds for elements of a type of which nothing else is known.
fn of_type(element: Element, root_mean_square: f64) -> Closeness {
    let relative = match element {
        Element::F64 => 1e-7,
        Element::F32 => 1e-5,
        Element::F16 | Element::Tf32 => 1e-3,
        Element::Bf16 => 1.6e-2,
        Element::F8E4M3FN => 0.125,
        Element::F8E5M2 => 0.25,
        Element::I8 | Element::U8 | Element::I32 | Element::I64 => 0.0,
    };
    Closeness {
        relative,
        absolute: finite(relative * root_mean_square),
        sums: None,
    }
}

/// A number, or 0 for what is none: of a reference with infinities there is no root mean square.
fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

/// The sums that an output is of.
struct Sums {
    /// The length of the longest.
    length: usize,
    /// Tells whether terms of both signs may cancel.
    cancel: bool,
}

/// None where no length is said.
fn sums(
    function: &Function,
    compute: &Compute,
    tensors: &[HostTensor],
    output: usize,
) -> Option<Sums> {
    let roles = compute.roles();
    let shape = |arg: usize| Some(tensors.get(arg)?.layout().shape());
    let sizes: Option<Vec<Vec<Option<i64>>>> = roles
        .iter()
        .map(|role| Some(shape(role.arg)?.into_iter().map(Some).collect()))
        .collect();
    let known = plan::known(function, tensors, None).unwrap_or_default();
    let shapes = compute.shapes(&sizes?, &known);
    let size = |role: usize, mode: usize| {
        let size = shapes.get(role)?.get(mode).copied().flatten()?;
        usize::try_from(size).ok()
    };
    let last = |arg: usize| usize::try_from(*shape(arg)?.last()?).ok();
    Some(match compute {
        Compute::Gemm(gemm) => {
            let products = size(0, 1)?;
            // What is reduced besides are elements of C.
            let reduced = gemm.epilogue.as_ref().and_then(|epilogue| {
                let at = epilogue.outputs.iter().position(|other| *other == output)?;
                matches!(epilogue.reduction(at)?, ReduceOp::Add | ReduceOp::Mean).then_some(())?;
                let all: i64 = shape(gemm.c)?.iter().product();
                let left = usize::try_from(tensors.get(output)?.layout().places_count()).ok()?;
                Some(usize::try_from(all).ok()? / left.max(1))
            });
            let length = products.saturating_mul(reduced.unwrap_or(1));
            Sums {
                length,
                cancel: true,
            }
        }
        Compute::Softmax { out, .. } | Compute::RmsNorm { out, .. } => {
            let length = last(*out)?;
            Sums {
                length,
                cancel: false,
            }
        }
        Compute::Attention { .. } => {
            let length = size(0, 1)?.saturating_add(size(1, 0)?);
            Sums {
                length,
                cancel: false,
            }
        }
        Compute::Map(map) => {
            let shapes: Option<Vec<Vec<i64>>> = map
                .inputs
                .iter()
                .chain(&map.outputs)
                .map(|arg| shape(*arg))
                .collect();
            let length = reduced(&map.region, &shapes?)?;
            Sums {
                length,
                cancel: true,
            }
        }
        Compute::Copy { .. }
        | Compute::Transpose { .. }
        | Compute::Add { .. }
        | Compute::Axpby { .. }
        | Compute::When { .. } => {
            return None;
        }
    })
}

/// The length of the longest sum of a region on tensors of these shapes; none where it has none.
fn reduced(region: &Region, shapes: &[Vec<i64>]) -> Option<usize> {
    let extent = |mode: usize| {
        let sizes = shapes.iter().filter_map(|shape| shape.get(mode)).max();
        usize::try_from(sizes.copied().unwrap_or(1)).unwrap_or(1)
    };
    let lengths = region.ops.iter().filter_map(|op| match &op.value {
        RegionValue::Reduce(ReduceOp::Add | ReduceOp::Mean, _, modes) => {
            let extents = modes.iter().map(|mode| extent(*mode));
            Some(extents.fold(1, usize::saturating_mul))
        }
        _ => None,
    });
    lengths.max()
}

/// None where a type is not known.
fn of_sums(
    compute: &Compute,
    tensors: &[HostTensor],
    output: usize,
    sums: &Sums,
    data: Data,
    root_mean_square: f64,
) -> Option<Closeness> {
    let element = tensors.get(output)?.element();
    let root = (sums.length as f64).sqrt();
    let terms = finite(if sums.cancel {
        root * root_mean_square
    } else {
        0.0
    });
    let mut bounds = match compute {
        Compute::Gemm(gemm) => {
            let kind = product(gemm, tensors, element, sums.length, data)?;
            let [relative, absolute] = Tolerance::new(kind).bounds(terms);
            Closeness {
                relative,
                absolute,
                sums: None,
            }
        }
        _ if !element.is_float() => return None,
        _ => {
            let within = match compute.accumulate() {
                Some(text) => text.parse().ok()?,
                None if element == Element::F64 => Element::F64,
                None => Element::F32,
            };
            let lost = roundings(sums.length) * Element::unit_roundoff(within);
            Closeness {
                relative: element.unit_roundoff() + lost,
                absolute: element.underflow() + lost * terms,
                sums: None,
            }
        }
    };
    bounds.relative *= SIDES;
    bounds.absolute *= SIDES;
    // A product alone is exactly what its sums are; what else there is has roundings of its own.
    let alone = matches!(compute, Compute::Gemm(gemm) if gemm.epilogue.is_none());
    if !alone && element.is_float() {
        let usual = of_type(element, root_mean_square);
        bounds.relative = bounds.relative.max(usual.relative);
        bounds.absolute = bounds.absolute.max(usual.absolute);
    }
    bounds.sums = Some(sums.length);
    Some(bounds)
}

fn product(
    gemm: &Gemm,
    tensors: &[HostTensor],
    output: Element,
    k: usize,
    data: Data,
) -> Option<Kind> {
    let [a, b] = [
        tensors.get(gemm.a)?.element(),
        tensors.get(gemm.b)?.element(),
    ];
    let stored = gemm.prologue_a.is_none() && gemm.prologue_b.is_none();
    Some(Kind {
        input: if a.size() >= b.size() { a } else { b },
        multiply: match &gemm.multiply {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        },
        accumulate: gemm.accumulate.parse().ok()?,
        output,
        k,
        scaled: gemm.alpha.is_some() || gemm.beta.is_some(),
        // What a prologue makes of numbers of mean zero may have any.
        data: if stored { data } else { Data::Any },
    })
}

#[cfg(test)]
#[path = "tests_expected.rs"]
mod tests;
