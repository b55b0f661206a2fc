//! The device that whole products and maps run on, and how large they are.

use anyhow::Result;
use cute_runtime::device::{Choice, Device, DeviceError, DeviceKind, open};
use cute_runtime::emulator::{Config, Emulator};
use cute_target::Arch;
use std::cell::Cell;

/// Instructions that a block may execute on the emulator.
const INSTRUCTIONS: u64 = 400_000_000;

/// Multiprocessors of an emulator, by its seed; as many as the architecture's GPU has where none are named.
const MULTIPROCESSORS: [Option<u32>; 6] = [None, Some(1), Some(2), Some(3), Some(5), Some(13)];

/// The device that compiled problems run on.
pub struct On {
    /// A GPU and its architecture; none for the emulator, of which each run has one of its own.
    gpu: Option<Box<dyn Device>>,
    /// The architecture to compile for in place of one that is drawn.
    arch: Option<Arch>,
    /// Tells whether a kernel faulted, after which the driver refuses everything.
    is_lost: Cell<bool>,
    /// The number of times that problems are as large as those of CI.
    pub scale: i64,
}

impl On {
    /// The emulator, with problems of CI's size.
    pub fn emulator() -> On {
        On {
            gpu: None,
            arch: None,
            is_lost: Cell::new(false),
            scale: 1,
        }
    }

    /// Opens a device, for problems that are so many times as large and, on the emulator, are compiled for an architecture.
    ///
    /// # Errors
    /// As [`open`], and for a GPU that nothing is compiled for.
    pub fn open(choice: Choice, arch: Option<Arch>, scale: i64) -> Result<On> {
        let device = open(choice, Config::default())?.device;
        let (gpu, arch) = match device.info().kind {
            DeviceKind::Emulator => (None, arch),
            DeviceKind::Cuda => {
                let arch = Arch::for_gpu(device.info().compute_capability)?;
                (Some(device), Some(arch))
            }
        };
        Ok(On {
            gpu,
            arch,
            scale,
            ..On::emulator()
        })
    }

    /// Tells whether it is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// The architecture to compile for, where one was drawn. (A compiler whose memory is limited cannot ask the driver.)
    pub fn arch(&self, drawn: &str) -> String {
        self.arch
            .map_or_else(|| drawn.into(), |arch| arch.to_string())
    }

    /// Calls with the device; `seed` decides what an emulator leaves open.
    pub fn with<T>(&self, seed: u64, call: impl FnOnce(&dyn Device) -> T) -> T {
        match &self.gpu {
            Some(gpu) => call(&**gpu),
            None => call(&Emulator::new(Config {
                seed,
                // Of few there are blocks that have several tiles, and waves that tiles do not fill.
                sms: MULTIPROCESSORS[(seed % MULTIPROCESSORS.len() as u64) as usize],
                max_instructions: INSTRUCTIONS,
                ..Config::default()
            })),
        }
    }

    /// Notes an error of a run.
    pub fn failed(&self, error: &DeviceError) {
        if matches!(error, DeviceError::Driver { fault: true, .. }) {
            self.is_lost.set(true);
        }
    }

    /// The note of a run that ended early as a kernel faulted: no later input can run in this process.
    pub fn lost(&self, index: u64) -> Option<String> {
        let next = index + 1;
        let note = format!("the GPU faulted: go on with --first {next}");
        self.is_lost.get().then_some(note)
    }
}
