//! The tensors of a product: how they lie, and what is known of M, N and K.

use super::{function::place_of, indexed::Places};
use crate::plan::{Access, Boxes, Columns, Leaves};
use cute_arith::{ReduceOp, gcd};
pub(super) use cute_ir::contract::{divisor, group_of};
use cute_ir::{
    contract,
    maps::is_same_along,
    mlir::{Val, block_argument},
    types::{MemRef, memref_of},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, tma::MOST_DIMS, tuple};

/// The widest access to memory in bytes.
pub(super) const WIDEST: i64 = 16;

/// Bytes of a line of L2.
const LINE: i64 = 128;

/// The layout with the extents and the strides of some modes multiples of a number, as far as a launch brings them; none where one that is known is no multiple.
pub(super) fn with_multiples(
    layout: &Layout,
    of: i64,
    of_shape: impl Fn(usize) -> bool,
    of_stride: impl Fn(usize) -> bool,
) -> Option<Layout> {
    let modes = |all: &IntTuple, is_multiple: &dyn Fn(usize) -> bool| {
        let modes = all.modes().iter().enumerate();
        let modes = modes.map(|(at, mode)| match is_multiple(at) {
            true => multiple(mode, of),
            false => Some(mode.clone()),
        });
        Some(tuple(modes.collect::<Option<Vec<_>>>()?))
    };
    let shape = modes(layout.shape(), &of_shape)?;
    let stride = modes(layout.stride(), &of_stride)?;
    Layout::new(shape, stride).ok()
}

/// The tuple with all leaves multiples of a number: those that a launch brings are said to be, the others are none or it is nothing.
fn multiple(all: &IntTuple, of: i64) -> Option<IntTuple> {
    if all.is_tuple() {
        let modes = all.modes().iter().map(|mode| multiple(mode, of));
        return Some(tuple(modes.collect::<Option<Vec<_>>>()?));
    }
    match all.as_leaf()? {
        Leaf::Static(value) => (value % of == 0).then(|| int(*value)),
        Leaf::Dynamic(dynamic) => {
            let div = (dynamic.div / gcd(dynamic.div, of)).checked_mul(of)?;
            Some(IntTuple::Leaf(Leaf::Dynamic(Dyn {
                div,
                ..dynamic.clone()
            })))
        }
        _ => None,
    }
}

/// The part of a tensor in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A or B.
    Factor,
    /// A tensor that a prologue reads beside a factor.
    Beside,
    /// A tensor that a prologue computes scales of, and nothing else.
    Scale,
    /// C.
    C,
    /// Another tensor that is written.
    Output,
    /// A tensor that is written and has the stride 0 along what it is reduced along.
    Reduced,
    /// A tensor that an epilogue reads.
    Input,
}

/// A tensor of a product as a kernel sees it: rows, columns, and perhaps a batch.
#[derive(Clone, Debug)]
pub(super) struct Matrix<'c> {
    /// The tensor in the function that launches.
    pub(super) tensor: Val<'c>,
    /// Its place among the kernel's arguments.
    pub(super) argument: usize,
    /// Its name in messages.
    pub(super) name: String,
    /// Its part in the product.
    pub(super) role: Role,
    /// The tensor's type.
    pub(super) memref: MemRef<'c>,
    /// True where rows and columns are exchanged.
    pub(super) turned: bool,
    /// The tensor's layout with each of rows and columns in one mode, before they are exchanged.
    pub(super) layout: Layout,
    /// The accesses to it in global memory, after that.
    pub(super) access: Access,
    /// The places of its elements, where no tile has them.
    pub(super) places: Option<Places<'c>>,
    /// Tells whether its rows are those of groups, which begin anywhere.
    pub(super) has_groups: bool,
    /// Elements that are moved at once, at most.
    most: i64,
}

/// The tensors of a product.
#[derive(Clone)]
pub(super) struct Matrices<'c> {
    /// A, B and C of C (M,N) = A (M,K) B (N,K)^T.
    pub(super) product: [Matrix<'c>; 3],
    /// The tensors that the prologue of A reads beside it, and that of B.
    pub(super) beside: [Vec<Matrix<'c>>; 2],
    /// Tells whether A is the second factor of the op, and B the first.
    pub(super) exchanged: bool,
    /// The tensors that the epilogue reads.
    pub(super) inputs: Vec<Matrix<'c>>,
    /// The tensors beside C that are written.
    pub(super) outputs: Vec<Matrix<'c>>,
}

impl<'c> Matrices<'c> {
    /// The tensors of a product, which are the kernel's arguments in this order, each once. Where C lies column by column they are those of the transposed product:
    /// B, A and C's transpose. Errors: a tensor that cannot be read or written by tiles.
    pub(super) fn of(
        factors: [Val<'c>; 2],
        outputs: &[(Val<'c>, Option<ReduceOp>)],
        inputs: &[Val<'c>],
        beside: [&[(Val<'c>, Role)]; 2],
        places: [Option<Places<'c>>; 3],
        has_groups: bool,
    ) -> Result<(Self, Vec<Val<'c>>), String> {
        let mut arguments: Vec<Val<'c>> = Vec::new();
        let [of_a, of_b, mut of_c] = places;
        let mut placed = |role, name: String, tensor: Val<'c>, places: Option<Places<'c>>, has| {
            let argument = place_of(&mut arguments, tensor);
            let places = places.map(|places| places.with_arguments(&mut arguments));
            Matrix::read((role, has), name, tensor, argument, places)
        };
        let [a, b] = factors;
        let a = placed(Role::Factor, "A".to_owned(), a, of_a, has_groups)?;
        let b = placed(Role::Factor, "B".to_owned(), b, of_b, false)?;
        let mut written = Vec::new();
        for (at, (tensor, kind)) in outputs.iter().enumerate() {
            let name = match at {
                0 => "C".to_owned(),
                _ => format!("output {at}"),
            };
            let role = match (kind, at) {
                (Some(_), _) => Role::Reduced,
                (None, 0) => Role::C,
                (None, _) => Role::Output,
            };
            let places = of_c.take().filter(|_| at == 0);
            written.push(placed(role, name, *tensor, places, has_groups)?);
        }
        let mut read = |role, name, tensor, has| placed(role, name, tensor, None, has);
        let mut all = Vec::new();
        for (at, tensor) in inputs.iter().enumerate() {
            all.push(read(
                Role::Input,
                format!("input {at} of the epilogue"),
                *tensor,
                has_groups,
            )?);
        }
        let mut factors = |factor: usize| {
            let tensors = beside[factor].iter().enumerate();
            let read = tensors.map(|(at, (tensor, role))| {
                let of = ["A", "B"][factor];
                read(
                    *role,
                    format!("input {at} of the prologue of {of}"),
                    *tensor,
                    has_groups && factor == 0,
                )
            });
            read.collect::<Result<Vec<_>, String>>()
        };
        let beside = [factors(0)?, factors(1)?];
        let mut written = written.into_iter();
        let c = written.next().ok_or("expected C")?;
        let outputs: Vec<_> = written.collect();
        if has_groups {
            check_groups([&a, &b, &c], &all, &outputs, &beside)?;
        }
        let is_by_rows = c.access.major == 1;
        let own = Self {
            product: [a, b, c],
            beside,
            exchanged: false,
            inputs: all,
            outputs,
        };
        let own = match is_by_rows {
            true => own,
            false => own.exchanged(),
        };
        Ok((own, arguments))
    }

    /// The tensors of the transposed product: B, A and C's transpose.
    pub(super) fn exchanged(self) -> Self {
        let turn = |matrix: Matrix<'c>| Matrix {
            turned: !matrix.turned,
            access: Access {
                major: 1 - matrix.access.major,
                ..matrix.access
            },
            ..matrix
        };
        let ([a, b, c], [of_a, of_b]) = (self.product, self.beside);
        Self {
            product: [b, a, turn(c)],
            beside: [of_b, of_a],
            exchanged: !self.exchanged,
            inputs: self.inputs.into_iter().map(turn).collect(),
            outputs: self.outputs.into_iter().map(turn).collect(),
        }
    }

    /// The same tensors where a launch brings multiples of as many elements as the widest accesses to A, B and C move; none where
    /// that is nothing new.
    pub(super) fn aligned(&self) -> Option<Self> {
        let aligned = self.product.each_ref().map(Matrix::aligned);
        if aligned.iter().all(Option::is_none) {
            return None;
        }
        let mut all = self.clone();
        for (matrix, aligned) in all.product.iter_mut().zip(aligned) {
            if let Some(aligned) = aligned {
                *matrix = aligned;
            }
        }
        Some(all)
    }
}

/// Tells whether tiles along K consist of groups of that many elements or are within them, and vectors within groups; tiles are multiples of 16 there,
/// and no vector is wider than a group. In other groups each element has its coordinates.
fn suits_tiles(group: i64) -> bool {
    group % 16 == 0 || group == 8
}

impl<'c> Matrix<'c> {
    fn read(
        (role, has_groups): (Role, bool),
        name: String,
        tensor: Val<'c>,
        argument: usize,
        mut places: Option<Places<'c>>,
    ) -> Result<Self, String> {
        let given = memref_of(tensor).ok_or("expected whole tensors")?;
        let memref = match &places {
            Some(Places::At(own)) => own.at.matrix.clone(),
            Some(Places::Rows(index)) => contract::by_rows(&given, index.tensor)?,
            _ => given,
        };
        let mut modes = memref.layout.modes();
        let one = |stride| Layout::leaf(1, stride).map_err(|e| e.to_string());
        // The leaves of a matrix at coordinates are those of the coordinates.
        let is_at = matches!(places, Some(Places::At(_)));
        let own = if is_at { 0 } else { 2 };
        for (at, mode) in modes.iter_mut().take(own).enumerate() {
            if mode.shape().is_tuple() {
                let whole = mode.coalesce().map_err(|e| e.to_string())?;
                let may = role == Role::Scale || role == Role::Beside && at == 1;
                let group = group_of(&whole).filter(|_| may);
                let is_grouped =
                    group.is_some_and(|group| role == Role::Scale || suits_tiles(group));
                if whole.shape().is_tuple() && !is_grouped {
                    places.get_or_insert(Places::Linear);
                }
                *mode = whole;
            }
            // It goes nowhere, so that nothing is to be aligned. An output beside C would be one that is reduced by the stride 0.
            let is_one = mode.is_static() && mode.size() == Ok(1);
            match role {
                Role::Output if is_one => *mode = one(WIDEST)?,
                _ if is_one && memref.layout.is_static() => *mode = one(0)?,
                _ => {}
            }
        }
        let layout = Layout::from_modes(&modes).map_err(|e| e.to_string())?;
        let layout = without_known_zeros(&layout)?;
        if layout.stride().has_basis() {
            return Err(format!(
                "expected {name} with strides that are integers, found {}",
                memref.layout
            ));
        }
        check_argument(&name, tensor)?;
        memref.check_addressable()?;
        match (&places, role) {
            // What coordinates reach the verifier has seen.
            (Some(Places::At(own)), Role::C | Role::Output) => {
                check_apart(&name, &own.at.tensor)?;
            }
            (_, Role::C | Role::Output) => check_apart(&name, &layout)?,
            _ => {}
        }
        if role == Role::Reduced {
            check_once(&name, &layout)?;
        }
        let access = access(&memref, &layout, places.as_ref(), has_groups)?;
        let memref_bytes = memref.element_bytes().max(1);
        Ok(Self {
            tensor,
            argument,
            name,
            role,
            memref,
            turned: false,
            layout,
            access,
            places,
            has_groups,
            most: (WIDEST / memref_bytes).max(1),
        })
    }

    /// What TMA loads of a factor that a kernel of threads takes as a whole; none of another one, and where it cannot.
    pub(super) fn boxes(&self) -> Option<Boxes> {
        match &self.places {
            _ if self.role != Role::Factor => None,
            Some(Places::At(own)) if memref_of(self.tensor)?.layout == own.at.tensor => {
                Columns::of(&own.at).map(Boxes::Columns)
            }
            Some(Places::Linear) => {
                let (bytes, align) = (self.memref.element_bytes(), self.memref.align);
                Leaves::of(&self.layout, bytes, align).map(Boxes::Leaves)
            }
            _ => None,
        }
    }

    /// The columns of pixels that a factor is, of a tensor of images; none of another one.
    pub(super) fn columns(&self) -> Option<Columns> {
        self.boxes().and_then(Boxes::columns)
    }

    /// Elements along K that are one, of a tensor with a number for each group of so many; none where there are no groups.
    pub(super) fn group(&self) -> Option<i64> {
        self.group_along(1)
    }

    /// The same along rows (0) or columns (1).
    pub(super) fn group_along(&self, mode: usize) -> Option<i64> {
        let group = group_of(&self.layout.mode(mode).ok()?)?;
        (self.role != Role::Beside || suits_tiles(group)).then_some(group)
    }

    /// Tells whether all elements along rows (0) or columns (1) are one.
    pub(super) fn is_same_along(&self, mode: usize) -> bool {
        let stride = self.layout.stride().get(self.place(mode));
        let is_zero = |leaf: &&Leaf| **leaf == Leaf::Static(0);
        stride.is_some_and(|stride| stride.leaves().iter().all(is_zero))
    }

    /// Lets so many elements be moved at once, at most.
    pub(super) fn move_at_most(&mut self, elements: i64) {
        self.most = self.most.min(elements.max(1));
        self.access.vector = self.access.vector.min(self.most);
    }

    /// The same matrix where a launch brings multiples of as many elements as the widest access moves; none where nothing is gained by
    /// it, or where it cannot be so.
    fn aligned(&self) -> Option<Self> {
        let vector = WIDEST.min(self.memref.align) / self.memref.element_bytes().max(1);
        let vector = vector.min(self.most);
        if vector <= self.access.vector || self.layout != self.memref.layout || self.is_whole() {
            return None;
        }
        let stride = self.layout.stride();
        let is_along = |mode: &usize| stride.get(*mode).and_then(IntTuple::as_static) == Some(1);
        let major = (0..2).find(is_along)?;
        let layout = with_multiples(
            &self.layout,
            vector,
            |mode| mode == major,
            |mode| mode != major,
        )?;
        let all = self.lying(self.memref.clone(), layout)?;
        (all.access.vector > self.access.vector).then_some(all)
    }

    /// The same matrix of a tensor of another type, with another layout.
    pub(super) fn lying(&self, memref: MemRef<'c>, layout: Layout) -> Option<Self> {
        let access = access(&memref, &layout, None, self.has_groups).ok()?;
        let major = match self.turned {
            true => 1 - access.major,
            false => access.major,
        };
        let access = Access {
            vector: access.vector.min(self.most),
            major,
            ..access
        };
        Some(Self {
            memref,
            layout,
            access,
            ..self.clone()
        })
    }

    /// The leaves of the layout of which the matrix expects more than its type says: their places among those of the shape and then
    /// the stride, and what divides them.
    pub(super) fn expected(&self) -> Vec<(usize, i64)> {
        let leaves = |layout: &Layout| -> Vec<Leaf> {
            let leaves = [layout.shape().leaves(), layout.stride().leaves()].concat();
            leaves.into_iter().cloned().collect()
        };
        let (found, known) = (leaves(&self.layout), leaves(&self.memref.layout));
        if found.len() != known.len() || self.is_whole() {
            return Vec::new();
        }
        let both = found.iter().zip(&known).enumerate();
        both.filter(|(_, (found, known))| {
            found != known && !found.is_static() && divisor(found) > 1
        })
        .map(|(at, (found, _))| (at, divisor(found)))
        .collect()
    }

    /// The extent of rows (0), columns (1) or the batch (2), as the kernel sees it.
    pub(super) fn extent(&self, mode: usize) -> Option<&IntTuple> {
        self.layout.shape().get(self.place(mode))
    }

    /// The mode of the tensor that is mode `mode` of the matrix.
    pub(super) fn place(&self, mode: usize) -> usize {
        if self.turned && mode < 2 {
            1 - mode
        } else {
            mode
        }
    }
}

/// One of M, N and K.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    /// The extent; none where only a launch knows.
    pub(super) known: Option<i64>,
    /// A number that is known to divide it.
    pub(super) divisor: i64,
    /// The matrix that has it, by its place among the three, and the mode.
    pub(super) from: (usize, usize),
}

impl Extent {
    /// M, N and K of matrices, each of the matrix that knows the most of it.
    pub(super) fn of(matrices: &[Matrix; 3]) -> [Self; 3] {
        [0, 1, 2].map(|axis| {
            let holders = holders(axis).map(|(matrix, mode)| {
                let extent = matrices[matrix].extent(mode);
                let known = extent
                    .filter(|extent| extent.is_static())
                    .and_then(|all| all.size().ok());
                let leaves = extent.map(IntTuple::leaves).unwrap_or_default();
                let divisor = leaves.into_iter().map(divisor);
                let divisor = divisor.reduce(i64::saturating_mul).unwrap_or(1);
                Self {
                    known,
                    divisor,
                    from: (matrix, mode),
                }
            });
            let [first, second] = holders;
            match (first.known, second.known) {
                (None, Some(_)) => second,
                (None, None) if second.divisor > first.divisor => second,
                _ => first,
            }
        })
    }

    /// Tells whether tiles of `tile` never reach over the end.
    pub(super) fn is_divided_by(&self, tile: i64) -> bool {
        tile > 0 && self.divisor % tile == 0
    }
}

/// The two matrices that have M (0), N (1) or K (2), each with the mode that it is.
pub(super) fn holders(axis: usize) -> [(usize, usize); 2] {
    match axis {
        0 => [(0, 0), (2, 0)],
        1 => [(1, 0), (2, 1)],
        _ => [(0, 1), (1, 1)],
    }
}

/// The number of products; none where only a launch knows.
pub(super) fn batch(matrices: &[Matrix; 3]) -> Option<i64> {
    let known = |matrix: &Matrix| match matrix.extent(2) {
        Some(extent) if extent.is_static() => extent.size().ok(),
        Some(_) => None,
        None => Some(1),
    };
    matrices.iter().find_map(known)
}

/// The accesses to a matrix: along the mode by which the most can be moved at once, columns if either would do.
/// Neighbours in modes of several leaves are those of the first leaf.
fn access(
    memref: &MemRef,
    layout: &Layout,
    places: Option<&Places>,
    has_groups: bool,
) -> Result<Access, String> {
    let whole = MemRef {
        layout: layout.clone(),
        ..memref.clone()
    };
    let bounds = match places {
        Some(Places::At(own)) => Some(&own.at),
        _ => None,
    };
    // Neighbouring rows that are taken by index are no neighbours, and those of a group begin anywhere.
    let by_index = has_groups || matches!(places, Some(Places::Rows(_)));
    let vector = |mode: usize| match mode == 0 && by_index {
        true => 1,
        false => contract::vector(&whole, mode, WIDEST / memref.element_bytes(), bounds),
    };
    let is_along = |mode: usize| {
        let stride = layout.stride().get(mode).map(IntTuple::leaves);
        let first = stride.and_then(|leaves| leaves.first().map(|leaf| **leaf == Leaf::Static(1)));
        first == Some(true) && !(mode == 0 && by_index)
    };
    let [rows, columns] = [vector(0), vector(1)];
    // Also of what is moved one by one, neighbours are best moved by neighbours.
    let major = usize::from(!(rows > columns || (rows == columns && is_along(0) && !is_along(1))));
    let bytes = memref.element_bytes().max(1);
    Ok(Access {
        major,
        known: layout.stride().is_static(),
        apart: !is_along(0) && !is_along(1),
        placed: places.is_some(),
        vector: [rows, columns][major],
        lines: match pitch(layout, major, WIDEST / bytes) {
            0 => 0,
            pitch => gcd(pitch, memref.align / bytes),
        },
        pitch: pitch(layout, major, LINE / bytes),
    })
}

/// The layout with extents that are known to be 0 as any other that only a launch knows: that everything divides them says nothing of what is there.
fn without_known_zeros(layout: &Layout) -> Result<Layout, String> {
    let shape = opened(layout.shape());
    Layout::new(shape, layout.stride().clone()).map_err(|e| e.to_string())
}

/// The tuple with leaves of which nothing is known where it has 0.
fn opened(all: &IntTuple) -> IntTuple {
    if all.is_tuple() {
        return tuple(all.modes().iter().map(opened).collect::<Vec<_>>());
    }
    match all.as_leaf() {
        Some(Leaf::Dynamic(leaf)) if leaf.div == 0 => IntTuple::Leaf(Leaf::Dynamic(Dyn {
            div: 1,
            ..leaf.clone()
        })),
        _ => all.clone(),
    }
}

/// Elements that lines along a mode are multiples of apart, up to so many; 0 of a mode that is not contiguous, and where some elements of a matrix are one.
fn pitch(layout: &Layout, major: usize, most: i64) -> i64 {
    let strides = |mode: usize| layout.stride().get(mode).map(IntTuple::leaves);
    if strides(major).as_deref() != Some(&[&Leaf::Static(1)]) {
        return 0;
    }
    let mut all = most;
    for mode in (0..layout.rank()).filter(|mode| *mode != major) {
        let leaves = strides(mode).unwrap_or_default();
        if mode > 1 {
            // A matrix that all of a batch share, or all of a part of it, is none of its own.
            let apart = leaves.into_iter().filter(|leaf| **leaf != Leaf::Static(0));
            all = apart.fold(all, |all, leaf| gcd(all, divisor(leaf)));
            continue;
        }
        match leaves[..] {
            [leaf] if *leaf != Leaf::Static(0) => all = gcd(all, divisor(leaf)),
            _ => return 0,
        }
    }
    match is_map(layout) {
        true => all,
        false => 0,
    }
}

/// Tells whether a tensor map has a dimension for each stride: TMA counts along parts of a batch by their extents.
fn is_map(layout: &Layout) -> bool {
    let strides = layout.stride().leaves().into_iter();
    let dims = strides.filter(|leaf| **leaf != Leaf::Static(0)).count();
    let parts = layout.shape().get(2).map(IntTuple::leaves);
    let parts = parts.unwrap_or_default();
    let inner = parts.split_last().map_or(&[][..], |(_, inner)| inner);
    dims <= MOST_DIMS && inner.iter().all(|extent| extent.is_static())
}

/// Checks that tensors of a product whose rows have groups are such that rows of neighbours can be taken from any of them on.
fn check_groups<'c>(
    product: [&Matrix<'c>; 3],
    inputs: &[Matrix<'c>],
    outputs: &[Matrix<'c>],
    beside: &[Vec<Matrix<'c>>],
) -> Result<(), String> {
    let [.., c] = product;
    let all = product.into_iter().chain(inputs).chain(outputs);
    for matrix in all.chain(beside.iter().flatten()) {
        if matrix.is_whole() && !matches!(matrix.places, Some(Places::Rows(_))) {
            return Err(format!(
                "has groups of rows; expected {} with one extent and one stride for each mode, found {}",
                matrix.name, matrix.memref.layout
            ));
        }
    }
    let rows = c.extent(0).map(IntTuple::leaves).unwrap_or_default();
    let wide = |leaf: &&Leaf| matches!(leaf, Leaf::Static(rows) if *rows > i64::from(i32::MAX));
    match rows.iter().any(wide) {
        true => Err(format!(
            "has groups of rows; expected at most 2147483647 of them, an integer of 32 bits, found {}",
            c.memref.layout
        )),
        false => Ok(()),
    }
}

/// Checks that each element of an output that is written once along some modes has a place of its own along the others.
pub(super) fn check_once(name: &str, layout: &Layout) -> Result<(), String> {
    let modes = (0..layout.rank()).filter(|mode| !is_same_along(layout, *mode));
    let modes: Vec<_> = modes.filter_map(|mode| layout.mode(mode).ok()).collect();
    if modes.is_empty() {
        return Ok(());
    }
    let apart = Layout::from_modes(&modes).map_err(|e| e.to_string())?;
    check_apart(name, &apart)
}

/// The alignment of a tensor's start, in bytes, that a package can promise at most.
const MOST_ALIGN: i64 = 256;

/// Elements that a tensor of a package spans at most.
const MOST_REACHED: i64 = 1 << 40;

/// Checks that the strides of a tensor are numbers of elements that addresses can say.
pub(super) fn check_in_memory(name: &str, memref: &MemRef<'_>) -> Result<(), String> {
    if memref.layout.stride().has_basis() {
        return Err(format!(
            "expected {name} with strides that are integers, found {}",
            memref.layout
        ));
    }
    memref.check_addressable()
}

/// Checks that a tensor that is an argument of its function is one that a launch may bring; views of it may lie in any way.
pub(super) fn check_argument(name: &str, tensor: Val<'_>) -> Result<(), String> {
    let (Some(memref), Some(_)) = (memref_of(tensor), block_argument(tensor)) else {
        return Ok(());
    };
    let strides = memref.layout.stride().leaves();
    if let Some(stride) = strides
        .iter()
        .filter_map(|leaf| leaf.as_static())
        .find(|stride| *stride < 0)
    {
        return Err(format!(
            "expected {name} with strides that are not negative, found {stride} in {}; copy it into a tensor whose elements ascend",
            memref.layout
        ));
    }
    // Of strides that are not negative it is the last one's.
    let reach = memref.layout.flat().map(|flat| {
        let modes = flat.modes().iter().filter(|mode| mode.0 > 0);
        modes.fold(1i64, |reach, (extent, stride)| {
            reach.saturating_add((extent - 1).saturating_mul(*stride))
        })
    });
    if let Some(reach) = reach.filter(|reach| *reach > MOST_REACHED) {
        let found = match reach {
            i64::MAX => "more than 64 bits say".to_owned(),
            reach => reach.to_string(),
        };
        return Err(format!(
            "expected {name} that spans at most 2^40 elements, found {found} in {}; make its strides smaller",
            memref.layout
        ));
    }
    if memref.align > MOST_ALIGN {
        return Err(format!(
            "expected {name} with an alignment of at most {MOST_ALIGN} bytes, which allocations of a GPU have, found align<{}>",
            memref.align
        ));
    }
    Ok(())
}

/// Checks that each element of an output has a place of its own, as far as the type says it.
pub(super) fn check_apart(name: &str, layout: &Layout) -> Result<(), String> {
    let leaves = layout.shape().leaves().into_iter();
    let mut leaves = leaves.zip(layout.stride().leaves());
    let at_one_place = |(extent, stride): &(&Leaf, &Leaf)| {
        stride.is(0) && extent.as_static().is_none_or(|extent| extent > 1)
    };
    if let Some((extent, _)) = leaves.find(at_one_place) {
        let (count, cure) = match extent.as_static() {
            Some(count) => (format!("{count} elements"), ""),
            None => (
                "elements of which a launch brings the number".to_owned(),
                "; write an extent that is always 1 as 1",
            ),
        };
        return Err(format!(
            "expected elements of {name} that do not overlap, found {layout}: {count} that are 0 apart, all at one place{cure}"
        ));
    }
    let Some(flat) = layout.flat() else {
        return Ok(());
    };
    let mut modes: Vec<_> = flat.modes().iter().filter(|mode| mode.0 > 1).collect();
    let apart = |stride: i64| stride.saturating_abs();
    modes.sort_by_key(|mode| apart(mode.1));
    let mut reach = 1i64;
    for (extent, stride) in modes {
        if apart(*stride) < reach {
            return Err(format!(
                "expected elements of {name} that do not overlap, found {layout}: {extent} elements that are {stride} apart, where \
                 others reach over {reach}"
            ));
        }
        reach = reach.saturating_add((extent - 1).saturating_mul(apart(*stride)));
    }
    Ok(())
}
