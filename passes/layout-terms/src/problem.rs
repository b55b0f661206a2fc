//! Terms to simplify, and the simplified ones.

use crate::term::{Head, Sort};
use crate::value::ideal;
use cute_layout::ops::Value;

/// Terms to simplify.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The nodes, operands before their users.
    pub nodes: Vec<Node>,
    /// The nodes whose values are wanted, in the caller's order; one may stand twice.
    pub roots: Vec<usize>,
    /// Nodes that are wanted too, and stay as they are computed now.
    pub pinned: Vec<usize>,
}

/// A value, and how it is computed now.
#[derive(Clone, Debug)]
pub struct Node {
    /// The way in which it is computed.
    pub kind: Kind,
    /// The value, its unknown integers as polynomials: as it is computed now, in the form that its type says.
    pub value: Value,
    /// The cost of computing it now, without that of its operands ([`crate::arithmetic`]).
    pub cost: u64,
}

/// The way in which a node is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value from outside, which costs nothing.
    Leaf,
    /// An operation of the language on earlier nodes.
    Op(Head, Vec<usize>),
    /// Something else that needs these earlier nodes.
    Other(Vec<usize>),
}

impl Kind {
    /// The nodes that it needs.
    pub fn operands(&self) -> &[usize] {
        match self {
            Kind::Leaf => &[],
            Kind::Op(_, operands) | Kind::Other(operands) => operands,
        }
    }
}

/// The reason why terms cannot be simplified, or a term cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No operation has the name.
    #[error(
        "expected an operation of the language of layout terms, found another name; see Head::new"
    )]
    Unknown,
    /// Too few or too many operands.
    #[error("`{op}` expected {expected} operand(s), found {found}; give as many as it takes")]
    Count {
        /// The operation.
        op: &'static str,
        /// The numbers of operands that it takes, in words.
        expected: String,
        /// The number of operands that were given.
        found: usize,
    },
    /// An operand of another sort.
    #[error(
        "`{op}` expected operand {operand} to be of sort {expected}, found {found}; convert it or take another operation"
    )]
    Sort {
        /// The operation.
        op: &'static str,
        /// The operand, from 0.
        operand: usize,
        /// The sorts that it may have, in words.
        expected: String,
        /// Its sort.
        found: Sort,
    },
    /// An operation that gives nothing on these operands, or nothing that is known.
    #[error(
        "`{op}` expected operands on which it is known to be defined, found {found}; give facts from which that follows"
    )]
    Undefined {
        /// The operation.
        op: &'static str,
        /// The operands.
        found: String,
    },
    /// An operand that does not come before its user.
    #[error("node {node} uses node {operand}: operands must come before their users")]
    Order {
        /// The user.
        node: usize,
        /// The node that it uses.
        operand: usize,
    },
    /// A root that is not a node.
    #[error("root {root} is node {node}, but there are {nodes} nodes")]
    Root {
        /// Its position among the roots.
        root: usize,
        /// The node that it names.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
}

/// Checks that an operation takes operands of these sorts.
pub(crate) fn check(head: &Head, operands: &[Sort]) -> Result<(), Error> {
    let all: Vec<_> = head.signatures().collect();
    if all.is_empty() {
        return Err(Error::Unknown);
    }
    let Some(signature) = all.iter().find(|s| s.operands.len() == operands.len()) else {
        let counts: Vec<String> = all.iter().map(|s| s.operands.len().to_string()).collect();
        return Err(Error::Count {
            op: head.op,
            expected: counts.join(" or "),
            found: operands.len(),
        });
    };
    for (i, (found, sorts)) in operands.iter().zip(signature.operands).enumerate() {
        if !sorts.contains(found) {
            let names: Vec<String> = sorts.iter().map(Sort::to_string).collect();
            return Err(Error::Sort {
                op: head.op,
                operand: i,
                expected: names.join(" or "),
                found: *found,
            });
        }
    }
    Ok(())
}

impl Problem {
    /// Adds a value from outside; its number.
    pub fn leaf(&mut self, value: Value) -> usize {
        self.push(Kind::Leaf, value, 0)
    }

    /// Adds an operation on values, whose result is what the algebra gives; its number. Errors: a name that is none; operands
    /// of other sorts; operands on which the result is not known.
    pub fn op(&mut self, head: Head, operands: &[usize]) -> Result<usize, Error> {
        let here = self.nodes.len();
        if let Some(&operand) = operands.iter().find(|o| **o >= here) {
            return Err(Error::Order {
                node: here,
                operand,
            });
        }
        let values: Vec<Value> = operands
            .iter()
            .map(|&o| self.nodes[o].value.clone())
            .collect();
        let sorts: Vec<Sort> = values.iter().map(Sort::of).collect();
        check(&head, &sorts)?;
        let value = ideal(&head, &values).ok_or_else(|| {
            let texts: Vec<String> = values.iter().map(Value::to_string).collect();
            Error::Undefined {
                op: head.op,
                found: texts.join(" and "),
            }
        })?;
        let cost = crate::arithmetic(&head, &values).unwrap_or(0);
        Ok(self.push(Kind::Op(head, operands.to_vec()), value, cost))
    }

    /// Adds a node; its number.
    pub fn push(&mut self, kind: Kind, value: Value, cost: u64) -> usize {
        self.nodes.push(Node { kind, value, cost });
        self.nodes.len() - 1
    }

    /// Errors: those of a graph that is not well formed.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(&operand) = node.kind.operands().iter().find(|o| **o >= i) {
                return Err(Error::Order { node: i, operand });
            }
            if let Kind::Op(head, operands) = &node.kind {
                let sorts: Vec<Sort> = operands
                    .iter()
                    .map(|&o| Sort::of(&self.nodes[o].value))
                    .collect();
                check(head, &sorts)?;
            }
        }
        let nodes = self.nodes.len();
        let mut all = self.roots.iter().chain(&self.pinned).enumerate();
        match all.find(|(_, n)| **n >= nodes) {
            Some((root, &node)) => Err(Error::Root { root, node, nodes }),
            None => Ok(()),
        }
    }

    /// The cost of all that the roots need, each node once.
    pub fn cost(&self) -> u64 {
        let mut live = vec![false; self.nodes.len()];
        for &root in self.roots.iter().chain(&self.pinned) {
            live[root] = true;
        }
        let mut cost = 0;
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if live[i] {
                cost += node.cost;
                node.kind.operands().iter().for_each(|&o| live[o] = true);
            }
        }
        cost
    }
}

/// The bounds of a simplification. Never time: the same terms give the same answer on any machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Terms beyond which no rule is applied any more.
    pub nodes: usize,
    /// Rounds of applying every rule.
    pub iterations: usize,
    /// Applications of rules in one round.
    pub matches: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            nodes: 2_000,
            iterations: 8,
            matches: 2_000,
        }
    }
}

/// The way in which a value of the answer is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// It is this node of the problem, computed as it was.
    Given(usize),
    /// It is made of its numbers, and of sums and products of symbols.
    Known,
    /// An operation on earlier values of the answer.
    Op(Head, Vec<usize>),
}

/// A value of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The way in which it is made.
    pub form: Form,
    /// The value.
    pub value: Value,
}

/// Terms simplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simplified {
    /// The values, operands before their users.
    pub nodes: Vec<Made>,
    /// The roots, in the order of the problem's.
    pub roots: Vec<usize>,
    /// The figures of the simplification.
    pub stats: Stats,
}

/// The figures of a simplification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rounds of rules.
    pub iterations: usize,
    /// Terms at the end.
    pub terms: usize,
    /// The cost of the problem as it is given.
    pub cost_before: u64,
    /// The cost of the answer; never more.
    pub cost_after: u64,
    /// The number of times that each rule taught the graph something; rules that never did are left out.
    pub applied: Vec<(&'static str, usize)>,
    /// Tells whether a limit ended the search before the rules did.
    pub hit_limit: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_layout::{Layout, Swizzle, int};

    #[test]
    fn constructors_check_sorts() {
        let mut p = Problem::default();
        let layout = p.leaf(Value::Layout(Layout::leaf(8, 1).unwrap()));
        let swizzle = p.leaf(Value::Swizzle(Swizzle::new(1, 0, 1).unwrap()));
        let shape = p.leaf(Value::Shape(int(8)));
        let mut refused = |head: Head, operands: &[usize]| {
            let found = p.op(head, operands);
            found.map_err(|e| e.to_string()).unwrap_err()
        };
        assert_eq!(
            refused(Head::new("composition"), &[swizzle, layout]),
            "`composition` expected operand 0 to be of sort layout, found swizzle; convert it or take another operation"
        );
        assert_eq!(
            refused(Head::new("complement"), &[layout, shape, shape]),
            "`complement` expected 1 or 2 operand(s), found 3; give as many as it takes"
        );
        assert!(refused(Head::new("make_coffee"), &[]).contains("another name"));
        assert!(refused(Head::new("coalesce"), &[9]).contains("before their users"));
        assert_eq!(
            refused(Head::at("get", &[3]), &[layout]),
            "`get` expected operands on which it is known to be defined, found 8:1; give facts from which that follows"
        );
        let mut p = Problem::default();
        p.roots.push(0);
        assert_eq!(
            p.validate().unwrap_err(),
            Error::Root {
                root: 0,
                node: 0,
                nodes: 0
            }
        );
    }
}
