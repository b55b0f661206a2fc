//! Launches of a session: grids, arguments, and the run itself.

use super::{Module, Pointer, Session};
use crate::device::DeviceError;
use crate::emulator::decode;
use crate::emulator::device::{check_launch, cluster_of, cores, unsupported};
use crate::emulator::exec::Launch as Running;
use crate::emulator::finding::Finding;
use crate::emulator::global::Global;
use crate::emulator::launch::{self, Outcome};
use crate::emulator::memory;
use crate::emulator::program::Kernel;
use crate::plan::Planned;
use crate::ptx;
use crate::tensor_map::TensorMap;

/// The sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Blocks of a cluster; of one block, those that the kernel says.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
}

impl Grid {
    /// Blocks and threads in a row, without dynamic shared memory.
    pub fn new(blocks: u32, threads: u32) -> Grid {
        Grid {
            blocks: [blocks, 1, 1],
            threads: [threads, 1, 1],
            cluster: [1; 3],
            shared: 0,
        }
    }

    /// The same launch with so many bytes of dynamic shared memory.
    pub fn with_shared(self, bytes: u32) -> Grid {
        Grid {
            shared: bytes,
            ..self
        }
    }
}

/// A value for a parameter of a kernel: the bytes of a number, of an address, or of a structure by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(Vec<u8>);

impl Argument {
    /// The bytes of a parameter that is passed by value.
    pub fn bytes(bytes: &[u8]) -> Argument {
        Argument(bytes.to_vec())
    }

    /// The bytes of the value.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A tensor map, for a parameter of 128 bytes; its address is that of the memory that it points to.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if it breaks a rule of tensor maps.
    pub fn tensor_map(map: &TensorMap, memory: Pointer) -> Result<Argument, DeviceError> {
        let map = TensorMap {
            address: memory.address(),
            ..map.clone()
        };
        match map.to_emulated() {
            Ok(bytes) => Ok(Argument(bytes.to_vec())),
            Err(error) => Err(unsupported(
                "a tensor map".into(),
                "one that TMA can take",
                error.to_string(),
                "see the PTX ISA on tensor maps",
            )),
        }
    }
}

impl From<Pointer> for Argument {
    fn from(pointer: Pointer) -> Argument {
        Argument(pointer.address().to_le_bytes().to_vec())
    }
}

macro_rules! arguments_of_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Argument {
            fn from(value: $number) -> Argument {
                Argument(value.to_le_bytes().to_vec())
            }
        }
    )*};
}

arguments_of_numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Session {
    /// Runs a kernel to its end. What it does wrong is in [`Session::findings`]. Of several modules, the first that has a kernel of the name
    /// is meant.
    ///
    /// # Errors
    /// [`DeviceError::Ptx`] if the emulator cannot execute the kernel, [`DeviceError::Unsupported`] if the launch does not fit it.
    pub fn launch(
        &mut self,
        kernel: &str,
        grid: Grid,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let has = |module: &super::Loaded| module.signatures.iter().any(|s| s.name == kernel);
        // The first module says that none has it.
        let module = self.modules.iter().position(has).unwrap_or(0);
        self.launch_of(Module(module), kernel, grid, arguments)
    }

    /// Runs a kernel of a module, as [`Session::launch`].
    ///
    /// # Errors
    /// As [`Session::launch`].
    pub fn launch_of(
        &mut self,
        module: Module,
        kernel: &str,
        grid: Grid,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        if self.report.halted {
            return Err(unsupported(
                format!("launch of {kernel}"),
                "launches before it that ended",
                "one that was stopped".to_string(),
                "mend what the findings say",
            ));
        }
        self.check_launch_of(module, kernel, grid)?;
        let kernel = &self.modules[module.0].kernels[kernel];
        let params = parameters(kernel, arguments)?;
        let planned = planned(kernel, grid);
        let run = |global: &mut Global, cores: usize| -> Outcome {
            global.start_launch(kernel.global_granule, cores == 1);
            launch::run(&Running {
                steering: self.steering.as_ref(),
                watched: self.config.timeline,
                kernel,
                global,
                params: &params,
                grid: planned.grid,
                block: planned.block,
                cluster: cluster_of(&planned, kernel),
                dynamic_smem: planned.dynamic_smem,
                arch: self.arch,
                registers: 0,
                seed: self.config.seed,
                limit: self.config.max_instructions,
                stop_at_findings: self.config.stop_at_findings,
                cores,
            })
        };
        let blocks: u64 = planned.grid.iter().map(|&n| u64::from(n)).product();
        let cores = match self.steering {
            Some(_) => 1,
            None => cores().min(usize::try_from(blocks).unwrap_or(usize::MAX)),
        };
        memory::declare(&mut self.global, kernel);
        // Which of two blocks comes second, and is told, is chance where several run at a time. Blocks that run in their order tell
        // the same in every run, and where the other access stands, which takes memory.
        let before = (cores > 1).then(|| self.global.snapshot());
        let mut outcome = run(&mut self.global, cores);
        let chance = |finding: &Finding| finding.kind.is_between_blocks();
        if let Some(before) = before
            && outcome.findings.iter().any(chance)
        {
            let after = self.global.snapshot();
            self.global.restore(&before);
            let again = run(&mut self.global, 1);
            if again.findings.is_empty() {
                self.global.restore(&after);
            } else {
                outcome = again;
            }
        }
        self.report.launches.push(outcome.report);
        self.report.findings.extend(outcome.findings);
        self.report.printed.push_str(&outcome.printed);
        self.report.halted = outcome.halted;
        self.timelines.extend(outcome.timeline);
        Ok(())
    }

    /// Checks that a launch of these sizes fits the kernel and the architecture, and runs nothing.
    ///
    /// # Errors
    /// As [`Session::launch`].
    pub fn check_launch_of(
        &mut self,
        module: Module,
        kernel: &str,
        grid: Grid,
    ) -> Result<(), DeviceError> {
        self.decode(module, kernel)?;
        let kernel = &self.modules[module.0].kernels[kernel];
        check_launch(&planned(kernel, grid), kernel, self.arch)
    }

    /// Decodes a kernel that was not launched before.
    pub(super) fn decode(&mut self, module: Module, kernel: &str) -> Result<(), DeviceError> {
        let failed = |message: String| DeviceError::Ptx {
            arch: self.arch.to_string(),
            message,
        };
        let Some(loaded) = self.modules.get_mut(module.0) else {
            return Err(failed(format!("no module, so no kernel {kernel}")));
        };
        if !loaded.kernels.contains_key(kernel) {
            let parsed = ptx::parse(&loaded.text).map_err(|error| failed(error.to_string()))?;
            let decoded = decode::kernel_with(&parsed, module.0, &loaded.placed, kernel);
            let decoded = decoded.map_err(|error| failed(error.to_string()))?;
            loaded.kernels.insert(kernel.to_string(), decoded);
        }
        Ok(())
    }
}

/// The launch of a kernel, whose parameters are checked elsewhere.
fn planned(kernel: &Kernel, grid: Grid) -> Planned {
    Planned {
        launch: 0,
        kernel: kernel.name.clone(),
        grid: grid.blocks,
        block: grid.threads,
        cluster: grid.cluster,
        dynamic_smem: grid.shared,
        dependent: false,
        params: Vec::new(),
    }
}

/// The bytes of a kernel's parameters.
fn parameters(kernel: &Kernel, arguments: &[Argument]) -> Result<Vec<u8>, DeviceError> {
    let place = || format!("launch of {}", kernel.name);
    if kernel.params.len() != arguments.len() {
        let names: Vec<String> = kernel
            .params
            .iter()
            .map(|(name, _, bytes)| format!("{name} of {bytes} bytes"))
            .collect();
        return Err(unsupported(
            place(),
            format!("{} arguments ({})", names.len(), names.join(", ")),
            arguments.len().to_string(),
            "pass one for each parameter",
        ));
    }
    let mut params = vec![0; kernel.param_bytes as usize];
    for ((name, offset, bytes), Argument(value)) in kernel.params.iter().zip(arguments) {
        if *bytes != value.len() as u64 {
            return Err(unsupported(
                format!("{}, parameter {name}", place()),
                format!("{bytes} bytes"),
                format!("{} bytes", value.len()),
                "pass a value of the parameter's type",
            ));
        }
        params[*offset as usize..][..value.len()].copy_from_slice(value);
    }
    Ok(params)
}
