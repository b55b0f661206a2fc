//! The nested integer tuple that shape, stride and coordinate are made of.

use std::fmt;

use smallvec::SmallVec;

use crate::error::{LayoutError, Result};
use crate::leaf::{Dyn, Leaf};

/// The deepest nesting that text and operations accept.
pub(crate) const MAX_DEPTH: usize = 64;
/// The most leaves that one tuple may have.
pub(crate) const MAX_LEAVES: usize = 4096;

/// The use of a tuple, which says which leaves are legal in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Integers, known or not.
    IntTuple,
    /// Integers, known or not. (That they are positive is checked where a layout is made.)
    Shape,
    /// Integers, or multiples of basis vectors.
    Stride,
    /// Integers, or `_`.
    Coord,
}

impl Kind {
    /// The name of CuTe IR's type.
    pub fn name(self) -> &'static str {
        match self {
            Kind::IntTuple => "int_tuple",
            Kind::Shape => "shape",
            Kind::Stride => "stride",
            Kind::Coord => "coord",
        }
    }
}

/// A leaf, or a tuple of such.
///
/// `(8)` is not `8`: a tuple of one mode is kept, as in CuTe IR.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IntTuple {
    /// A single value; rank 1, depth 0.
    Leaf(Leaf),
    /// A tuple; its rank is the number of its elements.
    Tuple(Vec<IntTuple>),
}

/// A known integer as a tuple of depth 0.
pub fn int(v: i64) -> IntTuple {
    IntTuple::Leaf(Leaf::Static(v))
}

/// A tuple of the given modes.
pub fn tuple(modes: impl IntoIterator<Item = IntTuple>) -> IntTuple {
    IntTuple::Tuple(modes.into_iter().collect())
}

impl From<i64> for IntTuple {
    fn from(v: i64) -> Self {
        int(v)
    }
}

impl From<Leaf> for IntTuple {
    fn from(v: Leaf) -> Self {
        IntTuple::Leaf(v)
    }
}

impl FromIterator<i64> for IntTuple {
    fn from_iter<T: IntoIterator<Item = i64>>(iter: T) -> Self {
        tuple(iter.into_iter().map(int))
    }
}

impl IntTuple {
    /// `_`.
    pub fn underscore() -> IntTuple {
        IntTuple::Leaf(Leaf::Underscore)
    }

    /// `?`, a 32-bit integer known at run time.
    pub fn dynamic() -> IntTuple {
        IntTuple::Leaf(Leaf::Dynamic(Dyn::I32))
    }

    /// Modes at the top: 1 for a leaf.
    pub fn rank(&self) -> usize {
        match self {
            IntTuple::Leaf(_) => 1,
            IntTuple::Tuple(t) => t.len(),
        }
    }

    /// Levels of nesting: 0 for a leaf, 1 for `(4,3)`.
    pub fn depth(&self) -> usize {
        match self {
            IntTuple::Leaf(_) => 0,
            IntTuple::Tuple(t) => 1 + t.iter().map(IntTuple::depth).max().unwrap_or(0),
        }
    }

    /// Tells whether this is a tuple, not a leaf.
    pub fn is_tuple(&self) -> bool {
        matches!(self, IntTuple::Tuple(_))
    }

    /// The leaf, if it is one.
    pub fn as_leaf(&self) -> Option<&Leaf> {
        match self {
            IntTuple::Leaf(l) => Some(l),
            IntTuple::Tuple(_) => None,
        }
    }

    /// The integer, if this is one known leaf.
    pub fn as_static(&self) -> Option<i64> {
        self.as_leaf().and_then(Leaf::as_static)
    }

    /// The modes at the top; a leaf is its own only mode.
    pub fn modes(&self) -> &[IntTuple] {
        match self {
            IntTuple::Leaf(_) => std::slice::from_ref(self),
            IntTuple::Tuple(t) => t,
        }
    }

    /// Mode `i`, if there is one. Mode 0 of a leaf is the leaf.
    pub fn get(&self, i: usize) -> Option<&IntTuple> {
        self.modes().get(i)
    }

    /// The leaves, left to right.
    pub fn leaves(&self) -> SmallVec<[&Leaf; 8]> {
        fn walk<'a>(t: &'a IntTuple, out: &mut SmallVec<[&'a Leaf; 8]>) {
            match t {
                IntTuple::Leaf(l) => out.push(l),
                IntTuple::Tuple(ts) => ts.iter().for_each(|t| walk(t, out)),
            }
        }
        let mut out = SmallVec::new();
        walk(self, &mut out);
        out
    }

    /// The leaves as integers, if all are known integers.
    pub fn static_leaves(&self) -> Option<Vec<i64>> {
        self.leaves().iter().map(|l| l.as_static()).collect()
    }

    /// Tells whether every number in it is known. Basis elements with a known value, and `_`, are static.
    pub fn is_static(&self) -> bool {
        match self {
            IntTuple::Leaf(l) => l.is_static(),
            IntTuple::Tuple(t) => t.iter().all(IntTuple::is_static),
        }
    }

    /// Tells whether some leaf is a basis element.
    pub fn has_basis(&self) -> bool {
        match self {
            IntTuple::Leaf(l) => matches!(l, Leaf::Basis { .. }),
            IntTuple::Tuple(t) => t.iter().any(IntTuple::has_basis),
        }
    }

    /// Tells whether some leaf is `_`.
    pub fn has_underscore(&self) -> bool {
        match self {
            IntTuple::Leaf(l) => *l == Leaf::Underscore,
            IntTuple::Tuple(t) => t.iter().any(IntTuple::has_underscore),
        }
    }

    /// The product of the leaves. Errors: a leaf that is not a known integer; overflow.
    pub fn size(&self) -> Result<i64> {
        match self {
            IntTuple::Leaf(Leaf::Static(v)) => Ok(*v),
            IntTuple::Leaf(l) => Err(LayoutError::Dynamic {
                op: "size",
                found: l.to_string(),
            }),
            IntTuple::Tuple(t) => t.iter().try_fold(1i64, |acc, t| {
                acc.checked_mul(t.size()?)
                    .ok_or(LayoutError::Overflow { op: "size" })
            }),
        }
    }

    /// The product of the leaves as a leaf: dynamic if one is.
    pub fn product(&self) -> Result<Leaf> {
        match self {
            IntTuple::Leaf(l) => Ok(l.clone()),
            IntTuple::Tuple(t) => t
                .iter()
                .try_fold(Leaf::Static(1), |acc, t| acc.mul(&t.product()?)),
        }
    }

    /// Each mode replaced by its product: `((2,4),3)` becomes `(8,3)`.
    pub fn product_each(&self) -> Result<IntTuple> {
        match self {
            IntTuple::Leaf(_) => Ok(self.clone()),
            IntTuple::Tuple(t) => Ok(IntTuple::Tuple(
                t.iter()
                    .map(|t| Ok(IntTuple::Leaf(t.product()?)))
                    .collect::<Result<_>>()?,
            )),
        }
    }

    /// The same leaves at depth 1; a leaf stays one.
    pub fn flatten(&self) -> IntTuple {
        match self {
            IntTuple::Leaf(_) => self.clone(),
            IntTuple::Tuple(_) => IntTuple::Tuple(
                self.leaves()
                    .into_iter()
                    .map(|l| IntTuple::Leaf(l.clone()))
                    .collect(),
            ),
        }
    }

    /// A tuple of one mode becomes that mode, repeatedly.
    pub fn unwrap_single(self) -> IntTuple {
        match self {
            IntTuple::Tuple(mut t) if t.len() == 1 => {
                t.pop().map_or(IntTuple::Tuple(vec![]), Self::unwrap_single)
            }
            t => t,
        }
    }

    /// Tells whether both have one profile: the same nesting.
    pub fn congruent(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Leaf(_), IntTuple::Leaf(_)) => true,
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.congruent(b))
            }
            _ => false,
        }
    }

    /// Tells whether every coordinate of `self` is one of `other`: the sizes agree and `other` refines the profile of `self`.
    ///
    /// A dynamic size is compatible only with itself as a leaf, since two `?` may differ; symbolic sizes agree where the
    /// facts prove it.
    pub fn compatible(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Leaf(a), IntTuple::Leaf(b)) => a == b || a.known_equal(b),
            (IntTuple::Leaf(a), b @ IntTuple::Tuple(_)) => match (a, b.size()) {
                (Leaf::Static(a), Ok(b)) => *a == b,
                _ => b.product().is_ok_and(|b| a.known_equal(&b)),
            },
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible(b))
            }
            _ => false,
        }
    }

    /// Tells whether the profile of `other` refines that of `self`, sizes aside.
    pub fn weakly_congruent(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Leaf(_), _) => true,
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.weakly_congruent(b))
            }
            _ => false,
        }
    }

    /// Taking `self` as a shape: the natural coordinate of `idx`, which is an integer, one value a mode, or one a leaf.
    ///
    /// The last mode takes what is left, as CuTe's does. Errors: negative or unknown indices; a profile that does not fit.
    pub fn idx2crd(&self, idx: &IntTuple) -> Result<IntTuple> {
        let bad = || LayoutError::Coord {
            shape: self.to_string(),
            coord: idx.to_string(),
        };
        match (idx, self) {
            (IntTuple::Tuple(i), IntTuple::Tuple(s)) if i.len() == s.len() => Ok(IntTuple::Tuple(
                s.iter()
                    .zip(i)
                    .map(|(s, i)| s.idx2crd(i))
                    .collect::<Result<_>>()?,
            )),
            (IntTuple::Leaf(Leaf::Static(v)), IntTuple::Leaf(_)) => Ok(int(*v)),
            (IntTuple::Leaf(Leaf::Static(v)), IntTuple::Tuple(s)) if *v >= 0 => {
                let mut rest = *v;
                let mut out = Vec::with_capacity(s.len());
                for (k, mode) in s.iter().enumerate() {
                    let c = if k + 1 == s.len() {
                        rest
                    } else {
                        let n = mode.size()?;
                        if n < 1 {
                            return Err(LayoutError::Shape {
                                found: self.to_string(),
                            });
                        }
                        let c = rest % n;
                        rest /= n;
                        c
                    };
                    out.push(mode.idx2crd(&int(c))?);
                }
                Ok(IntTuple::Tuple(out))
            }
            _ => Err(bad()),
        }
    }

    /// Checks that nesting and number of leaves are within what this crate handles.
    pub(crate) fn check_bounds(&self) -> Result<()> {
        fn walk(t: &IntTuple, depth: usize, leaves: &mut usize) -> Result<()> {
            match t {
                IntTuple::Leaf(_) => *leaves += 1,
                IntTuple::Tuple(_) if depth == MAX_DEPTH => {
                    return Err(LayoutError::Limit {
                        what: "levels of nesting",
                        limit: MAX_DEPTH,
                    });
                }
                IntTuple::Tuple(ts) => ts.iter().try_for_each(|t| walk(t, depth + 1, leaves))?,
            }
            if *leaves > MAX_LEAVES {
                return Err(LayoutError::Limit {
                    what: "leaves",
                    limit: MAX_LEAVES,
                });
            }
            Ok(())
        }
        walk(self, 0, &mut 0)
    }

    /// Taking `self` as a stride: integers throughout, or basis elements throughout (zeros may stand among them), and no
    /// basis path that ends where another goes on.
    pub fn check_stride(&self) -> Result<()> {
        let leaves = self.leaves();
        let mut integers = 0;
        let mut paths: SmallVec<[&[u16]; 8]> = SmallVec::new();
        for l in &leaves {
            match l {
                Leaf::Static(0) => {}
                Leaf::Static(_) | Leaf::Dynamic(_) => integers += 1,
                Leaf::Basis { path, .. } => paths.push(path),
                Leaf::Underscore => {
                    return Err(LayoutError::Stride {
                        expected: "integers in a stride",
                        found: self.to_string(),
                    });
                }
            }
        }
        if integers > 0 && !paths.is_empty() {
            let expected = "strides that are all integers or all scaled basis elements (zeros may be mixed in)";
            return Err(LayoutError::Stride {
                expected,
                found: self.to_string(),
            });
        }
        // Sorted, a path that is a proper prefix of another stands right before one that it is a prefix of.
        paths.sort_unstable();
        if paths
            .windows(2)
            .any(|w| w[0].len() < w[1].len() && w[1].starts_with(w[0]))
        {
            let expected = "scaled-basis paths none of which ends where another goes on";
            return Err(LayoutError::Stride {
                expected,
                found: self.to_string(),
            });
        }
        Ok(())
    }
}

impl fmt::Display for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::write(f, &[self])
    }
}
