//! The products of a warp, and of Volta's quad pairs: `mma.sync` of SM70 to SM90.
//!
//! Sources: PTX ISA, "Matrix Fragments for mma.*"; CuTe's `mma_traits_sm70.hpp`, `_sm75`, `_sm80`, `_sm89`, `_sm90`.

use super::{BitOp, Completion, Elem, Family, IN_REGISTERS, Issue, Major, MmaAtom, layout};
use cute_target::Requirement;

/// One instruction of the table.
pub(super) struct Row {
    pub name: &'static str,
    pub shape: [i64; 3],
    pub types: [Elem; 4], // D, A, B, C: the order of the names
    pub tv: &'static Fragments,
    pub brought_by: Generation,
}

/// The source of an instruction, and where it exists since then.
type Generation = (Family, Requirement);

const SM70: Generation = (Family::Sm70, Requirement::Since(7, 0));
const SM75: Generation = (Family::Sm75, Requirement::Since(7, 5));
const SM80: Generation = (Family::Sm80, Requirement::Since(8, 0));
const SM89: Generation = (Family::Sm89, Requirement::Since(8, 9));
const SM90: Generation = (Family::Sm90Warp, Requirement::Since(9, 0));

/// The layouts of one shape, as text; several types share them.
pub(super) struct Fragments {
    pub thr: &'static str,
    pub a: &'static str,
    pub b: &'static str,
    pub c: &'static str,
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
pub(super) const B8_16X8X32: Fragments = Fragments {
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
pub(super) const B4_16X8X64: Fragments = Fragments {
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

// 32 bits of K a value of 32 bits, as in CuTe, whose `16x8x128` A misses a pair of brackets.
const B1_8X8X128: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),32):((256,1),8)",
    b: "((4,8),32):((256,1),8)",
    c: C_8X8,
};
const B1_16X8X128: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(32,2)):((512,1),(16,8))",
    b: "((4,8),32):((256,1),8)",
    c: C_16X8,
};
const B1_16X8X256: Fragments = Fragments {
    thr: WARP,
    a: "((4,8),(32,2,2)):((512,1),(16,8,2048))",
    b: "((4,8),(32,2)):((256,1),(8,1024))",
    c: C_16X8,
};

const fn row(
    name: &'static str,
    shape: [i64; 3],
    types: [Elem; 4],
    tv: &'static Fragments,
    brought_by: Generation,
) -> Row {
    Row {
        name,
        shape,
        types,
        tv,
        brought_by,
    }
}

use Elem::*;

#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    row("SM70_8x8x4_F16F16F16F16_TN", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_TN, SM70),
    row("SM70_8x8x4_F16F16F16F16_NT", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_NT, SM70),
    row("SM70_8x8x4_F16F16F16F16_NN", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_NN, SM70),
    row("SM70_8x8x4_F16F16F16F16_TT", [8, 8, 4], [F16, F16, F16, F16], &QUAD_PAIR_F16_TT, SM70),
    row("SM70_8x8x4_F32F16F16F32_TN", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_TN, SM70),
    row("SM70_8x8x4_F32F16F16F32_NN", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_NN, SM70),
    row("SM70_8x8x4_F32F16F16F32_TT", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_TT, SM70),
    row("SM70_8x8x4_F32F16F16F32_NT", [8, 8, 4], [F32, F16, F16, F32], &QUAD_PAIR_F32_NT, SM70),
    row("SM75_16x8x8_F32F16F16F32_TN", [16, 8, 8], [F32, F16, F16, F32], &B16_16X8X8, SM75),
    row("SM75_16x8x8_F16F16F16F16_TN", [16, 8, 8], [F16, F16, F16, F16], &B16_16X8X8, SM75),
    row("SM75_8x8x16_S32S8S8S32_TN", [8, 8, 16], [I32, I8, I8, I32], &B8_8X8X16, SM75),
    row("SM80_16x8x8_F16F16F16F16_TN", [16, 8, 8], [F16, F16, F16, F16], &B16_16X8X8, SM80),
    row("SM80_16x8x16_F16F16F16F16_TN", [16, 8, 16], [F16, F16, F16, F16], &B16_16X8X16, SM80),
    row("SM80_16x8x8_F32F16F16F32_TN", [16, 8, 8], [F32, F16, F16, F32], &B16_16X8X8, SM80),
    row("SM80_16x8x16_F32F16F16F32_TN", [16, 8, 16], [F32, F16, F16, F32], &B16_16X8X16, SM80),
    row("SM80_16x8x8_F32BF16BF16F32_TN", [16, 8, 8], [F32, BF16, BF16, F32], &B16_16X8X8, SM80),
    row("SM80_16x8x16_F32BF16BF16F32_TN", [16, 8, 16], [F32, BF16, BF16, F32], &B16_16X8X16, SM80),
    row("SM80_16x8x4_F32TF32TF32F32_TN", [16, 8, 4], [F32, TF32, TF32, F32], &TF32_16X8X4, SM80),
    row("SM80_16x8x8_F32TF32TF32F32_TN", [16, 8, 8], [F32, TF32, TF32, F32], &TF32_16X8X8, SM80),
    row("SM80_8x8x4_F64F64F64F64_TN", [8, 8, 4], [F64, F64, F64, F64], &F64_8X8X4, SM80),
    row("SM80_16x8x32_S32S8S8S32_TN", [16, 8, 32], [I32, I8, I8, I32], &B8_16X8X32, SM80),
    row("SM80_16x8x32_S32U8U8S32_TN", [16, 8, 32], [I32, U8, U8, I32], &B8_16X8X32, SM80),
    row("SM80_8x8x16_S32S8S8S32_TN", [8, 8, 16], [I32, I8, I8, I32], &B8_8X8X16, SM80),
    row("SM80_16x8x16_S32S8S8S32_TN", [16, 8, 16], [I32, I8, I8, I32], &B8_16X8X16, SM80),
    row("SM80_8x8x16_S32S8U8S32_TN", [8, 8, 16], [I32, I8, U8, I32], &B8_8X8X16, SM80),
    row("SM80_16x8x16_S32S8U8S32_TN", [16, 8, 16], [I32, I8, U8, I32], &B8_16X8X16, SM80),
    row("SM80_16x8x32_S32S8U8S32_TN", [16, 8, 32], [I32, I8, U8, I32], &B8_16X8X32, SM80),
    row("SM80_8x8x16_S32U8S8S32_TN", [8, 8, 16], [I32, U8, I8, I32], &B8_8X8X16, SM80),
    row("SM80_16x8x16_S32U8S8S32_TN", [16, 8, 16], [I32, U8, I8, I32], &B8_16X8X16, SM80),
    row("SM80_16x8x32_S32U8S8S32_TN", [16, 8, 32], [I32, U8, I8, I32], &B8_16X8X32, SM80),
    row("SM80_8x8x16_S32U8U8S32_TN", [8, 8, 16], [I32, U8, U8, I32], &B8_8X8X16, SM80),
    row("SM80_16x8x16_S32U8U8S32_TN", [16, 8, 16], [I32, U8, U8, I32], &B8_16X8X16, SM80),
    row("SM80_8x8x32_S32S4S4S32_TN", [8, 8, 32], [I32, I4, I4, I32], &B4_8X8X32, SM80),
    row("SM80_16x8x32_S32S4S4S32_TN", [16, 8, 32], [I32, I4, I4, I32], &B4_16X8X32, SM80),
    row("SM80_16x8x64_S32S4S4S32_TN", [16, 8, 64], [I32, I4, I4, I32], &B4_16X8X64, SM80),
    row("SM80_8x8x32_S32S4U4S32_TN", [8, 8, 32], [I32, I4, U4, I32], &B4_8X8X32, SM80),
    row("SM80_16x8x32_S32S4U4S32_TN", [16, 8, 32], [I32, I4, U4, I32], &B4_16X8X32, SM80),
    row("SM80_16x8x64_S32S4U4S32_TN", [16, 8, 64], [I32, I4, U4, I32], &B4_16X8X64, SM80),
    row("SM80_8x8x32_S32U4S4S32_TN", [8, 8, 32], [I32, U4, I4, I32], &B4_8X8X32, SM80),
    row("SM80_16x8x32_S32U4S4S32_TN", [16, 8, 32], [I32, U4, I4, I32], &B4_16X8X32, SM80),
    row("SM80_16x8x64_S32U4S4S32_TN", [16, 8, 64], [I32, U4, I4, I32], &B4_16X8X64, SM80),
    row("SM80_8x8x32_S32U4U4S32_TN", [8, 8, 32], [I32, U4, U4, I32], &B4_8X8X32, SM80),
    row("SM80_16x8x32_S32U4U4S32_TN", [16, 8, 32], [I32, U4, U4, I32], &B4_16X8X32, SM80),
    row("SM80_16x8x64_S32U4U4S32_TN", [16, 8, 64], [I32, U4, U4, I32], &B4_16X8X64, SM80),
    row("SM80_8x8x128_S32U1U1S32_TN_XORPOPC", [8, 8, 128], [I32, B1, B1, I32], &B1_8X8X128, SM80),
    row("SM80_8x8x128_S32U1U1S32_TN_ANDPOPC", [8, 8, 128], [I32, B1, B1, I32], &B1_8X8X128, SM80),
    row("SM80_16x8x128_S32U1U1S32_TN_XORPOPC", [16, 8, 128], [I32, B1, B1, I32], &B1_16X8X128, SM80),
    row("SM80_16x8x128_S32U1U1S32_TN_ANDPOPC", [16, 8, 128], [I32, B1, B1, I32], &B1_16X8X128, SM80),
    row("SM80_16x8x256_S32U1U1S32_TN_XORPOPC", [16, 8, 256], [I32, B1, B1, I32], &B1_16X8X256, SM80),
    row("SM80_16x8x256_S32U1U1S32_TN_ANDPOPC", [16, 8, 256], [I32, B1, B1, I32], &B1_16X8X256, SM80),
    row("SM89_16x8x32_F32E4M3E4M3F32_TN", [16, 8, 32], [F32, F8E4M3, F8E4M3, F32], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F32E5M2E5M2F32_TN", [16, 8, 32], [F32, F8E5M2, F8E5M2, F32], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F32E4M3E5M2F32_TN", [16, 8, 32], [F32, F8E4M3, F8E5M2, F32], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F32E5M2E4M3F32_TN", [16, 8, 32], [F32, F8E5M2, F8E4M3, F32], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F16E4M3E4M3F16_TN", [16, 8, 32], [F16, F8E4M3, F8E4M3, F16], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F16E4M3E5M2F16_TN", [16, 8, 32], [F16, F8E4M3, F8E5M2, F16], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F16E5M2E4M3F16_TN", [16, 8, 32], [F16, F8E5M2, F8E4M3, F16], &B8_16X8X32, SM89),
    row("SM89_16x8x32_F16E5M2E5M2F16_TN", [16, 8, 32], [F16, F8E5M2, F8E5M2, F16], &B8_16X8X32, SM89),
    row("SM90_16x8x4_F64F64F64F64_TN", [16, 8, 4], [F64, F64, F64, F64], &F64_16X8X4, SM90),
    row("SM90_16x8x8_F64F64F64F64_TN", [16, 8, 8], [F64, F64, F64, F64], &F64_16X8X8, SM90),
    row("SM90_16x8x16_F64F64F64F64_TN", [16, 8, 16], [F64, F64, F64, F64], &F64_16X8X16, SM90),
];

/// The atoms of the table.
pub(super) fn all() -> impl Iterator<Item = MmaAtom> {
    TABLE.iter().map(|row| {
        let [d, a, b, c] = row.types;
        MmaAtom {
            name: row.name.to_owned(),
            family: row.brought_by.0,
            shape_mnk: row.shape,
            thr_id: layout(row.tv.thr),
            a_tv: layout(row.tv.a),
            b_tv: layout(row.tv.b),
            c_tv: layout(row.tv.c),
            a,
            b,
            c,
            d,
            majors: majors(row.name),
            saturate: false,
            negated: [false; 2],
            bit_op: match row.name {
                name if name.ends_with("XORPOPC") => Some(BitOp::Xor),
                name if name.ends_with("ANDPOPC") => Some(BitOp::And),
                _ => None,
            },
            scale: None,
            sources: IN_REGISTERS,
            completion: Completion::Immediate,
            issue: Issue::Warp,
            requires: row.brought_by.1,
        }
    })
}

/// T and N are transposed and not, as BLAS sees (M,K) and (K,N): T of A and N of B lie along K.
fn majors(name: &str) -> [Major; 2] {
    match name.get(name.len() - 3..) {
        Some("_NT") => [Major::Mn, Major::Mn],
        Some("_NN") => [Major::Mn, Major::K],
        Some("_TT") => [Major::K, Major::Mn],
        _ => [Major::K, Major::K],
    }
}
