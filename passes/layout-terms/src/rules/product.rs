//! Products: `A x B` is `(A, complement of A o B)`, and its modes are had alone.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    // A x B = (A, complement(A) o B), where copies fill A's gaps.
    Rule::new(
        "product-is-cat",
        "(logical_product ?a ?b)",
        "(cat ?a (composition (complement ?a) ?b))",
    ),
    Rule::new("block-of-product", "(get.0 (logical_product ?a ?b))", "?a").in_any_form(),
    Rule::new(
        "block-of-zipped-product",
        "(get.0 (zipped_product ?a ?b))",
        "?a",
    )
    .in_any_form(),
    Rule::new(
        "block-of-tiled-product",
        "(get.0 (tiled_product ?a ?b))",
        "?a",
    )
    .in_any_form(),
    Rule::new(
        "zipped-product-by-layout",
        "(zipped_product ?a ?b)",
        "(logical_product ?a ?b)",
    )
    .narrowing()
    .in_any_form(),
    // The same copies, side by side or between one another.
    Rule::new(
        "raked-product-of-blocked",
        "(size (raked_product ?a ?b))",
        "(size (blocked_product ?a ?b))",
    ),
];
