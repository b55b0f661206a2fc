//! The cheapest node of each class, given the classes that are settled.

use super::{Candidate, Problem};
use crate::cost::EPSILON;

/// More classes than this, and cones are counted, not listed: sharing inside one root is then not seen.
const MOST_CONES: usize = 8192;

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
    /// The members of each cone, a bit a class, so many words for each.
    members: Vec<u64>,
    words: usize,
    scratch: Vec<u64>,
}

impl Choice {
    /// A choice of nothing yet, with nothing settled.
    pub(super) fn new(problem: &Problem) -> Choice {
        let count = problem.classes.len();
        let words = words(count);
        Choice {
            of_class: vec![None; count],
            own: vec![0; count],
            costs: vec![0; count],
            settled: vec![false; count],
            members: vec![0; count * words],
            words,
            scratch: vec![0; words],
        }
    }

    /// Takes a class as settled: it costs nothing from now on.
    pub(super) fn settle(&mut self, class: usize, candidate: usize) {
        self.of_class[class] = Some(candidate);
        self.own[class] = 0;
        self.costs[class] = 0;
        self.settled[class] = true;
        self.members[class * self.words..][..self.words].fill(0);
    }

    /// Tells whether a class is taken as settled.
    pub(super) fn is_settled(&self, class: usize) -> bool {
        self.settled[class]
    }

    /// The classes that the choice for some roots depends on, in order: those that any of the roots' candidates leads to
    /// without passing one that is settled.
    pub(super) fn needed(
        &self,
        problem: &Problem,
        roots: impl IntoIterator<Item = usize>,
    ) -> Vec<usize> {
        let mut entered = vec![false; self.settled.len()];
        let mut needed = Vec::new();
        let operands = |class: usize| problem.classes[class].iter().flat_map(|c| &c.operands);
        let mut todo = Vec::new();
        for root in roots {
            todo.push(root);
            todo.extend(operands(root));
        }
        while let Some(class) = todo.pop() {
            if !self.settled[class] && !std::mem::replace(&mut entered[class], true) {
                needed.push(class);
                todo.extend(operands(class));
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Chooses anew for classes that are all that they depend on ([`Choice::needed`]): until no class has a cheaper node.
    pub(super) fn choose(&mut self, problem: &Problem, classes: &[usize]) {
        for &class in classes {
            self.of_class[class] = None;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &class in classes {
                for (at, candidate) in problem.classes[class].iter().enumerate() {
                    let Some(below) = self.cone(candidate, class) else {
                        continue;
                    };
                    let own = candidate.cost + EPSILON * u64::from(!candidate.operands.is_empty());
                    let cost = below.saturating_add(own);
                    if self.of_class[class].is_none() || cost < self.costs[class] {
                        self.of_class[class] = Some(at);
                        self.own[class] = own;
                        self.costs[class] = cost;
                        let members = &mut self.members[class * self.words..][..self.words];
                        members.copy_from_slice(&self.scratch);
                        if let Some(word) = members.get_mut(class / 64) {
                            *word |= 1 << (class % 64);
                        }
                        changed = true;
                    }
                }
            }
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
        if self.words == 0 {
            return Some(all);
        }
        let members = members_of(&self.scratch).filter(|&m| open(m));
        Some(members.map(|m| self.own[m]).sum())
    }

    /// Leaves the classes below a candidate of `class` in `scratch` and returns what they cost; nothing if an operand is not
    /// known yet, or is made from this very class.
    fn cone(&mut self, candidate: &Candidate, class: usize) -> Option<u64> {
        let operands = &candidate.operands;
        if operands.iter().any(|&c| self.of_class[c].is_none()) {
            return None;
        }
        if self.words == 0 {
            let distinct = operands.iter().enumerate();
            let distinct = distinct.filter(|(at, c)| !operands[..*at].contains(c));
            let costs = distinct.map(|(_, &c)| self.costs[c]);
            return Some(costs.fold(0, u64::saturating_add));
        }
        self.scratch.fill(0);
        for &operand in operands {
            let below = &self.members[operand * self.words..][..self.words];
            for (member, more) in self.scratch.iter_mut().zip(below) {
                *member |= more;
            }
        }
        if self.scratch[class / 64] >> (class % 64) & 1 == 1 {
            return None;
        }
        Some(members_of(&self.scratch).map(|m| self.own[m]).sum())
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

fn members_of(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, &word)| {
        std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
            .take_while(|&w| w != 0)
            .map(move |w| at * 64 + w.trailing_zeros() as usize)
    })
}
