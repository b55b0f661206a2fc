//! The bytes of a package: a fixed header, the manifest as JSON, the blobs.

use super::PackageError;
use super::manifest::Manifest;

/// The first eight bytes of every package.
pub const MAGIC: [u8; 8] = *b"CUTEPKG\0";

/// The version that this crate writes and reads.
pub const FORMAT_VERSION: u32 = 3;

/// Bytes before the manifest. All numbers are little endian:
///
/// | offset | size | what |
/// | --- | --- | --- |
/// | 0 | 8 | magic |
/// | 8 | 4 | format version |
/// | 12 | 8 | length of the file |
/// | 20 | 4 | length of the manifest |
/// | 24 | 4 | CRC-32 of all bytes from 32 on |
/// | 28 | 4 | CRC-32 of the bytes 0 to 27 |
pub const HEADER_LENGTH: usize = 32;

/// Blobs, and the section that holds them, start at multiples of this many bytes.
pub const BLOB_ALIGN: usize = 16;

const HEADER_CHECKED: usize = 28;

pub(super) fn encode(manifest: &Manifest, blobs: &[u8]) -> Result<Vec<u8>, PackageError> {
    let json = serde_json::to_vec(manifest).map_err(PackageError::Json)?;
    let manifest_length = u32::try_from(json.len()).map_err(|_| PackageError::TooLarge {
        what: "the manifest",
        found: json.len() as u64,
        limit: u64::from(u32::MAX),
    })?;
    let blobs_at = (HEADER_LENGTH + json.len()).next_multiple_of(BLOB_ALIGN);
    let mut bytes = Vec::with_capacity(blobs_at + blobs.len());
    bytes.resize(HEADER_LENGTH, 0);
    bytes.extend_from_slice(&json);
    bytes.resize(blobs_at, 0);
    bytes.extend_from_slice(blobs);

    let length = bytes.len() as u64;
    let checksum = crc32fast::hash(&bytes[HEADER_LENGTH..]);
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    bytes[20..24].copy_from_slice(&manifest_length.to_le_bytes());
    bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
    let header_checksum = crc32fast::hash(&bytes[..HEADER_CHECKED]);
    bytes[28..32].copy_from_slice(&header_checksum.to_le_bytes());
    Ok(bytes)
}

/// The manifest and the blob section. What the manifest says is not checked yet.
pub(super) fn decode(bytes: &[u8]) -> Result<(Manifest, &[u8]), PackageError> {
    let found = bytes.len() as u64;
    let truncated = |expected: u64| PackageError::Truncated { expected, found };

    // A prefix of a package is a truncated package; anything else is a foreign file.
    let shared = bytes.len().min(MAGIC.len());
    if bytes[..shared] != MAGIC[..shared] || bytes.is_empty() {
        return Err(PackageError::Foreign {
            found: describe_start(bytes),
        });
    }
    // The version comes before all else: another version may have another header.
    let version = u32_at(bytes, 8).ok_or_else(|| truncated(HEADER_LENGTH as u64))?;
    match version {
        FORMAT_VERSION => {}
        found if found > FORMAT_VERSION => return Err(PackageError::Newer { found }),
        found => return Err(PackageError::Older { found }),
    }
    let header = bytes
        .get(..HEADER_LENGTH)
        .ok_or_else(|| truncated(HEADER_LENGTH as u64))?;
    let field = |at| u32_at(header, at).ok_or_else(|| truncated(HEADER_LENGTH as u64));
    check(
        "header",
        field(28)?,
        crc32fast::hash(&header[..HEADER_CHECKED]),
    )?;

    let length = u64::from(field(12)?) | u64::from(field(16)?) << 32;
    if found < length {
        return Err(truncated(length));
    }
    if found > length {
        return Err(PackageError::TooLong {
            expected: length,
            found,
        });
    }
    let body = &bytes[HEADER_LENGTH..];
    check("contents", field(24)?, crc32fast::hash(body))?;

    let manifest_end = HEADER_LENGTH as u64 + u64::from(field(20)?);
    let blobs_at = manifest_end.next_multiple_of(BLOB_ALIGN as u64);
    if blobs_at > length {
        return Err(truncated(blobs_at));
    }
    // Both are at most `bytes.len()`, hence fit.
    let manifest = serde_json::from_slice(&bytes[HEADER_LENGTH..manifest_end as usize])
        .map_err(PackageError::Json)?;
    Ok((manifest, &bytes[blobs_at as usize..]))
}

fn check(part: &'static str, expected: u32, found: u32) -> Result<(), PackageError> {
    if expected == found {
        Ok(())
    } else {
        Err(PackageError::Checksum {
            part,
            expected,
            found,
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

/// Describes what a foreign file seems to be, as people often hand over the cubin or the PTX itself.
fn describe_start(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "an empty file".into();
    }
    if bytes.starts_with(b"\x7fELF") {
        return "an ELF file (a bare cubin?)".into();
    }
    let start = &bytes[..bytes.len().min(8)];
    format!("`{}`", start.escape_ascii())
}
