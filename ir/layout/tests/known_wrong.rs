//! The cases that other implementations of the algebra are known to get wrong, by name.

use crate::common::*;
use cute_layout::{LayoutError, Tile};

/// CuTe's test (a stride divides an extent, or is below it) accepts `(6,2):(1,100) o 4:4` as `(2,2):(4,100)`, which gives 100
/// at 2 where the function is 102. All pairs of a small grid are right here, or have no layout.
#[test]
fn composition_where_divisibility_is_not_enough() {
    let e = layout("(6,2):(1,100)")
        .composition(&layout("4:4"))
        .expect_err("the values 0 4 102 200 are no layout's");
    assert!(matches!(e, LayoutError::Composition { .. }), "{e}");
    let (mut given, mut refused) = (0, 0);
    for s0 in 1..=8 {
        for d0 in 0..=3 {
            for (s, d) in (1..=8).flat_map(|s| (0..=9).map(move |d| (s, d))) {
                let a = layout(&format!("({s0},3):({d0},50)"));
                let b = layout(&format!("{s}:{d}"));
                match a.composition(&b) {
                    Ok(r) => {
                        given += 1;
                        for i in 0..s {
                            assert_eq!(eval(&r, i), eval(&a, i * d), "{a} o {b} = {r} at {i}");
                        }
                    }
                    Err(e) => {
                        refused += 1;
                        assert!(!composition_exists(&a, &b), "{a} o {b}: {e}");
                    }
                }
            }
        }
    }
    assert!(given > 1500 && refused > 300, "{given} and {refused}");
}

/// `(8,8,4):(32,1,8) o (8,4,8):(1,1,1)` is not the modes' own compositions side by side: they carry into each other.
#[test]
fn composition_where_modes_carry() {
    let (a, b) = (layout("(8,8,4):(32,1,8)"), layout("(8,4,8):(1,1,1)"));
    for mode in b.modes() {
        assert!(a.composition(&mode).is_ok(), "{mode} alone is fine");
    }
    let e = a.composition(&b).expect_err("they carry");
    assert!(matches!(e, LayoutError::Composition { .. }), "{e}");
    assert!(!composition_exists(&a, &b));
    // The same tile with strides that do not carry.
    let b = layout("(8,8,4):(1,8,64)");
    let r = a.composition(&b).expect("no carry");
    assert_eq!(values(&r), values(&a));
}

/// `10:1` by `4:1` has 12 elements: the rest rounds up, and that can be asked.
#[test]
fn divides_that_round_up_say_so() {
    let (l, t) = (layout("10:1"), Tile::Layout(layout("4:1")));
    let d = l.logical_divide(&t).expect("rounds up");
    assert_eq!((d.to_string().as_str(), d.size()), ("(4,3):(1,4)", Ok(12)));
    assert_eq!(l.divides_evenly(&t), Ok(false));
    assert_eq!(layout("12:1").divides_evenly(&t), Ok(true));
}

/// Beyond its domain a layout goes on by its last leaf.
#[test]
fn composition_beyond_the_domain() {
    let (a, b) = (layout("(4,3):(3,1)"), layout("24:1"));
    let r = a.composition(&b).expect("extended");
    assert_eq!(r.to_string(), "(4,6):(3,1)");
    assert!((0..24).all(|i| eval(&r, i) == eval(&a, i)));
    // A last leaf of size 1 says how it goes on, too.
    let r = layout("(4,1):(1,0)").composition(&layout("8:1"));
    assert_eq!(r.map(|r| r.to_string()).as_deref(), Ok("(4,2):(1,0)"));
}

/// `(2,2):(1,4) o 2:3` is `2:5`, refused elsewhere because 3 neither divides 2 nor is divided by it.
#[test]
fn composition_that_exists_without_divisibility() {
    let r = layout("(2,2):(1,4)").composition(&layout("2:3"));
    assert_eq!(r.map(|r| r.to_string()).as_deref(), Ok("2:5"));
    let r = layout("(3,2):(1,3)").composition(&layout("3:2"));
    assert_eq!(r.map(|r| r.to_string()).as_deref(), Ok("3:2"));
}

/// pycute says -2 for `4:-1`.
#[test]
fn cosize_of_negative_strides() {
    assert_eq!(layout("4:-1").cosize(), Ok(4));
    assert_eq!(layout("(4,3):(-3,1)").cosize(), Ok(12));
}

/// pycute's product by an integer divides.
#[test]
fn products_by_one_leaf_multiply() {
    let p = layout("(2,2):(4,1)").logical_product(&Tile::Layout(layout("6:1")));
    assert_eq!(p.map(|p| p.size()), Ok(Ok(24)));
}

/// CuTe divides by what does not divide: `(2,2):(1,5)` would get `(2,10):(2,10)` in 100, which never reaches 4.
#[test]
fn complements_leave_no_gap() {
    let l = layout("(2,2):(1,5)");
    let in_four = l.complement(&cute_layout::int(4));
    assert_eq!(in_four.map(|c| c.to_string()).as_deref(), Ok("2:2"));
    for target in [5, 100] {
        let e = l
            .complement(&cute_layout::int(target))
            .expect_err("4 meets 5");
        assert!(
            e.to_string().contains("offset 5 is reached twice or never"),
            "{e}"
        );
        assert!(!complement_exists(&values(&l), target));
    }
    // cutegen gives zero extents for what is not injective.
    let e = layout("(2,2):(2,2)").complement(&cute_layout::int(8));
    assert!(matches!(e, Err(LayoutError::NotInjective { .. })), "{e:?}");
}

/// A left inverse needs no strides that divide.
#[test]
fn left_inverses_without_divisibility() {
    for (l, expected) in [
        ("(2,2):(2,3)", "(2,3):(1,1)"),
        ("(2,2):(3,8)", "(3,4):(0,1)"),
    ] {
        let l = layout(l);
        let g = l.left_inverse().expect("exists");
        assert_eq!(g.to_string(), expected);
        for i in 0..size(&l) {
            assert_eq!(eval(&g, eval(&l, i)), i, "{g} of {l}");
        }
    }
}

/// A tiler of one leaf that must be split is still one mode of copies.
#[test]
fn blocked_product_of_one_leaf_that_splits() {
    let r = layout("(8):(4)").blocked_product(&layout("8:1"));
    assert_eq!(
        r.map(|r| r.to_string()).as_deref(),
        Ok("((8,(4,2))):((4,(1,32)))")
    );
}
