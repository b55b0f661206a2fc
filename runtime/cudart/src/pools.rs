//! Pools that memory in the order of streams comes from: each gives of all the memory that the device has.

use std::ffi::{c_int, c_void};

use crate::Error;
use crate::abi::Stream;
use crate::calls::{calls, no_handle, put};
use crate::memory::put_in_order;
use crate::program::{Program, call};
use crate::settings::Setting;

/// The handle of the device's own pool.
const DEFAULT: usize = 0x10;
/// Attributes of pools (`cudaMemPoolAttr`): how long memory is kept, and how much memory there is and was.
const THRESHOLD: c_int = 4;
const RESERVED: [c_int; 2] = [5, 6];
const USED: [c_int; 2] = [7, 8];

impl Program {
    /// A pool by its handle.
    fn pool(&mut self, call: &str, pool: *mut c_void) -> Result<usize, Error> {
        match pool as usize {
            pool if pool == DEFAULT || self.pools.contains(&pool) => Ok(pool),
            pool => {
                let text = format!(
                    "expected a pool that was made and not destroyed, found {}; ask for the device's by cudaDeviceGetDefaultMemPool",
                    no_handle(pool)
                );
                Err(self.refuse(call, &text, Error::InvalidValue))
            }
        }
    }

    /// Hands out the device's pool.
    ///
    /// # Safety
    /// The place is null or can be written to.
    unsafe fn put_pool(
        &mut self,
        call: &str,
        place: *mut *mut c_void,
        device: c_int,
    ) -> Result<(), Error> {
        self.only_device(call, device)?;
        // SAFETY: the caller says so.
        unsafe { put(self, call, place, DEFAULT as *mut c_void) }
    }

    /// Refuses an attribute of pools that there is not.
    fn no_attribute(&mut self, call: &str, attribute: c_int) -> Error {
        let text = format!("expected an attribute of pools (1 to 8), found {attribute}");
        self.refuse(call, &text, Error::InvalidValue)
    }
}

calls! {
    /// Tells the pool of the device.
    fn cudaDeviceGetDefaultMemPool(place: *mut *mut c_void, device: c_int) |program, name, place, device| {
        // SAFETY: the caller says so.
        unsafe { program.put_pool(name, place, device) }
    };

    /// Tells the pool that is used, which is always that of the device: what others have is no different.
    fn cudaDeviceGetMemPool(place: *mut *mut c_void, device: c_int) |program, name, place, device| {
        // SAFETY: the caller says so.
        unsafe { program.put_pool(name, place, device) }
    };

    /// Chooses the pool that is used.
    fn cudaDeviceSetMemPool(device: c_int, pool: *mut c_void) |program, name, device, pool| {
        program.only_device(name, device)?;
        program.pool(name, pool).map(|_| ())
    };

    /// Makes a pool.
    fn cudaMemPoolCreate(place: *mut *mut c_void, properties: *const c_void) |program, name, place, properties| {
        if properties.is_null() {
            return Err(program.refuse(name, "expected properties, found a null pointer", Error::InvalidValue));
        }
        let pool = program.new_handle();
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, pool as *mut c_void)? };
        program.pools.insert(pool);
        Ok(())
    };

    /// Destroys a pool. Memory that it gave stays until it is freed.
    fn cudaMemPoolDestroy(pool: *mut c_void) |program, name, pool| {
        let pool = program.pool(name, pool)?;
        if pool == DEFAULT {
            let text = "expected a pool that the program made, found the device's own";
            return Err(program.refuse(name, text, Error::InvalidValue));
        }
        program.pools.remove(&pool);
        Ok(())
    };

    /// Sets an attribute of a pool: how memory is kept and used again, which changes nothing here.
    fn cudaMemPoolSetAttribute(pool: *mut c_void, attribute: c_int, value: *const c_void) |program, name, pool, attribute, value| {
        let pool = program.pool(name, pool)?;
        if value.is_null() {
            return Err(program.refuse(name, "expected a value, found a null pointer", Error::InvalidValue));
        }
        let value = match attribute {
            // SAFETY: the caller says so: the attributes have this type.
            1..THRESHOLD => unsafe { value.cast::<c_int>().read() as u64 },
            // SAFETY: as above.
            THRESHOLD | 6 | 8 => unsafe { value.cast::<u64>().read() },
            other => return Err(program.no_attribute(name, other)),
        };
        program.set.insert(Setting::Pool(pool, attribute), value);
        Ok(())
    };

    /// Tells an attribute of a pool.
    fn cudaMemPoolGetAttribute(pool: *mut c_void, attribute: c_int, place: *mut c_void) |program, name, pool, attribute, place| {
        let pool = program.pool(name, pool)?;
        let used = crate::device::MEMORY as u64 - program.session.free_bytes();
        // SAFETY: the caller says so: the attributes have these types.
        unsafe {
            match attribute {
                1..THRESHOLD => {
                    let value = program.setting(Setting::Pool(pool, attribute), 1) as c_int;
                    put(program, name, place.cast(), value)
                }
                THRESHOLD => {
                    let value = program.setting(Setting::Pool(pool, attribute), 0);
                    put(program, name, place.cast(), value)
                }
                other if RESERVED.contains(&other) || USED.contains(&other) => put(program, name, place.cast(), used),
                other => Err(program.no_attribute(name, other)),
            }
        }
    };

    /// Says who may use a pool's memory, which is the device.
    fn cudaMemPoolSetAccess(pool: *mut c_void, access: *const c_void, count: usize) |program, name, pool, _, _| program.pool(name, pool).map(|_| ());

    /// Gives back what a pool keeps, which is nothing.
    fn cudaMemPoolTrimTo(pool: *mut c_void, bytes: usize) |program, name, pool, _| program.pool(name, pool).map(|_| ());

    /// Allocates memory of the device from a pool.
    fn cudaMallocFromPoolAsync(place: *mut *mut c_void, bytes: usize, pool: *mut c_void, stream: Stream) |program, name, place, bytes, pool, stream| {
        program.pool(name, pool)?;
        // SAFETY: the caller says so.
        unsafe { put_in_order(program, name, place, bytes, stream) }
    };
}
