//! Floating-point numbers of eight bits, and tf32.

/// A format of eight bits: a sign, an exponent, a significand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    /// Bits of the significand that are stored.
    significand: i32,
    bias: i32,
    /// The largest finite magnitude, as bits.
    largest: u8,
    /// Tells whether magnitudes above the largest one begin with an infinity.
    infinity: bool,
}

/// OCP's E4M3, MLIR's `f8E4M3FN`.
pub(super) const E4M3: Small = Small {
    significand: 3,
    bias: 7,
    largest: 0x7e,
    infinity: false,
};

/// OCP's E5M2, MLIR's `f8E5M2`.
pub(super) const E5M2: Small = Small {
    significand: 2,
    bias: 15,
    largest: 0x7b,
    infinity: true,
};

impl Small {
    pub(super) fn decode(self, bits: u8) -> f64 {
        let magnitude = bits & 0x7f;
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        if magnitude > self.largest {
            let infinite = self.infinity && magnitude == self.largest + 1;
            return if infinite {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        let stored = i32::from(magnitude & ((1 << self.significand) - 1));
        let exponent = i32::from(magnitude) >> self.significand;
        // A subnormal number has the exponent of the smallest normal one, and no hidden bit.
        let (whole, exponent) = match exponent {
            0 => (stored, 1),
            e => (stored + (1 << self.significand), e),
        };
        sign * f64::from(whole) * 2f64.powi(exponent - self.bias - self.significand)
    }

    /// Rounds to nearest, ties to even. What is too large becomes infinite, or NaN where there is no infinity.
    pub(super) fn encode(self, value: f64) -> u8 {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        let over = if self.infinity {
            self.largest + 1
        } else {
            0x7f
        };
        if value.is_nan() {
            return sign | 0x7f;
        }
        let magnitude = value.abs();
        if magnitude.is_infinite() {
            return sign | over;
        }
        // Exponent of the unit in the last place.
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        let unit = exponent.max(1 - self.bias) - self.significand;
        let count = (magnitude * 2f64.powi(-unit)).round_ties_even() as i32;
        // Counted from the smallest binade: a carry goes into the exponent by itself.
        let binade = unit + self.significand + self.bias - 1;
        let bits = count + (binade << self.significand);
        match u8::try_from(bits) {
            Ok(bits) if bits <= self.largest => sign | bits,
            _ => sign | over,
        }
    }
}

/// The nearest number with ten stored bits of significand, ties to even; NaN stays NaN.
pub(super) fn to_tf32(value: f32) -> f32 {
    const DROPPED: u32 = 13;
    if !value.is_finite() {
        return value;
    }
    let bits = value.to_bits();
    let even = (bits >> DROPPED) & 1;
    let half = (1 << (DROPPED - 1)) - 1;
    f32::from_bits((bits + half + even) & !((1 << DROPPED) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_reads_back() {
        for format in [E4M3, E5M2] {
            for bits in 0..=255u8 {
                let value = format.decode(bits);
                if value.is_nan() {
                    assert!(format.decode(format.encode(value)).is_nan());
                } else {
                    assert_eq!(format.encode(value), bits, "{bits:#x} is {value}");
                }
            }
        }
        assert_eq!(
            (E4M3.decode(0x7e), E4M3.decode(0x01)),
            (448.0, 2f64.powi(-9))
        );
        assert!(E4M3.decode(0x7f).is_nan() && E4M3.decode(0xff).is_nan());
        assert_eq!(
            (E5M2.decode(0x7b), E5M2.decode(0x7c)),
            (57344.0, f64::INFINITY)
        );
        assert_eq!(E5M2.decode(0x01), 2f64.powi(-16));
    }

    #[test]
    fn values_between_go_to_the_nearest_even() {
        for format in [E4M3, E5M2] {
            for bits in 0..format.largest {
                let (a, b) = (format.decode(bits), format.decode(bits + 1));
                let middle = (a + b) / 2.0;
                assert_eq!(format.encode(middle), bits + (bits & 1), "{middle}");
                assert_eq!(format.encode(middle - (b - a) * 1e-6), bits);
                assert_eq!(format.encode(-middle - (b - a) * 1e-6), 0x80 | (bits + 1));
            }
        }
        assert_eq!((E4M3.encode(464.0), E4M3.encode(465.0)), (0x7e, 0x7f));
        assert_eq!((E5M2.encode(61439.0), E5M2.encode(61440.0)), (0x7b, 0x7c));
        assert_eq!((E4M3.encode(1e300), E4M3.encode(1e-300)), (0x7f, 0));
    }

    #[test]
    fn tf32_has_eleven_bits() {
        let unit = 2f32.powi(-10);
        assert_eq!(to_tf32(1.0 + unit), 1.0 + unit);
        assert_eq!(to_tf32(1.0 + unit / 2.0), 1.0);
        assert_eq!(to_tf32(1.0 + 1.5 * unit), 1.0 + 2.0 * unit);
        assert_eq!(to_tf32(-1.0 - 0.75 * unit), -1.0 - unit);
        assert!(to_tf32(f32::NAN).is_nan());
    }
}
