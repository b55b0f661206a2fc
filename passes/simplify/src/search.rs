//! The matches of rules in an e-graph at rest.
//!
//! Nothing changes while rules are looked for, so what patterns ask of classes is laid out once a round, by number.

use crate::egraph::Graph;
use crate::graph::{Data, Term};
use crate::rules::{
    BOUND, COMPUTED, Compiled, Env, KEPT, Kind, Meet, Part, Pat, TERMS, WIDTHS, What, compiled,
    value_bits,
};
use cute_arith::{Facts, Op};
use egg::{Id, Language};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::OnceLock;

/// A match of a rule, with everything that applying it needs.
pub(crate) struct Match {
    pub(crate) rule: usize,
    pub(crate) class: Id,
    pub(crate) bound: Bound,
    pub(crate) computed: [u64; COMPUTED],
}

/// The classes that the variables of a rule stand for, and its widths; only for variables and widths that its left side has.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    pub(crate) classes: [Id; BOUND],
    pub(crate) widths: [u32; WIDTHS],
}

/// The number of terms of one kind in a class that patterns begin at: the oldest. Classes of sums with many constants have hundreds, each a
/// way to write what another one says.
const MOST_ALIKE: usize = 8;

/// The number of those that are exclusive ors. Of rows that are swizzled alike, each is every other one and a constant.
const MOST_ALIKE_XORS: usize = 5;

/// The number of terms of a kind that patterns begin at.
fn most_alike(kind: u32) -> usize {
    const XOR: u32 = Kind::Op(Op::Xor).number();
    match kind {
        XOR => MOST_ALIKE_XORS,
        _ => MOST_ALIKE,
    }
}

/// The number of those that a pattern looks at below its root, which would try all pairs else. Nothing is found with more that costs less.
const MOST_ALIKE_BELOW: usize = 2;

/// The number of levels that a class is above what has changed where nothing below it has.
const FAR: u32 = u32::MAX;

/// The rules by whose bits sets of them are written: those of one kind, in order.
type Set = u128;

/// The rules for terms of one kind. What they ask of the classes of a term's operands is asked once for all that ask the same.
#[derive(Default)]
struct OfKind {
    /// The rules by their places among all.
    asked: Vec<usize>,
    /// The question to each operand, one after the other: bits, bits below it, and who asks for these.
    needs: [Vec<(u64, u64, Set)>; 3],
    /// Those that look so many levels down or further.
    from_height: Vec<Set>,
    /// Those that look so many levels below each operand or further.
    below: [Vec<Set>; 3],
    /// Those whose operands are one class, twice.
    same: Set,
    /// Those that say the same with the operands the other way round.
    symmetric: Set,
}

impl OfKind {
    fn ask(&mut self, rule: usize, compiled: &Compiled) {
        let lhs = &compiled.lhs;
        let bit: Set = 1 << self.asked.len();
        let mut needs = [(0, 0); 3];
        for (at, part) in lhs.pat.parts().iter().enumerate() {
            needs[at] = (part.needs, part.needs_below);
            put(&mut self.below[at], part.height, bit);
        }
        for (all, (own, below)) in self.needs.iter_mut().zip(needs) {
            match all.iter_mut().find(|(a, b, _)| (*a, *b) == (own, below)) {
                Some((.., set)) => *set |= bit,
                None => all.push((own, below, bit)),
            }
        }
        put(&mut self.from_height, lhs.height, bit);
        if let [a, b] = lhs.pat.parts()
            && matches!((&a.pat, &b.pat), (Pat::Var(a), Pat::Var(b)) if a == b)
        {
            self.same |= bit;
        }
        if compiled.is_symmetric() {
            self.symmetric |= bit;
        }
        self.asked.push(rule);
    }

    /// Those that find something new with a term that was looked at before, if its operands in this order are so many levels above what has changed.
    fn finding(&self, above: impl IntoIterator<Item = u32>) -> Set {
        let sets = self.below.iter().zip(above);
        let sets = sets.map(|(below, above)| below.get(above as usize));
        sets.flatten().fold(0, |all, set| all | set)
    }

    /// Those that a class with these bits, and these below it, may be operand `at` for.
    fn taking(&self, at: usize, (bits, bits_below): (u64, u64)) -> Set {
        let fits =
            |&&(own, below, _): &&(u64, u64, Set)| own & !bits == 0 && below & !bits_below == 0;
        let found = self.needs[at].iter().filter(fits);
        found.fold(0, |all, (.., set)| all | set)
    }
}

/// Puts a rule among those that look so many levels down or less far.
fn put(sets: &mut Vec<Set>, height: usize, bit: Set) {
    sets.resize(sets.len().max(height + 1), 0);
    for set in &mut sets[..=height] {
        *set |= bit;
    }
}

/// The rules by the kind of their root.
fn of_kinds() -> &'static [OfKind] {
    static ALL: OnceLock<Vec<OfKind>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<OfKind> = (0..u64::BITS).map(|_| OfKind::default()).collect();
        for (rule, compiled) in compiled().iter().enumerate() {
            // Each left side is an operation, whose bit it needs.
            all[compiled.lhs.needs.trailing_zeros() as usize].ask(rule, compiled);
        }
        all
    })
}

/// The terms that were looked at in earlier rounds, and what patterns ask of classes.
#[derive(Default)]
pub(crate) struct Kept {
    looked_at: FxHashSet<Term>,
    /// The classes by number.
    rows: Vec<Row>,
    taking: Taking,
}

impl Kept {
    /// Forgets the terms of a graph, for another one. What holds of sorts of classes holds in any graph.
    pub(crate) fn forget(&mut self) {
        self.looked_at.clear();
        self.rows.clear();
    }

    /// Brings what is known of classes up to date: these have changed, or are so many levels above what has.
    fn update(&mut self, graph: &Graph, classes: &[(Id, u32)]) {
        let is_first = self.rows.is_empty();
        for row in &mut self.rows {
            row.above = FAR;
        }
        self.rows.resize(graph.count(), Row::default());
        for &(class, above) in classes {
            self.rows[usize::from(class)].above = above;
        }
        // What is above an operand that has changed may have other bits below it.
        let changed = classes.iter().filter(|(_, above)| *above <= 1);
        let all = is_first.then(|| graph.classes()).into_iter().flatten();
        let changed = changed.filter(|_| !is_first).map(|(class, _)| *class);
        let changed: Vec<Id> = all.chain(changed).collect();
        for &class in &changed {
            let row = &mut self.rows[usize::from(class)];
            let Data { facts, width, .. } = graph.known(class);
            row.width = *width;
            row.bits = graph.standing(class).kinds | value_bits(facts.as_constant());
        }
        for &class in &changed {
            let terms = graph.standing(class).nodes.iter();
            let operands = terms.flat_map(|term| term.children());
            let bits = operands.map(|&id| self.rows[usize::from(id)].bits);
            let below = bits.fold(0, |a, b| a | b);
            let row = &mut self.rows[usize::from(class)];
            row.below = below;
            row.sort = self.taking.number((row.bits, below));
        }
    }
}

/// The matches of all rules in some classes: by class, rule, and place in the class. Of each class it is told how many levels below it
/// something has changed; what matches without anything that has changed was found before, if its term was looked at before. That a class has
/// been joined with another one changes nothing for what begins at its terms.
pub(crate) fn search(
    graph: &Graph,
    classes: &[(Id, u32)],
    kept: &mut Kept,
    matches: &mut Vec<Match>,
) {
    kept.update(graph, classes);
    let Kept {
        looked_at,
        rows,
        taking,
    } = kept;
    if looked_at.is_empty() {
        looked_at.reserve(graph.count());
    }
    let (of_kinds, rules) = (of_kinds(), compiled());
    for &(class, above) in classes {
        // Where neither the class nor an operand of its terms has changed, they are those of the last time.
        let row = &mut rows[usize::from(class)];
        let was_looked_into = std::mem::replace(&mut row.was_looked_into, true);
        let is_as_it_was = was_looked_into && above > 1;
        let width = row.width;
        let table = Table { graph, rows };
        let first = matches.len();
        // Terms are in order, so that those of a kind are next to each other.
        let (mut last, mut alike) = (None, 0);
        for term in table.terms(class) {
            let Some(kind) = term.kind() else { continue };
            alike = if last == Some(kind) { alike + 1 } else { 1 };
            last = Some(kind);
            if alike > most_alike(kind) {
                continue;
            }
            let kind = kind as usize;
            let root = Root {
                class,
                width,
                above,
                is_new: !is_as_it_was && looked_at.insert(*term),
            };
            let kind = (kind, &of_kinds[kind]);
            table.term(&root, term, kind, rules, taking, matches);
        }
        matches[first..].sort_by_key(|found| found.rule);
    }
}

/// The root of matches: a term of a class.
struct Root {
    class: Id,
    width: u32,
    /// The number of levels that the class is above what has changed.
    above: u32,
    /// Tells whether the term was never looked at before.
    is_new: bool,
}

/// A class, as patterns see it.
#[derive(Clone, Copy)]
struct Row {
    /// The kinds of its terms, a bit each, and what is known of its value.
    bits: u64,
    /// The bits of all operands of its terms.
    below: u64,
    /// The number of these two among those that there are.
    sort: u32,
    width: u32,
    /// The number of levels that it is above what has changed.
    above: u32,
    /// Tells whether its terms were looked at before.
    was_looked_into: bool,
}

impl Default for Row {
    fn default() -> Row {
        Row {
            bits: 0,
            below: 0,
            sort: 0,
            width: 0,
            above: FAR,
            was_looked_into: false,
        }
    }
}

/// The rules that classes of a sort may be an operand for. Classes are many, and sorts of them few: each is asked once.
#[derive(Default)]
struct Taking {
    /// The numbers of the sorts that have been met: bits, and bits below.
    numbers: FxHashMap<(u64, u64), u32>,
    /// The sorts by number.
    sorts: Vec<(u64, u64)>,
    /// The answers by kind of the term, and by sort: for each operand.
    known: Vec<Vec<[Set; 3]>>,
}

/// All rules there could be, which no class may be an operand for: the answer that was not asked for yet.
const UNASKED: [Set; 3] = [Set::MAX; 3];

impl Taking {
    /// The number of the sort that has these bits, and these below.
    fn number(&mut self, bits: (u64, u64)) -> u32 {
        let sorts = &mut self.sorts;
        *self.numbers.entry(bits).or_insert_with(|| {
            sorts.push(bits);
            sorts.len() as u32 - 1
        })
    }

    /// Those that a class of a sort may be the first operand for, the second one, and the third one.
    fn ask(&mut self, (kind, rules): (usize, &OfKind), sort: u32) -> [Set; 3] {
        let sort = sort as usize;
        if self.known.len() <= kind {
            self.known.resize(kind + 1, Vec::new());
        }
        let known = &mut self.known[kind];
        if known.len() <= sort {
            known.resize(self.sorts.len(), UNASKED);
        }
        let known = &mut known[sort];
        if known[0] == UNASKED[0] {
            let bits = self.sorts[sort];
            *known = std::array::from_fn(|at| rules.taking(at, bits));
        }
        *known
    }
}

/// A search for one rule from one root.
struct Search<'t> {
    index: usize,
    rule: &'t Compiled,
    root: &'t Root,
}

/// The state of a search: what has been met so far.
struct Met {
    bound: Bound,
    /// Classes to look into later.
    kept: [Id; KEPT],
}

/// The classes that patterns may meet, by number. Operands of their terms are numbers of classes, as the graph has been rebuilt.
#[derive(Clone, Copy)]
struct Table<'t> {
    graph: &'t Graph,
    rows: &'t [Row],
}

impl<'t> Table<'t> {
    /// The terms of a class, in order.
    fn terms(self, class: Id) -> &'t [Term] {
        &self.graph.standing(class).nodes
    }

    fn facts(self, class: Id) -> &'t Facts {
        &self.graph.known(class).facts
    }

    fn row(self, class: Id) -> &'t Row {
        &self.rows[usize::from(class)]
    }

    /// The matches of some rules with a term at their root.
    fn term(
        self,
        root: &Root,
        term: &Term,
        kind: (usize, &OfKind),
        compiled: &[Compiled],
        taking: &mut Taking,
        matches: &mut Vec<Match>,
    ) {
        let rules = kind.1;
        let Some(&deep) = rules.from_height.get(root.above as usize) else {
            return;
        };
        let operands = term.children();
        let above = operands.iter().map(|&operand| self.row(operand).above);
        let finding = |above: &mut dyn Iterator<Item = u32>| match root.is_new {
            true => deep,
            false => deep & rules.finding(above),
        };
        let (mut straight, mut swapped) = (finding(&mut above.clone()), 0);
        match *operands {
            [a, b] if a != b => {
                straight &= !rules.same;
                if commutes(term) {
                    swapped = finding(&mut above.rev()) & !rules.same & !rules.symmetric;
                }
                if straight | swapped == 0 {
                    return;
                }
                let [a, b] = [a, b].map(|operand| taking.ask(kind, self.row(operand).sort));
                straight &= a[0] & b[1];
                swapped &= b[0] & a[1];
            }
            _ => {
                for (at, &operand) in operands.iter().enumerate() {
                    straight &= taking.ask(kind, self.row(operand).sort)[at];
                }
            }
        }
        let mut left = straight | swapped;
        while left != 0 {
            let at = left.trailing_zeros();
            let has = |set: Set| set >> at & 1 == 1;
            left &= left - 1;
            let index = rules.asked[at as usize];
            let search = Search {
                index,
                rule: &compiled[index],
                root,
            };
            if has(straight) {
                self.rule(&search, operands, matches);
            }
            if let &[a, b] = operands
                && has(swapped)
            {
                self.rule(&search, &[b, a], matches);
            }
        }
    }

    /// The matches of a rule with a term at their root that has these operands.
    fn rule(self, search: &Search, operands: &[Id], matches: &mut Vec<Match>) {
        let (rule, root) = (search.rule, search.root);
        let mut met = Met {
            bound: Bound::default(),
            kept: [Id::default(); KEPT],
        };
        met.bound.widths[rule.lhs.width] = root.width;
        if let Some(is_new) = self.meet(&rule.plan.root, operands, &mut met, root.is_new) {
            self.step(search, 0, &mut met, is_new, matches);
        }
    }

    /// The matches from a step of a rule's plan on. Only those count that meet something that has changed.
    fn step(
        self,
        search: &Search,
        at: usize,
        met: &mut Met,
        is_new: bool,
        matches: &mut Vec<Match>,
    ) {
        let Some(step) = search.rule.plan.steps.get(at) else {
            if is_new {
                self.found(search, &met.bound, matches);
            }
            return;
        };
        let may_be_new = |&(kept, height): &(usize, u32)| self.row(met.kept[kept]).above <= height;
        if !is_new && !step.waiting.iter().any(may_be_new) {
            return;
        }
        let class = met.kept[step.class];
        let row = self.row(class);
        if !met.bound.meet_width(step.width, row.width) {
            return;
        }
        let is_new = is_new || row.above == 0;
        // Terms are in order: by kind first.
        let terms = self.terms(class);
        let first = match terms {
            [term] => usize::from(term.kind() != Some(step.kind)),
            terms => terms.partition_point(|term| term.kind() < Some(step.kind)),
        };
        let alike = terms[first..].iter();
        let alike = alike.take_while(|term| term.kind() == Some(step.kind));
        for term in alike.take(MOST_ALIKE_BELOW) {
            let operands = term.children();
            if let Some(is_new) = self.meet(&step.parts, operands, met, is_new) {
                self.step(search, at + 1, met, is_new, matches);
            }
            if let &[a, b] = operands
                && a != b
                && commutes(term)
                && let Some(is_new) = self.meet(&step.parts, &[b, a], met, is_new)
            {
                self.step(search, at + 1, met, is_new, matches);
            }
        }
    }

    /// Meets the operands of a term with the parts of a pattern. Tells whether anything has been met that has changed; nothing where they do not
    /// match.
    fn meet(
        self,
        parts: &[Part],
        operands: &[Id],
        met: &mut Met,
        mut is_new: bool,
    ) -> Option<bool> {
        for part in parts {
            let class = operands[part.operand];
            let row = self.row(class);
            if part.needs & !row.bits | part.needs_below & !row.below != 0 {
                return None;
            }
            let fits = match part.what {
                What::Later(at) => {
                    met.kept[at] = class;
                    continue;
                }
                What::Const(value, width) => {
                    self.facts(class).as_constant() == Some(value)
                        && met.bound.meet_width(width, row.width)
                }
                What::Var(Meet::First(slot), width) => {
                    met.bound.classes[slot] = class;
                    met.bound.meet_width(width, row.width)
                }
                What::Var(Meet::Again(slot), width) => {
                    met.bound.classes[slot] == class && met.bound.meet_width(width, row.width)
                }
            };
            if !fits {
                return None;
            }
            is_new |= row.above == 0;
        }
        Some(is_new)
    }

    /// Notes a match whose widths and facts are such as the rule asks for.
    fn found(self, search: &Search, bound: &Bound, matches: &mut Vec<Match>) {
        let Search { index, rule, root } = *search;
        if !rule.fits(&bound.widths) {
            return;
        }
        let mut computed = [0; COMPUTED];
        if !rule.is_plain() {
            let facts = |slot: usize| match rule.plan.binds[slot] {
                true => *self.facts(bound.classes[slot]),
                false => Facts::any(64),
            };
            let number = |slot: usize| match rule.plan.binds[slot] {
                true => self.facts(bound.classes[slot]).lo,
                false => 0,
            };
            let env = Env {
                width: rule.width(&bound.widths),
                widths: bound.widths,
                facts: std::array::from_fn(facts),
                consts: std::array::from_fn(|i| number(TERMS + 1 + i)),
                seen: Cell::new(0),
            };
            if !rule.holds(&env) {
                return;
            }
            computed = rule.compute(&env);
        }
        matches.push(Match {
            rule: index,
            class: root.class,
            bound: *bound,
            computed,
        });
    }
}

impl Bound {
    /// Tells whether a width is what it was when it was met before, if it was.
    fn meet_width(&mut self, meet: Meet, width: u32) -> bool {
        match meet {
            Meet::First(number) => {
                self.widths[number] = width;
                true
            }
            Meet::Again(number) => self.widths[number] == width,
        }
    }
}

fn commutes(term: &Term) -> bool {
    match *term {
        Term::Op(op, _) => op.commutes(),
        Term::Compare(predicate, _) => predicate.swapped() == predicate,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_arith::{Cast, Predicate};

    /// Terms in order are in order of their kinds, by which they are looked for.
    #[test]
    fn terms_in_order_are_sorted_by_kind() {
        let [a, b] = [1, 2].map(Id::from);
        let mut terms = vec![Term::Leaf(7), Term::Const(3, 32), Term::Select([a, b, a])];
        for operands in [[a, b], [b, a]] {
            terms.extend(Op::ALL.iter().map(|op| Term::Op(*op, operands)));
            let predicates = Predicate::ALL.iter();
            terms.extend(predicates.map(|predicate| Term::Compare(*predicate, operands)));
            for width in [64, 16] {
                let casts = Cast::ALL.iter();
                terms.extend(casts.map(|cast| Term::Cast(*cast, width, [operands[0]])));
            }
        }
        terms.sort_unstable();
        assert!(terms.is_sorted_by_key(Term::kind));
        assert_eq!(terms.iter().filter(|term| term.kind().is_none()).count(), 2);
    }
}
