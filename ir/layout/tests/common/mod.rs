//! Generators of layouts for proptest, and what the tests and the fuzz targets share: a brute-force evaluator, operands from
//! bytes, and a check of each operation.

#![allow(dead_code)] // each test file uses its part

pub mod brute;
pub mod checks;
pub mod source;
pub mod texts;

#[allow(unused_imports)] // each test file uses its part
pub use brute::*;
use cute_layout::{IntTuple, Layout, int};
use proptest::prelude::*;

pub fn layout(text: &str) -> Layout {
    Layout::parse(text).expect(text)
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
