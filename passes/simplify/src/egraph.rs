//! The e-graph: classes of equal terms, by number, with what is known of each.
//!
//! It is egg's in what it does, step for step: a union-find, a table of terms, congruence restored in batches, facts led on to what is made of
//! them. It is our own in how it keeps them. Everything about a class stands in tables by its number, where egg's are hashed, and
//! bringing the graph to rest looks at the classes that have changed, where egg looks at all of them. Why classes are equal is egg's to say: a graph
//! that is to explain itself keeps a journal, which is told to egg when somebody asks.

use crate::graph::{Analysis, Data, Term, facts_of_term, merge, settle};
use egg::{EGraph, Explanation, Id, Language};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::collections::{VecDeque, hash_map::Entry};

/// A class of equal terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// Its terms, in order and each once where the graph is at rest.
    pub(crate) nodes: SmallVec<[Term; 2]>,
    /// The numbers under which terms were added that have it for an operand.
    parents: SmallVec<[Id; 4]>,
    /// The operations of its terms, a bit each.
    pub(crate) kinds: u64,
    /// The facts that are known of it.
    known: Data,
}

impl Class {
    /// The numbers of terms that have the class for an operand.
    pub(crate) fn parents(&self) -> impl Iterator<Item = Id> + '_ {
        self.parents.iter().copied()
    }
}

/// An e-graph over the terms of a region.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) analysis: Analysis,
    /// The number that each one was joined with; of a class that stands, its own.
    leaders: Vec<Id>,
    /// The term that was added under each number, as it was then.
    added: Vec<Term>,
    /// The classes by number: empty where it was joined with another.
    classes: Vec<Class>,
    /// The number of each term.
    numbers: FxHashMap<Term, Id>,
    /// Terms that may have become equal to others, last first.
    pending: Vec<Id>,
    /// Terms of whose operands more is known, first first, each once.
    learning: VecDeque<Id>,
    is_learning: Vec<bool>,
    /// Classes whose terms are not in order, or not written by the numbers of classes that stand.
    unordered: Vec<Id>,
    journal: Option<Box<Journal>>,
}

/// The events of a graph that is to explain itself.
#[derive(Debug, Default)]
struct Journal {
    /// The number of each term as it was written.
    numbers: FxHashMap<Term, Id>,
    /// The events, each after so many terms had been added.
    events: Vec<(usize, Event)>,
}

/// An event in the life of a graph, besides that a term was added.
#[derive(Clone, Copy, Debug)]
enum Event {
    Join(Id, Id, &'static str),
    Rest,
}

impl std::ops::Index<Id> for Graph {
    type Output = Class;

    fn index(&self, id: Id) -> &Class {
        &self.classes[usize::from(self.find(id))]
    }
}

impl Graph {
    /// A graph without classes.
    pub(crate) fn new(analysis: Analysis) -> Graph {
        Graph::with_room(analysis, 0)
    }

    /// A graph without classes, with room for so many terms.
    pub(crate) fn with_room(analysis: Analysis, terms: usize) -> Graph {
        Graph {
            analysis,
            leaders: Vec::with_capacity(terms),
            added: Vec::with_capacity(terms),
            classes: Vec::with_capacity(terms),
            numbers: FxHashMap::with_capacity_and_hasher(terms, FxBuildHasher),
            pending: Vec::new(),
            learning: VecDeque::new(),
            is_learning: Vec::with_capacity(terms),
            unordered: Vec::new(),
            journal: None,
        }
    }

    /// The same graph, which can say why classes are equal. Only for one without classes.
    pub(crate) fn explained(self) -> Graph {
        Graph {
            journal: Some(Box::default()),
            ..self
        }
    }

    /// Tells whether the graph can say why classes are equal.
    pub(crate) fn is_explained(&self) -> bool {
        self.journal.is_some()
    }

    /// The number of numbers that classes have had.
    pub(crate) fn count(&self) -> usize {
        self.added.len()
    }

    /// The number of terms that the graph has a number for: it never falls.
    pub(crate) fn total_size(&self) -> usize {
        self.numbers.len()
    }

    /// The number of terms in all classes.
    pub(crate) fn total_number_of_nodes(&self) -> usize {
        self.classes.iter().map(|class| class.nodes.len()).sum()
    }

    /// The classes that stand, in order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = Id> + '_ {
        let all = (0..self.leaders.len()).map(Id::from);
        all.filter(|&id| self.leaders[usize::from(id)] == id)
    }

    /// The class that a number is now.
    #[inline]
    pub(crate) fn find(&self, id: Id) -> Id {
        let mut id = id;
        loop {
            let leader = self.leaders[usize::from(id)];
            if leader == id {
                return id;
            }
            id = leader;
        }
    }

    /// The same, with the way there made shorter.
    fn find_short(&mut self, id: Id) -> Id {
        let mut id = id;
        loop {
            let leader = self.leaders[usize::from(id)];
            if leader == id {
                return id;
            }
            let next = self.leaders[usize::from(leader)];
            self.leaders[usize::from(id)] = next;
            id = next;
        }
    }

    /// The facts that are known of a class.
    #[inline]
    pub(crate) fn data(&self, id: Id) -> &Data {
        &self.classes[usize::from(self.find(id))].known
    }

    /// The class of a number that is that of a class.
    #[inline]
    pub(crate) fn standing(&self, class: Id) -> &Class {
        &self.classes[usize::from(class)]
    }

    /// The facts that are known of a class that stands.
    #[inline]
    pub(crate) fn known(&self, class: Id) -> &Data {
        &self.classes[usize::from(class)].known
    }

    /// Leaves those terms in a class for which this holds.
    pub(crate) fn retain(&mut self, id: Id, keep: impl Fn(&Term) -> bool) {
        let id = self.find(id);
        let class = &mut self.classes[usize::from(id)];
        class.nodes.retain(|term| keep(term));
        class.kinds = class
            .nodes
            .iter()
            .fold(0, |all, term| all | term.kind_bit());
    }

    /// A term by the classes of its operands.
    fn current(&self, mut term: Term) -> Term {
        for operand in term.children_mut() {
            *operand = self.find(*operand);
        }
        term
    }

    /// The class of a term, which is added if it is new.
    pub(crate) fn add(&mut self, term: Term) -> Id {
        let id = self.add_as_written(term);
        self.find(id)
    }

    /// The class of a term, if it has one.
    #[cfg(test)]
    pub(crate) fn lookup(&self, term: Term) -> Option<Id> {
        let id = self.numbers.get(&self.current(term))?;
        Some(self.find(*id))
    }

    /// The class of a term by classes that stand, which is added if it is new.
    pub(crate) fn add_current(&mut self, term: Term) -> Id {
        let id = self.add_by(term, term);
        self.find(id)
    }

    /// The number of a term, which is added if it is new. In a graph that explains itself, terms that differ have numbers that differ.
    pub(crate) fn add_as_written(&mut self, term: Term) -> Id {
        self.add_by(term, self.current(term))
    }

    fn add_by(&mut self, term: Term, current: Term) -> Id {
        let count = self.added.len();
        let known = match self.numbers.entry(current) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(new) => {
                new.insert(Id::from(count));
                None
            }
        };
        if let Some(known) = known {
            let Some(journal) = &mut self.journal else {
                return known;
            };
            if let Some(&id) = journal.numbers.get(&term) {
                return id;
            }
            let id = Id::from(count);
            journal.numbers.insert(term, id);
            let data = *self.data(known);
            let leader = self.find(known);
            let class = Class {
                known: data,
                ..Class::default()
            };
            self.push(term, leader, class);
            return id;
        }
        let id = Id::from(count);
        let mut class = Class {
            nodes: SmallVec::new(),
            parents: SmallVec::new(),
            kinds: current.kind_bit(),
            known: facts_of_term(self, &current),
        };
        class.nodes.push(current);
        self.push(term, id, class);
        for &operand in current.children() {
            self.classes[usize::from(operand)].parents.push(id);
        }
        self.pending.push(id);
        if let Some(journal) = &mut self.journal {
            journal.numbers.insert(term, id);
        }
        settle(self, id);
        id
    }

    fn push(&mut self, term: Term, leader: Id, class: Class) {
        self.added.push(term);
        self.leaders.push(leader);
        self.classes.push(class);
        self.is_learning.push(false);
    }

    /// Joins two classes for a reason, which is a rule's name or says in words what it is; tells whether they were two.
    pub(crate) fn join(&mut self, a: Id, b: Id, reason: &'static str) -> bool {
        let count = self.added.len();
        if let Some(journal) = &mut self.journal {
            journal.events.push((count, Event::Join(a, b, reason)));
        }
        self.unite(a, b)
    }

    fn unite(&mut self, a: Id, b: Id) -> bool {
        let (mut to, mut from) = (self.find_short(a), self.find_short(b));
        if to == from {
            return false;
        }
        let parents = |id: Id| self.classes[usize::from(id)].parents.len();
        if parents(to) < parents(from) {
            std::mem::swap(&mut to, &mut from);
        }
        self.leaders[usize::from(from)] = to;
        let mut gone = std::mem::take(&mut self.classes[usize::from(from)]);
        self.pending.extend_from_slice(&gone.parents);
        let into = &mut self.classes[usize::from(to)];
        let (is_new, is_new_there) = merge(&mut into.known, gone.known);
        if is_new {
            self.learn_above(to);
        }
        if is_new_there {
            for &parent in &gone.parents {
                learn(&mut self.learning, &mut self.is_learning, parent);
            }
        }
        let class = &mut self.classes[usize::from(to)];
        append(&mut class.nodes, &mut gone.nodes);
        append(&mut class.parents, &mut gone.parents);
        class.kinds |= gone.kinds;
        self.unordered.push(to);
        settle(self, to);
        true
    }

    /// Notes that more is known of an operand of what is above a class.
    fn learn_above(&mut self, id: Id) {
        for &parent in &self.classes[usize::from(id)].parents {
            learn(&mut self.learning, &mut self.is_learning, parent);
        }
    }

    /// Sets what is known of a class.
    pub(crate) fn set_data(&mut self, id: Id, data: Data) {
        let id = self.find_short(id);
        self.classes[usize::from(id)].known = data;
        self.learn_above(id);
        settle(self, id);
    }

    /// Brings the graph to rest: what is equal by its operands is one class, what follows from facts is known, and terms are in order.
    pub(crate) fn rebuild(&mut self) {
        let count = self.added.len();
        if let Some(journal) = &mut self.journal {
            journal.events.push((count, Event::Rest));
        }
        while !self.pending.is_empty() || !self.learning.is_empty() {
            while let Some(id) = self.pending.pop() {
                let term = self.added[usize::from(id)];
                let current = self.current(term);
                // As it was added: whatever else is written so now was joined with it.
                if current == term {
                    continue;
                }
                self.unordered.push(id);
                if let Some(other) = self.numbers.insert(current, id) {
                    self.unite(other, id);
                }
            }
            while let Some(id) = self.learning.pop_front() {
                self.is_learning[usize::from(id)] = false;
                let term = self.added[usize::from(id)];
                let id = self.find_short(id);
                let found = facts_of_term(self, &term);
                let class = &mut self.classes[usize::from(id)];
                let (is_new, _) = merge(&mut class.known, found);
                if is_new {
                    self.learn_above(id);
                    settle(self, id);
                }
            }
        }
        // Numbers lead to classes in one step.
        for at in 0..self.leaders.len() {
            let leader = self.leaders[at];
            self.leaders[at] = self.find(leader);
        }
        let mut unordered = std::mem::take(&mut self.unordered);
        for id in &mut unordered {
            *id = self.find(*id);
        }
        unordered.sort_unstable();
        unordered.dedup();
        for id in unordered.drain(..) {
            let mut nodes = std::mem::take(&mut self.classes[usize::from(id)].nodes);
            for term in &mut nodes {
                *term = self.current(*term);
            }
            nodes.sort_unstable();
            nodes.dedup();
            self.classes[usize::from(id)].nodes = nodes;
        }
        self.unordered = unordered;
    }

    /// Why two numbers are of one class, by egg, which is told what has happened to the graph. Shorter chains are searched for by a method that looks at all terms
    /// of all classes, and takes seconds.
    pub(crate) fn explanation(&self, a: Id, b: Id) -> Option<Explanation<Term>> {
        let journal = self.journal.as_ref()?;
        let mut told = EGraph::<Term, ()>::new(())
            .with_explanations_enabled()
            .without_explanation_length_optimization();
        let mut numbers: Vec<Id> = Vec::with_capacity(self.added.len());
        let end = (self.added.len(), Event::Rest);
        for &(count, event) in journal.events.iter().chain([&end]) {
            for term in &self.added[numbers.len()..count] {
                let mut term = *term;
                for operand in term.children_mut() {
                    *operand = numbers[usize::from(*operand)];
                }
                numbers.push(told.add_uncanonical(term));
            }
            let number = |id: Id| numbers[usize::from(id)];
            match event {
                Event::Join(a, b, reason) => {
                    told.union_trusted(number(a), number(b), reason);
                }
                Event::Rest => at_rest(&mut told),
            }
        }
        let (a, b) = (numbers[usize::from(a)], numbers[usize::from(b)]);
        (told.find(a) == told.find(b)).then(|| told.explain_id_equivalence(a, b))
    }
}

/// Brings egg's graph to rest. The clock stands still meanwhile: egg asks for the time only to log it, and the first
/// call of one that goes has it calibrated, for up to 200 ms.
#[expect(clippy::disallowed_methods, reason = "the clock stands still")]
fn at_rest(graph: &mut EGraph<Term, ()>) {
    let (clock, _) = quanta::Clock::mock();
    quanta::with_clock(&clock, || graph.rebuild());
}

fn learn(learning: &mut VecDeque<Id>, is_learning: &mut [bool], id: Id) {
    if !std::mem::replace(&mut is_learning[usize::from(id)], true) {
        learning.push_back(id);
    }
}

/// Appends the shorter list to the longer one.
fn append<A: smallvec::Array>(to: &mut SmallVec<A>, from: &mut SmallVec<A>) {
    if to.len() < from.len() {
        std::mem::swap(to, from);
    }
    to.append(from);
}
