//! Tiled copies against the PTX ISA's ldmatrix and the worked examples.

use cute_layout::{CopyAtom, FlatLayout, Layout, MmaAtom, Tile, TiledCopy, TiledMma};

fn layout(text: &str) -> Layout {
    Layout::parse(text).expect(text)
}

fn flat(l: &Layout) -> FlatLayout {
    l.flat().expect("static")
}

#[test]
fn a_universal_copy_of_half_as_worked_out() {
    let atom = CopyAtom::universal(16, 16).expect("atom");
    let c = TiledCopy::make_tiled_copy(atom.clone(), &layout("(16,8):(8,1)"), &layout("(1,4)"))
        .expect("copy");
    assert_eq!(c.tiler_mn().to_string(), "[16:1;32:1]");
    assert_eq!(c.layout_tv().to_string(), "((8,16),4):((64,1),16)");
    assert_eq!((c.num_threads(), c.num_values()), (128, 4));
    let tv = flat(c.layout_tv());
    assert_eq!(tv.at(9 + 128 * 2), 97);
    assert_eq!(
        layout("(16,32)")
            .idx2crd(97)
            .expect("coordinate")
            .to_string(),
        "(1,6)"
    );
    let owned: Vec<_> = (0..4)
        .map(|v| tv.at(9 + 128 * v))
        .map(|i| (i % 16, i / 16))
        .collect();
    assert_eq!(owned, [(1, 4), (1, 5), (1, 6), (1, 7)]);

    // Column-major data: the transposed form; thread 9 owns column 1, rows 4..7.
    let t =
        TiledCopy::make_tiled_copy(atom, &layout("(8,16):(1,8)"), &layout("(4,1)")).expect("copy");
    assert_eq!(t.tiler_mn().to_string(), "[32:1;16:1]");
    let tv = flat(t.layout_tv());
    let owned: Vec<_> = (0..4)
        .map(|v| tv.at(9 + 128 * v))
        .map(|i| (i % 32, i / 32))
        .collect();
    assert_eq!(owned, [(4, 1), (5, 1), (6, 1), (7, 1)]);
}

#[test]
fn cp_async_of_16_bytes_wants_eight_halves() {
    for (val, tiler) in [
        ("(1,8)", "[16:1;64:1]"),
        ("(2,4)", "[32:1;32:1]"),
        ("(1,16)", "[16:1;128:1]"),
    ] {
        let atom = CopyAtom::cp_async(16, 16).expect("atom");
        assert_eq!(atom.num_val, 8);
        let c = TiledCopy::make_tiled_copy(atom, &layout("(16,8):(8,1)"), &layout(val)).expect(val);
        assert_eq!(c.tiler_mn().to_string(), tiler);
    }
    let atom = CopyAtom::cp_async(16, 16).expect("atom");
    let e = TiledCopy::make_tiled_copy(atom, &layout("(16,8):(8,1)"), &layout("(1,4)"))
        .expect_err("4 halves");
    assert!(e.to_string().contains("value layout of 8 elements"), "{e}");
}

#[test]
fn partition_of_a_gmem_tile_covers_it_once_in_vectors() {
    let atom = CopyAtom::cp_async(16, 16).expect("atom");
    let c =
        TiledCopy::make_tiled_copy(atom, &layout("(32,4):(4,1)"), &layout("(1,8)")).expect("copy");
    let tensor = layout("(128,32,4):(4096,1,32)");
    let p = c.partition_s(&tensor).expect("partition");
    assert_eq!(p.val.shape().to_string(), "((8,1),4,1,4)");
    let (t, v) = (flat(&p.thr), flat(&p.val));
    let mut seen = std::collections::HashSet::new();
    for thread in 0..128 {
        for i in 0..v.size() {
            let off = t.at(thread) + v.at(i);
            // Row thread/4 of each 32, eight halves from 8 * (thread % 4).
            let (e, m, k) = (i % 8, i / 8 % 4, i / 32);
            assert_eq!(
                off,
                (thread / 4 + 32 * m) * 4096 + 8 * (thread % 4) + e + 32 * k
            );
            assert!(seen.insert(off));
        }
    }
    assert_eq!(seen.len(), 128 * 32 * 4);
    let dynamic = c
        .partition_s(&layout("(128,32,?):(?{i64 div=8},1,32)"))
        .expect("dynamic");
    assert_eq!(dynamic.val.rank(), 4);
    let vector = dynamic
        .val
        .mode(0)
        .and_then(|m| m.coalesce())
        .expect("vector");
    assert_eq!(vector, layout("8:1"));
}

/// PTX ISA, ldmatrix: row r of matrix x comes from lane 8x + r; lane l of the destination gets row l / 4, the elements
/// 2 (l % 4) and 2 (l % 4) + 1; transposed, the roles of row and column change.
#[test]
fn ldmatrix_bits_are_those_of_the_ptx_isa() {
    for (num, trans) in [
        (1, false),
        (2, false),
        (4, false),
        (1, true),
        (2, true),
        (4, true),
    ] {
        let atom = CopyAtom::ldmatrix(num, trans, 16).expect("atom");
        let (src, dst) = (
            flat(&atom.src_tv().expect("src")),
            flat(&atom.dst_tv().expect("dst")),
        );
        assert_eq!(
            (atom.num_val, atom.num_val_src(), atom.num_val_dst()),
            (2 * num, Ok(8), Ok(2 * num))
        );
        // Source: lane 8x + r holds row r of matrix x; element (x, r, c) has index 64x + 8r + c.
        for lane in 0..8 * num {
            for e in 0..8 {
                assert_eq!(src.at(lane + 32 * e), 8 * lane + e, "x{num} trans {trans}");
            }
        }
        for lane in 0..32 {
            for x in 0..num {
                for i in 0..2 {
                    let (a, b) = (lane / 4, 2 * (lane % 4) + i);
                    let (row, col) = if trans { (b, a) } else { (a, b) };
                    assert_eq!(
                        dst.at(lane + 32 * (2 * x + i)),
                        64 * x + 8 * row + col,
                        "x{num} trans {trans}"
                    );
                }
            }
        }
    }
    assert!(CopyAtom::ldmatrix(3, false, 16).is_err());
    assert!(
        CopyAtom::ldmatrix(4, true, 32).is_err(),
        "transposing 32-bit elements would tear them"
    );
    assert_eq!(
        CopyAtom::ldmatrix(4, false, 32).expect("x4 of f32").num_val,
        4
    );
}

#[test]
fn every_name_makes_its_atom() {
    for name in CopyAtom::names() {
        let bits = if name.ends_with("<8>") { 8 } else { 16 };
        assert_eq!(CopyAtom::named(name, bits).expect(name).name, name);
    }
    assert!(CopyAtom::named("nothing", 16).is_err());
    assert!(CopyAtom::universal(8, 16).is_err(), "half an element");
}

struct Case {
    perm: &'static str,
    warps: &'static str,
    m: i64,
    n: i64,
    k: i64,
}

const CASES: &[Case] = &[
    Case {
        perm: "[32:1;32:1;16:1]",
        warps: "(2,2,1)",
        m: 128,
        n: 128,
        k: 32,
    },
    Case {
        perm: "[64:1;32:1;16:1]",
        warps: "(4,1,1)",
        m: 128,
        n: 64,
        k: 64,
    },
    Case {
        perm: "[_;(8,2,2):(1,16,8);_]",
        warps: "(2,2,1):(2,1,0)",
        m: 64,
        n: 64,
        k: 32,
    },
    Case {
        perm: "[(16,2):(1,16);32:1;32:1]",
        warps: "(2,2,1)",
        m: 64,
        n: 64,
        k: 64,
    },
    Case {
        perm: "[_;16:1;_]",
        warps: "(1,1,1)",
        m: 16,
        n: 32,
        k: 16,
    },
];

fn tiled(case: &Case) -> TiledMma {
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    TiledMma::new(
        atom,
        layout(case.warps),
        Tile::parse(case.perm).expect(case.perm),
    )
    .expect(case.perm)
}

/// Checks, for each thread and destination value, that the element that the copy brings to a register is the MMA's there.
fn registers_agree(
    c: &TiledCopy,
    tensor: &Layout,
    mma_thr: &Layout,
    mma_val: &Layout,
    fragment: &Layout,
) {
    let dst = c.partition_d(tensor).expect("partition_d");
    let view = c.retile(fragment).expect("retile");
    let (dt, dv, view) = (flat(&dst.thr), flat(&dst.val), flat(&view));
    let (mt, mv, fr) = (flat(mma_thr), flat(mma_val), flat(fragment));
    assert_eq!(dv.size(), view.size());
    assert_eq!(mv.size(), fr.size());
    let mut at_register = vec![None; fr.size() as usize];
    for i in 0..fr.size() {
        at_register[fr.at(i) as usize] = Some(mv.at(i));
    }
    for thread in 0..c.num_threads() {
        for i in 0..dv.size() {
            let register = view.at(i) as usize;
            let value = at_register[register].expect("a register of the fragment");
            assert_eq!(
                dt.at(thread) + dv.at(i),
                mt.at(thread) + value,
                "thread {thread} value {i}"
            );
        }
    }
}

#[test]
fn ldmatrix_fills_the_fragments_of_the_mma() {
    for case in CASES {
        let mma = tiled(case);
        for (num, trans) in [(4, false), (2, false), (1, false)] {
            let atom = CopyAtom::ldmatrix(num, trans, 16).expect("ldmatrix");
            for tensor in [
                format!("({},{}):({},1)", case.m, case.k, case.k),
                format!("({},{})", case.m, case.k),
            ] {
                let tensor = layout(&tensor);
                let p = mma.partition_a(&tensor).expect("partition");
                let f = mma.fragment_a(&p.val).expect("fragment");
                let c = TiledCopy::make_tiled_copy_a(atom.clone(), &mma).expect("copy");
                registers_agree(&c, &tensor, &p.thr, &p.val, &f);
            }
            let tensor = layout(&format!("({},{}):({},1)", case.n, case.k, case.k));
            let p = mma.partition_b(&tensor).expect("partition");
            let f = mma.fragment_b(&p.val).expect("fragment");
            let c = match TiledCopy::make_tiled_copy_b(atom.clone(), &mma) {
                Ok(c) => c,
                Err(e) => {
                    // One step of B may hold fewer values than x4 moves.
                    assert!(
                        num == 4 && e.to_string().contains("values a thread"),
                        "{} x{num}: {e}",
                        case.perm
                    );
                    continue;
                }
            };
            registers_agree(&c, &tensor, &p.thr, &p.val, &f);
        }
    }
}

#[test]
fn ldmatrix_reads_whole_rows_of_sixteen_bytes() {
    let mma = tiled(&CASES[0]);
    let c = TiledCopy::make_tiled_copy_a(CopyAtom::ldmatrix(4, false, 16).expect("atom"), &mma)
        .expect("copy");
    let p = c
        .partition_s(&layout("(128,32):(32,1)"))
        .expect("partition");
    let (t, v) = (flat(&p.thr), flat(&p.val));
    for thread in 0..128 {
        for e in 0..8 {
            // Lane l of a warp gives row l % 16 and the k half l / 16 of its 16x16 tile.
            let (warp, lane) = (thread / 32, thread % 32);
            let expected = (lane % 16 + 16 * (warp % 2)) * 32 + 8 * (lane / 16) + e;
            assert_eq!(t.at(thread) + v.at(e), expected, "thread {thread}");
        }
    }
}

#[test]
fn transposed_ldmatrix_reads_n_major_b() {
    // B (N,K) with N contiguous: each 16-byte row runs along N, and the transposed load turns it.
    let mma = tiled(&CASES[0]);
    let c = TiledCopy::make_tiled_copy_b(CopyAtom::ldmatrix(4, true, 16).expect("atom"), &mma)
        .expect("copy");
    let tensor = layout("(64,32):(1,64)");
    let p = mma.partition_b(&tensor).expect("partition");
    registers_agree(
        &c,
        &tensor,
        &p.thr,
        &p.val,
        &mma.fragment_b(&p.val).expect("fragment"),
    );
    let s = c.partition_s(&tensor).expect("partition");
    let (t, v) = (flat(&s.thr), flat(&s.val));
    for thread in 0..128 {
        let base = t.at(thread) + v.at(0);
        assert!(
            (1..8).all(|e| t.at(thread) + v.at(e) == base + e),
            "16 bytes in a row"
        );
    }
}

#[test]
fn accumulators_leave_through_a_tiled_copy() {
    for case in CASES {
        let mma = tiled(case);
        let tensor = layout(&format!("({},{}):({},1)", case.m, case.n, case.n));
        let p = mma.partition_c(&tensor).expect("partition");
        let f = mma.fragment_c(&p.val).expect("fragment");
        let c = TiledCopy::make_tiled_copy_c(CopyAtom::universal(64, 32).expect("atom"), &mma)
            .expect("copy");
        registers_agree(&c, &tensor, &p.thr, &p.val, &f);
    }
}

#[test]
fn errors_name_the_cure() {
    let c = TiledCopy::make_tiled_copy(
        CopyAtom::universal(16, 16).expect("atom"),
        &layout("(16,8):(8,1)"),
        &layout("(1,4)"),
    )
    .expect("copy");
    let e = c
        .partition_s(&layout("(24,32):(32,1)"))
        .expect_err("24 is no multiple of 16")
        .to_string();
    assert!(
        e.contains("multiple of 16") && e.contains("pad the tensor to 32"),
        "{e}"
    );
    let ldsm = CopyAtom::ldmatrix(4, false, 16).expect("atom");
    assert!(
        TiledCopy::new(
            ldsm.clone(),
            layout("(16,8):(1,16)"),
            Tile::parse("[16:1;8:1]").expect("tile")
        )
        .is_err()
    );
    assert!(
        TiledCopy::new(
            ldsm,
            layout("(32,8):(1,32)"),
            Tile::parse("[16:1;8:1]").expect("tile")
        )
        .is_err()
    );
    assert!(c.retile(&layout("(4,1)")).is_err());
}

/// Bytes of the 128-byte lines that one warp touches when each thread moves its first vector.
fn lines_of_a_warp(thr: &str, row_bytes: i64) -> (usize, i64) {
    let atom = CopyAtom::cp_async(16, 16).expect("atom");
    let c = TiledCopy::make_tiled_copy(atom, &layout(thr), &layout("(1,8)")).expect(thr);
    let tile: Vec<i64> = c.tiler_mn().modes().iter().filter_map(Tile::size).collect();
    let tensor = layout(&format!("({},{}):({},1)", tile[0], tile[1], row_bytes / 2));
    let p = c.partition_s(&tensor).expect("partition");
    let (t, v) = (flat(&p.thr), flat(&p.val));
    let mut bytes: Vec<i64> = (0..32)
        .flat_map(|l| (0..8).map(move |e| (l, e)))
        .map(|(l, e)| 2 * (t.at(l) + v.at(e)))
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    let lines: std::collections::HashSet<i64> = bytes.iter().map(|b| b / 128).collect();
    (lines.len(), bytes.len() as i64 * 2)
}

#[test]
fn lines_that_a_warp_reads() {
    assert_eq!(
        lines_of_a_warp("(16,8):(8,1)", 8192),
        (4, 512),
        "four whole lines"
    );
    assert_eq!(
        lines_of_a_warp("(32,4):(4,1)", 8192),
        (8, 512),
        "half of each line"
    );
}

#[test]
fn vectors_must_lie_alike_on_both_sides() {
    let copy = |thr: &str, val: &str| {
        let atom = CopyAtom::cp_async(16, 16).expect("atom");
        TiledCopy::make_tiled_copy(atom, &layout(thr), &layout(val)).expect(val)
    };
    let check = |c: &TiledCopy, s: &str, d: &str| {
        let (s, d) = (
            c.partition_s(&layout(s)).expect(s),
            c.partition_d(&layout(d)).expect(d),
        );
        c.check_vectors(&s.val, &d.val).map_err(|e| e.to_string())
    };
    let row = copy("(16,8):(8,1)", "(1,8)");
    assert_eq!(check(&row, "(16,64):(4096,1)", "(16,64):(64,1)"), Ok(()));
    let e = check(&row, "(16,64):(1,16)", "(16,64):(64,1)").expect_err("a column-major tile");
    assert!(
        e.contains("consecutive in memory") && e.contains("transposed"),
        "{e}"
    );
    let column = copy("(8,16):(1,8)", "(8,1)");
    assert_eq!(check(&column, "(64,16):(1,64)", "(64,16):(1,64)"), Ok(()));

    let block = copy("(16,8):(8,1)", "(2,4)");
    let (down, across) = (
        "((2,16),(4,8)):((1,64),(2,8))",
        "((2,16),(4,8)):((4,64),(1,8))",
    );
    assert_eq!(check(&block, down, down), Ok(()));
    assert_eq!(check(&block, across, across), Ok(()));
    let e = check(&block, down, across).expect_err("a mixed pair would permute the data");
    assert!(e.contains("one order"), "{e}");

    let ldsm = CopyAtom::ldmatrix(4, false, 16).expect("atom");
    let mma = tiled(&CASES[0]);
    let c = TiledCopy::make_tiled_copy_a(ldsm, &mma).expect("copy");
    assert_eq!(check(&c, "(32,16):(16,1)", "(32,16):(16,1)"), Ok(()));
    assert!(
        check(&c, "(32,16):(1,32)", "(32,16):(16,1)").is_err(),
        "M-major A needs the transposed load"
    );
}
