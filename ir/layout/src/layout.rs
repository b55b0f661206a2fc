//! The layout: shape and stride of one profile, and its evaluation.

use std::fmt;

use smallvec::SmallVec;

use crate::error::{LayoutError, Result};
use crate::leaf::{Leaf, Truth, require};
use crate::tuple::{IntTuple, MAX_DEPTH, MAX_LEAVES, int, tuple};

/// A function from coordinates to offsets: the inner product of the natural coordinate and the stride.
///
/// Offsets are in elements unless a doc says otherwise. A layout that exists has congruent, positive, bounded parts, and
/// where it is static its size and cosize fit 64 bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: IntTuple,
    stride: IntTuple,
}

/// The leaves of a static layout, for evaluation in loops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlatLayout {
    pub(crate) modes: SmallVec<[(i64, i64); 8]>,
}

impl FlatLayout {
    /// Extent and stride of each leaf, fastest first; extents are at least 1.
    pub fn modes(&self) -> &[(i64, i64)] {
        &self.modes
    }

    /// The offset of 1-D index `i`. The last leaf takes what is left; negative `i` gives `-at(-i)`.
    ///
    /// For indices within the domain of a [`Layout`] that exists this cannot overflow; beyond, it saturates.
    #[inline]
    pub fn at(&self, i: i64) -> i64 {
        let (mut rest, sign) = if i < 0 {
            (i.saturating_neg(), -1)
        } else {
            (i, 1)
        };
        let Some(((_, last), init)) = self.modes.split_last() else {
            return 0;
        };
        let mut acc = 0i64;
        for &(s, d) in init {
            acc = acc.saturating_add((rest % s).saturating_mul(d));
            rest /= s;
        }
        acc.saturating_add(rest.saturating_mul(*last))
            .saturating_mul(sign)
    }

    /// The offset as [`FlatLayout::at`] gives it, or `None` where the exact value does not fit 64 bits.
    pub fn checked_at(&self, i: i64) -> Option<i64> {
        let mut rest = i128::from(i).abs();
        let Some(((_, last), init)) = self.modes.split_last() else {
            return Some(0);
        };
        let mut acc = 0i128;
        for &(s, d) in init {
            acc = acc.checked_add((rest % i128::from(s)) * i128::from(d))?;
            rest /= i128::from(s);
        }
        acc = acc.checked_add(rest.checked_mul(i128::from(*last))?)?;
        i64::try_from(if i < 0 { -acc } else { acc }).ok()
    }

    /// The product of the extents, which fits because a [`Layout`] exists.
    pub fn size(&self) -> i64 {
        self.modes.iter().map(|m| m.0).product()
    }

    /// Tells whether the offset of each index of the domain is that index. Takes a step for each leaf, however large the extents are.
    pub fn is_identity(&self) -> bool {
        let mut next = 1i64;
        self.modes.iter().all(|&(extent, stride)| {
            let fits = extent == 1 || stride == next;
            next = next.saturating_mul(extent);
            fits
        })
    }
}

impl Layout {
    /// Pairs a shape with a stride.
    ///
    /// Errors: different profiles; an extent below 1, or a symbolic one that is not known to be at least 1; strides of mixed kinds; a static size or cosize beyond 64 bits;
    /// nesting beyond 64 levels.
    pub fn new(shape: IntTuple, stride: IntTuple) -> Result<Layout> {
        Layout::new_static(shape, stride).or_else(|(s, d)| Layout::new_general(s, d))
    }

    // Public for tests, as the next one.
    #[doc(hidden)]
    pub fn new_general(shape: IntTuple, stride: IntTuple) -> Result<Layout> {
        shape.check_bounds()?;
        if !shape.congruent(&stride) {
            return Err(LayoutError::NotCongruent {
                shape: shape.to_string(),
                stride: stride.to_string(),
            });
        }
        if shape
            .leaves()
            .iter()
            .any(|l| !matches!(l, Leaf::Dynamic(_) | Leaf::Static(1..)))
        {
            return Err(LayoutError::Shape {
                found: shape.to_string(),
            });
        }
        for leaf in shape
            .leaves()
            .into_iter()
            .filter(|l| l.as_symbolic().is_some())
        {
            require(&Leaf::Static(1).at_most(leaf)?, || LayoutError::Shape {
                found: shape.to_string(),
            })?;
        }
        stride.check_stride()?;
        let made = Layout { shape, stride };
        made.check_extent()?;
        Ok(made)
    }

    /// [`Layout::new`] for static integers, with all that it requires checked in one pass. Else the parts come back.
    #[doc(hidden)]
    pub fn new_static(
        shape: IntTuple,
        stride: IntTuple,
    ) -> std::result::Result<Layout, (IntTuple, IntTuple)> {
        struct Seen {
            leaves: usize,
            size: i64,
            span: i64,
        }
        fn walk(s: &IntTuple, d: &IntTuple, depth: usize, seen: &mut Seen) -> Option<()> {
            match (s, d) {
                (IntTuple::Leaf(Leaf::Static(s)), IntTuple::Leaf(Leaf::Static(d))) => {
                    seen.leaves += 1;
                    if *s < 1 || seen.leaves > MAX_LEAVES {
                        return None;
                    }
                    seen.size = seen.size.checked_mul(*s)?;
                    let reach = d.checked_abs()?.checked_mul(s - 1)?;
                    seen.span = seen.span.checked_add(reach)?;
                    Some(())
                }
                (IntTuple::Tuple(s), IntTuple::Tuple(d)) => {
                    if s.len() != d.len() || depth == MAX_DEPTH {
                        return None;
                    }
                    for (s, d) in s.iter().zip(d) {
                        walk(s, d, depth + 1, seen)?;
                    }
                    Some(())
                }
                _ => None,
            }
        }
        let mut seen = Seen {
            leaves: 0,
            size: 1,
            span: 1,
        };
        match walk(&shape, &stride, 0, &mut seen) {
            Some(()) => Ok(Layout { shape, stride }),
            None => Err((shape, stride)),
        }
    }

    /// Pairs parts that are congruent, positive, static and bounded, whose size and cosize fit: results of operations on
    /// valid layouts.
    pub(crate) fn assembled(shape: IntTuple, stride: IntTuple) -> Layout {
        debug_assert!(
            Layout::new(shape.clone(), stride.clone()).is_ok(),
            "{shape}:{stride}"
        );
        Layout { shape, stride }
    }

    // Static extents bound every offset, so that evaluation inside the domain needs no checks.
    fn check_extent(&self) -> Result<()> {
        let overflow = LayoutError::Overflow { op: "layout" };
        let (mut size, mut span) = (1i64, 1i64);
        for (s, d) in self.shape.leaves().into_iter().zip(self.stride.leaves()) {
            let Leaf::Static(s) = s else { continue };
            size = size.checked_mul(*s).ok_or_else(|| overflow.clone())?;
            let d = match d {
                Leaf::Static(d) => *d,
                Leaf::Basis { value, .. } => value.as_static().unwrap_or(0),
                _ => continue,
            };
            span = d
                .checked_abs()
                .and_then(|d| d.checked_mul(s - 1))
                .and_then(|e| span.checked_add(e))
                .ok_or_else(|| overflow.clone())?;
        }
        Ok(())
    }

    /// The shape.
    #[inline]
    pub fn shape(&self) -> &IntTuple {
        &self.shape
    }

    /// The stride.
    #[inline]
    pub fn stride(&self) -> &IntTuple {
        &self.stride
    }

    /// Modes at the top.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Levels of nesting.
    pub fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// Elements of the domain. Errors: a dynamic extent.
    pub fn size(&self) -> Result<i64> {
        self.shape.size()
    }

    /// One more than the largest reach: `1 + sum((extent - 1) * |stride|)` over the leaves.
    ///
    /// Errors: a dynamic or basis leaf (a dynamic stride of a leaf of extent 1 does no harm).
    pub fn cosize(&self) -> Result<i64> {
        let mut acc = 1i64;
        for (s, d) in self.shape.leaves().into_iter().zip(self.stride.leaves()) {
            match (s, d) {
                (Leaf::Static(1), _) | (_, Leaf::Static(0)) => {}
                (Leaf::Static(s), Leaf::Static(d)) => {
                    let reach = d.checked_abs().and_then(|d| d.checked_mul(s - 1));
                    acc = reach
                        .and_then(|r| acc.checked_add(r))
                        .ok_or(LayoutError::Overflow { op: "cosize" })?;
                }
                (_, Leaf::Basis { .. }) => return Err(self.basis("cosize")),
                _ => return Err(self.dynamic("cosize")),
            }
        }
        Ok(acc)
    }

    /// Mode `i`; mode 0 of a leaf is itself.
    pub fn mode(&self, i: usize) -> Result<Layout> {
        match (self.shape.get(i), self.stride.get(i)) {
            (Some(s), Some(d)) => Ok(Layout {
                shape: s.clone(),
                stride: d.clone(),
            }),
            _ => Err(LayoutError::Rank {
                op: "mode",
                expected: format!("a mode below {} of {self}", self.rank()),
                found: i.to_string(),
            }),
        }
    }

    /// The modes at the top.
    pub fn modes(&self) -> Vec<Layout> {
        self.shape
            .modes()
            .iter()
            .zip(self.stride.modes())
            .map(|(s, d)| Layout {
                shape: s.clone(),
                stride: d.clone(),
            })
            .collect()
    }

    /// The layout whose modes are the given ones. Errors as [`Layout::new`].
    pub fn from_modes(modes: &[Layout]) -> Result<Layout> {
        Layout::new(
            IntTuple::Tuple(modes.iter().map(|m| m.shape.clone()).collect()),
            IntTuple::Tuple(modes.iter().map(|m| m.stride.clone()).collect()),
        )
    }

    /// A layout of one leaf.
    pub fn leaf(shape: i64, stride: i64) -> Result<Layout> {
        Layout::new(int(shape), int(stride))
    }

    /// Compact, first mode fastest, at every level. Size-1 leaves get stride 0, as CuTe's `compact_col_major` does.
    pub fn col_major(shape: &IntTuple) -> Result<Layout> {
        shape.check_bounds()?;
        let mut run = Leaf::Static(1);
        let stride = compact(shape, &mut run, false)?;
        Layout::new(shape.clone(), stride)
    }

    /// Compact, last mode fastest, at every level (CuTe's `LayoutRight`).
    pub fn row_major(shape: &IntTuple) -> Result<Layout> {
        shape.check_bounds()?;
        let mut run = Leaf::Static(1);
        let stride = compact(shape, &mut run, true)?;
        Layout::new(shape.clone(), stride)
    }

    /// Compact, where the leaf of the lowest order is the fastest; equal orders keep CuTe's rule (each starts behind all
    /// lower orders). A leaf of `order` may stand for a nested mode, which is then column-major.
    ///
    /// Dynamic leaves of `order` come last, in their own sequence.
    pub fn ordered(shape: &IntTuple, order: &IntTuple) -> Result<Layout> {
        Layout::new(shape.clone(), Self::ordered_stride(shape, order)?)
    }

    pub(crate) fn ordered_stride(shape: &IntTuple, order: &IntTuple) -> Result<IntTuple> {
        shape.check_bounds()?;
        if !order.weakly_congruent(shape) {
            return Err(LayoutError::NotCongruent {
                shape: shape.to_string(),
                stride: order.to_string(),
            });
        }
        let mut pieces: Vec<(&Leaf, &IntTuple)> = Vec::new();
        pair_up(order, shape, &mut pieces)?;
        let mut strides = Vec::with_capacity(pieces.len());
        for (at, (_, s)) in pieces.iter().enumerate() {
            let mut start = Leaf::Static(1);
            for other in 0..pieces.len() {
                if other != at && is_lower(&pieces, other, at)? {
                    start = start.mul(&pieces[other].1.product()?)?;
                }
            }
            strides.push(compact(s, &mut start, false)?);
        }
        Ok(rebuild(order, &mut strides.into_iter()))
    }

    /// The identity on coordinates of `shape`: `(2,3)` gives `(2,3):(1@0,1@1)`.
    pub fn identity(shape: &IntTuple) -> Result<Layout> {
        fn basis(s: &IntTuple, path: &mut SmallVec<[u16; 4]>) -> Result<IntTuple> {
            match s {
                IntTuple::Leaf(_) if path.is_empty() => Ok(int(1)),
                IntTuple::Leaf(_) => Ok(IntTuple::Leaf(Leaf::Basis {
                    value: Box::new(Leaf::Static(1)),
                    path: path.clone(),
                })),
                IntTuple::Tuple(t) => {
                    let mut out = Vec::with_capacity(t.len());
                    for (i, m) in t.iter().enumerate() {
                        path.push(
                            u16::try_from(i)
                                .map_err(|_| LayoutError::Overflow { op: "identity" })?,
                        );
                        out.push(basis(m, path)?);
                        path.pop();
                    }
                    Ok(IntTuple::Tuple(out))
                }
            }
        }
        shape.check_bounds()?;
        Layout::new(shape.clone(), basis(shape, &mut SmallVec::new())?)
    }

    /// The text that [`Layout::parse_of_tensor`] reads, in which an extent of a tensor without elements is 0.
    pub fn text_of_tensor(&self) -> String {
        fn zeros(all: &IntTuple) -> IntTuple {
            match all {
                IntTuple::Leaf(Leaf::Dynamic(leaf)) if leaf.is_zero() => int(0),
                IntTuple::Leaf(_) => all.clone(),
                IntTuple::Tuple(modes) => tuple(modes.iter().map(zeros)),
            }
        }
        match self.is_empty() {
            true => format!("{}:{}", zeros(&self.shape), self.stride),
            false => self.to_string(),
        }
    }

    /// Tells whether it is of a tensor that is known to have no elements.
    pub fn is_empty(&self) -> bool {
        let leaves = self.shape.leaves().into_iter();
        let mut zeros = leaves.filter(|leaf| matches!(leaf, Leaf::Dynamic(of) if of.is_zero()));
        zeros.next().is_some()
    }

    /// Tells whether every extent and stride is known. Basis strides of known value are static.
    pub fn is_static(&self) -> bool {
        self.shape.is_static() && self.stride.is_static()
    }

    /// The leaves, if all are known integers.
    pub fn flat(&self) -> Option<FlatLayout> {
        let mut modes = SmallVec::new();
        for (s, d) in self.shape.leaves().into_iter().zip(self.stride.leaves()) {
            modes.push((s.as_static()?, d.as_static()?));
        }
        Some(FlatLayout { modes })
    }

    /// [`Layout::flat`], or an error that names `op`.
    pub fn flat_or(&self, op: &'static str) -> Result<FlatLayout> {
        self.flat().ok_or_else(|| {
            if self.is_static() {
                self.basis(op)
            } else {
                self.dynamic(op)
            }
        })
    }

    /// The offset of a coordinate in any of its forms: an integer, one value a mode, or one a leaf.
    ///
    /// Coordinates beyond the extents extend linearly, the last mode taking what is left; a negative integer may stand
    /// only where the shape is a leaf. Errors: a profile that does not fit; dynamic or basis leaves; overflow.
    pub fn crd2idx(&self, coord: &IntTuple) -> Result<i64> {
        fn walk(c: &IntTuple, s: &IntTuple, d: &IntTuple, whole: &Layout) -> Result<i64> {
            let overflow = || LayoutError::Overflow { op: "crd2idx" };
            match (c, s, d) {
                (IntTuple::Leaf(Leaf::Static(c)), IntTuple::Leaf(_), IntTuple::Leaf(d)) => {
                    match d {
                        Leaf::Static(d) => c.checked_mul(*d).ok_or_else(overflow),
                        Leaf::Basis { .. } => Err(whole.basis("crd2idx")),
                        _ => Err(whole.dynamic("crd2idx")),
                    }
                }
                (IntTuple::Leaf(Leaf::Dynamic(_)), _, _) => Err(LayoutError::Dynamic {
                    op: "crd2idx",
                    found: c.to_string(),
                }),
                (IntTuple::Leaf(Leaf::Static(_)), IntTuple::Tuple(_), _) => {
                    walk(&s.idx2crd(c)?, s, d, whole)
                }
                (IntTuple::Tuple(cs), IntTuple::Tuple(ss), IntTuple::Tuple(ds))
                    if cs.len() == ss.len() =>
                {
                    cs.iter()
                        .zip(ss)
                        .zip(ds)
                        .try_fold(0i64, |acc, ((c, s), d)| {
                            acc.checked_add(walk(c, s, d, whole)?).ok_or_else(overflow)
                        })
                }
                _ => Err(LayoutError::Coord {
                    shape: whole.shape.to_string(),
                    coord: c.to_string(),
                }),
            }
        }
        walk(coord, &self.shape, &self.stride, self)
    }

    /// The offset of a 1-D colexicographic index.
    ///
    /// For static integer layouts and `0 <= i < size` this is exact; a larger `i` extends the last leaf, a negative one
    /// gives `-at(-i)`. A layout with dynamic or basis leaves has no offsets: the answer is `i64::MIN`, which no static
    /// layout gives inside its domain. In loops use [`Layout::flat`] once.
    #[inline]
    pub fn at(&self, i: i64) -> i64 {
        self.flat().map_or(i64::MIN, |f| f.at(i))
    }

    /// The natural coordinate of a 1-D index. Errors: a negative index; dynamic extents that are needed.
    pub fn idx2crd(&self, i: i64) -> Result<IntTuple> {
        self.shape.idx2crd(&int(i))
    }

    pub(crate) fn dynamic(&self, op: &'static str) -> LayoutError {
        LayoutError::Dynamic {
            op,
            found: self.to_string(),
        }
    }

    pub(crate) fn basis(&self, op: &'static str) -> LayoutError {
        LayoutError::Basis {
            op,
            found: self.to_string(),
        }
    }
}

fn compact(shape: &IntTuple, run: &mut Leaf, reverse: bool) -> Result<IntTuple> {
    match shape {
        IntTuple::Leaf(Leaf::Static(1)) => Ok(int(0)),
        IntTuple::Leaf(l) => {
            let next = run.mul(l)?;
            Ok(IntTuple::Leaf(std::mem::replace(run, next)))
        }
        IntTuple::Tuple(t) if reverse => {
            let mut out = t
                .iter()
                .rev()
                .map(|m| compact(m, run, true))
                .collect::<Result<Vec<_>>>()?;
            out.reverse();
            Ok(IntTuple::Tuple(out))
        }
        IntTuple::Tuple(t) => Ok(IntTuple::Tuple(
            t.iter()
                .map(|m| compact(m, run, false))
                .collect::<Result<_>>()?,
        )),
    }
}

// The leaves of `order`, each with the piece of `shape` that it stands for; dynamic orders are i64::MAX.
fn pair_up<'a>(
    order: &'a IntTuple,
    shape: &'a IntTuple,
    out: &mut Vec<(&'a Leaf, &'a IntTuple)>,
) -> Result<()> {
    match (order, shape) {
        (IntTuple::Leaf(o @ (Leaf::Static(_) | Leaf::Dynamic(_))), s) => out.push((o, s)),
        (IntTuple::Tuple(os), IntTuple::Tuple(ss)) => {
            os.iter()
                .zip(ss)
                .try_for_each(|(o, s)| pair_up(o, s, out))?;
        }
        _ => {
            return Err(LayoutError::Basis {
                op: "ordered layout",
                found: order.to_string(),
            });
        }
    }
    Ok(())
}

// Whether one piece has a lower order than another. Symbols are compared by what is known of them; other dynamic numbers come last,
// in their own sequence.
fn is_lower(pieces: &[(&Leaf, &IntTuple)], one: usize, other: usize) -> Result<bool> {
    let [(low, shape), (high, _)] = [one, other].map(|at| pieces[at]);
    if let (Some(low), Some(high)) = (low.as_static(), high.as_static()) {
        return Ok(low < high);
    }
    if !low.is_identified() || !high.is_identified() {
        return Ok(match (low.as_static(), high.as_static()) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => one < other,
        });
    }
    let fact = match low.less(high)? {
        Truth::Known(is) => return Ok(is),
        Truth::Unknown(_) => return Ok(one < other),
        Truth::Unproved(fact) => fact,
    };
    // Where they may be equal, the lower one has a single element then.
    if shape.product()?.mul(low)?.at_most(high)?.is_true() {
        return Ok(true);
    }
    match high.at_most(low)?.is_true() {
        true => Ok(false),
        false => Err(LayoutError::NeedsFact {
            fact: format!("{fact} or `{high} <= {low}`"),
            otherwise: format!(
                "expected orders of which the lower one is known, found {low} and {high}"
            ),
        }),
    }
}

fn rebuild(profile: &IntTuple, pieces: &mut impl Iterator<Item = IntTuple>) -> IntTuple {
    match profile {
        IntTuple::Leaf(_) => pieces.next().unwrap_or(int(0)),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|p| rebuild(p, pieces)).collect()),
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::write(f, &[&self.shape, &self.stride])
    }
}

impl std::str::FromStr for Layout {
    type Err = crate::ParseError;
    fn from_str(s: &str) -> std::result::Result<Self, Self::Err> {
        Layout::parse(s)
    }
}
