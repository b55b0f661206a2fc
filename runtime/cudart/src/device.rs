//! The device: one, which the emulator is.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cute_target::{REGISTERS, THREADS_PER_BLOCK, WARP};

use crate::Error;
use crate::abi::ChannelFormat;
use crate::calls::{calls, elements, put};
use crate::program::{Program, call};

/// Bytes of memory.
pub(crate) const MEMORY: usize = 1 << 30;
/// Multiprocessors that programs are told where `--sms` says nothing: fewer than GPUs have, as programs make as much work as these take.
const MULTIPROCESSORS: u32 = 8;
/// The version of the driver that programs are told.
const DRIVER: c_int = 13_000;
/// Kilohertz of the clock, which stands for nothing.
const CLOCK: c_int = 1_000_000;
/// Bytes of the level-2 cache, and bits of the bus: those of an A100.
const L2: c_int = 40 << 20;
const BUS: c_int = 5120;

impl Program {
    /// Multiprocessors that programs are told.
    pub fn multiprocessors(&self) -> u32 {
        self.settings.config.sms.unwrap_or(MULTIPROCESSORS)
    }

    /// Reads the modules of the program, by which its architecture is known.
    fn read_modules(&mut self, name: &str) {
        for binary in 0..self.binaries.len() {
            // Without PTX, its kernels say so when they are launched.
            if self.has_code(binary) {
                let _ = self.module(name, binary);
            }
        }
    }

    /// The facts that programs may ask of the device.
    fn device_facts(&mut self, name: &str) -> Vec<Fact> {
        self.read_modules(name);
        let arch = self.session.arch();
        let sm = arch.multiprocessor();
        let int = |value: u32| Value::Int(value as c_int);
        let fact = |attribute, twelve, thirteen, value| Fact {
            attribute: Some(attribute),
            places: [Some(twelve), Some(thirteen)],
            value,
        };
        let old = |attribute, twelve, value| Fact {
            places: [Some(twelve), None],
            ..fact(attribute, twelve, twelve, value)
        };
        let mut all = vec![
            Fact {
                attribute: None,
                ..fact(0, 288, 288, Value::Size(MEMORY))
            },
            fact(8, 296, 296, Value::Size(48 * 1024)),
            fact(12, 304, 304, int(REGISTERS)),
            fact(10, 308, 308, int(WARP)),
            fact(11, 312, 312, Value::Size(i32::MAX as usize)),
            fact(1, 320, 320, int(THREADS_PER_BLOCK)),
            fact(2, 324, 324, int(THREADS_PER_BLOCK)),
            fact(3, 328, 328, int(THREADS_PER_BLOCK)),
            fact(4, 332, 332, int(64)),
            fact(5, 336, 336, int(i32::MAX as u32)),
            fact(6, 340, 340, int(65_535)),
            fact(7, 344, 344, int(65_535)),
            old(13, 348, Value::Int(CLOCK)),
            fact(9, 352, 352, Value::Size(64 * 1024)),
            fact(75, 360, 360, int(arch.major)),
            fact(76, 364, 364, int(arch.minor)),
            // Overlaps copies.
            old(15, 384, int(1)),
            fact(16, 388, 384, int(self.multiprocessors())),
            // Maps memory of the host, runs kernels at a time, copies beside them, has one address space.
            fact(19, 400, 392, int(1)),
            fact(31, 576, 560, int(1)),
            fact(40, 600, 584, int(1)),
            fact(41, 604, 588, int(1)),
            old(36, 608, Value::Int(CLOCK)),
            fact(37, 612, 592, Value::Int(BUS)),
            fact(38, 616, 596, Value::Int(L2)),
            fact(39, 624, 604, int(sm.warps * WARP)),
            // Has priorities of streams; L1 holds global and local memory.
            fact(78, 628, 608, int(1)),
            fact(79, 632, 612, int(1)),
            fact(80, 636, 616, int(1)),
            fact(81, 640, 624, Value::Size(sm.shared_memory as usize)),
            fact(82, 648, 632, int(REGISTERS)),
            // Has managed memory, and launches whose blocks wait for each other.
            fact(83, 652, 636, int(1)),
            fact(95, 688, 668, int(1)),
            fact(97, 696, 672, Value::Size(sm.block_shared_memory as usize)),
            fact(106, 712, 688, int(sm.blocks)),
            fact(111, 720, 696, Value::Size(sm.reserved as usize)),
            // Allocates in the order of streams, and has clusters.
            fact(115, 744, 720, int(1)),
            fact(120, 772, 748, int(u32::from(arch.major >= 9))),
        ];
        let lacking = LACKING.iter().map(|attribute| Fact {
            attribute: Some(*attribute),
            places: [None; 2],
            value: Value::Int(0),
        });
        all.extend(lacking);
        all
    }
}

/// Attributes that are 0, as their places in the structures are: a time limit of kernels, memory that is the host's, a mode of use, ECC, the place
/// on a bus and the driver's kind; several GPUs on a board, atomics with the host, pageable memory, access by both at a time, preemption, addresses
/// of registered memory.
const LACKING: [c_int; 15] = [17, 18, 20, 32, 33, 34, 35, 50, 84, 85, 86, 88, 89, 90, 91];

/// A fact of the device.
struct Fact {
    /// The number by which `cudaDeviceGetAttribute` asks for it (`cudaDeviceAttr`).
    attribute: Option<c_int>,
    /// Its place in `cudaDeviceProp` of CUDA 12 and of 13.
    places: [Option<usize>; 2],
    value: Value,
}

/// The value of a fact.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(c_int),
    Size(usize),
}

/// Bytes of `cudaDeviceProp`, in CUDA 12 and in 13.
const SIZES: [usize; 2] = [1032, 1008];
const NAME: &[u8] = b"cute-opt emulator";

/// # Safety
/// The structure is that of the version.
unsafe fn tell_properties(name: &str, to: *mut u8, device: c_int, version: usize) -> c_int {
    call(name, |program| {
        program.only_device(name, device)?;
        let mut bytes = vec![0; SIZES[version]];
        bytes[..NAME.len()].copy_from_slice(NAME);
        for fact in program.device_facts(name) {
            match (fact.places[version], fact.value) {
                (Some(at), Value::Int(value)) => {
                    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes())
                }
                (Some(at), Value::Size(value)) => {
                    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
                }
                (None, _) => {}
            }
        }
        if to.is_null() {
            return Err(program.refuse(
                name,
                "expected a place for the properties, found a null pointer",
                Error::InvalidValue,
            ));
        }
        // SAFETY: the caller says so.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    })
}

/// Tells the properties of the device, to a program of CUDA 12.
///
/// # Safety
/// The structure is that of CUDA 12.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceProperties_v2(to: *mut u8, device: c_int) -> c_int {
    // SAFETY: the caller says so.
    unsafe { tell_properties("cudaGetDeviceProperties", to, device, 0) }
}

/// Tells the properties of the device, to a program of CUDA 13.
///
/// # Safety
/// The structure is that of CUDA 13.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceProperties(to: *mut u8, device: c_int) -> c_int {
    // SAFETY: the caller says so.
    unsafe { tell_properties("cudaGetDeviceProperties", to, device, 1) }
}

impl Program {
    /// Refuses a device that there is not.
    pub fn only_device(&mut self, call: &str, device: c_int) -> Result<(), Error> {
        match device {
            0 => Ok(()),
            other => {
                let text = format!("expected device 0, which is the only one, found {other}");
                Err(self.refuse(call, &text, Error::InvalidDevice))
            }
        }
    }

    /// Refuses another device, which the device has none of.
    fn no_peer(&mut self, call: &str, peer: c_int) -> Error {
        let text = format!(
            "expected another device, found {peer}: there is device 0 alone; ask by cudaDeviceCanAccessPeer first"
        );
        self.refuse(call, &text, Error::InvalidDevice)
    }
}

/// The place of the device on a bus.
const BUS_ID: &[u8] = b"0000:00:00.0\0";

calls! {
    /// Tells the number of devices.
    fn cudaGetDeviceCount(place: *mut c_int) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 1) }
    };

    /// Tells the device that is used.
    fn cudaGetDevice(place: *mut c_int) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 0) }
    };

    /// Chooses the device.
    fn cudaSetDevice(device: c_int) |program, name, device| program.only_device(name, device);

    /// Chooses the device, in CUDA 12.
    fn cudaChooseDevice(place: *mut c_int, properties: *const c_void) |program, name, place, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 0) }
    };

    /// Waits for all work, which has been done.
    fn cudaDeviceSynchronize() |program, name| program.wait_for_all(name);

    /// Tells an attribute of the device.
    fn cudaDeviceGetAttribute(place: *mut c_int, number: c_int, device: c_int) |program, name, place, number, device| {
        program.only_device(name, device)?;
        let facts = program.device_facts(name);
        let fact = facts.iter().find(|fact| fact.attribute == Some(number));
        match fact.map(|fact| fact.value) {
            // SAFETY: the caller says so.
            Some(Value::Int(value)) => unsafe { put(program, name, place, value) },
            // SAFETY: the caller says so. None is as large as 2^31.
            Some(Value::Size(value)) => unsafe { put(program, name, place, value as c_int) },
            None => {
                let text = format!("the emulator has no attribute {number} of devices");
                Err(program.refuse(name, &text, Error::NotSupported))
            }
        }
    };

    /// Tells whether a device can reach another one's memory.
    fn cudaDeviceCanAccessPeer(place: *mut c_int, device: c_int, peer: c_int) |program, name, place, _, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 0) }
    };

    /// Tells the range of priorities of streams.
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |program, name, least, greatest| {
        // SAFETY: the caller says so.
        unsafe {
            put(program, name, least, 0)?;
            put(program, name, greatest, 0)
        }
    };

    /// Tells the version of the driver.
    fn cudaDriverGetVersion(place: *mut c_int) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, DRIVER) }
    };

    /// Tells the version of the runtime.
    fn cudaRuntimeGetVersion(place: *mut c_int) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, DRIVER) }
    };

    /// Tells the place of the device on a bus.
    fn cudaDeviceGetPCIBusId(place: *mut c_char, length: c_int, device: c_int) |program, name, place, length, device| {
        program.only_device(name, device)?;
        if place.is_null() || usize::try_from(length).unwrap_or(0) < BUS_ID.len() {
            return Err(program.refuse(name, "expected a place for 13 characters", Error::InvalidValue));
        }
        // SAFETY: the caller says so.
        unsafe { std::ptr::copy_nonoverlapping(BUS_ID.as_ptr(), place.cast(), BUS_ID.len()) };
        Ok(())
    };

    /// Finds the device at a place on a bus.
    fn cudaDeviceGetByPCIBusId(place: *mut c_int, text: *const c_char) |program, name, place, text| {
        // SAFETY: the caller says so.
        let found = unsafe { crate::registered::text(text) };
        if found.as_bytes() != &BUS_ID[..BUS_ID.len() - 1] {
            let text = format!("expected the place of the device (0000:00:00.0), found {found}");
            return Err(program.refuse(name, &text, Error::InvalidDevice));
        }
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 0) }
    };

    /// Waits for all work, as programs of old do it.
    fn cudaThreadSynchronize() |program, name| program.wait_for_all(name);

    /// Prepares a device.
    fn cudaInitDevice(device: c_int, device_flags: c_uint, flags: c_uint) |program, name, device, _, _| program.only_device(name, device);

    /// Says which devices may be used.
    fn cudaSetValidDevices(devices: *mut c_int, count: c_int) |program, name, devices, count| {
        // SAFETY: the caller says so.
        let devices = unsafe { elements(devices.cast_const(), usize::try_from(count).unwrap_or(0)) };
        for device in devices.unwrap_or_default() {
            program.only_device(name, device)?;
        }
        Ok(())
    };

    /// Lets the device reach another one's memory, which there is not.
    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) |program, name, peer, _| Err(program.no_peer(name, peer));

    /// Lets the device reach another one's memory no more.
    fn cudaDeviceDisablePeerAccess(peer: c_int) |program, name, peer| Err(program.no_peer(name, peer));

    /// Tells what a device has of another one, which there is not.
    fn cudaDeviceGetP2PAttribute(place: *mut c_int, attribute: c_int, from: c_int, to: c_int) |program, name, _, _, _, to| Err(program.no_peer(name, to));
}

/// Begins what a profiler sees.
#[unsafe(no_mangle)]
pub extern "C" fn cudaProfilerStart() -> c_int {
    0
}

/// Ends what a profiler sees.
#[unsafe(no_mangle)]
pub extern "C" fn cudaProfilerStop() -> c_int {
    0
}

/// Makes the format of a texture's elements.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_int,
) -> ChannelFormat {
    ChannelFormat {
        bits: [x, y, z, w],
        kind,
    }
}
