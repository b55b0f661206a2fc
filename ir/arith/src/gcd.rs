//! The greatest common divisor.

/// An integer type that [`gcd`] is of.
pub trait Integer: Copy {
    /// The greatest common divisor, which 0 has none of its own in.
    #[must_use]
    fn gcd(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($signed:ty, $unsigned:ty;)*) => {$(
        impl Integer for $unsigned {
            fn gcd(self, other: Self) -> Self {
                let (mut a, mut b) = (self, other);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a
            }
        }

        impl Integer for $signed {
            fn gcd(self, other: Self) -> Self {
                let all = self.unsigned_abs().gcd(other.unsigned_abs());
                // Only that of the least number with itself or 0 does not fit.
                Self::try_from(all).unwrap_or(1)
            }
        }
    )*};
}

integers! {
    i64, u64;
    i128, u128;
}

/// The greatest common divisor of two integers, never negative: of 0 and `b` it is the magnitude of `b`.
///
/// Where that magnitude is one more than the type holds, it is 1, which divides both as well.
pub fn gcd<T: Integer>(a: T, b: T) -> T {
    a.gcd(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_largest_that_divides_both() {
        for a in -30i64..=30 {
            for b in -30i64..=30 {
                let most = (1..=30).rev().find(|d| a % d == 0 && b % d == 0);
                let expected = if a == 0 && b == 0 { Some(0) } else { most };
                assert_eq!(Some(gcd(a, b)), expected, "{a} {b}");
                assert_eq!(gcd(i128::from(a), i128::from(b)), gcd(a, b).into());
                let (a, b) = (a.unsigned_abs(), b.unsigned_abs());
                assert_eq!(gcd(a, b), gcd(a as i64, b as i64).unsigned_abs());
            }
        }
    }

    #[test]
    fn the_least_number_is_no_panic() {
        assert_eq!(gcd(i64::MIN, 0), 1);
        assert_eq!(gcd(i64::MIN, i64::MIN), 1);
        assert_eq!(gcd(i64::MIN, -1), 1);
        assert_eq!(gcd(i64::MIN, 48), 16);
        assert_eq!(gcd(i128::MIN, i128::MIN), 1);
    }
}
