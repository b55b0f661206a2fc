//! The meaning of the ops that make a tensor of another one, on their types: its layout, and where it starts.
//!
//! Inference reads the layout, lowering the place; both from here. Sources: CuTe's `tensor_impl.hpp`, `copy_atom.hpp`, `mma_atom.hpp`.

use crate::{
    algebra,
    ops::cute,
    types::{self, CuteType, MemRef, tiled_copy, tiled_mma},
};
use cute_layout::{
    IntTuple, Layout, Leaf, Tile, int,
    ops::{Attrs, Value},
    tiled::Partition,
    tuple,
};
use melior::ir::Type;

/// One summand of where a view starts: a layout's value at an index.
#[derive(Clone, Debug)]
pub struct Term {
    /// The layout that is applied.
    pub layout: Layout,
    /// The index that it is applied to.
    pub index: Index,
    /// Tells whether the index may be negative or beyond the layout: it is then taken apart with its sign, as [`Layout::at`] does.
    pub signed: bool,
}

/// An index into a mode, as a coordinate gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// An index that the type says.
    Known(i64),
    /// The dynamic leaf of that number of the coordinate.
    Leaf(usize),
}

/// A tensor made from another one: its layout, and the sum of what it starts behind the other, in elements; in
/// coordinates where the strides are basis elements.
#[derive(Clone, Debug)]
pub struct View {
    /// The layout of the view.
    pub layout: Layout,
    /// The summands of its start.
    pub terms: Vec<Term>,
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The largest power of two that divides `a * b`, at most 2^62; nothing for 0.
pub(crate) fn power_of_two_in(a: i64, b: i64) -> Option<i64> {
    (a != 0 && b != 0).then(|| 1 << (a.trailing_zeros() + b.trailing_zeros()).min(62))
}

/// Tells whether `swizzle(offset + layout(c))` is `swizzle(offset) + layout(c)` at every coordinate: each of the layout's own
/// offsets is a sum of one below the bits that the swizzle changes, to which `offset` adds no carry, and of one above those it
/// reads.
fn stays_within(swizzle: cute_layout::Swizzle, layout: &Layout, offset: &IntTuple) -> bool {
    let IntTuple::Leaf(offset) = offset else {
        return false;
    };
    let div = match offset {
        Leaf::Static(offset) => *offset,
        Leaf::Dynamic(offset) => offset.div,
        _ => return false,
    };
    let above = swizzle.period();
    let mut below = 0;
    for (extent, stride) in layout
        .shape()
        .leaves()
        .into_iter()
        .zip(layout.stride().leaves())
    {
        match (extent, stride) {
            (Leaf::Static(1), _) | (_, Leaf::Static(0)) => {}
            (_, Leaf::Static(stride)) if *stride > 0 && stride % above == 0 => {}
            (Leaf::Static(extent), Leaf::Static(stride)) if *stride > 0 => {
                let Some(sum) = (extent - 1)
                    .checked_mul(*stride)
                    .and_then(|s| s.checked_add(below))
                else {
                    return false;
                };
                below = sum;
            }
            _ => return false,
        }
    }
    let low = 1 << swizzle.m();
    if below >= low {
        return false;
    }
    let step = (below as u64 + 1).next_power_of_two() as i64;
    step <= low && div % step == 0
}

impl View {
    /// The tensor that it is of `source`; its alignment is what is left of the source's at every place it can start.
    ///
    /// `indices` are the coordinate's dynamic leaves.
    pub fn of<'c>(self, source: &MemRef<'c>, indices: &[Leaf]) -> Result<MemRef<'c>, String> {
        if let Some((swizzle, offset)) = &source.inner {
            let offset = self.start(offset, indices)?;
            if !self.terms.is_empty() && !stays_within(*swizzle, &self.layout, &offset) {
                // Of the swizzled address that is left, only the element's own alignment is known.
                let align = if offset.as_static() == Some(0) {
                    source.align
                } else {
                    source.element_bytes()
                };
                return Ok(MemRef {
                    layout: self.layout,
                    align,
                    inner: Some((*swizzle, offset)),
                    ..source.clone()
                });
            }
        }
        let bytes = source.element_bytes();
        let mut align = source.align;
        let mut reduce = |stride: i64| {
            if let Some(step) = power_of_two_in(stride, bytes) {
                align = align.min(step);
            }
        };
        for term in &self.terms {
            if let (Index::Known(i), Some(flat)) = (term.index, term.layout.flat()) {
                reduce(flat.checked_at(i).ok_or("the offset overflows 64 bits")?);
                continue;
            }
            if term.index == Index::Known(0) {
                continue;
            }
            let strides = term.layout.stride().leaves();
            // Along one leaf it is so many strides, however long that is.
            let times = match (term.index, strides.len()) {
                (Index::Known(i), 1) => i,
                _ => 1,
            };
            for leaf in strides {
                match leaf {
                    Leaf::Static(stride) => reduce(stride.wrapping_mul(times)),
                    Leaf::Dynamic(stride) => reduce(stride.div.wrapping_mul(times)),
                    _ => {
                        return Err(format!(
                            "expected integer strides of a tensor in {}, found {}",
                            source.space, term.layout
                        ));
                    }
                }
            }
        }
        // The swizzle of where a part starts is the whole of it where the part's own offsets do not meet it.
        let inner = source.inner.clone().filter(|_| self.terms.is_empty());
        Ok(MemRef {
            layout: self.layout,
            align,
            inner,
            ..source.clone()
        })
    }
}

/// The ops on a layout that also stand for a tensor's: its elements seen through another layout, from the same start.
const RELAYOUTS: [&str; 9] = [
    cute::GROUP_MODES,
    cute::FLATTEN,
    cute::COALESCE,
    cute::SELECT,
    cute::COMPOSITION,
    cute::LOGICAL_DIVIDE,
    cute::ZIPPED_DIVIDE,
    cute::TILED_DIVIDE,
    cute::FLAT_DIVIDE,
];

/// The view that op `name` gives of a tensor of layout `source`, with the operands behind
/// the tensor, or before it where the tensor is not first; nothing where it is no such op.
pub fn apply(
    name: &str,
    source: &Layout,
    operands: &[CuteType],
    attrs: &Attrs,
    proj: Option<&IntTuple>,
    operand_id: Option<i64>,
) -> Option<Result<View, String>> {
    Some(match (name, operands) {
        (cute::SLICE, [CuteType::Coord(coord)]) => slice(source, coord),
        (cute::DOMAIN_OFFSET, [CuteType::Coord(coord)]) => domain_offset(source, coord),
        (
            cute::LOCAL_TILE | cute::INNER_PARTITION,
            [CuteType::Tile(tile), CuteType::Coord(coord)],
        ) => match proj {
            None => inner_partition(source, tile, coord),
            Some(proj) => projected(source, tile, coord, proj),
        },
        (cute::OUTER_PARTITION, [CuteType::Tile(tile), CuteType::Coord(coord)]) => {
            outer_partition(source, tile, coord)
        }
        (cute::LOCAL_PARTITION, [CuteType::Layout(tile), CuteType::Coord(index)]) => {
            local_partition(source, tile, index, proj)
        }
        (cute::TILED_COPY_PARTITION_S, [copy, CuteType::Coord(thread)]) => {
            at_thread(thread, partition_copy(copy, source, false))
        }
        (cute::TILED_COPY_PARTITION_D, [copy, CuteType::Coord(thread)]) => {
            at_thread(thread, partition_copy(copy, source, true))
        }
        (cute::TILED_MMA_PARTITION, [mma, CuteType::Coord(thread)]) => at_thread(
            thread,
            operand_id
                .ok_or_else(|| "requires the attribute 'operand_id'".to_owned())
                .and_then(|id| partition_mma(mma, source, id)),
        ),
        (name, operands) if RELAYOUTS.contains(&name) => relayout(name, source, operands, attrs),
        _ => return None,
    })
}

/// The same elements through another layout.
fn relayout(
    name: &str,
    source: &Layout,
    operands: &[CuteType],
    attrs: &Attrs,
) -> Result<View, String> {
    let mut values = vec![Value::Layout(source.clone())];
    for operand in operands {
        values.push(
            operand
                .value()
                .ok_or("expected values of the layout algebra behind the tensor")?,
        );
    }
    match algebra::apply(name, &values, attrs)?.as_slice() {
        [Value::Layout(layout)] => Ok(View {
            layout: layout.clone(),
            terms: vec![],
        }),
        other => Err(format!(
            "expected a layout as the result, found {}",
            other.first().map_or("nothing", Value::kind)
        )),
    }
}

/// A tensor's layout at a coordinate: modes at `_` stay, those of nested tuples beside the others, as of a layout
/// ([`Layout::slice_modes`]). One element, at a coordinate without `_`, is `1:0`.
pub fn slice(layout: &Layout, coord: &IntTuple) -> Result<View, String> {
    let (kept, terms) = slice_layout(layout, coord, &mut Slicing::default())?;
    let layout = match (coord, &kept[..]) {
        (_, []) => Layout::leaf(1, 0).map_err(text)?,
        (IntTuple::Leaf(_), [whole]) => whole.clone(),
        _ => Layout::from_modes(&kept).map_err(text)?,
    };
    Ok(View { layout, terms })
}

/// The same layout, from a coordinate on, which may be outside of it: before its start for a halo.
fn domain_offset(layout: &Layout, coord: &IntTuple) -> Result<View, String> {
    let mut slicing = Slicing {
        anywhere: true,
        ..Slicing::default()
    };
    Ok(View {
        layout: layout.clone(),
        terms: slice_layout(layout, coord, &mut slicing)?.1,
    })
}

type Sliced = (Vec<Layout>, Vec<Term>);

/// The place in a coordinate that a slice has reached.
#[derive(Default)]
struct Slicing {
    /// Dynamic leaves of the coordinate so far.
    next: usize,
    /// Tells whether the coordinate may be outside of the layout.
    anywhere: bool,
}

/// The modes of `layout` that `coord` keeps, and what the others add.
fn slice_layout(
    layout: &Layout,
    coord: &IntTuple,
    slicing: &mut Slicing,
) -> Result<Sliced, String> {
    let signed = slicing.anywhere;
    let at = |index| Term {
        layout: layout.clone(),
        index,
        signed,
    };
    match coord {
        IntTuple::Leaf(Leaf::Underscore) => Ok((vec![layout.clone()], vec![])),
        IntTuple::Leaf(Leaf::Static(index)) if signed => {
            Ok((vec![], vec![at(Index::Known(*index))]))
        }
        IntTuple::Leaf(Leaf::Static(index)) => {
            // A dynamic extent is the caller's affair, as a dynamic index is.
            if let Ok(size) = layout.size()
                && !(0..size).contains(index)
            {
                return Err(format!(
                    "expected a coordinate in [0, {size}) of the mode {layout}, found {index}"
                ));
            }
            if *index < 0 {
                return Err(format!(
                    "expected a coordinate of at least 0, found {index}"
                ));
            }
            Ok((vec![], vec![at(Index::Known(*index))]))
        }
        IntTuple::Leaf(Leaf::Dynamic(_)) => {
            slicing.next += 1;
            Ok((vec![], vec![at(Index::Leaf(slicing.next - 1))]))
        }
        IntTuple::Leaf(other) => Err(format!("expected an integer or _, found {other}")),
        IntTuple::Tuple(modes) => {
            if modes.len() != layout.rank() || !layout.shape().is_tuple() {
                return Err(format!(
                    "expected a coordinate of rank {} for the layout {layout}, found {coord}",
                    layout.rank()
                ));
            }
            let (mut kept, mut terms) = (vec![], vec![]);
            for (mode, part) in layout.modes().iter().zip(modes.iter()) {
                let (k, t) = slice_layout(mode, part, slicing)?;
                kept.extend(k);
                terms.extend(t);
            }
            Ok((kept, terms))
        }
    }
}

/// `coord`, with `_` for the modes that it does not name; an integer is the index of all modes together.
fn padded(coord: &IntTuple, rank: usize) -> IntTuple {
    let IntTuple::Tuple(modes) = coord else {
        return coord.clone();
    };
    let rest = rank.saturating_sub(modes.len());
    tuple(
        modes
            .iter()
            .cloned()
            .chain(std::iter::repeat_n(IntTuple::Leaf(Leaf::Underscore), rest)),
    )
}

/// (tile, rest) of a layout, each with the tile's modes.
fn halves(layout: &Layout, tile: &Tile) -> Result<(Layout, Layout), String> {
    if tile.rank() > layout.rank() {
        return Err(format!(
            "expected a tile of at most the tensor's rank {}, found {tile}; leave out its last modes, or say by a projection, as in \
             \"(1,_,1)\" of M, N and K, which modes are the tensor's",
            layout.rank()
        ));
    }
    let divided = layout.zipped_divide(tile).map_err(text)?;
    Ok((
        divided.mode(0).map_err(text)?,
        divided.mode(1).map_err(text)?,
    ))
}

/// The tile at `coord`: its modes, then those of the rest at `_`.
fn inner_partition(layout: &Layout, tile: &Tile, coord: &IntTuple) -> Result<View, String> {
    let (inner, rest) = halves(layout, tile)?;
    let coord = padded(coord, rest.rank());
    let (kept, terms) = slice_layout(&rest, &coord, &mut Slicing::default())?;
    let mut modes = inner.modes();
    // `_` for the whole of the rest keeps it as modes, as a coordinate of `_`s does.
    if coord == IntTuple::Leaf(Leaf::Underscore) {
        modes.extend(rest.modes());
    } else {
        modes.extend(kept);
    }
    Ok(View {
        layout: Layout::from_modes(&modes).map_err(text)?,
        terms,
    })
}

/// The elements at `coord` of every tile: the rest's modes, behind those of the tile at `_`.
fn outer_partition(layout: &Layout, tile: &Tile, coord: &IntTuple) -> Result<View, String> {
    let (inner, rest) = halves(layout, tile)?;
    let coord = padded(coord, inner.rank());
    let (mut modes, terms) = slice_layout(&inner, &coord, &mut Slicing::default())?;
    modes.extend(rest.modes());
    Ok(View {
        layout: Layout::from_modes(&modes).map_err(text)?,
        terms,
    })
}

/// The elements that the thread `index` of a layout of threads holds: of each tile of the layout's shape, the one at the
/// thread's coordinate.
fn local_partition(
    layout: &Layout,
    threads: &Layout,
    index: &IntTuple,
    proj: Option<&IntTuple>,
) -> Result<View, String> {
    let threads = match proj {
        None => threads.clone(),
        Some(proj) => threads.dice(proj).map_err(text)?,
    };
    let index = one_index(index)?;
    if !threads.is_static() {
        return Err(format!(
            "expected a static layout of threads, found {threads}"
        ));
    }
    let sizes = threads
        .modes()
        .iter()
        .map(|mode| mode.size().map(int))
        .collect::<Result<Vec<_>, _>>()
        .map_err(text)?;
    let tile = Tile::from_shape(&tuple(sizes)).map_err(text)?;
    let (inner, rest) = halves(layout, &tile)?;
    let mut terms = vec![];
    for (mode, of) in threads.modes().iter().zip(inner.modes()) {
        let mut before = 1;
        for (extent, stride) in mode.flat_or("local_partition").map_err(text)?.modes() {
            // The thread's index over the stride, modulo the extent, is its coordinate; what is beyond wraps around.
            if *extent > 1 && *stride > 0 {
                let shape = tuple([int(*stride), int(*extent), int(2)]);
                let to_index = tuple([int(0), int(before), int(0)]);
                let coordinate = Layout::new(shape, to_index).map_err(text)?;
                terms.push(Term {
                    layout: of.composition(&coordinate).map_err(text)?,
                    index,
                    signed: false,
                });
            }
            before *= extent;
        }
    }
    Ok(View {
        layout: rest,
        terms,
    })
}

/// The modes of a tile at which `proj` is not `_`.
fn project(tile: &Tile, proj: &IntTuple) -> Result<Tile, String> {
    let (Tile::Modes(modes), IntTuple::Tuple(marks)) = (tile, proj) else {
        return Err(format!(
            "expected a tile and a projection of one rank, found {tile} and {proj}"
        ));
    };
    if modes.len() != marks.len() {
        return Err(format!(
            "expected a projection of rank {}, as the tile {tile}, found {proj}",
            modes.len()
        ));
    }
    Ok(Tile::Modes(
        modes
            .iter()
            .zip(marks)
            .filter(|(_, mark)| **mark != IntTuple::Leaf(Leaf::Underscore))
            .map(|(mode, _)| mode.clone())
            .collect(),
    ))
}

/// The tile at `coord`, of the modes of tile and coordinate at which `proj` is not `_`; modes of the coordinate behind those of `proj` are of the tensor's modes that no tile has.
fn projected(
    layout: &Layout,
    tile: &Tile,
    coord: &IntTuple,
    proj: &IntTuple,
) -> Result<View, String> {
    let (IntTuple::Tuple(modes), IntTuple::Tuple(marks)) = (coord, proj) else {
        return Err(format!(
            "expected a coordinate and a projection of one rank, found {coord} and {proj}"
        ));
    };
    if modes.len() < marks.len() {
        return Err(format!(
            "expected a projection of rank {}, as the coordinate {coord}, found {proj}",
            modes.len()
        ));
    }
    // Dynamic leaves keep the numbers that they have in the whole coordinate.
    let (mut kept, mut numbers, mut next) = (vec![], vec![], 0);
    for (at, mode) in modes.iter().enumerate() {
        let leaves = mode.leaves();
        let dynamic = leaves
            .iter()
            .filter(|l| matches!(l, Leaf::Dynamic(_)))
            .count();
        if marks.get(at) != Some(&IntTuple::Leaf(Leaf::Underscore)) {
            kept.push(mode.clone());
            numbers.extend(next..next + dynamic);
        }
        next += dynamic;
    }
    let mut view = inner_partition(
        layout,
        &project(tile, proj)?,
        &IntTuple::Tuple(kept.into_iter().collect()),
    )?;
    for term in &mut view.terms {
        if let Index::Leaf(k) = &mut term.index {
            *k = numbers[*k];
        }
    }
    Ok(view)
}

/// A thread's index.
fn one_index(coord: &IntTuple) -> Result<Index, String> {
    match coord {
        IntTuple::Leaf(Leaf::Static(i)) if *i >= 0 => Ok(Index::Known(*i)),
        IntTuple::Leaf(Leaf::Dynamic(_)) => Ok(Index::Leaf(0)),
        _ => Err(format!(
            "expected a thread index as the coordinate, found {coord}"
        )),
    }
}

/// A thread's part of a partition.
fn at_thread(thread: &IntTuple, partition: Result<Partition, String>) -> Result<View, String> {
    let index = one_index(thread)?;
    let partition = partition?;
    if let (Index::Known(index), Ok(threads)) = (index, partition.thr.size())
        && index >= threads
    {
        return Err(format!(
            "expected a thread in [0, {threads}), as the tiled operation has, found {index}"
        ));
    }
    Ok(View {
        layout: partition.val.without_unit_strides(),
        terms: vec![Term {
            layout: partition.thr,
            index,
            signed: false,
        }],
    })
}

/// `partition_S` (`destination` false) or `partition_D`.
fn partition_copy(
    copy: &CuteType,
    layout: &Layout,
    destination: bool,
) -> Result<Partition, String> {
    let tiled = tiled_copy(copy)?;
    if destination {
        tiled.partition_d(layout)
    } else {
        tiled.partition_s(layout)
    }
    .map_err(text)
}

/// `partition_A`, `B` or `C`, for `operand` 0, 1 or 2.
pub(crate) fn partition_mma(
    mma: &CuteType,
    layout: &Layout,
    operand: i64,
) -> Result<Partition, String> {
    let tiled = tiled_mma(mma)?;
    match operand {
        0 => tiled.partition_a(layout),
        1 => tiled.partition_b(layout),
        2 => tiled.partition_c(layout),
        other => return Err(format!("expected operand_id 0, 1 or 2, found {other}")),
    }
    .map_err(text)
}

/// The tensor whose elements of another type are the bits of a tensor's.
///
/// # Errors
/// A layout that is swizzled in elements, widths that do not fit, and an alignment that is too small.
pub fn recast<'c>(source: MemRef<'c>, element: Type<'c>) -> Result<MemRef<'c>, String> {
    if source.inner.is_some() {
        return Err(
            "recasts a tensor whose layout is swizzled in elements; expected a swizzle on the pointer, which acts on bytes: recast \
             the pointer by cute.recast_iter"
                .to_owned(),
        );
    }
    let bits = |ty: Type| {
        types::element_bits(ty).ok_or_else(|| {
            format!("expected the type of a number, such as f16 or i32, for elements, found {ty}")
        })
    };
    let layout = source
        .layout
        .recast(bits(source.element)?, bits(element)?)
        .map_err(|e| e.to_string())?;
    let recast = MemRef {
        element,
        layout,
        ..source
    };
    match recast.align % recast.element_bytes() {
        0 => Ok(recast),
        _ => Err(format!(
            "expected a tensor aligned to the new element's {} bytes, found {}",
            recast.element_bytes(),
            recast.align
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_layout::tiled::Residue;

    /// Numbers that are the same every time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: i64) -> i64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 33) as i64 % n
        }
        fn one_of(&mut self, of: &[i64]) -> i64 {
            of[self.below(of.len() as i64) as usize]
        }
    }

    /// A tensor of two modes, one of them perhaps nested, and a tile that divides both.
    fn tensor_and_tile(n: &mut Numbers) -> (Layout, [i64; 2]) {
        let tile = [n.one_of(&[1, 2, 4, 6]), n.one_of(&[1, 2, 3, 8])];
        let rest = [n.one_of(&[1, 2, 3, 5]), n.one_of(&[1, 2, 4])];
        let (m, k) = (tile[0] * rest[0], tile[1] * rest[1]);
        let text = match n.below(3) {
            0 => format!("({m},{k}):(1,{m})"),
            1 => format!("({m},{k}):({},1)", k + n.below(3)),
            _ => format!(
                "({m},({},{})):({},(1,{}))",
                tile[1],
                rest[1],
                k * 2,
                tile[1] * 2
            ),
        };
        (Layout::parse(&text).unwrap(), tile)
    }

    /// Checks what the view says against what `cute-layout` says of the same tensor.
    fn check(view: View, part: &cute_layout::tiled::Part, indices: &[i64], what: &str) {
        let leaves: Vec<Leaf> = indices.iter().map(|i| Leaf::Static(*i)).collect();
        assert_eq!(view.start(&int(0), &leaves).unwrap(), part.offset, "{what}");
        let (mine, theirs) = (view.layout.flat().unwrap(), part.layout.flat().unwrap());
        assert_eq!(
            view.layout.rank(),
            part.layout.rank(),
            "{what}: {} {}",
            view.layout,
            part.layout
        );
        assert_eq!(mine.size(), theirs.size(), "{what}");
        for i in 0..mine.size() {
            assert_eq!(mine.at(i), theirs.at(i), "{what}");
        }
    }

    /// A coordinate of a layout: `_`, an index, or a coordinate of each mode.
    fn some_coordinate(n: &mut Numbers, layout: &Layout) -> IntTuple {
        match n.below(4) {
            0 => IntTuple::Leaf(Leaf::Underscore),
            1 => int(n.below(layout.size().unwrap())),
            _ if layout.shape().is_tuple() => {
                tuple(layout.modes().iter().map(|mode| some_coordinate(n, mode)))
            }
            _ => IntTuple::Leaf(Leaf::Underscore),
        }
    }

    #[test]
    fn slices_are_those_of_layouts() {
        let mut n = Numbers(3);
        let mut nested = 0;
        for text in [
            "((2,2),4,8):((1,2),4,16)",
            "(((2,3),4),(5,(6,7))):(((1,2),6),(24,(120,720)))",
            "((8,1),2):((1,0),8)",
            "12:5",
        ] {
            let layout = Layout::parse(text).unwrap();
            for _ in 0..500 {
                let coord = some_coordinate(&mut n, &layout);
                let (theirs, offset) = layout.slice(&coord).unwrap();
                let mine = slice(&layout, &coord).unwrap();
                let what = format!("{layout} at {coord}");
                assert_eq!(mine.start(&int(0), &[]).unwrap(), int(offset), "{what}");
                if coord.has_underscore() {
                    assert_eq!(mine.layout, theirs, "{what}");
                    nested += usize::from(coord.depth() > 1);
                } else {
                    assert_eq!(mine.layout.size(), Ok(1), "{what}");
                }
            }
        }
        assert!(nested > 100, "{nested}");
    }

    #[test]
    fn offsets_of_a_domain_may_be_outside_of_it() {
        let layout = Layout::parse("(4,(2,3)):(1,(4,8))").unwrap();
        for (coord, expected) in [
            (tuple([int(-1), int(0)]), -1),
            (tuple([int(0), int(-3)]), -(4 + 8)),
            (tuple([int(5), int(7)]), 5 + 4 + 3 * 8),
            (int(-1), -1),
        ] {
            let view = domain_offset(&layout, &coord).unwrap();
            assert_eq!(view.layout, layout);
            assert_eq!(view.start(&int(0), &[]).unwrap(), int(expected), "{coord}");
            for term in &view.terms {
                let Index::Known(index) = term.index else {
                    panic!("{coord} is known");
                };
                assert!(term.signed && term.layout.flat().unwrap().checked_at(index).is_some());
            }
        }
        let beyond = slice(&layout, &tuple([int(-1), int(0)])).unwrap_err();
        assert!(
            beyond.contains("expected a coordinate in [0, 4)"),
            "{beyond}"
        );
    }

    #[test]
    fn tiles_and_partitions_are_those_of_cute_layout() {
        let mut n = Numbers(7);
        let dynamic = || IntTuple::dynamic();
        let keep = || IntTuple::Leaf(Leaf::Underscore);
        for _ in 0..2000 {
            let (layout, [tm, tk]) = tensor_and_tile(&mut n);
            let tiler = Tile::from_shape(&tuple([int(tm), int(tk)])).unwrap();
            let sizes: Vec<i64> = layout.modes().iter().map(|m| m.size().unwrap()).collect();
            let rest = [sizes[0] / tm, sizes[1] / tk];
            let (i, j) = (n.below(rest[0]), n.below(rest[1]));
            let what = format!("{layout} by {tiler} at ({i},{j})");

            let known = tuple([int(i), int(j)]);
            let view = inner_partition(&layout, &tiler, &tuple([dynamic(), dynamic()])).unwrap();
            let part = layout
                .inner_partition(&tiler, &known, Residue::RoundUp)
                .unwrap();
            check(view, &part, &[i, j], &what);
            let view = inner_partition(&layout, &tiler, &tuple([int(i), keep()])).unwrap();
            let part = layout
                .inner_partition(&tiler, &tuple([int(i), keep()]), Residue::RoundUp)
                .unwrap();
            check(view, &part, &[], &what);

            let (a, b) = (n.below(tm), n.below(tk));
            let view = outer_partition(&layout, &tiler, &tuple([dynamic(), int(b)])).unwrap();
            let part = layout
                .outer_partition(&tiler, &tuple([int(a), int(b)]), Residue::RoundUp)
                .unwrap();
            check(view, &part, &[a], &what);

            // A tile of three modes and a coordinate, of which the tensor has two.
            let three = Tile::from_shape(&tuple([int(tm), int(5), int(tk)])).unwrap();
            let proj = tuple([int(1), keep(), int(1)]);
            let coord = tuple([dynamic(), dynamic(), dynamic()]);
            let view = projected(&layout, &three, &coord, &proj).unwrap();
            let known = tuple([int(i), int(3), int(j)]);
            let part = layout
                .local_tile(&three, &known, Some(&proj), Residue::RoundUp)
                .unwrap();
            check(view, &part, &[i, 3, j], &what);

            let order = n.below(2) == 0;
            let threads = if order {
                Layout::col_major(&tuple([int(tm), int(tk)]))
            } else {
                Layout::row_major(&tuple([int(tm), int(tk)]))
            }
            .unwrap();
            // Threads beyond the layout start over.
            let thread = n.below(2 * tm * tk);
            let view = local_partition(&layout, &threads, &dynamic(), None).unwrap();
            let part = layout
                .local_partition(&threads, &Leaf::Static(thread), None, Residue::RoundUp)
                .unwrap();
            check(
                view,
                &part,
                &[thread],
                &format!("{what}, thread {thread} of {threads}"),
            );
        }
    }
}
