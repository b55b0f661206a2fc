//! Parts of tensors that are dynamic, ragged, or coordinates; and what is refused.

use cute_layout::ops::Value;
use cute_layout::{
    AnyLayout, ComposedLayout, CopyAtom, Inner, IntTuple, Kind, Layout, Leaf, MmaAtom, Operand,
    Residue, Side, Tile, TiledCopy, TiledMma, int, record, tuple,
};

fn layout(text: &str) -> Layout {
    Layout::parse(text).expect(text)
}

fn tile(text: &str) -> Tile {
    Tile::parse(text).expect(text)
}

fn coord(text: &str) -> IntTuple {
    IntTuple::parse(text, Kind::Coord).expect(text)
}

/// Threads (16,8):(8,1) of four halves: tiles of 16x32.
fn copy() -> TiledCopy {
    let atom = CopyAtom::universal(64, 16).expect("atom");
    TiledCopy::make_tiled_copy(atom, &layout("(16,8):(8,1)"), &layout("(1,4)")).expect("copy")
}

fn mma() -> TiledMma {
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    TiledMma::new(atom, layout("(2,2,1)"), tile("[32:1;32:1;16:1]")).expect("tiled")
}

fn traced(l: &Layout) -> Layout {
    match Value::Layout(l.clone()).traced(0) {
        Value::Layout(l) => l,
        _ => l.clone(),
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(r: cute_layout::Result<T>, parts: &[&str]) {
    let e = r.expect_err("refused").to_string();
    assert!(e.contains("expected") && e.contains("found"), "{e}");
    for part in parts {
        assert!(e.contains(part), "{part}: {e}");
    }
}

/// The elements of `shape` that the threads of a partition have, with how often.
fn owned(thr: &Layout, val: &Layout, threads: i64) -> std::collections::BTreeMap<i64, usize> {
    let (t, v) = (thr.flat().expect("static"), val.flat().expect("static"));
    let mut out = std::collections::BTreeMap::new();
    for thread in 0..threads {
        for i in 0..v.size() {
            *out.entry(t.at(thread) + v.at(i)).or_default() += 1;
        }
    }
    out
}

#[test]
fn a_rest_is_refused_or_rounded_up() {
    let c = copy();
    let ragged = layout("(24,40):(40,1)");
    refused(
        c.partition_s(&ragged),
        &[
            "mode 0 (M) is a multiple of 16",
            "pad the tensor to 32",
            "predicate",
        ],
    );
    let p = c
        .partition(Side::Source, &ragged, Residue::RoundUp)
        .expect("rounded up");
    assert_eq!(p.val.shape().to_string(), "((4,1),2,2)");
    // The same partition of the coordinates says which elements exist; those are each there once.
    let at = Layout::identity(&tuple([int(24), int(40)])).expect("identity");
    let at = c
        .partition(Side::Source, &at, Residue::RoundUp)
        .expect("coordinates");
    assert_eq!(at.val.shape(), p.val.shape());
    let mut seen = vec![0; 24 * 40];
    for thread in 0..128 {
        let begin = p.part(&Leaf::Static(thread)).expect("part").offset;
        let from = at.part(&Leaf::Static(thread)).expect("part").offset;
        for i in 0..16 {
            let c = from
                .add(&at.val.eval(&int(i)).expect("inside"))
                .expect("sum");
            let c: Vec<i64> = (0..2)
                .map(|k| c.get(k).map_or(0, |c| c.as_static().expect("known")))
                .collect();
            if c[0] < 24 && c[1] < 40 {
                let offset = begin.as_static().expect("known") + p.val.at(i);
                assert_eq!(offset, c[0] * 40 + c[1], "thread {thread} value {i}");
                seen[offset as usize] += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n == 1));
}

#[test]
fn a_dynamic_extent_is_a_condition_or_rounds_up() {
    let (c, tensor) = (copy(), layout("(?,?):(?,1)"));
    let p = c.partition_s(&tensor).expect("`?` is CuTe's to assume");
    assert_eq!(p.val.shape().to_string(), "((4,1),?,?)");
    let ask = |inputs: &[i64], residue| {
        let (p, checks) = record(|| c.partition(Side::Source, &traced(&tensor), residue));
        p.expect("a partition");
        let failed = checks
            .into_iter()
            .find(|c| c.condition.eval(inputs) != Some(1));
        failed.map(|c| c.message)
    };
    assert_eq!(ask(&[32, 64, 64], Residue::Refuse), None);
    let message = ask(&[40, 64, 64], Residue::Refuse).expect("40 is no multiple of 16");
    assert!(
        message.contains("mode 0 (M) is a multiple of 16"),
        "{message}"
    );
    assert_eq!(ask(&[40, 50, 50], Residue::RoundUp), None);
    // The MMA's as well.
    let (m, tensor) = (mma(), layout("(?,16):(16,1)"));
    let (p, checks) = record(|| m.partition_a(&traced(&tensor)));
    assert_eq!(
        p.expect("a partition").val.shape().to_string(),
        "((2,2,2),?,1)"
    );
    assert!(checks.iter().all(|c| c.condition.eval(&[96]) == Some(1)));
    assert!(checks.iter().any(|c| c.condition.eval(&[100]) == Some(0)));
}

#[test]
fn symbols_are_proved_or_named() {
    use cute_layout::symbolic::Scope;
    let shape = |facts: &str| {
        let scope = match facts {
            "" => Scope::default(),
            facts => Scope::default().assume(facts).expect(facts),
        };
        let leaf = |n: &str| Leaf::symbolic(scope.get(n).expect("declared").expect("a symbol"));
        let (m, k) = (leaf("M"), leaf("K"));
        Layout::new(
            tuple([IntTuple::Leaf(m.clone()), IntTuple::Leaf(k)]),
            tuple([int(1), IntTuple::Leaf(m)]),
        )
        .expect("a layout")
    };
    let p = copy()
        .partition_s(&shape("M % 16 == 0, K % 32 == 0"))
        .expect("proved");
    assert_eq!(p.val.shape().to_string(), "((4,1),M/16,K/32)");
    refused(
        copy().partition_s(&shape("K % 32 == 0")),
        &["needs a fact", "M"],
    );
}

#[test]
fn a_thread_may_be_dynamic() {
    let (c, thread) = (copy(), Leaf::Dynamic(cute_layout::Dyn::I32.traced(0)));
    let slice = c.get_slice(&thread).expect("a thread");
    let part = slice
        .partition_d(&layout("(32,64):(64,1)"), Residue::Refuse)
        .expect("part");
    let IntTuple::Leaf(Leaf::Dynamic(offset)) = &part.offset else {
        panic!("{}", part.offset)
    };
    let cute_layout::Term::Traced(e) = &offset.term else {
        panic!("a trace")
    };
    for t in [0, 9, 127] {
        assert_eq!(e.eval(&[t]), Some(t / 8 * 64 + t % 8 * 4));
    }
    refused(
        c.get_slice(&Leaf::Static(128)),
        &["from 0 to 127", "found 128"],
    );
    refused(c.get_slice(&Leaf::Underscore), &["from 0 to 127"]);
    refused(mma().get_slice(&Leaf::Static(-1)), &["from 0 to 127"]);
    let m = mma();
    let t = m.get_slice(&Leaf::Static(37)).expect("a thread");
    assert_eq!(t.thr_vmnk().expect("a coordinate").to_string(), "(5,1,0,0)");
}

#[test]
fn swizzled_shared_memory_is_partitioned_under_its_swizzle() {
    // sgemm_sm80: a tile of 128x64 halves in three stages, written by cp.async and read by ldmatrix.
    let smem =
        ComposedLayout::parse("S<3,3,3> o 0 o ((8,16),(8,8),(1,3)):((8,512),(1,64),(0,8192))")
            .expect("a composed layout");
    let cp_async = TiledCopy::make_tiled_copy(
        CopyAtom::cp_async(16, 16).expect("atom"),
        &layout("(16,8):(8,1)"),
        &layout("(1,8)"),
    )
    .expect("copy");
    let x4 = CopyAtom::ldmatrix(4, false, 16).expect("atom");
    let ldmatrix = TiledCopy::make_tiled_copy_a(x4, &mma()).expect("copy");
    for copy in [cp_async, ldmatrix] {
        let p = copy.partition_s(smem.outer()).expect("a partition");
        for thread in [0, 1, 9, 37, 127] {
            let (part, offset) = p
                .part_composed(&smem, &Leaf::Static(thread))
                .expect("a part");
            for i in 0..p.val.size().expect("static") {
                let at = match &part {
                    AnyLayout::Plain(l) => l.eval(&int(i)),
                    AnyLayout::Composed(c) => c.eval(&int(i)),
                };
                let at = at.and_then(|at| at.add(&offset)).expect("an offset");
                let inside = p.thr.at(thread) + p.val.at(i);
                let Inner::Swizzle(s) = smem.inner() else {
                    panic!("a swizzle")
                };
                assert_eq!(at, int(s.apply(inside)), "thread {thread} value {i}");
            }
        }
    }
}

#[test]
fn a_permutation_may_interleave() {
    // 0t_mma_atom: the interleaving permutation of M, over 2x2 atoms of SM70.
    let atom = MmaAtom::named("SM70_8x8x4_F32F16F16F32_NT").expect("atom");
    let made =
        |perm: &str| TiledMma::new(atom.clone(), layout("(2,2):(2,1)"), tile(perm)).expect(perm);
    let (plain, moved) = (made("[32:1;32:1;4:1]"), made("[(4,4,2):(1,8,4);32:1;4:1]"));
    let tile = layout("(32,4)");
    let (p, q) = (
        plain.partition_a(&tile).expect("a"),
        moved.partition_a(&tile).expect("a"),
    );
    assert_eq!(owned(&p.thr, &p.val, 32), owned(&q.thr, &q.val, 32));
    // Thread 0 has rows 0-3 of its atom in both; its second atom begins 16 rows on, or 4.
    assert_eq!(
        (p.val.mode(1), q.val.mode(1)),
        (Ok(layout("2:16")), Ok(layout("2:4")))
    );
}

#[test]
fn gaps_of_a_tiler_belong_to_other_tiles() {
    // Four of every eight rows: whole tiles of 16 rows, not of 8.
    let atom = CopyAtom::universal(16, 16).expect("atom");
    let c =
        TiledCopy::make_tiled_copy_impl(atom, layout("(32,1):(1,0)"), tile("[(4,2):(1,8);4:1]"))
            .expect("copy");
    assert!(c.partition_s(&layout("(32,4)")).is_ok());
    refused(
        c.partition_s(&layout("(24,4)")),
        &["multiple of 16", "found (24,4)"],
    );
}

#[test]
fn what_cute_asserts_is_refused() {
    let (c, m) = (copy(), mma());
    let half = || CopyAtom::universal(16, 16).expect("atom");
    refused(c.partition_s(&layout("512:1")), &["rank at least 2"]);
    refused(
        m.partition(Operand::C, &layout("64:1"), Residue::RoundUp),
        &["rank at least 2"],
    );
    // A TV layout that leaves elements out, threads or values that are no whole atoms, offsets outside.
    let made =
        |tv: &str, tiler: &str| TiledCopy::make_tiled_copy_impl(half(), layout(tv), tile(tiler));
    refused(
        made("(32,2):(1,32)", "[16:1;8:1]"),
        &["leaves out 64", "shrink the tiler"],
    );
    refused(
        made("(32,8):(1,32)", "[16:1;8:1]"),
        &["within the 128 elements", "enlarge the tiler"],
    );
    refused(made("64:1", "[16:1;4:1]"), &["rank 2"]);
    refused(made("(?,2):(1,32)", "[16:1;4:1]"), &["static"]);
    let x4 = CopyAtom::ldmatrix(4, false, 16).expect("atom");
    refused(
        TiledCopy::make_tiled_copy(x4.clone(), &layout("(8,2)"), &layout("(1,8)")),
        &["threads in multiples of the 32", "found 16", "whole atoms"],
    );
    refused(
        TiledCopy::make_tiled_copy(x4, &layout("(8,4)"), &layout("(1,4)")),
        &["values a thread in multiples of the 8", "narrower atom"],
    );
    refused(
        TiledCopy::make_tiled_copy(half(), &layout("(8,4):(1,16)"), &layout("(1,4)")),
        &["without gaps"],
    );
    // Copies from MMAs, copies and data.
    let wide = CopyAtom::universal(128, 8).expect("atom");
    refused(
        TiledCopy::make_tiled_copy_c_atom(wide.clone(), &m),
        &["at most the 8 accumulators", "16 values"],
    );
    refused(
        TiledCopy::make_tiled_copy_s(wide, &c),
        &["values a thread in multiples of the 16"],
    );
    let cotiled =
        |tv: &str, data: &str| TiledCopy::make_cotiled_copy(half(), &layout(tv), &layout(data));
    refused(
        cotiled("(32,8):(8,1)", "(16,8):(1,16)"),
        &["at offsets of (16,8):(1,16)"],
    );
    refused(
        cotiled("(4,2):(1,4)", "(4,2):(1,8)"),
        &["at offsets of (4,2):(1,8)"],
    );
    refused(cotiled("8:1", "(4,2):(1,4)"), &["rank 2"]);
    refused(cotiled("(4,?):(1,4)", "(4,2):(1,4)"), &["static"]);
    // MMAs.
    let atom = || MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    let tiled = |atoms: &str, perm: &str| TiledMma::new(atom(), layout(atoms), tile(perm));
    refused(tiled("(2,2,1,1)", "[_;_;_]"), &["at most three modes"]);
    refused(tiled("(2,2,1)", "[_;_;_;_]"), &["at most three modes"]);
    refused(tiled("(2,2,1)", "32:1"), &["at most three modes"]);
    refused(tiled("(2,2,1)", "[16:1;_;_]"), &["multiple of 32"]);
    refused(tiled("(2,2,1)", "[?:1;_;_]"), &["static"]);
    refused(tiled("(2,2,1)", "[(4,8):(1,?);_;_]"), &["static"]);
    refused(tiled("(?,2,1)", "[_;_;_]"), &["static"]);
    // Fragments.
    refused(m.fragment_a(&layout("(4,2)")), &["rank at least 3"]);
    refused(
        m.fragment_b(&layout("((2,4),2,2)")),
        &["4 values in mode 0", "partition of this MMA"],
    );
    for o in [Operand::A, Operand::C] {
        refused(
            m.partition_fragment(o, &layout("(?,32):(1,?)"), Residue::Refuse),
            &["static"],
        );
    }
    refused(c.retile(&layout("(4,1)")), &["rank at least 3"]);
}

#[test]
fn tiles_and_places_that_do_not_exist_are_refused() {
    let tensor = layout("(64,32):(32,1)");
    let by = tile("[16:1;8:1]");
    let inner = |c: &str| tensor.inner_partition(&by, &coord(c), Residue::Refuse);
    let part = inner("(3,2)").expect("a tile");
    assert_eq!(
        (part.offset, part.layout),
        (int(3 * 16 * 32 + 16), layout("(16,8):(32,1)"))
    );
    assert_eq!(
        inner("(_,2)").expect("tiles").layout,
        layout("(16,8,4):(32,1,512)")
    );
    assert_eq!(
        inner("(1)").expect("tiles").layout,
        layout("(16,8,4):(32,1,8)")
    );
    refused(inner("(4,0)"), &["below 4", "found 4"]);
    refused(inner("16"), &["below 16"]);
    refused(inner("(0,-1)"), &["found -1"]);
    refused(inner("(0,0,0)"), &["at most 2 modes"]);
    let outer = |c: &str| tensor.outer_partition(&by, &coord(c), Residue::Refuse);
    let part = outer("(3,2)").expect("a place");
    assert_eq!(
        (part.offset, part.layout),
        (int(98), layout("(4,4):(512,8)"))
    );
    refused(outer("(16,0)"), &["below 16"]);
    let wide = tile("[16:1;8:1;4:1]");
    refused(
        tensor.inner_partition(&wide, &int(0), Residue::Refuse),
        &["rank at least 3"],
    );
    // A rest.
    let uneven = tile("[24:1;8:1]");
    refused(
        tensor.inner_partition(&uneven, &int(0), Residue::Refuse),
        &["multiple of 24", "round up"],
    );
    assert!(
        tensor
            .inner_partition(&uneven, &coord("(2,3)"), Residue::RoundUp)
            .is_ok()
    );
    let whole = Tile::Layout(layout("100:1"));
    refused(
        tensor.inner_partition(&whole, &int(0), Residue::Refuse),
        &["multiple of 100"],
    );
    // Projections.
    let local = |t: &str, c: &str, p: &str| {
        tensor.local_tile(&tile(t), &coord(c), Some(&coord(p)), Residue::Refuse)
    };
    let part = local("[16:1;128:1;8:1]", "(1,7,_)", "(1,_,1)").expect("a tile of A");
    assert_eq!(
        (part.offset, part.layout),
        (int(512), layout("(16,8,4):(32,1,8)"))
    );
    refused(
        local("[16:1;8:1]", "(1,_)", "(1,_,1)"),
        &["projection of the 2 modes"],
    );
    refused(
        local("[16:1;8:1]", "(1,_)", "1"),
        &["projection of the 2 modes"],
    );
    // Threads.
    let threads = |l: &str, i: Leaf| tensor.local_partition(&layout(l), &i, None, Residue::Refuse);
    let part = threads("(16,8):(8,1)", Leaf::Static(9)).expect("a thread");
    assert_eq!(
        (part.offset, part.layout),
        (int(33), layout("(4,4):(512,8)"))
    );
    refused(threads("(16,8):(8,1)", Leaf::Static(-1)), &["not negative"]);
    refused(
        threads("(16,8):(1@0,1@1)", Leaf::Static(1)),
        &["integer strides"],
    );
    refused(threads("(48,8)", Leaf::Static(1)), &["multiple of 48"]);
}
