//! An estimate of the registers that a schedule keeps values in.
//!
//! A value is in registers from the operation that makes it to the last one that uses it, in each of the turns that are under
//! way at once. What is counted are registers of 32 bits of what has a place in the schedule; addresses, and values from around
//! the loop, are the same for every schedule of it. What only names registers anew has none of its own, and its users use what
//! it names.

use super::{
    graph::{Body, Node, Role},
    schedule::Schedule,
};
use cute_ir::{mlir::*, types};
use cute_target::Unit;
use melior::ir::ValueLike;
use petgraph::{graph::NodeIndex, visit::EdgeRef};
use std::collections::HashMap;

/// Bits of a register.
const BITS: i64 = 32;

/// The most registers that are in use at once.
pub(super) fn registers(body: &Body<'_>, schedule: &Schedule) -> i64 {
    let length = (schedule.order.len() as i64).max(1);
    let place = schedule.order.iter().enumerate();
    let time: HashMap<NodeIndex, i64> = place
        .map(|(i, node)| (*node, schedule.stage[node] * length + i as i64))
        .collect();
    let mut lives = Lives {
        body,
        length,
        time,
        last: HashMap::new(),
    };
    // In each place of an interval, how many more are in use than in the one before.
    let mut more = vec![0i64; length as usize];
    let mut always = 0;
    for node in &schedule.order {
        let count = lives.count(*node);
        let (start, end) = (lives.time[node], lives.last(*node));
        if count == 0 || end <= start {
            continue;
        }
        let lived = end - start;
        always += lived / length * count;
        let from = start.rem_euclid(length);
        let to = from + lived % length;
        more[from as usize] += count;
        if to < length {
            more[to as usize] -= count;
        } else {
            // From the interval's start on as well, up to where it ends.
            always += count;
            more[(to - length) as usize] -= count;
        }
    }
    let mut now = always;
    let mut most = now;
    for step in more {
        now += step;
        most = most.max(now);
    }
    most
}

struct Lives<'a, 'c> {
    body: &'a Body<'c>,
    length: i64,
    time: HashMap<NodeIndex, i64>,
    /// The time at which each node's results are used last.
    last: HashMap<NodeIndex, i64>,
}

/// Tells whether an operation only names registers anew.
fn only_names(node: &Node<'_>) -> bool {
    node.role == Role::Compute && node.unit == Unit::Issue && node.cycles == 0
}

impl Lives<'_, '_> {
    /// The registers of a node's results.
    fn count(&self, node: NodeIndex) -> i64 {
        let node = &self.body.graph[node];
        if only_names(node) {
            return 0;
        }
        let Some(op) = node.op else {
            return i64::from(matches!(
                node.role,
                Role::Compute | Role::Load | Role::Fetch
            ));
        };
        let bits = results_of(op).into_iter().filter_map(|value| {
            let ty = value.r#type();
            let count = vector_extents(ty).map_or(1, |extents| {
                extents.into_iter().fold(1, i64::saturating_mul)
            });
            let element = vector_of(ty).map_or(ty, |(_, element)| element);
            let bits = types::element_bits(element)?;
            Some((count.saturating_mul(bits) + BITS - 1) / BITS)
        });
        bits.sum()
    }

    fn last(&mut self, node: NodeIndex) -> i64 {
        if let Some(known) = self.last.get(&node) {
            return *known;
        }
        let made = self.time[&node];
        // What comes around to itself counts once.
        self.last.insert(node, made);
        let uses: Vec<(NodeIndex, i64)> = self
            .body
            .graph
            .edges(node)
            .map(|edge| (edge.target(), edge.weight().distance))
            .collect();
        let mut last = made;
        for (user, distance) in uses {
            let at = match only_names(&self.body.graph[user]) {
                true => self.last(user),
                false => self.time[&user],
            };
            last = last.max(at + distance * self.length);
        }
        self.last.insert(node, last);
        last
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Dep, Graph};
    use super::*;

    #[test]
    fn values_count_from_where_they_are_made_to_their_last_use() {
        let mut graph = Graph::new();
        let add = |graph: &mut Graph<'static>| {
            graph.add_node(Node {
                role: Role::Compute,
                op: None,
                unit: Unit::Arithmetic,
                cycles: 1,
                latency: 4,
                ring: None,
            })
        };
        let nodes: Vec<_> = (0..3).map(|_| add(&mut graph)).collect();
        let dep = |distance| Dep {
            latency: 4,
            distance,
        };
        graph.add_edge(nodes[0], nodes[1], dep(0));
        graph.add_edge(nodes[1], nodes[2], dep(0));
        let mut body = Body {
            graph,
            rings: Vec::new(),
            program: nodes.clone(),
        };
        let schedule = |stages: [i64; 3]| Schedule {
            stage: nodes.iter().copied().zip(stages).collect(),
            order: nodes.clone(),
        };
        assert_eq!(registers(&body, &schedule([0, 0, 0])), 1);
        // The second is used a turn later, and the first of the next turn is there meanwhile.
        assert_eq!(registers(&body, &schedule([0, 0, 1])), 2);
        // The first is kept for two turns, beside the second.
        assert_eq!(registers(&body, &schedule([0, 2, 2])), 3);
        // Handed on to the next turn, it is in use all the time.
        body.graph.add_edge(nodes[2], nodes[2], dep(1));
        assert_eq!(registers(&body, &schedule([0, 0, 0])), 2);
    }
}
