//! The cheapest DAG for the roots: what several of them use is paid once.
//!
//! Root after root, each class is made in the way whose cone costs least; what a root is made of is then settled and free for
//! the roots that follow.

use crate::cost::{arithmetic, leaves};
use crate::graph::{Graph, Term, values};
use crate::problem::{Form, Kind, Made, Problem};
use crate::term::Head;
use crate::value::{Condition, actual, conditions};
use cute_layout::{Dyn, ops::Value, symbolic::Symbol};
use egg::Id;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Values, roots, and what they cost.
pub(crate) struct Dag {
    pub(crate) nodes: Vec<Made>,
    pub(crate) roots: Vec<usize>,
    pub(crate) cost: u64,
}

/// Something that is paid once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    /// A class, made by an operation.
    Class(Id),
    /// A node of the problem that stays as it is.
    Given(usize),
    /// A sum or product of symbols, by its text.
    Polynomial(String),
}

type Cone = BTreeMap<Item, u64>;

/// A way to make a class.
#[derive(Clone, Debug)]
struct Candidate {
    form: Option<(Head, Vec<Id>)>,
    given: Option<usize>,
    value: Value,
    /// The cost without that of the operands.
    own: Cone,
}

impl Candidate {
    /// Ties are settled for what changes least.
    fn rank(&self) -> (u8, usize) {
        match (&self.given, &self.form) {
            _ if self.given.is_none() && self.form.is_none() && self.value.is_static() => (0, 0),
            (Some(node), _) => (1, *node),
            (_, Some(_)) => (2, 0),
            _ => (3, 0),
        }
    }
}

pub(crate) fn extract(graph: &Graph, problem: &Problem, roots: &[Id]) -> Option<Dag> {
    let candidates = candidates(graph, problem);
    let mut settled: BTreeMap<Id, Candidate> = BTreeMap::new();
    let mut paid: BTreeSet<Item> = BTreeSet::new();
    let mut cost = 0;
    for &node in &problem.pinned {
        let class = candidates.values().flatten();
        let own = class
            .clone()
            .find(|way| way.given == Some(node))
            .map(|way| way.own.clone());
        for (item, own) in own.unwrap_or_default() {
            if paid.insert(item) {
                cost += own;
            }
        }
    }
    for &root in roots {
        let choice = choose(&below(root, &candidates, &settled), &settled, &paid);
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            let made = match settled.get(&id) {
                Some(_) => continue,
                None => choice.get(&id)?.0.clone(),
            };
            for (item, own) in &made.own {
                if paid.insert(item.clone()) {
                    cost += own;
                }
            }
            if let Some((_, operands)) = &made.form {
                todo.extend(operands);
            }
            settled.insert(id, made);
        }
    }
    let mut dag = Dag {
        nodes: Vec::new(),
        roots: Vec::new(),
        cost,
    };
    let mut places = HashMap::new();
    for &root in roots {
        let place = emit(root, &settled, &mut places, &mut dag.nodes)?;
        dag.roots.push(place);
    }
    Some(dag)
}

/// The nodes that a node needs as it is computed now, itself too.
fn slices(problem: &Problem) -> Vec<Cone> {
    let mut slices: Vec<Cone> = Vec::with_capacity(problem.nodes.len());
    for (i, node) in problem.nodes.iter().enumerate() {
        let mut slice = Cone::new();
        for &operand in node.kind.operands() {
            slice.extend(slices[operand].clone());
        }
        slice.insert(Item::Given(i), node.cost);
        slices.push(slice);
    }
    slices
}

/// The symbols that values from outside have. Others are what some operation gives, and are had from that alone.
fn symbols(problem: &Problem) -> BTreeSet<Arc<Symbol>> {
    let leaves = problem.nodes.iter().filter(|n| n.kind == Kind::Leaf);
    let leaves = leaves.flat_map(|n| n.value.dynamic_leaves());
    let symbols = |d: &Dyn| match &d.term {
        cute_layout::Term::Symbolic(p) => p.symbols(),
        _ => BTreeSet::new(),
    };
    leaves.flat_map(symbols).collect()
}

fn candidates(graph: &Graph, problem: &Problem) -> BTreeMap<Id, Vec<Candidate>> {
    let slices = slices(problem);
    let there = symbols(problem);
    let asked = asked(problem);
    let mut all: BTreeMap<Id, Vec<Candidate>> = BTreeMap::new();
    for class in graph.classes() {
        let out = all.entry(class.id).or_default();
        let known = |value: &Value| {
            let items = leaves(value, &there)?;
            let own = items
                .into_iter()
                .map(|(p, cost)| (Item::Polynomial(p.to_string()), cost));
            let made = matches!(
                value,
                Value::IntTuple(_)
                    | Value::Shape(_)
                    | Value::Stride(_)
                    | Value::Coord(_)
                    | Value::Layout(_)
            );
            (made || value.is_static()).then(|| Candidate {
                form: None,
                given: None,
                value: value.clone(),
                own: own.collect(),
            })
        };
        if class.data.value.is_static() {
            out.extend(known(&class.data.value));
            continue;
        }
        for term in &class.nodes {
            match term {
                Term::Known(number) => {
                    let value = graph.analysis.value(*number);
                    out.extend(value.and_then(known));
                }
                Term::Given(node) => out.push(Candidate {
                    form: None,
                    given: Some(*node as usize),
                    value: problem.nodes[*node as usize].value.clone(),
                    own: slices[*node as usize].clone(),
                }),
                Term::Op(head, children) => {
                    let operands: Vec<Id> = children.iter().map(|&c| graph.find(c)).collect();
                    out.extend(operation(graph, class.id, head, operands, &asked));
                }
            }
        }
    }
    all
}

/// The conditions that are asserted now, of which some are not known to hold.
fn asked(problem: &Problem) -> BTreeSet<String> {
    let mut live = vec![false; problem.nodes.len()];
    for &root in problem.roots.iter().chain(&problem.pinned) {
        live[root] = true;
    }
    let mut asked = BTreeSet::new();
    for (i, node) in problem.nodes.iter().enumerate().rev() {
        if !live[i] {
            continue;
        }
        node.kind.operands().iter().for_each(|&o| live[o] = true);
        if let Kind::Op(head, operands) = &node.kind {
            let operands = operands.iter().map(|&o| problem.nodes[o].value.clone());
            let operands: Vec<Value> = operands.collect();
            let own = conditions(head, &operands).unwrap_or_default();
            asked.extend(own.into_iter().map(|c| c.text));
        }
    }
    asked
}

/// An operation, where the op that computes it gives a value that the class is known to have, and asserts nothing that is neither
/// known nor asserted now.
fn operation(
    graph: &Graph,
    class: Id,
    head: &Head,
    operands: Vec<Id>,
    asked: &BTreeSet<String>,
) -> Option<Candidate> {
    let given = values(graph, &operands);
    let computed = actual(head, &given)?;
    let known = |term: &Term| match term {
        Term::Known(number) => graph.analysis.value(*number) == Some(&computed),
        _ => false,
    };
    if !graph[class].nodes.iter().any(known) {
        return None;
    }
    let fits = |c: &Condition| c.holds || asked.contains(&c.text);
    if !conditions(head, &given)?.iter().all(fits) {
        return None;
    }
    let cost = arithmetic(head, &given)?;
    Some(Candidate {
        form: Some((head.typed(false), operands)),
        given: None,
        value: computed,
        own: Cone::from([(Item::Class(class), cost)]),
    })
}

/// The classes that a root may be made of, with the ways to make them.
fn below<'a>(
    root: Id,
    candidates: &'a BTreeMap<Id, Vec<Candidate>>,
    settled: &BTreeMap<Id, Candidate>,
) -> BTreeMap<Id, &'a [Candidate]> {
    let mut below = BTreeMap::new();
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        let Some(ways) = candidates.get(&id).filter(|_| !settled.contains_key(&id)) else {
            continue;
        };
        if below.insert(id, &ways[..]).is_none() {
            let forms = ways.iter().filter_map(|way| way.form.as_ref());
            todo.extend(forms.flat_map(|(_, operands)| operands));
        }
    }
    below
}

/// The cheapest way to make each class, and its cone, where what is paid is free.
fn choose(
    candidates: &BTreeMap<Id, &[Candidate]>,
    settled: &BTreeMap<Id, Candidate>,
    paid: &BTreeSet<Item>,
) -> BTreeMap<Id, (Candidate, Cone)> {
    let mut best: BTreeMap<Id, (Candidate, Cone)> = BTreeMap::new();
    // Cones only become cheaper; a class is improved at most once for each class below it.
    for _ in 0..=candidates.len() {
        let mut changed = false;
        for (id, ways) in candidates {
            for way in *ways {
                let Some(cone) = cone(*id, way, &best, settled, paid) else {
                    continue;
                };
                let key = |way: &Candidate, cone: &Cone| {
                    (cone.values().sum::<u64>(), way.rank(), cone.len())
                };
                let better = best
                    .get(id)
                    .is_none_or(|(old, at)| key(way, &cone) < key(old, at));
                if better {
                    best.insert(*id, (way.clone(), cone));
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    best
}

fn cone(
    id: Id,
    way: &Candidate,
    best: &BTreeMap<Id, (Candidate, Cone)>,
    settled: &BTreeMap<Id, Candidate>,
    paid: &BTreeSet<Item>,
) -> Option<Cone> {
    let own = way.own.iter().filter(|(item, _)| !paid.contains(item));
    let mut cone: Cone = own.map(|(item, cost)| (item.clone(), *cost)).collect();
    if let Some((_, operands)) = &way.form {
        for operand in operands {
            if settled.contains_key(operand) {
                continue;
            }
            let (_, below) = best.get(operand)?;
            // Nothing is made of itself.
            if *operand == id || below.contains_key(&Item::Class(id)) {
                return None;
            }
            cone.extend(below.clone());
        }
    }
    Some(cone)
}

fn emit(
    id: Id,
    settled: &BTreeMap<Id, Candidate>,
    places: &mut HashMap<Id, Option<usize>>,
    nodes: &mut Vec<Made>,
) -> Option<usize> {
    if let Some(place) = places.get(&id) {
        // Nothing where it is being made: a way round.
        return *place;
    }
    places.insert(id, None);
    let way = settled.get(&id)?;
    let form = match (&way.given, &way.form) {
        (Some(node), _) => Form::Given(*node),
        (None, Some((head, operands))) => {
            let mut made = Vec::with_capacity(operands.len());
            for operand in operands {
                made.push(emit(*operand, settled, places, nodes)?);
            }
            Form::Op(head.clone(), made)
        }
        (None, None) => Form::Known,
    };
    nodes.push(Made {
        form,
        value: way.value.clone(),
    });
    places.insert(id, Some(nodes.len() - 1));
    Some(nodes.len() - 1)
}
