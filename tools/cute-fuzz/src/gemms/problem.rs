//! A product of matrices as a user may write it: any extents, any order of strides, gaps, alignments, a batch, and any part of it
//! known only to the launch.

use super::epilogue::{self, Epilogue};
use super::places::{self, Placed};
use super::prologue::Prologue;
use super::view::Viewed;
use crate::random::Random;
use crate::tensors::{bytes, leaf, typed};
use cute_runtime::Parsed;
use cute_runtime::tensor::Given;

/// A product, and what a launch brings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    /// The text for the compiler.
    pub(super) text: String,
    /// The layouts of the tensors of which the text leaves something open.
    pub(super) given: Vec<Given>,
    /// Tells whether factors are of bytes, as threads compute in registers what is multiplied.
    pub(super) is_narrow: bool,
}

/// Types of the elements of A and of B, of the sums, and of C.
const TYPES: [[&str; 4]; 18] = [
    ["f16", "f16", "f32", "f16"],
    ["f16", "f16", "f32", "f16"],
    ["f16", "f16", "f32", "f16"],
    ["f16", "f16", "f32", "f32"],
    ["f16", "f16", "f32", "bf16"],
    ["f16", "f16", "f16", "f16"],
    ["bf16", "bf16", "f32", "bf16"],
    ["bf16", "bf16", "f32", "f32"],
    ["tf32", "tf32", "f32", "f32"],
    ["tf32", "tf32", "f32", "f16"],
    ["f32", "f32", "f32", "f32"],
    ["f32", "f32", "f32", "bf16"],
    ["f64", "f64", "f64", "f64"],
    ["i8", "i8", "i32", "i32"],
    ["ui8", "ui8", "i32", "i32"],
    ["i8", "ui8", "i32", "i32"],
    ["f8E4M3FN", "f8E4M3FN", "f32", "f32"],
    ["f8E5M2", "f8E4M3FN", "f32", "bf16"],
];

/// Types among them whose factors have 16 bits.
const OF_HALVES: usize = 8;

/// The least tile of factors that are computed in registers.
const WHOLE: i64 = 64;

/// The forms of an extent: a multiple of a tile, one beside it, a multiple of 8, small, any.
fn extent(random: &mut Random, tile: i64, (most, scale): (i64, i64)) -> i64 {
    let whole = tile * random.range(1, 1 + (most / tile.max(1)).clamp(0, 2 * scale));
    match random.below(10) {
        0..4 => whole,
        4 => whole + 1,
        5 => (whole - 1).max(1),
        6 | 7 => 8 * random.range(1, most / 8),
        8 => random.range(1, 20),
        _ => random.range(1, most),
    }
}

/// A matrix of so many rows and columns, and a batch of such where there is one: its type and its layout.
pub(crate) fn tensor(
    random: &mut Random,
    element: &str,
    extents: [i64; 2],
    batch: &[i64],
    is_output: bool,
) -> (String, Parsed) {
    let [rows, columns] = extents;
    let major = usize::from(!random.chance(35));
    let along = extents[major];
    let gap = match random.below(10) {
        0 => 1,
        1 => 4,
        2 | 3 => 8 * random.range(1, 5),
        _ => 0,
    };
    // Elements of a line may be apart.
    let step = if random.chance(5) { 2 } else { 1 };
    let mut line = along.max(1) * step + gap;
    let mut stride = [0; 2];
    stride[major] = step;
    stride[1 - major] = line;
    if !is_output && random.chance(3) {
        // All lines are one.
        stride[1 - major] = 0;
        line = along.max(1) * step;
    }
    let mut whole = line * extents[1 - major].max(1);
    let mut of_batch = Vec::new();
    for count in batch {
        if !is_output && random.chance(30) {
            of_batch.push(0);
        } else {
            of_batch.push(whole);
            whole *= count;
        }
    }
    // All is known, or each leaf perhaps.
    let is_open = random.chance(45);
    let mut text = |value: i64, is_stride: bool| match is_open {
        true => leaf(random, &[value], is_stride),
        false => value.to_string(),
    };
    let nest = |all: Vec<String>| match &all[..] {
        [one] => one.clone(),
        all => format!("({})", all.join(",")),
    };
    let mut shape = vec![text(rows, false), text(columns, false)];
    let mut strides = vec![text(stride[0], true), text(stride[1], true)];
    if !batch.is_empty() {
        shape.push(nest(
            batch.iter().map(|count| text(*count, false)).collect(),
        ));
        strides.push(nest(of_batch.iter().map(|s| text(*s, true)).collect()));
    }
    let numbers = |all: &[i64]| nest(all.iter().map(i64::to_string).collect());
    let known = match batch {
        [] => format!("({rows},{columns}):({},{})", stride[0], stride[1]),
        batch => format!(
            "({rows},{columns},{}):({},{},{})",
            numbers(batch),
            stride[0],
            stride[1],
            numbers(&of_batch)
        ),
    };
    let align = *random.pick(&[16, 16, 16, 16, 32, 128, 8, 4, 2, 1]);
    let align = align.max(bytes(element));
    let ty = format!(
        "!cute.memref<{element}, gmem, align<{align}>, \"({}):({})\">",
        shape.join(","),
        strides.join(",")
    );
    let layout = Parsed::parse(&known).expect("a layout of a tensor");
    (ty, layout)
}

/// A matrix of so many rows, one behind the other, and a batch of such where there is one, of which all is known.
fn rows(element: &str, [rows, columns]: [i64; 2], batch: &[i64]) -> (String, Parsed) {
    let (mut shape, mut stride) = (format!("{rows},{columns}"), format!("{columns},1"));
    let mut whole = rows * columns;
    let mut of_batch = [Vec::new(), Vec::new()];
    for count in batch {
        of_batch[0].push(count.to_string());
        of_batch[1].push(whole.to_string());
        whole *= count;
    }
    if !batch.is_empty() {
        let [counts, strides] = of_batch.map(|all| match &all[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(",")),
        });
        shape += &format!(",{counts}");
        stride += &format!(",{strides}");
    }
    let layout = format!("({shape}):({stride})");
    let ty = format!("!cute.memref<{element}, gmem, align<16>, \"{layout}\">");
    (ty, Parsed::parse(&layout).expect("a layout of a tensor"))
}

impl Problem {
    /// A product of some tiles of this size, or about as large, or so many times as large.
    pub(super) fn new(random: &mut Random, tile: [i64; 3], scale: i64) -> Problem {
        let most = [256, 320, 384].map(|most| most * scale);
        let mut extents = [0; 3];
        for (axis, extent_of) in extents.iter_mut().enumerate() {
            *extent_of = extent(random, tile[axis], (most[axis], scale));
        }
        // Factors of bytes that lie as threads can compute what is multiplied in registers, each in whole tiles.
        let narrow = match random.chance(8) {
            true => *random.pick(&[[true, false], [false, true], [false, true], [true, true]]),
            false => [false; 2],
        };
        let is_narrow = narrow != [false; 2];
        // Warpgroups take bytes of a whole swizzle along K.
        let along_k = if random.chance(60) { 2 * WHOLE } else { WHOLE };
        let whole = |extent: i64, of: i64| ((extent + of / 2) / of * of).max(of);
        for (axis, is_whole) in [narrow[0], narrow[1], is_narrow].into_iter().enumerate() {
            if is_whole {
                extents[axis] = whole(extents[axis], if axis == 2 { along_k } else { WHOLE });
            }
        }
        // A factor of images, as a convolution has it, or its gradients.
        let images = (!is_narrow && random.chance(8))
            .then(|| (random.below(2), places::Images::new(random)));
        if let Some((factor, images)) = &images {
            let [lines, along_k] = images.extents();
            (extents[*factor], extents[2]) = (lines, along_k);
        }
        // Without elements of a factor, of the other one, or of both; sums of none are 0.
        let empty = (!is_narrow && images.is_none() && random.chance(4)).then(|| random.below(3));
        if let Some(axis) = empty {
            extents[axis] = 0;
        }
        let [m, n, k] = extents;
        let batch: Vec<i64> = match random.below(10) {
            _ if images.is_some() => Vec::new(),
            0 => vec![random.range(1, 3)],
            1 => vec![random.range(1, 3), random.range(1, 2)],
            _ => Vec::new(),
        };
        let types = if is_narrow {
            &TYPES[..OF_HALVES]
        } else {
            &TYPES[..]
        };
        let [left, right, sum, result] = *random.pick(types);
        // An epilogue stores other types than sums are rounded to.
        let has_epilogue = random.chance(40) && !matches!(empty, Some(0 | 1));
        let result = match has_epilogue {
            true => epilogue::stored(random, sum),
            false => result,
        };
        // Groups of rows, each with a matrix of B.
        let is_plain = batch.is_empty() && empty.is_none() && images.is_none();
        let groups = (is_plain && random.chance(12)).then(|| [random.range(1, 9)]);
        let batch_of = |name: &str| match &groups {
            Some(groups) if name == "B" => &groups[..],
            _ => &batch,
        };
        let scales = !is_narrow && sum == "f32" && random.chance(12);
        let mut prologue = |name, multiplied, extents| match random.chance(25) {
            _ if scales && random.chance(70) => {
                let own = (name, multiplied);
                let extents = (extents, name == "B" || groups.is_none());
                Some(Prologue::scaled(random, own, extents, batch_of(name)))
            }
            _ if is_narrow => narrow[usize::from(name == "B")]
                .then(|| Prologue::narrow(random, (name, multiplied), extents, batch_of(name))),
            true => Prologue::new(random, (name, multiplied), extents, batch_of(name)),
            false => None,
        };
        let prologues = [prologue("A", left, [m, k]), prologue("B", right, [n, k])];
        let [left, right] = [0, 1].map(|at| {
            let made = prologues[at].as_ref().map(|prologue| prologue.stored);
            made.unwrap_or([left, right][at])
        });
        let factor_of = |name: &str| usize::from(name == "B");
        let own = |name: &str| {
            let images = images.as_ref().filter(|_| name != "C");
            images.filter(|(factor, _)| *factor == factor_of(name))
        };
        let placed = |random: &mut Random, name, element, extents| match random.below(20) {
            _ if own(name).is_some() => {
                let (_, images) = own(name).expect("images");
                images.placed(random, (name, element))
            }
            _ if is_narrow && name != "C" => Placed::from(rows(element, extents, batch_of(name))),
            0..=3 if groups.is_some() && name == "A" => {
                places::rows(random, (name, element), extents, &batch)
            }
            _ if groups.is_some() || empty.is_some() => Placed::from(tensor(
                random,
                element,
                extents,
                batch_of(name),
                name == "C",
            )),
            0 | 1 => Placed::from(places::nested(
                random,
                element,
                extents,
                &batch,
                name == "C",
            )),
            2 | 3 => places::at(random, (name, element), extents, &batch),
            4 if name != "C" => places::rows(random, (name, element), extents, &batch),
            _ => Placed::from(tensor(random, element, extents, &batch, name == "C")),
        };
        let places = [
            ("A", left, [m, k]),
            ("B", right, [n, k]),
            ("C", result, [m, n]),
        ]
        .map(|(name, element, extents)| placed(random, name, element, extents));
        // What reads C too has its shape.
        let is_matrix = places[2].words.is_empty();
        let made =
            has_epilogue.then(|| Epilogue::new(random, [sum, result], [m, n], &batch, is_matrix));
        let (mut head, mut arguments) = (String::new(), String::new());
        let (mut before, mut words) = (String::new(), String::new());
        let mut own_arguments = Vec::new();
        let mut tensors = Vec::new();
        for (name, own) in ["A", "B", "C"].into_iter().zip(&places) {
            head += &format!("!{name} = {}\n{}", own.tensor.0, own.head);
            let (ty, layout) = &own.tensor;
            let viewed = match random.chance(10) {
                true => Viewed::of(random, name, ty, layout),
                false => None,
            };
            match viewed {
                Some(viewed) => {
                    head += &format!("!V{name} = {}\n", viewed.argument.0);
                    own_arguments.push(format!("%V{name}: !V{name}"));
                    before += &viewed.lines;
                    tensors.push(viewed.argument);
                }
                None => {
                    own_arguments.push(format!("%{name}: !{name}"));
                    tensors.push(own.tensor.clone());
                }
            }
            before += &own.lines;
            words += &own.words;
        }
        // Coordinates stand before rows by index.
        let mut words: Vec<&str> = words.split_inclusive(')').collect();
        words.sort_by_key(|words| words.starts_with(" gather"));
        let words = words.concat();
        let (mut outs, mut ins) = (vec![("%C".to_owned(), "!C".to_owned())], Vec::new());
        let mut tail = String::new();
        // Numbers come behind all tensors.
        let (mut scalars, mut numbers) = (0, String::new());
        if let Some(made) = made {
            for (at, (ty, _)) in made.tensors.iter().enumerate() {
                head += &format!("!E{at} = {ty}\n");
                arguments += &format!(", %E{at}: !E{at}");
                let (list, kind) = match at.checked_sub(made.reads) {
                    None => (&mut ins, ""),
                    Some(output) => (&mut outs, made.kinds[output]),
                };
                let kind = match kind {
                    "" => String::new(),
                    kind => format!(" reduce {kind}"),
                };
                list.push((format!("%E{at}{kind}"), format!("!E{at}")));
            }
            if made.reads_c {
                ins.push(("%C".to_owned(), "!C".to_owned()));
            }
            scalars = usize::from(!made.number.is_empty());
            numbers += &made.number;
            tensors.extend(made.tensors);
            let read = match &ins[..] {
                [] => String::new(),
                _ => format!(" ins({})", typed(&ins)),
            };
            tail = format!(" epilogue{read} {{\n{}  }}", made.region);
        }
        let mut front = String::new();
        for (name, prologue) in ["A", "B"].into_iter().zip(prologues) {
            let Some(prologue) = prologue else { continue };
            let mut ins = Vec::new();
            for (at, (ty, _)) in prologue.tensors.iter().enumerate() {
                head += &format!("!P{name}{at} = {ty}\n");
                arguments += &format!(", %P{name}{at}: !P{name}{at}");
                ins.push((format!("%P{name}{at}"), format!("!P{name}{at}")));
            }
            let read = match &ins[..] {
                [] => String::new(),
                _ => format!(" ins({})", typed(&ins)),
            };
            front += &format!(" prologue {name}{read} {{\n{}  }}", prologue.region);
            scalars += usize::from(!prologue.number.is_empty());
            numbers += &prologue.number;
            tensors.extend(prologue.tensors);
        }
        for (name, own) in ["A", "B"].into_iter().zip(&places) {
            if let Some(index) = &own.index {
                head += &format!("!I{name} = {}\n", index.0);
                arguments += &format!(", %I{name}: !I{name}");
                tensors.push(index.clone());
            }
        }
        let mut of_groups = "";
        if let Some([groups]) = groups {
            let element = *random.pick(&["i32", "i32", "i64"]);
            let step = *random.pick(&[1, 1, 1, 2]);
            let modes = [vec![(groups, step)]];
            let ends = places::ends(random, element, &modes);
            head += &format!("!G = {}\n", ends.0);
            arguments += ", %G: !G";
            tensors.push(ends);
            of_groups = " groups M(%G : !G)";
        }
        for number in places.iter().flat_map(|own| &own.numbers) {
            numbers += &format!(", {number}");
            scalars += 1;
        }
        let text = format!(
            "{head}func.func @gemm({}{arguments}{numbers}) {{\n{before}  cute.contract ins(%A, %B : !A, !B) outs({}) \
             accumulate {sum}{words}{of_groups}{front}{tail}\n  return\n}}\n",
            own_arguments.join(", "),
            typed(&outs)
        );
        let given = tensors
            .into_iter()
            .map(|(ty, layout)| match ty.contains('?') {
                true => Given::Layout(layout),
                false => Given::Nothing,
            });
        let given = given.chain(std::iter::repeat_n(Given::Nothing, scalars));
        Problem {
            text,
            given: given.collect(),
            is_narrow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_of_all_kinds() {
        let mut random = Random::of(0, 0);
        let all: Vec<Problem> = (0..300)
            .map(|_| Problem::new(&mut random, [32, 32, 32], 1))
            .collect();
        let some = |part: &str| {
            all.iter()
                .filter(|problem| problem.text.contains(part))
                .count()
        };
        for part in [
            "bf16",
            "accumulate f16",
            "?{div=",
            "i64",
            "align<2>",
            ":(1,",
            ")):(",
            "epilogue {",
            "prologue A {",
            "prologue B ins(",
            "arith.uitofp",
            "cute.make_view(%at_",
            "f8E5M2 to",
            ",(32,",
            "epilogue ins(",
            "outs(%C, %E",
            "reduce maximum",
            "reduce add",
            "math.tanh",
            ":(0,1",
            "%alpha",
            "i8",
            " at A(",
            " at C(",
            " gather B(",
            " groups M(",
            "make_stride(",
            "@1,",
            "(1@0,1@1,",
        ] {
            assert!(some(part) > 2, "{part}");
        }
        assert!(some("?") > 50);
        let open = |problem: &&Problem| problem.given.iter().any(|given| *given != Given::Nothing);
        // Coordinates leave numbers open that the function takes.
        let tensors = |problem: &&Problem| {
            let mut lines = problem.text.lines();
            lines.any(|line| line.contains("memref") && line.contains('?'))
        };
        assert_eq!(
            all.iter().filter(open).count(),
            all.iter().filter(tensors).count()
        );
    }
}
