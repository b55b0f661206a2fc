//! The devices that execute a package: the boundary between a launch plan and a device.
//!
//! Arguments, verification and reports are the same for every [`Device`]. A program is loaded once,
//! run on host tensors, and measured through a [`Stopwatch`] where the device has a clock that
//! means something.

mod open;
mod select;
mod timing;

pub use open::{Choice, ChoiceError, Opened, open};
pub use select::{Code, SelectError, Selection, select};
pub use timing::{Measurement, Stats, TimingConfig, Work, measure};

use crate::emulator::{Finding, Report};
use crate::package::{Function, Package};
use crate::tensor::{ArgError, HostTensor};

/// The kind of device that executes the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A GPU behind the NVIDIA driver.
    Cuda,
    /// The CPU, reading PTX.
    Emulator,
}

/// The properties that a device states of itself. What the emulator does not have is 0.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DeviceInfo {
    /// The kind of device: a GPU, or the emulator.
    pub kind: DeviceKind,
    /// The name that the device gives itself, such as `NVIDIA H100 PCIe`; `emulator` for the emulator.
    pub name: String,
    /// Major and minor.
    pub compute_capability: (u32, u32),
    /// Bytes.
    pub memory: u64,
    /// Bytes of the second-level cache.
    pub l2: u64,
    /// The number of multiprocessors; of the emulator, cores of the CPU.
    pub multiprocessors: u32,
    /// The most shared memory of a block with the opt-in, bytes.
    pub max_smem: u32,
    /// The newest CUDA version that the driver supports: 13000 is 13.0.
    pub driver: u32,
}

/// Something that executes packages.
pub trait Device {
    /// Returns the properties of the device.
    fn info(&self) -> &DeviceInfo;

    /// Loads the image that suits the device. Nothing is launched.
    ///
    /// # Errors
    /// [`DeviceError`] if no image suits, or a launch asks for more than the device has.
    fn load<'d>(
        &'d self,
        package: &Package,
        function: &Function,
    ) -> Result<Box<dyn Program + 'd>, DeviceError>;
}

/// A function that is loaded on a device.
pub trait Program {
    /// The code that runs, such as `sm_90a cubin`.
    fn code(&self) -> &str;

    /// The remark on the choice of the code that the user should know, such as that the driver compiled PTX.
    fn note(&self) -> Option<&str>;

    /// Runs the launches in order and waits. `tensors` are all arguments, a scalar as a tensor of one
    /// element ([`HostTensor::scalar`]); those that the function writes hold the result after it.
    ///
    /// # Errors
    /// [`DeviceError::Args`] before anything is launched; [`DeviceError::OutOfBounds`] and
    /// [`DeviceError::InputChanged`] if memory was written that must not be; what the device
    /// reports.
    fn run(&mut self, tensors: &mut [HostTensor]) -> Result<(), DeviceError>;

    /// The bytes that the last run left in its workspace, of a function with [`Function::views`]; else none.
    fn workspace(&self) -> &[u8];

    /// The multiprocessors of the device that launches are planned for.
    fn multiprocessors(&self) -> u32;

    /// The report of the last run, on a device that looks.
    fn report(&self) -> Option<&Report> {
        None
    }

    /// Prepares repeated runs on copies of these tensors. The results are not looked at.
    ///
    /// # Errors
    /// [`DeviceError::NoClock`] where time has no meaning, and as [`Program::run`].
    fn stopwatch<'p>(
        &'p mut self,
        tensors: &[HostTensor],
    ) -> Result<Box<dyn Stopwatch + 'p>, DeviceError>;
}

/// Measures a loaded function.
pub trait Stopwatch {
    /// Copies of the arguments that successive runs go through, so that inputs come from memory and
    /// not from the cache.
    fn sets(&self) -> usize;

    /// Queues one timed run and does not wait. Runs of several stopwatches of one device happen in
    /// the order of the calls.
    ///
    /// # Errors
    /// The error that the device reports.
    fn enqueue(&mut self) -> Result<(), DeviceError>;

    /// Waits, and returns the seconds of every run queued since the last call.
    ///
    /// # Errors
    /// The error that the device reports.
    fn collect(&mut self) -> Result<Vec<f64>, DeviceError>;

    /// Seconds from the first of `count` runs in a row to the end of the last, with no event
    /// between them.
    ///
    /// # Errors
    /// The error that the device reports.
    fn batch(&mut self, count: usize) -> Result<f64, DeviceError>;
}

/// The reason why a function did not run, or ran out of bounds.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// No library of the CUDA driver was found.
    #[error(
        "no CUDA driver found (libcuda.so.1); install an NVIDIA driver, or run on a machine that has one; \
         the emulator (Choice::Emulator, Entry::on_emulator) runs packages without a GPU"
    )]
    NoDriver,
    /// The driver finds no GPU, or not the one that was asked for, with the reason.
    #[error(
        "the CUDA driver finds no GPU ({0}); check that nvidia-smi lists one and that CUDA_VISIBLE_DEVICES does not hide it"
    )]
    NoGpu(String),
    /// The driver is older than the oldest one that suffices.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, {}.{} or newer is needed; update the driver",
        found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10
    )]
    OldDriver {
        /// The newest CUDA version that the driver supports: 12040 is 12.4.
        found: u32,
        /// The oldest CUDA version that suffices, in the same form.
        needed: u32,
    },
    /// A call of the driver failed.
    #[error("{what} failed: {code} ({message}){hint}")]
    Driver {
        /// The call, or the task that it was part of.
        what: String,
        /// The driver's name of the error, or its number.
        code: String,
        /// The driver's description of the error.
        message: String,
        /// The cure, with `; ` before it; may be empty.
        hint: String,
        /// A kernel faulted: the driver refuses everything else that this process asks for.
        fault: bool,
    },
    /// No image of the package suits the GPU.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The arguments do not suit the function.
    #[error(transparent)]
    Args(#[from] ArgError),
    /// The package asks for something that the device does not have or cannot do.
    #[error("{place}: expected {expected}, found {found}; {cure}")]
    Unsupported {
        /// The place: `launch of gemm on NVIDIA H100 PCIe`.
        place: String,
        /// The values or the form that the device can take.
        expected: String,
        /// The value or the form that the package has.
        found: String,
        /// The cure that the message ends with.
        cure: &'static str,
    },
    /// The GPU has not enough free memory for the arguments.
    #[error(
        "not enough memory on the GPU: {needed} bytes needed, {free} free; use smaller tensors or free the GPU"
    )]
    Memory {
        /// Bytes of the allocation that failed.
        needed: u64,
        /// Bytes that are free on the GPU.
        free: u64,
    },
    /// A kernel wrote beside a tensor.
    #[error(
        "argument {name}: {count} bytes outside of the tensor were overwritten, the first {distance} bytes {side} it; \
         the kernel writes out of bounds"
    )]
    OutOfBounds {
        /// The name of the argument.
        name: String,
        /// Bytes that were overwritten on that side of the tensor.
        count: usize,
        /// Bytes from the tensor to the nearest of them; 1 is the byte next to it.
        distance: usize,
        /// The side of the tensor: `before` or `after`.
        side: &'static str,
    },
    /// A kernel wrote to an argument that the function only reads.
    #[error(
        "argument {name}: byte {byte} was overwritten, although the function only reads the argument"
    )]
    InputChanged {
        /// The name of the argument.
        name: String,
        /// The first byte that changed, from 0 at the start of the tensor.
        byte: usize,
    },
    /// The emulator cannot read or execute the PTX of an image.
    #[error("the PTX for {arch}: {message}")]
    Ptx {
        /// The architecture of the image, such as `sm_90a`.
        arch: String,
        /// The place in the PTX, and the reason.
        message: String,
    },
    /// The emulator ran the function to its end, or as far as it could, and saw mistakes.
    #[error("{}", listed(.0))]
    Findings(Vec<Finding>),
    /// The device, whose name it holds, has no clock to measure runs with.
    #[error("{0} does not measure time")]
    NoClock(String),
}

impl DeviceError {
    /// Tells whether a kernel ran and did what it must not do, in contrast to one that could not run.
    pub fn is_wrong_result(&self) -> bool {
        matches!(
            self,
            DeviceError::OutOfBounds { .. }
                | DeviceError::InputChanged { .. }
                | DeviceError::Findings(_)
        ) || self.is_fault()
    }

    /// Tells whether a kernel faulted, after which the device is of no use to this process. (CUDA driver
    /// API, `CUresult`.)
    pub fn is_fault(&self) -> bool {
        matches!(self, DeviceError::Driver { fault: true, .. })
    }
}

/// One finding a line.
fn listed(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    lines.join("\n")
}
