//! Types of numbers as the command line names them, and their bytes.

use std::fmt;

use cute_runtime::element::Element;
use cute_runtime::{HostTensor, Parsed};

/// A type of numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Bits of an integer, and whether it has a sign.
    Integer {
        bytes: usize,
        signed: bool,
    },
    Float(Element),
}

/// Names, the first of each type being the one that is printed.
const NAMES: [(&str, Type); 23] = {
    const fn integer(bytes: usize, signed: bool) -> Type {
        Type::Integer { bytes, signed }
    }
    [
        ("u8", integer(1, false)),
        ("u16", integer(2, false)),
        ("u32", integer(4, false)),
        ("u64", integer(8, false)),
        ("i8", integer(1, true)),
        ("i16", integer(2, true)),
        ("i32", integer(4, true)),
        ("i64", integer(8, true)),
        ("b8", integer(1, false)),
        ("b16", integer(2, false)),
        ("b32", integer(4, false)),
        ("b64", integer(8, false)),
        ("s8", integer(1, true)),
        ("s16", integer(2, true)),
        ("s32", integer(4, true)),
        ("s64", integer(8, true)),
        ("f16", Type::Float(Element::F16)),
        ("bf16", Type::Float(Element::Bf16)),
        ("tf32", Type::Float(Element::Tf32)),
        ("f32", Type::Float(Element::F32)),
        ("f64", Type::Float(Element::F64)),
        ("e4m3", Type::Float(Element::F8E4M3FN)),
        ("e5m2", Type::Float(Element::F8E5M2)),
    ]
};

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, ty)| ty == self);
        f.write_str(name.map_or("?", |(name, _)| name))
    }
}

impl Type {
    pub fn of(name: &str) -> Option<Type> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, ty)| *ty)
    }

    /// All names, for an error.
    pub fn names() -> String {
        NAMES.map(|(name, _)| name).join(", ")
    }

    pub fn bytes(self) -> usize {
        match self {
            Type::Integer { bytes, .. } => bytes,
            Type::Float(element) => element.size(),
        }
    }

    /// The bytes of a number that is written as text.
    pub fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let bad = || format!("expected a number of type {self}, found `{text}`");
        match self {
            Type::Integer { bytes, signed } => {
                let value = integer(text).ok_or_else(bad)?;
                let bits = 8 * bytes as u32;
                let (low, high) = match signed {
                    true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                    false => (0, (1i128 << bits) - 1),
                };
                // Bits written in hexadecimal are those of the type, whatever its sign.
                let fits = (low..=high).contains(&value)
                    || text.contains("0x") && value >= 0 && value < 1i128 << bits;
                if !fits {
                    return Err(format!(
                        "expected a number of type {self} ({low} to {high}), found {text}"
                    ));
                }
                Ok(value.to_le_bytes()[..bytes].to_vec())
            }
            Type::Float(element) => {
                if let Some(bits) = text.strip_prefix("0x") {
                    let bits = u64::from_str_radix(bits, 16).map_err(|_| bad())?;
                    let size = element.size();
                    if size < 8 && bits >> (8 * size) != 0 {
                        return Err(format!("expected {size} bytes of {self}, found {text}"));
                    }
                    return Ok(bits.to_le_bytes()[..size].to_vec());
                }
                let value: f64 = text.parse().map_err(|_| bad())?;
                self.of_f64(value).ok_or_else(bad)
            }
        }
    }

    /// The bytes of a number, rounded to the type; none of an integer that the type does not hold.
    pub fn of_f64(self, value: f64) -> Option<Vec<u8>> {
        match self {
            Type::Float(Element::F32) => Some((value as f32).to_le_bytes().to_vec()),
            Type::Float(Element::F64) => Some(value.to_le_bytes().to_vec()),
            Type::Float(element) => {
                let mut tensor = HostTensor::zeroed(element, Parsed::parse("1:1").ok()?).ok()?;
                tensor.set(0, value);
                Some(tensor.bytes().to_vec())
            }
            Type::Integer { .. } => {
                let whole = value.fract() == 0.0 && value.abs() < 9.0e18;
                whole.then(|| self.parse(&format!("{value:.0}")).ok())?
            }
        }
    }

    /// The value of an element as text.
    pub fn show(self, bytes: &[u8]) -> String {
        match self {
            Type::Integer { .. } => self.integer(bytes).to_string(),
            Type::Float(_) => self.to_f64(bytes).to_string(),
        }
    }

    fn integer(self, bytes: &[u8]) -> i128 {
        let mut all = [0; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        let value = i128::from_le_bytes(all);
        let bits = 8 * bytes.len() as u32;
        match self {
            Type::Integer { signed: true, .. } if value >> (bits - 1) & 1 == 1 => {
                value - (1i128 << bits)
            }
            _ => value,
        }
    }

    /// The value of an element; integers beyond 2^53 are rounded.
    pub fn to_f64(self, bytes: &[u8]) -> f64 {
        let Type::Float(element) = self else {
            return self.integer(bytes) as f64;
        };
        let layout = Parsed::parse("1:1").ok();
        let tensor = layout.and_then(|layout| HostTensor::zeroed(element, layout).ok());
        tensor.map_or(f64::NAN, |mut tensor| {
            tensor.bytes_mut().copy_from_slice(bytes);
            tensor.get(0).unwrap_or(f64::NAN)
        })
    }

    /// NumPy's name of the type that holds it in files: what NumPy has no type for is float32.
    pub fn descr(self) -> &'static str {
        match self {
            Type::Integer {
                bytes: 1,
                signed: false,
            } => "|u1",
            Type::Integer {
                bytes: 1,
                signed: true,
            } => "|i1",
            Type::Integer {
                bytes: 2,
                signed: false,
            } => "<u2",
            Type::Integer {
                bytes: 2,
                signed: true,
            } => "<i2",
            Type::Integer {
                bytes: 4,
                signed: false,
            } => "<u4",
            Type::Integer {
                bytes: 4,
                signed: true,
            } => "<i4",
            Type::Integer { signed: false, .. } => "<u8",
            Type::Integer { signed: true, .. } => "<i8",
            Type::Float(Element::F16) => "<f2",
            Type::Float(Element::F64) => "<f8",
            Type::Float(_) => "<f4",
        }
    }

    /// The type of the elements of a file; none for one that NumPy has and this has not.
    pub fn of_descr(descr: &str) -> Option<Type> {
        if descr == "|b1" {
            return Type::of("u8");
        }
        let mut all = NAMES.iter().map(|(_, ty)| *ty);
        all.find(|ty| !ty.is_converted() && ty.descr() == descr)
    }

    /// Tells whether files hold its elements as another type.
    pub fn is_converted(self) -> bool {
        matches!(self, Type::Float(element) if !matches!(element, Element::F16 | Element::F32 | Element::F64))
    }
}

/// An integer, decimal or hexadecimal.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) if !digits.starts_with(['+', '-']) => i128::from_str_radix(digits, 16).ok()?,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok()?,
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_bytes_of_their_type() {
        for (ty, text, bytes) in [
            ("u8", "255", &[255][..]),
            ("s8", "-128", &[128]),
            ("s32", "0xffffffff", &[255; 4]),
            ("u64", "18446744073709551615", &[255; 8]),
            ("f16", "1", &[0, 0x3c]),
            ("bf16", "1", &[0x80, 0x3f]),
            ("f32", "-0", &[0, 0, 0, 0x80]),
            ("f32", "0x7fc00001", &[1, 0, 0xc0, 0x7f]),
            ("e4m3", "1", &[0x38]),
        ] {
            assert_eq!(Type::of(ty).unwrap().parse(text).unwrap(), bytes, "{text}");
        }
        let one = cute_runtime::Number::Real(1.0);
        let tensor = HostTensor::scalar(Element::F16, one).unwrap();
        assert_eq!(tensor.bytes(), Type::of("f16").unwrap().parse("1").unwrap());
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (ty, text) in [
            ("u8", "256"),
            ("u8", "-1"),
            ("s8", "0x100"),
            ("u32", "1.5"),
            ("u32", "+1"),
            ("u32", ""),
            ("f32", "x"),
            ("f32", ""),
            ("f16", "0x10000"),
        ] {
            let error = Type::of(ty).unwrap().parse(text).unwrap_err();
            assert!(error.starts_with("expected"), "{ty} {text}: {error}");
        }
    }

    #[test]
    fn elements_are_shown_as_they_were_written() {
        for (ty, text) in [
            ("i16", "-7"),
            ("u64", "18446744073709551615"),
            ("bf16", "-1.5"),
        ] {
            let ty = Type::of(ty).unwrap();
            assert_eq!(ty.show(&ty.parse(text).unwrap()), text);
        }
        assert_eq!(Type::of_descr("<f4"), Type::of("f32"));
        assert_eq!(Type::of_descr("<i2"), Type::of("i16"));
        assert_eq!(Type::of_descr("<c8"), None);
    }
}
