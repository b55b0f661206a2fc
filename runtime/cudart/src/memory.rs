//! Memory: allocations, copies, fills, and what the host and kernels share.
//!
//! Memory of the device is the emulator's alone. What the host can reach, too (managed and page-locked memory), has the same address for both:
//! it is the host's between launches, and each launch takes it over and gives it back.

use std::ffi::{c_int, c_uint, c_void};

use cute_runtime::emulator::{Memory, Pointer};

use crate::Error;
use crate::abi::{Direction, Extent, PitchedPointer, Stream};
use crate::program::{Program, call};

/// Addresses from here on are no process's, but the emulator's.
const DEVICE: u64 = 1 << 47;
/// Bytes of a page.
const PAGE: u32 = 4096;
/// Rows of pitched memory begin at multiples of as many bytes.
const PITCH: usize = 512;

/// Memory that the host and kernels have.
pub(crate) struct Mapped {
    bytes: usize,
    /// Its address on the host.
    host: usize,
    /// Its memory on the emulator.
    pointer: Pointer,
    /// Tells whether it was the host's before, and stays so.
    registered: bool,
}

/// The side of an address.
enum Side {
    Host(*mut u8),
    Device(Pointer),
}

impl Program {
    fn side(&self, address: *const c_void) -> Side {
        match address as u64 {
            at @ DEVICE.. => {
                let below = self.mapped.range(..=at).next_back();
                match below {
                    Some((base, mapped)) if at - base < mapped.bytes as u64 => {
                        Side::Host((mapped.host + (at - base) as usize) as *mut u8)
                    }
                    _ => Side::Device(Pointer::of_address(at)),
                }
            }
            _ => Side::Host(address.cast_mut().cast()),
        }
    }

    /// Tells whether memory at an address may be given as memory of the device.
    fn is_mapped(&self, address: *const c_void) -> bool {
        let at = address as u64;
        let below = self.mapped.range(..=at).next_back();
        below.is_some_and(|(base, mapped)| at - base < mapped.bytes as u64)
    }

    /// The name of the next allocation, if the emulator has room for it.
    fn next_name(&mut self, call: &str, bytes: usize) -> Result<String, Error> {
        let left = self.session.free_bytes();
        if bytes as u64 > left {
            let text = format!(
                "expected at most {left} bytes, which the emulator still has, found {bytes}; run a smaller problem"
            );
            return Err(self.refuse(call, &text, Error::MemoryAllocation));
        }
        self.allocations += 1;
        Ok(format!(
            "the memory of {bytes} bytes that {call} gave (allocation {})",
            self.allocations
        ))
    }

    fn allocate(&mut self, call: &str, bytes: usize) -> Result<*mut c_void, Error> {
        if bytes == 0 {
            return Ok(std::ptr::null_mut());
        }
        let name = self.next_name(call, bytes)?;
        let made = self.session.allocate(&name, Memory::uninitialized(bytes));
        let pointer = made.map_err(|error| self.failed(call, &error, Error::MemoryAllocation))?;
        Ok(pointer.address() as *mut c_void)
    }

    /// Allocates memory that has one address for the host and for kernels.
    fn allocate_shared(&mut self, call: &str, bytes: usize) -> Result<*mut c_void, Error> {
        if bytes == 0 {
            return Ok(std::ptr::null_mut());
        }
        let name = self.next_name(call, bytes)?;
        // An address that the process has something at is not taken, and another one is tried.
        let mut taken = Vec::new();
        let found = loop {
            let memory = Memory::holding(&vec![0; bytes])
                .aligned(PAGE)
                .shared_with_host();
            let made = self.session.allocate(&name, memory);
            let pointer = match made {
                Ok(pointer) => pointer,
                Err(error) => break Err(error),
            };
            let at = pointer.address();
            // SAFETY: memory that exists is not replaced.
            let host = unsafe {
                libc::mmap(
                    at as *mut c_void,
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                    -1,
                    0,
                )
            };
            if host as u64 == at {
                break Ok(pointer);
            }
            if host != libc::MAP_FAILED {
                // SAFETY: a kernel that does not know the flag has put it elsewhere.
                unsafe { libc::munmap(host, bytes) };
            }
            taken.push(pointer);
        };
        for pointer in taken {
            // It is allocated.
            let _ = self.session.free(pointer);
        }
        let pointer = found.map_err(|error| self.failed(call, &error, Error::MemoryAllocation))?;
        let at = pointer.address();
        let mapped = Mapped {
            bytes,
            host: at as usize,
            pointer,
            registered: false,
        };
        self.mapped.insert(at, mapped);
        Ok(at as *mut c_void)
    }

    fn free(&mut self, call: &str, address: *mut c_void) -> Result<(), Error> {
        if address.is_null() {
            return Ok(());
        }
        if let Some(mapped) = self.mapped.remove(&(address as u64))
            && !mapped.registered
        {
            // SAFETY: it was mapped by `allocate_shared`, and is the program's no more.
            unsafe { libc::munmap(mapped.host as *mut c_void, mapped.bytes) };
        }
        let freed = self.session.free(Pointer::of_address(address as u64));
        freed.map_err(|error| self.failed(call, &error, Error::InvalidValue))
    }

    /// Gives what the host has written to a launch.
    pub fn send_mapped(&mut self, call: &str) -> Result<(), Error> {
        let mut failure = None;
        for mapped in self.mapped.values() {
            // SAFETY: the program has this memory until it frees it.
            let bytes =
                unsafe { std::slice::from_raw_parts(mapped.host as *const u8, mapped.bytes) };
            if let Err(error) = self.session.write(mapped.pointer, bytes) {
                failure = Some(error);
            }
        }
        match failure {
            Some(error) => Err(self.failed(call, &error, Error::Unknown)),
            None => Ok(()),
        }
    }

    /// Gives what a launch has written to the host.
    pub fn fetch_mapped(&mut self) {
        for mapped in self.mapped.values() {
            if !self.session.touched(mapped.pointer) {
                continue;
            }
            // SAFETY: as above, and nothing else of this library looks at it now.
            let bytes =
                unsafe { std::slice::from_raw_parts_mut(mapped.host as *mut u8, mapped.bytes) };
            // It is as long as the memory of the emulator.
            let _ = self.session.read_to(mapped.pointer, bytes);
        }
    }

    /// Copies bytes.
    ///
    /// # Safety
    /// Memory that is said to be the host's has as many bytes.
    unsafe fn copy(
        &mut self,
        call: &str,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        direction: c_int,
    ) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let Some(direction) = Direction::of(direction) else {
            let text = format!("expected a direction of copies (0 to 4), found {direction}");
            return Err(self.refuse(call, &text, Error::InvalidValue));
        };
        let (wants_to, wants_from) = match direction {
            Direction::HostToHost => (Some(false), Some(false)),
            Direction::HostToDevice => (Some(true), Some(false)),
            Direction::DeviceToHost => (Some(false), Some(true)),
            Direction::DeviceToDevice => (Some(true), Some(true)),
            Direction::Default => (None, None),
        };
        let sides = [
            (wants_to, to.cast_const(), "destination"),
            (wants_from, from, "source"),
        ];
        for (wanted, address, role) in sides {
            let device = matches!(self.side(address), Side::Device(_));
            let wrong = match wanted {
                // Memory that both have is either's.
                Some(wanted) => wanted != device && !self.is_mapped(address),
                None => false,
            };
            if wrong || address.is_null() {
                let (expected, found) = match (wanted, device) {
                    (Some(true), _) => (
                        "memory of the device",
                        if address.is_null() {
                            "a null pointer"
                        } else {
                            "an address of the host"
                        },
                    ),
                    (_, true) => ("memory of the host", "an address of the device"),
                    _ => ("memory", "a null pointer"),
                };
                let text = format!(
                    "expected {expected} as the {role}, found {found}; exchange the pointers, or mend the direction"
                );
                return Err(self.refuse(call, &text, Error::InvalidValue));
            }
        }
        let done = match (self.side(to), self.side(from)) {
            (Side::Host(to), Side::Host(from)) => {
                // SAFETY: the caller says so.
                unsafe { std::ptr::copy(from, to, bytes) };
                Ok(())
            }
            (Side::Device(to), Side::Host(from)) => {
                // SAFETY: the caller says so.
                let from = unsafe { std::slice::from_raw_parts(from, bytes) };
                self.session.write(to, from)
            }
            (Side::Host(to), Side::Device(from)) => {
                // SAFETY: the caller says so.
                let to = unsafe { std::slice::from_raw_parts_mut(to, bytes) };
                self.session.read_to(from, to)
            }
            (Side::Device(to), Side::Device(from)) => self.session.copy(to, from, bytes as u64),
        };
        done.map_err(|error| self.failed(call, &error, Error::InvalidValue))
    }

    /// Fills bytes.
    ///
    /// # Safety
    /// Memory of the host has as many bytes.
    unsafe fn fill(
        &mut self,
        call: &str,
        to: *mut c_void,
        value: c_int,
        bytes: usize,
    ) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        match self.side(to) {
            Side::Host(host) if self.is_mapped(to) => {
                // SAFETY: the caller says so.
                unsafe { std::ptr::write_bytes(host, value as u8, bytes) };
                Ok(())
            }
            Side::Host(_) => {
                let text =
                    "expected memory of the device, found an address of the host; use memset";
                Err(self.refuse(call, text, Error::InvalidValue))
            }
            Side::Device(pointer) => {
                let done = self.session.fill(pointer, value as u8, bytes as u64);
                done.map_err(|error| self.failed(call, &error, Error::InvalidValue))
            }
        }
    }
}

/// Defines functions that do something with the program and return an error's number. All have the same contract.
macro_rules! calls {
    ($($(#[doc = $doc:literal])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $action:expr;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// Pointers to results can be written to, and memory of the host has the bytes that are asked for.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> c_int {
            let action: fn(&mut crate::program::Program, &str, $($ty),*) -> Result<(), Error> = $action;
            call(stringify!($name), |program| action(program, stringify!($name), $($argument),*))
        }
    )*};
}
pub(crate) use calls;

/// Writes a result where a program wants it.
///
/// # Safety
/// The place is null or can be written to.
pub(crate) unsafe fn put<T>(
    program: &mut Program,
    call: &str,
    place: *mut T,
    value: T,
) -> Result<(), Error> {
    if place.is_null() {
        let text = "expected a place for the result, found a null pointer";
        return Err(program.refuse(call, text, Error::InvalidValue));
    }
    // SAFETY: the caller says so.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes the address of new memory of the device where a program wants it.
///
/// # Safety
/// As [`put`].
unsafe fn put_memory(
    program: &mut Program,
    call: &str,
    place: *mut *mut c_void,
    bytes: usize,
) -> Result<(), Error> {
    let made = program.allocate(call, bytes)?;
    // SAFETY: the caller says so.
    unsafe { put(program, call, place, made) }
}

/// Writes the address of new memory that the host and kernels have where a program wants it.
///
/// # Safety
/// As [`put`].
unsafe fn put_shared(
    program: &mut Program,
    call: &str,
    place: *mut *mut c_void,
    bytes: usize,
) -> Result<(), Error> {
    let made = program.allocate_shared(call, bytes)?;
    // SAFETY: the caller says so.
    unsafe { put(program, call, place, made) }
}

/// The arguments of a copy of rows: destination, source, their pitches, bytes of a row, rows.
type Rows = (*mut c_void, usize, *const c_void, usize, usize, usize);

/// # Safety
/// As of each row.
unsafe fn copy_rows(
    program: &mut Program,
    name: &str,
    (to, to_pitch, from, from_pitch, width, height): Rows,
    direction: c_int,
) -> Result<(), Error> {
    if height > 1 && (width > to_pitch || width > from_pitch) {
        let text = format!(
            "expected rows of at most a pitch, found {width} bytes with pitches of {to_pitch} and {from_pitch}"
        );
        return Err(program.refuse(name, &text, Error::InvalidValue));
    }
    for row in 0..height {
        let to = to.wrapping_byte_add(row * to_pitch);
        let from = from.wrapping_byte_add(row * from_pitch);
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, width, direction)? };
    }
    Ok(())
}

fn with_offset(
    program: &mut Program,
    name: &str,
    symbol: *const c_void,
    offset: usize,
) -> Result<*mut c_void, Error> {
    let (pointer, _) = program.symbol(name, symbol)?;
    Ok(pointer.offset(offset as i64).address() as *mut c_void)
}

calls! {
    /// Allocates memory of the device.
    fn cudaMalloc(place: *mut *mut c_void, bytes: usize) |program, name, place, bytes| {
        // SAFETY: the caller says so.
        unsafe { put_memory(program, name, place, bytes) }
    };

    /// Allocates memory of the device in the order of a stream.
    fn cudaMallocAsync(place: *mut *mut c_void, bytes: usize, stream: Stream) |program, name, place, bytes, _| {
        // SAFETY: the caller says so.
        unsafe { put_memory(program, name, place, bytes) }
    };

    /// Allocates memory that the host and kernels have.
    fn cudaMallocManaged(place: *mut *mut c_void, bytes: usize, flags: c_uint) |program, name, place, bytes, _| {
        // SAFETY: the caller says so.
        unsafe { put_shared(program, name, place, bytes) }
    };

    /// Allocates memory of the host that kernels have, too.
    fn cudaMallocHost(place: *mut *mut c_void, bytes: usize) |program, name, place, bytes| {
        // SAFETY: the caller says so.
        unsafe { put_shared(program, name, place, bytes) }
    };

    /// Allocates memory of the host that kernels have, too.
    fn cudaHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint) |program, name, place, bytes, _| {
        // SAFETY: the caller says so.
        unsafe { put_shared(program, name, place, bytes) }
    };

    /// Allocates rows of memory of the device.
    fn cudaMallocPitch(place: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) |program, name, place, pitch, width, height| {
        let row = width.next_multiple_of(PITCH);
        let made = program.allocate(name, row.saturating_mul(height))?;
        // SAFETY: the caller says so.
        unsafe {
            put(program, name, pitch, row)?;
            put(program, name, place, made)
        }
    };

    /// Allocates planes of rows of memory of the device.
    fn cudaMalloc3D(place: *mut PitchedPointer, extent: Extent) |program, name, place, extent| {
        let pitch = extent.width.next_multiple_of(PITCH);
        let pointer = program.allocate(name, pitch.saturating_mul(extent.height).saturating_mul(extent.depth))?;
        let made = PitchedPointer { pointer, pitch, width: extent.width, height: extent.height };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, made) }
    };

    /// Frees memory of the device, or memory that both have.
    fn cudaFree(address: *mut c_void) |program, name, address| program.free(name, address);

    /// Frees memory of the device in the order of a stream.
    fn cudaFreeAsync(address: *mut c_void, stream: Stream) |program, name, address, _| program.free(name, address);

    /// Frees memory of the host that kernels have, too.
    fn cudaFreeHost(address: *mut c_void) |program, name, address| program.free(name, address);

    /// Lets kernels have memory of the host, at an address of its own ([`cudaHostGetDevicePointer`]).
    fn cudaHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) |program, name, address, bytes, _| {
        let known = |mapped: &Mapped| mapped.host == address as usize;
        if program.mapped.values().any(known) {
            return Err(program.refuse(name, "the memory is registered already", Error::HostMemoryAlreadyRegistered));
        }
        let at = program.allocate(name, bytes)? as u64;
        let pointer = Pointer::of_address(at);
        program.mapped.insert(at, Mapped { bytes, host: address as usize, pointer, registered: true });
        Ok(())
    };

    /// Ends what [`cudaHostRegister`] began.
    fn cudaHostUnregister(address: *mut c_void) |program, name, address| {
        let known = program.mapped.iter().find(|(_, mapped)| mapped.registered && mapped.host == address as usize);
        match known.map(|(at, _)| *at) {
            Some(at) => program.free(name, at as *mut c_void),
            None => {
                let text = "expected the start of registered memory, found another address";
                Err(program.refuse(name, text, Error::HostMemoryNotRegistered))
            }
        }
    };

    /// Tells the address that kernels have for memory of the host.
    fn cudaHostGetDevicePointer(place: *mut *mut c_void, address: *mut c_void, flags: c_uint) |program, name, place, address, _| {
        let at = address as usize;
        let mut mapped = program.mapped.iter().map(|(base, mapped)| (*base, mapped.host, mapped.bytes));
        let found = mapped.find(|(_, host, bytes)| at >= *host && at - *host < *bytes);
        let Some((base, host, _)) = found else {
            let text = "expected memory of the host that kernels have, found another address; allocate it by cudaHostAlloc, or register it";
            return Err(program.refuse(name, text, Error::InvalidValue));
        };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, (base as usize + at - host) as *mut c_void) }
    };

    /// Copies bytes.
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int) |program, name, to, from, bytes, direction| {
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, direction) }
    };

    /// Copies bytes in the order of a stream.
    fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int, stream: Stream) |program, name, to, from, bytes, direction, _| {
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, direction) }
    };

    /// Copies bytes between devices, of which there is one.
    fn cudaMemcpyPeer(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, bytes: usize) |program, name, to, _, from, _, bytes| {
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, 3) }
    };

    /// Copies rows.
    fn cudaMemcpy2D(to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int)
        |program, name, to, to_pitch, from, from_pitch, width, height, direction| {
        // SAFETY: the caller says so.
        unsafe { copy_rows(program, name, (to, to_pitch, from, from_pitch, width, height), direction) }
    };

    /// Copies rows in the order of a stream.
    fn cudaMemcpy2DAsync(to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int, stream: Stream)
        |program, name, to, to_pitch, from, from_pitch, width, height, direction, _| {
        // SAFETY: the caller says so.
        unsafe { copy_rows(program, name, (to, to_pitch, from, from_pitch, width, height), direction) }
    };

    /// Fills bytes of the device.
    fn cudaMemset(to: *mut c_void, value: c_int, bytes: usize) |program, name, to, value, bytes| {
        // SAFETY: the caller says so.
        unsafe { program.fill(name, to, value, bytes) }
    };

    /// Fills bytes of the device in the order of a stream.
    fn cudaMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: Stream) |program, name, to, value, bytes, _| {
        // SAFETY: the caller says so.
        unsafe { program.fill(name, to, value, bytes) }
    };

    /// Fills rows of the device.
    fn cudaMemset2D(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) |program, name, to, pitch, value, width, height| {
        for row in 0..height {
            // SAFETY: the caller says so.
            unsafe { program.fill(name, to.wrapping_byte_add(row * pitch), value, width)? };
        }
        Ok(())
    };

    /// Copies bytes to a variable of the device.
    fn cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int) |program, name, symbol, from, bytes, offset, direction| {
        let to = with_offset(program, name, symbol, offset)?;
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, direction) }
    };

    /// Copies bytes to a variable of the device in the order of a stream.
    fn cudaMemcpyToSymbolAsync(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Stream)
        |program, name, symbol, from, bytes, offset, direction, _| {
        let to = with_offset(program, name, symbol, offset)?;
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, direction) }
    };

    /// Copies bytes from a variable of the device.
    fn cudaMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int) |program, name, to, symbol, bytes, offset, direction| {
        let from = with_offset(program, name, symbol, offset)?;
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, direction) }
    };

    /// Copies bytes from a variable of the device in the order of a stream.
    fn cudaMemcpyFromSymbolAsync(to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Stream)
        |program, name, to, symbol, bytes, offset, direction, _| {
        let from = with_offset(program, name, symbol, offset)?;
        // SAFETY: the caller says so.
        unsafe { program.copy(name, to, from, bytes, direction) }
    };

    /// Tells the address of a variable of the device.
    fn cudaGetSymbolAddress(place: *mut *mut c_void, symbol: *const c_void) |program, name, place, symbol| {
        let at = with_offset(program, name, symbol, 0)?;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, at) }
    };

    /// Tells the bytes of a variable of the device.
    fn cudaGetSymbolSize(place: *mut usize, symbol: *const c_void) |program, name, place, symbol| {
        let (_, bytes) = program.symbol(name, symbol)?;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, bytes as usize) }
    };

    /// Tells the bytes of memory that are free, and all of them.
    fn cudaMemGetInfo(free: *mut usize, all: *mut usize) |program, name, free, all| {
        let left = program.session.free_bytes() as usize;
        // SAFETY: the caller says so.
        unsafe {
            put(program, name, free, left)?;
            put(program, name, all, crate::device::MEMORY)
        }
    };

    /// Tells the pool that memory in the order of streams comes from, which is all of the device's.
    fn cudaDeviceGetDefaultMemPool(place: *mut *mut c_void, device: c_int) |program, name, place, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, POOL as *mut c_void) }
    };

    /// Tells the pool that is used.
    fn cudaDeviceGetMemPool(place: *mut *mut c_void, device: c_int) |program, name, place, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, POOL as *mut c_void) }
    };

    /// Tells what kind of memory an address is in (`cudaPointerAttributes`, up to the members that all versions have).
    fn cudaPointerGetAttributes(place: *mut PointerAttributes, address: *const c_void) |program, name, place, address| {
        let nowhere = std::ptr::null_mut();
        let told = match program.side(address) {
            Side::Device(pointer) if program.session.extent(pointer).is_some() => {
                PointerAttributes { kind: 2, device: 0, for_kernels: address.cast_mut(), for_host: nowhere }
            }
            Side::Host(host) if program.is_mapped(address) => {
                PointerAttributes { kind: 3, device: 0, for_kernels: address.cast_mut(), for_host: host.cast() }
            }
            _ => PointerAttributes { kind: 0, device: -2, for_kernels: nowhere, for_host: address.cast_mut() },
        };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, told) }
    };
}

/// The facts of an address.
#[repr(C)]
pub struct PointerAttributes {
    /// 0 is memory that CUDA does not know, 2 memory of the device, 3 memory that both have.
    kind: c_int,
    device: c_int,
    for_kernels: *mut c_void,
    for_host: *mut c_void,
}

/// The handle of the pool.
const POOL: usize = 0x10;

/// Sets how long a pool keeps memory, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolSetAttribute() -> c_int {
    0
}

/// Gives back what a pool keeps, which is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolTrimTo() -> c_int {
    0
}

/// Chooses the pool that is used, of which there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetMemPool() -> c_int {
    0
}

/// Takes a hint where memory is wanted, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPrefetchAsync() -> c_int {
    0
}

/// Takes a hint on memory, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemAdvise() -> c_int {
    0
}

/// Takes a hint where memory is wanted, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPrefetchAsync_v2() -> c_int {
    0
}

/// Takes a hint on memory, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemAdvise_v2() -> c_int {
    0
}
