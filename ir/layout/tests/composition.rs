//! Composition against the evaluation of both sides.

use crate::common::*;
use cute_layout::{Layout, LayoutError, Tile};
use proptest::prelude::*;

fn compose(a: &str, b: &str) -> Result<String, LayoutError> {
    layout(a).composition(&layout(b)).map(|l| l.to_string())
}

fn check(a: &str, b: &str, expected: &str) {
    assert_eq!(compose(a, b).as_deref(), Ok(expected), "{a} o {b}");
    let (a, b, r) = (layout(a), layout(b), layout(expected));
    for i in 0..size(&b) {
        assert_eq!(eval(&r, i), eval(&a, eval(&b, i)), "{a} o {b} at {i}");
    }
}

#[test]
fn worked_examples() {
    check("(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)");
    let r = layout("(6,2):(8,2)")
        .composition(&layout("(4,3):(3,1)"))
        .expect("worked");
    assert_eq!(values(&r), [0, 24, 2, 26, 8, 32, 10, 34, 16, 40, 18, 42]);
    check("(20):(2)", "(5,4):(4,1)", "(5,4):(8,2)");
    check("(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))");
    check("(4,3):(3,1)", "24:1", "(4,6):(3,1)");
    check("(4,1):(1,0)", "8:1", "(4,2):(1,0)");
    check("8:2", "4:-1", "4:-2");
    check("(4,8):(1,4)", "(2,4):(1,2)", "(2,4):(1,2)");
    check("12:5", "(3,2):(0,7)", "(3,2):(0,35)");
}

/// Checks compositions that CuTe accepts and gets wrong, and those that it refuses although they exist.
#[test]
fn unsound_elsewhere() {
    // (2,2):(4,100) elsewhere, which is 100 at 2 where A(B(2)) = 102.
    let e = compose("(6,2):(1,100)", "4:4").expect_err("values 0 4 102 200 are no layout's");
    assert!(
        matches!(
            &e,
            LayoutError::Composition {
                truth: 200,
                got: 106,
                ..
            }
        ),
        "{e}"
    );
    let e =
        compose("(8,8,4):(32,1,8)", "(8,4,8):(1,1,1)").expect_err("modes carry into each other");
    let LayoutError::Composition {
        coord, truth, got, ..
    } = &e
    else {
        panic!("{e}")
    };
    let c = cute_layout::IntTuple::parse(coord, cute_layout::Kind::Coord).expect("a coordinate");
    let (a, b) = (layout("(8,8,4):(32,1,8)"), layout("(8,4,8):(1,1,1)"));
    assert_eq!(eval(&a, b.crd2idx(&c).expect("inside")), *truth);
    assert_ne!(truth, got);
    assert!(
        e.to_string()
            .contains("choose sizes and strides that divide"),
        "{e}"
    );
    check("(2,2):(1,4)", "2:3", "2:5");
}

#[test]
fn the_coordinate_of_a_refused_leaf_shows_it() {
    let (a, b) = (layout("(6,2):(1,100)"), layout("4:4"));
    let Err(LayoutError::Composition {
        coord, truth, got, ..
    }) = a.composition(&b)
    else {
        panic!("refused")
    };
    let i: i64 = coord
        .split(' ')
        .next()
        .and_then(|w| w.parse().ok())
        .expect("an index");
    assert_eq!(eval(&a, eval(&b, i)), truth);
    assert_ne!(truth, got);
}

#[test]
fn large_layouts_go_by_divisibility() {
    check_large(
        "(65536,65536):(65536,1)",
        "(128,32):(1,65536)",
        "(128,32):(65536,1)",
    );
    check_large(
        "(65536,65536):(1,65536)",
        "(1048576,16):(16,1)",
        "(1048576,16):(16,1)",
    );
    let e =
        compose("(65537,65536):(65536,1)", "(100000,2):(3,1)").expect_err("not by divisibility");
    assert!(
        matches!(
            e,
            LayoutError::Composition { .. } | LayoutError::CompositionUnproven { .. }
        ),
        "{e}"
    );
    let e = compose("(70001,3):(5,1)", "100000:3").expect_err("too large to enumerate");
    assert!(matches!(e, LayoutError::CompositionUnproven { .. }), "{e}");
}

fn check_large(a: &str, b: &str, expected: &str) {
    assert_eq!(compose(a, b).as_deref(), Ok(expected));
    let (a, b, r) = (layout(a), layout(b), layout(expected));
    for i in (0..size(&b)).step_by((size(&b) / 997).max(1) as usize) {
        assert_eq!(eval(&r, i), eval(&a, eval(&b, i)));
    }
}

#[test]
fn tiles_go_mode_by_mode() {
    let tile = |t: &str| Tile::parse(t).expect(t);
    let r = layout("(6,4):(4,1)")
        .composition_tile(&tile("[(2):(1);(2):(1)]"))
        .expect("tile");
    assert_eq!(r.to_string(), "((2),(2)):((4),(1))");
    let r = layout("(12,(4,8)):(59,(13,1))")
        .composition_tile(&tile("[3:4;8:2]"))
        .expect("tile");
    assert_eq!(r.to_string(), "(3,(2,4)):(236,(26,1))");
    let r = layout("(6,4,2):(4,1,24)")
        .composition_tile(&tile("[_;2:2]"))
        .expect("drops the third mode");
    assert_eq!(r.to_string(), "(6,2):(4,2)");
    assert!(
        layout("(6,4):(4,1)")
            .composition_tile(&tile("[_;_;_]"))
            .is_err()
    );
}

#[test]
fn dynamic_leaves_go_through_where_divisibility_decides() {
    let ok = |a: &str, b: &str, r: &str| assert_eq!(compose(a, b).as_deref(), Ok(r), "{a} o {b}");
    ok("(64,32):(?,1)", "(16,4):(1,16)", "(16,4):(?,?)");
    ok("(8,?):(1,?{i64 div=8})", "4:2", "4:2");
    ok("?:1", "(?,4):(4,1)", "(?,4):(4,1)");
    ok("(8,?):(1,?{i64})", "?:8", "?:?{i64}");
}

#[test]
fn basis_strides_select_modes() {
    let ok = |a: &str, b: &str, r: &str| assert_eq!(compose(a, b).as_deref(), Ok(r), "{a} o {b}");
    ok("(16,32):(32,1)", "(4,8):(1@0,2@1)", "(4,8):(32,2)");
    ok("(16,32):(1@0,1@1)", "(4,8):(2,16)", "(4,8):(2@0,1@1)");
    ok("((4,4),8):((1,100),7)", "4:1@1@0", "4:100");
    assert!(compose("(16,32):(32,1)", "4:1@2").is_err());
}

/// The function of one leaf of the right side has a layout, and the leaves add up: then, and only then, is there a result.
fn exists(a: &Layout, b: &Layout) -> bool {
    let modes = leaves(b);
    let leaf_ok = modes.iter().all(|(s, d)| {
        let v: Vec<i64> = (0..*s).map(|i| eval(a, i * d)).collect();
        *d == 0 || some_layout_has(&v)
    });
    leaf_ok
        && (0..size(b)).all(|i| {
            let mut rest = i;
            let sum: i64 = modes
                .iter()
                .map(|(s, d)| {
                    let c = rest % s;
                    rest /= s;
                    eval(a, c * d)
                })
                .sum();
            sum == eval(a, eval(b, i))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sound_and_complete(a in either(200, -6), b in either(60, -6)) {
        match a.composition(&b) {
            Ok(r) => {
                prop_assert!(b.shape().compatible(r.shape()), "{a} o {b} = {r}");
                for i in 0..size(&b) {
                    prop_assert_eq!(eval(&r, i), eval(&a, eval(&b, i)), "{} o {} = {} at {}", a, b, r, i);
                }
            }
            Err(e) => {
                prop_assert!(matches!(e, LayoutError::Composition { .. }), "{}", e);
                prop_assert!(!exists(&a, &b), "{a} o {b} exists, but: {e}");
            }
        }
    }

    #[test]
    fn associates_where_defined(a in compact_layout(64), b in compact_layout(64), c in compact_layout(16)) {
        if let (Ok(ab), Ok(bc)) = (a.composition(&b), b.composition(&c))
            && let (Ok(x), Ok(y)) = (ab.composition(&c), a.composition(&bc))
            && size(&c) <= size(&b) && size(&b) <= size(&a)
        {
            prop_assert_eq!(values(&x), values(&y));
        }
    }
}
