//! Lanes as numbers, and functions of numbers as functions of rows.

use crate::emulator::{LANES, Mask, Row};

/// An integer of a register.
pub(super) trait Int: Copy + Ord {
    const BITS: u32;
    /// Reads a number from the low bits of a register.
    fn read(bits: u64) -> Self;
    /// Zero-extended.
    fn write(self) -> u64;
    fn wide(self) -> i128;
    /// The low bits.
    fn wrap(wide: i128) -> Self;
    /// The nearest.
    fn saturate(wide: i128) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}

macro_rules! int {
    ($($ty:ident $unsigned:ident),*) => {$(
        impl Int for $ty {
            const BITS: u32 = $ty::BITS;
            #[inline(always)]
            fn read(bits: u64) -> Self {
                bits as $ty
            }
            #[inline(always)]
            fn write(self) -> u64 {
                self as $unsigned as u64
            }
            #[inline(always)]
            fn wide(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            fn wrap(wide: i128) -> Self {
                wide as $ty
            }
            #[inline(always)]
            fn saturate(wide: i128) -> Self {
                wide.clamp($ty::MIN as i128, $ty::MAX as i128) as $ty
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

int!(u8 u8, u16 u16, u32 u32, u64 u64);
int!(i8 u8, i16 u16, i32 u32, i64 u64);

#[inline(always)]
pub(super) fn each(d: &mut Row, a: &Row, b: &Row, c: &Row, f: impl Fn(u64, u64, u64) -> u64) {
    for lane in 0..LANES {
        d[lane] = f(a[lane], b[lane], c[lane]);
    }
}

#[inline(always)]
pub(super) fn each1(d: &mut Row, a: &Row, f: impl Fn(u64) -> u64) {
    for lane in 0..LANES {
        d[lane] = f(a[lane]);
    }
}

#[inline(always)]
pub(super) fn each2(d: &mut Row, a: &Row, b: &Row, f: impl Fn(u64, u64) -> u64) {
    for lane in 0..LANES {
        d[lane] = f(a[lane], b[lane]);
    }
}

#[inline(always)]
pub(super) fn each4(d: &mut Row, [a, b, c, e]: [&Row; 4], f: impl Fn(u64, u64, u64, u64) -> u64) {
    for lane in 0..LANES {
        d[lane] = f(a[lane], b[lane], c[lane], e[lane]);
    }
}

#[inline(always)]
pub(super) fn test(a: &Row, b: &Row, f: impl Fn(u64, u64) -> bool) -> Mask {
    let mut mask = 0;
    for lane in 0..LANES {
        mask |= Mask::from(f(a[lane], b[lane])) << lane;
    }
    mask
}

/// A function of one, two or three lanes as a [`super::Kind::Value`]; it may use nothing but its arguments
/// and constants.
macro_rules! value {
    (|$a:ident| $f:expr) => {
        $crate::emulator::alu::Kind::Value(|d, a, _, _| {
            $crate::emulator::alu::scalar::each1(d, a, |$a: u64| -> u64 { $f })
        })
    };
    (|$a:ident, $b:ident| $f:expr) => {
        $crate::emulator::alu::Kind::Value(|d, a, b, _| {
            $crate::emulator::alu::scalar::each2(d, a, b, |$a: u64, $b: u64| -> u64 { $f })
        })
    };
    (|$a:ident, $b:ident, $c:ident| $f:expr) => {
        $crate::emulator::alu::Kind::Value(|d, a, b, c| {
            $crate::emulator::alu::scalar::each(d, a, b, c, |$a: u64, $b: u64, $c: u64| -> u64 {
                $f
            })
        })
    };
}

/// A function of four lanes as a [`super::Kind::Value4`].
macro_rules! value4 {
    (|$a:ident, $b:ident, $c:ident, $e:ident| $f:expr) => {
        $crate::emulator::alu::Kind::Value4(|d, a, b, c, e| {
            $crate::emulator::alu::scalar::each4(
                d,
                [a, b, c, e],
                |$a: u64, $b: u64, $c: u64, $e: u64| -> u64 { $f },
            )
        })
    };
}

/// The expression with `$T` the Rust type of a PTX integer type; one for each of those listed.
macro_rules! by_int {
    ($ty:expr, $T:ident of { $($ptx:ident => $rust:ty),* $(,)? }, $body:expr, else $other:expr) => {
        match $ty {
            $(crate::ptx::Type::$ptx => { #[allow(dead_code)] type $T = $rust; $body })*
            _ => $other,
        }
    };
    ($ty:expr, $T:ident, $body:expr, else $other:expr) => {
        $crate::emulator::alu::scalar::by_int!($ty, $T of {
            U16 => u16, U32 => u32, U64 => u64, S16 => i16, S32 => i32, S64 => i64,
        }, $body, else $other)
    };
}

/// The expression once with each value of a flag as the constant `$NAME`.
macro_rules! by_flag {
    ($($flag:expr => $NAME:ident),+; $body:expr) => {
        $crate::emulator::alu::scalar::by_flag!(@ [$($flag => $NAME),+] $body)
    };
    (@ [$flag:expr => $NAME:ident $(, $more:expr => $MORE:ident)*] $body:expr) => {
        if $flag {
            #[allow(dead_code)]
            const $NAME: bool = true;
            $crate::emulator::alu::scalar::by_flag!(@ [$($more => $MORE),*] $body)
        } else {
            #[allow(dead_code)]
            const $NAME: bool = false;
            $crate::emulator::alu::scalar::by_flag!(@ [$($more => $MORE),*] $body)
        }
    };
    (@ [] $body:expr) => { $body };
}

/// The expression once with each direction of rounding as the constant `$NAME`.
macro_rules! by_mode {
    ($mode:expr => $NAME:ident; $body:expr) => {{
        use $crate::emulator::alu::Mode;
        match $mode {
            Mode::Rz => {
                const $NAME: Mode = Mode::Rz;
                $body
            }
            Mode::Rm => {
                const $NAME: Mode = Mode::Rm;
                $body
            }
            Mode::Rp => {
                const $NAME: Mode = Mode::Rp;
                $body
            }
            Mode::Rn | Mode::Rna => {
                const $NAME: Mode = Mode::Rn;
                $body
            }
        }
    }};
}

pub(super) use {by_flag, by_int, by_mode, value, value4};
