//! Elements of another width.

use super::super::brute::*;
use super::super::source::Source;
use cute_layout::{Layout, LayoutError};

// The narrow elements that the wide ones hold.
fn spread(wide: &[i64], n: i64) -> Vec<i64> {
    sorted(
        wide.iter()
            .flat_map(|x| (0..n).map(move |i| n * x + i))
            .collect(),
    )
}

/// Checks a layout of elements `n` times as wide; says which case it is.
fn widened(l: &Layout, n: i64, u: &Layout) {
    let narrow = values(l);
    if size(u) == size(l) {
        let wide: Vec<i64> = narrow.iter().map(|x| x / n).collect();
        assert!(narrow.iter().all(|x| x % n == 0), "{l} by {n} = {u}");
        assert_eq!(values(u), wide, "{l} by {n} = {u}");
    } else {
        assert_eq!(size(u) * n, size(l), "{l} by {n} = {u}");
        assert_eq!(spread(&values(u), n), sorted(narrow), "{l} by {n} = {u}");
    }
}

pub fn upcast(s: &mut Source<'_>) -> bool {
    let l = s.layout(120, true);
    let n = s.pick(&[1, 2, 2, 2, 3, 4, 4, 6, 8]);
    match l.upcast(n) {
        Ok(u) => {
            assert!(u.shape().congruent(l.shape()), "{l} by {n} = {u}");
            widened(&l, n, &u);
            true
        }
        Err(e) => {
            assert!(matches!(e, LayoutError::Divisibility { .. }), "{l}: {e}");
            // Leaf by leaf nothing is left to try: no leaf can give up a factor so that the rest are whole elements.
            assert!(!widened_exists(&l, n), "{l} by {n}: {e}");
            false
        }
    }
}

/// Tells whether dividing extents by some factors (in all `n`, or none) and strides accordingly gives whole elements.
fn widened_exists(l: &Layout, n: i64) -> bool {
    let modes = leaves(l);
    if values(l).iter().all(|x| x % n == 0) && modes.iter().all(|m| m.1 % n == 0 || m.0 == 1) {
        return true;
    }
    fn choose(
        modes: &[(i64, i64)],
        n: i64,
        k: usize,
        left: i64,
        out: &mut Vec<(i64, i64)>,
    ) -> bool {
        if k == modes.len() {
            if left != 1 {
                return false;
            }
            let all = |m: &[(i64, i64)]| {
                let mut v = vec![0];
                for (s, d) in m {
                    v = (0..*s)
                        .flat_map(|c| v.iter().map(move |x| x + c * d))
                        .collect();
                }
                v
            };
            return spread(&all(out), n) == sorted(all(modes));
        }
        let (s, d) = modes[k];
        (1..=left).filter(|f| left % f == 0 && s % f == 0).any(|f| {
            // The stride of what is left of the leaf, in wide elements.
            if s / f > 1 && (d * f) % n != 0 {
                return false;
            }
            out.push((s / f, if s / f > 1 { d * f / n } else { 0 }));
            let found = choose(modes, n, k + 1, left / f, out);
            out.pop();
            found
        })
    }
    choose(&modes, n, 0, n, &mut vec![])
}

pub fn downcast(s: &mut Source<'_>) -> bool {
    let l = s.layout(120, true);
    let n = s.pick(&[1, 2, 2, 3, 4, 8]);
    match l.downcast(n) {
        Ok(d) => {
            assert!(d.shape().congruent(l.shape()), "{l} by {n} = {d}");
            assert_eq!(
                spread(&values(&l), n),
                sorted(values(&d)),
                "{l} by {n} = {d}"
            );
            assert_eq!(
                d.upcast(n).map(|u| values(&u)),
                Ok(values(&l)),
                "{l} by {n} = {d}"
            );
            true
        }
        Err(e) => {
            assert!(matches!(e, LayoutError::Divisibility { .. }), "{l}: {e}");
            // There is no mode to grow: none of stride 1, or several, or one that runs backwards.
            let long = leaves(&l).into_iter().filter(|m| m.0 > 1);
            let ones = long.clone().filter(|m| m.1 == 1).count();
            let size_one = leaves(&l).contains(&(1, 1));
            let back = long.clone().any(|m| m.1 == -1);
            assert!(
                back || ones > 1 || (ones == 0 && !size_one),
                "{l} by {n}: {e}"
            );
            false
        }
    }
}

pub fn recast(s: &mut Source<'_>) -> bool {
    let l = s.layout(120, true);
    let (old, new) = (s.pick(&[4, 8, 16, 32]), s.pick(&[4, 6, 8, 16, 24, 32]));
    match l.recast(old, new) {
        Ok(r) if old < new && new % old == 0 => widened(&l, new / old, &r),
        Ok(r) => {
            // The same bits in the same multiplicity, wherever each wide element is whole.
            let bits = |l: &Layout, w: i64| spread(&values(l), w);
            if size(&r) * new == size(&l) * old {
                assert_eq!(
                    bits(&l, old),
                    bits(&r, new),
                    "{l} from {old} to {new} = {r}"
                );
            } else {
                let within = bits(&r, new);
                assert!(
                    bits(&l, old)
                        .iter()
                        .all(|b| within.binary_search(b).is_ok()),
                    "{l} from {old} to {new} = {r}"
                );
            }
        }
        Err(e) => {
            assert!(matches!(e, LayoutError::Divisibility { .. }), "{l}: {e}");
            return false;
        }
    }
    true
}
