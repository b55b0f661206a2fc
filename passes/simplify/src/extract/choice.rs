//! The cheapest node of each class, given the classes that are settled.

use super::{Candidate, Problem};
use crate::cost::EPSILON;

/// More classes than this, and cones are counted, not listed: sharing inside one root is then not seen.
const MOST_CONES: usize = 64 * 128;

/// The nodes chosen for classes, and the cone of each: the classes below it that are not settled, itself included.
#[derive(Clone)]
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
    /// The members of all cones, a bit a class: of each cone the words that are not 0.
    members: Vec<u64>,
    /// The cone of each class; none if classes are too many.
    cones: Vec<Cone>,
    /// The members of the cone that is being put together, and which of the words are its: the others are of other cones.
    scratch: Vec<u64>,
    filled: Words,
    /// The classes that are being chosen for, a bit each, and those of them that are still to be looked at.
    open: Vec<u64>,
    waiting: Vec<u64>,
}

/// Some of the words of a cone, a bit each.
#[derive(Clone, Copy, Default)]
struct Words([u64; 2]);

impl Words {
    fn has(self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn put(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn count(self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    /// Calls a function with the number of each, in order.
    fn each(self, mut f: impl FnMut(usize)) {
        for (first, mut bits) in [0, 64].into_iter().zip(self.0) {
            while bits != 0 {
                f(first + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}

/// The place of a cone among the members of all.
#[derive(Clone, Copy, Default)]
struct Cone {
    /// Its words that are not 0, which stand there in order.
    words: Words,
    place: u32,
    /// The number of words that there is room for.
    room: u32,
}

impl Cone {
    /// Calls a function with the number of each word that is not 0, and the word.
    fn each(self, members: &[u64], mut f: impl FnMut(usize, u64)) {
        let mut words = members[self.place as usize..].iter();
        self.words.each(|at| {
            if let Some(word) = words.next() {
                f(at, *word);
            }
        });
    }
}

impl Choice {
    /// A choice of nothing yet, with nothing settled.
    pub(super) fn new(problem: &Problem) -> Choice {
        let count = problem.count();
        let has_cones = count <= MOST_CONES;
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
            // Most have few words.
            members: Vec::with_capacity(8 * count),
            cones: vec![Cone::default(); if has_cones { count } else { 0 }],
            scratch: vec![0; count.div_ceil(64)],
            filled: Words::default(),
            open: vec![0; count.div_ceil(64)],
            waiting: vec![0; count.div_ceil(64)],
        }
    }

    /// Takes a class as settled: it costs nothing from now on.
    pub(super) fn settle(&mut self, class: usize, candidate: usize) {
        self.of_class[class] = Some(candidate);
        self.own[class] = 0;
        self.costs[class] = 0;
        self.settled[class] = true;
        if let Some(cone) = self.cones.get_mut(class) {
            cone.words = Words::default();
        }
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
        let (Some(first), Some(last)) = (classes.first(), classes.last()) else {
            return;
        };
        let words = first / 64..last / 64 + 1;
        for &class in classes {
            self.of_class[class] = None;
            self.looked[class] = 0;
            self.open[class / 64] |= 1 << (class % 64);
        }
        self.waiting[words.clone()].copy_from_slice(&self.open[words.clone()]);
        while self.waiting[words.clone()].iter().any(|word| *word != 0) {
            for at in words.clone() {
                // Those that come to wait meanwhile are looked at now where they are further on, else the next time.
                let mut ahead = u64::MAX;
                while self.waiting[at] & ahead != 0 {
                    let bit = (self.waiting[at] & ahead).trailing_zeros();
                    self.waiting[at] &= !(1 << bit);
                    ahead = u64::MAX.checked_shl(bit + 1).unwrap_or(0);
                    self.look(problem, at * 64 + bit as usize);
                }
            }
        }
        self.open[words].fill(0);
    }

    /// Chooses for a class among those of its candidates of which an operand has changed since it was looked at last; what is made of the class is to be
    /// looked at where its choice changes.
    fn look(&mut self, problem: &Problem, class: usize) {
        let looked = self.looked[class];
        self.now += 1;
        self.looked[class] = self.now;
        let mut changed = false;
        for (at, candidate) in problem.candidates_of(class).iter().enumerate() {
            let mut operands = candidate.operands.iter();
            let is_new = looked == 0 || operands.any(|c| self.changed[c] >= looked);
            changed |= is_new && self.improve(candidate, at, class);
        }
        if changed {
            for &user in problem.above(class) {
                let at = user as usize / 64;
                self.waiting[at] |= self.open[at] & 1 << (user % 64);
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
        if !self.cones.is_empty() {
            self.keep(class);
        }
        true
    }

    /// Keeps the cone that has been put together, and the class itself, as that of a class.
    fn keep(&mut self, class: usize) {
        let (at, bit) = (class / 64, 1 << (class % 64));
        match self.filled.has(at) {
            true => self.scratch[at] |= bit,
            false => self.scratch[at] = bit,
        }
        self.filled.put(at);
        let cone = &mut self.cones[class];
        cone.words = self.filled;
        let count = cone.words.count();
        if cone.room < count {
            (cone.place, cone.room) = (self.members.len() as u32, count);
            cone.words.each(|at| self.members.push(self.scratch[at]));
        } else {
            let mut room = self.members[cone.place as usize..].iter_mut();
            cone.words.each(|at| {
                if let Some(word) = room.next() {
                    *word = self.scratch[at];
                }
            });
        }
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
        if self.cones.is_empty() {
            return Some(all);
        }
        let mut cost = 0;
        self.filled.each(|at| {
            let members = members_of(self.scratch[at]).map(|m| at * 64 + m);
            let members = members.filter(|&m| open(m));
            cost += members.map(|m| self.own[m]).sum::<u64>();
        });
        Some(cost)
    }

    /// Leaves the classes below a candidate of `class` in `scratch` and returns what they cost; nothing if an operand is not
    /// known yet, or is made from this very class.
    fn cone(&mut self, candidate: &Candidate, class: usize) -> Option<u64> {
        let mut operands = candidate.operands.iter();
        if operands.clone().any(|c| self.of_class[c].is_none()) {
            return None;
        }
        if self.cones.is_empty() {
            let distinct = operands.clone().enumerate();
            let distinct = distinct.filter(|(at, c)| !operands.clone().take(*at).any(|o| o == *c));
            let costs = distinct.map(|(_, c)| self.costs[c]);
            return Some(costs.fold(0, u64::saturating_add));
        }
        self.filled = Words::default();
        let Some(first) = operands.next() else {
            return Some(0);
        };
        let cone = self.cones[first];
        self.filled = cone.words;
        let scratch = &mut self.scratch[..];
        cone.each(&self.members, |at, word| scratch[at] = word);
        let mut cost = self.costs[first];
        for operand in operands {
            // Leaves, constants and what is settled have nothing below them.
            if self.costs[operand] == 0 {
                continue;
            }
            let cone = self.cones[operand];
            let (filled, own) = (&mut self.filled, &self.own[..]);
            cone.each(&self.members, |at, more| {
                let had = if filled.has(at) { scratch[at] } else { 0 };
                scratch[at] = had | more;
                let new = members_of(more & !had);
                cost += new.map(|m| own[at * 64 + m]).sum::<u64>();
                filled.put(at);
            });
        }
        let (at, bit) = (class / 64, class % 64);
        if self.filled.has(at) && self.scratch[at] >> bit & 1 == 1 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_in_order() {
        let some = [0, 5, 63, 64, 100, 127];
        let mut words = Words::default();
        some.iter().rev().for_each(|&at| words.put(at));
        let mut told = Vec::new();
        words.each(|at| told.push(at));
        assert_eq!(told, some);
        assert_eq!(words.count(), 6);
        assert!((0..128).all(|at| words.has(at) == some.contains(&at)));
    }
}
