//! The worked examples of thread-value layouts and tiled copies, one test each.

use cute_layout::{
    CopyAtom, IntTuple, Kind, Layout, Leaf, MmaAtom, Operand, Residue, Side, Tile, TiledCopy,
    TiledMma, int,
};

fn layout(text: &str) -> Layout {
    Layout::parse(text).expect(text)
}

fn coord(text: &str) -> IntTuple {
    IntTuple::parse(text, Kind::Coord).expect(text)
}

fn copy(atom: CopyAtom, thr: &str, val: &str) -> TiledCopy {
    TiledCopy::make_tiled_copy(atom, &layout(thr), &layout(val)).expect(thr)
}

fn half(bits: i64) -> CopyAtom {
    CopyAtom::universal(bits, 16).expect("atom")
}

fn async16() -> CopyAtom {
    CopyAtom::cp_async(16, 16).expect("atom")
}

fn sm70() -> MmaAtom {
    MmaAtom::named("SM70_8x8x4_F32F16F16F32_NT").expect("atom")
}

/// (row, column) of an element of a tile of `rows` rows.
fn place(index: i64, rows: i64) -> (i64, i64) {
    (index % rows, index / rows)
}

/// The thread and value of each element of an (M,N) tile; the first, where several have it.
fn holders(tv: &Layout, elements: i64) -> Vec<Option<(i64, i64)>> {
    let (threads, flat) = (
        tv.mode(0).and_then(|m| m.size()).expect("static"),
        tv.flat().expect("static"),
    );
    let mut out = vec![None; elements as usize];
    for i in (0..flat.size()).rev() {
        out[flat.at(i) as usize] = Some((i % threads, i / threads));
    }
    out
}

#[test]
fn tv_of_a_4x6_tile_is_a_thread_layout_and_a_value_layout() {
    let tv = layout("((2,2),(2,3)):((2,12),(1,4))");
    assert_eq!(tv.mode(0), Ok(layout("(2,2):(2,12)")));
    assert_eq!(tv.mode(1), Ok(layout("(2,3):(1,4)")));
    // Each element is held once.
    assert!(holders(&tv, 24).iter().all(Option::is_some));
}

#[test]
fn tv_of_a_4x8_tile_partitions_by_composition() {
    let (data, tv) = (
        layout("(4,8):(8,1)"),
        layout("((2,4),(2,2)):((8,1),(4,16))"),
    );
    let parts = data.composition(&tv).expect("composition");
    let flat = tv.flat().expect("static");
    for thread in 0..8 {
        let (part, offset) = parts
            .slice(&coord(&format!("({thread},_)")))
            .expect("a thread");
        for v in 0..4 {
            let (m, n) = place(flat.at(thread + 8 * v), 4);
            assert_eq!(offset + part.at(v), 8 * m + n);
        }
    }
}

#[test]
fn tv_of_sm70_nt_is_a_quad_pair() {
    let a = sm70();
    assert_eq!(a.shape_mnk, [8, 8, 4]);
    assert_eq!(a.thr_id.to_string(), "(4,2):(1,16)");
    assert_eq!(a.a_tv.to_string(), "((4,2),4):((8,4),1)");
    assert_eq!(a.b_tv.to_string(), "((4,2),4):((8,4),1)");
    assert_eq!(a.c_tv.to_string(), "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))");
    assert_eq!(a.num_threads(), Ok(8));
}

#[test]
fn tv_of_2x2_quad_pairs_is_16x16x4_in_a_warp() {
    let mma = TiledMma::new(sm70(), layout("(2,2):(2,1)"), Tile::Underscore).expect("tiled");
    assert_eq!((mma.tile_shape(), mma.num_threads()), ([16, 16, 4], 32));
    // Both ways: (thread,value) to the coordinate, and back, of all of C.
    let tv = mma.layout_c_tv().expect("C");
    let held = holders(&tv, 256);
    let threads = tv.mode(0).and_then(|m| m.size()).expect("static");
    for (i, h) in held.iter().enumerate() {
        let (t, v) = h.expect("every element is held");
        assert_eq!(tv.at(t + threads * v), i as i64);
    }
    // Of the four quad pairs the second along N is threads 4-7 and 20-23, the second along M 8-11 and 24-27.
    let at = |m: i64, n: i64| held[(m + 16 * n) as usize].expect("held").0;
    assert_eq!(
        [at(0, 0), at(0, 8), at(8, 0), at(8, 8), at(4, 0)],
        [0, 4, 8, 12, 16]
    );
}

#[test]
fn tv_of_2x2_quad_pairs_interleaves_with_a_permutation() {
    let perm =
        |p: &str| TiledMma::new(sm70(), layout("(2,2):(2,1)"), Tile::parse(p).expect(p)).expect(p);
    let rows = |m: &TiledMma, thread: i64| -> Vec<i64> {
        let tv = m.layout_a_tv().expect("A");
        let (threads, values) = (
            tv.mode(0).and_then(|m| m.size()).expect("static"),
            tv.mode(1).and_then(|m| m.size()).expect("static"),
        );
        (0..values)
            .map(|v| tv.at(thread + threads * v) % 32)
            .collect()
    };
    let (plain, moved) = (
        perm("[32:1;32:1;4:1]"),
        perm("[(4,4,2):(1,8,4);(4,4,2):(1,8,4);_]"),
    );
    assert_eq!(rows(&plain, 0), [0, 1, 2, 3, 16, 17, 18, 19]);
    assert_eq!(rows(&moved, 0), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(rows(&moved, 16), [8, 9, 10, 11, 12, 13, 14, 15]);
}

#[test]
fn tiled_copy_of_single_halves() {
    let c = copy(half(16), "(16,8):(8,1)", "(1,4)");
    assert_eq!(c.tiler_mn().to_string(), "[16:1;32:1]");
    assert_eq!(c.layout_tv().to_string(), "((8,16),4):((64,1),16)");
    assert_eq!(c.tile_shape().expect("known").to_string(), "(16,32)");
    // Thread 9, value (0,2): offset 97, row 1, column 6. Thread 9 owns row 1, columns 4 to 7.
    let tv = c.layout_tv();
    assert_eq!(tv.eval(&coord("(9,2)")), Ok(int(97)));
    assert_eq!(place(97, 16), (1, 6));
    let owned: Vec<_> = (0..4).map(|v| place(tv.at(9 + 128 * v), 16)).collect();
    assert_eq!(owned, [(1, 4), (1, 5), (1, 6), (1, 7)]);
    // The same as a slice of coordinates.
    let tile = Layout::identity(&coord("(16,32)")).expect("identity");
    let part = c
        .get_slice(&Leaf::Static(9))
        .and_then(|t| t.partition_s(&tile, Residue::Refuse))
        .expect("a part");
    assert_eq!(part.offset.to_string(), "(1,4)");
    assert_eq!(
        part.layout.mode(0).and_then(|m| m.mode(1)),
        Ok(layout("4:1@1"))
    );
}

#[test]
fn tiled_copy_of_column_major_data_is_transposed() {
    let c = copy(half(64), "(8,16):(1,8)", "(4,1)");
    assert_eq!(c.tiler_mn().to_string(), "[32:1;16:1]");
    let p = c
        .partition_s(&layout("(32,16):(1,32)"))
        .expect("a partition");
    assert!(c.check_vectors(&p.val, &p.val).is_ok());
}

#[test]
fn tiled_copy_by_cp_async_needs_eight_halves() {
    for (val, tiler) in [
        ("(1,8)", "[16:1;64:1]"),
        ("(2,4)", "[32:1;32:1]"),
        ("(1,16)", "[16:1;128:1]"),
    ] {
        assert_eq!(
            copy(async16(), "(16,8):(8,1)", val).tiler_mn().to_string(),
            tiler
        );
    }
    let e = TiledCopy::make_tiled_copy(async16(), &layout("(16,8):(8,1)"), &layout("(1,4)"));
    let e = e.expect_err("4 halves").to_string();
    assert!(
        e.contains("multiples of the 8") && e.contains("found 4"),
        "{e}"
    );
}

/// 128-byte lines that a warp touches with its first vector, in row-major halves.
fn lines(thr: &str) -> usize {
    let c = copy(async16(), thr, "(1,8)");
    let shape = c.tile_shape().expect("known");
    let columns = shape.get(1).and_then(IntTuple::as_static).expect("known");
    let tensor = layout(&format!("{shape}:({columns},1)"));
    let p = c
        .partition(Side::Source, &tensor, Residue::Refuse)
        .expect("a partition");
    let bytes = (0..32).flat_map(|t| (0..8).map(move |v| (t, v)));
    let touched: std::collections::BTreeSet<i64> = bytes
        .map(|(t, v)| 2 * (p.thr.at(t) + p.val.at(v)) / 128)
        .collect();
    // Eight threads of 16 bytes fill a line, or four half of one.
    touched.len()
}

#[test]
fn tiled_copy_of_64_columns_reads_whole_lines() {
    assert_eq!(lines("(16,8):(8,1)"), 4);
    // Rows of 64 bytes in a tile by itself: two share a line. In a tensor of longer rows each is half a line.
    let c = copy(async16(), "(32,4):(4,1)", "(1,8)");
    let p = c
        .partition_s(&layout("(32,32):(4096,1)"))
        .expect("a partition");
    let halves: std::collections::BTreeSet<i64> = (0..32).map(|t| 2 * p.thr.at(t) / 128).collect();
    assert_eq!(halves.len(), 8);
}

#[test]
fn tiled_copy_values_are_contiguous_and_in_one_order() {
    let check = |thr: &str, val: &str, s: &str, d: &str| {
        let c = copy(async16(), thr, val);
        let part = |t: &str| c.partition_s(&layout(t)).expect(t).val;
        c.check_vectors(&part(s), &part(d))
    };
    let (row, column) = ("(16,64):(64,1)", "(16,64):(1,16)");
    assert!(check("(16,8):(8,1)", "(1,8)", row, row).is_ok());
    let e = check("(16,8):(8,1)", "(1,8)", column, row)
        .expect_err("column-major")
        .to_string();
    assert!(e.contains("transposed"), "{e}");
    assert!(
        check(
            "(16,8):(1,16)",
            "(8,1)",
            "(128,8):(1,128)",
            "(128,8):(1,128)"
        )
        .is_ok()
    );
    // (2,4) values as strides (1,2) or (4,1), the same on both sides.
    let (a, b) = (
        "((2,16),(4,8)):((1,8),(2,128))",
        "((2,16),(4,8)):((4,8),(1,128))",
    );
    assert!(check("(16,8):(8,1)", "(2,4)", a, a).is_ok());
    assert!(check("(16,8):(8,1)", "(2,4)", b, b).is_ok());
    let e = check("(16,8):(8,1)", "(2,4)", a, b)
        .expect_err("mixed")
        .to_string();
    assert!(e.contains("one order"), "{e}");
}

#[test]
fn a_mainloops_partitions_and_fragments() {
    for (name, warps, k) in [
        ("SM70_8x8x4_F16F16F16F16_TN", "(2,2,1)", 4),
        ("SM75_16x8x8_F32F16F16F32_TN", "(2,2,1)", 2),
        ("SM80_16x8x16_F16F16F16F16_TN", "(2,2,1)", 1),
    ] {
        let mma = TiledMma::new(
            MmaAtom::named(name).expect(name),
            layout(warps),
            Tile::Underscore,
        )
        .expect(name);
        let [m, n, _] = mma.tile_shape();
        let extents = |o, tensor: &str| {
            let part = mma
                .partition(o, &layout(tensor), Residue::Refuse)
                .expect(tensor);
            let fragment = mma
                .partition_fragment(o, &layout(tensor), Residue::Refuse)
                .expect(tensor);
            assert_eq!(fragment.shape(), part.val.shape());
            assert_eq!(fragment.cosize(), fragment.size(), "compact");
            let size = |i| part.val.mode(i).and_then(|m| m.size()).expect("static");
            (size(1), size(2))
        };
        assert_eq!(extents(Operand::A, "(64,16):(17,1)"), (64 / m, k), "{name}");
        assert_eq!(
            extents(Operand::B, "((32,3),16):((1,512),32)"),
            (96 / n, k),
            "{name}"
        );
        assert_eq!(
            extents(Operand::C, "(64,96):(96,1)"),
            (64 / m, 96 / n),
            "{name}"
        );
    }
}
