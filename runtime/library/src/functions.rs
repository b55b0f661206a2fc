//! Packages that are ready for calls, and their functions on the devices where they were called.

use std::ffi::c_void;
use std::sync::OnceLock;

use cute_runtime::call::{
    Argument, ArgumentError, CallError, Entry, Memory, Problem, Stream, Workspace,
};
use cute_runtime::package::Function;
use cute_runtime::{Package, emulator};
use smallvec::SmallVec;

use crate::emulated;
use crate::entry::guarded;
use crate::failure::{Class, Failure};
use crate::fork;
use crate::value::Value;

/// GPUs that a process may use.
const GPUS: usize = 64;

/// A package, ready for calls from any thread.
pub struct Loaded {
    package: Package,
    /// The functions in the order of the package's.
    functions: Box<[Places]>,
}

/// The surroundings of a call: what a caller has besides arguments.
pub(crate) trait Environment {
    /// Memory of a GPU, which is given back by dropping it.
    type Memory;

    /// The stream of a GPU.
    fn stream(&self, gpu: u32) -> *mut c_void;

    /// So many bytes of a GPU for the work of its stream; none where the driver is to give them.
    fn allocate(&self, gpu: u32, bytes: u64) -> Option<Self::Memory>;

    /// The address of memory.
    fn address(memory: &Self::Memory) -> u64;
}

/// The environment of C: a stream.
pub(crate) struct Given(pub(crate) *mut c_void);

impl Environment for Given {
    type Memory = std::convert::Infallible;

    fn stream(&self, _gpu: u32) -> *mut c_void {
        self.0
    }

    fn allocate(&self, _gpu: u32, _bytes: u64) -> Option<Self::Memory> {
        None
    }

    fn address(memory: &Self::Memory) -> u64 {
        match *memory {}
    }
}

/// A function on devices.
struct Places {
    emulator: OnceLock<Box<Entry>>,
    gpus: [OnceLock<Box<Entry>>; GPUS],
}

/// The device to which `CUTE_DEVICE` sends tensors of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Device {
    OfTensors,
    Emulator,
    Unknown(String),
}

impl Device {
    fn wanted() -> &'static Device {
        static DEVICE: OnceLock<Device> = OnceLock::new();
        fork::once(&DEVICE, || {
            let value = std::env::var_os("CUTE_DEVICE").unwrap_or_default();
            match value.to_string_lossy().as_ref() {
                "" | "auto" | "cuda" => Device::OfTensors,
                "emulator" => Device::Emulator,
                other => Device::Unknown(other.to_owned()),
            }
        })
    }
}

impl Loaded {
    /// Reads and checks a package.
    ///
    /// # Errors
    /// A damaged one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Loaded, Failure> {
        let package = Package::from_bytes(bytes)
            .map_err(|error| Failure::new(Class::Runtime, error.to_string()))?;
        let functions = package.manifest().functions.iter().map(|_| Places {
            emulator: OnceLock::new(),
            gpus: [const { OnceLock::new() }; GPUS],
        });
        Ok(Loaded {
            functions: functions.collect(),
            package,
        })
    }

    /// Returns the package.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// Calls the function with that number on a stream, a handle of the driver's (0 is the default one). A panic is a failure.
    ///
    /// # Safety
    /// Addresses of tensors are those of `DLTensor`s that are there, with the numbers of their shapes and strides; their memory is there
    /// until the work is done; and the stream is one of the tensors' GPU.
    ///
    /// # Errors
    /// [`Failure`]; nothing was launched, unless a launch itself went wrong.
    pub unsafe fn call_on(
        &self,
        number: usize,
        values: &[Value],
        stream: usize,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's.
        guarded(|| unsafe { self.call(number, values, &Given(stream as *mut c_void)) })
    }

    /// Calls the function with that number, in the environment that the caller has.
    ///
    /// # Safety
    /// The values are as [`Value::argument`] asks; the environment's stream is one of that GPU, and there until its work is done.
    ///
    /// # Errors
    /// [`Failure`]; nothing was launched, unless a launch itself went wrong.
    #[inline]
    pub(crate) unsafe fn call<E: Environment>(
        &self,
        number: usize,
        values: &[Value],
        environment: &E,
    ) -> Result<(), Failure> {
        let functions = &self.package.manifest().functions;
        let (Some(function), Some(places)) = (functions.get(number), self.functions.get(number))
        else {
            let text = format!(
                "expected one of the package's {} functions, found function {number}",
                functions.len()
            );
            return Err(Failure::new(Class::Value, text));
        };
        let mut arguments: SmallVec<[Argument; 16]> = SmallVec::new();
        for (index, value) in values.iter().enumerate() {
            let place = || match function.args.get(index) {
                Some(arg) => format!("{}: argument {index} ({})", function.name, arg.name()),
                None => format!("{}: argument {index}", function.name),
            };
            // SAFETY: the caller's.
            arguments.push(unsafe { value.argument(place)? });
        }
        let memory = tensors(&arguments).next().map(|(_, memory)| memory);
        match memory.unwrap_or(Memory::Host) {
            Memory::Host => {
                let entry = self.on_emulator(function, places)?;
                Ok(entry.launch(&arguments, Workspace::of_stream(), Stream::DEFAULT)?)
            }
            Memory::Cuda(gpu) => {
                if fork::lost_gpu() {
                    return Err(Failure::new(
                        Class::Runtime,
                        "expected a process of its own to use a GPU, found one that was forked after its parent had used it; start it anew \
                         (spawn), or use the GPU only after the fork",
                    ));
                }
                // SAFETY: the caller's.
                let stream = unsafe { Stream::from_raw(environment.stream(gpu)) };
                match Device::wanted() {
                    Device::OfTensors => {
                        let entry = self.on_gpu(function, places, gpu, &arguments)?;
                        if function.workspace.is_some() {
                            // Given back when the launches are queued: their memory is used in the order of the stream.
                            let mut given = None;
                            let mut allocate = |bytes| {
                                given = environment.allocate(gpu, bytes);
                                given.as_ref().map(E::address)
                            };
                            // SAFETY: the environment's memory is there, for the work of its stream, until it is dropped.
                            let workspace = unsafe { Workspace::allocator(&mut allocate) };
                            match entry.launch(&arguments, workspace, stream) {
                                Err(CallError::Workspace { .. }) => {}
                                other => return Ok(other?),
                            }
                        }
                        Ok(entry.launch(&arguments, Workspace::of_stream(), stream)?)
                    }
                    Device::Emulator => {
                        let entry = self.on_emulator(function, places)?;
                        fork::use_gpu();
                        // SAFETY: the caller's.
                        unsafe { emulated::call(entry, &arguments, gpu, stream) }
                    }
                    Device::Unknown(found) => Err(Failure::new(
                        Class::Value,
                        format!("CUTE_DEVICE: expected nothing, auto or emulator, found `{found}`"),
                    )),
                }
            }
        }
    }

    fn on_emulator<'s>(
        &'s self,
        function: &Function,
        places: &'s Places,
    ) -> Result<&'s Entry, Failure> {
        let entry = fork::try_once(&places.emulator, || {
            let config = emulator::Config::default();
            let entry = Entry::on_emulator(&self.package, function, config)?;
            Ok::<_, Failure>(Box::new(entry))
        });
        Ok(entry?)
    }

    #[inline]
    fn on_gpu<'s>(
        &'s self,
        function: &Function,
        places: &'s Places,
        gpu: u32,
        arguments: &[Argument],
    ) -> Result<&'s Entry, Failure> {
        let Some(place) = places.gpus.get(gpu as usize) else {
            let first = tensors(arguments).next().map_or(0, |(index, _)| index);
            let expected = format!("a tensor of a GPU from 0 to {}", GPUS - 1);
            return Err(elsewhere(function, first, expected, gpu.to_string(), ""));
        };
        let entry = fork::try_once(place, || {
            same_memory(function, arguments)?;
            let entry = Entry::on_gpu(&self.package, function, gpu)?;
            fork::use_gpu();
            Ok::<_, Failure>(Box::new(entry))
        });
        Ok(entry?)
    }
}

/// The tensors among arguments: the place of each, and its memory.
fn tensors(arguments: &[Argument]) -> impl Iterator<Item = (usize, Memory)> {
    let all = arguments.iter().enumerate();
    all.filter_map(|(index, argument)| match argument {
        Argument::Tensor(view) => Some((index, view.memory())),
        _ => None,
    })
}

/// Compares the memory of all tensors with that of the first, before a device is opened that there may not be. A function that is on its device
/// compares by itself, in the same words.
#[cold]
fn same_memory(function: &Function, arguments: &[Argument]) -> Result<(), Failure> {
    let mut all = tensors(arguments);
    let Some((_, first)) = all.next() else {
        return Ok(());
    };
    match all.find(|(_, memory)| *memory != first) {
        None => Ok(()),
        Some((index, other)) => Err(elsewhere(
            function,
            index,
            format!("a tensor in memory of {first}"),
            format!("a tensor of {other}"),
            "load the function for that device, or copy the tensor",
        )),
    }
}

/// The refusal of a tensor by where it is.
fn elsewhere(
    function: &Function,
    index: usize,
    expected: String,
    found: String,
    cure: &str,
) -> Failure {
    let name = function.args.get(index).map_or("", |arg| arg.name());
    Failure::from(CallError::from(Box::new(ArgumentError {
        function: function.name.clone(),
        index,
        name: name.to_owned(),
        problem: Problem::Memory,
        expected,
        found,
        cure: cure.to_owned(),
    })))
}
