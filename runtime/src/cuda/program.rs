//! A loaded function: its kernels with their attributes set, and how they are launched.

use std::ffi::c_void;
use std::ptr;

use cudarc::driver::sys::{self, CUfunction_attribute as Attribute};
use smallvec::SmallVec;

use super::driver::{Kernel, Module, Stream};
use super::maps::encode;
use super::memory::Buffer;
use super::stopwatch::CudaStopwatch;
use super::{CudaDevice, driver};
use crate::device::{Code, Device, DeviceError, DeviceInfo, Program, Selection, Stopwatch, select};
use crate::package::{Function, Package, Sizes};
use crate::plan::{Planned, Signature, Value, check_disjoint};
use crate::tensor::{HostTensor, POISON};

/// Dynamic shared memory that needs no opt-in, in bytes. (CUDA C++ Programming Guide, "Shared
/// Memory".)
pub(super) const DEFAULT_SMEM: u32 = 48 * 1024;
/// Blocks in a cluster that every GPU with clusters can have. (The same, "Thread Block Clusters".)
const PORTABLE_CLUSTER: u32 = 8;

pub(super) struct CudaProgram<'d> {
    device: &'d CudaDevice,
    function: Function,
    signature: Signature,
    /// One for each launch of the function.
    kernels: Vec<Kernel>,
    /// Owns what `kernels` point into.
    _module: Module<'d>,
    code: String,
    note: Option<String>,
    /// The bytes that the last run left in its workspace, of a function with views.
    left: Vec<u8>,
}

impl<'d> CudaProgram<'d> {
    pub(super) fn load(
        device: &'d CudaDevice,
        package: &Package,
        function: &Function,
    ) -> Result<CudaProgram<'d>, DeviceError> {
        let info = device.info();
        let candidates = select(package, info.compute_capability, &info.name)?;
        let (module, chosen, note) = load_first(package, &candidates, &device.stream)?;
        let kernels = function.launches.iter().enumerate().map(|(index, launch)| {
            let kernel = module.kernel(&launch.kernel)?;
            if let Some(launch) = Planned::fixed(function, index) {
                prepare(&kernel, &launch.kernel, &sizes(&launch), info)?;
            }
            Ok(kernel)
        });
        Ok(CudaProgram {
            kernels: kernels.collect::<Result<_, DeviceError>>()?,
            device,
            function: function.clone(),
            signature: Signature::of(function)?,
            _module: module,
            code: code_name(&chosen),
            note,
            left: Vec::new(),
        })
    }

    pub(super) fn stream(&self) -> &'d Stream {
        &self.device.stream
    }

    pub(super) fn l2(&self) -> u64 {
        self.device.info.l2
    }

    pub(super) fn function(&self) -> &Function {
        &self.function
    }

    /// The launches for these arguments, checked against the GPU and prepared.
    pub(super) fn plan(&self, tensors: &[HostTensor]) -> Result<Vec<Planned>, DeviceError> {
        let count = self.device.info.multiprocessors;
        let launches = self.signature.plan(&self.function, tensors, count)?;
        for launch in &launches {
            // One was loaded for each launch of the function.
            let (kernel, info) = (&self.kernels[launch.launch], &self.device.info);
            prepare(kernel, &launch.kernel, &sizes(launch), info)?;
        }
        Ok(launches)
    }

    /// The workspace of a call with these arguments; none where it has no bytes.
    pub(super) fn workspace(
        &self,
        tensors: &[HostTensor],
    ) -> Result<Option<Buffer<'d>>, DeviceError> {
        let count = self.device.info.multiprocessors;
        let bytes = self
            .signature
            .workspace_bytes(&self.function, tensors, count)?;
        // A workspace has at most 2^40 bytes.
        let buffer = (bytes > 0).then(|| Buffer::poisoned(bytes as usize, self.stream()));
        buffer.transpose()
    }

    /// Queues all launches; `buffers` are all arguments.
    pub(super) fn launch(
        &self,
        launches: &[Planned],
        buffers: &[Buffer],
        workspace: Option<&Buffer>,
    ) -> Result<(), DeviceError> {
        for launch in launches {
            self.launch_kernel(launch, buffers, workspace)?;
        }
        Ok(())
    }

    fn launch_kernel(
        &self,
        launch: &Planned,
        buffers: &[Buffer],
        workspace: Option<&Buffer>,
    ) -> Result<(), DeviceError> {
        let kernel = &self.kernels[launch.launch];
        // The driver takes the address of each parameter, so they live here until the call is over.
        let mut maps = Vec::new();
        for value in &launch.params {
            if let Value::TensorMap(start, map) = value {
                let buffer = match start.argument {
                    Some(index) => Some(&buffers[index]),
                    None => workspace,
                };
                let address = buffer.map_or(0, |buffer| buffer.pointer() + start.offset);
                maps.push(encode(map, address)?);
            }
        }
        let mut values: SmallVec<[u64; FEW_PARAMS]> = launch
            .params
            .iter()
            .map(|value| match value {
                Value::Pointer(index) => buffers[*index].pointer(),
                Value::Byte(index, offset) => buffers[*index].pointer() + offset,
                // There is nothing in a workspace of no bytes that could be pointed to.
                Value::Workspace(offset) => workspace.map_or(0, |buffer| buffer.pointer() + offset),
                // Its place in the list is the map's, below.
                Value::TensorMap(..) => 0,
                Value::Bytes(bytes) => {
                    let mut whole = [0; 8];
                    whole[..bytes.len()].copy_from_slice(bytes);
                    // The host is little endian, as the GPU is.
                    u64::from_le_bytes(whole)
                }
            })
            .collect();
        let mut params = pointers(&mut values);
        let of_maps = launch.params.iter().enumerate();
        let of_maps = of_maps.filter(|(_, value)| matches!(value, Value::TensorMap(..)));
        for ((place, _), map) in of_maps.zip(&mut maps) {
            params[place] = ptr::from_mut(map).cast();
        }
        let stream = self.device.stream.raw();
        // SAFETY: the package's parameters are numbers of at most 8 bytes, tensor maps of 128, and device pointers to live memory of the
        // size that the layout needs; the kernel's module lives as long as `self`.
        unsafe { kernel.launch(&launch.kernel, &sizes(launch), params.as_mut_ptr(), stream) }
    }
}

/// The code that runs, such as `sm_90a cubin`.
pub(super) fn code_name(chosen: &Selection) -> String {
    let code = match chosen.code {
        Code::Cubin => "cubin",
        Code::Ptx => "PTX",
    };
    format!("{} {code}", chosen.arch)
}

/// Parameters of launches that need no memory from the heap.
pub(super) const FEW_PARAMS: usize = 64;

/// The addresses of parameters, for the driver.
#[inline]
pub(super) fn pointers(params: &mut [u64]) -> SmallVec<[*mut c_void; FEW_PARAMS]> {
    let pointers = params.iter_mut().map(|value| ptr::from_mut(value).cast());
    pointers.collect()
}

fn sizes(launch: &Planned) -> Sizes {
    Sizes {
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        dependent: launch.dependent,
        dynamic_smem: launch.dynamic_smem,
    }
}

/// The first code that the driver takes, and what to tell the user of the choice. The error is that
/// of the best code.
pub(super) fn load_first<'p, 'd, C>(
    package: &'p Package,
    candidates: &[Selection<'p>],
    context: &'d C,
) -> Result<(Module<'d>, Selection<'p>, Option<String>), DeviceError> {
    let mut refused: Option<DeviceError> = None;
    for candidate in candidates {
        match load_code(package, candidate, context) {
            Ok(module) => {
                let mut note = Vec::new();
                if let Some(error) = refused {
                    note.push(format!("{error}; fell back"));
                }
                if candidate.code == Code::Ptx {
                    note.push(format!(
                        "the driver compiled the PTX for {}",
                        candidate.arch
                    ));
                }
                let note = if note.is_empty() {
                    None
                } else {
                    Some(note.join("; "))
                };
                return Ok((module, candidate.clone(), note));
            }
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    // `select` gives at least one candidate.
    Err(refused.unwrap_or(DeviceError::NoDriver))
}

fn load_code<'d, C>(
    package: &Package,
    selection: &Selection,
    context: &'d C,
) -> Result<Module<'d>, DeviceError> {
    let bytes = package.blob(&selection.blob);
    match selection.code {
        Code::Cubin if !bytes.starts_with(b"\x7fELF") => Err(DeviceError::Unsupported {
            place: format!("the cubin for {}", selection.arch),
            expected: "an ELF file".into(),
            found: format!("`{}`", bytes[..bytes.len().min(8)].escape_ascii()),
            cure: "compile the package again",
        }),
        Code::Cubin => Module::load(&format!("the cubin for {}", selection.arch), bytes, context),
        Code::Ptx => {
            let mut text = bytes.to_vec();
            text.push(0);
            Module::load(&format!("the PTX for {}", selection.arch), &text, context)
        }
    }
}

/// Checks what a launch asks for against the GPU, and opts in to what needs it.
pub(super) fn prepare(
    kernel: &Kernel,
    name: &str,
    launch: &Sizes,
    info: &DeviceInfo,
) -> Result<(), DeviceError> {
    let unsupported = |expected: String, found: String, cure| {
        let place = format!("launch of {name} on {}", info.name);
        Err(DeviceError::Unsupported {
            place,
            expected,
            found,
            cure,
        })
    };
    let threads: u32 = launch.block.iter().product();
    let most = kernel.attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    if threads > most {
        return unsupported(
            format!("at most {most} threads in a block, for the kernel's registers"),
            threads.to_string(),
            "compile it with .maxntid",
        );
    }
    let smem =
        kernel.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? + launch.dynamic_smem;
    if smem > info.max_smem {
        return unsupported(
            format!(
                "at most {} bytes of shared memory in a block",
                info.max_smem
            ),
            smem.to_string(),
            "choose smaller tiles or fewer stages",
        );
    }
    if launch.dynamic_smem > DEFAULT_SMEM {
        kernel.set_attribute(
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            launch.dynamic_smem,
        )?;
    }
    let cluster: u32 = launch.cluster.iter().product();
    if cluster > 1 && info.compute_capability < (9, 0) {
        return unsupported(
            "no clusters".into(),
            format!("{:?}", launch.cluster),
            "compile for this GPU's architecture",
        );
    }
    if cluster > PORTABLE_CLUSTER {
        kernel.set_attribute(
            Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
            1,
        )?;
    }
    Ok(())
}

impl Program for CudaProgram<'_> {
    fn code(&self) -> &str {
        &self.code
    }

    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn run(&mut self, tensors: &mut [HostTensor]) -> Result<(), DeviceError> {
        let launches = self.plan(tensors)?;
        let stream = self.stream();
        let buffers: Vec<Buffer> = tensors
            .iter()
            .map(|tensor| Buffer::upload(tensor.bytes(), stream))
            .collect::<Result<_, _>>()?;
        let workspace = self.workspace(tensors)?;
        check_places(&self.function, &launches, &buffers, tensors)?;
        // Copies from pageable memory may return before they are done.
        wait_for_all()?;
        for launch in &launches {
            self.launch_kernel(launch, &buffers, workspace.as_ref())?;
            // One at a time, so that an error names the kernel.
            stream.wait(&format!("kernel {}", launch.kernel))?;
        }
        self.left.clear();
        if let Some(workspace) = &workspace {
            workspace.check_guards("(workspace)")?;
            if !self.function.views.is_empty() {
                let count = self.device.info.multiprocessors;
                let bytes = self
                    .signature
                    .workspace_bytes(&self.function, tensors, count)?;
                self.left.resize(bytes as usize, POISON);
                workspace.download(&mut self.left)?;
            }
        }
        for ((arg, buffer), tensor) in self.function.args.iter().zip(&buffers).zip(tensors) {
            if !arg.is_tensor() {
                continue;
            }
            buffer.check_guards(arg.name())?;
            if arg.access().writes() {
                buffer.download(tensor.bytes_mut())?;
                continue;
            }
            let mut after = vec![0; tensor.bytes().len()];
            buffer.download(&mut after)?;
            if let Some(byte) = after
                .iter()
                .zip(tensor.bytes())
                .position(|(after, before)| after != before)
            {
                return Err(DeviceError::InputChanged {
                    name: arg.name().to_string(),
                    byte,
                });
            }
        }
        Ok(())
    }

    fn workspace(&self) -> &[u8] {
        &self.left
    }

    fn multiprocessors(&self) -> u32 {
        self.device.info.multiprocessors
    }

    fn stopwatch<'p>(
        &'p mut self,
        tensors: &[HostTensor],
    ) -> Result<Box<dyn Stopwatch + 'p>, DeviceError> {
        let launches = self.plan(tensors)?;
        Ok(Box::new(CudaStopwatch::new(self, launches, tensors)?))
    }
}

/// Checks that buffers lie as the kernels were compiled for: aligned, and apart where they must be. The driver aligns to 256
/// bytes, which is the most that a package may ask for: this says so if it ever does not.
pub(super) fn check_places(
    function: &Function,
    launches: &[Planned],
    buffers: &[Buffer],
    tensors: &[HostTensor],
) -> Result<(), DeviceError> {
    let lengths = tensors.iter().map(|tensor| tensor.bytes().len() as u64);
    let places: Vec<_> = buffers.iter().map(Buffer::pointer).zip(lengths).collect();
    check_disjoint(function, launches, &places)?;
    for (arg, buffer) in function.args.iter().zip(buffers) {
        let crate::package::Arg::Tensor { name, align, .. } = arg else {
            continue;
        };
        if buffer.pointer() % u64::from(*align) != 0 {
            return Err(DeviceError::Unsupported {
                place: format!("argument {name}"),
                expected: format!("an address that is a multiple of {align}"),
                found: format!("{:#x}", buffer.pointer()),
                cure: "report this: the driver aligns allocations to 256 bytes",
            });
        }
    }
    Ok(())
}

/// Waits for everything on the device, as the launches' stream does not wait for the copies'.
pub(super) fn wait_for_all() -> Result<(), DeviceError> {
    // SAFETY: a context is current while a device is open.
    driver::check("copying the arguments", unsafe { sys::cuCtxSynchronize() })
}
