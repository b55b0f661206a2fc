//! Random places of a matrix's elements: modes of several leaves, coordinates of another tensor, and rows by index.

use crate::random::Random;
use crate::tensors::{bytes, leaf};
use cute_runtime::Parsed;

/// A tensor, and what a product says of where it has the elements of a matrix.
pub(super) struct Placed {
    /// The type of the tensor, and its layout.
    pub(super) tensor: (String, Parsed),
    /// Types that it names.
    pub(super) head: String,
    /// Operations of the function before the product.
    pub(super) lines: String,
    /// The words behind `accumulate`.
    pub(super) words: String,
    /// The type of an index tensor, and its layout.
    pub(super) index: Option<(String, Parsed)>,
    /// Numbers that the function takes, with their defaults.
    pub(super) numbers: Vec<String>,
}

impl From<(String, Parsed)> for Placed {
    fn from(tensor: (String, Parsed)) -> Placed {
        Placed {
            tensor,
            head: String::new(),
            lines: String::new(),
            words: String::new(),
            index: None,
            numbers: Vec::new(),
        }
    }
}

fn nest(all: &[String]) -> String {
    match all {
        [one] => one.clone(),
        all => format!("({})", all.join(",")),
    }
}

/// Factors of an extent, of which there may be one.
fn factors(random: &mut Random, extent: i64) -> Vec<i64> {
    let (mut rest, mut all) = (extent, Vec::new());
    for _ in 0..random.below(3) {
        let divisors: Vec<i64> = (2..=rest).filter(|n| rest % n == 0 && *n < rest).collect();
        if divisors.is_empty() {
            break;
        }
        let one = *random.pick(&divisors);
        all.push(one);
        rest /= one;
    }
    all.push(rest);
    all
}

/// A type of a tensor of such a layout, of which all is known, and the layout.
fn known(element: &str, modes: &[Vec<(i64, i64)>], align: i64) -> (String, Parsed) {
    let text = |of: fn(&(i64, i64)) -> i64| {
        let modes = modes.iter().map(|mode| {
            let leaves = mode.iter().map(|leaf| of(leaf).to_string());
            nest(&leaves.collect::<Vec<_>>())
        });
        modes.collect::<Vec<_>>().join(",")
    };
    let layout = format!("({}):({})", text(|leaf| leaf.0), text(|leaf| leaf.1));
    let ty = format!("!cute.memref<{element}, gmem, align<{align}>, \"{layout}\">");
    (ty, Parsed::parse(&layout).expect("a layout of a tensor"))
}

/// A type of a tensor of such a layout, of which each leaf is known or not, and the layout.
fn typed(
    random: &mut Random,
    element: &str,
    modes: &[Vec<(i64, i64)>],
    align: i64,
) -> (String, Parsed) {
    let is_open = random.chance(40);
    let mut text = |of: usize, open: bool| {
        let modes = modes.iter().map(|mode| {
            let leaves = mode.iter().map(|leaves| {
                let value = [leaves.0, leaves.1][of];
                match open {
                    true => leaf(random, &[value], of == 1),
                    false => value.to_string(),
                }
            });
            nest(&leaves.collect::<Vec<_>>())
        });
        modes.collect::<Vec<_>>().join(",")
    };
    let whole = format!("({}):({})", text(0, is_open), text(1, is_open));
    let known = format!("({}):({})", text(0, false), text(1, false));
    let ty = format!("!cute.memref<{element}, gmem, align<{align}>, \"{whole}\">");
    (ty, Parsed::parse(&known).expect("a layout of a tensor"))
}

fn alignment(random: &mut Random, element: &str) -> i64 {
    let align = *random.pick(&[16, 16, 16, 16, 32, 8, 4, 2]);
    align.max(bytes(element))
}

/// A permutation of so many.
fn order(random: &mut Random, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}

/// A matrix whose rows and columns are of several leaves, in any order of strides.
pub(super) fn nested(
    random: &mut Random,
    element: &str,
    extents: [i64; 2],
    batch: &[i64],
    is_output: bool,
) -> (String, Parsed) {
    let mut modes: Vec<Vec<(i64, i64)>> = extents
        .iter()
        .map(|extent| {
            factors(random, *extent)
                .into_iter()
                .map(|n| (n, 0))
                .collect()
        })
        .collect();
    let mut leaves: Vec<(usize, usize)> = Vec::new();
    for (mode, all) in modes.iter().enumerate() {
        leaves.extend((0..all.len()).map(|leaf| (mode, leaf)));
    }
    let mut order = order(random, leaves.len());
    if random.chance(60) {
        // The first leaf of a mode is the one whose neighbours lie side by side, more often than not.
        let first = if random.chance(70) { modes[0].len() } else { 0 };
        order.retain(|at| *at != first);
        order.insert(0, first);
    }
    let mut next = 1;
    for at in order {
        let (mode, leaf) = leaves[at];
        let extent = modes[mode][leaf].0;
        if !is_output && random.chance(4) {
            continue;
        }
        modes[mode][leaf].1 = next;
        next = next * extent
            + if random.chance(30) {
                8 * random.range(1, 3)
            } else {
                0
            };
        if random.chance(5) {
            next += 1;
        }
    }
    if !batch.is_empty() {
        let mut own = Vec::new();
        for count in batch {
            own.push((
                *count,
                if !is_output && random.chance(20) {
                    0
                } else {
                    next
                },
            ));
            next *= count;
        }
        modes.push(own);
    }
    let align = alignment(random, element);
    typed(random, element, &modes, align)
}

/// An integer of coordinates: as it is, or a number that the function takes.
fn number(
    random: &mut Random,
    name: &str,
    value: i64,
    is_open: bool,
    placed: &mut Placed,
    values: &mut Vec<String>,
) -> String {
    if !is_open || random.chance(50) {
        return value.to_string();
    }
    let name = format!("%{name}_{}", placed.numbers.len());
    placed.numbers.push(format!(
        "{name}: i32 {{cute.name = \"{}\", cute.default = {value} : i32}}",
        &name[1..]
    ));
    values.push(name);
    "?".to_string()
}

/// A factor, or C, that a tensor has at coordinates; those of C are inside of it, and each once.
pub(super) fn at(
    random: &mut Random,
    (name, element): (&str, &str),
    extents: [i64; 2],
    batch: &[i64],
) -> Placed {
    let is_output = name == "C";
    let mut modes: Vec<Vec<i64>> = extents.iter().map(|n| factors(random, *n)).collect();
    if !batch.is_empty() {
        modes.push(batch.to_vec());
    }
    let leaves: Vec<i64> = modes.iter().flatten().copied().collect();
    let rank = match is_output {
        true => leaves.len(),
        false => (1 + random.below(4)).min(leaves.len()),
    };
    let own = order(random, rank);
    // A step along a mode of the tensor for each leaf.
    let steps: Vec<(i64, usize)> = (0..leaves.len())
        .map(|at| match is_output {
            true => (*random.pick(&[1, 1, 1, 2, -1]), own[at]),
            false if random.chance(4) => (0, 0),
            false => (*random.pick(&[1, 1, 1, 1, 2, 3, -1, 8]), random.below(rank)),
        })
        .collect();
    // The least and the greatest coordinate of each mode, from 0 on.
    let mut reach = vec![[0i64; 2]; rank];
    for (extent, (by, along)) in leaves.iter().zip(&steps) {
        let last = (extent - 1) * by;
        reach[*along][usize::from(last > 0)] += last;
    }
    let (mut start, mut tensor) = (Vec::new(), Vec::new());
    for [least, most] in &reach {
        let (first, extent) = match is_output || random.chance(40) {
            // All of it is inside.
            true => {
                let first = -least + random.range(0, 2);
                (first, first + most + 1 + random.range(0, 2))
            }
            false => {
                let span = most - least + 1;
                let extent = (span - random.range(0, 4)).max(1);
                let extent = if random.chance(30) {
                    (extent + 7) / 8 * 8
                } else {
                    extent
                };
                (-least - random.range(-1, 3), extent)
            }
        };
        start.push(first);
        tensor.push(extent);
    }
    let mut stride = vec![0; rank];
    let mut next = 1;
    for at in order(random, rank) {
        stride[at] = next;
        next = next * tensor[at]
            + if random.chance(25) {
                8 * random.range(0, 3)
            } else {
                0
            };
    }
    let of_tensor: Vec<Vec<(i64, i64)>> = tensor
        .into_iter()
        .zip(stride)
        .map(|leaf| vec![leaf])
        .collect();
    let align = alignment(random, element);
    let tensor = typed(random, element, &of_tensor, align);
    let is_open = random.chance(35);
    let coordinates = Coordinates {
        start,
        modes,
        steps,
        is_open,
    };
    coordinates.of(random, name, tensor)
}

/// A coordinate tensor: where it starts, its extents, and for each leaf of them a step along a mode of another tensor.
struct Coordinates {
    start: Vec<i64>,
    modes: Vec<Vec<i64>>,
    steps: Vec<(i64, usize)>,
    /// Tells whether some of these are numbers that the function takes.
    is_open: bool,
}

impl Coordinates {
    /// A matrix that a tensor has at them.
    fn of(self, random: &mut Random, name: &str, tensor: (String, Parsed)) -> Placed {
        let Self {
            start,
            modes,
            steps,
            is_open,
        } = self;
        let is_output = name == "C";
        let mut placed = Placed::from(tensor);
        let lower = name.to_lowercase();
        let (mut of_start, mut of_shape, mut of_stride) = (Vec::new(), Vec::new(), Vec::new());
        let tuple = |all: Vec<String>| format!("({})", all.join(","));
        let first: Vec<String> = start
            .iter()
            .map(|value| {
                number(
                    random,
                    &format!("start_{lower}"),
                    *value,
                    is_open,
                    &mut placed,
                    &mut of_start,
                )
            })
            .collect();
        let first = tuple(first);
        let (mut shape, mut strides, mut at) = (Vec::new(), Vec::new(), 0);
        for mode in &modes {
            let (mut extents, mut along) = (Vec::new(), Vec::new());
            for extent in mode {
                // Only the last of some steps along one mode of C may be open, and the generator leaves them known.
                let open = is_open && !is_output;
                extents.push(number(
                    random,
                    &format!("extent_{lower}"),
                    *extent,
                    is_open,
                    &mut placed,
                    &mut of_shape,
                ));
                let (by, mode) = steps[at];
                at += 1;
                along.push(match by {
                    0 => "0".to_string(),
                    by => {
                        let by = number(
                            random,
                            &format!("step_{lower}"),
                            by,
                            open,
                            &mut placed,
                            &mut of_stride,
                        );
                        format!("{by}@{mode}")
                    }
                });
            }
            shape.push(nest(&extents));
            strides.push(nest(&along));
        }
        let (shape, strides) = (tuple(shape), tuple(strides));
        let list = |all: &[String]| all.join(", ");
        let types = |all: &[String]| vec!["i32"; all.len()].join(", ");
        let mut made = |kind: &str, text: &str, values: &[String]| match values {
            [] => {
                placed.lines +=
                    &format!("  %{kind}_{lower} = cute.static : !cute.{kind}<\"{text}\">\n")
            }
            values => {
                placed.lines += &format!(
                    "  %{kind}_{lower} = cute.make_{kind}({}) : ({}) -> !cute.{kind}<\"{text}\">\n",
                    list(values),
                    types(values)
                );
            }
        };
        made("int_tuple", &first, &of_start);
        made("shape", &shape, &of_shape);
        made("stride", &strides, &of_stride);
        placed.lines += &format!(
            "  %iter_{lower} = cute.make_arith_tuple_iter(%int_tuple_{lower}) : (!cute.int_tuple<\"{first}\">) -> !cute.arith_tuple_iter<\"{first}\">\n"
        );
        placed.lines += &format!(
            "  %layout_{lower} = cute.make_layout(%shape_{lower}, %stride_{lower}) : (!cute.shape<\"{shape}\">, !cute.stride<\"{strides}\">) -> \
         !cute.layout<\"{shape}:{strides}\">\n"
        );
        placed.lines += &format!(
            "  %at_{lower} = cute.make_view(%iter_{lower}, %layout_{lower}) : !At{name}\n"
        );
        placed.head =
            format!("!At{name} = !cute.coord_tensor<\"{first}\", \"{shape}:{strides}\">\n");
        placed.words = format!(" at {name}(%at_{lower} : !At{name})");
        placed
    }
}

/// A convolution's factor: images (C,W,H,N) under each place of a filter, of which TMA can load many as columns of pixels.
#[derive(Clone, Debug)]
pub(super) struct Images {
    /// Tells whether its places are the columns of the factor, as those of a filter's gradient are.
    across: bool,
    channels: i64,
    /// Elements of the filter, how far these are apart, places, and how far those are apart, along W and H, and what is outside at the begin.
    along: Vec<[i64; 5]>,
    images: i64,
}

impl Images {
    /// A factor of some hundred rows or columns at most.
    pub(super) fn new(random: &mut Random) -> Self {
        let modes = 1 + random.below(2);
        let along = (0..modes).map(|_| {
            let (taps, apart) = (random.range(1, 3), *random.pick(&[1, 1, 1, 2, -1, -2]));
            let step = *random.pick(&[1, 1, 1, 2, 3]);
            [taps, apart, random.range(1, 9), step, random.range(0, 2)]
        });
        let along = along.collect();
        Self {
            across: random.chance(35),
            along,
            channels: *random.pick(&[64, 64, 64, 32, 96, 128, 16, 40]),
            images: random.range(1, 3),
        }
    }

    /// The extents of the factor.
    pub(super) fn extents(&self) -> [i64; 2] {
        let product = |of: usize| self.along.iter().map(|all| all[of]).product::<i64>();
        let (places, columns) = (self.images * product(2), self.channels * product(0));
        match self.across {
            true => [columns, places],
            false => [places, columns],
        }
    }

    /// The factor.
    pub(super) fn placed(&self, random: &mut Random, (name, element): (&str, &str)) -> Placed {
        let (mut start, mut tensor) = (vec![0], vec![(self.channels, 1)]);
        let mut next = self.channels + if random.chance(20) { 8 } else { 0 };
        let (mut channels, mut of_channels) = (vec![self.channels], vec![(1, 0)]);
        let (mut places, mut of_places) = (Vec::new(), Vec::new());
        for (mode, [taps, apart, count, step, outside]) in (1..).zip(self.along.iter().copied()) {
            let reach = (taps - 1) * apart;
            start.push(-outside - reach.min(0));
            let span = (count - 1) * step + reach.abs() + 1;
            let extent = (span - outside - random.range(-1, 2)).max(1);
            tensor.push((extent, next));
            next *= extent;
            channels.push(taps);
            of_channels.push((apart, mode));
            places.push(count);
            of_places.push((step, mode));
        }
        start.push(0);
        tensor.push((self.images, next));
        places.push(self.images);
        of_places.push((1, self.along.len() + 1));
        let tensor: Vec<_> = tensor.into_iter().map(|leaf| vec![leaf]).collect();
        let tensor = match random.chance(20) {
            true => typed(random, element, &tensor, 16),
            false => known(element, &tensor, 16),
        };
        let mut both = [(places, of_places), (channels, of_channels)];
        if self.across {
            both.reverse();
        }
        let [(rows, of_rows), (columns, of_columns)] = both;
        let coordinates = Coordinates {
            start,
            modes: vec![rows, columns],
            steps: [of_rows, of_columns].concat(),
            is_open: random.chance(15),
        };
        coordinates.of(random, name, tensor)
    }
}

/// A factor of rows of a table by index.
pub(super) fn rows(
    random: &mut Random,
    (name, element): (&str, &str),
    [rows, columns]: [i64; 2],
    batch: &[i64],
) -> Placed {
    let table = random.range(1, 2 * rows);
    let (tensor, layout) = match random.chance(30) {
        // Rows have one stride.
        true => {
            let line = columns + random.range(0, 8);
            let own = vec![vec![(table, line)], vec![(columns, 1)]];
            let mut next = line * table;
            let mut modes = own;
            if !batch.is_empty() {
                let mut of_batch = Vec::new();
                for count in batch {
                    of_batch.push((*count, next));
                    next *= count;
                }
                modes.push(of_batch);
            }
            let align = alignment(random, element);
            typed(random, element, &modes, align)
        }
        false => super::problem::tensor(random, element, [table, columns], batch, false),
    };
    let mut placed = Placed::from((tensor, layout));
    let step = *random.pick(&[1, 1, 1, 2, 0]);
    let mut modes = vec![vec![(rows, step)]];
    if !batch.is_empty() {
        let mut next = rows * step.max(1);
        let mut own = Vec::new();
        for count in batch {
            own.push((*count, next));
            next *= count;
        }
        modes.push(own);
    }
    let element = *random.pick(&["i32", "i32", "i64"]);
    placed.index = Some(typed(random, element, &modes, bytes_of_index(element)));
    placed.words = format!(" gather {name}(%I{name} : !I{name})");
    placed
}

/// The ends of groups of rows.
pub(super) fn ends(
    random: &mut Random,
    element: &str,
    modes: &[Vec<(i64, i64)>],
) -> (String, Parsed) {
    typed(random, element, modes, bytes_of_index(element))
}

fn bytes_of_index(element: &str) -> i64 {
    if element == "i64" { 8 } else { 4 }
}
