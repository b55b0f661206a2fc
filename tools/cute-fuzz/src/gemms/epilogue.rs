//! A random epilogue of a product: what is stored, computed of sums, of other tensors, and of what was there before.

use super::problem::tensor;
use crate::random::Random;
use cute_runtime::Parsed;

/// What an epilogue adds to a product.
pub(super) struct Epilogue {
    /// The types of further tensors, and their layouts: those that are read, then those that are written.
    pub(super) tensors: Vec<(String, Parsed)>,
    /// How many of them are read.
    pub(super) reads: usize,
    /// Tells whether C is read as well.
    pub(super) reads_c: bool,
    /// The number that the function takes, with its default: empty where it takes none.
    pub(super) number: String,
    /// Arguments, operations and end of the region.
    pub(super) region: String,
}

/// The operations of a region, each a line.
struct Body {
    lines: Vec<String>,
    /// The type that is computed in.
    ty: &'static str,
}

impl Body {
    /// Adds an operation on values, and returns its result.
    fn op(&mut self, text: &str) -> String {
        let name = format!("%v{}", self.lines.len());
        self.lines.push(format!("{name} = {text}"));
        name
    }

    fn constant(&mut self, value: &str) -> String {
        let ty = self.ty;
        self.op(&format!("arith.constant {value} : {ty}"))
    }

    fn binary(&mut self, name: &str, x: &str, y: &str) -> String {
        let ty = self.ty;
        self.op(&format!("{name} {x}, {y} : {ty}"))
    }

    /// A value of another type as one of the type that is computed in.
    fn widened(&mut self, value: &str, from: &str) -> String {
        let ty = self.ty;
        match from {
            from if from == ty => value.to_string(),
            "i8" | "i32" => self.op(&format!("arith.sitofp {value} : {from} to {ty}")),
            _ => self.op(&format!("arith.extf {value} : {from} to {ty}")),
        }
    }

    /// A value as one of the type of an output.
    fn narrowed(&mut self, value: &str, to: &str) -> String {
        let ty = self.ty;
        if to == ty {
            return value.to_string();
        }
        if to != "i8" {
            return self.op(&format!("arith.truncf {value} : {ty} to {to}"));
        }
        let (most, least) = (self.constant("127.0"), self.constant("-128.0"));
        let below = self.binary("arith.minimumf", value, &most);
        let within = self.binary("arith.maximumf", &below, &least);
        self.op(&format!("arith.fptosi {within} : {ty} to i8"))
    }
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
    ) -> Epilogue {
        let ty = if sum == "f64" { "f64" } else { "f32" };
        let mut body = Body {
            lines: Vec::new(),
            ty,
        };
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
        let reads_c = random.chance(20);
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
            tensors.push(tensor(random, element, extents, batch, true));
            yields.push((body.narrowed(&plain, element), element.to_string()));
        }
        let [values, types] = [0, 1].map(|part| {
            let parts = yields.iter().map(|(value, ty)| [value, ty][part].as_str());
            parts.collect::<Vec<_>>().join(", ")
        });
        let region = format!(
            "  ^bb0({}):\n    {}\n    cute.yield {values} : {types}\n",
            arguments.join(", "),
            body.lines.join("\n    ")
        );
        Epilogue {
            tensors,
            reads,
            reads_c,
            number,
            region,
        }
    }
}

/// A function of a number.
fn activation(random: &mut Random, body: &mut Body, x: String) -> String {
    let ty = body.ty;
    // There are no functions of f64 on a GPU.
    match random.below(if ty == "f64" { 3 } else { 5 }) {
        0 => {
            let zero = body.constant("0.0");
            body.binary("arith.maximumf", &x, &zero)
        }
        1 => {
            let zero = body.constant("0.0");
            let is = body.op(&format!("arith.cmpf ogt, {x}, {zero} : {ty}"));
            let slope = body.constant("0.125");
            let small = body.binary("arith.mulf", &x, &slope);
            body.op(&format!("arith.select {is}, {x}, {small} : {ty}"))
        }
        2 => x,
        3 => {
            let tanh = body.op(&format!("math.tanh {x} : {ty}"));
            body.binary("arith.addf", &tanh, &x)
        }
        _ => {
            let half = body.constant("0.5");
            let scaled = body.binary("arith.mulf", &x, &half);
            let erf = body.op(&format!("math.erf {scaled} : {ty}"));
            body.op(&format!("math.fma {scaled}, {erf}, {scaled} : {ty}"))
        }
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
    let modes = |of: &dyn Fn(i64) -> String| {
        let all: Vec<String> = batch.iter().map(|count| of(*count)).collect();
        match &all[..] {
            [] => String::new(),
            [one] => format!(",{one}"),
            all => format!(",({})", all.join(",")),
        }
    };
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
