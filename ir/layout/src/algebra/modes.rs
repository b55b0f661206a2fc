//! Rearranging modes. Dynamic leaves go through untouched.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tuple::IntTuple;

impl Layout {
    /// The same leaves at depth 1; a single leaf stays one.
    pub fn flatten(&self) -> Result<Layout> {
        Layout::new(self.shape().flatten(), self.stride().flatten())
    }

    /// Modes `begin..end` become one nested mode: `(4,5,6)` grouped `0..2` is `((4,5),6)`. Errors: a range that is not there.
    pub fn group(&self, begin: usize, end: usize) -> Result<Layout> {
        self.check_range("group", begin, end)?;
        let modes = self.modes();
        let mut out = modes[..begin].to_vec();
        out.push(Layout::from_modes(&modes[begin..end])?);
        out.extend_from_slice(&modes[end..]);
        Layout::from_modes(&out)
    }

    /// Modes `begin..end` alone. Errors: an empty range, or one that is not there.
    pub fn take(&self, begin: usize, end: usize) -> Result<Layout> {
        self.check_range("take", begin, end)?;
        Layout::from_modes(&self.modes()[begin..end])
    }

    /// The named modes, in the order of `indices`.
    pub fn select(&self, indices: &[usize]) -> Result<Layout> {
        Layout::from_modes(
            &indices
                .iter()
                .map(|&i| self.mode(i))
                .collect::<Result<Vec<_>>>()?,
        )
    }

    /// One more mode at the end.
    pub fn append(&self, mode: &Layout) -> Result<Layout> {
        let mut modes = self.modes();
        modes.push(mode.clone());
        Layout::from_modes(&modes)
    }

    /// One more mode at the front.
    pub fn prepend(&self, mode: &Layout) -> Result<Layout> {
        let mut modes = self.modes();
        modes.insert(0, mode.clone());
        Layout::from_modes(&modes)
    }

    /// Copies of `mode` (usually `1:0`) at the end until the rank is `rank`. Errors: a rank that is already larger.
    pub fn append_to_rank(&self, rank: usize, mode: &Layout) -> Result<Layout> {
        self.pad("append_to_rank", rank, mode, |modes, m| modes.push(m))
    }

    /// Copies of `mode` at the front until the rank is `rank`. Errors: a rank that is already larger.
    pub fn prepend_to_rank(&self, rank: usize, mode: &Layout) -> Result<Layout> {
        self.pad("prepend_to_rank", rank, mode, |modes, m| modes.insert(0, m))
    }

    fn pad(
        &self,
        op: &'static str,
        rank: usize,
        mode: &Layout,
        add: fn(&mut Vec<Layout>, Layout),
    ) -> Result<Layout> {
        let have = self.rank();
        if have == rank {
            return Ok(self.clone());
        }
        if have > rank || rank > crate::tuple::MAX_LEAVES {
            let expected = format!("a rank from {have} to {}", crate::tuple::MAX_LEAVES);
            return Err(LayoutError::Rank {
                op,
                expected,
                found: rank.to_string(),
            });
        }
        let mut modes = self.modes();
        for _ in have..rank {
            add(&mut modes, mode.clone());
        }
        Layout::from_modes(&modes)
    }

    /// Pairs mode `i` of both: `(a0,a1)` and `(b0,b1)` give `((a0,b0),(a1,b1))`. Errors: different ranks.
    pub fn zip(&self, other: &Layout) -> Result<Layout> {
        if self.rank() != other.rank() {
            let expected = format!("two layouts of rank {}", self.rank());
            return Err(LayoutError::Rank {
                op: "zip",
                expected,
                found: other.to_string(),
            });
        }
        let pairs = self
            .modes()
            .into_iter()
            .zip(other.modes())
            .map(|(a, b)| Layout::from_modes(&[a, b]));
        Layout::from_modes(&pairs.collect::<Result<Vec<_>>>()?)
    }

    /// The same offsets under a profile that groups the leaves, in order: `(4,5,6)` by `((_,_),_)` is `((4,5),6)`.
    ///
    /// Errors: a profile with another number of leaves.
    pub fn unflatten(&self, profile: &IntTuple) -> Result<Layout> {
        fn build(p: &IntTuple, it: &mut impl Iterator<Item = IntTuple>) -> Option<IntTuple> {
            match p {
                IntTuple::Leaf(_) => it.next(),
                IntTuple::Tuple(t) => Some(IntTuple::Tuple(
                    t.iter().map(|p| build(p, it)).collect::<Option<_>>()?,
                )),
            }
        }
        let (shape, stride) = (self.shape().leaves(), self.stride().leaves());
        let bad = || LayoutError::Rank {
            op: "unflatten",
            expected: format!("a profile of {} leaves", shape.len()),
            found: profile.to_string(),
        };
        if profile.leaves().len() != shape.len() {
            return Err(bad());
        }
        let s = build(
            profile,
            &mut shape.iter().map(|l| IntTuple::Leaf((*l).clone())),
        )
        .ok_or_else(bad)?;
        let d = build(
            profile,
            &mut stride.iter().map(|l| IntTuple::Leaf((*l).clone())),
        )
        .ok_or_else(bad)?;
        Layout::new(s, d)
    }

    fn check_range(&self, op: &'static str, begin: usize, end: usize) -> Result<()> {
        if begin < end && end <= self.rank() {
            return Ok(());
        }
        let expected = format!("a range within the {} modes of {self}", self.rank());
        Err(LayoutError::Rank {
            op,
            expected,
            found: format!("{begin}..{end}"),
        })
    }
}
