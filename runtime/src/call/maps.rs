//! Tensor maps that launches of calls pass: their sizes and strides as registers, which a call gives.

use std::sync::Arc;

use smallvec::SmallVec;

use super::flat::{Numbering, Place, Register};
use crate::Element;
use crate::package::MapParam;
use crate::plan::map_of;
use crate::tensor_map::{TensorMap, is_map_start};

/// A tensor map as a launch makes it.
pub(super) struct FlatMap {
    pub(super) param: MapParam,
    element: Element,
    sizes: Vec<Register>,
    strides: Vec<Register>,
    offset: Option<Register>,
}

/// A parameter that is a tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedMap {
    /// Its place among the parameters.
    pub(crate) param: usize,
    /// All that the map says but the address.
    pub(crate) map: Arc<TensorMap>,
    /// The address where the map begins, or its byte of the workspace, to whose address it is to be added.
    pub(crate) address: u64,
    /// Tells whether the tensor is in the workspace.
    pub(crate) in_workspace: bool,
}

/// A tensor map, before registers are numbered.
pub(super) struct UnnumberedMap {
    pub(super) param: MapParam,
    pub(super) element: Element,
    pub(super) sizes: Vec<Place>,
    pub(super) strides: Vec<Place>,
    pub(super) offset: Option<Place>,
}

impl UnnumberedMap {
    /// The same with registers in the place of what gives them.
    pub(super) fn at(self, numbering: &Numbering) -> FlatMap {
        let registers =
            |places: Vec<Place>| places.iter().map(|at| numbering.register(*at)).collect();
        FlatMap {
            sizes: registers(self.sizes),
            strides: registers(self.strides),
            offset: self.offset.map(|at| numbering.register(at)),
            element: self.element,
            param: self.param,
        }
    }
}

impl FlatMap {
    /// The map, of a tensor at any address; nothing if no map can be so.
    pub(super) fn made(&self, registers: &[i64]) -> Option<TensorMap> {
        let numbers = |all: &[Register]| -> SmallVec<[i64; 8]> {
            all.iter().map(|at| registers[usize::from(*at)]).collect()
        };
        let (sizes, strides) = (numbers(&self.sizes), numbers(&self.strides));
        map_of(&self.param, self.element, &sizes, &strides).ok()
    }

    /// The byte of its tensor, or of the workspace, at which the map begins; nothing if no map can.
    pub(super) fn offset(&self, registers: &[i64]) -> Option<u64> {
        let Some(at) = self.offset else {
            return Some(0);
        };
        let offset = registers[usize::from(at)];
        is_map_start(offset).then_some(offset as u64)
    }
}
