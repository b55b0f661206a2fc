//! The properties of every package in memory:
//!
//! 1. every blob starts at a multiple of 16 and lies within the blob section;
//! 2. every image has PTX or a cubin, and an architecture that can be read; PTX is not checked
//!    beyond its bounds;
//! 3. names of functions, of arguments in a function, and of kernels in an image are unique;
//! 4. every layout and element type can be read; every alignment is a power of two and at least one
//!    element; a scalar has a type that kernels take by value, and a default of that type;
//! 5. every index of an argument, and of a leaf of its layout, is in range, and of the kind that is asked for;
//! 6. every launch of known sizes is within what CUDA allows, every other one depends on integers alone and is checked with
//!    its arguments; its kernel is in every image, with parameters of those sizes;
//! 7. the tensors of a compute have shapes that fit, as far as they are known; its outputs are written, and are none of its
//!    inputs, but for those of an epilogue or a map (`validate_compute`);
//! 8. only a function with a workspace passes pointers into it;
//! 9. a choice is of candidates, each with a number of its own, by a value that there is (`candidates`);
//! 10. a view has a name of its own, a leaf for each that its layout leaves open, and begins at an argument or in a workspace that there is (`views`).

use std::collections::HashSet;

use super::PackageError;
use super::candidates;
use super::expr::{Environment, Expr, MAX_DEPTH, MAX_NODES};
use super::limits::{self, Limits, SizesError};
use super::manifest::{
    Arg, Blob, BoxSize, Function, Image, KernelInfo, Launch, Manifest, MapParam, Param,
};
use super::validate_compute::validate_compute;
use super::views::validate_view;
use crate::element::Element;
use crate::layout::Pattern;
use crate::tensor::HostTensor;
use crate::tensor_map::{
    L2Promotion, MAX_RANK, MapElement, MapSwizzle, TENSOR_MAP_BYTES, is_map_start,
};
use cute_target::Arch;

pub(super) type Checked<T = ()> = Result<T, PackageError>;

pub(super) fn validate(manifest: &Manifest, blob_bytes: u64) -> Checked {
    unique(
        "images",
        manifest.images.iter().map(|image| image.arch.as_str()),
    )?;
    for image in &manifest.images {
        validate_image(image, blob_bytes)?;
    }
    unique(
        "functions",
        manifest
            .functions
            .iter()
            .map(|function| function.name.as_str()),
    )?;
    for function in &manifest.functions {
        validate_function(function, &manifest.images)?;
    }
    Ok(())
}

pub(super) fn invalid<T>(
    place: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
    cure: &str,
) -> Checked<T> {
    Err(PackageError::Invalid {
        place: place.into(),
        expected: expected.into(),
        found: found.into(),
        cure: cure.to_string(),
    })
}

fn unique<'a>(place: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = HashSet::new();
    for name in names {
        if name.is_empty() {
            return invalid(place, "a name for each", "an empty name", "");
        }
        if !seen.insert(name) {
            return invalid(place, "each name once", format!("`{name}` twice"), "");
        }
    }
    Ok(())
}

fn validate_image(image: &Image, blob_bytes: u64) -> Checked {
    let place = format!("image {}", image.arch);
    if let Err(error) = image.arch.parse::<Arch>() {
        return invalid(
            "images",
            "an architecture such as sm_80 or sm_90a",
            error.to_string(),
            "",
        );
    }
    if image.ptx.is_none() && image.cubin.is_none() {
        return invalid(place, "PTX or a cubin", "neither", "");
    }
    for (what, blob) in [("PTX", image.ptx), ("cubin", image.cubin)] {
        if let Some(blob) = blob {
            validate_blob(&format!("{place}, {what}"), blob, blob_bytes)?;
        }
    }
    unique(
        &format!("{place}, kernels"),
        image.kernels.iter().map(|kernel| kernel.name.as_str()),
    )
}

fn validate_blob(place: &str, blob: Blob, blob_bytes: u64) -> Checked {
    let end = blob.offset.checked_add(blob.length);
    if end.is_none_or(|end| end > blob_bytes) {
        let found = format!("{} bytes at {}", blob.length, blob.offset);
        return invalid(
            place,
            format!("a range within the {blob_bytes} bytes of blobs"),
            found,
            "",
        );
    }
    if blob.length == 0 {
        return invalid(place, "at least one byte", "none", "");
    }
    if !blob.offset.is_multiple_of(super::BLOB_ALIGN as u64) {
        return invalid(
            place,
            "an offset that is a multiple of 16",
            blob.offset.to_string(),
            "",
        );
    }
    Ok(())
}

fn validate_function(function: &Function, images: &[Image]) -> Checked {
    let place = format!("function {}", function.name);
    unique(
        &format!("{place}, arguments"),
        function.args.iter().map(Arg::name),
    )?;
    for arg in &function.args {
        validate_arg(&place, arg)?;
    }
    if function.values.len() > MAX_NODES {
        let expected = format!("at most {MAX_NODES} values");
        return invalid(&place, expected, function.values.len().to_string(), "");
    }
    for (at, value) in function.values.iter().enumerate() {
        validate_expr(&place, &format!("value {at}"), value, function)?;
        let mut later = None;
        value.walk(&mut |part| {
            if let Expr::Value(of) = part
                && *of >= at
            {
                later = Some(*of);
            }
        });
        if let Some(later) = later {
            let place = format!("{place}, value {at}");
            return invalid(
                place,
                "values before it alone",
                format!("value {later}"),
                "",
            );
        }
    }
    for requirement in &function.requires {
        validate_expr(&place, "requires", &requirement.condition, function)?;
    }
    if let Some(workspace) = &function.workspace {
        validate_expr(&place, "workspace", workspace, function)?;
        if let Some(bytes) = workspace.constant()
            && !u64::try_from(bytes).is_ok_and(|bytes| bytes <= Limits::WORKSPACE)
        {
            let place = format!("{place}, workspace");
            return invalid(place, "0 to 2^40 bytes", bytes.to_string(), "");
        }
    }
    for (i, launch) in function.launches.iter().enumerate() {
        validate_launch(
            &format!("{place}, launch {i} ({})", launch.kernel),
            launch,
            function,
            images,
        )?;
    }
    for (i, choice) in function.choices.iter().enumerate() {
        let place = format!("{place}, choice {i}");
        let expression = |what: &str, expr: &Expr| validate_expr(&place, what, expr, function);
        candidates::validate(&place, choice, function, &expression)?;
    }
    for view in &function.views {
        validate_view(&format!("{place}, view {}", view.name), view, function)?;
    }
    let whole = function.with_views();
    unique(
        &format!("{place}, arguments and views"),
        whole.args.iter().map(Arg::name),
    )?;
    for (i, compute) in function.computes.iter().enumerate() {
        let place = format!("{place}, compute {i}");
        validate_compute(&place, compute, &whole, function)?;
    }
    Ok(())
}

fn validate_arg(function: &str, arg: &Arg) -> Checked {
    let place = format!("{function}, argument {}", arg.name());
    let element = match arg.element().parse::<Element>() {
        Ok(element) => element,
        Err(error) => return invalid(place, "an element type", error.to_string(), ""),
    };
    match arg {
        Arg::Tensor { layout, align, .. } => {
            if let Err(error) = Pattern::parse(layout) {
                return invalid(place, "a layout of a tensor", error.to_string(), "");
            }
            let least = element.size() as u32;
            if !align.is_power_of_two() || *align < least || *align > Limits::ALIGN {
                let expected = format!(
                    "an alignment that is a power of two from {least} to {} bytes",
                    Limits::ALIGN
                );
                return invalid(place, expected, align.to_string(), "");
            }
        }
        Arg::Scalar { default, .. } => {
            if !element.is_scalar() {
                let expected = "a scalar of type i32, i64, f16, bf16, f32 or f64";
                return invalid(place, expected, element.to_string(), "");
            }
            if let Some(Err(reason)) = default.map(|value| HostTensor::scalar(element, value)) {
                return invalid(place, format!("a default of type {element}"), reason, "");
            }
        }
    }
    Ok(())
}

/// The layout of a tensor argument.
pub(super) fn pattern(place: &str, index: usize, function: &Function) -> Checked<Pattern> {
    match function.args.get(index) {
        Some(Arg::Tensor { layout, .. }) => match Pattern::parse(layout) {
            Ok(pattern) => Ok(pattern),
            Err(error) => invalid(place, "a layout of a tensor", error.to_string(), ""),
        },
        Some(arg) => {
            let found = format!("the scalar {}", arg.name());
            invalid(place, "an argument that is a tensor", found, "")
        }
        None => {
            let expected = format!("an argument index below {}", function.args.len());
            invalid(place, expected, index.to_string(), "")
        }
    }
}

/// The type of a scalar argument.
pub(super) fn scalar(place: &str, index: usize, function: &Function) -> Checked<Element> {
    match function.args.get(index) {
        Some(Arg::Scalar { element, .. }) => match element.parse::<Element>() {
            Ok(element) => Ok(element),
            Err(error) => invalid(place, "an element type", error.to_string(), ""),
        },
        Some(arg) => {
            let found = format!("the tensor {}", arg.name());
            invalid(place, "an argument that is a scalar", found, "")
        }
        None => {
            let expected = format!("an argument index below {}", function.args.len());
            invalid(place, expected, index.to_string(), "")
        }
    }
}

/// Bits of a dynamic leaf of a tensor argument.
fn leaf(place: &str, index: usize, leaf: usize, function: &Function) -> Checked<u32> {
    let pattern = pattern(place, index, function)?;
    let leaves = pattern.dynamic_leaves();
    match leaves.get(leaf) {
        Some(leaf) => Ok(leaf.width),
        None => {
            let expected = format!(
                "a dynamic leaf of {} below {}",
                function.args[index].name(),
                leaves.len()
            );
            invalid(place, expected, leaf.to_string(), "")
        }
    }
}

pub(super) fn validate_expr(place: &str, what: &str, expr: &Expr, function: &Function) -> Checked {
    let place = format!("{place}, {what}");
    let (depth, nodes) = (expr.depth(), expr.nodes());
    if depth > MAX_DEPTH || nodes > MAX_NODES {
        let expected =
            format!("an expression of at most {MAX_NODES} parts, nested {MAX_DEPTH} deep");
        let found = format!("{nodes} parts, nested {depth} deep");
        return invalid(place, expected, found, "compute the size in simpler steps");
    }
    let mut checked = Ok(());
    expr.walk(&mut |part| {
        let wrong = match part {
            Expr::Constant(_) | Expr::SmCount => Ok(()),
            Expr::Value(at) if *at >= function.values.len() => {
                let expected = format!("a value below {}", function.values.len());
                invalid(&place, expected, at.to_string(), "")
            }
            Expr::Value(_) => Ok(()),
            Expr::Leaf(index, at) => leaf(&place, *index, *at, function).map(drop),
            Expr::Scalar(index) => match scalar(&place, *index, function) {
                Ok(element) if element.is_float() => invalid(
                    &place,
                    "a scalar that is an integer",
                    element.to_string(),
                    "",
                ),
                found => found.map(drop),
            },
            Expr::Apply(op, operands) if operands.len() != op.arity() => {
                let expected = format!("{} operands of {}", op.arity(), op.name());
                invalid(&place, expected, operands.len().to_string(), "")
            }
            Expr::Apply(..) => Ok(()),
        };
        if checked.is_ok() {
            checked = wrong;
        }
    });
    checked
}

/// A tensor map has all of its numbers, for each dimension; whether they are within the hardware's bounds depends on arguments.
/// Checks that the lists of a tensor map have an entry for each dimension that they are about.
fn validate_map_lengths(place: &str, map: &MapParam) -> Checked {
    let (rank, boxes, strides) = (map.sizes.len(), map.box_sizes.len(), map.strides.len());
    let least = if map.im2col.is_some() { 3 } else { 1 };
    let is_ranked = (least..=MAX_RANK).contains(&rank) && strides + 1 == rank;
    let Some(pixels) = &map.im2col else {
        if is_ranked && boxes == rank {
            return Ok(());
        }
        let expected = format!(
            "a tensor map of 1 to {MAX_RANK} dimensions, with a size and a box for each and strides for all but the first"
        );
        let found = format!("{boxes} boxes, {rank} sizes, {strides} strides");
        return invalid(place, expected, found, "");
    };
    if let Some(rest) = map
        .box_sizes
        .iter()
        .find(|elements| matches!(elements, BoxSize::Rest { .. }))
    {
        return invalid(
            place,
            "a tensor map by im2col whose boxes are whole",
            rest.to_string(),
            "",
        );
    }
    let lists = [pixels.lower.len(), pixels.upper.len(), pixels.strides.len()];
    if is_ranked && boxes == 2 && lists == [rank - 2; 3] {
        return Ok(());
    }
    let expected = format!(
        "a tensor map by im2col of 3 to {MAX_RANK} dimensions, with a size for each, strides for all but the first, a box of channels and pixels, and \
         corners and strides of pixels for all dimensions but the first and the last"
    );
    let [lower, upper, steps] = lists;
    let found = format!(
        "{boxes} boxes, {rank} sizes, {strides} strides, corners of {lower} and {upper} dimensions, {steps} strides of pixels"
    );
    invalid(place, expected, found, "")
}

fn validate_map(place: &str, map: &MapParam, function: &Function) -> Checked {
    pattern(place, map.of.like(), function)?;
    let element = function.args[map.of.like()].element();
    if element.parse().ok().and_then(MapElement::of).is_none() {
        return invalid(
            place,
            "a tensor map of elements that TMA moves",
            element.to_owned(),
            "",
        );
    }
    validate_map_lengths(place, map)?;
    if MapSwizzle::spanning(map.swizzle.span()).is_none() {
        return invalid(
            place,
            "a swizzle of 0, 32, 64 or 128 bytes",
            map.swizzle.span().to_string(),
            "",
        );
    }
    if let Some(bytes) = map.l2_promotion
        && L2Promotion::of_bytes(bytes).is_none()
    {
        return invalid(
            place,
            "0, 64, 128 or 256 bytes that a miss brings into L2",
            bytes.to_string(),
            "",
        );
    }
    if let Some(wrong) = map
        .of
        .offset()
        .and_then(Expr::constant)
        .filter(|byte| !is_map_start(*byte))
    {
        return invalid(
            place,
            "a tensor map that begins at a multiple of 16 bytes",
            format!("byte {wrong}"),
            "",
        );
    }
    for expr in map.expressions() {
        validate_expr(place, "params", expr, function)?;
    }
    match (map.of.argument(), &function.workspace) {
        (None, None) => needs_workspace(place),
        _ => Ok(()),
    }
}

fn needs_workspace(place: &str) -> Checked {
    let expected = "a function with a workspace, into which a parameter points";
    invalid(place, expected, "none", "")
}

fn validate_launch(place: &str, launch: &Launch, function: &Function, images: &[Image]) -> Checked {
    let mut sizes = Vec::new();
    for param in &launch.params {
        // Bytes of the parameter.
        sizes.push(match param {
            Param::Pointer(index) => {
                pattern(place, *index, function)?;
                8
            }
            Param::Byte { tensor, offset } => {
                pattern(place, *tensor, function)?;
                validate_expr(place, "params", offset, function)?;
                8
            }
            Param::Leaf(index, at) => leaf(place, *index, *at, function)? as usize / 8,
            Param::Scalar(index) => scalar(place, *index, function)?.size(),
            Param::Integer(value, bits) => {
                validate_expr(place, "params", value, function)?;
                if !matches!(bits, 32 | 64) {
                    let expected = "an integer of 32 or 64 bits";
                    return invalid(place, expected, bits.to_string(), "");
                }
                *bits as usize / 8
            }
            Param::Workspace(offset) => {
                validate_expr(place, "params", offset, function)?;
                if function.workspace.is_none() {
                    return needs_workspace(place);
                }
                8
            }
            Param::TensorMap(map) => {
                validate_map(place, map, function)?;
                TENSOR_MAP_BYTES
            }
        });
    }
    for (what, expr) in launch
        .grid
        .iter()
        .map(|e| ("grid", e))
        .chain(launch.block.iter().map(|e| ("block", e)))
        .chain([("dynamic_smem", &launch.dynamic_smem)])
        .chain(launch.when.iter().map(|when| ("when", when)))
    {
        validate_expr(place, what, expr, function)?;
    }
    for pair in &launch.disjoint {
        let passed = |arg: &usize| {
            let mut params = launch.params.iter();
            params.any(|param| param.pointee() == Some(*arg))
        };
        if pair[0] == pair[1] || !pair.iter().all(passed) {
            let expected = "disjoint: two different tensors that the launch passes";
            return invalid(place, expected, format!("{pair:?}"), "");
        }
    }
    let wrong = |[expected, found, cure]: [String; 3]| invalid(place, expected, found, &cure);
    // What depends on arguments is checked with them.
    if let Err(parts) = limits::check_cluster(launch.cluster) {
        return wrong(parts);
    }
    let threads = match launch.sizes(&Environment::default()) {
        // The sizes of what never takes place may be any.
        _ if launch.is_never() => None,
        Ok(sizes) => Some(sizes.threads()),
        Err(SizesError::Limits(parts)) => return wrong(parts),
        Err(SizesError::Unknown) => None,
        Err(SizesError::Arithmetic(message)) => {
            return invalid(place, "sizes that can be computed", message, "");
        }
    };
    for image in images {
        let Some(kernel) = image
            .kernels
            .iter()
            .find(|kernel| kernel.name == launch.kernel)
        else {
            let found: Vec<_> = image
                .kernels
                .iter()
                .map(|kernel| kernel.name.as_str())
                .collect();
            let found = if found.is_empty() {
                "none".into()
            } else {
                found.join(", ")
            };
            return invalid(
                place,
                format!("the kernel in image {}", image.arch),
                found,
                "",
            );
        };
        validate_params(place, kernel, launch, &sizes)?;
        if let Some(threads) = threads
            && kernel.max_threads != 0
            && threads > u64::from(kernel.max_threads)
        {
            let expected = format!(
                "at most {} threads, the .maxntid of {}",
                kernel.max_threads, kernel.name
            );
            return invalid(place, expected, threads.to_string(), "");
        }
    }
    Ok(())
}

/// The bits of a parameter's type: `.u64`, or `.b8[128]` of an array.
fn bits_of(param: &str) -> Option<usize> {
    let numbers = param.trim_start_matches(|c: char| !c.is_ascii_digit());
    match numbers
        .strip_suffix(']')
        .and_then(|text| text.split_once('['))
    {
        Some((bits, count)) => bits.parse::<usize>().ok()?.checked_mul(count.parse().ok()?),
        None => numbers.parse().ok(),
    }
}

/// Checks that a launch passes what the kernel takes, where that is known; `sizes` are bytes.
fn validate_params(place: &str, kernel: &KernelInfo, launch: &Launch, sizes: &[usize]) -> Checked {
    if kernel.params.is_empty() {
        return Ok(());
    }
    if kernel.params.len() != launch.params.len() {
        let expected = format!(
            "{} arguments, the parameters of {}",
            kernel.params.len(),
            kernel.name
        );
        return invalid(place, expected, launch.params.len().to_string(), "");
    }
    for (at, (param, size)) in kernel.params.iter().zip(sizes).enumerate() {
        let bits = bits_of(param);
        if bits != Some(size * 8) {
            let expected = format!("{param} for parameter {at} of {}", kernel.name);
            return invalid(place, expected, format!("{} bits", size * 8), "");
        }
    }
    Ok(())
}
