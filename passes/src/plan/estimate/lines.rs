//! Lines of tiles: those that begin between the lines of L2, and those outside of a tensor.

use super::{Arithmetic, roles};
use crate::plan::sm90::{ROW, spanned};
use cute_arith::Op;

/// The time that lines of a tile take in a turn where some lie outside of A or B, as M or N is no multiple of the tile's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outside {
    /// Picoseconds that the lines of a whole tile take to arrive.
    pub(super) moved: i64,
    /// Picoseconds that each line outside of A takes, and of B, of all blocks that run at once; 0 where they are left out.
    pub(super) each: [i64; 2],
}

/// Picoseconds that a line outside takes, of so many elements of so many bits.
pub(super) fn outside(elements: i64, bits: i64) -> i64 {
    roles::OUTSIDE * (elements * bits / 1024).max(1)
}

/// The runs in which 128 bytes come of a tile that has so many bytes along its contiguous mode: each is what a swizzle spans.
pub(super) fn runs_of_line(bytes: i64) -> i64 {
    spanned(bytes).map_or(4, |span| ROW / span)
}

/// The extents that say where lines of A and B begin, as far as only a launch knows it, and what follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lines {
    /// Picoseconds that each of a block's first turns takes longer where some begin elsewhere.
    pub(super) late: i64,
    /// For A and B, the extent that lines are apart, and the elements of 128 bytes; none where it is known whether lines begin at multiples of that.
    pub(super) apart: [Option<(usize, i64)>; 2],
    /// Picoseconds that a multiprocessor is busy with a block's tile along K, where lines of A and of B begin at multiples of 128 bytes (0), or elsewhere (1).
    pub(super) busy: [[i64; 2]; 2],
}

/// Computes 1 where lines of so many elements begin elsewhere than at multiples of 128 bytes, and 0 where they do not.
fn is_elsewhere<N: Arithmetic>(
    n: &N,
    extents: &[N::Value; 3],
    (axis, elements): (usize, i64),
) -> Result<N::Value, N::Error> {
    let rest = n.apply(Op::RemS, [&extents[axis], &n.constant(elements)?])?;
    n.apply(Op::MinS, [&rest, &n.constant(1)?])
}

impl Lines {
    /// The time that each of a block's first turns takes longer.
    pub(super) fn late<N: Arithmetic>(
        &self,
        n: &N,
        extents: &[N::Value; 3],
    ) -> Result<Option<N::Value>, N::Error> {
        let [apart_a, apart_b] = self.apart;
        let other = apart_b.filter(|_| apart_a != apart_b);
        let mut some = None;
        for open in [apart_a, other].into_iter().flatten() {
            let is = is_elsewhere(n, extents, open)?;
            some = Some(match some {
                Some(before) => n.apply(Op::MaxS, [&before, &is])?,
                None => is,
            });
        }
        match some.filter(|_| self.late > 0) {
            Some(some) => Ok(Some(n.apply(Op::Mul, [&some, &n.constant(self.late)?])?)),
            None => Ok(None),
        }
    }

    /// The time that a multiprocessor is busy with a block's tile along K.
    pub(super) fn busy<N: Arithmetic>(
        &self,
        n: &N,
        extents: &[N::Value; 3],
    ) -> Result<N::Value, N::Error> {
        let is_elsewhere = |open| is_elsewhere(n, extents, open);
        // Of one flag the second time is never shorter than the first.
        let between = |flag: &N::Value, [aligned, elsewhere]: [&N::Value; 2]| {
            let more = n.apply(Op::Sub, [elsewhere, aligned])?;
            let more = n.apply(Op::Mul, [flag, &more])?;
            n.apply(Op::Add, [aligned, &more])
        };
        let number = |of_a: usize, of_b: usize| n.constant(self.busy[of_a][of_b]);
        let [apart_a, apart_b] = self.apart;
        let of_b = apart_b
            .filter(|_| apart_a != apart_b)
            .map(is_elsewhere)
            .transpose()?;
        let by_b = |of_a: usize| match &of_b {
            Some(flag) => between(flag, [&number(of_a, 0)?, &number(of_a, 1)?]),
            None => number(of_a, 0),
        };
        match apart_a {
            None => by_b(0),
            // One extent for both.
            Some(of_a) if apart_a == apart_b => {
                between(&is_elsewhere(of_a)?, [&number(0, 0)?, &number(1, 1)?])
            }
            Some(of_a) => between(&is_elsewhere(of_a)?, [&by_b(0)?, &by_b(1)?]),
        }
    }
}
