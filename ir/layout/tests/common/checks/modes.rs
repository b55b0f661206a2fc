//! Operations that rearrange modes, and layouts made for a shape.

use super::super::brute::*;
use super::super::source::{Source, refill};
use super::join;
use cute_layout::{IntTuple, Layout, LayoutError, int};

// A coordinate for this shape with `_` at places, and where each leaf of the shape then is: free, or at a value.
fn coord(s: &mut Source<'_>, shape: &IntTuple, fixed: &mut Vec<Option<i64>>) -> IntTuple {
    match shape {
        IntTuple::Tuple(t) if s.byte() < 150 => {
            IntTuple::Tuple(t.iter().map(|m| coord(s, m, fixed)).collect())
        }
        m => {
            let extents = m.static_leaves().expect("static");
            if s.byte() < 128 {
                fixed.extend(extents.iter().map(|_| None));
                return IntTuple::underscore();
            }
            let c = s.range(0, extents.iter().product::<i64>().min(200) - 1);
            fixed.extend(digits(&extents, c).into_iter().map(Some));
            int(c)
        }
    }
}

pub fn slice(s: &mut Source<'_>) -> bool {
    let l = s.layout(200, true);
    let mut fixed = vec![];
    let c = coord(s, l.shape(), &mut fixed);
    let modes = leaves(&l);
    let (kept, offset) = l.slice(&c).expect("a coordinate of the shape");
    let at: i64 = fixed
        .iter()
        .zip(&modes)
        .map(|(f, m)| f.unwrap_or(0) * m.1)
        .sum();
    assert_eq!(offset, at, "{l} at {c}");
    let side = |free: bool| -> Vec<(i64, i64)> {
        let both = fixed.iter().zip(&modes);
        both.filter(|(f, _)| f.is_none() == free)
            .map(|(_, m)| *m)
            .collect()
    };
    assert_eq!(leaves(&kept), side(true), "{l} at {c}: {kept}");
    assert_eq!(l.slice_modes(&c), Ok(kept), "{l} at {c}");
    let dice = l.dice(&c).expect("a coordinate of the shape");
    assert_eq!(leaves(&dice), side(false), "{l} at {c}: {dice}");
    // One mode more is no coordinate of it.
    let mut long = c.modes().to_vec();
    long.push(int(0));
    let long = IntTuple::Tuple(long);
    if long.rank() != l.rank() {
        assert!(
            matches!(l.slice(&long), Err(LayoutError::Coord { .. })),
            "{l} at {long}"
        );
    }
    true
}

pub fn group(s: &mut Source<'_>) -> bool {
    let l = s.layout(300, true);
    let (a, b) = (s.below(5), s.below(5));
    let (g, t) = (l.group(a, b), l.take(a, b));
    if a >= b || b > l.rank() {
        assert!(matches!(g, Err(LayoutError::Rank { .. })), "{l} {a}..{b}");
        assert!(matches!(t, Err(LayoutError::Rank { .. })), "{l} {a}..{b}");
        return s.byte() < 200;
    }
    let (g, t) = (g.expect("a range"), t.expect("a range"));
    assert_eq!(leaves(&g), leaves(&l), "{l} {a}..{b}");
    assert_eq!(g.rank(), l.rank() - (b - a) + 1, "{l} {a}..{b}");
    assert_eq!(g.mode(a), Ok(t.clone()), "{l} {a}..{b}");
    assert_eq!(t.modes(), l.modes()[a..b], "{l} {a}..{b}");
    true
}

pub fn select(s: &mut Source<'_>) -> bool {
    let (l, m) = (s.layout(100, true), s.layout(20, true));
    let mut appended = l.modes();
    appended.push(m.clone());
    assert_eq!(l.append(&m), Ok(join(&appended)), "{l} and {m}");
    let mut front = vec![m.clone()];
    front.extend(l.modes());
    assert_eq!(l.prepend(&m), Ok(join(&front)), "{l} and {m}");
    let rank = s.below(7);
    let (back, ahead) = (l.append_to_rank(rank, &m), l.prepend_to_rank(rank, &m));
    if rank < l.rank() {
        assert!(matches!(back, Err(LayoutError::Rank { .. })));
        assert!(matches!(ahead, Err(LayoutError::Rank { .. })));
    } else {
        let (back, ahead) = (back.expect("room"), ahead.expect("room"));
        assert_eq!((back.rank(), ahead.rank()), (rank, rank));
        for i in 0..rank {
            let own = |at: Option<usize>| at.and_then(|i| l.modes().get(i).cloned());
            assert_eq!(
                back.mode(i),
                Ok(own(Some(i)).unwrap_or(m.clone())),
                "{l} and {m}"
            );
            let at = i.checked_sub(rank - l.rank());
            assert_eq!(
                ahead.mode(i),
                Ok(own(at).unwrap_or(m.clone())),
                "{l} and {m}"
            );
        }
    }
    let zipped = l.zip(&m);
    assert_eq!(zipped.is_ok(), l.rank() == m.rank(), "{l} and {m}");
    if let Ok(z) = zipped {
        for i in 0..l.rank() {
            let pair = [l.mode(i).expect("mode"), m.mode(i).expect("mode")];
            assert_eq!(z.mode(i), Ok(join(&pair)), "{l} and {m}");
        }
    }
    let picks: Vec<usize> = (0..s.below(4)).map(|_| s.below(l.rank() + 1)).collect();
    match l.select(&picks) {
        Ok(r) => {
            let want: Vec<Layout> = picks.iter().map(|i| l.modes()[*i].clone()).collect();
            assert_eq!(r.modes(), want, "{l} {picks:?}");
            true
        }
        Err(e) => {
            assert!(picks.iter().any(|i| *i >= l.rank()), "{l} {picks:?}: {e}");
            false
        }
    }
}

pub fn flatten(s: &mut Source<'_>) -> bool {
    let l = s.layout(300, true);
    let f = l.flatten().expect("the same leaves");
    assert!(f.depth() <= 1 && leaves(&f) == leaves(&l), "{l}: {f}");
    assert_eq!(f.unflatten(l.shape()), Ok(l.clone()));
    let n = leaves(&l).len();
    let profile = s.profile(n.max(1));
    match f.unflatten(&profile) {
        Ok(u) => {
            assert!(u.shape().congruent(&profile), "{l} by {profile}: {u}");
            assert_eq!(leaves(&u), leaves(&l), "{l} by {profile}: {u}");
        }
        Err(e) => assert!(profile.leaves().len() != n, "{l} by {profile}: {e}"),
    }
    let wrong = s.profile(n + 1);
    assert!(l.unflatten(&wrong).is_err(), "{l} by {wrong}");
    true
}

pub fn orders(s: &mut Source<'_>) -> bool {
    let shape = s.shape(400);
    let extents = shape.static_leaves().expect("static");
    let (col, row) = (
        Layout::col_major(&shape).expect("static"),
        Layout::row_major(&shape).expect("static"),
    );
    let n: i64 = extents.iter().product();
    let reversed: Vec<i64> = extents.iter().rev().copied().collect();
    for i in 0..n {
        assert_eq!(eval(&col, i), i, "{col}");
        let c: Vec<i64> = digits(&reversed, i).into_iter().rev().collect();
        let at: i64 = c.iter().zip(leaves(&row)).map(|(c, m)| c * m.1).sum();
        assert_eq!(at, i, "{row}");
    }
    for l in [&col, &row] {
        assert!(leaves(l).iter().all(|m| m.0 != 1 || m.1 == 0), "{l}");
    }
    // Distinct orders: a compact layout in which a leaf of a higher order has the larger stride.
    let mut keys: Vec<i64> = (0..extents.len() as i64).map(|i| 3 * i - 4).collect();
    for i in (1..keys.len()).rev() {
        keys.swap(i, s.below(i + 1));
    }
    let ties = s.byte() < 60 && keys.len() > 1;
    if ties {
        keys[0] = keys[1];
    }
    let order = refill(&shape, &mut keys.clone().into_iter());
    let l = Layout::ordered(&shape, &order).expect("congruent");
    assert_eq!(l.shape(), &shape);
    for (k, (e, d)) in leaves(&l).into_iter().enumerate() {
        let below = keys.iter().zip(&extents).filter(|(o, _)| **o < keys[k]);
        let start: i64 = below.map(|(_, e)| e).product();
        assert_eq!(d, if e == 1 { 0 } else { start }, "{l} by {order}");
    }
    if !ties {
        assert_eq!(
            sorted(values(&l)),
            (0..n).collect::<Vec<_>>(),
            "{l} by {order}"
        );
    }
    !ties
}

pub fn like(s: &mut Source<'_>) -> bool {
    let l = s.layout(200, false);
    let like = l.make_layout_like().expect("static");
    assert_eq!(like.shape(), l.shape());
    for ((a, b), j) in leaves(&l).iter().zip(leaves(&like)).zip(0..) {
        if a.1 == 0 || a.0 == 1 {
            continue;
        }
        let behind = leaves(&l);
        let start: i64 = behind
            .iter()
            .filter(|m| m.1 != 0 && m.1 < a.1)
            .map(|m| m.0)
            .product();
        assert_eq!(b.1, start, "{like} like {l}, leaf {j}");
    }
    if injective(&l) {
        assert_eq!(
            sorted(values(&like)),
            (0..size(&l)).collect::<Vec<_>>(),
            "{like} like {l}"
        );
    }
    let f = l.make_fragment_like().expect("static");
    assert_eq!(f.shape(), l.shape());
    if l.rank() > 1 {
        let first = leaves(&l.mode(0).expect("mode"));
        let held: i64 = first.iter().filter(|m| m.1 != 0).map(|m| m.0).product();
        let rest: i64 = l.modes().iter().skip(1).map(size).product();
        assert_eq!(
            image(&f),
            (0..held * rest).collect::<Vec<_>>(),
            "{f} like {l}"
        );
    } else {
        assert_eq!(
            values(&f),
            (0..size(&l)).collect::<Vec<_>>(),
            "{f} like {l}"
        );
    }
    let m = s.layout(64, false);
    let n = l.max_common_vector(&m).expect("static");
    let back = m.right_inverse().expect("static");
    assert!(n >= 1 && n <= size(&back), "{l} and {m}");
    assert!((0..n).all(|i| eval(&l, eval(&back, i)) == i), "{l} and {m}");
    true
}
