//! Measures the time that the host takes for a call, beside the one that the driver takes for its launches alone.

use std::time::Instant;

use serde::Serialize;

use super::CudaDevice;
use super::memory::Buffer;
use super::program::wait_for_all;
use crate::call::{Argument, CallError, Entry, Memory, Stream, TensorView, Workspace};
use crate::device::{Device, DeviceError, Stats};
use crate::package::{Function, Number, Package};
use crate::tensor::HostTensor;

/// Calls that are timed together: as many as the driver queues without waiting for the GPU.
const CALLS: usize = 64;

/// Times of the host for one call, in seconds. Each sample is the mean of some calls in a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LaunchTimes {
    /// The whole call: arguments checked, launches computed and queued.
    pub call: Stats,
    /// The same launches with the same arguments, nothing but `cuLaunchKernelEx`.
    pub driver: Stats,
    /// Kernels of a call.
    pub launches: usize,
    /// Samples of each, in alternation.
    pub rounds: usize,
    /// Calls of a sample.
    pub calls: usize,
}

impl LaunchTimes {
    /// Measures calls of a function on these tensors, copied to a GPU; a scalar is a tensor of one element. Calls with and without what
    /// is done besides the driver's alternate in `rounds` rounds.
    ///
    /// # Errors
    /// [`CallError`], as of a call.
    pub fn measure(
        package: &Package,
        function: &Function,
        tensors: &[HostTensor],
        (ordinal, rounds): (u32, usize),
    ) -> Result<LaunchTimes, CallError> {
        let device = CudaDevice::open(ordinal)?;
        let entry = Entry::on_gpu(package, function, ordinal)?;
        let upload = |tensor: &HostTensor| Buffer::upload(tensor.bytes(), &device.stream);
        let buffers: Vec<Buffer> = tensors.iter().map(upload).collect::<Result<_, _>>()?;
        let mut arguments = Vec::new();
        for ((arg, tensor), buffer) in function.args.iter().zip(tensors).zip(&buffers) {
            if !arg.is_tensor() {
                let number = tensor.integer().map(Number::Integer);
                let real = || Number::Real(tensor.get(0).unwrap_or_default());
                arguments.push(Argument::Number(number.unwrap_or_else(real)));
                continue;
            }
            let (shape, strides) = tensor.layout().flat();
            // SAFETY: the buffer is as long as the tensor, and lives until all has run: `Waits` sees to it.
            let view = unsafe {
                TensorView::from_raw(
                    buffer.pointer(),
                    tensor.element(),
                    shape,
                    Some(strides),
                    Memory::Cuda(ordinal),
                )
            };
            arguments.push(Argument::Tensor(view.map_err(|error| refused(&error))?));
        }
        let bytes = entry.workspace_bytes(&arguments)?;
        let workspace = Buffer::poisoned(bytes as usize, &device.stream)?;
        // SAFETY: as of the arguments; calls follow each other on one stream.
        let memory =
            || unsafe { Workspace::from_raw(workspace.pointer(), bytes, Memory::Cuda(ordinal)) };
        // SAFETY: the stream lives as long as the device.
        let stream = unsafe { Stream::from_raw(device.stream.raw().cast()) };
        let _waits = Waits;
        wait_for_all()?;
        let mut bound = entry.bind(&arguments, memory(), stream)?;
        let (mut whole, mut alone) = (Vec::new(), Vec::new());
        // The first round loads code and is not counted.
        for _ in 0..=rounds.max(1) {
            let start = Instant::now();
            for _ in 0..CALLS {
                entry.launch(&arguments, memory(), stream)?;
            }
            whole.push(start.elapsed().as_secs_f64() / CALLS as f64);
            wait_for_all()?;
            let start = Instant::now();
            for _ in 0..CALLS {
                bound.launch()?;
            }
            alone.push(start.elapsed().as_secs_f64() / CALLS as f64);
            wait_for_all()?;
        }
        let stats = |samples: &[f64]| {
            let name = || DeviceError::NoClock(device.info().name.clone());
            Stats::new(&samples[1..]).ok_or_else(name)
        };
        Ok(LaunchTimes {
            call: stats(&whole)?,
            driver: stats(&alone)?,
            launches: bound.launches(),
            rounds: rounds.max(1),
            calls: CALLS,
        })
    }

    /// Seconds of a call beyond the driver's launches, at the medians.
    pub fn beyond(&self) -> f64 {
        self.call.median - self.driver.median
    }
}

fn refused(error: &crate::tensor::ViewError) -> DeviceError {
    DeviceError::Unsupported {
        place: "a tensor".into(),
        expected: error.expected.clone(),
        found: error.found.clone(),
        cure: "pass another one",
    }
}

/// Memory is not freed while launches use it.
struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        // An error was reported by the call that waited.
        let _ = wait_for_all();
    }
}
