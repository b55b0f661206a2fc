//! Matrices whose elements no tile has: those of modes of several leaves, those that a tensor has at coordinates, and rows by index. A kernel
//! takes the whole matrix, and the coordinates of a tile of it.

use super::{
    Gemm,
    function::place_of,
    kernel::Product,
    leaves::{at_least, leaves_of},
    matrix::{Matrix, Role},
};
use cute_arith::gcd;
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    attributes::COMPUTES,
    contract::{self, At, divisor},
    mlir::*,
    types::{self, MemRef, memref_of},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, ops::Value, tuple};
use melior::ir::ValueLike;

/// The places of a matrix's elements, where no tile has them.
#[derive(Clone, Debug)]
pub(super) enum Places<'c> {
    /// The places that the layout gives for the linear coordinates of modes of several leaves.
    Linear,
    /// Elements of a tensor at coordinates.
    At(Box<InTensor<'c>>),
    /// Rows of a tensor by index.
    Rows(Index<'c>),
}

/// The elements of a tensor at coordinates.
#[derive(Clone, Debug)]
pub(super) struct InTensor<'c> {
    pub(super) at: At<'c>,
    /// The values of the leaves that only a launch knows, of the start, the shape and the strides of the coordinates.
    given: Vec<Val<'c>>,
    /// The places of these among the kernel's arguments.
    arguments: Vec<usize>,
}

/// The index tensor of a matrix's rows.
#[derive(Clone, Debug)]
pub(super) struct Index<'c> {
    pub(super) tensor: Val<'c>,
    /// Its place among the kernel's arguments.
    argument: usize,
}

/// The places of an operand's elements, where the op says more than its layout. Errors: what does not suit the tensor.
pub(super) fn places_of<'c>(
    op: cute::Contract<'c>,
    operand: usize,
    tensor: Val<'c>,
) -> Result<Option<Places<'c>>, Failure> {
    let b = Builder::before(op.op());
    Ok(match contract::places_of(op, operand) {
        (Some(coords), _) => {
            let memref = memref_of(tensor).expected(b, "a tensor")?;
            let at = contract::coordinates(&memref, coords).map_err(|e| b.error(e))?;
            let start = b.infer(cute::GET_ITER, &[coords], &[])?;
            let start = b.infer(cute::DEREF_ARITH_TUPLE_ITER, &[start], &[])?;
            let only = [("only_dynamic", b.unit())];
            let mut given = match at.start.is_static() {
                true => Vec::new(),
                false => b.infer_all(cute::GET_SCALARS, &[start], &only)?,
            };
            if !at.places.is_static() {
                let layout = b.infer(cute::GET_LAYOUT, &[coords], &[])?;
                given.extend(leaves_of(b, layout)?.into_iter().flatten());
            }
            Some(Places::At(Box::new(InTensor {
                at,
                given,
                arguments: Vec::new(),
            })))
        }
        (_, Some(index)) => Some(Places::Rows(Index {
            tensor: index,
            argument: 0,
        })),
        _ => None,
    })
}

impl<'c> Places<'c> {
    /// The same with what the kernel needs besides the tensor among its arguments.
    pub(super) fn with_arguments(self, arguments: &mut Vec<Val<'c>>) -> Self {
        match self {
            Places::Linear => self,
            Places::At(own) => {
                let all = own.given.iter();
                let places = all.map(|value| place_of(arguments, *value)).collect();
                Places::At(Box::new(InTensor {
                    arguments: places,
                    ..*own
                }))
            }
            Places::Rows(own) => {
                let argument = place_of(arguments, own.tensor);
                Places::Rows(Index { argument, ..own })
            }
        }
    }
}

impl<'c> Gemm<'c> {
    /// Adds to what is computed where elements of A, B and C are, and leaves the values that only a launch knows.
    pub(super) fn record_places(
        &self,
        contract: cute::Contract<'c>,
        entry: &mut String,
    ) -> Result<(), Failure> {
        let b = Builder::before(self.op);
        let old = attribute_of(self.function, COMPUTES).and_then(array_of);
        let compute = old.map_or(0, |all| all.len());
        for (operand, name) in ["a", "b", "c"].into_iter().enumerate() {
            let (coords, rows) = contract::places_of(contract, operand);
            if let Some(coords) = coords {
                *entry += &format!(", at_{name} = {}", coords.r#type());
            }
            if let Some(rows) = rows {
                let places = super::places(self.op, self.function, &[rows])?;
                *entry += &format!(", rows_{name} = array<i64: {places}>");
            }
            let place = match (operand, self.matrices.exchanged) {
                (0 | 1, true) => 1 - operand,
                _ => operand,
            };
            let Some(Places::At(own)) = &self.matrices.product[place].places else {
                continue;
            };
            if own.given.is_empty() {
                continue;
            }
            let attributes = [
                (
                    "compute",
                    b.i64_attribute(i64::try_from(compute).unwrap_or(0)),
                ),
                ("entry", b.string(&format!("at_{name}"))),
            ];
            b.op(cute::COMPUTE_VALUES, &own.given, &[], &attributes)?;
        }
        Ok(())
    }
}

/// The values of those leaves of coordinates that only a launch knows, by what they are of.
struct Given<'c> {
    start: Vec<Option<Val<'c>>>,
    shape: Vec<Option<Val<'c>>>,
    stride: Vec<Option<Val<'c>>>,
}

impl<'c> InTensor<'c> {
    /// Pairs values with the leaves that they are of.
    fn leaves(&self, values: &[Val<'c>]) -> Given<'c> {
        let mut values = values.iter().copied();
        let mut of = |all: &IntTuple| {
            let leaves = all.leaves().into_iter();
            let leaves = leaves.map(|leaf| {
                if leaf.is_static() {
                    None
                } else {
                    values.next()
                }
            });
            leaves.collect::<Vec<_>>()
        };
        Given {
            start: of(&self.at.start),
            shape: of(self.at.places.shape()),
            stride: of(self.at.places.stride()),
        }
    }

    /// The values of the extents of a mode of the matrix, in the function that launches; none of those that are known.
    pub(super) fn extents(&self, mode: usize) -> Vec<Option<Val<'c>>> {
        let shape = self.at.places.shape();
        let count = |mode: &IntTuple| mode.leaves().len();
        let before: usize = shape.modes()[..mode].iter().map(count).sum();
        let own = shape.modes().get(mode).map_or(0, count);
        self.leaves(&self.given).shape[before..before + own].to_vec()
    }

    /// Coordinates along modes of the tensor that are not known to be inside, with the values of their start and the steps: for what
    /// a launch asserts.
    pub(super) fn reach(
        &self,
        host: Builder<'c>,
        tensor: Val<'c>,
    ) -> Result<Vec<(usize, [Val<'c>; 3])>, Failure> {
        let index = host.index_type();
        let given = self.leaves(&self.given);
        let number = |leaf: &Leaf, value| index_of(host, leaf, value);
        let extents = self.of_tensor(host, tensor)?;
        let places = &self.at.places;
        let mut all = Vec::new();
        for (mode, limit) in self.at.limits.iter().enumerate() {
            let Some(limit) = limit else { continue };
            let first = self.at.start.get(mode).and_then(IntTuple::as_leaf);
            let first = number(first.expected(host, "an integer")?, given.start[mode])?;
            let (mut least, mut most) = (first, first);
            let (zero, one) = (host.constant(index, 0)?, host.constant(index, 1)?);
            let leaves = places
                .shape()
                .leaves()
                .into_iter()
                .zip(places.stride().leaves());
            for (at, (extent, stride)) in leaves.enumerate() {
                let Some((value, along)) = contract::step(stride).map_err(|e| host.error(e))?
                else {
                    continue;
                };
                if along != mode {
                    continue;
                }
                let (extent, value) = (
                    number(extent, given.shape[at])?,
                    number(value, given.stride[at])?,
                );
                let last = host.value(arith::SUBI, &[extent, one], index, &[])?;
                let last = host.value(arith::MULI, &[last, value], index, &[])?;
                let below = host.value(arith::MINSI, &[last, zero], index, &[])?;
                let above = host.value(arith::MAXSI, &[last, zero], index, &[])?;
                least = host.value(arith::ADDI, &[least, below], index, &[])?;
                most = host.value(arith::ADDI, &[most, above], index, &[])?;
            }
            let limit = number(limit, extents[mode])?;
            all.push((mode, [least, most, limit]));
        }
        Ok(all)
    }

    /// The steps of leaves of the matrix that only a launch knows, each with the mode of the tensor that it is along and the leaf's extent.
    pub(super) fn open_steps(
        &self,
        host: Builder<'c>,
    ) -> Result<Vec<(usize, Val<'c>, Val<'c>)>, Failure> {
        let given = self.leaves(&self.given);
        let places = &self.at.places;
        let leaves = places
            .shape()
            .leaves()
            .into_iter()
            .zip(places.stride().leaves());
        let mut all = Vec::new();
        for (at, (extent, stride)) in leaves.enumerate() {
            let step = contract::step(stride).map_err(|e| host.error(e))?;
            let (Some((by, along)), Some(value)) = (step, given.stride[at]) else {
                continue;
            };
            let extent = index_of(host, extent, given.shape[at])?;
            all.push((along, extent, index_of(host, by, Some(value))?));
        }
        Ok(all)
    }

    /// The values of the tensor's extents and then of its strides, an entry for each mode; none of those that are known.
    fn of_tensor(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Vec<Option<Val<'c>>>, Failure> {
        let all = &self.at.tensor;
        let leaves = [all.shape().leaves(), all.stride().leaves()].concat();
        if all.is_static() {
            return Ok(vec![None; leaves.len()]);
        }
        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
        let mut values = leaves_of(b, layout)?.into_iter().flatten();
        // Modes that became one are known.
        let own = leaves.iter().map(|leaf| match leaf.is_static() {
            true => None,
            false => values.next(),
        });
        Ok(own.collect())
    }

    /// The matrix in a kernel, and its coordinates with their limits where elements may be outside.
    fn in_kernel(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        tensor: Val<'c>,
        is_factor: bool,
    ) -> Result<(Val<'c>, Option<(Val<'c>, Val<'c>)>), Failure> {
        let values: Vec<_> = self
            .arguments
            .iter()
            .map(|place| argument(body, *place))
            .collect();
        let mut given = self.leaves(&values);
        let (places, matrix) = (&self.at.places, &self.at.matrix);
        if is_factor {
            // No extent along K is 0: the loop has no turn then.
            let mut at = 0;
            for (mode, extents) in places.shape().modes().iter().enumerate() {
                for extent in extents.leaves() {
                    if let (1, Some(value)) = (mode, given.shape[at]) {
                        given.shape[at] = Some(at_least(b, value, divisor(extent))?);
                    }
                    at += 1;
                }
            }
        }
        let own = self.of_tensor(b, tensor)?;
        let modes = self.at.tensor.shape().leaves().len();
        let strides: Vec<Leaf> = self
            .at
            .tensor
            .stride()
            .leaves()
            .into_iter()
            .cloned()
            .collect();
        // Where the first element is.
        let (mut known, mut sum, mut divides) = (0i64, None, 0);
        for (mode, first) in self.at.start.leaves().into_iter().enumerate() {
            let stride = (&strides[mode], own[modes + mode]);
            let Some(leaf) = contract::product(first, stride.0) else {
                return Err(b.error("a start overflows 64 bits"));
            };
            match leaf {
                Leaf::Static(value) => {
                    known = known.checked_add(value).expected(b, "a start in 64 bits")?
                }
                _ => {
                    divides = gcd(divides, divisor(&leaf));
                    let value = times(b, (first, given.start[mode]), stride, 64)?;
                    sum = Some(match sum {
                        Some(before) => {
                            b.value(arith::ADDI, &[before, value], b.i64_type(), &[])?
                        }
                        None => value,
                    });
                }
            }
        }
        let mut start = b.infer(cute::GET_ITER, &[tensor], &[])?;
        if let Some(sum) = sum {
            let known_value = b.constant(b.i64_type(), known)?;
            let all = b.value(arith::ADDI, &[sum, known_value], b.i64_type(), &[])?;
            let leaf = IntTuple::Leaf(Leaf::Dynamic(Dyn::new(
                64,
                gcd(divides, known.abs()).max(1),
            )));
            let ty = types::int_tuple_type(b.context, &leaf);
            let offset = b.value(cute::MAKE_INT_TUPLE, &[all], ty, &[])?;
            start = b.infer(cute::ADD_OFFSET, &[start, offset], &[])?;
        } else if known != 0 {
            let offset = b.static_value(types::int_tuple_type(b.context, &int(known)))?;
            start = b.infer(cute::ADD_OFFSET, &[start, offset], &[])?;
        }
        // Its strides.
        let mut steps = Vec::new();
        let all = matrix
            .layout
            .stride()
            .leaves()
            .into_iter()
            .zip(places.stride().leaves());
        for (at, (leaf, stride)) in all.enumerate() {
            let Leaf::Dynamic(dynamic) = leaf else {
                continue;
            };
            let (value, mode) = contract::step(stride)
                .map_err(|e| b.error(e))?
                .expected(b, "a step")?;
            let of_tensor = (&strides[mode], own[modes + mode]);
            steps.push(times(
                b,
                (value, given.stride[at]),
                of_tensor,
                dynamic.width,
            )?);
        }
        let shape: Vec<_> = given.shape.iter().copied().flatten().collect();
        let layout = layout_value(b, &matrix.layout, [&shape, &steps])?;
        let ty = match memref_at(start) {
            Some(align) => MemRef {
                align,
                ..matrix.clone()
            }
            .to_type(b.location)?,
            None => return Err(b.error("expected a pointer")),
        };
        let whole = b.value(cute::MAKE_VIEW, &[start, layout], ty, &[])?;
        if !is_factor || self.at.limits.iter().all(Option::is_none) {
            return Ok((whole, None));
        }
        // The coordinates.
        let first: Vec<_> = given.start.iter().copied().flatten().collect();
        let ty = types::int_tuple_type(b.context, &self.at.start);
        let first = match first.is_empty() {
            true => b.static_value(ty)?,
            false => b.value(cute::MAKE_INT_TUPLE, &first, ty, &[])?,
        };
        let first = b.infer(cute::MAKE_ARITH_TUPLE_ITER, &[first], &[])?;
        let stride: Vec<_> = given.stride.iter().copied().flatten().collect();
        let layout = layout_value(b, places, [&shape, &stride])?;
        let ty = types::coord_tensor_type(b.location, &self.at.start, places)?;
        let coords = b.value(cute::MAKE_VIEW, &[first, layout], ty, &[])?;
        let leaf = |limit: &Option<Leaf>| {
            limit
                .clone()
                .map_or(IntTuple::underscore(), |leaf| match leaf {
                    Leaf::Dynamic(dynamic) => {
                        IntTuple::Leaf(Leaf::Dynamic(Dyn::new(dynamic.width, 1)))
                    }
                    leaf => IntTuple::Leaf(leaf),
                })
        };
        let limits = &self.at.limits;
        let values = limits.iter().enumerate();
        let values: Vec<_> = values
            .filter(|(_, limit)| limit.is_some())
            .filter_map(|(mode, _)| own[mode])
            .collect();
        let limits = b.coord(&tuple(limits.iter().map(leaf)), &values)?;
        Ok((whole, Some((coords, limits))))
    }
}

/// An integer as an index, in the function that launches: its value, where only a launch knows it.
fn index_of<'c>(
    host: Builder<'c>,
    leaf: &Leaf,
    value: Option<Val<'c>>,
) -> Result<Val<'c>, Failure> {
    match (leaf, value) {
        (_, Some(value)) => host.value(arith::INDEX_CAST, &[value], host.index_type(), &[]),
        (Leaf::Static(value), None) => host.constant(host.index_type(), *value),
        _ => Err(host.error("expected integers")),
    }
}

/// The alignment of what is at a pointer.
fn memref_at(start: Val<'_>) -> Option<i64> {
    match types::CuteType::of(start.r#type()) {
        Some(types::CuteType::Ptr(memref)) => Some(memref.align),
        _ => None,
    }
}

/// The product of two leaves as a value of so many bits.
fn times<'c>(
    b: Builder<'c>,
    one: (&Leaf, Option<Val<'c>>),
    other: (&Leaf, Option<Val<'c>>),
    width: u32,
) -> Result<Val<'c>, Failure> {
    let ty = if width == 64 {
        b.i64_type()
    } else {
        b.i32_type()
    };
    let number = |(leaf, value): (&Leaf, Option<Val<'c>>)| match (leaf, value) {
        (Leaf::Static(value), _) => b.constant(ty, *value),
        (_, Some(value)) if value.r#type() == ty => Ok(value),
        (_, Some(value)) if width == 64 => b.value(arith::EXTSI, &[value], ty, &[]),
        _ => Err(b.error("expected integers of 32 or 64 bits")),
    };
    match (one.0, other.0) {
        (Leaf::Static(1), _) => number(other),
        (_, Leaf::Static(1)) => number(one),
        _ => b.value(arith::MULI, &[number(one)?, number(other)?], ty, &[]),
    }
}

/// A layout, of which these are the leaves that are not known, those of the shape and then those of the stride.
pub(super) fn layout_value<'c>(
    b: Builder<'c>,
    layout: &Layout,
    [of_shape, of_stride]: [&[Val<'c>]; 2],
) -> Result<Val<'c>, Failure> {
    if layout.is_static() {
        return b.static_value(types::layout_type(b.context, layout));
    }
    let (shape, stride) = (layout.shape(), layout.stride());
    let make = |name: &str, ty, leaves: &[Val<'c>]| match leaves.is_empty() {
        true => b.static_value(ty),
        false => b.value(name, leaves, ty, &[]),
    };
    let shape = make(
        cute::MAKE_SHAPE,
        types::shape_type(b.context, shape),
        of_shape,
    )?;
    let ty = types::value_type(b.context, &Value::Stride(stride.clone()));
    let stride = make(cute::MAKE_STRIDE, ty, of_stride)?;
    b.infer(cute::MAKE_LAYOUT, &[shape, stride], &[])
}

/// A whole matrix in a kernel.
pub(super) struct Whole<'c> {
    pub(super) tensor: Val<'c>,
    /// Its coordinates in a tensor, and their limits.
    pub(super) bounds: Option<(Val<'c>, Val<'c>)>,
}

impl<'c> Matrix<'c> {
    /// Tells whether a kernel takes all of it, and the coordinates of a tile.
    pub(super) fn is_whole(&self) -> bool {
        self.places.is_some()
    }

    /// The matrix of one product in a kernel, with two modes.
    pub(super) fn whole(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        product: Option<Product<'c>>,
    ) -> Result<Whole<'c>, Failure> {
        let tensor = argument(body, self.argument);
        let (tensor, bounds) = match &self.places {
            Some(Places::At(own)) => own.in_kernel(b, body, tensor, self.role == Role::Factor)?,
            Some(Places::Rows(_)) => (self.not_empty(b, tensor)?, None),
            _ => (self.linear(b, tensor)?, None),
        };
        // Indices of rows of a group are of rows of the whole tensor.
        let product = match &self.places {
            Some(Places::Rows(_)) => product.filter(|product| product.rows.is_none()),
            _ => product,
        };
        let own = |tensor| self.of_product(b, tensor, product);
        Ok(Whole {
            tensor: own(tensor)?,
            bounds: match bounds {
                Some((coords, limits)) => Some((own(coords)?, limits)),
                None => None,
            },
        })
    }

    /// The indices of the rows of a product as a matrix of so many columns, all of which are one; none where rows are not taken by index.
    pub(super) fn index(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        columns: i64,
        product: Option<Product<'c>>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let Some(Places::Rows(own)) = &self.places else {
            return Ok(None);
        };
        let tensor = argument(body, own.argument);
        let memref = memref_of(tensor).expected(b, "an index tensor")?;
        let leaves = match memref.layout.is_static() {
            true => Vec::new(),
            false => leaves_of(b, b.infer(cute::GET_LAYOUT, &[tensor], &[])?)?,
        };
        let (of_shape, of_stride) = leaves.split_at(leaves.len() / 2);
        let dynamic = |all: &[Option<Val<'c>>]| all.iter().copied().flatten().collect::<Vec<_>>();
        let mut modes = match memref.layout.rank() {
            2 => memref.layout.modes(),
            _ => vec![memref.layout.clone()],
        };
        let wrong = |e: cute_layout::LayoutError| b.error(e.to_string());
        if modes[0].shape().is_tuple() {
            let whole = modes[0].coalesce().map_err(wrong)?;
            let [shape, stride] =
                [whole.shape(), whole.stride()].map(|all| all.clone().unwrap_single());
            modes[0] = Layout::new(shape, stride).map_err(wrong)?;
        }
        modes.insert(1, Layout::leaf(columns, 0).map_err(wrong)?);
        let whole = Layout::from_modes(&modes).map_err(wrong)?;
        let value = layout_value(b, &whole, [&dynamic(of_shape), &dynamic(of_stride)])?;
        let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
        let ty = MemRef {
            layout: whole,
            ..memref
        }
        .to_type(b.location)?;
        let view = b.value(cute::MAKE_VIEW, &[start, value], ty, &[])?;
        Ok(Some(self.of_product(b, view, product)?))
    }

    /// The value of the extent of a mode of the matrix in a kernel, where it is not known; of modes of several leaves their product.
    pub(super) fn length(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        mode: usize,
    ) -> Result<Option<Val<'c>>, Failure> {
        let place = self.place(mode);
        let extents = self.layout.shape().get(place).expected(b, "an extent")?;
        let count = |mode: &IntTuple| mode.leaves().len();
        let of_tensor = |tensor: Val<'c>, place: usize| {
            let memref = memref_of(tensor).expected(b, "a tensor")?;
            let own = super::leaves::places_of(&memref, place);
            let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
            Ok::<_, Failure>(
                leaves_of(b, layout)?[own]
                    .iter()
                    .copied()
                    .flatten()
                    .collect::<Vec<_>>(),
            )
        };
        let values = match &self.places {
            Some(Places::At(own)) => {
                let values: Vec<_> = own.arguments.iter().map(|at| argument(body, *at)).collect();
                let shape = own.leaves(&values).shape;
                let before: usize = own.at.places.shape().modes()[..place]
                    .iter()
                    .map(count)
                    .sum();
                let all = shape[before..before + count(extents)].iter();
                all.copied().flatten().collect()
            }
            Some(Places::Rows(own)) if place == 0 => {
                let tensor = argument(body, own.argument);
                let memref = memref_of(tensor).expected(b, "an index tensor")?;
                match memref.layout.rank() {
                    1 => {
                        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
                        let leaves = leaves_of(b, layout)?;
                        let of_shape = leaves.len() / 2;
                        leaves[..of_shape].iter().copied().flatten().collect()
                    }
                    _ => of_tensor(tensor, 0)?,
                }
            }
            _ => of_tensor(argument(body, self.argument), place)?,
        };
        let mut known = 1i64;
        let mut wide = false;
        for leaf in extents.leaves() {
            match leaf {
                Leaf::Static(extent) => {
                    known = known
                        .checked_mul(*extent)
                        .expected(b, "an extent in 64 bits")?
                }
                Leaf::Dynamic(dynamic) => wide |= dynamic.width == 64,
                _ => {}
            }
        }
        if values.is_empty() {
            return Ok(None);
        }
        let ty = if wide { b.i64_type() } else { b.i32_type() };
        let mut product = None;
        for value in values {
            let value = match value.r#type() == ty {
                true => value,
                false => b.value(arith::EXTSI, &[value], ty, &[])?,
            };
            product = Some(match product {
                Some(before) => b.value(arith::MULI, &[before, value], ty, &[])?,
                None => value,
            });
        }
        let product = product.expected(b, "an extent")?;
        match known {
            1 => Ok(Some(product)),
            known => Ok(Some(b.value(
                arith::MULI,
                &[product, b.constant(ty, known)?],
                ty,
                &[],
            )?)),
        }
    }
}
