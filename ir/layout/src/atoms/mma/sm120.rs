//! `mma.sync` with `.kind`: floats of 8, 6 and 4 bits, with and without scales.
//!
//! A value of fewer bits lies in 8 of its own, except in products of 64 along K, which take 4 bits each. Sources: PTX ISA,
//! `mma` with `.kind::f8f6f4`, `.kind::mxf8f6f4`, `.kind::mxf4` and `.kind::mxf4nvf4`; CuTe's `mma_traits_sm120.hpp`.

use super::warp::{B4_16X8X64, B8_16X8X32, Fragments};
use super::{Completion, Elem, Family, IN_REGISTERS, Issue, Major, MmaAtom, Scale, layout};
use cute_target::Requirement;

/// The types that `.kind::f8f6f4` multiplies.
const SMALL: [Elem; 5] = [
    Elem::F8E4M3,
    Elem::F8E5M2,
    Elem::F6E2M3,
    Elem::F6E3M2,
    Elem::F4E2M1,
];

/// Scales of products of 64 along K: `.kind::mxf4` has 32 values a scale, `.kind::mxf4nvf4` 16 as well.
const SCALES_OF_4_BITS: [Scale; 3] = [
    Scale {
        elem: Elem::F8E8M0,
        vec: 32,
    },
    Scale {
        elem: Elem::F8E8M0,
        vec: 16,
    },
    Scale {
        elem: Elem::F8E4M3,
        vec: 16,
    },
];

pub(super) fn all() -> impl Iterator<Item = MmaAtom> {
    let mut all = Vec::new();
    for a in SMALL {
        for b in SMALL {
            for c in [Elem::F32, Elem::F16] {
                all.push(atom([16, 8, 32], &B8_16X8X32, a, b, c, None));
            }
        }
    }
    for a in SMALL {
        for b in SMALL {
            let scale = Scale {
                elem: Elem::F8E8M0,
                vec: 32,
            };
            all.push(atom([16, 8, 32], &B8_16X8X32, a, b, Elem::F32, Some(scale)));
        }
    }
    for scale in SCALES_OF_4_BITS {
        let e2m1 = Elem::F4E2M1;
        all.push(atom(
            [16, 8, 64],
            &B4_16X8X64,
            e2m1,
            e2m1,
            Elem::F32,
            Some(scale),
        ));
    }
    all.into_iter()
}

fn atom(
    shape_mnk: [i64; 3],
    tv: &Fragments,
    a: Elem,
    b: Elem,
    c: Elem,
    scale: Option<Scale>,
) -> MmaAtom {
    let [m, n, k] = shape_mnk;
    let [x, y, z] = [a, b, c].map(Elem::cute_name);
    let suffix = match scale {
        None => String::new(),
        Some(Scale {
            elem: Elem::F8E8M0,
            vec,
        }) => format!("_VS<UE8M0,{vec}>"),
        // Of a scale, the sign is no part.
        Some(Scale { vec, .. }) => format!("_VS<UE4M3,{vec}>"),
    };
    MmaAtom {
        name: format!("SM120_{m}x{n}x{k}_{z}{x}{y}{z}_TN{suffix}"),
        family: match scale {
            None => Family::Sm120,
            Some(_) => Family::Sm120BlockScaled,
        },
        shape_mnk,
        thr_id: layout(tv.thr),
        a_tv: layout(tv.a),
        b_tv: layout(tv.b),
        c_tv: layout(tv.c),
        a,
        b,
        c,
        d: c,
        majors: [Major::K; 2],
        saturate: false,
        negated: [false; 2],
        bit_op: None,
        scale,
        sources: IN_REGISTERS,
        completion: Completion::Immediate,
        issue: Issue::Warp,
        requires: Requirement::Family(12, 0),
    }
}
