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
    pub kind: DeviceKind,
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
    /// What the device reports.
    fn enqueue(&mut self) -> Result<(), DeviceError>;

    /// Waits, and returns the seconds of every run queued since the last call.
    ///
    /// # Errors
    /// What the device reports.
    fn collect(&mut self) -> Result<Vec<f64>, DeviceError>;

    /// Seconds from the first of `count` runs in a row to the end of the last, with no event
    /// between them.
    ///
    /// # Errors
    /// What the device reports.
    fn batch(&mut self, count: usize) -> Result<f64, DeviceError>;
}

/// Why a function did not run, or ran out of bounds.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error(
        "no CUDA driver found (libcuda.so.1); install an NVIDIA driver, or run on a machine that has one; \
         `cute-run --device=emulator` runs a package without a GPU"
    )]
    NoDriver,
    #[error(
        "the CUDA driver finds no GPU ({0}); check that nvidia-smi lists one and that CUDA_VISIBLE_DEVICES does not hide it"
    )]
    NoGpu(String),
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, {}.{} or newer is needed; update the driver",
        found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10
    )]
    OldDriver { found: u32, needed: u32 },
    #[error("{what} failed: {code} ({message}){hint}")]
    Driver {
        what: String,
        code: String,
        message: String,
        hint: String,
        /// A kernel faulted: the driver refuses everything else that this process asks for.
        fault: bool,
    },
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Args(#[from] ArgError),
    #[error("{place}: expected {expected}, found {found}; {cure}")]
    Unsupported {
        place: String,
        expected: String,
        found: String,
        cure: &'static str,
    },
    #[error(
        "not enough memory on the GPU: {needed} bytes needed, {free} free; use smaller tensors or free the GPU"
    )]
    Memory { needed: u64, free: u64 },
    #[error(
        "argument {name}: {count} bytes outside of the tensor were overwritten, the first {distance} bytes {side} it; \
         the kernel writes out of bounds"
    )]
    OutOfBounds {
        name: String,
        count: usize,
        distance: usize,
        side: &'static str,
    },
    #[error(
        "argument {name}: byte {byte} was overwritten, although the function only reads the argument"
    )]
    InputChanged { name: String, byte: usize },
    #[error("the PTX for {arch}: {message}")]
    Ptx { arch: String, message: String },
    /// The emulator ran the function to its end, or as far as it could, and saw mistakes.
    #[error("{}", listed(.0))]
    Findings(Vec<Finding>),
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
