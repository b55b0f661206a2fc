//! Maps: whole tensors whose elements a region computes of those of others, at the same index or of all along some modes.

use serde::{Deserialize, Serialize};

use super::compute::Role;
use super::manifest::{Access, Arg, Function};
use super::region::{Region, index_name};
use crate::layout::Pattern;

/// A region that is computed for each index of tensors of one shape.
///
/// Its arguments are the elements of `inputs` at the index, each of its tensor's type, as they were before the launch. It gives the
/// elements of `outputs` there, each of its tensor's type. A reduction in it is over all indices of some modes, with the indices of
/// the others fixed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// Indices of the tensors that are read; one may be an output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<usize>,
    /// Indices of the tensors that are written, at least one, each another argument.
    pub outputs: Vec<usize>,
    /// The operations.
    pub region: Region,
}

impl Map {
    /// Its tensors: the inputs `E0`, `E1` and so on, then the outputs `D0`, `D1` and so on.
    pub(super) fn roles(&self) -> Vec<Role> {
        let inputs = self.inputs.iter().enumerate().map(|(i, arg)| Role {
            name: format!("E{i}").into(),
            arg: *arg,
            access: Access::Read,
        });
        let outputs = self.outputs.iter().enumerate().map(|(i, arg)| Role {
            name: format!("D{i}").into(),
            arg: *arg,
            access: match self.inputs.contains(arg) {
                true => Access::ReadWrite,
                false => Access::Write,
            },
        });
        inputs.chain(outputs).collect()
    }

    /// The formulas of its outputs and of the values that they use more than once, with the names of the function's arguments.
    pub(super) fn describe(&self, function: &Function) -> String {
        let rank = self.outputs.first().and_then(|output| {
            let Arg::Tensor { layout, .. } = function.args.get(*output)? else {
                return None;
            };
            Some(Pattern::parse(layout).ok()?.rank())
        });
        let indices: Vec<String> = (0..rank.unwrap_or(0)).map(index_name).collect();
        let indices = indices.join(",");
        let element = |arg: &usize| {
            let name = function.args.get(*arg).map_or("?", Arg::name);
            format!("{name}({indices})")
        };
        let arguments: Vec<String> = self.inputs.iter().map(element).collect();
        let (yields, named) = self.region.formulas(&arguments, "t", function);
        let formulas = self.outputs.iter().map(element).zip(yields).chain(named);
        let formulas: Vec<String> = formulas
            .map(|(name, text)| format!("{name} = {text}"))
            .collect();
        formulas.join(", ")
    }
}

/// Tells whether a mode of those leaves, shapes and strides as far as they are known, has elements that lie at places of their own.
pub(crate) fn varies(leaves: impl IntoIterator<Item = (Option<i64>, Option<i64>)>) -> bool {
    let mut leaves = leaves.into_iter();
    leaves.any(|(shape, stride)| shape != Some(1) && stride != Some(0))
}

/// Tells whether a mode of those leaves has elements that are known to lie at one place.
pub(crate) fn repeats(leaves: impl IntoIterator<Item = (Option<i64>, Option<i64>)>) -> bool {
    let mut leaves = leaves.into_iter();
    leaves.any(|(shape, stride)| shape != Some(1) && stride == Some(0))
}
