//! Classes of shapes, within which one measurement says something of others.

/// A class of shapes: M, N, K and the number of products, each to the nearest power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeClass([u32; 4]);

/// The largest extent that is told apart; what is larger is in its class.
const MOST: i64 = 1 << 40;

impl ShapeClass {
    /// The class of M, N, K and the number of products; those below 1 count as 1.
    pub fn of(extents: [i64; 4]) -> Self {
        // The nearest power of two on a logarithmic scale: the square tells on which side of sqrt(2) times a power an extent lies.
        Self(extents.map(|extent| {
            let extent = i128::from(extent.clamp(1, MOST));
            (2 * extent * extent).ilog2() / 2
        }))
    }

    /// The smallest and the largest extent of the class, for M, N, K and the number of products.
    pub fn ranges(self) -> [[i64; 2]; 4] {
        self.0.map(|power| {
            let first = |power: u32| {
                let middle = 1i64 << power;
                // The first whose square is at least half of the square of the power.
                let (mut below, mut from) = (middle / 2, middle);
                while below + 1 < from {
                    let between = (below + from) / 2;
                    let square = 2 * i128::from(between) * i128::from(between);
                    match square >= i128::from(middle) * i128::from(middle) {
                        true => from = between,
                        false => below = between,
                    }
                }
                from
            };
            let last = match 1i64 << power {
                MOST => i64::MAX - 1,
                _ => first(power + 1) - 1,
            };
            [first(power), last]
        })
    }
}

/// Tells whether what was measured at one shape says something of the other: no extent is more than a sixteenth longer than the other's.
pub fn is_near(a: [i64; 4], b: [i64; 4]) -> bool {
    a.into_iter().zip(b).all(|(a, b)| {
        let [a, b] = [a, b].map(|extent| extent.clamp(1, MOST));
        a.max(b) - a.min(b) <= a.min(b) / 16
    })
}

/// Sizes that are 1 apart in [`distance`].
const UNIT: i128 = 1 << 16;

/// The distance of two shapes, by which the nearest one of a class is found: the product of the ratios of their extents.
pub fn distance(a: [i64; 4], b: [i64; 4]) -> i128 {
    let ratios = a.into_iter().zip(b).map(|(a, b)| {
        let [a, b] = [a, b].map(|extent| i128::from(extent.clamp(1, MOST)));
        a.max(b) * UNIT / a.min(b)
    });
    ratios.fold(UNIT, |product, ratio| product.saturating_mul(ratio) / UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_a_sixteenth_longer_is_near() {
        let near = |a, b| is_near([a, 4096, 1, 1], [b, 4096, 0, 1]);
        assert!(near(4096, 4095) && near(4096, 4352) && near(3000, 3072) && near(1024, 1000));
        assert!(!near(4096, 4353) && !near(1792, 2048) && !near(1, 2) && near(0, 1));
    }

    #[test]
    fn extents_that_tiles_just_miss_are_in_one_class() {
        let class = |m| ShapeClass::of([m, 1, 1, 1]);
        assert_eq!(class(4096), class(4095));
        assert_eq!(class(4096), class(5000));
        assert_eq!(class(1000), class(1024));
        assert_ne!(class(4096), class(8192));
        assert_ne!(class(1), class(2));
        assert_ne!(class(8), class(16));
        assert_eq!(class(0), class(1));
        assert_eq!(class(i64::MAX), class(MOST));
        assert_eq!(class(4096).ranges()[0], [2897, 5792]);
        assert_eq!(class(1).ranges()[0], [1, 1]);
        assert_eq!(class(2).ranges()[0], [2, 2]);
        assert_eq!(class(4).ranges()[0], [3, 5]);
    }

    #[test]
    fn equal_shapes_are_nearest() {
        let base = [4096, 4096, 4096, 1];
        assert_eq!(distance(base, base), UNIT);
        assert!(distance(base, [4095, 4096, 4096, 1]) < distance(base, [5000, 4096, 4096, 1]));
        assert_eq!(
            distance(base, [2048, 4096, 4096, 1]),
            distance(base, [8192, 4096, 4096, 1])
        );
        distance([i64::MAX; 4], [1; 4]);
    }

    proptest! {
        #[test]
        fn a_class_is_its_ranges(extents in prop::array::uniform4(1i64..1 << 34), other in 1i64..1 << 34) {
            let class = ShapeClass::of(extents);
            for (extent, [first, last]) in extents.into_iter().zip(class.ranges()) {
                prop_assert!((first..=last).contains(&extent));
                let inside = (first..=last).contains(&other);
                prop_assert_eq!(ShapeClass::of([other; 4]).0[0] == ShapeClass::of([extent; 4]).0[0], inside);
            }
        }
    }
}
