//! A random epilogue of a product: what is stored, computed of sums, of other tensors, and of what was there before.

use super::places::nested;
use super::problem::tensor;
use crate::random::Random;
use crate::region::{Body, activation};
use crate::tensors::{bytes, leaf};
use cute_runtime::Parsed;

/// The part of a product that an epilogue is.
pub(super) struct Epilogue {
    /// The types of further tensors, and their layouts: those that are read, then those that are written.
    pub(super) tensors: Vec<(String, Parsed)>,
    /// The number of them that are read.
    pub(super) reads: usize,
    /// The kind by which each that is written is reduced; empty where it is not.
    pub(super) kinds: Vec<&'static str>,
    /// Tells whether C is read as well.
    pub(super) reads_c: bool,
    /// The number that the function takes, with its default: empty where it takes none.
    pub(super) number: String,
    /// Arguments, operations and end of the region.
    pub(super) region: String,
}

/// The types of elements that an epilogue stores, where it computes in this one.
pub(super) fn stored(random: &mut Random, sum: &str) -> &'static str {
    let all: &[&'static str] = match sum {
        "f64" => &["f64", "f32"],
        _ => &["f16", "f16", "f16", "bf16", "f32", "i8"],
    };
    all[random.below(all.len())]
}

impl Epilogue {
    /// An epilogue of sums of this type whose C has such elements.
    pub(super) fn new(
        random: &mut Random,
        [sum, result]: [&str; 2],
        extents: [i64; 2],
        batch: &[i64],
        may_read_c: bool,
    ) -> Epilogue {
        let ty = if sum == "f64" { "f64" } else { "f32" };
        let mut body = Body::of(ty);
        let mut value = body.widened("%sum", sum);
        let (mut tensors, mut arguments) = (Vec::new(), vec![format!("%sum: {sum}")]);
        let reads = random.below(3);
        for at in 0..reads {
            let element = match ty {
                "f64" => *random.pick(&["f64", "f32"]),
                _ => *random.pick(&["f16", "f16", "bf16", "f32", "i8"]),
            };
            tensors.push(if random.chance(55) {
                line(random, element, extents, batch)
            } else if random.chance(25) {
                nested(random, element, extents, batch, false)
            } else {
                tensor(random, element, extents, batch, false)
            });
            arguments.push(format!("%e{at}: {element}"));
            let other = body.widened(&format!("%e{at}"), element);
            let names = [
                "arith.addf",
                "arith.addf",
                "arith.mulf",
                "arith.subf",
                "arith.maximumf",
            ];
            value = body.binary(names[random.below(5)], &value, &other);
        }
        let number = match random.chance(40) {
            true => {
                format!(", %alpha: {ty} {{cute.name = \"alpha\", cute.default = -0.75 : {ty}}}")
            }
            false => String::new(),
        };
        if !number.is_empty() {
            value = body.binary("arith.mulf", &value, "%alpha");
        }
        let reads_c = random.chance(20) && may_read_c;
        if reads_c {
            arguments.push(format!("%c: {result}"));
            let before = body.widened("%c", result);
            value = body.binary("arith.addf", &value, &before);
        }
        let plain = value.clone();
        value = activation(random, &mut body, value);
        let mut yields = vec![(body.narrowed(&value, result), result.to_string())];
        if random.chance(20) {
            let element = stored(random, sum);
            tensors.push(match random.chance(25) {
                true => nested(random, element, extents, batch, true),
                false => tensor(random, element, extents, batch, true),
            });
            yields.push((body.narrowed(&plain, element), element.to_string()));
        }
        let mut kinds = vec![""; tensors.len() - reads];
        if random.chance(45) {
            for _ in 0..random.range(1, 2) {
                let kind = *random.pick(&["add", "add", "mean", "maximum", "maximum", "minimum"]);
                let element = match (kind, ty) {
                    ("add" | "mean", ty) => ty,
                    (_, "f64") => *random.pick(&["f64", "f32"]),
                    _ => *random.pick(&["f32", "f32", "f16", "bf16", "i8"]),
                };
                tensors.push(reduced(random, element, extents, batch));
                let of = if random.chance(50) { &plain } else { &value };
                yields.push((body.narrowed(of, element), element.to_string()));
                kinds.push(kind);
            }
        }
        let region = body.region(&arguments, &yields);
        Epilogue {
            tensors,
            reads,
            kinds,
            reads_c,
            number,
            region,
        }
    }
}

/// A tensor that has one element along rows, along columns or along both, with elements of its own for each product of a batch.
fn reduced(
    random: &mut Random,
    element: &str,
    extents: [i64; 2],
    batch: &[i64],
) -> (String, Parsed) {
    let along = *random.pick(&[[0, 1], [0, 1], [1, 0], [1, 0], [1, 1]]);
    let step = if random.chance(15) { 2 } else { 1 };
    let strides = along.map(|is_reduced| if is_reduced == 1 { 0 } else { step });
    let mut weight = 1 + (extents[0] - 1) * strides[0] + (extents[1] - 1) * strides[1];
    weight += if random.chance(20) { 4 } else { 0 };
    let mut of_batch = Vec::new();
    for count in batch {
        of_batch.push(weight);
        weight *= count;
    }
    let is_open = random.chance(45);
    let mut modes = |shape: bool, open: bool| {
        let mut text = |value: i64| match open && (shape || value != 0) {
            true => leaf(random, &[value], !shape),
            false => value.to_string(),
        };
        let all = if shape { extents } else { strides };
        let [rows, columns] = all.map(&mut text);
        let all = if shape { batch } else { &of_batch };
        let all: Vec<String> = all.iter().map(|value| text(*value)).collect();
        match &all[..] {
            [] => format!("({rows},{columns})"),
            [one] => format!("({rows},{columns},{one})"),
            all => format!("({rows},{columns},({}))", all.join(",")),
        }
    };
    let ty = format!(
        "!cute.memref<{element}, gmem, align<{}>, \"{}:{}\">",
        bytes(element),
        modes(true, is_open),
        modes(false, is_open)
    );
    let layout = Parsed::parse(&format!("{}:{}", modes(true, false), modes(false, false)));
    (ty, layout.expect("a layout of a tensor"))
}

/// The modes of a batch as text behind those of rows and columns, of what `of` makes of each number of products.
pub(super) fn modes(batch: &[i64], of: impl FnMut(i64) -> String) -> String {
    let all: Vec<String> = batch.iter().copied().map(of).collect();
    match &all[..] {
        [] => String::new(),
        [one] => format!(",{one}"),
        all => format!(",({})", all.join(",")),
    }
}

/// A tensor that is the same for all rows, for all columns, or everywhere.
pub(super) fn line(
    random: &mut Random,
    element: &str,
    extents: [i64; 2],
    batch: &[i64],
) -> (String, Parsed) {
    let strides = *random.pick(&[[0, 1], [0, 1], [1, 0], [0, 0]]);
    let is_open = random.chance(30);
    let modes = |of: &dyn Fn(i64) -> String| modes(batch, of);
    let shape = |open: bool| {
        let of = |extent: i64| match open {
            true => "?".to_string(),
            false => extent.to_string(),
        };
        let [rows, columns] = extents.map(of);
        format!("({rows},{columns}{})", modes(&of))
    };
    let stride = format!("({},{}{})", strides[0], strides[1], modes(&|_| "0".into()));
    let ty = format!(
        "!cute.memref<{element}, gmem, align<16>, \"{}:{stride}\">",
        shape(is_open)
    );
    let layout = Parsed::parse(&format!("{}:{stride}", shape(false)));
    (ty, layout.expect("a layout of a tensor"))
}
