//! Random numbers that a seed and the number of an input decide.

/// A stream of random numbers: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of an input. Streams of different inputs have nothing to do with each other.
    pub fn of(seed: u64, index: u64) -> Random {
        let mut outer = Random(seed);
        let start = outer.next() ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        let mut inner = Random(start);
        inner.next();
        inner
    }

    /// Returns 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number from 0 to `bound - 1`; 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 => 0,
            _ => (self.next() % bound as u64) as usize,
        }
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }

    /// Returns true in that many of 100 calls.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items, of which there is at least one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_seed_and_index_alone() {
        let take = |seed, index| {
            let mut random = Random::of(seed, index);
            (random.next(), random.below(1000), random.range(-5, 5))
        };
        assert_eq!(take(1, 7), take(1, 7));
        assert_ne!(take(1, 7), take(1, 8));
        assert_ne!(take(1, 7), take(2, 7));
    }

    #[test]
    fn numbers_are_within_their_bounds() {
        let mut random = Random::of(0, 0);
        for _ in 0..1000 {
            assert!(random.below(3) < 3);
            assert!((-2..=2).contains(&random.range(-2, 2)));
        }
        assert_eq!(random.below(0), 0);
    }
}
