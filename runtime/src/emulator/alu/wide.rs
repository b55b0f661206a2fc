//! Arithmetic with all bits of the result, for the directions of rounding that the processor does not have.

use super::round::{Format, Mode, round};

/// A finite number: mantissa * 2^exponent, and whether a little is missing from its magnitude.
#[derive(Clone, Copy)]
struct Wide {
    negative: bool,
    mantissa: u128,
    exponent: i32,
    more: bool,
}

impl Wide {
    /// The wide form of a finite number.
    fn of(x: f64) -> Wide {
        let bits = x.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let mantissa = bits & ((1 << 52) - 1);
        let hidden = if exponent == 0 { 0 } else { 1 << 52 };
        Wide {
            negative: bits >> 63 == 1,
            mantissa: u128::from(mantissa | hidden),
            exponent: exponent.max(1) - 1075,
            more: false,
        }
    }

    /// Moves the highest bit to `place`; not for 0.
    fn at(self, place: u32) -> Wide {
        let up = place as i32 - self.mantissa.ilog2() as i32;
        Wide {
            // Only widened: every mantissa here has fewer bits.
            mantissa: self.mantissa << up.max(0),
            exponent: self.exponent - up.max(0),
            ..self
        }
    }

    fn multiply(self, other: Wide) -> Wide {
        Wide {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
            more: false,
        }
    }

    /// The exact sum of numbers with at most 106 bits.
    fn add(self, other: Wide) -> Wide {
        if self.mantissa == 0 {
            return other;
        }
        if other.mantissa == 0 {
            return self;
        }
        let (mut a, mut b) = (self.at(126), other.at(126));
        if (a.exponent, a.mantissa) < (b.exponent, b.mantissa) {
            std::mem::swap(&mut a, &mut b);
        }
        let shift = (a.exponent - b.exponent).min(127) as u32;
        let small = b.mantissa >> shift;
        let more = small << shift != b.mantissa;
        let mantissa = if a.negative == b.negative {
            a.mantissa + small
        } else {
            a.mantissa - small - u128::from(more)
        };
        Wide {
            mantissa,
            more,
            ..a
        }
    }

    /// The quotient by a number other than 0.
    fn divide(self, other: Wide) -> Wide {
        let negative = self.negative != other.negative;
        if self.mantissa == 0 {
            return Wide { negative, ..self };
        }
        let (a, b) = (self.at(126), other.at(52));
        Wide {
            negative,
            mantissa: a.mantissa / b.mantissa,
            exponent: a.exponent - b.exponent,
            more: a.mantissa % b.mantissa != 0,
        }
    }

    /// The square root of a positive number.
    fn root(self) -> Wide {
        let mut a = self.at(126);
        if a.exponent % 2 != 0 {
            a = self.at(125);
        }
        let mantissa = a.mantissa.isqrt();
        Wide {
            negative: false,
            mantissa,
            exponent: a.exponent / 2,
            more: mantissa * mantissa != a.mantissa,
        }
    }

    /// Rounds to the bits of a format; not for 0.
    fn round(self, format: Format, mode: Mode) -> u64 {
        let a = Wide {
            mantissa: self.mantissa << self.mantissa.leading_zeros(),
            exponent: self.exponent - self.mantissa.leading_zeros() as i32,
            ..self
        };
        let rest = a.mantissa as u64 != 0 || a.more;
        let top = (a.mantissa >> 64) as u64 | u64::from(rest);
        round(a.negative, top, a.exponent + 127, format, mode)
    }
}

fn finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

/// A result that needs no rounding: infinite, NaN or 0.
fn special(x: f64, format: Format) -> u64 {
    super::round::narrow(x, format, Mode::Rn)
}

/// a * b + c, rounded once.
pub(super) fn fused(a: f64, b: f64, c: f64, format: Format, mode: Mode) -> u64 {
    if finite(&[a, b]) && !c.is_finite() {
        return special(c, format);
    }
    if !finite(&[a, b]) {
        return special(a * b + c, format);
    }
    let product = Wide::of(a).multiply(Wide::of(b));
    let sum = product.add(Wide::of(c));
    if sum.mantissa == 0 {
        return zero(product.negative, c.is_sign_negative(), format, mode);
    }
    sum.round(format, mode)
}

/// The sum of numbers of opposite sign is a positive zero, except when rounding down.
fn zero(a: bool, b: bool, format: Format, mode: Mode) -> u64 {
    let negative = if a == b { a } else { mode == Mode::Rm };
    if negative { format.sign() } else { 0 }
}

/// a + b, rounded once.
pub(super) fn sum(a: f64, b: f64, format: Format, mode: Mode) -> u64 {
    fused(a, 1.0, b, format, mode)
}

/// a * b, rounded once.
pub(super) fn product(a: f64, b: f64, format: Format, mode: Mode) -> u64 {
    let product = Wide::of(a).multiply(Wide::of(b));
    if !finite(&[a, b]) || product.mantissa == 0 {
        return special(a * b, format);
    }
    product.round(format, mode)
}

/// a / b, rounded once.
pub(super) fn quotient(a: f64, b: f64, format: Format, mode: Mode) -> u64 {
    if !finite(&[a, b]) || a == 0.0 || b == 0.0 {
        return special(a / b, format);
    }
    Wide::of(a).divide(Wide::of(b)).round(format, mode)
}

/// The square root, rounded once.
pub(super) fn root(a: f64, format: Format, mode: Mode) -> u64 {
    if !a.is_finite() || a <= 0.0 {
        return special(a.sqrt(), format);
    }
    Wide::of(a).root().round(format, mode)
}
