//! Tensor maps that launches of calls pass: their sizes and strides as registers, which a call gives.

use std::sync::Arc;

use smallvec::SmallVec;

use super::flat::{Numbering, Place, Register};
use crate::Element;
use crate::package::MapParam;
use crate::plan::map_of;
use crate::tensor_map::TensorMap;

/// A tensor map as a launch makes it.
pub(super) struct FlatMap {
    pub(super) param: MapParam,
    /// The byte of the workspace at which its tensor begins; none of an argument.
    pub(super) start: Option<Register>,
    element: Element,
    sizes: Vec<Register>,
    strides: Vec<Register>,
}

/// A parameter that is a tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedMap {
    /// Its place among the parameters.
    pub(crate) param: usize,
    /// All that the map says but the address.
    pub(crate) map: Arc<TensorMap>,
    /// The address of the tensor, or its first byte in the workspace, to whose address it is to be added.
    pub(crate) address: u64,
    /// Tells whether the tensor is in the workspace.
    pub(crate) in_workspace: bool,
}

/// A tensor map, before registers are numbered.
pub(super) struct UnnumberedMap {
    pub(super) param: MapParam,
    pub(super) start: Option<Place>,
    pub(super) element: Element,
    pub(super) sizes: Vec<Place>,
    pub(super) strides: Vec<Place>,
}

impl UnnumberedMap {
    /// The same with registers in the place of what gives them.
    pub(super) fn at(self, numbering: &Numbering) -> FlatMap {
        let registers =
            |places: Vec<Place>| places.iter().map(|at| numbering.register(*at)).collect();
        FlatMap {
            start: self.start.map(|start| numbering.register(start)),
            sizes: registers(self.sizes),
            strides: registers(self.strides),
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
}
