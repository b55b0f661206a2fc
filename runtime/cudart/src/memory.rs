//! Memory: allocations, and what the host and kernels share.
//!
//! Memory of the device is the emulator's alone. What the host can reach, too (managed and page-locked memory), has the same address for both:
//! it is the host's between launches, and each launch takes it over and gives it back.

use std::ffi::{c_int, c_uint, c_void};

use cute_runtime::emulator::{Memory, Pointer};

use crate::Error;
use crate::abi::{Extent, PitchedPointer, Stream};
use crate::calls::{calls, put};
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

impl Mapped {
    /// Takes it from the host, unless that had it before.
    fn release(self) {
        if !self.registered {
            // SAFETY: it was mapped by `Program::share`, and is the program's no more.
            unsafe { libc::munmap(self.host as *mut c_void, self.bytes) };
        }
    }
}

/// The side of an address.
pub(crate) enum Side {
    Host(*mut u8),
    Device(Pointer),
}

impl Program {
    /// The side that an address is on.
    pub fn side(&self, address: *const c_void) -> Side {
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

    /// Bytes from an address on in memory that the host and kernels have; none of another address of kernels.
    pub fn mapped_left(&self, address: *const c_void) -> Option<usize> {
        let at = address as u64;
        let (base, mapped) = self.mapped.range(..=at).next_back()?;
        let offset = usize::try_from(at - base).ok()?;
        mapped.bytes.checked_sub(offset).filter(|left| *left > 0)
    }

    /// Tells whether memory at an address may be given as memory of the device.
    pub fn is_mapped(&self, address: *const c_void) -> bool {
        self.mapped_left(address).is_some()
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

    /// Allocates memory of the device.
    pub fn allocate(&mut self, call: &str, bytes: usize) -> Result<*mut c_void, Error> {
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
        self.share(call, &name, bytes)
    }

    /// Allocates memory that has one address for the host and for kernels, and this name.
    pub fn share(&mut self, call: &str, name: &str, bytes: usize) -> Result<*mut c_void, Error> {
        // An address that the process has something at is not taken, and another one is tried.
        let mut taken = Vec::new();
        let found = loop {
            let memory = Memory::holding(&vec![0; bytes])
                .aligned(PAGE)
                .shared_with_host();
            let made = self.session.allocate(name, memory);
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
        if self.variables.contains_key(&(address as usize)) {
            let text = "expected memory that an allocation gave, found a variable";
            return Err(self.refuse(call, text, Error::InvalidValue));
        }
        if let Some(mapped) = self.mapped.remove(&(address as u64)) {
            mapped.release();
        }
        let freed = self.session.free(Pointer::of_address(address as u64));
        freed.map_err(|error| self.failed(call, &error, Error::InvalidValue))
    }

    /// Refuses an allocation in a stream that is captured.
    fn not_captured(&mut self, call: &str, stream: Stream) -> Result<(), Error> {
        match self.enter(call, stream)? {
            None => Ok(()),
            Some((capture, _)) => {
                self.invalidate(capture);
                let text = "expected a stream that is not captured, found one that is: the emulator's graphs allocate and free no memory; do so before the capture";
                Err(self.refuse(call, text, Error::NotSupported))
            }
        }
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
            if self.session.touched(mapped.pointer) {
                self.give(mapped);
            }
        }
    }

    /// Gives all that memory holds that both have to the host.
    pub fn fetch_all(&mut self) {
        for mapped in self.mapped.values() {
            self.give(mapped);
        }
    }

    /// Takes memory that both have from the host, other than that of variables, whose addresses the program keeps.
    pub fn release_mapped(&mut self) {
        let all = std::mem::take(&mut self.mapped);
        for (at, mapped) in all {
            if self.variables.contains_key(&(at as usize)) {
                self.mapped.insert(at, mapped);
            } else {
                mapped.release();
            }
        }
    }

    /// Gives what memory holds that both have, by its address for kernels, to the host.
    pub fn fetch(&mut self, at: u64) {
        if let Some(mapped) = self.mapped.get(&at) {
            self.give(mapped);
        }
    }

    fn give(&self, mapped: &Mapped) {
        // SAFETY: the program has this memory until it frees it, and nothing else of this library looks at it now.
        let bytes = unsafe { std::slice::from_raw_parts_mut(mapped.host as *mut u8, mapped.bytes) };
        // It is as long as the memory of the emulator.
        let _ = self.session.read_to(mapped.pointer, bytes);
    }
}

/// Bytes from row to row.
fn pitch_of(width: usize) -> usize {
    width.checked_next_multiple_of(PITCH).unwrap_or(usize::MAX)
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
    program.outside_of_captures(call)?;
    let made = program.allocate(call, bytes)?;
    // SAFETY: the caller says so.
    unsafe { put(program, call, place, made) }
}

/// Writes the address of new memory of the device, which is had in the order of a stream.
///
/// # Safety
/// As [`put`].
pub(crate) unsafe fn put_in_order(
    program: &mut Program,
    call: &str,
    place: *mut *mut c_void,
    bytes: usize,
    stream: Stream,
) -> Result<(), Error> {
    program.not_captured(call, stream)?;
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
    program.outside_of_captures(call)?;
    let made = program.allocate_shared(call, bytes)?;
    // SAFETY: the caller says so.
    unsafe { put(program, call, place, made) }
}

calls! {
    /// Allocates memory of the device.
    fn cudaMalloc(place: *mut *mut c_void, bytes: usize) |program, name, place, bytes| {
        // SAFETY: the caller says so.
        unsafe { put_memory(program, name, place, bytes) }
    };

    /// Allocates memory of the device in the order of a stream.
    fn cudaMallocAsync(place: *mut *mut c_void, bytes: usize, stream: Stream) |program, name, place, bytes, stream| {
        // SAFETY: the caller says so.
        unsafe { put_in_order(program, name, place, bytes, stream) }
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
        program.outside_of_captures(name)?;
        let row = pitch_of(width);
        let made = program.allocate(name, row.saturating_mul(height))?;
        // SAFETY: the caller says so.
        unsafe {
            put(program, name, pitch, row)?;
            put(program, name, place, made)
        }
    };

    /// Allocates planes of rows of memory of the device.
    fn cudaMalloc3D(place: *mut PitchedPointer, extent: Extent) |program, name, place, extent| {
        program.outside_of_captures(name)?;
        let pitch = pitch_of(extent.width);
        let pointer = program.allocate(name, pitch.saturating_mul(extent.height).saturating_mul(extent.depth))?;
        let made = PitchedPointer { pointer, pitch, width: extent.width, height: extent.height };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, made) }
    };

    /// Frees memory of the device, or memory that both have.
    fn cudaFree(address: *mut c_void) |program, name, address| {
        program.outside_of_captures(name)?;
        program.free(name, address)
    };

    /// Frees memory of the device in the order of a stream.
    fn cudaFreeAsync(address: *mut c_void, stream: Stream) |program, name, address, stream| {
        program.not_captured(name, stream)?;
        program.free(name, address)
    };

    /// Frees memory of the host that kernels have, too.
    fn cudaFreeHost(address: *mut c_void) |program, name, address| {
        program.outside_of_captures(name)?;
        program.free(name, address)
    };

    /// Lets kernels have memory of the host, at an address of its own ([`cudaHostGetDevicePointer`]).
    fn cudaHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) |program, name, address, bytes, _| {
        program.outside_of_captures(name)?;
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
        program.outside_of_captures(name)?;
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

    /// Tells the bytes of memory that are free, and all of them.
    fn cudaMemGetInfo(free: *mut usize, all: *mut usize) |program, name, free, all| {
        let left = program.session.free_bytes() as usize;
        // SAFETY: the caller says so.
        unsafe {
            put(program, name, free, left)?;
            put(program, name, all, crate::device::MEMORY)
        }
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

impl Program {
    /// Checks that a hint is on memory that both have. CUDA 12 and 13 pass other arguments behind these.
    fn hint(&mut self, call: &str, address: *const c_void, bytes: usize) -> Result<(), Error> {
        let left = self.mapped_left(address).unwrap_or(0);
        if left >= bytes && left > 0 {
            return Ok(());
        }
        let text = format!(
            "expected {bytes} bytes of managed memory, found {left} from there on; allocate it by cudaMallocManaged"
        );
        Err(self.refuse(call, &text, Error::InvalidValue))
    }
}

calls! {
    /// Takes a hint where memory is wanted, which changes nothing.
    fn cudaMemPrefetchAsync(address: *const c_void, bytes: usize) |program, name, address, bytes| program.hint(name, address, bytes);

    /// Takes a hint on memory, which changes nothing.
    fn cudaMemAdvise(address: *const c_void, bytes: usize) |program, name, address, bytes| program.hint(name, address, bytes);

    /// Takes a hint where memory is wanted, in CUDA 12.2 and later.
    fn cudaMemPrefetchAsync_v2(address: *const c_void, bytes: usize) |program, name, address, bytes| program.hint(name, address, bytes);

    /// Takes a hint on memory, in CUDA 12.2 and later.
    fn cudaMemAdvise_v2(address: *const c_void, bytes: usize) |program, name, address, bytes| program.hint(name, address, bytes);
}
