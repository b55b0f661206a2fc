//! Launches of any PTX: memory that the caller allocates, and kernels by name, with no package around them.
//!
//! ```
//! use cute_runtime::emulator::{Config, Grid, Memory, Session};
//!
//! const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
//!     .visible .entry twice(.param .u64 to, .param .u64 from) {\n\
//!     .reg .b32 %r<3>; .reg .b64 %s<4>;\n\
//!     ld.param.u64 %s0, [to]; ld.param.u64 %s1, [from]; mov.u32 %r0, %tid.x;\n\
//!     mul.wide.u32 %s2, %r0, 4; add.s64 %s1, %s1, %s2; ld.global.u32 %r1, [%s1];\n\
//!     add.u32 %r2, %r1, %r1; add.s64 %s0, %s0, %s2; st.global.u32 [%s0], %r2; ret; }";
//!
//! let mut session = Session::new(PTX, Config::default())?;
//! let from: Vec<u8> = (0..64u32).flat_map(u32::to_le_bytes).collect();
//! let from = session.allocate("from", Memory::holding(&from).read_only())?;
//! let to = session.allocate("to", Memory::uninitialized(256))?;
//! session.launch("twice", Grid::new(1, 64), &[to.into(), from.into()])?;
//! assert!(session.findings().is_empty());
//! assert_eq!(session.read(to)[4 * 21..][..4], 42u32.to_le_bytes());
//! # Ok::<(), cute_runtime::device::DeviceError>(())
//! ```

use std::collections::BTreeMap;

use cute_target::Arch;

use super::decode;
use super::device::{Config, check_launch, cluster_of, cores, unsupported};
use super::exec::Launch as Running;
use super::finding::{Finding, merge};
use super::global::{Buffer, Global};
use super::launch::{self, Outcome};
use super::memory;
use super::program::Kernel;
use super::report::Report;
use super::{address, program};
use crate::device::DeviceError;
use crate::plan::Planned;
use crate::ptx;
use crate::tensor::POISON;
use crate::tensor_map::TensorMap;

/// Bytes of all memory of a session, at most: what is known of each byte takes several times as much.
const MAX_MEMORY: u64 = 1 << 30;
/// The largest alignment of memory.
const MAX_ALIGN: u32 = 1 << 20;
/// The oldest architecture whose limits the emulator knows; PTX for older ones runs on it, as PTX does.
const OLDEST: &str = "sm_80";

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

/// Memory to allocate: its contents, its alignment, and who may write it.
#[derive(Clone, Debug)]
pub struct Memory {
    contents: Vec<u8>,
    initialized: bool,
    align: u32,
    writable: bool,
}

impl Memory {
    /// Memory that holds these bytes.
    pub fn holding(bytes: &[u8]) -> Memory {
        Memory {
            contents: bytes.to_vec(),
            initialized: true,
            // As the driver's allocations.
            align: 256,
            writable: true,
        }
    }

    /// Memory of so many bytes that nobody has written: to read it is a finding.
    pub fn uninitialized(bytes: usize) -> Memory {
        Memory {
            contents: vec![POISON; bytes],
            initialized: false,
            ..Memory::holding(&[])
        }
    }

    /// The same memory at an address that is a multiple of so many bytes, and of no more. It is 256 where nothing is said.
    pub fn aligned(self, align: u32) -> Memory {
        Memory { align, ..self }
    }

    /// The same memory, for reading alone: a write is a finding.
    pub fn read_only(self) -> Memory {
        Memory {
            writable: false,
            ..self
        }
    }
}

/// An address in memory that a session has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    buffer: usize,
    address: u64,
}

impl Pointer {
    /// The address so many bytes further, which may lie outside of the memory.
    pub fn offset(self, bytes: i64) -> Pointer {
        Pointer {
            address: self.address.wrapping_add_signed(bytes),
            ..self
        }
    }

    /// The address as a kernel gets it, such as for a structure that has pointers.
    pub fn address(self) -> u64 {
        self.address
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

    /// A tensor map, for a parameter of 128 bytes; its address is that of the memory that it points to.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if it breaks a rule of tensor maps.
    pub fn tensor_map(map: &TensorMap, memory: Pointer) -> Result<Argument, DeviceError> {
        let map = TensorMap {
            address: memory.address,
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
        Argument(pointer.address.to_le_bytes().to_vec())
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

/// A kernel of a module, as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name of the kernel.
    pub name: String,
    /// Name and bytes of each parameter; 0 bytes of one that has no size, such as a texture.
    pub params: Vec<(String, u64)>,
}

/// A module of PTX on the emulator, with memory. Launches happen one after another, and variables of the module keep what the
/// launches before left in them.
pub struct Session {
    config: Config,
    text: String,
    arch: Arch,
    kernels: BTreeMap<String, Kernel>,
    signatures: Vec<Signature>,
    global: Global,
    bytes: u64,
    report: Report,
}

impl Session {
    /// Reads a module. Kernels are looked at when they are launched.
    ///
    /// # Errors
    /// [`DeviceError::Ptx`] if the text is no PTX, [`DeviceError::Unsupported`] if the settings name an architecture that there is not.
    pub fn new(text: &str, config: Config) -> Result<Session, DeviceError> {
        let module = ptx::parse(text).map_err(|error| DeviceError::Ptx {
            arch: "any GPU".into(),
            message: error.to_string(),
        })?;
        let target = module.target.first().copied().unwrap_or(OLDEST);
        let arch = arch(config.arch.as_deref().unwrap_or(target))?;
        let kernels = module.items.iter().filter_map(|item| match item {
            ptx::Item::Function(function) if function.is_entry && function.body.is_some() => {
                Some(signature(function))
            }
            _ => None,
        });
        Ok(Session {
            signatures: kernels.collect(),
            config,
            text: text.to_string(),
            arch,
            kernels: BTreeMap::new(),
            global: Global {
                tensors: Vec::new(),
                variables: Vec::new(),
                allocated: 0.into(),
            },
            bytes: 0,
            report: Report::default(),
        })
    }

    /// The kernels of the module, in the order of the text.
    pub fn kernels(&self) -> &[Signature] {
        &self.signatures
    }

    /// The architecture that is emulated: that of the settings, or else the module's target, at least `sm_80`.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Allocates memory, which findings call by the name.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the alignment is none, or if it is more than the emulator has room for.
    pub fn allocate(&mut self, name: &str, memory: Memory) -> Result<Pointer, DeviceError> {
        let place = || format!("memory {name}");
        if !memory.align.is_power_of_two() || memory.align > MAX_ALIGN {
            return Err(unsupported(
                place(),
                format!("an alignment that is a power of two up to {MAX_ALIGN}"),
                memory.align.to_string(),
                "allocated memory is aligned to 256 bytes",
            ));
        }
        let bytes = memory.contents.len() as u64;
        if bytes > MAX_MEMORY - self.bytes {
            return Err(unsupported(
                place(),
                format!("at most {MAX_MEMORY} bytes of memory"),
                format!("{} bytes with it", self.bytes + bytes),
                "emulate a smaller problem",
            ));
        }
        let buffer = self.global.tensors.len();
        if buffer as u64 + 1 >= address::FIRST_VARIABLE {
            return Err(unsupported(
                place(),
                format!("fewer than {} pieces of memory", address::FIRST_VARIABLE),
                buffer.to_string(),
                "allocate larger pieces",
            ));
        }
        self.bytes += bytes;
        let base = address::tensor(buffer, memory.align);
        let never: &dyn Fn(u64) -> bool = &|_| false;
        let init = (!memory.initialized).then_some(never);
        let made = Buffer::new(name.into(), base, &memory.contents, init, memory.writable);
        self.global.tensors.push(made);
        Ok(Pointer {
            buffer,
            address: base,
        })
    }

    /// Writes bytes where a pointer points to, as a copy from the host does between launches.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if they do not lie in the memory.
    pub fn write(&mut self, to: Pointer, bytes: &[u8]) -> Result<(), DeviceError> {
        let buffer = &mut self.global.tensors[to.buffer];
        let offset = to.address.wrapping_sub(buffer.base);
        if !buffer.holds(offset, bytes.len() as u64) {
            return Err(unsupported(
                format!("a copy to {}", buffer.name),
                format!("bytes inside of its {}", buffer.bytes),
                format!("{} at byte {}", bytes.len(), offset as i64),
                "copy less, or allocate more",
            ));
        }
        buffer.fill(offset, bytes);
        Ok(())
    }

    /// The bytes of the whole memory that a pointer points into.
    pub fn read(&self, memory: Pointer) -> Vec<u8> {
        self.global.tensors[memory.buffer].contents()
    }

    /// The number of bytes of the memory that nobody has written, and the first of them.
    pub fn unwritten(&self, memory: Pointer) -> Option<(u64, u64)> {
        let buffer = &self.global.tensors[memory.buffer];
        let mut bytes = (0..buffer.bytes).filter(|byte| !buffer.initialized(*byte, 1));
        let first = bytes.next()?;
        Some((1 + bytes.count() as u64, first))
    }

    /// Runs a kernel to its end. What it does wrong is in [`Session::findings`].
    ///
    /// # Errors
    /// [`DeviceError::Ptx`] if the emulator cannot execute the kernel, [`DeviceError::Unsupported`] if the launch does not fit it.
    pub fn launch(
        &mut self,
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
        if !self.kernels.contains_key(kernel) {
            let decoded = self.decode(kernel)?;
            self.kernels.insert(kernel.to_string(), decoded);
        }
        let kernel = &self.kernels[kernel];
        let params = parameters(kernel, arguments)?;
        let planned = Planned {
            launch: 0,
            kernel: kernel.name.clone(),
            grid: grid.blocks,
            block: grid.threads,
            cluster: grid.cluster,
            dynamic_smem: grid.shared,
            dependent: false,
            params: Vec::new(),
        };
        check_launch(&planned, kernel, self.arch)?;
        memory::declare(&mut self.global, kernel);
        let run = |global: &mut Global, cores: usize| -> Outcome {
            for buffer in global.tensors.iter_mut().chain(&mut global.variables) {
                buffer.start_launch(kernel.global_granule);
            }
            launch::run(&Running {
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
                cores,
            })
        };
        let blocks: u64 = planned.grid.iter().map(|&n| u64::from(n)).product();
        let cores = cores().min(usize::try_from(blocks).unwrap_or(usize::MAX));
        // Which of two blocks comes second, and is told, is chance where several run at a time. Blocks that run in their order tell
        // the same in every run.
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
        Ok(())
    }

    /// The mistakes of all launches so far, causes first.
    pub fn findings(&self) -> Vec<Finding> {
        merge([self.report.findings.clone()])
    }

    /// The report of all launches so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn decode(&self, kernel: &str) -> Result<program::Kernel, DeviceError> {
        let failed = |message: String| DeviceError::Ptx {
            arch: self.arch.to_string(),
            message,
        };
        let module = ptx::parse(&self.text).map_err(|error| failed(error.to_string()))?;
        decode::kernel(&module, kernel).map_err(|error| failed(error.to_string()))
    }
}

fn arch(text: &str) -> Result<Arch, DeviceError> {
    let bad = || {
        unsupported(
            "the module".into(),
            "an architecture such as sm_90",
            text.to_string(),
            "name one that the PTX is for",
        )
    };
    let found: Arch = text.parse().map_err(|_| bad())?;
    let oldest: Arch = OLDEST.parse().map_err(|_| bad())?;
    let of = |arch: &Arch| (arch.major, arch.minor);
    Ok(if of(&found) < of(&oldest) {
        oldest
    } else {
        found
    })
}

fn signature(function: &ptx::Function<'_>) -> Signature {
    let bytes = |param: &ptx::Param<'_>| {
        let element = u64::from(param.ty.bytes()?) * u64::from(param.vector.unwrap_or(1));
        param.dims.iter().try_fold(element, |product, dim| {
            product.checked_mul(dim.unwrap_or(0))
        })
    };
    let params = function.params.iter();
    Signature {
        name: function.name.to_string(),
        params: params
            .map(|param| (param.name.to_string(), bytes(param).unwrap_or(0)))
            .collect(),
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
