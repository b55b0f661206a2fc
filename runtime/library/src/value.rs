//! Arguments as C passes them: tagged values of 16 bytes, which are TVM-FFI's `TVMFFIAny` (`tvm/ffi/c_api.h`).

use std::ffi::c_void;

use cute_runtime::Number;
use cute_runtime::call::{Argument, DLTensor, TensorView};

use crate::failure::{Class, Failure};

/// No value: the default of the package.
pub(crate) const NONE: i32 = 0;
/// An integer.
pub(crate) const INTEGER: i32 = 1;
/// A truth value, as an integer.
const BOOL: i32 = 2;
/// A number of type `double`.
pub(crate) const REAL: i32 = 3;
/// A pointer to a `DLTensor`.
pub(crate) const TENSOR: i32 = 7;
/// TVM-FFI's own tensors: an object, whose `DLTensor` is behind its header.
const TENSOR_OBJECT: i32 = 70;

/// Bytes of the header of an object of TVM-FFI.
pub(crate) const HEADER: usize = 24;

/// An argument.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Value {
    kind: i32,
    padding: u32,
    bits: u64,
}

impl Value {
    /// The value that says nothing: the default of the package, and the result of a function.
    pub const NOTHING: Value = Value {
        kind: NONE,
        padding: 0,
        bits: 0,
    };

    /// An integer.
    pub fn integer(number: i64) -> Value {
        Value::new(INTEGER, number as u64)
    }

    /// A real number.
    pub fn real(number: f64) -> Value {
        Value::new(REAL, number.to_bits())
    }

    /// The address of a tensor, which is looked at when the function is called.
    pub fn tensor(tensor: *const DLTensor) -> Value {
        Value::new(TENSOR, tensor as u64)
    }

    /// A value of that kind.
    pub(crate) fn new(kind: i32, bits: u64) -> Value {
        Value {
            kind,
            padding: 0,
            bits,
        }
    }

    /// The argument; `place` words where it is, for errors.
    ///
    /// # Safety
    /// A pointer to a tensor is null or one to a `DLTensor` that is there for `'a`, with the numbers of its shape and strides; of its memory,
    /// the same as of [`TensorView::from_raw`].
    ///
    /// # Errors
    /// A value that is no argument, or a tensor that no function takes.
    #[inline]
    pub(crate) unsafe fn argument<'a>(
        &self,
        place: impl Fn() -> String,
    ) -> Result<Argument<'a>, Failure> {
        let refused =
            |class, text: String| Err(Failure::new(class, format!("{}: {text}", place())));
        let address = match self.kind {
            TENSOR => self.bits as usize,
            TENSOR_OBJECT if self.bits != 0 => self.bits as usize + HEADER,
            TENSOR_OBJECT => 0,
            INTEGER | BOOL => return Ok(Argument::Number(Number::Integer(self.bits as i64))),
            REAL => return Ok(Argument::Number(Number::Real(f64::from_bits(self.bits)))),
            NONE => return Ok(Argument::Default),
            other => {
                let text = format!(
                    "expected a tensor (type index {TENSOR} or {TENSOR_OBJECT}), an integer ({INTEGER}) or a real number ({REAL}), found type index {other}"
                );
                return refused(Class::Type, text);
            }
        };
        if address == 0 || !address.is_multiple_of(align_of::<DLTensor>()) {
            let found = match address {
                0 => "a null pointer".to_owned(),
                _ => format!("the address {address:#x}"),
            };
            return refused(
                Class::Value,
                format!("expected a pointer to a DLTensor, found {found}"),
            );
        }
        // SAFETY: it is not null, is aligned, and is a tensor's, as the caller says.
        let tensor: &'a DLTensor = unsafe { &*(address as *const c_void).cast() };
        // SAFETY: the caller says so.
        match unsafe { TensorView::from_dlpack(tensor) } {
            Ok(view) => Ok(Argument::Tensor(view)),
            Err(error) => refused(Class::Type, error.to_string()),
        }
    }
}
