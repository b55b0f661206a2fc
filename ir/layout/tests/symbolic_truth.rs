//! Symbolic integers against evaluation: random expressions over random facts, on every value of the symbols in a range.

use std::sync::Arc;

use cute_layout::symbolic::{Poly, Proof, Scope, Symbol};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Tree {
    Number(i64),
    Name(usize),
    One(usize, Box<Tree>),
    Two(usize, Box<Tree>, Box<Tree>),
}

const ONE: usize = 3;
const TWO: usize = 11;

fn trees(depth: u32) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        2 => (-9i64..=40).prop_map(Tree::Number),
        5 => (0usize..3).prop_map(Tree::Name),
    ];
    leaf.prop_recursive(depth, 24, 2, |inner| {
        prop_oneof![
            1 => (0..ONE, inner.clone()).prop_map(|(op, a)| Tree::One(op, Box::new(a))),
            5 => (0..TWO, inner.clone(), inner)
                .prop_map(|(op, a, b)| Tree::Two(op, Box::new(a), Box::new(b))),
        ]
    })
}

// The facts of three symbols: (min, width, div, kind of the relation to those before, a number).
type Facts = Vec<(i64, Option<i64>, i64, u8, i64)>;

fn facts() -> impl Strategy<Value = Facts> {
    let bounds = prop_oneof![3 => Just(1i64), 2 => 0i64..6, 2 => -7i64..0];
    let width = prop_oneof![2 => Just(None), 2 => (0i64..9).prop_map(Some)];
    let div = prop_oneof![3 => Just(1i64), 1 => Just(2), 1 => Just(4), 1 => Just(3)];
    prop::collection::vec((bounds, width, div, 0u8..8, -2i64..3), 3)
}

fn symbols(facts: &Facts) -> Vec<Arc<Symbol>> {
    let mut out: Vec<Arc<Symbol>> = Vec::new();
    for (i, (min, width, div, kind, by)) in facts.iter().enumerate() {
        let mut s = Symbol::new(["a", "b", "c"][i])
            .with_range(*min, width.map(|w| min + w))
            .with_div(*div);
        if let Some(last) = out.last() {
            match kind {
                0 | 1 if last.min >= 1 => s.of.push(last.clone()),
                2 if out[0].min >= 1 => s.of.push(out[0].clone()),
                3 | 4 => s.least.push((last.clone(), *by)),
                5 => s.least.push((out[0].clone(), *by)),
                _ => {}
            }
        }
        out.push(Arc::new(s));
    }
    out
}

// All values that the facts allow, up to 10 above the least bound; found without the symbols' own arithmetic.
fn assignments(symbols: &[Arc<Symbol>]) -> Vec<[i64; 3]> {
    let at = |name: &str, v: &[i64; 3]| v[(name.as_bytes()[0] - b'a') as usize];
    let values = |s: &Symbol| {
        let top = s.max.unwrap_or(i64::MAX).min(s.min + 10);
        s.min..=top
    };
    let mut out = Vec::new();
    for a in values(&symbols[0]) {
        for b in values(&symbols[1]) {
            for c in values(&symbols[2]) {
                let v = [a, b, c];
                let good = symbols.iter().enumerate().all(|(i, s)| {
                    let of: i64 = s.of.iter().map(|k| at(&k.name, &v)).product();
                    v[i] % (s.div * of) == 0
                        && s.least.iter().all(|(k, by)| at(&k.name, &v) + by <= v[i])
                });
                if good {
                    out.push(v);
                }
            }
        }
    }
    out
}

fn value(tree: &Tree, v: &[i64; 3]) -> Option<i128> {
    Some(match tree {
        Tree::Number(n) => (*n).into(),
        Tree::Name(i) => v[*i].into(),
        Tree::One(op, a) => {
            let a = value(a, v)?;
            match op {
                0 => -a,
                1 => a.abs(),
                _ => a.signum(),
            }
        }
        Tree::Two(op, a, b) => {
            let (a, b) = (value(a, v)?, value(b, v)?);
            let floor = |a: i128, b: i128| {
                if b == 0 {
                    return None;
                }
                let q = a / b;
                Some(if a % b != 0 && (a < 0) != (b < 0) {
                    q - 1
                } else {
                    q
                })
            };
            match op {
                0 => a + b,
                1 => a - b,
                2 => a.checked_mul(b)?,
                3 => floor(a, b)?,
                4 => -floor(-a, b)?,
                5 => a.checked_div(b)?,
                6 => a.checked_rem(b)?,
                7 => a - b * floor(a, b)?,
                8 => a.min(b),
                9 => a.max(b),
                // An exact quotient that was claimed.
                _ => {
                    assert!(b != 0 && a % b == 0, "{a} / {b} is not exact");
                    a / b
                }
            }
        }
    })
}

// The polynomial, and what of the tree it is: an operation that is refused is left out.
fn build(tree: &Tree, symbols: &[Arc<Symbol>]) -> Option<(Poly, Tree)> {
    let whole = match tree {
        Tree::Number(n) => (Poly::constant(*n), tree.clone()),
        Tree::Name(i) => (Poly::of_symbol(&symbols[*i]).ok()?, tree.clone()),
        Tree::One(op, a) => {
            let (p, a) = build(a, symbols)?;
            let r = match op {
                0 => p.neg(),
                1 => p.abs(),
                _ => p.signum(),
            };
            match r {
                Ok(r) => (r, Tree::One(*op, Box::new(a))),
                Err(_) => (p, a),
            }
        }
        Tree::Two(op, a, b) => {
            let ((p, a), (q, b)) = (build(a, symbols)?, build(b, symbols)?);
            let r = match op {
                0 => p.add(&q).ok(),
                1 => p.sub(&q).ok(),
                2 => p.mul(&q).ok(),
                3 => p.div_floor(&q).ok(),
                4 => p.ceil_div(&q).ok(),
                5 => p.div_trunc(&q).ok(),
                6 => p.rem(&q).ok(),
                7 => p.rem_floor(&q).ok(),
                8 => p.min(&q).ok(),
                9 => p.max(&q).ok(),
                _ => p.div_exact(&q),
            };
            match r {
                Some(r) => (r, Tree::Two(*op, Box::new(a), Box::new(b))),
                None => (p, a),
            }
        }
    };
    Some(whole)
}

fn holds(proof: Proof, truth: impl Iterator<Item = bool>, what: &str) -> Result<(), TestCaseError> {
    for t in truth {
        match proof {
            Proof::Proved => prop_assert!(t, "{} is proved", what),
            Proof::Refuted => prop_assert!(!t, "{} is refuted", what),
            Proof::Unknown => {}
        }
    }
    Ok(())
}

fn cases() -> u32 {
    let set = std::env::var("CUTE_SYMBOLIC_CASES").ok();
    set.and_then(|v| v.parse().ok()).unwrap_or(2000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    // Every simplification, bound, divisor and proof, on all values.
    #[test]
    fn agrees_with_values(facts in facts(), s in trees(4), t in trees(3)) {
        let symbols = symbols(&facts);
        let all = assignments(&symbols);
        // Facts that no small value satisfies say nothing.
        if all.is_empty() {
            return Ok(());
        }
        let (Some((p, s)), Some((q, t))) = (build(&s, &symbols), build(&t, &symbols)) else {
            // Only facts that are refused leave nothing; some value satisfies these.
            let refused = symbols.iter().any(|s| Poly::of_symbol(s).is_err());
            prop_assert!(refused);
            return Err(TestCaseError::fail("facts that hold were refused"));
        };
        let mut values = Vec::new();
        for v in &all {
            let look = |s: &Symbol| Some(v[(s.name.as_bytes()[0] - b'a') as usize]);
            let (x, y) = (value(&s, v), value(&t, v));
            // Opaque terms of a polynomial may hold products that the tree does not.
            let (Some(x), Some(y)) = (x, y) else { continue };
            if let Ok(x) = i64::try_from(x) {
                prop_assert_eq!(p.eval(&look), Some(x), "{} at {:?}", &p, v);
            }
            if let Ok(y) = i64::try_from(y) {
                prop_assert_eq!(q.eval(&look), Some(y), "{} at {:?}", &q, v);
            }
            values.push((x, y));
        }
        let (lo, hi) = p.range();
        for (x, _) in &values {
            prop_assert!(lo.is_none_or(|lo| lo <= *x) && hi.is_none_or(|hi| *x <= hi), "{} in {:?} {:?}: {}", &p, lo, hi, x);
            let d = i128::from(p.divisor());
            let multiple = if d == 0 { *x == 0 } else { x % d == 0 };
            prop_assert!(multiple, "{} divides {}: {}", d, &p, x);
        }
        let each = || values.iter().copied();
        holds(p.prove_eq(&q), each().map(|(x, y)| x == y), &format!("{p} == {q}"))?;
        holds(p.prove_ne(&q), each().map(|(x, y)| x != y), &format!("{p} != {q}"))?;
        holds(p.prove_lt(&q), each().map(|(x, y)| x < y), &format!("{p} < {q}"))?;
        holds(p.prove_le(&q), each().map(|(x, y)| x <= y), &format!("{p} <= {q}"))?;
        let divides = |x: i128, y: i128| if x == 0 { y == 0 } else { y % x == 0 };
        holds(p.divides(&q), each().map(|(x, y)| divides(x, y)), &format!("{p} | {q}"))?;
        holds(q.divides(&p), each().map(|(x, y)| divides(y, x)), &format!("{q} | {p}"))?;
        // Text is read back to the same value.
        let mut scope = Scope::new().closed();
        symbols.iter().for_each(|s| scope.insert(Symbol::clone(s)));
        for p in [&p, &q] {
            prop_assert_eq!(&Poly::parse(&p.to_string(), &scope).map_err(|e| e.to_string()), &Ok(p.clone()), "{}", p);
        }
        // What cancels is gone.
        if let Ok(sum) = p.add(&q) {
            prop_assert_eq!(sum.sub(&q), Ok(p.clone()));
            prop_assert_eq!(q.add(&p), Ok(sum));
        }
        prop_assert_eq!(p.sub(&q).is_ok_and(|d| d.is(0)), p == q);
    }
}
