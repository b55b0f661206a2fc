//! The driver: terms in, e-graph, rules until nothing changes or a limit is met, a DAG out.

use crate::explain;
use crate::extract::extract;
use crate::graph::{
    Analysis, Forms, Graph, Term, add_given, add_known, add_op, add_said, is_typed, rebuild, values,
};
use crate::problem::{Error, Form, Kind, Limits, Made, Problem, Simplified, Stats};
use crate::rules::{Compiled, Env, Pat, compiled};
use crate::term::{Head, Sort};
use crate::value::{actual, ideal};
use egg::Id;
use std::collections::BTreeMap;

/// The cheapest DAG found for the roots. Errors: a problem that is not well formed.
pub fn simplify(problem: &Problem, limits: &Limits) -> Result<Simplified, Error> {
    problem.validate()?;
    let mut graph = Graph::new(Analysis::new(problem));
    let ids = load(&mut graph, problem);
    let mut stats = Stats {
        cost_before: problem.cost(),
        ..Stats::default()
    };
    saturate(&mut graph, limits, &mut stats);
    stats.terms = graph.total_number_of_nodes();
    let roots: Vec<Id> = problem.roots.iter().map(|&r| graph.find(ids[r])).collect();
    let found = extract(&graph, problem, &roots).filter(|dag| dag.cost < stats.cost_before);
    let (nodes, roots) = match found {
        Some(dag) => {
            stats.cost_after = dag.cost;
            (dag.nodes, dag.roots)
        }
        None => {
            stats.cost_after = stats.cost_before;
            unchanged(problem)
        }
    };
    Ok(Simplified {
        nodes,
        roots,
        stats,
    })
}

/// Puts the nodes of a problem into the graph; the class of each.
pub(crate) fn load(graph: &mut Graph, problem: &Problem) -> Vec<Id> {
    let mut ids: Vec<Id> = Vec::with_capacity(problem.nodes.len());
    for (i, node) in problem.nodes.iter().enumerate() {
        let given = add_given(graph, i);
        if let Kind::Op(head, operands) = &node.kind {
            let operands: Vec<Id> = operands.iter().map(|&o| ids[o]).collect();
            import(graph, head, &operands, given, i);
        }
        ids.push(graph.find(given));
    }
    rebuild(graph);
    ids
}

/// The roots as they are.
fn unchanged(problem: &Problem) -> (Vec<Made>, Vec<usize>) {
    let made = |&root: &usize| Made {
        form: Form::Given(root),
        value: problem.nodes[root].value.clone(),
    };
    let nodes = problem.roots.iter().map(made).collect();
    (nodes, (0..problem.roots.len()).collect())
}

/// Puts an operation into the class of what it is said to give, where that is what the algebra gives, or what the op computes, or
/// where nothing is known of it.
fn import(graph: &mut Graph, head: &Head, operands: &[Id], given: Id, node: usize) {
    let operand_values = values(graph, operands);
    let said = graph.analysis.given[node].clone();
    let ideal = ideal(head, &operand_values);
    let typed = ideal.as_ref() != Some(&said);
    if typed {
        let computed = actual(head, &operand_values);
        if computed.as_ref().or(ideal.as_ref()).is_some() && computed.as_ref() != Some(&said) {
            return;
        }
    }
    let id = add_said(graph, &head.typed(typed), operands, said.clone());
    // One that is there already may be known in another form.
    if graph[id].data.value == said {
        graph.union_trusted(given, id, "how it is computed");
    }
    // As functions the two forms are one.
    if typed && ideal.is_some() && matches!(head.op, "composition" | "coalesce") {
        let coalesce = Head::new("coalesce");
        let other = add_op(graph, head, operands, Forms::Ideal)
            .and_then(|other| add_op(graph, &coalesce, &[other], Forms::Ideal));
        let own = add_op(graph, &coalesce, &[given], Forms::Ideal);
        if let (Some(own), Some(other)) = (own, other) {
            graph.union_trusted(own, other, "the same function, coalesced");
        }
    }
}

/// A match of a rule.
struct Match {
    rule: usize,
    class: Id,
    bound: Bound,
}

/// The classes that the variables of a rule stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) terms: BTreeMap<char, Id>,
    pub(crate) heads: BTreeMap<char, Head>,
    /// Tells whether an operation was matched of which only what is computed is known.
    typed: bool,
}

pub(crate) fn saturate(graph: &mut Graph, limits: &Limits, stats: &mut Stats) {
    let rules = compiled();
    let mut counts = vec![0; rules.len()];
    loop {
        if stats.iterations == limits.iterations {
            stats.hit_limit = true;
            break;
        }
        stats.iterations += 1;
        let matches = search(graph, rules, limits, stats);
        let before = (graph.total_number_of_nodes(), graph.number_of_classes());
        for found in matches {
            if graph.total_size() > limits.nodes {
                stats.hit_limit = true;
                break;
            }
            counts[found.rule] += usize::from(apply(graph, &rules[found.rule], &found));
        }
        rebuild(graph);
        let after = (graph.total_number_of_nodes(), graph.number_of_classes());
        if stats.hit_limit || before == after {
            break;
        }
    }
    let named = rules.iter().zip(counts).map(|(r, n)| (r.rule.name, n));
    stats.applied = named.filter(|(_, n)| *n > 0).collect();
}

fn search(graph: &Graph, rules: &[Compiled], limits: &Limits, stats: &mut Stats) -> Vec<Match> {
    let mut classes: Vec<Id> = graph.classes().map(|c| c.id).collect();
    classes.sort_unstable();
    let mut matches = Vec::new();
    for class in classes {
        // What is known needs no rule.
        if graph[class].data.value.is_static() {
            continue;
        }
        for (index, rule) in rules.iter().enumerate() {
            walk(graph, &rule.lhs, class, Bound::default(), &mut |bound| {
                if matches.len() < limits.matches {
                    if rule.holds(&env(graph, &bound)) {
                        matches.push(Match {
                            rule: index,
                            class,
                            bound,
                        });
                    }
                } else {
                    stats.hit_limit = true;
                }
            });
        }
    }
    matches
}

/// Every way in which a pattern matches a class.
fn walk(graph: &Graph, pat: &Pat, class: Id, bound: Bound, found: &mut dyn FnMut(Bound)) {
    let class = graph.find(class);
    match pat {
        Pat::Var(name) => {
            let mut bound = bound;
            if *bound.terms.entry(*name).or_insert(class) == class {
                found(bound);
            }
        }
        Pat::Computed => {}
        Pat::Op(spec, operands) => {
            for term in &graph[class].nodes {
                let Term::Op(head, children) = term else {
                    continue;
                };
                if children.len() != operands.len() {
                    continue;
                }
                let mut bound = bound.clone();
                if !spec.binds(head, &mut bound.heads) {
                    continue;
                }
                bound.typed |= head.typed;
                walk_all(graph, operands, children, bound, found);
            }
        }
    }
}

fn walk_all(
    graph: &Graph,
    pats: &[Pat],
    classes: &[Id],
    bound: Bound,
    found: &mut dyn FnMut(Bound),
) {
    match (pats.split_first(), classes.split_first()) {
        (Some((pat, pats)), Some((class, classes))) => walk(graph, pat, *class, bound, &mut |b| {
            walk_all(graph, pats, classes, b, found);
        }),
        _ => found(bound),
    }
}

fn env(graph: &Graph, bound: &Bound) -> Env {
    let values = bound
        .terms
        .iter()
        .map(|(name, id)| (*name, graph[*id].data.value.clone()));
    Env {
        values: values.collect(),
        heads: bound.heads.clone(),
        typed: bound
            .terms
            .iter()
            .filter(|(_, id)| is_typed(graph, **id))
            .map(|(name, _)| *name)
            .collect(),
    }
}

/// Adds the right side of a rule; whether that taught the graph something.
fn apply(graph: &mut Graph, rule: &Compiled, found: &Match) -> bool {
    let env = env(graph, &found.bound);
    // What is narrower than a term that is there asks for no more than that does when it is computed.
    let forms = match (rule.rule.narrows, found.bound.typed) {
        (true, true) => Forms::Typed,
        (true, false) => Forms::Any,
        _ => Forms::Ideal,
    };
    let Some((id, computed)) = build(graph, rule, &rule.rhs, found, &env, forms) else {
        return false;
    };
    let class = graph.find(found.class);
    let id = graph.find(id);
    if class == id {
        return false;
    }
    let (left, right) = (&graph[class].data.value, &graph[id].data.value);
    // A law of static layouts says nothing of the form in which something is computed of less; numbers have none.
    let number = Sort::of(left) == Sort::Integer;
    let law = (rule.rule.any && number) || !(found.bound.typed || computed);
    let denied = left.is_static() && right.is_static() && left != right;
    if !law || denied {
        return false;
    }
    let (from, to) = match graph.are_explanations_enabled() {
        true => explain::sides(graph, rule, &found.bound, &env, [class, id]),
        false => (class, id),
    };
    graph.union_trusted(from, to, rule.rule.name)
}

/// The right side in the graph, and whether a term of it is known only as it is computed.
fn build(
    graph: &mut Graph,
    rule: &Compiled,
    pat: &Pat,
    found: &Match,
    env: &Env,
    forms: Forms,
) -> Option<(Id, bool)> {
    match pat {
        Pat::Var(name) => Some((*found.bound.terms.get(name)?, false)),
        Pat::Computed => Some((add_known(graph, &rule.compute(env)?), false)),
        Pat::Op(spec, operands) => {
            let mut ids = Vec::with_capacity(operands.len());
            let mut computed = false;
            for operand in operands {
                let (id, inner) = build(graph, rule, operand, found, env, forms)?;
                ids.push(id);
                computed |= inner;
            }
            let head = spec.head(&env.heads)?;
            let id = add_op(graph, &head, &ids, forms)?;
            let own = is_typed(graph, id);
            Some((id, computed || own))
        }
    }
}
