//! Work of streams as data: what a call asks for is checked, and then done at once, or kept as a node of the graph that a capture makes.

use std::ffi::{c_int, c_void};

use crate::Error;
use crate::abi::{HostFunction, Stream};
use crate::launches::Kernel;
use crate::program::Program;
use crate::transfers::{Copy, Fill};

/// A piece of work.
#[derive(Clone)]
pub(crate) enum Work {
    Kernel(Kernel),
    Copy(Copy),
    Fill(Fill),
    Host(HostCall),
    /// The work of a graph that is a node, by its handle.
    Graph(usize),
    /// Nothing, after what is before it.
    Empty,
    /// The wait for an event, and its record, by its handle.
    Wait(usize),
    Record(usize),
}

/// A call of a function of the host.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub function: HostFunction,
    /// The address that it gets.
    pub data: usize,
}

impl HostCall {
    /// Makes the call. The program is not locked then.
    ///
    /// # Safety
    /// The function may be called.
    pub unsafe fn run(self) {
        // SAFETY: the caller says so.
        unsafe { (self.function)(self.data as *mut c_void) };
    }
}

impl Work {
    /// The kind of node that it is (`cudaGraphNodeType`).
    pub fn kind(&self) -> c_int {
        match self {
            Work::Kernel(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(_) => 3,
            Work::Graph(_) => 4,
            Work::Empty => 5,
            Work::Wait(_) => 6,
            Work::Record(_) => 7,
        }
    }
}

impl Program {
    /// Checks a piece of work, as memory and events are now, and does nothing.
    pub fn check(&mut self, call: &str, work: &Work) -> Result<(), Error> {
        match work {
            Work::Copy(copy) => self.check_copy(call, copy),
            Work::Fill(fill) => self.check_fill(call, fill),
            Work::Wait(event) | Work::Record(event) => self.event(call, *event).map(|_| ()),
            // Kernels and graphs are checked when they become work.
            Work::Kernel(_) | Work::Graph(_) | Work::Host(_) | Work::Empty => Ok(()),
        }
    }

    /// Does a piece of work that was checked, other than a call of the host and a graph, which others do.
    ///
    /// # Safety
    /// Memory of the host has the bytes that are copied.
    pub unsafe fn perform(&mut self, call: &str, work: &Work) -> Result<(), Error> {
        match work {
            Work::Kernel(kernel) => self.run(kernel),
            // SAFETY: the caller says so.
            Work::Copy(copy) => unsafe { self.copy(call, copy) },
            // SAFETY: the caller says so.
            Work::Fill(fill) => unsafe { self.fill(call, fill) },
            Work::Record(event) => self.record_now(call, *event),
            Work::Host(_) | Work::Graph(_) | Work::Empty | Work::Wait(_) => Ok(()),
        }
    }

    /// Takes work for a stream, which is made after the stream was looked at. Work of a stream that is captured becomes a node, and other
    /// work is handed back, to be done now.
    pub fn accept(
        &mut self,
        call: &str,
        stream: Stream,
        make: impl FnOnce(&mut Program) -> Result<Work, Error>,
    ) -> Result<Option<Work>, Error> {
        let capture = self.enter(call, stream)?;
        let made = make(self).and_then(|work| self.check(call, &work).map(|()| work));
        match (capture, made) {
            (Some(place), Ok(work)) => {
                self.keep(place, work);
                Ok(None)
            }
            (None, Ok(work)) => Ok(Some(work)),
            (place, Err(error)) => {
                if let Some((capture, _)) = place {
                    self.invalidate(capture);
                }
                Err(error)
            }
        }
    }

    /// Takes work for a stream, and does it if the stream is not captured.
    ///
    /// # Safety
    /// As [`Program::perform`].
    pub unsafe fn submit(
        &mut self,
        call: &str,
        stream: Stream,
        make: impl FnOnce(&mut Program) -> Result<Work, Error>,
    ) -> Result<(), Error> {
        match self.accept(call, stream, make)? {
            // SAFETY: the caller says so.
            Some(work) => unsafe { self.perform(call, &work) },
            None => Ok(()),
        }
    }

    /// Does work that a call waits for.
    ///
    /// # Safety
    /// As [`Program::perform`].
    pub unsafe fn complete(
        &mut self,
        call: &str,
        make: impl FnOnce(&mut Program) -> Result<Work, Error>,
    ) -> Result<(), Error> {
        self.wait(call, std::ptr::null_mut())?;
        let work = make(self)?;
        self.check(call, &work)?;
        // SAFETY: the caller says so.
        unsafe { self.perform(call, &work) }
    }
}
