//! MMA atoms.
//!
//! The layouts map (thread, value) to the column-major index of the operand's tile: A is (M,K), B is (N,K), C is (M,N).
//! Sources: PTX ISA, "Matrix Fragments for mma.*" and "wgmma"; the names are those of CuTe's `mma_traits_*.hpp`.

mod sm120;
mod universal;
mod warp;
mod wgmma;

use std::sync::LazyLock;

use super::{Completion, Elem, Issue};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use cute_target::Requirement;

/// The family of an instruction, named for what brought it: the word that the type of its atom begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// One multiply-add of each thread, on any architecture.
    Universal,
    /// `mma.sync` of quad pairs.
    Sm70,
    /// `mma.sync` of Turing.
    Sm75,
    /// `mma.sync` of Ampere.
    Sm80,
    /// `mma.sync` on 8-bit floats.
    Sm89,
    /// `mma.sync` of Hopper, on f64.
    Sm90Warp,
    /// `wgmma` of Hopper.
    Sm90,
    /// `mma.sync` on floats of 8, 6 and 4 bits.
    Sm120,
    /// `mma.sync` on such floats, with a scale for each block of K.
    Sm120BlockScaled,
}

impl Family {
    /// All, in the order of their architectures.
    pub const ALL: [Family; 9] = [
        Family::Universal,
        Family::Sm70,
        Family::Sm75,
        Family::Sm80,
        Family::Sm89,
        Family::Sm90Warp,
        Family::Sm90,
        Family::Sm120,
        Family::Sm120BlockScaled,
    ];

    /// The name of the type in `cute_nvgpu`.
    pub fn mnemonic(self) -> &'static str {
        match self {
            Family::Universal => "atom.universal_fma",
            Family::Sm70 => "sm70.mma",
            Family::Sm75 => "sm75.mma",
            Family::Sm80 => "sm80.mma",
            Family::Sm89 => "sm89.mma",
            Family::Sm90Warp => "sm90.warp_mma",
            Family::Sm90 => "sm90.mma",
            Family::Sm120 => "sm120.mma",
            Family::Sm120BlockScaled => "SM120.mma_bs",
        }
    }
}

/// The mode of an operand along which elements are neighbours in the instruction's own order: CuTe's `Major`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Major {
    /// K: rows of A (M,K), PTX's `row`; of B, PTX's `col`.
    K,
    /// M of A, N of B.
    Mn,
}

impl Major {
    /// The name that types write.
    pub fn name(self) -> &'static str {
        match self {
            Major::K => "k",
            Major::Mn => "mn",
        }
    }
}

/// The operation that multiplies single bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitOp {
    /// `a ^ b`
    Xor,
    /// `a & b`
    And,
}

/// The places that A and B come from: CuTe's `frag_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FragKind {
    /// Both from registers.
    Registers,
    /// A from registers, B by a descriptor of shared memory.
    Rs,
    /// Both by descriptors of shared memory.
    Ss,
}

/// The place that an instruction takes an operand from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Registers of each of its threads: the operand's layout says which values.
    Registers,
    /// Shared memory, by a descriptor of the whole operand, which every thread gives alike. (PTX ISA, "Matrix Descriptor Format".)
    SharedDescriptor,
}

/// One scale for `vec` values of K.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scale {
    /// Type of a scale.
    pub elem: Elem,
    /// Values that it scales.
    pub vec: i64,
}

/// The parameters that an MMA instruction is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MmaSpec {
    /// The family of the instruction.
    pub family: Family,
    /// Extents M, N, K in elements.
    pub shape_mnk: [i64; 3],
    /// Types of A, B, of the accumulator that goes in, and of that which comes out.
    pub types: [Elem; 4],
    /// The modes of A and B that the instruction takes neighbours of.
    pub majors: [Major; 2],
    /// Tells whether a sum of integers becomes the nearest number instead of wrapping.
    pub saturate: bool,
    /// Tells of A and of B whether its elements are multiplied with their signs changed.
    pub negated: [bool; 2],
    /// The operation that multiplies single bits.
    pub bit_op: Option<BitOp>,
    /// The places that A and B come from.
    pub frag_kind: FragKind,
    /// The scale of A and B, by blocks of K.
    pub scale: Option<Scale>,
}

impl MmaSpec {
    /// One whose A and B lie along K in registers, without anything special: types are A, B, C and D.
    pub fn new(family: Family, shape_mnk: [i64; 3], types: [Elem; 4]) -> MmaSpec {
        MmaSpec {
            family,
            shape_mnk,
            types,
            majors: [Major::K; 2],
            saturate: false,
            negated: [false; 2],
            bit_op: None,
            frag_kind: FragKind::Registers,
            scale: None,
        }
    }
}

/// One MMA instruction: its shape, its types, and which thread holds which element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MmaAtom {
    /// CuTe's name of the operation.
    pub name: String,
    /// The family of the instruction.
    pub family: Family,
    /// Extents M, N, K in elements.
    pub shape_mnk: [i64; 3],
    /// Threads of the atom to thread index: one, the 8 of a quad pair, 32 of a warp, or 128 of a warpgroup.
    pub thr_id: Layout,
    /// (thread, value) to (M,K).
    pub a_tv: Layout,
    /// (thread, value) to (N,K).
    pub b_tv: Layout,
    /// (thread, value) to (M,N).
    pub c_tv: Layout,
    /// Type of A.
    pub a: Elem,
    /// Type of B.
    pub b: Elem,
    /// Type of the accumulator that goes in.
    pub c: Elem,
    /// Type of the accumulator that comes out.
    pub d: Elem,
    /// The modes of A and B that the instruction takes neighbours of.
    pub majors: [Major; 2],
    /// Tells whether a sum of integers becomes the nearest number instead of wrapping.
    pub saturate: bool,
    /// Tells of A and of B whether its elements are multiplied with their signs changed.
    pub negated: [bool; 2],
    /// The operation that multiplies single bits.
    pub bit_op: Option<BitOp>,
    /// The scale of A and B, by blocks of K.
    pub scale: Option<Scale>,
    /// The places that A, B and C are taken from; D goes where C comes from.
    pub sources: [Source; 3],
    /// The way in which threads know that it is done.
    pub completion: Completion,
    /// The threads that issue it together: a warp also where an atom is of fewer threads, such as a quad pair.
    pub issue: Issue,
    /// The architectures that have it.
    pub requires: Requirement,
}

/// The sources of an instruction that takes all of its operands from registers.
const IN_REGISTERS: [Source; 3] = [Source::Registers; 3];

/// The atoms that are listed; of `wgmma` there are too many.
static ATOMS: LazyLock<Vec<MmaAtom>> = LazyLock::new(|| {
    let mut all = Vec::new();
    all.extend(universal::all());
    all.extend(warp::all());
    all.extend(sm120::all());
    all
});

/// The pattern of the names of `wgmma`.
const WGMMA_NAMES: &str = "SM90_64x{8, 16, ... 256}x{8, 16, 32}_{D}{A}{B}_{SS or RS}";

impl MmaAtom {
    /// The names of all atoms but `wgmma`'s, in the order of the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ATOMS.iter().map(|atom| atom.name.as_str())
    }

    /// The atom of that name, which for integers may end in `_SATURATE`. Errors: no such atom; the message lists those there
    /// are.
    pub fn named(name: &str) -> Result<MmaAtom> {
        if let Some(atom) = ATOMS.iter().find(|atom| atom.name == name) {
            return Ok(atom.clone());
        }
        if let Some(atom) = wgmma::named(name) {
            return atom;
        }
        if let Some(base) = name.strip_suffix(SATURATE)
            && let Some(atom) = ATOMS.iter().find(|atom| atom.name == base)
            && atom.can_saturate()
        {
            return Ok(atom.clone().saturated());
        }
        let names = Self::names().chain([WGMMA_NAMES]);
        Err(unknown("an MMA atom", name, names))
    }

    /// The atom with this shape (M, N, K) and these types, of a warp and with A by rows and B by columns. Errors: no such
    /// atom.
    ///
    /// Where several architectures have one, the newest of the table is given: it has the same fragments.
    pub fn find(shape_mnk: [i64; 3], a: Elem, b: Elem, c: Elem, d: Elem) -> Result<MmaAtom> {
        let found = ATOMS.iter().rev().find(|atom| {
            !matches!(
                atom.family,
                Family::Sm120 | Family::Sm120BlockScaled | Family::Universal
            ) && atom.shape_mnk == shape_mnk
                && [atom.a, atom.b, atom.c, atom.d] == [a, b, c, d]
        });
        found.cloned().ok_or_else(|| {
            let [m, n, k] = shape_mnk;
            unknown(
                "an MMA atom",
                &format!("{m}x{n}x{k} {d} = {a} * {b} + {c}"),
                Self::names(),
            )
        })
    }

    /// The atom that `spec` says. Errors: no such atom; the message lists those of its family.
    pub fn of(spec: &MmaSpec) -> Result<MmaAtom> {
        if spec.family == Family::Sm90 {
            return wgmma::of(spec);
        }
        let base = MmaSpec {
            saturate: false,
            ..*spec
        };
        let found = ATOMS.iter().find(|atom| atom.spec() == base);
        match found {
            Some(atom) if !spec.saturate => Ok(atom.clone()),
            Some(atom) if atom.can_saturate() => Ok(atom.clone().saturated()),
            Some(atom) => Err(LayoutError::Divisibility {
                op: "atom",
                expected: format!(
                    "integers of 8 or 4 bits to saturate, of which {} has none",
                    atom.name
                ),
                found: "int_overflow = satfinite".to_owned(),
                cure: "leave it out".to_owned(),
            }),
            None => Err(spec.unknown()),
        }
    }

    /// The parameters that it is chosen by.
    pub fn spec(&self) -> MmaSpec {
        MmaSpec {
            family: self.family,
            shape_mnk: self.shape_mnk,
            types: [self.a, self.b, self.c, self.d],
            majors: self.majors,
            saturate: self.saturate,
            negated: self.negated,
            bit_op: self.bit_op,
            frag_kind: self.frag_kind(),
            scale: self.scale,
        }
    }

    /// The places that A and B come from.
    pub fn frag_kind(&self) -> FragKind {
        match self.sources {
            [Source::Registers, Source::Registers, _] => FragKind::Registers,
            [Source::Registers, Source::SharedDescriptor, _] => FragKind::Rs,
            [Source::SharedDescriptor, ..] => FragKind::Ss,
        }
    }

    /// The factors whose signs are changed, as their type says them: `a`, `b`, `ab` or nothing.
    pub fn negated_names(&self) -> &'static str {
        match self.negated {
            [false, false] => "",
            [true, false] => "a",
            [false, true] => "b",
            [true, true] => "ab",
        }
    }

    /// Threads that take part.
    pub fn num_threads(&self) -> Result<i64> {
        self.thr_id.size()
    }

    fn can_saturate(&self) -> bool {
        self.family != Family::Universal
            && matches!(self.a, Elem::I8 | Elem::U8 | Elem::I4 | Elem::U4)
    }

    fn saturated(mut self) -> MmaAtom {
        self.name += SATURATE;
        self.saturate = true;
        self
    }
}

const SATURATE: &str = "_SATURATE";

impl MmaSpec {
    /// There is no such atom: which of its family there are.
    fn unknown(&self) -> LayoutError {
        let mnemonic = self.family.mnemonic();
        let family = || ATOMS.iter().filter(|atom| atom.family == self.family);
        // Those that have the types, else those that have the shape: all are too many to read.
        let types = || family().filter(|atom| atom.spec().types == self.types);
        let shape = || family().filter(|atom| atom.spec().shape_mnk == self.shape_mnk);
        let mut known: Vec<String> = types().map(|atom| atom.spec().text()).collect();
        if known.is_empty() {
            known = shape().map(|atom| atom.spec().text()).collect();
        }
        if known.is_empty() {
            known = family().map(|atom| atom.spec().text()).collect();
        }
        LayoutError::Divisibility {
            op: "atom",
            expected: format!("a {mnemonic} of the table, one of {}", known.join(", ")),
            found: self.text(),
            cure: "choose a shape and types that are there".to_owned(),
        }
    }

    /// Describes it, as short as it can be told from others of its family.
    fn text(&self) -> String {
        let [m, n, k] = self.shape_mnk;
        let [a, b, c, _] = self.types;
        let mut text = format!("{m}x{n}x{k} ({a}, {b}, {c})");
        if self.family == Family::Sm70 || self.majors != [Major::K; 2] {
            let [a, b] = self.majors.map(Major::name);
            text += &format!(" ab_major ({a}, {b})");
        }
        match self.bit_op {
            Some(BitOp::Xor) => text += " xor",
            Some(BitOp::And) => text += " and",
            None => {}
        }
        if let Some(Scale { elem, vec }) = self.scale {
            text += &format!(" scaled by {elem} of {vec}");
        }
        text
    }
}

/// The table's texts are layouts, as the tests read them all.
fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}

pub(super) fn unknown<'a>(
    what: &str,
    found: &str,
    names: impl Iterator<Item = &'a str>,
) -> LayoutError {
    LayoutError::Divisibility {
        op: "atom",
        expected: format!("{what}, one of {}", names.collect::<Vec<_>>().join(", ")),
        found: found.to_string(),
        cure: "choose one that is there".to_owned(),
    }
}
