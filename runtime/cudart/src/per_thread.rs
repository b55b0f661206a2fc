//! Functions of programs whose default stream is one for each thread (`--default-stream per-thread`): CUDA's headers give the names a suffix,
//! `_ptsz` where a stream is named and `_ptds` where none is. They are the functions without it, for which the default stream is another one.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

use crate::abi::{
    AttributeValue as Value, Copy3D, Dim3, EdgeData, Event, Extent, Handle, HostFunction,
    InstantiateParams, LaunchConfig, PitchedPointer, Stream,
};
use crate::{
    capture, copies, events, execs, launches, memory, pools, registered, settings, streams,
};

thread_local! {
    /// Tells whether the default stream of the call that is made is that of the thread.
    static DEFAULT: Cell<bool> = const { Cell::new(false) };
}

/// Tells whether the default stream is that of the thread.
pub(crate) fn is_default() -> bool {
    DEFAULT.get()
}

/// Makes the default stream that of the thread as long as it lives.
struct OfThread(bool);

impl OfThread {
    fn new() -> OfThread {
        OfThread(DEFAULT.replace(true))
    }
}

impl Drop for OfThread {
    fn drop(&mut self) {
        DEFAULT.set(self.0);
    }
}

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
                let _default = OfThread::new();
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
        stream: Stream, function: Option<HostFunction>, data: *mut c_void,
    );
    cudaStreamAddCallback_ptsz = streams::cudaStreamAddCallback as (
        stream: Stream, function: Option<unsafe extern "C" fn(Stream, c_int, *mut c_void)>, data: *mut c_void, flags: c_uint,
    );
    cudaStreamQuery_ptsz = streams::cudaStreamQuery as (stream: Stream);
    cudaStreamSynchronize_ptsz = streams::cudaStreamSynchronize as (stream: Stream);
    cudaStreamWaitEvent_ptsz = events::cudaStreamWaitEvent as (stream: Stream, event: Event, flags: c_uint);
    cudaEventRecord_ptsz = events::cudaEventRecord as (event: Event, stream: Stream);
    cudaEventRecordWithFlags_ptsz = events::cudaEventRecordWithFlags as (event: Event, stream: Stream, flags: c_uint);
    cudaMallocAsync_ptsz = memory::cudaMallocAsync as (place: *mut *mut c_void, bytes: usize, stream: Stream);
    cudaFreeAsync_ptsz = memory::cudaFreeAsync as (address: *mut c_void, stream: Stream);
    cudaMemPrefetchAsync_ptsz = memory::cudaMemPrefetchAsync as (address: *const c_void, bytes: usize);
    cudaMemPrefetchAsync_v2_ptsz = memory::cudaMemPrefetchAsync_v2 as (address: *const c_void, bytes: usize);
    cudaMemcpy_ptds = copies::cudaMemcpy as (to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int);
    cudaMemcpyAsync_ptsz = copies::cudaMemcpyAsync as (
        to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int, stream: Stream,
    );
    cudaMemcpy2D_ptds = copies::cudaMemcpy2D as (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int,
    );
    cudaMemcpy2DAsync_ptsz = copies::cudaMemcpy2DAsync as (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int, stream: Stream,
    );
    cudaMemcpyToSymbol_ptds = copies::cudaMemcpyToSymbol as (
        symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int,
    );
    cudaMemcpyToSymbolAsync_ptsz = copies::cudaMemcpyToSymbolAsync as (
        symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Stream,
    );
    cudaMemcpyFromSymbol_ptds = copies::cudaMemcpyFromSymbol as (
        to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int,
    );
    cudaMemcpyFromSymbolAsync_ptsz = copies::cudaMemcpyFromSymbolAsync as (
        to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Stream,
    );
    cudaMemset_ptds = copies::cudaMemset as (to: *mut c_void, value: c_int, bytes: usize);
    cudaMemsetAsync_ptsz = copies::cudaMemsetAsync as (to: *mut c_void, value: c_int, bytes: usize, stream: Stream);
    cudaMemset2D_ptds = copies::cudaMemset2D as (to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize);
    cudaMemset2DAsync_ptsz = copies::cudaMemset2DAsync as (
        to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: Stream,
    );
    cudaMemset3D_ptds = copies::cudaMemset3D as (to: PitchedPointer, value: c_int, extent: Extent);
    cudaMemset3DAsync_ptsz = copies::cudaMemset3DAsync as (to: PitchedPointer, value: c_int, extent: Extent, stream: Stream);
    cudaMemcpy3D_ptds = copies::cudaMemcpy3D as (parameters: *const Copy3D);
    cudaMemcpy3DAsync_ptsz = copies::cudaMemcpy3DAsync as (parameters: *const Copy3D, stream: Stream);
    cudaMallocFromPoolAsync_ptsz = pools::cudaMallocFromPoolAsync as (
        place: *mut *mut c_void, bytes: usize, pool: *mut c_void, stream: Stream,
    );
    cudaStreamGetFlags_ptsz = streams::cudaStreamGetFlags as (stream: Stream, place: *mut c_uint);
    cudaStreamGetPriority_ptsz = streams::cudaStreamGetPriority as (stream: Stream, place: *mut c_int);
    cudaStreamGetId_ptsz = streams::cudaStreamGetId as (stream: Stream, place: *mut u64);
    cudaStreamGetDevice_ptsz = streams::cudaStreamGetDevice as (stream: Stream, place: *mut c_int);
    cudaStreamAttachMemAsync_ptsz = streams::cudaStreamAttachMemAsync as (
        stream: Stream, address: *mut c_void, bytes: usize, flags: c_uint,
    );
    cudaStreamGetAttribute_ptsz = settings::cudaStreamGetAttribute as (stream: Stream, attribute: c_int, place: *mut Value);
    cudaStreamSetAttribute_ptsz = settings::cudaStreamSetAttribute as (stream: Stream, attribute: c_int, value: *const Value);
    cudaStreamCopyAttributes_ptsz = settings::cudaStreamCopyAttributes as (to: Stream, from: Stream);
    cudaGraphLaunch_ptsz = execs::cudaGraphLaunch as (exec: Handle, stream: Stream);
    cudaGraphUpload_ptsz = execs::cudaGraphUpload as (exec: Handle, stream: Stream);
    cudaGraphInstantiateWithParams_ptsz = execs::cudaGraphInstantiateWithParams as (
        place: *mut Handle, graph: Handle, parameters: *mut InstantiateParams,
    );
    cudaStreamBeginCapture_ptsz = capture::cudaStreamBeginCapture as (stream: Stream, mode: c_int);
    cudaStreamBeginCaptureToGraph_ptsz = capture::cudaStreamBeginCaptureToGraph as (
        stream: Stream, graph: Handle, before: *const Handle, edges: *const EdgeData, count: usize, mode: c_int,
    );
    cudaStreamEndCapture_ptsz = capture::cudaStreamEndCapture as (stream: Stream, place: *mut Handle);
    cudaStreamIsCapturing_ptsz = capture::cudaStreamIsCapturing as (stream: Stream, place: *mut c_int);
    cudaStreamGetCaptureInfo_ptsz = capture::cudaStreamGetCaptureInfo as (
        stream: Stream, status: *mut c_int, id: *mut u64, graph: *mut Handle, before: *mut *const Handle,
        edges: *mut *const EdgeData, count: *mut usize,
    );
    cudaStreamGetCaptureInfo_v2_ptsz = capture::cudaStreamGetCaptureInfo_v2 as (
        stream: Stream, status: *mut c_int, id: *mut u64, graph: *mut Handle, before: *mut *const Handle, count: *mut usize,
    );
    cudaStreamGetCaptureInfo_v3_ptsz = capture::cudaStreamGetCaptureInfo_v3 as (
        stream: Stream, status: *mut c_int, id: *mut u64, graph: *mut Handle, before: *mut *const Handle,
        edges: *mut *const EdgeData, count: *mut usize,
    );
    cudaStreamUpdateCaptureDependencies_ptsz = capture::cudaStreamUpdateCaptureDependencies as (
        stream: Stream, nodes: *mut Handle, third: usize, fourth: usize, flags: c_uint,
    );
    cudaStreamUpdateCaptureDependencies_v2_ptsz = capture::cudaStreamUpdateCaptureDependencies_v2 as (
        stream: Stream, nodes: *mut Handle, edges: *const EdgeData, count: usize, flags: c_uint,
    );
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
