//! The errors of the CUDA runtime that this library returns.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};

macro_rules! errors {
    ($($name:ident = $code:literal, $cname:literal, $text:literal;)*) => {
        /// An error of the CUDA runtime (`cudaError_t`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Error { $($name = $code,)* }

        /// The name and the description of an error; none of what this library does not return.
        fn texts(code: c_int) -> Option<(&'static CStr, &'static CStr)> {
            match code {
                0 => Some((c"cudaSuccess", c"no error")),
                $($code => Some(($cname, $text)),)*
                _ => None,
            }
        }
    };
}

errors! {
    InvalidValue = 1, c"cudaErrorInvalidValue", c"an argument is not one that the call takes";
    MemoryAllocation = 2, c"cudaErrorMemoryAllocation", c"out of memory";
    InvalidConfiguration = 9, c"cudaErrorInvalidConfiguration", c"the launch has sizes that the device does not take";
    InvalidSymbol = 13, c"cudaErrorInvalidSymbol", c"the variable is not one of the device";
    InvalidDeviceFunction = 98, c"cudaErrorInvalidDeviceFunction", c"the function is not a kernel that the program has registered";
    InvalidDevice = 101, c"cudaErrorInvalidDevice", c"there is no such device";
    NoKernelImage = 209, c"cudaErrorNoKernelImageForDevice", c"the program has no PTX for the emulated device";
    InvalidPtx = 218, c"cudaErrorInvalidPtx", c"the emulator does not take the program's PTX";
    InvalidResourceHandle = 400, c"cudaErrorInvalidResourceHandle", c"the handle is not one that was made, or it was destroyed";
    IllegalState = 401, c"cudaErrorIllegalState", c"the call is not one for the state that the object is in";
    LaunchTimeout = 702, c"cudaErrorLaunchTimeout", c"a kernel executed more instructions than it may";
    Assert = 710, c"cudaErrorAssert", c"an assertion of a kernel failed";
    HostMemoryAlreadyRegistered = 712, c"cudaErrorHostMemoryAlreadyRegistered", c"the memory is registered already";
    HostMemoryNotRegistered = 713, c"cudaErrorHostMemoryNotRegistered", c"the memory is not registered";
    LaunchFailure = 719, c"cudaErrorLaunchFailure", c"a kernel was stopped";
    CooperativeLaunchTooLarge = 720, c"cudaErrorCooperativeLaunchTooLarge", c"a cooperative launch has more blocks than fit at once";
    NotSupported = 801, c"cudaErrorNotSupported", c"the emulator's CUDA runtime does not have the operation";
    CaptureUnsupported = 900, c"cudaErrorStreamCaptureUnsupported", c"the call is not one that may be made while a stream is captured";
    CaptureInvalidated = 901, c"cudaErrorStreamCaptureInvalidated", c"a call that is wrong in a capture has ended it";
    CaptureMerge = 902, c"cudaErrorStreamCaptureMerge", c"the call would join two captures";
    CaptureUnmatched = 903, c"cudaErrorStreamCaptureUnmatched", c"the capture began in another stream";
    CaptureUnjoined = 904, c"cudaErrorStreamCaptureUnjoined", c"a stream that forked from a capture did not join it";
    CaptureIsolation = 905, c"cudaErrorStreamCaptureIsolation", c"the call would make a capture wait for what is not in it";
    CaptureImplicit = 906, c"cudaErrorStreamCaptureImplicit", c"the legacy stream would wait for a stream that is captured";
    CapturedEvent = 907, c"cudaErrorCapturedEvent", c"the event was recorded in a capture";
    CaptureWrongThread = 908, c"cudaErrorStreamCaptureWrongThread", c"the capture began in another thread";
    GraphExecUpdateFailure = 910, c"cudaErrorGraphExecUpdateFailure", c"the graph is not one that the executable graph can become";
    Unknown = 999, c"cudaErrorUnknown", c"an error of the emulator itself";
}

thread_local! {
    /// The last error of this thread.
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// Notes the outcome of a call for `cudaGetLastError`, and returns its number.
pub(crate) fn noted(outcome: Result<(), Error>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            LAST.set(error as c_int);
            error as c_int
        }
    }
}

/// Returns the last error of this thread, and forgets it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> c_int {
    LAST.replace(0)
}

/// Returns the last error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> c_int {
    LAST.get()
}

/// Returns the description of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: c_int) -> *const c_char {
    texts(code)
        .map_or(c"unrecognized error code", |(_, text)| text)
        .as_ptr()
}

/// Returns the name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: c_int) -> *const c_char {
    texts(code)
        .map_or(c"unrecognized error code", |(name, _)| name)
        .as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_noted_until_they_are_asked_for() {
        assert_eq!(noted(Ok(())), 0);
        assert_eq!(noted(Err(Error::InvalidValue)), 1);
        assert_eq!(noted(Ok(())), 0);
        assert_eq!((cudaPeekAtLastError(), cudaGetLastError()), (1, 1));
        assert_eq!(cudaGetLastError(), 0);
    }

    #[test]
    fn errors_have_their_names() {
        // SAFETY: the functions return static texts.
        let text = |pointer| unsafe { CStr::from_ptr(pointer) };
        assert_eq!(text(cudaGetErrorName(801)), c"cudaErrorNotSupported");
        assert_eq!(text(cudaGetErrorString(0)), c"no error");
        assert_eq!(text(cudaGetErrorName(12345)), c"unrecognized error code");
    }
}
