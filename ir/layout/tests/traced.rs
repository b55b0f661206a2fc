//! Operations on dynamic layouts: with the values put in, what was traced is what the static operation does.
//!
//! A static layout becomes dynamic at some leaves, which remember their place. The operation gives the same text with and
//! without tracing; and where its checks hold for the values, the traced result with the values put in is the right function.

use crate::common::*;
use cute_layout::{Check, Dyn, IntTuple, Layout, LayoutError, Leaf, Term, Tile, int, record};
use proptest::prelude::*;

fn hide(t: &IntTuple, mask: &mut impl FnMut() -> bool, inputs: &mut Vec<i64>) -> IntTuple {
    match t {
        IntTuple::Leaf(Leaf::Static(v)) if mask() => {
            inputs.push(*v);
            IntTuple::Leaf(Leaf::Dynamic(Dyn::I32.traced(inputs.len() - 1)))
        }
        IntTuple::Leaf(l) => IntTuple::Leaf(l.clone()),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| hide(t, mask, inputs)).collect()),
    }
}

/// The layout with some leaves traced.
fn dynamic(l: &Layout, mask: &mut impl FnMut() -> bool, inputs: &mut Vec<i64>) -> Layout {
    let shape = hide(l.shape(), mask, inputs);
    let stride = hide(l.stride(), mask, inputs);
    Layout::new(shape, stride).expect("congruent as before")
}

/// The same without the traces.
fn plain(l: &Layout) -> Layout {
    Layout::parse(&l.to_string()).expect("prints as it parses")
}

fn put_in(t: &IntTuple, inputs: &[i64]) -> Option<IntTuple> {
    Some(match t {
        IntTuple::Leaf(Leaf::Dynamic(d)) => match &d.term {
            Term::Traced(e) => int(e.eval(inputs)?),
            _ => panic!("a leaf lost its trace"),
        },
        IntTuple::Leaf(l) => IntTuple::Leaf(l.clone()),
        IntTuple::Tuple(t) => {
            IntTuple::Tuple(t.iter().map(|t| put_in(t, inputs)).collect::<Option<_>>()?)
        }
    })
}

/// The result for these inputs, where every check holds.
fn evaluate(l: &Layout, checks: &[Check], inputs: &[i64]) -> Option<Layout> {
    if !checks.iter().all(|c| c.condition.eval(inputs) == Some(1)) {
        return None;
    }
    let shape = put_in(l.shape(), inputs).expect("defined where the checks hold");
    let stride = put_in(l.stride(), inputs).expect("defined where the checks hold");
    Some(Layout::new(shape, stride).expect("a layout where the checks hold"))
}

type Traced = (Layout, Vec<Check>, Vec<i64>);

/// Runs `op` on traced and on plain operands, and asks for the same answer of both.
fn both(
    a: &Layout,
    b: &Layout,
    bits: u64,
    op: impl Fn(&Layout, &Layout) -> Result<Layout, LayoutError>,
) -> Result<Traced, LayoutError> {
    let mut inputs = Vec::new();
    let mut bits = bits;
    let mut mask = || {
        bits = bits.rotate_right(1);
        bits & 1 == 1
    };
    let a = dynamic(a, &mut mask, &mut inputs);
    let b = dynamic(b, &mut mask, &mut inputs);
    let (traced, checks) = record(|| op(&a, &b));
    let untraced = op(&plain(&a), &plain(&b));
    assert_eq!(
        traced.as_ref().map(ToString::to_string).ok(),
        untraced.as_ref().map(ToString::to_string).ok(),
        "{a} and {b}"
    );
    traced.map(|t| (t, checks, inputs))
}

fn compose(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
    a.composition(b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn composition(a in either(64, -6), b in any_layout(24, -3), bits in any::<u64>()) {
        if let Ok((r, checks, inputs)) = both(&a, &b, bits, compose)
            && let Some(r) = evaluate(&r, &checks, &inputs)
        {
            prop_assert_eq!(size(&r), size(&b));
            for i in 0..size(&b) {
                prop_assert_eq!(eval(&r, i), eval(&a, eval(&b, i)), "{} o {} = {} at {}", a, b, r, i);
            }
        }
    }

    /// Checks that the dynamic operation's checks hold where the static one follows from divisibility.
    #[test]
    fn tiles_of_compact_layouts(a in compact_layout(256), rows in 1i64..=4, bits in any::<u64>()) {
        let n = size(&a);
        let rows = if n % rows == 0 { rows } else { 1 };
        let b = Layout::leaf(rows, 1).expect("small");
        let divide = |a: &Layout, b: &Layout| a.logical_divide(&Tile::Layout(b.clone()));
        if let Ok((r, checks, inputs)) = both(&a, &b, bits & !1, divide)
            && let Some(r) = evaluate(&r, &checks, &inputs)
        {
            let mut v = values(&r);
            prop_assert!(v[..rows as usize].iter().zip(0..).all(|(v, i)| *v == eval(&a, i)));
            // Leaf by leaf the rest may round up; every element is there.
            v.sort_unstable();
            v.dedup();
            prop_assert!((0..n).all(|i| v.binary_search(&i).is_ok()), "{} by {} = {}", a, b, r);
        }
    }

    #[test]
    fn complement(a in either(48, 0), target in 1i64..200, bits in any::<u64>()) {
        let fill = |a: &Layout, t: &Layout| a.complement(t.shape());
        let t = Layout::leaf(target, 1).expect("small");
        if let Ok((r, checks, inputs)) = both(&a, &t, bits, fill)
            && let Some(r) = evaluate(&r, &checks, &inputs)
        {
            let (whole, mut seen) = (values(&r), std::collections::BTreeSet::new());
            let mut own = values(&a);
            own.sort_unstable();
            own.dedup();
            for x in &whole {
                for y in &own {
                    prop_assert!(seen.insert(x + y), "{} of {} to {}: {} twice", r, a, target, x + y);
                }
            }
            prop_assert!((0..target).all(|x| seen.contains(&x)), "{} of {} to {}", r, a, target);
        }
    }

    #[test]
    fn products(a in compact_layout(24), b in either(12, 0), bits in any::<u64>()) {
        let product = |a: &Layout, b: &Layout| a.logical_product(&Tile::Layout(b.clone()));
        if let Ok((r, checks, inputs)) = both(&a, &b, bits, product)
            && let Some(r) = evaluate(&r, &checks, &inputs)
        {
            let n = size(&a);
            for i in 0..size(&r) {
                prop_assert_eq!(eval(&r, i), eval(&a, i % n) + n * eval(&b, i / n), "{} x {} = {}", a, b, r);
            }
        }
    }
}

/// The properties above hold of something: most random operands give a result, and its checks hold.
#[test]
fn most_compact_cases_are_decided() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let cases = (compact_layout(64), compact_layout(24), any::<u64>());
    let (mut given, mut right) = (0, 0);
    for _ in 0..2000 {
        let (a, b, bits) = cases.new_tree(&mut runner).expect("a case").current();
        if let Ok((r, checks, inputs)) = both(&a, &b, bits, compose) {
            given += 1;
            right += usize::from(evaluate(&r, &checks, &inputs).is_some());
        }
    }
    assert!(
        given > 1000 && right > 700,
        "{given} results, {right} right"
    );
}

#[test]
fn types_are_inferred_as_published() {
    let ok = |a: &str, b: &str, r: &str| {
        let l = compose(&layout(a), &layout(b)).map(|l| l.to_string());
        assert_eq!(l.as_deref(), Ok(r), "{a} o {b}");
    };
    ok("(4,8):(1,4)", "(2,4):(1,?)", "(2,4):(1,?)");
    ok("(?,?):(?,?)", "(4):(1)", "((?,?)):((?,?))");
    ok("(20):(2)", "(?,4):(4,1)", "(?,4):(8,2)");
    ok("(4,8):(1,9)", "?:2", "(?,?):(2,9)");
    let tile = |a: &str, t: &str, r: &str| {
        let l = layout(a).logical_divide(&Tile::parse(t).expect(t));
        assert_eq!(l.map(|l| l.to_string()).as_deref(), Ok(r), "{a} by {t}");
    };
    tile("(?,?):(?,?)", "[3:1;4:1]", "((3,?),(4,?)):((?,?),(?,?))");
    tile(
        "(?,?):(?,?)",
        "(3,4):(1,3)",
        "(((?,?),(?,?)),((?,?),(?,?))):(((?,?),(?,?)),((?,?),(?,?)))",
    );
    let fill = |a: &str, t: &str, r: &str| {
        let t = layout(&format!("{t}:{t}"));
        let l = layout(a).complement(t.shape()).map(|l| l.to_string());
        assert_eq!(l.as_deref(), Ok(r), "{a}");
    };
    fill("(3):(?)", "12", "(?,?):(1,?)");
    fill("3:2", "?", "(2,?):(1,6)");
    fill("4:4", "(2,?)", "(4,?):(1,16)");
    fill("1:2", "(2,?)", "(2,?):(1,2)");
}

#[test]
fn what_is_known_to_be_wrong_is_an_error() {
    for (a, b) in [("(6,2,?):(1,100,?)", "4:4"), ("(4,8):(1,?)", "5:3")] {
        let e = compose(&layout(a), &layout(b)).expect_err(a).to_string();
        assert!(e.contains("nor step over it whole"), "{e}");
    }
}
