//! Divides: `A / T` is `A o (T, complement of T)`, and its modes are had alone.

use super::{Env, Rule};
use cute_layout::Tile;

/// The tiler is a layout, or has one for each mode that it names.
fn is_of_layouts(e: &Env) -> bool {
    fn whole(t: &Tile) -> bool {
        match t {
            Tile::Modes(modes) => modes.iter().all(whole),
            Tile::Layout(_) => true,
            Tile::Underscore => false,
        }
    }
    e.tile('t').is_none_or(whole)
}

pub(super) const RULES: &[Rule] = &[
    // A / T = A o (T, complement(T, shape A))
    Rule::new(
        "divide-is-composition",
        "(logical_divide ?a ?t)",
        "(composition ?a (cat ?t (complement ?t (get_shape ?a))))",
    ),
    Rule::new(
        "zipped-divide-by-layout",
        "(zipped_divide ?a ?t)",
        "(logical_divide ?a ?t)",
    )
    .when(|e| e.layout('t').is_some())
    .narrowing()
    .in_any_form(),
    // The tile alone, without what is around it.
    Rule::new(
        "tile-of-divide",
        "(get.0 (logical_divide ?a ?t))",
        "(composition ?a ?t)",
    )
    .when(|e| e.layout('t').is_some())
    .narrowing()
    .in_any_form(),
    Rule::new(
        "tile-of-zipped-divide",
        "(get.0 (zipped_divide ?a ?t))",
        "(composition ?a ?t)",
    )
    .when(is_of_layouts)
    .narrowing()
    .in_any_form(),
    Rule::new(
        "tile-of-tiled-divide",
        "(get.0 (tiled_divide ?a ?t))",
        "(composition ?a ?t)",
    )
    .when(is_of_layouts)
    .narrowing()
    .in_any_form(),
    // The rest alone.
    Rule::new(
        "rest-of-divide",
        "(get.1 (logical_divide ?a ?t))",
        "(composition ?a (complement ?t (get_shape ?a)))",
    ),
];
