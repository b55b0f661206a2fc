//! The notation of arguments and of memory.
//!
//! ```text
//! argument  TYPE=NUMBER                u32=1024, f32=-1.5, f16=0x3c00
//!           bytes=HEX                  bytes=00ff10
//!           &NAME, &NAME+BYTES         a pointer into named memory
//!           {ARGUMENT, ...}            a structure by value, laid out as C does
//!           MEMORY                     a pointer to memory of its own
//! memory    TYPE[SIZES]                f32[64,128]: nobody has written it
//!           TYPE[SIZES]=FILL           f32[1024]=iota
//!           FILE.npy                   the array of a file, of its type
//! fill      NUMBER, iota, random, random(LOW,HIGH), FILE.npy, {NUMBER or &NAME, ...}
//! ```

use std::path::PathBuf;

use super::types::{self, Type};

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Number(Vec<u8>),
    Bytes(Vec<u8>),
    Pointer(Pointer),
    Structure(Vec<Argument>),
    Memory(Memory),
}

/// An address in named memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    pub name: String,
    pub offset: i64,
}

/// Memory and what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Type and sizes; those of the file where there are none.
    pub is: Option<(Type, Vec<u64>)>,
    pub fill: Fill,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    Nothing,
    Number(Vec<u8>),
    /// 0, 1, 2, ...
    Iota,
    /// Normal numbers, or integers from -8 to 7 (without a sign: 0 to 15).
    Random,
    /// Between two numbers: integers with both, others without the second.
    Between(f64, f64),
    File(PathBuf),
    List(Vec<Item>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Number(Vec<u8>),
    Pointer(Pointer),
}

type Result<T> = std::result::Result<T, String>;

/// Bytes of a memory, at most.
const MAX_BYTES: u64 = 1 << 30;
/// Structures in structures, at most.
const MAX_DEPTH: u32 = 16;

const EXPECTED: &str = "expected an argument, such as u32=1024, f32[64,128]=random, x.npy, &x+16, {s32=1, &x} or bytes=00ff";

pub fn argument(text: &str) -> Result<Argument> {
    nested(text, 0)
}

fn nested(text: &str, depth: u32) -> Result<Argument> {
    let text = text.trim();
    if depth > MAX_DEPTH {
        return Err(format!("expected structures at most {MAX_DEPTH} deep"));
    }
    if text.starts_with('&') {
        return pointer(text).map(Argument::Pointer);
    }
    if let Some(inside) = text.strip_prefix('{') {
        let parts = list(inside, text)?;
        let parts = parts.into_iter().map(|part| nested(part, depth + 1));
        return Ok(Argument::Structure(parts.collect::<Result<_>>()?));
    }
    if let Some(hex) = text.strip_prefix("bytes=") {
        return Ok(Argument::Bytes(bytes(hex)?));
    }
    if let Some((name, value)) = text.split_once('=')
        && let Some(ty) = Type::of(name.trim())
    {
        return Ok(Argument::Number(ty.parse(value.trim())?));
    }
    if text.contains('[') || is_file(text) {
        return memory(text).map(Argument::Memory);
    }
    Err(format!("{EXPECTED}; found `{text}`"))
}

pub fn memory(text: &str) -> Result<Memory> {
    let text = text.trim();
    let Some((ty, rest)) = text.split_once('[') else {
        if is_file(text) {
            return Ok(Memory {
                is: None,
                fill: Fill::File(text.into()),
            });
        }
        return Err(format!(
            "expected memory, such as f32[64,128]=random, u32[8] or x.npy; found `{text}`"
        ));
    };
    let Some(known) = Type::of(ty.trim()) else {
        return Err(format!(
            "expected a type ({}), found `{}`",
            Type::names(),
            ty.trim()
        ));
    };
    let Some((sizes, rest)) = rest.split_once(']') else {
        return Err(format!("expected ] after the sizes of `{text}`"));
    };
    let size = |size: &str| -> Result<u64> {
        let found = size.trim().parse().ok();
        found.ok_or_else(|| format!("expected sizes such as [64,128], found `{}`", size.trim()))
    };
    let sizes = sizes.split(',').map(size).collect::<Result<Vec<u64>>>()?;
    let element = known.bytes() as u64;
    let bytes = sizes
        .iter()
        .try_fold(element, |all, size| all.checked_mul(*size));
    if bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(format!(
            "expected at most {MAX_BYTES} bytes, found more in `{text}`"
        ));
    }
    let rest = rest.trim();
    let fill = match rest.strip_prefix('=') {
        Some(text) => fill(text, known)?,
        None if rest.is_empty() => Fill::Nothing,
        None => return Err(format!("expected = after the sizes, found `{rest}`")),
    };
    Ok(Memory {
        is: Some((known, sizes)),
        fill,
    })
}

/// The contents of memory of that type.
pub fn fill(text: &str, ty: Type) -> Result<Fill> {
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('{') {
        let item = |part: &str| -> Result<Item> {
            if !part.starts_with('&') {
                return ty.parse(part).map(Item::Number);
            }
            if ty.bytes() != 8 {
                return Err(format!(
                    "expected elements of 8 bytes for pointers, found {ty}"
                ));
            }
            pointer(part).map(Item::Pointer)
        };
        let items = list(inside, text)?.into_iter().map(item);
        return Ok(Fill::List(items.collect::<Result<_>>()?));
    }
    if let Some(limits) = text.strip_prefix("random(") {
        let limits = limits.strip_suffix(')').and_then(|limits| {
            let (low, high) = limits.split_once(',')?;
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            Some((number(low)?, number(high)?)).filter(|(low, high)| low <= high)
        });
        let (low, high) =
            limits.ok_or_else(|| format!("expected limits such as random(0,9), found `{text}`"))?;
        let fits = |limit: f64| ty.of_f64(limit).is_some();
        if !fits(low) || !fits(high) {
            return Err(format!("expected limits of type {ty}, found `{text}`"));
        }
        return Ok(Fill::Between(low, high));
    }
    Ok(match text {
        "iota" => Fill::Iota,
        "random" => Fill::Random,
        "none" => Fill::Nothing,
        _ if is_file(text) => Fill::File(text.into()),
        _ => Fill::Number(ty.parse(text).map_err(|error| {
            format!("{error}; a fill is a number, iota, random, random(LOW,HIGH), none, FILE.npy or {{...}}")
        })?),
    })
}

pub fn is_file(text: &str) -> bool {
    text.ends_with(".npy")
}

fn pointer(text: &str) -> Result<Pointer> {
    let bad = || format!("expected a pointer such as &x or &x+16, found `{text}`");
    let rest = text.strip_prefix('&').ok_or_else(bad)?;
    let at = rest.find(['+', '-']);
    let (name, offset) = rest.split_at(at.unwrap_or(rest.len()));
    let offset = match offset.strip_prefix('+').unwrap_or(offset) {
        "" => 0,
        offset => types::integer(offset)
            .and_then(|offset| i64::try_from(offset).ok())
            .ok_or_else(bad)?,
    };
    let name = name.trim();
    if name.is_empty() || rest.ends_with(['+', '-']) {
        return Err(bad());
    }
    Ok(Pointer {
        name: name.into(),
        offset,
    })
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let digits: Vec<u32> = hex
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("expected hexadecimal digits after bytes=, found `{hex}`"))?;
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return Err(format!("expected two digits for each byte, found `{hex}`"));
    }
    let pairs = digits.chunks_exact(2);
    Ok(pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

/// The parts of `a, {b, c}}`, which ends the text.
fn list<'t>(inside: &'t str, whole: &str) -> Result<Vec<&'t str>> {
    let bad = || format!("expected parts with commas between and }} at the end, found `{whole}`");
    let inside = inside.strip_suffix('}').ok_or_else(bad)?;
    let (mut depth, mut start) = (0i32, 0);
    let mut parts = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return Err(bad());
        }
    }
    parts.push(inside[start..].trim());
    if depth != 0 || parts.iter().any(|part| part.is_empty()) {
        return Err(bad());
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read() {
        let number = |value: u32| Argument::Number(value.to_le_bytes().to_vec());
        let to = |name: &str, offset| Pointer {
            name: name.into(),
            offset,
        };
        assert_eq!(argument("u32=7"), Ok(number(7)));
        assert_eq!(argument("&x-0x10"), Ok(Argument::Pointer(to("x", -16))));
        assert_eq!(argument("bytes=00 ff"), Ok(Argument::Bytes(vec![0, 255])));
        let structure = vec![
            number(1),
            Argument::Structure(vec![number(2), Argument::Pointer(to("y", 8))]),
        ];
        assert_eq!(
            argument("{u32=1, {u32=2, &y+8}}"),
            Ok(Argument::Structure(structure))
        );
        let f32 = Type::of("f32").unwrap();
        for (text, fill) in [
            ("f32[2,3]", Fill::Nothing),
            ("f32[2,3]=iota", Fill::Iota),
            ("f32[2,3] = random(-1, 1)", Fill::Between(-1.0, 1.0)),
            ("f32[2,3]=x.npy", Fill::File("x.npy".into())),
            ("f32[2,3]=0", Fill::Number(vec![0; 4])),
        ] {
            let is = Some((f32, vec![2, 3]));
            assert_eq!(
                argument(text),
                Ok(Argument::Memory(Memory { is, fill })),
                "{text}"
            );
        }
        let list = memory("u64[2]={&x, 0x10}").unwrap().fill;
        assert_eq!(
            list,
            Fill::List(vec![
                Item::Pointer(to("x", 0)),
                Item::Number(16u64.to_le_bytes().to_vec())
            ])
        );
    }

    #[test]
    fn other_text_is_refused() {
        for bad in [
            "",
            "7",
            "u32",
            "u32=",
            "u33=1",
            "u32[",
            "u32[]",
            "u32[-1]",
            "u32[4]7",
            "u32[4]=x",
            "u32[99999999999]",
            "q[4]",
            "&",
            "&+4",
            "&x+",
            "&x+y",
            "{",
            "{}",
            "{u32=1,}",
            "{u32=1}}",
            "{{u32=1}",
            "bytes=",
            "bytes=0",
            "bytes=0g",
            "u32[4]=random(1)",
            "u32[4]=random(2,1)",
            "u32[4]=random(0,0.5)",
            "u32[4]={&x}",
            "u32[4]={1,}",
            "f32[4]=random(nan,1)",
        ] {
            let error = argument(bad).unwrap_err();
            assert!(error.contains("expected"), "{bad}: {error}");
        }
        let deep = format!("{}u32=1{}", "{".repeat(99), "}".repeat(99));
        assert!(argument(&deep).unwrap_err().contains("deep"));
    }
}
