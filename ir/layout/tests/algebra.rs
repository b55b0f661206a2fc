//! Every operation but composition (which has its own file) against brute force.

use std::collections::HashSet;

use crate::common::*;
use cute_layout::{IntTuple, Kind, Layout, LayoutError, Tile, int, tuple};
use proptest::prelude::*;

fn shape_of(text: &str) -> IntTuple {
    IntTuple::parse(text, Kind::Coord).expect(text)
}

fn tile(text: &str) -> Tile {
    Tile::parse(text).expect(text)
}

#[track_caller]
fn is(got: Result<Layout, LayoutError>, expected: &str) {
    assert_eq!(got.map(|l| l.to_string()), Ok(expected.to_string()));
}

#[test]
fn coalesce_by_example() {
    is(layout("(2,(1,6)):(1,(6,2))").coalesce(), "12:1");
    is(layout("(4,5):(1,4)").coalesce(), "20:1");
    is(layout("(3,4):(8,1)").coalesce(), "(3,4):(8,1)");
    is(layout("1:5").coalesce(), "1:5");
    is(layout("(1,1):(5,7)").coalesce(), "1:7");
    is(layout("(4,1):(1,0)").coalesce(), "4:1");
    is(layout("(2,1,6):(1,7,2)").coalesce(), "12:1");
    is(layout("(?,2):(1,?)").coalesce(), "(?,2):(1,?)");
    is(layout("(2,4):(2@0,4@0)").coalesce(), "8:2@0");
    is(
        layout("(3,(4,5)):(8,(1,4))").coalesce_by(&shape_of("(1,1)")),
        "(3,20):(8,1)",
    );
    assert!(
        layout("(3,4):(4,1)")
            .coalesce_by(&shape_of("(1,1,1)"))
            .is_err()
    );
}

#[test]
fn complement_by_example() {
    let c = |l: &str, t: &str| layout(l).complement(&shape_of(t));
    is(c("3:1", "3"), "1:3");
    is(c("3:2", "6"), "2:1");
    is(c("(3,(5,2)):(1,(3,15))", "(6,20)"), "4:30");
    is(c("(2,2):(4,1)", "24"), "(2,3):(2,8)");
    is(c("4:0", "6"), "6:1");
    is(c("4:1", "?"), "?:4");
    is(c("4:2", "10"), "(2,2):(1,8)");
    assert!(matches!(
        c("(2,2):(1,1)", "8"),
        Err(LayoutError::NotInjective { .. })
    ));
    assert!(matches!(c("4:-1", "8"), Err(LayoutError::Stride { .. })));
    assert!(matches!(
        c("(3,4):(?,1)", "12"),
        Err(LayoutError::Dynamic {
            op: "complement",
            ..
        })
    ));
    assert!(matches!(
        c("(2,3):(1@0,1@1)", "12"),
        Err(LayoutError::Rank { .. })
    ));
    is(c("2:64@0", "(128,64)"), "(64,64):(1@0,1@1)");
}

#[test]
fn inverses_by_example() {
    for (l, right, left) in [
        ("(4,3):(1,4)", "12:1", "12:1"),
        ("(4,3):(3,1)", "(3,4):(4,1)", "(3,4):(4,1)"),
        ("4:0", "1:0", "1:0"),
        ("(2,4):(4,1)", "(4,2):(2,1)", "(4,2):(2,1)"),
        (
            "((2,4),(3,5)):((4,1),(2,8))",
            "(4,2,5):(2,1,24)",
            "(2,2,2,5):(2,8,1,24)",
        ),
        ("4:2", "1:0", "(2,4):(0,1)"),
        ("4:4", "1:0", "(4,4):(0,1)"),
        ("(4,2):(0,1)", "2:4", "2:4"),
    ] {
        is(layout(l).right_inverse(), right);
        is(layout(l).left_inverse(), left);
    }
    is(layout("(4,2):(1,?)").right_inverse(), "4:1");
    // Behind a mode of open extent it is not known which mode comes next.
    is(layout("(?,2):(1,4)").right_inverse(), "?:1");
    is(layout("(16,?):(1,16)").right_inverse(), "(16,?):(1,16)");
    is(layout("(?,4):(4,1)").right_inverse(), "(4,?):(?,1)");
    is(layout("(?,4):(?,1)").right_inverse(), "4:?");
    assert!(layout("(?,2):(1@0,1@1)").right_inverse().is_err());
    assert!(layout("(?,2):(1,4)").left_inverse().is_err());
    assert!(layout("(4,2):(1,?)").left_inverse().is_err());
}

#[test]
fn divides_and_products_by_example() {
    is(
        layout("(4,2,3):(2,1,8)").logical_divide(&tile("4:2")),
        "((2,2),(2,3)):((4,1),(2,8))",
    );
    let a = layout("(9,(4,8)):(59,(13,1))");
    let t = tile("[3:3;(2,4):(1,8)]");
    is(
        a.logical_divide(&t),
        "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))",
    );
    is(
        a.zipped_divide(&t),
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
    );
    is(
        a.tiled_divide(&t),
        "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))",
    );
    is(
        a.flat_divide(&t),
        "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))",
    );
    let r = layout("10:1")
        .logical_divide(&tile("4:1"))
        .expect("rounds up");
    assert_eq!(r.size(), Ok(12));
    assert_eq!(layout("10:1").divides_evenly(&tile("4:1")), Ok(false));
    assert_eq!(
        layout("(8,10):(10,1)").divides_evenly(&tile("[4:1;5:1]")),
        Ok(true)
    );
    is(layout("?:8").logical_divide(&tile("4:1")), "(4,?):(8,32)");

    let b = layout("(2,2):(4,1)");
    is(
        b.logical_product(&tile("6:1")),
        "((2,2),(2,3)):((4,1),(2,8))",
    );
    let (b, t) = (layout("(2,5):(5,1)"), layout("(3,4):(1,3)"));
    is(b.blocked_product(&t), "((2,3),(5,4)):((5,10),(1,30))");
    is(b.raked_product(&t), "((3,2),(4,5)):((10,5),(30,1))");
    let t = Tile::Layout(t);
    is(b.zipped_product(&t), "((2,5),(3,4)):((5,1),(10,30))");
    is(b.tiled_product(&t), "((2,5),3,4):((5,1),10,30)");
    is(b.flat_product(&t), "(2,5,3,4):(5,1,10,30)");
}

#[test]
fn tile_to_shape_by_example() {
    let b = layout("(8,64):(64,1)");
    is(
        b.tile_to_shape(&shape_of("(128,64,3)"), None),
        "((8,16),(64,1),(1,3)):((64,512),(1,0),(0,8192))",
    );
    is(
        layout("(2,2):(2,1)").tile_to_shape(&shape_of("(4,4)"), Some(&shape_of("(2,1)"))),
        "((2,2),(2,2)):((2,8),(1,4))",
    );
    is(
        b.tile_to_shape(&shape_of("(12,64)"), None),
        "((8,2),(64,1)):((64,512),(1,0))",
    );
}

#[test]
fn slices_by_example() {
    let l = layout("((2,4),(3,5)):((3,6),(1,24))");
    let (s, off) = l.slice(&shape_of("((1,1),(_,_))")).expect("slice");
    assert_eq!((s.to_string().as_str(), off), ("(3,5):(1,24)", 9));
    let l = layout("(2,3,4):(1,2,6)");
    let (s, off) = l.slice(&shape_of("(0,_,1)")).expect("slice");
    assert_eq!((s.to_string().as_str(), off), ("(3):(2)", 6));
    is(l.dice(&shape_of("(0,_,1)")), "(2,4):(1,6)");
    is(l.slice_modes(&shape_of("(?,_,_)")), "(3,4):(2,6)");
    is(l.slice_modes(&shape_of("_")), "(2,3,4):(1,2,6)");
    assert!(matches!(
        l.slice(&shape_of("(?,_,_)")),
        Err(LayoutError::Dynamic { .. })
    ));
    assert!(matches!(
        l.slice(&shape_of("(0,_)")),
        Err(LayoutError::Coord { .. })
    ));
}

#[test]
fn modes_by_example() {
    let l = layout("(4,5,6):(1,4,20)");
    is(l.group(0, 2), "((4,5),6):((1,4),20)");
    is(l.group(1, 3), "(4,(5,6)):(1,(4,20))");
    is(l.take(1, 3), "(5,6):(4,20)");
    is(l.select(&[2, 0]), "(6,4):(20,1)");
    is(l.append(&layout("2:120")), "(4,5,6,2):(1,4,20,120)");
    is(
        layout("8:1").append_to_rank(3, &layout("1:0")),
        "(8,1,1):(1,0,0)",
    );
    is(
        layout("8:1").prepend_to_rank(2, &layout("1:0")),
        "(1,8):(0,1)",
    );
    is(layout("((2,?),3):((1,2),?)").flatten(), "(2,?,3):(1,2,?)");
    is(l.unflatten(&shape_of("((_,_),_)")), "((4,5),6):((1,4),20)");
    is(layout("(2,2):(0,1)").filter_zeros(), "(1,2):(0,1)");
    is(layout("(2,1,4):(0,3,1)").filter(), "4:1");
    assert!(l.group(2, 2).is_err() && l.take(0, 4).is_err() && l.mode(3).is_err());
    assert!(l.append_to_rank(2, &layout("1:0")).is_err());
}

#[test]
fn recast_by_example() {
    is(layout("(4,8):(8,1)").recast(16, 32), "(4,4):(4,1)");
    is(layout("(4,8):(8,1)").recast(16, 8), "(4,16):(16,1)");
    is(layout("(4,24):(24,1)").recast(16, 24), "(4,16):(16,1)");
    assert!(matches!(
        layout("(4,6):(6,1)").upcast(4),
        Err(LayoutError::Divisibility { .. })
    ));
    is(layout("(2,2,8):(1,2,4)").upcast(4), "(1,1,8):(1,1,1)");
    for l in ["(4,4):(1,1)", "4:-1", "2:1", "(2,4):(1,3)", "(3,2):(1,2)"] {
        assert!(layout(l).upcast(4).is_err(), "{l}");
    }
    assert!(layout("(2,2):(1,1)").downcast(2).is_err() && layout("4:-1").downcast(2).is_err());
    assert!(matches!(
        layout("4:2").downcast(2),
        Err(LayoutError::Divisibility { .. })
    ));
    is(layout("(?,8):(?{div=8},1)").upcast(4), "(?,2):(?{div=2},1)");
    assert_eq!(
        layout("(?,8):(?,1)").upcast(4).unwrap().to_string(),
        "(?,2):(?,1)"
    );
    assert!(layout("(?,6):(?,1)").upcast(4).is_err());
    // What is not known to divide is a condition of the result.
    is(layout("(?,8):(?,1)").upcast(4), "(?,2):(?,1)");
    is(layout("(?,4):(1,?)").upcast(4), "(?,4):(1,?)");
    is(layout("?:?").downcast(4), "?:?");
    is(layout("(?,4):(1,?)").downcast(4), "(?,4):(1,?)");
    assert!(layout("(?,4):(?,?)").downcast(4).is_err());
    assert!(layout("8:1").recast(0, 8).is_err());
}

#[test]
fn layouts_made_after_others() {
    for (l, like) in [
        ("8:2", "8:1"),
        ("(4,2):(1,4)", "(4,2):(1,4)"),
        ("(4,2):(4,1)", "(4,2):(2,1)"),
        ("(2,(3,4)):(1,(2,8))", "(2,(3,4)):(1,(2,6))"),
        ("(2,(3,4)):(8,(1,3))", "(2,(3,4)):(12,(1,3))"),
        ("(8,?,4,?):(?,?,?,1)", "(8,?,4,?):(?,?,?,?)"),
        ("(2,5,1,3):(?,1,?,0)", "(2,5,1,3):(?,?,0,0)"),
        ("(4,2):(0,5)", "(4,2):(0,1)"),
    ] {
        is(layout(l).make_layout_like(), like);
    }
    is(
        Layout::ordered(&shape_of("(2,3,4,5)"), &shape_of("(1,4,3,5)")),
        "(2,3,4,5):(1,8,2,24)",
    );
    is(
        Layout::row_major(&shape_of("(2,(3,4))")),
        "(2,(3,4)):(12,(4,1))",
    );
    is(
        Layout::identity(&shape_of("((2,3),4)")),
        "((2,3),4):((1@0@0,1@1@0),1@1)",
    );
    is(
        layout("((2,2),4):((1,1),8)").make_fragment_like(),
        "((2,2),4):((1,2),4)",
    );
    is(
        layout("(8,2,4):(1,64,8)").make_fragment_like(),
        "(8,2,4):(1,32,8)",
    );
}

#[test]
fn shape_arithmetic() {
    let s = |a: &str, b: &str| {
        shape_of(a)
            .shape_div(&shape_of(b))
            .map(|t| t.to_string())
            .ok()
    };
    assert_eq!(s("(3,4)", "6").as_deref(), Some("(1,2)"));
    assert_eq!(s("(12,(4,8))", "(3,8)").as_deref(), Some("(4,(1,4))"));
    // What is left of the divisor behind the last leaf is dropped, as in CuTe.
    assert_eq!(s("(3,4)", "24").as_deref(), Some("(1,1)"));
    assert_eq!(
        (s("(3,4)", "5"), s("(3,4)", "8"), s("(3,4)", "(1,1,1)")),
        (None, None, None)
    );
    let c = |a: &str, b: &str| {
        shape_of(a)
            .ceil_div(&shape_of(b))
            .map(|t| t.to_string())
            .ok()
    };
    assert_eq!(c("(10,7)", "(4,2)").as_deref(), Some("(3,4)"));
    assert_eq!(c("(?,7)", "(4,7)").as_deref(), Some("(?,1)"));
    assert_eq!(c("(10,7,3)", "(4,2)").as_deref(), Some("(3,4,3)"));
    assert_eq!(c("10", "0"), None);
    // By an integer leaf by leaf: exact where sizes divide, too few blocks where they do not.
    assert_eq!(c("(4,6)", "8").as_deref(), Some("(1,3)"));
    assert_eq!(c("(2,2)", "3").as_deref(), Some("(1,1)"));
    assert_eq!(c("(5,6)", "6").as_deref(), Some("(1,3)"));
}

#[test]
fn max_common_vector_by_example() {
    assert_eq!(
        layout("(8,8):(1,8)").max_common_vector(&layout("(8,8):(1,8)")),
        Ok(64)
    );
    assert_eq!(
        layout("(8,8):(1,16)").max_common_vector(&layout("(8,8):(1,8)")),
        Ok(8)
    );
    assert_eq!(
        layout("(8,8):(8,1)").max_common_vector(&layout("(8,8):(1,8)")),
        Ok(1)
    );
    assert_eq!(
        layout("(4,2):(?,1)").max_common_vector(&layout("(4,2):(2,1)")),
        Ok(2)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn coalesce_is_the_same_function(l in either(300, -8)) {
        let c = l.coalesce().expect("static");
        prop_assert!(c.depth() <= 1);
        prop_assert_eq!(values(&c), values(&l));
        prop_assert_eq!(c.coalesce(), Ok(c.clone()));
        let modes = leaves(&c);
        prop_assert!(modes.windows(2).all(|w| w[0].0 * w[0].1 != w[1].1), "{}", c);
        prop_assert!(modes.len() == 1 || modes.iter().all(|m| m.0 != 1), "{}", c);
        let by = l.coalesce_by(&l.shape().clone()).expect("own profile");
        prop_assert_eq!(by, l);
    }

    #[test]
    fn filter_keeps_the_image(l in either(300, -8)) {
        let f = l.filter().expect("static");
        let image = |l: &Layout| values(l).into_iter().collect::<HashSet<_>>();
        prop_assert_eq!(image(&f), image(&l));
        let z = l.filter_zeros().expect("static");
        prop_assert!(z.shape().congruent(l.shape()));
        prop_assert_eq!(image(&z), image(&l));
    }

    #[test]
    fn complement_fills_the_gaps(l in either(64, 0), target in 1i64..200) {
        match l.complement(&int(target)) {
            Ok(c) => {
                let f = l.filter().expect("static");
                let v = values(&c);
                prop_assert!(v.windows(2).all(|w| w[0] < w[1]), "{} is not ordered", c);
                let mut sums: Vec<i64> = values(&f).iter().flat_map(|a| v.iter().map(move |b| a + b)).collect();
                sums.sort_unstable();
                prop_assert!(sums.windows(2).all(|w| w[0] < w[1]), "{} and {} meet", l, c);
                prop_assert!((0..target).all(|x| sums.binary_search(&x).is_ok()), "{} and {} leave gaps below {}", l, c, target);
            }
            Err(e) => {
                prop_assert!(matches!(e, LayoutError::NotInjective { .. }), "{}", e);
                // Refused only where a stride is no multiple of what lies below it.
                let mut modes: Vec<_> = leaves(&l.filter().expect("static")).into_iter().map(|(s, d)| (d, s)).collect();
                modes.sort_unstable();
                prop_assert!(modes.windows(2).any(|w| w[1].0 % (w[0].0 * w[0].1) != 0), "{}", l);
            }
        }
    }

    #[test]
    fn right_inverse_inverts(l in either(200, -4)) {
        let r = l.right_inverse().expect("static");
        for i in 0..size(&r) {
            prop_assert!(eval(&r, i) < size(&l));
            prop_assert_eq!(eval(&l, eval(&r, i)), i, "{} of {}", r, l);
        }
    }

    #[test]
    fn bijections_have_both_inverses(l in compact_layout(300)) {
        for inv in [l.right_inverse().expect("right"), l.left_inverse().expect("left")] {
            prop_assert_eq!(size(&inv), size(&l));
            for i in 0..size(&l) {
                prop_assert_eq!(eval(&inv, eval(&l, i)), i);
                prop_assert_eq!(eval(&l, eval(&inv, i)), i);
            }
        }
    }

    #[test]
    fn left_inverse_is_a_quasi_inverse(l in either(200, 0)) {
        match l.left_inverse() {
            Ok(g) => for i in 0..size(&l) {
                let back = eval(&g, eval(&l, i));
                prop_assert_eq!(eval(&l, back), eval(&l, i), "{} of {}", g, l);
                if injective(&l) {
                    prop_assert_eq!(back, i);
                }
            },
            Err(e) => prop_assert!(matches!(e, LayoutError::NotInjective { .. }), "{}", e),
        }
    }

    #[test]
    fn divide_is_composition_with_tile_and_rest(l in either(120, -4), t in compact_layout(12), stretch in 1i64..4) {
        let t = Layout::new(t.shape().clone(), t.stride().static_leaves().map(|d| {
            let mut it = d.into_iter().map(|x| x * stretch);
            refill(t.shape(), &mut it)
        }).expect("static")).expect("congruent");
        let Ok(rest) = t.complement(&int(size(&l))) else { return Ok(()) };
        match l.logical_divide(&Tile::Layout(t.clone())) {
            Ok(d) => {
                prop_assert_eq!(d.rank(), 2);
                for (j, r) in values(&rest).into_iter().enumerate() {
                    for (i, x) in values(&t).into_iter().enumerate() {
                        prop_assert_eq!(eval(&d, i as i64 + size(&t) * j as i64), eval(&l, x + r), "{} by {}", l, t);
                    }
                }
                let exact = l.divides_evenly(&Tile::Layout(t.clone())).expect("divides");
                if exact {
                    let (mut a, mut b) = (values(&d), values(&l));
                    a.sort_unstable();
                    b.sort_unstable();
                    prop_assert_eq!(a, b, "{} by {}", l, t);
                }
            }
            Err(e) => prop_assert!(matches!(e, LayoutError::Composition { .. }), "{}", e),
        }
    }

    #[test]
    fn zipped_tiled_and_flat_divide_are_one_function(l in compact_layout(64), a in 1i64..5, b in 1i64..5) {
        let Ok(two) = Layout::from_modes(&[l.clone(), layout("4:100")]) else { return Ok(()) };
        let t = Tile::Modes(vec![Tile::Layout(Layout::leaf(a, 1).expect("leaf")), Tile::Layout(Layout::leaf(b, 1).expect("leaf"))]);
        if let Ok(z) = two.zipped_divide(&t) {
            let v = values(&z);
            prop_assert_eq!(&v, &values(&two.tiled_divide(&t).expect("tiled")));
            prop_assert_eq!(&v, &values(&two.flat_divide(&t).expect("flat")));
            let logical = two.logical_divide(&t).expect("logical");
            let (mut x, mut y) = (values(&logical), v);
            x.sort_unstable();
            y.sort_unstable();
            prop_assert_eq!(x, y);
        }
    }

    #[test]
    fn product_repeats_the_block(b in either(24, 0), t in either(24, 0)) {
        match b.logical_product(&Tile::Layout(t.clone())) {
            Ok(p) => {
                // The copies stand where the complement says, if there is one.
                let c = b.complement_open();
                for (j, x) in values(&t).into_iter().enumerate() {
                    for (i, y) in values(&b).into_iter().enumerate() {
                        let at = eval(&p, i as i64 + size(&b) * j as i64);
                        let start = c.as_ref().map_or(eval(&p, size(&b) * j as i64), |c| eval(c, x));
                        prop_assert_eq!(at, y + start, "{} by {}", b, t);
                    }
                }
                if injective(&b) && injective(&t) {
                    prop_assert!(injective(&p), "{} by {} = {}", b, t, p);
                }
            }
            Err(e) => prop_assert!(matches!(e, LayoutError::NotInjective { .. } | LayoutError::Composition { .. }), "{}", e),
        }
    }

    #[test]
    fn blocked_and_raked_products_hold_the_same_elements(b in compact_layout(16), t in compact_layout(16)) {
        let (Ok(x), Ok(y)) = (b.blocked_product(&t), b.raked_product(&t)) else { return Ok(()) };
        let (mut x, mut y) = (values(&x), values(&y));
        x.sort_unstable();
        y.sort_unstable();
        prop_assert_eq!(&x, &(0..x.len() as i64).collect::<Vec<_>>());
        prop_assert_eq!(x, y);
    }

    #[test]
    fn slice_keeps_what_it_names(l in any_layout(200, -8), picks in prop::collection::vec((any::<bool>(), 0i64..6), 16)) {
        let modes = l.modes();
        let coord: Vec<IntTuple> = modes.iter().zip(&picks).map(|(m, (keep, c))| {
            if *keep { IntTuple::underscore() } else { int(c % size(m)) }
        }).collect();
        let coord = if l.shape().is_tuple() { tuple(coord) } else { coord[0].clone() };
        let (s, off) = l.slice(&coord).expect("slice");
        let kept: i64 = modes.iter().zip(&picks).filter(|(_, p)| p.0).map(|(m, _)| size(m)).product();
        if kept == 1 && coord.as_leaf().is_some() && !coord.has_underscore() {
            prop_assert_eq!(off, l.crd2idx(&coord).expect("offset"));
            return Ok(());
        }
        prop_assert_eq!(s.size(), Ok(kept));
        for i in 0..kept {
            let mut rest = i;
            let full: Vec<IntTuple> = modes.iter().zip(&picks).map(|(m, (keep, c))| {
                if *keep { let x = rest % size(m); rest /= size(m); int(x) } else { int(c % size(m)) }
            }).collect();
            let full = if l.shape().is_tuple() { tuple(full) } else { full[0].clone() };
            prop_assert_eq!(off + if s.rank() == 0 { 0 } else { eval(&s, i) }, l.crd2idx(&full).expect("inside"));
        }
    }

    #[test]
    fn the_three_forms_of_a_coordinate_agree(l in any_layout(200, -8)) {
        for i in 0..size(&l) {
            let natural = l.idx2crd(i).expect("inside");
            prop_assert!(natural.congruent(l.shape()));
            let v = eval(&l, i);
            prop_assert_eq!(l.at(i), v);
            prop_assert_eq!(l.crd2idx(&int(i)), Ok(v));
            prop_assert_eq!(l.crd2idx(&natural), Ok(v));
            if l.shape().is_tuple() {
                let mut rest = i;
                let by_mode = tuple(l.modes().iter().map(|m| { let c = rest % size(m); rest /= size(m); int(c) }));
                prop_assert_eq!(l.crd2idx(&by_mode), Ok(v));
                prop_assert_eq!(l.shape().idx2crd(&by_mode), Ok(natural));
            }
        }
        let reach = values(&l).into_iter().map(i64::abs).max().unwrap_or(0);
        prop_assert!(l.cosize().expect("static") > reach);
    }

    #[test]
    fn upcast_undoes_downcast(l in either(100, -8), n in 1i64..5) {
        if let Ok(d) = l.downcast(n) {
            prop_assert_eq!(d.upcast(n).map(|u| values(&u)), Ok(values(&l)));
            // The narrow elements of the wide element at x are n*x .. n*x + n, each as often as x occurs.
            let mut wide: Vec<i64> = values(&l).into_iter().flat_map(|x| (0..n).map(move |i| n * x + i)).collect();
            let mut narrow = values(&d);
            wide.sort_unstable();
            narrow.sort_unstable();
            prop_assert_eq!(narrow, wide, "{} by {}", l, n);
        }
    }

    #[test]
    fn upcast_moves_whole_elements(l in either(100, -8), n in 1i64..9) {
        if let Ok(u) = l.upcast(n) {
            let narrow = values(&l);
            if size(&u) == size(&l) {
                let wide: Vec<i64> = narrow.iter().map(|x| x / n).collect();
                prop_assert!(narrow.iter().all(|x| x % n == 0), "{} by {}", l, n);
                prop_assert_eq!(values(&u), wide);
            } else {
                prop_assert_eq!(size(&u) * n, size(&l));
                let mut wide: Vec<i64> = values(&u).into_iter().flat_map(|x| (0..n).map(move |i| n * x + i)).collect();
                let mut narrow = narrow;
                wide.sort_unstable();
                narrow.sort_unstable();
                prop_assert_eq!(narrow, wide, "{} by {} = {}", l, n, u);
            }
        }
    }

    #[test]
    fn tile_to_shape_holds_whole_blocks(b in compact_layout(24), copies in prop::collection::vec(1i64..4, 4)) {
        let target = tuple(b.modes().iter().zip(&copies).map(|(m, c)| int(size(m) * c)).chain([int(copies[3])]));
        let Ok(r) = b.tile_to_shape(&target, None) else { return Ok(()) };
        prop_assert!(target.compatible(r.shape()), "{}", r);
        let mut v = values(&r);
        v.sort_unstable();
        prop_assert_eq!(v, (0..target.size().expect("static")).collect::<Vec<_>>());
    }

    #[test]
    fn likes_are_compact(l in any_layout(200, 0)) {
        let like = l.make_layout_like().expect("static");
        prop_assert_eq!(like.shape(), l.shape());
        if injective(&l) {
            let mut v = values(&like);
            v.sort_unstable();
            prop_assert_eq!(v, (0..size(&l)).collect::<Vec<_>>(), "{} like {}", like, l);
        }
        let f = l.make_fragment_like().expect("static");
        prop_assert_eq!(f.shape(), l.shape());
        if l.rank() > 1 {
            let held: i64 = leaves(&l.mode(0).expect("mode")).iter().filter(|m| m.1 != 0).map(|m| m.0).product();
            let rest: i64 = l.modes().iter().skip(1).map(size).product();
            let image: HashSet<i64> = values(&f).into_iter().collect();
            prop_assert_eq!(image, (0..held * rest).collect::<HashSet<_>>(), "{} like {}", f, l);
        }
    }

    #[test]
    fn max_common_vector_is_common(a in either(64, 0), b in either(64, 0)) {
        let n = a.max_common_vector(&b).expect("static");
        let inverse = b.right_inverse().expect("static");
        prop_assert!(n >= 1 && n <= size(&inverse));
        for i in 0..n {
            prop_assert_eq!(eval(&a, eval(&inverse, i)), i, "{} and {}", a, b);
        }
    }
}

fn refill(shape: &IntTuple, it: &mut impl Iterator<Item = i64>) -> IntTuple {
    match shape {
        IntTuple::Leaf(_) => int(it.next().unwrap_or(0)),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| refill(t, it)).collect()),
    }
}
