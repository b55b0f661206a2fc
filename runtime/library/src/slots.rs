//! Functions that an export gives names to. Each knows its number, which is that of a function of the package.

use std::ffi::{c_char, c_int, c_void};

use crate::value::Value;

/// Functions that a package may have to be exported.
pub const SLOTS: usize = 256;

macro_rules! slot {
    ($high:literal $low:literal) => {
        const _: () = {
            const NUMBER: usize = 16 * $high + $low;
            const _: () = assert!(NUMBER < SLOTS);

            #[unsafe(export_name = concat!("cute_slot_c_", $high, "_", $low))]
            unsafe extern "C" fn c(
                arguments: *const Value,
                count: i32,
                stream: *mut c_void,
                error: *mut c_char,
                size: usize,
            ) -> c_int {
                // SAFETY: the caller keeps to what the header says of its arguments.
                unsafe { crate::entry::call(NUMBER, (arguments, count), stream, (error, size)) }
            }

            #[unsafe(export_name = concat!("cute_slot_tvm_", $high, "_", $low))]
            unsafe extern "C" fn tvm(
                _handle: *mut c_void,
                arguments: *const Value,
                count: i32,
                result: *mut Value,
            ) -> c_int {
                // SAFETY: the caller keeps to TVM-FFI's convention.
                unsafe { crate::tvm::call(NUMBER, (arguments, count), result) }
            }
        };
    };
}

macro_rules! row {
    ($($high:literal)*) => {
        $(
            slot!($high 0); slot!($high 1); slot!($high 2); slot!($high 3);
            slot!($high 4); slot!($high 5); slot!($high 6); slot!($high 7);
            slot!($high 8); slot!($high 9); slot!($high 10); slot!($high 11);
            slot!($high 12); slot!($high 13); slot!($high 14); slot!($high 15);
        )*
    };
}

row!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

/// Returns the end of the symbols of a slot, behind [`crate::contract::C_SLOT`] or [`crate::contract::TVM_SLOT`].
pub fn symbol(number: usize) -> String {
    format!("{}_{}", number / 16, number % 16)
}
