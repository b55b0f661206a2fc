//! Launches of kernels, and what is asked of kernels.

use std::ffi::{c_int, c_void};

use cute_runtime::device::DeviceError;
use cute_runtime::emulator::{Argument, Grid, KernelFacts, Kind, Module};
use cute_target::{THREADS_PER_BLOCK, WARP};

use crate::Error;
use crate::abi::{Dim3, KernelNode, LaunchAttribute, LaunchConfig, Stream};
use crate::calls::calls;
use crate::program::{Program, call, demangled};
use crate::work::Work;

/// Bytes of shared memory that a block may have without asking (CUDA programming guide, "Shared Memory").
const SHARED_WITHOUT_ASKING: u64 = 48 * 1024;
/// The attribute by which a program asks for more (`cudaFuncAttributeMaxDynamicSharedMemorySize`).
const MAX_DYNAMIC_SHARED: c_int = 8;
/// Attributes of functions that change nothing on the emulator: how memory is shared out, sizes of clusters, how they are scheduled.
const WITHOUT_EFFECT: [c_int; 3] = [9, 14, 15];
/// Attributes of launches (`cudaLaunchAttributeID`).
const CLUSTER: c_int = 4;
const COOPERATIVE: c_int = 2;

/// A launch as a program asks for it.
pub(crate) struct Launch {
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    shared: usize,
    cluster: [u32; 3],
    cooperative: bool,
}

/// A launch that was checked, with copies of its arguments.
#[derive(Clone)]
pub(crate) struct Kernel {
    module: Module,
    name: String,
    sizes: Grid,
    values: Vec<Argument>,
    function: usize,
    /// Addresses of the values, for a program that has asked for them.
    pointers: Vec<usize>,
}

impl Kernel {
    /// The parameters of a node with this launch, whose arguments are those of the launch itself.
    pub fn parameters(&mut self) -> KernelNode {
        let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
        let at = |value: &Argument| value.as_bytes().as_ptr() as usize;
        self.pointers = self.values.iter().map(at).collect();
        KernelNode {
            function: self.function as *const c_void,
            grid: dim(self.sizes.blocks),
            block: dim(self.sizes.threads),
            shared: self.sizes.shared,
            arguments: self.pointers.as_mut_ptr().cast(),
            extra: std::ptr::null_mut(),
        }
    }
}

impl Launch {
    pub fn new(function: *const c_void, grid: Dim3, block: Dim3, shared: usize) -> Launch {
        Launch {
            function,
            grid,
            block,
            shared,
            cluster: [1; 3],
            cooperative: false,
        }
    }
}

impl Program {
    /// The module and the name of a kernel.
    fn kernel(&mut self, call: &str, function: *const c_void) -> Result<(Module, String), Error> {
        let Some(found) = self.functions.get(&(function as usize)) else {
            let text = "expected a __global__ function of the program, found another address; the CUDA runtime that registered it must be this one";
            return Err(self.refuse(call, text, Error::InvalidDeviceFunction));
        };
        let (binary, name) = (found.binary, found.name.clone());
        let module = self.module(call, binary)?;
        if !self
            .session
            .kernels_of(module)
            .iter()
            .any(|kernel| kernel.name == name)
        {
            let text = format!(
                "the kernel {} is not in the program's PTX",
                demangled(&name)
            );
            return Err(self.refuse(call, &text, Error::InvalidDeviceFunction));
        }
        Ok((module, name))
    }

    /// The facts of a kernel.
    fn facts(&mut self, call: &str, function: *const c_void) -> Result<KernelFacts, Error> {
        let (module, kernel) = self.kernel(call, function)?;
        let facts = self.session.facts(module, &kernel);
        facts.map_err(|error| self.failed(call, &error, Error::InvalidPtx))
    }

    /// Launches a kernel in a stream.
    ///
    /// # Safety
    /// There is a pointer to a value for each parameter of the kernel.
    pub unsafe fn launch(
        &mut self,
        launch: &Launch,
        arguments: *mut *mut c_void,
        stream: Stream,
    ) -> Result<(), Error> {
        // SAFETY: the caller says so; a launch copies nothing from the host.
        unsafe {
            self.submit("a launch", stream, |program| {
                Ok(Work::Kernel(program.prepared(launch, arguments)?))
            })
        }
    }

    /// Checks a launch, and copies its arguments.
    ///
    /// # Safety
    /// As [`Program::launch`].
    pub unsafe fn prepared(
        &mut self,
        launch: &Launch,
        arguments: *mut *mut c_void,
    ) -> Result<Kernel, Error> {
        let (module, name) = self.kernel("a launch", launch.function)?;
        let place = || format!("launch of {}", demangled(&name));
        let facts = self.session.facts(module, &name);
        let facts = facts.map_err(|error| self.failed(&place(), &error, Error::InvalidPtx))?;
        let dynamic = u32::try_from(launch.shared).unwrap_or(u32::MAX);
        let allowed = self.functions[&(launch.function as usize)].dynamic_shared;
        if facts.shared + u64::from(dynamic) > SHARED_WITHOUT_ASKING && dynamic > allowed {
            let text = format!(
                "expected at most {SHARED_WITHOUT_ASKING} bytes of shared memory, found {} and {dynamic} of dynamic memory; ask for them by cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize",
                facts.shared
            );
            return Err(self.refuse(&place(), &text, Error::InvalidValue));
        }
        if launch.cooperative {
            let most =
                u64::from(self.blocks_at_once(launch.block, facts.shared + u64::from(dynamic)))
                    * u64::from(self.multiprocessors());
            let blocks: u64 = launch.grid.extents().map(u64::from).iter().product();
            if blocks > most {
                let text = format!(
                    "expected at most {most} blocks of a cooperative launch, as many as run at once, found {blocks}; loop over the work in fewer blocks"
                );
                return Err(self.refuse(&place(), &text, Error::CooperativeLaunchTooLarge));
            }
        }
        let sizes = Grid {
            blocks: launch.grid.extents(),
            threads: launch.block.extents(),
            cluster: launch.cluster,
            shared: dynamic,
        };
        let fits = self.session.check_launch_of(module, &name, sizes);
        fits.map_err(|error| self.not_launched(&name, &error))?;
        let kernels = self.session.kernels_of(module).iter();
        let params = kernels
            .filter(|kernel| kernel.name == name)
            .flat_map(|kernel| &kernel.params);
        let mut values = Vec::new();
        for (index, (_, bytes)) in params.enumerate() {
            let argument = match arguments.is_null() {
                true => std::ptr::null_mut(),
                // SAFETY: the caller says so.
                false => unsafe { *arguments.add(index) },
            };
            if argument.is_null() {
                let text = format!(
                    "expected a pointer to the value of each parameter, found a null pointer for parameter {index}"
                );
                return Err(self.refuse(&place(), &text, Error::InvalidValue));
            }
            // SAFETY: the caller says so.
            let value = unsafe {
                std::slice::from_raw_parts(argument.cast::<u8>().cast_const(), *bytes as usize)
            };
            values.push(Argument::bytes(value));
        }
        Ok(Kernel {
            module,
            name,
            sizes,
            values,
            function: launch.function as usize,
            pointers: Vec::new(),
        })
    }

    /// Tells of a launch that the emulator does not take.
    fn not_launched(&mut self, name: &str, error: &DeviceError) -> Error {
        let code = match error {
            DeviceError::Ptx { .. } => Error::InvalidPtx,
            _ => Error::InvalidConfiguration,
        };
        self.failed(&format!("launch of {}", demangled(name)), error, code)
    }

    /// Runs a kernel to its end.
    pub fn run(&mut self, kernel: &Kernel) -> Result<(), Error> {
        self.send_mapped("a launch")?;
        let (module, name) = (kernel.module, &kernel.name);
        let done = self
            .session
            .launch_of(module, name, kernel.sizes, &kernel.values);
        done.map_err(|error| self.not_launched(name, &error))?;
        self.fetch_mapped();
        if self.session.report().halted {
            let last = self
                .session
                .report()
                .findings
                .last()
                .map(|finding| finding.kind);
            self.lost = Some(match last {
                Some(Kind::InstructionLimit) => Error::LaunchTimeout,
                Some(Kind::Trap) => Error::Assert,
                _ => Error::LaunchFailure,
            });
        }
        self.launched();
        Ok(())
    }

    /// Blocks of these threads and bytes of shared memory that a multiprocessor runs at once, as far as PTX tells: registers are not known.
    fn blocks_at_once(&self, block: Dim3, shared: u64) -> u32 {
        let threads: u64 = block.extents().map(u64::from).iter().product();
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let multiprocessor = self.session.arch().multiprocessor();
        multiprocessor.occupancy(threads, 0, shared).blocks
    }
}

/// Launches a kernel.
///
/// # Safety
/// There is a pointer to a value for each parameter of the kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernel(
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: Stream,
) -> c_int {
    let launch = Launch::new(function, grid, block, shared);
    // SAFETY: the caller says so.
    call("cudaLaunchKernel", |program| unsafe {
        program.launch(&launch, arguments, stream)
    })
}

/// Launches a kernel whose blocks may wait for each other.
///
/// # Safety
/// As [`cudaLaunchKernel`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchCooperativeKernel(
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: Stream,
) -> c_int {
    let launch = Launch {
        cooperative: true,
        ..Launch::new(function, grid, block, shared)
    };
    // SAFETY: the caller says so.
    call("cudaLaunchCooperativeKernel", |program| unsafe {
        program.launch(&launch, arguments, stream)
    })
}

/// Launches a kernel with attributes.
///
/// # Safety
/// As [`cudaLaunchKernel`], and the configuration is whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernelExC(
    config: *const LaunchConfig,
    function: *const c_void,
    arguments: *mut *mut c_void,
) -> c_int {
    call("cudaLaunchKernelEx", |program| {
        // SAFETY: the caller says so.
        let Some(config) = (unsafe { config.as_ref() }) else {
            let text = "expected a configuration, found a null pointer";
            return Err(program.refuse("cudaLaunchKernelEx", text, Error::InvalidValue));
        };
        let mut launch = Launch::new(function, config.grid, config.block, config.shared);
        let attributes: &[LaunchAttribute] = match config.count {
            0 => &[],
            // SAFETY: the caller says so.
            count => unsafe { std::slice::from_raw_parts(config.attributes, count as usize) },
        };
        for attribute in attributes {
            let [x, y, z, ..] = attribute.value;
            match attribute.id {
                CLUSTER => launch.cluster = [x, y, z],
                COOPERATIVE => launch.cooperative = x != 0,
                // The others say when a launch begins, and where its data stay.
                _ => {}
            }
        }
        // SAFETY: the caller says so.
        unsafe { program.launch(&launch, arguments, config.stream) }
    })
}

/// Sets an attribute of a kernel.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncSetAttribute(
    function: *const c_void,
    attribute: c_int,
    value: c_int,
) -> c_int {
    let name = "cudaFuncSetAttribute";
    call(name, |program| {
        program.kernel(name, function)?;
        let most = program.session.arch().max_smem();
        match (attribute, u32::try_from(value)) {
            (MAX_DYNAMIC_SHARED, Ok(bytes)) if bytes <= most => {
                if let Some(function) = program.functions.get_mut(&(function as usize)) {
                    function.dynamic_shared = bytes;
                }
                Ok(())
            }
            (MAX_DYNAMIC_SHARED, _) => {
                let text = format!(
                    "expected at most {most} bytes of dynamic shared memory on {}, found {value}",
                    program.session.arch()
                );
                Err(program.refuse(name, &text, Error::InvalidValue))
            }
            (other, _) if WITHOUT_EFFECT.contains(&other) => Ok(()),
            (other, _) => {
                let text = format!("the emulator has no attribute {other} of functions");
                Err(program.refuse(name, &text, Error::NotSupported))
            }
        }
    })
}

calls! {
    /// Sets how a kernel shares out memory, which changes nothing here.
    fn cudaFuncSetCacheConfig(function: *const c_void, config: c_int) |program, name, function, _| program.kernel(name, function).map(|_| ());

    /// Sets the width of banks of shared memory, which changes nothing.
    fn cudaFuncSetSharedMemConfig(function: *const c_void, config: c_int) |program, name, function, _| program.kernel(name, function).map(|_| ());
}

/// The facts of a kernel (`cudaFuncAttributes`, up to the members that all versions have).
#[repr(C)]
pub struct FuncAttributes {
    shared: usize,
    constants: usize,
    local: usize,
    threads: c_int,
    registers: c_int,
    ptx: c_int,
    binary: c_int,
    cache: c_int,
    dynamic_shared: c_int,
    carveout: c_int,
}

/// Tells the facts of a kernel. How many registers it takes PTX does not say, and 0 is told.
///
/// # Safety
/// The first pointer is one to the structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncGetAttributes(
    attributes: *mut FuncAttributes,
    function: *const c_void,
) -> c_int {
    let name = "cudaFuncGetAttributes";
    call(name, |program| {
        let facts = program.facts(name, function)?;
        let arch = program.session.arch();
        let version = (10 * arch.major + arch.minor) as c_int;
        let asked = program.functions[&(function as usize)].dynamic_shared as c_int;
        let free = SHARED_WITHOUT_ASKING.saturating_sub(facts.shared) as c_int;
        let told = FuncAttributes {
            shared: facts.shared as usize,
            constants: 0,
            local: facts.local as usize,
            threads: facts.threads.unwrap_or(THREADS_PER_BLOCK.into()) as c_int,
            registers: 0,
            ptx: version,
            binary: version,
            cache: 0,
            dynamic_shared: asked.max(free),
            carveout: -1,
        };
        // SAFETY: the caller says so.
        unsafe { attributes.write(told) };
        Ok(())
    })
}

/// Tells how many blocks of a kernel a multiprocessor runs at once, as far as PTX tells.
///
/// # Safety
/// The first pointer is one to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
) -> c_int {
    let name = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
    call(name, |program| {
        let facts = program.facts(name, function)?;
        let Some(threads) = u32::try_from(threads).ok().filter(|&threads| threads > 0) else {
            let text = format!("expected threads of a block, found {threads}");
            return Err(program.refuse(name, &text, Error::InvalidValue));
        };
        let block = Dim3 {
            x: threads.next_multiple_of(WARP),
            y: 1,
            z: 1,
        };
        let fit = program.blocks_at_once(block, facts.shared + shared as u64);
        // SAFETY: the caller says so.
        unsafe { *blocks = fit as c_int };
        Ok(())
    })
}

/// Tells the same, with flags that change nothing.
///
/// # Safety
/// As [`cudaOccupancyMaxActiveBlocksPerMultiprocessor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
    _: u32,
) -> c_int {
    // SAFETY: the caller says so.
    unsafe { cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared) }
}
