//! Launches of any PTX: what `cute_opt.Emulator` stands on.

use std::sync::{Mutex, PoisonError};

use cute::failure::Failure;
use cute_runtime::device::DeviceError;
use cute_runtime::emulator::{Argument, Config, Grid, Memory, Pointer, Session, perfetto};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::raised::{named, raised};

/// A session. Calls of several threads follow each other.
#[pyclass(frozen, module = "cute_opt._native")]
pub(crate) struct Emulator(Mutex<Session>);

impl Emulator {
    /// Does something with the session; other threads of Python run beside it.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Session) -> T + Send) -> T {
        py.detach(|| {
            let mut session = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut session)
        })
    }
}

fn refused(py: Python<'_>, error: &DeviceError) -> PyErr {
    match error {
        DeviceError::Ptx { .. } | DeviceError::Unsupported { .. } => {
            named(py, "ArgumentValueError", error.to_string())
        }
        _ => raised(py, Failure::from(error)),
    }
}

#[pymethods]
impl Emulator {
    /// Reads a module.
    #[new]
    #[pyo3(signature = (ptx, seed, arch, max_instructions, schedule, timeline))]
    fn new(
        py: Python<'_>,
        ptx: &str,
        seed: u64,
        arch: Option<String>,
        max_instructions: Option<u64>,
        schedule: Option<&str>,
        timeline: u32,
    ) -> PyResult<Emulator> {
        let default = Config::default();
        let schedule = schedule.map(str::parse).transpose();
        let config = Config {
            seed,
            arch,
            max_instructions: max_instructions.unwrap_or(default.max_instructions),
            schedule: schedule.map_err(|text| named(py, "ArgumentValueError", text))?,
            timeline,
            ..default
        };
        match Session::new(ptx, config) {
            Ok(session) => Ok(Emulator(Mutex::new(session))),
            Err(error) => Err(refused(py, &error)),
        }
    }

    /// Returns the kernels, with names and bytes of their parameters.
    fn kernels(&self, py: Python<'_>) -> Vec<(String, Vec<(String, u64)>)> {
        self.with(py, |session| {
            let kernels = session.kernels();
            let kernel = |kernel: &cute_runtime::emulator::Signature| {
                (kernel.name.clone(), kernel.params.clone())
            };
            kernels.map(kernel).collect()
        })
    }

    /// Allocates memory that holds bytes, or so many that nobody has written, and returns its address.
    fn memory(
        &self,
        py: Python<'_>,
        name: &str,
        contents: Option<Vec<u8>>,
        bytes: usize,
        align: u32,
        read_only: bool,
    ) -> PyResult<u64> {
        let memory = match &contents {
            Some(contents) => Memory::holding(contents),
            None => Memory::uninitialized(bytes),
        };
        let memory = memory.aligned(align);
        let memory = match read_only {
            true => memory.read_only(),
            false => memory,
        };
        let made = self.with(py, |session| session.allocate(name, memory));
        let made = made.map_err(|error| refused(py, &error))?;
        Ok(made.address())
    }

    /// Runs a kernel, with the bytes of each argument.
    fn launch(
        &self,
        py: Python<'_>,
        kernel: &str,
        sizes: ([u32; 3], [u32; 3], [u32; 3]),
        shared: u32,
        arguments: Vec<Vec<u8>>,
    ) -> PyResult<()> {
        let (blocks, threads, cluster) = sizes;
        let grid = Grid {
            blocks,
            threads,
            cluster,
            shared,
        };
        let arguments: Vec<Argument> = arguments
            .iter()
            .map(|bytes| Argument::bytes(bytes))
            .collect();
        let done = self.with(py, |session| session.launch(kernel, grid, &arguments));
        done.map_err(|error| refused(py, &error))
    }

    /// Returns the bytes of the memory that an address points into.
    fn read<'py>(&self, py: Python<'py>, address: u64) -> Bound<'py, PyBytes> {
        let bytes = self.with(py, |session| session.read(Pointer::of_address(address)));
        PyBytes::new(py, &bytes)
    }

    /// Writes bytes to where an address points to.
    fn write(&self, py: Python<'_>, address: u64, bytes: Vec<u8>) -> PyResult<()> {
        let to = Pointer::of_address(address);
        let done = self.with(py, |session| session.write(to, &bytes));
        done.map_err(|error| refused(py, &error))
    }

    /// Returns the findings: the text of each, and its fields as JSON.
    fn findings(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let findings = self.with(py, |session| session.findings());
        let fields = |finding| {
            serde_json::to_string(finding)
                .map_err(|error| named(py, "CuteError", error.to_string()))
        };
        let told = findings
            .iter()
            .map(|finding| Ok((finding.to_string(), fields(finding)?)));
        told.collect()
    }

    /// Returns the report of all launches as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.with(py, |session| session.report().clone());
        serde_json::to_string(&report).map_err(|error| named(py, "CuteError", error.to_string()))
    }

    /// Returns a timeline of the warps as JSON of Chrome's trace events.
    fn trace(&self, py: Python<'_>) -> String {
        self.with(py, |session| perfetto(session.timelines()).to_string())
    }

    /// Returns, at each choice of an order, how many others could have gone on.
    fn choices(&self, py: Python<'_>) -> Vec<u8> {
        self.with(py, |session| session.choices())
    }
}
