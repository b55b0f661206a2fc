//! The layouts of real GEMMs that are measured: every operation that is timed gives the right function.

use crate::common::*;
use cute_layout::{Layout, Tile, int};

/// Indices of a domain, all of a small one.
fn some(n: i64) -> impl Iterator<Item = i64> {
    (0..n).step_by((n / 5003).max(1) as usize).chain([n - 1])
}

// Values of the tile's part of a mode, then of the rest: what a by-mode divide gathers.
fn halves(l: &Layout, t: &Tile) -> (Layout, Layout) {
    match t {
        Tile::Layout(t) => {
            let rest = t.complement(&int(size(l))).expect("fills");
            (t.clone(), rest)
        }
        _ => panic!("one mode of a tile is a layout here"),
    }
}

#[test]
fn what_is_measured_is_right() {
    for c in &crate::measured::CASES {
        let (l, rhs) = (layout(c.layout), layout(c.rhs));
        assert_eq!(l.to_string(), c.layout, "{}", c.name);
        let r = l.composition(&rhs).expect(c.name);
        for i in some(size(&rhs)) {
            assert_eq!(
                eval(&r, i),
                eval(&l, eval(&rhs, i)),
                "{}: {r} at {i}",
                c.name
            );
        }
        let flat = l.coalesce().expect(c.name);
        assert!(
            some(size(&l)).all(|i| eval(&flat, i) == eval(&l, i)),
            "{}",
            c.name
        );
        let back = l.right_inverse().expect(c.name);
        assert!(
            some(size(&back)).all(|i| eval(&l, eval(&back, i)) == i),
            "{}",
            c.name
        );
        let left = l.left_inverse().expect(c.name);
        for i in some(size(&l)) {
            let x = eval(&l, i);
            assert_eq!(eval(&l, eval(&left, x)), x, "{}: {left} at {x}", c.name);
        }
        let (fill, target) = (layout(c.fill.0), c.fill.1);
        let rest = fill.complement(&int(target)).expect(c.name);
        assert!(size(&fill) * size(&rest) >= target, "{}: {rest}", c.name);
        // Disjoint and complete: together a bijection, whose inverse is exact.
        let both = Layout::from_modes(&[fill.clone(), rest]).expect(c.name);
        let inverse = both.right_inverse().expect(c.name);
        assert_eq!(size(&inverse), size(&both), "{}", c.name);
    }
}

#[test]
fn divides_of_the_list_are_right() {
    for c in &crate::measured::CASES {
        let (l, t) = (layout(c.layout), Tile::parse(c.tile).expect(c.tile));
        let d = l.logical_divide(&t).expect(c.name);
        let z = l.zipped_divide(&t).expect(c.name);
        let (mut first, mut second) = (vec![], vec![]);
        for (i, m) in d.modes().into_iter().enumerate() {
            match t.modes().get(i) {
                None => second.push(m),
                Some(Tile::Underscore) => {
                    assert_eq!(Ok(&m), l.mode(i).as_ref(), "{}", c.name);
                    first.push(m.mode(0).expect(c.name));
                    second.push(m.mode(1).expect(c.name));
                }
                Some(t) => {
                    let whole = l.mode(i).expect(c.name);
                    let (tile, rest) = halves(&whole, t);
                    let n = size(&tile);
                    for k in some(size(&m)) {
                        let at = eval(&tile, k % n) + eval(&rest, k / n);
                        assert_eq!(eval(&m, k), eval(&whole, at), "{}: {m} at {k}", c.name);
                    }
                    first.push(m.mode(0).expect(c.name));
                    second.push(m.mode(1).expect(c.name));
                }
            }
        }
        let (first, second) = (Layout::from_modes(&first), Layout::from_modes(&second));
        let both = [first.expect(c.name), second.expect(c.name)];
        assert_eq!(Ok(z), Layout::from_modes(&both), "{}", c.name);
    }
}
