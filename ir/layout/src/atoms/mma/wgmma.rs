//! `wgmma.mma_async`: products of a warpgroup, with B, and A too or not, in shared memory.
//!
//! M is 64, N any multiple of 8 up to 256, K 32 bytes. From shared memory every thread sees the whole of A and B, hence their
//! threads' stride 0. Sources: PTX ISA, "Register Fragments and Shared Memory Matrix Layouts" of wgmma; CuTe's
//! `mma_traits_sm90_gmma.hpp`.

use super::{Completion, Elem, Family, FragKind, Issue, Major, MmaAtom, MmaSpec, Source, layout};
use crate::error::{LayoutError, Result};
use cute_target::Requirement;

const M: i64 = 64;
/// CuTe's name of a factor whose signs are changed (`GMMA::ScaleIn::Neg`).
const NEGATED: &str = "Neg";
const MOST_N: i64 = 256;
/// Bits of A and B along K.
const K_BITS: i64 = 256;

/// The types of A, B and the accumulators.
fn has_types(a: Elem, b: Elem, c: Elem) -> bool {
    use Elem::*;
    match (a, b) {
        (F16, F16) => matches!(c, F16 | F32),
        (BF16, BF16) | (TF32, TF32) => c == F32,
        (F8E4M3 | F8E5M2, F8E4M3 | F8E5M2) => matches!(c, F16 | F32),
        (I8 | U8, I8 | U8) => c == I32,
        _ => false,
    }
}

/// Integers have fewer extents: beyond 32 the multiples of 16.
fn has_n(n: i64, a: Elem) -> bool {
    let step = if matches!(a, Elem::I8 | Elem::U8) && n > 32 {
        16
    } else {
        8
    };
    (8..=MOST_N).contains(&n) && n % step == 0
}

/// The atom that `spec` says, of the family [`Family::Sm90`].
pub(super) fn of(spec: &MmaSpec) -> Result<MmaAtom> {
    let [m, n, k] = spec.shape_mnk;
    let [a, b, c, d] = spec.types;
    let refuse = |expected: String, found: String| {
        Err(LayoutError::Divisibility {
            op: "atom",
            expected,
            found,
            cure: "choose what the instruction has".to_owned(),
        })
    };
    if a.bits() == 1 && b.bits() == 1 {
        return Err(LayoutError::Divisibility {
            op: "atom",
            expected: "types of sm90.mma, of which single bits (PTX ISA, wgmma.mma_async of .b1) have no atom here".to_owned(),
            found: format!("({a}, {b}, {c})"),
            cure: "take !cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, i32) binary_op = and>, or xor"
                .to_owned(),
        });
    }
    if !has_types(a, b, c) || c != d {
        return refuse(
            "types of sm90.mma: f16 with f16 or f32, bf16 or tf32 with f32, 8-bit floats with f16 or f32, 8-bit integers \
             with i32"
                .to_owned(),
            format!("({a}, {b}, {c})"),
        );
    }
    if m != M || k != K_BITS / a.bits() || !has_n(n, a) {
        return refuse(
            format!(
                "sm90.mma of 64xNx{}, N a multiple of {} up to {MOST_N}",
                K_BITS / a.bits(),
                if has_n(40, a) {
                    "8"
                } else {
                    "8, beyond 32 of 16,"
                }
            ),
            format!("{m}x{n}x{k}"),
        );
    }
    let halves = matches!(a, Elem::F16 | Elem::BF16);
    if !halves && spec.majors != [Major::K; 2] {
        return refuse(
            format!("ab_major = (k, k), as only f16 and bf16 are transposed on the way, not {a}"),
            format!("({}, {})", spec.majors[0].name(), spec.majors[1].name()),
        );
    }
    if spec.frag_kind == FragKind::Rs && spec.majors[0] != Major::K {
        return refuse(
            "an A in registers with ab_major = (k, ...)".to_owned(),
            "ab_major = (mn, ...)".to_owned(),
        );
    }
    if spec.saturate && c != Elem::I32 {
        return refuse(
            "8-bit integers to saturate".to_owned(),
            format!("({a}, {b}, {c})"),
        );
    }
    if spec.negated != [false; 2] && c == Elem::I32 {
        return refuse(
            "floating-point numbers to change the signs of".to_owned(),
            format!("({a}, {b}, {c})"),
        );
    }
    let a_tv = match (spec.frag_kind, a.bits()) {
        (FragKind::Registers, _) => {
            return refuse(
                "frag_kind = ss or rs: B comes from shared memory".to_owned(),
                "B in registers".to_owned(),
            );
        }
        (FragKind::Ss, _) => format!("(128,(64,{k})):(0,(1,64))"),
        (FragKind::Rs, 32) => "((4,8,4),(2,2)):((64,1,16),(8,256))".to_owned(),
        (FragKind::Rs, 16) => "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))".to_owned(),
        (FragKind::Rs, _) => "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))".to_owned(),
    };
    let names = [d, a, b].map(Elem::cute_name).concat();
    let kind = if spec.frag_kind == FragKind::Rs {
        "RS"
    } else {
        "SS"
    };
    let saturate = if spec.saturate { super::SATURATE } else { "" };
    let [of_a, of_b] = spec.majors.map(|major| match major {
        Major::K => "K",
        Major::Mn => "MN",
    });
    let signs = spec
        .negated
        .map(|negated| if negated { NEGATED } else { "One" });
    let majors = match (halves, spec.negated == [false; 2]) {
        (true, true) => format!("<{of_a},{of_b}>"),
        (true, false) => format!("<{of_a},{of_b},{}>", signs.join(",")),
        (false, true) => "_TN".to_owned(),
        (false, false) => format!("_TN<{}>", signs.join(",")),
    };
    Ok(MmaAtom {
        name: format!("SM90_64x{n}x{k}_{names}_{kind}{majors}{saturate}"),
        family: Family::Sm90,
        shape_mnk: spec.shape_mnk,
        thr_id: layout("128:1"),
        a_tv: layout(&a_tv),
        b_tv: layout(&format!("(128,({n},{k})):(0,(1,{n}))")),
        c_tv: layout(&format!(
            "((4,8,4),(2,2,{})):((128,1,16),(64,8,512))",
            n / 8
        )),
        a,
        b,
        c,
        d,
        majors: spec.majors,
        saturate: spec.saturate,
        negated: spec.negated,
        bit_op: None,
        scale: None,
        sources: [
            match spec.frag_kind {
                FragKind::Ss => Source::SharedDescriptor,
                FragKind::Rs | FragKind::Registers => Source::Registers,
            },
            Source::SharedDescriptor,
            Source::Registers,
        ],
        completion: Completion::Group,
        issue: Issue::Warpgroup,
        requires: Requirement::Specific(9, 0),
    })
}

/// The atom of a name as [`of`] gives it, where it begins as those do.
pub(super) fn named(name: &str) -> Option<Result<MmaAtom>> {
    let (n, rest) = name.strip_prefix("SM90_64x")?.split_once('x')?;
    let (k, rest) = rest.split_once('_')?;
    let shape_mnk = [M, n.parse().ok()?, k.parse().ok()?];
    let (names, rest) = rest.split_once('_')?;
    let (rest, saturate) = match rest.strip_suffix(super::SATURATE) {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let frag_kind = match rest.get(..2)? {
        "SS" => FragKind::Ss,
        "RS" => FragKind::Rs,
        _ => return None,
    };
    let (rest, negated) = signs(&rest[2..]);
    let majors = match &rest[..] {
        "_TN" | "<K,K>" => [Major::K, Major::K],
        "<K,MN>" => [Major::K, Major::Mn],
        "<MN,K>" => [Major::Mn, Major::K],
        "<MN,MN>" => [Major::Mn, Major::Mn],
        _ => return None,
    };
    let [d, a, b] = types(names)?;
    Some(of(&MmaSpec {
        majors,
        saturate,
        negated,
        frag_kind,
        ..MmaSpec::new(Family::Sm90, shape_mnk, [a, b, d, d])
    }))
}

/// The end of a name without the signs of A and B that it may say, and which of them are changed.
fn signs(text: &str) -> (String, [bool; 2]) {
    for a in [false, true] {
        for b in [false, true] {
            let names = [a, b].map(|negated| if negated { NEGATED } else { "One" });
            let said = names.join(",");
            if let Some(rest) = text.strip_suffix(&format!(",{said}>")) {
                return (format!("{rest}>"), [a, b]);
            }
            if let Some(rest) = text.strip_suffix(&format!("<{said}>")) {
                return (rest.to_owned(), [a, b]);
            }
        }
    }
    (text.to_owned(), [false; 2])
}

/// Three types' names, one after the other.
fn types(names: &str) -> Option<[Elem; 3]> {
    use Elem::*;
    let all = [F16, BF16, TF32, F32, F8E4M3, F8E5M2, I8, U8, I32];
    let mut found = [F16; 3];
    let mut rest = names;
    for slot in &mut found {
        let elem = all
            .into_iter()
            .find(|elem| rest.starts_with(elem.cute_name()))?;
        rest = &rest[elem.cute_name().len()..];
        *slot = elem;
    }
    rest.is_empty().then_some(found)
}
