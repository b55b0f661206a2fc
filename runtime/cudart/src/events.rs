//! Events: the times at which they were recorded, or what they stand for in a capture.

use std::ffi::{c_int, c_uint};
use std::sync::OnceLock;
use std::time::Instant;

use crate::Error;
use crate::abi::{Event, Stream};
use crate::calls::{calls, no_handle, put};
use crate::program::{Program, call};
use crate::streams::Key;
use crate::work::Work;

/// The flag of an event that has no time (`cudaEventDisableTiming`).
const WITHOUT_TIME: c_uint = 2;
/// The flag of a record or a wait that a capture keeps as a node of its own (`cudaEventRecordExternal`, `cudaEventWaitExternal`).
const EXTERNAL: c_uint = 1;

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct State {
    timed: bool,
    last: Last,
}

/// The last record of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Last {
    None,
    /// The nanoseconds since the first record.
    At(u64),
    /// A capture, and the nodes at the end of the stream.
    Captured(u64, Vec<usize>),
}

/// The time since the first record of an event, in nanoseconds.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

impl Program {
    /// Makes an event.
    ///
    /// # Safety
    /// The place is null or can be written to.
    unsafe fn make_event(
        &mut self,
        call: &str,
        place: *mut Event,
        flags: c_uint,
    ) -> Result<(), Error> {
        let handle = self.new_handle();
        // SAFETY: the caller says so.
        unsafe { put(self, call, place, handle as Event)? };
        let state = State {
            timed: flags & WITHOUT_TIME == 0,
            last: Last::None,
        };
        self.events.insert(handle, state);
        Ok(())
    }

    /// An event by its handle.
    pub fn event(&mut self, call: &str, event: usize) -> Result<&mut State, Error> {
        if !self.events.contains_key(&event) {
            let text = format!(
                "expected an event that was made and not destroyed, found {}; make it by cudaEventCreate",
                no_handle(event)
            );
            return Err(self.refuse(call, &text, Error::InvalidResourceHandle));
        }
        match self.events.get_mut(&event) {
            Some(state) => Ok(state),
            None => Err(Error::InvalidResourceHandle),
        }
    }

    /// Records an event now.
    pub fn record_now(&mut self, call: &str, event: usize) -> Result<(), Error> {
        self.event(call, event)?.last = Last::At(now());
        Ok(())
    }

    /// Records an event in a stream.
    fn record_event(
        &mut self,
        call: &str,
        event: Event,
        stream: Stream,
        flags: c_uint,
    ) -> Result<(), Error> {
        let event = event as usize;
        self.event(call, event)?;
        if flags & EXTERNAL != 0 {
            // SAFETY: a record copies nothing.
            return unsafe { self.submit(call, stream, |_| Ok(Work::Record(event))) };
        }
        match self.enter(call, stream)? {
            Some((capture, key)) => {
                let nodes = self.ends(capture, key);
                self.event(call, event)?.last = Last::Captured(capture, nodes);
                Ok(())
            }
            None => self.record_now(call, event),
        }
    }

    /// Lets a stream wait for an event, by which it may join a capture.
    fn wait_for_event(
        &mut self,
        call: &str,
        stream: Stream,
        event: Event,
        flags: c_uint,
    ) -> Result<(), Error> {
        let event = event as usize;
        let last = self.event(call, event)?.last.clone();
        if flags & EXTERNAL != 0 {
            // SAFETY: a wait copies nothing.
            return unsafe { self.submit(call, stream, |_| Ok(Work::Wait(event))) };
        }
        match (self.enter(call, stream)?, last) {
            (None, Last::None | Last::At(_)) => Ok(()),
            (Some((capture, _)), Last::None | Last::At(_)) => {
                self.invalidate(capture);
                let text = "expected an event that was recorded in the capture of the stream, found one that was not; wait for it before the capture, or with cudaEventWaitExternal";
                Err(self.refuse(call, text, Error::CaptureIsolation))
            }
            (Some((capture, _)), Last::Captured(other, _)) if other != capture => {
                self.invalidate(capture);
                self.invalidate(other);
                let text = "expected an event of the same capture, found one of another; captures cannot be joined";
                Err(self.refuse(call, text, Error::CaptureMerge))
            }
            (Some((capture, key)), Last::Captured(_, nodes)) => {
                self.join(capture, key, &nodes);
                Ok(())
            }
            (None, Last::Captured(capture, nodes)) => {
                let key = self.stream(call, stream)?;
                if key == Key::Legacy {
                    self.invalidate(capture);
                    let text =
                        "expected a stream other than the legacy stream, which cannot be captured";
                    return Err(self.refuse(call, text, Error::CaptureImplicit));
                }
                match self.captures.get(&capture) {
                    Some(found) if !found.invalid => {
                        self.join(capture, key, &nodes);
                        Ok(())
                    }
                    Some(_) => Err(self.refuse_invalidated(call)),
                    None => Err(self.refuse_captured(call)),
                }
            }
        }
    }

    /// Refuses an event of a capture.
    fn refuse_captured(&mut self, call: &str) -> Error {
        let text = "expected an event that was recorded in a stream, found one that was last recorded in a capture; record it outside of captures";
        self.refuse(call, text, Error::CapturedEvent)
    }

    /// Looks at an event that a call waits for. One of a capture never happens, and ends the capture.
    fn look_at(&mut self, call: &str, event: Event) -> Result<State, Error> {
        let state = self.event(call, event as usize)?.clone();
        if let Last::Captured(capture, _) = state.last {
            self.invalidate(capture);
            return Err(self.refuse_captured(call));
        }
        Ok(state)
    }
}

calls! {
    /// Makes an event.
    fn cudaEventCreate(place: *mut Event) |program, name, place| {
        // SAFETY: the caller says so.
        unsafe { program.make_event(name, place, 0) }
    };

    /// Makes an event with flags.
    fn cudaEventCreateWithFlags(place: *mut Event, flags: c_uint) |program, name, place, flags| {
        // SAFETY: the caller says so.
        unsafe { program.make_event(name, place, flags) }
    };

    /// Destroys an event.
    fn cudaEventDestroy(event: Event) |program, name, event| {
        program.event(name, event as usize)?;
        program.events.remove(&(event as usize));
        Ok(())
    };

    /// Records an event.
    fn cudaEventRecord(event: Event, stream: Stream) |program, name, event, stream| program.record_event(name, event, stream, 0);

    /// Records an event with flags.
    fn cudaEventRecordWithFlags(event: Event, stream: Stream, flags: c_uint) |program, name, event, stream, flags| {
        program.record_event(name, event, stream, flags)
    };

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Stream, event: Event, flags: c_uint) |program, name, stream, event, flags| {
        program.wait_for_event(name, stream, event, flags)
    };

    /// Waits for an event.
    fn cudaEventSynchronize(event: Event) |program, name, event| program.look_at(name, event).map(|_| ());

    /// Tells whether an event has happened.
    fn cudaEventQuery(event: Event) |program, name, event| {
        program.look_at(name, event)?;
        program.outside_of_captures(name)
    };

    /// Tells the milliseconds from an event to another: those that the emulator took.
    fn cudaEventElapsedTime(place: *mut f32, start: Event, end: Event) |program, name, place, start, end| {
        let states = [program.look_at(name, start)?, program.look_at(name, end)?];
        if states.iter().any(|state| !state.timed) {
            let text = "expected two events with a time, found one that was made with cudaEventDisableTiming";
            return Err(program.refuse(name, text, Error::InvalidResourceHandle));
        }
        let [Last::At(start), Last::At(end)] = states.map(|state| state.last) else {
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
