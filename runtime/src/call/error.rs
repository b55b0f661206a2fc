//! The reason why a call was refused, or went wrong.

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

/// An argument that does not suit a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{function}: argument {index} ({name}): expected {expected}, found {found}{}{cure}", if cure.is_empty() { "" } else { "; " })]
pub struct ArgumentError {
    /// The name of the function.
    pub function: String,
    /// The place of the argument, from 0.
    pub index: usize,
    /// The name of the argument.
    pub name: String,
    /// The part of it that does not suit.
    pub problem: Problem,
    /// The form that the function takes.
    pub expected: String,
    /// The form that was found.
    pub found: String,
    /// The cure; may be empty.
    pub cure: String,
}

/// The reason why a call launched nothing, or what went wrong on the device.
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
    #[error(transparent)]
    Argument(#[from] Box<ArgumentError>),
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
    /// The argument that does not suit; none where it is not one alone.
    pub fn argument(&self) -> Option<&ArgumentError> {
        match self {
            CallError::Argument(error) => Some(error),
            _ => None,
        }
    }
}
