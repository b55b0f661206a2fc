//! The results of operations, against evaluation by other means.

use cute_layout::{
    AnyLayout, ComposedLayout, FlatLayout, Inner, IntTuple, Layout, Leaf, Swizzle, Truth, eval, int,
};
use proptest::prelude::*;

use crate::common::{any_layout, either, eval as at, layout, shape, size, values};

/// The digits of a natural coordinate, fastest first.
fn digits(t: &IntTuple) -> Vec<i64> {
    t.static_leaves().expect("static")
}

/// All natural coordinates of a shape in colexicographic order, by counting.
fn coordinates(shape: &IntTuple) -> Vec<Vec<i64>> {
    let extents = digits(shape);
    let mut all = vec![vec![]];
    for n in extents.iter().rev() {
        all = all
            .iter()
            .flat_map(|tail: &Vec<i64>| {
                (0..*n).map(move |d| {
                    let mut c = vec![d];
                    c.extend(tail);
                    c
                })
            })
            .collect();
    }
    all.sort_by_key(|c| {
        let mut weight = 1;
        c.iter().zip(&extents).fold(0, |index, (d, n)| {
            let next = index + d * weight;
            weight *= n;
            next
        })
    });
    all
}

fn fill(profile: &IntTuple, leaves: &mut impl Iterator<Item = i64>) -> IntTuple {
    match profile {
        IntTuple::Leaf(_) => int(leaves.next().expect("as many leaves")),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| fill(t, leaves)).collect()),
    }
}

/// Strides that are basis elements, a coordinate a leaf, in the order of `keys`.
fn basis_of(shape: &IntTuple, scales: &[i64], keys: &[u16]) -> Layout {
    let n = shape.leaves().len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| keys[i % keys.len()]);
    let mut place = vec![0u16; n];
    for (p, i) in order.into_iter().enumerate() {
        place[i] = p as u16;
    }
    let mut next = 0;
    fn build(t: &IntTuple, next: &mut impl FnMut() -> Leaf) -> IntTuple {
        match t {
            IntTuple::Leaf(_) => IntTuple::Leaf(next()),
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| build(t, next)).collect()),
        }
    }
    let stride = build(shape, &mut || {
        let leaf = Leaf::Basis {
            value: Box::new(Leaf::Static(scales[next % scales.len()])),
            path: [place[next]].into_iter().collect(),
        };
        next += 1;
        leaf
    });
    Layout::new(shape.clone(), stride).expect("basis strides of one depth")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn eval_is_the_inner_product(l in any_layout(600, -20), i in -700i64..700) {
        prop_assert_eq!(l.eval(&int(i)).unwrap(), int(at(&l, i)));
        for (i, c) in coordinates(l.shape()).into_iter().enumerate() {
            let truth: i64 = c.iter().zip(digits(l.stride())).map(|(c, d)| c * d).sum();
            let natural = fill(l.shape(), &mut c.into_iter());
            prop_assert_eq!(l.eval(&natural).unwrap(), int(truth));
            prop_assert_eq!(l.eval(&int(i as i64)).unwrap(), int(truth));
            prop_assert_eq!(l.crd2idx(&natural).unwrap(), truth);
        }
    }

    #[test]
    fn basis_strides_give_coordinates(s in shape(200), scales in prop::collection::vec(-3i64..=5, 4), keys in prop::collection::vec(0u16..50, 8)) {
        let l = basis_of(&s, &scales, &keys);
        for (i, c) in coordinates(&s).into_iter().enumerate() {
            let mut truth = vec![0i64; c.len()];
            for (k, leaf) in l.stride().leaves().into_iter().enumerate() {
                let Leaf::Basis { value, path } = leaf else { continue };
                truth[usize::from(path[0])] += c[k] * value.as_static().unwrap();
            }
            let found = l.eval(&int(i as i64)).unwrap();
            prop_assert_eq!(digits(&found), truth);
        }
    }

    #[test]
    fn index_and_coordinate_are_inverse(s in shape(400)) {
        for (i, c) in coordinates(&s).into_iter().enumerate() {
            let (i, natural) = (i as i64, fill(&s, &mut c.into_iter()));
            prop_assert_eq!(s.idx2crd_leaf(&int(i)).unwrap(), natural.clone());
            prop_assert_eq!(s.crd2idx(&natural).unwrap(), Leaf::Static(i));
            prop_assert_eq!(s.crd2idx(&int(i)).unwrap(), Leaf::Static(i));
        }
    }

    #[test]
    fn increment_visits_all_coordinates_in_order(s in shape(400)) {
        let mut here = fill(&s, &mut std::iter::repeat(0));
        let all = coordinates(&s);
        for c in &all {
            prop_assert_eq!(digits(&here), c.clone());
            here = s.increment(&here).unwrap();
        }
        // Behind the last one, only the last leaf is out of range.
        let (last, init) = (digits(&here), digits(&s));
        let n = last.len();
        prop_assert_eq!(last[n - 1], init[n - 1]);
        prop_assert!(last[..n - 1].iter().all(|d| *d == 0));
    }

    #[test]
    fn crd2crd_keeps_the_index(s in shape(300)) {
        let flat = s.flatten();
        let whole = int(s.size().unwrap());
        for (i, c) in coordinates(&s).into_iter().enumerate() {
            let natural = fill(&s, &mut c.clone().into_iter());
            prop_assert_eq!(s.crd2crd(&natural, &whole).unwrap(), int(i as i64));
            prop_assert_eq!(digits(&whole.crd2crd(&int(i as i64), &flat).unwrap()), c);
        }
        prop_assert!(s.crd2crd(&int(0), &int(s.size().unwrap() + 1)).is_err());
    }

    #[test]
    fn cosize_is_one_more_than_the_reach(l in any_layout(500, -20)) {
        let reach: i64 = digits(l.shape()).iter().zip(digits(l.stride())).map(|(s, d)| (s - 1) * d.abs()).sum();
        prop_assert_eq!(l.cosize_leaf().unwrap(), Leaf::Static(reach + 1));
        prop_assert_eq!(l.coshape().unwrap(), int(reach + 1));
    }

    #[test]
    fn shape_division_is_exact_or_refused(s in shape(500), by in 1i64..40) {
        let n = s.size().unwrap();
        let rounded = s.ceil_div(&int(by)).unwrap();
        prop_assert!(rounded.congruent(&s));
        if let Ok(exact) = s.shape_div(&int(by)) {
            // The quotient of the sizes, where the shape has that many elements.
            prop_assert_eq!(exact.size().unwrap(), if n % by == 0 { n / by } else { 1 });
            prop_assert!(n % by == 0 || by % n == 0);
            prop_assert_eq!(rounded, exact);
        }
    }

    #[test]
    fn sums_of_values_are_values_of_sums(l in any_layout(200, -9), a in 0i64..200, b in 0i64..200) {
        let n = size(&l);
        let (x, y) = (l.idx2crd(a % n).unwrap(), l.idx2crd(b % n).unwrap());
        let sum = x.add(&y).unwrap();
        // A layout is linear in natural coordinates, also beyond the extents.
        prop_assert_eq!(l.crd2idx(&sum).unwrap(), l.crd2idx(&x).unwrap() + l.crd2idx(&y).unwrap());
        prop_assert_eq!(sum.sub(&y).unwrap(), x.clone());
        let less = digits(&x).iter().zip(digits(&y)).all(|(x, y)| *x < y);
        prop_assert_eq!(eval::elem_less(&x, &y).unwrap(), Truth::Known(less));
        prop_assert_eq!(eval::equal(&x, &y).unwrap(), Truth::Known(a % n == b % n));
    }

    #[test]
    fn nullspace_by_its_definition(l in any_layout(300, -6)) {
        let null = l.nullspace().unwrap();
        let mut seen = values(&null);
        for i in &seen {
            prop_assert_eq!(at(&l, *i), 0);
            prop_assert!((0..size(&l)).contains(i));
        }
        prop_assert_eq!(size(&null), size(&l) / l.filter().unwrap().size().unwrap() );
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len() as i64, size(&null), "each element once");
        prop_assert_eq!(null.nullspace().unwrap().size().unwrap(), 1);
    }

    #[test]
    fn max_common_layout_by_its_definition(a in either(200, -6), b in either(200, -6)) {
        for (a, b) in [(&a, &b), (&a, &a)] {
            let common = a.max_common_layout(b).unwrap();
            for i in 0..size(&common) {
                let j = at(&common, i);
                prop_assert_eq!(at(a, j), i, "{} in {}", common, a);
                prop_assert_eq!(at(b, j), i, "{} in {}", common, b);
            }
            prop_assert_eq!(size(&common), a.max_common_vector(b).unwrap());
        }
    }

    #[test]
    fn domain_distribute_by_its_definition(s in shape(600), n in 1i64..64) {
        let d = Layout::domain_distribute(&s, n).unwrap();
        prop_assert_eq!(n % size(&d), 0);
        let v = values(&d);
        prop_assert!(v.windows(2).all(|w| w[0] < w[1]), "ordered");
        let l = Layout::col_major(&s).unwrap();
        prop_assert!(v.iter().all(|i| (0..size(&l)).contains(i)));
        prop_assert!(l.composition(&d).is_ok(), "{} o {}", l, d);
        prop_assert!(l.divides_evenly(&d.into()).unwrap());
    }

    #[test]
    fn replaced_modes(l in any_layout(200, -6), m in any_layout(20, -6), at in 0usize..4) {
        match l.replace(at, &m) {
            Ok(r) => {
                prop_assert_eq!(r.rank(), if l.shape().is_tuple() { l.rank() } else { m.rank() });
                if l.shape().is_tuple() {
                    for (i, mode) in l.modes().into_iter().enumerate() {
                        prop_assert_eq!(r.mode(i).unwrap(), if i == at { m.clone() } else { mode });
                    }
                }
            }
            Err(_) => prop_assert!(at >= l.rank()),
        }
        prop_assert_eq!(l.shape().reverse().reverse(), l.shape().clone());
    }

    #[test]
    fn inverses_of_coordinates(s in shape(300), picks in prop::collection::vec((0u16..3, 0u16..50, 1i64..=3), 8), deep in prop::bool::ANY) {
        let (l, paths) = coordinates_of(&s, &picks, deep);
        let n = size_of(&s);
        // The left inverse gives back every index.
        let left = l.left_inverse().unwrap();
        for i in 0..n {
            let c = l.eval(&int(i)).unwrap();
            prop_assert_eq!(left.eval(&c).unwrap(), int(i), "{} of {}", left, l);
        }
        // The right inverse reaches every coordinate of its domain, and all of them where there are no gaps.
        let right = l.right_inverse().unwrap();
        prop_assert!(right.stride().congruent(right.shape()));
        for j in 0..right.size().unwrap() {
            let c = by_coordinate(&l.eval(&int(0)).unwrap(), right.shape(), &mut { j });
            let i = right.eval(&c).unwrap().as_static().unwrap();
            prop_assert_eq!(l.eval(&int(i)).unwrap(), c, "{} of {}", right, l);
        }
        if picks.iter().all(|p| p.2 == 1) {
            prop_assert_eq!(right.size().unwrap(), n, "{} of {} over {:?}", right, l, paths);
        }
    }

    #[test]
    fn slices_of_composed_layouts(
        b in 0i64..=3, m in 0i64..=3, extra in 0i64..=2, sign in prop::bool::ANY, offset in prop_oneof![2 => Just(0i64), 1 => 0i64..600],
        outer in prop_oneof![powers(), either(300, -4)], fixed in prop::collection::vec((prop::bool::ANY, 0i64..64), 8), affine in prop::bool::ANY, lhs in any_layout(64, -8),
    ) {
        let s = (b + extra).max(1) * if sign { 1 } else { -1 };
        let inner = if affine { Inner::Layout(lhs) } else { Inner::Swizzle(Swizzle::new(b, m, s).unwrap()) };
        let whole = ComposedLayout::new(inner, int(offset), outer.clone()).unwrap();
        let mut k = 0;
        let coord = choose(outer.shape(), &fixed, &mut k);
        let (kept, add) = whole.slice(&coord).unwrap();
        let add = add.as_static().expect("an integer");
        let n = kept.outer().size().unwrap();
        let profile = outer.slice_modes(&coord).unwrap();
        for i in 0..n {
            // The result may refine the profile of the modes that are kept.
            let x = profile.idx2crd(i).unwrap();
            let c = place(&coord, &mut digits(&x).into_iter(), outer.shape());
            let truth = whole.eval(&c).unwrap().as_static().unwrap();
            // A layout without modes gives `()`, which adds nothing.
            let found = kept.eval(&x).unwrap().as_static().unwrap_or(0) + add;
            prop_assert_eq!(found, truth, "{} at {} with {}: {:?} + {}", whole, coord, c, kept, add);
        }
        let free: i64 = coordinates_kept(&coord, outer.shape());
        prop_assert_eq!(n, free);
    }

    #[test]
    fn recast_keeps_the_bits(m in 1i64..=4, off in 0i64..4, wide in prop::sample::select(vec![(8, 16), (16, 32), (8, 32), (32, 8), (16, 8)]), s in shape(64)) {
        let (old, new) = wide;
        // Rows of 16 contiguous elements, so that every width fits.
        let rows = Layout::from_modes(&[layout("16:1"), Layout::new(s.clone(), Layout::col_major(&s).unwrap().stride().clone()).unwrap()]).unwrap();
        let rows = layout("(16,1000):(1,16)").composition_tile(&cute_layout::Tile::Modes(vec![
            cute_layout::Tile::Layout(rows.mode(0).unwrap()),
            cute_layout::Tile::Layout(rows.mode(1).unwrap()),
        ])).unwrap();
        let c = ComposedLayout::new(Inner::Swizzle(Swizzle::new(2, m, 3).unwrap()), int(off * 16), rows).unwrap();
        match c.recast(old, new) {
            Ok(r) => {
                for i in 0..c.size().unwrap() {
                    // Element i is bits [v*old, (v+1)*old); the recast one that holds them, or that they hold.
                    let v = c.crd2idx(&int(i)).unwrap();
                    let j = if new > old { i / (new / old) } else { i * (old / new) };
                    let w = r.crd2idx(&int(j)).unwrap();
                    prop_assert_eq!(if new > old { v / (new / old) } else { v * (old / new) }, w);
                }
            }
            Err(_) => prop_assert!(new > old && (1i64 << m) < new / old),
        }
    }
}

fn size_of(shape: &IntTuple) -> i64 {
    digits(shape).iter().product()
}

/// An injective layout into coordinates: the leaves that share one have strides that divide in order, with gaps where a
/// third pick is above 1. The coordinates are `(0, 1, ...)`, or with `deep` `((0, 1, ...), ...)`.
fn coordinates_of(
    shape: &IntTuple,
    picks: &[(u16, u16, i64)],
    deep: bool,
) -> (Layout, Vec<(u16, i64)>) {
    let extents = digits(shape);
    let mut order: Vec<usize> = (0..extents.len()).collect();
    order.sort_by_key(|&i| picks[i % picks.len()].1);
    let mut run = [1i64; 3];
    let mut paths = vec![(0u16, 0i64); extents.len()];
    for i in order {
        let (at, _, gap) = picks[i % picks.len()];
        let stride = run[usize::from(at)] * gap;
        paths[i] = (at, stride);
        run[usize::from(at)] = stride * extents[i];
    }
    let mut next = paths.iter();
    fn build(t: &IntTuple, next: &mut impl FnMut() -> Leaf) -> IntTuple {
        match t {
            IntTuple::Leaf(_) => IntTuple::Leaf(next()),
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| build(t, next)).collect()),
        }
    }
    let stride = build(shape, &mut || {
        let (at, stride) = *next.next().expect("as many leaves");
        let path = if deep { vec![at % 2, at] } else { vec![at] };
        Leaf::Basis {
            value: Box::new(Leaf::Static(stride)),
            path: path.into_iter().collect(),
        }
    });
    let made = Layout::new(shape.clone(), stride).expect("no path is within another");
    (made, paths)
}

/// Coordinate number `j`, of the profile of the zeros: a digit for each of them, as many as the mode of the shape there has.
fn by_coordinate(zeros: &IntTuple, shape: &IntTuple, j: &mut i64) -> IntTuple {
    match zeros {
        IntTuple::Leaf(_) => {
            let n = size_of(shape);
            let digit = *j % n;
            *j /= n;
            int(digit)
        }
        IntTuple::Tuple(t) => IntTuple::Tuple(
            t.iter()
                .zip(shape.modes())
                .map(|(z, s)| by_coordinate(z, s, j))
                .collect(),
        ),
    }
}

/// Layouts of powers of two, whose bits do not carry: `(2,4,...):(1,2,8,...)` in any order, with gaps.
fn powers() -> impl Strategy<Value = Layout> {
    prop::collection::vec((0u32..=2, 0u32..=1, 0u16..100), 1..=4).prop_map(|modes| {
        let mut order: Vec<usize> = (0..modes.len()).collect();
        order.sort_by_key(|&i| modes[i].2);
        let mut strides = vec![0; modes.len()];
        let mut bit = 0;
        for i in order {
            bit += modes[i].1;
            strides[i] = 1i64 << bit;
            bit += modes[i].0;
        }
        let shape: IntTuple = modes.iter().map(|m| 1i64 << m.0).collect();
        Layout::new(shape, strides.into_iter().collect()).expect("congruent")
    })
}

/// `_` or a value in range for each leaf; a whole tuple may be `_`.
fn choose(shape: &IntTuple, fixed: &[(bool, i64)], k: &mut usize) -> IntTuple {
    let (free, value) = fixed[*k % fixed.len()];
    *k += 1;
    match shape {
        IntTuple::Leaf(l) if free => int(value % l.as_static().expect("static")),
        IntTuple::Tuple(t) if free || *k == 1 => {
            IntTuple::Tuple(t.iter().map(|t| choose(t, fixed, k)).collect())
        }
        _ => IntTuple::underscore(),
    }
}

/// The coordinate with the values of the kept leaves in the place of `_`.
fn place(coord: &IntTuple, kept: &mut impl Iterator<Item = i64>, shape: &IntTuple) -> IntTuple {
    match (coord, shape) {
        (IntTuple::Leaf(Leaf::Underscore), s) => fill(s, kept),
        (IntTuple::Tuple(c), IntTuple::Tuple(s)) => {
            IntTuple::Tuple(c.iter().zip(s).map(|(c, s)| place(c, kept, s)).collect())
        }
        (c, _) => c.clone(),
    }
}

fn coordinates_kept(coord: &IntTuple, shape: &IntTuple) -> i64 {
    match (coord, shape) {
        (IntTuple::Leaf(Leaf::Underscore), s) => s.size().expect("static"),
        (IntTuple::Tuple(c), IntTuple::Tuple(s)) => c
            .iter()
            .zip(s)
            .map(|(c, s)| coordinates_kept(c, s))
            .product(),
        _ => 1,
    }
}

#[test]
fn a_swizzle_becomes_strides_where_it_can() {
    // The published examples of that decay, by function: all rows of a swizzled tile of 16 bytes by 8.
    for row in 0..8 {
        let c = ComposedLayout::parse("S<3,4,3> o 0 o (16,8):(1,16)").unwrap();
        let coord = IntTuple::Tuple(vec![IntTuple::underscore(), int(row)]);
        let (kept, add) = c.slice(&coord).unwrap();
        assert_eq!(kept, AnyLayout::Plain(layout("(16):(1)")), "row {row}");
        assert_eq!(add, int(16 * row));
    }
}

#[test]
fn swizzles_of_leaves() {
    for text in ["S<3,4,3>", "S<2,0,5>", "S<1,2,-4>", "S<0,4,3>"] {
        let s = Swizzle::parse(text).unwrap();
        for v in 0..4096 {
            assert_eq!(
                s.apply_leaf(&Leaf::Static(v)).unwrap(),
                Leaf::Static(s.apply(v))
            );
        }
    }
}

#[test]
fn flat_layouts_agree() {
    let l = layout("(4,(2,3)):(1,(100,10))");
    let flat: FlatLayout = l.flat().unwrap();
    for i in 0..24 {
        assert_eq!(l.eval(&int(i)).unwrap(), int(flat.at(i)));
    }
}

#[test]
fn identities_are_told_by_their_leaves() {
    for text in [
        "1:0",
        "1:5",
        "8:1",
        "8:2",
        "8:0",
        "(4,2):(1,4)",
        "(4,2):(2,1)",
        "(4,1,2):(1,7,4)",
        "((2,3),4):((1,2),6)",
        "((2,3),4):((1,2),5)",
        "(4,2):(1,3)",
        "4:-1",
    ] {
        let flat = layout(text).flat().unwrap();
        let each = (0..flat.size()).all(|i| flat.at(i) == i);
        assert_eq!(flat.is_identity(), each, "{text}");
    }
    // However many elements there are.
    let large = layout("(4611686018427387904,1):(1,9)");
    assert!(large.flat().unwrap().is_identity());
}
