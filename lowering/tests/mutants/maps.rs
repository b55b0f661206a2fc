//! Mutants of the tensor maps that a launch makes: of their boxes, swizzles and sizes.

use crate::list::{Entry, Verdict};
use cute_runtime::Function;
use cute_runtime::package::{BoxSize, Expr, Im2colParam, MapParam, Param};

/// The functions with one number of one map changed, and entries that have no verdict yet.
pub fn mutants(function: &Function) -> Vec<(Entry, Function)> {
    let mut made = Vec::new();
    for (at, launch) in function.launches.iter().enumerate() {
        for (index, param) in launch.params.iter().enumerate() {
            let Param::TensorMap(map) = param else {
                continue;
            };
            let name = function.args[map.of.like()].name();
            for (what, kind, with) in changed(map) {
                let mut function = function.clone();
                function.launches[at].params[index] = Param::TensorMap(with);
                let entry = Entry {
                    id: format!("map of {name}: {what}"),
                    kind,
                    place: format!("launch {at}"),
                    what,
                    verdict: Verdict::Rejected,
                };
                made.push((entry, function));
            }
        }
    }
    made
}

/// Each size of the box one vector or row more and less, that of a rest the rest of one less, and whole, each size of the tensor a box less, each stride a vector more and less, each corner and each step from pixel to pixel
/// one and two more and less, and each other swizzle.
fn changed(map: &MapParam) -> Vec<(String, &'static str, MapParam)> {
    let mut made = Vec::new();
    for dimension in 0..map.box_sizes.len() {
        // The fastest dimension fills whole 16 bytes.
        let unit = if dimension == 0 { 8 } else { 1 };
        let old = map.box_sizes[dimension];
        let others = match old {
            BoxSize::Whole(old) => [old - unit, old + unit].map(BoxSize::Whole),
            BoxSize::Rest { rest_of } => [
                BoxSize::Rest {
                    rest_of: rest_of - unit,
                },
                BoxSize::Whole(rest_of),
            ],
        };
        for new in others {
            let mut with = map.clone();
            with.box_sizes[dimension] = new;
            let what = format!("box of {new} in place of {old} along dimension {dimension}");
            made.push((what, "box of a map", with));
        }
        if let Expr::Constant(old) = map.sizes[dimension] {
            let mut with = map.clone();
            let (BoxSize::Whole(box_size) | BoxSize::Rest { rest_of: box_size }) =
                map.box_sizes[dimension];
            let new = old - i64::from(box_size);
            with.sizes[dimension] = Expr::Constant(new);
            let what = format!("{new} elements in place of {old} along dimension {dimension}");
            made.push((what, "size of a map", with));
        }
    }
    for (at, stride) in map.strides.iter().enumerate() {
        if let Expr::Constant(old) = stride {
            for new in [old - 8, old + 8] {
                let mut with = map.clone();
                with.strides[at] = Expr::Constant(new);
                let what = format!(
                    "{new} elements from row to row in place of {old}, dimension {}",
                    at + 1
                );
                made.push((what, "stride of a map", with));
            }
        }
    }
    made.extend(moved(map));
    for swizzle in [0, 32, 64, 128] {
        if swizzle != map.swizzle.span() {
            let with = MapParam {
                swizzle: cute_runtime::SharedSwizzle::Span(swizzle),
                ..map.clone()
            };
            let what = format!(
                "swizzle of {swizzle} bytes in place of {}",
                map.swizzle.span()
            );
            made.push((what, "swizzle of a map", with));
        }
    }
    made
}

/// Corners and steps of a map by im2col that are one and two more and less.
fn moved(map: &MapParam) -> Vec<(String, &'static str, MapParam)> {
    let mut made = Vec::new();
    let dimensions = map.im2col.as_ref().map_or(0, |pixels| pixels.lower.len());
    for dimension in 0..dimensions {
        for by in [-2, -1, 1, 2] {
            let mut push = |what: &str, kind, change: &dyn Fn(&mut Im2colParam)| {
                let mut with = map.clone();
                if let Some(pixels) = &mut with.im2col {
                    change(pixels);
                }
                let what = format!("{what} {by:+} along dimension {}", dimension + 1);
                made.push((what, kind, with));
            };
            push("lower corner", "corner of a map", &|pixels| {
                pixels.lower[dimension] += by;
            });
            push("upper corner", "corner of a map", &|pixels| {
                pixels.upper[dimension] += by;
            });
            push("step", "step of a map", &|pixels| {
                pixels.strides[dimension] = pixels.strides[dimension].saturating_add_signed(by);
            });
        }
    }
    made
}
