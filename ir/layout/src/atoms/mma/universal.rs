//! One multiply-add of each thread: CuTe's `UniversalFMA<D,A,B,C>`.

use super::{Completion, Elem, Family, IN_REGISTERS, Issue, Major, MmaAtom, layout};
use cute_target::Requirement;

/// Types of A and B, and of C and D. A sum of 16-bit products may be kept in f32.
const TYPES: [(Elem, Elem); 7] = [
    (Elem::F16, Elem::F16),
    (Elem::F16, Elem::F32),
    (Elem::BF16, Elem::BF16),
    (Elem::BF16, Elem::F32),
    (Elem::F32, Elem::F32),
    (Elem::F64, Elem::F64),
    (Elem::I32, Elem::I32),
];

pub(super) fn all() -> impl Iterator<Item = MmaAtom> {
    TYPES.into_iter().map(|(a, c)| MmaAtom {
        name: format!("UniversalFMA<{c},{a},{a},{c}>"),
        family: Family::Universal,
        shape_mnk: [1, 1, 1],
        thr_id: layout("1:0"),
        a_tv: layout("(1,1):(0,0)"),
        b_tv: layout("(1,1):(0,0)"),
        c_tv: layout("(1,1):(0,0)"),
        a,
        b: a,
        c,
        d: c,
        majors: [Major::K; 2],
        saturate: false,
        negated: [false; 2],
        bit_op: None,
        scale: None,
        sources: IN_REGISTERS,
        completion: Completion::Immediate,
        issue: Issue::Thread,
        requires: Requirement::Since(5, 0),
    })
}
