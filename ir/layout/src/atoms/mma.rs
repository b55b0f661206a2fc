//! MMA atoms.
//!
//! The layouts map (thread, value) to the column-major index of the operand's tile: A is (M,K), B is (N,K), C is (M,N).
//! Sources: PTX ISA, "Matrix Fragments for mma.*"; the names are those of CuTe's `mma_traits_sm70.hpp`, `_sm75`, `_sm80`, `_sm89`, `_sm90`.

use super::Elem;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// One MMA instruction: its shape, its types, and which thread holds which element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MmaAtom {
    /// CuTe's name of the operation.
    pub name: &'static str,
    /// Extents M, N, K in elements.
    pub shape_mnk: [i64; 3],
    /// Threads of the atom to thread index: 32 of a warp, or the 8 of a quad pair.
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
    /// The first architecture that has it, as in `sm_80`.
    pub min_sm: u32,
}

struct Row {
    name: &'static str,
    shape: [i64; 3],
    types: [Elem; 4], // D, A, B, C: the order of the names
    tv: &'static Fragments,
    min_sm: u32,
}

/// The layouts of one shape, as text; several types share them.
struct Fragments {
    thr: &'static str,
    a: &'static str,
    b: &'static str,
    c: &'static str,
}

// A warp as 8 groups of 4 threads: `groupID = lane >> 2`, `threadID_in_group = lane % 4` in PTX.
const WARP: &str = "32:1";
const C_16X8: &str = "((4,8),(2,2)):((32,1),(16,8))";
const C_8X8: &str = "((4,8),2):((16,1),8)";

// A quad pair's A and B by rows (T) or columns (N), and C of 32 or 16 bits.
const QUAD_PAIR_ROW: &str = "(8,4):(1,8)";
const QUAD_PAIR_COLUMN: &str = "((4,2),4):((8,4),1)";
const QUAD_PAIR_C32: &str = "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))";
const QUAD_PAIR_C16: &str = "(8,8):(1,8)";

const fn quad_pair(a: &'static str, b: &'static str, c: &'static str) -> Fragments {
    Fragments {
        thr: "(4,2):(1,16)",
        a,
        b,
        c,
    }
}

const QUAD_PAIR_F32_TN: Fragments = quad_pair(QUAD_PAIR_ROW, QUAD_PAIR_ROW, QUAD_PAIR_C32);
const QUAD_PAIR_F32_NT: Fragments = quad_pair(QUAD_PAIR_COLUMN, QUAD_PAIR_COLUMN, QUAD_PAIR_C32);
const QUAD_PAIR_F32_NN: Fragments = quad_pair(QUAD_PAIR_COLUMN, QUAD_PAIR_ROW, QUAD_PAIR_C32);
const QUAD_PAIR_F32_TT: Fragments = quad_pair(QUAD_PAIR_ROW, QUAD_PAIR_COLUMN, QUAD_PAIR_C32);
const QUAD_PAIR_F16_TN: Fragments = quad_pair(QUAD_PAIR_ROW, QUAD_PAIR_ROW, QUAD_PAIR_C16);
const QUAD_PAIR_F16_NT: Fragments = quad_pair(QUAD_PAIR_COLUMN, QUAD_PAIR_COLUMN, QUAD_PAIR_C16);
const QUAD_PAIR_F16_NN: Fragments = quad_pair(QUAD_PAIR_COLUMN, QUAD_PAIR_ROW, QUAD_PAIR_C16);
const QUAD_PAIR_F16_TT: Fragments = quad_pair(QUAD_PAIR_ROW, QUAD_PAIR_COLUMN, QUAD_PAIR_C16);
const B16_16X8X8: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(2,2)):((32,1),(16,8))",
    b: "((4,8),2):((16,1),8)",
    c: C_16X8,
};
const B16_16X8X16: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(2,2,2)):((32,1),(16,8,128))",
    b: "((4,8),(2,2)):((16,1),(8,64))",
    c: C_16X8,
};
const TF32_16X8X4: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),2):((16,1),8)",
    b: "((4,8),1):((8,1),0)",
    c: C_16X8,
};
const TF32_16X8X8: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(2,2)):((16,1),(8,64))",
    b: "((4,8),2):((8,1),32)",
    c: C_16X8,
};
const F64_8X8X4: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),1):((8,1),0)",
    b: "((4,8),1):((8,1),0)",
    c: C_8X8,
};
const B8_16X8X32: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(4,2,2)):((64,1),(16,8,256))",
    b: "((4,8),(4,2)):((32,1),(8,128))",
    c: C_16X8,
};

const B8_8X8X16: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),4):((32,1),8)",
    b: "((4,8),4):((32,1),8)",
    c: C_8X8,
};
const B8_16X8X16: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(4,2)):((64,1),(16,8))",
    b: "((4,8),4):((32,1),8)",
    c: C_16X8,
};
const B4_8X8X32: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),8):((64,1),8)",
    b: "((4,8),8):((64,1),8)",
    c: C_8X8,
};
const B4_16X8X32: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(8,2)):((128,1),(16,8))",
    b: "((4,8),8):((64,1),8)",
    c: C_16X8,
};
const B4_16X8X64: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(8,2,2)):((128,1),(16,8,512))",
    b: "((4,8),(8,2)):((64,1),(8,256))",
    c: C_16X8,
};
const F64_16X8X4: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),2):((16,1),8)",
    b: "((4,8),1):((8,1),0)",
    c: C_16X8,
};
const F64_16X8X8: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(2,2)):((16,1),(8,64))",
    b: "((4,8),2):((8,1),32)",
    c: C_16X8,
};
const F64_16X8X16: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(2,4)):((16,1),(8,64))",
    b: "((4,8),4):((8,1),32)",
    c: C_16X8,
};

const fn row(
    name: &'static str,
    shape: [i64; 3],
    types: [Elem; 4],
    tv: &'static Fragments,
    min_sm: u32,
) -> Row {
    Row {
        name,
        shape,
        types,
        tv,
        min_sm,
    }
}

use Elem::*;

#[rustfmt::skip]
const TABLE: &[Row] = &[
    row("SM70_8x8x4_F16F16F16F16_TN", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_TN, 70),
    row("SM70_8x8x4_F16F16F16F16_NT", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_NT, 70),
    row("SM70_8x8x4_F16F16F16F16_NN", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_NN, 70),
    row("SM70_8x8x4_F16F16F16F16_TT", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_TT, 70),
    row("SM70_8x8x4_F32F16F16F32_TN", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_TN, 70),
    row("SM70_8x8x4_F32F16F16F32_NN", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_NN, 70),
    row("SM70_8x8x4_F32F16F16F32_TT", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_TT, 70),
    row("SM70_8x8x4_F32F16F16F32_NT", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_NT, 70),
    row("SM75_16x8x8_F32F16F16F32_TN", [16, 8, 8], [F32, F16, F16, F32], &B16_16X8X8, 75),
    row("SM75_16x8x8_F16F16F16F16_TN", [16, 8, 8], [F16, F16, F16, F16], &B16_16X8X8, 75),
    row("SM75_8x8x16_S32S8S8S32_TN", [8, 8, 16], [I32, I8, I8, I32], &B8_8X8X16, 75),
    row("SM80_16x8x8_F16F16F16F16_TN", [16, 8, 8], [F16, F16, F16, F16], &B16_16X8X8, 80),
    row("SM80_16x8x16_F16F16F16F16_TN", [16, 8, 16], [F16, F16, F16, F16], &B16_16X8X16, 80),
    row("SM80_16x8x8_F32F16F16F32_TN", [16, 8, 8], [F32, F16, F16, F32], &B16_16X8X8, 80),
    row("SM80_16x8x16_F32F16F16F32_TN", [16, 8, 16], [F32, F16, F16, F32], &B16_16X8X16, 80),
    row("SM80_16x8x8_F32BF16BF16F32_TN", [16, 8, 8], [F32, BF16, BF16, F32], &B16_16X8X8, 80),
    row("SM80_16x8x16_F32BF16BF16F32_TN", [16, 8, 16], [F32, BF16, BF16, F32], &B16_16X8X16, 80),
    row("SM80_16x8x4_F32TF32TF32F32_TN", [16, 8, 4], [F32, TF32, TF32, F32], &TF32_16X8X4, 80),
    row("SM80_16x8x8_F32TF32TF32F32_TN", [16, 8, 8], [F32, TF32, TF32, F32], &TF32_16X8X8, 80),
    row("SM80_8x8x4_F64F64F64F64_TN", [8, 8, 4], [F64, F64, F64, F64], &F64_8X8X4, 80),
    row("SM80_16x8x32_S32S8S8S32_TN", [16, 8, 32], [I32, I8, I8, I32], &B8_16X8X32, 80),
    row("SM80_16x8x32_S32U8U8S32_TN", [16, 8, 32], [I32, U8, U8, I32], &B8_16X8X32, 80),
    row("SM80_8x8x16_S32S8S8S32_TN", [8, 8, 16], [I32, I8, I8, I32], &B8_8X8X16, 80),
    row("SM80_16x8x16_S32S8S8S32_TN", [16, 8, 16], [I32, I8, I8, I32], &B8_16X8X16, 80),
    row("SM80_8x8x16_S32S8U8S32_TN", [8, 8, 16], [I32, I8, U8, I32], &B8_8X8X16, 80),
    row("SM80_16x8x16_S32S8U8S32_TN", [16, 8, 16], [I32, I8, U8, I32], &B8_16X8X16, 80),
    row("SM80_16x8x32_S32S8U8S32_TN", [16, 8, 32], [I32, I8, U8, I32], &B8_16X8X32, 80),
    row("SM80_8x8x16_S32U8S8S32_TN", [8, 8, 16], [I32, U8, I8, I32], &B8_8X8X16, 80),
    row("SM80_16x8x16_S32U8S8S32_TN", [16, 8, 16], [I32, U8, I8, I32], &B8_16X8X16, 80),
    row("SM80_16x8x32_S32U8S8S32_TN", [16, 8, 32], [I32, U8, I8, I32], &B8_16X8X32, 80),
    row("SM80_8x8x16_S32U8U8S32_TN", [8, 8, 16], [I32, U8, U8, I32], &B8_8X8X16, 80),
    row("SM80_16x8x16_S32U8U8S32_TN", [16, 8, 16], [I32, U8, U8, I32], &B8_16X8X16, 80),
    row("SM80_8x8x32_S32S4S4S32_TN", [8, 8, 32], [I32, I4, I4, I32], &B4_8X8X32, 80),
    row("SM80_16x8x32_S32S4S4S32_TN", [16, 8, 32], [I32, I4, I4, I32], &B4_16X8X32, 80),
    row("SM80_16x8x64_S32S4S4S32_TN", [16, 8, 64], [I32, I4, I4, I32], &B4_16X8X64, 80),
    row("SM80_8x8x32_S32S4U4S32_TN", [8, 8, 32], [I32, I4, U4, I32], &B4_8X8X32, 80),
    row("SM80_16x8x32_S32S4U4S32_TN", [16, 8, 32], [I32, I4, U4, I32], &B4_16X8X32, 80),
    row("SM80_16x8x64_S32S4U4S32_TN", [16, 8, 64], [I32, I4, U4, I32], &B4_16X8X64, 80),
    row("SM80_8x8x32_S32U4S4S32_TN", [8, 8, 32], [I32, U4, I4, I32], &B4_8X8X32, 80),
    row("SM80_16x8x32_S32U4S4S32_TN", [16, 8, 32], [I32, U4, I4, I32], &B4_16X8X32, 80),
    row("SM80_16x8x64_S32U4S4S32_TN", [16, 8, 64], [I32, U4, I4, I32], &B4_16X8X64, 80),
    row("SM80_8x8x32_S32U4U4S32_TN", [8, 8, 32], [I32, U4, U4, I32], &B4_8X8X32, 80),
    row("SM80_16x8x32_S32U4U4S32_TN", [16, 8, 32], [I32, U4, U4, I32], &B4_16X8X32, 80),
    row("SM80_16x8x64_S32U4U4S32_TN", [16, 8, 64], [I32, U4, U4, I32], &B4_16X8X64, 80),
    row("SM89_16x8x32_F32E4M3E4M3F32_TN", [16, 8, 32], [F32, F8E4M3, F8E4M3, F32], &B8_16X8X32, 89),
    row("SM89_16x8x32_F32E5M2E5M2F32_TN", [16, 8, 32], [F32, F8E5M2, F8E5M2, F32], &B8_16X8X32, 89),
    row("SM89_16x8x32_F32E4M3E5M2F32_TN", [16, 8, 32], [F32, F8E4M3, F8E5M2, F32], &B8_16X8X32, 89),
    row("SM89_16x8x32_F32E5M2E4M3F32_TN", [16, 8, 32], [F32, F8E5M2, F8E4M3, F32], &B8_16X8X32, 89),
    row("SM89_16x8x32_F16E4M3E4M3F16_TN", [16, 8, 32], [F16, F8E4M3, F8E4M3, F16], &B8_16X8X32, 89),
    row("SM89_16x8x32_F16E4M3E5M2F16_TN", [16, 8, 32], [F16, F8E4M3, F8E5M2, F16], &B8_16X8X32, 89),
    row("SM89_16x8x32_F16E5M2E4M3F16_TN", [16, 8, 32], [F16, F8E5M2, F8E4M3, F16], &B8_16X8X32, 89),
    row("SM89_16x8x32_F16E5M2E5M2F16_TN", [16, 8, 32], [F16, F8E5M2, F8E5M2, F16], &B8_16X8X32, 89),
    row("SM90_16x8x4_F64F64F64F64_TN", [16, 8, 4], [F64, F64, F64, F64], &F64_16X8X4, 90),
    row("SM90_16x8x8_F64F64F64F64_TN", [16, 8, 8], [F64, F64, F64, F64], &F64_16X8X8, 90),
    row("SM90_16x8x16_F64F64F64F64_TN", [16, 8, 16], [F64, F64, F64, F64], &F64_16X8X16, 90),
];

impl MmaAtom {
    /// The names of all atoms, in the order of the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|r| r.name)
    }

    /// The atom of that name. Errors: no such atom; the message lists those there are.
    pub fn named(name: &str) -> Result<MmaAtom> {
        let Some(r) = TABLE.iter().find(|r| r.name == name) else {
            return Err(unknown("an MMA atom", name, Self::names()));
        };
        r.build()
    }

    /// The atom with this shape (M, N, K) and these types. Errors: no such atom.
    ///
    /// Where several architectures have one, the newest of the table is given: it has the same fragments.
    pub fn find(shape_mnk: [i64; 3], a: Elem, b: Elem, c: Elem, d: Elem) -> Result<MmaAtom> {
        let Some(r) = TABLE
            .iter()
            .rev()
            .find(|r| r.shape == shape_mnk && r.types == [d, a, b, c])
        else {
            let [m, n, k] = shape_mnk;
            return Err(unknown(
                "an MMA atom",
                &format!("{m}x{n}x{k} {d} = {a} * {b} + {c}"),
                Self::names(),
            ));
        };
        r.build()
    }

    /// Threads that take part.
    pub fn num_threads(&self) -> Result<i64> {
        self.thr_id.size()
    }
}

impl Row {
    fn build(&self) -> Result<MmaAtom> {
        let [d, a, b, c] = self.types;
        Ok(MmaAtom {
            name: self.name,
            shape_mnk: self.shape,
            thr_id: Layout::parse(self.tv.thr)?,
            a_tv: Layout::parse(self.tv.a)?,
            b_tv: Layout::parse(self.tv.b)?,
            c_tv: Layout::parse(self.tv.c)?,
            a,
            b,
            c,
            d,
            min_sm: self.min_sm,
        })
    }
}

pub(super) fn unknown(
    what: &str,
    found: &str,
    names: impl Iterator<Item = &'static str>,
) -> LayoutError {
    LayoutError::Rank {
        op: "atom",
        expected: format!("{what}, one of {}", names.collect::<Vec<_>>().join(", ")),
        found: found.to_string(),
    }
}
