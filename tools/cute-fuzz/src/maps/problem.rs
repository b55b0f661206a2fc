//! A function of maps, one or two, or of a product and a map, and what launches of it bring.

mod fused;

use super::formula::region;
use super::shape::{Role, Shape, Tensor};
use super::style::Style;
use crate::gemms::matrix;
use crate::random::Random;
use crate::tensors::{bytes, typed};
use cute_runtime::tensor::Given;
use std::collections::BTreeSet;

/// A function, and what launches bring.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// The text for the compiler.
    pub(super) text: String,
    /// The layouts of the tensors of which the text leaves something open, in each launch.
    pub(super) launches: Vec<Vec<Given>>,
    /// The kinds of things that are in it, for the census.
    pub(super) features: BTreeSet<&'static str>,
}

/// A function that is being written.
#[derive(Default)]
struct Function {
    head: String,
    body: String,
    tensors: Vec<Tensor>,
    /// The tensors that are in a workspace, and no arguments.
    inner: BTreeSet<usize>,
    /// The tensors that have elements before anything is computed.
    read: BTreeSet<usize>,
    /// A number comes behind the tensors.
    number: Option<String>,
    features: BTreeSet<&'static str>,
}

impl Function {
    /// Adds a tensor as an argument; its name.
    fn argument(&mut self, tensor: &Tensor) -> usize {
        let at = self.tensors.len();
        self.head += &format!("!T{at} = {}\n", tensor.ty);
        self.tensors.push(tensor.clone());
        at
    }

    /// Adds a map of some tensors that there are and some of its own; its outputs.
    fn map(
        &mut self,
        random: &mut Random,
        shape: &Shape,
        style: Style,
        given: &[usize],
    ) -> Vec<usize> {
        let mut inputs = given.to_vec();
        let own = match given {
            [] => *random.pick(&[0, 1, 1, 1, 2, 2, 3]),
            _ => random.range(0, 1),
        };
        for _ in 0..own {
            let element = *random.pick(style.inputs);
            let tensor = shape.tensor(random, element, Role::Input);
            let at = self.argument(&tensor);
            self.read.insert(at);
            inputs.push(at);
        }
        let mut outputs = Vec::new();
        // Only tensors of this map's own are overwritten, of which every element has a place of its own.
        let in_place: Vec<usize> = inputs[given.len()..]
            .iter()
            .copied()
            .filter(|at| style.outputs.contains(&self.tensors[*at].element))
            .collect();
        if !in_place.is_empty() && random.chance(18) {
            let at = *random.pick(&in_place);
            let tensor = shape.tensor(random, self.tensors[at].element, Role::Output);
            self.replace(at, tensor);
            outputs.push(at);
            self.features.insert("outputs that are inputs");
        }
        for _ in 0..*random.pick(&[1, 1, 1, 2, 2, 3]) {
            if outputs.len() == 3 {
                break;
            }
            let element = *random.pick(style.outputs);
            let role = match !shape.along.is_empty() && random.chance(30) {
                true => Role::Once,
                false => Role::Output,
            };
            if role == Role::Once {
                self.features.insert("outputs of one element for each row");
            }
            let tensor = shape.tensor(random, element, role);
            outputs.push(self.argument(&tensor));
        }
        let of = |all: &[usize]| -> Vec<Tensor> {
            all.iter().map(|at| self.tensors[*at].clone()).collect()
        };
        let (ins, outs) = (of(&inputs), of(&outputs));
        // A function takes no number of eight bits.
        let number = (random.chance(25) && style.ty != "i8").then(|| {
            let ty = style.ty;
            let default = if ty.starts_with('i') { "-3" } else { "-0.75" };
            let text =
                format!("%alpha: {ty} {{cute.name = \"alpha\", cute.default = {default} : {ty}}}");
            let known = self.number.get_or_insert(text);
            known.contains(&format!(" {ty} {{")).then_some("%alpha")
        });
        let number = number.flatten();
        if number.is_some() {
            self.features.insert("a number of the function");
        }
        let count = shape.most_along(&shape.along);
        let (text, made) = region(random, style, [&ins, &outs], (&shape.along, count), number);
        let (reductions, is_norm) = (made.reductions, made.is_norm);
        if reductions > 0 {
            self.features.insert("reductions");
        }
        if reductions > 1 {
            self.features.insert("several reductions");
        }
        if is_norm {
            self.features.insert("norms");
        }
        if made.has_bits {
            self.features.insert("bits of integers");
        }
        if inputs.is_empty() {
            self.features.insert("no inputs");
        }
        let list = |all: &[usize]| -> Vec<(String, String)> {
            all.iter()
                .map(|at| (format!("%T{at}"), format!("!T{at}")))
                .collect()
        };
        let read = match &inputs[..] {
            [] => String::new(),
            all => format!("ins({}) ", typed(&list(all))),
        };
        self.body += &format!(
            "  cute.map {read}outs({}) {{\n{text}  }}\n",
            typed(&list(&outputs))
        );
        outputs
    }

    /// Puts a tensor that one op writes and another one reads into a workspace, where all of its layout is known.
    fn hide(&mut self, at: usize) {
        let tensor = &self.tensors[at];
        if tensor.ty.contains('?') || self.read.contains(&at) || self.inner.contains(&at) {
            return;
        }
        let layout = tensor.layouts[0].clone();
        // A layout, which a view is made by, has no extent of 0.
        if layout.size() == 0 {
            return;
        }
        let element = tensor.element;
        let pointer = format!("!cute.ptr<{element}, gmem, align<256>>");
        let count = layout.cosize() * bytes(element);
        let before = format!(
            "  %B{at} = arith.constant {count} : index\n  %W{at} = cute.workspace(%B{at}) : {pointer}\n  \
             %L{at} = cute.static : !cute.layout<\"{0}\">\n  \
             %T{at} = cute.make_view(%W{at}, %L{at}) : ({pointer}, !cute.layout<\"{0}\">) -> !T{at}\n",
            layout.text()
        );
        let ty = format!(
            "!cute.memref<{element}, gmem, align<256>, \"{}\">",
            layout.text()
        );
        self.body.insert_str(0, &before);
        self.replace(
            at,
            Tensor {
                ty,
                ..tensor.clone()
            },
        );
        self.inner.insert(at);
        self.features.insert("tensors in a workspace");
    }

    fn replace(&mut self, at: usize, tensor: Tensor) {
        let old = format!("!T{at} = {}\n", self.tensors[at].ty);
        self.head = self
            .head
            .replace(&old, &format!("!T{at} = {}\n", tensor.ty));
        self.tensors[at] = tensor;
    }
}

impl Problem {
    /// A function of a shape of some thousand elements, or, without sums of products, so many times as many.
    pub(super) fn new(random: &mut Random, scale: i64) -> Problem {
        match random.chance(30) {
            true => Problem::fused(random),
            false => Problem::plain(random, scale),
        }
    }

    /// A function of maps without sums of products.
    fn plain(random: &mut Random, scale: i64) -> Problem {
        let mut shape = Shape::new(random, scale);
        let mut function = Function::default();
        let style = Style::new(random);
        let product = random
            .chance(8)
            .then(|| product(random, &mut function, &shape));
        let given: Vec<usize> = product.flatten().into_iter().collect();
        let style = match &given[..] {
            [] => style,
            _ => Style::wide(),
        };
        let outputs = function.map(random, &shape, style, &given);
        let mut hidden = given;
        if random.chance(25) {
            // The next one reads what this one left.
            function.features.insert("several maps");
            if random.chance(50) {
                shape.along = match random.chance(70) {
                    true => vec![random.below(shape.modes.len())],
                    false => Vec::new(),
                };
            }
            let read: Vec<usize> = outputs
                .into_iter()
                .filter(|at| style.inputs.contains(&function.tensors[*at].element))
                .take(2)
                .collect();
            function.map(random, &shape, style, &read);
            hidden.extend(read);
        }
        for at in hidden {
            if random.chance(50) {
                function.hide(at);
            }
        }
        Problem::of(function, &shape)
    }

    /// A function with what launches of it bring.
    fn of(function: Function, shape: &Shape) -> Problem {
        let mut features = function.features;
        let mut head = function.head;
        let open = |tensor: &Tensor| tensor.ty.contains('?');
        if function.tensors.iter().any(open) {
            features.insert("open leaves");
        }
        if shape.modes.iter().any(|leaves| leaves.len() > 1) {
            features.insert("nested modes");
        }
        if shape.modes.len() > 2 {
            features.insert("more than two modes");
        }
        if !shape.along.is_empty() && shape.most_along(&shape.along) > 8192 {
            features.insert("long rows");
        }
        if !shape.along.is_empty() && shape.most_along(&shape.along) > 1 << 17 {
            features.insert("few long rows");
        }
        if (0..shape.launches).any(|launch| shape.elements(launch) == 0) {
            features.insert("no elements");
        }
        if function
            .tensors
            .iter()
            .any(|tensor| tensor.element.starts_with("f8"))
        {
            features.insert("elements of f8");
        }
        let is_same = |tensor: &Tensor| tensor.varies.count_ones() < shape.modes.len() as u32;
        if function.tensors.iter().any(is_same) {
            features.insert("broadcasts");
        }
        let outer = |at: &usize| !function.inner.contains(at);
        let arguments = (0..function.tensors.len()).filter(outer);
        let arguments = arguments.map(|at| format!("%T{at}: !T{at}"));
        let arguments: Vec<String> = arguments.chain(function.number.clone()).collect();
        head += &format!(
            "func.func @map({}) {{\n{}  return\n}}\n",
            arguments.join(", "),
            function.body
        );
        let launch = |at: usize| {
            let outer = (0..function.tensors.len()).filter(outer);
            let tensors = outer.map(|own| &function.tensors[own]);
            let tensors = tensors.map(|tensor| match open(tensor) {
                true => Given::Layout(tensor.layouts[at].clone()),
                false => Given::Nothing,
            });
            let scalar = function.number.iter().map(|_| Given::Nothing);
            tensors.chain(scalar).collect::<Vec<_>>()
        };
        // Where nothing is open, all launches are one.
        let launches = match function.tensors.iter().any(open) {
            true => shape.launches,
            false => 1,
        };
        Problem {
            text: head,
            launches: (0..launches).map(launch).collect(),
            features,
        }
    }
}

/// Adds a product whose C has that shape, if one can; C.
fn product(random: &mut Random, function: &mut Function, shape: &Shape) -> Option<usize> {
    let leaf = |mode: usize| match &shape.modes.get(mode)?[..] {
        [one] if one.iter().all(|extent| *extent == one[0]) => Some(one[0]),
        _ => None,
    };
    let (2, Some(m), Some(n)) = (shape.modes.len(), leaf(0), leaf(1)) else {
        return None;
    };
    if m * n > 30_000 {
        return None;
    }
    let k = *random.pick(&[16, 31, 32, 64]);
    let element = *random.pick(&["f16", "bf16"]);
    let launches = shape.launches;
    for extents in [[m, k], [n, k]] {
        let (ty, layout) = matrix(random, element, extents, &[], false);
        function.argument(&Tensor {
            element,
            ty,
            layouts: vec![layout; launches],
            varies: 3,
        });
    }
    let stored = *random.pick(&["f32", element]);
    let (ty, layout) = matrix(random, stored, [m, n], &[], true);
    let c = function.argument(&Tensor {
        element: stored,
        ty,
        layouts: vec![layout; launches],
        varies: 3,
    });
    function.body += "  cute.contract ins(%T0, %T1 : !T0, !T1) outs(%T2 : !T2) accumulate f32\n";
    function.features.insert("products");
    Some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_depend_on_their_number_alone() {
        for index in 0..60 {
            let [one, other] = [0, 1].map(|_| Problem::new(&mut Random::of(1, index), 1));
            assert_eq!(one.text, other.text);
            assert_eq!(one.launches, other.launches);
            let count = |bracket| one.text.matches(bracket).count();
            assert_eq!(count('{'), count('}'), "{}", one.text);
        }
    }

    #[test]
    fn problems_are_of_all_kinds() {
        let all: Vec<Problem> = (0..1200)
            .map(|index| Problem::new(&mut Random::of(3, index), 1))
            .collect();
        let some = |part: &str| all.iter().filter(|one| one.text.contains(part)).count();
        for part in [
            "\"add\"",
            "\"mean\"",
            "\"maximum\"",
            "\"minimum\"",
            "?{div=",
            "i64",
            "align<2>",
            "along [0]",
            "along [1]",
            "along [0, 1]",
            "along [1, 2]",
            "33000",
            "i8",
            "bf16",
            "f64",
            "i32",
            "arith.andi",
            "arith.shrui",
            "arith.remsi",
            "cute.workspace",
            "math.exp",
            "math.rsqrt",
            "arith.select",
            "%alpha",
            "cute.contract",
            ",0)",
        ] {
            assert!(some(part) > 2, "{part}");
        }
        let several = all.iter().filter(|one| one.launches.len() > 1).count();
        assert!(several > 400, "{several}");
        for feature in super::super::census::FEATURES {
            let count = all
                .iter()
                .filter(|one| one.features.contains(feature))
                .count();
            assert!(count > 10, "{feature}: {count}");
        }
    }
}
