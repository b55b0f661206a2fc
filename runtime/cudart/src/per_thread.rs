//! Functions of programs whose default stream is one for each thread (`--default-stream per-thread`): CUDA's headers give the names a suffix,
//! `_ptsz` where a stream is named and `_ptds` where none is. All streams are at their end here, so that they are the functions without it.

use std::ffi::{c_int, c_uint, c_void};

use crate::abi::{Dim3, Event, LaunchConfig, Stream};
use crate::{launches, memory, registered, streams};

macro_rules! same {
    ($($name:ident = $of:path as ($($argument:ident: $ty:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("Does what `", stringify!($of), "` does.")]
            ///
            /// # Safety
            /// As of that.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $ty),*) -> c_int {
                let function: unsafe extern "C" fn($($ty),*) -> c_int = $of;
                // SAFETY: the caller says so.
                unsafe { function($($argument),*) }
            }
        )*

        /// The names of the functions.
        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

same! {
    __cudaLaunchKernel_ptsz = registered::__cudaLaunchKernel as (
        kernel: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    );
    cudaLaunchKernel_ptsz = launches::cudaLaunchKernel as (
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    );
    cudaLaunchCooperativeKernel_ptsz = launches::cudaLaunchCooperativeKernel as (
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    );
    cudaLaunchKernelExC_ptsz = launches::cudaLaunchKernelExC as (
        config: *const LaunchConfig, function: *const c_void, arguments: *mut *mut c_void,
    );
    cudaLaunchHostFunc_ptsz = streams::cudaLaunchHostFunc as (
        stream: Stream, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void,
    );
    cudaStreamAddCallback_ptsz = streams::cudaStreamAddCallback as (
        stream: Stream, function: Option<unsafe extern "C" fn(Stream, c_int, *mut c_void)>, data: *mut c_void, flags: c_uint,
    );
    cudaStreamQuery_ptsz = streams::cudaStreamQuery as (stream: Stream);
    cudaStreamSynchronize_ptsz = streams::cudaStreamSynchronize as (stream: Stream);
    cudaStreamWaitEvent_ptsz = streams::cudaStreamWaitEvent as (stream: Stream, event: Event, flags: c_uint);
    cudaEventRecord_ptsz = streams::cudaEventRecord as (event: Event, stream: Stream);
    cudaEventRecordWithFlags_ptsz = streams::cudaEventRecordWithFlags as (event: Event, stream: Stream, flags: c_uint);
    cudaMallocAsync_ptsz = memory::cudaMallocAsync as (place: *mut *mut c_void, bytes: usize, stream: Stream);
    cudaFreeAsync_ptsz = memory::cudaFreeAsync as (address: *mut c_void, stream: Stream);
    cudaMemPrefetchAsync_ptsz = memory::cudaMemPrefetchAsync as ();
    cudaMemPrefetchAsync_v2_ptsz = memory::cudaMemPrefetchAsync_v2 as ();
    cudaMemcpy_ptds = memory::cudaMemcpy as (to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int);
    cudaMemcpyAsync_ptsz = memory::cudaMemcpyAsync as (
        to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int, stream: Stream,
    );
    cudaMemcpy2D_ptds = memory::cudaMemcpy2D as (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int,
    );
    cudaMemcpy2DAsync_ptsz = memory::cudaMemcpy2DAsync as (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int, stream: Stream,
    );
    cudaMemcpyToSymbol_ptds = memory::cudaMemcpyToSymbol as (
        symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int,
    );
    cudaMemcpyToSymbolAsync_ptsz = memory::cudaMemcpyToSymbolAsync as (
        symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Stream,
    );
    cudaMemcpyFromSymbol_ptds = memory::cudaMemcpyFromSymbol as (
        to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int,
    );
    cudaMemcpyFromSymbolAsync_ptsz = memory::cudaMemcpyFromSymbolAsync as (
        to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Stream,
    );
    cudaMemset_ptds = memory::cudaMemset as (to: *mut c_void, value: c_int, bytes: usize);
    cudaMemsetAsync_ptsz = memory::cudaMemsetAsync as (to: *mut c_void, value: c_int, bytes: usize, stream: Stream);
    cudaMemset2D_ptds = memory::cudaMemset2D as (to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize);
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    use super::*;
    use crate::unsupported;

    fn without_suffix(name: &str) -> Option<&str> {
        name.strip_suffix("_ptsz")
            .or_else(|| name.strip_suffix("_ptds"))
    }

    #[test]
    fn a_name_with_a_suffix_is_refused_where_the_one_without_is() {
        let refused = |name: &str| unsupported::NAMES.contains(&name);
        let with_suffix = unsupported::NAMES
            .iter()
            .filter_map(|name| without_suffix(name));
        let mut count = 0;
        for name in with_suffix {
            assert!(refused(name), "{name}");
            count += 1;
        }
        assert_ne!(count, 0);
        for name in NAMES {
            let without = without_suffix(name).unwrap();
            assert!(!refused(name) && !refused(without), "{name}");
        }
    }

    #[test]
    fn memory_is_filled_and_copied_in_streams_of_threads() {
        let stream = 2 as Stream;
        let (mut memory, mut words) = (null_mut::<c_void>(), [0u8; 12]);
        let to = words.as_mut_ptr().cast::<c_void>();
        let text = b"abcd".as_ptr().cast::<c_void>();
        // SAFETY: all copies are within the 12 bytes of the two, or the 4 of the text.
        let codes = unsafe {
            [
                cudaMallocAsync_ptsz(&mut memory, 12, stream),
                cudaMemset_ptds(memory, b'x'.into(), 12),
                cudaMemcpyAsync_ptsz(memory, text, 4, 1, stream),
                cudaMemset2D_ptds(memory.wrapping_byte_add(4), 4, b'y'.into(), 2, 2),
                cudaMemcpy_ptds(to, memory, 12, 2),
                cudaMemsetAsync_ptsz(memory, b'z'.into(), 1, stream),
                cudaMemcpy2D_ptds(to.wrapping_byte_add(8), 2, memory, 4, 1, 2, 2),
                cudaStreamSynchronize_ptsz(stream),
                cudaFreeAsync_ptsz(memory, stream),
            ]
        };
        assert_eq!(codes, [0; 9]);
        assert_eq!(&words, b"abcdyyxxzyyx");
        // SAFETY: the address is not followed.
        assert_ne!(unsafe { cudaFreeAsync_ptsz(memory, stream) }, 0);
    }
}
