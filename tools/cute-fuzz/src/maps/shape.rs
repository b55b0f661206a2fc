//! Shapes of maps and tensors of them: extents about the boundaries of vectors, warps, blocks and classes of rows, each leaf the same in
//! all launches or not.

use crate::random::Random;
use crate::tensors::{bytes, leaf};
use cute_runtime::Parsed;

/// Extents that are worth it.
const EXTENTS: [i64; 23] = [
    1, 1, 2, 3, 7, 8, 16, 31, 32, 33, 63, 64, 100, 127, 256, 1000, 1023, 1024, 1025, 4095, 4096,
    4097, 5000,
];

/// Extents of rows that no block holds.
const LONG: [i64; 3] = [8193, 9000, 33000];

/// Extents of few rows that many blocks share.
const SHARED: [i64; 4] = [262_143, 262_144, 300_001, 400_000];

/// Leaves, as modes and places in them.
type Leaves = [(usize, usize)];

/// The extents of all modes: those of each leaf, in each launch.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Modes, leaves, launches.
    pub(super) modes: Vec<Vec<Vec<i64>>>,
    pub(super) launches: usize,
    /// Tells whether launches bring some of it.
    pub(super) is_open: bool,
    /// The modes that are reduced; none where nothing is.
    pub(super) along: Vec<usize>,
    /// Leaves, as modes and places in them, from the fastest: how most tensors lie.
    order: Vec<(usize, usize)>,
    /// Tells whether all of them lie in that order.
    is_orderly: bool,
}

/// The use of a tensor of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Input,
    Output,
    /// An output that is the same along some of the modes that are reduced.
    Once,
    /// A tensor of a fused region, whose type says along which modes it is the same.
    Part,
}

/// A tensor of a shape.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) element: &'static str,
    /// The text of its type.
    pub(super) ty: String,
    /// The layout in each launch.
    pub(super) layouts: Vec<Parsed>,
    /// The modes along which its type says nothing of elements being the same.
    pub(super) varies: u32,
}

impl Shape {
    /// A shape of modes with these leaves, of which each has an extent in each launch.
    pub(super) fn of(modes: Vec<Vec<Vec<i64>>>, along: Vec<usize>) -> Shape {
        let launches = modes.iter().flatten().map(Vec::len).max().unwrap_or(1);
        Shape {
            modes,
            launches,
            is_open: launches > 1,
            along,
            order: Vec::new(),
            is_orderly: true,
        }
    }

    /// A shape of few rows, each so long that many blocks share it.
    fn few(random: &mut Random) -> Shape {
        let is_open = random.chance(40);
        let launches = if is_open { 2 } else { 1 };
        let long: Vec<i64> = (0..launches)
            .map(|at| match at {
                0 => *random.pick(&SHARED),
                _ => *random.pick(&EXTENTS),
            })
            .collect();
        let rows = vec![*random.pick(&[1, 1, 2, 3]); launches];
        let (modes, along) = match random.below(3) {
            0 => (vec![vec![long]], 0),
            1 => (vec![vec![rows], vec![long]], 1),
            _ => (vec![vec![long], vec![rows]], 0),
        };
        let mut shape = Shape::of(modes, vec![along]);
        shape.order = shape.lie(random);
        shape
    }

    /// A shape of some thousand elements, or so many times as many.
    pub(super) fn new(random: &mut Random, scale: i64) -> Shape {
        if random.chance(3) {
            return Shape::few(random);
        }
        let budget = match random.below(20) {
            0..10 => 3_000,
            10..17 => 20_000,
            _ => 150_000,
        } * scale;
        let rank = *random.pick(&[1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4]);
        let is_open = random.chance(60);
        let launches = if is_open { 3 } else { 1 };
        let mut modes: Vec<Vec<Vec<i64>>> = vec![Vec::new(); rank];
        let main = random.below(rank);
        let mut left = budget;
        let order = (0..rank).map(|at| (main + at) % rank);
        for mode in order {
            let extent = match mode == main {
                true if random.chance(20) && left > 40_000 => *random.pick(&LONG),
                _ => pick(random, left),
            };
            left = (left / extent.max(1)).max(1);
            modes[mode] = leaves(random, extent)
                .into_iter()
                .map(|e| vec![e])
                .collect();
        }
        let along = match random.chance(75) {
            false => Vec::new(),
            true => (0..rank).filter(|_| random.chance(45)).collect(),
        };
        let along = match random.chance(75) {
            _ if !along.is_empty() => along,
            true => vec![random.below(rank)],
            false => along,
        };
        let is_orderly = random.chance(80);
        let mut shape = Shape {
            modes,
            launches,
            is_open,
            along,
            order: Vec::new(),
            is_orderly,
        };
        shape.vary(random, budget);
        if random.chance(6) {
            shape.empty(random);
        }
        shape.order = shape.lie(random);
        shape
    }

    /// Leaves no elements along a mode that nothing is reduced along, in all launches or in one of those that bring the extent.
    fn empty(&mut self, random: &mut Random) {
        let leaves = self.leaves().into_iter();
        let leaves: Vec<_> = leaves
            .filter(|(mode, _)| !self.along.contains(mode))
            .collect();
        if leaves.is_empty() {
            return;
        }
        let (mode, at) = *random.pick(&leaves);
        let leaf = &mut self.modes[mode][at];
        match self.is_open && random.chance(70) {
            true => leaf[random.below(self.launches)] = 0,
            false => leaf.fill(0),
        }
    }

    /// Gives some leaves other extents in other launches.
    fn vary(&mut self, random: &mut Random, budget: i64) {
        let leaves: Vec<(usize, usize)> = self.leaves();
        for (mode, at) in leaves {
            let varies = self.is_open && random.chance(60);
            let div = *random.pick(&[1, 1, 1, 2, 4, 8, 16]);
            let others = self.elements(0) / self.modes[mode][at][0].max(1);
            for _ in 1..self.launches {
                let extent = match varies {
                    false => self.modes[mode][at][0],
                    true => pick(random, budget / others.max(1)),
                };
                self.modes[mode][at].push(extent);
            }
            if varies && div > 1 {
                for extent in &mut self.modes[mode][at] {
                    *extent = (*extent + div - 1) / div * div;
                }
            }
        }
        // Each was drawn as if the others had the extents of the first launch.
        for launch in 1..self.launches {
            while self.elements(launch) > 2 * budget {
                let largest = self
                    .leaves()
                    .into_iter()
                    .filter(|(mode, at)| {
                        let leaf = &self.modes[*mode][*at];
                        leaf[launch] > leaf[0]
                    })
                    .max_by_key(|(mode, at)| self.modes[*mode][*at][launch]);
                let Some((mode, at)) = largest else { break };
                self.modes[mode][at][launch] = self.modes[mode][at][0];
            }
        }
    }

    /// An order of leaves, those of what is reduced side by side more often than not.
    fn lie(&self, random: &mut Random) -> Vec<(usize, usize)> {
        let rank = self.modes.len();
        let mut modes: Vec<usize> = match random.below(10) {
            0..5 => (0..rank).rev().collect(),
            5..7 => (0..rank).collect(),
            _ => shuffled(random, rank),
        };
        if random.chance(75) {
            // A stable sort: the columns first, or last.
            let first = random.chance(70);
            modes.sort_by_key(|mode| self.along.contains(mode) != first);
        }
        let of = |mode: usize| (0..self.modes[mode].len()).map(move |at| (mode, at));
        modes.into_iter().flat_map(of).collect()
    }

    fn leaves(&self) -> Vec<(usize, usize)> {
        let of = |mode: usize| (0..self.modes[mode].len()).map(move |at| (mode, at));
        (0..self.modes.len()).flat_map(of).collect()
    }

    /// The elements of a tensor in a launch.
    pub(super) fn elements(&self, launch: usize) -> i64 {
        let leaves = self.modes.iter().flatten();
        leaves.map(|values| values[launch]).product()
    }

    /// The elements along some modes, in the launch that has most.
    pub(super) fn most_along(&self, along: &[usize]) -> i64 {
        let of = |launch: usize| -> i64 {
            let leaves = along.iter().flat_map(|mode| &self.modes[*mode]);
            leaves.map(|values| values[launch]).product()
        };
        (0..self.launches).map(of).max().unwrap_or(1)
    }

    /// A tensor of this shape.
    pub(super) fn tensor(&self, random: &mut Random, element: &'static str, role: Role) -> Tensor {
        let mut order = match self.is_orderly || random.chance(50) {
            true => self.order.clone(),
            false => self.lie(random),
        };
        if !self.is_orderly && random.chance(15) {
            order = {
                let places = shuffled(random, order.len());
                places.into_iter().map(|at| order[at]).collect()
            };
        }
        let same = self.same(random, role);
        self.lying(random, element, (&order, &same), role)
    }

    /// A tensor of a fused region, with elements of its own along these leaves, which are neighbours along the first one.
    pub(super) fn part(
        &self,
        random: &mut Random,
        element: &'static str,
        order: &[(usize, usize)],
    ) -> Tensor {
        let is_own = |leaf: &(usize, usize)| order.contains(leaf);
        let same: Vec<_> = self.leaves().into_iter().filter(|l| !is_own(l)).collect();
        let order = [order, &same].concat();
        self.lying(random, element, (&order, &same), Role::Part)
    }

    /// A tensor with its leaves in an order, of which it is the same along some.
    fn lying(
        &self,
        random: &mut Random,
        element: &'static str,
        (order, same): (&Leaves, &Leaves),
        role: Role,
    ) -> Tensor {
        let step = if random.chance(5) { 2 } else { 1 };
        let mut next = vec![step; self.launches];
        let mut strides: Vec<Vec<Vec<i64>>> = self
            .modes
            .iter()
            .map(|leaves| vec![Vec::new(); leaves.len()])
            .collect();
        let is_column = |mode: &usize| self.along.contains(mode);
        for (at, (mode, place)) in order.iter().enumerate() {
            if same.contains(&(*mode, *place)) {
                strides[*mode][*place] = vec![0; self.launches];
                continue;
            }
            strides[*mode][*place] = next.clone();
            let follows = order
                .get(at + 1)
                .is_some_and(|(next, _)| is_column(next) && is_column(mode) || next == mode);
            // A gap where rows and columns have one stride is no row of one stride any more.
            let may_have_gap = !follows || !self.is_orderly;
            let gap = match random.below(20) {
                0 if may_have_gap => 1,
                1 if may_have_gap => 4,
                2 | 3 if may_have_gap => 8 * random.range(1, 5),
                _ => 0,
            };
            for (launch, next) in next.iter_mut().enumerate() {
                *next = *next * self.modes[*mode][*place][launch].max(1) + gap;
            }
        }
        self.text(random, element, &strides, role)
    }

    /// The leaves along which a tensor is the same.
    fn same(&self, random: &mut Random, role: Role) -> Vec<(usize, usize)> {
        let leaves = self.leaves();
        let is_column = |(mode, _): &&(usize, usize)| self.along.contains(mode);
        match role {
            Role::Output | Role::Part => Vec::new(),
            Role::Once => match random.chance(90) || self.along.len() < 2 {
                true => leaves.iter().filter(is_column).copied().collect(),
                false => {
                    let one = *random.pick(&self.along);
                    leaves
                        .into_iter()
                        .filter(|(mode, _)| *mode == one)
                        .collect()
                }
            },
            Role::Input => match random.below(20) {
                0..3 => leaves.iter().filter(is_column).copied().collect(),
                3..6 => leaves.iter().filter(|l| !is_column(l)).copied().collect(),
                6 => leaves,
                7 => leaves.into_iter().filter(|_| random.chance(40)).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// The tensor of these strides, written as a user may: as much open as is, and perhaps more.
    fn text(
        &self,
        random: &mut Random,
        element: &'static str,
        strides: &[Vec<Vec<i64>>],
        role: Role,
    ) -> Tensor {
        let is_open = self.is_open && random.chance(70);
        let mut write = |values: &[i64], is_stride: bool| {
            let first = values[0];
            let is_one = values.iter().all(|value| *value == first);
            // That an output is the same along a mode is what its type says.
            match is_one && (!is_open || first == 0 && role != Role::Input) {
                true => first.to_string(),
                false => leaf(random, values, is_stride),
            }
        };
        let (mut shape, mut stride) = (Vec::new(), Vec::new());
        let mut known = vec![(Vec::new(), Vec::new()); self.launches];
        let mut varies = 0;
        for (mode, (extents, strides)) in self.modes.iter().zip(strides).enumerate() {
            let of = |leaves: &[Vec<i64>], launch: usize| {
                let leaves = leaves.iter().map(|values| values[launch].to_string());
                nest(&leaves.collect::<Vec<_>>())
            };
            let of_shape: Vec<String> = extents.iter().map(|e| write(e, false)).collect();
            let of_stride: Vec<String> = strides.iter().map(|s| write(s, true)).collect();
            for (launch, (shape, stride)) in known.iter_mut().enumerate() {
                shape.push(of(extents, launch));
                stride.push(of(strides, launch));
            }
            let mut leaves = of_shape.iter().zip(&of_stride);
            if leaves.any(|(shape, stride)| shape != "1" && stride != "0") {
                varies |= 1 << mode;
            }
            shape.push(nest(&of_shape));
            stride.push(nest(&of_stride));
        }
        let align = *random.pick(&[16, 16, 16, 16, 16, 32, 128, 8, 4, 2, 1]);
        let align = align.max(bytes(element));
        let layout = |(shape, stride): &(Vec<String>, Vec<String>)| {
            let text = format!("({}):({})", shape.join(","), stride.join(","));
            Parsed::parse(&text).expect("a layout of a tensor")
        };
        Tensor {
            element,
            ty: format!(
                "!cute.memref<{element}, gmem, align<{align}>, \"({}):({})\">",
                shape.join(","),
                stride.join(",")
            ),
            layouts: known.iter().map(layout).collect(),
            varies,
        }
    }
}

fn nest(leaves: &[String]) -> String {
    match leaves {
        [one] => one.clone(),
        all => format!("({})", all.join(",")),
    }
}

/// An extent that is not too large.
fn pick(random: &mut Random, most: i64) -> i64 {
    let fit = EXTENTS.iter().filter(|extent| **extent <= most).count();
    // Large ones are as frequent as small ones.
    let from = if random.chance(60) { fit / 2 } else { 0 };
    EXTENTS[from + random.below(fit - from)]
}

/// The leaves of a mode of that extent: nested where it can be.
fn leaves(random: &mut Random, extent: i64) -> Vec<i64> {
    if !random.chance(18) {
        return vec![extent];
    }
    let divisors = [2, 3, 4, 5, 7, 8, 16, 32];
    let fit: Vec<i64> = divisors
        .into_iter()
        .filter(|divisor| extent % divisor == 0)
        .collect();
    match &fit[..] {
        [] => vec![extent, 1],
        fit => {
            let one = *random.pick(fit);
            vec![one, extent / one]
        }
    }
}

fn shuffled(random: &mut Random, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}
