//! Text, construction and evaluation: the worked examples, and what is refused.

use crate::common::{eval, layout, shape, size, values};
use cute_layout::{
    ComposedLayout, Dyn, IntTuple, Kind, Layout, LayoutError, Leaf, Swizzle, Tile, int, tuple,
};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn coord(text: &str) -> IntTuple {
    IntTuple::parse(text, Kind::Coord).expect(text)
}

/// Offsets of a rank-2 layout, one row a line.
fn rows(text: &str) -> Vec<Vec<i64>> {
    let l = layout(text);
    let (m, n) = (
        size(&l.mode(0).expect("rows")),
        size(&l.mode(1).expect("columns")),
    );
    (0..m)
        .map(|i| {
            (0..n)
                .map(|j| l.crd2idx(&tuple([int(i), int(j)])).expect("inside"))
                .collect()
        })
        .collect()
}

#[test]
fn worked_tables() {
    assert_eq!(rows("(2,3):(1,2)"), [[0, 2, 4], [1, 3, 5]]);
    assert_eq!(rows("(2,3):(3,1)"), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(
        rows("((2,2),2):((4,2),1)"),
        [[0, 1], [4, 5], [2, 3], [6, 7]]
    );
    let l = rows("(8,(2,2)):(2,(1,16))");
    assert_eq!(
        (&l[0][..], &l[7][..]),
        (&[0, 1, 16, 17][..], &[14, 15, 30, 31][..])
    );
    assert_eq!(rows("(4,(2,2)):(4,(1,2))"), rows("(4,4):(4,1)"));
    assert_eq!(
        layout("(4,(2,2)):(4,(1,2))").crd2idx(&coord("(2,(1,0))")),
        Ok(9)
    );
    assert_eq!(rows("(4,(2,2)):(2,(1,8))")[0], [0, 1, 8, 9]);
    assert_eq!(
        layout("(4,(2,2)):(2,(1,8))").crd2idx(&coord("(2,(1,0))")),
        Ok(5)
    );
    assert_eq!(values(&layout("8:2")), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(
        (layout("8:2").size(), layout("8:2").cosize()),
        (Ok(8), Ok(15))
    );
    assert_eq!(
        (layout("8:0").size(), layout("8:0").cosize()),
        (Ok(8), Ok(1))
    );
    assert_eq!(values(&layout("(2,4):(2,2)")), [0, 2, 2, 4, 4, 6, 6, 8]);
    assert_eq!(values(&layout("((4,2)):((2,1))")), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(layout("4:-1").cosize(), Ok(4));
    assert_eq!(rows("(3,(2,3)):(3,(12,1))")[0], [0, 12, 1, 13, 2, 14]);
    assert_eq!(
        rows("((2,2),(2,4)):((1,4),(2,8))")[3],
        [5, 7, 13, 15, 21, 23, 29, 31]
    );
    assert_eq!(
        rows("(4,(2,4)):(2,(1,8))")[1],
        [2, 3, 10, 11, 18, 19, 26, 27]
    );
    let l = layout("((2,4),(3,5)):((3,6),(1,24))");
    assert_eq!(l.crd2idx(&coord("((1,3),(2,4))")), Ok(3 + 18 + 2 + 96));
    // The TV layout that composes of a thread layout and a value layout.
    let tv = layout("((2,2),(2,3)):((2,12),(1,4))");
    assert_eq!(
        (tv.mode(0), tv.mode(1)),
        (Ok(layout("(2,2):(2,12)")), Ok(layout("(2,3):(1,4)")))
    );
}

#[test]
fn seventeen_in_all_its_forms() {
    let l = layout("(3,(2,3)):(3,(12,1))");
    for c in ["16", "(1,5)", "(1,(1,2))"] {
        assert_eq!(l.crd2idx(&coord(c)), Ok(17), "{c}");
    }
    let s = coord("(3,(2,3))");
    for (i, c) in [
        ("16", "(1,(1,2))"),
        ("(1,5)", "(1,(1,2))"),
        ("7", "(1,(0,1))"),
    ] {
        assert_eq!(s.idx2crd(&coord(i)), Ok(coord(c)));
    }
    let table: Vec<String> = (0..18)
        .map(|i| l.idx2crd(i).expect("inside").to_string())
        .collect();
    let mut expected = vec![];
    for c in 0..3 {
        for b in 0..2 {
            expected.extend((0..3).map(|a| format!("({a},({b},{c}))")));
        }
    }
    assert_eq!(table, expected);
}

#[test]
fn ranks_and_depths() {
    for (t, rank, depth) in [
        ("6", 1, 0),
        ("(4,3)", 2, 1),
        ("(3,(6,2),8)", 3, 2),
        ("((2,(1,3)),4)", 2, 3),
        ("((2,2),2)", 2, 2),
    ] {
        assert_eq!((coord(t).rank(), coord(t).depth()), (rank, depth), "{t}");
    }
    assert_eq!(coord("((2,(1,3)),4)").flatten().to_string(), "(2,1,3,4)");
    assert!(
        coord("24").compatible(&coord("(4,6)")) && coord("(4,6)").compatible(&coord("((2,2),6)"))
    );
    assert!(
        !coord("(4,6)").compatible(&coord("24")) && !coord("(4,6)").compatible(&coord("((2,3),4)"))
    );
    assert!(
        coord("(4,(1,2))").congruent(&coord("(7,(8,9))"))
            && !coord("(4,6)").congruent(&coord("((2,2),6)"))
    );
    assert_eq!(
        Layout::col_major(&coord("(2,(2,2))")).map(|l| l.to_string()),
        Ok("(2,(2,2)):(1,(2,4))".into())
    );
    assert_eq!(layout("(4,?,3)").to_string(), "(4,?,3):(1,4,?)");
    assert_eq!(layout("(4,1,2)").to_string(), "(4,1,2):(1,0,4)");
}

fn check(kind: Kind, text: &str, expected: Expect) {
    let got = IntTuple::parse(text, kind);
    expected.assert_eq(&got.map_or_else(|e| e.to_string(), |t| t.to_string()));
}

#[test]
fn tuples_as_text() {
    check(
        Kind::IntTuple,
        " ( 1 , (2, ?{i64}) ,?{ div=8 }, ?{i64  div=16} )",
        expect!["(1,(2,?{i64}),?{div=8},?{i64 div=16})"],
    );
    check(Kind::IntTuple, "(-4,?{i32})", expect!["(-4,?)"]);
    check(
        Kind::Stride,
        "(4@0,(1@1@1,?@0@1))",
        expect!["(4@0,(1@1@1,?@0@1))"],
    );
    check(Kind::Coord, "(1,(_,?))", expect!["(1,(_,?))"]);
    check(Kind::IntTuple, "()", expect!["()"]);
    check(
        Kind::IntTuple,
        "",
        expect!["at offset 0: expected an integer, `?` or `(`, found the end"],
    );
    check(
        Kind::IntTuple,
        "(1,,2)",
        expect!["at offset 3: expected an integer, `?` or `(`, found `,`"],
    );
    check(
        Kind::IntTuple,
        "(1,2",
        expect!["at offset 4: expected `,` or `)`, found the end"],
    );
    check(
        Kind::IntTuple,
        "1,2",
        expect!["at offset 1: expected the end of the text, found `,`"],
    );
    check(
        Kind::IntTuple,
        "(1,_)",
        expect!["at offset 3: expected an integer, `?` or `(`, found `_`"],
    );
    check(
        Kind::IntTuple,
        "?{unknown}",
        expect!["at offset 2: expected `i32`, `i64` or `div=N` after `?{`, found `u`"],
    );
    check(
        Kind::IntTuple,
        "?{div=-8}",
        expect!["at offset 6: expected a positive divisor, or 0 of a number that is 0, found -8"],
    );
    check(Kind::IntTuple, "?{div=0}", expect!["?{div=0}"]);
    check(
        Kind::IntTuple,
        "99999999999999999999",
        expect!["at offset 0: expected an integer of 64 bits, found 99999999999999999999"],
    );
    check(
        Kind::Shape,
        "1@0",
        expect!["at offset 1: expected the end of the text, found `@`"],
    );
    check(
        Kind::Stride,
        "?@",
        expect!["at offset 2: expected a mode index after `@`, found the end"],
    );
    check(
        Kind::Stride,
        "(1@1@0,1@0)",
        expect![[
            r#"at offset 0: expected scaled-basis paths none of which ends where another goes on, found (1@1@0,1@0); use one kind of stride throughout"#
        ]],
    );
    check(
        Kind::Stride,
        "(0,1@0,2)",
        expect![[
            r#"at offset 0: expected strides that are all integers or all scaled basis elements (zeros may be mixed in), found (0,1@0,2); use one kind of stride throughout"#
        ]],
    );
    check(
        Kind::Coord,
        "(é)",
        expect!["at offset 1: expected an integer, `?`, `_` or `(`, found `\\u{e9}`"],
    );
    check(
        Kind::IntTuple,
        &"(".repeat(100_000),
        expect!["at offset 65: expected at most 64 levels of nesting, found more"],
    );
    let deep = format!("{}1{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(
        IntTuple::parse(&deep, Kind::Shape).map(|t| t.depth()),
        Ok(64)
    );
}

fn refused(text: &str, expected: Expect) {
    expected.assert_eq(&Layout::parse(text).expect_err(text).to_string());
}

#[test]
fn layouts_that_are_refused() {
    refused(
        "(2,3:(1,2)",
        expect!["at offset 4: expected `,` or `)`, found `:`"],
    );
    refused(
        "(2,3):(1,2,4)",
        expect![
            "at offset 0: expected a stride congruent to shape (2,3), found (1,2,4); give both the same nesting"
        ],
    );
    refused(
        "(0,3):(1,2)",
        expect![
            "at offset 0: expected positive integers (or `?`) in a shape, found (0,3); make every extent at least 1"
        ],
    );
    refused(
        "(2,3):(1,1@0)",
        expect![
            "at offset 0: expected strides that are all integers or all scaled basis elements (zeros may be mixed in), found (1,1@0); use one kind of stride throughout"
        ],
    );
    refused(
        "(4294967296,4294967296):(1,2)",
        expect![
            "at offset 0: `layout` expected values that fit a signed 64-bit integer, found an overflow; make the shape or stride smaller"
        ],
    );
    refused(
        "3:9223372036854775807",
        expect![
            "at offset 0: `layout` expected values that fit a signed 64-bit integer, found an overflow; make the shape or stride smaller"
        ],
    );
    refused(
        "not_valid",
        expect!["at offset 0: expected an integer, `?` or `(`, found `n`"],
    );
    for text in ["(4294967296,4294967296)", "2:-9223372036854775808"] {
        assert!(Layout::parse(text).is_err(), "{text}");
    }
}

#[test]
fn evaluation_that_is_refused() {
    let l = layout("(3,(2,3)):(3,(12,1))");
    assert!(matches!(
        l.crd2idx(&coord("(1,2,3)")),
        Err(LayoutError::Coord { .. })
    ));
    assert!(matches!(
        l.crd2idx(&coord("((1),2)")),
        Err(LayoutError::Coord { .. })
    ));
    assert!(matches!(
        l.crd2idx(&coord("(-1,-2)")),
        Err(LayoutError::Coord { .. })
    ));
    assert!(matches!(
        l.crd2idx(&coord("_")),
        Err(LayoutError::Coord { .. })
    ));
    assert!(matches!(
        l.crd2idx(&coord("(?,0)")),
        Err(LayoutError::Dynamic { op: "crd2idx", .. })
    ));
    assert!(matches!(
        layout("(2,?):(1,?)").cosize(),
        Err(LayoutError::Dynamic { op: "cosize", .. })
    ));
    assert!(matches!(
        layout("(2,3):(1@0,1@1)").crd2idx(&int(1)),
        Err(LayoutError::Basis { .. })
    ));
    assert!(matches!(
        layout("2:9223372036854775806").crd2idx(&int(2)),
        Err(LayoutError::Overflow { .. })
    ));
    assert_eq!(layout("(2,?):(1,?)").at(1), i64::MIN);
    assert_eq!(layout("2:9223372036854775806").at(5), i64::MAX);
}

#[test]
fn dynamic_arithmetic_keeps_what_holds() {
    let d = |width, div| Leaf::Dynamic(Dyn::new(width, div));
    assert_eq!(d(32, 8).mul(&Leaf::Static(4)), Ok(d(32, 32)));
    assert_eq!(
        d(32, 1).mul(&Leaf::Static(4)),
        Ok(d(32, 1)),
        "no divisor is inferred where none is carried"
    );
    assert_eq!(d(32, 8).mul(&d(64, 2)), Ok(d(64, 16)));
    assert_eq!(d(32, 8).mul(&Leaf::Static(0)), Ok(Leaf::Static(0)));
    assert_eq!(d(64, 16).ceil_div(&Leaf::Static(8)), Ok(d(64, 2)));
    assert_eq!(d(64, 16).ceil_div(&Leaf::Static(3)), Ok(d(64, 1)));
    assert!(Leaf::Static(i64::MAX).mul(&Leaf::Static(2)).is_err());
}

#[test]
fn tiles_and_swizzles_as_text() {
    for text in [
        "[4:1;(2,2):(1,8);_]",
        "[_]",
        "[1:0;[(2,?,?):(1,2,?);_]]",
        "[(2):(1);(2):(1)]",
        "(2,3):(1,2)",
        "_",
    ] {
        assert_eq!(
            Tile::parse(text).map(|t| t.to_string()).as_deref(),
            Ok(text)
        );
    }
    for text in ["", "[(2,3):(1,2)", "[]", "[4:1;]", "[(2,3):(1,1@0)]"] {
        assert!(Tile::parse(text).is_err(), "{text}");
    }
    assert!(Tile::parse(&"[".repeat(1000)).is_err());
    for text in ["S<0,4,3>", "S<1,0,2>", "S<2,0,-3>", "S<3,5,4>", "S<3,4,3>"] {
        assert_eq!(
            Swizzle::parse(text).map(|s| s.to_string()).as_deref(),
            Ok(text)
        );
    }
    for text in [
        "",
        "S<1,0>",
        "S<10,20,10>",
        "S<3,4,-2>",
        "S<3,4,2>",
        "S<5,0,1>",
        "S<5,29,5>",
        "S<-1,0,1>",
    ] {
        assert!(Swizzle::parse(text).is_err(), "{text}");
    }
    for text in [
        "S<3,5,4> o 0 o (8,4):(1,8)",
        "S<3,5,4> o 2 o (2,3):(1,2)",
        "(4,5):(1,4) o (0,0) o (2,3):(1@0,1@1)",
    ] {
        assert_eq!(
            ComposedLayout::parse(text)
                .map(|s| s.to_string())
                .as_deref(),
            Ok(text)
        );
    }
    for text in [
        "S<3,4,3> o 0 o (4,2):(1@0,1@1)",
        "(4,5):(1,4) o 2 o (0,3):(1,2)",
        "S<3,4,3> o (4,2):(1,4)",
    ] {
        assert!(ComposedLayout::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_swizzle_xors_its_bits() {
    let s = Swizzle::new(3, 4, 3).expect("the 128-byte swizzle");
    for x in 0..4096i64 {
        let expected = x ^ (((x >> 7) & 7) << 4);
        assert_eq!(s.apply(x), expected);
        assert_eq!(s.apply(s.apply(x)), x);
    }
    assert_eq!(s.period(), 1024);
    let back = Swizzle::new(2, 0, -3).expect("to the left");
    assert!((0..256i64).all(|x| back.apply(x) == x ^ ((x & 3) << 3)));
    let c = ComposedLayout::parse("S<2,3,3> o 8 o (8,32):(32,1)").expect("composed");
    assert_eq!(
        c.crd2idx(&coord("(2,5)")),
        Ok(Swizzle::new(2, 3, 3).expect("valid").apply(8 + 64 + 5))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_goes_round(l in crate::common::any_layout(500, -20)) {
        prop_assert_eq!(Layout::parse(&l.to_string()), Ok(l));
    }

    #[test]
    fn any_text_gives_an_answer(text in r"[-0-9(),:?@_{}=a-z \[\];<>So]{0,24}") {
        for kind in [Kind::IntTuple, Kind::Shape, Kind::Stride, Kind::Coord] {
            if let Ok(t) = IntTuple::parse(&text, kind) {
                prop_assert_eq!(IntTuple::parse(&t.to_string(), kind), Ok(t));
            }
        }
        if let Ok(l) = Layout::parse(&text) {
            prop_assert_eq!(Layout::parse(&l.to_string()), Ok(l));
        }
        let _ = (Tile::parse(&text).is_ok(), Swizzle::parse(&text).is_ok(), ComposedLayout::parse(&text).is_ok());
    }

    #[test]
    fn majors_are_compact(s in shape(500)) {
        let n = s.size().expect("static");
        let col = Layout::col_major(&s).expect("col");
        prop_assert_eq!(values(&col), (0..n).collect::<Vec<_>>());
        let row = Layout::row_major(&s).expect("row");
        let mut v = values(&row);
        prop_assert_eq!(eval(&row, n - 1), n - 1);
        v.sort_unstable();
        prop_assert_eq!(v, (0..n).collect::<Vec<_>>());
    }
}
