//! Leaves of tuples, and arithmetic on them.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

mod arith;
mod check;
mod term;
mod truth;

pub use arith::with_divisors;
pub(crate) use check::require;
pub use check::{Check, record};
pub use term::{BinOp, Expr, Term};
pub use truth::Truth;

/// An integer that is known only when the program runs.
///
/// In a type it has no identity: two `?` may be different numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dyn {
    /// Width in bits: 32 or 64.
    pub width: u32,
    /// A number that is known to divide it; 1 says nothing, and 0 divides 0 alone.
    pub div: i64,
    /// The computation of its value, where that is tracked.
    pub term: Term,
}

impl Dyn {
    /// `?`: a 32-bit integer of which nothing is known.
    pub const I32: Dyn = Dyn::new(32, 1);
    /// `?{i64}`.
    pub const I64: Dyn = Dyn::new(64, 1);
    /// `?{div=0}`: the extent of a tensor without elements, which is 0 whenever it is asked for.
    pub const ZERO: Dyn = Dyn::new(32, 0);

    /// An integer of `width` bits (32 or 64) that `div` divides.
    pub const fn new(width: u32, div: i64) -> Dyn {
        Dyn {
            width,
            div,
            term: Term::Untracked,
        }
    }

    /// Tells whether it is known to be 0.
    pub const fn is_zero(&self) -> bool {
        self.div == 0
    }

    /// Tells whether an integer is one that it may be, as far as divisors say.
    pub const fn admits(&self, value: i64) -> bool {
        match self.div {
            0 => value == 0,
            // The remainder of a division by 1 or -1 is 0, also where the quotient overflows.
            div => value.wrapping_rem(div) == 0,
        }
    }

    /// Tells whether each integer that it may be is one that `other` may be, as far as divisors say.
    pub const fn is_within(&self, other: &Dyn) -> bool {
        other.admits(self.div)
    }

    /// The same, as input `index` of a trace.
    #[must_use]
    pub fn traced(&self, index: usize) -> Dyn {
        let width = self.width;
        Dyn {
            term: Term::Traced(Arc::new(Expr::Input { index, width })),
            ..self.clone()
        }
    }
}

impl fmt::Display for Dyn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Term::Symbolic(p) = &self.term {
            return p.fmt(f);
        }
        match (self.width == 64, self.div) {
            (false, 1) => f.write_str("?"),
            (true, 1) => f.write_str("?{i64}"),
            (false, d) => write!(f, "?{{div={d}}}"),
            (true, d) => write!(f, "?{{i64 div={d}}}"),
        }
    }
}

/// One leaf of an [`IntTuple`](crate::IntTuple).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// A known integer.
    Static(i64),
    /// An integer known at run time.
    Dynamic(Dyn),
    /// A multiple of a basis vector of a coordinate space, written `value@path` with the outermost index last.
    Basis {
        /// The multiple: [`Leaf::Static`] or [`Leaf::Dynamic`].
        value: Box<Leaf>,
        /// The path to the coordinate, outermost index first; never empty.
        path: SmallVec<[u16; 4]>,
    },
    /// `_`, "all of this mode", in a coordinate.
    Underscore,
}

impl Leaf {
    /// The integer, if it is known and no basis element.
    #[inline]
    pub fn as_static(&self) -> Option<i64> {
        match self {
            Leaf::Static(v) => Some(*v),
            _ => None,
        }
    }

    /// A symbolic integer; one that is constant is a known integer.
    pub fn symbolic(p: crate::symbolic::Poly) -> Leaf {
        match p.as_constant() {
            Some(v) => Leaf::Static(v),
            None => Leaf::Dynamic(Dyn {
                width: 64,
                div: p.divisor().max(1),
                term: Term::Symbolic(p),
            }),
        }
    }

    /// The polynomial, if it is a symbolic integer.
    pub fn as_symbolic(&self) -> Option<&crate::symbolic::Poly> {
        match self {
            Leaf::Dynamic(Dyn {
                term: Term::Symbolic(p),
                ..
            }) => Some(p),
            _ => None,
        }
    }

    /// Tells whether it has an identity: it is known, or symbolic. `?` has none.
    pub fn is_identified(&self) -> bool {
        match self {
            Leaf::Basis { value, .. } => value.is_identified(),
            l => l.is_static() || l.as_symbolic().is_some(),
        }
    }

    /// Tells whether every number in it is known (`_` counts as known).
    pub fn is_static(&self) -> bool {
        match self {
            Leaf::Static(_) | Leaf::Underscore => true,
            Leaf::Dynamic(_) => false,
            Leaf::Basis { value, .. } => value.is_static(),
        }
    }

    /// Tells whether this is the known integer `v`.
    #[inline]
    pub fn is(&self, v: i64) -> bool {
        self.as_static() == Some(v)
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Static(v) => write!(f, "{v}"),
            Leaf::Dynamic(d) => write!(f, "{d}"),
            Leaf::Basis { value, path } => {
                write!(f, "{value}")?;
                path.iter().rev().try_for_each(|p| write!(f, "@{p}"))
            }
            Leaf::Underscore => f.write_str("_"),
        }
    }
}
