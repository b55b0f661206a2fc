//! The sources that prologues make factors of, and the factors that are computed in registers.

use super::{Access, Epilogue, Packed, Problem, sm80};
use crate::arch::WIDEST;
use cute_ir::{
    mlir::element_bits,
    plan::{Plan, name_of_operand},
};
use cute_layout::{Operand, atoms::Completion};
use melior::ir::Type;

/// Bits of an element that warpgroups take from registers, where it is computed there.
const HALF: i64 = 16;

/// Bits of an element that such a one is computed of.
const COMPUTED_OF: [i64; 3] = [8, 16, 32];

/// The source that a prologue makes a factor of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed<'c> {
    /// The type of the elements as they are stored.
    pub stored: Type<'c>,
    /// Stored elements that can be moved at once.
    pub vector: i64,
    /// Bits of an element as it is stored, with those of what is read along with each of them.
    pub bits: i64,
    /// Tensors that are read once for a row or a column.
    pub held: i64,
    /// Elements along K that share a number of another tensor, where there are such groups.
    pub group: Option<i64>,
    /// Tells whether another tensor differs along K, so that each turn reads it.
    pub along_k: bool,
}

impl Fed<'_> {
    /// Elements that are stored to shared memory at once, at most, where the multiplied ones are of that type.
    pub fn most(multiplied: Type<'_>) -> i64 {
        (WIDEST / element_bits(multiplied).unwrap_or(WIDEST).max(1)).max(1)
    }

    /// Tells whether a thread can load the widest vectors of what is stored, and nothing is read along with each element.
    fn is_in_vectors(&self) -> bool {
        Some(self.bits) == element_bits(self.stored) && self.vector * self.bits == WIDEST
    }

    /// Checks that each of a plan's tiles along K is within a group, or consists of groups of whole vectors.
    pub(super) fn check_groups(&self, plan: &Plan<'_>, operand: Operand) -> Result<(), String> {
        let Some(group) = self.group else {
            return Ok(());
        };
        let first = plan.path(operand).first().map(|first| first.row());
        let vector = match first.transpose()? {
            Some(row) if plan.major(operand)? == 1 => row.num_val,
            _ => 1,
        };
        let tile = plan.tile[2];
        if group % tile == 0 || (tile % group == 0 && group % vector == 0) {
            return Ok(());
        }
        Err(format!(
            "expected groups along K beside {} that tiles divide, or that divide tiles and are vectors of {vector}, found groups of \
             {group} and tiles of {tile}",
            name_of_operand(operand)
        ))
    }
}

/// The reason why there is no plan that computes a prologue in registers where tiles reach over an end.
pub(super) const NOT_WHOLE: &str = "asks for prologue=registers, where each tile of what the prologue computes has to be whole; expected extents of that factor that are known, and that \
     tile= divides, and no groups of its rows";

impl<'c> Problem<'c> {
    /// Tells whether a prologue makes elements of twice as many bits of the stored ones of a factor, of which a thread can load the widest vectors, with nothing read beside
    /// them but what is held.
    fn is_narrow(&self, at: usize) -> bool {
        let multiplied = element_bits(self.elements[at]);
        self.fed[at].is_some_and(|fed| {
            fed.is_in_vectors() && fed.bits == sm80::STORED && multiplied == Some(2 * fed.bits)
        })
    }

    /// The type of A's elements in shared memory, where warpgroups multiply what its prologue computes of them in registers; none where there is no prologue. Errors: a
    /// prologue that they cannot compute there.
    pub(super) fn stored_for_warpgroups(&self) -> Result<Option<Type<'c>>, String> {
        let Some(fed) = self.fed[0].filter(|_| self.fed[1].is_none()) else {
            return match self.fed {
                [None, None] => Ok(None),
                _ => Err(
                    "expected a prologue of one factor, as warpgroups take one from registers"
                        .to_owned(),
                ),
            };
        };
        let are_words =
            COMPUTED_OF.contains(&fed.bits) && element_bits(self.elements[0]) == Some(HALF);
        let is_known = self.extents[0].is_some() && self.extents[2].is_some();
        let is_plain = !self.has_groups && self.scaled.is_none();
        if fed.is_in_vectors() && are_words && self.accesses[0].major == 1 && is_known && is_plain {
            return Ok(Some(fed.stored));
        }
        Err(format!(
            "expected a prologue of a factor that is contiguous along K and whose extents are known, of which {WIDEST} bits can be loaded at once, that makes elements of {HALF} bits \
             of ones of 8, 16 or 32, with tensors beside them that are the same along rows, along K or in groups"
        ))
    }

    /// The transposed product, whose first factor is B; none where rows of one factor are not like those of the other.
    pub(super) fn exchanged(&self) -> Option<Self> {
        let is_alike = !self.has_groups
            && self.scaled.is_none()
            && !self.reduced.is_some()
            && self.packed == Packed::default();
        let turned = |access: Access| Access {
            major: 1 - access.major,
            ..access
        };
        let ([m, n, k], [a, b, c]) = (self.extents, self.elements);
        let ([of_a, of_b, of_c], [fed_a, fed_b]) = (self.accesses, self.fed);
        is_alike.then(|| Self {
            extents: [n, m, k],
            elements: [b, a, c],
            accesses: [of_b, of_a, turned(of_c)],
            boxes: [self.boxes[1], self.boxes[0]],
            fed: [fed_b, fed_a],
            epilogue: self.epilogue.map(|epilogue| Epilogue {
                stored: epilogue.stored.map(|(ty, access)| (ty, turned(access))),
                ..epilogue
            }),
            ..*self
        })
    }

    /// The product as warpgroups compute it, and whether that is the transposed one: A is what they take from registers.
    pub(super) fn for_warpgroups(&self) -> Result<(Self, bool), String> {
        match self.fed {
            [None, Some(_)] => self.exchanged().map(|other| (other, true)).ok_or_else(|| {
                "expected a prologue of A, where rows are those of groups, or reduced".to_owned()
            }),
            _ => Ok((*self, false)),
        }
    }

    /// The factors, A and B, whose prologue threads can compute in registers, of their fragments: of elements of half of the bits of those that are multiplied, with nothing
    /// read beside them but what is held. Where only a launch knows an extent of one of both, it is the other one alone. Errors: the reason why there are none.
    pub(super) fn computed_in_registers(&self) -> Result<[bool; 2], String> {
        let mut computed = [0, 1].map(|at| self.is_narrow(at));
        let axes = [Operand::A, Operand::B].map(Operand::axes);
        let is_known = |at: usize| {
            let known = |axis: &usize| self.extents[*axis].is_some();
            !self.has_rows_of_groups(at) && axes[at].iter().all(known)
        };
        let known = [0, 1].map(|at| computed[at] && is_known(at));
        if known != [false; 2] {
            computed = known;
        }
        let is_along_k = |at: usize| self.accesses[at].major == 1 && !self.accesses[at].placed;
        if computed == [false; 2] || !(is_along_k(0) && is_along_k(1)) {
            return Err(format!(
                "asks for prologue=registers; expected a prologue of elements of {} bits, of which {WIDEST} bits can be loaded at once, that makes elements of {} bits of them, with \
                 tensors beside them that are the same along rows, along K or in groups, and A and B contiguous along K",
                sm80::STORED,
                2 * sm80::STORED,
            ));
        }
        Ok(computed)
    }

    /// Tells whether all tiles of a plan are whole, of factors that are computed in registers.
    pub(super) fn is_whole(&self, plan: &Plan<'_>, computed: [bool; 2]) -> bool {
        let divides =
            |axis: usize| self.extents[axis].is_some_and(|extent| extent % plan.tile[axis] == 0);
        let axes = [Operand::A, Operand::B].map(Operand::axes);
        let is_whole =
            |at: usize| !self.has_rows_of_groups(at) && axes[at].iter().all(|axis| divides(*axis));
        (0..2).all(|at| !computed[at] || is_whole(at))
    }

    /// Tells whether a factor has groups of rows, whose last tiles reach over their end wherever that is.
    fn has_rows_of_groups(&self, factor: usize) -> bool {
        self.has_groups && factor == Operand::A as usize
    }
}

/// Checks that a plan that somebody wrote brings a factor to where its prologue computes it: from registers into shared memory, or as it is stored. Errors: what does not fit.
pub(super) fn check_given(
    plan: &Plan<'_>,
    problem: &Problem<'_>,
    operand: Operand,
) -> Result<(), String> {
    let at = operand as usize;
    let name = name_of_operand(operand);
    match problem.fed.get(at).copied().flatten() {
        Some(fed) if plan.computes_fragments(operand)? => {
            let (can, found) = (problem.computed_in_registers()?, plan.element(operand)?);
            if !can[at] || found != fed.stored {
                return Err(format!(
                    "has a cute.plan that copies {name} as {found} and computes it in registers, where {} is stored; expected copies of what is stored, of {} bits",
                    fed.stored,
                    sm80::STORED
                ));
            }
            let only = [0, 1].map(|factor| factor == at);
            match problem.is_whole(plan, only) {
                true => Ok(()),
                false => Err(NOT_WHOLE.to_owned()),
            }
        }
        Some(_) => check_stored(plan, operand),
        None if plan.computes_fragments(operand)? => Err(format!(
            "has a cute.plan that copies {name} as {}, which a prologue makes {}; expected copies of what is multiplied, as there is no prologue",
            plan.element(operand)?,
            problem.elements[at]
        )),
        None => Ok(()),
    }
}

/// Checks that a plan stores a factor to shared memory from registers, where its prologue computes it.
fn check_stored(plan: &Plan<'_>, operand: Operand) -> Result<(), String> {
    let row = plan.path(operand).first().map(|first| first.row());
    match row.transpose()? {
        Some(row) if row.completion == Completion::Immediate => Ok(()),
        found => Err(format!(
            "has a cute.plan that copies {} into shared memory by {}, and a prologue that computes it in registers; expected \
             !cute_nvgpu.atom.universal_copy",
            name_of_operand(operand),
            found.map_or("nothing".to_owned(), |row| row.name.clone())
        )),
    }
}
