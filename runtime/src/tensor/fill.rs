//! Generated data, and what lies between elements.

use rand_core::RngCore;
use rand_distr::{Distribution as _, StandardNormal};

use super::{HostTensor, access};
use crate::element::Element;
use crate::parallel::parallel_items;

/// The distribution of random elements. Each is independent of all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Normal with mean 0 and standard deviation 1, rounded to the element type.
    Normal,
    /// Integers from `low` to `high`, both included, all equally likely.
    Integers {
        /// The smallest integer that can occur.
        low: i32,
        /// The largest integer that can occur.
        high: i32,
    },
}

impl Distribution {
    /// Normal for floats; for integers -8 to 7 (unsigned: 0 to 15), whose long sums of products
    /// still fit 32 bits.
    pub fn default_for(element: Element) -> Distribution {
        match element {
            Element::U8 => Distribution::Integers { low: 0, high: 15 },
            e if e.is_float() => Distribution::Normal,
            _ => Distribution::Integers { low: -8, high: 7 },
        }
    }

    fn sample(self, rng: &mut SplitMix) -> f64 {
        match self {
            Distribution::Normal => StandardNormal.sample(rng),
            Distribution::Integers { low, high } => {
                let count = (i64::from(high) - i64::from(low) + 1).max(1) as u64;
                f64::from(low) + ((u128::from(rng.next_u64()) * u128::from(count)) >> 64) as f64
            }
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014). Every element has a generator of its own, seeded by its
/// index: so values depend neither on the layout nor on the number of threads.
pub(crate) struct SplitMix(pub(crate) u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl RngCore for SplitMix {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scramble(self.0)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

impl SplitMix {
    /// A number below `count`, which is at least 1; near enough to uniform.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(count)) >> 64) as u64
    }
}

fn scramble(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed for the `stream`-th of several independent things.
pub(crate) fn mix(seed: u64, stream: u64) -> u64 {
    scramble(scramble(seed.wrapping_add(GOLDEN)) ^ stream.wrapping_add(1).wrapping_mul(GOLDEN))
}

/// Elements that one thread fills before it asks for more work, about.
const PIECE: i64 = 1 << 14;

/// A leaf of the layout with the weight of its coordinate in the index.
#[derive(Clone, Copy)]
struct Leaf {
    shape: i64,
    stride: i64,
    weight: i64,
}

impl HostTensor {
    /// Fills the elements; the same seed gives the same element at the same coordinate in any
    /// layout.
    pub fn fill_random(&mut self, distribution: Distribution, seed: u64) {
        self.fill_with(|index| distribution.sample(&mut SplitMix(mix(seed, index as u64))));
    }

    /// Fills the elements from their indices, on all cores where the layout lets memory be cut into
    /// disjoint pieces.
    pub fn fill_with(&mut self, value: impl Fn(i64) -> f64 + Sync) {
        let element = self.element;
        self.fill_by(|bytes, offset, index| access::store(element, bytes, offset, value(index)));
    }

    /// Does as [`HostTensor::fill_with`] with a function that puts the element of an index at an offset, in elements, into bytes.
    pub(super) fn fill_by(&mut self, put: impl Fn(&mut [u8], i64, i64) + Sync) {
        let element = self.element;
        if self.layout.size() == 0 {
            return;
        }
        let mut leaves = self.leaves_by_stride();
        // Of elements that a stride of 0 places on each other, the last one is there.
        let mut first = 0;
        leaves.retain(|leaf| {
            if leaf.stride == 0 {
                first += (leaf.shape - 1) * leaf.weight;
            }
            leaf.stride != 0
        });
        if let Some((outer, inner)) = leaves.split_first() {
            let inner_span = span(inner);
            if outer.stride >= inner_span {
                let inner_size = inner.iter().map(|leaf| leaf.shape).product::<i64>();
                let group = (PIECE / inner_size).clamp(1, outer.shape);
                let length = (outer.stride * group) as usize * element.size();
                let pieces = self.bytes.chunks_mut(length).enumerate().collect();
                parallel_items(pieces, |(i, piece): (usize, &mut [u8])| {
                    let from = i as i64 * group;
                    let mut leaves = leaves.clone();
                    leaves[0].shape = group.min(outer.shape - from);
                    let index = first + from * outer.weight;
                    visit(&leaves, index, 0, &mut |index, offset| {
                        put(piece, offset, index)
                    });
                });
                return;
            }
        }
        let bytes = &mut self.bytes;
        visit(&leaves, first, 0, &mut |index, offset| {
            put(bytes, offset, index)
        });
    }

    /// The first byte that belongs to no element and differs from `byte`.
    pub(crate) fn first_gap_not(&self, byte: u8) -> Option<usize> {
        if self.layout.cosize() == self.layout.size() && self.is_injective()
            || self.bytes.is_empty()
        {
            return None;
        }
        let mut covered = vec![false; self.layout.cosize() as usize];
        let mut leaves = self.leaves_by_stride();
        leaves.retain(|leaf| leaf.stride != 0);
        visit(&leaves, 0, 0, &mut |_, offset| {
            covered[offset as usize] = true
        });
        let size = self.element.size();
        self.bytes
            .iter()
            .enumerate()
            .position(|(at, &found)| found != byte && !covered[at / size])
    }

    /// Tells whether no two elements share memory; false also where that is hard to see.
    fn is_injective(&self) -> bool {
        let leaves = self.leaves_by_stride();
        (0..leaves.len()).all(|i| leaves[i].stride >= span(&leaves[i + 1..]))
    }

    /// The leaves of more than one element, the largest stride first.
    fn leaves_by_stride(&self) -> Vec<Leaf> {
        let mut weight = 1;
        let mut leaves = Vec::new();
        for (shape, stride) in self.layout.leaves() {
            if shape > 1 {
                leaves.push(Leaf {
                    shape,
                    stride,
                    weight,
                });
            }
            weight *= shape;
        }
        leaves.sort_by_key(|leaf| std::cmp::Reverse(leaf.stride));
        leaves
    }
}

/// Elements of memory from the first to the last.
fn span(leaves: &[Leaf]) -> i64 {
    1 + leaves
        .iter()
        .map(|leaf| (leaf.shape - 1) * leaf.stride)
        .sum::<i64>()
}

/// Calls `each(index, offset)` for every element, in the order of memory where the layout has one.
fn visit(leaves: &[Leaf], index: i64, offset: i64, each: &mut impl FnMut(i64, i64)) {
    match leaves.split_first() {
        None => each(index, offset),
        Some((leaf, rest)) => {
            for i in 0..leaf.shape {
                visit(
                    rest,
                    index + i * leaf.weight,
                    offset + i * leaf.stride,
                    each,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Parsed;

    fn random(element: Element, layout: &str, seed: u64) -> HostTensor {
        let mut tensor = HostTensor::poisoned(element, Parsed::parse(layout).unwrap()).unwrap();
        tensor.fill_random(Distribution::default_for(element), seed);
        tensor
    }

    #[test]
    fn values_do_not_depend_on_the_layout() {
        let reference = random(Element::F32, "(8,6):(1,8)", 7);
        for layout in [
            "(8,6):(6,1)",
            "(8,6):(16,2)",
            "((2,4),6):((24,1),4)",
            "((2,4),(3,2)):((1,6),(2,24))",
        ] {
            let other = random(Element::F32, layout, 7);
            for i in 0..48 {
                assert_eq!(reference.get(i), other.get(i), "{layout} at {i}");
            }
        }
        assert_ne!(
            reference.get(0),
            random(Element::F32, "(8,6):(1,8)", 8).get(0)
        );
    }

    #[test]
    fn known_values_stay() {
        // What a seed gives is part of what a bug report says.
        let ints = random(Element::I8, "8:1", 42);
        let ints: Vec<_> = (0..8).filter_map(|i| ints.get(i)).collect();
        assert_eq!(ints, [-3.0, 4.0, -3.0, 0.0, -8.0, 3.0, -8.0, -2.0]);
        let floats = random(Element::F32, "4:1", 42);
        let floats: Vec<_> = (0..4).filter_map(|i| floats.get(i)).collect();
        assert_eq!(
            floats,
            [
                -1.0768150091171265,
                0.6560244560241699,
                -0.5937183499336243,
                0.01729845255613327
            ]
        );
    }

    #[test]
    fn normals_are_normal_and_integers_in_range() {
        let t = random(Element::F32, "(256,256):(256,1)", 3);
        let values: Vec<f64> = (0..65536).filter_map(|i| t.get(i)).collect();
        let mean = values.iter().sum::<f64>() / 65536.0;
        let square = values.iter().map(|v| v * v).sum::<f64>() / 65536.0;
        // Five standard errors.
        assert!(mean.abs() < 5.0 / 256.0, "{mean}");
        assert!((square - 1.0).abs() < 5.0 * 2f64.sqrt() / 256.0, "{square}");
        let neighbours = values.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / 65535.0;
        assert!(neighbours.abs() < 5.0 / 256.0, "{neighbours}");

        let t = random(Element::I8, "(64,64):(64,1)", 3);
        let mut seen = [0; 16];
        for i in 0..4096 {
            seen[(t.get(i).unwrap() + 8.0) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (160..=360).contains(&n)), "{seen:?}");
    }

    #[test]
    fn memory_between_elements_is_left_alone() {
        let t = random(Element::F16, "(4,3):(5,1)", 1);
        assert_eq!(t.first_gap_not(super::super::POISON), None);
        // Several pieces, the last one shorter.
        let long = random(Element::F32, "(40000,3):(3,1)", 1);
        let short = random(Element::F32, "(40000,3):(1,40000)", 1);
        assert!((0..120_000).all(|i| long.get(i) == short.get(i)));
        // The same row, or the same number, again and again.
        let rows = random(Element::F32, "(40,3):(0,1)", 1);
        let last = |j: i64| random(Element::F32, "(40,3):(3,1)", 1).get(39 + j * 40);
        assert!((0..120).all(|i| rows.get(i) == last(i / 40)));
        let one = random(Element::F32, "(40,3):(0,0)", 1);
        assert!((0..120).all(|i| one.get(i) == last(2)));
        // Rows that overlap: no cut, still every element.
        let t = random(Element::F32, "(3,3):(1,1)", 1);
        assert!((0..9).all(|i| t.get(i).unwrap().is_finite()));
    }
}
