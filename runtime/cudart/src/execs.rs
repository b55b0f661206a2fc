//! Executable graphs: the nodes of a graph in an order that they may have, as they were when it was instantiated.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::Error;
use crate::abi::{Handle, InstantiateParams, Stream, UpdateResult};
use crate::calls::{calls, no_handle, put};
use crate::program::{Program, call};
use crate::work::Work;

/// Flags of instantiations that change nothing here (`cudaGraphInstantiateFlagAutoFreeOnLaunch`, `Upload` and `UseNodePriority`).
const FLAGS: u64 = 1 | 2 | 8;
/// Outcomes of an instantiation and of an update (`cudaGraphInstantiateResult`, `cudaGraphExecUpdateResult`).
const INVALID_STRUCTURE: c_int = 2;
const TOPOLOGY_CHANGED: c_int = 2;
const KIND_CHANGED: c_int = 3;

/// An executable graph.
pub(crate) struct Exec {
    /// A launch that is under way keeps those that it began with.
    steps: Arc<Vec<Step>>,
    flags: u64,
}

/// A node of an executable graph. That of a graph comes after the graph's nodes.
#[derive(Clone)]
struct Step {
    /// The node that it was made of.
    node: usize,
    work: Work,
    /// The places of the nodes that it waits for.
    before: Vec<usize>,
    enabled: bool,
}

impl Program {
    /// An executable graph by its handle.
    fn exec(&mut self, call: &str, exec: Handle) -> Result<&mut Exec, Error> {
        let exec = exec as usize;
        if !self.execs.contains_key(&exec) {
            let text = format!(
                "expected an executable graph that was made and not destroyed, found {}; make it by cudaGraphInstantiate",
                no_handle(exec)
            );
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        self.execs.get_mut(&exec).ok_or(Error::InvalidValue)
    }

    /// Appends the nodes of a graph, of which the first wait for those before; none if some wait for themselves.
    fn flatten(&self, graph: usize, outer: &[usize], steps: &mut Vec<Step>) -> Option<()> {
        let mut places = BTreeMap::new();
        for node in self.order(graph)? {
            let found = &self.graphs.get(&graph)?.nodes[&node];
            let mut before: Vec<usize> = found.before.iter().map(|node| places[node]).collect();
            if before.is_empty() {
                before = outer.to_vec();
            }
            if let Work::Graph(inner) = found.work {
                let first = steps.len();
                self.flatten(inner, &before, steps)?;
                before.extend(first..steps.len());
            }
            before.sort_unstable();
            places.insert(node, steps.len());
            steps.push(Step {
                node,
                work: found.work.clone(),
                before,
                enabled: true,
            });
        }
        Some(())
    }

    /// The nodes of a graph in an order that they may have.
    fn steps(&mut self, call: &str, graph: usize) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        match self.flatten(graph, &[], &mut steps) {
            Some(()) => Ok(steps),
            None => {
                let text = "expected nodes that wait for nodes before them, found some that wait for themselves; remove a dependency of the circle";
                Err(self.refuse(call, text, Error::InvalidValue))
            }
        }
    }

    /// Makes an executable graph.
    ///
    /// # Safety
    /// The place is null or can be written to.
    unsafe fn instantiate(
        &mut self,
        call: &str,
        place: *mut Handle,
        graph: Handle,
        flags: u64,
    ) -> Result<(), Error> {
        let graph = self.graph(call, graph)?;
        if flags & !FLAGS != 0 {
            let text = format!(
                "expected flags of {FLAGS}, as kernels cannot launch graphs here, found {flags}"
            );
            return Err(self.refuse(call, &text, Error::NotSupported));
        }
        let steps = Arc::new(self.steps(call, graph)?);
        let exec = self.new_handle();
        // SAFETY: the caller says so.
        unsafe { put(self, call, place, exec as Handle)? };
        self.execs.insert(exec, Exec { steps, flags });
        Ok(())
    }

    /// The step of a node.
    fn step(&mut self, call: &str, exec: Handle, node: Handle) -> Result<&mut Step, Error> {
        let node = node as usize;
        let steps = &self.exec(call, exec)?.steps;
        let Some(place) = steps.iter().position(|step| step.node == node) else {
            let text = format!(
                "expected a node of the graph that was instantiated, found {}",
                no_handle(node)
            );
            return Err(self.refuse(call, &text, Error::InvalidValue));
        };
        Ok(&mut Arc::make_mut(&mut self.exec(call, exec)?.steps)[place])
    }

    /// Gives a step other work of the same kind.
    pub fn change_step(
        &mut self,
        call: &str,
        exec: Handle,
        node: Handle,
        work: Work,
    ) -> Result<(), Error> {
        self.check(call, &work)?;
        let step = self.step(call, exec, node)?;
        if step.work.kind() == work.kind() {
            step.work = work;
            return Ok(());
        }
        Err(self.refuse_kind(call))
    }

    /// Gives an executable graph the work of a graph of the same shape, all or none. Returns the outcome with the node at fault.
    fn update(
        &mut self,
        call: &str,
        exec: Handle,
        graph: Handle,
    ) -> Result<Result<(), (c_int, usize)>, Error> {
        let graph = self.graph(call, graph)?;
        let new = self.steps(call, graph)?;
        let found = self.exec(call, exec)?;
        if found.steps.len() != new.len() {
            return Ok(Err((TOPOLOGY_CHANGED, 0)));
        }
        for (old, new) in found.steps.iter().zip(&new) {
            if old.work.kind() != new.work.kind() {
                return Ok(Err((KIND_CHANGED, new.node)));
            }
            if old.before != new.before {
                return Ok(Err((TOPOLOGY_CHANGED, new.node)));
            }
        }
        for (step, new) in Arc::make_mut(&mut found.steps).iter_mut().zip(new) {
            step.work = new.work;
        }
        Ok(Ok(()))
    }

    /// A graph that does what an executable graph does, for a node.
    fn graph_of_steps(&mut self, steps: &[Step]) -> usize {
        let graph = self.new_graph();
        self.mark_inner(graph);
        let mut nodes = Vec::new();
        for step in steps {
            let work = match &step.work {
                Work::Graph(_) => Work::Empty,
                _ if !step.enabled => Work::Empty,
                work => work.clone(),
            };
            let before = step.before.iter().map(|place| nodes[*place]).collect();
            nodes.push(self.add_node(graph, work, before));
        }
        graph
    }

    /// Takes a launch of an executable graph for a stream: what is to be done now, all of which can be done.
    fn launch_steps(
        &mut self,
        call: &str,
        exec: Handle,
        stream: Stream,
    ) -> Result<Arc<Vec<Step>>, Error> {
        let steps = self.exec(call, exec)?.steps.clone();
        if let Some(place) = self.enter(call, stream)? {
            self.check_count(call, steps.len(), 0)
                .inspect_err(|_| self.invalidate(place.0))?;
            let graph = self.graph_of_steps(&steps);
            self.keep(place, Work::Graph(graph));
            return Ok(Arc::default());
        }
        for step in steps.iter().filter(|step| step.enabled) {
            self.check(call, &step.work)?;
        }
        Ok(steps)
    }
}

calls! {
    /// Makes a graph executable.
    fn cudaGraphInstantiate(place: *mut Handle, graph: Handle, flags: u64) |program, name, place, graph, flags| {
        // SAFETY: the caller says so.
        unsafe { program.instantiate(name, place, graph, flags) }
    };

    /// Makes a graph executable, with flags.
    fn cudaGraphInstantiateWithFlags(place: *mut Handle, graph: Handle, flags: u64) |program, name, place, graph, flags| {
        // SAFETY: the caller says so.
        unsafe { program.instantiate(name, place, graph, flags) }
    };

    /// Makes a graph executable, with parameters.
    fn cudaGraphInstantiateWithParams(place: *mut Handle, graph: Handle, parameters: *mut InstantiateParams) |program, name, place, graph, parameters| {
        // SAFETY: the caller says so.
        let Some(parameters) = (unsafe { parameters.as_mut() }) else {
            let text = "expected parameters, found a null pointer";
            return Err(program.refuse(name, text, Error::InvalidValue));
        };
        // SAFETY: the caller says so.
        let done = unsafe { program.instantiate(name, place, graph, parameters.flags) };
        parameters.node = std::ptr::null_mut();
        parameters.result = match done {
            Ok(()) => 0,
            Err(_) => INVALID_STRUCTURE,
        };
        done
    };

    /// Tells the flags of an instantiation.
    fn cudaGraphExecGetFlags(exec: Handle, place: *mut u64) |program, name, exec, place| {
        let flags = program.exec(name, exec)?.flags;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, flags) }
    };

    /// Destroys an executable graph.
    fn cudaGraphExecDestroy(exec: Handle) |program, name, exec| {
        program.exec(name, exec)?;
        program.execs.remove(&(exec as usize));
        Ok(())
    };

    /// Prepares the launch of an executable graph, for which there is nothing to do.
    fn cudaGraphUpload(exec: Handle, stream: Stream) |program, name, exec, stream| {
        program.exec(name, exec)?;
        program.enter(name, stream).map(|_| ())
    };

    /// Says whether a node of an executable graph does its work.
    fn cudaGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint) |program, name, exec, node, enabled| {
        let step = program.step(name, exec, node)?;
        if matches!(step.work, Work::Kernel(_) | Work::Copy(_) | Work::Fill(_)) {
            step.enabled = enabled != 0;
            return Ok(());
        }
        let text = "expected a node of a kernel, a copy or a fill, found another one";
        Err(program.refuse(name, text, Error::InvalidValue))
    };

    /// Tells whether a node of an executable graph does its work.
    fn cudaGraphNodeGetEnabled(exec: Handle, node: Handle, place: *mut c_uint) |program, name, exec, node, place| {
        let enabled = program.step(name, exec, node)?.enabled;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, enabled.into()) }
    };

    /// Gives an executable graph the work of another graph of the same shape.
    fn cudaGraphExecUpdate(exec: Handle, graph: Handle, place: *mut UpdateResult) |program, name, exec, graph, place| {
        let outcome = program.update(name, exec, graph)?;
        let (result, node) = outcome.err().unwrap_or_default();
        let told = UpdateResult { result, node: node as Handle, from: std::ptr::null_mut() };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, told)? };
        if outcome.is_ok() {
            return Ok(());
        }
        let found = match (result, node) {
            (KIND_CHANGED, _) => "a node of another kind",
            (_, 0) => "more or fewer",
            _ => "a node that waits for others",
        };
        let text = format!(
            "expected a graph of the same nodes, added in the same order, found {found}; instantiate it anew"
        );
        Err(program.refuse(name, &text, Error::GraphExecUpdateFailure))
    };
}

/// Launches an executable graph: in a stream that is captured it becomes a node.
///
/// # Safety
/// Memory of the host has the bytes that are copied, and functions of the host may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphLaunch(exec: Handle, stream: Stream) -> c_int {
    let name = "cudaGraphLaunch";
    let mut steps = Arc::default();
    let code = call(name, |program| {
        steps = program.launch_steps(name, exec, stream)?;
        Ok(())
    });
    if code != 0 {
        return code;
    }
    for step in steps.iter().filter(|step| step.enabled) {
        let code = match &step.work {
            Work::Host(host) => {
                // SAFETY: the caller says so.
                unsafe { host.run() };
                0
            }
            // SAFETY: the caller says so.
            work => call(name, |program| unsafe { program.perform(name, work) }),
        };
        if code != 0 {
            return code;
        }
    }
    0
}
