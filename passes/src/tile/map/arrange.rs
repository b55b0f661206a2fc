//! The choice of which threads take which elements of a map.

use super::{Map, Whole, column};
use crate::{
    arch::{REGISTERS, REGISTERS_PER_THREAD, WARP},
    tile::matrix::{WIDEST, divisor, with_multiples},
};
use cute_ir::maps::is_same_along;
use cute_layout::{IntTuple, Layout, Leaf};

/// Elements of a row that a thread holds, where it is not too long: with fewer, registers for anything else take more of a multiprocessor's, and less of memory
/// is on its way.
const HELD: i64 = 32;

/// The most that it holds.
const MOST_HELD: i64 = 32;

/// Elements that a thread takes at once of columns that neighbouring threads are no neighbours along, and of rows that are not held.
const TAKEN: i64 = 16;

/// Registers of a thread beside those of its elements.
const BESIDE: i64 = 48;

/// Bytes of registers for what is computed of an element, and for its address where neighbours are far apart.
const COMPUTED: i64 = 8;
const FAR: i64 = 8;

/// Threads of a block that computes several rows, or a part of the columns.
const THREADS: i64 = 128;

/// Threads that share a row, at most.
const MOST_THREADS: i64 = 1024;

/// Threads that share a row that is not held.
const LOOPING: i64 = 512;

/// Bytes of a tensor that a thread of a map without reductions moves at once.
const MOVED: i64 = 64;

/// Elements that it moves one by one, at most, where only a launch knows how many columns there are: as many as keep memory busy.
const ALONE: i64 = 16;

/// Bytes of a tensor with staged inputs that a thread holds at once.
const STAGED: i64 = 32;

/// Bytes of a column of a tile of staged inputs, and threads of a block that has one: shorter runs are read slower, and more threads at once as well.
const COLUMN: i64 = 256;
const STAGING: i64 = 512;

/// The extents of columns for which there are kernels where only a launch knows them, of wide accesses and of any: of the finest classes that
/// so many kernels allow, with one for longer rows of each. A class that is half empty has half as many bytes on their way.
const CLASSES: [[&[i64]; 2]; 3] = [
    [
        &[1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192],
        &[1024, 2048, 4096],
    ],
    [&[1024, 2048, 4096, 8192], &[1024, 4096]],
    [&[1024, 4096, 8192], &[4096]],
];

/// The same where rows that no vector divides have vectors that begin at aligned elements; there is one kernel more for rows that do not.
const ALIGNED_CLASSES: [[&[i64]; 2]; 3] = [
    [
        &[1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192],
        &[1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192],
    ],
    [&[1024, 2048, 4096, 8192], &[1024, 2048, 4096, 8192]],
    [&[1024, 4096, 8192], &[1024, 4096]],
];

/// The elements that the threads of a block take.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arrangement {
    /// Threads along rows and columns.
    pub(super) threads: [i64; 2],
    /// Neighbours along columns that a thread holds together, and such vectors.
    pub(super) values: [i64; 2],
    /// True where neighbouring threads are neighbours along rows.
    pub(super) by_rows: bool,
    /// True where a block's threads hold whole rows at once.
    pub(super) held: bool,
    /// The largest extent of columns that it is for; none where it is for any.
    pub(super) most: Option<i64>,
    /// The inputs that are read along rows, through shared memory.
    pub(super) staged: Vec<i64>,
    /// Neighbours along rows of those that are moved together.
    pub(super) row_vector: i64,
    /// The layouts of the tensors, which may say more than their types.
    pub(super) layouts: Vec<Layout>,
    /// The tensor, by its place, at whose aligned elements vectors begin; none where they begin at the first column.
    pub(super) aligned_by: Option<usize>,
    /// Blocks of a multiprocessor that compute one row after another; none where each block computes its rows alone.
    pub(super) stays: Option<i64>,
}

impl Arrangement {
    /// Rows (0), columns (1) or parts of the batch (2) that a block's threads take at once.
    pub(super) fn tile(&self, axis: usize) -> i64 {
        match axis {
            0 => self.threads[0],
            1 => self.threads[1] * self.values[0] * self.values[1],
            _ => 1,
        }
    }
}

impl<'c> Map<'c> {
    /// The kernels of a map, at most so many, of which a launch takes the first that it fits.
    pub(super) fn arrangements(&self, most: usize) -> Vec<Arrangement> {
        let known: Vec<Layout> = self
            .tensors
            .iter()
            .map(|whole| whole.layout.clone())
            .collect();
        let by_rows = self.by_rows();
        let last = self.general(&known, None, self.known(1));
        let aligned = |of| self.aligned(&known, of).filter(|_| !by_rows);
        let wide = aligned(i64::MAX).map(|layouts| (layouts, None));
        let lead = self.lead(&known).filter(|_| !by_rows);
        let shifted = lead.map(|lead| (known.clone(), Some(lead)));
        // Half as many accesses as one by one, where there are no wider ones.
        let pairs = aligned(2).filter(|pairs| {
            let wide = wide.as_ref();
            shifted.is_none()
                && wide.is_some_and(|(wide, _)| self.vector(pairs) < self.vector(wide))
        });
        let pairs = pairs.map(|layouts| (layouts, None));
        let any = (known.clone(), None);
        let is_open = self.reduces && self.known(1).is_none();
        let kernels = |[first, others]: &[&[i64]; 2], levels: &[&(Vec<Layout>, Option<Lead>)]| {
            let middle = levels.len() - 1 - usize::from(shifted.is_some());
            first.len() + 1 + middle * (others.len() + 1) + usize::from(shifted.is_some())
        };
        let without: Vec<_> = wide.iter().chain(&shifted).chain([&any]).collect();
        let with: Vec<_> = wide
            .iter()
            .chain(&shifted)
            .chain(&pairs)
            .chain([&any])
            .collect();
        let all = match shifted {
            Some(_) => ALIGNED_CLASSES,
            None => CLASSES,
        };
        let [finest, .., coarsest] = all;
        let mut ways = std::iter::once((finest, &with)).chain(all.map(|of| (of, &without)));
        let way = ways.find(|(classes, levels)| kernels(classes, levels) <= most);
        let (classes, levels) = way.unwrap_or((coarsest, &without));
        let mut all = Vec::new();
        for (at, (layouts, lead)) in levels.iter().enumerate() {
            let classes = classes[at.min(1)];
            let is_any = lead.is_none() && *layouts == known;
            if is_open && !(is_any && shifted.is_some()) {
                let classes = classes.iter();
                all.extend(classes.map(|most| self.general(layouts, *lead, Some(*most))));
            }
            all.push(self.general(layouts, *lead, self.known(1)));
        }
        // The last one is for anything, and so are those of classes that are too long to be held.
        all.pop();
        all.retain(|way| *way != last);
        // Vectors that begin at aligned elements are for anything as well, where no tensors are compared.
        let last = match lead {
            Some(lead) if lead.always => all.pop().unwrap_or(last),
            _ => last,
        };
        all.truncate(most.saturating_sub(1));
        all.push(last);
        all
    }

    /// A kernel for columns of at most so many, where a launch brings such layouts.
    fn general(&self, layouts: &[Layout], lead: Option<Lead>, most: Option<i64>) -> Arrangement {
        let by_rows = self.by_rows();
        let vector = match (by_rows, lead) {
            (true, _) => 1,
            (false, Some(lead)) => lead.vector,
            (false, None) => self.vector(layouts),
        };
        let crossed = self.crossed();
        let mut taken = match (by_rows, self.reduces) {
            (true, _) => self.along_rows(most),
            (false, true) => self.reducing(vector, most),
            (false, false) if !crossed.is_empty() => self.staged(vector),
            (false, false) => self.plain(vector),
        };
        if self.ranges.is_some() {
            // Ranges are whole multiples of what is taken at once.
            taken.values[1] = 1 << taken.values[1].max(1).ilog2();
        }
        let row_vector = match vector {
            1 => 1,
            _ => self
                .row_vector(&crossed, layouts)
                .min(taken.values.iter().product()),
        };
        let held = taken.held && self.reduces;
        let way = Arrangement {
            threads: taken.threads,
            values: taken.values,
            by_rows,
            held,
            most: most.filter(|_| taken.held),
            staged: crossed,
            row_vector,
            layouts: layouts.to_vec(),
            aligned_by: lead.map(|lead| lead.tensor),
            stays: None,
        };
        Arrangement {
            stays: self.staying(&way),
            ..way
        }
    }

    /// The tensor at whose aligned elements vectors begin, where rows that no wide access divides may begin anywhere; none where there are no such, or where
    /// tensors are known to be as far from being aligned as each other nowhere.
    fn lead(&self, layouts: &[Layout]) -> Option<Lead> {
        if !self.crossed().is_empty() || self.ranges.is_some() || self.is_batched() {
            return None;
        }
        let vector = self.along().map(|(_, whole)| whole.widest()).min()?;
        if vector <= self.vector(layouts) || layouts.iter().any(|of| column(of.stride()).is_none())
        {
            return None;
        }
        let rows = |at: usize| layouts[at].stride().get(0).map(IntTuple::leaves);
        let (tensor, _) = self.along().next()?;
        let first = rows(tensor)?;
        let mut always = true;
        for (at, _) in self.along() {
            let own = rows(at)?;
            if at != tensor && own.len() != first.len() {
                return None;
            }
            for (one, other) in first.iter().zip(&own).filter(|_| at != tensor) {
                match (one, other) {
                    (Leaf::Static(one), Leaf::Static(other)) if (one - other) % vector == 0 => (),
                    (Leaf::Static(_), Leaf::Static(_)) => return None,
                    _ => always = false,
                }
            }
        }
        let lead = Lead {
            tensor,
            vector,
            always,
        };
        // Threads have an element each of those beside the vectors of a row.
        let way = self.general(layouts, Some(lead), self.known(1));
        (way.threads[1] >= 2 * vector).then_some(lead)
    }

    /// Tensors with an element for each row and column whose neighbours lie along columns, by their places.
    pub(super) fn along(&self) -> impl Iterator<Item = (usize, &Whole<'c>)> {
        self.full().filter(|(_, whole)| {
            let is_along = column(whole.layout.stride()) == Some(&Leaf::Static(1));
            is_along && !is_same_along(&whole.layout, 0)
        })
    }

    /// Tells whether a thread reads elements one by one that are close to each other.
    pub(super) fn reads_apart(&self, way: &Arrangement) -> bool {
        let [vector, vectors] = way.values;
        let alone = way.threads[1] == 1 && vector == 1 && vectors > 1;
        let narrower = self
            .tensors
            .iter()
            .zip(&way.layouts)
            .any(|(whole, layout)| {
                let is_along = column(layout.stride()) == Some(&Leaf::Static(1));
                !is_same_along(layout, 1)
                    && (!is_along || whole.vector(layout, 1) < vector.min(whole.widest()))
            });
        alone || vector > 1 && narrower
    }

    /// Tensors with an element for each row and column.
    fn full(&self) -> impl Iterator<Item = (usize, &Whole<'c>)> {
        let all = self.tensors.iter().enumerate();
        let repeats = |whole: &Whole<'c>, mode: usize| {
            let extent = whole.layout.mode(mode).and_then(|mode| mode.size());
            extent != Ok(1) && is_same_along(&whole.layout, mode)
        };
        all.filter(move |(_, whole)| (0..2).all(|mode| !repeats(whole, mode)))
    }

    /// Tells whether what is reduced is along columns while neighbours lie along rows, in more tensors than along columns.
    fn by_rows(&self) -> bool {
        if !self.reduces {
            return false;
        }
        let [mut rows, mut columns] = [0, 0];
        for (_, whole) in self.full() {
            let stride = whole.layout.stride();
            let first = stride
                .get(0)
                .and_then(|rows| rows.leaves().first().copied());
            rows += usize::from(first == Some(&Leaf::Static(1)));
            columns += usize::from(column(stride) == Some(&Leaf::Static(1)));
        }
        rows > columns
    }

    /// The inputs whose neighbours lie along rows, of a map that reduces nothing and writes along columns.
    fn crossed(&self) -> Vec<i64> {
        let is_one = |leaf: Option<&Leaf>| leaf == Some(&Leaf::Static(1));
        let along = |whole: &Whole<'c>| is_one(column(whole.layout.stride()));
        let writes = self
            .full()
            .any(|(at, whole)| at >= self.inputs && along(whole));
        if self.reduces || !writes {
            return Vec::new();
        }
        let crossed = self.full().filter(|(at, whole)| {
            let rows = whole.layout.stride().get(0).and_then(IntTuple::as_leaf);
            *at < self.inputs && is_one(rows) && !along(whole)
        });
        crossed
            .filter_map(|(at, _)| i64::try_from(at).ok())
            .collect()
    }

    /// Neighbours along rows of some inputs that are moved together.
    fn row_vector(&self, inputs: &[i64], layouts: &[Layout]) -> i64 {
        let of = self.full().filter(|(at, _)| inputs.contains(&(*at as i64)));
        let vectors = of.map(|(at, whole)| whole.vector(&layouts[at], 0));
        vectors.min().unwrap_or(1)
    }

    /// The elements that threads take where inputs are staged: a tile whose rows and columns are both of whole sectors.
    fn staged(&self, vector: i64) -> Taken {
        let bytes = self.full().map(|(_, whole)| whole.memref.element_bytes());
        let bytes = bytes.max().unwrap_or(1);
        let threads = match vector {
            1 => [WARP, WARP],
            _ => {
                let rows = (COLUMN / bytes).clamp(32, 128);
                [rows, STAGING / rows]
            }
        };
        Taken {
            threads,
            values: [vector, (STAGED / (vector * bytes)).max(1)],
            held: false,
        }
    }

    /// Neighbours along columns that are moved together: as many as the widest access to each tensor that has such can move.
    fn vector(&self, layouts: &[Layout]) -> i64 {
        let vectors = self.full().filter_map(|(at, whole)| {
            let layout = &layouts[at];
            let is_along = column(layout.stride()) == Some(&Leaf::Static(1));
            is_along.then(|| whole.vector(layout, 1))
        });
        vectors.min().unwrap_or(1)
    }

    /// The layouts where a launch brings multiples of as many elements as the widest accesses move, or of so many; none where that is nothing
    /// new.
    fn aligned(&self, known: &[Layout], most: i64) -> Option<Vec<Layout>> {
        let widest = self.full().map(|(_, whole)| whole.widest()).min()?;
        let widest = widest.min(most);
        let aligned = |layout: &Layout| {
            let is_along = column(layout.stride()) == Some(&Leaf::Static(1));
            with_multiples(
                layout,
                widest,
                |mode| mode == 1,
                |mode| is_along && mode != 1,
            )
        };
        let all: Vec<Layout> = known.iter().map(aligned).collect::<Option<_>>()?;
        (self.vector(&all) > self.vector(known)).then_some(all)
    }

    /// The elements that threads take of a map that reduces nothing.
    fn plain(&self, vector: i64) -> Taken {
        let columns = self.known(1).unwrap_or(i64::MAX);
        let vectors = up(columns, vector);
        let threads = power(vectors).min(2 * THREADS);
        let bytes = self.full().map(|(_, whole)| whole.memref.element_bytes());
        let most = (MOVED / (vector * bytes.max().unwrap_or(1))).max(1);
        // Of columns that only a launch knows, fewer threads have nothing to do at the end of a row.
        let most = match (self.known(1), vector) {
            (None, 1) => most.min(ALONE),
            _ => most,
        };
        Taken {
            threads: [2 * THREADS / threads, threads],
            values: [vector, up(vectors, threads).min(most)],
            held: false,
        }
    }

    /// Elements that a thread of a block of so many has registers for, where neighbours along columns are near to each other or far apart.
    fn most_held(&self, threads: i64, far: bool) -> i64 {
        let registers = (REGISTERS / threads).min(REGISTERS_PER_THREAD) - BESIDE;
        let of_each = |whole: &Whole<'c>| {
            let bytes = whole.memref.element_bytes();
            // Elements that come one by one have a register each.
            match far || in_pieces(&whole.layout) {
                true => bytes.max(4) + FAR,
                false => bytes,
            }
        };
        let bytes: i64 = self.full().map(|(_, whole)| of_each(whole)).sum();
        let widest = self
            .tensors
            .iter()
            .map(|whole| whole.memref.element_bytes());
        let computed = COMPUTED.max(2 * widest.max().unwrap_or(1));
        (registers * 4 / (bytes + computed)).clamp(1, MOST_HELD)
    }

    /// The elements that threads take where neighbours lie along rows, of so many columns at most: a warp takes neighbouring rows.
    fn along_rows(&self, most: Option<i64>) -> Taken {
        let most = most.unwrap_or(i64::MAX);
        let threads = power(up(most, TAKEN)).min(LOOPING / WARP);
        let each = up(most, threads);
        let limit = self.most_held(threads * WARP, true);
        let held = each <= limit;
        Taken {
            threads: [WARP, threads],
            values: [1, if held { each } else { TAKEN.min(limit) }],
            held,
        }
    }

    /// The elements that threads take of rows that are reduced, of so many columns at most.
    fn reducing(&self, vector: i64, most: Option<i64>) -> Taken {
        let most = most.unwrap_or(i64::MAX);
        let threads = power(up(most, HELD.max(vector))).min(MOST_THREADS);
        // Threads of several warps share one row.
        let rows = |threads: i64| match threads {
            ..=WARP => THREADS / threads,
            _ => 1,
        };
        let each = |threads: i64| up(most, threads * vector);
        let is_held = |threads: i64| {
            let limit = self.most_held(threads * rows(threads), false).max(vector);
            each(threads).saturating_mul(vector) <= limit
        };
        // Fewer that hold more elements, where fewer of these are then behind the end of the row.
        let warps = (threads / 2 / WARP).max(1)..=threads / WARP;
        let fewer = warps.rev().map(|warps| warps * WARP);
        let fewer = fewer.filter(|threads| is_held(*threads));
        let threads = fewer
            .min_by_key(|threads| each(*threads).saturating_mul(threads * vector))
            .unwrap_or(threads);
        if is_held(threads) {
            return Taken {
                threads: [rows(threads), threads],
                values: [vector, each(threads)],
                held: true,
            };
        }
        let limit = TAKEN.min(self.most_held(LOOPING, false));
        Taken {
            threads: [1, LOOPING],
            values: [vector, (limit / vector).max(1)],
            held: false,
        }
    }
}

/// Vectors that begin at aligned elements of rows.
#[derive(Clone, Copy, Debug)]
struct Lead {
    /// The place of the tensor whose elements they are.
    tensor: usize,
    /// Elements of a vector.
    vector: i64,
    /// True where all tensors are known to be aligned alike.
    always: bool,
}

/// The part of [`Arrangement`] that is the same for any layouts.
struct Taken {
    threads: [i64; 2],
    values: [i64; 2],
    held: bool,
}

/// Tells whether columns are several extents, not all known: then each element has an address of its own.
fn in_pieces(layout: &Layout) -> bool {
    let columns = layout.shape().get(1);
    columns.is_some_and(|columns| columns.is_tuple() && !columns.is_static())
}

/// The number of parts that cover a whole.
fn up(n: i64, by: i64) -> i64 {
    n / by + i64::from(n % by != 0)
}

/// The power of two that is not smaller.
fn power(n: i64) -> i64 {
    let n = n.clamp(1, 1 << 20).unsigned_abs();
    i64::try_from(n.next_power_of_two()).unwrap_or(1)
}

impl Whole<'_> {
    /// Elements of the widest access.
    fn widest(&self) -> i64 {
        (WIDEST.min(self.memref.align) / self.memref.element_bytes().max(1)).max(1)
    }

    /// Neighbours along a mode that one access can move, of which all are there or none, with that layout.
    fn vector(&self, layout: &Layout, mode: usize) -> i64 {
        let extent = layout.shape().get(mode).and_then(IntTuple::as_leaf);
        let others = (0..layout.rank()).filter(|other| *other != mode);
        let others = others.filter_map(|other| layout.stride().get(other));
        let others = others.flat_map(IntTuple::leaves).map(divisor);
        let multiples: Vec<i64> = others.chain([extent.map_or(1, divisor)]).collect();
        let mut vector = self.widest();
        while vector > 1 && multiples.iter().any(|multiple| multiple % vector != 0) {
            vector /= 2;
        }
        vector
    }
}
