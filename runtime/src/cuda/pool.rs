//! Memory that calls need besides their arguments, allocated in the order of a stream.
//!
//! The driver's default pool gives freed memory back to the system at each synchronization unless its owner, the program,
//! says otherwise; the next call then pays for mapping it anew. A pool of our own keeps it. All packages of a process share one for each context, as each
//! keeps memory, and the driver refuses more of them at some number.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cudarc::driver::sys;

use super::driver::check;
use super::target::Current;
use crate::device::DeviceError;

/// Bytes that a pool keeps for later calls; what is more goes back to the system at the next synchronization.
const KEPT_BYTES: u64 = 64 << 20;

/// The pools that are in use, by GPU and context.
static SHARED: Mutex<Shared<Handle>> = Mutex::new(Shared(BTreeMap::new()));

/// Values that live as long as somebody has one, by the number of a GPU and the address of a context.
struct Shared<T>(BTreeMap<(i32, usize), Weak<T>>);

impl<T> Shared<T> {
    /// The value of a key; created where nobody has it.
    fn get<E>(
        &mut self,
        key: (i32, usize),
        create: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(there) = self.0.get(&key).and_then(Weak::upgrade) {
            return Ok(there);
        }
        self.0.retain(|_, other| other.strong_count() > 0);
        let created = Arc::new(create()?);
        self.0.insert(key, Arc::downgrade(&created));
        Ok(created)
    }
}

/// A share of the pool of a GPU's memory that a context has, which is created at the first allocation.
pub(super) struct Pool {
    handle: OnceLock<Arc<Handle>>,
    /// The number that the driver gives the GPU.
    device: sys::CUdevice,
    context: sys::CUcontext,
}

/// An owned handle of the driver.
struct Handle(sys::CUmemoryPool);

// SAFETY: a pool is of a device and of no thread; the driver's calls on it may come from any.
unsafe impl Send for Handle {}
// SAFETY: the same.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is owned. The driver waits for what streams have yet to free.
        unsafe { sys::cuMemPoolDestroy(self.0) };
    }
}

impl Pool {
    /// # Safety
    /// The context is one of the device, and lives until the pool was closed.
    pub(super) unsafe fn new(device: sys::CUdevice, context: sys::CUcontext) -> Pool {
        Pool {
            handle: OnceLock::new(),
            device,
            context,
        }
    }

    /// Memory of so many bytes, for work that the stream is given while this is held.
    ///
    /// # Errors
    /// [`DeviceError`]: the driver's, such as no memory.
    pub(super) fn allocate(
        &self,
        bytes: u64,
        stream: sys::CUstream,
    ) -> Result<StreamMemory<'_>, DeviceError> {
        let _current = Current::enter(self.context)?;
        let pool = self.handle()?;
        let mut address = 0;
        // SAFETY: the pointer is to a live variable, the pool lives, and the context is current. The stream is the caller's.
        // (Sizes are below 2^63.)
        let result =
            unsafe { sys::cuMemAllocFromPoolAsync(&mut address, bytes as usize, pool, stream) };
        check("cuMemAllocFromPoolAsync", result)?;
        Ok(StreamMemory {
            address,
            stream,
            pool: self,
        })
    }

    /// Gives the share back, and with the last one the pool to the driver. (What was allocated from it borrows it, and is gone.)
    pub(super) fn close(&mut self) {
        self.handle.take();
    }

    fn handle(&self) -> Result<sys::CUmemoryPool, DeviceError> {
        if let Some(handle) = self.handle.get() {
            return Ok(handle.0);
        }
        let mut all = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = all.get((self.device, self.context as usize), || create(self.device))?;
        // Another thread may have been first, with the same pool.
        Ok(self.handle.get_or_init(|| shared).0)
    }
}

/// A pool that keeps [`KEPT_BYTES`].
fn create(device: sys::CUdevice) -> Result<Handle, DeviceError> {
    // SAFETY: zero bytes are a valid value of this C struct: no handles for other processes, no limit.
    let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    let mut handle = ptr::null_mut();
    // SAFETY: the pointers are to live variables.
    check("cuMemPoolCreate", unsafe {
        sys::cuMemPoolCreate(&mut handle, &properties)
    })?;
    let handle = Handle(handle);
    let mut kept = KEPT_BYTES;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the pool lives; the attribute is a 64-bit number, read during the call.
    check("cuMemPoolSetAttribute", unsafe {
        sys::cuMemPoolSetAttribute(handle.0, attribute, ptr::from_mut(&mut kept).cast())
    })?;
    Ok(handle)
}

/// Memory that a stream allocated; it is given back in the stream's order.
pub(crate) struct StreamMemory<'p> {
    address: u64,
    stream: sys::CUstream,
    pool: &'p Pool,
}

impl StreamMemory<'_> {
    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for StreamMemory<'_> {
    fn drop(&mut self) {
        let _current = Current::enter(self.pool.context);
        // SAFETY: the memory is the stream's, and is given back once. An error here is one of an earlier launch.
        unsafe { sys::cuMemFreeAsync(self.address, self.stream) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_shared_as_long_as_somebody_has_it() {
        let mut all = Shared(BTreeMap::new());
        let mut count = 0;
        let mut get = |all: &mut Shared<i32>, key| {
            all.get(key, || {
                count += 1;
                Ok::<_, ()>(count)
            })
            .unwrap()
        };
        let (one, same) = (get(&mut all, (0, 8)), get(&mut all, (0, 8)));
        let [context, device] = [(0, 16), (1, 8)].map(|key| get(&mut all, key));
        assert_eq!([*one, *same, *context, *device], [1, 1, 2, 3]);
        drop(one);
        assert_eq!(*get(&mut all, (0, 8)), 1);
        drop((same, context));
        // Nobody had it, and what nobody has is forgotten.
        assert_eq!(*get(&mut all, (0, 8)), 4);
        assert_eq!(all.0.len(), 2);
    }

    #[test]
    fn what_cannot_be_created_is_tried_again() {
        let mut all = Shared(BTreeMap::new());
        assert!(all.get((0, 1), || Err("no memory")).is_err());
        assert_eq!(all.get((0, 1), || Ok::<_, ()>(5)).as_deref(), Ok(&5));
    }
}
