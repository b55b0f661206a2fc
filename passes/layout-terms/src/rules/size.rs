//! Sizes, cosizes and depths: what does not change them, and of what they are products.

use super::{Env, Rule};
use cute_layout::{Tile, ops::Value};

/// The tile covers the layout without rounding up, so that a divide has as many elements.
fn divides_evenly(e: &Env) -> bool {
    let evenly = |tile: &Tile| e.outer('a').map(|a| a.divides_evenly(tile));
    let tile = match e.value('t') {
        Some(Value::Layout(l)) => Tile::Layout(l.clone()),
        Some(Value::Tile(t)) => t.clone(),
        _ => return false,
    };
    matches!(evenly(&tile), Some(Ok(true)))
}

pub(super) const RULES: &[Rule] = &[
    // A o B has B's domain.
    Rule::new(
        "size-composition",
        "(size (composition ?a ?b))",
        "(size ?b)",
    )
    .in_any_form(),
    Rule::new("size-coalesced", "(size (coalesce ?a))", "(size ?a)").in_any_form(),
    Rule::new(
        "size-coalesced-by-mode",
        "(size (coalesce ?a ?p))",
        "(size ?a)",
    )
    .in_any_form(),
    Rule::new("size-flat", "(size (flatten ?a))", "(size ?a)").in_any_form(),
    Rule::new("size-grouped", "(size (group_modes.i ?a))", "(size ?a)").in_any_form(),
    Rule::new("size-of-shape", "(size (get_shape ?a))", "(size ?a)").in_any_form(),
    // A divide regroups, where nothing is rounded up.
    Rule::new(
        "size-logical-divide",
        "(size (logical_divide ?a ?t))",
        "(size ?a)",
    )
    .when(divides_evenly)
    .in_any_form(),
    Rule::new(
        "size-zipped-divide",
        "(size (zipped_divide ?a ?t))",
        "(size ?a)",
    )
    .when(divides_evenly)
    .in_any_form(),
    Rule::new(
        "size-tiled-divide",
        "(size (tiled_divide ?a ?t))",
        "(size ?a)",
    )
    .when(divides_evenly)
    .in_any_form(),
    Rule::new(
        "size-flat-divide",
        "(size (flat_divide ?a ?t))",
        "(size ?a)",
    )
    .when(divides_evenly)
    .in_any_form(),
    // A product repeats.
    Rule::new(
        "size-logical-product",
        "(size (logical_product ?a ?b))",
        "(tuple_mul (size ?a) (size ?b))",
    )
    .in_any_form(),
    Rule::new(
        "size-blocked-product",
        "(size (blocked_product ?a ?b))",
        "(tuple_mul (size ?a) (size ?b))",
    )
    .in_any_form(),
    Rule::new(
        "size-raked-product",
        "(size (raked_product ?a ?b))",
        "(tuple_mul (size ?a) (size ?b))",
    )
    .in_any_form(),
    Rule::new("cosize-coalesced", "(cosize (coalesce ?a))", "(cosize ?a)").in_any_form(),
    Rule::new("cosize-flat", "(cosize (flatten ?a))", "(cosize ?a)").in_any_form(),
    Rule::new(
        "cosize-grouped",
        "(cosize (group_modes.i ?a))",
        "(cosize ?a)",
    )
    .in_any_form(),
    // What is coalesced has one level, or none.
    Rule::new(
        "depth-flat",
        "(depth (flatten (coalesce ?a)))",
        "(depth (coalesce ?a))",
    ),
];
