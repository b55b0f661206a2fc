//! The tensors of a `cute.contract` as matrices: what takes elements of a tensor by coordinates, or rows by index, says where they lie.

use crate::{
    mlir::Val,
    ops::cute,
    types::{self, CuteType, MemRef, memref_of},
    view::power_of_two_in,
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, tuple};
use melior::ir::{Type, ValueLike};

/// The names of A, B and C.
pub const NAMES: [&str; 3] = ["A", "B", "C"];

/// A tensor of which a matrix has the elements at some coordinates.
#[derive(Clone, Debug)]
pub struct At<'c> {
    /// The matrix: the tensor's elements by the matrix's modes, from the coordinate on at which the coordinates start.
    pub matrix: MemRef<'c>,
    /// The coordinate at which they start, an integer for each mode of the tensor.
    pub start: IntTuple,
    /// The layout from the matrix's modes to coordinates.
    pub places: Layout,
    /// The extent of each mode of the tensor below which coordinates must be; none where all of them are known to be inside.
    pub limits: Vec<Option<Leaf>>,
    /// The tensor's layout with a leaf for each mode.
    pub tensor: Layout,
}

/// The product of an extent or a step and a stride, in as many bits as it may need.
pub fn product(one: &Leaf, other: &Leaf) -> Option<Leaf> {
    let factor = |leaf: &Leaf| match leaf {
        Leaf::Static(value) => Some((*value, None)),
        Leaf::Dynamic(dynamic) => Some((dynamic.div, Some(dynamic.width))),
        _ => None,
    };
    let ((a, wide), (b, wider)) = (factor(one)?, factor(other)?);
    let both = a.checked_mul(b)?;
    Some(match (wide, wider) {
        (None, None) => Leaf::Static(both),
        _ if both == 0 => Leaf::Static(0),
        (Some(width), None) if b == 1 => Leaf::Dynamic(Dyn::new(width, a)),
        (None, Some(width)) if a == 1 => Leaf::Dynamic(Dyn::new(width, b)),
        _ => Leaf::Dynamic(Dyn::new(64, both.abs())),
    })
}

/// The tuple of what `of` makes of each leaf of one tuple.
pub fn each_leaf(
    all: &IntTuple,
    of: &mut dyn FnMut(&Leaf) -> Result<Leaf, String>,
) -> Result<IntTuple, String> {
    match all {
        IntTuple::Leaf(leaf) => Ok(IntTuple::Leaf(of(leaf)?)),
        IntTuple::Tuple(parts) => {
            let parts = parts.iter().map(|part| each_leaf(part, of));
            Ok(tuple(parts.collect::<Result<Vec<_>, _>>()?))
        }
    }
}

/// The step and the mode of a coordinate's stride; none of a stride of 0. Errors: a stride that is no step along one mode.
pub fn step(stride: &Leaf) -> Result<Option<(&Leaf, usize)>, String> {
    match stride {
        Leaf::Static(0) => Ok(None),
        Leaf::Basis { value, path } if path.len() == 1 && value.is(0) => Ok(None),
        Leaf::Basis { value, path } if path.len() == 1 => Ok(Some((value, usize::from(path[0])))),
        other => Err(format!(
            "expected strides that are steps along modes of the tensor, such as 2@1, found {other}"
        )),
    }
}

impl<'c> At<'c> {
    /// The matrix that takes the elements of a tensor at coordinates. Errors: coordinates that are not of that tensor.
    pub fn of(tensor: &MemRef<'c>, start: &IntTuple, places: &Layout) -> Result<Self, String> {
        let mut modes = tensor.layout.modes();
        for mode in &mut modes {
            if mode.shape().is_tuple() {
                let whole = mode.coalesce().map_err(|e| e.to_string())?;
                if !mode.is_static() || whole.shape().is_tuple() {
                    return Err(format!(
                        "expected a tensor whose modes have an extent and a stride each, found {}; give each leaf a mode and a coordinate",
                        tensor.layout
                    ));
                }
                *mode = whole;
            }
        }
        let origin: Vec<IntTuple> = match start.is_tuple() {
            true => start.modes().to_vec(),
            false => vec![start.clone()],
        };
        if origin.len() != modes.len() || origin.iter().any(IntTuple::is_tuple) {
            return Err(format!(
                "expected coordinates of {} integers, one for each mode of {}, found {start}",
                modes.len(),
                tensor.layout
            ));
        }
        let layout = Layout::from_modes(&modes).map_err(|e| e.to_string())?;
        let of_mode = |all: &IntTuple, mode: usize| {
            let all = if all.is_tuple() {
                all.get(mode)
            } else {
                Some(all)
            };
            all.and_then(IntTuple::as_leaf).cloned()
        };
        let stride = each_leaf(places.stride(), &mut |leaf| {
            let Some((value, mode)) = step(leaf)? else {
                return Ok(Leaf::Static(0));
            };
            let stride = of_mode(layout.stride(), mode).ok_or_else(|| {
                format!(
                    "expected coordinates of {} modes, found a step along mode {mode}",
                    modes.len()
                )
            })?;
            product(value, &stride).ok_or_else(|| "a stride overflows 64 bits".to_owned())
        })?;
        let matrix = Layout::new(places.shape().clone(), stride).map_err(|e| e.to_string())?;
        let mut align = tensor.align;
        let mut limits = Vec::new();
        for (mode, first) in origin.iter().enumerate() {
            let (Some(first), Some(extent), Some(stride)) = (
                first.as_leaf(),
                of_mode(layout.shape(), mode),
                of_mode(layout.stride(), mode),
            ) else {
                return Err(format!("expected integers, found {start}"));
            };
            match product(first, &stride) {
                Some(Leaf::Static(0)) => {}
                Some(Leaf::Static(step)) | Some(Leaf::Dynamic(Dyn { div: step, .. })) => {
                    if let Some(step) = power_of_two_in(step, tensor.element_bytes()) {
                        align = align.min(step);
                    }
                }
                _ => return Err("a start overflows 64 bits".to_owned()),
            }
            let reached = range(first, places, mode)?;
            if let Some([least, most]) = reached.filter(|reached| !is_in_32_bits(*reached)) {
                return Err(format!(
                    "expected coordinates that are integers of 32 bits, found {least} to {most} along mode {mode}"
                ));
            }
            let inside = reached.zip(extent.as_static());
            let inside = inside.is_some_and(|([least, most], extent)| least >= 0 && most < extent);
            limits.push((!inside).then_some(extent));
        }
        Ok(Self {
            matrix: MemRef {
                layout: matrix,
                align,
                ..tensor.clone()
            },
            start: tuple(origin),
            places: places.clone(),
            limits,
            tensor: layout,
        })
    }
}

impl At<'_> {
    /// Tells whether coordinates along a mode of the tensor are integers of 32 bits, whatever a launch brings of the extents of the matrix: they are computed in so many.
    pub fn is_in_32_bits(&self, mode: usize) -> bool {
        let most = |leaf: &Leaf| match leaf {
            Leaf::Dynamic(leaf) if leaf.width <= 32 => Some(i64::from(i32::MAX)),
            leaf => leaf.as_static(),
        };
        let first = self.start.get(mode).and_then(IntTuple::as_leaf);
        let reach = first.map(|first| reached(first, &self.places, mode, most));
        matches!(reach, Some(Ok(Some(reach))) if is_in_32_bits(reach))
    }

    /// Checks that coordinates are inside of the tensor, as far as that is known, and that no two elements have the same.
    pub fn check_output(&self) -> Result<(), String> {
        for (mode, limit) in self.limits.iter().enumerate() {
            let first = self.start.get(mode).and_then(IntTuple::as_leaf);
            let (Some(limit), Some(first)) = (limit, first) else {
                continue;
            };
            if let (Some([least, most]), Some(extent)) =
                (range(first, &self.places, mode)?, limit.as_static())
            {
                return Err(format!(
                    "expected coordinates inside of the tensor {}, found {least} to {most} along mode {mode} of {extent}",
                    self.tensor
                ));
            }
        }
        let (shape, stride) = (self.places.shape().leaves(), self.places.stride().leaves());
        let mut steps = Vec::new();
        for (extent, stride) in shape.iter().zip(stride) {
            match step(stride)? {
                _ if extent.as_static() == Some(1) => {}
                Some((value, mode)) => steps.push((mode, value, *extent)),
                None => {
                    return Err(format!(
                        "expected elements that are written once, found coordinates that are the same for {extent} of them in {}",
                        self.places
                    ));
                }
            }
        }
        for mode in 0..self.limits.len() {
            let mut along: Vec<_> = steps.iter().filter(|(other, ..)| *other == mode).collect();
            if along.len() < 2 {
                continue;
            }
            let size = |value: &Leaf| value.as_static().map_or(i64::MAX, i64::abs);
            along.sort_by_key(|(_, value, _)| size(value));
            let mut reach = Some(1i64);
            for (_, value, extent) in along {
                let own = value.as_static().map(i64::abs);
                if own.zip(reach).is_none_or(|(own, reach)| own < reach) {
                    return Err(format!(
                        "expected elements that are written once, found steps along mode {mode} of {} that may meet",
                        self.places
                    ));
                }
                let further = own
                    .zip(extent.as_static())
                    .map(|(own, extent)| own.saturating_mul(extent - 1));
                reach = further
                    .zip(reach)
                    .map(|(further, reach)| reach.saturating_add(further));
            }
        }
        Ok(())
    }
}

fn is_in_32_bits(reach: [i64; 2]) -> bool {
    reach.iter().all(|value| i32::try_from(*value).is_ok())
}

/// The least and the greatest coordinate along a mode of the tensor, where they are known.
fn range(first: &Leaf, places: &Layout, mode: usize) -> Result<Option<[i64; 2]>, String> {
    reached(first, places, mode, Leaf::as_static)
}

/// The same for extents of the matrix that are what `extent_of` says of each.
fn reached(
    first: &Leaf,
    places: &Layout,
    mode: usize,
    extent_of: impl Fn(&Leaf) -> Option<i64>,
) -> Result<Option<[i64; 2]>, String> {
    let Some(first) = first.as_static() else {
        return Ok(None);
    };
    let mut reach = [first; 2];
    for (extent, stride) in places.shape().leaves().iter().zip(places.stride().leaves()) {
        let Some((value, along)) = step(stride)? else {
            continue;
        };
        if along != mode {
            continue;
        }
        let (Some(extent), Some(value)) = (extent_of(extent), value.as_static()) else {
            return Ok(None);
        };
        let last = (extent - 1).max(0).checked_mul(value);
        let last = last.ok_or("a coordinate overflows 64 bits")?;
        reach = [
            reach[0].saturating_add(last.min(0)),
            reach[1].saturating_add(last.max(0)),
        ];
    }
    Ok(Some(reach))
}

/// The coordinates at which an operand of a product is in its tensor, if it is; and the index tensor of its rows.
pub fn places_of<'c>(op: cute::Contract<'c>, operand: usize) -> (Option<Val<'c>>, Option<Val<'c>>) {
    match operand {
        0 => (op.at_a(), op.rows_a()),
        1 => (op.at_b(), op.rows_b()),
        _ => (op.at_c(), None),
    }
}

/// The matrix that an operand of a product is: the tensor, or what coordinates or an index tensor make of it, of which rows and columns are
/// those of the matrix. Errors: what does not suit the tensor.
pub fn matrix_of<'c>(
    op: cute::Contract<'c>,
    operand: usize,
    tensor: Val<'c>,
) -> Result<MemRef<'c>, String> {
    let name = NAMES[operand.min(2)];
    let memref = memref_of(tensor).ok_or("expected whole tensors")?;
    match places_of(op, operand) {
        (None, None) => Ok(memref),
        (Some(_), Some(_)) => Err(format!(
            "takes {name} at coordinates and its rows by index; expected one of them"
        )),
        (Some(coords), None) => {
            let at = coordinates(&memref, coords);
            Ok(at
                .map_err(|e| format!("takes {name} at coordinates: {e}"))?
                .matrix)
        }
        (None, Some(index)) => {
            by_rows(&memref, index).map_err(|e| format!("takes rows of {name} by index: {e}"))
        }
    }
}

/// The matrix at the coordinates of a coordinate tensor.
pub fn coordinates<'c>(tensor: &MemRef<'c>, coords: Val<'c>) -> Result<At<'c>, String> {
    match CuteType::get(coords.r#type()) {
        Some(CuteType::CoordTensor { start, layout }) => At::of(tensor, start, layout),
        _ => Err("expected a coordinate tensor".to_owned()),
    }
}

/// Checks that a tensor has integers by which rows are told.
fn check_integers(what: &str, element: Type<'_>) -> Result<(), String> {
    match types::element_bits(element) {
        Some(32 | 64) if !types::is_float(element) => Ok(()),
        _ => Err(format!("expected {what} of i32 or i64, found {element}")),
    }
}

/// The layout with leaves that are one after another as one, as far as they are known.
fn joined(layout: &Layout) -> Result<Layout, String> {
    match layout.is_static() {
        true => layout.coalesce().map_err(|e| e.to_string()),
        false => Ok(layout.clone()),
    }
}

/// The matrix of those rows of a tensor (R,K), or (R,K,L), that an index tensor (M), or (M,L), names. Errors: tensors that do not go together.
pub fn by_rows<'c>(tensor: &MemRef<'c>, index: Val<'c>) -> Result<MemRef<'c>, String> {
    let of = memref_of(index).ok_or("expected an index tensor")?;
    check_integers("indices", of.element)?;
    let rank = tensor.layout.rank();
    if of.layout.rank() + 1 != rank {
        return Err(format!(
            "expected an index for each row{}, found {} for the tensor {}",
            if rank == 3 {
                " and each of the batch"
            } else {
                ""
            },
            of.layout,
            tensor.layout
        ));
    }
    let mut modes = tensor.layout.modes();
    let batch = |layout: &Layout, mode| layout.mode(mode).and_then(|mode| mode.size()).ok();
    if let (3, Some(indices), Some(products)) =
        (rank, batch(&of.layout, 1), batch(&tensor.layout, 2))
        && indices != products
    {
        return Err(format!(
            "expected indices for each of the batch of {products}, found {}",
            of.layout
        ));
    }
    let rows = modes.first().ok_or("expected rows")?;
    let whole = rows.coalesce().map_err(|e| e.to_string())?;
    if whole.shape().is_tuple() {
        return Err(format!(
            "expected rows that have one extent and one stride, found {}",
            tensor.layout
        ));
    }
    // A rank of 1 has its mode as the whole.
    let of_rows = match rank {
        3 => of.layout.mode(0).map_err(|e| e.to_string())?,
        _ => of.layout.clone(),
    };
    let extent = joined(&of_rows)?.shape().clone().unwrap_single();
    if extent.is_tuple() {
        return Err(format!(
            "expected indices that have one extent and one stride, found {}",
            of.layout
        ));
    }
    let stride = whole.stride().clone().unwrap_single();
    modes[0] = Layout::new(extent, stride).map_err(|e| e.to_string())?;
    Ok(MemRef {
        layout: Layout::from_modes(&modes).map_err(|e| e.to_string())?,
        ..tensor.clone()
    })
}

/// The type of the tensor of the ends of the groups of rows of a product, whose A, B and C are these; none where its rows have no groups. Errors: tensors that do
/// not go together.
pub fn groups_of<'c>(
    op: cute::Contract<'c>,
    [a, b, c]: [&MemRef<'c>; 3],
) -> Result<Option<MemRef<'c>>, String> {
    let Some(ends) = op.groups() else {
        return Ok(None);
    };
    let ends = memref_of(ends).ok_or("expected a tensor of the ends of groups")?;
    check_integers("ends of groups", ends.element)?;
    let is_one = |layout: &Layout| {
        let joined = joined(layout)?;
        Ok::<_, String>(!joined.shape().clone().unwrap_single().is_tuple())
    };
    if !is_one(&ends.layout)? {
        return Err(format!(
            "expected ends of groups in one mode of one extent and one stride, found {}",
            ends.layout
        ));
    }
    for (name, memref, rank) in [("A (M,K)", a, 2), ("B (N,K,G)", b, 3), ("C (M,N)", c, 2)] {
        if memref.layout.rank() != rank {
            return Err(format!(
                "has groups of rows; expected {name} of rank {rank}, found {}",
                memref.layout
            ));
        }
    }
    let size = |layout: &Layout| layout.size().ok();
    let matrices = b.layout.mode(2).map_err(|e| e.to_string())?;
    if let (Some(groups), Some(matrices)) = (size(&ends.layout), size(&matrices))
        && groups != matrices
    {
        return Err(format!(
            "expected an end of a group for each of the {matrices} matrices of B, found {}",
            ends.layout
        ));
    }
    let is_placed = |operand| {
        let (at, rows) = places_of(op, operand);
        at.is_some() || (rows.is_some() && operand != 0)
    };
    if (0..3).any(is_placed) {
        return Err(
            "has groups of rows, and a factor or C at coordinates, or rows of B by index; expected one of them"
                .to_owned(),
        );
    }
    if op.reduce().is_some() {
        return Err(
            "has groups of rows, and reduces an output; expected one of them: reduce it by a cute.map"
                .to_owned(),
        );
    }
    for (name, memref) in [("A", a), ("C", c)] {
        let rows = memref.layout.mode(0).map_err(|e| e.to_string())?;
        if !is_one(&rows)? {
            return Err(format!(
                "has groups of rows; expected rows of {name} that have one extent and one stride, found {}",
                memref.layout
            ));
        }
    }
    Ok(Some(ends))
}

/// The elements of a group, where a mode is groups of elements that are one: `(g,n):(0,s)`.
pub fn group_of(mode: &Layout) -> Option<i64> {
    let (shape, stride) = (mode.shape().leaves(), mode.stride().leaves());
    match (&shape[..], &stride[..]) {
        ([Leaf::Static(group), _], [Leaf::Static(0), _]) => Some(*group),
        _ => None,
    }
}

/// A number that is known to divide a leaf; 0 of zero, which everything divides.
pub fn divisor(leaf: &Leaf) -> i64 {
    match leaf {
        Leaf::Static(value) => value.abs(),
        Leaf::Dynamic(dynamic) => dynamic.div,
        _ => 1,
    }
}

/// Elements of a matrix that lie side by side along a mode, at most so many: neighbours from a multiple of their number on are all there or all
/// not, in one leaf, and aligned together. `bounds` are of a matrix that is at coordinates.
pub fn vector(matrix: &MemRef, mode: usize, most: i64, bounds: Option<&At>) -> i64 {
    let layout = &matrix.layout;
    let first = |all: &IntTuple| {
        all.get(mode)
            .and_then(|all| all.leaves().first().map(|leaf| (*leaf).clone()))
    };
    let (Some(extent), Some(Leaf::Static(1))) = (first(layout.shape()), first(layout.stride()))
    else {
        return 1;
    };
    let before: usize = layout.stride().modes()[..mode]
        .iter()
        .map(|m| m.leaves().len())
        .sum();
    let strides = layout.stride().leaves();
    let others = strides.iter().enumerate().filter(|(at, _)| *at != before);
    let mut multiples: Vec<i64> = others.map(|(_, stride)| divisor(stride)).collect();
    multiples.push(divisor(&extent));
    if let Some(at) = bounds {
        // Along a vector one coordinate changes, from a multiple of its length on: it stays inside, or outside.
        let leaves = at.places.stride().leaves();
        let along = leaves
            .get(before)
            .and_then(|stride| step(stride).ok().flatten());
        let Some((_, along)) = along else { return 1 };
        let own = leaves.iter().enumerate().filter(|(at, _)| *at != before);
        for (value, mode) in own.filter_map(|(_, stride)| step(stride).ok().flatten()) {
            if mode == along {
                multiples.push(divisor(value));
            }
        }
        multiples.extend(at.start.get(along).and_then(IntTuple::as_leaf).map(divisor));
        multiples.extend(
            at.limits
                .get(along)
                .cloned()
                .flatten()
                .map(|limit| divisor(&limit)),
        );
    }
    let bytes = matrix.element_bytes();
    let mut vector = most.max(1);
    while vector > 1
        && (multiples.iter().any(|multiple| multiple % vector != 0)
            || matrix.align % (vector * bytes) != 0)
    {
        vector /= 2;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_as_wide_as_they_may_be() {
        let (x, y) = (Leaf::Dynamic(Dyn::new(32, 8)), Leaf::Static(3));
        assert_eq!(product(&x, &y), Some(Leaf::Dynamic(Dyn::new(64, 24))));
        assert_eq!(product(&Leaf::Static(1), &x), Some(x.clone()));
        assert_eq!(product(&x, &Leaf::Static(0)), Some(Leaf::Static(0)));
        assert_eq!(product(&Leaf::Static(-2), &y), Some(Leaf::Static(-6)));
        assert_eq!(product(&Leaf::Static(i64::MAX), &y), None);
    }
}
