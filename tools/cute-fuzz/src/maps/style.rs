//! The types that a map computes with: of its values, its inputs and its outputs.

use crate::random::Random;

/// The types that a map computes with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// The type of values.
    pub(super) ty: &'static str,
    pub(super) inputs: &'static [&'static str],
    pub(super) outputs: &'static [&'static str],
    /// Kinds of reductions.
    pub(super) kinds: &'static [&'static str],
    /// The magnitude that values are kept below.
    pub(super) most: f64,
}

const WIDE: [&str; 4] = ["add", "mean", "maximum", "minimum"];

const STYLES: [Style; 6] = [
    Style {
        ty: "f32",
        inputs: &[
            "f16", "f16", "bf16", "f32", "f32", "i8", "i32", "f8E4M3FN", "f8E5M2",
        ],
        outputs: &["f16", "f16", "bf16", "f32", "f32", "i8"],
        kinds: &WIDE,
        most: 500.0,
    },
    Style {
        ty: "f64",
        inputs: &["f64", "f64", "f32"],
        outputs: &["f64", "f64", "f32"],
        kinds: &WIDE,
        most: 500.0,
    },
    Style {
        ty: "i32",
        inputs: &["i32", "i8"],
        outputs: &["i32"],
        kinds: &["add", "maximum", "minimum"],
        most: 5e8,
    },
    Style {
        ty: "f16",
        inputs: &["f16"],
        outputs: &["f16"],
        kinds: &["maximum", "minimum"],
        most: 100.0,
    },
    Style {
        ty: "bf16",
        inputs: &["bf16"],
        outputs: &["bf16"],
        kinds: &["maximum", "minimum"],
        most: 100.0,
    },
    Style {
        ty: "i8",
        inputs: &["i8"],
        outputs: &["i8"],
        kinds: &["maximum", "minimum"],
        most: 100.0,
    },
];

impl Style {
    /// A style, most often that of values of f32.
    pub(super) fn new(random: &mut Random) -> Style {
        STYLES[*random.pick(&[0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5])]
    }

    /// Values of f32, such as products give.
    pub(super) fn wide() -> Style {
        STYLES[0]
    }

    pub(super) fn is_float(&self) -> bool {
        self.ty.starts_with('f') || self.ty.starts_with("bf")
    }
}
