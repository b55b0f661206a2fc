//! A brute-force evaluator, written apart from the crate's own, and generators of layouts.

#![allow(dead_code)] // each test file uses its part

use cute_layout::{IntTuple, Layout, int};
use proptest::prelude::*;

pub fn layout(text: &str) -> Layout {
    Layout::parse(text).expect(text)
}

/// Leaves as (extent, stride).
pub fn leaves(l: &Layout) -> Vec<(i64, i64)> {
    let s = l.shape().static_leaves().expect("static shape");
    s.into_iter()
        .zip(l.stride().static_leaves().expect("static stride"))
        .collect()
}

/// The offset of 1-D index `i`: digits of all leaves but the last, which takes the rest. Odd for negative indices.
pub fn eval(l: &Layout, i: i64) -> i64 {
    if i < 0 {
        return -eval(l, -i);
    }
    let modes = leaves(l);
    let (mut rest, mut acc) = (i, 0);
    for (k, (s, d)) in modes.iter().enumerate() {
        if k + 1 == modes.len() {
            acc += rest * d;
        } else {
            acc += rest % s * d;
            rest /= s;
        }
    }
    acc
}

pub fn size(l: &Layout) -> i64 {
    leaves(l).iter().map(|m| m.0).product()
}

/// All offsets, in 1-D order.
pub fn values(l: &Layout) -> Vec<i64> {
    (0..size(l)).map(|i| eval(l, i)).collect()
}

pub fn injective(l: &Layout) -> bool {
    let mut v = values(l);
    v.sort_unstable();
    v.windows(2).all(|w| w[0] != w[1])
}

fn assemble(t: &IntTuple, f: &mut impl FnMut() -> i64) -> IntTuple {
    match t {
        IntTuple::Leaf(_) => int(f()),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| assemble(t, f)).collect()),
    }
}

/// Shapes of depth at most 3 with extents 1 to 6, and at most `limit` elements.
pub fn shape(limit: i64) -> impl Strategy<Value = IntTuple> {
    let leaf = prop_oneof![1 => Just(1i64), 6 => 2i64..=6].prop_map(int);
    leaf.prop_recursive(3, 6, 3, |inner| {
        prop::collection::vec(inner, 1..=3).prop_map(IntTuple::Tuple)
    })
    .prop_filter("small", move |s| s.size().is_ok_and(|n| n <= limit))
}

/// Any layout: strides zero, negative, coinciding, of size-1 modes, and such that fit together.
pub fn any_layout(limit: i64, low: i64) -> impl Strategy<Value = Layout> {
    let stride = prop_oneof![2 => Just(0i64), 2 => Just(1), 2 => prop::sample::select(vec![2, 3, 4, 6, 8, 12, 24]), 3 => low..=20];
    (shape(limit), prop::collection::vec(stride, 16)).prop_map(|(s, d)| {
        let mut it = d.into_iter().cycle();
        let stride = assemble(&s, &mut || it.next().unwrap_or(1));
        Layout::new(s, stride).expect("congruent by construction")
    })
}

/// A layout whose leaves are compact in a random order: a bijection onto `0..size`.
pub fn compact_layout(limit: i64) -> impl Strategy<Value = Layout> {
    (shape(limit), prop::collection::vec(0i64..1000, 16)).prop_map(|(s, keys)| {
        let n = s.leaves().len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| keys[i % keys.len()]);
        let extents = s.static_leaves().expect("static");
        let mut strides = vec![0; n];
        let mut run = 1;
        for i in order {
            strides[i] = run;
            run *= extents[i];
        }
        let mut it = strides.into_iter();
        let stride = assemble(&s, &mut || it.next().unwrap_or(0));
        Layout::new(s, stride).expect("congruent by construction")
    })
}

pub fn either(limit: i64, low: i64) -> impl Strategy<Value = Layout> {
    prop_oneof![any_layout(limit, low), compact_layout(limit)]
}

/// Whether some layout of `n` elements has these values: tries every ordered factorisation of `n`.
pub fn some_layout_has(values: &[i64]) -> bool {
    fn extend(values: &[i64], done: usize) -> bool {
        if done == values.len() {
            return true;
        }
        let rest = values.len() / done;
        (2..=rest).filter(|f| rest.is_multiple_of(*f)).any(|f| {
            let stride = values[done];
            (0..done * f).all(|i| values[i] == values[i % done] + (i / done) as i64 * stride)
                && extend(values, done * f)
        })
    }
    values[0] == 0 && extend(values, 1)
}
