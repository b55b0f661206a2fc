//! Coalesce, filter, composition, complement, inverses.

use super::super::brute::*;
use super::super::source::Source;
use super::never_static;
use cute_layout::{IntTuple, Kind, Layout, LayoutError, Tile, int};

pub fn coalesce(s: &mut Source<'_>) -> bool {
    let l = s.layout(400, true);
    let c = l.coalesce().expect("static");
    assert!(c.depth() <= 1, "{l}: {c}");
    assert_eq!(values(&c), values(&l), "{l}: {c}");
    let modes = leaves(&c);
    assert!(
        modes.windows(2).all(|w| w[0].0 * w[0].1 != w[1].1),
        "{l}: {c}"
    );
    assert!(
        modes.len() == 1 || modes.iter().all(|m| m.0 != 1),
        "{l}: {c}"
    );
    assert_eq!(c.coalesce(), Ok(c.clone()));
    true
}

// The parts of a layout at the leaves of a profile.
fn parts(l: &Layout, profile: &IntTuple, out: &mut Vec<Layout>) {
    match profile {
        IntTuple::Leaf(_) => out.push(l.clone()),
        IntTuple::Tuple(p) => {
            for (i, m) in l.modes().iter().enumerate() {
                match p.get(i) {
                    Some(p) => parts(m, p, out),
                    None => out.push(m.clone()),
                }
            }
        }
    }
}

pub fn coalesce_by(s: &mut Source<'_>) -> bool {
    let l = s.layout(300, true);
    let profile = match s.below(3) {
        0 => l.shape().clone(),
        1 => s.profile(3),
        _ => int(1),
    };
    let (by, filtered) = (l.coalesce_by(&profile), l.filter_by(&profile));
    let fits = reaches(&profile, l.shape());
    assert_eq!(by.is_ok(), fits, "{l} by {profile}: {by:?}");
    assert_eq!(filtered.is_ok(), fits, "{l} by {profile}");
    let (Ok(by), Ok(filtered)) = (by, filtered) else {
        return false;
    };
    assert_eq!(values(&by), values(&l), "{l} by {profile}: {by}");
    let (mut before, mut after, mut bare) = (vec![], vec![], vec![]);
    parts(&l, &profile, &mut before);
    parts(&by, &profile, &mut after);
    parts(&filtered, &profile, &mut bare);
    assert_eq!(before.len(), after.len(), "{l} by {profile}: {by}");
    assert_eq!(before.len(), bare.len(), "{l} by {profile}: {filtered}");
    for ((b, a), f) in before.iter().zip(&after).zip(&bare) {
        assert_eq!(values(a), values(b), "{l} by {profile}: {by}");
        assert_eq!(image(f), image(b), "{l} by {profile}: {filtered}");
    }
    true
}

// Whether each tuple of the profile has no more modes than what stands there.
fn reaches(profile: &IntTuple, shape: &IntTuple) -> bool {
    match profile {
        IntTuple::Leaf(_) => true,
        IntTuple::Tuple(p) => {
            p.len() <= shape.rank() && p.iter().zip(shape.modes()).all(|(p, s)| reaches(p, s))
        }
    }
}

pub fn filter(s: &mut Source<'_>) -> bool {
    let l = s.layout(400, true);
    let f = l.filter().expect("static");
    assert_eq!(image(&f), image(&l), "{l}: {f}");
    let kept: i64 = leaves(&l)
        .iter()
        .filter(|m| m.1 != 0)
        .map(|m| m.0)
        .product();
    assert_eq!(size(&f), kept, "{l}: {f}");
    assert!(
        f.rank() == 1 || leaves(&f).iter().all(|m| m.0 != 1 && m.1 != 0),
        "{l}: {f}"
    );
    let z = l.filter_zeros().expect("static");
    assert!(z.shape().congruent(l.shape()));
    for ((s0, d0), (s1, d1)) in leaves(&l).into_iter().zip(leaves(&z)) {
        assert_eq!((s1, d1), (if d0 == 0 { 1 } else { s0 }, d0), "{l}: {z}");
    }
    true
}

pub fn composition(s: &mut Source<'_>) -> bool {
    let (a, b) = (s.layout(300, true), s.layout(64, true));
    compose(&a, &b)
}

pub fn composition_compact(s: &mut Source<'_>) -> bool {
    let a = s.layout(400, false);
    let shape = s.shape(size(&a));
    let inner = Layout::col_major(&shape).expect("static");
    let by = s.pick(&[1, 1, 1, 2, 3, 4, 6, 8]);
    let strides = leaves(&inner).into_iter().map(|m| m.1 * by);
    let stride = super::super::source::refill(&shape, &mut strides.collect::<Vec<_>>().into_iter());
    compose(&a, &Layout::new(shape, stride).expect("congruent"))
}

pub(super) fn compose(a: &Layout, b: &Layout) -> bool {
    match a.composition(b) {
        Ok(r) => {
            assert!(b.shape().compatible(r.shape()), "{a} o {b} = {r}");
            for i in 0..size(b) {
                assert_eq!(eval(&r, i), eval(a, eval(b, i)), "{a} o {b} = {r} at {i}");
            }
            true
        }
        Err(e) => {
            refused_rightly(a, b, &e);
            false
        }
    }
}

/// The composition does not exist, and the coordinate that the error names shows it.
pub(super) fn refused_rightly(a: &Layout, b: &Layout, e: &LayoutError) {
    let LayoutError::Composition {
        coord, truth, got, ..
    } = e
    else {
        panic!("{a} o {b}: {e}");
    };
    assert_ne!(truth, got, "{a} o {b}: {e}");
    assert!(!composition_exists(a, b), "{a} o {b} exists, but: {e}");
    if let Some((i, leaf)) = coord.split_once(" of its leaf ") {
        let leaf = Layout::parse(leaf).expect("a leaf");
        assert!(leaves(b).contains(&leaves(&leaf)[0]), "{a} o {b}: {e}");
        let i: i64 = i.parse().expect("an index");
        assert!((0..size(&leaf)).contains(&i), "{a} o {b}: {e}");
        assert_eq!(eval(a, eval(&leaf, i)), *truth, "{a} o {b}: {e}");
    } else {
        let c = IntTuple::parse(coord, Kind::Coord).expect("a coordinate");
        let c = c.static_leaves().expect("static");
        let modes = leaves(b);
        let at: i64 = c.iter().zip(&modes).map(|(c, m)| c * m.1).sum();
        let sum: i64 = c.iter().zip(&modes).map(|(c, m)| eval(a, c * m.1)).sum();
        assert_eq!((eval(a, at), sum), (*truth, *got), "{a} o {b}: {e}");
    }
}

pub fn composition_tile(s: &mut Source<'_>) -> bool {
    let l = s.layout(200, true);
    let t = s.tile(l.shape(), 0);
    let r = l.composition_tile(&t);
    by_mode(&l, &t, r.as_ref())
}

fn by_mode(l: &Layout, t: &Tile, r: Result<&Layout, &LayoutError>) -> bool {
    match (t, r) {
        (Tile::Underscore, r) => {
            assert_eq!(r, Ok(l));
            true
        }
        (Tile::Layout(b), Ok(r)) => {
            assert_eq!(size(r), size(b), "{l} o {t} = {r}");
            for i in 0..size(b) {
                assert_eq!(eval(r, i), eval(l, eval(b, i)), "{l} o {t} = {r} at {i}");
            }
            true
        }
        (Tile::Layout(b), Err(e)) => {
            refused_rightly(l, b, e);
            false
        }
        (Tile::Modes(ts), Ok(r)) => {
            assert_eq!(r.rank(), ts.len(), "{l} o {t} = {r}");
            ts.iter().enumerate().all(|(i, t)| {
                let (l, r) = (l.mode(i).expect("mode"), r.mode(i).expect("mode"));
                by_mode(&l, t, Ok(&r))
            })
        }
        (Tile::Modes(ts), Err(e)) => {
            // A mode of it is refused, and that rightly.
            let refused = ts.iter().enumerate().any(|(i, t)| {
                let l = l.mode(i).expect("tiles have no more modes than layouts");
                let r = l.composition_tile(t);
                r.is_err() && !by_mode(&l, t, r.as_ref())
            });
            assert!(refused, "{l} o {t}: {e}");
            false
        }
    }
}

pub fn with_shape(s: &mut Source<'_>) -> bool {
    let (l, shape) = (s.layout(300, true), s.shape(64));
    match l.with_shape(&shape) {
        Ok(r) => {
            assert!(shape.compatible(r.shape()), "{l} with {shape} = {r}");
            for i in 0..size(&r) {
                assert_eq!(eval(&r, i), eval(&l, i), "{l} with {shape} = {r}");
            }
            true
        }
        Err(e) => {
            let major = Layout::col_major(&shape).expect("static");
            refused_rightly(&l, &major, &e);
            false
        }
    }
}

pub fn complement(s: &mut Source<'_>) -> bool {
    let (l, target) = (s.layout(64, false), s.range(1, 200));
    complemented(&l, target)
}

pub(super) fn complemented(l: &Layout, target: i64) -> bool {
    let own = values(&Layout::from_modes(&nonzero(l)).expect("its modes"));
    match l.complement(&int(target)) {
        Ok(c) => {
            let v = values(&c);
            assert!(
                v.windows(2).all(|w| w[0] < w[1]),
                "{c} of {l} is not ordered"
            );
            assert!(leaves(&c).iter().all(|m| m.1 > 0), "{c} of {l}");
            let sums = sorted(
                own.iter()
                    .flat_map(|a| v.iter().map(move |b| a + b))
                    .collect(),
            );
            assert!(sums.windows(2).all(|w| w[0] < w[1]), "{l} and {c} meet");
            assert!(
                (0..target).all(|x| sums.binary_search(&x).is_ok()),
                "{l} and {c} leave gaps below {target}"
            );
            true
        }
        Err(e) => {
            assert!(matches!(e, LayoutError::NotInjective { .. }), "{l}: {e}");
            assert!(
                !complement_exists(&own, target),
                "{l} has a complement in {target}, but: {e}"
            );
            false
        }
    }
}

// The leaves of stride other than 0.
fn nonzero(l: &Layout) -> Vec<Layout> {
    let modes = leaves(l).into_iter().filter(|m| m.1 != 0);
    modes
        .map(|(s, d)| Layout::leaf(s, d).expect("a leaf"))
        .collect()
}

pub fn right_inverse(s: &mut Source<'_>) -> bool {
    let l = s.layout(120, true);
    let r = l.right_inverse().expect("static");
    for i in 0..size(&r) {
        let at = eval(&r, i);
        assert!((0..size(&l)).contains(&at), "{r} of {l} leaves the domain");
        assert_eq!(eval(&l, at), i, "{r} of {l}");
    }
    if injective(&l) && leaves(&l).iter().all(|m| m.1 >= 0) {
        assert_eq!(size(&r), longest_right_inverse(&l), "{r} of {l}");
    }
    true
}

pub fn left_inverse(s: &mut Source<'_>) -> bool {
    let l = s.layout(120, false);
    match l.left_inverse() {
        Ok(g) => {
            let once = injective(&l);
            for i in 0..size(&l) {
                let back = eval(&g, eval(&l, i));
                assert_eq!(eval(&l, back), eval(&l, i), "{g} of {l} at {i}");
                assert!(!once || back == i, "{g} of {l} at {i}");
            }
            true
        }
        Err(e) => {
            assert!(matches!(e, LayoutError::NotInjective { .. }), "{l}: {e}");
            assert!(!never_static(&e));
            if injective(&l) && l.cosize().expect("static") <= 16 {
                assert!(!left_inverse_exists(&l), "{l} has a left inverse, but: {e}");
            }
            false
        }
    }
}
