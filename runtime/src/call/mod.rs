//! Calls of functions of packages from programs that have their own memory and streams.
//!
//! An [`Entry`] is a function of a package on one device. It is called with views of tensors ([`TensorView`]) that lie in memory of
//! the caller: slices, tensors of DLPack, memory of cudarc. A call checks its arguments, computes what a launch needs, queues the
//! kernels on the caller's stream and returns; it allocates nothing, synchronises nothing, and works while a graph is captured. On the
//! emulator the same call takes tensors of the host, and returns when it is done.
//!
//! ```no_run
//! use cute_runtime::call::{Entry, Stream, TensorView, Workspace};
//! use cute_runtime::{Package, emulator};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let package = Package::read_file("axpy.cutepkg")?;
//! let entry = Entry::on_emulator(&package, package.function(None)?, emulator::Config::default())?;
//! let (x, mut y) = (vec![1f32; 64], vec![0f32; 64]);
//! let x = TensorView::from_slice(&x, &[64], None)?;
//! let y = TensorView::from_slice_mut(&mut y, &[64], None)?;
//! entry.launch(&[x.into(), y.into(), 2.0f32.into()], Workspace::none(), Stream::DEFAULT)?;
//! # Ok(())
//! # }
//! ```
//!
//! The package says which arguments suit (`docs/package.md`): the same as for [`crate::device::Program`].
//! Errors are values, and name arguments by place and name.

mod arguments;
mod compiled;
mod cudarc_view;
mod dlpack;
mod error;
mod flat;
mod host;
mod maps;
mod view;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_dlpack;
#[cfg(test)]
mod tests_flat;

use std::marker::PhantomData;

pub(crate) use compiled::{Compiled, Prepared, Ready};
pub use cudarc_view::CudarcTensor;
pub use dlpack::{
    DL_CPU, DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED, DLDataType, DLDevice, DLManagedTensor,
    DLManagedTensorVersioned, DLPACK_MAJOR, DLPACK_READ_ONLY, DLPackVersion, DLTensor,
};
pub use error::{ArgumentError, CallError, Problem};
pub use view::{Argument, Memory, TensorView};

pub use crate::tensor::{Native, ViewError};

use crate::cuda::CudaTarget;
use crate::emulator::{self, Emulated};
use crate::package::{Function, Package};

/// A function of a package on a device, for calls from any thread.
pub struct Entry {
    compiled: Compiled,
    target: Target,
}

enum Target {
    Cuda(CudaTarget),
    Emulator(Box<Emulated>),
}

/// A stream of CUDA, of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// The driver's handle.
    handle: usize,
    _stream: PhantomData<&'a ()>,
}

impl<'a> Stream<'a> {
    /// The default stream of the device.
    pub const DEFAULT: Stream<'static> = Stream {
        handle: 0,
        _stream: PhantomData,
    };

    /// A stream by the driver's handle, which is that of the CUDA runtime and of PyTorch, too.
    ///
    /// # Safety
    /// The stream is there for as long as this, and is one of the device of the entries that it is used with.
    pub unsafe fn from_raw(handle: *mut std::ffi::c_void) -> Stream<'a> {
        Stream {
            handle: handle as usize,
            _stream: PhantomData,
        }
    }

    /// Returns the driver's handle.
    pub fn handle(self) -> *mut std::ffi::c_void {
        self.handle as *mut std::ffi::c_void
    }
}

/// Memory of the caller that a call may use besides its arguments. It is private to the call until the call's work is done.
pub struct Workspace<'a>(Kind<'a>);

enum Kind<'a> {
    None,
    Memory {
        address: u64,
        bytes: u64,
        memory: Memory,
    },
    Allocate(&'a mut dyn FnMut(u64) -> Option<u64>),
    OfStream,
}

impl<'a> Workspace<'a> {
    /// No memory, for functions that need none.
    pub fn none() -> Workspace<'static> {
        Workspace(Kind::None)
    }

    /// Memory that the driver allocates in the order of the call's stream, if the call needs any, and takes back behind its work
    /// (`cuMemAllocFromPoolAsync`, from a pool of the entry that keeps at most 64 MiB for later calls), in graphs, too. The emulator has memory of its own.
    pub fn of_stream() -> Workspace<'static> {
        Workspace(Kind::OfStream)
    }

    /// Memory of the host, for the emulator: what a call needs is checked against it, and nothing is written there, as the emulator keeps
    /// books on memory of its own.
    pub fn from_slice(bytes: &'a mut [u8]) -> Workspace<'a> {
        Workspace(Kind::Memory {
            address: bytes.as_mut_ptr() as u64,
            bytes: bytes.len() as u64,
            memory: Memory::Host,
        })
    }

    /// Memory at an address, aligned to 256 bytes.
    ///
    /// # Safety
    /// The memory is there, and nothing else uses it but in the order of the call's stream, until the work of the call is done.
    pub unsafe fn from_raw(address: u64, bytes: u64, memory: Memory) -> Workspace<'a> {
        Workspace(Kind::Memory {
            address,
            bytes,
            memory,
        })
    }

    /// Memory that a function of the caller gives, once, if the call needs any: for so many bytes an address that is aligned to 256
    /// bytes, or nothing.
    ///
    /// # Safety
    /// Memory that `allocate` gives is as [`Workspace::from_raw`] asks.
    pub unsafe fn allocator(allocate: &'a mut dyn FnMut(u64) -> Option<u64>) -> Workspace<'a> {
        Workspace(Kind::Allocate(allocate))
    }
}

/// A call whose arguments were checked and whose launches are known: what is left is queueing them, again and again.
pub struct Bound<'e> {
    entry: &'e Entry,
    prepared: Prepared,
    stream: Stream<'e>,
    arguments: Vec<Argument<'e>>,
}

impl Bound<'_> {
    /// Queues the kernels; on the emulator it runs them.
    ///
    /// # Errors
    /// As of [`Entry::launch`], but for what was checked before.
    pub fn launch(&mut self) -> Result<(), CallError> {
        match &self.entry.target {
            Target::Cuda(target) => target.launch(&mut self.prepared, self.stream.handle())?,
            Target::Emulator(emulated) => {
                host::run(&self.entry.compiled, emulated, &self.arguments)?;
            }
        }
        Ok(())
    }

    /// The number of kernels.
    pub fn launches(&self) -> usize {
        self.prepared.launches.len()
    }
}

/// The alignment of a workspace on a GPU, in bytes.
const WORKSPACE_ALIGN: u64 = 256;

impl Entry {
    /// The function on the GPU with that number, whose primary context is used, as the CUDA runtime does. The code is loaded.
    ///
    /// # Errors
    /// [`CallError::Device`]: no driver, no such GPU, or no code for it.
    pub fn on_gpu(
        package: &Package,
        function: &Function,
        ordinal: u32,
    ) -> Result<Entry, CallError> {
        let target = CudaTarget::load(package, function, ordinal)?;
        let sm_count = target.info().multiprocessors;
        Ok(Entry {
            compiled: Compiled::new(function, Memory::Cuda(ordinal), sm_count)?,
            target: Target::Cuda(target),
        })
    }

    /// The function on the emulator, for tensors of the host.
    ///
    /// # Errors
    /// [`CallError::Device`]: no PTX that it can execute.
    pub fn on_emulator(
        package: &Package,
        function: &Function,
        config: emulator::Config,
    ) -> Result<Entry, CallError> {
        let emulated = Emulated::load(package, function, config)?;
        Ok(Entry {
            compiled: Compiled::new(function, Memory::Host, emulated.multiprocessors())?,
            target: Target::Emulator(Box::new(emulated)),
        })
    }

    /// Returns the memory that tensors must lie in.
    pub fn memory(&self) -> Memory {
        self.compiled.memory()
    }

    /// Returns the function, whose arguments a call takes in their order.
    pub fn function(&self) -> &Function {
        self.compiled.function()
    }

    /// The code that runs, such as `sm_90a cubin`.
    pub fn code(&self) -> &str {
        match &self.target {
            Target::Cuda(target) => target.code(),
            Target::Emulator(emulated) => emulated.code_name(),
        }
    }

    /// The remark on the choice of the code that the user should know, such as that the driver compiled PTX.
    pub fn note(&self) -> Option<&str> {
        match &self.target {
            Target::Cuda(target) => target.note(),
            Target::Emulator(_) => None,
        }
    }

    /// The bytes of workspace that a call with these arguments needs; 0 of most functions.
    ///
    /// # Errors
    /// [`CallError`], as of a call.
    pub fn workspace_bytes(&self, arguments: &[Argument]) -> Result<u64, CallError> {
        self.compiled.workspace_bytes(arguments)
    }

    /// Queues the kernels of the function on a stream and returns; on the emulator it runs them.
    ///
    /// # Errors
    /// [`CallError`]. Nothing was launched, unless the driver refuses a launch or the emulator has findings, both
    /// [`CallError::Device`]; an error of a kernel that runs later is told by the stream.
    pub fn launch(
        &self,
        arguments: &[Argument],
        workspace: Workspace,
        stream: Stream,
    ) -> Result<(), CallError> {
        let mut prepared = Prepared::default();
        let is_of_stream = matches!(workspace.0, Kind::OfStream);
        match &self.target {
            Target::Cuda(target) => {
                self.compiled.prepare(arguments, &mut prepared)?;
                if prepared.workspace > 0 && is_of_stream {
                    let memory = target.allocate(prepared.workspace, stream.handle())?;
                    prepared.place(memory.address());
                    return Ok(target.launch(&mut prepared, stream.handle())?);
                }
                self.give(workspace, &mut prepared)?;
                target.launch(&mut prepared, stream.handle())?;
            }
            Target::Emulator(emulated) => {
                self.compiled.prepare(arguments, &mut prepared)?;
                if !is_of_stream {
                    self.give(workspace, &mut prepared)?;
                }
                host::run(&self.compiled, emulated, arguments)?;
            }
        }
        Ok(())
    }

    /// The call with its arguments checked and its launches computed, which is then queued as often as is wanted. Its tensors, workspace
    /// and stream are those of all of its launches.
    ///
    /// # Errors
    /// As of [`Entry::launch`]; nothing is launched.
    pub fn bind<'e>(
        &'e self,
        arguments: &[Argument<'e>],
        workspace: Workspace,
        stream: Stream<'e>,
    ) -> Result<Bound<'e>, CallError> {
        let mut prepared = Prepared::default();
        self.compiled.prepare(arguments, &mut prepared)?;
        self.give(workspace, &mut prepared)?;
        Ok(Bound {
            entry: self,
            prepared,
            stream,
            arguments: arguments.to_vec(),
        })
    }

    /// Gives the launches of a call the addresses of its workspace, where they need one.
    #[inline]
    fn give(&self, workspace: Workspace, prepared: &mut Prepared) -> Result<(), CallError> {
        if prepared.workspace > 0 {
            let address = self.workspace(prepared.workspace, workspace)?;
            prepared.place(address);
        }
        Ok(())
    }

    /// The address of a workspace of so many bytes.
    fn workspace(&self, needed: u64, workspace: Workspace) -> Result<u64, CallError> {
        let align = match self.memory() {
            Memory::Host => 1,
            Memory::Cuda(_) => WORKSPACE_ALIGN,
        };
        let refused = |found: String| CallError::Workspace {
            function: self.function().name.clone(),
            expected: format!("{needed} bytes of {}, aligned to {align}", self.memory()),
            found,
        };
        let address = match workspace.0 {
            Kind::None => return Err(refused("none".to_owned())),
            Kind::OfStream => {
                let found = "memory of a stream, which each call has for itself";
                return Err(refused(found.to_owned()));
            }
            Kind::Memory {
                address,
                bytes,
                memory,
            } => {
                if bytes < needed || memory != self.memory() {
                    return Err(refused(format!("{bytes} bytes of {memory}")));
                }
                address
            }
            Kind::Allocate(allocate) => match allocate(needed) {
                Some(address) => address,
                None => return Err(refused("an allocator that has none".to_owned())),
            },
        };
        if address == 0 || address % align != 0 || address.checked_add(needed).is_none() {
            return Err(refused(format!("memory at {address:#x}")));
        }
        Ok(address)
    }
}
