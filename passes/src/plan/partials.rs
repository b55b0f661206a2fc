//! The way in which the threads of a block share rows and columns of C's tile as they store it, and what they leave for each other where an
//! output is reduced along them.

use crate::arch::WARP;
use cute_ir::plan::Plan;
use cute_layout::Operand;

/// The threads that have a part of each number of an output that is reduced along rows, columns or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partials {
    /// Numbers of the tile: its rows, its columns, or 1.
    pub(crate) kept: i64,
    /// Threads along the lines in which neighbours lie.
    pub(crate) across: i64,
    /// Threads of a warp that share a number, and how far each is behind the other.
    pub(crate) lanes: [i64; 2],
    /// Such groups of threads that share a number.
    pub(crate) parts: i64,
}

impl Partials {
    /// Those of an output that is reduced `along` rows (0), columns (1) or both, which are modes of a tile of these extents. Errors: a
    /// plan that does not move C; an output that is not reduced.
    pub(crate) fn of(plan: &Plan<'_>, extents: [i64; 2], along: [bool; 2]) -> Result<Self, String> {
        let major = plan.major(Operand::C)?;
        let copy = plan.tiled_copy(Operand::C, 1)?;
        let row = plan
            .path(Operand::C)
            .get(1)
            .ok_or("expected a movement of C")?
            .row()?;
        let covered = copy.tiler_mn().shape();
        let covered = covered.and_then(|covered| covered.get(major)?.size().ok());
        let covered = covered.ok_or("expected a tile that the threads copy at a time")?;
        let across = (covered / row.num_val.max(1)).max(1);
        let threads = plan.threads()?;
        let warp = WARP.min(threads);
        let lanes = match [along[major], along[1 - major]] {
            [true, true] => [warp, 1],
            [true, false] => [1 << across.trailing_zeros().min(warp.trailing_zeros()), 1],
            // Lines of threads that a warp has several of.
            [false, true] if across < warp && warp % across == 0 => [warp / across, across],
            [false, true] => [1, 1],
            [false, false] => return Err("expected an output that is reduced".to_owned()),
        };
        let sharing = match [along[major], along[1 - major]] {
            [true, true] => threads,
            [true, false] => across,
            _ => threads / across,
        };
        let kept = (0..2)
            .filter(|mode| !along[*mode])
            .map(|mode| extents[mode]);
        Ok(Self {
            kept: kept.product(),
            across,
            lanes,
            parts: sharing / lanes[0],
        })
    }

    /// Elements of shared memory in which groups of threads leave what they have.
    pub(crate) fn elements(&self) -> i64 {
        self.kept * self.parts
    }
}

/// Bytes of an element of each output that is reduced along columns alone, along rows alone, and along both, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reduced {
    bytes: [i64; 3],
}

/// The modes that an output may be reduced along, in the order of [`Reduced`].
const ALONG: [[bool; 2]; 3] = [[false, true], [true, false], [true, true]];

impl Reduced {
    /// Adds an output that is reduced along rows (0), columns (1) or both.
    pub(crate) fn add(&mut self, along: [bool; 2], bytes: i64) {
        for (sum, known) in self.bytes.iter_mut().zip(ALONG) {
            *sum += if known == along { bytes } else { 0 };
        }
    }

    /// Tells whether any output is reduced.
    pub(crate) fn is_some(&self) -> bool {
        *self != Self::default()
    }

    /// Bytes of shared memory that a plan takes for them. Errors: as of [`Partials::of`].
    pub(crate) fn shared(&self, plan: &Plan<'_>) -> Result<i64, String> {
        let mut all = 0;
        for (bytes, along) in self.bytes.into_iter().zip(ALONG) {
            if bytes > 0 {
                let partials = Partials::of(plan, plan.extents(Operand::C), along)?;
                all += bytes * partials.elements();
            }
        }
        Ok(all)
    }
}
