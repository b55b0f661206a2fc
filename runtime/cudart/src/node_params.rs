//! Parameters of nodes of graphs: of any kind in one structure, and as a node has them.

use std::ffi::{c_int, c_void};

use crate::Error;
use crate::abi::{
    Copy3D, EdgeData, Event, FillNode, Handle, HostNode, KernelNode, NodeParameters,
    PitchedPointer, Position,
};
use crate::calls::{calls, elements, put};
use crate::program::{Program, call};
use crate::transfers::{Copy, Place};
use crate::version::thirteen;
use crate::work::Work;

/// Bytes before the copy in the parameters of a node of that kind (`cudaMemcpyNodeParams`).
const BEFORE_COPY: usize = 16;

impl Program {
    /// The work of parameters of any kind.
    ///
    /// # Safety
    /// The pointer is null or one to parameters of the kind that they say.
    unsafe fn any_work(
        &mut self,
        call: &str,
        parameters: *const NodeParameters,
    ) -> Result<Work, Error> {
        // SAFETY: the caller says so.
        let found = unsafe { self.passed(call, parameters)? };
        let data = found.data.as_ptr();
        let handle = found.data[0] as usize;
        // SAFETY: the caller says so: what is read is the member of the kind.
        unsafe {
            match found.kind {
                0 => self.kernel_work(call, data.cast()),
                1 => self.box_copy(call, data.cast::<u8>().add(BEFORE_COPY).cast()),
                2 => self.fill_work(call, data.cast()),
                3 => self.host_work(call, data.cast()),
                4 => self.graph_work(call, handle as Handle),
                5 => Ok(Work::Empty),
                6 => Ok(Work::Wait(handle)),
                7 => Ok(Work::Record(handle)),
                kind => {
                    let text = format!(
                        "expected a kind of nodes that the emulator has (0 to 7), found {kind}"
                    );
                    Err(self.refuse(call, &text, Error::NotSupported))
                }
            }
        }
    }

    /// The work of parameters for a node that there is, which keeps its graph if it has one.
    ///
    /// # Safety
    /// As [`Program::any_work`].
    unsafe fn other_work(
        &mut self,
        call: &str,
        parameters: *const NodeParameters,
    ) -> Result<Work, Error> {
        // SAFETY: the caller says so.
        if unsafe { self.passed(call, parameters)? }.kind == 4 {
            let text = "expected a node without a graph of its own, whose graph the emulator does not exchange; add another node";
            return Err(self.refuse(call, text, Error::NotSupported));
        }
        // SAFETY: the caller says so.
        unsafe { self.any_work(call, parameters) }
    }

    /// The work of a node.
    fn work_of(&mut self, call: &str, node: Handle) -> Result<&mut Work, Error> {
        let (graph, node) = self.node(call, node)?;
        let found = self.graphs.get_mut(&graph);
        let found = found.and_then(|graph| graph.nodes.get_mut(&node));
        found.map(|node| &mut node.work).ok_or(Error::InvalidValue)
    }

    /// Hands out what a node has, if its kind has that.
    ///
    /// # Safety
    /// The place is null or can be written to.
    unsafe fn put_of_node<T>(
        &mut self,
        call: &str,
        node: Handle,
        place: *mut T,
        of: impl FnOnce(&mut Work) -> Option<T>,
    ) -> Result<(), Error> {
        match of(self.work_of(call, node)?) {
            // SAFETY: the caller says so.
            Some(found) => unsafe { put(self, call, place, found) },
            None => Err(self.refuse_kind(call)),
        }
    }
}

/// Memory with a pitch that holds a box of so many rows.
fn pitched(place: Place, copy: &Copy) -> PitchedPointer {
    let pitch = place.pitch.max(copy.extent.width);
    PitchedPointer {
        pointer: place.at as *mut c_void,
        pitch,
        width: pitch,
        height: (place.plane / pitch.max(1)).max(copy.extent.height),
    }
}

/// The parameters of a copy.
fn copy_parameters(copy: &Copy) -> Copy3D {
    let start = Position { x: 0, y: 0, z: 0 };
    Copy3D {
        from_array: std::ptr::null_mut(),
        from_position: start,
        from: pitched(copy.from, copy),
        to_array: std::ptr::null_mut(),
        to_position: start,
        to: pitched(copy.to, copy),
        extent: copy.extent,
        kind: copy.direction as c_int,
    }
}

calls! {
    /// Adds a node of any kind, in CUDA 12.3 and later.
    fn cudaGraphAddNode_v2(
        place: *mut Handle, graph: Handle, before: *const Handle, edges: *const EdgeData, count: usize, parameters: *mut NodeParameters,
    ) |program, name, place, graph, before, edges, count, parameters| {
        // SAFETY: the caller says so.
        unsafe {
            program.plain_edges(name, elements(edges, count))?;
            program.make_node(name, place, graph, (before, count), |program| program.any_work(name, parameters))
        }
    };

    /// Gives a node other parameters of its kind.
    fn cudaGraphNodeSetParams(node: Handle, parameters: *mut NodeParameters) |program, name, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.other_work(name, parameters)? };
        program.change_node(name, node, work)
    };

    /// Gives a node of an executable graph other parameters of its kind.
    fn cudaGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut NodeParameters) |program, name, exec, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.other_work(name, parameters)? };
        program.change_step(name, exec, node, work)
    };

    /// Tells the launch of a node, whose arguments stay where they are until the node is changed.
    fn cudaGraphKernelNodeGetParams(node: Handle, place: *mut KernelNode) |program, name, node, place| {
        // SAFETY: the caller says so.
        unsafe {
            program.put_of_node(name, node, place, |work| match work {
                Work::Kernel(kernel) => Some(kernel.parameters()),
                _ => None,
            })
        }
    };

    /// Tells the copy of a node.
    fn cudaGraphMemcpyNodeGetParams(node: Handle, place: *mut Copy3D) |program, name, node, place| {
        // SAFETY: the caller says so.
        unsafe {
            program.put_of_node(name, node, place, |work| match work {
                Work::Copy(copy) => Some(copy_parameters(copy)),
                _ => None,
            })
        }
    };

    /// Tells the fill of a node.
    fn cudaGraphMemsetNodeGetParams(node: Handle, place: *mut FillNode) |program, name, node, place| {
        // SAFETY: the caller says so.
        unsafe {
            program.put_of_node(name, node, place, |work| match work {
                Work::Fill(fill) => Some(FillNode {
                    to: fill.to.at as *mut c_void,
                    pitch: fill.to.pitch,
                    value: fill.value,
                    element: fill.element as u32,
                    width: fill.extent.width / fill.element,
                    height: fill.extent.height,
                }),
                _ => None,
            })
        }
    };

    /// Tells the function of the host that a node calls.
    fn cudaGraphHostNodeGetParams(node: Handle, place: *mut HostNode) |program, name, node, place| {
        // SAFETY: the caller says so.
        unsafe {
            program.put_of_node(name, node, place, |work| match work {
                Work::Host(host) => Some(HostNode { function: Some(host.function), data: host.data as *mut c_void }),
                _ => None,
            })
        }
    };

    /// Tells the event that a node records.
    fn cudaGraphEventRecordNodeGetEvent(node: Handle, place: *mut Event) |program, name, node, place| {
        // SAFETY: the caller says so.
        unsafe {
            program.put_of_node(name, node, place, |work| match work {
                Work::Record(event) => Some(*event as Event),
                _ => None,
            })
        }
    };

    /// Tells the event that a node waits for.
    fn cudaGraphEventWaitNodeGetEvent(node: Handle, place: *mut Event) |program, name, node, place| {
        // SAFETY: the caller says so.
        unsafe {
            program.put_of_node(name, node, place, |work| match work {
                Work::Wait(event) => Some(*event as Event),
                _ => None,
            })
        }
    };

    /// Gives a node another event to record.
    fn cudaGraphEventRecordNodeSetEvent(node: Handle, event: Event) |program, name, node, event| program.change_node(name, node, Work::Record(event as usize));

    /// Gives a node another event to wait for.
    fn cudaGraphEventWaitNodeSetEvent(node: Handle, event: Event) |program, name, node, event| program.change_node(name, node, Work::Wait(event as usize));

    /// Gives a node of an executable graph another event to record.
    fn cudaGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Event) |program, name, exec, node, event| {
        program.change_step(name, exec, node, Work::Record(event as usize))
    };

    /// Gives a node of an executable graph another event to wait for.
    fn cudaGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Event) |program, name, exec, node, event| {
        program.change_step(name, exec, node, Work::Wait(event as usize))
    };

    /// Gives a node another copy to a variable of the device.
    fn cudaGraphMemcpyNodeSetParamsToSymbol(node: Handle, symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int)
        |program, name, node, symbol, from, bytes, offset, kind| {
        let work = program.copy_to_symbol(name, (symbol, offset), from, bytes, kind)?;
        program.change_node(name, node, work)
    };

    /// Gives a node another copy from a variable of the device.
    fn cudaGraphMemcpyNodeSetParamsFromSymbol(node: Handle, to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int)
        |program, name, node, to, symbol, bytes, offset, kind| {
        let work = program.copy_from_symbol(name, to, (symbol, offset), bytes, kind)?;
        program.change_node(name, node, work)
    };

    /// Gives a node of an executable graph another copy to a variable of the device.
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(exec: Handle, node: Handle, symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int)
        |program, name, exec, node, symbol, from, bytes, offset, kind| {
        let work = program.copy_to_symbol(name, (symbol, offset), from, bytes, kind)?;
        program.change_step(name, exec, node, work)
    };

    /// Gives a node of an executable graph another copy from a variable of the device.
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec: Handle, node: Handle, to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int)
        |program, name, exec, node, to, symbol, bytes, offset, kind| {
        let work = program.copy_from_symbol(name, to, (symbol, offset), bytes, kind)?;
        program.change_step(name, exec, node, work)
    };
}

/// Adds a node of any kind. CUDA 12 passes no data of edges.
///
/// # Safety
/// As [`cudaGraphAddNode_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphAddNode(
    place: *mut Handle,
    graph: Handle,
    before: *const Handle,
    fourth: usize,
    fifth: usize,
    sixth: *mut NodeParameters,
) -> c_int {
    let (edges, count, parameters) = match thirteen() {
        true => (fourth as *const EdgeData, fifth, sixth),
        false => (std::ptr::null(), fourth, fifth as *mut NodeParameters),
    };
    // SAFETY: the caller says so.
    unsafe { cudaGraphAddNode_v2(place, graph, before, edges, count, parameters) }
}
