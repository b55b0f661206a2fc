//! Composition, sound: the result is `c -> A(B(c))`, or an error that names a coordinate where no layout is.
//!
//! CuTe's test for divisibility accepts wrong results (`(6,2):(1,100) o 4:4`), its distribution over the modes of `B` is
//! false where they carry into each other (`(8,8,4):(32,1,8) o (8,4,8):(1,1,1)`), and it refuses what exists
//! (`(2,2):(1,4) o 2:3` is `2:5`). Here:
//!
//! 1. Each leaf `s:d` of `B` becomes `i -> A(i*d)`. Divisibility of `d` and `s` by the extents of `A` proves the usual
//!    form; where it does not decide, the values are enumerated and the coalesced layout is read off them. That layout is
//!    unique, so it is found exactly when it exists.
//! 2. The sum over the leaves is right where no digit (in the mixed radix of `A`'s extents) carries; where that does not
//!    decide, all coordinates are compared.
//!
//! Beyond `ENUMERATION_LIMIT` values the answer is an error instead of a guess. Dynamic leaves: [`dynamic`].

mod dynamic;

use smallvec::SmallVec;

use super::coalesce::{coalesce_extending, coalesce_leaves};
use super::{ENUMERATION_LIMIT, Leaves, fast, leaves};
use crate::error::{LayoutError, Result};
use crate::layout::{FlatLayout, Layout};
use crate::leaf::{Leaf, require};
use crate::tile::Tile;
use crate::tuple::{IntTuple, int};

const OP: &str = "composition";

impl Layout {
    /// `self o rhs`: the layout of `rhs`'s profile, or a refinement, with `c -> self(rhs(c))`.
    ///
    /// `self` extends beyond its domain by its last leaf, and to negative indices as an odd function. Basis strides on
    /// the right select modes of `self`. Errors: [`LayoutError::Composition`] with a coordinate where no such layout
    /// exists; [`LayoutError::CompositionUnproven`]; dynamic leaves that decide.
    pub fn composition(&self, rhs: &Layout) -> Result<Layout> {
        fast::composition(self, rhs).map_or_else(|| self.composition_general(rhs), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn composition_general(&self, rhs: &Layout) -> Result<Layout> {
        let mut c = Composer {
            lhs: self,
            rhs,
            sides: SmallVec::new(),
            leaves: SmallVec::new(),
        };
        let (shape, stride) = c.walk(rhs.shape(), rhs.stride())?;
        c.check_sum()?;
        Layout::new(shape, stride)
    }

    /// Mode by mode: each mode of the tile is composed with that of `self`; modes without a tile are dropped.
    ///
    /// Errors: a tile with more modes than `self`; those of [`Layout::composition`].
    pub fn composition_tile(&self, tile: &Tile) -> Result<Layout> {
        match tile {
            Tile::Layout(l) => self.composition(l),
            Tile::Underscore => Ok(self.clone()),
            Tile::Modes(tiles) => {
                self.check_tile_rank(OP, tile)?;
                let modes = tiles
                    .iter()
                    .enumerate()
                    .map(|(i, t)| self.mode(i)?.composition_tile(t));
                Layout::from_modes(&modes.collect::<Result<Vec<_>>>()?)
            }
        }
    }

    /// `self o shape`, with the column-major layout of `shape`; a tuple of shapes is no tiler.
    pub fn with_shape(&self, shape: &IntTuple) -> Result<Layout> {
        self.composition(&Layout::col_major(shape)?)
    }

    pub(crate) fn check_tile_rank(&self, op: &'static str, tile: &Tile) -> Result<()> {
        if tile.rank() <= self.rank() {
            return Ok(());
        }
        let expected = format!("a tile of at most {} modes for {self}", self.rank());
        Err(LayoutError::Rank {
            op,
            expected,
            found: tile.to_string(),
        })
    }
}

/// The left side, or the mode of it that a basis path selects.
struct Side {
    path: SmallVec<[u16; 4]>,
    modes: Leaves,
    flat: Option<FlatLayout>,
}

/// The use that a leaf of the right side makes of the digits of its side: the largest digit of each mode but the last.
struct Used {
    side: usize,
    extent: Leaf,
    stride: Leaf,
    digits: SmallVec<[Leaf; 8]>,
}

struct Composer<'a> {
    lhs: &'a Layout,
    rhs: &'a Layout,
    sides: SmallVec<[Side; 2]>,
    leaves: SmallVec<[Used; 8]>,
}

type Pieces = SmallVec<[(Leaf, Leaf); 8]>;

impl Composer<'_> {
    fn walk(&mut self, shape: &IntTuple, stride: &IntTuple) -> Result<(IntTuple, IntTuple)> {
        match (shape, stride) {
            (IntTuple::Leaf(s), IntTuple::Leaf(d)) => {
                let pieces = self.leaf(s, d)?;
                if let [(s, d)] = &pieces[..] {
                    return Ok((IntTuple::Leaf(s.clone()), IntTuple::Leaf(d.clone())));
                }
                let (s, d): (Vec<_>, Vec<_>) = pieces
                    .into_iter()
                    .map(|(s, d)| (IntTuple::Leaf(s), IntTuple::Leaf(d)))
                    .unzip();
                Ok((IntTuple::Tuple(s), IntTuple::Tuple(d)))
            }
            (IntTuple::Tuple(s), IntTuple::Tuple(d)) => {
                let (mut shapes, mut strides) =
                    (Vec::with_capacity(s.len()), Vec::with_capacity(s.len()));
                for (s, d) in s.iter().zip(d) {
                    let (s, d) = self.walk(s, d)?;
                    shapes.push(s);
                    strides.push(d);
                }
                Ok((IntTuple::Tuple(shapes), IntTuple::Tuple(strides)))
            }
            _ => Err(LayoutError::NotCongruent {
                shape: shape.to_string(),
                stride: stride.to_string(),
            }),
        }
    }

    fn side(&mut self, path: &[u16]) -> Result<usize> {
        if let Some(i) = self.sides.iter().position(|s| s.path[..] == *path) {
            return Ok(i);
        }
        let mut lhs = self.lhs.clone();
        for &p in path {
            lhs = lhs.mode(usize::from(p))?;
        }
        let mut modes = coalesce_extending(leaves(&lhs))?;
        if modes.is_empty() {
            modes.push((Leaf::Static(1), Leaf::Static(0)));
        }
        let flat = modes
            .iter()
            .map(|(s, d)| Some((s.as_static()?, d.as_static()?)))
            .collect::<Option<_>>();
        self.sides.push(Side {
            path: path.into(),
            modes,
            flat: flat.map(|modes| FlatLayout { modes }),
        });
        Ok(self.sides.len() - 1)
    }

    fn leaf(&mut self, s: &Leaf, d: &Leaf) -> Result<Pieces> {
        let (d, path): (&Leaf, &[u16]) = match d {
            Leaf::Basis { value, path } => (value, path),
            d => (d, &[]),
        };
        let side = self.side(path)?;
        let modes = &self.sides[side].modes;
        let last = modes.len() - 1;
        let mut used = Used {
            side,
            extent: s.clone(),
            stride: d.clone(),
            digits: SmallVec::from_elem(Leaf::Static(0), last),
        };
        let known = |digits: SmallVec<[i64; 8]>| digits.into_iter().map(Leaf::Static).collect();
        let pieces = match (s, d) {
            (_, Leaf::Static(0)) => SmallVec::from_iter([(s.clone(), d.clone())]),
            _ if last == 0 => SmallVec::from_iter([(s.clone(), d.mul(&modes[0].1)?)]),
            (Leaf::Static(1), Leaf::Static(d)) => {
                SmallVec::from_iter([(s.clone(), single(*d, modes)?)])
            }
            (Leaf::Static(s), Leaf::Static(d)) if self.sides[side].flat.is_some() => {
                match divide_exactly(*s, *d, modes)? {
                    Some((pieces, digits)) => {
                        used.digits = known(digits);
                        coalesce_leaves(pieces)?
                    }
                    None => {
                        let (pieces, digits) = self.enumerate(side, *s, *d)?;
                        used.digits = known(digits);
                        pieces
                    }
                }
            }
            _ => {
                let wrong = |on| dynamic::depends(&self.lhs.to_string(), &self.rhs.to_string(), on);
                let (pieces, digits) = dynamic::divide(s, d, &self.sides[side], &wrong)?;
                used.digits = digits;
                pieces
            }
        };
        self.leaves.push(used);
        Ok(pieces)
    }

    fn not_static(&self) -> LayoutError {
        if self.lhs.is_static() {
            self.lhs.basis(OP)
        } else {
            self.lhs.dynamic(OP)
        }
    }

    fn unproven(&self) -> LayoutError {
        LayoutError::CompositionUnproven {
            lhs: self.lhs.to_string(),
            rhs: self.rhs.to_string(),
            limit: ENUMERATION_LIMIT,
        }
    }

    /// Reads the coalesced layout off the values `A(i*d)`, `0 <= i < s`, and the largest digit of each mode.
    fn enumerate(&self, side: usize, s: i64, d: i64) -> Result<(Pieces, SmallVec<[i64; 8]>)> {
        let a = self.sides[side]
            .flat
            .as_ref()
            .ok_or_else(|| self.not_static())?;
        if s > ENUMERATION_LIMIT {
            return Err(self.unproven());
        }
        let overflow = LayoutError::Overflow { op: OP };
        let mut digits: SmallVec<[i64; 8]> = SmallVec::from_elem(0, a.modes.len() - 1);
        let mut values = Vec::with_capacity(s as usize);
        for i in 0..s {
            let x = i.checked_mul(d).ok_or_else(|| overflow.clone())?;
            values.push(a.checked_at(x).ok_or_else(|| overflow.clone())?);
            let mut rest = x.unsigned_abs();
            for (top, (extent, _)) in digits.iter_mut().zip(&a.modes) {
                let extent = extent.unsigned_abs();
                *top = (*top).max((rest % extent) as i64);
                rest /= extent;
            }
        }
        read_off(&values)
            .map(|pieces| (pieces, digits))
            .map_err(|(at, truth, got)| self.wrong(format!("{at} of its leaf {s}:{d}"), truth, got))
    }

    fn wrong(&self, coord: String, truth: i64, got: i64) -> LayoutError {
        LayoutError::Composition {
            lhs: self.lhs.to_string(),
            rhs: self.rhs.to_string(),
            coord,
            truth,
            got,
        }
    }

    /// Checks that the leaves may be added: `A(sum) == sum of A`.
    fn check_sum(&self) -> Result<()> {
        for (i, side) in self.sides.iter().enumerate() {
            let used: SmallVec<[(usize, &Used); 8]> = self
                .leaves
                .iter()
                .enumerate()
                .filter(|(_, u)| u.side == i && !u.stride.is(0) && !u.extent.is(1))
                .collect();
            if side.modes.len() == 1 || used.len() < 2 {
                continue;
            }
            let carries_nowhere = dynamic::carries_nowhere(side, &used)?;
            let known = used
                .iter()
                .all(|(_, u)| u.extent.is_static() && u.stride.is_static());
            if carries_nowhere.is_false() && known && side.flat.is_some() {
                self.compare_all(side, &used)?;
            } else {
                require(&carries_nowhere, || self.carries())?;
            }
        }
        Ok(())
    }

    fn carries(&self) -> LayoutError {
        LayoutError::Divisibility {
            op: OP,
            expected: format!("{} o {} to be a layout", self.lhs, self.rhs),
            found: "modes of the right side that carry into one another".to_string(),
            cure: "choose a right side whose modes stay within the left side's".to_string(),
        }
    }

    fn compare_all(&self, side: &Side, used: &[(usize, &Used)]) -> Result<()> {
        let a = side.flat.as_ref().ok_or_else(|| self.not_static())?;
        let overflow = || LayoutError::Overflow { op: OP };
        let mut tables: SmallVec<[(i64, Vec<i64>); 8]> = SmallVec::new();
        let mut total = 1i64;
        for (_, u) in used {
            let (Some(s), Some(d)) = (u.extent.as_static(), u.stride.as_static()) else {
                return Err(self.rhs.dynamic(OP));
            };
            total = total.saturating_mul(s);
            if total > ENUMERATION_LIMIT {
                return Err(self.unproven());
            }
            let values = (0..s).map(|i| {
                i.checked_mul(d)
                    .and_then(|x| a.checked_at(x))
                    .ok_or_else(overflow)
            });
            tables.push((d, values.collect::<Result<_>>()?));
        }
        for i in 0..total {
            let (mut rest, mut index, mut sum) = (i, 0i64, 0i64);
            for (d, values) in &tables {
                let n = values.len() as i64;
                let c = rest % n;
                rest /= n;
                index = index.checked_add(c * d).ok_or_else(overflow)?;
                sum = sum.checked_add(values[c as usize]).ok_or_else(overflow)?;
            }
            let truth = a.checked_at(index).ok_or_else(overflow)?;
            if truth != sum {
                return Err(self.wrong(self.name_coord(used, i), truth, sum));
            }
        }
        Ok(())
    }

    /// The natural coordinate of the right side at which the enumerated leaves stand at 1-D index `i`.
    fn name_coord(&self, used: &[(usize, &Used)], i: i64) -> String {
        let mut values = vec![0; self.leaves.len()];
        let mut rest = i;
        for (k, u) in used {
            let n = u.extent.as_static().unwrap_or(1);
            values[*k] = rest % n;
            rest /= n;
        }
        fn fill(shape: &IntTuple, it: &mut impl Iterator<Item = i64>) -> IntTuple {
            match shape {
                IntTuple::Leaf(_) => int(it.next().unwrap_or(0)),
                IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|s| fill(s, it)).collect()),
            }
        }
        fill(self.rhs.shape(), &mut values.into_iter()).to_string()
    }
}

/// The stride of a mode of size 1, which no offset depends on; CuTe's choice, for the printed form.
fn single(d: i64, modes: &Leaves) -> Result<Leaf> {
    let mut rest = d.checked_abs().ok_or(LayoutError::Overflow { op: OP })?;
    let Some(((_, stride), init)) = modes.split_last() else {
        return Ok(Leaf::Static(0));
    };
    for (s, _) in init {
        match s.as_static() {
            Some(s) => rest = rest / s + i64::from(rest % s != 0),
            None => return Ok(Leaf::Static(0)),
        }
    }
    stride.mul(&Leaf::Static(rest * d.signum()))
}

/// The pieces of `i -> A(i*d)` where divisibility proves them, with the largest digit of each mode but the last.
fn divide_exactly(s: i64, d: i64, modes: &Leaves) -> Result<Option<(Pieces, SmallVec<[i64; 8]>)>> {
    let overflow = LayoutError::Overflow { op: OP };
    let last = modes.len() - 1;
    let mut pieces = Pieces::new();
    let mut digits: SmallVec<[i64; 8]> = SmallVec::from_elem(0, last);
    let (mut s, mut rest) = (s, d.checked_abs().ok_or_else(|| overflow.clone())?);
    for k in 0..last {
        if s == 1 {
            break;
        }
        let Some(extent) = modes[k].0.as_static() else {
            return Err(LayoutError::Dynamic {
                op: OP,
                found: modes[k].0.to_string(),
            });
        };
        let piece = |n: i64, rest: i64| -> Result<(Leaf, Leaf)> {
            Ok((
                Leaf::Static(n),
                modes[k].1.mul(&Leaf::Static(rest * d.signum()))?,
            ))
        };
        let reach = i128::from(s - 1) * i128::from(rest);
        if reach < i128::from(extent) {
            pieces.push(piece(s, rest)?);
            digits[k] = reach as i64;
            s = 1;
        } else if rest % extent == 0 {
            rest /= extent;
        } else if extent % rest == 0 && s % (extent / rest) == 0 {
            let n = extent / rest;
            pieces.push(piece(n, rest)?);
            digits[k] = extent - rest;
            s /= n;
            rest = 1;
        } else {
            return Ok(None);
        }
    }
    if s > 1 {
        pieces.push((
            Leaf::Static(s),
            modes[last].1.mul(&Leaf::Static(rest * d.signum()))?,
        ));
    }
    Ok(Some((pieces, digits)))
}

/// The coalesced layout with these values, or the first index that denies one: (index, value, value that was forced).
///
/// `values[0]` is 0. Each mode is forced: its stride is the first value after the block so far, its extent ends where the
/// multiples of that stride do.
fn read_off(values: &[i64]) -> std::result::Result<Pieces, (usize, i64, i64)> {
    let mut pieces = Pieces::new();
    let mut n = 1;
    while n < values.len() {
        let stride = values[n];
        let mut blocks = 1;
        while blocks * n < values.len() {
            let base = (blocks as i64).saturating_mul(stride);
            if values[blocks * n] != base {
                break;
            }
            for j in 0..n {
                let at = blocks * n + j;
                let got = base.saturating_add(values[j]);
                match values.get(at) {
                    Some(&v) if v == got => {}
                    Some(&v) => return Err((at, v, got)),
                    // The block does not divide the extent: it would have to end with a whole one.
                    None => return Err((n, stride, stride_before(&pieces, n))),
                }
            }
            blocks += 1;
        }
        pieces.push((Leaf::Static(blocks as i64), Leaf::Static(stride)));
        n *= blocks;
    }
    if pieces.is_empty() {
        pieces.push((Leaf::Static(1), Leaf::Static(0)));
    }
    Ok(pieces)
}

/// The value at `n` if the mode before went on.
fn stride_before(pieces: &Pieces, n: usize) -> i64 {
    match pieces.last() {
        Some((Leaf::Static(s), Leaf::Static(d))) => s.saturating_mul(*d),
        _ => n as i64,
    }
}
