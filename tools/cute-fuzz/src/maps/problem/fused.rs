//! A function of one map with sums of products: products with an epilogue, norms of products, attention, of any shape and any strides.

use super::super::formula::fused::{Sums, region};
use super::super::shape::{Shape, Tensor};
use super::{Function, Problem, typed};
use crate::random::Random;

/// Extents of rows, columns, K and E about the boundaries of atoms, tiles and what a block holds.
const ROWS: &[i64] = &[1, 2, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 128, 129];
const COLUMNS: &[i64] = &[
    1, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 72, 100, 127, 128, 129, 200, 256,
    257, 300,
];
const INNER: &[i64] = &[
    1, 2, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 96, 100, 128, 129, 200, 256, 257,
    264, 300, 512, 520, 1000,
];
const OUTER: &[i64] = &[
    1, 5, 8, 12, 16, 17, 24, 31, 32, 33, 40, 64, 65, 72, 96, 128, 136, 200, 256, 264, 300,
];
const BATCH: &[i64] = &[1, 2, 2, 3];

/// Products of two numbers that a launch takes, at most.
const BUDGET: i64 = 1_500_000;

/// The modes of a region by their places.
struct Modes {
    batch: Vec<usize>,
    rows: usize,
    columns: usize,
    inner: usize,
    outer: Option<usize>,
}

/// Adds a region with sums of products.
pub(super) fn add(random: &mut Random, function: &mut Function) -> Shape {
    let has_second = random.chance(40);
    let batch = *random.pick(&[0, 0, 0, 1, 1, 2]);
    let rank = batch + 3 + usize::from(has_second);
    let mut places: Vec<usize> = (0..rank).collect();
    if random.chance(25) {
        for at in (1..rank).rev() {
            places.swap(at, random.below(at + 1));
        }
    }
    let modes = Modes {
        batch: places[..batch].to_vec(),
        rows: places[batch],
        columns: places[batch + 1],
        inner: places[batch + 2],
        outer: has_second.then(|| places[batch + 3]),
    };
    let reduces = random.chance(if has_second { 80 } else { 60 });
    let shape = shape(random, &modes, reduces);
    let launches = |mode: usize| shape.most_along(&[mode]);
    let most = [launches(modes.columns), launches(modes.inner)];
    let element = *random.pick(&["f16", "f16", "bf16"]);
    let mut inputs = Inputs {
        random,
        function,
        shape: &shape,
        modes: &modes,
        tensors: Vec::new(),
        places: Vec::new(),
    };
    let first = inputs.factor(element, modes.rows, modes.inner);
    let count = *inputs.random.pick(&[1, 1, 1, 2]);
    let mut products = Vec::new();
    for _ in 0..count {
        let second = inputs.factor(element, modes.columns, modes.inner);
        // Factors are multiplied in either order.
        products.push(match inputs.random.chance(70) {
            true => [first, second],
            false => [second, first],
        });
    }
    let second = modes
        .outer
        .map(|outer| inputs.factor(element, modes.columns, outer));
    for _ in 0..*inputs.random.pick(&[0, 1, 1, 2]) {
        inputs.beside();
    }
    let of_outputs = inputs.outputs(reduces);
    let Inputs {
        tensors, places, ..
    } = inputs;
    let outputs: Vec<Tensor> = of_outputs
        .iter()
        .map(|at| function.tensors[*at].clone())
        .collect();
    let number = random.chance(25).then(|| {
        let text = "%alpha: f32 {cute.name = \"alpha\", cute.default = -0.75 : f32}";
        function.number = Some(text.to_string());
        function.features.insert("a number of the function");
        "%alpha"
    });
    let (text, made) = region(
        random,
        &Sums {
            inputs: &tensors,
            outputs: &outputs,
            products: &products,
            second,
            columns: modes.columns,
            inner: modes.inner,
            outer: modes.outer,
            most,
            reduces,
            number,
        },
    );
    if made.is_norm {
        function.features.insert("norms");
    }
    function.features.insert("sums of products");
    if made.reductions > 0 {
        function.features.insert("reductions");
        function.features.insert("reductions of products");
    }
    if count > 1 {
        function.features.insert("two products along K");
    }
    if second.is_some() {
        function.features.insert("products along columns");
    }
    let list = |all: &[usize]| {
        let named = all
            .iter()
            .map(|at| (format!("%T{at}"), format!("!T{at}")))
            .collect::<Vec<_>>();
        typed(&named)
    };
    function.body += &format!(
        "  cute.map ins({}) outs({}) {{\n{text}  }}\n",
        list(&places),
        list(&of_outputs)
    );
    shape
}

impl Problem {
    /// A function of a map with sums of products.
    pub(super) fn fused(random: &mut Random) -> Problem {
        let mut function = Function::default();
        let shape = add(random, &mut function);
        Problem::of(function, &shape)
    }
}

/// The extents of the modes in each launch.
fn shape(random: &mut Random, modes: &Modes, reduces: bool) -> Shape {
    let launches = if random.chance(55) { 3 } else { 1 };
    let count = modes.batch.len() + 3 + usize::from(modes.outer.is_some());
    let mut all: Vec<Vec<Vec<i64>>> = vec![Vec::new(); count];
    let mut draw = |known: &[i64], most: i64, opens: usize, least: usize| -> Vec<i64> {
        let fit = known
            .iter()
            .filter(|extent| **extent <= most.max(1))
            .count();
        let fit = &known[..fit.max(1)];
        // Large ones are as frequent as small ones.
        let mut one = || match random.chance(60) {
            true => fit[fit.len() / 2 + random.below(fit.len() - fit.len() / 2)],
            false => *random.pick(fit),
        };
        let first = one();
        let mut values = vec![first; launches];
        if launches > 1 && random.chance(opens) {
            for value in &mut values[least..] {
                *value = match random.chance(60) {
                    true => fit[fit.len() / 2 + random.below(fit.len() - fit.len() / 2)],
                    false => *random.pick(fit),
                };
            }
            let div = *random.pick(&[1, 1, 2, 4, 8, 8, 16]);
            for value in &mut values {
                *value = (*value + div - 1) / div * div;
            }
        }
        values
    };
    let largest = |values: &[i64]| values.iter().copied().max().unwrap_or(1);
    let mut left = BUDGET;
    let inner = draw(INNER, 1 << 20, 50, 1);
    let outer = modes.outer.map(|_| draw(OUTER, 1 << 20, 50, 1));
    left /= largest(&inner).max(outer.as_deref().map_or(1, largest));
    for mode in &modes.batch {
        let extents = draw(BATCH, left, 40, 1);
        left /= largest(&extents);
        all[*mode] = vec![extents];
    }
    let rows = draw(ROWS, left, 70, 1);
    left /= largest(&rows);
    let columns = draw(COLUMNS, left, 70, 1);
    all[modes.rows] = vec![rows];
    all[modes.columns] = vec![columns];
    all[modes.inner] = vec![inner];
    if let (Some(mode), Some(outer)) = (modes.outer, outer) {
        all[mode] = vec![outer];
    }
    // Heads of several queries: a mode of the batch with two leaves.
    if let Some(mode) = modes.batch.first()
        && random.chance(30)
    {
        all[*mode].push(vec![2; launches]);
    }
    let along = match reduces {
        true => vec![modes.columns],
        false => Vec::new(),
    };
    Shape::of(all, along)
}

/// The inputs of a region that is being written.
struct Inputs<'a> {
    random: &'a mut Random,
    function: &'a mut Function,
    shape: &'a Shape,
    modes: &'a Modes,
    tensors: Vec<Tensor>,
    /// Their places among the arguments.
    places: Vec<usize>,
}

impl Inputs<'_> {
    fn add(&mut self, element: &'static str, order: &[(usize, usize)]) -> usize {
        let tensor = self.shape.part(self.random, element, order);
        let place = self.function.argument(&tensor);
        self.tensors.push(tensor);
        self.places.push(place);
        self.tensors.len() - 1
    }

    /// The leaves of the batch along which a tensor differs: most of them.
    fn batch(&mut self, most: usize) -> Vec<(usize, usize)> {
        let mut leaves = Vec::new();
        for mode in &self.modes.batch {
            for leaf in 0..self.shape.modes[*mode].len() {
                if self.random.chance(most) {
                    leaves.push((*mode, leaf));
                }
            }
        }
        leaves
    }

    /// A factor with two modes, whose neighbours lie along the second one more often than not.
    fn factor(&mut self, element: &'static str, one: usize, other: usize) -> usize {
        let batch = self.batch(85);
        let mut order = match self.random.chance(75) {
            true => vec![(other, 0), (one, 0)],
            false => vec![(one, 0), (other, 0)],
        };
        match self.random.chance(80) {
            true => order.extend(batch),
            // Rows of all heads side by side.
            false => {
                order.splice(1..1, batch);
            }
        }
        self.add(element, &order)
    }

    /// A tensor beside the factors.
    fn beside(&mut self) {
        let element = *self
            .random
            .pick(&["f16", "bf16", "f32", "f32", "i8", "i32"]);
        let Modes {
            rows,
            columns,
            outer,
            ..
        } = *self.modes;
        let mut order = match (self.random.below(10), outer) {
            (0..3, _) => vec![columns],
            (3..6, None) => vec![columns, rows],
            (3, _) => vec![columns, rows],
            (4, Some(outer)) => vec![outer, rows],
            (5, Some(outer)) => vec![outer],
            (6 | 7, _) => vec![rows],
            (8, _) => vec![rows, columns],
            _ => Vec::new(),
        };
        if self.random.chance(20) {
            order.reverse();
        }
        let mut order: Vec<_> = order.into_iter().map(|mode| (mode, 0)).collect();
        order.extend(self.batch(40));
        self.add(element, &order);
    }

    /// Adds one output or two; their places among the arguments.
    fn outputs(&mut self, reduces: bool) -> Vec<usize> {
        let Modes {
            rows,
            columns,
            outer,
            ..
        } = *self.modes;
        let mut kinds = vec![match outer {
            Some(outer) => vec![outer, rows],
            None if reduces && self.random.chance(15) => vec![rows],
            None => vec![columns, rows],
        }];
        if reduces && self.random.chance(30) {
            kinds.push(vec![rows]);
        }
        let whole = if outer.is_some() { 10 } else { 20 };
        if self.random.chance(whole) {
            kinds.push(vec![columns, rows]);
        }
        if self.random.chance(20) {
            kinds.reverse();
        }
        let mut outputs = Vec::new();
        for mut kind in kinds {
            if self.random.chance(20) {
                kind.reverse();
            }
            let element = *self
                .random
                .pick(&["f16", "f16", "bf16", "f32", "f32", "i8"]);
            let mut order: Vec<_> = kind.into_iter().map(|mode| (mode, 0)).collect();
            for mode in &self.modes.batch {
                order.extend((0..self.shape.modes[*mode].len()).map(|leaf| (*mode, leaf)));
            }
            let tensor = self.shape.part(self.random, element, &order);
            outputs.push(self.function.argument(&tensor));
        }
        outputs
    }
}
