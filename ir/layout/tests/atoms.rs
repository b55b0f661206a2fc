//! The tables of atoms against the PTX ISA's formulas, written independently here: what `tiled_mma.rs` and `tiled_copy.rs` do
//! not need for their tiles.

use cute_layout::atoms::{
    BitOp, Completion, Family, FragKind, Issue, Major, MmaSpec, Scale, Source,
};
use cute_layout::{CopyAtom, Elem, FlatLayout, Layout, MmaAtom};
use cute_target::Requirement;
use std::collections::HashSet;

fn flat(l: &Layout) -> FlatLayout {
    l.flat().expect("static")
}

/// (row, column) of value `i` of `lane`.
type Formula<'a> = &'a dyn Fn(i64, i64) -> (i64, i64);

fn check(name: &str, tv: &Layout, rows: i64, values: i64, formula: Formula) {
    let threads = tv.mode(0).and_then(|t| t.size()).expect("static");
    assert_eq!(tv.mode(1).and_then(|v| v.size()), Ok(values), "{name} {tv}");
    let f = flat(tv);
    for lane in 0..threads {
        for i in 0..values {
            let (row, col) = formula(lane, i);
            assert_eq!(
                f.at(lane + threads * i),
                row + rows * col,
                "{name} {tv}: lane {lane}, value {i}"
            );
        }
    }
}

fn c16x8(lane: i64, i: i64) -> (i64, i64) {
    (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)
}

/// A of 16 rows in registers of 32 bits: rows and columns of registers, `per` elements each (PTX ISA, "Matrix Fragments for
/// mma.m16n8k*").
fn a16(per: i64) -> impl Fn(i64, i64) -> (i64, i64) {
    move |lane, i| {
        let (register, part) = (i / per, i % per);
        let row = lane / 4 + register % 2 * 8;
        (row, lane % 4 * per + part + register / 2 * 4 * per)
    }
}

/// B of 8 columns; (column, row), as the tables have it.
fn b8(per: i64) -> impl Fn(i64, i64) -> (i64, i64) {
    move |lane, i| (lane / 4, lane % 4 * per + i % per + i / per * 4 * per)
}

#[test]
fn bits_are_multiplied_by_32() {
    for op in ["XORPOPC", "ANDPOPC"] {
        for (shape, a, b) in [
            ("8x8x128", 32, 32),
            ("16x8x128", 64, 32),
            ("16x8x256", 128, 64),
        ] {
            let name = format!("SM80_{shape}_S32U1U1S32_TN_{op}");
            let atom = MmaAtom::named(&name).expect(&name);
            let m = atom.shape_mnk[0];
            check(&name, &atom.a_tv, m, a, &|lane, i| match m {
                8 => (lane / 4, lane % 4 * 32 + i),
                _ => a16(32)(lane, i),
            });
            check(&name, &atom.b_tv, 8, b, &b8(32));
            check(&name, &atom.c_tv, m, m / 4, &c16x8);
            assert_eq!(
                atom.bit_op,
                Some(if op == "XORPOPC" {
                    BitOp::Xor
                } else {
                    BitOp::And
                })
            );
        }
    }
}

#[test]
fn small_floats_lie_as_bytes_or_as_halves_of_them() {
    let mut seen = 0;
    for name in MmaAtom::names() {
        let atom = MmaAtom::named(name).expect(name);
        let (per, k) = match atom.family {
            Family::Sm120 => (4, 32),
            Family::Sm120BlockScaled if atom.shape_mnk[2] == 64 => (8, 64),
            Family::Sm120BlockScaled => (4, 32),
            _ => continue,
        };
        check(name, &atom.a_tv, 16, 16 * k / 32, &a16(per));
        check(name, &atom.b_tv, 8, 8 * k / 32, &b8(per));
        check(name, &atom.c_tv, 16, 4, &c16x8);
        assert_eq!(atom.requires, Requirement::Family(12, 0), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 50 + 25 + 3);
    let name = "SM120_16x8x64_F32E2M1E2M1F32_TN_VS<UE4M3,16>";
    let scale = MmaAtom::named(name).expect(name).scale;
    let expected = Scale {
        elem: Elem::F8E4M3,
        vec: 16,
    };
    assert_eq!(scale, Some(expected));
}

#[test]
fn a_universal_product_is_one_element() {
    for (name, a, c) in [
        ("UniversalFMA<f32,f32,f32,f32>", Elem::F32, Elem::F32),
        ("UniversalFMA<f64,f64,f64,f64>", Elem::F64, Elem::F64),
        ("UniversalFMA<f32,f16,f16,f32>", Elem::F16, Elem::F32),
        ("UniversalFMA<i32,i32,i32,i32>", Elem::I32, Elem::I32),
    ] {
        let atom = MmaAtom::named(name).expect(name);
        assert_eq!((atom.a, atom.b, atom.c, atom.d), (a, a, c, c));
        assert_eq!(atom.num_threads(), Ok(1));
        for tv in [&atom.a_tv, &atom.b_tv, &atom.c_tv] {
            assert_eq!(tv.size(), Ok(1));
        }
    }
}

/// Accumulators and A of a warpgroup: warp w has rows 16 w to 16 w + 15 (PTX ISA, "Register Fragments for
/// wgmma.mma_async.m64nNk*").
#[test]
fn a_warpgroup_has_the_fragments_of_the_ptx_isa() {
    let types = [
        ("F16F16F16", 16),
        ("F32F16F16", 16),
        ("F32BF16BF16", 16),
        ("F32TF32TF32", 32),
        ("F32E4M3E5M2", 8),
        ("F16E5M2E5M2", 8),
        ("S32S8U8", 8),
    ];
    // Matrices in shared memory are the same for many types and sizes: each is looked at once, element by element for each thread.
    let mut seen = HashSet::new();
    let mut check_shared = |name: &str, tv: &Layout, rows: i64, values: i64| {
        if seen.insert((tv.to_string(), rows, values)) {
            check(name, tv, rows, values, &|_, i| (i % rows, i / rows));
        }
    };
    for (names, bits) in types {
        let k = 256 / bits;
        for n in (8..=256).step_by(8) {
            for kind in ["SS", "RS"] {
                let majors = if bits == 16 { "<K,K>" } else { "_TN" };
                let name = format!("SM90_64x{n}x{k}_{names}_{kind}{majors}");
                let atom = match MmaAtom::named(&name) {
                    Ok(atom) => atom,
                    Err(error) => {
                        assert!(names == "S32S8U8" && n > 32 && n % 16 != 0, "{error}");
                        continue;
                    }
                };
                assert_eq!(atom.name, name);
                assert_eq!(MmaAtom::of(&atom.spec()), Ok(atom.clone()));
                check(&name, &atom.c_tv, 64, n / 2, &|t, i| {
                    let (row, column) = c16x8(t % 32, i % 4);
                    (t / 32 * 16 + row, column + i / 4 * 8)
                });
                if kind == "RS" {
                    let per = 32 / bits;
                    check(&name, &atom.a_tv, 64, 64 * k / 128, &|t, i| {
                        let (row, column) = a16(per)(t % 32, i);
                        (t / 32 * 16 + row, column)
                    });
                } else {
                    check_shared(&name, &atom.a_tv, 64, 64 * k);
                }
                check_shared(&name, &atom.b_tv, n, n * k);
                let a = match kind {
                    "RS" => Source::Registers,
                    _ => Source::SharedDescriptor,
                };
                assert_eq!(
                    atom.sources,
                    [a, Source::SharedDescriptor, Source::Registers]
                );
                assert_eq!(
                    (atom.completion, atom.issue),
                    (Completion::Group, Issue::Warpgroup)
                );
            }
        }
    }
}

#[test]
fn what_a_warpgroup_has_not_is_told() {
    let spec = MmaSpec {
        frag_kind: FragKind::Ss,
        ..MmaSpec::new(
            Family::Sm90,
            [64, 128, 16],
            [Elem::F16, Elem::F16, Elem::F32, Elem::F32],
        )
    };
    assert!(MmaAtom::of(&spec).is_ok());
    let error = |spec: &MmaSpec| MmaAtom::of(spec).expect_err("no such atom").to_string();
    let shape = MmaSpec {
        shape_mnk: [64, 12, 16],
        ..spec
    };
    assert!(
        error(&shape).contains("N a multiple of 8 up to 256"),
        "{}",
        error(&shape)
    );
    let types = MmaSpec {
        types: [Elem::BF16, Elem::BF16, Elem::F16, Elem::F16],
        ..spec
    };
    assert!(error(&types).contains("bf16 or tf32 with f32"));
    let majors = MmaSpec {
        types: [Elem::TF32, Elem::TF32, Elem::F32, Elem::F32],
        shape_mnk: [64, 128, 8],
        majors: [Major::K, Major::Mn],
        ..spec
    };
    assert!(error(&majors).contains("only f16 and bf16"));
    let registers = MmaSpec {
        frag_kind: FragKind::Registers,
        ..spec
    };
    assert!(error(&registers).contains("frag_kind = ss or rs"));
    let transposed = MmaSpec {
        frag_kind: FragKind::Rs,
        majors: [Major::Mn, Major::K],
        ..spec
    };
    assert!(error(&transposed).contains("an A in registers"));
    let saturated = MmaSpec {
        saturate: true,
        ..spec
    };
    assert!(error(&saturated).contains("8-bit integers"));
}

#[test]
fn every_atom_is_what_its_spec_says() {
    for name in MmaAtom::names() {
        let atom = MmaAtom::named(name).expect(name);
        assert_eq!(MmaAtom::of(&atom.spec()), Ok(atom), "{name}");
    }
    let name = "SM80_16x8x32_S32S8U8S32_TN_SATURATE";
    let atom = MmaAtom::named(name).expect(name);
    assert!(atom.saturate && atom.name == name);
    assert_eq!(MmaAtom::of(&atom.spec()), Ok(atom));
    for name in [
        "SM90_64x128x16_F32F16F16_SS<K,MN,Neg,One>",
        "SM90_64x64x8_F32TF32TF32_RS_TN<One,Neg>",
        "SM90_64x64x32_F16E4M3E5M2_SS_TN<Neg,Neg>",
        "SM90_64x64x32_S32S8U8_SS_TN_SATURATE",
    ] {
        let atom = MmaAtom::named(name).expect(name);
        assert_eq!(atom.name, name);
        assert_eq!(MmaAtom::of(&atom.spec()), Ok(atom), "{name}");
    }
    assert!(MmaAtom::named("SM90_64x64x32_S32S8U8_SS_TN<Neg,One>").is_err());
    assert!(MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN_SATURATE").is_err());
    let wrong = MmaSpec::new(
        Family::Sm80,
        [16, 8, 15],
        [Elem::F16, Elem::F16, Elem::F32, Elem::F32],
    );
    let error = MmaAtom::of(&wrong).expect_err("no such atom").to_string();
    assert!(
        error.contains("16x8x16 (f16, f16, f32)") && error.contains("found 16x8x15"),
        "{error}"
    );
}

/// A product from registers is done at once, and a warp issues it, or a thread where it is one multiply-add.
#[test]
fn products_from_registers_are_immediate() {
    for name in MmaAtom::names() {
        let atom = MmaAtom::named(name).expect(name);
        assert_eq!(atom.sources, [Source::Registers; 3], "{name}");
        assert_eq!(atom.frag_kind(), FragKind::Registers, "{name}");
        assert_eq!(atom.completion, Completion::Immediate, "{name}");
        let issue = match atom.family {
            Family::Universal => Issue::Thread,
            _ => Issue::Warp,
        };
        assert_eq!(atom.issue, issue, "{name}");
        let most = match issue {
            Issue::Thread => 1,
            Issue::Warp => 32,
            Issue::Warpgroup => 128,
        };
        assert!(atom.num_threads().is_ok_and(|n| n <= most), "{name}");
    }
}

/// `stmatrix` is `ldmatrix` backwards; `movmatrix` reads as the one and leaves as the other.
#[test]
fn matrices_go_both_ways() {
    for num in [1, 2, 4] {
        for transposed in [false, true] {
            let load = CopyAtom::ldmatrix(num, transposed, 16).expect("ldmatrix");
            let store = CopyAtom::stmatrix(num, transposed, 16).expect("stmatrix");
            assert_eq!(store.src_bits, load.dst_bits);
            assert_eq!(store.dst_bits, load.src_bits);
            assert_eq!(
                (store.num_val, store.align, store.requires),
                (load.num_val, 16, Requirement::Since(9, 0))
            );
        }
    }
    let atom = CopyAtom::movmatrix(16).expect("movmatrix");
    let (src, dst) = (atom.src_tv().expect("src"), atom.dst_tv().expect("dst"));
    // Of (column, row), so that the index is that of an 8x8 matrix by rows.
    check("movmatrix", &src, 8, 2, &|lane, i| {
        (lane % 4 * 2 + i, lane / 4)
    });
    check("movmatrix", &dst, 8, 2, &|lane, i| {
        (lane / 4, lane % 4 * 2 + i)
    });
    assert!(CopyAtom::movmatrix(32).is_err());
}

#[test]
fn alignments_are_those_of_the_instructions() {
    for (atom, align) in [
        (CopyAtom::universal(8, 8), 1),
        (CopyAtom::universal(128, 16), 16),
        (CopyAtom::cp_async(4, 32), 4),
        (CopyAtom::cp_async(16, 32), 16),
        (CopyAtom::ldmatrix(1, false, 16), 16),
        (CopyAtom::auto_vectorizing(32), 4),
    ] {
        assert_eq!(atom.map(|atom| atom.align), Ok(align));
    }
    assert_eq!(
        CopyAtom::auto_vectorizing(16).map(|atom| atom.num_val),
        Ok(1)
    );
    assert!(CopyAtom::auto_vectorizing(6).is_err());
}

#[test]
fn every_type_is_found_by_its_name() {
    for elem in Elem::ALL {
        assert_eq!(Elem::named(elem.name()), Some(elem));
        assert!((1..=64).contains(&elem.bits()));
    }
    assert_eq!(Elem::named("si8"), Some(Elem::I8));
    assert_eq!(Elem::named("index"), None);
}
