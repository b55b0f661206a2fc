//! Tiled MMAs against the fragment formulas of the PTX ISA ("Matrix Fragments for mma.*"), written independently here.

use std::collections::HashMap;

use cute_layout::atoms::Family;
use cute_layout::{FlatLayout, Layout, MmaAtom, Partition, Tile, TiledMma};

fn layout(text: &str) -> Layout {
    Layout::parse(text).expect(text)
}

fn flat(l: &Layout) -> FlatLayout {
    l.flat().expect("static")
}

/// (row, column) of value `i` of `lane`, for each operand: PTX's formulas.
type Formula = fn(lane: i64, i: i64) -> (i64, i64);

struct Ptx {
    names: &'static [&'static str],
    a: (i64, Formula),
    b: (i64, Formula),
    c: (i64, Formula),
}

fn g(lane: i64) -> i64 {
    lane >> 2
}
fn t(lane: i64) -> i64 {
    lane % 4
}
fn c16x8(lane: i64, i: i64) -> (i64, i64) {
    (
        if i < 2 { g(lane) } else { g(lane) + 8 },
        t(lane) * 2 + (i & 1),
    )
}

// Of 8 lanes of a quad pair, numbered 0 to 7; the other operand's index first, then K's.
const QUAD_PAIR_COLUMNS: Formula = |l, i| (i + if l < 4 { 0 } else { 4 }, l % 4);
const QUAD_PAIR_ROWS: Formula = |l, i| ((l % 4) + if l < 4 { 0 } else { 4 }, i);
const QUAD_PAIR_C16: Formula = |l, i| ((l % 4) + if l < 4 { 0 } else { 4 }, i);
const QUAD_PAIR_C32: Formula = |l, i| {
    let lane = if l < 4 { l } else { l + 12 };
    let row = (lane & 1) + (i & 2) + if lane < 16 { 0 } else { 4 };
    (row, (i & 4) + (lane & 2) + (i & 1))
};

// The B formulas give (row, col) = (k, n) in PTX; here they are turned to (n, k).
const FRAGMENTS: &[Ptx] = &[
    Ptx {
        names: &[
            "SM75_16x8x8_F32F16F16F32_TN",
            "SM75_16x8x8_F16F16F16F16_TN",
            "SM80_16x8x8_F16F16F16F16_TN",
            "SM80_16x8x8_F32F16F16F32_TN",
            "SM80_16x8x8_F32BF16BF16F32_TN",
        ],
        a: (4, |l, i| {
            (if i < 2 { g(l) } else { g(l) + 8 }, t(l) * 2 + (i & 1))
        }),
        b: (2, |l, i| (g(l), t(l) * 2 + i)),
        c: (4, c16x8),
    },
    Ptx {
        names: &[
            "SM80_16x8x16_F16F16F16F16_TN",
            "SM80_16x8x16_F32F16F16F32_TN",
            "SM80_16x8x16_F32BF16BF16F32_TN",
        ],
        a: (8, |l, i| {
            let row = if matches!(i, 0 | 1 | 4 | 5) {
                g(l)
            } else {
                g(l) + 8
            };
            (row, t(l) * 2 + (i & 1) + if i >= 4 { 8 } else { 0 })
        }),
        b: (4, |l, i| {
            (g(l), t(l) * 2 + (i & 1) + if i >= 2 { 8 } else { 0 })
        }),
        c: (4, c16x8),
    },
    Ptx {
        names: &["SM80_16x8x4_F32TF32TF32F32_TN"],
        a: (2, |l, i| (g(l) + 8 * i, t(l))),
        b: (1, |l, _| (g(l), t(l))),
        c: (4, c16x8),
    },
    Ptx {
        names: &["SM80_16x8x8_F32TF32TF32F32_TN"],
        a: (4, |l, i| {
            (
                if i == 0 || i == 2 { g(l) } else { g(l) + 8 },
                if i < 2 { t(l) } else { t(l) + 4 },
            )
        }),
        b: (2, |l, i| (g(l), t(l) + 4 * i)),
        c: (4, c16x8),
    },
    Ptx {
        names: &["SM80_8x8x4_F64F64F64F64_TN"],
        a: (1, |l, _| (g(l), t(l))),
        b: (1, |l, _| (g(l), t(l))),
        c: (2, |l, i| (g(l), t(l) * 2 + i)),
    },
    Ptx {
        names: &[
            "SM80_16x8x32_S32S8S8S32_TN",
            "SM80_16x8x32_S32S8U8S32_TN",
            "SM80_16x8x32_S32U8S8S32_TN",
            "SM80_16x8x32_S32U8U8S32_TN",
            "SM89_16x8x32_F32E4M3E4M3F32_TN",
            "SM89_16x8x32_F32E4M3E5M2F32_TN",
            "SM89_16x8x32_F32E5M2E4M3F32_TN",
            "SM89_16x8x32_F32E5M2E5M2F32_TN",
            "SM89_16x8x32_F16E4M3E4M3F16_TN",
            "SM89_16x8x32_F16E4M3E5M2F16_TN",
            "SM89_16x8x32_F16E5M2E4M3F16_TN",
            "SM89_16x8x32_F16E5M2E5M2F16_TN",
        ],
        a: (16, |l, i| {
            let row = if i < 4 || (8..12).contains(&i) {
                g(l)
            } else {
                g(l) + 8
            };
            (row, t(l) * 4 + (i & 3) + if i >= 8 { 16 } else { 0 })
        }),
        b: (8, |l, i| {
            (g(l), t(l) * 4 + (i & 3) + if i >= 4 { 16 } else { 0 })
        }),
        c: (4, c16x8),
    },
    Ptx {
        names: &[
            "SM75_8x8x16_S32S8S8S32_TN",
            "SM80_8x8x16_S32S8S8S32_TN",
            "SM80_8x8x16_S32S8U8S32_TN",
            "SM80_8x8x16_S32U8S8S32_TN",
            "SM80_8x8x16_S32U8U8S32_TN",
        ],
        a: (4, |l, i| (g(l), t(l) * 4 + i)),
        b: (4, |l, i| (g(l), t(l) * 4 + i)),
        c: (2, |l, i| (g(l), t(l) * 2 + i)),
    },
    Ptx {
        names: &[
            "SM80_16x8x16_S32S8S8S32_TN",
            "SM80_16x8x16_S32S8U8S32_TN",
            "SM80_16x8x16_S32U8S8S32_TN",
            "SM80_16x8x16_S32U8U8S32_TN",
        ],
        a: (8, |l, i| {
            (if i < 4 { g(l) } else { g(l) + 8 }, t(l) * 4 + (i & 3))
        }),
        b: (4, |l, i| (g(l), t(l) * 4 + i)),
        c: (4, c16x8),
    },
    Ptx {
        names: &[
            "SM80_8x8x32_S32S4S4S32_TN",
            "SM80_8x8x32_S32S4U4S32_TN",
            "SM80_8x8x32_S32U4S4S32_TN",
            "SM80_8x8x32_S32U4U4S32_TN",
        ],
        a: (8, |l, i| (g(l), t(l) * 8 + i)),
        b: (8, |l, i| (g(l), t(l) * 8 + i)),
        c: (2, |l, i| (g(l), t(l) * 2 + i)),
    },
    Ptx {
        names: &[
            "SM80_16x8x32_S32S4S4S32_TN",
            "SM80_16x8x32_S32S4U4S32_TN",
            "SM80_16x8x32_S32U4S4S32_TN",
            "SM80_16x8x32_S32U4U4S32_TN",
        ],
        a: (16, |l, i| {
            (if i < 8 { g(l) } else { g(l) + 8 }, t(l) * 8 + (i & 7))
        }),
        b: (8, |l, i| (g(l), t(l) * 8 + i)),
        c: (4, c16x8),
    },
    Ptx {
        names: &[
            "SM80_16x8x64_S32S4S4S32_TN",
            "SM80_16x8x64_S32S4U4S32_TN",
            "SM80_16x8x64_S32U4S4S32_TN",
            "SM80_16x8x64_S32U4U4S32_TN",
        ],
        a: (32, |l, i| {
            let row = if i < 8 || (16..24).contains(&i) {
                g(l)
            } else {
                g(l) + 8
            };
            (row, t(l) * 8 + (i & 7) + if i >= 16 { 32 } else { 0 })
        }),
        b: (16, |l, i| {
            (g(l), t(l) * 8 + (i & 7) + if i >= 8 { 32 } else { 0 })
        }),
        c: (4, c16x8),
    },
    Ptx {
        names: &["SM90_16x8x4_F64F64F64F64_TN"],
        a: (2, |l, i| (g(l) + 8 * i, t(l))),
        b: (1, |l, _| (g(l), t(l))),
        c: (4, c16x8),
    },
    Ptx {
        names: &["SM90_16x8x8_F64F64F64F64_TN"],
        a: (4, |l, i| {
            let row = if i == 0 || i == 2 { g(l) } else { g(l) + 8 };
            (row, if i < 2 { t(l) } else { t(l) + 4 })
        }),
        b: (2, |l, i| (g(l), t(l) + 4 * i)),
        c: (4, c16x8),
    },
    Ptx {
        names: &["SM90_16x8x16_F64F64F64F64_TN"],
        a: (8, |l, i| {
            let row = if i % 2 == 0 { g(l) } else { g(l) + 8 };
            (row, t(l) + 4 * (i / 2))
        }),
        b: (4, |l, i| (g(l), t(l) + 4 * i)),
        c: (4, c16x8),
    },
    // m8n8k4 of Volta by quad pair: lanes 0..3 and 16..19 are threads 0..7 of the atom. T is by rows, N by columns, where
    // B's rows are K.
    Ptx {
        names: &["SM70_8x8x4_F32F16F16F32_NT"],
        a: (4, QUAD_PAIR_COLUMNS),
        b: (4, QUAD_PAIR_COLUMNS),
        c: (8, QUAD_PAIR_C32),
    },
    Ptx {
        names: &["SM70_8x8x4_F32F16F16F32_TN"],
        a: (4, QUAD_PAIR_ROWS),
        b: (4, QUAD_PAIR_ROWS),
        c: (8, QUAD_PAIR_C32),
    },
    Ptx {
        names: &["SM70_8x8x4_F32F16F16F32_NN"],
        a: (4, QUAD_PAIR_COLUMNS),
        b: (4, QUAD_PAIR_ROWS),
        c: (8, QUAD_PAIR_C32),
    },
    Ptx {
        names: &["SM70_8x8x4_F32F16F16F32_TT"],
        a: (4, QUAD_PAIR_ROWS),
        b: (4, QUAD_PAIR_COLUMNS),
        c: (8, QUAD_PAIR_C32),
    },
    Ptx {
        names: &["SM70_8x8x4_F16F16F16F16_NT"],
        a: (4, QUAD_PAIR_COLUMNS),
        b: (4, QUAD_PAIR_COLUMNS),
        c: (8, QUAD_PAIR_C16),
    },
    Ptx {
        names: &["SM70_8x8x4_F16F16F16F16_TN"],
        a: (4, QUAD_PAIR_ROWS),
        b: (4, QUAD_PAIR_ROWS),
        c: (8, QUAD_PAIR_C16),
    },
    Ptx {
        names: &["SM70_8x8x4_F16F16F16F16_NN"],
        a: (4, QUAD_PAIR_COLUMNS),
        b: (4, QUAD_PAIR_ROWS),
        c: (8, QUAD_PAIR_C16),
    },
    Ptx {
        names: &["SM70_8x8x4_F16F16F16F16_TT"],
        a: (4, QUAD_PAIR_ROWS),
        b: (4, QUAD_PAIR_COLUMNS),
        c: (8, QUAD_PAIR_C16),
    },
];

#[test]
fn every_atom_has_the_fragments_of_the_ptx_isa() {
    let mut seen = 0;
    for p in FRAGMENTS {
        for name in p.names {
            let atom = MmaAtom::named(name).expect(name);
            let [m, n, _] = atom.shape_mnk;
            let threads = atom.num_threads().expect("static");
            for (tv, rows, (values, formula)) in [
                (&atom.a_tv, m, p.a),
                (&atom.b_tv, n, p.b),
                (&atom.c_tv, m, p.c),
            ] {
                assert_eq!(tv.mode(1).and_then(|v| v.size()), Ok(values), "{name}");
                let f = flat(tv);
                for lane in 0..threads {
                    for i in 0..values {
                        let (row, col) = formula(lane, i);
                        assert_eq!(
                            f.at(lane + threads * i),
                            row + rows * col,
                            "{name} lane {lane} value {i}"
                        );
                    }
                }
            }
            seen += 1;
        }
    }
    // The others' stand in `atoms.rs`.
    let here = MmaAtom::names().filter(|name| {
        let atom = MmaAtom::named(name).expect(name);
        let other = matches!(
            atom.family,
            Family::Universal | Family::Sm120 | Family::Sm120BlockScaled
        );
        !other && atom.bit_op.is_none()
    });
    assert_eq!(seen, here.count(), "an atom has no formula here");
}

#[test]
fn fragments_cover_their_tiles_once() {
    for name in MmaAtom::names() {
        let atom = MmaAtom::named(name).expect(name);
        let [m, n, k] = atom.shape_mnk;
        for (tv, size) in [
            (&atom.a_tv, m * k),
            (&atom.b_tv, n * k),
            (&atom.c_tv, m * n),
        ] {
            let f = flat(tv);
            let mut all: Vec<i64> = (0..f.size()).map(|i| f.at(i)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..size).collect::<Vec<_>>(), "{name} {tv}");
        }
    }
}

fn mma_2x2x1() -> TiledMma {
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    TiledMma::new(
        atom,
        layout("(2,2,1)"),
        Tile::parse("[32:1;32:1;16:1]").expect("tile"),
    )
    .expect("tiled MMA")
}

/// Offsets of (thread, value index), values in the colexicographic order of `val`.
fn offsets(p: &Partition, threads: i64) -> Vec<Vec<i64>> {
    let (t, v) = (flat(&p.thr), flat(&p.val));
    (0..threads)
        .map(|x| (0..v.size()).map(|i| t.at(x) + v.at(i)).collect())
        .collect()
}

#[test]
fn partition_a_is_the_ptx_formula_at_the_warps_place() {
    let mma = mma_2x2x1();
    assert_eq!((mma.num_threads(), mma.tile_shape()), (128, [32, 32, 16]));
    let tensor = layout("(128,32):(32,1)");
    let p = mma.partition_a(&tensor).expect("partition");
    assert_eq!(p.val.shape().to_string(), "((2,2,2),4,2)");
    let all = offsets(&p, 128);
    for (thread, offs) in all.iter().enumerate() {
        let (warp, lane) = (thread as i64 / 32, thread as i64 % 32);
        for (at, off) in offs.iter().enumerate() {
            let (i, m, k) = (at as i64 % 8, at as i64 / 8 % 4, at as i64 / 32);
            let (row, col) = (FRAGMENTS[1].a.1)(lane, i);
            // Warps go down M first: warp 0 and 2 share rows 0..16 of each 32.
            let (row, col) = (row + 16 * (warp % 2) + 32 * m, col + 16 * k);
            assert_eq!(*off, row * 32 + col, "thread {thread} value {at}");
        }
    }
}

#[test]
fn partition_b_is_the_ptx_formula_at_the_warps_place() {
    let mma = mma_2x2x1();
    let p = mma
        .partition_b(&layout("(64,32):(32,1)"))
        .expect("partition");
    assert_eq!(p.val.shape().to_string(), "((2,2),4,2)");
    for (thread, offs) in offsets(&p, 128).iter().enumerate() {
        let (warp, lane) = (thread as i64 / 32, thread as i64 % 32);
        for (at, off) in offs.iter().enumerate() {
            let (i, n, k) = (at as i64 % 4, at as i64 / 4 % 4, at as i64 / 16);
            let (col, kk) = (FRAGMENTS[1].b.1)(lane, i);
            // Two warps along N take 16 of the 32 that one step covers; the step's other half is the next value.
            let n = col + 8 * (warp / 2) + 16 * (n % 2) + 32 * (n / 2);
            assert_eq!(*off, n * 32 + kk + 16 * k, "thread {thread} value {at}");
        }
    }
}

#[test]
fn partition_c_covers_the_tile_exactly_once() {
    for tile in [
        "[32:1;32:1;16:1]",
        "[_;_;_]",
        "[(16,2):(1,64);(8,4):(1,16);_]",
        "[(4,16):(1,8);32:1;16:1]",
    ] {
        let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
        let mma =
            TiledMma::new(atom, layout("(2,2,1)"), Tile::parse(tile).expect(tile)).expect(tile);
        let p = mma.partition_c(&layout("(128,128):(128,1)")).expect(tile);
        let mut all: Vec<i64> = offsets(&p, 128).concat();
        all.sort_unstable();
        assert_eq!(all, (0..128 * 128).collect::<Vec<_>>(), "{tile}");
    }
}

#[test]
fn a_permutation_that_is_not_contiguous_moves_the_atoms() {
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    let mma = TiledMma::new(
        atom,
        layout("(1,2,1)"),
        Tile::parse("[_;(8,2,2):(1,16,8);_]").expect("tile"),
    )
    .expect("mma");
    assert_eq!(mma.tile_shape(), [16, 32, 16]);
    let p = mma
        .partition_c(&layout("(16,32):(32,1)"))
        .expect("partition");
    // The tile's N index runs 8 contiguous, then +16, then +8: warp 1 starts at column 16.
    let t = flat(&p.thr);
    assert_eq!((t.at(0), t.at(32), t.at(4)), (0, 16, 32));
    let v = flat(&p.val);
    assert_eq!((v.at(0), v.at(1), v.at(4)), (0, 1, 8));
}

#[test]
fn trailing_modes_and_dynamic_strides_stay() {
    let mma = mma_2x2x1();
    let p = mma
        .partition_a(&layout("(128,32,3):(32,1,4096)"))
        .expect("stages");
    assert_eq!(p.val.shape().to_string(), "((2,2,2),4,2,3)");
    assert_eq!(p.val.mode(3).expect("stage"), layout("3:4096"));
    let p = mma
        .partition_a(&layout("(128,32,?):(?{i64},1,32)"))
        .expect("dynamic");
    assert_eq!(p.val.mode(3).expect("k tiles"), layout("?:32"));
    assert_eq!(p.val.mode(0).and_then(|m| m.size()), Ok(8));
}

#[test]
fn fragments_are_compact() {
    let mma = mma_2x2x1();
    let a = mma.partition_a(&layout("(128,32):(32,1)")).expect("a");
    let fa = mma.fragment_a(&a.val).expect("fragment");
    assert_eq!(fa.to_string(), "((2,2,2),4,2):((1,2,4),16,8)");
    let c = mma.partition_c(&layout("(128,128):(128,1)")).expect("c");
    let fc = mma.fragment_c(&c.val).expect("fragment");
    assert_eq!(fc.shape(), c.val.shape());
    assert_eq!((fc.size(), fc.cosize()), (Ok(128), Ok(128)));
    assert_eq!(fc, Layout::col_major(c.val.shape()).expect("col-major"));
    assert!(
        mma.fragment_a(&c.val).is_err(),
        "4 values are no A fragment"
    );
}

#[test]
fn layouts_tv_agree_with_the_partition_of_the_tile() {
    let mma = mma_2x2x1();
    for (tv, p) in [
        (mma.layout_a_tv(), mma.partition_a(&layout("(32,16)"))),
        (mma.layout_b_tv(), mma.partition_b(&layout("(32,16)"))),
        (mma.layout_c_tv(), mma.partition_c(&layout("(32,32)"))),
    ] {
        let (tv, p) = (flat(&tv.expect("tv")), p.expect("partition"));
        for (t, offs) in offsets(&p, 128).iter().enumerate() {
            for (v, off) in offs.iter().enumerate() {
                assert_eq!(tv.at(t as i64 + 128 * v as i64), *off);
            }
        }
    }
}

/// Worked example: SM70 8x8x4 tiled 2x2 by quad pairs is 16x16x4 in one warp.
#[test]
fn sm70_quad_pairs_fill_a_warp() {
    let atom = MmaAtom::named("SM70_8x8x4_F32F16F16F32_NT").expect("atom");
    assert_eq!(atom.thr_id.to_string(), "(4,2):(1,16)");
    assert_eq!(atom.a_tv.to_string(), "((4,2),4):((8,4),1)");
    assert_eq!(
        atom.c_tv.to_string(),
        "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"
    );
    let mma = TiledMma::new(atom.clone(), layout("(2,2):(2,1)"), Tile::Underscore).expect("tiled");
    assert_eq!((mma.num_threads(), mma.tile_shape()), (32, [16, 16, 4]));
    for perm in ["[_;_;_]", "[32:1;32:1;4:1]", "[(4,4,2):(1,8,4);32:1;4:1]"] {
        let mma = TiledMma::new(
            atom.clone(),
            layout("(2,2):(2,1)"),
            Tile::parse(perm).expect(perm),
        )
        .expect(perm);
        let p = mma.partition_c(&layout("(64,96)")).expect(perm);
        let mut seen = HashMap::new();
        for (t, offs) in offsets(&p, 32).iter().enumerate() {
            for o in offs {
                assert_eq!(seen.insert(*o, t), None, "{perm}: offset {o} twice");
            }
        }
        assert_eq!(seen.len(), 64 * 96);
    }
}

#[test]
fn errors_name_the_cure() {
    let mma = mma_2x2x1();
    let e = mma
        .partition_a(&layout("(100,32):(32,1)"))
        .expect_err("100 is no multiple of 32")
        .to_string();
    assert!(
        e.contains("multiple of 32") && e.contains("pad the tensor to 128"),
        "{e}"
    );
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    let e = TiledMma::new(
        atom.clone(),
        layout("(2,2,1)"),
        Tile::parse("[24:1;_;_]").expect("tile"),
    );
    assert!(e.expect_err("24").to_string().contains("use 32:1"));
    assert!(TiledMma::new(atom, layout("(2,2,1,1)"), Tile::Underscore).is_err());
    assert!(mma.partition_a(&layout("128:1")).is_err());
    assert!(
        MmaAtom::named("SM80_nothing")
            .expect_err("no atom")
            .to_string()
            .contains("SM80_16x8x16")
    );
}

/// Worked example: the mainloop's tiles, 64x16 padded and 96x16 in three banks of columns, with three generations of atoms.
#[test]
fn the_tiles_of_a_mainloop() {
    for (name, warps) in [
        ("SM70_8x8x4_F32F16F16F32_NT", "(4,4,1)"),
        ("SM75_16x8x8_F32F16F16F32_TN", "(2,2,1)"),
        ("SM80_16x8x16_F32F16F16F32_TN", "(2,2,1)"),
    ] {
        let mma = TiledMma::new(
            MmaAtom::named(name).expect(name),
            layout(warps),
            Tile::Underscore,
        )
        .expect(name);
        let threads = mma.num_threads();
        let (a, b, c) = (
            layout("(64,16):(17,1)"),
            layout("((32,3),16):((1,512),32)"),
            layout("(64,96):(96,1)"),
        );
        let sorted = |p: &Partition| {
            let mut all = offsets(p, threads).concat();
            all.sort_unstable();
            all.dedup();
            all
        };
        for (tensor, p, fragment) in [
            (
                &a,
                mma.partition_a(&a),
                TiledMma::fragment_a as fn(&TiledMma, &Layout) -> _,
            ),
            (&b, mma.partition_b(&b), TiledMma::fragment_b),
            (&c, mma.partition_c(&c), TiledMma::fragment_c),
        ] {
            let p = p.expect(name);
            assert_eq!(p.val.rank(), 3, "{name}: (V,rest,rest)");
            let f = flat(tensor);
            let mut expected: Vec<i64> = (0..f.size()).map(|i| f.at(i)).collect();
            expected.sort_unstable();
            assert_eq!(sorted(&p), expected, "{name} {tensor}");
            let frag = fragment(&mma, &p.val).expect(name);
            assert_eq!(
                (frag.shape(), frag.size()),
                (p.val.shape(), frag.cosize()),
                "{name}: compact"
            );
        }
        let values = |p: cute_layout::Result<Partition>| p.and_then(|p| p.val.size()).expect(name);
        assert_eq!(values(mma.partition_c(&c)) * threads, 64 * 96, "{name}");
    }
}
