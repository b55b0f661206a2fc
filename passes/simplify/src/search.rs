//! The matches of rules in an e-graph at rest.
//!
//! Nothing changes while rules are looked for, so what patterns ask of classes is laid out once a round, by number: egg's own
//! table of classes is hashed, and was asked so often that it took most of the time.

use crate::graph::{Data, Graph, Term, data};
use crate::rules::{
    BOUND, COMPUTED, Compiled, Env, KNOWN, Kind, Pat, TERMS, Typed, UNKNOWN, WIDTHS, compiled,
    height,
};
use cute_arith::Facts;
use egg::{Id, Language};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::sync::OnceLock;

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

/// A rule as terms of one kind are asked about: what it asks of the classes of a term's operands, one after the other.
struct Asked {
    rule: usize,
    height: usize,
    needs: [u64; 3],
    /// The number of levels below each operand that it looks at.
    heights: [usize; 3],
    /// Tells whether its operands are one class, twice.
    is_same: bool,
    /// Tells whether it says the same with the operands the other way round.
    is_symmetric: bool,
}

/// The rules by the kind of their root, in order.
fn of_kinds() -> &'static [Vec<Asked>] {
    static ALL: OnceLock<Vec<Vec<Asked>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<Vec<Asked>> = (0..u64::BITS).map(|_| Vec::new()).collect();
        for (rule, compiled) in compiled().iter().enumerate() {
            let lhs = &compiled.lhs;
            let (mut needs, mut heights) = ([0; 3], [0; 3]);
            for (at, part) in lhs.pat.parts().iter().enumerate() {
                needs[at] = part.needs;
                heights[at] = part.height;
            }
            let is_same = match lhs.pat.parts() {
                [a, b] => matches!((&a.pat, &b.pat), (Pat::Var(a), Pat::Var(b)) if a == b),
                _ => false,
            };
            // Each left side is an operation, whose bit it needs.
            all[lhs.needs.trailing_zeros() as usize].push(Asked {
                rule,
                height: lhs.height,
                needs,
                heights,
                is_same,
                is_symmetric: compiled.is_symmetric(),
            });
        }
        all
    })
}

/// The matches of all rules in some classes: by class, rule, and place in the class. Of each class it is told how many levels below it
/// something has changed; what matches without anything that has changed was found before, if its term was looked at before. That a class has
/// been joined with another one changes nothing for what begins at its terms.
pub(crate) fn search(
    graph: &Graph,
    classes: &[(Id, usize)],
    looked_at: &mut FxHashSet<Term>,
) -> Vec<Match> {
    let table = Table::of(graph, classes, height());
    let mut matches = Vec::new();
    for &(class, above) in classes {
        let row = table.row(class);
        let first = matches.len();
        let mut alike = [0; u64::BITS as usize];
        for term in row.terms {
            let Some(kind) = kind(term) else { continue };
            let kind = kind.bit().trailing_zeros() as usize;
            alike[kind] += 1;
            if alike[kind] > MOST_ALIKE {
                continue;
            }
            let asked = of_kinds()[kind].iter();
            let asked = asked.filter(|asked| above <= asked.height);
            let asked = asked.map(|asked| (asked, &compiled()[asked.rule]));
            let root = Root {
                row,
                class,
                is_new: looked_at.insert(*term),
            };
            table.term(&root, term, asked, &mut matches);
        }
        matches[first..].sort_by_key(|found| found.rule);
    }
    matches
}

/// The state of a match: whether it has met something that has changed, and whether what it has not looked at yet may have.
#[derive(Clone, Copy, Default)]
struct New {
    is: bool,
    may_be: bool,
}

/// The root of matches: a term of a class.
struct Root<'t, 'g> {
    row: &'t Row<'g>,
    class: Id,
    /// Tells whether the term was never looked at before.
    is_new: bool,
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

impl<'g> Row<'g> {
    fn of(graph: &'g Graph, class: Id, above: usize) -> Row<'g> {
        let (terms, Data { facts, width, .. }) = (&graph[class].nodes, data(graph, class));
        let bits = |term: &Term| kind(term).map_or(0, Kind::bit);
        let constant = facts.as_constant();
        let known = constant.map_or(UNKNOWN, |_| KNOWN);
        Row {
            terms,
            facts,
            constant,
            width: *width,
            bits: terms.iter().map(bits).fold(known, |a, b| a | b),
            above,
        }
    }
}

/// The classes that patterns may meet, by number. Operands of their terms are numbers of classes, as the graph has been rebuilt.
struct Table<'g> {
    /// The place of each class among the rows.
    places: Vec<u32>,
    rows: Vec<Row<'g>>,
}

impl<'g> Table<'g> {
    /// The classes, each with the number of levels that it is above what has changed, and those up to `height` levels below them.
    fn of(graph: &'g Graph, classes: &[(Id, usize)], height: usize) -> Table<'g> {
        const NONE: u32 = u32::MAX;
        let mut places = vec![NONE; graph.nodes().len()];
        let mut rows: Vec<Row<'g>> = Vec::with_capacity(2 * classes.len());
        for &(class, above) in classes {
            places[usize::from(class)] = rows.len() as u32;
            rows.push(Row::of(graph, class, above));
        }
        let mut done = 0;
        for _ in 0..height {
            let level = done..rows.len();
            done = rows.len();
            for at in level {
                let terms = rows[at].terms;
                for &class in terms.iter().flat_map(|term| term.children()) {
                    let place = &mut places[usize::from(class)];
                    if *place == NONE {
                        *place = rows.len() as u32;
                        rows.push(Row::of(graph, class, usize::MAX));
                    }
                }
            }
        }
        Table { places, rows }
    }

    fn row(&self, class: Id) -> &Row<'g> {
        &self.rows[self.places[usize::from(class)] as usize]
    }

    /// The matches of some rules with a term at their root.
    fn term<'r>(
        &self,
        root: &Root,
        term: &Term,
        asked: impl Iterator<Item = (&'r Asked, &'r Compiled)>,
        matches: &mut Vec<Match>,
    ) {
        let operands = term.children();
        let mut rows = [root.row; 3];
        for (row, &operand) in rows.iter_mut().zip(operands) {
            *row = self.row(operand);
        }
        let is_same = matches!(*operands, [a, b] if a == b);
        let may_match = |asked: &Asked, rows: &[&Row; 3]| {
            let mut below = (0..operands.len()).map(|at| (rows[at], asked.needs[at]));
            (is_same || !asked.is_same)
                && below.all(|(row, needs)| needs & !row.bits == 0)
                && (root.is_new
                    || (0..operands.len()).any(|at| rows[at].above <= asked.heights[at]))
        };
        let swapped = match *operands {
            [a, b] if a != b && commutes(term) => Some(([b, a], [rows[1], rows[0], root.row])),
            _ => None,
        };
        for (asked, rule) in asked {
            let mut all = |operands: &[Id]| self.rule(asked.rule, rule, root, operands, matches);
            if may_match(asked, &rows) {
                all(operands);
            }
            if let Some((operands, rows)) = &swapped
                && !asked.is_symmetric
                && may_match(asked, rows)
            {
                all(operands);
            }
        }
    }

    /// The matches of a rule with a term at their root that has these operands.
    fn rule(
        &self,
        index: usize,
        rule: &Compiled,
        root: &Root,
        operands: &[Id],
        matches: &mut Vec<Match>,
    ) {
        let new = New {
            is: root.is_new,
            may_be: false,
        };
        let mut bound = Bound::default();
        bound.widths[rule.lhs.width] = root.row.width;
        self.walk_all(&rule.lhs, 0, operands, &mut bound, new, &mut |bound, _| {
            if !rule.fits(&bound.widths) {
                return;
            }
            let env = self.env(rule, bound);
            if rule.holds(&env) {
                matches.push(Match {
                    rule: index,
                    class: root.class,
                    bound: *bound,
                    computed: rule.compute(&env),
                });
            }
        });
    }

    /// Every way in which an operation of a pattern matches a class, as a part of a match that meets something that has changed. What it binds is as
    /// before when it returns.
    fn walk(
        &self,
        typed: &Typed,
        class: Id,
        bound: &mut Bound,
        mut new: New,
        found: &mut dyn FnMut(&mut Bound, New),
    ) {
        let row = self.row(class);
        if !new.is && !new.may_be && row.above > typed.height {
            return;
        }
        let width = bound.widths[typed.width];
        if width != 0 && width != row.width {
            return;
        }
        new.is |= row.above == 0;
        let wanted = typed.pat.kind();
        bound.widths[typed.width] = row.width;
        let parts = typed.pat.parts();
        let alike = row.terms.iter().filter(|term| kind(term) == wanted);
        for term in alike.take(MOST_ALIKE) {
            let operands = term.children();
            if self.may_all_be(parts, operands, bound, new) {
                self.walk_all(typed, 0, operands, bound, new, found);
            }
            if let &[a, b] = operands
                && a != b
                && commutes(term)
                && self.may_all_be(parts, &[b, a], bound, new)
            {
                self.walk_all(typed, 0, &[b, a], bound, new, found);
            }
        }
        bound.widths[typed.width] = width;
    }

    /// Tells whether classes have what patterns ask of them first, one each: the kind, what their variables stand for already, and something that
    /// has changed where nothing else may have.
    fn may_all_be(&self, parts: &[Typed], classes: &[Id], bound: &Bound, new: New) -> bool {
        let mut may_be_new = new.is || new.may_be;
        for (part, &class) in parts.iter().zip(classes) {
            if let Pat::Var(slot) = &part.pat
                && bound.classes[*slot].is_some_and(|other| other != class)
            {
                return false;
            }
            let row = self.row(class);
            if part.needs & !row.bits != 0 {
                return false;
            }
            may_be_new |= row.above <= part.height;
        }
        may_be_new
    }

    /// Every way in which the parts of a pattern match classes that may be theirs, from a number of them on in the order in which they are looked for.
    fn walk_all(
        &self,
        typed: &Typed,
        done: usize,
        classes: &[Id],
        bound: &mut Bound,
        new: New,
        found: &mut dyn FnMut(&mut Bound, New),
    ) {
        let parts = typed.pat.parts();
        let before = *bound;
        let mut new = new;
        let mut order = &typed.order[done..parts.len()];
        // What is no operation matches in one way or in none.
        while let Some((&at, others)) = order.split_first() {
            let (part, class) = (&parts[usize::from(at)], classes[usize::from(at)]);
            if part.pat.kind().is_some() {
                break;
            }
            if !self.bind(part, class, bound) {
                *bound = before;
                return;
            }
            new.is |= self.row(class).above == 0;
            order = others;
        }
        if let Some((&first, others)) = order.split_first() {
            let at = usize::from(first);
            let may_be = |&at: &u8| {
                let at = usize::from(at);
                self.row(classes[at]).above <= parts[at].height
            };
            let here = New {
                may_be: new.may_be || !new.is && others.iter().any(may_be),
                ..new
            };
            let done = parts.len() - others.len();
            self.walk(&parts[at], classes[at], bound, here, &mut |bound, here| {
                let new = New { is: here.is, ..new };
                self.walk_all(typed, done, classes, bound, new, found);
            });
        } else if new.is || new.may_be {
            found(bound, new);
        }
        *bound = before;
    }

    /// Binds what is no operation to a class; tells whether it matches.
    fn bind(&self, typed: &Typed, class: Id, bound: &mut Bound) -> bool {
        let row = self.row(class);
        let width = &mut bound.widths[typed.width];
        if *width != 0 && *width != row.width {
            return false;
        }
        *width = row.width;
        match &typed.pat {
            Pat::Const(value) => row.constant == Some(*value),
            Pat::Var(slot) => *bound.classes[*slot].get_or_insert(class) == class,
            _ => false,
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
