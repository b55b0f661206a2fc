//! Composition: in which order, of what it depends, and mode by mode.

use super::{Env, Rule, at_least_two, extents, has_no_unit, is_plain, lands_in};
use cute_layout::{Layout, Leaf};

fn plain_right(e: &Env) -> bool {
    is_plain(e, 'b')
}

/// B's offsets are indices of A, so that how A goes on beyond its domain does not matter.
fn right_lands_in_left(e: &Env) -> bool {
    let lands = |(a, b): (&Layout, &Layout)| lands_in(b, a) && has_no_unit(b);
    is_plain(e, 'b') && e.outer('a').zip(e.layout('b')).is_some_and(lands)
}

/// B's offsets are indices of A, more than one of them.
fn lands_if_computed(e: &Env) -> bool {
    let several = |b: &Layout| extents(b).is_some_and(|n| at_least_two(&n));
    let lands = |(a, b): (&Layout, &Layout)| lands_in(b, a) && several(b);
    is_plain(e, 'b') && e.outer('a').zip(e.layout('b')).is_some_and(lands)
}

/// C's offsets are indices of B, and B o C has C's profile, so that nothing is cut in one order that is whole in the other.
fn associates(e: &Env) -> bool {
    let holds = || {
        let (b, c) = (e.layout('b')?, e.layout('c')?);
        let both = b.composition(c).ok()?;
        let plain = is_plain(e, 'b') && is_plain(e, 'c') && has_no_unit(c);
        Some(plain && lands_in(c, b) && both.shape() == c.shape())
    };
    holds().unwrap_or(false)
}

/// C's offsets are indices of B.
fn lands(e: &Env) -> bool {
    let holds = || {
        let (b, c) = (e.layout('b')?, e.layout('c')?);
        Some(is_plain(e, 'b') && lands_in(c, b) && at_least_two(&extents(c)?))
    };
    holds().unwrap_or(false)
}

fn one_leaf(l: &Layout) -> Option<(&Leaf, &Leaf)> {
    Some((l.shape().as_leaf()?, l.stride().as_leaf()?))
}

/// B is 0, 1, .. up to the size of A, which is more than one.
fn right_is_identity(e: &Env) -> bool {
    let holds = || {
        let (b, size) = (one_leaf(e.layout('b')?)?, extents(e.outer('a')?)?);
        Some(b.1.is(1) && at_least_two(&size) && b.0.known_equal(&size))
    };
    holds().unwrap_or(false)
}

pub(super) const RULES: &[Rule] = &[
    // (A o B) o C = A o (B o C)
    Rule::new(
        "composition-associates",
        "(composition (composition ?a ?b) ?c)",
        "(composition ?a (composition ?b ?c))",
    )
    .when(associates),
    // The same as functions, where the modes of C are cut by B.
    Rule::new(
        "composition-associates-coalesced",
        "(coalesce (composition (composition ?a ?b) ?c))",
        "(coalesce (composition ?a (composition ?b ?c)))",
    )
    .when(lands),
    // A o (0, 1, .. size A) = coalesce A
    Rule::new(
        "composition-identity-right",
        "(composition ?a ?b)",
        "(coalesce ?a)",
    )
    .when(right_is_identity),
    // (n:1) o B = B
    Rule::new("composition-identity-left", "(composition ?a ?b)", "?b").when(|e| {
        let holds = || Some(one_leaf(e.layout('a')?)?.1.is(1));
        plain_right(e) && holds().unwrap_or(false)
    }),
    // What A is made of does not matter, only the function.
    Rule::new(
        "composition-of-coalesced",
        "(composition (coalesce ?a) ?b)",
        "(composition ?a ?b)",
    )
    .when(right_lands_in_left),
    Rule::new(
        "composition-of-flat",
        "(composition (flatten ?a) ?b)",
        "(composition ?a ?b)",
    )
    .when(|e| plain_right(e) && e.outer('a').is_some())
    .narrowing(),
    Rule::new(
        "composition-of-grouped",
        "(composition (group_modes.i ?a) ?b)",
        "(composition ?a ?b)",
    )
    .when(plain_right)
    .narrowing(),
    // Offsets of a mode of B are offsets of B where the other coordinates are 0, and A(0) = 0.
    Rule::new(
        "get-composition",
        "(get.i (composition ?a ?b))",
        "(composition ?a (get.i ?b))",
    )
    .when(|e| {
        // Below its leaves the modes are those that A cuts it into.
        let mut shape = e.layout('b').map(Layout::shape);
        for i in e.path('i').unwrap_or_default() {
            let mode = shape.filter(|s| s.is_tuple());
            shape = usize::try_from(*i).ok().and_then(|i| mode?.get(i));
        }
        shape.is_some()
    })
    .narrowing()
    .in_any_form(),
    Rule::new(
        "slice-composition",
        "(slice (composition ?a ?b) ?c)",
        "(composition ?a (slice ?b ?c))",
    )
    .when(|e| {
        let part = e.tuple('c').zip(e.layout('b'));
        let is_part =
            part.is_some_and(|(c, b)| c.has_underscore() && c.weakly_congruent(b.shape()));
        is_plain(e, 'a') && plain_right(e) && is_part
    })
    .narrowing()
    .in_any_form(),
    // A o (B, C) = (A o B, A o C): defined where no digit of A's extents carries from B to C.
    Rule::new(
        "composition-by-mode",
        "(composition ?a (cat ?b ?c))",
        "(cat (composition ?a ?b) (composition ?a ?c))",
    ),
    // In which form A is computed does not matter, only the function.
    Rule::new(
        "composition-of-computed",
        "(coalesce (composition ?a ?b))",
        "(coalesce (composition (coalesce ?a) ?b))",
    )
    .when(|e| e.typed.contains(&'a') && lands_if_computed(e))
    .of_computed(),
    // The same at an index.
    Rule::new(
        "eval-computed",
        "(layout_eval ?i ?a)",
        "(layout_eval ?i (coalesce ?a))",
    )
    .when(|e| e.tuple('i').is_some_and(|i| !i.is_tuple()) && e.typed.contains(&'a'))
    .of_computed()
    .in_any_form(),
    // (A o B)(i) = A(B(i)) for i in B's domain.
    Rule::new(
        "eval-composition",
        "(layout_eval ?i (composition ?a ?b))",
        "(layout_eval (to_coord (layout_eval ?i ?b)) ?a)",
    )
    .when(|e| {
        let inside = || {
            let (i, b) = (e.tuple('i')?.as_leaf()?, e.layout('b')?);
            let within = Leaf::Static(0)
                .at_most(i)
                .ok()?
                .and(&i.less(&extents(b)?).ok()?);
            Some(within.is_true() && lands_in(b, e.layout('a')?))
        };
        plain_right(e) && is_plain(e, 'a') && inside().unwrap_or(false)
    })
    .in_any_form(),
    // The complement of a layout is that of its image.
    Rule::new(
        "complement-of-coalesced",
        "(complement (coalesce ?a) ?b)",
        "(complement ?a ?b)",
    ),
    Rule::new(
        "complement-of-flat",
        "(complement (flatten ?a) ?b)",
        "(complement ?a ?b)",
    ),
    Rule::new(
        "complement-of-grouped",
        "(complement (group_modes.i ?a) ?b)",
        "(complement ?a ?b)",
    ),
    Rule::new(
        "complement-of-filtered",
        "(complement (filter ?a) ?b)",
        "(complement ?a ?b)",
    ),
    Rule::new(
        "complement-in-layout",
        "(complement ?a ?b)",
        "(complement ?a (get_shape ?b))",
    ),
];
