//! The meaning of the algorithms on one thread's tensors, on their types; verifiers and `cute-lower-algorithms` read it here.
//!
//! Sources: CuTe's `algorithm/*.hpp`, `atom/copy_atom.hpp`.

use crate::{
    tensor::{ATOM_VALUES, check_alignment, check_steps},
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::atoms::{CopyAtom, Form};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, MmaAtom, int, tuple};
use melior::ir::Type;
use std::sync::Arc;

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The type of a region's argument for elements of a type: what registers hold them in, but that a number of 8 bits is itself there.
pub fn argument_type(element: Type<'_>) -> Type<'_> {
    match types::is_float(element) && types::element_bits(element) == Some(8) {
        true => element,
        false => types::register_type(element),
    }
}

//===-- Atoms on tensors ------------------------------------------------------===//

/// One side of a copy by an atom: the layout of the atom's values, and the modes that repeat it.
#[derive(Clone, Debug)]
pub struct AtomSide {
    /// The layout of one atom's values.
    pub values: Layout,
    /// The modes that repeat the atom.
    pub rest: Vec<Layout>,
    /// The sizes of `rest`.
    pub extents: Vec<i64>,
    /// The mode of the tensor that the first of them is, or is within.
    first: usize,
}

/// The extents of a tensor's modes, all known.
pub fn extents(what: &str, layout: &Layout) -> Result<Vec<i64>, String> {
    let known: cute_layout::Result<Vec<i64>> = layout.modes().iter().map(|m| m.size()).collect();
    known.map_err(|_| {
        format!(
            "expected {what} of known extents, found {}; take a tile of known extents by cute.local_tile",
            layout.shape()
        )
    })
}

/// `layout` as `count` values and what repeats them: `((V,R),...)`, or `(V,...)` without a mode R.
pub fn atom_side(what: &str, layout: &Layout, count: i64) -> Result<AtomSide, String> {
    let sizes = extents(what, layout)?;
    let modes = layout.modes();
    let first = &modes[0];
    let nested = first.shape().is_tuple() && first.rank() > 1;
    let inner = if nested {
        first.modes()
    } else {
        vec![first.clone()]
    };
    if nested && inner[0].size().map_err(text)? == count {
        let again = Layout::from_modes(&inner[1..]).map_err(text)?;
        let again = if inner.len() == 2 {
            inner[1].clone()
        } else {
            again
        };
        let mut extents = vec![sizes[0] / count];
        extents.extend(&sizes[1..]);
        let mut rest = vec![again];
        rest.extend_from_slice(&modes[1..]);
        return Ok(AtomSide {
            values: inner[0].clone(),
            rest,
            extents,
            first: 0,
        });
    }
    if sizes[0] == count {
        return Ok(AtomSide {
            values: first.clone(),
            rest: modes[1..].to_vec(),
            extents: sizes[1..].to_vec(),
            first: 1,
        });
    }
    Err(format!(
        "expected {what} (V,...) or ((V,R),...) with the V of the atom, {count} values, found {} values in mode 0 of {layout}; \
         partition it by the copy, or divide it by {count}",
        sizes[0]
    ))
}

/// The order of an atom's values in memory: where each lies behind the first, a permutation of 0, 1, 2, ...
///
/// `cure` is what to do where they do not lie side by side.
pub fn vector_order(
    what: &str,
    memref: &MemRef,
    side: &AtomSide,
    whole_rows: bool,
    cure: impl FnOnce() -> String,
) -> Result<Vec<i64>, String> {
    let values = &side.values;
    let flat = values.flat().ok_or_else(|| {
        format!("expected atom values of static strides in {what}, found {values}")
    })?;
    if flat.size() > ATOM_VALUES {
        return Err(format!(
            "expected an atom of at most {ATOM_VALUES} values in {what}, found {}",
            flat.size()
        ));
    }
    let places: Vec<i64> = (0..flat.size()).map(|i| flat.at(i)).collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..places.len() as i64) {
        return Err(format!(
            "failed to vectorize: the values of a thread in {what} lie at {values}, expected places side by side; {}",
            cure()
        ));
    }
    if whole_rows && places != sorted {
        return Err(format!(
            "expected the values of a row in memory order in {what}, found them at {values}; use a shared-memory layout \
             whose contiguous mode is the one that the atom reads along"
        ));
    }
    let bytes = places.len() as i64 * memref.element_bytes();
    let needed = if whole_rows { bytes.max(16) } else { bytes };
    check_alignment(what, memref, bytes, needed)?;
    check_steps(what, memref, needed, &side.rest, side.first)?;
    Ok(places)
}

/// Thread and value layouts by which `threads` threads copy vectors of `vector` values along the contiguous mode of a
/// tensor of two modes, as many threads along it as divide it; nothing where there is no such mode.
pub fn thread_value_layouts(
    tensor: &Layout,
    threads: i64,
    vector: i64,
) -> Option<(Layout, Layout)> {
    let modes = tensor.modes();
    let contiguous = (0..modes.len().min(2)).find(|i| {
        let (shape, stride) = (modes[*i].shape().leaves(), modes[*i].stride().leaves());
        shape
            .iter()
            .zip(&stride)
            .any(|(n, s)| **s == Leaf::Static(1) && **n != Leaf::Static(1))
    })?;
    let other = 1 - contiguous;
    let along = modes[contiguous].size().ok()?;
    let across = modes.get(other)?.size().ok()?;
    if vector < 1 || threads < 1 || along % vector != 0 {
        return None;
    }
    let fast = (1..=threads.min(1024))
        .rev()
        .find(|n| threads % n == 0 && (along / vector) % n == 0 && across % (threads / n) == 0)?;
    let slow = threads / fast;
    let (shape, stride, value) = if contiguous == 0 {
        ([fast, slow], [1, fast], [vector, 1])
    } else {
        ([slow, fast], [fast, 1], [1, vector])
    };
    let threads = Layout::new(tuple(shape.map(int)), tuple(stride.map(int))).ok()?;
    Some((threads, Layout::col_major(&tuple(value.map(int))).ok()?))
}

/// The way in which a predicate names the atoms of a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// An element for each atom, counted colexicographically.
    Each,
    /// An element for each atom, in the part at this coordinate: the rest says the same for every value of the atom.
    At(IntTuple),
}

fn all_zero(layout: &Layout) -> bool {
    let (shape, stride) = (layout.shape().leaves(), layout.stride().leaves());
    shape
        .iter()
        .zip(&stride)
        .all(|(n, s)| **s == Leaf::Static(0) || **n == Leaf::Static(1))
}

/// Checks that a tensor may be a predicate: truth values, in registers.
pub(crate) fn check_predicate(pred: &MemRef) -> Result<(), String> {
    let bits = types::element_bits(pred.element);
    if types::is_float(pred.element) || !matches!(bits, Some(1 | 8)) {
        return Err(format!(
            "expected a predicate of i1 or i8, found {}",
            pred.element
        ));
    }
    if pred.space != Space::Rmem {
        return Err(format!(
            "expected a predicate in rmem, found one in {}; load it into registers",
            pred.space
        ));
    }
    Ok(())
}

/// Tells whether the predicate of a copy says of each atom how many of its elements there are.
pub fn counts_elements(pred: &MemRef) -> bool {
    !types::is_float(pred.element) && types::element_bits(pred.element) == Some(32)
}

/// Checks that a tensor may say how many elements of each atom there are.
fn check_counts(pred: &MemRef, atom: &CopyAtom) -> Result<(), String> {
    if atom.form != Form::Copy {
        return Err(format!(
            "expected a predicate of i1 or i8, found {}: how many elements of an atom there are is for cp.async alone, and {} moves all or \
             none; copy by !cute_nvgpu.atom.simt_async_copy, or element by element with a predicate for each, as cute.copy_tile does",
            pred.element, atom.name
        ));
    }
    if atom.val_bits < 8 {
        return Err(format!(
            "expected elements of whole bytes where a copy has numbers of elements, found elements of {} bits; give it a \
             predicate of i1",
            atom.val_bits
        ));
    }
    if pred.space != Space::Rmem {
        return Err(format!(
            "expected numbers of elements in rmem, found them in {}; load them into registers",
            pred.space
        ));
    }
    Ok(())
}

/// Returns the meaning of the predicate of a copy by `atom` whose other side is `side`.
pub fn predicate(pred: &MemRef, side: &AtomSide, atom: &CopyAtom) -> Result<Predicate, String> {
    match counts_elements(pred) {
        true => check_counts(pred, atom)?,
        false => check_predicate(pred)?,
    }
    let found = extents("a predicate", &pred.layout)?;
    let expected = &side.extents;
    let tail = |n: usize| expected.get(n..).unwrap_or_default();
    if found == *expected
        || (expected.first() == Some(&1) && !tail(1).is_empty() && found == tail(1))
        || (expected.is_empty() && found == [1])
        || (found.first() == Some(&1) && found[1..] == **expected)
    {
        return Ok(Predicate::Each);
    }
    let modes = pred.layout.modes();
    let kept = |n: usize| std::iter::repeat_n(IntTuple::underscore(), n);
    let values = side.values.size().map_err(text)?;
    // (V, rest...)
    if found.first() == Some(&values) && found[1..] == **expected && all_zero(&modes[0]) {
        let coord = std::iter::once(int(0)).chain(kept(expected.len()));
        return Ok(Predicate::At(tuple(coord)));
    }
    // ((V, R), rest...)
    if let Some(inner) = (modes[0].rank() == 2).then(|| modes[0].modes())
        && inner[0].size().map_err(text)? == values
        && all_zero(&inner[0])
        && expected.first() == inner[1].size().ok().as_ref()
        && found[1..] == *tail(1)
    {
        let first = tuple([int(0), IntTuple::underscore()]);
        let coord = std::iter::once(first).chain(kept(found.len() - 1));
        return Ok(Predicate::At(tuple(coord)));
    }
    let shape: Vec<String> = expected.iter().map(i64::to_string).collect();
    Err(format!(
        "expected a predicate for each atom, of shape ({}), found {}; a mode for the atom's own values has extent 1 or stride 0",
        shape.join(","),
        pred.layout
    ))
}

//===-- Vectors ---------------------------------------------------------------===//

/// A copy without an atom: (vector, vectors) to the index of an element, the vectors side by side in memory on both sides.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The map from (vector, vectors) to the index of an element.
    pub order: Layout,
    /// Elements of a vector.
    pub length: i64,
}

/// Both tensors' size.
pub fn common_size(source: &MemRef, destination: &MemRef) -> Result<i64, String> {
    let size = |what: &str, memref: &MemRef| -> Result<i64, String> {
        extents(what, &memref.layout)?;
        memref.layout.size().map_err(text)
    };
    let (from, to) = (
        size("a source", source)?,
        size("a destination", destination)?,
    );
    if from != to {
        return Err(format!(
            "expected as many elements on both sides, found {from} in the source {} and {to} in the destination {}",
            source.layout, destination.layout
        ));
    }
    Ok(from)
}

/// The indices of a copy between these layouts without those at which the destination is what it is at another one.
///
/// Errors: a source that is not the same there.
fn without_repeats(source: &Layout, destination: &Layout, size: i64) -> Result<Layout, String> {
    let whole = Layout::leaf(size, 1).map_err(text)?;
    let Ok(null) = destination.nullspace() else {
        return Ok(whole);
    };
    let Ok(repeats) = null.size() else {
        return Ok(whole);
    };
    if repeats <= 1 {
        return Ok(whole);
    }
    let same = source.composition(&null).is_ok_and(|l| all_zero(&l));
    if !same {
        return Err(format!(
            "writes each place of the destination {destination} {repeats} times, from different places of the source \
             {source}; give the source stride 0 there too, or copy a slice"
        ));
    }
    null.complement(&int(size)).map_err(text)
}

/// The widest vectors, of at most `most` bits, by which `source` is copied to `destination`: those that both hold side by
/// side where they are in memory, as aligned as the vector, and that no swizzle takes apart. Registers have any order.
///
/// Errors: extents that are unknown or differ; places of the destination that are written twice.
pub fn vectors(source: &MemRef, destination: &MemRef, most: i64) -> Result<Vectors, String> {
    let size = common_size(source, destination)?;
    let kept = without_repeats(&source.layout, &destination.layout, size)?;
    vectors_in_order(source, destination, &kept, most)
}

fn in_memory<'a, 'c>(memrefs: [&'a MemRef<'c>; 2]) -> Vec<&'a MemRef<'c>> {
    memrefs
        .into_iter()
        .filter(|m| m.space != Space::Rmem)
        .collect()
}

fn vectors_in_order(
    source: &MemRef,
    destination: &MemRef,
    kept: &Layout,
    most: i64,
) -> Result<Vectors, String> {
    let count = kept.size().map_err(text)?;
    let single = |order: &Layout| {
        let one = Layout::leaf(1, 0).map_err(text)?;
        Ok(Vectors {
            order: Layout::from_modes(&[one, order.clone()]).map_err(text)?,
            length: 1,
        })
    };
    let memory = in_memory([source, destination]);
    let seen: Result<Vec<Layout>, _> = memory.iter().map(|m| m.layout.composition(kept)).collect();
    // Where nothing is known of how the indices lie, elements are copied one by one.
    let (Ok(seen), false) = (seen, memory.is_empty()) else {
        return single(kept);
    };
    let Ok(common) = seen[0].max_common_layout(seen.last().unwrap_or(&seen[0])) else {
        return single(kept);
    };
    let bytes = source.element_bytes();
    let run = common.size().map_err(text)?;
    let mut length = 1;
    while run % (length * 2) == 0
        && length * 2 * bytes * 8 <= most.min(128)
        && memory.iter().all(|m| {
            m.align >= length * 2 * bytes
                && m.byte_swizzle()
                    .is_none_or(|s| length * 2 * bytes <= 1 << s.m())
        })
    {
        length *= 2;
    }
    while length > 1 {
        if let Some(order) = split_vectors(&common, length, count)
            && seen.iter().all(|layout| steps_by(layout, &order, length))
            && let Ok(order) = kept.composition(&order)
        {
            return Ok(Vectors { order, length });
        }
        length /= 2;
    }
    single(kept)
}

/// (vector, vectors) to the index, of vectors of the first `length` of `common`.
fn split_vectors(common: &Layout, length: i64, count: i64) -> Option<Layout> {
    let vector = common.composition(&Layout::leaf(length, 1).ok()?).ok()?;
    let rest = vector.complement(&int(count)).ok()?;
    let order = Layout::from_modes(&[vector, rest]).ok()?;
    (order.size().ok()? == count).then_some(order)
}

/// Tells whether all vectors start at multiples of their length.
fn steps_by(layout: &Layout, order: &Layout, length: i64) -> bool {
    let Ok(rest) = order.mode(1).and_then(|rest| layout.composition(&rest)) else {
        return false;
    };
    let (shape, stride) = (rest.shape().leaves(), rest.stride().leaves());
    shape.iter().zip(&stride).all(|(extent, stride)| {
        **extent == Leaf::Static(1)
            || match stride {
                Leaf::Static(stride) => stride % length == 0,
                Leaf::Dynamic(stride) => stride.div % length == 0,
                _ => false,
            }
    })
}

/// The vectors that `threads` threads copy together, in the order in which one side is contiguous, so that neighbouring
/// threads copy neighbouring vectors: of shared memory that is swizzled, else of shared memory, else of the side that has
/// the longer run (CuTe's `heuristic_permutation`).
pub fn shared_vectors(
    source: &MemRef,
    destination: &MemRef,
    threads: i64,
    most: i64,
) -> Result<Vectors, String> {
    let size = common_size(source, destination)?;
    let inverse = |m: &MemRef| m.layout.right_inverse().ok();
    let run = |l: &Option<Layout>| l.as_ref().and_then(|l| l.size().ok()).unwrap_or(0);
    let (from, to) = (inverse(source), inverse(destination));
    let score =
        |m: &MemRef, longer: bool| (m.byte_swizzle().is_some(), m.space == Space::Smem, longer);
    let by_source =
        score(source, run(&from) > run(&to)) >= score(destination, run(&to) > run(&from));
    let first = if by_source { from } else { to };
    let kept = first
        .and_then(|first| {
            let rest = first.complement(&int(size)).ok()?;
            let all = Layout::from_modes(&[first, rest]).ok()?.coalesce().ok()?;
            (all.size().ok()? == size).then_some(all)
        })
        .map_or_else(|| Layout::leaf(size, 1).map_err(text), Ok)?;
    let bytes = source.element_bytes();
    // A share that is whole is kept whole.
    let most = if size % threads == 0 {
        let share = size / threads;
        most.min((share & share.wrapping_neg()) * bytes * 8)
    } else {
        most
    };
    vectors_in_order(source, destination, &kept, most.max(bytes * 8))
}

//===-- Products --------------------------------------------------------------===//

/// The operands of an MMA's product.
#[derive(Clone, Debug)]
pub struct Product<'c> {
    /// The type of the elements of A.
    pub a: Type<'c>,
    /// The type of the elements of B.
    pub b: Type<'c>,
    /// The type of the accumulators.
    pub acc: Type<'c>,
    /// The row of the atom.
    pub atom: Arc<MmaAtom>,
    /// The values of a thread in one atom's A, B and C.
    pub values: [i64; 3],
}

/// Returns the operands of the product of an MMA atom or a tiled MMA; nothing for other types.
pub fn product_of(ty: Type<'_>) -> Option<Result<Product<'_>, String>> {
    let mut atom = CuteType::get(ty)?;
    if let CuteType::TiledMma { atom: inner, .. } = atom {
        atom = CuteType::get(*inner)?;
    }
    let CuteType::MmaAtom { a, b, acc, atom } = atom else {
        return None;
    };
    let count = |tv: &Layout| tv.mode(1).and_then(|v| v.size()).map_err(text);
    let values = || Ok([count(&atom.a_tv)?, count(&atom.b_tv)?, count(&atom.c_tv)?]);
    Some(values().map(|values| Product {
        a: *a,
        b: *b,
        acc: *acc,
        atom: Arc::clone(atom),
        values,
    }))
}

/// The extents of a product of fragments: those of M, N and K, each 1 where the ranks have no mode for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    /// The extent of M.
    pub m: i64,
    /// The extent of N.
    pub n: i64,
    /// The extent of K.
    pub k: i64,
    /// Tells whether the first mode is the atom's values.
    pub values: bool,
    /// Tells whether A and B have a mode K.
    pub has_k: bool,
}

/// The extents of the product of these A, B, and C.
///
/// Errors: ranks that are none of CuTe's five; extents that differ; values that are not the atom's.
pub fn product_extents(layouts: [&Layout; 3], values: [i64; 3]) -> Result<Extents, String> {
    let names = ["A", "B", "C"];
    let mut sizes = Vec::new();
    for (what, layout) in names.iter().zip(layouts) {
        sizes.push(extents(what, layout)?);
    }
    let [a, b, c] = &sizes[..] else {
        return Err("expected A, B and C".to_owned());
    };
    let (has_values, has_k, roles) = match (a.len(), b.len(), c.len()) {
        (1, 1, 1) => (true, false, "(V) x (V) => (V)"),
        (1, 1, 2) => (false, false, "(M) x (N) => (M,N)"),
        (2, 2, 2) => (false, true, "(M,K) x (N,K) => (M,N)"),
        (2, 2, 3) => (true, false, "(V,M) x (V,N) => (V,M,N)"),
        (3, 3, 3) => (true, true, "(V,M,K) x (V,N,K) => (V,M,N)"),
        (x, y, z) => {
            return Err(format!(
                "expected A, B and C of ranks 1 1 1, 1 1 2, 2 2 2, 2 2 3 or 3 3 3, found {x} {y} {z}: {}, {} and {}; \
                 (V,M,K) x (V,N,K) => (V,M,N) is what partitions and fragments have",
                layouts[0], layouts[1], layouts[2]
            ));
        }
    };
    let first = usize::from(has_values);
    for ((what, found), expected) in names.iter().zip(&sizes).zip(values) {
        let found = if has_values { found[0] } else { 1 };
        if found != expected {
            return Err(if has_values {
                format!(
                    "expected {expected} values of a thread in mode 0 of {what}, as the atom takes, found {found}; make \
                     the fragment by cute.mma.make_fragment"
                )
            } else {
                format!(
                    "expected an atom of one value where the ranks are {roles}, found one that takes {expected} of {what}; \
                     give A, B and C a first mode of the atom's values"
                )
            });
        }
    }
    let at = |sizes: &[i64], mode: usize| sizes.get(mode).copied().unwrap_or(1);
    let pairs = [
        ("M of A and C", at(a, first), at(c, first)),
        ("N of B and C", at(b, first), at(c, first + 1)),
        ("K of A and B", at(a, first + 1), at(b, first + 1)),
    ];
    for (what, left, right) in pairs {
        if left != right {
            return Err(format!(
                "expected the same {what} in {roles}, found {left} and {right}: A is {}, B is {}, C is {}",
                layouts[0].shape(),
                layouts[1].shape(),
                layouts[2].shape()
            ));
        }
    }
    Ok(Extents {
        m: at(a, first),
        n: at(b, first),
        k: at(a, first + 1),
        values: has_values,
        has_k,
    })
}

//===-- Coordinates -----------------------------------------------------------===//

/// The form of a coordinate tensor's elements: all of its integers dynamic, of 64 bits where 32 do not hold each of them.
pub fn coordinate(start: &IntTuple, layout: &Layout) -> Result<IntTuple, String> {
    fn zeros(t: &IntTuple) -> IntTuple {
        match t {
            IntTuple::Leaf(_) => int(0),
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(zeros).collect()),
        }
    }
    fn free(t: &IntTuple, widths: &mut impl Iterator<Item = u32>) -> IntTuple {
        match t {
            IntTuple::Leaf(_) => {
                IntTuple::Leaf(Leaf::Dynamic(Dyn::new(widths.next().unwrap_or(32), 1)))
            }
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| free(t, widths)).collect()),
        }
    }
    let first = layout
        .eval(&int(0))
        .and_then(|offset| start.add(&offset))
        .map_err(text)?;
    let mut reaches: Vec<Reach> = first.leaves().into_iter().map(Reach::from).collect();
    let origin = zeros(&first);
    // The end of each mode, alone: what is reached in between is a sum of parts of these.
    let (shape, stride) = (layout.shape().leaves(), layout.stride().leaves());
    for (extent, stride) in shape.into_iter().zip(stride) {
        let last = extent.sub(&Leaf::Static(1)).map_err(text)?;
        let step = Layout::new(
            IntTuple::Leaf(extent.clone()),
            IntTuple::Leaf(stride.clone()),
        );
        let end = step
            .and_then(|step| step.eval(&IntTuple::Leaf(last)))
            .and_then(|end| origin.add(&end))
            .map_err(text)?;
        for (reach, by) in reaches.iter_mut().zip(end.leaves()) {
            reach.extend(by);
        }
    }
    Ok(free(&first, &mut reaches.iter().map(Reach::width)))
}

/// The integers that one leaf of a tensor's coordinates is.
struct Reach {
    /// The least and the greatest of what is known of it.
    least: i64,
    greatest: i64,
    /// The bits of what is not.
    width: u32,
}

impl From<&Leaf> for Reach {
    fn from(leaf: &Leaf) -> Self {
        let mut reach = Self {
            least: 0,
            greatest: 0,
            width: 32,
        };
        reach.extend(leaf);
        reach
    }
}

impl Reach {
    fn extend(&mut self, by: &Leaf) {
        match by {
            Leaf::Static(by) => {
                self.least = self.least.saturating_add((*by).min(0));
                self.greatest = self.greatest.saturating_add((*by).max(0));
            }
            Leaf::Dynamic(by) => self.width = self.width.max(by.width),
            _ => {}
        }
    }

    fn width(&self) -> u32 {
        let known = i32::try_from(self.least).is_ok() && i32::try_from(self.greatest).is_ok();
        if known { self.width } else { 64 }
    }
}

/// Bytes that one prefetch asks for: two sectors, as CuTe's `cooperative_prefetch` takes.
pub const PREFETCHED: i64 = 64;

/// (run, runs) to the index of an element: runs of at most `most` bytes that lie side by side.
pub fn runs(memref: &MemRef, most: i64) -> Result<Layout, String> {
    extents("a source", &memref.layout)?;
    let size = memref.layout.size().map_err(text)?;
    let whole = Layout::leaf(size, 1).map_err(text)?;
    let kept = without_repeats(&memref.layout, &memref.layout, size).unwrap_or(whole);
    let seen = memref.layout.composition(&kept).map_err(text)?;
    let count = kept.size().map_err(text)?;
    let common = seen.max_common_layout(&seen).map_err(text)?;
    let run = common.size().map_err(text)?;
    let fits = |n: i64| run % n == 0 && n * memref.element_bytes() <= most;
    let mut length = (0..16)
        .map(|i| 1 << i)
        .filter(|n| fits(*n))
        .max()
        .unwrap_or(1);
    while length > 1 {
        if let Some(order) = split_vectors(&common, length, count)
            && let Ok(order) = kept.composition(&order)
        {
            return Ok(order);
        }
        length /= 2;
    }
    let one = Layout::leaf(1, 0).map_err(text)?;
    Layout::from_modes(&[one, kept]).map_err(text)
}
