//! Inverses, and what they cancel.

use super::{Env, Rule, at_least_two, extents, is_plain};
use cute_layout::{IntTuple, Layout, Leaf, int, ops::Value};

/// `n:1`.
fn identity(n: Leaf) -> Option<Value> {
    let layout = Layout::new(IntTuple::Leaf(n), int(1)).ok()?;
    Some(Value::Layout(layout))
}

/// The right inverse has more than one element.
fn right_is_some(e: &Env) -> bool {
    let size = || extents(&e.layout('a')?.right_inverse().ok()?);
    is_plain(e, 'a') && size().is_some_and(|size| at_least_two(&size))
}

/// The right inverse reaches every offset and every index, so that the layout is a permutation of more than one element.
fn is_permutation(e: &Env) -> bool {
    let holds = || {
        let a = e.layout('a')?;
        let (size, reach) = (extents(a)?, a.cosize_leaf().ok()?);
        let covered = extents(&a.right_inverse().ok()?)?;
        Some(at_least_two(&size) && size.known_equal(&reach) && covered.known_equal(&size))
    };
    is_plain(e, 'a') && holds().unwrap_or(false)
}

/// No two indices have one offset: each stride is at least what the modes of smaller strides reach.
fn is_injective(e: &Env) -> bool {
    let holds = || {
        let a = e.layout('a')?;
        let (shape, stride) = (a.shape().leaves(), a.stride().leaves());
        let mut modes: Vec<(Leaf, Leaf)> = shape
            .into_iter()
            .cloned()
            .zip(stride.into_iter().cloned())
            .filter(|(s, _)| !s.is(1))
            .collect();
        let mut end = Leaf::Static(1);
        while !modes.is_empty() {
            // The mode whose stride is known to be the smallest.
            let smallest = (0..modes.len()).find(|&i| {
                let below =
                    |(_, d): &(Leaf, Leaf)| modes[i].1.at_most(d).is_ok_and(|t| t.is_true());
                modes.iter().all(below)
            })?;
            let (extent, step) = modes.remove(smallest);
            if !end.at_most(&step).ok()?.is_true() {
                return Some(false);
            }
            let last = extent.sub(&Leaf::Static(1)).ok()?.mul(&step).ok()?;
            end = end.add(&last).ok()?;
        }
        Some(true)
    };
    is_plain(e, 'a') && holds().unwrap_or(false)
}

/// More than one element, none of which is reached twice.
fn left_is_whole(e: &Env) -> bool {
    let size = || extents(e.layout('a')?);
    is_injective(e) && size().is_some_and(|size| at_least_two(&size))
}

pub(super) const RULES: &[Rule] = &[
    // A(R(i)) = i for i in R's domain.
    Rule::new(
        "right-inverse-cancels",
        "(coalesce (composition ?a (right_inverse ?a)))",
        "?k",
    )
    .when(right_is_some)
    .k(|e| identity(extents(&e.layout('a')?.right_inverse().ok()?)?)),
    // L(A(i)) = i where A reaches nothing twice.
    Rule::new(
        "left-inverse-cancels",
        "(coalesce (composition (left_inverse ?a) ?a))",
        "?k",
    )
    .when(left_is_whole)
    .k(|e| identity(extents(e.layout('a')?)?)),
    Rule::new(
        "right-inverse-of-coalesced",
        "(right_inverse (coalesce ?a))",
        "(right_inverse ?a)",
    ),
    Rule::new(
        "right-inverse-of-flat",
        "(right_inverse (flatten ?a))",
        "(right_inverse ?a)",
    ),
    Rule::new(
        "right-inverse-of-grouped",
        "(right_inverse (group_modes.i ?a))",
        "(right_inverse ?a)",
    ),
    Rule::new(
        "left-inverse-of-coalesced",
        "(left_inverse (coalesce ?a))",
        "(left_inverse ?a)",
    ),
    Rule::new(
        "left-inverse-of-flat",
        "(left_inverse (flatten ?a))",
        "(left_inverse ?a)",
    ),
    Rule::new(
        "left-inverse-of-grouped",
        "(left_inverse (group_modes.i ?a))",
        "(left_inverse ?a)",
    ),
    // The inverse of a permutation is one, and there is no other.
    Rule::new(
        "inverse-of-inverse",
        "(right_inverse (right_inverse ?a))",
        "(coalesce ?a)",
    )
    .when(is_permutation),
    Rule::new(
        "left-is-right-inverse",
        "(left_inverse ?a)",
        "(right_inverse ?a)",
    )
    .when(is_permutation),
];
