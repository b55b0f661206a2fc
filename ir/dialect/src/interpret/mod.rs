//! The interpreter of views: where each tensor and pointer of a kernel starts, in the numbers of whoever asks.
//!
//! Which op is a view of which operand, which coordinate gives which leaf, how an element and an atom become a place: this says
//! it once, for passes that know integers, that know integers thread by thread, and that make instructions. A pass implements
//! [`Domain`] and calls [`Views::op`] for each op as it comes by. What an op does to a layout it learns from inference
//! ([`traced_view`]), so that an op that is a function of its operands' types needs nothing here.

mod numbers;

// For tests, which stand outside so that the library is compiled once.
#[doc(hidden)]
pub use numbers::Leaves;
pub use numbers::{Digit, Numbers, Trouble, digits};

use crate::{
    args::{ElementArgs, Reinterpretation, leaves_of},
    infer::{Viewed, traced_view},
    mlir::*,
    ops::{cute, cute_nvgpu},
    tensor::atom_view,
    types::{CuteType, MemRef},
    view::{self, View},
};
use cute_layout::{IntTuple, Leaf, int};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// A tensor or a pointer: its type, with the swizzle on byte addresses, and where it starts.
#[derive(Clone, Debug)]
pub struct Place<'c, S> {
    /// The type; a pointer is a tensor of the layout `1:0`.
    pub memref: MemRef<'c>,
    /// The start, as the domain counts it.
    pub start: S,
}

/// Numbers that the integers of a kernel have.
pub trait Domain<'c>: Numbers {
    /// Tells whether it knows where tensors and pointers of this type start.
    fn follows(&self, memref: &MemRef<'c>) -> bool;

    /// The integer of an operand of the op that makes a coordinate.
    fn index(&mut self, value: Val<'c>) -> Result<Self::Index, Self::Error>;

    /// The start of a tensor or a pointer that `op` makes of no other one; nothing where it makes none.
    fn begin(
        &mut self,
        op: Op<'c>,
        memref: &MemRef<'c>,
    ) -> Result<Option<Self::Start>, Self::Error>;

    /// The start of what is at `from`, seen as another type.
    fn seen_as(
        &mut self,
        from: &Place<'c, Self::Start>,
        to: &MemRef<'c>,
    ) -> Result<Self::Start, Self::Error>;

    /// The start of what is at `from` in the shared memory of a block of the cluster.
    fn mapped(
        &mut self,
        from: &Place<'c, Self::Start>,
        _block: Val<'c>,
        to: &MemRef<'c>,
    ) -> Result<Self::Start, Self::Error> {
        self.seen_as(from, to)
    }

    /// The value that stands for a coordinate by now.
    fn stands_for(&self, coordinate: Val<'c>) -> Val<'c> {
        coordinate
    }

    /// A leaf of a coordinate that no op makes of integers.
    fn unmade(&mut self) -> Result<Self::Index, Self::Error> {
        Err(self.error(Trouble::NoLeaves))
    }

    /// The number that an index is, in numbers where indices may be known: views are then taken at it, and checked.
    fn known(&self, _: &Self::Index) -> Option<i64> {
        None
    }

    /// The size of an element in the units of starts: its bytes, or 1.
    fn scale(&self, memref: &MemRef<'c>) -> i64 {
        memref.element_bytes()
    }
}

/// The starts of tensors and pointers that were met.
#[derive(Clone, Debug)]
pub struct Views<'c, S> {
    places: HashMap<ValueKey, Place<'c, S>>,
}

impl<S> Default for Views<'_, S> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
        }
    }
}

fn broken<'c, D: Domain<'c>>(domain: &D, rule: impl ToString) -> D::Error {
    domain.error(Trouble::Broken(rule.to_string()))
}

impl<'c, S: Clone> Views<'c, S> {
    /// Says where a value starts, such as an argument.
    pub fn set(&mut self, value: Val<'c>, place: Place<'c, S>) {
        self.places.insert(key(value), place);
    }

    /// Forgets where a value starts.
    pub fn forget(&mut self, value: Val<'c>) {
        self.places.remove(&key(value));
    }

    /// Returns where a value starts, if that is known.
    pub fn get(&self, value: Val<'c>) -> Option<&Place<'c, S>> {
        self.places.get(&key(value))
    }

    /// Returns where a value starts. Errors: nothing has said it.
    pub fn place<D: Domain<'c, Start = S>>(
        &self,
        domain: &D,
        value: Val<'c>,
    ) -> Result<&Place<'c, S>, D::Error> {
        self.get(value)
            .ok_or_else(|| domain.error(Trouble::NoStart))
    }

    /// Notes where the tensor or the pointer starts that `op` makes; false where it makes none that `domain` follows.
    pub fn op<D: Domain<'c, Start = S>>(
        &mut self,
        domain: &mut D,
        op: Op<'c>,
    ) -> Result<bool, D::Error> {
        if op.result_count() != 1 {
            return Ok(false);
        }
        let result = result_of(op, 0);
        let memref = match CuteType::of(result.r#type()) {
            Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) => memref,
            _ => return Ok(false),
        };
        if !domain.follows(&memref) {
            return Ok(false);
        }
        let place = if let Some(cast) = Reinterpretation::of(op) {
            let memref = memref.in_bytes().map_err(|e| broken(domain, e))?;
            let start = domain.seen_as(self.place(domain, cast.from)?, &memref)?;
            Place { memref, start }
        } else if let Some(map) = cute_nvgpu::ArchMapDsmem::of(op) {
            let memref = memref.in_bytes().map_err(|e| broken(domain, e))?;
            let from = self.place(domain, map.tensor())?;
            let start = domain.mapped(from, map.block(), &memref)?;
            Place { memref, start }
        } else if let Some(add) = cute::AddOffset::of(op) {
            let start = self.offset(domain, add)?;
            Place { memref, start }
        } else if let Some(place) = self.view(domain, op)? {
            place
        } else if let Some(start) = domain.begin(op, &memref)? {
            let memref = memref.in_bytes().map_err(|e| broken(domain, e))?;
            Place { memref, start }
        } else {
            return Ok(false);
        };
        self.set(result, place);
        Ok(true)
    }

    /// Returns the place of one element.
    pub fn element<D: Domain<'c, Start = S>>(
        &self,
        domain: &mut D,
        element: ElementArgs<'c>,
    ) -> Result<Place<'c, S>, D::Error> {
        let Some(CuteType::Coord(coord)) = CuteType::of(element.coord.r#type()) else {
            return Err(broken(domain, "expected a coordinate"));
        };
        let (coord, leaves) = coordinate(domain, element.coord, &coord)?;
        let source = self.place(domain, element.tensor)?;
        let view = view::slice(&source.memref.layout, &coord).map_err(|e| broken(domain, e))?;
        moved(domain, source, &view, &leaves)
    }

    /// Returns the place of the atom of a partition that an op names by `at`.
    pub fn atom<D: Domain<'c, Start = S>>(
        &self,
        domain: &mut D,
        partition: Val<'c>,
        at: &[i64],
    ) -> Result<Place<'c, S>, D::Error> {
        let source = self.place(domain, partition)?;
        let view = atom_view(&source.memref.layout, at).map_err(|e| broken(domain, e))?;
        moved(domain, source, &view, &[])
    }

    /// The start of a pointer that another one and an offset make.
    fn offset<D: Domain<'c, Start = S>>(
        &self,
        domain: &mut D,
        add: cute::AddOffset<'c>,
    ) -> Result<S, D::Error> {
        let from = self.place(domain, add.iter())?;
        let start = from.start.clone();
        let scale = domain.scale(&from.memref);
        let Some(CuteType::IntTuple(offset @ IntTuple::Leaf(_))) =
            CuteType::of(add.offset().r#type())
        else {
            return Err(broken(domain, "expected one integer as an offset"));
        };
        let (offset, leaves) = coordinate(domain, add.offset(), &offset)?;
        match (offset.as_static(), leaves.first()) {
            (Some(elements), _) => domain.add_known(start, elements, scale),
            (None, Some(leaf)) => domain.add_index(start, leaf, scale),
            (None, None) => Err(domain.error(Trouble::NoLeaves)),
        }
    }

    /// The place of a view of a tensor; nothing where `op` makes none.
    fn view<D: Domain<'c, Start = S>>(
        &self,
        domain: &mut D,
        op: Op<'c>,
    ) -> Result<Option<Place<'c, S>>, D::Error> {
        let operands = operands_of(op);
        let mut types = Vec::new();
        let mut leaves = Vec::new();
        let mut coordinates = 0;
        for operand in &operands {
            // A tensor that is known may have another type by now than it is known by.
            let ty = match self.get(*operand) {
                Some(place) => CuteType::MemRef(place.memref.clone()),
                None => match CuteType::of(operand.r#type()) {
                    Some(ty) => ty,
                    None => return Ok(None),
                },
            };
            types.push(match ty {
                CuteType::Coord(coord) if coordinates == 0 => {
                    coordinates += 1;
                    let (coord, indices) = coordinate(domain, *operand, &coord)?;
                    leaves = indices;
                    CuteType::Coord(coord)
                }
                ty => ty,
            });
        }
        let Some(viewed) = traced_view(op, &types) else {
            return Ok(None);
        };
        let Viewed { view, tensor, .. } = viewed.map_err(|e| broken(domain, e))?;
        let source = match operands.get(tensor) {
            Some(source) => self.place(domain, *source)?,
            None => return Err(domain.error(Trouble::NoStart)),
        };
        moved(domain, source, &view, &leaves).map(Some)
    }
}

/// The place of a view of what is at `source`.
fn moved<'c, D: Domain<'c>>(
    domain: &mut D,
    source: &Place<'c, D::Start>,
    view: &View,
    leaves: &[D::Index],
) -> Result<Place<'c, D::Start>, D::Error>
where
    D::Start: Clone,
{
    let scale = domain.scale(&source.memref);
    let start = view.advance(domain, source.start.clone(), leaves, scale)?;
    let memref = view.clone().of(&source.memref, &[]);
    let memref = memref.map_err(|e| broken(domain, e))?;
    Ok(Place { memref, start })
}

/// A coordinate or an integer tuple with what is known of its leaves in place of them, and those that are left dynamic.
fn coordinate<'c, D: Domain<'c>>(
    domain: &mut D,
    value: Val<'c>,
    tuple: &IntTuple,
) -> Result<(IntTuple, Vec<D::Index>), D::Error> {
    let made = defining_op(domain.stands_for(value)).and_then(leaves_of);
    let mut operands = made.map(Vec::into_iter);
    let mut next = || match &mut operands {
        Some(operands) => match operands.next() {
            Some(operand) => domain.index(operand),
            None => Err(domain.error(Trouble::NoLeaves)),
        },
        None => domain.unmade(),
    };
    let mut indices = Vec::new();
    for leaf in tuple.leaves() {
        if matches!(leaf, Leaf::Dynamic(_)) {
            indices.push(next()?);
        }
    }
    let known: Vec<Option<i64>> = indices.iter().map(|index| domain.known(index)).collect();
    let tuple = with_known(tuple, &mut known.iter().copied());
    let left = indices
        .into_iter()
        .zip(known)
        .filter_map(|(index, known)| known.is_none().then_some(index));
    Ok((tuple, left.collect()))
}

/// `tuple`, with numbers in place of those dynamic leaves that are known.
fn with_known(tuple: &IntTuple, known: &mut dyn Iterator<Item = Option<i64>>) -> IntTuple {
    match tuple {
        IntTuple::Leaf(Leaf::Dynamic(_)) => {
            known.next().flatten().map_or_else(|| tuple.clone(), int)
        }
        IntTuple::Leaf(_) => tuple.clone(),
        IntTuple::Tuple(parts) => {
            IntTuple::Tuple(parts.iter().map(|part| with_known(part, known)).collect())
        }
    }
}
