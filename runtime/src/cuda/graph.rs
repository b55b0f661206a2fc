//! Launches that the driver queues at once, so that what is measured does not wait for the host.

use super::driver::{Stream, check};
use crate::device::DeviceError;
use cudarc::driver::sys;
use std::ptr;

/// The work that was queued on a stream, to be done again and again. (CUDA C++ Programming Guide, "CUDA Graphs".)
pub(super) struct Graph(sys::CUgraphExec);

impl Graph {
    /// Records what `queue` puts on the stream, which is not done.
    pub(super) fn record(
        stream: &Stream,
        queue: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<Graph, DeviceError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(stream.raw(), mode)
        })?;
        let queued = queue();
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is being recorded; the pointer is to a live variable.
        let ended = unsafe { sys::cuStreamEndCapture(stream.raw(), &mut graph) };
        let made = queued
            .and_then(|()| check("cuStreamEndCapture", ended))
            .and_then(|()| {
                let mut exec = ptr::null_mut();
                // SAFETY: the graph was recorded; the pointer is to a live variable.
                check("cuGraphInstantiate", unsafe {
                    sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0)
                })?;
                Ok(Graph(exec))
            });
        if !graph.is_null() {
            // SAFETY: the graph is owned, and what was made of it does not need it.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        made
    }

    /// Queues all of it.
    pub(super) fn launch(&self, stream: &Stream) -> Result<(), DeviceError> {
        // SAFETY: both handles live.
        check("cuGraphLaunch", unsafe {
            sys::cuGraphLaunch(self.0, stream.raw())
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the handle is owned; the driver keeps what is under way. An error here is one of an earlier launch.
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}
