//! `.npy` files (format versions 1 to 3, little endian), in C and in Fortran order.
//!
//! Own code, as `npyz` 0.8 overflows on the shapes that a damaged header can claim. The format is
//! NumPy's `numpy/lib/format.py`: magic, version, header length, a Python dictionary, the elements.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::{HostTensor, access};
use crate::element::Element;
use crate::layout;

pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longer headers than this belong to structured types, which are refused anyway.
const LONGEST_HEADER: u32 = 1 << 16;

/// The reason why an `.npy` file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NpyError {
    /// The file could not be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// The action that failed: `read` or `write`.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The reason that the operating system gives.
        error: io::Error,
    },
    /// The file does not begin as `.npy` files do.
    #[error("{}: expected an .npy file, which begins with \\x93NUMPY; save one with numpy.save", path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
    },
    /// The header is damaged, or of a kind that is not read.
    #[error("{}: the .npy header cannot be understood: expected {expected}; save the file again", path.display())]
    Header {
        /// Path of the file.
        path: PathBuf,
        /// The text or the values that could stand in the header.
        expected: &'static str,
    },
    /// The array's elements are of another type than the tensor's.
    #[error("{}: expected elements of type {expected}, found {found}; convert them with array.astype", path.display())]
    Type {
        /// Path of the file.
        path: PathBuf,
        /// The type of the tensor's elements, with NumPy's name.
        expected: String,
        /// NumPy's name of the type in the file: `<f4`.
        found: String,
    },
    /// The array's shape is not the tensor's.
    #[error("{}: expected shape {expected:?}, found {found:?}", path.display())]
    Shape {
        /// Path of the file.
        path: PathBuf,
        /// Elements of each top-level mode of the tensor.
        expected: Vec<i64>,
        /// Elements of each axis of the array.
        found: Vec<u64>,
    },
    /// The file ends before the last element.
    #[error("{}: file is truncated: expected {expected} bytes of elements, found {found}", path.display())]
    Truncated {
        /// Path of the file.
        path: PathBuf,
        /// Bytes that the elements take.
        expected: u64,
        /// Bytes of elements that the file has.
        found: u64,
    },
}

/// The shape of the array in a file.
///
/// # Errors
/// [`NpyError`]
pub fn npy_shape(path: impl AsRef<Path>) -> Result<Vec<i64>, NpyError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|error| NpyError::Io {
        action: "read",
        path: path.to_path_buf(),
        error,
    })?;
    let header = Header::read(path, &mut BufReader::new(file))?;
    let size = |size: u64| {
        i64::try_from(size).map_err(|_| NpyError::Header {
            path: path.to_path_buf(),
            expected: "sizes of 63 bits",
        })
    };
    header.shape.into_iter().map(size).collect()
}

impl HostTensor {
    /// Fills the elements from a file whose shape is that of the layout's top-level modes and whose
    /// type is the element type. NumPy has no bf16, tf32 or eight bits of float: such a tensor takes float32,
    /// rounded to nearest.
    ///
    /// # Errors
    /// [`NpyError`]; the tensor is then unchanged.
    pub fn read_npy(&mut self, path: impl AsRef<Path>) -> Result<(), NpyError> {
        let (fortran_order, data) = self.elements_of(path.as_ref())?;
        let (element, shape) = (self.element, self.layout.shape());
        let (stored, size) = (stored_as(element), element.size());
        self.fill_by(|bytes, offset, index| {
            let from = match fortran_order {
                true => index,
                false => c_order(&shape, index),
            };
            if stored != element {
                access::store(element, bytes, offset, access::load(stored, &data, from));
                return;
            }
            // The bits themselves: f64 holds not every integer, nor the bits of a NaN.
            let (to, from) = (offset as usize * size, from as usize * size);
            bytes[to..to + size].copy_from_slice(&data[from..from + size]);
        });
        Ok(())
    }

    /// The array of a file that [`HostTensor::read_npy`] would take, as it is: a compact tensor of the type that the file has, float32 for types
    /// that NumPy has not.
    ///
    /// # Errors
    /// [`NpyError`]
    pub fn array_npy(&self, path: impl AsRef<Path>) -> Result<HostTensor, NpyError> {
        let path = path.as_ref();
        let (fortran_order, data) = self.elements_of(path)?;
        let (stored, shape) = (stored_as(self.element), self.layout.shape());
        let failed = |error: String| NpyError::Io {
            action: "read",
            path: path.to_path_buf(),
            error: io::Error::new(io::ErrorKind::OutOfMemory, error),
        };
        // First mode fastest.
        let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
        let strides = shape.iter().scan(1, |next, size| {
            let stride = *next;
            *next *= size;
            Some(stride.to_string())
        });
        let strides: Vec<String> = strides.collect();
        let text = format!("({}):({})", sizes.join(","), strides.join(","));
        let layout = layout::Parsed::parse(&text).map_err(|error| failed(error.to_string()))?;
        let array = HostTensor::zeroed(stored, layout);
        let mut array = array.map_err(|error| failed(error.to_string()))?;
        let size = stored.size();
        for index in 0..array.layout.size() {
            let from = match fortran_order {
                true => index,
                false => c_order(&shape, index),
            };
            let (to, from) = (index as usize * size, from as usize * size);
            array.bytes[to..to + size].copy_from_slice(&data[from..from + size]);
        }
        Ok(array)
    }

    /// The elements of a file for this tensor, and whether their first axis varies fastest.
    fn elements_of(&self, path: &Path) -> Result<(bool, Vec<u8>), NpyError> {
        let failed = |error| NpyError::Io {
            action: "read",
            path: path.to_path_buf(),
            error,
        };
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let header = Header::read(path, &mut reader)?;

        let stored = stored_as(self.element);
        if header.descr != descr(stored) {
            let mut expected = format!("{} ({})", self.element, descr(stored));
            if stored != self.element {
                expected.push_str(&format!(", as NumPy has no {}", self.element));
            }
            return Err(NpyError::Type {
                path: path.to_path_buf(),
                expected,
                found: header.descr,
            });
        }
        let shape = self.layout.shape();
        if !header
            .shape
            .iter()
            .copied()
            .eq(shape.iter().map(|&size| size as u64))
        {
            return Err(NpyError::Shape {
                path: path.to_path_buf(),
                expected: shape,
                found: header.shape,
            });
        }
        let expected = self.layout.size() as u64 * stored.size() as u64;
        let mut data = Vec::new();
        reader
            .take(expected)
            .read_to_end(&mut data)
            .map_err(failed)?;
        if (data.len() as u64) < expected {
            let found = data.len() as u64;
            return Err(NpyError::Truncated {
                path: path.to_path_buf(),
                expected,
                found,
            });
        }
        Ok((header.fortran_order, data))
    }

    /// Writes the elements in C order; what NumPy has no type for as float32.
    ///
    /// # Errors
    /// [`NpyError::Io`].
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<(), NpyError> {
        let path = path.as_ref();
        self.write_elements(path).map_err(|error| NpyError::Io {
            action: "write",
            path: path.to_path_buf(),
            error,
        })
    }

    fn write_elements(&self, path: &Path) -> io::Result<()> {
        let shape = self.layout.shape();
        let stored = stored_as(self.element);
        let mut out = BufWriter::new(File::create(path)?);
        let dims: String = shape.iter().map(|size| format!("{size},")).collect();
        let mut header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({dims}), }}",
            descr(stored)
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
        let mut raw = vec![0; stored.size()];
        for place in 0..self.layout.size() {
            let offset = self.layout.at(from_c_order(&shape, place));
            if stored == self.element {
                out.write_all(self.element_bytes(offset))?;
                continue;
            }
            let value = access::load(self.element, &self.bytes, offset);
            access::store(stored, &mut raw, 0, value);
            out.write_all(&raw)?;
        }
        out.flush()
    }
}

/// The type that holds such elements in a file.
fn stored_as(element: Element) -> Element {
    match element {
        Element::F8E4M3FN | Element::F8E5M2 | Element::Bf16 | Element::Tf32 => Element::F32,
        other => other,
    }
}

/// NumPy's name of a type that is in files.
fn descr(stored: Element) -> &'static str {
    match stored {
        Element::F16 => "<f2",
        Element::F8E4M3FN | Element::F8E5M2 | Element::Bf16 | Element::Tf32 | Element::F32 => "<f4",
        Element::F64 => "<f8",
        Element::I8 => "|i1",
        Element::U8 => "|u1",
        Element::I32 => "<i4",
        Element::I64 => "<i8",
    }
}

pub(super) struct Header {
    pub descr: String,
    pub fortran_order: bool,
    pub shape: Vec<u64>,
}

impl Header {
    pub(super) fn read(path: &Path, reader: &mut impl Read) -> Result<Header, NpyError> {
        let foreign = || NpyError::Foreign {
            path: path.to_path_buf(),
        };
        let bad = |expected| NpyError::Header {
            path: path.to_path_buf(),
            expected,
        };
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(|_| foreign())?;
        if start[..6] != *MAGIC {
            return Err(foreign());
        }
        let mut length = [0; 4];
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            _ => return Err(bad("format version 1, 2 or 3")),
        };
        reader
            .read_exact(&mut length[..width])
            .map_err(|_| bad("the length of the header"))?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(bad("a header of at most 65536 bytes"));
        }
        let mut text = vec![0; length as usize];
        reader
            .read_exact(&mut text)
            .map_err(|_| bad("a header as long as the file says"))?;
        let text = String::from_utf8(text).map_err(|_| bad("a header in UTF-8"))?;
        Dictionary { rest: &text }.read().map_err(bad)
    }
}

/// Reads the subset of Python's literals that NumPy writes: strings, booleans, a tuple of integers.
struct Dictionary<'a> {
    rest: &'a str,
}

type Parsed<T> = Result<T, &'static str>;

impl<'a> Dictionary<'a> {
    fn read(mut self) -> Parsed<Header> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect('{', "a dictionary")?;
        while !self.eat('}') {
            let key = self.string()?;
            self.expect(':', "a colon after the key")?;
            match key {
                "descr" => descr = Some(self.type_text()?),
                "fortran_order" => fortran_order = Some(self.boolean()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return Err("the keys descr, fortran_order and shape alone"),
            }
            if !self.eat(',') {
                self.expect('}', "a comma or the end of the dictionary")?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err("nothing after the dictionary");
        }
        Ok(Header {
            descr: descr.ok_or("the key descr")?,
            fortran_order: fortran_order.ok_or("the key fortran_order")?,
            shape: shape.ok_or("the key shape")?,
        })
    }

    fn eat(&mut self, token: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: char, what: &'static str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(what) }
    }

    fn string(&mut self) -> Parsed<&'a str> {
        let quote = if self.eat('\'') {
            '\''
        } else if self.eat('"') {
            '"'
        } else {
            return Err("a string");
        };
        let (text, rest) = self.rest.split_once(quote).ok_or("the end of a string")?;
        self.rest = rest;
        Ok(text)
    }

    /// A structured type is a list; it is refused as a type, and skipped here.
    fn type_text(&mut self) -> Parsed<String> {
        if !self.rest.trim_start().starts_with('[') {
            return self.string().map(str::to_string);
        }
        let end = self.rest.rfind(']').ok_or("the end of a list")?;
        self.rest = &self.rest[end + 1..];
        Ok("a structured type".into())
    }

    fn boolean(&mut self) -> Parsed<bool> {
        let rest = self.rest.trim_start();
        for (text, value) in [("True", true), ("False", false)] {
            if let Some(rest) = rest.strip_prefix(text) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err("True or False")
    }

    fn tuple(&mut self) -> Parsed<Vec<u64>> {
        self.expect('(', "a tuple")?;
        let mut numbers = Vec::new();
        while !self.eat(')') {
            let rest = self.rest.trim_start();
            let digits = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            numbers.push(
                rest[..digits]
                    .parse()
                    .map_err(|_| "a shape of integers of 64 bits")?,
            );
            self.rest = &rest[digits..];
            if !self.eat(',') {
                self.expect(')', "a comma or the end of the tuple")?;
                break;
            }
        }
        Ok(numbers)
    }
}

/// The place in C order of the element with that colexicographic index.
fn c_order(shape: &[i64], index: i64) -> i64 {
    let mut rest = index;
    let (mut place, mut weight) = (0, shape.iter().product::<i64>());
    for &size in shape {
        weight /= size;
        place += rest % size * weight;
        rest /= size;
    }
    place
}

/// The colexicographic index of the element at that place in C order.
fn from_c_order(shape: &[i64], place: i64) -> i64 {
    let mut rest = place;
    let (mut index, mut weight) = (0, shape.iter().product::<i64>());
    for &size in shape.iter().rev() {
        weight /= size;
        index += rest % size * weight;
        rest /= size;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Parsed;
    use crate::tensor::Distribution;
    use half::f16;

    fn tensor(element: Element, layout: &str) -> HostTensor {
        HostTensor::poisoned(element, Parsed::parse(layout).unwrap()).unwrap()
    }

    /// A version 1 file as NumPy writes it.
    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut header =
            format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
        while (11 + header.len()) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn read(tensor: &mut HostTensor, bytes: &[u8]) -> Result<(), NpyError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        std::fs::write(&path, bytes).unwrap();
        tensor.read_npy(&path)
    }

    fn halves(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|&v| f16::from_f32(v).to_le_bytes())
            .collect()
    }

    #[test]
    fn arrays_are_read_as_they_are_in_either_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        // 1.001 is no bf16.
        let values = |order: [f32; 6]| -> Vec<u8> {
            order
                .iter()
                .flat_map(|v| (v * 1.001).to_le_bytes())
                .collect()
        };
        let rows = values([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let columns = values([0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        let like = tensor(Element::Bf16, "(2,3):(8,1)");
        for (fortran, data) in [("False", rows), ("True", columns)] {
            std::fs::write(&path, file("'<f4'", fortran, "(2, 3)", &data)).unwrap();
            let array = like.array_npy(&path).unwrap();
            assert_eq!(array.element(), Element::F32);
            // First mode fastest.
            for (index, value) in [0.0f32, 3.0, 1.0, 4.0, 2.0, 5.0].into_iter().enumerate() {
                let found = array.get(index as i64);
                assert_eq!(found, Some(f64::from(value * 1.001)), "{fortran} {index}");
            }
        }
        std::fs::write(&path, file("'<f8'", "False", "(2, 3)", &[0; 48])).unwrap();
        let error = like.array_npy(&path).unwrap_err().to_string();
        assert!(
            error.contains("bf16 (<f4), as NumPy has no bf16"),
            "{error}"
        );
    }

    #[test]
    fn both_orders_give_the_same_elements() {
        // [[1, 2, 3], [4, 5, 6]]
        let c = file(
            "'<f2'",
            "False",
            "(2, 3)",
            &halves(&[1., 2., 3., 4., 5., 6.]),
        );
        let fortran = file(
            "'<f2'",
            "True",
            "(2, 3)",
            &halves(&[1., 4., 2., 5., 3., 6.]),
        );
        for layout in ["(2,3):(3,1)", "(2,3):(1,2)", "(2,3):(8,2)"] {
            for bytes in [&c, &fortran] {
                let mut t = tensor(Element::F16, layout);
                read(&mut t, bytes).unwrap();
                let values: Vec<_> = (0..6).filter_map(|i| t.get(i)).collect();
                assert_eq!(values, [1., 4., 2., 5., 3., 6.], "{layout}");
            }
        }
    }

    #[test]
    fn version_2_and_one_mode() {
        let version1 = file("\"<f4\"", "False", "(2,)", &[0, 0, 128, 63, 0, 0, 0, 64]);
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend_from_slice(&version1[8..10]);
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&version1[10..]);
        let mut t = tensor(Element::F32, "2:3");
        read(&mut t, &bytes).unwrap();
        assert_eq!((t.get(0), t.get(1)), (Some(1.0), Some(2.0)));
    }

    #[test]
    fn what_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.npy");
        for element in Element::ALL {
            let mut t = tensor(element, "((2,3),(4,2)):((1,24),(2,96))");
            t.fill_random(Distribution::default_for(element), 5);
            t.write_npy(&path).unwrap();
            let mut back = tensor(element, "(6,8):(8,1)");
            back.read_npy(&path).unwrap();
            for i in 0..48 {
                assert_eq!(t.get(i), back.get(i), "{element} at {i}");
            }
        }
        let mut t = tensor(Element::F16, "(2,3):(1,2)");
        t.fill_with(|i| i as f64);
        t.write_npy(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(
            bytes,
            file(
                "'<f2'",
                "False",
                "(2,3,)",
                &halves(&[0., 2., 4., 1., 3., 5.])
            )
        );
        assert_eq!(
            bytes.len() - 12,
            128,
            "the elements are aligned to 64 bytes"
        );
    }

    #[test]
    fn integers_beyond_f64_keep_their_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let numbers = [(1 << 53) + 1, i64::MAX, -i64::MAX, i64::MIN, -1, 7];
        let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let text = file("'<i8'", "False", "(2,3,)", &data);
        let mut t = tensor(Element::I64, "(2,3):(1,4)");
        read(&mut t, &text).unwrap();
        t.write_npy(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }

    #[test]
    fn other_files_are_refused_with_the_cure() {
        let mut t = tensor(Element::F16, "(2,3):(3,1)");
        let before = t.clone();
        let mut refused = |bytes: &[u8], says: &str| {
            let error = read(&mut t, bytes).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        };
        refused(b"PK\x03\x04 a zip", "begins with \\x93NUMPY");
        refused(b"", "begins with \\x93NUMPY");
        refused(b"\x93NUMPY\x09\x00\x00\x00", "version 1, 2 or 3");
        refused(
            &file("'<f4'", "False", "(2, 3)", &[0; 24]),
            "elements of type f16 (<f2), found <f4; convert them with array.astype",
        );
        refused(&file("'>f2'", "False", "(2, 3)", &[0; 12]), "found >f2");
        refused(
            &file("[('x', '<f2')]", "False", "(2, 3)", &[0; 12]),
            "found a structured type",
        );
        refused(
            &file("'<f2'", "False", "(3, 2)", &[0; 12]),
            "expected shape [2, 3], found [3, 2]",
        );
        refused(
            &file("'<f2'", "False", "()", &[0; 12]),
            "expected shape [2, 3], found []",
        );
        refused(
            &file(
                "'<f2'",
                "False",
                "(18446744073709551615, 18446744073709551615)",
                &[0; 12],
            ),
            "found [18446744073709551615, 18446744073709551615]",
        );
        refused(
            &file("'<f2'", "False", "(18446744073709551616,)", &[0; 12]),
            "integers of 64 bits",
        );
        refused(
            &file("'<f2'", "False", "(-2, 3)", &[0; 12]),
            "integers of 64 bits",
        );
        refused(&file("'<f2'", "Maybe", "(2, 3)", &[0; 12]), "True or False");
        refused(
            &file("'<f2", "False", "(2, 3)", &[0; 12]),
            "header cannot be understood",
        );
        refused(
            &file("'<f2'", "False", "(2, 3)", &[0; 11]),
            "expected 12 bytes of elements, found 11",
        );
        let whole = file("'<f2'", "False", "(2, 3)", &[0; 12]);
        for length in 0..whole.len() {
            refused(&whole[..length], "a.npy: ");
        }
        assert_eq!(t, before);
    }
}
