//! The e-graph: egg's, over terms, with the value of each class.
//!
//! Every class knows its value, and classes of one value are one class, so that constants fold and what is computed twice is
//! found without a rule.

use crate::problem::{Kind, Node, Problem, check};
use crate::term::{Head, Sort};
use crate::value::{actual, ideal};
use cute_layout::ops::Value;
use egg::{DidMerge, EGraph, Id, Language};
use smallvec::SmallVec;
use std::collections::HashMap;

/// A term of the e-graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term {
    /// A value, by its number in [`Analysis::values`].
    Known(u32),
    /// A node of the problem, as it is computed now.
    Given(u32),
    /// An operation.
    Op(Head, SmallVec<[Id; 3]>),
}

impl Language for Term {
    type Discriminant = Term;

    fn discriminant(&self) -> Term {
        match self {
            Term::Op(head, operands) => {
                Term::Op(head.clone(), operands.iter().map(|_| Id::from(0)).collect())
            }
            other => other.clone(),
        }
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Term::Op(a, x), Term::Op(b, y)) => a == b && x.len() == y.len(),
            (Term::Known(a), Term::Known(b)) | (Term::Given(a), Term::Given(b)) => a == b,
            _ => false,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Term::Op(_, operands) => operands,
            _ => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Term::Op(_, operands) => operands,
            _ => &mut [],
        }
    }
}

/// The facts about a class.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) value: Value,
    /// Tells whether all that is known of it is what an op computes of operands of which too little is known: another form
    /// than static operands would give.
    pub(crate) typed: bool,
}

/// The values met, and those of the problem's nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) given: Vec<Value>,
    /// A truth value for each node of the problem: it is an operation.
    operations: Vec<bool>,
    values: Vec<Value>,
    numbers: HashMap<String, u32>,
    /// The value of the term that is about to be added, which was worked out to see whether it exists.
    next: Option<Value>,
}

impl Analysis {
    /// Nothing is known but the values of the problem's nodes.
    pub(crate) fn new(problem: &Problem) -> Analysis {
        let is_operation = |n: &Node| matches!(n.kind, Kind::Op(..));
        Analysis {
            given: problem.nodes.iter().map(|n| n.value.clone()).collect(),
            operations: problem.nodes.iter().map(is_operation).collect(),
            ..Analysis::default()
        }
    }

    /// The number of a value: equal values have the same text, but for symbols of one name, which are one symbol here.
    fn number(&mut self, value: &Value) -> u32 {
        let text = format!("{} {value}", value.kind());
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.values.push(value.clone());
        }
        number
    }

    pub(crate) fn value(&self, number: u32) -> Option<&Value> {
        self.values.get(number as usize)
    }
}

pub(crate) type Graph = EGraph<Term, Analysis>;

/// Brings the graph to rest after classes were joined. The clock stands still meanwhile: egg asks for the time only to log it, and the first
/// call of one that goes has it calibrated, for up to 200 ms.
#[expect(clippy::disallowed_methods, reason = "the clock stands still")]
pub(crate) fn rebuild(graph: &mut Graph) {
    let (clock, _) = quanta::Clock::mock();
    quanta::with_clock(&clock, || graph.rebuild());
}

impl egg::Analysis<Term> for Analysis {
    type Data = Data;

    fn make(graph: &mut Graph, term: &Term, id: Id) -> Data {
        let nothing = || Value::Bool(cute_layout::Truth::Known(false));
        let next = graph.analysis.next.take();
        match term {
            Term::Known(number) => Data {
                value: graph
                    .analysis
                    .value(*number)
                    .cloned()
                    .unwrap_or_else(nothing),
                // Says nothing of how it is had.
                typed: true,
            },
            Term::Given(node) => Data {
                value: graph.analysis.given[*node as usize].clone(),
                typed: graph.analysis.operations[*node as usize],
            },
            Term::Op(head, _) => match next {
                Some(value) => Data {
                    value,
                    typed: head.typed,
                },
                // A term that is there already, of which an operand has learned something.
                None => graph[id].data.clone(),
            },
        }
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        let better = b.value.is_static() && !a.value.is_static();
        let typed = a.typed && b.typed;
        let did = DidMerge(
            better || a.typed != typed,
            (!better && b.value != a.value) || b.typed != typed,
        );
        if better {
            a.value = b.value;
        }
        a.typed = typed;
        did
    }
}

/// The class of a value.
pub(crate) fn add_known(graph: &mut Graph, value: &Value) -> Id {
    let number = graph.analysis.number(value);
    // Its own term, so that an explanation shows the value.
    graph.add_uncanonical(Term::Known(number))
}

/// The class of a node of the problem.
pub(crate) fn add_given(graph: &mut Graph, node: usize) -> Id {
    let id = graph.add(Term::Given(node as u32));
    let value = graph.analysis.given[node].clone();
    let known = add_known(graph, &value);
    graph.union_trusted(id, known, "what is known of it");
    graph.find(id)
}

/// Tells whether all that is known of a class is what an op computes.
pub(crate) fn is_typed(graph: &Graph, id: Id) -> bool {
    let data = &graph[id].data;
    data.typed && !data.value.is_static()
}

/// The values of these classes.
pub(crate) fn values(graph: &Graph, operands: &[Id]) -> Vec<Value> {
    operands
        .iter()
        .map(|&id| graph[id].data.value.clone())
        .collect()
}

/// The class of an operation that gives this value.
pub(crate) fn add_said(graph: &mut Graph, head: &Head, operands: &[Id], value: Value) -> Id {
    let operands = operands.iter().map(|&id| graph.find(id)).collect();
    let term = Term::Op(head.clone(), operands);
    if let Some(id) = graph.lookup(term.clone()) {
        return id;
    }
    let known = add_known(graph, &value);
    graph.analysis.next = Some(value);
    let id = graph.add(term);
    graph.analysis.next = None;
    graph.union_trusted(id, known, "what it gives");
    graph.find(id)
}

/// The forms in which an operation may be taken that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    /// The result that the algebra gives.
    Ideal,
    /// That result, or else the one that the op computes.
    Any,
    /// The result that the op computes, or else the one that the algebra gives.
    Typed,
}

/// The class of an operation, if it is known to exist in one of the forms.
pub(crate) fn add_op(graph: &mut Graph, head: &Head, operands: &[Id], forms: Forms) -> Option<Id> {
    let children: SmallVec<[Id; 3]> = operands.iter().map(|&id| graph.find(id)).collect();
    let given = values(graph, &children);
    let sorts: Vec<Sort> = given.iter().map(Sort::of).collect();
    check(head, &sorts).ok()?;
    let order: &[bool] = match forms {
        Forms::Ideal => &[false],
        Forms::Any => &[false, true],
        Forms::Typed => &[true, false],
    };
    order.iter().find_map(|&typed| {
        let head = head.typed(typed);
        let term = Term::Op(head.clone(), children.clone());
        if let Some(id) = graph.lookup(term) {
            return Some(id);
        }
        let value = if typed {
            actual(&head, &given)
        } else {
            ideal(&head, &given)
        };
        Some(add_said(graph, &head, &children, value?))
    })
}
