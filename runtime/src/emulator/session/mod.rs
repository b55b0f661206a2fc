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

mod launch;
mod memory;

use std::collections::{BTreeMap, VecDeque};

use cute_target::Arch;

use super::decode;
use super::device::{Config, unsupported};
use super::finding::{Finding, merge};
use super::global::Global;
use super::program::Kernel;
use super::report::Report;
use super::steer::Steering;
use super::timeline::Timeline;
use super::{address, memory as buffers};
use crate::device::DeviceError;
use crate::ptx;

pub use launch::{Argument, Grid};
pub use memory::{Memory, Pointer};

/// The oldest architecture whose limits the emulator knows; PTX for older ones runs on it, as PTX does.
const OLDEST: &str = "sm_80";

/// A kernel of a module, as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name of the kernel.
    pub name: String,
    /// Name and bytes of each parameter; 0 bytes of one that has no size, such as a texture.
    pub params: Vec<(String, u64)>,
}

/// The facts of a kernel that its text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Bytes of shared memory of a block, without dynamic memory and what the system takes.
    pub shared: u64,
    /// Bytes of memory that each thread has of its own.
    pub local: u64,
    /// Threads of a block, at most, where the kernel says.
    pub threads: Option<u64>,
    /// Blocks of a cluster, where the kernel says.
    pub cluster: Option<[u32; 3]>,
    /// Instructions, without those of functions that it calls.
    pub instructions: usize,
    /// Registers that the emulator keeps for a thread: those that the kernel names, and those of each function that it calls.
    pub registers: usize,
}

/// A module of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Module(usize);

/// The text of a module, and what was decoded of it.
struct Loaded {
    text: String,
    signatures: Vec<Signature>,
    /// Variables that are in memory which was allocated.
    placed: decode::Placed,
    kernels: BTreeMap<String, Kernel>,
}

/// Modules of PTX on the emulator, with memory that they share. Launches happen one after another, and variables of modules keep what
/// the launches before left in them.
pub struct Session {
    config: Config,
    arch: Arch,
    modules: Vec<Loaded>,
    global: Global,
    /// Bytes of memory that is allocated.
    bytes: u64,
    /// Places of memory that has been freed, which are used again, those that were freed first before others.
    freed: VecDeque<usize>,
    /// Places without memory at addresses that a process may have, too.
    shared: VecDeque<usize>,
    /// Tells whether all low addresses are for these.
    keeps_low: bool,
    report: Report,
    /// The order of warps and blocks, where the settings choose it.
    steering: Option<Steering>,
    timelines: Vec<Timeline>,
}

impl Session {
    /// A session with one module. Kernels are looked at when they are launched.
    ///
    /// # Errors
    /// As [`Session::empty`] and [`Session::add_module`].
    pub fn new(text: &str, config: Config) -> Result<Session, DeviceError> {
        let mut session = Session::empty(config)?;
        session.add_module(text)?;
        Ok(session)
    }

    /// A session without modules.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the settings name an architecture that there is not.
    pub fn empty(config: Config) -> Result<Session, DeviceError> {
        Ok(Session {
            steering: config.schedule.clone().map(Steering::new),
            timelines: Vec::new(),
            arch: arch(config.arch.as_deref().unwrap_or(OLDEST))?,
            config,
            modules: Vec::new(),
            global: Global::new(Vec::new()),
            bytes: 0,
            freed: VecDeque::new(),
            shared: VecDeque::new(),
            keeps_low: false,
            report: Report::default(),
        })
    }

    /// Reads a module. Where the settings name no architecture, that of the session becomes the module's target, if that is newer.
    ///
    /// # Errors
    /// [`DeviceError::Ptx`] if the text is no PTX, [`DeviceError::Unsupported`] if its target is no architecture, or if the session has
    /// no room for another module.
    pub fn add_module(&mut self, text: &str) -> Result<Module, DeviceError> {
        let failed = |message: String| DeviceError::Ptx {
            arch: "any GPU".into(),
            message,
        };
        let module = ptx::parse(text).map_err(|error| failed(error.to_string()))?;
        if self.config.arch.is_none()
            && let Some(target) = module.target.first()
        {
            let target = arch(target)?;
            let of = |arch: &Arch| (arch.major, arch.minor, arch.features);
            if self.modules.is_empty() || of(&target) > of(&self.arch) {
                self.arch = target;
            }
        }
        let number = self.modules.len();
        if number == address::MODULES {
            return Err(unsupported(
                "the module".into(),
                format!("at most {} modules that share memory", address::MODULES),
                "one more".to_string(),
                "put kernels into fewer modules",
            ));
        }
        let variables = decode::variables(&module, number, &decode::Placed::new())
            .map_err(|error| failed(error.to_string()))?;
        *self.global.variables_of(number) = variables.iter().map(buffers::variable).collect();
        let kernels = module.items.iter().filter_map(|item| match item {
            ptx::Item::Function(function) if function.is_entry && function.body.is_some() => {
                Some(signature(function))
            }
            _ => None,
        });
        self.modules.push(Loaded {
            text: text.to_string(),
            signatures: kernels.collect(),
            placed: decode::Placed::new(),
            kernels: BTreeMap::new(),
        });
        Ok(Module(number))
    }

    /// The kernels of all modules, in the order of the texts.
    pub fn kernels(&self) -> impl Iterator<Item = &Signature> {
        self.modules.iter().flat_map(|module| &module.signatures)
    }

    /// The kernels of a module, in the order of the text.
    pub fn kernels_of(&self, module: Module) -> &[Signature] {
        &self.modules[module.0].signatures
    }

    /// The facts of a kernel.
    ///
    /// # Errors
    /// [`DeviceError::Ptx`] if the emulator cannot execute the kernel.
    pub fn facts(&mut self, module: Module, kernel: &str) -> Result<KernelFacts, DeviceError> {
        self.decode(module, kernel)?;
        let kernel = &self.modules[module.0].kernels[kernel];
        let functions = kernel.functions.iter();
        Ok(KernelFacts {
            shared: kernel.shared_bytes(0),
            local: kernel.local_bytes,
            threads: kernel.max_threads,
            cluster: kernel.cluster,
            instructions: kernel.insts.len(),
            registers: kernel.rows as usize + functions.map(|f| f.rows.len()).sum::<usize>(),
        })
    }

    /// Bytes that can still be allocated.
    pub fn free_bytes(&self) -> u64 {
        memory::MAX_MEMORY - self.bytes
    }

    /// The architecture that is emulated: that of the settings, or else the newest target of a module, at least `sm_80`.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// The mistakes of all launches so far, causes first.
    pub fn findings(&self) -> Vec<Finding> {
        merge([self.report.findings.clone()])
    }

    /// The report of all launches so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The timelines of all launches so far, where the settings ask for them; [`perfetto`](super::perfetto) writes them down.
    pub fn timelines(&self) -> &[Timeline] {
        &self.timelines
    }

    /// At each choice of the run so far, how many others could have gone on in place of the one who did: what an
    /// [`Exploration`](super::Exploration) asks for. Empty where the settings choose no order.
    pub fn choices(&self) -> Vec<u8> {
        let steering = self.steering.as_ref();
        steering.map(Steering::choices).unwrap_or_default()
    }

    /// The report of the launches since the last call of this, which is forgotten: for programs of many launches.
    pub fn take_report(&mut self) -> Report {
        let halted = self.report.halted;
        let rest = Report {
            halted,
            ..Report::default()
        };
        std::mem::replace(&mut self.report, rest)
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
