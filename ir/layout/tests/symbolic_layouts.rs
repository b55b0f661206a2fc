//! Operations on layouts of symbols: right for every value that the facts allow.

use crate::common::*;
use cute_layout::symbolic::{Poly, Scope, Symbol};
use cute_layout::{Dyn, IntTuple, Layout, LayoutError, Leaf, Term, Tile, int};
use proptest::prelude::*;

/// `t` with a polynomial in place of each `?`, in order.
fn fill(t: &IntTuple, polys: &mut impl Iterator<Item = Poly>) -> IntTuple {
    match t {
        IntTuple::Leaf(Leaf::Dynamic(_)) => {
            IntTuple::Leaf(Leaf::symbolic(polys.next().expect("one for each `?`")))
        }
        IntTuple::Leaf(l) => IntTuple::Leaf(l.clone()),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| fill(t, polys)).collect()),
    }
}

/// A layout whose `?` are these expressions under these facts.
fn symbolic(text: &str, exprs: &[&str], facts: &str) -> Layout {
    let scope = Scope::new().assume(facts).expect(facts);
    let l = layout(text);
    let mut polys = exprs.iter().map(|e| Poly::parse(e, &scope).expect(e));
    let shape = fill(l.shape(), &mut polys);
    let stride = fill(l.stride(), &mut polys);
    Layout::new(shape, stride).expect("as the text")
}

fn text(l: Result<Layout, LayoutError>) -> String {
    match l {
        Ok(l) => l.to_string(),
        Err(e) => format!("error: {e}"),
    }
}

#[test]
fn coalesce() {
    let l = symbolic("(?,?):(1,?)", &["M", "N", "M"], "");
    assert_eq!(text(l.coalesce()), "M*N:1");
    let l = symbolic("(?,?):(1,?)", &["M", "N", "K"], "");
    assert_eq!(text(l.coalesce()), "(M,N):(1,K)");
    let l = symbolic("(8,?,?):(1,8,?)", &["M", "N", "8*M"], "");
    assert_eq!(text(l.coalesce()), "8*M*N:1");
}

#[test]
fn divides() {
    let l = symbolic("(?,?):(?,1)", &["M", "K", "K"], "M % 128 == 0, K % 32 == 0");
    let t = Tile::parse("[128:1;32:1]").expect("tile");
    assert_eq!(
        text(l.logical_divide(&t)),
        "((128,M/128),(32,K/32)):((K,128*K),(1,32))"
    );
    assert_eq!(
        text(l.zipped_divide(&t)),
        "((128,32),(M/128,K/32)):((K,1),(128*K,32))"
    );
    let l = symbolic("(?,?):(1,?)", &["M", "N", "M"], "M % 8 == 0");
    let t = Tile::parse("8:1").expect("tile");
    assert_eq!(text(l.logical_divide(&t)), "(8,M*N/8):(1,8)");
}

#[test]
fn composition_needs_its_facts() {
    let tile = layout("(8,2):(1,8)");
    let l = symbolic("(?,?):(?,1)", &["M", "K", "K"], "M % 16 == 0");
    assert_eq!(text(l.composition(&tile)), "(8,2):(K,8*K)");
    let l = symbolic("(?,?):(?,1)", &["M", "K", "K"], "");
    let e = text(l.composition(&tile));
    assert!(
        e.starts_with("error") && e.contains("needs a fact") && e.contains('M'),
        "{e}"
    );
}

#[test]
fn inverses() {
    let l = symbolic("(?,?):(?,1)", &["M", "K", "K"], "");
    assert_eq!(text(l.right_inverse()), "(K,M):(M,1)");
    let l = symbolic("(?,?):(?,1)", &["M", "K", "K"], "");
    assert_eq!(text(l.left_inverse()), "(K,M):(M,1)");
    let l = symbolic("(?,8):(8,1)", &["M"], "");
    assert_eq!(text(l.left_inverse()), "(8,M):(M,1)");
}

#[test]
fn complements() {
    let l = symbolic("(8,?):(1,?)", &["M", "K"], "K % 8 == 0, K >= 8");
    assert_eq!(
        text(l.complement(&int(1 << 20))),
        "(K/8,ceil_div(131072,K*M/8)):(8,K*M)"
    );
    let e = text(symbolic("(8,?):(1,?)", &["M", "K"], "").complement(&int(64)));
    assert!(e.contains("needs a fact"), "{e}");
}

/// The values of the two symbols put in.
fn put_in(t: &IntTuple, m: i64, n: i64) -> IntTuple {
    match t {
        IntTuple::Leaf(Leaf::Dynamic(Dyn {
            term: Term::Symbolic(p),
            ..
        })) => int(p
            .eval(&|s: &Symbol| Some(if &*s.name == "M" { m } else { n }))
            .expect("small")),
        IntTuple::Leaf(l) => IntTuple::Leaf(l.clone()),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| put_in(t, m, n)).collect()),
    }
}

fn at(l: &Layout, m: i64, n: i64) -> Layout {
    Layout::new(put_in(l.shape(), m, n), put_in(l.stride(), m, n))
        .expect("a layout for every value")
}

const EXPRS: [&str; 12] = [
    "M", "N", "M*N", "2*M", "8", "4", "3", "1", "2", "N", "M", "8*M",
];

fn some_layout(rank: usize) -> impl Strategy<Value = (String, Vec<&'static str>)> {
    let pick = || prop::sample::select(EXPRS.to_vec());
    (
        prop::collection::vec(pick(), rank),
        prop::collection::vec(pick(), rank),
        any::<bool>(),
    )
        .prop_map(move |(s, d, compact)| {
            let mut exprs = s.clone();
            if compact {
                exprs.push("1");
                exprs.extend(s.iter().take(rank - 1));
            } else {
                exprs.extend(d);
            }
            let holes = vec!["?"; rank].join(",");
            (format!("({holes}):({holes})"), exprs)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn hold_for_every_value((ta, ea) in some_layout(2), (tb, eb) in some_layout(2), mdiv in prop::sample::select(vec![1i64, 2, 4, 8])) {
        let facts = format!("M % {mdiv} == 0, M >= 1, N >= 1");
        let (a, b) = (symbolic(&ta, &ea, &facts), symbolic(&tb, &eb, &facts));
        let results = [
            a.composition(&b).map(|r| (0, r)),
            a.coalesce().map(|r| (1, r)),
            a.right_inverse().map(|r| (2, r)),
            a.left_inverse().map(|r| (3, r)),
            a.logical_divide(&Tile::Layout(b.clone())).map(|r| (4, r)),
            b.complement(a.shape()).map(|r| (5, r)),
        ];
        for (kind, r) in results.into_iter().flatten() {
            for m in (1..=9).filter(|m| m % mdiv == 0) {
                for n in 1..=3 {
                    let (a, b, r) = (at(&a, m, n), at(&b, m, n), at(&r, m, n));
                    if size(&a).max(size(&b)).max(size(&r)) > 4_000 {
                        continue;
                    }
                    match kind {
                        0 => {
                            prop_assert_eq!(size(&r), size(&b));
                            for i in 0..size(&b) {
                                prop_assert_eq!(eval(&r, i), eval(&a, eval(&b, i)), "{} o {} = {}", a, b, r);
                            }
                        }
                        1 => prop_assert_eq!(values(&r), values(&a)),
                        2 => for i in 0..size(&r) {
                            prop_assert_eq!(eval(&a, eval(&r, i)), i, "{} inverse {}", a, r);
                        },
                        3 => for i in 0..size(&a) {
                            let y = eval(&a, i);
                            prop_assert_eq!(eval(&a, eval(&r, y)), y, "{} left inverse {}", a, r);
                        },
                        4 => {
                            let tile = size(&b);
                            for i in 0..tile {
                                prop_assert_eq!(eval(&r, i), eval(&a, eval(&b, i)), "{} by {} = {}", a, b, r);
                            }
                        }
                        _ => {
                            let mut own = values(&b);
                            own.sort_unstable();
                            own.dedup();
                            let mut seen = std::collections::BTreeSet::new();
                            for x in values(&r) {
                                for y in &own {
                                    prop_assert!(seen.insert(x + y), "{} complement {}", b, r);
                                }
                            }
                            prop_assert!((0..size(&a)).all(|x| seen.contains(&x)), "{} complement {}", b, r);
                        }
                    }
                }
            }
        }
    }
}
