//! Numbers as PTX writes them.

use super::ast::Immediate;

/// The value of a literal, `negative` if a minus sign stands before it; none if it is no number of
/// PTX, or does not fit 64 bits.
pub(super) fn parse(text: &str, negative: bool) -> Option<Immediate> {
    let hex = |digits: &str, length: usize| {
        (digits.len() == length && digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten()
    };
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => {
            let bits = u32::try_from(hex(text.get(2..)?, 8)?).ok()?;
            return Some(Immediate::F32(bits ^ u32::from(negative) << 31));
        }
        [b'0', b'd' | b'D', ..] => {
            let bits = hex(text.get(2..)?, 16)?;
            return Some(Immediate::F64(bits ^ u64::from(negative) << 63));
        }
        _ => {}
    }
    let marked = text.strip_suffix(['U', 'u']);
    let digits = marked.unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (digits.get(2..)?, 16),
        [b'0', b'b' | b'B', ..] => (digits.get(2..)?, 2),
        [b'0', _, ..] if digits.bytes().all(|b| b.is_ascii_digit()) => (digits.get(1..)?, 8),
        _ => (digits, 10),
    };
    let is_integer = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    if is_integer {
        let size = u64::from_str_radix(digits, radix).ok()?;
        // What does not fit a signed number is unsigned.
        let most = i64::MAX as u64 + u64::from(negative);
        return Some(Immediate::Int {
            bits: if negative { size.wrapping_neg() } else { size },
            unsigned: marked.is_some() || size > most,
        });
    }
    let is_float = radix == 10
        && marked.is_none()
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    if !is_float {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|v: &f64| v.is_finite())?;
    Some(Immediate::F64(value.to_bits() ^ u64::from(negative) << 63))
}
