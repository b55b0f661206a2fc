//! The errors of the algebra. Each message says what was expected, what was found, and the cure.

use crate::parse::ParseError;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, LayoutError>;

/// The reason why a layout, or an operation on layouts, was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The text is not a layout, tile, swizzle or tuple.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// Shape and stride, or another pair that must have one profile, have two.
    #[error(
        "expected a stride congruent to shape {shape}, found {stride}; give both the same nesting"
    )]
    NotCongruent {
        /// The shape, as text.
        shape: String,
        /// The stride, as text.
        stride: String,
    },
    /// A shape has a leaf that is zero, negative, or not an integer.
    #[error(
        "expected positive integers (or `?`) in a shape, found {found}; make every extent at least 1"
    )]
    Shape {
        /// The shape, as text.
        found: String,
    },
    /// A stride mixes integers and basis elements, or basis paths end inside one another.
    #[error("expected {expected}, found {found}; use one kind of stride throughout")]
    Stride {
        /// The rule that was broken.
        expected: &'static str,
        /// The stride, as text.
        found: String,
    },
    /// The operation needs integers that are known now.
    #[error(
        "`{op}` expected static integers, found {found}; {} or apply `{op}` to a static mode",
        make_known(found)
    )]
    Dynamic {
        /// The operation.
        op: &'static str,
        /// The operand, as text.
        found: String,
    },
    /// The operation is not defined for coordinate (scaled-basis) strides.
    #[error("`{op}` expected integer strides, found {found}; compose with an integer layout first")]
    Basis {
        /// The operation.
        op: &'static str,
        /// The operand, as text.
        found: String,
    },
    /// A number is divided by zero.
    #[error("`{op}` expected a divisor other than 0 for {found}, found 0; give a positive one")]
    DivisionByZero {
        /// The operation.
        op: &'static str,
        /// The dividend, as text.
        found: String,
    },
    /// A result depends on a fact about symbols that was not given.
    #[error("{otherwise}; with symbols this needs a fact: {fact}")]
    NeedsFact {
        /// The fact, or alternatives.
        fact: String,
        /// The failure where it does not hold.
        otherwise: String,
    },
    /// Arithmetic on symbols failed.
    #[error(transparent)]
    Symbolic(#[from] crate::symbolic::SymError),
    /// A size, offset or stride does not fit 64 bits.
    #[error(
        "`{op}` expected values that fit a signed 64-bit integer, found an overflow; make the shape or stride smaller"
    )]
    Overflow {
        /// The operation.
        op: &'static str,
    },
    /// A mode, range or rank that is not there.
    #[error("`{op}` expected {expected}, found {found}; name modes that exist")]
    Rank {
        /// The operation.
        op: &'static str,
        /// The rank or range that was needed.
        expected: String,
        /// The rank or range that was given.
        found: String,
    },
    /// A coordinate that does not fit the profile of the shape.
    #[error(
        "expected a coordinate of shape {shape}, found {coord}; give an integer, one value a mode, or one a leaf"
    )]
    Coord {
        /// The shape, as text.
        shape: String,
        /// The coordinate, as text.
        coord: String,
    },
    /// No layout of the profile of `rhs` is the function `lhs o rhs`; the coordinate shows it.
    #[error(
        "`composition` expected {lhs} o {rhs} to be a layout of the right side's profile, found that at {coord} the \
         function is {truth} where such a layout would give {got}; choose sizes and strides that divide the left side's modes"
    )]
    Composition {
        /// The left side.
        lhs: String,
        /// The right side.
        rhs: String,
        /// A coordinate of the right side (an integer within a leaf, named with it, or a 1-D index) that shows the difference.
        coord: String,
        /// The value of the function there.
        truth: i64,
        /// The value that a layout would have to give there.
        got: i64,
    },
    /// The composition may exist, but it is too large to enumerate and no divisibility proves it.
    #[error(
        "`composition` expected {lhs} o {rhs} to follow from divisibility (more than {limit} values to enumerate), found \
         that it does not; choose sizes and strides that divide the left side's modes"
    )]
    CompositionUnproven {
        /// The left side.
        lhs: String,
        /// The right side.
        rhs: String,
        /// The largest domain that is enumerated.
        limit: i64,
    },
    /// Two coordinates of the layout share an offset, or the offsets interleave so that no layout fills the gaps.
    #[error(
        "`{op}` expected an injective layout whose strides divide in order, found {found}; {cure}"
    )]
    NotInjective {
        /// The operation.
        op: &'static str,
        /// The layout, as text.
        found: String,
        /// The advice on what to do.
        cure: &'static str,
    },
    /// One size does not divide another.
    #[error("`{op}` expected {expected}, found {found}; {cure}")]
    Divisibility {
        /// The operation.
        op: &'static str,
        /// The condition that should have held.
        expected: String,
        /// The operand that was given.
        found: String,
        /// The advice on what to do.
        cure: String,
    },
    /// Tuples are nested too deeply, or have too many modes.
    #[error("expected at most {limit} {what}, found more; split the tuple")]
    Limit {
        /// The thing that is bounded.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// The parameters of a swizzle are out of range.
    #[error(
        "expected a swizzle with B, M >= 0, |S| >= B and B + M + |S| <= 32, found S<{b},{m},{s}>; widen S or narrow B"
    )]
    Swizzle {
        /// Bits in the mask.
        b: i64,
        /// Bits left alone at the bottom.
        m: i64,
        /// Distance of the shift.
        s: i64,
    },
}

// How the text of an operand is made static: by its `?`, by its symbols, or by both.
fn make_known(found: &str) -> &'static str {
    // What stands in braces is about a `?`; the words of a composed layout are no symbols.
    let bare = found.split('{').flat_map(|part| part.rsplit('}').next());
    let mut words = bare.flat_map(|part| {
        part.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| w.starts_with(|c: char| c.is_alphabetic()))
    });
    let symbols = words.any(|w| w != "S<" && w.trim_end() != "o");
    match (found.contains('?'), symbols) {
        (true, false) => "make the `?` leaves static",
        (false, false) => "make every leaf an integer",
        (false, true) => "give the symbols values (as in `M == 64`)",
        (true, true) => "make the `?` leaves static and give the symbols values (as in `M == 64`)",
    }
}
