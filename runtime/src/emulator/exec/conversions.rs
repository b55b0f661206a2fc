//! The conversions of `printf`, as C has them.

/// The most characters that a width or a precision asks for; more would fill memory.
const MOST: usize = 1 << 10;

/// A conversion: `%-8.3f`.
#[derive(Debug, Default)]
pub(super) struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// The length modifier: `hh`, `ll`.
    size: String,
    pub conversion: char,
}

impl Spec {
    /// Reads what stands behind a `%`; returns its length, too. `star` gives the arguments for widths and precisions. None if it is no conversion.
    pub(super) fn read(text: &str, mut star: impl FnMut() -> i32) -> Option<(Spec, usize)> {
        let mut spec = Spec::default();
        let mut rest = text;
        let take = |rest: &mut &str, is: fn(char) -> bool| {
            let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
            let (taken, others) = rest.split_at(end);
            *rest = others;
            taken.to_string()
        };
        for flag in take(&mut rest, |c| "-+ #0".contains(c)).chars() {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alternate = true,
                _ => spec.zero = true,
            }
        }
        // An argument is taken only once it is known that this is a conversion.
        let number = |rest: &mut &str| match rest.strip_prefix('*') {
            Some(others) => {
                *rest = others;
                None
            }
            None => Some(take(rest, |c| c.is_ascii_digit()).parse().unwrap_or(0)),
        };
        let width: Option<i32> = number(&mut rest);
        let precision = rest.strip_prefix('.').map(|others| {
            rest = others;
            number(&mut rest)
        });
        spec.size = take(&mut rest, |c| "hlqjzt".contains(c));
        spec.conversion = rest
            .chars()
            .next()
            .filter(|c| "diuxXocpsfFeEgGaA%".contains(*c))?;
        let mut given = |number: Option<i32>| number.unwrap_or_else(&mut star);
        let width = given(width);
        spec.left |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(MOST);
        let precision = precision.map(given);
        let precision = precision.and_then(|precision| usize::try_from(precision).ok());
        spec.precision = precision.map(|precision| precision.min(MOST));
        Some((spec, text.len() - rest.len() + 1))
    }

    fn is_integer(&self) -> bool {
        "diuxXoc".contains(self.conversion)
    }

    /// The bytes of the argument.
    pub(super) fn bytes(&self) -> u64 {
        match self.is_integer() && !self.size.contains(['l', 'q', 'j', 'z', 't']) {
            true => 4,
            false => 8,
        }
    }

    /// A text, of which the precision is the most bytes.
    pub(super) fn text(&self, text: &str) -> String {
        let most = self.precision.unwrap_or(text.len()).min(text.len());
        let text = String::from_utf8_lossy(&text.as_bytes()[..most]);
        self.padded("", &text, false)
    }

    /// A number of [`Spec::bytes`].
    pub(super) fn number(&self, value: u64) -> String {
        match self.conversion {
            'c' => self.padded("", &char::from(value as u8).to_string(), false),
            'p' => self.padded("", &format!("{value:#x}"), false),
            _ if self.is_integer() => self.integer(value),
            _ => self.real(f64::from_bits(value)),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        }
    }

    fn integer(&self, value: u64) -> String {
        let bits = match self.size.as_str() {
            "hh" => 8,
            "h" => 16,
            _ => 8 * self.bytes() as u32,
        };
        let value = value << (64 - bits) >> (64 - bits);
        let signed = (value << (64 - bits)) as i64 >> (64 - bits);
        let (mut sign, mut digits) = match self.conversion {
            'd' | 'i' => (self.sign(signed < 0), signed.unsigned_abs().to_string()),
            'x' => ("", format!("{value:x}")),
            'X' => ("", format!("{value:X}")),
            'o' => ("", format!("{value:o}")),
            _ => ("", value.to_string()),
        };
        if self.precision == Some(0) && value == 0 {
            digits.clear();
        }
        let least = self.precision.unwrap_or(0);
        digits.insert_str(0, &"0".repeat(least.saturating_sub(digits.len())));
        match self.conversion {
            'x' if self.alternate && value != 0 => sign = "0x",
            'X' if self.alternate && value != 0 => sign = "0X",
            'o' if self.alternate && !digits.starts_with('0') => digits.insert(0, '0'),
            _ => {}
        }
        self.padded(sign, &digits, self.zero && self.precision.is_none())
    }

    fn real(&self, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        let text = match self.conversion.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_string(),
            _ if value.is_infinite() => "inf".to_string(),
            'e' => self.scientific(magnitude, self.precision.unwrap_or(6)),
            'g' => self.shorter(magnitude),
            'a' => self.hexadecimal(magnitude),
            _ => self.pointed(format!("{magnitude:.*}", self.precision.unwrap_or(6))),
        };
        let text = match self.conversion.is_ascii_uppercase() {
            true => text.to_ascii_uppercase(),
            false => text,
        };
        let zeros = self.zero && value.is_finite();
        match text
            .get(..2)
            .filter(|start| start.eq_ignore_ascii_case("0x"))
        {
            Some(start) => self.padded(&format!("{sign}{start}"), &text[2..], zeros),
            None => self.padded(sign, &text, zeros),
        }
    }

    /// Digits with a point, if one is asked for.
    fn pointed(&self, digits: String) -> String {
        match self.alternate && !digits.contains('.') {
            true => digits + ".",
            false => digits,
        }
    }

    fn scientific(&self, value: f64, precision: usize) -> String {
        let (mantissa, power) = exponent(value, precision);
        format!("{}{}", self.pointed(mantissa), powered('e', power, 2))
    }

    /// `%g`: the form that is shorter, without zeros at the end.
    fn shorter(&self, value: f64) -> String {
        let digits = self.precision.unwrap_or(6).max(1);
        let (mantissa, power) = exponent(value, digits - 1);
        let trim = |text: String| match (self.alternate, text.contains('.')) {
            (true, _) => self.pointed(text),
            (false, true) => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            (false, false) => text,
        };
        match power < -4 || power >= digits as i32 {
            true => format!("{}{}", trim(mantissa), powered('e', power, 2)),
            false => {
                let behind = (digits as i32 - 1 - power).max(0) as usize;
                trim(format!("{value:.behind$}"))
            }
        }
    }

    /// `%a`: `0x1.8p+0`.
    fn hexadecimal(&self, value: f64) -> String {
        let bits = value.to_bits();
        let (exponent, mut mantissa) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let power = match exponent {
            0 if mantissa == 0 => 0,
            0 => -1022,
            _ => exponent - 1023,
        };
        mantissa |= u64::from(exponent != 0) << 52;
        if let Some(precision) = self.precision.filter(|&precision| precision < 13) {
            // To the nearest, and to the even one of two.
            let cut = 52 - 4 * precision as u32;
            let (kept, rest) = (mantissa >> cut, mantissa & ((1 << cut) - 1));
            let half = 1 << (cut - 1);
            let up = rest > half || rest == half && kept & 1 != 0;
            mantissa = (kept + u64::from(up)) << cut;
        }
        let mut digits = format!("{:013x}", mantissa & ((1 << 52) - 1));
        match self.precision {
            None => digits.truncate(digits.trim_end_matches('0').len()),
            Some(precision) => {
                digits.truncate(precision);
                digits.push_str(&"0".repeat(precision.saturating_sub(13)));
            }
        }
        let point = if digits.is_empty() { "" } else { "." };
        let front = self.pointed(format!("{:x}{point}{digits}", mantissa >> 52));
        format!("0x{front}{}", powered('p', power, 1))
    }

    /// A sign or a prefix and what follows, filled up to the width.
    fn padded(&self, sign: &str, body: &str, zeros: bool) -> String {
        let length = sign.len() + body.chars().count();
        let fill = self.width.saturating_sub(length);
        match (self.left, zeros) {
            (true, _) => format!("{sign}{body}{}", " ".repeat(fill)),
            (_, true) => format!("{sign}{}{body}", "0".repeat(fill)),
            _ => format!("{}{sign}{body}", " ".repeat(fill)),
        }
    }
}

/// The digits and the power of ten of a number, with so many digits behind the point.
fn exponent(value: f64, digits: usize) -> (String, i32) {
    let text = format!("{value:.digits$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_string(), power.parse().unwrap_or(0))
}

/// A power with its sign, of so many digits at least: `e-07`.
fn powered(letter: char, power: i32, digits: usize) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:0digits$}", power.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that one conversion makes of a value; stars are given in their order.
    fn print(format: &str, value: u64, stars: &[i32]) -> String {
        let mut stars = stars.iter();
        let (spec, length) = Spec::read(format, || *stars.next().unwrap()).unwrap();
        assert_eq!(length, format.len());
        spec.number(value)
    }

    #[test]
    fn numbers_look_as_c_prints_them() {
        let real = |format: &str, value: f64| print(format, value.to_bits(), &[]);
        assert_eq!(real("f", 1.5), "1.500000");
        assert_eq!(real(".2e", 1.0e-7), "1.00e-07");
        assert_eq!(real("g", 100000.0), "100000");
        assert_eq!(real("g", 1000000.0), "1e+06");
        assert_eq!(real("g", 0.25), "0.25");
        assert_eq!(real("#g", 0.25), "0.250000");
        assert_eq!(real("f", f64::NEG_INFINITY), "-inf");
        assert_eq!(real("05F", f64::INFINITY), "  INF");
        assert_eq!(real("+08.2f", 2.625), "+0002.62");
        assert_eq!(real("#.0f", 3.0), "3.");
        assert_eq!(real("G", 1e-10), "1E-10");
        assert_eq!(real("a", 1.5), "0x1.8p+0");
        assert_eq!(real(".1a", 1.96875), "0x2.0p+0");
        assert_eq!(real("A", -0.1), "-0X1.999999999999AP-4");
        assert_eq!(real("012a", 0.0), "0x0000000p+0");
        let integer = |format: &str, value: i64| print(format, value as u64, &[]);
        assert_eq!(integer("04d", -7), "-007");
        assert_eq!(integer("-3d", 7), "7  ");
        assert_eq!(integer("3d", 7), "  7");
        assert_eq!(integer("+d", 42), "+42");
        assert_eq!(integer(" d", 7), " 7");
        assert_eq!(integer("#x", 255), "0xff");
        assert_eq!(integer("#08X", 255), "0X0000FF");
        assert_eq!(integer("#o", 8), "010");
        assert_eq!(integer("08.3d", 5), "     005");
        assert_eq!(integer(".0d", 0), "");
        assert_eq!(integer("hhd", 0x1ff), "-1");
        assert_eq!(integer("hu", 0x1_0005), "5");
        assert_eq!(integer("lld", -1 << 40), "-1099511627776");
        assert_eq!(integer("3c", 65), "  A");
        assert_eq!(print("*d", 3, &[6]), "     3");
        assert_eq!(print("*.*d", 3, &[-6, 2]), "03    ");
        let (spec, _) = Spec::read("5.2s", || 0).unwrap();
        assert_eq!(spec.text("abc"), "   ab");
        assert!(Spec::read("5", || 0).is_none());
    }
}
