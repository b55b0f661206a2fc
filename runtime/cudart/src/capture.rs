//! Captures: what streams are asked for becomes a graph, and is not done.
//!
//! A capture begins in a stream, takes in streams that wait for its events, and must have them back when it ends. A call that would do or wait
//! for captured work is an error, and the capture comes to nothing.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};

use crate::Error;
use crate::abi::{EdgeData, Handle, Stream};
use crate::calls::{calls, elements, put, put_if_wanted};
use crate::program::{Program, call};
use crate::streams::{Key, this_thread};
use crate::version::thirteen;
use crate::work::Work;

/// Whose unsafe calls a capture forbids (`cudaStreamCaptureMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    fn of(number: c_int) -> Option<Mode> {
        Some(match number {
            0 => Mode::Global,
            1 => Mode::ThreadLocal,
            2 => Mode::Relaxed,
            _ => return None,
        })
    }
}

thread_local! {
    /// The mode of this thread.
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// A capture.
pub(crate) struct Capture {
    pub graph: usize,
    /// Tells whether the program made the graph.
    given: bool,
    origin: Key,
    mode: Mode,
    thread: u64,
    pub invalid: bool,
    /// The nodes at the end of each stream in it.
    streams: BTreeMap<Key, Vec<usize>>,
    /// Data of edges, as long as any list of nodes that was handed out.
    edges: Vec<EdgeData>,
}

impl Capture {
    /// Takes out a node that is destroyed.
    pub fn forget(&mut self, node: usize) {
        for ends in self.streams.values_mut() {
            ends.retain(|end| *end != node);
        }
    }
}

impl Program {
    /// The capture that a stream takes part in.
    fn capture_of(&self, stream: Key) -> Option<u64> {
        let mut captures = self.captures.iter();
        captures
            .find(|(_, capture)| capture.streams.contains_key(&stream))
            .map(|(id, _)| *id)
    }

    /// Captures with a stream that the legacy stream would wait for.
    fn blocking_captures(&self) -> Vec<u64> {
        let blocking = |capture: &Capture| capture.streams.keys().any(|key| self.is_blocking(*key));
        let captures = self.captures.iter();
        captures
            .filter(|(_, capture)| blocking(capture))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Lets a capture come to nothing.
    pub fn invalidate(&mut self, capture: u64) {
        if let Some(capture) = self.captures.get_mut(&capture) {
            capture.invalid = true;
        }
    }

    /// Refuses a call that waits for captures, or is not safe beside them, which come to nothing.
    fn refuse_capturing(&mut self, call: &str, captures: &[u64]) -> Error {
        for id in captures {
            self.invalidate(*id);
        }
        let text = "expected no stream that is captured, found one; make the call before cudaStreamBeginCapture or after cudaStreamEndCapture";
        self.refuse(call, text, Error::CaptureUnsupported)
    }

    /// Refuses work for a capture that has come to nothing.
    pub fn refuse_invalidated(&mut self, call: &str) -> Error {
        let text = "expected a capture whose calls were all right, found one that an earlier call has invalidated; end it by cudaStreamEndCapture";
        self.refuse(call, text, Error::CaptureInvalidated)
    }

    /// Refuses what the legacy stream does while a stream that it waits for is captured.
    fn implicit(&mut self, call: &str) -> Result<(), Error> {
        let captures = self.blocking_captures();
        if captures.is_empty() {
            return Ok(());
        }
        for id in captures {
            self.invalidate(id);
        }
        Err(self.refuse_implicit(call))
    }

    /// Refuses a use of the legacy stream.
    fn refuse_implicit(&mut self, call: &str) -> Error {
        let text = "expected no use of the legacy stream while a stream that waits for it is captured; use that stream, or make it by cudaStreamCreateWithFlags with cudaStreamNonBlocking";
        self.refuse(call, text, Error::CaptureImplicit)
    }

    /// Looks at a stream that gets work: the capture that it takes part in, if any.
    pub fn enter(&mut self, call: &str, stream: Stream) -> Result<Option<(u64, Key)>, Error> {
        let key = self.stream(call, stream)?;
        if key == Key::Legacy {
            self.implicit(call)?;
            return Ok(None);
        }
        match self.capture_of(key) {
            Some(id) if self.captures[&id].invalid => Err(self.refuse_invalidated(call)),
            Some(id) => Ok(Some((id, key))),
            None => Ok(None),
        }
    }

    /// Waits for a stream, which has done all if it is not captured.
    pub fn wait(&mut self, call: &str, stream: Stream) -> Result<(), Error> {
        let key = self.stream(call, stream)?;
        if key == Key::Legacy {
            return self.implicit(call);
        }
        match self.capture_of(key) {
            Some(id) => Err(self.refuse_capturing(call, &[id])),
            None => Ok(()),
        }
    }

    /// Waits for all streams.
    pub fn wait_for_all(&mut self, call: &str) -> Result<(), Error> {
        let captures: Vec<u64> = self.captures.keys().copied().collect();
        match captures.is_empty() {
            true => Ok(()),
            false => Err(self.refuse_capturing(call, &captures)),
        }
    }

    /// Refuses a call that is not safe in a capture, as the modes of captures and of this thread say.
    pub fn outside_of_captures(&mut self, call: &str) -> Result<(), Error> {
        let thread = this_thread();
        let mode = MODE.get();
        let forbids = |capture: &Capture| {
            let own = capture.thread == thread && capture.mode != Mode::Relaxed;
            match mode {
                Mode::Global => own || capture.mode == Mode::Global,
                Mode::ThreadLocal => own,
                Mode::Relaxed => false,
            }
        };
        let captures = self.captures.iter();
        let found: Vec<u64> = captures
            .filter(|(_, capture)| forbids(capture))
            .map(|(id, _)| *id)
            .collect();
        match found.is_empty() {
            true => Ok(()),
            false => Err(self.refuse_capturing(call, &found)),
        }
    }

    /// Makes work of a stream that is captured a node.
    pub fn keep(&mut self, (id, key): (u64, Key), work: Work) {
        let Some(capture) = self.captures.get(&id) else {
            return;
        };
        let before = capture.streams.get(&key).cloned().unwrap_or_default();
        let graph = capture.graph;
        let node = self.add_node(graph, work, before);
        if let Some(capture) = self.captures.get_mut(&id) {
            capture.streams.insert(key, vec![node]);
        }
    }

    /// The nodes at the end of a stream that is captured.
    pub fn ends(&self, id: u64, key: Key) -> Vec<usize> {
        let capture = self.captures.get(&id);
        capture
            .and_then(|capture| capture.streams.get(&key).cloned())
            .unwrap_or_default()
    }

    /// Lets a stream of a capture, or one that thereby joins it, wait for nodes.
    pub fn join(&mut self, id: u64, key: Key, nodes: &[usize]) {
        if let Some(capture) = self.captures.get_mut(&id) {
            let ends = capture.streams.entry(key).or_default();
            for node in nodes {
                if !ends.contains(node) {
                    ends.push(*node);
                }
            }
        }
    }

    /// Takes a stream that is destroyed out of its capture, which comes to nothing.
    pub fn leave_capture(&mut self, key: Key) {
        let Some(id) = self.capture_of(key) else {
            return;
        };
        self.invalidate(id);
        if self.captures[&id].origin == key {
            self.drop_capture(id);
        } else if let Some(capture) = self.captures.get_mut(&id) {
            capture.streams.remove(&key);
        }
    }

    /// Ends a capture that has come to nothing.
    fn drop_capture(&mut self, id: u64) {
        if let Some(capture) = self.captures.remove(&id)
            && !capture.given
        {
            self.drop_graph(capture.graph);
        }
    }

    /// Begins a capture, of which the graph is new where none is given.
    fn begin_capture(
        &mut self,
        call: &str,
        stream: Stream,
        mode: c_int,
        given: Option<(usize, Vec<usize>)>,
    ) -> Result<(), Error> {
        let key = self.stream(call, stream)?;
        let Some(mode) = Mode::of(mode) else {
            let text = format!("expected a mode of captures (0 to 2), found {mode}");
            return Err(self.refuse(call, &text, Error::InvalidValue));
        };
        if key == Key::Legacy {
            let text = "expected a stream that can be captured, found the legacy stream; make one by cudaStreamCreate";
            return Err(self.refuse(call, text, Error::CaptureUnsupported));
        }
        if self.capture_of(key).is_some() {
            let text = "expected a stream that is not captured, found one that is; end its capture by cudaStreamEndCapture";
            return Err(self.refuse(call, text, Error::IllegalState));
        }
        let is_given = given.is_some();
        let (graph, ends) = match given {
            Some(given) => given,
            None => (self.new_graph(), Vec::new()),
        };
        self.last_capture += 1;
        let capture = Capture {
            graph,
            given: is_given,
            origin: key,
            mode,
            thread: this_thread(),
            invalid: false,
            streams: BTreeMap::from([(key, ends)]),
            edges: Vec::new(),
        };
        self.captures.insert(self.last_capture, capture);
        Ok(())
    }

    /// Ends the capture that began in a stream, and returns its graph.
    fn end_capture(&mut self, call: &str, stream: Stream) -> Result<usize, Error> {
        let key = self.stream(call, stream)?;
        let Some(id) = self.capture_of(key) else {
            let text = "expected a stream that is captured, found one that is not; begin by cudaStreamBeginCapture";
            return Err(self.refuse(call, text, Error::IllegalState));
        };
        let capture = &self.captures[&id];
        if capture.origin != key {
            self.invalidate(id);
            let text = "expected the stream that the capture began in, found one that joined it";
            return Err(self.refuse(call, text, Error::CaptureUnmatched));
        }
        if capture.mode != Mode::Relaxed && capture.thread != this_thread() {
            let text = "expected the thread that began the capture, found another one; begin it with cudaStreamCaptureModeRelaxed";
            return Err(self.refuse(call, text, Error::CaptureWrongThread));
        }
        if capture.invalid {
            self.drop_capture(id);
            return Err(self.refuse_invalidated(call));
        }
        let before = self.before(capture.graph, &capture.streams[&key]);
        let mut others = capture.streams.values().flatten();
        if others.any(|node| !before.contains(node)) {
            self.drop_capture(id);
            let text = "expected all streams of the capture to be joined, found one whose work is not waited for; record an event in it, and wait for that in the stream that the capture began in";
            return Err(self.refuse(call, text, Error::CaptureUnjoined));
        }
        let graph = capture.graph;
        self.captures.remove(&id);
        Ok(graph)
    }

    /// The capture of a stream that is asked about. The legacy stream has none, and must not be asked while others are captured.
    fn asked_capture(&mut self, call: &str, stream: Stream) -> Result<Option<(u64, Key)>, Error> {
        let key = self.stream(call, stream)?;
        if key == Key::Legacy && !self.blocking_captures().is_empty() {
            return Err(self.refuse_implicit(call));
        }
        Ok(self.capture_of(key).map(|id| (id, key)))
    }

    /// The status of a capture (`cudaStreamCaptureStatus`).
    fn status(&self, capture: Option<(u64, Key)>) -> c_int {
        match capture.and_then(|(id, _)| self.captures.get(&id)) {
            None => 0,
            Some(capture) => 1 + c_int::from(capture.invalid),
        }
    }

    /// Sets or adds what the next work of a stream waits for.
    fn update_ends(
        &mut self,
        call: &str,
        stream: Stream,
        nodes: Option<Vec<Handle>>,
        flags: c_uint,
    ) -> Result<(), Error> {
        let Some((id, key)) = self.enter(call, stream)? else {
            let text = "expected a stream that is captured, found one that is not; begin by cudaStreamBeginCapture";
            return Err(self.refuse(call, text, Error::IllegalState));
        };
        let graph = self.captures[&id].graph;
        let nodes = self.nodes_of(call, graph, nodes)?;
        if flags > 1 {
            let text = format!("expected to add (0) or to set (1) dependencies, found {flags}");
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        if flags == 1
            && let Some(capture) = self.captures.get_mut(&id)
        {
            capture.streams.insert(key, Vec::new());
        }
        self.join(id, key, &nodes);
        Ok(())
    }
}

calls! {
    /// Begins to capture a stream.
    fn cudaStreamBeginCapture(stream: Stream, mode: c_int) |program, name, stream, mode| program.begin_capture(name, stream, mode, None);

    /// Begins to capture a stream, whose work is added to a graph.
    fn cudaStreamBeginCaptureToGraph(stream: Stream, graph: Handle, before: *const Handle, edges: *const EdgeData, count: usize, mode: c_int)
        |program, name, stream, graph, before, edges, count, mode| {
        // SAFETY: the caller says so.
        let (before, edges) = unsafe { (elements(before, count), elements(edges, count)) };
        program.plain_edges(name, edges)?;
        let graph = program.graph(name, graph)?;
        let before = program.nodes_of(name, graph, before)?;
        program.begin_capture(name, stream, mode, Some((graph, before)))
    };

    /// Ends the capture of a stream, and hands out its graph.
    fn cudaStreamEndCapture(stream: Stream, place: *mut Handle) |program, name, stream, place| {
        let graph = program.end_capture(name, stream);
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, *graph.as_ref().unwrap_or(&0) as Handle)? };
        graph.map(|_| ())
    };

    /// Tells whether a stream is captured.
    fn cudaStreamIsCapturing(stream: Stream, place: *mut c_int) |program, name, stream, place| {
        let capture = program.asked_capture(name, stream)?;
        let status = program.status(capture);
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, status) }
    };

    /// Tells the capture of a stream: its status, number and graph, and what the next work waits for.
    fn cudaStreamGetCaptureInfo_v3(
        stream: Stream, status: *mut c_int, id: *mut u64, graph: *mut Handle, before: *mut *const Handle, edges: *mut *const EdgeData, count: *mut usize,
    ) |program, name, stream, status, id, graph, before, edges, count| {
        let found = program.asked_capture(name, stream)?;
        let told = program.status(found);
        // SAFETY: the caller says so.
        unsafe { put(program, name, status, told)? };
        let Some((number, key)) = found.filter(|_| told == 1) else {
            return Ok(());
        };
        let Some(capture) = program.captures.get_mut(&number) else {
            return Ok(());
        };
        let ends = &capture.streams[&key];
        if capture.edges.len() < ends.len() {
            capture.edges.resize(ends.len(), EdgeData::default());
        }
        // SAFETY: the caller says so. The lists stay where they are until the stream is asked for something.
        unsafe {
            put_if_wanted(id, number);
            put_if_wanted(graph, capture.graph as Handle);
            put_if_wanted(before, ends.as_ptr().cast());
            put_if_wanted(edges, capture.edges.as_ptr());
            put_if_wanted(count, ends.len());
        }
        Ok(())
    };

    /// Sets or adds what the next work of a stream that is captured waits for, in CUDA 12.3 and later.
    fn cudaStreamUpdateCaptureDependencies_v2(stream: Stream, nodes: *mut Handle, edges: *const EdgeData, count: usize, flags: c_uint)
        |program, name, stream, nodes, edges, count, flags| {
        // SAFETY: the caller says so.
        let (nodes, edges) = unsafe { (elements(nodes, count), elements(edges, count)) };
        program.plain_edges(name, edges)?;
        program.update_ends(name, stream, nodes, flags)
    };

    /// Exchanges the mode of this thread, which says what it may do while streams are captured.
    fn cudaThreadExchangeStreamCaptureMode(place: *mut c_int) |program, name, place| {
        // SAFETY: the caller says so.
        let wanted = unsafe { place.as_ref() }.copied();
        let Some(mode) = wanted.and_then(Mode::of) else {
            let text = "expected a place with a mode of captures (0 to 2), found none";
            return Err(program.refuse(name, text, Error::InvalidValue));
        };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, MODE.replace(mode) as c_int) }
    };
}

/// Tells the capture of a stream, in CUDA 13. That of CUDA 11, which 12 still has, tells the status and the number.
///
/// # Safety
/// As [`cudaStreamGetCaptureInfo_v3`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo(
    stream: Stream,
    status: *mut c_int,
    id: *mut u64,
    graph: *mut Handle,
    before: *mut *const Handle,
    edges: *mut *const EdgeData,
    count: *mut usize,
) -> c_int {
    use std::ptr::null_mut;
    let (graph, before, edges, count) = match thirteen() {
        true => (graph, before, edges, count),
        false => (null_mut(), null_mut(), null_mut(), null_mut()),
    };
    // SAFETY: the caller says so.
    unsafe { cudaStreamGetCaptureInfo_v3(stream, status, id, graph, before, edges, count) }
}

/// Tells the capture of a stream, in CUDA 12.
///
/// # Safety
/// As [`cudaStreamGetCaptureInfo_v3`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo_v2(
    stream: Stream,
    status: *mut c_int,
    id: *mut u64,
    graph: *mut Handle,
    before: *mut *const Handle,
    count: *mut usize,
) -> c_int {
    let none = std::ptr::null_mut();
    // SAFETY: the caller says so.
    unsafe { cudaStreamGetCaptureInfo_v3(stream, status, id, graph, before, none, count) }
}

/// Sets or adds what the next work of a stream that is captured waits for. CUDA 12 passes no data of edges.
///
/// # Safety
/// As [`cudaStreamUpdateCaptureDependencies_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamUpdateCaptureDependencies(
    stream: Stream,
    nodes: *mut Handle,
    third: usize,
    fourth: usize,
    flags: c_uint,
) -> c_int {
    let (edges, count, flags) = match thirteen() {
        true => (third as *const EdgeData, fourth, flags),
        false => (std::ptr::null(), third, fourth as c_uint),
    };
    // SAFETY: the caller says so.
    unsafe { cudaStreamUpdateCaptureDependencies_v2(stream, nodes, edges, count, flags) }
}
