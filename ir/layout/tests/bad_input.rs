//! Bad input to the library: an error with a position, in bounded time and memory; never a panic or a stack overflow.

use std::time::{Duration, Instant};

use cute_layout::{
    ComposedLayout, IntTuple, Kind, Layout, LayoutError, ParseError, Swizzle, Tile, int, tuple,
};

/// Generous for a debug build on a busy machine; what it guards against takes minutes.
const BOUND: Duration = Duration::from_secs(10);

fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = f();
    assert!(start.elapsed() < BOUND, "{what}: {:?}", start.elapsed());
    out
}

/// The errors of a text as each kind of value.
fn errors(text: &str) -> Vec<ParseError> {
    timed(&text[..text.len().min(20)], || {
        let mut all: Vec<ParseError> = [Kind::IntTuple, Kind::Shape, Kind::Stride, Kind::Coord]
            .into_iter()
            .filter_map(|k| IntTuple::parse(text, k).err())
            .collect();
        all.extend(Layout::parse(text).err());
        all.extend(Tile::parse(text).err());
        all.extend(Swizzle::parse(text).err());
        all.extend(ComposedLayout::parse(text).err());
        for e in &all {
            assert!(e.offset <= text.len(), "{e}");
            assert!(
                e.message.contains("expected") && e.message.contains("found"),
                "{e}"
            );
            assert!(
                e.message.len() < 400,
                "{} bytes: {:.100}",
                e.message.len(),
                e.message
            );
        }
        all
    })
}

#[track_caller]
fn starts(text: &str, offset: usize, message: &str) {
    let e = Layout::parse(text).expect_err(text);
    assert_eq!(e.offset, offset, "{text}: {e}");
    assert!(e.message.starts_with(message), "{text}: {e}");
}

#[test]
fn unbalanced_parentheses() {
    starts("((2,3):(1,2)", 6, "expected `,` or `)`, found `:`");
    starts("(2,3):(1,2", 10, "expected `,` or `)`, found the end");
    starts(
        "(2,3):(1,2))",
        11,
        "expected the end of the text, found `)`",
    );
    starts(")", 0, "expected an integer");
    starts("(", 1, "expected an integer");
    starts("(2,):(1,2)", 3, "expected an integer");
    starts("(2 3):(1,2)", 3, "expected `,` or `)`, found `3`");
    starts("", 0, "expected an integer, `?` or `(`, found the end");
    for (text, offset) in [("[2:1;3:1", 8), ("[2:1]]", 5), ("[", 1)] {
        assert_eq!(Tile::parse(text).expect_err(text).offset, offset, "{text}");
    }
    assert_eq!(Swizzle::parse("S<3,4").expect_err("open").offset, 5);
    assert_eq!(
        ComposedLayout::parse("S<3,4,3> o 0")
            .expect_err("short")
            .offset,
        12
    );
}

#[test]
fn shapes_and_strides_that_do_not_match() {
    for text in [
        "(2,3):1",
        "6:(1,2)",
        "(2,3):(1,2,4)",
        "(2,(3,4)):(1,2)",
        "(2):2",
        "((2)):(2)",
    ] {
        starts(text, 0, "expected a stride congruent to shape");
    }
}

#[test]
fn zero_negative_and_overflowing_sizes() {
    for text in [
        "0:1",
        "-4:1",
        "(2,0):(1,2)",
        "(2,-1):(1,2)",
        "-9223372036854775808:1",
    ] {
        starts(text, 0, "expected positive integers");
    }
    for text in [
        "(4294967296,4294967296):(1,1)",
        "3:9223372036854775807",
        "2:-9223372036854775808",
        "(2,2):(9223372036854775807,9223372036854775807)",
    ] {
        starts(text, 0, "`layout` expected values that fit");
    }
    starts(
        "(4294967296,4294967296)",
        0,
        "`multiply` expected values that fit",
    );
    starts("9223372036854775808:1", 0, "expected an integer of 64 bits");
    starts(
        "(1,-9223372036854775809)",
        3,
        "expected an integer of 64 bits",
    );
}

#[test]
fn operations_whose_results_do_not_fit() {
    let l = |t: &str| Layout::parse(t).expect(t);
    let big = l("4611686018427387904:2");
    let one = Tile::Layout(l("2:4611686018427387904"));
    for (what, r) in [
        ("composition", big.composition(&l("2:4611686018427387904"))),
        ("divide", l("8:9").logical_divide(&one)),
        ("zipped divide", l("8:9").zipped_divide(&one)),
        ("product", big.logical_product(&Tile::Layout(l("8:1")))),
        ("downcast", l("4611686018427387904:1").downcast(4)),
        (
            "to shape",
            big.tile_to_shape(&tuple([int(i64::MAX), int(i64::MAX)]), None),
        ),
    ] {
        let e = r.expect_err(what);
        assert!(matches!(e, LayoutError::Overflow { .. }), "{what}: {e}");
    }
    assert!(matches!(
        big.crd2idx(&int(i64::MAX)),
        Err(LayoutError::Overflow { .. })
    ));
    assert!(int(8).shape_div(&int(0)).is_err() && int(8).ceil_div(&int(0)).is_err());
    assert!(int(i64::MIN).shape_div(&int(-1)).is_err());
}

#[test]
fn ranks_in_the_thousands() {
    let ones = |n: usize| format!("({}1)", "1,".repeat(n - 1));
    let text = format!("{}:{}", ones(4096), ones(4096));
    let l = Layout::parse(&text).expect("within the limit");
    assert!(l.to_string() == text, "a layout at the limit goes round");
    let text = format!("({}?):({}1@0)", "1,".repeat(4095), "0,".repeat(4095));
    assert!(Layout::parse(&text).is_ok_and(|l| l.to_string() == text));
    let t = Tile::from_shape(l.shape()).expect("a tile at the limit");
    assert!(Tile::parse(&t.to_string()).is_ok_and(|again| again == t));
    for n in [4097, 5000, 100_000] {
        let text = ones(n);
        let e = Layout::parse(&text).expect_err("too many");
        assert!(e.message.contains("at most 4096 leaves"), "{e}");
        assert!(e.offset <= 2 * 4097 + 1, "{e}");
        errors(&text);
    }
    let shape = tuple((0..4096).map(|i| int(if i % 100 == 0 { 2 } else { 1 })));
    let l = timed("col_major", || Layout::col_major(&shape)).expect("fits");
    let t = Tile::from_shape(&shape).expect("fits");
    timed("operations", || {
        assert_eq!(l.coalesce().map(|c| c.rank()), Ok(1));
        assert_eq!(l.composition(&l).map(|c| c.rank()), Ok(4096));
        assert!(l.complement(&shape).is_ok());
        assert!(l.right_inverse().is_ok() && l.left_inverse().is_ok());
        assert!(matches!(
            l.logical_divide(&t),
            Err(LayoutError::Limit { .. })
        ));
        assert!(matches!(l.append(&l), Err(LayoutError::Limit { .. })));
        assert!(l.make_fragment_like().is_ok() && l.make_layout_like().is_ok());
        assert!(l.idx2crd(12345).is_ok());
    });
    let more = tuple((0..5000).map(|_| int(1)));
    assert!(matches!(
        Layout::col_major(&more),
        Err(LayoutError::Limit { .. })
    ));
}

#[test]
fn nesting_ten_thousand_deep() {
    for (open, close) in [("(", ")"), ("[", "]"), ("(2,", ")")] {
        for end in [close.repeat(10_000), String::new()] {
            let text = format!("{}4{end}", open.repeat(10_000));
            errors(&text);
        }
    }
    let deep = format!("{}4{}", "(".repeat(10_000), ")".repeat(10_000));
    starts(&deep, 65, "expected at most 64 levels of nesting");
    let e = Tile::parse(&"[".repeat(10_000)).expect_err("deep");
    assert!(e.message.contains("at most 64 levels"), "{e}");
    let at_limit = format!("{}4{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(Layout::parse(&at_limit).map(|l| l.depth()), Ok(64));
    // A value at the limit that an operation would nest further.
    let l = Layout::parse(&at_limit).expect("at the limit");
    assert!(matches!(l.append(&l), Err(LayoutError::Limit { .. })));
    let by = Tile::Layout(Layout::parse("2:1").expect("leaf"));
    assert_eq!(
        l.logical_divide(&by).map(|d| d.to_string()),
        Ok("(2,2):(1,2)".to_string())
    );
}

#[test]
fn tuples_that_a_program_nests_too_deeply() {
    let mut deep = int(2);
    for _ in 0..10_000 {
        deep = tuple([deep]);
    }
    let limit = |r: Result<Layout, LayoutError>| {
        assert!(matches!(r, Err(LayoutError::Limit { .. })), "{r:.200?}");
    };
    limit(Layout::new(deep.clone(), deep.clone()));
    limit(Layout::col_major(&deep));
    limit(Layout::row_major(&deep));
    limit(Layout::identity(&deep));
    limit(Layout::ordered(&deep, &int(1)));
}

#[test]
fn a_megabyte() {
    for text in [
        "1,".repeat(500_000),
        "(1,".repeat(350_000),
        "1@".repeat(500_000),
        "1@0".repeat(350_000),
        "9".repeat(1 << 20),
        "-".repeat(1 << 20),
        "a".repeat(1 << 20),
        "é".repeat(1 << 19),
        "?{div=".repeat(180_000),
        "?{".repeat(500_000),
        " ".repeat(1 << 20),
        format!("({})", "1,".repeat(500_000)),
        format!("[{}]", "1:1;".repeat(250_000)),
        "S<3,4,3> o ".repeat(100_000),
        "8:1 o ".repeat(170_000),
    ] {
        assert!(!errors(&text).is_empty());
    }
}

#[test]
fn text_beyond_ascii() {
    for text in [
        "é",
        "(é)",
        "(1,é):(1,2)",
        "4\u{a0}:1",
        "４:1",
        "(1,2):(1,\u{0})",
        "4:1\u{feff}",
    ] {
        let e = Layout::parse(text).expect_err(text);
        assert!(text.is_char_boundary(e.offset), "{text}: {e}");
        assert!(e.message.is_ascii(), "{e}");
    }
    // Bytes that are no UTF-8 never become a `str`; what can be read of them has its own errors.
    errors(&String::from_utf8_lossy(b"(4,\xf0\x9f):(1,2)"));
}

#[test]
fn what_takes_long_is_bounded() {
    let l = |t: &str| Layout::parse(t).expect(t);
    timed("enumeration", || {
        let e = l("(70001,3):(5,1)").composition(&l("100000:3"));
        assert!(
            matches!(e, Err(LayoutError::CompositionUnproven { .. })),
            "{e:?}"
        );
        let e = l("(7,2):(1,100)").composition(&l("60000:3"));
        assert!(matches!(e, Err(LayoutError::Composition { .. })), "{e:?}");
    });
    timed("complements", || {
        for text in [
            "(60000,2):(1,70001)",
            "(255,257):(2,1021)",
            "(3,7,11):(2,5,101)",
        ] {
            let e = l(text).complement(&int(65536));
            assert!(
                matches!(e, Err(LayoutError::NotInjective { .. })),
                "{text}: {e:?}"
            );
        }
    });
    timed("left inverses", || {
        for text in [
            "(255,257):(257,256)",
            "(3,5,7,11):(6007,1009,4999,251)",
            "(99,101,3):(202,3,20001)",
        ] {
            if let Err(e) = l(text).left_inverse() {
                assert!(matches!(e, LayoutError::NotInjective { .. }), "{text}: {e}");
            }
        }
    });
}
