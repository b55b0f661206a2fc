//! Why a call was refused, or went wrong.

use crate::device::DeviceError;
use crate::tensor::ArgError;

/// The part of an argument that a function cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A number where a tensor is expected, or the other way round.
    Kind,
    /// The type of the elements.
    Element,
    /// The number of dimensions.
    Rank,
    /// The elements of a dimension.
    Shape,
    /// The stride of a dimension.
    Stride,
    /// The extent of the memory that it spans.
    Span,
    /// A null pointer, or one from which the tensor leaves the address space.
    Pointer,
    /// The alignment of the pointer.
    Alignment,
    /// The device whose memory it is.
    Memory,
    /// A tensor that is written and may only be read.
    ReadOnly,
    /// The value of a number.
    Number,
}

/// Why a call launched nothing, or what went wrong on the device.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The number of arguments is wrong.
    #[error("{function}: expected {expected} arguments, found {found}")]
    Count {
        /// The name of the function.
        function: String,
        /// Arguments that the function takes.
        expected: usize,
        /// Arguments that were given.
        found: usize,
    },
    /// An argument does not suit the function.
    #[error("{function}: argument {index} ({name}): expected {expected}, found {found}{}{cure}", if cure.is_empty() { "" } else { "; " })]
    Argument {
        /// The name of the function.
        function: String,
        /// The place of the argument, from 0.
        index: usize,
        /// The name of the argument.
        name: String,
        /// The part of it that does not suit.
        problem: Problem,
        /// The form that the function takes.
        expected: String,
        /// The form that was found.
        found: String,
        /// The cure; may be empty.
        cure: String,
    },
    /// The arguments do not suit the function together, or a launch is beyond what a GPU does.
    #[error(transparent)]
    Facts(#[from] ArgError),
    /// The workspace is not what the call needs.
    #[error(
        "{function}: expected a workspace of {expected}, found {found}; ask for its bytes by Entry::workspace_bytes"
    )]
    Workspace {
        /// The name of the function.
        function: String,
        /// The memory that the call needs.
        expected: String,
        /// The memory that was given.
        found: String,
    },
    /// The device cannot run the function, or reports an error.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl CallError {
    /// The place of the argument that does not suit, from 0; none where it is not one alone.
    pub fn argument(&self) -> Option<usize> {
        match self {
            CallError::Argument { index, .. } => Some(*index),
            _ => None,
        }
    }
}
