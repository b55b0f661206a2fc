//! A function's kernels on a GPU for calls from any thread, on streams and memory of the caller.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cudarc::driver::sys::{self, CUfunction_attribute as Attribute};

use smallvec::SmallVec;

use super::driver::{Kernel, Module, check};
use super::maps::encode;
use super::pool::{Pool, StreamMemory};
use super::program::{DEFAULT_SMEM, code_name, load_first, pointers, prepare};
use super::{Context, find_new_enough};
use crate::call::{Prepared, Ready};
use crate::device::{DeviceError, DeviceInfo, select};
use crate::package::{Function, Package, Sizes};

/// The kernels of a function, loaded into the primary context of a GPU.
pub(crate) struct CudaTarget {
    /// One for each launch of the function.
    kernels: Vec<Loaded>,
    /// Owns what `kernels` point into; there until it is dropped.
    module: Option<Module<'static>>,
    /// The pool of workspaces; closed before the context is released.
    pool: Pool,
    context: sys::CUcontext,
    device: sys::CUdevice,
    info: DeviceInfo,
    code: String,
    note: Option<String>,
}

// SAFETY: the primary context is retained for as long, and contexts are of no thread: each call makes it current on its own.
unsafe impl Send for CudaTarget {}
// SAFETY: the same; what changes is atomic.
unsafe impl Sync for CudaTarget {}

/// A kernel, and what its launches may ask for.
struct Loaded {
    kernel: Kernel,
    name: String,
    /// Threads of a block, at most.
    threads: u32,
    /// Dynamic shared memory that needs no further opt-in, in bytes.
    smem: AtomicU32,
    /// Tells whether clusters were opted in to.
    clusters: AtomicBool,
}

impl CudaTarget {
    /// Loads the code of a package that suits a GPU, and finds the function's kernels.
    ///
    /// # Errors
    /// [`DeviceError`]: no driver, GPU or code, or a launch that asks for more than the GPU has.
    pub(crate) fn load(
        package: &Package,
        function: &Function,
        ordinal: u32,
    ) -> Result<CudaTarget, DeviceError> {
        let (device, info) = find_new_enough(ordinal)?;
        let candidates = select(package, info.compute_capability, &info.name)?;
        let (retained, context) = Context::retain(device)?;
        let current = Current::enter(context)?;
        // The module is kept beside the context, and dropped before it.
        let (module, chosen, note) = load_first(package, &candidates, &())?;
        let kernels = function.launches.iter().enumerate().map(|(index, launch)| {
            let kernel = module.kernel(&launch.kernel)?;
            let threads = Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
            let loaded = Loaded {
                kernel,
                name: launch.kernel.clone(),
                threads: kernel.attribute(threads)?,
                smem: AtomicU32::new(within_default(&kernel, &info)?),
                clusters: AtomicBool::new(false),
            };
            if let Some(fixed) = crate::plan::Planned::fixed(function, index) {
                let sizes = Sizes {
                    grid: fixed.grid,
                    block: fixed.block,
                    cluster: fixed.cluster,
                    dependent: fixed.dependent,
                    dynamic_smem: fixed.dynamic_smem,
                };
                loaded.admit_in_full(&sizes, &info)?;
            }
            Ok(loaded)
        });
        let kernels = kernels.collect::<Result<Vec<_>, DeviceError>>()?;
        drop(current);
        // Released when the target is dropped.
        std::mem::forget(retained);
        Ok(CudaTarget {
            kernels,
            code: code_name(&chosen),
            module: Some(module),
            // SAFETY: the context stays retained until the pool is closed.
            pool: unsafe { Pool::new(device, context) },
            context,
            device,
            info,
            note,
        })
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Memory of so many bytes, for work that the stream is given while this is held.
    ///
    /// # Errors
    /// [`DeviceError`]: the driver's, such as no memory.
    pub(crate) fn allocate(
        &self,
        bytes: u64,
        stream: *mut std::ffi::c_void,
    ) -> Result<StreamMemory<'_>, DeviceError> {
        self.pool.allocate(bytes, stream.cast())
    }

    /// Queues the launches of a call.
    ///
    /// # Errors
    /// [`DeviceError`]: a launch that asks for more than the GPU has, before any is queued; or the driver's.
    #[inline]
    pub(crate) fn launch(
        &self,
        prepared: &mut Prepared,
        stream: *mut std::ffi::c_void,
    ) -> Result<(), DeviceError> {
        let _current = Current::enter(self.context)?;
        for ready in &prepared.launches {
            // One was loaded for each launch of the function.
            self.kernels[ready.launch].admit(&ready.sizes, &self.info)?;
        }
        let maps = prepared.maps.iter();
        let maps = maps.map(|passed| encode(&passed.map, passed.address));
        let mut maps = maps.collect::<Result<SmallVec<[sys::CUtensorMap; 4]>, _>>()?;
        let mut params = pointers(&mut prepared.params);
        // The driver copies a map from there when it takes the launch.
        for (passed, encoded) in prepared.maps.iter().zip(&mut maps) {
            params[passed.param] = ptr::from_mut(encoded).cast();
        }
        for Ready {
            launch,
            sizes,
            params: (from, count),
        } in &prepared.launches
        {
            let loaded = &self.kernels[*launch];
            let params = params[*from..*from + *count].as_mut_ptr();
            // SAFETY: the context is current and the module lives. The package's parameters are numbers of at most 8 bytes, tensor maps of 128, and pointers to
            // tensors as large as their layouts, of which whoever made the views has promised that they live until the kernel has
            // run, and the workspace, of which the caller has promised the same.
            unsafe {
                loaded
                    .kernel
                    .launch(&loaded.name, sizes, params, stream.cast())?;
            }
        }
        Ok(())
    }
}

impl Drop for CudaTarget {
    fn drop(&mut self) {
        // Errors here are those of earlier launches.
        let current = Current::enter(self.context);
        drop(self.module.take());
        self.pool.close();
        drop(current);
        // SAFETY: `device` was retained once.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// Dynamic shared memory that a kernel may have without opt-in, in bytes.
fn within_default(kernel: &Kernel, info: &DeviceInfo) -> Result<u32, DeviceError> {
    let own = kernel.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
    Ok(DEFAULT_SMEM.min(info.max_smem).saturating_sub(own))
}

impl Loaded {
    /// Checks what a launch asks for, and opts in to what needs it.
    #[inline]
    fn admit(&self, sizes: &Sizes, info: &DeviceInfo) -> Result<(), DeviceError> {
        let [x, y, z] = sizes.block;
        // A block has at most 1024 threads, which was checked.
        let suits = x * y * z <= self.threads
            && sizes.dynamic_smem <= self.smem.load(Ordering::Relaxed)
            && (sizes.cluster == [1, 1, 1] || self.clusters.load(Ordering::Relaxed));
        if suits {
            return Ok(());
        }
        self.admit_in_full(sizes, info)
    }

    #[cold]
    fn admit_in_full(&self, sizes: &Sizes, info: &DeviceInfo) -> Result<(), DeviceError> {
        prepare(&self.kernel, &self.name, sizes, info)?;
        self.smem.fetch_max(sizes.dynamic_smem, Ordering::Relaxed);
        // A launch has one size of clusters.
        let is_cluster = sizes.cluster != [1, 1, 1];
        self.clusters.fetch_or(is_cluster, Ordering::Relaxed);
        Ok(())
    }
}

/// A context that is current on this thread for as long.
pub(super) struct Current {
    pushed: bool,
}

impl Current {
    #[inline]
    pub(super) fn enter(context: sys::CUcontext) -> Result<Current, DeviceError> {
        let mut found = ptr::null_mut();
        // SAFETY: the pointer is to a live variable; the driver is initialised. What fails is told by the next call.
        unsafe { sys::cuCtxGetCurrent(&mut found) };
        if found == context {
            return Ok(Current { pushed: false });
        }
        // SAFETY: the context is retained.
        check("cuCtxPushCurrent", unsafe {
            sys::cuCtxPushCurrent_v2(context)
        })?;
        Ok(Current { pushed: true })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if self.pushed {
            let mut context = ptr::null_mut();
            // SAFETY: it was pushed on this thread, which the type does not leave.
            unsafe { sys::cuCtxPopCurrent_v2(&mut context) };
        }
    }
}
