//! Streams. Work is done when it is asked for, so that all streams are always at their end, other than those that are captured.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Error;
use crate::abi::{HostFunction, Stream};
use crate::calls::{calls, no_handle, put};
use crate::per_thread;
use crate::program::{Program, call};
use crate::work::{HostCall, Work};

/// The handles of the legacy stream and of the stream of each thread (`cudaStreamLegacy`, `cudaStreamPerThread`).
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;
/// The flag of a stream that does not wait for the legacy stream (`cudaStreamNonBlocking`).
const NON_BLOCKING: c_uint = 1;

/// A stream: the one that all others may wait for, that of a thread, or one that the program made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Legacy,
    Thread(u64),
    Made(usize),
}

/// A stream that the program made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    flags: c_uint,
    priority: c_int,
}

/// The number of this thread.
pub(crate) fn this_thread() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = THREADS.fetch_add(1, Relaxed);
    }
    NUMBER.with(|number| *number)
}

impl Program {
    /// The stream of a handle.
    pub fn stream(&mut self, call: &str, stream: Stream) -> Result<Key, Error> {
        match stream as usize {
            0 if !per_thread::is_default() => Ok(Key::Legacy),
            LEGACY => Ok(Key::Legacy),
            0 | PER_THREAD => Ok(Key::Thread(this_thread())),
            handle if self.streams.contains_key(&handle) => Ok(Key::Made(handle)),
            handle => {
                let text = format!(
                    "expected a stream that was made and not destroyed, found {}; make it by cudaStreamCreate",
                    no_handle(handle)
                );
                Err(self.refuse(call, &text, Error::InvalidResourceHandle))
            }
        }
    }

    /// Tells whether a stream and the legacy stream wait for each other.
    pub fn is_blocking(&self, stream: Key) -> bool {
        match stream {
            Key::Made(handle) => self
                .streams
                .get(&handle)
                .is_some_and(|made| made.flags & NON_BLOCKING == 0),
            Key::Legacy | Key::Thread(_) => true,
        }
    }

    /// Makes a stream.
    ///
    /// # Safety
    /// The place is null or can be written to.
    unsafe fn make_stream(
        &mut self,
        call: &str,
        place: *mut Stream,
        flags: c_uint,
        priority: c_int,
    ) -> Result<(), Error> {
        let handle = self.new_handle();
        // SAFETY: the caller says so.
        unsafe { put(self, call, place, handle as Stream)? };
        self.streams.insert(handle, Made { flags, priority });
        Ok(())
    }

    /// The flags and the priority of a stream.
    fn facts_of(&self, stream: Key) -> Made {
        let default = Made {
            flags: 0,
            priority: 0,
        };
        match stream {
            Key::Made(handle) => self.streams.get(&handle).copied().unwrap_or(default),
            Key::Legacy | Key::Thread(_) => default,
        }
    }
}

calls! {
    /// Makes a stream.
    fn cudaStreamCreate(place: *mut Stream) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { program.make_stream(name, place, 0, 0) }
    };

    /// Makes a stream with flags.
    fn cudaStreamCreateWithFlags(place: *mut Stream, flags: c_uint) |program, name, place, flags| {
        // SAFETY: the caller says so.
        unsafe { program.make_stream(name, place, flags, 0) }
    };

    /// Makes a stream with flags and a priority, of which there is one.
    fn cudaStreamCreateWithPriority(place: *mut Stream, flags: c_uint, priority: c_int) |program, name, place, flags, _| {
        // SAFETY: the caller says so.
        unsafe { program.make_stream(name, place, flags, 0) }
    };

    /// Destroys a stream. A capture that it takes part in comes to nothing.
    fn cudaStreamDestroy(stream: Stream) |program, name, stream| {
        match program.stream(name, stream)? {
            Key::Made(handle) => {
                program.leave_capture(Key::Made(handle));
                program.streams.remove(&handle);
                program.attributes.retain(|(stream, _), _| *stream != Key::Made(handle));
                Ok(())
            }
            Key::Legacy | Key::Thread(_) => {
                let text = "expected a stream that the program made, found one that is always there";
                Err(program.refuse(name, text, Error::InvalidResourceHandle))
            }
        }
    };

    /// Waits for a stream.
    fn cudaStreamSynchronize(stream: Stream) |program, name, stream| program.wait(name, stream);

    /// Tells whether a stream is at its end.
    fn cudaStreamQuery(stream: Stream) |program, name, stream| program.wait(name, stream);

    /// Tells the flags of a stream.
    fn cudaStreamGetFlags(stream: Stream, place: *mut c_uint) |program, name, stream, place| {
        let key = program.stream(name, stream)?;
        let flags = program.facts_of(key).flags;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, flags) }
    };

    /// Tells the priority of a stream.
    fn cudaStreamGetPriority(stream: Stream, place: *mut c_int) |program, name, stream, place| {
        let key = program.stream(name, stream)?;
        let priority = program.facts_of(key).priority;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, priority) }
    };

    /// Tells the number of a stream, which no other has.
    fn cudaStreamGetId(stream: Stream, place: *mut u64) |program, name, stream, place| {
        let id = match program.stream(name, stream)? {
            Key::Legacy => LEGACY as u64,
            // Handles are even.
            Key::Thread(thread) => 2 * thread + 3,
            Key::Made(handle) => handle as u64,
        };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, id) }
    };

    /// Tells the device of a stream.
    fn cudaStreamGetDevice(stream: Stream, place: *mut c_int) |program, name, stream, place| {
        program.stream(name, stream)?;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, 0) }
    };

    /// Says which stream uses managed memory, which all may.
    fn cudaStreamAttachMemAsync(stream: Stream, address: *mut c_void, bytes: usize, flags: c_uint) |program, name, stream, _, _, _| {
        program.stream(name, stream).map(|_| ())
    };
}

/// Calls a function of the host in the order of a stream.
///
/// # Safety
/// The function may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchHostFunc(
    stream: Stream,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> c_int {
    let name = "cudaLaunchHostFunc";
    let mut now = None;
    let code = call(name, |program| {
        let work = program.accept(name, stream, |program| {
            program.host_call(name, function, data)
        })?;
        now = work;
        Ok(())
    });
    if let Some(Work::Host(host)) = now {
        // SAFETY: the caller says so.
        unsafe { host.run() };
    }
    code
}

impl Program {
    /// A call of a function of the host.
    pub fn host_call(
        &mut self,
        call: &str,
        function: Option<HostFunction>,
        data: *mut c_void,
    ) -> Result<Work, Error> {
        match function {
            Some(function) => Ok(Work::Host(HostCall {
                function,
                data: data as usize,
            })),
            None => {
                let text = "expected a function to call, found a null pointer";
                Err(self.refuse(call, text, Error::InvalidValue))
            }
        }
    }
}

/// Calls a function of the host in the order of a stream, which is not captured.
///
/// # Safety
/// The function may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamAddCallback(
    stream: Stream,
    function: Option<unsafe extern "C" fn(Stream, c_int, *mut c_void)>,
    data: *mut c_void,
    _: c_uint,
) -> c_int {
    let name = "cudaStreamAddCallback";
    let code = call(name, |program| {
        program.wait(name, stream)?;
        match function {
            Some(_) => Ok(()),
            None => {
                let text = "expected a function to call, found a null pointer";
                Err(program.refuse(name, text, Error::InvalidValue))
            }
        }
    });
    if let Some(function) = function.filter(|_| code == 0) {
        // SAFETY: the caller says so.
        unsafe { function(stream, 0, data) };
    }
    code
}
