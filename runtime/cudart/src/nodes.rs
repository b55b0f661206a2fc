//! Calls that make nodes of graphs, and give them other work.

use std::ffi::{c_int, c_void};

use crate::Error;
use crate::abi::{Copy3D, Event, Extent, FillNode, Handle, HostNode, KernelNode};
use crate::calls::{calls, elements, put};
use crate::launches::Launch;
use crate::program::{Program, call};
use crate::transfers::{Fill, Place};
use crate::work::Work;

impl Program {
    /// Adds a node with its work, and hands it out.
    ///
    /// # Safety
    /// There are as many nodes as the number says, and the place is null or can be written to.
    pub unsafe fn make_node(
        &mut self,
        call: &str,
        place: *mut Handle,
        graph: Handle,
        (before, count): (*const Handle, usize),
        make: impl FnOnce(&mut Program) -> Result<Work, Error>,
    ) -> Result<(), Error> {
        let graph = self.graph(call, graph)?;
        // SAFETY: the caller says so.
        let before = unsafe { elements(before, count) };
        let before = self.nodes_of(call, graph, before)?;
        if place.is_null() {
            let text = "expected a place for the node, found a null pointer";
            return Err(self.refuse(call, text, Error::InvalidValue));
        }
        let work = make(self)?;
        if let Err(error) = self.check(call, &work) {
            if let Work::Graph(inner) = work {
                self.drop_graph(inner);
            }
            return Err(error);
        }
        let node = self.add_node(graph, work, before);
        // SAFETY: the caller says so.
        unsafe { put(self, call, place, node as Handle) }
    }

    /// Gives a node other work of the same kind.
    pub fn change_node(&mut self, call: &str, node: Handle, work: Work) -> Result<(), Error> {
        let (graph, node) = self.node(call, node)?;
        self.check(call, &work)?;
        let Some(found) = self
            .graphs
            .get_mut(&graph)
            .and_then(|graph| graph.nodes.get_mut(&node))
        else {
            return Ok(());
        };
        if found.work.kind() == work.kind() {
            found.work = work;
            return Ok(());
        }
        Err(self.refuse_kind(call))
    }

    /// Refuses parameters for a node of another kind.
    pub fn refuse_kind(&mut self, call: &str) -> Error {
        let text = "expected a node whose kind is that of the parameters, found another kind";
        self.refuse(call, text, Error::InvalidValue)
    }

    /// The structure that a program passes a pointer to.
    ///
    /// # Safety
    /// The pointer is null, or one to a structure.
    pub unsafe fn passed<T: Copy>(&mut self, call: &str, parameters: *const T) -> Result<T, Error> {
        // SAFETY: the caller says so.
        let found = unsafe { parameters.as_ref() }.copied();
        found.ok_or_else(|| {
            let text = "expected the parameters of the node, found a null pointer";
            self.refuse(call, text, Error::InvalidValue)
        })
    }

    /// The launch of a kernel.
    ///
    /// # Safety
    /// The pointer is null or one to parameters, in which there is a pointer to each argument.
    pub unsafe fn kernel_work(
        &mut self,
        call: &str,
        parameters: *const KernelNode,
    ) -> Result<Work, Error> {
        // SAFETY: the caller says so.
        let node = unsafe { self.passed(call, parameters)? };
        if !node.extra.is_null() {
            let text =
                "expected arguments in kernelParams, found extra, which the emulator does not have";
            let code = match node.arguments.is_null() {
                true => Error::NotSupported,
                false => Error::InvalidValue,
            };
            return Err(self.refuse(call, text, code));
        }
        let launch = Launch::new(node.function, node.grid, node.block, node.shared as usize);
        // SAFETY: the caller says so.
        Ok(Work::Kernel(unsafe {
            self.prepared(&launch, node.arguments)?
        }))
    }

    /// The fill of memory.
    ///
    /// # Safety
    /// The pointer is null or one to parameters.
    pub unsafe fn fill_work(
        &mut self,
        call: &str,
        parameters: *const FillNode,
    ) -> Result<Work, Error> {
        // SAFETY: the caller says so.
        let node = unsafe { self.passed(call, parameters)? };
        let width = node.width.checked_mul(node.element as usize);
        let (1 | 2 | 4, Some(width)) = (node.element, width) else {
            let text = format!(
                "expected elements of 1, 2 or 4 bytes, found {} of {}",
                node.width, node.element
            );
            return Err(self.refuse(call, &text, Error::InvalidValue));
        };
        Ok(Work::Fill(Fill {
            to: Place::rows(node.to, node.pitch),
            value: node.value,
            element: node.element as usize,
            extent: Extent::rows(width, node.height),
        }))
    }

    /// The call of a function of the host.
    ///
    /// # Safety
    /// The pointer is null or one to parameters.
    pub unsafe fn host_work(
        &mut self,
        call: &str,
        parameters: *const HostNode,
    ) -> Result<Work, Error> {
        // SAFETY: the caller says so.
        let node = unsafe { self.passed(call, parameters)? };
        self.host_call(call, node.function, node.data)
    }

    /// A copy of a graph, for a node.
    pub fn graph_work(&mut self, call: &str, graph: Handle) -> Result<Work, Error> {
        let graph = self.graph(call, graph)?;
        self.check_size(call, graph)?;
        let copy = self.copy_graph(graph);
        self.mark_inner(copy);
        Ok(Work::Graph(copy))
    }
}

calls! {
    /// Adds a node that launches a kernel, whose arguments are copied.
    fn cudaGraphAddKernelNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, parameters: *const KernelNode)
        |program, name, place, graph, before, count, parameters| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.kernel_work(name, parameters)) }
    };

    /// Adds a node that copies planes of rows.
    fn cudaGraphAddMemcpyNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, parameters: *const Copy3D)
        |program, name, place, graph, before, count, parameters| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.box_copy(name, parameters)) }
    };

    /// Adds a node that copies bytes.
    fn cudaGraphAddMemcpyNode1D(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int)
        |program, name, place, graph, before, count, to, from, bytes, kind| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.row_copy(name, to, from, bytes, kind)) }
    };

    /// Adds a node that copies bytes to a variable of the device.
    fn cudaGraphAddMemcpyNodeToSymbol(
        place: *mut Handle, graph: Handle, before: *const Handle, count: usize, symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) |program, name, place, graph, before, count, symbol, from, bytes, offset, kind| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.copy_to_symbol(name, (symbol, offset), from, bytes, kind)) }
    };

    /// Adds a node that copies bytes from a variable of the device.
    fn cudaGraphAddMemcpyNodeFromSymbol(
        place: *mut Handle, graph: Handle, before: *const Handle, count: usize, to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) |program, name, place, graph, before, count, to, symbol, bytes, offset, kind| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.copy_from_symbol(name, to, (symbol, offset), bytes, kind)) }
    };

    /// Adds a node that fills memory.
    fn cudaGraphAddMemsetNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, parameters: *const FillNode)
        |program, name, place, graph, before, count, parameters| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.fill_work(name, parameters)) }
    };

    /// Adds a node that calls a function of the host.
    fn cudaGraphAddHostNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, parameters: *const HostNode)
        |program, name, place, graph, before, count, parameters| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.host_work(name, parameters)) }
    };

    /// Adds a node that does nothing, which others may wait for.
    fn cudaGraphAddEmptyNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize) |program, name, place, graph, before, count| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |_| Ok(Work::Empty)) }
    };

    /// Adds a node that does what a graph does, of which it has a copy.
    fn cudaGraphAddChildGraphNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, inner: Handle)
        |program, name, place, graph, before, count, inner| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |program| program.graph_work(name, inner)) }
    };

    /// Tells the graph that a node has.
    fn cudaGraphChildGraphNodeGetGraph(node: Handle, place: *mut Handle) |program, name, node, place| {
        let (graph, node) = program.node(name, node)?;
        match program.graphs[&graph].nodes[&node].work {
            // SAFETY: the caller says so.
            Work::Graph(inner) => unsafe { put(program, name, place, inner as Handle) },
            _ => Err(program.refuse_kind(name)),
        }
    };

    /// Adds a node that records an event.
    fn cudaGraphAddEventRecordNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, event: Event)
        |program, name, place, graph, before, count, event| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |_| Ok(Work::Record(event as usize))) }
    };

    /// Adds a node that waits for an event.
    fn cudaGraphAddEventWaitNode(place: *mut Handle, graph: Handle, before: *const Handle, count: usize, event: Event)
        |program, name, place, graph, before, count, event| {
        // SAFETY: the caller says so.
        unsafe { program.make_node(name, place, graph, (before, count), |_| Ok(Work::Wait(event as usize))) }
    };

    /// Gives a node another launch of a kernel.
    fn cudaGraphKernelNodeSetParams(node: Handle, parameters: *const KernelNode) |program, name, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.kernel_work(name, parameters)? };
        program.change_node(name, node, work)
    };

    /// Gives a node another copy.
    fn cudaGraphMemcpyNodeSetParams(node: Handle, parameters: *const Copy3D) |program, name, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.box_copy(name, parameters)? };
        program.change_node(name, node, work)
    };

    /// Gives a node another copy of bytes.
    fn cudaGraphMemcpyNodeSetParams1D(node: Handle, to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) |program, name, node, to, from, bytes, kind| {
        let work = program.row_copy(name, to, from, bytes, kind)?;
        program.change_node(name, node, work)
    };

    /// Gives a node another fill.
    fn cudaGraphMemsetNodeSetParams(node: Handle, parameters: *const FillNode) |program, name, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.fill_work(name, parameters)? };
        program.change_node(name, node, work)
    };

    /// Gives a node another function of the host.
    fn cudaGraphHostNodeSetParams(node: Handle, parameters: *const HostNode) |program, name, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.host_work(name, parameters)? };
        program.change_node(name, node, work)
    };

    /// Gives a node of an executable graph another launch of a kernel.
    fn cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, parameters: *const KernelNode) |program, name, exec, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.kernel_work(name, parameters)? };
        program.change_step(name, exec, node, work)
    };

    /// Gives a node of an executable graph another copy.
    fn cudaGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, parameters: *const Copy3D) |program, name, exec, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.box_copy(name, parameters)? };
        program.change_step(name, exec, node, work)
    };

    /// Gives a node of an executable graph another copy of bytes.
    fn cudaGraphExecMemcpyNodeSetParams1D(exec: Handle, node: Handle, to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int)
        |program, name, exec, node, to, from, bytes, kind| {
        let work = program.row_copy(name, to, from, bytes, kind)?;
        program.change_step(name, exec, node, work)
    };

    /// Gives a node of an executable graph another fill.
    fn cudaGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, parameters: *const FillNode) |program, name, exec, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.fill_work(name, parameters)? };
        program.change_step(name, exec, node, work)
    };

    /// Gives a node of an executable graph another function of the host.
    fn cudaGraphExecHostNodeSetParams(exec: Handle, node: Handle, parameters: *const HostNode) |program, name, exec, node, parameters| {
        // SAFETY: the caller says so.
        let work = unsafe { program.host_work(name, parameters)? };
        program.change_step(name, exec, node, work)
    };
}

#[cfg(test)]
mod tests {
    use std::ptr::{null, null_mut};

    use super::*;
    use crate::capture::*;
    use crate::edges::*;
    use crate::events::*;
    use crate::execs::*;
    use crate::graphs::*;
    use crate::node_params::*;
    use crate::streams::*;

    /// The number of an error that every call returns which gets nothing, or something that is not there.
    fn refused(code: c_int) {
        assert!([1, 400, 401].contains(&code), "{code}");
    }

    #[test]
    fn calls_without_handles_and_places_are_refused() {
        let (no, none) = (null_mut::<c_void>(), null::<c_void>());
        let mut graph = null_mut();
        // SAFETY: null pointers are none of places, and numbers that were never handed out are not followed.
        unsafe {
            assert_eq!(cudaGraphCreate(&mut graph, 0), 0);
            for handle in [null_mut(), 8 as Handle, usize::MAX as Handle] {
                let mut place = null_mut();
                let mut count = 0;
                refused(cudaGraphDestroy(handle));
                refused(cudaGraphClone(&mut place, handle));
                refused(cudaGraphGetNodes(handle, null_mut(), &mut count));
                refused(cudaGraphGetEdges(handle, null_mut(), null_mut(), 0, 0));
                refused(cudaGraphNodeGetType(handle, null_mut()));
                refused(cudaGraphDestroyNode(handle));
                refused(cudaGraphInstantiate(&mut place, handle, 0));
                refused(cudaGraphLaunch(handle, null_mut()));
                refused(cudaGraphUpload(handle, null_mut()));
                refused(cudaGraphExecDestroy(handle));
                refused(cudaGraphExecUpdate(handle, graph, null_mut()));
                refused(cudaGraphKernelNodeGetParams(handle, null_mut()));
                refused(cudaGraphAddEmptyNode(&mut place, handle, null(), 0));
                refused(cudaGraphAddEmptyNode(&mut place, graph, &handle, 1));
                refused(cudaGraphAddChildGraphNode(
                    &mut place,
                    graph,
                    null(),
                    0,
                    handle,
                ));
                refused(cudaGraphAddEventRecordNode(
                    &mut place,
                    graph,
                    null(),
                    0,
                    handle,
                ));
                refused(cudaEventRecord(handle, null_mut()));
                refused(cudaEventDestroy(handle));
                refused(cudaStreamWaitEvent(null_mut(), handle, 0));
                refused(cudaStreamDestroy(handle));
                refused(cudaStreamEndCapture(handle, &mut place));
                assert!(place.is_null());
            }
            refused(cudaGraphCreate(null_mut(), 0));
            refused(cudaGraphClone(null_mut(), graph));
            refused(cudaGraphInstantiate(null_mut(), graph, 0));
            refused(cudaGraphInstantiateWithParams(
                null_mut(),
                graph,
                null_mut(),
            ));
            refused(cudaGraphGetNodes(graph, null_mut(), null_mut()));
            refused(cudaGraphAddEmptyNode(null_mut(), graph, null(), 0));
            let mut node = null_mut();
            refused(cudaGraphAddEmptyNode(&mut node, graph, null(), 3));
            refused(cudaGraphAddKernelNode(&mut node, graph, null(), 0, null()));
            refused(cudaGraphAddMemcpyNode(&mut node, graph, null(), 0, null()));
            refused(cudaGraphAddMemcpyNode1D(
                &mut node,
                graph,
                null(),
                0,
                no,
                none,
                8,
                4,
            ));
            refused(cudaGraphAddMemcpyNode1D(
                &mut node,
                graph,
                null(),
                0,
                no,
                none,
                8,
                9,
            ));
            refused(cudaGraphAddMemsetNode(&mut node, graph, null(), 0, null()));
            refused(cudaGraphAddHostNode(&mut node, graph, null(), 0, null()));
            refused(cudaGraphAddNode_v2(
                &mut node,
                graph,
                null(),
                null(),
                0,
                null_mut(),
            ));
            refused(cudaEventCreate(null_mut()));
            refused(cudaStreamCreate(null_mut()));
            refused(cudaThreadExchangeStreamCaptureMode(null_mut()));
            refused(cudaLaunchHostFunc(null_mut(), None, no));
            assert!(node.is_null());
            let mut count = 7;
            assert_eq!(cudaGraphGetNodes(graph, null_mut(), &mut count), 0);
            assert_eq!(count, 0);
            assert_eq!(cudaGraphDestroy(graph), 0);
        }
    }
}
