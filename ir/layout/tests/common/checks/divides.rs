//! Divides and products.

use super::super::brute::*;
use super::super::source::Source;
use super::algebra::{complemented, refused_rightly};
use super::join;
use cute_layout::{IntTuple, Layout, LayoutError, Tile, int, tuple};

pub fn logical_divide(s: &mut Source<'_>) -> bool {
    let l = s.layout(150, true);
    let t = s.tile(l.shape(), 0);
    divided(&l, &t, l.logical_divide(&t).as_ref())
}

fn divided(l: &Layout, t: &Tile, r: Result<&Layout, &LayoutError>) -> bool {
    match (t, r) {
        (Tile::Underscore, r) => {
            assert_eq!(r, Ok(l));
            true
        }
        (Tile::Layout(t), r) => {
            let target = int(size(l));
            let rest = match t.complement(&target) {
                Ok(rest) => rest,
                Err(e) => {
                    assert_eq!(r, Err(&e), "{l} by {t}");
                    // Negative strides have no complement by definition; other errors are checked.
                    if !matches!(e, LayoutError::Stride { .. }) {
                        assert!(!complemented(t, size(l)), "{l} by {t}: {e}");
                    }
                    return false;
                }
            };
            let both = join(&[t.clone(), rest.clone()]);
            let r = match r {
                Ok(r) => r,
                Err(e) => {
                    refused_rightly(l, &both, e);
                    return false;
                }
            };
            assert_eq!(r.rank(), 2, "{l} by {t} = {r}");
            assert!(both.shape().compatible(r.shape()), "{l} by {t} = {r}");
            let inner = values(t);
            for (j, x) in values(&rest).into_iter().enumerate() {
                for (i, y) in inner.iter().enumerate() {
                    let at = i as i64 + inner.len() as i64 * j as i64;
                    assert_eq!(eval(r, at), eval(l, x + y), "{l} by {t} = {r} at {at}");
                }
            }
            let even = l.divides_evenly(&Tile::Layout(t.clone()));
            assert_eq!(even, Ok(size(r) == size(l)), "{l} by {t} = {r}");
            // A divide that is even and whose tile stays inside only rearranges.
            if size(r) == size(l) && injective(t) && both.cosize() == Ok(size(l)) {
                assert_eq!(sorted(values(r)), sorted(values(l)), "{l} by {t} = {r}");
            }
            true
        }
        (Tile::Modes(ts), Ok(r)) => {
            assert_eq!(r.rank(), l.rank(), "{l} by {t} = {r}");
            l.modes()
                .iter()
                .zip(r.modes())
                .enumerate()
                .all(|(i, (l, r))| match ts.get(i) {
                    Some(t) => divided(l, t, Ok(&r)),
                    None => {
                        assert_eq!(*l, r);
                        true
                    }
                })
        }
        (Tile::Modes(ts), Err(e)) => {
            let refused = l.modes().iter().zip(ts).any(|(l, t)| {
                let r = l.logical_divide(t);
                r.is_err() && !divided(l, t, r.as_ref())
            });
            assert!(refused, "{l} by {t}: {e}");
            false
        }
    }
}

// What the tile gathers: first halves in its nesting, second halves with the modes beyond.
fn unzip(l: &Layout, t: &Tile) -> Option<(Layout, Layout)> {
    let Tile::Modes(ts) = t else {
        return (l.rank() == 2).then(|| (l.mode(0).expect("two"), l.mode(1).expect("two")));
    };
    let (mut first, mut second) = (vec![], vec![]);
    for (i, m) in l.modes().iter().enumerate() {
        match ts.get(i) {
            Some(t) => {
                let (a, b) = unzip(m, t)?;
                first.push(a);
                second.push(b);
            }
            None => second.push(m.clone()),
        }
    }
    Some((join(&first), join(&second)))
}

type Results = [Result<Layout, LayoutError>; 3];

/// Zipped, tiled and flat forms hold the modes of the logical one.
fn gathered(l: &Layout, t: &Tile, logical: Result<Layout, LayoutError>, forms: Results) -> bool {
    let halves = match &logical {
        Ok(r) => unzip(r, t),
        Err(_) => None,
    };
    let Some((first, second)) = halves else {
        for f in forms {
            match (f, &logical) {
                (Err(f), Err(e)) => assert_eq!(f, *e, "{l} by {t}"),
                (f, Ok(_)) => assert!(
                    matches!(f, Err(LayoutError::Rank { .. })),
                    "{l} by {t}: {f:?}"
                ),
                (Ok(f), Err(e)) => panic!("{l} by {t} = {f}, but: {e}"),
            }
        }
        return false;
    };
    let mut tiled = vec![first.clone()];
    tiled.extend(second.modes());
    let mut flat = first.modes();
    flat.extend(second.modes());
    let [z, tl, f] = forms;
    assert_eq!(z, Ok(join(&[first, second])), "{l} by {t}");
    assert_eq!(tl, Ok(join(&tiled)), "{l} by {t}");
    assert_eq!(f, Ok(join(&flat)), "{l} by {t}");
    true
}

pub fn other_divides(s: &mut Source<'_>) -> bool {
    let l = s.layout(150, true);
    let t = s.tile(l.shape(), 0);
    let forms = [l.zipped_divide(&t), l.tiled_divide(&t), l.flat_divide(&t)];
    gathered(&l, &t, l.logical_divide(&t), forms)
}

pub fn other_products(s: &mut Source<'_>) -> bool {
    let l = s.layout(30, false);
    let t = s.tile(l.shape(), 0);
    let forms = [
        l.zipped_product(&t),
        l.tiled_product(&t),
        l.flat_product(&t),
    ];
    gathered(&l, &t, l.logical_product(&t), forms)
}

/// The offsets at which copies of these offsets can stand so that all is covered once, ascending: the first `n`.
fn copies(offsets: &[i64], n: usize) -> Option<Vec<i64>> {
    let (mut seen, mut out, mut hole) = (Vec::<bool>::new(), vec![], 0);
    while out.len() < n {
        while seen.get(hole).copied().unwrap_or(false) {
            hole += 1;
        }
        for o in offsets {
            let x = hole + *o as usize;
            if seen.len() <= x {
                seen.resize(x + 1, false);
            }
            if std::mem::replace(&mut seen[x], true) {
                return None;
            }
        }
        out.push(hole as i64);
    }
    Some(out)
}

pub fn logical_product(s: &mut Source<'_>) -> bool {
    let b = s.layout(30, false);
    let t = s.layout(24, true);
    let reach = values(&t).into_iter().map(i64::abs).max().unwrap_or(0);
    match b.logical_product(&Tile::Layout(t.clone())) {
        Ok(p) => {
            assert_eq!(p.rank(), 2, "{b} by {t} = {p}");
            assert_eq!(p.mode(0).as_ref(), Ok(&b), "{b} by {t} = {p}");
            // Where copies cannot cover everything they are apart, and one place is one copy.
            let at = copies(&image(&b), reach as usize + 1);
            let mut seen = std::collections::BTreeMap::new();
            for (j, x) in values(&t).into_iter().enumerate() {
                let shift = match &at {
                    Some(at) => x.signum() * at[x.unsigned_abs() as usize],
                    None => eval(&p, size(&b) * j as i64),
                };
                // Places before the first are its mirror image.
                for y in image(&b).into_iter().filter(|_| x >= 0) {
                    assert_eq!(*seen.entry(y + shift).or_insert(x), x, "{b} by {t} = {p}");
                }
                for (i, y) in values(&b).into_iter().enumerate() {
                    let k = i as i64 + size(&b) * j as i64;
                    assert_eq!(eval(&p, k), y + shift, "{b} by {t} = {p} at {k}");
                }
            }
            true
        }
        Err(LayoutError::NotInjective { .. }) => {
            let own: Vec<i64> = sorted(values(&b.filter_zeros().expect("static")));
            let far = 4 * b.cosize().expect("static");
            assert!(!complement_exists(&own, far), "{b} by {t}");
            false
        }
        Err(e) => {
            if let Ok(open) = b.complement_open() {
                refused_rightly(&open, &t, &e);
            }
            false
        }
    }
}

pub fn blocked_and_raked(s: &mut Source<'_>) -> bool {
    let (b, t) = (s.layout(24, false), s.layout(24, false));
    let rank = b.rank().max(t.rank());
    let one = Layout::leaf(1, 0).expect("one");
    let pad = |l: &Layout| {
        let mut modes = l.modes();
        modes.resize(rank, one.clone());
        // A layout of that rank is kept, a leaf of rank 1 too.
        if l.rank() == rank {
            l.clone()
        } else {
            join(&modes)
        }
    };
    let product = pad(&b).logical_product(&Tile::Layout(pad(&t)));
    let (blocked, raked) = (b.blocked_product(&t), b.raked_product(&t));
    let Ok(p) = product else {
        assert!(blocked.is_err() && raked.is_err(), "{b} by {t}");
        return false;
    };
    let (x, y) = (p.mode(0).expect("two"), p.mode(1).expect("two"));
    // The copies of one leaf are one mode.
    let y = if rank == 1 && !t.shape().is_tuple() && y.rank() != 1 {
        join(&[y])
    } else {
        y
    };
    let zip = |x: &Layout, y: &Layout| {
        let pairs: Vec<Layout> = x
            .modes()
            .into_iter()
            .zip(y.modes())
            .map(|(x, y)| join(&[x, y]))
            .collect();
        join(&pairs)
    };
    assert_eq!(blocked, Ok(zip(&x, &y)), "{b} by {t}");
    assert_eq!(raked, Ok(zip(&y, &x)), "{b} by {t}");
    assert_eq!(
        sorted(values(&zip(&x, &y))),
        sorted(values(&p)),
        "{b} by {t}"
    );
    true
}

pub fn tile_to_shape(s: &mut Source<'_>) -> bool {
    let b = s.layout(24, false);
    let extra = usize::from(s.byte() < 80);
    let target: Vec<i64> = (0..b.rank() + extra)
        .map(|i| {
            b.shape().get(i).map_or(1, |m| m.size().expect("static")) * s.range(1, 3)
                + i64::from(s.byte() < 30)
        })
        .collect();
    let shape = if target.len() == 1 && !b.shape().is_tuple() {
        int(target[0])
    } else {
        tuple(target.iter().copied().map(int))
    };
    let order: Option<Vec<i64>> = (s.byte() < 128 && shape.is_tuple()).then(|| {
        let mut o: Vec<i64> = (0..target.len() as i64).collect();
        for i in (1..o.len()).rev() {
            o.swap(i, s.below(i + 1));
        }
        o
    });
    let given = order
        .as_ref()
        .map(|o| o.iter().copied().collect::<IntTuple>());
    // Element (c0, c1, ..) stands in copy (c0 / b0, ..) of the block; copies are counted in `order`.
    let sizes: Vec<i64> = (0..target.len())
        .map(|i| b.shape().get(i).map_or(1, |m| m.size().expect("static")))
        .collect();
    let counts: Vec<i64> = target
        .iter()
        .zip(&sizes)
        .map(|(t, b)| (t + b - 1) / b)
        .collect();
    let r = match b.tile_to_shape(&shape, given.as_ref()) {
        Ok(r) => r,
        Err(e @ LayoutError::Composition { .. }) => {
            let counts: IntTuple = if shape.is_tuple() {
                counts.iter().copied().collect()
            } else {
                int(counts[0])
            };
            let tiler = match &given {
                Some(o) => Layout::ordered(&counts, o),
                None => Layout::col_major(&counts),
            };
            if let Ok(open) = b.complement_open() {
                refused_rightly(&open, &tiler.expect("congruent"), &e);
            }
            return false;
        }
        Err(e) => {
            let own = sorted(values(&b.filter_zeros().expect("static")));
            assert!(
                matches!(e, LayoutError::NotInjective { .. }),
                "{b} to {shape}: {e}"
            );
            assert!(
                !complement_exists(&own, 4 * b.cosize().expect("static")),
                "{b} to {shape}"
            );
            return false;
        }
    };
    let order = order.unwrap_or_else(|| (0..target.len() as i64).collect());
    let total: i64 = counts.iter().product();
    // Where copies cannot cover everything, each stands in one place, apart from the others.
    let at = copies(&image(&b), total as usize);
    let (mut places, mut seen) = (
        std::collections::BTreeMap::new(),
        std::collections::BTreeMap::new(),
    );
    let whole: Vec<i64> = counts.iter().zip(&sizes).map(|(c, b)| c * b).collect();
    assert_eq!(
        size(&r),
        whole.iter().product::<i64>(),
        "{b} to {shape} = {r}"
    );
    for i in 0..size(&r) {
        let c = digits(&whole, i);
        let (mut inner, mut run, mut copy) = (0, 1, 0);
        for (c, b) in c.iter().zip(&sizes) {
            inner += c % b * run;
            run *= b;
        }
        for want in 0..order.len() as i64 {
            let k = order
                .iter()
                .position(|o| *o == want)
                .expect("a permutation");
            copy += c[k] / sizes[k]
                * order
                    .iter()
                    .zip(&counts)
                    .filter(|(o, _)| **o < want)
                    .map(|(_, n)| n)
                    .product::<i64>();
        }
        let place = match &at {
            Some(at) => at[copy as usize],
            None => *places.entry(copy).or_insert(eval(&r, i) - eval(&b, inner)),
        };
        assert_eq!(
            eval(&r, i),
            eval(&b, inner) + place,
            "{b} to {shape} by {order:?} = {r} at {i}"
        );
        assert_eq!(
            *seen.entry(eval(&r, i)).or_insert(copy),
            copy,
            "{b} to {shape} = {r}"
        );
    }
    true
}
