//! The cheapest node of each class, given the classes that are settled.

use super::{Candidate, Problem};
use crate::cost::EPSILON;

/// More classes than this, and cones are counted, not listed: sharing inside one root is then not seen.
const MOST_CONES: usize = 8192;

/// The nodes chosen for classes, and the cone of each: the classes below it that are not settled, itself included.
pub(super) struct Choice {
    /// The place of each class's node among its candidates.
    pub(super) of_class: Vec<Option<usize>>,
    /// The cost of each chosen node itself; nothing if it is settled.
    pub(super) own: Vec<u64>,
    /// The cost of each cone.
    pub(super) costs: Vec<u64>,
    settled: Vec<bool>,
    /// The time at which each class's choice changed last, and that at which it was last looked at: what depends on nothing newer is as it was.
    changed: Vec<u32>,
    looked: Vec<u32>,
    now: u32,
    /// The number of the last list of classes that each class was put on, and that of the last list.
    listed: Vec<u32>,
    lists: u32,
    /// The members of each cone, a bit a class, so many words for each.
    members: Vec<u64>,
    words: usize,
    /// The words of each cone that are not all 0, from the first one to behind the last one; the others are never read.
    spans: Vec<Span>,
    /// The members of the cone that is being put together.
    scratch: Vec<u64>,
    span: Span,
}

/// A range of words.
#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Makes it reach over another one as well, with nothing in the words of `all` that are new.
    fn reach(&mut self, other: Span, all: &mut [u64]) {
        if other.start == other.end {
            return;
        }
        if self.start == self.end {
            all[other.range()].fill(0);
            *self = other;
        }
        if other.start < self.start {
            all[other.start as usize..self.start as usize].fill(0);
            self.start = other.start;
        }
        if other.end > self.end {
            all[self.end as usize..other.end as usize].fill(0);
            self.end = other.end;
        }
    }
}

/// Words that are never read are not copied: they are most of them.
impl Clone for Choice {
    fn clone(&self) -> Choice {
        let mut members = vec![0; self.members.len()];
        for (class, span) in self.spans.iter().enumerate() {
            let range = span.range();
            let range = class * self.words + range.start..class * self.words + range.end;
            members[range.clone()].copy_from_slice(&self.members[range]);
        }
        Choice {
            of_class: self.of_class.clone(),
            own: self.own.clone(),
            costs: self.costs.clone(),
            settled: self.settled.clone(),
            changed: self.changed.clone(),
            looked: self.looked.clone(),
            now: self.now,
            listed: self.listed.clone(),
            lists: self.lists,
            members,
            words: self.words,
            spans: self.spans.clone(),
            scratch: self.scratch.clone(),
            span: self.span,
        }
    }
}

impl Choice {
    /// A choice of nothing yet, with nothing settled.
    pub(super) fn new(problem: &Problem) -> Choice {
        let count = problem.count();
        let words = words(count);
        Choice {
            of_class: vec![None; count],
            own: vec![0; count],
            costs: vec![0; count],
            settled: vec![false; count],
            changed: vec![0; count],
            looked: vec![0; count],
            now: 0,
            listed: vec![0; count],
            lists: 0,
            members: vec![0; count * words],
            words,
            spans: vec![Span::default(); count],
            scratch: vec![0; words],
            span: Span::default(),
        }
    }

    /// Takes a class as settled: it costs nothing from now on.
    pub(super) fn settle(&mut self, class: usize, candidate: usize) {
        self.of_class[class] = Some(candidate);
        self.own[class] = 0;
        self.costs[class] = 0;
        self.settled[class] = true;
        self.spans[class] = Span::default();
    }

    /// Tells whether a class is taken as settled.
    pub(super) fn is_settled(&self, class: usize) -> bool {
        self.settled[class]
    }

    /// The classes that the choice for some roots depends on, in order: those that any of the roots' candidates leads to
    /// without passing one that is settled.
    pub(super) fn needed(
        &mut self,
        problem: &Problem,
        roots: impl IntoIterator<Item = usize>,
    ) -> Vec<usize> {
        self.lists += 1;
        let mut needed = Vec::new();
        // A class is on the list before what it leads to is looked at.
        let mut note = |needed: &mut Vec<usize>, class: usize| {
            if !self.settled[class] && self.listed[class] != self.lists {
                self.listed[class] = self.lists;
                needed.push(class);
            }
        };
        for root in roots {
            note(&mut needed, root);
            for &class in problem.below(root) {
                note(&mut needed, class as usize);
            }
        }
        let mut done = 0;
        while let Some(&class) = needed.get(done) {
            done += 1;
            for &class in problem.below(class) {
                note(&mut needed, class as usize);
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Chooses anew for classes that are all that they depend on ([`Choice::needed`]): until no class has a cheaper node.
    pub(super) fn choose(&mut self, problem: &Problem, classes: &[usize]) {
        for &class in classes {
            self.of_class[class] = None;
            self.looked[class] = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &class in classes {
                let looked = self.looked[class];
                self.now += 1;
                self.looked[class] = self.now;
                for (at, candidate) in problem.candidates_of(class).iter().enumerate() {
                    let mut operands = candidate.operands.iter();
                    let is_new = looked == 0 || operands.any(|c| self.changed[c] >= looked);
                    if is_new && self.improve(candidate, at, class) {
                        changed = true;
                    }
                }
            }
        }
    }

    /// Takes a candidate for a class where it is cheaper than what is chosen; tells whether it is.
    fn improve(&mut self, candidate: &Candidate, at: usize, class: usize) -> bool {
        let own = candidate.cost + EPSILON * u64::from(!candidate.operands.is_empty());
        let is_cheaper = |cost: u64| self.of_class[class].is_none() || cost < self.costs[class];
        // It costs no less than its dearest operand.
        let operands = candidate.operands.iter();
        let least = operands.map(|c| self.costs[c]).max().unwrap_or(0);
        if !is_cheaper(least.saturating_add(own)) {
            return false;
        }
        let Some(below) = self.cone(candidate, class) else {
            return false;
        };
        let cost = below.saturating_add(own);
        if self.of_class[class].is_some() && cost >= self.costs[class] {
            return false;
        }
        self.of_class[class] = Some(at);
        self.own[class] = own;
        self.costs[class] = cost;
        self.changed[class] = self.now;
        if self.words > 0 {
            let members = &mut self.members[class * self.words..][..self.words];
            let mut span = self.span;
            members[span.range()].copy_from_slice(&self.scratch[span.range()]);
            let own = (class / 64) as u32;
            let own = Span {
                start: own,
                end: own + 1,
            };
            span.reach(own, members);
            members[class / 64] |= 1 << (class % 64);
            self.spans[class] = span;
        }
        true
    }

    /// The cost of the classes below a candidate of `class` that are `open`; nothing if an operand is not known yet, or is made
    /// from this very class.
    pub(super) fn below(
        &mut self,
        candidate: &Candidate,
        class: usize,
        open: impl Fn(usize) -> bool,
    ) -> Option<u64> {
        let all = self.cone(candidate, class)?;
        if self.words == 0 {
            return Some(all);
        }
        let words = self.span.range();
        let words = words.map(|at| (at, self.scratch[at]));
        let members = words.flat_map(|(at, word)| members_of(word).map(move |m| at * 64 + m));
        let members = members.filter(|&m| open(m));
        Some(members.map(|m| self.own[m]).sum())
    }

    /// Leaves the classes below a candidate of `class` in `scratch` and returns what they cost; nothing if an operand is not
    /// known yet, or is made from this very class.
    fn cone(&mut self, candidate: &Candidate, class: usize) -> Option<u64> {
        let mut operands = candidate.operands.iter();
        if operands.clone().any(|c| self.of_class[c].is_none()) {
            return None;
        }
        if self.words == 0 {
            let distinct = operands.clone().enumerate();
            let distinct = distinct.filter(|(at, c)| !operands.clone().take(*at).any(|o| o == *c));
            let costs = distinct.map(|(_, c)| self.costs[c]);
            return Some(costs.fold(0, u64::saturating_add));
        }
        let (words, members) = (self.words, &self.members);
        let of = |class: usize| &members[class * words..][..words];
        self.span = Span::default();
        let Some(first) = operands.next() else {
            return Some(0);
        };
        self.span = self.spans[first];
        let range = self.span.range();
        self.scratch[range.clone()].copy_from_slice(&of(first)[range]);
        let mut cost = self.costs[first];
        for operand in operands {
            // Leaves, constants and what is settled have nothing below them.
            if self.costs[operand] == 0 {
                continue;
            }
            let range = self.spans[operand].range();
            self.span.reach(self.spans[operand], &mut self.scratch);
            let all = self.scratch[range.clone()].iter_mut();
            for ((word, more), at) in all.zip(&of(operand)[range.clone()]).zip(range) {
                let new = more & !*word;
                *word |= more;
                cost += members_of(new).map(|m| self.own[at * 64 + m]).sum::<u64>();
            }
        }
        if self.span.range().contains(&(class / 64))
            && self.scratch[class / 64] >> (class % 64) & 1 == 1
        {
            return None;
        }
        Some(cost)
    }
}

/// Words of a cone among so many classes; none if they are too many for cones.
pub(super) fn words(classes: usize) -> usize {
    if classes <= MOST_CONES {
        classes.div_ceil(64)
    } else {
        0
    }
}

/// The bits of a word.
fn members_of(word: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
        .take_while(|&w| w != 0)
        .map(|w| w.trailing_zeros() as usize)
}
