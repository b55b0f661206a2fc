//! Edges: what nodes of a graph wait for. CUDA 13 passes data of edges where 12 does not, under the same names.

use std::ffi::c_int;

use crate::Error;
use crate::abi::{EdgeData, Handle};
use crate::calls::{calls, elements, put, put_list};
use crate::program::{Program, call};
use crate::version::thirteen;

impl Program {
    /// Refuses edges other than from the end of a node to the start of another.
    pub fn plain_edges(&mut self, call: &str, edges: Option<Vec<EdgeData>>) -> Result<(), Error> {
        let plain = |edge: &EdgeData| *edge == EdgeData::default();
        if edges.unwrap_or_default().iter().all(plain) {
            return Ok(());
        }
        let text = "expected edges without data, found programmatic ones, which the emulator does not have; pass a null pointer";
        Err(self.refuse(call, text, Error::NotSupported))
    }

    /// The edges between the nodes of two lists of one length: the graph, and pairs of a node and one after it.
    ///
    /// # Safety
    /// There are as many nodes.
    unsafe fn pairs(
        &mut self,
        call: &str,
        graph: Handle,
        (from, to): (*const Handle, *const Handle),
        count: usize,
    ) -> Result<(usize, Vec<(usize, usize)>), Error> {
        let graph = self.graph(call, graph)?;
        // SAFETY: the caller says so.
        let lists = unsafe { (elements(from, count), elements(to, count)) };
        let (Some(from), Some(to)) = lists else {
            let text = "expected as many nodes as their number says, found a null pointer";
            return Err(self.refuse(call, text, Error::InvalidValue));
        };
        let mut pairs = Vec::new();
        for (from, to) in from.into_iter().zip(to) {
            for node in [from, to] {
                self.nodes_of(call, graph, Some(vec![node]))?;
            }
            if from == to {
                let text = "expected a node to wait for another, found one that waits for itself";
                return Err(self.refuse(call, text, Error::InvalidValue));
            }
            pairs.push((from as usize, to as usize));
        }
        Ok((graph, pairs))
    }

    /// Adds or removes edges: all, or none where one is wrong.
    ///
    /// # Safety
    /// There are as many nodes.
    unsafe fn change_edges(
        &mut self,
        call: &str,
        graph: Handle,
        ends: (*const Handle, *const Handle),
        count: usize,
        add: bool,
    ) -> Result<(), Error> {
        // SAFETY: the caller says so.
        let (graph, pairs) = unsafe { self.pairs(call, graph, ends, count)? };
        let Some(found) = self.graphs.get_mut(&graph) else {
            return Ok(());
        };
        let mut changed = std::collections::BTreeMap::new();
        for (from, to) in pairs {
            let before = changed
                .entry(to)
                .or_insert_with(|| found.nodes[&to].before.clone());
            match (before.iter().position(|node| *node == from), add) {
                (None, true) => before.push(from),
                (Some(place), false) => {
                    before.remove(place);
                }
                (_, add) => {
                    let text = match add {
                        true => "expected new dependencies, found one that there is already",
                        false => "expected dependencies of the graph, found one that there is not",
                    };
                    return Err(self.refuse(call, text, Error::InvalidValue));
                }
            }
        }
        for (to, before) in changed {
            if let Some(node) = found.nodes.get_mut(&to) {
                node.before = before;
            }
        }
        Ok(())
    }

    /// The edges of a graph, from the nodes' ends to those that wait for them.
    fn edges(&self, graph: usize) -> Vec<(usize, usize)> {
        let nodes = self
            .graphs
            .get(&graph)
            .into_iter()
            .flat_map(|graph| &graph.nodes);
        nodes
            .flat_map(|(to, node)| node.before.iter().map(|from| (*from, *to)))
            .collect()
    }
}

/// Fills data of edges with those of plain ones.
///
/// # Safety
/// The place is null, or has as many as the count says.
unsafe fn put_plain(place: *mut EdgeData, count: *const usize) {
    // SAFETY: the caller says so.
    let room = unsafe { count.as_ref() }.copied().unwrap_or(0);
    if !place.is_null() {
        // SAFETY: the caller says so.
        unsafe { std::slice::from_raw_parts_mut(place, room) }.fill(EdgeData::default());
    }
}

calls! {
    /// Lets nodes wait for others, in CUDA 12.3 and later.
    fn cudaGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, edges: *const EdgeData, count: usize)
        |program, name, graph, from, to, edges, count| {
        // SAFETY: the caller says so.
        unsafe {
            program.plain_edges(name, elements(edges, count))?;
            program.change_edges(name, graph, (from, to), count, true)
        }
    };

    /// Lets nodes wait for others no more, in CUDA 12.3 and later.
    fn cudaGraphRemoveDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, edges: *const EdgeData, count: usize)
        |program, name, graph, from, to, edges, count| {
        // SAFETY: the caller says so.
        unsafe {
            program.plain_edges(name, elements(edges, count))?;
            program.change_edges(name, graph, (from, to), count, false)
        }
    };

    /// Lists the edges of a graph, in CUDA 12.3 and later.
    fn cudaGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut EdgeData, count: *mut usize)
        |program, name, graph, from, to, edges, count| {
        let graph = program.graph(name, graph)?;
        let (starts, ends): (Vec<usize>, Vec<usize>) = program.edges(graph).into_iter().unzip();
        if from.is_null() != to.is_null() {
            let text = "expected places for both ends of edges, or for none, found one place";
            return Err(program.refuse(name, text, Error::InvalidValue));
        }
        // SAFETY: the caller says so. The second call may not see the number that the first has written.
        unsafe {
            put_plain(edges, count);
            let mut room = count.as_ref().copied().unwrap_or(0);
            put_list(program, name, &starts, from, count)?;
            put_list(program, name, &ends, to, &raw mut room)
        }
    };

    /// Lists the nodes that a node waits for, in CUDA 12.3 and later.
    fn cudaGraphNodeGetDependencies_v2(node: Handle, place: *mut Handle, edges: *mut EdgeData, count: *mut usize) |program, name, node, place, edges, count| {
        let (graph, node) = program.node(name, node)?;
        let before = program.graphs[&graph].nodes[&node].before.clone();
        // SAFETY: the caller says so.
        unsafe {
            put_plain(edges, count);
            put_list(program, name, &before, place, count)
        }
    };

    /// Lists the nodes that wait for a node, in CUDA 12.3 and later.
    fn cudaGraphNodeGetDependentNodes_v2(node: Handle, place: *mut Handle, edges: *mut EdgeData, count: *mut usize) |program, name, node, place, edges, count| {
        let (graph, node) = program.node(name, node)?;
        let edges_of = program.edges(graph).into_iter();
        let after: Vec<usize> = edges_of.filter(|(from, _)| *from == node).map(|(_, to)| to).collect();
        // SAFETY: the caller says so.
        unsafe {
            put_plain(edges, count);
            put_list(program, name, &after, place, count)
        }
    };

    /// Tells the graph that a node is in.
    fn cudaGraphNodeGetContainingGraph(node: Handle, place: *mut Handle) |program, name, node, place| {
        let (graph, _) = program.node(name, node)?;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, graph as Handle) }
    };
}

/// Defines functions whose last arguments are data of edges and a number in CUDA 13, and the number alone in 12.
macro_rules! with_data {
    ($($name:ident = $of:ident ($($argument:ident: $ty:ty),*; $edges:ty, $count:ty);)*) => {$(
        #[doc = concat!("Does what `", stringify!($of), "` does; in CUDA 12 without data of edges.")]
        ///
        /// # Safety
        /// As of that.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $ty,)* data: usize, count: usize) -> c_int {
            let (data, count) = match thirteen() {
                true => (data, count),
                false => (0, data),
            };
            // SAFETY: the caller says so.
            unsafe { $of($($argument,)* data as $edges, count as $count) }
        }
    )*};
}

with_data! {
    cudaGraphAddDependencies = cudaGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle; *const EdgeData, usize);
    cudaGraphRemoveDependencies = cudaGraphRemoveDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle; *const EdgeData, usize);
    cudaGraphGetEdges = cudaGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle; *mut EdgeData, *mut usize);
    cudaGraphNodeGetDependencies = cudaGraphNodeGetDependencies_v2(node: Handle, place: *mut Handle; *mut EdgeData, *mut usize);
    cudaGraphNodeGetDependentNodes = cudaGraphNodeGetDependentNodes_v2(node: Handle, place: *mut Handle; *mut EdgeData, *mut usize);
}
