//! The chain of rules by which an answer is what was asked: egg's explanations, of one root at a time.
//!
//! The question and the answer stand in one graph, which remembers why classes were joined, and rules are applied as they were for the
//! answer. That makes it a proof of the answer as it is, and not a story of how another one might have come about.

use crate::egraph::Graph;
use crate::graph::{Analysis, Term, add_in_form};
use crate::guard::{Guard, Seeds, relate, sharpen};
use crate::linear;
use crate::node::{Error, Node, Region, validate};
use crate::rules::{Compiled, cast_word, word};
use crate::saturate::{Limits, Memory, Simplified, Stats, instance, saturate};
use crate::search::Match;
use egg::{FlatTerm, Id, Language};

/// A step of an explanation: a term, and the one that a rule makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the rule, or in words what was done that is no rule.
    pub rule: String,
    /// The term, or the part of one, before.
    pub before: String,
    /// The same after.
    pub after: String,
}

/// The most nodes of a question or an answer, written as trees, that are explained.
const MOST_NODES: usize = 600;

/// The steps that lead from the root with number `root` of a region to the answer for it, under its guard if it has one; leaves are named by
/// `names`.
///
/// Nothing where either is longer than some hundred operations written out, or where the rules within the limits do not lead from one to
/// the other when they look at this root alone.
///
/// # Errors
/// If the region is not well formed.
pub fn explain(
    region: &Region,
    guards: &[Guard],
    answer: &Simplified,
    root: usize,
    limits: &Limits,
    names: &dyn Fn(u32) -> String,
) -> Result<Option<Vec<Step>>, Error> {
    let leaves = validate(region)?;
    let (asked, given) = (region.roots[root], answer.roots[root]);
    let short = |nodes: &[Node], root| tree_size(nodes, root) <= MOST_NODES;
    if !short(&region.nodes, asked) || !short(&answer.nodes, given) {
        return Ok(None);
    }
    let seeds = Seeds::of(region, &leaves, guards, answer, root);
    let mut graph = Graph::new(Analysis::new(leaves)).explained();
    let asked = add(&mut graph, &region.nodes, asked);
    let given = add(&mut graph, &answer.nodes, given);
    if let Some(seeds) = seeds {
        let mut ids: Vec<Id> = Vec::with_capacity(seeds.nodes.len());
        for (&node, &facts) in seeds.nodes.iter().zip(&seeds.facts) {
            let id = with_form(&mut graph, Term::of(node, &ids));
            sharpen(&mut graph, id, facts);
            ids.push(id);
        }
        for (predicate, a, b) in seeds.holding {
            relate(&mut graph, predicate, ids[a], ids[b]);
        }
    }
    graph.rebuild();
    saturate(
        &mut graph,
        limits,
        &mut Stats::default(),
        &mut Memory::default(),
    );
    linear::group(&mut graph, limits.nodes);
    graph.rebuild();
    if graph.find(asked) != graph.find(given) {
        return Ok(None);
    }
    let explanation = graph.explanation(asked, given);
    Ok(explanation.map(|mut explanation| {
        let terms = explanation.make_flat_explanation();
        steps(terms, &|term| flat_text(term, names))
    }))
}

/// The steps of egg's chain of terms, in words.
pub fn steps<L: Language>(
    terms: &[FlatTerm<L>],
    text: &dyn Fn(&FlatTerm<L>) -> String,
) -> Vec<Step> {
    let steps = terms
        .windows(2)
        .filter_map(|pair| step(&pair[0], &pair[1], text))
        .filter(|step| step.before != step.after);
    steps.collect()
}

/// The number of nodes below and with a root, each as often as it is used.
fn tree_size(nodes: &[Node], root: usize) -> usize {
    let mut sizes: Vec<usize> = Vec::with_capacity(root + 1);
    for node in &nodes[..=root] {
        let operands = node.operands();
        let below = operands.iter().map(|&i| sizes[i]);
        sizes.push(below.fold(1, usize::saturating_add));
    }
    sizes[root]
}

/// Adds a root and what it is computed from as they are, each joined with the form that rules ask for.
fn add(graph: &mut Graph, nodes: &[Node], root: usize) -> Id {
    let mut ids: Vec<Id> = Vec::with_capacity(root + 1);
    for &node in &nodes[..=root] {
        ids.push(with_form(graph, Term::of(node, &ids)));
    }
    ids[root]
}

/// Adds a term as it is and returns its own number. The form with operands in order, which rules ask for, is joined with it.
fn with_form(graph: &mut Graph, term: Term) -> Id {
    let id = graph.add_as_written(term);
    let form = add_in_form(graph, term);
    if graph.find(form) != graph.find(id) {
        let is_operand = term
            .children()
            .iter()
            .any(|&operand| graph.find(operand) == graph.find(form));
        let reason = match is_operand {
            true => "an operand that changes nothing",
            false => "operands in order",
        };
        graph.join(id, form, reason);
    }
    id
}

/// Applies a match of a rule so that it can be told from which term to which it leads.
pub(crate) fn apply(graph: &mut Graph, rule: &Compiled, found: &Match) -> bool {
    let from = instance(graph, &rule.lhs, found, with_form);
    let to = instance(graph, &rule.rhs, found, with_form);
    if graph.find(from) != graph.find(found.class) {
        // The pattern matched with operands the other way round.
        graph.join(found.class, from, "operands in order");
    }
    graph.join(from, to, rule.rule.name)
}

/// The part of two terms in a row in which they differ, and the rule for it.
fn step<L: Language>(
    before: &FlatTerm<L>,
    after: &FlatTerm<L>,
    text: &dyn Fn(&FlatTerm<L>) -> String,
) -> Option<Step> {
    if let Some(rule) = after.forward_rule.or(after.backward_rule) {
        return Some(Step {
            rule: rule.to_string(),
            before: text(before),
            after: text(after),
        });
    }
    let mut parts = before.children.iter().zip(&after.children);
    parts.find_map(|(before, after)| step(before, after, text))
}

/// A node of a region in the words of rules, with leaves named by `names`; nothing where that is longer than some hundred operations.
pub fn text(nodes: &[Node], root: usize, names: &dyn Fn(u32) -> String) -> Option<String> {
    (tree_size(nodes, root) <= MOST_NODES).then(|| written(nodes, root, names))
}

fn written(nodes: &[Node], root: usize, names: &dyn Fn(u32) -> String) -> String {
    let parts = nodes[root].operands();
    let parts = parts.iter().map(|&part| written(nodes, part, names));
    // Operands have no part in the words for a term.
    let none = vec![Id::from(0); root + 1];
    let parts: Vec<String> = parts.collect();
    words(Term::of(nodes[root], &none), &parts, names)
}

/// A term in the words of rules.
fn flat_text(term: &FlatTerm<Term>, names: &dyn Fn(u32) -> String) -> String {
    let parts = term.children.iter().map(|part| flat_text(part, names));
    words(term.node, &parts.collect::<Vec<_>>(), names)
}

fn words(term: Term, parts: &[String], names: &dyn Fn(u32) -> String) -> String {
    let head = match term {
        Term::Const(value, _) => return value.to_string(),
        Term::Leaf(leaf) => return names(leaf),
        Term::Op(op, _) => word(op).to_owned(),
        Term::Compare(predicate, _) => predicate.name().to_owned(),
        Term::Cast(cast, width, _) => format!("{}{width}", cast_word(cast)),
        Term::Select(_) => "select".to_owned(),
    };
    format!("({head} {})", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::compiled;
    use crate::{Facts, Leaf, Op, simplify, simplify_guarded};

    /// The steps for one root.
    fn steps(region: &Region) -> Vec<Step> {
        let limits = Limits::default();
        let answer = simplify(region, &limits).unwrap();
        let names = |leaf| format!("x{leaf}");
        explain(region, &[], &answer, 0, &limits, &names)
            .unwrap()
            .unwrap()
    }

    fn region(leaves: Vec<Leaf>, nodes: Vec<Node>) -> Region {
        Region {
            leaves,
            roots: vec![nodes.len() - 1],
            nodes,
        }
    }

    #[test]
    fn a_chain_leads_from_the_question_to_the_answer() {
        // (x * 8 + 5) / 8 for x below 1000 is x
        let region = region(
            vec![Leaf::new(32, Facts::range(0, 999))],
            vec![
                Node::Leaf(0),
                Node::Const(8, 32),
                Node::Op(Op::Mul, 0, 1),
                Node::Const(5, 32),
                Node::Op(Op::Add, 2, 3),
                Node::Op(Op::DivU, 4, 1),
            ],
        );
        let steps = steps(&region);
        assert_eq!(steps.first().unwrap().before, "(/ (+ (* x0 8) 5) 8)");
        assert_eq!(steps.last().unwrap().after, "x0");
        let known = |step: &Step| {
            compiled().iter().any(|rule| rule.rule.name == step.rule) || step.rule.contains(' ')
        };
        assert!(steps.iter().all(known), "{steps:?}");
        assert!(
            steps.iter().any(|step| step.rule == "div-add-mul"),
            "{steps:?}"
        );
    }

    #[test]
    fn what_facts_decide_is_said() {
        let region = region(
            vec![Leaf::new(32, Facts::range(0, 127))],
            vec![
                Node::Leaf(0),
                Node::Const(128, 32),
                Node::Op(Op::DivU, 0, 1),
            ],
        );
        let steps = steps(&region);
        assert_eq!(
            steps,
            [Step {
                rule: "facts leave one value".to_owned(),
                before: "(/ x0 128)".to_owned(),
                after: "0".to_owned()
            }]
        );
    }

    #[test]
    fn the_condition_of_a_branch_is_said() {
        // t % 24 where t / 8 is below 3
        let region = Region {
            leaves: vec![Leaf::new(32, Facts::range(0, 1023))],
            nodes: vec![
                Node::Leaf(0),
                Node::Const(24, 32),
                Node::Op(Op::RemU, 0, 1),
                Node::Const(8, 32),
                Node::Op(Op::DivU, 0, 3),
                Node::Const(3, 32),
                Node::Compare(cute_arith::Predicate::Ult, 4, 5),
            ],
            roots: vec![6, 2],
        };
        let guards = [Guard {
            conditions: vec![(6, true)],
            roots: vec![1],
        }];
        let limits = Limits::default();
        let answer = simplify(&region, &limits).unwrap();
        let answer = simplify_guarded(&region, &guards, answer, &limits).unwrap();
        let names = |leaf| format!("x{leaf}");
        let steps = explain(&region, &guards, &answer, 1, &limits, &names).unwrap();
        assert_eq!(
            steps.unwrap(),
            [Step {
                rule: "rem-small".to_owned(),
                before: "(% x0 24)".to_owned(),
                after: "x0".to_owned()
            }]
        );
        // Without the guard it is not so.
        assert_eq!(explain(&region, &[], &answer, 1, &limits, &names), Ok(None));
    }

    #[test]
    fn what_is_too_long_is_not_explained() {
        let mut nodes = vec![Node::Leaf(0)];
        nodes.extend((0..12).map(|i| Node::Op(Op::Xor, i, i.saturating_sub(1))));
        nodes.extend((12..24).map(|i| Node::Op(Op::Mul, i, i)));
        let region = region(vec![Leaf::new(32, Facts::any(32))], nodes);
        let limits = Limits::default();
        let answer = simplify(&region, &limits).unwrap();
        let found = explain(&region, &[], &answer, 0, &limits, &|_| String::new());
        assert_eq!(found, Ok(None));
    }
}
