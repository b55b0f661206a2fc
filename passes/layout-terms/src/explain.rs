//! The chain of laws by which an answer is what was asked: egg's explanations, of one root at a time.
//!
//! The problem is loaded and the rules are applied as for the answer, in a graph that remembers why classes were joined. Both terms are then written
//! out in it, so that the chain is a proof of the answer that there is.

use crate::graph::{Analysis, Graph, Term, add_known};
use crate::problem::{Error, Form, Kind, Limits, Problem, Simplified, Stats};
use crate::rules::{Compiled, Env, Pat};
use crate::saturate::{Bound, load, saturate};
use crate::term::Head;
use cute_simplify::{Step, steps};
use egg::{FlatTerm, Id};

/// The steps that lead from the root with number `root` of a problem to the answer for it; `names` names nodes of the problem that are not written out.
///
/// An operation with a prime, such as `composition'`, is as it is computed of operands of which too little is known: another form than static
/// operands would give. Nothing where the rules within the limits do not lead from one to the other.
///
/// # Errors
/// If the problem is not well formed.
pub fn explain(
    problem: &Problem,
    answer: &Simplified,
    root: usize,
    limits: &Limits,
    names: &dyn Fn(usize) -> String,
) -> Result<Option<Vec<Step>>, Error> {
    problem.validate()?;
    // Shorter chains are searched for by a method that looks at all terms of all classes.
    let mut graph = Graph::new(Analysis::new(problem))
        .with_explanations_enabled()
        .without_explanation_length_optimization();
    let ids = load(&mut graph, problem);
    saturate(&mut graph, limits, &mut Stats::default());
    let asked = asked(&mut graph, problem, &ids);
    let Some(given) = given(&mut graph, answer, answer.roots[root], &asked) else {
        return Ok(None);
    };
    let asked = asked[problem.roots[root]];
    if graph.find(asked) != graph.find(given) {
        return Ok(None);
    }
    let mut explanation = graph.explain_id_equivalence(asked, given);
    let terms = explanation.make_flat_explanation();
    Ok(Some(steps(terms, &|term| {
        text(term, &graph.analysis, names)
    })))
}

/// The nodes of a problem as terms, operations written out where the graph has them.
fn asked(graph: &mut Graph, problem: &Problem, ids: &[Id]) -> Vec<Id> {
    let mut terms: Vec<Id> = Vec::with_capacity(ids.len());
    for (i, node) in problem.nodes.iter().enumerate() {
        let operation = match &node.kind {
            Kind::Op(head, operands) => {
                let operands: Vec<Id> = operands.iter().map(|&o| terms[o]).collect();
                let mut forms = [false, true].map(|typed| head.typed(typed)).into_iter();
                forms.find_map(|head| written(graph, &head, &operands, Some(ids[i])))
            }
            _ => None,
        };
        terms.push(operation.unwrap_or_else(|| graph.add_uncanonical(Term::Given(i as u32))));
    }
    terms
}

/// A value of the answer as a term; nothing where the graph has it not.
fn given(graph: &mut Graph, answer: &Simplified, root: usize, asked: &[Id]) -> Option<Id> {
    let mut terms: Vec<Option<Id>> = Vec::with_capacity(root + 1);
    for made in &answer.nodes[..=root] {
        let term = match &made.form {
            Form::Given(node) => Some(asked[*node]),
            Form::Known => Some(add_known(graph, &made.value)),
            Form::Op(head, operands) => {
                let operands: Option<Vec<Id>> = operands.iter().map(|&o| terms[o]).collect();
                operands.and_then(|operands| written(graph, head, &operands, None))
            }
        };
        terms.push(term);
    }
    terms.pop().flatten()
}

/// An operation on these very terms, where the graph has it on their classes, in the class that it is to be in.
fn written(graph: &mut Graph, head: &Head, operands: &[Id], class: Option<Id>) -> Option<Id> {
    let classes = operands.iter().map(|&id| graph.find(id)).collect();
    let found = graph.lookup(Term::Op(head.clone(), classes))?;
    let fits = class.is_none_or(|class| graph.find(class) == graph.find(found));
    let term = Term::Op(head.clone(), operands.iter().copied().collect());
    fits.then(|| graph.add_uncanonical(term))
}

/// The left and the right side of a rule that was matched as terms, each the class itself where it cannot be written out.
pub(crate) fn sides(
    graph: &mut Graph,
    rule: &Compiled,
    bound: &Bound,
    env: &Env,
    [from, to]: [Id; 2],
) -> (Id, Id) {
    let mut side = |pat: &Pat, class: Id| {
        let terms = instances(graph, rule, pat, bound, env);
        let mut terms = terms.into_iter();
        terms
            .find(|term| graph.find(*term) == graph.find(class))
            .unwrap_or(class)
    };
    (side(&rule.lhs, from), side(&rule.rhs, to))
}

/// The terms that a pattern may stand for: each operation in both forms in which the graph may have it.
fn instances(graph: &mut Graph, rule: &Compiled, pat: &Pat, bound: &Bound, env: &Env) -> Vec<Id> {
    match pat {
        Pat::Var(name) => bound.terms.get(name).copied().into_iter().collect(),
        Pat::Computed => {
            let value = rule.compute(env);
            value.iter().map(|value| add_known(graph, value)).collect()
        }
        Pat::Op(spec, operands) => {
            let Some(head) = spec.head(&bound.heads) else {
                return Vec::new();
            };
            let mut all: Vec<Vec<Id>> = vec![Vec::new()];
            for operand in operands {
                let ways = instances(graph, rule, operand, bound, env);
                all = all
                    .iter()
                    .flat_map(|before| {
                        ways.iter()
                            .map(move |way| [before.as_slice(), &[*way]].concat())
                    })
                    .collect();
            }
            let mut found = Vec::new();
            for operands in &all {
                for typed in [false, true] {
                    found.extend(written(graph, &head.typed(typed), operands, None));
                }
            }
            found
        }
    }
}

/// A term in the words of rules.
fn text(term: &FlatTerm<Term>, analysis: &Analysis, names: &dyn Fn(usize) -> String) -> String {
    match &term.node {
        Term::Known(number) => analysis
            .value(*number)
            .map_or_else(String::new, ToString::to_string),
        Term::Given(node) => names(*node as usize),
        Term::Op(head, _) => {
            let parts = term.children.iter();
            let parts: Vec<String> = parts.map(|part| text(part, analysis, names)).collect();
            format!("({head} {})", parts.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify;
    use cute_layout::symbolic::{Poly, Symbol};
    use cute_layout::{IntTuple, Layout, Leaf, int, ops::Value, tuple};

    fn symbol(name: &str) -> IntTuple {
        IntTuple::Leaf(Leaf::symbolic(Poly::symbol(Symbol::new(name)).unwrap()))
    }

    /// The steps for the last node of a problem, whose answer costs less.
    fn explained(mut problem: Problem, root: usize) -> Vec<Step> {
        problem.roots.push(root);
        problem.nodes.iter_mut().for_each(|node| node.cost = 1);
        let limits = Limits::default();
        let answer = simplify(&problem, &limits).unwrap();
        let names = |node: usize| match &problem.nodes[node].value {
            value if value.is_static() => value.to_string(),
            _ => format!("x{node}"),
        };
        explain(&problem, &answer, 0, &limits, &names)
            .unwrap()
            .unwrap()
    }

    #[test]
    fn a_chain_leads_from_the_question_to_the_answer() {
        // Coalesced, (a,b):(1,a) is one mode, of which 8:1 is the first part.
        let (a, b) = (symbol("a"), symbol("b"));
        let layout = Layout::new(tuple([a.clone(), b]), tuple([int(1), a])).unwrap();
        let mut problem = Problem::default();
        let layout = problem.leaf(Value::Layout(layout));
        let eight = problem.leaf(Value::Layout(Layout::leaf(8, 1).unwrap()));
        let joined = problem.op(Head::new("coalesce"), &[layout]).unwrap();
        let tile = problem.op(Head::new("composition"), &[joined, eight]);
        let steps = explained(problem, tile.unwrap());
        let step = Step {
            rule: "what it gives".to_owned(),
            before: "(composition (coalesce x0) 8:1)".to_owned(),
            after: "8:1".to_owned(),
        };
        assert_eq!(steps, [step]);
    }
}
