//! Complements and left inverses of small static layouts by trial, where divisibility does not give them.
//!
//! A complement is found exactly when it exists; so is a left inverse of few modes, within bounds on size and on trials that
//! keep the time to about 0.1 s at worst.

use smallvec::SmallVec;

use super::ENUMERATION_LIMIT;
use crate::layout::FlatLayout;

/// Pairs of extent and stride.
type Modes = Vec<(i64, i64)>;

/// The most unknown strides of a left inverse.
const MAX_MODES: usize = 6;
/// Bounds the points of all trials for a left inverse together.
const MAX_STEPS: u32 = 1 << 17;

/// The reason why nothing fills the gaps of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoComplement {
    /// More values than are tried.
    TooLarge,
    /// The offset that cannot be reached once and only once.
    At(i64),
}

/// Offsets that are reached already.
struct Covered(Vec<bool>);

impl Covered {
    /// Marks a copy of the offsets at `at`. An offset that was reached before: that.
    fn put(&mut self, offsets: &[i64], at: i64) -> Result<(), NoComplement> {
        for o in offsets {
            let x = (o + at) as usize;
            if x >= self.0.len() {
                if x as i64 > 4 * ENUMERATION_LIMIT {
                    return Err(NoComplement::TooLarge);
                }
                self.0.resize(x + 1, false);
            }
            if std::mem::replace(&mut self.0[x], true) {
                return Err(NoComplement::At(x as i64));
            }
        }
        Ok(())
    }

    fn hole(&self, from: i64) -> i64 {
        let rest = &self.0[(from as usize).min(self.0.len())..];
        from + rest.iter().position(|c| !c).unwrap_or(rest.len()) as i64
    }
}

/// The modes of ascending strides whose sums with the offsets of `l` are all different and reach all of `0..target`.
///
/// Strides must be positive. The lowest offset that is not reached must be the next value, since values ascend: each stride
/// is forced, and each mode goes on while it fills such holes. So what is found is all there is.
pub(super) fn complement(l: &FlatLayout, target: i64) -> Result<Modes, NoComplement> {
    let span: i64 = l
        .modes()
        .iter()
        .map(|(s, d)| (s - 1).saturating_mul(*d))
        .fold(0, i64::saturating_add);
    if target > ENUMERATION_LIMIT || l.size() > ENUMERATION_LIMIT || span > ENUMERATION_LIMIT {
        return Err(NoComplement::TooLarge);
    }
    let offsets: Vec<i64> = (0..l.size()).map(|i| l.at(i)).collect();
    let mut covered = Covered(Vec::new());
    covered.put(&offsets, 0)?;
    let (mut values, mut modes) = (vec![0i64], Modes::new());
    let mut hole = covered.hole(0);
    while hole < target {
        let (stride, block) = (hole, values.len());
        let mut copies = 1;
        while hole < target && hole == copies * stride {
            for k in 0..block {
                let at = values[k] + hole;
                covered.put(&offsets, at)?;
                values.push(at);
            }
            copies += 1;
            hole = covered.hole(hole);
        }
        if copies == 1 || values[block - 1] >= stride {
            return Err(NoComplement::At(hole));
        }
        modes.push((copies, stride));
    }
    if modes.is_empty() {
        modes.push((1, hole));
    }
    Ok(modes)
}

/// A layout `G` with `G(l(i)) == i` for an injective `l` of non-negative strides; the fewest modes first.
///
/// The extents of `G` are tried; its strides follow from the points by exact integer elimination. `None`: `l` is not
/// injective or too large, no such layout of at most [`MAX_MODES`] modes exists, or too much would have to be tried.
pub(super) fn left_inverse(l: &FlatLayout) -> Option<Modes> {
    if l.size() > ENUMERATION_LIMIT || l.modes().iter().any(|m| m.1 < 0) {
        return None;
    }
    let mut points: Vec<(i64, i64)> = (0..l.size()).map(|i| (l.at(i), i)).collect();
    points.sort_unstable();
    let last = points.last()?.0;
    if last > ENUMERATION_LIMIT || points.windows(2).any(|w| w[0].0 == w[1].0) {
        return None;
    }
    let mut trial = Trial {
        points,
        steps: 0,
        extents: SmallVec::new(),
    };
    (0..MAX_MODES).find_map(|n| trial.extend(n, last))
}

struct Trial {
    /// Offset and index, ascending.
    points: Vec<(i64, i64)>,
    steps: u32,
    /// Extents of all modes but the last.
    extents: SmallVec<[i64; MAX_MODES]>,
}

type Vector = SmallVec<[i128; MAX_MODES]>;

impl Trial {
    /// Tries `n` more extents, whose product is at most `room`, before the last mode.
    fn extend(&mut self, n: usize, room: i64) -> Option<Modes> {
        if n == 0 {
            let strides = self.strides()?;
            let last = self.points.last()?.0 / self.extents.iter().product::<i64>() + 1;
            let extents = self.extents.iter().copied().chain([last]);
            return Some(extents.zip(strides).collect());
        }
        for e in 2..=room {
            // The other modes need an extent of at least 2 each.
            if room / e < 1i64 << (n - 1) || self.steps > MAX_STEPS {
                break;
            }
            self.extents.push(e);
            let found = self.extend(n - 1, room / e);
            self.extents.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The strides that give every point, if there are such integers: one solution, and a basis of the differences between
    /// solutions, cut down point by point.
    fn strides(&mut self) -> Option<Vec<i64>> {
        let n = self.extents.len() + 1;
        let mut solution: Vector = SmallVec::from_elem(0, n);
        let mut basis: SmallVec<[Vector; MAX_MODES]> = (0..n)
            .map(|i| (0..n).map(|k| i128::from(i == k)).collect())
            .collect();
        for &(x, index) in &self.points {
            self.steps += 1;
            let mut rest = x;
            let mut digits: Vector = SmallVec::new();
            for e in &self.extents {
                digits.push(i128::from(rest % e));
                rest /= e;
            }
            digits.push(i128::from(rest));
            let missing = i128::from(index).checked_sub(dot(&digits, &solution)?)?;
            // Euclid on the basis: one vector in the end says how the value at this point can change.
            let mut moving: Option<usize> = None;
            for i in 0..basis.len() {
                let Some(j) = moving else {
                    moving = (dot(&digits, &basis[i])? != 0).then_some(i);
                    continue;
                };
                loop {
                    let (a, b) = (dot(&digits, &basis[j])?, dot(&digits, &basis[i])?);
                    if b == 0 {
                        break;
                    }
                    subtract(&mut basis, j, i, a / b)?;
                    basis.swap(i, j);
                }
            }
            match moving {
                None if missing != 0 => return None,
                None => {}
                Some(j) => {
                    let step = dot(&digits, &basis[j])?;
                    if missing % step != 0 {
                        return None;
                    }
                    let v = basis.remove(j);
                    for (s, v) in solution.iter_mut().zip(&v) {
                        *s = s.checked_add(v.checked_mul(missing / step)?)?;
                    }
                }
            }
        }
        solution
            .into_iter()
            .map(|d| i64::try_from(d).ok())
            .collect()
    }
}

fn dot(a: &[i128], b: &[i128]) -> Option<i128> {
    a.iter()
        .zip(b)
        .try_fold(0i128, |acc, (a, b)| acc.checked_add(a.checked_mul(*b)?))
}

// basis[from] -= by * basis[of]
fn subtract(basis: &mut [Vector], from: usize, of: usize, by: i128) -> Option<()> {
    for k in 0..basis[of].len() {
        basis[from][k] = basis[from][k].checked_sub(by.checked_mul(basis[of][k])?)?;
    }
    Some(())
}
