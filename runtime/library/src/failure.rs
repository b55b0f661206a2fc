//! The reason why a call did nothing, in the words of this interface.

use cute_runtime::call::{CallError, Problem};
use cute_runtime::device::DeviceError;

/// The kind of a failure: TVM-FFI has a name for each, and C a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arguments of other kinds or types.
    Type,
    /// Arguments that the function does not take.
    Value,
    /// The device, or the library itself.
    Runtime,
    /// The kernel did what it must not do, and the emulator saw it.
    Findings,
}

impl Class {
    /// The number that C functions return.
    pub(crate) fn code(self) -> i32 {
        match self {
            Class::Type => 1,
            Class::Value => 2,
            Class::Runtime => 3,
            Class::Findings => 4,
        }
    }

    /// The kind of an error of TVM-FFI, which Python makes an exception of.
    pub(crate) fn kind(self) -> &'static std::ffi::CStr {
        match self {
            Class::Type => c"TypeError",
            Class::Value => c"ValueError",
            Class::Runtime | Class::Findings => c"RuntimeError",
        }
    }
}

/// The reason why a call did nothing.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind.
    pub class: Class,
    /// The function, the argument's place and name, what was expected, what was found, and the cure.
    pub text: String,
}

impl Failure {
    /// Makes a failure of a kind with a text.
    pub fn new(class: Class, text: impl Into<String>) -> Failure {
        Failure {
            class,
            text: text.into(),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        let class = match &error {
            CallError::Count { .. } => Class::Type,
            CallError::Argument(argument) => match argument.problem {
                Problem::Kind | Problem::Element => Class::Type,
                _ => Class::Value,
            },
            CallError::Facts(_) => Class::Value,
            CallError::Workspace { .. } => Class::Runtime,
            CallError::Device(error) => return Failure::from(error),
        };
        Failure::new(class, error.to_string())
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        Failure::from(&error)
    }
}

impl From<&DeviceError> for Failure {
    fn from(error: &DeviceError) -> Failure {
        let class = match error {
            DeviceError::Findings(_) => Class::Findings,
            _ => Class::Runtime,
        };
        let text = match error {
            DeviceError::NoDriver => "no CUDA driver found (libcuda.so.1); install an NVIDIA driver, or run on a machine that has one; without a \
                 GPU, tensors of the host run on the emulator"
                .to_owned(),
            other => other.to_string(),
        };
        Failure::new(class, text)
    }
}
