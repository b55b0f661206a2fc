//! Leaves of tuples, and the arithmetic that shape and stride inference needs on them.

use std::fmt;

use smallvec::SmallVec;

use crate::error::{LayoutError, Result};

/// An integer that is known only when the program runs.
///
/// It has no identity: two `?` in one type may be different numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dyn {
    /// Width in bits: 32 or 64.
    pub width: u32,
    /// A number that is known to divide it; 1 says nothing.
    pub div: i64,
}

impl Dyn {
    /// `?`: a 32-bit integer of which nothing is known.
    pub const I32: Dyn = Dyn { width: 32, div: 1 };
    /// `?{i64}`.
    pub const I64: Dyn = Dyn { width: 64, div: 1 };
}

impl fmt::Display for Dyn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

    /// Whether every number in it is known (`_` counts as known).
    pub fn is_static(&self) -> bool {
        match self {
            Leaf::Static(_) | Leaf::Underscore => true,
            Leaf::Dynamic(_) => false,
            Leaf::Basis { value, .. } => value.is_static(),
        }
    }

    /// Whether this is the known integer `v`.
    #[inline]
    pub fn is(&self, v: i64) -> bool {
        self.as_static() == Some(v)
    }

    /// The product, where at most one side is a basis element.
    ///
    /// A divisor is inferred only where an operand carries one, as the types of CuTe DSL do. Errors: overflow; `_`; two
    /// basis elements.
    pub fn mul(&self, other: &Leaf) -> Result<Leaf> {
        use Leaf::*;
        const OP: &str = "multiply";
        match (self, other) {
            (Static(a), Static(b)) => a
                .checked_mul(*b)
                .map(Static)
                .ok_or(LayoutError::Overflow { op: OP }),
            (Static(0), Dynamic(_) | Basis { .. }) | (Dynamic(_) | Basis { .. }, Static(0)) => {
                Ok(Static(0))
            }
            (Static(1), x) | (x, Static(1)) if *x != Underscore => Ok(x.clone()),
            (Dynamic(d), Static(c)) | (Static(c), Dynamic(d)) => {
                let div = match d.div {
                    1 => 1,
                    n => c
                        .checked_abs()
                        .and_then(|c| n.checked_mul(c))
                        .ok_or(LayoutError::Overflow { op: OP })?,
                };
                Ok(Dynamic(Dyn {
                    width: d.width,
                    div,
                }))
            }
            (Dynamic(a), Dynamic(b)) => Ok(Dynamic(Dyn {
                width: a.width.max(b.width),
                div: a
                    .div
                    .checked_mul(b.div)
                    .ok_or(LayoutError::Overflow { op: OP })?,
            })),
            (Basis { value, path }, x @ (Static(_) | Dynamic(_)))
            | (x @ (Static(_) | Dynamic(_)), Basis { value, path }) => Ok(Basis {
                value: Box::new(value.mul(x)?),
                path: path.clone(),
            }),
            _ => Err(LayoutError::Basis {
                op: OP,
                found: format!("{self} and {other}"),
            }),
        }
    }

    /// `ceil(self / d)` for `d >= 1`. A dynamic leaf stays one; a divisor is kept where it still holds. Errors: `d`
    /// below 1; `_` and basis elements.
    pub fn ceil_div(&self, d: i64) -> Result<Leaf> {
        if d < 1 {
            return Err(LayoutError::Shape {
                found: d.to_string(),
            });
        }
        match self {
            Leaf::Static(v) => Ok(Leaf::Static(ceil_div(*v, d))),
            x if d == 1 => Ok(x.clone()),
            Leaf::Dynamic(v) => {
                let div = if v.div % d == 0 {
                    (v.div / d).max(1)
                } else {
                    1
                };
                Ok(Leaf::Dynamic(Dyn {
                    width: v.width,
                    div,
                }))
            }
            x => Err(LayoutError::Basis {
                op: "ceil_div",
                found: x.to_string(),
            }),
        }
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

/// `ceil(a / b)` for `b >= 1`, rounding towards positive infinity.
#[inline]
pub(crate) fn ceil_div(a: i64, b: i64) -> i64 {
    let q = a / b;
    if a % b > 0 { q + 1 } else { q }
}
