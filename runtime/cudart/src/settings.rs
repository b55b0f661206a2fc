//! Settings that a program makes and asks for again, and those that change nothing on the emulator.

use std::ffi::{c_int, c_uint};

use crate::Error;
use crate::abi::{AttributeValue, Stream};
use crate::calls::{calls, put};
use crate::program::{Program, call, register};

/// Something that a program sets: a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Setting {
    /// A limit of the device (`cudaLimit`).
    Limit(c_int),
    /// The division of L1 and shared memory, and the width of banks.
    Cache,
    Banks,
    /// Flags of the device.
    Flags,
    /// An attribute of a pool of memory (`cudaMemPoolAttr`).
    Pool(usize, c_int),
}

impl Program {
    /// The value that the program has set, or the one that is there before.
    pub fn setting(&self, setting: Setting, before: u64) -> u64 {
        self.set.get(&setting).copied().unwrap_or(before)
    }

    /// The bytes or the number that a limit has where nothing is set. Kernels have what they need, whatever it is.
    fn limit(&mut self, call: &str, limit: c_int) -> Result<u64, Error> {
        Ok(match limit {
            // The stack of a thread, what it prints, the heap, launches that wait, what L2 fetches, what L2 keeps.
            0 => 1024,
            1 | 2 => 8 << 20,
            4 => 2048,
            5 => 128,
            6 => 0,
            other => {
                let text = format!("the emulator has no limit {other}");
                return Err(self.refuse(call, &text, Error::NotSupported));
            }
        })
    }

    /// Gives the device back.
    fn reset(&mut self, call: &str) -> Result<(), Error> {
        self.streams.clear();
        self.events.clear();
        self.captures.clear();
        self.graphs.clear();
        self.execs.clear();
        self.homes.clear();
        self.pools.clear();
        self.set.clear();
        self.attributes.clear();
        self.release_mapped();
        let done = self.session.reset();
        done.map_err(|error| self.failed(call, &error, Error::Unknown))?;
        self.fetch_all();
        Ok(())
    }

    /// Sets one of the numbers that an enumeration has.
    fn choose(
        &mut self,
        call: &str,
        setting: Setting,
        value: c_int,
        most: c_int,
    ) -> Result<(), Error> {
        if !(0..=most).contains(&value) {
            let text = format!("expected a number from 0 to {most}, found {value}");
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        self.set.insert(setting, value as u64);
        Ok(())
    }
}

calls! {
    /// Tells a limit of the device.
    fn cudaDeviceGetLimit(place: *mut usize, limit: c_int) |program, name, place, limit| {
        let before = program.limit(name, limit)?;
        let value = program.setting(Setting::Limit(limit), before) as usize;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, value) }
    };

    /// Sets a limit of the device, which kernels do not have here.
    fn cudaDeviceSetLimit(limit: c_int, value: usize) |program, name, limit, value| {
        program.limit(name, limit)?;
        program.set.insert(Setting::Limit(limit), value as u64);
        Ok(())
    };

    /// Tells how memory is shared out.
    fn cudaDeviceGetCacheConfig(place: *mut c_int) |program, name, place| {
        let value = program.setting(Setting::Cache, 0) as c_int;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, value) }
    };

    /// Sets how memory is shared out, which changes nothing here.
    fn cudaDeviceSetCacheConfig(value: c_int) |program, name, value| program.choose(name, Setting::Cache, value, 3);

    /// Tells the width of banks of shared memory, in CUDA 12.
    fn cudaDeviceGetSharedMemConfig(place: *mut c_int) |program, name, place| {
        // Banks of 4 bytes, as GPUs have them, whatever is set.
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 1) }
    };

    /// Sets the width of banks of shared memory, which changes nothing.
    fn cudaDeviceSetSharedMemConfig(value: c_int) |program, name, value| program.choose(name, Setting::Banks, value, 2);

    /// Tells the flags of the device.
    fn cudaGetDeviceFlags(place: *mut c_uint) |program, name, place| {
        let value = program.setting(Setting::Flags, 0) as c_uint;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, value) }
    };

    /// Sets how threads wait, which none does here.
    fn cudaSetDeviceFlags(flags: c_uint) |program, _, flags| {
        program.set.insert(Setting::Flags, flags.into());
        Ok(())
    };

    /// Forgets what L2 keeps, which it does not.
    fn cudaCtxResetPersistingL2Cache() |_, _| Ok(());

    /// Tells an attribute of a stream.
    fn cudaStreamGetAttribute(stream: Stream, attribute: c_int, place: *mut AttributeValue) |program, name, stream, attribute, place| {
        let key = program.stream(name, stream)?;
        let value = program.attributes.get(&(key, attribute)).copied().unwrap_or_default();
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, value) }
    };

    /// Sets an attribute of a stream: where data stay and when work begins, which changes nothing here.
    fn cudaStreamSetAttribute(stream: Stream, attribute: c_int, value: *const AttributeValue) |program, name, stream, attribute, value| {
        let key = program.stream(name, stream)?;
        // SAFETY: the caller says so.
        match unsafe { value.as_ref() } {
            Some(value) => {
                program.attributes.insert((key, attribute), *value);
                Ok(())
            }
            None => Err(program.refuse(name, "expected a value, found a null pointer", Error::InvalidValue)),
        }
    };

    /// Gives a stream the attributes of another one.
    fn cudaStreamCopyAttributes(to: Stream, from: Stream) |program, name, to, from| {
        let (to, from) = (program.stream(name, to)?, program.stream(name, from)?);
        let of_from = program.attributes.iter().filter(|((stream, _), _)| *stream == from);
        let copies: Vec<_> = of_from.map(|((_, attribute), value)| ((to, *attribute), *value)).collect();
        program.attributes.extend(copies);
        Ok(())
    };
}

/// Gives the device back: its memory, streams, events and graphs are gone, and variables hold what they begin with. What was found stays, and a
/// device that was lost is there again.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceReset() -> c_int {
    register(|program| program.lost = None);
    let name = "cudaDeviceReset";
    call(name, |program| program.reset(name))
}

/// Gives the device back, as programs of old do it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaThreadExit() -> c_int {
    cudaDeviceReset()
}

/// Defines functions under names of old.
macro_rules! of_old {
    ($($name:ident = $of:ident ($($argument:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("Does what `", stringify!($of), "` does, under its name of old.")]
        ///
        /// # Safety
        /// As of that.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> c_int {
            // SAFETY: the caller says so.
            unsafe { $of($($argument),*) }
        }
    )*};
}

of_old! {
    cudaThreadGetLimit = cudaDeviceGetLimit(place: *mut usize, limit: c_int);
    cudaThreadSetLimit = cudaDeviceSetLimit(limit: c_int, value: usize);
    cudaThreadGetCacheConfig = cudaDeviceGetCacheConfig(place: *mut c_int);
    cudaThreadSetCacheConfig = cudaDeviceSetCacheConfig(value: c_int);
}
