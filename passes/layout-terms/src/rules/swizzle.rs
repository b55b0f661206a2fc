//! Swizzles: what they commute with, what cancels, and where they do nothing.

use super::{Env, Rule, is_forward};
use cute_layout::{IntTuple, Layout, Leaf, Swizzle};

/// The bits that a swizzle reads.
fn read(s: &Swizzle) -> u64 {
    let mask = ((1u64 << s.b()) - 1) << s.m();
    if s.s() > 0 { mask << s.s() } else { mask }
}

/// Tells whether all offsets of the layout are multiples of what is above the bits that are read, wherever it is evaluated.
fn is_above(s: &Swizzle, l: &Layout) -> bool {
    let above = Leaf::Static(1 << (64 - read(s).leading_zeros()));
    let multiple = |d: &&Leaf| d.divisible_by(&above).is_ok_and(|t| t.is_true());
    !l.stride().has_basis() && l.stride().leaves().iter().all(multiple)
}

/// Tells whether all offsets within the domain are below the bits that are read.
fn is_below(s: &Swizzle, l: &Layout) -> bool {
    let low = Leaf::Static(1 << read(s).trailing_zeros().min(62));
    let below = || Some(l.cosize_leaf().ok()?.at_most(&low).ok()?.is_true());
    is_forward(l) && below().unwrap_or(false)
}

/// The swizzle changes nothing at the index.
fn does_nothing(e: &Env) -> bool {
    let Some((s, a)) = e.swizzle('s').zip(e.layout('a')) else {
        return false;
    };
    s.b() > 0 && (is_above(s, a) || is_below(s, a) && inside(e))
}

/// The swizzle moves bits: a layout behind one that does not is that layout.
fn moves(e: &Env) -> bool {
    e.swizzle('s').is_some_and(|s| s.b() > 0)
}

fn is_zero(e: &Env) -> bool {
    e.tuple('o').and_then(|o| o.as_static()) == Some(0)
}

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "swizzle-behind",
        "(make_composed_layout ?s ?o ?a)",
        "(swizzle ?s ?a)",
    )
    .when(|e| is_zero(e) && moves(e)),
    // S o S = id
    Rule::new("swizzle-twice", "(swizzle ?s (swizzle ?s ?a))", "?a"),
    Rule::new(
        "swizzle-swizzle",
        "(swizzle ?s (swizzle ?t ?a))",
        "(swizzle (swizzle_compose ?s ?t) ?a)",
    )
    .when(|e| {
        let kept = || Some(e.swizzle('s')?.compose(e.swizzle('t')?).ok()?.b() > 0);
        e.layout('a').is_some() && kept().unwrap_or(false)
    }),
    Rule::new("size-swizzled", "(size (swizzle ?s ?a))", "(size ?a)").in_any_form(),
    // An offset that has none of the bits that are read stays.
    Rule::new(
        "eval-swizzled-for-nothing",
        "(layout_eval ?i (swizzle ?s ?a))",
        "(layout_eval ?i ?a)",
    )
    .when(does_nothing)
    .in_any_form(),
    Rule::new(
        "swizzle-composition",
        "(composition (swizzle ?s ?a) ?b)",
        "(swizzle ?s (composition ?a ?b))",
    )
    .when(moves),
    Rule::new(
        "swizzle-get",
        "(get.i (swizzle ?s ?a))",
        "(swizzle ?s (get.i ?a))",
    ),
    Rule::new(
        "swizzle-coalesce",
        "(coalesce (swizzle ?s ?a))",
        "(swizzle ?s (coalesce ?a))",
    )
    .when(moves),
    Rule::new(
        "swizzle-flatten",
        "(flatten (swizzle ?s ?a))",
        "(swizzle ?s (flatten ?a))",
    )
    .when(moves),
    Rule::new(
        "swizzle-group",
        "(group_modes.i (swizzle ?s ?a))",
        "(swizzle ?s (group_modes.i ?a))",
    )
    .when(moves),
    Rule::new(
        "swizzle-compose-with-itself",
        "(swizzle_compose ?s (swizzle_compose ?s ?t))",
        "?t",
    )
    .when(|e| {
        let back = || {
            let (s, t) = (e.swizzle('s')?, e.swizzle('t')?);
            Some(s.compose(&s.compose(t).ok()?).ok()? == *t)
        };
        back().unwrap_or(false)
    }),
];

/// The index is a coordinate of the layout that is known to lie inside it, and to have no remainder.
fn inside(e: &Env) -> bool {
    let within = || {
        let (i, a) = (e.tuple('i')?, e.layout('a')?);
        if i.has_underscore() {
            return None;
        }
        fits(i, a.shape()).then_some(())
    };
    within().is_some()
}

fn fits(coord: &IntTuple, shape: &IntTuple) -> bool {
    match (coord.as_leaf(), shape) {
        (Some(c), shape) => {
            let less = || {
                let size = shape.product().ok()?;
                let low = Leaf::Static(0).at_most(c).ok()?;
                Some(low.and(&c.less(&size).ok()?).is_true())
            };
            less().unwrap_or(false)
        }
        (None, shape) => {
            shape.is_tuple()
                && coord.rank() == shape.rank()
                && coord
                    .modes()
                    .iter()
                    .zip(shape.modes())
                    .all(|(c, s)| fits(c, s))
        }
    }
}
