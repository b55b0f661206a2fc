//! The matches of rules in an e-graph at rest.
//!
//! Nothing changes while rules are looked for, so what patterns ask of classes is laid out once a round, by number: egg's own
//! table of classes is hashed, and was asked so often that it took most of the time.

use crate::graph::{Graph, Term};
use crate::rules::{
    BOUND, COMPUTED, Compiled, Env, Kind, Pat, TERMS, Typed, WIDTHS, is_constant_slot,
    is_varying_slot,
};
use cute_arith::Facts;
use egg::{Id, Language};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// A match of a rule, with everything that applying it needs.
pub(crate) struct Match {
    pub(crate) rule: usize,
    pub(crate) class: Id,
    pub(crate) bound: Bound,
    pub(crate) computed: [u64; COMPUTED],
}

/// The classes that the variables of a rule stand for, and its widths, 0 where none is known yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    pub(crate) classes: [Option<Id>; BOUND],
    pub(crate) widths: [u32; WIDTHS],
}

/// The matches of all rules in some classes: by class, rule, and place in the class.
pub(crate) fn search(graph: &Graph, rules: &[Compiled], classes: &BTreeSet<Id>) -> Vec<Match> {
    let table = Table::of(graph);
    let mut matches = Vec::new();
    // Few sets of kinds come together in classes, and most rules are about others.
    let mut of_kinds: HashMap<u64, Vec<usize>> = HashMap::new();
    // What was joined since a class was noted is looked at once.
    let classes: BTreeSet<Id> = classes.iter().map(|&class| graph.find(class)).collect();
    for class in classes {
        let kinds = table.row(class).kinds;
        let some = of_kinds.entry(kinds).or_insert_with(|| {
            let is_about = |rule: &usize| kinds & rules[*rule].kind.bit() != 0;
            (0..rules.len()).filter(is_about).collect()
        });
        for &index in some.iter() {
            let rule = &rules[index];
            table.walk(&rule.lhs, class, &mut Bound::default(), &mut |bound| {
                if !rule.fits(&bound.widths) {
                    return;
                }
                let env = table.env(rule, bound);
                if rule.holds(&env) {
                    matches.push(Match {
                        rule: index,
                        class,
                        bound: *bound,
                        computed: rule.compute(&env),
                    });
                }
            });
        }
    }
    matches
}

/// A class, as patterns see it.
#[derive(Clone, Copy)]
struct Row<'g> {
    terms: &'g [Term],
    facts: &'g Facts,
    constant: Option<u64>,
    width: u32,
    /// The kinds of its terms, a bit each.
    kinds: u64,
}

/// The classes by number. Operands of their terms are numbers of classes, as the graph has been rebuilt.
struct Table<'g> {
    rows: Vec<Option<Row<'g>>>,
}

impl<'g> Table<'g> {
    fn of(graph: &'g Graph) -> Table<'g> {
        let mut rows = Vec::new();
        for class in graph.classes() {
            let at = usize::from(class.id);
            if rows.len() <= at {
                rows.resize(at + 1, None);
            }
            let bits = |term: &Term| kind(term).map_or(0, Kind::bit);
            rows[at] = Some(Row {
                terms: &class.nodes,
                facts: &class.data.facts,
                constant: class.data.facts.as_constant(),
                width: class.data.width,
                kinds: class.nodes.iter().map(bits).fold(0, |a, b| a | b),
            });
        }
        Table { rows }
    }

    fn row(&self, class: Id) -> &Row<'g> {
        self.rows[usize::from(class)]
            .as_ref()
            .expect("terms of a graph at rest name classes that are there")
    }

    /// Every way in which a pattern matches a class. What it binds is as before when it returns.
    fn walk(&self, typed: &Typed, class: Id, bound: &mut Bound, found: &mut dyn FnMut(&mut Bound)) {
        let row = self.row(class);
        let width = bound.widths[typed.width];
        if width != 0 && width != row.width {
            return;
        }
        match &typed.pat {
            Pat::Const(value) => {
                if row.constant == Some(*value) {
                    bound.widths[typed.width] = row.width;
                    found(bound);
                }
            }
            Pat::Var(slot) => {
                let is_constant = row.constant.is_some();
                if (is_constant_slot(*slot) && !is_constant)
                    || (is_varying_slot(*slot) && is_constant)
                {
                    return;
                }
                let before = bound.classes[*slot];
                if before.is_none_or(|before| before == class) {
                    bound.widths[typed.width] = row.width;
                    bound.classes[*slot] = Some(class);
                    found(bound);
                    bound.classes[*slot] = before;
                }
            }
            Pat::Computed(_) => {}
            Pat::Op(..) | Pat::Compare(..) | Pat::Cast(..) | Pat::Select(_) => {
                let wanted = typed.pat.kind();
                if wanted.is_none_or(|kind| row.kinds & kind.bit() == 0) {
                    return;
                }
                bound.widths[typed.width] = row.width;
                let parts = typed.pat.parts();
                for term in row.terms.iter().filter(|term| kind(term) == wanted) {
                    let operands = term.children();
                    self.walk_all(parts, operands, bound, found);
                    if let &[a, b] = operands
                        && a != b
                        && commutes(term)
                    {
                        self.walk_all(parts, &[b, a], bound, found);
                    }
                }
            }
        }
        bound.widths[typed.width] = width;
    }

    /// Every way in which patterns match classes, one each.
    fn walk_all(
        &self,
        parts: &[Typed],
        classes: &[Id],
        bound: &mut Bound,
        found: &mut dyn FnMut(&mut Bound),
    ) {
        match (parts, classes) {
            ([first, parts @ ..], [class, classes @ ..]) => {
                self.walk(first, *class, bound, &mut |bound| {
                    self.walk_all(parts, classes, bound, found);
                });
            }
            _ => found(bound),
        }
    }

    fn env(&self, rule: &Compiled, bound: &Bound) -> Env {
        let facts =
            |slot: usize| bound.classes[slot].map_or(Facts::any(64), |id| *self.row(id).facts);
        Env {
            width: rule.width(&bound.widths),
            widths: bound.widths,
            facts: std::array::from_fn(facts),
            consts: std::array::from_fn(|i| facts(TERMS + 1 + i).lo),
            seen: Cell::new(0),
        }
    }
}

fn kind(term: &Term) -> Option<Kind> {
    match *term {
        Term::Const(..) | Term::Leaf(_) => None,
        Term::Op(op, _) => Some(Kind::Op(op)),
        Term::Compare(predicate, _) => Some(Kind::Compare(predicate)),
        Term::Cast(cast, ..) => Some(Kind::Cast(cast)),
        Term::Select(_) => Some(Kind::Select),
    }
}

fn commutes(term: &Term) -> bool {
    match *term {
        Term::Op(op, _) => op.commutes(),
        Term::Compare(predicate, _) => predicate.swapped() == predicate,
        _ => false,
    }
}
