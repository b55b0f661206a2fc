//! Damaged packages: values of the manifest, bits, lengths. Checksums are made right, so that what is behind them is reached.

use crate::emulate::{self, Reached, SMALL};
use crate::random::Random;
use crate::seeds::Seed;
use cute_runtime::Package;
use cute_runtime::package::{BLOB_ALIGN, HEADER_LENGTH};
use serde_json::Value;

/// Integers at which something may change.
const NUMBERS: [i64; 20] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    16,
    31,
    32,
    64,
    255,
    1024,
    1025,
    65536,
    2147483647,
    2147483648,
    4294967296,
    1 << 40,
    i64::MAX,
    i64::MIN,
];

/// Texts that a field of a manifest may have.
const TEXTS: [&str; 26] = [
    "",
    "f16",
    "bf16",
    "f32",
    "f64",
    "i8",
    "i64",
    "tf32",
    "f8E4M3FN",
    "sm_80",
    "sm_90a",
    "sm_0",
    "k",
    "g",
    "read",
    "write",
    "read_write",
    "tensor",
    "scalar",
    "gemm",
    "(?,?):(?,1)",
    "(4,(2,2)):(1,(4,8))",
    "(1048576,1048576):(1048576,1)",
    "8:0",
    "(4294967296,4294967296):(0,0)",
    "?{i64 div=8}:1",
];

/// The bytes of an input.
pub fn input(seeds: &[Seed], seed: u64, index: u64) -> (usize, Vec<u8>) {
    let mut random = Random::of(seed, index);
    let which = random.below(seeds.len());
    let package = &seeds[which].package;
    let whole = package.to_bytes().unwrap_or_default();
    let bytes = match random.below(10) {
        0..=5 => values(package, &whole, &mut random),
        6 | 7 => bits(whole, &mut random),
        8 => cut(whole, &mut random),
        _ => header(whole, &mut random),
    };
    (which, bytes)
}

/// Opens an input and runs it.
pub fn execute(seeds: &[Seed], seed: u64, index: u64) -> Reached {
    let (which, bytes) = input(seeds, seed, index);
    match Package::from_bytes(&bytes) {
        Ok(package) => emulate::all(&package, &seeds[which].given, index, SMALL),
        Err(error) => {
            // What it says must be sayable.
            let _ = error.to_string();
            Reached::Opened
        }
    }
}

/// A manifest with one to four values changed.
fn values(package: &Package, whole: &[u8], random: &mut Random) -> Vec<u8> {
    let Ok(mut manifest) = serde_json::to_value(package.manifest()) else {
        return whole.to_vec();
    };
    for _ in 0..1 + random.below(4) {
        let mut count = 0;
        visit(&mut manifest, &mut |_, _| count += 1);
        let chosen = random.below(count);
        let other = {
            let mut other = Value::Null;
            let (which, mut at) = (random.below(count), 0);
            visit(&mut manifest, &mut |value, _| {
                if at == which {
                    other = value.clone();
                }
                at += 1;
            });
            other
        };
        let mut at = 0;
        visit(&mut manifest, &mut |value, depth| {
            if at == chosen {
                change(value, depth, &other, random);
            }
            at += 1;
        });
    }
    let blobs_at = blobs_at(whole);
    encode(
        &serde_json::to_vec(&manifest).unwrap_or_default(),
        &whole[blobs_at..],
    )
}

/// Calls `each` for every value of a manifest, outer ones last.
fn visit(value: &mut Value, each: &mut impl FnMut(&mut Value, usize)) {
    fn go(value: &mut Value, depth: usize, each: &mut impl FnMut(&mut Value, usize)) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| go(item, depth + 1, each)),
            Value::Object(fields) => fields
                .values_mut()
                .for_each(|item| go(item, depth + 1, each)),
            _ => {}
        }
        each(value, depth);
    }
    go(value, 0, each);
}

fn change(value: &mut Value, depth: usize, other: &Value, random: &mut Random) {
    match (&mut *value, random.below(8)) {
        (Value::Number(_), 0..=5) => *value = (*random.pick(&NUMBERS)).into(),
        (Value::String(_), 0..=4) => *value = (*random.pick(&TEXTS)).into(),
        (Value::String(text), 5) => {
            // A character of a layout, say.
            let mut bytes = text.clone().into_bytes();
            if !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] = *random.pick(b"0123456789?(),:_-x{}=");
            }
            *value = String::from_utf8_lossy(&bytes).into_owned().into();
        }
        (Value::Array(items), 0 | 1) if !items.is_empty() => {
            let at = random.below(items.len());
            items.remove(at);
        }
        (Value::Array(items), 2..=4) if !items.is_empty() => {
            let again = items[random.below(items.len())].clone();
            // Many of them, now and then.
            let times = if random.chance(5) { 2000 } else { 1 };
            items.extend(std::iter::repeat_n(again, times));
        }
        (Value::Object(fields), 0..=2) if !fields.is_empty() && depth > 0 => {
            let name = fields.keys().nth(random.below(fields.len())).cloned();
            fields.remove(&name.unwrap_or_default());
        }
        // Deeper than anything is.
        (Value::Object(_) | Value::Number(_), 6) => {
            let depth = *random.pick(&[1, 10, 31, 32, 33, 120, 126]);
            let mut deep = value.clone();
            for _ in 0..depth {
                deep = serde_json::json!({"add": [deep, 1]});
            }
            *value = deep;
        }
        _ => *value = other.clone(),
    }
}

/// One to eight bits changed behind the header.
fn bits(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..1 + random.below(8) {
        let span = bytes.len() - HEADER_LENGTH;
        // The manifest as often as all blobs.
        let span = if random.chance(50) {
            span
        } else {
            blobs_at(&bytes) - HEADER_LENGTH
        };
        let at = HEADER_LENGTH + random.below(span);
        bytes[at] ^= 1 << random.below(8);
    }
    sealed(bytes)
}

/// Cut off, or with something behind.
fn cut(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let length = random.below(bytes.len() + 64);
    bytes.resize(length, 0x55);
    if bytes.len() >= HEADER_LENGTH && random.chance(80) {
        let length = bytes.len() as u64;
        bytes[12..20].copy_from_slice(&length.to_le_bytes());
        return sealed(bytes);
    }
    bytes
}

/// A field of the header changed.
fn header(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let value = (*random.pick(&NUMBERS)).to_le_bytes();
    let (at, length) = *random.pick(&[(0, 8), (8, 4), (12, 8), (20, 4), (24, 4)]);
    bytes[at..at + length].copy_from_slice(&value[..length]);
    if random.chance(80) {
        return sealed(bytes);
    }
    bytes
}

fn blobs_at(bytes: &[u8]) -> usize {
    let field = bytes[20..24].try_into().map_or(0, u32::from_le_bytes);
    (HEADER_LENGTH + field as usize)
        .next_multiple_of(BLOB_ALIGN)
        .min(bytes.len())
}

/// A package of any manifest, as `docs/package.md` describes the bytes.
fn encode(manifest: &[u8], blobs: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_LENGTH];
    bytes.extend_from_slice(manifest);
    bytes.resize(bytes.len().next_multiple_of(BLOB_ALIGN), 0);
    bytes.extend_from_slice(blobs);
    bytes[..8].copy_from_slice(&cute_runtime::package::MAGIC);
    bytes[8..12].copy_from_slice(&cute_runtime::package::FORMAT_VERSION.to_le_bytes());
    let length = bytes.len() as u64;
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    bytes[20..24].copy_from_slice(&(manifest.len() as u32).to_le_bytes());
    sealed(bytes)
}

/// The same bytes with right checksums.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let contents = crc32fast::hash(&bytes[HEADER_LENGTH..]);
    bytes[24..28].copy_from_slice(&contents.to_le_bytes());
    let head = crc32fast::hash(&bytes[..28]);
    bytes[28..32].copy_from_slice(&head.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds;

    #[test]
    fn what_is_not_damaged_is_a_package() {
        for seed in seeds::all(std::path::Path::new("/nowhere"), None).unwrap() {
            let whole = seed.package.to_bytes().unwrap();
            let manifest = serde_json::to_vec(seed.package.manifest()).unwrap();
            let again = encode(&manifest, &whole[blobs_at(&whole)..]);
            assert_eq!(again, whole);
            assert_eq!(Package::from_bytes(&again).unwrap(), seed.package);
        }
    }

    #[test]
    fn damage_reaches_what_is_behind_the_checksums() {
        let seeds = seeds::all(std::path::Path::new("/nowhere"), None).unwrap();
        let mut ran = 0;
        let mut checksums = 0;
        for index in 0..400 {
            let bytes = input(&seeds, 1, index).1;
            let error = Package::from_bytes(&bytes)
                .err()
                .map(|error| error.to_string());
            checksums += usize::from(error.is_some_and(|error| error.contains("checksum")));
            ran += usize::from(execute(&seeds, 1, index) == Reached::Ran);
        }
        assert!(ran > 20, "{ran} ran");
        assert!(checksums < 100, "{checksums} were stopped by checksums");
    }
}
