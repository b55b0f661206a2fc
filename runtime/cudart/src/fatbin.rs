//! Fat binaries: the containers in which compilers put device code into a program.
//!
//! A binary is a header and entries behind it, each with a header of its own. Only PTX is of use here. It is compressed, or not, by LZ4 or
//! by Zstandard, as flags of the entry say. The format is not documented; it is what `fatbinary` of CUDA 12 and 13 writes.

use std::ffi::c_void;
use std::io::Read;

/// Begins a binary.
const MAGIC: u32 = 0xba55_ed50;
/// Begins the structure that leads to a binary.
const WRAPPER: u32 = 0x4662_43b1;
/// Bytes of a binary's header, at least.
const HEADER: usize = 16;
/// Bytes of an entry's header, at least.
const ENTRY: usize = 64;
/// The kind of an entry that is PTX.
const PTX: u16 = 1;
/// Flags of an entry.
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;
/// Bytes of PTX, at most.
const MOST: u64 = 1 << 30;

/// The structure that a program passes when it registers a binary.
#[repr(C)]
pub(crate) struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    more: *const c_void,
}

/// PTX of a binary.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// The architecture that it is for: 80 of `sm_80`.
    pub arch: u32,
    /// The text.
    pub ptx: String,
}

/// The PTX in a program's binary.
///
/// # Safety
/// The wrapper is one that a compiler made for `__cudaRegisterFatBinary`, or null.
pub(crate) unsafe fn registered(wrapper: *const Wrapper) -> Result<Vec<Image>, String> {
    // SAFETY: the caller says so.
    let Some(wrapper) = (unsafe { wrapper.as_ref() }) else {
        return Err("expected a fat binary, found a null pointer".into());
    };
    if wrapper.magic != WRAPPER || wrapper.data.is_null() {
        return Err(format!(
            "expected a fat binary, found a structure that begins with {:#x} and not with {WRAPPER:#x}",
            wrapper.magic
        ));
    }
    // SAFETY: a binary has at least its header, which says how long it is.
    let bytes = unsafe {
        let header = std::slice::from_raw_parts(wrapper.data, HEADER);
        let (start, length) = extent(header)?;
        std::slice::from_raw_parts(wrapper.data, start + length)
    };
    images(bytes)
}

/// Bytes of a binary's header, and of what follows it.
fn extent(bytes: &[u8]) -> Result<(usize, usize), String> {
    let (magic, start, length) = (u32_at(bytes, 0), u16_at(bytes, 6), u64_at(bytes, 8));
    match (magic, start, length) {
        (Some(MAGIC), Some(start), Some(length @ ..=MOST)) if start as usize >= HEADER => {
            Ok((start.into(), length as usize))
        }
        (Some(MAGIC), ..) => Err("a fat binary's header gives sizes that it cannot have".into()),
        _ => Err(format!(
            "expected a fat binary, which begins with {MAGIC:#x}, found {:#x}",
            magic.unwrap_or(0)
        )),
    }
}

/// The PTX in a binary.
pub(crate) fn images(bytes: &[u8]) -> Result<Vec<Image>, String> {
    let (start, length) = extent(bytes)?;
    let mut rest = bytes
        .get(start..start + length)
        .ok_or("a fat binary ends before its time")?;
    let mut found = Vec::new();
    while rest.len() >= ENTRY {
        let (Some(kind), Some(header), Some(length)) =
            (u16_at(rest, 0), u32_at(rest, 4), u64_at(rest, 8))
        else {
            break;
        };
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(header as usize));
        let (Some(end), true) = (end, header as usize >= ENTRY) else {
            return Err("an entry of a fat binary gives sizes that it cannot have".into());
        };
        let Some(entry) = rest.get(..end) else {
            return Err("an entry of a fat binary is longer than the binary".into());
        };
        if kind == PTX {
            found.push(image(entry, header as usize)?);
        }
        rest = &rest[end..];
    }
    Ok(found)
}

fn image(entry: &[u8], header: usize) -> Result<Image, String> {
    let arch = u32_at(entry, 28).unwrap_or(0);
    let flags = u64_at(entry, 40).unwrap_or(0);
    let (compressed, whole) = (
        u32_at(entry, 16).unwrap_or(0),
        u64_at(entry, 56).unwrap_or(0),
    );
    let payload = &entry[header..];
    let bad = |why: String| format!("PTX for sm_{arch} in a fat binary cannot be read: {why}");
    let text = if flags & (LZ4 | ZSTANDARD) == 0 {
        payload.to_vec()
    } else {
        let packed = payload
            .get(..compressed as usize)
            .ok_or_else(|| bad("it is shorter than it says".into()))?;
        if whole > MOST {
            return Err(bad(format!("it would have {whole} bytes")));
        }
        let mut text = Vec::new();
        if flags & ZSTANDARD != 0 {
            let reader = ruzstd::decoding::StreamingDecoder::new(packed);
            let reader = reader.map_err(|error| bad(error.to_string()))?;
            let read = reader.take(whole).read_to_end(&mut text);
            read.map_err(|error| bad(error.to_string()))?;
        } else {
            text = lz4_flex::block::decompress(packed, whole as usize)
                .map_err(|error| bad(error.to_string()))?;
        }
        if text.len() as u64 != whole {
            return Err(bad(format!("{} bytes, not {whole}", text.len())));
        }
        text
    };
    // The text ends at a zero; what follows fills the entry.
    let length = text.iter().position(|&byte| byte == 0);
    let text = text[..length.unwrap_or(text.len())].to_vec();
    let ptx = String::from_utf8(text).map_err(|_| bad("it is not UTF-8".into()))?;
    Ok(Image { arch, ptx })
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary of these entries: kind, architecture, flags, payload, bytes of the text.
    fn binary(entries: &[(u16, u32, u64, &[u8], u64)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, arch, flags, payload, whole) in entries {
            body.extend(kind.to_le_bytes());
            body.extend(0x101u16.to_le_bytes());
            body.extend((ENTRY as u32).to_le_bytes());
            body.extend((payload.len().next_multiple_of(8) as u64).to_le_bytes());
            body.extend((payload.len() as u32).to_le_bytes());
            body.extend([0; 4]);
            body.extend([8u16, 5].map(u16::to_le_bytes).concat());
            body.extend(arch.to_le_bytes());
            body.extend([0; 8]);
            body.extend(flags.to_le_bytes());
            body.extend([0; 8]);
            body.extend(whole.to_le_bytes());
            body.extend(*payload);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend([1u16, HEADER as u16].map(u16::to_le_bytes).concat());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    const TEXT: &str =
        ".version 8.0\n.target sm_80\n// text that is as it was before before before before\n";

    #[test]
    fn ptx_is_read_as_it_is_and_compressed() {
        let whole = TEXT.len() as u64;
        let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let zstd = ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), level);
        let bytes = binary(&[
            (2, 80, 0x11, b"\x7fELF", 0),
            (1, 80, 0x11, TEXT.as_bytes(), 0),
            (1, 89, 0x2011, &lz4, whole),
            (1, 90, 0x8011, &zstd, whole),
        ]);
        let image = |arch| Image {
            arch,
            ptx: TEXT.into(),
        };
        assert_eq!(images(&bytes), Ok([80, 89, 90].map(image).into()));
    }

    #[test]
    fn damaged_binaries_are_refused() {
        let whole = TEXT.len() as u64;
        let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
        let good = binary(&[(1, 80, 0x2011, &lz4, whole)]);
        assert!(images(&good).is_ok());
        for length in 0..good.len() {
            assert!(images(&good[..length]).is_err(), "{length}");
        }
        for at in 0..good.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                // It must end, whatever it says.
                let _ = images(&bad);
            }
        }
        let long = binary(&[(1, 80, 0x2011, &lz4, whole + 1)]);
        assert!(images(&long).unwrap_err().contains("sm_80"));
    }
}
