//! Floating-point arithmetic on fractions of big integers: slow, and with no rounding but that into the result, for which the
//! neighbours are searched among all numbers of the format.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// Bits of exponent and mantissa, and the NaN.
#[derive(Clone, Copy)]
pub(super) struct Float {
    pub exponent: u32,
    pub mantissa: u32,
    pub nan: u64,
    pub name: &'static str,
}

pub(super) const F16: Float = Float {
    exponent: 5,
    mantissa: 10,
    nan: 0x7fff,
    name: "f16",
};
pub(super) const BF16: Float = Float {
    exponent: 8,
    mantissa: 7,
    nan: 0x7fff,
    name: "bf16",
};
pub(super) const F32: Float = Float {
    exponent: 8,
    mantissa: 23,
    nan: 0x7fff_ffff,
    name: "f32",
};
pub(super) const F64: Float = Float {
    exponent: 11,
    mantissa: 52,
    nan: 0xfff8_0000_0000_0000,
    name: "f64",
};

#[derive(Clone)]
pub(super) enum Number {
    Nan,
    Infinite { negative: bool },
    Zero { negative: bool },
    Fraction { above: BigInt, below: BigInt },
}

use Number::*;

pub(super) fn integer(x: i128) -> Number {
    match x {
        0 => Zero { negative: false },
        _ => Fraction {
            above: x.into(),
            below: 1.into(),
        },
    }
}

impl Number {
    pub(super) fn negative(&self) -> bool {
        match self {
            Nan => false,
            Infinite { negative } | Zero { negative } => *negative,
            Fraction { above, .. } => above.sign() == Sign::Minus,
        }
    }

    pub(super) fn negate(self) -> Number {
        match self {
            Nan => Nan,
            Infinite { negative } => Infinite {
                negative: !negative,
            },
            Zero { negative } => Zero {
                negative: !negative,
            },
            Fraction { above, below } => Fraction {
                above: -above,
                below,
            },
        }
    }

    pub(super) fn multiply(&self, other: &Number) -> Number {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { .. }, Zero { .. }) | (Zero { .. }, Infinite { .. }) => Nan,
            (Infinite { .. }, _) | (_, Infinite { .. }) => Infinite { negative },
            (Zero { .. }, _) | (_, Zero { .. }) => Zero { negative },
            (Fraction { above, below }, Fraction { above: a, below: b }) => Fraction {
                above: above * a,
                below: below * b,
            },
        }
    }

    pub(super) fn invert(&self) -> Number {
        let negative = self.negative();
        match self {
            Nan => Nan,
            Infinite { .. } => Zero { negative },
            Zero { .. } => Infinite { negative },
            Fraction { above, below } => match above.sign() {
                Sign::Minus => Fraction {
                    above: -below,
                    below: -above,
                },
                _ => Fraction {
                    above: below.clone(),
                    below: above.clone(),
                },
            },
        }
    }

    /// Rounding down makes the zero between numbers of opposite sign negative.
    pub(super) fn add(&self, other: &Number, mode: &str) -> Number {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { negative: a }, Infinite { negative: b }) if a != b => Nan,
            (Infinite { .. }, _) => self.clone(),
            (_, Infinite { .. }) => other.clone(),
            (Zero { negative: a }, Zero { negative: b }) => Zero {
                negative: if a == b { *a } else { mode == "rm" },
            },
            (Zero { .. }, _) => other.clone(),
            (_, Zero { .. }) => self.clone(),
            (Fraction { above, below }, Fraction { above: a, below: b }) => {
                let sum = above * b + a * below;
                match sum.sign() {
                    Sign::NoSign => Zero {
                        negative: mode == "rm",
                    },
                    _ => Fraction {
                        above: sum,
                        below: below * b,
                    },
                }
            }
        }
    }
}

impl Float {
    pub(super) fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    pub(super) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    /// The magnitude of a pattern, as if there were no infinity: integer * 2^exponent.
    fn magnitude(self, pattern: u64) -> (BigInt, i64) {
        let exponent = (pattern >> self.mantissa) as i64;
        let fraction = pattern & ((1 << self.mantissa) - 1);
        let hidden = if exponent > 0 { 1 << self.mantissa } else { 0 };
        let bias = (1i64 << (self.exponent - 1)) - 1;
        let scale = exponent.max(1) - bias - i64::from(self.mantissa);
        ((fraction | hidden).into(), scale)
    }

    pub(super) fn read(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        if magnitude == 0 {
            return Zero { negative };
        }
        match magnitude.cmp(&self.infinity()) {
            Ordering::Greater => Nan,
            Ordering::Equal => Infinite { negative },
            Ordering::Less => {
                let (integer, scale) = self.magnitude(magnitude);
                let integer = if negative { -integer } else { integer };
                let shift = scale.unsigned_abs();
                match scale >= 0 {
                    true => Fraction {
                        above: integer << shift,
                        below: 1.into(),
                    },
                    false => Fraction {
                        above: integer,
                        below: BigInt::from(1) << shift,
                    },
                }
            }
        }
    }

    /// |above| / below against a pattern's magnitude, of which half of one unit more is taken if so asked.
    fn compare(self, above: &BigInt, below: &BigInt, pattern: u64, half: bool) -> Ordering {
        let (mut integer, mut scale) = self.magnitude(pattern);
        if half {
            integer = integer * 2 + 1;
            scale -= 1;
        }
        let size = BigInt::from(above.magnitude().clone());
        let shift = scale.unsigned_abs();
        match scale >= 0 {
            true => size.cmp(&((integer * below) << shift)),
            false => (size << shift).cmp(&(integer * below)),
        }
    }

    /// Rounded: `rn`, `rna` (ties away from zero), `rz`, `rm` or `rp`.
    pub(super) fn write(self, number: &Number, mode: &str) -> u64 {
        let sign = if number.negative() { self.sign() } else { 0 };
        let (above, below) = match number {
            Nan => return self.nan,
            Infinite { .. } => return sign | self.infinity(),
            Zero { .. } => return sign,
            Fraction { above, below } => (above, below),
        };
        // The largest pattern that is not above.
        let (mut low, mut high) = (0, self.infinity());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.compare(above, below, middle, false) {
                Ordering::Less => high = middle,
                _ => low = middle,
            }
        }
        if self.compare(above, below, high, false).is_ge() {
            low = high;
        }
        let exact = self.compare(above, below, low, false).is_eq() && low < self.infinity();
        let up = match mode {
            "rn" => match self.compare(above, below, low, true) {
                Ordering::Equal => low % 2 == 1,
                order => order.is_gt(),
            },
            "rna" => self.compare(above, below, low, true).is_ge(),
            "rz" => false,
            "rm" => sign != 0,
            _ => sign == 0,
        };
        let rounded = low + u64::from(up && !exact);
        if rounded < self.infinity() {
            return sign | rounded;
        }
        let to_infinity = match mode {
            "rn" | "rna" => true,
            "rz" => false,
            "rm" => sign != 0,
            _ => sign == 0,
        };
        sign | (self.infinity() - u64::from(!to_infinity))
    }

    /// The square root, whose square the candidates are compared by.
    pub(super) fn root(self, bits: u64, mode: &str) -> u64 {
        let number = self.read(bits);
        let (above, below) = match &number {
            Zero { .. } => return bits,
            Infinite { negative: false } => return self.infinity(),
            Fraction { above, below } if above.sign() == Sign::Plus => (above, below),
            _ => return self.nan,
        };
        let compare = |pattern: u64, half: bool| {
            let (mut integer, mut scale) = self.magnitude(pattern);
            if half {
                integer = integer * 2 + 1;
                scale -= 1;
            }
            let square = &integer * &integer;
            let shift = 2 * scale.unsigned_abs();
            match scale >= 0 {
                true => above.cmp(&((square * below) << shift)),
                false => (above << shift).cmp(&(square * below)),
            }
        };
        let (mut low, mut high) = (0, self.infinity());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match compare(middle, false) {
                Ordering::Less => high = middle,
                _ => low = middle,
            }
        }
        let exact = compare(low, false).is_eq();
        let up = match mode {
            "rn" => compare(low, true).is_gt(),
            "rp" => true,
            _ => false,
        };
        low + u64::from(up && !exact)
    }

    /// Subnormal numbers as zeros.
    pub(super) fn flush(self, bits: u64) -> u64 {
        match bits & self.infinity() {
            0 => bits & self.sign(),
            _ => bits,
        }
    }

    /// Taken into [0, 1], and NaN to 0.
    pub(super) fn saturate(self, bits: u64) -> u64 {
        let one = ((1 << (self.exponent - 1)) - 1) << self.mantissa;
        match self.read(bits) {
            Nan => 0,
            number if number.negative() => 0,
            _ => bits.min(one),
        }
    }

    /// Negative ones as zeros.
    pub(super) fn relu(self, bits: u64) -> u64 {
        match self.read(bits) {
            Nan => bits,
            number if number.negative() => 0,
            _ => bits,
        }
    }
}
