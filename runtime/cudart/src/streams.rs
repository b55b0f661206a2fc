//! Streams and events. Work is done when it is asked for, so that all streams are always at their end.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use crate::Error;
use crate::abi::{Event, Stream};
use crate::memory::{calls, put};
use crate::program::call;

/// The number of the next stream; those that the interface itself names are smaller.
static STREAMS: AtomicUsize = AtomicUsize::new(0x100);

/// The time since the first event, in nanoseconds; never 0, which is an event that was not recorded.
fn now() -> usize {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    start.elapsed().as_nanos() as usize + 1
}

fn next_stream() -> Stream {
    STREAMS.fetch_add(1, Relaxed) as Stream
}

/// Makes an event: the time at which it was recorded.
fn new_event() -> Event {
    Box::into_raw(Box::new(AtomicUsize::new(0))).cast()
}

/// The time of an event; none if it was not recorded.
///
/// # Safety
/// The event was made and not destroyed.
unsafe fn time(event: Event) -> Option<usize> {
    // SAFETY: the caller says so.
    let time = unsafe { event.cast::<AtomicUsize>().as_ref() }?.load(Relaxed);
    (time != 0).then_some(time)
}

calls! {
    /// Makes a stream.
    fn cudaStreamCreate(place: *mut Stream) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, next_stream()) }
    };

    /// Makes a stream with flags.
    fn cudaStreamCreateWithFlags(place: *mut Stream, flags: c_uint) |program, name, place, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, next_stream()) }
    };

    /// Makes a stream with flags and a priority.
    fn cudaStreamCreateWithPriority(place: *mut Stream, flags: c_uint, priority: c_int) |program, name, place, _, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, next_stream()) }
    };

    /// Destroys a stream.
    fn cudaStreamDestroy(stream: Stream) |_, _, _| Ok(());

    /// Waits for a stream.
    fn cudaStreamSynchronize(stream: Stream) |_, _, _| Ok(());

    /// Tells whether a stream is at its end.
    fn cudaStreamQuery(stream: Stream) |_, _, _| Ok(());

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Stream, event: Event, flags: c_uint) |_, _, _, _, _| Ok(());

    /// Makes an event.
    fn cudaEventCreate(place: *mut Event) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, new_event()) }
    };

    /// Makes an event with flags.
    fn cudaEventCreateWithFlags(place: *mut Event, flags: c_uint) |program, name, place, _| {
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, new_event()) }
    };

    /// Destroys an event.
    fn cudaEventDestroy(event: Event) |_, _, event| {
        if !event.is_null() {
            // SAFETY: it was made here, and is not used any more.
            drop(unsafe { Box::from_raw(event.cast::<AtomicUsize>()) });
        }
        Ok(())
    };

    /// Records an event.
    fn cudaEventRecord(event: Event, stream: Stream) |program, name, event, _| {
        // SAFETY: the caller says so.
        match unsafe { event.cast::<AtomicUsize>().as_ref() } {
            Some(event) => {
                event.store(now(), Relaxed);
                Ok(())
            }
            None => Err(program.refuse(name, "expected an event, found a null pointer", Error::InvalidResourceHandle)),
        }
    };

    /// Waits for an event.
    fn cudaEventSynchronize(event: Event) |_, _, _| Ok(());

    /// Tells whether an event has happened.
    fn cudaEventQuery(event: Event) |_, _, _| Ok(());

    /// Tells the milliseconds from an event to another: those that the emulator took.
    fn cudaEventElapsedTime(place: *mut f32, start: Event, end: Event) |program, name, place, start, end| {
        // SAFETY: the caller says so.
        let times = unsafe { (time(start), time(end)) };
        let (Some(start), Some(end)) = times else {
            return Err(program.refuse(name, "expected two events that were recorded", Error::InvalidResourceHandle));
        };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, (end as f64 - start as f64) as f32 * 1e-6) }
    };
}

/// Tells the same, in CUDA 12.8 and later.
///
/// # Safety
/// As [`cudaEventElapsedTime`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventElapsedTime_v2(
    place: *mut f32,
    start: Event,
    end: Event,
) -> c_int {
    // SAFETY: the caller says so.
    unsafe { cudaEventElapsedTime(place, start, end) }
}

/// Records an event with flags.
///
/// # Safety
/// As [`cudaEventRecord`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventRecordWithFlags(
    event: Event,
    stream: Stream,
    _: c_uint,
) -> c_int {
    // SAFETY: the caller says so.
    unsafe { cudaEventRecord(event, stream) }
}

/// Calls a function of the host in the order of a stream.
///
/// # Safety
/// The function may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchHostFunc(
    _: Stream,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> c_int {
    if let Some(function) = function {
        // SAFETY: the caller says so.
        unsafe { function(data) };
    }
    0
}
/// Calls a function of the host in the order of a stream.
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
    if let Some(function) = function {
        // SAFETY: the caller says so.
        unsafe { function(stream, 0, data) };
    }
    0
}
