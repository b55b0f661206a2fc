//! Floating-point formats, and rounding into them.

/// The direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum Mode {
    /// The nearest number, ties to even.
    Rn,
    /// The nearest number, ties away from zero.
    Rna,
    Rz,
    /// Down.
    Rm,
    /// Up.
    Rp,
}

/// A binary floating-point format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the significand that are written.
    pub mantissa: u32,
    /// The bits of infinity; where the format has none, the first pattern above the finite ones.
    pub above: u64,
    /// The NaN that instructions make.
    pub nan: u64,
    pub has_infinity: bool,
}

impl Format {
    pub(crate) const F16: Format = Format::ieee(5, 10, 0x7fff);
    pub(crate) const BF16: Format = Format::ieee(8, 7, 0x7fff);
    /// Without the 13 low bits of the register.
    pub(crate) const TF32: Format = Format::ieee(8, 10, 0x3ffff);
    pub(crate) const F32: Format = Format::ieee(8, 23, 0x7fff_ffff);
    pub(crate) const F64: Format = Format::ieee(11, 52, 0xfff8_0000_0000_0000);
    pub(crate) const E5M2: Format = Format::ieee(5, 2, 0x7f);
    pub(crate) const E4M3: Format = Format {
        exponent: 4,
        mantissa: 3,
        above: 0x7f,
        nan: 0x7f,
        has_infinity: false,
    };

    const fn ieee(exponent: u32, mantissa: u32, nan: u64) -> Format {
        Format {
            exponent,
            mantissa,
            above: ((1 << exponent) - 1) << mantissa,
            nan,
            has_infinity: true,
        }
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub(crate) const fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// The bits of the largest finite number.
    pub(crate) const fn max(self) -> u64 {
        self.above - 1
    }
}

/// The bits of a number in a format. A NaN is the format's; the sign of zero stays; what is too large is
/// infinite, or the largest number where the direction or the format says so.
#[inline]
pub(in crate::emulator) fn narrow(x: f64, format: Format, mode: Mode) -> u64 {
    let bits = x.to_bits();
    let negative = bits >> 63 == 1;
    let sign = if negative { format.sign() } else { 0 };
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    match exponent {
        0 if mantissa == 0 => sign,
        0 => normalise(negative, mantissa, -1074, format, mode),
        0x7ff if mantissa != 0 => format.nan,
        0x7ff if format.has_infinity => sign | format.above,
        0x7ff => sign | format.max(),
        _ => round(
            negative,
            mantissa << 11 | 1 << 63,
            exponent - 1023,
            format,
            mode,
        ),
    }
}

/// The bits of mantissa * 2^exponent, where the mantissa is not 0.
#[inline]
pub(super) fn normalise(
    negative: bool,
    mantissa: u64,
    exponent: i32,
    format: Format,
    mode: Mode,
) -> u64 {
    let spare = mantissa.leading_zeros();
    round(
        negative,
        mantissa << spare,
        exponent - spare as i32 + 63,
        format,
        mode,
    )
}

/// The bits of mantissa * 2^(exponent - 63), where the mantissa's highest bit is set. Its lowest bit may stand for
/// all those below it.
#[inline]
pub(super) fn round(
    negative: bool,
    mantissa: u64,
    exponent: i32,
    format: Format,
    mode: Mode,
) -> u64 {
    let smallest = 1 - format.bias();
    let dropped = 63 - format.mantissa + (smallest - exponent).clamp(0, 64) as u32;
    // What is kept, and what is dropped in units of half of its last place: below, at or above one.
    let (kept, rest) = match dropped {
        0..64 => (
            mantissa >> dropped,
            (mantissa << (64 - dropped)).cmp(&(1 << 63)),
        ),
        64 => (0, mantissa.cmp(&(1 << 63))),
        _ => (0, std::cmp::Ordering::Less),
    };
    let exact = dropped < 64 && mantissa << (64 - dropped) == 0;
    let up = !exact
        && match mode {
            Mode::Rn => rest.is_gt() || rest.is_eq() && kept & 1 == 1,
            Mode::Rna => rest.is_ge(),
            Mode::Rz => false,
            Mode::Rm => negative,
            Mode::Rp => !negative,
        };
    // A carry goes into the exponent, as it should; a hidden bit counts as one.
    let start = u64::from((exponent - smallest).max(0).unsigned_abs()) << format.mantissa;
    let magnitude = start + kept + u64::from(up);
    let magnitude = if magnitude < format.above {
        magnitude
    } else {
        let infinite = match mode {
            Mode::Rn | Mode::Rna => true,
            Mode::Rz => false,
            Mode::Rm => negative,
            Mode::Rp => !negative,
        };
        match infinite && format.has_infinity {
            true => format.above,
            false => format.max(),
        }
    };
    magnitude | if negative { format.sign() } else { 0 }
}

/// The number that bits of a format mean, exactly.
#[inline]
pub(in crate::emulator) const fn from_bits(bits: u64, format: Format) -> f64 {
    let magnitude = bits & (format.sign() - 1);
    let sign = bits & format.sign();
    let number = if magnitude >= format.above {
        match format.has_infinity && magnitude == format.above {
            true => f64::INFINITY,
            false => f64::NAN,
        }
    } else {
        let exponent = (magnitude >> format.mantissa) as i32;
        let mantissa = magnitude & ((1 << format.mantissa) - 1);
        let hidden = if exponent == 0 {
            0
        } else {
            1 << format.mantissa
        };
        let exponent = if exponent == 0 { 1 } else { exponent };
        let scale = exponent - format.bias() - format.mantissa as i32;
        (mantissa | hidden) as f64 * power(scale)
    };
    if sign == 0 { number } else { -number }
}

/// 2^exponent, for exponents of normal numbers.
#[inline(always)]
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The `f16` in the low bits of a register, exactly: by multiplication, which the compiler vectorises.
#[inline(always)]
pub(in crate::emulator) fn f16_to_f64(bits: u64) -> f64 {
    let number = f64::from_bits((bits & 0x7fff) << 42) * f64::from_bits((1023 + 1008) << 52);
    // Infinity and NaNs have the format's highest exponent.
    let special = if number >= 65536.0 { 0x7ff << 52 } else { 0 };
    f64::from_bits(number.to_bits() | special | (bits & 0x8000) << 48)
}

/// The `f16` in the low bits, exactly, as by [`f16_to_f64`].
#[inline(always)]
pub(super) fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let number = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let special = if number >= 65536.0 { 0x7f80_0000 } else { 0 };
    f32::from_bits(number.to_bits() | special | u32::from(bits & 0x8000) << 16)
}

/// A `bf16` of a register, exactly.
#[inline(always)]
pub(in crate::emulator) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// a + b, and if that is not exact, of its two neighbours the one whose last bit is 1: rounding that again to
/// 51 bits or fewer gives what rounding the exact sum gives. For sums that are far from overflow.
#[inline(always)]
pub(in crate::emulator) fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let of_b = sum - a;
    let error = (a - (sum - of_b)) + (b - of_b);
    odd(sum, error)
}

/// A number rounded to nearest, and the sign of what is missing, as a number whose last bit says that it is not exact.
#[inline(always)]
pub(in crate::emulator) fn odd(nearest: f64, error: f64) -> f64 {
    let bits = nearest.to_bits();
    // The error of infinities is NaN.
    let inexact = error.abs() > 0.0;
    let towards_zero = (error < 0.0) != (nearest < 0.0);
    let fixed = if towards_zero { bits - 1 } else { bits | 1 };
    let fix = inexact && bits & 1 == 0;
    f64::from_bits(if fix { fixed } else { bits })
}
