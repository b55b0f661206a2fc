//! The matches of rules in an e-graph at rest.
//!
//! Nothing changes while rules are looked for, so what patterns ask of classes is laid out once a round, by number: egg's own
//! table of classes is hashed, and was asked so often that it took most of the time.

use crate::graph::{Graph, Term};
use crate::rules::{
    BOUND, COMPUTED, Compiled, Env, KNOWN, Kind, Pat, TERMS, Typed, UNKNOWN, WIDTHS,
};
use cute_arith::Facts;
use egg::{Id, Language};
use rustc_hash::FxHashMap;
use std::cell::Cell;

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

/// The number of terms of one kind in a class that patterns look at: the oldest. Classes of sums with many constants have hundreds, each a
/// way to write what another one says, and rules that look two levels down would try all pairs.
const MOST_ALIKE: usize = 8;

/// The matches of all rules in some classes: by class, rule, and place in the class. Of each class it is told how many levels below it
/// something has changed; what matches without anything that has changed was found before.
pub(crate) fn search(graph: &Graph, rules: &[Compiled], classes: &[(Id, usize)]) -> Vec<Match> {
    let table = Table::of(graph, classes);
    let mut matches = Vec::new();
    // Few sets of kinds come together in classes, and most rules are about others.
    let mut of_bits: FxHashMap<(u64, usize), Vec<(u64, usize)>> = FxHashMap::default();
    for &(class, above) in classes {
        let row = table.row(class);
        let some = of_bits.entry((row.bits, above)).or_insert_with(|| {
            let rules = rules
                .iter()
                .enumerate()
                .filter(|(_, rule)| rule.lhs.needs & row.bits != 0 && above <= rule.lhs.height);
            rules.map(|(at, rule)| (rule.needs_below, at)).collect()
        });
        let below = row.terms.iter().flat_map(|term| term.children());
        let below = below.fold(0, |bits, &id| bits | table.row(id).bits);
        for &(_, index) in some.iter().filter(|(needs, _)| needs & !below == 0) {
            let rule = &rules[index];
            let new = New::default();
            table.walk(
                &rule.lhs,
                class,
                &mut Bound::default(),
                new,
                &mut |bound, _| {
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
                },
            );
        }
    }
    matches
}

/// The state of a match: whether it has met something that has changed, and whether what it has not looked at yet may have.
#[derive(Clone, Copy, Default)]
struct New {
    is: bool,
    may_be: bool,
}

/// A class, as patterns see it.
#[derive(Clone, Copy)]
struct Row<'g> {
    terms: &'g [Term],
    facts: &'g Facts,
    constant: Option<u64>,
    width: u32,
    /// The kinds of its terms, a bit each, and whether its value is known.
    bits: u64,
    /// The number of levels that it is above what has changed.
    above: usize,
}

impl Row<'_> {
    /// Tells whether it has what a pattern asks of a class first.
    fn may_be(&self, typed: &Typed) -> bool {
        typed.needs & !self.bits == 0
    }

    /// Tells whether a pattern that is looked for here can meet what has changed.
    fn may_be_new(&self, typed: &Typed) -> bool {
        self.above <= typed.height
    }
}

/// The classes by number. Operands of their terms are numbers of classes, as the graph has been rebuilt.
struct Table<'g> {
    rows: Vec<Option<Row<'g>>>,
}

impl<'g> Table<'g> {
    fn of(graph: &'g Graph, classes: &[(Id, usize)]) -> Table<'g> {
        let mut rows = vec![None; graph.nodes().len()];
        for class in graph.classes() {
            let bits = |term: &Term| kind(term).map_or(0, Kind::bit);
            let constant = class.data.facts.as_constant();
            let known = constant.map_or(UNKNOWN, |_| KNOWN);
            rows[usize::from(class.id)] = Some(Row {
                terms: &class.nodes,
                facts: &class.data.facts,
                constant,
                width: class.data.width,
                bits: class.nodes.iter().map(bits).fold(known, |a, b| a | b),
                above: usize::MAX,
            });
        }
        for &(class, above) in classes {
            if let Some(row) = &mut rows[usize::from(class)] {
                row.above = above;
            }
        }
        Table { rows }
    }

    fn row(&self, class: Id) -> &Row<'g> {
        self.rows[usize::from(class)]
            .as_ref()
            .expect("terms of a graph at rest name classes that are there")
    }

    /// Every way in which a pattern matches a class, as a part of a match that meets something that has changed. What it binds is as before when it
    /// returns.
    fn walk(
        &self,
        typed: &Typed,
        class: Id,
        bound: &mut Bound,
        mut new: New,
        found: &mut dyn FnMut(&mut Bound, New),
    ) {
        let row = self.row(class);
        if !new.is && !new.may_be && !row.may_be_new(typed) {
            return;
        }
        let width = bound.widths[typed.width];
        if width != 0 && width != row.width {
            return;
        }
        new.is |= row.above == 0;
        match &typed.pat {
            Pat::Const(value) => {
                if row.constant == Some(*value) {
                    bound.widths[typed.width] = row.width;
                    found(bound, new);
                }
            }
            Pat::Var(slot) => {
                let before = bound.classes[*slot];
                if before.is_none_or(|before| before == class) {
                    bound.widths[typed.width] = row.width;
                    bound.classes[*slot] = Some(class);
                    found(bound, new);
                    bound.classes[*slot] = before;
                }
            }
            Pat::Computed(_) => {}
            Pat::Op(..) | Pat::Compare(..) | Pat::Cast(..) | Pat::Select(_) => {
                let wanted = typed.pat.kind();
                bound.widths[typed.width] = row.width;
                let parts = typed.pat.parts();
                let alike = row.terms.iter().filter(|term| kind(term) == wanted);
                for term in alike.take(MOST_ALIKE) {
                    let operands = term.children();
                    if self.may_all_be(parts, operands) {
                        self.walk_all(parts, operands, bound, new, found);
                    }
                    if let &[a, b] = operands
                        && a != b
                        && commutes(term)
                        && self.may_all_be(parts, &[b, a])
                    {
                        self.walk_all(parts, &[b, a], bound, new, found);
                    }
                }
            }
        }
        bound.widths[typed.width] = width;
    }

    /// Tells whether classes have what patterns ask of them first, one each.
    fn may_all_be(&self, parts: &[Typed], classes: &[Id]) -> bool {
        let mut pairs = parts.iter().zip(classes);
        pairs.all(|(part, &class)| self.row(class).may_be(part))
    }

    /// Every way in which patterns match classes that may be theirs, one each.
    fn walk_all(
        &self,
        parts: &[Typed],
        classes: &[Id],
        bound: &mut Bound,
        new: New,
        found: &mut dyn FnMut(&mut Bound, New),
    ) {
        match (parts, classes) {
            ([first, parts @ ..], [class, classes @ ..]) => {
                let mut others = parts.iter().zip(classes);
                let may_be = others.any(|(part, &class)| self.row(class).may_be_new(part));
                let here = New {
                    may_be: new.may_be || may_be,
                    ..new
                };
                self.walk(first, *class, bound, here, &mut |bound, here| {
                    let new = New { is: here.is, ..new };
                    self.walk_all(parts, classes, bound, new, found);
                });
            }
            _ => found(bound, new),
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
