//! Every static operation against brute force: each check draws operands, runs the operation, and compares all values.
//!
//! A check panics where the result is the wrong function, or where an error is not justified: for small operands it tries
//! everything that could have been the answer. It says whether there was a result, so that tests can ask for enough of them.

#![allow(dead_code)] // each user needs its part

mod algebra;
mod coords;
mod divides;
mod modes;
mod recasts;

use super::source::Source;
use cute_layout::{Layout, LayoutError};

/// A check: whether the operation gave a result.
pub type Check = fn(&mut Source<'_>) -> bool;

/// Every check, with the least percentage of random operands that must give a result.
pub const CHECKS: [(&str, Check, usize); 28] = [
    ("coalesce", algebra::coalesce, 100),
    ("coalesce by profile", algebra::coalesce_by, 60),
    ("filter", algebra::filter, 100),
    ("composition", algebra::composition, 30),
    (
        "composition of compact layouts",
        algebra::composition_compact,
        50,
    ),
    ("composition with a tile", algebra::composition_tile, 20),
    ("composition with a shape", algebra::with_shape, 30),
    ("complement", algebra::complement, 40),
    ("right inverse", algebra::right_inverse, 100),
    ("left inverse", algebra::left_inverse, 60),
    ("logical divide", divides::logical_divide, 20),
    ("zipped, tiled and flat divide", divides::other_divides, 15),
    ("logical product", divides::logical_product, 20),
    (
        "zipped, tiled and flat product",
        divides::other_products,
        10,
    ),
    ("blocked and raked product", divides::blocked_and_raked, 20),
    ("tile to shape", divides::tile_to_shape, 40),
    ("slice and dice", modes::slice, 100),
    ("group and take", modes::group, 60),
    ("select, append, prepend, zip", modes::select, 60),
    ("flatten and unflatten", modes::flatten, 100),
    ("orders", modes::orders, 60),
    ("like", modes::like, 100),
    ("upcast", recasts::upcast, 10),
    ("downcast", recasts::downcast, 20),
    ("recast", recasts::recast, 10),
    ("coordinates", coords::coordinates, 100),
    ("swizzles", coords::swizzles, 50),
    ("shape arithmetic", coords::shapes, 20),
];

/// An error that only dynamic or basis leaves, or numbers beyond 64 bits, may cause.
fn never_static(e: &LayoutError) -> bool {
    matches!(
        e,
        LayoutError::Dynamic { .. } | LayoutError::Basis { .. } | LayoutError::Overflow { .. }
    )
}

/// `modes` as one layout.
fn join(modes: &[Layout]) -> Layout {
    Layout::from_modes(modes).expect("modes of a layout")
}
