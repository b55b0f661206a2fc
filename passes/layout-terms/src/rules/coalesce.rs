//! Rules by which coalesce, flatten, group and filter absorb one another.

use super::{Env, Rule, at_least_two, extents};

/// Something is left of the layout, so that its stride is not that of a mode of one element.
fn something_is_left(e: &Env) -> bool {
    let size = || extents(&e.layout('a')?.filter().ok()?);
    size().is_some_and(|size| at_least_two(&size))
}

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "coalesce-coalesce",
        "(coalesce (coalesce ?a))",
        "(coalesce ?a)",
    ),
    Rule::new(
        "coalesce-flatten",
        "(coalesce (flatten ?a))",
        "(coalesce ?a)",
    ),
    Rule::new(
        "coalesce-group",
        "(coalesce (group_modes.i ?a))",
        "(coalesce ?a)",
    ),
    Rule::new(
        "coalesce-by-mode",
        "(coalesce (coalesce ?a ?p))",
        "(coalesce ?a)",
    ),
    Rule::new("flatten-flatten", "(flatten (flatten ?a))", "(flatten ?a)"),
    Rule::new(
        "flatten-group",
        "(flatten (group_modes.i ?a))",
        "(flatten ?a)",
    )
    .when(|e| e.outer('a').is_some_and(|a| a.shape().is_tuple())),
    Rule::new("filter-filter", "(filter (filter ?a))", "(filter ?a)"),
    Rule::new("filter-coalesce", "(filter (coalesce ?a))", "(filter ?a)").when(something_is_left),
    Rule::new("filter-flatten", "(filter (flatten ?a))", "(filter ?a)"),
    Rule::new("filter-group", "(filter (group_modes.i ?a))", "(filter ?a)"),
];
