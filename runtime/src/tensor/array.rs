//! Arrays as `.npy` files have them: any type of NumPy's, as bytes.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::npy::{Header, MAGIC, NpyError};

/// Bytes of an array, at most.
const MAX_BYTES: u64 = 1 << 32;

/// An array of numbers, as bytes in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type as NumPy writes it, such as `<u4`.
    pub descr: String,
    /// Elements of each axis.
    pub shape: Vec<u64>,
    /// The elements, the last axis varying fastest.
    pub bytes: Vec<u8>,
}

/// Bytes of an element of a type such as `<f4` or `|u1`; none for big-endian, structured and other types.
fn element_bytes(descr: &str) -> Option<u64> {
    let (order, kind) = descr.split_at_checked(1)?;
    let (kind, bytes) = kind.split_at_checked(1)?;
    let bytes: u64 = bytes.parse().ok()?;
    let known = matches!(
        (kind, bytes),
        ("b", 1) | ("i" | "u", 1 | 2 | 4 | 8) | ("f", 2 | 4 | 8)
    );
    (known && (order == "<" || order == "|" && bytes == 1)).then_some(bytes)
}

impl Array {
    /// Reads a file of numbers, little-endian.
    ///
    /// # Errors
    /// [`NpyError`]
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Array, NpyError> {
        let path = path.as_ref();
        let failed = |error| NpyError::Io {
            action: "read",
            path: path.to_path_buf(),
            error,
        };
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let Header {
            descr,
            fortran_order,
            shape,
        } = Header::read(path, &mut reader)?;
        let Some(size) = element_bytes(&descr) else {
            return Err(NpyError::Type {
                path: path.to_path_buf(),
                expected: "numbers, little-endian (such as <f4, <i8 or |u1)".into(),
                found: descr,
            });
        };
        let bytes = shape
            .iter()
            .try_fold(size, |bytes, axis| bytes.checked_mul(*axis))
            .filter(|bytes| *bytes <= MAX_BYTES);
        let Some(expected) = bytes else {
            return Err(NpyError::Header {
                path: path.to_path_buf(),
                expected: "an array of at most 2^32 bytes",
            });
        };
        if fortran_order && shape.len() > 1 {
            return Err(NpyError::Header {
                path: path.to_path_buf(),
                expected: "an array in C order (numpy.ascontiguousarray makes one)",
            });
        }
        let mut data = Vec::new();
        reader
            .take(expected)
            .read_to_end(&mut data)
            .map_err(failed)?;
        if (data.len() as u64) < expected {
            return Err(NpyError::Truncated {
                path: path.to_path_buf(),
                expected,
                found: data.len() as u64,
            });
        }
        Ok(Array {
            descr,
            shape,
            bytes: data,
        })
    }

    /// Writes the array to a file.
    ///
    /// # Errors
    /// [`NpyError::Io`].
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<(), NpyError> {
        let path = path.as_ref();
        self.write_to(path).map_err(|error| NpyError::Io {
            action: "write",
            path: path.to_path_buf(),
            error,
        })
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        let dims: String = self.shape.iter().map(|size| format!("{size},")).collect();
        let mut header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({dims}), }}",
            self.descr
        );
        // NumPy aligns the elements to 64 bytes; magic, version and length take 10, the newline 1.
        let padded = (11 + header.len()).next_multiple_of(64) - 11;
        header.extend(std::iter::repeat_n(' ', padded - header.len()));
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(io::Error::other)?;
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        out.write_all(&self.bytes)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        for (descr, size) in [("<u4", 4), ("|b1", 1), ("<f2", 2), ("<i8", 8)] {
            let array = Array {
                descr: descr.into(),
                shape: vec![3, 2],
                bytes: (0..6 * size).collect(),
            };
            array.write_npy(&path).unwrap();
            assert_eq!(Array::read_npy(&path).unwrap(), array);
        }
    }

    #[test]
    fn arrays_that_are_no_numbers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        for descr in [">f4", "<U3", "<c8", "|O", "<f16", "|u4", ""] {
            let array = Array {
                descr: descr.into(),
                shape: vec![1],
                bytes: vec![0; 16],
            };
            array.write_npy(&path).unwrap();
            let error = Array::read_npy(&path).unwrap_err().to_string();
            assert!(error.contains("little-endian"), "{error}");
        }
        let short = Array {
            descr: "<u4".into(),
            shape: vec![9],
            bytes: vec![0; 8],
        };
        short.write_npy(&path).unwrap();
        let error = Array::read_npy(&path).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{error}");
        let huge = Array {
            shape: vec![1 << 40, 1 << 40],
            ..short
        };
        huge.write_npy(&path).unwrap();
        let error = Array::read_npy(&path).unwrap_err().to_string();
        assert!(error.contains("2^32 bytes"), "{error}");
    }
}
