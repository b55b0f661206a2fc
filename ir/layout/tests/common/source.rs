//! Operands out of bytes: the same for random tests and for the fuzzer.

#![allow(dead_code)] // each user needs its part

use cute_layout::{IntTuple, Layout, Tile, int};

/// Choices, read from bytes; zeros when they have run out.
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Source<'a> {
        Source { bytes, pos: 0 }
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let b = self.bytes.get(self.pos).copied().unwrap_or(0);
        self.pos += 1;
        b
    }

    /// A number from 0 to `n - 1`; `n` is at most 256.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) * n / 256
    }

    /// A number from `low` to `high`.
    pub(crate) fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A shape of depth at most 3 with extents up to 8, of at most `limit` elements and 7 leaves.
    pub(crate) fn shape(&mut self, limit: i64) -> IntTuple {
        let (mut room, mut leaves) = (limit, 7);
        self.shape_within(0, &mut room, &mut leaves)
    }

    fn shape_within(&mut self, depth: usize, room: &mut i64, leaves: &mut usize) -> IntTuple {
        let nested = [230, 90, 60, 0][depth];
        if usize::from(self.byte()) < nested {
            let rank = self.pick(&[1, 2, 2, 2, 3, 3, 4]).min(*leaves);
            return IntTuple::Tuple(
                (0..rank.max(1))
                    .map(|_| self.shape_within(depth + 1, room, leaves))
                    .collect(),
            );
        }
        *leaves = leaves.saturating_sub(1);
        let n = self.pick(&[1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 7]);
        let n = if n <= *room { n } else { 1 };
        *room /= n;
        int(n)
    }

    /// Another nesting of that many leaves, all 1.
    pub(crate) fn profile(&mut self, leaves: usize) -> IntTuple {
        let mut out = Vec::new();
        let mut left = leaves;
        while left > 0 {
            let n = 1 + self.below(left.min(3));
            out.push(match n {
                1 if self.byte() < 200 => int(1),
                n if n < left || !out.is_empty() => self.profile(n),
                n => IntTuple::Tuple(vec![int(1); n]),
            });
            left -= n;
        }
        IntTuple::Tuple(out)
    }

    /// A layout of at most `limit` elements: compact in any order, with gaps, broadcasts, one stride that is off, anything;
    /// `negative` strides where allowed.
    pub(crate) fn layout(&mut self, limit: i64, negative: bool) -> Layout {
        let shape = self.shape(limit);
        let extents = shape.static_leaves().expect("static");
        let mut order: Vec<usize> = (0..extents.len()).collect();
        let mut strides = vec![0; extents.len()];
        let kind = self.below(8);
        if kind != 2 {
            for i in (1..order.len()).rev() {
                order.swap(i, self.below(i + 1));
            }
        }
        let mut run = 1;
        for &i in &order {
            if kind == 3 && run < 512 {
                run *= self.pick(&[1, 1, 2, 3, 4]);
            }
            strides[i] = run;
            run *= extents[i];
        }
        match kind {
            0..=3 => {}
            4 => {
                for d in &mut strides {
                    *d *= i64::from(self.byte() < 150);
                }
            }
            5 => {
                let i = self.below(strides.len());
                strides[i] = (strides[i] + self.range(-2, 2)).abs();
            }
            6 if negative => {
                for d in &mut strides {
                    *d *= self.pick(&[1, 1, -1]);
                }
            }
            _ => {
                let low = if negative { -9 } else { 0 };
                for d in &mut strides {
                    *d = match self.below(4) {
                        0 => self.pick(&[0, 0, 1]),
                        1 => self.pick(&[2, 3, 4, 6, 8, 12, 24]),
                        _ => self.range(low, 20),
                    };
                }
            }
        }
        Layout::new(shape.clone(), refill(&shape, &mut strides.into_iter())).expect("congruent")
    }

    /// A tile for a layout of this shape: a layout, or mode by mode, sometimes as deep as the shape.
    pub(crate) fn tile(&mut self, shape: &IntTuple, depth: usize) -> Tile {
        match (self.below(8), shape) {
            (0..=3, IntTuple::Tuple(modes)) if depth < 2 && !modes.is_empty() => {
                let n = 1 + self.below(modes.len());
                Tile::Modes(modes[..n].iter().map(|m| self.tile(m, depth + 1)).collect())
            }
            (4, _) => Tile::Underscore,
            (5, _) => Tile::Layout(self.layout(12, true)),
            _ => {
                let n = self.pick(&[1, 2, 2, 3, 4, 4, 6, 8]);
                let d = self.pick(&[1, 1, 1, 2, 3, 4, 8, 0]);
                Tile::Layout(Layout::leaf(n, d).expect("small"))
            }
        }
    }
}

/// A tuple of this nesting with other leaves.
pub(crate) fn refill(shape: &IntTuple, it: &mut impl Iterator<Item = i64>) -> IntTuple {
    match shape {
        IntTuple::Leaf(_) => int(it.next().unwrap_or(0)),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| refill(t, it)).collect()),
    }
}

/// Runs `f` on `cases` streams of bytes that follow from `seed`.
pub(crate) fn streams(seed: u64, cases: usize, mut f: impl FnMut(&mut Source<'_>)) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bytes = [0u8; 96];
    for _ in 0..cases {
        for chunk in bytes.chunks_exact_mut(8) {
            // splitmix64
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes());
        }
        f(&mut Source::new(&bytes));
    }
}
