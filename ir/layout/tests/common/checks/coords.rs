//! Coordinates, swizzles, and arithmetic on shapes.

use super::super::brute::*;
use super::super::source::{Source, refill};
use cute_layout::{ComposedLayout, Inner, IntTuple, Layout, Swizzle, int, tuple};

pub fn coordinates(s: &mut Source<'_>) -> bool {
    let l = s.layout(200, true);
    let extents: Vec<i64> = leaves(&l).iter().map(|m| m.0).collect();
    let flat = l.flat().expect("static");
    for i in 0..size(&l) {
        let v = eval(&l, i);
        let natural = refill(l.shape(), &mut digits(&extents, i).into_iter());
        assert_eq!(l.idx2crd(i).as_ref(), Ok(&natural), "{l} at {i}");
        assert_eq!((l.at(i), flat.at(i), flat.checked_at(i)), (v, v, Some(v)));
        assert_eq!(l.crd2idx(&int(i)), Ok(v), "{l} at {i}");
        assert_eq!(l.crd2idx(&natural), Ok(v), "{l} at {natural}");
        if l.shape().is_tuple() {
            let sizes: Vec<i64> = l.modes().iter().map(size).collect();
            let by_mode = tuple(digits(&sizes, i).into_iter().map(int));
            assert_eq!(l.crd2idx(&by_mode), Ok(v), "{l} at {by_mode}");
            assert_eq!(l.shape().idx2crd(&by_mode).as_ref(), Ok(&natural));
        }
    }
    // Beyond the domain the last leaf goes on; below, as an odd function.
    for i in [size(&l), size(&l) + 1, 2 * size(&l) + 3, 1000] {
        assert_eq!(
            (l.at(i), flat.checked_at(-i)),
            (eval(&l, i), Some(-eval(&l, i)))
        );
    }
    let reach: i64 = leaves(&l).iter().map(|m| (m.0 - 1) * m.1.abs()).sum();
    assert_eq!(l.cosize(), Ok(reach + 1), "{l}");
    assert_eq!(l.size(), Ok(size(&l)), "{l}");
    assert!(l.crd2idx(&tuple((0..=l.rank()).map(|_| int(0)))).is_err() || l.rank() == 0);
    true
}

/// A swizzle bit by bit.
fn swizzled(b: i64, m: i64, s: i64, x: i64) -> i64 {
    let mut out = x;
    for k in 0..b {
        let (to, from) = if s >= 0 {
            (m + k, m + k + s)
        } else {
            (m + k - s, m + k)
        };
        out ^= ((x >> from) & 1) << to;
    }
    out
}

pub fn swizzles(s: &mut Source<'_>) -> bool {
    let (b, m, shift) = (s.range(-1, 5), s.range(-1, 6), s.range(-7, 7));
    let ok = b >= 0 && m >= 0 && shift.abs() >= b && b + m + shift.abs() <= 32;
    let swizzle = Swizzle::new(b, m, shift);
    assert_eq!(swizzle.is_ok(), ok, "S<{b},{m},{shift}>");
    let Ok(swizzle) = swizzle else { return false };
    let l = s.layout(200, false);
    let offset = s.range(0, 200) * 16;
    let composed = ComposedLayout::new(Inner::Swizzle(swizzle), int(offset), l.clone());
    let composed = composed.expect("a scalar offset");
    assert_eq!(composed.size(), Ok(size(&l)));
    for i in 0..size(&l) {
        let want = swizzled(b, m, shift, offset + eval(&l, i));
        assert_eq!(composed.crd2idx(&int(i)), Ok(want), "{composed} at {i}");
        assert_eq!(swizzle.apply(want), offset + eval(&l, i), "{swizzle}");
    }
    let outer = s.layout(60, false);
    let through = ComposedLayout::new(Inner::Layout(l.clone()), int(offset), outer.clone());
    let through = through.expect("a scalar offset");
    for i in 0..size(&outer) {
        let want = eval(&l, offset + eval(&outer, i));
        assert_eq!(through.crd2idx(&int(i)), Ok(want), "{through} at {i}");
    }
    true
}

// Divides leaf by leaf, the fastest first; what is left behind the last leaf is dropped, as in CuTe.
fn divided(extents: &[i64], by: i64) -> Option<Vec<i64>> {
    let mut rest = by;
    let out = extents.iter().map(|e| {
        if e % rest == 0 {
            let q = e / rest;
            rest = 1;
            Some(q)
        } else if rest % e == 0 {
            rest /= e;
            Some(1)
        } else {
            None
        }
    });
    out.collect()
}

pub fn shapes(s: &mut Source<'_>) -> bool {
    let a = s.shape(400);
    let extents = a.static_leaves().expect("static");
    let by = s.pick(&[1, 2, 2, 3, 4, 4, 6, 8, 12]);
    let quotient = a.shape_div(&int(by));
    let want = divided(&extents, by).map(|v| refill(&a, &mut v.into_iter()));
    match (&quotient, &want) {
        (Ok(q), Some(w)) => assert_eq!(q, w, "{a} / {by}"),
        (Err(_), None) => {}
        _ => panic!("{a} / {by} = {quotient:?}, not {want:?}"),
    }
    if let IntTuple::Tuple(modes) = &a {
        let by: Vec<i64> = modes.iter().map(|_| s.range(1, 4)).collect();
        let by = tuple(by.into_iter().map(int));
        // (Of a nested mode each leaf is rounded up, as in CuTe, which need not cover it.)
        if let Ok(c) = a.ceil_div(&by)
            && a.depth() == 1
        {
            for ((a, c), b) in modes.iter().zip(c.modes()).zip(by.modes()) {
                let (a, b) = (a.size().expect("static"), b.size().expect("static"));
                let c = c.size().expect("static");
                assert!(c * b >= a, "{a} / {b} = {c}");
            }
        }
    }
    let n = s.range(1, 100);
    let l = Layout::leaf(n, 1).expect("leaf");
    let up = l.shape().ceil_div(&int(by)).expect("positive");
    assert_eq!(up, int((n + by - 1) / by));
    quotient.is_ok()
}
