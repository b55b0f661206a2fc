//! Graphs: nodes of work, each after others.
//!
//! Handles are numbers that no other stream, event, node or graph has, so that a handle of something else, or of what was destroyed, is told.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_uint};

use crate::Error;
use crate::abi::Handle;
use crate::calls::{calls, no_handle, put, put_list};
use crate::program::{Program, call};
use crate::work::Work;

/// The depth to which graphs may lie in graphs.
const DEPTH: usize = 64;
/// Nodes that the program may have at a time: graphs in graphs double quickly.
const NODES: usize = 1 << 22;

/// A graph.
#[derive(Default)]
pub(crate) struct Graph {
    /// Its nodes, in the order in which they were made.
    pub nodes: BTreeMap<usize, Node>,
    /// Tells whether it belongs to a node of another graph.
    pub inner: bool,
}

/// A node of a graph.
#[derive(Clone)]
pub(crate) struct Node {
    pub work: Work,
    /// The nodes that it waits for.
    pub before: Vec<usize>,
    /// The node that this is a copy of.
    pub original: Option<usize>,
}

impl Program {
    /// A graph by its handle.
    pub fn graph(&mut self, call: &str, graph: Handle) -> Result<usize, Error> {
        match self.graphs.contains_key(&(graph as usize)) {
            true => Ok(graph as usize),
            false => {
                let text = format!(
                    "expected a graph that was made and not destroyed, found {}; make it by cudaGraphCreate",
                    no_handle(graph as usize)
                );
                Err(self.refuse(call, &text, Error::InvalidValue))
            }
        }
    }

    /// The graph that a node is in, and the node.
    pub fn node(&mut self, call: &str, node: Handle) -> Result<(usize, usize), Error> {
        let node = node as usize;
        match self.homes.get(&node) {
            Some(graph) => Ok((*graph, node)),
            None => {
                let text = format!(
                    "expected a node of a graph that was not destroyed, found {}",
                    no_handle(node)
                );
                Err(self.refuse(call, &text, Error::InvalidValue))
            }
        }
    }

    /// The nodes of a list, which are all in a graph, and each once.
    pub fn nodes_of(
        &mut self,
        call: &str,
        graph: usize,
        nodes: Option<Vec<Handle>>,
    ) -> Result<Vec<usize>, Error> {
        let Some(nodes) = nodes else {
            let text = "expected as many nodes as their number says, found a null pointer";
            return Err(self.refuse(call, text, Error::InvalidValue));
        };
        let nodes: Vec<usize> = nodes.into_iter().map(|node| node as usize).collect();
        if let Some(node) = nodes
            .iter()
            .find(|node| self.homes.get(*node) != Some(&graph))
        {
            let text = format!("expected nodes of the graph, found {}", no_handle(*node));
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        if nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len() {
            let text = "expected each node once, found one twice";
            return Err(self.refuse(call, text, Error::InvalidValue));
        }
        Ok(nodes)
    }

    /// Makes a graph.
    pub fn new_graph(&mut self) -> usize {
        let graph = self.new_handle();
        self.graphs.insert(graph, Graph::default());
        graph
    }

    /// Adds a node after nodes of the same graph.
    pub fn add_node(&mut self, graph: usize, work: Work, before: Vec<usize>) -> usize {
        let node = self.new_handle();
        if let Some(found) = self.graphs.get_mut(&graph) {
            let made = Node {
                work,
                before,
                original: None,
            };
            found.nodes.insert(node, made);
            self.homes.insert(node, graph);
        }
        node
    }

    /// Destroys a graph, with the graphs that its nodes are.
    pub fn drop_graph(&mut self, graph: usize) {
        for (node, found) in self.graphs.remove(&graph).unwrap_or_default().nodes {
            self.homes.remove(&node);
            if let Work::Graph(inner) = found.work {
                self.drop_graph(inner);
            }
        }
    }

    /// Copies a graph, with the graphs that its nodes are.
    pub fn copy_graph(&mut self, graph: usize) -> usize {
        let made = self.new_graph();
        let Some(found) = self.graphs.get(&graph) else {
            return made;
        };
        let nodes = found.nodes.clone();
        let mut copies = BTreeMap::new();
        for node in nodes.keys() {
            copies.insert(*node, self.new_handle());
        }
        for (node, found) in nodes {
            let work = match found.work {
                Work::Graph(inner) => {
                    let inner = self.copy_graph(inner);
                    self.mark_inner(inner);
                    Work::Graph(inner)
                }
                work => work,
            };
            let copy = Node {
                work,
                before: found.before.iter().map(|node| copies[node]).collect(),
                original: Some(node),
            };
            self.homes.insert(copies[&node], made);
            if let Some(graph) = self.graphs.get_mut(&made) {
                graph.nodes.insert(copies[&node], copy);
            }
        }
        made
    }

    /// Makes a graph that of a node.
    pub fn mark_inner(&mut self, graph: usize) {
        if let Some(graph) = self.graphs.get_mut(&graph) {
            graph.inner = true;
        }
    }

    /// The nodes of a graph, each after those that it waits for; none if some wait for themselves.
    pub fn order(&self, graph: usize) -> Option<Vec<usize>> {
        let nodes = &self.graphs.get(&graph)?.nodes;
        let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut missing = BTreeMap::new();
        let mut ready = BTreeSet::new();
        for (node, found) in nodes {
            for before in &found.before {
                after.entry(*before).or_default().push(*node);
            }
            match found.before.len() {
                0 => {
                    ready.insert(*node);
                }
                count => {
                    missing.insert(*node, count);
                }
            }
        }
        let mut order = Vec::new();
        while let Some(node) = ready.pop_first() {
            order.push(node);
            for next in after.remove(&node).unwrap_or_default() {
                if let Some(count) = missing.get_mut(&next) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(next);
                    }
                }
            }
        }
        (order.len() == nodes.len()).then_some(order)
    }

    /// Nodes, and all that they wait for.
    pub fn before(&self, graph: usize, ends: &[usize]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = ends.to_vec();
        while let Some(node) = open.pop() {
            if found.insert(node)
                && let Some(node) = self
                    .graphs
                    .get(&graph)
                    .and_then(|graph| graph.nodes.get(&node))
            {
                open.extend(&node.before);
            }
        }
        found
    }

    /// The nodes of a graph with those of the graphs in it, and how deep these lie.
    fn size(&self, graph: usize) -> (usize, usize) {
        let (mut nodes, mut depth) = (0, 0);
        for node in self
            .graphs
            .get(&graph)
            .into_iter()
            .flat_map(|graph| graph.nodes.values())
        {
            nodes += 1;
            if let Work::Graph(inner) = node.work {
                let inner = self.size(inner);
                nodes += inner.0;
                depth = depth.max(inner.1 + 1);
            }
        }
        (nodes, depth)
    }

    /// Refuses a graph that is too large to be copied.
    pub fn check_size(&mut self, call: &str, graph: usize) -> Result<(), Error> {
        let (nodes, depth) = self.size(graph);
        self.check_count(call, nodes, depth)
    }

    /// Refuses more nodes, or graphs that lie deeper, than the program may have.
    pub fn check_count(&mut self, call: &str, nodes: usize, depth: usize) -> Result<(), Error> {
        if self.homes.len() + nodes <= NODES && depth < DEPTH {
            return Ok(());
        }
        let text = format!(
            "expected at most {NODES} nodes at a time, and graphs of at most {DEPTH} levels, found {} and {depth} with this graph; destroy graphs that are not used",
            self.homes.len() + nodes
        );
        Err(self.refuse(call, &text, Error::MemoryAllocation))
    }
}

calls! {
    /// Makes a graph.
    fn cudaGraphCreate(place: *mut Handle, flags: c_uint) |program, name, place, flags| {
        if flags != 0 {
            let text = format!("expected no flags (0), found {flags}");
            return Err(program.refuse(name, &text, Error::InvalidValue));
        }
        let graph = program.new_graph();
        // SAFETY: the caller says so.
        let done = unsafe { put(program, name, place, graph as Handle) };
        done.inspect_err(|_| program.drop_graph(graph))
    };

    /// Destroys a graph.
    fn cudaGraphDestroy(graph: Handle) |program, name, graph| {
        let graph = program.graph(name, graph)?;
        let text = if program.graphs[&graph].inner {
            "expected a graph of its own, found that of a node; destroy the node"
        } else if program.captures.values().any(|capture| capture.graph == graph) {
            "expected a graph that is whole, found one that is being captured; end the capture by cudaStreamEndCapture"
        } else {
            program.drop_graph(graph);
            return Ok(());
        };
        Err(program.refuse(name, text, Error::InvalidValue))
    };

    /// Copies a graph.
    fn cudaGraphClone(place: *mut Handle, graph: Handle) |program, name, place, graph| {
        let graph = program.graph(name, graph)?;
        program.check_size(name, graph)?;
        let copy = program.copy_graph(graph);
        // SAFETY: the caller says so.
        let done = unsafe { put(program, name, place, copy as Handle) };
        done.inspect_err(|_| program.drop_graph(copy))
    };

    /// Finds the copy of a node in the copy of its graph.
    fn cudaGraphNodeFindInClone(place: *mut Handle, node: Handle, copy: Handle) |program, name, place, node, copy| {
        let (_, node) = program.node(name, node)?;
        let copy = program.graph(name, copy)?;
        let mut nodes = program.graphs[&copy].nodes.iter();
        let Some(found) = nodes.find(|(_, found)| found.original == Some(node)).map(|(found, _)| *found) else {
            let text = "expected a node of the graph that was cloned, found another one, or one whose copy was destroyed";
            return Err(program.refuse(name, text, Error::InvalidValue));
        };
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, found as Handle) }
    };

    /// Lists the nodes of a graph.
    fn cudaGraphGetNodes(graph: Handle, place: *mut Handle, count: *mut usize) |program, name, graph, place, count| {
        let graph = program.graph(name, graph)?;
        let nodes: Vec<usize> = program.graphs[&graph].nodes.keys().copied().collect();
        // SAFETY: the caller says so.
        unsafe { put_list(program, name, &nodes, place, count) }
    };

    /// Lists the nodes of a graph that wait for none.
    fn cudaGraphGetRootNodes(graph: Handle, place: *mut Handle, count: *mut usize) |program, name, graph, place, count| {
        let graph = program.graph(name, graph)?;
        let nodes = program.graphs[&graph].nodes.iter();
        let roots: Vec<usize> = nodes.filter(|(_, node)| node.before.is_empty()).map(|(node, _)| *node).collect();
        // SAFETY: the caller says so.
        unsafe { put_list(program, name, &roots, place, count) }
    };

    /// Tells the kind of a node.
    fn cudaGraphNodeGetType(node: Handle, place: *mut c_int) |program, name, node, place| {
        let (graph, node) = program.node(name, node)?;
        let kind = program.graphs[&graph].nodes[&node].work.kind();
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, kind) }
    };

    /// Destroys a node, and what waits for it waits for it no more.
    fn cudaGraphDestroyNode(node: Handle) |program, name, node| {
        let (graph, node) = program.node(name, node)?;
        program.homes.remove(&node);
        if let Some(graph) = program.graphs.get_mut(&graph) {
            let removed = graph.nodes.remove(&node);
            for other in graph.nodes.values_mut() {
                other.before.retain(|before| *before != node);
            }
            if let Some(Work::Graph(inner)) = removed.map(|node| node.work) {
                program.drop_graph(inner);
            }
        }
        for capture in program.captures.values_mut() {
            capture.forget(node);
        }
        Ok(())
    };
}

#[cfg(test)]
mod tests {
    use std::ptr::{null, null_mut};

    use super::*;
    use crate::edges::*;
    use crate::execs::{cudaGraphExecDestroy, cudaGraphInstantiate};
    use crate::nodes::{cudaGraphAddChildGraphNode, cudaGraphAddEmptyNode};
    use crate::program::register;

    const INVALID: c_int = 1;

    fn graph() -> Handle {
        let mut graph = null_mut();
        // SAFETY: the place can be written to.
        assert_eq!(unsafe { cudaGraphCreate(&mut graph, 0) }, 0);
        graph
    }

    fn empty(graph: Handle, before: &[Handle]) -> Handle {
        let mut node = null_mut();
        // SAFETY: there are as many nodes.
        let code =
            unsafe { cudaGraphAddEmptyNode(&mut node, graph, before.as_ptr(), before.len()) };
        assert_eq!(code, 0);
        node
    }

    fn edge(graph: Handle, from: Handle, to: Handle) -> c_int {
        // SAFETY: there is one node each.
        unsafe { cudaGraphAddDependencies_v2(graph, &from, &to, null(), 1) }
    }

    #[test]
    fn nodes_come_after_those_that_they_wait_for() {
        let graph = graph();
        let nodes: Vec<Handle> = (0..4).map(|_| empty(graph, &[])).collect();
        for (from, to) in [(3, 1), (1, 0), (3, 2), (2, 0)] {
            assert_eq!(edge(graph, nodes[from], nodes[to]), 0);
        }
        let order = || register(|program| program.order(graph as usize));
        let expected: Vec<usize> = [3, 1, 2, 0].map(|place| nodes[place] as usize).into();
        assert_eq!(order(), Some(expected));
        // A circle has no order, and is not instantiated.
        assert_eq!(edge(graph, nodes[0], nodes[3]), 0);
        assert_eq!(order(), None);
        let mut exec = null_mut();
        // SAFETY: places can be written to, and lists have as many nodes as is said.
        unsafe {
            assert_eq!(cudaGraphInstantiate(&mut exec, graph, 0), INVALID);
            assert!(exec.is_null());
            let mut count = 0;
            assert_eq!(
                cudaGraphNodeGetDependentNodes_v2(nodes[3], null_mut(), null_mut(), &mut count),
                0
            );
            assert_eq!(count, 2);
            // Of several edges none is removed if one is not there.
            let (from, to) = ([nodes[0], nodes[0]], [nodes[3], nodes[2]]);
            assert_eq!(
                cudaGraphRemoveDependencies_v2(graph, from.as_ptr(), to.as_ptr(), null(), 2),
                INVALID
            );
            assert_eq!(order(), None);
            assert_eq!(
                cudaGraphRemoveDependencies_v2(graph, from.as_ptr(), to.as_ptr(), null(), 1),
                0
            );
            assert_eq!(cudaGraphInstantiate(&mut exec, graph, 0), 0);
            assert_eq!(cudaGraphInstantiate(&mut exec, graph, 4), 801);
            assert_eq!(cudaGraphExecDestroy(exec), 0);
            assert_eq!(cudaGraphDestroyNode(nodes[1]), 0);
            let (mut ends, mut room) = ([8 as Handle; 3], 3);
            assert_eq!(
                cudaGraphNodeGetDependencies_v2(nodes[0], ends.as_mut_ptr(), null_mut(), &mut room),
                0
            );
            assert_eq!((ends, room), ([nodes[2], null_mut(), null_mut()], 1));
            assert_eq!(cudaGraphDestroy(graph), 0);
            assert_eq!(cudaGraphDestroyNode(nodes[0]), INVALID);
        }
    }

    #[test]
    fn graphs_in_graphs_end() {
        let mut outer = graph();
        let (mut inner, mut node) = (null_mut(), null_mut());
        let mut levels = 0;
        // SAFETY: places can be written to.
        unsafe {
            loop {
                let next = graph();
                match cudaGraphAddChildGraphNode(&mut node, next, null(), 0, outer) {
                    0 => levels += 1,
                    code => {
                        assert_eq!(code, 2);
                        assert_eq!(cudaGraphDestroy(next), 0);
                        break;
                    }
                }
                assert_eq!(cudaGraphDestroy(outer), 0);
                outer = next;
            }
            assert_eq!(levels, DEPTH);
            let mut count = 1;
            assert_eq!(cudaGraphGetNodes(outer, &mut node, &mut count), 0);
            assert_eq!(
                crate::nodes::cudaGraphChildGraphNodeGetGraph(node, &mut inner),
                0
            );
            assert_eq!(cudaGraphDestroy(inner), INVALID);
            assert_eq!(cudaGraphDestroy(outer), 0);
            assert_eq!(cudaGraphGetNodes(inner, null_mut(), &mut count), INVALID);
        }
    }
}
